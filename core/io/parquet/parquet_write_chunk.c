/* Makes the pages of a column in a row group, and its statistics. See parquet_write.h. */
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/io/parquet/parquet_write.h"

/* A page ends after so many rows, or where its texts have so many bytes. */
#define PAGE_ROWS  ((uint32_t)1 << 17)
#define PAGE_BYTES ((uint64_t)1 << 20)
#define PAGE_MAX   ((size_t)INT32_MAX)

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

/* --- statistics --- */

static bool keep(struct dtx_pqw_chunk *out, const void *least, size_t nleast, const void *greatest,
                 size_t ngreatest)
{
	if (nleast > DTX_PQW_STAT_MAX || ngreatest > DTX_PQW_STAT_MAX)
		return false;
	memcpy(out->least, least, nleast);
	memcpy(out->greatest, greatest, ngreatest);
	out->nleast = (uint8_t)nleast;
	out->ngreatest = (uint8_t)ngreatest;
	return true;
}

static bool range_bool(const char *v, size_t n, struct dtx_pqw_chunk *out)
{
	char least = memchr(v, 0, n) == NULL, greatest = memchr(v, 1, n) != NULL;

	return keep(out, &least, 1, &greatest, 1);
}

static bool range_i32(const char *v, size_t n, struct dtx_pqw_chunk *out)
{
	int32_t least = INT32_MAX, greatest = INT32_MIN, a;

	for (size_t i = 0; i < n; i++) {
		memcpy(&a, v + 4 * i, 4);
		least = DTX_MIN(least, a);
		greatest = DTX_MAX(greatest, a);
	}
	return keep(out, &least, 4, &greatest, 4);
}

static bool range_i64(const char *v, size_t n, struct dtx_pqw_chunk *out)
{
	int64_t least = INT64_MAX, greatest = INT64_MIN, a;

	for (size_t i = 0; i < n; i++) {
		memcpy(&a, v + 8 * i, 8);
		least = DTX_MIN(least, a);
		greatest = DTX_MAX(greatest, a);
	}
	return keep(out, &least, 8, &greatest, 8);
}

/* dtx has no NaN. A least value of zero is written as -0.0, which some programs order before 0.0,
 * as the format asks for. */
static bool range_f64(const char *v, size_t n, struct dtx_pqw_chunk *out)
{
	double least, greatest, a;

	memcpy(&least, v, 8);
	greatest = least;
	for (size_t i = 1; i < n; i++) {
		memcpy(&a, v + 8 * i, 8);
		least = DTX_MIN(least, a);
		greatest = DTX_MAX(greatest, a);
	}
	least = least == 0 ? -0.0 : least;
	greatest = greatest == 0 ? 0.0 : greatest;
	return keep(out, &least, 8, &greatest, 8);
}

static int fixed_order(const char *a, const char *b, uint32_t width)
{
	if ((*a ^ *b) & 0x80)
		return *a & 0x80 ? -1 : 1;
	return memcmp(a, b, width);
}

static bool range_fixed(const char *v, size_t n, uint32_t width, struct dtx_pqw_chunk *out)
{
	const char *least = v, *greatest = v;

	for (size_t i = 1; i < n; i++) {
		v += width;
		least = fixed_order(v, least, width) < 0 ? v : least;
		greatest = fixed_order(v, greatest, width) > 0 ? v : greatest;
	}
	return keep(out, least, width, greatest, width);
}

static int text_order(struct dtx_str a, struct dtx_str b)
{
	int order = memcmp(a.ptr, b.ptr, DTX_MIN(a.len, b.len));

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Texts are ordered by their bytes. `lengths` are those of the texts, one after the other; NULL:
 * each is before its text. */
static bool range_text(const char *lengths, const char *p, size_t n, struct dtx_pqw_chunk *out)
{
	struct dtx_str least = { 0 }, greatest = { 0 }, s;
	uint32_t len;

	for (size_t i = 0; i < n; i++) {
		memcpy(&len, lengths ? lengths + 4 * i : p, 4);
		p += lengths ? 0 : 4;
		s = (struct dtx_str){ p, len };
		least = !i || text_order(s, least) < 0 ? s : least;
		greatest = !i || text_order(s, greatest) > 0 ? s : greatest;
		p += len;
	}
	return keep(out, least.ptr, least.len, greatest.ptr, greatest.len);
}

/* Finds the least and the greatest value, of the entries of a dictionary where there is one. */
static bool find_range(const struct dtx_pqw_column *c, const struct dtx_pqw_dict *d,
                       struct dtx_pqw_chunk *out)
{
	const char *v = d ? d->plain.ptr : c->fixed.ptr;
	size_t n = d ? d->n : c->values;

	if (!n)
		return false;
	switch (c->type.kind) {
	case DTX_PQW_BOOL: return range_bool(v, n, out);
	case DTX_PQW_I32: return range_i32(v, n, out);
	case DTX_PQW_I64: return range_i64(v, n, out);
	case DTX_PQW_F64: return range_f64(v, n, out);
	case DTX_PQW_FIXED: return range_fixed(v, n, c->type.width, out);
	default:
		if (d)
			return range_text(NULL, v, n, out);
		return range_text(v, c->bytes.ptr ? c->bytes.ptr : "", n, out);
	}
}

/* --- pages --- */

struct maker {
	const struct dtx_pqw_column *c;
	const struct dtx_pqw_dict *dict; /* NULL: the values themselves are written */
	enum dtx_pqw_encoding encoding;  /* of pages that have values */
	struct dtx_pqw_packer packer;
	struct dtx_pqw_chunk *out;
	struct dtx_buf raw;  /* the page that is being made */
	uint32_t *level;     /* of its rows */
	uint32_t row, value; /* where it begins, */
	uint64_t byte;       /* also in the bytes of texts */
};

/* Packs the page in m->raw and appends it with its head. */
static enum dtx_code put_page(struct maker *m, int32_t type, int32_t values,
                              enum dtx_pqw_encoding encoding, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf *to = &m->out->pages;
	struct dtx_thrift_out o = dtx_thrift_out_of(to);
	struct dtx_str packed;
	size_t at = to->len;

	DTX_TRY(dtx_buf_check(&m->raw, "a page", err));
	DTX_TRY(dtx_pqw_pack(&m->packer, dtx_buf_str(&m->raw), &packed, err));
	if (packed.len > PAGE_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "a page of a Parquet file has at most 2 GB");
	dtx_thrift_item_open(&o);
	dtx_thrift_put_i32(&o, 1, type);
	dtx_thrift_put_i32(&o, 2, (int32_t)m->raw.len);
	dtx_thrift_put_i32(&o, 3, (int32_t)packed.len);
	dtx_thrift_put_open(&o, type == DATA_PAGE ? 5 : 7);
	dtx_thrift_put_i32(&o, 1, values);
	dtx_thrift_put_i32(&o, 2, (int32_t)encoding);
	if (type == DATA_PAGE) {
		dtx_thrift_put_i32(&o, 3, DTX_PQW_RLE);
		dtx_thrift_put_i32(&o, 4, DTX_PQW_RLE);
	}
	dtx_thrift_put_close(&o);
	dtx_thrift_put_close(&o);
	m->out->unpacked += to->len - at + m->raw.len;
	m->out->encodings |= 1u << encoding;
	dtx_buf_adds(to, packed);
	DTX_TRY(dtx_buf_check(to, "a row group", err));
out:
	return rc;
}

static uint32_t text_length(const struct maker *m, uint32_t value)
{
	uint32_t len;

	memcpy(&len, m->c->fixed.ptr + 4 * (size_t)value, 4);
	return len;
}

static uint32_t is_valid(const struct dtx_pqw_column *c, uint32_t row)
{
	return c->valid.len ? (uint8_t)c->valid.ptr[row] : 1;
}

/* How many rows the next page has. */
static uint32_t page_rows(const struct maker *m)
{
	uint32_t most = DTX_MIN(m->c->rows - m->row, PAGE_ROWS), n, value = m->value;
	uint64_t bytes = 0;

	if (m->dict || m->c->type.kind != DTX_PQW_TEXT)
		return most;
	for (n = 0; n < most && bytes < PAGE_BYTES; n++)
		if (is_valid(m->c, m->row + n))
			bytes += 4 + text_length(m, value++);
	return n;
}

/* Appends the levels of n rows, after their length; returns how many rows have a value. */
static uint32_t put_levels(struct maker *m, uint32_t n)
{
	size_t at = m->raw.len;
	uint32_t values = 0, len;

	for (uint32_t i = 0; i < n; i++)
		values += m->level[i] = is_valid(m->c, m->row + i);
	dtx_buf_addn(&m->raw, &at, 4); /* its room */
	dtx_pqw_runs(&m->raw, m->level, n, 1);
	if (!dtx_buf_ok(&m->raw))
		return 0;
	len = (uint32_t)(m->raw.len - at - 4);
	memcpy(m->raw.ptr + at, &len, 4);
	return values;
}

static void put_texts(struct maker *m, uint32_t n)
{
	const char *p = m->c->bytes.ptr + m->byte;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = text_length(m, m->value + i);

		dtx_buf_addn(&m->raw, &len, 4);
		dtx_buf_addn(&m->raw, p, len);
		p += len;
		m->byte += len;
	}
}

static void put_values(struct maker *m, uint32_t n)
{
	uint32_t width = m->c->type.width;
	const char *v = m->c->fixed.ptr + (size_t)m->value * width;
	unsigned bits;

	if (m->dict) {
		/* some readers take no width of 0 */
		bits = DTX_MAX(1, dtx_pqw_width(m->dict->n - 1));
		dtx_buf_addc(&m->raw, (char)bits);
		dtx_pqw_runs(&m->raw, m->dict->code + m->value, n, bits);
	} else if (m->encoding == DTX_PQW_DELTA) {
		dtx_pqw_delta(&m->raw, v, n, width);
	} else if (m->c->type.kind == DTX_PQW_TEXT) {
		put_texts(m, n);
	} else if (m->c->type.kind == DTX_PQW_BOOL) {
		dtx_pqw_bits(&m->raw, (const uint8_t *)v, n);
	} else {
		dtx_buf_addn(&m->raw, v, (size_t)n * width);
	}
	m->value += n;
}

static enum dtx_code put_data_page(struct maker *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = page_rows(m), values;

	DTX_TRY(dtx_cancel_look(err));
	dtx_buf_reset(&m->raw);
	values = put_levels(m, n);
	if (values)
		put_values(m, values);
	DTX_TRY(put_page(m, DATA_PAGE, (int32_t)n, values ? m->encoding : DTX_PQW_PLAIN, err));
	m->row += n;
out:
	return rc;
}

/* --- chunks --- */

/* How many bytes the values take without a dictionary; finds the encoding that takes them. */
static uint64_t plain_size(const struct dtx_pqw_column *c, enum dtx_pqw_encoding *encoding)
{
	uint64_t plain = (uint64_t)c->values * c->type.width + c->bytes.len, delta;

	*encoding = DTX_PQW_PLAIN;
	if (c->type.kind != DTX_PQW_I32 && c->type.kind != DTX_PQW_I64)
		return plain;
	delta = dtx_pqw_delta_size(c->fixed.ptr, c->values, c->type.width);
	if (delta >= plain)
		return plain;
	*encoding = DTX_PQW_DELTA;
	return delta;
}

static enum dtx_code put_dictionary(struct maker *m, struct dtx_err *err)
{
	m->out->has_dict = true;
	m->encoding = DTX_PQW_DICT;
	dtx_buf_reset(&m->raw);
	dtx_buf_addn(&m->raw, m->dict->plain.ptr, m->dict->plain.len);
	return put_page(m, DICTIONARY_PAGE, (int32_t)m->dict->n, DTX_PQW_PLAIN, err);
}

enum dtx_code dtx_pqw_chunk_make(const struct dtx_pqw_column *c, const struct dtx_pqw_codec *codec,
                                 struct dtx_pqw_chunk *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct maker m = { .c = c, .out = out, .raw = DTX_BUF_INIT(PAGE_MAX) };
	struct dtx_pqw_dict dict = { .plain = DTX_BUF_INIT(0) };
	bool pays = false;
	uint64_t size;

	*out = (struct dtx_pqw_chunk){ .pages = DTX_BUF_INIT(SIZE_MAX / 2),
		                       .rows = c->rows,
		                       .nulls = c->rows - c->values,
		                       .encodings = 1u << DTX_PQW_RLE };
	DTX_TRY(dtx_pqw_packer_init(&m.packer, codec, err));
	m.level = dtx_mem_alloc(DTX_MIN(c->rows, PAGE_ROWS), sizeof(*m.level));
	if (!m.level)
		DTX_FAIL_MEM(err);
	size = plain_size(c, &m.encoding);
	if (c->type.kind != DTX_PQW_BOOL)
		DTX_TRY(dtx_pqw_dict_make(c, size, &dict, &pays, err));
	m.dict = pays ? &dict : NULL;
	out->has_range = find_range(c, m.dict, out);
	if (pays)
		DTX_TRY(put_dictionary(&m, err));
	out->data_at = out->pages.len;
	while (m.row < c->rows)
		DTX_TRY(put_data_page(&m, err));
out:
	dtx_pqw_packer_clear(&m.packer);
	dtx_pqw_dict_clear(&dict);
	dtx_mem_free(m.level);
	dtx_buf_clear(&m.raw);
	return rc;
}

void dtx_pqw_chunk_clear(struct dtx_pqw_chunk *c)
{
	dtx_buf_clear(&c->pages);
}
