/* Checks the structure of a frame that a hostile process may have written: header, directory,
 * ranges.
 *
 * The header and the directory are copied before they are checked, so what was checked cannot
 * change afterwards.  After dtx_frame_open every buffer is within the frame and overlaps no other
 * one; what the buffers contain is checked by those who read them. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/data/frame/frame.h"

_Static_assert(sizeof(struct dtx_frame_entry) == DTX_FRAME_ENTRY, "entry is its file layout");

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

struct range {
	uint64_t off, len;
};

static int range_cmp(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

/* An empty buffer has offset 0; others are aligned and after the header and the directory. */
static bool range_ok(uint64_t off, uint64_t len, uint64_t from, uint64_t total, uint64_t align)
{
	if (!len)
		return off == 0;
	return off >= from && off % align == 0 && off <= total && len <= total - off;
}

static bool entry_ok(const struct dtx_frame_entry *e, uint64_t from, uint64_t total)
{
	bool code = e->flags & DTX_FRAME_F_DICT;

	return range_ok(e->name_off, e->name_len, from, total, 1) &&
	       e->name_len <= DTX_FRAME_NAME_MAX &&
	       range_ok(e->a_off, e->a_len, from, total, DTX_FRAME_ALIGN) &&
	       (code ? !e->b_len : range_ok(e->b_off, e->b_len, from, total, DTX_FRAME_ALIGN)) &&
	       range_ok(e->v_off, e->v_len, from, total, DTX_FRAME_ALIGN) &&
	       e->rows <= DTX_FRAME_ROWS_MAX && e->nulls <= e->rows;
}

/* Sorts all buffers by offset; then each must end before the next one begins. */
static enum dtx_code check_disjoint(const struct dtx_frame_view *view, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct range *r = dtx_mem_alloc((size_t)view->n * 4, sizeof(*r));
	size_t n = 0, i;

	if (!r)
		DTX_FAIL_MEM(err);
	for (i = 0; i < view->n; i++) {
		const struct dtx_frame_entry *e = &view->entry[i];
		const struct range four[] = { { e->name_off, e->name_len },
			                      { e->a_off, e->a_len },
			                      { e->b_off, e->b_len },
			                      { e->v_off, e->v_len } };
		size_t k;

		for (k = 0; k < 4; k++)
			if (four[k].len)
				r[n++] = four[k];
	}
	qsort(r, n, sizeof(*r), range_cmp);
	for (i = 1; i < n; i++)
		if (r[i].off - r[i - 1].off < r[i - 1].len)
			BAD(err, "frame: buffers overlap at byte %llu",
			    (unsigned long long)r[i].off);
out:
	dtx_mem_free(r);
	return rc;
}

struct header {
	char magic[8];
	uint32_t size, n;
	uint64_t total, dir;
	uint32_t entry, flags;
	unsigned char zero[24];
};

static enum dtx_code check_header(const struct header *h, uint64_t len, struct dtx_err *err)
{
	static const unsigned char zero[24];
	enum dtx_code rc = DTX_OK;

	if (memcmp(h->magic, DTX_FRAME_MAGIC, 8) || h->size != DTX_FRAME_HEADER ||
	    h->entry != DTX_FRAME_ENTRY || h->flags || memcmp(h->zero, zero, sizeof(zero)))
		BAD(err, "frame: header is not one of this version");
	if (h->total != len)
		BAD(err, "frame: header says %llu bytes, there are %llu",
		    (unsigned long long)h->total, (unsigned long long)len);
	if (!h->n || h->n > DTX_FRAME_SECTIONS_MAX)
		BAD(err, "frame: %u sections, expected 1 to %u", h->n, DTX_FRAME_SECTIONS_MAX);
	if (h->dir != DTX_FRAME_HEADER || (len - DTX_FRAME_HEADER) / DTX_FRAME_ENTRY < h->n)
		BAD(err, "frame: directory lies outside");
out:
	return rc;
}

enum dtx_code dtx_frame_open(const void *ptr, uint64_t len, struct dtx_frame_view *view,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view got = { ptr, len, 0, NULL };
	struct header h;
	uint32_t i;

	if (len < DTX_FRAME_HEADER)
		BAD(err, "frame: %llu bytes are no frame", (unsigned long long)len);
	memcpy(&h, ptr, sizeof(h));
	DTX_TRY(check_header(&h, len, err));
	got.n = h.n;
	got.entry = dtx_mem_alloc(h.n, sizeof(*got.entry));
	if (!got.entry)
		DTX_FAIL_MEM(err);
	memcpy(got.entry, got.ptr + DTX_FRAME_HEADER, (size_t)h.n * DTX_FRAME_ENTRY);
	for (i = 0; i < h.n; i++)
		if (!entry_ok(&got.entry[i], DTX_FRAME_HEADER + (uint64_t)h.n * DTX_FRAME_ENTRY,
		              len))
			BAD(err, "frame: section %u lies outside or is malformed", i);
	DTX_TRY(check_disjoint(&got, err));
	*view = got;
	got.entry = NULL;
out:
	dtx_mem_free(got.entry);
	return rc;
}

void dtx_frame_close(struct dtx_frame_view *view)
{
	dtx_mem_free(view->entry);
	*view = (struct dtx_frame_view)DTX_FRAME_VIEW_INIT;
}

const struct dtx_frame_entry *dtx_frame_find(const struct dtx_frame_view *view,
                                             enum dtx_frame_kind kind)
{
	uint32_t i;

	for (i = 0; i < view->n; i++)
		if (view->entry[i].kind == (uint32_t)kind)
			return &view->entry[i];
	return NULL;
}

struct dtx_str dtx_frame_bytes(const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *entry)
{
	return (struct dtx_str){ (const char *)view->ptr + entry->a_off, (size_t)entry->a_len };
}
