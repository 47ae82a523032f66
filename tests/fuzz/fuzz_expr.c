/* Whatever parses prints, and the print parses to the same tree. */
#include <stdlib.h>

#include "core/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL, *again = NULL;

	if (dtx_expr_parse(&a, (struct dtx_str){ (const char *)data, size }, &e, &err) == DTX_OK) {
		dtx_expr_print(e, &text);
		if (dtx_expr_parse(&a, dtx_str_of(dtx_buf_text(&text)), &again, &err) != DTX_OK ||
		    !dtx_expr_equal(e, again))
			abort();
	}
	dtx_buf_clear(&text);
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return 0;
}
