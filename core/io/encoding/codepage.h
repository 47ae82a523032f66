/* Text of workbooks that know no Unicode: code pages by number.  The usual ones of one byte a
 * character are here; any other has to be loaded first, which a locked process cannot do. */
#ifndef DTX_IO_ENCODING_CODEPAGE_H
#define DTX_IO_ENCODING_CODEPAGE_H

#include "core/base/buf.h"

struct dtx_codepage {
	unsigned number;
	uint16_t high[128]; /* code points of the bytes 80 to FF */
};

/* Has iconv's page of that number at hand from now on, in place of one before; before there are
 * threads.  Nothing happens if there is no such page. */
void dtx_codepage_load(unsigned number);
/* bad_encoding for pages that are not at hand, whose number is then in err->more: {"page": 932}.  0
 * is 1252. */
DTX_MUSTUSE enum dtx_code dtx_codepage_find(unsigned number, const char *label,
                                            const struct dtx_codepage **out, struct dtx_err *err);
/* Appends the bytes as UTF-8: NUL is left out, what is no character becomes U+FFFD.  Both bytes of
 * a character have to be there. */
void dtx_codepage_add(const struct dtx_codepage *page, const uint8_t *bytes, size_t len,
                      struct dtx_buf *out);

#endif
