/* A strict pull parser for the XML in office files. It reads a stream in bounded memory.
 *
 * It accepts UTF-8 and UTF-16, the five predefined entities and character references. A DOCTYPE
 * is refused, so there are no custom or external entities. Depth, attributes and token sizes are
 * limited. Names are compared without their prefix, because files use any. Errors: corrupt_file
 * if the XML is not well-formed, archive_limit if something is too large. One thread per parser. */
#ifndef DTX_IO_ARCHIVE_XML_H
#define DTX_IO_ARCHIVE_XML_H

#include "core/base/memory/buf.h"
#include "core/base/err.h"
#include "core/io/archive/archive_limits.h"

enum { DTX_XML_DEPTH = 64, DTX_XML_ATTRS = 64, DTX_XML_AHEAD = 64 };

enum dtx_xml_kind { DTX_XML_EOF, DTX_XML_START, DTX_XML_END, DTX_XML_TEXT };

struct dtx_xml_attr {
	struct dtx_str full, name; /* as written; without the prefix */
	struct dtx_str value;      /* decoded */
};
typedef enum dtx_code (*dtx_xml_read)(void *arg, void *to, size_t cap, size_t *got,
                                      struct dtx_err *err);
typedef enum dtx_code (*dtx_xml_lend)(void *arg, char **at, size_t *got, struct dtx_err *err);
struct dtx_xml {
	dtx_xml_read read;
	void *arg;
	const char *label, *part; /* for messages; borrowed */
	/* uses `text` and `idle`; the defaults unless set */
	const struct dtx_archive_limits *limits;
	/* Counts references to characters that XML does not allow. NULL: they are refused. */
	uint64_t *odd;
	/* Like `read` but without a copy, see dtx_read_ahead_lend. NULL: not available. */
	dtx_xml_lend lend;

	/* The bytes [pos, end) of buf are not yet consumed. Those before `checked` are known to
	 * be UTF-8 without control characters. A fast path may consume whole elements here; of
	 * unchecked bytes it may only use those that it compares. */
	char *buf; /* `own`, or lent; DTX_XML_AHEAD NULs follow `end` */
	size_t pos, end, checked;
	char *own;
	size_t cap;    /* bytes in own */
	uint64_t base; /* offset of buf[0] in the part */
	bool eof;
	bool plain;     /* set by `read` and `lend`: all bytes of this call pass dtx_xml_plain */
	bool asked;     /* a check was needed since the last `read`, so the next one should do it */
	uint64_t quiet; /* bytes since the last '<' */
	uint64_t idle;  /* bytes, plus a charge for each token, since the last value */
	unsigned char carry[4]; /* bytes of a character that the last read cut off */
	unsigned ncarry;
	enum { DTX_XML_SNIFF, DTX_XML_UTF8, DTX_XML_LE, DTX_XML_BE } encoding;

	enum dtx_xml_kind kind;    /* the token; its views are valid until the next call */
	struct dtx_str full, name; /* START, END */
	struct dtx_str text;       /* TEXT: a piece; the text of one element may come in several */
	struct dtx_xml_attr attr[DTX_XML_ATTRS];
	unsigned nattr;
	unsigned depth;  /* number of open elements, including one just started */
	bool close_next; /* START was <x/>; the next token is its END */
	bool in_cdata, saw_root;
	struct dtx_buf open; /* names of the open elements, concatenated */
	size_t open_at[DTX_XML_DEPTH];
	struct dtx_buf scratch; /* decoded attribute values */
	char decoded[4];        /* a decoded character reference */
};
#define DTX_XML_INIT                                                                               \
	{                                                                                          \
		.label = "", .part = ""                                                            \
	}

void dtx_xml_init(struct dtx_xml *x, dtx_xml_read read, void *arg, const char *label,
                  const char *part);
void dtx_xml_clear(struct dtx_xml *x);
/* Reads the next token to x->kind: EOF after the root element is closed and the stream has
 * ended. */
DTX_MUSTUSE enum dtx_code dtx_xml_next(struct dtx_xml *x, struct dtx_err *err);
/* After START: skips everything up to and including the matching END. */
DTX_MUSTUSE enum dtx_code dtx_xml_skip(struct dtx_xml *x, struct dtx_err *err);
/* After START: appends the element's own text to `out`, without that of inner elements, and
 * consumes everything up to its END. */
DTX_MUSTUSE enum dtx_code dtx_xml_text(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err);
/* The value of an attribute without a prefix, or with any prefix; ptr is NULL if none. */
struct dtx_str dtx_xml_attr(const struct dtx_xml *x, const char *name);
struct dtx_str dtx_xml_attr_ns(const struct dtx_xml *x, const char *name);
/* Tells the parser that what it read has given a value. A part that continues for too long
 * without a value, or without a tag, is refused with archive_limit: it would only cost time. */
static inline void dtx_xml_took_value(struct dtx_xml *x)
{
	x->idle = 0;
}
/* Reads xs:boolean, and the words that older drafts used, in any case. Returns false if it is
 * neither. */
DTX_MUSTUSE bool dtx_xml_bool(struct dtx_str value, bool *out);
static inline bool dtx_xml_true(struct dtx_str value)
{
	bool on = false;

	return dtx_xml_bool(value, &on) && on;
}
static inline bool dtx_xml_is(const struct dtx_xml *x, const char *name)
{
	return dtx_str_is(x->name, name);
}
/* Whether all bytes are ASCII characters that XML allows, so that no other check is needed. */
bool dtx_xml_plain(const char *bytes, size_t len);
/* For the fast path: reads more bytes after `end`, which are not checked. Bytes before `pos` may
 * move away. Sets x->eof if there are no more. */
DTX_MUSTUSE enum dtx_code dtx_xml_fill(struct dtx_xml *x, struct dtx_err *err);
/* Checks the bytes that have not been checked. The tokenizer only uses checked bytes. */
DTX_MUSTUSE enum dtx_code dtx_xml_check_rest(struct dtx_xml *x, struct dtx_err *err);
static inline enum dtx_code dtx_xml_check(struct dtx_xml *x, struct dtx_err *err)
{
	x->asked = true;
	return x->checked == x->end ? DTX_OK : dtx_xml_check_rest(x, err);
}
/* Sets corrupt_file with the part and the byte that x has reached. */
enum dtx_code dtx_xml_fail(const struct dtx_xml *x, struct dtx_err *err, const char *file, int line,
                           const char *what);
/* For the fast path: it has consumed a start tag <NAME ...>, or an end tag </NAME>. Returns
 * false if the name is not that of the open element, or the depth is exceeded. */
DTX_MUSTUSE bool dtx_xml_took_start(struct dtx_xml *x, struct dtx_str name);
DTX_MUSTUSE bool dtx_xml_took_end(struct dtx_xml *x, struct dtx_str name);

#endif
