/* Moves cells to the columns that they look like, see csv_align.h. */
#include "core/io/csv/mend/csv_align.h"

#include "core/io/csv/detect/csv_top.h"

#define ALIGN_MERGED 2u /* misfits that a move must remove if one is left after it */
#define ALIGN_SOME   2u /* number of records that must show the same about a column */

/* A record, and a way to read it. */
struct align {
	const struct dtx_csv_shapes *s;
	const struct dtx_csv_ref_record *rec; /* the record; NULL: it is `row` */
	const struct dtx_csv_top_row *row;
	uint32_t n, width;
	enum dtx_csv_shapes_where where; /* where texts and numbers with delimiters may be */
};

static struct dtx_str align_cell(const struct align *a, uint32_t i)
{
	if (!a->rec)
		return a->row->cell[i];
	return (struct dtx_str){ a->rec->text + a->rec->cell[i].off, a->rec->cell[i].len };
}

static bool align_is_quoted(const struct align *a, uint32_t i)
{
	return a->rec ? a->rec->cell[i].quoted : a->row->quoted[i];
}

static bool align_is_empty(const struct align *a, uint32_t i)
{
	return !align_cell(a, i).len && !align_is_quoted(a, i);
}

/* Counts the cells in [from, to) that do not look like the columns `by` places to the right of
 * them. */
static unsigned align_odd(const struct align *a, uint32_t from, uint32_t to, int by)
{
	unsigned odd = 0;
	uint32_t i;

	for (i = from; i < to; i++) {
		uint32_t col = (uint32_t)((int)i + by);

		odd += col >= a->width ? align_cell(a, i).len != 0
		                       : dtx_csv_shapes_misfit(a->s, col, align_cell(a, i));
	}
	return odd;
}

/* --- too many --- */

/* Finds the empty cell without which all others fit. Empty cells next to each other count as one
 * way. */
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

/* Whether the cells are a text such as "Paris, France" without quotes: each cell but the first
 * begins with a blank. */
static bool align_is_text(const struct align *a, uint32_t at, uint32_t n, uint32_t col)
{
	uint32_t i;

	for (i = at + 1; i < at + n; i++) {
		struct dtx_str next = align_cell(a, i);

		if (next.len < 2 || next.ptr[0] != ' ' || next.ptr[1] == ' ')
			return false;
	}
	return align_cell(a, at).len && dtx_csv_shapes_takes_text(a->s, col, a->where);
}

/* Whether the cells are a number such as "$1,234.50" without quotes. */
static bool align_is_number(const struct align *a, uint32_t at, uint32_t n, uint32_t col)
{
	struct dtx_str cell[DTX_CSV_ALIGN_EXTRA + 1];
	struct dtx_csv_grouped g;
	uint32_t i;

	for (i = 0; i < n; i++)
		cell[i] = align_cell(a, at + i);
	return dtx_csv_grouped(cell, n, &g) &&
	       dtx_csv_shapes_takes_grouped(a->s, col, &g, a->where);
}

static bool align_joins(const struct align *a, uint32_t at, uint32_t n, uint32_t col)
{
	uint32_t i;

	for (i = at; i < at + n; i++) {
		if (align_is_quoted(a, i))
			return false;
	}
	return align_is_text(a, at, n, col) || align_is_number(a, at, n, col);
}

static bool align_fits(const struct align *a, uint32_t i, uint32_t col)
{
	struct dtx_str cell = align_cell(a, i);

	return cell.len ? !dtx_csv_shapes_misfit(a->s, col, cell) : !dtx_csv_shapes_full(a->s, col);
}

/* Finds delimiters inside texts and numbers, if all cells fit when these are joined.
 *
 * Goes from the last cell backwards: in how many ways can the cells from `at` on fill the remaining
 * columns, if `used` cells before them were joined to others? Returns that number, or 2 if there
 * are more; if it is 1, sets *out. */
static unsigned align_join(const struct align *a, struct dtx_csv_move *out)
{
	uint32_t extra = a->n - a->width, at, used, n;
	uint8_t ways[DTX_CSV_ALIGN_COLS + DTX_CSV_ALIGN_EXTRA + 1][DTX_CSV_ALIGN_EXTRA + 1];

	if (extra > DTX_CSV_ALIGN_EXTRA || a->width > DTX_CSV_ALIGN_COLS)
		return 0;
	memset(ways[a->n], 0, sizeof(ways[0]));
	ways[a->n][extra] = 1;
	for (at = a->n; at-- > 0;) {
		for (used = 0; used <= extra; used++) {
			unsigned sum = 0;

			if (at < used || at - used >= a->width) {
				ways[at][used] = 0;
				continue;
			}
			if (ways[at + 1][used] && align_fits(a, at, at - used))
				sum += ways[at + 1][used];
			for (n = 2; n <= extra - used + 1 && at + n <= a->n; n++) {
				if (ways[at + n][used + n - 1] && align_joins(a, at, n, at - used))
					sum += ways[at + n][used + n - 1];
			}
			ways[at][used] = (uint8_t)DTX_MIN(sum, 2u);
		}
	}
	if (ways[0][0] != 1)
		return ways[0][0];
	*out = (struct dtx_csv_move){ .kind = DTX_CSV_MOVE_JOIN };
	for (at = used = 0; at < a->n; at += n, used += n - 1) {
		for (n = 1;
		     !(ways[at + n][used + n - 1] &&
		       (n == 1 ? align_fits(a, at, at - used) : align_joins(a, at, n, at - used)));
		     n++)
			;
		if (n > 1)
			out->join[out->njoins++] = (struct dtx_csv_join){ at, n };
	}
	return 1;
}

/* Whether some join is in a column that is known to have such cells. Then the other joins of the
 * record are accepted too. */
static bool align_shows(const struct align *a, const struct dtx_csv_move *m)
{
	uint32_t before = 0, i;

	for (i = 0; i < m->njoins; i++) {
		if (dtx_csv_shapes_shown(a->s, m->join[i].at - before))
			return true;
		before += m->join[i].n - 1;
	}
	return false;
}

static struct dtx_csv_move align_long(const struct align *a)
{
	struct dtx_csv_move none = { .kind = DTX_CSV_MOVE_NONE }, move = none;
	struct align any = *a;
	unsigned ways = 0;

	if (dtx_csv_shapes_may_join(a->s)) {
		any.where = DTX_CSV_SHAPES_SHOWN;
		ways = align_join(&any, &move);
		any.where = DTX_CSV_SHAPES_LIKELY;
		if (ways != 1)
			ways = align_join(&any, &move);
		any.where = DTX_CSV_SHAPES_ANYWHERE;
		if (!ways && align_join(&any, &move) == 1)
			ways = align_shows(&any, &move);
	}
	if (!ways && a->n == a->width + 1 && align_drop(a, &move))
		ways = 1;
	return ways == 1 ? move : none;
}

/* Learns from a record of the top with too many cells in which columns it can be joined. False: it
 * cannot. */
static bool learn_row(struct dtx_csv_shapes *s, const struct align *a)
{
	struct dtx_csv_move move;
	struct dtx_csv_grouped g;
	struct dtx_str cell[DTX_CSV_ALIGN_EXTRA + 1];
	uint32_t i, k, before = 0;

	if (align_join(a, &move) != 1)
		return false;
	for (i = 0; i < move.njoins; i++) {
		const struct dtx_csv_join *j = &move.join[i];

		for (k = 0; k < j->n; k++)
			cell[k] = align_cell(a, j->at + k);
		if (!align_is_text(a, j->at, j->n, j->at - before) &&
		    dtx_csv_grouped(cell, j->n, &g))
			dtx_csv_shapes_add_grouped(s, j->at - before, &g);
		else
			dtx_csv_shapes_add_text(s, j->at - before);
		before += j->n - 1;
	}
	return true;
}

void dtx_csv_align_learn(struct dtx_csv_shapes *s, const struct dtx_csv_top *top)
{
	struct align a = { .s = s,
		           .width = dtx_csv_shapes_width(s),
		           .where = DTX_CSV_SHAPES_ANYWHERE };
	size_t i, rows = 0, wide = 0, joined = 0;

	for (i = top->body; i < top->n; i++) {
		a.row = &top->row[i];
		a.n = a.row->n;
		if (a.row->blank || a.row->dropped || a.row->fault)
			continue;
		rows++;
		if (a.n <= a.width)
			continue;
		wide++;
		joined += learn_row(s, &a);
	}
	dtx_csv_shapes_joined(s, rows == wide && joined < wide ? 0 : joined, rows == wide);
}

/* --- one too few --- */

static char align_class(char c)
{
	if (c >= '0' && c <= '9')
		return '9';
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? 'a' : c;
}

/* Whether both parts of a cell look like cells of their columns. If one of the columns has texts of
 * any form, the kind of characters must change between the parts, as in "$74.69Boots". */
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
		*out = (struct dtx_csv_move){ .kind = DTX_CSV_MOVE_SPLIT, .at = i, .bytes = bytes };
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

/* Finds the last column that may be the one without a cell. */
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
	struct align a = {
		.s = s, .rec = rec, .n = rec->row.ncells, .width = dtx_csv_shapes_width(s)
	};
	struct dtx_csv_move none = { .kind = DTX_CSV_MOVE_NONE };
	unsigned odd = align_odd(&a, 0, a.n, 0);

	if (!odd || rec->comment || rec->row.fault != DTX_CSV_FINE)
		return none;
	if (a.n > a.width)
		return align_long(&a);
	return a.n + 1 == a.width && a.n > 1 ? align_short(&a, odd) : none;
}

/* --- done --- */

/* Joins the texts of n cells, with the delimiter between them, into the first one. */
static bool move_join(struct dtx_csv_ref_cell *cell, uint32_t n, struct dtx_buf *text,
                      struct dtx_str delim)
{
	size_t off = text->len, len = cell[0].len;
	uint32_t i;

	for (i = 1; i < n; i++)
		len += delim.len + cell[i].len;
	if (!dtx_buf_room(text, len))
		return false;
	for (i = 0; i < n; i++) {
		if (i)
			dtx_buf_addn(text, delim.ptr, delim.len);
		dtx_buf_addn(text, text->ptr + cell[i].off, cell[i].len);
	}
	cell[0] = (struct dtx_csv_ref_cell){ off, len, false };
	return true;
}

/* Removes k cells from `at` on. */
static void move_close(struct dtx_csv_ref_cell *cell, size_t at, size_t k, size_t n)
{
	memmove(cell + at, cell + at + k, (n - at - k) * sizeof(*cell));
}

static void move_open(struct dtx_csv_ref_cell *cell, size_t at, size_t n)
{
	memmove(cell + at + 1, cell + at, (n - at) * sizeof(*cell));
}

bool dtx_csv_move_cells(const struct dtx_csv_move *m, struct dtx_csv_ref_cell *cell, size_t n,
                        struct dtx_buf *text, struct dtx_str delim)
{
	struct dtx_csv_ref_cell *at = cell + m->at;
	uint32_t i;

	switch (m->kind) {
	case DTX_CSV_MOVE_NONE: break;
	case DTX_CSV_MOVE_DROP: move_close(cell, m->at, 1, n); break;
	case DTX_CSV_MOVE_JOIN:
		for (i = m->njoins; i-- > 0;) {
			const struct dtx_csv_join *j = &m->join[i];

			if (!move_join(cell + j->at, j->n, text, delim))
				return false;
			move_close(cell, j->at + 1, j->n - 1, n);
			n -= j->n - 1;
		}
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
