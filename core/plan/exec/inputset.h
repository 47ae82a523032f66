/* The inputs of a run: their readers and schemas, and what happens when a guess about a file was
 * wrong. */
#ifndef DTX_PLAN_EXEC_INPUTSET_H
#define DTX_PLAN_EXEC_INPUTSET_H

#include "core/io/repair.h"
#include "core/plan/bind/column_needs.h"

struct dtx_inputset {
	const struct dtx_plan *plan;
	struct dtx_source *const *source; /* per input; NULL: no file was given */
	struct dtx_arena *arena;
	unsigned workers;
	char home;                        /* delimiter of the first output; see dtx_outputs_home */
	bool repair;                      /* take the remedy of a refusal */
	struct dtx_read_opts *opts;       /* per input: options of the plan, changed by repairs */
	struct dtx_repair *fix;           /* per input */
	struct dtx_errlist repaired;      /* notes on repairs */
	struct dtx_reader **reader;       /* per input; NULL: it is not read */
	const struct dtx_schema **schema; /* per input: the reader's, or with widened types */
	bool *was_read;
	/* Whether something else can make the table of an input that does not open. NULL: nothing
	 * can. */
	bool (*fallback)(void *arg, uint32_t input, const struct dtx_err *why);
	void *fallback_arg;
};
/* Opens the inputs that the plan reads. The caller has set the members up to `repair`, and the
 * fallback; it closes the set also after a failure. */
DTX_MUSTUSE enum dtx_code dtx_inputset_open(struct dtx_inputset *x, struct dtx_err *err);
/* The number of the input that an error of a reader names; -1: it names none. */
int32_t dtx_inputset_find(const struct dtx_inputset *x, const struct dtx_err *why);
/* Whether rows of a stream have been read, so that the run cannot start again. */
bool dtx_inputset_spent(const struct dtx_inputset *x);
/* The error of a run that would have to start again after that. */
enum dtx_code dtx_inputset_passed(enum dtx_code rc, struct dtx_err *err);
void dtx_inputset_close(struct dtx_inputset *x);
/* After a retype error: reads the guessed columns whose values are needed in full, and sets their
 * exact types. */
DTX_MUSTUSE enum dtx_code dtx_inputset_widen(struct dtx_inputset *x,
                                             const struct dtx_column_needs *push,
                                             const struct dtx_err *why, struct dtx_err *err);
/* After a refusal of a reader: opens the input again with a remedy. *again: it did, and all rows
 * must be read from the start. */
DTX_MUSTUSE enum dtx_code dtx_inputset_repair(struct dtx_inputset *x, const struct dtx_err *why,
                                              bool *again, struct dtx_err *err);

#endif
