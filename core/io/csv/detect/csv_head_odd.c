/* Handles headers that do not fit their table. */
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"

#define HEADINGS_MAX 4096u /* bytes above the header that are compared */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether the texts differ only in digits, as "Page 1 of 3" and "Page 2 of 3" do. */
static bool same_but_digits(struct dtx_str a, struct dtx_str b)
{
	size_t i = 0, k = 0;

	while (i < a.len && k < b.len) {
		bool digit = is_digit(a.ptr[i]);

		if (digit ? !is_digit(b.ptr[k]) : a.ptr[i] != b.ptr[k])
			return false;
		i++;
		k++;
		while (digit && i < a.len && is_digit(a.ptr[i]))
			i++;
		while (digit && k < b.len && is_digit(b.ptr[k]))
			k++;
	}
	return i == a.len && k == b.len;
}

/* Whether the first cell of the line has several words. */
static bool is_title(const struct dtx_csv *c, struct dtx_str line)
{
	size_t i;

	for (i = 1; i + 1 < line.len && line.ptr[i] != c->dialect.delim[0]; i++) {
		if (line.ptr[i] == ' ' && line.ptr[i + 1] != ' ')
			return !is_digit(line.ptr[0]);
	}
	return false;
}

bool dtx_csv_is_heading(const struct dtx_csv *c, size_t from, size_t to)
{
	struct dtx_str above = { c->text.data, c->names }, line;
	struct dtx_str own = { c->text.data + from, to - from };
	size_t at;

	if (!c->header.len || from < c->body || above.len > HEADINGS_MAX)
		return false;
	for (at = 0; at < above.len; at = dtx_line_after(above, line)) {
		line = dtx_line_at(above, at);
		if (is_title(c, line) && same_but_digits(line, own))
			return true;
	}
	return false;
}

static size_t line_end(const struct dtx_csv *c, const struct dtx_csv_top_row *r)
{
	size_t end = r->next;

	while (end > r->start && dtx_line_is_end(c->text.data[end - 1]))
		end--;
	return end;
}

/* Drops repetitions of the header: those in the top rows are marked, the others are dropped when
 * they are met. */
static enum dtx_code drop_again(struct dtx_csv *c, struct dtx_csv_top *top,
                                const struct dtx_csv_top_row *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *line = c->text.data + head->start;
	size_t len = head->next - head->start, i;
	struct dtx_str *cell = dtx_arena_alloc(&c->head.arena, head->n, sizeof(*cell));

	if (!cell)
		DTX_FAIL_MEM(err);
	for (i = 0; i < head->n; i++) {
		cell[i].len = head->cell[i].len;
		cell[i].ptr = dtx_arena_strndup(&c->head.arena, head->cell[i].ptr, cell[i].len);
		if (!cell[i].ptr)
			DTX_FAIL_MEM(err);
	}
	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	c->header = (struct dtx_str){ line, len };
	c->header_cell = cell;
	c->nheader = head->n;
	for (i = top->body; i < top->n; i++) {
		struct dtx_csv_top_row *r = &top->row[i];

		r->dropped |= dtx_csv_is_header(c, r->start) || dtx_csv_top_same(r, head) ||
		              dtx_csv_is_heading(c, r->start, line_end(c, r));
		r->blank |= r->dropped;
	}
out:
	return rc;
}

/* Whether the header cannot also be a row: it has a text above a column of values. If there are
 * only texts, a row may be the same by chance. `above`: lines above the header that are repeated
 * with it, as at the top of each page. */
static bool is_no_row(const struct dtx_csv_top *top, const struct dtx_csv_top_row *head,
                      size_t above)
{
	uint32_t k;
	size_t i;

	for (k = 0; k < head->n; k++) {
		size_t values = 0, texts = 0;

		if (dtx_head_judge(head->cell[k]) != DTX_HEAD_TEXT)
			continue;
		for (i = top->body; i < top->n && texts <= above; i++) {
			const struct dtx_csv_top_row *r = &top->row[i];

			if (k >= r->n || dtx_utf8_is_blank(r->cell[k]) || dtx_csv_top_same(r, head))
				continue;
			if (dtx_head_judge(r->cell[k]) == DTX_HEAD_TEXT &&
			    !dtx_head_is_local_date(r->cell[k]))
				texts++;
			else
				values++;
		}
		if (values > texts && texts <= above)
			return true;
	}
	return false;
}

/* Where the line of the header is repeated below the top rows; 0: nowhere. This goes through the
 * whole text, so it is done only if repairs are made. */
static size_t head_far_below(const struct dtx_csv *c, const struct dtx_csv_top *top,
                             const struct dtx_csv_top_row *head)
{
	struct dtx_str text = { c->text.data, c->text.end };
	struct dtx_str line = { c->text.data + head->start, line_end(c, head) - head->start };
	ptrdiff_t at = top->n ? (ptrdiff_t)top->row[top->n - 1].next : 0;

	if (!c->opts.strays || top->whole || !line.len)
		return 0;
	while ((at = dtx_str_find(text, line, (size_t)at)) >= 0) {
		size_t end = (size_t)at + line.len;

		if (dtx_line_is_end(text.ptr[at - 1]) &&
		    (end == text.len || dtx_line_is_end(text.ptr[end])))
			return (size_t)at;
		at++;
	}
	return 0;
}

/* Contract in csv_top.h. Files that were joined repeat the header; it is dropped if the caller
 * wants that, and noted otherwise. */
enum dtx_code dtx_csv_head_again(struct dtx_csv *c, struct dtx_csv_top *top, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv_top_row *head = top->body ? &top->row[top->body - 1] : NULL;
	struct dtx_err w = DTX_ERR_INIT;
	size_t first = top->n, again = 0, rows = 0, at, i;

	if (c->header_rows && c->opts.headers_drop)
		DTX_TRY(drop_again(c, top, head, err));
	if (!c->header_rows || c->opts.headers_drop || head->n < 2)
		goto out;
	for (i = top->n; i-- > top->body;) {
		if (!dtx_csv_top_same(&top->row[i], head)) {
			rows += !top->row[i].blank;
			continue;
		}
		first = i;
		again++;
	}
	at = first < top->n ? top->row[first].start : head_far_below(c, top, head);
	if (!at)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' has its header once more at L%lld", dtx_source_name(c->head.src),
	            (long long)dtx_csv_line(c->text.data, 0, at) + 1);
	dtx_err_hint(&w, "it is read as a row; \"repeated_header\": \"drop\" leaves such rows out");
	dtx_csv_set_position(c, at, &w);
	if (again <= rows && is_no_row(top, head, again * (size_t)(head - top->row)))
		dtx_repair_advise(&w, "{\"repeated_header\":\"drop\"}");
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* The text without the quotes that enclose it, unless there are quotes inside. */
static struct dtx_str unquoted(struct dtx_str s, char quote)
{
	if (!quote || s.len < 2 || s.ptr[0] != quote || s.ptr[s.len - 1] != quote ||
	    memchr(s.ptr + 1, quote, s.len - 2))
		return s;
	return (struct dtx_str){ s.ptr + 1, s.len - 2 };
}

/* Splits a text; returns the number of parts and sets the first `cap` of them. */
static uint32_t parts(struct dtx_str s, char delim, char quote, struct dtx_str *out, uint32_t cap)
{
	uint32_t n = 0;
	size_t from = 0, i;
	bool inside = false;

	for (i = 0; i <= s.len; i++) {
		if (i < s.len && quote && s.ptr[i] == quote && (inside || i == from))
			inside = !inside;
		if (i < s.len && (s.ptr[i] != delim || inside))
			continue;
		if (n < cap)
			out[n] = unquoted((struct dtx_str){ s.ptr + from, i - from }, quote);
		n++;
		from = i + 1;
	}
	return n;
}

/* Whether two names fit the rows. A single text above may also be a title: if it has several words,
 * or if there are only texts below. */
static bool are_two_names(const struct dtx_csv_top *top)
{
	const struct dtx_csv_top_row *next = &top->row[1];

	return !memchr(top->row[0].cell[0].ptr, ' ', top->row[0].cell[0].len) && next->n == 2 &&
	       (dtx_head_judge(next->cell[0]) >= DTX_HEAD_YEAR ||
	        dtx_head_judge(next->cell[1]) >= DTX_HEAD_YEAR);
}

/* Whether the row has a value. Words are also split at blanks, but they are names only above a row
 * of values. */
static bool has_value(const struct dtx_csv_top_row *r)
{
	uint32_t i;

	for (i = 0; i < r->n && dtx_head_judge(r->cell[i]) < DTX_HEAD_YEAR; i++)
		;
	return i < r->n;
}

/* Contract in csv_top.h. The first row is a single cell that another usual delimiter splits into as
 * many names as the rows below have cells. */
enum dtx_code dtx_csv_head_parted(struct dtx_csv *c, struct dtx_csv_top *top, uint32_t width,
                                  struct dtx_err *err)
{
	static const char delims[] = ",;\t| ";
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0, k;
	struct dtx_csv_top_row *r = top->row;
	struct dtx_str *cell = NULL;
	const char *delim = delims;
	char quote = c->dialect.quote ? c->dialect.quote : '"';
	bool *quoted;

	if (r->n != 1 || width < 2 || top->n < 2 || (width == 2 && !are_two_names(top)))
		goto out;
	for (; n != width && *delim; delim++)
		n = parts(r->cell[0], *delim, quote, NULL, 0);
	if (n != width || top->row[1].n != width ||
	    (delim[-1] == ' ' && (width == 2 || !has_value(&top->row[1]))))
		goto out;
	cell = dtx_arena_alloc(&top->arena, n, sizeof(*cell));
	quoted = dtx_arena_alloc(&top->arena, n, sizeof(*quoted));
	if (!cell || !quoted)
		DTX_FAIL_MEM(err);
	(void)parts(r->cell[0], delim[-1], quote, cell, n);
	for (k = 0; k < n; k++)
		quoted[k] = false;
	r->cell = cell;
	r->quoted = quoted;
	r->n = n;
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has another delimiter in its first row than in those below",
	                          err));
out:
	return rc;
}

/* What the first cells of the rows are. */
struct row_names {
	size_t rows;
	int64_t first; /* row number */
	bool numbers;
	bool names;  /* names, and all other cells are values */
	bool quoted; /* quoted texts, while some other cells are values */
	bool ended;  /* some row has a last cell */
	bool twice;  /* numbers, and so are the second cells */
	bool comma;  /* the second cell begins with a blank and no other does: "Jan 1, 2024,5" */
};

/* Whether the cell is the number `want`. */
static bool is_number(struct dtx_str cell, int64_t want)
{
	int64_t n;

	return dtx_num_parse_i64(cell.ptr, cell.len, &n) && n == want;
}

static void add_row_name(struct row_names *s, const struct dtx_csv_top_row *r)
{
	int64_t want;
	uint32_t k;

	if (!s->rows)
		s->first = r->cell[0].len == 1 && r->cell[0].ptr[0] == '1';
	want = s->first + (int64_t)s->rows++;
	s->numbers = s->numbers && is_number(r->cell[0], want);
	s->twice = s->twice && is_number(r->cell[1], want);
	s->names = s->names && dtx_head_judge(r->cell[0]) == DTX_HEAD_TEXT;
	s->quoted = s->quoted && r->quoted[0];
	s->comma = s->comma && r->cell[1].len > 1 && r->cell[1].ptr[0] == ' ';
	for (k = 2; s->comma && k < r->n; k++)
		s->comma = !r->cell[k].len || r->cell[k].ptr[0] != ' ';
	for (k = 1; s->names && k < r->n; k++)
		s->names = dtx_head_judge(r->cell[k]) != DTX_HEAD_TEXT;
	for (k = 1; s->quoted && k < r->n && r->quoted[k]; k++)
		;
	s->quoted = s->quoted && k < r->n;
	s->ended |= !dtx_utf8_is_blank(r->cell[r->n - 1]);
}

/* Whether the first column has row numbers; or row names with only values in the other columns; or
 * the only quoted values, as column names are. */
static bool are_row_names(const struct dtx_csv_top *top, const struct dtx_csv_top_row *head,
                          struct row_names *out)
{
	struct row_names s = {
		.numbers = true, .names = true, .quoted = true, .twice = true, .comma = true
	};
	size_t i;
	uint32_t k;

	for (i = top->body; i < top->n; i++) {
		if (top->row[i].blank)
			continue;
		if (top->row[i].n != head->n + 1)
			return false;
		add_row_name(&s, &top->row[i]);
	}
	for (k = 0; s.quoted && k < head->n; k++)
		s.quoted = head->quoted[k];
	*out = s;
	return s.rows >= 2 && s.ended && !s.comma && (s.numbers || s.names || s.quoted);
}

static bool is_one_of(struct dtx_str name, const char *const *word, size_t n)
{
	size_t i;

	for (i = 0; i < n && !dtx_str_ieq(name, dtx_str_of(word[i])); i++)
		;
	return i < n;
}

/* Whether a column with this name has row numbers or keys. */
static bool names_key(struct dtx_str name)
{
	static const char *const keys[] = { "id", "no", "nr", "key", "index", "row", "#", "n" };

	return is_one_of(name, keys, DTX_COUNT(keys));
}

bool dtx_csv_names_texts(struct dtx_str name)
{
	static const char *const words[] = {
		"name",  "item",    "product",     "article",  "title", "label",
		"code",  "date",    "country",     "city",     "state", "region",
		"store", "company", "description", "category", "group", "type",
		"datum", "artikel", "bezeichnung", "land",     "ort",   "nom",
		"pays",  "ville",   "produit",     "fecha",    "pais",  "ciudad",
		"data",  "nome",    "prodotto",    "naam",     "namn",  "sku",
	};

	return is_one_of(name, words, DTX_COUNT(words));
}

/* Contract in csv_top.h. Statistics programs write row names as a first column without a name. */
enum dtx_code dtx_csv_head_row_names(struct dtx_csv *c, struct dtx_csv_top *top,
                                     const struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top_row *r = &top->row[head->first];
	struct dtx_str *cell;
	struct row_names first;
	bool *quoted;

	if (head->rows != 1 || c->opts.range || !r->n || !are_row_names(top, r, &first) ||
	    (names_key(r->cell[0]) && !first.twice && !(first.numbers && first.quoted)) ||
	    (!first.numbers && dtx_csv_names_texts(r->cell[0])))
		goto out;
	cell = dtx_arena_alloc(&top->arena, r->n + 1, sizeof(*cell));
	quoted = dtx_arena_alloc(&top->arena, r->n + 1, sizeof(*quoted));
	if (!cell || !quoted)
		DTX_FAIL_MEM(err);
	cell[0] = (struct dtx_str){ "", 0 };
	quoted[0] = false;
	memcpy(cell + 1, r->cell, r->n * sizeof(*cell));
	memcpy(quoted + 1, r->quoted, r->n * sizeof(*quoted));
	r->cell = cell;
	r->quoted = quoted;
	r->n++;
	DTX_TRY(dtx_csv_note_text(
		c, DTX_W_READER_NOTE,
		"has one name less than a row has cells: the first column, of row "
		"names, has none",
		err));
out:
	return rc;
}

/* Whether all rows have `width` cells. */
static bool have_width(const struct dtx_csv_top *top, uint32_t width)
{
	size_t i, rows = 0;

	for (i = top->body; i < top->n; i++) {
		if (!top->row[i].blank && top->row[i].n != width)
			return false;
		rows += !top->row[i].blank;
	}
	return rows >= 2;
}

/* Contract in csv_top.h. The header has as many empty names as it is too wide, and not all of them
 * are at its end. */
enum dtx_code dtx_csv_head_spare(struct dtx_csv *c, struct dtx_csv_top *top,
                                 const struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top_row *r = &top->row[head->first];
	uint32_t names = 0, i;

	if (head->rows != 1 || c->opts.range || !r->n || dtx_utf8_is_blank(r->cell[r->n - 1]))
		goto out;
	for (i = 0; i < r->n; i++)
		names += !dtx_utf8_is_blank(r->cell[i]);
	if (names == r->n || names < 2 || !have_width(top, names))
		goto out;
	for (names = 0, i = 0; i < r->n; i++) {
		if (dtx_utf8_is_blank(r->cell[i]))
			continue;
		r->cell[names] = r->cell[i];
		r->quoted[names++] = r->quoted[i];
	}
	r->n = names;
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has as many names as rows have cells, and empty ones between "
	                          "them that are left out",
	                          err));
out:
	return rc;
}

static const char *const head_comment[] = { "#", "//", "--" };

/* Whether the row begins as a comment does, and is not just the name "#" or a missing value. */
static bool is_comment(const struct dtx_csv_top_row *r)
{
	size_t i;

	for (i = 0; r->n && !r->quoted[0] && i < DTX_COUNT(head_comment); i++) {
		struct dtx_str mark = dtx_str_of(head_comment[i]);

		if (dtx_str_starts(r->cell[0], mark) && r->cell[0].len > mark.len)
			return true;
	}
	return false;
}

/* Whether the last comment has names and only a mark before them, above a row of data. */
static bool is_above_bare(const struct dtx_csv_top *top, size_t last, size_t data)
{
	const struct dtx_csv_top_row *r = &top->row[data];

	return last >= 2 && top->row[last - 1].n == 1 &&
	       dtx_utf8_trim(top->row[last - 1].cell[0]).len <= 2 && r->n > 2 &&
	       top->row[last - 2].n == r->n && has_value(r);
}

static enum dtx_code is_name_row(const struct dtx_head_grid *g, struct dtx_head_cell *cell,
                                 size_t row, bool *like, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t width;

	DTX_TRY(g->row(g->arg, row, cell, &width, err));
	*like = dtx_head_like(cell, g->ncols, NULL);
out:
	return rc;
}

/* Contract in csv_top.h. Comments that contain the delimiter look like names to the header finder.
 * The header is after the comments if a row of names and one of data follow. It is the last comment
 * if data come directly after that. */
enum dtx_code dtx_csv_head_comments(const struct dtx_csv_top *top, struct dtx_head_grid *g,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head_cell *cell = NULL;
	bool names = false, more = true;
	size_t n, last = 0;

	for (n = 0; n < top->n && (top->row[n].blank || is_comment(&top->row[n])); n++)
		last = top->row[n].blank ? last : n + 1;
	if (n < top->n && is_above_bare(top, last, n)) {
		g->first = last - 2;
		g->nrows = top->n - g->first;
		goto out;
	}
	if (!last || n + 1 >= top->n)
		goto out;
	cell = dtx_mem_zalloc(g->ncols, sizeof(*cell));
	if (!cell)
		DTX_FAIL_MEM(err);
	DTX_TRY(is_name_row(g, cell, n, &names, err));
	DTX_TRY(is_name_row(g, cell, n + 1, &more, err));
	/* if all is text, nothing distinguishes names from rows */
	if (names ? more : last != n)
		goto out;
	g->first = names ? n : n - 1;
	g->nrows = top->n - g->first;
out:
	dtx_mem_free(cell);
	return rc;
}

/* Whether "[Data]" is alone in its row. */
static bool is_section(const struct dtx_csv_top_row *r)
{
	struct dtx_str s = r->n ? dtx_utf8_trim(r->cell[0]) : (struct dtx_str){ "", 0 };
	size_t i;
	uint32_t k;

	if (s.len < 3 || s.ptr[0] != '[' || s.ptr[s.len - 1] != ']')
		return false;
	for (i = 1; i + 1 < s.len; i++) {
		if (((s.ptr[i] | 0x20) < 'a' || (s.ptr[i] | 0x20) > 'z') && !strchr(" _", s.ptr[i]))
			return false;
	}
	for (k = 1; k < r->n && dtx_utf8_is_blank(r->cell[k]); k++)
		;
	return k >= r->n;
}

static bool is_row_of_names(const struct dtx_csv_top_row *r)
{
	uint32_t k, n = 0;

	for (k = 0; k < r->n; k++) {
		enum dtx_head_kind kind = dtx_head_judge(r->cell[k]);

		if (kind != DTX_HEAD_BLANK && kind != DTX_HEAD_TEXT)
			return false;
		n += kind == DTX_HEAD_TEXT;
	}
	return n >= 2;
}

void dtx_csv_head_sections(const struct dtx_csv_top *top, struct dtx_head_grid *g)
{
	size_t i, last = 0, sections = 0;

	for (i = g->first; i < top->n; i++) {
		if (is_section(&top->row[i])) {
			last = i;
			sections++;
		}
	}
	if (sections < 2 || last >= DTX_HEAD_START_ROWS || last + 2 >= top->n ||
	    !is_row_of_names(&top->row[last + 1]))
		return;
	g->first = last + 1;
	g->nrows = top->n - g->first;
}

static bool is_label(const struct dtx_csv_top_row *r)
{
	struct dtx_str s = r->n ? dtx_utf8_trim(r->cell[0]) : (struct dtx_str){ "", 0 };
	uint32_t k;

	for (k = 2; k < r->n && dtx_utf8_is_blank(r->cell[k]); k++)
		;
	return k >= r->n && s.len > 1 && s.ptr[s.len - 1] == ':';
}

/* Contract in csv_top.h. Labels are rows like "Owner:" with a value. The table may have two columns
 * as well, so a blank line or values must show where it begins. */
void dtx_csv_head_labels(const struct dtx_csv_top *top, struct dtx_head_grid *g)
{
	size_t i = g->first, labels = 0, n;

	for (; i < top->n && (top->row[i].blank || is_label(&top->row[i])); i++)
		labels += !top->row[i].blank;
	for (n = i; n < top->n && !is_label(&top->row[n]); n++)
		;
	if (labels < 2 || n < top->n || i + 2 >= top->n || !is_row_of_names(&top->row[i]) ||
	    (!top->row[i - 1].blank && !has_value(&top->row[i + 1])))
		return;
	g->first = i;
	g->nrows = top->n - g->first;
}
