/* Writing Parquet files: columns of a row group, encodings, codecs and the footer, for
 * write_parquet.c.
 *
 *   batch -> block (by any worker) -> columns of a row group (in order)
 *         -> chunks (each column apart from the others) -> file -> footer
 *
 * All that decides about bytes (where row groups and pages end, which values a dictionary has) is
 * decided by rows and values alone. So the same table gives the same bytes, whatever the batches
 * and the number of threads.
 * Source: parquet.thrift, Encodings.md, LogicalTypes.md of apache/parquet-format. */
#ifndef DTX_IO_PARQUET_PARQUET_WRITE_H
#define DTX_IO_PARQUET_PARQUET_WRITE_H

#include "core/base/memory/buf.h"
#include "core/data/batch.h"
#include "core/io/parquet/parquet.h"
#include "core/io/parquet/thrift_write.h"

enum dtx_pqw_encoding { /* with the numbers of the format */
	                DTX_PQW_PLAIN = 0,
	                DTX_PQW_RLE = 3,
	                DTX_PQW_DELTA = 5,
	                DTX_PQW_DICT = 8
};

/* --- codecs (parquet_write_codec.c) --- */

typedef void *dtx_zstd_new_fn(void);
typedef size_t dtx_zstd_free_fn(void *ctx);
typedef size_t dtx_zstd_bound_fn(size_t n);
typedef size_t dtx_zstd_fn(void *ctx, void *out, size_t room, const void *in, size_t n, int level);
typedef unsigned dtx_zstd_bad_fn(size_t got);
typedef int dtx_snappy_fn(const char *in, size_t n, char *out, size_t *got);

/* A codec, with the functions of its library. */
struct dtx_pqw_codec {
	unsigned id; /* as in the file */
	dtx_zstd_new_fn *zstd_new;
	dtx_zstd_free_fn *zstd_free;
	dtx_zstd_bound_fn *bound; /* of zstd and snappy: the most bytes that n bytes become */
	dtx_zstd_fn *zstd;
	dtx_zstd_bad_fn *zstd_bad;
	dtx_snappy_fn *snappy;
};
/* Finds a codec by its name, one of DTX_WRITE_CODECS (NULL: zstd), and loads its library. Errors:
 * bad_param_value, output_io (the library is missing; the hint names its package). */
DTX_MUSTUSE enum dtx_code dtx_pqw_codec_open(const char *name, struct dtx_pqw_codec *out,
                                             struct dtx_err *err);

/* Packs the pages of one chunk, in one thread. */
struct dtx_pqw_packer {
	const struct dtx_pqw_codec *codec;
	void *ctx;
	struct dtx_buf packed; /* the last page */
};
DTX_MUSTUSE enum dtx_code dtx_pqw_packer_init(struct dtx_pqw_packer *p,
                                              const struct dtx_pqw_codec *codec,
                                              struct dtx_err *err);
void dtx_pqw_packer_clear(struct dtx_pqw_packer *p);
/* *out is valid until the next call, and while `in` is. Errors: memory_limit, cancelled. */
DTX_MUSTUSE enum dtx_code dtx_pqw_pack(struct dtx_pqw_packer *p, struct dtx_str in,
                                       struct dtx_str *out, struct dtx_err *err);

/* --- types and columns (parquet_write_column.c) --- */

/* How the values of a column are held: `width` bytes each; texts are their lengths (uint32_t), and
 * their bytes one after the other. */
enum dtx_pqw_kind {
	DTX_PQW_BOOL,
	DTX_PQW_I32,
	DTX_PQW_I64,
	DTX_PQW_F64,
	DTX_PQW_FIXED, /* a decimal of more than 18 digits: big-endian, two's complement */
	DTX_PQW_TEXT
};
#define DTX_PQW_FIXED_MAX 16u
struct dtx_pqw_type {
	enum dtx_pqw_kind kind;
	uint32_t width;
};
struct dtx_pqw_type dtx_pqw_type_of(struct dtx_typeref t);

/* A column of the row group that is being filled. */
struct dtx_pqw_column {
	struct dtx_pqw_type type;
	uint32_t rows, values; /* values: rows that are not null */
	struct dtx_buf valid;  /* 1 or 0 for each row; empty while no row is null */
	struct dtx_buf fixed;  /* the values, or the lengths of texts */
	struct dtx_buf bytes;  /* of texts; both have room for DTX_PQW_SLACK more bytes */
};
#define DTX_PQW_SLACK 16u
void dtx_pqw_column_init(struct dtx_pqw_column *c, struct dtx_pqw_type type);
void dtx_pqw_column_clear(struct dtx_pqw_column *c);
/* Forgets the rows but keeps the memory. */
void dtx_pqw_column_reset(struct dtx_pqw_column *c);

/* Appends the live rows of a column of values of the schema's type to a block; any worker. */
DTX_MUSTUSE enum dtx_code dtx_pqw_block_add(const struct dtx_batch *b, struct dtx_column *c,
                                            struct dtx_pqw_type type, struct dtx_buf *block,
                                            struct dtx_err *err);
/* The rows of a column in a block that are not taken yet. */
struct dtx_pqw_rows {
	uint32_t rows;
	const uint8_t *valid; /* NULL: none is null */
	const char *fixed, *bytes;
	uint64_t nbytes; /* of texts, in all of these rows */
	uint32_t peeked; /* values that dtx_pqw_rows_peek has passed */
};
/* Finds the rows of the next column of a block, and moves *block after them. */
void dtx_pqw_block_next(const char **block, uint32_t rows, struct dtx_pqw_type type,
                        struct dtx_pqw_rows *out);
/* The length of the text in a row, without taking it. Called for row 0, 1 and so on, after the
 * caller has set `peeked` to 0. */
uint32_t dtx_pqw_rows_peek(struct dtx_pqw_rows *r, uint32_t row);
/* Moves the next n rows to the column. */
DTX_MUSTUSE enum dtx_code dtx_pqw_take(struct dtx_pqw_column *c, struct dtx_pqw_rows *r, uint32_t n,
                                       struct dtx_err *err);

/* Columns that are filled together, until there are `rows_max` rows, or before their values would
 * take more than `bytes_max` bytes: where a group ends depends on rows and values alone. */
struct dtx_pqw_group {
	uint32_t rows_max;
	uint64_t bytes_max;
	uint32_t ncols, row_bytes; /* row_bytes: of a row's values, without the bytes of texts */
	uint64_t bytes;
	struct dtx_pqw_column *column;
	struct dtx_pqw_rows *left; /* per column: rows of a block that are in no group yet */
};
/* *g is zero but for the limits, and is cleared also on failure. Error: memory_limit. */
DTX_MUSTUSE enum dtx_code dtx_pqw_group_init(struct dtx_pqw_group *g,
                                             const struct dtx_schema *schema,
                                             struct dtx_pqw_type (*type_of)(struct dtx_typeref),
                                             struct dtx_err *err);
void dtx_pqw_group_clear(struct dtx_pqw_group *g);
/* Appends the live rows of all columns of a batch to a block; any worker. Errors: memory_limit,
 * cancelled. */
DTX_MUSTUSE enum dtx_code dtx_pqw_group_block(const struct dtx_pqw_group *g, struct dtx_batch *b,
                                              struct dtx_buf *block, struct dtx_err *err);
/* Takes the rows of a block. Whenever the group is full, `full` has to write and to reset it. */
DTX_MUSTUSE enum dtx_code dtx_pqw_group_put(struct dtx_pqw_group *g, uint32_t rows,
                                            const struct dtx_buf *block,
                                            enum dtx_code (*full)(void *arg, struct dtx_err *err),
                                            void *arg, struct dtx_err *err);

/* --- encodings (parquet_write_encode.c) --- */

/* Runs of equal values and of packed ones, `width` bits each (1 to 32). */
void dtx_pqw_runs(struct dtx_buf *to, const uint32_t *v, size_t n, unsigned width);
/* DELTA_BINARY_PACKED of n integers of `width` bytes (4 or 8), and how many bytes it will be,
 * about. */
void dtx_pqw_delta(struct dtx_buf *to, const char *v, size_t n, uint32_t width);
uint64_t dtx_pqw_delta_size(const char *v, size_t n, uint32_t width);
/* PLAIN booleans of bytes that are 1 or 0. */
void dtx_pqw_bits(struct dtx_buf *to, const uint8_t *v, size_t n);
/* The bits that numbers up to `most` need. */
unsigned dtx_pqw_width(uint64_t most);

/* --- dictionaries (parquet_write_dict.c) --- */

/* The distinct values of a chunk in the order of their first rows. */
struct dtx_pqw_dict {
	uint32_t n;
	uint32_t *code;       /* of each value of the chunk */
	struct dtx_buf plain; /* the values, as a dictionary page has them */
};
/* Makes a dictionary, unless it and the codes would take `most` bytes or more, or it would have too
 * many values: then *pays is false, and it is empty. Error: memory_limit. */
DTX_MUSTUSE enum dtx_code dtx_pqw_dict_make(const struct dtx_pqw_column *c, uint64_t most,
                                            struct dtx_pqw_dict *d, bool *pays,
                                            struct dtx_err *err);
void dtx_pqw_dict_clear(struct dtx_pqw_dict *d);

/* --- chunks (parquet_write_chunk.c) --- */

/* Texts that are longer have no least and greatest value in the statistics. */
#define DTX_PQW_STAT_MAX 64u

struct dtx_pqw_chunk {
	struct dtx_buf pages; /* as they are in the file */
	uint32_t rows, nulls;
	bool has_dict;
	uint64_t data_at;   /* of the first data page in `pages` */
	uint64_t unpacked;  /* bytes of the pages, unpacked, with their heads */
	uint32_t encodings; /* a bit for each */
	bool has_range;
	uint8_t nleast, ngreatest; /* bytes */
	char least[DTX_PQW_STAT_MAX], greatest[DTX_PQW_STAT_MAX];
};
/* Encodes a column. Errors: memory_limit, cancelled, cell_limit (a page of 2 GB). */
DTX_MUSTUSE enum dtx_code dtx_pqw_chunk_make(const struct dtx_pqw_column *c,
                                             const struct dtx_pqw_codec *codec,
                                             struct dtx_pqw_chunk *out, struct dtx_err *err);
void dtx_pqw_chunk_clear(struct dtx_pqw_chunk *c);

/* --- the footer (parquet_write_footer.c) --- */

#define DTX_PQW_MAGIC "PAR1"

/* Appends the metadata of a chunk, as an item of a row group's list, whose pages begin at `at`. */
void dtx_pqw_put_chunk(struct dtx_thrift_out *o, const struct dtx_field *field,
                       const struct dtx_pqw_chunk *chunk, unsigned codec, uint64_t at);
/* Appends footer, its length and the magic. `groups` has the metadata of `n` row groups. */
DTX_MUSTUSE enum dtx_code dtx_pqw_put_footer(struct dtx_buf *to, const struct dtx_schema *schema,
                                             const struct dtx_buf *groups, size_t n, int64_t rows,
                                             struct dtx_err *err);

#endif
