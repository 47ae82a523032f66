/* Finds the header of a text file, the width of its table and the names of its columns. */
#include <stdio.h>

#include "core/base/text/utf8.h"
#include "core/io/csv/mend/csv_stray.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"

static enum dtx_code head_row(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
                              struct dtx_err *err)
{
	const struct dtx_csv_top *top = arg;
	const struct dtx_csv_top_row *r = &top->row[row];
	uint32_t i;

	(void)err;
	for (i = 0; i < top->ncols; i++) {
		cell[i] = (struct dtx_head_cell){ .kind = DTX_HEAD_BLANK };
		if (i >= r->n || dtx_utf8_is_blank(r->cell[i]))
			continue;
		cell[i].kind = DTX_HEAD_TEXT;
		cell[i].text = r->cell[i];
	}
	*width = r->blank ? 0 : r->n;
	return DTX_OK;
}

static void head_name(void *arg, uint64_t row, uint32_t col, char out[48])
{
	const struct dtx_csv_top *top = arg;

	snprintf(out, 48, "L%lld, field %u", (long long)(top->row[row].line + 1), col + 1);
}

struct dtx_head_grid dtx_csv_head_grid(struct dtx_csv_top *top, uint32_t ncols)
{
	top->ncols = ncols;
	return (struct dtx_head_grid){ .nrows = top->n,
		                       .ncols = ncols,
		                       .text_file = true,
		                       .row = head_row,
		                       .name = head_name,
		                       .arg = top };
}

static uint32_t head_widest(const struct dtx_csv_top *top, size_t from, size_t n)
{
	uint32_t widest = 1;
	size_t i;

	for (i = from; i < from + n && i < top->n; i++)
		widest = DTX_MAX(widest, top->row[i].n);
	return widest;
}

/* The width that most rows have. */
static uint32_t head_modal(const struct dtx_csv_top *top, size_t from)
{
	uint32_t best = 1, votes = 0, count;
	size_t i, k;

	/* If a width has half of the rows, no other can have more. */
	for (i = from; i < top->n && votes * 2 < top->n; i++) {
		if (top->row[i].blank || (votes && top->row[i].n == best))
			continue;
		for (count = 0, k = i; k < top->n; k++)
			count += !top->row[k].blank && top->row[k].n == top->row[i].n;
		if (count > votes) {
			votes = count;
			best = top->row[i].n;
		}
	}
	return best;
}

/* Takes the header from the options: the first rows that are not blank lines. */
static enum dtx_code head_declared(const struct dtx_csv *c, const struct dtx_csv_top *top,
                                   struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t first = 0;

	while (first < top->n && top->row[first].blank)
		first++;
	head->first = first;
	head->rows = (uint32_t)c->opts.header_rows;
	if (first + head->rows > top->n) {
		rc = dtx_err_set(err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__,
		                 "'%s' has %llu rows, \"header_rows\" is %u",
		                 dtx_source_name(c->head.src), (unsigned long long)(top->n - first),
		                 head->rows);
		dtx_err_hint(err, "\"header_rows\": 0 names the columns column_1, column_2 ...");
	}
	return rc;
}

/* Whether two stray quotes hold what looks like a header and rows below it together. */
static bool is_stray(const struct dtx_csv *c, const struct dtx_csv_top_row *r)
{
	struct dtx_str record = { c->text.data + r->start, r->next - r->start };

	return dtx_csv_stray(&c->dialect, record, r->n, true) == DTX_CSV_STRAY_SURE;
}

/* Whether a stray quote in one of the first rows has taken the rows below into its cell. */
static bool swallowed_lines(const struct dtx_csv *c, const struct dtx_csv_top *top)
{
	size_t i;

	if (!c->dialect.quote || c->dialect.quotes != DTX_QUOTES_LITERAL)
		return false;
	for (i = 0; i < top->n && i < DTX_HEAD_ROWS_MAX; i++) {
		const struct dtx_csv_top_row *r = &top->row[i];

		if (!memchr(c->text.data + r->start, '\n', r->next - r->start - 1))
			continue;
		if (r->fault || is_stray(c, r))
			return true;
	}
	return false;
}

/* Searches the header. If the finder refuses, but a row looks like one, the error says how to
 * declare it. */
static enum dtx_code head_sought(const struct dtx_csv *c, const struct dtx_head_grid *g,
                                 struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = dtx_head_find(g, head, err);
	long long skip = (long long)c->opts.skip + (c->sep != 0) + (long long)head->first;

	if (rc != DTX_E_HEADER_NOT_FOUND)
		return rc;
	if (swallowed_lines(c, g->arg))
		dtx_repair_advise(err, "{\"quotes\":\"lenient\"}");
	else if (head->hinted && head->loses)
		dtx_repair_advise(err, "null");
	else if (head->hinted && skip > c->opts.skip)
		dtx_repair_advise(err, "{\"header_rows\":1,\"skip\":%lld}", skip);
	else if (head->hinted)
		dtx_repair_advise(err, "{\"header_rows\":1}");
	return rc;
}

static void head_count(struct dtx_csv *c, const struct dtx_csv_top *top,
                       const struct dtx_head *head)
{
	int64_t *dropped = c->before.dropped;
	uint64_t i;

	for (i = 0; i < head->first; i++) {
		const struct dtx_csv_top_row *r = &top->row[i];

		dropped[r->dropped ? DTX_DROP_COMMENT
		        : r->blank ? DTX_DROP_BLANK
		                   : DTX_DROP_PREAMBLE]++;
		if (r->dropped && dtx_csv_lists_comments(c))
			dtx_csv_odd(&c->above, DTX_CSV_ODD_COMMENT, 1, r->start);
	}
	dropped[DTX_DROP_HEADER] += head->rows;
}

/* Refuses a header whose record cannot be read, because its names would be made up. */
static enum dtx_code head_refuse(struct dtx_csv *c, const struct dtx_csv_top *top,
                                 const struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;

	for (size_t i = head->first; i < head->first + head->rows; i++) {
		if (c->dialect.quotes != DTX_QUOTES_LENIENT && is_stray(c, &top->row[i]))
			DTX_TRY(dtx_csv_head_stray(c, top->row[i].start, top->row[i].next, err));
		if (!top->row[i].fault)
			continue;
		if (c->ref)
			DTX_TRY(dtx_csv_ref_read(c->ref, top->row[i].start, &rec, err));
		else
			dtx_csv_row_read(&c->text, top->row[i].start, NULL, 0, &rec.row);
		rc = dtx_csv_fail_row(c, &rec.row, err);
		goto out;
	}
out:
	return rc;
}

static bool is_full(const struct dtx_csv_top_row *r)
{
	for (uint32_t k = 0; k < r->n; k++) {
		if (dtx_utf8_is_blank(r->cell[k]))
			return false;
	}
	return true;
}

/* Whether the rows from `from` to *to, above the header, are a table: names, and below them rows of
 * the same width with values. Two columns may also be labels if the first one has no values. Three
 * or more rows with only texts and no blank cell are a table too. */
static bool is_table_above(const struct dtx_csv_top *top, size_t from, size_t end, size_t *to)
{
	const struct dtx_csv_top_row *names = &top->row[from];
	uint32_t k, values = 0, first = 0, named = 0, full = is_full(names);

	for (k = 0; k < names->n; k++) {
		bool blank = k && dtx_utf8_is_blank(names->cell[k]);

		if (!blank && dtx_head_judge(names->cell[k]) != DTX_HEAD_TEXT)
			return false;
		named += !blank;
	}
	if (!named) /* a record with a fault has no cells */
		return false;
	for (*to = from + 1; *to < end && top->row[*to].n == names->n; ++*to) {
		const struct dtx_csv_top_row *r = &top->row[*to];
		bool any = false;

		for (k = 0; k < r->n; k++)
			any |= dtx_head_judge(r->cell[k]) >= DTX_HEAD_YEAR;
		values += any;
		full += is_full(r);
		first += dtx_head_judge(r->cell[0]) >= DTX_HEAD_YEAR;
	}
	if (named > 1 && *to > from + 2 && values == *to - from - 1)
		return names->n > 2 || first == values;
	return names->n > 2 && *to > from + 3 && full == *to - from;
}

/* Warns about another table above the header, since all rows above the header are left out. */
static enum dtx_code head_tables_above(struct dtx_csv *c, const struct dtx_csv_top *top,
                                       const struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	size_t i, to;

	for (i = 0; i < head->first && !c->opts.skip && !c->opts.range; i++) {
		if (top->row[i].blank || !is_table_above(top, i, (size_t)head->first, &to))
			continue;
		dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
		            "'%s': the rows above the header look like a table of their own, which "
		            "is not read: L%lld-L%lld",
		            dtx_source_name(c->head.src), (long long)top->row[i].line + 1,
		            (long long)top->row[to - 1].line + 1);
		dtx_err_hint(&w, "\"range\": \"%zu:%zu\" reads that one", i + 1, to);
		dtx_csv_set_position(c, top->row[i].start, &w);
		DTX_TRY(dtx_csv_note(c, &w, err));
		break;
	}
	DTX_TRY(dtx_csv_note_left_out(c, "above the header",
	                              "\"header_rows\": 0 reads all lines as rows", c->top,
	                              c->names, err));
out:
	return rc;
}

enum dtx_code dtx_csv_head(struct dtx_csv *c, struct dtx_csv_top *top, const char ***names,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head head = { 0 };
	struct dtx_head_grid g;

	if (!c->plain)
		DTX_TRY(dtx_csv_head_parted(c, top, head_modal(top, 0), err));
	g = dtx_csv_head_grid(top, head_widest(top, 0, top->n));
	if (c->opts.header_rows >= 0)
		DTX_TRY(head_declared(c, top, &head, err));
	else {
		if (!c->plain)
			DTX_TRY(dtx_csv_head_comments(top, &g, err));
		dtx_csv_head_labels(top, &g);
		dtx_csv_head_sections(top, &g);
		DTX_TRY(head_sought(c, &g, &head, err));
	}
	if (head.assumed)
		DTX_TRY(dtx_csv_note_text(c, DTX_W_HEADER_ASSUMED,
		                          "has only text: its first row is taken as the header",
		                          err));
	DTX_TRY(head_refuse(c, top, &head, err));
	c->header_rows = head.rows;
	c->names = head.rows ? top->row[head.first].start : c->top;
	c->body = head.first + head.rows ? top->row[head.first + head.rows - 1].next : c->top;
	top->body = head.first + head.rows;
	DTX_TRY(dtx_csv_head_again(c, top, err));
	DTX_TRY(dtx_csv_head_row_names(c, top, &head, err));
	DTX_TRY(dtx_csv_head_spare(c, top, &head, err));
	c->width =
		head.rows ? head_widest(top, head.first, head.rows) : head_modal(top, head.first);
	/* If no record at the top can be read, the fault is reported when the rows are read. */
	c->width = DTX_MAX(c->width, 1u);
	c->fit = c->width;
	if (c->opts.strays || c->dialect.mixed)
		DTX_TRY(dtx_csv_shapes_new(top, c->fit, &c->shapes, err));
	if (c->ref) {
		dtx_csv_ref_set_width(c->ref, c->fit);
		dtx_csv_ref_set_shapes(c->ref, c->shapes);
	}
	if (c->opts.ragged == DTX_RAGGED_PAD)
		DTX_TRY(dtx_csv_widest(c, c->body, &c->width, err));
	head_count(c, top, &head);
	g = dtx_csv_head_grid(top, c->width);
	DTX_TRY(dtx_head_names(&g, &head, c->opts.header_sep, c->opts.header_fill,
	                       c->opts.names_unique_error, &c->head.arena, &c->head.diags, names,
	                       err));
	DTX_TRY(head_tables_above(c, top, &head, err));
	DTX_TRY(dtx_csv_tables(c, top, &head, err));
out:
	return rc;
}

enum dtx_code dtx_csv_header(struct dtx_reader *r, struct dtx_buf *out, uint32_t *rows,
                             struct dtx_err *err)
{
	const struct dtx_csv *c = (const struct dtx_csv *)r;
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	*rows = c->header_rows ? c->header_rows : 1;
	if (c->header_rows)
		dtx_buf_addn(out, c->text.data + c->names, c->body - c->names);
	for (i = 0; !c->header_rows && i < c->width; i++)
		dtx_buf_printf(out, "%scolumn_%u", i ? c->dialect.delim : "", i + 1);
	if (!c->header_rows)
		dtx_buf_addc(out, c->dialect.ending ? c->dialect.ending : '\n');
	DTX_TRY(dtx_buf_check(out, "the header", err));
out:
	return rc;
}
