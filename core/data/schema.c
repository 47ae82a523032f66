/* Fields in order. */
#include "core/data/schema.h"

int32_t dtx_schema_find(const struct dtx_schema *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->nfields; i++) {
		if (!strcmp(s->field[i].name, name))
			return (int32_t)i;
	}
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
	*copy = (struct dtx_schema){ s->nfields, s->open, field };
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
