/* What an author is told of a failure, and what the record keeps of it: never a cell.
 *
 * A message that Python, pandas or dtx composes may hold any cell, and no list of harmless words
 * helps: "negative", "invalid" or "int" are cells as well.  So messages are not filtered, they are
 * not passed on.  What is told instead:
 *
 *   - of every failure the class, and a sentence of this file about it;
 *   - of an exception its type, when it is one of Python's, numpy's or pandas' own (a closed list;
 *     else "exception"), and the lines of the module that it passed, at most three, by number and
 *     text.  The text is cut from the code that was sent to the jail, not from what came back;
 *   - of the message at most one name: the first text in it that stands there between quotes,
 * whole, and is the name of a column that the prompt tells as well, or a string of the failing line
 *     (KeyError: 'hours').
 *
 * Numbers are never told: one that stands in the message and in the code may be a cell all the
 * same.  A text that stands elsewhere in the module is not told for that reason: `raise
 * KeyError(cell)` must not say that the cell is one of the words that the module compares with.
 * What is left: a cell that equals a string of the very line that fails, or a column's name, is
 * told to be that.  A line number says as much (`if cell == "x": raise`), and this is the bound:
 * what code that means to tell can choose is one type, three lines, one name and the class, some 60
 * bits an attempt.  Neither the order nor the number of names, nor the length of a message, nor
 * what was printed adds to it.
 *
 * What a worker reports about itself may be forged by the code that ran in it: nothing here takes
 * text from it, only what is found again in the code or among the names. */
#ifndef DTX_FALLBACK_PROMPT_REDACT_H
#define DTX_FALLBACK_PROMPT_REDACT_H

#include "core/base/text/json.h"
#include "core/fallback/prompt/disclose.h"
#include "core/plan/exec/provider.h"

/* Adds what a prompt names: the table and its columns, without those that `deny` hides, and the
 * columns of the contract.  Everything may be NULL but `names`.  False: out of memory. */
DTX_MUSTUSE bool dtx_redact_names(json_t *names, const char *alias, const struct dtx_schema *s,
                                  const char *const *deny, size_t ndeny, const json_t *contract);

/* Of dtx's own error that starts a fallback: a sentence about its code, and names.  Where the code
 * is one that speaks of the plan (no such op, function, column) the names are those that the
 * message quotes and `steps` holds; else one column at most, of `names`.  `names`: an object whose
 * keys are the columns that the prompt tells.  Adds what was left out to count->redactions. */
void dtx_redact_trigger(const struct dtx_err *e, const json_t *steps, const json_t *names,
                        struct dtx_buf *out, struct dtx_disclosed *count);

/* What is told of a run in the jail that failed: lines of text, "" of one that did not. */
void dtx_redact_run(const struct dtx_jail_report *r, struct dtx_str code, const json_t *names,
                    struct dtx_buf *out);

/* All that the next attempt is told of the last one. */
struct dtx_redact_failure {
	enum dtx_code code;
	const char *message;         /* of the error */
	const char *run;             /* of dtx_redact_run; NULL: nothing ran */
	const json_t *checks;        /* rows of the contract; NULL */
	const char *assumes;         /* JSON text of the module's ASSUMES; NULL */
	const struct dtx_err *broke; /* of a later step that could not use the result; NULL */
	int32_t broke_number;        /* of that step as it was written, from 1 */
	struct dtx_str module;       /* the code */
	const json_t *names;
};
void dtx_redact_failure(const struct dtx_redact_failure *f, struct dtx_buf *out);

/* The jail's report as the record may keep it, changed in place: what the snippet printed is gone
 * (sizes stay), and what is text of the worker is as above.  False: out of memory. */
DTX_MUSTUSE bool dtx_redact_report(json_t *report, const struct dtx_jail_report *r,
                                   struct dtx_str code, const json_t *names);

#endif
