/* Every fixture and, where they are at hand, workbooks of other programs: the fast path of a sheet
 * and the strict tokenizer give the same cells. */
#include <glob.h>

#include "core/io/book.h"
#include "core/io/source.h"
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

static void compare_sheet(struct dtx_book *book, const struct dtx_sheet *sheet, uint64_t *cells)
{
	const struct dtx_sheet_read quick = { 0 }, slow = { .slow = true };
	struct dtx_sheet_facts facts = { 0 }, again = { 0 };
	struct sheet_pair p = { .book = book };
	enum dtx_code x, y;

	dtx_grid_init(&p.fast, book->label);
	dtx_grid_init(&p.slow, book->label);
	x = dtx_book_sheet(book, sheet, &quick, &p.fast, &facts, NULL);
	y = dtx_book_sheet(book, sheet, &slow, &p.slow, &again, NULL);
	if (x != y || (x == DTX_OK && (!same_grid(&p) || facts.nformulas != again.nformulas ||
	                               facts.nerrors != again.nerrors)))
		t_fail(__FILE__, __LINE__, "%s, %s: the two paths differ", book->label,
		       sheet->name);
	*cells += p.fast.ncells;
	dtx_sheet_facts_clear(&facts);
	dtx_sheet_facts_clear(&again);
	dtx_grid_clear(&p.fast);
	dtx_grid_clear(&p.slow);
}

static void compare_book(const char *path, uint64_t *cells)
{
	struct dtx_source *src = NULL;
	struct dtx_book *book = NULL;
	uint32_t i;

	if (dtx_source_open(path, &src, NULL) == DTX_OK &&
	    dtx_book_open(path, dtx_source_data(src), dtx_source_size(src), &dtx_unpack_default,
	                  &book, NULL) == DTX_OK) {
		for (i = 0; i < book->nsheets; i++) {
			if (book->sheet[i].kind == DTX_SHEET_WORKSHEET)
				compare_sheet(book, &book->sheet[i], cells);
		}
	}
	dtx_book_close(book);
	dtx_source_free(src);
}

static void compare_books(const char *pattern)
{
	glob_t g = { 0 };
	uint64_t cells = 0;
	size_t i;

	if (glob(pattern, 0, NULL, &g)) {
		t_skip("no workbooks there");
		return;
	}
	for (i = 0; i < g.gl_pathc; i++)
		compare_book(g.gl_pathv[i], &cells);
	printf("# %zu files, %llu cells\n", g.gl_pathc, (unsigned long long)cells);
	T_CHECK(cells > 0);
	globfree(&g);
}

void test_fixtures_by_both_paths(void)
{
	compare_books("fixtures/xlsx/*.xlsx");
}

void test_fixtures_of_others_by_both_paths(void)
{
	const char *data = getenv("DTX_SHARED_DATA");
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%s/*/*.xlsx", data ? data : "../shared/data");
	compare_books(pattern);
}
