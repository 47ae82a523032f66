/* Steps as words of a command line: what an op's table makes possible, and the way back. */
#include "cli/pipe/step_words.h"
#include "core/base/memory/mem.h"
#include "core/plan/plan.h"
#include "tests/t.h"

#define INPUTS "\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}]"

/* The id of a plan; "": it is invalid. */
static void plan_id(const char *text, char *id, size_t size)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_plan *plan = NULL;
	const struct dtx_err *worst;

	id[0] = '\0';
	if (dtx_plan_parse(dtx_str_of(text), NULL, &findings, &plan, NULL) == DTX_OK) {
		worst = dtx_errlist_worst(&findings);
		if (!worst || worst->severity == DTX_SEV_WARNING)
			dtx_str_copy(id, size, dtx_str_of(plan->id));
	}
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
}

static void words_id(json_t *words, char *id, size_t size)
{
	static char main_file[] = "in.csv", other_file[] = "other=o.csv";
	char *files[] = { main_file, other_file }, *word[64];
	struct dtx_words p = { .nfiles = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	char *text;
	int n = (int)json_array_size(words);

	id[0] = '\0';
	for (int i = 0; i < n && i < 64; i++)
		word[i] = (char *)(uintptr_t)json_string_value(json_array_get(words, (size_t)i));
	if (dtx_words_parse(&p, 2, files, n, word, &err) == DTX_OK) {
		text = json_dumps(p.plan, 0);
		plan_id(text, id, size);
		dtx_mem_free(text);
	}
	T_STR(err.msg, "");
	dtx_words_clear(&p);
	dtx_err_clear(&err);
}

/* Examples with the spelling of another tool that words do not have, by the reason. */
static const char *const not_sayable[] = {
	"suffixes",       /* of a join: KEY=VALUE are its keys */
	"\"cols\" : true" /* of add_totals: column=true */
};

static void say_example(const char *step)
{
	json_t *json = json_loads(step, 0, NULL), *words = dtx_words_of(json);
	char want[100], got[100], text[4096];
	bool allowed = false;

	for (size_t i = 0; i < DTX_COUNT(not_sayable); i++)
		allowed |= strstr(step, not_sayable[i]) != NULL;
	T_CHECK((words != NULL) != allowed);
	snprintf(text, sizeof(text), "{\"dtx\":1," INPUTS ",\"steps\":[%s]}", step);
	plan_id(text, want, sizeof(want));
	if (words) {
		words_id(words, got, sizeof(got));
		T_STR(got, want);
	}
	if (words ? strcmp(got, want) != 0 : !allowed)
		t_fail(__FILE__, __LINE__, "%s", step);
	json_decref(words);
	json_decref(json);
}

/* Every example of every op can be written as words, and these mean the same step. */
void test_step_words_say_every_example(void)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		for (size_t k = 0; k < dtx_ops[i]->nexamples; k++)
			say_example(dtx_ops[i]->examples[k].step);
}

static enum dtx_code parse_line(const char *line, struct dtx_words *p, struct dtx_err *err)
{
	static char main_file[] = "in.csv";
	static char text[1024], *word[64];
	char *files[] = { main_file };
	struct dtx_str rest, one;
	int n = 0;

	dtx_str_copy(text, sizeof(text), dtx_str_of(line));
	rest = dtx_str_of(text);
	while (dtx_str_next(&rest, '|', &one)) {
		word[n] = text + (one.ptr - text);
		word[n++][one.len] = '\0';
	}
	return dtx_words_parse(p, 1, files, n, word, err);
}

static enum dtx_code parse_once(const char *line)
{
	struct dtx_words p = { .nfiles = 0 };
	enum dtx_code rc = parse_line(line, &p, NULL);

	dtx_words_clear(&p);
	return rc;
}

void test_step_words_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(
		parse_once("join|in 2.csv|a=b|c=d|then|group_by|a,\"b,c\"|n=count()|"
	                   "sets=rollup|@out=x|then|nullify|a|1,true|then|nosuch|1|b=2,3"));
}

/* The argument that a place of the plan was made of, and the part of it. */
static void place_is(const char *line, const char *at, const char *word, const char *part)
{
	struct dtx_words p = { .nfiles = 0 };
	const struct dtx_words_place *place;
	char got[256] = "";

	T_CODE(parse_line(line, &p, NULL), DTX_OK, NULL);
	place = dtx_words_find(&p, at);
	T_CHECK(place != NULL);
	if (place) {
		T_STR(place->word, word);
		dtx_str_copy(
			got, sizeof(got),
			(struct dtx_str){ place->word + place->from, place->to - place->from });
		T_STR(got, part);
	}
	dtx_words_clear(&p);
}

void test_step_words_places(void)
{
	place_is("head|3|then|group_by|a,b|n=sum(c)", "/steps/0/n", "3", "3");
	place_is("head|3|then|group_by|a,b|n=sum(c)", "/steps/1/by/1", "a,b", "b");
	place_is("head|3|then|group_by|a,b|n=sum(c)", "/steps/1/by/1/as", "a,b", "b");
	place_is("head|3|then|group_by|a,b|n=sum(c)", "/steps/1/agg/n", "n=sum(c)", "sum(c)");
	place_is("head|3|then|group_by|a,b|n=sum(c)", "/steps/1", "group_by", "group_by");
	place_is("head|n=3", "/steps/0/n", "n=3", "3");
	place_is("head|n=3", "/steps/0/by", "head", "head");
	place_is("join|no.csv|x=y", "/steps/0/on/0/left", "x=y", "x");
	place_is("join|no.csv|x=y", "/steps/0/on/0/right", "x=y", "y");
	place_is("join|no.csv|x=y", "/inputs/1", "no.csv", "no.csv");
	place_is("select|a/b,c", "/steps/0/cols/0", "a/b,c", "a/b");
}

/* NAME=VALUE against comparisons. */
void test_step_words_names(void)
{
	T_INT(dtx_words_name("n=3"), 1);
	T_INT(dtx_words_name("unit price=a == b"), 10);
	T_INT(dtx_words_name("a == b"), 0);
	T_INT(dtx_words_name("a==b"), 0);
	T_INT(dtx_words_name("a >= 3"), 0);
	T_INT(dtx_words_name("a != 3"), 0);
	T_INT(dtx_words_name("=3"), 0);
	T_INT(dtx_words_name("n="), 1);
	T_INT(dtx_words_name("plain"), 0);
}
