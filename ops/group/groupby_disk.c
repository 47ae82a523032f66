/* group_by when memory is short: the states of groups wait on disk.
 *
 * A worker whose groups take too much memory writes all of them to disk, partitioned by bits of the
 * hash of their key, and begins again with no group.  At the end every partition is read back by
 * one worker, which merges the entries of equal keys; several workers do this at a time.  If the
 * groups of a partition take too much memory as well, they are written to disk in the same way, by
 * the next bits of the hash.  The rows of the result are then put in order (ops/sort/ordered). */
#include "ops/group/first_row.h"
#include "core/base/memory/prefetch.h"
#include "core/base/thread/pool.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/frame_batch.h"
#include "core/expr/agg/aggsave.h"
#include "ops/group/groupby.h"
#include "ops/kit/opkit.h"
#include "ops/sort/ordered.h"

#define CHUNK_ROWS 16384u /* groups that are written at once */
#define SLICE_MIN  1024u  /* rows that are grouped at once, even if there is room for fewer */

/* Groups of one partition: a record for each, and the cells of their keys. */
struct dtx_gb_chunk {
	struct dtx_piece piece;
	uint32_t n;
	struct dtx_column **cell; /* per key; NULL if values are read from the keys */
	char *saved;              /* the cells as bytes, for another process; NULL */
};
struct dtx_gb_disk {
	unsigned shift; /* number of hash bits that selected an earlier partition */
	struct {
		struct dtx_gb_chunk *chunk;
		size_t n, cap;
	} part[DTX_DISK_PARTS];
};

bool dtx_gb_any_spilled(struct dtx_gb_local *const *l, unsigned n)
{
	for (unsigned w = 0; w < n; w++)
		if (l[w]->spilled)
			return true;
	return false;
}

static void cells_free(struct dtx_column **cell, uint32_t n)
{
	for (uint32_t i = 0; cell && i < n; i++)
		dtx_column_unref(cell[i]);
	dtx_mem_free(cell);
}

/* Frees the groups of a partition and gives their space on disk back. */
static void part_free(const struct dtx_gb_state *s, struct dtx_gb_disk *d, unsigned part)
{
	for (size_t i = 0; i < d->part[part].n; i++) {
		dtx_piece_free(&d->part[part].chunk[i].piece);
		cells_free(d->part[part].chunk[i].cell, s->nkeys);
		dtx_mem_free(d->part[part].chunk[i].saved);
	}
	dtx_mem_free(d->part[part].chunk);
	d->part[part].chunk = NULL;
	d->part[part].n = d->part[part].cap = 0;
}

void dtx_gb_disk_free(const struct dtx_gb_state *s, struct dtx_gb_disk *d)
{
	for (unsigned part = 0; d && part < DTX_DISK_PARTS; part++)
		part_free(s, d, part);
	dtx_mem_free(d);
}

/* --- when --- */

/* Estimated bytes of a new group: its key and its place in tables; its states; what states hold at
 * first. */
#define KEY_BYTES   96u
#define GROWS_BYTES 512u

static size_t group_bytes(const struct dtx_gb_state *s)
{
	return s->stride + (s->nkeys + 1u) * KEY_BYTES + (s->grows ? s->nouts * GROWS_BYTES : 0);
}

/* Bytes of the array of states once it has n groups; it doubles. */
static size_t states_bytes(const struct dtx_gb_local *l, size_t n)
{
	size_t cap = DTX_MAX(l->cap_states, (size_t)8);

	while (cap < n)
		cap *= 2;
	return cap * l->state->stride;
}

/* Rows, of so many that come, for which there is room if each of them is a new group, while other
 * workers add as many. */
static uint32_t rows_room(const struct dtx_opctx *ox, const struct dtx_gb_local *l, uint32_t rows)
{
	size_t limit = dtx_mem_limit() / 8 * 7, used = dtx_mem_used();
	size_t share = (limit > used ? limit - used : 0) / dtx_op_workers(ox);
	uint32_t n = (uint32_t)DTX_MIN(rows, share / group_bytes(l->state));

	while (n && l->n + (size_t)n > l->cap_states && states_bytes(l, l->n + (size_t)n) > share)
		n /= 2;
	return n;
}

static bool is_full(const struct dtx_opctx *ox, const struct dtx_gb_local *l)
{
	return (dtx_disk_pays(l->groups) || (l->n && l->state->grows)) &&
	       dtx_spill_states(ox->run->spill);
}

enum dtx_code dtx_gb_make_room(const struct dtx_opctx *ox, struct dtx_gb_local *l, uint32_t rows,
                               uint32_t *most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t least = DTX_MIN(rows, SLICE_MIN);

	*most = rows;
	if (!ox->run || !ox->run->spill || !l->state->nkeys || !dtx_mem_limit())
		return DTX_OK;
	*most = rows_room(ox, l, rows);
	if (is_full(ox, l) || (l->n && *most < least)) {
		DTX_TRY(dtx_gb_flush(ox, l, err));
		l->spilled = true;
		*most = rows_room(ox, l, rows);
	}
	*most = DTX_MAX(*most, least);
out:
	return rc;
}

/* --- from memory to disk --- */

/* The cells of key i for the given groups. */
enum dtx_code dtx_gb_late_cells(const struct dtx_gb_local *l, uint32_t i, const uint32_t *id,
                                uint32_t n, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *which = dtx_mem_zalloc(n + 1u, sizeof(*which));
	uint32_t *row = dtx_mem_alloc(n + 1u, sizeof(*row));
	struct dtx_column **src = dtx_mem_alloc(l->nchunks + 1u, sizeof(struct dtx_column *));

	if (!which || !row || !src)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < n; k++) {
		which[k] = l->from ? (uint32_t)(l->from[id[k]] >> 32) : 0;
		row[k] = l->from ? (uint32_t)l->from[id[k]] : id[k];
	}
	if (!l->from)
		src[0] = l->column[i];
	for (uint32_t c = 0; l->from && c < l->nchunks; c++)
		src[c] = l->chunk[c]->cell[i];
	DTX_TRY(dtx_cells_gather(src, l->from ? l->nchunks : 1, which, row, n,
	                         &l->state->key[i].field, out, err));
out:
	dtx_mem_free(which);
	dtx_mem_free(row);
	dtx_mem_free(src);
	return rc;
}

static enum dtx_code put_cells(const struct dtx_opctx *ox, const struct dtx_gb_local *l,
                               const uint32_t *id, struct dtx_gb_chunk *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;

	if (l->state->from_keys)
		return DTX_OK;
	c->cell = dtx_mem_zalloc(l->state->nkeys + 1u, sizeof(struct dtx_column *));
	if (!c->cell)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < l->state->nkeys; i++) {
		DTX_TRY(dtx_gb_late_cells(l, i, id, c->n, &made, err));
		DTX_TRY(dtx_spill_column(ox->run->spill, made, &c->cell[i], &ox->stat->spilled,
		                         err));
		dtx_column_unref(made);
		made = NULL;
	}
out:
	dtx_column_unref(made);
	return rc;
}

/* A record: the position of the first row, the key, the states. */
static void put_record(const struct dtx_gb_local *l, uint32_t id, struct dtx_buf *out)
{
	const struct dtx_gb_state *s = l->state;

	dtx_word_save(l->pos[id], out);
	dtx_groups_save(l->groups, id, out);
	for (uint32_t i = 0; i < s->nouts; i++)
		for (size_t c = 0; c < s->out[i].calls.n; c++)
			dtx_agg_save(s->out[i].calls.call[c],
			             l->states + id * s->stride + s->out[i].offset[c], out);
}

static inline void put_soon(const struct dtx_gb_local *l, const uint32_t *id, uint32_t i,
                            uint32_t n)
{
	dtx_groups_save_soon(l->groups, id, i, n);
	if (i + 2 * DTX_SAVE_AHEAD < n) {
		uint32_t soon = id[i + 2 * DTX_SAVE_AHEAD];

		DTX_PREFETCH(&l->pos[soon]);
		if (l->state->stride)
			DTX_PREFETCH(l->states + soon * l->state->stride);
	}
}

static enum dtx_code put_chunk(const struct dtx_opctx *ox, struct dtx_gb_local *l, unsigned part,
                               const uint32_t *id, uint32_t n, struct dtx_buf *buf,
                               struct dtx_err *err)
{
	static const char pad[DTX_WORDS_PAD] = { 0 };
	struct dtx_gb_chunk c = { .piece = { .fd = -1 }, .n = n }, *to;
	enum dtx_code rc = DTX_OK;
	const void *at;
	size_t had;

	dtx_buf_reset(buf);
	for (uint32_t i = 0; i < n; i++) {
		put_soon(l, id, i, n);
		put_record(l, id[i], buf);
	}
	dtx_buf_addn(buf, pad, sizeof(pad));
	DTX_TRY(dtx_buf_check(buf, "states of groups", err));
	DTX_TRY(dtx_spill_reserve(ox->run->spill, buf->len, &c.piece, err));
	DTX_TRY(dtx_piece_add(&c.piece, buf->ptr, buf->len, &at, err));
	atomic_fetch_add_explicit(&ox->stat->spilled.bytes, (long long)buf->len,
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&ox->stat->spilled.rows, n, memory_order_relaxed);
	DTX_TRY(put_cells(ox, l, id, &c, err));
	had = l->disk->part[part].n;
	if (!dtx_mem_reserve(&l->disk->part[part].chunk, &l->disk->part[part].cap, had + 1,
	                     sizeof(c)))
		DTX_FAIL_MEM(err);
	to = &l->disk->part[part].chunk[had];
	*to = c;
	l->disk->part[part].n++;
	c = (struct dtx_gb_chunk){ .piece = { .fd = -1 } };
out:
	dtx_piece_free(&c.piece);
	cells_free(c.cell, l->state->nkeys);
	return rc;
}

enum dtx_code dtx_gb_flush(const struct dtx_opctx *ox, struct dtx_gb_local *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(SIZE_MAX / 2);
	uint32_t start[DTX_DISK_PARTS + 1], *id = NULL;

	if (!l->disk)
		l->disk = dtx_mem_zalloc(1, sizeof(*l->disk));
	id = dtx_mem_alloc(l->n + 1u, sizeof(*id));
	if (!l->disk || !id)
		DTX_FAIL_MEM(err);
	l->disk->shift = l->level * DTX_DISK_BITS;
	if (!l->level && !l->state->from_keys)
		DTX_TRY(dtx_gb_finish_keys(l, err));
	dtx_disk_sort_groups(l->groups, l->disk->shift, id, start);
	for (unsigned part = 0; part < DTX_DISK_PARTS; part++) {
		DTX_TRY(dtx_cancel_look(err));
		for (uint32_t at = start[part]; at < start[part + 1]; at += CHUNK_ROWS)
			DTX_TRY(put_chunk(ox, l, part, id + at,
			                  DTX_MIN(CHUNK_ROWS, start[part + 1] - at), &buf, err));
	}
	DTX_TRY(dtx_gb_drop_groups(l, err));
out:
	dtx_mem_free(id);
	dtx_buf_clear(&buf);
	return rc;
}

/* --- to and from another process --- */

/* The schema of the keys' cells. NULL: out of memory. */
static struct dtx_field *key_fields(const struct dtx_gb_state *s, struct dtx_schema *out)
{
	struct dtx_field *field = dtx_mem_alloc(s->nkeys + 1u, sizeof(*field));

	for (uint32_t i = 0; field && i < s->nkeys; i++)
		field[i] = s->key[i].field;
	*out = (struct dtx_schema){ .nfields = s->nkeys, .field = field };
	return field;
}

static enum dtx_code save_cells(const struct dtx_gb_state *s, struct dtx_gb_chunk *c,
                                struct dtx_str *bytes, struct dtx_err *err)
{
	struct dtx_buf out = DTX_BUF_INIT(SIZE_MAX / 2);
	struct dtx_schema schema;
	struct dtx_field *field = key_fields(s, &schema);
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	*bytes = DTX_STR("");
	if (!field)
		DTX_FAIL_MEM(err);
	if (!c->cell)
		goto out;
	DTX_TRY(dtx_batch_new(&schema, c->n, &b, err));
	for (uint32_t i = 0; i < s->nkeys; i++)
		b->col[i] = dtx_column_ref(c->cell[i]);
	DTX_TRY(dtx_frame_batch_save(b, &out, err));
	bytes->len = out.len;
	c->saved = dtx_buf_steal(&out);
	if (!c->saved)
		DTX_FAIL_MEM(err);
	bytes->ptr = c->saved;
out:
	dtx_batch_free(b);
	dtx_mem_free(field);
	dtx_buf_clear(&out);
	return rc;
}

enum dtx_code dtx_gb_save(const struct dtx_opctx *ox, void *local, struct dtx_frame *frame,
                          struct dtx_err *err)
{
	struct dtx_gb_local *l = local;
	enum dtx_code rc = DTX_OK;

	if (l->n)
		DTX_TRY(dtx_gb_flush(ox, l, err));
	for (unsigned part = 0; l->disk && part < DTX_DISK_PARTS; part++)
		for (size_t i = 0; i < l->disk->part[part].n; i++) {
			struct dtx_gb_chunk *c = &l->disk->part[part].chunk[i];
			struct dtx_str records = { c->piece.base, c->piece.used }, cells;

			DTX_TRY(save_cells(l->state, c, &cells, err));
			DTX_TRY(dtx_frame_add_pair(frame, DTX_FRAME_GROUPS, part, c->n, records,
			                           cells, err));
		}
out:
	return rc;
}

static enum dtx_code load_cells(const struct dtx_gb_state *s, struct dtx_str bytes,
                                struct dtx_owner *keep, struct dtx_gb_chunk *c, struct dtx_err *err)
{
	struct dtx_schema schema;
	struct dtx_field *field = key_fields(s, &schema);
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	c->cell = dtx_mem_zalloc(s->nkeys + 1u, sizeof(struct dtx_column *));
	if (!field || !c->cell)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_frame_batch_load(bytes, keep, &schema, &b, err));
	DTX_ASSERT(b->nrows == c->n, err);
	for (uint32_t i = 0; i < s->nkeys; i++) {
		DTX_ASSERT(b->col[i] != NULL, err);
		c->cell[i] = dtx_column_ref(b->col[i]);
	}
out:
	dtx_batch_free(b);
	dtx_mem_free(field);
	return rc;
}

enum dtx_code dtx_gb_load(const struct dtx_opctx *ox, void *local,
                          const struct dtx_frame_view *view, const struct dtx_frame_entry *entry,
                          struct dtx_owner *keep, struct dtx_err *err)
{
	struct dtx_gb_local *l = local;
	struct dtx_str records = dtx_frame_bytes(view, entry);
	struct dtx_str cells = { (const char *)view->ptr + entry->b_off, (size_t)entry->b_len };
	struct dtx_gb_chunk c = { .n = (uint32_t)entry->rows }, *to;
	enum dtx_code rc = DTX_OK;
	size_t had;

	(void)ox;
	DTX_ASSERT(entry->id < DTX_DISK_PARTS && entry->rows <= DTX_BATCH_ROWS, err);
	/* not of the spill file, so no space is given back */
	c.piece = (struct dtx_piece){ .fd = -1, .base = records.ptr, .used = records.len };
	if (!l->disk)
		l->disk = dtx_mem_zalloc(1, sizeof(*l->disk));
	if (!l->disk)
		DTX_FAIL_MEM(err);
	had = l->disk->part[entry->id].n;
	if (!dtx_mem_reserve(&l->disk->part[entry->id].chunk, &l->disk->part[entry->id].cap,
	                     had + 1, sizeof(c)))
		DTX_FAIL_MEM(err);
	if (!l->state->from_keys)
		DTX_TRY(load_cells(l->state, cells, keep, &c, err));
	c.piece.owner = dtx_owner_ref(keep);
	to = &l->disk->part[entry->id].chunk[had];
	*to = c;
	l->disk->part[entry->id].n++;
	l->spilled = true;
	c.cell = NULL;
out:
	cells_free(c.cell, l->state->nkeys);
	return rc;
}

/* --- reading them back --- */

/* Adds a group that no chunk had so far. */
static enum dtx_code load_new(struct dtx_gb_local *l, uint64_t pos, uint64_t from, const char **at,
                              struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	enum dtx_code rc = DTX_OK;
	uint32_t id = l->n;
	char *state;

	if (!dtx_mem_reserve(&l->pos, &l->cap_pos, id + 1u, sizeof(*l->pos)) ||
	    (!s->from_keys &&
	     !dtx_mem_reserve(&l->from, &l->cap_from, id + 1u, sizeof(*l->from))) ||
	    (s->stride && !dtx_mem_reserve(&l->states, &l->cap_states, id + 1u, s->stride)))
		DTX_FAIL_MEM(err);
	l->pos[id] = pos;
	if (!s->from_keys)
		l->from[id] = from;
	state = l->states + id * s->stride;
	for (uint32_t i = 0; i < s->nouts; i++)
		for (size_t c = 0; c < s->out[i].calls.n; c++)
			dtx_agg_init(s->out[i].calls.call[c], state + s->out[i].offset[c],
			             s->stride, 0, 1);
	l->n++;
	for (uint32_t i = 0; i < s->nouts; i++)
		for (size_t c = 0; c < s->out[i].calls.n; c++)
			DTX_TRY(dtx_agg_load(s->out[i].calls.call[c], state + s->out[i].offset[c],
			                     at, err));
out:
	return rc;
}

/* Merges a state that is read into the one at `to`.  tmp: room for one. */
static enum dtx_code load_state(const struct dtx_aggcall *call, char *to, char *tmp, size_t stride,
                                const char **at, struct dtx_err *err)
{
	enum dtx_code rc;

	dtx_agg_init(call, tmp, stride, 0, 1);
	rc = dtx_agg_load(call, tmp, at, err);
	if (rc == DTX_OK)
		rc = dtx_agg_merge(call, to, tmp, err);
	dtx_agg_free(call, tmp, stride, 1);
	return rc;
}

static enum dtx_code load_more(struct dtx_gb_local *l, uint32_t id, uint64_t pos, uint64_t from,
                               char *tmp, const char **at, struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	char *state = l->states + id * s->stride;
	enum dtx_code rc = DTX_OK;

	if (pos < l->pos[id]) {
		l->pos[id] = pos;
		if (!s->from_keys)
			l->from[id] = from;
	}
	for (uint32_t i = 0; i < s->nouts; i++)
		for (size_t c = 0; c < s->out[i].calls.n; c++)
			DTX_TRY(load_state(s->out[i].calls.call[c], state + s->out[i].offset[c],
			                   tmp, s->stride, at, err));
out:
	return rc;
}

/* Whether the groups that were read back should go to disk again: memory is short, or will be when
 * the array of states, which doubles, is full. */
static bool is_large(const struct dtx_gb_local *l)
{
	size_t n = l->n + DTX_DISK_LOOK_ROWS, more = n > l->cap_states ? states_bytes(l, n) : 0;

	if (l->level >= DTX_DISK_LEVELS || !l->n || !dtx_mem_limit())
		return false;
	return ((dtx_disk_pays(l->groups) || l->state->grows) && dtx_mem_tight()) ||
	       dtx_mem_used() + more > dtx_mem_limit() / 8 * 7;
}

static enum dtx_code load_chunk(const struct dtx_opctx *ox, struct dtx_gb_local *l, uint32_t which,
                                char *tmp, struct dtx_err *err)
{
	const struct dtx_gb_chunk *c = l->chunk[which];
	const char *at = c->piece.base;
	enum dtx_code rc = DTX_OK;

	dtx_piece_soon(&c->piece);
	for (uint32_t row = 0; row < c->n; row++) {
		uint64_t from = (uint64_t)which << 32 | row, pos;
		uint32_t id;

		if (row % DTX_DISK_LOOK_ROWS == 0) {
			DTX_TRY(dtx_cancel_look(err));
			if (is_large(l))
				DTX_TRY(dtx_gb_flush(ox, l, err));
		}
		pos = dtx_word_load(&at);
		if (!dtx_groups_load(l->groups, &at, &id))
			DTX_FAIL_MEM(err);
		if (id == l->n)
			DTX_TRY(load_new(l, pos, from, &at, err));
		else
			DTX_TRY(load_more(l, id, pos, from, tmp, &at, err));
	}
out:
	return rc;
}

/* Lists the chunks that n workers have of a partition. */
static enum dtx_code find_chunks(struct dtx_gb_local *l, struct dtx_gb_disk *const *from,
                                 unsigned n, unsigned part, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;

	for (unsigned w = 0; w < n; w++)
		most += from[w] ? from[w]->part[part].n : 0;
	l->chunk = dtx_mem_alloc(most + 1, sizeof(const struct dtx_gb_chunk *));
	if (!l->chunk)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++)
		for (size_t i = 0; from[w] && i < from[w]->part[part].n; i++)
			l->chunk[l->nchunks++] = &from[w]->part[part].chunk[i];
out:
	return rc;
}

/* --- rows of the result --- */

/* A column with the position of each live row's group. */
static enum dtx_code place_column(const struct dtx_batch *b,
                                  const struct dtx_gb_first_row *first_row, struct dtx_column **out,
                                  struct dtx_err *err)
{
	struct dtx_builder place;

	dtx_builder_init(&place, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, b->nsel);
	for (uint32_t k = 0; k < b->nsel; k++)
		dtx_builder_i64(&place, (int64_t)first_row[dtx_batch_row(b, k)].pos);
	return dtx_builder_finish(&place, NULL, out, err);
}

static enum dtx_code order_rows(const struct dtx_opctx *ox, const struct dtx_gb_state *s,
                                struct dtx_ordered *o, struct dtx_batch *b,
                                const struct dtx_gb_first_row *first_row, struct dtx_err *err)
{
	uint32_t nkeys = s->order == DTX_GB_SORTED ? s->nkeys : 0;
	struct dtx_column **key = dtx_mem_zalloc(nkeys + 1u, sizeof(struct dtx_column *));
	struct dtx_key_order *order = dtx_mem_zalloc(nkeys + 1u, sizeof(*order));
	enum dtx_code rc = DTX_OK;

	if (!key || !order)
		DTX_FAIL_MEM(err);
	DTX_TRY(place_column(b, first_row, &key[nkeys], err));
	DTX_TRY(dtx_batch_dense(b, err));
	for (uint32_t i = 0; i < nkeys; i++)
		DTX_TRY(dtx_batch_flat(b, i, &key[i], err));
	DTX_TRY(dtx_ordered_add(o, ox, b, key, order, nkeys + 1u, err));
out:
	for (uint32_t i = 0; key && i <= nkeys; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
	dtx_mem_free(order);
	return rc;
}

/* Makes the rows of all groups of l. */
static enum dtx_code part_rows(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                               struct dtx_ordered *o, struct dtx_err *err)
{
	const struct dtx_gb_result r = { .s = l->state, .l = &l, .n = 1 };
	struct dtx_gb_scratch x = { .which = NULL };
	struct dtx_gb_first_row *first_row = dtx_mem_alloc(DTX_GB_PART_ROWS, sizeof(*first_row));
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	if (!first_row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_gb_scratch_init(&x, &r, DTX_GB_PART_ROWS, err));
	for (uint32_t at = 0; at < l->n; at += DTX_GB_PART_ROWS) {
		uint32_t n = DTX_MIN(DTX_GB_PART_ROWS, l->n - at);

		DTX_TRY(dtx_cancel_look(err));
		for (uint32_t k = 0; k < n; k++)
			first_row[k] = (struct dtx_gb_first_row){ l->pos[at + k], 0, at + k };
		DTX_TRY(dtx_gb_make_rows(ox, &r, &x, first_row, n, &b, err));
		DTX_TRY(order_rows(ox, l->state, o, b, first_row, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_gb_scratch_clear(&x);
	dtx_mem_free(first_row);
	return rc;
}

/* Makes the rows of one partition of what n workers have on disk, and gives its space back. */
static enum dtx_code disk_part(const struct dtx_opctx *ox, struct dtx_gb_disk *const *from,
                               unsigned n, unsigned part, unsigned level, struct dtx_ordered *o,
                               struct dtx_err *err)
{
	const struct dtx_gb_state *s = ox->bound;
	struct dtx_gb_disk *rest = NULL;
	struct dtx_gb_local *l = NULL;
	enum dtx_code rc = DTX_OK;
	void *local = NULL;
	char *tmp = dtx_mem_alloc(s->stride + 1, 1);

	if (!tmp)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_gb_init_local(ox, &local, err));
	l = local;
	l->level = level;
	dtx_gb_drop_scratch(l);
	DTX_TRY(find_chunks(l, from, n, part, err));
	for (uint32_t i = 0; i < l->nchunks; i++)
		DTX_TRY(load_chunk(ox, l, i, tmp, err));
	if (l->disk && l->n)
		DTX_TRY(dtx_gb_flush(ox, l, err));
	else
		DTX_TRY(part_rows(ox, l, o, err));
	rest = l->disk;
	l->disk = NULL;
	dtx_gb_free_local(ox, l);
	l = NULL;
	for (unsigned w = 0; w < n; w++)
		if (from[w])
			part_free(s, from[w], part);
	for (unsigned i = 0; rest && i < DTX_DISK_PARTS; i++)
		DTX_TRY(disk_part(ox, &rest, 1, i, level + 1, o, err));
out:
	dtx_gb_free_local(ox, l);
	dtx_gb_disk_free(s, rest);
	dtx_mem_free(tmp);
	return rc;
}

/* --- all partitions --- */

struct disk_run {
	const struct dtx_opctx *ox;
	struct dtx_gb_disk **from; /* per worker that has grouped rows; some are NULL */
	unsigned n;
	struct dtx_ordered *o; /* per worker that reads partitions */
	_Atomic unsigned next;
};

static enum dtx_code disk_parts(void *arg, unsigned worker, struct dtx_err *err)
{
	struct disk_run *x = arg;
	enum dtx_code rc = DTX_OK;

	for (unsigned part; (part = atomic_fetch_add(&x->next, 1)) < DTX_DISK_PARTS;) {
		DTX_TRY(disk_part(x->ox, x->from, x->n, part, 1, &x->o[worker], err));
		dtx_spill_trim(x->ox->run->spill);
	}
	DTX_TRY(dtx_sorter_sort(&x->o[worker].sorter, err));
out:
	return rc;
}

enum dtx_code dtx_gb_from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                               struct dtx_err *err)
{
	unsigned workers = dtx_op_workers(ox);
	struct disk_run x = { .ox = ox, .n = r->n };
	struct dtx_ordered **all = dtx_mem_alloc(workers, sizeof(struct dtx_ordered *));
	enum dtx_code rc = DTX_OK;

	x.o = dtx_mem_zalloc(workers, sizeof(*x.o));
	x.from = dtx_mem_zalloc(r->n + 1u, sizeof(struct dtx_gb_disk *));
	r->from = dtx_mem_alloc(ox->out->nfields + 1u, sizeof(*r->from));
	if (!all || !x.o || !x.from || !r->from)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < workers; w++) {
		dtx_ordered_init(&x.o[w], SIZE_MAX);
		all[w] = &x.o[w];
	}
	for (uint32_t i = 0; i < ox->out->nfields; i++)
		r->from[i] = (int32_t)i;
	for (unsigned w = 0; w < r->n; w++) {
		dtx_gb_drop_scratch(r->l[w]);
		x.from[w] = r->l[w]->disk;
	}
	DTX_TRY(dtx_pool_run(workers, disk_parts, &x, err));
	dtx_gb_drop_locals(ox, r);
	DTX_TRY(dtx_ordered_take(all, workers, SIZE_MAX, ox->run->spill, &r->rows, err));
out:
	for (unsigned w = 0; x.o && w < workers; w++)
		dtx_ordered_clear(&x.o[w]);
	dtx_mem_free(x.o);
	dtx_mem_free(x.from);
	dtx_mem_free(all);
	return rc;
}
