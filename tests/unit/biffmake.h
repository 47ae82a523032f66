/* Makes .xls workbooks in memory, intact and damaged ones: the records and the container. */
#ifndef TESTS_UNIT_BIFFMAKE_H
#define TESTS_UNIT_BIFFMAKE_H

#include <stdarg.h>

#include "core/io/sheet/xls/biff.h"
#include "tests/unit/bookmake.h"

/* Appends values, one per letter: b a byte, w 16 bits, l 32 bits, d a double; s and S a text of
 * BIFF8 with a length of 8 or 16 bits; W the same as S with wide characters; n and N bytes with a
 * length of 8 or 16 bits. */
static inline void biff_values(struct dtx_buf *b, const char *form, va_list ap)
{
	for (; *form; form++) {
		const char *s;
		size_t i, n;
		double d;
		uint64_t bits;

		if (*form == 'b' || *form == 'w') {
			zip_le(b, (uint64_t)va_arg(ap, int), *form == 'b' ? 1 : 2);
		} else if (*form == 'l') {
			zip_le(b, va_arg(ap, unsigned), 4);
		} else if (*form == 'd') {
			d = va_arg(ap, double);
			memcpy(&bits, &d, 8);
			zip_le(b, bits, 8);
		} else {
			s = va_arg(ap, const char *);
			n = strlen(s);
			zip_le(b, n, *form == 's' || *form == 'n' ? 1 : 2);
			if (*form == 's' || *form == 'S' || *form == 'W')
				dtx_buf_addc(b, *form == 'W');
			for (i = 0; i < n; i++)
				zip_le(b, (unsigned char)s[i], *form == 'W' ? 2 : 1);
		}
	}
}

static inline void biff_rec(struct dtx_buf *b, unsigned type, const char *form, ...)
{
	struct dtx_buf data = DTX_BUF_INIT(1 << 20);
	va_list ap;

	va_start(ap, form);
	biff_values(&data, form, ap);
	va_end(ap);
	zip_le(b, type, 2);
	zip_le(b, data.len, 2);
	dtx_buf_addn(b, dtx_buf_text(&data), data.len);
	dtx_buf_clear(&data);
}

/* A workbook: records of the globals in addition to the usual ones, then a sheet "One". */
struct biff_book {
	bool biff5;
	struct dtx_buf globals, cells;
	const char *name;     /* name of a second sheet; NULL: none */
	struct dtx_buf other; /* its cells */
	int place_lie;        /* added to the recorded position of the second sheet */
	bool no_end;          /* omit the last EOF */
};
#define BIFF_BOOK_INIT                                                                             \
	{                                                                                          \
		.globals = DTX_BUF_INIT(1 << 22), .cells = DTX_BUF_INIT(1 << 24),                  \
		.other = DTX_BUF_INIT(1 << 20)                                                     \
	}

static inline void biff_bof(struct dtx_buf *b, bool biff5, int what)
{
	if (biff5)
		biff_rec(b, DTX_BIFF_BOF, "wwww", 0x0500, what, 0, 0);
	else
		biff_rec(b, DTX_BIFF_BOF, "wwwwll", 0x0600, what, 0, 0, 0u, 0u);
}

/* XF 0 General, 1 date, 2 datetime, 3 time, 4 [h]:mm:ss, 5 0.00, 6 the same as 0 */
static inline void biff_globals(struct dtx_buf *b, const struct biff_book *book, size_t one,
                                size_t two)
{
	static const int formats[] = { 0, 14, 164, 20, 46, 2, 0 };
	const char *form = book->biff5 ? "lwn" : "lws";
	size_t i;

	biff_bof(b, book->biff5, DTX_BIFF_GLOBALS);
	biff_rec(b, DTX_BIFF_FORMAT, book->biff5 ? "wn" : "wS", 164, "yyyy\\-mm\\-dd hh:mm");
	for (i = 0; i < DTX_COUNT(formats); i++)
		biff_rec(b, DTX_BIFF_XF, "wwwwllll", 0, formats[i], 0, 0, 0u, 0u, 0u, 0u);
	biff_rec(b, DTX_BIFF_BOUNDSHEET, form, (unsigned)one, 0, "One");
	if (book->name)
		biff_rec(b, DTX_BIFF_BOUNDSHEET, form, (unsigned)two, 0, book->name);
	dtx_buf_addn(b, book->globals.ptr, book->globals.len);
	biff_rec(b, DTX_BIFF_EOF, "");
}

static inline void biff_sheet(struct dtx_buf *b, const struct biff_book *book,
                              const struct dtx_buf *cells)
{
	biff_bof(b, book->biff5, DTX_BIFF_WORKSHEET);
	dtx_buf_addn(b, cells->ptr, cells->len);
	biff_rec(b, DTX_BIFF_EOF, "");
}

static inline void biff_make(const struct biff_book *book, struct dtx_buf *out)
{
	struct dtx_buf head = DTX_BUF_INIT(1 << 22);
	size_t one, two;

	biff_globals(&head, book, 0, 0);
	one = head.len;
	two = one + book->cells.len + (book->biff5 ? 12 : 20) + 4;
	dtx_buf_clear(&head);
	biff_globals(out, book, one, two + (size_t)(ptrdiff_t)book->place_lie);
	biff_sheet(out, book, &book->cells);
	if (book->name)
		biff_sheet(out, book, &book->other);
	if (book->no_end)
		out->len -= 4;
}

static inline void biff_book_clear(struct biff_book *book)
{
	dtx_buf_clear(&book->globals);
	dtx_buf_clear(&book->cells);
	dtx_buf_clear(&book->other);
}

/* --- container --- */

enum cfb_how {
	CFB_PLAIN,
	CFB_SCATTERED, /* the sectors of the stream are in reverse order */
	CFB_MINI,      /* the stream is in the mini stream */
	CFB_LOOP,      /* the last sector of the stream refers to its first */
	CFB_LIST       /* the position of the table is in the chained list, not in the header */
};

static inline void cfb_entry(struct dtx_buf *b, const char *name, int type, uint32_t child,
                             uint32_t first, size_t size)
{
	size_t i, n = strlen(name), from = b->len;

	for (i = 0; i < 32; i++)
		zip_le(b, i < n ? (unsigned char)name[i] : 0, 2);
	zip_le(b, n ? (n + 1) * 2 : 0, 2);
	zip_le(b, (uint64_t)type, 1);
	zip_le(b, 1, 1);
	zip_le(b, UINT32_MAX, 4);
	zip_le(b, UINT32_MAX, 4);
	zip_le(b, child, 4);
	while (b->len < from + 116)
		dtx_buf_addc(b, 0);
	zip_le(b, first, 4);
	zip_le(b, size, 8);
}

static inline void cfb_pad(struct dtx_buf *b, size_t to, char with)
{
	while (b->len % to)
		dtx_buf_addc(b, with);
}

/* Sectors: 0 is the table, 1 the directory, 2 the list or mini table, 3 and up the stream, which
 * has at most 125. */
static inline void cfb_make(struct dtx_buf *out, const char *name, const struct dtx_buf *stream,
                            enum cfb_how how)
{
	static const unsigned char magic[8] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };
	bool mini = how == CFB_MINI, turned = how == CFB_SCATTERED;
	uint32_t n = (uint32_t)(stream->len + 511) / 512, i, first = turned ? 2 + n : 3;

	dtx_buf_addn(out, magic, 8);
	for (i = 8; i < 24; i++)
		dtx_buf_addc(out, 0);
	zip_le(out, 0x3e, 2);
	zip_le(out, 3, 2);
	zip_le(out, 0xfffe, 2);
	zip_le(out, 9, 2);
	zip_le(out, 6, 2);
	zip_le(out, 0, 10);
	zip_le(out, 1, 4);
	zip_le(out, 1, 4); /* directory */
	zip_le(out, 0, 4);
	zip_le(out, mini ? 4096 : 1, 4);
	zip_le(out, mini ? 2 : 0xfffffffe, 4);
	zip_le(out, mini, 4);
	zip_le(out, how == CFB_LIST ? 2 : 0xfffffffe, 4);
	zip_le(out, how == CFB_LIST, 4);
	for (i = 0; i < 109; i++)
		zip_le(out, i || how == CFB_LIST ? 0xffffffff : 0, 4);
	if (how == CFB_LIST) /* a full header list: places that are not needed */
		memset(out->ptr + 76, 0, 4);
	zip_le(out, 0xfffffffd, 4);
	zip_le(out, 0xfffffffe, 4);
	zip_le(out, 0xfffffffe, 4);
	for (i = 0; i < n; i++) {
		uint32_t last = how == CFB_LOOP ? 3 : 0xfffffffe;

		if (turned)
			zip_le(out, i ? i + 2 : last, 4);
		else
			zip_le(out, i + 1 < n ? i + 4 : last, 4);
	}
	cfb_pad(out, 512, (char)0xff);
	cfb_entry(out, "Root Entry", 5, 1, mini ? 3 : 0xfffffffe, mini ? n * 512 : 0);
	cfb_entry(out, name, 2, UINT32_MAX, mini ? 0 : first, stream->len);
	cfb_entry(out, "", 0, UINT32_MAX, 0, 0);
	cfb_entry(out, "", 0, UINT32_MAX, 0, 0);
	for (i = 0; mini && i < 128; i++) /* the mini table: one chain, cut where the bytes end */
		zip_le(out, i + 1, 4);
	cfb_pad(out, 512, 0);
	for (; !mini && out->len < 4 * 512;)
		dtx_buf_addc(out, (char)0xff);
	for (i = 0; i < n; i++) {
		uint32_t k = turned ? n - 1 - i : i;
		size_t len = DTX_MIN(stream->len - (size_t)k * 512, (size_t)512);

		dtx_buf_addn(out, stream->ptr + (size_t)k * 512, len);
		if (turned || i + 1 < n)
			cfb_pad(out, 512, 0);
	}
}

#endif
