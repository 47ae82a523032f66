/* Arrow IPC files and streams: messages, schema, buffers and values, for the code of this folder.
 * All of it runs in the locked reader process (see core/io/isolate), except in tests and fuzzers.
 *
 *   messages (where schema, dictionaries and record batches are) -> schema (columns and types)
 *          -> batch (buffers of a record batch, unpacked and checked) -> columns
 *
 * Everything in a file is untrusted: a number is checked before it is used, and memory is taken
 * only after the limits of the input (struct dtx_archive_limits) allow it.
 * Values become values of dtx by the rules of Parquet (dtx_pq_convert): each leaf of the schema has
 * a node of these.
 * Source: Schema.fbs, Message.fbs, File.fbs and Columnar.rst of apache/arrow. */
#ifndef DTX_IO_ARROW_ARROW_H
#define DTX_IO_ARROW_ARROW_H

#include "core/io/arrow/flatbuf.h"
#include "core/io/parquet/parquet.h"

#define DTX_ARROW_MAGIC "ARROW1"

enum dtx_arrow_layout {                  /* of the buffers of an array, after its validity */
	                DTX_ARROW_NONE,  /* the type null: no buffers at all */
	                DTX_ARROW_FIXED, /* values of `width` bytes */
	                DTX_ARROW_BITS,  /* values of a bit */
	                DTX_ARROW_BYTES, /* offsets of `width` bytes, then the bytes of texts */
	                DTX_ARROW_VIEWS, /* views of 16 bytes, then buffers with texts */
	                DTX_ARROW_LIST,  /* offsets of `width` bytes into the child */
	                DTX_ARROW_FIXED_LIST, /* `width` items of the child each */
	                DTX_ARROW_STRUCT,
	                DTX_ARROW_OTHER /* refused: `buffers` buffers, without values for dtx */
};

/* A node of the schema, in the order of the file, children after their parent: those of node i are
 * in (i, end). */
struct dtx_arrow_node {
	const char *name;
	struct dtx_pq_node value; /* how a leaf's values are converted */
	enum dtx_arrow_layout layout;
	uint32_t width;
	unsigned buffers; /* without those of views */
	uint32_t end, parent;
	bool map, json, is_signed;
	bool no_validity; /* of a union, whose arrays have none */
	/* of a column whose values are in a dictionary: the array has numbers of `width` bytes */
	bool coded, code_signed;
	int64_t dictionary;                 /* its id */
	enum dtx_arrow_layout value_layout; /* of the dictionary's values */
	uint32_t value_width;
	const char *zone; /* of times, if it is another one than UTC; NULL */
};

struct dtx_arrow_message {
	uint64_t meta, body; /* where in the file; both are inside */
	uint32_t nmeta;
	uint64_t nbody;
	bool dictionary; /* else a record batch */
	int64_t rows, first_row;
};

struct dtx_arrow_file {
	const char *label;
	const uint8_t *bytes;
	size_t len;
	const struct dtx_archive_limits *limits;
	struct dtx_owner *owner; /* of the bytes, borrowed */
	struct dtx_arena arena;
	bool stream, ended; /* ended: the stream has its end mark */
	bool has_schema;
	struct dtx_arrow_node *node;
	uint32_t nnodes, node_cap;
	struct dtx_arrow_message *message; /* those of dictionaries come before their use */
	size_t nmessages, cap;
	int64_t rows;
	size_t batches;
	unsigned codecs;             /* a bit for each: 1 none, 2 LZ4, 4 zstd */
	struct dtx_str *key, *value; /* metadata */
	uint32_t nkeys;
};

/* corrupt_file with what is wrong. */
enum dtx_code dtx_arrow_corrupt(const struct dtx_arrow_file *f, const char *what,
                                struct dtx_err *err);

/* --- messages (arrow_message.c) --- */

bool dtx_arrow_sniff(const void *head, size_t len);
/* Finds all messages, and reads the schema. *f is zero but for label, bytes, len, limits and owner,
 * and is cleared with dtx_arrow_clear also on failure. Errors: corrupt_file,
 * unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_arrow_open(struct dtx_arrow_file *f, struct dtx_err *err);
void dtx_arrow_clear(struct dtx_arrow_file *f);

/* --- schema (arrow_schema.c) --- */

/* Fills node and nnodes, and the metadata. */
DTX_MUSTUSE enum dtx_code dtx_arrow_schema(struct dtx_arrow_file *f, struct dtx_fb_table schema,
                                           struct dtx_err *err);
/* A type at or below the node that cannot be read; NULL if all can be read. */
const char *dtx_arrow_refused(const struct dtx_arrow_file *f, uint32_t node);
bool dtx_arrow_is_nested(const struct dtx_arrow_node *n);

/* --- record batches (arrow_batch.c) --- */

struct dtx_arrow_array { /* the buffers of a node */
	int64_t n;
	const uint8_t *valid; /* a bit for each; NULL: none is null */
	const uint8_t *data;  /* values, numbers in a dictionary, offsets or views */
	const uint8_t *text;  /* of BYTES */
	uint64_t ntext;
	struct dtx_str *piece; /* of VIEWS */
	uint32_t npieces;
};
struct dtx_arrow_batch {
	const struct dtx_arrow_file *f;
	int64_t first_row;
	struct dtx_arrow_array *array; /* of each node; those that are not needed are empty */
	struct dtx_column **dict;      /* of each node: its dictionary; borrowed */
	struct dtx_owner *owner;       /* of what texts point to */
};
/* Reads the buffers of the nodes that are marked in `need`. `b` is zero but for f and dict, and is
 * cleared also on failure. Errors: corrupt_file, archive_limit, unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_arrow_batch_open(struct dtx_arrow_batch *b,
                                               const struct dtx_arrow_message *m, const bool *need,
                                               struct dtx_err *err);
void dtx_arrow_batch_close(struct dtx_arrow_batch *b);
/* Reads a message with values of a dictionary. `dict` has those of each node so far, counted; those
 * with its id are replaced, or go on. */
DTX_MUSTUSE enum dtx_code dtx_arrow_dictionary(const struct dtx_arrow_file *f,
                                               const struct dtx_arrow_message *m, const bool *need,
                                               struct dtx_column **dict,
                                               struct dtx_typed_counts *counts,
                                               struct dtx_err *err);

/* --- values (arrow_value.c) --- */

/* Element i of a node whose arrays have offsets or views. */
struct dtx_str dtx_arrow_text(const struct dtx_arrow_node *n, const struct dtx_arrow_array *a,
                              int64_t i);
/* Number i of the array of a coded node: the place of its value in the dictionary. */
uint64_t dtx_arrow_code(const struct dtx_arrow_node *n, const struct dtx_arrow_array *a, int64_t i);
/* How many rows of a column from `from` on, at most n and at least one, have texts of at most
 * `bytes` bytes. */
uint32_t dtx_arrow_fit(const struct dtx_arrow_batch *b, uint32_t node, int64_t from, uint32_t n,
                       size_t bytes);
/* Makes a column of rows of the batch, of n > 0. A column of JSON texts has fewer than n, but at
 * least one, if they have more than `bytes` bytes. */
DTX_MUSTUSE enum dtx_code dtx_arrow_column(const struct dtx_arrow_batch *b, uint32_t node,
                                           const char *name, int64_t from, uint32_t n, size_t bytes,
                                           struct dtx_typed_counts *counts, struct dtx_column **out,
                                           struct dtx_err *err);

#endif
