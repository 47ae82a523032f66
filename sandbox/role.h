/* The jail's side of the binary: the same program under another argv[0]. */
#ifndef DTX_SANDBOX_ROLE_H
#define DTX_SANDBOX_ROLE_H

/* First thing in main(): -1 when argv[0] names no jail role; else runs it and returns the
 * status to exit with. */
int dtx_sandbox_role(int argc, char **argv);

#endif
