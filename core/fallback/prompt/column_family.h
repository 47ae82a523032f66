/* Sliding headers: columns whose names differ only in a period. */
#ifndef DTX_FALLBACK_PROMPT_COLUMN_FAMILY_H
#define DTX_FALLBACK_PROMPT_COLUMN_FAMILY_H

#include "core/base/text/json.h"
#include "core/data/schema.h"

#define DTX_COLUMN_FAMILY_MIN 3 /* fewer columns are no family */

struct dtx_column_family {
	char *pattern;     /* prefix{yyyy-Www}suffix */
	const char *klass; /* of all its columns: "num" ... */
	size_t n;          /* columns */
};
struct dtx_families {
	struct dtx_column_family *family;
	size_t n, cap;
	int32_t *of; /* per column: its family, -1: none */
};
#define DTX_FAMILIES_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0, NULL                                                                   \
	}
/* patterns: those an input names; NULL: all that are found; an empty array: none. */
DTX_MUSTUSE enum dtx_code dtx_families_find(const struct dtx_schema *s, const json_t *patterns,
                                            struct dtx_families *out, struct dtx_err *err);
void dtx_families_clear(struct dtx_families *f);

/* The period token in a name: offset and length, and its kind ("yyyy-mm"); NULL: none. */
const char *dtx_column_family_token(struct dtx_str name, size_t *off, size_t *len);

#endif
