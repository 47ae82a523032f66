/* What leaves through stderr and stdout.  Only cli/ prints. */
#ifndef DTX_CLI_OUT_H
#define DTX_CLI_OUT_H

#include "cli/cmd.h"
#include "core/base/text/json.h"
#include "core/plan/plan.h"

/* Where an error belongs: the plan's file and tree, for pointers and spans; its inputs, whose file
 * names people know better than aliases. */
struct dtx_out_where {
	const struct dtx_plan *inputs; /* NULL */
	const char *plan_path;         /* NULL: none */
	const json_t *plan;            /* as written; NULL */
	bool each;                     /* every warning, with all that is known of it */
	const char *expr; /* the expression spans are in, when there is no plan; NULL */
};

/* One finding on stderr: several lines for people, or one JSON object per line. */
void dtx_out_error(const struct dtx_cli *cli, const struct dtx_err *err,
                   const struct dtx_out_where *where);
/* Warnings of one kind are one line, the most serious first; those that the result does not depend
 * on are left out, but not with --verbose or as JSON. */
void dtx_out_errors(const struct dtx_cli *cli, const struct dtx_errlist *list,
                    const struct dtx_out_where *where);
/* The line that comes last, after a finding that a snippet may cure: `text` has its commands.  For
 * programs an object of its own, with "near" (NULL: none) and the status of the process. */
void dtx_out_offer(const struct dtx_cli *cli, const char *text, const struct dtx_err *offer,
                   const json_t *near, int status, const struct dtx_out_where *where);
/* The error object of the plan format; new reference, NULL: out of memory. */
json_t *dtx_out_error_json(const struct dtx_err *err);
/* "14 rows read = 12 out + 1 header + 1 blank" */
void dtx_out_ledger(const struct dtx_read_stats *s, struct dtx_buf *out);
/* Text of data, names or files for a terminal: what a reader would not see (control characters,
 * marks that turn the direction around, blanks without width) is spelled out; with `lines`, line
 * feeds stay. */
void dtx_out_safe(struct dtx_buf *out, const char *text, bool lines);
/* Names of a list, the same way, with commas between them. */
void dtx_out_names(const json_t *list, struct dtx_buf *out);
bool dtx_out_hidden(uint32_t cp);
/* A note for people; nothing with --quiet or --errors=json.  It may quote data: what would steer a
 * terminal is spelled out, as in all that goes to stderr. */
void dtx_out_note(const struct dtx_cli *cli, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Prints err and gives its exit status. */
int dtx_out_fail(const struct dtx_cli *cli, const struct dtx_err *err);
/* Whole content to stdout, checked to the last byte; prints the failure.  On a terminal what would
 * steer it is spelled out; a pipe or file gets the bytes as they are.  Returns the status. */
int dtx_out_print(const struct dtx_cli *cli, struct dtx_buf *text);
int dtx_out_json(const struct dtx_cli *cli, const json_t *value, int indent);

#endif
