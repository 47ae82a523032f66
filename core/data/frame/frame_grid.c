/* Raw grids in frames.
 *
 * Buffer a has the cells as struct dtx_raw_cell.  Buffer b has u32 number of texts, of formats and
 * of merged ranges, u32 bytes of the sheet's name; then for each text and each format the u64 end
 * of its bytes; then the merged ranges (top, left, bottom, right: u32 each); then the bytes of
 * texts, formats and sheet name.  In the entry, rows and type are the numbers of rows and columns,
 * and flag bit 1 marks a text file. */
#include <math.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/rawgrid.h"
#include "core/data/time/time.h"

_Static_assert(sizeof(struct dtx_raw_cell) == 24, "cells are their file layout");
_Static_assert(sizeof(struct dtx_raw_range) == 16, "ranges are their file layout");

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

struct grid_head {
	uint32_t ntexts, nformats, nmerges, sheet;
};

/* --- writing --- */

static uint64_t map_bytes(const struct dtx_strmap *m)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < m->n; i++)
		n += m->entry[i].key.len;
	return n;
}

static uint64_t fixed_bytes(const struct grid_head *h)
{
	return sizeof(*h) + ((uint64_t)h->ntexts + h->nformats) * 8 +
	       (uint64_t)h->nmerges * sizeof(struct dtx_raw_range);
}

static struct grid_head head_of(const struct dtx_rawgrid *g)
{
	return (struct grid_head){ (uint32_t)g->text.n, (uint32_t)g->format.n, (uint32_t)g->nmerges,
		                   g->sheet ? (uint32_t)strlen(g->sheet) : 0 };
}

void dtx_frame_grid_measure(const struct dtx_rawgrid *g, struct dtx_frame_entry *e)
{
	struct grid_head h = head_of(g);

	e->kind = DTX_FRAME_GRID;
	e->type = g->ncols;
	e->flags = g->text_file ? DTX_FRAME_F_TEXT_FILE : 0;
	e->rows = g->nrows;
	e->a_len = g->ncells * sizeof(*g->cell);
	e->b_len = fixed_bytes(&h) + map_bytes(&g->text) + map_bytes(&g->format) + h.sheet;
}

struct grid_out {
	unsigned char *end, *bytes;
	uint64_t at;
};

static void put_texts(struct grid_out *o, const struct dtx_strmap *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		struct dtx_str s = m->entry[i].key;

		if (s.len)
			memcpy(o->bytes + o->at, s.ptr, s.len);
		o->at += s.len;
		memcpy(o->end, &o->at, 8);
		o->end += 8;
	}
}

void dtx_frame_grid_write(const struct dtx_rawgrid *g, void *a, void *b)
{
	struct grid_head h = head_of(g);
	struct grid_out o = { (unsigned char *)b + sizeof(h), (unsigned char *)b + fixed_bytes(&h),
		              0 };

	if (g->ncells)
		memcpy(a, g->cell, g->ncells * sizeof(*g->cell));
	memcpy(b, &h, sizeof(h));
	put_texts(&o, &g->text);
	put_texts(&o, &g->format);
	if (g->nmerges)
		memcpy(o.end, g->merge, g->nmerges * sizeof(*g->merge));
	if (h.sheet)
		memcpy(o.bytes + o.at, g->sheet, h.sheet);
}

/* --- reading --- */

struct grid_in {
	const struct dtx_frame_entry *e;
	const unsigned char *a, *b;
	struct grid_head h;
	uint64_t bytes, at; /* of texts: all bytes, and the bytes read so far */
};

static enum dtx_code open_parts(const struct dtx_frame_view *view, struct grid_in *in,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t fixed;

	if (in->e->v_len || in->e->nulls || in->e->flags & ~DTX_FRAME_F_TEXT_FILE ||
	    in->e->a_len % sizeof(struct dtx_raw_cell) || in->e->b_len < sizeof(in->h))
		BAD(err, "grid: its section is malformed");
	in->a = view->ptr + in->e->a_off;
	in->b = view->ptr + in->e->b_off;
	memcpy(&in->h, in->b, sizeof(in->h));
	fixed = fixed_bytes(&in->h);
	if (fixed > in->e->b_len || in->h.sheet > in->e->b_len - fixed ||
	    in->h.nformats > DTX_RAWGRID_FORMAT_MAX)
		BAD(err, "grid: %u texts and %u formats do not fit in %llu bytes", in->h.ntexts,
		    in->h.nformats, (unsigned long long)in->e->b_len);
	in->bytes = in->e->b_len - fixed - in->h.sheet;
out:
	return rc;
}

/* The text with number i; texts and formats are numbered through. */
static enum dtx_code next_text(struct grid_in *in, uint64_t i, struct dtx_str *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bytes = (const char *)in->b + fixed_bytes(&in->h);
	uint64_t end;

	memcpy(&end, in->b + sizeof(in->h) + i * 8, 8);
	if (end < in->at || end > in->bytes)
		BAD(err, "grid: text %llu lies outside", (unsigned long long)i);
	*out = (struct dtx_str){ bytes + in->at, (size_t)(end - in->at) };
	if (dtx_utf8_bad(out->ptr, out->len) >= 0)
		BAD(err, "grid: text %llu is not UTF-8", (unsigned long long)i);
	in->at = end;
out:
	return rc;
}

static enum dtx_code read_texts(struct grid_in *in, struct dtx_rawgrid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t i, id;
	uint16_t number;
	struct dtx_str s;

	for (i = 0; i < in->h.ntexts; i++) {
		DTX_TRY(next_text(in, i, &s, err));
		DTX_TRY(dtx_rawgrid_text(g, s, &id, err));
		if (id != i)
			BAD(err, "grid: text %llu is there twice", (unsigned long long)i);
	}
	for (i = 0; i < in->h.nformats; i++) {
		DTX_TRY(next_text(in, in->h.ntexts + i, &s, err));
		DTX_TRY(dtx_rawgrid_format(g, s, &number, err));
		if (number != i + 1)
			BAD(err, "grid: format %llu is there twice", (unsigned long long)i);
	}
	if (in->at != in->bytes)
		BAD(err, "grid: bytes after the last text");
	if (in->h.sheet) {
		const char *name = (const char *)in->b + fixed_bytes(&in->h) + in->bytes;
		char *copy;

		if (memchr(name, 0, in->h.sheet) || dtx_utf8_bad(name, in->h.sheet) >= 0)
			BAD(err, "grid: the sheet's name is not a text");
		copy = dtx_mem_strndup(name, in->h.sheet);
		if (!copy)
			DTX_FAIL_MEM(err);
		g->sheet = copy;
	}
out:
	return rc;
}

static bool value_ok(const struct grid_in *in, const struct dtx_raw_cell *c)
{
	switch (c->kind) {
	case DTX_RAW_NUMBER: return isfinite(c->value.num);
	case DTX_RAW_BOOL: return c->value.id <= 1;
	case DTX_RAW_TEXT:
	case DTX_RAW_ERROR: return c->value.id < in->h.ntexts;
	case DTX_RAW_TIME: return dtx_us_ok(c->value.us);
	default: return false;
	}
}

static enum dtx_code read_cells(struct grid_in *in, struct dtx_rawgrid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t n = in->e->a_len / sizeof(struct dtx_raw_cell), i;
	struct dtx_raw_cell last = { 0 }, c;

	for (i = 0; i < n; i++, last = c) {
		memcpy(&c, in->a + i * sizeof(c), sizeof(c));
		if (c.row >= g->nrows || c.col >= g->ncols || c.format > in->h.nformats || c.zero ||
		    !value_ok(in, &c))
			BAD(err, "grid: cell %llu is malformed", (unsigned long long)i);
		if (i && (c.row < last.row || (c.row == last.row && c.col <= last.col)))
			BAD(err, "grid: cell %llu is out of order", (unsigned long long)i);
		DTX_TRY(dtx_rawgrid_add(g, &c, err));
	}
out:
	return rc;
}

static enum dtx_code read_merges(struct grid_in *in, struct dtx_rawgrid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const unsigned char *from =
		in->b + sizeof(in->h) + ((uint64_t)in->h.ntexts + in->h.nformats) * 8;
	uint32_t i;

	for (i = 0; i < in->h.nmerges; i++) {
		struct dtx_raw_range m;

		memcpy(&m, from + i * sizeof(m), sizeof(m));
		if (m.top > m.bottom || m.left > m.right || m.bottom >= g->nrows ||
		    m.right >= g->ncols)
			BAD(err, "grid: merged range %u lies outside", i);
		DTX_TRY(dtx_rawgrid_merge(g, m, err));
	}
out:
	return rc;
}

enum dtx_code dtx_frame_grid(const struct dtx_frame_view *view, const struct dtx_frame_entry *e,
                             struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct grid_in in = { .e = e };
	struct dtx_rawgrid g;

	dtx_rawgrid_init(&g);
	DTX_TRY(open_parts(view, &in, err));
	DTX_TRY(dtx_rawgrid_reach(&g, e->rows, e->type, err));
	g.text_file = e->flags & DTX_FRAME_F_TEXT_FILE;
	DTX_TRY(read_texts(&in, &g, err));
	DTX_TRY(read_cells(&in, &g, err));
	DTX_TRY(read_merges(&in, &g, err));
	*out = g;
	dtx_rawgrid_init(&g);
out:
	dtx_rawgrid_clear(&g);
	return rc;
}
