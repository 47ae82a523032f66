/* Expectations about a table: the members `columns`, `extra` and `rows` of an expect object.
 *
 * They are parsed once and then checked batch by batch.  Each expectation gives one check row
 * {name, severity, status, col, expected, actual}, whose texts contain counts but never values of
 * cells. */
#ifndef DTX_DATA_EXPECT_EXPECT_H
#define DTX_DATA_EXPECT_EXPECT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

struct dtx_expect; /* lives in the arena that it was parsed into */
struct dtx_expect_run;

/* NULL and JSON null give an object without expectations.  Findings go to errs: unknown_param,
 * bad_param_type, bad_param_value, missing_param.  core/plan/rules checks keys, order_by, sums,
 * rules and matches, so they are ignored here.  `pointer` is the JSON pointer of the object.
 * `rows.equals` may name a table: dtx_expect_equals_table returns the name, and the caller passes
 * the number of its rows to dtx_expect_start. */
DTX_MUSTUSE enum dtx_code dtx_expect_parse(const json_t *object, const char *pointer,
                                           struct dtx_arena *arena, struct dtx_errlist *errs,
                                           struct dtx_expect **out, struct dtx_err *err);
/* NULL: `equals` does not name a table. */
const char *dtx_expect_equals_table(const struct dtx_expect *e);
/* True if nothing is expected, so no rows need to be checked. */
bool dtx_expect_empty(const struct dtx_expect *e);
/* The expected columns as a schema in the arena.  It is closed if `extra` is "forbid", else open.
 * A column without an expected type has type unknown. */
DTX_MUSTUSE enum dtx_code dtx_expect_schema(const struct dtx_expect *e, struct dtx_arena *arena,
                                            struct dtx_schema **out, struct dtx_err *err);

/* equals_rows: rows of the table that `equals` names, -1 if it names none. */
DTX_MUSTUSE enum dtx_code dtx_expect_start(const struct dtx_expect *e, const struct dtx_schema *s,
                                           int64_t equals_rows, struct dtx_expect_run **out,
                                           struct dtx_err *err);
/* Checks one batch; batches may come in any order.  Makes typed twins of the columns that it
 * checks. */
DTX_MUSTUSE enum dtx_code dtx_expect_batch(struct dtx_expect_run *run, struct dtx_batch *b,
                                           struct dtx_err *err);
/* Appends the check rows to `checks` (an array) and counts those that failed.  `where` (may be
 * NULL) receives the pointer to the first one that failed. */
DTX_MUSTUSE enum dtx_code dtx_expect_finish(struct dtx_expect_run *run, json_t *checks,
                                            int64_t *failed, struct dtx_err *where,
                                            struct dtx_err *err);
void dtx_expect_free(struct dtx_expect_run *run); /* NULL is allowed */
/* Start, all batches and finish for a table. */
DTX_MUSTUSE enum dtx_code dtx_expect_table(const struct dtx_expect *e, struct dtx_table *t,
                                           int64_t equals_rows, json_t *checks, int64_t *failed,
                                           struct dtx_err *err);
/* Fills err with `code` (expect_failed or snippet_contract) and a message about the first failed
 * checks. */
enum dtx_code dtx_expect_fail(const json_t *checks, enum dtx_code code, const char *pointer,
                              struct dtx_err *err);

#endif
