/* Families of columns whose names differ only in a period ("2024-01", "2024-02", ...). Such
 * headers change with every file, so they enter the key of a snippet and the prompt as one
 * pattern. */
#ifndef DTX_FALLBACK_PROMPT_COLUMN_FAMILY_H
#define DTX_FALLBACK_PROMPT_COLUMN_FAMILY_H

#include "core/base/text/json.h"
#include "core/data/schema.h"

#define DTX_COLUMN_FAMILY_MIN 3 /* with fewer columns it is not a family */

struct dtx_column_family {
	char *pattern;     /* prefix{yyyy-Www}suffix */
	const char *klass; /* of all its columns, such as "num" */
	size_t n;          /* number of columns */
};
struct dtx_families {
	struct dtx_column_family *family;
	size_t n, cap;
	int32_t *of; /* for each column its family, or -1 */
};
#define DTX_FAMILIES_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0, NULL                                                                   \
	}
/* Finds the families of a schema. `patterns` are those that the plan names for the input; NULL:
 * all that are found; an empty array: none. The caller clears *out. */
DTX_MUSTUSE enum dtx_code dtx_families_find(const struct dtx_schema *s, const json_t *patterns,
                                            struct dtx_families *out, struct dtx_err *err);
void dtx_families_clear(struct dtx_families *f);

/* Finds the period in a name: its offset and length, and as result its kind ("yyyy-mm"). NULL:
 * the name has no period. */
const char *dtx_column_family_token(struct dtx_str name, size_t *off, size_t *len);

#endif
