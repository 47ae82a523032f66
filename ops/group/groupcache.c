/* Finds groups without hashing if keys have few values: each key is a small number, and all keys
 * together are an index into an array of group ids.
 *
 * The array is only a cache of the table of groups: a key that it does not contain, or cannot
 * contain, is looked up in the table.  Each key has as many bits of the index as its numbers have
 * needed so far; if it needs more, the array is emptied and laid out again. */
#include "ops/group/groupcache.h"

#include "core/base/memory/mem.h"
#include "ops/group/hashagg_impl.h"

#define CODE_BITS     18u /* 1 MiB of ids: what the L2 cache of a core holds */
#define CODE_BITS_MAX 22u /* if there are so many groups that their own table is larger */
#define ROWS_MIN      ((uint64_t)16384) /* with fewer rows the array is not worth it */
#define KEYS_MAX      4u
#define BUDGET_SHARE  64u
#define MISSES_MAX    256u /* after so many chunks without a hit the array is no longer used */

struct dtx_groupcache {
	uint32_t nkeys;
	unsigned bits[KEYS_MAX];           /* bits of the number of each key */
	struct dtx_groups *text[KEYS_MAX]; /* numbers of a text key; NULL: the key is a number */
	/* the dictionary that a text key had last, counted, and the numbers of its texts, + 1 */
	struct dtx_column *dict[KEYS_MAX];
	uint32_t *dict_id[KEYS_MAX];
	uint32_t *id; /* by index: id + 1; 0: unknown */
	uint64_t rows;
	uint32_t groups, misses;
	bool off;
	uint32_t code[DTX_GROUP_CHUNK]; /* indexes of the last get */
};

static unsigned bits_of(uint64_t v)
{
	unsigned n = 0;

	for (; v; v >>= 1)
		n++;
	return n;
}

static bool has_cache(const struct dtx_typeref *type, uint32_t nkeys)
{
	/* a single text key is as fast in its own table */
	if (nkeys == 0 || nkeys > KEYS_MAX || (nkeys == 1 && type[0].type != DTX_T_INT64))
		return false;
	for (uint32_t i = 0; i < nkeys; i++)
		if (type[i].type != DTX_T_INT64 && type[i].type != DTX_T_TEXT)
			return false;
	return true;
}

enum dtx_code dtx_groupcache_new(const struct dtx_typeref *type, uint32_t nkeys,
                                 struct dtx_groupcache **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_groupcache *m = NULL;

	*out = NULL;
	if (!has_cache(type, nkeys))
		goto out;
	m = dtx_mem_zalloc(1, sizeof(*m));
	if (!m)
		DTX_FAIL_MEM(err);
	m->nkeys = nkeys;
	for (uint32_t i = 0; i < nkeys; i++)
		if (type[i].type == DTX_T_TEXT)
			DTX_TRY(dtx_groups_new(&type[i], 1, &m->text[i], err));
	*out = m;
	m = NULL;
out:
	dtx_groupcache_free(m);
	return rc;
}

void dtx_groupcache_free(struct dtx_groupcache *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < KEYS_MAX; i++) {
		dtx_groups_free(m->text[i]);
		dtx_column_unref(m->dict[i]);
		dtx_mem_free(m->dict_id[i]);
	}
	dtx_mem_free(m->id);
	dtx_mem_free(m);
}

/* Adds the numbers of a key to the indexes.  Returns how many bits they need. */
static unsigned code_ints(struct dtx_groupcache *m, uint32_t key, const struct dtx_column *col,
                          const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	unsigned bits = m->bits[key];
	uint64_t high = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = (uint64_t)col->v.i64[b->sel ? b->sel[from + i] : from + i];

		high |= v;
		m->code[i] = m->code[i] << bits | (uint32_t)v;
	}
	return bits_of(high);
}

/* Finds the numbers of texts by their codes in a dictionary, of which each text is looked up once.
 */
static bool dict_texts(struct dtx_groupcache *m, uint32_t key, const struct dtx_column *col,
                       const struct dtx_batch *b, uint32_t from, uint32_t n, uint32_t *id)
{
	const struct dtx_batch none = { .nsel = 0 }; /* rows of the dictionary are not selected */
	uint32_t *known = m->dict_id[key];

	if (m->dict[key] != col->dict) {
		dtx_column_unref(m->dict[key]);
		dtx_mem_free(known);
		m->dict[key] = NULL;
		known = m->dict_id[key] = dtx_mem_zalloc(col->dict->len, sizeof(*known));
		if (!known)
			return false;
		m->dict[key] = dtx_column_ref(col->dict);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t code = col->v.code[b->sel ? b->sel[from + i] : from + i];

		if (!known[code]) {
			if (!dtx_groups_texts(m->text[key], col->dict, &none, code, 1, &id[i]))
				return false;
			known[code] = id[i] + 1;
		}
		id[i] = known[code] - 1;
	}
	return true;
}

/* The same for a text key.  Returns more bits than there are if memory is out. */
static unsigned code_texts(struct dtx_groupcache *m, uint32_t key, const struct dtx_column *col,
                           const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	uint32_t id[DTX_GROUP_CHUNK];

	if (!(col->form == DTX_F_DICT ? dict_texts(m, key, col, b, from, n, id)
	                              : dtx_groups_texts(m->text[key], col, b, from, n, id)))
		return CODE_BITS_MAX + 1;
	for (uint32_t i = 0; i < n; i++)
		m->code[i] = m->code[i] << m->bits[key] | id[i];
	return bits_of(dtx_groups_count(m->text[key]) - 1);
}

/* Whether the array may have so many bits: not larger than the table of the groups, and a small
 * part of the budget. */
static bool may_be_large(const struct dtx_groupcache *m, unsigned bits)
{
	return bits <= CODE_BITS_MAX && (uint64_t)1 << bits <= (uint64_t)m->groups * 8 &&
	       (!dtx_mem_limit() || (sizeof(*m->id) << bits) * BUDGET_SHARE <= dtx_mem_limit());
}

/* Makes an empty array with so many bits per key.  False: keys with such numbers have no array
 * (yet). */
static bool widen(struct dtx_groupcache *m, const unsigned *bits)
{
	unsigned all = 0, texts = 0;
	uint32_t *id;

	for (uint32_t k = 0; k < m->nkeys; k++) {
		all += bits[k];
		texts += m->text[k] ? bits[k] : 0;
	}
	m->misses += all > CODE_BITS_MAX;
	m->off = texts > CODE_BITS || m->misses > MISSES_MAX; /* the number of different texts only
	                                                       * grows */
	if (all > CODE_BITS && !may_be_large(m, all))
		return false;
	id = dtx_mem_zalloc((size_t)1 << all, sizeof(*id));
	if (!id) /* it works without an array */
		return false;
	dtx_mem_free(m->id);
	m->id = id;
	memcpy(m->bits, bits, sizeof(m->bits));
	return true;
}

static bool code_rows(struct dtx_groupcache *m, struct dtx_column *const *key,
                      const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	unsigned bits[KEYS_MAX] = { 0 };
	bool fits = true;

	for (uint32_t k = 0; k < m->nkeys; k++)
		if (key[k]->valid || (key[k]->form != DTX_F_FLAT && key[k]->form != DTX_F_DICT))
			return false;
	memset(m->code, 0, n * sizeof(*m->code));
	for (uint32_t k = 0; k < m->nkeys; k++) {
		unsigned need = m->text[k] ? code_texts(m, k, key[k], b, from, n)
		                           : code_ints(m, k, key[k], b, from, n);

		fits = fits && need <= m->bits[k];
		bits[k] = DTX_MAX(need, m->bits[k]);
	}
	return fits ? m->id != NULL : widen(m, bits) && code_rows(m, key, b, from, n);
}

bool dtx_groupcache_ready(const struct dtx_groupcache *m)
{
	return !m->off && m->rows >= ROWS_MIN;
}

/* The ids by one int, if the array has all of them: most chunks, once it is filled. */
static bool known_ints(const struct dtx_groupcache *m, const struct dtx_column *key,
                       const struct dtx_batch *b, uint32_t from, uint32_t n, uint32_t *ids)
{
	const int64_t *v;
	const uint32_t *known = m->id;
	const uint64_t most = ((uint64_t)1 << m->bits[0]) - 1;
	uint64_t beyond = 0;
	uint32_t missing = 0;

	if (m->nkeys != 1 || !known || b->sel || key->valid || key->form != DTX_F_FLAT)
		return false;
	v = key->v.i64 + from;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = known[(uint64_t)v[i] & most];

		beyond |= (uint64_t)v[i] & ~most;
		missing |= !id;
		ids[i] = id - 1;
	}
	return !beyond && !missing;
}

bool dtx_groupcache_get(struct dtx_groupcache *m, struct dtx_column *const *key,
                        const struct dtx_batch *b, uint32_t from, uint32_t n, uint32_t *ids,
                        struct dtx_group_misses *miss)
{
	miss->n = n;
	m->rows += n;
	if (m->off || m->rows < ROWS_MIN)
		return false;
	miss->n = 0;
	if (known_ints(m, key[0], b, from, n, ids))
		return true;
	miss->n = n;
	if (!code_rows(m, key, b, from, n))
		return false;
	m->misses = 0;
	miss->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = m->id[m->code[i]] - 1;
		miss->at[miss->n] = (uint16_t)i;
		miss->n += ids[i] == DTX_GROUP_NONE;
	}
	return true;
}

void dtx_groupcache_put(struct dtx_groupcache *m, const uint32_t *ids,
                        const struct dtx_group_misses *miss)
{
	for (uint32_t i = 0; i < miss->n; i++)
		m->id[m->code[miss->at[i]]] = ids[miss->at[i]] + 1;
}

void dtx_groupcache_count(struct dtx_groupcache *m, uint32_t groups)
{
	m->groups = groups;
}
