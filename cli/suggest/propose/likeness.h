/* How alike two columns are, by their values and by their names, from 0 to 1. */
#ifndef DTX_CLI_SUGGEST_LIKENESS_H
#define DTX_CLI_SUGGEST_LIKENESS_H

#include "cli/suggest/propose/features.h"

double dtx_like_values(const struct dtx_feature *a, const struct dtx_feature *b);

/* What a list of names has in common. */
struct dtx_like_names {
	double score;         /* 0 to 1 */
	const char *what;     /* "years", "months"; NULL: no series */
	bool numbered;        /* the series is of numbers or letters */
	const char *column;   /* the name for a column of them: "year" */
	struct dtx_str start; /* the words that all names begin with, with the blank after them */
};
/* Compares n names: one series, a template with a series, common words, codes of one shape, a known
 * vocabulary, or nothing. */
struct dtx_like_names dtx_like_names(const char *const *name, size_t n);
/* The number of bytes of the words, with the blank before them, with which all names end. */
size_t dtx_like_end(const char *const *name, size_t n);
/* Whether a column has no name of its own: the reader or a program has numbered it. */
bool dtx_like_unnamed(const char *name);
/* Whether it names what is measured or recorded ("price", "Date of birth"), not what it is about.
 */
bool dtx_like_attribute(const char *text);
/* Whether it names what other answers or classes leave over: "other", "Don't know". */
bool dtx_like_leftover(const char *name);
/* The same for two names that are next to each other. */
double dtx_like_neighbours(const char *a, const char *b);

#endif
