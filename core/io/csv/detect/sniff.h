/* How well a dialect explains a sample of text. */
#ifndef DTX_IO_CSV_DETECT_SNIFF_H
#define DTX_IO_CSV_DETECT_SNIFF_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_sniff_dialect {
	char delim[5]; /* "": one column */
	unsigned runs; /* blanks and tabs, so many or more, are the delimiter; 0: delim is */
	char quote;    /* 0: none */
	char escape;   /* 0: none */
	char ending;   /* of a record; 0: newlines */
	bool trim;
	const char *comment; /* prefix of a record that counts for nothing; NULL */
};
#define DTX_SNIFF_PIECES 65
struct dtx_sniff_sample {
	struct dtx_str piece[DTX_SNIFF_PIECES]; /* each begins with a record */
	bool whole[DTX_SNIFF_PIECES];           /* it ends where the input ends */
	unsigned n;
};
struct dtx_sniff_score {
	double score; /* consistency of widths x share of usual cells x regular quotes */
	double consistency;
	double uniform;     /* the same without regard to how wide: 1 when all are equally wide */
	uint32_t modal;     /* the most frequent width */
	uint64_t begun;     /* cells that begin with a quote */
	uint64_t enclosed;  /* ... and end with another */
	uint64_t quoted;    /* ... with none between that is data */
	uint64_t irregular; /* quotes that are data */
	unsigned unclosed;  /* ... as none closes them in their piece */
	uint64_t delims;    /* delimiters */
	uint64_t spaced;    /* ... with a blank after */
	uint64_t last;      /* ... that end their record */
	uint64_t padded;    /* ... with one before and one after */
	uint64_t records;
	uint64_t indented; /* ... that begin with a blank */
	bool hollow;       /* no cell has a text */
	uint64_t doubled; /* ... in which every second cell is empty, the first and last not counted
	                   */
};

/* Reads the sample as leniently as can be, a quote that never closes as text.  The last record of a
 * piece is left out when the input goes on. */
void dtx_sniff_score(const struct dtx_sniff_sample *sample, const struct dtx_sniff_dialect *d,
                     struct dtx_sniff_score *out);
/* dialect_marks.c: all commas stand before three digits: where there are more of them in one line
 * than in another, they separate thousands, as in the listing of a folder. */
bool dtx_dialect_commas_group(const struct dtx_sniff_sample *sample);
/* ... all commas stand between digits. */
bool dtx_dialect_commas_decimal(const struct dtx_sniff_sample *sample);
/* ... colons separate cells if the first record has some as well, the names then, and if not all of
 * them stand in times of a day, as in a single column of these. */
bool dtx_dialect_colons_part(const struct dtx_sniff_sample *sample);
/* ... nothing but blanks and tabs separates numbers in all lines after the first, which may be
 * names.
 */
bool dtx_dialect_are_numbers(const struct dtx_sniff_sample *sample);
/* The delimiter that a first line names, "sep=;", also in quotes, filled up with blanks or, to the
 * width of the table, with delimiters; 0: none. */
char dtx_dialect_named(struct dtx_str line);

#endif
