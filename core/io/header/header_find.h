/* What the finder of headers knows while it looks.  Only header.c, header_echo.c,
 * header_numbers.c, header_prose.c and header_rows.c include this. */
#ifndef DTX_IO_HEADER_HEADER_FIND_H
#define DTX_IO_HEADER_HEADER_FIND_H

#include "core/io/header/header.h"

/* What is remembered of a sampled row. */
struct dtx_head_shape {
	uint32_t filled, width;
	bool like;
	bool years; /* nothing but years and dates */
};
struct dtx_head_finder {
	const struct dtx_head_grid *g;
	struct dtx_head_cell *cell; /* of the row last looked at */
	bool *used;                 /* column has a filled cell in the sample */
	struct dtx_head_shape *shape;
	uint32_t nshapes, nused, used_first, used_last;
	uint32_t want;  /* cells a start row must have filled */
	uint32_t width; /* modal, text files */
	bool moved;     /* past rows that are no header: only merged ranges join it from above */
	bool unnamed_first; /* the start row has all names but those of the first columns */
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

/* header_prose.c: a start row that is a sentence gives way to the names below it. */
DTX_MUSTUSE enum dtx_code dtx_head_past_sentence(struct dtx_head_finder *f, uint32_t *start,
                                                 struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_below_prose(struct dtx_head_finder *f, uint32_t *start,
                                               struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_below_pairs(struct dtx_head_finder *f, uint32_t *start,
                                               struct dtx_err *err);
uint32_t dtx_head_below_sentences(const struct dtx_head_finder *f, uint32_t start);
/* ... a row below the names is a heading of the rows after it, and has no names. */
DTX_MUSTUSE enum dtx_code dtx_head_is_heading(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                              struct dtx_err *err);
/* header_rows.c: how many rows from `start` on are the header; those above that join them. */
DTX_MUSTUSE enum dtx_code dtx_head_grow_down(struct dtx_head_finder *f, uint32_t start,
                                             uint32_t *rows, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_head_grow_up(struct dtx_head_finder *f, uint32_t *start,
                                           uint32_t *rows, struct dtx_err *err);
/* header_echo.c: whether a row of texts above others is data, as what it says comes again below it.
 * *col: a column where it does, -1 if there is none. */
DTX_MUSTUSE enum dtx_code dtx_head_comes_again(struct dtx_head_finder *f, uint32_t r, int64_t *col,
                                               struct dtx_err *err);

/* header_numbers.c: text, a number or a date, a date as people write it, a percentage, or none of
 * them: a blank or a word for "missing". */
enum dtx_head_class {
	DTX_HEAD_CLASS_NONE,
	DTX_HEAD_CLASS_TEXT,
	DTX_HEAD_CLASS_VALUE,
	DTX_HEAD_CLASS_DATE,
	DTX_HEAD_CLASS_PERCENT
};
enum dtx_head_class dtx_head_class(const struct dtx_head_cell *c);
/* ... a row of names that are numbers: years or places in an order that no row below goes on with,
 * while each of those has a first cell. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_name(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                struct dtx_err *err);
/* ... of three years and more, each the next one: names even above dates. */
DTX_MUSTUSE enum dtx_code dtx_head_years_count(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                               struct dtx_err *err);
/* ... of years or bools, in the first row, and its first cell is blank or, before bools, a text. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_first(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                 struct dtx_err *err);
/* ... a row of numbers above cells that are not of that kind. */
DTX_MUSTUSE enum dtx_code dtx_head_numbers_differ(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                  struct dtx_err *err);
/* ... the numbers that pandas gives to columns without a name. */
DTX_MUSTUSE enum dtx_code dtx_head_counts_columns(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                                  struct dtx_err *err);

#endif
