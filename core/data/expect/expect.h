/* Promises about a table: the `columns`, `extra` and `rows` of an expect object.
 *
 * Parsed once, then fed batch by batch; each promise ends as one check row
 * {name, severity, status, col, expected, actual} whose texts hold counts, never cell values. */
#ifndef DTX_DATA_EXPECT_EXPECT_H
#define DTX_DATA_EXPECT_EXPECT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

struct dtx_expect; /* lives in the arena it was parsed into */
struct dtx_expect_run;

/* NULL or JSON null: an expect that promises nothing.  Findings go to errs (unknown_param,
 * bad_param_type, bad_param_value, missing_param).  keys, order_by, sums, rules and matches are
 * left to core/plan/rules.  `pointer` is the object's place.  `rows.equals` may be a table name:
 * dtx_expect_equals_table tells which, the caller sets its rows. */
DTX_MUSTUSE enum dtx_code dtx_expect_parse(const json_t *object, const char *pointer,
                                           struct dtx_arena *arena, struct dtx_errlist *errs,
                                           struct dtx_expect **out, struct dtx_err *err);
/* NULL: `equals` is no table name. */
const char *dtx_expect_equals_table(const struct dtx_expect *e);
/* True when nothing is promised: no need to feed it. */
bool dtx_expect_empty(const struct dtx_expect *e);
/* Columns promised, as a schema (arena); closed with `extra` forbid, else open. Types that are not
 * promised are unknown. */
DTX_MUSTUSE enum dtx_code dtx_expect_schema(const struct dtx_expect *e, struct dtx_arena *arena,
                                            struct dtx_schema **out, struct dtx_err *err);

/* equals_rows: rows of the table that `equals` names, -1 when it does not matter. */
DTX_MUSTUSE enum dtx_code dtx_expect_start(const struct dtx_expect *e, const struct dtx_schema *s,
                                           int64_t equals_rows, struct dtx_expect_run **out,
                                           struct dtx_err *err);
/* Batches in any order, one at a time; makes typed twins of promised columns. */
DTX_MUSTUSE enum dtx_code dtx_expect_batch(struct dtx_expect_run *run, struct dtx_batch *b,
                                           struct dtx_err *err);
/* Appends the check rows to `checks` (an array) and counts those that failed; `where` (NULL: does
 * not matter) gets the pointer to the first of them. */
DTX_MUSTUSE enum dtx_code dtx_expect_finish(struct dtx_expect_run *run, json_t *checks,
                                            int64_t *failed, struct dtx_err *where,
                                            struct dtx_err *err);
void dtx_expect_free(struct dtx_expect_run *run); /* NULL is fine */
/* All of it over a table. */
DTX_MUSTUSE enum dtx_code dtx_expect_table(const struct dtx_expect *e, struct dtx_table *t,
                                           int64_t equals_rows, json_t *checks, int64_t *failed,
                                           struct dtx_err *err);
/* Fills err with `code` (expect_failed, snippet_contract) from the first failed checks. */
enum dtx_code dtx_expect_fail(const json_t *checks, enum dtx_code code, const char *pointer,
                              struct dtx_err *err);

#endif
