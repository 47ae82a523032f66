/* What the cells of each column are: which read as null, and counts of the others. */
#include <math.h>

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/io/sheet_layout.h"

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

/* Numbers among the null values. */
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

/* --- counts --- */

/* Whole, and all whole numbers up to it are doubles. */
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

/* `whole`: a number that is known to be an integer. */
static inline void note_cell(const struct dtx_sheet_layout *l, const struct dtx_grid_chunk *c,
                             size_t at, bool whole, struct dtx_sheet_stats *s, uint32_t row)
{
	uint8_t tag = c->tag[at];
	union dtx_payload v = c->value[at];
	uint16_t style = c->style ? c->style[at] : 0;

	if (dtx_sheet_cell_null(l, tag, v)) {
		if (is_bad(l, tag, v) && !s->bad++)
			s->bad_row = row;
		return;
	}
	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER:
		s->numbers++;
		s->fractions += !whole && !is_int(v.num);
		note_style(s, style);
		break;
	case DTX_CELL_BOOL: s->bools++; break;
	case DTX_CELL_TEXT: s->texts++; break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		s->dates++;
		s->clocks += !whole && !is_int(v.num);
		note_style(s, style);
		break;
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION:
		s->times++;
		note_style(s, style);
		break;
	default: break;
	}
}

void dtx_sheet_note_cell(const struct dtx_sheet_layout *l, const struct dtx_grid *g,
                         struct dtx_sheet_stats *s, uint32_t row, uint64_t cell)
{
	note_cell(l, g->chunk[cell / DTX_GRID_CHUNK], cell % DTX_GRID_CHUNK, false, s, row);
}

/* One pass for both: what makes a cell small on the tape tells that it is whole, too. */
bool dtx_sheet_note_row(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t r,
                        struct dtx_sheet_tail *t, bool count)
{
	uint64_t i = g->row[r].first, end = g->row[r + 1].first;
	uint32_t row = g->row[r].row, expect = 0, small;
	char *to = dtx_sheet_tape_row(&t->tape, &g->row[r], (size_t)(end - i));
	/* what is written as bytes could be anything: these are not to be loaded again for it */
	const bool *const in = t->in;
	bool *const filled = t->filled;
	struct dtx_sheet_stats *const stats = t->stats;
	bool live = false;

	for (; i < end; i++) {
		const struct dtx_grid_chunk *chunk = g->chunk[i / DTX_GRID_CHUNK];
		size_t at = i % DTX_GRID_CHUNK;
		uint32_t c = chunk->col[at];
		unsigned tag = chunk->tag[at];
		bool narrow;

		if (!in[c])
			continue;
		narrow = dtx_sheet_tape_narrow(tag, chunk->value[at], &small);
		if (to) {
			to = c == expect ? to : dtx_sheet_tape_jump(to, c);
			to = dtx_sheet_tape_cell(to, tag, chunk->value[at], narrow, small);
			expect = c + 1;
		}
		if ((tag & DTX_CELL_KIND) == DTX_CELL_BLANK && !(tag & DTX_CELL_UNCACHED))
			continue;
		live = true;
		filled[c] = true;
		if (count)
			note_cell(l, chunk, at, narrow, &stats[c], row);
	}
	if (to && live)
		dtx_sheet_tape_end(&t->tape, to);
	return live;
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
