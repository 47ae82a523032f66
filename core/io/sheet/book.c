/* What all workbooks share, and the choice of their format. */
#include "core/io/sheet/book.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/data/cast/cell_num.h"
#include "core/io/reader.h"
#include "core/io/sheet/xls/biff.h"

/* The number formats that a file defines, by id. If an id is defined twice, the later one
 * counts. */

enum dtx_code dtx_book_format_add(struct dtx_book *book, struct dtx_book_formats *f, uint32_t id,
                                  struct dtx_str code, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy;

	if (f->n == DTX_BOOK_STYLES_MAX)
		return dtx_archive_limits_fixed(err, "formats", "'%s': over %d number formats",
		                                book->label, DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&f->item, &f->cap, f->n + 1, sizeof(*f->item)))
		DTX_FAIL_MEM(err);
	copy = dtx_arena_strndup(&book->arena, code.ptr, code.len);
	if (!copy)
		DTX_FAIL_MEM(err);
	code.ptr = copy;
	f->item[f->n] = (struct dtx_book_format){ id,
		                                  (uint32_t)f->n,
		                                  { code, dtx_fmt_classify(code), false } };
	f->n++;
out:
	return rc;
}

/* By id; of equal ids the later one comes last. */
static int by_id(const void *a, const void *b)
{
	const struct dtx_book_format *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void dtx_book_formats_sort(struct dtx_book_formats *f)
{
	if (f->n)
		qsort(f->item, f->n, sizeof(*f->item), by_id);
}

struct dtx_book_style dtx_book_format_find(const struct dtx_book_formats *f, uint32_t id)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->item[mid].id <= id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && f->item[lo - 1].id == id)
		return f->item[lo - 1].style;
	return (struct dtx_book_style){ dtx_str_of(dtx_fmt_builtin_code(id)), dtx_fmt_builtin(id),
		                        false };
}

#define STRING_BLOCK ((size_t)64 << 10)

enum dtx_code dtx_book_broken(enum dtx_code rc, const char *label, struct dtx_err *err)
{
	if (rc == DTX_E_CORRUPT_FILE && err && !err->hint[0])
		dtx_err_hint(
			err,
			"a spreadsheet program may mend it: soffice --convert-to xlsx '%.200s'",
			label);
	return rc;
}

const struct dtx_book_class *dtx_book_class_of(const void *bytes, size_t len)
{
	const struct dtx_book_class *out = NULL;
	int best = 0;

	for (size_t i = 0; dtx_reads[i]; i++) {
		const struct dtx_reader_class *r = dtx_reads[i];
		int score = r->book ? r->sniff(bytes, len, "") : 0;

		if (score > best) {
			best = score;
			out = r->book;
		}
	}
	for (size_t i = 0; !out && dtx_reads[i]; i++)
		if (dtx_reads[i]->book && dtx_reads[i]->embedded &&
		    dtx_reads[i]->embedded(bytes, len))
			out = dtx_reads[i]->book;
	return out;
}

enum dtx_code dtx_book_open(const char *label, const void *bytes, size_t len,
                            const struct dtx_archive_limits *limits, struct dtx_book **out,
                            struct dtx_err *err)
{
	const struct dtx_book_class *cls = dtx_book_class_of(bytes, len);

	*out = NULL;
	cls = cls ? cls : &dtx_book_xlsx;
	return dtx_book_broken(cls->open(label, bytes, len, limits, out, err), label, err);
}

void dtx_book_close(struct dtx_book *book)
{
	if (book)
		book->cls->close(book);
}

enum dtx_code dtx_book_sheet(struct dtx_book *book, const struct dtx_sheet *sheet,
                             const struct dtx_sheet_read *how, struct dtx_grid *grid,
                             struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	return book->cls->sheet(book, sheet, how, grid, facts, err);
}

void dtx_book_clear(struct dtx_book *book)
{
	dtx_mem_free(book->strings.item);
	dtx_arena_clear(&book->strings.arena);
	dtx_mem_free(book->sheet);
	dtx_mem_free(book->name);
	dtx_mem_free(book->table);
	dtx_mem_free(book->style);
	dtx_arena_clear(&book->arena);
	memset(book, 0, sizeof(*book));
}

enum dtx_code dtx_book_tables_need(struct dtx_book *book, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!book->tables_read && book->cls->tables)
		DTX_TRY(book->cls->tables(book, err));
	book->tables_read = true;
out:
	return rc;
}

/* --- strings --- */

enum dtx_code dtx_book_strings_need(struct dtx_book *book, uint64_t id, struct dtx_err *err)
{
	return book->cls->strings ? book->cls->strings(book, id, err) : DTX_OK;
}

/* Allocates from a block: there are millions of mostly short texts, which are stored without
 * gaps. */
static char *string_room(struct dtx_book_strings *s, size_t len)
{
	char *at;

	if (len > s->left) {
		if (len > STRING_BLOCK / 4)
			return dtx_arena_alloc(&s->arena, len, 1);
		s->room = dtx_arena_alloc(&s->arena, STRING_BLOCK, 1);
		s->left = s->room ? STRING_BLOCK : 0;
	}
	at = s->room;
	if (at) {
		s->room += len;
		s->left -= len;
	}
	return at;
}

enum dtx_code dtx_book_string_add(struct dtx_book *book, struct dtx_str text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book_strings *s = &book->strings;
	char *copy = NULL;

	if (text.len > book->limits.text)
		return dtx_archive_limits_fail(err, &book->limits, "text",
		                               "'%s': a text of over %llu bytes in a cell",
		                               book->label, (unsigned long long)book->limits.text);
	s->bytes += text.len;
	if (s->n >= book->limits.strings)
		return dtx_archive_limits_fail(err, &book->limits, "strings",
		                               "'%s': over %llu shared strings", book->label,
		                               (unsigned long long)book->limits.strings);
	if (s->bytes > book->limits.string_bytes)
		return dtx_archive_limits_fail(err, &book->limits, "string_bytes",
		                               "'%s': over %llu bytes of shared strings",
		                               book->label,
		                               (unsigned long long)book->limits.string_bytes);
	if (!dtx_mem_reserve(&s->item, &s->cap, s->n + 1, sizeof(*s->item)))
		DTX_FAIL_MEM(err);
	if (text.len) {
		copy = string_room(s, text.len);
		if (!copy)
			DTX_FAIL_MEM(err);
		memcpy(copy, text.ptr, text.len);
	}
	s->item[s->n++] = (struct dtx_str){ copy ? copy : "", text.len };
out:
	return rc;
}

enum dtx_code dtx_book_cell_text(struct dtx_book *book, const struct dtx_grid *grid, uint64_t id,
                                 struct dtx_str *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = DTX_STR("");
	if (id & DTX_GRID_INLINE) {
		*out = dtx_grid_text(grid, id & ~DTX_GRID_INLINE);
		goto out;
	}
	DTX_TRY(dtx_book_strings_need(book, id, err));
	if (id < book->strings.n)
		*out = book->strings.item[id];
out:
	return rc;
}

/* --- facts about a sheet --- */

void dtx_sheet_facts_clear(struct dtx_sheet_facts *facts)
{
	dtx_mem_free(facts->hidden);
	*facts = (struct dtx_sheet_facts){ 0 };
}

enum dtx_code dtx_sheet_hide_cols(struct dtx_sheet_facts *facts, uint32_t from, uint32_t to,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (to < from || from >= DTX_SHEET_COLS || facts->nhidden >= DTX_SHEET_COLS)
		goto out;
	if (!dtx_mem_reserve(&facts->hidden, &facts->hidden_cap, facts->nhidden + 1,
	                     sizeof(*facts->hidden)))
		DTX_FAIL_MEM(err);
	facts->hidden[facts->nhidden++] =
		(struct dtx_sheet_span){ from, DTX_MIN(to, (uint32_t)DTX_SHEET_COLS - 1) };
out:
	return rc;
}

void dtx_sheet_note_bad(struct dtx_sheet_facts *facts, uint32_t row, uint32_t col, uint64_t *count)
{
	if (!facts->nerrors && !facts->nbaddates && !facts->nuncached) {
		facts->first_bad_row = row;
		facts->first_bad_col = col;
	}
	++*count;
}

bool dtx_sheet_has_16_digits(double v)
{
	return fabs(v) > (double)DTX_CELL_EXACT && fabs(v) < 1e16;
}

unsigned dtx_sheet_number_tag(const struct dtx_book *book, struct dtx_sheet_facts *facts,
                              uint32_t row, uint32_t col, enum dtx_fmt_class cls, double v)
{
	unsigned tag = DTX_CELL_NUMBER;
	bool bad = false;

	if (cls != DTX_FMT_NUMBER)
		tag = dtx_fmt_tag(cls, v, book->epoch1904, &bad);
	if (bad) {
		dtx_sheet_note_bad(facts, row, col, &facts->nbaddates);
		tag = DTX_GRID_BAD_DATE;
	}
	return tag;
}
