/* Namespaces and capabilities of a zygote: what it and its workers can see and be. */
#ifndef DTX_SANDBOX_POLICY_NS_H
#define DTX_SANDBOX_POLICY_NS_H

#include "core/base/err.h"

/* Bits of what holds; names in dtx_layer_name. */
enum dtx_layer {
	DTX_LAYER_USERNS = 1 << 0,
	DTX_LAYER_MOUNTNS = 1 << 1, /* with pivot_root to a read-only tree */
	DTX_LAYER_PIDNS = 1 << 2,
	DTX_LAYER_NETNS = 1 << 3,
	DTX_LAYER_IPCNS = 1 << 4,
	DTX_LAYER_UTSNS = 1 << 5,
	DTX_LAYER_LANDLOCK = 1 << 6,
	DTX_LAYER_RLIMITS = 1 << 7,
	DTX_LAYER_SECCOMP = 1 << 8,
	DTX_LAYER_NOTIFY = 1 << 9
};
#define DTX_LAYER_NAMESPACES                                                                       \
	(DTX_LAYER_USERNS | DTX_LAYER_MOUNTNS | DTX_LAYER_PIDNS | DTX_LAYER_NETNS |                \
	 DTX_LAYER_IPCNS | DTX_LAYER_UTSNS)
/* "userns,mountns,...,landlock7,..." in order. */
void dtx_layers_print(unsigned layers, unsigned landlock, char *out, size_t size);
/* Whether `want` ("userns,landlock4") holds; the first word that does not goes to `missing`. */
DTX_MUSTUSE bool dtx_layers_hold(const char *want, unsigned layers, unsigned landlock,
                                 char *missing, size_t size);

/* Trees that Python needs, read only; ends with NULL.  The same in mounts and in landlock. */
extern const char *const dtx_jail_trees[];

/* The id that a worker of root gets: the last one of root's own range in `path` (/etc/subuid,
 * /etc/subgid: "root:100000:65536"), which no service has; false: no such range, and the id is that
 * of nobody, which services may share. */
bool dtx_ns_worker_id(const char *path, uint32_t *id);
/* root becomes that user; needs no layer.  *still_root: the id could not be changed. */
DTX_MUSTUSE enum dtx_code dtx_ns_user(bool *still_root, struct dtx_err *err);
/* The own user inside a namespace; not 65534: unmapped ids read as that. */
#define DTX_NS_INNER_ID 1000

/* All six namespaces and an own read-only root.  Returns false, with errno in *sys_errno, when the
 * machine does not give namespaces (nothing has changed then); a failure half way is an error.
 * The caller forks afterwards: the child is pid 1. */
DTX_MUSTUSE enum dtx_code dtx_ns_enter(bool *entered, int *sys_errno, struct dtx_err *err);
/* No capability left, none to be had: sets emptied, securebits locked, no_new_privs. */
DTX_MUSTUSE enum dtx_code dtx_ns_drop_caps(struct dtx_err *err);

#endif
