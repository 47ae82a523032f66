/* Landlock rules for zygotes, workers and readers. They forbid opening files, TCP, device ioctls
 * and signals to other processes even on a machine that gives no namespaces.
 *
 * The constants are defined here because the kernel headers of the build machine may be older
 * than the kernel that runs. */
#include "sandbox/policy/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_FILE         ((uint64_t)1 << 2)
#define READ_DIR          ((uint64_t)1 << 3)
#define FS_ABI1           (((uint64_t)1 << 13) - 1) /* EXECUTE to MAKE_SYM */
#define FS_REFER          ((uint64_t)1 << 13)       /* ABI 2 */
#define FS_TRUNCATE       ((uint64_t)1 << 14)       /* ABI 3 */
#define FS_IOCTL_DEV      ((uint64_t)1 << 15)       /* ABI 5 */
#define NET_TCP           ((uint64_t)3)             /* ABI 4: bind, connect */
#define SCOPES            ((uint64_t)3)             /* ABI 6: abstract sockets, signals */
#define CREATE_VERSION    1u
#define RULE_PATH_BENEATH 1

struct ruleset_attr {
	uint64_t fs, net, scoped;
};
struct path_attr {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

unsigned dtx_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_VERSION);

	return abi > 0 ? (unsigned)abi : 0;
}

static struct ruleset_attr handled(unsigned abi, size_t *size)
{
	struct ruleset_attr a = { FS_ABI1, 0, 0 };

	if (abi >= 2)
		a.fs |= FS_REFER;
	if (abi >= 3)
		a.fs |= FS_TRUNCATE;
	if (abi >= 4)
		a.net = NET_TCP;
	if (abi >= 5)
		a.fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		a.scoped = SCOPES;
	*size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
	return a;
}

static int allow_tree(int ruleset, const char *path)
{
	struct path_attr rule = { READ_FILE, open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int rc = 0;

	if (rule.fd < 0)
		return errno == ENOENT ? 0 : errno;
	if (fstat(rule.fd, &st))
		rc = errno;
	if (S_ISDIR(st.st_mode))
		rule.access |= READ_DIR;
	if (!rc && syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0))
		rc = errno;
	close(rule.fd);
	/* EBADFD: a memory file lies below no folder, so Landlock can neither allow nor forbid
	 * it. */
	return rc == EBADFD ? 0 : rc;
}

int dtx_landlock_restrict(unsigned abi, const char *const *trees)
{
	size_t size;
	struct ruleset_attr attr = handled(abi, &size);
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0u), rc = 0;

	if (fd < 0)
		return errno;
	for (; !rc && trees && *trees; trees++)
		rc = allow_tree(fd, *trees);
	if (!rc && syscall(SYS_landlock_restrict_self, fd, 0u))
		rc = errno;
	close(fd);
	return rc;
}
