/* Runs a recorded program of `dtx exec` again and compares the results: status, what it printed,
 * the value of its last expression, and its files. */
#ifndef DTX_CLI_EXEC_EXEC_REPLAY_H
#define DTX_CLI_EXEC_EXEC_REPLAY_H

#include "cli/cmd.h"
#include "core/base/text/json.h"
#include "core/store/store.h"

/* `record` is that of the run, with its files looked at. If it is a call of a session, all calls up
 * to it run again, in a session of their own. Files go to `into` (NULL: they are removed), those of
 * call N to the folder call-N. *report gets {"replay_of","calls":[{"call","run","run_id","verdict",
 * "files","differs"}],"outputs","changed"}, a new reference. Errors: no_record, input_changed, and
 * those of a run. */
DTX_MUSTUSE enum dtx_code dtx_exec_replay(const struct dtx_cli *cli, struct dtx_store *store,
                                          const json_t *record, const char *into, json_t **report,
                                          bool *differs, struct dtx_err *err);
void dtx_exec_replay_print(const json_t *report, struct dtx_buf *out);

#endif
