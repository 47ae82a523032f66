/* Computes the identity of an input: SHA-256 on one thread, the weak identity, or a tree hash on
 * all cores. It works in pieces, because a run that ends has to wait for the current one. */
#include "core/io/source/inputhash.h"

#include <string.h>
#include <sys/mman.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"

#define HASH_AT_ONCE ((size_t)64 << 10)
#define HASH_PIECE   ((size_t)256 << 10)

static bool inputhash_unwanted(struct dtx_inputhash *h)
{
	return atomic_load_explicit(&h->unwanted, memory_order_relaxed);
}

/* The kernel reads the bytes from the file again if they are needed after all. */
static void inputhash_release(const struct dtx_inputhash *h, size_t at, size_t n)
{
	if (atomic_load_explicit(&h->release, memory_order_relaxed))
		(void)madvise((void *)(uintptr_t)(h->data + at), n, MADV_DONTNEED);
}

/* --- one thread --- */

static void inputhash_chain(struct dtx_inputhash *h)
{
	struct dtx_identity id;

	dtx_identity_init(&id, h->kind);
	for (size_t at = 0, n; at < h->size; at += n) {
		n = DTX_MIN(HASH_PIECE, h->size - at);
		if (inputhash_unwanted(h))
			return;
		dtx_identity_add(&id, h->data + at, n);
		inputhash_release(h, at, n);
		atomic_store_explicit(&h->hashed, at + n, memory_order_relaxed);
	}
	dtx_identity_done(&id, h->text);
}

/* --- all --- */

struct hash_units {
	struct dtx_inputhash *h;
	size_t n;
	unsigned lanes;
	atomic_size_t next;
	uint8_t (*hash)[DTX_SHA256_SIZE];
	struct dtx_identity whole;
};

static enum dtx_code units_work(void *arg, unsigned worker, struct dtx_err *err)
{
	struct hash_units *u = arg;

	(void)worker;
	(void)err;
	for (size_t i; !inputhash_unwanted(u->h);) {
		i = atomic_fetch_add_explicit(&u->next, 1, memory_order_relaxed);
		if (i >= u->n)
			break;
		dtx_verity_unit(u->h->data + i * DTX_VERITY_UNIT, u->lanes, u->hash[i]);
		inputhash_release(u->h, i * DTX_VERITY_UNIT, DTX_VERITY_UNIT);
		atomic_fetch_add_explicit(&u->h->hashed, DTX_VERITY_UNIT, memory_order_relaxed);
	}
	return DTX_OK;
}

static void units_join(struct hash_units *u)
{
	size_t whole = u->n * DTX_VERITY_UNIT;

	dtx_identity_init(&u->whole, DTX_IDENTITY_VERITY);
	for (size_t i = 0; i < u->n; i++)
		dtx_verity_add_unit(&u->whole.of.verity, u->hash[i]);
	dtx_identity_add(&u->whole, u->h->data + whole, u->h->size - whole);
	dtx_identity_done(&u->whole, u->h->text);
	atomic_store_explicit(&u->h->hashed, u->h->size, memory_order_relaxed);
}

static enum dtx_code inputhash_tree(struct dtx_inputhash *h, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct hash_units *u = dtx_mem_zalloc(1, sizeof(*u));
	unsigned cpus;

	if (!u)
		DTX_FAIL_MEM(err);
	u->h = h;
	u->n = h->size / DTX_VERITY_UNIT;
	u->lanes = dtx_verity_lanes();
	u->hash = dtx_mem_alloc(u->n + 1, sizeof(*u->hash));
	if (!u->hash)
		DTX_FAIL_MEM(err);
	cpus = dtx_pool_cpus();
	DTX_TRY(dtx_pool_run(h->threads ? DTX_MIN(h->threads, cpus) : cpus, units_work, u, err));
	if (!inputhash_unwanted(h))
		units_join(u);
out:
	if (u)
		dtx_mem_free(u->hash);
	dtx_mem_free(u);
	return rc;
}

static enum dtx_code inputhash_main(void *arg, struct dtx_err *err)
{
	struct dtx_inputhash *h = arg;

	if (h->kind == DTX_IDENTITY_VERITY)
		return inputhash_tree(h, err);
	inputhash_chain(h);
	return DTX_OK;
}

/* --- start and end --- */

void dtx_inputhash_start(struct dtx_inputhash *h, const char *data, size_t size,
                         enum dtx_identity_kind kind, unsigned threads)
{
	if (h->task || h->text[0])
		return;
	h->threads = threads;
	h->kind = dtx_identity_of_size(kind, size);
	h->data = data;
	h->size = size;
	if (size > HASH_AT_ONCE && dtx_task_start(inputhash_main, h, &h->task, NULL) != DTX_OK)
		h->task = NULL; /* then dtx_inputhash_wait computes it */
}

enum dtx_code dtx_inputhash_wait(struct dtx_inputhash *h, const char *data, size_t size,
                                 char text[DTX_IDENTITY_TEXT], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_task *task = h->task;

	h->task = NULL;
	DTX_TRY(dtx_task_join(task, err));
	h->kind = dtx_identity_of_size(h->kind, size);
	h->data = data;
	h->size = size;
	if (!h->text[0])
		DTX_TRY(inputhash_main(h, err));
	memcpy(text, h->text, DTX_IDENTITY_TEXT);
out:
	return rc;
}

bool dtx_inputhash_lags(const struct dtx_inputhash *h, uint64_t done, uint64_t of)
{
	size_t hashed = atomic_load_explicit(&h->hashed, memory_order_relaxed);

	return h->task && h->kind == DTX_IDENTITY_SHA256 && hashed < h->size &&
	       (double)hashed * (double)of <= (double)h->size * (double)done;
}

bool dtx_inputhash_reads(const struct dtx_inputhash *h)
{
	return h->task && atomic_load_explicit(&h->hashed, memory_order_relaxed) < h->size;
}

void dtx_inputhash_stop(struct dtx_inputhash *h)
{
	atomic_store_explicit(&h->unwanted, true, memory_order_relaxed);
	(void)dtx_task_join(h->task, NULL);
	h->task = NULL;
}
