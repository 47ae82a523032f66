/* dtx verify --fragment: does one fragment of a run again. */
#ifndef DTX_CLI_STORE_VERIFY_FRAGMENT_H
#define DTX_CLI_STORE_VERIFY_FRAGMENT_H

#include "core/base/err.h"
#include "core/base/text/json.h"

/* Does fragment n (from 1, over all stages) of the run of a record again, from what the record has
 * of it and from the input, and compares the bytes. Appends to `findings` if they differ. *hash is
 * borrowed from the record: what they were. Codes: usage, where the record has no such fragment;
 * those of the fragment, such as input_changed. */
DTX_MUSTUSE enum dtx_code dtx_verify_fragment(const json_t *record, int64_t n, json_t *findings,
                                              const char **hash, struct dtx_err *err);

#endif
