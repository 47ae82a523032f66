/* Finds families of sliding headers, see column_family.h. */
#include "core/fallback/prompt/column_family.h"

#include <ctype.h>

#include "core/base/memory/mem.h"
#include "core/fallback/fingerprint.h"

/* --- period tokens --- */

/* The shapes of periods, the most specific first. 9: a digit; Y: a year from 1900 to 2199; M:
 * month 01-12; D: day 01-31; W: week 01-53; Q: quarter 1-4; B: English month name of three
 * letters; any other character stands for itself. */
static const struct {
	const char *name, *shape;
} family_tokens[] = {
	{ "yyyy-mm-dd", "Y-M-D" }, { "yyyy-Www", "Y-\001W" }, { "yyyy-Qq", "Y-\002Q" },
	{ "yyyy-mm", "Y-M" },      { "Qq yyyy", "\002Q Y" },  { "Mon yyyy", "B Y" },
	{ "Mon-yy", "B-99" },      { "Www", "\001W" },        { "yyyy", "Y" },
};

static int family_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : -1;
}

/* Reads n digits at `at`; -1 if there are others. */
static int family_number(struct dtx_str s, size_t at, size_t n)
{
	int v = 0;
	size_t i;

	if (at + n > s.len)
		return -1;
	for (i = 0; i < n; i++) {
		if (family_digit(s.ptr[at + i]) < 0)
			return -1;
		v = v * 10 + family_digit(s.ptr[at + i]);
	}
	return v;
}

static bool family_month_name(struct dtx_str s, size_t at)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	size_t i;

	if (at + 3 > s.len)
		return false;
	for (i = 0; i < 36; i += 3) {
		if (!memcmp(names + i, s.ptr + at, 3))
			return true;
	}
	return false;
}

static bool family_between(int v, int low, int high)
{
	return v >= low && v <= high;
}

/* The number of bytes that match one letter of a shape, or 0. */
static size_t family_letter(char letter, struct dtx_str s, size_t at)
{
	switch (letter) {
	case 'Y': return family_between(family_number(s, at, 4), 1900, 2199) ? 4 : 0;
	case 'M': return family_between(family_number(s, at, 2), 1, 12) ? 2 : 0;
	case 'D': return family_between(family_number(s, at, 2), 1, 31) ? 2 : 0;
	case 'W': return family_between(family_number(s, at, 2), 1, 53) ? 2 : 0;
	case 'Q': return family_between(family_number(s, at, 1), 1, 4) ? 1 : 0;
	case 'B': return family_month_name(s, at) ? 3 : 0;
	case '9': return family_number(s, at, 1) >= 0 ? 1 : 0;
	case '\001': return at < s.len && s.ptr[at] == 'W' ? 1 : 0;
	case '\002': return at < s.len && s.ptr[at] == 'Q' ? 1 : 0;
	default: return at < s.len && s.ptr[at] == letter ? 1 : 0;
	}
}

static bool family_wordish(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The length of the shape at `at`, if no letter or digit is next to it; otherwise 0. */
static size_t family_shape(const char *shape, struct dtx_str s, size_t at)
{
	size_t pos = at;

	if (at && family_wordish(s.ptr[at - 1]))
		return 0;
	for (; *shape; shape++) {
		size_t n = family_letter(*shape, s, pos);

		if (!n)
			return 0;
		pos += n;
	}
	return pos < s.len && family_wordish(s.ptr[pos]) ? 0 : pos - at;
}

const char *dtx_column_family_token(struct dtx_str name, size_t *off, size_t *len)
{
	size_t k, at;

	for (k = 0; k < DTX_COUNT(family_tokens); k++) {
		for (at = 0; at < name.len; at++) {
			size_t n = family_shape(family_tokens[k].shape, name, at);

			if (!n)
				continue;
			*off = at;
			*len = n;
			return family_tokens[k].name;
		}
	}
	return NULL;
}

/* --- families --- */

static bool family_pattern(struct dtx_str name, struct dtx_buf *out)
{
	size_t off = 0, len = 0;
	const char *token = dtx_column_family_token(name, &off, &len);

	dtx_buf_reset(out);
	if (!token)
		return false;
	dtx_buf_addn(out, name.ptr, off);
	dtx_buf_printf(out, "{%s}", token);
	dtx_buf_addn(out, name.ptr + off + len, name.len - off - len);
	return true;
}

static bool family_allowed(const json_t *patterns, const char *pattern)
{
	json_t *p;
	size_t i;

	if (!patterns || json_is_null(patterns))
		return true;
	json_array_foreach(patterns, i, p)
	{
		if (json_string_value(p) && !strcmp(json_string_value(p), pattern))
			return true;
	}
	return false;
}

/* Finds the family of a pattern and class. A column without values fits every class. */
static size_t family_find(const struct dtx_families *f, const char *pattern, const char *klass)
{
	bool any = !strcmp(klass, "any");
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (!strcmp(f->family[i].pattern, pattern) &&
		    (any || !strcmp(f->family[i].klass, klass)))
			break;
	}
	return i;
}

static enum dtx_code family_join(struct dtx_families *f, size_t column, const char *pattern,
                                 const char *klass, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i = family_find(f, pattern, klass);

	if (i == f->n) {
		if (!dtx_mem_reserve(&f->family, &f->cap, f->n + 1, sizeof(*f->family)))
			DTX_FAIL_MEM(err);
		f->family[i] = (struct dtx_column_family){ dtx_mem_strdup(pattern), klass, 0 };
		if (!f->family[i].pattern)
			DTX_FAIL_MEM(err);
		f->n++;
	}
	f->family[i].n++;
	f->of[column] = (int32_t)i;
out:
	return rc;
}

/* Adds columns to their families: those with values, or in a second pass those without. */
static enum dtx_code family_pass(const struct dtx_schema *s, const json_t *patterns, bool any,
                                 struct dtx_families *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf pattern = DTX_BUF_INIT((size_t)1 << 20);
	size_t i;

	for (i = 0; i < s->nfields; i++) {
		const char *klass = dtx_fingerprint_class(s->field[i].type.type);

		if (any != !strcmp(klass, "any") ||
		    !family_pattern(dtx_str_of(s->field[i].name), &pattern))
			continue;
		DTX_TRY(dtx_buf_check(&pattern, "header", err));
		if (family_allowed(patterns, dtx_buf_text(&pattern)))
			DTX_TRY(family_join(f, i, dtx_buf_text(&pattern), klass, err));
	}
out:
	dtx_buf_clear(&pattern);
	return rc;
}

/* Drops families that are too small. The others keep their order. */
static void family_prune(struct dtx_families *f, size_t columns)
{
	size_t kept = 0, i, k;

	for (i = 0; i < f->n; i++) {
		bool keep = f->family[i].n >= DTX_COLUMN_FAMILY_MIN;

		for (k = 0; k < columns; k++) {
			if (f->of[k] == (int32_t)i)
				f->of[k] = keep ? (int32_t)kept : -1;
		}
		if (keep)
			f->family[kept++] = f->family[i];
		else
			dtx_mem_free(f->family[i].pattern);
	}
	f->n = kept;
}

enum dtx_code dtx_families_find(const struct dtx_schema *s, const json_t *patterns,
                                struct dtx_families *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_families f = DTX_FAMILIES_INIT;
	size_t i;

	f.of = dtx_mem_alloc(s->nfields, sizeof(*f.of));
	if (!f.of)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->nfields; i++)
		f.of[i] = -1;
	DTX_TRY(family_pass(s, patterns, false, &f, err));
	DTX_TRY(family_pass(s, patterns, true, &f, err));
	family_prune(&f, s->nfields);
	*out = f;
	f = (struct dtx_families)DTX_FAMILIES_INIT;
out:
	dtx_families_clear(&f);
	return rc;
}

void dtx_families_clear(struct dtx_families *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		dtx_mem_free(f->family[i].pattern);
	dtx_mem_free(f->family);
	dtx_mem_free(f->of);
	*f = (struct dtx_families)DTX_FAMILIES_INIT;
}
