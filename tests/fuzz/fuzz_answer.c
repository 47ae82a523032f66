/* Any answer gives a module or a clear failure; a module is stable under extraction. */
#include <stdlib.h>
#include <string.h>

#include "core/fallback/prompt/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_buf module = DTX_BUF_INIT((size_t)1 << 20);
	enum dtx_code rc = dtx_extract((struct dtx_str){ (const char *)data, size }, &module, NULL);

	if (rc == DTX_OK &&
	    (!module.len || module.len > DTX_EXTRACT_MAX || module.ptr[module.len - 1] != '\n'))
		abort();
	if (rc != DTX_OK && rc != DTX_E_SNIPPET_NO_CODE && rc != DTX_E_SNIPPET_TRUNCATED)
		abort();
	dtx_buf_clear(&module);
	return 0;
}
