/* Reads records, and texts that continue in the next record. */
#include "core/base/text/utf8.h"
#include "core/io/sheet/xls/biff.h"

enum { HEADER = 4, FLAG_WIDE = 1, FLAG_EXT = 4, FLAG_RICH = 8 };

bool dtx_biff_record(const uint8_t *stream, size_t end, size_t at, struct dtx_biff_rec *out)
{
	size_t len;

	if (end < HEADER || at > end - HEADER)
		return false;
	len = dtx_le_u16(stream + at + 2);
	if (len > end - HEADER - at)
		return false;
	*out = (struct dtx_biff_rec){ dtx_le_u16(stream + at), len, at, at + HEADER + len,
		                      stream + at + HEADER };
	return true;
}

void dtx_biff_bytes_init(struct dtx_biff_bytes *b, const uint8_t *stream, size_t end,
                         const struct dtx_biff_rec *rec)
{
	*b = (struct dtx_biff_bytes){ stream, end, rec->data, rec->len, rec->next };
}

bool dtx_biff_bytes_more(struct dtx_biff_bytes *b)
{
	struct dtx_biff_rec rec;

	while (!b->left) {
		if (!dtx_biff_record(b->stream, b->end, b->next, &rec) ||
		    rec.type != DTX_BIFF_CONTINUE)
			return false;
		b->ptr = rec.data;
		b->left = rec.len;
		b->next = rec.next;
	}
	return true;
}

/* Skips n bytes, or copies them if `to` is not NULL. */
static bool pass(struct dtx_biff_bytes *b, uint8_t *to, uint64_t n)
{
	size_t now;

	while (n) {
		if (!dtx_biff_bytes_more(b))
			return false;
		now = (size_t)DTX_MIN(n, (uint64_t)b->left);
		if (to) {
			memcpy(to, b->ptr, now);
			to += now;
		}
		b->ptr += now;
		b->left -= now;
		n -= now;
	}
	return true;
}

bool dtx_biff_bytes_take(struct dtx_biff_bytes *b, uint8_t *to, size_t n)
{
	return pass(b, to, n);
}

/* --- characters --- */

static void put(struct dtx_buf *out, uint32_t cp)
{
	if (cp < 0x80)
		dtx_buf_addc(out, (char)cp);
	else if (dtx_buf_room(out, 4))
		out->len += dtx_utf8_put(out->ptr + out->len, cp);
}

/* Adds one unit of UTF-16. *high is the first half of a pair that waits for the second. */
static void put_unit(struct dtx_buf *out, uint32_t unit, uint32_t *high)
{
	bool second = unit >= 0xdc00 && unit < 0xe000;

	if (*high && second) {
		put(out, 0x10000 + ((*high - 0xd800) << 10) + (unit - 0xdc00));
		*high = 0;
		return;
	}
	if (*high)
		put(out, 0xfffd);
	*high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (!*high && unit)
		put(out, second ? 0xfffd : unit);
}

static void put_units(struct dtx_buf *out, const uint8_t *p, size_t n, bool wide, uint32_t *high)
{
	size_t i;

	if (!dtx_buf_room(out, n * 3))
		return;
	for (i = 0; i < n; i++)
		put_unit(out, wide ? dtx_le_u16(p + 2 * i) : p[i], high);
}

/* Reads n characters in narrow or wide form. If a record ends among them, the next one begins
 * with a byte that gives the form again. */
static bool take_units(struct dtx_biff_bytes *b, size_t n, bool wide, struct dtx_buf *out)
{
	uint32_t high = 0;
	uint8_t flags;

	for (;;) {
		size_t now = DTX_MIN(n, wide ? b->left / 2 : b->left);

		put_units(out, b->ptr, now, wide, &high);
		b->ptr += wide ? now * 2 : now;
		b->left -= wide ? now * 2 : now;
		n -= now;
		if (!n)
			break;
		b->left = 0; /* half a character */
		if (!dtx_biff_bytes_take(b, &flags, 1))
			return false;
		wide = flags & FLAG_WIDE;
	}
	if (high)
		put(out, 0xfffd);
	return true;
}

static bool take_page(const struct dtx_xls *x, struct dtx_biff_bytes *b, size_t n,
                      struct dtx_buf *out)
{
	while (n) {
		size_t now;

		if (!dtx_biff_bytes_more(b))
			return false;
		now = DTX_MIN(n, b->left);
		dtx_codepage_add(x->page, b->ptr, now, out);
		b->ptr += now;
		b->left -= now;
		n -= now;
	}
	return true;
}

/* BIFF8: flags, lengths of what follows the characters, then the characters. */
static bool take_unicode(struct dtx_biff_bytes *b, size_t n, struct dtx_buf *out)
{
	uint8_t flags, more[4];
	uint64_t tail = 0;

	if (!dtx_biff_bytes_take(b, &flags, 1))
		return n == 0; /* some writers leave out the flags of an empty text */
	if (flags & FLAG_RICH) {
		if (!dtx_biff_bytes_take(b, more, 2))
			return false;
		tail += (uint64_t)dtx_le_u16(more) * 4;
	}
	if (flags & FLAG_EXT) {
		if (!dtx_biff_bytes_take(b, more, 4))
			return false;
		tail += dtx_le_u32(more);
	}
	return take_units(b, n, flags & FLAG_WIDE, out) && pass(b, NULL, tail);
}

bool dtx_xls_chars(const struct dtx_xls *x, struct dtx_biff_bytes *b, size_t n, struct dtx_buf *out)
{
	return x->biff8 ? take_unicode(b, n, out) : take_page(x, b, n, out);
}

bool dtx_xls_text(const struct dtx_xls *x, struct dtx_biff_bytes *b, unsigned size,
                  struct dtx_buf *out)
{
	uint8_t len[2] = { 0, 0 };

	return dtx_biff_bytes_take(b, len, size) && dtx_xls_chars(x, b, dtx_le_u16(len), out);
}
