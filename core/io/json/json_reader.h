/* The state of the JSON reader; private to the files of this folder. */
#ifndef DTX_IO_JSON_JSON_READER_H
#define DTX_IO_JSON_JSON_READER_H

#include <pthread.h>

#include "core/io/encoding/encoding.h"
#include "core/io/json/json_rows.h"

struct dtx_json {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_encoding enc;
	struct dtx_jrows rows;
	struct dtx_schema schema;
	const struct dtx_read_type **declared; /* per field; NULL: not declared */
	uint32_t *field_of;                    /* per column of rows; UINT32_MAX: not wanted */
	struct dtx_scan scan;
	struct dtx_json_worker *worker; /* scan.workers of them */
	pthread_mutex_t lock;           /* for what follows, and head.stats */
	size_t next_morsel;
	int64_t kept;
};
/* The position of a worker in its morsel. */
struct dtx_json_worker {
	struct dtx_jscan at;
	size_t morsel;
	uint32_t done, sub; /* rows handed over, and batches made */
	bool active;
};

/* Makes the columns of b that are needed from the records at w->at, which moves
 * past them. *found counts values that do not have their declared type. */
DTX_MUSTUSE enum dtx_code dtx_json_batch(struct dtx_json *r, struct dtx_json_worker *w,
                                         struct dtx_batch *b, struct dtx_cast_found *found,
                                         struct dtx_err *err);

#endif
