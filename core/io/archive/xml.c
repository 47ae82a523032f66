/* The XML tokenizer, see xml.h. It works on bytes that its input side has already checked and
 * converted to UTF-8. */
#include "core/io/archive/xml.h"

#include "core/base/memory/mem.h"
#include "core/base/text/swar.h"
#include "core/base/text/utf8.h"
#include "core/io/source/read_ahead.h"

/* The input side of the XML parser: finds the encoding, converts UTF-16, checks the text as far
 * as needed, and manages the window of bytes. */

enum {
	WINDOW = 256 << 10,
	FIRST = 32 << 10,    /* read before whole windows are, because most parts are short */
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

/* How many bytes to read next. */
static size_t window(const struct dtx_xml *x)
{
	return x->base + x->end < FIRST ? FIRST : WINDOW;
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
		if (!dtx_mem_grow(&x->own, x->cap ? 2 * x->cap : 2 * (size_t)FIRST, 1))
			DTX_FAIL_MEM(err);
		x->cap = x->cap ? 2 * x->cap : 2 * (size_t)FIRST;
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
	size_t got, n = window(x) / 4;

	memcpy(raw, x->carry, x->ncarry);
	DTX_TRY(x->read(x->arg, raw + x->ncarry, n - x->ncarry, &got, err));
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
	DTX_TRY(x->read(x->arg, to + carried, window(x) - carried, &got, err));
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
	DTX_TRY(make_room(x, window(x) + DTX_XML_AHEAD, err));
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

enum {
	VALUE_MAX = 64 << 10,
	NAME_MAX_BYTES = 1024,
	TOKEN_CHARGE = 128 /* a short token takes as much time as so many bytes of a long one */
};

#define FAIL_XML(x, err, what)                                                                     \
	do {                                                                                       \
		rc = dtx_xml_fail((x), (err), __FILE__, __LINE__, (what));                         \
		goto out;                                                                          \
	} while (0)

void dtx_xml_init(struct dtx_xml *x, dtx_xml_read read, void *arg, const char *label,
                  const char *part)
{
	*x = (struct dtx_xml){ .read = read, .arg = arg, .label = label, .part = part };
	x->limits = &dtx_archive_limits_default;
	dtx_buf_init(&x->open, (size_t)DTX_XML_DEPTH * NAME_MAX_BYTES);
	dtx_buf_init(&x->scratch, TOKEN_MAX);
}

void dtx_xml_clear(struct dtx_xml *x)
{
	dtx_mem_free(x->own);
	dtx_buf_clear(&x->open);
	dtx_buf_clear(&x->scratch);
	*x = (struct dtx_xml)DTX_XML_INIT;
}

static enum dtx_code fill_checked(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = dtx_xml_fill(x, err);

	return rc == DTX_OK ? dtx_xml_check(x, err) : rc;
}

/* Makes at least n bytes available, or all that are left. */
static enum dtx_code need(struct dtx_xml *x, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_xml_check(x, err));
	while (x->end - x->pos < n && !x->eof)
		DTX_TRY(fill_checked(x, err));
out:
	return rc;
}

static bool at(const struct dtx_xml *x, const char *text)
{
	size_t n = strlen(text);

	return x->end - x->pos >= n && !memcmp(x->buf + x->pos, text, n);
}

/* Finds the end of the token at pos, which is marked by `stop`; *len counts from pos. Fails if
 * the part ends before that. The search begins at `from`. */
static enum dtx_code token_to(struct dtx_xml *x, const char *stop, size_t from, size_t *len,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t nstop = strlen(stop);

	for (;;) {
		size_t have = x->end - x->pos;
		const char *hit = have > from
		                          ? memmem(x->buf + x->pos + from, have - from, stop, nstop)
		                          : NULL;

		if (hit) {
			*len = (size_t)(hit - (x->buf + x->pos)) + nstop;
			goto out;
		}
		if (x->eof)
			FAIL_XML(x, err, "the part breaks off");
		from = have > nstop + from ? have - nstop : from;
		DTX_TRY(fill_checked(x, err));
	}
out:
	return rc;
}

/* The length of the tag at pos, up to the '>' outside quotes. */
static enum dtx_code tag_length(struct dtx_xml *x, size_t *len, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char quote = 0;
	size_t i = 1;

	for (;; i++) {
		char c;

		while (x->pos + i >= x->end) {
			if (x->eof)
				FAIL_XML(x, err, "the part breaks off inside a tag");
			DTX_TRY(fill_checked(x, err));
		}
		c = x->buf[x->pos + i];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			break;
		if (c == '<')
			FAIL_XML(x, err, "'<' inside a tag");
	}
	*len = i + 1;
out:
	return rc;
}

/* --- names, attributes, entities --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_char(char c)
{
	return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '-' || c == '.';
}

/* Cuts a name off *rest; it is empty if none. */
static struct dtx_str cut_name(struct dtx_str *rest)
{
	struct dtx_str name = { rest->ptr, 0 };
	char first = rest->len ? rest->ptr[0] : '-';

	if (first == '-' || first == '.' || (first >= '0' && first <= '9'))
		return name;
	while (name.len < rest->len && is_name_char(rest->ptr[name.len]))
		name.len++;
	rest->ptr += name.len;
	rest->len -= name.len;
	return name;
}

static void skip_blanks(struct dtx_str *rest)
{
	while (rest->len && is_blank(rest->ptr[0])) {
		rest->ptr++;
		rest->len--;
	}
}

static struct dtx_str local_name(struct dtx_str full)
{
	const char *colon = full.len ? memchr(full.ptr, ':', full.len) : NULL;
	size_t skip = colon ? (size_t)(colon - full.ptr) + 1 : 0;

	return (struct dtx_str){ full.ptr + skip, full.len - skip };
}

static bool char_allowed(uint32_t cp)
{
	return cp == 9 || cp == 10 || cp == 13 || (cp >= 0x20 && cp < 0xd800) ||
	       (cp >= 0xe000 && cp < 0xfffe) || (cp >= 0x10000 && cp < 0x110000);
}

#define NO_POINT UINT32_MAX

/* Reads the number of "#38" or "#x26". */
static uint32_t reference_number(struct dtx_str s)
{
	bool hex = s.len > 2 && s.ptr[1] == 'x';
	uint32_t cp = 0;
	size_t i;

	if (s.len < 2)
		return NO_POINT;

	for (i = hex ? 2 : 1; i < s.len; i++) {
		char c = s.ptr[i];
		uint32_t d = c >= '0' && c <= '9'          ? (uint32_t)(c - '0')
		             : hex && c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
		             : hex && c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
		                                           : 99;

		if (d == 99 || cp > 0x110000)
			return NO_POINT;
		cp = cp * (hex ? 16 : 10) + d;
	}
	return cp;
}

/* The text between the '&' and the ';' at s; ptr is NULL if there is no ';'. */
static struct dtx_str entity_body(struct dtx_str s)
{
	const char *semi =
		s.len && s.ptr[0] == '&' ? memchr(s.ptr, ';', DTX_MIN(s.len, (size_t)12)) : NULL;

	return semi ? (struct dtx_str){ s.ptr + 1, (size_t)(semi - s.ptr) - 1 }
	            : (struct dtx_str){ NULL, 0 };
}

/* Decodes the entity at s ("&lt;..."). *used becomes its length. Returns 0 if none. */
static uint32_t entity(struct dtx_str s, size_t *used)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {
		{ "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' }
	};
	struct dtx_str body = entity_body(s);
	uint32_t cp;
	size_t i;

	if (!body.ptr)
		return 0;
	*used = body.len + 2;
	if (body.len && body.ptr[0] == '#') {
		cp = reference_number(body);
		return cp != NO_POINT && char_allowed(cp) ? cp : 0;
	}
	for (i = 0; i < DTX_COUNT(known); i++) {
		if (dtx_str_is(body, known[i].name))
			return (unsigned char)known[i].c;
	}
	return 0;
}

/* Decodes the numeric reference at s; *used becomes its length. */
static uint32_t numeric_at(struct dtx_str s, size_t *used)
{
	struct dtx_str body = entity_body(s);

	*used = body.len + 2;
	return body.ptr && body.len && body.ptr[0] == '#' ? reference_number(body) : NO_POINT;
}

/* Decodes a reference to a character that XML does not allow, because some writers make
 * references of anything that is in a text. A control character is kept, two halves of a
 * surrogate pair become one character, and anything else becomes U+FFFD. Returns 0 if it is not
 * a reference. */
static uint32_t odd_reference(struct dtx_str s, size_t *used)
{
	uint32_t cp = numeric_at(s, used), low;
	size_t more;

	if (cp == NO_POINT)
		return 0;
	if (cp >= 0xd800 && cp < 0xdc00) {
		low = numeric_at((struct dtx_str){ s.ptr + *used, s.len - *used }, &more);
		if (low < 0xdc00 || low >= 0xe000)
			return 0xfffd;
		*used += more;
		return 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
	}
	return cp && cp < 0x110000 && (cp < 0xd800 || cp >= 0xe000) ? cp : 0xfffd;
}

/* Decodes an attribute value with entities or white space into scratch, which must have room for
 * it. */
static bool undo_value(struct dtx_xml *x, struct dtx_str raw, struct dtx_str *out)
{
	size_t begin = x->scratch.len, i = 0, used;
	char utf8[4];
	uint32_t cp;

	while (i < raw.len) {
		char c = raw.ptr[i];

		if (c != '&') {
			dtx_buf_addc(&x->scratch, is_blank(c) ? ' ' : c);
			i++;
			continue;
		}
		cp = entity((struct dtx_str){ raw.ptr + i, raw.len - i }, &used);
		if (!cp)
			return false;
		dtx_buf_addn(&x->scratch, utf8, dtx_utf8_put(utf8, cp));
		i += used;
	}
	*out = (struct dtx_str){ x->scratch.ptr + begin, x->scratch.len - begin };
	return dtx_buf_ok(&x->scratch);
}

static bool is_plain(struct dtx_str v)
{
	size_t i;

	for (i = 0; i < v.len; i++) {
		if (v.ptr[i] == '&' || v.ptr[i] == '\n' || v.ptr[i] == '\t' || v.ptr[i] == '\r')
			return false;
	}
	return true;
}

/* Takes one NAME="VALUE" off *rest. */
static enum dtx_code take_attr(struct dtx_xml *x, struct dtx_str *rest, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml_attr *a = &x->attr[x->nattr];
	const char *end;
	char quote;
	unsigned i;

	a->full = cut_name(rest);
	skip_blanks(rest);
	if (!a->full.len || !rest->len || rest->ptr[0] != '=')
		FAIL_XML(x, err, "a tag with something that is not an attribute");
	rest->ptr++;
	rest->len--;
	skip_blanks(rest);
	quote = rest->len ? rest->ptr[0] : 0;
	end = quote == '"' || quote == '\'' ? memchr(rest->ptr + 1, quote, rest->len - 1) : NULL;
	if (!end)
		FAIL_XML(x, err, "an attribute without quotes");
	a->name = local_name(a->full);
	a->value = (struct dtx_str){ rest->ptr + 1, (size_t)(end - rest->ptr) - 1 };
	rest->len -= a->value.len + 2;
	rest->ptr = end + 1;
	if (rest->len && !is_blank(rest->ptr[0]) && rest->ptr[0] != '/')
		FAIL_XML(x, err, "no blank after an attribute");
	if (a->value.len > VALUE_MAX) {
		rc = dtx_archive_limits_fixed(err, "attribute",
		                              "'%s': %s: an attribute of over %d bytes", x->label,
		                              x->part, VALUE_MAX);
		goto out;
	}
	if (!is_plain(a->value) && !undo_value(x, a->value, &a->value))
		FAIL_XML(x, err, "an unknown entity in an attribute");
	for (i = 0; i < x->nattr; i++) {
		if (dtx_str_eq(x->attr[i].full, a->full))
			FAIL_XML(x, err, "an attribute stands twice");
	}
	x->nattr++;
out:
	return rc;
}

bool dtx_xml_took_start(struct dtx_xml *x, struct dtx_str name)
{
	if (x->depth == DTX_XML_DEPTH || name.len > NAME_MAX_BYTES)
		return false;
	x->open_at[x->depth] = x->open.len;
	dtx_buf_adds(&x->open, name);
	x->depth += dtx_buf_ok(&x->open);
	return dtx_buf_ok(&x->open);
}

static struct dtx_str open_name(const struct dtx_xml *x)
{
	size_t from = x->open_at[x->depth - 1];

	return (struct dtx_str){ x->open.ptr + from, x->open.len - from };
}

bool dtx_xml_took_end(struct dtx_xml *x, struct dtx_str name)
{
	if (!x->depth || !dtx_str_eq(open_name(x), name))
		return false;
	x->open.len = x->open_at[--x->depth];
	return true;
}

static enum dtx_code push_name(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (x->depth == DTX_XML_DEPTH)
		return dtx_archive_limits_fixed(err, "depth",
		                                "'%s': %s: elements are nested over %d deep",
		                                x->label, x->part, DTX_XML_DEPTH);
	if (x->full.len > NAME_MAX_BYTES)
		FAIL_XML(x, err, "a name of over 1024 bytes");
	if (!dtx_xml_took_start(x, x->full))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- tokens --- */

static enum dtx_code start_tag(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest;
	size_t len;

	DTX_TRY(tag_length(x, &len, err));
	rest = (struct dtx_str){ x->buf + x->pos + 1, len - 2 };
	x->close_next = rest.len && rest.ptr[rest.len - 1] == '/';
	rest.len -= x->close_next;
	x->full = cut_name(&rest);
	if (!x->full.len || (rest.len && !is_blank(rest.ptr[0])))
		FAIL_XML(x, err, "'<' without a name");
	if (!x->depth && x->saw_root)
		FAIL_XML(x, err, "a second root element");
	x->name = local_name(x->full);
	x->nattr = 0;
	dtx_buf_reset(&x->scratch);
	/* A decoded value is never longer than its source, so scratch does not grow, and views
	 * into it stay valid. */
	if (!dtx_buf_room(&x->scratch, len))
		DTX_FAIL_MEM(err);
	for (skip_blanks(&rest); rest.len; skip_blanks(&rest)) {
		if (x->nattr == DTX_XML_ATTRS) {
			rc = dtx_archive_limits_fixed(err, "attributes",
			                              "'%s': %s: a tag with over %d attributes",
			                              x->label, x->part, DTX_XML_ATTRS);
			goto out;
		}
		DTX_TRY(take_attr(x, &rest, err));
	}
	DTX_TRY(push_name(x, err));
	x->saw_root = true;
	x->kind = DTX_XML_START;
	x->pos += len;
out:
	return rc;
}

static enum dtx_code end_tag(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest;
	size_t len;

	DTX_TRY(tag_length(x, &len, err));
	rest = (struct dtx_str){ x->buf + x->pos + 2, len - 3 };
	x->full = cut_name(&rest);
	skip_blanks(&rest);
	if (rest.len || !dtx_xml_took_end(x, x->full))
		FAIL_XML(x, err, "an end tag that closes nothing");
	x->name = local_name(x->full);
	x->kind = DTX_XML_END;
	x->pos += len;
out:
	return rc;
}

/* The closed name stays readable after the end of the list of open names. */
static void empty_end(struct dtx_xml *x)
{
	x->full = open_name(x);
	x->name = local_name(x->full);
	x->open.len = x->open_at[--x->depth];
	x->close_next = false;
	x->kind = DTX_XML_END;
}

static void give_text(struct dtx_xml *x, size_t len, size_t skip)
{
	x->kind = DTX_XML_TEXT;
	x->text = (struct dtx_str){ x->buf + x->pos, len };
	x->pos += len + skip;
}

/* CR and CR LF become LF. */
static enum dtx_code give_newline(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(need(x, 2, err));
	x->pos += at(x, "\r\n") ? 2 : 1;
	x->kind = DTX_XML_TEXT;
	x->text = DTX_STR("\n");
out:
	return rc;
}

static enum dtx_code give_entity(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t used = 0;
	uint32_t cp;

	DTX_TRY(need(x, 12, err));
	cp = entity((struct dtx_str){ x->buf + x->pos, x->end - x->pos }, &used);
	if (!cp && x->odd) {
		DTX_TRY(need(x, 24, err)); /* it may be two references */
		cp = odd_reference((struct dtx_str){ x->buf + x->pos, x->end - x->pos }, &used);
		*x->odd += cp != 0;
	}
	if (!cp)
		FAIL_XML(x, err, "an unknown entity");
	x->kind = DTX_XML_TEXT;
	x->text = (struct dtx_str){ x->decoded, dtx_utf8_put(x->decoded, cp) };
	x->pos += used;
out:
	return rc;
}

/* The number of bytes before the first `a`, `b` or CR. */
static size_t run_length(const struct dtx_xml *x, char a, char b)
{
	size_t n = 0, have = x->end - x->pos;

	while (n < have && x->buf[x->pos + n] != a && x->buf[x->pos + n] != b &&
	       x->buf[x->pos + n] != '\r')
		n++;
	return n;
}

static enum dtx_code text_token(struct dtx_xml *x, struct dtx_err *err)
{
	char c = x->buf[x->pos];

	if (c == '&')
		return give_entity(x, err);
	if (c == '\r')
		return give_newline(x, err);
	give_text(x, run_length(x, '<', '&'), 0);
	return DTX_OK;
}

/* Reads text inside <![CDATA[. At "]]>" the section ends, and *given stays false. */
static enum dtx_code cdata_token(struct dtx_xml *x, bool *given, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n;

	DTX_TRY(need(x, 3, err));
	if (x->end == x->pos)
		FAIL_XML(x, err, "the part breaks off inside CDATA");
	*given = !at(x, "]]>");
	if (!*given) {
		x->in_cdata = false;
		x->pos += 3;
	} else if (x->buf[x->pos] == '\r') {
		DTX_TRY(give_newline(x, err));
	} else {
		n = run_length(x, ']', ']');
		give_text(x, n ? n : 1, 0);
	}
out:
	return rc;
}

static enum dtx_code skip_comment(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t len;

	DTX_TRY(token_to(x, "-->", 4, &len, err));
	x->pos += len;
out:
	return rc;
}

/* <?xml ...?> may name an encoding, but the encoding of the bytes is known already. */
static enum dtx_code skip_instruction(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str body;
	ptrdiff_t enc;
	size_t len;

	DTX_TRY(token_to(x, "?>", 2, &len, err));
	body = (struct dtx_str){ x->buf + x->pos, len };
	enc = at(x, "<?xml ") ? dtx_str_find(body, DTX_STR("encoding"), 0) : -1;
	if (enc >= 0) {
		struct dtx_str v = { body.ptr + enc + 8, len - (size_t)enc - 8 };

		while (v.len && (is_blank(v.ptr[0]) || strchr("=\"'", v.ptr[0])))
			v = (struct dtx_str){ v.ptr + 1, v.len - 1 };
		v.len = DTX_MIN(v.len, (size_t)4);
		if (!dtx_str_ieq(v, DTX_STR("utf-")) && !dtx_str_ieq(v, DTX_STR("us-a")) &&
		    !dtx_str_ieq(v, DTX_STR("utf8")) && !dtx_str_ieq(v, DTX_STR("asci")))
			FAIL_XML(x, err, "an encoding other than UTF-8 and UTF-16");
	}
	x->pos += len;
out:
	return rc;
}

/* Handles the "<" at pos. *given: it made a token. */
static enum dtx_code markup(struct dtx_xml *x, bool *given, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(need(x, 9, err));
	*given = false;
	if (at(x, "<!--")) {
		DTX_TRY(skip_comment(x, err));
	} else if (at(x, "<?")) {
		DTX_TRY(skip_instruction(x, err));
	} else if (at(x, "<![CDATA[") && x->depth) {
		x->in_cdata = true;
		x->pos += 9;
	} else if (at(x, "<!")) {
		FAIL_XML(x, err, "a DOCTYPE or another declaration, which office files never have");
	} else {
		*given = true;
		DTX_TRY(at(x, "</") ? end_tag(x, err) : start_tag(x, err));
	}
out:
	return rc;
}

static enum dtx_code at_end(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (x->depth || !x->saw_root)
		FAIL_XML(x, err, x->saw_root ? "the part breaks off" : "the part is empty");
	x->kind = DTX_XML_EOF;
out:
	return rc;
}

enum dtx_code dtx_xml_next(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool given = false;

	if (x->close_next) {
		empty_end(x);
		goto out;
	}
	while (!given) {
		x->idle += TOKEN_CHARGE;
		DTX_TRY(need(x, 1, err));
		if (x->in_cdata) {
			DTX_TRY(cdata_token(x, &given, err));
		} else if (x->pos == x->end) {
			given = true;
			DTX_TRY(at_end(x, err));
		} else if (x->buf[x->pos] == '<') {
			DTX_TRY(markup(x, &given, err));
		} else if (x->depth) {
			given = true;
			DTX_TRY(text_token(x, err));
		} else if (is_blank(x->buf[x->pos])) {
			x->pos++;
		} else {
			FAIL_XML(x, err, "text outside the root element");
		}
	}
out:
	return rc;
}

/* Helpers for readers of XML parts: skip an element, take its text, look up an attribute. */

enum dtx_code dtx_xml_skip(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	do {
		DTX_TRY(dtx_xml_next(x, err));
	} while (x->kind != DTX_XML_END || x->depth >= depth);
out:
	return rc;
}

enum dtx_code dtx_xml_text(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_TEXT && x->depth == depth)
			dtx_buf_adds(out, x->text);
		DTX_TRY(dtx_buf_check(out, "text of an element", err));
	}
out:
	return rc;
}

struct dtx_str dtx_xml_attr(const struct dtx_xml *x, const char *name)
{
	unsigned i;

	for (i = 0; i < x->nattr; i++) {
		if (dtx_str_is(x->attr[i].full, name))
			return x->attr[i].value;
	}
	return (struct dtx_str){ NULL, 0 };
}

struct dtx_str dtx_xml_attr_ns(const struct dtx_xml *x, const char *name)
{
	unsigned i;

	for (i = 0; i < x->nattr; i++) {
		if (x->attr[i].full.len != x->attr[i].name.len && dtx_str_is(x->attr[i].name, name))
			return x->attr[i].value;
	}
	return (struct dtx_str){ NULL, 0 };
}

bool dtx_xml_bool(struct dtx_str value, bool *out)
{
	static const char *const word[] = { "0", "1", "false", "true", "off", "on", "f", "t" };
	size_t i;

	value = dtx_str_trim(value);
	for (i = 0; i < DTX_COUNT(word); i++) {
		if (!dtx_str_ieq(value, dtx_str_of(word[i])))
			continue;
		*out = i & 1;
		return true;
	}
	return false;
}
