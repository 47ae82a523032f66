/* Makes a plan of the words of a command line, see step_words.h. Values are only put into JSON by
 * the kind of their parameter; everything else is checked where plans are. */
#include "cli/pipe/step_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/plan/plan.h"

#define POINTER sizeof(((struct dtx_err *)0)->at)

/* What is made: the plan, and the step and word at hand. */
struct words_make {
	struct dtx_words *to;
	json_t *inputs, *steps, *step;
	const struct dtx_op *op; /* NULL: unknown */
	const struct dtx_param *map;
	const char *word;
	char at[POINTER]; /* of the step */
};

/* A value: the text of the word from `from` on, for the member at `at`. */
struct words_value {
	const char *text;
	size_t from;
	const char *at;
	bool tables; /* names of tables, or files */
};

/* --- places --- */

static enum dtx_code words_place(struct words_make *m, const char *at, size_t from, size_t to,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_words *p = m->to;
	const char *copy = dtx_arena_strdup(&p->arena, at);

	if (!copy ||
	    !dtx_arena_reserve(&p->arena, &p->place, &p->room, p->nplaces + 1, sizeof(*p->place)))
		DTX_FAIL_MEM(err);
	p->place[p->nplaces++] = (struct dtx_words_place){ copy, m->word, from, to };
out:
	return rc;
}

const struct dtx_words_place *dtx_words_find(const struct dtx_words *p, const char *at)
{
	const struct dtx_words_place *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < p->nplaces; i++) {
		size_t n = strlen(p->place[i].at);

		if (n > most && !strncmp(p->place[i].at, at, n) && (!at[n] || at[n] == '/')) {
			best = &p->place[i];
			most = n;
		}
	}
	return best;
}

/* --- what an op takes --- */

static bool words_takes_scalar(const struct dtx_param *p)
{
	return p->kind != DTX_P_LIST || !p->rows || p->sugar == DTX_SUGAR_SCALAR ||
	       p->sugar == DTX_SUGAR_SORT || p->sugar == DTX_SUGAR_BOTH;
}

static bool words_takes_map(const struct dtx_param *p)
{
	return p->kind == DTX_P_LIST && (p->sugar == DTX_SUGAR_MAP || p->sugar == DTX_SUGAR_AGG ||
	                                 p->sugar == DTX_SUGAR_BOTH);
}

const struct dtx_param *dtx_words_map(const struct dtx_op *op)
{
	const struct dtx_param *required = NULL, *columns = NULL;
	size_t n = 0;

	for (size_t i = 0; op && i < op->nparams; i++) {
		const struct dtx_param *p = &op->params[i];

		if (!words_takes_map(p))
			continue;
		if (p->required && !required)
			required = p;
		if (p->rows[0].kind == DTX_P_COLUMN) {
			columns = p;
			n++;
		}
	}
	return required ? required : n == 1 ? columns : NULL;
}

bool dtx_words_by_position(const struct dtx_param *p)
{
	return words_takes_scalar(p) || !words_takes_map(p);
}

static const struct dtx_param *words_row(const struct dtx_param *rows, size_t n,
                                         struct dtx_str name)
{
	char key[64];

	if (name.len >= sizeof(key))
		return NULL;
	dtx_str_copy(key, sizeof(key), name);
	for (size_t i = 0; i < n; i++)
		if (dtx_param_named(&rows[i], key))
			return &rows[i];
	return NULL;
}

const struct dtx_param *dtx_words_param(const struct dtx_op *op, struct dtx_str name)
{
	return op ? words_row(op->params, op->nparams, name) : NULL;
}

size_t dtx_words_name(const char *word)
{
	const char *eq = strchr(word, '=');

	if (!eq || eq == word || eq[1] == '=' || strchr("<>!", eq[-1]))
		return 0;
	return (size_t)(eq - word);
}

/* Whether it can be the name of a parameter or table, and not the beginning of a formula. */
static bool words_is_name(struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (i && c >= '0' && c <= '9')))
			return false;
	}
	return s.len > 0;
}

/* Whether the word has no name in front of its value. */
static bool words_unnamed(const struct dtx_op *op, const char *word)
{
	struct dtx_str name = { word, dtx_words_name(word) };

	return word[0] != '@' && (!name.len || (!dtx_words_param(op, name) && !dtx_words_map(op) &&
	                                        !words_is_name(name)));
}

/* Whether a word gives the parameter by its name, or the alias that the op is called by does. */
static bool words_named(const struct dtx_op *op, const struct dtx_param *p, const char *preset,
                        char *const *word, int n)
{
	struct dtx_str rest = dtx_str_of(preset ? preset : ""), name;

	for (int i = 0; i < n; i++) {
		name = (struct dtx_str){ word[i], dtx_words_name(word[i]) };
		if (name.len && word[i][0] != '@' &&
		    (dtx_words_param(op, name) ? dtx_words_param(op, name) : dtx_words_map(op)) ==
		            p)
			return true;
	}
	return dtx_str_next(&rest, '=', &name) && dtx_words_param(op, name) == p;
}

const struct dtx_param *dtx_words_position(const struct dtx_op *op, const char *called,
                                           char *const *word, int n, int at)
{
	const char *preset = NULL;
	int before = 0;

	(void)dtx_op_find(called, &preset);
	for (int i = 0; i < at; i++)
		before += words_unnamed(op, word[i]);
	for (size_t i = 0; i < op->nparams; i++)
		if (dtx_words_by_position(&op->params[i]) &&
		    !words_named(op, &op->params[i], preset, word, n) && before-- == 0)
			return &op->params[i];
	return NULL;
}

static bool words_is_json(const char *text)
{
	return text[0] == '[' || text[0] == '{';
}

/* --- tables and files --- */

static bool words_has_table(const struct words_make *m, const char *name)
{
	json_t *step;
	size_t i;

	json_array_foreach(m->steps, i, step)
	{
		if (!strcmp(dtx_json_text(step, "out", ""), name))
			return true;
	}
	return dtx_json_find(m->inputs, "name", name) != NULL;
}

/* The table that a word names. A file becomes an input; the same file is the same input. NULL: out
 * of memory. */
static json_t *words_table(struct words_make *m, const char *text, size_t from, struct dtx_err *err)
{
	const json_t *same;
	char base[48], name[64], at[POINTER] = "/inputs";
	json_t *input;

	if (!text)
		return NULL;
	if (words_has_table(m, text) ||
	    (strcmp(text, "-") != 0 && !strpbrk(text, "./") && access(text, F_OK) != 0))
		return json_string(text);
	same = dtx_json_find(m->inputs, "path", text);
	if (same)
		return json_string(dtx_json_text(same, "name", ""));
	dtx_plan_table_for(strcmp(text, "-") ? text : "stdin", base, sizeof(base));
	dtx_str_copy(name, sizeof(name), dtx_str_of(base));
	for (int k = 2; words_has_table(m, name); k++)
		snprintf(name, sizeof(name), "%s_%d", base, k);
	dtx_json_pointer_index(at, sizeof(at), json_array_size(m->inputs));
	input = json_pack("{ss ss}", "name", name, "path", text);
	if (json_array_append_new(m->inputs, input) != 0 ||
	    words_place(m, at, from, from + strlen(text), err) != DTX_OK)
		return NULL;
	return json_string(name);
}

/* --- values --- */

static enum dtx_code words_json(struct dtx_str text, json_t **out, struct dtx_err *err)
{
	static const struct dtx_json_limits none = { 0, 0 };
	enum dtx_code rc = dtx_json_parse(text, none, out, err);

	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY)
		dtx_err_hint(err, "what begins with [ or { is JSON; a name that does is written "
		                  "as a text in a list: [\"[name]\"]");
	return rc;
}

/* A number, true, false, null or a text in double quotes as JSON has it; NULL: any other word. */
static json_t *words_literal(struct dtx_str text)
{
	json_t *v = NULL;

	if (!text.len ||
	    !(strchr("-\"tfn", text.ptr[0]) || (text.ptr[0] >= '0' && text.ptr[0] <= '9')))
		return NULL;
	if (dtx_json_parse(text, (struct dtx_json_limits){ 0, 0 }, &v, NULL) != DTX_OK)
		return NULL;
	return v;
}

/* A value of a kind without pieces. What does not fit stays a text, which is then reported as for a
 * plan. NULL: out of memory. */
static json_t *words_scalar(enum dtx_pkind kind, struct dtx_str text)
{
	json_t *v = NULL;

	if (kind == DTX_P_INT || kind == DTX_P_NUMBER || kind == DTX_P_BOOL ||
	    kind == DTX_P_VALUE || kind == DTX_P_VALUES)
		v = words_literal(text);
	if (v && (kind == DTX_P_VALUE || kind == DTX_P_VALUES || json_is_number(v) ||
	          (kind == DTX_P_BOOL && json_is_boolean(v))))
		return v;
	json_decref(v);
	return json_stringn(text.ptr, text.len);
}

/* Where the piece that begins at `from` ends: at a comma, or after its closing quote. */
static size_t words_piece(const char *text, size_t from)
{
	size_t i = from;

	if (text[i] == '"') {
		for (i++; text[i] && text[i] != '"'; i++)
			i += text[i] == '\\' && text[i + 1];
		if (text[i] == '"' && (text[i + 1] == ',' || !text[i + 1]))
			return i + 1;
	}
	return from + strcspn(text + from, ",");
}

/* Appends the pieces of a list. */
static enum dtx_code words_pieces(struct words_make *m, enum dtx_pkind kind,
                                  const struct words_value *v, json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t pos = 0, end;
	char at[POINTER];

	for (; v->text[0]; pos = end + 1) {
		struct dtx_str piece = { v->text + pos, 0 };
		json_t *made;

		end = words_piece(v->text, pos);
		piece.len = end - pos;
		made = piece.len && piece.ptr[0] == '"' ? words_literal(piece) : NULL;
		if (v->tables && !made)
			made = words_table(m,
			                   dtx_arena_strndup(&m->to->arena, piece.ptr, piece.len),
			                   v->from + pos, err);
		else if (!made)
			made = words_scalar(kind, piece);
		dtx_str_copy(at, sizeof(at), dtx_str_of(v->at));
		dtx_json_pointer_index(at, sizeof(at), json_array_size(list));
		DTX_TRY(words_place(m, at, v->from + pos, v->from + end, err));
		if (json_array_append_new(list, made) != 0)
			DTX_FAIL_MEM(err);
		if (!v->text[end])
			break;
	}
out:
	return rc;
}

/* A value of a parameter; a new reference. */
static enum dtx_code words_value(struct words_make *m, const struct dtx_param *p,
                                 const struct words_value *v, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_pkind kind = p->kind;
	bool list = kind == DTX_P_COLUMNS || kind == DTX_P_TEXTS || kind == DTX_P_VALUES ||
	            kind == DTX_P_LIST;
	bool json = list || kind == DTX_P_SETS || kind == DTX_P_FRAME;

	*out = NULL;
	if (json && words_is_json(v->text)) {
		DTX_TRY(words_json(dtx_str_of(v->text), out, err));
	} else if (kind == DTX_P_TABLE || (v->tables && !list)) {
		*out = words_table(m, v->text, v->from, err);
	} else if (list && words_takes_scalar(p)) {
		*out = json_array();
		if (!*out)
			DTX_FAIL_MEM(err);
		DTX_TRY(words_pieces(m, p->rows ? p->rows[0].kind : kind, v, *out, err));
	} else {
		*out = words_scalar(kind, dtx_str_of(v->text));
	}
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* A value of a member that the table does not have: an older name, or a mistake. */
static enum dtx_code words_guess(struct words_make *m, const struct words_value *v, json_t **out,
                                 struct dtx_err *err)
{
	static const struct dtx_param list = { .kind = DTX_P_VALUES },
				      one = { .kind = DTX_P_VALUE };

	return words_value(m, words_is_json(v->text) || strchr(v->text, ',') ? &list : &one, v, out,
	                   err);
}

/* --- one word --- */

/* The name under which a parameter is in the step already; NULL: it is not. */
static const char *words_given(const json_t *step, const struct dtx_param *p)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)step, key, v)
	{
		if (strcmp(key, "op") != 0 && dtx_param_named(p, key))
			return key;
	}
	return NULL;
}

static enum dtx_code words_twice(struct words_make *m, const char *name, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_PARAM_CONFLICT, __FILE__, __LINE__, "'%.60s' is given twice", name);
	dtx_err_hint(err, "several columns or values are one list, with commas: a,b");
	dtx_err_at(err, m->at);
	return DTX_E_PARAM_CONFLICT;
}

/* Sets parameter p (NULL: none of the table) under a name. */
static enum dtx_code words_set(struct words_make *m, const struct dtx_param *p, const char *name,
                               size_t from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *have = p                                ? words_given(m->step, p)
	                   : json_object_get(m->step, name) ? name
	                                                    : NULL;
	json_t *v = NULL, *old = have ? json_object_get(m->step, have) : NULL;
	struct words_value value = { m->word + from, from, NULL, p && !strcmp(p->name, "with") };
	char at[POINTER];

	dtx_str_copy(at, sizeof(at), dtx_str_of(m->at));
	dtx_json_pointer_add(at, sizeof(at), have ? have : name);
	value.at = at;
	/* an error about an unknown parameter is about its name, and points at the whole word */
	DTX_TRY(words_place(m, at, p ? from : 0, p ? strlen(m->word) : from - 1, err));
	/* the pairs of a join: k a=b */
	if (p && p == m->map && p->sugar == DTX_SUGAR_BOTH && json_is_array(old) &&
	    !words_is_json(value.text)) {
		DTX_TRY(words_pieces(m, p->rows[0].kind, &value, old, err));
		goto out;
	}
	if (have)
		return words_twice(m, name, err);
	DTX_TRY(p ? words_value(m, p, &value, &v, err) : words_guess(m, &value, &v, err));
	if (json_object_set(m->step, name, v) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(v);
	return rc;
}

/* Adds KEY=VALUE to a list of pairs, as {left: KEY, right: VALUE}. */
static enum dtx_code words_pair(struct words_make *m, json_t *list, size_t n, const char *in,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_param *rows = m->map->rows;
	json_t *item = json_object();
	char at[POINTER], side[POINTER];

	dtx_str_copy(at, sizeof(at), dtx_str_of(in));
	dtx_json_pointer_index(at, sizeof(at), json_array_size(list));
	for (int k = 0; k < 2; k++) {
		dtx_str_copy(side, sizeof(side), dtx_str_of(at));
		dtx_json_pointer_add(side, sizeof(side), rows[k].name);
		DTX_TRY(words_place(m, side, k ? n + 1 : 0, k ? strlen(m->word) : n, err));
	}
	if (!item || !dtx_json_set(item, rows[0].name, json_stringn(m->word, n)) ||
	    !dtx_json_set(item, rows[1].name, json_string(m->word + n + 1)) ||
	    json_array_append(list, item) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(item);
	return rc;
}

/* Whether KEY=VALUE is a parameter whose name is misspelt: the value is one that it takes, and
 * would be an odd formula. */
static bool words_misspelt(const struct words_make *m, const char *key, const char *value,
                           struct dtx_err *err)
{
	struct dtx_err near = DTX_ERR_INIT;

	for (size_t i = 0; i < m->op->nparams; i++) {
		const struct dtx_param *p = &m->op->params[i];
		json_t *v = words_scalar(p->kind, dtx_str_of(value));
		bool takes = p->kind == DTX_P_CHOICE
		                     ? dtx_str_in_list(p->choices, value)
		                     : (p->kind == DTX_P_INT && json_is_number(v)) ||
		                               (p->kind == DTX_P_BOOL && json_is_boolean(v));

		json_decref(v);
		if (takes)
			dtx_err_suggest(&near, key, &p->name, 1);
		if (!near.misnamed)
			continue;
		dtx_err_set(err, DTX_E_UNKNOWN_PARAM, __FILE__, __LINE__,
		            "%s has no parameter '%.60s'", m->op->name, key);
		dtx_err_suggest(err, key, &p->name, 1);
		return true;
	}
	return false;
}

/* KEY=VALUE for the list of the op that takes them. */
static enum dtx_code words_entry(struct words_make *m, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_param *p = m->map;
	const char *have = words_given(m->step, p), *name = have ? have : p->name;
	const char *key = dtx_arena_strndup(&m->to->arena, m->word, n);
	json_t *to = json_object_get(m->step, name), *v = NULL;
	bool pairs = p->sugar == DTX_SUGAR_BOTH;
	struct words_value value = { m->word + n + 1, n + 1, NULL, false };
	char at[POINTER];

	if (!key)
		DTX_FAIL_MEM(err);
	if (words_misspelt(m, key, value.text, err))
		return DTX_E_UNKNOWN_PARAM;
	if (!to) {
		to = pairs ? json_array() : json_object();
		if (!dtx_json_set(m->step, name, to))
			DTX_FAIL_MEM(err);
	}
	dtx_str_copy(at, sizeof(at), dtx_str_of(m->at));
	dtx_json_pointer_add(at, sizeof(at), name);
	if (pairs && json_is_array(to)) {
		DTX_TRY(words_pair(m, to, n, at, err));
		goto out;
	}
	if (!json_is_object(to) || json_object_get(to, key))
		return words_twice(m, json_is_object(to) ? key : name, err);
	dtx_json_pointer_add(at, sizeof(at), key);
	value.at = at;
	DTX_TRY(words_place(m, at, n + 1, strlen(m->word), err));
	DTX_TRY(words_value(m, &p->rows[1], &value, &v, err));
	if (json_object_set(to, key, v) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(v);
	return rc;
}

/* A member that every step may have: @out=NAME. */
static enum dtx_code words_common(struct words_make *m, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str name = { m->word + 1, n ? n - 1 : strlen(m->word) - 1 };
	const struct dtx_param *p = words_row(dtx_step_members, dtx_nstep_members, name);

	if (n && p)
		return words_set(m, p, p->name, n + 1, err);
	if (n && dtx_str_is(name, "expect"))
		return words_set(m, NULL, "expect", n + 1, err);
	DTX_FAIL_NEXT(err, DTX_E_UNKNOWN_PARAM,
	              "a step may have @in=TABLE, @out=NAME, @note=TEXT, @fallback=off, "
	              "@snippet=true and @expect=JSON; a name that begins with @ is given by its "
	              "parameter, as in cols=@id",
	              "a step has no member '%.60s'", m->word);
out:
	return rc;
}

/* NAME=VALUE where the op has no such parameter. It may be an older name that plans take, so it is
 * left to the check of the plan. */
static enum dtx_code words_other(struct words_make *m, struct dtx_str name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *key = dtx_arena_strndup(&m->to->arena, name.ptr, name.len);

	if (!key)
		DTX_FAIL_MEM(err);
	if (!strcmp(key, "op") || !strcmp(key, "expect") ||
	    words_row(dtx_step_members, dtx_nstep_members, name))
		DTX_FAIL_NEXT(err, DTX_E_UNKNOWN_PARAM,
		              "what every step may have begins with @: "
		              "@in=TABLE, @out=NAME, @note=TEXT",
		              "this op has no parameter '%s'", key);
	DTX_TRY(words_set(m, NULL, key, name.len + 1, err));
out:
	return rc;
}

/* --- one step --- */

/* A word without a name for an op that dtx does not have: a snippet may do such a step, and is
 * given all of it. */
static enum dtx_code words_argument(struct words_make *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *args = json_object_get(m->step, "args");

	if (!args) {
		args = json_array();
		if (!dtx_json_set(m->step, "args", args))
			DTX_FAIL_MEM(err);
	}
	if (json_array_append_new(args, words_scalar(DTX_P_VALUE, dtx_str_of(m->word))) != 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Word `at` of the n words that follow the op. */
static enum dtx_code words_word(struct words_make *m, char *const *word, int n, int at,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str name = { word[at], dtx_words_name(word[at]) };
	const struct dtx_param *p = dtx_words_param(m->op, name);
	char key[64];

	m->word = word[at];
	if (m->word[0] == '@')
		return words_common(m, name.len, err);
	if (p) {
		dtx_str_copy(key, sizeof(key), name);
		return words_set(m, p, key, name.len + 1, err);
	}
	if (name.len && m->map)
		return words_entry(m, name.len, err);
	if (name.len && words_is_name(name))
		return words_other(m, name, err);
	if (!m->op)
		return words_argument(m, err);
	p = dtx_words_position(m->op, word[-1], word, n, at);
	if (!p)
		DTX_FAIL(err, DTX_E_UNKNOWN_PARAM,
		         "'%.80s' is one word too many: a list is one word, with commas, and '%s' "
		         "joins steps",
		         m->word, DTX_WORDS_SEP);
	DTX_TRY(words_set(m, p, p->name, 0, err));
out:
	return rc;
}

static enum dtx_code words_step(struct words_make *m, char *const *word, int n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t index = json_array_size(m->steps);

	dtx_str_copy(m->at, sizeof(m->at), DTX_STR("/steps"));
	dtx_json_pointer_index(m->at, sizeof(m->at), index);
	m->word = word[0];
	m->step = json_object();
	m->op = dtx_op_find(word[0], NULL);
	m->map = dtx_words_map(m->op);
	DTX_TRY(words_place(m, m->at, 0, strlen(word[0]), err));
	if (!m->step || !dtx_json_set(m->step, "op", json_string(word[0])))
		DTX_FAIL_MEM(err);
	for (int i = 0; i < n - 1; i++)
		DTX_TRY(words_word(m, word + 1, n - 1, i, err));
	if (json_array_append(m->steps, m->step) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(m->step);
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY) {
		/* the word at hand, wherever its value would have gone */
		dtx_json_pointer_add(m->at, sizeof(m->at), m->word);
		if (err)
			dtx_str_copy(err->at, sizeof(err->at), dtx_str_of(m->at));
		if (words_place(m, m->at, 0, strlen(m->word), NULL) != DTX_OK)
			rc = DTX_E_NO_MEMORY;
		dtx_err_step(err, (int32_t)index, word[0]);
	}
	return rc;
}

/* --- the line --- */

static enum dtx_code words_steps(struct words_make *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *const *word = m->to->word;
	int n = m->to->nwords, from = 0;

	for (int i = 0; i <= n; i++) {
		if (i < n && strcmp(word[i], DTX_WORDS_SEP) != 0)
			continue;
		if (i == from)
			DTX_FAIL_NEXT(err, DTX_E_USAGE,
			              "dtx pipe FILE -- filter 'n > 0' then head 10",
			              "there is no step %s '%s'", i < n ? "before" : "after",
			              n ? DTX_WORDS_SEP : "--");
		DTX_TRY(words_step(m, word + from, i - from, err));
		from = i + 1;
	}
out:
	return rc;
}

/* The inputs: main, for a FILE or stdin, and one for each NAME=FILE. */
static enum dtx_code words_inputs(struct words_make *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_words *p = m->to;
	bool bare = !p->nfiles;

	for (int i = 0; i < p->nfiles; i++) {
		size_t n = dtx_words_name(p->file[i]);

		if (n && words_is_name((struct dtx_str){ p->file[i], n })) {
			if (json_array_append_new(m->inputs,
			                          json_pack("{ss%}", "name", p->file[i], n)) != 0)
				DTX_FAIL_MEM(err);
		} else {
			bare = true;
		}
	}
	if (bare && !dtx_json_find(m->inputs, "name", "main") &&
	    json_array_insert_new(m->inputs, 0, json_pack("{ss}", "name", "main")) != 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_words_parse(struct dtx_words *p, int nfiles, char **file, int nwords, char **word,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct words_make m = { .to = p, .inputs = json_array(), .steps = json_array() };

	*p = (struct dtx_words){ .nfiles = nfiles, .file = file, .nwords = nwords, .word = word };
	if (!m.inputs || !m.steps)
		DTX_FAIL_MEM(err);
	DTX_TRY(words_inputs(&m, err));
	DTX_TRY(words_steps(&m, err));
	p->plan = json_pack("{si sO sO}", "dtx", DTX_PLAN_VERSION, "inputs", m.inputs, "steps",
	                    m.steps);
	if (!p->plan)
		DTX_FAIL_MEM(err);
out:
	json_decref(m.inputs);
	json_decref(m.steps);
	return rc;
}

void dtx_words_clear(struct dtx_words *p)
{
	json_decref(p->plan);
	dtx_arena_clear(&p->arena);
	*p = (struct dtx_words){ .nfiles = 0 };
}

void dtx_words_line(const struct dtx_words *p, struct dtx_buf *out)
{
	dtx_buf_add(out, "dtx pipe");
	for (int i = 0; i < p->nfiles + 1 + p->nwords; i++) {
		dtx_buf_addc(out, ' ');
		dtx_buf_word(out, i < p->nfiles    ? p->file[i]
		                  : i == p->nfiles ? "--"
		                                   : p->word[i - p->nfiles - 1]);
	}
}
