/* Columns of the arrays of a record batch. */
#include "core/base/text/le.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/arrow/arrow.h"

#define DAY_MS ((int64_t)86400 * 1000)

/* A column that is being made, of rows of a batch. */
struct making {
	const struct dtx_arrow_batch *b;
	const struct dtx_arrow_node *node;
	const struct dtx_arrow_array *a;
	uint32_t at; /* number of the node */
	const char *name;
	int64_t from;
	uint32_t n;
	struct dtx_typed_counts *counts;
	struct dtx_builder out;
};

/* --- one element --- */

static bool absent(const struct dtx_arrow_array *a, int64_t i)
{
	return a->valid && !(a->valid[i >> 3] >> (i & 7) & 1);
}

/* Whether a row is null, or a struct around it is. */
static bool is_null(const struct dtx_arrow_batch *b, uint32_t node, int64_t i)
{
	for (; node != UINT32_MAX; node = b->f->node[node].parent)
		if (absent(&b->array[node], i) || b->f->node[node].layout == DTX_ARROW_NONE)
			return true;
	return false;
}

static bool may_be_null(const struct dtx_arrow_batch *b, uint32_t node)
{
	for (; node != UINT32_MAX; node = b->f->node[node].parent)
		if (b->array[node].valid || b->f->node[node].layout == DTX_ARROW_NONE)
			return true;
	return false;
}

static int64_t load(const uint8_t *p, uint32_t width, bool is_signed)
{
	switch (width) {
	case 1: return is_signed ? (int8_t)*p : *p;
	case 2: return is_signed ? (int16_t)dtx_le_u16(p) : dtx_le_u16(p);
	case 4: return is_signed ? (int32_t)dtx_le_u32(p) : (int64_t)dtx_le_u32(p);
	default: return (int64_t)dtx_le_u64(p);
	}
}

uint64_t dtx_arrow_code(const struct dtx_arrow_node *n, const struct dtx_arrow_array *a, int64_t i)
{
	/* one below 0 is a place that no dictionary has */
	return (uint64_t)load(a->data + i * n->width, n->width, n->code_signed);
}

static int64_t offset(const struct dtx_arrow_node *n, const struct dtx_arrow_array *a, int64_t i)
{
	return load(a->data + i * n->width, n->width, true);
}

struct dtx_str dtx_arrow_text(const struct dtx_arrow_node *n, const struct dtx_arrow_array *a,
                              int64_t i)
{
	const uint8_t *p;
	uint32_t len;

	if (n->layout == DTX_ARROW_BYTES) {
		int64_t at = offset(n, a, i);

		return (struct dtx_str){ (const char *)a->text + at,
			                 (size_t)(offset(n, a, i + 1) - at) };
	}
	p = a->data + 16 * i;
	len = dtx_le_u32(p);
	if (len <= DTX_TEXT_INLINE)
		return (struct dtx_str){ (const char *)p + 4, len };
	return (struct dtx_str){ a->piece[dtx_le_u32(p + 8)].ptr + dtx_le_u32(p + 12), len };
}

/* A decimal in `width` bytes, the lowest first, in two's complement. */
static const char *put_decimal(const struct dtx_arrow_node *n, const uint8_t *p,
                               struct dtx_pq_value *out)
{
	dtx_u128 v = 0;
	uint32_t i = DTX_MIN(n->width, 16U);
	uint8_t fill = p[n->width - 1] & 0x80 ? 0xff : 0;
	bool fits = i < 16 || !((p[15] ^ fill) & 0x80);

	if (fill)
		v = ~(dtx_u128)0;
	while (i--)
		v = v << 8 | p[i];
	for (i = 16; i < n->width; i++)
		fits = fits && p[i] == fill;
	out->v.dec = dtx_dec_put((dtx_i128)v);
	return fits && dtx_dec_fits((dtx_i128)v, n->value.precision)
	               ? NULL
	               : "it has more digits than its type";
}

/* Values of the dictionary as those of their column. */
static void put_coded(const struct dtx_column *c, uint32_t i, struct dtx_pq_value *out)
{
	out->null = dtx_column_is_null(c, i);
	if (out->null)
		return;
	switch (c->type.type) {
	case DTX_T_BOOL: out->v.b = dtx_bit(c->v.bits, i); break;
	case DTX_T_FLOAT64: out->v.f = c->v.f64[i]; break;
	case DTX_T_DECIMAL: out->v.dec = c->v.dec[i]; break;
	case DTX_T_DATE: out->v.i = c->v.day[i]; break;
	case DTX_T_TEXT: out->v.s = dtx_column_text(c, i); break;
	default: out->v.i = c->v.i64[i];
	}
}

/* Element i of a leaf, which is not null. NULL, or what is wrong with it. */
static const char *value_at(const struct dtx_arrow_batch *b, uint32_t node, int64_t i,
                            struct dtx_typed_counts *counts, struct dtx_pq_value *out)
{
	const struct dtx_arrow_node *n = &b->f->node[node];
	const struct dtx_arrow_array *a = &b->array[node];
	const uint8_t *p = a->data + i * n->width;
	union dtx_pq_values v;
	struct dtx_str s;
	int64_t number;
	double f;

	out->null = false;
	if (n->coded) {
		put_coded(b->dict[node], (uint32_t)dtx_arrow_code(n, a, i), out);
		return NULL;
	}
	switch (n->value.as) {
	case DTX_PQ_AS_BOOL: out->v.b = a->data[i >> 3] >> (i & 7) & 1; return NULL;
	case DTX_PQ_AS_DECIMAL: return put_decimal(n, p, out);
	case DTX_PQ_AS_TEXT:
		s = dtx_arrow_text(n, a, i);
		v.s = &s;
		break;
	case DTX_PQ_AS_HALF:
	case DTX_PQ_AS_UUID:
		s = (struct dtx_str){ (const char *)p, n->width };
		v.s = &s;
		break;
	case DTX_PQ_AS_FLOAT: {
		float single;

		memcpy(&single, p, sizeof(single)); /* the host's numbers begin low, too */
		f = n->width == 4 ? (double)single : dtx_le_f64(p);
		v.f = &f;
		break;
	}
	default:
		number = load(p, n->width, n->is_signed || n->value.as != DTX_PQ_AS_INT);
		if (n->value.as == DTX_PQ_AS_DATE && n->width == 8) {
			if (number % DAY_MS)
				return "it is a date with a time of day";
			number /= DAY_MS;
		}
		v.i = &number;
	}
	return dtx_pq_convert(&n->value, v, 0, counts, out);
}

static enum dtx_code bad_value(const struct making *m, int64_t row, const char *what,
                               struct dtx_err *err)
{
	return dtx_pq_bad_value(m->b->f->label, &m->node->value, m->name, m->b->first_row + row,
	                        what, err);
}

static enum dtx_code too_long(const struct making *m, int64_t row, size_t len, struct dtx_err *err)
{
	return dtx_archive_limits_fail(err, m->b->f->limits, "text",
	                               "'%s': column '%.100s', row %lld: a text of %zu bytes",
	                               m->b->f->label, m->name,
	                               (long long)(m->b->first_row + row) + 1, len);
}

/* --- columns --- */

static enum dtx_code make_values(struct making *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pq_value v;
	const char *bad;
	uint32_t i;

	for (i = 0; i < m->n; i++) {
		if (is_null(m->b, m->at, m->from + i)) {
			dtx_builder_null(&m->out);
			continue;
		}
		bad = value_at(m->b, m->at, m->from + i, m->counts, &v);
		if (bad) {
			rc = bad_value(m, m->from + i, bad, err);
			goto out;
		}
		dtx_pq_put(&m->out, &v);
	}
out:
	return rc;
}

static void load_words(const struct making *m, int64_t *to)
{
	const struct dtx_arrow_node *n = m->node;
	const uint8_t *p = m->a->data + m->from * n->width;
	double *f = (double *)(void *)to;
	float single;
	uint32_t i;

	if (n->width == 8) {
		memcpy(to, p, 8 * (size_t)m->n);
	} else if (n->value.as == DTX_PQ_AS_FLOAT) {
		for (i = 0; i < m->n; i++, p += 4) {
			memcpy(&single, p, sizeof(single));
			f[i] = (double)single;
		}
	} else if (n->width == 4 && n->is_signed) {
		for (i = 0; i < m->n; i++, p += 4)
			to[i] = (int32_t)dtx_le_u32(p);
	} else {
		for (i = 0; i < m->n; i++, p += n->width)
			to[i] = load(p, n->width, n->is_signed);
	}
}

/* Numbers of 8 bytes, which are converted to where they stay. */
static enum dtx_code make_words(struct making *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *to = dtx_builder_bulk(&m->out, m->n);
	uint32_t i;

	if (!to)
		DTX_FAIL_MEM(err);
	load_words(m, to);
	for (i = 0; may_be_null(m->b, m->at) && i < m->n; i++) {
		if (!is_null(m->b, m->at, m->from + i))
			continue;
		to[i] = 0; /* there may be anything */
		dtx_builder_absent(&m->out, i);
	}
	i = dtx_pq_fix_words(&m->node->value, &m->out, to, 0, m->n, m->counts);
	if (i < m->n)
		rc = bad_value(m, m->from + i, dtx_pq_no_such_time, err);
out:
	return rc;
}

/* Whether the texts of all rows, one after the other, are UTF-8, and none of them begins within a
 * character. */
static bool all_utf8(const struct making *m)
{
	int64_t at, end, k;
	uint32_t i;

	if (m->node->layout != DTX_ARROW_BYTES)
		return false;
	at = offset(m->node, m->a, m->from);
	end = offset(m->node, m->a, m->from + m->n);
	if (dtx_utf8_bad((const char *)m->a->text + at, (size_t)(end - at)) >= 0)
		return false;
	for (i = 0; i < m->n; i++) {
		k = offset(m->node, m->a, m->from + i);
		if (k < end && (m->a->text[k] & 0xc0) == 0x80)
			return false;
	}
	return true;
}

/* Texts point to the bytes of the batch. */
static enum dtx_code make_texts(struct making *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_text *to = dtx_builder_bulk(&m->out, m->n);
	bool nulls = may_be_null(m->b, m->at), good = all_utf8(m);
	uint32_t i;

	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < m->n; i++) {
		int64_t row = m->from + i;
		struct dtx_str s;

		if (nulls && is_null(m->b, m->at, row)) {
			to[i] = (struct dtx_text){ 0 };
			dtx_builder_absent(&m->out, i);
			continue;
		}
		s = dtx_arrow_text(m->node, m->a, row);
		if (s.len > m->b->f->limits->text)
			rc = too_long(m, row, s.len, err);
		else if (!good && dtx_utf8_bad(s.ptr, s.len) >= 0)
			rc = bad_value(m, row, "it is not UTF-8", err);
		if (rc != DTX_OK)
			goto out;
		to[i] = dtx_text_of(s.ptr, s.len);
	}
out:
	return rc;
}

/* Numbers in a dictionary of texts. */
static enum dtx_code make_codes(struct making *m, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *texts = m->b->dict[m->at], *code = NULL, *made;
	uint32_t *to, i;

	dtx_builder_init(&m->out, (struct dtx_typeref){ .type = DTX_T_DATE }, m->n);
	to = dtx_builder_bulk(&m->out, m->n);
	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < m->n; i++) {
		bool null = is_null(m->b, m->at, m->from + i);

		to[i] = null ? 0 : (uint32_t)dtx_arrow_code(m->node, m->a, m->from + i);
		if (null)
			dtx_builder_absent(&m->out, i);
	}
	DTX_TRY(dtx_builder_finish(&m->out, NULL, &code, err));
	made = dtx_column_new(DTX_F_DICT, texts->type, m->n, dtx_owner_ref(code->owner));
	if (!made)
		DTX_FAIL_MEM(err);
	made->v.any = code->v.any;
	made->valid = code->valid;
	made->nulls = code->nulls;
	made->dict = dtx_column_ref(texts);
	*out = made;
out:
	dtx_column_unref(code);
	return rc;
}

/* --- JSON texts --- */

static enum dtx_code add_json(struct making *m, uint32_t node, int64_t i, int64_t row,
                              struct dtx_buf *to, struct dtx_err *err);

/* Whether the items of a map are pairs whose key is a value, so that it can be an object. */
static bool is_object(const struct dtx_arrow_file *f, uint32_t node)
{
	const struct dtx_arrow_node *pair = &f->node[node + 1], *key = pair + 1;

	return f->node[node].map && pair->layout == DTX_ARROW_STRUCT && pair->end > node + 2 &&
	       !dtx_arrow_is_nested(key) &&
	       (key->end == pair->end || f->node[key->end].end == pair->end);
}

static enum dtx_code add_leaf(struct making *m, uint32_t node, int64_t i, int64_t row, bool key,
                              struct dtx_buf *to, struct dtx_err *err)
{
	struct dtx_typeref type = m->b->f->node[node].value.as_type;
	bool quotes = key && type.type >= DTX_T_BOOL && type.type <= DTX_T_DECIMAL;
	struct dtx_pq_value v = { .null = true };
	const char *bad = NULL;

	if (m->b->f->node[node].layout != DTX_ARROW_NONE && !absent(&m->b->array[node], i))
		bad = value_at(m->b, node, i, m->counts, &v);
	if (!bad && key && v.null)
		bad = "a key of a map is null, or not a number";
	if (bad)
		return bad_value(m, row, bad, err);
	if (quotes)
		dtx_buf_addc(to, '"');
	if (v.null)
		dtx_buf_add(to, "null");
	else
		dtx_pq_print_json(to, type, &v);
	if (quotes)
		dtx_buf_addc(to, '"');
	return DTX_OK;
}

static enum dtx_code add_pair(struct making *m, uint32_t pair, int64_t i, int64_t row,
                              struct dtx_buf *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_arrow_node *node = m->b->f->node;
	uint32_t value = node[pair + 1].end;

	DTX_TRY(add_leaf(m, pair + 1, i, row, true, to, err));
	dtx_buf_addc(to, ':');
	if (value == node[pair].end) /* a map without values is a set */
		dtx_buf_add(to, "null");
	else
		DTX_TRY(add_json(m, value, i, row, to, err));
out:
	return rc;
}

static enum dtx_code add_list(struct making *m, uint32_t node, int64_t i, int64_t row,
                              struct dtx_buf *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_arrow_node *n = &m->b->f->node[node];
	const struct dtx_arrow_array *a = &m->b->array[node];
	bool fixed = n->layout == DTX_ARROW_FIXED_LIST, object = is_object(m->b->f, node);
	int64_t at = fixed ? i * n->width : offset(n, a, i);
	int64_t end = fixed ? at + n->width : offset(n, a, i + 1), k;

	dtx_buf_addc(to, object ? '{' : '[');
	for (k = at; k < end; k++) {
		if (k > at)
			dtx_buf_addc(to, ',');
		if (object)
			DTX_TRY(add_pair(m, node + 1, k, row, to, err));
		else
			DTX_TRY(add_json(m, node + 1, k, row, to, err));
		if (to->len > m->b->f->limits->text) {
			rc = too_long(m, row, to->len, err);
			goto out;
		}
	}
	dtx_buf_addc(to, object ? '}' : ']');
out:
	return rc;
}

/* Adds element i of a node. Its depth is that of the schema. */
static enum dtx_code add_json(struct making *m, uint32_t node, int64_t i, int64_t row,
                              struct dtx_buf *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_arrow_node *n = &m->b->f->node[node];
	uint32_t c;

	if (!dtx_arrow_is_nested(n)) {
		rc = add_leaf(m, node, i, row, false, to, err);
	} else if (absent(&m->b->array[node], i)) {
		dtx_buf_add(to, "null");
	} else if (n->layout != DTX_ARROW_STRUCT) {
		rc = add_list(m, node, i, row, to, err);
	} else {
		dtx_buf_addc(to, '{');
		for (c = node + 1; c < n->end; c = m->b->f->node[c].end) {
			if (c > node + 1)
				dtx_buf_addc(to, ',');
			dtx_buf_json(to, dtx_str_of(m->b->f->node[c].name));
			dtx_buf_addc(to, ':');
			DTX_TRY(add_json(m, c, i, row, to, err));
		}
		dtx_buf_addc(to, '}');
	}
out:
	return rc;
}

static enum dtx_code make_json(struct making *m, size_t bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)2 << 30);
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < m->n && used <= bytes; i++) {
		if (is_null(m->b, m->at, m->from + i)) {
			dtx_builder_null(&m->out);
			continue;
		}
		dtx_buf_reset(&text);
		DTX_TRY(add_json(m, m->at, m->from + i, m->from + i, &text, err));
		DTX_TRY(dtx_buf_check(&text, "a JSON text", err));
		if (text.len > m->b->f->limits->text) {
			rc = too_long(m, m->from + i, text.len, err);
			goto out;
		}
		used += text.len;
		dtx_builder_text(&m->out, dtx_buf_str(&text));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- all of them --- */

uint32_t dtx_arrow_fit(const struct dtx_arrow_batch *b, uint32_t node, int64_t from, uint32_t n,
                       size_t bytes)
{
	const struct dtx_arrow_node *nd = &b->f->node[node];
	const struct dtx_arrow_array *a = &b->array[node];
	const struct dtx_column *c = nd->coded ? b->dict[node] : NULL;
	size_t used = 0;
	uint32_t i;

	if (nd->value.as != DTX_PQ_AS_TEXT || nd->layout == DTX_ARROW_NONE ||
	    dtx_arrow_is_nested(nd))
		return n;
	if (!c && nd->layout == DTX_ARROW_BYTES &&
	    (uint64_t)(offset(nd, a, from + n) - offset(nd, a, from)) <= bytes)
		return n;
	for (i = 0; i < n && used <= bytes; i++)
		if (!absent(a, from + i))
			used += c ? dtx_column_text(c, (uint32_t)dtx_arrow_code(nd, a, from + i))
			                        .len
			          : dtx_arrow_text(nd, a, from + i).len;
	return i;
}

/* Whether a dictionary column is smaller than its texts. */
static bool stays_coded(const struct making *m)
{
	const struct dtx_column *c = m->node->coded ? m->b->dict[m->at] : NULL;

	return c && c->type.type == DTX_T_TEXT && c->len && c->len <= m->n / 2 && !c->nulls;
}

enum dtx_code dtx_arrow_column(const struct dtx_arrow_batch *b, uint32_t node, const char *name,
                               int64_t from, uint32_t n, size_t bytes,
                               struct dtx_typed_counts *counts, struct dtx_column **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct making m = { .b = b,
		            .node = &b->f->node[node],
		            .a = &b->array[node],
		            .at = node,
		            .name = name,
		            .from = from,
		            .n = n,
		            .counts = counts };
	bool texts = m.node->layout == DTX_ARROW_BYTES || m.node->layout == DTX_ARROW_VIEWS;

	dtx_builder_init(&m.out, m.node->value.as_type, n);
	if (m.node->layout == DTX_ARROW_NONE) {
		DTX_TRY(dtx_column_nulls(m.node->value.as_type, n, out, err));
		goto out;
	}
	if (stays_coded(&m)) {
		DTX_TRY(make_codes(&m, out, err));
		goto out;
	}
	if (dtx_arrow_is_nested(m.node))
		DTX_TRY(make_json(&m, bytes, err));
	else if (texts)
		DTX_TRY(make_texts(&m, err));
	else if (!m.node->coded && dtx_pq_is_word(&m.node->value))
		DTX_TRY(make_words(&m, err));
	else
		DTX_TRY(make_values(&m, err));
	DTX_TRY(dtx_builder_finish(&m.out, texts ? b->owner : NULL, out, err));
out:
	dtx_builder_clear(&m.out);
	return rc;
}
