/* distinct when memory is short: see distinct_disk.h. */
#include "ops/group/distinct_disk.h"

#include "core/base/thread/pool.h"
#include "core/data/spill/spill_column.h"
#include "core/expr/agg/aggsave.h"
#include "ops/group/diskparts.h"
#include "ops/kit/opkit.h"

#define CHUNK_KEYS   16384u /* keys that are written at once */
#define TRIM_BATCHES 4u     /* batches that are read before their pages are given back */

/* Keys of one partition, each after the number of its candidate. */
struct chunk {
	struct dtx_piece piece;
	uint32_t n;
};
struct keys {
	struct {
		struct chunk *chunk; /* in the order of their numbers */
		size_t n, cap;
	} part[DTX_DISK_PARTS];
};
/* Candidates are numbered from 1 in the order in which they come.  0: a row that was emitted. */
struct dtx_distinct_disk {
	struct keys keys;
	struct dtx_batch **batch; /* the candidates; NULL: emitted already */
	size_t nbatches, cap;
	uint64_t rows;   /* in all batches */
	uint64_t before; /* how many of them came before the groups were emptied */
};

static void part_free(struct keys *k, unsigned part)
{
	for (size_t i = 0; i < k->part[part].n; i++)
		dtx_piece_free(&k->part[part].chunk[i].piece);
	dtx_mem_free(k->part[part].chunk);
	k->part[part].chunk = NULL;
	k->part[part].n = k->part[part].cap = 0;
}

static void keys_free(struct keys *k)
{
	for (unsigned part = 0; k && part < DTX_DISK_PARTS; part++)
		part_free(k, part);
}

void dtx_distinct_disk_free(struct dtx_distinct_disk *d)
{
	if (!d)
		return;
	keys_free(&d->keys);
	for (size_t i = 0; i < d->nbatches; i++)
		dtx_batch_free(d->batch[i]);
	dtx_mem_free(d->batch);
	dtx_mem_free(d);
}

/* --- from memory to disk --- */

bool dtx_distinct_full(const struct dtx_opctx *ox, const struct dtx_groups *g)
{
	return ox->run && dtx_disk_pays(g) && dtx_spill_states(ox->run->spill);
}

static enum dtx_code put_chunk(const struct dtx_opctx *ox, const struct dtx_groups *g,
                               const uint64_t *number, const uint32_t *id, uint32_t n,
                               struct keys *to, unsigned part, struct dtx_buf *buf,
                               struct dtx_err *err)
{
	static const char pad[DTX_WORDS_PAD] = { 0 };
	struct chunk c = { .piece = { .fd = -1 }, .n = n };
	enum dtx_code rc = DTX_OK;
	const void *at;

	dtx_buf_reset(buf);
	for (uint32_t i = 0; i < n; i++) {
		dtx_groups_save_soon(g, id, i, n);
		dtx_word_save(number[id[i]], buf);
		dtx_groups_save(g, id[i], buf);
	}
	dtx_buf_addn(buf, pad, sizeof(pad));
	DTX_TRY(dtx_buf_check(buf, "keys of groups", err));
	DTX_TRY(dtx_spill_reserve(ox->run->spill, buf->len, &c.piece, err));
	DTX_TRY(dtx_piece_add(&c.piece, buf->ptr, buf->len, &at, err));
	atomic_fetch_add_explicit(&ox->stat->spilled.bytes, (long long)buf->len,
	                          memory_order_relaxed);
	if (!dtx_mem_reserve(&to->part[part].chunk, &to->part[part].cap, to->part[part].n + 1,
	                     sizeof(c)))
		DTX_FAIL_MEM(err);
	to->part[part].chunk[to->part[part].n++] = c;
	c.piece = (struct dtx_piece){ .fd = -1 };
out:
	dtx_piece_free(&c.piece);
	return rc;
}

/* Writes the keys of the groups; number[i]: of the candidate of group i. */
static enum dtx_code put_keys(const struct dtx_opctx *ox, const struct dtx_groups *g,
                              const uint64_t *number, unsigned level, struct keys *to,
                              struct dtx_err *err)
{
	struct dtx_buf buf = DTX_BUF_INIT(SIZE_MAX / 2);
	uint32_t start[DTX_DISK_PARTS + 1];
	uint32_t *id = dtx_mem_alloc(dtx_groups_count(g) + 1u, sizeof(*id));
	enum dtx_code rc = DTX_OK;

	if (!id)
		DTX_FAIL_MEM(err);
	dtx_disk_sort_groups(g, level * DTX_DISK_BITS, id, start);
	for (unsigned part = 0; part < DTX_DISK_PARTS; part++) {
		DTX_TRY(dtx_cancel_look(err));
		for (uint32_t at = start[part]; at < start[part + 1]; at += CHUNK_KEYS)
			DTX_TRY(put_chunk(ox, g, number, id + at,
			                  DTX_MIN(CHUNK_KEYS, start[part + 1] - at), to, part, &buf,
			                  err));
	}
out:
	dtx_mem_free(id);
	dtx_buf_clear(&buf);
	return rc;
}

enum dtx_code dtx_distinct_flush(const struct dtx_opctx *ox, struct dtx_groups *g,
                                 struct dtx_distinct_disk **d, struct dtx_err *err)
{
	uint32_t n = dtx_groups_count(g);
	uint64_t *number = dtx_mem_zalloc(n + 1u, sizeof(*number));
	enum dtx_code rc = DTX_OK;

	if (!number)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; *d && i < n; i++)
		number[i] = (*d)->before + i + 1;
	if (!*d)
		*d = dtx_mem_zalloc(1, sizeof(**d));
	if (!*d)
		DTX_FAIL_MEM(err);
	DTX_TRY(put_keys(ox, g, number, 0, &(*d)->keys, err));
	DTX_TRY(dtx_groups_reset(g, err));
	(*d)->before = (*d)->rows;
out:
	dtx_mem_free(number);
	return rc;
}

enum dtx_code dtx_distinct_put(const struct dtx_opctx *ox, struct dtx_distinct_disk *d,
                               struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_column *cells = NULL;
	struct dtx_batch *copy = NULL;
	enum dtx_code rc = DTX_OK;

	if (!b->nsel)
		return DTX_OK;
	/* values that were made for the keys are made again if a later step needs them */
	for (uint32_t i = 0; i < b->ncols; i++) {
		if (b->col[i] && dtx_op_wants(ox, i))
			DTX_TRY(dtx_column_untyped(b->col[i], &cells, err));
		dtx_batch_put(b, i, cells);
		cells = NULL;
	}
	DTX_TRY(dtx_batch_dense(b, err));
	DTX_TRY(dtx_batch_copy(b, &copy, err));
	DTX_TRY(dtx_spill_batch(ox->run->spill, copy, &ox->stat->spilled, err));
	if (!dtx_mem_reserve(&d->batch, &d->cap, d->nbatches + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	d->rows += copy->nrows;
	d->batch[d->nbatches++] = copy;
	copy = NULL;
out:
	dtx_batch_free(copy);
	return rc;
}

/* --- the first candidate of each key --- */

struct mark_run {
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *key;
	struct dtx_distinct_disk *d;
	_Atomic uint64_t *mark; /* bit per candidate; relaxed, as workers are joined before it is
	                         * read */
	_Atomic unsigned next;
};

/* The keys of a partition that were read since `rest` was written. */
struct part_keys {
	struct dtx_groups *groups;
	uint64_t *number; /* per group */
	size_t cap;
	unsigned level;
	struct keys *rest; /* keys for which there was no room, by the next bits; NULL: none */
};

static void part_keys_clear(struct part_keys *p)
{
	dtx_groups_free(p->groups);
	dtx_mem_free(p->number);
	keys_free(p->rest);
	dtx_mem_free(p->rest);
}

static enum dtx_code part_flush(const struct dtx_opctx *ox, struct part_keys *p,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!p->rest)
		p->rest = dtx_mem_zalloc(1, sizeof(*p->rest));
	if (!p->rest)
		DTX_FAIL_MEM(err);
	DTX_TRY(put_keys(ox, p->groups, p->number, p->level, p->rest, err));
	DTX_TRY(dtx_groups_reset(p->groups, err));
	dtx_mem_free(p->number);
	p->number = NULL;
	p->cap = 0;
out:
	return rc;
}

static bool part_full(const struct part_keys *p)
{
	return p->level < DTX_DISK_LEVELS && dtx_disk_pays(p->groups) && dtx_mem_tight();
}

static enum dtx_code load_chunk(const struct dtx_opctx *ox, const struct chunk *c,
                                struct part_keys *p, struct dtx_err *err)
{
	const char *at = c->piece.base;
	enum dtx_code rc = DTX_OK;

	dtx_piece_soon(&c->piece);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t had, id;
		uint64_t number;

		if (i % DTX_DISK_LOOK_ROWS == 0) {
			DTX_TRY(dtx_cancel_look(err));
			if (part_full(p))
				DTX_TRY(part_flush(ox, p, err));
		}
		had = dtx_groups_count(p->groups);
		number = dtx_word_load(&at);
		if (!dtx_groups_load(p->groups, &at, &id) ||
		    !dtx_mem_reserve(&p->number, &p->cap, had + 1u, sizeof(*p->number)))
			DTX_FAIL_MEM(err);
		if (id == had)
			p->number[id] = number;
	}
out:
	return rc;
}

static void mark_keys(const struct mark_run *x, const struct part_keys *p)
{
	for (uint32_t i = 0; i < dtx_groups_count(p->groups); i++) {
		uint64_t at = p->number[i] - 1;

		if (p->number[i])
			atomic_fetch_or_explicit(&x->mark[at / 64], (uint64_t)1 << at % 64,
			                         memory_order_relaxed);
	}
}

static enum dtx_code mark_part(const struct mark_run *x, struct keys *k, unsigned part,
                               unsigned level, struct dtx_err *err)
{
	struct part_keys p = { .level = level };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groupkeys_groups(x->key, &p.groups, err));
	for (size_t i = 0; i < k->part[part].n; i++)
		DTX_TRY(load_chunk(x->ox, &k->part[part].chunk[i], &p, err));
	if (p.rest)
		DTX_TRY(part_flush(x->ox, &p, err));
	mark_keys(x, &p);
	dtx_groups_free(p.groups); /* it has bytes of the chunks */
	p.groups = NULL;
	part_free(k, part);
	for (unsigned i = 0; p.rest && i < DTX_DISK_PARTS; i++)
		DTX_TRY(mark_part(x, p.rest, i, level + 1, err));
out:
	part_keys_clear(&p);
	return rc;
}

static enum dtx_code mark_parts(void *arg, unsigned worker, struct dtx_err *err)
{
	struct mark_run *x = arg;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	for (unsigned part; (part = atomic_fetch_add(&x->next, 1)) < DTX_DISK_PARTS;) {
		DTX_TRY(mark_part(x, &x->d->keys, part, 1, err));
		dtx_spill_trim(x->ox->run->spill);
	}
out:
	return rc;
}

/* --- the rows of the result --- */

/* Narrows the batch to candidates with a mark; that of its first row is number `from` + 1. */
static enum dtx_code narrow_to_marked(const struct mark_run *x, uint64_t from, struct dtx_batch *b,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (uint32_t k = 0; k < b->nrows; k++) {
		uint64_t at = from + k;
		uint64_t word = atomic_load_explicit(&x->mark[at / 64], memory_order_relaxed);

		sel[n] = (uint16_t)k;
		n += word >> at % 64 & 1;
	}
	dtx_op_count(x->ox, "duplicate", (int64_t)b->nrows - n);
	b->nsel = n;
out:
	return rc;
}

enum dtx_code dtx_distinct_emit(const struct dtx_opctx *ox, struct dtx_groups *g,
                                const struct dtx_groupkeys *key, struct dtx_distinct_disk *d,
                                struct dtx_emit *out, struct dtx_err *err)
{
	struct mark_run x = { .ox = ox, .key = key, .d = d };
	enum dtx_code rc = DTX_OK;
	uint64_t from = 0;

	DTX_TRY(dtx_distinct_flush(ox, g, &d, err));
	x.mark = dtx_mem_zalloc(d->rows / 64 + 1, sizeof(*x.mark));
	if (!x.mark)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_pool_run(dtx_op_workers(ox), mark_parts, &x, err));
	for (size_t i = 0; i < d->nbatches && !dtx_emit_full(out); i++) {
		struct dtx_batch *b = d->batch[i];
		uint32_t rows = b->nrows;

		DTX_TRY(narrow_to_marked(&x, from, b, err));
		b->seq = b->sub = 0; /* as a batch that the step makes */
		DTX_TRY(dtx_emit_batch(out, b, err));
		from += rows;
		dtx_batch_free(b);
		d->batch[i] = NULL;
		if (i % TRIM_BATCHES == 0)
			dtx_spill_trim(ox->run->spill);
	}
out:
	dtx_mem_free((void *)x.mark);
	return rc;
}
