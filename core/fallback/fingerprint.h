/* The key under which a snippet is cached: a fingerprint of the tables that it gets, and a hash
 * of what it should do. Both are SHA-256 over canonical JSON (RFC 8785). */
#ifndef DTX_FALLBACK_FINGERPRINT_H
#define DTX_FALLBACK_FINGERPRINT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

#define DTX_FINGERPRINT_TEXT 68 /* "f1:" or "i1:", 64 hex digits, a NUL */

/* A table as the snippet gets it. */
struct dtx_fingerprint_table {
	const char *alias;
	const struct dtx_schema *schema; /* types after a full scan; null: all values are null */
	/* Patterns of sliding headers such as "{yyyy-mm}". NULL: dtx finds them; an empty array:
	 * no headers are sliding. */
	const json_t *families;
	/* For a region that is an input: {"merged","names","rows","width"} in place of the
	 * columns; otherwise NULL. */
	const json_t *grid;
};

/* "num", "bool", "date", "datetime", "text", "any". */
const char *dtx_fingerprint_class(enum dtx_type type);
/* Makes the document about the tables (a new reference; `doc` may be NULL) and its fingerprint. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_tables(const struct dtx_fingerprint_table *table,
                                                 size_t n, json_t **doc,
                                                 char fingerprint[DTX_FINGERPRINT_TEXT],
                                                 struct dtx_err *err);
/* Makes params["families"]: {"{yyyy-Www}": [headers in table order]}. A new reference; may be
 * empty. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_families(const struct dtx_fingerprint_table *table,
                                                   size_t n, json_t **out, struct dtx_err *err);
/* Makes {"main": [names in order], ...}: the order of columns for which positional code was
 * admitted. A new reference. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_order(const struct dtx_fingerprint_table *table, size_t n,
                                                json_t **out, struct dtx_err *err);
/* The part of `doc` (from dtx_fingerprint_tables) that code reads: the columns in `names` (a
 * JSON array as text, from the screen), and all families, which code reads by pattern. *out is
 * canonical JSON, to be freed with dtx_mem_free; NULL if `names` is NULL. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_needs(const json_t *doc, const char *names, char **out,
                                                struct dtx_err *err);
/* Hashes what a snippet should do. region: {"kind": "step", "steps": [canonical, with note]};
 * contract: the derived contract and `expect` (NULL: {}). */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_intent(const json_t *region, const json_t *contract,
                                                 int64_t template_version, const char *abi,
                                                 char intent[DTX_FINGERPRINT_TEXT],
                                                 struct dtx_err *err);
/* SHA-256 of the canonical contract in hex (NULL: {}). */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_contract(const json_t *contract, char hex[65],
                                                   struct dtx_err *err);

#endif
