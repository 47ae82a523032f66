/* The list of files that outputs must not replace, and how two files are compared. See
 * reserve.h. */
#include "core/io/write/reserve.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"

/* The file that a path leads to. */
struct place {
	char *real; /* "-" for stdout; NULL: stdin */
	bool there, regular;
	dev_t dev;
	ino_t ino;
};

struct reserved {
	struct place place; /* when it was reserved */
	char *path;         /* as the user gave it */
	const char *what, *name;
	bool output;
};

static struct {
	struct reserved *item;
	size_t n, cap;
} list;

static void place_clear(struct place *p)
{
	dtx_mem_free(p->real);
	p->real = NULL;
}

static enum dtx_code place_of(const char *path, bool output, struct place *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st = { 0 };
	int fd = output ? dtx_file_out_fd(path) : !strcmp(path, "-") ? STDIN_FILENO : -1;

	*p = (struct place){ .there = (fd < 0 ? stat(path, &st) : fstat(fd, &st)) == 0 };
	p->regular = p->there && S_ISREG(st.st_mode);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	if (fd == STDIN_FILENO)
		return DTX_OK;
	p->real = fd < 0 ? dtx_file_real(path) : dtx_mem_strdup(fd == STDOUT_FILENO ? "-" : path);
	if (!p->real)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static bool place_inode(const struct place *a, const struct place *b)
{
	return a->regular && b->regular && a->dev == b->dev && a->ino == b->ino;
}

static bool place_same(const struct place *a, const struct place *b)
{
	bool path = a->real && b->real && !strcmp(a->real, b->real);
	bool device = (a->there && !a->regular) || (b->there && !b->regular);

	return place_inode(a, b) || (path && (!device || !strcmp(a->real, "-")));
}

/* Whether it is the reserved file, or a file that has appeared at the reserved path since. */
static bool reserved_is(const struct reserved *r, const struct place *p)
{
	struct stat st;
	struct place now;

	if (place_same(&r->place, p))
		return true;
	if (!r->place.real || !strcmp(r->place.real, "-") || stat(r->place.real, &st) != 0)
		return false;
	now = (struct place){ .regular = S_ISREG(st.st_mode), .dev = st.st_dev, .ino = st.st_ino };
	return place_inode(&now, p);
}

static const struct reserved *find(const struct place *p, bool outputs, bool files)
{
	for (size_t i = 0; i < list.n; i++)
		if ((list.item[i].output ? outputs : files) && reserved_is(&list.item[i], p))
			return &list.item[i];
	return NULL;
}

/* Sets an error like "the rejects cannot go to 'link.csv': it is an input of this run,
 * 'in.csv'". */
static enum dtx_code refuse(const char *name, const char *path, const struct reserved *is,
                            struct dtx_err *err)
{
	bool out = dtx_file_out_fd(path) == STDOUT_FILENO;
	bool in = !strcmp(is->path, "-") && !is->output;
	bool other = !in && strcmp(path, is->path) != 0;
	enum dtx_code rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                               "%s cannot go to %s%s%s: it is %s%s%s%s%s", name,
	                               out ? "" : "'", out ? "stdout" : path, out ? "" : "'",
	                               is->what, in ? ", read from stdin" : "", other ? ", '" : "",
	                               other ? is->path : "", other ? "'" : "");

	if (out && !is->output)
		dtx_err_hint(err, "the shell has opened that file for output (and with '>' emptied "
		                  "it) before dtx began: send the output to another file");
	else
		dtx_err_hint(err, "send %s to another file or folder; no file was changed", name);
	return rc;
}

static enum dtx_code add(const char *path, const char *name, const char *what, bool output,
                         struct place *place, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_strdup(path);

	if (!copy || !dtx_mem_reserve(&list.item, &list.cap, list.n + 1, sizeof(*list.item)))
		DTX_FAIL_MEM(err);
	list.item[list.n++] = (struct reserved){
		.place = *place, .path = copy, .name = name, .what = what, .output = output
	};
	place->real = NULL;
	copy = NULL;
out:
	dtx_mem_free(copy);
	return rc;
}

enum dtx_code dtx_reserve(const char *path, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct reserved *taken;
	struct reserved mine = { .what = what, .path = (char *)(uintptr_t)path };
	struct place place;

	DTX_TRY(place_of(path, false, &place, err));
	taken = find(&place, true, false);
	if (taken)
		DTX_TRY(refuse(taken->name, taken->path, &mine, err));
	DTX_TRY(add(path, NULL, what, false, &place, err));
out:
	place_clear(&place);
	return rc;
}

enum dtx_code dtx_reserve_output(const char *path, const char *name, const char *what,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct reserved *taken;
	struct place place;

	DTX_TRY(place_of(path, true, &place, err));
	taken = find(&place, true, true);
	if (taken)
		DTX_TRY(refuse(name, path, taken, err));
	DTX_TRY(add(path, name, what, true, &place, err));
out:
	place_clear(&place);
	return rc;
}

enum dtx_code dtx_reserve_check(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct reserved *taken;
	struct place place;

	DTX_TRY(place_of(path, true, &place, err));
	taken = find(&place, false, true);
	if (taken)
		DTX_TRY(refuse("the output", path, taken, err));
out:
	place_clear(&place);
	return rc;
}

void dtx_reserve_clear(void)
{
	for (size_t i = 0; i < list.n; i++) {
		place_clear(&list.item[i].place);
		dtx_mem_free(list.item[i].path);
	}
	dtx_mem_free(list.item);
	memset(&list, 0, sizeof(list));
}
