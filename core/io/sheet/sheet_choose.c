/* Chooses the sheet of a workbook, and the range in it. */
#include "core/base/text/num.h"
#include "core/io/repair.h"
#include "core/io/sheet/sheet_layout.h"

static void list_sheets(const struct dtx_book *book, struct dtx_buf *out)
{
	uint32_t i;

	for (i = 0; i < book->nsheets && i < 20; i++)
		dtx_buf_printf(out, "%s'%.60s'%s", i ? ", " : "", book->sheet[i].name,
		               book->sheet[i].visible ? " (hidden)" : "");
	if (i < book->nsheets)
		dtx_buf_printf(out, " and %u more", book->nsheets - i);
}

static enum dtx_code sheet_not_found(const struct dtx_book *book, const char *want,
                                     struct dtx_err *err)
{
	struct dtx_buf have = DTX_BUF_INIT(4096);
	const char *name[64];
	uint32_t i, n = DTX_MIN(book->nsheets, (uint32_t)DTX_COUNT(name));

	list_sheets(book, &have);
	dtx_err_set(err, DTX_E_SHEET_NOT_FOUND, __FILE__, __LINE__,
	            "'%s': no sheet '%.60s'; there are %s", book->label, want, dtx_buf_text(&have));
	dtx_err_hint(err, "\"sheet\" takes a name or a number from 1");
	for (i = 0; i < n; i++)
		name[i] = book->sheet[i].name;
	dtx_err_suggest(err, want, name, n);
	dtx_buf_clear(&have);
	return DTX_E_SHEET_NOT_FOUND;
}

/* Finds a sheet by exact name, then by folded name, then by number; returns nsheets if there is
 * none. */
static uint32_t find_sheet(const struct dtx_book *book, const char *want)
{
	int64_t number;
	uint32_t i;

	for (i = 0; i < book->nsheets; i++) {
		if (strcmp(book->sheet[i].name, want) == 0)
			return i;
	}
	for (i = 0; i < book->nsheets; i++) {
		if (dtx_str_ieq(dtx_str_of(book->sheet[i].name), dtx_str_of(want)))
			return i;
	}
	if (dtx_num_parse_i64(want, strlen(want), &number) && number >= 1 &&
	    number <= book->nsheets)
		return (uint32_t)number - 1;
	return book->nsheets;
}

static enum dtx_code named_sheet(struct dtx_book *book, const char *want,
                                 const struct dtx_sheet **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i = find_sheet(book, want);

	if (i == book->nsheets)
		return sheet_not_found(book, want, err);
	if (book->sheet[i].kind != DTX_SHEET_WORKSHEET)
		DTX_FAIL(err, DTX_E_SHEET_NOT_FOUND, "'%s': sheet '%.60s' is not a worksheet",
		         book->label, book->sheet[i].name);
	*out = &book->sheet[i];
out:
	return rc;
}

enum sheet_holds { SHEET_NOTHING, SHEET_CELLS, SHEET_FLAWS };

/* Reads only the first cell. A bad sheet does not affect the others. */
static enum dtx_code look_into(struct dtx_book *book, const struct dtx_sheet *sheet,
                               enum sheet_holds *holds, struct dtx_err *err)
{
	static const struct dtx_sheet_read first = { .max_cells = 1 };
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_facts facts = { 0 };
	struct dtx_grid g;

	dtx_grid_init(&g, book->label);
	g.limits = book->limits;
	rc = dtx_book_sheet(book, sheet, &first, &g, &facts, NULL);
	*holds = rc != DTX_OK ? SHEET_FLAWS : g.ncells ? SHEET_CELLS : SHEET_NOTHING;
	dtx_grid_clear(&g);
	dtx_sheet_facts_clear(&facts);
	if (rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	rc = DTX_OK;
out:
	return rc;
}

static bool is_candidate(const struct dtx_sheet *sheet)
{
	return sheet->kind == DTX_SHEET_WORKSHEET && sheet->visible == DTX_SHEET_VISIBLE;
}

/* Counts visible sheets after `chosen` that have cells; *first is the first of them. */
static enum dtx_code other_sheets(struct dtx_book *book, const struct dtx_sheet *chosen,
                                  uint32_t *count, const struct dtx_sheet **first,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum sheet_holds holds;
	uint32_t i;

	*count = 0;
	for (i = 0; i < book->nsheets && i < 64; i++) {
		if (&book->sheet[i] == chosen || !is_candidate(&book->sheet[i]))
			continue;
		DTX_TRY(look_into(book, &book->sheet[i], &holds, err));
		if (holds == SHEET_CELLS && !(*count)++)
			*first = &book->sheet[i];
	}
out:
	return rc;
}

/* Refuses if all sheets are hidden: hidden sheets may contain what should not be shown, so they
 * must be named. */
static enum dtx_code none_visible(const struct dtx_book *book, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_SHEET_NOT_FOUND, __FILE__, __LINE__,
	                               "'%s' has no visible worksheet", book->label);
	uint32_t i;

	for (i = 0; i < book->nsheets && book->sheet[i].kind != DTX_SHEET_WORKSHEET; i++)
		;
	if (i < book->nsheets) {
		dtx_err_hint(err, "--sheet %u reads '%.60s', which is hidden", i + 1,
		             book->sheet[i].name);
		dtx_repair_advise(err, "{\"sheet\":\"%u\"}", i + 1);
	}
	return rc;
}

/* Takes the first sheet. A sheet without cells (a cover, a former chart) before others with
 * cells is skipped. */
static enum dtx_code default_sheet(struct dtx_book *book, struct dtx_errlist *diags,
                                   const struct dtx_sheet **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_sheet *other = NULL;
	enum sheet_holds holds = SHEET_CELLS;
	uint32_t i, others;

	for (i = 0; i < book->nsheets && !is_candidate(&book->sheet[i]); i++)
		;
	if (i == book->nsheets)
		return none_visible(book, err);
	*out = &book->sheet[i];
	DTX_TRY(other_sheets(book, *out, &others, &other, err));
	if (!others)
		goto out;
	DTX_TRY(look_into(book, *out, &holds, err));
	*out = holds == SHEET_NOTHING ? other : *out;
	others -= holds == SHEET_NOTHING;
	DTX_TRY(dtx_sheet_warn(diags, DTX_W_SHEET_ASSUMED, *out, others, err,
	                       "%ssheet '%.60s' was read, %u other visible sheets have cells",
	                       holds == SHEET_NOTHING ? "the first sheet has no cells: " : "",
	                       (*out)->name, others));
out:
	return rc;
}

/* Finds a defined name: "FY24!$A$3:$F$200" or "'My sheet'!A1:B2". */
static bool find_name(const struct dtx_book *book, const char *want, struct dtx_str *sheet,
                      struct dtx_str *range)
{
	uint32_t i;

	for (i = 0; i < book->nnames; i++) {
		const char *text = book->name[i].text, *bang = strrchr(text, '!');

		if (!bang || !dtx_str_ieq(dtx_str_of(book->name[i].name), dtx_str_of(want)))
			continue;
		*sheet = (struct dtx_str){ text, (size_t)(bang - text) };
		if (sheet->len >= 2 && sheet->ptr[0] == '\'')
			*sheet = (struct dtx_str){ sheet->ptr + 1, sheet->len - 2 };
		*range = dtx_str_of(bang + 1);
		return true;
	}
	return false;
}

/* Parses a range, or looks up a defined name; then *sheet is the sheet of that name, otherwise
 * NULL. */
static enum dtx_code pick_range(struct dtx_book *book, const char *range, struct dtx_arena *arena,
                                const char **sheet, struct dtx_sheet_pick *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = dtx_str_of(range), owner = { NULL, 0 };

	out->given = true;
	if (dtx_cell_range_parse(text, &out->range))
		goto out;
	if (!find_name(book, range, &owner, &text) || !dtx_cell_range_parse(text, &out->range)) {
		dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		            "'%s': range '%.100s' is neither a range nor a defined name",
		            book->label, range);
		dtx_err_hint(err, "ranges look like A4:O200, 4:200 or B:H");
		rc = DTX_E_BAD_PARAM_VALUE;
		goto out;
	}
	*sheet = dtx_arena_strndup(arena, owner.ptr, owner.len);
	if (!*sheet)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code no_table(const struct dtx_book *book, const char *want, struct dtx_err *err)
{
	const char *name[64];
	uint32_t i, n = DTX_MIN(book->ntables, (uint32_t)DTX_COUNT(name));

	dtx_err_set(err, DTX_E_SHEET_NOT_FOUND, __FILE__, __LINE__,
	            "'%s': no table '%.60s'; it has %u tables", book->label, want, book->ntables);
	for (i = 0; i < n; i++)
		name[i] = book->table[i].name;
	dtx_err_hint(err, "\"range\" reads cells that are not a table");
	dtx_err_suggest(err, want, name, n);
	return DTX_E_SHEET_NOT_FOUND;
}

static enum dtx_code pick_table(struct dtx_book *book, const struct dtx_read_opts *opts,
                                const char **sheet, struct dtx_sheet_pick *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_book_table *t = NULL;
	uint32_t i;

	if (opts->range)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "'%s': 'table' and 'range' both say which cells are read", book->label);
	DTX_TRY(dtx_book_tables_need(book, err));
	for (i = 0; i < book->ntables && !t; i++) {
		if (dtx_str_ieq(dtx_str_of(book->table[i].name), dtx_str_of(opts->table)))
			t = &book->table[i];
	}
	if (!t)
		return no_table(book, opts->table, err);
	*out = (struct dtx_sheet_pick){ .range = t->range,
		                        .given = true,
		                        .header_rows = (int)t->header_rows,
		                        .totals_rows = t->totals_rows };
	*sheet = book->sheet[t->sheet].name;
out:
	return rc;
}

enum dtx_code dtx_sheet_choose(struct dtx_book *book, const struct dtx_read_opts *opts,
                               struct dtx_arena *arena, struct dtx_errlist *diags,
                               struct dtx_sheet_pick *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *owner = NULL, *want = opts->sheet;

	*out = (struct dtx_sheet_pick){ .range = DTX_CELLRANGE_ALL, .header_rows = -1 };
	if (opts->table)
		DTX_TRY(pick_table(book, opts, &owner, out, err));
	else if (opts->range)
		DTX_TRY(pick_range(book, opts->range, arena, &owner, out, err));
	want = want ? want : owner;
	if (want)
		DTX_TRY(named_sheet(book, want, &out->sheet, err));
	else
		DTX_TRY(default_sheet(book, diags, &out->sheet, err));
	if (opts->table && strcmp(out->sheet->name, owner) != 0)
		DTX_FAIL(err, DTX_E_SHEET_NOT_FOUND, "'%s': table '%.60s' is on sheet '%.60s'",
		         book->label, opts->table, owner);
out:
	return rc;
}
