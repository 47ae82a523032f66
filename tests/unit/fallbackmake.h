/* A fallback for tests: a jail that does what comments in the code say, an author with a script,
 * and a store in the scratch folder. */
#ifndef TESTS_UNIT_FALLBACKMAKE_H
#define TESTS_UNIT_FALLBACKMAKE_H

#include "core/fallback/fallback.h"
#include "tests/unit/planrun.h"

/* Lines of a module that the jail understands (all other lines are Python for the reader):
 *   #ok                 the result is the table n = 10, 11 (the default)
 *   #columns NAME...    a table with these int columns instead
 *   #text VALUE         all its columns are text and have that value
 *   #raise TEXT         ValueError with that text, raised in the line before
 *   #leak TEXT          ValueError with that text and the cells of main's first column
 *   #status NAME        the run ends with this status ("timeout")
 *   #screen CLASS       the screen refuses the module
 *   #seeded [POLICY]    the result depends on the hash seed (under that policy)
 *   #reads NAME...      the columns that the screen reports as read
 *   #flags NAME...      the flags that the screen reports
 *   #assumes CONDITION  one ASSUMES
 *   #formula NAME EXPR  one FORMULAS */
#define MODULE(lines) "```python\ndef transform(tables, params):\n" lines "```\n"

struct fallbackmake {
	struct dtx_fallback_ctx r;
	struct dtx_author author;
	const char *const *answer; /* NULL at the end; "!text" fails, "~text" was cut */
	size_t asked;
	char prompts[8][65]; /* hashes of the prompts */
	struct dtx_buf last_prompt;
	struct dtx_store *store;
	struct planrun run;
	const char *policy;    /* hash of the jail's policy; NULL: the jail reports none */
	int jailed;            /* number of runs in the jail */
	char columns[200];     /* columns of table main, as the jail received them */
	struct dtx_buf events; /* of the last run: kinds, and what they report */
	char store_path[4096];
	uint32_t max_regions; /* 0: the default */
	uint64_t dropped;     /* bits of regions whose answers the run does not use in the end */
};
void fallbackmake_init(struct fallbackmake *m, const char *name);
void fallbackmake_clear(struct fallbackmake *m);
/* Makes the jail work for this fallback again, after another one was made. */
void fallbackmake_use(struct fallbackmake *m);
/* Runs `plan` on `csv` with a record of its own; the result is m->run.out. */
enum dtx_code fallbackmake_run(struct fallbackmake *m, const char *plan, const char *csv);

/* --- runs as rows of a table --- */

#define FROB    "{\"op\":\"frob\",\"by\":[\"k\"]}"
#define PLAN    PLANCASE(FROB ",{\"op\":\"filter\",\"where\":\"n > 10\"}")
#define EXPECTS PLANCASE("{\"op\":\"frob\",\"expect\":{\"rows\":{\"min\":5}}}")
#define CSV     "k,v\na,1\nb,2\n"

#define RUNS   "jail.end jail.end"
#define SENT   "author.sent author.got:ok "
#define ASKED  "run.trigger:unknown_op run.cache:none " SENT
#define STORED " snippet.candidate snippet.pending:dtx "
#define FINE   RUNS STORED "snippet.approved:policy:auto"

/* A run with an empty cache and an author that gives these answers. */
struct fallback_state {
	const char *plan; /* NULL: PLAN */
	const char *answer[4];
	const char *approve; /* NULL: auto */
	enum dtx_code code;
	const char *events;
	unsigned attempts; /* number of attempts that are allowed; 0: 3 */
	bool nobody, cache_only;
};
/* Runs a row and checks its result; i is the number of the row. */
void fallbackmake_state(const struct fallback_state *row, size_t i);
/* Checks that the files of the store contain none of these texts. */
void fallbackmake_lacks(const struct fallbackmake *m, const char *const *canary, size_t n);

#endif
