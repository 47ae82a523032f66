/* limit: the first or last rows of the table, or of each group.
 *
 * From the start it is an ordered map that stops its source when it is full. From the end it needs
 * the whole table. */
#include "ops/group/table/groupkeys.h"
#include "ops/kit/opkit.h"
#include "core/plan/compile/sqltext.h"

enum { FROM_START, FROM_END };
struct limit_args {
	int64_t n, offset;
	int from;
	struct dtx_cols *by;
};
struct limit_state {
	struct dtx_groupkeys by;
	struct dtx_colmap map;
};
struct limit_local {
	struct dtx_groups *groups; /* NULL: limit counts over the whole table */
	int64_t *seen;             /* rows so far, per group; only [0] without groups */
	size_t cap;
	uint32_t *id;
};

static const struct dtx_param limit_params[] = {
	{ .name = "n",
	  .kind = DTX_P_INT,
	  .required = true,
	  .offset = offsetof(struct limit_args, n),
	  .min = 0,
	  .max = INT64_MAX,
	  .aliases = "count,limit,rows",
	  .help = "rows to keep" },
	{ .name = "offset",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct limit_args, offset),
	  .min = 0,
	  .max = INT64_MAX,
	  .def = "0",
	  .help = "rows to skip before them" },
	{ .name = "from",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct limit_args, from),
	  .choices = "start,end",
	  .def = "\"start\"",
	  .help = "which end to count from" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct limit_args, by),
	  .aliases = "group_by,groupby,keys",
	  .help = "count within groups of these columns" },
};
static const struct dtx_example limit_examples[] = {
	{ .step = DTX_JSON({ "op" : "limit", "n" : 2 }), .in = "a\n1\n2\n3\n", .out = "a\n1\n2\n" },
	{ .step = DTX_JSON({ "op" : "head", "n" : 2, "offset" : 1 }),
	  .in = "a\n1\n2.50\n3\n4\n",
	  .out = "a\n2.50\n3\n" },
	{ .step = DTX_JSON({ "op" : "tail", "n" : 2 }), .in = "a\n1\n2\n3\n", .out = "a\n2\n3\n" },
	{ .step = DTX_JSON({ "op" : "limit", "n" : 1, "by" : ["k"] }),
	  .in = "k,a\nx,1\ny,2\nx,3\n,4\n,5\n",
	  .out = "k,a\nx,1\ny,2\n,4\n" },
	{ .step = DTX_JSON({ "op" : "limit", "n" : 1, "offset" : 1, "from" : "end", "by" : ["k"] }),
	  .in = "k,a\nx,1\ny,2\nx,3\ny,4\ny,5\n",
	  .out = "k,a\nx,1\ny,4\n" },
	{ .step = DTX_JSON({ "op" : "limit", "n" : 0 }), .in = "a\n1\n", .out = "a\n" },
};

static enum dtx_code limit_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct limit_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct limit_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, a->from == FROM_END ? DTX_KIND_WHOLE : DTX_KIND_MAP);
	b->ordered = true;
out:
	return rc;
}

static void limit_free_local(const struct dtx_opctx *ox, void *local)
{
	struct limit_local *l = local;

	(void)ox;
	if (!l)
		return;
	dtx_groups_free(l->groups);
	dtx_mem_free(l->seen);
	dtx_mem_free(l->id);
	dtx_mem_free(l);
}

static enum dtx_code limit_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct limit_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct limit_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	if (s->by.n) {
		DTX_TRY(dtx_groupkeys_groups(&s->by, &l->groups, err));
		l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
		if (!l->id)
			DTX_FAIL_MEM(err);
	} else if (!dtx_mem_reserve(&l->seen, &l->cap, 1, sizeof(*l->seen))) {
		DTX_FAIL_MEM(err);
	} else {
		l->seen[0] = 0;
	}
	*local = l;
	l = NULL;
out:
	limit_free_local(ox, l);
	return rc;
}

/* Sets the group ids of the batch; counters of new groups start at 0. */
static enum dtx_code limit_groups(const struct limit_state *s, struct limit_local *l,
                                  struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t had = dtx_groups_count(l->groups), n;

	DTX_TRY(dtx_groupkeys_ids(&s->by, l->groups, in, l->id, err));
	n = dtx_groups_count(l->groups);
	if (!dtx_mem_reserve(&l->seen, &l->cap, (size_t)n + 1, sizeof(*l->seen)))
		DTX_FAIL_MEM(err);
	memset(l->seen + had, 0, (n - had) * sizeof(*l->seen));
out:
	return rc;
}

static bool in_window(const struct limit_args *a, int64_t index)
{
	return index >= a->offset && index - a->offset < a->n;
}

static enum dtx_code limit_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct limit_args *a = ox->args;
	const struct limit_state *s = ox->bound;
	struct limit_local *l = local;
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	if (l->groups)
		DTX_TRY(limit_groups(s, l, in, err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++)
		if (in_window(a, l->seen[l->groups ? l->id[k] : 0]++))
			sel[n++] = sel[k];
	dtx_op_count(ox, "outside", (int64_t)in->nsel - n);
	in->nsel = n;
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
	if (!l->groups && l->seen[0] >= a->offset && l->seen[0] - a->offset >= a->n)
		dtx_emit_stop(out);
out:
	return rc;
}

/* Lists the rows to keep, counted from the end of the table or of each group. */
static enum dtx_code tail_rows(const struct limit_args *a, const struct limit_state *s,
                               struct limit_local *l, struct dtx_table *t, int64_t *row, int64_t *n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0, *left = NULL;

	for (size_t i = 0; i < t->nbatches; i++) {
		if (l->groups)
			DTX_TRY(limit_groups(s, l, t->batch[i], err));
		for (uint32_t k = 0; k < t->batch[i]->nrows; k++)
			l->seen[l->groups ? l->id[k] : 0]++;
	}
	/* second pass: `seen` counts down, so it is the number of rows that follow */
	left = l->seen;
	*n = 0;
	for (size_t i = 0; i < t->nbatches; i++) {
		if (l->groups)
			DTX_TRY(dtx_groupkeys_ids(&s->by, l->groups, t->batch[i], l->id, err));
		for (uint32_t k = 0; k < t->batch[i]->nrows; k++, at++)
			if (in_window(a, --left[l->groups ? l->id[k] : 0]))
				row[(*n)++] = at;
	}
out:
	return rc;
}

static enum dtx_code limit_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct limit_args *a = ox->args;
	const struct limit_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	void *local = NULL;
	int64_t *row = NULL, n;

	DTX_TRY(dtx_table_dense(t, err));
	DTX_TRY(limit_init(ox, &local, err));
	row = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*row));
	if (!row)
		DTX_FAIL_MEM(err);
	DTX_TRY(tail_rows(a, s, local, t, row, &n, err));
	dtx_op_count(ox, "outside", t->nrows - n);
	DTX_TRY(dtx_table_emit(ox, t, &s->map, row, n, out, err));
out:
	limit_free_local(ox, local);
	dtx_mem_free(row);
	return rc;
}

static void limit_explain(const void *args, struct dtx_buf *out)
{
	const struct limit_args *a = args;

	dtx_buf_printf(out, "keep the %s %lld rows", a->from == FROM_END ? "last" : "first",
	               (long long)a->n);
	if (a->offset)
		dtx_buf_printf(out, " but for %lld", (long long)a->offset);
	if (a->by) {
		dtx_buf_add(out, " of each ");
		dtx_cols_print(a->by, out);
	}
}

static bool limit_pandas(const void *args, struct dtx_buf *out)
{
	const struct limit_args *a = args;
	long long from = a->offset,
		  to = a->n > INT64_MAX - a->offset ? INT64_MAX : a->offset + a->n;
	bool ok = true;

	if (!a->by && a->from == FROM_START) {
		dtx_buf_printf(out, "df0.iloc[%lld:%lld]", from, to);
	} else if (!a->by) {
		dtx_buf_printf(out, "df0.iloc[max(len(df0) - %lld, 0):max(len(df0) - %lld, 0)]", to,
		               from);
	} else {
		dtx_buf_add(out, "df0[df0.groupby(");
		ok = dtx_cols_pandas(a->by, out);
		dtx_buf_printf(out,
		               ", dropna=False, sort=False).cumcount(ascending=%s)"
		               ".between(%lld, %lld)]",
		               a->from == FROM_START ? "True" : "False", from, to - 1);
	}
	return ok;
}

static int64_t limit_wants(const void *args)
{
	const struct limit_args *a = args;

	if (a->by || a->from == FROM_END || a->n > INT64_MAX - a->offset)
		return -1;
	return a->offset + a->n;
}

static const struct dtx_map limit_map = {
	.init_local = limit_init,
	.batch = limit_batch,
	.free_local = limit_free_local,
};

static bool limit_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct limit_args *a = s->args;
	const struct limit_state *st = s->bind->state;
	const char *desc = a->from == FROM_START ? "" : " DESC";

	dtx_buf_add(out, "SELECT \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	dtx_buf_add(out, " FROM (SELECT *, row_number() OVER (");
	if (a->by) {
		dtx_buf_add(out, "PARTITION BY ");
		dtx_sql_list(s->bind, 0, st->by.col, st->by.n, out);
	}
	dtx_buf_printf(out, " ORDER BY \"_row\"%s) AS \"_n\" FROM %s) WHERE \"_n\" > %lld", desc,
	               s->from[0], (long long)a->offset);
	dtx_buf_printf(out, " AND \"_n\" - %lld <= %lld", (long long)a->offset, (long long)a->n);
	return true;
}

static void limit_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	facts->by_parts = !dtx_json_int(canonical, "offset", 0);
	facts->first =
		facts->by_parts && !strcmp(dtx_json_text(canonical, "from", "start"), "start");
}

static void limit_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)with;
	dtx_buf_printf(out, "only %lld rows stay, from the %s",
	               (long long)dtx_json_int(canonical, "n", 0),
	               dtx_json_text(canonical, "from", "start"));
}

const struct dtx_op dtx_op_limit = {
	.name = "limit",
	.aliases = "head,slice,take,tail",
	.presets = "tail:from=end",
	.ninputs = 1,
	.flags = DTX_OP_ORDERED | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep the first or last rows, of the table or of each group",
	.notes = "Rows keep table order, from the end too.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_KEPT, .groups = "by" },
	.facts_of = limit_facts,
	.dropped = limit_dropped,
	.params = limit_params,
	.nparams = DTX_COUNT(limit_params),
	.examples = limit_examples,
	.nexamples = DTX_COUNT(limit_examples),
	.args_size = sizeof(struct limit_args),
	.bind = limit_bind,
	.map = &limit_map,
	.whole = limit_whole,
	.wants = limit_wants,
	.explain = limit_explain,
	.sql = limit_sql,
	.pandas = limit_pandas,
};
