/* nullify: makes values null. Values are compared by equality keys, so that -999 finds -999.0,
 * too. */
#include "core/data/key.h"
#include "core/data/cells.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/opkit.h"

struct value {
	const json_t *value;
};
struct nullify_args {
	struct dtx_cols *cols;
	struct dtx_plist values;
	struct dtx_expr *where;
};
struct nullify_state {
	int32_t *col;
	uint32_t n;
	struct dtx_bound *where;
};

#define AT(member) .offset = offsetof(struct nullify_args, member)
static const struct dtx_param value_rows[] = {
	{ .name = "value",
	  .kind = DTX_P_VALUE,
	  .required = true,
	  .offset = offsetof(struct value, value),
	  .help = "the value" },
};
static const struct dtx_param nullify_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to change" },
	{ .name = "values",
	  .kind = DTX_P_LIST,
	  AT(values),
	  .rows = value_rows,
	  .nrows = DTX_COUNT(value_rows),
	  .item_size = sizeof(struct value),
	  .sugar = DTX_SUGAR_SCALAR,
	  .aliases = "value",
	  .help = "values to make null" },
	{ .name = "where",
	  .kind = DTX_P_EXPR,
	  AT(where),
	  .aliases = "condition,predicate,filter",
	  .help = "null where this is true" },
};
static const struct dtx_example nullify_examples[] = {
	{ .step = DTX_JSON({ "op" : "nullify", "cols" : [ "a", "b" ], "values" : [ -999, "n/a" ] }),
	  .in = "a,b,c\n-999,n/a,-999\n1.50,x,2\n-999.0,,3\n",
	  .out = "a,b,c\n,,-999\n1.50,x,2\n,,3\n" },
	{ .step = DTX_JSON({ "op" : "null_if", "cols" : ["v"], "where" : "v > 100 or k == 'x'" }),
	  .in = "k,v\nx,1\ny,200\nz,3.50\n,4\n",
	  .out = "k,v\nx,\ny,\nz,3.50\n,4\n" },
	{ .step = DTX_JSON({ "op" : "nullify", "cols" : ["a"], "where" : "true" }),
	  .in = "a,b\n1,2\n",
	  .out = "a,b\n,2\n" },
	{ .step = DTX_JSON({ "op" : "nullify", "cols" : ["a"] }),
	  .in = "a\n1\n",
	  .error = "missing_param",
	  .message = "nullify needs either values or where" },
};

static enum dtx_code nullify_check(const void *args, struct dtx_err *err)
{
	const struct nullify_args *a = args;
	bool both = a->values.n && a->where;
	enum dtx_code rc = DTX_OK;

	if (!a->values.n == !a->where)
		DTX_FAIL(err, both ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "nullify needs either values or where");
out:
	return rc;
}

static enum dtx_code nullify_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct nullify_args *a = args;
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	struct nullify_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	if (a->where)
		DTX_TRY(dtx_bind_expr(b, 0, a->where, "/where", want, DTX_USE_ROWS, &s->where,
		                      err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_bind_alter_some(b, s->col, s->n, err));
	for (uint32_t i = 0; i < s->n && a->values.n; i++)
		if (s->col[i] >= 0)
			DTX_TRY(dtx_bind_use(b, s->col[i], 0, s->col[i], DTX_DEMAND_VALUE, err));
out:
	return rc;
}

/* Writes the equality keys of the values that the column can hold, each with its length before
 * it. */
static enum dtx_code value_keys(const struct nullify_args *a, const struct dtx_field *f,
                                struct dtx_buf *keys, struct dtx_err *err)
{
	const struct value *v = a->values.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf one = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_column *c = NULL;

	for (size_t i = 0; i < a->values.n; i++) {
		bool number = json_is_number(v[i].value);
		struct dtx_field jf = { .type = { .type = number ? dtx_json_type(v[i].value)
			                                         : f->type.type } };

		if (number ? !dtx_type_is_number(f->type.type)
		           : !dtx_json_fits(v[i].value, f->type.type))
			continue;
		DTX_TRY(dtx_json_column(v[i].value, &jf, &c, err));
		dtx_buf_reset(&one);
		dtx_key_equal(&c, 1, 0, &one);
		dtx_buf_addn(keys, &one.len, sizeof(one.len));
		dtx_buf_addn(keys, one.ptr, one.len);
		dtx_column_unref(c);
		c = NULL;
	}
	if (!dtx_buf_ok(&one) || !dtx_buf_ok(keys))
		DTX_FAIL_MEM(err);
out:
	dtx_column_unref(c);
	dtx_buf_clear(&one);
	return rc;
}

static bool has_key(const struct dtx_buf *keys, const struct dtx_buf *key)
{
	size_t len;

	for (size_t at = 0; at < keys->len; at += sizeof(len) + len) {
		memcpy(&len, keys->ptr + at, sizeof(len));
		if (len == key->len && memcmp(keys->ptr + at + sizeof(len), key->ptr, len) == 0)
			return true;
	}
	return false;
}

/* Sets hit[row] where the column has one of the values. */
static enum dtx_code find_values(const struct nullify_args *a, struct dtx_batch *in, int32_t col,
                                 bool *hit, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf keys = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_column *value = NULL;

	DTX_TRY(value_keys(a, &in->schema->field[col], &keys, err));
	DTX_TRY(dtx_batch_flat(in, (uint32_t)col, &value, err));
	for (uint32_t row = 0; row < in->nrows; row++) {
		dtx_buf_reset(&key);
		dtx_key_equal(&value, 1, row, &key);
		hit[row] = has_key(&keys, &key);
	}
	if (!dtx_buf_ok(&key))
		DTX_FAIL_MEM(err);
out:
	dtx_column_unref(value);
	dtx_buf_clear(&keys);
	dtx_buf_clear(&key);
	return rc;
}

static enum dtx_code find_where(const struct dtx_opctx *ox, struct dtx_batch *in, bool *hit,
                                struct dtx_err *err)
{
	const struct nullify_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL, *flat = NULL;

	DTX_TRY(dtx_op_eval(ox, s->where, in, &c, err));
	DTX_TRY(dtx_column_flat(c, &flat, err));
	for (uint32_t row = 0; row < in->nrows; row++)
		hit[row] = flat->type.type == DTX_T_BOOL && !dtx_column_is_null(flat, row) &&
		           dtx_bit(flat->v.bits, row);
out:
	dtx_column_unref(c);
	dtx_column_unref(flat);
	return rc;
}

/* Replaces the cells that were hit by nulls. */
static enum dtx_code blank_hits(const struct dtx_opctx *ox, struct dtx_batch *in, int32_t col,
                                const bool *hit, uint32_t *which, uint32_t *row,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	int64_t n = 0;

	for (uint32_t i = 0; i < in->nrows; i++) {
		n += hit[i] && !dtx_column_is_null(in->col[col], i);
		which[i] = hit[i] ? DTX_NOWHERE : 0;
		row[i] = i;
	}
	if (!n)
		goto out;
	dtx_op_count(ox, "nullified", n);
	DTX_TRY(dtx_cells_gather(&in->col[col], 1, which, row, in->nrows, &ox->out->field[col],
	                         &made, err));
	dtx_batch_put(in, (uint32_t)col, made);
out:
	return rc;
}

static enum dtx_code nullify_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	const struct nullify_args *a = ox->args;
	const struct nullify_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	bool *hit = dtx_mem_zalloc((size_t)in->nrows + 1, sizeof(*hit));
	uint32_t *which = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*row));

	(void)local;
	if (!hit || !which || !row)
		DTX_FAIL_MEM(err);
	if (s->where)
		DTX_TRY(find_where(ox, in, hit, err));
	for (uint32_t i = 0; i < s->n; i++) {
		if (!dtx_op_wants(ox, (uint32_t)s->col[i]) || !in->col[s->col[i]])
			continue;
		if (!s->where)
			DTX_TRY(find_values(a, in, s->col[i], hit, err));
		DTX_TRY(blank_hits(ox, in, s->col[i], hit, which, row, err));
	}
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_mem_free(hit);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static void nullify_explain(const void *args, struct dtx_buf *out)
{
	const struct nullify_args *a = args;
	const struct value *v = a->values.item;

	dtx_buf_add(out, "make null in ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, a->where ? " where " : ": ");
	if (a->where)
		dtx_expr_print(a->where, out);
	for (size_t i = 0; i < a->values.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_json_print(v[i].value, 0, out);
	}
}

static const struct dtx_map nullify_map = { .batch = nullify_batch };

const struct dtx_op dtx_op_nullify = {
	.name = "nullify",
	.aliases = "null_if",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make values null",
	.notes = "Values are compared by value, in columns whose type they can have: -999 is found "
		 "as -999.0 too. Other cells keep their bytes.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = nullify_params,
	.nparams = DTX_COUNT(nullify_params),
	.examples = nullify_examples,
	.nexamples = DTX_COUNT(nullify_examples),
	.args_size = sizeof(struct nullify_args),
	.check = nullify_check,
	.bind = nullify_bind,
	.map = &nullify_map,
	.explain = nullify_explain,
};
