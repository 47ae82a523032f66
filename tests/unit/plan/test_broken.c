/* Plans that are refused, or that fail on their tables.  Each is a line of
 * tests/schema/broken.jsonl. */
#include "core/base/file.h"
#include "core/base/text/json.h"
#include "tests/unit/planrun.h"

#define BROKEN     "tests/schema/broken.jsonl"
#define TABLE      "a,b,d,n\n1,x,2024-01-31,2.5\n2,y,9999-12-31,\n3,x,0001-01-01,1\n"
#define BROKEN_MAX ((size_t)1 << 20)

struct broken {
	json_t *row;
	const char *line; /* for messages */
	int nth;
};

/* The plan of a row: a whole plan, or two inputs with the steps and members of the row. */
static void broken_plan(const struct broken *b, struct dtx_buf *out)
{
	json_t *plan = json_object_get(b->row, "plan"), *part;
	const char *key;

	if (plan) {
		dtx_json_print(plan, 0, out);
		return;
	}
	plan = json_pack("{s:i, s:[{s:s}, {s:s}], s:[{s:s}]}", "dtx", 1, "inputs", "name", "main",
	                 "name", "other", "steps", "op", "distinct");
	if (json_object_get(b->row, "steps"))
		json_object_set(plan, "steps", json_object_get(b->row, "steps"));
	json_object_foreach(json_object_get(b->row, "members"), key, part)
		json_object_set(plan, key, part);
	dtx_json_print(plan, 0, out);
	json_decref(plan);
}

/* The first finding that is not a warning, which is what the command prints first. */
static const struct dtx_err *broken_found(const struct planrun *p)
{
	if (p->err.code != DTX_OK && !p->findings.n)
		return &p->err;
	for (size_t i = 0; i < p->findings.n; i++)
		if (p->findings.item[i].severity != DTX_SEV_WARNING)
			return &p->findings.item[i];
	return &p->err;
}

static int64_t broken_errors(const struct planrun *p)
{
	int64_t n = 0;

	for (size_t i = 0; i < p->findings.n; i++)
		n += p->findings.item[i].severity != DTX_SEV_WARNING;
	return n;
}

static void broken_text(const struct broken *b, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		t_fail(BROKEN, b->nth, "%s is '%s', expected '%s'\n# %s", what, got, want, b->line);
}

static void broken_words(const struct broken *b, const char *what, const char *got,
                         const char *want)
{
	if (!strstr(got, want))
		t_fail(BROKEN, b->nth, "%s: '%s' lacks '%s'\n# %s", what, got, want, b->line);
}

static void broken_span(const struct broken *b, const struct dtx_err *f)
{
	const json_t *want = json_object_get(b->row, "span");
	char got[40] = "null", text[40] = "null";

	if (!want)
		return;
	if (f->span[0] >= 0)
		snprintf(got, sizeof(got), "[%d, %d]", f->span[0], f->span[1]);
	if (!json_is_null(want))
		snprintf(text, sizeof(text), "[%d, %d]",
		         (int)json_integer_value(json_array_get(want, 0)),
		         (int)json_integer_value(json_array_get(want, 1)));
	broken_text(b, "span", got, text);
}

/* The place in the input. */
static void broken_where(const struct broken *b, const struct dtx_err *f)
{
	const json_t *where = json_object_get(b->row, "where");

	broken_text(b, "input", f->input, dtx_json_text(where, "input", f->input));
	broken_text(b, "cell", f->cell, dtx_json_text(where, "cell", f->cell));
	broken_text(b, "column", f->column, dtx_json_text(where, "column", f->column));
	T_INT(f->row, dtx_json_int(where, "row", f->row + 1) - 1);
	T_INT(f->byte, dtx_json_int(where, "byte", f->byte));
}

static void broken_one(const struct broken *b)
{
	struct dtx_buf plan = DTX_BUF_INIT(BROKEN_MAX);
	const struct dtx_err *f;
	struct planrun p;

	broken_plan(b, &plan);
	planrun_init(&p, dtx_buf_text(&plan), dtx_json_text(b->row, "in", TABLE));
	p.input[1] = json_is_null(json_object_get(b->row, "other"))
	                     ? NULL
	                     : dtx_json_text(b->row, "other", TABLE);
	p.fallback = DTX_FALLBACK_OFF;
	T_CHECK(planrun(&p) != DTX_OK);
	f = broken_found(&p);
	broken_text(b, "code", dtx_code_name(f->code), dtx_json_text(b->row, "code", ""));
	broken_text(b, "at", f->at, dtx_json_text(b->row, "at", ""));
	broken_span(b, f);
	broken_where(b, f);
	broken_words(b, "message", f->msg, dtx_json_text(b->row, "says", "?"));
	broken_words(b, "hint", f->hint, dtx_json_text(b->row, "hint", ""));
	T_INT(broken_errors(&p), dtx_json_int(b->row, "findings", broken_errors(&p)));
	planrun_clear(&p);
	dtx_buf_clear(&plan);
}

void test_broken_plans_are_refused_where_they_are_wrong(void)
{
	static const char known[] = "code,at,span,says,hint,where,steps,members,plan,in,other,"
				    "findings";
	struct dtx_buf text = DTX_BUF_INIT(BROKEN_MAX);
	struct dtx_json_limits limits = { BROKEN_MAX, 64 };
	struct dtx_err err = DTX_ERR_INIT;
	struct broken b = { .nth = 0 };
	const char *key;
	json_t *value;

	T_OK(dtx_file_slurp(BROKEN, &text, &err), &err);
	for (char *line = strtok((char *)(uintptr_t)dtx_buf_text(&text), "\n"); line;
	     line = strtok(NULL, "\n")) {
		b.line = line;
		b.nth++;
		T_OK(dtx_json_parse(dtx_str_of(line), limits, &b.row, &err), &err);
		json_object_foreach(b.row, key, value) T_CHECK(dtx_str_in_list(known, key));
		broken_one(&b);
		json_decref(b.row);
	}
	T_CHECK(b.nth > 70);
	dtx_buf_clear(&text);
}
