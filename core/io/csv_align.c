/* Cells to the columns they look like. */
#include "core/io/csv_align.h"

#define ALIGN_MERGED 2u /* cells that a move must set right if one stays that looks odd */

/* A record, and a way to read it. */
struct align {
	const struct dtx_csv_shapes *s;
	const struct dtx_csv_ref_record *rec;
	uint32_t n, width;
};

static struct dtx_str align_cell(const struct align *a, uint32_t i)
{
	return (struct dtx_str){ a->rec->text + a->rec->cell[i].off, a->rec->cell[i].len };
}

static bool align_is_empty(const struct align *a, uint32_t i)
{
	return !a->rec->cell[i].len && !a->rec->cell[i].quoted;
}

/* Cells [from, to) that look unlike the columns `by` further right. */
static unsigned align_odd(const struct align *a, uint32_t from, uint32_t to, int by)
{
	unsigned odd = 0;
	uint32_t i;

	for (i = from; i < to; i++) {
		uint32_t col = (uint32_t)((int)i + by);

		odd += col >= a->width ? a->rec->cell[i].len != 0
		                       : dtx_csv_shapes_misfit(a->s, col, align_cell(a, i));
	}
	return odd;
}

/* --- one too many --- */

/* The empty cell without which all others fit; neighbours are as good. */
static bool align_drop(const struct align *a, struct dtx_csv_move *out)
{
	unsigned ways = 0;

	for (uint32_t i = 0; i + 1 < a->n; i++) {
		if (!align_is_empty(a, i) || align_odd(a, 0, i, 0) || align_odd(a, i + 1, a->n, -1))
			continue;
		ways += !ways || out->at + 1 != i;
		*out = (struct dtx_csv_move){ .kind = DTX_CSV_MOVE_DROP, .at = i };
	}
	return ways == 1;
}

/* "Paris, France" without quotes, where only there all others fit. */
static bool align_join(const struct align *a, struct dtx_csv_move *out)
{
	unsigned ways = 0;

	for (uint32_t i = 0; i + 1 < a->n; i++) {
		struct dtx_str next = align_cell(a, i + 1);

		if (!a->rec->cell[i].len || a->rec->cell[i].quoted || a->rec->cell[i + 1].quoted ||
		    next.len < 2 || next.ptr[0] != ' ' || next.ptr[1] == ' ' ||
		    !dtx_csv_shapes_loose(a->s, i) || align_odd(a, 0, i, 0) ||
		    align_odd(a, i + 2, a->n, -1))
			continue;
		*out = (struct dtx_csv_move){ .kind = DTX_CSV_MOVE_JOIN, .at = i };
		ways++;
	}
	return ways == 1;
}

static struct dtx_csv_move align_long(const struct align *a)
{
	struct dtx_csv_move move = { .kind = DTX_CSV_MOVE_NONE };

	if (!align_drop(a, &move) && !align_join(a, &move))
		move.kind = DTX_CSV_MOVE_NONE;
	return move;
}

/* --- one too few --- */

static char align_class(char c)
{
	if (c >= '0' && c <= '9')
		return '9';
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? 'a' : c;
}

/* Both parts are cells of their columns; where one of these knows no cells, they change in kind:
 * "$74.69Boots". */
static bool align_parts(const struct align *a, uint32_t i, size_t bytes)
{
	struct dtx_str cell = align_cell(a, i), left = { cell.ptr, bytes },
		       right = { cell.ptr + bytes, cell.len - bytes };
	bool l = dtx_csv_shapes_exact(a->s, i, left), r = dtx_csv_shapes_exact(a->s, i + 1, right);
	bool loose_l = dtx_csv_shapes_loose(a->s, i), loose_r = dtx_csv_shapes_loose(a->s, i + 1);
	bool turns = align_class(cell.ptr[bytes - 1]) != align_class(cell.ptr[bytes]);

	if (loose_l && loose_r)
		return false;
	return (l || (loose_l && turns)) && (r || (loose_r && turns));
}

static unsigned align_splits(const struct align *a, uint32_t i, struct dtx_csv_move *out)
{
	unsigned ways = 0;

	for (size_t bytes = 1; bytes < a->rec->cell[i].len; bytes++) {
		if (!align_parts(a, i, bytes))
			continue;
		*out = (struct dtx_csv_move){ DTX_CSV_MOVE_SPLIT, i, bytes };
		ways++;
	}
	return ways;
}

static bool align_split(const struct align *a, struct dtx_csv_move *out)
{
	unsigned ways = 0;

	for (uint32_t i = 0; i < a->n && ways < 2; i++) {
		if (!align_odd(a, 0, i, 0) && !align_odd(a, i + 1, a->n, 1))
			ways += align_splits(a, i, out);
	}
	return ways == 1;
}

/* The last column that may be the one without a cell. */
static bool align_gap(const struct align *a, unsigned odd, struct dtx_csv_move *out)
{
	unsigned best = odd;

	for (uint32_t at = a->n; at-- > 0;) {
		unsigned left = align_odd(a, 0, at, 0) + align_odd(a, at, a->n, 1);
		bool merged =
			left == 1 && at && odd > ALIGN_MERGED && align_odd(a, at - 1, at, 0) == 1;

		if (left >= best || (left && !merged))
			continue;
		best = left;
		*out = (struct dtx_csv_move){ .kind = DTX_CSV_MOVE_GAP, .at = at };
	}
	return best < odd;
}

static struct dtx_csv_move align_short(const struct align *a, unsigned odd)
{
	struct dtx_csv_move move = { .kind = DTX_CSV_MOVE_NONE };

	if (!align_split(a, &move) && !align_gap(a, odd, &move))
		move.kind = DTX_CSV_MOVE_NONE;
	return move;
}

struct dtx_csv_move dtx_csv_align(const struct dtx_csv_shapes *s,
                                  const struct dtx_csv_ref_record *rec)
{
	struct align a = { s, rec, rec->row.ncells, dtx_csv_shapes_width(s) };
	struct dtx_csv_move none = { .kind = DTX_CSV_MOVE_NONE };
	unsigned odd = align_odd(&a, 0, a.n, 0);

	if (!odd || rec->comment || rec->row.fault != DTX_CSV_FINE)
		return none;
	if (a.n == a.width + 1)
		return align_long(&a);
	return a.n + 1 == a.width && a.n > 1 ? align_short(&a, odd) : none;
}

/* --- done --- */

/* The texts of two cells and the delimiter that was between them, as a new one. */
static bool move_join(struct dtx_csv_ref_cell *left, const struct dtx_csv_ref_cell *right,
                      struct dtx_buf *text, struct dtx_str delim)
{
	size_t off = text->len, len = left->len + delim.len + right->len;

	if (!dtx_buf_room(text, len))
		return false;
	dtx_buf_addn(text, text->ptr + left->off, left->len);
	dtx_buf_addn(text, delim.ptr, delim.len);
	dtx_buf_addn(text, text->ptr + right->off, right->len);
	*left = (struct dtx_csv_ref_cell){ off, len, false };
	return true;
}

static void move_close(struct dtx_csv_ref_cell *cell, size_t at, size_t n)
{
	memmove(cell + at, cell + at + 1, (n - at - 1) * sizeof(*cell));
}

static void move_open(struct dtx_csv_ref_cell *cell, size_t at, size_t n)
{
	memmove(cell + at + 1, cell + at, (n - at) * sizeof(*cell));
}

bool dtx_csv_move_cells(const struct dtx_csv_move *m, struct dtx_csv_ref_cell *cell, size_t n,
                        struct dtx_buf *text, struct dtx_str delim)
{
	struct dtx_csv_ref_cell *at = cell + m->at;

	switch (m->kind) {
	case DTX_CSV_MOVE_NONE: break;
	case DTX_CSV_MOVE_DROP: move_close(cell, m->at, n); break;
	case DTX_CSV_MOVE_JOIN:
		if (!move_join(at, at + 1, text, delim))
			return false;
		move_close(cell, m->at + 1, n);
		break;
	case DTX_CSV_MOVE_GAP:
		move_open(cell, m->at, n);
		*at = (struct dtx_csv_ref_cell){ 0, 0, false };
		break;
	case DTX_CSV_MOVE_SPLIT:
		move_open(cell, m->at, n);
		at[0].len = m->bytes;
		at[1].off += m->bytes;
		at[1].len -= m->bytes;
		break;
	}
	return true;
}
