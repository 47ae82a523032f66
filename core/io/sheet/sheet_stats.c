/* Statistics of the cells in each column: which read as null, and counts of the others. */
#include <math.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/io/columns.h"
#include "core/io/sheet/book.h"
#include "core/io/sheet/numfmt.h"
#include "core/io/sheet/sheet_layout.h"

/* Recognises formulas whose stored result may differ from a new computation. The result is used,
 * with a note. */

static bool is_volatile(struct dtx_str name)
{
	static const char *const names[] = { "NOW",         "TODAY",  "RAND",
		                             "RANDBETWEEN", "OFFSET", "INDIRECT" };

	for (size_t i = 0; i < DTX_COUNT(names); i++)
		if (dtx_str_ieq(name, dtx_str_of(names[i])))
			return true;
	return false;
}

static bool is_name(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Whether it is a reference to another file, such as [1]Sheet1!A1: a number in brackets that
 * does not follow a name, where it would be a table's column. */
static bool is_other_book(struct dtx_str code, size_t at)
{
	size_t i = at + 1;

	while (i < code.len && code.ptr[i] >= '0' && code.ptr[i] <= '9')
		i++;
	return i > at + 1 && i < code.len && code.ptr[i] == ']' &&
	       !(at && is_name(code.ptr[at - 1]));
}

void dtx_sheet_note_formula(struct dtx_sheet_facts *facts, struct dtx_str code)
{
	bool quoted = false, changes = false, other = false;
	size_t from = 0;

	for (size_t i = 0; i < code.len; i++) {
		char c = code.ptr[i];

		quoted ^= c == '"';
		if (quoted)
			continue;
		if (c == '(')
			changes |= is_volatile((struct dtx_str){ code.ptr + from, i - from });
		else if (c == '[')
			other |= is_other_book(code, i);
		if (!is_name(c))
			from = i + 1;
	}
	facts->nvolatile += changes;
	facts->nexternal += other;
}

/* --- null values --- */

static bool is_null_text(const struct dtx_read_opts *o, struct dtx_str s)
{
	size_t i;

	for (i = 0; i < o->nnull_values; i++) {
		if (dtx_str_is(s, o->null_values[i]))
			return true;
	}
	return !s.len;
}

/* Collects the numbers among the null values. */
static enum dtx_code null_numbers(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_read_opts *o = l->opts;
	size_t i;

	l->null_number = dtx_arena_alloc(l->arena, o->nnull_values, sizeof(*l->null_number));
	if (!l->null_number)
		DTX_FAIL_MEM(err);
	for (i = 0; i < o->nnull_values; i++) {
		if (dtx_num_parse_f64(o->null_values[i], strlen(o->null_values[i]),
		                      &l->null_number[l->nnull_numbers]))
			l->nnull_numbers++;
	}
out:
	return rc;
}

enum dtx_code dtx_sheet_mark_nulls(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_read_opts *o = l->opts;
	struct dtx_book_strings *s = &l->book->strings;
	size_t i, n;

	DTX_TRY(dtx_book_strings_need(l->book, UINT64_MAX, err));
	n = s->n + l->grid->texts.n;
	if (!l->null_number)
		DTX_TRY(null_numbers(l, err));
	if (!dtx_mem_reserve(&l->null_text, &l->null_cap, n / 8 + 1, 1))
		DTX_FAIL_MEM(err);
	for (i = l->nmarked; i < n; i++) {
		struct dtx_str text = i < s->n ? s->item[i] : dtx_grid_text(l->grid, i - s->n);

		if (i % 8 == 0)
			l->null_text[i / 8] = 0;
		if (is_null_text(o, text))
			l->null_text[i / 8] |= (uint8_t)(1u << i % 8);
	}
	l->nmarked = n;
out:
	return rc;
}

void dtx_sheet_unmark_nulls(struct dtx_sheet_layout *l)
{
	l->nmarked = 0;
}

bool dtx_sheet_number_null(const struct dtx_sheet_layout *l, double v)
{
	size_t i;

	for (i = 0; i < l->nnull_numbers && v != l->null_number[i]; i++)
		;
	return i < l->nnull_numbers;
}

bool dtx_sheet_whole_null(const struct dtx_sheet_layout *l, int64_t v)
{
	char text[DTX_NUM_TEXT];

	return is_null_text(l->opts, (struct dtx_str){ text, dtx_num_print_i64(text, v) });
}

/* --- counts --- */

/* Whether it is a whole number in the range where a double holds all whole numbers. */
static inline bool is_int(double v)
{
	return fabs(v) <= 9007199254740992.0 && v == (double)(int64_t)v;
}

static inline void note_style(struct dtx_sheet_stats *s, uint16_t style)
{
	if (s->styled && s->style == style)
		return;
	s->styles_differ |= s->styled;
	s->style = style;
	s->styled = true;
}

static bool is_bad(const struct dtx_sheet_layout *l, uint8_t tag, union dtx_payload v)
{
	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_BLANK: return tag & DTX_CELL_UNCACHED;
	case DTX_CELL_ERROR:
	case DTX_GRID_BAD_DATE: return true;
	case DTX_CELL_TEXT: return !(v.id & DTX_GRID_INLINE) && v.id >= l->book->strings.n;
	default: return false;
	}
}

static inline void note_first(struct dtx_sheet_stats *s, int kind, uint32_t row)
{
	if (!s->first[kind])
		s->first[kind] = row + 1;
}

static void note_cell(const struct dtx_sheet_layout *l, uint8_t tag, union dtx_payload v,
                      uint16_t style, struct dtx_sheet_stats *s, uint32_t row)
{
	if (dtx_sheet_cell_null(l, tag, v)) {
		if (is_bad(l, tag, v) && !s->bad++)
			s->bad_row = row;
		return;
	}
	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER:
		s->numbers++;
		s->fractions += !is_int(v.num);
		note_first(s, DTX_SHEET_NUMBERS, row);
		note_style(s, style);
		break;
	case DTX_CELL_WHOLE:
		s->numbers++;
		s->wide += !dtx_cell_whole_is_f64(v.whole);
		note_first(s, DTX_SHEET_NUMBERS, row);
		note_style(s, style);
		break;
	case DTX_CELL_BOOL:
		s->bools++;
		note_first(s, DTX_SHEET_BOOLS, row);
		break;
	case DTX_CELL_TEXT:
		s->texts++;
		note_first(s, DTX_SHEET_TEXTS, row);
		break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		s->dates++;
		s->clocks += !is_int(v.num);
		note_first(s, DTX_SHEET_DATES, row);
		note_style(s, style);
		break;
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION:
		s->times++;
		note_first(s, DTX_SHEET_TIMES, row);
		note_style(s, style);
		break;
	default: break;
	}
}

void dtx_sheet_note_cell(const struct dtx_sheet_layout *l, const struct dtx_grid *g,
                         struct dtx_sheet_stats *s, uint32_t row, uint64_t cell)
{
	note_cell(l, dtx_grid_tag(g, cell), dtx_grid_value(g, cell), dtx_grid_style(g, cell), s,
	          row);
}

/* --- by column --- */

static uint64_t count_fractions(const struct dtx_sheet_col *c)
{
	uint64_t found = 0;
	uint32_t i;

	for (i = 0; c->size == 3 && i < c->n; i++) /* small ones are whole */
		found += !is_int(c->value[i * c->step].num);
	return found;
}

/* For cells with the same tag: counts kinds that have no null values at once. */
static bool note_alike(const struct dtx_sheet_layout *l, const struct dtx_sheet_col *c,
                       uint32_t row, struct dtx_sheet_stats *s)
{
	unsigned kind = *c->tag & DTX_CELL_KIND;
	uint32_t i;

	if (kind == DTX_CELL_BOOL) {
		s->bools += c->n;
		note_first(s, DTX_SHEET_BOOLS, row);
		return true;
	}
	if (kind == DTX_CELL_NUMBER && !l->nnull_numbers) {
		s->numbers += c->n;
		s->fractions += count_fractions(c);
		note_first(s, DTX_SHEET_NUMBERS, row);
	} else if (kind == DTX_CELL_DATE || kind == DTX_CELL_DATETIME) {
		s->dates += c->n;
		s->clocks += count_fractions(c);
		note_first(s, DTX_SHEET_DATES, row);
	} else {
		return false;
	}
	note_style(s, c->style ? *c->style : 0);
	for (i = 1; c->style && i < c->n; i++)
		note_style(s, c->style[i * c->step]);
	return true;
}

/* Counts the cells of a column; returns whether any is not blank. */
static bool note_col(const struct dtx_sheet_layout *l, const struct dtx_sheet_cols *rows,
                     const struct dtx_sheet_col *c, struct dtx_sheet_stats *s)
{
	unsigned seen = 0;
	size_t at = 0;
	uint32_t i;

	if (c->alike && !rows->nhidden && note_alike(l, c, rows->row[0], s))
		return true;
	for (i = 0; i < c->n; i++, at += c->step) {
		uint32_t row = rows->row[i];

		seen |= c->tag[at];
		if (c->tag[at] && !(l->opts->hidden_drop && row & DTX_ROW_CACHE_HIDDEN))
			note_cell(l, c->tag[at], c->value[at], c->style ? c->style[at] : 0, s,
			          row & ~DTX_ROW_CACHE_HIDDEN);
	}
	return seen & (DTX_CELL_KIND | DTX_CELL_UNCACHED);
}

static void note_cols(const struct dtx_sheet_layout *l, const struct dtx_sheet_cols *c,
                      struct dtx_sheet_tail *t)
{
	uint32_t hidden = l->opts->hidden_drop ? c->nhidden : 0, i;
	size_t block;

	if (!c->n)
		return;
	t->nhidden += hidden;
	t->nlive += c->n - hidden;
	dtx_row_cache_open(&t->row_cache, c, &block);
	for (i = 0; i < c->ncols; i++) {
		struct dtx_sheet_col col = dtx_sheet_cols_get(c, i);

		t->filled[col.col] |= note_col(l, c, &col, &t->stats[col.col]);
		dtx_row_cache_col(&t->row_cache, &col);
	}
	dtx_row_cache_close(&t->row_cache, block);
}

void dtx_sheet_note_rows(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t nrows,
                         struct dtx_sheet_tail *t)
{
	size_t r = 0;

	while (r < nrows) {
		r = dtx_sheet_cols_take(&t->cols, g, r, nrows, t->in);
		note_cols(l, &t->cols, t);
	}
}

/* --- bad cells as texts --- */

static enum dtx_code bad_text(struct dtx_grid *g, uint64_t cell, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid_chunk *c = g->chunk[cell / DTX_GRID_CHUNK];
	size_t at = cell % DTX_GRID_CHUNK;
	unsigned kind = c->tag[at] & DTX_CELL_KIND;
	double v = c->value[at].num;
	char number[DTX_NUM_TEXT];
	struct dtx_str text;

	if (kind == DTX_CELL_ERROR)
		text = dtx_str_of(dtx_cell_error_name(c->value[at].id));
	else if (kind == DTX_GRID_BAD_DATE)
		text = (struct dtx_str){ number, fabs(v) < 9007199254740992.0 && floor(v) == v
			                                 ? dtx_num_print_i64(number, (int64_t)v)
			                                 : dtx_num_print_f64(number, v) };
	else
		goto out;
	DTX_TRY(dtx_grid_text_add(g, text, &c->value[at].id, err));
	c->tag[at] = (uint8_t)((c->tag[at] & ~(unsigned)DTX_CELL_KIND) | DTX_CELL_TEXT);
out:
	return rc;
}

enum dtx_code dtx_sheet_bad_texts(const struct dtx_sheet_layout *l, struct dtx_grid *g,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t i;

	for (i = 0; l->opts->bad_cells == DTX_BAD_CELLS_TEXT && i < g->ncells; i++)
		DTX_TRY(bad_text(g, i, err));
out:
	return rc;
}

/* Finds column types from the kinds of their cells. */

static struct dtx_typeref plain(enum dtx_type t)
{
	return (struct dtx_typeref){ .type = t };
}

static unsigned classes(const struct dtx_sheet_stats *s)
{
	return (unsigned)((s->numbers > 0) + (s->bools > 0) + (s->texts > 0) + (s->dates > 0) +
	                  (s->times > 0));
}

static struct dtx_typeref column_type(const struct dtx_sheet_stats *s)
{
	unsigned n = classes(s);

	if (n == 0)
		return plain(DTX_T_NULL);
	if (n > 1 || s->texts)
		return plain(DTX_T_TEXT);
	if (s->numbers)
		return plain(!s->fractions ? DTX_T_INT64 : s->wide ? DTX_T_TEXT : DTX_T_FLOAT64);
	if (s->bools)
		return plain(DTX_T_BOOL);
	if (s->dates)
		return plain(s->clocks ? DTX_T_DATETIME : DTX_T_DATE);
	return plain(DTX_T_FLOAT64);
}

/* The row of the first cell that is not of the most frequent kind, plus one. */
static uint32_t odd_row(const struct dtx_sheet_stats *s)
{
	const uint64_t n[DTX_SHEET_KINDS] = { s->numbers, s->texts, s->dates, s->times, s->bools };
	uint32_t row = 0;
	int most = 0;

	for (int i = 1; i < DTX_SHEET_KINDS; i++)
		if (n[i] > n[most])
			most = i;
	for (int i = 0; i < DTX_SHEET_KINDS; i++)
		if (i != most && s->first[i] && (!row || s->first[i] < row))
			row = s->first[i];
	return row;
}

static enum dtx_code warn_mixed(struct dtx_sheet_layout *l, uint32_t col, struct dtx_err *err)
{
	const struct dtx_sheet_stats *s = &l->stats[col];
	const struct {
		const char *name;
		uint64_t n;
	} part[] = { { "number", s->numbers },
		     { "text", s->texts },
		     { "date", s->dates },
		     { "time", s->times },
		     { "bool", s->bools } };
	struct dtx_buf b = DTX_BUF_INIT(256);
	enum dtx_code rc;
	size_t i;

	for (i = 0; i < DTX_COUNT(part); i++) {
		if (part[i].n)
			dtx_buf_printf(&b, "%s%llu %s%s", b.len ? ", " : "",
			               (unsigned long long)part[i].n, part[i].name,
			               part[i].n > 1 ? "s" : "");
	}
	rc = dtx_sheet_warn(l->diags, DTX_W_MIXED_TYPES, l->sheet, (int64_t)s->numbers, err,
	                    "column '%.60s' is text: it has %s", l->field[col].name,
	                    dtx_buf_text(&b));
	if (rc == DTX_OK && l->diags->n) {
		struct dtx_err *w = &l->diags->item[l->diags->n - 1];
		uint32_t row = odd_row(s);

		dtx_err_row(w, (int64_t)row - 1, l->field[col].name);
		if (row)
			dtx_cell_name(w->cell, row - 1, l->col[col]);
	}
	dtx_buf_clear(&b);
	return rc;
}

/* Whole numbers with fewer digits than their format shows. */
struct padded {
	uint64_t n;
	double first;
	struct dtx_str code; /* format of the first one, */
	unsigned digits;     /* which shows so many digits */
};

static void count_padded(const struct dtx_sheet_layout *l, uint32_t col, struct padded *out)
{
	unsigned digits = 0, last = 0;
	size_t i;

	for (i = 0; i < l->nlive; i++) {
		uint64_t at =
			dtx_grid_cell_find(l->grid, l->grid->row[l->live[i]].row, l->col[col]);
		unsigned style;
		double v;

		if (at == UINT64_MAX ||
		    (dtx_grid_tag(l->grid, at) & DTX_CELL_KIND) != DTX_CELL_NUMBER)
			continue;
		style = dtx_grid_style(l->grid, at);
		if (style != last)
			digits = style < l->book->nstyles
			                 ? dtx_fmt_zeros(l->book->style[style].code)
			                 : 0;
		last = style;
		v = dtx_grid_value(l->grid, at).num;
		if (!digits || fabs(v) >= pow(10, digits - 1) || v != trunc(v))
			continue;
		if (!out->n++)
			*out = (struct padded){ 1, v, l->book->style[style].code, digits };
	}
}

/* Warns about codes that a workbook stores as numbers: 2134 with the format 00000 is shown as
 * 02134. */
static enum dtx_code warn_padded(struct dtx_sheet_layout *l, uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_field *f = &l->field[col];
	struct padded found = { .code = dtx_str_of(f->format ? f->format : "") };
	struct dtx_err *w;
	char as[40] = "";

	found.digits = dtx_fmt_zeros(found.code);
	if (!found.digits && !l->stats[col].styles_differ)
		goto out;
	count_padded(l, col, &found);
	if (!found.n && (!l->tail || !found.digits))
		goto out;
	if (found.n)
		snprintf(as, sizeof(as), ", as %.0f", found.first);
	DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)found.n, err,
	                       "column '%.60s': its format %.*s shows leading zeros, which its "
	                       "numbers do not have%s",
	                       f->name, (int)DTX_MIN(found.code.len, (size_t)40), found.code.ptr,
	                       as));
	w = l->diags->n ? &l->diags->item[l->diags->n - 1] : NULL;
	if (w) {
		dtx_err_row(w, -1, f->name);
		dtx_err_hint(w, "pad_left(text(x), %u, '0') in a formula writes them",
		             found.digits);
	}
out:
	return rc;
}

static enum dtx_code type_column(struct dtx_sheet_layout *l, uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_sheet_stats *s = &l->stats[col];
	struct dtx_field *f = &l->field[col];
	const struct dtx_read_type *d = dtx_columns_declared(l->opts, f->name);
	struct dtx_str code;

	f->type = d ? d->type : column_type(s);
	f->declared = d != NULL;
	f->input_name = d ? f->name : NULL;
	if (d && d->on_error == DTX_CAST_KEEP_TEXT)
		f->type = plain(DTX_T_TEXT);
	if (s->styled && !s->styles_differ && s->style && s->style < l->book->nstyles) {
		code = l->book->style[s->style].code;
		f->format = dtx_arena_strndup(l->arena, code.ptr, code.len);
		if (!f->format)
			DTX_FAIL_MEM(err);
		if (!d && dtx_type_class(f->type.type) == DTX_CLASS_DATE && dtx_fmt_is_utc(code))
			f->type = DTX_TYPE_UTC;
	}
	if (d && d->format)
		f->format = d->format;
	if (!d && s->numbers && (f->type.type == DTX_T_INT64 || f->type.type == DTX_T_TEXT))
		DTX_TRY(warn_padded(l, col, err));
	if (!d && classes(s) > 1)
		DTX_TRY(warn_mixed(l, col, err));
	else if (!d && s->wide && s->fractions)
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)s->numbers,
		                       err,
		                       "column '%.60s' is text: no number type holds all of its "
		                       "numbers exactly",
		                       f->name));
	else if (!d && s->times)
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)s->times,
		                       err, "column '%.60s' holds times, which are numbers of days",
		                       f->name));
out:
	return rc;
}

enum dtx_code dtx_sheet_types(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < l->ncols; i++)
		DTX_TRY(type_column(l, i, err));
out:
	return rc;
}
