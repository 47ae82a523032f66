/* A dtx that keeps no record, for tests/bench/overhead.py alone: calls that a record costs are
 * linked to what is here (`make bare`).  Inputs and outputs are not hashed, no store is opened,
 * nothing is sampled; all else, also the atomic replacement of outputs, is as it is. */
#include <string.h>

#include "core/base/hash/identity.h"
#include "core/base/text/json.h"
#include "core/data/batch.h"
#include "core/plan/exec/stats/colsample.h"
#include "core/store/ledger/record.h"
#include "core/data/tablehash.h"

struct dtx_source;

enum dtx_code __wrap_dtx_store_open(const char *named, int mode, struct dtx_store **out,
                                    struct dtx_err *err);
void __wrap_dtx_source_hash_start(struct dtx_source *s, enum dtx_identity_kind kind,
                                  unsigned threads);
enum dtx_code __wrap_dtx_source_hash_wait(struct dtx_source *s, char text[DTX_IDENTITY_TEXT],
                                          struct dtx_err *err);
void __wrap_dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len);
enum dtx_code __wrap_dtx_rowhash_batch(const struct dtx_batch *b, struct dtx_rowhash *out,
                                       struct dtx_err *err);
enum dtx_code __wrap_dtx_colsample_batch(struct dtx_colsample *s, const struct dtx_batch *b,
                                         struct dtx_err *err);
enum dtx_code __wrap_dtx_record_start(struct dtx_store *store, const struct dtx_run_info *info,
                                      struct dtx_record **out, struct dtx_err *err);
enum dtx_code __wrap_dtx_record_add(struct dtx_record *r, enum dtx_part part, json_t *row,
                                    struct dtx_err *err);
enum dtx_code __wrap_dtx_record_output(struct dtx_record *r, json_t *outputs, struct dtx_err *err);

enum dtx_code __wrap_dtx_store_open(const char *named, int mode, struct dtx_store **out,
                                    struct dtx_err *err)
{
	(void)named;
	(void)mode;
	(void)err;
	*out = NULL;
	return DTX_OK;
}

void __wrap_dtx_source_hash_start(struct dtx_source *s, enum dtx_identity_kind kind,
                                  unsigned threads)
{
	(void)s;
	(void)kind;
	(void)threads;
}

enum dtx_code __wrap_dtx_source_hash_wait(struct dtx_source *s, char text[DTX_IDENTITY_TEXT],
                                          struct dtx_err *err)
{
	(void)s;
	(void)err;
	memset(text, '0', DTX_SHA256_HEX - 1);
	text[DTX_SHA256_HEX - 1] = '\0';
	return DTX_OK;
}

void __wrap_dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len)
{
	(void)s;
	(void)bytes;
	(void)len;
}

enum dtx_code __wrap_dtx_rowhash_batch(const struct dtx_batch *b, struct dtx_rowhash *out,
                                       struct dtx_err *err)
{
	(void)b;
	(void)out;
	(void)err;
	return DTX_OK;
}

enum dtx_code __wrap_dtx_colsample_batch(struct dtx_colsample *s, const struct dtx_batch *b,
                                         struct dtx_err *err)
{
	(void)s;
	(void)b;
	(void)err;
	return DTX_OK;
}

enum dtx_code __wrap_dtx_record_start(struct dtx_store *store, const struct dtx_run_info *info,
                                      struct dtx_record **out, struct dtx_err *err)
{
	(void)store;
	(void)info;
	(void)err;
	*out = NULL;
	return DTX_OK;
}

enum dtx_code __wrap_dtx_record_add(struct dtx_record *r, enum dtx_part part, json_t *row,
                                    struct dtx_err *err)
{
	(void)r;
	(void)part;
	(void)err;
	json_decref(row);
	return DTX_OK;
}

enum dtx_code __wrap_dtx_record_output(struct dtx_record *r, json_t *outputs, struct dtx_err *err)
{
	(void)r;
	(void)err;
	json_decref(outputs);
	return DTX_OK;
}
