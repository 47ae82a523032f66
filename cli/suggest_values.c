/* Texts that are numbers or dates: every value is read by each rule. */
#include <stdio.h>

#include "cli/suggest_rules.h"
#include "core/base/utf8.h"
#include "ops/datetext.h"
#include "ops/numtext.h"

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
struct reading { /* how the values of a column read */
	uint64_t values, missing, number[MARKS], date[3], dated;
	uint64_t zeros;           /* 007 */
	uint64_t digits;          /* nothing but digits */
	uint64_t fraction[MARKS]; /* numbers that are not whole */
	size_t shortest, longest;
	uint64_t first_over, second_over; /* dates whose first or second part is over 12 */
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

static void read_value(const struct dtx_colstat_value *v, struct reading *r)
{
	char plain[DTX_NUMTEXT_MAX];
	struct dtx_datetext d;
	bool fits[3], any = false;
	size_t len, i;
	unsigned places;

	if (is_missing_word(v->text)) {
		r->word = r->missing ? r->word : v->text;
		r->missing += v->count;
		return;
	}
	r->values += v->count;
	r->zeros += is_digits(v->text) && v->text.len > 1 && v->text.ptr[0] == '0' ? v->count : 0;
	r->digits += is_digits(v->text) ? v->count : 0;
	r->shortest = r->values == v->count ? v->text.len : DTX_MIN(r->shortest, v->text.len);
	r->longest = DTX_MAX(r->longest, v->text.len);
	for (i = 0; i < MARKS; i++) {
		if (!dtx_numtext(v->text, &mark_rules[i], plain, &len, &places))
			continue;
		r->number[i] += v->count;
		r->fraction[i] +=
			places || memchr(plain, 'e', len) || memchr(v->text.ptr, '%', v->text.len)
				? v->count
				: 0;
	}
	for (i = 0; i < 3; i++) {
		fits[i] = dtx_datetext_parse(v->text, (enum dtx_date_order)i, 1969, &d);
		r->date[i] += fits[i] ? v->count : 0;
		any |= fits[i];
	}
	r->dated += any ? v->count : 0;
	r->first_over += fits[DTX_ORDER_DMY] && !fits[DTX_ORDER_MDY] ? v->count : 0;
	r->second_over += fits[DTX_ORDER_MDY] && !fits[DTX_ORDER_DMY] ? v->count : 0;
	if (!r->example.len) {
		r->example = v->text;
		r->row = v->row;
	}
}

static void read_column(const struct dtx_colstat *c, struct reading *r)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < c->nvalues; i++)
		read_value(&c->value[i], r);
}

/* Digits of one length are codes: accounts, postcodes. */
static bool is_code(const struct reading *r)
{
	return r->digits == r->values && r->shortest == r->longest;
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
	char text[320], why[120];

	best = r->date[2] >= r->date[best] ? 2 : best;
	if (best == 2)
		snprintf(why, sizeof(why), "the year comes first");
	else if (r->first_over || r->second_over)
		snprintf(why, sizeof(why), "the first part is over 12 in %llu, the second in %llu",
		         (unsigned long long)r->first_over, (unsigned long long)r->second_over);
	else
		snprintf(why, sizeof(why), "no part is over 12: mdy fits as well, you decide");
	snprintf(text, sizeof(text), "'%.*s': %llu of %llu texts are dates, as %s'%.*s'; %s",
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, col))), (unsigned long long)r->date[best],
	         (unsigned long long)r->values, dtx_search_at(s, col, r->row).text,
	         DTX_SHOWN(r->example), why);
	dtx_suggest_add(s,
	                json_pack("{s:s, s:[s], s:s}", "op", "parse_date", "cols",
	                          dtx_search_name(s, col), "order", order[best]),
	                NULL, text);
}

/* Plain numbers or dates, were it not for words that say "missing". */
static void suggest_null(struct dtx_search *s, uint32_t col, const struct reading *r, json_t *words)
{
	const struct dtx_infer *f = &s->p->col[col];
	size_t i;

	if (!r->missing || f->texts > r->missing ||
	    !(f->ints + f->floats + f->dates + f->datetimes))
		return;
	for (i = 0; i < json_array_size(words); i++) {
		if (dtx_str_is(r->word, json_string_value(json_array_get(words, i))))
			return;
	}
	json_array_append_new(words, json_stringn(r->word.ptr, r->word.len));
}

void dtx_suggest_values(struct dtx_search *s)
{
	json_t *words = json_array();
	struct dtx_buf b = DTX_BUF_INIT(4096);
	struct reading r;
	uint32_t i;

	for (i = 0; i < s->p->schema->nfields; i++) {
		if (!dtx_search_text(s, i))
			continue;
		read_column(&s->p->stat[i], &r);
		suggest_null(s, i, &r, words);
	}
	if (json_array_size(words)) {
		dtx_json_print(words, 0, &b);
		dtx_buf_add(&b, " stand among numbers or dates");
		dtx_suggest_add(s, NULL, json_pack("{s:O}", "null_values", words),
		                dtx_buf_text(&b));
	}
	for (i = 0; i < s->p->schema->nfields; i++) {
		const struct dtx_infer *f = &s->p->col[i];

		if (!dtx_search_text(s, i) || s->p->stat[i].many)
			continue;
		read_column(&s->p->stat[i], &r);
		if (!r.values || r.zeros || f->texts <= r.missing || is_code(&r))
			continue;
		if (DTX_MAX(r.number[0], r.number[1]) == r.values)
			suggest_number(s, i, &r);
		else if (r.dated == r.values &&
		         DTX_MAX(DTX_MAX(r.date[0], r.date[1]), r.date[2]) == r.values)
			suggest_date(s, i, &r);
	}
	json_decref(words);
	dtx_buf_clear(&b);
}
