/* The footer of a Parquet file: schema, row groups, and where the chunks of columns are. Everything
 * is checked against the size of the file here, so that later code can rely on it. */
#include "core/base/text/le.h"
#include "core/base/text/utf8.h"
#include "core/io/parquet/parquet.h"
#include "core/io/parquet/thrift.h"

enum {
	TAIL = 8, /* u32 length of the footer, "PAR1" */
	NODES_MAX = 1 << 20,
	LEVELS_MAX = 64,    /* of nesting */
	NAME_MAX = 1 << 16, /* bytes of the name of a column */
	GROUPS_MAX = 1 << 24
};
#define ROWS_MAX ((int64_t)1 << 48) /* row ids have room for more */

/* A node as the file has it. */
struct element {
	struct dtx_pq_node *node;
	int64_t children, converted, precision, scale, width;
	bool has_type, has_logical, has_name;
};

bool dtx_pq_sniff(const void *head, size_t len)
{
	return len >= 4 && (!memcmp(head, "PAR1", 4) || !memcmp(head, "PARE", 4));
}

void dtx_pq_file_clear(struct dtx_pq_file *f)
{
	json_decref(f->kinds);
	dtx_arena_clear(&f->arena);
}

/* --- logical types --- */

static uint32_t read_unit(struct dtx_thrift *t, const struct dtx_thrift_field *f)
{
	static const uint32_t units[] = { 0, 1000, 1000 * 1000, 1000 * 1000 * 1000 };
	struct dtx_thrift_field member;
	int32_t id = dtx_thrift_union(t, f, &member);

	if (id) {
		dtx_thrift_skip(t, member.type);
		dtx_thrift_union_end(t, &member);
	}
	return id > 0 && id < 4 ? units[id] : 0;
}

/* The parameters of a logical type, whose fields have the same numbers where types share them. */
static void read_params(struct dtx_thrift *t, struct element *e)
{
	struct dtx_thrift_field f = { 0 };
	enum dtx_pq_logical logical = e->node->logical;
	bool time = logical == DTX_PQ_L_TIME || logical == DTX_PQ_L_TIMESTAMP;

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		if (logical == DTX_PQ_L_DECIMAL && f.id == 1)
			e->scale = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX);
		else if (logical == DTX_PQ_L_DECIMAL && f.id == 2)
			e->precision = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX);
		else if (time && f.id == 1)
			e->node->utc = dtx_thrift_bool(t, &f);
		else if (time && f.id == 2)
			e->node->per_second = read_unit(t, &f);
		else if (logical == DTX_PQ_L_INTEGER && f.id == 2)
			e->node->is_unsigned = !dtx_thrift_bool(t, &f);
		else
			dtx_thrift_skip(t, f.type);
	}
}

static void read_logical(struct dtx_thrift *t, const struct dtx_thrift_field *f, struct element *e)
{
	static const enum dtx_pq_logical ids[] = {
		[0] = DTX_PQ_L_OTHER,     [1] = DTX_PQ_L_STRING,   [2] = DTX_PQ_L_MAP,
		[3] = DTX_PQ_L_LIST,      [4] = DTX_PQ_L_ENUM,     [5] = DTX_PQ_L_DECIMAL,
		[6] = DTX_PQ_L_DATE,      [7] = DTX_PQ_L_TIME,     [8] = DTX_PQ_L_TIMESTAMP,
		[9] = DTX_PQ_L_INTERVAL,  [10] = DTX_PQ_L_INTEGER, [11] = DTX_PQ_L_NULL,
		[12] = DTX_PQ_L_JSON,     [13] = DTX_PQ_L_BSON,    [14] = DTX_PQ_L_UUID,
		[15] = DTX_PQ_L_FLOAT16,  [16] = DTX_PQ_L_VARIANT, [17] = DTX_PQ_L_GEOMETRY,
		[18] = DTX_PQ_L_GEOGRAPHY
	};
	struct dtx_thrift_field member;
	int32_t id = dtx_thrift_union(t, f, &member);

	e->has_logical = true;
	e->node->logical = DTX_PQ_L_OTHER;
	if (!id)
		return;
	if ((size_t)id < DTX_COUNT(ids))
		e->node->logical = ids[id];
	if (member.type == DTX_THRIFT_STRUCT)
		read_params(t, e);
	else
		dtx_thrift_skip(t, member.type);
	dtx_thrift_union_end(t, &member);
}

/* The older way to say the logical type; its times are in UTC. */
static void use_converted(struct element *e)
{
	static const struct {
		enum dtx_pq_logical logical;
		uint32_t per_second;
		bool is_unsigned;
	} types[] = {
		{ DTX_PQ_L_STRING, 0, false },
		{ DTX_PQ_L_MAP, 0, false },
		{ DTX_PQ_L_MAP, 0, false },
		{ DTX_PQ_L_LIST, 0, false },
		{ DTX_PQ_L_ENUM, 0, false },
		{ DTX_PQ_L_DECIMAL, 0, false },
		{ DTX_PQ_L_DATE, 0, false },
		{ DTX_PQ_L_TIME, 1000, false },
		{ DTX_PQ_L_TIME, 1000000, false },
		{ DTX_PQ_L_TIMESTAMP, 1000, false },
		{ DTX_PQ_L_TIMESTAMP, 1000000, false },
		{ DTX_PQ_L_INTEGER, 0, true },
		{ DTX_PQ_L_INTEGER, 0, true },
		{ DTX_PQ_L_INTEGER, 0, true },
		{ DTX_PQ_L_INTEGER, 0, true },
		{ DTX_PQ_L_INTEGER, 0, false },
		{ DTX_PQ_L_INTEGER, 0, false },
		{ DTX_PQ_L_INTEGER, 0, false },
		{ DTX_PQ_L_INTEGER, 0, false },
		{ DTX_PQ_L_JSON, 0, false },
		{ DTX_PQ_L_BSON, 0, false },
		{ DTX_PQ_L_INTERVAL, 0, false },
	};
	struct dtx_pq_node *n = e->node;

	if (e->has_logical || e->converted < 0)
		return;
	n->logical = DTX_PQ_L_OTHER;
	if ((size_t)e->converted >= DTX_COUNT(types))
		return;
	n->logical = types[e->converted].logical;
	n->per_second = types[e->converted].per_second;
	n->utc = n->logical == DTX_PQ_L_TIMESTAMP;
	n->is_unsigned = types[e->converted].is_unsigned;
}

/* --- schema --- */

static const char *copy_name(struct dtx_pq_file *f, struct dtx_thrift *t, struct dtx_str name)
{
	/* a struct's name is repeated in those of its members, so it cannot be as long as it likes
	 */
	if (name.len > NAME_MAX)
		dtx_thrift_fail(t, "the name of a column is longer than 65,536 bytes");
	else if (memchr(name.ptr, 0, name.len) || dtx_utf8_bad(name.ptr, name.len) >= 0)
		dtx_thrift_fail(t, "the name of a column is not UTF-8");
	return t->bad ? "" : dtx_arena_strndup(&f->arena, name.ptr, name.len);
}

static void read_element(struct dtx_pq_file *file, struct dtx_thrift *t, struct element *e)
{
	struct dtx_thrift_field f = { 0 };
	struct dtx_pq_node *n = e->node;

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		switch (f.id) {
		case 1:
			n->type = (enum dtx_pq_type)dtx_thrift_int(t, &f, DTX_PQ_BOOLEAN,
			                                           DTX_PQ_FIXED);
			e->has_type = true;
			break;
		case 2: e->width = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX); break;
		case 3:
			n->repetition = (enum dtx_pq_repetition)dtx_thrift_int(
				t, &f, DTX_PQ_REQUIRED, DTX_PQ_REPEATED);
			break;
		case 4:
			n->name = copy_name(file, t, dtx_thrift_text(t, &f));
			e->has_name = true;
			break;
		case 5: e->children = dtx_thrift_int(t, &f, 0, NODES_MAX); break;
		case 6: e->converted = dtx_thrift_int(t, &f, 0, INT32_MAX); break;
		case 7: e->scale = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX); break;
		case 8: e->precision = dtx_thrift_int(t, &f, INT32_MIN, INT32_MAX); break;
		case 10: read_logical(t, &f, e); break;
		default: dtx_thrift_skip(t, f.type);
		}
	}
}

/* Checks what a node says of itself. A decimal that dtx has no room for is refused only where it is
 * read. */
static void check_element(struct dtx_thrift *t, struct element *e)
{
	struct dtx_pq_node *n = e->node;

	use_converted(e);
	if (!e->has_name)
		dtx_thrift_fail(t, "a column has no name");
	if (e->has_type == (e->children > 0))
		dtx_thrift_fail(t, "a column has both a type and columns below it, or neither");
	if (!e->has_type)
		n->type = DTX_PQ_GROUP;
	if (n->type == DTX_PQ_FIXED && (e->width < 1 || e->width > (1 << 20)))
		dtx_thrift_fail(t, "the width of a column is out of range");
	n->width = n->type == DTX_PQ_FIXED ? (uint32_t)e->width : 0;
	if (n->logical != DTX_PQ_L_DECIMAL)
		return;
	if (e->precision < 1 || e->scale < 0 || e->scale > e->precision)
		dtx_thrift_fail(t, "a decimal has no such precision and scale");
	n->precision = (uint8_t)DTX_MIN(e->precision, UINT8_MAX);
	n->scale = (uint8_t)DTX_MIN(e->scale, UINT8_MAX);
}

/* Reads the nodes and computes their levels. `open` has the groups whose children are being read,
 * and how many are to come. */
static void read_schema(struct dtx_pq_file *f, struct dtx_thrift *t, size_t n)
{
	struct {
		uint32_t node;
		int64_t children;
	} open[LEVELS_MAX];
	size_t depth = 0, i;

	for (i = 0; i < n && !t->bad; i++) {
		struct dtx_pq_node *node = &f->node[i];
		struct element e = { .node = node, .converted = -1 };

		read_element(f, t, &e);
		if (i == 0) {
			e.has_type = false;
			e.has_name = true;
			node->repetition = DTX_PQ_REQUIRED;
			node->name = "";
		}
		check_element(t, &e);
		if (t->bad || (i && !depth)) {
			dtx_thrift_fail(t, "the schema has more than one root");
			return;
		}
		if (i) {
			const struct dtx_pq_node *up = &f->node[open[depth - 1].node];

			node->max_def =
				(uint8_t)(up->max_def + (node->repetition != DTX_PQ_REQUIRED));
			node->max_rep =
				(uint8_t)(up->max_rep + (node->repetition == DTX_PQ_REPEATED));
			open[depth - 1].children--;
		}
		node->leaf = f->nleaves;
		if (node->type == DTX_PQ_GROUP) {
			if (depth == LEVELS_MAX) {
				dtx_thrift_fail(t, "the schema is nested too deep");
				return;
			}
			open[depth].node = (uint32_t)i;
			open[depth++].children = e.children;
		} else {
			f->leaf_node[f->nleaves++] = (uint32_t)i;
			node->nleaves = 1;
			node->end = (uint32_t)i + 1;
		}
		for (; depth && !open[depth - 1].children; depth--) {
			struct dtx_pq_node *g = &f->node[open[depth - 1].node];

			g->end = (uint32_t)i + 1;
			g->nleaves = f->nleaves - g->leaf;
		}
	}
	if (depth)
		dtx_thrift_fail(t, "the schema ends early");
}

static enum dtx_code take_schema(struct dtx_pq_file *f, struct dtx_thrift *t,
                                 const struct dtx_thrift_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = dtx_thrift_list(t, field, DTX_THRIFT_STRUCT);

	if (!n || n > NODES_MAX || f->node)
		dtx_thrift_fail(t, "there is no schema, or it is too large");
	if (t->bad)
		goto out;
	f->node = dtx_arena_zalloc(&f->arena, n, sizeof(*f->node));
	f->leaf_node = dtx_arena_zalloc(&f->arena, n, sizeof(*f->leaf_node));
	if (!f->node || !f->leaf_node)
		DTX_FAIL_MEM(err);
	f->nnodes = (uint32_t)n;
	read_schema(f, t, n);
	for (size_t i = 0; !t->bad && i < n; i++)
		if (!f->node[i].name)
			DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- row groups --- */

struct chunk_facts {
	int64_t type, data, dict, size;
	bool encrypted, elsewhere, has_meta;
};

/* Statistics of a chunk. The old members min and max (1, 2) have no order that is certain. */
static void read_stats(struct dtx_thrift *t, struct dtx_pq_chunk *c)
{
	struct dtx_thrift_field f = { 0 };

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		switch (f.id) {
		case 3: c->nulls = dtx_thrift_int(t, &f, 0, INT64_MAX); break;
		case 5: c->most = dtx_thrift_text(t, &f); break;
		case 6: c->least = dtx_thrift_text(t, &f); break;
		case 7:
			if (!dtx_thrift_bool(t, &f))
				c->most.len = 0;
			break;
		case 8:
			if (!dtx_thrift_bool(t, &f))
				c->least.len = 0;
			break;
		default: dtx_thrift_skip(t, f.type);
		}
	}
}

static void read_chunk_meta(struct dtx_thrift *t, struct dtx_pq_chunk *c, struct chunk_facts *m)
{
	struct dtx_thrift_field f = { 0 };

	m->has_meta = true;
	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		switch (f.id) {
		case 1: m->type = dtx_thrift_int(t, &f, DTX_PQ_BOOLEAN, DTX_PQ_FIXED); break;
		case 4: c->codec = (unsigned)dtx_thrift_int(t, &f, 0, INT32_MAX); break;
		case 5: c->entries = dtx_thrift_int(t, &f, 0, INT64_MAX); break;
		case 7: m->size = dtx_thrift_int(t, &f, 0, INT64_MAX); break;
		case 9: m->data = dtx_thrift_int(t, &f, 0, INT64_MAX); break;
		case 11: m->dict = dtx_thrift_int(t, &f, 0, INT64_MAX); break;
		case 12: read_stats(t, c); break;
		default: dtx_thrift_skip(t, f.type);
		}
	}
}

static void read_chunk(struct dtx_thrift *t, struct dtx_pq_chunk *c, struct chunk_facts *m)
{
	struct dtx_thrift_field f = { 0 };

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f)) {
		if (f.id == 1)
			m->elsewhere = dtx_thrift_text(t, &f).len > 0;
		else if (f.id == 3 && f.type == DTX_THRIFT_STRUCT)
			read_chunk_meta(t, c, m);
		else
			dtx_thrift_skip(t, f.type);
		m->encrypted = m->encrypted || f.id == 8 || f.id == 9;
	}
}

/* Finds the bytes of a chunk. Some writers say 0 for a dictionary that is not there. */
static enum dtx_code place_chunk(const struct dtx_pq_file *f, const struct dtx_pq_node *leaf,
                                 const struct chunk_facts *m, struct dtx_pq_chunk *c, size_t group,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = m->dict > 0 && m->dict < m->data ? m->dict : m->data;

	if (m->encrypted)
		DTX_FAIL_NEXT(err, DTX_E_ENCRYPTED_FILE,
		              "write it without encryption with the program that has the key",
		              "'%s': column '%s' is encrypted", f->label, leaf->name);
	if (m->elsewhere)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s': column '%s' of row group %zu is in another file", f->label,
		         leaf->name, group);
	if (!m->has_meta || m->type != leaf->type)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE,
		         "'%s': column '%s' has another type in row group %zu than in the schema",
		         f->label, leaf->name, group);
	c->at = (uint64_t)at;
	c->size = (uint64_t)m->size;
	if (at < 4 || c->at > f->data_end || c->size > f->data_end - c->at)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE,
		         "'%s': column '%s' of row group %zu is said to be at byte %llu with %llu "
		         "bytes, outside of the %zu bytes of data",
		         f->label, leaf->name, group, (unsigned long long)c->at,
		         (unsigned long long)c->size, f->data_end);
out:
	return rc;
}

static enum dtx_code read_chunks(struct dtx_pq_file *f, struct dtx_thrift *t,
                                 const struct dtx_thrift_field *field, struct dtx_pq_group *g,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = dtx_thrift_list(t, field, DTX_THRIFT_STRUCT), i;
	struct dtx_pq_chunk *chunk;

	if (n != f->nleaves || g->chunk)
		dtx_thrift_fail(t, "a row group has not the columns of the schema");
	if (t->bad)
		goto out;
	chunk = dtx_arena_zalloc(&f->arena, n, sizeof(*chunk));
	if (!chunk)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n && !t->bad; i++) {
		struct chunk_facts m = { 0 };

		chunk[i].nulls = -1;
		read_chunk(t, &chunk[i], &m);
		if (!t->bad)
			DTX_TRY(place_chunk(f, &f->node[f->leaf_node[i]], &m, &chunk[i],
			                    (size_t)(g - f->group), err));
	}
	g->chunk = chunk;
out:
	return rc;
}

static enum dtx_code read_group(struct dtx_pq_file *f, struct dtx_thrift *t, struct dtx_pq_group *g,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_thrift_field field = { 0 };

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &field)) {
		if (field.id == 1)
			DTX_TRY(read_chunks(f, t, &field, g, err));
		else if (field.id == 3)
			g->rows = dtx_thrift_int(t, &field, 0, ROWS_MAX);
		else
			dtx_thrift_skip(t, field.type);
	}
	if (!g->chunk)
		dtx_thrift_fail(t, "a row group has no columns");
out:
	return rc;
}

static enum dtx_code take_groups(struct dtx_pq_file *f, struct dtx_thrift *t,
                                 const struct dtx_thrift_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = dtx_thrift_list(t, field, DTX_THRIFT_STRUCT), i;
	int64_t rows = 0;

	if (!f->node || f->group || n > GROUPS_MAX)
		dtx_thrift_fail(t, "row groups come before the schema, twice, or too many");
	if (t->bad)
		goto out;
	f->group = dtx_arena_zalloc(&f->arena, n + 1, sizeof(*f->group));
	if (!f->group)
		DTX_FAIL_MEM(err);
	f->ngroups = n;
	for (i = 0; i < n && !t->bad; i++) {
		DTX_TRY(read_group(f, t, &f->group[i], err));
		f->group[i].first_row = (uint64_t)rows;
		rows += f->group[i].rows;
		if (rows > ROWS_MAX)
			dtx_thrift_fail(t, "there are too many rows");
	}
out:
	return rc;
}

/* --- metadata --- */

static enum dtx_code take_metadata(struct dtx_pq_file *f, struct dtx_thrift *t,
                                   const struct dtx_thrift_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = dtx_thrift_list(t, field, DTX_THRIFT_STRUCT), i;

	f->key = dtx_arena_zalloc(&f->arena, n + 1, sizeof(*f->key));
	f->value = dtx_arena_zalloc(&f->arena, n + 1, sizeof(*f->value));
	if (!f->key || !f->value)
		DTX_FAIL_MEM(err);
	f->nkeys = n;
	for (i = 0; i < n && !t->bad; i++) {
		struct dtx_thrift_field m = { 0 };

		dtx_thrift_open(t);
		while (dtx_thrift_next(t, &m)) {
			if (m.id == 1)
				f->key[i] = dtx_thrift_text(t, &m);
			else if (m.id == 2)
				f->value[i] = dtx_thrift_text(t, &m);
			else
				dtx_thrift_skip(t, m.type);
		}
	}
out:
	return rc;
}

/* Which leaves have statistics in the order of their type: other orders are not known. */
static enum dtx_code take_orders(struct dtx_pq_file *f, struct dtx_thrift *t,
                                 const struct dtx_thrift_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = dtx_thrift_list(t, field, DTX_THRIFT_STRUCT), i;
	struct dtx_thrift_field item = { .type = DTX_THRIFT_STRUCT }, member;

	if (!t->bad && (n != f->nleaves || f->ordered))
		dtx_thrift_fail(t, "there are more or fewer orders than columns");
	if (t->bad)
		goto out;
	f->ordered = dtx_arena_zalloc(&f->arena, n + 1, sizeof(*f->ordered));
	if (!f->ordered)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n && !t->bad; i++) {
		int32_t id = dtx_thrift_union(t, &item, &member);

		f->ordered[i] = id == 1;
		if (!id)
			continue;
		dtx_thrift_skip(t, member.type);
		dtx_thrift_union_end(t, &member);
	}
out:
	return rc;
}

static enum dtx_code read_footer(struct dtx_pq_file *f, struct dtx_thrift *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_thrift_field field = { 0 };

	f->rows = -1;
	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &field)) {
		switch (field.id) {
		case 2: DTX_TRY(take_schema(f, t, &field, err)); break;
		case 3: f->rows = dtx_thrift_int(t, &field, 0, ROWS_MAX); break;
		case 4: DTX_TRY(take_groups(f, t, &field, err)); break;
		case 5: DTX_TRY(take_metadata(f, t, &field, err)); break;
		case 6: f->created_by = dtx_thrift_text(t, &field); break;
		case 7: DTX_TRY(take_orders(f, t, &field, err)); break;
		case 8:
			DTX_FAIL_NEXT(
				err, DTX_E_ENCRYPTED_FILE,
				"write it without encryption with the program that has the key",
				"'%s' is an encrypted Parquet file", f->label);
		default: dtx_thrift_skip(t, field.type);
		}
	}
	if (!f->node || f->rows < 0)
		dtx_thrift_fail(t, "the schema or the number of rows is missing");
out:
	return rc;
}

/* Checks that the row groups have as many rows as the file says. */
static enum dtx_code check_rows(const struct dtx_pq_file *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t rows = 0;
	size_t i;

	for (i = 0; i < f->ngroups; i++)
		rows += f->group[i].rows;
	if (rows != f->rows)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE,
		         "'%s': its row groups have %lld rows, but its footer says %lld", f->label,
		         (long long)rows, (long long)f->rows);
out:
	return rc;
}

enum dtx_code dtx_pq_footer(struct dtx_pq_file *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *tail;
	struct dtx_thrift t;
	uint32_t n;

	if (f->len < 4 + TAIL)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s' is too short for a Parquet file: %zu bytes",
		         f->label, f->len);
	tail = f->bytes + f->len - TAIL;
	if (!memcmp(tail + 4, "PARE", 4))
		DTX_FAIL_NEXT(err, DTX_E_ENCRYPTED_FILE,
		              "write it without encryption with the program that has the key",
		              "'%s' is an encrypted Parquet file", f->label);
	if (memcmp(tail + 4, "PAR1", 4))
		DTX_FAIL_NEXT(err, DTX_E_CORRUPT_FILE,
		              "it was cut short, or is still being written: copy it again",
		              "'%s' begins as a Parquet file, but has no footer at its end",
		              f->label);
	n = dtx_le_u32(tail);
	if (n > f->len - 4 - TAIL)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE,
		         "'%s': its footer is said to have %u bytes, more than the file has",
		         f->label, (unsigned)n);
	f->data_end = f->len - TAIL - n;
	t = dtx_thrift_of(f->bytes + f->data_end, n);
	DTX_TRY(read_footer(f, &t, err));
	if (t.bad)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s': its footer is damaged at byte %llu: %s",
		         f->label, (unsigned long long)(f->data_end + (size_t)(t.p - t.start)),
		         t.bad);
	DTX_TRY(check_rows(f, err));
	dtx_pq_types(f);
out:
	return rc;
}
