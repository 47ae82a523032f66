/* Usage, man pages and shell completion, all made from the descriptors. */
#ifndef DTX_CLI_HELP_HELP_H
#define DTX_CLI_HELP_HELP_H

#include "cli/cmd.h"

struct dtx_exit_row {
	int status;
	const char *meaning;
};
extern const struct dtx_exit_row dtx_exit_rows[]; /* ends with a NULL meaning */

const struct dtx_cmd *dtx_cmd_find(const char *name);
/* The overview: all commands with one line each, and the exit statuses. */
void dtx_help_overview(struct dtx_buf *out);
/* The text for --help of one command, or --help-all. */
void dtx_help_cmd(const struct dtx_cmd *cmd, bool all, struct dtx_buf *out);
/* An operation with its parameters and examples; "map", "sink", "whole" or "macro". */
struct dtx_op;
void dtx_help_op(const struct dtx_op *op, struct dtx_buf *out);
const char *dtx_help_op_kind(const struct dtx_op *op);
/* The other names of an operation that has some: "merge, inner_join". */
void dtx_help_aliases(const struct dtx_op *op, struct dtx_buf *out);
/* The step of an example as JSON. */
struct dtx_example;
void dtx_help_step(const struct dtx_example *e, struct dtx_buf *out);
/* Calls `each` for all operations, group by group; `group` begins one: "rows". */
struct dtx_op;
void dtx_help_each_op(void (*group)(const char *name, struct dtx_buf *out),
                      void (*each)(const struct dtx_op *op, struct dtx_buf *out),
                      struct dtx_buf *out);
/* Lists the operations by what they are for. */
void dtx_help_ops(struct dtx_buf *out);
/* In topics.c. A part of the manual as text: "plan", "functions", "codes", "config". Returns false
 * if there is no such topic. */
bool dtx_help_topic(const char *name, struct dtx_buf *out);
/* Pages that are written by hand; name NULL: the end. */
struct dtx_help_page {
	const char *name, *text;
};
extern const struct dtx_help_page dtx_help_pages[]; /* made by core/gen/gen-pages.py */
/* A page in troff: "dtx.1", "dtx-plan.5", "dtx-config.5", "dtx-ops.7", "dtx-tutorial.7". Returns
 * false if there is no such page. */
bool dtx_help_man(const char *page, struct dtx_buf *out);

#endif
