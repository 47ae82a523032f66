/* Identity of a snippet's place: schema fingerprint, intent hash. */
#ifndef DTX_FALLBACK_FINGERPRINT_H
#define DTX_FALLBACK_FINGERPRINT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

#define DTX_FINGERPRINT_TEXT 68 /* "f1:" or "i1:", 64 hex digits, terminator */

/* A table as the snippet sees it. */
struct dtx_fingerprint_table {
	const char *alias;
	const struct dtx_schema *schema; /* types after a full scan; null means all null */
	/* Patterns of sliding headers ("{yyyy-mm}"); NULL: found by dtx; empty array: none. */
	const json_t *families;
	/* Ingest regions: {"merged","names","rows","width"} instead of the columns; NULL. */
	const json_t *grid;
};

/* "num", "bool", "date", "datetime", "text", "any". */
const char *dtx_fingerprint_class(enum dtx_type type);
/* The document (new reference) and its fingerprint.  `doc` may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_tables(const struct dtx_fingerprint_table *table,
                                                 size_t n, json_t **doc,
                                                 char fingerprint[DTX_FINGERPRINT_TEXT],
                                                 struct dtx_err *err);
/* params["families"]: {"{yyyy-Www}": [headers in table order]}; new reference, maybe empty. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_families(const struct dtx_fingerprint_table *table,
                                                   size_t n, json_t **out, struct dtx_err *err);
/* {"main": [names in order], ...}: the order positional code was admitted with; new reference. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_order(const struct dtx_fingerprint_table *table, size_t n,
                                                json_t **out, struct dtx_err *err);
/* What code reads, as the document says it: of `doc` (from dtx_fingerprint_tables) the columns
 * whose names are in `names` (JSON array text, from the screen), and every family, which code reads
 * by its pattern.  Canonical JSON text in dtx_mem; NULL when names is NULL. */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_needs(const json_t *doc, const char *names, char **out,
                                                struct dtx_err *err);
/* region: {"kind": "step", "steps": [canonical, with note]}; contract: derived contract + expect
 * (NULL: {}). */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_intent(const json_t *region, const json_t *contract,
                                                 int64_t template_version, const char *abi,
                                                 char intent[DTX_FINGERPRINT_TEXT],
                                                 struct dtx_err *err);
/* Hex SHA-256 of the canonical contract (NULL: {}). */
DTX_MUSTUSE enum dtx_code dtx_fingerprint_contract(const json_t *contract, char hex[65],
                                                   struct dtx_err *err);

#endif
