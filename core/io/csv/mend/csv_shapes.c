/* Learns what the cells of each column look like, see csv_shapes.h. */
#include "core/io/csv/mend/csv_shapes.h"

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/mend/csv_align.h"
#include "core/io/csv/detect/csv_top.h"

#define SHAPE_BYTES  47u
#define SHAPE_KINDS  8u /* limit per column; with more, the column has no known form */
#define SHAPE_SEEN   3u /* least number of cells that show a form */
#define SHAPES_ROWS  256u
#define SHAPES_FULL  5u /* number of rows that show that a column is never blank */
#define SHAPES_VOIDS 8u /* so many rows without a value show that a column has none */

/* The form of a cell: "28/01/2018" is "99/99/9999", or with each run as one character "9/9/9". Long
 * ones are cut. */
struct shape {
	uint8_t len;
	char text[SHAPE_BYTES];
};
struct shapes_col {
	uint32_t filled; /* cells that are not blank */
	uint32_t cells, digits,
		numbers; /* without words for a missing value: all; with a digit; numbers */
	bool thousands;  /* some number has four digits without a separator before its point */
	uint32_t nnumbers, decimals; /* number of numbers, and how many digits all of them have
	                              * after the point; UINT32_MAX: they differ */
	uint32_t grouped;            /* records of the top with commas in a number in this column */
	bool marked;                 /* one of these can only be such a number */
	bool text;             /* records of the top have delimiters in a text in this column */
	unsigned nrun, nexact; /* SHAPE_KINDS + 1: too many */
	struct shape run[SHAPE_KINDS], exact[SHAPE_KINDS];
	bool cut; /* some exact form was too long */
	enum { SHAPES_LOOSE, SHAPES_VOID, SHAPES_WORDS, SHAPES_NUMBERS, SHAPES_MARKS } kind;
};
struct dtx_csv_shapes {
	uint32_t width;
	bool typed, no_join;
	uint32_t rows; /* number of rows that fit */
	struct shapes_col col[];
};

static char char_class(char c)
{
	if (c >= '0' && c <= '9')
		return '9';
	if (c >= 'A' && c <= 'Z')
		return 'A';
	return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80 ? 'a' : c;
}

/* Makes the form of a text; false: it was cut. */
static bool shape_of(struct dtx_str s, bool runs, struct shape *out)
{
	size_t i;

	out->len = 0;
	for (i = 0; i < s.len; i++) {
		char c = char_class(s.ptr[i]);

		if (runs && out->len && out->text[out->len - 1] == c)
			continue;
		if (out->len == SHAPE_BYTES)
			return false;
		out->text[out->len++] = c;
	}
	return true;
}

static bool shape_known(const struct shape *known, unsigned n, const struct shape *s)
{
	unsigned i;

	for (i = 0; i < n && i < SHAPE_KINDS; i++)
		if (known[i].len == s->len && !memcmp(known[i].text, s->text, s->len))
			return true;
	return false;
}

static void shape_add(struct shape *known, unsigned *n, const struct shape *s)
{
	if (*n > SHAPE_KINDS || shape_known(known, *n, s))
		return;
	if (*n < SHAPE_KINDS)
		known[*n] = *s;
	++*n;
}

static bool has_digit(struct dtx_str s)
{
	size_t i;

	for (i = 0; i < s.len && char_class(s.ptr[i]) != '9'; i++)
		;
	return i < s.len;
}

static bool is_number(struct dtx_str s)
{
	return has_digit(s) && dtx_head_judge(s) == DTX_HEAD_VALUE;
}

/* --- numbers --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads a number such as "-$1,234.50 %": its digits before the point, how many there are in a row,
 * and those after the point. False: it is not a plain number. */
struct number_shape {
	uint32_t decimals;
	bool thousands;
};

static bool number_shape(struct dtx_str s, struct number_shape *out)
{
	size_t i = 0, run = 0;
	bool point = false, any = false;

	*out = (struct number_shape){ 0 };
	for (; i < s.len; i++) {
		if (is_digit(s.ptr[i])) {
			any = true;
			run++;
			out->decimals += point;
			out->thousands |= !point && run >= 4;
		} else if (s.ptr[i] == '.' && !point && any) {
			point = true;
			run = 0;
		} else if (s.ptr[i] == ',' && !point && any) {
			run = 0;
		} else if ((s.ptr[i] | 0x20) >= 'a' && (s.ptr[i] | 0x20) <= 'z') {
			return false;
		}
	}
	return any;
}

/* Whether a character may be next to the digits of a number: a sign, a parenthesis or a currency;
 * after them also a percent sign. */
static bool is_around(char c, bool after)
{
	return strchr(after ? ")% " : "$+-(", c) || (unsigned char)c >= 0x80;
}

static bool put_number(struct dtx_csv_grouped *g, struct dtx_str s)
{
	if (g->len + s.len > sizeof(g->text))
		return false;
	memcpy(g->text + g->len, s.ptr, s.len);
	g->len += s.len;
	return true;
}

bool dtx_csv_grouped(const struct dtx_str *cell, uint32_t n, struct dtx_csv_grouped *out)
{
	uint32_t k;
	size_t i, from, digits;

	*out = (struct dtx_csv_grouped){ .marked = n > 2 };
	for (k = 0; k < n; k++) {
		struct dtx_str s = cell[k];

		for (i = 0; !k && i < s.len && is_around(s.ptr[i], false); i++)
			out->marked |= s.ptr[i] == '$' || (unsigned char)s.ptr[i] >= 0x80;
		for (from = i; i < s.len && is_digit(s.ptr[i]); i++)
			;
		digits = i - from;
		if (k ? digits != 3 : !digits || digits > 3 || s.ptr[from] == '0')
			return false;
		if (k + 1 == n && i < s.len && s.ptr[i] == '.') {
			for (i++; i < s.len && is_digit(s.ptr[i]); i++)
				out->decimals++;
			out->marked |= out->decimals > 0;
		}
		for (; k + 1 == n && i < s.len && is_around(s.ptr[i], true); i++)
			;
		if (i < s.len || !put_number(out, s))
			return false;
	}
	return n > 1;
}

/* --- from the rows --- */

static void shapes_see_number(struct shapes_col *c, struct dtx_str cell)
{
	struct number_shape n;

	if (!number_shape(cell, &n))
		return;
	c->thousands |= n.thousands;
	if (c->nnumbers++ && c->decimals != n.decimals)
		n.decimals = UINT32_MAX;
	c->decimals = n.decimals;
}

static void shapes_see(struct shapes_col *c, struct dtx_str cell)
{
	struct shape s;

	cell = dtx_utf8_trim(cell);
	c->filled += cell.len != 0;
	if (!cell.len || dtx_head_is_missing_word(cell))
		return;
	c->cells++;
	c->digits += has_digit(cell);
	c->numbers += is_number(cell);
	shapes_see_number(c, cell);
	(void)shape_of(cell, true, &s);
	shape_add(c->run, &c->nrun, &s);
	c->cut |= !shape_of(cell, false, &s);
	shape_add(c->exact, &c->nexact, &s);
}

static void shapes_settle(struct shapes_col *c, size_t rows)
{
	if (c->cells < SHAPE_SEEN)
		c->kind = c->cells || rows < SHAPES_VOIDS ? SHAPES_LOOSE : SHAPES_VOID;
	else if (c->numbers == c->cells)
		c->kind = SHAPES_NUMBERS;
	else if (!c->digits)
		c->kind = SHAPES_WORDS;
	else if (c->digits == c->cells && c->nrun <= SHAPE_KINDS &&
	         c->nrun * SHAPE_SEEN <= c->cells)
		c->kind = SHAPES_MARKS;
}

/* Whether the row fits: it has `width` cells, or with `longer` also empty ones after them. */
static bool row_fits(const struct dtx_csv_top_row *r, uint32_t width, bool longer)
{
	uint32_t i;

	if (r->blank || r->dropped || r->fault || r->n < width || (r->n > width) != longer)
		return false;
	for (i = width; i < r->n && !r->cell[i].len; i++)
		;
	return i == r->n;
}

static size_t shapes_learn(struct dtx_csv_shapes *s, const struct dtx_csv_top *top, bool longer)
{
	size_t rows = 0, i;

	for (i = top->body; i < top->n && i < top->body + SHAPES_ROWS; i++) {
		if (!row_fits(&top->row[i], s->width, longer))
			continue;
		for (uint32_t k = 0; k < s->width; k++)
			shapes_see(&s->col[k], top->row[i].cell[k]);
		rows++;
	}
	return rows;
}

enum dtx_code dtx_csv_shapes_new(const struct dtx_csv_top *top, uint32_t width,
                                 struct dtx_csv_shapes **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_shapes *s;
	size_t rows;
	uint32_t k;

	if (width < 2)
		goto out;
	s = dtx_mem_zalloc(1, sizeof(*s) + width * sizeof(s->col[0]));
	if (!s)
		DTX_FAIL_MEM(err);
	s->width = width;
	rows = shapes_learn(s, top, false);
	if (!rows)
		rows = shapes_learn(s, top, true);
	s->rows = (uint32_t)rows;
	for (k = 0; k < width; k++) {
		shapes_settle(&s->col[k], rows);
		s->typed |= s->col[k].kind != SHAPES_LOOSE;
	}
	dtx_csv_align_learn(s, top);
	*out = s;
out:
	return rc;
}

void dtx_csv_shapes_free(struct dtx_csv_shapes *s)
{
	dtx_mem_free(s);
}

/* --- of one cell --- */

uint32_t dtx_csv_shapes_width(const struct dtx_csv_shapes *s)
{
	return s->width;
}

bool dtx_csv_shapes_misfit(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell)
{
	const struct shapes_col *c = &s->col[col];
	struct shape shape;

	cell = dtx_utf8_trim(cell);
	if (!cell.len || dtx_head_is_missing_word(cell))
		return false;
	switch (c->kind) {
	case SHAPES_VOID: return true;
	case SHAPES_WORDS: return is_number(cell) || dtx_head_judge(cell) == DTX_HEAD_YEAR;
	case SHAPES_NUMBERS: return dtx_head_judge(cell) == DTX_HEAD_TEXT;
	case SHAPES_MARKS:
		(void)shape_of(cell, true, &shape);
		return !shape_known(c->run, c->nrun, &shape);
	default: return false;
	}
}

bool dtx_csv_shapes_exact(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell)
{
	const struct shapes_col *c = &s->col[col];
	struct shape shape;

	return !dtx_csv_shapes_loose(s, col) && !c->cut && c->nexact <= SHAPE_KINDS &&
	       shape_of(cell, false, &shape) && shape_known(c->exact, c->nexact, &shape);
}

bool dtx_csv_shapes_full(const struct dtx_csv_shapes *s, uint32_t col)
{
	return s->rows >= SHAPES_FULL && s->col[col].filled == s->rows;
}

bool dtx_csv_shapes_loose(const struct dtx_csv_shapes *s, uint32_t col)
{
	return s->col[col].kind <= SHAPES_WORDS;
}

bool dtx_csv_shapes_tell(const struct dtx_csv_shapes *s)
{
	return s->typed;
}

/* --- of numbers with commas --- */

static bool is_grouped(const struct shapes_col *c)
{
	return c->marked || c->grouped > 1;
}

bool dtx_csv_shapes_takes_grouped(const struct dtx_csv_shapes *s, uint32_t col,
                                  const struct dtx_csv_grouped *g, enum dtx_csv_shapes_where where)
{
	const struct shapes_col *c = &s->col[col];
	struct dtx_str text = { g->text, g->len };

	if (c->kind == SHAPES_WORDS || c->kind == SHAPES_VOID || c->thousands ||
	    dtx_csv_shapes_misfit(s, col, text))
		return false;
	if (c->nnumbers && c->decimals != UINT32_MAX && c->decimals != g->decimals)
		return false;
	return where == DTX_CSV_SHAPES_ANYWHERE || is_grouped(c) ||
	       (where == DTX_CSV_SHAPES_LIKELY && c->kind == SHAPES_NUMBERS);
}

bool dtx_csv_shapes_shown(const struct dtx_csv_shapes *s, uint32_t col)
{
	return s->col[col].text || is_grouped(&s->col[col]);
}

bool dtx_csv_shapes_takes_text(const struct dtx_csv_shapes *s, uint32_t col,
                               enum dtx_csv_shapes_where where)
{
	return dtx_csv_shapes_loose(s, col) && (where != DTX_CSV_SHAPES_SHOWN || s->col[col].text);
}

void dtx_csv_shapes_add_grouped(struct dtx_csv_shapes *s, uint32_t col,
                                const struct dtx_csv_grouped *g)
{
	s->col[col].grouped++;
	s->col[col].marked |= g->marked;
}

void dtx_csv_shapes_add_text(struct dtx_csv_shapes *s, uint32_t col)
{
	s->col[col].text = true;
}

void dtx_csv_shapes_joined(struct dtx_csv_shapes *s, size_t joined, bool all)
{
	uint32_t k, cols = 0;
	bool sure = false;

	for (k = 0; k < s->width; k++) {
		cols += s->col[k].text || s->col[k].grouped;
		sure |= s->col[k].text || s->col[k].marked;
	}
	/* If all records are too wide, a name may be missing in the header instead. */
	s->no_join = all && !(joined > 1 && cols == 1 && sure);
}

bool dtx_csv_shapes_may_join(const struct dtx_csv_shapes *s)
{
	return !s->no_join;
}
