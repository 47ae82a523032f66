/* The pages of a chunk, and its entries: what levels say of a value, and the value. */
#include "core/base/memory/mem.h"
#include "core/base/text/le.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/archive/inflate.h"
#include "core/io/parquet/parquet.h"
#include "core/io/parquet/thrift.h"

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_PAGE_2 = 3, LEVELS_OLD = 4, LEVELS_RLE = 3 };
/* Smaller pages may unpack as well as they like: equal texts of 10 MB fit into 1 KB. A page is in
 * memory once per column, and the memory of the process is limited. */
#define RATIO_FROM ((size_t)64 << 20)

/* The header of a page. */
struct page {
	int64_t type, unpacked, packed, crc, values, encoding;
	int64_t def_encoding, rep_encoding; /* of the first version */
	int64_t def_len, rep_len;           /* of the second one */
	bool has_crc, plain, has_header;
	const uint8_t *at; /* its bytes in the file */
};

enum dtx_code dtx_pq_corrupt(const struct dtx_pq_cursor *c, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (what == dtx_pq_no_memory)
		DTX_FAIL_MEM(err);
	if (what == dtx_pq_too_long) {
		rc = dtx_archive_limits_fail(err, c->f->limits, "text",
		                             "'%s': column '%.100s', row group %zu, page %lld: a "
		                             "text of more than %llu bytes",
		                             c->f->label, c->node->name, c->group,
		                             (long long)c->page,
		                             (unsigned long long)c->f->limits->text);
		goto out;
	}
	rc = dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	                 "'%s': column '%.100s', row group %zu, page %lld is damaged: %s",
	                 c->f->label, c->node->name, c->group, (long long)c->page, what);
out:
	return rc;
}

/* --- headers --- */

/* The header of a data page of either version, or of a dictionary: fields of the same number mean
 * different things. */
static void read_kind(struct dtx_thrift *t, struct page *p, int32_t kind)
{
	struct dtx_thrift_field f = { 0 };
	bool second = kind == 8;

	p->has_header = true;
	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		if (f.id == 1)
			p->values = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (f.id == (second ? 4 : 2))
			p->encoding = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (kind == 5 && f.id == 3)
			p->def_encoding = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (kind == 5 && f.id == 4)
			p->rep_encoding = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (second && f.id == 5)
			p->def_len = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (second && f.id == 6)
			p->rep_len = dtx_thrift_int(t, &f, 0, INT32_MAX);
		else if (second && f.id == 7)
			p->plain = !dtx_thrift_bool(t, &f);
		else
			dtx_thrift_skip(t, f.type);
	}
}

static void read_header(struct dtx_thrift *t, struct page *p)
{
	struct dtx_thrift_field f = { 0 };

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		switch (f.id) {
		case 1: p->type = dtx_thrift_int(t, &f, 0, INT32_MAX); break;
		case 2: p->unpacked = dtx_thrift_int(t, &f, 0, INT32_MAX); break;
		case 3: p->packed = dtx_thrift_int(t, &f, 0, INT32_MAX); break;
		case 4:
			p->crc = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX);
			p->has_crc = true;
			break;
		case 5:
		case 7:
		case 8: read_kind(t, p, f.id); break;
		default: dtx_thrift_skip(t, f.type);
		}
	}
}

/* Reads the header of the next page and checks where the page ends, and its checksum. */
static enum dtx_code next_header(struct dtx_pq_cursor *c, struct page *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_thrift t = dtx_thrift_of(c->f->bytes + c->at, (size_t)(c->end - c->at));

	*p = (struct page){ .type = -1, .unpacked = -1, .packed = -1 };
	c->page++;
	if (c->at == c->end) {
		rc = dtx_pq_corrupt(
			c, "the column ends before it, although the footer counts more values",
			err);
		goto out;
	}
	read_header(&t, p);
	if (!t.bad && (p->type < 0 || p->unpacked < 0 || p->packed < 0))
		dtx_thrift_fail(&t, "its header has no type or size");
	if (!t.bad && (uint64_t)p->packed > (uint64_t)(t.end - t.p))
		dtx_thrift_fail(&t, "it reaches beyond its column");
	if (t.bad) {
		rc = dtx_pq_corrupt(c, t.bad, err);
		goto out;
	}
	p->at = t.p;
	c->at += (uint64_t)(t.p - t.start) + (uint64_t)p->packed;
	if (p->has_crc && dtx_inflate_zlib.crc(0, p->at, (size_t)p->packed) != (uint32_t)p->crc)
		rc = dtx_pq_corrupt(c, "its checksum is wrong", err);
out:
	return rc;
}

/* --- unpacking --- */

/* Checks the size that a page says it unpacks to, before memory is taken for it. */
static enum dtx_code check_size(const struct dtx_pq_cursor *c, size_t packed, size_t size,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_archive_limits *l = c->f->limits;

	if (size > l->part)
		rc = dtx_archive_limits_fail(err, l, "part",
		                             "'%s': a page of column '%.100s' unpacks to %zu bytes",
		                             c->f->label, c->node->name, size);
	else if (size > RATIO_FROM && size / l->ratio > packed)
		rc = dtx_archive_limits_fail(err, l, "ratio",
		                             "'%s': a page of column '%.100s' unpacks from %zu "
		                             "bytes to %zu",
		                             c->f->label, c->node->name, packed, size);
	return rc;
}

/* Unpacks a page to *to, which the caller frees; or points *bytes into the file if it is not
 * packed. The first `keep` bytes of a page are never packed. */
static enum dtx_code unpack(struct dtx_pq_cursor *c, const struct page *p, size_t keep,
                            uint8_t **to, const uint8_t **bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t packed = (size_t)p->packed, size = (size_t)p->unpacked;

	if (keep > packed || keep > size) {
		rc = dtx_pq_corrupt(c, "its levels are longer than the page", err);
		goto out;
	}
	*bytes = p->at;
	if (!c->codec || p->plain) {
		if (packed != size)
			rc = dtx_pq_corrupt(c, "it is not packed, but has two sizes", err);
		goto out;
	}
	DTX_TRY(check_size(c, packed, size, err));
	*to = dtx_mem_alloc(size + 1, 1);
	if (!*to)
		DTX_FAIL_MEM(err);
	*bytes = *to;
	memcpy(*to, p->at, keep);
	if (size > keep || packed > keep) {
		const char *in = (const char *)p->at + keep;

		rc = dtx_pq_unpack(c->f, c->codec, (struct dtx_str){ in, packed - keep },
		                   *to + keep, size - keep, err);
		if (rc == DTX_E_CORRUPT_FILE)
			dtx_err_hint(err, "column '%.100s', row group %zu, page %lld",
			             c->node->name, c->group, (long long)c->page);
	}
out:
	return rc;
}

/* --- dictionaries --- */

static enum dtx_code read_dictionary(struct dtx_pq_cursor *c, const struct page *p,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *bytes = NULL;
	const char *bad = NULL;
	struct dtx_pq_decoder d = { .type = c->node->type, .width = c->node->width };
	static const unsigned least[] = { 1, 4, 8, 12, 4, 8, 4, 1 };

	if (c->has_dict || !p->has_header || (p->encoding != 0 && p->encoding != 2) ||
	    c->node->type == DTX_PQ_BOOLEAN) {
		rc = dtx_pq_corrupt(c, "it is a dictionary that cannot be here", err);
		goto out;
	}
	c->has_dict = true;
	DTX_TRY(unpack(c, p, 0, &c->dict.bytes, &bytes, err));
	/* so the array is at most 16 times as large as the page */
	if (p->values > p->unpacked / least[c->node->type]) {
		rc = dtx_pq_corrupt(c, "its dictionary has more values than bytes", err);
		goto out;
	}
	c->dict.n = (uint32_t)p->values;
	c->dict.v.any = dtx_mem_alloc((size_t)p->values + 1, DTX_PQ_VALUE_BYTES);
	if (!c->dict.v.any)
		DTX_FAIL_MEM(err);
	bad = dtx_pq_decoder_start(&d, 0, bytes, bytes + p->unpacked, (uint64_t)p->values);
	if (!bad)
		bad = dtx_pq_decode(&d, c->dict.v, c->dict.n);
	if (bad)
		rc = dtx_pq_corrupt(c, bad, err);
out:
	dtx_pq_decoder_clear(&d);
	return rc;
}

/* --- data pages --- */

static unsigned bits_for(unsigned most)
{
	return most ? 32 - (unsigned)__builtin_clz(most) : 0;
}

/* Begins levels of a page of the first version, which have their length before them. */
static const char *start_levels(struct dtx_pq_runs *r, unsigned most, int64_t encoding,
                                int64_t entries, const uint8_t **p, const uint8_t *end)
{
	unsigned width = bits_for(most);
	uint64_t n;

	*r = (struct dtx_pq_runs){ .width = width };
	if (!most)
		return NULL;
	if (encoding == LEVELS_OLD) {
		n = ((uint64_t)entries * width + 7) / 8;
		r->high_first = true;
	} else if (encoding != LEVELS_RLE || end - *p < 4) {
		return "its levels are in an unknown encoding, or missing";
	} else {
		n = dtx_le_u32(*p);
		*p += 4;
	}
	if (n > (uint64_t)(end - *p))
		return "its levels are longer than the page";
	r->p = *p;
	r->end = *p + n;
	*p += n;
	return NULL;
}

static const char *start_data(struct dtx_pq_cursor *c, const struct page *p, const uint8_t *bytes)
{
	const uint8_t *end = bytes + p->unpacked;
	const char *bad;

	if (p->type == DATA_PAGE) {
		bad = start_levels(&c->rep, c->node->max_rep, p->rep_encoding, p->values, &bytes,
		                   end);
		if (!bad)
			bad = start_levels(&c->def, c->node->max_def, p->def_encoding, p->values,
			                   &bytes, end);
		if (bad)
			return bad;
	} else {
		c->rep = (struct dtx_pq_runs){ .p = bytes,
			                       .end = bytes + p->rep_len,
			                       .width = bits_for(c->node->max_rep) };
		bytes += p->rep_len;
		c->def = (struct dtx_pq_runs){ .p = bytes,
			                       .end = bytes + p->def_len,
			                       .width = bits_for(c->node->max_def) };
		bytes += p->def_len;
	}
	c->values.dict = c->has_dict ? &c->dict : NULL;
	return dtx_pq_decoder_start(&c->values, (unsigned)p->encoding, bytes, end,
	                            (uint64_t)p->values);
}

/* Reads pages up to the next one with entries. */
static enum dtx_code next_page(struct dtx_pq_cursor *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *bytes = NULL;
	const char *bad = NULL;
	struct page p;

	while (!c->page_left) {
		DTX_TRY(next_header(c, &p, err));
		if (p.type == DICTIONARY_PAGE) {
			DTX_TRY(read_dictionary(c, &p, err));
			continue;
		}
		if (p.type != DATA_PAGE && p.type != DATA_PAGE_2)
			continue;
		if (!p.has_header)
			bad = "its header lacks the number of values";
		else if (p.values > c->left)
			bad = "it has more values than are left in its column";
		if (bad)
			break;
		dtx_mem_free(c->bytes);
		c->bytes = NULL;
		DTX_TRY(unpack(c, &p, (size_t)(p.def_len + p.rep_len), &c->bytes, &bytes, err));
		bad = start_data(c, &p, bytes);
		if (bad)
			break;
		c->page_left = p.values;
		c->left -= p.values;
	}
	if (bad)
		rc = dtx_pq_corrupt(c, bad, err);
out:
	return rc;
}

/* --- cursor --- */

enum dtx_code dtx_pq_cursor_open(struct dtx_pq_cursor *c, const struct dtx_pq_file *f, size_t group,
                                 uint32_t leaf, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_chunk *chunk = &f->group[group].chunk[leaf];

	*c = (struct dtx_pq_cursor){ .f = f,
		                     .node = &f->node[f->leaf_node[leaf]],
		                     .group = group,
		                     .at = chunk->at,
		                     .end = chunk->at + chunk->size,
		                     .left = chunk->entries,
		                     .page = -1,
		                     .codec = chunk->codec };
	c->values.type = c->node->type;
	c->values.width = c->node->width;
	c->values.text = f->limits->text;
	c->reps = dtx_mem_alloc(DTX_PQ_SLICE, sizeof(*c->reps));
	c->defs = dtx_mem_alloc(DTX_PQ_SLICE, sizeof(*c->defs));
	c->v.any = dtx_mem_alloc(DTX_PQ_SLICE, DTX_PQ_VALUE_BYTES);
	if (!c->reps || !c->defs || !c->v.any)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Reads n levels, none of which may be above `most`. */
static bool read_levels(struct dtx_pq_runs *r, unsigned most, uint32_t *to, uint32_t n)
{
	uint32_t i;

	if (!most) {
		memset(to, 0, n * sizeof(*to));
		return true;
	}
	if (!dtx_pq_runs_get(r, to, n))
		return false;
	for (i = 0; i < n; i++)
		if (to[i] > most)
			return false;
	return true;
}

enum dtx_code dtx_pq_cursor_page(struct dtx_pq_cursor *c, struct dtx_err *err)
{
	return c->page_left || !c->left ? DTX_OK : next_page(c, err);
}

uint32_t dtx_pq_cursor_whole(struct dtx_pq_cursor *c, uint32_t most)
{
	uint32_t n = c->page_left < most ? (uint32_t)c->page_left : most;

	if (c->node->max_def)
		n = (uint32_t)dtx_pq_runs_pass(&c->def, c->node->max_def, n);
	c->page_left -= n;
	return n;
}

enum dtx_code dtx_pq_cursor_levels(struct dtx_pq_cursor *c, uint32_t most, uint32_t *n,
                                   uint32_t *values, struct dtx_err *err)
{
	uint32_t i, max = c->node->max_def;

	*n = DTX_MIN(most, (uint32_t)DTX_PQ_SLICE);
	*n = c->page_left < *n ? (uint32_t)c->page_left : *n;
	*values = 0;
	if (!read_levels(&c->def, max, c->defs, *n))
		return dtx_pq_corrupt(c, "its levels end early, or are out of range", err);
	for (i = 0; i < *n; i++)
		*values += c->defs[i] == max;
	c->page_left -= *n;
	return DTX_OK;
}

enum dtx_code dtx_pq_cursor_slice(struct dtx_pq_cursor *c, uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bad;
	uint32_t values;

	c->n = c->at_entry = c->at_value = 0;
	most = DTX_MIN(most, dtx_pq_decoder_most(&c->values));
	c->n = values = dtx_pq_cursor_whole(c, most);
	c->whole = c->n > 0;
	if (!c->n)
		DTX_TRY(dtx_pq_cursor_levels(c, most, &c->n, &values, err));
	bad = dtx_pq_decode(&c->values, c->v, values);
	if (bad)
		rc = dtx_pq_corrupt(c, bad, err);
out:
	return rc;
}

enum dtx_code dtx_pq_cursor_fill(struct dtx_pq_cursor *c, uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bad = NULL;
	uint32_t n, values = 0, i;

	c->n = c->at_entry = c->at_value = 0;
	c->whole = false;
	DTX_TRY(dtx_pq_cursor_page(c, err));
	if (!c->page_left)
		goto out;
	n = DTX_MIN(most, dtx_pq_decoder_most(&c->values));
	n = c->page_left < n ? (uint32_t)c->page_left : n;
	if (!read_levels(&c->rep, c->node->max_rep, c->reps, n) ||
	    !read_levels(&c->def, c->node->max_def, c->defs, n))
		bad = "its levels end early, or are out of range";
	for (i = 0; i < n && !bad; i++)
		values += c->defs[i] == c->node->max_def;
	if (!bad)
		bad = dtx_pq_decode(&c->values, c->v, values);
	if (bad) {
		rc = dtx_pq_corrupt(c, bad, err);
		goto out;
	}
	c->page_left -= n;
	c->n = n;
out:
	return rc;
}

enum dtx_code dtx_pq_cursor_finish(struct dtx_pq_cursor *c, struct dtx_err *err)
{
	if (c->left || c->page_left || c->at_entry < c->n)
		return dtx_pq_corrupt(c, "it has more values than its row group has rows", err);
	return DTX_OK;
}

void dtx_pq_cursor_close(struct dtx_pq_cursor *c)
{
	dtx_pq_decoder_clear(&c->values);
	dtx_column_unref(c->dict.column);
	dtx_mem_free(c->dict.bytes);
	dtx_mem_free(c->dict.v.any);
	dtx_mem_free(c->bytes);
	dtx_mem_free(c->reps);
	dtx_mem_free(c->defs);
	dtx_mem_free(c->v.any);
	*c = (struct dtx_pq_cursor){ 0 };
}
