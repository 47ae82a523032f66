/* Finds several tables in one text file, separated by blank lines or by lines with only
 * delimiters. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/repair.h"

struct tables {
	struct dtx_csv *c;
	struct dtx_csv_top *top;
	struct dtx_head_grid grid;
	struct dtx_head_cell *cell;
	const struct dtx_csv_top_row *header;
	size_t end;          /* end of the first table */
	size_t next, last;   /* the second table */
	size_t tail;         /* end of what follows it after a blank line */
	struct dtx_buf list; /* the places of all tables */
	uint32_t n;
	uint32_t goes_on; /* number of parts after a gap that are not a table */
	bool margins; /* lines with only delimiters are gaps, and delimiters at the end of a line do
	               * not count */
};

/* The number of cells up to the last filled one. */
static uint32_t filled_width(const struct dtx_csv_top_row *r)
{
	uint32_t n = r->n;

	while (n && dtx_utf8_is_blank(r->cell[n - 1]))
		n--;
	return n;
}

/* Whether the row is a gap: a blank line, or with `margins` also one with only delimiters, as
 * spreadsheets write it. split_tables splits there too. */
static bool is_gap(const struct tables *t, size_t row)
{
	const struct dtx_csv_top_row *r = &t->top->row[row];

	return r->blank || (t->margins && r->n > 1 && !filled_width(r));
}

/* Finds the next rows without a gap between them, at or after *from. */
static bool next_band(const struct tables *t, size_t *from, size_t *to)
{
	while (*from < t->top->n && is_gap(t, *from))
		++*from;
	for (*to = *from; *to < t->top->n && !is_gap(t, *to); ++*to)
		;
	return *from < *to;
}

static enum dtx_code row_like(struct tables *t, size_t row, bool *like, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t width = 0;

	DTX_TRY(t->grid.row(t->grid.arg, row, t->cell, &width, err));
	*like = dtx_head_like(t->cell, t->grid.ncols, NULL);
out:
	return rc;
}

bool dtx_csv_top_same(const struct dtx_csv_top_row *a, const struct dtx_csv_top_row *b)
{
	uint32_t i;

	for (i = 0; a->n == b->n && i < a->n; i++) {
		if (!dtx_str_eq(a->cell[i], b->cell[i]))
			return false;
	}
	return a->n == b->n;
}

/* The width of a row that may begin a table. */
static uint32_t width_of(const struct tables *t, const struct dtx_csv_top_row *r)
{
	return t->margins ? filled_width(r) : r->n;
}

static bool well_filled(const struct tables *t, const struct dtx_csv_top_row *r)
{
	uint32_t filled = 0, i;

	for (i = 0; i < r->n; i++)
		filled += r->cell[i].len != 0;
	return filled >= 2 && filled * 10 >= width_of(t, r) * 6;
}

/* Whether a name is at the same place in both rows. */
static bool shares_name(const struct dtx_csv_top_row *a, const struct dtx_csv_top_row *b)
{
	uint32_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (a->cell[i].len && dtx_str_eq(a->cell[i], b->cell[i]))
			return true;
	}
	return false;
}

static bool is_value(struct dtx_str cell)
{
	return dtx_head_judge(cell) >= DTX_HEAD_YEAR;
}

/* Numbers of filled cells in a column, and of values among them. */
struct tally {
	size_t filled, values;
};

static struct tally tally_of(const struct dtx_csv_top *top, size_t from, size_t to, uint32_t col)
{
	struct tally sum = { 0, 0 };

	for (; from < to; from++) {
		const struct dtx_csv_top_row *r = &top->row[from];

		if (col < r->n && r->cell[col].len) {
			sum.filled++;
			sum.values += is_value(r->cell[col]);
		}
	}
	return sum;
}

/* Whether a column that has only values in the first table has none here. */
static bool turns_to_text(const struct tables *t, size_t from, size_t to)
{
	uint32_t i;

	for (i = 0; i < t->header->n; i++) {
		struct tally first = tally_of(t->top, t->top->body, t->end, i);
		struct tally here = tally_of(t->top, from, to, i);

		if (first.filled > 1 && first.values == first.filled && here.filled > 2 &&
		    !here.values)
			return true;
	}
	return false;
}

/* Whether there is a text above data, in a column in which the first table does not have both
 * values and texts. This is required after a line with only delimiters, because that may be a row
 * without values. */
static bool is_news(const struct tables *t, size_t row)
{
	const struct dtx_csv_top_row *name = &t->top->row[row], *value = name + 1;
	uint32_t i;

	for (i = 0; i < name->n && i < value->n; i++) {
		struct tally first = tally_of(t->top, t->top->body, t->end, i);

		if (name->cell[i].len && !is_value(name->cell[i]) && is_value(value->cell[i]) &&
		    (!first.values || first.values == first.filled))
			return true;
	}
	return false;
}

/* Whether these rows are another table. The first row looks like a header that is not the first
 * table's, and one of these holds: the next row looks like data; the rows have a width of their
 * own; below a title a name of the first table comes again; there are texts where the first table
 * has values. */
static enum dtx_code is_table(struct tables *t, size_t from, size_t to, bool *yes,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv_top_row *first;
	bool like = false, next = false;
	size_t band = from;

	*yes = false;
	while (to - from > 2 && width_of(t, &t->top->row[from]) == 1) /* the title of the table */
		from++;
	first = &t->top->row[from];
	if (to - from < 2 || !well_filled(t, first) || dtx_csv_top_same(first, t->header))
		goto out;
	DTX_TRY(row_like(t, from, &like, err));
	DTX_TRY(row_like(t, from + 1, &next, err));
	*yes = like &&
	       ((!next && (!t->margins || is_news(t, from))) ||
	        (first->n != t->c->width && first[1].n == first->n) ||
	        (from > band && shares_name(first, t->header)) || turns_to_text(t, from, to));
out:
	return rc;
}

static void add_place(struct tables *t, size_t from, size_t to)
{
	dtx_buf_printf(&t->list, "%sL%lld-L%lld", t->n++ ? ", " : "",
	               (long long)t->top->row[from].line + 1,
	               (long long)t->top->row[to - 1].line + 1);
}

/* The number of records from the first one of the file, as `range` counts them. */
static unsigned long long last_record(const struct tables *t, size_t to)
{
	return (unsigned long long)t->c->before.dropped[DTX_DROP_SKIP] + to;
}

/* The number of rows that are not blank. */
static size_t rows_of(const struct tables *t, size_t from, size_t to)
{
	size_t n = 0;

	for (; from < to; from++)
		n += !is_gap(t, from);
	return n;
}

/* Advises a repair that cuts off the other tables by `skip_tail`, so that their rows are counted;
 * rows outside a range are in no count. */
static enum dtx_code advise(const struct tables *t, size_t to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t tail = t->c->opts.skip_tail;
	size_t at = t->top->row[to].start;

	if (t->c->ref) /* skip_tail would count before the width is known */
		dtx_csv_ref_set_width(t->c->ref, 0);
	for (; at < t->c->text.end && tail <= DTX_CSV_TAIL_MAX; tail++)
		DTX_TRY(dtx_csv_step(t->c, &at, err));
	if (rows_of(t, 0, to) < rows_of(t, to, t->top->n))
		dtx_repair_advise(err, "null"); /* it would leave out more rows than are kept */
	else if (tail <= DTX_CSV_TAIL_MAX)
		dtx_repair_advise(err, "{\"skip_tail\":%lld}", (long long)tail);
out:
	return rc;
}

static bool is_moment(struct dtx_str cell)
{
	return is_value(cell) || dtx_head_is_local_date(cell);
}

/* The number of rows that begin with a value. */
static size_t count_moments(const struct tables *t, size_t from, size_t to)
{
	size_t n = 0;

	for (; from < to; from++)
		n += t->top->row[from].n && is_moment(t->top->row[from].cell[0]);
	return n;
}

/* Whether the rows below the first one have values in one column, and nothing else there. */
static bool has_values(const struct tables *t, size_t head, size_t to)
{
	const struct dtx_csv_top_row *r = &t->top->row[head];
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		struct tally sum = tally_of(t->top, head + 1, to, i);

		if (r->cell[i].len && !is_value(r->cell[i]) && sum.values == sum.filled &&
		    2 * sum.values > to - head - 1)
			return true;
	}
	return false;
}

/* Whether the first rows are labels with a value each, as instruments and banks write them above a
 * table. Then the table has more rows and begins with a value in each; or it has twice as many rows
 * and a column of values, which labels do not have. One record that describes the table counts as
 * labels too. */
static bool are_labels(const struct tables *t, size_t head)
{
	size_t i, labels = t->end - head, rows = t->last - t->next, all = t->tail - t->next;

	if (t->n != 2 || all <= labels)
		return false;
	if (labels == 2 && all > 3 && has_values(t, t->next, t->tail))
		return true;
	for (i = head; i < t->end; i++) {
		if (filled_width(&t->top->row[i]) != 2)
			return false;
	}
	if (count_moments(t, head, t->end))
		return false;
	return (rows > labels && count_moments(t, t->next + 1, t->last) == rows - 1) ||
	       (all > 2 * labels && has_values(t, t->next, t->tail) &&
	        !has_values(t, head, t->end));
}

static enum dtx_code refuse(struct tables *t, size_t head, size_t to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_err_set(err, DTX_E_MULTIPLE_TABLES, __FILE__, __LINE__, "'%s' holds %u tables: %s",
	            dtx_source_name(t->c->head.src), t->n, dtx_buf_text(&t->list));
	dtx_err_hint(
		err,
		"choose one with \"range\": \"1:%llu\"; \"header_rows\": %u reads on to the end",
		last_record(t, to), t->c->header_rows);
	if (are_labels(t, head))
		dtx_repair_advise(err, "{\"skip\":%llu}", last_record(t, t->next));
	else
		DTX_TRY(advise(t, to, err));
	dtx_csv_set_position(t->c, t->top->row[to].start, err);
	rc = DTX_E_MULTIPLE_TABLES;
out:
	return rc;
}

static enum dtx_code search(struct tables *t, size_t head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t from = t->top->body, to;
	bool yes;

	if (!next_band(t, &from, &to))
		goto out;
	/* The end of the first table; its line number is that of its header. */
	t->end = to;
	add_place(t, head, to);
	for (from = to; next_band(t, &from, &to); from = to) {
		if (to == t->top->n && !t->top->whole)
			break;
		DTX_TRY(is_table(t, from, to, &yes, err));
		if (!yes) {
			t->goes_on++;
			t->tail = t->n == 2 ? to : t->tail;
			continue;
		}
		add_place(t, from, to);
		t->next = t->n == 2 ? from : t->next;
		t->last = t->n == 2 ? to : t->last;
		t->tail = t->last;
	}
out:
	return rc;
}

/* If most of what follows lines with only delimiters belongs to the table, those lines are rows
 * without values. Then searches again without them as gaps. */
static enum dtx_code search_again(struct tables *t, size_t head, struct dtx_err *err)
{
	t->margins = false;
	t->n = 0;
	dtx_buf_reset(&t->list);
	return search(t, head, err);
}

/* The end of the rows from `from` on that have the same width. */
static size_t same_width(const struct tables *t, size_t from)
{
	size_t to = from;

	while (to < t->top->n && !t->top->row[to].blank && t->top->row[to].n == t->top->row[from].n)
		to++;
	return to;
}

/* Whether row *at has names and there is a row of values directly below: another table without a
 * gap before it. */
static enum dtx_code is_head(struct tables *t, size_t at, bool *yes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool next = true;

	*yes = false;
	if (!well_filled(t, &t->top->row[at]))
		goto out;
	DTX_TRY(row_like(t, at, yes, err));
	if (!*yes)
		goto out;
	DTX_TRY(row_like(t, at + 1, &next, err));
	*yes = !next;
out:
	return rc;
}

/* Finds names and at least two rows directly below the table, with another width. */
static enum dtx_code find_width(struct tables *t, size_t *at, size_t *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool yes;

	for (*at = t->top->body; *at < t->top->n; *at = DTX_MAX(*to, *at + 1)) {
		*to = same_width(t, *at);
		if (*to - *at < 3 || t->top->row[*at].n == t->header->n || *at < t->top->body + 2)
			continue;
		DTX_TRY(is_head(t, *at, &yes, err));
		if (yes)
			goto out;
	}
out:
	return rc;
}

/* Whether after row `at` some column of values has only texts, and another column the other way
 * round. */
static bool turns_both_ways(const struct tables *t, size_t at, size_t to)
{
	bool texts = false, values = false;

	for (uint32_t i = 0; i < t->header->n; i++) {
		struct tally above = tally_of(t->top, t->top->body, at, i);
		struct tally below = tally_of(t->top, at + 1, to, i);

		if (above.filled < 2 || below.filled < 2)
			continue;
		texts |= above.values == above.filled && !below.values;
		values |= !above.values && below.values == below.filled;
	}
	return texts && values;
}

/* Each try goes through all top rows. */
enum { TURN_COLS_MAX = 64, TURN_LOOKS_MAX = 8 };

/* Finds names with the same width as the table inside it, after which its columns have other
 * contents. */
static enum dtx_code find_turn(struct tables *t, size_t *at, size_t *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t end = t->top->body < t->top->n ? same_width(t, t->top->body) : t->top->n;
	unsigned looks = t->header->n > TURN_COLS_MAX ? TURN_LOOKS_MAX : 0;
	bool yes;

	*to = end;
	for (*at = t->top->body + 2; *at + 2 < end && looks < TURN_LOOKS_MAX; ++*at) {
		DTX_TRY(is_head(t, *at, &yes, err));
		looks += yes;
		if (yes && turns_both_ways(t, *at, end))
			goto out;
	}
	*at = t->top->n;
out:
	return rc;
}

/* Warns about a table without a gap before it. This may be wrong, so it is not an error. */
static enum dtx_code tell_gapless(struct tables *t, size_t head, struct dtx_err *err)
{
	struct dtx_err w = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	size_t at, to;

	DTX_TRY(find_width(t, &at, &to, err));
	if (at >= t->top->n)
		DTX_TRY(find_turn(t, &at, &to, err));
	if (at >= t->top->n)
		goto out;
	t->n = 0;
	dtx_buf_reset(&t->list);
	add_place(t, head, at);
	add_place(t, at, to);
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' looks like 2 tables without a gap, read as one: %s",
	            dtx_source_name(t->c->head.src), dtx_buf_text(&t->list));
	dtx_err_hint(&w, "choose one with \"range\": \"1:%llu\"", last_record(t, at));
	dtx_csv_set_position(t->c, t->top->row[at].start, &w);
	DTX_TRY(dtx_csv_note(t->c, &w, err));
out:
	return rc;
}

/* Warns about lines with only delimiters if they are not gaps here. The steps of a plan may split
 * the tables there, so it says what looks like one. */
static enum dtx_code tell(struct tables *t, size_t head, struct dtx_err *err)
{
	struct dtx_err w = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	t->margins = true;
	t->n = 0;
	t->goes_on = 0;
	dtx_buf_reset(&t->list);
	DTX_TRY(search(t, head, err));
	if (t->n < 2 || t->goes_on > t->n)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' looks like %u tables, read as one: %s", dtx_source_name(t->c->head.src),
	            t->n, dtx_buf_text(&t->list));
	dtx_err_hint(&w, "choose one with \"range\": \"1:%llu\"; split_tables keeps one of them",
	             last_record(t, t->end));
	dtx_csv_set_position(t->c, t->top->row[t->end].start, &w);
	DTX_TRY(dtx_csv_note(t->c, &w, err));
out:
	return rc;
}

enum dtx_code dtx_csv_tables(struct dtx_csv *c, struct dtx_csv_top *top,
                             const struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct tables t = {
		.c = c, .top = top, .list = DTX_BUF_INIT(64 << 10), .margins = c->opts.margins
	};
	uint32_t ncols = c->width;
	size_t i;

	if (c->opts.header_rows >= 0 || c->opts.range || !head->rows)
		goto out;
	for (i = 0; i < top->n; i++)
		ncols = DTX_MAX(ncols, top->row[i].n);
	t.grid = dtx_csv_head_grid(top, ncols);
	t.header = &top->row[head->first + head->rows - 1];
	t.cell = dtx_mem_zalloc(ncols, sizeof(*t.cell));
	if (!t.cell)
		DTX_FAIL_MEM(err);
	DTX_TRY(search(&t, head->first, err));
	if (t.margins && t.n > 1 && t.goes_on > t.n)
		DTX_TRY(search_again(&t, head->first, err));
	if (t.n > 1)
		rc = refuse(&t, head->first, t.end, err);
	else {
		DTX_TRY(tell_gapless(&t, head->first, err));
		if (!t.margins && !c->opts.margins)
			DTX_TRY(tell(&t, head->first, err));
	}
out:
	dtx_mem_free(t.cell);
	dtx_buf_clear(&t.list);
	return rc;
}
