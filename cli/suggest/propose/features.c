#include "cli/suggest/propose/features.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/time/time.h"
#include "ops/kit/text/datetext.h"
#include "ops/kit/text/numtext.h"

/* --- one cell --- */

bool dtx_cell_blank(const char *text)
{
	static const char *const words[] = {
		"n/a", "na", "nan", "null",   "none",   "nil", "-",
		"--",  "..", "...", "\u2013", "\u2014", "?",   "#n/a"
	};
	struct dtx_str t = text ? dtx_utf8_trim(dtx_str_of(text)) : (struct dtx_str){ "", 0 };
	size_t i;

	if (t.len > 4)
		return false;
	for (i = 0; t.len && i < DTX_COUNT(words); i++) {
		if (dtx_str_ieq(t, dtx_str_of(words[i])))
			return true;
	}
	return !t.len;
}

bool dtx_cell_weekday(struct dtx_str t)
{
	static const char *const names[] = { "monday", "tuesday",  "wednesday", "thursday",
		                             "friday", "saturday", "sunday" };
	size_t i;

	if (t.len && t.ptr[t.len - 1] == '.')
		t.len--;
	for (i = 0; i < DTX_COUNT(names); i++) {
		struct dtx_str full = dtx_str_of(names[i]);

		if (dtx_str_ieq(t, full) ||
		    (t.len == full.len + 1 && (t.ptr[full.len] | 32) == 's' &&
		     dtx_str_ieq((struct dtx_str){ t.ptr, full.len }, full)) ||
		    (t.len >= 3 && t.len <= 4 &&
		     dtx_str_ieq(t, (struct dtx_str){ full.ptr, t.len })))
			return true;
	}
	return false;
}

bool dtx_cell_month(struct dtx_str t)
{
	if (t.len && t.ptr[t.len - 1] == '.')
		t.len--;
	return dtx_datetext_month(t) || dtx_str_ieq(t, DTX_STR("sept"));
}

/* Whether it is a month, weekday or quarter. */
static bool is_month(struct dtx_str t)
{
	if (t.len == 2 && (t.ptr[0] | 32) == 'q')
		return t.ptr[1] >= '1' && t.ptr[1] <= '4';
	return dtx_cell_month(t) || dtx_cell_weekday(t);
}

static bool is_time(struct dtx_str t)
{
	size_t i, colons = 0, digits = 0;

	for (i = 0; i < t.len; i++) {
		colons += t.ptr[i] == ':';
		digits += isdigit((unsigned char)t.ptr[i]) != 0;
		if (!strchr("0123456789:. apmAPM", t.ptr[i]))
			return false;
	}
	return colons && digits >= 3 && isdigit((unsigned char)t.ptr[0]);
}

static bool is_date(struct dtx_str t)
{
	struct dtx_datetext d;
	size_t i, digits = 0, others = 0;

	for (i = 0; i < t.len; i++) {
		digits += isdigit((unsigned char)t.ptr[i]) != 0;
		others += !isdigit((unsigned char)t.ptr[i]);
	}
	if (digits < 3 || !others || t.len > 40)
		return false;
	if (t.len == 7 && digits == 6 && t.ptr[4] == '-')
		return true;
	return dtx_datetext_parse(t, DTX_ORDER_YMD, 1969, &d) ||
	       dtx_datetext_parse(t, DTX_ORDER_DMY, 1969, &d) ||
	       dtx_datetext_parse(t, DTX_ORDER_MDY, 1969, &d);
}

enum dtx_cell_kind dtx_cell_kind(const char *text, double *number)
{
	static const struct dtx_numtext_rules rules = DTX_NUMTEXT_PLAIN;
	struct dtx_str t = text ? dtx_utf8_trim(dtx_str_of(text)) : (struct dtx_str){ "", 0 };
	char plain[DTX_NUMTEXT_MAX];
	size_t len, i, digits = 0, letters = 0, lower = 0, spaces = 0, others = 0;
	unsigned places;

	*number = 0;
	if (dtx_cell_blank(text))
		return DTX_LOOKS_BLANK;
	if (t.len < 64 && dtx_numtext(t, &rules, plain, &len, &places)) {
		*number = strtod(plain, NULL);
		if (memchr(t.ptr, '%', t.len))
			return DTX_LOOKS_PERCENT;
		for (i = 0; i < t.len; i++) {
			if (!strchr("0123456789.,+-() eE'", t.ptr[i]))
				return DTX_LOOKS_CURRENCY;
		}
		return DTX_LOOKS_NUMBER;
	}
	for (i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.ptr[i];

		digits += isdigit(c) != 0;
		letters += isalpha(c) || c >= 0x80;
		lower += islower(c) || c >= 0x80;
		spaces += isspace(c) != 0;
		others += c < 0x80 && !isalnum(c) && !isspace(c);
	}
	if (is_month(t))
		return DTX_LOOKS_MONTH;
	if (digits && is_time(t))
		return DTX_LOOKS_TIME;
	if (digits && is_date(t))
		return DTX_LOOKS_DATE;
	if (dtx_str_ieq(t, DTX_STR("true")) || dtx_str_ieq(t, DTX_STR("false")) ||
	    dtx_str_ieq(t, DTX_STR("yes")) || dtx_str_ieq(t, DTX_STR("no")))
		return DTX_LOOKS_BOOL;
	if (dtx_str_find(t, DTX_STR("://"), 0) > 0 || dtx_str_starts(t, DTX_STR("www.")))
		return DTX_LOOKS_URL;
	if (digits && letters && !spaces && !lower && t.len <= 20)
		return DTX_LOOKS_CODE;
	if (digits && letters && isdigit((unsigned char)t.ptr[0]) && t.len <= 24)
		return DTX_LOOKS_MIXED;
	return !spaces && !digits && others <= 1 && t.len <= 24 ? DTX_LOOKS_WORD : DTX_LOOKS_TEXT;
}

uint64_t dtx_cell_hash(struct dtx_str text)
{
	struct dtx_str t = dtx_utf8_trim(text);
	char fold[128];
	size_t i, n = 0;

	for (i = 0; i < t.len && n < sizeof(fold); i++) {
		if (!isspace((unsigned char)t.ptr[i]))
			fold[n++] = (char)tolower((unsigned char)t.ptr[i]);
	}
	return dtx_hash64(fold, n, t.len > sizeof(fold) ? t.len : 0);
}

uint64_t dtx_cell_shape(struct dtx_str text)
{
	struct dtx_str t = dtx_utf8_trim(text);
	char shape[64];
	size_t i, n = 0;

	for (i = 0; i < t.len && n < sizeof(shape); i++) {
		unsigned char c = (unsigned char)t.ptr[i];
		char s = isdigit(c) ? '9' : isalpha(c) || c >= 0x80 ? 'a' : (char)c;

		if (!n || shape[n - 1] != s)
			shape[n++] = s;
	}
	return dtx_hash64(shape, n, 0);
}

/* --- a column --- */

bool dtx_kind_is_number(enum dtx_cell_kind k)
{
	return k == DTX_LOOKS_NUMBER || k == DTX_LOOKS_PERCENT || k == DTX_LOOKS_CURRENCY;
}

static int hash_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int number_order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool hashset_make(struct dtx_hashset *s, uint64_t *hash, uint32_t n, struct dtx_arena *arena)
{
	uint32_t i;

	qsort(hash, n, sizeof(*hash), hash_order);
	s->hash = dtx_arena_alloc(arena, (size_t)n + 1, sizeof(*hash));
	s->n = 0;
	for (i = 0; s->hash && i < n; i++) {
		if (!i || hash[i] != hash[i - 1])
			s->hash[s->n++] = hash[i];
	}
	return s->hash != NULL;
}

double dtx_hashset_overlap(const struct dtx_hashset *a, const struct dtx_hashset *b)
{
	uint32_t i = 0, k = 0, both = 0;

	while (i < a->n && k < b->n) {
		both += a->hash[i] == b->hash[k];
		if (a->hash[i] < b->hash[k])
			i++;
		else
			k++;
	}
	return both ? (double)both / DTX_MIN(a->n, b->n) : 0;
}

static void feature_numbers(struct dtx_feature *f, double *number, uint32_t n)
{
	double sum = 0, squares = 0;
	uint32_t i, logs = 0;

	for (i = 0; i < n; i++) {
		f->whole += number[i] == floor(number[i]);
		number[i] = fabs(number[i]);
		if (number[i] > 0) {
			double l = log10(number[i]);

			sum += l;
			squares += l * l;
			logs++;
		}
	}
	qsort(number, n, sizeof(*number), number_order);
	f->median = number[n / 2];
	f->whole /= n;
	if (logs > 1)
		f->spread = sqrt(DTX_MAX(0.0, squares / logs - (sum / logs) * (sum / logs)));
}

bool dtx_feature_make(struct dtx_feature *f, const struct dtx_textgrid *g, int64_t at, bool across,
                      struct dtx_arena *arena)
{
	uint64_t words[DTX_FEATURE_ROWS], shapes[DTX_FEATURE_ROWS];
	double number[DTX_FEATURE_ROWS], value;
	int64_t n = across ? (int64_t)g->ncols - 1 : g->nrows, i;
	uint32_t numbers = 0, k;

	*f = (struct dtx_feature){ .rows = (uint32_t)DTX_MIN(n, DTX_FEATURE_ROWS) };
	for (i = 0; i < f->rows; i++) {
		int64_t p = n <= DTX_FEATURE_ROWS ? i : i * n / DTX_FEATURE_ROWS;
		const char *text = across ? dtx_textgrid_at(g, at, (uint32_t)p + 1)
		                          : dtx_textgrid_at(g, p, (uint32_t)at);
		enum dtx_cell_kind kind = dtx_cell_kind(text, &value);

		f->kinds[kind]++;
		if (kind == DTX_LOOKS_BLANK)
			continue;
		if (dtx_kind_is_number(kind))
			number[numbers++] = value;
		f->length += (double)strlen(text);
		words[f->filled] = dtx_cell_hash(dtx_str_of(text));
		shapes[f->filled++] = dtx_cell_shape(dtx_str_of(text));
	}
	if (!f->filled)
		return true;
	f->length /= f->filled;
	for (k = 1; k < DTX_LOOKS_KINDS; k++) {
		if (f->kinds[k] > (f->kind ? f->kinds[f->kind] : 0))
			f->kind = (enum dtx_cell_kind)k;
	}
	f->pure = (double)f->kinds[f->kind] / f->filled;
	if (numbers)
		feature_numbers(f, number, numbers);
	return !arena || (hashset_make(&f->words, words, f->filled, arena) &&
	                  hashset_make(&f->shapes, shapes, f->filled, arena));
}
