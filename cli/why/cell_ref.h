/* How `why` prints the addresses and values of cells. */
#ifndef DTX_CLI_WHY_CELL_REF_H
#define DTX_CLI_WHY_CELL_REF_H

#include "core/base/text/json.h"

/* The text of a value as `why` shows it. A null is shown as null, and a text that could be mistaken
 * for something else (such as "null" or an empty one) is put in quotes. "" if `value` is NULL. The
 * result is valid until the next call. */
const char *dtx_cell_ref_shown(const json_t *value);
/* Appends lines such as "label  column  file!C5, C9, C12:C14", one per source. Shows at most `most`
 * addresses per source; a source that has "ranges" is shown with those. how: also show how the
 * column decided that the row exists (filter, group_by ...). */
void dtx_cell_ref_print(const char *label, const json_t *sources, size_t most, bool how,
                        struct dtx_buf *out);

#endif
