/* Inputs of several files: which files they are, and the plan that results. */
#include "core/plan/parse/expand_globs.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/t.h"

#define SPREAD                                                                                     \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"k\",\"path\":\"k.csv\"},"                              \
	"{\"name\":\"main\",\"path\":[\"b.csv\",\"a.csv\"],\"source_file\":\"f\"}],"               \
	"\"steps\":[{\"op\":\"limit\",\"n\":3,\"in\":\"main\",\"out\":\"three\"},"                 \
	"{\"op\":\"join\",\"in\":\"main\",\"with\":\"k\",\"on\":[\"id\"]}],"                       \
	"\"output\":[{\"path\":\"-\"},{\"path\":\"t.csv\",\"table\":\"three\"}]}"

struct spread {
	struct dtx_plan *plan;
	struct dtx_errlist findings;
	struct dtx_err err;
};

static enum dtx_code spread(struct spread *s, const char *text, uint32_t input)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_file *file;
	size_t n;

	*s = (struct spread){ .err = DTX_ERR_INIT };
	DTX_TRY(dtx_plan_parse(dtx_str_of(text), NULL, &s->findings, &s->plan, &s->err));
	DTX_TRY(dtx_expand_files(s->plan, input, &file, &n, &s->err));
	DTX_TRY(dtx_expand_input(s->plan, input, file, n, &s->findings, &s->err));
out:
	return rc;
}

static void clear(struct spread *s)
{
	dtx_plan_free(s->plan);
	dtx_errlist_clear(&s->findings);
	dtx_err_clear(&s->err);
}

/* Every table is found: inputs 0 to k, where 1 and 2 are the files, then the steps. */
void test_expand_globs_moves_tables(void)
{
	struct spread s, plain;
	struct dtx_plan *p;

	T_OK(spread(&s, SPREAD, 1), &s.err);
	T_OK(spread(&plain, SPREAD, 0), &plain.err);
	p = s.plan;
	T_INT(s.findings.n, 0);
	T_INT(p->ninputs, 3);
	T_STR(p->input[0].name, "k");
	T_STR(p->input[1].name, "main__1");
	T_STR(p->input[1].path, "b.csv");
	T_STR(p->input[2].opts.alias, "main__2");
	T_INT(p->nsteps, 3);
	T_STR(p->step[0].name, "union");
	T_STR(p->step[0].out_name, "main");
	T_INT(p->step[0].table[0], 1);
	T_INT(p->step[0].table[1], 2);
	T_INT(p->step[1].table[0], 3);
	T_INT(p->step[2].table[0], 3);
	T_INT(p->step[2].table[1], 0);
	T_INT(p->result, 5);
	T_INT(p->output[0].table, 5);
	T_INT(p->output[1].table, 4);
	T_STR(p->id, plain.plan->id);
	clear(&s);
	clear(&plain);
}

static void fails(const char *path, enum dtx_code code)
{
	char text[512];
	struct spread s;

	snprintf(text, sizeof(text),
	         "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":%s},"
	         "{\"name\":\"main__2\",\"path\":\"x\"}],\"steps\":[{\"op\":\"distinct\"}]}",
	         path);
	T_INT(spread(&s, text, 0), code);
	T_CHECK(s.err.msg[0] && s.err.run_time == (code != DTX_E_DUPLICATE_TABLE));
	T_CHECK(dtx_str_starts(dtx_str_of(s.err.at), DTX_STR("/inputs/0")));
	clear(&s);
}

void test_expand_globs_refuses(void)
{
	fails("[\"a\",\"b\"]", DTX_E_DUPLICATE_TABLE);
	fails("[\"a\",\"a\"]", DTX_E_BAD_PARAM_VALUE);
	fails("\"/nowhere/at/all/*.csv\"", DTX_E_INPUT_NOT_FOUND);
}

void test_expand_globs_too_many(void)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 21);
	struct spread s;

	dtx_buf_add(&text, "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":[\"0\"");
	for (int i = 1; i <= DTX_EXPAND_FILES; i++)
		dtx_buf_printf(&text, ",\"%d\"", i);
	dtx_buf_add(&text, "]}],\"steps\":[{\"op\":\"distinct\"}]}");
	T_CODE(spread(&s, dtx_buf_text(&text), 0), DTX_E_BAD_PARAM_VALUE, &s.err);
	T_STR(s.err.msg, "an input is at most 100000 files, '100000' is one more");
	T_STR(s.err.hint, "convert them in groups first");
	clear(&s);
	dtx_buf_clear(&text);
}

/* Sorted by bytes, without folders; the name of the folder itself is not a pattern. */
void test_expand_globs_patterns(void)
{
	static const char *const names[] = { "b.csv", "B.csv", "a.csv", "c.txt" };
	char dir[] = "/tmp/dtx-[s]*-XXXXXX", path[256], text[256];
	struct dtx_errlist findings = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *p = NULL;
	struct dtx_plan_file *file;
	size_t n = 0;

	T_CHECK(mkdtemp(dir) != NULL);
	for (size_t i = 0; i < DTX_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		fclose(fopen(path, "w"));
	}
	snprintf(text, sizeof(text),
	         "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":"
	         "\"*.csv\"}],\"steps\":[{\"op\":\"distinct\"}]}");
	T_OK(dtx_plan_parse(dtx_str_of(text), dir, &findings, &p, &err), &err);
	T_OK(dtx_expand_files(p, 0, &file, &n, &err), &err);
	T_INT(n, 3);
	T_STR(file[0].shown, "B.csv");
	T_STR(file[1].shown, "a.csv");
	T_STR(file[2].shown, "b.csv");
	dtx_plan_free(p);
	p = NULL;
	memcpy(strchr(text, '*'), "x", 1);
	T_OK(dtx_plan_parse(dtx_str_of(text), dir, &findings, &p, &err), &err);
	T_OK(dtx_expand_files(p, 0, &file, &n, &err), &err);
	T_INT(n, 1);
	T_STR(file[0].shown, "x.csv");
	for (size_t i = 0; i < DTX_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	dtx_plan_free(p);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

static enum dtx_code spread_once(void)
{
	struct spread s;
	enum dtx_code rc = spread(&s, SPREAD, 1);

	clear(&s);
	return rc;
}

/* Folders KEY=VALUE are constants of the union, and no columns of the files. */
#define PARTITIONS                                                                                 \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":[\"a/k=1/b.csv\",\"a/k=%32/b.csv\"],"  \
	"\"partitions\":true,\"requires\":[\"k\",\"v\"]}],\"steps\":[{\"op\":\"distinct\"}]}"

static enum dtx_code spread_partitions(void)
{
	struct spread s;
	enum dtx_code rc = spread(&s, PARTITIONS, 0);
	const json_t *k;

	if (rc == DTX_OK) {
		k = json_array_get(json_object_get(s.plan->step[0].canonical, "constants"), 0);
		T_STR(dtx_json_text(k, "name", ""), "k");
		T_STR(dtx_json_text(k, "type", ""), "int");
		T_STR(json_string_value(json_array_get(json_object_get(k, "values"), 1)), "2");
		T_INT(s.plan->input[0].opts.nrequires, 1);
		T_CHECK(s.plan->input[1].same_base);
	}
	clear(&s);
	return rc;
}

void test_expand_globs_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(spread_once());
	T_EVERY_ALLOC_FAILS(spread_partitions());
}
