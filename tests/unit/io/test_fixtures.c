/* All fixtures and, where available, workbooks of other programs: the fast path of a sheet and the
 * strict tokenizer return the same cells. */
#include <glob.h>

#include "core/io/source/source.h"
#include "tests/t.h"
#include "tests/unit/sheetpair.h"

static void compare_book(const char *path, uint64_t *cells)
{
	struct dtx_source *src = NULL;
	struct dtx_book *book = NULL;
	uint32_t i;

	if (dtx_source_open(path, &src, NULL) == DTX_OK &&
	    dtx_book_open(path, dtx_source_data(src), dtx_source_size(src),
	                  &dtx_archive_limits_default, &book, NULL) == DTX_OK) {
		for (i = 0; i < book->nsheets; i++) {
			if (book->sheet[i].kind == DTX_SHEET_WORKSHEET)
				(void)sheet_pair_compare(book, &book->sheet[i], cells);
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
