/* How much memory the process may use: that of the machine, or less if its control group has a
 * limit. */
#ifndef DTX_BASE_RAM_H
#define DTX_BASE_RAM_H

#include "core/base/base.h"

/* In bytes; 0 if it is unknown.  root is "", or for tests a folder that contains proc and sys. */
size_t dtx_ram_bytes(const char *root);

#endif
