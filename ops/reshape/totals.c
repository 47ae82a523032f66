/* Finds rows that are totals of the rows above them: see totals.h.
 *
 * A label with a word such as "Total" only makes a row a candidate, because such a word may also be
 * in data.  The numbers decide: they must be the sums of the rows since the last total (a subtotal)
 * or of all rows (a grand total).  A total may also have averages and shares, so one column that
 * agrees is enough as long as no more columns disagree. */
#include "ops/reshape/totals.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "ops/kit/text/numtext.h"

/* The sum of the numbers of one column over some rows, with what rounding lost (compensated). */
struct dtx_total_sum {
	double sum, lost, size; /* size: the sum without signs */
	int64_t n;
	unsigned places; /* the most decimals that one of them is written with */
};

/* --- how numbers are written --- */

static const struct dtx_numtext_rules rules[] = {
	DTX_NUMTEXT_PLAIN,
	{ ',', '.', true, DTX_PERCENT_RATIO },
	{ ',', ' ', true, DTX_PERCENT_RATIO },
};

static bool has_digit(struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] >= '0' && s.ptr[i] <= '9')
			return true;
	return false;
}

/* The number in a cell, and how many decimals it is written with. */
static bool read_number(struct dtx_totals *t, int64_t row, uint32_t col, uint8_t mark, double *v,
                        unsigned *places)
{
	uint8_t kind = dtx_raw_kind(t->raw, row, col);
	char plain[DTX_NUMTEXT_MAX];
	struct dtx_str text;
	const char *power;
	size_t len;
	long shift;

	if ((kind != DTX_CELL_TEXT && kind != DTX_CELL_NUMBER && kind != DTX_CELL_WHOLE) ||
	    dtx_raw_blank(t->raw, row, col))
		return false;
	dtx_buf_reset(&t->text);
	text = dtx_raw_text(t->raw, row, col, &t->text);
	if (!has_digit(text) || !dtx_numtext(text, &rules[mark], plain, &len, places) ||
	    !dtx_num_parse_f64(plain, len, v))
		return false;
	power = memchr(plain, 'e', len);
	shift = power ? strtol(power + 1, NULL, 10) : 0;
	*places = (unsigned)DTX_MIN(DTX_MAX((long)*places - shift, 0L), 300L);
	return true;
}

static bool cell_number(struct dtx_totals *t, int64_t row, uint32_t col, double *v,
                        unsigned *places)
{
	return read_number(t, row, col, t->marks[col], v, places);
}

/* The marks of numbers in a column of texts: those by which most of its cells are numbers. */
static enum dtx_code find_marks(struct dtx_totals *t, uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t n[DTX_COUNT(rules)] = { 0 };
	uint8_t best = 0;
	unsigned places;
	double v;

	for (int64_t row = 0; row < t->raw->table->nrows; row++) {
		DTX_TRY(dtx_cancel_look(err));
		for (uint8_t i = 0; i < DTX_COUNT(rules); i++)
			n[i] += read_number(t, row, col, i, &v, &places);
	}
	for (uint8_t i = 1; i < DTX_COUNT(rules); i++)
		if (n[i] > n[best])
			best = i;
	t->marks[col] = best;
out:
	return rc;
}

enum dtx_code dtx_totals_open(struct dtx_totals *t, struct dtx_raw *raw, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	t->raw = raw;
	dtx_buf_init(&t->text, DTX_BUF_TEXT_MAX);
	t->since = dtx_mem_zalloc((size_t)raw->ncols + 1, sizeof(*t->since));
	t->all = dtx_mem_zalloc((size_t)raw->ncols + 1, sizeof(*t->all));
	t->marks = dtx_mem_zalloc((size_t)raw->ncols + 1, sizeof(*t->marks));
	if (!t->since || !t->all || !t->marks)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < raw->ncols && t->verify; c++) {
		const struct dtx_field *f = &raw->table->schema->field[c];

		if (f->type.type == DTX_T_TEXT)
			DTX_TRY(find_marks(t, c, err));
		else if (f->decimal_comma)
			t->marks[c] = f->group == ' ' ? 2 : 1;
	}
out:
	return rc;
}

void dtx_totals_close(struct dtx_totals *t)
{
	dtx_mem_free(t->since);
	dtx_mem_free(t->all);
	dtx_mem_free(t->marks);
	dtx_buf_clear(&t->text);
}

/* --- words --- */

/* Whether the label goes on with a letter or digit at `at`. */
static bool word_at(struct dtx_str s, size_t at)
{
	return at < s.len &&
	       (s.ptr[at] == '_' || dtx_utf8_is_word(dtx_utf8_next(s.ptr, s.len, &at)));
}

/* Whether there is a letter or digit before `at`. */
static bool word_before(struct dtx_str s, size_t at)
{
	size_t from = at;

	while (from > 0 && ((unsigned char)s.ptr[--from] & 0xc0) == 0x80)
		;
	return at > 0 && word_at((struct dtx_str){ s.ptr, at }, from);
}

static bool has_word(struct dtx_str label, struct dtx_str word)
{
	return word.len &&
	       ((dtx_str_starts(label, word) && !word_at(label, word.len)) ||
	        (dtx_str_ends(label, word) && !word_before(label, label.len - word.len)));
}

bool dtx_total_label(struct dtx_str label, const char *const *words, size_t nwords)
{
	struct dtx_buf folded = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool found = false;

	dtx_utf8_fold(&folded, dtx_utf8_trim(label));
	label = dtx_buf_str(&folded);
	if (label.len && label.ptr[label.len - 1] == ':')
		label = dtx_utf8_trim((struct dtx_str){ label.ptr, label.len - 1 });
	for (size_t i = 0; i < nwords && !found; i++)
		found = has_word(label, dtx_str_of(words[i]));
	dtx_buf_clear(&folded);
	return found;
}

bool dtx_total_label_default(struct dtx_str label)
{
#define WORD(text) text,
	static const char *const words[] = { DTX_TOTAL_WORDS(WORD, WORD) };
#undef WORD
	return dtx_total_label(label, words, DTX_COUNT(words));
}

/* Whether a cell is text and not a number. */
static bool is_label(struct dtx_totals *t, int64_t row, uint32_t col)
{
	unsigned places;
	double v;

	return dtx_raw_kind(t->raw, row, col) == DTX_CELL_TEXT &&
	       !dtx_raw_blank(t->raw, row, col) && !cell_number(t, row, col, &v, &places);
}

static bool is_candidate(struct dtx_totals *t, int64_t row)
{
	for (uint32_t i = 0; i < t->nlabels; i++) {
		if (!is_label(t, row, t->label[i]))
			continue;
		dtx_buf_reset(&t->text);
		return dtx_total_label(dtx_raw_text(t->raw, row, t->label[i], &t->text), t->words,
		                       t->nwords);
	}
	return false;
}

/* --- numbers --- */

static void sum_add(struct dtx_total_sum *s, double v, unsigned places)
{
	double t = s->sum + v;

	s->lost += fabs(s->sum) >= fabs(v) ? (s->sum - t) + v : (v - t) + s->sum;
	s->sum = t;
	s->size += fabs(v);
	s->n++;
	s->places = DTX_MAX(s->places, places);
}

enum match { MATCH_EXACT, MATCH_ROUNDED, MATCH_NONE };

/* Compares a value with the sum.  It matches exactly if the difference is less than half a unit of
 * the last decimal that the column or the value is written with; binary fractions have an error of
 * their own.  Otherwise each addend and the value may have been rounded by half a unit of their
 * last decimal.  Whole numbers show no sign of rounding, so they must be the exact sum. */
static enum match match(const struct dtx_total_sum *s, double v, unsigned places)
{
	unsigned most = DTX_MAX(s->places, places);
	double unit = pow(10, -(double)most), diff = fabs(v - (s->sum + s->lost));
	double exact = most ? DTX_MAX(0.5 * unit, 1e-14 * s->size) : 0.5;
	double rounded = 0.5 * (unit * (double)s->n + pow(10, -(double)places));

	if (diff < exact)
		return MATCH_EXACT;
	/* the sum of decimals is itself rounded, so allow slightly more than the exact bound */
	return most && diff <= rounded * (1 + 1e-9) ? MATCH_ROUNDED : MATCH_NONE;
}

static void gap_add(struct dtx_total_gaps *g, uint32_t col, const struct dtx_total_sum *s,
                    unsigned places)
{
	if (!g->n++) {
		g->col = col;
		g->sum = s->sum + s->lost;
		g->places = DTX_MAX(s->places, places);
	}
}

struct proof {
	struct dtx_total_gaps rounded, off;
	bool compared; /* at least one number has numbers above */
	bool holds;    /* at least one column agrees, and no more columns disagree */
};

/* Compares the numbers of a row with the sums.  A number of a column that has no numbers above is
 * not the sum of anything, but it does not speak against a total. */
static struct proof prove(struct dtx_totals *t, int64_t row, const struct dtx_total_sum *sum)
{
	struct proof p = { 0 };
	uint32_t yes = 0, no = 0;

	for (uint32_t c = 0; c < t->raw->ncols; c++) {
		unsigned places;
		enum match m;
		double v;

		if (!cell_number(t, row, c, &v, &places))
			continue;
		m = match(&sum[c], v, places);
		if (sum[c].n && m == MATCH_NONE)
			no++;
		else if (sum[c].n)
			yes++;
		if (m == MATCH_ROUNDED)
			gap_add(&p.rounded, c, &sum[c], places);
		if (m == MATCH_NONE)
			gap_add(&p.off, c, &sum[c], places);
	}
	p.compared = yes + no > 0;
	p.holds = yes > 0 && no <= yes;
	return p;
}

/* Whether the numbers prove the total, by the sums that fit better. */
static bool proven(struct dtx_totals *t, int64_t row)
{
	struct proof since = prove(t, row, t->since), all = prove(t, row, t->all);
	bool whole = since.holds != all.holds ? all.holds
	             : !since.compared        ? true
	                               : all.off.n + all.rounded.n < since.off.n + since.rounded.n;

	t->rounded = whole ? all.rounded : since.rounded;
	t->off = whole ? all.off : since.off;
	return since.holds || all.holds;
}

static void add_row(struct dtx_totals *t, int64_t row)
{
	for (uint32_t c = 0; c < t->raw->ncols; c++) {
		unsigned places;
		double v;

		if (!cell_number(t, row, c, &v, &places))
			continue;
		sum_add(&t->since[c], v, places);
		sum_add(&t->all[c], v, places);
	}
}

enum dtx_total dtx_totals_row(struct dtx_totals *t, int64_t row)
{
	bool candidate = is_candidate(t, row);

	if (candidate && (!t->verify || proven(t, row))) {
		memset(t->since, 0, ((size_t)t->raw->ncols + 1) * sizeof(*t->since));
		return DTX_TOTAL_YES;
	}
	add_row(t, row);
	return candidate ? DTX_TOTAL_UNPROVEN : DTX_TOTAL_NO;
}
