/* What the files of the header finder share. Only header.c and header_rows.c include this. */
#ifndef DTX_IO_HEADER_HEADER_FIND_H
#define DTX_IO_HEADER_HEADER_FIND_H

#include "core/io/header/header.h"

/* What is kept about a sampled row. */
struct dtx_head_shape {
	uint32_t filled, width;
	bool like;
	bool years; /* it has only years and dates */
};
struct dtx_head_finder {
	const struct dtx_head_grid *g;
	struct dtx_head_cell *cell; /* the row that was looked at last */
	bool *used;                 /* per column: whether it has a filled cell in the sample */
	struct dtx_head_shape *shape;
	uint32_t nshapes, nused, used_first, used_last;
	uint32_t want;  /* least number of filled cells in a start row */
	uint32_t width; /* for text files: the most frequent width */
	bool moved; /* went past rows that are not the header, so above it only merged ranges can
	             * belong to it */
	bool unnamed_first; /* the start row has all names except those of the first columns */
};

static inline bool dtx_head_filled(const struct dtx_head_cell *c)
{
	return c->kind != DTX_HEAD_BLANK && !c->wide;
}

static inline enum dtx_code dtx_head_look(struct dtx_head_finder *f, uint64_t row,
                                          struct dtx_err *err)
{
	uint32_t width = 0;

	return f->g->row(f->g->arg, row, f->cell, &width, err);
}

/* In header_rows.c: if the start row is a sentence, moves to the names below it. */
DTX_MUSTUSE enum dtx_code dtx_head_past_sentence(struct dtx_head_finder *f, uint32_t *start,
                                                 struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_below_prose(struct dtx_head_finder *f, uint32_t *start,
                                               struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_below_pairs(struct dtx_head_finder *f, uint32_t *start,
                                               struct dtx_err *err);
uint32_t dtx_head_below_sentences(const struct dtx_head_finder *f, uint32_t start);
/* In header_rows.c: how many rows from `start` on are the header; and moves `start` to rows above
 * that belong to it. */
DTX_MUSTUSE enum dtx_code dtx_head_grow_down(struct dtx_head_finder *f, uint32_t start,
                                             uint32_t *rows, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_grow_up(struct dtx_head_finder *f, uint32_t *start,
                                           uint32_t *rows, struct dtx_err *err);

/* In header_rows.c: the class of a cell. NONE is a blank or a word for "missing". */
enum dtx_head_class {
	DTX_HEAD_CLASS_NONE,
	DTX_HEAD_CLASS_TEXT,
	DTX_HEAD_CLASS_VALUE,
	DTX_HEAD_CLASS_DATE,
	DTX_HEAD_CLASS_PERCENT
};
enum dtx_head_class dtx_head_class(const struct dtx_head_cell *c);
/* In header_rows.c: whether the row has names that are numbers: years or positions, in an order
 * that no row below continues, while all of those have a first cell. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_name(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                struct dtx_err *err);
/* In header_rows.c: whether it has three or more years, each the next one. These are names even
 * above dates. */
DTX_MUSTUSE enum dtx_code dtx_head_years_count(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                               struct dtx_err *err);
/* In header_rows.c: whether the first row has years or bools, and its first cell is blank or,
 * before bools, a text. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_first(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                 struct dtx_err *err);
/* In header_rows.c: whether it has numbers above cells that are not of that kind. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_differ(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                  struct dtx_err *err);
/* In header_rows.c: whether it has the numbers that pandas gives to columns without a name. */
DTX_MUSTUSE enum dtx_code dtx_head_counts_columns(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                  struct dtx_err *err);

#endif
