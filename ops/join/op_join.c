/* join: columns of another table, by key.
 *
 * The right side is a sink that builds a hash table; then the left side streams past it as a map.
 * ops/join has both. */
#include "ops/join/join.h"
#include "core/plan/compile/sqltext.h"
#include "core/data/cells.h"

static const struct dtx_param join_pair_rows[] = {
	{ .name = "left",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct dtx_key_pair, left),
	  .help = "key column of the current table" },
	{ .name = "right",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct dtx_key_pair, right),
	  .help = "key column of the other table" },
	{ .name = "left_expr",
	  .kind = DTX_P_EXPR,
	  .offset = offsetof(struct dtx_key_pair, left_expr),
	  .help = "instead of left: formula over the current table" },
	{ .name = "right_expr",
	  .kind = DTX_P_EXPR,
	  .offset = offsetof(struct dtx_key_pair, right_expr),
	  .help = "instead of right: formula over the other table" },
};
static const struct dtx_param join_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  .offset = offsetof(struct dtx_join_args, with),
	  .aliases = "right,table,other",
	  .help = "the right table" },
	{ .name = "on",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct dtx_join_args, on),
	  .rows = join_pair_rows,
	  .nrows = DTX_COUNT(join_pair_rows),
	  .item_size = sizeof(struct dtx_key_pair),
	  .sugar = DTX_SUGAR_BOTH,
	  .help = "pairs of keys: columns or formulas" },
	{ .name = "using",
	  .kind = DTX_P_TEXTS,
	  .offset = offsetof(struct dtx_join_args, using),
	  .help = "key columns with one name in both tables" },
	{ .name = "how",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_join_args, how),
	  .aliases = "type",
	  .choices = "inner,left,right,full,semi,anti,cross",
	  .synonyms = "outer=full",
	  .def = "\"inner\"",
	  .help = "which rows without a match stay; semi and anti only filter" },
	{ .name = "cardinality",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_join_args, cardinality),
	  .aliases = "validate,relationship",
	  .choices = "m:m,m:1,1:m,1:1",
	  .synonyms = "many_to_many=m:m,many_to_one=m:1,one_to_many=1:m,one_to_one=1:1,"
	              "many-to-many=m:m,many-to-one=m:1,one-to-many=1:m,one-to-one=1:1",
	  .def = "\"m:m\"",
	  .help = "on which side keys are unique" },
	{ .name = "match",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_join_args, match),
	  .choices = "any,all_left,all_right,all",
	  .def = "\"any\"",
	  .help = "which rows must have a match" },
	{ .name = "suffix",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct dtx_join_args, suffix),
	  .def = "\"_right\"",
	  .help = "added to a right column whose name is taken" },
	{ .name = "nulls_equal",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct dtx_join_args, nulls_equal),
	  .def = "false",
	  .help = "null matches null" },
	{ .name = "coalesce_keys",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct dtx_join_args, coalesce_keys),
	  .def = "true",
	  .help = "a right-only row shows its key in the left key column" },
	{ .name = "indicator_as",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct dtx_join_args, indicator_as),
	  .help = "new last column: both, left_only or right_only" },
};
#define LEFT  "k,v\na,1\nb,2\n,3\na,4\n"
#define RIGHT "k,w\na,1.50\nc,2\n,9\na,7\n"
static const struct dtx_example join_examples[] = {
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,w\na,1,1.50\na,1,7\na,4,1.50\na,4,7\n" },
	{ .step = DTX_JSON({ "op" : "left_join", "with" : "other", "using" : ["k"] }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,w\na,1,1.50\na,1,7\nb,2,\n,3,\na,4,1.50\na,4,7\n" },
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k", "how" : "right" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,w\na,1,1.50\na,1,7\na,4,1.50\na,4,7\nc,,2\n,,9\n" },
	{ .step = DTX_JSON({
		  "op" : "join",
		  "with" : "other",
		  "on" : "k",
		  "how" : "outer",
		  "indicator_as" : "side"
	  }),
	  .in = "k,v\na,1\nb,2\n",
	  .with = "k,w\na,5\nc,6\n",
	  .out = "k,v,w,side\na,1,5,both\nb,2,,left_only\nc,,6,right_only\n" },
	{ .step = DTX_JSON({
		  "op" : "join",
		  "with" : "other",
		  "on" : "k",
		  "how" : "full",
		  "coalesce_keys" : false
	  }),
	  .in = "k,v\na,1\nb,2\n",
	  .with = "k,v\na,5\nc,6\n",
	  .out = "k,v,k_right,v_right\na,1,a,5\nb,2,,\n,,c,6\n" },
	{ .step = DTX_JSON({ "op" : "semi_join", "with" : "other", "on" : "k" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v\na,1\na,4\n" },
	{ .step = DTX_JSON({ "op" : "anti_join", "with" : "other", "on" : "k" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v\nb,2\n,3\n" },
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k", "nulls_equal" : true }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,w\na,1,1.50\na,1,7\n,3,9\na,4,1.50\na,4,7\n" },
	{ .step = DTX_JSON(
		  { "op" : "join", "with" : "other", "on" : [ { "left" : "n", "right" : "m" } ] }),
	  .in = "n\n1\n2\n",
	  .with = "m,w\n2.0,x\n3.5,y\n",
	  .out = "n,w\n2,x\n" },
	{ .step = DTX_JSON({
		  "op" : "full_join",
		  "with" : "other",
		  "on" : [ { "left_expr" : "upper(k)", "right" : "code" } ]
	  }),
	  .in = "k,v\na,1\nb,2\n",
	  .with = "code,w\nA,5\nC,6\n",
	  .out = "k,v,code,w\na,1,A,5\nb,2,,\n,,C,6\n" },
	{ .step = DTX_JSON({
		  "op" : "join",
		  "with" : "other",
		  "on" : [
			  { "left" : "k", "right" : "k" },
			  { "left_expr" : "year(d)", "right_expr" : "y + 2000" }
		  ],
		  "cardinality" : "m:1"
	  }),
	  .in = "k,d\na,2024-05-01\na,2023-05-01\nb,2024-01-01\n",
	  .with = "k,y,w\na,24,5\na,25,6\nb,24,7\n",
	  .out = "k,d,y,w\na,2024-05-01,24,5\nb,2024-01-01,24,7\n" },
	{ .step = DTX_JSON({
		  "op" : "join",
		  "with" : "other",
		  "on" : [ { "left_expr" : "upper(k)", "left" : "k", "right" : "k" } ]
	  }),
	  .in = "k\na\n",
	  .with = "k\nb\n",
	  .error = "param_conflict",
	  .message = "a pair of keys needs either left or left_expr" },
	{ .step = DTX_JSON({ "op" : "cross_join", "with" : "other" }),
	  .in = "a\n1\n2\n",
	  .with = "b\nx\ny\n",
	  .out = "a,b\n1,x\n1,y\n2,x\n2,y\n" },
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k", "cardinality" : "m:1" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .error = "join_cardinality",
	  .message = "join: 1 key of the right table occurs more than once: k = 'a' at L5 (2)" },
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k", "cardinality" : "1:m" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .error = "join_cardinality",
	  .message = "join: 1 left row repeats an earlier key: k = 'a' at L5 (2)" },
	{ .step = DTX_JSON({
		  "op" : "join",
		  "with" : "other",
		  "on" : "k",
		  "match" : "all_left",
		  "how" : "left"
	  }),
	  .in = LEFT,
	  .with = RIGHT,
	  .error = "join_unmatched",
	  .message = "join: 2 left rows match no row of the right table: k = 'b' at L3; k = null "
	             "at L4" },
	{ .step = DTX_JSON({ "op" : "join", "with" : "other", "on" : "k", "match" : "all_right" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .error = "join_unmatched",
	  .message = "join: 2 rows of the right table match no left row: k = 'c' at L3; k = null "
	             "at L4" },
	{ .step = DTX_JSON(
		  { "op" : "join", "with" : "other", "on" : [ { "left" : "k", "right" : "w" } ] }),
	  .in = LEFT,
	  .with = RIGHT,
	  .error = "type_mismatch",
	  .message = "keys 'k' (text) and 'w' (float) cannot be compared" },
};

static size_t join_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct dtx_join_args *)args)->with;
	return 1;
}

static enum dtx_code join_check(const void *args, struct dtx_err *err)
{
	const struct dtx_join_args *a = args;
	enum dtx_code rc = DTX_OK;
	bool keys = a->on.n || a->using.n;

	if (a->on.n && a->using.n)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/using",
		               "join takes either on or using, not both");
	if (a->how == DTX_JOIN_CROSS && keys)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, a->on.n ? "/on" : "/using",
		               "a cross join pairs all rows, so it takes no %s",
		               a->on.n ? "on" : "using");
	if (a->how != DTX_JOIN_CROSS && !keys)
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "join needs on or using");
out:
	return rc;
}

/* Checks of keys and matches speak of all rows, and formulas count what they could not compute. A
 * row of the right side alone has no place among those of the left side. */
static enum dtx_code join_keys(const struct dtx_opctx *ox, unsigned input, struct dtx_batch *b,
                               struct dtx_column ***col, uint32_t *n, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	const struct dtx_groupkeys *k = input ? &s->key.right : &s->key.left;
	bool whole = s->how == DTX_JOIN_CROSS || s->how == DTX_JOIN_RIGHT ||
	             s->how == DTX_JOIN_FULL || s->left_unique || s->right_unique || s->all_left ||
	             s->all_right || s->key.made[0].n || s->key.made[1].n;

	*n = whole ? 0 : k->n;
	return b ? dtx_groupkeys_flat(k, b, col, err) : DTX_OK;
}

/* --- building the right side --- */

static void shared_free(const struct dtx_opctx *ox, void *shared)
{
	struct dtx_join_shared *sh = shared;

	(void)ox;
	if (!sh)
		return;
	dtx_owner_unref(sh->held);
	dtx_join_free(sh->table);
	dtx_mem_free(sh);
}

/* Whether right rows are emitted only together with a left row and no message shows their keys, so
 * that the keys themselves need not be kept. */
static bool rows_attach(const struct dtx_join_state *s)
{
	return (s->how == DTX_JOIN_INNER || s->how == DTX_JOIN_LEFT) && !s->right_unique &&
	       !s->all_right;
}

static enum dtx_code build_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_build_init(ox, local, err));
	if (rows_attach(s))
		DTX_TRY(dtx_build_takes(ox, &s->rmap, &s->key.right, *local, err));
out:
	return rc;
}

/* Whether key k is needed as a value only, and not as it was written. */
static bool is_value(const struct dtx_join_state *s, uint32_t k)
{
	return rows_attach(s) && !s->shown[k];
}

/* Takes a batch of the right side. Keys that are needed as values only are converted here, on all
 * workers, since they go to disk with the rows in that form. */
static enum dtx_code build_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                   struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_keys_widen(ox, &s->key.made[1], in, err));
	for (uint32_t i = 0; i < s->key.right.n; i++) {
		uint32_t col = (uint32_t)s->key.right.col[i];
		struct dtx_column *flat = NULL;

		DTX_TRY(dtx_batch_flat(in, col, &flat, err));
		if (is_value(s, i))
			dtx_batch_put(in, col, flat);
		else
			dtx_column_unref(flat);
	}
	DTX_TRY(dtx_build_consume(ox, local, in, err));
out:
	return rc;
}

/* Drops key columns that are no longer needed: the hash table has them. */
static void drop_values(const struct dtx_join_state *s, struct dtx_join_table *t)
{
	for (size_t i = 0; i < t->kept.n; i++)
		for (uint32_t k = 0; k < s->key.right.n; k++)
			if (is_value(s, k))
				dtx_batch_put(t->kept.batch[i], (uint32_t)s->key.right.col[k],
				              NULL);
}

static enum dtx_code build_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                    void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_join_shared *sh = dtx_mem_zalloc(1, sizeof(*sh));

	(void)out;
	if (!sh)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_build_table(ox, locals, n, &s->key, s->nulls_equal, &sh->table, err));
	DTX_TRY(dtx_join_check_right(s, sh->table, err));
	dtx_join_note_right(s, sh);
	drop_values(s, sh->table);
	for (size_t i = 0; i < sh->table->kept.n; i++)
		DTX_TRY(dtx_build_under(ox, &s->right_only, sh->table->kept.batch[i], err));
	DTX_TRY(dtx_cells_hold(sh->table->kept.batch, sh->table->kept.n, &sh->held, err));
	*shared = sh;
	sh = NULL;
out:
	shared_free(ox, sh);
	return rc;
}

/* --- texts for explain, SQL and pandas --- */

static void keys_explain(const struct dtx_join_args *a, struct dtx_buf *out)
{
	const char *const *using = a->using.item;

	dtx_buf_add(out, a->on.n ? " on " : "");
	dtx_keypairs_explain(&a->on, out);
	for (size_t i = 0; i < a->using.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : " on ", using[i]);
}

static const char *const how_names[] = { "inner", "left", "right", "full",
	                                 "semi",  "anti", "cross", "full" };

static void join_explain(const void *args, struct dtx_buf *out)
{
	static const char *const cardinality[] = { "", ", right keys unique", ", left keys unique",
		                                   ", keys unique" };
	const struct dtx_join_args *a = args;

	dtx_buf_printf(out, "%s join with %s", how_names[a->how], a->with);
	keys_explain(a, out);
	dtx_buf_add(out, cardinality[a->cardinality]);
}

static const struct dtx_sink join_sink = {
	.init_local = build_init,
	.consume = build_consume,
	.finalize = build_finalize,
	.free_local = dtx_build_free,
	.free_shared = shared_free,
};
static const struct dtx_map join_map = {
	.init_local = dtx_join_probe_init,
	.batch = dtx_join_batch,
	.flush = dtx_join_flush,
	.save = dtx_join_save,
	.load = dtx_join_load,
	.free_local = dtx_join_probe_free,
};

/* Writes ON l.k = r.k. */
static void on_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_join_state *st = s->bind->state;

	for (uint32_t i = 0; i < st->key.left.n; i++) {
		dtx_buf_add(out, i ? " AND l." : "l.");
		dtx_sql_name(out, s->bind->in[0]->field[st->key.left.col[i]].name);
		dtx_buf_add(out, st->nulls_equal ? " IS NOT DISTINCT FROM r." : " = r.");
		dtx_sql_name(out, s->bind->in[1]->field[st->key.right.col[i]].name);
	}
}

/* Writes a result column: of the left or the right side, or the key of both where a row of the
 * right side alone shows it. */
static void column_sql(const struct dtx_sql_step *s, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_join_state *st = s->bind->state;
	const struct dtx_bind_col *c = &s->bind->col[i];
	int32_t other = -1;

	for (uint32_t k = 0; k < st->key.left.n; k++)
		if (st->key_out[k] == (int32_t)i)
			other = st->key.right.col[k];
	dtx_buf_add(out, other >= 0 ? ", coalesce(l." : c->from_table ? ", r." : ", l.");
	dtx_sql_name(out, s->bind->in[c->from_table]->field[c->from_col].name);
	if (other >= 0) {
		dtx_buf_add(out, ", r.");
		dtx_sql_name(out, s->bind->in[1]->field[other].name);
		dtx_buf_addc(out, ')');
	}
	dtx_buf_add(out, " AS ");
	dtx_sql_name(out, c->field.name);
}

/* SQL cannot check promises about keys, so a join with such promises has no SQL form. */
static bool join_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	static const char *const joins[] = { "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN",
		                             "",     "NOT ",      "CROSS JOIN", "FULL JOIN" };
	const struct dtx_join_args *a = s->args;
	const struct dtx_join_state *st = s->bind->state;

	if (a->cardinality || a->match || a->indicator_as || st->key.made[0].n || st->key.made[1].n)
		return false;
	if (st->how == DTX_JOIN_SEMI || st->how == DTX_JOIN_ANTI) {
		dtx_buf_add(out, "SELECT \"_row\"");
		dtx_sql_columns(s->bind, 0, NULL, out);
		dtx_buf_printf(out, " FROM %s AS l WHERE %sEXISTS (SELECT 1 FROM %s AS r WHERE ",
		               s->from[0], joins[a->how], s->from[1]);
		on_sql(s, out);
		dtx_buf_addc(out, ')');
		return true;
	}
	dtx_buf_add(out, "SELECT row_number() OVER (ORDER BY l.\"_row\" NULLS LAST, r.\"_row\") "
	                 "AS \"_row\"");
	for (uint32_t i = 0; i < s->bind->ncols; i++)
		column_sql(s, i, out);
	dtx_buf_printf(out, " FROM %s AS l %s %s AS r", s->from[0], joins[a->how], s->from[1]);
	if (st->how != DTX_JOIN_CROSS) {
		dtx_buf_add(out, " ON ");
		on_sql(s, out);
	}
	return true;
}

static void join_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	const char *how = dtx_json_text(canonical, "how", "");
	const char *cardinality = dtx_json_text(canonical, "cardinality", "m:m");

	facts->each_row =
		cardinality[0] == 'm' && strcmp(how, "right") != 0 && strcmp(how, "full") != 0;

	if (!strcmp(how, "semi"))
		facts->rows = DTX_ROWS_SEMI;
	else if (!strcmp(how, "anti"))
		facts->rows = DTX_ROWS_ANTI;
}

static void join_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	const char *how = dtx_json_text(canonical, "how", "inner");

	dtx_buf_printf(out, "%s join: %s row of '%.80s' has its keys", how,
	               strcmp(how, "anti") ? "no" : "a", with);
}

const struct dtx_op dtx_op_join = {
	.name = "join",
	.aliases = "merge,inner_join,left_join,right_join,full_join,outer_join,semi_join,anti_join,"
		   "cross_join",
	.presets =
		"inner_join:how=inner,left_join:how=left,right_join:how=right,full_join:how=full,"
		"outer_join:how=full,semi_join:how=semi,anti_join:how=anti,cross_join:how=cross",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add columns of another table by key",
	.notes =
		"Rows in left order, matches in right order, unmatched right rows last. A null key "
		"matches nothing unless nulls_equal. Key types are equal or both numeric. The "
		"columns of a pair with a formula stay as they are: nothing of it is coalesced.",
	.facts = { .rows = DTX_ROWS_JOINED, .decides = "on,using", .groups = "on" },
	.facts_of = join_facts,
	.dropped = join_dropped,
	.params = join_params,
	.nparams = DTX_COUNT(join_params),
	.examples = join_examples,
	.nexamples = DTX_COUNT(join_examples),
	.args_size = sizeof(struct dtx_join_args),
	.tables = join_tables,
	.check = join_check,
	.bind = dtx_join_bind,
	.keys = join_keys,
	.map = &join_map,
	.sink = &join_sink,
	.explain = join_explain,
	.sql = join_sql,
};
