/* Numbers with a decimal comma between commas that part cells, and no quotes: each record has as
 * many cells too many as there are such columns.  Which commas part none is sought in all lines at
 * once. */
#include "core/base/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"

#define DECIMAL_TEXT ((size_t)16 << 20) /* a larger text is left as it is */
#define DECIMAL_HEAD ((size_t)64 << 10)
#define DECIMAL_COLS 64u
#define DECIMAL_ROWS 2u
#define DECIMAL_PART '\x1f'

struct decimal {
	struct dtx_str head, names;
	struct dtx_str cell[DECIMAL_COLS];
	uint32_t ncells, nnames;
	uint32_t rows;
	struct {
		bool pair;  /* in all rows a number here and digits behind it */
		bool zero;  /* ... the digits begin with a zero somewhere: they are no number */
		bool equal; /* ... and are equally many, more than one */
		size_t digits;
		bool joined;
	} col[DECIMAL_COLS];
	bool counted;     /* the first cells are 0, 1, 2 ... or 1, 2, 3 ... */
	bool points;      /* some number has a decimal point: commas are none */
	bool named;       /* the first cells are texts and all others values */
	int64_t expected; /* first cell of the next row */
};

static bool is_digits(struct dtx_str s)
{
	size_t i;

	for (i = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
		;
	return s.len && i == s.len;
}

/* "0.6853", "-1.5" */
static bool has_point(struct dtx_str s)
{
	const char *at = s.len ? memchr(s.ptr, '.', s.len) : NULL;
	size_t whole = at ? (size_t)(at - s.ptr) : 0, sign = whole && strchr("+-", s.ptr[0]);

	return at && is_digits((struct dtx_str){ s.ptr + sign, whole - sign }) &&
	       is_digits((struct dtx_str){ at + 1, s.len - whole - 1 });
}

static bool is_whole(struct dtx_str s)
{
	if (s.len > 1 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	return is_digits(s) && (s.len == 1 || s.ptr[0] != '0');
}

static uint32_t split(struct decimal *d, struct dtx_str line)
{
	size_t from = 0, i;
	uint32_t n = 0;

	for (i = 0; i <= line.len; i++) {
		if (i < line.len && line.ptr[i] != ',')
			continue;
		if (n < DECIMAL_COLS)
			d->cell[n] = (struct dtx_str){ line.ptr + from, i - from };
		n++;
		from = i + 1;
	}
	return n;
}

static bool has_names(struct decimal *d)
{
	uint32_t i;

	d->names = dtx_line_at(d->head, 0);
	d->nnames = split(d, d->names);
	for (i = 0; i < d->nnames && i < DECIMAL_COLS; i++) {
		if (dtx_head_judge(d->cell[i]) != DTX_HEAD_TEXT)
			return false;
	}
	return d->nnames < DECIMAL_COLS;
}

static void look_at_pair(struct decimal *d, uint32_t i)
{
	struct dtx_str part = d->cell[i + 1];

	d->col[i].pair = d->col[i].pair && is_whole(d->cell[i]) && is_digits(part);
	d->col[i].zero |= part.len > 1 && part.ptr[0] == '0';
	d->col[i].equal =
		d->col[i].equal && part.len > 1 && (!d->rows || part.len == d->col[i].digits);
	d->col[i].digits = part.len;
}

static void look_at_first(struct decimal *d)
{
	struct dtx_str first = d->cell[0];
	int64_t n = first.len == 1 ? first.ptr[0] - '0' : -1;
	uint32_t i;

	if (!d->rows)
		d->expected = n == 0 ? 0 : 1;
	d->counted = d->counted && is_digits(first) && (first.len > 1 || n == d->expected++);
	d->named = d->named && dtx_head_judge(first) == DTX_HEAD_TEXT;
	for (i = 1; i < d->ncells && d->named; i++)
		d->named = dtx_head_judge(d->cell[i]) != DTX_HEAD_TEXT;
}

/* All rows are as wide as the first, which is wider than the names. */
static bool look_at_rows(struct decimal *d)
{
	struct dtx_str line;
	size_t at = dtx_line_filled(d->head, d->names);
	uint32_t n, i;

	for (i = 0; i < DECIMAL_COLS; i++)
		d->col[i].pair = d->col[i].equal = true;
	for (d->counted = d->named = true; at < d->head.len; at = dtx_line_filled(d->head, line)) {
		line = dtx_line_at(d->head, at);
		n = split(d, line);
		if (n <= d->nnames || n > DECIMAL_COLS || (d->rows && n != d->ncells))
			return false;
		d->ncells = n;
		look_at_first(d);
		for (i = 0; i + 1 < n; i++)
			look_at_pair(d, i);
		for (i = 0; i < n; i++)
			d->points |= has_point(d->cell[i]);
		d->rows++;
	}
	return d->rows >= DECIMAL_ROWS && !d->points;
}

/* Joins as many pairs that lie apart as there are cells too many; false: other ones would do as
 * well. */
static bool join(struct decimal *d, bool sure)
{
	uint32_t i, run = 0, n = 0;
	bool one = true;

	for (i = 0; i < d->ncells; i++) {
		bool fits = i + 1 < d->ncells && d->col[i].pair &&
		            (!sure || d->col[i].zero || d->col[i].equal);

		d->col[i].joined = fits && !(run & 1);
		n += d->col[i].joined;
		one = one && (fits || !run || run & 1); /* of an even run the others would do */
		run = fits ? run + 1 : 0;
	}
	return one && n == d->ncells - d->nnames;
}

/* Where a table may as well have one column without a name, as that of row names is, only digits
 * that are no number tell, or a first name that is one of texts. */
static bool finds_decimals(struct decimal *d)
{
	bool one = d->ncells == d->nnames + 1; /* a single name may be missing, too */
	uint32_t i;

	if ((one && d->counted) || (!join(d, true) && ((one && d->nnames > 1) || !join(d, false))))
		return false;
	if (!one || d->nnames == 1 || !d->named)
		return true;
	(void)split(d, d->names);
	for (i = 0; !d->col[i].joined; i++)
		;
	return d->col[i].zero || (d->col[i].equal && dtx_csv_names_texts(d->cell[0]));
}

/* What the head tells holds in all rows that are as wide. */
static bool holds(struct decimal *d, struct dtx_str text)
{
	struct dtx_str line;
	size_t at = dtx_line_filled(text, d->names);
	uint32_t i;

	for (; at < text.len; at = dtx_line_filled(text, line)) {
		line = dtx_line_at(text, at);
		if (split(d, line) != d->ncells)
			continue;
		for (i = 0; i < d->ncells; i++) {
			if (d->col[i].joined &&
			    !(is_whole(d->cell[i]) && is_digits(d->cell[i + 1])))
				return false;
		}
	}
	return true;
}

static enum dtx_code take(struct dtx_csv *c, struct decimal *d, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, line;
	char *copy = dtx_mem_alloc(text.len + 1, 1);
	size_t at = 0, first = text.len;
	int64_t rows = 0;
	uint32_t n, i;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, text.ptr, text.len);
	for (; at < text.len; at = dtx_line_filled(text, line)) {
		line = dtx_line_at(text, at);
		n = split(d, line);
		if (n == d->ncells && !rows++)
			first = at;
		for (i = 0; i + 1 < DTX_MIN(n, DECIMAL_COLS); i++) {
			if (n != d->ncells || !d->col[i].joined)
				copy[d->cell[i].ptr + d->cell[i].len - text.ptr] = DECIMAL_PART;
		}
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, text.len, err));
	DTX_TRY(dtx_csv_note_rows(c, rows, first,
	                          "numbers with decimal commas: their cells are joined",
	                          "cells_joined", err));
	c->opts.delimiter = "\x1f";
	c->opts.quote = "";
out:
	return rc;
}

static struct dtx_str head_of(struct dtx_str text)
{
	size_t len = DTX_MIN(text.len, DECIMAL_HEAD);

	while (len < text.len && len && text.ptr[len - 1] != '\n')
		len--;
	return (struct dtx_str){ text.ptr, len };
}

bool dtx_csv_is_undeclared(const struct dtx_csv *c)
{
	const struct dtx_read_opts *o = &c->opts;

	return !o->delimiter && !o->quote && !o->comment && !o->escape && !o->trim &&
	       !o->terminator && !o->quotes && !o->mixed && !o->range && !o->skip &&
	       o->header_rows < 0 && !dtx_source_is_part(c->head.src);
}

/* *seen: the text has such numbers; *d says where, the caller's to free. */
static enum dtx_code decimals_find(const struct dtx_csv *c, struct decimal **d, bool *seen,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len };

	*seen = false;
	if (strcmp(c->dialect.delim, ",") != 0 || !dtx_csv_is_undeclared(c) ||
	    text.len > DECIMAL_TEXT)
		goto out;
	*d = dtx_mem_zalloc(1, sizeof(**d));
	if (!*d)
		DTX_FAIL_MEM(err);
	(*d)->head = head_of(text);
	*seen = has_names(*d) && look_at_rows(*d) && finds_decimals(*d) &&
	        !memchr(text.ptr, '"', text.len) && !memchr(text.ptr, DECIMAL_PART, text.len) &&
	        holds(*d, text);
out:
	return rc;
}

enum dtx_code dtx_csv_decimals(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct decimal *d = NULL;

	*took = false;
	if (!c->opts.strays)
		goto out;
	DTX_TRY(decimals_find(c, &d, took, err));
	if (*took)
		DTX_TRY(take(c, d, err));
out:
	dtx_mem_free(d);
	return rc;
}

enum dtx_code dtx_csv_decimals_seen(const struct dtx_csv *c, bool *seen, struct dtx_err *err)
{
	struct decimal *d = NULL;
	enum dtx_code rc = decimals_find(c, &d, seen, err);

	dtx_mem_free(d);
	return rc;
}
