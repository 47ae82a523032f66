/* Packs lists of row numbers into bytes and unpacks them. */
#include "core/plan/lineage/row_lineage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/memory/mem.h"
#include "core/base/text/le.h"
#include "core/data/cast/cast.h"

/* Format: "dtxrows1"; the length of the uncompressed bytes as 8 bytes, big-endian; then, compressed
 * by zlib: the length of the head (8 bytes), the head (JSON), and for each column of each list its
 * length (8 bytes) and its numbers. A number is stored as the difference from the previous row,
 * zigzag-encoded, 7 bits per byte. Row numbers mostly grow by one, so a difference usually takes
 * one byte that zlib then compresses further. */
static const char lineage_magic[] = "dtxrows1";
enum { LINEAGE_MAGIC = 8, LINEAGE_FRONT = 16, LINEAGE_LEVEL = 1, LINEAGE_PIECE = 1 << 16 };
#define LINEAGE_PLAIN_MAX (DTX_ROW_LINEAGE_MAX + ((size_t)16 << 20))

/* --- numbers of a table --- */

static int64_t lineage_number(const struct dtx_column *c, uint32_t row, struct dtx_buf *text)
{
	if (dtx_column_is_null(c, row))
		return 0;
	if (c->type.type == DTX_T_INT64 && (c->form == DTX_F_FLAT || c->form == DTX_F_CONST))
		return c->v.i64[c->form == DTX_F_CONST ? 0 : row];
	dtx_buf_reset(text);
	dtx_cast_print(c, row, text);
	return strtoll(dtx_buf_text(text), NULL, 10);
}

struct lineage_column {
	const char *name;
	struct dtx_buf bytes;
	int64_t last;
};
struct lineage_pack {
	struct lineage_column **column; /* [list][column] */
	size_t *ncols, *rows;
	size_t nlists, total, max;
	struct dtx_buf text;
};

static void lineage_put(struct lineage_pack *p, struct lineage_column *c, int64_t value)
{
	uint64_t delta = (uint64_t)value - (uint64_t)c->last;
	uint64_t bits = delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0);

	c->last = value;
	for (; bits >= 0x80; bits >>= 7, p->total++)
		dtx_buf_addc(&c->bytes, (char)(bits | 0x80));
	dtx_buf_addc(&c->bytes, (char)bits);
	p->total++;
}

static enum dtx_code lineage_full(const struct lineage_pack *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (p->total <= p->max)
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_ROW_LIMIT, __FILE__, __LINE__,
	                 "the row numbers of the result take more than the %zu MiB that "
	                 "--lineage rows keeps",
	                 p->max >> 20);
	dtx_err_hint(
		err,
		"leave it out: dtx why then runs the plan again for the cell that is asked for");
	return rc;
}

static enum dtx_code lineage_start(struct lineage_pack *p, const json_t *blocks,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, k, n = json_array_size(blocks);

	p->column = dtx_mem_zalloc(n + 1, sizeof(struct lineage_column *));
	p->ncols = dtx_mem_zalloc(n + 1, sizeof(size_t));
	p->rows = dtx_mem_zalloc(n + 1, sizeof(size_t));
	if (!p->column || !p->ncols || !p->rows)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		const json_t *cols = json_object_get(json_array_get(blocks, i), "cols");

		p->column[i] =
			dtx_mem_zalloc(json_array_size(cols) + 1, sizeof(struct lineage_column));
		if (!p->column[i])
			DTX_FAIL_MEM(err);
		p->nlists = i + 1;
		p->ncols[i] = json_array_size(cols);
		for (k = 0; k < p->ncols[i]; k++) {
			p->column[i][k].name = json_string_value(json_array_get(cols, k));
			dtx_buf_init(&p->column[i][k].bytes, p->max + 16);
		}
	}
out:
	return rc;
}

static void lineage_end(struct lineage_pack *p)
{
	for (size_t i = 0; i < p->nlists; i++) {
		for (size_t k = 0; k < p->ncols[i]; k++)
			dtx_buf_clear(&p->column[i][k].bytes);
		dtx_mem_free(p->column[i]);
	}
	dtx_mem_free(p->column);
	dtx_mem_free(p->ncols);
	dtx_mem_free(p->rows);
	dtx_buf_clear(&p->text);
}

/* Reads the list number of row k. *next becomes the first row after k that belongs to another
 * list. */
static void lineage_run(struct lineage_pack *p, const struct dtx_batch *b,
                        const struct dtx_column *lists, uint32_t k, uint32_t *next, size_t *list)
{
	*list = (size_t)lineage_number(lists, b->sel ? b->sel[k] : k, &p->text);
	for (k++; k < b->nsel; k++) {
		if ((size_t)lineage_number(lists, b->sel ? b->sel[k] : k, &p->text) != *list)
			break;
	}
	*next = k;
}

static enum dtx_code lineage_batch(struct lineage_pack *p, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t at = dtx_schema_find(b->schema, "dtx_b");
	struct dtx_column *lists = NULL, *col = NULL;
	uint32_t from, to, k;
	size_t list, i;

	if (!b->nsel)
		goto out;
	if (at < 0)
		DTX_FAIL(err, DTX_E_BUG, "a list of row numbers has no number");
	DTX_TRY(dtx_batch_value(b, (uint32_t)at, &lists, err));
	for (from = 0; from < b->nsel; from = to) {
		lineage_run(p, b, lists, from, &to, &list);
		for (i = 0; list < p->nlists && i < p->ncols[list]; i++) {
			struct lineage_column *c = &p->column[list][i];
			int32_t of = dtx_schema_find(b->schema, c->name);

			if (of < 0)
				DTX_FAIL(err, DTX_E_BUG, "a list of row numbers lacks '%s'",
				         c->name);
			DTX_TRY(dtx_batch_value(b, (uint32_t)of, &col, err));
			for (k = from; k < to; k++)
				lineage_put(p, c,
				            lineage_number(col, b->sel ? b->sel[k] : k, &p->text));
		}
		p->rows[list] += to - from;
	}
	DTX_TRY(lineage_full(p, err));
out:
	return rc;
}

/* --- places --- */

static int64_t lineage_line(const struct dtx_batch *b, uint32_t k)
{
	return dtx_batch_physical(b, b->sel ? b->sel[k] : k) + 1;
}

/* Adds the lines of rows lo to hi of a batch. Looking up a line is slow. If every row has a line of
 * its own and the lines of both ends are as far apart as the rows are, the lines between them are
 * consecutive and need no look-up. */
static void lineage_lines(struct lineage_pack *p, struct lineage_column *c,
                          const struct dtx_batch *b, uint32_t lo, uint32_t hi, bool own)
{
	int64_t first = lineage_line(b, lo), last = lineage_line(b, hi);
	uint32_t mid = lo + (hi - lo) / 2;

	if (hi - lo < 2 || (own && last - first == (int64_t)(hi - lo))) {
		for (uint32_t k = lo; k <= hi; k++)
			lineage_put(p, c, k == hi ? last : first + (k - lo));
		return;
	}
	lineage_lines(p, c, b, lo, mid, own);
	lineage_lines(p, c, b, mid + 1, hi, own);
}

static enum dtx_code lineage_places(struct lineage_pack *p, size_t list, const struct dtx_table *t,
                                    enum dtx_row_places places, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool own = places != DTX_PLACES_RECORDS;

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		if (b->nsel)
			lineage_lines(p, &p->column[list][0], b, 0, b->nsel - 1, own);
		p->rows[list] += b->nsel;
		DTX_TRY(lineage_full(p, err));
	}
out:
	return rc;
}

/* Per column the letters of its address, {"column": "C"}, from the first row. */
static json_t *lineage_prefixes(const struct dtx_table *t)
{
	json_t *of = json_object();

	for (size_t i = 0; of && i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t c = 0; b->nsel && c < t->schema->nfields; c++) {
			struct dtx_err place = DTX_ERR_INIT;

			dtx_batch_set_position(b, b->sel ? b->sel[0] : 0, (int32_t)c, &place);
			json_object_set_new(
				of, t->schema->field[c].name,
				json_stringn(place.cell, strcspn(place.cell, "0123456789")));
			dtx_err_clear(&place);
		}
	}
	return of;
}

/* --- bytes --- */

static void lineage_length(struct dtx_buf *out, size_t n)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		dtx_buf_addc(out, (char)(n >> shift));
}

static size_t lineage_length_of(const char *at)
{
	size_t n = 0;

	for (int i = 0; i < 8; i++)
		n = n << 8 | (unsigned char)at[i];
	return n;
}

static void *lineage_alloc(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return dtx_mem_alloc(n, size);
}

static void lineage_release(void *opaque, void *ptr)
{
	(void)opaque;
	dtx_mem_free(ptr);
}

static enum dtx_code lineage_deflate(struct dtx_str plain, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	z_stream z = { .zalloc = lineage_alloc, .zfree = lineage_release };
	unsigned char piece[LINEAGE_PIECE];
	int got = deflateInit(&z, LINEAGE_LEVEL);

	if (got != Z_OK)
		DTX_FAIL_MEM(err);
	z.next_in = (z_const Bytef *)(uintptr_t)plain.ptr;
	z.avail_in = (uInt)plain.len;
	while (got == Z_OK) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		got = deflate(&z, Z_FINISH);
		dtx_buf_addn(out, piece, sizeof(piece) - z.avail_out);
	}
	deflateEnd(&z);
	DTX_TRY(dtx_buf_check(out, "row numbers", err));
out:
	return rc;
}

static enum dtx_code lineage_bytes(struct lineage_pack *p, const json_t *head, struct dtx_buf *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf plain = DTX_BUF_INIT(LINEAGE_PLAIN_MAX),
		       text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_json_canonical(head, &text);
	DTX_TRY(dtx_buf_check(&text, "row numbers", err));
	lineage_length(&plain, text.len);
	dtx_buf_adds(&plain, dtx_buf_str(&text));
	for (size_t i = 0; i < p->nlists; i++) {
		for (size_t k = 0; k < p->ncols[i]; k++) {
			DTX_TRY(dtx_buf_check(&p->column[i][k].bytes, "row numbers", err));
			lineage_length(&plain, p->column[i][k].bytes.len);
			dtx_buf_adds(&plain, dtx_buf_str(&p->column[i][k].bytes));
		}
	}
	DTX_TRY(dtx_buf_check(&plain, "row numbers", err));
	dtx_buf_addn(out, lineage_magic, LINEAGE_MAGIC);
	lineage_length(out, plain.len);
	DTX_TRY(lineage_deflate(dtx_buf_str(&plain), out, err));
out:
	dtx_buf_clear(&plain);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_row_lineage_pack(const struct dtx_trace_rows *rows,
                                   const struct dtx_exec_result *traced, size_t max,
                                   struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lineage_pack p = { .max = max };
	json_t *blocks = json_object_get(rows->head, "blocks");
	const json_t *inputs = json_object_get(rows->head, "inputs");
	const struct dtx_table *all = traced->output[1].table;
	size_t i, lists = json_array_size(blocks);

	dtx_buf_init(&p.text, DTX_BUF_TEXT_MAX);
	for (i = DTX_TRACE_ROWS_INPUTS; i < rows->noutputs; i += 2) {
		json_t *input = json_array_get(inputs, rows->input[i]);
		json_t *block = json_pack("{ss si s[s]}", "kind", "places", "input",
		                          (int)rows->input[i], "cols", "line");

		if (json_array_append_new(blocks, block) < 0 ||
		    !dtx_json_set(input, "prefix", lineage_prefixes(traced->output[i + 1].table)))
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(lineage_start(&p, blocks, err));
	for (i = 0; i < all->nbatches; i++)
		DTX_TRY(lineage_batch(&p, all->batch[i], err));
	for (i = DTX_TRACE_ROWS_INPUTS; i < rows->noutputs; i += 2)
		DTX_TRY(lineage_places(&p, lists + (i - DTX_TRACE_ROWS_INPUTS) / 2,
		                       traced->output[i].table,
		                       traced->input[rows->input[i]].places, err));
	for (i = 0; i < p.nlists; i++) {
		if (!dtx_json_set(json_array_get(blocks, i), "rows",
		                  json_integer((json_int_t)p.rows[i])))
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(lineage_bytes(&p, rows->head, out, err));
out:
	lineage_end(&p);
	return rc;
}

/* --- back --- */

static enum dtx_code lineage_inflate(struct dtx_str bytes, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	z_stream z = { .zalloc = lineage_alloc, .zfree = lineage_release };
	unsigned char piece[LINEAGE_PIECE];
	int got = inflateInit(&z);

	if (got != Z_OK)
		DTX_FAIL_MEM(err);
	z.next_in = (z_const Bytef *)(uintptr_t)bytes.ptr;
	z.avail_in = (uInt)bytes.len;
	while (got == Z_OK && dtx_buf_ok(out)) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		got = inflate(&z, Z_NO_FLUSH);
		dtx_buf_addn(out, piece, sizeof(piece) - z.avail_out);
	}
	inflateEnd(&z);
	DTX_TRY(dtx_buf_check(out, "row numbers", err));
	if (got != Z_STREAM_END)
		DTX_FAIL(err, DTX_E_STORE_IO, "the stored row numbers cannot be unpacked");
out:
	return rc;
}

static enum dtx_code lineage_column_read(struct dtx_str bytes, size_t n, int64_t **out,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *col = dtx_mem_alloc(n + 1, sizeof(*col));
	uint64_t value = 0;
	size_t at = 0, i;

	if (!col)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		uint64_t bits = 0;
		unsigned shift = 0;

		for (; at < bytes.len && bytes.ptr[at] & 0x80 && shift < 63; at++, shift += 7)
			bits |= (uint64_t)(bytes.ptr[at] & 0x7f) << shift;
		if (at >= bytes.len)
			DTX_FAIL(err, DTX_E_STORE_IO, "the stored row numbers end too early");
		bits |= (uint64_t)(bytes.ptr[at++] & 0x7f) << shift;
		value += bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0);
		col[i] = (int64_t)value;
	}
	*out = col;
	col = NULL;
out:
	dtx_mem_free(col);
	return rc;
}

static enum dtx_code lineage_list_read(struct dtx_row_lineage_list *l, const json_t *block,
                                       struct dtx_str *rest, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *cols = json_object_get(block, "cols");

	l->kind = dtx_json_text(block, "kind", "");
	l->step = dtx_json_int(block, "step", -1);
	l->bit = dtx_json_int(block, "bit", -1);
	l->input = dtx_json_int(block, "input", -1);
	l->n = (size_t)dtx_json_int(block, "rows", 0);
	l->name = dtx_mem_zalloc(json_array_size(cols) + 1, sizeof(*l->name));
	l->col = dtx_mem_zalloc(json_array_size(cols) + 1, sizeof(*l->col));
	if (!l->name || !l->col)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < json_array_size(cols); k++) {
		size_t len = rest->len < 8 ? SIZE_MAX : lineage_length_of(rest->ptr);

		if (rest->len < 8 || len > rest->len - 8 || l->n > len)
			DTX_FAIL(err, DTX_E_STORE_IO, "the stored row numbers end too early");
		l->name[k] = json_string_value(json_array_get(cols, k));
		DTX_TRY(lineage_column_read((struct dtx_str){ rest->ptr + 8, len }, l->n,
		                            &l->col[k], err));
		l->ncols = k + 1;
		*rest = (struct dtx_str){ rest->ptr + 8 + len, rest->len - 8 - len };
	}
out:
	return rc;
}

static enum dtx_code lineage_head(struct dtx_row_lineage *k, struct dtx_str *rest,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	size_t len = rest->len < 8 ? SIZE_MAX : lineage_length_of(rest->ptr);

	if (rest->len < 8 || len > rest->len - 8)
		DTX_FAIL(err, DTX_E_STORE_IO, "the stored row numbers end too early");
	DTX_TRY(dtx_json_parse((struct dtx_str){ rest->ptr + 8, len }, limits, &k->head, err));
	if (dtx_json_int(k->head, "rows", 0) != 1)
		DTX_FAIL(err, DTX_E_STORE_IO, "the stored row numbers have an unknown version");
	*rest = (struct dtx_str){ rest->ptr + 8 + len, rest->len - 8 - len };
out:
	return rc;
}

enum dtx_code dtx_row_lineage_unpack(struct dtx_str bytes, struct dtx_row_lineage **out,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf plain = DTX_BUF_INIT(LINEAGE_PLAIN_MAX);
	struct dtx_row_lineage *k = dtx_mem_zalloc(1, sizeof(*k));
	struct dtx_str rest;
	json_t *block;
	size_t i;

	if (!k)
		DTX_FAIL_MEM(err);
	if (bytes.len < LINEAGE_FRONT || memcmp(bytes.ptr, lineage_magic, LINEAGE_MAGIC) != 0)
		DTX_FAIL(err, DTX_E_STORE_IO, "these bytes are not the row numbers of a run");
	DTX_TRY(lineage_inflate(
		(struct dtx_str){ bytes.ptr + LINEAGE_FRONT, bytes.len - LINEAGE_FRONT }, &plain,
		err));
	rest = dtx_buf_str(&plain);
	DTX_TRY(lineage_head(k, &rest, err));
	k->list = dtx_mem_zalloc(json_array_size(json_object_get(k->head, "blocks")) + 1,
	                         sizeof(*k->list));
	if (!k->list)
		DTX_FAIL_MEM(err);
	json_array_foreach(json_object_get(k->head, "blocks"), i, block)
	{
		k->nlists = (uint32_t)i + 1;
		DTX_TRY(lineage_list_read(&k->list[i], block, &rest, err));
	}
	*out = k;
	k = NULL;
out:
	dtx_buf_clear(&plain);
	dtx_row_lineage_free(k);
	return rc;
}

void dtx_row_lineage_free(struct dtx_row_lineage *k)
{
	for (uint32_t i = 0; k && i < k->nlists; i++) {
		for (uint32_t c = 0; c < k->list[i].ncols; c++)
			dtx_mem_free(k->list[i].col[c]);
		dtx_mem_free(k->list[i].col);
		dtx_mem_free(k->list[i].name);
	}
	if (!k)
		return;
	dtx_mem_free(k->list);
	json_decref(k->head);
	dtx_mem_free(k);
}

/* Answers from kept row numbers: walks back from a result row to the inputs, or on from an input
 * row to the result. */

enum { LINEAGE_BITS = 64, LINEAGE_NAME = 16 };

/* --- sets of numbers --- */

struct lineage_set {
	uint64_t *bit;
	size_t n;
};

static bool set_has(const struct lineage_set *s, int64_t number)
{
	return number > 0 && (size_t)number < s->n && dtx_bit(s->bit, (size_t)number);
}

static bool set_init(struct lineage_set *s, size_t n)
{
	s->bit = dtx_mem_zalloc(dtx_bit_words(n) + 1, sizeof(*s->bit));
	s->n = s->bit ? n : 0;
	return s->bit != NULL;
}

static void set_clear(struct lineage_set *s)
{
	dtx_mem_free(s->bit);
	*s = (struct lineage_set){ .n = 0 };
}

static const int64_t *lineage_column(const struct dtx_row_lineage_list *l, const char *name)
{
	for (uint32_t c = 0; l && c < l->ncols; c++) {
		if (!strcmp(l->name[c], name))
			return l->col[c];
	}
	return NULL;
}

static const int64_t *lineage_bit(const struct dtx_row_lineage_list *l, int64_t bit)
{
	char name[LINEAGE_NAME];

	snprintf(name, sizeof(name), "dtx_r%d", (int)bit);
	return lineage_column(l, name);
}

/* The largest number in a column. */
static size_t lineage_most(const int64_t *col, size_t n)
{
	int64_t most = 0;

	for (size_t i = 0; col && i < n; i++)
		most = DTX_MAX(most, col[i]);
	return (size_t)most;
}

/* Collects the numbers that a column has at these places; places count from 0. */
static bool lineage_numbers(const struct dtx_row_lineage_list *l, const int64_t *col,
                            const struct lineage_set *places, struct lineage_set *out)
{
	if (!set_init(out, lineage_most(col, l->n) + 1))
		return false;
	for (size_t i = 0; i < l->n; i++) {
		if (col[i] > 0 && dtx_bit(places->bit, i))
			dtx_bit_set(out->bit, (size_t)col[i]);
	}
	return true;
}

/* --- back --- */

/* Some rows of one list. */
struct lineage_walk {
	const struct dtx_row_lineage_list *list;
	struct lineage_set rows; /* their places in the list, from 0 */
};

static const struct dtx_row_lineage_list *lineage_of_bit(const struct dtx_row_lineage *k,
                                                         int64_t bit)
{
	for (uint32_t i = 0; i < k->nlists; i++) {
		if (k->list[i].bit == bit && bit >= 0)
			return &k->list[i];
	}
	return NULL;
}

/* The first and the last place of the walked rows in each group. */
struct lineage_ends {
	int64_t *lo, *hi;
	size_t n;
};

static bool ends_find(const struct dtx_row_lineage_list *l, const int64_t *g, const int64_t *p,
                      const struct lineage_set *with, const int64_t *number,
                      struct lineage_ends *out)
{
	out->n = lineage_most(g, l->n) + 1;
	out->lo = dtx_mem_zalloc(out->n, sizeof(*out->lo));
	out->hi = dtx_mem_zalloc(out->n, sizeof(*out->hi));
	if (!out->lo || !out->hi)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		if (g[i] <= 0 || !set_has(with, number[i]))
			continue;
		out->lo[g[i]] = out->lo[g[i]] ? DTX_MIN(out->lo[g[i]], p[i]) : p[i];
		out->hi[g[i]] = DTX_MAX(out->hi[g[i]], p[i]);
	}
	return true;
}

static bool ends_reach(const struct lineage_ends *e, const json_t *via, int64_t group,
                       int64_t place)
{
	int64_t lo = dtx_json_int(via, "lo", INT64_MIN), hi = dtx_json_int(via, "hi", INT64_MAX);

	if (group <= 0 || !e->lo[group])
		return false;
	return !dtx_json_bool(via, "near", false) ||
	       ((lo == INT64_MIN || place >= e->lo[group] + lo) &&
	        (hi == INT64_MAX || place <= e->hi[group] + hi));
}

static enum dtx_code lineage_damaged(struct dtx_err *err)
{
	return dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
	                   "the stored row numbers contradict each other");
}

/* Finds the rows that a window function looked at. */
static enum dtx_code walk_window(const struct dtx_row_lineage_list *l, const json_t *via,
                                 const struct lineage_set *with, const int64_t *number,
                                 struct lineage_set *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const int64_t *g = lineage_column(l, "dtx_g"), *p = lineage_column(l, "dtx_p");
	struct lineage_ends ends = { .n = 0 };

	if (!g || !p) {
		rc = lineage_damaged(err);
		goto out;
	}
	if (!ends_find(l, g, p, with, number, &ends))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < l->n; i++) {
		if (ends_reach(&ends, via, g[i], p[i]))
			dtx_bit_set(out->bit, i);
	}
out:
	dtx_mem_free(ends.lo);
	dtx_mem_free(ends.hi);
	return rc;
}

/* Finds the rows that a result row was made from, or that let it stay. For one cell of a wide row
 * these are only the rows that went to its column. */
static void walk_made(const struct dtx_row_lineage_list *l, const json_t *via,
                      const struct lineage_set *with, const int64_t *number,
                      struct lineage_set *out)
{
	const int64_t *cell = lineage_column(l, "dtx_c");
	int64_t want = dtx_json_int(via, "cell", -1);

	for (size_t i = 0; i < l->n; i++) {
		if (set_has(with, number[i]) && (!cell || want < 0 || cell[i] == want))
			dtx_bit_set(out->bit, i);
	}
}

static enum dtx_code walk_same(const struct lineage_walk *from, struct lineage_walk *to,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	to->list = from->list;
	if (!set_init(&to->rows, from->list->n + 1))
		DTX_FAIL_MEM(err);
	memcpy(to->rows.bit, from->rows.bit, dtx_bit_words(from->list->n + 1) * sizeof(uint64_t));
out:
	return rc;
}

static enum dtx_code walk_step(const struct dtx_row_lineage *k, const json_t *via,
                               const struct lineage_walk *from, struct lineage_walk *to,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t bit = dtx_json_int(via, "bit", -1);
	struct lineage_set with = { .n = 0 };
	const int64_t *was, *number;

	if (bit >= LINEAGE_BITS) {
		DTX_TRY(walk_same(from, to, err));
		goto out;
	}
	to->list = lineage_of_bit(k, bit);
	was = lineage_bit(from->list, bit);
	number = lineage_bit(to->list, bit);
	if (!to->list || !was || !number) {
		rc = lineage_damaged(err);
		goto out;
	}
	if (!lineage_numbers(from->list, was, &from->rows, &with) ||
	    !set_init(&to->rows, to->list->n + 1))
		DTX_FAIL_MEM(err);
	if (dtx_str_in_list("window,whole", to->list->kind))
		DTX_TRY(walk_window(to->list, via, &with, number, &to->rows, err));
	else
		walk_made(to->list, via, &with, number, &to->rows);
out:
	set_clear(&with);
	return rc;
}

/* Starts at the result row itself. */
static enum dtx_code walk_start(const struct dtx_row_lineage *k, int64_t row,
                                struct lineage_walk *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!k->nlists || strcmp(k->list[0].kind, "result") != 0) {
		rc = lineage_damaged(err);
		goto out;
	}
	to->list = &k->list[0];
	if (row < 1 || (size_t)row > to->list->n)
		DTX_FAIL(err, DTX_E_USAGE, "the result has %zu rows, not %lld", to->list->n,
		         (long long)row);
	if (!set_init(&to->rows, to->list->n + 1))
		DTX_FAIL_MEM(err);
	dtx_bit_set(to->rows.bit, (size_t)row - 1);
out:
	return rc;
}

/* Empties a walk that only counts if another walk has no rows. */
static enum dtx_code walk_unless(const json_t *via, const struct lineage_walk *walk,
                                 struct lineage_walk *to, size_t i, struct dtx_err *err)
{
	int64_t other = dtx_json_int(via, "unless", -1);
	uint64_t any = 0;

	if (other < 0)
		return DTX_OK;
	if (other >= (int64_t)i)
		return lineage_damaged(err);
	for (size_t k = 0; k < dtx_bit_words(walk[other].rows.n); k++)
		any |= walk[other].rows.bit[k];
	if (any)
		memset(to->rows.bit, 0, dtx_bit_words(to->rows.n) * sizeof(uint64_t));
	return DTX_OK;
}

static enum dtx_code walk_all(const struct dtx_row_lineage *k, const json_t *walks, int64_t row,
                              struct lineage_walk *walk, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *via;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)walks, i, via)
	{
		int64_t from = dtx_json_int(via, "from", -1);

		if (from >= (int64_t)i || (from < 0) != !i) {
			rc = lineage_damaged(err);
			goto out;
		}
		if (i)
			DTX_TRY(walk_step(k, via, &walk[from], &walk[i], err));
		if (i)
			DTX_TRY(walk_unless(via, walk, &walk[i], i, err));
		else
			DTX_TRY(walk_start(k, row, &walk[i], err));
	}
out:
	return rc;
}

static enum dtx_code walk_input(const json_t *of, const struct lineage_walk *walk, size_t nwalks,
                                struct dtx_row_lineage_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t w = dtx_json_int(of, "walk", -1), input = dtx_json_int(of, "input", -1);
	const int64_t *col = NULL;
	struct lineage_set rows = { .n = 0 };

	if (w >= 0 && (size_t)w < nwalks)
		col = lineage_bit(walk[w].list, input);
	if (!col) {
		rc = lineage_damaged(err);
		goto out;
	}
	if (!lineage_numbers(walk[w].list, col, &walk[w].rows, &rows))
		DTX_FAIL_MEM(err);
	out->rows[out->nrows++] =
		(struct dtx_row_lineage_rows){ (uint32_t)input, json_object_get(of, "direct"),
		                               rows.bit, rows.n };
out:
	return rc;
}

enum dtx_code dtx_row_lineage_why(const struct dtx_row_lineage *k, const char *column, int64_t row,
                                  struct dtx_row_lineage_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *how = json_object_get(json_object_get(k->head, "columns"), column);
	const json_t *walks = json_object_get(how, "walks"),
		     *inputs = json_object_get(how, "inputs");
	size_t n = json_array_size(walks), i;
	struct lineage_walk *walk = dtx_mem_zalloc(n + 1, sizeof(*walk));

	*out = (struct dtx_row_lineage_answer){ .wide = dtx_json_bool(how, "wide", false),
		                                .borrowed = dtx_json_bool(how, "borrowed", false),
		                                .longer = dtx_json_bool(how, "longer", false) };
	out->rows = dtx_mem_zalloc(json_array_size(inputs) + 1, sizeof(*out->rows));
	if (!walk || !out->rows)
		DTX_FAIL_MEM(err);
	if (!n)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "no row numbers are stored for column '%s'",
		         column);
	DTX_TRY(walk_all(k, walks, row, walk, err));
	for (i = 0; i < json_array_size(inputs); i++)
		DTX_TRY(walk_input(json_array_get(inputs, i), walk, n, out, err));
out:
	for (i = 0; walk && i < n; i++)
		set_clear(&walk[i].rows);
	dtx_mem_free(walk);
	return rc;
}

void dtx_row_lineage_answer_clear(struct dtx_row_lineage_answer *a)
{
	for (size_t i = 0; i < a->nrows; i++)
		dtx_mem_free(a->rows[i].row);
	dtx_mem_free(a->rows);
	*a = (struct dtx_row_lineage_answer){ .nrows = 0 };
}

const struct dtx_row_lineage_list *dtx_row_lineage_places(const struct dtx_row_lineage *k,
                                                          uint32_t input)
{
	for (uint32_t i = 0; i < k->nlists; i++) {
		if (!strcmp(k->list[i].kind, "places") && k->list[i].input == (int64_t)input &&
		    k->list[i].ncols)
			return &k->list[i];
	}
	return NULL;
}

const char *dtx_row_lineage_prefix(const struct dtx_row_lineage *k, uint32_t input,
                                   const char *column)
{
	const json_t *of = json_array_get(json_object_get(k->head, "inputs"), input);

	return dtx_json_text(json_object_get(of, "prefix"), column, "L");
}

/* --- on --- */

/* The rows that came from the followed one. */
struct lineage_on {
	struct lineage_set reach[LINEAGE_BITS];
	uint64_t own; /* bits of the numbers of the row itself or of copies of it, not of groups */
};

/* By which columns of a list to follow rows. Numbers of the row itself identify it, so they are
 * preferred. The number of a group only says what the row went into; the latest one is enough. */
static uint64_t on_columns(const struct lineage_on *on, const struct dtx_row_lineage_list *l,
                           const int64_t *col[LINEAGE_BITS])
{
	uint64_t bits = 0;

	for (uint32_t b = 0; b < LINEAGE_BITS; b++) {
		col[b] = (int64_t)b != l->bit && on->reach[b].bit ? lineage_bit(l, b) : NULL;
		bits |= col[b] ? (uint64_t)1 << b : 0;
	}
	if (bits & on->own)
		bits &= on->own;
	else if (bits)
		bits = (uint64_t)1 << (LINEAGE_BITS - 1 - __builtin_clzll(bits));
	for (uint32_t b = 0; b < LINEAGE_BITS; b++)
		col[b] = bits >> b & 1 ? col[b] : NULL;
	return bits;
}

/* Whether row i of a list came from a row that has been reached. */
static bool on_reached(const struct lineage_on *on, const int64_t *const *col, size_t i)
{
	for (uint32_t b = 0; b < LINEAGE_BITS; b++) {
		if (col[b] && set_has(&on->reach[b], col[b][i]))
			return true;
	}
	return false;
}

/* Adds the results of a step that reached rows went into, and counts them. */
static enum dtx_code on_made(struct lineage_on *on, const struct dtx_row_lineage_list *l,
                             int64_t *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const int64_t *col[LINEAGE_BITS], *made = lineage_bit(l, l->bit);
	uint64_t bits = on_columns(on, l, col);

	if (!bits)
		goto out;
	if (l->bit < 0 || l->bit >= LINEAGE_BITS || !made || on->reach[l->bit].bit) {
		rc = lineage_damaged(err);
		goto out;
	}
	if (!set_init(&on->reach[l->bit], lineage_most(made, l->n) + 1))
		DTX_FAIL_MEM(err);
	if (bits & on->own && !strcmp(l->kind, "copy"))
		on->own |= (uint64_t)1 << l->bit;
	*count = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (made[i] < 1 || !on_reached(on, col, i))
			continue;
		*count += !dtx_bit(on->reach[l->bit].bit, (size_t)made[i]);
		dtx_bit_set(on->reach[l->bit].bit, (size_t)made[i]);
	}
out:
	return rc;
}

static void on_left(const struct lineage_on *on, const struct dtx_row_lineage_list *l,
                    int64_t *count, json_t *results)
{
	const int64_t *col[LINEAGE_BITS];

	(void)on_columns(on, l, col);
	*count = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (!on_reached(on, col, i))
			continue;
		++*count;
		if (results)
			json_array_append_new(results, json_integer((json_int_t)i + 1));
	}
}

/* Collects the result rows that are the followed row; if there are any, also those of groups with
 * it. */
static void on_result(const struct lineage_on *on, const struct dtx_row_lineage_list *l,
                      json_t *rows, json_t *groups)
{
	const int64_t *col[LINEAGE_BITS];
	uint64_t own = on->own;
	int64_t all;

	on_left(on, l, &all, rows);
	if (!(on_columns(on, l, col) & own))
		return;
	for (uint32_t b = 0; b < LINEAGE_BITS; b++)
		col[b] = on->reach[b].bit && !(own >> b & 1) ? lineage_bit(l, b) : NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (on_reached(on, col, i))
			json_array_append_new(groups, json_integer((json_int_t)i + 1));
	}
}

/* Whether rows of this input only let other rows stay (in a semi join). Such a row has no number in
 * the result. */
static bool on_lets(const struct dtx_row_lineage *k, uint32_t input)
{
	for (uint32_t i = 0; i < k->nlists; i++) {
		if (!strcmp(k->list[i].kind, "let") && lineage_bit(&k->list[i], input))
			return true;
	}
	return false;
}

enum dtx_code dtx_row_lineage_follow(const struct dtx_row_lineage *k, uint32_t input,
                                     int64_t number, int64_t *counts, size_t nsteps,
                                     json_t **results, json_t **through, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lineage_on on = { .own = input < LINEAGE_BITS ? (uint64_t)1 << input : 0 };
	json_t *rows = json_array(), *groups = json_array();
	size_t i;

	for (i = 0; i < nsteps; i++)
		counts[i] = -1;
	if (on_lets(k, input))
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "no row numbers are stored for this input: its rows only decide which "
		         "rows of other inputs stay");
	for (i = 0; i < k->nlists; i++) {
		if (!strcmp(k->list[i].kind, "whole"))
			DTX_FAIL(err, DTX_E_NO_TRANSLATION,
			         "rows cannot be followed through a step that works on the whole "
			         "table");
	}
	if (input >= LINEAGE_BITS || number < 1)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "no numbers are stored for row %lld of input %u", (long long)number,
		         input + 1);
	if (!rows || !groups || !set_init(&on.reach[input], (size_t)number + 1))
		DTX_FAIL_MEM(err);
	dtx_bit_set(on.reach[input].bit, (size_t)number);
	for (i = 0; i < k->nlists; i++) {
		if (dtx_str_in_list("made,copy", k->list[i].kind) &&
		    (size_t)k->list[i].step < nsteps)
			DTX_TRY(on_made(&on, &k->list[i], &counts[k->list[i].step], err));
	}
	for (i = 0; i < k->nlists; i++) {
		if (!strcmp(k->list[i].kind, "left") && (size_t)k->list[i].step < nsteps)
			on_left(&on, &k->list[i], &counts[k->list[i].step], NULL);
		else if (!strcmp(k->list[i].kind, "result"))
			on_result(&on, &k->list[i], rows, groups);
	}
	*results = rows;
	*through = groups;
	rows = groups = NULL;
out:
	for (i = 0; i < LINEAGE_BITS; i++)
		set_clear(&on.reach[i]);
	json_decref(rows);
	json_decref(groups);
	return rc;
}
