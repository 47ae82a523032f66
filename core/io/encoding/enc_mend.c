/* Reads UTF-8 with errors: pasted parts in another encoding, stray bytes, and byte order marks
 * where files were joined. */
#include "core/base/text/utf8.h"
#include "core/io/encoding/enc_guess.h"

/* windows-1252 from 80 to 9F; 0: not assigned */
static const uint16_t mend_1252[32] = {
	0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
	0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
	0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

static bool mend_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool mend_is_word(char c)
{
	return mend_is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool dtx_enc_is_sign(char c)
{
	return c && strchr("\x80\x85\x95\x96\x97\xa3\xa7\xa9\xab\xb0\xb1\xb7\xbb\xd7", c);
}

/* The character of a single byte in windows-1252, or 0 if that makes no sense at this place. */
static uint32_t mend_letter(struct dtx_str s, size_t at)
{
	unsigned char c = (unsigned char)s.ptr[at];
	char before = at ? s.ptr[at - 1] : ' ', after = at + 1 < s.len ? s.ptr[at + 1] : ' ';
	bool plain = (unsigned char)before < 0x80 && (unsigned char)after < 0x80;

	if (!mend_is_word(before) && !mend_is_word(after) && !(plain && dtx_enc_is_sign(s.ptr[at])))
		return 0;
	if (c == 0xff || c == 0xfe)
		return 0; /* these bytes mean nothing more often than they are these rare letters */
	/* Probably half of a UTF-8 sequence, not a letter, unless among capitals. */
	if ((c == 0xc2 || c == 0xc3) && !mend_is_upper(before) && !mend_is_upper(after))
		return 0;
	return c < 0xa0 ? mend_1252[c - 0x80] : c;
}

static void mend_place(struct dtx_mend *m, size_t at)
{
	if (m->nplaces < DTX_MEND_PLACES)
		m->place[m->nplaces++] = at;
}

void dtx_mend_replace(struct dtx_mend *m, size_t at, struct dtx_buf *out)
{
	mend_place(m, at);
	m->replaced++;
	dtx_buf_add(out, "\xef\xbf\xbd");
}

static void mend_byte(struct dtx_mend *m, struct dtx_str s, size_t at, struct dtx_buf *out)
{
	uint32_t cp = mend_letter(s, at);
	char utf8[4];

	if (!cp) {
		dtx_mend_replace(m, at, out);
		return;
	}
	mend_place(m, at);
	m->letters++;
	dtx_buf_addn(out, utf8, dtx_utf8_put(utf8, cp));
}

bool dtx_enc_is_mark(struct dtx_str s, size_t at)
{
	return s.len - at >= 3 && !memcmp(s.ptr + at, "\xef\xbb\xbf", 3) &&
	       (!at || s.ptr[at - 1] == '\n' || s.ptr[at - 1] == '\r');
}

ptrdiff_t dtx_enc_flaw(struct dtx_str text, size_t at)
{
	ptrdiff_t bad = dtx_utf8_bad(text.ptr + at, text.len - at), mark;
	struct dtx_str good = { text.ptr, bad < 0 ? text.len : at + (size_t)bad };

	for (mark = (ptrdiff_t)at - 1;;) {
		mark = dtx_str_find(good, DTX_STR("\xef\xbb\xbf"), (size_t)(mark + 1));
		if (mark < 0)
			return bad < 0 ? bad : (ptrdiff_t)at + bad;
		if (mark && dtx_enc_is_mark(text, (size_t)mark))
			return mark;
	}
}

size_t dtx_mend_step(struct dtx_mend *m, struct dtx_str text, size_t at, size_t step,
                     struct dtx_buf *out)
{
	size_t stop = text.len - at > step ? at + step : text.len;

	while (at < stop) {
		ptrdiff_t flaw = dtx_enc_flaw((struct dtx_str){ text.ptr, stop }, at);
		size_t to = flaw < 0 ? stop : (size_t)flaw, pos = to;

		dtx_buf_addn(out, text.ptr + at, to - at);
		at = to;
		if (flaw < 0)
			break;
		(void)dtx_utf8_next(text.ptr, text.len, &pos);
		if (dtx_enc_is_mark(text, at)) {
			mend_place(m, at);
			m->marks++;
		} else if (pos - at > 1) { /* the end of the step cut a valid sequence */
			dtx_buf_addn(out, text.ptr + at, pos - at);
		} else {
			mend_byte(m, text, at, out);
		}
		at = pos;
	}
	return at;
}
