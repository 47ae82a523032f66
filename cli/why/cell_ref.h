/* Addresses of cells and their values, as `why` names them. */
#ifndef DTX_CLI_WHY_CELL_REF_H
#define DTX_CLI_WHY_CELL_REF_H

#include "core/base/text/json.h"

struct dtx_cell_ref_cell {
	char at[24];  /* "C17", "L1042" */
	long line;    /* the number in it */
	uint64_t row; /* of the input: a line may have several */
	char *value;  /* dtx_mem */
};
struct dtx_cell_ref {
	struct dtx_cell_ref_cell *item;
	size_t n, cap;
};
/* Each cell once. */
DTX_MUSTUSE enum dtx_code dtx_cell_ref_add(struct dtx_cell_ref *c, const char *at, uint64_t row,
                                           struct dtx_str value, struct dtx_err *err);
void dtx_cell_ref_clear(struct dtx_cell_ref *c);
/* A value as `why` shows it: null, and in quotes what else would be taken for one or for nothing;
 * "" of none. */
const char *dtx_cell_ref_shown(const json_t *value);
/* [{"cell","value"}] in order of rows; new reference, NULL: out of memory. */
json_t *dtx_cell_ref_json(struct dtx_cell_ref *c, bool values);
/* Lines "label  column  file!C5, C9, C12:C14"; at most `most` addresses each, or what a source has
 * as "ranges".  how: say also in
 * which way the column decided (filter, group_by ...). */
void dtx_cell_ref_print(const char *label, const json_t *sources, size_t most, bool how,
                        struct dtx_buf *out);
/* The same of columns alone. */
void dtx_cell_ref_columns(const char *label, const json_t *sources, struct dtx_buf *out);

#endif
