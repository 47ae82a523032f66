/* Everything that is printed to stderr and stdout. Only cli/ prints. */
#ifndef DTX_CLI_OUT_H
#define DTX_CLI_OUT_H

#include "cli/cmd.h"
#include "core/base/text/json.h"
#include "core/plan/plan.h"

/* The context of an error: file and tree of the plan, for pointers and spans, and its inputs,
 * whose file names users know better than their aliases. */
struct dtx_out_where {
	const struct dtx_plan *inputs; /* NULL: none */
	const char *plan_path;         /* NULL: none */
	const struct dtx_words *words; /* the words that the plan was made of; NULL: none */
	const json_t *plan;            /* as written; NULL: none */
	bool each;                     /* print every warning, with all details */
	const char *expr; /* the expression that spans refer to, if there is no plan; NULL */
};

/* Prints one finding to stderr: several lines for people, or one JSON object per line. */
void dtx_out_error(const struct dtx_cli *cli, const struct dtx_err *err,
                   const struct dtx_out_where *where);
/* Prints findings. Warnings of one kind share a line, and the most serious come first. Those
 * that do not affect the result are left out, unless --verbose or JSON is asked for. */
void dtx_out_errors(const struct dtx_cli *cli, const struct dtx_errlist *list,
                    const struct dtx_out_where *where);
/* Prints the last line after a finding that a snippet may help with; `text` has the commands.
 * For programs it is an object of its own, with "near" (NULL: none) and the exit status. */
void dtx_out_offer(const struct dtx_cli *cli, const char *text, const struct dtx_err *offer,
                   const json_t *near, int status, const struct dtx_out_where *where);
/* The error object of the plan format, a new reference. NULL: out of memory. */
json_t *dtx_out_error_json(const struct dtx_err *err);
/* Appends "14 rows read = 12 out + 1 header + 1 blank". */
void dtx_out_ledger(const struct dtx_read_stats *s, struct dtx_buf *out);
/* Appends text from data, names or files for a terminal. Characters that a reader would not see
 * are escaped: control characters, directional marks, blanks without width. With `lines`, line
 * feeds stay. */
void dtx_out_safe(struct dtx_buf *out, const char *text, bool lines);
/* Appends the names in a list, escaped like that, separated by commas. */
void dtx_out_names(const json_t *list, struct dtx_buf *out);
/* Appends what a check of the store found, a line each: the kind, its place and what is wrong. */
void dtx_out_findings(const json_t *findings, struct dtx_buf *out);
/* Prints a note for people; nothing with --quiet or --errors=json. It may quote data: control
 * characters are escaped, as in everything that goes to stderr. */
void dtx_out_note(const struct dtx_cli *cli, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Prints err and returns its exit status. */
int dtx_out_fail(const struct dtx_cli *cli, const struct dtx_err *err);
/* Writes all of the text to stdout and checks that it arrived; prints an error if not. On a
 * terminal, control characters are escaped; a pipe or file gets the bytes unchanged. Returns the
 * exit status. */
int dtx_out_print(const struct dtx_cli *cli, struct dtx_buf *text);
/* Writes bytes of another program to stdout or stderr: unchanged, except on a terminal, where they
 * could act on it and are escaped like the rest. */
enum dtx_code dtx_out_bytes(int fd, const char *bytes, size_t n, struct dtx_err *err);
/* For dtx_outfile_shown, with `cli` as its argument: the same of a run's output. */
void dtx_out_shown(void *cli, const char *bytes, size_t n, struct dtx_buf *shown);
int dtx_out_json(const struct dtx_cli *cli, const json_t *value, int indent);

#endif
