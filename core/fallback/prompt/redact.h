/* What an author gets to know about a failure, and what the record keeps of it: never a cell.
 *
 * A message of Python, pandas or dtx may contain any cell, and no list of harmless words helps:
 * "negative", "invalid" or "int" may be cells, too. So messages are not filtered; they are not
 * passed on at all. What is passed on instead:
 *
 *   - of every failure its class, and a sentence from this file about it;
 *   - of an exception its type, if it belongs to Python, numpy or pandas (a closed list; otherwise
 *     "exception"), and the lines of the module that it passed through, at most three, by number
 *     and text. The text is cut from the code that was sent to the jail, not from what came back;
 *   - of the message at most one name: the first text between quotes that is, as a whole, the name
 *     of a column that the prompt shows, or a string in the failing line (KeyError: 'hours').
 *
 * Numbers are never passed on: a number that is in the message and in the code may still be a
 * cell. Nor is a text passed on because it occurs elsewhere in the module: `raise
 * KeyError(cell)` must not reveal that the cell is one of the words that the module compares
 * with.
 *
 * What remains: if a cell equals a string of the failing line, or the name of a column, the
 * author can learn that. A line number reveals as much (`if cell == "x": raise`). Code that
 * tries to reveal data can choose one type, three lines, one name and the class, some 60 bits
 * per attempt. That is the limit: the order and number of names, the length of a message and
 * printed output add nothing to it.
 *
 * Code in a worker may forge what the worker reports. So no text is taken from it; it is only
 * used to find text in the code or among the names. */
#ifndef DTX_FALLBACK_PROMPT_REDACT_H
#define DTX_FALLBACK_PROMPT_REDACT_H

#include "core/base/text/json.h"
#include "core/fallback/prompt/disclose.h"
#include "core/plan/exec/provider.h"

/* Adds the names that a prompt shows: the table, its columns except those that `deny` hides, and
 * the columns of the contract. All arguments but `names` may be NULL. Returns false if out of
 * memory. */
DTX_MUSTUSE bool dtx_redact_names(json_t *names, const char *alias, const struct dtx_schema *s,
                                  const char *const *deny, size_t ndeny, const json_t *contract);

/* Describes the error of dtx that caused the request: a sentence about its code, and names. If
 * the error is about the plan (no such op, function, column), these are the names that the
 * message quotes and `steps` contains; otherwise at most one column that is a key of `names`,
 * the columns that the prompt shows. What was left out is added to count->redactions. */
void dtx_redact_trigger(const struct dtx_err *e, const json_t *steps, const json_t *names,
                        struct dtx_buf *out, struct dtx_disclosed *count);

/* Whether an exception's type is one of Python, numpy or pandas, which may be passed on by name. */
bool dtx_redact_type(const char *type);

/* Describes a failed run in the jail, as lines of text; nothing if the run did not fail. */
void dtx_redact_run(const struct dtx_jail_report *r, struct dtx_str code, const json_t *names,
                    struct dtx_buf *out);

/* Everything that the next attempt gets to know about the last one. */
struct dtx_redact_failure {
	enum dtx_code code;
	const char *message;         /* of the error */
	const char *run;             /* from dtx_redact_run; NULL: nothing ran */
	const json_t *checks;        /* rows of the contract; NULL: none */
	const char *assumes;         /* the module's ASSUMES as JSON text; NULL: none */
	const struct dtx_err *broke; /* error of a later step that could not use the result; NULL */
	int32_t broke_number;        /* number of that step in the plan, from 1 */
	struct dtx_str module;       /* its code */
	const json_t *names;
};
void dtx_redact_failure(const struct dtx_redact_failure *f, struct dtx_buf *out);

/* Changes the jail's report in place to what the record may keep: printed output is removed (its
 * size stays), and text of the worker is handled as above. Returns false if out of memory. */
DTX_MUSTUSE bool dtx_redact_report(json_t *report, const struct dtx_jail_report *r,
                                   struct dtx_str code, const json_t *names);

#endif
