/* Decides when a text needs quotes in a delimited file.  The writer of files uses it, and so does
 * the code that replaces cells of a source (spanbuf.c), so both follow one rule. */
#ifndef DTX_DATA_QUOTING_H
#define DTX_DATA_QUOTING_H

#include "core/base/memory/buf.h"

struct dtx_quoting {
	char quote;
	bool special[256]; /* bytes that make quotes necessary */
};
void dtx_quoting_init(struct dtx_quoting *q, char delim, char quote);
/* Appends the text in quotes; quotes inside of it are doubled. */
void dtx_quoting_put(const struct dtx_quoting *q, struct dtx_str text, struct dtx_buf *out);

static inline bool dtx_quoting_edge(char c)
{
	return c == ' ' || c == '\t';
}

/* Empty text needs quotes, because a cell without bytes is null.  So does text with blanks at an
 * end, because readers drop them. */
static inline bool dtx_quoting_needed(const struct dtx_quoting *q, struct dtx_str text)
{
	if (!text.len || dtx_quoting_edge(text.ptr[0]) || dtx_quoting_edge(text.ptr[text.len - 1]))
		return true;
	for (size_t i = 0; i < text.len; i++)
		if (q->special[(unsigned char)text.ptr[i]])
			return true;
	return false;
}

#endif
