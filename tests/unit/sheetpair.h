/* Reads a worksheet by the fast path and by the strict tokenizer, for several tests. */
#ifndef DTX_TESTS_UNIT_SHEETPAIR_H
#define DTX_TESTS_UNIT_SHEETPAIR_H

#include "core/io/sheet/book.h"
#include "tests/t.h"

struct sheet_pair {
	struct dtx_book *book;
	struct dtx_grid fast, slow;
};

static bool same_text(const struct sheet_pair *p, uint64_t x, uint64_t y)
{
	struct dtx_str a, b;

	return dtx_book_cell_text(p->book, &p->fast, x, &a, NULL) == DTX_OK &&
	       dtx_book_cell_text(p->book, &p->slow, y, &b, NULL) == DTX_OK && dtx_str_eq(a, b);
}

static bool same_cell(const struct sheet_pair *p, uint64_t i)
{
	union dtx_payload x = dtx_grid_value(&p->fast, i), y = dtx_grid_value(&p->slow, i);
	uint8_t tag = dtx_grid_tag(&p->fast, i);

	if (tag != dtx_grid_tag(&p->slow, i) ||
	    dtx_grid_col(&p->fast, i) != dtx_grid_col(&p->slow, i) ||
	    dtx_grid_style(&p->fast, i) != dtx_grid_style(&p->slow, i))
		return false;
	if ((tag & DTX_CELL_KIND) == DTX_CELL_TEXT)
		return same_text(p, x.id, y.id);
	return x.id == y.id;
}

static bool same_grid(const struct sheet_pair *p)
{
	const struct dtx_grid *a = &p->fast, *b = &p->slow;
	uint64_t i;
	size_t r;

	if (a->ncells != b->ncells || a->nrows != b->nrows || a->nmerges != b->nmerges)
		return false;
	for (r = 0; r < a->nrows; r++) {
		if (a->row[r].row != b->row[r].row || a->row[r].first != b->row[r].first ||
		    a->row[r].hidden != b->row[r].hidden)
			return false;
	}
	for (i = 0; i < a->ncells; i++) {
		if (!same_cell(p, i))
			return false;
	}
	for (i = 0; i < a->nmerges; i++) {
		const struct dtx_cellrange *x = &a->merge[i], *y = &b->merge[i];

		if (x->row0 != y->row0 || x->row1 != y->row1 || x->col0 != y->col0 ||
		    x->col1 != y->col1)
			return false;
	}
	return true;
}

/* Fails the test if the two differ, also in what they refuse.  Returns the code of both.  *cells
 * grows by the number of cells. */
static enum dtx_code sheet_pair_compare(struct dtx_book *book, const struct dtx_sheet *sheet,
                                        uint64_t *cells)
{
	const struct dtx_sheet_read quick = { 0 }, slow = { .slow = true };
	struct dtx_sheet_facts facts = { 0 }, again = { 0 };
	struct dtx_err a = DTX_ERR_INIT, b = DTX_ERR_INIT;
	struct sheet_pair p = { .book = book };
	enum dtx_code x, y;

	dtx_grid_init(&p.fast, book->label);
	dtx_grid_init(&p.slow, book->label);
	x = dtx_book_sheet(book, sheet, &quick, &p.fast, &facts, &a);
	y = dtx_book_sheet(book, sheet, &slow, &p.slow, &again, &b);
	if (x != y ||
	    (x == DTX_OK && (!same_grid(&p) || facts.nformulas != again.nformulas ||
	                     facts.nerrors != again.nerrors || facts.nbaddates != again.nbaddates)))
		t_fail(__FILE__, __LINE__, "%s, %s: the two paths differ: %s, %s", book->label,
		       sheet->name, a.msg, b.msg);
	*cells += p.fast.ncells;
	dtx_sheet_facts_clear(&facts);
	dtx_sheet_facts_clear(&again);
	dtx_grid_clear(&p.fast);
	dtx_grid_clear(&p.slow);
	dtx_err_clear(&a);
	dtx_err_clear(&b);
	return x;
}

#endif
