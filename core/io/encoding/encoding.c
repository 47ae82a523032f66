/* Gives the text of a source as UTF-8, see encoding.h: looks for byte order marks, detects
 * UTF-16, and converts everything else with iconv. */
#include "core/io/encoding/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/base/memory/buf.h"
#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv_row.h"
#include "core/io/encoding/enc_guess.h"
#include "core/io/repair.h"

/* Detects encodings by certain signs: zeros at the places where UTF-16 and UTF-32 have them, and
 * escape sequences of ISO 2022. */

/* UTF-32 has zeros at three of four bytes. */
static const char *enc_guess_utf32(struct dtx_str head)
{
	size_t zero[4] = { 0, 0, 0, 0 }, units = head.len / 4, i;

	for (i = 0; i < 4 * units; i++)
		zero[i & 3] += !head.ptr[i];
	if (units && zero[3] == units && zero[2] == units && zero[1] * 4 > units && !zero[0])
		return "utf-32le";
	if (units && zero[0] == units && zero[1] == units && zero[2] * 4 > units && !zero[3])
		return "utf-32be";
	return NULL;
}

/* Looks for escapes that switch to an East Asian character set and back to ASCII, in a text of
 * 7-bit bytes. */
static const char *enc_guess_escapes(struct dtx_str head)
{
	static const struct {
		const char *to, *name;
	} sets[] = { { "\x1b$B", "iso-2022-jp-2" },
		     { "\x1b$@", "iso-2022-jp-2" },
		     { "\x1b$)C", "iso-2022-kr" } };
	size_t i;

	if (!memchr(head.ptr, '\x1b', head.len))
		return NULL;
	for (i = 0; i < head.len; i++) {
		if ((unsigned char)head.ptr[i] >= 0x80)
			return NULL;
	}
	for (i = 0; i < DTX_COUNT(sets); i++) {
		if (dtx_str_find(head, dtx_str_of(sets[i].to), 0) >= 0)
			return sets[i].name;
	}
	return NULL;
}

/* Whether there is a zero next to each line end or comma, as in UTF-16. `low` is the offset of
 * the low byte. */
static bool enc_guess_ends(struct dtx_str head, size_t low)
{
	size_t i, n = 0, all = 0;
	char c;

	for (i = 0; i + 1 < head.len; i += 2) {
		c = head.ptr[i + low];
		if (c != '\n' && c != '\r' && c != ',' && c != '\t' && c != ';' && c != '"')
			continue;
		all++;
		n += !head.ptr[i + 1 - low];
	}
	return n && n * 2 > all;
}

/* Latin text in UTF-16 has zeros at every other byte and hardly any elsewhere. A few zeros in a
 * short text do not count: line ends and delimiters must have them, too, or nearly all bytes. */
static const char *enc_guess_wide(struct dtx_str head)
{
	size_t zero[2] = { 0, 0 }, half = head.len / 2, i;

	if (!memchr(head.ptr, '\0', head.len))
		return NULL;
	if (enc_guess_utf32(head))
		return enc_guess_utf32(head);
	for (i = 0; i < 2 * half; i++)
		zero[i & 1] += !head.ptr[i];
	if (half && zero[1] * 4 > half && zero[0] * 100 < half &&
	    (zero[1] * 4 > half * 3 || enc_guess_ends(head, 0)))
		return "utf-16le";
	if (half && zero[0] * 4 > half && zero[1] * 100 < half &&
	    (zero[0] * 4 > half * 3 || enc_guess_ends(head, 1)))
		return "utf-16be";
	return NULL;
}

/* The encoding that is certain from zeros between the bytes or from escapes,
 * or NULL. */
static const char *enc_detect_utf16(struct dtx_str head)
{
	const char *name = enc_guess_wide(head);

	return name ? name : enc_guess_escapes(head);
}

/* Reads UTF-8 with errors: pasted parts in another encoding, stray bytes, and byte order marks
 * where files were joined. */

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

/* Counts a byte that fits no encoding. */
static void mend_replace(struct dtx_mend *m, size_t at, struct dtx_buf *out)
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
		mend_replace(m, at, out);
		return;
	}
	mend_place(m, at);
	m->letters++;
	dtx_buf_addn(out, utf8, dtx_utf8_put(utf8, cp));
}

/* Whether there is a byte order mark at `at`, at the start of a line or of the text. */
static bool enc_is_mark(struct dtx_str s, size_t at)
{
	return s.len - at >= 3 && !memcmp(s.ptr + at, "\xef\xbb\xbf", 3) &&
	       (!at || s.ptr[at - 1] == '\n' || s.ptr[at - 1] == '\r');
}

/* The first error from `at` on that reading as plain UTF-8 would hide or fail at: a bad byte, or
 * a byte order mark at the start of a line. Returns -1 if none. */
static ptrdiff_t enc_flaw(struct dtx_str text, size_t at)
{
	ptrdiff_t bad = dtx_utf8_bad(text.ptr + at, text.len - at), mark;
	struct dtx_str good = { text.ptr, bad < 0 ? text.len : at + (size_t)bad };

	for (mark = (ptrdiff_t)at - 1;;) {
		mark = dtx_str_find(good, DTX_STR("\xef\xbb\xbf"), (size_t)(mark + 1));
		if (mark < 0)
			return bad < 0 ? bad : (ptrdiff_t)at + bad;
		if (mark && enc_is_mark(text, (size_t)mark))
			return mark;
	}
}

size_t dtx_mend_step(struct dtx_mend *m, struct dtx_str text, size_t at, size_t step,
                     struct dtx_buf *out)
{
	size_t stop = text.len - at > step ? at + step : text.len;

	while (at < stop) {
		ptrdiff_t flaw = enc_flaw((struct dtx_str){ text.ptr, stop }, at);
		size_t to = flaw < 0 ? stop : (size_t)flaw, pos = to;

		dtx_buf_addn(out, text.ptr + at, to - at);
		at = to;
		if (flaw < 0)
			break;
		(void)dtx_utf8_next(text.ptr, text.len, &pos);
		if (enc_is_mark(text, at)) {
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

#define ENC_HEAD      ((size_t)64 << 10)
#define ENC_STEP      ((size_t)256 << 10)
#define ENC_SPOOL_MEM ((size_t)64 << 20)
#define ENC_SAMPLE    24 /* bytes shown of a word that is not UTF-8 */

struct enc_mark {
	const char *name, *bytes;
	size_t len;
};
static const struct enc_mark enc_marks[] = {
	{ "utf-8", "\xef\xbb\xbf", 3 },
	{ "utf-32le", "\xff\xfe\0\0", 4 }, /* before UTF-16, whose mark is a prefix of this one */
	{ "utf-32be", "\0\0\xfe\xff", 4 },
	{ "utf-16le", "\xff\xfe", 2 },
	{ "utf-16be", "\xfe\xff", 2 },
};

/* The encodings in which bytes that are not UTF-8 are shown. */
static const char *const enc_guesses[] = { "windows-1252", "windows-1250", "windows-1251",
	                                   "shift-jis" };

/* Converted bytes: in memory as long as there are few, then in a temp file. */
struct enc_spool {
	struct dtx_buf buf;
	int fd;
	size_t written;
};

struct enc_map {
	void *ptr;
	size_t len;
};

static void enc_unmap(void *arg)
{
	struct enc_map *m = arg;

	munmap(m->ptr, m->len);
	dtx_mem_free(m);
}

static enum dtx_code enc_flush(struct enc_spool *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (s->fd < 0)
		DTX_TRY(dtx_file_temp(NULL, &s->fd, err));
	DTX_TRY(dtx_file_write(s->fd, s->buf.ptr, s->buf.len, "temp file", err));
	s->written += s->buf.len;
	dtx_buf_reset(&s->buf);
out:
	return rc;
}

static enum dtx_code enc_adopt_file(struct enc_spool *s, struct dtx_encoding *e,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct enc_map *m = NULL;

	DTX_TRY(enc_flush(s, err));
	m = dtx_mem_alloc(1, sizeof(*m));
	if (!m)
		DTX_FAIL_MEM(err);
	m->len = s->written;
	m->ptr = mmap(NULL, m->len, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (m->ptr == MAP_FAILED) {
		dtx_mem_free(m);
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot map the converted text");
	}
	e->owner = dtx_owner_new(enc_unmap, m);
	if (!e->owner) {
		enc_unmap(m);
		DTX_FAIL_MEM(err);
	}
	e->text = m->ptr;
	e->len = m->len;
out:
	return rc;
}

enum dtx_code dtx_encoding_take(struct dtx_encoding *e, char *text, size_t len, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner = dtx_owner_take(text);

	if (!owner)
		DTX_FAIL_MEM(err);
	dtx_owner_unref(e->owner);
	e->owner = owner;
	e->text = text;
	e->len = len;
	e->converted = true;
out:
	return rc;
}

static enum dtx_code enc_adopt(struct enc_spool *s, struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t len = s->buf.len;
	char *text;

	if (s->fd >= 0)
		return enc_adopt_file(s, e, err);
	text = dtx_buf_steal(&s->buf);
	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_encoding_take(e, text, len, err));
out:
	return rc;
}

/* The size of a unit, which is what is skipped if it is invalid. */
static size_t enc_unit(const char *name)
{
	struct dtx_str n = { name, DTX_MIN(strlen(name), (size_t)6) };

	return dtx_str_ieq(n, DTX_STR("utf-16")) ? 2 : dtx_str_ieq(n, DTX_STR("utf-32")) ? 4 : 1;
}

static bool enc_all_zero(const char *s, size_t len)
{
	while (len && !s[len - 1])
		len--;
	return !len;
}

/* Flushes the converter: it may hold back a letter that a combining mark after it could change. */
static enum dtx_code enc_finish(iconv_t cd, struct enc_spool *spool, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t room = ENC_STEP;
	char *to;

	if (!dtx_buf_room(&spool->buf, ENC_STEP))
		DTX_FAIL_MEM(err);
	to = spool->buf.ptr + spool->buf.len;
	(void)iconv(cd, NULL, NULL, &to, &room);
	spool->buf.len += ENC_STEP - room;
out:
	return rc;
}

static enum dtx_code enc_convert_all(iconv_t cd, const char *file, const char *name, const char *in,
                                     size_t left, struct dtx_mend *mend, struct enc_spool *spool,
                                     size_t *padding, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *begin = in;
	char *from = (char *)(uintptr_t)in; /* iconv does not write there */

	while (left) {
		size_t room = ENC_STEP, got;
		char *to;

		DTX_TRY(dtx_cancel_look(err));
		if (spool->buf.len > ENC_SPOOL_MEM)
			DTX_TRY(enc_flush(spool, err));
		if (!dtx_buf_room(&spool->buf, ENC_STEP))
			DTX_FAIL_MEM(err);
		to = spool->buf.ptr + spool->buf.len;
		got = iconv(cd, &from, &left, &to, &room);
		spool->buf.len += ENC_STEP - room;
		if (got != (size_t)-1 || errno == E2BIG)
			continue;
		if (left < enc_unit(name) && enc_all_zero(from, left)) {
			*padding += left;
			break;
		}
		if (mend) {
			size_t unit = DTX_MIN(enc_unit(name), left);

			if (enc_unit(name) == 1 && strncmp(name, "iso-2022", 8) != 0)
				/* these have no other state that would be lost */
				DTX_TRY(enc_finish(cd, spool, err));
			mend_replace(mend, (size_t)(from - begin), &spool->buf);
			from += unit;
			left -= unit;
			continue;
		}
		rc = dtx_err_set(err, DTX_E_BAD_ENCODING, __FILE__, __LINE__,
		                 "'%s' is not %s: byte %02X at byte %zu", file, name,
		                 (unsigned char)*from, (size_t)(from - begin));
		dtx_err_hint(err,
		             "give the encoding of the file, as in \"encoding\": \"windows-1252\"");
		dtx_repair_advise(err, "{\"encoding\":\"%s:repair\"}", name);
		if (err)
			err->byte = from - begin;
		goto out;
	}
	DTX_TRY(enc_finish(cd, spool, err));
out:
	return rc;
}

static enum dtx_code enc_convert(struct dtx_source *src, const char *name, bool mend,
                                 struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct enc_spool spool = { DTX_BUF_INIT(2 * ENC_SPOOL_MEM), -1, 0 };
	iconv_t cd = iconv_open("UTF-8", name);

	if (cd == (iconv_t)-1) {
		rc = dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		                 "encoding '%s' is not known", name);
		dtx_err_hint(err, "names are those of iconv, as utf-8, utf-16, windows-1252");
		goto out;
	}
	DTX_TRY(enc_convert_all(cd, dtx_source_name(src), name, dtx_source_data(src) + e->skipped,
	                        dtx_source_size(src) - e->skipped, mend ? &e->mended : NULL, &spool,
	                        &e->padding, err));
	DTX_TRY(enc_adopt(&spool, e, err));
	e->converted = e->checked = true;
	dtx_str_copy(e->name, sizeof(e->name), dtx_str_of(name));
out:
	if (cd != (iconv_t)-1)
		iconv_close(cd);
	dtx_buf_clear(&spool.buf);
	dtx_file_close(&spool.fd);
	return rc;
}

/* Reads UTF-8 and corrects its errors. */
static enum dtx_code enc_mend(struct dtx_source *src, struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct enc_spool spool = { DTX_BUF_INIT(2 * ENC_SPOOL_MEM), -1, 0 };
	struct dtx_str text = { dtx_source_data(src) + e->skipped,
		                dtx_source_size(src) - e->skipped };
	size_t at = 0;

	while (at < text.len) {
		DTX_TRY(dtx_cancel_look(err));
		if (spool.buf.len > ENC_SPOOL_MEM)
			DTX_TRY(enc_flush(&spool, err));
		at = dtx_mend_step(&e->mended, text, at, ENC_STEP, &spool.buf);
		DTX_TRY(dtx_buf_check(&spool.buf, "a text", err));
	}
	DTX_TRY(enc_adopt(&spool, e, err));
	e->converted = e->checked = true;
	dtx_str_copy(e->name, sizeof(e->name), DTX_STR(DTX_ENC_MENDED));
out:
	dtx_buf_clear(&spool.buf);
	dtx_file_close(&spool.fd);
	return rc;
}

static const struct enc_mark *enc_find_mark(struct dtx_str head)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(enc_marks); i++) {
		if (dtx_str_starts(head, (struct dtx_str){ enc_marks[i].bytes, enc_marks[i].len }))
			return &enc_marks[i];
	}
	return NULL;
}

/* The length of the mark. Programs that read a mark as text write another one before it. */
static size_t enc_marks_len(struct dtx_str head, const struct enc_mark *mark)
{
	size_t len = mark ? mark->len : 0;

	while (mark && dtx_str_starts((struct dtx_str){ head.ptr + len, head.len - len },
	                              (struct dtx_str){ mark->bytes, mark->len }))
		len += mark->len;
	return len;
}

static bool enc_is_utf8_name(const char *name)
{
	return dtx_str_ieq(dtx_str_of(name), DTX_STR("utf-8")) ||
	       dtx_str_ieq(dtx_str_of(name), DTX_STR("utf8"));
}

/* Uses the bytes of the source directly. */
static void enc_borrow(struct dtx_source *src, struct dtx_encoding *e)
{
	e->text = dtx_source_data(src) + e->skipped;
	e->len = dtx_source_size(src) - e->skipped;
	e->owner = dtx_owner_ref(dtx_source_owner(src));
	e->part = dtx_source_is_part(src);
	e->byte0 = dtx_source_byte0(src);
	e->line0 = dtx_source_line0(src);
	dtx_str_copy(e->name, sizeof(e->name), DTX_STR("utf-8"));
}

/* The first error in the head of the text. The last character of the head may be cut off. */
static ptrdiff_t enc_head_bad(const struct dtx_encoding *e, size_t len)
{
	struct dtx_str head = { e->text, DTX_MIN(len, e->len) };
	ptrdiff_t bad = enc_flaw(head, 0);

	return bad >= 0 && e->len > len && (size_t)bad + 4 > len ? -1 : bad;
}

enum dtx_code dtx_encoding_check(const struct dtx_encoding *e, const char *file, size_t from,
                                 size_t to, struct dtx_err *err)
{
	ptrdiff_t bad = e->checked ? -1 : enc_flaw((struct dtx_str){ e->text, to }, from);

	return bad < 0 ? DTX_OK : dtx_encoding_fail(e, file, (size_t)bad, err);
}

static enum dtx_code enc_auto(struct dtx_source *src, const char *second, struct dtx_encoding *e,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str head = { dtx_source_data(src), DTX_MIN(dtx_source_size(src), ENC_HEAD) };
	const struct enc_mark *mark = enc_find_mark(head);
	const char *name = mark ? mark->name : enc_detect_utf16(head);
	ptrdiff_t bad;

	e->skipped = enc_marks_len(head, mark);
	if (name && !enc_is_utf8_name(name)) {
		rc = enc_convert(src, name, false, e, err);
		goto out;
	}
	enc_borrow(src, e);
	bad = enc_head_bad(e, second ? e->len : ENC_HEAD);
	e->checked = second || e->len <= ENC_HEAD;
	if (bad < 0)
		goto out;
	if (!second) {
		rc = dtx_encoding_fail(e, dtx_source_name(src), (size_t)bad, err);
		goto out;
	}
	dtx_encoding_clear(e);
	DTX_TRY(enc_convert(src, second, false, e, err));
	e->assumed = true;
out:
	return rc;
}

static enum dtx_code enc_open(struct dtx_source *src, const char *declared,
                              struct dtx_encoding *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str want = dtx_str_of(declared ? declared : "auto");
	struct dtx_str head = { dtx_source_data(src), DTX_MIN(dtx_source_size(src), ENC_HEAD) };
	const struct enc_mark *mark = enc_find_mark(head);
	char name[sizeof(out->name)];
	bool mend = dtx_str_ends(want, DTX_STR(":repair"));

	memset(out, 0, sizeof(*out));
	out->text = "";
	if (dtx_str_is(want, "auto"))
		return enc_auto(src, NULL, out, err);
	if (dtx_str_starts(want, DTX_STR("auto:")))
		return enc_auto(src, want.ptr + 5, out, err);
	want.len -= mend ? strlen(":repair") : 0;
	dtx_str_copy(name, sizeof(name), want);
	if (enc_is_utf8_name(name)) {
		out->skipped = mark && enc_is_utf8_name(mark->name) ? enc_marks_len(head, mark) : 0;
		if (mend)
			return enc_mend(src, out, err);
		enc_borrow(src, out);
		goto out;
	}
	/* "utf-16" alone means the byte order of the mark, and iconv reads the mark itself. */
	out->skipped = mark && dtx_str_ieq(dtx_str_of(mark->name), want) ? mark->len : 0;
	rc = enc_convert(src, name, mend, out, err);
out:
	return rc;
}

/* Removes what is not text at the end: blocks are padded with NULs, and old programs end a file
 * with the byte 1A, some on a line of its own. */
static void enc_trim_end(struct dtx_encoding *e)
{
	size_t len = e->len, end;

	while (len && !e->text[len - 1])
		len--;
	for (end = len; end && (e->text[end - 1] == '\n' || e->text[end - 1] == '\r');)
		end--;
	if (end > 1 && e->text[end - 1] == '\x1a' &&
	    (e->text[end - 2] == '\n' || e->text[end - 2] == '\r'))
		len = end;
	while (len && e->text[len - 1] == '\x1a')
		len--;
	e->padding += e->len - len;
	e->len = len;
}

enum dtx_code dtx_encoding_open(struct dtx_source *src, const char *declared,
                                struct dtx_encoding *out, struct dtx_err *err)
{
	enum dtx_code rc = enc_open(src, declared, out, err);

	if (rc == DTX_OK)
		enc_trim_end(out);
	return rc;
}

void dtx_encoding_clear(struct dtx_encoding *e)
{
	dtx_owner_unref(e->owner);
	memset(e, 0, sizeof(*e));
	e->text = "";
}

static bool enc_in_word(const char *text, size_t i)
{
	unsigned char c = (unsigned char)text[i];

	return c >= 0x80 || c == ' ' || c == '-' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Converts the words around a byte from another encoding; returns false if that fails. */
static bool enc_show(const struct dtx_encoding *e, size_t at, const char *name, char out[128])
{
	size_t from = at, to = at, left, room = 127;
	iconv_t cd = iconv_open("UTF-8", name);
	char *in, *put = out;
	size_t got;

	if (cd == (iconv_t)-1)
		return false;
	while (from > 0 && at - from < ENC_SAMPLE && enc_in_word(e->text, from - 1))
		from--;
	while (to < e->len && to - at < ENC_SAMPLE && enc_in_word(e->text, to))
		to++;
	in = (char *)(uintptr_t)(e->text + from);
	left = to - from;
	got = iconv(cd, &in, &left, &put, &room);
	if (got != (size_t)-1)
		(void)iconv(cd, NULL, NULL, &put, &room);
	iconv_close(cd);
	*put = '\0';
	return got != (size_t)-1 && !left;
}

/* Writes {"candidates": [{encoding, text}]}; *first becomes the text read as windows-1252. */
static void enc_candidates(const struct dtx_encoding *e, size_t at, char first[128],
                           struct dtx_buf *more)
{
	char shown[128];
	size_t i, n = 0;

	dtx_buf_add(more, "{\"candidates\":[");
	for (i = 0; i < DTX_COUNT(enc_guesses); i++) {
		if (!enc_show(e, at, enc_guesses[i], shown))
			continue;
		if (!first[0])
			snprintf(first, 128, "%s", shown);
		dtx_buf_printf(more, "%s{\"encoding\":\"%s\",\"text\":", n++ ? "," : "",
		               enc_guesses[i]);
		dtx_buf_json(more, dtx_str_of(shown));
		dtx_buf_add(more, "}");
	}
	dtx_buf_add(more, "]}");
}

/* Advises to convert the stream before dtx, because dtx does not convert streams. */
static void enc_advise(const struct dtx_encoding *e, const char *guess, struct dtx_err *err)
{
	bool mended = !strcmp(guess, "utf-8");

	if (e->part && mended)
		dtx_err_hint(err, "iconv -c -f UTF-8 -t UTF-8 in front of dtx leaves such bytes "
		                  "out");
	else if (e->part)
		dtx_err_hint(err, "iconv -f %s -t UTF-8 in front of dtx", guess);
	if (e->part)
		return;
	if (mended)
		guess = DTX_ENC_MENDED;
	dtx_err_hint(err,
	             "name its encoding: \"encoding\": \"%s\" (\"auto:windows-1252\" takes "
	             "that one only when UTF-8 fails)",
	             guess);
	dtx_repair_advise(err, "{\"encoding\":\"%s\"}", guess);
}

enum dtx_code dtx_encoding_fail(const struct dtx_encoding *e, const char *file, size_t at,
                                struct dtx_err *err)
{
	const char *guess = dtx_enc_guess((struct dtx_str){ e->text, e->len });
	int64_t line = dtx_csv_line(e->text, 0, at) + e->line0;
	struct dtx_buf more = DTX_BUF_INIT(4096), rivals = DTX_BUF_INIT(1024);
	char first[128] = "";
	unsigned char byte = (unsigned char)e->text[at];

	enc_candidates(e, at, first, &more);
	dtx_enc_rivals_tell((struct dtx_str){ e->text, e->len }, guess, &rivals);
	if (at && enc_is_mark((struct dtx_str){ e->text, e->len }, at))
		(void)dtx_err_set(err, DTX_E_BAD_ENCODING, __FILE__, __LINE__,
		                  "'%s' has a byte order mark inside, at L%lld", file,
		                  (long long)line + 1);
	else
		(void)dtx_err_set(err, DTX_E_BAD_ENCODING, __FILE__, __LINE__,
		                  "'%s' is not UTF-8: byte %02X at L%lld; as windows-1252 '%s'%s",
		                  file, byte, (long long)line + 1, first, dtx_buf_text(&rivals));
	dtx_err_row(err, line, NULL);
	if (err) {
		err->byte = (int64_t)(at + e->skipped) + e->byte0;
		snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line + 1);
		dtx_err_more(err, dtx_buf_steal(&more));
	}
	enc_advise(e, guess, err);
	dtx_buf_clear(&more);
	dtx_buf_clear(&rivals);
	return DTX_E_BAD_ENCODING;
}

/* Warns about bytes that are not in the declared encoding, with their places. */
static enum dtx_code enc_mended(const struct dtx_encoding *e, const struct dtx_source *src,
                                struct dtx_err *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_mend *m = &e->mended;
	struct dtx_buf lines = DTX_BUF_INIT(1024);
	const char *bytes = dtx_source_data(src) + e->skipped;
	size_t i;

	for (i = 0; i < m->nplaces; i++)
		dtx_buf_printf(&lines, "%sL%lld", i ? ", " : "",
		               (long long)dtx_csv_line(bytes, 0, m->place[i]) + 1);
	DTX_TRY(dtx_buf_check(&lines, "places", err));
	dtx_err_set(w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': bytes that do not fit: %lld read as windows-1252, %lld as U+FFFD, %lld "
	            "byte order marks left out; at %s%s",
	            dtx_source_name(src), (long long)m->letters, (long long)m->replaced,
	            (long long)m->marks, dtx_buf_text(&lines),
	            m->letters + m->replaced + m->marks > (int64_t)m->nplaces ? " ..." : "");
	w->count = m->letters + m->replaced + m->marks;
out:
	dtx_buf_clear(&lines);
	return rc;
}

/* Adds the note, if there is one; takes `w`. */
static enum dtx_code enc_note(struct dtx_errlist *diags, struct dtx_err *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (w->code == DTX_OK)
		goto out;
	w->severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(diags, w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_encoding_notes(const struct dtx_encoding *e, const struct dtx_source *src,
                                 struct dtx_errlist *diags, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (e->mended.nplaces)
		DTX_TRY(enc_mended(e, src, &w, err));
	else if (e->assumed)
		dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
		            "'%s' is not UTF-8: read as %s", dtx_source_name(src), e->name);
	DTX_TRY(enc_note(diags, &w, err));
	if (e->padding)
		dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
		            "'%s': %zu byte%s after the end of the text (NUL, 1A) %s left out",
		            dtx_source_name(src), e->padding, e->padding == 1 ? "" : "s",
		            e->padding == 1 ? "is" : "are");
	DTX_TRY(enc_note(diags, &w, err));
out:
	return rc;
}
