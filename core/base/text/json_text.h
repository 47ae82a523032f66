/* JSON in a cell, read in place: numbers stay as they are written (1.10, 1234567890123456.78),
 * where a reader that makes values of them would round them.  Every reader of cells uses this one.
 */
#ifndef DTX_BASE_TEXT_JSON_TEXT_H
#define DTX_BASE_TEXT_JSON_TEXT_H

#include "core/base/buf.h"

struct dtx_jsontext {
	struct dtx_str s;
	size_t pos;
	int depth; /* of brackets; 0 at the start */
};

/* The next byte that is no blank, '\0' at the end; moves to it. */
char dtx_jsontext_peek(struct dtx_jsontext *r);
/* Takes the next byte that is no blank if it is `ch`. */
bool dtx_jsontext_take(struct dtx_jsontext *r, char ch);
/* Takes a string and appends it to out, unescaped; false: there is none, or it is no JSON. */
bool dtx_jsontext_string(struct dtx_jsontext *r, struct dtx_buf *out);
/* Takes a value and appends it to out as JSON without blanks. */
bool dtx_jsontext_value(struct dtx_jsontext *r, struct dtx_buf *out);
/* The whole text is one value.  `skip` is scratch: false also when it failed (dtx_buf_ok). */
bool dtx_jsontext_ok(struct dtx_str s, struct dtx_buf *skip);

#endif
