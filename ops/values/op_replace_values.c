/* replace_values: replaces values of columns by a list of pairs.
 *
 * By value, a pair is found by the equality key of a cell. By pattern, all pairs become two
 * formulas per column: does one match, and what is the new text. */
#include "core/base/memory/mem.h"
#include "core/data/key.h"
#include "core/data/cells.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/opkit.h"

enum { ELSE_KEEP, ELSE_NULL, ELSE_ERROR };
struct pair {
	const json_t *from, *to;
};
struct replace_args {
	struct dtx_cols *cols;
	struct dtx_plist map;
	int otherwise;
	bool regex;
};
struct replace_state {
	int32_t *col;
	uint32_t n;
	struct dtx_field *field; /* per listed column */
	struct dtx_bound **hit;  /* with regex, per listed column: whether a pattern matches */
	struct dtx_bound **made; /* with regex, per listed column: the new text */
};

static const struct dtx_param pair_rows[] = {
	{ .name = "from",
	  .kind = DTX_P_VALUE,
	  .offset = offsetof(struct pair, from),
	  .help = "old value; absent: null" },
	{ .name = "to",
	  .kind = DTX_P_VALUE,
	  .offset = offsetof(struct pair, to),
	  .help = "new value; absent: null" },
};
static const struct dtx_param replace_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct replace_args, cols),
	  .aliases = "columns,column,col",
	  .help = "columns to change" },
	{ .name = "map",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct replace_args, map),
	  .aliases = "mapping,values,replacements",
	  .rows = pair_rows,
	  .nrows = DTX_COUNT(pair_rows),
	  .item_size = sizeof(struct pair),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "old and new values; the first match counts" },
	{ .name = "else",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct replace_args, otherwise),
	  .choices = "keep,null,error",
	  .def = "\"keep\"",
	  .help = "what to do with other values" },
	{ .name = "regex",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct replace_args, regex),
	  .def = "false",
	  .help = "from is a pattern and to its replacement ($1); the first pattern that "
	          "matches replaces all its places" },
};
static const struct dtx_example replace_examples[] = {
	{ .step = DTX_JSON(
		  { "op" : "replace_values", "cols" : ["k"], "map" : { "a" : "A", "b" : "B" } }),
	  .in = "k,v\na,1\nc,2\nb,3\n,4\n",
	  .out = "k,v\nA,1\nc,2\nB,3\n,4\n" },
	{ .step = DTX_JSON({
		  "op" : "recode",
		  "cols" : ["n"],
		  "map" : [ { "from" : 1, "to" : 10 }, { "to" : 0 } ]
	  }),
	  .in = "n,v\n1,a\n2,b\n,c\n",
	  .out = "n,v\n10,a\n2,b\n0,c\n" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : "n",
		  "map" : { "1" : 10, "2" : 20, "x" : 30 }
	  }),
	  .in = "n,v\n1,a\n2,b\n,c\n",
	  .out = "n,v\n10,a\n20,b\n,c\n" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : ["k"],
		  "map" : [ { "from" : "x" } ],
		  "else" : "keep"
	  }),
	  .in = "k,v\nx,1\n\"y\",2\n",
	  .out = "k,v\n,1\n\"y\",2\n" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : ["k"],
		  "map" : [ { "from" : "yes", "to" : true }, { "from" : "no", "to" : false } ],
		  "else" : "null"
	  }),
	  .in = "k,v\nyes,1\nno,2\nmaybe,3\n",
	  .out = "k,v\ntrue,1\nfalse,2\n,3\n" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : ["k"],
		  "map" : [ { "from" : "a", "to" : "b" } ],
		  "else" : "error"
	  }),
	  .in = "k,v\nz,1\n",
	  .error = "unexpected_value",
	  .message = "replace_values: column 'k' has 'z', which is not in the map" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : ["k"],
		  "map" : [
			  { "from" : "^(.)-(.)$", "to" : "$2$1" }, { "from" : "[xy]", "to" : "z" }
		  ],
		  "regex" : true
	  }),
	  .in = "k,v\nx-y,1\nxay,2\n\"b\",3\n,4\n",
	  .out = "k,v\nyx,1\nzaz,2\n\"b\",3\n,4\n" },
	{ .step = DTX_JSON({
		  "op" : "replace",
		  "cols" : ["k"],
		  "map" : [ { "from" : "^n/?a$" } ],
		  "regex" : true,
		  "else" : "error"
	  }),
	  .in = "k\nn/a\nb\n",
	  .error = "unexpected_value",
	  .message = "replace_values: column 'k' has 'b', which is not in the map" },
	{ .step = DTX_JSON({
		  "op" : "replace_values",
		  "cols" : ["n"],
		  "map" : [ { "from" : "1", "to" : "2" } ],
		  "regex" : true
	  }),
	  .in = "n\n1\n",
	  .error = "type_mismatch",
	  .message = "column 'n' is int: a pattern needs a text column" },
};

/* The column's type if all new values fit it (and other values stay), else a type that holds
 * all. */
static struct dtx_typeref result_type(const struct replace_args *a, struct dtx_typeref now)
{
	const struct pair *pair = a->map.item;
	struct dtx_typeref t = { .type = DTX_T_NULL };
	bool fits = now.type != DTX_T_NULL;

	for (size_t i = 0; i < a->map.n; i++) {
		struct dtx_typeref to = { .type = dtx_json_type(pair[i].to) };

		fits = fits && (!pair[i].to || dtx_json_fits(pair[i].to, now.type));
		t = dtx_type_merge(t, to);
	}
	if (now.type == DTX_T_UNKNOWN || (fits && a->otherwise == ELSE_KEEP))
		return now;
	if (a->otherwise == ELSE_KEEP)
		return dtx_type_merge(t, now);
	return fits && t.type != DTX_T_BOOL ? now : t;
}

/* --- patterns: two formulas per column, made of all pairs --- */

static enum dtx_code replace_check(const void *args, struct dtx_err *err)
{
	const struct replace_args *a = args;
	const struct pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; a->regex && i < a->map.n; i++)
		if (!json_is_string(pair[i].from) || (pair[i].to && !json_is_string(pair[i].to)))
			DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_TYPE, "/map",
			               "replace_values: with regex, from and to must be texts");
out:
	return rc;
}

static void quote(struct dtx_buf *out, struct dtx_str s, char mark)
{
	dtx_buf_addc(out, mark);
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == mark)
			dtx_buf_addc(out, mark);
		dtx_buf_addc(out, s.ptr[i]);
	}
	dtx_buf_addc(out, mark);
}

static struct dtx_str text_of(const json_t *v)
{
	return (struct dtx_str){ json_string_value(v), json_string_length(v) };
}

/* Writes matches(`k`, 'p') or ...; with `made`, case when matches(...) then replace_re(...) ...
 * end */
static void pattern_formula(const struct replace_args *a, const char *column, bool made,
                            struct dtx_buf *out)
{
	const struct pair *pair = a->map.item;

	dtx_buf_add(out, made ? "case" : "");
	for (size_t i = 0; i < a->map.n; i++) {
		dtx_buf_add(out, made ? " when matches(" : i ? " or matches(" : "matches(");
		quote(out, dtx_str_of(column), '`');
		dtx_buf_add(out, ", ");
		quote(out, text_of(pair[i].from), '\'');
		dtx_buf_add(out, made ? ") then " : ")");
		if (!made)
			continue;
		dtx_buf_add(out, pair[i].to ? "replace_re(" : "nullif('', '')");
		if (!pair[i].to)
			continue;
		quote(out, dtx_str_of(column), '`');
		dtx_buf_add(out, ", ");
		quote(out, text_of(pair[i].from), '\'');
		dtx_buf_add(out, ", ");
		quote(out, text_of(pair[i].to), '\'');
		dtx_buf_addc(out, ')');
	}
	dtx_buf_add(out, made ? " end" : "");
}

static enum dtx_code bind_formula(struct dtx_bind *b, const struct replace_args *a, int32_t col,
                                  bool made, struct dtx_bound **out, struct dtx_err *err)
{
	const struct dtx_typeref want = { .type = made ? DTX_T_TEXT : DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 20);
	size_t found = b->errs->n;
	struct dtx_expr *e;

	pattern_formula(a, b->in[0]->field[col].name, made, &text);
	DTX_TRY(dtx_buf_check(&text, "map", err));
	DTX_TRY(dtx_expr_parse(b->arena, dtx_buf_str(&text), &e, err));
	DTX_TRY(dtx_bind_expr(b, 0, e, "/map", want, col, out, err));
	/* a place within this made-up formula would not help the user */
	for (; found < b->errs->n; found++)
		b->errs->item[found].span[0] = b->errs->item[found].span[1] = -1;
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code bind_patterns(struct dtx_bind *b, const struct replace_args *a,
                                   struct replace_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->hit = dtx_arena_zalloc(b->arena, (size_t)s->n + 1, sizeof(struct dtx_bound *));
	s->made = dtx_arena_zalloc(b->arena, (size_t)s->n + 1, sizeof(struct dtx_bound *));
	if (!s->hit || !s->made)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++) {
		enum dtx_type type =
			s->col[i] < 0 ? DTX_T_NULL : b->in[0]->field[s->col[i]].type.type;

		if (s->col[i] < 0)
			continue;
		s->field[i] = b->in[0]->field[s->col[i]];
		if (type != DTX_T_TEXT && type != DTX_T_UNKNOWN && type != DTX_T_NULL)
			DTX_TRY(dtx_bind_fail_next(
				b, DTX_E_TYPE_MISMATCH, "/cols",
				"leave the column out, or cast it to text in a step before", err,
				"column '%s' is %s: a pattern needs a text column",
				s->field[i].name, dtx_type_name(type)));
		DTX_TRY(bind_formula(b, a, s->col[i], false, &s->hit[i], err));
		DTX_TRY(bind_formula(b, a, s->col[i], true, &s->made[i], err));
	}
out:
	return rc;
}

static enum dtx_code replace_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct replace_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct replace_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	s->field = dtx_arena_zalloc(b->arena, (size_t)s->n + 1, sizeof(*s->field));
	if (!s->field)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	if (a->regex)
		return bind_patterns(b, a, s, err);
	for (uint32_t i = 0; i < s->n; i++) {
		struct dtx_field *f = &s->field[i];

		if (s->col[i] < 0)
			continue;
		*f = b->in[0]->field[s->col[i]];
		DTX_TRY(dtx_bind_remake(b, (uint32_t)s->col[i], result_type(a, f->type), NULL,
		                        "recoded", err));
		dtx_bind_stands_for(b, (uint32_t)s->col[i], f);
		DTX_TRY(dtx_bind_use(b, s->col[i], 0, s->col[i], DTX_DEMAND_VALUE, err));
		f->type = b->col[s->col[i]].field.type;
	}
out:
	return rc;
}

static void drop_column(struct dtx_column **c)
{
	dtx_column_unref(*c);
	*c = NULL;
}

/* Makes a `from` a value of the column; NULL: it cannot be one. Names in a JSON map are texts, so a
 * text that can be read as the column's type is that value. */
static enum dtx_code from_column(const json_t *from, const struct dtx_field *in,
                                 struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_field f = { .type = { .type = in->type.type, .scale = in->type.scale } };
	struct dtx_err misfit = DTX_ERR_INIT;
	enum dtx_code rc;

	*out = NULL;
	if (!from)
		return dtx_column_nulls(in->type, 1, out, err);
	if (dtx_type_is_number(in->type.type) && json_is_number(from))
		f.type = (struct dtx_typeref){ .type = dtx_json_type(from) };
	else if (!json_is_string(from) && !dtx_json_fits(from, in->type.type))
		return DTX_OK;
	rc = dtx_json_column(from, &f, out, &misfit);
	if (rc == DTX_E_TYPE_MISMATCH)
		rc = DTX_OK;
	else if (rc != DTX_OK)
		dtx_err_move(err, &misfit);
	else if ((*out)->type.type == DTX_T_NULL || dtx_column_is_null(*out, 0))
		drop_column(out); /* an empty text is not null */
	dtx_err_clear(&misfit);
	return rc;
}

/* The equality keys of the `from` values that the column can hold. */
struct lookup {
	struct dtx_buf bytes;
	size_t *end; /* end of each pair's key; equal to the one before: the pair cannot match */
	struct dtx_column **to; /* per pair: its new value; NULL: null */
	size_t n;
	struct dtx_buf key;
};

static void lookup_clear(struct lookup *l)
{
	dtx_buf_clear(&l->bytes);
	dtx_buf_clear(&l->key);
	for (size_t i = 0; l->to && i < l->n; i++)
		dtx_column_unref(l->to[i]);
	dtx_mem_free(l->to);
	dtx_mem_free(l->end);
}

static enum dtx_code lookup_init(struct lookup *l, const struct replace_args *a,
                                 const struct dtx_field *in, const struct dtx_field *out,
                                 struct dtx_err *err)
{
	const struct pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *from = NULL, *made = NULL;

	*l = (struct lookup){ .n = a->map.n };
	dtx_buf_init(&l->bytes, (size_t)1 << 30);
	dtx_buf_init(&l->key, (size_t)1 << 30);
	l->end = dtx_mem_zalloc(l->n + 1, sizeof(*l->end));
	l->to = dtx_mem_zalloc(l->n + 1, sizeof(struct dtx_column *));
	if (!l->end || !l->to)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < l->n; i++) {
		struct dtx_field jf = { .type = { .type = dtx_json_type(pair[i].to) } };

		if (pair[i].to) {
			DTX_TRY(dtx_json_column(
				pair[i].to, dtx_json_fits(pair[i].to, out->type.type) ? out : &jf,
				&made, err));
			rc = dtx_cells_fit(made, out, &l->to[i], err);
			dtx_column_unref(made);
			DTX_TRY(rc);
		}
		DTX_TRY(from_column(pair[i].from, in, &from, err));
		if (from)
			dtx_key_equal(&from, 1, 0, &l->bytes);
		dtx_column_unref(from);
		from = NULL;
		l->end[i] = l->bytes.len;
	}
	DTX_TRY(dtx_buf_check(&l->bytes, "map", err));
out:
	dtx_column_unref(from);
	return rc;
}

/* The pair that a row's value matches; n: none. */
static size_t lookup_find(struct lookup *l, struct dtx_column *value, uint32_t row)
{
	size_t at = 0;

	dtx_buf_reset(&l->key);
	dtx_key_equal(&value, 1, row, &l->key);
	for (size_t i = 0; i < l->n; at = l->end[i++])
		if (l->end[i] > at && l->end[i] - at == l->key.len &&
		    memcmp(l->bytes.ptr + at, l->key.ptr, l->key.len) == 0)
			return i;
	return l->n;
}

static enum dtx_code unexpected(struct dtx_batch *in, int32_t col, uint32_t row,
                                struct dtx_err *err)
{
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool null;
	struct dtx_str text = dtx_cell_text(in->col[col], row, &scratch, &null);

	dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
	            "replace_values: column '%s' has '%.*s', which is not in the map",
	            in->schema->field[col].name, (int)DTX_MIN(text.len, (size_t)80), text.ptr);
	dtx_err_hint(err, "add it to map, or set else to keep or null");
	dtx_batch_set_position(in, row, col, err);
	dtx_buf_clear(&scratch);
	return DTX_E_UNEXPECTED_VALUE;
}

/* Sets, per row, where the new cell comes from: the column itself (0), pair k (k + 1), or null. */
static enum dtx_code choose(const struct replace_args *a, struct lookup *l, struct dtx_batch *in,
                            int32_t col, uint32_t *which, uint32_t *row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *value = NULL;

	DTX_TRY(dtx_batch_flat(in, (uint32_t)col, &value, err));
	for (uint32_t i = 0; i < in->nrows; i++) {
		size_t k = lookup_find(l, value, i);

		which[i] = k < l->n ? (l->to[k] ? (uint32_t)k + 1 : DTX_NOWHERE) : 0;
		row[i] = which[i] ? 0 : i;
		if (k < l->n || a->otherwise == ELSE_KEEP)
			continue;
		if (a->otherwise == ELSE_ERROR && !dtx_column_is_null(value, i)) {
			rc = unexpected(in, col, i, err);
			goto out;
		}
		which[i] = DTX_NOWHERE;
	}
	if (!dtx_buf_ok(&l->key))
		DTX_FAIL_MEM(err);
out:
	dtx_column_unref(value);
	return rc;
}

static enum dtx_code replace_column(const struct dtx_opctx *ox, struct dtx_batch *in, uint32_t i,
                                    struct dtx_err *err)
{
	const struct replace_args *a = ox->args;
	const struct replace_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct lookup l = { .n = 0 };
	int32_t col = s->col[i];
	uint32_t *which = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*row));
	struct dtx_column **src = dtx_mem_zalloc(a->map.n + 2, sizeof(struct dtx_column *));
	struct dtx_column *made = NULL;

	if (!which || !row || !src)
		DTX_FAIL_MEM(err);
	DTX_TRY(lookup_init(&l, a, &in->schema->field[col], &s->field[i], err));
	DTX_TRY(choose(a, &l, in, col, which, row, err));
	if (a->otherwise == ELSE_KEEP)
		DTX_TRY(dtx_cells_fit(in->col[col], &s->field[i], &src[0], err));
	memcpy(src + 1, l.to, l.n * sizeof(struct dtx_column *));
	DTX_TRY(dtx_cells_gather(src, (uint32_t)l.n + 1, which, row, in->nrows, &s->field[i], &made,
	                         err));
	dtx_batch_put(in, (uint32_t)col, made);
out:
	if (src)
		dtx_column_unref(src[0]);
	lookup_clear(&l);
	dtx_mem_free(src);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

/* The same for patterns: rows that match take their cell from `made`, others as `else` says. */
static enum dtx_code choose_matched(const struct replace_args *a, struct dtx_batch *in, int32_t col,
                                    struct dtx_column *hit, uint32_t *which, uint32_t *row,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < in->nrows; i++) {
		bool null = hit->type.type == DTX_T_NULL || dtx_column_is_null(hit, i);

		row[i] = i;
		which[i] = !null && dtx_bit(hit->v.bits, i);
		if (which[i] || a->otherwise == ELSE_KEEP)
			continue;
		if (a->otherwise == ELSE_ERROR && !null) {
			rc = unexpected(in, col, i, err);
			goto out;
		}
		which[i] = DTX_NOWHERE;
	}
out:
	return rc;
}

static enum dtx_code replace_matched(const struct dtx_opctx *ox, struct dtx_batch *in, uint32_t i,
                                     struct dtx_err *err)
{
	const struct replace_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	int32_t col = s->col[i];
	uint32_t *which = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*row));
	struct dtx_column *src[2] = { NULL, NULL }, *hit = NULL, *flat = NULL, *made = NULL;

	if (!which || !row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_op_eval(ox, s->hit[i], in, &hit, err));
	DTX_TRY(dtx_column_flat(hit, &flat, err));
	DTX_TRY(choose_matched(ox->args, in, col, flat, which, row, err));
	DTX_TRY(dtx_op_eval(ox, s->made[i], in, &made, err));
	DTX_TRY(dtx_cells_fit(in->col[col], &s->field[i], &src[0], err));
	DTX_TRY(dtx_cells_fit(made, &s->field[i], &src[1], err));
	dtx_column_unref(made);
	made = NULL;
	DTX_TRY(dtx_cells_gather(src, 2, which, row, in->nrows, &s->field[i], &made, err));
	dtx_batch_put(in, (uint32_t)col, made);
	made = NULL;
out:
	dtx_column_unref(made);
	dtx_column_unref(hit);
	dtx_column_unref(flat);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code replace_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	const struct replace_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	(void)local;
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, (uint32_t)s->col[i]) && in->col[s->col[i]])
			DTX_TRY(s->hit ? replace_matched(ox, in, i, err)
			               : replace_column(ox, in, i, err));
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void replace_explain(const void *args, struct dtx_buf *out)
{
	const struct replace_args *a = args;
	const struct pair *pair = a->map.item;

	dtx_buf_add(out, "in ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " replace ");
	for (size_t i = 0; i < a->map.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_value(out, pair[i].from);
		dtx_buf_add(out, " by ");
		dtx_py_value(out, pair[i].to);
	}
}

static const struct dtx_map replace_map = { .batch = replace_batch };

const struct dtx_op dtx_op_replace_values = {
	.name = "replace_values",
	.aliases = "replace,recode,map_values",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Replace values by a table of pairs",
	.notes = "Values are compared by type and value; the first pair that matches counts, and "
		 "its result is not replaced again. With regex: patterns, in text columns. Other "
		 "cells keep their bytes.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = replace_params,
	.nparams = DTX_COUNT(replace_params),
	.examples = replace_examples,
	.nexamples = DTX_COUNT(replace_examples),
	.args_size = sizeof(struct replace_args),
	.check = replace_check,
	.bind = replace_bind,
	.map = &replace_map,
	.explain = replace_explain,
};
