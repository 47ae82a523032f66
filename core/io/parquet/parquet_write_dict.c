/* The dictionary of a chunk: its distinct values are found in a hash table. See parquet_write.h. */
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/io/parquet/parquet_write.h"

/* A dictionary has at most one value for so many of a chunk, and so many values: beyond that, the
 * codes save little, and readers look them up in memory that no cache holds. */
enum { VALUES_PER_ENTRY = 5 };
#define ENTRIES_MAX ((uint32_t)1 << 18)

/* A value as two words: a number, or a text's length and first 4 bytes. The second word has the
 * other bytes of a text of up to SHORT, else where it is in `plain`. */
struct key {
	uint64_t a, b;
};
/* Values whose slots are fetched together: a table is larger than the caches, and one after the
 * other they would wait for memory. */
enum { AHEAD = 32 };
/* Texts of up to so many bytes are in their keys. */
enum { SHORT = 12 };

struct finder {
	const struct dtx_pqw_column *c;
	struct dtx_pqw_dict *d;
	uint32_t most;  /* entries */
	uint64_t room;  /* bytes of entries and codes at which the dictionary does not pay */
	uint64_t *slot; /* high half of a hash, and the number of the entry, from 1; 0: free */
	uint64_t mask;
	struct key *key; /* of entries, from 1 */
};

static bool pays(const struct finder *f)
{
	uint64_t codes = (uint64_t)f->c->values * dtx_pqw_width(f->d->n ? f->d->n - 1 : 0) / 8;

	return f->d->plain.len + codes < f->room;
}

/* Counts an entry that was added; false: the dictionary no longer pays. That is asked now and then:
 * the width of codes changes at powers of two. */
static bool added(struct finder *f)
{
	return ++f->d->n & 63 || pays(f);
}

/* --- integers of a small range: a table of them --- */

static int64_t number(const struct dtx_pqw_column *c, uint32_t i)
{
	int64_t v;
	int32_t small;

	if (c->type.width == 8) {
		memcpy(&v, c->fixed.ptr + 8 * (size_t)i, 8);
		return v;
	}
	memcpy(&small, c->fixed.ptr + 4 * (size_t)i, 4);
	return small;
}

/* `table` has 1 + the code of each number from `least` on. */
static bool find_near(struct finder *f, uint32_t *table, int64_t least)
{
	uint32_t width = f->c->type.width;

	for (uint32_t i = 0; i < f->c->values; i++) {
		int64_t v = number(f->c, i);
		uint32_t *at = &table[(uint64_t)v - (uint64_t)least];

		if (!*at) {
			if (f->d->n == f->most)
				return false;
			*at = f->d->n + 1;
			dtx_buf_addn(&f->d->plain, &v, width);
			if (!added(f))
				return false;
		}
		f->d->code[i] = *at - 1;
	}
	return true;
}

/* --- others: a hash table --- */

/* The first 12 bytes of a text, as the entries have them. More bytes may be read than the text has:
 * columns of texts have DTX_PQW_SLACK bytes after the last one. */
static inline struct key text_key(const char *p, uint32_t len)
{
	static const uint64_t mask[9] = {
		0,          0xff,         0xffff,         0xffffff,
		0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
		UINT64_MAX,
	};
	uint64_t first, last;

	memcpy(&first, p, 8);
	memcpy(&last, p + 4, 8);
	first &= mask[DTX_MIN(len, 4U)];
	last &= mask[len > 4 ? DTX_MIN(len - 4, 8U) : 0];
	return (struct key){ len | first << 32, last };
}

/* The keys and hashes of up to AHEAD values from value i on, whose texts begin at *p. */
struct some {
	struct key key[AHEAD];
	uint64_t hash[AHEAD];
	const char *text[AHEAD]; /* NULL: the key is the whole value */
	uint32_t n;
};

static void some_numbers(const struct finder *f, uint32_t i, struct some *s)
{
	for (uint32_t k = 0; k < s->n; k++) {
		s->key[k] = (struct key){ (uint64_t)number(f->c, i + k), 0 };
		s->hash[k] = dtx_hash_mix(s->key[k].a, 0);
		s->text[k] = NULL;
	}
}

static void some_texts(const struct finder *f, uint32_t i, const char **p, struct some *s)
{
	uint32_t len = f->c->type.width;

	for (uint32_t k = 0; k < s->n; k++, *p += len) {
		if (f->c->type.kind == DTX_PQW_TEXT)
			memcpy(&len, f->c->fixed.ptr + 4 * (size_t)(i + k), 4);
		s->key[k] = text_key(*p, len);
		s->text[k] = len > SHORT ? *p : NULL;
		s->hash[k] = s->text[k] ? dtx_hash64(*p, len, 0)
		                        : dtx_hash_mix(s->key[k].a, s->key[k].b);
	}
}

static bool equal(const struct finder *f, const struct key *entry, const struct some *s, uint32_t k)
{
	if (entry->a != s->key[k].a)
		return false;
	if (!s->text[k])
		return entry->b == s->key[k].b;
	return !memcmp(f->d->plain.ptr + entry->b, s->text[k], (uint32_t)entry->a);
}

static void put_entry(struct finder *f, const struct some *s, uint32_t k, const char *p)
{
	struct dtx_buf *to = &f->d->plain;
	struct key *key = &f->key[f->d->n + 1];
	uint32_t len = (uint32_t)s->key[k].a;

	*key = s->key[k];
	if (!p) {
		dtx_buf_addn(to, &key->a, f->c->type.width);
		return;
	}
	if (f->c->type.kind == DTX_PQW_TEXT)
		dtx_buf_addn(to, &len, 4);
	key->b = s->text[k] ? to->len : key->b;
	dtx_buf_addn(to, p, len);
}

/* Finds the codes of the values in s; `p` is where the first text is, NULL: numbers. */
static bool find_some(struct finder *f, uint32_t i, const struct some *s, const char *p)
{
	for (uint32_t k = 0; k < s->n; k++)
		__builtin_prefetch(&f->slot[s->hash[k] & f->mask]);
	for (uint32_t k = 0; k < s->n; k++)
		__builtin_prefetch(&f->key[(uint32_t)f->slot[s->hash[k] & f->mask]]);
	for (uint32_t k = 0; k < s->n; k++) {
		uint64_t hash = s->hash[k], at, slot;
		uint32_t code = 0;

		for (at = hash & f->mask; (slot = f->slot[at]) != 0; at = (at + 1) & f->mask) {
			code = (uint32_t)slot - 1;
			if (slot >> 32 == hash >> 32 && equal(f, &f->key[code + 1], s, k))
				break;
		}
		if (!slot) {
			code = f->d->n;
			if (code == f->most)
				return false;
			f->slot[at] = hash >> 32 << 32 | (code + 1);
			put_entry(f, s, k, p);
			if (!added(f))
				return false;
		}
		f->d->code[i + k] = code;
		p = p ? p + (uint32_t)s->key[k].a : NULL;
	}
	return true;
}

static bool find_all(struct finder *f)
{
	enum dtx_pqw_kind kind = f->c->type.kind;
	bool numbers = kind != DTX_PQW_TEXT && kind != DTX_PQW_FIXED;
	const char *p = kind == DTX_PQW_TEXT ? f->c->bytes.ptr : f->c->fixed.ptr, *from;
	struct some s;

	for (uint32_t i = 0; i < f->c->values; i += s.n) {
		s.n = DTX_MIN(f->c->values - i, (uint32_t)AHEAD);
		from = numbers ? NULL : p;
		if (numbers)
			some_numbers(f, i, &s);
		else
			some_texts(f, i, &p, &s);
		if (!find_some(f, i, &s, from))
			return false;
	}
	return true;
}

/* --- which of them --- */

/* Whether a table of all integers from the least to the greatest is small; finds the least. */
static bool are_near(const struct dtx_pqw_column *c, int64_t *least, uint64_t *range)
{
	int64_t greatest = INT64_MIN;

	*least = INT64_MAX;
	if (c->type.kind != DTX_PQW_I32 && c->type.kind != DTX_PQW_I64)
		return false;
	for (uint32_t i = 0; i < c->values; i++) {
		*least = DTX_MIN(*least, number(c, i));
		greatest = DTX_MAX(greatest, number(c, i));
	}
	*range = (uint64_t)greatest - (uint64_t)*least;
	return *range < c->values;
}

static enum dtx_code find(struct finder *f, bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t slots = 64;
	uint32_t *table = NULL;
	uint64_t range;
	int64_t least;

	f->d->code = dtx_mem_alloc(f->c->values, sizeof(*f->d->code));
	if (!f->d->code)
		DTX_FAIL_MEM(err);
	if (are_near(f->c, &least, &range)) {
		table = dtx_mem_zalloc(range + 1, sizeof(*table));
		if (!table)
			DTX_FAIL_MEM(err);
		*found = find_near(f, table, least);
		goto out;
	}
	while (slots < 2 * (size_t)f->most)
		slots *= 2;
	f->mask = slots - 1;
	f->slot = dtx_mem_zalloc(slots, sizeof(*f->slot));
	f->key = dtx_mem_alloc((size_t)f->most + 1, sizeof(*f->key));
	if (!f->slot || !f->key)
		DTX_FAIL_MEM(err);
	*found = find_all(f);
out:
	dtx_mem_free(table);
	dtx_mem_free(f->slot);
	dtx_mem_free(f->key);
	return rc;
}

enum dtx_code dtx_pqw_dict_make(const struct dtx_pqw_column *c, uint64_t most,
                                struct dtx_pqw_dict *d, bool *dict_pays, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct finder f = { .c = c, .d = d, .room = most };

	*dict_pays = false;
	*d = (struct dtx_pqw_dict){ .plain = DTX_BUF_INIT(SIZE_MAX / 2) };
	f.most = DTX_MIN(c->values / VALUES_PER_ENTRY, ENTRIES_MAX);
	if (!f.most)
		goto out;
	DTX_TRY(find(&f, dict_pays, err));
	DTX_TRY(dtx_buf_check(&d->plain, "a dictionary", err));
	DTX_TRY(dtx_cancel_look(err));
	*dict_pays = *dict_pays && pays(&f);
out:
	if (rc != DTX_OK || !*dict_pays)
		dtx_pqw_dict_clear(d);
	return rc;
}

void dtx_pqw_dict_clear(struct dtx_pqw_dict *d)
{
	dtx_mem_free(d->code);
	d->code = NULL;
	d->n = 0;
	dtx_buf_clear(&d->plain);
}
