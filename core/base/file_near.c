/* Suggestions for a file that was not found: similar names in the same folder. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"

#define NEAR_FILES 512 /* at most this many names of the folder are compared */
#define NEAR_NAME  64  /* size of one entry of did_you_mean */

struct near_names {
	char text[NEAR_FILES][NEAR_NAME];
	const char *name[NEAR_FILES];
	size_t n;
};

static int near_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void near_read(DIR *dir, struct near_names *names)
{
	const struct dirent *entry;

	while (names->n < NEAR_FILES && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= NEAR_NAME)
			continue;
		names->name[names->n] = names->text[names->n];
		dtx_str_copy(names->text[names->n++], NEAR_NAME, dtx_str_of(entry->d_name));
	}
	/* readdir returns names in no fixed order; sorting makes the suggestions repeatable. */
	qsort(names->name, names->n, sizeof(*names->name), near_cmp);
}

void dtx_file_near(const char *path, struct dtx_err *err)
{
	struct near_names *names;
	char folder[PATH_MAX];
	DIR *dir;

	if (!err || err->hint[0])
		return;
	dtx_file_dirname(path, folder, sizeof(folder));
	dir = opendir(folder);
	if (!dir) {
		dtx_err_hint(err, "there is no folder '%.200s'", folder);
		return;
	}
	names = dtx_mem_zalloc(1, sizeof(*names));
	if (names) {
		near_read(dir, names);
		dtx_err_suggest(err, dtx_file_basename(path), names->name, names->n);
	}
	dtx_mem_free(names);
	closedir(dir);
}
