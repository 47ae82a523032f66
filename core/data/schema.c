/* The fields of a table in order, and an index of their names. */
#include "core/data/schema.h"

#include "core/base/hash/hash.h"

enum { INDEX_FIELDS = 16 };

/* A hash table with open addressing that is at most half full. */
struct dtx_schema_index {
	uint32_t n;      /* fields in the index: the first n of the schema */
	uint32_t mask;   /* number of slots - 1; the number is a power of two */
	uint32_t slot[]; /* number of the field + 1; 0: free */
};

/* The slot of a name: that of the field with this name, or a free one. */
static uint32_t *index_slot(const struct dtx_schema *s, const char *name)
{
	struct dtx_schema_index *x = s->index;
	uint32_t at = (uint32_t)dtx_hash64(name, strlen(name), 0) & x->mask;

	while (x->slot[at] &&
	       (x->slot[at] > s->nfields || strcmp(s->field[x->slot[at] - 1].name, name) != 0))
		at = (at + 1) & x->mask;
	return &x->slot[at];
}

void dtx_schema_index_last(const struct dtx_schema *s)
{
	struct dtx_schema_index *x = s->index;
	uint32_t *slot;

	if (!x || x->n + 1 != s->nfields || x->n > x->mask / 2)
		return;
	slot = index_slot(s, s->field[x->n].name);
	if (!*slot)
		*slot = x->n + 1;
	x->n++;
}

void dtx_schema_index(struct dtx_arena *a, struct dtx_schema *s, uint32_t room)
{
	struct dtx_schema some = *s;
	uint32_t slots = 64;

	room = DTX_MAX(room, s->nfields);
	s->index = NULL;
	if (room < INDEX_FIELDS || room > UINT32_MAX / 4)
		return;
	while (slots < 2 * room)
		slots *= 2;
	some.index = dtx_arena_zalloc(a, 1, sizeof(*some.index) + slots * sizeof(uint32_t));
	if (!some.index)
		return;
	some.index->mask = slots - 1;
	for (some.nfields = 1; some.nfields <= s->nfields; some.nfields++)
		dtx_schema_index_last(&some);
	s->index = some.index;
}

int32_t dtx_schema_find(const struct dtx_schema *s, const char *name)
{
	uint32_t i = 0, hit;

	if (s->index) {
		hit = *index_slot(s, name);
		if (hit)
			return (int32_t)(hit - 1);
		i = s->index->n;
	}
	for (; i < s->nfields; i++)
		if (!strcmp(s->field[i].name, name))
			return (int32_t)i;
	return -1;
}

static bool schema_copy_field(struct dtx_arena *a, struct dtx_field *f)
{
	const char *format = f->format, *input_name = f->input_name;

	f->name = dtx_arena_strdup(a, f->name);
	f->format = format ? dtx_arena_strdup(a, format) : NULL;
	f->input_name = input_name ? dtx_arena_strdup(a, input_name) : NULL;
	return f->name && !format == !f->format && !input_name == !f->input_name;
}

struct dtx_schema *dtx_schema_copy(struct dtx_arena *a, const struct dtx_schema *s)
{
	struct dtx_schema *copy = dtx_arena_alloc(a, 1, sizeof(*copy));
	struct dtx_field *field = dtx_arena_alloc(a, s->nfields, sizeof(*field));
	uint32_t i;

	if (!copy || !field)
		return NULL;
	for (i = 0; i < s->nfields; i++) {
		field[i] = s->field[i];
		if (!schema_copy_field(a, &field[i]))
			return NULL;
	}
	*copy = (struct dtx_schema){ .nfields = s->nfields, .open = s->open, .field = field };
	dtx_schema_index(a, copy, s->nfields);
	return copy;
}

void dtx_schema_json(const struct dtx_schema *s, struct dtx_buf *out)
{
	uint32_t i;

	dtx_buf_addc(out, '[');
	for (i = 0; i < s->nfields; i++) {
		dtx_buf_add(out, i ? ",{\"name\":" : "{\"name\":");
		dtx_buf_json(out, dtx_str_of(s->field[i].name));
		dtx_buf_add(out, ",\"type\":\"");
		dtx_type_print(s->field[i].type, out);
		dtx_buf_add(out, "\"}");
	}
	dtx_buf_addc(out, ']');
}
