/* The policy: which system calls a locked process may make.
 *
 * This table is the only source. The seccomp filters, the verdicts of the supervisor, the tests
 * and the tables of dtx-sandbox(7) are all made from it.
 *
 * ALLOW(call, n, conditions, reason)  The call is allowed if all n conditions hold. Several rows of
 *                                     one call are alternatives.
 * REFUSE(call, errno, reason)         The call fails with errno and is logged; the snippet goes on.
 *
 * A call that has no row, or that fulfils no row, ends the worker.
 *
 * Filters see only the values in registers. They cannot read memory, so a condition can be about
 * a number, never about a path or a structure.
 *
 * Conditions on argument `arg`:
 *
 *   D_EQ(arg, v)              as an int, equals v
 *   D_LE(arg, v)              is not greater than v
 *   D_IN(arg, mask)           has no bit outside of mask
 *   D_BITS(arg, optional, v)  equals v, where the bits of `optional` are ignored
 *   D_IS(arg, v)              all 64 bits equal v
 *   D_OPEN(arg)               flags of openat that can only read: O_RDONLY with any of O_CLOEXEC,
 *                             O_DIRECTORY, O_NONBLOCK, O_NOFOLLOW (numbers differ by machine)
 *
 * The principles: memory may be writable or executable but never become both, so no new code can
 * be made. A worker may only use the six descriptors it was given, and cannot get new ones. It
 * gets neither entropy nor the wall clock from the kernel, so that a run can be repeated. Calls
 * that libraries make as a habit, and survive when they fail, are refused; everything else ends
 * the run, because a snippet has no honest reason to make it. */
#ifndef DTX_SANDBOX_POLICY_POLICY_H
#define DTX_SANDBOX_POLICY_POLICY_H

#include "core/base/base.h"

/* One row per line where it fits. clang-format finds no stable layout for these macros. */
/* clang-format off */
#define DTX_POLICY_RW 3u /* PROT_READ | PROT_WRITE */
#define DTX_POLICY_RX 5u /* PROT_READ | PROT_EXEC */

#define DTX_POLICY_ALLOW(A)                                                                        \
	A(read, 1, D_EQ(0, 0), D_NONE, D_NONE, D_NONE, "null input")                               \
	A(read, 1, D_EQ(0, 3), D_NONE, D_NONE, D_NONE, "job socket")                               \
	A(write, 1, D_EQ(0, 1), D_NONE, D_NONE, D_NONE, "standard output")                         \
	A(write, 1, D_EQ(0, 2), D_NONE, D_NONE, D_NONE, "standard error")                          \
	A(write, 1, D_EQ(0, 3), D_NONE, D_NONE, D_NONE, "job socket")                              \
	/* PRIVATE | ANONYMOUS, optional NORESERVE, STACK; fd -1 */                                \
	A(mmap, 4, D_IN(2, DTX_POLICY_RW), D_BITS(3, 0x4000u | 0x20000u, 0x22u),                   \
	  D_EQ(4, 0xffffffffu), D_EQ(5, 0), "memory; never executable")                            \
	/* PRIVATE, optional NORESERVE */                                                          \
	A(mmap, 3, D_IN(2, DTX_POLICY_RW), D_BITS(3, 0x4000u, 0x02u), D_EQ(4, 4), D_NONE,          \
	  "copy-on-write view of the input")                                                       \
	A(mmap, 3, D_IN(2, DTX_POLICY_RW), D_EQ(3, 0x01u), D_EQ(4, 5), D_NONE, "the result")       \
	A(mprotect, 1, D_IN(2, DTX_POLICY_RW), D_NONE, D_NONE, D_NONE, "no new code")              \
	A(mremap, 1, D_EQ(3, 1), D_NONE, D_NONE, D_NONE, "growing memory")                         \
	A(madvise, 1, D_LE(2, 4), D_NONE, D_NONE, D_NONE, "allocators: NORMAL to DONTNEED")        \
	A(madvise, 1, D_EQ(2, 8), D_NONE, D_NONE, D_NONE, "allocators: FREE")                      \
	A(madvise, 1, D_EQ(2, 14), D_NONE, D_NONE, D_NONE, "allocators: HUGEPAGE")                 \
	A(madvise, 1, D_EQ(2, 15), D_NONE, D_NONE, D_NONE, "allocators: NOHUGEPAGE")               \
	/* PRIVATE and CLOCK_REALTIME are free; no PI, no requeue */                               \
	A(futex, 1, D_BITS(1, 0x180u, 0u), D_NONE, D_NONE, D_NONE, "locks: WAIT")                  \
	A(futex, 1, D_BITS(1, 0x180u, 1u), D_NONE, D_NONE, D_NONE, "locks: WAKE")                  \
	A(futex, 1, D_BITS(1, 0x180u, 9u), D_NONE, D_NONE, D_NONE, "locks: WAIT_BITSET")           \
	A(futex, 1, D_BITS(1, 0x180u, 10u), D_NONE, D_NONE, D_NONE, "locks: WAKE_BITSET")          \
	A(clock_gettime, 1, D_LE(0, 7), D_NONE, D_NONE, D_NONE, "clocks without a vDSO")           \
	A(clock_nanosleep, 2, D_LE(0, 1), D_LE(1, 1), D_NONE, D_NONE, "sleep")                     \
	A(getrusage, 1, D_EQ(0, 0), D_NONE, D_NONE, D_NONE, "its own times")                       \
	A(munmap, 0, D_NONE, D_NONE, D_NONE, D_NONE, "memory")                                     \
	A(brk, 0, D_NONE, D_NONE, D_NONE, D_NONE, "memory")                                        \
	A(close, 0, D_NONE, D_NONE, D_NONE, D_NONE, "gives up what it has")                        \
	A(clock_getres, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                             \
	A(gettimeofday, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                             \
	A(time, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                                     \
	A(times, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                                    \
	A(getpid, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                                   \
	A(gettid, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                                   \
	A(sched_yield, 0, D_NONE, D_NONE, D_NONE, D_NONE, "harmless")                              \
	A(rt_sigreturn, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                           \
	A(restart_syscall, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                        \
	A(exit, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                                   \
	A(exit_group, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")

#define DTX_POLICY_REFUSE(R)                                                                       \
	R(open, ENOENT, "no files")                                                                \
	R(openat, ENOENT, "no files")                                                              \
	R(openat2, ENOENT, "no files")                                                             \
	R(creat, ENOENT, "no files")                                                               \
	R(stat, ENOENT, "no files")                                                                \
	R(lstat, ENOENT, "no files")                                                               \
	R(fstat, ENOENT, "no files")                                                               \
	R(newfstatat, ENOENT, "no files")                                                          \
	R(access, ENOENT, "no files")                                                              \
	R(faccessat, ENOENT, "no files")                                                           \
	R(faccessat2, ENOENT, "no files")                                                          \
	R(readlink, ENOENT, "no files")                                                            \
	R(readlinkat, ENOENT, "no files")                                                          \
	R(getcwd, ENOENT, "no folder")                                                             \
	R(chdir, ENOENT, "no folder")                                                              \
	R(clone3, ENOSYS, "the C library then tries clone")                                        \
	R(statx, ENOSYS, "probe")                                                                  \
	R(rseq, ENOSYS, "probe")                                                                   \
	R(getrandom, ENOSYS, "no entropy: runs repeat")                                            \
	R(clone, EAGAIN, "no threads, no processes")                                               \
	R(fork, EAGAIN, "no processes")                                                            \
	R(vfork, EAGAIN, "no processes")                                                           \
	R(socket, EACCES, "no network")                                                            \
	R(socketpair, EACCES, "no sockets")                                                        \
	R(pipe, EMFILE, "no new descriptors")                                                      \
	R(pipe2, EMFILE, "no new descriptors")                                                     \
	R(dup, EMFILE, "no new descriptors")                                                       \
	R(dup2, EMFILE, "no new descriptors")                                                      \
	R(dup3, EMFILE, "no new descriptors")                                                      \
	R(eventfd, EMFILE, "no new descriptors")                                                   \
	R(eventfd2, EMFILE, "no new descriptors")                                                  \
	R(epoll_create, EMFILE, "no new descriptors")                                              \
	R(epoll_create1, EMFILE, "no new descriptors")                                             \
	R(memfd_create, EMFILE, "no new descriptors")                                              \
	R(ioctl, ENOTTY, "isatty")                                                                 \
	R(pread64, EBADF, "nothing to read from")                                                  \
	R(lseek, EBADF, "nothing to seek in")                                                      \
	R(getdents, EBADF, "no folders")                                                           \
	R(getdents64, EBADF, "no folders")                                                         \
	R(mkdir, EROFS, "nothing is writable")                                                     \
	R(mkdirat, EROFS, "nothing is writable")                                                   \
	R(rmdir, EROFS, "nothing is writable")                                                     \
	R(unlink, EROFS, "nothing is writable")                                                    \
	R(unlinkat, EROFS, "nothing is writable")                                                  \
	R(rename, EROFS, "nothing is writable")                                                    \
	R(renameat, EROFS, "nothing is writable")                                                  \
	R(renameat2, EROFS, "nothing is writable")                                                 \
	R(link, EROFS, "nothing is writable")                                                      \
	R(linkat, EROFS, "nothing is writable")                                                    \
	R(symlink, EROFS, "nothing is writable")                                                   \
	R(symlinkat, EROFS, "nothing is writable")                                                 \
	R(chmod, EROFS, "nothing is writable")                                                     \
	R(fchmod, EROFS, "nothing is writable")                                                    \
	R(fchmodat, EROFS, "nothing is writable")                                                  \
	R(truncate, EROFS, "nothing is writable")                                                  \
	R(rt_sigaction, EPERM, "libraries cope")                                                   \
	R(rt_sigprocmask, EPERM, "libraries cope")                                                 \
	R(sigaltstack, EPERM, "libraries cope")                                                    \
	R(fcntl, EPERM, "libraries cope")                                                          \
	R(uname, EPERM, "libraries cope")                                                          \
	R(sysinfo, EPERM, "libraries cope")                                                        \
	R(sched_getaffinity, EPERM, "libraries cope")                                              \
	R(prlimit64, EPERM, "limits are fixed")                                                    \
	R(sched_setaffinity, EPERM, "libraries cope")                                              \
	R(mbind, ENOSYS, "as without NUMA: OpenBLAS goes on")                                      \
	R(set_mempolicy, ENOSYS, "as without NUMA: OpenBLAS goes on")                              \
	R(get_mempolicy, ENOSYS, "as without NUMA: OpenBLAS goes on")                              \
	R(getuid, EPERM, "libraries cope")                                                         \
	R(geteuid, EPERM, "libraries cope")                                                        \
	R(getgid, EPERM, "libraries cope")                                                         \
	R(getegid, EPERM, "libraries cope")                                                        \
	R(getppid, EPERM, "libraries cope")                                                        \
	R(getpgrp, EPERM, "libraries cope")                                                        \
	R(getpgid, EPERM, "libraries cope")                                                        \
	R(getsid, EPERM, "libraries cope")                                                         \
	R(getresuid, EPERM, "libraries cope")                                                      \
	R(getresgid, EPERM, "libraries cope")                                                      \
	R(getgroups, EPERM, "libraries cope")                                                      \
	R(poll, EPERM, "nothing to wait for")                                                      \
	R(ppoll, EPERM, "nothing to wait for")                                                     \
	R(select, EPERM, "nothing to wait for")                                                    \
	R(pselect6, EPERM, "nothing to wait for")                                                  \
	R(epoll_wait, EPERM, "nothing to wait for")                                                \
	R(epoll_pwait, EPERM, "nothing to wait for")

/* Additional rows for the profile lib-ro, in which a worker may read the library trees. Landlock
 * and the mounts confine it to these trees and keep them read-only. The descriptors are those
 * that openat can return, 6 to 31. Three rows express that range, because comparisons like "less
 * than" look at 64 bits, but an int argument defines only 32 of them. */
#define DTX_POLICY_FDS(A, call, reason)                                                            \
	A(call, 1, D_BITS(0, 1u, 6u), D_NONE, D_NONE, D_NONE, reason)                              \
	A(call, 1, D_BITS(0, 7u, 8u), D_NONE, D_NONE, D_NONE, reason)                              \
	A(call, 1, D_BITS(0, 15u, 16u), D_NONE, D_NONE, D_NONE, reason)
/* PRIVATE, optional FIXED, DENYWRITE */
#define DTX_POLICY_MAPS(A, how, prot, reason)                                                      \
	A(mmap, 3, how(2, prot), D_BITS(3, 0x810u, 0x02u), D_BITS(4, 1u, 6u), D_NONE, reason)      \
	A(mmap, 3, how(2, prot), D_BITS(3, 0x810u, 0x02u), D_BITS(4, 7u, 8u), D_NONE, reason)      \
	A(mmap, 3, how(2, prot), D_BITS(3, 0x810u, 0x02u), D_BITS(4, 15u, 16u), D_NONE, reason)
#define DTX_POLICY_LIB(A)                                                                          \
	A(openat, 1, D_OPEN(2), D_NONE, D_NONE, D_NONE, "modules that are not there yet")          \
	A(newfstatat, 0, D_NONE, D_NONE, D_NONE, D_NONE, "whether a module is there")              \
	A(getdents64, 0, D_NONE, D_NONE, D_NONE, D_NONE, "folders of modules")                     \
	DTX_POLICY_FDS(A, read, "a module's text")                                                 \
	DTX_POLICY_FDS(A, pread64, "a module's headers")                                           \
	DTX_POLICY_FDS(A, lseek, "a module's text")                                                \
	DTX_POLICY_FDS(A, fstat, "a module's size")                                                \
	DTX_POLICY_MAPS(A, D_IN, DTX_POLICY_RW, "a module's data")
/* Additional rows to load extension modules as code. They are used only where the worker's root
 * has no /proc: through /proc/self/fd a worker could open its own writable memory files again
 * and map them as code. */
#define DTX_POLICY_LIB_CODE(A)                                                                     \
	DTX_POLICY_MAPS(A, D_IS, DTX_POLICY_RX, "a module's code, as it is in its file")           \
	/* PRIVATE | ANONYMOUS | FIXED */                                                          \
	A(mmap, 4, D_IN(2, DTX_POLICY_RW), D_BITS(3, 0u, 0x32u), D_EQ(4, 0xffffffffu),             \
	  D_EQ(5, 0), "a module's zeros")

/* The policy of a reader process, which runs the parsers of workbooks and archives. Its two or
 * three threads exist before the filter is loaded. Descriptor 3 is its socket and 4 its input,
 * which it maps; other descriptors are memory that main sent. Any other call ends it. */
#define DTX_POLICY_READER(A)                                                                       \
	A(sendmsg, 1, D_EQ(0, 3), D_NONE, D_NONE, D_NONE, "answers")                               \
	A(recvmsg, 1, D_EQ(0, 3), D_NONE, D_NONE, D_NONE, "requests, memory to fill")              \
	A(mmap, 1, D_IN(2, DTX_POLICY_RW), D_NONE, D_NONE, D_NONE, "memory; never executable")     \
	A(mprotect, 1, D_IN(2, DTX_POLICY_RW), D_NONE, D_NONE, D_NONE, "no new code")              \
	A(mremap, 1, D_EQ(3, 1), D_NONE, D_NONE, D_NONE, "growing memory")                         \
	A(madvise, 1, D_LE(2, 4), D_NONE, D_NONE, D_NONE, "allocators: NORMAL to DONTNEED")        \
	A(madvise, 1, D_EQ(2, 14), D_NONE, D_NONE, D_NONE, "allocators: HUGEPAGE")                 \
	A(futex, 1, D_BITS(1, 0x180u, 0u), D_NONE, D_NONE, D_NONE, "locks: WAIT")                  \
	A(futex, 1, D_BITS(1, 0x180u, 1u), D_NONE, D_NONE, D_NONE, "locks: WAKE")                  \
	A(futex, 1, D_BITS(1, 0x180u, 9u), D_NONE, D_NONE, D_NONE, "locks: WAIT_BITSET")           \
	A(futex, 1, D_BITS(1, 0x180u, 10u), D_NONE, D_NONE, D_NONE, "locks: WAKE_BITSET")          \
	A(clock_gettime, 1, D_LE(0, 7), D_NONE, D_NONE, D_NONE, "clocks without a vDSO")           \
	A(munmap, 0, D_NONE, D_NONE, D_NONE, D_NONE, "memory")                                     \
	A(brk, 0, D_NONE, D_NONE, D_NONE, D_NONE, "memory")                                        \
	A(close, 0, D_NONE, D_NONE, D_NONE, D_NONE, "gives up what it has")                        \
	A(rt_sigreturn, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                           \
	A(restart_syscall, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                        \
	A(exit, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")                                   \
	A(exit_group, 0, D_NONE, D_NONE, D_NONE, D_NONE, "life cycle")

/* Additional rows for a reader that uses FreeXL, which opens its file by name. Landlock keeps it
 * from reading any other file. */
#define DTX_POLICY_READER_FILE(A)                                                                  \
	A(openat, 1, D_BITS(2, 0x88000u, 0u), D_NONE, D_NONE, D_NONE, "its input again, to read")  \
	A(read, 0, D_NONE, D_NONE, D_NONE, D_NONE, "its input")                                    \
	A(lseek, 0, D_NONE, D_NONE, D_NONE, D_NONE, "its input")                                   \
	A(newfstatat, 0, D_NONE, D_NONE, D_NONE, D_NONE, "the C library's buffers")                \
	A(fstat, 0, D_NONE, D_NONE, D_NONE, D_NONE, "the C library's buffers")

/* Calls that a zygote needs, in addition to those of a worker, to make workers (filter Z). clone
 * and socketpair are not listed: filter.c allows them with exactly the arguments of fork() and
 * of a pair of unix sockets. */
#define DTX_POLICY_ZYGOTE(Z)                                                                       \
	Z(newfstatat)                                                                              \
	Z(fstat) Z(lseek) Z(ioctl) Z(accept4) Z(sendmsg) Z(recvmsg) Z(getsockopt) Z(poll) Z(wait4) \
		Z(pipe2) Z(memfd_create) Z(ftruncate) Z(fcntl) Z(dup2) Z(close_range)              \
			Z(pidfd_open) Z(pidfd_send_signal) Z(prlimit64) Z(prctl)                   \
				Z(landlock_create_ruleset) Z(landlock_add_rule)                    \
					Z(landlock_restrict_self) Z(seccomp) Z(getppid)            \
						Z(set_robust_list) Z(rt_sigaction)                 \
							Z(rt_sigprocmask) Z(rt_sigtimedwait)

/* clang-format on */

#endif
