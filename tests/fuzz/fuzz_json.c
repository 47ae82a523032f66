/* Any bytes as JSON records, in batches of one and of all rows: the same table, a balanced ledger.
 */
#include <stdlib.h>

#include "tests/unit/bookmake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum dtx_code fuzz_read(const uint8_t *data, size_t size, uint32_t rows, bool values,
                               struct dtx_buf *out)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = { (char *)(uintptr_t)data, size, size, size, DTX_BUF_FINE };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	opts.format = "json";
	/* the first bytes, blanks to JSON, choose the way that is less used */
	opts.json_lenient = size && data[0] == '\t';
	opts.duplicate_keys = size && data[0] == '\r' ? DTX_KEYS_LAST : DTX_KEYS_ERROR;
	opts.records = size > 1 && data[1] == '\t' ? "/d" : NULL;
	opts.ragged = size && data[0] == '\n' ? DTX_RAGGED_PAD : DTX_RAGGED_ERROR;
	rc = bytes_dump("f.json", &in, &opts, rows, values, out, &err);
	if (rc == DTX_E_BUG || rc == DTX_E_RETYPE)
		abort();
	dtx_err_clear(&err);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_buf one = DTX_BUF_INIT((size_t)1 << 24), all = DTX_BUF_INIT((size_t)1 << 24);
	enum dtx_code rc = fuzz_read(data, size, 1, true, &one);

	if (rc != fuzz_read(data, size, 0, true, &all))
		abort();
	if (rc == DTX_OK && (one.len != all.len || (one.len && memcmp(one.ptr, all.ptr, one.len))))
		abort();
	dtx_buf_reset(&all);
	if (rc == DTX_OK && fuzz_read(data, size, 0, false, &all) != DTX_OK)
		abort();
	dtx_buf_clear(&one);
	dtx_buf_clear(&all);
	return 0;
}
