/* The memory limit of the process.  Sources: sysconf(3), proc(5), cgroups(7), and the kernel's
 * admin-guide/cgroup-v2 (memory.max) and cgroup-v1/memory (memory.limit_in_bytes). */
#include "core/base/memory/ram.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in a file.  "max", text that is not a number, and a missing file mean: no limit. */
static size_t limit_in(const char *root, const char *mount, const char *group, const char *name)
{
	char path[PATH_MAX], line[64];
	unsigned long long n = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s%s%s/%s", root, mount, group, name) >=
	    (int)sizeof(path))
		return SIZE_MAX;
	f = fopen(path, "re");
	if (!f)
		return SIZE_MAX;
	if (fgets(line, sizeof(line), f) && line[0] >= '0' && line[0] <= '9')
		n = strtoull(line, NULL, 10);
	fclose(f);
	return n && n < SIZE_MAX ? (size_t)n : SIZE_MAX;
}

/* The smallest limit of a group and of all groups that contain it, because each limit holds for
 * everything below. */
static size_t limit_around(const char *root, const char *mount, char *group, const char *name)
{
	size_t least = SIZE_MAX;

	for (;;) {
		char *last = strrchr(group, '/');
		size_t here = limit_in(root, mount, group, name);

		least = DTX_MIN(least, here);
		if (!last)
			return least;
		*last = '\0';
	}
}

/* A line of /proc/self/cgroup is "0::/group" in version 2 and "5:memory:/group" in version 1. */
static size_t group_limit(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX];
	size_t least = SIZE_MAX;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) >= (int)sizeof(path))
		return SIZE_MAX;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':');
		char *group = names ? strchr(names + 1, ':') : NULL;
		size_t here = SIZE_MAX;

		line[strcspn(line, "\n")] = '\0';
		if (!group)
			continue;
		*group++ = '\0';
		if (!names[1])
			here = limit_around(root, "/sys/fs/cgroup", group, "memory.max");
		else if (strstr(names + 1, "memory"))
			here = limit_around(root, "/sys/fs/cgroup/memory", group,
			                    "memory.limit_in_bytes");
		least = DTX_MIN(least, here);
	}
	if (f)
		fclose(f);
	return least;
}

size_t dtx_ram_bytes(const char *root)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	size_t all = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
	size_t group = group_limit(root);

	return all ? DTX_MIN(all, group) : group == SIZE_MAX ? 0 : group;
}
