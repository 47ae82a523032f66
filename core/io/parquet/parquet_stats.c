/* Statistics of row groups: which of them a filter can leave out.
 *
 * Only what is certain counts. Statistics of floats say nothing of NaN, those of INT96, of decimals
 * in bytes and of types that dtx does not know have had several orders, and old writers had none at
 * all: all of these are read. */
#include "core/base/text/le.h"
#include "core/data/time/time.h"
#include "core/io/parquet/parquet.h"

/* A value of the statistics of a leaf as one that dtx has. */
static bool value_of(const struct dtx_pq_node *n, struct dtx_str s, int64_t *i)
{
	const uint8_t *p = (const uint8_t *)s.ptr;
	uint32_t per_second = n->per_second;
	int64_t v;

	if (s.len != (n->type == DTX_PQ_INT32 ? 4 : 8))
		return false;
	v = s.len == 4 ? (int32_t)dtx_le_u32(p) : (int64_t)dtx_le_u64(p);
	if (n->as == DTX_PQ_AS_INT && n->is_unsigned)
		v = (uint32_t)v;
	if (n->as == DTX_PQ_AS_STAMP && per_second == 1000) {
		if (v > INT64_MAX / 1000 || v < INT64_MIN / 1000)
			return false;
		v *= 1000;
	} else if (n->as == DTX_PQ_AS_STAMP && per_second > 1000 * 1000) {
		v = v / 1000 - (v % 1000 < 0);
	}
	*i = v;
	return n->as != DTX_PQ_AS_STAMP || dtx_us_ok(v);
}

/* How the value compares, as the bit of struct dtx_scan_range: 1 less, 2 equal, 4 greater. */
static unsigned compare(int c)
{
	return c < 0 ? 1 : c > 0 ? 4 : 2;
}

/* The outcomes that values between those that compare as `least` and `most` can have; 0: they are
 * not in order. */
static unsigned between(unsigned least, unsigned most)
{
	unsigned out = 0, bit;

	for (bit = least; bit <= most; bit <<= 1)
		out |= bit;
	return out;
}

bool dtx_pq_outside(const struct dtx_pq_file *f, size_t group, uint32_t leaf,
                    const struct dtx_scan_range *range)
{
	const struct dtx_pq_node *n = &f->node[f->leaf_node[leaf]];
	const struct dtx_pq_chunk *c = &f->group[group].chunk[leaf];
	bool whole = n->as == DTX_PQ_AS_INT || n->as == DTX_PQ_AS_DATE || n->as == DTX_PQ_AS_STAMP;
	int64_t least, most;
	unsigned can = 0;

	if (!f->ordered || !f->ordered[leaf] || n->max_rep || n->as_type.type != range->type)
		return false;
	/* a null is dropped too, but counted as one */
	if (c->nulls > 0 || (c->nulls < 0 && n->max_def) || !c->least.ptr || !c->most.ptr)
		return false;
	if (whole && value_of(n, c->least, &least) && value_of(n, c->most, &most))
		can = between(compare((least > range->i) - (least < range->i)),
		              compare((most > range->i) - (most < range->i)));
	else if (n->as == DTX_PQ_AS_TEXT && c->least.len && c->most.len)
		can = between(compare(dtx_str_cmp(c->least, range->s)),
		              compare(dtx_str_cmp(c->most, range->s)));
	return can && !(can & range->outcomes);
}
