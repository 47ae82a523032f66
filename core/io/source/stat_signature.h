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

struct dtx_stat_signature {
	uint64_t dev, ino;
	int64_t size, mtime_ns, ctime_ns;
};

#define DTX_STAT_SIGNATURE_SETTLE_S 120 /* by default */
#define DTX_STAT_SIGNATURE_TEXT     160

void dtx_stat_signature_of(const struct stat *st, struct dtx_stat_signature *m);
bool dtx_stat_signature_equal(const struct dtx_stat_signature *a,
                              const struct dtx_stat_signature *b);
/* fd's file system notes every write. */
bool dtx_stat_signature_noted(int fd);
/* It had been left alone for settle_s seconds at now_ns (of the real-time clock). */
bool dtx_stat_signature_settled(const struct dtx_stat_signature *m, int64_t now_ns,
                                int64_t settle_s);
/* "BOOT:dev:inode:size:mtime:ctime", times in nanoseconds: numbers of devices, and what a machine
 * that lost power remembers of times, hold until the next boot. */
void dtx_stat_signature_print(const struct dtx_stat_signature *m, const char *boot,
                              char out[DTX_STAT_SIGNATURE_TEXT]);

#endif
