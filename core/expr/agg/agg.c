/* Aggregates: selects the rows that take part and passes them to the kernel for their type. */
#include "core/expr/agg/aggcall.h"

#include <math.h>

#include "core/base/memory/mem.h"
#include "core/expr/agg/aggsave.h"

#define CHUNK 1024u

#define T(t) ((struct dtx_typeref){ .type = (t) })

struct dtx_typeref dtx_agg_type(const struct dtx_aggcall *c)
{
	return c->type;
}

size_t dtx_agg_state_size(const struct dtx_aggcall *c)
{
	return c->kernel->size;
}

const char *dtx_agg_name(const struct dtx_aggcall *c)
{
	return c->name;
}

static void place(struct dtx_bound *b, const char *at)
{
	if (b)
		dtx_bound_place(b, at);
}

void dtx_agg_place(struct dtx_aggcall *c, const char *at)
{
	c->at = at;
	place(c->arg, at);
	place(c->arg2, at);
	place(c->where, at);
	for (uint32_t i = 0; i < c->nargs; i++)
		place(c->args[i], at);
}

void dtx_agg_set_position(const struct dtx_aggcall *c, struct dtx_err *err)
{
	dtx_err_at(err, c->at);
	dtx_err_span(err, c->expr->span[0], c->expr->span[1]);
}

bool dtx_agg_needs_free(const struct dtx_aggcall *c)
{
	return c->kernel->frees;
}

bool dtx_agg_grows(const struct dtx_aggcall *c)
{
	return c->kernel->grows;
}

/* --- result types --- */

static struct dtx_typeref sum_type(const struct dtx_aggcall *c)
{
	if (c->argtype.type == DTX_T_DECIMAL)
		return (struct dtx_typeref){ DTX_T_DECIMAL, 38, c->argtype.scale };
	if (c->argtype.type == DTX_T_INT64 && c->overflow == DTX_OVERFLOW_FLOAT)
		return T(DTX_T_FLOAT64);
	return c->argtype;
}

static struct dtx_typeref range_type(const struct dtx_aggcall *c)
{
	return c->argtype.type == DTX_T_DATE ? T(DTX_T_INT64) : sum_type(c);
}

static struct dtx_typeref product_type(const struct dtx_aggcall *c)
{
	return c->argtype.type == DTX_T_DECIMAL ? T(DTX_T_FLOAT64) : sum_type(c);
}

#define ANY_TYPE (DTX_CLASS_ANY)
typedef const struct dtx_aggkernel *kernel_fn(const struct dtx_aggcall *c);
/* What an aggregate takes and returns. */
static const struct {
	unsigned takes;                                          /* classes of the argument; ANY:
	                                                          * all */
	enum dtx_type gives;                                     /* result type; NULL: the type of
	                                                          * the argument */
	struct dtx_typeref (*type)(const struct dtx_aggcall *c); /* computes the result type instead
	                                                          * of `gives` */
	kernel_fn *kernel;
} kinds[] = {
	[DTX_AGG_COUNT] = { ANY_TYPE, DTX_T_INT64, NULL, dtx_aggkernel_count },
	[DTX_AGG_COUNT_IF] = { ANY_TYPE, DTX_T_INT64, NULL, dtx_aggkernel_count },
	[DTX_AGG_COUNT_DISTINCT] = { ANY_TYPE, DTX_T_INT64, NULL, dtx_aggkernel_list },
	[DTX_AGG_SUM] = { DTX_CLASS_NUMBER, DTX_T_NULL, sum_type, dtx_aggkernel_sum },
	[DTX_AGG_MEAN] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_sum },
	[DTX_AGG_MEDIAN] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_QUANTILE] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_MIN] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_MAX] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_FIRST] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_LAST] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_STD] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_sum },
	[DTX_AGG_VAR] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_sum },
	[DTX_AGG_ANY] = { DTX_CLASS_BOOL, DTX_T_BOOL, NULL, dtx_aggkernel_count },
	[DTX_AGG_ALL] = { DTX_CLASS_BOOL, DTX_T_BOOL, NULL, dtx_aggkernel_count },
	[DTX_AGG_CONCAT] = { ANY_TYPE, DTX_T_TEXT, NULL, dtx_aggkernel_list },
	[DTX_AGG_STD_POP] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_sum },
	[DTX_AGG_VAR_POP] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_sum },
	[DTX_AGG_MODE] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_tally },
	[DTX_AGG_QUANTILE_DISC] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_tally },
	[DTX_AGG_IQR] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_MAD] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_RANGE] = { DTX_CLASS_NUMBER | DTX_CLASS_DATE, DTX_T_NULL, range_type,
	                    dtx_aggkernel_range },
	[DTX_AGG_PRODUCT] = { DTX_CLASS_NUMBER, DTX_T_NULL, product_type, dtx_aggkernel_range },
	[DTX_AGG_GMEAN] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_HMEAN] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_SKEW] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_KURT] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_numbers },
	[DTX_AGG_CORR] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_pair },
	[DTX_AGG_COV] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_pair },
	[DTX_AGG_WAVG] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_pair },
	[DTX_AGG_REGR_SLOPE] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_pair },
	[DTX_AGG_REGR_R2] = { DTX_CLASS_NUMBER, DTX_T_FLOAT64, NULL, dtx_aggkernel_pair },
	[DTX_AGG_ARG_MAX] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_ARG_MIN] = { ANY_TYPE, DTX_T_NULL, NULL, dtx_aggkernel_extreme },
	[DTX_AGG_SHARE_NULL] = { ANY_TYPE, DTX_T_FLOAT64, NULL, dtx_aggkernel_range },
};

bool dtx_agg_pick(struct dtx_aggcall *c)
{
	enum dtx_type type = c->argtype.type;

	if (type != DTX_T_UNKNOWN && type != DTX_T_NULL && kinds[c->kind].takes != ANY_TYPE &&
	    !(kinds[c->kind].takes & dtx_type_class(type)))
		return false;
	/* Two dates have a number of days between them, but there is no type for a length of
	 * time. */
	if (c->kind == DTX_AGG_RANGE && type == DTX_T_DATETIME)
		return false;
	c->type = kinds[c->kind].type                  ? kinds[c->kind].type(c)
	          : kinds[c->kind].gives == DTX_T_NULL ? c->argtype
	                                               : T(kinds[c->kind].gives);
	c->kernel = kinds[c->kind].kernel(c);
	return true;
}

/* --- states --- */

void dtx_agg_init(const struct dtx_aggcall *c, void *states, size_t stride, size_t from, size_t to)
{
	char *s = (char *)states + from * stride;
	size_t i;

	if (c->kernel->init) {
		c->kernel->init(s, stride, to - from);
		return;
	}
	for (i = from; i < to; i++, s += stride)
		memset(s, 0, c->kernel->size);
}

void dtx_agg_free(const struct dtx_aggcall *c, void *states, size_t stride, size_t n)
{
	size_t i;

	for (i = 0; c->kernel->free && i < n; i++)
		c->kernel->free((char *)states + i * stride);
}

enum dtx_code dtx_agg_merge(const struct dtx_aggcall *c, void *to, void *from, struct dtx_err *err)
{
	return c->kernel->merge(c, to, from, err);
}

void dtx_agg_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	if (c->kernel->save)
		c->kernel->save(c, state, out);
	else
		dtx_words_save(state, c->kernel->size / sizeof(uint64_t), out);
}

enum dtx_code dtx_agg_load(const struct dtx_aggcall *c, void *state, const char **at,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!c->kernel->load)
		dtx_words_load(at, state, c->kernel->size / sizeof(uint64_t));
	else if (!c->kernel->load(c, state, at))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- adding --- */

static bool has_nulls(const struct dtx_column *c)
{
	return c && c->valid && c->nulls;
}

static bool is_present(const struct dtx_column *c, uint32_t row)
{
	return !has_nulls(c) || dtx_bit(c->valid, row);
}

/* Passes only rows with a value, one chunk at a time. */
static enum dtx_code add_present(const struct dtx_aggcall *c, char *states, size_t stride,
                                 const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t row[CHUNK];
	uint32_t group[CHUNK];
	struct dtx_aggrows part = { r->col, row, group, 0, r->in, r->col2, r->pool };
	uint32_t i = 0;

	while (i < r->n) {
		for (part.n = 0; i < r->n && part.n < CHUNK; i++) {
			uint32_t at = r->row ? r->row[i] : i;

			row[part.n] = (uint16_t)at;
			group[part.n] = r->group[i];
			part.n += is_present(r->col, at) && is_present(r->col2, at);
		}
		DTX_TRY(c->kernel->add(c, states, stride, &part, err));
	}
out:
	return rc;
}

/* Makes *io a FLAT column; *made holds the reference if a new one was needed.  *none: the column
 * has no value at all. */
static enum dtx_code flat_column(struct dtx_column **io, struct dtx_column **made, bool *none,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *col = *io;

	if (!col || (col->form != DTX_F_CONST && col->type.type != DTX_T_NULL))
		return DTX_OK;
	*none = col->nulls || col->type.type == DTX_T_NULL;
	if (*none)
		return DTX_OK;
	DTX_TRY(dtx_column_flat(col, made, err));
	*io = *made;
out:
	return rc;
}

static enum dtx_code add_columns(const struct dtx_aggcall *c, char *states, size_t stride,
                                 struct dtx_aggrows *r, struct dtx_column *col,
                                 struct dtx_column *col2, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *flat = NULL, *flat2 = NULL;
	bool none = false, none2 = false;

	r->col = col;
	if (c->kernel->nulls)
		return c->kernel->add(c, states, stride, r, err);
	DTX_TRY(flat_column(&col, &flat, &none, err));
	DTX_TRY(flat_column(&col2, &flat2, &none2, err));
	if (none || none2)
		goto out;
	r->col = col;
	r->col2 = col2;
	if (has_nulls(col) || has_nulls(col2))
		DTX_TRY(add_present(c, states, stride, r, err));
	else
		DTX_TRY(c->kernel->add(c, states, stride, r, err));
out:
	dtx_column_unref(flat);
	dtx_column_unref(flat2);
	return rc;
}

/* The rows for which `where` holds, with their groups. */
struct chosen {
	uint16_t *row;
	uint32_t *group;
};

static enum dtx_code choose(const struct dtx_aggcall *c, struct dtx_ev *ev, const uint32_t *group,
                            struct chosen *ch)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *cond = NULL;
	struct dtx_err *err = ev->err;
	uint32_t k, n = 0;

	ch->row = dtx_mem_alloc((size_t)ev->n + 1, sizeof(*ch->row));
	ch->group = dtx_mem_alloc((size_t)ev->n + 1, sizeof(*ch->group));
	if (!ch->row || !ch->group)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ev_root(ev, c->where, &cond));
	for (k = 0; k < ev->n; k++) {
		uint32_t i = ev->sel ? ev->sel[k] : k;

		ch->row[n] = (uint16_t)i;
		ch->group[n] = group[k];
		n += !dtx_column_is_null(cond, i) && dtx_bit(cond->v.bits, i & dtx_col_mask(cond));
	}
	ev->sel = ch->row;
	ev->n = n;
out:
	dtx_column_unref(cond);
	return rc;
}

enum dtx_code dtx_agg_add(const struct dtx_aggcall *c, void *states, size_t stride,
                          const uint32_t *group, struct dtx_arena *pool, struct dtx_batch *in,
                          struct dtx_eval_counts *counts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ev ev = { .in = in,
		             .sel = in->sel,
		             .n = in->sel ? in->nsel : in->nrows,
		             .nrows = in->nrows,
		             .counts = counts,
		             .err = err };
	struct chosen ch = { NULL, NULL };
	struct dtx_column *col = NULL, *col2 = NULL;
	struct dtx_aggrows r = { .group = group, .in = in, .pool = pool };

	if (c->where) {
		DTX_TRY(choose(c, &ev, group, &ch));
		r.group = ch.group;
	}
	r.row = ev.sel;
	r.n = ev.n;
	if (r.n == 0)
		goto out;
	if (!c->arg) {
		DTX_TRY(c->kernel->add(c, states, stride, &r, err));
		goto out;
	}
	DTX_TRY(dtx_ev_root(&ev, c->arg, &col));
	if (c->arg2)
		DTX_TRY(dtx_ev_root(&ev, c->arg2, &col2));
	DTX_TRY(add_columns(c, states, stride, &r, col, col2, err));
out:
	dtx_column_unref(col);
	dtx_column_unref(col2);
	dtx_mem_free(ch.row);
	dtx_mem_free(ch.group);
	return rc;
}

/* --- results --- */

enum dtx_code dtx_agg_final_one(const struct dtx_aggcall *c, void *state, struct dtx_buf *buf,
                                struct dtx_builder *b, struct dtx_eval_counts *counts,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fnrun run = { .buf = buf };
	struct dtx_val v = { .null = false };

	dtx_buf_reset(buf);
	DTX_TRY(c->kernel->final(c, state, &run, &v, err));
	DTX_TRY(dtx_buf_check(buf, c->name, err));
	if (!v.null && c->type.type == DTX_T_FLOAT64 && !isfinite(v.u.f)) {
		v.null = true;
		counts->not_finite++;
	}
	dtx_val_add(b, c->type, &v);
out:
	if (rc != DTX_OK)
		dtx_agg_set_position(c, err);
	return rc;
}

enum dtx_code dtx_agg_final(const struct dtx_aggcall *c, void *const *states, size_t n,
                            struct dtx_eval_counts *counts, struct dtx_column **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(DTX_AGG_TEXT_MAX);
	struct dtx_builder b;

	dtx_builder_init(&b, c->type, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		DTX_TRY(dtx_agg_final_one(c, states[i], &buf, &b, counts, err));
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_builder_clear(&b);
	dtx_buf_clear(&buf);
	return rc;
}
