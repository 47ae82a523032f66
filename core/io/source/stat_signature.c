/* What a file system says about a file, see stat_signature.h. */
#include "core/io/source/stat_signature.h"

#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/statfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342 /* missing in older headers */
#endif

/* File systems that note the time when a clean page is first written through a mapping. Not
 * tmpfs (never does), ZFS (only when the page is written out), network file systems and FUSE
 * (not known). */
static const long signature_filesystems[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
	                                      F2FS_SUPER_MAGIC };

static int64_t signature_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void dtx_stat_signature_of(const struct stat *st, struct dtx_stat_signature *m)
{
	*m = (struct dtx_stat_signature){ .dev = st->st_dev,
		                          .ino = st->st_ino,
		                          .size = st->st_size,
		                          .mtime_ns = signature_ns(st->st_mtim),
		                          .ctime_ns = signature_ns(st->st_ctim) };
}

bool dtx_stat_signature_equal(const struct dtx_stat_signature *a,
                              const struct dtx_stat_signature *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

bool dtx_stat_signature_noted(int fd)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (i = 0; i < DTX_COUNT(signature_filesystems); i++)
		if ((unsigned long)fs.f_type == (unsigned long)signature_filesystems[i])
			return true;
	return false;
}

bool dtx_stat_signature_settled(const struct dtx_stat_signature *m, int64_t now_ns,
                                int64_t settle_s)
{
	int64_t last = DTX_MAX(m->mtime_ns, m->ctime_ns);

	return last <= now_ns && (now_ns - last) / 1000000000 >= settle_s;
}

void dtx_stat_signature_print(const struct dtx_stat_signature *m, const char *boot,
                              char out[DTX_STAT_SIGNATURE_TEXT])
{
	snprintf(out, DTX_STAT_SIGNATURE_TEXT,
	         "%.40s:%" PRIu64 ":%" PRIu64 ":%" PRId64 ":%" PRId64 ":%" PRId64, boot, m->dev,
	         m->ino, m->size, m->mtime_ns, m->ctime_ns);
}
