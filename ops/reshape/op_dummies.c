/* dummies: one bool column per value.  It is not a macro: pivot_wider would need a row number, puts
 * new columns last, not where the column was, and takes 1.3 times the processor time and twice the
 * memory for 20 values. */
#include "core/base/text/str.h"
#include "core/data/builder.h"
#include "ops/kit/newnames.h"
#include "ops/group/table/tablekeys.h"

struct dummies_args {
	struct dtx_cols *cols;
	const char *prefix, *sep;
	bool drop_first;
};
struct dummies_state {
	int32_t *col;
	uint32_t n;
	struct dtx_groupkeys *key; /* per column */
};

#define AT(member) .offset = offsetof(struct dummies_args, member)
static const struct dtx_param dummies_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col",
	  .help = "columns whose values become columns" },
	{ .name = "prefix",
	  .kind = DTX_P_TEXT,
	  AT(prefix),
	  .help = "in front of the names (default: the column's name)" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator",
	  .def = "\"_\"",
	  .help = "between prefix and value" },
	{ .name = "drop_first",
	  .kind = DTX_P_BOOL,
	  AT(drop_first),
	  .def = "false",
	  .help = "no column for the first value" },
};
static const struct dtx_example dummies_examples[] = {
	{ .step = DTX_JSON({ "op" : "dummies", "cols" : ["k"] }),
	  .in = "id,k,v\n1,b,x\n2,a,y\n3,,z\n",
	  .out = "id,k_a,k_b,v\n1,false,true,x\n2,true,false,y\n3,false,false,z\n" },
	{ .step = DTX_JSON({
		  "op" : "one_hot",
		  "cols" : ["n"],
		  "prefix" : "is",
		  "sep" : "-",
		  "drop_first" : true
	  }),
	  .in = "n\n10\n9\n10.0\n",
	  .out = "is-10\ntrue\nfalse\ntrue\n" },
};

static enum dtx_code dummies_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dummies_args *a = args;
	struct dummies_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_each(b, 0, s->col, s->n, &s->key, err));
	for (int32_t i = 0; i < (int32_t)b->in[0]->nfields; i++) {
		if (place[i] < 0)
			DTX_TRY(dtx_bind_pass(b, 0, i, NULL, err));
	}
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	dtx_bind_open(b);
out:
	return rc;
}

/* --- the values of the columns --- */

struct slot {           /* a column of the result */
	int32_t col;    /* of the input: moved; -1: a value */
	uint32_t value; /* group of the value */
	uint32_t of;    /* which of the listed columns */
	const char *name;
};
struct work {
	const struct dummies_args *a;
	const struct dummies_state *s;
	struct dtx_arena arena;
	struct dtx_tablekeys *keys; /* per listed column */
	struct slot *slot;
	size_t n, cap;
};

static void work_clear(struct work *w)
{
	for (uint32_t i = 0; w->keys && i < w->s->n; i++)
		dtx_tablekeys_close(&w->keys[i]);
	dtx_mem_free(w->keys);
	dtx_mem_free(w->slot);
	dtx_arena_clear(&w->arena);
}

static enum dtx_code add_slot(struct work *w, struct slot slot, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&w->slot, &w->cap, w->n + 1, sizeof(*w->slot)))
		DTX_FAIL_MEM(err);
	w->slot[w->n++] = slot;
out:
	return rc;
}

static enum dtx_code value_name(struct work *w, const struct dtx_batch *b, uint32_t row,
                                int32_t col, const char **out, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 20), scratch = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = DTX_OK;
	bool null;

	dtx_buf_add(&text, w->a->prefix ? w->a->prefix : b->schema->field[col].name);
	dtx_buf_add(&text, w->a->sep);
	dtx_buf_adds(&text, dtx_cell_text(b->col[col], row, &scratch, &null));
	DTX_TRY(dtx_buf_check(&scratch, "a column name", err));
	DTX_TRY(dtx_buf_check(&text, "a column name", err));
	DTX_TRY(dtx_names_text(dtx_buf_str(&text), &w->arena, out, err));
out:
	dtx_buf_clear(&text);
	dtx_buf_clear(&scratch);
	return rc;
}

/* Batch and row in it of row number `row`. */
static const struct dtx_batch *find_row(const struct dtx_table *t, int64_t row, uint32_t *at)
{
	size_t i = 0;

	while (i + 1 < t->nbatches && row >= t->batch[i]->nrows)
		row -= t->batch[i++]->nrows;
	*at = (uint32_t)row;
	return t->batch[i];
}

static enum dtx_code too_wide(const struct dtx_opctx *ox, uint32_t n, const char *name,
                              struct dtx_err *err)
{
	if (!ox->run || ox->run->pivot_cols < 0 || n <= ox->run->pivot_cols)
		return DTX_OK;
	dtx_err_set(err, DTX_E_PIVOT_TOO_WIDE, __FILE__, __LINE__,
	            "dummies: column '%s' has %u values, the limit is %lld", name, n,
	            (long long)ox->run->pivot_cols);
	dtx_err_hint(err, "raise \"pivot_cols\" of the plan's limits, or filter before");
	return DTX_E_PIVOT_TOO_WIDE;
}

/* A slot for each value of listed column i, in order of the values. */
static enum dtx_code add_values(const struct dtx_opctx *ox, struct work *w, struct dtx_table *t,
                                uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_tablekeys *k = &w->keys[i];
	struct dtx_rowkeys order = DTX_ROWKEYS_INIT;
	int64_t *row = NULL;
	bool first = true;

	DTX_TRY(dtx_tablekeys_open(k, ox, &w->s->key[i], t, err));
	DTX_TRY(too_wide(ox, k->n, t->schema->field[w->s->col[i]].name, err));
	row = dtx_mem_alloc((size_t)k->n + 1, sizeof(*row));
	if (!row)
		DTX_FAIL_MEM(err);
	memcpy(row, k->first, k->n * sizeof(*row));
	DTX_TRY(dtx_rowkeys_column(&order, t, w->s->col[i], err));
	DTX_TRY(dtx_rowkeys_sort(&order, row, k->n, err));
	for (uint32_t v = 0; v < k->n; v++) {
		DTX_TRY(dtx_cancel_row(v, err));
		struct slot slot = { -1, dtx_tablekeys_id(k, row[v]), i, NULL };
		uint32_t at;
		const struct dtx_batch *b;

		if (order.null[row[v]] || (first && w->a->drop_first)) {
			first = first && order.null[row[v]];
			continue;
		}
		first = false;
		b = find_row(t, row[v], &at);
		DTX_TRY(value_name(w, b, at, w->s->col[i], &slot.name, err));
		DTX_TRY(add_slot(w, slot, err));
	}
out:
	dtx_mem_free(row);
	dtx_rowkeys_close(&order);
	return rc;
}

static enum dtx_code work_init(struct work *w, const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *place;

	*w = (struct work){ .a = ox->args, .s = ox->bound, .arena = DTX_ARENA_INIT };
	place = dtx_cols_places(&w->arena, w->s->col, w->s->n, t->schema->nfields);
	w->keys = dtx_mem_zalloc((size_t)w->s->n + 1, sizeof(*w->keys));
	if (!w->keys || !place)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_table_dense(t, err));
	for (int32_t c = 0; c < (int32_t)t->schema->nfields; c++) {
		int32_t i = place[c];

		if (i >= 0)
			DTX_TRY(add_values(ox, w, t, (uint32_t)i, err));
		else
			DTX_TRY(add_slot(w, (struct slot){ c, 0, 0, t->schema->field[c].name },
			                 err));
	}
out:
	return rc;
}

static enum dtx_code dummies_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_arena *arena, const struct dtx_schema **out,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_schema made = { .open = false };
	struct dtx_field *field = NULL;
	const char **name = NULL;
	uint32_t repeats;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	field = dtx_arena_zalloc(&w.arena, w.n + 1, sizeof(*field));
	name = dtx_arena_zalloc(&w.arena, w.n + 1, sizeof(*name));
	if (!field || !name)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < w.n; i++)
		name[i] = w.slot[i].name;
	DTX_TRY(dtx_names_fit(name, (uint32_t)w.n, &w.arena, &repeats, err));
	if (repeats)
		dtx_op_warn(ox, DTX_W_DUPLICATE_HEADER, "%u repeated names got a number", repeats);
	for (size_t i = 0; i < w.n; i++) {
		if (w.slot[i].col >= 0)
			field[i] = t->schema->field[w.slot[i].col];
		else
			field[i].type.type = DTX_T_BOOL;
		field[i].name = name[i];
	}
	made.nfields = (uint32_t)w.n;
	made.field = field;
	*out = dtx_schema_copy(arena, &made);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	work_clear(&w);
	return rc;
}

static enum dtx_code flag_column(const struct work *w, const struct slot *slot, int64_t at,
                                 uint32_t n, struct dtx_column **out, struct dtx_err *err)
{
	const struct dtx_typeref flag = { .type = DTX_T_BOOL };
	struct dtx_builder to;

	dtx_builder_init(&to, flag, n);
	for (uint32_t row = 0; row < n; row++)
		dtx_builder_bool(&to,
		                 dtx_tablekeys_id(&w->keys[slot->of], at + row) == slot->value);
	return dtx_builder_finish(&to, NULL, out, err);
}

static enum dtx_code dummies_batch(const struct dtx_opctx *ox, const struct work *w,
                                   const struct dtx_batch *in, int64_t at, struct dtx_emit *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_kept kept = { NULL, 0, 0 };
	int32_t *from = dtx_mem_alloc(w->n + 1, sizeof(*from));
	struct dtx_colmap map = { (uint32_t)w->n, from };

	if (!from)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < w->n; i++)
		from[i] = w->slot[i].col;
	DTX_TRY(dtx_kept_add(&kept, in, err));
	DTX_TRY(dtx_colmap_apply(ox, &map, kept.batch[0], err));
	for (uint32_t i = 0; i < w->n; i++) {
		struct dtx_column *made = NULL;

		if (w->slot[i].col >= 0 || !dtx_op_wants(ox, i))
			continue;
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(flag_column(w, &w->slot[i], at, in->nrows, &made, err));
		dtx_batch_put(kept.batch[0], i, made);
	}
	DTX_TRY(dtx_emit_batch(out, kept.batch[0], err));
out:
	dtx_kept_clear(&kept);
	dtx_mem_free(from);
	return rc;
}

static enum dtx_code dummies_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++) {
		DTX_TRY(dummies_batch(ox, &w, t->batch[i], at, out, err));
		at += t->batch[i]->nrows;
	}
out:
	work_clear(&w);
	return rc;
}

static void dummies_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_add(out, "make a true or false column of each value of ");
	dtx_cols_print(((const struct dummies_args *)args)->cols, out);
}

const struct dtx_op dtx_op_dummies = {
	.name = "dummies",
	.aliases = "one_hot,get_dummies",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make a bool column of each value",
	.notes = "The new columns take the column's place, sorted by value; where it is null all "
		 "are false.",
	.facts = { .rows = DTX_ROWS_SAME },
	.params = dummies_params,
	.nparams = DTX_COUNT(dummies_params),
	.examples = dummies_examples,
	.nexamples = DTX_COUNT(dummies_examples),
	.args_size = sizeof(struct dummies_args),
	.bind = dummies_bind,
	.whole = dummies_whole,
	.whole_schema = dummies_schema,
	.explain = dummies_explain,
};
