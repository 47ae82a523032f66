/* The inputs of a run: readers, their schemas, and what becomes of a wrong guess. */
#ifndef DTX_PLAN_EXEC_INPUTSET_H
#define DTX_PLAN_EXEC_INPUTSET_H

#include "core/io/repair.h"
#include "core/plan/bind/column_needs.h"

struct dtx_inputset {
	const struct dtx_plan *plan;
	struct dtx_source *const *source; /* per input; NULL: none given */
	struct dtx_arena *arena;
	unsigned workers;
	char home;                        /* delimiter of the output; see dtx_outputs_home */
	bool repair;                      /* remedies for refusals are taken */
	struct dtx_read_opts *opts;       /* per input: the plan's, with what repairs changed */
	struct dtx_repair *fix;           /* per input */
	struct dtx_errlist repaired;      /* their notes */
	struct dtx_reader **reader;       /* per input; NULL: nobody reads it */
	const struct dtx_schema **schema; /* as the reader has it, or widened */
	bool *was_read;
	/* Whether somebody else makes the table of an input that does not open; NULL: nobody. */
	bool (*fallback)(void *arg, uint32_t input, const struct dtx_err *why);
	void *fallback_arg;
};
/* Opens the inputs that the plan reads.  The members up to `repair` are set. */
DTX_MUSTUSE enum dtx_code dtx_inputset_open(struct dtx_inputset *x, struct dtx_err *err);
/* The input that an error of a reader names, -1 if none. */
int32_t dtx_inputset_find(const struct dtx_inputset *x, const struct dtx_err *why);
/* Whether a stream among them has passed: then nothing can be read again. */
bool dtx_inputset_spent(const struct dtx_inputset *x);
/* What a run says then that would have to begin again. */
enum dtx_code dtx_inputset_passed(enum dtx_code rc, struct dtx_err *err);
void dtx_inputset_close(struct dtx_inputset *x);
/* After `retype`: exact types for the guessed columns whose values were wanted. */
DTX_MUSTUSE enum dtx_code dtx_inputset_widen(struct dtx_inputset *x,
                                             const struct dtx_column_needs *push,
                                             const struct dtx_err *why, struct dtx_err *err);
/* A reader refused what it read: the input is opened anew with a remedy. *again: it was, all must
 * be read from the start. */
DTX_MUSTUSE enum dtx_code dtx_inputset_repair(struct dtx_inputset *x, const struct dtx_err *why,
                                              bool *again, struct dtx_err *err);

#endif
