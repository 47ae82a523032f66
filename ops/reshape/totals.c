/* Finds rows that are totals of the rows above them: see totals.h.
 *
 * A label with a word such as "Total" only makes a row a candidate, because such a word may also be
 * in data.  The numbers decide: they must be the sums of the rows since the last total (a subtotal)
 * or of all rows (a grand total), within the rounding of the decimals that are written. */
#include "ops/reshape/totals.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "ops/kit/numtext.h"

/* The sum of the numbers of one column over some rows, with what rounding lost (compensated). */
struct dtx_total_sum {
	double sum, lost;
	int64_t n;
};

static const char *const default_words[] = { "total",     "grand total", "subtotal",
	                                     "sub-total", "sum",         "overall" };

enum dtx_code dtx_totals_open(struct dtx_totals *t, struct dtx_raw *raw, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	t->raw = raw;
	if (!t->nwords) {
		t->words = default_words;
		t->nwords = DTX_COUNT(default_words);
	}
	dtx_buf_init(&t->text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&t->folded, DTX_BUF_TEXT_MAX);
	t->since = dtx_mem_zalloc((size_t)raw->ncols + 1, sizeof(*t->since));
	t->all = dtx_mem_zalloc((size_t)raw->ncols + 1, sizeof(*t->all));
	if (!t->since || !t->all)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_totals_close(struct dtx_totals *t)
{
	dtx_mem_free(t->since);
	dtx_mem_free(t->all);
	dtx_buf_clear(&t->text);
	dtx_buf_clear(&t->folded);
}

/* --- words --- */

/* Words consist of letters, digits, and everything that is not ASCII. */
static bool is_word(struct dtx_str s, size_t at)
{
	unsigned char c = (unsigned char)s.ptr[at];

	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80 || c == '_';
}

static bool has_word(struct dtx_str label, struct dtx_str word)
{
	if (!word.len || word.len > label.len)
		return false;
	if (dtx_str_starts(label, word) && (label.len == word.len || !is_word(label, word.len)))
		return true;
	return dtx_str_ends(label, word) && !is_word(label, label.len - word.len - 1);
}

/* Whether a cell is text and not a number. */
static bool is_label(struct dtx_totals *t, int64_t row, uint32_t col)
{
	const struct dtx_numtext_rules rules = DTX_NUMTEXT_PLAIN;
	char plain[DTX_NUMTEXT_MAX];
	size_t len;
	unsigned places;

	if (dtx_raw_kind(t->raw, row, col) != DTX_CELL_TEXT || dtx_raw_blank(t->raw, row, col))
		return false;
	dtx_buf_reset(&t->text);
	return !dtx_numtext(dtx_raw_text(t->raw, row, col, &t->text), &rules, plain, &len, &places);
}

static bool is_candidate(struct dtx_totals *t, int64_t row)
{
	struct dtx_str label;

	for (uint32_t i = 0; i < t->nlabels; i++) {
		if (!is_label(t, row, t->label[i]))
			continue;
		dtx_buf_reset(&t->text);
		dtx_buf_reset(&t->folded);
		dtx_utf8_fold(&t->folded,
		              dtx_utf8_trim(dtx_raw_text(t->raw, row, t->label[i], &t->text)));
		label = dtx_buf_str(&t->folded);
		if (label.len && label.ptr[label.len - 1] == ':')
			label = dtx_utf8_trim((struct dtx_str){ label.ptr, label.len - 1 });
		for (size_t w = 0; w < t->nwords; w++)
			if (has_word(label, dtx_str_of(t->words[w])))
				return true;
		return false;
	}
	return false;
}

/* --- numbers --- */

/* The number in a cell, and how many decimals it is written with. */
static bool cell_number(struct dtx_totals *t, int64_t row, uint32_t col, double *v,
                        unsigned *places)
{
	const struct dtx_numtext_rules rules = DTX_NUMTEXT_PLAIN;
	uint8_t kind = dtx_raw_kind(t->raw, row, col);
	char plain[DTX_NUMTEXT_MAX];
	size_t len;

	if ((kind != DTX_CELL_TEXT && kind != DTX_CELL_NUMBER && kind != DTX_CELL_WHOLE) ||
	    dtx_raw_blank(t->raw, row, col))
		return false;
	dtx_buf_reset(&t->text);
	return dtx_numtext(dtx_raw_text(t->raw, row, col, &t->text), &rules, plain, &len, places) &&
	       dtx_num_parse_f64(plain, len, v);
}

static void sum_add(struct dtx_total_sum *s, double v)
{
	double t = s->sum + v;

	s->lost += fabs(s->sum) >= fabs(v) ? (s->sum - t) + v : (v - t) + s->sum;
	s->sum = t;
	s->n++;
}

/* Whether a value is the sum.  Each of the n addends and the total itself may have been rounded by
 * half a unit of the last decimal that is written. */
static bool agrees(const struct dtx_total_sum *s, double v, unsigned places)
{
	double allowed = 0.5 * pow(10, -(double)places) * (double)(s->n + 1);

	/* the sum of decimals is itself rounded, so allow slightly more than the exact bound */
	return fabs(v - (s->sum + s->lost)) <= allowed * (1 + 1e-9);
}

/* Whether the numbers prove the total: at least one column agrees, and no more columns disagree
 * than agree. */
static bool proven(struct dtx_totals *t, int64_t row, const struct dtx_total_sum *sum)
{
	uint32_t yes = 0, no = 0;

	for (uint32_t c = 0; c < t->raw->ncols; c++) {
		unsigned places;
		double v;

		if (!sum[c].n || !cell_number(t, row, c, &v, &places))
			continue;
		if (agrees(&sum[c], v, places))
			yes++;
		else
			no++;
	}
	return yes > 0 && no <= yes;
}

static void add_row(struct dtx_totals *t, int64_t row)
{
	for (uint32_t c = 0; c < t->raw->ncols; c++) {
		unsigned places;
		double v;

		if (!cell_number(t, row, c, &v, &places))
			continue;
		sum_add(&t->since[c], v);
		sum_add(&t->all[c], v);
	}
}

enum dtx_total dtx_totals_row(struct dtx_totals *t, int64_t row)
{
	bool candidate = is_candidate(t, row);

	if (candidate && (!t->verify || proven(t, row, t->since) || proven(t, row, t->all))) {
		memset(t->since, 0, ((size_t)t->raw->ncols + 1) * sizeof(*t->since));
		return DTX_TOTAL_YES;
	}
	add_row(t, row);
	return candidate ? DTX_TOTAL_UNPROVEN : DTX_TOTAL_NO;
}
