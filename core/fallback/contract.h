/* What a snippet's result must keep: the derived contract, the region's expect, warnings. */
#ifndef DTX_FALLBACK_CONTRACT_H
#define DTX_FALLBACK_CONTRACT_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* The contract as JSON: {"need": [{"name", "class"}], "expect": {...}}: columns that the typed
 * suffix reads (class any, num, text, bool, date, as bits of enum dtx_class say) and the expect
 * object of the step (borrowed, may be NULL).  New reference. */
struct dtx_need_col {
	const char *name;
	unsigned klass; /* enum dtx_class bits; 0: any */
};
DTX_MUSTUSE enum dtx_code dtx_contract_make(const struct dtx_need_col *need, size_t n,
                                            const json_t *expect, json_t **out,
                                            struct dtx_err *err);

struct dtx_contract_inputs {
	int64_t main_rows, max_rows;   /* of the tables given to the snippet */
	const struct dtx_schema *main; /* NULL: no typed main table */
	const json_t *infinities;      /* column to how many were made null; NULL, hostile */
};
/* Appends check rows to `checks`, warnings included.  snippet_contract when one of severity error
 * failed; *only_expect (may be NULL) then tells that all of those are of the expect object. */
DTX_MUSTUSE enum dtx_code dtx_contract_check(const json_t *contract, struct dtx_table *result,
                                             const struct dtx_contract_inputs *in, json_t *checks,
                                             bool *only_expect, struct dtx_err *err);

#endif
