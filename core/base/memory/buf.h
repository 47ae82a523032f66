/* Growable bytes, in the manner of redis' sds and git's strbuf, with a mandatory maximum.
 *
 * A buffer remembers its first failure (out of memory, or the maximum is reached), and every later
 * call that adds to it does nothing.  A caller may therefore add many pieces without a check and
 * ask once, at the end: dtx_buf_ok or dtx_buf_check.  `ptr` belongs to the buffer and moves when it
 * grows. */
#ifndef DTX_BASE_BUF_H
#define DTX_BASE_BUF_H

#include <stdarg.h>

#include "core/base/err.h"
#include "core/base/text/str.h"

enum dtx_buf_fail { DTX_BUF_FINE, DTX_BUF_MEM, DTX_BUF_MAX };
struct dtx_buf {
	char *ptr;
	size_t len, cap, max;
	enum dtx_buf_fail fail;
};
/* `maximum` is the number of bytes that the buffer may hold, without the terminator. */
#define DTX_BUF_INIT(maximum)                                                                      \
	{                                                                                          \
		NULL, 0, 0, (maximum), DTX_BUF_FINE                                                \
	}
#define DTX_BUF_TEXT_MAX ((size_t)64 << 20)

void dtx_buf_init(struct dtx_buf *b, size_t max);
void dtx_buf_clear(struct dtx_buf *b);
/* Forgets content and failure but keeps the memory for the next use. */
void dtx_buf_reset(struct dtx_buf *b);
/* Makes room for n more bytes at ptr + len.  False: no memory, and the buffer has failed. */
bool dtx_buf_room(struct dtx_buf *b, size_t n);
void dtx_buf_add(struct dtx_buf *b, const char *text);
void dtx_buf_addn(struct dtx_buf *b, const void *bytes, size_t n);
void dtx_buf_adds(struct dtx_buf *b, struct dtx_str s);
void dtx_buf_addc(struct dtx_buf *b, char c);
void dtx_buf_printf(struct dtx_buf *b, const char *fmt, ...) DTX_PRINTF(2, 3);
void dtx_buf_vprintf(struct dtx_buf *b, const char *fmt, va_list ap) DTX_PRINTF(2, 0);
/* Appends a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD. */
void dtx_buf_json(struct dtx_buf *b, struct dtx_str s);
/* Appends `text` as one word of a shell command: in single quotes if the shell would not take it as
 * it is. */
void dtx_buf_word(struct dtx_buf *b, const char *text);
/* The content with a NUL at its end; "" when the buffer is empty or has failed.  Valid until the
 * buffer changes. */
const char *dtx_buf_text(struct dtx_buf *b);
/* Length of dtx_buf_text: 0 after a failure, even if something was added before it. */
static inline size_t dtx_buf_len(const struct dtx_buf *b)
{
	return b->fail == DTX_BUF_FINE ? b->len : 0;
}
/* Text and length together. */
static inline struct dtx_str dtx_buf_str(struct dtx_buf *b)
{
	return (struct dtx_str){ dtx_buf_text(b), dtx_buf_len(b) };
}
static inline bool dtx_buf_ok(const struct dtx_buf *b)
{
	return b->fail == DTX_BUF_FINE;
}
/* Hands the content over: NUL-terminated memory that the caller frees with dtx_mem_free.  The
 * buffer is empty afterwards.  NULL when it failed. */
DTX_MUSTUSE char *dtx_buf_steal(struct dtx_buf *b);
/* Turns a failure into an error: no_memory, or cell_limit with `what` in its text.  DTX_OK if there
 * was none. */
DTX_MUSTUSE enum dtx_code dtx_buf_check(const struct dtx_buf *b, const char *what,
                                        struct dtx_err *err);

#endif
