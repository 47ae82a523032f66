/* Snippets that would fit if columns had other names: proposals, they never run. */
#ifndef DTX_FALLBACK_SIMILAR_SNIPPETS_H
#define DTX_FALLBACK_SIMILAR_SNIPPETS_H

#include "core/base/text/json.h"

#define DTX_SIMILAR_MAX 3
#define DTX_SIMILAR_MIN 0.6

struct dtx_similar_pair {
	const char *need, *have; /* borrowed from the documents */
	double score;
};
/* How well the columns that code reads (`needs`) pair with those of `tables`, both documents of
 * dtx_fingerprint: mean of the best pairs, greedily; 0 when a column finds none.  pairs: those
 * whose names differ, at most `max`; *n counts them. */
double dtx_similar_score(const json_t *needs, const json_t *tables, struct dtx_similar_pair *pair,
                         size_t max, size_t *n);
/* 0 to 1: edit distance or common words, whichever says more. */
double dtx_similar_names(const char *a, const char *b);

#endif
