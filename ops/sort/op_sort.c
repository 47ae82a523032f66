/* sort: rows in the order of keys, stable. The sorter is in ops/sort: one run per worker, then a
 * merge. */
#include "ops/sort/ordered.h"
#include "ops/sort/orderkeys.h"
#include "core/plan/compile/sqltext.h"

struct sort_args {
	struct dtx_plist by;
	int64_t limit;
};
struct sort_state {
	struct dtx_orderkeys keys;
	struct dtx_colmap map;
};

static const struct dtx_param sort_params[] = {
	{ .name = "by",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct sort_args, by),
	  .aliases = "cols,columns,keys,key,column",
	  .rows = dtx_order_rows,
	  .nrows = DTX_ORDER_ROWS,
	  .item_size = sizeof(struct dtx_order_item),
	  .sugar = DTX_SUGAR_SORT,
	  .help = "sort keys, the most important one first" },
	{ .name = "limit",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct sort_args, limit),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "keep only the first rows" },
};
static const struct dtx_example sort_examples[] = {
	{ .step = DTX_JSON({ "op" : "sort", "by" : ["a"] }),
	  .in = "a,b\n2,x\n,y\n1,z\n",
	  .out = "a,b\n1,z\n2,x\n,y\n" },
	{ .step = DTX_JSON({ "op" : "order_by", "by" : "-a" }),
	  .in = "a,b\n2,x\n,y\n10,z\n2,w\n",
	  .out = "a,b\n10,z\n2,x\n2,w\n,y\n" },
	{ .step = DTX_JSON({ "op" : "sort", "by" : [ { "col" : "a", "nulls" : "first" }, "-b" ] }),
	  .in = "a,b\n1,1.50\n,2\n1,3\n",
	  .out = "a,b\n,2\n1,3\n1,1.50\n" },
	{ .step = DTX_JSON({ "op" : "sort", "by" : [ { "expr" : "a % 10" } ], "limit" : 2 }),
	  .in = "a\n19\n21\n30\n",
	  .out = "a\n30\n21\n" },
	{ .step = DTX_JSON({ "op" : "sort", "by" : [ { "col" : "k", "collate" : "natural" } ] }),
	  .in = "k\nf10\nf9\nF1\n",
	  .out = "k\nF1\nf9\nf10\n" },
	{ .step = DTX_JSON({ "op" : "sort", "by" : ["k"] }),
	  .in = "k\nb\nB\na\n",
	  .out = "k\nB\na\nb\n" },
};

static enum dtx_code sort_check(const void *args, struct dtx_err *err)
{
	const struct sort_args *a = args;

	return dtx_orderkeys_check(&a->by, "sort", "/by", err);
}

static enum dtx_code sort_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct sort_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct sort_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_orderkeys_bind(b, &a->by, "/by", &s->keys, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

/* The number of rows that can matter, for the step's own limit or for a limit that follows. */
static size_t sort_keep(const struct dtx_opctx *ox)
{
	const struct sort_args *a = ox->args;
	size_t keep = a->limit > 0 ? (size_t)a->limit : SIZE_MAX;

	return ox->first_rows ? DTX_MIN(keep, (size_t)ox->first_rows) : keep;
}

static enum dtx_code sort_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ordered *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	dtx_ordered_init(l, sort_keep(ox));
	*local = l;
	if (sort_keep(ox) == SIZE_MAX)
		DTX_TRY(dtx_ordered_fold(l, ox, &((const struct sort_state *)ox->bound)->map, err));
out:
	return rc;
}

static void sort_free(const struct dtx_opctx *ox, void *local)
{
	struct dtx_ordered *l = local;

	(void)ox;
	if (!l)
		return;
	dtx_ordered_clear(l);
	dtx_mem_free(l);
}

static enum dtx_code sort_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_err *err)
{
	const struct sort_state *s = ox->bound;
	struct dtx_ordered *l = local;
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key =
		dtx_mem_zalloc((size_t)s->keys.n + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_orderkeys_eval(ox, &s->keys, in, key, err));
	DTX_TRY(dtx_ordered_add(l, ox, in, key, s->keys.order, s->keys.n, err));
out:
	for (uint32_t i = 0; key && i < s->keys.n; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
	return rc;
}

/* Parts of combine: part p sorts the runs of workers p, p + SORT_PARTS and so on. */
#define SORT_PARTS 16u

static enum dtx_code sort_combine(const struct dtx_opctx *ox, unsigned part, void *const *locals,
                                  unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)ox;
	for (unsigned w = part; w < n; w += SORT_PARTS)
		DTX_TRY(dtx_sorter_sort(&((struct dtx_ordered *)locals[w])->sorter, err));
out:
	return rc;
}

static void sort_free_shared(const struct dtx_opctx *ox, void *shared)
{
	(void)ox;
	dtx_ordered_free(shared);
}

static enum dtx_code sort_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                   void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	struct dtx_ordered_rows *rows = NULL;
	size_t keep = sort_keep(ox), had = 0;
	enum dtx_code rc = DTX_OK;

	(void)out;
	for (unsigned w = 0; w < n; w++)
		had += ((const struct dtx_ordered *)locals[w])->rows;
	DTX_TRY(dtx_ordered_agree((struct dtx_ordered *const *)locals, n, ox, err));
	DTX_TRY(dtx_ordered_take((struct dtx_ordered *const *)locals, n, keep,
	                         ox->run ? ox->run->spill : NULL, &rows, err));
	*shared = rows;
	dtx_op_count(ox, ox->first_rows == keep ? "not_wanted" : "outside",
	             (int64_t)(had - DTX_MIN(had, keep)));
out:
	return rc;
}

static uint64_t sort_parts(const struct dtx_opctx *ox, const struct dtx_origin **origin)
{
	const struct dtx_ordered_rows *r = ox->shared;

	*origin = r->merge.origin;
	return r->merge.nparts;
}

static enum dtx_code sort_make(const struct dtx_opctx *ox, uint64_t part, struct dtx_emit *out,
                               struct dtx_err *err)
{
	const struct dtx_ordered_rows *r = ox->shared;
	const struct sort_state *s = ox->bound;

	return dtx_merge_part(&r->merge, part, ox, &s->map, out, err);
}

static void sort_explain(const void *args, struct dtx_buf *out)
{
	const struct sort_args *a = args;

	dtx_buf_add(out, "sort by ");
	dtx_orderkeys_print(&a->by, out);
	if (a->limit > 0)
		dtx_buf_printf(out, ", first %lld rows", (long long)a->limit);
}

/* Writes one stable sort per key, the last key first, since pandas has one position of nulls per
 * sort. */
static bool sort_pandas(const void *args, struct dtx_buf *out)
{
	const struct sort_args *a = args;
	const struct dtx_order_item *item = a->by.item;

	dtx_buf_add(out, "df0");
	for (size_t i = a->by.n; i-- > 0;) {
		if (item[i].expr || item[i].collate)
			return false;
		dtx_buf_add(out, ".sort_values(");
		dtx_py_text(out, item[i].col);
		dtx_buf_printf(out, ", ascending=%s, kind=\"stable\", na_position=\"%s\")",
		               item[i].desc ? "False" : "True",
		               item[i].nulls == DTX_NULLS_FIRST ? "first" : "last");
	}
	if (a->limit > 0)
		dtx_buf_printf(out, ".head(%lld)", (long long)a->limit);
	return true;
}

static const struct dtx_sink sort_sink = {
	.nparts = SORT_PARTS,
	.init_local = sort_init,
	.consume = sort_consume,
	.combine = sort_combine,
	.finalize = sort_finalize,
	.free_local = sort_free,
	.free_shared = sort_free_shared,
	.parts = sort_parts,
	.make = sort_make,
};

static bool sort_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct sort_args *a = s->args;
	bool ok;

	dtx_buf_add(out, "SELECT row_number() OVER (ORDER BY ");
	ok = dtx_orderkeys_sql(&a->by, s->bind->in[0], out, NULL, NULL);
	dtx_buf_add(out, a->by.n ? ", " : "");
	dtx_buf_add(out, "\"_row\") AS \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	dtx_buf_printf(out, " FROM %s", s->from[0]);
	if (a->limit > 0)
		dtx_buf_printf(out, " ORDER BY 1 LIMIT %lld", (long long)a->limit);
	return ok;
}

static void sort_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (json_object_get(canonical, "limit"))
		facts->rows = DTX_ROWS_CHOSEN;
}

const struct dtx_op dtx_op_sort = {
	.name = "sort",
	.aliases = "order_by,arrange,sort_values",
	.ninputs = 1,
	.flags = DTX_OP_FIRST_ROWS | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Put rows in order",
	.notes = "Stable. Nulls come last in both directions unless nulls is \"first\". Text is "
		 "ordered by its UTF-8 bytes unless collate says otherwise.",
	.facts = { .rows = DTX_ROWS_SORTED,
	           .values = DTX_VALUES_KEPT,
	           .decides = "by",
	           .indirect = "SORT",
	           .first = true,
	           .by_parts = true },
	.facts_of = sort_facts,
	.params = sort_params,
	.nparams = DTX_COUNT(sort_params),
	.examples = sort_examples,
	.nexamples = DTX_COUNT(sort_examples),
	.args_size = sizeof(struct sort_args),
	.check = sort_check,
	.bind = sort_bind,
	.sink = &sort_sink,
	.explain = sort_explain,
	.sql = sort_sql,
	.pandas = sort_pandas,
};
