/* JSON inside of a cell, read in place.  Numbers stay as they are written (1.10,
 * 1234567890123456.78), whereas a parser that converts them to doubles would round them.  Every
 * reader of cells uses this one. */
#ifndef DTX_BASE_TEXT_JSON_TEXT_H
#define DTX_BASE_TEXT_JSON_TEXT_H

#include "core/base/memory/buf.h"

struct dtx_jsontext {
	struct dtx_str s;
	size_t pos;
	int depth; /* nesting of brackets; 0 at the start */
};

/* Skips blanks and returns the next byte without taking it; '\0' at the end. */
char dtx_jsontext_peek(struct dtx_jsontext *r);
/* Takes the next byte that is not blank if it is `ch`. */
bool dtx_jsontext_take(struct dtx_jsontext *r, char ch);
/* Takes a string and appends it to out without its escapes.  False: there is no string, or it is
 * not valid. */
bool dtx_jsontext_string(struct dtx_jsontext *r, struct dtx_buf *out);
/* Takes a value and appends it to out as JSON without blanks. */
bool dtx_jsontext_value(struct dtx_jsontext *r, struct dtx_buf *out);
/* Whether the whole text is one value.  `skip` is scratch memory; if it fails (dtx_buf_ok), the
 * result is false. */
bool dtx_jsontext_ok(struct dtx_str s, struct dtx_buf *skip);

#endif
