/* The command `dtx snippet`: the state of one call, and the verbs that are in other files. */
#ifndef DTX_CLI_STORE_SNIPPETS_H
#define DTX_CLI_STORE_SNIPPETS_H

#include "cli/run/runner.h"
#include "core/store/cache/snippet.h"

struct dtx_snippets_args {
	struct dtx_run_args run; /* first, because `add` is a run up to the approval */
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
	char **argv; /* the arguments after the verb */
};
const char *dtx_snippets_user(void);

/* Writes snippets as JSON lines with the code in base64; without ids, all approved ones. */
DTX_MUSTUSE enum dtx_code dtx_snippets_export(struct dtx_snippets *c, struct dtx_err *err);
/* Reads such lines; new snippets become pending. The whole file is checked before the first one
 * is added. */
DTX_MUSTUSE enum dtx_code dtx_snippets_import(struct dtx_snippets *c, struct dtx_err *err);
/* Compares two snippets: the code, then everything else. */
DTX_MUSTUSE enum dtx_code dtx_snippets_diff(struct dtx_snippets *c, struct dtx_err *err);

#endif
