/* Tells whether a file is the one seen before without reading it, by what the file system says.
 *
 * The change time of a file cannot be set, only renewed. So equal signatures mean equal bytes,
 * if two conditions hold, which `settled` and `noted` check. First, the file system must note
 * every write, also through a mapping; local ones do, some others late or never. Second, no
 * program may have been writing when the signature was taken: further writes to a page that is
 * already dirty leave no trace until the kernel writes it out, by default after 30 seconds. The
 * idea comes from git's index ("racy git"). */
#ifndef DTX_IO_SOURCE_STAT_SIGNATURE_H
#define DTX_IO_SOURCE_STAT_SIGNATURE_H

#include <sys/stat.h>

#include "core/base/base.h"

struct dtx_stat_signature {
	uint64_t dev, ino;
	int64_t size, mtime_ns, ctime_ns;
};

#define DTX_STAT_SIGNATURE_SETTLE_S 120 /* the default */
#define DTX_STAT_SIGNATURE_TEXT     160

void dtx_stat_signature_of(const struct stat *st, struct dtx_stat_signature *m);
bool dtx_stat_signature_equal(const struct dtx_stat_signature *a,
                              const struct dtx_stat_signature *b);
/* Whether the file system of fd notes every write. */
bool dtx_stat_signature_noted(int fd);
/* Whether the file had been left alone for settle_s seconds at now_ns (real-time clock). */
bool dtx_stat_signature_settled(const struct dtx_stat_signature *m, int64_t now_ns,
                                int64_t settle_s);
/* Prints "BOOT:dev:inode:size:mtime:ctime", times in nanoseconds. The boot id is included,
 * because device numbers, and what a machine remembers of times after a power loss, are only
 * valid until the next boot. */
void dtx_stat_signature_print(const struct dtx_stat_signature *m, const char *boot,
                              char out[DTX_STAT_SIGNATURE_TEXT]);

#endif
