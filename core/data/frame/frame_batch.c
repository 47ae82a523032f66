/* Batches as bytes and back, see frame_batch.h.
 *
 * The layout, with offsets from the first byte: a head (struct batch_head), one struct batch_column
 * per column, then arrays at multiples of 8. Array a has the values, b the bytes that spans and
 * long texts point into, v the validity bits. */
#include "core/data/frame/frame_batch.h"

#include "core/base/memory/mem.h"

#define PAD 64u /* around the bytes of cells, because readers load whole words */

/* SHORT: cells of at most 32767 bytes, as lengths of 16 bits; SPAN: as lengths of 32 bits. */
enum { FORM_ABSENT, FORM_SPAN, FORM_SHORT, FORM_FLAT, FORM_NULLS };
#define SHORT_QUOTED 0x8000u
#define SHORT_LEN    0x7fffu

struct batch_head {
	uint32_t nrows, ncols;
	uint64_t first_row, rec_off; /* rec_off: row ids; 0: none */
};
struct batch_column {
	uint8_t form, type, precision, scale;
	uint8_t delim, quote, home, zero;
	uint32_t nulls, zero2;
	uint64_t a_off, b_off, b_len, v_off; /* v_off 0: no nulls */
};
_Static_assert(sizeof(struct batch_head) == 24 && sizeof(struct batch_column) == 48,
               "the structs are their layout in the file");

static size_t value_size(enum dtx_type type)
{
	switch (type) {
	case DTX_T_DATE: return 4;
	case DTX_T_DECIMAL:
	case DTX_T_TEXT: return 16;
	default: return 8;
	}
}

static size_t values_bytes(enum dtx_type type, uint32_t n)
{
	return type == DTX_T_BOOL ? dtx_bit_words(n) * 8 : n * value_size(type);
}

/* --- writing --- */

/* Appends n zero bytes at the next multiple of 8, and sets *off to their place. NULL: the buffer
 * has no room, which it remembers. */
static char *put_room(struct dtx_buf *out, size_t n, uint64_t *off)
{
	static const char zeros[8];
	char *at;

	dtx_buf_addn(out, zeros, (8 - out->len % 8) % 8);
	*off = out->len;
	if (!dtx_buf_room(out, n))
		return NULL;
	at = out->ptr + out->len;
	memset(at, 0, n);
	out->len += n;
	return at;
}

static void put_valid(const struct dtx_column *c, struct batch_column *to, struct dtx_buf *out)
{
	size_t words = dtx_bit_words(c->len);
	char *at;
	uint64_t last;

	if (!c->valid || !c->nulls || !c->len)
		return;
	at = put_room(out, words * 8, &to->v_off);
	if (!at)
		return;
	memcpy(at, c->valid, words * 8);
	last = c->valid[words - 1];
	if (c->len % 64)
		last &= ((uint64_t)1 << c->len % 64) - 1;
	memcpy(at + (words - 1) * 8, &last, 8);
}

/* Cells as they are written, with their quotes, one after the other. Where each begins follows from
 * the lengths of those before it. */
static void put_spans(const struct dtx_column *c, struct batch_column *to, struct dtx_buf *out)
{
	size_t bytes = 2 * PAD, at = PAD;
	uint32_t longest = 0;
	bool fits;
	char *b;

	to->delim = (uint8_t)c->dialect.delim;
	to->quote = (uint8_t)c->dialect.quote;
	to->home = c->dialect.home;
	for (uint32_t i = 0; i < c->len; i++) {
		bytes += dtx_span_end(c->v.span[i]) - dtx_span_begin(c->v.span[i]);
		longest = DTX_MAX(longest, c->v.span[i].len & DTX_SPAN_LEN);
	}
	fits = longest <= SHORT_LEN;
	to->form = fits ? FORM_SHORT : FORM_SPAN;
	to->b_len = bytes;
	if (!put_room(out, bytes, &to->b_off) ||
	    !put_room(out, c->len * (fits ? sizeof(uint16_t) : sizeof(uint32_t)), &to->a_off))
		return;
	b = out->ptr + to->b_off; /* the buffer may have moved */
	for (uint32_t i = 0; i < c->len; i++) {
		struct dtx_span from = c->v.span[i];
		size_t n = dtx_span_end(from) - dtx_span_begin(from);

		if (fits)
			((uint16_t *)(void *)(out->ptr + to->a_off))[i] =
				(uint16_t)((from.len & SHORT_LEN) |
			                   (from.len & DTX_SPAN_QUOTED ? SHORT_QUOTED : 0));
		else
			((uint32_t *)(void *)(out->ptr + to->a_off))[i] = from.len;
		if (from.len)
			memcpy(b + at, c->base + dtx_span_begin(from), n);
		at += from.len ? n : 0;
	}
}

static void put_texts(const struct dtx_column *c, struct batch_column *to, struct dtx_buf *out)
{
	size_t bytes = 0, at = 0;
	struct dtx_text *text;
	char *b;

	for (uint32_t i = 0; i < c->len; i++)
		if (c->v.text[i].len > DTX_TEXT_INLINE && !dtx_column_is_null(c, i))
			bytes += c->v.text[i].len;
	to->b_len = bytes;
	if (bytes && !put_room(out, bytes, &to->b_off))
		return;
	if (!put_room(out, c->len * sizeof(*text), &to->a_off))
		return;
	text = (struct dtx_text *)(void *)(out->ptr + to->a_off);
	b = out->ptr + to->b_off;
	for (uint32_t i = 0; i < c->len; i++) {
		const struct dtx_text *from = &c->v.text[i];
		uint64_t place = at;

		if (dtx_column_is_null(c, i))
			continue;
		text[i] = *from;
		if (from->len <= DTX_TEXT_INLINE)
			continue;
		memcpy(b + at, from->u.ptr, from->len);
		memcpy(text[i].u.tail, &place, sizeof(place));
		at += from->len;
	}
}

/* Values of nulls may be what memory had before, so they become zeros: a part that is made twice
 * has the same bytes. */
static void clear_nulls(const struct dtx_column *c, char *at)
{
	size_t width = value_size(c->type.type);

	for (uint32_t i = 0; i < c->len; i++) {
		if (!dtx_column_is_null(c, i))
			continue;
		if (c->type.type == DTX_T_BOOL)
			((uint64_t *)(void *)at)[i >> 6] &= ~((uint64_t)1 << (i & 63));
		else
			memset(at + i * width, 0, width);
	}
}

static void put_values(const struct dtx_column *c, struct batch_column *to, struct dtx_buf *out)
{
	size_t n = values_bytes(c->type.type, c->len);
	char *at = put_room(out, n, &to->a_off);

	if (!at || !n)
		return;
	memcpy(at, c->v.any, n);
	if (c->type.type == DTX_T_BOOL && c->len % 64) {
		uint64_t last = c->v.bits[c->len / 64] & (((uint64_t)1 << c->len % 64) - 1);

		memcpy(at + n - 8, &last, 8);
	}
	if (c->valid && c->nulls)
		clear_nulls(c, at);
}

static enum dtx_code put_column(struct dtx_column *c, struct batch_column *to, struct dtx_buf *out,
                                struct dtx_err *err)
{
	struct dtx_column *flat = NULL;
	enum dtx_code rc = DTX_OK;

	if (!c)
		return DTX_OK;
	DTX_ASSERT(c->form != DTX_F_CELL && c->type.type != DTX_T_UNKNOWN, err);
	to->type = (uint8_t)c->type.type;
	to->precision = c->type.precision;
	to->scale = c->type.scale;
	to->nulls = c->nulls;
	if (c->form == DTX_F_SPAN) {
		put_spans(c, to, out);
		put_valid(c, to, out);
		goto out;
	}
	to->form = c->type.type == DTX_T_NULL ? FORM_NULLS : FORM_FLAT;
	if (to->form == FORM_NULLS)
		goto out;
	DTX_TRY(dtx_column_flat(c, &flat, err));
	to->nulls = flat->nulls;
	if (c->type.type == DTX_T_TEXT)
		put_texts(flat, to, out);
	else
		put_values(flat, to, out);
	put_valid(flat, to, out);
out:
	dtx_column_unref(flat);
	return rc;
}

/* About as many bytes as the batch takes, so that the buffer need not grow. */
static size_t room_for(const struct dtx_batch *b)
{
	size_t n = sizeof(struct batch_head) + b->ncols * (sizeof(struct batch_column) + 256);

	for (uint32_t i = 0; i < b->ncols; i++) {
		const struct dtx_column *c = b->col[i];

		n += c ? b->nrows * (c->form == DTX_F_SPAN ? 2 : 17u) : 0;
		for (uint32_t row = 0; c && c->form == DTX_F_SPAN && row < b->nrows; row++)
			n += (c->v.span[row].len & DTX_SPAN_LEN) + 2 * (c->v.span[row].len >> 31);
	}
	return n + (b->rec ? b->nrows * sizeof(*b->rec) : 0);
}

enum dtx_code dtx_frame_batch_save(struct dtx_batch *b, struct dtx_buf *out, struct dtx_err *err)
{
	struct batch_head head;
	struct batch_column *col = NULL;
	uint64_t at;
	char *room;
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(!out->len, err);
	DTX_TRY(dtx_batch_dense(b, err));
	(void)dtx_buf_room(out, room_for(b)); /* the buffer remembers a failure */
	head = (struct batch_head){ b->nrows, b->ncols, b->first_row, 0 };
	col = dtx_mem_zalloc(b->ncols + 1u, sizeof(*col));
	if (!col || !put_room(out, sizeof(head) + b->ncols * sizeof(*col), &at))
		DTX_FAIL_MEM(err);
	if (b->rec) {
		room = put_room(out, b->nrows * sizeof(*b->rec), &head.rec_off);
		if (room && b->nrows)
			memcpy(room, b->rec, b->nrows * sizeof(*b->rec));
	}
	for (uint32_t i = 0; i < b->ncols; i++)
		DTX_TRY(put_column(b->col[i], &col[i], out, err));
	DTX_TRY(dtx_buf_check(out, "rows of a fragment", err));
	memcpy(out->ptr, &head, sizeof(head));
	if (b->ncols)
		memcpy(out->ptr + sizeof(head), col, b->ncols * sizeof(*col));
out:
	dtx_mem_free(col);
	return rc;
}

/* --- reading --- */

struct loading {
	struct dtx_str bytes;
	struct dtx_owner *keep;
	uint32_t nrows;
};

#define DAMAGED(err) DTX_FAIL((err), DTX_E_CORRUPT_FILE, "rows of a fragment are damaged")

static bool inside(const struct loading *x, uint64_t off, uint64_t n)
{
	return off % 8 == 0 && off <= x->bytes.len && n <= x->bytes.len - off;
}

/* The cells, in an array of our own. */
static enum dtx_code load_spans(const struct loading *x, const struct batch_column *e,
                                struct dtx_span **out, struct dtx_err *err)
{
	const void *a = x->bytes.ptr + e->a_off;
	struct dtx_span *span = dtx_mem_alloc64(x->nrows + 1u, sizeof(*span));
	uint64_t at = PAD;
	enum dtx_code rc = DTX_OK;

	if (!span)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < x->nrows; i++) {
		uint32_t len, quote;

		if (e->form == FORM_SHORT) {
			uint32_t n = ((const uint16_t *)a)[i];

			len = (n & SHORT_LEN) | (n & SHORT_QUOTED) << 16;
		} else {
			len = ((const uint32_t *)a)[i];
		}
		quote = len >> 31;
		span[i] = (struct dtx_span){ len ? (uint32_t)at + quote : 0, len };
		at += (len & DTX_SPAN_LEN) + 2 * quote;
		if (at > UINT32_MAX)
			DAMAGED(err);
	}
	if (at + PAD != e->b_len)
		DAMAGED(err);
	*out = span;
	span = NULL;
out:
	dtx_mem_free(span);
	return rc;
}

/* Turns places of long texts into pointers, in an array of our own. */
static enum dtx_code load_texts(const struct loading *x, const struct batch_column *e,
                                struct dtx_text **out, struct dtx_err *err)
{
	const struct dtx_text *from =
		(const struct dtx_text *)(const void *)(x->bytes.ptr + e->a_off);
	struct dtx_text *text = dtx_mem_alloc64(x->nrows + 1u, sizeof(*text));
	enum dtx_code rc = DTX_OK;

	if (!text)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < x->nrows; i++) {
		uint64_t place;

		text[i] = from[i];
		if (from[i].len <= DTX_TEXT_INLINE)
			continue;
		memcpy(&place, from[i].u.tail, sizeof(place));
		if (place > e->b_len || from[i].len > e->b_len - place)
			DAMAGED(err);
		text[i].u.ptr = x->bytes.ptr + e->b_off + place;
	}
	*out = text;
	text = NULL;
out:
	dtx_mem_free(text);
	return rc;
}

static bool type_ok(const struct batch_column *e)
{
	return e->type > DTX_T_UNKNOWN && e->type < DTX_TYPE_COUNT;
}

static enum dtx_code check_column(const struct loading *x, const struct batch_column *e,
                                  struct dtx_err *err)
{
	uint64_t a = e->form == FORM_SPAN    ? x->nrows * sizeof(uint32_t)
	             : e->form == FORM_SHORT ? x->nrows * sizeof(uint16_t)
	                                     : values_bytes((enum dtx_type)e->type, x->nrows);
	enum dtx_code rc = DTX_OK;

	if (e->form > FORM_NULLS || !type_ok(e))
		DAMAGED(err);
	if (e->form == FORM_NULLS)
		goto out;
	if (!inside(x, e->a_off, a) || !inside(x, e->b_off, e->b_len) ||
	    (e->v_off && !inside(x, e->v_off, dtx_bit_words(x->nrows) * 8)))
		DAMAGED(err);
out:
	return rc;
}

static enum dtx_code load_column(const struct loading *x, const struct batch_column *e,
                                 struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_typeref type = { (enum dtx_type)e->type, e->precision, e->scale };
	bool cells = e->form == FORM_SPAN || e->form == FORM_SHORT;
	struct dtx_owner *owner = NULL;
	struct dtx_column *c;
	struct dtx_span *span = NULL;
	struct dtx_text *text = NULL;
	void *made = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(check_column(x, e, err));
	if (e->form == FORM_NULLS)
		return dtx_column_nulls(type, x->nrows, out, err);
	if (cells)
		DTX_TRY(load_spans(x, e, &span, err));
	else if (type.type == DTX_T_TEXT)
		DTX_TRY(load_texts(x, e, &text, err));
	made = cells ? (void *)span : text;
	owner = made ? dtx_owner_blocks(&made, 1, x->keep) : dtx_owner_ref(x->keep);
	if (!owner)
		DTX_FAIL_MEM(err);
	c = dtx_column_new(cells ? DTX_F_SPAN : DTX_F_FLAT, type, x->nrows, owner);
	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = cells ? UINT32_MAX : e->nulls;
	c->v.any = made ? made : x->bytes.ptr + e->a_off;
	c->apart = made != NULL;
	c->base = x->bytes.ptr + e->b_off;
	c->dialect = (struct dtx_celldialect){ (char)e->delim, (char)e->quote, e->home != 0 };
	if (e->v_off)
		c->valid = (const uint64_t *)(const void *)(x->bytes.ptr + e->v_off);
	*out = c;
out:
	return rc;
}

enum dtx_code dtx_frame_batch_load(struct dtx_str bytes, struct dtx_owner *keep,
                                   const struct dtx_schema *schema, struct dtx_batch **out,
                                   struct dtx_err *err)
{
	struct loading x = { bytes, keep, 0 };
	struct batch_head head;
	struct batch_column e;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	if (bytes.len < sizeof(head))
		DAMAGED(err);
	memcpy(&head, bytes.ptr, sizeof(head));
	if (head.ncols != schema->nfields || head.nrows > DTX_BATCH_ROWS ||
	    (bytes.len - sizeof(head)) / sizeof(e) < head.ncols ||
	    (head.rec_off && !inside(&x, head.rec_off, head.nrows * sizeof(uint64_t))))
		DAMAGED(err);
	x.nrows = head.nrows;
	DTX_TRY(dtx_batch_new(schema, head.nrows, &b, err));
	for (uint32_t i = 0; i < head.ncols; i++) {
		memcpy(&e, bytes.ptr + sizeof(head) + i * sizeof(e), sizeof(e));
		if (e.form != FORM_ABSENT)
			DTX_TRY(load_column(&x, &e, &b->col[i], err));
	}
	b->first_row = head.first_row;
	if (head.rec_off) {
		b->rec = (const uint64_t *)(const void *)(bytes.ptr + head.rec_off);
		b->rec_owner = dtx_owner_ref(keep);
	}
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}
