/* From the schema of an Arrow file to columns and types of dtx. */
#include "core/base/text/utf8.h"
#include "core/io/arrow/arrow.h"

enum { NODES_MAX = 1 << 20, LEVELS_MAX = 64, NAME_MAX = 1 << 16, KEYS_MAX = 1 << 16 };

/* The types, with the numbers of the format. */
enum {
	T_NULL = 1,
	T_INT,
	T_FLOAT,
	T_BINARY,
	T_UTF8,
	T_BOOL,
	T_DECIMAL,
	T_DATE,
	T_TIME,
	T_TIMESTAMP,
	T_INTERVAL,
	T_LIST,
	T_STRUCT,
	T_UNION,
	T_FIXED_BINARY,
	T_FIXED_LIST,
	T_MAP,
	T_DURATION,
	T_LARGE_BINARY,
	T_LARGE_UTF8,
	T_LARGE_LIST,
	T_RUN_END,
	T_BINARY_VIEW,
	T_UTF8_VIEW,
	T_LIST_VIEW,
	T_LARGE_LIST_VIEW
};

static void set(struct dtx_arrow_node *n, enum dtx_arrow_layout layout, uint32_t width,
                enum dtx_pq_as as, enum dtx_type type)
{
	static const uint8_t buffers[] = {
		[DTX_ARROW_FIXED] = 2, [DTX_ARROW_BITS] = 2, [DTX_ARROW_BYTES] = 3,
		[DTX_ARROW_VIEWS] = 2, [DTX_ARROW_LIST] = 2, [DTX_ARROW_FIXED_LIST] = 1,
		[DTX_ARROW_STRUCT] = 1
	};

	n->layout = layout;
	n->width = width;
	n->buffers = layout == DTX_ARROW_OTHER ? 0 : buffers[layout];
	n->value.as = as;
	n->value.as_type = (struct dtx_typeref){ .type = type };
}

/* A type that dtx has not, whose arrays have so many buffers with that of validity. */
static void refuse(struct dtx_arrow_node *n, const char *what, unsigned buffers)
{
	set(n, DTX_ARROW_OTHER, 0, DTX_PQ_AS_NOTHING, DTX_T_TEXT);
	n->buffers = buffers;
	n->value.refused = what;
}

static void set_decimal(struct dtx_arrow_node *n, enum dtx_pq_as as, uint32_t width,
                        int32_t precision, int32_t scale)
{
	if (precision < 1 || precision > 38) {
		refuse(n, "decimal with more than 38 digits", 2);
	} else if (scale < 0 || scale > precision) {
		refuse(n, "decimal with a scale that is negative or above its digits", 2);
	} else {
		set(n, DTX_ARROW_FIXED, width, as, DTX_T_DECIMAL);
		n->value.precision = (uint8_t)precision;
		n->value.scale = (uint8_t)scale;
		n->value.as_type.precision = (uint8_t)precision;
		n->value.as_type.scale = (uint8_t)scale;
	}
}

static void set_int(struct dtx_arrow_node *n, const struct dtx_fb_table *t)
{
	int32_t bits = dtx_fb_i32(t, 0, 0);
	bool is_signed = dtx_fb_u8(t, 1, 0) != 0;

	if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
		t->fb->bad = true;
		return;
	}
	if (bits == 64 && !is_signed)
		set_decimal(n, DTX_PQ_AS_UINT, 8, 20, 0);
	else
		set(n, DTX_ARROW_FIXED, (uint32_t)bits / 8, DTX_PQ_AS_INT, DTX_T_INT64);
	n->is_signed = is_signed;
}

static void set_float(struct dtx_arrow_node *n, const struct dtx_fb_table *t)
{
	static const uint8_t width[] = { 2, 4, 8 };
	int16_t precision = dtx_fb_i16(t, 0, 0);

	if (precision < 0 || precision > 2)
		t->fb->bad = true;
	else
		set(n, DTX_ARROW_FIXED, width[precision],
		    precision ? DTX_PQ_AS_FLOAT : DTX_PQ_AS_HALF, DTX_T_FLOAT64);
}

/* The number of a unit of time in a second; 0: there is no such unit. */
static uint32_t per_second(const struct dtx_fb_table *t, int16_t otherwise)
{
	static const uint32_t units[] = { 1, 1000, 1000 * 1000, 1000 * 1000 * 1000 };
	int16_t unit = dtx_fb_i16(t, 0, otherwise);

	if (unit >= 0 && unit <= 3)
		return units[unit];
	t->fb->bad = true;
	return 1;
}

static void set_time(struct dtx_arrow_node *n, const struct dtx_fb_table *t)
{
	int32_t bits;

	n->value.per_second = per_second(t, 1);
	bits = dtx_fb_i32(t, 1, 32);
	if (bits != (n->value.per_second > 1000 ? 64 : 32))
		t->fb->bad = true;
	set(n, DTX_ARROW_FIXED, (uint32_t)bits / 8, DTX_PQ_AS_TIME, DTX_T_TEXT);
}

static void set_timestamp(struct dtx_arrow_file *f, struct dtx_arrow_node *n,
                          const struct dtx_fb_table *t)
{
	struct dtx_str zone = dtx_fb_text(t, 1);

	set(n, DTX_ARROW_FIXED, 8, DTX_PQ_AS_STAMP, DTX_T_DATETIME);
	n->value.per_second = per_second(t, 0);
	if (!zone.len)
		return;
	n->value.as_type.precision = DTX_UTC;
	if (!dtx_str_eq(zone, DTX_STR("UTC")) && !dtx_str_eq(zone, DTX_STR("Z")) &&
	    !dtx_str_eq(zone, DTX_STR("+00:00")) && dtx_utf8_bad(zone.ptr, zone.len) < 0 &&
	    !memchr(zone.ptr, 0, zone.len))
		n->zone = dtx_arena_strndup(&f->arena, zone.ptr, DTX_MIN(zone.len, (size_t)100));
}

static void set_decimals(struct dtx_arrow_node *n, const struct dtx_fb_table *t)
{
	int32_t bits = dtx_fb_i32(t, 2, 128);

	if (bits != 32 && bits != 64 && bits != 128 && bits != 256)
		t->fb->bad = true;
	else
		set_decimal(n, DTX_PQ_AS_DECIMAL, (uint32_t)bits / 8, dtx_fb_i32(t, 0, 0),
		            dtx_fb_i32(t, 1, 0));
}

static void set_fixed_binary(struct dtx_arrow_node *n, const struct dtx_fb_table *t,
                             struct dtx_str extension)
{
	if (dtx_fb_i32(t, 0, 0) == 16 && dtx_str_eq(extension, DTX_STR("arrow.uuid")))
		set(n, DTX_ARROW_FIXED, 16, DTX_PQ_AS_UUID, DTX_T_TEXT);
	else
		refuse(n, "fixed-size binary", 2);
}

static void set_type(struct dtx_arrow_file *f, struct dtx_arrow_node *n, unsigned type,
                     const struct dtx_fb_table *t, struct dtx_str extension)
{
	int32_t size;

	switch (type) {
	case T_NULL: set(n, DTX_ARROW_NONE, 0, DTX_PQ_AS_NULL, DTX_T_NULL); break;
	case T_INT: set_int(n, t); break;
	case T_FLOAT: set_float(n, t); break;
	case T_UTF8: set(n, DTX_ARROW_BYTES, 4, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_LARGE_UTF8: set(n, DTX_ARROW_BYTES, 8, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_UTF8_VIEW: set(n, DTX_ARROW_VIEWS, 16, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_BOOL: set(n, DTX_ARROW_BITS, 0, DTX_PQ_AS_BOOL, DTX_T_BOOL); break;
	case T_DECIMAL: set_decimals(n, t); break;
	case T_DATE:
		set(n, DTX_ARROW_FIXED, dtx_fb_i16(t, 0, 1) == 0 ? 4 : 8, DTX_PQ_AS_DATE,
		    DTX_T_DATE);
		break;
	case T_TIME: set_time(n, t); break;
	case T_TIMESTAMP: set_timestamp(f, n, t); break;
	case T_LIST:
	case T_MAP: set(n, DTX_ARROW_LIST, 4, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_LARGE_LIST: set(n, DTX_ARROW_LIST, 8, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_FIXED_LIST:
		size = dtx_fb_i32(t, 0, 0);
		if (size < 0)
			t->fb->bad = true;
		set(n, DTX_ARROW_FIXED_LIST, (uint32_t)size, DTX_PQ_AS_TEXT, DTX_T_TEXT);
		break;
	case T_STRUCT: set(n, DTX_ARROW_STRUCT, 0, DTX_PQ_AS_TEXT, DTX_T_TEXT); break;
	case T_BINARY:
	case T_LARGE_BINARY: refuse(n, "binary", 3); break;
	case T_FIXED_BINARY: set_fixed_binary(n, t, extension); break;
	case T_BINARY_VIEW:
		set(n, DTX_ARROW_VIEWS, 16, DTX_PQ_AS_NOTHING, DTX_T_TEXT);
		n->value.refused = "binary view";
		break;
	case T_INTERVAL: refuse(n, "interval", 2); break;
	case T_DURATION: refuse(n, "duration", 2); break;
	case T_UNION:
		refuse(n, "union", dtx_fb_i16(t, 0, 0) ? 2 : 1);
		n->no_validity = true;
		break;
	case T_RUN_END: refuse(n, "run-end encoded", 0); break;
	case T_LIST_VIEW:
	case T_LARGE_LIST_VIEW: refuse(n, "list view", 3); break;
	default: t->fb->bad = true;
	}
	n->map = type == T_MAP;
	n->json = dtx_str_eq(extension, DTX_STR("arrow.json"));
}

/* --- fields --- */

/* The value of a key in a field's metadata; ptr is NULL if it is absent. */
static struct dtx_str metadata(const struct dtx_fb_table *field, struct dtx_str key)
{
	struct dtx_fb_vector list = dtx_fb_items(field, 6, 4);
	uint32_t i;

	for (i = 0; i < list.n && i < KEYS_MAX; i++) {
		struct dtx_fb_table pair = dtx_fb_item(&list, i);

		if (dtx_str_eq(dtx_fb_text(&pair, 0), key))
			return dtx_fb_text(&pair, 1);
	}
	return (struct dtx_str){ NULL, 0 };
}

/* A column whose values are in a dictionary: its arrays have their numbers. */
static void set_coded(struct dtx_arrow_node *n, const struct dtx_fb_table *field)
{
	struct dtx_fb_table coding = dtx_fb_child(field, 4), index;
	struct dtx_arrow_node code = { .width = 4, .is_signed = true };

	if (!coding.size)
		return;
	index = dtx_fb_child(&coding, 1);
	if (index.size)
		set_int(&code, &index);
	n->coded = true;
	n->dictionary = dtx_fb_i64(&coding, 0, 0);
	n->value_layout = n->layout;
	n->value_width = n->width;
	n->layout = DTX_ARROW_FIXED;
	n->width = code.width;
	n->code_signed = code.is_signed;
	n->buffers = 2;
	n->no_validity = false;
	if (n->value_layout == DTX_ARROW_NONE || n->value_layout >= DTX_ARROW_LIST)
		n->value.refused = "dictionary of other values than numbers, dates and texts";
}

static bool is_name(struct dtx_str name)
{
	return name.len <= NAME_MAX && (!name.len || !memchr(name.ptr, 0, name.len)) &&
	       dtx_utf8_bad(name.ptr ? name.ptr : "", name.len) < 0;
}

/* How many children an array has in a record batch. */
static bool children_fit(const struct dtx_arrow_node *n, uint32_t children)
{
	switch (n->layout) {
	case DTX_ARROW_LIST:
	case DTX_ARROW_FIXED_LIST: return children == 1;
	case DTX_ARROW_STRUCT:
	case DTX_ARROW_OTHER: return true;
	default: return !children;
	}
}

static enum dtx_code add_fields(struct dtx_arrow_file *f, const struct dtx_fb_vector *fields,
                                uint32_t parent, unsigned depth, struct dtx_err *err);

static enum dtx_code add_field(struct dtx_arrow_file *f, const struct dtx_fb_table *field,
                               uint32_t parent, unsigned depth, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb_table type = dtx_fb_child(field, 3);
	struct dtx_fb_vector children = dtx_fb_items(field, 5, 4);
	struct dtx_str name = dtx_fb_text(field, 0);
	uint32_t at = f->nnodes;
	struct dtx_arrow_node *n;

	if (at == f->node_cap) { /* doubles; the arena keeps the old ones */
		uint32_t cap = DTX_MAX(64U, 2 * f->node_cap);
		struct dtx_arrow_node *more = dtx_arena_zalloc(&f->arena, cap, sizeof(*more));

		if (!more)
			DTX_FAIL_MEM(err);
		if (at)
			memcpy(more, f->node, at * sizeof(*more));
		f->node = more;
		f->node_cap = cap;
	}
	n = &f->node[f->nnodes++];
	if (at >= NODES_MAX || depth > LEVELS_MAX)
		return dtx_arrow_corrupt(f, "its schema has too many columns, or too many levels",
		                         err);
	n->parent = parent;
	if (!is_name(name))
		return dtx_arrow_corrupt(f, "the name of a column is too long, or not UTF-8", err);
	n->name = dtx_arena_strndup(&f->arena, name.ptr ? name.ptr : "", name.len);
	if (!n->name)
		DTX_FAIL_MEM(err);
	set_type(f, n, dtx_fb_u8(field, 2, 0), &type,
	         metadata(field, DTX_STR("ARROW:extension:name")));
	if (!children_fit(n, children.n))
		return dtx_arrow_corrupt(f, "a column has another number of children than its type",
		                         err);
	set_coded(n, field);
	n->value.name = n->name;
	if (!n->coded)
		DTX_TRY(add_fields(f, &children, at, depth + 1, err));
	f->node[at].end = f->nnodes;
out:
	return rc;
}

static enum dtx_code add_fields(struct dtx_arrow_file *f, const struct dtx_fb_vector *fields,
                                uint32_t parent, unsigned depth, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < fields->n; i++) {
		struct dtx_fb_table field = dtx_fb_item(fields, i);

		if (field.fb->bad)
			break;
		DTX_TRY(add_field(f, &field, parent, depth, err));
	}
out:
	return rc;
}

static enum dtx_code add_metadata(struct dtx_arrow_file *f, const struct dtx_fb_table *schema,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb_vector list = dtx_fb_items(schema, 2, 4);
	uint32_t n = DTX_MIN(list.n, (uint32_t)KEYS_MAX), i;

	f->key = dtx_arena_zalloc(&f->arena, (size_t)n + 1, sizeof(*f->key));
	f->value = dtx_arena_zalloc(&f->arena, (size_t)n + 1, sizeof(*f->value));
	if (!f->key || !f->value)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		struct dtx_fb_table pair = dtx_fb_item(&list, i);

		f->key[i] = dtx_fb_text(&pair, 0);
		f->value[i] = dtx_fb_text(&pair, 1);
	}
	f->nkeys = n;
out:
	return rc;
}

enum dtx_code dtx_arrow_schema(struct dtx_arrow_file *f, struct dtx_fb_table schema,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb_vector fields = dtx_fb_items(&schema, 1, 4);

	f->has_schema = true;
	if (dtx_fb_i16(&schema, 0, 0) != 0)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s' has the bytes of its numbers in the order of big-endian machines, "
		         "which dtx does not read",
		         f->label);
	DTX_TRY(add_fields(f, &fields, UINT32_MAX, 0, err));
	DTX_TRY(add_metadata(f, &schema, err));
	if (schema.fb->bad || !schema.size)
		rc = dtx_arrow_corrupt(f, "its schema is malformed", err);
out:
	return rc;
}

const char *dtx_arrow_refused(const struct dtx_arrow_file *f, uint32_t node)
{
	uint32_t i;

	for (i = node; i < f->node[node].end; i++)
		if (f->node[i].value.refused)
			return f->node[i].value.refused;
	return NULL;
}

bool dtx_arrow_is_nested(const struct dtx_arrow_node *n)
{
	return n->layout == DTX_ARROW_LIST || n->layout == DTX_ARROW_FIXED_LIST ||
	       n->layout == DTX_ARROW_STRUCT;
}
