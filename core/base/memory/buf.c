/* Growable bytes: see buf.h. */
#include "core/base/memory/buf.h"

#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"

void dtx_buf_init(struct dtx_buf *b, size_t max)
{
	*b = (struct dtx_buf)DTX_BUF_INIT(max);
}

void dtx_buf_clear(struct dtx_buf *b)
{
	dtx_mem_free(b->ptr);
	dtx_buf_init(b, b->max);
}

void dtx_buf_reset(struct dtx_buf *b)
{
	b->len = 0;
	b->fail = DTX_BUF_FINE;
}

bool dtx_buf_room(struct dtx_buf *b, size_t n)
{
	size_t want;

	if (b->fail != DTX_BUF_FINE)
		return false;
	if (n > b->max - b->len) {
		b->fail = DTX_BUF_MAX;
		return false;
	}
	want = b->len + n + 1; /* one byte for the terminator */
	if (want > b->cap && !dtx_mem_reserve(&b->ptr, &b->cap, want, 1)) {
		b->fail = DTX_BUF_MEM;
		return false;
	}
	return true;
}

void dtx_buf_addn(struct dtx_buf *b, const void *bytes, size_t n)
{
	if (!n || !dtx_buf_room(b, n))
		return;
	memcpy(b->ptr + b->len, bytes, n);
	b->len += n;
}

void dtx_buf_add(struct dtx_buf *b, const char *text)
{
	dtx_buf_addn(b, text, strlen(text));
}

void dtx_buf_adds(struct dtx_buf *b, struct dtx_str s)
{
	dtx_buf_addn(b, s.ptr, s.len);
}

void dtx_buf_addc(struct dtx_buf *b, char c)
{
	dtx_buf_addn(b, &c, 1);
}

void dtx_buf_vprintf(struct dtx_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || !dtx_buf_room(b, (size_t)n))
		return;
	vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void dtx_buf_printf(struct dtx_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dtx_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

static void buf_json_cp(struct dtx_buf *b, uint32_t cp)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char *const escaped[] = { "\\\"", "\\\\", "\\b", "\\f", "\\n", "\\r", "\\t" };
	const char *p = cp && cp < 128 ? strchr(plain, (int)cp) : NULL;
	char utf8[4];

	if (p)
		dtx_buf_add(b, escaped[p - plain]);
	else if (cp < 32)
		dtx_buf_printf(b, "\\u%04x", (unsigned)cp);
	else
		dtx_buf_addn(b, utf8, dtx_utf8_put(utf8, cp));
}

/* Number of bytes at the start that JSON text may contain without an escape. */
static size_t buf_json_plain(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (unsigned char)p[i] - 0x20u < 0x60u && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

void dtx_buf_json(struct dtx_buf *b, struct dtx_str s)
{
	size_t pos = 0, plain;

	dtx_buf_addc(b, '"');
	while (pos < s.len) {
		plain = buf_json_plain(s.ptr + pos, s.len - pos);
		dtx_buf_addn(b, s.ptr + pos, plain);
		pos += plain;
		if (pos < s.len)
			buf_json_cp(b, dtx_utf8_next(s.ptr, s.len, &pos));
	}
	dtx_buf_addc(b, '"');
}

void dtx_buf_word(struct dtx_buf *b, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-.:/,@%+=";

	if (*text && *text != '=' && strspn(text, plain) == strlen(text)) {
		dtx_buf_add(b, text);
		return;
	}
	dtx_buf_addc(b, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			dtx_buf_add(b, "'\\''");
		else
			dtx_buf_addc(b, *text);
	}
	dtx_buf_addc(b, '\'');
}

const char *dtx_buf_text(struct dtx_buf *b)
{
	if (b->fail != DTX_BUF_FINE || !b->ptr)
		return "";
	b->ptr[b->len] = '\0';
	return b->ptr;
}

char *dtx_buf_steal(struct dtx_buf *b)
{
	char *text;

	if (b->fail != DTX_BUF_FINE || !dtx_buf_room(b, 0)) {
		dtx_buf_clear(b);
		return NULL;
	}
	b->ptr[b->len] = '\0';
	text = b->ptr;
	dtx_buf_init(b, b->max);
	return text;
}

enum dtx_code dtx_buf_check(const struct dtx_buf *b, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->fail == DTX_BUF_MEM)
		DTX_FAIL_MEM(err);
	if (b->fail == DTX_BUF_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "%s is larger than %zu bytes", what, b->max);
out:
	return rc;
}
