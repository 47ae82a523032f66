/* explode: one row per piece of a text. The other cells of the row are repeated. */
#include "core/base/text/json_text.h"
#include "core/base/text/utf8.h"
#include "core/data/builder.h"
#include "ops/kit/opkit.h"

struct explode_args {
	struct dtx_cols *cols;
	const char *sep, *index_as;
	bool json, trim, drop_empty;
};
struct explode_state {
	int32_t *col;
	uint32_t n;
	int32_t index; /* output column; -1: none */
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct explode_args, member)
static const struct dtx_param explode_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,col,column",
	  .help = "columns to split together" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator",
	  .schema = "{\"type\":\"string\",\"minLength\":1}",
	  .help = "text between the pieces" },
	{ .name = "json",
	  .kind = DTX_P_BOOL,
	  AT(json),
	  .def = "false",
	  .help = "the cells are JSON arrays" },
	{ .name = "trim",
	  .kind = DTX_P_BOOL,
	  AT(trim),
	  .def = "true",
	  .help = "cut spaces around the pieces" },
	{ .name = "drop_empty",
	  .kind = DTX_P_BOOL,
	  AT(drop_empty),
	  .def = "false",
	  .help = "leave out blank pieces" },
	{ .name = "index_as",
	  .kind = DTX_P_TEXT,
	  AT(index_as),
	  .help = "name of a new last column: number of the piece, from 1" },
};
static const struct dtx_example explode_examples[] = {
	{ .step = DTX_JSON({ "op" : "explode", "cols" : ["t"], "sep" : ";" }),
	  .in = "id,t,v\n1,a; b;,2.50\n2,,3\n3,c,\n",
	  .out = "id,t,v\n1,a,2.50\n1,b,2.50\n1,\"\",2.50\n2,,3\n3,c,\n" },
	{ .step = DTX_JSON(
		  { "op" : "separate_rows", "cols" : [ "a", "b" ], "sep" : ",", "index_as" : "i" }),
	  .in = "a,b\n\"1,2\",\"x,y\"\n3,z\n",
	  .out = "a,b,i\n1,x,1\n2,y,2\n3,z,1\n" },
	{ .step = DTX_JSON({ "op" : "explode", "cols" : ["j"], "json" : true }),
	  .in = "j,k\n\"[1,\"\"x\"\",null,{\"\"a\"\":[2]}]\",p\n[],q\n",
	  .out = "j,k\n1,p\nx,p\n,p\n\"{\"\"a\"\":[2]}\",p\n,q\n" },
	{ .step = DTX_JSON({ "op" : "explode", "cols" : ["j"], "json" : true }),
	  .in = "j\n\"[2.50, 98765432109876543.21, 1e3, [0.10, {\"\"b\"\": 3.0}]]\"\n",
	  .out = "j\n2.50\n98765432109876543.21\n1e3\n\"[0.10,{\"\"b\"\":3.0}]\"\n" },
	{ .step = DTX_JSON({ "op" : "explode", "cols" : ["t"], "sep" : "-", "drop_empty" : true }),
	  .in = "t\n-a--b\n--\n",
	  .out = "t\na\nb\n\n" },
	{ .step = DTX_JSON({ "op" : "explode", "cols" : [ "a", "b" ], "sep" : "," }),
	  .in = "a,b\n\"1,2\",x\n",
	  .error = "bad_split",
	  .message = "explode: column 'a' has 2 pieces, column 'b' has 1" },
};

static enum dtx_code explode_check(const void *args, struct dtx_err *err)
{
	const struct explode_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->sep == !a->json)
		DTX_FAIL(err, a->sep ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "explode needs either sep or json");
	if (a->sep && !*a->sep)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/sep", "explode: sep is empty");
out:
	return rc;
}

static enum dtx_code explode_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct explode_args *a = args;
	const struct dtx_typeref text = { .type = DTX_T_TEXT }, number = { .type = DTX_T_INT64 };
	struct explode_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++)
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col[i], DTX_DEMAND_BYTES, err));
	for (int32_t i = 0; i < (int32_t)b->in[0]->nfields; i++) {
		if (place[i] < 0) {
			DTX_TRY(dtx_bind_pass(b, 0, i, NULL, err));
			continue;
		}
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, i, DTX_DEMAND_BYTES, err));
		DTX_TRY(dtx_bind_make(b, b->in[0]->field[i].name, text, NULL, "piece of", err));
	}
	s->index = a->index_as ? (int32_t)b->ncols : -1;
	if (a->index_as)
		DTX_TRY(dtx_bind_make(b, a->index_as, number, NULL, "number of the piece", err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

/* --- pieces of one cell --- */

struct piece {
	size_t from, len; /* in the bytes of its list */
	bool null;
};
struct pieces {
	struct dtx_buf bytes;
	struct piece *item;
	size_t n, cap;
};

static bool add_piece(const struct explode_args *a, struct pieces *p, struct dtx_str text,
                      bool null)
{
	if (a->trim)
		text = dtx_utf8_trim(text);
	if (a->drop_empty && dtx_utf8_is_blank(text))
		return true;
	if (!dtx_mem_reserve(&p->item, &p->cap, p->n + 1, sizeof(*p->item)))
		return false;
	p->item[p->n++] = (struct piece){ p->bytes.len, text.len, null };
	dtx_buf_adds(&p->bytes, text);
	return dtx_buf_ok(&p->bytes);
}

static bool cut_separated(const struct explode_args *a, struct pieces *p, struct dtx_str text)
{
	struct dtx_str sep = dtx_str_of(a->sep);
	size_t from = 0;
	ptrdiff_t at;

	while ((at = dtx_str_find(text, sep, from)) >= 0) {
		if (!add_piece(a, p, (struct dtx_str){ text.ptr + from, (size_t)at - from }, false))
			return false;
		from = (size_t)at + sep.len;
	}
	return add_piece(a, p, (struct dtx_str){ text.ptr + from, text.len - from }, false);
}

/* Lists the elements of a JSON array: a string as its text, any other value as JSON, with numbers
 * as they are written. */
static enum dtx_code cut_json(const struct explode_args *a, struct pieces *p, struct dtx_str text,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jsontext r = { .s = text };
	struct dtx_buf one = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = dtx_jsontext_ok(text, &one) && dtx_jsontext_take(&r, '[');

	if (!dtx_buf_ok(&one))
		DTX_FAIL_MEM(err);
	if (!ok)
		DTX_FAIL(err, DTX_E_BAD_SPLIT, "explode needs a JSON array, got '%.*s'",
		         (int)DTX_MIN(text.len, (size_t)80), text.ptr);
	for (bool first = true; !dtx_jsontext_take(&r, ']'); first = false) {
		char ch;

		if (!first)
			(void)dtx_jsontext_take(&r, ',');
		dtx_buf_reset(&one);
		ch = dtx_jsontext_peek(&r);
		ok = ch == '"' ? dtx_jsontext_string(&r, &one) : dtx_jsontext_value(&r, &one);
		if (!ok || !dtx_buf_ok(&one) ||
		    !add_piece(a, p, ch == 'n' ? DTX_STR("") : dtx_buf_str(&one), ch == 'n'))
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&one);
	return rc;
}

/* Cuts a cell into at least one piece: a null or blank cell, or one with no piece left, gives one
 * null. */
static enum dtx_code cut_cell(const struct explode_args *a, const struct dtx_column *c,
                              uint32_t row, struct dtx_buf *scratch, struct pieces *p,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text;
	bool null;

	p->n = 0;
	dtx_buf_reset(&p->bytes);
	dtx_buf_reset(scratch);
	text = dtx_cell_text(c, row, scratch, &null);
	if (!dtx_buf_ok(scratch))
		DTX_FAIL_MEM(err);
	if (!null && !dtx_utf8_is_blank(text)) {
		if (a->json)
			DTX_TRY(cut_json(a, p, text, err));
		else if (!cut_separated(a, p, text))
			DTX_FAIL_MEM(err);
	}
	if (p->n)
		goto out;
	if (!dtx_mem_reserve(&p->item, &p->cap, 1, sizeof(*p->item)))
		DTX_FAIL_MEM(err);
	p->item[p->n++] = (struct piece){ 0, 0, true };
out:
	return rc;
}

/* --- emitting rows --- */

struct work {
	const struct dtx_opctx *ox;
	struct dtx_batch *in;
	struct dtx_emit *out;
	struct pieces *piece;   /* per exploded column */
	struct dtx_builder *to; /* per exploded column */
	struct dtx_builder index;
	uint32_t *which, *row, n, most;
	struct dtx_buf scratch;
};

static void work_clear(struct work *w)
{
	const struct explode_state *s = w->ox->bound;

	for (uint32_t i = 0; i < s->n; i++) {
		if (w->piece) {
			dtx_buf_clear(&w->piece[i].bytes);
			dtx_mem_free(w->piece[i].item);
		}
		if (w->to)
			dtx_builder_clear(&w->to[i]);
	}
	dtx_builder_clear(&w->index);
	dtx_mem_free(w->piece);
	dtx_mem_free(w->to);
	dtx_mem_free(w->which);
	dtx_mem_free(w->row);
	dtx_buf_clear(&w->scratch);
}

static enum dtx_code work_init(struct work *w, struct dtx_err *err)
{
	const struct explode_state *s = w->ox->bound;
	const struct dtx_typeref text = { .type = DTX_T_TEXT }, number = { .type = DTX_T_INT64 };
	enum dtx_code rc = DTX_OK;

	w->most = dtx_op_batch_rows(w->ox);
	dtx_buf_init(&w->scratch, DTX_BUF_TEXT_MAX);
	dtx_builder_init(&w->index, number, w->in->nrows);
	w->piece = dtx_mem_zalloc((size_t)s->n + 1, sizeof(*w->piece));
	w->to = dtx_mem_zalloc((size_t)s->n + 1, sizeof(*w->to));
	w->which = dtx_mem_zalloc(w->most, sizeof(*w->which));
	w->row = dtx_mem_alloc(w->most, sizeof(*w->row));
	if (!w->piece || !w->to || !w->which || !w->row)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++) {
		dtx_buf_init(&w->piece[i].bytes, DTX_BUF_TEXT_MAX);
		dtx_builder_init(&w->to[i], text, w->in->nrows);
	}
out:
	return rc;
}

static enum dtx_code hand_on(struct work *w, struct dtx_err *err)
{
	const struct explode_state *s = w->ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_pick pick = { &w->in, 1, w->which, w->row, w->n, NULL, NULL, NULL };
	struct dtx_column *made = NULL;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_pick_batch(w->ox, &s->map, &pick, &b, err));
	b->seq = w->in->seq;
	for (uint32_t i = 0; i < s->n; i++) {
		DTX_TRY(dtx_builder_finish(&w->to[i], NULL, &made, err));
		dtx_batch_put(b, (uint32_t)s->col[i], made);
	}
	if (s->index >= 0) {
		DTX_TRY(dtx_builder_finish(&w->index, NULL, &made, err));
		dtx_batch_put(b, (uint32_t)s->index, made);
	}
	w->n = 0;
	DTX_TRY(dtx_emit_batch(w->out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code uneven(struct work *w, uint32_t row, uint32_t i, struct dtx_err *err)
{
	const struct explode_state *s = w->ox->bound;

	dtx_err_set(err, DTX_E_BAD_SPLIT, __FILE__, __LINE__,
	            "explode: column '%s' has %zu pieces, column '%s' has %zu",
	            w->in->schema->field[s->col[0]].name, w->piece[0].n,
	            w->in->schema->field[s->col[i]].name, w->piece[i].n);
	dtx_err_hint(
		err,
		"columns that are split together must have the same number of pieces in each row");
	dtx_batch_set_position(w->in, row, s->col[i], err);
	return DTX_E_BAD_SPLIT;
}

static enum dtx_code explode_row(struct work *w, uint32_t row, struct dtx_err *err)
{
	const struct explode_state *s = w->ox->bound;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->n; i++) {
		rc = cut_cell(w->ox->args, w->in->col[s->col[i]], row, &w->scratch, &w->piece[i],
		              err);
		if (rc != DTX_OK) {
			dtx_batch_set_position(w->in, row, s->col[i], err);
			goto out;
		}
		if (w->piece[i].n != w->piece[0].n) {
			rc = uneven(w, row, i, err);
			goto out;
		}
	}
	for (size_t k = 0; k < w->piece[0].n; k++) {
		for (uint32_t i = 0; i < s->n; i++) {
			const struct piece *p = &w->piece[i].item[k];

			if (p->null)
				dtx_builder_null(&w->to[i]);
			else
				dtx_builder_text(&w->to[i],
				                 (struct dtx_str){
							 dtx_buf_text(&w->piece[i].bytes) + p->from,
							 p->len });
		}
		if (s->index >= 0)
			dtx_builder_i64(&w->index, (int64_t)k + 1);
		w->row[w->n++] = row;
		if (w->n == w->most)
			DTX_TRY(hand_on(w, err));
	}
out:
	return rc;
}

static enum dtx_code explode_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	struct work w = { .ox = ox, .in = in, .out = out };
	enum dtx_code rc = DTX_OK;

	(void)local;
	DTX_TRY(work_init(&w, err));
	for (uint32_t row = 0; row < in->nrows && !dtx_emit_full(out); row++)
		DTX_TRY(explode_row(&w, row, err));
	if (w.n || !in->nrows)
		DTX_TRY(hand_on(&w, err));
out:
	work_clear(&w);
	return rc;
}

static void explode_explain(const void *args, struct dtx_buf *out)
{
	const struct explode_args *a = args;

	dtx_buf_add(out, "make a row of each piece of ");
	dtx_cols_print(a->cols, out);
	if (a->sep)
		dtx_buf_printf(out, " between '%s'", a->sep);
	else
		dtx_buf_add(out, ", JSON arrays");
}

static const struct dtx_map explode_map = { .batch = explode_batch };

const struct dtx_op dtx_op_explode = {
	.name = "explode",
	.aliases = "unnest_rows,separate_rows",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make a row of each piece of a text",
	.notes = "The other cells are repeated, pieces are text until cast. A null or blank "
		 "cell, and one with no piece left, gives one row with null. Several columns "
		 "must have the same number of pieces in each row, else bad_split. Objects in a "
		 "JSON array stay JSON.",
	.facts = { .rows = DTX_ROWS_SPLIT, .values = DTX_VALUES_CHANGED },
	.params = explode_params,
	.nparams = DTX_COUNT(explode_params),
	.examples = explode_examples,
	.nexamples = DTX_COUNT(explode_examples),
	.args_size = sizeof(struct explode_args),
	.check = explode_check,
	.bind = explode_bind,
	.map = &explode_map,
	.explain = explode_explain,
};
