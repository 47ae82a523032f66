/* A store that comes from elsewhere, or was changed: it is refused, or what it says can be read. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/cache/snippet.h"
#include "core/store/ledger/verify.h"

/* Snippets and whether they would run. */
static void read_snippets(struct dtx_store *s)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *item = NULL, got;
	struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_rung rung;
	size_t n = 0, i;

	if (dtx_snippet_list(s, NULL, &arena, &item, &n, NULL) != DTX_OK)
		n = 0;
	for (i = 0; i < n; i++) {
		struct dtx_snippet_ask ask = { .key = { item[i].ns, item[i].fingerprint,
			                                item[i].intent } };
		json_t *shown = dtx_snippet_json(&item[i]);

		if (dtx_snippet_resolve(s, &ask, &arena, &got, &rung, NULL) == DTX_OK &&
		    rung == DTX_RUNG_EXACT)
			(void)!dtx_snippet_code(s, got.code_hash, &code, NULL);
		dtx_buf_reset(&code);
		json_decref(shown);
	}
	dtx_buf_clear(&code);
	dtx_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const with[] = { "", "-wal", "-shm", "-journal" };
	const struct dtx_verify_opts opts = { 0 };
	struct dtx_store *s = NULL;
	json_t *findings = NULL;
	char path[64], name[80];
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/dtx-fuzz-%ld.db", (long)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		goto out;
	dtx_file_close(&fd);
	if (dtx_store_open(path, DTX_STORE_CHECK, &s, NULL) == DTX_OK)
		(void)!dtx_verify(s, &opts, &findings, NULL);
	dtx_store_free(s);
	s = NULL;
	if (dtx_store_open(path, DTX_STORE_READ, &s, NULL) == DTX_OK)
		read_snippets(s);
out:
	dtx_store_free(s);
	dtx_file_close(&fd);
	json_decref(findings);
	for (size_t i = 0; i < DTX_COUNT(with); i++) {
		snprintf(name, sizeof(name), "%s%s", path, with[i]);
		(void)unlink(name);
	}
	return 0;
}
