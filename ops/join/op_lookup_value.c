/* lookup_value: one value of another table, by key, as a new column. */
#include <stdio.h>

#include "ops/join/buildside.h"
#include "core/data/cells.h"
#include "ops/kit/text/jsonvalue.h"

enum { MISSING_NULL, MISSING_ERROR, MISSING_DEFAULT };
struct lookup_args {
	const char *with, *value, *as;
	struct dtx_plist key;
	int on_missing;
	const json_t *def;
};
struct lookup_state {
	struct dtx_key_sides key;
	struct dtx_colmap lmap, rmap;
	int32_t out; /* index of the new column; -1: not bound */
};

#define AT(member) .offset = offsetof(struct lookup_args, member)
static const struct dtx_param lookup_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  AT(with),
	  .aliases = "right,table,other",
	  .help = "the table to look in" },
	{ .name = "key",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  AT(key),
	  .aliases = "on",
	  .rows = dtx_key_pair_rows,
	  .nrows = DTX_COUNT(dtx_key_pair_rows),
	  .item_size = sizeof(struct dtx_key_pair),
	  .sugar = DTX_SUGAR_BOTH,
	  .help = "pairs of key columns" },
	{ .name = "value",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(value),
	  .help = "column of the other table" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "new_name,name",
	  .help = "name of the new column" },
	{ .name = "on_missing",
	  .kind = DTX_P_CHOICE,
	  AT(on_missing),
	  .choices = "null,error,default",
	  .def = "\"null\"",
	  .help = "what to do for a key that the other table does not have" },
	{ .name = "default",
	  .kind = DTX_P_VALUE,
	  AT(def),
	  .help = "the value for such keys, with on_missing default" },
};
#define LEFT  "k,v\na,1\nc,2\n,3\n"
#define RIGHT "key,w\na,1.50\nb,2\n,9\n"
static const struct dtx_example lookup_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "lookup_value",
		  "with" : "other",
		  "key" : [ { "left" : "k", "right" : "key" } ],
		  "value" : "w",
		  "as" : "rate"
	  }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,rate\na,1,1.50\nc,2,\n,3,\n" },
	{ .step = DTX_JSON({
		  "op" : "vlookup",
		  "with" : "other",
		  "key" : { "k" : "key" },
		  "value" : "w",
		  "as" : "rate",
		  "on_missing" : "default",
		  "default" : 0
	  }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "k,v,rate\na,1,1.50\nc,2,0.0\n,3,0.0\n" },
	{ .step = DTX_JSON({
		  "op" : "lookup_value",
		  "with" : "other",
		  "key" : "k",
		  "value" : "w",
		  "as" : "rate",
		  "on_missing" : "default",
		  "default" : 0
	  }),
	  .in = LEFT,
	  .with = "k,w\na,\n",
	  .out = "k,v,rate\na,1,\nc,2,0\n,3,0\n" },
	{ .step = DTX_JSON({
		  "op" : "lookup_value",
		  "with" : "other",
		  "key" : "k",
		  "value" : "w",
		  "as" : "rate",
		  "on_missing" : "error"
	  }),
	  .in = LEFT,
	  .with = "k,w\na,1\n",
	  .error = "lookup_missing",
	  .message = "lookup_value: the other table has no row for k = 'c'" },
	{ .step = DTX_JSON({
		  "op" : "lookup_value",
		  "with" : "other",
		  "key" : "k",
		  "value" : "w",
		  "as" : "rate"
	  }),
	  .in = LEFT,
	  .with = "k,w\na,1\na,2\n",
	  .error = "join_cardinality",
	  .message = "lookup_value: 1 key of the right table occurs more than once: k = 'a' at L3 "
	             "(2)" },
	{ .step = DTX_JSON({
		  "op" : "lookup_value",
		  "with" : "other",
		  "key" : "k",
		  "value" : "w",
		  "as" : "rate",
		  "on_missing" : "default",
		  "default" : "none"
	  }),
	  .in = LEFT,
	  .with = "k,w\na,1\n",
	  .error = "type_mismatch",
	  .message = "default does not fit column 'w' of type int" },
};

static size_t lookup_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct lookup_args *)args)->with;
	return 1;
}

static enum dtx_code lookup_check(const void *args, struct dtx_err *err)
{
	const struct lookup_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->on_missing == MISSING_DEFAULT && !a->def)
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "on_missing default needs default");
	if (a->on_missing != MISSING_DEFAULT && a->def)
		DTX_FAIL(err, DTX_E_PARAM_CONFLICT, "default needs on_missing default");
out:
	return rc;
}

/* Adds the column of the other table under its new name. A default must fit its type. */
static enum dtx_code bind_value(struct dtx_bind *b, const struct lookup_args *a,
                                struct lookup_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t col;

	s->out = -1;
	DTX_TRY(dtx_bind_column(b, 1, a->value, "/value", &col, err));
	if (col < 0)
		goto out;
	if (dtx_bind_out(b, a->as) >= 0) {
		DTX_TRY(dtx_bind_taken(b, a->as, "/as", err));
		goto out;
	}
	if (a->def && !dtx_json_fits(a->def, b->in[1]->field[col].type.type)) {
		DTX_TRY(dtx_bind_misfit(b, "default", &b->in[1]->field[col], "/default", err));
		goto out;
	}
	s->out = (int32_t)b->ncols;
	DTX_TRY(dtx_bind_pass(b, 1, col, a->as, err));
	/* a column of nulls has no type yet */
	if (a->def && b->in[1]->field[col].type.type == DTX_T_NULL)
		b->col[s->out].field.type.type = dtx_json_type(a->def);
out:
	return rc;
}

static enum dtx_code lookup_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct lookup_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct lookup_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_keysides_bind(b, &a->key, "key", &s->key, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(bind_value(b, a, s, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->lmap, err));
	DTX_TRY(dtx_colmap_bind(b, 1, &s->rmap, err));
out:
	return rc;
}

/* --- the other table --- */

static void lookup_shared_free(const struct dtx_opctx *ox, void *shared)
{
	(void)ox;
	dtx_join_free(shared);
}

static enum dtx_code lookup_keep(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct lookup_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_build_init(ox, local, err));
	DTX_TRY(dtx_build_takes(ox, &s->rmap, &s->key.right, *local, err));
out:
	return rc;
}

static enum dtx_code lookup_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                     void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct lookup_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = NULL;

	(void)out;
	DTX_TRY(dtx_build_table(ox, locals, n, &s->key, false, &t, err));
	DTX_TRY(dtx_build_unique(t, &s->key.right, "lookup_value", err));
	*shared = t;
	t = NULL;
out:
	dtx_join_free(t);
	return rc;
}

/* --- the current table --- */

static void lookup_free(const struct dtx_opctx *ox, void *local)
{
	const struct lookup_state *s = ox->bound;

	dtx_build_local_free(&s->key, local);
}

static enum dtx_code lookup_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct lookup_state *s = ox->bound;
	struct dtx_build_local *l = NULL;
	enum dtx_code rc = dtx_build_local_make(&s->key, &l, err);

	*local = l;
	return rc;
}

static enum dtx_code missing(const struct lookup_state *s, struct dtx_batch *in, uint32_t row,
                             int64_t count, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1024);

	dtx_groupkeys_print(&s->key.left, in, row, &text);
	dtx_err_set(err, DTX_E_LOOKUP_MISSING, __FILE__, __LINE__,
	            "lookup_value: the other table has no row for %s", dtx_buf_text(&text));
	dtx_err_hint(err,
	             "add the key to the table, or set \"on_missing\": \"null\" or \"default\"");
	dtx_batch_set_position(in, row, s->key.left.col[0], err);
	if (err)
		err->count = count;
	dtx_buf_clear(&text);
	return DTX_E_LOOKUP_MISSING;
}

/* Sets the default for keys that the other table does not have. */
static enum dtx_code put_default(const struct dtx_opctx *ox, struct dtx_build_local *l,
                                 struct dtx_batch *in, struct dtx_err *err)
{
	const struct lookup_args *a = ox->args;
	const struct lookup_state *s = ox->bound;
	const struct dtx_field *field = &ox->out->field[s->out];
	enum dtx_code rc = DTX_OK;
	struct dtx_column *src[2] = { in->col[s->out], NULL }, *made = NULL;

	DTX_TRY(dtx_json_column(a->def, field, &src[1], err));
	for (uint32_t i = 0; i < in->nrows; i++) {
		bool absent = l->which[i] == DTX_NOWHERE;

		l->which[i] = absent;
		l->row[i] = absent ? 0 : i;
	}
	DTX_TRY(dtx_cells_gather(src, 2, l->which, l->row, in->nrows, field, &made, err));
	dtx_batch_put(in, (uint32_t)s->out, made);
out:
	dtx_column_unref(src[1]);
	return rc;
}

static enum dtx_code lookup_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct lookup_args *a = ox->args;
	const struct lookup_state *s = ox->bound;
	struct dtx_join_table *t = ox->shared;
	struct dtx_build_local *l = local;
	enum dtx_code rc = DTX_OK;
	int64_t absent = 0;
	uint32_t first = 0;

	DTX_TRY(dtx_join_look(t, &s->key.left, false, &l->probe, in, err));
	for (uint32_t i = 0; i < in->nrows; i++)
		l->which[i] = DTX_NOWHERE;
	for (uint32_t k = in->nsel; k-- > 0;) {
		uint32_t row = dtx_batch_row(in, k), id = l->probe.id[k];
		struct dtx_rowref ref;

		if (id == DTX_GROUP_NONE) {
			absent++;
			first = row;
			continue;
		}
		ref = dtx_join_ref(t, dtx_join_start(t, id));
		l->which[row] = ref.batch;
		l->row[row] = ref.row;
	}
	if (absent && a->on_missing == MISSING_ERROR) {
		rc = missing(s, in, first, absent, err);
		goto out;
	}
	dtx_op_count(ox, "lookup_missing", absent);
	DTX_TRY(dtx_build_attach(ox, t, l, &s->lmap, &s->rmap, in, err));
	if (absent && a->def && dtx_op_wants(ox, (uint32_t)s->out))
		DTX_TRY(put_default(ox, l, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void lookup_explain(const void *args, struct dtx_buf *out)
{
	const struct lookup_args *a = args;

	dtx_buf_printf(out, "%s = %s of %s by ", a->as, a->value, a->with);
	dtx_keypairs_explain(&a->key, out);
}

static const struct dtx_sink lookup_sink = {
	.init_local = lookup_keep,
	.consume = dtx_build_consume,
	.finalize = lookup_finalize,
	.free_local = dtx_build_free,
	.free_shared = lookup_shared_free,
};
static const struct dtx_map lookup_map = {
	.init_local = lookup_init,
	.batch = lookup_batch,
	.free_local = lookup_free,
};

static void lookup_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)canonical;
	dtx_buf_printf(out, "no row of '%.80s' uses it", with);
}

const struct dtx_op dtx_op_lookup_value = {
	.name = "lookup_value",
	.aliases = "vlookup,xlookup",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add one value of another table by key",
	.notes =
		"Keys of the other table are unique, else join_cardinality. A null key is missing.",
	.facts = { .rows = DTX_ROWS_LOOKUP, .decides = "key", .each_row = true },
	.dropped = lookup_dropped,
	.params = lookup_params,
	.nparams = DTX_COUNT(lookup_params),
	.examples = lookup_examples,
	.nexamples = DTX_COUNT(lookup_examples),
	.args_size = sizeof(struct lookup_args),
	.tables = lookup_tables,
	.check = lookup_check,
	.bind = lookup_bind,
	.map = &lookup_map,
	.sink = &lookup_sink,
	.explain = lookup_explain,
};
