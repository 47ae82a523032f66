/* A JSON scanner for bytes in memory: values are spans of the source, nothing is copied. */
#ifndef DTX_IO_JSON_JSON_SCAN_H
#define DTX_IO_JSON_JSON_SCAN_H

#include "core/base/memory/buf.h"

enum {
	DTX_JSCAN_DEPTH = 1024,
	DTX_J_RECORD = 0x1e /* precedes each record of a JSON text sequence (RFC 7464) */
};

enum dtx_jkind {
	DTX_J_NULL,
	DTX_J_TRUE,
	DTX_J_FALSE,
	DTX_J_NUMBER,
	DTX_J_STRING,
	DTX_J_ARRAY,
	DTX_J_OBJECT
};
struct dtx_jvalue {
	enum dtx_jkind kind;
	bool escaped;       /* STRING: contains backslashes */
	struct dtx_str raw; /* STRING: the bytes between the quotes */
};
struct dtx_jscan {
	const char *p, *end;
	const char *why; /* after a failure: what was expected at p */
	/* Also accepts what only some programs write: NaN and Infinity (as null), a comma before
	 * a closing bracket, raw control characters, invalid escapes, and halves of a surrogate
	 * pair (as U+FFFD). Such places are counted. */
	bool lenient;
	uint64_t mended;
	const char *mended_at; /* the first such place */
	size_t most;           /* the most bytes of a value, longer ones fail; 0: no limit */
	bool too_long;         /* the failure was that limit */
};

void dtx_jscan_blanks(struct dtx_jscan *s);
/* Reads the whole value at p and checks it; p moves past it. Returns false if it is not JSON. */
DTX_MUSTUSE bool dtx_jscan_value(struct dtx_jscan *s, struct dtx_jvalue *out);
/* Reads a string at p. */
DTX_MUSTUSE bool dtx_jscan_string(struct dtx_jscan *s, struct dtx_jvalue *out);
/* Reads one expected character, skipping blanks before it. */
DTX_MUSTUSE bool dtx_jscan_char(struct dtx_jscan *s, char c, const char *why);
/* Skips the bracket that ends a container. After a comma that is only accepted leniently. */
DTX_MUSTUSE bool dtx_jscan_close(struct dtx_jscan *s, char bracket, bool comma);
/* After a value in a container: skips the comma (*more becomes true), or the bracket that ends
 * it. */
DTX_MUSTUSE bool dtx_jscan_more(struct dtx_jscan *s, char bracket, bool *more);
/* Appends the decoded text of a scanned string. */
void dtx_jscan_unescape(struct dtx_str raw, struct dtx_buf *out);
/* Whether the bytes are JSON tokens, as far as they go. */
bool dtx_jscan_tokens(const char *bytes, size_t len);

#endif
