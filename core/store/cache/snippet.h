/* The snippet cache: states candidate -> pending -> approved -> superseded | revoked | removed.
 * Only approved ones run from the cache. */
#ifndef DTX_STORE_CACHE_SNIPPET_H
#define DTX_STORE_CACHE_SNIPPET_H

#include "core/base/arena.h"
#include "core/base/hash/hash.h"
#include "core/base/text/json.h"
#include "core/store/store.h"

#define DTX_SNIPPET_ID       17 /* 16 hex digits and terminator */
#define DTX_SNIPPET_CODE_MAX ((size_t)64 << 10)

struct dtx_snippet_key {
	const char *ns;          /* namespace */
	const char *fingerprint; /* "f1:..." */
	const char *intent;      /* "i1:..." */
};

/* One row; texts live in the arena it was read into.  NULL: absent.  needs, flags, col_order,
 * adapter and formulas are JSON text. */
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
/* "none", "exact", "compatible", "near" (a proposal, it never runs), "pending", "supplied",
 * "recorded" (a replay): outcomes of run.cache. */
const char *dtx_rung_name(enum dtx_rung rung);

/* Walks the ladder.  `tables` is the document the fingerprint was made from (classes of the real
 * columns): compatible needs it; NULL, or strict: exact only.  col_order ({"main": [names]}, JSON
 * text, may be NULL) is asked of code flagged positional.  *out is filled unless *rung is NONE. */
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

/* Adds a candidate (event snippet.candidate with the code as a blob).  The same code under the
 * same key is the same snippet: nothing is added, except that what is found out here replaces what
 * an import said of it (and it waits for approval again).  snippet_revoked when these bytes are
 * refused in the namespace.  run_id: the run it came from, "" outside one. */
struct dtx_snippet_new {
	struct dtx_snippet_key key;
	struct dtx_str code;
	const char *contract_hash; /* hex */
	const char *op, *abi;
	const char *needs, *flags, *col_order, *adapter, *formulas; /* JSON text, NULL */
	const char *origin;  /* "supplied", "file", "cmd", "url" */
	const char *call_id; /* NULL */
	int64_t template_version;
};
DTX_MUSTUSE enum dtx_code dtx_snippet_add(struct dtx_store *s, const char *run_id,
                                          const struct dtx_snippet_new *add,
                                          char id[DTX_SNIPPET_ID], struct dtx_err *err);

/* One event each.  by: "etl", "supplied", "policy:auto".  Approving supersedes an older approved
 * snippet of the same key; approving what is approved does nothing. */
enum dtx_snippet_act {
	DTX_SNIPPET_PENDING,
	DTX_SNIPPET_APPROVE,
	DTX_SNIPPET_REVOKE,
	DTX_SNIPPET_REMOVE
};
DTX_MUSTUSE enum dtx_code dtx_snippet_act(struct dtx_store *s, const char *run_id, const char *id,
                                          enum dtx_snippet_act act, const char *by,
                                          const char *note, struct dtx_err *err);
/* The same inside a transaction. */
DTX_MUSTUSE enum dtx_code dtx_snippet_act_in(struct dtx_store *s, const char *run_id,
                                             const char *id, enum dtx_snippet_act act,
                                             const char *by, const char *note, struct dtx_err *err);

/* By id or a unique prefix of 4 or more digits; no_record when none or several fit. */
DTX_MUSTUSE enum dtx_code dtx_snippet_get(struct dtx_store *s, const char *id,
                                          struct dtx_arena *arena, struct dtx_snippet *out,
                                          struct dtx_err *err);
/* Newest first; state NULL: all but removed.  Items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_list(struct dtx_store *s, const char *state,
                                           struct dtx_arena *arena, struct dtx_snippet **item,
                                           size_t *n, struct dtx_err *err);
/* Approved ones of the same namespace and intent, whatever their schema; newest first, at most 64.
 * Items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_siblings(struct dtx_store *s, const char *ns,
                                               const char *intent, struct dtx_arena *arena,
                                               struct dtx_snippet **item, size_t *n,
                                               struct dtx_err *err);
/* Candidates and superseded ones since before `before_us` that no recorded run had its result from.
 * drop: also removes them, and their code where nobody else has it. */
DTX_MUSTUSE enum dtx_code dtx_snippet_dead(struct dtx_store *s, int64_t before_us, bool drop,
                                           const char *by, struct dtx_arena *arena,
                                           struct dtx_snippet **item, size_t *n,
                                           struct dtx_err *err);
/* What an author was asked for a snippet (by its call_id): hash of the prompt, tokens, what it
 * showed; no_record when nobody was. */
struct dtx_snippet_call {
	const char *prompt_hash, *model, *policy;
	int64_t in_tokens, out_tokens, rows, cols;
};
DTX_MUSTUSE enum dtx_code dtx_snippet_call(struct dtx_store *s, const char *call_id,
                                           struct dtx_arena *arena, struct dtx_snippet_call *out,
                                           struct dtx_err *err);
/* Hash of the jail policy under which its latest run ended well, "": it has not run here yet. */
DTX_MUSTUSE enum dtx_code dtx_snippet_policy(struct dtx_store *s, const char *id, char policy[65],
                                             struct dtx_err *err);
/* A run that asked the same author for the same prompt after since_us and failed by what it got;
 * run_id "" when there is none.  model "": any. */
DTX_MUSTUSE enum dtx_code dtx_snippet_failed(struct dtx_store *s, const char *prompt_hash,
                                             const char *transport, const char *model,
                                             int64_t since_us, char run_id[40],
                                             struct dtx_err *err);
/* The module's bytes, checked against their hash. */
DTX_MUSTUSE enum dtx_code dtx_snippet_code(struct dtx_store *s, const char *code_hash,
                                           struct dtx_buf *out, struct dtx_err *err);
/* First 16 hex of SHA-256(ns NUL fingerprint NUL intent NUL code hash), with an adapter (NULL:
 * none) also NUL and its text: what is approved is code, place and adapter together. */
void dtx_snippet_id(const struct dtx_snippet_key *key, const char *code_hash, const char *adapter,
                    char id[DTX_SNIPPET_ID]);
/* Columns, [["name","class"]...], of a table in a document of tables; NULL: no such table. */
const json_t *dtx_snippet_cols(const json_t *tables, const char *alias);
/* The row as JSON; new reference, NULL: out of memory. */
json_t *dtx_snippet_json(const struct dtx_snippet *snippet);

#endif
