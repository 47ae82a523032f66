/* Runs a plan over CSV texts, for tests.  The result is CSV, or an error. */
#ifndef TESTS_UNIT_PLANRUN_H
#define TESTS_UNIT_PLANRUN_H

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/plan/exec/exec.h"
#include "tests/t.h"

struct planrun {
	const char *plan;           /* JSON */
	const char *input[4];       /* CSV for each input of the plan */
	const struct dtx_buf *book; /* a workbook in place of input[0] */
	const char *path;           /* a file in place of input[0] */
	unsigned workers;
	uint32_t batch_rows;
	int fallback;         /* as in dtx_exec_opts; 0 means `step`, -1 what the plan says */
	uint32_t max_regions; /* 0: the default */
	const atomic_bool *cancel;
	const struct dtx_host *host;
	/* as in dtx_exec_opts */
	enum dtx_code (*look)(void *arg, const struct dtx_exec_result *r, struct dtx_err *err);
	void *look_arg;
	bool keep; /* keep plan and result for the test */
	/* results */
	struct dtx_buf out;
	struct dtx_err err;
	struct dtx_errlist findings;
	struct dtx_plan *parsed;
	struct dtx_exec_result *result;
};
void planrun_init(struct planrun *p, const char *plan, const char *input);
void planrun_clear(struct planrun *p);
/* The code of parsing, checking or running.  Findings with severity error count. */
enum dtx_code planrun(struct planrun *p);

/* A plan, its table and the expected result: CSV, or the name of the code with which it fails. */
struct plancase {
	const char *plan, *in, *out; /* in NULL: the workbook */
};
#define PLANCASE(steps) "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[" steps "]}"
/* Runs every case with batches of 1, 7 and 65,536 rows and with 2, 1 and 8 workers. */
void plancases(const struct plancase *list, size_t n, const struct dtx_buf *book);
/* Prints a table with its cells as the writer would write them: quotes only where needed. */
void planrun_table(struct dtx_table *t, struct dtx_buf *out);

#endif
