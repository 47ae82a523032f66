/* Converts text of workbooks from before Unicode, by number of the code page. The usual
 * single-byte pages are built in. Any other page must be loaded first, which a locked process
 * cannot do. */
#ifndef DTX_IO_ENCODING_CODEPAGE_H
#define DTX_IO_ENCODING_CODEPAGE_H

#include "core/base/memory/buf.h"

struct dtx_codepage {
	unsigned number;
	uint16_t high[128]; /* code points of the bytes 80 to FF */
};

/* Loads the page of that number from iconv, replacing one that was loaded before. Must be called
 * before there are threads. Does nothing if there is no such page. */
void dtx_codepage_load(unsigned number);
/* Finds a page; 0 means 1252. If it is not available, fails with bad_encoding, and err->more has
 * its number: {"page": 932}. */
DTX_MUSTUSE enum dtx_code dtx_codepage_find(unsigned number, const char *label,
                                            const struct dtx_codepage **out, struct dtx_err *err);
/* Appends the bytes as UTF-8. NUL is left out, bytes without a character become U+FFFD. `bytes`
 * must not end within a character. */
void dtx_codepage_add(const struct dtx_codepage *page, const uint8_t *bytes, size_t len,
                      struct dtx_buf *out);

#endif
