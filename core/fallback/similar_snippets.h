/* Finds snippets that would fit if columns had other names. They are only proposed to the user
 * and never run by themselves. */
#ifndef DTX_FALLBACK_SIMILAR_SNIPPETS_H
#define DTX_FALLBACK_SIMILAR_SNIPPETS_H

#include "core/base/text/json.h"

#define DTX_SIMILAR_MAX 3
#define DTX_SIMILAR_MIN 0.6

struct dtx_similar_pair {
	const char *need, *have; /* borrowed from the documents */
	double score;
};
/* How well the columns that code reads (`needs`) can be paired with those of `tables`; both are
 * documents from fingerprint.h. The score is the mean of the best pairs, chosen greedily, or 0
 * if a column has no partner. `pair` gets those pairs whose names differ, at most `max`; *n
 * counts them. */
double dtx_similar_score(const json_t *needs, const json_t *tables, struct dtx_similar_pair *pair,
                         size_t max, size_t *n);
/* Similarity of two names from 0 to 1: by edit distance or by common words, whichever is higher. */
double dtx_similar_names(const char *a, const char *b);

#endif
