/* Base64 with padding, as in RFC 4648. */
#ifndef DTX_BASE_TEXT_BASE64_H
#define DTX_BASE_TEXT_BASE64_H

#include "core/base/memory/buf.h"

void dtx_base64_put(struct dtx_str bytes, struct dtx_buf *out);
/* Decodes text and appends the bytes.  False: it is not valid Base64, and out may contain a part of
 * it. */
DTX_MUSTUSE bool dtx_base64_get(struct dtx_str text, struct dtx_buf *out);

#endif
