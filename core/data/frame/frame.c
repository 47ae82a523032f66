/* Writes frames: it measures every column, then assigns places to the buffers, then copies the
 * values. */
#include "core/data/frame/frame.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/data/frame/rawgrid.h"

struct dtx_frame_part {
	struct dtx_frame_entry e;
	const char *name;
	struct dtx_str bytes;  /* sections without columns */
	struct dtx_str second; /* buffer b of a pair */
	const struct dtx_rawgrid *grid;
	struct dtx_table *table; /* counted; TABLE and its columns and dictionaries */
	uint32_t col;
	struct dtx_column *dict; /* borrowed from the table; DICT, and columns with codes */
};

static struct dtx_frame_part *part_new(struct dtx_frame *f)
{
	if (f->n >= DTX_FRAME_SECTIONS_MAX ||
	    !dtx_mem_reserve(&f->part, &f->cap, f->n + 1, sizeof(*f->part)))
		return NULL;
	memset(&f->part[f->n], 0, sizeof(*f->part));
	return &f->part[f->n++];
}

enum dtx_code dtx_frame_add_bytes(struct dtx_frame *f, enum dtx_frame_kind kind, uint32_t id,
                                  const char *name, struct dtx_str bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_part *p = part_new(f);

	if (!p)
		DTX_FAIL_MEM(err);
	p->e.kind = kind;
	p->e.id = id;
	p->e.a_len = bytes.len;
	p->name = name;
	p->bytes = bytes;
out:
	return rc;
}

enum dtx_code dtx_frame_add_grid(struct dtx_frame *f, const char *name,
                                 const struct dtx_rawgrid *grid, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_part *p;

	DTX_TRY(dtx_rawgrid_check(grid, err));
	p = part_new(f);
	if (!p)
		DTX_FAIL_MEM(err);
	dtx_frame_grid_measure(grid, &p->e);
	p->name = name;
	p->grid = grid;
out:
	return rc;
}

enum dtx_code dtx_frame_add_pair(struct dtx_frame *f, enum dtx_frame_kind kind, uint32_t id,
                                 uint64_t rows, struct dtx_str a, struct dtx_str b,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_frame_add_bytes(f, kind, id, NULL, a, err));
	f->part[f->n - 1].second = b;
	f->part[f->n - 1].e.rows = rows;
	f->part[f->n - 1].e.b_len = b.len;
out:
	return rc;
}

/* --- measuring --- */

static uint32_t batch_row(const struct dtx_batch *b, uint32_t i)
{
	return b->sel ? b->sel[i] : i;
}

static uint64_t long_bytes(const struct dtx_text *t)
{
	return t->len > DTX_TEXT_INLINE ? t->len : 0;
}

/* Whether a column goes into the frame as it is in memory, but for the bytes of long texts. */
static bool is_whole(const struct dtx_batch *b, const struct dtx_column *c)
{
	return !b->sel && c->len == b->nrows && c->nulls != UINT32_MAX &&
	       (c->form == DTX_F_DICT || (c->form == DTX_F_FLAT && c->type.type != DTX_T_NULL));
}

/* The bytes of buffer `b` of all rows. The views of nulls may hold anything. */
static uint64_t whole_bytes(const struct dtx_column *c)
{
	const struct dtx_text *t = c->v.text;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < c->len; i++)
		if (!c->nulls || !dtx_column_is_null(c, i))
			bytes += long_bytes(&t[i]);
	return bytes;
}

/* Adds the nulls, and the bytes of buffer `b`, of the live rows of one batch. */
static void measure_batch(const struct dtx_batch *b, const struct dtx_column *c, bool text,
                          struct dtx_frame_entry *e)
{
	uint32_t i;

	if (!text && !c->nulls)
		return;
	if (is_whole(b, c) && (c->form == DTX_F_FLAT || !text)) {
		e->nulls += c->nulls;
		e->b_len += text ? whole_bytes(c) : 0;
		return;
	}
	for (i = 0; i < b->nsel; i++) {
		uint32_t row = batch_row(b, i);

		if (dtx_column_is_null(c, row))
			e->nulls++;
		else if (text)
			e->b_len += dtx_column_text(c, row).len > DTX_TEXT_INLINE
			                    ? dtx_column_text(c, row).len
			                    : 0;
	}
}

static uint64_t value_bytes(enum dtx_type type, uint64_t n)
{
	switch (type) {
	case DTX_T_BOOL: return dtx_bit_words(n) * 8;
	case DTX_T_DATE: return n * 4;
	case DTX_T_DECIMAL:
	case DTX_T_TEXT: return n * 16;
	case DTX_T_INT64:
	case DTX_T_FLOAT64:
	case DTX_T_DATETIME: return n * 8;
	default: return 0;
	}
}

/* The dictionary that all batches share; NULL if they do not. */
static struct dtx_column *shared_dict(const struct dtx_table *t, uint32_t col)
{
	struct dtx_column *dict = NULL;
	size_t i;

	for (i = 0; i < t->nbatches; i++) {
		const struct dtx_column *c = t->batch[i]->col[col];

		if (!c || c->form != DTX_F_DICT || (dict && dict != c->dict))
			return NULL;
		dict = c->dict;
	}
	return dict;
}

static enum dtx_code add_dict(struct dtx_frame *f, struct dtx_table *t, uint32_t table,
                              uint32_t col, struct dtx_column *dict, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_part *p = part_new(f);
	uint32_t i;

	if (!p)
		DTX_FAIL_MEM(err);
	p->e.kind = DTX_FRAME_DICT;
	p->e.id = col;
	p->e.parent = table;
	p->e.type = dict->type.type;
	p->e.rows = dict->len;
	p->e.a_len = value_bytes(dict->type.type, dict->len);
	for (i = 0; dict->type.type == DTX_T_TEXT && i < dict->len; i++)
		p->e.b_len += long_bytes(&dict->v.text[i]);
	p->dict = dict;
	p->table = dtx_table_ref(t);
out:
	return rc;
}

static enum dtx_code add_column(struct dtx_frame *f, struct dtx_table *t, uint32_t table,
                                uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_field *field = &t->schema->field[col];
	struct dtx_column *dict =
		field->type.type == DTX_T_TEXT || f->narrow ? shared_dict(t, col) : NULL;
	bool narrow = f->narrow && dict && dict->len <= DTX_FRAME_NARROW_MAX;
	struct dtx_frame_entry e = { .kind = DTX_FRAME_COLUMN,
		                     .id = col,
		                     .parent = table,
		                     .type = field->type.type,
		                     .rows = (uint64_t)t->nrows };
	struct dtx_frame_part *p;
	size_t i;

	DTX_ASSERT(field->type.type != DTX_T_UNKNOWN, err);
	for (i = 0; i < t->nbatches; i++) {
		struct dtx_column *c;

		DTX_ASSERT(t->batch[i]->col[col], err);
		DTX_TRY(dtx_batch_value(t->batch[i], col, &c, err));
		measure_batch(t->batch[i], c, field->type.type == DTX_T_TEXT && !dict, &e);
	}
	if (dict)
		DTX_TRY(add_dict(f, t, table, col, dict, err));
	e.flags = dict ? DTX_FRAME_F_DICT | (narrow ? DTX_FRAME_F_NARROW : 0) : 0;
	if (field->type.type == DTX_T_DECIMAL)
		e.flags |= (uint32_t)field->type.scale << 8 | (uint32_t)field->type.precision << 16;
	e.a_len = dict ? e.rows * (narrow ? 1 : 4) : value_bytes(field->type.type, e.rows);
	if (field->type.type == DTX_T_NULL)
		e.nulls = e.rows;
	else if (e.nulls)
		e.v_len = dtx_bit_words(e.rows) * 8;
	p = part_new(f);
	if (!p)
		DTX_FAIL_MEM(err);
	p->e = e;
	p->name = field->name;
	p->col = col;
	p->dict = dict;
	p->table = dtx_table_ref(t);
out:
	return rc;
}

enum dtx_code dtx_frame_add_table(struct dtx_frame *f, const char *name, struct dtx_table *t,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_part *p = part_new(f);
	uint32_t id = f->ntables++, i;

	if (!p)
		DTX_FAIL_MEM(err);
	p->e.kind = DTX_FRAME_TABLE;
	p->e.id = id;
	p->e.rows = (uint64_t)t->nrows;
	p->name = name;
	p->table = dtx_table_ref(t);
	for (i = 0; i < t->schema->nfields; i++)
		DTX_TRY(add_column(f, t, id, i, err));
out:
	return rc;
}

/* --- layout --- */

static uint64_t place(uint64_t *at, uint64_t len)
{
	uint64_t off;

	if (!len)
		return 0;
	off = (*at + DTX_FRAME_ALIGN - 1) / DTX_FRAME_ALIGN * DTX_FRAME_ALIGN;
	*at = off + len;
	return off;
}

uint64_t dtx_frame_size(struct dtx_frame *f)
{
	uint64_t at = DTX_FRAME_HEADER + (uint64_t)f->n * DTX_FRAME_ENTRY;
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct dtx_frame_part *p = &f->part[i];

		p->e.name_len = p->name ? (uint32_t)strlen(p->name) : 0;
		p->e.name_off = p->e.name_len ? at : 0;
		at += p->e.name_len;
	}
	for (i = 0; i < f->n; i++) {
		struct dtx_frame_entry *e = &f->part[i].e;

		e->a_off = place(&at, e->a_len);
		e->b_off = e->flags & DTX_FRAME_F_DICT ? e->id : place(&at, e->b_len);
		e->v_off = place(&at, e->v_len);
	}
	return (at + 7) / 8 * 8;
}

const struct dtx_frame_entry *dtx_frame_part_entry(const struct dtx_frame *f, size_t part)
{
	return &f->part[part].e;
}

/* --- values --- */

static void put_text(struct dtx_text *to, struct dtx_str s, unsigned char *b, uint64_t *b_at)
{
	to->len = (uint32_t)s.len;
	memcpy(to->head, s.ptr, DTX_MIN(s.len, s.len > DTX_TEXT_INLINE ? 4 : DTX_TEXT_INLINE));
	if (s.len <= DTX_TEXT_INLINE)
		return;
	memcpy(b + *b_at, s.ptr, s.len);
	memcpy(to->u.tail, b_at, 8);
	*b_at += s.len;
}

/* Stores one value at index `at`.  c is FLAT, DICT or CONST and the row is not null. */
static void put_value(const struct dtx_column *c, uint32_t row, void *a, uint64_t at)
{
	if (c->form == DTX_F_CONST)
		row = 0;
	switch (c->type.type) {
	case DTX_T_BOOL:
		if (dtx_bit(c->v.bits, row))
			dtx_bit_set(a, at);
		break;
	case DTX_T_DATE: ((int32_t *)a)[at] = c->v.day[row]; break;
	case DTX_T_DECIMAL: ((struct dtx_dec128 *)a)[at] = c->v.dec[row]; break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: ((int64_t *)a)[at] = c->v.i64[row]; break;
	case DTX_T_FLOAT64: ((double *)a)[at] = c->v.f64[row]; break;
	default: break;
	}
}

struct column_out {
	void *a;
	unsigned char *b;
	uint64_t *v;
	uint64_t at, b_at; /* next row; next byte of b */
};

/* The bits of a whole column, without spare ones. */
static void copy_bits(uint64_t *to, const uint64_t *from, uint32_t n)
{
	memcpy(to, from, dtx_bit_words(n) * 8);
	if (n % 64)
		to[n / 64] &= ((uint64_t)1 << n % 64) - 1;
}

static void copy_texts(const struct dtx_column *c, struct column_out *to)
{
	struct dtx_text *a = to->a;
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		const struct dtx_text *t = &c->v.text[i];

		if (c->nulls && dtx_column_is_null(c, i))
			continue;
		if (t->len <= DTX_TEXT_INLINE)
			a[i] = *t;
		else
			put_text(&a[i], dtx_text_str(t), to->b, &to->b_at);
	}
}

/* Codes must be valid even where they are null, so that they are copied one by one there. */
static void copy_codes(const struct dtx_column *c, uint32_t *a)
{
	uint32_t i;

	if (!c->nulls) {
		memcpy(a, c->v.code, (size_t)c->len * 4);
		return;
	}
	for (i = 0; i < c->len; i++)
		if (!dtx_column_is_null(c, i))
			a[i] = c->v.code[i];
}

/* The same for codes of one byte. */
static void copy_narrow(const struct dtx_column *c, uint8_t *a)
{
	const uint32_t *code = c->v.code; /* here, as stores of bytes could change the column */
	const uint32_t n = c->len, nulls = c->nulls;
	uint32_t i;

	for (i = 0; i < n; i++)
		a[i] = (uint8_t)code[i];
	for (i = 0; nulls && i < n; i++)
		if (dtx_column_is_null(c, i))
			a[i] = 0;
}

/* Values of nulls must not go into a frame: they may be what memory had before. */
static void clear_nulls(const struct dtx_column *c, void *a)
{
	size_t width = (size_t)value_bytes(c->type.type, 1);
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		if (!dtx_column_is_null(c, i))
			continue;
		memset((char *)a + i * width, 0, width);
		if (c->type.type == DTX_T_FLOAT64)
			((double *)a)[i] = (double)NAN;
	}
}

/* The common case: a batch that is the whole table. */
static void copy_whole(const struct dtx_frame_part *p, const struct dtx_column *c,
                       struct column_out *to)
{
	enum dtx_type t = c->type.type;
	uint32_t i;

	if (c->nulls)
		copy_bits(to->v, c->valid, c->len);
	if (p->e.flags & DTX_FRAME_F_NARROW && p->dict) {
		copy_narrow(c, to->a);
	} else if (p->dict) {
		copy_codes(c, to->a);
	} else if (t == DTX_T_TEXT) {
		copy_texts(c, to);
	} else if (t == DTX_T_BOOL) {
		copy_bits(to->a, c->v.bits, c->len);
		for (i = 0; c->nulls && i < dtx_bit_words(c->len); i++)
			((uint64_t *)to->a)[i] &= to->v[i];
	} else {
		memcpy(to->a, c->v.any, (size_t)value_bytes(t, c->len));
		if (c->nulls)
			clear_nulls(c, to->a);
	}
	to->at += c->len;
}

static void put_batch(const struct dtx_frame_part *p, const struct dtx_batch *b,
                      const struct dtx_column *c, struct column_out *to)
{
	uint32_t i;

	if (b->nrows == p->e.rows && is_whole(b, c) && (c->form == DTX_F_FLAT || p->dict)) {
		copy_whole(p, c, to);
		return;
	}
	for (i = 0; i < b->nsel; i++, to->at++) {
		uint32_t row = batch_row(b, i);
		bool null = dtx_column_is_null(c, row);

		if (to->v && !null)
			dtx_bit_set(to->v, to->at);
		if (null && p->e.type == DTX_T_FLOAT64)
			((double *)to->a)[to->at] = (double)NAN;
		if (null)
			continue;
		if (p->dict && p->e.flags & DTX_FRAME_F_NARROW)
			((uint8_t *)to->a)[to->at] = (uint8_t)c->v.code[row];
		else if (p->dict)
			((uint32_t *)to->a)[to->at] = c->v.code[row];
		else if (p->e.type == DTX_T_TEXT)
			put_text((struct dtx_text *)to->a + to->at, dtx_column_text(c, row), to->b,
			         &to->b_at);
		else
			put_value(c, row, to->a, to->at);
	}
}

static enum dtx_code write_column(const struct dtx_frame_part *p, unsigned char *to,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct column_out o = { to + p->e.a_off, to + (p->dict ? 0 : p->e.b_off), NULL, 0, 0 };
	size_t i;

	if (p->e.v_len)
		o.v = (uint64_t *)(void *)(to + p->e.v_off);
	for (i = 0; p->e.a_len && i < p->table->nbatches; i++) {
		struct dtx_column *c;

		DTX_TRY(dtx_batch_value(p->table->batch[i], p->col, &c, err));
		put_batch(p, p->table->batch[i], c, &o);
	}
out:
	return rc;
}

static void write_dict(const struct dtx_frame_part *p, unsigned char *to)
{
	struct dtx_text *a = (struct dtx_text *)(void *)(to + p->e.a_off);
	uint64_t b_at = 0;
	uint32_t i;

	if (p->e.type != DTX_T_TEXT && p->e.a_len)
		memcpy(a, p->dict->v.any, p->e.a_len);
	for (i = 0; p->e.type == DTX_T_TEXT && i < p->dict->len; i++)
		put_text(&a[i], dtx_text_str(&p->dict->v.text[i]), to + p->e.b_off, &b_at);
}

static void write_header(unsigned char *to, const struct dtx_frame *f, uint64_t total)
{
	const uint64_t words[] = { DTX_FRAME_HEADER | (uint64_t)f->n << 32, total, DTX_FRAME_HEADER,
		                   DTX_FRAME_ENTRY };

	memcpy(to, DTX_FRAME_MAGIC, 8);
	memcpy(to + 8, words, sizeof(words));
}

/* Whether buffer a of a section is written as a whole: values of a fixed size without nulls. */
static bool fills(const struct dtx_frame_part *p)
{
	if (p->e.kind != DTX_FRAME_COLUMN || p->e.v_len || !p->e.a_len)
		return false;
	return p->dict || (p->e.type != DTX_T_TEXT && p->e.type != DTX_T_BOOL);
}

void dtx_frame_zero(const struct dtx_frame *f, void *to, uint64_t size)
{
	unsigned char *base = to;
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct dtx_frame_entry *e = &f->part[i].e;

		if (!fills(&f->part[i]))
			continue;
		memset(base + at, 0, e->a_off - at);
		at = e->a_off + e->a_len;
	}
	memset(base + at, 0, size - at);
}

enum dtx_code dtx_frame_write(struct dtx_frame *f, void *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned char *base = to;
	uint64_t total = dtx_frame_size(f);
	size_t i;

	write_header(base, f, total);
	for (i = 0; i < f->n; i++) {
		const struct dtx_frame_part *p = &f->part[i];

		memcpy(base + DTX_FRAME_HEADER + i * DTX_FRAME_ENTRY, &p->e, sizeof(p->e));
		if (p->e.name_len)
			memcpy(base + p->e.name_off, p->name, p->e.name_len);
		if (p->e.kind == DTX_FRAME_COLUMN)
			DTX_TRY(write_column(p, base, err));
		else if (p->e.kind == DTX_FRAME_DICT)
			write_dict(p, base);
		else if (p->grid)
			dtx_frame_grid_write(p->grid, base + p->e.a_off, base + p->e.b_off);
		else if (p->bytes.ptr && p->bytes.len)
			memcpy(base + p->e.a_off, p->bytes.ptr, p->bytes.len);
		if (p->second.ptr && p->second.len)
			memcpy(base + p->e.b_off, p->second.ptr, p->second.len);
	}
out:
	return rc;
}

struct streaming {
	enum dtx_code (*put)(void *arg, struct dtx_str bytes, struct dtx_err *err);
	void *arg;
	uint64_t at;
};

/* Puts bytes at offset `off`, after zeros up to there. */
static enum dtx_code stream_at(struct streaming *s, uint64_t off, struct dtx_str bytes,
                               struct dtx_err *err)
{
	static const char zeros[DTX_FRAME_ALIGN];
	enum dtx_code rc = DTX_OK;

	if (!bytes.len)
		return DTX_OK;
	DTX_ASSERT(off >= s->at && off - s->at < sizeof(zeros), err);
	if (off > s->at)
		DTX_TRY(s->put(s->arg, (struct dtx_str){ zeros, (size_t)(off - s->at) }, err));
	DTX_TRY(s->put(s->arg, bytes, err));
	s->at = off + bytes.len;
out:
	return rc;
}

enum dtx_code dtx_frame_stream(struct dtx_frame *f,
                               enum dtx_code (*put)(void *arg, struct dtx_str bytes,
                                                    struct dtx_err *err),
                               void *arg, struct dtx_err *err)
{
	struct streaming s = { put, arg, 0 };
	uint64_t total = dtx_frame_size(f);
	size_t head = DTX_FRAME_HEADER + f->n * DTX_FRAME_ENTRY, i;
	unsigned char *bytes = dtx_mem_zalloc(head, 1);
	enum dtx_code rc = DTX_OK;

	if (!bytes)
		DTX_FAIL_MEM(err);
	write_header(bytes, f, total);
	for (i = 0; i < f->n; i++)
		memcpy(bytes + DTX_FRAME_HEADER + i * DTX_FRAME_ENTRY, &f->part[i].e,
		       sizeof(f->part[i].e));
	DTX_TRY(stream_at(&s, 0, (struct dtx_str){ (char *)bytes, head }, err));
	for (i = 0; i < f->n; i++) {
		const struct dtx_frame_part *p = &f->part[i];

		DTX_ASSERT(!p->table && !p->grid && !p->e.name_len, err);
		DTX_TRY(stream_at(&s, p->e.a_off, p->bytes, err));
		DTX_TRY(stream_at(&s, p->e.b_off, p->second, err));
	}
	if (total > s.at)
		DTX_TRY(stream_at(&s, total - 1, DTX_STR("\0"), err));
out:
	dtx_mem_free(bytes);
	return rc;
}

void dtx_frame_clear(struct dtx_frame *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->part[i].table)
			dtx_table_unref(f->part[i].table);
	dtx_mem_free(f->part);
	*f = (struct dtx_frame)DTX_FRAME_INIT;
}
