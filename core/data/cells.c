/* Gathers cells of several columns into one column and keeps their source bytes: see cells.h. */
#include "core/data/cells.h"

#include "core/base/memory/mem.h"
#include "core/base/memory/prefetch.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"

/* --- owner of a gathered column: its own blocks, and references to the owners of its sources
 * --- */

struct hold {
	void *block[DTX_OWNER_BLOCKS];
	struct dtx_owner **owner;
	size_t n;
};

static void hold_free(void *arg)
{
	struct hold *h = arg;

	for (size_t i = 0; i < DTX_COUNT(h->block); i++)
		dtx_mem_free(h->block[i]);
	for (size_t i = 0; i < h->n; i++)
		dtx_owner_unref(h->owner[i]);
	dtx_mem_free(h->owner);
	dtx_mem_free(h);
}

/* Takes references to the owners of a batch's columns. */
static void hold_add(struct hold *h, struct dtx_column *const *src, uint32_t nsrc)
{
	struct dtx_owner *last = NULL;

	for (uint32_t i = 0; i < nsrc; i++) {
		if (!src[i] || !src[i]->owner || src[i]->owner == last)
			continue;
		last = src[i]->owner;
		h->owner[h->n++] = dtx_owner_ref(last);
	}
}

static struct hold *hold_room(size_t owners)
{
	struct hold *h = dtx_mem_zalloc(1, sizeof(*h));

	if (h)
		h->owner = dtx_mem_alloc(owners + 1, sizeof(struct dtx_owner *));
	if (h && !h->owner) {
		dtx_mem_free(h);
		return NULL;
	}
	return h;
}

static struct dtx_owner *hold_owner(struct hold *h)
{
	struct dtx_owner *o = dtx_owner_new(hold_free, h);

	if (!o)
		hold_free(h);
	return o;
}

enum dtx_code dtx_cells_hold(struct dtx_batch *const *batch, size_t n, struct dtx_owner **out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct hold *h;
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most += batch[i]->ncols;
	h = hold_room(most);
	if (!h)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		hold_add(h, batch[i]->col, batch[i]->ncols);
	*out = hold_owner(h);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the form that all sources share --- */

enum shape { SHAPE_NULL, SHAPE_SPAN, SHAPE_CELL, SHAPE_VALUE, SHAPE_MIXED };

static enum shape shape_of(struct dtx_column *const *src, uint32_t nsrc)
{
	const struct dtx_column *first = NULL;

	for (uint32_t i = 0; i < nsrc; i++) {
		const struct dtx_column *c = src[i];
		bool late, first_late;

		if (!c)
			continue;
		if (!first)
			first = c;
		late = c->form == DTX_F_SPAN || c->form == DTX_F_CELL;
		first_late = first->form == DTX_F_SPAN || first->form == DTX_F_CELL;
		if (late != first_late || (late && c->form != first->form))
			return SHAPE_MIXED;
		if (c->form == DTX_F_SPAN && !dtx_celldialect_same(c->dialect, first->dialect))
			return SHAPE_MIXED;
		if (c->form == DTX_F_CELL && c->strings != first->strings)
			return SHAPE_MIXED;
	}
	if (!first)
		return SHAPE_NULL;
	if (first->form == DTX_F_SPAN)
		return SHAPE_SPAN;
	return first->form == DTX_F_CELL ? SHAPE_CELL : SHAPE_VALUE;
}

struct gather {
	struct dtx_column *const *src;
	uint32_t nsrc, n;
	const uint32_t *which, *row;
	const struct dtx_field *field;
	struct dtx_owner *held; /* owner of all sources; NULL: each source is referenced on its
	                         * own */
};

/* Takes the blocks, also on failure, and keeps the memory of the sources alive. */
static struct dtx_owner *hold_new(void *const block[DTX_OWNER_BLOCKS], const struct gather *g)
{
	struct hold *h;

	if (g->held)
		return dtx_owner_blocks(block, DTX_OWNER_BLOCKS, g->held);
	h = hold_room(g->nsrc);
	for (size_t i = 0; i < DTX_OWNER_BLOCKS; i++)
		if (h)
			h->block[i] = block[i];
		else
			dtx_mem_free(block[i]);
	if (!h)
		return NULL;
	hold_add(h, g->src, g->nsrc);
	return hold_owner(h);
}

static inline struct dtx_column *gather_at(const struct gather *g, uint32_t i)
{
	return g->which[i] < g->nsrc ? g->src[g->which[i]] : NULL;
}

/* Collects the validity bits.  *bits stays NULL if no source has any. */
static enum dtx_code gather_valid(const struct gather *g, uint64_t **bits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool any = false;

	for (uint32_t i = 0; i < g->nsrc; i++)
		any = any || (g->src[i] && g->src[i]->valid);
	if (!any)
		goto out;
	*bits = dtx_mem_alloc64(dtx_bit_words(g->n) + 1, sizeof(**bits));
	if (!*bits)
		DTX_FAIL_MEM(err);
	memset(*bits, 0, (dtx_bit_words(g->n) + 1) * sizeof(**bits));
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		if (c && (!c->valid || dtx_bit(c->valid, g->row[i])))
			dtx_bit_set(*bits, i);
	}
out:
	return rc;
}

#define AHEAD 24u

/* Copies the spans as their sources have them and finds the lowest address, which becomes the new
 * base.  False if the cells are more than 4 GiB apart, because offsets have 32 bits. */
static bool span_read(const struct gather *g, struct dtx_span *span, const char **base)
{
	uintptr_t lo = UINTPTR_MAX, hi = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i), *ahead = NULL;
		uintptr_t at;

		/* Rows come in random order: prefetch cells that are needed some iterations
		 * later. */
		if (i + AHEAD < g->n)
			ahead = gather_at(g, i + AHEAD);
		if (ahead)
			DTX_PREFETCH(&ahead->v.span[g->row[i + AHEAD]]);
		span[i] = c ? c->v.span[g->row[i]] : (struct dtx_span){ 0, 0 };
		if (!c)
			continue;
		at = (uintptr_t)c->base + span[i].off;
		at -= span[i].len & DTX_SPAN_QUOTED ? 1 : 0;
		lo = at < lo ? at : lo;
		hi = at > hi ? at : hi;
		DTX_PREFETCH((const void *)at);
		DTX_PREFETCH((const void *)(at + DTX_CELL_WIDE - 1));
	}
	if (hi < lo) {
		*base = "";
		return true;
	}
	*base = (const char *)lo;
	return hi - lo < UINT32_MAX;
}

/* Whether bytes around a cell may be unreadable.  If all cells are in one text, only the cells at
 * the ends of that text have none, and readers know these. */
static bool gather_is_narrow(const struct gather *g, const struct dtx_column *like)
{
	for (uint32_t i = 0; i < g->nsrc; i++) {
		const struct dtx_column *c = g->src[i];

		if (c && (c->narrow || !dtx_cells_one_text(c, like)))
			return true;
	}
	return false;
}

/* Takes `span`, which span_read has filled. */
static enum dtx_code gather_span(const struct gather *g, struct dtx_span *span, const char *base,
                                 const struct dtx_column *like, struct dtx_column **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *valid = NULL;
	struct dtx_owner *owner;
	struct dtx_column *made;

	DTX_TRY(gather_valid(g, &valid, err));
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		if (c)
			span[i].off += (uint32_t)((uintptr_t)c->base - (uintptr_t)base);
	}
	owner = hold_new((void *[]){ span, valid, NULL }, g);
	made = owner ? dtx_column_new(DTX_F_SPAN, g->field->type, g->n, owner) : NULL;
	if (!made) {
		span = NULL;
		valid = NULL;
		DTX_FAIL_MEM(err);
	}
	made->nulls = UINT32_MAX;
	made->v.span = span;
	made->valid = valid;
	made->base = base;
	made->dialect = like->dialect;
	made->narrow = gather_is_narrow(g, like);
	span = NULL;
	valid = NULL;
	*out = made;
out:
	dtx_mem_free(span);
	dtx_mem_free(valid);
	return rc;
}

static enum dtx_code gather_cell(const struct gather *g, const struct dtx_column *like,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t *tag = dtx_mem_alloc64(g->n + 1, 1);
	union dtx_payload *payload = dtx_mem_alloc64(g->n + 1, sizeof(*payload));
	uint64_t *valid = NULL;
	struct dtx_owner *owner;
	struct dtx_column *made;

	if (!tag || !payload)
		DTX_FAIL_MEM(err);
	DTX_TRY(gather_valid(g, &valid, err));
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		tag[i] = c ? c->tag[g->row[i]] : (uint8_t)DTX_CELL_BLANK;
		payload[i] = c ? c->v.payload[g->row[i]] : (union dtx_payload){ .id = 0 };
	}
	owner = hold_new((void *[]){ tag, payload, valid }, g);
	made = owner ? dtx_column_new(DTX_F_CELL, g->field->type, g->n, owner) : NULL;
	if (!made) {
		tag = NULL;
		payload = NULL;
		valid = NULL;
		DTX_FAIL_MEM(err);
	}
	made->nulls = UINT32_MAX;
	made->v.payload = payload;
	made->tag = tag;
	made->valid = valid;
	made->strings = like->strings;
	tag = NULL;
	payload = NULL;
	valid = NULL;
	*out = made;
out:
	dtx_mem_free(tag);
	dtx_mem_free(payload);
	dtx_mem_free(valid);
	return rc;
}

/* Whether all sources are arrays of the same type, whose values are single words or texts. */
static bool gather_is_plain(const struct gather *g)
{
	enum dtx_type type = g->field->type.type;

	if (type != DTX_T_INT64 && type != DTX_T_DATETIME && type != DTX_T_FLOAT64 &&
	    type != DTX_T_TEXT)
		return false;
	for (uint32_t i = 0; i < g->nsrc; i++)
		if (g->src[i] && (g->src[i]->form != DTX_F_FLAT || g->src[i]->valid ||
		                  g->src[i]->type.type != type))
			return false;
	return true;
}

/* Rows come in random order: prefetch the value of a row some iterations ahead. */
static void gather_ahead(const struct gather *g, uint32_t i, size_t width)
{
	const struct dtx_column *c = i + AHEAD < g->n ? gather_at(g, i + AHEAD) : NULL;

	if (c)
		DTX_PREFETCH((const char *)c->v.any + g->row[i + AHEAD] * width);
}

static void gather_words(const struct gather *g, struct dtx_builder *b, int64_t *to)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		gather_ahead(g, i, sizeof(*to));
		to[i] = c ? c->v.i64[g->row[i]] : 0;
		if (!c)
			dtx_builder_absent(b, i);
	}
}

static void gather_floats(const struct gather *g, struct dtx_builder *b, double *to)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		gather_ahead(g, i, sizeof(*to));
		to[i] = c ? c->v.f64[g->row[i]] + 0.0 : 0; /* + 0.0 as in dtx_builder_f64 */
		if (!c)
			dtx_builder_absent(b, i);
	}
}

static void gather_texts(const struct gather *g, struct dtx_builder *b, struct dtx_text *to)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);
		const struct dtx_text *t = c ? &c->v.text[g->row[i]] : NULL;

		gather_ahead(g, i, sizeof(*t));
		if (!t) {
			to[i] = dtx_text_of("", 0);
			dtx_builder_absent(b, i);
			continue;
		}
		to[i] = t->len <= DTX_TEXT_INLINE ? *t : dtx_builder_keep(b, dtx_text_str(t));
	}
}

static enum dtx_code gather_plain(const struct gather *g, struct dtx_column **out,
                                  struct dtx_err *err)
{
	struct dtx_builder b;
	void *to;

	dtx_builder_init(&b, g->field->type, g->n);
	to = dtx_builder_bulk(&b, g->n);
	if (to && g->field->type.type == DTX_T_TEXT)
		gather_texts(g, &b, to);
	else if (to && g->field->type.type == DTX_T_FLOAT64)
		gather_floats(g, &b, to);
	else if (to)
		gather_words(g, &b, to);
	return dtx_builder_finish(&b, NULL, out, err);
}

static enum dtx_code gather_value(const struct gather *g, struct dtx_column **out,
                                  struct dtx_err *err)
{
	struct dtx_builder b;

	if (g->n && gather_is_plain(g))
		return gather_plain(g, out, err);
	dtx_builder_init(&b, g->field->type, g->n);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		if (!c || dtx_column_is_null(c, g->row[i]))
			dtx_builder_null(&b);
		else
			dtx_builder_copy(&b, c, g->row[i]);
	}
	return dtx_builder_finish(&b, NULL, out, err);
}

void dtx_cells_print(const struct dtx_column *c, uint32_t row, const struct dtx_field *rules,
                     struct dtx_buf *out)
{
	uint32_t at = c->form == DTX_F_CONST ? 0 : row;
	size_t from = out->len;
	int64_t us;

	if (dtx_field_reads_format(rules) && c->form != DTX_F_CELL &&
	    dtx_type_class(c->type.type) == DTX_CLASS_DATE) {
		us = c->type.type == DTX_T_DATE ? c->v.day[at] * DTX_DAY_US : c->v.i64[at];
		dtx_time_format(us, dtx_str_of(rules->format), out);
		return;
	}
	dtx_cast_print(c, row, out);
	if (rules->decimal_comma && dtx_type_is_number(c->type.type))
		for (size_t i = from; i < out->len; i++)
			out->ptr[i] = out->ptr[i] == '.' ? ',' : out->ptr[i];
}

static enum dtx_code gather_text(const struct gather *g, const struct dtx_column *like,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_spanbuf s;

	dtx_spanbuf_init(&s, dtx_column_dialect(like));
	s.rules = g->field;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct dtx_column *c = gather_at(g, i);

		if (c)
			dtx_spanbuf_add(&s, c, g->row[i]);
		else
			dtx_spanbuf_null(&s);
	}
	DTX_TRY(dtx_spanbuf_finish(&s, g->field->type, out, err));
out:
	dtx_spanbuf_clear(&s);
	return rc;
}

/* One source and no null row: dtx_column_gather does it and also gathers the typed twin. */
static enum dtx_code gather_one(const struct gather *g, struct dtx_column **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel = dtx_mem_alloc(g->n + 1, sizeof(*sel));

	if (!sel)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < g->n; i++)
		sel[i] = (uint16_t)g->row[i];
	DTX_TRY(dtx_column_gather(g->src[0], sel, g->n, out, err));
	/* Late-typed cells get the type of the new field.  The column is not shared yet, so it may
	 * be changed. */
	if ((*out)->form == DTX_F_SPAN || (*out)->form == DTX_F_CELL)
		(*out)->type = g->field->type;
out:
	dtx_mem_free(sel);
	return rc;
}

static bool gather_is_one(const struct gather *g)
{
	if (g->nsrc != 1 || !g->src[0] || g->src[0]->len > DTX_BATCH_ROWS)
		return false;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->which[i] != 0)
			return false;
	return true;
}

enum dtx_code dtx_cells_gather(struct dtx_column *const *src, uint32_t nsrc, const uint32_t *which,
                               const uint32_t *row, uint32_t n, const struct dtx_field *field,
                               struct dtx_column **out, struct dtx_err *err)
{
	return dtx_cells_gather_held(src, nsrc, which, row, n, field, NULL, out, err);
}

enum dtx_code dtx_cells_gather_held(struct dtx_column *const *src, uint32_t nsrc,
                                    const uint32_t *which, const uint32_t *row, uint32_t n,
                                    const struct dtx_field *field, struct dtx_owner *held,
                                    struct dtx_column **out, struct dtx_err *err)
{
	struct gather g = { src, nsrc, n, which, row, field, held };
	const struct dtx_column *like = NULL;
	enum shape shape = shape_of(src, nsrc);
	struct dtx_span *span;
	enum dtx_code rc = DTX_OK;
	const char *base;

	if (gather_is_one(&g))
		return gather_one(&g, out, err);
	for (uint32_t i = 0; i < nsrc; i++)
		if (src[i] && (!like || (like->form != DTX_F_SPAN && src[i]->form == DTX_F_SPAN)))
			like = src[i];
	switch (shape) {
	case SHAPE_NULL: return dtx_column_nulls(field->type, n, out, err);
	case SHAPE_SPAN:
		span = dtx_mem_alloc64(n + 1, sizeof(*span));
		if (!span)
			DTX_FAIL_MEM(err);
		if (span_read(&g, span, &base))
			return gather_span(&g, span, base, like, out, err);
		dtx_mem_free(span);
		return gather_text(&g, like, out, err);
	case SHAPE_CELL: return gather_cell(&g, like, out, err);
	case SHAPE_VALUE: return gather_value(&g, out, err);
	case SHAPE_MIXED: break;
	}
	return gather_text(&g, like, out, err);
out:
	return rc;
}

enum dtx_code dtx_cells_fit(struct dtx_column *c, const struct dtx_field *field,
                            struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_cast_spec spec = { .to = field->type, .on_error = DTX_CAST_ERROR };
	struct dtx_cast_count count = { 0 };
	bool same = c->type.type == field->type.type &&
	            (c->type.type != DTX_T_DECIMAL || c->type.scale == field->type.scale);

	if (c->form == DTX_F_SPAN || c->form == DTX_F_CELL || same) {
		*out = dtx_column_ref(c);
		return DTX_OK;
	}
	if (c->type.type == DTX_T_NULL)
		return dtx_column_nulls(field->type, c->len, out, err);
	if (field->type.type == DTX_T_TEXT)
		return dtx_cast_to_text(c, out, err);
	return dtx_cast_column(c, &spec, out, &count, err);
}

bool dtx_field_same_rules(const struct dtx_field *a, const struct dtx_field *b)
{
	return a->decimal_comma == b->decimal_comma && a->group == b->group &&
	       (a->format == b->format ||
	        (a->format && b->format && strcmp(a->format, b->format) == 0));
}

enum dtx_code dtx_cells_under(struct dtx_batch *b, uint32_t i, const struct dtx_field *to,
                              struct dtx_column **out, struct dtx_err *err)
{
	*out = b->col[i];
	if (!*out || (*out)->form != DTX_F_SPAN || to->type.type == DTX_T_TEXT ||
	    dtx_field_same_rules(to, &b->schema->field[i]))
		return DTX_OK;
	return dtx_batch_value(b, i, out, err);
}

bool dtx_field_merge(struct dtx_field *to, const struct dtx_field *f)
{
	enum dtx_type was = to->type.type, other = f->type.type;
	struct dtx_typeref merged = dtx_type_merge(to->type, f->type);

	if (!dtx_field_same_rules(to, f)) {
		to->format = NULL;
		to->decimal_comma = false;
		to->group = 0;
	}
	to->guessed = to->guessed || f->guessed;
	to->source = to->source && f->source;
	if (was == DTX_T_UNKNOWN || other == DTX_T_UNKNOWN) {
		to->type = (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 };
		return false;
	}
	to->type = merged;
	return merged.type == DTX_T_TEXT && (was != DTX_T_TEXT || other != DTX_T_TEXT) &&
	       was != DTX_T_NULL && other != DTX_T_NULL;
}
