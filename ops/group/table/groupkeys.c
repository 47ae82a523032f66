/* The key columns of a selector: binds them, gets their values, makes groups of them. */
#include "ops/group/table/groupkeys.h"

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "ops/kit/opkit.h"

enum dtx_code dtx_groupkeys_columns(struct dtx_bind *b, unsigned t, const int32_t *col, uint32_t n,
                                    struct dtx_groupkeys *k, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	k->n = 0;
	k->col = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*k->col));
	k->type = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*k->type));
	if (!k->col || !k->type)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		if (col[i] < 0)
			continue;
		k->col[k->n] = col[i];
		k->type[k->n++] = b->in[t]->field[col[i]].type;
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, t, col[i], DTX_DEMAND_VALUE, err));
	}
out:
	return rc;
}

enum dtx_code dtx_groupkeys_each(struct dtx_bind *b, unsigned t, const int32_t *col, uint32_t n,
                                 struct dtx_groupkeys **key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*key = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(**key));
	if (!*key)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(dtx_groupkeys_columns(b, t, &col[i], 1, &(*key)[i], err));
out:
	return rc;
}

enum dtx_code dtx_groupkeys_bind(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                                 const char *sub, struct dtx_groupkeys *k, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *col = NULL;
	uint32_t n = 0;

	/* an empty list means that all rows are one group */
	if (!cols || cols->n)
		DTX_TRY(dtx_bind_cols(b, t, cols, sub, &col, &n, err));
	DTX_TRY(dtx_groupkeys_columns(b, t, col, n, k, err));
out:
	return rc;
}

enum dtx_code dtx_groupkeys_groups(const struct dtx_groupkeys *k, struct dtx_groups **out,
                                   struct dtx_err *err)
{
	return dtx_groups_new(k->type, k->n, out, err);
}

enum dtx_code dtx_groupkeys_flat(const struct dtx_groupkeys *k, struct dtx_batch *b,
                                 struct dtx_column ***key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*key = dtx_mem_zalloc((size_t)k->n + 1, sizeof(struct dtx_column *));
	if (!*key)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < k->n; i++)
		DTX_TRY(dtx_batch_flat(b, (uint32_t)k->col[i], &(*key)[i], err));
out:
	return rc;
}

void dtx_groupkeys_unflat(const struct dtx_groupkeys *k, struct dtx_column **key)
{
	for (uint32_t i = 0; key && i < k->n; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
}

enum dtx_code dtx_groupkeys_ids(const struct dtx_groupkeys *k, struct dtx_groups *g,
                                struct dtx_batch *b, uint32_t *ids, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key = NULL;

	DTX_TRY(dtx_groupkeys_flat(k, b, &key, err));
	DTX_TRY(dtx_groups_ids(g, key, b, ids, err));
out:
	dtx_groupkeys_unflat(k, key);
	return rc;
}

void dtx_groupkeys_print(const struct dtx_groupkeys *k, struct dtx_batch *b, uint32_t row,
                         struct dtx_buf *out)
{
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	for (uint32_t i = 0; i < k->n && out->len < 200; i++) {
		bool null = true;
		struct dtx_str text = { "", 0 };

		if (b->col[k->col[i]])
			text = dtx_cell_text(b->col[k->col[i]], row, &scratch, &null);
		dtx_buf_printf(out, "%s%s = ", i ? ", " : "", b->schema->field[k->col[i]].name);
		if (null)
			dtx_buf_add(out, "null");
		else
			dtx_buf_printf(
				out, "'%.*s'",
				(int)(text.len > 60 ? dtx_utf8_offset(text.ptr, 60, 56) : text.len),
				text.ptr);
	}
	dtx_buf_clear(&scratch);
}
