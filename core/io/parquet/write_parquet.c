/* Writes Parquet files, see core/io/parquet/parquet_write.h. Workers make blocks of values, which
 * become row groups in order; the columns of a row group are encoded in parallel. */
#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/base/thread/parallel_for.h"
#include "core/io/parquet/parquet_write.h"
#include "core/io/write/writer.h"

/* A row group ends after so many rows, or before its values would take more memory than that. */
#define GROUP_ROWS  ((uint32_t)1 << 20)
#define GROUP_BYTES ((uint64_t)128 << 20)
#define FOOTER_MAX  ((size_t)INT32_MAX)

struct parquet_writer {
	struct dtx_writer head;
	struct dtx_pqw_codec codec;
	unsigned workers;
	struct dtx_pqw_group group;
	uint64_t at;  /* bytes of the file so far */
	int64_t rows; /* of the row groups that are written */
	size_t ngroups;
	struct dtx_buf groups; /* their metadata, for the footer */
	/* While a row group is written: */
	pthread_mutex_t lock; /* protects all of these, and what is written */
	struct dtx_pqw_chunk *chunk;
	bool *made;    /* chunks that are encoded */
	uint32_t next; /* the column whose chunk is written next */
	struct dtx_thrift_out meta;
	uint64_t packed, unpacked;
};

extern const struct dtx_writer_class dtx_write_parquet;

static struct parquet_writer *of(struct dtx_writer *w)
{
	return (struct parquet_writer *)w; /* head is the first member */
}

static void parquet_close(struct dtx_writer *writer)
{
	struct parquet_writer *w = of(writer);

	for (uint32_t i = 0; w->chunk && i < w->group.ncols; i++)
		dtx_pqw_chunk_clear(&w->chunk[i]);
	dtx_pqw_group_clear(&w->group);
	dtx_mem_free(w->chunk);
	dtx_mem_free(w->made);
	dtx_buf_clear(&w->groups);
	pthread_mutex_destroy(&w->lock);
	dtx_errlist_clear(&writer->diags);
	dtx_mem_free(w);
}

static enum dtx_code parquet_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                                  const struct dtx_schema *schema, struct dtx_writer **made,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct parquet_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_parquet, .out = out, .schema = schema };
	w->workers = opts->workers;
	pthread_mutex_init(&w->lock, NULL);
	dtx_buf_init(&w->groups, FOOTER_MAX);
	DTX_TRY(dtx_pqw_codec_open(opts->codec, &w->codec, err));
	w->group = (struct dtx_pqw_group){ .rows_max = GROUP_ROWS, .bytes_max = GROUP_BYTES };
	DTX_TRY(dtx_pqw_group_init(&w->group, schema, dtx_pqw_type_of, err));
	w->chunk = dtx_mem_zalloc(schema->nfields, sizeof(*w->chunk));
	w->made = dtx_mem_zalloc(schema->nfields, sizeof(*w->made));
	if (!w->chunk || !w->made)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		parquet_close(&w->head);
	return rc;
}

static enum dtx_code parquet_format(struct dtx_writer *writer, struct dtx_batch *b,
                                    struct dtx_buf *out, struct dtx_err *err)
{
	return dtx_pqw_group_block(&of(writer)->group, b, out, err);
}

/* --- row groups --- */

static enum dtx_code write_bytes(struct parquet_writer *w, const void *bytes, size_t n,
                                 struct dtx_err *err)
{
	w->at += n;
	return dtx_outfile_write(w->head.out, bytes, n, err);
}

static enum dtx_code begin(struct parquet_writer *w, struct dtx_err *err)
{
	return w->at ? DTX_OK : write_bytes(w, DTX_PQW_MAGIC, strlen(DTX_PQW_MAGIC), err);
}

/* Writes the chunk that comes next, and lets go of its memory. */
static enum dtx_code write_chunk(struct parquet_writer *w, struct dtx_err *err)
{
	struct dtx_pqw_chunk *c = &w->chunk[w->next];
	enum dtx_code rc;

	dtx_pqw_put_chunk(&w->meta, &w->head.schema->field[w->next], c, w->codec.id, w->at);
	w->packed += c->pages.len;
	w->unpacked += c->unpacked;
	rc = write_bytes(w, c->pages.ptr, c->pages.len, err);
	dtx_pqw_chunk_clear(c);
	w->next++;
	return rc;
}

/* Encodes column i. Whoever makes the chunk that comes next also writes those after it that are
 * there already, so that few wait in memory. */
static enum dtx_code make_chunk(void *arg, uint64_t i, struct dtx_err *err)
{
	struct parquet_writer *w = arg;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_pqw_chunk_make(&w->group.column[i], &w->codec, &w->chunk[i], err));
	dtx_pqw_column_reset(&w->group.column[i]);
	pthread_mutex_lock(&w->lock);
	w->made[i] = true;
	while (rc == DTX_OK && w->next < w->group.ncols && w->made[w->next])
		rc = write_chunk(w, err);
	pthread_mutex_unlock(&w->lock);
out:
	return rc;
}

static enum dtx_code write_group(struct parquet_writer *w, uint32_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t at;

	DTX_TRY(begin(w, err));
	at = w->at;
	w->meta = dtx_thrift_out_of(&w->groups);
	w->next = 0;
	w->packed = w->unpacked = 0;
	memset(w->made, 0, w->group.ncols * sizeof(*w->made));
	dtx_thrift_item_open(&w->meta);
	dtx_thrift_put_list(&w->meta, 1, DTX_THRIFT_STRUCT, w->group.ncols);
	DTX_TRY(dtx_parallel_for(w->workers, w->group.ncols, make_chunk, w, err));
	dtx_thrift_put_i64(&w->meta, 2, (int64_t)w->unpacked);
	dtx_thrift_put_i64(&w->meta, 3, rows);
	dtx_thrift_put_i64(&w->meta, 5, (int64_t)at);
	dtx_thrift_put_i64(&w->meta, 6, (int64_t)w->packed);
	dtx_thrift_put_close(&w->meta);
	DTX_TRY(dtx_buf_check(&w->groups, "the footer", err));
	w->ngroups++;
	w->rows += rows;
	w->group.bytes = 0;
out:
	return rc;
}

/* --- rows --- */

static enum dtx_code group_is_full(void *arg, struct dtx_err *err)
{
	struct parquet_writer *w = arg;

	return write_group(w, w->group.column[0].rows, err);
}

static enum dtx_code parquet_put(struct dtx_writer *writer, struct dtx_batch *b,
                                 const struct dtx_buf *bytes, struct dtx_err *err)
{
	struct parquet_writer *w = of(writer);

	if (!w->group.ncols) {
		w->rows += b->nsel;
		return DTX_OK;
	}
	return dtx_pqw_group_put(&w->group, b->nsel, bytes, group_is_full, w, err);
}

static enum dtx_code parquet_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct parquet_writer *w = of(writer);
	struct dtx_buf footer = DTX_BUF_INIT(FOOTER_MAX);

	if (w->group.ncols && w->group.column[0].rows)
		DTX_TRY(write_group(w, w->group.column[0].rows, err));
	DTX_TRY(begin(w, err));
	DTX_TRY(dtx_pqw_put_footer(&footer, writer->schema, &w->groups, w->ngroups, w->rows, err));
	DTX_TRY(write_bytes(w, footer.ptr, footer.len, err));
out:
	dtx_buf_clear(&footer);
	return rc;
}

const struct dtx_writer_class dtx_write_parquet = {
	.name = "parquet",
	.formats = "parquet",
	.suffixes = "parquet,pq",
	.uses = "codec",
	.codecs = "zstd, the default, snappy, gzip or none",
	.values = true,
	.binary = true,
	.open = parquet_open,
	.format = parquet_format,
	.put = parquet_put,
	.finish = parquet_finish,
	.close = parquet_close,
};
