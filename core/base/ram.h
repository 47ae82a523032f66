/* How much memory the process may have: the machine's, or less by its control group. */
#ifndef DTX_BASE_RAM_H
#define DTX_BASE_RAM_H

#include "core/base/base.h"

/* Bytes; 0: it cannot be found out.  root: "" or, for tests, a folder with proc and sys in it. */
size_t dtx_ram_bytes(const char *root);

#endif
