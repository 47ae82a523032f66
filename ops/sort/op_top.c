/* top: the rows with the largest or smallest values, of the table or of each group.
 *
 * Few rows are kept by insertion while the others pass; otherwise all rows are sorted. Groups are
 * ranked in parallel. */
#include "core/base/thread/parallel_for.h"
#include "core/plan/compile/sqltext.h"
#include "ops/group/table/tablekeys.h"

enum { TIES_FIRST, TIES_ALL };
struct top_args {
	int64_t n;
	struct dtx_expr *expr;
	bool desc;
	struct dtx_cols *by;
	int ties;
};
struct top_state {
	struct dtx_bound *expr;
	struct dtx_groupkeys by;
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct top_args, member)
static const struct dtx_param top_params[] = {
	{ .name = "n",
	  .kind = DTX_P_INT,
	  .required = true,
	  AT(n),
	  .min = 1,
	  .max = INT64_MAX,
	  .aliases = "count",
	  .help = "rows to keep" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  AT(expr),
	  .aliases = "expression,formula,col,column",
	  .help = "what rows are ranked by" },
	{ .name = "desc", .kind = DTX_P_BOOL, AT(desc), .def = "true", .help = "largest first" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "rank within groups of these columns" },
	{ .name = "ties",
	  .kind = DTX_P_CHOICE,
	  AT(ties),
	  .choices = "first,all",
	  .def = "\"first\"",
	  .help = "all: also keep rows that are equal to the last one" },
};
static const struct dtx_example top_examples[] = {
	{ .step = DTX_JSON({ "op" : "top", "n" : 2, "expr" : "v" }),
	  .in = "k,v\na,1\nb,3.50\nc,\nd,3.5\ne,2\n",
	  .out = "k,v\nb,3.50\nd,3.5\n" },
	{ .step = DTX_JSON({ "op" : "nsmallest", "n" : 1, "expr" : "v * 2", "by" : ["k"] }),
	  .in = "k,v\nx,2\ny,\nz,5\nx,1\nz,4\n",
	  .out = "k,v\nx,1\nz,4\n" },
	{ .step = DTX_JSON({ "op" : "top", "n" : 1, "expr" : "v", "by" : [] }),
	  .in = "k,v\na,3\nb,4\n",
	  .out = "k,v\nb,4\n" },
	{ .step = DTX_JSON({ "op" : "slice_max", "n" : 1, "expr" : "v", "ties" : "all" }),
	  .in = "k,v\na,3\nb,3\nc,2\n",
	  .out = "k,v\na,3\nb,3\n" },
};

static enum dtx_code top_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct top_args *a = args;
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	struct top_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_expr(b, 0, a->expr, "/expr", any, DTX_USE_ROWS, &s->expr, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

struct ranking { /* the values that rows are ranked by, per batch */
	const struct dtx_opctx *ox;
	struct dtx_table *t;
	struct dtx_column **value;
};

static enum dtx_code rank_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	struct ranking *r = arg;
	const struct top_state *s = r->ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;

	DTX_TRY(dtx_op_eval(r->ox, s->expr, r->t->batch[i], &c, err));
	DTX_TRY(dtx_column_flat(c, &r->value[i], err));
out:
	dtx_column_unref(c);
	return rc;
}

static enum dtx_code rank_keys(const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_rowkeys *k, struct dtx_err *err)
{
	const struct top_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	struct ranking r = { ox, t, dtx_mem_zalloc(t->nbatches + 1, sizeof(struct dtx_column *)) };
	int64_t at = 0;

	if (!r.value)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_rowkeys_open(k, t->nrows, err));
	DTX_TRY(dtx_parallel_for(dtx_op_workers(ox), t->nbatches, rank_batch, &r, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_rowkeys_add(k, at, r.value[i], a->desc, err));
		at += t->batch[i]->nrows;
	}
out:
	for (size_t i = 0; r.value && i < t->nbatches; i++)
		dtx_column_unref(r.value[i]);
	dtx_mem_free(r.value);
	return rc;
}

#define FEW 32 /* up to this many rows are kept by insertion */

/* Moves the first `most` of n rows, in order, to the front: each row is inserted among the best so
 * far. */
static int64_t few_best(const struct dtx_rowkeys *k, int64_t *row, int64_t n, int64_t most)
{
	int64_t best[FEW], have = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t at = have;

		if (have == most && dtx_rowkeys_cmp(k, row[i], best[have - 1]) >= 0)
			continue;
		for (; at > 0 && dtx_rowkeys_cmp(k, row[i], best[at - 1]) < 0; at--)
			if (at < most)
				best[at] = best[at - 1];
		best[at] = row[i];
		have += have < most;
	}
	memcpy(row, best, (size_t)have * sizeof(*row));
	return have;
}

/* The same where keys are 64-bit words and no row is null. */
static int64_t few_words(const struct dtx_rowkeys *k, int64_t *row, int64_t n, int64_t most)
{
	uint64_t key[FEW];
	int64_t best[FEW], have = 0;

	for (int64_t i = 0; i < n; i++) {
		uint64_t v = k->key[row[i]];
		int64_t at;

		if (have == most && v >= key[have - 1])
			continue;
		have += have < most;
		for (at = have - 1; at > 0 && v < key[at - 1]; at--) {
			key[at] = key[at - 1];
			best[at] = best[at - 1];
		}
		key[at] = v;
		best[at] = row[i];
	}
	memcpy(row, best, (size_t)have * sizeof(*row));
	return have;
}

/* Moves the best rows of one group to the front of row[0..n). *kept: how many there are. */
static enum dtx_code best_of(const struct top_args *a, const struct dtx_rowkeys *k, int64_t *row,
                             int64_t n, int64_t *kept, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t some = 0, end;

	for (int64_t i = 0; i < n; i++)
		if (!k->null[row[i]])
			row[some++] = row[i];
	if (a->ties == TIES_FIRST && a->n <= FEW) {
		*kept = k->words ? few_words(k, row, some, a->n) : few_best(k, row, some, a->n);
		goto out;
	}
	DTX_TRY(dtx_rowkeys_sort(k, row, some, err));
	end = DTX_MIN(a->n, some);
	while (a->ties == TIES_ALL && end && end < some &&
	       dtx_rowkeys_cmp(k, row[end - 1], row[end]) == 0)
		end++;
	*kept = end;
out:
	return rc;
}

struct best {
	const struct top_args *a;
	const struct dtx_tablekeys *keys;
	const struct dtx_rowkeys *rank;
	int64_t *start, *row, *kept; /* per group; its best rows come to the front of its range */
	uint32_t share;              /* number of groups that a worker takes at a time */
};

static enum dtx_code best_share(void *arg, uint64_t i, struct dtx_err *err)
{
	struct best *b = arg;
	uint32_t g = (uint32_t)i * b->share, end = DTX_MIN(g + b->share, b->keys->n);
	enum dtx_code rc = DTX_OK;

	for (; g < end; g++)
		DTX_TRY(best_of(b->a, b->rank, b->row + b->start[g], b->start[g + 1] - b->start[g],
		                &b->kept[g], err));
out:
	return rc;
}

/* Moves the best rows of all groups to the front of b->row; *n: how many there are. */
static enum dtx_code best_rows(struct best *b, const struct dtx_opctx *ox, int64_t *n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t groups = b->keys->n;
	unsigned workers = dtx_op_workers(ox);

	b->share = groups / (workers * 16) + 1;
	b->kept = dtx_mem_zalloc((size_t)groups + 1, sizeof(*b->kept));
	if (!b->kept)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(workers, groups / b->share + 1, best_share, b, err));
	*n = 0;
	for (uint32_t g = 0; g < groups; g++) {
		memmove(b->row + *n, b->row + b->start[g], (size_t)b->kept[g] * sizeof(*b->row));
		*n += b->kept[g];
	}
out:
	return rc;
}

static enum dtx_code top_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_emit *out, struct dtx_err *err)
{
	const struct top_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_tablekeys keys = DTX_TABLEKEYS_INIT;
	struct dtx_rowkeys rank = DTX_ROWKEYS_INIT;
	struct best b = { .a = ox->args, .keys = &keys, .rank = &rank };
	int64_t n = 0;

	DTX_TRY(dtx_tablekeys_open(&keys, ox, &s->by, t, err));
	DTX_TRY(rank_keys(ox, t, &rank, err));
	DTX_TRY(dtx_tablekeys_rows(&keys, ox, &b.start, &b.row, err));
	DTX_TRY(best_rows(&b, ox, &n, err));
	dtx_op_count(ox, "outside", t->nrows - n);
	DTX_TRY(dtx_table_emit(ox, t, &s->map, b.row, n, out, err));
out:
	dtx_mem_free(b.start);
	dtx_mem_free(b.row);
	dtx_mem_free(b.kept);
	dtx_rowkeys_close(&rank);
	dtx_tablekeys_close(&keys);
	return rc;
}

static void top_explain(const void *args, struct dtx_buf *out)
{
	const struct top_args *a = args;

	dtx_buf_printf(out, "keep the %lld rows with the %s ", (long long)a->n,
	               a->desc ? "largest" : "smallest");
	dtx_expr_print(a->expr, out);
	if (a->by) {
		dtx_buf_add(out, " of each ");
		dtx_cols_print(a->by, out);
	}
	if (a->ties == TIES_ALL)
		dtx_buf_add(out, ", and those equal to the last");
}

/* Groups come in order of their first row, which may not be among those that stay of a part. */
static void top_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	facts->by_parts = !json_object_get(canonical, "by");
}

static void top_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)with;
	dtx_buf_printf(out, "it is not among the %lld rows that stay",
	               (long long)dtx_json_int(canonical, "n", 0));
}

/* In the SQL, _n is a row's place in its group, and _all the first row of the group. */
static bool top_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct top_args *a = s->args;
	const struct top_state *st = s->bind->state;
	struct dtx_buf part = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		       value = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = dtx_expr_sql(a->expr, s->bind->in[0], &value);

	if (st->by.n) {
		dtx_buf_add(&part, "PARTITION BY ");
		dtx_sql_list(s->bind, 0, st->by.col, st->by.n, &part);
	}
	dtx_buf_add(out,
	            "SELECT row_number() OVER (ORDER BY \"_all\", \"_n\", \"_row\") AS \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	dtx_buf_printf(out, " FROM (SELECT *, %s OVER (%s ORDER BY %s%s NULLS LAST%s) AS \"_n\"",
	               a->ties == TIES_ALL ? "rank()" : "row_number()", dtx_buf_text(&part),
	               dtx_buf_text(&value), a->desc ? " DESC" : "",
	               a->ties == TIES_ALL ? "" : ", \"_row\"");
	dtx_buf_printf(out, ", min(\"_row\") OVER (%s) AS \"_all\" FROM %s) WHERE %s IS NOT NULL",
	               dtx_buf_text(&part), s->from[0], dtx_buf_text(&value));
	dtx_buf_printf(out, " AND \"_n\" <= %lld", (long long)a->n);
	ok = ok && dtx_buf_ok(&part) && dtx_buf_ok(&value);
	dtx_buf_clear(&part);
	dtx_buf_clear(&value);
	return ok;
}

const struct dtx_op dtx_op_top = {
	.name = "top",
	.aliases = "nlargest,slice_max,nsmallest,slice_min,top_n",
	.presets = "nsmallest:desc=false,slice_min:desc=false",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep the rows with the largest or smallest values",
	.notes = "Nulls never qualify. Rows are sorted within their group, equal ones in table "
		 "order; groups come in order of first appearance.",
	.facts = { .rows = DTX_ROWS_CHOSEN,
	           .values = DTX_VALUES_KEPT,
	           .decides = "expr,by",
	           .groups = "by",
	           .first = true },
	.facts_of = top_facts,
	.dropped = top_dropped,
	.params = top_params,
	.nparams = DTX_COUNT(top_params),
	.examples = top_examples,
	.nexamples = DTX_COUNT(top_examples),
	.args_size = sizeof(struct top_args),
	.bind = top_bind,
	.whole = top_whole,
	.explain = top_explain,
	.sql = top_sql,
};
