/* Cells that hold what parts others, without quotes: a line end where the records of the file end
 * otherwise, a comma of JSON.  Quotes are put around them. */
#include "core/base/mem.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/lines.h"

#define INNER_SAMPLE ((size_t)64 << 10)
#define INNER_TEXT   ((size_t)16 << 20) /* a larger text is not looked through */
#define INNER_LEAST  2u                 /* records that agree */

static void put_cell(struct dtx_str cell, struct dtx_buf *out)
{
	size_t i;

	dtx_buf_addc(out, '"');
	for (i = 0; i < cell.len; i++) {
		if (cell.ptr[i] == '"')
			dtx_buf_addc(out, '"');
		dtx_buf_addc(out, cell.ptr[i]);
	}
	dtx_buf_addc(out, '"');
}

/* --- line ends --- */

struct ends {
	struct dtx_str text;
	char delim;
	bool crlf;       /* records end in CR LF, else in LF */
	bool quotes;     /* which may stand in quotes as well */
	uint32_t delims; /* of a record */
};

/* The record at `at`, without its end. */
static struct dtx_str ends_record(const struct ends *e, size_t at)
{
	const char *from = e->text.ptr + at, *end = e->text.ptr + e->text.len, *p = from;
	bool inside = false;

	for (; p < end; p++) {
		inside ^= e->quotes && *p == '"';
		if (!inside && *p == '\n' && (!e->crlf || (p > from && p[-1] == '\r')))
			return (struct dtx_str){ from, (size_t)(p - from) - e->crlf };
	}
	return (struct dtx_str){ from, (size_t)(end - from) };
}

static size_t ends_behind(const struct ends *e, struct dtx_str record)
{
	return DTX_MIN((size_t)(record.ptr - e->text.ptr) + record.len + 1 + e->crlf, e->text.len);
}

static bool has_end(struct dtx_str s)
{
	return s.len && (memchr(s.ptr, '\n', s.len) || memchr(s.ptr, '\r', s.len));
}

/* Delimiters outside of quotes, and whether a line ends there. */
static uint32_t ends_delims(const struct ends *e, struct dtx_str r, bool *ends)
{
	uint32_t n = 0;
	bool inside = false;
	size_t i;

	for (*ends = false, i = 0; i < r.len; i++) {
		inside ^= r.ptr[i] == '"';
		*ends |= !inside && dtx_line_is_end(r.ptr[i]);
		n += !inside && r.ptr[i] == e->delim;
	}
	return n;
}

/* Which of the line ends is that of the records: by far the most usual one. */
static bool ends_kind(struct ends *e, struct dtx_str sample)
{
	size_t i, crlf = 0, lf = 0, cr = 0;
	bool inside = false;

	for (i = 0; i < sample.len; i++) {
		bool pair = sample.ptr[i] == '\n' && i && sample.ptr[i - 1] == '\r';

		inside ^= e->quotes && sample.ptr[i] == '"';
		if (inside)
			continue;
		crlf += pair;
		cr -= pair;
		lf += sample.ptr[i] == '\n' && !pair;
		cr += sample.ptr[i] == '\r' && i + 1 < sample.len;
	}
	e->crlf = crlf > 0;
	return crlf > 0 ? crlf > lf + cr : lf > cr;
}

/* Records without such ends have equally many delimiters, but for some titles. */
static bool ends_width(struct ends *e, struct dtx_str sample)
{
	struct ends s = *e;
	size_t at = 0, records = 0, votes = 0, agree = 0;
	int pass;

	s.text = sample;
	for (pass = 0; pass < 2; pass++) {
		for (at = 0; at < sample.len;) {
			struct dtx_str r = ends_record(&s, at);
			bool ends;
			uint32_t n = ends_delims(e, r, &ends);

			at = ends_behind(&s, r);
			if (ends || !r.len || dtx_line_count(r, '"') % 2)
				continue;
			if (pass) {
				records++;
				agree += n == e->delims;
			} else if (!votes || n == e->delims) {
				e->delims = n;
				votes++;
			} else {
				votes--;
			}
		}
	}
	return e->delims && agree >= INNER_LEAST && agree * 10 >= records * 8;
}

/* Only together its lines are a record: none of them is as wide as one, but the first may be where
 * a record stands before and behind, or its end is the one of no system of today. */
static bool ends_join(const struct ends *e, struct dtx_str r)
{
	bool amid =
		r.ptr != e->text.ptr && (!e->crlf || r.ptr + r.len + 2 < e->text.ptr + e->text.len);
	bool inside = false, ends = false;
	uint32_t all = 0, line = 0;
	size_t i;

	for (i = 0; i < r.len; i++) {
		inside ^= r.ptr[i] == '"';
		if (inside)
			continue;
		if (dtx_line_is_end(r.ptr[i])) {
			if (line == e->delims && (ends || !amid))
				return false;
			ends = true;
			line = 0;
		}
		line += r.ptr[i] == e->delim;
		all += r.ptr[i] == e->delim;
	}
	return ends && !inside && all == e->delims && line < e->delims;
}

static void ends_put(const struct ends *e, struct dtx_str r, struct dtx_buf *out)
{
	size_t from = 0, at;
	bool inside = false;

	for (at = 0; at <= r.len; at++) {
		struct dtx_str cell = { r.ptr + from, at - from };

		inside ^= at < r.len && r.ptr[at] == '"';
		if (at < r.len && (inside || r.ptr[at] != e->delim))
			continue;
		if (has_end(cell) && cell.ptr[0] != '"')
			put_cell(cell, out);
		else
			dtx_buf_adds(out, cell);
		if (at < r.len)
			dtx_buf_addc(out, e->delim);
		from = at + 1;
	}
}

static uint32_t ends_all(const struct ends *e, size_t *first, struct dtx_buf *out)
{
	uint32_t joined = 0;
	size_t at = 0, next;

	for (; at < e->text.len; at = next) {
		struct dtx_str r = ends_record(e, at);
		bool join = ends_join(e, r);

		next = ends_behind(e, r);
		if (join && !joined++)
			*first = at;
		if (out && join)
			ends_put(e, r, out);
		else if (out)
			dtx_buf_adds(out, r);
		if (out)
			dtx_buf_addn(out, r.ptr + r.len, next - at - r.len);
	}
	return joined;
}

/* Carriage returns and line feeds, and not all of them as pairs. */
static bool are_mixed(struct dtx_str look)
{
	const char *p = look.ptr, *end = look.ptr + look.len, *cr;

	for (; (cr = memchr(p, '\r', (size_t)(end - p))) != NULL; p = cr + 2) {
		if (cr + 1 == end)
			return false;
		if (cr[1] != '\n' || memchr(p, '\n', (size_t)(cr - p)))
			return true;
	}
	return p != look.ptr && memchr(p, '\n', (size_t)(end - p));
}

/* Quotes enclose whole cells: else a stray one would join records. */
static bool ends_are_clear(const struct ends *e)
{
	const char *p = e->text.ptr, *end = p + e->text.len, *at = p;
	bool edge;

	while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
		edge = at == p || dtx_line_is_end(at[-1]) || at[-1] == e->delim;
		if (!edge)
			return false;
		for (at++; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++)
			at += *at == '"';
		if (at >= end || (at + 1 < end && !dtx_line_is_end(at[1]) && at[1] != e->delim))
			return false;
		at++;
	}
	return true;
}

/* A quote alone hides the ends after it: then quotes enclose nothing. */
static uint32_t inner_ends(struct dtx_str text, struct dtx_str look, char delim, size_t *first,
                           struct dtx_buf *out)
{
	struct dtx_str sample = { text.ptr, DTX_MIN(text.len, INNER_SAMPLE) };
	struct ends e = { .text = text, .delim = delim, .quotes = true };

	if (!are_mixed(look))
		return 0;
	if (dtx_line_count(text, '"') == 1)
		e.quotes = false;
	else if (!ends_are_clear(&e))
		return 0;
	if (!ends_kind(&e, sample) || !ends_width(&e, sample) || !ends_all(&e, first, NULL))
		return 0;
	return ends_all(&e, first, out);
}

/* --- JSON --- */

/* Behind the string at `at`. */
static size_t json_text(struct dtx_str s, size_t at)
{
	for (at++; at < s.len && s.ptr[at] != '"'; at++)
		at += s.ptr[at] == '\\';
	return at + 1;
}

/* Behind the cell at `at`, when it is an object or a list, or in quotes; 0: it is neither. */
static size_t json_behind(struct dtx_str s, size_t at, char delim)
{
	bool quoted = at < s.len && s.ptr[at] == '"';
	size_t depth = 0;

	if (at >= s.len || !strchr("{[\"", s.ptr[at]))
		return 0;
	do {
		if (s.ptr[at] == '"') {
			at = json_text(s, at);
			continue;
		}
		depth += s.ptr[at] == '{' || s.ptr[at] == '[';
		depth -= s.ptr[at] == '}' || s.ptr[at] == ']';
		at++;
	} while (at < s.len && (depth || (quoted && s.ptr[at] == '"')));
	return !depth && (at == s.len || (at < s.len && s.ptr[at] == delim)) ? at : 0;
}

/* Cells of the line, those of JSON as one each; `out`: the line with quotes around them.  *inner:
 * some without quotes hold a delimiter. */
static uint32_t json_cells(struct dtx_str line, char delim, bool *inner, struct dtx_buf *out)
{
	size_t at = 0, from;
	uint32_t n = 1;

	for (;; at++, n++) {
		size_t end = json_behind(line, at, delim);

		for (from = at, at = end ? end : at; at < line.len && line.ptr[at] != delim; at++)
			;
		*inner |= end && line.ptr[from] != '"' && memchr(line.ptr + from, delim, at - from);
		if (out && end && line.ptr[from] != '"')
			put_cell((struct dtx_str){ line.ptr + from, at - from }, out);
		else if (out)
			dtx_buf_addn(out, line.ptr + from, at - from);
		if (at >= line.len)
			return n;
		if (out)
			dtx_buf_addc(out, delim);
	}
}

/* Only with such cells all lines are equally wide; where the first line has some as well, it has no
 * names, and the delimiters tell by their numbers that they do not part the others. */
static bool json_part(struct dtx_str text, char delim)
{
	struct dtx_str line = dtx_line_at(text, 0);
	bool inner = false, uneven = !line.len || !memchr(line.ptr, '{', line.len);
	uint32_t n = json_cells(line, delim, &inner, NULL), delims = dtx_line_count(line, delim);
	size_t at = dtx_line_filled(text, line);

	if (n < 2 || (uneven && inner))
		return false;
	for (; at < text.len; at = dtx_line_filled(text, line)) {
		line = dtx_line_at(text, at);
		if (json_cells(line, delim, &inner, NULL) != n)
			return false;
		uneven |= dtx_line_count(line, delim) != delims;
	}
	return inner && uneven;
}

static uint32_t inner_json(struct dtx_str text, struct dtx_str look, char delim, size_t *first,
                           struct dtx_buf *out)
{
	struct dtx_str line;
	size_t at = 0, next;
	uint32_t lines = 0;
	bool inner = false;

	if (!memchr(look.ptr, '{', look.len) || !json_part(look, delim) ||
	    (look.len < text.len && !json_part(text, delim)))
		return 0;
	for (; at < text.len; at = next) {
		line = dtx_line_at(text, at);
		next = dtx_line_filled(text, line);
		inner = false;
		(void)json_cells(line, delim, &inner, out);
		if (inner && !lines++)
			*first = at;
		dtx_buf_addn(out, line.ptr + line.len, next - at - line.len);
	}
	return lines;
}

static const struct {
	/* How many records got quotes, and where the first of them begins; 0: none need some. */
	uint32_t (*put)(struct dtx_str text, struct dtx_str look, char delim, size_t *first,
	                struct dtx_buf *out);
	const char *what, *kind;
} inner_kinds[] = {
	{ inner_ends,
	  "line ends inside of cells without quotes, where records end otherwise: these lines "
	  "are joined",
	  "lines_joined" },
	{ inner_json, "JSON in cells without quotes: its delimiters are no delimiters of cells",
	  "cells_joined" },
};

/* Whole lines. */
static struct dtx_str inner_look(struct dtx_str text)
{
	while (text.len && text.ptr[text.len - 1] != '\n')
		text.len--;
	return text;
}

enum dtx_code dtx_csv_inner(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_dialect *d = &c->dialect;
	struct dtx_str text = { c->enc.text, c->enc.len };
	struct dtx_str look = inner_look(text);
	struct dtx_buf out = DTX_BUF_INIT(3 * text.len + 16);
	char *taken, *delim;
	size_t i, len, first = 0;
	uint32_t n;

	*took = false;
	if (!c->opts.strays || c->opts.delimiter || c->opts.quote || c->opts.quotes ||
	    c->opts.terminator || d->runs || !d->delim[0] || d->delim[1] || d->escape ||
	    text.len > INNER_TEXT || dtx_source_is_part(c->head.src))
		goto out;
	for (i = 0; i < DTX_COUNT(inner_kinds) && !*took; i++) {
		dtx_buf_reset(&out);
		n = inner_kinds[i].put(text, look, d->delim[0], &first, &out);
		if (!n)
			continue;
		*took = true;
		DTX_TRY(dtx_csv_note_rows(c, n, first, inner_kinds[i].what, inner_kinds[i].kind,
		                          err));
	}
	if (!*took)
		goto out;
	DTX_TRY(dtx_buf_check(&out, "a text", err));
	len = dtx_buf_len(&out);
	delim = dtx_arena_strndup(&c->head.arena, d->delim, 1);
	taken = dtx_buf_steal(&out);
	if (!taken || !delim) {
		dtx_mem_free(taken);
		DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_encoding_take(&c->enc, taken, len, err));
	c->opts.delimiter = delim;
	c->opts.quote = "\"";
out:
	dtx_buf_clear(&out);
	return rc;
}
