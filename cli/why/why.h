/* The parts of `why`: which cell was asked for, what it came from, and how that is told. */
#ifndef DTX_CLI_WHY_WHY_H
#define DTX_CLI_WHY_WHY_H

#include "cli/opt.h"
#include "cli/why/why_replay.h"
#include "cli/why/why_result.h"
#include "core/plan/exec/together.h"
#include "core/plan/lineage/trace.h"

enum { DTX_WHY_SHOWN = 20 }; /* addresses of a column that are shown */

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
	json_t *key; /* {"column": "text"} instead of a row; NULL */
	char column[256];
	struct dtx_why_result traced;
	json_t *report;
	json_t *known;         /* cells of the row, from the result's file; NULL */
	int64_t nth;           /* which of the rows with these cells it is */
	struct dtx_plan *plan; /* the traced one */
	struct dtx_trace trace;
	struct dtx_together fold; /* of many files; of NULL: each input is followed apart */
	bool filled;              /* a source column was filled: values may come from other cells */
	struct dtx_buf text;
};

/* The cell that the words ask for: sets row or key, and column.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_why_cell(struct dtx_why *w, int argc, char **argv,
                                       struct dtx_err *err);
/* Whether the result has the columns that were named.  Codes: usage, with candidates. */
DTX_MUSTUSE enum dtx_code dtx_why_columns_known(const struct dtx_why *w, struct dtx_err *err);
/* Rows of the recorded lineage: DIRECT ones of the column, or INDIRECT ones of the table. */
bool dtx_why_concerns(const struct dtx_why *w, const json_t *row, bool direct);
/* The lineage row that has the column's formula; NULL: it was taken as it is. */
const json_t *dtx_why_formula(const struct dtx_why *w);
/* Whether the lineage row's column has been there before; `seen` (an object) has it from then on.
 */
bool dtx_why_listed(json_t *seen, const json_t *row);
/* Whether a list of sources names a cell. */
bool dtx_why_names_any(const json_t *list);
/* Makes w->report of the traced rows, while their readers are open. */
DTX_MUSTUSE enum dtx_code dtx_why_report(struct dtx_why *w, struct dtx_err *err);
/* Where no values are asked for: takes the value of the cell out of w->report, and from its
 * formulas those constants that the plan does not have, which are names that a step made of cells.
 */
DTX_MUSTUSE enum dtx_code dtx_why_bare(struct dtx_why *w, struct dtx_err *err);
/* One formula as it may be shown; the same text where values are asked for.  Appends. */
void dtx_why_shown(const struct dtx_why *w, const char *formula, struct dtx_buf *out);
/* The line, from 1, of a text result on which w->row begins; 0: it is no text, or the file that the
 * run wrote is needed for it and not at hand. */
int64_t dtx_why_line(const struct dtx_why *w);
/* w->report for people; and its first line alone: the cell and its value. */
void dtx_why_print(const struct dtx_why *w, struct dtx_buf *out);
void dtx_why_print_head(const struct dtx_why *w, struct dtx_buf *out);
/* The source columns at least, as notes, where cells cannot be had. */
void dtx_why_columns_only(const struct dtx_why *w);

#endif
