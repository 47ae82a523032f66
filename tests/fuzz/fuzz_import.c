/* A file of snippets from elsewhere: it is refused, or what it brings can be shown and exported. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/store/snippets.h"
#include "core/base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_snippets_args args = { 0 };
	struct dtx_snippets c = { .args = &args, .argc = 1 };
	struct dtx_snippet *item = NULL;
	char path[64], *argv[2] = { path, NULL };
	int fd = memfd_create("import", MFD_CLOEXEC);
	json_t *shown;
	size_t n = 0, i;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		goto out;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c.argv = argv;
	dtx_buf_init(&c.out, DTX_BUF_TEXT_MAX);
	if (dtx_store_open(":memory:", DTX_STORE_WRITE, &c.store, NULL) != DTX_OK ||
	    dtx_snippets_import(&c, NULL) != DTX_OK ||
	    dtx_snippet_list(c.store, NULL, &c.arena, &item, &n, NULL) != DTX_OK)
		goto out;
	for (i = 0; i < n; i++) {
		if (strcmp(item[i].state, "pending") != 0)
			__builtin_trap(); /* nothing is approved by a file */
		shown = dtx_snippet_json(&item[i]);
		json_decref(shown);
	}
	c.argc = 0;
	if (dtx_snippets_export(&c, NULL) != DTX_OK)
		__builtin_trap();
out:
	dtx_store_free(c.store);
	dtx_arena_clear(&c.arena);
	dtx_buf_clear(&c.out);
	dtx_file_close(&fd);
	return 0;
}
