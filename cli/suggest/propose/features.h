/* What the cells of a column look like, from an even sample of its rows. Two columns of the same
 * kind of data have similar features, which is what the makers of proposals look for. */
#ifndef DTX_CLI_SUGGEST_FEATURES_H
#define DTX_CLI_SUGGEST_FEATURES_H

#include "cli/textgrid.h"

enum { DTX_FEATURE_ROWS = 200 }; /* rows of the sample */

enum dtx_cell_kind {
	DTX_LOOKS_BLANK, /* also words and marks for missing values */
	DTX_LOOKS_NUMBER,
	DTX_LOOKS_PERCENT,
	DTX_LOOKS_CURRENCY,
	DTX_LOOKS_DATE,
	DTX_LOOKS_MONTH, /* months, weekdays and quarters */
	DTX_LOOKS_TIME,
	DTX_LOOKS_BOOL,
	DTX_LOOKS_URL,
	DTX_LOOKS_CODE,  /* capitals with digits or dashes: "AB-12" */
	DTX_LOOKS_MIXED, /* a number with a text: "12 kg" */
	DTX_LOOKS_WORD,
	DTX_LOOKS_TEXT,
	DTX_LOOKS_KINDS
};
/* The kind of a cell; *number is its value if it has one, otherwise 0. NULL is blank. */
enum dtx_cell_kind dtx_cell_kind(const char *text, double *number);
/* Whether it is an English month or weekday, in full or short. */
bool dtx_cell_month(struct dtx_str t);
bool dtx_cell_weekday(struct dtx_str t);
/* A hash of the text that ignores case and spaces. */
uint64_t dtx_cell_hash(struct dtx_str text);
/* A hash of the text's shape: digits as 9, letters as a, runs as one, punctuation as it is. */
uint64_t dtx_cell_shape(struct dtx_str text);
/* Whether it is blank or a word for a missing value. */
bool dtx_cell_blank(const char *text);

struct dtx_hashset { /* sorted and distinct */
	uint64_t *hash;
	uint32_t n;
};
struct dtx_feature {
	uint32_t rows, filled;           /* sampled rows, and how many of them are not blank */
	uint32_t kinds[DTX_LOOKS_KINDS]; /* sampled cells of each kind */
	enum dtx_cell_kind kind;         /* the most frequent one that is not blank; BLANK: none */
	double pure;                     /* its share of the cells that are not blank */
	double median;                   /* of the absolute values of numbers */
	double whole;                    /* share of whole numbers among the numbers */
	double spread;                   /* standard deviation of log10 of the numbers */
	double length;                   /* mean number of bytes */
	struct dtx_hashset words, shapes;
};
/* Features of one line of cells: of column `at`, or with `across` of row `at` without its first
 * cell. Sets are made in the arena if it is not NULL. False: out of memory. */
DTX_MUSTUSE bool dtx_feature_make(struct dtx_feature *f, const struct dtx_textgrid *g, int64_t at,
                                  bool across, struct dtx_arena *arena);
bool dtx_kind_is_number(enum dtx_cell_kind k);
/* The share of the smaller set that is in the other one, 0 to 1. */
double dtx_hashset_overlap(const struct dtx_hashset *a, const struct dtx_hashset *b);

#endif
