/* Equality keys and sort keys: see key.h.
 *
 * An equality key must be equal for equal values of different types, so each number is written in
 * one normal form: as an int64 if it is whole, as a float if it has at most 15 digits, else by its
 * digits and scale.  A date is written as the datetime of its midnight.
 *
 * A sort key must have the order of its value under memcmp.  Integers are written big endian with
 * the sign bit inverted.  The bits of a negative float are all inverted, because its magnitude
 * grows downwards.  A text ends with a mark that sorts before anything that a longer text has
 * there.  For a descending order all bytes of the value are inverted, but not the byte before it
 * that sets nulls apart, so nulls are last in both directions. */
#include "core/data/key.h"

#include <math.h>

#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

/* The first byte of a value.  Types whose values can be equal share a tag. */
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

/* Whole numbers are written as ints, numbers of up to 15 digits as the float that they equal,
 * others by their digits. */
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

/* --- many rows: the usual types without a call and a check of room per cell --- */

#define KEY_CELL                                                                                   \
	(1 + sizeof(uint32_t) + DTX_TEXT_INLINE) /* most bytes of a cell, except for long texts */

static bool key_is_plain(const struct dtx_column *c)
{
	return c->form == DTX_F_FLAT &&
	       (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_TEXT ||
	        c->type.type == DTX_T_DATE || c->type.type == DTX_T_DATETIME);
}

/* The most bytes that the keys of n rows need; 0 if a column is not of a plain type. */
static size_t key_bytes_max(struct dtx_column *const *col, size_t ncols, const uint16_t *sel,
                            uint32_t from, uint32_t n)
{
	size_t bytes = (size_t)n * ncols * KEY_CELL + KEY_CELL;

	for (size_t k = 0; k < ncols; k++) {
		if (!key_is_plain(col[k]))
			return 0;
		if (col[k]->type.type != DTX_T_TEXT)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t len = col[k]->v.text[sel ? sel[from + i] : from + i].len;

			bytes += len > DTX_TEXT_INLINE ? len : 0;
		}
	}
	return bytes;
}

static inline char *key_put_word(char *p, enum key_tag tag, int64_t v)
{
	*p = (char)tag;
	memcpy(p + 1, &v, sizeof(v));
	return p + 1 + sizeof(v);
}

/* Writes the length and the bytes of a short text as they are in the view.  It always copies all
 * inline bytes; the next cell overwrites those that are too many. */
static inline char *key_put_text(char *p, const struct dtx_text *t)
{
	*p = KEY_TEXT;
	memcpy(p + 1, t, sizeof(*t));
	if (t->len > DTX_TEXT_INLINE)
		memcpy(p + 1 + sizeof(t->len), t->u.ptr, t->len);
	return p + 1 + sizeof(t->len) + t->len;
}

static inline char *key_put(char *p, const struct dtx_column *c, uint32_t row)
{
	if (c->valid && !dtx_bit(c->valid, row)) {
		*p = KEY_NULL;
		return p + 1;
	}
	switch (c->type.type) {
	case DTX_T_TEXT: return key_put_text(p, &c->v.text[row]);
	case DTX_T_INT64: return key_put_word(p, KEY_INT, c->v.i64[row]);
	case DTX_T_DATE: return key_put_word(p, KEY_MOMENT, c->v.day[row] * DTX_DAY_US);
	default: return key_put_word(p, KEY_MOMENT, c->v.i64[row]);
	}
}

void dtx_key_equal_rows(struct dtx_column *const *col, size_t ncols, const uint16_t *sel,
                        uint32_t from, uint32_t n, struct dtx_buf *out, size_t *end)
{
	size_t most = key_bytes_max(col, ncols, sel, from, n);
	char *p;

	for (uint32_t i = 0; !most && i < n; i++) {
		dtx_key_equal(col, ncols, sel ? sel[from + i] : from + i, out);
		end[i] = out->len;
	}
	if (!most || !dtx_buf_room(out, most))
		return;
	p = out->ptr + out->len;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = sel ? sel[from + i] : from + i;

		for (size_t k = 0; k < ncols; k++)
			p = key_put(p, col[k], row);
		end[i] = (size_t)(p - out->ptr);
	}
	out->len = (size_t)(p - out->ptr);
}

/* --- from keys back to values --- */

bool dtx_key_is_reversible(enum dtx_type type)
{
	return type == DTX_T_INT64 || type == DTX_T_TEXT || type == DTX_T_DATE ||
	       type == DTX_T_DATETIME;
}

/* Reads the value at *at, which moves past it.  False: null. */
static inline bool key_take_word(const char **at, int64_t *v)
{
	bool null = **at == KEY_NULL;

	*v = 0;
	if (!null)
		memcpy(v, *at + 1, sizeof(*v));
	*at += null ? 1 : 1 + sizeof(*v);
	return !null;
}

static void key_take_words(const char **at, uint32_t n, struct dtx_builder *out, int64_t *to)
{
	for (uint32_t i = 0; i < n; i++)
		if (!key_take_word(&at[i], &to[i]))
			dtx_builder_absent(out, i);
}

static void key_take_days(const char **at, uint32_t n, struct dtx_builder *out, int32_t *to)
{
	int64_t v;

	for (uint32_t i = 0; i < n; i++) {
		if (!key_take_word(&at[i], &v))
			dtx_builder_absent(out, i);
		to[i] = (int32_t)(v / DTX_DAY_US);
	}
}

static void key_take_texts(const char **at, uint32_t n, struct dtx_builder *out,
                           struct dtx_text *to)
{
	uint32_t len;

	for (uint32_t i = 0; i < n; i++) {
		if (*at[i] == KEY_NULL) {
			at[i]++;
			to[i] = dtx_text_of("", 0);
			dtx_builder_absent(out, i);
			continue;
		}
		memcpy(&len, at[i] + 1, sizeof(len));
		to[i] = dtx_builder_keep(out, (struct dtx_str){ at[i] + 1 + sizeof(len), len });
		at[i] += 1 + sizeof(len) + len;
	}
}

void dtx_key_values(const char **at, uint32_t n, struct dtx_builder *out)
{
	void *to = dtx_builder_bulk(out, n);

	if (!to)
		return;
	if (out->type.type == DTX_T_TEXT)
		key_take_texts(at, n, out, to);
	else if (out->type.type == DTX_T_DATE)
		key_take_days(at, n, out, to);
	else
		key_take_words(at, n, out, to);
}

/* --- order --- */

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

/* A zero byte becomes 0 255 and the end is 0 0, so that a prefix sorts first whatever follows
 * it. */
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

/* Runs of digits sort by value: '0', the number of digits, the digits without leading zeros. */
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
		/* The number of digits in base 255, without zero bytes: more digits sort higher. */
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
