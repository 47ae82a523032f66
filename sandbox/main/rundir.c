/* The folder of this user for sockets, see rundir.h. */
#include "sandbox/main/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/text/str.h"

#define BACKLOG   64
#define LOCK_TICK 5

/* Whether this is a folder of this user that no other user can enter. */
static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 077) == 0;
}

static int try_folder(const char *path, char *kept, size_t size)
{
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && (!mkdir(path, 0700) || errno == EEXIST))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !is_private(fd)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	if (fd >= 0)
		dtx_str_copy(kept, size, dtx_str_of(path));
	return fd;
}

int dtx_rundir_open(char *kept, size_t size)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	unsigned uid = geteuid();
	char path[DTX_RUNDIR_PATH];
	int fd = -1;

	if (dir && dir[0] == '/' && snprintf(path, sizeof(path), "%s/dtx", dir) < (int)sizeof(path))
		fd = try_folder(path, kept, size);
	else if (uid == 0)
		fd = try_folder("/run/dtx", kept, size);
	else {
		snprintf(path, sizeof(path), "/run/user/%u/dtx", uid);
		fd = try_folder(path, kept, size);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/dtx-%u", uid);
		fd = try_folder(path, kept, size);
	}
	return fd;
}

static void address_of(int folder, const char *name, struct sockaddr_un *to)
{
	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	snprintf(to->sun_path, sizeof(to->sun_path), "/proc/self/fd/%d/%s", folder, name);
}

/* Whether the listener belongs to this user. The folder's mode already says so; this proves it. */
static bool is_own(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return false;
	errno = EPERM;
	return cred.uid == geteuid();
}

int dtx_rundir_join(int folder, const char *name, int wait_ms)
{
	const struct timeval patience = { wait_ms / 1000, wait_ms % 1000 * 1000 };
	struct sockaddr_un to;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), bad;

	if (fd < 0)
		return -1;
	address_of(folder, name, &to);
	if (!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
	    !connect(fd, (struct sockaddr *)&to, sizeof(to)) && is_own(fd))
		return fd;
	bad = errno;
	close(fd);
	errno = bad;
	return -1;
}

int dtx_rundir_listen(int folder, const char *name)
{
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), bad;

	if (fd < 0)
		return -1;
	address_of(folder, name, &at);
	if (!fchmod(fd, 0600) && !bind(fd, (struct sockaddr *)&at, sizeof(at)) &&
	    !listen(fd, BACKLOG))
		return fd;
	bad = errno;
	close(fd);
	errno = bad;
	return -1;
}

int dtx_rundir_lock(int folder, const char *name, int wait_ms)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), ms;

	for (ms = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB); ms += LOCK_TICK) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || ms >= wait_ms) {
			close(fd);
			return -1;
		}
		poll(NULL, 0, LOCK_TICK);
	}
	return fd;
}
