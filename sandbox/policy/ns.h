/* Namespaces, user ids and capabilities of a zygote, which its workers inherit: they decide what
 * a snippet can see and which rights it has. A zygote calls dtx_ns_user, dtx_ns_enter and
 * dtx_ns_drop_caps in this order, once each, before it starts Python. */
#ifndef DTX_SANDBOX_POLICY_NS_H
#define DTX_SANDBOX_POLICY_NS_H

#include "core/base/err.h"

/* Layers of protection that are in force. The supervisor checks them for each worker. */
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
/* Prints the layers in a fixed order, "userns,mountns,...,landlock7,...". `landlock` is the ABI. */
void dtx_layers_print(unsigned layers, unsigned landlock, char *out, size_t size);
/* Whether all layers of the list `want` ("userns,landlock4") are in force. If not, the first
 * word that is not goes to `missing`. */
DTX_MUSTUSE bool dtx_layers_hold(const char *want, unsigned layers, unsigned landlock,
                                 char *missing, size_t size);

/* The trees and files that Python needs, read-only; the list ends with NULL. Mounts and Landlock
 * use the same list, so that neither allows more than the other. */
extern const char *const dtx_jail_trees[];

/* Finds the id that a worker of root gets: the last id of root's own range in `path`
 * (/etc/subuid or /etc/subgid, "root:100000:65536"), which no service uses. If root has no
 * range, returns false and sets the id of the user nobody, which services may share. */
bool dtx_ns_worker_id(const char *path, uint32_t *id);
/* If the process is root, it becomes that user. *still_root says that the id could not be
 * changed. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_ns_user(bool *still_root, struct dtx_err *err);
/* The process's id inside its user namespace. It is not 65534, because unmapped ids are shown as
 * that. */
#define DTX_NS_INNER_ID 1000

/* Enters six namespaces and moves to a read-only root of its own. If the machine does not give
 * namespaces, *entered is false, *sys_errno says why, the call succeeds, and nothing has
 * changed. A failure half way is an error (snippet_setup_refused). The caller must fork
 * afterwards: the pid namespace starts with the child as pid 1. */
DTX_MUSTUSE enum dtx_code dtx_ns_enter(bool *entered, int *sys_errno, struct dtx_err *err);
/* Gives up all capabilities for good: empties the sets, locks the securebits and sets
 * no_new_privs. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_ns_drop_caps(struct dtx_err *err);

#endif
