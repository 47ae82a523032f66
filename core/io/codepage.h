/* Text of workbooks that know no Unicode: pages of one byte a character, by number. */
#ifndef DTX_IO_CODEPAGE_H
#define DTX_IO_CODEPAGE_H

#include "core/base/buf.h"

struct dtx_codepage {
	unsigned number;
	uint16_t high[128]; /* code points of the bytes 80 to FF */
};

/* bad_encoding for pages of several bytes a character and unknown ones; 0 is 1252. */
DTX_MUSTUSE enum dtx_code dtx_codepage_find(unsigned number, const char *label,
                                            const struct dtx_codepage **out, struct dtx_err *err);
/* Appends the bytes as UTF-8: NUL is left out, what is no character becomes U+FFFD. */
void dtx_codepage_add(const struct dtx_codepage *page, const uint8_t *bytes, size_t len,
                      struct dtx_buf *out);

#endif
