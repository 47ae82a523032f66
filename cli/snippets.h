/* Inside `dtx snippet`: one call of a verb, and the verbs that have files of their own. */
#ifndef DTX_CLI_SNIPPETS_H
#define DTX_CLI_SNIPPETS_H

#include "cli/run/runner.h"
#include "core/store/cache/snippet.h"

struct dtx_snippets_args {
	struct dtx_run_args run; /* first: `add` is a run up to the approval */
	const char *plan, *state, *note, *older_than;
	struct dtx_optlist rename;
	bool json, code, prompt, checks, apply;
};
struct dtx_snippets {
	const struct dtx_cli *cli;
	struct dtx_snippets_args *args;
	struct dtx_store *store;
	struct dtx_arena arena;
	struct dtx_buf out;
	int argc;
	char **argv; /* behind the verb */
};
const char *dtx_snippets_user(void);

/* JSON lines with the code in base64; all approved ones without ids. */
DTX_MUSTUSE enum dtx_code dtx_snippets_export(struct dtx_snippets *c, struct dtx_err *err);
/* Reads such lines; what is new becomes pending.  All of the file, or nothing of it, is looked at
 * before the first is added. */
DTX_MUSTUSE enum dtx_code dtx_snippets_import(struct dtx_snippets *c, struct dtx_err *err);
/* Code, then what else differs. */
DTX_MUSTUSE enum dtx_code dtx_snippets_diff(struct dtx_snippets *c, struct dtx_err *err);

#endif
