/* Hash of a result by its values: see tablehash.h.
 *
 * Every cell of a result is hashed, so the loop over cells must be fast.  Most of this file handles
 * the common case: a cell of at most 16 bytes is copied with one fixed-size copy, without a branch
 * on its length; the next cell overwrites the bytes that are too many.  Such a copy may read past
 * the cell, so it is allowed only where the bytes after it are known to be readable.  All other
 * cells take the general path, which writes the same bytes. */
#include "core/data/tablehash.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/base/memory/buf.h"
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/cast/cast.h"

#define TABLEHASH_ROW_MAX ((size_t)1 << 30)
#define TABLEHASH_KEPT    8 /* columns of numbers whose texts are kept for the writer */

static inline void tablehash_be32(uint8_t out[4], size_t v)
{
	out[0] = (uint8_t)(v >> 24);
	out[1] = (uint8_t)(v >> 16);
	out[2] = (uint8_t)(v >> 8);
	out[3] = (uint8_t)v;
}

static void tablehash_be64(uint8_t *out, uint64_t v)
{
	tablehash_be32(out, (size_t)(v >> 32));
	tablehash_be32(out + 4, (size_t)(v & 0xffffffffu));
}

/* --- rows of a batch --- */

void dtx_rowhash_clear(struct dtx_rowhash *p)
{
	dtx_mem_free(p->bytes);
	if (p->scratch)
		dtx_buf_clear(p->scratch);
	dtx_mem_free(p->scratch);
	dtx_mem_free(p->text);
	dtx_mem_free(p->printed);
	memset(p, 0, sizeof(*p));
}

static enum dtx_code rowhash_room(struct dtx_rowhash *p, size_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!p->scratch) {
		p->scratch = dtx_mem_zalloc(1, sizeof(*p->scratch));
		if (!p->scratch)
			DTX_FAIL_MEM(err);
		dtx_buf_init(p->scratch, TABLEHASH_ROW_MAX);
	}
	if (!dtx_mem_reserve(&p->bytes, &p->cap, DTX_MAX(rows, (size_t)1), DTX_ROWHASH_BYTES))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

#define ROWHASH_HEAD 5 /* byte 1 and the length */

/* Copies a cell.  Most are short, and for those two overlapping loads are faster than a call of
 * memcpy. */
static inline void rowhash_copy(uint8_t *to, const char *from, size_t len)
{
	uint64_t a, z;
	uint32_t b, y;

	if (len > 16) {
		memcpy(to, from, len);
	} else if (len >= sizeof(a)) {
		memcpy(&a, from, sizeof(a));
		memcpy(&z, from + len - sizeof(z), sizeof(z));
		memcpy(to, &a, sizeof(a));
		memcpy(to + len - sizeof(z), &z, sizeof(z));
	} else if (len >= sizeof(b)) {
		memcpy(&b, from, sizeof(b));
		memcpy(&y, from + len - sizeof(y), sizeof(y));
		memcpy(to, &b, sizeof(b));
		memcpy(to + len - sizeof(y), &y, sizeof(y));
	} else if (len) {
		to[0] = (uint8_t)from[0];
		to[len / 2] = (uint8_t)from[len / 2];
		to[len - 1] = (uint8_t)from[len - 1];
	}
}

static inline bool rowhash_fits(struct dtx_buf *b, size_t n)
{
	return (b->ptr && b->cap - b->len > n) || dtx_buf_room(b, n);
}

/* The common case: text that is already in memory, such as a cell of a text file without quotes. */
static inline void rowhash_text(struct dtx_str text, struct dtx_buf *b)
{
	uint8_t *to;

	if (!rowhash_fits(b, ROWHASH_HEAD + text.len))
		return;
	to = (uint8_t *)b->ptr + b->len;
	to[0] = 1;
	tablehash_be32(to + 1, text.len);
	rowhash_copy(to + ROWHASH_HEAD, text.ptr, text.len);
	b->len += ROWHASH_HEAD + text.len;
}

static void rowhash_workbook(const struct dtx_column *c, uint32_t row, struct dtx_buf *b)
{
	uint8_t *to;
	size_t n;

	if (dtx_cell_is_text(c, row)) {
		rowhash_text(c->strings->item[c->v.payload[row].id], b);
		return;
	}
	if (!dtx_buf_room(b, ROWHASH_HEAD + DTX_CELL_PRINT))
		return;
	to = (uint8_t *)b->ptr + b->len;
	n = dtx_cast_print_cell(c, row, (char *)to + ROWHASH_HEAD);
	to[0] = 1;
	tablehash_be32(to + 1, n);
	b->len += ROWHASH_HEAD + n;
}

/* Prints a number of a FLAT column straight into the message. */
static void rowhash_number(const struct dtx_column *c, uint32_t row, struct dtx_buf *b)
{
	uint8_t *to;
	size_t n;

	if (!rowhash_fits(b, ROWHASH_HEAD + DTX_NUM_TEXT))
		return;
	to = (uint8_t *)b->ptr + b->len;
	n = c->type.type == DTX_T_INT64
	            ? dtx_num_print_i64((char *)to + ROWHASH_HEAD, c->v.i64[row])
	            : dtx_num_print_f64((char *)to + ROWHASH_HEAD, c->v.f64[row]);
	to[0] = 1;
	tablehash_be32(to + 1, n);
	b->len += ROWHASH_HEAD + n;
}

static void rowhash_printed(const struct dtx_column *c, uint32_t row, struct dtx_buf *b)
{
	static const uint8_t head[ROWHASH_HEAD] = { 1, 0, 0, 0, 0 };
	size_t at = b->len;

	dtx_buf_addn(b, head, sizeof(head));
	dtx_cast_print(c, row, b);
	if (dtx_buf_ok(b))
		tablehash_be32((uint8_t *)b->ptr + at + 1, b->len - at - ROWHASH_HEAD);
}

static void rowhash_flat(const struct dtx_column *c, uint32_t row, struct dtx_buf *b)
{
	if (c->type.type == DTX_T_TEXT)
		rowhash_text(dtx_text_str(&c->v.text[row]), b);
	else if (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_FLOAT64)
		rowhash_number(c, row, b);
	else
		rowhash_printed(c, row, b);
}

/* Writes byte 0, or byte 1, length and text. */
static void rowhash_cell(const struct dtx_column *c, uint32_t row, struct dtx_buf *b)
{
	if (!c || dtx_column_is_null(c, row))
		dtx_buf_addc(b, '\0');
	else if (c->form == DTX_F_SPAN && !(c->v.span[row].len & DTX_SPAN_QUOTED))
		rowhash_text((struct dtx_str){ c->base + c->v.span[row].off, c->v.span[row].len },
		             b);
	else if (c->form == DTX_F_FLAT)
		rowhash_flat(c, row, b);
	else if (c->form == DTX_F_DICT)
		rowhash_text(dtx_text_str(&c->dict->v.text[c->v.code[row]]), b);
	else if (c->form == DTX_F_CELL)
		rowhash_workbook(c, row, b);
	else
		rowhash_printed(c, row, b);
}

/* --- columns of a batch --- */

#define ROWHASH_WIDE 16 /* bytes that are copied of a short cell, whatever its length */

enum rowhash_kind {
	ROWHASH_ANY,
	ROWHASH_SPAN,
	ROWHASH_TEXT,
	ROWHASH_DICT,
	ROWHASH_PRINTED,
	ROWHASH_KEPT
};

struct rowhash_col {
	const struct dtx_column *col;
	enum rowhash_kind kind;
	/* SPAN: cells that begin before this offset have ROWHASH_WIDE readable bytes */
	uint32_t wide_to;
	const struct dtx_printed *printed; /* PRINTED */
	struct dtx_printed *keep;          /* KEPT */
};

/* The end of the last cell: all bytes of the source before it are readable. */
static uint32_t rowhash_last(const struct dtx_batch *b, const struct dtx_span *span)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < b->nsel; i++) {
		struct dtx_span s = span[b->sel ? b->sel[i] : i];

		end = DTX_MAX(end, s.off + (s.len & DTX_SPAN_LEN));
	}
	return end;
}

/* The limit wide_to of a column.  `after` is a column to the right: its cells are mostly later in
 * the same source, so its limit is valid for this column too. */
static uint32_t rowhash_wide_to(const struct dtx_batch *b, const struct dtx_column *c,
                                const struct rowhash_col *after)
{
	uint32_t end;

	if (after && after->kind == ROWHASH_SPAN && after->col->base == c->base)
		return after->wide_to;
	end = rowhash_last(b, c->v.span);
	return end < ROWHASH_WIDE ? 0 : end - ROWHASH_WIDE + 1;
}

/* Prints all cells of a workbook column at once, because a writer will need the texts as well.  Not
 * worth it if a filter has dropped most rows. */
static enum dtx_code rowhash_print(const struct dtx_batch *b, struct dtx_column *c,
                                   struct rowhash_col *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!c || c->form != DTX_F_CELL || c->type.type == DTX_T_TEXT || b->nsel < c->len / 2)
		goto out;
	if (!atomic_load_explicit(&c->printed, memory_order_acquire))
		DTX_TRY(dtx_cast_print_ahead(c, err));
	out->kind = ROWHASH_PRINTED;
	out->printed = atomic_load_explicit(&c->printed, memory_order_acquire);
out:
	return rc;
}

static struct rowhash_col rowhash_col_of(const struct dtx_batch *b, const struct dtx_column *c,
                                         const struct rowhash_col *after)
{
	struct rowhash_col out = { .col = c, .kind = ROWHASH_ANY };

	if (c && c->form == DTX_F_SPAN && !c->narrow) {
		out.kind = ROWHASH_SPAN;
		out.wide_to = rowhash_wide_to(b, c, after);
	} else if (c && c->form == DTX_F_FLAT && c->type.type == DTX_T_TEXT) {
		out.kind = ROWHASH_TEXT;
	} else if (c && c->form == DTX_F_DICT) {
		out.kind = ROWHASH_DICT;
	}
	return out;
}

#define ROWHASH_SHORT  (ROWHASH_HEAD + ROWHASH_WIDE) /* bytes that are written for a short cell */
#define ROWHASH_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Writes byte 1 and a length of less than 256.  It also overwrites the three bytes after them,
 * where the text goes. */
static inline void rowhash_head(uint8_t *to, uint64_t len)
{
	uint64_t head = 1 | len << 32; /* the last byte of the big-endian length is the fifth
	                                * byte */

	if (ROWHASH_LITTLE) {
		memcpy(to, &head, sizeof(head));
	} else {
		to[0] = 1;
		tablehash_be32(to + 1, len);
	}
}

/* Writes a short cell, without a branch on its length.  Returns the length; 0 if the cell is not
 * short or is null, and then nothing is written. */
static inline uint32_t rowhash_short(const struct rowhash_col *rc, uint32_t row, uint8_t *to)
{
	const struct dtx_column *c = rc->col;
	const struct dtx_printed *p;
	const struct dtx_text *t;
	struct dtx_span s;

	if (c->valid && !dtx_bit(c->valid, row))
		return 0;
	switch (rc->kind) {
	case ROWHASH_SPAN:
		s = c->v.span[row];
		if (s.len > ROWHASH_WIDE || s.off >= rc->wide_to)
			return 0; /* also true for quoted cells */
		rowhash_head(to, s.len);
		memcpy(to + ROWHASH_HEAD, c->base + s.off, ROWHASH_WIDE);
		return s.len;
	case ROWHASH_PRINTED:
		p = &rc->printed[row];
		if (p->len > DTX_PRINTED_MAX) /* long, or a text */
			return 0;
		rowhash_head(to, p->len);
		memcpy(to + ROWHASH_HEAD, p->text, DTX_PRINTED_MAX);
		return p->len;
	default:
		t = rc->kind == ROWHASH_DICT ? &c->dict->v.text[c->v.code[row]] : &c->v.text[row];
		if (t->len > DTX_TEXT_INLINE)
			return 0;
		rowhash_head(to, t->len);
		memcpy(to + ROWHASH_HEAD, (const char *)t + offsetof(struct dtx_text, head),
		       DTX_TEXT_INLINE);
		return t->len;
	}
}

/* Writes the cells of columns c to n - 1 as long as they are short; there is room for all of them.
 * Returns the first column whose cell is not. */
static uint32_t rowhash_shorts(const struct rowhash_col *col, uint32_t c, uint32_t n, uint32_t row,
                               struct dtx_buf *b)
{
	uint8_t *to = (uint8_t *)b->ptr + b->len;

	for (; c < n && col[c].kind != ROWHASH_ANY && col[c].kind != ROWHASH_KEPT; c++) {
		uint32_t len = rowhash_short(&col[c], row, to);

		if (!len)
			break;
		to += ROWHASH_HEAD + len;
	}
	b->len = (size_t)(to - (uint8_t *)b->ptr);
	return c;
}

/* Writes a number and remembers where its text is, until rowhash_keep_text copies it for the
 * writer, which would otherwise print the number again. */
static void rowhash_kept(const struct rowhash_col *rc, uint32_t row, struct dtx_buf *b)
{
	struct dtx_printed *to = &rc->keep[row];
	size_t at = b->len + ROWHASH_HEAD, n;

	rowhash_cell(rc->col, row, b);
	n = b->len - at; /* wraps around for a null, and if there was no room */
	to->len = DTX_PRINTED_LONG;
	if (n - 1 >= DTX_PRINTED_MAX)
		return;
	memcpy(to->text, &at, sizeof(at));
	to->len = (uint8_t)n;
}

_Static_assert(sizeof(size_t) <= DTX_PRINTED_MAX, "room for a place");

static void rowhash_keep_text(struct dtx_printed *to, const struct dtx_buf *b)
{
	size_t at;

	if (to->len > DTX_PRINTED_MAX)
		return;
	memcpy(&at, to->text, sizeof(at));
	memcpy(to->text, b->ptr + at, DTX_PRINTED_MAX); /* there is room for DTX_NUM_TEXT */
}

static void rowhash_row(const struct rowhash_col *col, uint32_t ncols, uint32_t row,
                        struct dtx_buf *b)
{
	for (uint32_t c = 0; c < ncols; c++) {
		if (rowhash_fits(b, (size_t)(ncols - c) * ROWHASH_SHORT))
			c = rowhash_shorts(col, c, ncols, row, b);
		if (c < ncols && col[c].kind == ROWHASH_KEPT)
			rowhash_kept(&col[c], row, b);
		else if (c < ncols)
			rowhash_cell(col[c].col, row, b);
	}
}

/* Several rows are written before they are hashed.  The hash loads words that overlap several of
 * the stores which wrote the message, and such a load has to wait until those stores have left the
 * store buffer of the processor. */
#define ROWHASH_ROWS  32u
#define ROWHASH_BYTES ((size_t)8 << 10) /* beyond this size the stores are old enough */

static void rowhash_hash(const char *message, size_t len, uint8_t *to, dtx_u128 *sum)
{
	uint64_t hash[2];

	dtx_hash128(message, len, hash);
	tablehash_be64(to, hash[1]);
	tablehash_be64(to + 8, hash[0]);
	*sum += (dtx_u128)hash[1] << 64 | hash[0];
}

void dtx_rowhash_sum(struct dtx_rowhash *p)
{
	uint64_t half[2];

	p->sum = 0;
	for (size_t i = 0; i < p->n; i++) {
		memcpy(half, p->bytes + i * DTX_ROWHASH_BYTES, sizeof(half));
		p->sum += (dtx_u128)be64toh(half[0]) << 64 | be64toh(half[1]);
	}
}

/* Keeps the texts of numbers in the live rows [i, i + n). */
static void rowhash_keep_rows(const struct dtx_batch *b, const struct rowhash_col *col, uint32_t i,
                              uint32_t n, const struct dtx_buf *s)
{
	for (uint32_t c = 0; c < b->ncols; c++)
		for (uint32_t k = i; col[c].kind == ROWHASH_KEPT && k < i + n; k++)
			rowhash_keep_text(&col[c].keep[b->sel ? b->sel[k] : k], s);
}

/* Hashes some live rows from `i` on.  Returns the row after the last one. */
static uint32_t rowhash_some(const struct dtx_batch *b, const struct rowhash_col *col, uint32_t i,
                             struct dtx_rowhash *out)
{
	struct dtx_buf *s = out->scratch;
	size_t end[ROWHASH_ROWS], from = 0;
	uint32_t n = 0;

	dtx_buf_reset(s);
	for (; i + n < b->nsel && n < ROWHASH_ROWS && s->len < ROWHASH_BYTES; n++) {
		rowhash_row(col, b->ncols, b->sel ? b->sel[i + n] : i + n, s);
		end[n] = s->len;
	}
	if (!dtx_buf_ok(s))
		return i;
	if (out->keep)
		rowhash_keep_rows(b, col, i, n, s);
	for (uint32_t k = 0; k < n; from = end[k++])
		rowhash_hash(s->ptr ? s->ptr + from : "", end[k] - from,
		             out->bytes + DTX_ROWHASH_BYTES * (i + k), &out->sum);
	return i + n;
}

static bool rowhash_keeps(const struct dtx_column *c)
{
	return c && c->form == DTX_F_FLAT &&
	       (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_FLOAT64);
}

/* Makes room for the texts of the first columns of numbers. */
static enum dtx_code rowhash_keep(const struct dtx_batch *b, struct rowhash_col *col,
                                  struct dtx_rowhash *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = 0, at = 0;
	uint32_t i;

	if (!dtx_mem_reserve(&out->printed, &out->printed_cap, DTX_MAX(b->ncols, 1u),
	                     sizeof(struct dtx_printed *)))
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++)
		n += n < TABLEHASH_KEPT && rowhash_keeps(b->col[i]);
	if (!dtx_mem_reserve(&out->text, &out->text_cap, DTX_MAX(n * b->nrows, (size_t)1),
	                     sizeof(*out->text)))
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		out->printed[i] = NULL;
		if (at == n || !rowhash_keeps(b->col[i]))
			continue;
		col[i].kind = ROWHASH_KEPT;
		col[i].keep = out->text + at++ * b->nrows;
		out->printed[i] = col[i].keep;
	}
out:
	return rc;
}

enum dtx_code dtx_rowhash_batch(const struct dtx_batch *b, struct dtx_rowhash *out,
                                struct dtx_err *err)
{
	struct rowhash_col *col = dtx_mem_alloc((size_t)b->ncols + 1, sizeof(*col));
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	out->n = 0;
	out->sum = 0;
	if (!col)
		DTX_FAIL_MEM(err);
	DTX_TRY(rowhash_room(out, b->nsel, err));
	for (i = b->ncols; i-- > 0;) {
		col[i] = rowhash_col_of(b, b->col[i], i + 1 < b->ncols ? &col[i + 1] : NULL);
		DTX_TRY(rowhash_print(b, b->col[i], &col[i], err));
	}
	if (out->keep)
		DTX_TRY(rowhash_keep(b, col, out, err));
	for (i = 0; i < b->nsel;) {
		DTX_TRY(dtx_cancel_look(err)); /* a batch of many columns takes long */
		i = rowhash_some(b, col, i, out);
		DTX_TRY(dtx_buf_check(out->scratch, "row", err));
	}
	out->n = b->nsel;
out:
	dtx_mem_free(col);
	return rc;
}

/* --- the stream --- */

void dtx_tablehash_init(struct dtx_tablehash *t, const struct dtx_schema *schema)
{
	uint8_t be[4];
	uint32_t i;

	dtx_sha256_init(&t->sha);
	t->sum = 0;
	t->rows = 0;
	tablehash_be32(be, schema->nfields);
	dtx_sha256_add(&t->sha, be, sizeof(be));
	for (i = 0; i < schema->nfields; i++) {
		size_t len = strlen(schema->field[i].name);

		tablehash_be32(be, len);
		dtx_sha256_add(&t->sha, be, sizeof(be));
		dtx_sha256_add(&t->sha, schema->field[i].name, len);
	}
}

void dtx_tablehash_fold(struct dtx_tablehash *t, const struct dtx_rowhash *part)
{
	dtx_sha256_add(&t->sha, part->bytes, part->n * DTX_ROWHASH_BYTES);
	dtx_tablehash_count(t, part);
}

void dtx_tablehash_count(struct dtx_tablehash *t, const struct dtx_rowhash *part)
{
	t->sum += part->sum;
	t->rows += (int64_t)part->n;
}

void dtx_tablehash_done(struct dtx_tablehash *t, char table[DTX_TABLEHASH_TEXT],
                        char rows[DTX_TABLEHASH_TEXT])
{
	uint8_t digest[DTX_SHA256_SIZE];

	dtx_sha256_done(&t->sha, digest);
	memcpy(table, "t1:", 3);
	dtx_hex(digest, sizeof(digest), table + 3);
	snprintf(rows, DTX_TABLEHASH_TEXT, "r1:%016" PRIx64 "%016" PRIx64 ":%" PRId64,
	         (uint64_t)(t->sum >> 64), (uint64_t)t->sum, t->rows);
}

enum dtx_code dtx_tablehash_table(const struct dtx_table *table,
                                  char table_hash[DTX_TABLEHASH_TEXT],
                                  char rows_hash[DTX_TABLEHASH_TEXT], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rowhash part = DTX_ROWHASH_INIT;
	struct dtx_tablehash t;
	size_t i;

	dtx_tablehash_init(&t, table->schema);
	for (i = 0; i < table->nbatches; i++) {
		DTX_TRY(dtx_rowhash_batch(table->batch[i], &part, err));
		dtx_tablehash_fold(&t, &part);
	}
	dtx_tablehash_done(&t, table_hash, rows_hash);
out:
	dtx_rowhash_clear(&part);
	return rc;
}
