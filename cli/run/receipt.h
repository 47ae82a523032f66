/* A receipt, as `run --receipt` wrote it, held against files and record.  Findings are those of
 * dtx_verify, and receipt_differs. */
#ifndef DTX_CLI_RUN_RECEIPT_H
#define DTX_CLI_RUN_RECEIPT_H

#include "core/store/query/query.h"

struct dtx_receipt {
	const char *path;
	json_t *json;
	const json_t *record;           /* in json */
	const char *run, *head, *store; /* in json; head NULL: there is no chain to hold it in */
	json_t *held;                   /* paths of files that are as it says */
	json_t *unchecked;              /* texts: what could not be looked at, and why */
};

/* Codes: usage where it is none.  Cleared by the caller, also on failure. */
DTX_MUSTUSE enum dtx_code dtx_receipt_read(const char *path, struct dtx_receipt *r,
                                           struct dtx_err *err);
void dtx_receipt_clear(struct dtx_receipt *r);
/* The files it names, which takes no store.  asked: where one of them is; NULL. */
DTX_MUSTUSE enum dtx_code dtx_receipt_files(struct dtx_receipt *r, const char *asked,
                                            json_t *findings, struct dtx_err *err);
/* The record it is a copy of.  asked: the record that it should be of; NULL. */
DTX_MUSTUSE enum dtx_code dtx_receipt_record(struct dtx_receipt *r, struct dtx_store *store,
                                             const json_t *asked, json_t *findings,
                                             struct dtx_err *err);

#endif
