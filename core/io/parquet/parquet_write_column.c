/* Columns of a row group that is being filled: workers make blocks of the rows of batches, which
 * are then appended in order. See parquet_write.h. */
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/data/cast/decimal.h"
#include "core/io/parquet/parquet_write.h"

/* --- types --- */

/* Bytes that hold every number of so many digits. */
static uint32_t decimal_width(unsigned precision)
{
	dtx_i128 most = dtx_dec_pow10(precision) - 1;
	uint32_t width = 1;

	while (most >> (8 * width - 1))
		width++;
	return width;
}

struct dtx_pqw_type dtx_pqw_type_of(struct dtx_typeref t)
{
	switch (t.type) {
	case DTX_T_BOOL: return (struct dtx_pqw_type){ DTX_PQW_BOOL, 1 };
	case DTX_T_FLOAT64: return (struct dtx_pqw_type){ DTX_PQW_F64, 8 };
	case DTX_T_INT64:
	case DTX_T_DATETIME: return (struct dtx_pqw_type){ DTX_PQW_I64, 8 };
	case DTX_T_NULL:
	case DTX_T_DATE: return (struct dtx_pqw_type){ DTX_PQW_I32, 4 };
	case DTX_T_DECIMAL:
		if (t.precision <= 9)
			return (struct dtx_pqw_type){ DTX_PQW_I32, 4 };
		if (t.precision <= 18)
			return (struct dtx_pqw_type){ DTX_PQW_I64, 8 };
		return (struct dtx_pqw_type){ DTX_PQW_FIXED, decimal_width(t.precision) };
	default: return (struct dtx_pqw_type){ DTX_PQW_TEXT, sizeof(uint32_t) };
	}
}

/* --- columns --- */

void dtx_pqw_column_init(struct dtx_pqw_column *c, struct dtx_pqw_type type)
{
	*c = (struct dtx_pqw_column){ .type = type };
	dtx_buf_init(&c->valid, SIZE_MAX / 2);
	dtx_buf_init(&c->fixed, SIZE_MAX / 2);
	dtx_buf_init(&c->bytes, SIZE_MAX / 2);
}

void dtx_pqw_column_clear(struct dtx_pqw_column *c)
{
	dtx_buf_clear(&c->valid);
	dtx_buf_clear(&c->fixed);
	dtx_buf_clear(&c->bytes);
}

void dtx_pqw_column_reset(struct dtx_pqw_column *c)
{
	c->rows = c->values = 0;
	dtx_buf_reset(&c->valid);
	dtx_buf_reset(&c->fixed);
	dtx_buf_reset(&c->bytes);
}

/* --- blocks --- */

/* What comes before a column's rows in a block: one byte per row if `nulls`, the values that are
 * not null, and the bytes of texts. */
struct head {
	uint64_t nbytes;
	uint32_t values;
	uint32_t nulls; /* 1 or 0 */
};

/* The live rows of a batch that are not null. */
struct live {
	const struct dtx_column *c;
	const uint32_t *row;
	uint32_t n;
};

static void put_fixed(char *to, struct dtx_dec128 d, uint32_t width)
{
	dtx_u128 v = (dtx_u128)dtx_dec_get(d);

	for (uint32_t i = width; i-- > 0; v >>= 8)
		to[i] = (char)(v & 0xff);
}

static void add_numbers(const struct live *l, struct dtx_pqw_type type, char *to)
{
	const struct dtx_column *c = l->c;
	uint32_t i;

	if (c->type.type == DTX_T_DECIMAL) {
		for (i = 0; i < l->n; i++, to += type.width) {
			struct dtx_dec128 d = c->v.dec[l->row[i]];

			if (type.kind == DTX_PQW_FIXED)
				put_fixed(to, d, type.width);
			else
				memcpy(to, &d.lo, type.width); /* the low half comes first */
		}
	} else if (type.kind == DTX_PQW_BOOL) {
		for (i = 0; i < l->n; i++)
			to[i] = dtx_bit(c->v.bits, l->row[i]);
	} else if (type.width == 4) {
		for (i = 0; i < l->n; i++)
			memcpy(to + 4 * (size_t)i, &c->v.day[l->row[i]], 4);
	} else {
		for (i = 0; i < l->n; i++)
			memcpy(to + 8 * (size_t)i, &c->v.i64[l->row[i]], 8);
	}
}

static uint64_t count_bytes(const struct live *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->c->v.text[l->row[i]].len;
	return n;
}

/* Copies texts. DTX_TEXT_INLINE bytes after the last one may be written, so that a short text is
 * one move. */
static void add_texts(const struct live *l, char *lengths, char *to)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct dtx_text *t = &l->c->v.text[l->row[i]];

		memcpy(lengths + 4 * (size_t)i, &t->len, 4);
		if (t->len <= DTX_TEXT_INLINE)
			memcpy(to, (const char *)t + offsetof(struct dtx_text, head),
			       DTX_TEXT_INLINE);
		else
			memcpy(to, t->u.ptr, t->len);
		to += t->len;
	}
}

/* Lists the live rows that are not null in `row`, and marks them in `valid`; returns how many. */
static uint32_t find_live(const struct dtx_batch *b, const struct dtx_column *c, uint32_t *row,
                          char *valid)
{
	uint32_t n = 0, i, r;

	if (!valid) {
		for (i = 0; i < b->nsel; i++)
			row[i] = b->sel ? b->sel[i] : i;
		return b->nsel;
	}
	for (i = 0; i < b->nsel; i++) {
		r = b->sel ? b->sel[i] : i;
		row[n] = r;
		valid[i] = !dtx_column_is_null(c, r);
		n += valid[i] ? 1 : 0;
	}
	return n;
}

enum dtx_code dtx_pqw_block_add(const struct dtx_batch *b, struct dtx_column *value,
                                struct dtx_pqw_type type, struct dtx_buf *block,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *flat = NULL;
	struct head head = { 0 };
	uint32_t *row = dtx_mem_alloc(b->nsel, sizeof(*row));
	struct live live = { .row = row };
	size_t at = block->len, room = sizeof(head) + (size_t)b->nsel * (1 + type.width);
	char *to;

	if (!row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_column_flat(value, &flat, err));
	live.c = flat;
	dtx_buf_room(block, room);
	DTX_TRY(dtx_buf_check(block, "a batch of rows", err));
	head.nulls = flat->valid && flat->nulls;
	to = block->ptr + at + sizeof(head);
	head.values = live.n = find_live(b, flat, row, head.nulls ? to : NULL);
	to += head.nulls ? b->nsel : 0;
	if (type.kind != DTX_PQW_TEXT) {
		add_numbers(&live, type, to);
		block->len = (size_t)(to - block->ptr) + (size_t)live.n * type.width;
	} else {
		size_t lengths = (size_t)(to - block->ptr), texts = lengths + 4 * (size_t)live.n;

		head.nbytes = count_bytes(&live);
		dtx_buf_room(block, texts - at + head.nbytes + DTX_TEXT_INLINE);
		DTX_TRY(dtx_buf_check(block, "a batch of rows", err));
		add_texts(&live, block->ptr + lengths, block->ptr + texts);
		block->len = texts + head.nbytes;
	}
	memcpy(block->ptr + at, &head, sizeof(head));
out:
	dtx_column_unref(flat);
	dtx_mem_free(row);
	return rc;
}

void dtx_pqw_block_next(const char **block, uint32_t rows, struct dtx_pqw_type type,
                        struct dtx_pqw_rows *out)
{
	struct head head;
	const char *p = *block;

	memcpy(&head, p, sizeof(head));
	p += sizeof(head);
	*out = (struct dtx_pqw_rows){ .rows = rows, .nbytes = head.nbytes };
	if (head.nulls) {
		out->valid = (const uint8_t *)p;
		p += rows;
	}
	out->fixed = p;
	p += (size_t)head.values * type.width;
	out->bytes = p;
	*block = p + head.nbytes;
}

uint32_t dtx_pqw_rows_peek(struct dtx_pqw_rows *r, uint32_t row)
{
	uint32_t len;

	if (r->valid && !r->valid[row])
		return 0;
	memcpy(&len, r->fixed + 4 * (size_t)r->peeked++, sizeof(len));
	return len;
}

/* The validity of the next n rows, where the column has that of each row. */
static void take_valid(struct dtx_pqw_column *c, const struct dtx_pqw_rows *r, uint32_t n)
{
	bool nulls = r->valid && memchr(r->valid, 0, n);

	if (!c->valid.len && !nulls)
		return;
	if (!c->valid.len && dtx_buf_room(&c->valid, c->rows)) {
		memset(c->valid.ptr, 1, c->rows);
		c->valid.len = c->rows;
	}
	if (nulls) {
		dtx_buf_addn(&c->valid, r->valid, n);
	} else if (dtx_buf_room(&c->valid, n)) {
		memset(c->valid.ptr + c->valid.len, 1, n);
		c->valid.len += n;
	}
}

enum dtx_code dtx_pqw_take(struct dtx_pqw_column *c, struct dtx_pqw_rows *r, uint32_t n,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t values = n;
	uint64_t bytes = n == r->rows ? r->nbytes : 0;

	for (uint32_t i = 0; r->valid && i < n; i++)
		values -= !r->valid[i];
	r->peeked = 0;
	for (uint32_t i = 0; c->type.kind == DTX_PQW_TEXT && n < r->rows && i < n; i++)
		bytes += dtx_pqw_rows_peek(r, i);
	take_valid(c, r, n);
	dtx_buf_addn(&c->fixed, r->fixed, (size_t)values * c->type.width);
	dtx_buf_addn(&c->bytes, r->bytes, bytes);
	dtx_buf_room(&c->fixed, DTX_PQW_SLACK);
	dtx_buf_room(&c->bytes, DTX_PQW_SLACK);
	DTX_TRY(dtx_buf_check(&c->valid, "a row group", err));
	DTX_TRY(dtx_buf_check(&c->fixed, "a row group", err));
	DTX_TRY(dtx_buf_check(&c->bytes, "a row group", err));
	c->rows += n;
	c->values += values;
	r->rows -= n;
	r->valid = r->valid ? r->valid + n : NULL;
	r->fixed += (size_t)values * c->type.width;
	r->bytes += bytes;
	r->nbytes -= bytes;
out:
	return rc;
}

/* --- groups --- */

enum dtx_code dtx_pqw_group_init(struct dtx_pqw_group *g, const struct dtx_schema *schema,
                                 struct dtx_pqw_type (*type_of)(struct dtx_typeref),
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	g->column = dtx_mem_zalloc(schema->nfields, sizeof(*g->column));
	g->left = dtx_mem_zalloc(schema->nfields, sizeof(*g->left));
	if (!g->column || !g->left)
		DTX_FAIL_MEM(err);
	for (; g->ncols < schema->nfields; g->ncols++) {
		struct dtx_pqw_type type = type_of(schema->field[g->ncols].type);

		dtx_pqw_column_init(&g->column[g->ncols], type);
		g->row_bytes += type.width;
	}
out:
	return rc;
}

void dtx_pqw_group_clear(struct dtx_pqw_group *g)
{
	for (uint32_t i = 0; i < g->ncols; i++)
		dtx_pqw_column_clear(&g->column[i]);
	dtx_mem_free(g->column);
	dtx_mem_free(g->left);
	*g = (struct dtx_pqw_group){ 0 };
}

enum dtx_code dtx_pqw_group_block(const struct dtx_pqw_group *g, struct dtx_batch *b,
                                  struct dtx_buf *block, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *value;

	for (uint32_t i = 0; i < b->ncols; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_batch_value(b, i, &value, err));
		DTX_TRY(dtx_pqw_block_add(b, value, g->column[i].type, block, err));
	}
out:
	return rc;
}

/* How many of the next n rows fit into the group, at least one if it is empty; *bytes is what they
 * take. */
static uint32_t rows_that_fit(struct dtx_pqw_group *g, uint32_t n, uint64_t *bytes)
{
	uint32_t most = DTX_MIN(n, g->rows_max - g->column[0].rows), row, i;
	uint64_t texts = 0, size;

	for (i = 0; i < g->ncols; i++) {
		texts += g->left[i].nbytes;
		g->left[i].peeked = 0;
	}
	*bytes = (uint64_t)n * g->row_bytes + texts;
	if (most == n && g->bytes + *bytes <= g->bytes_max)
		return n;
	*bytes = 0;
	for (row = 0; row < most; row++) {
		size = g->row_bytes;
		for (i = 0; i < g->ncols; i++)
			if (g->column[i].type.kind == DTX_PQW_TEXT)
				size += dtx_pqw_rows_peek(&g->left[i], row);
		if (g->bytes + *bytes + size > g->bytes_max && (row || g->bytes))
			break;
		*bytes += size;
	}
	return row;
}

enum dtx_code dtx_pqw_group_put(struct dtx_pqw_group *g, uint32_t rows, const struct dtx_buf *block,
                                enum dtx_code (*full)(void *arg, struct dtx_err *err), void *arg,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *at = block->ptr;
	uint64_t bytes;
	uint32_t fit, i;

	for (i = 0; rows && i < g->ncols; i++)
		dtx_pqw_block_next(&at, rows, g->column[i].type, &g->left[i]);
	while (rows) {
		fit = rows_that_fit(g, rows, &bytes);
		for (i = 0; fit && i < g->ncols; i++)
			DTX_TRY(dtx_pqw_take(&g->column[i], &g->left[i], fit, err));
		g->bytes += bytes;
		rows -= fit;
		if (rows)
			DTX_TRY(full(arg, err));
	}
out:
	return rc;
}
