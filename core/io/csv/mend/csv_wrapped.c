/* Removes quotes around whole records: "1,""Rome, Italy"",2". Also finds single records with other
 * quotes than the rest. */
#include "core/base/memory/mem.h"
#include "core/io/csv/csv.h"
#include "core/io/repair.h"

#define WRAPPED_SAMPLE   ((size_t)64 << 10)
#define WRAPPED_COLS     3                  /* two cells may be a text with a comma */
#define APOSTROPHE_BYTES ((size_t)16 << 20) /* bytes in which to look for apostrophes */
#define APOSTROPHE_LINES 256u               /* limit of lines that may be in apostrophes */

static bool is_end(char c)
{
	return c == '\n' || c == '\r';
}

/* Appends the text of the quoted record at `at`, and returns its end; 0 if it is not one. */
static size_t unwrap_record(struct dtx_str text, size_t at, char *out, size_t *n)
{
	size_t put = *n;

	if (text.ptr[at] != '"')
		return 0;
	for (at++; at < text.len; at++) {
		if (text.ptr[at] == '"') {
			at++;
			if (at == text.len || is_end(text.ptr[at])) {
				*n = put;
				return at;
			}
			if (text.ptr[at] != '"')
				return 0;
		}
		out[put++] = text.ptr[at];
	}
	return 0;
}

/* Removes the quotes; records without them stay the same. Returns the number of records with
 * quotes. */
static size_t unwrap(struct dtx_str text, char *out, size_t *n)
{
	size_t at = 0, end, plain = 0;

	for (*n = 0; at < text.len;) {
		if (is_end(text.ptr[at])) {
			out[(*n)++] = text.ptr[at++];
			continue;
		}
		end = unwrap_record(text, at, out, n);
		plain += !end;
		if (end) {
			at = end;
			continue;
		}
		while (at < text.len && !is_end(text.ptr[at]))
			out[(*n)++] = text.ptr[at++];
	}
	return plain;
}

enum dtx_code dtx_csv_unwrap(struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *text = dtx_mem_alloc(e->len + 1, 1);
	size_t n;

	if (!text)
		DTX_FAIL_MEM(err);
	(void)unwrap((struct dtx_str){ e->text, e->len }, text, &n);
	DTX_TRY(dtx_encoding_take(e, text, n, err));
out:
	return rc;
}

static struct dtx_str whole_lines(const struct dtx_encoding *e)
{
	size_t len = DTX_MIN(e->len, WRAPPED_SAMPLE);

	while (len < e->len && len && !is_end(e->text[len - 1]))
		len--;
	return (struct dtx_str){ e->text, len };
}

/* Whether there are several columns inside, with the same number in each line. */
static bool holds_cells(const struct dtx_csv *c, struct dtx_str inside, uint32_t *ncols)
{
	struct dtx_dialect d;
	struct dtx_csv_row row;
	struct dtx_csv_text text;
	struct dtx_encoding enc = { .text = inside.ptr, .len = inside.len };
	size_t at = 0, rows = 0;

	if (dtx_dialect_find(&c->opts, inside, false, "", &d, NULL) != DTX_OK ||
	    !dtx_dialect_is_plain(&d))
		return false;
	text = dtx_csv_text_of(&enc, &d);
	for (*ncols = 0; at < text.end; at = row.next) {
		dtx_csv_row_read(&text, at, NULL, 0, &row);
		if (dtx_csv_row_blank(&row))
			continue;
		if (row.fault != DTX_CSV_FINE || (*ncols && row.ncells != *ncols))
			return false;
		*ncols = row.ncells;
		rows++;
	}
	return rows >= 2 && (*ncols >= WRAPPED_COLS ||
	                     (*ncols == 2 && dtx_dialect_is_table(inside, d.delim[0])));
}

/* Whether the names above have no quotes, and each line below is one quoted record. */
static bool is_below_names(const struct dtx_csv *c, struct dtx_str head)
{
	size_t names = 0, rows = 0, at, end;

	while (names < head.len && !is_end(head.ptr[names]))
		names++;
	if (c->dialect.quote || !c->dialect.delim[0] || memchr(head.ptr, '"', names) ||
	    dtx_str_find((struct dtx_str){ head.ptr, names }, dtx_str_of(c->dialect.delim), 0) < 0)
		return false;
	for (at = names; at < head.len; at = end) {
		for (end = at; end < head.len && !is_end(head.ptr[end]); end++)
			;
		if (end > at && (end < at + 2 || head.ptr[at] != '"' || head.ptr[end - 1] != '"'))
			return false;
		rows += end > at;
		end += end == at;
	}
	return rows >= 2;
}

enum dtx_code dtx_csv_wrapped(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str head = whole_lines(&c->enc);
	struct dtx_err w = DTX_ERR_INIT;
	char *inside = NULL;
	uint32_t ncols = 0;
	size_t n, names;

	if (c->opts.delimiter || c->opts.quotes || !head.len)
		goto out;
	names = is_below_names(c, head);
	if (!names && (c->dialect.quote != '"' || head.ptr[0] != '"'))
		goto out;
	inside = dtx_mem_alloc(head.len, 1);
	if (!inside)
		DTX_FAIL_MEM(err);
	if (unwrap(head, inside, &n) != names ||
	    !holds_cells(c, (struct dtx_str){ inside, n }, &ncols))
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': each line is one quoted cell, with %u cells inside",
	            dtx_source_name(c->head.src), ncols);
	dtx_err_hint(&w, "\"dialect\": {\"quotes\": \"lines\"} takes those quotes off");
	dtx_csv_set_position(c, 0, &w);
	dtx_repair_advise(&w, "{\"quotes\":\"lines\"}");
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	dtx_mem_free(inside);
	return rc;
}

/* --- single records in apostrophes --- */

static bool at_structure(const struct dtx_csv *c, size_t at)
{
	char before = at ? c->enc.text[at - 1] : '\n';

	return is_end(before) || before == c->dialect.delim[strlen(c->dialect.delim) - 1];
}

/* Finds the next line, from *at on, in which a cell begins with an apostrophe; false: there is
 * none. */
static bool next_apostrophe(const struct dtx_csv *c, size_t end, size_t *at, size_t *line)
{
	const char *text = c->enc.text, *p;

	for (; *at < end; ++*at) {
		p = memchr(text + *at, '\'', end - *at);
		if (!p)
			return false;
		*at = (size_t)(p - text);
		if (!at_structure(c, *at))
			continue;
		for (*line = *at; *line > c->top && !is_end(text[*line - 1]);)
			--*line;
		while (*at < end && !is_end(text[*at]))
			++*at;
		return true;
	}
	return false;
}

static enum dtx_code tell_apostrophes(struct dtx_csv *c, size_t line, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' has records with ' as their quotes, read as text",
	            dtx_source_name(c->head.src));
	dtx_err_hint(&w, "\"dialect\": {\"mixed\": true} reads each with its own");
	dtx_repair_advise(&w, "{\"mixed\":true}");
	dtx_csv_set_position(c, line, &w);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

enum dtx_code dtx_csv_apostrophes(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t end = DTX_MIN(c->text.end, APOSTROPHE_BYTES), at = c->top, line, tries;
	struct dtx_dialect d = c->dialect;
	struct dtx_csv_ref *ref = NULL;
	struct dtx_csv_ref_record rec = { .change = DTX_CSV_CHANGE_NONE };

	if (d.mixed || d.quote != '"' || !d.delim[0] || c->opts.quote || c->text.strict ||
	    dtx_source_is_part(c->head.src) || !memchr(c->text.data, '"', end))
		goto out;
	d.mixed = true;
	for (tries = 0; tries < APOSTROPHE_LINES; tries++) {
		if (!next_apostrophe(c, end, &at, &line))
			goto out;
		if (!ref)
			DTX_TRY(dtx_csv_ref_new(c->text.data, c->text.end, &d, &ref, err));
		dtx_csv_ref_set_width(ref, c->fit);
		DTX_TRY(dtx_csv_ref_read(ref, line, &rec, err));
		if (rec.change == DTX_CSV_CHANGE_OTHER)
			break;
	}
	if (rec.change == DTX_CSV_CHANGE_OTHER)
		DTX_TRY(tell_apostrophes(c, line, err));
out:
	dtx_csv_ref_free(ref);
	return rc;
}
