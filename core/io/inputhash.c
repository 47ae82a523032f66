/* SHA-256, or the weak identity, in pieces: a piece is what a run that ends waits for. */
#include "core/io/inputhash.h"

#include <string.h>

#include "core/base/pool.h"

#define HASH_AT_ONCE ((size_t)64 << 10)
#define HASH_PIECE   ((size_t)256 << 10)

static void inputhash_sha256(struct dtx_inputhash *h)
{
	uint8_t digest[DTX_SHA256_SIZE];
	struct dtx_sha256 sha;

	dtx_sha256_init(&sha);
	for (size_t at = 0, n; at < h->size; at += n) {
		n = DTX_MIN(HASH_PIECE, h->size - at);
		if (atomic_load_explicit(&h->unwanted, memory_order_relaxed))
			return;
		dtx_sha256_add(&sha, h->data + at, n);
		atomic_store_explicit(&h->hashed, at + n, memory_order_relaxed);
	}
	dtx_sha256_done(&sha, digest);
	dtx_hex(digest, sizeof(digest), h->hex);
}

static enum dtx_code inputhash_main(void *arg, struct dtx_err *err)
{
	struct dtx_inputhash *h = arg;
	struct dtx_weak w;

	(void)err;
	if (!h->weak) {
		inputhash_sha256(h);
		return DTX_OK;
	}
	dtx_weak_init(&w);
	dtx_weak_add(&w, h->data, h->size);
	dtx_weak_done(&w, h->hex);
	return DTX_OK;
}

void dtx_inputhash_start(struct dtx_inputhash *h, const char *data, size_t size, bool weak)
{
	h->weak = weak;
	if (size <= HASH_AT_ONCE || h->task || h->hex[0])
		return;
	h->data = data;
	h->size = size;
	if (dtx_task_start(inputhash_main, h, &h->task, NULL) != DTX_OK)
		h->task = NULL; /* then the wait computes it */
}

enum dtx_code dtx_inputhash_wait(struct dtx_inputhash *h, const char *data, size_t size,
                                 char hex[DTX_SHA256_HEX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_task *task = h->task;

	h->task = NULL;
	DTX_TRY(dtx_task_join(task, err));
	h->data = data;
	h->size = size;
	if (!h->hex[0])
		DTX_TRY(inputhash_main(h, err));
	memcpy(hex, h->hex, DTX_SHA256_HEX);
out:
	return rc;
}

bool dtx_inputhash_behind(const struct dtx_inputhash *h, uint64_t done, uint64_t of)
{
	size_t hashed = atomic_load_explicit(&h->hashed, memory_order_relaxed);

	return h->task && !h->weak && hashed < h->size &&
	       (double)hashed * (double)of <= (double)h->size * (double)done;
}

void dtx_inputhash_stop(struct dtx_inputhash *h)
{
	atomic_store_explicit(&h->unwanted, true, memory_order_relaxed);
	(void)dtx_task_join(h->task, NULL);
	h->task = NULL;
}
