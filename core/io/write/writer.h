/* The interface of writers. Workers call `format` at the same time; `put` is called in order. */
#ifndef DTX_IO_WRITE_WRITER_H
#define DTX_IO_WRITE_WRITER_H

#include "core/base/text/json.h"
#include "core/data/batch.h"
#include "core/io/formats.h"
#include "core/io/write/outfile.h"

/* How the pages of a Parquet file are packed; Arrow files know zstd and none of these. */
#define DTX_WRITE_CODECS "zstd,snappy,gzip,none"

struct dtx_write_opts {
	const char *format; /* one of dtx_write_formats; NULL: by the suffix of the path */
	const char *sheet;  /* of a workbook; NULL: "Sheet1" */
	char delimiter;     /* ',' */
	const char *into;   /* table of a database; NULL: "result" */
	enum { DTX_IF_EXISTS_FAIL, DTX_IF_EXISTS_REPLACE, DTX_IF_EXISTS_APPEND } if_exists;
	bool as_table; /* of a workbook: a real table, whose cells are held in memory */
	bool no_header, quote_all, bom, crlf, float_trim, no_stamp;
	bool reprint;          /* csv: no cell is copied from an input, all are printed */
	const char *null_text; /* "" */
	const char *run_id;    /* stamped into an xlsx */
	const char *codec;     /* one of DTX_WRITE_CODECS; NULL: the default of the format */
	unsigned workers; /* threads that a writer may use in `put`; 0: none but the caller's */
	/* text, for a terminal: its columns and lines.  With `height` only the first and last rows
	 * are written, and middle columns are left out where they do not fit.  0: no limit */
	unsigned width, height;
	bool colour; /* text: headers, nulls and numbers are set apart by escape sequences */
};
#define DTX_WRITE_OPTS_INIT                                                                        \
	{                                                                                          \
		.delimiter = ',', .null_text = ""                                                  \
	}

/* What a writer has counted for a note about its output. */
#define DTX_WRITE_COUNTS 2

struct dtx_writer_class;
struct dtx_writer {
	const struct dtx_writer_class *cls;
	struct dtx_outfile *out;         /* borrowed */
	const struct dtx_schema *schema; /* borrowed */
	struct dtx_errlist diags;        /* warnings such as number_rounded */
};
/* One format, or several that are written by the same code.  Its file write_NAME.c, which defines
 * dtx_write_NAME, is the only one that knows the names: plans, options, the schema, messages, man
 * pages and completions get them from here. */
struct dtx_writer_class {
	const char *name;
	const char *formats;  /* "csv,tsv": values of `format`; a literal, see gen-tables.sh */
	const char *suffixes; /* "csv,tsv,txt" */
	/* "delimiter,eol": members of an output that it uses, of those that some writers do not use
	 * (`members` in writer.c). */
	const char *uses;
	/* What `codec` may be, for the man page: "zstd, the default, or none"; NULL: it is not used
	 */
	const char *codecs;
	bool values; /* needs typed values of all columns, not only bytes */
	bool keys;   /* each row has the names of the columns, as in JSON */
	bool binary; /* is not for a terminal */
	/* Other processes may format the rows: `format` depends on the rows and the options alone,
	 * and `put` ignores the batch. */
	bool apart;
	/* Of a class with `apart`: what `format` has counted so far, and adding what it has counted
	 * in another process. NULL: it counts nothing. */
	void (*counts)(const struct dtx_writer *, uint64_t count[DTX_WRITE_COUNTS]);
	void (*add_counts)(struct dtx_writer *, const uint64_t count[DTX_WRITE_COUNTS]);
	/* Of delimited text, whose cells can be read again as they were written: the delimiter of
	 * such an output. NULL: something else. */
	char (*delimiter)(const struct dtx_write_opts *, const char *format, const char *path);
	enum dtx_code (*open)(struct dtx_outfile *, const struct dtx_write_opts *,
	                      const struct dtx_schema *, struct dtx_writer **, struct dtx_err *);
	/* Called by any worker, several at once; must respect batch->sel. NULL: put does
	 * everything. */
	enum dtx_code (*format)(struct dtx_writer *, struct dtx_batch *, struct dtx_buf *,
	                        struct dtx_err *);
	/* Called in order, one at a time. */
	enum dtx_code (*put)(struct dtx_writer *, struct dtx_batch *, const struct dtx_buf *,
	                     struct dtx_err *);
	/* Of a format whose files hold several tables: `end` ends the table, before finish or
	 * `begin`, which begins another one. The schema is borrowed. NULL: a file is one table. */
	enum dtx_code (*begin)(struct dtx_writer *, const struct dtx_write_opts *,
	                       const struct dtx_schema *, struct dtx_err *);
	enum dtx_code (*end)(struct dtx_writer *, struct dtx_err *);
	enum dtx_code (*finish)(struct dtx_writer *, struct dtx_err *);
	void (*close)(struct dtx_writer *);
};
extern const struct dtx_writer_class *const dtx_writes[]; /* generated; ends with NULL */
/* What is written where neither a format nor a suffix says it, and what is written for a person. */
extern const struct dtx_writer_class dtx_write_csv, dtx_write_text;

/* Adds notes about members of the output that its format does not use. */
DTX_MUSTUSE enum dtx_code dtx_writer_idle(struct dtx_writer *w, const struct dtx_write_opts *opts,
                                          struct dtx_err *err);
/* The text of a cell, or null_text for a null. It may be in `room`, and is valid until the next
 * use of that. */
DTX_MUSTUSE enum dtx_code dtx_writer_cell(const struct dtx_column *c, uint32_t row,
                                          const char *null_text, struct dtx_buf *room,
                                          struct dtx_str *out, struct dtx_err *err);
/* The delimiter of an output, from the options, or by format and suffix; 0: the output is not
 * delimited text. */
char dtx_writer_delimiter(const struct dtx_write_opts *opts, const char *format, const char *path);
/* Finds a writer by format name, otherwise by the path's suffix, otherwise csv. NULL: no writer
 * knows the format. */
const struct dtx_writer_class *dtx_writer_find(const char *format, const char *path);
/* The options that `format` of a class with `apart` uses, as JSON and back. The texts of `to` are
 * those of the JSON. NULL: out of memory. */
json_t *dtx_write_opts_json(const struct dtx_write_opts *opts);
void dtx_write_opts_read(const json_t *from, struct dtx_write_opts *to);
/* How the name of the file asks for packing: "out.csv.gz", "out.csv.zst". */
enum dtx_packing dtx_writer_packs(const char *path);
/* The text after the last dot of a file's name, without ".gz" or ".zst" at its end; ptr is NULL if
 * none. */
struct dtx_str dtx_writer_suffix(const char *path);
/* The name of the format in which the class writes an output: that of `format`, if it is not NULL
 * or "auto", else that of the path's suffix. Borrowed from one of these or from the class. */
struct dtx_str dtx_writer_format(const struct dtx_writer_class *cls, const char *format,
                                 const char *path);
/* Appends ".csv, .tsv, ..." of all writers. */
void dtx_writer_suffixes(struct dtx_buf *out);

#endif
