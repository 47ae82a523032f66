/* Files that a program in the jail wrote, see artifact.h. Stops: a name that leads out of the
 * folder that the caller chose, or that a terminal or another system would read differently. */
#include "sandbox/main/artifact.h"

#include <stdio.h>

#include "core/base/text/utf8.h"

#define PARTS_MAX 8

static bool part_ok(struct dtx_str part)
{
	size_t at = 0;

	if (!part.len || part.ptr[0] == '.')
		return false;
	while (at < part.len) {
		uint32_t cp = dtx_utf8_next(part.ptr, part.len, &at);

		/* words and emoji contain joiners */
		if (cp == '\\' || (dtx_utf8_hides(cp) && cp != 0x200c && cp != 0x200d))
			return false;
	}
	return true;
}

bool dtx_artifact_name(struct dtx_str name)
{
	struct dtx_str rest = name, part;
	size_t parts = 0;

	if (!name.len || name.len > DTX_JAIL_FILE_NAME || name.ptr[name.len - 1] == '/' ||
	    dtx_utf8_bad(name.ptr, name.len) >= 0)
		return false;
	while (rest.len) {
		if (!dtx_str_next(&rest, '/', &part) || !part_ok(part) || ++parts > PARTS_MAX)
			return false;
	}
	return true;
}

/* Whether two files have the same name, or one is the folder of the other. */
static bool clash(const struct dtx_jail_file *a, const struct dtx_jail_file *b)
{
	size_t x = strlen(a->name), y = strlen(b->name), n = DTX_MIN(x, y);

	if (memcmp(a->name, b->name, n) != 0)
		return false;
	return x == y || (x < y ? b->name[n] : a->name[n]) == '/';
}

#define SHOWN 48

/* Prepares a name that the worker chose for a message: printable ASCII only, cut if it is long. */
static void show(struct dtx_str name, char out[SHOWN + 4])
{
	size_t n = DTX_MIN(name.len, (size_t)SHOWN), i;

	for (i = 0; i < n; i++)
		out[i] = name.ptr[i] >= ' ' && name.ptr[i] < 0x7f ? name.ptr[i] : '?';
	snprintf(out + n, 4, "%s", name.len > n ? "..." : "");
}

static enum dtx_code take_one(struct dtx_box *b, const struct dtx_frame_view *view,
                              const struct dtx_frame_entry *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jail_file *f = &b->file[b->nfiles];
	struct dtx_str name = { (const char *)view->ptr + e->name_off, e->name_len };
	char *copy, shown[SHOWN + 4];
	size_t i;

	if (!dtx_artifact_name(name)) {
		show(name, shown);
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT,
		         "file '%s': its name must have at most %d bytes of UTF-8 and %d path "
		         "parts, "
		         "none of which begins with a dot or has invisible characters",
		         shown, DTX_JAIL_FILE_NAME, PARTS_MAX);
	}
	copy = dtx_arena_alloc(&b->names, name.len + 1, 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	dtx_str_copy(copy, name.len + 1, name);
	*f = (struct dtx_jail_file){ copy, dtx_frame_bytes(view, e) };
	for (i = 0; i < b->nfiles; i++)
		if (clash(&b->file[i], f))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "two files are named '%s'", copy);
	b->nfiles++;
out:
	return rc;
}

enum dtx_code dtx_artifact_take(struct dtx_box *b, const struct dtx_frame_view *view,
                                struct dtx_owner *owner, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < view->n; i++)
		n += view->entry[i].kind == DTX_FRAME_ARTIFACT;
	if (n > DTX_JAIL_FILES_MAX)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "%zu files, at most %d", n,
		         DTX_JAIL_FILES_MAX);
	if (!n)
		goto out;
	b->file = dtx_arena_alloc(&b->names, n * sizeof(*b->file), _Alignof(struct dtx_jail_file));
	if (!b->file)
		DTX_FAIL_MEM(err);
	b->kept = dtx_owner_ref(owner);
	for (i = 0; i < view->n; i++)
		if (view->entry[i].kind == DTX_FRAME_ARTIFACT)
			DTX_TRY(take_one(b, view, &view->entry[i], err));
out:
	if (rc != DTX_OK)
		b->nfiles = 0;
	return rc;
}
