/* Column selectors: "name", "a..d", "*", {"regex"}, {"type"}, {"range"}, {"all"}, {"name"},
 * {"not"}.
 *
 * A parsed selector is allocated in an arena and lives as long as it. */
#ifndef DTX_PLAN_PARSE_COLS_H
#define DTX_PLAN_PARSE_COLS_H

#include "core/base/text/json.h"
#include "core/base/memory/arena.h"
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
	const char *a, *b; /* the name; both ends of a range; the text of a regex; the name of a
	                    * class of types: number, text, bool, date, datetime */
	const struct dtx_regex *re;
	const struct dtx_cols *sub; /* for NOT */
};
struct dtx_cols {
	struct dtx_col_item *item;
	size_t n;
	bool holes; /* some items could not be parsed */
};
/* A selector without any item that could be parsed. */
extern const struct dtx_cols dtx_cols_hole;

/* Parses a selector; a single value is a list of one. For each item that cannot be parsed it adds a
 * finding to `errs` (bad_param_type, bad_param_value, regex_syntax, unsupported_param) at `pointer`
 * and the index, and leaves the item out. The function itself fails only with no_memory. */
DTX_MUSTUSE enum dtx_code dtx_cols_parse(struct dtx_arena *a, const json_t *value,
                                         const char *pointer, struct dtx_errlist *errs,
                                         struct dtx_cols **out, struct dtx_err *err);
/* The selector as canonical JSON, see the rules of plans. A new reference; NULL: out of memory. */
json_t *dtx_cols_json(const struct dtx_cols *cols);
/* Whether the columns can be found in this schema without data: all items are names, or the schema
 * is complete with types. */
bool dtx_cols_static(const struct dtx_cols *cols, const struct dtx_schema *s);
/* Appends the selector for messages: "a, b, /^Q/". */
void dtx_cols_print(const struct dtx_cols *cols, struct dtx_buf *out);
/* Appends a list of names in Python, if the selector has only names; false otherwise. */
bool dtx_cols_pandas(const struct dtx_cols *cols, struct dtx_buf *out);

#endif
