/* What one pass over an input finds in each column. */
#ifndef DTX_CLI_SUGGEST_PROFILE_H
#define DTX_CLI_SUGGEST_PROFILE_H

#include "cli/suggest/colstat.h"
#include "core/data/cast/infer.h"
#include "core/io/reader.h"

struct dtx_profile {
	const struct dtx_schema *schema; /* the reader's */
	struct dtx_infer *col;           /* for the type of each column */
	struct dtx_colstat *stat;        /* statistics of its values */
	struct dtx_table *sample;        /* the first rows */
	int64_t rows;
	struct dtx_progress *progress;   /* updated while reading; NULL: none */
	const struct dtx_origin *origin; /* the reader's; valid as long as it is open */
};
#define DTX_PROFILE_INIT                                                                           \
	{                                                                                          \
		NULL, NULL, NULL, NULL, 0, NULL, NULL                                              \
	}

/* Reads all of r once. */
DTX_MUSTUSE enum dtx_code dtx_profile_read(struct dtx_profile *p, struct dtx_reader *r,
                                           uint32_t sample_rows, struct dtx_err *err);
void dtx_profile_clear(struct dtx_profile *p);
/* The narrowest type of column i over all rows. */
struct dtx_typeref dtx_profile_type(const struct dtx_profile *p, uint32_t i);
/* The address of a cell by its row id: "C17", "L1042". */
enum { DTX_PROFILE_PLACE = 32 };
void dtx_profile_place(const struct dtx_profile *p, uint32_t col, uint64_t row, char *buf,
                       size_t size);
/* The address of the first cell of column i with this text; "" if it is not among the values that
 * were distinguished. */
void dtx_profile_find(const struct dtx_profile *p, uint32_t col, struct dtx_str text, char *buf,
                      size_t size);
/* Writes in words why a column has its type: "int: 9,998 of 9,999; not L812 'n/a'". */
void dtx_profile_evidence(const struct dtx_profile *p, uint32_t i, struct dtx_buf *out);

#endif
