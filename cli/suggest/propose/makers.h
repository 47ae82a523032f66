/* The makers of proposals: each looks for one way in which a table is not tidy, and proposes the
 * step that repairs it, with a score and the evidence. They only look; whether a step fits is found
 * out later, by running it. */
#ifndef DTX_CLI_SUGGEST_MAKERS_H
#define DTX_CLI_SUGGEST_MAKERS_H

#include "cli/suggest/propose/likeness.h"
#include "cli/suggest/profile.h"

enum { DTX_PROPOSAL_TEXT = 400 };

struct dtx_proposal {
	const char *maker;     /* name of its maker, or of that of the second step */
	json_t *steps;         /* owned */
	double score;          /* 0 to 1 */
	double weakest;        /* score of the weakest of its steps */
	bool apart;            /* a table of its own, also where it continues another proposal */
	bool headerless;       /* the file must be read without a header */
	bool raw;              /* for the table with the rows that are no data */
	bool doubtful;         /* it is not sure, whatever its score: a second step may be needed */
	const char *null_word; /* stands for nothing beside titles, as "NA"; NULL: none */
	bool shown;            /* it could be run, and is in the list */
	uint64_t made;         /* hash of the cells of its result */
	char evidence[DTX_PROPOSAL_TEXT];
};
struct dtx_makers {
	const struct dtx_textgrid *g;    /* the first rows of the table */
	const struct dtx_profile *place; /* for addresses; NULL: none */
	bool headerless;                 /* the names of g are the first row of the file */
	bool second;                     /* g is the result of a step: its columns have moved */
	struct dtx_feature *col;         /* of each column of g */
	bool *crossed;         /* columns whose names combine two lists, one of which is a series */
	const uint32_t *upper; /* length of a name's upper header row, which a blank follows; 0: it
	                        * has one row. NULL: all have one */
	struct dtx_arena arena;
	struct dtx_proposal *list; /* with dtx_mem */
	size_t n, cap;
	bool failed; /* out of memory */
};

/* Runs all makers on a table. Proposals with a score below `least` are left out; the others are
 * sorted, best first. */
DTX_MUSTUSE enum dtx_code dtx_makers_run(struct dtx_makers *m, double least, struct dtx_err *err);
void dtx_makers_clear(struct dtx_makers *m);
/* Adds a proposal of one step, which it takes. The text of the evidence is built with printf. */
void dtx_makers_add(struct dtx_makers *m, const char *maker, json_t *step, double score,
                    const char *evidence, ...) DTX_PRINTF(5, 6);
/* Adds the last proposal once more with another score and a further step, which it takes, or with a
 * member of its step changed: `value`, which it takes. */
void dtx_makers_also(struct dtx_makers *m, double score, json_t *step, const char *key,
                     json_t *value);
/* Drops the bytes of characters that a format with %.40s has cut: they would not be valid JSON. */
void dtx_makers_mend(char *text);
/* " at A4" for the first cell of a column with this text; "" if it is not known. */
const char *dtx_makers_place(struct dtx_makers *m, uint32_t col, const char *text);
/* The first value of a column; "" if it has none. */
const char *dtx_makers_first(const struct dtx_makers *m, uint32_t col);
/* Whether a column has whole numbers that go up in steps of one: it numbers the rows. */
bool dtx_makers_numbers_rows(const struct dtx_makers *m, uint32_t col);
/* A name that no column has: `name`, or name_2 and so on. */
const char *dtx_makers_name(struct dtx_makers *m, const char *name);
/* A list of the columns' names. A new reference. */
json_t *dtx_makers_columns(const struct dtx_makers *m, const uint32_t *col, uint32_t n);
/* The share of the columns' cells that are blank. */
double dtx_makers_blank(const struct dtx_makers *m, const uint32_t *col, uint32_t n);
/* After a proposal to stack these columns: a cell without a value can be a missing value, or say
 * that there is no such row. If there are many, the same step without these rows is another
 * proposal. */
void dtx_makers_sparse(struct dtx_makers *m, const uint32_t *col, uint32_t n, double score);

/* The makers. */
void dtx_make_records(struct dtx_makers *m);
void dtx_make_titles(struct dtx_makers *m);
void dtx_make_fill(struct dtx_makers *m);
void dtx_make_explode(struct dtx_makers *m);
void dtx_make_groups(struct dtx_makers *m);
void dtx_make_transpose(struct dtx_makers *m);
void dtx_make_stack(struct dtx_makers *m);
void dtx_make_widen(struct dtx_makers *m);

#endif
