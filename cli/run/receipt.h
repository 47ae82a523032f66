/* Compares a receipt, as `run --receipt` wrote it, with files and with the record. The findings
 * are those of dtx_verify, and receipt_differs. */
#ifndef DTX_CLI_RUN_RECEIPT_H
#define DTX_CLI_RUN_RECEIPT_H

#include "core/store/query/query.h"

struct dtx_receipt {
	const char *path;
	json_t *json;
	const json_t *record; /* points into json */
	/* point into json; head NULL: there is no chain that contains it */
	const char *run, *head, *store;
	json_t *held;      /* paths of files that agree with it */
	json_t *unchecked; /* texts: what could not be checked, and why */
};

/* Reads a receipt. The caller clears *r, also on failure. Error: usage, if the file is not a
 * receipt. */
DTX_MUSTUSE enum dtx_code dtx_receipt_read(const char *path, struct dtx_receipt *r,
                                           struct dtx_err *err);
void dtx_receipt_clear(struct dtx_receipt *r);
/* Checks the files that it names; needs no store. `asked` is the path of one of them, or NULL. */
DTX_MUSTUSE enum dtx_code dtx_receipt_files(struct dtx_receipt *r, const char *asked,
                                            json_t *findings, struct dtx_err *err);
/* Checks the record that it is a copy of. `asked` is the record that it should belong to, or
 * NULL. */
DTX_MUSTUSE enum dtx_code dtx_receipt_record(struct dtx_receipt *r, struct dtx_store *store,
                                             const json_t *asked, json_t *findings,
                                             struct dtx_err *err);

#endif
