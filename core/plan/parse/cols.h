/* Column selectors: "name", "a..d", "*", {"regex"}, {"type"}, {"range"}, {"all"}, {"name"},
 * {"not"}. */
#ifndef DTX_PLAN_PARSE_COLS_H
#define DTX_PLAN_PARSE_COLS_H

#include "core/base/text/json.h"
#include "core/base/arena.h"
#include "core/data/schema.h"

enum dtx_col_sel {
	DTX_COL_NAME,
	DTX_COL_RANGE,
	DTX_COL_ALL,
	DTX_COL_REGEX,
	DTX_COL_TYPE,
	DTX_COL_NOT
};
struct dtx_regex;
struct dtx_cols;
struct dtx_col_item {
	enum dtx_col_sel kind;
	const char *a, *b; /* name; range ends; regex text; type name */
	const struct dtx_regex *re;
	const struct dtx_cols *sub; /* NOT */
};
struct dtx_cols {
	struct dtx_col_item *item;
	size_t n;
	bool holes; /* there were items that cannot be read */
};
/* A selector of which nothing could be read. */
extern const struct dtx_cols dtx_cols_hole;

/* Parses a selector; a scalar is a list of one.  Every item that cannot be read is a finding in
 * errs (bad_param_type, bad_param_value, regex_syntax, unsupported_param) at `pointer` + its index,
 * and left out.  Only memory fails. */
DTX_MUSTUSE enum dtx_code dtx_cols_parse(struct dtx_arena *a, const json_t *value,
                                         const char *pointer, struct dtx_errlist *errs,
                                         struct dtx_cols **out, struct dtx_err *err);
/* Canonical JSON (plan rules); new reference, NULL: out of memory. */
json_t *dtx_cols_json(const struct dtx_cols *cols);
/* The item is resolvable without data in this schema (names only, or a closed schema with types).
 */
bool dtx_cols_static(const struct dtx_cols *cols, const struct dtx_schema *s);
/* "a, b, /^Q/" for people. */
void dtx_cols_print(const struct dtx_cols *cols, struct dtx_buf *out);
/* pandas list of names when the selector holds only names; false otherwise. */
bool dtx_cols_pandas(const struct dtx_cols *cols, struct dtx_buf *out);

#endif
