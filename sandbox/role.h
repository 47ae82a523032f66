/* The roles of the binary inside the jail. dtx starts itself again under another argv[0] to
 * become a zygote, a reader or a remote guest. */
#ifndef DTX_SANDBOX_ROLE_H
#define DTX_SANDBOX_ROLE_H

/* The shadow memory and the system calls of a sanitizer do not fit into the policy. A build with
 * a sanitizer therefore locks nothing down, and refuses to run what needs the jail. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DTX_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DTX_SANITIZED true
#endif
#endif
#ifndef DTX_SANITIZED
#define DTX_SANITIZED false
#endif

/* Must be called first in main(). If argv[0] names a role of the jail, runs it and returns the
 * exit status; otherwise returns -1. */
int dtx_sandbox_role(int argc, char **argv);

#endif
