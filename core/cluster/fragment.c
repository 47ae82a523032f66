/* Runs one fragment, see fragment.h. */
#include "core/cluster/fragment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/cluster/gather.h"
#include "core/cluster/sides.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/frame_batch.h"
#include "core/io/isolate/isolate.h"
#include "core/plan/exec/outputs.h"
#include "core/plan/pipe/runop.h"

/* --- the exchange folder --- */

void dtx_exchange_path(char *to, size_t size, const char *exchange, const char *name,
                       const char *kind)
{
	snprintf(to, size, "%s/%s.%s", exchange, name, kind);
}

/* The name of a file while it is written. Two processes may do the same fragment, on two hosts. */
static void temp_path(char *to, size_t size, const char *exchange, const char *name,
                      const char *kind)
{
	char host[HOST_NAME_MAX + 1] = "";

	(void)gethostname(host, sizeof(host) - 1);
	snprintf(to, size, "%s/.%s.%s.%s.%ld.tmp", exchange, name, kind, host, (long)getpid());
}

static enum dtx_code temp_open(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "write", path);
out:
	return rc;
}

static enum dtx_code temp_rename(const char *temp, const char *exchange, const char *name,
                                 const char *kind, struct dtx_err *err)
{
	char path[PATH_MAX];
	enum dtx_code rc = DTX_OK;

	dtx_exchange_path(path, sizeof(path), exchange, name, kind);
	if (rename(temp, path) < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "rename a file to", path);
out:
	return rc;
}

enum dtx_code dtx_exchange_put(const char *exchange, const char *name, const char *kind,
                               struct dtx_str bytes, struct dtx_err *err)
{
	char temp[PATH_MAX];
	int fd = -1;
	enum dtx_code rc = DTX_OK;

	temp_path(temp, sizeof(temp), exchange, name, kind);
	DTX_TRY(temp_open(temp, &fd, err));
	DTX_TRY(dtx_file_write(fd, bytes.ptr, bytes.len, temp, err));
	DTX_TRY(temp_rename(temp, exchange, name, kind, err));
out:
	dtx_file_close(&fd);
	if (rc != DTX_OK)
		(void)unlink(temp);
	return rc;
}

/* --- the work --- */

struct piece { /* the bytes of one batch */
	struct dtx_buf bytes;
};
struct fragment {
	json_t *spec;
	char exchange[PATH_MAX / 2];
	size_t memory; /* bytes that it may take; 0: no limit */
	char name[DTX_SHA256_HEX];
	struct dtx_job job;
	struct dtx_exec_opts opts;
	struct dtx_source **source;
	struct dtx_reader **reader; /* one per input; only that of the part is open */
	bool *was_read;
	struct dtx_errlist warnings;
	struct dtx_spill *spill;
	struct dtx_graph graph;
	struct dtx_graph_part part;
	struct dtx_scan_slice slice;
	uint32_t input;
	struct dtx_reader *merged;         /* where `input` is a table that fragments have made */
	const json_t *buckets, *of_bucket; /* members "buckets" and "gather" of the job; NULL */
	uint32_t bucket;                   /* with of_bucket */
	struct dtx_gather gather;
	char index[DTX_SHA256_HEX]; /* the hash of the index, with buckets or of_bucket */
	struct piece *piece;
	size_t npieces, cap_pieces;
	struct dtx_frame frame;
	int64_t rows;
	size_t sections; /* of the frame, without the first one */
	uint64_t bytes;  /* of the file */
	char hash[DTX_SHA256_HEX];
	char temp[PATH_MAX]; /* the file while it is written; "" before and after */
	int fd;              /* of it; -1: it is not open */
	struct dtx_weak weak;
	uint64_t text; /* bytes of text in it */
	int64_t start_ns;
};

#define NOT_A_SPEC(err) DTX_FAIL((err), DTX_E_USAGE, "the spec of the fragment is malformed")

static enum dtx_code read_numbers(struct fragment *f, const char *key, const uint32_t **out,
                                  uint32_t *n, struct dtx_err *err)
{
	const json_t *list = json_object_get(f->spec, key), *one;
	uint32_t *to = dtx_arena_alloc(&f->job.arena, json_array_size(list) + 1, sizeof(*to));
	enum dtx_code rc = DTX_OK;
	size_t i;

	if (!to)
		DTX_FAIL_MEM(err);
	json_array_foreach(list, i, one) to[i] = (uint32_t)json_integer_value(one);
	*out = to;
	*n = (uint32_t)json_array_size(list);
out:
	return rc;
}

static enum dtx_code read_spec(struct fragment *f, struct dtx_str text, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = (size_t)1 << 20, .depth = 8 };
	struct dtx_buf canonical = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *begin;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_json_parse(text, limits, &f->spec, err));
	f->memory = (size_t)dtx_json_int(f->spec, "memory", 0);
	dtx_str_copy(f->exchange, sizeof(f->exchange),
	             dtx_str_of(dtx_json_text(f->spec, "exchange", "")));
	(void)json_object_del(f->spec, "memory");
	(void)json_object_del(f->spec, "exchange");
	dtx_json_canonical(f->spec, &canonical);
	DTX_TRY(dtx_buf_check(&canonical, "spec", err));
	dtx_sha256_hex(canonical.ptr, canonical.len, f->name);
	begin = json_object_get(f->spec, "begin");
	f->bucket = (uint32_t)dtx_json_int(f->spec, "bucket", 0);
	f->input = (uint32_t)dtx_json_int(f->spec, "input", -1);
	f->slice = (struct dtx_scan_slice){
		.first = (uint64_t)dtx_json_int(f->spec, "first", -1),
		.end = (uint64_t)dtx_json_int(f->spec, "end", -1),
		.begin = (uint64_t)json_integer_value(begin),
		.guessed = !json_is_integer(begin),
	};
	if (!*f->exchange || strlen(f->exchange) + 1 == sizeof(f->exchange) ||
	    !dtx_json_text(f->spec, "job", NULL) ||
	    (f->slice.first >= f->slice.end && !json_object_get(f->spec, "bucket")))
		NOT_A_SPEC(err);
out:
	dtx_buf_clear(&canonical);
	return rc;
}

/* What the job says of the table `input`, if fragments have made it; NULL: it is an input. */
static const json_t *merged_of(const struct fragment *f)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(f->job.json, "merged"), i,
	                   one) if (dtx_json_int(one, "table", -1) == (int64_t)f->input) return one;
	return NULL;
}

/* Whether the fragment reads rows of an input, and not of other fragments. */
static bool reads_input(const struct fragment *f)
{
	return !f->of_bucket && f->input < f->job.plan->ninputs;
}

static enum dtx_code read_job(struct fragment *f, struct dtx_err *err)
{
	const char *name = dtx_json_text(f->spec, "job", "");
	struct dtx_buf text = DTX_BUF_INIT((size_t)256 << 20);
	char path[PATH_MAX], hash[DTX_SHA256_HEX];
	uint32_t n;
	enum dtx_code rc = DTX_OK;

	dtx_exchange_path(path, sizeof(path), f->exchange, name, "job");
	DTX_TRY(dtx_file_slurp(path, &text, err));
	dtx_sha256_hex(text.ptr, text.len, hash);
	if (strcmp(hash, name) != 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "'%s' does not have the bytes that its name says",
		         path);
	DTX_TRY(dtx_job_open(&f->job, dtx_buf_str(&text), err));
	if (f->memory)
		dtx_mem_set_limit(f->memory);
	f->buckets = json_object_get(f->job.json, "buckets");
	f->of_bucket = json_object_get(f->job.json, "gather");
	if (f->of_bucket)
		goto out;
	if (f->input < f->job.plan->ninputs ? !f->job.schema[f->input] : !merged_of(f))
		NOT_A_SPEC(err);
	f->part = (struct dtx_graph_part){ .table = (int32_t)f->input,
		                           .base = (uint64_t)dtx_json_int(f->spec, "base", 0),
		                           .first_rows = f->job.first_rows,
		                           .slice = &f->slice };
	DTX_TRY(read_numbers(f, "steps", &f->part.step, &f->part.nsteps, err));
	DTX_TRY(read_numbers(f, "branches", &f->part.input, &n, err));
	if (n != f->part.nsteps)
		NOT_A_SPEC(err);
	for (uint32_t k = 0; k < n; k++)
		if (f->part.step[k] >= f->job.plan->nsteps ||
		    !f->job.plan->step[f->part.step[k]].op)
			NOT_A_SPEC(err);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Opens the input. What the driver found out about it must be found again. */
static enum dtx_code open_input(struct fragment *f, struct dtx_err *err)
{
	uint32_t n = f->job.plan->ninputs, i = f->input;
	const struct dtx_schema *found, *want;
	uint64_t bytes, pieces;
	enum dtx_code rc = DTX_OK;

	f->source = dtx_arena_zalloc(&f->job.arena, n, sizeof(struct dtx_source *));
	f->reader = dtx_arena_zalloc(&f->job.arena, n, sizeof(struct dtx_reader *));
	f->was_read = dtx_arena_zalloc(&f->job.arena, n, sizeof(bool));
	if (!f->source || !f->reader || !f->was_read)
		DTX_FAIL_MEM(err);
	if (!reads_input(f))
		goto out;
	want = f->job.schema[i];
	DTX_TRY(dtx_source_open(f->job.plan->input[i].path, &f->source[i], err));
	DTX_TRY(dtx_job_input_same(&f->job, i, f->source[i], err));
	dtx_source_limit(f->source[i], &f->job.plan->input[i].limits);
	DTX_TRY(dtx_reader_open(f->source[i], &f->job.read[i], &f->reader[i], err));
	DTX_TRY(f->reader[i]->cls->schema(f->reader[i], &found, err));
	pieces = f->reader[i]->cls->pieces ? f->reader[i]->cls->pieces(f->reader[i], &bytes) : 0;
	DTX_ASSERT(found->nfields == want->nfields && f->slice.end <= pieces, err);
	for (uint32_t c = 0; c < want->nfields; c++)
		DTX_ASSERT(!strcmp(found->field[c].name, want->field[c].name), err);
out:
	return rc;
}

/* Binds all steps whose tables are known. Findings are of no interest: the driver had them. */
static enum dtx_code bind(struct fragment *f, struct dtx_err *err)
{
	struct dtx_graph *g = &f->graph;
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	const struct dtx_plan *p = f->job.plan;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < p->ninputs; i++)
		if (f->job.schema[i])
			DTX_TRY(dtx_flow_set(&g->flow, (int32_t)i, f->job.schema[i], err));
	for (uint32_t s = 0; s < p->nsteps; s++) {
		const struct dtx_plan_step *st = &p->step[s];
		bool known = st->op != NULL && !st->broken, bad = false;

		for (uint32_t k = 0; k < st->ntables; k++)
			known = known && dtx_graph_knows(g, st->table[k]);
		if (!known)
			continue;
		DTX_TRY(dtx_flow_bind(&g->flow, s, true, &g->run, &found, &bad, err));
		dtx_errlist_clear(&found);
		g->step[s].bound = !bad && g->flow.bind[s];
		g->step[s].resolved =
			g->step[s].bound && !(g->flow.bind[s]->open && st->op->whole_schema);
	}
	for (uint32_t k = 0; k < f->part.nsteps; k++)
		DTX_ASSERT(g->step[f->part.step[k]].resolved, err);
	DTX_ASSERT(f->job.early < 0 || g->step[f->job.early].resolved, err);
	DTX_ASSERT(f->job.sink < 0 || g->step[f->job.sink].bound, err);
	DTX_ASSERT(dtx_graph_knows(g, f->job.table), err);
out:
	dtx_errlist_clear(&found);
	return rc;
}

/* The step after the maps; -1: rows of the last map are made. */
static int32_t last_step(const struct fragment *f)
{
	if (f->of_bucket)
		return (int32_t)dtx_json_int(f->of_bucket, "step", -1);
	return f->job.early >= 0 ? f->job.early : f->job.sink;
}

/* Puts rows of other fragments where the graph reads them. */
static enum dtx_code load_rows(struct fragment *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (f->of_bucket) {
		DTX_TRY(dtx_gather_load(&f->gather, f->of_bucket, f->bucket, f->exchange, &f->graph,
		                        err));
		f->graph.part = NULL;
	} else if (!reads_input(f)) {
		DTX_TRY(dtx_gather_reader(merged_of(f), f->exchange, &f->graph, f->gather.damaged,
		                          &f->merged, err));
		f->graph.node[f->input].reader = f->merged;
		f->graph.node[f->input].uses = 1;
	}
out:
	return rc;
}

/* A step that is done early makes the columns that the driver needs to do it again. */
static enum dtx_code find_needs(struct fragment *f, struct dtx_err *err)
{
	struct dtx_graph *g = &f->graph;
	uint32_t ninputs = f->job.plan->ninputs;
	int32_t last = last_step(f);
	bool digest = f->job.sink >= 0 && g->flow.bind[f->job.sink]->digest;
	int32_t end = last < 0 || digest ? f->job.table : (int32_t)ninputs + last;
	bool *live = dtx_arena_zalloc(&g->arena, f->job.plan->nsteps + 1u, sizeof(*live));
	enum dtx_code rc = DTX_OK;

	if (!live)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_column_needs_init(&g->push, &g->flow, &g->arena, err));
	DTX_ASSERT(g->flow.table[end].schema && f->job.nneed == g->flow.table[end].schema->nfields,
	           err);
	memcpy(g->push.need[end], f->job.need, f->job.nneed);
	for (uint32_t k = 0; k < f->part.nsteps; k++)
		live[f->part.step[k]] = true;
	if (last >= 0 && !digest)
		live[last] = true;
	dtx_column_needs_back(&g->flow, &g->push, live);
out:
	return rc;
}

/* A step that is done early is the last map, or reads the rows of the maps. */
static enum dtx_code add_early(struct fragment *f, struct dtx_err *err)
{
	uint32_t n = f->part.nsteps, *step, *input;
	enum dtx_code rc = DTX_OK;

	if (f->job.early < 0)
		return DTX_OK;
	f->graph.node[f->job.plan->ninputs + (uint32_t)f->job.early].uses = 1;
	if (f->graph.flow.bind[f->job.early]->kind != DTX_KIND_MAP)
		return DTX_OK;
	step = dtx_arena_zalloc(&f->job.arena, n + 1u, sizeof(*step));
	input = dtx_arena_zalloc(&f->job.arena, n + 1u, sizeof(*input));
	if (!step || !input)
		DTX_FAIL_MEM(err);
	memcpy(step, f->part.step, n * sizeof(*step));
	memcpy(input, f->part.input, n * sizeof(*input));
	step[n] = (uint32_t)f->job.early;
	f->part.step = step;
	f->part.input = input;
	f->part.nsteps++;
out:
	return rc;
}

static enum dtx_code start(struct fragment *f, struct dtx_err *err)
{
	struct dtx_run run;
	enum dtx_code rc = DTX_OK;

	dtx_column_needs_run(f->job.plan, &run);
	run.workers = 1;
	run.batch_rows = f->job.batch_rows ? f->job.batch_rows : DTX_BATCH_ROWS;
	run.run_date = f->job.run_date;
	run.by_keys = f->of_bucket != NULL;
	DTX_TRY(dtx_spill_new(&f->spill, err));
	run.spill = f->spill;
	f->opts = (struct dtx_exec_opts)DTX_EXEC_OPTS_INIT;
	f->opts.input = f->source;
	f->opts.workers = 1;
	f->opts.batch_rows = f->job.batch_rows;
	DTX_TRY(dtx_graph_init(&f->graph, f->job.plan, &f->opts, &run, &f->warnings, err));
	f->graph.reader = f->reader;
	f->graph.was_read = f->was_read;
	f->graph.read = f->job.read;
	f->graph.part = &f->part;
	/* the rows stream to the end of the part, however many steps of the plan read them there */
	f->graph.node[f->job.table].uses = 1;
	DTX_TRY(bind(f, err));
	DTX_TRY(dtx_sides_load(json_object_get(f->job.json, "sides"), f->exchange, &f->graph, err));
	DTX_TRY(load_rows(f, err));
	DTX_TRY(add_early(f, err));
	DTX_TRY(find_needs(f, err));
out:
	return rc;
}

static enum dtx_code save_batch(void *arg, unsigned worker, struct dtx_batch *b,
                                struct dtx_err *err)
{
	struct fragment *f = arg;
	struct dtx_buf *to;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	if (!b->nsel)
		return DTX_OK;
	if (!dtx_mem_reserve(&f->piece, &f->cap_pieces, f->npieces + 1, sizeof(*f->piece)))
		DTX_FAIL_MEM(err);
	to = &f->piece[f->npieces++].bytes;
	dtx_buf_init(to, SIZE_MAX / 2);
	f->rows += b->nsel;
	DTX_TRY(dtx_frame_batch_save(b, to, err));
out:
	return rc;
}

/* --- the result --- */

static enum dtx_code open_frame(struct fragment *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	temp_path(f->temp, sizeof(f->temp), f->exchange, f->name, "frame");
	DTX_TRY(temp_open(f->temp, &f->fd, err));
	dtx_weak_init(&f->weak);
out:
	return rc;
}

/* A buffer without a pointer is text that is in the file already. */
static enum dtx_code put_bytes(void *arg, struct dtx_str bytes, struct dtx_err *err)
{
	struct fragment *f = arg;
	enum dtx_code rc = DTX_OK;

	if (bytes.ptr) {
		dtx_weak_add(&f->weak, bytes.ptr, bytes.len);
		return dtx_file_write(f->fd, bytes.ptr, bytes.len, f->temp, err);
	}
	if (lseek(f->fd, (off_t)bytes.len, SEEK_CUR) < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "write", f->temp);
out:
	return rc;
}

/* The sections must be in the frame, and their bytes still there. */
static enum dtx_code write_frame(void *arg, struct dtx_err *err)
{
	struct fragment *f = arg;
	enum dtx_code rc = DTX_OK;

	if (f->fd < 0)
		DTX_TRY(open_frame(f, err));
	if (lseek(f->fd, 0, SEEK_SET) < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "write", f->temp);
	DTX_TRY(dtx_frame_stream(&f->frame, put_bytes, f, err));
	dtx_weak_done(&f->weak, f->hash);
	f->bytes = dtx_frame_size(&f->frame);
	f->sections = f->frame.n - 1;
	DTX_ASSERT(!f->text || dtx_frame_part_entry(&f->frame, 1)->a_off == DTX_FRAGMENT_TEXT_AT,
	           err);
	DTX_TRY(temp_rename(f->temp, f->exchange, f->name, "frame", err));
	f->temp[0] = '\0';
out:
	return rc;
}

static enum dtx_code make_rows(struct fragment *f, struct dtx_err *err)
{
	const struct dtx_pipe_end end = { .eat = save_batch, .arg = f };
	int32_t early = f->job.early;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_stream(&f->graph,
	                         early < 0 ? f->job.table : (int32_t)f->job.plan->ninputs + early,
	                         &end, err));
	for (size_t i = 0; i < f->npieces; i++)
		DTX_TRY(dtx_frame_add_bytes(&f->frame, DTX_FRAME_BATCH, (uint32_t)i, NULL,
		                            dtx_buf_str(&f->piece[i].bytes), err));
	DTX_TRY(write_frame(f, err));
out:
	return rc;
}

/* Keeps a batch whose rows go into buckets by their keys. */
static enum dtx_code sort_batch(void *arg, unsigned worker, struct dtx_batch *b,
                                struct dtx_err *err)
{
	struct fragment *f = arg;
	uint32_t step = (uint32_t)dtx_json_int(f->buckets, "step", 0);
	unsigned input = (unsigned)dtx_json_int(f->buckets, "input", 0);
	struct dtx_buckets_batch *to;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	if (!b->nsel)
		return DTX_OK;
	DTX_TRY(dtx_buckets_add(&f->gather.rows, b, &to, err));
	for (uint32_t i = 0; i < to->batch->nrows; i++) {
		to->place[i] = dtx_batch_pos(b, 0) + i;
		if (!dtx_batch_id(to->batch, i, &to->id[i]))
			to->id[i] = DTX_NO_ROW;
	}
	DTX_TRY(dtx_buckets_of(f->job.plan->step[step].op, &f->graph.step[step].ox[input], input,
	                       to->batch, (uint32_t)dtx_json_int(f->buckets, "n", 1), to->to, err));
out:
	return rc;
}

static enum dtx_code make_buckets(struct fragment *f, struct dtx_err *err)
{
	struct dtx_pipe_end end = { .eat = f->buckets ? sort_batch : dtx_gather_eat,
		                    .arg = f->buckets ? (void *)f : (void *)&f->gather };
	uint32_t n = (uint32_t)dtx_json_int(f->buckets, "n", 1);
	enum dtx_code rc = DTX_OK;

	if (f->buckets)
		DTX_TRY(dtx_graph_prepare(&f->graph, (uint32_t)dtx_json_int(f->buckets, "step", 0),
		                          err));
	else
		n = (uint32_t)f->gather.nranges;
	DTX_TRY(dtx_graph_stream(&f->graph, f->job.table, &end, err));
	f->rows = f->gather.rows.rows;
	DTX_TRY(dtx_buckets_save(&f->gather.rows, n, &f->frame, f->index, err));
	DTX_TRY(write_frame(f, err));
out:
	return rc;
}

static enum dtx_code put_text(void *arg, struct dtx_str text, struct dtx_err *err)
{
	struct fragment *f = arg;

	f->text += text.len;
	return put_bytes(f, text, err);
}

static enum dtx_code make_texts(struct fragment *f, struct dtx_err *err)
{
	const struct dtx_text_parts to = { .arg = f, .put = put_text, .then = write_frame };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(open_frame(f, err));
	if (lseek(f->fd, DTX_FRAGMENT_TEXT_AT, SEEK_SET) < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "write", f->temp);
	DTX_TRY(dtx_outputs_texts(&f->graph, f->job.table, f->job.writer, &f->job.write, &to,
	                          &f->frame, &f->rows, err));
out:
	return rc;
}

static json_t *step_json(const struct dtx_opstat *stat)
{
	json_t *drops = json_object();

	for (unsigned i = 0; drops && i < DTX_STAT_REASONS; i++) {
		const char *reason = atomic_load(&stat->drop[i].reason);

		if (reason &&
		    !dtx_json_set(drops, reason, json_integer(atomic_load(&stat->drop[i].n)))) {
			json_decref(drops);
			return NULL;
		}
	}
	return json_pack("[I I I o]", (json_int_t)atomic_load(&stat->rows_in),
	                 (json_int_t)atomic_load(&stat->rows_out),
	                 (json_int_t)atomic_load(&stat->ns), drops);
}

/* The counts of the maps, and then of the step after them. */
static json_t *steps_json(const struct fragment *f)
{
	int32_t last = last_step(f);
	json_t *list = json_array();

	for (uint32_t k = 0; list && k < f->part.nsteps; k++)
		if ((int32_t)f->part.step[k] != last &&
		    json_array_append_new(list, step_json(f->graph.step[f->part.step[k]].stat)))
			goto failed;
	if (last >= 0 && json_array_append_new(list, step_json(f->graph.step[last].stat)))
		goto failed;
	return list;
failed:
	json_decref(list);
	return NULL;
}

/* Per map what it has collected for the end of all rows; null: nothing. */
static json_t *flush_json(const struct fragment *f)
{
	json_t *list = json_array();

	for (uint32_t k = 0; list && k < f->part.nsteps; k++) {
		const struct dtx_operator *o = &f->graph.step[f->part.step[k]].oper;

		if (json_array_append_new(list, o->saved ? o->op->map->save(o->ox, o->local[0])
		                                         : json_null())) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* The hash of what a manifest says, without its own member "check". */
static void manifest_check(const json_t *o, char check[DTX_SHA256_HEX])
{
	json_t *rest = json_copy((json_t *)(uintptr_t)o);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	(void)json_object_del(rest, "check");
	dtx_json_canonical(rest, &text);
	dtx_sha256_hex(dtx_buf_text(&text), dtx_buf_len(&text), check);
	dtx_buf_clear(&text);
	json_decref(rest);
}

json_t *dtx_manifest_read(const char *exchange, const char *name)
{
	const struct dtx_json_limits limits = { .bytes = (size_t)16 << 20, .depth = 16 };
	char path[PATH_MAX], check[DTX_SHA256_HEX];
	struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20);
	json_t *o = NULL;

	dtx_exchange_path(path, sizeof(path), exchange, name, "json");
	if (dtx_file_slurp(path, &text, NULL) == DTX_OK)
		(void)!dtx_json_parse(dtx_buf_str(&text), limits, &o, NULL);
	dtx_buf_clear(&text);
	if (!o)
		return NULL;
	manifest_check(o, check);
	if (!strcmp(check, dtx_json_text(o, "check", "")) &&
	    !strcmp(name, dtx_json_text(o, "fragment", "")))
		return o;
	json_decref(o);
	return NULL;
}

static enum dtx_code write_manifest(struct fragment *f, struct dtx_buf *out, struct dtx_err *err)
{
	const struct dtx_read_stats none = { .rows_read = 0 };
	const struct dtx_reader *r = reads_input(f) ? f->reader[f->input] : NULL;
	struct rusage used = { .ru_maxrss = 0 };
	char host[HOST_NAME_MAX + 1] = "", check[DTX_SHA256_HEX];
	json_t *o;
	enum dtx_code rc = DTX_OK;

	(void)getrusage(RUSAGE_SELF, &used);
	(void)gethostname(host, sizeof(host) - 1);
	o = json_pack("{ss si sI sI sI sI sI ss sI so so so sI sI sI ss sI ss}", "fragment",
	              f->name, "class", DTX_FRAGMENT_OK, "begin", (json_int_t)f->slice.begin,
	              "next", (json_int_t)f->slice.next, "rows", (json_int_t)f->rows, "sections",
	              (json_int_t)f->sections, "bytes", (json_int_t)f->bytes, "hash", f->hash,
	              "misfits", (json_int_t)(r ? r->misfits : 0), "stats",
	              dtx_isolate_stats_json(r ? &r->stats : &none), "steps", steps_json(f),
	              "flush", flush_json(f), "wall_us",
	              (json_int_t)(dtx_now_ns() - f->start_ns) / 1000, "cpu_us",
	              (json_int_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
	                      used.ru_utime.tv_usec + used.ru_stime.tv_usec,
	              "peak_bytes", (json_int_t)used.ru_maxrss * 1024, "host", host, "text",
	              (json_int_t)f->text, "index", f->index);
	if (!o)
		DTX_FAIL_MEM(err);
	manifest_check(o, check);
	if (!dtx_json_set(o, "check", json_string(check)))
		DTX_FAIL_MEM(err);
	dtx_json_print(o, 0, out);
	dtx_buf_addc(out, '\n');
	DTX_TRY(dtx_buf_check(out, "manifest", err));
	DTX_TRY(dtx_exchange_put(f->exchange, f->name, "json", dtx_buf_str(out), err));
out:
	json_decref(o);
	return rc;
}

/* Whether the reader of the whole input, or a step, would say something about these rows that
 * depends on all of them. */
static bool has_notes(const struct fragment *f)
{
	struct dtx_reader *r = reads_input(f) ? f->reader[f->input] : NULL;

	return f->warnings.n || f->warnings.dropped ||
	       (r && (r->misfits || r->offsets || (r->cls->oddities && r->cls->oddities(r))));
}

static enum dtx_code work(struct fragment *f, struct dtx_str spec, bool *whole, struct dtx_buf *out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(read_spec(f, spec, err));
	DTX_TRY(read_job(f, err));
	DTX_TRY(open_input(f, err));
	DTX_TRY(start(f, err));
	/* a frame has at least one section */
	if (!f->buckets && !f->of_bucket)
		DTX_TRY(dtx_frame_add_bytes(&f->frame, DTX_FRAME_REPORT, 0, NULL, DTX_STR(""),
		                            err));
	if (f->buckets || f->of_bucket)
		DTX_TRY(make_buckets(f, err));
	else if (f->job.writer)
		DTX_TRY(make_texts(f, err));
	else if (f->job.sink < 0)
		DTX_TRY(make_rows(f, err));
	else
		DTX_TRY(dtx_runop_state(&f->graph, (uint32_t)f->job.sink, &f->frame, write_frame, f,
		                        err));
	if (reads_input(f)) {
		DTX_ASSERT(f->was_read[f->input], err);
		DTX_TRY(dtx_source_check_truncated(f->source[f->input], DTX_OK, err));
		DTX_TRY(dtx_job_input_same(&f->job, f->input, f->source[f->input], err));
	}
	*whole = has_notes(f);
	if (*whole)
		goto out;
	DTX_TRY(write_manifest(f, out, err));
out:
	return rc;
}

static void clear(struct fragment *f)
{
	for (size_t i = 0; i < f->npieces; i++)
		dtx_buf_clear(&f->piece[i].bytes);
	dtx_mem_free(f->piece);
	dtx_file_close(&f->fd);
	if (f->temp[0])
		(void)unlink(f->temp);
	dtx_gather_clear(&f->gather);
	dtx_reader_close(f->merged);
	if (f->graph.plan)
		dtx_graph_clear(&f->graph);
	dtx_spill_free(f->spill);
	dtx_frame_clear(&f->frame);
	if (f->reader && reads_input(f))
		dtx_reader_close(f->reader[f->input]);
	if (f->source && reads_input(f))
		dtx_source_free(f->source[f->input]);
	dtx_errlist_clear(&f->warnings);
	dtx_job_clear(&f->job);
	json_decref(f->spec);
}

enum dtx_fragment_class dtx_fragment_class(enum dtx_code code)
{
	switch (code) {
	case DTX_OK: return DTX_FRAGMENT_OK;
	case DTX_E_RETYPE: return DTX_FRAGMENT_TYPES;
	case DTX_E_INPUT_IO:
	case DTX_E_INPUT_NOT_FOUND:
	case DTX_E_OUTPUT_IO: return DTX_FRAGMENT_AGAIN;
	case DTX_E_DISK_FULL:
	case DTX_E_NO_MEMORY:
	case DTX_E_TIME_LIMIT: return DTX_FRAGMENT_LIMIT;
	case DTX_E_INPUT_CHANGED: return DTX_FRAGMENT_CHANGED;
	default: return DTX_FRAGMENT_DATA;
	}
}

static void put_failure(const struct fragment *f, enum dtx_fragment_class class,
                        const struct dtx_err *err, struct dtx_buf *out)
{
	const char *damaged = f->gather.damaged[0] ? f->gather.damaged : NULL;
	json_t *o = json_pack("{ss si sI sb ss* so*}", "fragment", f->name, "class", (int)class,
	                      "begin", (json_int_t)f->slice.begin, "guessed", f->slice.guessed,
	                      "damaged", damaged, "error",
	                      err->code ? dtx_isolate_err_json(err) : NULL);

	dtx_buf_reset(out);
	dtx_json_print(o, 0, out);
	dtx_buf_addc(out, '\n');
	json_decref(o);
}

enum dtx_fragment_class dtx_fragment_run(struct dtx_str spec, struct dtx_buf *out)
{
	struct fragment f = { .start_ns = dtx_now_ns(), .fd = -1 };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_fragment_class class;
	bool whole = false;

	class = dtx_fragment_class(work(&f, spec, &whole, out, &err));
	if (whole)
		class = DTX_FRAGMENT_WHOLE;
	if (class != DTX_FRAGMENT_OK)
		put_failure(&f, class, &err, out);
	clear(&f);
	dtx_err_clear(&err);
	return class;
}
