/* When a text stands in quotes in a delimited file: one rule for cells that a file is written with,
 * and for those that take the place of a source's. */
#ifndef DTX_DATA_QUOTING_H
#define DTX_DATA_QUOTING_H

#include "core/base/buf.h"

struct dtx_quoting {
	char quote;
	bool special[256]; /* bytes for which a text is quoted */
};
void dtx_quoting_init(struct dtx_quoting *q, char delim, char quote);
/* The text with quotes around it, those in it doubled. */
void dtx_quoting_put(const struct dtx_quoting *q, struct dtx_str text, struct dtx_buf *out);

static inline bool dtx_quoting_edge(char c)
{
	return c == ' ' || c == '\t';
}

/* Empty text does, as a cell of nothing is null; so do blanks at an end, which readers drop. */
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
