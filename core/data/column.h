/* Columns of a batch.  They are immutable, reference counted and shared between threads.
 *
 * `type` is the type that the plan sees, `form` is how the column is stored:
 *   FLAT   an array of values and validity bits
 *   SPAN   cells of a text file: offsets of bytes in the file, not parsed yet
 *   CELL   cells of a workbook: tag and payload, not converted yet
 *   DICT   codes that index a FLAT text column of distinct values
 *   CONST  one value (row 0 of the array) for every row
 *
 * SPAN and CELL columns are late-typed: a cell is converted only if a step needs its value, and
 * output can copy the source bytes.  The converted form of such a column is its typed twin. */
#ifndef DTX_DATA_COLUMN_H
#define DTX_DATA_COLUMN_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/text/str.h"
#include "core/data/owner.h"
#include "core/data/type.h"

enum dtx_form { DTX_F_FLAT, DTX_F_SPAN, DTX_F_CELL, DTX_F_DICT, DTX_F_CONST };

/* A text cell in the source: its interior without quotes, at `off` from the column's base.  The top
 * bit of len says that the cell is quoted: with its quotes it is then [off - 1, off + len + 1), and
 * "" inside stands for ".  An unquoted cell of length 0 is null. */
struct dtx_span {
	uint32_t off, len;
};
#define DTX_SPAN_QUOTED 0x80000000u
#define DTX_SPAN_LEN    0x7fffffffu
/* Offsets of the cell including its quotes. */
static inline uint32_t dtx_span_begin(struct dtx_span s)
{
	return s.off - (s.len >> 31);
}
static inline uint32_t dtx_span_end(struct dtx_span s)
{
	return s.off + (s.len & DTX_SPAN_LEN) + (s.len >> 31);
}

/* A text view of 16 bytes, as in Umbra and Arrow's string view: up to 12 bytes are inline (padded
 * with zeros), else it has the first 4 bytes and a pointer. */
#define DTX_TEXT_INLINE 12
struct dtx_text {
	uint32_t len;
	char head[4];
	union {
		char tail[8];
		const char *ptr;
	} u;
};

struct dtx_dec128 {
	uint64_t lo;
	int64_t hi;
};

/* The tag of a workbook cell.  `tag` & DTX_CELL_KIND is its kind. */
enum dtx_cell_tag {
	DTX_CELL_BLANK,  /* nothing */
	DTX_CELL_NUMBER, /* u.num */
	DTX_CELL_BOOL,   /* u.id: 0 or 1 */
	DTX_CELL_ERROR,  /* u.id: index for dtx_cell_error_name() */
	DTX_CELL_TEXT,   /* u.id: a string of the grid */
	DTX_CELL_ISO,    /* u.id: a string of the grid that is an ISO date (t="d") */
	DTX_CELL_DATE,   /* u.num: serial number; kind by its number format; epoch of the grid */
	DTX_CELL_DATETIME,
	DTX_CELL_TIME, /* u.num: days */
	DTX_CELL_DURATION,
	DTX_CELL_WHOLE = 0x0b, /* u.whole: an int beyond 2^53, which a double might not hold */
	DTX_CELL_KIND = 0x0f,
	DTX_CELL_FORMULA = 0x10,   /* the value is the cached result of a formula */
	DTX_CELL_UNCACHED = 0x20,  /* a formula without cached value: blank, a bad cell */
	DTX_CELL_MERGE_UP = 0x40,  /* blank, in a merged range that begins above */
	DTX_CELL_MERGE_LEFT = 0x80 /* blank, in a merged range that begins to the left */
};
union dtx_payload {
	double num;
	int64_t whole;
	uint64_t id;
};
/* The strings of a CELL column: UTF-8 without NUL. */
struct dtx_strings {
	const struct dtx_str *item;
	size_t n;
	bool epoch1904;
};

/* The text that a cell is printed as. */
#define DTX_PRINTED_MAX  15
#define DTX_PRINTED_LONG 0xff /* a text, or too long to be kept */
struct dtx_printed {
	char text[DTX_PRINTED_MAX];
	uint8_t len;
};

/* How the cells of a text file are written. */
struct dtx_celldialect {
	char delim, quote; /* 0: none */
	bool home;         /* the dialect of the output, whose writer copies such cells */
};
#define DTX_CELLDIALECT_CSV                                                                        \
	(struct dtx_celldialect)                                                                   \
	{                                                                                          \
		.delim = ',', .quote = '"'                                                         \
	}
static inline bool dtx_celldialect_same(struct dtx_celldialect a, struct dtx_celldialect b)
{
	return a.delim == b.delim && a.quote == b.quote;
}

struct dtx_column {
	atomic_int refs;
	enum dtx_form form;
	struct dtx_typeref type;
	uint32_t len;
	uint32_t nulls;        /* exact for FLAT, DICT, CONST; UINT32_MAX: not counted */
	const uint64_t *valid; /* Bit per row, least significant first, 1 = present.  NULL: no nulls
	                        * (SPAN: only unquoted empty cells are null). */
	union {
		const uint64_t *bits; /* BOOL */
		const int64_t *i64;   /* INT64; DATETIME: microseconds since 1970 UTC */
		const int32_t *day;   /* DATE: days since 1970-01-01 */
		const double *f64;    /* finite, never -0.0 */
		const struct dtx_dec128 *dec;
		const struct dtx_text *text;
		const struct dtx_span *span;
		const uint32_t *code;             /* DICT */
		const union dtx_payload *payload; /* CELL */
		const void *any;
	} v;
	const char *base;               /* SPAN: offsets count from here */
	struct dtx_celldialect dialect; /* SPAN: how the cells are written, for byte-exact copies */
	bool narrow;        /* SPAN: cells come from several blocks, so bytes around a cell may be
	                     * unreadable */
	bool apart;         /* SPAN and texts: the bytes belong to the owner that `owner` keeps, not
	                     * to `owner` itself */
	const uint8_t *tag; /* CELL */
	const struct dtx_strings *strings;     /* CELL; owned by `owner` */
	_Atomic(struct dtx_column *) typed;    /* SPAN, CELL: the typed twin.  The worker that has
	                                        * the batch makes it when it is first needed; it is
	                                        * freed with the column. */
	_Atomic(struct dtx_printed *) printed; /* CELL: text of each row, after
	                                        * dtx_cast_print_ahead; freed with the column */
	struct dtx_column *dict;               /* DICT: distinct values as a FLAT text column;
	                                        * counted */
	struct dtx_owner *owner;               /* owner of the memory above */
};

/* A new column, whose members the caller fills in before the column is shared.  Takes `owner`.
 * NULL: out of memory (`owner` has been released). */
DTX_MUSTUSE struct dtx_column *dtx_column_new(enum dtx_form form, struct dtx_typeref type,
                                              uint32_t len, struct dtx_owner *owner);
struct dtx_column *dtx_column_ref(struct dtx_column *c); /* NULL is allowed */
void dtx_column_unref(struct dtx_column *c);

/* The dialect that the cells of c are written in, or would be written in as text. */
static inline struct dtx_celldialect dtx_column_dialect(const struct dtx_column *c)
{
	return c->form == DTX_F_SPAN ? c->dialect : DTX_CELLDIALECT_CSV;
}

static inline bool dtx_bit(const uint64_t *bits, size_t i)
{
	return (bits[i >> 6] >> (i & 63)) & 1;
}
static inline void dtx_bit_set(uint64_t *bits, size_t i)
{
	bits[i >> 6] |= (uint64_t)1 << (i & 63);
}
static inline size_t dtx_bit_words(size_t n)
{
	return (n + 63) / 64;
}

static inline bool dtx_column_is_null(const struct dtx_column *c, uint32_t row)
{
	if (c->form == DTX_F_CONST)
		row = 0;
	if (c->form == DTX_F_SPAN && c->v.span[row].len == 0)
		return true;
	if (c->form == DTX_F_CELL && ((c->tag[row] & DTX_CELL_KIND) == DTX_CELL_BLANK ||
	                              (c->tag[row] & DTX_CELL_KIND) == DTX_CELL_ERROR))
		return true;
	return c->valid && !dtx_bit(c->valid, row);
}

/* Whether a CELL is text: item[payload.id] of `strings`. */
static inline bool dtx_cell_is_text(const struct dtx_column *c, uint32_t row)
{
	unsigned kind = c->tag[row] & DTX_CELL_KIND;

	return kind == DTX_CELL_TEXT || kind == DTX_CELL_ISO;
}

/* A column with the cells of c and without its typed twin; a new reference to c if it has none. */
DTX_MUSTUSE enum dtx_code dtx_column_untyped(struct dtx_column *c, struct dtx_column **out,
                                             struct dtx_err *err);
/* The owner of the memory that copies of c's values still point into; borrowed.  NULL for numbers.
 * For cells of a text file it is the owner of the text, not of the arrays of all rows that were
 * read. */
struct dtx_owner *dtx_column_owner(const struct dtx_column *c);

/* The bytes of a text view; valid while the column lives. */
static inline struct dtx_str dtx_text_str(const struct dtx_text *t)
{
	return (struct dtx_str){ t->len <= DTX_TEXT_INLINE ? t->head : t->u.ptr, t->len };
}
/* A view of bytes that live longer than the view.  This is the inner loop of text columns, so
 * inline bytes are copied by two overlapping moves of fixed size instead of one of variable
 * size. */
static inline struct dtx_text dtx_text_of(const char *ptr, size_t len)
{
	struct dtx_text t = { (uint32_t)len, { 0 }, { { 0 } } };
	char inl[DTX_TEXT_INLINE] = { 0 };

	if (len > DTX_TEXT_INLINE) {
		memcpy(t.head, ptr, sizeof(t.head));
		t.u.ptr = ptr;
		return t;
	}
	if (len >= 8) {
		memcpy(inl, ptr, 8);
		memcpy(inl + len - 4, ptr + len - 4, 4);
	} else if (len >= 4) {
		memcpy(inl, ptr, 4);
		memcpy(inl + len - 4, ptr + len - 4, 4);
	} else if (len) {
		inl[0] = ptr[0];
		inl[len / 2] = ptr[len / 2];
		inl[len - 1] = ptr[len - 1];
	}
	memcpy(t.head, inl, sizeof(t.head));
	memcpy(t.u.tail, inl + sizeof(t.head), sizeof(t.u.tail));
	return t;
}
bool dtx_text_eq(const struct dtx_text *a, const struct dtx_text *b);

/* The text in a row of a FLAT, DICT or CONST text column. */
struct dtx_str dtx_column_text(const struct dtx_column *c, uint32_t row);

/* Makes a dense column of the rows sel[0..n).  The form stays the same; an existing typed twin is
 * gathered too. */
DTX_MUSTUSE enum dtx_code dtx_column_gather(struct dtx_column *c, const uint16_t *sel, uint32_t n,
                                            struct dtx_column **out, struct dtx_err *err);
/* The rows [from, from + n).  Shares memory if the form allows it (validity bits may be copied). */
DTX_MUSTUSE enum dtx_code dtx_column_slice(struct dtx_column *c, uint32_t from, uint32_t n,
                                           struct dtx_column **out, struct dtx_err *err);
/* A CONST column of n nulls. */
DTX_MUSTUSE enum dtx_code dtx_column_nulls(struct dtx_typeref type, uint32_t n,
                                           struct dtx_column **out, struct dtx_err *err);
/* A DICT or CONST column as FLAT.  For other forms it is a new reference to c. */
DTX_MUSTUSE enum dtx_code dtx_column_flat(struct dtx_column *c, struct dtx_column **out,
                                          struct dtx_err *err);
/* The text of an error value: "#DIV/0!" and so on. */
const char *dtx_cell_error_name(uint64_t id);
/* The index of an error text; -1 if it is not one. */
int dtx_cell_error_find(struct dtx_str text);

#endif
