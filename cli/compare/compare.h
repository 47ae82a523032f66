/* Compares two result files cell by cell, as they are written. Used where hashes only tell that
 * they differ. */
#ifndef DTX_CLI_COMPARE_COMPARE_H
#define DTX_CLI_COMPARE_COMPARE_H

#include "core/base/err.h"

enum dtx_compare_how {
	DTX_COMPARE_EQUAL,
	DTX_COMPARE_CLOSE,     /* equal except for numbers within 4 units in the last place */
	DTX_COMPARE_DIFFERENT, /* `row` and `column` are the first cell that differs */
	DTX_COMPARE_SHAPE      /* other columns or another number of rows; `text` says which */
};
struct dtx_compare {
	enum dtx_compare_how how;
	int64_t row; /* from 1 */
	char column[64], was[64], is[64];
	char text[160];
};
/* Compares two files, which are read as inputs. Errors: those of readers. */
DTX_MUSTUSE enum dtx_code dtx_compare_files(const char *was, const char *is,
                                            struct dtx_compare *out, struct dtx_err *err);

#endif
