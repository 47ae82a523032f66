/* Groups: ids by first appearance, nulls, growth, and agreement of the fast kinds with the general
 * one. */
#include "core/base/memory/mem.h"
#include "core/data/builder.h"
#include "ops/group/hashagg_impl.h"
#include "tests/t.h"

static const struct dtx_typeref text = { .type = DTX_T_TEXT };
static const struct dtx_typeref whole = { .type = DTX_T_INT64 };
static const struct dtx_schema no_columns = { .nfields = 0 };

static struct dtx_column *texts(const char *const *v, uint32_t n)
{
	struct dtx_builder b;
	struct dtx_column *c = NULL;

	dtx_builder_init(&b, text, n);
	for (uint32_t i = 0; i < n; i++) {
		if (v[i])
			dtx_builder_text(&b, dtx_str_of(v[i]));
		else
			dtx_builder_null(&b);
	}
	T_OK(dtx_builder_finish(&b, NULL, &c, NULL), NULL);
	return c;
}

static struct dtx_column *ints(uint32_t n, int64_t step, int64_t mod)
{
	struct dtx_builder b;
	struct dtx_column *c = NULL;

	dtx_builder_init(&b, whole, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_i64(&b, (int64_t)i * step % mod);
	T_OK(dtx_builder_finish(&b, NULL, &c, NULL), NULL);
	return c;
}

static void ids_are(struct dtx_groups *g, struct dtx_column **key, struct dtx_batch *b,
                    const uint32_t *want)
{
	uint32_t id[16];

	T_OK(dtx_groups_ids(g, key, b, id, NULL), NULL);
	for (uint32_t i = 0; i < b->nsel; i++)
		T_INT(id[i], want[i]);
}

void test_groups_text_keys(void)
{
	static const char *const v[] = { "b",
		                         "a",
		                         NULL,
		                         "b",
		                         "a text of more than twelve bytes",
		                         "",
		                         NULL,
		                         "a text of more than twelve bytes",
		                         "twelve bytes",
		                         "twelve bytes" };
	static const uint32_t want[] = { 0, 1, 2, 0, 3, 4, 2, 3, 5, 5 };
	struct dtx_column *key = texts(v, DTX_COUNT(v));
	struct dtx_batch *b;
	struct dtx_groups *g;

	T_OK(dtx_batch_new(&no_columns, DTX_COUNT(v), &b, NULL), NULL);
	T_OK(dtx_groups_new(&text, 1, &g, NULL), NULL);
	ids_are(g, &key, b, want);
	ids_are(g, &key, b, want);
	T_INT(dtx_groups_count(g), 6);
	dtx_groups_free(g);
	dtx_batch_free(b);
	dtx_column_unref(key);
}

void test_groups_live_rows_only(void)
{
	static const char *const v[] = { "b", "a", "c", "a" };
	static const uint32_t want[] = { 0, 1 };
	struct dtx_column *key = texts(v, DTX_COUNT(v));
	struct dtx_batch *b;
	struct dtx_groups *g;
	uint16_t *sel;

	T_OK(dtx_batch_new(&no_columns, DTX_COUNT(v), &b, NULL), NULL);
	T_OK(dtx_batch_sel(b, &sel, NULL), NULL);
	sel[0] = 2;
	sel[1] = 3;
	b->nsel = 2;
	T_OK(dtx_groups_new(&text, 1, &g, NULL), NULL);
	ids_are(g, &key, b, want);
	T_INT(dtx_groups_count(g), 2);
	dtx_groups_free(g);
	dtx_batch_free(b);
	dtx_column_unref(key);
}

/* One int key, and the same key with a constant: other code, the same ids. */
void test_groups_kinds_agree(void)
{
	enum { N = 20000 };
	struct dtx_column *key[2] = { ints(N, 7919, 5003), ints(N, 0, 1) };
	struct dtx_typeref two[2] = { whole, whole };
	uint32_t *a = malloc(N * sizeof(*a)), *c = malloc(N * sizeof(*c));
	struct dtx_group_probe probe = { .bytes = { 0 } };
	struct dtx_groups *one, *both;
	struct dtx_batch *b;

	T_OK(dtx_batch_new(&no_columns, N, &b, NULL), NULL);
	T_OK(dtx_groups_new(two, 1, &one, NULL), NULL);
	T_OK(dtx_groups_new(two, 2, &both, NULL), NULL);
	T_OK(dtx_groups_ids(one, key, b, a, NULL), NULL);
	T_OK(dtx_groups_ids(both, key, b, c, NULL), NULL);
	T_CHECK(memcmp(a, c, N * sizeof(*a)) == 0);
	T_INT(dtx_groups_count(one), 5003);
	T_OK(dtx_groups_look(both, &probe, key, b, c, NULL), NULL);
	T_CHECK(memcmp(a, c, N * sizeof(*a)) == 0);
	for (uint32_t id = 0; id < 5003; id += 500)
		T_INT(dtx_groups_find(both, both, id), id);
	dtx_buf_clear(&probe.bytes);
	dtx_groups_free(one);
	dtx_groups_free(both);
	dtx_batch_free(b);
	dtx_column_unref(key[0]);
	dtx_column_unref(key[1]);
	free(a);
	free(c);
}

/* Numbers that become larger, some of them too large, together with texts: the cache in front of
 * the table is laid out again and agrees with the table.  Five keys have no cache. */
void test_groups_array_agrees(void)
{
	enum { N = 30000 };
	static const char *const few[] = { "x", "", "a text of more than twelve bytes" };
	struct dtx_typeref five[5] = { whole, text, whole, whole, whole };
	uint32_t *a = malloc(N * sizeof(*a)), *c = malloc(N * sizeof(*c));
	struct dtx_groups *array, *none;
	struct dtx_batch *b;

	T_OK(dtx_batch_new(&no_columns, N, &b, NULL), NULL);
	T_OK(dtx_groups_new(five, 3, &array, NULL), NULL);
	T_OK(dtx_groups_new(five, 5, &none, NULL), NULL);
	for (int64_t round = 0; round < 8; round++) {
		struct dtx_builder num, txt;
		struct dtx_column *key[5] = { NULL, NULL, ints(N, 7919, 5 + 90 * round),
			                      ints(N, 0, 1), ints(N, 0, 1) };

		dtx_builder_init(&num, whole, N);
		dtx_builder_init(&txt, text, N);
		for (int64_t i = 0; i < N; i++) {
			dtx_builder_i64(&num, round == 5 && i % 1000 == 3
			                              ? -i * (1 << 30)
			                              : i % (3 + round * round));
			dtx_builder_text(&txt, dtx_str_of(few[(i / 7) % (1 + round % 3)]));
		}
		T_OK(dtx_builder_finish(&num, NULL, &key[0], NULL), NULL);
		T_OK(dtx_builder_finish(&txt, NULL, &key[1], NULL), NULL);
		T_OK(dtx_groups_ids(array, key, b, a, NULL), NULL);
		T_OK(dtx_groups_ids(none, key, b, c, NULL), NULL);
		T_CHECK(memcmp(a, c, N * sizeof(*a)) == 0);
		for (int k = 0; k < 5; k++)
			dtx_column_unref(key[k]);
	}
	T_INT(dtx_groups_count(array), dtx_groups_count(none));
	dtx_groups_free(array);
	dtx_groups_free(none);
	dtx_batch_free(b);
	free(a);
	free(c);
}

/* A table that is made for as many keys as come does not grow, neither when it is small nor when it
 * is large. */
void test_groups_expected(void)
{
	static const uint32_t n[] = { 1, 128, 5000, 32767, 32768, 40961, 65536 };
	uint32_t *id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*id));

	T_CHECK(id);
	for (size_t i = 0; id && i < DTX_COUNT(n); i++) {
		struct dtx_column *key[] = { ints(n[i], 7, INT64_MAX) };
		struct dtx_batch b = { .nrows = n[i], .nsel = n[i] };
		struct dtx_groups *g = NULL;
		size_t slots;

		T_OK(dtx_groups_new(&whole, 1, &g, NULL), NULL);
		T_OK(dtx_groups_expect(g, n[i], NULL), NULL);
		slots = g->nslots;
		T_OK(dtx_groups_ids(g, key, &b, id, NULL), NULL);
		T_INT(dtx_groups_count(g), n[i]);
		T_CHECK(g->nslots == slots && slots <= 2 * (size_t)n[i] + 256);
		dtx_groups_free(g);
		dtx_column_unref(key[0]);
	}
	dtx_mem_free(id);
}

/* Keys that all belong to the last slots of a table of any size, and so wrap around its end, or to
 * its first slots: the places where a growing table has to move some of them at the end. */
void test_groups_grow_at_the_ends(void)
{
	enum { N = 3000 };
	int64_t *v = malloc(N * sizeof(*v)), at = 0;
	struct dtx_column key = { .type = whole, .len = N, .v.i64 = v }, *keys[] = { &key };
	struct dtx_batch b = { .schema = &no_columns, .nrows = N, .nsel = N };
	uint32_t *id = malloc(N * sizeof(*id));
	struct dtx_groups *g;

	for (uint32_t i = 0; i < N; at++) {
		uint32_t hash = dtx_groups_hash_int(at);

		if (i % 3 ? hash > UINT32_MAX - (1 << 20) : hash < 1 << 20)
			v[i++] = at;
	}
	T_OK(dtx_groups_new(&whole, 1, &g, NULL), NULL);
	for (int round = 0; round < 2; round++) {
		T_OK(dtx_groups_ids(g, keys, &b, id, NULL), NULL);
		for (uint32_t i = 0; i < N; i++)
			T_INT(id[i], i);
	}
	T_INT(dtx_groups_count(g), N);
	T_CHECK(g->nslots > 4096);
	dtx_groups_free(g);
	free(v);
	free(id);
}

/* A key of several columns may have more bytes than one byte can count. */
void test_groups_long_rows(void)
{
	enum { N = 600 };
	char *longest = malloc(N + 1);
	const char **v = malloc(N * sizeof(*v));
	const struct dtx_typeref type[] = { text, whole };
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	struct dtx_column *key[2] = { NULL, ints(N, 1, 3) };
	struct dtx_groups *g, *all;
	uint32_t id[N];
	struct dtx_batch *b;

	memset(longest, 'x', N);
	longest[N] = '\0';
	for (uint32_t i = 0; i < N; i++)
		v[i] = longest + i;
	key[0] = texts(v, N);
	T_OK(dtx_batch_new(&no_columns, N, &b, NULL), NULL);
	T_OK(dtx_groups_new(type, 2, &g, NULL), NULL);
	T_OK(dtx_groups_new(type, 2, &all, NULL), NULL);
	T_OK(dtx_groups_ids(g, key, b, id, NULL), NULL);
	T_INT(dtx_groups_count(g), N);
	T_OK(dtx_groups_merge(all, g, id, NULL), NULL);
	T_OK(dtx_groups_look(all, &probe, key, b, id, NULL), NULL);
	for (uint32_t i = 0; i < N; i++)
		T_INT(id[i], i);
	T_CHECK(strncmp(dtx_groups_row(all, 7) + 1 + sizeof(uint32_t), longest + 7, N - 7) == 0);
	dtx_buf_clear(&probe.bytes);
	dtx_groups_free(all);
	dtx_groups_free(g);
	dtx_batch_free(b);
	dtx_column_unref(key[0]);
	dtx_column_unref(key[1]);
	free(v);
	free(longest);
}

void test_groups_find_in_another_table(void)
{
	static const char *const v[] = { "x", "y", NULL, "a text of more than twelve bytes" };
	static const char *const w[] = { "y", NULL, "z" };
	struct dtx_column *key = texts(v, DTX_COUNT(v)), *other = texts(w, DTX_COUNT(w));
	struct dtx_groups *g, *h;
	struct dtx_batch *b, *c;
	uint32_t id[4];

	T_OK(dtx_batch_new(&no_columns, DTX_COUNT(v), &b, NULL), NULL);
	T_OK(dtx_batch_new(&no_columns, DTX_COUNT(w), &c, NULL), NULL);
	T_OK(dtx_groups_new(&text, 1, &g, NULL), NULL);
	T_OK(dtx_groups_new(&text, 1, &h, NULL), NULL);
	T_OK(dtx_groups_ids(g, &key, b, id, NULL), NULL);
	T_OK(dtx_groups_ids(h, &other, c, id, NULL), NULL);
	T_INT(dtx_groups_find(g, h, 0), 1);
	T_INT(dtx_groups_find(g, h, 1), 2);
	T_INT(dtx_groups_find(g, h, 2), DTX_GROUP_NONE);
	T_INT(dtx_groups_part(g, 1, 0, 4), dtx_groups_part(h, 0, 0, 4));
	dtx_groups_free(g);
	dtx_groups_free(h);
	dtx_batch_free(b);
	dtx_batch_free(c);
	dtx_column_unref(key);
	dtx_column_unref(other);
}

static enum dtx_code groups_once(void)
{
	static const char *const v[] = { "x", "a text of more than twelve bytes", NULL };
	struct dtx_builder bb;
	struct dtx_column *key = NULL;
	struct dtx_batch *b = NULL;
	struct dtx_groups *g = NULL;
	uint32_t id[3];
	enum dtx_code rc;

	dtx_builder_init(&bb, text, 3);
	dtx_builder_text(&bb, dtx_str_of(v[0]));
	dtx_builder_text(&bb, dtx_str_of(v[1]));
	dtx_builder_null(&bb);
	DTX_TRY(dtx_builder_finish(&bb, NULL, &key, NULL));
	DTX_TRY(dtx_batch_new(&no_columns, 3, &b, NULL));
	DTX_TRY(dtx_groups_new(&text, 1, &g, NULL));
	DTX_TRY(dtx_groups_ids(g, &key, b, id, NULL));
out:
	dtx_groups_free(g);
	dtx_batch_free(b);
	dtx_column_unref(key);
	return rc;
}

enum { SPILLED = 6 };

/* The same keys are found on disk: short and long texts, rows of several columns, numbers, null. */
static enum dtx_code spill_once(struct dtx_column **key, uint32_t nkeys,
                                const struct dtx_typeref *type)
{
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	uint32_t id[SPILLED], again[SPILLED];
	struct dtx_groups *g = NULL;
	struct dtx_spill *s = NULL;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_new(&no_columns, SPILLED, &b, NULL));
	DTX_TRY(dtx_spill_new(&s, NULL));
	DTX_TRY(dtx_groups_new(type, nkeys, &g, NULL));
	DTX_TRY(dtx_groups_ids(g, key, b, id, NULL));
	DTX_TRY(dtx_groups_spill(g, s, NULL, NULL));
	DTX_TRY(dtx_groups_look(g, &probe, key, b, again, NULL));
	T_CHECK(memcmp(id, again, sizeof(id)) == 0);
	T_INT(id[0], id[3]);
out:
	dtx_groups_free(g);
	dtx_spill_free(s);
	dtx_batch_free(b);
	dtx_buf_clear(&probe.bytes);
	return rc;
}

void test_groups_spill(void)
{
	char more[300] = { 0 };
	const char *const v[] = { "a", "a text of more than twelve bytes", NULL, "a", "", more };
	const struct dtx_typeref type[] = { text, whole };
	struct dtx_column *key[2];

	memset(more, 'm', sizeof(more) - 1);
	key[0] = texts(v, SPILLED);
	key[1] = ints(SPILLED, 1, 3);
	T_OK(spill_once(key, 1, type), NULL);
	T_OK(spill_once(key + 1, 1, type + 1), NULL);
	T_OK(spill_once(key, 2, type), NULL);
	T_EVERY_ALLOC_FAILS(spill_once(key, 2, type));
	dtx_column_unref(key[0]);
	dtx_column_unref(key[1]);
}

void test_groups_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(groups_once());
}

/* Keys that are partitioned by hash: each is found in its partition, with a number after those of
 * the partitions before. */
void test_groups_lookparts(void)
{
	enum { N = 1000, BITS = 3, PARTS = 1 << BITS };
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	struct dtx_column *key = ints(N, 1, 700), *other = ints(N, 100, 900);
	struct dtx_groups *part[PARTS] = { NULL };
	uint32_t first[PARTS + 1] = { 0 }, id[N], at[N];
	struct dtx_batch *b = NULL, some;
	uint16_t row[N];
	uint8_t of[N];
	const struct dtx_group_parts parts = { part, first, BITS };

	T_OK(dtx_batch_new(&no_columns, N, &b, NULL), NULL);
	for (unsigned p = 0; p < PARTS; p++)
		T_OK(dtx_groups_new(&whole, 1, &part[p], NULL), NULL);
	T_OK(dtx_groups_rowparts(part[0], &probe, &key, b, 0, BITS, of, NULL), NULL);
	for (unsigned p = 0; p < PARTS; p++) {
		some = *b;
		some.sel = row;
		some.nsel = 0;
		for (uint32_t i = 0; i < N; i++) {
			row[some.nsel] = (uint16_t)i;
			some.nsel += of[i] == p;
		}
		T_OK(dtx_groups_expect(part[p], p % 2 ? 300 : 3, NULL), NULL);
		T_OK(dtx_groups_ids(part[p], &key, &some, id, NULL), NULL);
		for (uint32_t k = 0; k < some.nsel; k++)
			at[row[k]] = first[p] + id[k];
		first[p + 1] = first[p] + dtx_groups_count(part[p]);
	}
	T_INT(first[PARTS], 700);
	T_OK(dtx_groups_lookparts(&parts, &probe, &key, b, id, NULL), NULL);
	T_CHECK(memcmp(id, at, sizeof(id)) == 0);
	T_OK(dtx_groups_lookparts(&parts, &probe, &other, b, id, NULL), NULL);
	for (uint32_t i = 0; i < N; i++)
		if (other->v.i64[i] < 700)
			T_CHECK(id[i] != DTX_GROUP_NONE);
		else
			T_INT(id[i], DTX_GROUP_NONE);
	for (unsigned p = 0; p < PARTS; p++)
		dtx_groups_free(part[p]);
	dtx_batch_free(b);
	dtx_column_unref(key);
	dtx_column_unref(other);
	dtx_buf_clear(&probe.bytes);
}

/* --- keys of few values --- */

#define CACHE_ROWS 6000u

/* Batch k of a key: few values, then values below 0, a null, much larger values; then few again. */
static struct dtx_column *batch_key(bool is_text, uint32_t k, uint32_t step)
{
	uint32_t mod = k == 7 ? 3000 : 40;
	struct dtx_builder b;
	struct dtx_column *c = NULL;
	char word[32];

	dtx_builder_init(&b, is_text ? text : whole, CACHE_ROWS);
	for (uint32_t i = 0; i < CACHE_ROWS; i++) {
		uint32_t v = (i * step + i / 64 + k) % mod;

		snprintf(word, sizeof(word), v % 3 ? "t%u" : "a text that is not short %u", v);
		if (k == 5 && i == 777)
			dtx_builder_null(&b);
		else if (is_text)
			dtx_builder_text(&b, dtx_str_of(word));
		else
			dtx_builder_i64(&b, k == 4 && v < 20 ? -(int64_t)v
			                                     : (int64_t)v << (k == 6 ? 20 : 0));
	}
	T_OK(dtx_builder_finish(&b, NULL, &c, NULL), NULL);
	return c;
}

/* The ids of nkeys keys are the same as those of these keys and a constant; four keys have no
 * cache. */
static void cache_agrees(const bool is_text[2], uint32_t nkeys)
{
	static uint32_t id[CACHE_ROWS], want[CACHE_ROWS];
	const struct dtx_typeref type[] = { is_text[0] ? text : whole, is_text[1] ? text : whole,
		                            whole, whole };
	struct dtx_column *key[4] = { NULL, NULL, ints(CACHE_ROWS, 0, 1), ints(CACHE_ROWS, 0, 1) };
	struct dtx_groups *g, *ref;

	T_OK(dtx_groups_new(type, nkeys, &g, NULL), NULL);
	T_OK(dtx_groups_new(type, 4, &ref, NULL), NULL);
	for (uint32_t k = 0; k < 12; k++) {
		struct dtx_batch *b;
		uint16_t *sel;

		key[0] = batch_key(is_text[0], k, 7);
		key[1] = nkeys == 2 ? batch_key(is_text[1], k, 11) : dtx_column_ref(key[2]);
		T_OK(dtx_batch_new(&no_columns, CACHE_ROWS, &b, NULL), NULL);
		if (k % 3 == 2) {
			T_OK(dtx_batch_sel(b, &sel, NULL), NULL);
			b->nsel = CACHE_ROWS / 2;
			for (uint32_t i = 0; i < b->nsel; i++)
				sel[i] = (uint16_t)(2 * i + 1);
		}
		T_OK(dtx_groups_ids(ref, key, b, want, NULL), NULL);
		T_OK(dtx_groups_ids(g, key, b, id, NULL), NULL);
		T_CHECK(memcmp(id, want, b->nsel * sizeof(*id)) == 0);
		T_INT(dtx_groups_count(g), dtx_groups_count(ref));
		dtx_batch_free(b);
		dtx_column_unref(key[0]);
		dtx_column_unref(key[1]);
	}
	dtx_groups_free(g);
	dtx_groups_free(ref);
	dtx_column_unref(key[2]);
	dtx_column_unref(key[3]);
}

void test_groups_of_few_values(void)
{
	cache_agrees((const bool[]){ false, false }, 1);
	cache_agrees((const bool[]){ false, false }, 2);
	cache_agrees((const bool[]){ true, false }, 2);
	cache_agrees((const bool[]){ false, true }, 2);
	cache_agrees((const bool[]){ true, true }, 2);
}
