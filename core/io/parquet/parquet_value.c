/* Values of Parquet's types as values of dtx, and columns of them. */
#include <math.h>
#include <stdio.h>

#include "core/base/text/le.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/parquet/parquet.h"

#define JULIAN_1970 2440588 /* the day of 1970-01-01 as INT96 counts days */
#define DAY_NS      ((int64_t)86400 * 1000 * 1000 * 1000)

static const char no_such_time[] = "it is not within the years 1 to 9999";

/* --- numbers --- */

static const char *put_float(double v, struct dtx_pq_counts *counts, struct dtx_pq_value *out)
{
	out->null = !isfinite(v);
	counts->not_finite += out->null;
	out->v.f = v;
	return NULL;
}

/* IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction. */
static double half(const uint8_t *p)
{
	unsigned bits = dtx_le_u16(p), exponent = bits >> 10 & 31, fraction = bits & 1023;
	double v;

	if (exponent == 31)
		v = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent)
		v = ldexp(1024 + fraction, (int)exponent - 25);
	else
		v = ldexp(fraction, -24);
	return bits & 0x8000 ? -v : v;
}

/* A decimal in bytes, the highest first, in two's complement. */
static const char *decimal_of(struct dtx_str s, dtx_i128 *out)
{
	const uint8_t *p = (const uint8_t *)s.ptr;
	uint8_t fill = s.len && (p[0] & 0x80) ? 0xff : 0;
	dtx_u128 v = fill ? ~(dtx_u128)0 : 0;
	size_t i;

	if (!s.len)
		return "it is a decimal without bytes";
	for (i = 0; i + 16 < s.len; i++)
		if (p[i] != fill)
			return "it has more digits than its type";
	if (i && ((p[i] ^ fill) & 0x80))
		return "it has more digits than its type";
	for (; i < s.len; i++)
		v = v << 8 | p[i];
	*out = (dtx_i128)v;
	return NULL;
}

static const char *put_decimal(const struct dtx_pq_node *n, union dtx_pq_values v, uint32_t i,
                               struct dtx_pq_value *out)
{
	const char *bad = NULL;
	dtx_i128 d = 0;

	if (n->type == DTX_PQ_INT32 || n->type == DTX_PQ_INT64)
		d = v.i[i];
	else
		bad = decimal_of(v.s[i], &d);
	if (!bad && !dtx_dec_fits(d, n->precision))
		bad = "it has more digits than its type";
	out->v.dec = dtx_dec_put(d);
	return bad;
}

/* --- times --- */

/* A time in units as microseconds, towards the past. Counts what is lost. */
static const char *put_stamp(dtx_i128 units, uint32_t per_second, struct dtx_pq_counts *counts,
                             struct dtx_pq_value *out)
{
	dtx_i128 us = units, rest = 0;

	if (per_second < 1000 * 1000) {
		us = units * (1000 * 1000 / per_second);
	} else if (per_second > 1000 * 1000) {
		us = units / (per_second / (1000 * 1000));
		rest = units % (per_second / (1000 * 1000));
		us -= rest < 0;
	}
	if (us != (int64_t)us || !dtx_us_ok((int64_t)us))
		return no_such_time;
	counts->cut += rest != 0;
	out->v.i = (int64_t)us;
	return NULL;
}

/* Nanoseconds of the day, then the day. */
static const char *put_int96(struct dtx_str s, struct dtx_pq_counts *counts,
                             struct dtx_pq_value *out)
{
	const uint8_t *p = (const uint8_t *)s.ptr;
	dtx_i128 ns = (int64_t)dtx_le_u64(p);
	int64_t day = (int64_t)(int32_t)dtx_le_u32(p + 8) - JULIAN_1970;

	return put_stamp((dtx_i128)day * DAY_NS + ns, 1000 * 1000 * 1000, counts, out);
}

static const char *put_time(int64_t units, uint32_t per_second, struct dtx_pq_value *out)
{
	int64_t second = units / per_second;
	uint32_t rest = (uint32_t)(units % per_second);
	int digits = per_second == 1000 ? 3 : per_second == 1000 * 1000 ? 6 : 9;
	int n;

	if (units < 0 || second > 86400 || (second == 86400 && rest))
		return "it is not a time of a day";
	n = snprintf(out->text, sizeof(out->text), "%02d:%02d:%02d", (int)(second / 3600),
	             (int)(second / 60 % 60), (int)(second % 60));
	if (rest) {
		n += snprintf(out->text + n, sizeof(out->text) - (size_t)n, ".%0*u", digits, rest);
		while (out->text[n - 1] == '0')
			n--;
	}
	out->v.s = (struct dtx_str){ out->text, (size_t)n };
	return NULL;
}

/* --- texts --- */

static const char *put_text(struct dtx_str s, struct dtx_pq_value *out)
{
	out->v.s = s;
	return dtx_utf8_bad(s.ptr, s.len) >= 0 ? "it is not UTF-8" : NULL;
}

/* Bytes that the schema does not call text are read as text only if all of them are printable
 * UTF-8. */
static const char *put_bytes(struct dtx_str s, struct dtx_pq_value *out)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if ((uint8_t)s.ptr[i] < 0x20 && !memchr("\t\n\r", s.ptr[i], 3))
			return "its bytes are not text";
	return put_text(s, out) ? "its bytes are not text" : NULL;
}

static const char *put_uuid(struct dtx_str s, struct dtx_pq_value *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i, n = 0;

	for (i = 0; i < 16; i++) {
		uint8_t b = (uint8_t)s.ptr[i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			out->text[n++] = '-';
		out->text[n++] = digits[b >> 4];
		out->text[n++] = digits[b & 15];
	}
	out->v.s = (struct dtx_str){ out->text, n };
	return NULL;
}

/* --- all of them --- */

const char *dtx_pq_convert(const struct dtx_pq_node *n, union dtx_pq_values v, uint32_t i,
                           struct dtx_pq_counts *counts, struct dtx_pq_value *out)
{
	out->null = false;
	switch (n->as) {
	case DTX_PQ_AS_BOOL: out->v.b = v.i[i] != 0; return NULL;
	case DTX_PQ_AS_INT:
		out->v.i = n->is_unsigned ? (int64_t)(uint32_t)v.i[i] : v.i[i];
		return NULL;
	case DTX_PQ_AS_UINT: out->v.dec = dtx_dec_put((dtx_i128)(uint64_t)v.i[i]); return NULL;
	case DTX_PQ_AS_FLOAT: return put_float(v.f[i], counts, out);
	case DTX_PQ_AS_HALF: return put_float(half((const uint8_t *)v.s[i].ptr), counts, out);
	case DTX_PQ_AS_DECIMAL: return put_decimal(n, v, i, out);
	case DTX_PQ_AS_DATE: out->v.i = v.i[i]; return dtx_day_ok(v.i[i]) ? NULL : no_such_time;
	case DTX_PQ_AS_TIME: return put_time(v.i[i], n->per_second, out);
	case DTX_PQ_AS_STAMP: return put_stamp(v.i[i], n->per_second, counts, out);
	case DTX_PQ_AS_INT96: return put_int96(v.s[i], counts, out);
	case DTX_PQ_AS_TEXT: return put_text(v.s[i], out);
	case DTX_PQ_AS_BYTES: return put_bytes(v.s[i], out);
	case DTX_PQ_AS_UUID: return put_uuid(v.s[i], out);
	default: return "dtx has no such type";
	}
}

enum dtx_code dtx_pq_bad_value(const struct dtx_pq_cursor *c, const char *column, int64_t row,
                               const char *what, struct dtx_err *err)
{
	bool bytes = c->node->as == DTX_PQ_AS_BYTES;
	bool text = c->node->as == DTX_PQ_AS_TEXT;
	enum dtx_code code = bytes  ? DTX_E_UNSUPPORTED_FORMAT
	                     : text ? DTX_E_BAD_ENCODING
	                            : DTX_E_OVERFLOW;

	dtx_err_set(err, code, __FILE__, __LINE__, "'%s': column '%.100s', row %lld: %s",
	            c->f->label, column, (long long)row + 1, what);
	dtx_err_hint(err,
	             "leave the column out, with \"extra\": \"drop\" or a select as first step");
	dtx_err_row(err, row, column);
	return code;
}

static void put(struct dtx_builder *b, const struct dtx_pq_value *v)
{
	if (v->null) {
		dtx_builder_null(b);
		return;
	}
	switch (b->type.type) {
	case DTX_T_BOOL: dtx_builder_bool(b, v->v.b); break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: dtx_builder_i64(b, v->v.i); break;
	case DTX_T_DATE: dtx_builder_day(b, (int32_t)v->v.i); break;
	case DTX_T_FLOAT64: dtx_builder_f64(b, v->v.f); break;
	case DTX_T_DECIMAL: dtx_builder_dec(b, v->v.dec); break;
	default: dtx_builder_text(b, v->v.s);
	}
}

/* Adds the entries of a slice, of which each is a row. */
static enum dtx_code add_slice(struct dtx_pq_cursor *c, const char *name, int64_t row,
                               struct dtx_pq_counts *counts, struct dtx_builder *b,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_value v;
	const char *bad;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		if (c->defs[i] < c->node->max_def) {
			dtx_builder_null(b);
			continue;
		}
		bad = dtx_pq_convert(c->node, c->v, c->at_value++, counts, &v);
		if (bad) {
			rc = dtx_pq_bad_value(c, name, row + i, bad, err);
			goto out;
		}
		if (b->type.type == DTX_T_TEXT && v.v.s.len > c->f->limits->text) {
			rc = dtx_archive_limits_fail(err, c->f->limits, "text",
			                             "'%s': column '%.100s', row %lld: a text of "
			                             "%zu bytes",
			                             c->f->label, name, (long long)(row + i) + 1,
			                             v.v.s.len);
			goto out;
		}
		put(b, &v);
	}
	c->at_entry = c->n;
out:
	return rc;
}

enum dtx_code dtx_pq_flat(struct dtx_pq_cursor *c, const char *name, int64_t row, uint32_t rows,
                          struct dtx_pq_counts *counts, struct dtx_column **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;
	uint32_t done = 0;

	dtx_builder_init(&b, c->node->as_type, rows);
	while (done < rows) {
		DTX_TRY(dtx_pq_cursor_fill(c, rows - done, err));
		if (!c->n) {
			rc = dtx_pq_corrupt(c, "it has fewer values than its row group has rows",
			                    err);
			goto out;
		}
		DTX_TRY(add_slice(c, name, row + done, counts, &b, err));
		done += c->n;
	}
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_builder_clear(&b);
	return rc;
}
