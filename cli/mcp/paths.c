/* Paths that a client names: all below the root. Links are resolved here, and the resolved path is
 * what dtx gets, so that a link which is changed later leads nowhere else. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"
#include "core/base/file.h"
#include "core/io/write/writer.h"

static bool below(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (!strcmp(root, "/"))
		return path[0] == '/';
	return !strncmp(path, root, n) && (path[n] == '/' || !path[n]);
}

bool dtx_mcp_path_inside(const struct dtx_mcp_server *s, const char *path)
{
	return !strstr(path, "/../") && (below(s->root, path) || below(s->scratch.path, path));
}

static enum dtx_code outside(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                               "'%s' is not below the root of this server", path);

	dtx_err_hint(err, "name a file below it, relative to it; its person chose the root with "
	                  "dtx mcp --root");
	return rc;
}

/* The path as it is written, from the root. */
static enum dtx_code written(const struct dtx_mcp_server *s, const char *path, char out[PATH_MAX],
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int n = path[0] == '/' ? snprintf(out, PATH_MAX, "%s", path)
	                       : snprintf(out, PATH_MAX, "%s/%s", s->root, path);

	if (!path[0])
		DTX_FAIL(err, DTX_E_USAGE, "the name of a file is empty");
	if (n < 0 || n >= PATH_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "the name of a file is too long");
out:
	return rc;
}

/* Whether what is there of a path, its links resolved, is below the root. `whole` is cut. */
static bool leads_inside(const struct dtx_mcp_server *s, char *whole)
{
	char real[PATH_MAX], *end;

	while (!realpath(whole, real)) {
		end = strrchr(whole, '/');
		if (!end || end == whole)
			return false;
		/* "x/.." where no x is would be cut to what it is not */
		if (!strcmp(end, "/.."))
			return false;
		*end = '\0';
	}
	return below(s->root, real);
}

/* Whether a plan would take the path for something else: a pattern of several files, or a text with
 * the values of parameters. What it stands for then is not what was checked. */
static bool is_pattern(const char *path)
{
	return strpbrk(path, DTX_MCP_PATTERNS) != NULL;
}

enum dtx_code dtx_mcp_path_in(const struct dtx_mcp_server *s, const char *path, char out[PATH_MAX],
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char whole[PATH_MAX];
	struct stat st;

	DTX_TRY(written(s, path, whole, err));
	if (is_pattern(path))
		DTX_FAIL_NEXT(err, DTX_E_USAGE,
		              "name each file: {\"main\": [\"a.csv\", \"b.csv\"]}",
		              "'%s' is a pattern, not the name of a file", path);
	if (!realpath(whole, out)) {
		int reason = errno;

		/* what is outside is refused in the same words whether it is there or not */
		if (!leads_inside(s, whole)) {
			rc = outside(path, err);
			goto out;
		}
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "name a file below the root, relative to it",
		              "cannot open '%s': %s", path, strerror(reason));
	}
	if (!below(s->root, out)) {
		rc = outside(path, err);
		goto out;
	}
	if (stat(out, &st) || !S_ISREG(st.st_mode))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "name a file", "'%s' is no regular file", path);
out:
	return rc;
}

/* Resolves the folder of an output and puts its last name back. */
static enum dtx_code resolve_new(const struct dtx_mcp_server *s, const char *path,
                                 char out[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char whole[PATH_MAX], folder[PATH_MAX];
	const char *name;
	size_t n;

	DTX_TRY(written(s, path, whole, err));
	for (n = strlen(whole); n > 1 && whole[n - 1] == '/'; n--)
		whole[n - 1] = '\0';
	name = dtx_file_basename(whole);
	dtx_file_dirname(whole, folder, sizeof(folder));
	if (is_pattern(path))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose a name without *, ?, [ and $",
		              "'%s' is a pattern, not the name of a file", path);
	if (!realpath(folder, out) || !below(s->root, out)) {
		if (!leads_inside(s, folder)) {
			rc = outside(path, err);
			goto out;
		}
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose a folder that is there",
		              "the folder of '%s' is not there", path);
	}
	n = strlen(out);
	if (n + strlen(name) + 2 > PATH_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "the name of a file is too long");
	snprintf(out + n, PATH_MAX - n, "%s%s", n > 1 ? "/" : "", name);
	/* A file such as .bashrc or .git/config would be read as a program's settings. */
	if (strstr(out + (strlen(s->root) > 1 ? strlen(s->root) : 0), "/."))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose a name without it",
		              "'%s' has a name that begins with a dot", path);
out:
	return rc;
}

enum dtx_code dtx_mcp_path_out(const struct dtx_mcp_server *s, const char *path, bool replace,
                               char out[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char rejects[PATH_MAX + 16];
	struct stat st;
	int n;

	DTX_TRY(resolve_new(s, path, out, err));
	/* The text of a table can be that of a program: no file is made that one would run. */
	if (!strchr(dtx_file_basename(out), '.') || !dtx_writer_find("auto", out))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "end it in .csv, .xlsx or another suffix of tables",
		              "'%s' has no suffix of a table", path);
	/* rows that are put aside go to a file next to it */
	n = snprintf(rejects, sizeof(rejects), "%s.rejects.csv", out);
	if (!replace && n < (int)sizeof(rejects) && !lstat(rejects, &st))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose another name, or set \"replace\"",
		              "'%s.rejects.csv' is there already", path);
	if (lstat(out, &st))
		goto out;
	if (!S_ISREG(st.st_mode))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose another name",
		              "'%s' is there and no regular file", path);
	if (!replace)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose another name, or set \"replace\"",
		              "'%s' is there already", path);
out:
	return rc;
}

enum dtx_code dtx_mcp_path_folder(const struct dtx_mcp_server *s, const char *path,
                                  char out[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	DIR *dir = NULL;
	int fd, names = 0;

	DTX_TRY(resolve_new(s, path, out, err));
	fd = open(out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		goto out;
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && readdir(dir))
		names++;
	if (!dir || names > 2) /* besides "." and ".." */
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "choose a new name",
		              "'%s' is there and no empty folder", path);
out:
	if (dir)
		closedir(dir);
	return rc;
}

enum dtx_code dtx_mcp_scratch(const struct dtx_mcp_call *c, const char *name, struct dtx_str text,
                              char out[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd;

	snprintf(out, PATH_MAX, "%s/%s-%s", c->server->scratch.path, c->run_id, name);
	fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		DTX_FAIL_FILE(err, dtx_file_write_code(errno), "make", out);
	rc = dtx_file_write(fd, text.ptr, text.len, out, err);
out:
	dtx_file_close(&fd);
	return rc;
}
