/* Reads the files of fragments, see rows_reader.h. Workers take batches in order. */
#include "core/cluster/rows_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/cluster/fragment.h"
#include "core/data/frame/frame_batch.h"

struct mapping {
	void *ptr;
	size_t len;
};
struct rows_reader {
	struct dtx_reader head;
	struct dtx_rows_file *file;
	size_t nfiles;
	uint64_t *first; /* per file: the number of its first batch; one more for the end */
	const struct dtx_schema *schema;
	_Atomic uint64_t claimed;
};

static void unmap(void *arg)
{
	struct mapping *m = arg;

	munmap(m->ptr, m->len);
	dtx_mem_free(m);
}

static enum dtx_code map_file(const struct dtx_rows_file *f, struct dtx_owner **out,
                              const char **bytes, struct dtx_err *err)
{
	struct mapping *m = dtx_mem_zalloc(1, sizeof(*m));
	struct stat st;
	int fd = -1;
	enum dtx_code rc = DTX_OK;

	if (!m)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_file_open(f->path, &fd, err));
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size != f->bytes)
		DTX_FAIL(err, DTX_E_INPUT_IO, "'%s' does not have the %llu bytes of the fragment",
		         f->path, (unsigned long long)f->bytes);
	m->len = (size_t)f->bytes;
	m->ptr = mmap(NULL, m->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (m->ptr == MAP_FAILED)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "map", f->path);
	*bytes = m->ptr;
	*out = dtx_owner_new(unmap, m);
	if (!*out) {
		munmap(m->ptr, m->len);
		DTX_FAIL_MEM(err);
	}
	m = NULL;
out:
	dtx_mem_free(m);
	dtx_file_close(&fd);
	return rc;
}

enum dtx_code dtx_rows_file_open(struct dtx_rows_file *f, struct dtx_err *err)
{
	char hash[DTX_SHA256_HEX];
	struct dtx_weak weak;
	const char *bytes = NULL;
	struct dtx_str index;
	uint64_t end = 0;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(map_file(f, &f->owner, &bytes, err));
	dtx_weak_init(&weak);
	if (f->indexed) { /* who reads a section compares its hash */
		if (dtx_frame_open(bytes, f->bytes, &f->view, NULL) == DTX_OK &&
		    f->view.n == f->sections + 1) {
			index = dtx_frame_bytes(&f->view, &f->view.entry[0]);
			dtx_weak_add(&weak, index.ptr, index.len);
			end = f->bytes;
		}
	} else if (f->text) {
		end = DTX_FRAGMENT_TEXT_AT + f->text;
		DTX_ASSERT(end <= f->bytes, err);
		dtx_weak_add(&weak, bytes + DTX_FRAGMENT_TEXT_AT, f->text);
		dtx_weak_add(&weak, bytes, DTX_FRAGMENT_TEXT_AT);
	}
	dtx_weak_add(&weak, bytes + end, f->bytes - end);
	dtx_weak_done(&weak, hash);
	if (strcmp(hash, f->hash) != 0)
		DTX_FAIL(err, DTX_E_INPUT_IO,
		         "'%s' does not have the bytes that its fragment wrote", f->path);
	if (!f->indexed)
		DTX_TRY(dtx_frame_open(bytes, f->bytes, &f->view, err));
	DTX_ASSERT(f->view.n == f->sections + 1, err);
out:
	if (rc != DTX_OK)
		dtx_rows_file_close(f);
	return rc;
}

void dtx_rows_file_close(struct dtx_rows_file *f)
{
	dtx_frame_close(&f->view);
	dtx_owner_unref(f->owner);
	f->owner = NULL;
}

static enum dtx_code rows_next(struct dtx_reader *reader, unsigned worker, struct dtx_batch **out,
                               struct dtx_err *err)
{
	struct rows_reader *r = (struct rows_reader *)reader;
	uint64_t i = atomic_fetch_add(&r->claimed, 1);
	const struct dtx_frame_entry *e;
	const struct dtx_rows_file *f;
	size_t k = 0, high = r->nfiles;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	*out = NULL;
	if (i >= r->first[r->nfiles])
		return DTX_OK;
	while (high - k > 1) { /* the last file whose first batch is not after i */
		size_t mid = k + (high - k) / 2;

		if (r->first[mid] <= i)
			k = mid;
		else
			high = mid;
	}
	f = &r->file[k];
	e = &f->view.entry[i - r->first[k] + 1];
	DTX_ASSERT(e->kind == DTX_FRAME_BATCH, err);
	DTX_TRY(dtx_frame_batch_load(dtx_frame_bytes(&f->view, e), f->owner, r->schema, out, err));
	(*out)->seq = i;
	(*out)->last = true;
	(*out)->origin = &r->head.origin;
out:
	return rc;
}

static enum dtx_code rows_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                struct dtx_err *err)
{
	(void)scan, (void)err;
	atomic_store(&((struct rows_reader *)reader)->claimed, 0);
	return DTX_OK;
}

static void rows_close(struct dtx_reader *reader)
{
	struct rows_reader *r = (struct rows_reader *)reader;

	for (size_t i = 0; i < r->nfiles; i++)
		dtx_rows_file_close(&r->file[i]);
	dtx_mem_free(r->first);
	dtx_arena_clear(&r->head.arena);
	dtx_mem_free(r);
}

static const struct dtx_reader_class rows_class = {
	.name = "fragments",
	.start = rows_start,
	.next = rows_next,
	.close = rows_close,
};

enum dtx_code dtx_rows_reader_new(struct dtx_rows_file *file, size_t nfiles,
                                  const struct dtx_schema *schema, struct dtx_reader *of,
                                  struct dtx_reader **out, struct dtx_err *err)
{
	struct rows_reader *r = dtx_mem_zalloc(1, sizeof(*r));
	enum dtx_code rc = DTX_OK;

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.cls = &rows_class;
	r->head.src = of->src;
	r->head.origin = of->origin;
	/* columns have moved since; only cells of sheets are cited by their column */
	r->head.origin.physical_col = NULL;
	r->file = file;
	r->nfiles = nfiles;
	r->schema = schema;
	r->first = dtx_mem_zalloc(nfiles + 1, sizeof(*r->first));
	if (!r->first)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < nfiles; i++)
		r->first[i + 1] = r->first[i] + file[i].sections;
	*out = &r->head;
	r = NULL;
out:
	if (r)
		rows_close(&r->head);
	return rc;
}
