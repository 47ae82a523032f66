/* Finds column types from the kinds of their cells. */
#include <math.h>

#include "core/io/columns.h"
#include "core/io/sheet/numfmt.h"
#include "core/io/sheet/sheet_layout.h"

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
