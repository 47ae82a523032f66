/* Cleans texts of characters that people do not see: see cleantext.h. */
#include "ops/kit/text/cleantext.h"

void dtx_cleaner_init(struct dtx_cleaner *k)
{
	dtx_buf_init(&k->a, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&k->b, DTX_BUF_TEXT_MAX);
}

void dtx_cleaner_clear(struct dtx_cleaner *k)
{
	dtx_buf_clear(&k->a);
	dtx_buf_clear(&k->b);
}

static bool is_dash(uint32_t cp)
{
	return (cp >= 0x2010 && cp <= 0x2015) || cp == 0x2212 || cp == 0xfe58 || cp == 0xfe63 ||
	       cp == 0xff0d;
}

/* The ASCII quote for a typographic one; 0 if it is not a quote. */
static char plain_quote(uint32_t cp)
{
	if ((cp >= 0x2018 && cp <= 0x201b) || cp == 0x2032)
		return '\'';
	if ((cp >= 0x201c && cp <= 0x201f) || cp == 0x2033 || cp == 0xab || cp == 0xbb)
		return '"';
	return 0;
}

/* What a character becomes: itself, another character, or nothing (UINT32_MAX).  A line break or a
 * tab becomes a space, because the words on both sides would otherwise grow together. */
static uint32_t clean_char(const struct dtx_clean *how, uint32_t cp)
{
	if (how->controls && dtx_utf8_hides(cp))
		return dtx_utf8_is_space(cp) ? ' ' : UINT32_MAX;
	if (how->nbsp && cp > 0x7f && dtx_utf8_is_space(cp))
		return ' ';
	if (how->dashes && is_dash(cp))
		return '-';
	if (how->quotes && plain_quote(cp))
		return (uint32_t)plain_quote(cp);
	return cp;
}

static void clean_chars(const struct dtx_clean *how, struct dtx_str s, struct dtx_buf *out)
{
	size_t pos = 0;

	while (pos < s.len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos), to = clean_char(how, cp);

		if (to == cp)
			dtx_buf_addn(out, s.ptr + from, pos - from);
		else if (to != UINT32_MAX)
			dtx_buf_addc(out, (char)to);
	}
}

/* Replaces runs of spaces by one U+0020.  A single space stays as it is. */
static void squeeze(struct dtx_str s, struct dtx_buf *out)
{
	size_t pos = 0;

	while (pos < s.len) {
		size_t from = pos, end;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);

		end = pos;
		while (dtx_utf8_is_space(cp) && end < s.len) {
			size_t next = end;

			if (!dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, &next)))
				break;
			end = next;
		}
		if (end > pos)
			dtx_buf_addc(out, ' ');
		else
			dtx_buf_addn(out, s.ptr + from, pos - from);
		pos = end;
	}
}

static void change_case(int kase, struct dtx_str s, struct dtx_buf *out)
{
	if (kase == DTX_CASE_LOWER)
		dtx_utf8_lower(out, s);
	else if (kase == DTX_CASE_UPPER)
		dtx_utf8_upper(out, s);
	else
		dtx_utf8_title(out, s);
}

static struct dtx_str swap(struct dtx_cleaner *k)
{
	struct dtx_buf t = k->a;

	k->a = k->b;
	k->b = t;
	dtx_buf_reset(&k->b);
	return dtx_buf_str(&k->a);
}

struct dtx_str dtx_clean_text(struct dtx_cleaner *k, const struct dtx_clean *how, struct dtx_str s)
{
	dtx_buf_reset(&k->b);
	if (how->form >= 0) {
		dtx_utf8_normal(&k->b, s, (enum dtx_utf8_form)how->form);
		s = swap(k);
	}
	clean_chars(how, s, &k->b);
	s = swap(k);
	if (how->squeeze) {
		squeeze(s, &k->b);
		s = swap(k);
	}
	if (how->trim)
		s = dtx_utf8_trim(s);
	if (how->kase != DTX_CASE_KEEP) {
		change_case(how->kase, s, &k->b);
		s = swap(k);
	}
	return s;
}
