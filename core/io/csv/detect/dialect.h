/* The dialect of a text file: delimiter, quotes, escapes, line ends, comments. */
#ifndef DTX_IO_CSV_DETECT_DIALECT_H
#define DTX_IO_CSV_DETECT_DIALECT_H

#include "core/base/err.h"
#include "core/base/text/str.h"
#include "core/io/reader.h"

enum dtx_quotes {
	DTX_QUOTES_LITERAL,
	DTX_QUOTES_STRICT,
	DTX_QUOTES_LENIENT,
	DTX_QUOTES_LINES /* each record is one quoted cell, and inside it quotes are as with
	                  * DTX_QUOTES_LITERAL */
};
struct dtx_dialect {
	char delim[5]; /* 1 to 4 bytes, with a terminating 0; "": one column */
	unsigned runs; /* the delimiter is at least this many blanks and tabs; 0: it is delim */
	char quote, escape;  /* 0: none */
	char ending;         /* byte that ends a record; 0: newlines */
	const char *comment; /* prefix of comment records; NULL: none */
	bool trim;
	bool mixed; /* a record that does not fit may have another usual delimiter */
	enum dtx_quotes quotes;
	double score;         /* of the detected dialect; 0: nothing was detected */
	const char *maybe;    /* a mark that splits all lines equally but may just be part of the
	                       * texts; NULL: none */
	uint32_t maybe_above; /* number of first lines that it does not split, in a plain reading */
	char runner_up[5];    /* the delimiter of the second best dialect; "" if none */
	bool partial;         /* detected from a part of the text */
};

/* Checks the declared members and detects the others from the text, which is in UTF-8. Of a large
 * text it looks at samples, or with `all` at the whole text. Codes: bad_param_value;
 * ambiguous_dialect if two delimiters fit equally well. */
DTX_MUSTUSE enum dtx_code dtx_dialect_find(const struct dtx_read_opts *opts, struct dtx_str text,
                                           bool all, const char *path, struct dtx_dialect *out,
                                           struct dtx_err *err);
/* In dialect_plain.c: tries the plain reading, if no dialect is declared. *took: one usual
 * delimiter, or none, explains all records in the first 64 KiB; otherwise *out is not changed.
 * Codes: ambiguous_dialect if two delimiters explain them equally well; then *out has the better
 * one. */
DTX_MUSTUSE enum dtx_code dtx_dialect_plain(const struct dtx_read_opts *opts, struct dtx_str text,
                                            const char *path, struct dtx_dialect *out, bool *took,
                                            struct dtx_err *err);
/* Detects the members that are not declared; d->delim is the declared delimiter. Used by
 * dtx_dialect_find. */
DTX_MUSTUSE enum dtx_code dtx_dialect_search(const struct dtx_read_opts *opts, struct dtx_str text,
                                             bool all, const char *path, struct dtx_dialect *d,
                                             struct dtx_err *err);
/* In dialect_rows.c: whether the text has names above a column of values, with at least one such
 * delimiter in each line and no blank after it. */
bool dtx_dialect_is_table(struct dtx_str text, char delim);
/* In dialect_rows.c: whether these lines, without blank ones between them, look like rows of a
 * table: a usual delimiter with no blank after it splits all of them into equally many cells. */
bool dtx_dialect_are_rows(struct dtx_str lines);
/* In dialect_rows.c: is_clear: whether `mark` splits the first line into names and all others into
 * as many cells, some of them values. is_values: whether there are no letters below the first
 * line. */
bool dtx_dialect_is_clear(struct dtx_str text, const char *mark);
bool dtx_dialect_is_values(struct dtx_str text);
/* Writes the value of the parameter `delimiter` that stands for that of *d. */
void dtx_dialect_delimiter(const struct dtx_dialect *d, char out[8]);
/* Whether the scanner can read the dialect; otherwise csv_ref does. */
bool dtx_dialect_is_plain(const struct dtx_dialect *d);

#endif
