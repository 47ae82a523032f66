/* The contract that the result of a snippet must keep: columns that later steps of the plan
 * read, the `expect` of the step, and warnings about suspicious results. */
#ifndef DTX_FALLBACK_CONTRACT_H
#define DTX_FALLBACK_CONTRACT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* Makes the contract as JSON: {"need": [{"name", "class"}], "expect": {...}}. `need` are the
 * columns that later typed steps read, with classes any, num, text, bool, date. `expect` is the
 * object of the step, borrowed; it may be NULL. *out is a new reference. */
struct dtx_need_col {
	const char *name;
	unsigned klass; /* enum dtx_class bits; 0: any */
};
DTX_MUSTUSE enum dtx_code dtx_contract_make(const struct dtx_need_col *need, size_t n,
                                            const json_t *expect, json_t **out,
                                            struct dtx_err *err);

struct dtx_contract_inputs {
	int64_t main_rows, max_rows;   /* of the tables that the snippet gets */
	const struct dtx_schema *main; /* NULL: there is no typed main table */
	/* {column: how many values became null}; NULL; written by the worker, so not trusted */
	const json_t *infinities;
};
/* Checks the result and appends rows to `checks`, including warnings. Error: snippet_contract,
 * if a check of severity error failed; then *only_expect (may be NULL) says whether all of these
 * belong to `expect`. */
DTX_MUSTUSE enum dtx_code dtx_contract_check(const json_t *contract, struct dtx_table *result,
                                             const struct dtx_contract_inputs *in, json_t *checks,
                                             bool *only_expect, struct dtx_err *err);

#endif
