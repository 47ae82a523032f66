/* From one text to one value, and the source text of late-typed cells. */
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

bool dtx_cast_text_bool(struct dtx_str s, bool *out)
{
	s = dtx_str_trim(s);
	*out = dtx_str_ieq(s, DTX_STR("true")) || dtx_str_is(s, "1");
	return *out || dtx_str_ieq(s, DTX_STR("false")) || dtx_str_is(s, "0");
}

bool dtx_cast_text_i64(struct dtx_str s, int64_t *out)
{
	s = dtx_str_trim(s);
	return dtx_num_parse_i64(s.ptr, s.len, out);
}

bool dtx_cast_text_f64(struct dtx_str s, double *out)
{
	s = dtx_str_trim(s);
	if (!dtx_num_parse_f64(s.ptr, s.len, out))
		return false;
	*out += 0.0; /* no -0.0 */
	return true;
}

bool dtx_cast_text_dec(struct dtx_str s, struct dtx_typeref t, struct dtx_dec128 *out)
{
	return dtx_dec_parse(dtx_str_trim(s), t, out);
}

bool dtx_cast_text_date(struct dtx_str s, int32_t *out)
{
	return dtx_day_parse(dtx_str_trim(s), out);
}

void dtx_cast_why(struct dtx_str s, struct dtx_typeref to, const char *format,
                  char out[DTX_TIME_WHY])
{
	int64_t us;

	out[0] = '\0';
	if (to.type == DTX_T_DATETIME && !format && dtx_cast_text_datetime(s, &us))
		snprintf(out, DTX_TIME_WHY,
		         ": %s offset from UTC, and the first values of the column %s",
		         dtx_cast_text_zoned(s) ? "it has an" : "it has no",
		         dtx_cast_text_zoned(s) ? "have none" : "all have one");
	else if (dtx_type_class(to.type) == DTX_CLASS_DATE)
		dtx_time_why(dtx_str_trim(s),
		             format ? dtx_str_of(format) : (struct dtx_str){ NULL, 0 }, DTX_CENTURY,
		             out);
}

bool dtx_cast_text_datetime(struct dtx_str s, int64_t *us)
{
	int32_t day;
	bool zoned;

	s = dtx_str_trim(s);
	if (dtx_datetime_parse(s, us, &zoned))
		return true;
	if (!dtx_day_parse(s, &day))
		return false;
	*us = day * DTX_DAY_US;
	return true;
}

bool dtx_cast_text_zoned(struct dtx_str s)
{
	int64_t us;
	bool zoned;

	return dtx_datetime_parse(dtx_str_trim(s), &us, &zoned) && zoned;
}

static struct dtx_str span_unquote(const char *base, struct dtx_span s, char quote,
                                   struct dtx_buf *scratch)
{
	struct dtx_str in = { base + s.off, s.len & DTX_SPAN_LEN };
	const char *p, *end = in.ptr + in.len;
	size_t at = scratch->len;

	if (!(s.len & DTX_SPAN_QUOTED) || !in.len || !memchr(in.ptr, quote, in.len))
		return in;
	for (p = in.ptr; p < end; p++) {
		const char *q = memchr(p, quote, (size_t)(end - p));

		if (!q) {
			dtx_buf_addn(scratch, p, (size_t)(end - p));
			break;
		}
		dtx_buf_addn(scratch, p, (size_t)(q - p) + 1);
		p = q + 1 < end && q[1] == quote ? q + 1 : q;
	}
	if (!dtx_buf_ok(scratch))
		return (struct dtx_str){ "", 0 };
	return (struct dtx_str){ scratch->ptr + at, scratch->len - at };
}

struct dtx_str dtx_span_text(const char *base, struct dtx_span s, struct dtx_buf *scratch)
{
	return span_unquote(base, s, '"', scratch);
}

struct dtx_str dtx_cast_source(const struct dtx_column *c, uint32_t row, struct dtx_buf *scratch)
{
	return span_unquote(c->base, c->v.span[row], c->dialect.quote ? c->dialect.quote : '"',
	                    scratch);
}
