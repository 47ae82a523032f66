/* Writes Arrow IPC files and streams. Workers make blocks of values, as for Parquet, of which
 * record batches are made in order; the columns of a record batch are made in parallel.
 *
 * A record batch ends after numbers of rows and bytes, so the same table gives the same bytes,
 * whatever the batches and the number of threads. A file is a stream with a magic word before it,
 * and a footer that lists its record batches. */
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/base/thread/parallel_for.h"
#include "core/io/arrow/flatbuf_write.h"
#include "core/io/parquet/parquet_write.h"
#include "core/io/write/writer.h"

#define MAGIC      "ARROW1"
#define GROUP_ROWS ((uint32_t)1 << 16)
/* Before this many bytes of values; the offsets of texts, int32, have room for one more text. */
#define GROUP_BYTES ((uint64_t)64 << 20)
#define HEAD_MAX    ((size_t)256 << 20) /* bytes of the head of a message, and of the footer */
enum { SCHEMA = 1, RECORDS = 3, V5 = 4, FLAT_MAX = 3 };
enum { T_NULL = 1, T_INT, T_FLOAT, T_UTF8 = 5, T_BOOL, T_DECIMAL, T_DATE, T_TIMESTAMP = 10 };

struct block { /* a message of the file, for the footer */
	uint64_t at, body;
	uint32_t head;
};
/* A column of a record batch: buffers one after the other, each at a multiple of 8. */
struct made {
	struct dtx_buf bytes;
	uint64_t at[FLAT_MAX], n[FLAT_MAX]; /* of each buffer */
	uint32_t buffers, rows, nulls;
};
struct arrow_writer {
	struct dtx_writer head;
	struct dtx_pqw_codec codec;
	bool stream, packed;
	unsigned workers;
	struct dtx_pqw_group group;
	struct made *made;
	uint64_t at;       /* bytes of the file so far */
	int64_t rows_only; /* rows of a table without columns */
	struct block *block;
	size_t nblocks, cap;
	struct dtx_buf text; /* the head of a message */
};

extern const struct dtx_writer_class dtx_write_arrow;

static struct arrow_writer *of(struct dtx_writer *w)
{
	return (struct arrow_writer *)w; /* head is the first member */
}

/* Decimals have 16 bytes, whatever their digits. */
static struct dtx_pqw_type type_of(struct dtx_typeref t)
{
	if (t.type == DTX_T_DECIMAL)
		return (struct dtx_pqw_type){ DTX_PQW_FIXED, 16 };
	return dtx_pqw_type_of(t);
}

static void arrow_close(struct dtx_writer *writer)
{
	struct arrow_writer *w = of(writer);

	for (uint32_t i = 0; w->made && i < w->group.ncols; i++)
		dtx_buf_clear(&w->made[i].bytes);
	dtx_mem_free(w->made);
	dtx_pqw_group_clear(&w->group);
	dtx_mem_free(w->block);
	dtx_buf_clear(&w->text);
	dtx_errlist_clear(&writer->diags);
	dtx_mem_free(w);
}

static enum dtx_code arrow_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                                const struct dtx_schema *schema, struct dtx_writer **made,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = dtx_outfile_info(out)->path;
	struct arrow_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_arrow, .out = out, .schema = schema };
	dtx_buf_init(&w->text, HEAD_MAX);
	w->workers = opts->workers;
	w->stream = !strcmp(path, "-") || dtx_str_is(dtx_writer_suffix(path), "arrows");
	w->packed = opts->codec && strcmp(opts->codec, "none") != 0;
	if (w->packed && strcmp(opts->codec, "zstd") != 0)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE, "\"codec\": \"zstd\" packs them",
		              "output: the buffers of Arrow are packed with zstd or not at all, "
		              "not with %s",
		              opts->codec);
	if (w->packed)
		DTX_TRY(dtx_pqw_codec_open("zstd", &w->codec, err));
	w->group = (struct dtx_pqw_group){ .rows_max = GROUP_ROWS, .bytes_max = GROUP_BYTES };
	DTX_TRY(dtx_pqw_group_init(&w->group, schema, type_of, err));
	w->made = dtx_mem_zalloc(schema->nfields, sizeof(*w->made));
	if (!w->made)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < schema->nfields; i++)
		dtx_buf_init(&w->made[i].bytes, SIZE_MAX / 2);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		arrow_close(&w->head);
	return rc;
}

static enum dtx_code arrow_format(struct dtx_writer *writer, struct dtx_batch *b,
                                  struct dtx_buf *out, struct dtx_err *err)
{
	return dtx_pqw_group_block(&of(writer)->group, b, out, err);
}

/* --- messages --- */

static enum dtx_code write_bytes(struct arrow_writer *w, const void *bytes, size_t n,
                                 struct dtx_err *err)
{
	w->at += n;
	return dtx_outfile_write(w->head.out, bytes, n, err);
}

static const char zeros[8];

static size_t padding(uint64_t n)
{
	return (size_t)(-n & 7);
}

/* Begins a message in w->text; *head is the place of the reference to its header. */
static struct dtx_fbw open_message(struct arrow_writer *w, int kind, uint64_t body, size_t *head)
{
	struct dtx_fbw fb;
	size_t field[DTX_FBW_FIELDS];

	dtx_buf_reset(&w->text);
	fb = dtx_fbw_open(&w->text);
	dtx_fbw_table(&fb, 0, "2148", field);
	dtx_fbw_set(&fb, field[0], V5, 2);
	dtx_fbw_set(&fb, field[1], kind, 1);
	dtx_fbw_set(&fb, field[3], (int64_t)body, 8);
	*head = field[2];
	return fb;
}

/* Writes the message in w->text, without its body; *n is how many bytes that are. */
static enum dtx_code write_message(struct arrow_writer *w, uint32_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t head[2] = { UINT32_MAX, 0 };
	size_t pad = padding(w->text.len);

	dtx_buf_addn(&w->text, zeros, pad);
	DTX_TRY(dtx_buf_check(&w->text, "the head of a message", err));
	head[1] = (uint32_t)w->text.len;
	*n = (uint32_t)(sizeof(head) + w->text.len);
	DTX_TRY(write_bytes(w, head, sizeof(head), err));
	DTX_TRY(write_bytes(w, w->text.ptr, w->text.len, err));
out:
	return rc;
}

/* --- schema --- */

static uint8_t put_type(struct dtx_fbw *fb, size_t from, struct dtx_typeref t)
{
	size_t f[DTX_FBW_FIELDS];

	switch (t.type) {
	case DTX_T_NULL: dtx_fbw_table(fb, from, "", f); return T_NULL;
	case DTX_T_BOOL: dtx_fbw_table(fb, from, "", f); return T_BOOL;
	case DTX_T_INT64:
		dtx_fbw_table(fb, from, "41", f);
		dtx_fbw_set(fb, f[0], 64, 4);
		dtx_fbw_set(fb, f[1], 1, 1);
		return T_INT;
	case DTX_T_FLOAT64:
		dtx_fbw_table(fb, from, "2", f);
		dtx_fbw_set(fb, f[0], 2, 2); /* double */
		return T_FLOAT;
	case DTX_T_DECIMAL:
		dtx_fbw_table(fb, from, "444", f);
		dtx_fbw_set(fb, f[0], t.precision, 4);
		dtx_fbw_set(fb, f[1], t.scale, 4);
		dtx_fbw_set(fb, f[2], 128, 4);
		return T_DECIMAL;
	case DTX_T_DATE: dtx_fbw_table(fb, from, "2", f); return T_DATE; /* 0: days */
	case DTX_T_DATETIME:
		dtx_fbw_table(fb, from, dtx_type_is_utc(t) ? "24" : "2", f);
		dtx_fbw_set(fb, f[0], 2, 2); /* microseconds */
		if (dtx_type_is_utc(t))
			dtx_fbw_text(fb, f[1], DTX_STR("UTC"));
		return T_TIMESTAMP;
	default: dtx_fbw_table(fb, from, "", f); return T_UTF8;
	}
}

static void put_schema(struct dtx_fbw *fb, size_t from, const struct dtx_schema *s)
{
	size_t schema[DTX_FBW_FIELDS], field[DTX_FBW_FIELDS], list;

	dtx_fbw_table(fb, from, "04", schema);
	list = dtx_fbw_items(fb, schema[1], s->nfields, 4);
	for (uint32_t i = 0; i < s->nfields; i++) {
		dtx_fbw_table(fb, list + 4 * (size_t)i, "411404", field);
		dtx_fbw_set(fb, field[1], 1, 1); /* may be null */
		dtx_fbw_text(fb, field[0], dtx_str_of(s->field[i].name));
		dtx_fbw_set(fb, field[2], put_type(fb, field[3], s->field[i].type), 1);
		dtx_fbw_items(fb, field[5], 0, 4); /* some readers want the list of children */
	}
}

static enum dtx_code begin(struct arrow_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fbw fb;
	size_t head;
	uint32_t n;

	if (w->at)
		goto out;
	if (!w->stream)
		DTX_TRY(write_bytes(w, MAGIC "\0", 8, err));
	fb = open_message(w, SCHEMA, 0, &head);
	put_schema(&fb, head, w->head.schema);
	DTX_TRY(write_message(w, &n, err));
out:
	return rc;
}

/* --- columns --- */

/* Appends n bytes of a buffer that the caller fills; NULL: out of memory. */
static char *add_buffer(struct made *m, uint64_t n)
{
	uint64_t room = n + padding(n);
	char *to;

	m->at[m->buffers] = m->bytes.len;
	m->n[m->buffers++] = n;
	if (!dtx_buf_room(&m->bytes, room))
		return NULL;
	to = m->bytes.ptr + m->bytes.len;
	memset(to, 0, room);
	m->bytes.len += room;
	return to;
}

static void put_bits(char *to, const char *v, const char *valid, uint32_t rows)
{
	for (uint32_t i = 0, k = 0; i < rows; i++)
		if (!valid || valid[i])
			to[i >> 3] = (char)(to[i >> 3] | (v[k++] & 1) << (i & 7));
}

/* Values of 4, 8 or 16 bytes at their rows; those of nulls are zero. */
static void put_fixed(char *to, const char *v, const char *valid, uint32_t rows, size_t width)
{
	if (!valid) {
		memcpy(to, v, rows * width);
		return;
	}
	for (uint32_t i = 0; i < rows; i++, to += width) {
		if (!valid[i])
			continue;
		memcpy(to, v, width);
		v += width;
	}
}

/* Turns n numbers of 16 bytes around: a block has the highest byte first. */
static void turn(char *p, uint32_t n)
{
	for (; n; n--, p += 16) {
		for (int i = 0; i < 8; i++) {
			char high = p[i];

			p[i] = p[15 - i];
			p[15 - i] = high;
		}
	}
}

static void put_offsets(char *to, const char *lengths, const char *valid, uint32_t rows)
{
	uint32_t at = 0, len;

	for (uint32_t i = 0; i < rows; i++) {
		if (!valid || valid[i]) {
			memcpy(&len, lengths, sizeof(len));
			lengths += sizeof(len);
			at += len;
		}
		memcpy(to + 4 * ((size_t)i + 1), &at, sizeof(at));
	}
}

/* Makes the buffers of column i, not packed. */
static enum dtx_code make_plain(const struct dtx_pqw_column *c, bool is_null, struct made *m,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *valid = c->valid.len ? c->valid.ptr : NULL;
	uint32_t width = c->type.width;
	char *to;

	dtx_buf_reset(&m->bytes);
	m->buffers = 0;
	m->rows = c->rows;
	m->nulls = c->rows - c->values;
	if (is_null)
		goto out;
	if (c->bytes.len > INT32_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "the texts of a record batch have more than 2 GB");
	to = add_buffer(m, m->nulls ? (c->rows + 7) / 8 : 0);
	if (to && m->nulls) {
		for (uint32_t i = 0; i < c->rows; i++)
			to[i >> 3] = (char)(to[i >> 3] | valid[i] << (i & 7));
	}
	if (c->type.kind == DTX_PQW_TEXT) {
		to = add_buffer(m, 4 * ((uint64_t)c->rows + 1));
		if (to)
			put_offsets(to, c->fixed.ptr, valid, c->rows);
		to = add_buffer(m, c->bytes.len);
		if (to && c->bytes.len)
			memcpy(to, c->bytes.ptr, c->bytes.len);
	} else if (c->type.kind == DTX_PQW_BOOL) {
		to = add_buffer(m, (c->rows + 7) / 8);
		if (to)
			put_bits(to, c->fixed.ptr, valid, c->rows);
	} else {
		to = add_buffer(m, (uint64_t)c->rows * width);
		if (to)
			put_fixed(to, c->fixed.ptr, valid, c->rows, width);
		if (to && c->type.kind == DTX_PQW_FIXED)
			turn(to, c->rows);
	}
	DTX_TRY(dtx_buf_check(&m->bytes, "a record batch", err));
out:
	return rc;
}

/* Packs the buffers: each has the number of its bytes before it, -1 if packing would not make it
 * smaller. */
static enum dtx_code pack(struct arrow_writer *w, struct made *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pqw_packer packer;
	struct made out = { .rows = m->rows, .nulls = m->nulls };
	struct dtx_str in, packed;
	char *to;

	dtx_buf_init(&out.bytes, SIZE_MAX / 2);
	DTX_TRY(dtx_pqw_packer_init(&packer, &w->codec, err));
	for (uint32_t i = 0; rc == DTX_OK && i < m->buffers; i++) {
		int64_t size = (int64_t)m->n[i];

		in = (struct dtx_str){ m->bytes.ptr + m->at[i], m->n[i] };
		packed = in;
		if (in.len)
			rc = dtx_pqw_pack(&packer, in, &packed, err);
		if (packed.len >= in.len) {
			packed = in;
			size = -1;
		}
		to = rc == DTX_OK ? add_buffer(&out, in.len ? 8 + packed.len : 0) : NULL;
		if (to && in.len) {
			memcpy(to, &size, 8);
			memcpy(to + 8, packed.ptr, packed.len);
		}
	}
	dtx_pqw_packer_clear(&packer);
	if (rc == DTX_OK)
		rc = dtx_buf_check(&out.bytes, "a record batch", err);
	if (rc == DTX_OK) {
		dtx_buf_clear(&m->bytes);
		*m = out;
		return rc;
	}
out:
	dtx_buf_clear(&out.bytes);
	return rc;
}

static enum dtx_code make_column(void *arg, uint64_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct arrow_writer *w = arg;

	DTX_TRY(make_plain(&w->group.column[i], w->head.schema->field[i].type.type == DTX_T_NULL,
	                   &w->made[i], err));
	if (w->packed)
		DTX_TRY(pack(w, &w->made[i], err));
	dtx_pqw_column_reset(&w->group.column[i]);
out:
	return rc;
}

/* --- record batches --- */

static enum dtx_code note_block(struct arrow_writer *w, uint64_t at, uint32_t head, uint64_t body,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (w->stream)
		goto out;
	if (!dtx_mem_reserve(&w->block, &w->cap, w->nblocks + 1, sizeof(*w->block)))
		DTX_FAIL_MEM(err);
	w->block[w->nblocks++] = (struct block){ at, body, head };
out:
	return rc;
}

/* The head of a record batch: rows, rows and nulls of each column, place and bytes of each buffer.
 */
static void put_records(struct arrow_writer *w, int64_t rows, uint64_t body)
{
	size_t field[DTX_FBW_FIELDS], head, nodes, list, codec[DTX_FBW_FIELDS];
	struct dtx_fbw fb = open_message(w, RECORDS, body, &head);
	uint32_t buffers = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; i < w->group.ncols; i++)
		buffers += w->made[i].buffers;
	dtx_fbw_table(&fb, head, w->packed ? "8444" : "844", field);
	dtx_fbw_set(&fb, field[0], rows, 8);
	nodes = dtx_fbw_items(&fb, field[1], w->group.ncols, 16);
	list = dtx_fbw_items(&fb, field[2], buffers, 16);
	for (uint32_t i = 0; i < w->group.ncols; i++, nodes += 16) {
		const struct made *m = &w->made[i];

		dtx_fbw_set(&fb, nodes, m->rows, 8);
		dtx_fbw_set(&fb, nodes + 8, m->nulls, 8);
		for (uint32_t k = 0; k < m->buffers; k++, list += 16) {
			dtx_fbw_set(&fb, list, (int64_t)(at + m->at[k]), 8);
			dtx_fbw_set(&fb, list + 8, (int64_t)m->n[k], 8);
		}
		at += m->bytes.len;
	}
	if (w->packed) {
		dtx_fbw_table(&fb, field[3], "11", codec);
		dtx_fbw_set(&fb, codec[0], 1, 1); /* zstd */
	}
}

static enum dtx_code write_group(void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct arrow_writer *w = arg;
	uint32_t rows = w->group.column[0].rows, head = 0;
	uint64_t body = 0, at;

	DTX_TRY(begin(w, err));
	at = w->at;
	DTX_TRY(dtx_parallel_for(w->workers, w->group.ncols, make_column, w, err));
	for (uint32_t i = 0; i < w->group.ncols; i++)
		body += w->made[i].bytes.len;
	put_records(w, rows, body);
	DTX_TRY(write_message(w, &head, err));
	DTX_TRY(note_block(w, at, head, body, err));
	for (uint32_t i = 0; i < w->group.ncols; i++)
		DTX_TRY(write_bytes(w, w->made[i].bytes.ptr, w->made[i].bytes.len, err));
	w->group.bytes = 0;
out:
	return rc;
}

static enum dtx_code arrow_put(struct dtx_writer *writer, struct dtx_batch *b,
                               const struct dtx_buf *bytes, struct dtx_err *err)
{
	struct arrow_writer *w = of(writer);

	if (!w->group.ncols) {
		w->rows_only += b->nsel;
		return DTX_OK;
	}
	return dtx_pqw_group_put(&w->group, b->nsel, bytes, write_group, w, err);
}

/* --- the end --- */

static enum dtx_code write_footer(struct arrow_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fbw fb;
	size_t field[DTX_FBW_FIELDS], list;
	uint32_t n;

	dtx_buf_reset(&w->text);
	fb = dtx_fbw_open(&w->text);
	dtx_fbw_table(&fb, 0, "2444", field);
	dtx_fbw_set(&fb, field[0], V5, 2);
	put_schema(&fb, field[1], w->head.schema);
	dtx_fbw_items(&fb, field[2], 0, 8); /* no dictionaries */
	list = dtx_fbw_items(&fb, field[3], (uint32_t)w->nblocks, 24);
	for (size_t i = 0; i < w->nblocks; i++, list += 24) {
		dtx_fbw_set(&fb, list, (int64_t)w->block[i].at, 8);
		dtx_fbw_set(&fb, list + 8, w->block[i].head, 4);
		dtx_fbw_set(&fb, list + 16, (int64_t)w->block[i].body, 8);
	}
	DTX_TRY(dtx_buf_check(&w->text, "the footer", err));
	n = (uint32_t)w->text.len;
	DTX_TRY(write_bytes(w, w->text.ptr, w->text.len, err));
	DTX_TRY(write_bytes(w, &n, sizeof(n), err));
	DTX_TRY(write_bytes(w, MAGIC, strlen(MAGIC), err));
out:
	return rc;
}

static enum dtx_code arrow_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct arrow_writer *w = of(writer);
	static const uint32_t end[2] = { UINT32_MAX, 0 };
	uint64_t at;
	uint32_t head;

	if (w->group.ncols && w->group.column[0].rows)
		DTX_TRY(write_group(w, err));
	DTX_TRY(begin(w, err));
	if (w->rows_only) { /* only the number of rows is there to be written */
		at = w->at;
		put_records(w, w->rows_only, 0);
		DTX_TRY(write_message(w, &head, err));
		DTX_TRY(note_block(w, at, head, 0, err));
	}
	DTX_TRY(write_bytes(w, end, sizeof(end), err));
	if (!w->stream)
		DTX_TRY(write_footer(w, err));
out:
	return rc;
}

const struct dtx_writer_class dtx_write_arrow = {
	.name = "arrow",
	.formats = "arrow",
	.suffixes = "arrow,arrows,feather,ipc",
	.uses = "codec",
	.codecs = "none, the default, or zstd",
	.values = true,
	.binary = true,
	.open = arrow_open,
	.format = arrow_format,
	.put = arrow_put,
	.finish = arrow_finish,
	.close = arrow_close,
};
