/* Hints for texts that are nearly JSON. */
#ifndef DTX_BASE_TEXT_JSON_HINT_H
#define DTX_BASE_TEXT_JSON_HINT_H

#include "core/base/err.h"
#include "core/base/text/str.h"

/* Adds a hint to err.  `says` is the message of the parser ("unexpected token near ']'"),
 * `position` the byte after the token. */
void dtx_json_hint(struct dtx_err *err, struct dtx_str text, size_t position, const char *says);

#endif
