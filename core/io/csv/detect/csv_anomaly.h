/* Lines of a text file that are no records: comments inside the table, remarks below it. */
#ifndef DTX_IO_CSV_DETECT_CSV_ANOMALY_H
#define DTX_IO_CSV_DETECT_CSV_ANOMALY_H

#include "core/io/csv/csv.h"

#define DTX_CSV_ODD_TAIL   16u /* so many lines at the end are remembered */
#define DTX_CSV_ODD_PREFIX 9u

/* What is known after all records were looked at in order; starts as zeros. */
struct dtx_csv_odd_lines {
	struct {
		uint64_t all, ragged;
	} prefix[DTX_CSV_ODD_PREFIX];
	enum dtx_csv_odd_line {
		DTX_CSV_LINE_DATA,
		DTX_CSV_LINE_SHORT, /* a record that lacks cells, or a numbered note */
		DTX_CSV_LINE_NOTES, /* the heading of notes */
		DTX_CSV_LINE_BLANK,
		DTX_CSV_LINE_REMARK,
		DTX_CSV_LINE_SENTENCE, /* a remark unless rows begin with such words too */
		DTX_CSV_LINE_WORDS     /* short; a remark after a blank line */
	} tail[DTX_CSV_ODD_TAIL];
	struct dtx_str text[DTX_CSV_ODD_TAIL]; /* of the same lines */
	const struct dtx_csv_shapes *shapes;   /* of the columns; NULL: not known */
	uint64_t n;
	bool wordy; /* some row begins with a sentence */
};

void dtx_csv_odd_look(struct dtx_csv_odd_lines *odd, const struct dtx_csv *c,
                      const struct dtx_csv_row *row, enum dtx_csv_kind kind);
/* Such words as stand below a table: a sentence, "Source: ...". */
bool dtx_csv_odd_is_remark(struct dtx_str text);
/* ... one that says so: "Source: ...", a rule. */
bool dtx_csv_odd_is_note(struct dtx_str text);
/* The prefix that only records have which do not fit, NULL if there is none. */
const char *dtx_csv_odd_comment(const struct dtx_csv_odd_lines *odd);
/* How many records at the end are remarks, with blank lines between them; the text that was looked
 * at is still there. */
unsigned dtx_csv_odd_remarks(const struct dtx_csv_odd_lines *odd);
/* How many of the last n records are no blank lines. */
unsigned dtx_csv_odd_filled(const struct dtx_csv_odd_lines *odd, unsigned n);
/* How many records begin with what dtx_csv_odd_comment gave. */
uint64_t dtx_csv_odd_comments(const struct dtx_csv_odd_lines *odd, const char *comment);

#endif
