/* A slice of a stream: a table with the columns of the whole stream. */
#include "core/base/mem.h"
#include "core/io/archive/gzip.h"
#include "core/io/source/stream_reader_parts.h"

void dtx_stream_chunk_free(struct dtx_stream_chunk *p)
{
	if (!p)
		return;
	dtx_reader_close(p->reader);
	dtx_source_free(p->src);
	dtx_mem_free(p->need);
	dtx_mem_free(p->from);
	dtx_mem_free(p);
}

void dtx_stream_chunk_unref(struct dtx_stream_chunk *p)
{
	if (p && --p->refs == 0)
		dtx_stream_chunk_free(p);
}

/* Refuses an array: it would name only the columns of its own slice. */
static enum dtx_code check_object(struct dtx_source *src, struct dtx_err *err)
{
	struct dtx_str text =
		dtx_str_trim((struct dtx_str){ dtx_source_data(src), dtx_source_size(src) });
	int64_t line = dtx_source_line0(src);
	size_t at;

	if (dtx_str_starts(text, DTX_STR("\xef\xbb\xbf")))
		text = (struct dtx_str){ text.ptr + 3, text.len - 3 };
	if (!text.len || text.ptr[0] == '{')
		return DTX_OK;
	at = (size_t)(text.ptr - dtx_source_data(src));
	line += dtx_csv_line(dtx_source_data(src), 0, at);
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s': a stream of JSON Lines has an object on each line; L%lld has not",
	            dtx_source_name(src), (long long)line + 1);
	dtx_record_chunker_blame(line, dtx_source_byte0(src) + (int64_t)at, err);
	return DTX_E_CORRUPT_FILE;
}

static enum dtx_code check_unpacked(struct dtx_source *src, struct dtx_err *err)
{
	if (!dtx_gzip_sniff(dtx_source_data(src), dtx_source_size(src)))
		return DTX_OK;
	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	            "'%s' is gzip-compressed, and a stream is not unpacked", dtx_source_name(src));
	dtx_err_hint(err, "gzip -dc in front of dtx; or without \"stream\"");
	return DTX_E_UNSUPPORTED_FORMAT;
}

enum dtx_code dtx_stream_chunk_open(struct dtx_stream_reader *s, struct dtx_source *src,
                                    uint64_t seq, const struct dtx_read_opts *opts,
                                    struct dtx_stream_chunk **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_chunk *p = dtx_mem_zalloc(1, sizeof(*p));

	if (!p) {
		dtx_source_free(src);
		DTX_FAIL_MEM(err);
	}
	p->seq = seq;
	p->refs = 1;
	p->src = src;
	if (!seq)
		DTX_TRY(check_unpacked(src, err));
	if (!dtx_stream_reader_is_csv(s))
		DTX_TRY(check_object(src, err));
	DTX_TRY(s->cls->open(src, opts, &p->reader, err));
	p->reader->cls = s->cls;
	DTX_TRY(p->reader->cls->schema(p->reader, &p->schema, err));
	*out = p;
	p = NULL;
out:
	dtx_stream_chunk_free(p);
	return rc;
}

/* Finds the columns of the stream in the slice. A slice of JSON Lines has only those that its
 * records have. */
static enum dtx_code slice_columns(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = s->schema->nfields, i;

	p->from = dtx_mem_alloc(n, sizeof(*p->from));
	p->need = dtx_mem_zalloc(p->schema->nfields, 1);
	if (!p->from || !p->need)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		int32_t at = dtx_schema_find(p->schema, s->schema->field[i].name);

		p->from[i] = at < 0 ? UINT32_MAX : (uint32_t)at;
		if (at >= 0)
			p->need[at] = s->scan.need[i];
		/* all columns of a text file are declared, so its reader has found them */
		DTX_ASSERT(at >= 0 || !dtx_stream_reader_is_csv(s), err);
	}
out:
	return rc;
}

enum dtx_code dtx_stream_chunk_start(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_scan scan = { .limit = -1, .workers = 1, .batch_rows = s->scan.batch_rows };

	DTX_TRY(slice_columns(s, p, err));
	scan.schema = p->schema;
	scan.need = p->need;
	DTX_TRY(p->reader->cls->start(p->reader, &scan, err));
out:
	return rc;
}

enum dtx_code dtx_stream_chunk_shape(const struct dtx_stream_reader *s,
                                     const struct dtx_stream_chunk *p, struct dtx_batch **from,
                                     struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint32_t n = s->schema->nfields, rows = (*from)->nrows, i;

	DTX_TRY(dtx_batch_new(s->schema, rows, &b, err));
	b->first_row = (*from)->first_row;
	for (i = 0; i < n; i++) {
		uint32_t k = p->from[i];

		if (s->scan.need[i] == DTX_NEED_SKIP)
			continue;
		if (k == UINT32_MAX) {
			DTX_TRY(dtx_column_nulls(s->schema->field[i].type, rows, &b->col[i], err));
			continue;
		}
		b->col[i] = (*from)->col[k];
		(*from)->col[k] = NULL;
	}
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_batch_free(*from);
	*from = NULL;
	return rc;
}
