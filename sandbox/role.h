/* The jail's side of the binary: the same program under another argv[0]. */
#ifndef DTX_SANDBOX_ROLE_H
#define DTX_SANDBOX_ROLE_H

/* A sanitizer's shadow and calls do not fit behind a filter: such a build locks nothing down, and
 * refuses what needs it. */
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

/* First thing in main(): -1 when argv[0] names no jail role; else runs it and returns the
 * status to exit with. */
int dtx_sandbox_role(int argc, char **argv);

#endif
