/* The driver, see cluster.h: plans the fragments of each pipeline, and takes what they make. */
#include "core/cluster/cluster.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/tempdir.h"
#include "core/base/thread/cancel.h"
#include "core/cluster/cluster_parts.h"
#include "core/cluster/engine.h"
#include "core/cluster/fragment.h"
#include "core/cluster/job.h"
#include "core/cluster/rows_reader.h"
#include "core/data/frame/frame.h"
#include "core/io/isolate/isolate.h"
#include "core/plan/pipe/pipe.h"

#define JOB_RECORDED ((size_t)256 << 10) /* bytes of a job that the record has */
#define RECORDED     1000                /* fragments of a stage that the record lists */

/* --- the plan of a stage --- */

static bool is_merged(const struct dtx_cluster_stage *x, const struct dtx_cluster_source *s)
{
	return s->drawn && (uint32_t)s->drawn->table >= x->g->plan->ninputs;
}

static bool same_job(const struct dtx_cluster_stage *x, const struct dtx_cluster_source *a,
                     const struct dtx_cluster_source *b)
{
	return a->table == b->table && a->early == b->early && a->nsteps == b->nsteps &&
	       !is_merged(x, a) && !is_merged(x, b) &&
	       !memcmp(a->drawn->step, b->drawn->step, a->nsteps * sizeof(*a->drawn->step));
}

enum dtx_code dtx_stage_put_job(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                struct dtx_cluster_source *s, struct dtx_err *err)
{
	json_t *job = NULL, *sides = NULL, *more = NULL;
	struct dtx_buf text = DTX_BUF_INIT((size_t)256 << 20);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->nsources; i++)
		if (&x->source[i] != s && x->source[i].job[0] && same_job(x, &x->source[i], s)) {
			memcpy(s->job, x->source[i].job, sizeof(s->job));
			return DTX_OK;
		}
	DTX_TRY(dtx_sides_put(&c->sides, c->exchange, s->drawn ? s->drawn->step : NULL, s->nsteps,
	                      &sides, err));
	more = x->more ? json_copy(x->more) : json_object();
	if (!more || (is_merged(x, s) &&
	              !dtx_json_set(more, "merged", dtx_cluster_merged_json(c, s->drawn->table))))
		DTX_FAIL_MEM(err);
	job = dtx_job_json(x->g, s->table, s->early, x->sink, x->text, sides, more);
	sides = more = NULL;
	if (!job)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(job, &text);
	DTX_TRY(dtx_buf_check(&text, "the job of fragments", err));
	dtx_sha256_hex(text.ptr, text.len, s->job);
	DTX_TRY(dtx_exchange_put(c->exchange, s->job, "job", dtx_buf_str(&text), err));
	/* so that a fragment can be done again, from the record alone */
	if (text.len <= JOB_RECORDED &&
	    !dtx_json_set(x->jobs, s->job, json_stringn(text.ptr, text.len)))
		DTX_FAIL_MEM(err);
out:
	json_decref(job);
	json_decref(sides);
	json_decref(more);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code add_parts(struct dtx_cluster *c, struct dtx_cluster_stage *x, uint32_t source,
                               uint64_t pieces, uint64_t bytes, struct dtx_err *err)
{
	struct dtx_cluster_source *s = &x->source[source];
	uint64_t each = DTX_MAX(c->bytes / bytes, 1);
	enum dtx_code rc = DTX_OK;

	s->first = (uint32_t)x->nparts;
	for (uint64_t at = 0; at < pieces; at += each) {
		if (!dtx_mem_reserve(&x->part, &x->cap_parts, x->nparts + 1, sizeof(*x->part)))
			DTX_FAIL_MEM(err);
		x->part[x->nparts++] = (struct dtx_cluster_part){
			.source = source, .first = at, .end = DTX_MIN(at + each, pieces)
		};
	}
	s->end = (uint32_t)x->nparts;
	s->proven = s->first;
out:
	return rc;
}

enum dtx_code dtx_stage_plan(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                             const struct dtx_phys_pipe *drawn, struct dtx_err *err)
{
	uint64_t base = 0;
	enum dtx_code rc = DTX_OK;

	x->source = dtx_arena_zalloc(&x->g->arena, drawn->nsources + 1u, sizeof(*x->source));
	x->jobs = json_object();
	if (!x->source || !x->jobs)
		DTX_FAIL_MEM(err);
	x->nsources = drawn->nsources;
	for (uint32_t i = 0; i < drawn->nsources; i++) {
		const struct dtx_phys_source *d = &drawn->source[i];
		struct dtx_cluster_source *s = &x->source[i];
		uint64_t bytes = 0, pieces = dtx_cluster_pieces(x->g, d, &bytes);

		s->drawn = d;
		s->base = base;
		base += pieces;
		if (!pieces)
			continue;
		s->nsteps = dtx_cluster_splits(x->g, drawn, d, &c->sides);
		s->table = x->text     ? x->table
		           : s->nsteps ? (int32_t)(x->g->plan->ninputs + d->step[s->nsteps - 1])
		                       : d->table;
		s->early = x->sink < 0 && !x->text && !x->more
		                   ? dtx_cluster_early(x->g, d, s->nsteps, s->table)
		                   : -1;
		DTX_TRY(dtx_stage_put_job(c, x, s, err));
		DTX_TRY(add_parts(c, x, i, pieces, bytes, err));
		s->file = dtx_arena_zalloc(&c->arena, s->end - s->first + 1u, sizeof(*s->file));
		if (!s->file)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* --- what it made --- */

/* early: the driver does the step again, for the rows that this one leaves. */
static void add_step(struct dtx_cluster *c, struct dtx_opstat *to, const json_t *from, bool early)
{
	const struct dtx_opctx ox = { .stat = to };
	int64_t in = json_integer_value(json_array_get(from, 0));
	int64_t rows = json_integer_value(json_array_get(from, 1));
	const char *reason;
	json_t *n;

	atomic_fetch_add(&to->rows_in, early ? in - rows : in);
	atomic_fetch_add(&to->rows_out, early ? 0 : rows);
	atomic_fetch_add(&to->ns, json_integer_value(json_array_get(from, 2)));
	json_object_foreach(json_array_get(from, 3), reason, n)
	{
		/* the text lives as long as the counts */
		const char *kept = dtx_arena_strdup(&c->arena, reason);

		if (kept)
			dtx_op_count(&ox, kept, json_integer_value(n));
	}
}

static void add_stats(struct dtx_read_stats *to, const struct dtx_read_stats *from)
{
	to->rows_read += from->rows_read;
	to->rows_out += from->rows_out;
	to->left_out += from->left_out;
	for (int i = 0; i < DTX_DROP_COUNT; i++)
		to->dropped[i] += from->dropped[i];
}

/* Takes the counts of a part. */
static enum dtx_code take_counts(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                 struct dtx_cluster_source *s, uint32_t i, struct dtx_err *err)
{
	/* after the maps */
	int32_t last = x->gathers ? (int32_t)x->step : s->early >= 0 ? s->early : x->sink;
	uint32_t nsteps = s->nsteps + (last >= 0);
	struct dtx_read_stats own;
	const json_t *o = x->part[i].said;
	enum dtx_code rc = DTX_OK;

	if (!dtx_isolate_stats_read(json_object_get(o, "stats"), &own) ||
	    json_array_size(json_object_get(o, "steps")) != nsteps)
		DTX_FAIL(err, DTX_E_INPUT_IO, "the manifest of a fragment is malformed");
	add_stats(&s->stats, &own);
	for (uint32_t k = 0; k < nsteps; k++)
		add_step(c, x->g->step[k < s->nsteps ? s->drawn->step[k] : (uint32_t)last].stat,
		         json_array_get(json_object_get(o, "steps"), k),
		         k >= s->nsteps && s->early >= 0);
out:
	return rc;
}

/* The reader of the input finds the lines of rows, so it must know its pieces. */
static enum dtx_code start_reader(struct dtx_graph *g, int32_t table, struct dtx_err *err)
{
	struct dtx_scan *scan = dtx_arena_zalloc(&g->arena, 1, sizeof(*scan));
	enum dtx_code rc = DTX_OK;

	if (!scan)
		DTX_FAIL_MEM(err);
	*scan = (struct dtx_scan){ .schema = g->flow.table[table].schema,
		                   .need = g->push.need[table],
		                   .limit = -1,
		                   .workers = 1 };
	DTX_TRY(g->reader[table]->cls->start(g->reader[table], scan, err));
out:
	return rc;
}

static enum dtx_code load_state(struct dtx_cluster_stage *x, const struct dtx_rows_file *f,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 1; k < f->view.n; k++)
		DTX_TRY(x->of->load(x->ox, x->local, &f->view, &f->view.entry[k], f->owner, err));
out:
	return rc;
}

/* Opens the file of a part that is proven and done. *again: it is damaged, and the part is done
 * again, once. */
static enum dtx_code open_part(struct dtx_cluster *c, struct dtx_cluster_stage *x, uint32_t i,
                               bool *again, struct dtx_err *err)
{
	struct dtx_cluster_part *p = &x->part[i];
	const struct dtx_cluster_source *s = &x->source[p->source];
	struct dtx_rows_file *f = &s->file[i - s->first];
	const char *hash = dtx_json_text(p->said, "hash", "");
	char path[PATH_MAX];
	enum dtx_code rc = DTX_OK;

	*again = false;
	if (p->class != DTX_FRAGMENT_OK)
		return dtx_attempts_fail(c, x, p, err);
	if (p->remade && strcmp(hash, p->hash) != 0)
		return dtx_attempts_differ(p, p->hash, hash, err);
	dtx_exchange_path(path, sizeof(path), c->exchange, p->name, "frame");
	f->path = dtx_arena_strdup(&c->arena, path);
	f->sections = (uint64_t)dtx_json_int(p->said, "sections", 0);
	f->bytes = (uint64_t)dtx_json_int(p->said, "bytes", 0);
	f->text = (uint64_t)dtx_json_int(p->said, "text", 0);
	dtx_str_copy(f->hash, sizeof(f->hash), dtx_str_of(hash));
	if (!f->path)
		DTX_FAIL_MEM(err);
	rc = dtx_rows_file_open(f, err);
	*again = rc != DTX_OK && rc != DTX_E_NO_MEMORY && !p->remade;
	if (!*again)
		goto out;
	dtx_err_clear(err);
	dtx_str_copy(p->hash, sizeof(p->hash), dtx_str_of(hash));
	p->remade = true;
	DTX_TRY(dtx_attempts_submit(c, x, i, err));
out:
	return rc;
}

/* Takes the results of parts that are ready, in order. The rows of a file stay open. */
static enum dtx_code take_ready(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool again;

	for (; x->taken < x->nparts; x->taken++) {
		struct dtx_cluster_source *s = &x->source[x->part[x->taken].source];
		struct dtx_rows_file *f = &s->file[x->taken - s->first];

		if (x->taken >= s->proven || !x->part[x->taken].done)
			break;
		DTX_TRY(open_part(c, x, x->taken, &again, err));
		if (again)
			break;
		DTX_TRY(take_counts(c, x, s, x->taken, err));
		if (x->text)
			DTX_TRY(x->text->take(x->text->arg, &f->view, err));
		else if (x->sink >= 0)
			DTX_TRY(load_state(x, f, err));
		if (x->text || x->sink >= 0)
			dtx_rows_file_close(f);
		/* before the system writes to the disk what nothing reads again */
		if (!f->owner && !c->keeps)
			(void)unlink(f->path);
	}
out:
	return rc;
}

static enum dtx_code no_rows(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)e;
	DTX_ASSERT(!b->nsel, err);
out:
	return rc;
}

/* Ends a map that fragments have done for all its rows. */
static enum dtx_code flush_map(struct dtx_cluster_stage *x, uint32_t s, struct dtx_err *err)
{
	const struct dtx_operator *o = &x->g->step[s].oper;
	struct dtx_emit nowhere = { .take = no_rows };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->nparts; i++) {
		const struct dtx_cluster_source *from = &x->source[x->part[i].source];
		const json_t *saved = json_object_get(x->part[i].said, "flush");

		for (uint32_t k = 0; k < from->nsteps; k++)
			if (from->drawn->step[k] == s)
				DTX_TRY(o->op->map->load(o->ox, o->local[0],
				                         json_array_get(saved, k), err));
	}
	DTX_TRY(o->op->map->flush(o->ox, o->local, o->nlocals, &nowhere, err));
out:
	return rc;
}

/* Ends the maps that fragments have done. What an end says about all rows depends on more than a
 * fragment knows of its own, so then one process says it. */
static enum dtx_code flush_maps(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                struct dtx_err *err)
{
	size_t warned = x->g->warnings->n + x->g->warnings->dropped;
	enum dtx_code rc = DTX_OK;

	for (uint32_t s = 0; s < x->g->plan->nsteps && rc == DTX_OK; s++) {
		bool done = false;

		for (uint32_t i = 0; i < x->nsources; i++)
			for (uint32_t k = 0; k < x->source[i].nsteps; k++)
				done = done || x->source[i].drawn->step[k] == s;
		if (done && x->g->plan->step[s].op->map->save)
			rc = flush_map(x, s, err);
	}
	if (rc == DTX_OK && x->g->warnings->n + x->g->warnings->dropped > warned)
		rc = dtx_err_set(err, DTX_E_BUG, __FILE__, __LINE__, "internal: a map warned");
	c->spread.whole = c->spread.whole || rc != DTX_OK;
	return rc;
}

/* More rows than the plan allows. */
static enum dtx_code check_rows(const struct dtx_cluster_stage *x, struct dtx_err *err)
{
	const struct dtx_graph *g = x->g;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->nsources; i++)
		for (uint32_t k = 0; k < x->source[i].nsteps; k++) {
			uint32_t s = x->source[i].drawn->step[k];

			if (g->run.max_rows < 0 ||
			    atomic_load(&g->step[s].stat->rows_out) <= g->run.max_rows)
				continue;
			rc = dtx_err_set(err, DTX_E_ROW_LIMIT, __FILE__, __LINE__,
			                 "more than %lld rows", (long long)g->run.max_rows);
			dtx_err_step(err, (int32_t)s, dtx_plan_step_name(&g->plan->step[s]));
			return rc;
		}
	return rc;
}

static const char *makes(const struct dtx_cluster_stage *x)
{
	if (x->more)
		return x->gathers ? "rows by keys" : "buckets";
	return x->text ? "text" : x->sink >= 0 ? "states" : "rows";
}

/* The input that the parts read; null: a table that fragments have made. */
static json_t *input_of(const struct dtx_cluster_source *s)
{
	return s->drawn ? json_integer(s->drawn->table) : json_null();
}

enum dtx_code dtx_stage_record(struct dtx_cluster *c, const struct dtx_cluster_stage *x, int64_t ns,
                               struct dtx_err *err)
{
	json_t *list = json_array(), *stage = NULL;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; list && i < x->nparts && i < RECORDED; i++) {
		const struct dtx_cluster_part *p = &x->part[i];
		const json_t *o = p->said;
		json_t *one = json_pack(
			"{ss so sI sI sI sI sI sb sb sb si ss? ss so}", "fragment", p->name,
			"input", input_of(&x->source[p->source]), "rows",
			dtx_json_int(o, "rows", 0), "bytes", dtx_json_int(o, "bytes", 0), "wall_us",
			dtx_json_int(o, "wall_us", 0), "cpu_us", dtx_json_int(o, "cpu_us", 0),
			"peak_bytes", dtx_json_int(o, "peak_bytes", 0), "repaired", p->exact,
			"remade", p->remade, "kept", p->kept, "attempts", (int)p->attempts, "host",
			dtx_json_text(o, "host", NULL), "hash", dtx_json_text(o, "hash", ""),
			"spec", dtx_attempts_spec(x, p));

		if (!one || json_array_append_new(list, one)) {
			json_decref(list);
			list = NULL;
		}
	}
	stage = json_pack("{ss sI sI sO so}", "makes", makes(x), "wall_us", (json_int_t)ns / 1000,
	                  "parts", (json_int_t)x->nparts, "jobs", x->jobs, "fragments", list);
	if (!stage || json_array_append_new(c->stages, stage))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Runs the fragments of a pipeline, if any. */
static enum dtx_code make_stage(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                const struct dtx_phys_pipe *drawn, struct dtx_err *err)
{
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	x->take = take_ready;
	DTX_TRY(dtx_stage_plan(c, x, drawn, err));
	if (!x->nparts)
		goto out;
	DTX_TRY(dtx_attempts_run(c, x, err));
	DTX_TRY(dtx_stage_record(c, x, dtx_now_ns() - start, err));
out:
	return rc;
}

void dtx_stage_clear(struct dtx_cluster_stage *x)
{
	for (uint32_t i = 0; i < x->nsources; i++)
		for (uint32_t k = x->source[i].first; x->source[i].file && k < x->source[i].end;
		     k++)
			dtx_rows_file_close(&x->source[i].file[k - x->source[i].first]);
	for (size_t i = 0; i < x->nparts; i++)
		json_decref(x->part[i].said);
	dtx_mem_free(x->part);
	json_decref(x->jobs);
	json_decref(x->more);
}

/* All parts of a source are taken. */
static enum dtx_code finish_source(struct dtx_cluster_stage *x, const struct dtx_cluster_source *s,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!is_merged(x, s)) {
		DTX_TRY(start_reader(x->g, s->drawn->table, err));
		x->g->reader[s->drawn->table]->stats = s->stats;
	}
	for (uint32_t k = 0; k < s->nsteps; k++)
		x->g->step[s->drawn->step[k]].done = true;
out:
	return rc;
}

static enum dtx_code give_rows(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                               struct dtx_cluster_source *s, struct dtx_spread_rows *to,
                               struct dtx_err *err)
{
	struct dtx_reader *of = is_merged(x, s) ? x->g->node[s->drawn->table].reader
	                                        : x->g->reader[s->drawn->table];
	struct dtx_cluster_made *made = dtx_arena_alloc(&c->arena, 1, sizeof(*made));
	enum dtx_code rc = DTX_OK;

	if (!made)
		DTX_FAIL_MEM(err);
	DTX_TRY(finish_source(x, s, err));
	DTX_TRY(dtx_rows_reader_new(s->file, s->end - s->first, x->g->flow.table[s->table].schema,
	                            of, &made->reader, err));
	s->end = s->first; /* the files are the reader's now */
	made->next = c->made;
	c->made = made;
	to->reader = made->reader;
	to->nsteps = s->nsteps;
out:
	return rc;
}

static enum dtx_code rows(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                          struct dtx_spread_rows *made, struct dtx_err *err)
{
	struct dtx_cluster *c = arg;
	struct dtx_cluster_stage x = { .g = g, .sink = -1 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(make_stage(c, &x, drawn, err));
	for (uint32_t i = 0; i < x.nsources; i++)
		if (x.source[i].end > x.source[i].first)
			DTX_TRY(give_rows(c, &x, &x.source[i], &made[i], err));
	DTX_TRY(flush_maps(c, &x, err));
	DTX_TRY(check_rows(&x, err));
out:
	dtx_stage_clear(&x);
	return rc;
}

enum dtx_code dtx_stage_counts(struct dtx_cluster *c, struct dtx_cluster_stage *x, uint32_t i,
                               struct dtx_err *err)
{
	return take_counts(c, x, &x->source[x->part[i].source], i, err);
}

enum dtx_code dtx_stage_finish(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->nsources; i++)
		DTX_TRY(finish_source(x, &x->source[i], err));
	DTX_TRY(flush_maps(c, x, err));
	DTX_TRY(check_rows(x, err));
out:
	return rc;
}

/* A stage in which fragments do all steps of the pipeline, and its end. */
static enum dtx_code whole_stage(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                 const struct dtx_phys_pipe *drawn, bool *done, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_cluster_all_split(x->g, drawn, NULL))
		goto out;
	DTX_TRY(dtx_graph_before(x->g, drawn, err));
	*done = dtx_cluster_all_split(x->g, drawn, &c->sides);
	if (!*done)
		goto out;
	DTX_TRY(make_stage(c, x, drawn, err));
	DTX_TRY(dtx_stage_finish(c, x, err));
out:
	dtx_stage_clear(x);
	return rc;
}

static enum dtx_code states(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                            const struct dtx_sink *sink, const struct dtx_opctx *ox, void *local,
                            bool *done, struct dtx_err *err)
{
	struct dtx_cluster_stage x = {
		.g = g, .sink = ox->step, .of = sink, .ox = ox, .local = local
	};

	return whole_stage(arg, &x, drawn, done, err);
}

static enum dtx_code texts(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                           const struct dtx_spread_text *to, bool *done, struct dtx_err *err)
{
	struct dtx_cluster_stage x = {
		.g = g, .sink = -1, .text = to, .table = g->plan->output[to->output].table
	};

	return whole_stage(arg, &x, drawn, done, err);
}

static enum dtx_code side(void *arg, struct dtx_graph *g, uint32_t step, unsigned input,
                          struct dtx_batch *b, struct dtx_err *err)
{
	(void)g;
	return dtx_sides_add(&((struct dtx_cluster *)arg)->sides, step, input, b, err);
}

/* Removes the files of fragments, and of those that were ended while they wrote one. */
static void empty_folder(const struct dtx_cluster *c)
{
	DIR *d = opendir(c->exchange);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static void clear(void *arg)
{
	struct dtx_cluster *c = arg;

	for (struct dtx_cluster_made *m = c->made; m; m = m->next)
		dtx_reader_close(m->reader);
	c->made = NULL;
	dtx_cluster_merged_clear(c);
	dtx_sides_clear(&c->sides);
}

/* --- the driver as a whole --- */

/* The folder of a run in the exchange folder: path/dtx-RUN. */
static enum dtx_code folder_of(const char *path, const char *run, char *to, size_t size,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if ((size_t)snprintf(to, size, "%s/dtx-%s", path, run) >= size)
		DTX_FAIL(err, DTX_E_USAGE, "--exchange '%s': the path is too long", path);
out:
	return rc;
}

/* Takes over the folder of the run that is resumed, whose id may be shortened as everywhere to its
 * first or last digits. */
static enum dtx_code take_folder(struct dtx_cluster *c, const char *path, const char *resume,
                                 struct dtx_err *err)
{
	char found[PATH_MAX];
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;
	enum dtx_code rc = DTX_OK;

	while (d && (e = readdir(d))) {
		struct dtx_str run = dtx_str_of(e->d_name), id = dtx_str_of(resume);

		if (!dtx_str_starts(run, DTX_STR("dtx-")) || id.len < 4)
			continue;
		run = (struct dtx_str){ run.ptr + 4, run.len - 4 };
		if (!dtx_str_starts(run, id) && !dtx_str_ends(run, id))
			continue;
		n++;
		DTX_TRY(folder_of(path, run.ptr, found, sizeof(found), err));
	}
	if (n != 1)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "without --resume the run starts again",
		              n ? "--resume '%s': several runs in '%s' have this id"
		                : "--resume '%s': no parts of such a run are in '%s'",
		              resume, path);
	if (rename(found, c->exchange) < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "rename", found);
	c->resumes = true;
out:
	if (d)
		closedir(d);
	return rc;
}

static enum dtx_code open_exchange(struct dtx_cluster *c, const struct dtx_cluster_opts *o,
                                   struct dtx_err *err)
{
	char *path = NULL, folder[PATH_MAX];
	struct stat st;
	enum dtx_code rc = DTX_OK;

	if (!o->exchange && o->resume)
		DTX_FAIL(err, DTX_E_USAGE, "--resume needs the --exchange DIR of that run");
	if (!o->exchange) {
		DTX_TRY(dtx_tempdir_make(&c->temp, "exchange", err));
		c->exchange = dtx_mem_strdup(c->temp.path);
		if (!c->exchange)
			DTX_FAIL_MEM(err);
		goto out;
	}
	path = dtx_file_absolute(o->exchange);
	if (!path)
		DTX_FAIL_MEM(err);
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		DTX_FAIL(err, DTX_E_USAGE, "--exchange '%s' is not a folder", o->exchange);
	DTX_TRY(folder_of(path, o->run_id, folder, sizeof(folder), err));
	c->exchange = dtx_mem_strdup(folder);
	if (!c->exchange)
		DTX_FAIL_MEM(err);
	if (o->resume)
		DTX_TRY(take_folder(c, path, o->resume, err));
	else if (mkdir(folder, 0700) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "--exchange '%s': cannot make a folder in it",
		         o->exchange);
	c->keeps = true;
out:
	if (rc != DTX_OK) {
		dtx_mem_free(c->exchange); /* nothing of it is ours to remove */
		c->exchange = NULL;
	}
	dtx_mem_free(path);
	return rc;
}

enum dtx_code dtx_cluster_new(const struct dtx_cluster_opts *o, struct dtx_cluster **out,
                              struct dtx_err *err)
{
	struct dtx_cluster *c = dtx_mem_zalloc(1, sizeof(*c));
	struct dtx_engine_address a = { .bytes = 0 };
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!c)
		DTX_FAIL_MEM(err);
	c->spread = (struct dtx_spread){ .arg = c,
		                         .rows = rows,
		                         .states = states,
		                         .texts = texts,
		                         .by_keys = dtx_exchange_step,
		                         .side = side,
		                         .clear = clear };
	pthread_mutex_init(&c->sides.lock, NULL);
	c->address = dtx_mem_strdup(o->address);
	c->stages = json_array();
	c->lost = json_object();
	if (!c->address || !c->stages || !c->lost)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_engine_address(o->address, &a, err));
	if (a.scheduler && !o->exchange)
		DTX_FAIL(err, DTX_E_USAGE,
		         "--engine '%s' needs --exchange DIR, a folder that all hosts share",
		         o->address);
	c->bytes = a.bytes ? a.bytes : DTX_CLUSTER_BYTES;
	DTX_TRY(open_exchange(c, o, err));
	DTX_TRY(dtx_engine_open(&a, c->exchange, &c->engine, err));
	*out = c;
	c = NULL;
out:
	dtx_engine_address_clear(&a);
	if (c)
		dtx_cluster_end(c, rc, err);
	dtx_cluster_free(c);
	return rc;
}

/* Whether a run that failed like this can go on later with the parts that are done. */
static bool may_pass(enum dtx_code code)
{
	enum dtx_fragment_class class = dtx_fragment_class(code);

	return class == DTX_FRAGMENT_AGAIN || class == DTX_FRAGMENT_LIMIT ||
	       code == DTX_E_ENGINE_UNAVAILABLE || code == DTX_E_CANCELLED;
}

void dtx_cluster_end(struct dtx_cluster *c, enum dtx_code code, struct dtx_err *err)
{
	const char *run;

	if (c->engine)
		c->engine->cls->close(c->engine);
	c->engine = NULL;
	if (c->exchange) {
		clear(c);
		/* with no file in it the folder goes too */
		if (!c->keeps || !may_pass(code))
			empty_folder(c);
		run = strrchr(c->exchange, '/') + strlen("/dtx-");
		if (!c->temp.path[0] && rmdir(c->exchange) < 0 && errno == ENOTEMPTY)
			dtx_err_hint(err,
			             "the parts that are done stay in '%s': the same command with "
			             "--resume %s goes on with them",
			             c->exchange, run);
	}
	dtx_tempdir_remove(&c->temp);
	dtx_mem_free(c->exchange);
	c->exchange = NULL;
}

void dtx_cluster_free(struct dtx_cluster *c)
{
	if (!c)
		return;
	dtx_cluster_end(c, DTX_OK, NULL);
	dtx_sides_clear(&c->sides);
	pthread_mutex_destroy(&c->sides.lock);
	dtx_mem_free(c->address);
	json_decref(c->stages);
	json_decref(c->lost);
	dtx_arena_clear(&c->arena);
	dtx_mem_free(c);
}

struct dtx_spread *dtx_cluster_spread(struct dtx_cluster *c)
{
	return &c->spread;
}

uint32_t dtx_cluster_piece_of(uint64_t bytes)
{
	return bytes < ((uint64_t)1 << 20) ? (uint32_t)bytes : 0;
}

uint32_t dtx_cluster_piece(const struct dtx_cluster *c)
{
	return dtx_cluster_piece_of(c->bytes);
}

json_t *dtx_cluster_json(const struct dtx_cluster *c)
{
	return json_pack("{ss sb sO}", "address", c->address, "whole", c->spread.whole, "stages",
	                 c->stages);
}
