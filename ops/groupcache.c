/* Groups of keys of few values: each key is a small number, both together index an array.
 *
 * The array only remembers what the table of groups said: a key that it does not hold, or cannot,
 * is looked up there. */
#include "ops/groupcache.h"

#include "core/base/mem.h"
#include "ops/hashagg_impl.h"

#define CODE_BITS 18u               /* 1 MiB of ids: what a core's own cache holds */
#define ROWS_MIN  ((uint64_t)16384) /* fewer are not worth the array */
#define KEYS_MAX  2u

struct dtx_groupcache {
	uint32_t nkeys;
	unsigned bits;                     /* of a key's number */
	struct dtx_groups *text[KEYS_MAX]; /* numbers of a text key; NULL: it is a number */
	uint32_t *id;                      /* by code: id + 1; 0: not known */
	uint64_t rows;
	bool coded, off;
	uint32_t code[DTX_GROUP_CHUNK]; /* of the last get, when coded */
};

static bool has_cache(const struct dtx_typeref *type, uint32_t nkeys)
{
	/* one text is as fast in its table */
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
	m->bits = CODE_BITS / nkeys;
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
	for (uint32_t i = 0; i < KEYS_MAX; i++)
		dtx_groups_free(m->text[i]);
	dtx_mem_free(m->id);
	dtx_mem_free(m);
}

/* Adds numbers below 1 << bits to the codes; false: one is not. */
static bool code_ints(struct dtx_groupcache *m, const struct dtx_column *col,
                      const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	uint64_t high = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = (uint64_t)col->v.i64[b->sel ? b->sel[from + i] : from + i];

		high |= v;
		m->code[i] = m->code[i] << m->bits | (uint32_t)v;
	}
	return high >> m->bits == 0;
}

static bool code_texts(struct dtx_groupcache *m, uint32_t key, const struct dtx_column *col,
                       const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	uint32_t id[DTX_GROUP_CHUNK];

	if (!dtx_groups_texts(m->text[key], col, b, from, n, id))
		return false;
	for (uint32_t i = 0; i < n; i++)
		m->code[i] = m->code[i] << m->bits | id[i];
	/* more texts would only come */
	m->off = dtx_groups_count(m->text[key]) > (uint32_t)1 << m->bits;
	return !m->off;
}

static bool code_rows(struct dtx_groupcache *m, struct dtx_column *const *key,
                      const struct dtx_batch *b, uint32_t from, uint32_t n)
{
	bool ok = true;

	for (uint32_t k = 0; k < m->nkeys; k++)
		if (key[k]->valid || key[k]->form != DTX_F_FLAT)
			return false;
	memset(m->code, 0, n * sizeof(*m->code));
	for (uint32_t k = 0; ok && k < m->nkeys; k++)
		ok = m->text[k] ? code_texts(m, k, key[k], b, from, n)
		                : code_ints(m, key[k], b, from, n);
	return ok;
}

enum dtx_code dtx_groupcache_get(struct dtx_groupcache *m, struct dtx_column *const *key,
                                 const struct dtx_batch *b, uint32_t from, uint32_t n,
                                 uint32_t *ids, bool *hit, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t known = UINT32_MAX;

	*hit = m->coded = false;
	m->rows += n;
	if (m->off || m->rows < ROWS_MIN || !code_rows(m, key, b, from, n))
		goto out;
	if (!m->id)
		m->id = dtx_mem_zalloc((size_t)1 << CODE_BITS, sizeof(*m->id));
	if (!m->id)
		DTX_FAIL_MEM(err);
	m->coded = true;
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = m->id[m->code[i]] - 1;
		known &= ids[i] == DTX_GROUP_NONE ? 0 : UINT32_MAX;
	}
	*hit = known != 0;
out:
	return rc;
}

void dtx_groupcache_put(struct dtx_groupcache *m, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; m->coded && i < n; i++)
		m->id[m->code[i]] = ids[i] + 1;
}
