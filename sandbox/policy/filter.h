/* The seccomp programs of the jail, built from policy.h with libseccomp.
 *
 * A worker runs under three filters, loaded one after the other:
 *
 *   Z  loaded by the zygote and inherited: what neither a zygote nor a worker may do gets ENOSYS
 *   A  loaded by the worker: what the policy does not allow goes to the supervisor, which names it
 *   B  loaded last: forbids the two calls that were needed to hand over A's listener and to load B
 *
 * When several filters match, the kernel obeys the strictest action, and ERRNO and KILL are
 * stricter than USER_NOTIF. Z must therefore never use them for a call that A sends to the
 * supervisor. A_PLAIN replaces A where the kernel offers no listener. */
#ifndef DTX_SANDBOX_POLICY_FILTER_H
#define DTX_SANDBOX_POLICY_FILTER_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"

enum dtx_filter_id { DTX_FILTER_Z, DTX_FILTER_A, DTX_FILTER_A_PLAIN, DTX_FILTER_B };
#define DTX_FILTER_COUNT 4

/* What a worker may do with the files of the Python libraries: nothing (SEALED), read them
 * (LIB), or also map extension modules as code (LIB_CODE). */
enum dtx_filter_set { DTX_FILTER_SEALED, DTX_FILTER_LIB, DTX_FILTER_LIB_CODE };
#define DTX_FILTER_SETS 3

struct dtx_filter {
	void *bpf; /* n instructions of 8 bytes; owned, allocated with dtx_mem */
	size_t n;
};
struct dtx_filters {
	struct dtx_filter of[DTX_FILTER_COUNT];
	char hash[DTX_SHA256_HEX]; /* SHA-256 over the programs Z, A and B, in hex */
};

/* Tests whether this machine lets a process make and load a filter. Returns 0, or errno; then
 * *layer is what is missing and *call the call that failed, for messages ("memfd:
 * memfd_create"). */
int dtx_filter_missing(const char **layer, const char **call);

/* Builds all filters for this machine. On success the caller owns *f and frees it with
 * dtx_filters_clear; on failure *f is empty. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_filters_build(struct dtx_filters *f, enum dtx_filter_set set,
                                            struct dtx_err *err);
/* The same for another architecture; `arch` is its AUDIT_ARCH number. Tests use it to compare
 * the policy of both supported machines. */
DTX_MUSTUSE enum dtx_code dtx_filters_build_for(uint32_t arch, enum dtx_filter_set set,
                                                struct dtx_filters *f, struct dtx_err *err);
void dtx_filters_clear(struct dtx_filters *f);
/* Loads one filter into the calling thread. For A, *listener becomes the descriptor on which
 * denied calls arrive; other filters leave it alone. Returns 0 or errno. */
DTX_MUSTUSE int dtx_filter_load(const struct dtx_filters *f, enum dtx_filter_id id, int *listener);

/* Builds the filter of a reader process; with `file`, it may also open its input again by name.
 * Denied calls go to main, which can name them. The caller frees out->bpf. Error:
 * jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_filter_build_reader(struct dtx_filter *out, bool file,
                                                  struct dtx_err *err);
/* Changes a reader's filter so that the kernel kills the process on a denied call, without
 * a question to main. For kernels that give no listener. */
void dtx_filter_make_plain(struct dtx_filter *f);
/* Loads a reader's filter into all threads of the process. Unless `plain`, *listener becomes the
 * descriptor on which denied calls arrive. Returns 0 or errno. */
DTX_MUSTUSE int dtx_filter_load_reader(const struct dtx_filter *f, bool plain, int *listener);

/* The supervisor's answer to a call that A did not allow: the errno to refuse it with, or 0 when
 * the worker must be killed. */
int dtx_filter_refusal(int nr);
/* Whether the call is a part of abort() in the C library: tgkill(SIGABRT) of process `self` on
 * itself, or the writev to standard error by which glibc reports a broken heap before that. The
 * run is then reported as ended by SIGABRT, not as an attack. Sending a signal to any other
 * process is an attack. */
bool dtx_filter_is_abort(int nr, const uint64_t args[6], int self);
/* Copies the name of call `nr` to `out`, or "unknown". */
void dtx_filter_name(int nr, char *out, size_t size);

#endif
