/* Equality keys and sort keys. */
#include "core/data/key.h"

#include <math.h>

#include "core/base/utf8.h"
#include "core/data/decimal.h"
#include "core/data/time.h"

/* First byte of a value: what compares equal across types shares a tag. */
enum key_tag { KEY_NULL, KEY_BOOL, KEY_INT, KEY_FLOAT, KEY_DECIMAL, KEY_MOMENT, KEY_TEXT };

static void key_word(struct dtx_buf *out, enum key_tag tag, const void *bytes, size_t n)
{
	char *p;

	if (!dtx_buf_room(out, n + 1))
		return;
	p = out->ptr + out->len;
	p[0] = (char)tag;
	memcpy(p + 1, bytes, n);
	out->len += n + 1;
}

static void key_i64(struct dtx_buf *out, enum key_tag tag, int64_t v)
{
	key_word(out, tag, &v, sizeof(v));
}

static void key_f64(struct dtx_buf *out, double v)
{
	if (v == trunc(v) && v >= -0x1p63 && v < 0x1p63)
		key_i64(out, KEY_INT, (int64_t)v);
	else
		key_word(out, KEY_FLOAT, &v, sizeof(v));
}

/* Whole numbers as ints, up to 15 digits as the float they equal, others by their digits. */
static void key_dec(struct dtx_buf *out, dtx_i128 v, unsigned scale)
{
	struct {
		dtx_i128 v;
		uint64_t scale;
	} whole;
	dtx_i128 digits;

	for (; scale && v % 10 == 0; scale--)
		v /= 10;
	for (digits = v; digits && digits % 10 == 0;)
		digits /= 10;
	if (!scale && v >= INT64_MIN && v <= INT64_MAX) {
		key_i64(out, KEY_INT, (int64_t)v);
	} else if (dtx_dec_fits(digits, 15)) {
		key_f64(out, dtx_dec_to_f64(dtx_dec_put(v), scale));
	} else {
		memset(&whole, 0, sizeof(whole));
		whole.v = v;
		whole.scale = scale;
		key_word(out, KEY_DECIMAL, &whole, sizeof(whole));
	}
}

static void key_text(struct dtx_buf *out, struct dtx_str s)
{
	uint32_t len = (uint32_t)s.len;

	key_word(out, KEY_TEXT, &len, sizeof(len));
	dtx_buf_adds(out, s);
}

static void key_equal_one(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	if (dtx_column_is_null(c, row)) {
		dtx_buf_addc(out, KEY_NULL);
		return;
	}
	if (c->type.type == DTX_T_TEXT) {
		key_text(out, dtx_column_text(c, row));
		return;
	}
	if (c->form == DTX_F_CONST)
		row = 0;
	switch (c->type.type) {
	case DTX_T_BOOL: key_word(out, KEY_BOOL, dtx_bit(c->v.bits, row) ? "\1" : "\0", 1); break;
	case DTX_T_INT64: key_i64(out, KEY_INT, c->v.i64[row]); break;
	case DTX_T_FLOAT64: key_f64(out, c->v.f64[row]); break;
	case DTX_T_DECIMAL: key_dec(out, dtx_dec_get(c->v.dec[row]), c->type.scale); break;
	case DTX_T_DATE: key_i64(out, KEY_MOMENT, c->v.day[row] * DTX_DAY_US); break;
	case DTX_T_DATETIME: key_i64(out, KEY_MOMENT, c->v.i64[row]); break;
	default: dtx_buf_addc(out, KEY_NULL); break;
	}
}

void dtx_key_equal(struct dtx_column *const *col, size_t n, uint32_t row, struct dtx_buf *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		key_equal_one(col[i], row, out);
}

static void key_big_endian(struct dtx_buf *out, uint64_t v)
{
	v = __builtin_bswap64(v);
	dtx_buf_addn(out, &v, sizeof(v));
}

#define KEY_SIGN ((uint64_t)1 << 63)

static void key_sort_f64(struct dtx_buf *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	key_big_endian(out, bits & KEY_SIGN ? ~bits : bits | KEY_SIGN);
}

/* 0 becomes 0 255 and the end is 0 0, so that a prefix comes first whatever follows. */
static void key_sort_bytes(struct dtx_buf *out, struct dtx_str s)
{
	while (s.len) {
		const char *zero = memchr(s.ptr, 0, s.len);
		size_t n = zero ? (size_t)(zero - s.ptr) : s.len;

		dtx_buf_addn(out, s.ptr, n);
		if (zero)
			dtx_buf_addn(out, "\0\xff", 2);
		n += zero != NULL;
		s = (struct dtx_str){ s.ptr + n, s.len - n };
	}
	dtx_buf_addn(out, "\0", 2);
}

/* Runs of digits by value: '0', how many digits, the digits without leading zeros. */
static void key_natural(struct dtx_buf *out, struct dtx_str s)
{
	size_t i = 0;

	while (i < s.len) {
		size_t end = i, n;

		if (s.ptr[i] < '0' || s.ptr[i] > '9') {
			dtx_buf_addc(out, s.ptr[i++]);
			continue;
		}
		while (end < s.len && s.ptr[end] >= '0' && s.ptr[end] <= '9')
			end++;
		while (i + 1 < end && s.ptr[i] == '0')
			i++;
		n = end - i;
		dtx_buf_addc(out, '0');
		/* The count in base 255 from 1 up: more digits sort higher, no zero byte. */
		for (; n > 254; n -= 254)
			dtx_buf_addc(out, (char)255);
		dtx_buf_addc(out, (char)n);
		dtx_buf_addn(out, s.ptr + i, end - i);
		i = end;
	}
}

static void key_sort_text(struct dtx_buf *out, struct dtx_str s, enum dtx_collate collate)
{
	struct dtx_buf folded = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (collate == DTX_COLLATE_NOCASE)
		dtx_utf8_fold(&folded, s);
	else if (collate == DTX_COLLATE_NATURAL)
		key_natural(&folded, s);
	if (!dtx_buf_ok(&folded))
		out->fail = folded.fail;
	if (collate != DTX_COLLATE_BINARY)
		key_sort_bytes(out, (struct dtx_str){ folded.ptr, folded.len });
	key_sort_bytes(out, s);
	dtx_buf_clear(&folded);
}

static void key_sort_value(const struct dtx_column *c, enum dtx_collate collate, uint32_t row,
                           struct dtx_buf *out)
{
	if (c->type.type == DTX_T_TEXT) {
		key_sort_text(out, dtx_column_text(c, row), collate);
		return;
	}
	if (c->form == DTX_F_CONST)
		row = 0;
	switch (c->type.type) {
	case DTX_T_BOOL: dtx_buf_addc(out, dtx_bit(c->v.bits, row)); break;
	case DTX_T_DATE: key_big_endian(out, (uint64_t)c->v.day[row] ^ KEY_SIGN); break;
	case DTX_T_FLOAT64: key_sort_f64(out, c->v.f64[row]); break;
	case DTX_T_DECIMAL:
		key_big_endian(out, (uint64_t)c->v.dec[row].hi ^ KEY_SIGN);
		key_big_endian(out, c->v.dec[row].lo);
		break;
	default: key_big_endian(out, (uint64_t)c->v.i64[row] ^ KEY_SIGN); break;
	}
}

void dtx_key_sort(const struct dtx_column *col, struct dtx_key_order order, uint32_t row,
                  struct dtx_buf *out)
{
	size_t i;

	if (dtx_column_is_null(col, row)) {
		dtx_buf_addc(out, order.nulls_first ? 0 : 2);
		return;
	}
	dtx_buf_addc(out, 1);
	i = out->len;
	key_sort_value(col, order.collate, row, out);
	if (!order.desc)
		return;
	for (; i < out->len; i++)
		out->ptr[i] = (char)~out->ptr[i];
}
