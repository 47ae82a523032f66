/* Finds lines of a text file that are not records: comments inside the table, remarks below it. */
#ifndef DTX_IO_CSV_DETECT_CSV_ANOMALY_H
#define DTX_IO_CSV_DETECT_CSV_ANOMALY_H

#include "core/io/csv/csv.h"

#define DTX_CSV_ODD_TAIL   16u /* number of lines at the end that are kept */
#define DTX_CSV_ODD_PREFIX 9u

/* What is known after all records were looked at in order. Starts as zeros. */
struct dtx_csv_odd_lines {
	struct {
		uint64_t all, ragged;
	} prefix[DTX_CSV_ODD_PREFIX];
	enum dtx_csv_odd_line {
		DTX_CSV_LINE_DATA,
		DTX_CSV_LINE_SHORT, /* a record with too few cells, or a numbered note */
		DTX_CSV_LINE_NOTES, /* the heading of notes */
		DTX_CSV_LINE_BLANK,
		DTX_CSV_LINE_REMARK,
		DTX_CSV_LINE_SENTENCE, /* a remark, unless rows also begin with such words */
		DTX_CSV_LINE_WORDS     /* short; a remark if it comes after a blank line */
	} tail[DTX_CSV_ODD_TAIL];
	struct dtx_str text[DTX_CSV_ODD_TAIL]; /* the text of these lines */
	const struct dtx_csv_shapes *shapes;   /* of the columns; NULL: not known */
	uint64_t n;
	bool wordy; /* some row begins with a sentence */
};

void dtx_csv_odd_look(struct dtx_csv_odd_lines *odd, const struct dtx_csv *c,
                      const struct dtx_csv_row *row, enum dtx_csv_kind kind);
/* Whether this is the kind of text that people write below a table: a sentence, "Source: ...". */
bool dtx_csv_odd_is_remark(struct dtx_str text);
/* Whether the text itself says that it is a note: "Source: ...", or a rule of dashes. */
bool dtx_csv_odd_is_note(struct dtx_str text);
/* The prefix that occurs only in records that do not fit; NULL if none. */
const char *dtx_csv_odd_comment(const struct dtx_csv_odd_lines *odd);
/* The number of records at the end that are remarks, with the blank lines between them. The text
 * must still exist. */
unsigned dtx_csv_odd_remarks(const struct dtx_csv_odd_lines *odd);
/* How many of the last n records are not blank. */
unsigned dtx_csv_odd_filled(const struct dtx_csv_odd_lines *odd, unsigned n);
/* How many records begin with the prefix from dtx_csv_odd_comment. */
uint64_t dtx_csv_odd_comments(const struct dtx_csv_odd_lines *odd, const char *comment);

#endif
