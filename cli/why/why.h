/* What the files of `why` share: the cell that was asked for, what it came from, and how to print
 * it.
 *
 * The way of an answer: why_report.c parses the question. If the run kept row numbers, why_stored.c
 * answers from them. Otherwise the plan runs again with row numbers (core/plan/lineage/trace.h),
 * why_report.c makes a JSON report of the result and prints it. */
#ifndef DTX_CLI_WHY_WHY_H
#define DTX_CLI_WHY_WHY_H

#include "cli/opt.h"
#include "cli/why/why_replay.h"
#include "cli/why/why_result.h"
#include "core/plan/exec/together.h"
#include "core/plan/lineage/trace.h"

enum { DTX_WHY_SHOWN = 20 }; /* number of addresses per column that are shown */

struct dtx_why_args {
	int64_t row;
	const char *col;
	struct dtx_optlist key;
	bool all, no_values, json, again;
};

struct dtx_why {
	const struct dtx_why_args *args;
	struct dtx_why_replay x;
	int64_t row;
	json_t *key; /* {"column": "text"}, to ask by cells and not by number; NULL: by number */
	char column[256];
	struct dtx_why_result traced;
	json_t *report;
	json_t *known; /* cells of the asked row, from the file of the result; NULL: not known */
	int64_t nth;   /* which of the rows with these cells it is, from 1 */
	struct dtx_plan *plan; /* the traced plan */
	struct dtx_trace trace;
	struct dtx_together fold; /* if the plan has many files: them as one table each; `of` NULL:
	                           * each input is followed on its own */
	uint32_t asked; /* the input that was looked up last; the next one often follows it */
	struct dtx_batch ***by_file; /* while the report is made: for each output its batches in
	                              * order of their files; NULL: not needed yet */
	bool filled; /* a source column was filled, so that values may come from other cells */
	struct dtx_buf text;
};

/* Parses the cell that the arguments ask for: sets row or key, and column. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_why_cell(struct dtx_why *w, int argc, char **argv,
                                       struct dtx_err *err);
/* Adds to an error about a cell which cells the result has: A2:D10. */
void dtx_why_hint_range(const struct dtx_why *w, struct dtx_err *err);
/* Checks that the result has the columns that were named. Codes: usage, with similar names. */
DTX_MUSTUSE enum dtx_code dtx_why_columns_known(const struct dtx_why *w, struct dtx_err *err);
/* Whether a row of the recorded lineage is about this answer: a DIRECT one of the column, or an
 * INDIRECT one of the table. */
bool dtx_why_concerns(const struct dtx_why *w, const json_t *row, bool direct);
/* The lineage row with the formula of the column; NULL: the column was passed on unchanged. */
const json_t *dtx_why_formula(const struct dtx_why *w);
/* Whether the column of a lineage row is in `seen`, an object. Adds it if not. */
bool dtx_why_listed(json_t *seen, const json_t *row);
/* Whether a list of sources has any cell. */
bool dtx_why_names_any(const json_t *list);
/* Makes w->report from the traced rows. Must be called while their readers are open, because these
 * know the addresses. Codes: no_memory and others of the readers. */
DTX_MUSTUSE enum dtx_code dtx_why_report(struct dtx_why *w, struct dtx_err *err);
/* If the user wants no values: removes the value of the cell from w->report, and from formulas all
 * constants that are not in the plan. A step made such a constant from a cell (pivot_wider, for
 * example, makes conditions on names). Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_why_bare(struct dtx_why *w, struct dtx_err *err);
/* The line of a text result on which w->row begins, from 1. 0 if the result is not text, or if the
 * line can only be found in the file that the run wrote and that file is not available
 * unchanged. */
int64_t dtx_why_line(const struct dtx_why *w);
/* Prints w->report as text; print_head prints only its first line, the cell and its value. */
void dtx_why_print(const struct dtx_why *w, struct dtx_buf *out);
void dtx_why_print_head(const struct dtx_why *w, struct dtx_buf *out);
/* Prints at least the source columns, as notes, if the cells cannot be found. */
void dtx_why_columns_only(const struct dtx_why *w);

#endif
