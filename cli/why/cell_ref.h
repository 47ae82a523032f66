/* Addresses of cells and their values, as `why` names them. */
#ifndef DTX_CLI_WHY_CELL_REF_H
#define DTX_CLI_WHY_CELL_REF_H

#include "core/base/text/json.h"

/* A value as `why` shows it: null, and in quotes what else would be taken for one or for nothing;
 * "" of none. */
const char *dtx_cell_ref_shown(const json_t *value);
/* Lines "label  column  file!C5, C9, C12:C14"; at most `most` addresses each, or what a source has
 * as "ranges".  how: say also in
 * which way the column decided (filter, group_by ...). */
void dtx_cell_ref_print(const char *label, const json_t *sources, size_t most, bool how,
                        struct dtx_buf *out);

#endif
