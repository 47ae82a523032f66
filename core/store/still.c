/* Stores that nobody changes: a log of changes, or a folder that takes one, would be the sign. */
#include "core/store/still.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

/* Of the database's header: the version that writers need, which is of those that log ahead. */
enum { STILL_HEAD = 20, STILL_VERSION = 18, STILL_LOGS = 2 };

static bool still_is(const char *path)
{
	char other[PATH_MAX];
	struct stat st;
	const char *slash = strrchr(path, '/');

	snprintf(other, sizeof(other), "%.*s", slash ? (int)(slash - path) + 1 : 1,
	         slash ? path : ".");
	if (access(other, W_OK) == 0 || (errno != EACCES && errno != EROFS))
		return false;
	snprintf(other, sizeof(other), "%s-wal", path);
	return stat(other, &st) < 0 ? errno == ENOENT : st.st_size == 0;
}

bool dtx_still_name(const char *path, struct dtx_buf *out)
{
	if (!still_is(path))
		return false;
	dtx_buf_add(out, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			dtx_buf_printf(out, "%%%02X", (unsigned char)*path);
		else
			dtx_buf_addc(out, *path);
	}
	dtx_buf_add(out, "?immutable=1");
	return true;
}

bool dtx_still_bare(const char *path)
{
	uint8_t head[STILL_HEAD] = { 0 };
	char log[PATH_MAX];
	struct stat st;
	int fd = -1;
	bool logs;

	if (dtx_file_open(path, &fd, NULL) != DTX_OK)
		return false;
	logs = read(fd, head, sizeof(head)) == STILL_HEAD && head[STILL_VERSION] == STILL_LOGS;
	dtx_file_close(&fd);
	snprintf(log, sizeof(log), "%s-wal", path);
	return logs && (stat(log, &st) < 0 || st.st_size == 0);
}
