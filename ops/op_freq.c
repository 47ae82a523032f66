/* freq: how often values are there. */
#include <stdlib.h>

#include "core/data/builder.h"
#include "ops/group/tablekeys.h"

struct freq_args {
	struct dtx_cols *cols;
	int64_t n;
	bool sort;
};
struct freq_state {
	struct dtx_groupkeys key;
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct freq_args, member)
static const struct dtx_param freq_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,by,column,col",
	  .help = "columns whose values are counted together" },
	{ .name = "n",
	  .kind = DTX_P_INT,
	  AT(n),
	  .aliases = "count",
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "only so many rows" },
	{ .name = "sort",
	  .kind = DTX_P_BOOL,
	  AT(sort),
	  .def = "true",
	  .help = "most frequent first" },
};
static const struct dtx_example freq_examples[] = {
	{ .step = DTX_JSON({ "op" : "freq", "cols" : ["k"] }),
	  .in = "k,v\na,1\nb,2\nb,3\n,4\n",
	  .out = "k,count,share\nb,2,0.5\na,1,0.25\n,1,0.25\n" },
	{ .step = DTX_JSON(
		  { "op" : "value_counts", "cols" : [ "k", "v" ], "sort" : false, "n" : 2 }),
	  .in = "k,v\na,1.50\na,2\nb,1\na,2.0\n",
	  .out = "k,v,count,share\na,1.50,1,0.25\na,2,2,0.5\n" },
	{ .step = DTX_JSON({ "op" : "freq", "cols" : ["count"] }),
	  .in = "count\n1\n",
	  .error = "name_collision" },
};

static enum dtx_code freq_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct freq_args *a = args;
	const struct dtx_typeref count = { .type = DTX_T_INT64 }, share = { .type = DTX_T_FLOAT64 };
	struct freq_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->cols, "/cols", &s->key, err));
	for (uint32_t i = 0; i < s->key.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->key.col[i], NULL, err));
	DTX_TRY(dtx_bind_make(b, "count", count, NULL, "count of", err));
	DTX_TRY(dtx_bind_make(b, "share", share, NULL, "share of", err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	if (dtx_cols_static(a->cols, b->in[0]))
		dtx_bind_close(b);
out:
	return rc;
}

struct value {
	int64_t first, count;
};

static int value_cmp(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static enum dtx_code count_values(const struct dtx_tablekeys *k, bool sort, struct value **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct value *v = dtx_mem_zalloc((size_t)k->n + 1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	for (uint32_t g = 0; g < k->n; g++)
		v[g].first = k->first[g];
	for (int64_t row = 0; row < k->nrows; row++)
		v[dtx_tablekeys_id(k, row)].count++;
	if (sort && k->n > 1)
		qsort(v, k->n, sizeof(*v), value_cmp);
	*out = v;
out:
	return rc;
}

struct work { /* while rows leave */
	const struct freq_state *s;
	const struct value *v;
	int64_t all;
};

static enum dtx_code put_counts(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	const struct work *w = ctx;
	const struct value *v = w->v + at;
	const struct dtx_typeref ints = { .type = DTX_T_INT64 }, floats = { .type = DTX_T_FLOAT64 };
	enum dtx_code rc = DTX_OK;
	struct dtx_builder count, share;
	struct dtx_column *made = NULL;

	dtx_builder_init(&count, ints, b->nrows);
	dtx_builder_init(&share, floats, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++) {
		dtx_builder_i64(&count, v[i].count);
		dtx_builder_f64(&share, (double)v[i].count / (double)w->all);
	}
	DTX_TRY(dtx_builder_finish(&count, NULL, &made, err));
	dtx_batch_put(b, w->s->key.n, made);
	DTX_TRY(dtx_builder_finish(&share, NULL, &made, err));
	dtx_batch_put(b, w->s->key.n + 1, made);
out:
	dtx_builder_clear(&count);
	dtx_builder_clear(&share);
	return rc;
}

static enum dtx_code emit_values(const struct dtx_opctx *ox, struct dtx_table *t,
                                 const struct value *v, int64_t n, struct dtx_emit *out,
                                 struct dtx_err *err)
{
	struct work w = { .s = ox->bound, .v = v, .all = t->nrows };
	const struct dtx_rowfill fill = { .fill = put_counts, .ctx = &w };
	enum dtx_code rc = DTX_OK;
	int64_t *row = dtx_mem_alloc((size_t)n + 1, sizeof(*row));

	if (!row)
		DTX_FAIL_MEM(err);
	for (int64_t i = 0; i < n; i++)
		row[i] = v[i].first;
	DTX_TRY(dtx_table_fill(ox, t, &w.s->map, row, n, &fill, out, err));
out:
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code freq_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct freq_args *a = ox->args;
	const struct freq_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_tablekeys k = DTX_TABLEKEYS_INIT;
	struct value *v = NULL;

	DTX_TRY(dtx_tablekeys_open(&k, ox, &s->key, t, err));
	DTX_TRY(count_values(&k, a->sort, &v, err));
	DTX_TRY(emit_values(ox, t, v, a->n ? DTX_MIN(a->n, (int64_t)k.n) : (int64_t)k.n, out, err));
out:
	dtx_mem_free(v);
	dtx_tablekeys_close(&k);
	return rc;
}

static void freq_explain(const void *args, struct dtx_buf *out)
{
	const struct freq_args *a = args;

	dtx_buf_add(out, "count how often each value of ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " is there");
	if (a->n)
		dtx_buf_printf(out, ", the first %lld%s", (long long)a->n,
		               a->sort ? " by count" : "");
}

const struct dtx_op dtx_op_freq = {
	.name = "freq",
	.aliases = "value_counts,tabulate",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Count how often each value is there",
	.notes = "Columns: the counted ones, count, share of all rows. Null is counted; equally "
		 "frequent values come in order of first appearance.",
	.params = freq_params,
	.nparams = DTX_COUNT(freq_params),
	.examples = freq_examples,
	.nexamples = DTX_COUNT(freq_examples),
	.args_size = sizeof(struct freq_args),
	.bind = freq_bind,
	.whole = freq_whole,
	.explain = freq_explain,
};
