/* Fields by name: with and without an index. */
#include <stdio.h>

#include "core/data/schema.h"
#include "tests/t.h"

enum { FIELDS = 1000 };

/* Schemas that begin with the same fields share an index and see only their own fields; the first
 * of equal names is found; fields that were added beyond its room are found too. */
void test_schema_index(void)
{
	static char name[FIELDS][16];
	static struct dtx_field field[FIELDS];
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_schema s = { .field = field }, half;

	dtx_schema_index(&arena, &s, FIELDS / 4);
	T_CHECK(s.index != NULL);
	for (uint32_t i = 0; i < FIELDS; i++) {
		snprintf(name[i], sizeof(name[i]), "c%u", i == 700 ? 7 : i);
		field[i].name = name[i];
		s.nfields++;
		dtx_schema_index_last(&s);
	}
	half = s;
	half.nfields = 100;
	for (uint32_t i = 0; i < FIELDS; i++) {
		T_INT(dtx_schema_find(&s, name[i]), i == 700 ? 7 : i);
		T_INT(dtx_schema_find(&half, name[i]), i == 700 ? 7 : i < 100 ? (int)i : -1);
	}
	T_INT(dtx_schema_find(&s, "no"), -1);
	half.index = NULL;
	dtx_schema_index(&arena, &half, 3); /* room for at least as many as it has */
	T_INT(dtx_schema_find(&half, "c99"), 99);
	T_INT(dtx_schema_find(&half, "c100"), -1);
	dtx_arena_clear(&arena);
}
