/* Rows of the current table that another table has, or does not have.  The other table is built
 * first; the current one streams past it in order. */
#include "ops/join/setop.h"

#include <stdio.h>

struct setop_state {
	struct dtx_key_sides key;
	bool keep_met, all;
};
struct setop_local {
	struct dtx_join_probe probe;
	uint32_t *met;           /* per key of the other table: number of rows that matched it so
	                          * far */
	struct dtx_groups *seen; /* keys of the current table, of which the first row stays */
	uint32_t *id;
};

#define AT(member) .offset = offsetof(struct dtx_setop_args, member)
const struct dtx_param dtx_setop_params[3] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  AT(with),
	  .aliases = "right,table,other",
	  .help = "the other table" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "columns",
	  .def = "[\"*\"]",
	  .help = "columns that are compared; both tables have them" },
	{ .name = "all",
	  .kind = DTX_P_BOOL,
	  AT(all),
	  .def = "false",
	  .help = "repeats count: each row of the other table matches one row" },
};

size_t dtx_setop_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct dtx_setop_args *)args)->with;
	return 1;
}

void dtx_setop_explain(const struct dtx_setop_args *a, const char *what, struct dtx_buf *out)
{
	dtx_buf_printf(out, "keep %srows whose ", a->all ? "" : "distinct ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " %s %s", what, a->with);
}

/* _n numbers the rows of each key: the first stays, or as many as the other table has. */
bool dtx_setop_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct setop_state *st = s->bind->state;
	const struct dtx_groupkeys *l = &st->key.left, *r = &st->key.right;

	dtx_buf_add(out, "SELECT \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	dtx_buf_add(out, " FROM (SELECT *, row_number() OVER (PARTITION BY ");
	dtx_sql_list(s->bind, 0, l->col, l->n, out);
	dtx_buf_printf(out, " ORDER BY \"_row\") AS \"_n\" FROM %s) AS l WHERE ", s->from[0]);
	dtx_buf_printf(out, "%s(SELECT count(*) FROM %s AS r WHERE ",
	               st->all ? (st->keep_met ? "\"_n\" <= " : "\"_n\" > ") : "\"_n\" = 1 AND ",
	               s->from[1]);
	for (uint32_t i = 0; i < l->n; i++) {
		dtx_buf_add(out, i ? " AND l." : "l.");
		dtx_sql_name(out, s->bind->in[0]->field[l->col[i]].name);
		dtx_buf_add(out, " IS NOT DISTINCT FROM r.");
		dtx_sql_name(out, s->bind->in[1]->field[r->col[i]].name);
	}
	dtx_buf_printf(out, ")%s", st->all ? "" : st->keep_met ? " > 0" : " = 0");
	return true;
}

enum dtx_code dtx_setop_bind(struct dtx_bind *b, const struct dtx_setop_args *a, bool keep_met,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct setop_state *s = dtx_bind_state(b, sizeof(*s));
	int32_t *l, *r;
	uint32_t n;

	if (!s)
		DTX_FAIL_MEM(err);
	s->keep_met = keep_met;
	s->all = a->all;
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &l, &n, err));
	r = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*r));
	if (!r)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		r[i] = -1;
		if (l[i] >= 0)
			DTX_TRY(dtx_bind_column(b, 1, b->in[0]->field[l[i]].name, "/cols", &r[i],
			                        err));
	}
	DTX_TRY(dtx_keysides_columns(b, l, r, n, &s->key, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	b->ordered = true;
out:
	return rc;
}

/* --- the other table --- */

static void setop_shared_free(const struct dtx_opctx *ox, void *shared)
{
	(void)ox;
	dtx_join_free(shared);
}

static enum dtx_code setop_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                    void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct setop_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = NULL;

	(void)out;
	DTX_TRY(dtx_build_table(ox, locals, n, &s->key, true, &t, err));
	*shared = t;
out:
	return rc;
}

const struct dtx_sink dtx_setop_sink = {
	.init_local = dtx_build_init,
	.consume = dtx_build_consume,
	.finalize = setop_finalize,
	.free_local = dtx_build_free,
	.free_shared = setop_shared_free,
};

/* --- the current table --- */

static void setop_free(const struct dtx_opctx *ox, void *local)
{
	const struct setop_state *s = ox->bound;
	struct setop_local *l = local;

	if (!l)
		return;
	dtx_join_probe_clear(&l->probe, s->key.left.n);
	dtx_groups_free(l->seen);
	dtx_mem_free(l->met);
	dtx_mem_free(l->id);
	dtx_mem_free(l);
}

static enum dtx_code setop_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct setop_state *s = ox->bound;
	const struct dtx_join_table *t = ox->shared;
	enum dtx_code rc = DTX_OK;
	struct setop_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_join_probe_new(s->key.left.n, &l->probe, err));
	l->met = dtx_mem_zalloc((size_t)t->nkeys + 1, sizeof(*l->met));
	l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
	if (!l->met || !l->id)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_groups(&s->key.left, &l->seen, err));
	*local = l;
	l = NULL;
out:
	setop_free(ox, l);
	return rc;
}

/* Counts the row for its key.  With `all`, each row of the other table matches only one row. */
static bool meets(const struct setop_state *s, const struct dtx_join_table *t,
                  struct setop_local *l, uint32_t id)
{
	if (id == DTX_GROUP_NONE)
		return false;
	return !s->all || l->met[id]++ < dtx_join_matches(t, id);
}

static enum dtx_code setop_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct setop_state *s = ox->bound;
	struct dtx_join_table *t = ox->shared;
	struct setop_local *l = local;
	enum dtx_code rc = DTX_OK;
	uint32_t next = dtx_groups_count(l->seen), n = 0;
	int64_t repeats = 0;
	uint16_t *sel;

	DTX_TRY(dtx_join_look(t, &s->key.left, true, &l->probe, in, err));
	if (!s->all)
		DTX_TRY(dtx_groupkeys_ids(&s->key.left, l->seen, in, l->id, err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		bool first = s->all || l->id[k] == next, keep;

		next += !s->all && first;
		keep = meets(s, t, l, l->probe.id[k]) == s->keep_met;
		repeats += keep && !first;
		if (keep && first)
			sel[n++] = sel[k];
	}
	dtx_op_count(ox, "duplicate", repeats);
	dtx_op_count(ox, s->keep_met ? "unmatched" : "matched", (int64_t)in->nsel - n - repeats);
	in->nsel = n;
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

const struct dtx_map dtx_setop_map = {
	.init_local = setop_init,
	.batch = setop_batch,
	.free_local = setop_free,
};
