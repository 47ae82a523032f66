/* Reads defined names that mean a range of one sheet. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/io/sheet/xls/biff.h"

enum {
	NAME_FIXED = 14, /* bytes before the name */
	PTG_CLASS = 0x60,
	PTG_REF3D = 0x1a, /* without its class bits */
	PTG_AREA3D = 0x1b,
	FLAG_BUILTIN = 0x20,
	OWN_BOOK = 0x0401
};

enum dtx_code dtx_xls_on_supbook(struct dtx_xls *x, struct dtx_xls_names *n,
                                 const struct dtx_biff_rec *rec, struct dtx_err *err)
{
	(void)x;
	(void)err;
	if (rec->len == 4 && dtx_le_u16(rec->data + 2) == OWN_BOOK)
		n->own = n->nbooks;
	n->nbooks++;
	return DTX_OK;
}

enum dtx_code dtx_xls_on_externsheet(struct dtx_xls *x, struct dtx_xls_names *n,
                                     const struct dtx_biff_rec *rec, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, count;

	if (!x->biff8 || rec->len < 2)
		goto out;
	count = DTX_MIN((size_t)dtx_le_u16(rec->data), (rec->len - 2) / 6);
	if (!dtx_mem_reserve(&n->ref, &n->cap, n->nrefs + count, sizeof(*n->ref)))
		DTX_FAIL_MEM(err);
	for (i = 0; i < count; i++) {
		const uint8_t *p = rec->data + 2 + i * 6;

		n->ref[n->nrefs++] =
			(struct ref){ dtx_le_u16(p), dtx_le_u16(p + 2), dtx_le_u16(p + 4) };
	}
out:
	return rc;
}

/* Decodes a formula that is one reference to sheet and range; returns false for any other. */
static bool decode_range(const struct dtx_xls *x, const struct dtx_xls_names *n, const uint8_t *f,
                         size_t len, uint32_t *sheet, struct dtx_cellrange *r)
{
	unsigned ptg = len ? f[0] & ~(unsigned)PTG_CLASS : 0;
	bool area = ptg == PTG_AREA3D;
	size_t head = x->biff8 ? 3 : 15, wide = x->biff8 ? 2 : 1, at = head;
	/* the bits above say relative or absolute */
	unsigned first, last, rows = x->biff8 ? 0xffff : 0x3fff;

	if ((!area && ptg != PTG_REF3D) || !(f[0] & PTG_CLASS) ||
	    len != head + (area ? 2 : 1) * (2 + wide))
		return false;
	if (x->biff8) {
		unsigned i = dtx_le_u16(f + 1);

		if (i >= n->nrefs || n->ref[i].book != n->own)
			return false;
		first = n->ref[i].first;
		last = n->ref[i].last;
	} else {
		if (!(dtx_le_u16(f + 1) & 0x8000)) /* another workbook */
			return false;
		first = dtx_le_u16(f + 11);
		last = dtx_le_u16(f + 13);
	}
	if (first != last || first >= x->head.nsheets)
		return false;
	*sheet = first;
	r->row0 = r->row1 = dtx_le_u16(f + at) & rows;
	at += 2;
	if (area) {
		r->row1 = dtx_le_u16(f + at) & rows;
		at += 2;
	}
	r->col0 = r->col1 = f[at];
	if (area)
		r->col1 = f[at + wide];
	return r->row0 <= r->row1 && r->col0 <= r->col1;
}

static const char *builtin_name(unsigned code)
{
	static const char *const names[] = { "Consolidate_Area", "Auto_Open",   "Auto_Close",
		                             "Extract",          "Database",    "Criteria",
		                             "Print_Area",       "Print_Titles" };

	if (code == 0x0d)
		return "_FilterDatabase";
	return code < DTX_COUNT(names) ? names[code] : "Name";
}

/* Reads the text of a name to x->text; returns false if it is cut off. */
static bool read_name(struct dtx_xls *x, struct dtx_biff_bytes *b, const struct dtx_biff_rec *rec)
{
	bool builtin = dtx_le_u16(rec->data) & FLAG_BUILTIN;
	size_t n = rec->data[3];
	unsigned code;

	dtx_buf_reset(&x->text);
	if (!dtx_xls_chars(x, b, n, &x->text))
		return false;
	if (builtin) {
		code = x->text.len ? (unsigned char)x->text.ptr[0] : 0;
		dtx_buf_reset(&x->text);
		dtx_buf_printf(&x->text, "_xlnm.%s", builtin_name(code));
	}
	return true;
}

enum dtx_code dtx_xls_on_name(struct dtx_xls *x, struct dtx_xls_names *n,
                              const struct dtx_biff_rec *rec, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *book = &x->head;
	struct dtx_book_name *name;
	struct dtx_biff_bytes b;
	struct dtx_cellrange r = { 0 };
	uint32_t sheet;
	char cells[48];
	size_t used = book->nnames;

	if (rec->len < NAME_FIXED)
		goto out;
	dtx_biff_bytes_init(&b, rec->data, rec->len, rec);
	b.next = rec->len; /* only this record */
	b.ptr += NAME_FIXED;
	b.left -= NAME_FIXED;
	if (!read_name(x, &b, rec) || dtx_le_u16(rec->data + 4) != b.left ||
	    !decode_range(x, n, b.ptr, b.left, &sheet, &r))
		goto out;
	if (used == DTX_BOOK_NAMES_MAX) {
		rc = dtx_archive_limits_fixed(err, "names", "'%s': over %d defined names",
		                              book->label, DTX_BOOK_NAMES_MAX);
		goto out;
	}
	/* Only few are kept, so memory grows by 64. */
	if (used % 64 == 0 && !dtx_mem_grow(&book->name, used + 64, sizeof(*book->name)))
		DTX_FAIL_MEM(err);
	name = &book->name[used];
	dtx_cell_range_name(cells, &r);
	*name = (struct dtx_book_name){ .sheet = (int32_t)dtx_le_u16(rec->data + 8) - 1 };
	name->name = dtx_arena_strndup(&book->arena, dtx_buf_text(&x->text), dtx_buf_len(&x->text));
	name->text = dtx_arena_printf(&book->arena, "'%s'!%s", book->sheet[sheet].name, cells);
	if (!name->name || !name->text)
		DTX_FAIL_MEM(err);
	book->nnames++;
out:
	return rc;
}
