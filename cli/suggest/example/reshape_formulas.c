/* Proposes formulas for new columns from the other cells of a row, and values for blanks. A formula
 * must hold in at least two rows of the example. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "cli/suggest/example/reshape.h"
#include "core/base/text/utf8.h"

enum { FORMULA_COLS = 24 };

struct formulas {
	struct dtx_reshape *s;
	uint32_t at;                /* the new column in want */
	uint32_t col[FORMULA_COLS]; /* number columns of have */
	size_t n;
	json_t *set; /* formulas by the names of the new columns */
};

static double formula_plus(double a, double b)
{
	return a + b;
}

static double formula_minus(double a, double b)
{
	return a - b;
}

static double formula_times(double a, double b)
{
	return a * b;
}

static double formula_over(double a, double b)
{
	return b != 0 ? a / b : NAN;
}

static const struct {
	const char *sign;
	double (*value)(double a, double b);
	bool swaps; /* a and b can be exchanged */
} formula_ops[] = { { "+", formula_plus, true },
	            { "-", formula_minus, false },
	            { "*", formula_times, true },
	            { "/", formula_over, false } };

/* The row of have for a wanted one. In tables with equal rows it has the same index. */
static int64_t formula_row(const struct dtx_reshape *s, int64_t r)
{
	return s->from ? s->from[r] : r;
}

static bool formula_cell(const struct formulas *f, int64_t r, uint32_t col, double *out)
{
	int64_t row = formula_row(f->s, r);

	return row >= 0 && dtx_textgrid_number(dtx_textgrid_at(f->s->have, row, col), out);
}

static bool formula_fits(const struct formulas *f, size_t op, uint32_t a, uint32_t b, double by,
                         int *digits)
{
	int64_t r;
	double x, y;

	*digits = -1;
	for (r = 0; r < f->s->want->nrows; r++) {
		if (!formula_cell(f, r, a, &x) || !formula_cell(f, r, b, &y) ||
		    !dtx_textgrid_rounded(formula_ops[op].value(x, y) * by,
		                          dtx_textgrid_at(f->s->want, r, f->at), digits))
			return false;
	}
	return r > 1;
}

static void formula_add(const struct formulas *f, const char *expr, int digits)
{
	json_t *text =
		digits >= 0 ? json_sprintf("round(%s, %d)", expr, digits) : json_string(expr);

	f->s->failed |= json_object_set_new(f->set, f->s->want->name[f->at], text) < 0;
}

static bool formula_pair(const struct formulas *f, size_t op, uint32_t a, uint32_t b)
{
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int digits;
	bool percent = false, found = formula_fits(f, op, a, b, 1, &digits);

	if (!found && formula_ops[op].value == formula_over)
		found = percent = formula_fits(f, op, a, b, 100, &digits);
	if (found) {
		dtx_reshape_name(&expr, f->s->have->name[a]);
		dtx_buf_printf(&expr, " %s ", formula_ops[op].sign);
		dtx_reshape_name(&expr, f->s->have->name[b]);
		dtx_buf_add(&expr, percent ? " * 100" : "");
		formula_add(f, dtx_buf_text(&expr), digits);
	}
	dtx_buf_clear(&expr);
	return found;
}

static bool formula_pairs(const struct formulas *f)
{
	for (size_t op = 0; op < DTX_COUNT(formula_ops); op++)
		for (size_t i = 0; i < f->n; i++)
			for (size_t k = formula_ops[op].swaps ? i + 1 : 0; k < f->n; k++)
				if (k != i && formula_pair(f, op, f->col[i], f->col[k]))
					return true;
	return false;
}

/* Tries the sum and the mean of all numbers in the row. */
static bool formula_all(const struct formulas *f)
{
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool sums = f->n > 2, means = f->n > 1;
	int digits = -1, mean_digits = -1;
	int64_t r = 0;

	for (r = 0; r < f->s->want->nrows && (sums || means); r++) {
		const char *want = dtx_textgrid_at(f->s->want, r, f->at);
		double total = 0, x;

		for (size_t i = 0; i < f->n; i++)
			total += formula_cell(f, r, f->col[i], &x) ? x : NAN;
		sums = sums && dtx_textgrid_rounded(total, want, &digits);
		means = means && dtx_textgrid_rounded(total / (double)f->n, want, &mean_digits);
	}
	if (r < 2 || (!sums && !means))
		goto out;
	dtx_buf_add(&expr, sums ? "" : "(");
	for (size_t i = 0; i < f->n; i++) {
		dtx_buf_add(&expr, i ? " + " : "");
		dtx_reshape_name(&expr, f->s->have->name[f->col[i]]);
	}
	if (!sums)
		dtx_buf_printf(&expr, ") / %zu", f->n);
	formula_add(f, dtx_buf_text(&expr), sums ? digits : mean_digits);
out:
	dtx_buf_clear(&expr);
	return r > 1 && (sums || means);
}

/* --- texts and conditions --- */

static const char *const piece_seps[] = { ", ", " - ", " / ", "_", "-", "/", " ", ":", ".", "," };

static void put_text(struct dtx_buf *out, const char *text)
{
	dtx_buf_addc(out, '\'');
	for (; *text; text++)
		dtx_buf_add(out, *text == '\'' ? "\'\'" : (char[]){ *text, '\0' });
	dtx_buf_addc(out, '\'');
}

static const char *formula_text(const struct formulas *f, int64_t r, uint32_t col)
{
	int64_t row = formula_row(f->s, r);

	return row >= 0 ? dtx_textgrid_at(f->s->have, row, col) : NULL;
}

/* Whether `want` is the k-th piece of the text, which has such a piece. */
static bool piece_is(const char *text, const char *sep, int k, const char *want)
{
	char piece[256];
	struct dtx_str t;
	const char *end;

	if (!text || !want || !strstr(text, sep))
		return false;
	for (; k > 1; k--) {
		text = strstr(text, sep);
		if (!text)
			return false;
		text += strlen(sep);
	}
	end = strstr(text, sep);
	t = dtx_utf8_trim((struct dtx_str){ text, end ? (size_t)(end - text) : strlen(text) });
	if (!t.len || t.len >= sizeof(piece))
		return false;
	dtx_str_copy(piece, sizeof(piece), t);
	return dtx_textgrid_same(piece, want);
}

/* Tries a piece of a text: "Group_1_East" gives "East". */
static bool formula_piece(const struct formulas *f)
{
	const struct dtx_reshape *s = f->s;
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool found = false;
	int64_t r;

	for (uint32_t c = 0; c < s->have->ncols && c < FORMULA_COLS && !found; c++)
		for (size_t i = 0; i < DTX_COUNT(piece_seps) && !found; i++)
			for (int k = 1; k <= 4 && !found; k++) {
				for (r = 0; r < s->want->nrows &&
				            piece_is(formula_text(f, r, c), piece_seps[i], k,
				                     dtx_textgrid_at(s->want, r, f->at));
				     r++)
					;
				found = r > 1 && r == s->want->nrows;
				if (!found)
					continue;
				dtx_buf_add(&expr, "trim(split_part(");
				dtx_reshape_name(&expr, s->have->name[c]);
				dtx_buf_add(&expr, ", ");
				put_text(&expr, piece_seps[i]);
				dtx_buf_printf(&expr, ", %d))", k);
				formula_add(f, dtx_buf_text(&expr), -1);
			}
	dtx_buf_clear(&expr);
	return found;
}

static bool joined_is(const char *a, const char *sep, const char *b, const char *want)
{
	size_t na = a ? strlen(a) : 0, ns = strlen(sep);

	return a && b && want && !strncmp(want, a, na) && !strncmp(want + na, sep, ns) &&
	       !strcmp(want + na + ns, b);
}

/* Tries two texts with something between them. */
static bool formula_joined(const struct formulas *f)
{
	static const char *const seps[] = { "_", " ", "-", ", ", "/", ":", " - ", "" };
	const struct dtx_reshape *s = f->s;
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t n = DTX_MIN(s->have->ncols, (uint32_t)FORMULA_COLS);
	bool found = false;
	int64_t r;

	for (uint32_t i = 0; i < n * n && !found; i++)
		for (size_t k = 0; k < DTX_COUNT(seps) && !found && i / n != i % n; k++) {
			for (r = 0;
			     r < s->want->nrows && joined_is(formula_text(f, r, i / n), seps[k],
			                                     formula_text(f, r, i % n),
			                                     dtx_textgrid_at(s->want, r, f->at));
			     r++)
				;
			found = r > 1 && r == s->want->nrows;
			if (!found)
				continue;
			dtx_buf_add(&expr, "concat(");
			dtx_reshape_name(&expr, s->have->name[i / n]);
			dtx_buf_add(&expr, ", ");
			if (*seps[k]) {
				put_text(&expr, seps[k]);
				dtx_buf_add(&expr, ", ");
			}
			dtx_reshape_name(&expr, s->have->name[i % n]);
			dtx_buf_addc(&expr, ')');
			formula_add(f, dtx_buf_text(&expr), -1);
		}
	dtx_buf_clear(&expr);
	return found;
}

/* Whether the new column is true and false, each at least once. */
static bool formula_is_condition(const struct formulas *f)
{
	const struct dtx_textgrid *want = f->s->want;
	int64_t r, yes = 0;

	for (r = 0; r < want->nrows; r++) {
		const char *text = dtx_textgrid_at(want, r, f->at);

		if (!text || (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0))
			return false;
		yes += !strcasecmp(text, "true");
	}
	return yes && yes < r;
}

/* Tries a column that has one text where the condition is true, and others where it is not. */
static bool formula_equals(const struct formulas *f)
{
	const struct dtx_reshape *s = f->s;
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool found = false;
	int64_t r;

	for (uint32_t c = 0; c < s->have->ncols && !found; c++) {
		const char *one = NULL;

		for (r = 0; r < s->want->nrows && !one; r++)
			one = !strcasecmp(dtx_textgrid_at(s->want, r, f->at), "true")
			              ? formula_text(f, r, c)
			              : NULL;
		for (r = 0; r < s->want->nrows && one; r++) {
			const char *text = formula_text(f, r, c);

			if ((text && !strcmp(text, one)) !=
			    !strcasecmp(dtx_textgrid_at(s->want, r, f->at), "true"))
				break;
		}
		found = one && r == s->want->nrows;
		if (!found)
			continue;
		dtx_reshape_name(&expr, s->have->name[c]);
		dtx_buf_add(&expr, " == ");
		put_text(&expr, one);
		formula_add(f, dtx_buf_text(&expr), -1);
	}
	dtx_buf_clear(&expr);
	return found;
}

/* Tries a number against another one, or against 0. */
static bool formula_compares(const struct formulas *f)
{
	static const char *const signs[] = { ">", ">=", "<", "<=" };
	const struct dtx_reshape *s = f->s;
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool found = false;
	double x, y;
	int64_t r;

	for (size_t i = 0; i < f->n * (f->n + 1) && !found; i++) {
		size_t a = i / (f->n + 1), b = i % (f->n + 1); /* b == n: 0 */

		for (size_t k = 0; k < DTX_COUNT(signs) && !found && a != b; k++) {
			for (r = 0; r < s->want->nrows; r++) {
				bool yes;

				y = 0;
				if (!formula_cell(f, r, f->col[a], &x) ||
				    (b < f->n && !formula_cell(f, r, f->col[b], &y)))
					break;
				yes = k == 0 ? x > y : k == 1 ? x >= y : k == 2 ? x < y : x <= y;
				if (yes != !strcasecmp(dtx_textgrid_at(s->want, r, f->at), "true"))
					break;
			}
			found = r == s->want->nrows;
			if (!found)
				continue;
			dtx_reshape_name(&expr, s->have->name[f->col[a]]);
			dtx_buf_printf(&expr, " %s ", signs[k]);
			if (b < f->n)
				dtx_reshape_name(&expr, s->have->name[f->col[b]]);
			else
				dtx_buf_addc(&expr, '0');
			formula_add(f, dtx_buf_text(&expr), -1);
		}
	}
	dtx_buf_clear(&expr);
	return found;
}

/* Tries running sums. */
static void formula_running(const struct formulas *f)
{
	for (size_t i = 0; i < f->n && i < 6; i++)
		dtx_reshape_add(f->s, json_pack("{ss s[s]}", "op", "cumulative", "cols",
		                                f->s->have->name[f->col[i]]));
}

static bool formula_numbers(const struct dtx_textgrid *g, uint32_t col)
{
	int64_t r, n = 0;
	double x;

	for (r = 0; r < g->nrows; r++) {
		const char *text = dtx_textgrid_at(g, r, col);

		if (text && !dtx_textgrid_number(text, &x))
			return false;
		n += text != NULL;
	}
	return n > 0;
}

/* Finds blanks that all became the same value. */
static void formula_blanks(struct dtx_reshape *s)
{
	uint32_t c;
	int64_t r;

	for (c = 0; c < s->have->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->want, s->have->name[c]);
		const char *value = NULL, *one;
		double x;

		for (r = 0; at >= 0 && r < s->want->nrows; r++) {
			if (dtx_textgrid_at(s->have, r, c))
				continue;
			one = dtx_textgrid_at(s->want, r, (uint32_t)at);
			if (!one || (value && strcmp(one, value) != 0))
				break;
			value = one;
		}
		if (at < 0 || r < s->want->nrows || !value)
			continue;
		dtx_reshape_add(s, json_pack("{ss s[s] so}", "op", "fill_null", "cols",
		                             s->have->name[c], "value",
		                             dtx_textgrid_number(value, &x)
		                                     ? json_loads(value, JSON_DECODE_ANY, NULL)
		                                     : json_string(value)));
	}
}

void dtx_reshape_formulas(struct dtx_reshape *s)
{
	struct formulas f = { .s = s };
	size_t i;
	uint32_t c;

	if (s->have->nrows == s->want->nrows)
		formula_blanks(s);
	if (s->from ? !s->aligned : s->have->nrows != s->want->nrows)
		return;
	for (c = 0; c < s->have->ncols && f.n < FORMULA_COLS; c++) {
		if (formula_numbers(s->have, c))
			f.col[f.n++] = c;
	}
	f.set = json_object();
	s->failed |= !f.set;
	for (i = 0; i < s->nfresh && i < 4 && !s->failed; i++) {
		f.at = (uint32_t)dtx_textgrid_find(s->want, s->fresh[i]);
		if (formula_is_condition(&f)) {
			(void)(formula_equals(&f) || formula_compares(&f));
			continue;
		}
		if (!formula_numbers(s->want, f.at) || !formula_pairs(&f)) {
			if (formula_piece(&f) || formula_joined(&f))
				continue;
		}
		if (!formula_numbers(s->want, f.at) || json_object_get(f.set, s->fresh[i]))
			continue;
		if (!formula_all(&f) && s->have->nrows == s->want->nrows && s->want->nrows > 1)
			formula_running(&f);
	}
	if (json_object_size(f.set))
		dtx_reshape_add(s, json_pack("{ss sO}", "op", "derive", "set", f.set));
	json_decref(f.set);
}
