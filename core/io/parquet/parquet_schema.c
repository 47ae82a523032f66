/* From the schema of a Parquet file to columns and types of dtx. */
#include "core/io/parquet/parquet.h"

enum { STRUCTS_MAX = 8 }; /* as for nested JSON: deeper ones are JSON text */

#define TEXT ((struct dtx_typeref){ .type = DTX_T_TEXT })

/* --- types --- */

static void set(struct dtx_pq_node *n, enum dtx_pq_as as, enum dtx_type type)
{
	n->as = as;
	n->refused = NULL; /* of a logical type that does not go with the physical one */
	n->as_type = (struct dtx_typeref){ .type = type };
}

static void refuse(struct dtx_pq_node *n, const char *what)
{
	set(n, DTX_PQ_AS_NOTHING, DTX_T_TEXT);
	n->refused = what;
}

static void set_decimal(struct dtx_pq_node *n, enum dtx_pq_as as, unsigned precision,
                        unsigned scale)
{
	if (precision > 38) {
		refuse(n, "DECIMAL with more than 38 digits");
		return;
	}
	set(n, as, DTX_T_DECIMAL);
	n->as_type.precision = (uint8_t)precision;
	n->as_type.scale = (uint8_t)scale;
}

/* A value without a logical type. */
static void set_physical(struct dtx_pq_node *n)
{
	static const enum dtx_pq_as as[] = { DTX_PQ_AS_BOOL,  DTX_PQ_AS_INT,   DTX_PQ_AS_INT,
		                             DTX_PQ_AS_INT96, DTX_PQ_AS_FLOAT, DTX_PQ_AS_FLOAT,
		                             DTX_PQ_AS_BYTES, DTX_PQ_AS_BYTES };
	static const enum dtx_type type[] = { DTX_T_BOOL,     DTX_T_INT64,   DTX_T_INT64,
		                              DTX_T_DATETIME, DTX_T_FLOAT64, DTX_T_FLOAT64,
		                              DTX_T_TEXT,     DTX_T_TEXT };

	set(n, as[n->type], type[n->type]);
}

/* Sets how a leaf is read. False: its logical type does not go with its physical one; then the
 * format wants the logical one to be ignored. */
static bool set_logical(struct dtx_pq_node *n)
{
	bool whole = n->type == DTX_PQ_INT32 || n->type == DTX_PQ_INT64;

	switch (n->logical) {
	case DTX_PQ_L_STRING:
	case DTX_PQ_L_ENUM:
	case DTX_PQ_L_JSON: set(n, DTX_PQ_AS_TEXT, DTX_T_TEXT); return n->type == DTX_PQ_BYTES;
	case DTX_PQ_L_DECIMAL:
		set_decimal(n, DTX_PQ_AS_DECIMAL, n->precision, n->scale);
		return whole || n->type == DTX_PQ_BYTES || n->type == DTX_PQ_FIXED;
	case DTX_PQ_L_DATE: set(n, DTX_PQ_AS_DATE, DTX_T_DATE); return n->type == DTX_PQ_INT32;
	case DTX_PQ_L_TIME: set(n, DTX_PQ_AS_TIME, DTX_T_TEXT); return n->per_second && whole;
	case DTX_PQ_L_TIMESTAMP:
		set(n, DTX_PQ_AS_STAMP, DTX_T_DATETIME);
		n->as_type.precision = n->utc ? DTX_UTC : 0;
		return n->per_second && n->type == DTX_PQ_INT64;
	case DTX_PQ_L_INTEGER:
		set(n, DTX_PQ_AS_INT, DTX_T_INT64);
		if (n->is_unsigned && n->type == DTX_PQ_INT64)
			set_decimal(n, DTX_PQ_AS_UINT, 20, 0);
		return whole;
	case DTX_PQ_L_NULL: set(n, DTX_PQ_AS_NULL, DTX_T_NULL); return true;
	case DTX_PQ_L_UUID:
		set(n, DTX_PQ_AS_UUID, DTX_T_TEXT);
		return n->type == DTX_PQ_FIXED && n->width == 16;
	case DTX_PQ_L_FLOAT16:
		set(n, DTX_PQ_AS_HALF, DTX_T_FLOAT64);
		return n->type == DTX_PQ_FIXED && n->width == 2;
	default: return false;
	}
}

static const char *unreadable(enum dtx_pq_logical logical)
{
	switch (logical) {
	case DTX_PQ_L_BSON: return "BSON";
	case DTX_PQ_L_INTERVAL: return "INTERVAL";
	case DTX_PQ_L_VARIANT: return "VARIANT";
	case DTX_PQ_L_GEOMETRY: return "GEOMETRY";
	case DTX_PQ_L_GEOGRAPHY: return "GEOGRAPHY";
	case DTX_PQ_L_OTHER: return "a type that is not known";
	default: return NULL;
	}
}

/* Reads what dtx noted of columns; what is not JSON is not from dtx. */
static void read_kinds(struct dtx_pq_file *f)
{
	size_t i;

	for (i = 0; i < f->nkeys && !f->kinds; i++)
		if (dtx_str_is(f->key[i], DTX_PQ_KINDS) && f->value[i].ptr)
			f->kinds = json_loadb(f->value[i].ptr, f->value[i].len, 0, NULL);
}

void dtx_pq_types(struct dtx_pq_file *f)
{
	uint32_t i;

	read_kinds(f);
	for (i = 0; i < f->nleaves; i++) {
		struct dtx_pq_node *n = &f->node[f->leaf_node[i]];

		if (unreadable(n->logical))
			refuse(n, unreadable(n->logical));
		else if (!set_logical(n))
			set_physical(n);
	}
}

/* --- columns --- */

uint32_t dtx_pq_repeated_child(const struct dtx_pq_file *f, uint32_t node)
{
	const struct dtx_pq_node *n = &f->node[node];
	uint32_t child = node + 1;

	return n->type == DTX_PQ_GROUP && f->node[child].end == n->end &&
	                       f->node[child].repetition == DTX_PQ_REPEATED
	               ? child
	               : 0;
}

/* By the rules for lists of two and three levels in LogicalTypes.md. */
bool dtx_pq_list_wraps(const struct dtx_pq_file *f, uint32_t list, uint32_t repeated)
{
	const struct dtx_pq_node *r = &f->node[repeated];
	size_t n = strlen(f->node[list].name);

	if (r->type != DTX_PQ_GROUP || f->node[repeated + 1].end != r->end ||
	    f->node[repeated + 1].repetition == DTX_PQ_REPEATED)
		return false;
	return strcmp(r->name, "array") &&
	       !(!strncmp(r->name, f->node[list].name, n) && !strcmp(r->name + n, "_tuple"));
}

struct listing {
	struct dtx_pq_file *f;
	struct dtx_pq_field *field;
	const char **name;
	uint32_t n;
};

/* Whether a group is a struct whose members become columns. */
static bool spreads(const struct dtx_pq_node *n, unsigned depth)
{
	return n->type == DTX_PQ_GROUP && n->repetition != DTX_PQ_REPEATED &&
	       n->logical != DTX_PQ_L_LIST && n->logical != DTX_PQ_L_MAP &&
	       n->logical != DTX_PQ_L_VARIANT && depth < STRUCTS_MAX;
}

static enum dtx_code list_children(struct listing *l, uint32_t group, const char *prefix,
                                   unsigned depth, struct dtx_err *err)
{
	const struct dtx_pq_node *node = l->f->node;
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	for (c = group + 1; c < node[group].end; c = node[c].end) {
		const char *name =
			prefix ? dtx_arena_printf(&l->f->arena, "%s.%s", prefix, node[c].name)
			       : node[c].name;

		if (!name)
			DTX_FAIL_MEM(err);
		if (spreads(&node[c], depth)) {
			DTX_TRY(list_children(l, c, name, depth + 1, err));
			continue;
		}
		l->name[l->n] = name;
		l->field[l->n].node = c;
		l->field[l->n++].nested =
			node[c].type == DTX_PQ_GROUP || node[c].repetition == DTX_PQ_REPEATED;
	}
out:
	return rc;
}

enum dtx_code dtx_pq_fields(struct dtx_pq_file *f, struct dtx_pq_field **field, const char ***name,
                            uint32_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct listing l = { .f = f };

	l.field = dtx_arena_zalloc(&f->arena, f->nnodes, sizeof(*l.field));
	l.name = dtx_arena_zalloc(&f->arena, f->nnodes, sizeof(*l.name));
	if (!l.field || !l.name)
		DTX_FAIL_MEM(err);
	DTX_TRY(list_children(&l, 0, NULL, 0, err));
	*field = l.field;
	*name = l.name;
	*n = l.n;
out:
	return rc;
}

const struct dtx_pq_node *dtx_pq_refused(const struct dtx_pq_file *f, uint32_t node)
{
	const struct dtx_pq_node *n = &f->node[node];
	uint32_t i;

	for (i = 0; i < n->nleaves; i++)
		if (f->node[f->leaf_node[n->leaf + i]].refused)
			return &f->node[f->leaf_node[n->leaf + i]];
	return NULL;
}

struct dtx_typeref dtx_pq_field_type(const struct dtx_pq_file *f, const struct dtx_pq_field *field)
{
	return field->nested ? TEXT : f->node[field->node].as_type;
}

bool dtx_pq_field_json(const struct dtx_pq_file *f, const struct dtx_pq_field *field)
{
	const struct dtx_pq_node *n = &f->node[field->node];

	return field->nested || (n->as == DTX_PQ_AS_TEXT &&
	                         (n->logical == DTX_PQ_L_JSON ||
	                          strcmp(dtx_json_text(f->kinds, n->name, ""), DTX_PQ_JSON) == 0));
}
