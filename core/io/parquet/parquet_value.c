/* Values of Parquet's types as values of dtx, and columns of them. */
#include <math.h>
#include <stdio.h>

#include "core/base/text/le.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/data/frame/frame.h"
#include "core/data/time/time.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/parquet/parquet.h"

#define JULIAN_1970 2440588 /* the day of 1970-01-01 as INT96 counts days */
#define DAY_NS      ((int64_t)86400 * 1000 * 1000 * 1000)

const char dtx_pq_no_such_time[] = "it is not within the years 1 to 9999";

/* --- numbers --- */

static const char *put_float(double v, struct dtx_typed_counts *counts, struct dtx_pq_value *out)
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
static const char *put_stamp(dtx_i128 units, uint32_t per_second, struct dtx_typed_counts *counts,
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
		return dtx_pq_no_such_time;
	counts->cut += rest != 0;
	out->v.i = (int64_t)us;
	return NULL;
}

/* Nanoseconds of the day, then the day. */
static const char *put_int96(struct dtx_str s, struct dtx_typed_counts *counts,
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
                           struct dtx_typed_counts *counts, struct dtx_pq_value *out)
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
	case DTX_PQ_AS_DATE:
		out->v.i = v.i[i];
		return dtx_day_ok(v.i[i]) ? NULL : dtx_pq_no_such_time;
	case DTX_PQ_AS_TIME: return put_time(v.i[i], n->per_second, out);
	case DTX_PQ_AS_STAMP: return put_stamp(v.i[i], n->per_second, counts, out);
	case DTX_PQ_AS_INT96: return put_int96(v.s[i], counts, out);
	case DTX_PQ_AS_TEXT: return put_text(v.s[i], out);
	case DTX_PQ_AS_BYTES: return put_bytes(v.s[i], out);
	case DTX_PQ_AS_UUID: return put_uuid(v.s[i], out);
	case DTX_PQ_AS_NULL: return "a value of a type that has none";
	default: return "dtx has no such type";
	}
}

enum dtx_code dtx_pq_bad_value(const char *label, const struct dtx_pq_node *n, const char *column,
                               int64_t row, const char *what, struct dtx_err *err)
{
	bool bytes = n->as == DTX_PQ_AS_BYTES;
	bool text = n->as == DTX_PQ_AS_TEXT;
	enum dtx_code code = bytes  ? DTX_E_UNSUPPORTED_FORMAT
	                     : text ? DTX_E_BAD_ENCODING
	                            : DTX_E_OVERFLOW;

	dtx_err_set(err, code, __FILE__, __LINE__, "'%s': column '%.100s', row %lld: %s", label,
	            column, (long long)row + 1, what);
	dtx_err_hint(err,
	             "leave the column out, with \"extra\": \"drop\" or a select as first step");
	dtx_err_row(err, row, column);
	return code;
}

void dtx_pq_put(struct dtx_builder *b, const struct dtx_pq_value *v)
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

/* --- columns --- */

/* A column that is being made of the entries of a leaf. */
struct flat {
	struct dtx_pq_cursor *c;
	const char *name;
	int64_t row; /* of the file, where the column begins */
	uint32_t rows, done;
	size_t bytes, used; /* of its texts: how many there may be, and how many there are */
	struct dtx_typed_counts *counts;
	struct dtx_builder b;
	union { /* the values of the builder, if they are made in bulk */
		void *any;
		int64_t *i;
		double *f;
		struct dtx_text *text;
	} to;
};

static enum dtx_code too_few(const struct flat *f, struct dtx_err *err)
{
	return dtx_pq_corrupt(f->c, "it has fewer values than its row group has rows", err);
}

static enum dtx_code check_text(const struct flat *f, struct dtx_str s, uint32_t row,
                                struct dtx_err *err)
{
	if (s.len <= f->c->f->limits->text)
		return DTX_OK;
	return dtx_archive_limits_fail(err, f->c->f->limits, "text",
	                               "'%s': column '%.100s', row %lld: a text of %zu bytes",
	                               f->c->f->label, f->name, (long long)(f->row + row) + 1,
	                               s.len);
}

/* Adds the entries of the slice one by one, of which each is a row. */
static enum dtx_code add_slice(struct flat *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;
	struct dtx_pq_value v;
	const char *bad;

	for (; c->at_entry < c->n; c->at_entry++, f->done++) {
		if (!c->whole && c->defs[c->at_entry] < c->node->max_def) {
			dtx_builder_null(&f->b);
			continue;
		}
		bad = dtx_pq_convert(c->node, c->v, c->at_value++, f->counts, &v);
		if (bad) {
			rc = dtx_pq_bad_value(c->f->label, c->node, f->name, f->row + f->done, bad,
			                      err);
			goto out;
		}
		if (f->b.type.type == DTX_T_TEXT)
			DTX_TRY(check_text(f, v.v.s, f->done, err));
		dtx_pq_put(&f->b, &v);
	}
out:
	return rc;
}

static bool is_ascii(const struct dtx_text *t)
{
	uint64_t tail;
	uint32_t head;

	memcpy(&head, t->head, sizeof(head));
	memcpy(&tail, t->u.tail, sizeof(tail));
	return !(head & 0x80808080u) && !(tail & 0x8080808080808080u);
}

/* The same for texts that are in the file as such, as far as their bytes are not too many. */
static enum dtx_code add_texts(struct flat *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;
	bool bytes = c->node->as == DTX_PQ_AS_BYTES;
	struct dtx_pq_value v;
	const char *bad;

	for (; c->at_entry < c->n && f->used <= f->bytes; c->at_entry++, f->done++) {
		struct dtx_str s;

		if (!c->whole && c->defs[c->at_entry] < c->node->max_def) {
			f->to.text[f->done] = (struct dtx_text){ 0 };
			dtx_builder_absent(&f->b, f->done);
			continue;
		}
		s = c->v.s[c->at_value++];
		if (!bytes && s.len <= DTX_TEXT_INLINE) {
			struct dtx_text t = dtx_text_of(s.ptr, s.len);

			if (is_ascii(&t)) {
				f->to.text[f->done] = t;
				continue;
			}
		}
		bad = bytes ? put_bytes(s, &v) : put_text(s, &v);
		if (bad) {
			rc = dtx_pq_bad_value(c->f->label, c->node, f->name, f->row + f->done, bad,
			                      err);
			goto out;
		}
		DTX_TRY(check_text(f, s, f->done, err));
		f->to.text[f->done] = dtx_builder_keep(&f->b, s);
		f->used += s.len;
	}
out:
	return rc;
}

/* Reads slices until the column has its rows or its bytes. What is left of a slice is for the next
 * column. */
static enum dtx_code add_slices(struct flat *f, bool texts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;

	while (f->done < f->rows && f->used <= f->bytes) {
		if (c->at_entry == c->n) {
			DTX_TRY(dtx_pq_cursor_page(c, err));
			if (!c->page_left) {
				rc = too_few(f, err);
				goto out;
			}
			DTX_TRY(dtx_pq_cursor_slice(c, f->rows - f->done, err));
		}
		DTX_TRY(texts ? add_texts(f, err) : add_slice(f, err));
	}
out:
	return rc;
}

/* --- values of 8 bytes --- */

bool dtx_pq_is_word(const struct dtx_pq_node *n)
{
	return n->as == DTX_PQ_AS_INT || n->as == DTX_PQ_AS_FLOAT || n->as == DTX_PQ_AS_STAMP;
}

/* Makes n floats finite or null; -0.0 becomes 0.0. */
static void fix_floats(struct dtx_builder *b, double *v, uint32_t at, uint32_t n,
                       struct dtx_typed_counts *counts)
{
	const uint64_t exponent = (uint64_t)0x7ff << 52;
	uint64_t odd = 0, bits;
	uint32_t i;

	for (i = 0; i < n; i++) {
		v[i] += 0.0;
		memcpy(&bits, &v[i], sizeof(bits));
		/* an exponent of ones is infinite, or not a number: one more is the sign */
		odd |= (bits & exponent) + ((uint64_t)1 << 52);
	}
	for (i = 0; odd >> 63 && i < n; i++) {
		if (isfinite(v[i]))
			continue;
		v[i] = 0;
		counts->not_finite++;
		dtx_builder_absent(b, at + i);
	}
}

/* Makes n times microseconds. Returns the first that has no place in a datetime, or n. */
static uint32_t fix_stamps(uint32_t per_second, int64_t *v, uint32_t n,
                           struct dtx_typed_counts *counts)
{
	struct dtx_pq_value made;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (per_second == 1000 * 1000 * 1000) {
			int64_t us = v[i] / 1000, rest = v[i] % 1000;

			counts->cut += rest != 0;
			v[i] = us - (rest < 0);
		} else if (per_second != 1000 * 1000) {
			if (put_stamp(v[i], per_second, counts, &made))
				return i;
			v[i] = made.v.i;
		}
		if (!dtx_us_ok(v[i]))
			return i;
	}
	return n;
}

uint32_t dtx_pq_fix_words(const struct dtx_pq_node *node, struct dtx_builder *b, void *values,
                          uint32_t at, uint32_t n, struct dtx_typed_counts *counts)
{
	int64_t *v = values;
	uint32_t i;

	if (node->as == DTX_PQ_AS_FLOAT) {
		fix_floats(b, values, at, n, counts);
	} else if (node->as == DTX_PQ_AS_STAMP) {
		return fix_stamps(node->per_second, v, n, counts);
	} else if (node->is_unsigned) {
		for (i = 0; i < n; i++)
			v[i] = (uint32_t)v[i];
	}
	return n;
}

/* Converts the next n values, which are in place. */
static enum dtx_code fix_words(struct flat *f, uint32_t n, struct dtx_err *err)
{
	const struct dtx_pq_node *node = f->c->node;
	uint32_t i = dtx_pq_fix_words(node, &f->b, f->to.i + f->done, f->done, n, f->counts);

	if (i == n)
		return DTX_OK;
	return dtx_pq_bad_value(f->c->f->label, node, f->name, f->row + f->done + i,
	                        dtx_pq_no_such_time, err);
}

/* Moves values to their rows, of which some are null. */
static void scatter(struct flat *f, uint32_t n)
{
	struct dtx_pq_cursor *c = f->c;
	int64_t *to = f->to.i + f->done;
	uint32_t i, k = 0;

	for (i = 0; i < n; i++) {
		to[i] = 0;
		if (c->defs[i] == c->node->max_def)
			to[i] = c->v.i[k++];
		else
			dtx_builder_absent(&f->b, f->done + i);
	}
}

static enum dtx_code add_words(struct flat *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;
	union dtx_pq_values to;
	uint32_t n, values;
	const char *bad;

	for (; f->done < f->rows; f->done += n) {
		DTX_TRY(dtx_pq_cursor_page(c, err));
		if (!c->page_left) {
			rc = too_few(f, err);
			goto out;
		}
		to.i = f->to.i + f->done;
		n = values = dtx_pq_cursor_whole(c, f->rows - f->done);
		if (!n) {
			DTX_TRY(dtx_pq_cursor_levels(c, f->rows - f->done, &n, &values, err));
			to = c->v;
		}
		bad = dtx_pq_decode(&c->values, to, values);
		if (bad) {
			rc = dtx_pq_corrupt(c, bad, err);
			goto out;
		}
		if (to.any == c->v.any)
			scatter(f, n);
		DTX_TRY(fix_words(f, n, err));
	}
out:
	return rc;
}

/* --- dictionaries --- */

static void make_texts(struct flat *f, struct dtx_builder *b)
{
	struct dtx_pq_dict *d = &f->c->dict;
	bool bytes = f->c->node->as == DTX_PQ_AS_BYTES;
	struct dtx_pq_value v;
	uint32_t i;

	for (i = 0; i < d->n && !d->unfit; i++) {
		struct dtx_str s = d->v.s[i];

		d->unfit = s.len > f->c->f->limits->text ||
		           (bytes ? put_bytes(s, &v) : put_text(s, &v));
		d->text_bytes += s.len;
		dtx_builder_text(b, s);
	}
}

/* Numbers that are changed are counted per row, so a dictionary with such a number is not used. */
static enum dtx_code make_numbers(struct flat *f, struct dtx_builder *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_dict *d = &f->c->dict;
	struct dtx_typed_counts counts = { 0 };
	int64_t *to = dtx_builder_bulk(b, d->n);

	if (!to)
		DTX_FAIL_MEM(err);
	memcpy(to, d->v.i, d->n * sizeof(*to));
	d->unfit = dtx_pq_fix_words(f->c->node, b, to, 0, d->n, &counts) < d->n ||
	           counts.not_finite || counts.cut;
	b->len = d->n;
out:
	return rc;
}

/* Makes the column of a dictionary's values, once for its chunk; none if one of them cannot be
 * read: the rows that have it are found where its codes are read one by one. */
static enum dtx_code make_dictionary(struct flat *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_dict *d = &f->c->dict;
	bool numbers = dtx_pq_is_word(f->c->node);
	struct dtx_builder b;

	dtx_builder_init(&b, f->c->node->as_type, d->n);
	d->unfit = !d->n || (numbers && d->n > DTX_FRAME_NARROW_MAX);
	if (!d->unfit && numbers)
		DTX_TRY(make_numbers(f, &b, err));
	else if (!d->unfit)
		make_texts(f, &b);
	if (!d->unfit)
		DTX_TRY(dtx_builder_finish(&b, NULL, &d->column, err));
out:
	dtx_builder_clear(&b);
	return rc;
}

/* Whether the next values are codes of a dictionary that can be a column. */
static enum dtx_code look_coded(struct flat *f, bool *coded, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;

	*coded = false;
	if (c->at_entry < c->n)
		goto out;
	DTX_TRY(dtx_pq_cursor_page(c, err));
	if (!c->page_left || !dtx_pq_decoder_coded(&c->values))
		goto out;
	if (!c->dict.column && !c->dict.unfit)
		DTX_TRY(make_dictionary(f, err));
	*coded = c->dict.column != NULL;
out:
	return rc;
}

/* Codes of the next entries of the page. A null has code 0. */
static enum dtx_code add_codes(struct flat *f, uint32_t *code, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_cursor *c = f->c;
	uint32_t some[DTX_PQ_SLICE], n, values, i, k = 0;
	const char *bad;

	n = dtx_pq_cursor_whole(c, f->rows - f->done);
	if (n) {
		bad = dtx_pq_decode_codes(&c->values, code, n);
	} else {
		DTX_TRY(dtx_pq_cursor_levels(c, f->rows - f->done, &n, &values, err));
		bad = dtx_pq_decode_codes(&c->values, some, values);
		for (i = 0; i < n && !bad; i++) {
			bool null = c->defs[i] < c->node->max_def;

			code[i] = null ? 0 : some[k++];
			if (null)
				dtx_builder_absent(&f->b, f->done + i);
		}
	}
	if (bad)
		rc = dtx_pq_corrupt(c, bad, err);
	f->done += n;
out:
	return rc;
}

/* Makes a DICT column of codes, which are a column of values of 4 bytes. */
static enum dtx_code join_codes(const struct dtx_column *code, struct dtx_column *dict,
                                struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c =
		dtx_column_new(DTX_F_DICT, dict->type, code->len, dtx_owner_ref(code->owner));

	if (!c)
		DTX_FAIL_MEM(err);
	c->v.any = code->v.any;
	c->valid = code->valid;
	c->nulls = code->nulls;
	c->dict = dtx_column_ref(dict);
	*out = c;
out:
	return rc;
}

/* Makes a column of codes as far as pages have them: a dictionary column if that is smaller, as
 * numbers always are in a frame. */
static enum dtx_code make_coded(struct flat *f, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *code = NULL, *made = NULL;
	struct dtx_column *dict = f->c->dict.column;
	uint32_t *to;

	dtx_builder_init(&f->b, (struct dtx_typeref){ .type = DTX_T_DATE }, f->rows);
	to = dtx_builder_bulk(&f->b, f->rows);
	if (!to)
		DTX_FAIL_MEM(err);
	while (f->done < f->rows) {
		DTX_TRY(dtx_pq_cursor_page(f->c, err));
		if (!f->c->page_left) {
			rc = too_few(f, err);
			goto out;
		}
		if (!dtx_pq_decoder_coded(&f->c->values))
			break;
		DTX_TRY(add_codes(f, to + f->done, err));
	}
	f->b.len = f->done;
	DTX_TRY(dtx_builder_finish(&f->b, NULL, &code, err));
	DTX_TRY(join_codes(code, dict, &made, err));
	if (dict->type.type != DTX_T_TEXT ||
	    (dict->len <= f->done / 2 && f->c->dict.text_bytes <= f->bytes)) {
		*out = made;
		made = NULL;
	} else {
		DTX_TRY(dtx_column_flat(made, out, err));
	}
out:
	dtx_column_unref(made);
	dtx_column_unref(code);
	return rc;
}

/* A column whose type has no values. */
static enum dtx_code make_nulls(struct flat *f, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n, values;

	for (; f->done < f->rows; f->done += n) {
		DTX_TRY(dtx_pq_cursor_page(f->c, err));
		if (!f->c->page_left) {
			rc = too_few(f, err);
			goto out;
		}
		DTX_TRY(dtx_pq_cursor_levels(f->c, f->rows - f->done, &n, &values, err));
		if (values) {
			rc = dtx_pq_corrupt(f->c, "it has values of a type that has none", err);
			goto out;
		}
	}
	DTX_TRY(dtx_column_nulls(f->c->node->as_type, f->rows, out, err));
out:
	return rc;
}

enum dtx_code dtx_pq_flat(struct dtx_pq_cursor *c, const char *name, int64_t row, uint32_t rows,
                          size_t bytes, struct dtx_typed_counts *counts, struct dtx_column **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct flat f = {
		.c = c, .name = name, .row = row, .rows = rows, .bytes = bytes, .counts = counts
	};
	bool texts = c->node->as == DTX_PQ_AS_TEXT || c->node->as == DTX_PQ_AS_BYTES;
	bool coded = false;

	dtx_builder_init(&f.b, c->node->as_type, rows);
	if (c->node->as == DTX_PQ_AS_NULL) {
		DTX_TRY(make_nulls(&f, out, err));
		goto out;
	}
	if (texts || (c->coded && dtx_pq_is_word(c->node)))
		DTX_TRY(look_coded(&f, &coded, err));
	if (coded) {
		DTX_TRY(make_coded(&f, out, err));
		goto out;
	}
	if (texts || dtx_pq_is_word(c->node)) {
		f.to.any = dtx_builder_bulk(&f.b, rows);
		if (!f.to.any)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_pq_is_word(c->node) ? add_words(&f, err) : add_slices(&f, texts, err));
	f.b.len = f.done;
	DTX_TRY(dtx_builder_finish(&f.b, NULL, out, err));
out:
	dtx_builder_clear(&f.b);
	return rc;
}
