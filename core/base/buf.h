/* Growable bytes with a mandatory maximum.  A buffer remembers its first failure; it is asked
 * once, at the end (dtx_buf_ok).  After a failure, adding does nothing. */
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
/* max: bytes it may hold, not counting the terminator. */
#define DTX_BUF_INIT(maximum)                                                                      \
	{                                                                                          \
		NULL, 0, 0, (maximum), DTX_BUF_FINE                                                \
	}
#define DTX_BUF_TEXT_MAX ((size_t)64 << 20)

void dtx_buf_init(struct dtx_buf *b, size_t max);
void dtx_buf_clear(struct dtx_buf *b);
/* Forgets content and failure, keeps the memory. */
void dtx_buf_reset(struct dtx_buf *b);
/* Room for n more bytes at ptr + len; false (and failed) if not. */
bool dtx_buf_room(struct dtx_buf *b, size_t n);
void dtx_buf_add(struct dtx_buf *b, const char *text);
void dtx_buf_addn(struct dtx_buf *b, const void *bytes, size_t n);
void dtx_buf_adds(struct dtx_buf *b, struct dtx_str s);
void dtx_buf_addc(struct dtx_buf *b, char c);
void dtx_buf_printf(struct dtx_buf *b, const char *fmt, ...) DTX_PRINTF(2, 3);
void dtx_buf_vprintf(struct dtx_buf *b, const char *fmt, va_list ap) DTX_PRINTF(2, 0);
/* JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
void dtx_buf_json(struct dtx_buf *b, struct dtx_str s);
/* As a shell takes it for one word: in single quotes where it has to be. */
void dtx_buf_word(struct dtx_buf *b, const char *text);
/* NUL-terminated content ("" when empty or failed). */
const char *dtx_buf_text(struct dtx_buf *b);
/* Bytes of that: none after a failure, whatever was added before it. */
static inline size_t dtx_buf_len(const struct dtx_buf *b)
{
	return b->fail == DTX_BUF_FINE ? b->len : 0;
}
/* Both. */
static inline struct dtx_str dtx_buf_str(struct dtx_buf *b)
{
	return (struct dtx_str){ dtx_buf_text(b), dtx_buf_len(b) };
}
static inline bool dtx_buf_ok(const struct dtx_buf *b)
{
	return b->fail == DTX_BUF_FINE;
}
/* Content as dtx_mem memory, NUL-terminated; the buffer is left empty. NULL when it failed. */
DTX_MUSTUSE char *dtx_buf_steal(struct dtx_buf *b);
/* DTX_OK, else no_memory or cell_limit with `what` in the text. */
DTX_MUSTUSE enum dtx_code dtx_buf_check(const struct dtx_buf *b, const char *what,
                                        struct dtx_err *err);

#endif
