/* The input side of the XML parser: finds the encoding, converts UTF-16, checks the text as far
 * as needed, and manages the window of bytes. */
#include "core/base/mem.h"
#include "core/base/text/swar.h"
#include "core/base/text/utf8.h"
#include "core/io/source/read_ahead.h"
#include "core/io/archive/xml.h"

enum {
	WINDOW = 256 << 10,
	TOKEN_MAX = 8 << 20, /* one tag, comment or processing instruction */
	/* The most bytes between two tags: a fixed number, or a multiple of the longest text of
	 * a cell, because line ends and quotes in it may be written as entities. */
	QUIET_LEAST = 8 << 20,
	QUIET_TIMES = 8
};

#define FAIL_XML(x, err, what)                                                                     \
	do {                                                                                       \
		rc = dtx_xml_fail((x), (err), __FILE__, __LINE__, (what));                         \
		goto out;                                                                          \
	} while (0)

enum dtx_code dtx_xml_fail(const struct dtx_xml *x, struct dtx_err *err, const char *file, int line,
                           const char *what)
{
	return dtx_err_set(err, DTX_E_CORRUPT_FILE, file, line, "'%s': %s at byte %llu: %s",
	                   x->label, x->part, (unsigned long long)(x->base + x->pos), what);
}

/* Returns the offset of the first control character that XML forbids, or n. *high is set if a
 * byte is >= 0x80. */
static size_t find_control(const char *p, size_t n, bool *high)
{
	unsigned char any = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		any |= c;
		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
			break;
	}
	*high |= any >= 0x80;
	return i;
}

/* The same for blocks, up to the first block with any control character. */
static size_t skip_blocks(const char *p, size_t n, bool *high)
{
	dtx_swar_block any = { 0 };
	size_t i = 0;

	for (; i + 4 * sizeof(any) <= n; i += 4 * sizeof(any)) {
		dtx_swar_block a = dtx_swar_block_load(p + i), b = dtx_swar_block_load(p + i + 16);
		dtx_swar_block c = dtx_swar_block_load(p + i + 32),
			       d = dtx_swar_block_load(p + i + 48);
		dtx_swar_block low =
			(dtx_swar_block)((a < 0x20) | (b < 0x20) | (c < 0x20) | (d < 0x20));

		if (dtx_swar_first(low) < 16)
			break;
		any |= a | b | c | d;
	}
	*high |= dtx_swar_first(any & 0x80) < 16;
	return i;
}

/* The offset of the first control character that XML forbids, or n. */
static size_t check_controls(const char *p, size_t n, bool *high)
{
	size_t i = 0, step, got;

	while (i < n) {
		i += skip_blocks(p + i, n - i, high);
		step = DTX_MIN(n - i, (size_t)64);
		got = find_control(p + i, step, high);
		i += got;
		if (got < step)
			break;
	}
	return i;
}

bool dtx_xml_plain(const char *bytes, size_t len)
{
	bool high = false;
	size_t ok = 0, step;

	/* In steps, because a text with other characters is checked again anyway. */
	for (; ok < len && !high; ok += step) {
		step = DTX_MIN(len - ok, (size_t)4096);
		if (check_controls(bytes + ok, step, &high) < step)
			return false;
	}
	return !high;
}

/* The length of p without a character that is cut off at its end. */
static size_t whole_chars(const char *p, size_t n)
{
	size_t back;

	for (back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)p[n - back];

		if (c < 0x80)
			return n;
		if (c >= 0xc0)
			return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? n - back : n;
	}
	return n;
}

/* Moves the bytes from pos on to the front of `to`. */
static void move_rest(struct dtx_xml *x, char *to)
{
	memmove(to, x->buf + x->pos, x->end - x->pos);
	x->base += x->pos;
	x->checked = DTX_MAX(x->checked, x->pos) - x->pos;
	x->end -= x->pos;
	x->pos = 0;
	x->buf = to;
}

/* Makes room for at least `room` bytes after end, in own memory. */
static enum dtx_code make_room(struct dtx_xml *x, size_t room, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool lent = x->buf != x->own;
	size_t used;

	if (!lent && x->pos && x->cap - x->end < room)
		move_rest(x, x->own);
	used = lent ? x->end - x->pos : x->end;
	while (x->cap < used + room) {
		if (x->cap >= 2 * (size_t)TOKEN_MAX)
			return dtx_archive_limits_fixed(
				err, "tag", "'%s': %s at byte %llu: a tag of over %d bytes",
				x->label, x->part, (unsigned long long)(x->base + x->pos),
				TOKEN_MAX);
		if (!dtx_mem_grow(&x->own, x->cap ? 2 * x->cap : 2 * (size_t)WINDOW, 1))
			DTX_FAIL_MEM(err);
		x->cap = x->cap ? 2 * x->cap : 2 * (size_t)WINDOW;
		if (!lent)
			x->buf = x->own;
	}
	if (lent)
		move_rest(x, x->own);
out:
	return rc;
}

/* Gets the next lent window. What is left of the old one, and a character that was cut, is
 * copied to the space before it. */
static enum dtx_code fill_lent(struct dtx_xml *x, size_t *added, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char rest[DTX_READ_AHEAD_FRONT], *at;
	size_t n = x->end - x->pos, got;
	unsigned carried = x->ncarry;

	if (n)
		memcpy(rest, x->buf + x->pos, n);
	memcpy(rest + n, x->carry, carried);
	DTX_TRY(x->lend(x->arg, &at, &got, err));
	if (!got && carried)
		FAIL_XML(x, err, "text ends inside a character");
	x->eof = !got;
	at -= n + carried;
	memcpy(at, rest, n + carried);
	x->base += x->pos;
	x->checked = DTX_MAX(x->checked, x->pos) - x->pos;
	x->pos = 0;
	x->end = n;
	x->buf = at;
	*added = whole_chars(at + n, carried + got);
	x->ncarry = (unsigned)(carried + got - *added);
	memcpy(x->carry, at + n + *added, x->ncarry);
out:
	return rc;
}

/* Converts UTF-16 to UTF-8. The rest of a unit or pair that is cut off stays in carry. */
static size_t from_utf16(struct dtx_xml *x, const unsigned char *in, size_t n, char *to)
{
	bool le = x->encoding == DTX_XML_LE;
	size_t i = 0, made = 0;

	while (n - i >= 2) {
		uint32_t cp =
			le ? in[i] | (uint32_t)in[i + 1] << 8 : in[i + 1] | (uint32_t)in[i] << 8;
		size_t used = 2;

		if (cp >= 0xd800 && cp < 0xdc00) {
			uint32_t lo;

			if (n - i < 4)
				break;
			lo = le ? in[i + 2] | (uint32_t)in[i + 3] << 8
			        : in[i + 3] | (uint32_t)in[i + 2] << 8;
			used = 4;
			cp = lo >= 0xdc00 && lo < 0xe000
			             ? 0x10000 + ((cp - 0xd800) << 10) + (lo - 0xdc00)
			             : 0; /* will be refused as a control character */
		} else if (cp >= 0xdc00 && cp < 0xe000) {
			cp = 0;
		}
		made += dtx_utf8_put(to + made, cp);
		i += used;
	}
	x->ncarry = (unsigned)(n - i);
	memcpy(x->carry, in + i, n - i);
	return made;
}

static void sniff_encoding(struct dtx_xml *x, const unsigned char *p, size_t n, size_t *skip)
{
	*skip = 0;
	x->encoding = DTX_XML_UTF8;
	if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		*skip = 3;
	else if (n >= 2 && p[0] == 0xff && p[1] == 0xfe)
		x->encoding = DTX_XML_LE, *skip = 2;
	else if (n >= 2 && p[0] == 0xfe && p[1] == 0xff)
		x->encoding = DTX_XML_BE, *skip = 2;
	else if (n >= 2 && p[0] == '<' && !p[1])
		x->encoding = DTX_XML_LE;
	else if (n >= 2 && !p[0] && p[1] == '<')
		x->encoding = DTX_XML_BE;
}

static enum dtx_code fill_utf16(struct dtx_xml *x, size_t *added, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned char raw[WINDOW / 4];
	size_t got;

	memcpy(raw, x->carry, x->ncarry);
	DTX_TRY(x->read(x->arg, raw + x->ncarry, sizeof(raw) - x->ncarry, &got, err));
	if (!got && x->ncarry)
		FAIL_XML(x, err, "UTF-16 text ends inside a character");
	x->eof = !got;
	if (got)
		*added = from_utf16(x, raw, got + x->ncarry, x->buf + x->end);
out:
	return rc;
}

/* The first bytes decide the encoding. */
static enum dtx_code fill_first(struct dtx_xml *x, size_t *added, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned char first[4];
	size_t skip, n = 0, got = 1;

	while (n < 4 && got) {
		DTX_TRY(x->read(x->arg, x->buf + n, 4 - n, &got, err));
		n += got;
	}
	sniff_encoding(x, (unsigned char *)x->buf, n, &skip);
	memcpy(first, x->buf + skip, n - skip);
	if (x->encoding == DTX_XML_UTF8) {
		*added = whole_chars((char *)first, n - skip);
		memcpy(x->buf, first, *added);
		x->ncarry = (unsigned)(n - skip - *added);
		memcpy(x->carry, first + *added, x->ncarry);
	} else {
		*added = from_utf16(x, first, n - skip, x->buf);
	}
	x->eof = n == 0;
out:
	return rc;
}

static enum dtx_code fill_utf8(struct dtx_xml *x, size_t *added, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *to = x->buf + x->end;
	unsigned carried = x->ncarry;
	size_t got, n;

	memcpy(to, x->carry, carried);
	DTX_TRY(x->read(x->arg, to + carried, WINDOW - carried, &got, err));
	if (!got && carried)
		FAIL_XML(x, err, "text ends inside a character");
	x->eof = !got;
	n = whole_chars(to, got + carried);
	x->ncarry = (unsigned)(got + carried - n);
	memcpy(x->carry, to + n, x->ncarry);
	*added = n;
out:
	return rc;
}

/* Refuses input that takes time but contains no values. */
static enum dtx_code check_idle(struct dtx_xml *x, size_t added, struct dtx_err *err)
{
	uint64_t most = DTX_MAX(QUIET_LEAST, QUIET_TIMES * x->limits->text);
	bool quiet;

	x->quiet = memchr(x->buf + x->end, '<', added) ? 0 : x->quiet + added;
	x->idle += added;
	quiet = x->quiet > most;
	if (!quiet && x->idle <= x->limits->idle)
		return DTX_OK;
	return dtx_archive_limits_fail(err, x->limits, quiet ? "text" : "idle",
	                               "'%s': %s at byte %llu: goes on and on without a %s",
	                               x->label, x->part, (unsigned long long)(x->base + x->end),
	                               quiet ? "tag" : "value");
}

enum dtx_code dtx_xml_fill(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t added = 0;
	bool carried = x->ncarry || x->encoding == DTX_XML_SNIFF;

	x->plain = false;
	if (x->lend && x->encoding == DTX_XML_UTF8 &&
	    x->end - x->pos + sizeof(x->carry) <= DTX_READ_AHEAD_FRONT) {
		DTX_TRY(fill_lent(x, &added, err));
		goto added;
	}
	DTX_TRY(make_room(x, WINDOW + DTX_XML_AHEAD, err));
	if (x->encoding == DTX_XML_SNIFF)
		DTX_TRY(fill_first(x, &added, err));
	else if (x->encoding == DTX_XML_UTF8)
		DTX_TRY(fill_utf8(x, &added, err));
	else
		DTX_TRY(fill_utf16(x, &added, err));
added:
	x->asked = false;
	DTX_TRY(check_idle(x, added, err));
	if (x->plain && x->encoding == DTX_XML_UTF8 && !carried && x->checked == x->end)
		x->checked += added;
	x->end += added;
	memset(x->buf + x->end, 0, DTX_XML_AHEAD);
out:
	return rc;
}

enum dtx_code dtx_xml_check_rest(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t from = DTX_MAX(x->checked, x->pos), n = x->end - from, bad;
	bool high = false;

	bad = check_controls(x->buf + from, n, &high);
	if (bad == n && high)
		bad = (size_t)dtx_utf8_bad(x->buf + from, n);
	if (bad < n) {
		x->pos = from + bad;
		FAIL_XML(x, err, "not UTF-8 text, or a control character");
	}
	x->checked = x->end;
out:
	return rc;
}
