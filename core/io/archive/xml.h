/* A strict pull tokenizer for the XML of office files, over a stream, in bounded memory.
 *
 * UTF-8 and UTF-16; the five entities and character references only; a DOCTYPE is refused; depth,
 * attributes and token sizes are bounded.  Names are compared without their prefix: files use any.
 * What is not well formed is corrupt_file, what is too large archive_limit. */
#ifndef DTX_IO_ARCHIVE_XML_H
#define DTX_IO_ARCHIVE_XML_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/io/archive/archive_limits.h"

enum { DTX_XML_DEPTH = 64, DTX_XML_ATTRS = 64, DTX_XML_AHEAD = 64 };

enum dtx_xml_kind { DTX_XML_EOF, DTX_XML_START, DTX_XML_END, DTX_XML_TEXT };

struct dtx_xml_attr {
	struct dtx_str full, name; /* as written; without prefix */
	struct dtx_str value;      /* entities undone */
};
typedef enum dtx_code (*dtx_xml_read)(void *arg, void *to, size_t cap, size_t *got,
                                      struct dtx_err *err);
typedef enum dtx_code (*dtx_xml_lend)(void *arg, char **at, size_t *got, struct dtx_err *err);
struct dtx_xml {
	dtx_xml_read read;
	void *arg;
	const char *label, *part;                /* for messages; borrowed */
	const struct dtx_archive_limits *limits; /* `text`, `idle`; those of default unless set */
	/* Counts references in texts to characters that XML does not have; NULL: they are refused.
	 */
	uint64_t *odd;
	/* As `read` without a copy, see dtx_read_ahead_lend; NULL: there is no such thing. */
	dtx_xml_lend lend;

	/* Bytes [pos, end) of buf are not yet consumed; those before `checked` are known to be
	 * UTF-8 without control characters.  A fast path may consume whole elements here; of what
	 * is not checked only bytes that it compares. */
	char *buf; /* `own`, or lent; DTX_XML_AHEAD NULs stand behind `end` */
	size_t pos, end, checked;
	char *own;
	size_t cap;    /* of own */
	uint64_t base; /* offset of buf[0] in the part */
	bool eof;
	bool plain;     /* set by `read` and `lend`: the bytes that it gave are dtx_xml_plain */
	bool asked;     /* since the last `read` a check was wanted: it had better say it */
	uint64_t quiet; /* bytes without a '<' */
	uint64_t idle;  /* bytes, and a charge for each token, since a value was taken */
	unsigned char carry[4]; /* bytes of a character cut by the last read */
	unsigned ncarry;
	enum { DTX_XML_SNIFF, DTX_XML_UTF8, DTX_XML_LE, DTX_XML_BE } encoding;

	enum dtx_xml_kind kind;    /* the token; views last until the next call */
	struct dtx_str full, name; /* START, END */
	struct dtx_str text;       /* TEXT: a piece; an element's text may come in several */
	struct dtx_xml_attr attr[DTX_XML_ATTRS];
	unsigned nattr;
	unsigned depth;  /* open elements, counting the one just started */
	bool close_next; /* START was <x/>: END comes without bytes */
	bool in_cdata, saw_root;
	struct dtx_buf open; /* names of the open elements, one after the other */
	size_t open_at[DTX_XML_DEPTH];
	struct dtx_buf scratch; /* undone attribute values */
	char decoded[4];        /* an undone character reference */
};
#define DTX_XML_INIT                                                                               \
	{                                                                                          \
		.label = "", .part = ""                                                            \
	}

void dtx_xml_init(struct dtx_xml *x, dtx_xml_read read, void *arg, const char *label,
                  const char *part);
void dtx_xml_clear(struct dtx_xml *x);
/* The next token in x->kind.  EOF once the root is closed and the stream has ended. */
DTX_MUSTUSE enum dtx_code dtx_xml_next(struct dtx_xml *x, struct dtx_err *err);
/* After START: everything up to and with its END is consumed. */
DTX_MUSTUSE enum dtx_code dtx_xml_skip(struct dtx_xml *x, struct dtx_err *err);
/* After START: appends the element's own text to `out` (text of inner elements is left out) and
 * consumes up to its END. */
DTX_MUSTUSE enum dtx_code dtx_xml_text(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err);
/* Value of an attribute without prefix / with any prefix; ptr NULL if absent. */
struct dtx_str dtx_xml_attr(const struct dtx_xml *x, const char *name);
struct dtx_str dtx_xml_attr_ns(const struct dtx_xml *x, const char *name);
/* A value came of what has been read.  A part that goes on and on without one, or without a tag, is
 * archive_limit: it only costs time. */
static inline void dtx_xml_took_value(struct dtx_xml *x)
{
	x->idle = 0;
}
/* xs:boolean, and the words that older drafts have for it, in any case; false: it is neither. */
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
/* Whether all bytes are ASCII characters that a part may have: nothing else is to be checked. */
bool dtx_xml_plain(const char *bytes, size_t len);
/* Reads more bytes behind `end`, which are not checked; bytes before `pos` may move away.  x->eof
 * when there are none.  For the fast path. */
DTX_MUSTUSE enum dtx_code dtx_xml_fill(struct dtx_xml *x, struct dtx_err *err);
/* Checks what is not: all the tokenizer takes is. */
DTX_MUSTUSE enum dtx_code dtx_xml_check_rest(struct dtx_xml *x, struct dtx_err *err);
static inline enum dtx_code dtx_xml_check(struct dtx_xml *x, struct dtx_err *err)
{
	x->asked = true;
	return x->checked == x->end ? DTX_OK : dtx_xml_check_rest(x, err);
}
/* corrupt_file with part and byte of the place that x has reached. */
enum dtx_code dtx_xml_fail(const struct dtx_xml *x, struct dtx_err *err, const char *file, int line,
                           const char *what);
/* The fast path took a start tag <NAME ...> / an end tag </NAME> itself.  False: the name is not
 * that of the open element, or the depth is used up. */
DTX_MUSTUSE bool dtx_xml_took_start(struct dtx_xml *x, struct dtx_str name);
DTX_MUSTUSE bool dtx_xml_took_end(struct dtx_xml *x, struct dtx_str name);

#endif
