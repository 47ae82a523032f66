/* Goes through the lines of a text. Lines end with LF, CR LF or CR. */
#ifndef DTX_IO_CSV_LINES_H
#define DTX_IO_CSV_LINES_H

#include "core/base/text/str.h"

static inline bool dtx_line_is_end(char c)
{
	return c == '\n' || c == '\r';
}

/* The line that begins at `at`, without its end. */
static inline struct dtx_str dtx_line_at(struct dtx_str text, size_t at)
{
	size_t end = at;

	while (end < text.len && !dtx_line_is_end(text.ptr[end]))
		end++;
	return (struct dtx_str){ text.ptr + at, end - at };
}

/* How often the byte occurs in the line. */
static inline uint32_t dtx_line_count(struct dtx_str line, char c)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < line.len; i++)
		n += line.ptr[i] == c;
	return n;
}

/* Where the next line begins, which may be empty; text.len after the last line. */
static inline size_t dtx_line_after(struct dtx_str text, struct dtx_str line)
{
	size_t at = (size_t)(line.ptr - text.ptr) + line.len;

	at += at + 1 < text.len && text.ptr[at] == '\r' && text.ptr[at + 1] == '\n';
	return DTX_MIN(at + 1, text.len);
}

/* Where the next line begins that is not empty. */
static inline size_t dtx_line_filled(struct dtx_str text, struct dtx_str line)
{
	size_t at = (size_t)(line.ptr - text.ptr) + line.len;

	while (at < text.len && dtx_line_is_end(text.ptr[at]))
		at++;
	return at;
}

#endif
