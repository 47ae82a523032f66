/* Text of workbooks that know no Unicode: bytes of a code page by its number. */
#ifndef DTX_IO_CODEPAGE_H
#define DTX_IO_CODEPAGE_H

#include "core/base/buf.h"

struct dtx_codepage {
	unsigned number;
	const uint16_t
		*high; /* code points of the bytes 80 to FF; NULL: several bytes a character */
	void *conv;    /* iconv_t for those */
};

/* bad_encoding when nobody knows the number; 0 is 1252.  Pages of one byte a character need
 * nothing from outside, others open a conversion of iconv. */
DTX_MUSTUSE enum dtx_code dtx_codepage_open(struct dtx_codepage *cp, unsigned number,
                                            const char *label, struct dtx_err *err);
void dtx_codepage_close(struct dtx_codepage *cp); /* zeroed is fine */
/* Appends the bytes as UTF-8: NUL is left out, what is no character becomes U+FFFD. */
void dtx_codepage_add(const struct dtx_codepage *cp, const uint8_t *bytes, size_t len,
                      struct dtx_buf *out);

#endif
