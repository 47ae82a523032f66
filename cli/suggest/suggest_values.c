/* Finds texts that are numbers or dates: every value is tried with each rule. A step is only
 * proposed if each text can be reconstructed from its value, so that no sign, zero, digit,
 * currency or time is lost. */
#include <stdio.h>

#include "cli/suggest/suggest_rules.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/time/time.h"
#include "ops/kit/text/datetext.h"
#include "ops/kit/text/numtext.h"

static bool is_missing_word(struct dtx_str text)
{
	static const char *const words[] = { "n/a", "na",   "nan",     "null",   "none",
		                             "nil", "-",    "--",      "\u2013", "\u2014",
		                             "?",   "#n/a", "missing", "." };
	struct dtx_str t = dtx_utf8_trim(text);
	size_t i;

	for (i = 0; i < DTX_COUNT(words); i++) {
		if (dtx_str_ieq(t, dtx_str_of(words[i])))
			return true;
	}
	return false;
}

enum { MARKS = 2 };
static const struct dtx_numtext_rules mark_rules[MARKS] = { { '.', ',', true, DTX_PERCENT_RATIO },
	                                                    { ',', '.', true, DTX_PERCENT_RATIO } };
enum { EXACT_DIGITS = 15 }; /* digits that a float always keeps */
struct reading {            /* how the values of a column can be read */
	uint64_t values, missing, number[MARKS], date[3], dated;
	uint64_t timed; /* dates with a time of day */
	/* Numbers whose text says more than their value, or with more digits than a float or int
	 * keeps. */
	uint64_t lossy, wide;
	uint64_t priced, percents; /* numbers with a currency; */
	struct dtx_str currency;   /* the currency; */
	bool currencies;           /* whether there are several */
	uint64_t digits;           /* values with only digits */
	uint64_t fraction[MARKS];  /* numbers that are not whole */
	size_t shortest, longest;
	uint64_t first_over, second_over; /* dates whose first or second part is above 12 */
	struct dtx_str example, word;
	uint64_t row; /* of the example */
};

static bool is_digits(struct dtx_str t)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		if (t.ptr[i] < '0' || t.ptr[i] > '9')
			return false;
	}
	return t.len > 0;
}

static bool has_digits(struct dtx_str t)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		if (t.ptr[i] >= '0' && t.ptr[i] <= '9')
			return true;
	}
	return false;
}

/* Collects the currency: the bytes besides digits, signs and blanks, in order. */
static struct dtx_str currency_of(struct dtx_str t, char out[16])
{
	size_t i, n = 0;

	for (i = 0; i < t.len && n < 16; i++) {
		if (!strchr("0123456789.,+-()% '", t.ptr[i]))
			out[n++] = t.ptr[i];
	}
	return (struct dtx_str){ out, n };
}

/* Whether the text cannot be reconstructed from its value: "+5", "-007", "1e5". */
static bool says_more(struct dtx_str t)
{
	size_t i = 0;

	if (memchr(t.ptr, '+', t.len))
		return true;
	while (i < t.len && (t.ptr[i] < '0' || t.ptr[i] > '9'))
		i++;
	if (i + 1 < t.len && t.ptr[i] == '0' && t.ptr[i + 1] >= '0' && t.ptr[i + 1] <= '9')
		return true;
	for (i++; i + 1 < t.len; i++) {
		if ((t.ptr[i] | 32) == 'e' && t.ptr[i - 1] >= '0' && t.ptr[i - 1] <= '9' &&
		    strchr("+-0123456789", t.ptr[i + 1]))
			return true;
	}
	return false;
}

/* Counts the digits of a plain number without leading and trailing zeros. */
static size_t significant(const char *plain, size_t len)
{
	size_t from = 0, to = len, n = 0, i;

	while (from < len && strchr("-0.", plain[from]))
		from++;
	while (to > from && strchr("0.", plain[to - 1]))
		to--;
	for (i = from; i < to; i++)
		n += plain[i] != '.';
	return n;
}

static void read_number(const struct dtx_colstat_value *v, const char *plain, size_t len,
                        bool whole, struct reading *r)
{
	struct dtx_str t = dtx_utf8_trim(v->text), money;
	bool percent = memchr(t.ptr, '%', t.len);
	char sign[16];
	int64_t n;

	money = currency_of(t, sign);
	r->lossy += says_more(t) || v->cut ? v->count : 0;
	r->wide += significant(plain, len) > EXACT_DIGITS &&
	                           !(whole && dtx_num_parse_i64(plain, len, &n))
	                   ? v->count
	                   : 0;
	r->percents += percent ? v->count : 0;
	r->priced += money.len ? v->count : 0;
	if (money.len && !r->currency.len)
		r->currency = v->text;
	else if (money.len) {
		char first[16];

		r->currencies |= !dtx_str_eq(money, currency_of(dtx_utf8_trim(r->currency), first));
	}
}

static void read_value(const struct dtx_colstat_value *v, struct reading *r)
{
	char plain[DTX_NUMTEXT_MAX];
	struct dtx_datetext d;
	bool fits[3], any = false, timed = false;
	size_t len, i;
	unsigned places;

	if (is_missing_word(v->text)) {
		r->word = r->missing ? r->word : v->text;
		r->missing += v->count;
		return;
	}
	r->values += v->count;
	r->digits += is_digits(v->text) ? v->count : 0;
	r->shortest = r->values == v->count ? v->text.len : DTX_MIN(r->shortest, v->text.len);
	r->longest = DTX_MAX(r->longest, v->text.len);
	if (!r->example.len) {
		r->example = v->text;
		r->row = v->row;
	}
	if (!has_digits(v->text))
		return; /* neither a number nor a date, which is not worth five attempts */
	for (i = 0; i < MARKS; i++) {
		if (!dtx_numtext(v->text, &mark_rules[i], plain, &len, &places))
			continue;
		if (!i || !r->number[0])
			read_number(v, plain, len, !places, r);
		r->number[i] += v->count;
		r->fraction[i] +=
			places || memchr(plain, 'e', len) || memchr(v->text.ptr, '%', v->text.len)
				? v->count
				: 0;
	}
	for (i = 0; i < 3; i++) {
		fits[i] = dtx_datetext_parse(v->text, (enum dtx_date_order)i, 1969, &d);
		r->date[i] += fits[i] ? v->count : 0;
		timed |= fits[i] && d.us % DTX_DAY_US != 0;
		any |= fits[i];
	}
	r->dated += any ? v->count : 0;
	r->timed += timed ? v->count : 0;
	r->first_over += fits[DTX_ORDER_DMY] && !fits[DTX_ORDER_MDY] ? v->count : 0;
	r->second_over += fits[DTX_ORDER_MDY] && !fits[DTX_ORDER_DMY] ? v->count : 0;
}

static void read_column(const struct dtx_colstat *c, struct reading *r)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < c->nvalues; i++)
		read_value(&c->value[i], r);
}

/* Whether all values are digits of the same length, which are codes such as account numbers or
 * postcodes. */
static bool is_code(const struct reading *r)
{
	return r->digits == r->values && r->shortest == r->longest;
}

/* Whether they are numbers of one kind that keep everything in their texts. */
static bool are_lossless(const struct reading *r)
{
	return !r->lossy && !r->wide && !r->currencies && (!r->priced || r->priced == r->values) &&
	       (!r->percents || r->percents == r->values);
}

/* "1,234" is 1234 or 1.234. If another column certainly has decimal commas, this is ambiguous. */
static bool is_doubtful(const struct reading *r, bool commas)
{
	return commas && r->number[0] == r->values && r->number[1] == r->values &&
	       r->fraction[0] != r->fraction[1];
}

static void suggest_number(struct dtx_search *s, uint32_t col, const struct reading *r)
{
	bool comma = r->number[1] > r->number[0];
	char text[240];
	json_t *step =
		json_pack("{s:s, s:[s]}", "op", "parse_number", "cols", dtx_search_name(s, col));

	if (!r->fraction[comma])
		s->failed |= !dtx_json_set(step, "type", json_string("int"));
	if (comma)
		s->failed |= !dtx_json_set(step, "decimal", json_string(",")) ||
		             !dtx_json_set(step, "group", json_string("."));
	snprintf(text, sizeof(text), "'%.*s': %llu of %llu texts are numbers%s, as %s'%.*s'",
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, col))),
	         (unsigned long long)r->number[comma], (unsigned long long)r->values,
	         comma ? " with decimal commas" : "", dtx_search_at(s, col, r->row).text,
	         DTX_SHOWN(r->example));
	dtx_suggest_add(s, step, NULL, text);
}

static void suggest_date(struct dtx_search *s, uint32_t col, const struct reading *r)
{
	static const char *const order[] = { "dmy", "mdy", "ymd" };
	size_t best = r->date[0] >= r->date[1] ? 0 : 1;
	bool decided;
	char text[320], why[120];
	json_t *step = NULL;

	best = r->date[2] >= r->date[best] ? 2 : best;
	decided = best == 2 || r->first_over || r->second_over || r->date[0] != r->date[1];
	if (best == 2)
		snprintf(why, sizeof(why), "the year comes first");
	else if (decided)
		snprintf(why, sizeof(why), "the first part is over 12 in %llu, the second in %llu",
		         (unsigned long long)r->first_over, (unsigned long long)r->second_over);
	else
		snprintf(why, sizeof(why),
		         "dmy and mdy fit equally well: choose with \"order\" of parse_date");
	snprintf(text, sizeof(text), "'%.*s': %llu of %llu texts are dates, as %s'%.*s'; %s",
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, col))), (unsigned long long)r->date[best],
	         (unsigned long long)r->values, dtx_search_at(s, col, r->row).text,
	         DTX_SHOWN(r->example), why);
	if (decided) {
		step = json_pack("{s:s, s:[s], s:s}", "op", "parse_date", "cols",
		                 dtx_search_name(s, col), "order", order[best]);
		if (r->timed)
			s->failed |= !dtx_json_set(step, "type", json_string("datetime"));
	}
	dtx_suggest_add(s, step, NULL, text);
}

/* Whether there are plain numbers or dates, apart from words that mean "missing". */
static bool has_values(const struct dtx_search *s, uint32_t col, const struct reading *r)
{
	const struct dtx_infer *f = &s->p->col[col];

	return r->missing && f->texts <= r->missing &&
	       f->ints + f->floats + f->dates + f->datetimes;
}

/* Whether another column has the word among its texts, so that it may be a value: "NA" is a
 * country. */
static bool is_text_elsewhere(const struct dtx_search *s, struct dtx_str word)
{
	struct reading r;
	uint32_t i;
	size_t k;

	for (i = 0; i < s->p->schema->nfields; i++) {
		const struct dtx_colstat *c = &s->p->stat[i];

		for (k = 0; k < c->nvalues && !dtx_str_eq(c->value[k].text, word); k++)
			;
		if (k == c->nvalues && !(c->many && dtx_search_text(s, i)))
			continue;
		read_column(c, &r);
		if (!has_values(s, i, &r))
			return true;
	}
	return false;
}

static void suggest_null(struct dtx_search *s, uint32_t col, const struct reading *r, json_t *words)
{
	size_t i;

	if (!has_values(s, col, r) || is_text_elsewhere(s, r->word))
		return;
	for (i = 0; i < json_array_size(words); i++) {
		if (dtx_str_is(r->word, json_string_value(json_array_get(words, i))))
			return;
	}
	json_array_append_new(words, json_stringn(r->word.ptr, r->word.len));
}

/* Whether a column with decimal commas shows that 1.200 of another column, read as 1.2, is 1200. If
 * so, the marks are proposed for all of the input. */
static bool suggest_marks(struct dtx_search *s)
{
	uint32_t n = s->p->schema->nfields, commas = n, grouped = n;
	char text[320];

	for (uint32_t i = n; s->csv && i-- > 0;) {
		if (dtx_infer_has_commas(&s->p->col[i]))
			commas = i;
		if (dtx_infer_may_group(&s->p->col[i]) &&
		    dtx_type_is_number(dtx_profile_type(s->p, i).type))
			grouped = i;
	}
	if (commas == n || grouped == n)
		return false;
	snprintf(text, sizeof(text),
	         "'%.*s' has decimal commas, so '%s' of '%.*s' is a whole number in groups of "
	         "three digits",
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, commas))), s->p->col[grouped].grouped_text,
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, grouped))));
	dtx_suggest_add(s, NULL,
	                json_pack("{s:{s:s, s:s}}", "dialect", "decimal", ",", "group", "."), text);
	return true;
}

void dtx_suggest_values(struct dtx_search *s)
{
	json_t *words = json_array();
	struct dtx_buf b = DTX_BUF_INIT(4096);
	struct reading r;
	bool commas = false, marks = suggest_marks(s);
	uint32_t i;

	for (i = 0; i < s->p->schema->nfields; i++) {
		if (!dtx_search_text(s, i))
			continue;
		read_column(&s->p->stat[i], &r);
		suggest_null(s, i, &r, words);
		commas |= r.values && r.number[1] == r.values && r.number[0] < r.values;
	}
	if (json_array_size(words)) {
		for (size_t k = 0; k < json_array_size(words); k++)
			dtx_buf_printf(&b, "%s'%s'", k ? ", " : "",
			               json_string_value(json_array_get(words, k)));
		dtx_buf_printf(&b, " %s among numbers or dates",
		               json_array_size(words) == 1 ? "is" : "are");
		dtx_suggest_add(s, NULL, json_pack("{s:O}", "null_values", words),
		                dtx_buf_text(&b));
	}
	for (i = 0; i < s->p->schema->nfields; i++) {
		const struct dtx_infer *f = &s->p->col[i];

		if (!dtx_search_text(s, i) || s->p->stat[i].many)
			continue;
		read_column(&s->p->stat[i], &r);
		if (!r.values || f->texts <= r.missing || is_code(&r) ||
		    (marks && f->comma_texts == f->texts - r.missing))
			continue;
		if (DTX_MAX(r.number[0], r.number[1]) == r.values) {
			if (are_lossless(&r) && !is_doubtful(&r, commas))
				suggest_number(s, i, &r);
		} else if (r.dated == r.values &&
		           DTX_MAX(DTX_MAX(r.date[0], r.date[1]), r.date[2]) == r.values) {
			suggest_date(s, i, &r);
		}
	}
	json_decref(words);
	dtx_buf_clear(&b);
}
