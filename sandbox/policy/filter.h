/* Seccomp programs built from policy.h.  [libseccomp]
 *
 *   Z  floor of the zygote, inherited: what is outside the policy gets ENOSYS
 *   A  the policy, in the worker: what is not allowed goes to the supervisor, which names it
 *   B  seal, last: the two calls that handing over A's listener and loading B needed
 *
 * Z never says ERRNO or KILL for a call that A names: those beat USER_NOTIF. */
#ifndef DTX_SANDBOX_POLICY_FILTER_H
#define DTX_SANDBOX_POLICY_FILTER_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"

enum dtx_filter_id { DTX_FILTER_Z, DTX_FILTER_A, DTX_FILTER_A_PLAIN, DTX_FILTER_B };
#define DTX_FILTER_COUNT 4

/* What a worker may do with the files of the libraries: nothing, read them, load code from them. */
enum dtx_filter_set { DTX_FILTER_SEALED, DTX_FILTER_LIB, DTX_FILTER_LIB_CODE };
#define DTX_FILTER_SETS 3

struct dtx_filter {
	void *bpf; /* dtx_mem, n instructions of 8 bytes */
	size_t n;
};
struct dtx_filters {
	struct dtx_filter of[DTX_FILTER_COUNT];
	char hash[DTX_SHA256_HEX]; /* over Z, A, B */
};

/* Whether the machine lets a process make and load a filter: 0, else errno, and the layer that is
 * missing with the call that fails ("memfd: memfd_create"). */
int dtx_filter_missing(const char **layer, const char **call);

/* Code: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_filters_build(struct dtx_filters *f, enum dtx_filter_set set,
                                            struct dtx_err *err);
/* The programs of another machine: `arch` is its AUDIT_ARCH number. */
DTX_MUSTUSE enum dtx_code dtx_filters_build_for(uint32_t arch, enum dtx_filter_set set,
                                                struct dtx_filters *f, struct dtx_err *err);
void dtx_filters_clear(struct dtx_filters *f);
/* Loads one into the calling thread.  A: *listener is its descriptor, the others leave it.
 * Returns 0 or errno. */
DTX_MUSTUSE int dtx_filter_load(const struct dtx_filters *f, enum dtx_filter_id id, int *listener);

/* The program of a reader process, other than the three; owner as above.  Main is asked about a
 * call that it does not have, and can tell its name.  Code: jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_filter_build_reader(struct dtx_filter *out, bool file,
                                                  struct dtx_err *err);
/* From now on the kernel ends who makes such a call. */
void dtx_filter_make_plain(struct dtx_filter *f);
/* Loads it for every thread of the process.  Not plain: *listener is its descriptor.  Returns 0 or
 * errno. */
DTX_MUSTUSE int dtx_filter_load_reader(const struct dtx_filter *f, bool plain, int *listener);

/* What the supervisor answers to a call that A did not allow: errno to refuse with, 0 to kill. */
int dtx_filter_refusal(int nr);
/* tgkill(SIGABRT) of process `self` on itself: abort() of a C library, reported as the signal it
 * meant.  On anybody else it is an attack.  When its heap is broken it first says so, and is the
 * only one to do that with writev on standard error. */
bool dtx_filter_is_abort(int nr, const uint64_t args[6], int self);
/* Copies the call's name, "unknown" if there is none. */
void dtx_filter_name(int nr, char *out, size_t size);

#endif
