/* The way back from step_words.c: how an op, or a step of a plan, is written as words. */
#include <stdio.h>
#include <string.h>

#include "cli/pipe/step_words.h"
#include "core/plan/plan.h"

/* --- usage --- */

static const char *const usage_kind[] = {
	[DTX_P_INT] = "N",        [DTX_P_NUMBER] = "NUMBER",         [DTX_P_BOOL] = "true|false",
	[DTX_P_TEXT] = "TEXT",    [DTX_P_CHOICE] = "WORD",           [DTX_P_COLUMN] = "COLUMN",
	[DTX_P_TABLE] = "FILE",   [DTX_P_REGEX] = "REGEX",           [DTX_P_TYPE] = "TYPE",
	[DTX_P_EXPR] = "FORMULA", [DTX_P_COLUMNS] = "COLUMN,...",    [DTX_P_VALUE] = "VALUE",
	[DTX_P_LIST] = "JSON",    [DTX_P_TEXTS] = "TEXT,...",        [DTX_P_VALUES] = "VALUE,...",
	[DTX_P_FRAME] = "JSON",   [DTX_P_SETS] = "rollup|cube|JSON",
};

static void usage_value(const struct dtx_param *p, struct dtx_buf *out)
{
	struct dtx_str rest = dtx_str_of(p->choices ? p->choices : ""), word;

	if (p->kind == DTX_P_CHOICE) {
		for (int i = 0; dtx_str_next(&rest, ',', &word); i++)
			dtx_buf_printf(out, "%s%.*s", i ? "|" : "", (int)word.len, word.ptr);
	} else if (p->sugar == DTX_SUGAR_SORT) {
		dtx_buf_add(out, "[-]COLUMN,...");
	} else if (p->kind == DTX_P_LIST && p->rows && p->sugar != DTX_SUGAR_NONE &&
	           dtx_words_by_position(p)) {
		/* the keys of a group_by are columns, though their row is a name */
		dtx_buf_printf(out, "%s,...",
		               p->rows[0].kind == DTX_P_TEXT ? "COLUMN"
		                                             : usage_kind[p->rows[0].kind]);
	} else if (!strcmp(p->name, "with")) {
		dtx_buf_add(out, p->kind == DTX_P_TABLE ? "FILE" : "FILE,...");
	} else {
		dtx_buf_add(out, usage_kind[p->kind]);
	}
}

void dtx_words_usage(const struct dtx_op *op, struct dtx_buf *out)
{
	const struct dtx_param *map = dtx_words_map(op);

	dtx_buf_add(out, op->name);
	for (size_t i = 0; i < op->nparams; i++) {
		const struct dtx_param *p = &op->params[i];

		if (p == map)
			dtx_buf_printf(out, p->required ? " %s=%s..." : " [%s=%s...]",
			               p->rows[0].kind == DTX_P_TEXT ? "NAME"
			                                             : usage_kind[p->rows[0].kind],
			               p->rows[1].kind == DTX_P_TEXT ? "NAME"
			                                             : usage_kind[p->rows[1].kind]);
		if (p == map && !dtx_words_by_position(p))
			continue;
		dtx_buf_printf(out, p->required && p != map ? " %s=" : " [%s=", p->name);
		usage_value(p, out);
		dtx_buf_add(out, p->required && p != map ? "" : "]");
	}
}

/* --- a step as words --- */

struct say {
	const struct dtx_op *op;
	const struct dtx_param *map;
	json_t *words;
	struct dtx_buf text; /* the value at hand */
	bool fits;
};

static bool say_has_comma(const char *text)
{
	return !text[0] || strchr(text, ',') || strchr("\"[{", text[0]);
}

/* Whether the text would be read as a number, true, false or null. */
static bool say_is_literal(const char *text)
{
	json_t *v = NULL;
	bool is = dtx_json_parse(dtx_str_of(text), (struct dtx_json_limits){ 0, 0 }, &v, NULL) ==
	          DTX_OK;

	json_decref(v);
	return is;
}

static bool say_typed(enum dtx_pkind kind)
{
	return kind == DTX_P_VALUE || kind == DTX_P_VALUES;
}

/* One piece of a list, or a value without pieces. */
static void say_scalar(struct say *s, enum dtx_pkind kind, const json_t *v, bool piece)
{
	const char *text = json_string_value(v);
	bool quote = text &&
	             ((piece && say_has_comma(text)) || (say_typed(kind) && say_is_literal(text)));

	if (!text && !say_typed(kind) && kind != DTX_P_INT && kind != DTX_P_NUMBER &&
	    kind != DTX_P_BOOL)
		s->fits = false;
	else if (json_is_object(v) || json_is_array(v))
		s->fits = false;
	else if (text && !quote)
		dtx_buf_add(&s->text, text);
	else
		dtx_json_print(v, 0, &s->text);
}

static bool say_is_list(enum dtx_pkind kind)
{
	return kind == DTX_P_COLUMNS || kind == DTX_P_TEXTS || kind == DTX_P_VALUES ||
	       kind == DTX_P_LIST;
}

static void say_value(struct say *s, const struct dtx_param *p, const json_t *v)
{
	enum dtx_pkind kind = p->rows ? p->rows[0].kind : p->kind;
	bool list = say_is_list(p->kind),
	     flat = list && dtx_words_by_position(p) && (!p->rows || p->sugar != DTX_SUGAR_NONE);
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)v, i, item)
	{
		flat = flat && !json_is_object(item) && !json_is_array(item);
	}
	if (json_is_array(v) && flat && json_array_size(v)) {
		json_array_foreach((json_t *)(uintptr_t)v, i, item)
		{
			dtx_buf_add(&s->text, i ? "," : "");
			say_scalar(s, kind, item, true);
		}
	} else if (json_is_array(v) || json_is_object(v)) {
		s->fits = s->fits && (list || p->kind == DTX_P_SETS || p->kind == DTX_P_FRAME);
		dtx_json_print(v, 0, &s->text);
	} else {
		say_scalar(s, p->kind, v, flat);
	}
}

static void say_add(struct say *s)
{
	s->fits = s->fits && dtx_buf_ok(&s->text) &&
	          json_array_append_new(s->words, json_string(dtx_buf_text(&s->text))) == 0;
	dtx_buf_reset(&s->text);
}

/* Whether a word without a name would be taken for something else. */
static bool say_needs_name(struct say *s)
{
	const char *word = dtx_buf_text(&s->text);

	return dtx_words_name(word) || word[0] == '@' || !strcmp(word, DTX_WORDS_SEP) ||
	       !strncmp(word, "--", 2) || (word[0] == '-' && strlen(word) == 2) || !word[0];
}

/* KEY=VALUE, where KEY is not a parameter. */
static bool say_pair(struct say *s, const char *key, const json_t *value)
{
	const char *word;
	bool call = s->map->sugar == DTX_SUGAR_AGG;
	size_t n = strlen(key);

	if (!n || key[0] == '@' || dtx_words_param(s->op, dtx_str_of(key)) ||
	    json_is_object(value) || json_is_array(value))
		return false;
	dtx_buf_printf(&s->text, "%s=", key);
	say_scalar(s, s->map->rows[1].kind, value, false);
	word = dtx_buf_text(&s->text);
	/* {as: x, expr: n} is not x=n, which means n(x) */
	if (dtx_words_name(word) != n || strlen(word) == n + 1 ||
	    (call && !strpbrk(word + n + 1, "()+-*/ `")))
		return false;
	say_add(s);
	return true;
}

/* The list of pairs as words; otherwise as one word of JSON. */
static bool say_pairs(struct say *s, const json_t *v)
{
	const struct dtx_param *rows = s->map->rows;
	json_t *before = json_copy(s->words), *value;
	const char *key;
	bool ok = json_is_object(v) || json_is_array(v);
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)v, key, value)
	{
		dtx_buf_reset(&s->text);
		ok = ok && json_object_size(v) && say_pair(s, key, value);
	}
	json_array_foreach((json_t *)(uintptr_t)v, i, value)
	{
		const json_t *to = json_object_get(value, rows[1].name);

		key = dtx_json_text(value, rows[0].name, NULL);
		dtx_buf_reset(&s->text);
		ok = ok && key && to && json_object_size(value) == 2 && say_pair(s, key, to);
	}
	dtx_buf_reset(&s->text);
	if (ok && json_object_size(v) + json_array_size(v)) {
		json_decref(before);
		return true;
	}
	json_decref(s->words);
	s->words = before;
	return false;
}

static void say_param(struct say *s, const struct dtx_param *p, const char *name, const json_t *v,
                      bool *position)
{
	struct dtx_buf named = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (p == s->map && say_pairs(s, v))
		return;
	say_value(s, p, v);
	*position = *position && !say_needs_name(s);
	if (!*position) {
		dtx_buf_printf(&named, "%s=%s", name, dtx_buf_text(&s->text));
		dtx_buf_reset(&s->text);
		dtx_buf_add(&s->text, dtx_buf_text(&named));
		s->fits = s->fits && dtx_buf_ok(&named);
	}
	say_add(s);
	dtx_buf_clear(&named);
}

/* The member that gives a parameter; NULL: none. */
static const char *say_given(const json_t *step, const struct dtx_param *p)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)step, key, v)
	{
		if (strcmp(key, "op") != 0 && !json_is_null(v) && dtx_param_named(p, key))
			return key;
	}
	return NULL;
}

/* Members that are no parameters: those of every step, and older names. */
static void say_others(struct say *s, const json_t *step)
{
	static const struct dtx_param any = { .name = "", .kind = DTX_P_VALUES };
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)step, key, v)
	{
		const struct dtx_param *p = &any;
		bool common = !strcmp(key, "expect"), unnamed = false;
		char name[80];

		if (!strcmp(key, "op") || json_is_null(v) ||
		    dtx_words_param(s->op, dtx_str_of(key)))
			continue;
		for (size_t i = 0; i < dtx_nstep_members; i++)
			if (!strcmp(dtx_step_members[i].name, key)) {
				p = &dtx_step_members[i];
				common = true;
			}
		s->fits = s->fits && (common || !s->map);
		snprintf(name, sizeof(name), "%s%.70s", common ? "@" : "", key);
		say_param(s, p, name, v, &unnamed);
	}
}

json_t *dtx_words_of(const json_t *step)
{
	struct say s = { .op = dtx_op_find(dtx_json_text(step, "op", ""), NULL),
		         .words = json_array(),
		         .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		         .fits = true };
	bool position = true;

	if (s.op && s.words)
		json_array_append_new(s.words, json_string(dtx_json_text(step, "op", "")));
	s.map = dtx_words_map(s.op);
	for (size_t i = 0; s.op && i < s.op->nparams; i++) {
		const struct dtx_param *p = &s.op->params[i];
		const char *name = say_given(step, p);

		if (!dtx_words_by_position(p) && name)
			say_param(&s, p, name, json_object_get(step, name), &(bool){ false });
		if (!dtx_words_by_position(p))
			continue;
		/* what one would write without its name: what the op needs, in its order */
		position = position && name && (p->required || i == 0);
		if (name)
			say_param(&s, p, name, json_object_get(step, name), &position);
	}
	if (s.op)
		say_others(&s, step);
	if (!s.op || !s.fits) {
		json_decref(s.words);
		s.words = NULL;
	}
	dtx_buf_clear(&s.text);
	return s.words;
}

bool dtx_words_say(const json_t *step, struct dtx_buf *out)
{
	json_t *words = dtx_words_of(step), *word;
	size_t i;

	json_array_foreach(words, i, word)
	{
		dtx_buf_add(out, i ? " " : "");
		dtx_buf_word(out, json_string_value(word));
	}
	json_decref(words);
	return words != NULL;
}
