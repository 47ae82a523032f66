/* Small tables for fragments, see sides.h. */
#include "core/cluster/sides.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/cluster/fragment.h"
#include "core/cluster/rows_reader.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/frame_batch.h"

/* Larger tables are left to the driver. With so few rows a table of keys has the same form in
 * processes with different numbers of workers. */
#define SIDE_BYTES ((uint64_t)32 << 20)
#define SIDE_ROWS  131072u

static struct dtx_side *find(const struct dtx_sides *x, uint32_t step, uint32_t input)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->side[i].step == step && x->side[i].input == input)
			return &x->side[i];
	return NULL;
}

static void drop_batches(struct dtx_side *s)
{
	for (size_t i = 0; i < s->n; i++)
		dtx_buf_clear(&s->batch[i].bytes);
	dtx_mem_free(s->batch);
	s->batch = NULL;
	s->n = s->cap = 0;
}

static bool is_saveable(const struct dtx_batch *b)
{
	for (uint32_t c = 0; c < b->ncols; c++)
		if (b->col[c] && b->col[c]->form == DTX_F_CELL)
			return false;
	return true;
}

static enum dtx_code add_batch(struct dtx_side *s, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_side_batch *to;
	enum dtx_code rc = DTX_OK;

	if (!s || s->large || !b->nsel)
		return DTX_OK;
	s->large = !is_saveable(b) || s->rows + b->nsel > SIDE_ROWS;
	if (s->large)
		goto out;
	if (!dtx_mem_reserve(&s->batch, &s->cap, s->n + 1, sizeof(*s->batch)))
		DTX_FAIL_MEM(err);
	to = &s->batch[s->n++];
	*to = (struct dtx_side_batch){ .bytes = DTX_BUF_INIT(SIZE_MAX / 2) };
	DTX_TRY(dtx_frame_batch_save(b, &to->bytes, err));
	to->pos = dtx_batch_pos(b, 0);
	s->rows += b->nsel;
	s->bytes += to->bytes.len;
	s->large = s->bytes > SIDE_BYTES;
out:
	if (s->large)
		drop_batches(s);
	return rc;
}

enum dtx_code dtx_sides_add(struct dtx_sides *x, uint32_t step, unsigned input, struct dtx_batch *b,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pthread_mutex_lock(&x->lock);
	if (b)
		DTX_TRY(add_batch(find(x, step, input), b, err));
	else if (!dtx_mem_reserve(&x->side, &x->cap, x->n + 1, sizeof(*x->side)))
		DTX_FAIL_MEM(err);
	else
		x->side[x->n++] = (struct dtx_side){ .step = step, .input = input };
out:
	pthread_mutex_unlock(&x->lock);
	return rc;
}

bool dtx_sides_has(const struct dtx_sides *x, uint32_t step, uint32_t ntables)
{
	for (uint32_t k = 1; k < ntables; k++) {
		const struct dtx_side *s = find(x, step, k);

		if (!s || s->large)
			return false;
	}
	return true;
}

void dtx_sides_clear(struct dtx_sides *x)
{
	for (size_t i = 0; i < x->n; i++)
		drop_batches(&x->side[i]);
	dtx_mem_free(x->side);
	x->side = NULL;
	x->n = x->cap = 0;
}

/* --- files --- */

static int by_pos(const void *a, const void *b)
{
	const struct dtx_side_batch *x = a, *y = b;

	return (x->pos > y->pos) - (x->pos < y->pos);
}

static enum dtx_code write_side(struct dtx_side *s, const char *exchange, struct dtx_err *err)
{
	struct dtx_frame frame = DTX_FRAME_INIT;
	struct dtx_weak weak;
	char *bytes = NULL;
	enum dtx_code rc = DTX_OK;

	if (s->n)
		qsort(s->batch, s->n, sizeof(*s->batch), by_pos);
	/* a frame has at least one section */
	DTX_TRY(dtx_frame_add_bytes(&frame, DTX_FRAME_REPORT, 0, NULL, DTX_STR(""), err));
	for (size_t i = 0; i < s->n; i++)
		DTX_TRY(dtx_frame_add_bytes(&frame, DTX_FRAME_BATCH, (uint32_t)i, NULL,
		                            dtx_buf_str(&s->batch[i].bytes), err));
	s->size = dtx_frame_size(&frame);
	bytes = dtx_mem_zalloc((size_t)s->size, 1);
	if (!bytes)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_frame_write(&frame, bytes, err));
	dtx_weak_init(&weak);
	dtx_weak_add(&weak, bytes, (size_t)s->size);
	dtx_weak_done(&weak, s->name);
	DTX_TRY(dtx_exchange_put(exchange, s->name, "side",
	                         (struct dtx_str){ bytes, (size_t)s->size }, err));
out:
	if (rc != DTX_OK)
		s->name[0] = '\0';
	dtx_mem_free(bytes);
	dtx_frame_clear(&frame);
	return rc;
}

enum dtx_code dtx_sides_put(struct dtx_sides *x, const char *exchange, const uint32_t *step,
                            uint32_t nsteps, json_t **out, struct dtx_err *err)
{
	json_t *list = json_array();
	enum dtx_code rc = DTX_OK;

	if (!list)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < x->n; i++) {
		struct dtx_side *s = &x->side[i];
		bool used = false;

		for (uint32_t k = 0; k < nsteps; k++)
			used = used || step[k] == s->step;
		if (!used)
			continue;
		if (!s->name[0])
			DTX_TRY(write_side(s, exchange, err));
		if (json_array_append_new(
			    list, json_pack("{sI sI ss sI sI}", "step", (json_int_t)s->step,
		                            "input", (json_int_t)s->input, "name", s->name, "bytes",
		                            (json_int_t)s->size, "sections", (json_int_t)s->n)))
			DTX_FAIL_MEM(err);
	}
	*out = list;
	list = NULL;
out:
	json_decref(list);
	return rc;
}

static enum dtx_code load_side(const json_t *o, const char *exchange, struct dtx_graph *g,
                               struct dtx_err *err)
{
	uint64_t s = (uint64_t)dtx_json_int(o, "step", -1),
		 k = (uint64_t)dtx_json_int(o, "input", -1);
	struct dtx_rows_file file = { .bytes = (uint64_t)dtx_json_int(o, "bytes", 0),
		                      .sections = (uint64_t)dtx_json_int(o, "sections", 0) };
	struct dtx_batch *b;
	struct dtx_node *n;
	char path[PATH_MAX];
	int32_t t;
	enum dtx_code rc = DTX_OK;

	if (s >= g->plan->nsteps || k >= g->plan->step[s].ntables || g->plan->step[s].table[k] < 0)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "a table of the job belongs to no step");
	t = g->plan->step[s].table[k];
	n = &g->node[t];
	DTX_ASSERT(g->flow.table[t].schema != NULL, err);
	if (n->table) /* it is a table of two steps */
		goto out;
	dtx_str_copy(file.hash, sizeof(file.hash), dtx_str_of(dtx_json_text(o, "name", "")));
	dtx_exchange_path(path, sizeof(path), exchange, file.hash, "side");
	file.path = path;
	DTX_TRY(dtx_rows_file_open(&file, err));
	DTX_TRY(dtx_table_new(g->flow.table[t].schema, &n->table, err));
	for (uint32_t i = 1; i < file.view.n; i++) {
		DTX_TRY(dtx_frame_batch_load(dtx_frame_bytes(&file.view, &file.view.entry[i]),
		                             file.owner, g->flow.table[t].schema, &b, err));
		b->seq = i - 1;
		DTX_TRY(dtx_table_take(n->table, b, err));
	}
	n->uses = g->plan->nsteps; /* it stays until the fragment ends */
out:
	dtx_rows_file_close(&file);
	return rc;
}

enum dtx_code dtx_sides_load(const json_t *sides, const char *exchange, struct dtx_graph *g,
                             struct dtx_err *err)
{
	const json_t *o;
	size_t i;
	enum dtx_code rc = DTX_OK;

	json_array_foreach(sides, i, o) DTX_TRY(load_side(o, exchange, g, err));
out:
	return rc;
}
