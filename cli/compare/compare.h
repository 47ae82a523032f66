/* Two result files cell by cell, as they are written: for what hashes only say is different. */
#ifndef DTX_CLI_COMPARE_COMPARE_H
#define DTX_CLI_COMPARE_COMPARE_H

#include "core/base/err.h"

enum dtx_compare_how {
	DTX_COMPARE_EQUAL,
	DTX_COMPARE_CLOSE,     /* the same but for numbers within 4 units in the last place */
	DTX_COMPARE_DIFFERENT, /* `row` and `column` have the first cell that is */
	DTX_COMPARE_SHAPE      /* other columns, or another number of rows: `text` says which */
};
struct dtx_compare {
	enum dtx_compare_how how;
	int64_t row; /* from 1 */
	char column[64], was[64], is[64];
	char text[160];
};
/* Both files are read as dtx reads inputs; codes of readers. */
DTX_MUSTUSE enum dtx_code dtx_compare_files(const char *was, const char *is,
                                            struct dtx_compare *out, struct dtx_err *err);

#endif
