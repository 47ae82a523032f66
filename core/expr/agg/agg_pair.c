/* Aggregates of two numbers per row (correlation, covariance, regression, weighted mean), from
 * exact sums of products. */
#include "core/expr/agg/aggcall.h"

#include "core/expr/agg/aggsave.h"
#include "core/expr/agg/fsum.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

struct pairs {
	struct dtx_fspread x, y;
	struct dtx_fsum xy;
	uint64_t huge; /* number of products beyond the largest float */
};

static bool pairs_add(struct pairs *s, double x, double y)
{
	double xy = x * y;

	if (!isfinite(xy))
		s->huge++;
	else if (!dtx_fsum_add(&s->xy, xy) || !dtx_fsum_add(&s->xy, fma(x, y, -xy)))
		return false;
	return dtx_fspread_add(&s->x, x) && dtx_fspread_add(&s->y, y);
}

static enum dtx_code pairs_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)c;
	for (uint32_t k = 0; k < r->n; k++) {
		double x = dtx_agg_number(r->col, ROW(k)), y = dtx_agg_number(r->col2, ROW(k));

		if (!pairs_add(STATE(struct pairs, k), x, y))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code pairs_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pairs *a = to, *b = from;

	(void)c;
	if (!dtx_fspread_merge(&a->x, &b->x) || !dtx_fspread_merge(&a->y, &b->y) ||
	    !dtx_fsum_merge(&a->xy, &b->xy))
		DTX_FAIL_MEM(err);
	a->huge += b->huge;
	b->huge = 0;
out:
	return rc;
}

static void pairs_free(void *state)
{
	struct pairs *s = state;

	dtx_fspread_free(&s->x);
	dtx_fspread_free(&s->y);
	dtx_fsum_free(&s->xy);
}

static double crossed(struct pairs *s)
{
	const struct dtx_fcross c = { &s->x.x, &s->y.x, &s->xy, NULL };

	return dtx_fsum_cross(&c, (double)s->x.n);
}

static double correlation(double cov, double vx, double vy)
{
	double got = cov / (sqrt(vx) * sqrt(vy));

	return got > 1 ? 1 : got < -1 ? -1 : got;
}

/* The weights are y. */
static void weighted(struct pairs *s, struct dtx_val *out)
{
	double weight = dtx_fsum_round(&s->y.x);

	out->null = s->x.n == 0 || weight == 0;
	if (!out->null)
		out->u.f = s->huge ? NAN : dtx_fsum_round(&s->xy) / weight + 0.0;
}

static enum dtx_code pairs_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	struct pairs *s = state;
	double vx = 0, vy = 0, cross = 0, cov = 0;

	(void)run, (void)err;
	if (c->kind == DTX_AGG_WAVG) {
		weighted(s, out);
		return DTX_OK;
	}
	out->null = !dtx_fspread_var(&s->x, &vx) || !dtx_fspread_var(&s->y, &vy);
	if (!out->null) {
		cross = s->huge || !isfinite(vx + vy) ? NAN : crossed(s);
		cov = cross / ((double)s->x.n - 1);
	}
	switch (c->kind) {
	case DTX_AGG_CORR:
		out->null |= vx == 0 || vy == 0;
		out->u.f = correlation(cov, vx, vy);
		break;
	case DTX_AGG_REGR_SLOPE: /* of y, the first argument, over x */
		out->null |= vy == 0;
		out->u.f = cross / dtx_fspread_squares(&s->y);
		break;
	case DTX_AGG_REGR_R2:
		out->null |= vy == 0;
		out->u.f = vx == 0 ? 1 : pow(correlation(cov, vx, vy), 2);
		break;
	default: out->u.f = cov; break;
	}
	return DTX_OK;
}

static void pairs_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct pairs *s = state;

	(void)c;
	dtx_fspread_save(&s->x, out);
	dtx_fspread_save(&s->y, out);
	dtx_fsum_save(&s->xy, out);
	dtx_word_save(s->huge, out);
}

static bool pairs_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct pairs *s = state;

	(void)c;
	if (!dtx_fspread_load(&s->x, at) || !dtx_fspread_load(&s->y, at) ||
	    !dtx_fsum_load(&s->xy, at))
		return false;
	s->huge = dtx_word_load(at);
	return true;
}

static const struct dtx_aggkernel pairs = { .size = sizeof(struct pairs),
	                                    .frees = true,
	                                    .add = pairs_rows,
	                                    .merge = pairs_merge,
	                                    .final = pairs_final,
	                                    .free = pairs_free,
	                                    .save = pairs_save,
	                                    .load = pairs_load };

const struct dtx_aggkernel *dtx_aggkernel_pair(const struct dtx_aggcall *c)
{
	(void)c;
	return &pairs;
}
