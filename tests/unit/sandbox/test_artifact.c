/* Names of the files that a program leaves. */
#include "tests/t.h"

#include "core/base/memory/mem.h"
#include "sandbox/main/artifact.h"

void test_artifact_names(void)
{
	static const struct {
		const char *name;
		bool ok;
	} cases[] = {
		{ "a", true },
		{ "figure-1.png", true },
		{ "a b/\xc3\xa4.txt", true },
		{ "1/2/3/4/5/6/7/8", true },
		{ "1/2/3/4/5/6/7/8/9", false },
		{ "", false },
		{ "/etc/passwd", false },
		{ "..", false },
		{ "../x", false },
		{ "a/../../x", false },
		{ "a/./x", false },
		{ "a//x", false },
		{ "a/", false },
		{ ".bashrc", false },
		{ "a/.ssh/x", false },
		{ "a\\b", false },
		{ "a\nb", false },
		{ "\x1b[2J", false },
		{ "a\x7f", false },
		{ "a\xc2\x80", false },
		{ "\xc2\x9bm", false },
		{ "a\xc2\xa0", true },
		{ "\xd7\x90\xd7\x91", true },
		{ "\xe2\x80\xaegnp.exe", false },
		{ "a\xe2\x81\xa6", false },
		{ "\xff", false },
		{ "\xc0\xaf", false },
	};
	char name[DTX_JAIL_FILE_NAME + 1];
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++)
		if (dtx_artifact_name(dtx_str_of(cases[i].name)) != cases[i].ok)
			t_fail(__FILE__, __LINE__, "'%s' is %s", cases[i].name,
			       cases[i].ok ? "allowed" : "refused");
	T_CHECK(!dtx_artifact_name((struct dtx_str){ "a\0b", 3 }));
	memset(name, 'x', sizeof(name));
	T_CHECK(dtx_artifact_name((struct dtx_str){ name, DTX_JAIL_FILE_NAME }));
	T_CHECK(!dtx_artifact_name((struct dtx_str){ name, DTX_JAIL_FILE_NAME + 1 }));
}

/* A frame with files of these names. */
static enum dtx_code take(const char *const *names, size_t n, size_t *got)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_box *b = dtx_mem_zalloc(1, sizeof(*b));
	struct dtx_owner *owner = dtx_owner_new(NULL, NULL);
	struct dtx_err err = DTX_ERR_INIT;
	void *bytes = NULL;
	uint64_t size = 0;
	size_t i;

	for (i = 0; rc == DTX_OK && i < n; i++)
		rc = dtx_frame_add_bytes(&f, DTX_FRAME_ARTIFACT, (uint32_t)i, names[i],
		                         DTX_STR("bytes"), &err);
	if (rc == DTX_OK) {
		size = dtx_frame_size(&f);
		bytes = dtx_mem_zalloc(1, size);
		rc = dtx_frame_write(&f, bytes, &err);
	}
	if (rc == DTX_OK)
		rc = dtx_frame_open(bytes, size, &view, &err);
	if (rc == DTX_OK)
		rc = dtx_artifact_take(b, &view, owner, &err);
	*got = b->nfiles;
	if (rc == DTX_OK && n)
		T_CHECK(dtx_str_is(b->file[n - 1].bytes, "bytes") &&
		        !strcmp(b->file[n - 1].name, names[n - 1]));
	dtx_frame_close(&view);
	dtx_frame_clear(&f);
	if (b->kept)
		dtx_owner_unref(b->kept);
	dtx_owner_unref(owner);
	dtx_arena_clear(&b->names);
	dtx_mem_free(b);
	dtx_mem_free(bytes);
	dtx_err_clear(&err);
	return rc;
}

void test_artifact_sets(void)
{
	static const char *const good[] = { "a", "b/c", "b/d", "bc" };
	static const char *const same[] = { "a", "a" };
	static const char *const folder[] = { "a/b", "a" };
	static const char *const up[] = { "a", "../b" };
	size_t n;

	T_INT(take(good, 4, &n), DTX_OK);
	T_INT(n, 4);
	T_INT(take(same, 2, &n), DTX_E_SNIPPET_BAD_RESULT);
	T_INT(n, 0);
	T_INT(take(folder, 2, &n), DTX_E_SNIPPET_BAD_RESULT);
	T_INT(take(up, 2, &n), DTX_E_SNIPPET_BAD_RESULT);
}

void test_artifact_too_many(void)
{
	enum { MANY = DTX_JAIL_FILES_MAX + 1 };
	static char text[MANY][8];
	static const char *name[MANY];
	size_t n;

	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "%d", i);
		name[i] = text[i];
	}
	T_INT(take(name, MANY - 1, &n), DTX_OK);
	T_INT(take(name, MANY, &n), DTX_E_SNIPPET_BAD_RESULT);
	T_INT(n, 0);
}
