/* Measures how well a dialect explains a sample of text. */
#ifndef DTX_IO_CSV_DETECT_SNIFF_H
#define DTX_IO_CSV_DETECT_SNIFF_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_sniff_dialect {
	char delim[5]; /* "": one column */
	unsigned runs; /* the delimiter is at least this many blanks and tabs; 0: it is delim */
	char quote;    /* 0: none */
	char escape;   /* 0: none */
	char ending;   /* byte that ends a record; 0: newlines */
	bool trim;
	const char *comment; /* prefix of records that do not count; NULL: none */
};
#define DTX_SNIFF_PIECES 65
struct dtx_sniff_sample {
	struct dtx_str piece[DTX_SNIFF_PIECES]; /* each begins with the start of a record */
	bool whole[DTX_SNIFF_PIECES];           /* the piece ends where the input ends */
	unsigned n;
};
struct dtx_sniff_score {
	double score; /* consistency of widths x share of usual cells x regular quotes */
	double consistency;
	double uniform;     /* consistency without regard to the width: 1 if all records are equally
	                     * wide */
	uint32_t modal;     /* the most frequent width */
	uint64_t begun;     /* cells that begin with a quote */
	uint64_t enclosed;  /* cells that also end with one */
	uint64_t quoted;    /* cells in quotes without a quote inside that is data */
	uint64_t irregular; /* quotes that are data */
	unsigned unclosed;  /* quotes that nothing in their piece closes */
	uint64_t delims;    /* delimiters */
	uint64_t spaced;    /* delimiters with a blank after them */
	uint64_t last;      /* delimiters that end their record */
	uint64_t padded;    /* delimiters with a blank before and after them */
	uint64_t records;
	uint64_t indented; /* records that begin with a blank */
	bool hollow;       /* no cell has a text */
	uint64_t doubled; /* records in which every second cell is empty, without the first and last
	                   * cell */
};

/* Reads the sample as leniently as possible: a quote that never closes is text. The last record of
 * a piece is left out if the input goes on after it. */
void dtx_sniff_score(const struct dtx_sniff_sample *sample, const struct dtx_sniff_dialect *d,
                     struct dtx_sniff_score *out);
/* In dialect_marks.c: whether all commas are before three digits. If one line has more of them than
 * another, they are thousands separators, as in the listing of a folder. */
bool dtx_dialect_commas_group(const struct dtx_sniff_sample *sample);
/* In dialect_marks.c: whether all commas are between digits. */
bool dtx_dialect_commas_decimal(const struct dtx_sniff_sample *sample);
/* In dialect_marks.c: whether colons separate cells: the first record, which has the names, has
 * some as well; and not all colons are in times of the day, as in a single column of times. */
bool dtx_dialect_colons_part(const struct dtx_sniff_sample *sample);
/* In dialect_marks.c: whether only blanks and tabs separate numbers in all lines after the first,
 * which may have names. */
bool dtx_dialect_are_numbers(const struct dtx_sniff_sample *sample);
/* The delimiter that a first line "sep=;" names; 0: it is not such a line. The line may be in
 * quotes, or be filled up with blanks or, to the width of the table, with delimiters. */
char dtx_dialect_named(struct dtx_str line);

#endif
