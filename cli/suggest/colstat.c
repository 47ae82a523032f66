/* Collects statistics of a column in one pass: a table of distinct values, and an even sample of
 * the numbers. */
#include "cli/suggest/colstat.h"

#include <math.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"
#include "core/data/time/time.h"

enum { KEPT_MIN = 256, KEPT_MAX = 4096, SLOTS_MIN = 16, TOP = 3 };

void dtx_colstat_init(struct dtx_colstat *s, size_t limit)
{
	*s = (struct dtx_colstat){ .limit = limit ? DTX_MIN(limit, (size_t)DTX_COLSTAT_DISTINCT)
		                                  : DTX_COLSTAT_DISTINCT };
}

void dtx_colstat_clear(struct dtx_colstat *s)
{
	dtx_arena_clear(&s->arena);
	dtx_mem_free(s->value);
	dtx_mem_free(s->slot);
	dtx_mem_free(s->number.kept);
	dtx_mem_free(s->date.kept);
	*s = (struct dtx_colstat){ 0 };
}

/* --- different values --- */

static enum dtx_code grow_slots(struct dtx_colstat *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = s->nslots ? s->nslots * 2 : SLOTS_MIN, i, at;
	uint32_t *slot = dtx_mem_zalloc(n, sizeof(*slot));

	if (!slot)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->nvalues; i++) {
		for (at = s->value[i].hash & (n - 1); slot[at]; at = (at + 1) & (n - 1))
			;
		slot[at] = (uint32_t)i + 1;
	}
	dtx_mem_free(s->slot);
	s->slot = slot;
	s->nslots = n;
out:
	return rc;
}

static enum dtx_code add_value(struct dtx_colstat *s, struct dtx_str text, uint64_t row,
                               uint64_t hash, size_t slot, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str cut = dtx_str_cut(text, DTX_COLSTAT_TEXT);
	char *copy;

	if (!dtx_mem_reserve(&s->value, &s->values_cap, s->nvalues + 1, sizeof(*s->value)))
		DTX_FAIL_MEM(err);
	copy = dtx_arena_bytes(&s->arena, cut.len + 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	if (cut.len)
		memcpy(copy, cut.ptr, cut.len);
	copy[cut.len] = '\0';
	cut.ptr = copy;
	s->value[s->nvalues++] =
		(struct dtx_colstat_value){ hash, 1, cut, text.len > DTX_COLSTAT_TEXT, row };
	s->slot[slot] = (uint32_t)s->nvalues;
out:
	return rc;
}

static enum dtx_code count_value(struct dtx_colstat *s, struct dtx_str text, uint64_t row,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t hash = dtx_hash64(text.ptr, text.len, 0);
	size_t at;

	if (s->nvalues * 2 >= s->nslots)
		DTX_TRY(grow_slots(s, err));
	for (at = hash & (s->nslots - 1); s->slot[at]; at = (at + 1) & (s->nslots - 1)) {
		if (s->value[s->slot[at] - 1].hash == hash) {
			s->value[s->slot[at] - 1].count++;
			goto out;
		}
	}
	s->many |= s->nvalues == s->limit;
	if (!s->many)
		DTX_TRY(add_value(s, text, row, hash, at, err));
out:
	return rc;
}

/* --- ranges --- */

/* Adds to the sample, which has at most `most` values. When it is full, every second value is
 * removed and the step doubles, so that it stays even. */
static enum dtx_code keep(struct dtx_colstat_range *r, size_t most, double v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	r->lo = r->n ? fmin(r->lo, v) : v;
	r->hi = r->n ? fmax(r->hi, v) : v;
	if (!r->n)
		r->step = 1;
	if (r->nkept == most) {
		for (i = 0; i < most / 2; i++)
			r->kept[i] = r->kept[2 * i];
		r->nkept = most / 2;
		r->step *= 2;
	}
	if (r->n % r->step == 0) {
		if (!dtx_mem_reserve(&r->kept, &r->kept_cap, r->nkept + 1, sizeof(*r->kept)))
			DTX_FAIL_MEM(err);
		r->kept[r->nkept++] = v;
	}
	r->n++;
out:
	return rc;
}

static enum dtx_code keep_parsed(struct dtx_colstat *s, struct dtx_str text, struct dtx_err *err)
{
	struct dtx_str t = dtx_str_trim(text);
	size_t most = DTX_MIN(DTX_MAX(s->limit, (size_t)KEPT_MIN), (size_t)KEPT_MAX) &
	              ~(size_t)1; /* every second one can be removed */
	int32_t day;
	int64_t us;
	bool zoned;
	double v;

	if (dtx_num_parse_f64(t.ptr, t.len, &v))
		return isfinite(v) ? keep(&s->number, most, v, err) : DTX_OK;
	if (dtx_day_parse(t, &day))
		return keep(&s->date, most, (double)day * (double)DTX_DAY_US, err);
	if (dtx_datetime_parse(t, &us, &zoned))
		return keep(&s->date, most, (double)us, err);
	return DTX_OK;
}

enum dtx_code dtx_colstat_add(struct dtx_colstat *s, const struct dtx_column *c,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		bool null = dtx_column_is_null(c, i);

		s->nulls += null;
		s->runs += null && !s->last_null;
		s->last_null = null;
		s->merged += null && c->form == DTX_F_CELL &&
		             c->tag[i] & (DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT);
		if (null)
			continue;
		dtx_buf_reset(&text);
		dtx_cast_print(c, i, &text);
		DTX_TRY(dtx_buf_check(&text, "a value", err));
		DTX_TRY(count_value(s, dtx_buf_str(&text), s->rec ? s->rec[i] : s->first_row + i,
		                    err));
		DTX_TRY(keep_parsed(s, dtx_buf_str(&text), err));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

const struct dtx_colstat_range *dtx_colstat_range(const struct dtx_colstat *s, enum dtx_type type)
{
	if (type == DTX_T_INT64 || type == DTX_T_FLOAT64 || type == DTX_T_DECIMAL)
		return s->number.n ? &s->number : NULL;
	if (type == DTX_T_DATE || type == DTX_T_DATETIME)
		return s->date.n ? &s->date : NULL;
	return NULL;
}

void dtx_colstat_bound(struct dtx_typeref type, double v, struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	if (type.type == DTX_T_DATE)
		dtx_buf_addn(out, text, dtx_day_print(text, (int32_t)(v / (double)DTX_DAY_US)));
	else if (type.type == DTX_T_DATETIME)
		dtx_buf_addn(out, text, dtx_moment_print(text, type, (int64_t)v));
	else if (fabs(v) > (double)DTX_CELL_EXACT) /* no more digits than it really has */
		dtx_buf_addn(out, text, dtx_num_print_f64(text, v));
	else
		dtx_buf_addn(out, text, dtx_num_print_json(text, v));
}

bool dtx_colstat_bars(const struct dtx_colstat_range *r, uint32_t bar[DTX_COLSTAT_BARS])
{
	double width;
	size_t i;

	memset(bar, 0, DTX_COLSTAT_BARS * sizeof(*bar));
	if (!r || !r->nkept || !(r->hi > r->lo))
		return false;
	width = r->hi - r->lo;
	for (i = 0; i < r->nkept; i++) {
		double at = (r->kept[i] - r->lo) / width * DTX_COLSTAT_BARS;

		bar[DTX_MIN((size_t)fmax(at, 0), (size_t)DTX_COLSTAT_BARS - 1)]++;
	}
	return true;
}

void dtx_colstat_draw(const struct dtx_colstat_range *r, struct dtx_buf *out)
{
	static const char *const block[] = { "\u2581", "\u2582", "\u2583", "\u2584",
		                             "\u2585", "\u2586", "\u2587", "\u2588" };
	uint32_t bar[DTX_COLSTAT_BARS], most = 1;
	size_t i;

	if (!dtx_colstat_bars(r, bar))
		return;
	for (i = 0; i < DTX_COLSTAT_BARS; i++)
		most = DTX_MAX(most, bar[i]);
	for (i = 0; i < DTX_COLSTAT_BARS; i++)
		dtx_buf_add(out, bar[i] ? block[(uint64_t)bar[i] * 7 / most] : " ");
}

size_t dtx_colstat_top(const struct dtx_colstat *s, size_t *index, size_t n)
{
	size_t got = 0, i, k;

	for (i = 0; i < s->nvalues; i++) {
		for (k = got; k && s->value[index[k - 1]].count < s->value[i].count; k--) {
			if (k < n)
				index[k] = index[k - 1];
		}
		if (k < n) {
			index[k] = i;
			got = DTX_MIN(got + 1, n);
		}
	}
	return got;
}

/* --- as JSON --- */

static json_t *bound_json(struct dtx_typeref type, double v)
{
	struct dtx_buf b = DTX_BUF_INIT(256);
	json_t *made;

	if (type.type != DTX_T_DATE && type.type != DTX_T_DATETIME)
		return floor(v) == v && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v);
	dtx_colstat_bound(type, v, &b);
	made = json_string(dtx_buf_text(&b));
	dtx_buf_clear(&b);
	return made;
}

static json_t *top_json(const struct dtx_colstat *s)
{
	json_t *list = json_array();
	size_t index[TOP], n = dtx_colstat_top(s, index, TOP), i;

	for (i = 0; i < n && list; i++) {
		const struct dtx_colstat_value *v = &s->value[index[i]];

		json_array_append_new(list, json_pack("{s:s%, s:I}", "value", v->text.ptr,
		                                      v->text.len, "count", (json_int_t)v->count));
	}
	return list;
}

bool dtx_colstat_json(const struct dtx_colstat *s, struct dtx_typeref type, json_t *object)
{
	const struct dtx_colstat_range *r = dtx_colstat_range(s, type.type);
	uint32_t bar[DTX_COLSTAT_BARS];
	json_t *bars = NULL;
	size_t i;

	if (dtx_colstat_bars(r, bar)) {
		bars = json_array();
		for (i = 0; i < DTX_COLSTAT_BARS && bars; i++)
			json_array_append_new(bars, json_integer((json_int_t)(bar[i] * r->step)));
	}
	return dtx_json_set(object, "distinct", json_integer((json_int_t)s->nvalues)) &&
	       dtx_json_set(object, "distinct_is_exact", json_boolean(!s->many)) &&
	       dtx_json_set(object, "min", r ? bound_json(type, r->lo) : json_null()) &&
	       dtx_json_set(object, "max", r ? bound_json(type, r->hi) : json_null()) &&
	       dtx_json_set(object, "histogram", bars ? bars : json_null()) &&
	       dtx_json_set(object, "top", top_json(s));
}
