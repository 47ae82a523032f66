/* The first records of a text file as cells of text, for header and types. */
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
	struct dtx_str *cell; /* unquoted */
	bool *quoted;
	bool blank;   /* an empty line or a comment */
	bool dropped; /* no row whatever the width: a comment, or the header once more */
	bool fault;   /* its quotes are irregular */
};
struct dtx_csv_top {
	struct dtx_arena arena;
	struct dtx_csv_top_row *row;
	size_t n;
	bool whole;     /* the input ends with the last row */
	size_t body;    /* first row after the header */
	uint32_t ncols; /* cells of a row that the header finder looks at */
};

/* At most `rows` records from `at`; `lines`: their line numbers too. */
DTX_MUSTUSE enum dtx_code dtx_csv_top_read(struct dtx_csv *c, size_t at, size_t rows, bool lines,
                                           struct dtx_csv_top *out, struct dtx_err *err);
void dtx_csv_top_clear(struct dtx_csv_top *top);
/* Equal cells. */
bool dtx_csv_top_same(const struct dtx_csv_top_row *a, const struct dtx_csv_top_row *b);
/* Finds the header in the top rows: c->body, width, header_rows; names in the reader's arena. */
DTX_MUSTUSE enum dtx_code dtx_csv_head(struct dtx_csv *c, struct dtx_csv_top *top,
                                       const char ***names, struct dtx_err *err);
/* csv_head_odd.c: a first row with another delimiter than the `width` cells of those below is
 * split by it. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_parted(struct dtx_csv *c, struct dtx_csv_top *top,
                                              uint32_t width, struct dtx_err *err);
/* ... the header comes again: c->header, or a note. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_again(struct dtx_csv *c, struct dtx_csv_top *top,
                                             struct dtx_err *err);
/* ... has one name less than rows have cells: the first column, of row names, gets none. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_row_names(struct dtx_csv *c, struct dtx_csv_top *top,
                                                 const struct dtx_head *head, struct dtx_err *err);
/* ... has empty names that rows have no cells for: they are left out. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_spare(struct dtx_csv *c, struct dtx_csv_top *top,
                                             const struct dtx_head *head, struct dtx_err *err);
/* ... a name that columns of texts have: no column without a name stands before it. */
bool dtx_csv_names_texts(struct dtx_str name);
/* ... stands below comments, or is the last of them: g begins there. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_comments(const struct dtx_csv_top *top,
                                                struct dtx_head_grid *g, struct dtx_err *err);
/* ... stands below the last of several sections, "[Data]": g begins there. */
void dtx_csv_head_sections(const struct dtx_csv_top *top, struct dtx_head_grid *g);
/* ... stands below labels with a value each: g begins there. */
void dtx_csv_head_labels(const struct dtx_csv_top *top, struct dtx_head_grid *g);
/* The top rows as the header finder sees them, `ncols` cells each. */
struct dtx_head_grid dtx_csv_head_grid(struct dtx_csv_top *top, uint32_t ncols);
/* multiple_tables when another table stands below the first one, as far as the top rows show;
 * top->body is set. */
DTX_MUSTUSE enum dtx_code dtx_csv_tables(struct dtx_csv *c, struct dtx_csv_top *top,
                                         const struct dtx_head *head, struct dtx_err *err);
/* csv_margin.c: notes columns and rows around the table that hold nothing, where that is asked for.
 */
DTX_MUSTUSE enum dtx_code dtx_csv_margin(struct dtx_csv *c, const struct dtx_csv_top *top,
                                         struct dtx_err *err);
/* Fields with types: declared ones, else guessed from the rows; c->schema and c->phys. */
DTX_MUSTUSE enum dtx_code dtx_csv_fields(struct dtx_csv *c, const struct dtx_csv_top *top,
                                         const char *const *names, struct dtx_err *err);

#endif
