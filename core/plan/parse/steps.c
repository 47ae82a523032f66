/* Parses the steps of a plan: op, parameters, tables, canonical form. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/text/utf8.h"
#include "core/plan/parse/plan_params.h"
#include "core/plan/plan_internal.h"

#define COMMON "op,in,out,note,fallback,snippet,expect"

struct common_args {
	const char *in, *out, *note;
	int fallback;
	bool snippet;
};
#define ROW(member, k) .name = #member, .kind = (k), .offset = offsetof(struct common_args, member)
const struct dtx_param dtx_step_members[] = {
	{ ROW(in, DTX_P_TABLE), .help = "table to read; else the current one" },
	{ ROW(out, DTX_P_TEXT), .help = "name for the result" },
	{ ROW(note, DTX_P_TEXT), .help = "what the step is for" },
	{ ROW(fallback, DTX_P_CHOICE), .choices = "step,off", .def = "\"step\"",
	  .help = "off forbids a snippet for this step" },
	{ ROW(snippet, DTX_P_BOOL), .def = "false",
	  .help = "true leaves the step to a snippet, whatever its op is called" },
};
const size_t dtx_nstep_members = DTX_COUNT(dtx_step_members);

bool dtx_part_name_ok(const char *name)
{
	for (size_t i = 0; name[i]; i++) {
		char c = name[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
		      (i > 0 && c >= '0' && c <= '9')))
			return false;
	}
	return name[0] != '\0';
}

/* --- one step's own findings --- */

/* Completes what the parameter rows found: pointers as the user wrote them, severity by code, and
 * the step. */
static void judge(struct dtx_plan_parse *p, struct dtx_plan_step *st, size_t from)
{
	for (size_t i = from; i < p->findings->n; i++) {
		struct dtx_err *f = &p->findings->item[i];

		if (f->severity == DTX_SEV_WARNING)
			continue;
		dtx_err_step(f, (int32_t)(st - p->plan->step), st->name);
		dtx_part_hint_example(st, f);
		f->severity = dtx_err_severity(f, false);
		if (f->severity == DTX_SEV_FALLBACK && st->trigger == DTX_OK)
			st->trigger = f->code;
		st->broken = true;
	}
}

/* A check over several parameters gives only the name of the parameter; this makes it a pointer. */
static void check_at(struct dtx_err *f, const char *step)
{
	char at[sizeof(f->at)];
	size_t n;

	dtx_str_copy(at, sizeof(at), dtx_str_of(f->at));
	dtx_str_copy(f->at, sizeof(f->at), dtx_str_of(step));
	n = strlen(f->at);
	dtx_str_copy(f->at + n, sizeof(f->at) - n, dtx_str_of(at));
}

/* Reads the parameters. The check over several parameters runs only if there were no findings since
 * `before`, since it would see defaults for wrong ones. */
static enum dtx_code fill_args(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                               const json_t *object, size_t before, struct dtx_err *err)
{
	struct dtx_param_hooks hooks = dtx_part_hooks_template;
	struct dtx_param_ctx ctx = { .arena = &p->plan->arena,
		                     .hooks = &hooks,
		                     .errs = p->findings,
		                     .skip = COMMON,
		                     .op = st->name,
		                     .step = (int)(st - p->plan->step),
		                     .unsupported = st->op->unsupported };
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	hooks.arg = &(struct dtx_part_arg){ &p->plan->arena, p->plan->params };
	ctx.kept = p->plan->kept;
	st->args = dtx_arena_zalloc(&p->plan->arena, 1, st->op->args_size + 1);
	if (!st->args)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_param_fill(st->op->params, st->op->nparams, object, st->at, &ctx, st->args,
	                       err));
	if (p->findings->n == before && st->op->check && st->op->check(st->args, &f) != DTX_OK) {
		if (f.code == DTX_E_NO_MEMORY)
			DTX_FAIL_MEM(err);
		check_at(&f, st->at);
		st->joint_finding = true;
		if (!dtx_errlist_take(p->findings, &f))
			DTX_FAIL_MEM(err);
	}
out:
	dtx_err_clear(&f);
	return rc;
}

/* Ops that this build does not have and leaves to snippets, with their aliases. */
#define PLANNED_OPS "fuzzy_join,dedupe_fuzzy,cluster,flatten_json,unnest,nest,pack"

static enum dtx_code unknown_op(struct dtx_plan_parse *p, const char *name, const char *at,
                                struct dtx_err *err)
{
	if (dtx_str_in_list(PLANNED_OPS, name))
		return dtx_part_lacks(p, at, name, err);
	return dtx_part_unknown_op(p, at, name, err);
}

static enum dtx_code common_members(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                                    const json_t *object, struct dtx_err *err)
{
	struct common_args a = { 0 };
	struct dtx_param_ctx ctx = { .arena = &p->plan->arena,
		                     .hooks = &dtx_part_hooks_template,
		                     .errs = p->findings,
		                     .op = st->name,
		                     .skip = "op,expect",
		                     .step = (int)(st - p->plan->step) };
	json_t *own = json_object();
	char at[64];
	enum dtx_code rc = DTX_OK;

	if (!own)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < dtx_nstep_members; i++) {
		json_t *v = json_object_get(object, dtx_step_members[i].name);

		if (v && json_object_set(own, dtx_step_members[i].name, v) != 0)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_param_fill(dtx_step_members, dtx_nstep_members, own, st->at, &ctx, &a, err));
	st->in_name = a.in;
	st->out_name = a.out;
	st->note = a.note;
	st->fallback_off = a.fallback == 1;
	if (st->snippet && st->fallback_off) {
		snprintf(at, sizeof(at), "%s/snippet", st->at);
		DTX_TRY(dtx_part_fail(
			p, DTX_E_PARAM_CONFLICT, at, err,
			"'snippet' leaves the step to a snippet, 'fallback' forbids one"));
		dtx_part_advise(p, "leave one of the two out");
	}
	DTX_TRY(dtx_part_filled(p, json_object_get(object, "expect"), &st->expect_json, err));
	snprintf(at, sizeof(at), "%s/expect", st->at);
	DTX_TRY(dtx_part_expect(p, st->expect_json, at, &st->expect, &st->rules, err));
out:
	json_decref(own);
	return rc;
}

/* --- tables --- */

/* Finds a table by name. Looks at input `near` first: a union over the many files of one input
 * names them in order, so this makes it linear. */
static int32_t find_table_near(const struct dtx_plan *plan, uint32_t before, const char *name,
                               uint32_t near)
{
	if (near < plan->ninputs && strcmp(plan->input[near].name, name) == 0)
		return (int32_t)near;
	for (uint32_t i = 0; i < plan->ninputs; i++)
		if (strcmp(plan->input[i].name, name) == 0)
			return (int32_t)i;
	for (uint32_t i = 0; i < before; i++)
		if (plan->step[i].out_name && strcmp(plan->step[i].out_name, name) == 0)
			return (int32_t)(plan->ninputs + i);
	return -1;
}

static int32_t find_table(const struct dtx_plan *plan, uint32_t before, const char *name)
{
	return find_table_near(plan, before, name, UINT32_MAX);
}

/* Collects the names of tables; `names` has room for all inputs and the steps before. */
static size_t table_names(const struct dtx_plan *plan, uint32_t before, const char **names)
{
	size_t n = 0;

	for (uint32_t i = 0; i < plan->ninputs; i++)
		names[n++] = plan->input[i].name;
	for (uint32_t i = 0; i < before; i++)
		if (plan->step[i].out_name)
			names[n++] = plan->step[i].out_name;
	return n;
}

bool dtx_plan_table_for(const char *file, char *name, size_t size)
{
	const char *base = dtx_file_basename(file), *dot = strchr(base, '.');
	size_t n = 0;

	for (const char *c = base; c != dot && *c && n + 3 < size; c++) {
		if (isalpha((unsigned char)*c) || (n && isdigit((unsigned char)*c)))
			name[n++] = *c;
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
		else if (!n)
			n = (size_t)snprintf(name, size, "t_%.1s",
			                     isdigit((unsigned char)*c) ? c : "");
	}
	name[n] = '\0';
	if (!n)
		dtx_str_copy(name, size, DTX_STR("t"));
	return dot && dot != base && dot[1];
}

/* Where the name of a file stands for a table, says how a file becomes one. */
static void advise_file(struct dtx_plan_parse *p, const char *name)
{
	char alias[64], hint[400];

	if (!dtx_plan_table_for(name, alias, sizeof(alias)))
		return;
	snprintf(hint, sizeof(hint),
	         "a file is read as an input: add {\"name\": \"%s\", \"path\": \"%.120s\"} to "
	         "\"inputs\", and write \"%s\" here",
	         alias, name, alias);
	dtx_part_advise(p, hint);
}

static enum dtx_code unknown_table(struct dtx_plan_parse *p, uint32_t before, const char *name,
                                   const char *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char **names =
		dtx_arena_alloc(&p->plan->arena, p->plan->ninputs + before + 1, sizeof(*names));

	if (!names)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_part_unknown(p, DTX_E_UNKNOWN_TABLE, at, "table", name, names,
	                         table_names(p->plan, before, names), err));
	advise_file(p, name);
out:
	return rc;
}

static bool is_text(const json_t *v, const char *text)
{
	return json_is_string(v) && strcmp(json_string_value(v), text) == 0;
}

/* The pointer of the parameter that names a table. */
static void table_place(const struct dtx_plan_step *st, const char *name, char *at, size_t size)
{
	const char *key;
	json_t *v;

	snprintf(at, size, "%s", st->at);
	if (dtx_param_is_hole(name))
		return;
	json_object_foreach((json_t *)(uintptr_t)st->json, key, v)
	{
		if (strcmp(key, "op") == 0 || strcmp(key, "note") == 0)
			continue;
		if (is_text(v, name)) {
			dtx_json_pointer_add(at, size, key);
			return;
		}
		for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++) {
			const json_t *item = json_array_get(v, i);
			bool row = is_text(json_object_get(item, "with"), name);

			if (!row && !is_text(item, name))
				continue;
			dtx_json_pointer_add(at, size, key);
			dtx_json_pointer_index(at, size, i);
			if (row)
				dtx_json_pointer_add(at, size, "with");
			return;
		}
	}
}

/* Makes room for n tables of a step and keeps those that it has. */
static enum dtx_code tables_room(struct dtx_plan *plan, struct dtx_plan_step *st, size_t n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *table = dtx_arena_alloc(&plan->arena, n, sizeof(*table));
	const char **name = dtx_arena_alloc(&plan->arena, n, sizeof(*name));

	if (!table || !name)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < st->ntables; i++) {
		table[i] = st->table[i];
		name[i] = st->table_name[i];
	}
	st->table = table;
	st->table_name = name;
out:
	return rc;
}

/* Adds a table to a step, which must have room for it. */
static enum dtx_code add_table(struct dtx_plan_parse *p, struct dtx_plan_step *st, const char *name,
                               const char *in, struct dtx_err *err)
{
	uint32_t before = (uint32_t)(st - p->plan->step);
	uint32_t near = st->ntables ? (uint32_t)st->table[st->ntables - 1] + 1 : 0;
	bool hole = dtx_param_is_hole(name);
	int32_t id = hole ? -1 : find_table_near(p->plan, before, name, near);
	enum dtx_code rc = DTX_OK;
	char at[128];

	if (id < 0 && !hole) {
		if (in)
			snprintf(at, sizeof(at), "%s", in);
		else
			table_place(st, name, at, sizeof(at));
		DTX_TRY(unknown_table(p, before, name, at, err));
	}
	st->table[st->ntables] = id;
	st->table_name[st->ntables++] = name;
out:
	return rc;
}

/* It is not known what an unknown op reads. So every table that one of its members names is offered
 * to the snippet. */
static enum dtx_code guess_tables(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                                  const json_t *v, struct dtx_err *err)
{
	uint32_t before = (uint32_t)(st - p->plan->step);
	const char *text = json_string_value(v);
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++)
		DTX_TRY(guess_tables(p, st, json_array_get(v, i), err));
	if (!text || find_table(p->plan, before, text) < 0)
		goto out;
	for (uint32_t i = 0; i < st->ntables; i++)
		if (st->table[i] == find_table(p->plan, before, text))
			goto out;
	DTX_TRY(tables_room(p->plan, st, st->ntables + 1, err));
	DTX_TRY(add_table(p, st, text, "", err));
out:
	return rc;
}

/* Asks the op for the names of all tables that it reads, however many there are. */
static enum dtx_code op_tables(struct dtx_plan *plan, const struct dtx_plan_step *st,
                               const char ***names, size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t room = 8;

	*n = 0;
	if (!st->op || !st->args || !st->op->tables)
		goto out;
	do {
		room *= 2;
		*names = dtx_arena_alloc(&plan->arena, room, sizeof(**names));
		if (!*names)
			DTX_FAIL_MEM(err);
		*n = st->op->tables(st->args, *names, room);
	} while (*n == room);
out:
	return rc;
}

static enum dtx_code step_tables(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                                 int32_t current, struct dtx_err *err)
{
	const char **names = NULL, *key;
	json_t *v;
	size_t n;
	char at[128];
	enum dtx_code rc = DTX_OK;

	snprintf(at, sizeof(at), "%s/in", st->at);
	DTX_TRY(op_tables(p->plan, st, &names, &n, err));
	DTX_TRY(tables_room(p->plan, st, n + 1, err));
	if (st->in_name) {
		DTX_TRY(add_table(p, st, st->in_name, at, err));
	} else {
		st->table[0] = current;
		st->table_name[0] = "main";
		st->ntables = 1;
	}
	for (size_t i = 0; i < n; i++)
		DTX_TRY(add_table(p, st, names[i], NULL, err));
	if (st->op && st->trigger == DTX_OK)
		goto out;
	json_object_foreach((json_t *)(uintptr_t)st->json, key,
	                    v) if (!dtx_str_in_list(COMMON, key))
		DTX_TRY(guess_tables(p, st, v, err));
out:
	return rc;
}

static enum dtx_code out_name(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char at[64];

	if (dtx_param_is_hole(st->out_name) || (st->macro && st->out_name[0] == '@'))
		return DTX_OK;
	snprintf(at, sizeof(at), "%s/out", st->at);
	if (!dtx_part_name_ok(st->out_name))
		return dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
		                     "a table name is letters, digits and _, got '%s'",
		                     st->out_name);
	if (find_table(p->plan, (uint32_t)(st - p->plan->step), st->out_name) >= 0)
		DTX_TRY(dtx_part_fail(p, DTX_E_DUPLICATE_TABLE, at, err,
		                      "there is a table '%s' already", st->out_name));
	else
		return DTX_OK;
	dtx_part_advise(p, "each 'out' is a new name; a step without one goes on with the table");
out:
	return rc;
}

/* --- tables of an expect object --- */

/* What a list of rules belongs to: tables before step `before` are known, and `main` is the table
 * of the step. */
struct rules_of {
	struct dtx_rules *rules;
	uint32_t before;
	int32_t main;
	bool snippet; /* the contract of a snippet has only the rows of main */
	const char *above;
};

static enum dtx_code link_table(struct dtx_plan_parse *p, const struct rules_of *o,
                                const char *name, size_t rule, struct dtx_err *err)
{
	struct dtx_rules *r = o->rules;
	const char *made = r->rule[rule].made_from;
	int32_t id = find_table(p->plan, o->before, name);
	enum dtx_code rc = DTX_OK;
	char at[320];

	snprintf(at, sizeof(at), "%s/expect%s%s", o->above, r->at[rule], made ? "" : "/with");
	if (strcmp(name, "main") == 0 && (id < 0 || o->above[0]))
		id = o->main;
	if (o->snippet && !(made && strcmp(name, "main") == 0 && strcmp(made, "/rows/equals") == 0))
		return dtx_part_fail(p, DTX_E_UNSUPPORTED_PARAM, at, err,
		                     "a snippet's contract does not see table '%s'; an assert "
		                     "step after it does",
		                     name);
	if (id < 0)
		DTX_TRY(unknown_table(p, o->before, name, at, err));
	r->table_name[r->ntables] = name;
	r->table[r->ntables++] = id;
out:
	return rc;
}

static enum dtx_code link_rules(struct dtx_plan_parse *p, const struct rules_of *o,
                                struct dtx_err *err)
{
	const char *names[DTX_RULE_TABLES + 1];
	size_t at[DTX_RULE_TABLES + 1];
	char above[80];
	size_t n = dtx_rules_tables(o->rules->rule, o->rules->n, names, at, DTX_COUNT(names));
	enum dtx_code rc = DTX_OK;

	snprintf(above, sizeof(above), "%s/expect", o->above);
	if (n > DTX_RULE_TABLES)
		return dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, above, err,
		                     "the rules of one expect look at more than %d tables",
		                     DTX_RULE_TABLES);
	for (size_t i = 0; i < n; i++)
		DTX_TRY(link_table(p, o, names[i], at[i], err));
out:
	return rc;
}

/* --- canonical form --- */

static enum dtx_code canonical_common(const struct dtx_plan_step *st, json_t *c,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_json_set(c, "op", json_string(st->name)))
		DTX_FAIL_MEM(err);
	if (st->in_name && !dtx_json_set(c, "in", json_string(st->in_name)))
		DTX_FAIL_MEM(err);
	if (st->out_name && !dtx_json_set(c, "out", json_string(st->out_name)))
		DTX_FAIL_MEM(err);
	if (st->fallback_off && !dtx_json_set(c, "fallback", json_string("off")))
		DTX_FAIL_MEM(err);
	json_object_del(c, "snippet");
	if (st->snippet && !dtx_json_set(c, "snippet", json_true()))
		DTX_FAIL_MEM(err);
	if (json_is_object(st->expect_json) &&
	    !dtx_json_set(c, "expect", dtx_part_strip_deep(st->expect_json)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* A step that cannot be parsed keeps its members as written. */
static enum dtx_code canonical_step(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                                    struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *written = st->json;
	enum dtx_code rc = DTX_OK;
	json_t *c = NULL;

	DTX_TRY(dtx_part_filled(p, st->json, &written, err));
	c = st->op && !st->broken ? json_object() : dtx_part_strip_deep(written);
	if (!c || !dtx_part_keep(p->plan, c))
		DTX_FAIL_MEM(err);
	json_object_del(c, "note");
	if (st->op && !st->broken &&
	    !dtx_param_canonical(st->op->params, st->op->nparams, st->args,
	                         &dtx_part_hooks_template, c))
		DTX_FAIL_MEM(err);
	DTX_TRY(canonical_common(st, c, err));
	dtx_json_canonical(c, &text);
	DTX_TRY(dtx_buf_check(&text, "canonical step", err));
	dtx_sha256_hex(text.ptr, text.len, st->hash);
	st->canonical = c;
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- all of it --- */

static enum dtx_code op_of(struct dtx_plan_parse *p, struct dtx_plan_step *st, json_t *object,
                           struct dtx_err *err)
{
	const json_t *name = json_object_get(object, "op");
	size_t before = p->findings->n;
	const char *preset = NULL;
	struct dtx_err f = DTX_ERR_INIT;
	char at[64];
	enum dtx_code rc = DTX_OK;
	uint32_t hidden;

	snprintf(at, sizeof(at), "%s/op", st->at);
	if (!name) {
		dtx_err_set(&f, DTX_E_MISSING_PARAM, __FILE__, __LINE__, "a step has an 'op'");
		dtx_part_hint_op(object, &f);
		return dtx_part_found(p, &f, at, err);
	}
	if (!json_is_string(name))
		return dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err, "'op' is a text");
	st->name = json_string_value(name);
	hidden = dtx_utf8_first(st->name, dtx_utf8_hides, "");
	if (hidden) {
		rc = dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
		                   "the op's name has the invisible character U+%04X; dtx ops "
		                   "lists the names",
		                   (unsigned)hidden);
		st->name = "";
		return rc;
	}
	st->snippet = json_is_true(json_object_get(object, "snippet"));
	if (st->snippet) { /* a snippet may have any parameters */
		snprintf(at, sizeof(at), "%s/snippet", st->at);
		return dtx_part_fail(p, DTX_E_NEEDS_SNIPPET, at, err,
		                     "the plan leaves this step to a snippet");
	}
	st->op = dtx_op_find(st->name, &preset);
	if (!st->op) {
		DTX_TRY(unknown_op(p, st->name, at, err));
		goto out;
	}
	st->name = st->op->name;
	if (preset)
		DTX_TRY(dtx_part_preset(p, st, object, preset, err));
	DTX_TRY(dtx_part_rewrite(p, st, object, err));
	DTX_TRY(fill_args(p, st, object, before, err));
out:
	return rc;
}

static enum dtx_code parse_step(struct dtx_plan_parse *p, const json_t *written,
                                struct dtx_plan_step *st, int32_t *current, struct dtx_err *err);

/* Adds the core steps of a macro in place of the written step. */
static enum dtx_code parse_macro(struct dtx_plan_parse *p, struct dtx_plan_step *st,
                                 int32_t *current, struct dtx_err *err)
{
	const struct dtx_plan_step written = *st;
	struct dtx_plan_macro *m;
	int32_t before = *current;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(canonical_step(p, st, err));
	DTX_TRY(dtx_macro_expand(p, st, &m, err));
	for (uint32_t i = 0; i < m->count; i++) {
		st[i] = (struct dtx_plan_step){ .macro = m, .part = i, .number = written.number };
		memcpy(st[i].at, written.at, sizeof(written.at));
		p->plan->nsteps = m->first + i + 1;
		DTX_TRY(parse_step(p, m->step[i], &st[i], current, err));
	}
	if (written.out_name)
		*current = before;
out:
	return rc;
}

static enum dtx_code parse_step(struct dtx_plan_parse *p, const json_t *written,
                                struct dtx_plan_step *st, int32_t *current, struct dtx_err *err)
{
	size_t before = p->findings->n;
	json_t *object;
	enum dtx_code rc = DTX_OK;

	st->json = written;
	st->name = "";
	DTX_TRY(dtx_expect_parse(NULL, st->at, &p->plan->arena, p->findings, &st->expect, err));
	if (!json_is_object(written)) {
		st->json = json_object();
		if (!st->json || !dtx_part_keep(p->plan, (json_t *)(uintptr_t)st->json))
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, st->at, err, "a step is an object"));
		dtx_part_advise(p, "as in {\"op\": \"limit\", \"n\": 5}");
	} else {
		object = dtx_part_strip(written);
		if (!object || !dtx_part_keep(p->plan, object))
			DTX_FAIL_MEM(err);
		if (p->made) {
			st->cells = dtx_json_text(written, "dtx_cells", NULL);
			json_object_del(object, "dtx_cells");
		}
		DTX_TRY(op_of(p, st, object, err));
		DTX_TRY(common_members(p, st, object, err));
		DTX_TRY(out_name(p, st, err));
	}
	judge(p, st, before);
	if (st->op && st->op->macro && !st->broken && p->findings->n == before)
		return parse_macro(p, st, current, err);
	before = p->findings->n;
	DTX_TRY(step_tables(p, st, *current, err));
	DTX_TRY(link_rules(p,
	                   &(struct rules_of){ &st->rules, (uint32_t)(st - p->plan->step),
	                                       st->table[0], !st->op, st->at },
	                   err));
	judge(p, st, before);
	DTX_TRY(canonical_step(p, st, err));
	if (!st->out_name)
		*current = (int32_t)(p->plan->ninputs + (uint32_t)(st - p->plan->step));
out:
	return rc;
}

enum dtx_code dtx_part_made_step(struct dtx_plan *plan, const json_t *json,
                                 struct dtx_plan_step *st, struct dtx_errlist *findings,
                                 struct dtx_err *err)
{
	struct dtx_plan_parse p = { .plan = plan, .findings = findings };
	int32_t current = -1;

	return parse_step(&p, json, st, &current, err);
}

enum dtx_code dtx_part_remake_step(struct dtx_plan *plan, const json_t *json,
                                   struct dtx_plan_step *st, struct dtx_errlist *findings,
                                   struct dtx_err *err)
{
	struct dtx_plan_parse p = { .plan = plan, .findings = findings };
	json_t *params = plan->params;
	enum dtx_code rc = DTX_OK;

	plan->params =
		NULL; /* a column may be called "$x", which is no parameter of the plan here */
	st->json = json;
	DTX_TRY(fill_args(&p, st, json, findings->n, err));
	DTX_TRY(canonical_step(&p, st, err));
out:
	plan->params = params;
	return rc;
}

/* Expands the written steps into those that they stand for, and makes room for them. from[i] is the
 * index of the written step for step i. */
static enum dtx_code unfold_steps(struct dtx_plan_parse *p, json_t *all, uint32_t **from,
                                  struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	const json_t *steps = json_object_get(plan->json, "steps");
	enum dtx_code rc = DTX_OK;
	size_t n = 0, i, k = 0;

	*from = dtx_arena_alloc(&plan->arena, p->max_steps + 1u, sizeof(**from));
	if (!*from)
		DTX_FAIL_MEM(err);
	for (i = 0; i < json_array_size(steps); i++) {
		DTX_TRY(dtx_part_unfold(p, steps, i, all, err));
		if (json_array_size(all) > p->max_steps)
			DTX_FAIL(err, DTX_E_PLAN_TOO_LARGE,
			         "a plan has at most %u steps, and these stand for more",
			         p->max_steps);
		for (; k < json_array_size(all); k++)
			(*from)[k] = (uint32_t)i;
	}
	plan->nwritten = (uint32_t)json_array_size(steps);
	for (i = 0; i < json_array_size(all); i++)
		n += dtx_macro_most(json_array_get(all, i));
	plan->step = dtx_arena_zalloc(&plan->arena, n + 1, sizeof(*plan->step));
	if (!plan->step)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_part_steps(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	json_t *list = json_array(), *all = json_array();
	uint32_t *from = NULL;
	int32_t current = 0;
	enum dtx_code rc = DTX_OK;

	if (!list || !all || !dtx_part_keep(plan, json_incref(all)))
		DTX_FAIL_MEM(err);
	DTX_TRY(unfold_steps(p, all, &from, err));
	for (size_t i = 0; i < json_array_size(all); i++) {
		struct dtx_plan_step *st = &plan->step[plan->nsteps++];

		st->number = (int32_t)from[i];
		snprintf(st->at, sizeof(st->at), p->bare ? "/%u" : "/steps/%u", (unsigned)from[i]);
		DTX_TRY(parse_step(p, json_array_get(all, i), st, &current, err));
		if (json_array_append(list, st->macro ? st->macro->canonical : st->canonical) != 0)
			DTX_FAIL_MEM(err);
	}
	plan->result = current;
	if (!dtx_json_set(plan->canonical, "steps", json_incref(list)))
		DTX_FAIL_MEM(err);
out:
	json_decref(list);
	json_decref(all);
	return rc;
}

/* --- links between parts --- */

static enum dtx_code output_table(struct dtx_plan_parse *p, struct dtx_plan_output *o,
                                  struct dtx_err *err)
{
	char at[sizeof(o->at) + 8];

	snprintf(at, sizeof(at), "%s/table", o->at);
	o->table = o->table_name ? find_table(p->plan, p->plan->nsteps, o->table_name)
	                         : p->plan->result;
	if (o->table < 0)
		return unknown_table(p, p->plan->nsteps, o->table_name, at, err);
	return DTX_OK;
}

enum dtx_code dtx_part_links(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(link_rules(p, &(struct rules_of){ &plan->rules, plan->nsteps, 0, false, "" }, err));
	for (uint32_t i = 0; i < p->plan->noutputs; i++)
		DTX_TRY(output_table(p, &p->plan->output[i], err));
	for (uint32_t i = 0; i < p->plan->ninputs; i++)
		if (!dtx_plan_uses(p->plan, (int32_t)i))
			DTX_TRY(dtx_part_fail(p, DTX_W_UNUSED_INPUT, p->plan->input[i].at, err,
			                      "input '%s' is never read", p->plan->input[i].name));
out:
	return rc;
}
