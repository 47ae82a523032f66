/* How a text file is written: encoding, delimiter, quotes. */
#ifndef DTX_IO_CSV_DETECT_DIALECT_H
#define DTX_IO_CSV_DETECT_DIALECT_H

#include "core/base/err.h"
#include "core/base/text/str.h"
#include "core/io/reader.h"

enum dtx_quotes {
	DTX_QUOTES_LITERAL,
	DTX_QUOTES_STRICT,
	DTX_QUOTES_LENIENT,
	DTX_QUOTES_LINES /* each record is one quoted cell; within it as DTX_QUOTES_LITERAL */
};
struct dtx_dialect {
	char delim[5];       /* 1 to 4 bytes, terminated; "": one column */
	unsigned runs;       /* so many blanks and tabs or more are the delimiter; 0: delim is */
	char quote, escape;  /* 0: none */
	char ending;         /* of a record; 0: newlines */
	const char *comment; /* prefix of a record; NULL */
	bool trim;
	bool mixed; /* a record that does not fit may have another usual delimiter */
	enum dtx_quotes quotes;
	double score;         /* of the sniffed one; 0: nothing was sniffed */
	const char *maybe;    /* splits all lines alike, but may just be part of texts */
	uint32_t maybe_above; /* ... all but so many first ones, in a plain reading */
	char runner_up[5];    /* delimiter of the second best, "" if none */
	bool partial;         /* sniffed from less than the whole text */
};

/* Checks the declared parts (bad_param_value) and sniffs the others from the text, which is
 * UTF-8: from parts of a large one, from all of it with `all`.  ambiguous_dialect when two
 * delimiters fit equally well. */
DTX_MUSTUSE enum dtx_code dtx_dialect_find(const struct dtx_read_opts *opts, struct dtx_str text,
                                           bool all, const char *path, struct dtx_dialect *out,
                                           struct dtx_err *err);
/* dialect_plain.c: the plain reading of a text of which no dialect is declared: *took is set when
 * one usual delimiter, or none, explains all records of its first 64 KiB; else *out is not touched.
 * ambiguous_dialect when two do so equally well; *out has the better one then. */
DTX_MUSTUSE enum dtx_code dtx_dialect_plain(const struct dtx_read_opts *opts, struct dtx_str text,
                                            const char *path, struct dtx_dialect *out, bool *took,
                                            struct dtx_err *err);
/* Fills the parts that are not declared; delim of *d is the declared one.  For dtx_dialect_find. */
DTX_MUSTUSE enum dtx_code dtx_dialect_search(const struct dtx_read_opts *opts, struct dtx_str text,
                                             bool all, const char *path, struct dtx_dialect *d,
                                             struct dtx_err *err);
/* dialect_rows.c: whether the text is names above a column of values, one mark of these in each
 * line at least, and no blank after it. */
bool dtx_dialect_is_table(struct dtx_str text, char delim);
/* ... whether these lines, without blank ones between them, look like rows of a table: some usual
 * delimiter, no blank after it, splits all of them into equally many cells. */
bool dtx_dialect_are_rows(struct dtx_str lines);
/* ... whether `mark` splits the first line into names, and all others into as many cells, some of
 * them values; whether no letter stands below the first line. */
bool dtx_dialect_is_clear(struct dtx_str text, const char *mark);
bool dtx_dialect_is_values(struct dtx_str text);
/* The value of `delimiter` that means what *d has; of any size that holds 8 bytes. */
void dtx_dialect_delimiter(const struct dtx_dialect *d, char out[8]);
/* The scanner reads it; else csv_ref does. */
bool dtx_dialect_is_plain(const struct dtx_dialect *d);

#endif
