/* Finds rows and columns that are not data, and texts to clean. Each rule counts its
 * evidence and names an example. */
#include "cli/suggest/suggest_rules.h"

#include <stdio.h>

#include "core/base/text/utf8.h"
#include "core/io/sheet/cellref.h"
#include "core/io/header/header.h"
#include "ops/reshape/totals.h"

enum { LABEL_COLS = 64 };

/* --- results --- */

void dtx_suggest_add(struct dtx_search *s, json_t *step, json_t *member, const char *finding)
{
	json_t *f = json_object();
	char *text = dtx_mem_strdup(finding);
	const char *key;
	json_t *v;

	if (text)
		dtx_text_singular(text);
	s->failed |= !f || !text || !dtx_json_set(f, "finding", json_string(text)) ||
	             (step && !dtx_json_set(f, "step", json_incref(step))) ||
	             (member && !dtx_json_set(f, "input", json_incref(member))) ||
	             json_array_append(s->out->found, f) != 0;
	if (step)
		s->failed |= json_array_append(s->out->steps, step) != 0;
	json_object_foreach(member, key, v)
	{
		s->failed |= json_object_set(s->out->input, key, v) != 0;
	}
	dtx_mem_free(text);
	json_decref(f);
	json_decref(step);
	json_decref(member);
}

/* --- words --- */

static bool is_footnote(struct dtx_str text)
{
	static const char *const marks[] = {
		"*", "\u2020", "Note:", "Notes:", "Source:", "Sources:"
	};
	struct dtx_str t = dtx_utf8_trim(text);
	size_t i;

	for (i = 0; i < DTX_COUNT(marks); i++) {
		if (t.len > strlen(marks[i]) && dtx_str_starts(t, dtx_str_of(marks[i])))
			return true;
	}
	return false;
}

static bool is_untidy(struct dtx_str text)
{
	struct dtx_str t = dtx_utf8_trim(text);

	return t.len != text.len || dtx_str_find(text, DTX_STR("  "), 0) >= 0 ||
	       dtx_str_find(text, DTX_STR("\u00a0"), 0) >= 0 ||
	       dtx_str_find(text, DTX_STR("\u200b"), 0) >= 0;
}

/* --- rows that are not data --- */

/* Counts values of text columns that a rule accepts, with the first one as example. */
struct tally {
	uint64_t n;
	struct dtx_str example;
	struct dtx_search_at at;
};

static void tally_column(const struct dtx_search *s, uint32_t col, bool (*rule)(struct dtx_str),
                         struct tally *t)
{
	const struct dtx_colstat *c = &s->p->stat[col];
	size_t i;

	for (i = 0; i < c->nvalues; i++) {
		if (!rule(c->value[i].text))
			continue;
		if (!t->n) {
			t->example = c->value[i].text;
			t->at = dtx_search_at(s, col, c->value[i].row);
		}
		t->n += c->value[i].count;
	}
}

/* Labels of totals and notes are in the first columns. */
static void tally_labels(const struct dtx_search *s, bool (*rule)(struct dtx_str), struct tally *t)
{
	uint32_t i;

	for (i = 0; i < s->p->schema->nfields && i < LABEL_COLS; i++) {
		if (dtx_search_text(s, i))
			tally_column(s, i, rule, t);
	}
}

/* The number of rows that repeat the names of most columns. */
static uint64_t repeated_headers(const struct dtx_search *s)
{
	uint64_t least = UINT64_MAX;
	uint32_t i, hits = 0, n = s->p->schema->nfields;
	size_t k;

	for (i = 0; i < n; i++) {
		const struct dtx_colstat *c = &s->p->stat[i];

		for (k = 0; k < c->nvalues && !dtx_str_is(c->value[k].text, dtx_search_name(s, i));
		     k++)
			;
		if (k == c->nvalues)
			continue;
		hits++;
		least = DTX_MIN(least, c->value[k].count);
	}
	return n > 1 && hits * 2 > n ? least : 0;
}

static void rows_to_drop(struct dtx_search *s)
{
	struct tally totals = { 0 }, notes = { 0 };
	uint64_t heads = repeated_headers(s);
	json_t *kinds = json_array();
	struct dtx_buf b = DTX_BUF_INIT(4096);

	tally_labels(s, dtx_total_label_default, &totals);
	tally_labels(s, is_footnote, &notes);
	if (heads) {
		json_array_append_new(kinds, json_string("repeated_header"));
		dtx_buf_printf(&b, "%llu rows repeat the header", (unsigned long long)heads);
	}
	if (notes.n) {
		json_array_append_new(kinds, json_string("footnotes"));
		dtx_buf_printf(&b, "%s%llu footnote%s, such as %s'%.*s'", b.len ? "; " : "",
		               (unsigned long long)notes.n, notes.n == 1 ? "" : "s", notes.at.text,
		               DTX_SHOWN(notes.example));
	}
	if (totals.n) {
		json_array_append_new(kinds, json_string("totals"));
		dtx_buf_printf(&b, "%s%llu label%s of totals, such as %s'%.*s'", b.len ? "; " : "",
		               (unsigned long long)totals.n, totals.n == 1 ? "" : "s",
		               totals.at.text, DTX_SHOWN(totals.example));
	}
	if (json_array_size(kinds))
		dtx_suggest_add(s, json_pack("{s:s, s:O}", "op", "drop_rows", "kinds", kinds), NULL,
		                dtx_buf_text(&b));
	json_decref(kinds);
	dtx_buf_clear(&b);
}

/* Whether it is a unit such as "kg", "m2", "%"; "<5" and "3 to 4" are values. */
static bool is_unit(struct dtx_str text)
{
	struct dtx_str t = dtx_utf8_trim(text);
	bool letter = false, mark = false;
	size_t i;

	for (i = 0; i < t.len; i++) {
		char c = (char)(t.ptr[i] | 32);

		letter |= (c >= 'a' && c <= 'z') || (unsigned char)t.ptr[i] >= 0x80 ||
		          strchr("%$", t.ptr[i]);
		if (!letter && t.ptr[i] >= '0' && t.ptr[i] <= '9')
			return false;
		mark |= strchr("/%$()^", t.ptr[i]) != NULL;
	}
	/* "South", "Yes" are values */
	return letter && (mark || t.len <= 4 || t.ptr[0] < 'A' || t.ptr[0] > 'Z');
}

/* Whether the first value is the only one in the column that is not a number or date. */
static bool begins_with_unit(const struct dtx_colstat *c, uint64_t rows)
{
	uint64_t values = rows - c->nulls;

	return c->nvalues > 1 && values > 2 && c->value[0].count == 1 &&
	       dtx_head_judge(c->value[0].text) == DTX_HEAD_TEXT && is_unit(c->value[0].text) &&
	       DTX_MAX(c->number.n, c->date.n) == values - 1;
}

/* Finds a row with units below the names. */
static void units_row(struct dtx_search *s)
{
	const struct dtx_colstat *c;
	char text[160];
	uint32_t i, n = 0, last = 0, texts = 0;

	for (i = 0; i < s->p->schema->nfields; i++) {
		bool unit = begins_with_unit(&s->p->stat[i], (uint64_t)s->p->rows);

		texts += dtx_search_text(s, i);
		last = unit ? i : last;
		n += unit;
	}
	if (n < 2 || n * 2 < texts)
		return;
	c = &s->p->stat[last];
	snprintf(text, sizeof(text), "the first row has units, as %s'%.*s' of '%.*s'",
	         dtx_search_at(s, last, c->value[0].row).text, DTX_SHOWN(c->value[0].text),
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, last))));
	dtx_suggest_add(s, json_pack("{s:s, s:i}", "op", "skip_rows", "head", 1), NULL, text);
}

/* --- columns --- */

static void empty_columns(struct dtx_search *s)
{
	char text[160];
	uint32_t i, n = 0, first = 0;

	for (i = 0; i < s->p->schema->nfields && s->p->rows; i++) {
		if (s->p->stat[i].nvalues)
			continue;
		first = n++ ? first : i;
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%u empty columns, as '%.*s'", n,
	         DTX_SHOWN(dtx_str_of(dtx_search_name(s, first))));
	dtx_suggest_add(s, json_pack("{s:s, s:s}", "op", "drop_empty", "axis", "cols"), NULL, text);
}

static void untidy_texts(struct dtx_search *s)
{
	json_t *cols = json_array();
	struct tally all = { 0 };
	char text[160];
	uint32_t i;

	for (i = 0; i < s->p->schema->nfields; i++) {
		uint64_t before = all.n;

		if (dtx_search_text(s, i))
			tally_column(s, i, is_untidy, &all);
		if (all.n > before)
			json_array_append_new(cols, json_string(dtx_search_name(s, i)));
	}
	if (all.n) {
		snprintf(text, sizeof(text), "%llu texts with stray or double spaces, as %s'%.*s'",
		         (unsigned long long)all.n, all.at.text, DTX_SHOWN(all.example));
		dtx_suggest_add(s, json_pack("{s:s, s:O}", "op", "clean_text", "cols", cols), NULL,
		                text);
	}
	json_decref(cols);
}

/* --- the input --- */

/* The number of rows in a sheet above its header. */
static int64_t rows_above(const json_t *describe)
{
	struct dtx_cellrange head, all;
	const char *header = json_string_value(json_object_get(describe, "header"));
	const char *range = json_string_value(json_object_get(describe, "range"));

	if (!header || !range || !dtx_cell_range_parse(dtx_str_of(header), &head) ||
	    !dtx_cell_range_parse(dtx_str_of(range), &all))
		return 0;
	return head.row0 > all.row0 ? head.row0 - all.row0 : 0;
}

/* Writes down what was found and is not the default, so that a later file is read the same way
 * or refused. */
static void pin_input(struct dtx_search *s, const json_t *describe, size_t nsheets)
{
	const char *header = json_string_value(json_object_get(describe, "header"));
	const char *encoding = json_string_value(json_object_get(describe, "encoding"));
	json_t *rows = json_object_get(describe, "header_rows"), *member = json_object();
	int64_t above = rows_above(describe);
	char text[120] = "as it was read";

	if (nsheets > 1)
		json_object_set(member, "sheet", json_object_get(describe, "sheet"));
	if (header && *header && (above || json_integer_value(rows) != 1)) {
		json_object_set(member, "header_rows", rows);
		snprintf(text, sizeof(text), "as it was read: header in %.48s", header);
	}
	if (above)
		json_object_set_new(member, "skip", json_integer(above));
	if (encoding && strcmp(encoding, "utf-8") != 0)
		json_object_set_new(member, "encoding", json_string(encoding));
	if (json_object_size(member))
		dtx_suggest_add(s, NULL, json_incref(member), text);
	json_decref(member);
}

enum dtx_code dtx_suggest(const struct dtx_profile *p, const json_t *describe, size_t nsheets,
                          struct dtx_suggestions *out, struct dtx_err *err)
{
	static void (*const rules[])(struct dtx_search *) = { units_row, empty_columns,
		                                              rows_to_drop, untidy_texts,
		                                              dtx_suggest_values };
	enum dtx_code rc = DTX_OK;
	struct dtx_search s = { .p = p,
		                .out = out,
		                .csv = json_object_get(describe, "dialect") != NULL };
	size_t i;

	*out = (struct dtx_suggestions){ .input = json_object(),
		                         .steps = json_array(),
		                         .found = json_array() };
	if (!out->input || !out->steps || !out->found)
		DTX_FAIL_MEM(err);
	pin_input(&s, describe, nsheets);
	out->reading = json_deep_copy(out->input);
	if (!out->reading)
		DTX_FAIL_MEM(err);
	for (i = 0; i < DTX_COUNT(rules); i++)
		rules[i](&s);
	if (s.failed)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_suggestions_clear(struct dtx_suggestions *s)
{
	json_decref(s->input);
	json_decref(s->steps);
	json_decref(s->reading);
	json_decref(s->reshape);
	json_decref(s->found);
	*s = (struct dtx_suggestions){ 0 };
}
