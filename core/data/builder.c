/* Values go into one aligned array that doubles when it is full.  The validity bits are made when
 * the first null is added.
 *
 * An add cannot fail visibly: if memory runs out, `failed` is set, later calls do nothing, and
 * dtx_builder_finish reports it.  Callers therefore need no check per value. */
#include "core/data/builder.h"

#include "core/base/memory/arena.h"
#include "core/base/memory/mem.h"

/* Limit in rows, low enough that doubling it does not overflow a uint32_t. */
#define BUILDER_MAX (UINT32_MAX / 4)

static size_t builder_width(enum dtx_type type)
{
	static const uint8_t width[DTX_TYPE_COUNT] = {
		[DTX_T_INT64] = 8, [DTX_T_FLOAT64] = 8,  [DTX_T_DECIMAL] = 16,
		[DTX_T_DATE] = 4,  [DTX_T_DATETIME] = 8, [DTX_T_TEXT] = 16,
	};

	return width[type];
}

/* Bytes of n rows. */
static size_t builder_bytes(const struct dtx_builder *b, size_t n)
{
	return b->type.type == DTX_T_BOOL ? dtx_bit_words(n) * 8 : n * builder_width(b->type.type);
}

void dtx_builder_init(struct dtx_builder *b, struct dtx_typeref type, uint32_t hint)
{
	memset(b, 0, sizeof(*b));
	b->type = type;
	b->cap = hint;
}

void dtx_builder_clear(struct dtx_builder *b)
{
	struct dtx_arena text = { b->text_head, b->text_spare, b->text_used };

	dtx_arena_clear(&text);
	dtx_mem_free(b->values);
	dtx_mem_free(b->valid);
	dtx_builder_init(b, b->type, 0);
}

static bool builder_bits_grow(uint64_t **bits, uint32_t len, uint32_t cap)
{
	uint64_t *more = dtx_mem_zalloc(dtx_bit_words(cap), sizeof(*more));

	if (!more)
		return false;
	memcpy(more, *bits, dtx_bit_words(len) * sizeof(*more));
	dtx_mem_free(*bits);
	*bits = more;
	return true;
}

static bool builder_grow(struct dtx_builder *b)
{
	uint32_t cap = b->values ? b->cap * 2 : DTX_MAX(b->cap, 64u);
	void *values;

	if (b->cap > BUILDER_MAX)
		return false;
	values = dtx_mem_alloc64(builder_bytes(b, cap), 1);
	if (!values)
		return false;
	if (b->values)
		memcpy(values, b->values, builder_bytes(b, b->len));
	if (b->type.type == DTX_T_BOOL)
		memset((char *)values + builder_bytes(b, b->len), 0,
		       builder_bytes(b, cap) - builder_bytes(b, b->len));
	dtx_mem_free(b->values);
	b->values = values;
	if (b->valid && !builder_bits_grow(&b->valid, b->len, cap))
		return false;
	b->cap = cap;
	return true;
}

/* Makes room for one more row. */
static inline bool builder_room(struct dtx_builder *b)
{
	if (DTX_LIKELY(b->values && b->len < b->cap))
		return !b->failed;
	if (!b->failed && !builder_grow(b))
		b->failed = true;
	return !b->failed;
}

/* Counts a row whose value was stored as present. */
static inline void builder_done(struct dtx_builder *b)
{
	if (b->valid)
		dtx_bit_set(b->valid, b->len);
	b->len++;
}

static bool builder_valid(struct dtx_builder *b)
{
	uint32_t i;

	if (b->valid)
		return true;
	b->valid = dtx_mem_zalloc(dtx_bit_words(b->cap), sizeof(*b->valid));
	if (!b->valid)
		return false;
	memset(b->valid, 0xff, b->len / 64 * 8);
	for (i = b->len / 64 * 64; i < b->len; i++)
		dtx_bit_set(b->valid, i);
	return true;
}

void dtx_builder_null(struct dtx_builder *b)
{
	size_t width = builder_width(b->type.type);

	if (!builder_room(b))
		return;
	if (!builder_valid(b)) {
		b->failed = true;
		return;
	}
	memset((char *)b->values + b->len * width, 0, width);
	b->nulls++;
	b->len++;
}

void dtx_builder_bool(struct dtx_builder *b, bool v)
{
	if (!builder_room(b))
		return;
	if (v)
		dtx_bit_set(b->values, b->len);
	builder_done(b);
}

void dtx_builder_i64(struct dtx_builder *b, int64_t v)
{
	if (!builder_room(b))
		return;
	((int64_t *)b->values)[b->len] = v;
	builder_done(b);
}

void dtx_builder_day(struct dtx_builder *b, int32_t v)
{
	if (!builder_room(b))
		return;
	((int32_t *)b->values)[b->len] = v;
	builder_done(b);
}

void dtx_builder_f64(struct dtx_builder *b, double v)
{
	if (!builder_room(b))
		return;
	((double *)b->values)[b->len] = v + 0.0; /* -0.0 + 0.0 is 0.0 */
	builder_done(b);
}

void dtx_builder_dec(struct dtx_builder *b, struct dtx_dec128 v)
{
	if (!builder_room(b))
		return;
	((struct dtx_dec128 *)b->values)[b->len] = v;
	builder_done(b);
}

struct dtx_text dtx_builder_keep(struct dtx_builder *b, struct dtx_str v)
{
	struct dtx_arena text = { b->text_head, b->text_spare, b->text_used };
	char *copy;

	if (v.len <= DTX_TEXT_INLINE)
		return dtx_text_of(v.ptr, v.len);
	copy = v.len < UINT32_MAX ? dtx_arena_pack(&text, v.ptr, v.len) : NULL;
	b->text_head = text.head;
	b->text_used = text.used;
	if (!copy) {
		b->failed = true;
		return dtx_text_of("", 0);
	}
	return dtx_text_of(copy, v.len);
}

void dtx_builder_text(struct dtx_builder *b, struct dtx_str v)
{
	struct dtx_text t = dtx_builder_keep(b, v);

	if (!builder_room(b))
		return;
	((struct dtx_text *)b->values)[b->len] = t;
	builder_done(b);
}

void dtx_builder_text_borrow(struct dtx_builder *b, struct dtx_str v)
{
	if (!builder_room(b))
		return;
	((struct dtx_text *)b->values)[b->len] = dtx_text_of(v.ptr, v.len);
	builder_done(b);
}

void dtx_builder_copy(struct dtx_builder *b, const struct dtx_column *from, uint32_t row)
{
	if (dtx_column_is_null(from, row)) {
		dtx_builder_null(b);
		return;
	}
	if (b->type.type == DTX_T_TEXT) {
		dtx_builder_text(b, dtx_column_text(from, row));
		return;
	}
	if (from->form == DTX_F_CONST)
		row = 0;
	switch (b->type.type) {
	case DTX_T_BOOL: dtx_builder_bool(b, dtx_bit(from->v.bits, row)); break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: dtx_builder_i64(b, from->v.i64[row]); break;
	case DTX_T_FLOAT64: dtx_builder_f64(b, from->v.f64[row]); break;
	case DTX_T_DECIMAL: dtx_builder_dec(b, from->v.dec[row]); break;
	case DTX_T_DATE: dtx_builder_day(b, from->v.day[row]); break;
	default: dtx_builder_null(b); break;
	}
}

static void builder_rows_4(struct dtx_builder *b, const struct dtx_column *from,
                           const uint16_t *row, uint32_t n)
{
	int32_t *to = (int32_t *)b->values + b->len;
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = from->v.day[row[i]];
}

static void builder_rows_8(struct dtx_builder *b, const struct dtx_column *from,
                           const uint16_t *row, uint32_t n)
{
	int64_t *to = (int64_t *)b->values + b->len;
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = from->v.i64[row[i]];
}

static void builder_rows_f64(struct dtx_builder *b, const struct dtx_column *from,
                             const uint16_t *row, uint32_t n)
{
	double *to = (double *)b->values + b->len;
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = from->v.f64[row[i]] + 0.0; /* + 0.0 as in dtx_builder_f64 */
}

static void builder_rows_text(struct dtx_builder *b, const struct dtx_column *from,
                              const uint16_t *row, uint32_t n)
{
	struct dtx_text *to = (struct dtx_text *)b->values + b->len;
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct dtx_text *t = &from->v.text[row[i]];

		to[i] = t->len <= DTX_TEXT_INLINE ? *t : dtx_builder_keep(b, dtx_text_str(t));
	}
}

/* Types whose rows are copied in a loop, without a call per row. */
static bool builder_has_rows(enum dtx_type type)
{
	return type == DTX_T_TEXT || builder_width(type) == 4 || builder_width(type) == 8;
}

void dtx_builder_rows(struct dtx_builder *b, const struct dtx_column *from, const uint16_t *row,
                      uint32_t n)
{
	uint32_t i;

	if (from->form != DTX_F_FLAT || from->valid || b->valid ||
	    !builder_has_rows(b->type.type)) {
		for (i = 0; i < n; i++)
			dtx_builder_copy(b, from, row[i]);
		return;
	}
	while (!b->failed && (!b->values || b->cap - b->len < n))
		b->failed = !builder_grow(b);
	if (b->failed)
		return;
	if (b->type.type == DTX_T_TEXT)
		builder_rows_text(b, from, row, n);
	else if (b->type.type == DTX_T_FLOAT64)
		builder_rows_f64(b, from, row, n);
	else if (builder_width(b->type.type) == 4)
		builder_rows_4(b, from, row, n);
	else
		builder_rows_8(b, from, row, n);
	b->len += n;
}

void *dtx_builder_bulk(struct dtx_builder *b, uint32_t n)
{
	b->cap = n;
	if (!builder_room(b))
		return NULL;
	b->len = n;
	return b->values;
}

void dtx_builder_absent(struct dtx_builder *b, uint32_t row)
{
	if (!builder_valid(b)) {
		b->failed = true;
		return;
	}
	b->nulls += dtx_bit(b->valid, row);
	b->valid[row / 64] &= ~((uint64_t)1 << (row % 64));
}

static void builder_free_text(void *arg)
{
	dtx_arena_clear(arg);
	dtx_mem_free(arg);
}

/* An owner of the copied texts that also keeps `keep`.  *out is NULL if there is neither. */
static bool builder_own_text(struct dtx_builder *b, struct dtx_owner *keep, struct dtx_owner **out)
{
	struct dtx_arena *text;

	*out = dtx_owner_ref(keep);
	if (!b->text_head)
		return true;
	text = dtx_mem_alloc(1, sizeof(*text));
	if (!text)
		return false;
	*text = (struct dtx_arena){ b->text_head, b->text_spare, b->text_used };
	*out = dtx_owner_new(builder_free_text, text);
	if (!*out) {
		dtx_owner_unref(keep);
		dtx_mem_free(text);
		return false;
	}
	dtx_owner_keep(*out, keep);
	dtx_owner_unref(keep);
	b->text_head = b->text_spare = NULL;
	b->text_used = 0;
	return true;
}

enum dtx_code dtx_builder_finish(struct dtx_builder *b, struct dtx_owner *keep,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *text = NULL, *owner;
	void *block[2];
	struct dtx_column *c;

	if (b->failed)
		DTX_FAIL_MEM(err);
	if (!builder_own_text(b, keep, &text))
		DTX_FAIL_MEM(err);
	block[0] = b->values;
	block[1] = b->valid;
	b->values = b->valid = NULL;
	owner = dtx_owner_blocks(block, 2, text);
	if (!owner)
		DTX_FAIL_MEM(err);
	c = dtx_column_new(DTX_F_FLAT, b->type, b->len, owner);
	if (!c)
		DTX_FAIL_MEM(err);
	c->v.any = block[0];
	c->valid = block[1];
	c->nulls = b->nulls;
	c->apart = b->type.type == DTX_T_TEXT;
	*out = c;
out:
	dtx_owner_unref(text);
	dtx_builder_clear(b);
	return rc;
}
