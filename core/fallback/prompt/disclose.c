/* Writes what a prompt may show of a table, see disclose.h. */
#include "core/fallback/prompt/disclose.h"

#include <ctype.h>
#include <stdio.h>

#include "core/base/hash/hash.h"
#include "core/base/strmap.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"
#include "core/fallback/fingerprint.h"

#define DISCLOSE_PATTERN 24    /* the longest pattern of a text */
#define DISCLOSE_CELLS   5     /* so many cells must share it at least */
#define DISCLOSE_LOOK    65536 /* cells in which distinct values are counted */
#define DISCLOSE_FEW     20
#define DISCLOSE_ROWS    3
#define DISCLOSE_COLUMNS 16384

static const char *const sample_names[] = { "none",   "synthetic", "masked", "rows:1",
	                                    "rows:2", "rows:3",    "rows:4", "rows:5" };

enum dtx_code dtx_sample_parse(const char *text, enum dtx_sample *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	*out = DTX_SAMPLE_SYNTHETIC;
	if (!text)
		goto out;
	for (i = 0; i < DTX_COUNT(sample_names); i++) {
		*out = (enum dtx_sample)i;
		if (!strcmp(text, sample_names[i]))
			goto out;
	}
	*out = DTX_SAMPLE_SYNTHETIC;
	DTX_FAIL(err, DTX_E_USAGE,
	         "--sample '%s': expected none, synthetic, masked or rows:1 to rows:5", text);
out:
	return rc;
}

const char *dtx_sample_name(enum dtx_sample sample)
{
	return sample_names[sample];
}

/* --- names --- */

/* Writes a JSON string, cut at a whole character, in which characters are escaped that would
 * change how the text around them is shown. */
void dtx_disclose_name(struct dtx_buf *out, const char *name)
{
	char cut[DTX_DISCLOSE_NAME + 1], bytes[4];
	size_t pos = 0, len;

	dtx_str_copy(cut, sizeof(cut), dtx_str_of(name));
	len = strlen(cut);
	dtx_buf_addc(out, '"');
	while (pos < len) {
		uint32_t cp = dtx_utf8_next(cut, len, &pos);

		if (cp == '"' || cp == '\\')
			dtx_buf_printf(out, "\\%c", (char)cp);
		else if (dtx_utf8_hides(cp) && cp > 0xffff)
			dtx_buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10),
			               0xdc00 + (cp & 0x3ff));
		else if (dtx_utf8_hides(cp))
			dtx_buf_printf(out, "\\u%04x", cp);
		else
			dtx_buf_addn(out, bytes, dtx_utf8_put(bytes, cp));
	}
	dtx_buf_addc(out, '"');
}

/* --- patterns --- */

static char disclose_class(uint32_t cp)
{
	if (cp >= '0' && cp <= '9')
		return '9';
	if (cp >= 'A' && cp <= 'Z')
		return 'A';
	if ((cp >= 'a' && cp <= 'z') || cp >= 0x80)
		return 'a';
	return cp >= 0x20 && cp < 0x7f ? (char)cp : '?';
}

/* The pattern of a text: each run of letters or digits becomes one A, a or 9. It is "" if it
 * would be too long, or if the text has punctuation only, so that the pattern would be the text
 * itself. */
static void disclose_pattern(struct dtx_str s, char out[DISCLOSE_PATTERN + 1])
{
	size_t pos = 0, n = 0;

	while (pos < s.len) {
		char c = disclose_class(dtx_utf8_next(s.ptr, s.len, &pos));

		if (n && out[n - 1] == c && strchr("Aa9", c))
			continue;
		if (n == DISCLOSE_PATTERN) {
			n = 0;
			break;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	if (!strpbrk(out, "Aa9"))
		out[0] = '\0';
}

/* --- statistics of one column --- */

struct disclose_col {
	bool nullable;
	int64_t cells, looked;  /* without nulls */
	struct dtx_strmap seen; /* distinct values of the first DISCLOSE_LOOK cells */
	/* first the candidate, then the shared pattern, or "" */
	char pattern[DISCLOSE_PATTERN + 1];
	int64_t votes, shared;
	bool count; /* in the second pass */
	struct dtx_buf text;
};

static enum dtx_code disclose_cell(struct disclose_col *c, bool text, struct dtx_str s,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char pattern[DISCLOSE_PATTERN + 1] = "";
	uint32_t found;

	if (text)
		disclose_pattern(s, pattern);
	if (c->count) {
		c->shared += !strcmp(pattern, c->pattern);
		goto out;
	}
	c->cells++;
	if (!c->votes)
		memcpy(c->pattern, pattern, sizeof(pattern));
	c->votes += strcmp(pattern, c->pattern) ? -1 : 1;
	if (c->looked < DISCLOSE_LOOK) {
		c->looked++;
		if (!dtx_strmap_put(&c->seen, s, 0, &found))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code disclose_pass(struct disclose_col *c, const struct dtx_table *t,
                                   uint32_t column, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool text = t->schema->field[column].type.type == DTX_T_TEXT;
	size_t b;
	uint32_t i;

	for (b = 0; b < t->nbatches; b++) {
		const struct dtx_batch *batch = t->batch[b];
		const struct dtx_column *col = batch->col[column];

		for (i = 0; i < batch->nsel; i++) {
			uint32_t row = batch->sel ? batch->sel[i] : i;

			if (!col || dtx_column_is_null(col, row)) {
				c->nullable = true;
				continue;
			}
			dtx_buf_reset(&c->text);
			dtx_cast_print(col, row, &c->text);
			DTX_TRY(dtx_buf_check(&c->text, "cell", err));
			DTX_TRY(disclose_cell(c, text, dtx_buf_str(&c->text), err));
		}
	}
out:
	return rc;
}

/* A pattern is shown if 90 % of the cells, and at least 5, share it. The first pass finds the
 * only candidate by majority vote (Boyer and Moore, MJRTY, 1981), the second counts it. */
static enum dtx_code disclose_look(struct disclose_col *c, const struct dtx_table *t,
                                   uint32_t column, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(disclose_pass(c, t, column, err));
	c->count = true;
	if (c->pattern[0])
		DTX_TRY(disclose_pass(c, t, column, err));
	if (c->shared < DISCLOSE_CELLS || c->shared * 10 < c->cells * 9)
		c->pattern[0] = '\0';
out:
	return rc;
}

static const char *disclose_distinct(const struct disclose_col *c)
{
	int64_t n = (int64_t)c->seen.n;

	if (n == c->looked && n > 1)
		return "unique";
	return n <= DISCLOSE_FEW ? "few" : "many";
}

/* --- made-up values --- */

static uint64_t disclose_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void disclose_made_text(struct dtx_buf *out, const char *pattern, uint64_t *state)
{
	static const char *const words[] = { "alpha", "bravo", "delta", "echo", "golf", "hotel" };
	static const char sets[] = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
	struct dtx_buf text = DTX_BUF_INIT(256);

	if (!pattern[0])
		dtx_buf_add(&text, words[disclose_random(state) % DTX_COUNT(words)]);
	for (; *pattern; pattern++) {
		size_t base = *pattern == 'A' ? 0 : *pattern == 'a' ? 24 : 49;
		size_t n = *pattern == 'A' ? 24 : *pattern == 'a' ? 25 : 10, k;
		size_t run = strchr("Aa9", *pattern) ? 1 + disclose_random(state) % 4 : 0;

		if (!run)
			dtx_buf_addc(&text, *pattern);
		for (k = 0; k < run; k++)
			dtx_buf_addc(&text, sets[base + disclose_random(state) % n]);
	}
	dtx_buf_json(out, dtx_buf_str(&text));
	dtx_buf_clear(&text);
}

static void disclose_made_value(struct dtx_buf *out, enum dtx_type type, const char *pattern,
                                uint64_t *state)
{
	uint64_t r = disclose_random(state);
	char text[40];

	switch (type) {
	case DTX_T_BOOL: dtx_buf_add(out, r & 1 ? "true" : "false"); break;
	case DTX_T_INT64: dtx_buf_printf(out, "%d", (int)(r % 900) + 1); break;
	case DTX_T_FLOAT64:
	case DTX_T_DECIMAL:
		dtx_buf_printf(out, "%d.%d", (int)(r % 900) + 1, (int)(r >> 32) % 9 + 1);
		break;
	case DTX_T_DATE:
		dtx_day_print(text, 19723 + (int32_t)(r % 366));
		dtx_buf_printf(out, "\"%s\"", text);
		break;
	case DTX_T_DATETIME:
		dtx_datetime_print(text, (19723 + (int64_t)(r % 366)) * DTX_DAY_US +
		                                 (int64_t)(r >> 40) % 86400 * 1000000);
		dtx_buf_printf(out, "\"%s\"", text);
		break;
	case DTX_T_TEXT: disclose_made_text(out, pattern, state); break;
	default: dtx_buf_add(out, "null");
	}
}

/* --- the table --- */

/* Chooses the columns to show, at most DTX_DISCLOSE_COLS: the wanted ones first, then the others
 * in order. */
static size_t disclose_choose(const struct dtx_schema *s, const struct dtx_disclose_spec *spec,
                              uint32_t col[DTX_DISCLOSE_COLS])
{
	bool first[DISCLOSE_COLUMNS] = { false };
	size_t n = 0, i;
	uint32_t k;

	for (k = 0; k < s->nfields && k < DTX_COUNT(first); k++)
		first[k] = dtx_disclose_denied(spec->deny, spec->ndeny, s->field[k].name);
	if (s->nfields > DTX_DISCLOSE_COLS) {
		for (i = 0; i < spec->nfirst && n < DTX_DISCLOSE_COLS; i++) {
			int32_t at = dtx_schema_find(s, spec->first[i]);

			if (at < 0 || (size_t)at >= DTX_COUNT(first) || first[at])
				continue;
			first[at] = true;
			col[n++] = (uint32_t)at;
		}
	}
	for (k = 0; k < s->nfields && n < DTX_DISCLOSE_COLS; k++) {
		if (k < DTX_COUNT(first) && !first[k])
			col[n++] = k;
	}
	return n;
}

/* Writes the power of ten around a count: 0, "1-9", "10-99" and so on. */
void dtx_disclose_bucket(struct dtx_buf *out, int64_t rows)
{
	int64_t low = 1;

	if (!rows) {
		dtx_buf_add(out, "\"0\"");
		return;
	}
	while (low <= rows / 10)
		low *= 10;
	dtx_buf_printf(out, "\"%lld-%lld\"", (long long)low, (long long)(low * 10 - 1));
}

static enum dtx_code disclose_column(struct dtx_buf *out, const struct dtx_table *t,
                                     uint32_t column, const struct disclose_col *c,
                                     enum dtx_sample sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_field *f = &t->schema->field[column];

	dtx_buf_addc(out, '{');
	if (sample != DTX_SAMPLE_NONE)
		dtx_buf_printf(out, "\"distinct\":\"%s\",", disclose_distinct(c));
	if (sample >= DTX_SAMPLE_ROWS_1)
		DTX_TRY(dtx_disclose_frequent(t, column, out, err));
	dtx_buf_add(out, "\"name\":");
	dtx_disclose_name(out, f->name);
	if (sample != DTX_SAMPLE_NONE) {
		dtx_buf_printf(out, ",\"nullable\":%s", c->nullable ? "true" : "false");
		if (c->pattern[0]) {
			dtx_buf_add(out, ",\"pattern\":");
			dtx_buf_json(out, dtx_str_of(c->pattern));
		}
	}
	dtx_buf_add(out, ",\"type\":\"");
	dtx_buf_add(out, sample == DTX_SAMPLE_NONE ? dtx_fingerprint_class(f->type.type)
	                                           : dtx_type_name(f->type.type));
	dtx_buf_add(out, "\"}\n");
out:
	return rc;
}

/* The patterns of the chosen columns, from which rows are made up. */
struct disclose_state {
	uint32_t col[DTX_DISCLOSE_COLS];
	char pattern[DTX_DISCLOSE_COLS][DISCLOSE_PATTERN + 1];
	size_t n;
};

static enum dtx_code disclose_columns(struct disclose_state *st, const struct dtx_table *t,
                                      const struct dtx_disclose_spec *spec, struct dtx_buf *out,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < st->n; i++) {
		struct disclose_col c = { .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };

		if (spec->sample != DTX_SAMPLE_NONE)
			rc = disclose_look(&c, t, st->col[i], err);
		if (rc == DTX_OK)
			rc = disclose_column(out, t, st->col[i], &c, spec->sample, err);
		memcpy(st->pattern[i], c.pattern, sizeof(c.pattern));
		dtx_strmap_clear(&c.seen);
		dtx_buf_clear(&c.text);
		if (rc != DTX_OK)
			break;
	}
	return rc;
}

static void disclose_rows(const struct disclose_state *st, const struct dtx_table *t,
                          const char *alias, const char *seed, struct dtx_buf *out)
{
	uint64_t state = dtx_hash64(seed ? seed : "", seed ? strlen(seed) : 0, 1);
	size_t row, i;

	state ^= dtx_hash64(alias, strlen(alias), 2);
	for (row = 0; row < DISCLOSE_ROWS; row++) {
		dtx_buf_add(out, "{\"made_up_row\":[");
		for (i = 0; i < st->n; i++) {
			if (i)
				dtx_buf_addc(out, ',');
			disclose_made_value(out, t->schema->field[st->col[i]].type.type,
			                    st->pattern[i], &state);
		}
		dtx_buf_add(out, "]}\n");
	}
}

enum dtx_code dtx_disclose_table(const char *alias, struct dtx_table *t,
                                 const struct dtx_disclose_spec *spec, struct dtx_buf *out,
                                 struct dtx_disclosed *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct disclose_state st;

	st.n = disclose_choose(t->schema, spec, st.col);
	dtx_buf_add(out, "{\"rows\":");
	dtx_disclose_bucket(out, t->nrows);
	dtx_buf_add(out, ",\"table\":");
	dtx_disclose_name(out, alias);
	dtx_buf_add(out, "}\n");
	DTX_TRY(disclose_columns(&st, t, spec, out, err));
	if (st.n < t->schema->nfields)
		dtx_buf_printf(out, "{\"more_columns\":%zu}\n", t->schema->nfields - st.n);
	if (spec->sample == DTX_SAMPLE_SYNTHETIC)
		disclose_rows(&st, t, alias, spec->seed, out);
	else if (spec->sample != DTX_SAMPLE_NONE)
		DTX_TRY(dtx_disclose_real(t, spec->sample, st.col, st.n, out, count, err));
	count->cols += (int64_t)st.n;
	DTX_TRY(dtx_buf_check(out, "prompt", err));
out:
	return rc;
}
