/* A fallback for tests: a jail that plays what the code says, an author with a script, a store in
 * the scratch folder. */
#ifndef TESTS_UNIT_FALLBACKMAKE_H
#define TESTS_UNIT_FALLBACKMAKE_H

#include "core/fallback/fallback.h"
#include "tests/unit/planrun.h"

/* Lines of a module that the jail understands (others are Python for the reader):
 *   #ok                 the table n = 10, 11 (default)
 *   #columns NAME...    a table of these int columns instead
 *   #text VALUE         all its columns are text, of that value
 *   #raise TEXT         ValueError of that text in the line before
 *   #leak TEXT          ValueError of that text and the cells of main's first column
 *   #status NAME        the run ends so ("timeout")
 *   #screen CLASS       the screen refuses it
 *   #seeded [POLICY]    the result depends on the hash seed (under that policy)
 *   #reads NAME...      what the screen says it reads
 *   #flags NAME...      ... and its flags
 *   #assumes CONDITION  one ASSUMES
 *   #formula NAME EXPR  one FORMULAS
 */
#define MODULE(lines) "```python\ndef transform(tables, params):\n" lines "```\n"

struct fallbackmake {
	struct dtx_fallback_ctx r;
	struct dtx_author author;
	const char *const *answer; /* NULL at the end; "!text" fails, "~text" was cut */
	size_t asked;
	char prompts[8][65]; /* hashes of what was asked */
	struct dtx_buf last_prompt;
	struct dtx_store *store;
	struct planrun run;
	const char *policy;    /* hash of the jail's; NULL: it tells none */
	int jailed;            /* runs in the jail */
	char columns[200];     /* of table main, as the jail got them */
	struct dtx_buf events; /* of the last run: kind, and what it tells */
	char store_path[4096];
	uint32_t max_regions; /* 0: the default */
	uint64_t dropped;     /* regions whose answers the run is said not to use in the end */
};
void fallbackmake_init(struct fallbackmake *m, const char *name);
void fallbackmake_clear(struct fallbackmake *m);
/* The jail plays for this one again, after another was made meanwhile. */
void fallbackmake_use(struct fallbackmake *m);
/* One run of `plan` on `csv` with a record of its own; the result is m->run.out. */
enum dtx_code fallbackmake_run(struct fallbackmake *m, const char *plan, const char *csv);

/* --- runs as rows --- */

#define FROB    "{\"op\":\"frob\",\"by\":[\"k\"]}"
#define PLAN    PLANCASE(FROB ",{\"op\":\"filter\",\"where\":\"n > 10\"}")
#define EXPECTS PLANCASE("{\"op\":\"frob\",\"expect\":{\"rows\":{\"min\":5}}}")
#define CSV     "k,v\na,1\nb,2\n"

#define RUNS   "jail.end jail.end"
#define SENT   "author.sent author.got:ok "
#define ASKED  "run.trigger:unknown_op run.cache:none " SENT
#define STORED " snippet.candidate snippet.pending:dtx "
#define FINE   RUNS STORED "snippet.approved:policy:auto"

/* One run with an empty cache and an author that answers so. */
struct fallback_state {
	const char *plan; /* NULL: PLAN */
	const char *answer[4];
	const char *approve; /* NULL: auto */
	enum dtx_code code;
	const char *events;
	unsigned attempts; /* allowed; 0: 3 */
	bool nobody, cache_only;
};
/* The run of a row, and what it must give; i tells rows apart. */
void fallbackmake_state(const struct fallback_state *row, size_t i);
/* The store's files hold none of these texts. */
void fallbackmake_lacks(const struct fallbackmake *m, const char *const *canary, size_t n);

#endif
