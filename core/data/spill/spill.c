/* Writes columns to a temporary file when the memory budget is nearly used up: see spill.h. */
#include "core/data/spill/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/data/spill/spill_column.h"

/* This much of the file is mapped at a time, or as much as one piece needs. */
#define WINDOW ((size_t)64 << 20)
#define ALIGN  ((size_t)64)

struct window;
struct file {
	int fd;
	pthread_mutex_t lock;  /* protects the list */
	struct window *window; /* all that are mapped */
};
struct window {
	struct dtx_owner *owner; /* of the file */
	struct file *file;
	struct window *next, *before; /* in the file's list */
	char *base;
	size_t size, used;
	off_t at;
};

struct dtx_spill {
	pthread_mutex_t lock; /* protects everything below */
	struct dtx_owner *file_owner;
	struct file *file;
	off_t end;
	struct window *window; /* the window that is being filled; owned by `owner` */
	struct dtx_owner *owner;
};

static void file_free(void *arg)
{
	struct file *f = arg;

	dtx_file_close(&f->fd);
	pthread_mutex_destroy(&f->lock);
	dtx_mem_free(f);
}

static void window_link(struct window *w)
{
	pthread_mutex_lock(&w->file->lock);
	w->next = w->file->window;
	if (w->next)
		w->next->before = w;
	w->file->window = w;
	pthread_mutex_unlock(&w->file->lock);
}

static void window_unlink(struct window *w)
{
	pthread_mutex_lock(&w->file->lock);
	if (w->before)
		w->before->next = w->next;
	else if (w->file->window == w)
		w->file->window = w->next;
	if (w->next)
		w->next->before = w->before;
	pthread_mutex_unlock(&w->file->lock);
}

/* Returns the space to the disk by punching a hole.  A file system that cannot do that keeps it
 * until the run ends. */
static void window_free(void *arg)
{
	struct window *w = arg;

	window_unlink(w);
	if (w->base)
		munmap(w->base, w->size);
	(void)fallocate(w->file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, w->at,
	                (off_t)w->size);
	dtx_owner_unref(w->owner);
	dtx_mem_free(w);
}

enum dtx_code dtx_spill_new(struct dtx_spill **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_spill *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
out:
	return rc;
}

void dtx_spill_free(struct dtx_spill *s)
{
	if (!s)
		return;
	dtx_owner_unref(s->owner);
	dtx_owner_unref(s->file_owner);
	pthread_mutex_destroy(&s->lock);
	dtx_mem_free(s);
}

static bool over(const struct dtx_spill *s, size_t eighths)
{
	return s && dtx_mem_limit() && dtx_mem_used() > dtx_mem_limit() / 8 * eighths;
}

/* Tables are moved to disk before the state of operators: they are read in order, so reading them
 * back costs the least. */
bool dtx_spill_tables(const struct dtx_spill *s)
{
	return over(s, 2);
}

bool dtx_spill_states(const struct dtx_spill *s)
{
	return over(s, 4);
}

/* --- room in the file --- */

static void hint_folder(struct dtx_err *err)
{
	dtx_err_hint(err, "work beyond --memory goes to $TMPDIR: name a folder with room, or allow "
	                  "more memory");
}

static enum dtx_code open_file(struct dtx_spill *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct file *f = NULL;

	if (s->file)
		return DTX_OK;
	f = dtx_mem_zalloc(1, sizeof(*f));
	if (!f)
		DTX_FAIL_MEM(err);
	f->fd = -1;
	pthread_mutex_init(&f->lock, NULL);
	rc = dtx_file_temp(NULL, &f->fd, err);
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY)
		hint_folder(err);
	DTX_TRY(rc);
	s->file_owner = dtx_owner_new(file_free, f);
	if (!s->file_owner)
		DTX_FAIL_MEM(err);
	s->file = f;
	f = NULL;
out:
	if (f)
		file_free(f);
	return rc;
}

static enum dtx_code open_window(struct dtx_spill *s, size_t room, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct window *w = dtx_mem_zalloc(1, sizeof(*w));
	struct dtx_owner *owner;

	if (!w)
		DTX_FAIL_MEM(err);
	w->size = (room + WINDOW - 1) / WINDOW * WINDOW;
	w->at = s->end;
	w->file = s->file;
	w->owner = dtx_owner_ref(s->file_owner);
	w->base = mmap(NULL, w->size, PROT_READ, MAP_SHARED, s->file->fd, w->at);
	if (w->base == MAP_FAILED) {
		w->base = NULL;
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot map %zu bytes of the spill file: %s",
		         w->size, strerror(errno));
	}
	/* Partitions and runs are read in turns.  Where the kernel has little memory for files,
	 * each page would bring megabytes of others that are dropped before they are read. */
	(void)madvise(w->base, w->size, MADV_RANDOM);
	owner = dtx_owner_new(window_free, w);
	if (!owner)
		DTX_FAIL_MEM(err);
	window_link(w);
	dtx_owner_unref(s->owner);
	s->owner = owner;
	s->window = w;
	s->end += (off_t)w->size;
	w = NULL;
out:
	if (w)
		window_free(w);
	return rc;
}

enum dtx_code dtx_spill_reserve(struct dtx_spill *s, size_t n, struct dtx_piece *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t room = (n + 2 * ALIGN - 1) / ALIGN * ALIGN;

	pthread_mutex_lock(&s->lock);
	DTX_TRY(open_file(s, err));
	if (!s->window || s->window->size - s->window->used < room)
		DTX_TRY(open_window(s, room, err));
	*out = (struct dtx_piece){ s->file->fd,
		                   s->window->base + s->window->used,
		                   s->window->at + (off_t)s->window->used,
		                   0,
		                   n,
		                   dtx_owner_ref(s->owner) };
	s->window->used += room;
out:
	pthread_mutex_unlock(&s->lock);
	return rc;
}

void dtx_spill_trim(struct dtx_spill *s)
{
	struct file *f = NULL;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	f = s->file;
	pthread_mutex_unlock(&s->lock);
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	for (struct window *w = f->window; w; w = w->next)
		(void)madvise(w->base, w->size, MADV_DONTNEED);
	pthread_mutex_unlock(&f->lock);
}

enum dtx_code dtx_piece_add(struct dtx_piece *p, const void *bytes, size_t n, const void **at,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *from = bytes;

	DTX_ASSERT(p->used + n <= p->size, err);
	*at = p->base + p->used;
	while (n) {
		ssize_t done = pwrite(p->fd, from, n, p->at + (off_t)p->used);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			int failed = errno;
			const char *dir = getenv("TMPDIR");

			rc = dtx_err_set(err, dtx_file_write_code(failed), __FILE__, __LINE__,
			                 "cannot write to a temporary file in '%s': %s",
			                 dir && dir[0] ? dir : "/tmp", strerror(failed));
			hint_folder(err);
			goto out;
		}
		from += done;
		n -= (size_t)done;
		p->used += (size_t)done;
	}
out:
	return rc;
}

#define PAGE ((uintptr_t)4096)

void dtx_piece_soon(const struct dtx_piece *p)
{
	const uintptr_t from = (uintptr_t)p->base / PAGE * PAGE, to = (uintptr_t)p->base + p->used;

	(void)madvise((void *)from, to - from, MADV_WILLNEED);
}

void dtx_piece_free(struct dtx_piece *p)
{
	const off_t page = PAGE; /* the file system keeps pages that are used in part */
	off_t from = (p->at + page - 1) / page * page, to = (p->at + (off_t)p->size) / page * page;

	if (!p->owner)
		return;
	if (from < to)
		(void)fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
	dtx_owner_unref(p->owner);
	p->owner = NULL;
}

enum dtx_code dtx_spill_bytes(struct dtx_spill *s, const void *bytes, size_t n, const void **out,
                              struct dtx_owner **owner, struct dtx_spill_count *count,
                              struct dtx_err *err)
{
	struct dtx_piece p = { .fd = -1 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_spill_reserve(s, n, &p, err));
	DTX_TRY(dtx_piece_add(&p, bytes, n, out, err));
	if (count)
		atomic_fetch_add_explicit(&count->bytes, (long long)n, memory_order_relaxed);
	*owner = p.owner;
	p.owner = NULL;
out:
	dtx_owner_unref(p.owner);
	return rc;
}

enum dtx_code dtx_spill_batch(struct dtx_spill *s, struct dtx_batch *b,
                              struct dtx_spill_count *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner;
	const void *rec;

	DTX_ASSERT(!b->sel, err);
	for (uint32_t i = 0; i < b->ncols; i++) {
		struct dtx_column *moved = NULL;

		if (!b->col[i])
			continue;
		DTX_TRY(dtx_spill_column(s, b->col[i], &moved, count, err));
		dtx_column_unref(b->col[i]);
		b->col[i] = moved;
	}
	if (b->rec && b->nrows) {
		DTX_TRY(dtx_spill_bytes(s, b->rec, b->nrows * sizeof(*b->rec), &rec, &owner, count,
		                        err));
		dtx_owner_unref(b->rec_owner);
		b->rec = rec;
		b->rec_owner = owner;
	}
	if (count)
		atomic_fetch_add_explicit(&count->rows, b->nrows, memory_order_relaxed);
out:
	return rc;
}
