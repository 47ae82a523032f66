/* Namespaces, user ids and capabilities of a zygote. They keep it and its workers from seeing or
 * touching files, processes, sockets and IPC of the host, and from gaining rights through
 * anything that was left open. */
#include "sandbox/policy/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text/str.h"

#define NOBODY 65534

const char *const dtx_jail_trees[] = { "/usr/lib/python3", "/usr/lib/python3.11",
#if defined(__x86_64__)
	                               "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	                               "/usr/lib/aarch64-linux-gnu",
#endif
	                               "/usr/share/zoneinfo",
	                               "/etc/alternatives", /* libblas is a link through it */
	                               "/etc/ld.so.cache", "/usr/share/matplotlib",
	                               /* read by matplotlib; these entries matter only where it
	                                * is installed */
	                               "/etc/matplotlibrc", "/usr/share/fonts/truetype/dejavu",
	                               NULL };

#define REFUSE(err, layer, ...) DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, layer ": " __VA_ARGS__)

/* --- names --- */

static const struct {
	unsigned bit;
	const char *name;
} layer_names[] = {
	{ DTX_LAYER_USERNS, "userns" },     { DTX_LAYER_MOUNTNS, "mountns" },
	{ DTX_LAYER_PIDNS, "pidns" },       { DTX_LAYER_NETNS, "netns" },
	{ DTX_LAYER_IPCNS, "ipcns" },       { DTX_LAYER_UTSNS, "utsns" },
	{ DTX_LAYER_LANDLOCK, "landlock" }, { DTX_LAYER_RLIMITS, "rlimits" },
	{ DTX_LAYER_SECCOMP, "seccomp" },   { DTX_LAYER_NOTIFY, "notify" },
};

void dtx_layers_print(unsigned layers, unsigned landlock, char *out, size_t size)
{
	size_t at = 0, i;

	out[0] = 0;
	for (i = 0; i < DTX_COUNT(layer_names) && at < size; i++) {
		int n;

		if (!(layers & layer_names[i].bit))
			continue;
		n = snprintf(out + at, size - at, "%s%s", at ? "," : "", layer_names[i].name);
		at += n > 0 ? (size_t)n : 0;
		if (layer_names[i].bit == DTX_LAYER_LANDLOCK && at < size) {
			n = snprintf(out + at, size - at, "%u", landlock);
			at += n > 0 ? (size_t)n : 0;
		}
	}
}

static bool layer_holds(struct dtx_str word, unsigned layers, unsigned landlock)
{
	size_t i;

	if (dtx_str_starts(word, DTX_STR("landlock"))) {
		unsigned want = 1;

		if (word.len > 8)
			want = (unsigned)(word.ptr[8] - '0');
		return word.len <= 9 && want <= 9 && landlock >= want;
	}
	for (i = 0; i < DTX_COUNT(layer_names); i++)
		if (dtx_str_is(word, layer_names[i].name))
			return layers & layer_names[i].bit;
	return false;
}

bool dtx_layers_hold(const char *want, unsigned layers, unsigned landlock, char *missing,
                     size_t size)
{
	struct dtx_str rest = dtx_str_of(want ? want : ""), word;

	while (rest.len && dtx_str_next(&rest, ',', &word)) {
		word = dtx_str_trim(word);
		if (!word.len || layer_holds(word, layers, landlock))
			continue;
		dtx_str_copy(missing, size, word);
		return false;
	}
	return true;
}

/* --- user --- */

bool dtx_ns_worker_id(const char *path, uint32_t *id)
{
	FILE *f = fopen(path, "re");
	unsigned long long first, n;
	char line[256];
	bool found = false;

	*id = NOBODY;
	while (f && !found && fgets(line, sizeof(line), f)) {
		/* Ids up to 65534 belong to the system and to its users; the two highest numbers
		 * mean "no id". */
		found = sscanf(line, "root:%10llu:%10llu", &first, &n) == 2 && first > NOBODY &&
		        n && first + n - 1 < UINT32_MAX - 1;
		if (found)
			*id = (uint32_t)(first + n - 1);
	}
	if (f)
		(void)fclose(f);
	return found;
}

enum dtx_code dtx_ns_user(bool *still_root, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t uid, gid;

	*still_root = false;
	if (geteuid() != 0)
		goto out;
	(void)dtx_ns_worker_id("/etc/subuid", &uid);
	(void)dtx_ns_worker_id("/etc/subgid", &gid);
	/* A container may map a single id, or no part of the range. The process then stays root,
	 * and the caller insists on namespaces. */
	if (setgroups(0, NULL) || (setresgid(gid, gid, gid) && setresgid(NOBODY, NOBODY, NOBODY)) ||
	    (setresuid(uid, uid, uid) && setresuid(NOBODY, NOBODY, NOBODY))) {
		*still_root = true;
		goto out;
	}
	/* Changing the id made the process undumpable, and /proc/self then belongs to root, so
	 * that the id maps could not be written. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		REFUSE(err, "user", "prctl(DUMPABLE): %s", strerror(errno));
out:
	return rc;
}

/* --- namespaces --- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static bool map_ids(uid_t uid, gid_t gid)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%d %u 1\n", DTX_NS_INNER_ID, uid);
	snprintf(gids, sizeof(gids), "%d %u 1\n", DTX_NS_INNER_ID, gid);
	return write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uids) && write_file("/proc/self/gid_map", gids);
}

/* Makes every parent folder of `path` below the current folder. */
static bool make_parents(const char *path)
{
	char part[256];
	size_t i;

	for (i = 1; path[i] && i < sizeof(part); i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path + 1, i - 1);
		part[i - 1] = 0;
		if (mkdir(part, 0755) && errno != EEXIST)
			return false;
	}
	return true;
}

/* Binds one tree or file of the host to the same path below the current folder. */
static bool bind_tree(const char *path)
{
	struct stat st;
	const char *at = path + 1;

	if (stat(path, &st))
		/* what the host does not have, Python there does not need */
		return errno == ENOENT;
	if (!make_parents(path))
		return false;
	if (S_ISDIR(st.st_mode) ? mkdir(at, 0755) && errno != EEXIST
	                        : mknod(at, S_IFREG | 0444, 0) && errno != EEXIST)
		return false;
	return !mount(path, at, NULL, MS_BIND | MS_REC, NULL);
}

static bool build_root(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
		                               MOUNT_ATTR_NODEV };
	size_t i;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755") ||
	    chdir("/tmp"))
		return false;
	for (i = 0; dtx_jail_trees[i]; i++)
		if (!bind_tree(dtx_jail_trees[i]))
			return false;
	if (symlink("usr/lib", "lib"))
		return false;
	/* pivot_root(".", ".") stacks the old root on top of the new one. Detaching it leaves
	 * nothing of the host reachable. See the notes in pivot_root(2). */
	if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		return false;
	return !syscall(SYS_mount_setattr, -1, "/", AT_RECURSIVE, &attr, sizeof(attr));
}

/* Tries the namespaces in a child first, because entering them cannot be undone: a machine may
 * give user namespaces but forbid mounts in them. The child leaves out the network namespace and
 * the others, which take time and do not fail by themselves. */
static int try_mounts(uid_t uid, gid_t gid)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) || !map_ids(uid, gid) || !build_root()
		              ? errno
		              : 0);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

enum dtx_code dtx_ns_enter(bool *entered, int *sys_errno, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uid_t uid = geteuid();
	gid_t gid = getegid();

	*entered = false;
	*sys_errno = try_mounts(uid, gid);
	if (*sys_errno)
		goto out;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
	            CLONE_NEWUTS)) {
		*sys_errno = errno;
		goto out;
	}
	if (!map_ids(uid, gid))
		REFUSE(err, "userns", "id maps: %s", strerror(errno));
	if (!build_root())
		REFUSE(err, "mountns", "private root: %s", strerror(errno));
	*entered = true;
out:
	return rc;
}

/* --- capabilities --- */

static int caps_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };

	return (int)syscall(SYS_capget, &head, data);
}

static int caps_clear(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };

	return (int)syscall(SYS_capset, &head, none);
}

/* Empties the bounding set and locks the securebits. This needs CAP_SETPCAP; an ordinary user
 * outside a namespace has no capabilities to drop. */
static int bounding_clear(void)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return -1;
	return prctl(PR_SET_SECUREBITS,
	             SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
	                     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
	                     SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
	             0, 0, 0);
}

enum dtx_code dtx_ns_drop_caps(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct __user_cap_data_struct have[2] = { 0 };

	if (caps_get(have))
		REFUSE(err, "capabilities", "capget: %s", strerror(errno));
	if ((have[0].effective & (1u << CAP_SETPCAP)) && bounding_clear())
		REFUSE(err, "capabilities", "bounding set: %s", strerror(errno));
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (caps_clear() || caps_get(have))
		REFUSE(err, "capabilities", "capset: %s", strerror(errno));
	if (have[0].effective | have[0].permitted | have[0].inheritable | have[1].effective |
	    have[1].permitted | have[1].inheritable)
		REFUSE(err, "capabilities", "some are left");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		REFUSE(err, "no_new_privs", "prctl: %s", strerror(errno));
out:
	return rc;
}
