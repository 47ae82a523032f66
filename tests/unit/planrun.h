/* Runs a plan over CSV texts, for tests: result as CSV, or the error. */
#ifndef TESTS_UNIT_PLANRUN_H
#define TESTS_UNIT_PLANRUN_H

#include "core/base/mem.h"
#include "core/data/cast/cast.h"
#include "core/plan/exec/exec.h"
#include "tests/t.h"

struct planrun {
	const char *plan;           /* JSON */
	const char *input[4];       /* CSV per plan input */
	const struct dtx_buf *book; /* a workbook in place of input[0] */
	const char *path;           /* a file in place of it */
	unsigned workers;
	uint32_t batch_rows;
	int fallback;         /* as dtx_exec_opts; 0 is step: set -1 for the plan's */
	uint32_t max_regions; /* 0: the default */
	const atomic_bool *cancel;
	const struct dtx_host *host;
	/* as dtx_exec_opts */
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
/* The code of parse, check or run; findings of severity error count. */
enum dtx_code planrun(struct planrun *p);

/* One plan, its table and what comes out: CSV, or the name of the code it fails with. */
struct plancase {
	const char *plan, *in, *out; /* in NULL: the workbook */
};
#define PLANCASE(steps) "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[" steps "]}"
/* Every case with batches of 1, 7 and 65,536 rows and 2, 1 and 8 workers. */
void plancases(const struct plancase *list, size_t n, const struct dtx_buf *book);
/* Written text of a table, cells as the writer would write them: minimal quotes. */
void planrun_table(struct dtx_table *t, struct dtx_buf *out);

#endif
