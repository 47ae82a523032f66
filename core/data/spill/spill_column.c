/* Columns in a spill file: values, validity bits and the bytes they point into, in one piece. */
#include "core/data/spill/spill_column.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory/buf.h"
#include "core/base/memory/mem.h"

#define PAD 64u /* around the bytes of cells, because readers load whole words */

/* The parts of a column: an array, and the bytes that it points into. */
struct parts {
	const void *values; /* of the column, or `made` */
	void *made;
	size_t size;
	struct dtx_buf bytes;
	struct dtx_str
		*item; /* CELL: its strings, whose bytes are in `bytes`, one after the other */
	size_t nitems;
};

static size_t value_size(const struct dtx_column *c)
{
	switch (c->type.type) {
	case DTX_T_BOOL: return 0;
	case DTX_T_DATE: return sizeof(int32_t);
	case DTX_T_DECIMAL: return sizeof(struct dtx_dec128);
	case DTX_T_TEXT: return sizeof(struct dtx_text);
	default: return sizeof(int64_t);
	}
}

static size_t values_bytes(const struct dtx_column *c)
{
	if (c->form == DTX_F_SPAN)
		return c->len * sizeof(struct dtx_span);
	if (c->form == DTX_F_CELL)
		return c->len * sizeof(union dtx_payload);
	if (c->form == DTX_F_DICT)
		return c->len * sizeof(uint32_t);
	if (c->type.type == DTX_T_BOOL)
		return dtx_bit_words(c->len) * sizeof(uint64_t);
	return c->len * value_size(c);
}

/* Copies the raw cells one after the other, including their quotes. */
static enum dtx_code span_parts(const struct dtx_column *c, struct parts *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_span *span = dtx_mem_alloc(c->len + 1u, sizeof(*span));
	static const char zeros[PAD] = { 0 };

	if (!span)
		DTX_FAIL_MEM(err);
	p->values = p->made = span;
	dtx_buf_addn(&p->bytes, zeros, PAD);
	for (uint32_t i = 0; i < c->len; i++) {
		struct dtx_span from = c->v.span[i];
		uint32_t quote = from.len & DTX_SPAN_QUOTED ? 1u : 0u;

		span[i] = (struct dtx_span){ (uint32_t)p->bytes.len + quote, from.len };
		if (from.len)
			dtx_buf_addn(&p->bytes, c->base + from.off - quote,
			             (from.len & DTX_SPAN_LEN) + 2 * quote);
	}
	dtx_buf_addn(&p->bytes, zeros, PAD);
	DTX_TRY(dtx_buf_check(&p->bytes, "cells", err));
out:
	return rc;
}

/* Collects long texts.  Their addresses are filled in when the place in the file is known. */
static enum dtx_code text_parts(const struct dtx_column *c, struct parts *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_text *text = dtx_mem_alloc(c->len + 1u, sizeof(*text));

	if (!text)
		DTX_FAIL_MEM(err);
	p->values = p->made = text;
	for (uint32_t i = 0; i < c->len; i++) {
		text[i] = c->v.text[i];
		if (text[i].len <= DTX_TEXT_INLINE)
			continue;
		/* the view of a null may point anywhere */
		if (c->valid && !dtx_bit(c->valid, i))
			memset(&text[i], 0, sizeof(text[i]));
		else
			dtx_buf_addn(&p->bytes, c->v.text[i].u.ptr, text[i].len);
	}
	DTX_TRY(dtx_buf_check(&p->bytes, "texts", err));
out:
	return rc;
}

static void point_texts(struct dtx_text *text, uint32_t n, const char *at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (text[i].len <= DTX_TEXT_INLINE)
			continue;
		text[i].u.ptr = at;
		at += text[i].len;
	}
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has_string(const struct dtx_column *c, uint32_t i)
{
	uint8_t kind = c->tag[i] & DTX_CELL_KIND;

	return kind == DTX_CELL_TEXT || kind == DTX_CELL_ISO;
}

/* Collects the strings of the cells, each once, and numbers them again: the memory of the strings
 * is that of a whole batch or workbook. */
static enum dtx_code cell_parts(const struct dtx_column *c, struct parts *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	union dtx_payload *to = dtx_mem_alloc(c->len + 1u, sizeof(*to));
	uint64_t *id = dtx_mem_alloc(c->len + 1u, sizeof(*id)), *found;
	static const char zeros[sizeof(uint64_t)] = { 0 };
	size_t n = 0;

	p->values = p->made = to;
	if (!to || !id)
		DTX_FAIL_MEM(err);
	memcpy(to, c->v.payload, c->len * sizeof(*to));
	for (uint32_t i = 0; i < c->len; i++)
		if (has_string(c, i))
			id[n++] = to[i].id;
	qsort(id, n, sizeof(*id), by_id);
	for (size_t i = 0; i < n; i++)
		if (!i || id[i] != id[p->nitems - 1])
			id[p->nitems++] = id[i];
	p->item = dtx_mem_alloc(p->nitems + 1, sizeof(*p->item));
	if (!p->item)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < p->nitems; i++) {
		p->item[i] = c->strings->item[id[i]];
		if (p->item[i].len)
			dtx_buf_addn(&p->bytes, p->item[i].ptr, p->item[i].len);
	}
	dtx_buf_addn(&p->bytes, zeros, -p->bytes.len % sizeof(uint64_t));
	for (uint32_t i = 0; i < c->len; i++) {
		if (!has_string(c, i))
			continue;
		found = bsearch(&to[i].id, id, p->nitems, sizeof(*id), by_id);
		to[i].id = (uint64_t)(found - id);
	}
	DTX_TRY(dtx_buf_check(&p->bytes, "cells", err));
out:
	dtx_mem_free(id);
	return rc;
}

/* What of a CELL column comes after its values and the bytes of its strings, which are at `at`. */
static enum dtx_code put_cells(const struct dtx_column *c, struct parts *p, struct dtx_piece *piece,
                               const char *at, struct dtx_column *made, struct dtx_err *err)
{
	struct dtx_strings s = { .n = p->nitems, .epoch1904 = c->strings->epoch1904 };
	enum dtx_code rc = DTX_OK;
	const void *put;

	for (size_t i = 0; i < p->nitems; i++) {
		p->item[i].ptr = at;
		at += p->item[i].len;
	}
	DTX_TRY(dtx_piece_add(piece, p->item, p->nitems * sizeof(*p->item), &put, err));
	s.item = put;
	DTX_TRY(dtx_piece_add(piece, &s, sizeof(s), &put, err));
	made->strings = put;
	DTX_TRY(dtx_piece_add(piece, c->tag, c->len, &put, err));
	made->tag = put;
out:
	return rc;
}

/* Bytes of what put_cells puts. */
static size_t cells_size(const struct dtx_column *c, const struct parts *p)
{
	return c->form == DTX_F_CELL
	               ? p->nitems * sizeof(*p->item) + sizeof(struct dtx_strings) + c->len
	               : 0;
}

static bool is_text(const struct dtx_column *c)
{
	return c->form == DTX_F_FLAT && c->type.type == DTX_T_TEXT;
}

static enum dtx_code find_parts(const struct dtx_column *c, struct parts *p, struct dtx_err *err)
{
	p->size = values_bytes(c);
	p->values = c->v.any;
	if (c->form == DTX_F_SPAN)
		return span_parts(c, p, err);
	if (c->form == DTX_F_CELL)
		return cell_parts(c, p, err);
	return is_text(c) ? text_parts(c, p, err) : DTX_OK;
}

/* A column like c whose memory is the piece. */
static enum dtx_code made_column(const struct dtx_column *c, struct dtx_piece *piece,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made =
		dtx_column_new(c->form, c->type, c->len, dtx_owner_ref(piece->owner));

	if (!made)
		DTX_FAIL_MEM(err);
	made->nulls = c->nulls;
	made->dialect = c->dialect;
	made->dict = dtx_column_ref(c->dict);
	*out = made;
out:
	return rc;
}

static enum dtx_code put_parts(const struct dtx_column *c, struct parts *p, struct dtx_piece *piece,
                               struct dtx_column *made, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const void *at;

	if (is_text(c))
		point_texts(p->made, c->len, piece->base + p->size);
	DTX_TRY(dtx_piece_add(piece, p->values, p->size, &made->v.any, err));
	DTX_TRY(dtx_piece_add(piece, p->bytes.ptr, p->bytes.len, &at, err));
	if (c->form == DTX_F_SPAN)
		made->base = at;
	if (c->form == DTX_F_CELL)
		DTX_TRY(put_cells(c, p, piece, at, made, err));
	if (!c->valid)
		goto out;
	while (piece->used % sizeof(uint64_t)) {
		size_t gap = sizeof(uint64_t) - piece->used % sizeof(uint64_t);

		DTX_TRY(dtx_piece_add(piece, "\0\0\0\0\0\0\0", gap, &at, err));
	}
	DTX_TRY(dtx_piece_add(piece, c->valid, dtx_bit_words(c->len) * sizeof(uint64_t), &at, err));
	made->valid = at;
out:
	return rc;
}

enum dtx_code dtx_spill_column(struct dtx_spill *s, struct dtx_column *c, struct dtx_column **out,
                               struct dtx_spill_count *count, struct dtx_err *err)
{
	struct parts p = { .bytes = DTX_BUF_INIT(UINT32_MAX) };
	struct dtx_piece piece = { .fd = -1 };
	struct dtx_column *made = NULL, *twin, *moved = NULL;
	enum dtx_code rc = DTX_OK;

	if (c->form == DTX_F_CONST || !c->len || !c->v.any) {
		*out = dtx_column_ref(c);
		return DTX_OK;
	}
	DTX_TRY(find_parts(c, &p, err));
	DTX_TRY(dtx_spill_reserve(s,
	                          p.size + p.bytes.len + cells_size(c, &p) +
	                                  (dtx_bit_words(c->len) + 1) * sizeof(uint64_t),
	                          &piece, err));
	DTX_TRY(made_column(c, &piece, &made, err));
	DTX_TRY(put_parts(c, &p, &piece, made, err));
	twin = atomic_load_explicit(&c->typed, memory_order_acquire);
	if (twin && (c->form == DTX_F_SPAN || c->form == DTX_F_CELL)) {
		DTX_TRY(dtx_spill_column(s, twin, &moved, count, err));
		atomic_store_explicit(&made->typed, moved, memory_order_release);
	}
	if (count)
		atomic_fetch_add_explicit(&count->bytes, (long long)piece.used,
		                          memory_order_relaxed);
	*out = made;
	made = NULL;
out:
	dtx_column_unref(made);
	dtx_owner_unref(piece.owner);
	dtx_buf_clear(&p.bytes);
	dtx_mem_free(p.made);
	dtx_mem_free(p.item);
	return rc;
}
