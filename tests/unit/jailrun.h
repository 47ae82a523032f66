/* Runs a snippet in the local jail, for tests, and keeps what came back. */
#ifndef TESTS_UNIT_JAILRUN_H
#define TESTS_UNIT_JAILRUN_H

#include "tests/t.h"

#include "core/data/cast/cast.h"
#include "sandbox/main/jail.h"
#include "sandbox/role.h"
#include "tests/unit/tablemake.h"

#define SKIP_SANITIZED()                                                                           \
	do {                                                                                       \
		if (DTX_SANITIZED) {                                                               \
			t_skip("a sanitizer build has no jail");                                   \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* A run with a table of every type as `main`. */
struct run {
	struct dtx_jail_spec spec;
	const char *params;
	int64_t rows;
	bool nulls;
	struct dtx_jail_report r;
	struct dtx_err err;
	struct dtx_table *table;
};

static inline enum dtx_code run_code(struct run *run, const char *code)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL;
	struct dtx_box *box = NULL;

	run->err = (struct dtx_err)DTX_ERR_INIT;
	dtx_jail_report_init(&run->r);
	if (!run->spec.limits.wall_ms)
		run->spec.limits.wall_ms = 20000;
	DTX_TRY(tm_table(run->rows ? run->rows : 20, run->nulls, &in, &run->err));
	DTX_TRY(dtx_provider_local.open(&run->spec, &box, &run->err));
	DTX_TRY(dtx_provider_local.put(box, "main", in, &run->err));
	DTX_TRY(dtx_provider_local.exec(box, dtx_str_of(code), run->params, &run->r, &run->err));
	if (run->spec.mode != DTX_JAIL_CHECK)
		DTX_TRY(dtx_provider_local.get(box, &run->table, &run->err));
out:
	dtx_provider_local.close(box);
	if (in)
		dtx_table_unref(in);
	return rc;
}

static inline void run_clear(struct run *run)
{
	dtx_jail_report_clear(&run->r);
	dtx_err_clear(&run->err);
	if (run->table)
		dtx_table_unref(run->table);
}

static inline struct dtx_str run_cell(const struct dtx_table *t, const char *column, uint32_t row,
                                      struct dtx_buf *buf)
{
	int32_t c = dtx_schema_find(t->schema, column);

	dtx_buf_reset(buf);
	if (c < 0 || !t->nbatches)
		return DTX_STR("(no such column)");
	if (dtx_column_is_null(t->batch[0]->col[c], row))
		return DTX_STR("null");
	dtx_cast_print(t->batch[0]->col[c], row, buf);
	return dtx_str_of(dtx_buf_text(buf));
}

static inline const char *run_type(const struct dtx_table *t, const char *column)
{
	int32_t c = dtx_schema_find(t->schema, column);

	return c < 0 ? "absent" : dtx_type_name(t->schema->field[c].type.type);
}

#endif
