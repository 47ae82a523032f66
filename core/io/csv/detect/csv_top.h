/* Reads the first records of a text file as cells of text, for the header and the types. */
#ifndef DTX_IO_CSV_DETECT_CSV_TOP_H
#define DTX_IO_CSV_DETECT_CSV_TOP_H

#include "core/io/csv/csv.h"
#include "core/io/header/header.h"

#define DTX_CSV_TOP_ROWS  1000u
#define DTX_CSV_TOP_BYTES ((size_t)4 << 20)

struct dtx_csv_top_row {
	size_t start, next;
	int64_t line; /* from 0 */
	uint32_t n;
	struct dtx_str *cell; /* without quotes */
	bool *quoted;
	bool blank;   /* an empty line or a comment */
	bool dropped; /* not a row, whatever its width: a comment or a repetition of the header */
	bool fault;   /* it has irregular quotes */
};
struct dtx_csv_top {
	struct dtx_arena arena;
	struct dtx_csv_top_row *row;
	size_t n;
	bool whole;     /* the input ends with the last row */
	size_t body;    /* first row after the header */
	uint32_t ncols; /* number of cells per row that the header finder sees */
};

/* Reads at most `rows` records from `at`. `lines`: also their line numbers. Clear `out` also after
 * a failure. */
DTX_MUSTUSE enum dtx_code dtx_csv_top_read(struct dtx_csv *c, size_t at, size_t rows, bool lines,
                                           struct dtx_csv_top *out, struct dtx_err *err);
void dtx_csv_top_clear(struct dtx_csv_top *top);
/* Whether both rows have the same cells. */
bool dtx_csv_top_same(const struct dtx_csv_top_row *a, const struct dtx_csv_top_row *b);
/* Finds the header in the top rows: sets c->body, width and header_rows. The names are in the
 * reader's arena. */
DTX_MUSTUSE enum dtx_code dtx_csv_head(struct dtx_csv *c, struct dtx_csv_top *top,
                                       const char ***names, struct dtx_err *err);
/* In csv_head_odd.c: if the first row has another delimiter than the rows below, which have `width`
 * cells, splits it by that delimiter. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_parted(struct dtx_csv *c, struct dtx_csv_top *top,
                                              uint32_t width, struct dtx_err *err);
/* In csv_head_odd.c: if the header is repeated below, sets c->header or adds a note. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_again(struct dtx_csv *c, struct dtx_csv_top *top,
                                             struct dtx_err *err);
/* In csv_head_odd.c: if the header has one name less than rows have cells, the first column has row
 * names and gets no name. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_row_names(struct dtx_csv *c, struct dtx_csv_top *top,
                                                 const struct dtx_head *head, struct dtx_err *err);
/* In csv_head_odd.c: leaves out empty names for which rows have no cells. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_spare(struct dtx_csv *c, struct dtx_csv_top *top,
                                             const struct dtx_head *head, struct dtx_err *err);
/* In csv_head_odd.c: whether this is the name of a column of texts, such that no column without a
 * name comes before it. */
bool dtx_csv_names_texts(struct dtx_str name);
/* In csv_head_odd.c: if the header is below comments or is the last of them, sets where g
 * begins. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_comments(const struct dtx_csv_top *top,
                                                struct dtx_head_grid *g, struct dtx_err *err);
/* In csv_head_odd.c: if the header is below the last of several sections, "[Data]", sets where g
 * begins. */
void dtx_csv_head_sections(const struct dtx_csv_top *top, struct dtx_head_grid *g);
/* In csv_head_odd.c: if the header is below labels with a value each, sets where g begins. */
void dtx_csv_head_labels(const struct dtx_csv_top *top, struct dtx_head_grid *g);
/* The top rows in the form for the header finder, with `ncols` cells each. */
struct dtx_head_grid dtx_csv_head_grid(struct dtx_csv_top *top, uint32_t ncols);
/* Fails with multiple_tables if another table comes after the first one, as far as the top rows
 * show. top->body must be set. */
DTX_MUSTUSE enum dtx_code dtx_csv_tables(struct dtx_csv *c, struct dtx_csv_top *top,
                                         const struct dtx_head *head, struct dtx_err *err);
/* In csv_margin.c: notes empty columns and rows around the table, if the caller asked for that. */
DTX_MUSTUSE enum dtx_code dtx_csv_margin(struct dtx_csv *c, const struct dtx_csv_top *top,
                                         struct dtx_err *err);
/* Makes the fields with their types, as declared or guessed from the rows; sets c->schema and
 * c->phys. */
DTX_MUSTUSE enum dtx_code dtx_csv_fields(struct dtx_csv *c, const struct dtx_csv_top *top,
                                         const char *const *names, struct dtx_err *err);

#endif
