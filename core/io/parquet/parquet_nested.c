/* Lists and maps as JSON texts, put together from the entries of all leaves below them.
 *
 * An entry's definition level says how deep its path exists, its repetition level which of the
 * lists around it goes on with it. All leaves of a list have to agree on both, which is checked.
 * Source: the record assembly of the Dremel paper (Melnik et al., 2010), section 4.2. */
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"
#include "core/base/text/num.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/parquet/parquet.h"

struct assembly {
	struct dtx_pq_cursor *cursor; /* of each leaf of the file */
	const struct dtx_pq_file *f;
	const char *name;
	int64_t row;
	struct dtx_typed_counts *counts;
	struct dtx_buf text; /* of the cell */
	struct dtx_err *err;
};

static const struct dtx_pq_node *node_of(const struct assembly *a, uint32_t node)
{
	return &a->f->node[node];
}

/* The cursor of the first leaf of a node: it says for all of them where lists end. */
static struct dtx_pq_cursor *guide(const struct assembly *a, uint32_t node)
{
	return &a->cursor[node_of(a, node)->leaf];
}

/* Makes the next entry of a leaf readable; *any is false at the end of the chunk. */
static enum dtx_code peek(const struct assembly *a, struct dtx_pq_cursor *c, bool *any)
{
	enum dtx_code rc = DTX_OK;

	if (c->at_entry == c->n)
		rc = dtx_pq_cursor_fill(c, DTX_PQ_SLICE, a->err);
	*any = rc == DTX_OK && c->at_entry < c->n;
	return rc;
}

/* The definition level of the next entry. */
static enum dtx_code level(const struct assembly *a, struct dtx_pq_cursor *c, uint32_t *def)
{
	enum dtx_code rc = DTX_OK;
	bool any = false;

	DTX_TRY(peek(a, c, &any));
	if (!any) {
		rc = dtx_pq_corrupt(c, "it has fewer values than its row group has rows", a->err);
		goto out;
	}
	*def = c->defs[c->at_entry];
out:
	return rc;
}

/* Checks that the cell is not yet longer than a text may be, as it is being put together. */
static enum dtx_code check_length(const struct assembly *a)
{
	enum dtx_code rc = DTX_OK;

	if (a->text.len > a->f->limits->text)
		rc = dtx_archive_limits_fail(a->err, a->f->limits, "text",
		                             "'%s': column '%.100s', row %lld: the JSON text has "
		                             "more than %llu bytes",
		                             a->f->label, a->name, (long long)a->row + 1,
		                             (unsigned long long)a->f->limits->text);
	return rc;
}

/* Passes the entry in which a node does not exist: there is one of each leaf, of one level. */
static enum dtx_code pass_entries(struct assembly *a, uint32_t node, uint32_t def)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	uint32_t i, other = 0;

	for (i = 0; i < n->nleaves; i++) {
		struct dtx_pq_cursor *c = &a->cursor[n->leaf + i];

		DTX_TRY(level(a, c, &other));
		if (other != def) {
			rc = dtx_pq_corrupt(c, "its levels do not go with those of other leaves",
			                    a->err);
			goto out;
		}
		c->at_entry++;
	}
out:
	return rc;
}

/* The same, where what is around the node is known to exist. */
static enum dtx_code pass_absent(struct assembly *a, uint32_t node, uint32_t def)
{
	const struct dtx_pq_node *n = node_of(a, node);

	if (n->repetition == DTX_PQ_REQUIRED || def + 1 != n->max_def)
		return dtx_pq_corrupt(guide(a, node),
		                      "its levels do not go with those of other leaves", a->err);
	return pass_entries(a, node, def);
}

/* --- values --- */

void dtx_pq_print_json(struct dtx_buf *to, struct dtx_typeref type, const struct dtx_pq_value *v)
{
	char text[48];
	struct dtx_str s = { text, 0 };

	switch (type.type) {
	case DTX_T_BOOL: dtx_buf_add(to, v->v.b ? "true" : "false"); return;
	case DTX_T_INT64: dtx_buf_addn(to, text, dtx_num_print_i64(text, v->v.i)); return;
	case DTX_T_FLOAT64:
		dtx_buf_addn(to, text, dtx_num_print_f64(text, v->v.f == 0 ? 0 : v->v.f));
		return;
	case DTX_T_DECIMAL:
		dtx_buf_addn(to, text, dtx_dec_print(text, v->v.dec, type.scale));
		return;
	case DTX_T_DATE: s.len = dtx_day_print(text, (int32_t)v->v.i); break;
	case DTX_T_DATETIME: s.len = dtx_moment_print(text, type, v->v.i); break;
	default: s = v->v.s;
	}
	dtx_buf_json(to, s);
}

/* The value of a leaf that exists; as a key it is always in quotes. */
static enum dtx_code add_value(struct assembly *a, uint32_t node, bool key)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	struct dtx_pq_cursor *c = guide(a, node);
	struct dtx_pq_value v;
	const char *bad = dtx_pq_convert(n, c->v, c->at_value++, a->counts, &v);
	bool quotes =
		key && !v.null && n->as_type.type >= DTX_T_BOOL && n->as_type.type <= DTX_T_DECIMAL;

	if (!bad && key && v.null)
		bad = "a key of a map is not a number";
	if (bad) {
		rc = dtx_pq_bad_value(a->f->label, n, a->name, a->row, bad, a->err);
		goto out;
	}
	c->at_entry++;
	if (quotes)
		dtx_buf_addc(&a->text, '"');
	if (v.null)
		dtx_buf_add(&a->text, "null");
	else
		dtx_pq_print_json(&a->text, n->as_type, &v);
	if (quotes)
		dtx_buf_addc(&a->text, '"');
out:
	return rc;
}

/* --- structure --- */

static enum dtx_code add_content(struct assembly *a, uint32_t node);

/* A node that is not repeated. */
static enum dtx_code add_node(struct assembly *a, uint32_t node)
{
	enum dtx_code rc = DTX_OK;
	uint32_t def = 0;

	DTX_TRY(level(a, guide(a, node), &def));
	if (def < node_of(a, node)->max_def) {
		dtx_buf_add(&a->text, "null");
		DTX_TRY(pass_absent(a, node, def));
	} else {
		DTX_TRY(add_content(a, node));
	}
out:
	return rc;
}

/* Whether the list of a repeated node goes on. All of its leaves must say the same. */
static enum dtx_code goes_on(struct assembly *a, uint32_t node, bool *more)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	uint32_t i;

	*more = false;
	for (i = 0; i < n->nleaves; i++) {
		struct dtx_pq_cursor *c = &a->cursor[n->leaf + i];
		bool any = false, same;

		DTX_TRY(peek(a, c, &any));
		same = any && c->reps[c->at_entry] == n->max_rep;
		if (any && c->reps[c->at_entry] > n->max_rep)
			rc = dtx_pq_corrupt(c, "its lists begin inside of others", a->err);
		else if (i && same != *more)
			rc = dtx_pq_corrupt(c, "its lists are not as long as those of other leaves",
			                    a->err);
		if (rc != DTX_OK)
			goto out;
		*more = same;
	}
out:
	return rc;
}

/* The elements of a repeated node, each made by `element` from the node `of`, with commas. */
static enum dtx_code add_elements(struct assembly *a, uint32_t node, uint32_t of,
                                  enum dtx_code (*element)(struct assembly *, uint32_t))
{
	enum dtx_code rc = DTX_OK;
	uint32_t def = 0;
	bool more = true, first = true;

	DTX_TRY(level(a, guide(a, node), &def));
	if (def < node_of(a, node)->max_def) { /* an empty list */
		rc = pass_absent(a, node, def);
		goto out;
	}
	for (; more; first = false) {
		if (!first)
			dtx_buf_addc(&a->text, ',');
		/* an element of a list exists, so none of its leaves may end above it */
		DTX_TRY(level(a, guide(a, node), &def));
		if (def < node_of(a, node)->max_def) {
			rc = dtx_pq_corrupt(guide(a, node), "an element of its list does not exist",
			                    a->err);
			goto out;
		}
		DTX_TRY(element(a, of));
		DTX_TRY(check_length(a));
		DTX_TRY(goes_on(a, node, &more));
	}
out:
	return rc;
}

static enum dtx_code add_list(struct assembly *a, uint32_t repeated, uint32_t of)
{
	enum dtx_code rc = DTX_OK;

	dtx_buf_addc(&a->text, '[');
	DTX_TRY(add_elements(a, repeated, of, of == repeated ? add_content : add_node));
	dtx_buf_addc(&a->text, ']');
out:
	return rc;
}

/* A key and its value; the key must be a leaf that exists. */
static enum dtx_code add_pair(struct assembly *a, uint32_t pair)
{
	enum dtx_code rc = DTX_OK;
	uint32_t key = pair + 1, value = node_of(a, key)->end, def = 0;

	DTX_TRY(level(a, guide(a, key), &def));
	if (def < node_of(a, key)->max_def) {
		rc = dtx_pq_bad_value(a->f->label, node_of(a, key), a->name, a->row,
		                      "a key of a map is null", a->err);
		goto out;
	}
	DTX_TRY(add_value(a, key, true));
	dtx_buf_addc(&a->text, ':');
	if (value == node_of(a, pair)->end) /* a map without values is a set */
		dtx_buf_add(&a->text, "null");
	else
		DTX_TRY(add_node(a, value));
out:
	return rc;
}

static enum dtx_code add_member(struct assembly *a, uint32_t node)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);

	dtx_buf_json(&a->text, dtx_str_of(n->name));
	dtx_buf_addc(&a->text, ':');
	if (n->repetition == DTX_PQ_REPEATED)
		rc = add_list(a, node, node);
	else
		rc = add_node(a, node);
	return rc;
}

static enum dtx_code add_struct(struct assembly *a, uint32_t node)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	dtx_buf_addc(&a->text, '{');
	for (c = node + 1; c < node_of(a, node)->end; c = node_of(a, c)->end) {
		if (c > node + 1)
			dtx_buf_addc(&a->text, ',');
		DTX_TRY(add_member(a, c));
	}
	dtx_buf_addc(&a->text, '}');
out:
	return rc;
}

/* Whether a group is a map that can be a JSON object: its pairs begin with a key that is a value.
 */
static bool is_map(const struct assembly *a, uint32_t node, uint32_t pair)
{
	const struct dtx_pq_node *n = node_of(a, node), *p = node_of(a, pair), *key = p + 1;

	return n->logical == DTX_PQ_L_MAP && p->type == DTX_PQ_GROUP && key->type != DTX_PQ_GROUP &&
	       key->repetition != DTX_PQ_REPEATED &&
	       (key->end == p->end || (a->f->node[key->end].end == p->end &&
	                               a->f->node[key->end].repetition != DTX_PQ_REPEATED));
}

/* A node that exists: value, list, map or struct. */
static enum dtx_code add_content(struct assembly *a, uint32_t node)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	uint32_t repeated = n->type == DTX_PQ_GROUP ? dtx_pq_repeated_child(a->f, node) : 0;

	if (n->type != DTX_PQ_GROUP) {
		rc = add_value(a, node, false);
	} else if (repeated && is_map(a, node, repeated)) {
		dtx_buf_addc(&a->text, '{');
		DTX_TRY(add_elements(a, repeated, repeated, add_pair));
		dtx_buf_addc(&a->text, '}');
	} else if (repeated && n->logical == DTX_PQ_L_LIST) {
		bool wraps = dtx_pq_list_wraps(a->f, node, repeated);

		rc = add_list(a, repeated, wraps ? repeated + 1 : repeated);
	} else if (repeated && n->logical == DTX_PQ_L_MAP) {
		rc = add_list(a, repeated, repeated); /* of pairs, as its keys are no values */
	} else {
		rc = add_struct(a, node);
	}
out:
	return rc;
}

/* --- rows --- */

/* Checks that the next entry of each leaf begins a row. */
static enum dtx_code check_begin(const struct assembly *a, uint32_t node)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	uint32_t i, def = 0;

	for (i = 0; i < n->nleaves; i++) {
		struct dtx_pq_cursor *c = &a->cursor[n->leaf + i];

		DTX_TRY(level(a, c, &def));
		if (c->reps[c->at_entry]) {
			rc = dtx_pq_corrupt(c, "its rows do not go with those of other leaves",
			                    a->err);
			goto out;
		}
	}
out:
	return rc;
}

/* The cell of the next row. *null: it does not exist. */
static enum dtx_code add_cell(struct assembly *a, uint32_t node, bool *null)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_node *n = node_of(a, node);
	uint32_t def = 0;

	dtx_buf_reset(&a->text);
	*null = false;
	DTX_TRY(check_begin(a, node));
	DTX_TRY(level(a, guide(a, node), &def));
	if (n->repetition == DTX_PQ_REPEATED && def + 1 >= n->max_def) {
		DTX_TRY(add_list(a, node, node));
	} else if (def < n->max_def) {
		*null = true;
		DTX_TRY(pass_entries(a, node, def));
	} else {
		DTX_TRY(add_content(a, node));
	}
	DTX_TRY(check_length(a));
	DTX_TRY(dtx_buf_check(&a->text, "a JSON text", a->err));
out:
	return rc;
}

enum dtx_code dtx_pq_nested(struct dtx_pq_cursor *c, const struct dtx_pq_file *f, uint32_t node,
                            const char *name, int64_t row, uint32_t rows, size_t bytes,
                            struct dtx_typed_counts *counts, struct dtx_column **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct assembly a = { c, f, name, row, counts, DTX_BUF_INIT((size_t)2 << 30), err };
	struct dtx_builder b;
	size_t used = 0;
	uint32_t i;
	bool null = false;

	dtx_builder_init(&b, (struct dtx_typeref){ .type = DTX_T_TEXT }, rows);
	for (i = 0; i < rows && used <= bytes; i++, a.row++) {
		DTX_TRY(add_cell(&a, node, &null));
		used += a.text.len;
		if (null)
			dtx_builder_null(&b);
		else
			dtx_builder_text(&b, dtx_buf_str(&a.text));
	}
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_buf_clear(&a.text);
	dtx_builder_clear(&b);
	return rc;
}
