/* What a file system tells about a file: whether it is the same file, unchanged for some time. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/io/source/stat_signature.h"
#include "tests/t.h"

#define S INT64_C(1000000000)

void test_stat_signature_settles(void)
{
	struct dtx_stat_signature m = { .mtime_ns = 1000 * S, .ctime_ns = 2000 * S };

	T_CHECK(!dtx_stat_signature_settled(&m, 2000 * S + 119 * S, 120));
	T_CHECK(dtx_stat_signature_settled(&m, 2000 * S + 120 * S, 120));
	/* a clock that was set back, a time in the future */
	T_CHECK(!dtx_stat_signature_settled(&m, 1500 * S, 0));
	m.mtime_ns = 9000 * S;
	T_CHECK(!dtx_stat_signature_settled(&m, 8000 * S, 120));
	T_CHECK(!dtx_stat_signature_settled(&m, INT64_MAX, INT64_MAX));
}

void test_stat_signature_tells_apart(void)
{
	struct dtx_stat_signature m = { 1, 2, 3, 4, 5 }, other[5];
	char text[DTX_STAT_SIGNATURE_TEXT], again[DTX_STAT_SIGNATURE_TEXT];

	dtx_stat_signature_print(&m, "boot", text);
	T_STR(text, "boot:1:2:3:4:5");
	dtx_stat_signature_print(&m, "later", again);
	T_CHECK(strcmp(text, again) != 0);
	for (int i = 0; i < 5; i++) {
		other[i] = m;
		other[i].dev += i == 0;
		other[i].ino += i == 1;
		other[i].size += i == 2;
		other[i].mtime_ns += i == 3;
		other[i].ctime_ns += i == 4;
		T_CHECK(!dtx_stat_signature_equal(&m, &other[i]));
		dtx_stat_signature_print(&other[i], "boot", again);
		T_CHECK(strcmp(text, again) != 0);
	}
	/* the longest signature fits */
	m = (struct dtx_stat_signature){ UINT64_MAX, UINT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN };
	dtx_stat_signature_print(&m, "200acd28-fe08-49ce-bedd-a8fa40a7a182", text);
	T_INT(strlen(text), 36 + 5 + 2 * 20 + 3 * 20);
}

void test_stat_signature_of_memory_is_not_noted(void)
{
	int fd = memfd_create("x", MFD_CLOEXEC); /* a file of tmpfs */

	T_CHECK(fd >= 0 && !dtx_stat_signature_noted(fd));
	close(fd);
	T_CHECK(!dtx_stat_signature_noted(-1));
}

/* Times can be set back, but not without a trace. */
void test_stat_signature_of_a_file(void)
{
	struct dtx_stat_signature before, after;
	struct timespec times[2];
	struct stat st;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/f", t_dir());
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	T_CHECK(write(fd, "a", 1) == 1 && fstat(fd, &st) == 0);
	dtx_stat_signature_of(&st, &before);
	T_INT(before.size, 1);
	usleep(20000); /* longer than a tick of the clock for file times */
	T_CHECK(pwrite(fd, "b", 1, 0) == 1);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	T_CHECK(futimens(fd, times) == 0 && fstat(fd, &st) == 0);
	dtx_stat_signature_of(&st, &after);
	T_INT(after.mtime_ns, before.mtime_ns);
	T_CHECK(after.ctime_ns > before.ctime_ns && !dtx_stat_signature_equal(&before, &after));
	close(fd);
}
