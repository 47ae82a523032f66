/* A JSON scanner over bytes in memory: values stay spans of the source. */
#ifndef DTX_IO_JSON_JSON_SCAN_H
#define DTX_IO_JSON_JSON_SCAN_H

#include "core/base/buf.h"

enum {
	DTX_JSCAN_DEPTH = 1024,
	DTX_J_RECORD = 0x1e /* before each record of a JSON text sequence (RFC 7464) */
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
	bool escaped;       /* STRING: holds backslashes */
	struct dtx_str raw; /* STRING: what is between the quotes */
};
struct dtx_jscan {
	const char *p, *end;
	const char *why; /* after a failure: what was expected; p is the place */
	/* Reads what only other programs' JSON has: NaN and Infinity as null, a comma before a
	 * closing bracket, raw control characters, escapes that are none, halves of a surrogate
	 * pair as U+FFFD.  Such places are counted. */
	bool lenient;
	uint64_t mended;
	const char *mended_at; /* the first */
	size_t most;           /* bytes of a value: a longer one is not read to its end; 0: any */
	bool too_long;         /* ... and that was the failure */
};

void dtx_jscan_blanks(struct dtx_jscan *s);
/* The whole value at p, checked to its end; p moves behind it.  False: not JSON. */
DTX_MUSTUSE bool dtx_jscan_value(struct dtx_jscan *s, struct dtx_jvalue *out);
/* A string at p. */
DTX_MUSTUSE bool dtx_jscan_string(struct dtx_jscan *s, struct dtx_jvalue *out);
/* One expected character, blanks before it are skipped. */
DTX_MUSTUSE bool dtx_jscan_char(struct dtx_jscan *s, char c, const char *why);
/* Steps over the bracket that ends a container; behind a comma only leniently. */
DTX_MUSTUSE bool dtx_jscan_close(struct dtx_jscan *s, char bracket, bool comma);
/* Behind a value in a container: steps over the comma (*more), or over the bracket that ends it. */
DTX_MUSTUSE bool dtx_jscan_more(struct dtx_jscan *s, char bracket, bool *more);
/* Appends the text of a scanned string. */
void dtx_jscan_unescape(struct dtx_str raw, struct dtx_buf *out);
/* Whether the bytes are JSON tokens, as far as they go. */
bool dtx_jscan_tokens(const char *bytes, size_t len);

#endif
