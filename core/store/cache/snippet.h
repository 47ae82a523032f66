/* The snippet cache.  The states of a snippet are candidate -> pending -> approved -> superseded |
 * revoked | removed.  Only approved snippets run from the cache.
 *
 * Each change is an event of the ledger.  The table of snippets is derived from these events, and a
 * snippet is checked against them before it runs. */
#ifndef DTX_STORE_CACHE_SNIPPET_H
#define DTX_STORE_CACHE_SNIPPET_H

#include "core/base/memory/arena.h"
#include "core/base/hash/hash.h"
#include "core/base/text/json.h"
#include "core/store/db.h"
#include "core/store/store.h"

#define DTX_SNIPPET_ID       17 /* 16 hex digits and a terminator */
#define DTX_SNIPPET_CODE_MAX ((size_t)64 << 10)

struct dtx_snippet_key {
	const char *ns;          /* namespace */
	const char *fingerprint; /* of the input schema: "f1:..." */
	const char *intent;      /* of the step: "i1:..." */
};

/* One row.  Its texts live in the arena into which it was read; NULL: absent.  needs, flags,
 * col_order, adapter and formulas are JSON text. */
struct dtx_snippet {
	const char *id, *ns, *fingerprint, *intent, *contract_hash, *code_hash, *op, *abi, *needs;
	const char *flags, *col_order, *adapter, *formulas, *origin, *state, *state_by, *note;
	const char *supersedes, *call_id;
	int64_t template_version, state_us, hits, fails, last_hit_us;
};

enum dtx_rung {
	DTX_RUNG_NONE,
	DTX_RUNG_EXACT,
	DTX_RUNG_COMPATIBLE,
	DTX_RUNG_NEAR,
	DTX_RUNG_PENDING,
	DTX_RUNG_SUPPLIED,
	DTX_RUNG_RECORDED
};
/* The outcomes of run.cache: "none", "exact", "compatible", "near" (a proposal, which never runs),
 * "pending", "supplied", "recorded" (a replay). */
const char *dtx_rung_name(enum dtx_rung rung);

/* Finds a snippet: first by the exact key, then one for a compatible schema.  `tables` is the
 * document from which the fingerprint was made (with the classes of the real columns); a compatible
 * snippet needs it.  If it is NULL, or `strict` is set, only the exact key counts.  col_order
 * ({"main": [names]}, JSON text, may be NULL) must match for code that is flagged positional.  *out
 * is filled unless *rung is NONE. */
struct dtx_snippet_ask {
	struct dtx_snippet_key key;
	const json_t *tables;
	const char *col_order;
	bool strict;
};
DTX_MUSTUSE enum dtx_code dtx_snippet_resolve(struct dtx_store *s,
                                              const struct dtx_snippet_ask *ask,
                                              struct dtx_arena *arena, struct dtx_snippet *out,
                                              enum dtx_rung *rung, struct dtx_err *err);

/* Adds a candidate: an event snippet.candidate, with the code as a blob.  The same code under the
 * same key is the same snippet, so nothing is added.  Exception: what was found out here replaces
 * what an import said about it, and it must be approved again.  Code: snippet_revoked if these
 * bytes were revoked in the namespace.  run_id: the run that made it; "" outside of a run. */
struct dtx_snippet_new {
	struct dtx_snippet_key key;
	struct dtx_str code;
	const char *contract_hash; /* hex */
	const char *op, *abi;
	const char *needs, *flags, *col_order, *adapter, *formulas; /* JSON text; NULL: none */
	const char *origin;  /* "supplied", "file", "cmd", "url" */
	const char *call_id; /* NULL: none */
	int64_t template_version;
};
DTX_MUSTUSE enum dtx_code dtx_snippet_add(struct dtx_store *s, const char *run_id,
                                          const struct dtx_snippet_new *add,
                                          char id[DTX_SNIPPET_ID], struct dtx_err *err);

/* Changes the state; one event each.  by: "etl", "supplied", "policy:auto".  Approving a snippet
 * supersedes an older approved snippet with the same key.  Approving an approved snippet does
 * nothing. */
enum dtx_snippet_act {
	DTX_SNIPPET_PENDING,
	DTX_SNIPPET_APPROVE,
	DTX_SNIPPET_REVOKE,
	DTX_SNIPPET_REMOVE
};
DTX_MUSTUSE enum dtx_code dtx_snippet_act(struct dtx_store *s, const char *run_id, const char *id,
                                          enum dtx_snippet_act act, const char *by,
                                          const char *note, struct dtx_err *err);
/* The same inside of a transaction of the caller. */
DTX_MUSTUSE enum dtx_code dtx_snippet_act_in(struct dtx_store *s, const char *run_id,
                                             const char *id, enum dtx_snippet_act act,
                                             const char *by, const char *note, struct dtx_err *err);

/* Finds a snippet by its id or a unique prefix of at least 4 digits.  Code: no_record if none or
 * several match. */
DTX_MUSTUSE enum dtx_code dtx_snippet_get(struct dtx_store *s, const char *id,
                                          struct dtx_arena *arena, struct dtx_snippet *out,
                                          struct dtx_err *err);
/* All snippets in a state, newest first.  state NULL: all except removed.  The items live in the
 * arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_list(struct dtx_store *s, const char *state,
                                           struct dtx_arena *arena, struct dtx_snippet **item,
                                           size_t *n, struct dtx_err *err);
/* Approved snippets with the same namespace and intent, whatever their schema; newest first, at
 * most 64.  The items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_siblings(struct dtx_store *s, const char *ns,
                                               const char *intent, struct dtx_arena *arena,
                                               struct dtx_snippet **item, size_t *n,
                                               struct dtx_err *err);
/* Candidates and superseded snippets that are in this state since before `before_us` and whose code
 * gave no recorded run its result.  drop: also removes them, and their code if no other snippet has
 * it. */
DTX_MUSTUSE enum dtx_code dtx_snippet_dead(struct dtx_store *s, int64_t before_us, bool drop,
                                           const char *by, struct dtx_arena *arena,
                                           struct dtx_snippet **item, size_t *n,
                                           struct dtx_err *err);
/* What an author was asked for a snippet (by its call_id): hash of the prompt, tokens, and what was
 * disclosed.  Code: no_record if no author was asked. */
struct dtx_snippet_call {
	const char *prompt_hash, *model, *policy;
	int64_t in_tokens, out_tokens, rows, cols;
};
DTX_MUSTUSE enum dtx_code dtx_snippet_call(struct dtx_store *s, const char *call_id,
                                           struct dtx_arena *arena, struct dtx_snippet_call *out,
                                           struct dtx_err *err);
/* The hash of the jail policy under which the latest successful run of the snippet took place; ""
 * if it has not run here yet. */
DTX_MUSTUSE enum dtx_code dtx_snippet_policy(struct dtx_store *s, const char *id, char policy[65],
                                             struct dtx_err *err);
/* Finds a run that asked the same author with the same prompt after since_us and failed because of
 * the answer.  run_id is "" if none.  model "": any model. */
DTX_MUSTUSE enum dtx_code dtx_snippet_failed(struct dtx_store *s, const char *prompt_hash,
                                             const char *transport, const char *model,
                                             int64_t since_us, char run_id[40],
                                             struct dtx_err *err);
/* The bytes of the module, checked against their hash. */
DTX_MUSTUSE enum dtx_code dtx_snippet_code(struct dtx_store *s, const char *code_hash,
                                           struct dtx_buf *out, struct dtx_err *err);
/* The first 16 hex digits of SHA-256(ns NUL fingerprint NUL intent NUL code hash); if there is an
 * adapter (NULL: none) also NUL and its text.  An approval is for code, place and adapter
 * together. */
void dtx_snippet_id(const struct dtx_snippet_key *key, const char *code_hash, const char *adapter,
                    char id[DTX_SNIPPET_ID]);
/* The columns of a table in a document of tables, as [["name","class"]...].  NULL: there is no such
 * table. */
const json_t *dtx_snippet_cols(const json_t *tables, const char *alias);
/* The row as JSON.  New reference; NULL: out of memory. */
json_t *dtx_snippet_json(const struct dtx_snippet *snippet);

/* Reads all rows of a query.  The items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_query(struct dtx_store *s, enum dtx_sql sql,
                                            const struct dtx_db_val *val, size_t nvals,
                                            struct dtx_arena *arena, struct dtx_snippet **item,
                                            size_t *n, struct dtx_err *err);

#endif
