/* A step done by keys: the driver's side of buckets.h.
 *
 * Stage 1, once for each table of the step: fragments make the rows of the table, and write them in
 * buckets by the hash of their keys. Stage 2: one fragment per bucket gathers it, does the step,
 * and writes the result in ranges. A range has the rows that come from one fragment of stage 1 of
 * table 0, so its rows come from one input. A merged reader then gives the result in the order of
 * one process, and its ranges are pieces that later fragments may read. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory/mem.h"
#include "core/cluster/cluster_parts.h"
#include "core/cluster/gather.h"
#include "core/io/isolate/isolate.h"

#define BUCKETS_MAX 4096u
#define RANGES_MAX  (DTX_FRAME_SECTIONS_MAX - 1)

/* --- whether it can be done --- */

uint32_t dtx_exchange_keys(const struct dtx_graph *g, uint32_t s)
{
	const unsigned whole = DTX_OP_ORDERED | DTX_OP_RAW | DTX_OP_PLACES;
	const struct dtx_plan_step *st = &g->plan->step[s];
	const struct dtx_bind *b = g->flow.bind[s];
	struct dtx_opctx ox;
	uint32_t n = 0;

	if (!st->op || !st->op->keys || !b || st->op->flags & whole || b->ordered || b->open ||
	    !dtx_expect_empty(st->expect) || st->rules.n || dtx_plan_checks_apart(g->plan) ||
	    !dtx_cluster_derivable(g, (int32_t)(g->plan->ninputs + s)))
		return 0;
	for (uint32_t k = 0; k < st->ntables; k++)
		for (uint32_t i = 0; i < k; i++)
			if (st->table[i] == st->table[k])
				return 0;
	ox = (struct dtx_opctx){ .args = b->args, .bound = b->state };
	return st->op->keys(&ox, 0, NULL, NULL, &n, NULL) == DTX_OK ? n : 0;
}

/* The bytes that the fragments of a pipeline read. *parts: how many there are. */
static uint64_t bytes_of(const struct dtx_cluster *c, const struct dtx_graph *g,
                         const struct dtx_phys_pipe *drawn, uint64_t *parts)
{
	uint64_t bytes = 0, each, pieces, all = 0;

	*parts = 0;
	for (uint32_t i = 0; i < drawn->nsources; i++) {
		pieces = dtx_cluster_pieces(g, &drawn->source[i], &each);
		all += pieces * each;
		bytes = each ? DTX_MAX(c->bytes / each, 1) : 1;
		*parts += (pieces + bytes - 1) / bytes;
	}
	return all;
}

/* A small table goes to all fragments whole (sides.h), and one fragment has nothing to exchange. */
bool dtx_exchange_pays(uint64_t parts)
{
	return parts > 1 && parts <= RANGES_MAX;
}

/* --- what was lost --- */

void dtx_cluster_lost(struct dtx_cluster *c, const char *name)
{
	json_t *said = dtx_manifest_read(c->exchange, name);
	char path[PATH_MAX];

	if (json_object_get(c->lost, name)) { /* it was made again already, once */
		json_decref(said);
		return;
	}
	dtx_exchange_path(path, sizeof(path), c->exchange, name, "json");
	(void)unlink(path);
	(void)!dtx_json_set(c->lost, name, json_string(dtx_json_text(said, "hash", "")));
	json_decref(said);
	c->resumes = true; /* all else is there */
	c->spread.again = true;
}

static void note_lost(void *arg, const struct dtx_rows_file *f)
{
	struct dtx_cluster *c = arg;
	char name[DTX_SHA256_HEX];

	dtx_gather_name(f, name);
	pthread_mutex_lock(&c->sides.lock);
	dtx_cluster_lost(c, name);
	pthread_mutex_unlock(&c->sides.lock);
}

/* --- the stages --- */

/* The parts that are ready have files that other fragments read, and this process does not. */
static enum dtx_code take_files(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                struct dtx_err *err)
{
	for (; x->taken < x->nparts; x->taken++) {
		const struct dtx_cluster_part *p = &x->part[x->taken];

		if (x->taken >= x->source[p->source].proven || !p->done)
			break;
		if (p->class != DTX_FRAGMENT_OK)
			return dtx_attempts_fail(c, x, p, err);
	}
	return DTX_OK;
}

/* The files of a stage, as jobs describe them. input: of each part; NULL: not known. */
static json_t *files_json(const struct dtx_cluster_stage *x, const uint32_t *input)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < x->nparts; i++) {
		const struct dtx_cluster_part *p = &x->part[i];

		if (json_array_append_new(list, json_pack("[s I I s i]", p->name,
		                                          dtx_json_int(p->said, "bytes", 0),
		                                          dtx_json_int(p->said, "sections", 0),
		                                          dtx_json_text(p->said, "index", ""),
		                                          input ? (int)input[i] : -1))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

/* One table of the step. */
struct side {
	struct dtx_phys_pipe drawn;
	struct dtx_cluster_stage stage;
	uint64_t bytes, parts;
	uint32_t *input; /* per part: from which input its rows come */
};
struct exchange {
	struct dtx_cluster *c;
	struct dtx_graph *g;
	uint32_t step, nsides, nbuckets;
	struct side *side;
	struct dtx_cluster_stage gather;
	struct dtx_cluster_merged *made;
};

static enum dtx_code find_inputs(struct exchange *x, struct side *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->input = dtx_arena_zalloc(&x->c->arena, s->stage.nparts + 1, sizeof(*s->input));
	if (!s->input)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->stage.nparts; i++) {
		const struct dtx_cluster_part *p = &s->stage.part[i];
		int32_t t = s->stage.source[p->source].drawn->table;
		const struct dtx_cluster_merged *m = dtx_cluster_merged_of(x->c, t);

		s->input[i] = m ? m->input[p->first] : (uint32_t)t;
	}
out:
	return rc;
}

/* Stage 1 for table k. */
static enum dtx_code make_buckets(struct exchange *x, uint32_t k, struct dtx_err *err)
{
	struct side *s = &x->side[k];
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	s->stage.more = json_pack("{s{si si si}}", "buckets", "step", (int)x->step, "input", (int)k,
	                          "n", (int)x->nbuckets);
	if (!s->stage.more)
		DTX_FAIL_MEM(err);
	s->stage.take = take_files;
	DTX_TRY(dtx_stage_plan(x->c, &s->stage, &s->drawn, err));
	DTX_TRY(find_inputs(x, s, err));
	DTX_TRY(dtx_attempts_run(x->c, &s->stage, err));
	DTX_TRY(dtx_stage_record(x->c, &s->stage, dtx_now_ns() - start, err));
out:
	return rc;
}

static json_t *gather_json(struct exchange *x)
{
	json_t *ranges = json_array(), *inputs = json_array();
	const struct dtx_cluster_stage *first = &x->side[0].stage;
	bool ok = ranges && inputs;

	for (uint32_t i = 0; ok && i < first->nparts; i++) {
		const struct dtx_cluster_part *p = &first->part[i];
		uint64_t piece = first->source[p->source].base + p->first;

		ok = !json_array_append_new(ranges, json_integer((json_int_t)(piece << 36)));
	}
	for (uint32_t k = 0; ok && k < x->nsides; k++)
		ok = !json_array_append_new(
			inputs, json_pack("{si so}", "input", (int)k, "files",
		                          files_json(&x->side[k].stage, x->side[k].input)));
	if (!ok) {
		json_decref(ranges);
		json_decref(inputs);
		return NULL;
	}
	return json_pack("{s{si so so}}", "gather", "step", (int)x->step, "ranges", ranges,
	                 "inputs", inputs);
}

/* Stage 2. */
static enum dtx_code gather(struct exchange *x, struct dtx_err *err)
{
	struct dtx_cluster_stage *s = &x->gather;
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	s->more = gather_json(x);
	s->source = dtx_arena_zalloc(&x->g->arena, 1, sizeof(*s->source));
	s->part = dtx_mem_zalloc(x->nbuckets, sizeof(*s->part));
	s->jobs = json_object();
	if (!s->more || !s->source || !s->part || !s->jobs)
		DTX_FAIL_MEM(err);
	s->nsources = 1;
	s->nparts = x->nbuckets;
	s->source->table = (int32_t)(x->g->plan->ninputs + x->step);
	s->source->early = -1;
	s->source->end = x->nbuckets;
	for (uint32_t i = 0; i < x->nbuckets; i++)
		s->part[i] = (struct dtx_cluster_part){ .first = i, .end = i + 1 };
	s->take = take_files;
	DTX_TRY(dtx_stage_put_job(x->c, s, s->source, err));
	DTX_TRY(dtx_attempts_run(x->c, s, err));
	DTX_TRY(dtx_stage_record(x->c, s, dtx_now_ns() - start, err));
out:
	return rc;
}

/* --- the result --- */

static const struct dtx_origin *origin_of(struct dtx_cluster *c, const struct dtx_graph *g,
                                          uint32_t input)
{
	struct dtx_origin *o = dtx_arena_alloc(&c->arena, 1, sizeof(*o));

	if (o) {
		*o = g->reader[input]->origin;
		/* columns have moved since; only cells of sheets are cited by their column */
		o->physical_col = NULL;
	}
	return o;
}

static enum dtx_code make_reader(struct exchange *x, struct dtx_err *err)
{
	struct dtx_cluster *c = x->c;
	const struct side *first = &x->side[0];
	struct dtx_merged m = { .nfiles = x->nbuckets,
		                .nranges = first->stage.nparts,
		                .bytes = c->bytes,
		                .schema = x->g->flow.table[x->gather.source->table].schema,
		                .damaged = note_lost,
		                .arg = c };
	struct dtx_cluster_merged *made = dtx_arena_zalloc(&c->arena, 1, sizeof(*made));
	enum dtx_code rc = DTX_OK;

	m.file = dtx_arena_zalloc(&c->arena, m.nfiles + 1, sizeof(*m.file));
	m.origin = dtx_arena_zalloc(&c->arena, m.nranges + 1, sizeof(*m.origin));
	if (!made || !m.file || !m.origin)
		DTX_FAIL_MEM(err);
	made->table = x->gather.source->table;
	made->input = first->input;
	made->nranges = m.nranges;
	made->files = files_json(&x->gather, NULL);
	if (!made->files)
		DTX_FAIL_MEM(err);
	made->next = c->merged;
	c->merged = made;
	for (uint32_t i = 0; i < x->nbuckets; i++)
		DTX_TRY(dtx_gather_file(json_array_get(made->files, i), c->exchange, &c->arena,
		                        &m.file[i], err));
	for (uint32_t i = 0; i < first->stage.nparts; i++) {
		bool same = i && first->input[i] == first->input[i - 1];

		m.origin[i] = same ? m.origin[i - 1] : origin_of(c, x->g, first->input[i]);
		if (!m.origin[i])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_merged_reader_new(&m, &made->reader, err));
	x->made = made;
out:
	return rc;
}

const struct dtx_cluster_merged *dtx_cluster_merged_of(const struct dtx_cluster *c, int32_t table)
{
	for (const struct dtx_cluster_merged *m = c->merged; m; m = m->next)
		if (m->table == table)
			return m;
	return NULL;
}

json_t *dtx_cluster_merged_json(const struct dtx_cluster *c, int32_t table)
{
	const struct dtx_cluster_merged *m = dtx_cluster_merged_of(c, table);
	json_t *inputs = m ? json_array() : NULL;

	for (uint64_t i = 0; inputs && i < m->nranges; i++)
		if (json_array_append_new(inputs, json_integer((json_int_t)m->input[i]))) {
			json_decref(inputs);
			inputs = NULL;
		}
	return inputs ? json_pack("[{si sI so sO}]", "table", (int)table, "bytes",
	                          (json_int_t)c->bytes, "inputs", inputs, "files", m->files)
	              : NULL;
}

void dtx_cluster_merged_clear(struct dtx_cluster *c)
{
	for (struct dtx_cluster_merged *m = c->merged; m; m = m->next) {
		dtx_reader_close(m->reader);
		json_decref(m->files);
	}
	c->merged = NULL;
}

/* Takes what the fragments counted. */
static enum dtx_code finish(struct exchange *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < x->nsides; k++) {
		struct side *s = &x->side[k];

		for (uint32_t i = 0; i < s->stage.nparts; i++)
			DTX_TRY(dtx_stage_counts(x->c, &s->stage, i, err));
		DTX_TRY(dtx_stage_finish(x->c, &s->stage, err));
		DTX_TRY(dtx_graph_spread_done(x->g, &s->drawn, err));
	}
	for (uint32_t i = 0; i < x->nbuckets; i++)
		DTX_TRY(dtx_stage_counts(x->c, &x->gather, i, err));
out:
	return rc;
}

/* Whether one process has to say something of all rows: that there are too many, or that one reason
 * was counted for all of them, such as that they have no match. */
static bool needs_whole(const struct exchange *x)
{
	const struct dtx_graph *g = x->g;
	const struct dtx_opstat *stat = g->step[x->step].stat;
	int64_t rows = 0; /* of table 0 */

	if (g->run.max_rows >= 0 && atomic_load(&stat->rows_out) > g->run.max_rows)
		return true;
	for (uint32_t i = 0; i < x->side[0].stage.nparts; i++)
		rows += dtx_json_int(x->side[0].stage.part[i].said, "rows", 0);
	for (unsigned i = 0; i < DTX_STAT_REASONS; i++)
		if (atomic_load(&stat->drop[i].reason) && rows &&
		    atomic_load(&stat->drop[i].n) == rows)
			return true;
	return false;
}

/* Draws the pipelines of all tables of the step, and runs what comes before them. *can: fragments
 * can do all of their maps, and there are rows for several. */
static enum dtx_code draw_sides(struct exchange *x, bool *can, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &x->g->plan->step[x->step];
	enum dtx_code rc = DTX_OK;

	*can = true;
	for (uint32_t k = 0; *can && k < x->nsides; k++) {
		struct side *s = &x->side[k];

		DTX_TRY(dtx_graph_draw(x->g, st->table[k], &s->drawn, err));
		s->bytes = bytes_of(x->c, x->g, &s->drawn, &s->parts);
		*can = dtx_cluster_all_split(x->g, &s->drawn, NULL) && s->parts <= RANGES_MAX;
	}
	*can = *can && dtx_exchange_pays(x->side[x->nsides - 1].parts);
	for (uint32_t k = 0; *can && k < x->nsides; k++) {
		DTX_TRY(dtx_graph_before(x->g, &x->side[k].drawn, err));
		*can = dtx_cluster_all_split(x->g, &x->side[k].drawn, &x->c->sides);
	}
out:
	return rc;
}

enum dtx_code dtx_exchange_step(void *arg, struct dtx_graph *g, uint32_t step,
                                struct dtx_reader **made, struct dtx_err *err)
{
	struct exchange x = { .c = arg, .g = g, .step = step };
	uint64_t bytes = 0;
	bool can = false;
	enum dtx_code rc = DTX_OK;

	if (!dtx_exchange_keys(g, step))
		return DTX_OK;
	x.nsides = g->plan->step[step].ntables;
	x.side = dtx_arena_zalloc(&g->arena, x.nsides, sizeof(*x.side));
	if (!x.side)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < x.nsides; k++)
		x.side[k].stage = (struct dtx_cluster_stage){ .g = g, .sink = -1 };
	x.gather = (struct dtx_cluster_stage){ .g = g, .sink = -1, .gathers = true, .step = step };
	DTX_TRY(draw_sides(&x, &can, err));
	if (!can)
		goto out;
	for (uint32_t k = 0; k < x.nsides; k++)
		bytes += x.side[k].bytes;
	x.nbuckets = (uint32_t)DTX_MAX(DTX_MIN(bytes / x.c->bytes, (uint64_t)BUCKETS_MAX),
	                               x.c->engine->slots);
	for (uint32_t k = 0; k < x.nsides; k++)
		DTX_TRY(make_buckets(&x, k, err));
	DTX_TRY(gather(&x, err));
	DTX_TRY(finish(&x, err));
	if (needs_whole(&x)) {
		x.c->spread.whole = true;
		DTX_FAIL(err, DTX_E_BUG, "internal: one process has to do this");
	}
	DTX_TRY(make_reader(&x, err));
	*made = x.made->reader;
out:
	for (uint32_t k = 0; x.side && k < x.nsides; k++)
		dtx_stage_clear(&x.side[k].stage);
	dtx_stage_clear(&x.gather);
	return rc;
}
