/* Plans that run: {"plan": {...}, "tables": ["csv", ...]}, mutated as a plan, not as bytes, so that
 * most of them are valid.  Each runs twice, with small batches on one worker and with large ones on
 * three: the same result or the same failure, never a bug. */
#include <stdlib.h>
#include <string.h>

#include "core/expr/fn/fn.h"
#include "core/plan/exec/exec.h"

#define TABLES   2
#define TEXT_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* --- what runs --- */

struct outcome {
	enum dtx_code rc;
	char hash[DTX_TABLEHASH_TEXT];
};

static void run(struct dtx_str text, const json_t *tables, unsigned workers, uint32_t batch_rows,
                struct outcome *out)
{
	struct dtx_source *source[DTX_PLAN_INPUTS] = { NULL };
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_exec_result *r = NULL;
	struct dtx_plan *plan = NULL;
	const json_t *csv;
	size_t i;
	enum dtx_code rc = dtx_plan_parse(text, NULL, &findings, &plan, &err);

	if (rc == DTX_OK)
		rc = dtx_plan_check(plan, &findings, &err);
	json_array_foreach((json_t *)tables, i, csv)
	{
		if (i < TABLES && rc == DTX_OK)
			rc = dtx_source_bytes("in.csv", json_string_value(csv),
			                      json_string_length(csv), &source[i], &err);
	}
	if (rc == DTX_OK) {
		plan->limits.rows = 20000; /* a product of tables takes long otherwise */
		plan->limits.cols = 200;
		opts.input = source;
		opts.workers = workers;
		opts.batch_rows = batch_rows;
		opts.fallback = DTX_FALLBACK_OFF;
		opts.run_date = 20000;
		opts.hash_only = 1;
		rc = dtx_exec(plan, &opts, NULL, &findings, &r, &err);
	}
	if (rc == DTX_E_BUG || err.code == DTX_E_BUG)
		abort();
	out->rc = rc;
	snprintf(out->hash, sizeof(out->hash), "%s", rc == DTX_OK ? r->output[0].table_hash : "");
	dtx_exec_free(r);
	dtx_plan_free(plan);
	for (i = 0; i < TABLES; i++)
		dtx_source_free(source[i]);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

static json_t *parse(const uint8_t *data, size_t size)
{
	const struct dtx_json_limits limits = { TEXT_MAX, 32 };
	json_t *doc = NULL, *csv;
	size_t i;
	bool ok = dtx_json_parse((struct dtx_str){ (const char *)data, size }, limits, &doc,
	                         NULL) == DTX_OK &&
	          json_is_object(json_object_get(doc, "plan")) &&
	          json_is_array(json_object_get(json_object_get(doc, "plan"), "steps"));

	json_array_foreach(json_object_get(doc, "tables"), i, csv) ok = ok && json_is_string(csv);
	if (!ok || !json_array_size(json_object_get(doc, "tables"))) {
		json_decref(doc);
		doc = NULL;
	}
	return doc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	json_t *doc = parse(data, size);
	struct outcome one, three;

	if (!doc)
		return 0;
	dtx_json_print(json_object_get(doc, "plan"), 0, &text);
	run(dtx_buf_str(&text), json_object_get(doc, "tables"), 1, 2, &one);
	run(dtx_buf_str(&text), json_object_get(doc, "tables"), 3, 65536, &three);
	if ((one.rc == DTX_OK) != (three.rc == DTX_OK) || strcmp(one.hash, three.hash) != 0)
		abort();
	dtx_buf_clear(&text);
	json_decref(doc);
	return 0;
}

/* --- the mutator: chance, and what the examples of the operations bring --- */

static uint64_t chance_state;

static size_t chance(size_t n)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return n ? (size_t)(chance_state % n) : 0;
}

static const struct dtx_example *any_example(const struct dtx_op **op)
{
	const struct dtx_example *e;
	size_t n = 0;

	while (dtx_ops[n])
		n++;
	do {
		*op = dtx_ops[chance(n)];
		e = &(*op)->examples[chance((*op)->nexamples)];
	} while (e->error);
	return e;
}

/* Word i of a text that commas and line ends separate; false: there are fewer. */
static bool word_at(const char *text, const char *stop, size_t i, struct dtx_str *out)
{
	while (text && i-- && (text = strpbrk(text, stop)))
		text++;
	if (!text || !*text)
		return false;
	*out = (struct dtx_str){ text, strcspn(text, stop) };
	return true;
}

static struct dtx_str any_column(const char *csv)
{
	struct dtx_str name = { "a", 1 }, first = name;
	size_t n = 0;
	const char *end = strchr(csv, '\n');

	while (word_at(csv, ",\n", n, &name) && (!end || name.ptr < end))
		n++;
	return word_at(csv, ",\n", chance(n), &name) ? name : first;
}

static const char *main_table(const json_t *doc)
{
	const char *csv = json_string_value(json_array_get(json_object_get(doc, "tables"), 0));

	return csv ? csv : "a\n1\n";
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_param(const struct dtx_op *op, struct dtx_str word)
{
	for (size_t i = 0; i < op->nparams; i++)
		if (dtx_str_is(word, op->params[i].name))
			return true;
	return false;
}

/* An example's step, with a column of the plan's table for each of its own. */
static json_t *any_step(const json_t *doc)
{
	const struct dtx_op *op;
	const struct dtx_example *e = any_example(&op);
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	const char *p = e->step;
	json_t *step = NULL;
	struct dtx_str from, to;
	size_t n, i;

	while (*p) {
		for (n = 0; is_word(p[n]);)
			n++;
		from = to = (struct dtx_str){ p, n ? n : 1 };
		for (i = 0; n && !is_param(op, to) && word_at(e->in, ",\n", i, &from) &&
		            from.ptr < e->in + strcspn(e->in, "\n");
		     i++)
			if (from.len == n && !memcmp(from.ptr, p, n))
				to = any_column(main_table(doc));
		dtx_buf_adds(&text, to);
		p += n ? n : 1;
	}
	(void)!dtx_json_parse(dtx_buf_str(&text), (struct dtx_json_limits){ 0 }, &step, NULL);
	dtx_buf_clear(&text);
	return step;
}

static json_t *fresh(void)
{
	const struct dtx_op *op;
	const struct dtx_example *e = any_example(&op);
	json_t *step = NULL;

	(void)!dtx_json_parse(dtx_str_of(e->step), (struct dtx_json_limits){ 0 }, &step, NULL);
	return json_pack("{s{sis[{sssi}{ss}]s[o]}s[ss]}", "plan", "dtx", 1, "inputs", "name",
	                 "main", "header_rows", 1, "name", "other", "steps", step, "tables", e->in,
	                 e->with ? e->with : e->in);
}

/* --- values within their types --- */

static const char *const any_texts[] = { "",
	                                 ",",
	                                 " ",
	                                 "a",
	                                 "a b",
	                                 "\xc3\xa9",
	                                 "%Y-%m-%d",
	                                 "0",
	                                 "-1",
	                                 "1e308",
	                                 "1.50",
	                                 "2024-02-29",
	                                 "null",
	                                 "\"",
	                                 "1d",
	                                 "(a)",
	                                 "x.*(y)?",
	                                 "N/A",
	                                 "2024-01-31T10:00:00" };
static const int64_t any_ints[] = {
	0, 1, -1, 2, 3, 7, 100, 65536, INT32_MAX, INT64_MAX, INT64_MIN
};
static const double any_reals[] = { 0, 0.5, 1, -1.5, 99, 1e308, 5e-324 };
static const char *const any_types[] = { "int",  "float",    "text",         "bool",
	                                 "date", "datetime", "decimal(10,2)" };

static json_t *text_of(struct dtx_str s)
{
	return json_stringn(s.ptr, s.len);
}

/* A call of any function, over columns and constants. */
static json_t *any_formula(const json_t *doc)
{
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	size_t ntables = 0, min, max, n, i;
	const struct dtx_fn *fn;
	json_t *made;

	while (dtx_fns[ntables])
		ntables++;
	ntables = chance(ntables);
	fn = &dtx_fns[ntables]->fn[chance(dtx_fns[ntables]->n)];
	dtx_fn_arity(fn, &min, &max);
	n = min + chance((max < min + 2 ? max : min + 2) - min + 1);
	dtx_buf_printf(&text, "%s(", fn->name);
	for (i = 0; i < n; i++) {
		dtx_buf_add(&text, i ? ", " : "");
		switch (chance(6)) {
		case 0: dtx_buf_printf(&text, "%lld", (long long)any_ints[chance(9)]); break;
		case 1:
			dtx_buf_printf(&text, "'%s'", any_texts[chance(DTX_COUNT(any_texts))]);
			break;
		default:
			dtx_buf_addc(&text, '`');
			dtx_buf_adds(&text, any_column(main_table(doc)));
			dtx_buf_addc(&text, '`');
		}
	}
	dtx_buf_add(&text, chance(4) ? ")" : ") > 2");
	made = text_of(dtx_buf_str(&text));
	dtx_buf_clear(&text);
	return made;
}

static json_t *any_value(const struct dtx_param *p, const json_t *doc);

static json_t *any_item(const struct dtx_param *p, const json_t *doc)
{
	json_t *item = json_object();
	size_t i;

	for (i = 0; i < p->nrows; i++)
		if (p->rows[i].required || !chance(4))
			json_object_set_new(item, p->rows[i].name, any_value(&p->rows[i], doc));
	return item;
}

static json_t *any_value(const struct dtx_param *p, const json_t *doc)
{
	struct dtx_str word;
	size_t n = 0;

	switch (p->kind) {
	case DTX_P_INT:
		return json_integer(chance(3) ? any_ints[chance(DTX_COUNT(any_ints))]
		                              : (chance(2) ? p->min : p->max));
	case DTX_P_NUMBER: return json_real(any_reals[chance(DTX_COUNT(any_reals))]);
	case DTX_P_BOOL: return json_boolean(chance(2));
	case DTX_P_CHOICE:
		while (word_at(p->choices, ",", n, &word))
			n++;
		return word_at(p->choices, ",", chance(n), &word) ? text_of(word) : json_null();
	case DTX_P_COLUMN: return text_of(any_column(main_table(doc)));
	case DTX_P_TABLE: return json_string(chance(4) ? "other" : "main");
	case DTX_P_TYPE: return json_string(any_types[chance(DTX_COUNT(any_types))]);
	case DTX_P_EXPR: return any_formula(doc);
	case DTX_P_COLUMNS:
	case DTX_P_TEXTS:
		return json_pack("[oo]", text_of(any_column(main_table(doc))),
		                 text_of(any_column(main_table(doc))));
	case DTX_P_VALUES: return json_pack("[is]", 1, any_texts[chance(DTX_COUNT(any_texts))]);
	case DTX_P_LIST: return p->nrows ? json_pack("[o]", any_item(p, doc)) : json_array();
	case DTX_P_FRAME: return json_pack("{s[ii]}", "rows", -(int)chance(3), (int)chance(3));
	case DTX_P_SETS: return json_string(chance(2) ? "rollup" : "cube");
	case DTX_P_VALUE:
		if (chance(2))
			return json_integer(any_ints[chance(DTX_COUNT(any_ints))]);
		break;
	default: break;
	}
	return json_string(any_texts[chance(DTX_COUNT(any_texts))]);
}

/* A parameter gets another value, goes, or an item of its list does. */
static void change_params(const struct dtx_param *params, size_t n, json_t *object,
                          const json_t *doc)
{
	const struct dtx_param *p;
	const char *key;
	json_t *now;

	if (!n)
		return;
	p = &params[chance(n)];
	json_object_foreach(object, key, now) if (dtx_param_named(p, key)) break;
	now = key ? now : NULL;
	key = key ? key : p->name;
	if (now && !p->required && !chance(4)) {
		json_object_del(object, key);
	} else if (json_is_array(now) && json_array_size(now) && p->nrows && chance(4)) {
		now = json_array_get(now, chance(json_array_size(now)));
		if (json_is_object(now))
			change_params(p->rows, p->nrows, now, doc);
	} else {
		json_object_set_new(object, key, any_value(p, doc));
	}
}

static void change_steps(json_t *steps, json_t *doc)
{
	size_t n = json_array_size(steps), i = chance(n), k = chance(n);
	json_t *one = json_array_get(steps, i);
	const struct dtx_op *op;

	switch (n > 8 ? 3 : chance(n ? 9 : 1)) {
	case 0:
	case 1: json_array_insert_new(steps, chance(n + 1), any_step(doc)); break;
	case 2: json_array_insert_new(steps, chance(n + 1), json_deep_copy(one)); break;
	case 3: json_array_remove(steps, i); break;
	case 4:
		json_incref(one);
		json_array_set(steps, i, json_array_get(steps, k));
		json_array_set_new(steps, k, one);
		break;
	default:
		op = dtx_op_find(dtx_json_text(one, "op", ""), NULL);
		if (op)
			change_params(op->params, op->nparams, one, doc);
	}
}

/* A line goes or comes twice, or a cell becomes another; mostly below the header. */
static void change_table(json_t *tables)
{
	size_t t = chance(json_array_size(tables)), n = 0;
	const char *csv = json_string_value(json_array_get(tables, t));
	bool lines = !chance(3);
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	const char *head = csv ? csv : "";
	struct dtx_str word;

	if (chance(16) && word_at(head, "\n", 1, &word))
		csv = word.ptr;
	while (csv && word_at(csv, lines ? "\n" : ",\n", n, &word))
		n++;
	if (n && word_at(csv, lines ? "\n" : ",\n", chance(n), &word)) {
		dtx_buf_addn(&text, head, (size_t)(word.ptr - head));
		if (!lines)
			dtx_buf_add(&text, any_texts[chance(DTX_COUNT(any_texts))]);
		for (n = lines ? chance(2) * 2 : 0; n; n--) {
			dtx_buf_adds(&text, word);
			dtx_buf_addc(&text, '\n');
		}
		dtx_buf_add(&text, word.ptr + word.len + (lines && word.ptr[word.len]));
		json_array_set_new(tables, t, text_of(dtx_buf_str(&text)));
	}
	dtx_buf_clear(&text);
}

/* Whether the plan runs.  What is tried is kept in a file: libFuzzer keeps the input only of a
 * target that fails. */
static bool runs(const json_t *doc)
{
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	struct outcome one;

	(void)json_dump_file(doc, "/dev/shm/dtx-fuzz-run.json", 0);
	dtx_json_print(json_object_get(doc, "plan"), 0, &text);
	run(dtx_buf_str(&text), json_object_get(doc, "tables"), 1, 64, &one);
	dtx_buf_clear(&text);
	return one.rc == DTX_OK;
}

static json_t *changed(const json_t *from)
{
	json_t *doc = from && chance(20) ? json_deep_copy(from) : fresh();

	for (size_t n = 1 + chance(3); n; n--) {
		if (chance(5))
			change_steps(json_object_get(json_object_get(doc, "plan"), "steps"), doc);
		else
			change_table(json_object_get(doc, "tables"));
	}
	return doc;
}

/* Most plans that it makes run; some do not. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct dtx_buf text = DTX_BUF_INIT(TEXT_MAX);
	json_t *from = parse(data, size), *doc = NULL;
	size_t n = 0;

	chance_state = seed * 0x9e3779b97f4a7c15u + 1;
	do {
		json_decref(doc);
		doc = changed(from);
	} while (!runs(doc) && chance(8));
	dtx_json_print(doc, 0, &text);
	if (text.len < max)
		memcpy(data, text.ptr, n = text.len);
	dtx_buf_clear(&text);
	json_decref(from);
	json_decref(doc);
	return n;
}
