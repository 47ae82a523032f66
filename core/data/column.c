/* Columns: reference counting, gathering, slicing.
 *
 * A column is immutable and does not own its arrays: it holds a reference to an owner that does.  A
 * slice is therefore a new column over the same memory; only bits must be shifted and copied if the
 * slice does not begin at a word.  Gathering makes new arrays, but texts and spans still refer to
 * bytes that the old owner keeps. */
#include "core/data/column.h"

#include "core/base/memory/mem.h"
#include "core/data/builder.h"

struct dtx_column *dtx_column_new(enum dtx_form form, struct dtx_typeref type, uint32_t len,
                                  struct dtx_owner *owner)
{
	struct dtx_column *c = dtx_mem_zalloc(1, sizeof(*c));

	if (!c) {
		dtx_owner_unref(owner);
		return NULL;
	}
	atomic_init(&c->refs, 1);
	atomic_init(&c->typed, NULL);
	atomic_init(&c->printed, NULL);
	c->form = form;
	c->type = type;
	c->len = len;
	c->owner = owner;
	return c;
}

struct dtx_column *dtx_column_ref(struct dtx_column *c)
{
	if (c)
		atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

void dtx_column_unref(struct dtx_column *c)
{
	if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	dtx_column_unref(atomic_load_explicit(&c->typed, memory_order_relaxed));
	dtx_mem_free(atomic_load_explicit(&c->printed, memory_order_relaxed));
	dtx_column_unref(c->dict);
	dtx_owner_unref(c->owner);
	dtx_mem_free(c);
}

bool dtx_text_eq(const struct dtx_text *a, const struct dtx_text *b)
{
	if (memcmp(a, b, sizeof(a->len) + sizeof(a->head)) != 0)
		return false;
	if (a->len <= DTX_TEXT_INLINE)
		return memcmp(a->u.tail, b->u.tail, sizeof(a->u.tail)) == 0;
	return a->u.ptr == b->u.ptr || memcmp(a->u.ptr, b->u.ptr, a->len) == 0;
}

struct dtx_str dtx_column_text(const struct dtx_column *c, uint32_t row)
{
	if (c->form == DTX_F_DICT)
		return dtx_text_str(&c->dict->v.text[c->v.code[row]]);
	return dtx_text_str(&c->v.text[c->form == DTX_F_CONST ? 0 : row]);
}

/* Bytes of a value in the array of a FLAT or CONST column; 0 if it has bits or no array. */
static size_t column_type_width(enum dtx_type type)
{
	static const uint8_t width[DTX_TYPE_COUNT] = {
		[DTX_T_INT64] = 8, [DTX_T_FLOAT64] = 8,  [DTX_T_DECIMAL] = 16,
		[DTX_T_DATE] = 4,  [DTX_T_DATETIME] = 8, [DTX_T_TEXT] = 16,
	};

	return width[type];
}

static size_t column_width(const struct dtx_column *c)
{
	switch (c->form) {
	case DTX_F_SPAN:
	case DTX_F_CELL: return 8;
	case DTX_F_DICT: return 4;
	default: return column_type_width(c->type.type);
	}
}

#define COLUMN_GATHER(type)                                                                        \
	do {                                                                                       \
		const type *from_ = from;                                                          \
		type *to_ = to;                                                                    \
		for (i = 0; i < n; i++)                                                            \
			to_[i] = from_[sel[i]];                                                    \
	} while (0)

static void column_gather_values(void *to, const void *from, size_t width, const uint16_t *sel,
                                 uint32_t n)
{
	uint32_t i;

	if (width == 1)
		COLUMN_GATHER(uint8_t);
	else if (width == 4)
		COLUMN_GATHER(uint32_t);
	else if (width == 8)
		COLUMN_GATHER(uint64_t);
	else
		COLUMN_GATHER(struct dtx_text);
}

static uint64_t *column_gather_bits(const uint64_t *bits, const uint16_t *sel, uint32_t n)
{
	uint64_t *to = dtx_mem_zalloc(dtx_bit_words(n), sizeof(*to));
	uint32_t i;

	if (!to)
		return NULL;
	for (i = 0; i < n; i++)
		to[i >> 6] |= (uint64_t)dtx_bit(bits, sel[i]) << (i & 63);
	return to;
}

static uint32_t column_count_nulls(const uint64_t *valid, uint32_t n)
{
	uint32_t present = 0, i;

	if (!valid)
		return 0;
	for (i = 0; i < n / 64; i++)
		present += (uint32_t)__builtin_popcountll(valid[i]);
	for (i = n / 64 * 64; i < n; i++)
		present += dtx_bit(valid, i);
	return n - present;
}

struct dtx_owner *dtx_column_owner(const struct dtx_column *c)
{
	if (c->form == DTX_F_FLAT && c->type.type != DTX_T_TEXT)
		return NULL;
	return c->apart ? dtx_owner_kept(c->owner) : c->owner;
}

/* A column like c over other rows.  Takes the blocks; their owner also keeps `keep`. */
static enum dtx_code column_like(const struct dtx_column *c, uint32_t n, void *const block[3],
                                 struct dtx_owner *keep, struct dtx_column **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner = keep;
	struct dtx_column *made;

	if (block[0] || block[1] || block[2])
		owner = dtx_owner_blocks(block, 3, keep);
	else
		dtx_owner_ref(owner);
	if (!owner && (keep || block[0] || block[1] || block[2]))
		DTX_FAIL_MEM(err);
	made = dtx_column_new(c->form, c->type, n, owner);
	if (!made)
		DTX_FAIL_MEM(err);
	made->nulls = c->nulls;
	made->valid = c->valid;
	made->v = c->v;
	made->base = c->base;
	made->dialect = c->dialect;
	made->narrow = c->narrow;
	made->apart = c->apart;
	made->tag = c->tag;
	made->strings = c->strings;
	made->dict = dtx_column_ref(c->dict);
	*out = made;
out:
	return rc;
}

enum dtx_code dtx_column_untyped(struct dtx_column *c, struct dtx_column **out, struct dtx_err *err)
{
	void *block[3] = { NULL, NULL, NULL };

	if (atomic_load_explicit(&c->typed, memory_order_acquire))
		return column_like(c, c->len, block, c->owner, out, err);
	*out = dtx_column_ref(c);
	return DTX_OK;
}

static enum dtx_code column_gather_one(const struct dtx_column *c, const uint16_t *sel, uint32_t n,
                                       struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *block[3] = { NULL, NULL, NULL };
	size_t width = column_width(c);
	bool bits = c->form == DTX_F_FLAT && c->type.type == DTX_T_BOOL;
	struct dtx_column *made;

	if (bits)
		block[0] = column_gather_bits(c->v.bits, sel, n);
	else if (width)
		block[0] = dtx_mem_alloc64(n, width);
	if (c->valid)
		block[1] = column_gather_bits(c->valid, sel, n);
	if (c->form == DTX_F_CELL)
		block[2] = dtx_mem_alloc(n, 1);
	if (((bits || width) && !block[0]) || (c->valid && !block[1]) ||
	    (c->form == DTX_F_CELL && !block[2])) {
		dtx_mem_free(block[0]);
		dtx_mem_free(block[1]);
		dtx_mem_free(block[2]);
		DTX_FAIL_MEM(err);
	}
	if (!bits && width)
		column_gather_values(block[0], c->v.any, width, sel, n);
	if (c->form == DTX_F_CELL)
		column_gather_values(block[2], c->tag, 1, sel, n);
	DTX_TRY(column_like(c, n, block, dtx_column_owner(c), &made, err));
	made->v.any = block[0];
	made->valid = block[1];
	if (c->form == DTX_F_CELL)
		made->tag = block[2];
	if (c->nulls != UINT32_MAX)
		made->nulls = column_count_nulls(made->valid, n);
	if (c->type.type == DTX_T_NULL && c->form == DTX_F_FLAT)
		made->nulls = n;
	*out = made;
out:
	return rc;
}

enum dtx_code dtx_column_gather(struct dtx_column *c, const uint16_t *sel, uint32_t n,
                                struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *twin = atomic_load_explicit(&c->typed, memory_order_acquire);
	struct dtx_column *made = NULL, *made_twin = NULL;

	if (c->form == DTX_F_CONST)
		return dtx_column_slice(c, 0, n, out, err);
	DTX_TRY(column_gather_one(c, sel, n, &made, err));
	if (twin) {
		DTX_TRY(dtx_column_gather(twin, sel, n, &made_twin, err));
		atomic_store_explicit(&made->typed, made_twin, memory_order_release);
	}
	*out = made;
	made = NULL;
out:
	dtx_column_unref(made);
	return rc;
}

/* The bits [from, from + n): in place if they begin at a word, else copied to *copy. */
static bool column_slice_bits(const uint64_t **bits, uint32_t from, uint32_t n, void **copy)
{
	size_t words = dtx_bit_words(n), i;
	const uint64_t *p = *bits + from / 64;
	unsigned shift = from % 64;
	uint64_t *to;

	if (!shift) {
		*bits = p;
		return true;
	}
	to = dtx_mem_alloc(words, sizeof(*to));
	if (!to)
		return false;
	for (i = 0; i < words; i++) {
		to[i] = p[i] >> shift;
		if ((i + 1) * 64 - shift < n)
			to[i] |= p[i + 1] << (64 - shift);
	}
	*bits = *copy = to;
	return true;
}

/* A CONST column has only one value and one validity bit. */
static enum dtx_code column_slice_const(const struct dtx_column *c, uint32_t n,
                                        struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *block[3] = { NULL, NULL, NULL };

	DTX_TRY(column_like(c, n, block, c->owner, out, err));
	(*out)->nulls = c->valid && !dtx_bit(c->valid, 0) ? n : 0;
out:
	return rc;
}

enum dtx_code dtx_column_slice(struct dtx_column *c, uint32_t from, uint32_t n,
                               struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *block[3] = { NULL, NULL, NULL };
	const uint64_t *valid = c->valid, *bits = c->v.bits;
	bool is_bits = c->form == DTX_F_FLAT && c->type.type == DTX_T_BOOL;
	struct dtx_column *made;

	if (c->form == DTX_F_CONST)
		return column_slice_const(c, n, out, err);
	if ((valid && !column_slice_bits(&valid, from, n, &block[0])) ||
	    (is_bits && !column_slice_bits(&bits, from, n, &block[1]))) {
		dtx_mem_free(block[0]);
		DTX_FAIL_MEM(err);
	}
	DTX_TRY(column_like(c, n, block, c->owner, &made, err));
	made->valid = valid;
	if (is_bits)
		made->v.bits = bits;
	else if (made->v.any)
		made->v.any = (const char *)c->v.any + (size_t)from * column_width(c);
	if (made->tag)
		made->tag += from;
	if (c->nulls != UINT32_MAX)
		made->nulls = column_count_nulls(valid, n);
	if (c->type.type == DTX_T_NULL && c->form == DTX_F_FLAT)
		made->nulls = n;
	*out = made;
out:
	return rc;
}

/* A null of any type: value bytes of zero and a validity bit of zero. */
static const struct dtx_dec128 column_zero[1];
static const uint64_t column_absent[1];

enum dtx_code dtx_column_nulls(struct dtx_typeref type, uint32_t n, struct dtx_column **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = dtx_column_new(DTX_F_CONST, type, n, NULL);

	if (!c)
		DTX_FAIL_MEM(err);
	c->v.any = column_zero;
	c->valid = column_absent;
	c->nulls = n;
	*out = c;
out:
	return rc;
}

/* The common case of a dictionary column: no row is null. */
static enum dtx_code column_flat_texts(const struct dtx_column *c, struct dtx_builder *b,
                                       struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_text *from = c->dict->v.text;
	struct dtx_text *to = dtx_builder_bulk(b, c->len);
	uint32_t i;

	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < c->len; i++)
		to[i] = from[c->v.code[i]];
	rc = dtx_builder_finish(b, c->dict->owner, out, err);
out:
	return rc;
}

enum dtx_code dtx_column_flat(struct dtx_column *c, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;
	uint32_t i;

	dtx_builder_init(&b, c->type, c->len);
	if (c->form != DTX_F_DICT && c->form != DTX_F_CONST) {
		*out = dtx_column_ref(c);
		goto out;
	}
	if (c->form == DTX_F_DICT && !c->valid && c->len) {
		rc = column_flat_texts(c, &b, out, err);
		goto out;
	}
	for (i = 0; i < c->len; i++) {
		if (dtx_column_is_null(c, i))
			dtx_builder_null(&b);
		else if (c->type.type == DTX_T_TEXT)
			dtx_builder_text_borrow(&b, dtx_column_text(c, i));
		else
			dtx_builder_copy(&b, c, i);
	}
	DTX_TRY(dtx_builder_finish(&b, c->dict ? c->dict->owner : c->owner, out, err));
out:
	dtx_builder_clear(&b);
	return rc;
}

static const char *const cell_errors[] = { "#NULL!",    "#DIV/0!",   "#VALUE!", "#REF!",
	                                   "#NAME?",    "#NUM!",     "#N/A",    "#GETTING_DATA",
	                                   "#SPILL!",   "#CALC!",    "#FIELD!", "#BLOCKED!",
	                                   "#CONNECT!", "#UNKNOWN!", "#BUSY!",  "#EXTERNAL!",
	                                   "#PYTHON!" };

const char *dtx_cell_error_name(uint64_t id)
{
	return id < DTX_COUNT(cell_errors) ? cell_errors[id] : "#ERROR!";
}

int dtx_cell_error_find(struct dtx_str text)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(cell_errors); i++) {
		if (dtx_str_is(text, cell_errors[i]))
			return (int)i;
	}
	return -1;
}
