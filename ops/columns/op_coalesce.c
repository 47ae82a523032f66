/* coalesce: of several columns the first value that is not null.  It is not a macro: a formula
 * would not keep the text of the cells as written, and takes 1.15 times its processor time. */
#include "core/data/cells.h"
#include "ops/kit/opkit.h"

struct coalesce_args {
	struct dtx_cols *cols;
	const char *as;
	bool drop;
};
struct coalesce_state {
	int32_t *col;
	uint32_t n, at; /* at: the new column */
	struct dtx_field field;
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct coalesce_args, member)
static const struct dtx_param coalesce_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to look into, in this order" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "name,new_name",
	  .help = "name of the result" },
	{ .name = "drop",
	  .kind = DTX_P_BOOL,
	  AT(drop),
	  .def = "false",
	  .help = "drop the columns" },
};
static const struct dtx_example coalesce_examples[] = {
	{ .step = DTX_JSON({ "op" : "coalesce", "cols" : [ "a", "b" ], "as" : "v" }),
	  .in = "a,b,c\n1.50,2,x\n,3,y\n,,z\n",
	  .out = "a,b,c,v\n1.50,2,x,1.50\n,3,y,3\n,,z,\n" },
	{ .step = DTX_JSON({ "op" : "coalesce", "cols" : [ "b", "a" ], "as" : "a", "drop" : true }),
	  .in = "a,b,c\n1,x,p\n2,,q\n",
	  .out = "a,c\nx,p\n2,q\n" },
	{ .step = DTX_JSON({ "op" : "coalesce", "cols" : [ "a", "b" ], "as" : "a" }),
	  .in = "a,b\n1,2\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'a'" },
};

/* Type of the result: of two columns in one. */
static void merge_fields(const struct dtx_bind *b, struct coalesce_state *s)
{
	bool first = true;

	for (uint32_t k = 0; k < s->n; k++) {
		if (s->col[k] < 0)
			continue;
		if (first)
			s->field = b->in[0]->field[s->col[k]];
		else
			dtx_field_merge(&s->field, &b->in[0]->field[s->col[k]]);
		first = false;
	}
}

static enum dtx_code bind_result(struct dtx_bind *b, const struct coalesce_args *a,
                                 struct coalesce_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->at = b->ncols;
	merge_fields(b, s);
	for (uint32_t k = 0; k < s->n; k++)
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col[k], DTX_DEMAND_SAME, err));
	DTX_TRY(dtx_bind_make(b, a->as, s->field.type, NULL, "first value of", err));
	if (b->ncols == s->at)
		goto out;
	s->field.name = b->col[s->at].field.name;
	b->col[s->at].field = s->field;
out:
	return rc;
}

static enum dtx_code coalesce_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct coalesce_args *a = args;
	struct coalesce_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	bool there = false;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (int32_t i = 0; i < (int32_t)b->in[0]->nfields; i++) {
		if (!a->drop || place[i] < 0) {
			DTX_TRY(dtx_bind_pass(b, 0, i, NULL, err));
		} else if (!there) {
			there = true;
			DTX_TRY(bind_result(b, a, s, err));
		}
	}
	if (!there)
		DTX_TRY(bind_result(b, a, s, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

/* Per row the first column with a value; the cells keep their bytes. */
static enum dtx_code first_values(const struct coalesce_state *s, struct dtx_batch *in,
                                  const struct dtx_field *field, struct dtx_column **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **src = dtx_mem_zalloc((size_t)s->n + 1, sizeof(struct dtx_column *)), *c;
	uint32_t *which = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)in->nrows + 1, sizeof(*row));

	if (!src || !which || !row)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < s->n; k++) {
		DTX_TRY(dtx_cells_under(in, (uint32_t)s->col[k], field, &c, err));
		DTX_TRY(dtx_cells_fit(c, field, &src[k], err));
	}
	for (uint32_t i = 0; i < in->nrows; i++) {
		uint32_t k = 0;

		while (k < s->n && dtx_column_is_null(src[k], i))
			k++;
		which[i] = k < s->n ? k : DTX_NOWHERE;
		row[i] = i;
	}
	DTX_TRY(dtx_cells_gather(src, s->n, which, row, in->nrows, field, out, err));
out:
	for (uint32_t k = 0; src && k < s->n; k++)
		dtx_column_unref(src[k]);
	dtx_mem_free(src);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code coalesce_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	const struct coalesce_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;

	(void)local;
	if (dtx_op_wants(ox, s->at))
		DTX_TRY(first_values(s, in, &ox->out->field[s->at], &made, err));
	DTX_TRY(dtx_colmap_apply(ox, &s->map, in, err));
	if (made)
		dtx_batch_put(in, s->at, made);
	made = NULL;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_column_unref(made);
	return rc;
}

static void coalesce_explain(const void *args, struct dtx_buf *out)
{
	const struct coalesce_args *a = args;

	dtx_buf_printf(out, "put into %s the first value that is not null of ", a->as);
	dtx_cols_print(a->cols, out);
}

static const struct dtx_map coalesce_map = { .batch = coalesce_batch };

const struct dtx_op dtx_op_coalesce = {
	.name = "coalesce",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Take the first value that is not null",
	.notes = "The result is the last column, or with drop takes the place of the leftmost of "
		 "them. Equal types stay, int goes to float, date to datetime, others become text.",
	.facts = { .rows = DTX_ROWS_SAME },
	.params = coalesce_params,
	.nparams = DTX_COUNT(coalesce_params),
	.examples = coalesce_examples,
	.nexamples = DTX_COUNT(coalesce_examples),
	.args_size = sizeof(struct coalesce_args),
	.bind = coalesce_bind,
	.map = &coalesce_map,
	.explain = coalesce_explain,
};
