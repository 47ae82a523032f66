/* Whether a file is the one seen before, without reading it: by what the file system says of it.
 *
 * A change time cannot be set, only made anew, so equal marks are equal bytes, where two things
 * hold, which `settled` asks for.  The file system notes every write, also one through a mapping
 * (local ones do; some note it late, or never).  And nobody was at the file when it was marked:
 * writes to a page that is dirty already leave no trace until the kernel has written it out, by
 * default after 30 seconds.  Source of the idea: git's index ("racy git"). */
#ifndef DTX_IO_SOURCE_STAT_SIGNATURE_H
#define DTX_IO_SOURCE_STAT_SIGNATURE_H

#include <sys/stat.h>

#include "core/base/base.h"

struct dtx_filemark {
	uint64_t dev, ino;
	int64_t size, mtime_ns, ctime_ns;
};

#define DTX_FILEMARK_SETTLE_S 120 /* by default */
#define DTX_FILEMARK_TEXT     160

void dtx_filemark_of(const struct stat *st, struct dtx_filemark *m);
bool dtx_filemark_equal(const struct dtx_filemark *a, const struct dtx_filemark *b);
/* fd's file system notes every write. */
bool dtx_filemark_noted(int fd);
/* It had been left alone for settle_s seconds at now_ns (of the real-time clock). */
bool dtx_filemark_settled(const struct dtx_filemark *m, int64_t now_ns, int64_t settle_s);
/* "BOOT:dev:inode:size:mtime:ctime", times in nanoseconds: numbers of devices, and what a machine
 * that lost power remembers of times, hold until the next boot. */
void dtx_filemark_print(const struct dtx_filemark *m, const char *boot,
                        char out[DTX_FILEMARK_TEXT]);

#endif
