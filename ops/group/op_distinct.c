/* distinct: one row per key, or the rows whose key occurs once, or more than once.
 *
 * keep "first" streams: a row passes if it brings a new group id. When memory is short, keys and
 * rows go to disk (distinct_disk.h). The other ways to keep need the whole table. */
#include "core/data/builder.h"
#include "core/plan/compile/sqltext.h"
#include "ops/group/distinct_disk.h"
#include "ops/kit/opkit.h"

enum { KEEP_FIRST, KEEP_LAST, KEEP_NONE, KEEP_DUPS };
struct distinct_args {
	struct dtx_cols *cols;
	int keep;
	const char *count_as;
};
struct distinct_state {
	struct dtx_groupkeys key;
	struct dtx_colmap map;
};
struct distinct_local {
	struct dtx_groups *groups;
	uint32_t *id;
	struct dtx_distinct_disk *disk; /* NULL: memory was not short so far */
};

static const struct dtx_param distinct_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct distinct_args, cols),
	  .aliases = "columns,subset,by,keys,on",
	  .def = "[\"*\"]",
	  .help = "columns that form the key" },
	{ .name = "keep",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct distinct_args, keep),
	  .choices = "first,last,none,dups",
	  .def = "\"first\"",
	  .help = "first or last row of each key; none: keys that occur once; dups: all rows of "
	          "the "
	          "others" },
	{ .name = "count_as",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct distinct_args, count_as),
	  .help = "new last column with the number of rows of the key" },
};
static const struct dtx_example distinct_examples[] = {
	{ .step = DTX_JSON({ "op" : "distinct" }),
	  .in = "a,b\n1,x\n1,x\n1,y\n,\n,\n",
	  .out = "a,b\n1,x\n1,y\n,\n" },
	{ .step = DTX_JSON({ "op" : "drop_duplicates", "subset" : ["a"], "keep" : "last" }),
	  .in = "a,b\n1,x\n2,y\n1,z\n",
	  .out = "a,b\n2,y\n1,z\n" },
	{ .step = DTX_JSON({ "op" : "distinct", "cols" : ["a"], "count_as" : "n" }),
	  .in = "a,b\n1.50,x\n2,y\n1.5,z\n",
	  .out = "a,b,n\n1.50,x,2\n2,y,1\n" },
	{ .step = DTX_JSON({ "op" : "distinct", "cols" : ["a"], "keep" : "none" }),
	  .in = "a\n1\n2\n1\n",
	  .out = "a\n2\n" },
	{ .step = DTX_JSON({ "op" : "distinct", "cols" : ["a"], "keep" : "dups" }),
	  .in = "a,b\n1,x\n2,y\n1,z\n",
	  .out = "a,b\n1,x\n1,z\n" },
};

static enum dtx_code distinct_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct distinct_args *a = args;
	const struct dtx_typeref count = { .type = DTX_T_INT64 };
	enum dtx_code rc = DTX_OK;
	struct distinct_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->cols, "/cols", &s->key, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	if (a->count_as)
		DTX_TRY(dtx_bind_make(b, a->count_as, count, NULL, "rows of", err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, a->keep == KEEP_FIRST && !a->count_as ? DTX_KIND_MAP : DTX_KIND_WHOLE);
	b->ordered = true;
out:
	return rc;
}

static void distinct_free(const struct dtx_opctx *ox, void *local)
{
	struct distinct_local *l = local;

	(void)ox;
	if (!l)
		return;
	dtx_groups_free(l->groups);
	dtx_distinct_disk_free(l->disk);
	dtx_mem_free(l->id);
	dtx_mem_free(l);
}

static enum dtx_code distinct_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct distinct_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct distinct_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
	if (!l->id)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_groups(&s->key, &l->groups, err));
	*local = l;
	l = NULL;
out:
	distinct_free(ox, l);
	return rc;
}

/* Selects the rows that bring a new key. Ids are given in order of appearance, so a row is the
 * first of its key if it has the next id. */
static enum dtx_code narrow_to_first(const struct dtx_opctx *ox, struct dtx_groups *g, uint32_t *id,
                                     struct dtx_batch *in, struct dtx_err *err)
{
	const struct distinct_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	uint32_t next = dtx_groups_count(g), n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_groupkeys_ids(&s->key, g, in, id, err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		if (id[k] != next)
			continue;
		sel[n++] = sel[k];
		next++;
	}
	dtx_op_count(ox, "duplicate", (int64_t)in->nsel - n);
	in->nsel = n;
out:
	return rc;
}

/* While the batch waits for its turn: makes the values of the keys. A cell that fails is reported
 * when the turn comes. */
static void distinct_ahead(const struct dtx_opctx *ox, void *local, struct dtx_batch *in)
{
	const struct distinct_local *l = local;
	const struct distinct_state *s = ox->bound;
	struct dtx_err none = DTX_ERR_INIT;
	struct dtx_column *c;

	for (uint32_t i = 0; i < s->key.n; i++)
		if (dtx_batch_value(in, (uint32_t)s->key.col[i], &c, &none) != DTX_OK)
			break;
	dtx_groups_ahead(l->groups);
	dtx_err_clear(&none);
}

/* The map of keep "first". */
static enum dtx_code distinct_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	struct distinct_local *l = local;
	enum dtx_code rc = DTX_OK;

	if (dtx_distinct_full(ox, l->groups))
		DTX_TRY(dtx_distinct_flush(ox, l->groups, &l->disk, err));
	DTX_TRY(narrow_to_first(ox, l->groups, l->id, in, err));
	in->schema = ox->out;
	if (l->disk)
		DTX_TRY(dtx_distinct_put(ox, l->disk, in, err));
	else
		DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static enum dtx_code distinct_flush(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	const struct distinct_state *s = ox->bound;
	struct distinct_local *l = locals[0];

	(void)n;
	return l->disk ? dtx_distinct_emit(ox, l->groups, &s->key, l->disk, out, err) : DTX_OK;
}

/* --- keep last, none, dups --- */

struct tally {
	uint32_t *id;                  /* per row */
	int64_t *count, *first, *last; /* per key */
	size_t cap_count, cap_first, cap_last;
};

static void tally_clear(struct tally *t)
{
	dtx_mem_free(t->id);
	dtx_mem_free(t->count);
	dtx_mem_free(t->first);
	dtx_mem_free(t->last);
}

static enum dtx_code tally_batch(const struct distinct_state *s, struct distinct_local *l,
                                 struct dtx_batch *b, int64_t at, struct tally *t,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t had = dtx_groups_count(l->groups), n;

	DTX_TRY(dtx_groupkeys_ids(&s->key, l->groups, b, t->id + at, err));
	n = dtx_groups_count(l->groups);
	if (!dtx_mem_reserve(&t->count, &t->cap_count, n + 1, sizeof(*t->count)) ||
	    !dtx_mem_reserve(&t->first, &t->cap_first, n + 1, sizeof(*t->first)) ||
	    !dtx_mem_reserve(&t->last, &t->cap_last, n + 1, sizeof(*t->last)))
		DTX_FAIL_MEM(err);
	memset(t->count + had, 0, (n - had) * sizeof(*t->count));
	for (uint32_t k = 0; k < b->nrows; k++) {
		uint32_t id = t->id[at + k];

		if (t->count[id]++ == 0)
			t->first[id] = at + k;
		t->last[id] = at + k;
	}
out:
	return rc;
}

static bool tally_keeps(const struct tally *t, int keep, int64_t row)
{
	uint32_t id = t->id[row];

	switch (keep) {
	case KEEP_FIRST: return t->first[id] == row;
	case KEEP_LAST: return t->last[id] == row;
	case KEEP_NONE: return t->count[id] == 1;
	default: return t->count[id] > 1;
	}
}

static enum dtx_code count_column(const struct tally *t, const int64_t *rows, uint32_t n,
                                  struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder b;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_i64(&b, t->count[t->id[rows[i]]]);
	return dtx_builder_finish(&b, NULL, out, err);
}

static enum dtx_code distinct_emit(const struct dtx_opctx *ox, struct dtx_table *table,
                                   const struct tally *t, const int64_t *rows, int64_t n,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	const struct distinct_args *a = ox->args;
	const struct distinct_state *s = ox->bound;
	struct dtx_rowcursor cur = DTX_ROWCURSOR_INIT;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_rowcursor_open(&cur, ox, table, &s->map, rows, n, err));
	for (;;) {
		int64_t at = cur.at;

		DTX_TRY(dtx_rowcursor_next(&cur, &b, err));
		if (!b || dtx_emit_full(out))
			break;
		if (a->count_as && dtx_op_wants(ox, b->ncols - 1))
			DTX_TRY(count_column(t, rows + at, b->nrows, &b->col[b->ncols - 1], err));
		DTX_TRY(dtx_emit_batch(out, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_rowcursor_close(&cur);
	return rc;
}

static enum dtx_code distinct_whole(const struct dtx_opctx *ox, struct dtx_table *table,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	const struct distinct_args *a = ox->args;
	const struct distinct_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct tally t = { 0 };
	void *local = NULL;
	int64_t *rows = NULL, n = 0, at = 0;

	DTX_TRY(dtx_table_dense(table, err));
	DTX_TRY(distinct_init(ox, &local, err));
	t.id = dtx_mem_alloc((size_t)table->nrows + 1, sizeof(*t.id));
	rows = dtx_mem_alloc((size_t)table->nrows + 1, sizeof(*rows));
	if (!t.id || !rows)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < table->nbatches; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(tally_batch(s, local, table->batch[i], at, &t, err));
		at += table->batch[i]->nrows;
	}
	for (int64_t row = 0; row < at; row++)
		if (tally_keeps(&t, a->keep, row))
			rows[n++] = row;
	dtx_op_count(ox, a->keep == KEEP_DUPS ? "unique" : "duplicate", at - n);
	DTX_TRY(distinct_emit(ox, table, &t, rows, n, out, err));
out:
	tally_clear(&t);
	dtx_mem_free(rows);
	distinct_free(ox, local);
	return rc;
}

static void distinct_explain(const void *args, struct dtx_buf *out)
{
	static const char *const what[] = { "keep the first row of each ",
		                            "keep the last row of each ",
		                            "keep rows that occur once in ",
		                            "keep rows that occur again in " };
	const struct distinct_args *a = args;

	dtx_buf_add(out, what[a->keep]);
	dtx_cols_print(a->cols, out);
}

static bool distinct_pandas(const void *args, struct dtx_buf *out)
{
	const struct distinct_args *a = args;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool all = !dtx_cols_pandas(a->cols, &names), ok;

	ok = !a->count_as && (!all || (a->cols->n == 1 && a->cols->item[0].kind == DTX_COL_ALL));
	if (a->keep == KEEP_DUPS)
		dtx_buf_add(out, "df0[df0.duplicated(");
	else
		dtx_buf_add(out, "df0.drop_duplicates(");
	if (!all)
		dtx_buf_printf(out, "subset=%s, ", dtx_buf_text(&names));
	if (a->keep == KEEP_FIRST || a->keep == KEEP_LAST)
		dtx_buf_printf(out, "keep=\"%s\")", a->keep == KEEP_FIRST ? "first" : "last");
	else
		dtx_buf_printf(out, "keep=False)%s", a->keep == KEEP_DUPS ? "]" : "");
	dtx_buf_clear(&names);
	return ok;
}

static const struct dtx_map distinct_map = {
	.init_local = distinct_init,
	.ahead = distinct_ahead,
	.batch = distinct_batch,
	.flush = distinct_flush,
	.free_local = distinct_free,
};

/* In the SQL, _n numbers the rows of a key and _all counts them. */
static bool distinct_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	static const char *const keeps[] = { "\"_n\" = 1", "\"_n\" = \"_all\"", "\"_all\" = 1",
		                             "\"_all\" > 1" };
	const struct distinct_args *a = s->args;
	const struct distinct_state *st = s->bind->state;

	dtx_buf_add(out, "SELECT \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	if (a->count_as) {
		dtx_buf_add(out, ", \"_all\" AS ");
		dtx_sql_name(out, a->count_as);
	}
	dtx_buf_add(out, " FROM (SELECT *, row_number() OVER (PARTITION BY ");
	dtx_sql_list(s->bind, 0, st->key.col, st->key.n, out);
	dtx_buf_add(out, " ORDER BY \"_row\") AS \"_n\", count(*) OVER (PARTITION BY ");
	dtx_sql_list(s->bind, 0, st->key.col, st->key.n, out);
	dtx_buf_printf(out, ") AS \"_all\" FROM %s) WHERE %s", s->from[0], keeps[a->keep]);
	return true;
}

static void distinct_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	const char *keep = dtx_json_text(canonical, "keep", "first");

	facts->by_parts = (!strcmp(keep, "first") || !strcmp(keep, "last")) &&
	                  !json_object_get(canonical, "count_as");
}

static void distinct_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)with;
	dtx_buf_printf(out, "another row with the same values stays (keep %s)",
	               dtx_json_text(canonical, "keep", "first"));
}

const struct dtx_op dtx_op_distinct = {
	.name = "distinct",
	.aliases = "unique,drop_duplicates,dedupe",
	.ninputs = 1,
	.flags = DTX_OP_ORDERED | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep one row per key",
	.notes = "null equals null. Whole rows are kept, in table order.",
	.facts = { .rows = DTX_ROWS_CHOSEN,
	           .values = DTX_VALUES_KEPT,
	           .decides = "cols",
	           .groups = "cols",
	           .all_cols = "",
	           .indirect = "GROUP_BY" },
	.facts_of = distinct_facts,
	.dropped = distinct_dropped,
	.params = distinct_params,
	.nparams = DTX_COUNT(distinct_params),
	.examples = distinct_examples,
	.nexamples = DTX_COUNT(distinct_examples),
	.args_size = sizeof(struct distinct_args),
	.bind = distinct_bind,
	.map = &distinct_map,
	.whole = distinct_whole,
	.explain = distinct_explain,
	.sql = distinct_sql,
	.pandas = distinct_pandas,
};
