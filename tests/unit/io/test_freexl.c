/* Our reader of .xls and libfreexl must agree about every literal cell, in the fixtures and, where
 * available, in workbooks of other programs. */
#include <errno.h>
#include <glob.h>

#include "core/io/sheet/xls/read_freexl.h"
#include "core/io/source/source.h"
#include "tests/t.h"

enum { SHEETS = 256 };

#ifdef __SANITIZE_ADDRESS__
/* The library does not free what it has of a file that it then refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libfreexl\n";
}
#endif

struct opinion {
	const char *file;
	struct dtx_book *book;
	struct dtx_grid grid[SHEETS];
	bool read[SHEETS];
	uint64_t same, differ;
	bool opened; /* FreeXL returned a cell: in some files it silently finds no sheets */
};

static enum dtx_code on_cell(void *arg, const struct dtx_freexl_cell *c, struct dtx_err *err)
{
	struct opinion *o = arg;
	uint32_t s = 0;
	uint64_t at;

	(void)err;
	o->opened = true;
	while (s < o->book->nsheets && s < SHEETS && strcmp(o->book->sheet[s].name, c->name) != 0)
		s++;
	if (s == o->book->nsheets || s == SHEETS || !o->read[s])
		return DTX_OK;
	at = dtx_grid_cell_find(&o->grid[s], c->row, c->col);
	if (at != UINT64_MAX && !dtx_freexl_knows(dtx_grid_tag(&o->grid[s], at)))
		return DTX_OK;
	if (c->text && !*c->text)
		return DTX_OK;
	if (at != UINT64_MAX && dtx_freexl_agrees(o->book, &o->grid[s], at, c)) {
		o->same++;
		return DTX_OK;
	}
	if (o->differ++ < 3)
		printf("# %s!%s row %u col %u: FreeXL has %s %.17g, we have kind %d %.17g\n",
		       o->file, c->name, c->row + 1, c->col + 1, c->text ? c->text : "", c->number,
		       at == UINT64_MAX ? -1 : dtx_grid_tag(&o->grid[s], at),
		       at == UINT64_MAX ? 0 : dtx_grid_value(&o->grid[s], at).num);
	return DTX_OK;
}

static bool empty_text(const struct opinion *o, const struct dtx_grid *g, uint64_t at)
{
	struct dtx_str text;

	return (dtx_grid_tag(g, at) & DTX_CELL_KIND) == DTX_CELL_TEXT &&
	       dtx_book_cell_text(o->book, g, dtx_grid_value(g, at).id, &text, NULL) == DTX_OK &&
	       !text.len;
}

static uint64_t literals(const struct opinion *o)
{
	uint64_t n = 0, i;
	uint32_t s;

	for (s = 0; s < o->book->nsheets && s < SHEETS; s++) {
		for (i = 0; o->read[s] && i < o->grid[s].ncells; i++)
			n += dtx_freexl_knows(dtx_grid_tag(&o->grid[s], i)) &&
			     !empty_text(o, &o->grid[s], i);
	}
	return n;
}

static void compare_file(const char *path, uint64_t *total, unsigned *unread)
{
	static const struct dtx_sheet_read whole = { 0 };
	struct dtx_sheet_facts facts = { 0 };
	struct dtx_source *src = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	struct opinion *o = calloc(1, sizeof(*o));
	const char *slash = strrchr(path, '/');
	uint32_t s;

	o->file = slash ? slash + 1 : path;
	if (dtx_source_open(path, &src, &err) != DTX_OK ||
	    dtx_book_open(o->file, dtx_source_data(src), dtx_source_size(src),
	                  dtx_source_limits(src), &o->book, &err) != DTX_OK) {
		t_fail(__FILE__, __LINE__, "%s: %s", path, err.msg);
		goto out;
	}
	for (s = 0; s < o->book->nsheets && s < SHEETS; s++) {
		dtx_grid_init(&o->grid[s], o->file);
		o->read[s] = o->book->sheet[s].kind == DTX_SHEET_WORKSHEET &&
		             dtx_book_sheet(o->book, &o->book->sheet[s], &whole, &o->grid[s],
		                            &facts, &err) == DTX_OK;
		dtx_sheet_facts_clear(&facts);
	}
	if (dtx_freexl_cells(o->file, dtx_source_data(src), dtx_source_size(src), on_cell, o,
	                     &err) != DTX_OK ||
	    !o->opened) {
		++*unread;
		goto out;
	}
	if (o->differ || o->same != literals(o))
		t_fail(__FILE__, __LINE__, "%s: %llu of %llu literal cells agree", o->file,
		       (unsigned long long)o->same, (unsigned long long)literals(o));
	*total += o->same;
out:
	for (s = 0; o->book && s < o->book->nsheets && s < SHEETS; s++)
		dtx_grid_clear(&o->grid[s]);
	dtx_book_close(o->book);
	dtx_source_free(src);
	dtx_err_clear(&err);
	free(o);
}

static void compare_all(const char *pattern)
{
	glob_t g = { 0 };
	uint64_t total = 0;
	unsigned unread = 0;
	size_t i;

	if (glob(pattern, 0, NULL, &g) != 0) {
		t_skip("no .xls there");
		return;
	}
	for (i = 0; i < g.gl_pathc; i++)
		compare_file(g.gl_pathv[i], &total, &unread);
	printf("# %zu files, %u not read by FreeXL, %llu literal cells equal\n", g.gl_pathc, unread,
	       (unsigned long long)total);
	T_CHECK(total > 0);
	globfree(&g);
}

void test_freexl_gives_up(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(dtx_freexl_cells("b.xls", "no book", 7, on_cell, NULL, &err), DTX_E_CORRUPT_FILE,
	       &err);
	T_CHECK(strstr(err.msg, "'b.xls': FreeXL gives up with "));
	T_CODE(dtx_freexl_file("b.xls", NULL, on_cell, NULL, &err), DTX_E_JAIL_UNAVAILABLE, &err);
	T_STR(err.msg, "'b.xls': FreeXL runs in a reader process alone");
	t_fail_call("memfd_create", 0, EMFILE);
	T_CODE(dtx_freexl_cells("b.xls", "", 0, on_cell, NULL, &err), DTX_E_INPUT_IO, &err);
	T_CHECK(t_failed_call());
	T_STR(err.msg, "cannot keep 'b.xls' in memory: Too many open files");
	dtx_err_clear(&err);
}

void test_freexl_agrees_on_fixtures(void)
{
	compare_all("fixtures/xls/*.xls");
}

void test_freexl_agrees_on_others(void)
{
	const char *data = getenv("DTX_SHARED_DATA");
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%s/*/*.xls", data ? data : "../shared/data");
	compare_all(pattern);
}
