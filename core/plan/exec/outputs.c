/* Writes the result tables. Formatting and row hashing run on all workers (output_prepare); only
 * appending to the file and to the table hash is serial (output_put). */
#include "core/plan/exec/outputs.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/plan/exec/stats/colsample.h"
#include "core/plan/pipe/spread.h"

struct output_end {
	const char *at; /* place of the output in the plan */
	bool last;      /* no other output goes to the file */
	struct dtx_writer *writer;
	const struct dtx_writer_class *cls;
	struct dtx_checks *checks;
	struct dtx_table *table;  /* without a writer */
	struct dtx_outfile *file; /* borrowed from the result */
	bool hashes, samples, pairs;
	struct dtx_tablehash hash;
	struct dtx_colsample sample;
	int64_t rows;
};

bool dtx_outputs_caused(const struct dtx_err *err)
{
	return dtx_str_starts(dtx_str_of(err->at), DTX_STR("/output"));
}

const struct dtx_writer_class *dtx_outputs_class(const struct dtx_plan_output *o)
{
	return dtx_writer_find(o->format, o->path);
}

uint32_t dtx_outputs_file(const struct dtx_plan *plan, uint32_t i)
{
	const char *path = plan->output[i].path;

	for (uint32_t k = 0; path && strcmp(path, "-") && k < i; k++)
		if (plan->output[k].path && !strcmp(plan->output[k].path, path))
			return k;
	return i;
}

static bool is_last_of_file(const struct dtx_plan *plan, uint32_t i)
{
	for (uint32_t k = i + 1; k < plan->noutputs; k++)
		if (dtx_outputs_file(plan, k) == dtx_outputs_file(plan, i))
			return false;
	return true;
}

void dtx_outputs_clear(struct dtx_exec_output *out)
{
	if (out->open)
		out->open->cls->close(out->open);
	json_decref(out->stats);
	if (!out->shared)
		dtx_outfile_free(out->file);
	dtx_table_unref(out->table);
	*out = (struct dtx_exec_output){ .rows = 0 };
}

/* The table of a database that an output goes to, unless the plan says it: as the step's table,
 * else as the file, without its suffix. NULL: out of memory. */
static const char *default_table(const struct dtx_plan_output *o, struct dtx_arena *arena)
{
	struct dtx_str name = dtx_str_of(dtx_file_basename(o->path ? o->path : "-"));
	struct dtx_str suffix = dtx_writer_suffix(o->path);

	if (o->table_name)
		return o->table_name;
	if (dtx_str_is(name, "-"))
		return "result";
	if (suffix.ptr && suffix.ptr > name.ptr + 1)
		name.len = (size_t)(suffix.ptr - name.ptr) - 1;
	return dtx_arena_strndup(arena, name.ptr, name.len);
}

static enum dtx_code no_writer(const struct dtx_plan_output *o, struct dtx_err *err)
{
	bool named = o->format && strcmp(o->format, "auto") != 0;
	struct dtx_buf known = DTX_BUF_INIT(1024);
	enum dtx_code rc = DTX_OK;

	dtx_writer_suffixes(&known);
	DTX_TRY(dtx_buf_check(&known, "the suffixes", err));
	if (named) {
		rc = dtx_formats_unknown(o->format, dtx_write_formats, "write", err);
	} else {
		struct dtx_str suffix = dtx_writer_suffix(o->path);

		rc = dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
		                 "cannot write '%s': no format has the suffix '.%.*s'", o->path,
		                 (int)suffix.len, suffix.ptr);
		dtx_err_hint(err,
		             "the suffixes are %s, text also with .gz or .zst after it; with "
		             "--to FORMAT a file may have any name",
		             dtx_buf_text(&known));
	}
	dtx_err_at(err, o->at);
out:
	dtx_buf_clear(&known);
	return rc;
}

static enum dtx_code packed_twice(const struct dtx_plan_output *o,
                                  const struct dtx_writer_class *cls, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	                               "cannot write '%s': %s is not packed", o->path, cls->name);

	dtx_err_hint(err, "name the file '%.*s'", (int)(strrchr(o->path, '.') - o->path), o->path);
	dtx_err_at(err, o->at);
	return rc;
}

static enum dtx_code one_table(const struct dtx_plan_output *o, const struct dtx_writer_class *cls,
                               struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	                               "cannot write '%s': %s is one table, and the plan has "
	                               "several outputs for the file",
	                               o->path, cls->name);

	dtx_err_hint(err, "name a workbook (.xlsx) or database (.db)");
	dtx_err_at(err, o->at);
	return rc;
}

enum dtx_code dtx_outputs_check(const struct dtx_plan *plan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < plan->noutputs; i++) {
		const struct dtx_plan_output *o = &plan->output[i];
		const struct dtx_writer_class *cls = dtx_outputs_class(o);

		if (!cls)
			DTX_TRY(no_writer(o, err));
		else if (cls->binary && dtx_writer_packs(o->path))
			DTX_TRY(packed_twice(o, cls, err));
		else if (dtx_outputs_file(plan, i) != i && !cls->begin)
			DTX_TRY(one_table(o, cls, err));
	}
out:
	return rc;
}

/* 0: the output is not delimited text */
static char output_delimiter(const struct dtx_plan_output *o)
{
	return dtx_writer_delimiter(&o->opts, o->format, o->path);
}

char dtx_outputs_home(const struct dtx_plan *plan)
{
	char delim = 0;

	for (uint32_t i = 0; !delim && i < plan->noutputs; i++)
		delim = output_delimiter(&plan->output[i]);
	return delim;
}

static enum dtx_code output_prepare(void *arg, unsigned worker, struct dtx_batch *b,
                                    struct dtx_reorder_item *item, struct dtx_err *err)
{
	struct output_end *e = arg;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	DTX_TRY(dtx_checks_batch(e->checks, b, err));
	if (e->cls)
		DTX_TRY(dtx_batch_declared(b, err));
	item->hash.keep = e->cls && e->cls->format;
	if (e->hashes)
		DTX_TRY(dtx_rowhash_batch(b, &item->hash, err));
	if (e->hashes && item->hash.keep)
		b->printed = item->hash.printed;
	if (e->cls && e->cls->format)
		DTX_TRY(e->cls->format(e->writer, b, &item->text, err));
out:
	b->printed = NULL;
	return rc;
}

/* Hashes the row hashes together with the file's text, where the CPU does two SHA-256 in the time
 * of one. */
static enum dtx_code output_write(struct output_end *e, struct dtx_batch *b,
                                  const struct dtx_reorder_item *item, struct dtx_err *err)
{
	bool pairs = e->hashes && e->pairs;
	enum dtx_code rc;

	if (pairs)
		dtx_outfile_beside(e->file, &e->hash.sha, item->hash.bytes,
		                   item->hash.n * DTX_ROWHASH_BYTES);
	rc = e->cls->put(e->writer, b, &item->text, err);
	if (pairs) {
		dtx_outfile_beside(e->file, NULL, NULL, 0);
		dtx_tablehash_count(&e->hash, &item->hash);
	}
	return rc;
}

static enum dtx_code output_put(void *arg, struct dtx_batch *b, struct dtx_reorder_item *item,
                                struct dtx_err *err)
{
	struct output_end *e = arg;
	struct dtx_batch *copy = NULL;
	enum dtx_code rc = DTX_OK;

	e->rows += b->nsel;
	if (e->hashes && !(e->cls && e->pairs))
		dtx_tablehash_fold(&e->hash, &item->hash);
	if (e->samples)
		DTX_TRY(dtx_colsample_batch(&e->sample, b, err));
	if (e->cls) {
		rc = output_write(e, b, item, err);
		if (rc != DTX_OK)
			dtx_err_at(err, e->at);
		goto out;
	}
	if (!e->table)
		goto out;
	DTX_TRY(dtx_batch_copy(b, &copy, err));
	rc = dtx_batch_dense(copy, err);
	if (rc != DTX_OK) {
		dtx_batch_free(copy);
		goto out;
	}
	DTX_TRY(dtx_table_take(e->table, copy, err));
out:
	return rc;
}

static bool keeps_table(const struct dtx_graph *g, uint32_t i)
{
	return !(g->opts->hash_only >> i & 1);
}

/* The options of an output's writer. */
static enum dtx_code output_opts(struct dtx_graph *g, uint32_t i, struct dtx_exec_result *result,
                                 struct dtx_write_opts *opts, struct dtx_err *err)
{
	const struct dtx_plan_output *o = &g->plan->output[i];
	enum dtx_code rc = DTX_OK;

	*opts = o->opts;
	/* writers go by the suffix unless a format is named: .json and .jsonl differ */
	if (!opts->format && o->format && strcmp(o->format, "auto") != 0)
		opts->format = o->format;
	opts->reprint = output_delimiter(o) != dtx_outputs_home(g->plan);
	opts->workers = g->run.workers;
	if (!opts->into && dtx_str_in_list(dtx_outputs_class(o)->uses, "into")) {
		opts->into = default_table(o, &result->arena);
		if (!opts->into)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code open_end(struct dtx_graph *g, uint32_t i, struct output_end *e,
                              struct dtx_exec_result *result, struct dtx_err *err)
{
	const struct dtx_plan_output *o = &g->plan->output[i];
	struct dtx_exec_output *out = &result->output[i];
	struct dtx_exec_output *first = &result->output[dtx_outputs_file(g->plan, i)];
	struct dtx_write_opts opts;
	enum dtx_code rc = DTX_OK;

	if (!g->opts->to.open && !keeps_table(g, i))
		return DTX_OK;
	if (!g->opts->to.open)
		return dtx_table_new(out->schema, &e->table, err);
	e->cls = dtx_outputs_class(o);
	DTX_ASSERT(e->cls, err); /* dtx_outputs_check found it */
	DTX_TRY(output_opts(g, i, result, &opts, err));
	out->writer = e->cls;
	out->into = opts.into;
	e->pairs = dtx_sha256_pairs();
	if (first != out) {
		out->shared = true;
		e->file = out->file = first->file;
		e->writer = first->open;
		first->open = NULL;
		DTX_ASSERT(e->writer && e->cls->begin, err); /* the plan's parser has checked it */
		DTX_TRY(e->cls->begin(e->writer, &opts, out->schema, err));
	} else {
		DTX_TRY(g->opts->to.open(g->opts->to.arg, i, &out->file, err));
		e->file = out->file;
		DTX_TRY(dtx_outfile_pack(out->file, dtx_writer_packs(o->path), g->run.workers,
		                         err));
		DTX_TRY(e->cls->open(out->file, &opts, out->schema, &e->writer, err));
	}
	DTX_TRY(dtx_writer_idle(e->writer, &opts, err));
out:
	if (rc != DTX_OK)
		dtx_err_at(err, o->at);
	return rc;
}

static bool take_warnings(struct dtx_errlist *to, struct dtx_errlist *from, const char *at)
{
	for (size_t i = 0; i < from->n; i++) {
		from->item[i].severity = DTX_SEV_WARNING;
		dtx_err_at(&from->item[i], at);
		if (!dtx_errlist_take(to, &from->item[i]))
			return false;
	}
	dtx_errlist_clear(from);
	return true;
}

static enum dtx_code finish_end(struct output_end *e, struct dtx_exec_result *result,
                                struct dtx_exec_output *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (e->hashes)
		dtx_tablehash_done(&e->hash, out->table_hash, out->rows_hash);
	if (e->samples) {
		out->stats = dtx_colsample_json(&e->sample);
		if (!out->stats)
			DTX_FAIL_MEM(err);
	}
	out->rows = e->rows;
	out->table = e->table;
	e->table = NULL;
	if (!e->writer)
		goto out;
	rc = e->cls->end ? e->cls->end(e->writer, err) : DTX_OK;
	if (rc == DTX_OK && e->last)
		rc = e->cls->finish(e->writer, err);
	if (rc != DTX_OK)
		dtx_err_at(err, e->at);
	DTX_TRY(rc);
	if (!take_warnings(&result->warnings, &e->writer->diags, e->at))
		DTX_FAIL_MEM(err);
	if (e->last)
		DTX_TRY(dtx_outfile_finish(out->file, err));
out:
	return rc;
}

/* --- rows that are formatted by other processes --- */

/* The sections of a process: TEXT, with b = the hashes of its rows, and a TALLY: a = the sample of
 * its rows, b = struct tally. */
struct tally {
	uint64_t step; /* of the sample */
	uint64_t count[DTX_WRITE_COUNTS];
};
struct texts {
	struct output_end end; /* the first member: output_prepare takes it */
	const struct dtx_text_parts *to;
	size_t len; /* of the text */
	struct dtx_buf hashes;
};

static enum dtx_code keep_text(void *arg, struct dtx_batch *b, struct dtx_reorder_item *item,
                               struct dtx_err *err)
{
	struct texts *t = arg;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_buf_check(&item->text, "a batch of rows", err));
	DTX_TRY(dtx_colsample_batch(&t->end.sample, b, err));
	t->end.rows += b->nsel;
	t->len += item->text.len;
	if (item->text.len)
		DTX_TRY(t->to->put(t->to->arg, dtx_buf_str(&item->text), err));
	dtx_buf_addn(&t->hashes, item->hash.bytes, item->hash.n * DTX_ROWHASH_BYTES);
	DTX_TRY(dtx_buf_check(&t->hashes, "the hashes of rows", err));
out:
	return rc;
}

static enum dtx_code add_texts(const struct texts *t, struct tally *tally, struct dtx_frame *frame,
                               struct dtx_err *err)
{
	const struct dtx_colsample *s = &t->end.sample;
	struct dtx_str values = { (const char *)s->value,
		                  (size_t)s->n * s->ncols * sizeof(*s->value) };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_frame_add_pair(frame, DTX_FRAME_TEXT, 0, (uint64_t)t->end.rows,
	                           (struct dtx_str){ NULL, t->len },
	                           (struct dtx_str){ t->hashes.ptr, t->hashes.len }, err));
	tally->step = s->step;
	if (t->end.cls->counts)
		t->end.cls->counts(t->end.writer, tally->count);
	DTX_TRY(dtx_frame_add_pair(frame, DTX_FRAME_TALLY, 0, s->seen, values,
	                           (struct dtx_str){ (const char *)tally, sizeof(*tally) }, err));
out:
	return rc;
}

enum dtx_code dtx_outputs_texts(struct dtx_graph *g, int32_t t, const struct dtx_writer_class *cls,
                                const struct dtx_write_opts *opts, const struct dtx_text_parts *to,
                                struct dtx_frame *frame, int64_t *rows, struct dtx_err *err)
{
	const struct dtx_schema *schema = g->flow.table[t].schema;
	struct texts x = { .end = { .cls = cls, .hashes = true },
		           .to = to,
		           .hashes = DTX_BUF_INIT(SIZE_MAX / 2) };
	struct dtx_pipe_end end = { .arg = &x, .prepare = output_prepare, .put = keep_text };
	struct dtx_buf none = DTX_BUF_INIT(0);
	struct tally tally = { .step = 1 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_colsample_init(&x.end.sample, schema, err));
	DTX_TRY(dtx_outfile_memory(&none, &x.end.file, err));
	DTX_TRY(cls->open(x.end.file, opts, schema, &x.end.writer, err));
	DTX_TRY(dtx_graph_stream(g, t, &end, err));
	DTX_TRY(add_texts(&x, &tally, frame, err));
	*rows = x.end.rows;
	DTX_TRY(to->then(to->arg, err));
out:
	dtx_buf_clear(&x.hashes);
	if (x.end.writer)
		cls->close(x.end.writer);
	dtx_outfile_free(x.end.file);
	dtx_colsample_clear(&x.end.sample);
	return rc;
}

/* Writes the rows that another process has formatted. */
static enum dtx_code take_text(struct output_end *e, const struct dtx_frame_view *part,
                               const struct dtx_frame_entry *entry, struct dtx_err *err)
{
	struct dtx_str text = dtx_frame_bytes(part, entry);
	struct dtx_reorder_item item = { .text = { .ptr = (char *)(uintptr_t)text.ptr,
		                                   .len = text.len } };
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(entry->b_len == entry->rows * DTX_ROWHASH_BYTES, err);
	item.hash.bytes = (uint8_t *)(uintptr_t)part->ptr + entry->b_off; /* only read */
	item.hash.n = entry->rows;
	dtx_rowhash_sum(&item.hash);
	e->rows += (int64_t)entry->rows;
	if (!e->pairs)
		dtx_tablehash_fold(&e->hash, &item.hash);
	rc = output_write(e, NULL, &item, err);
	if (rc != DTX_OK)
		dtx_err_at(err, e->at);
out:
	return rc;
}

static enum dtx_code take_tally(struct output_end *e, const struct dtx_frame_view *part,
                                const struct dtx_frame_entry *entry, struct dtx_err *err)
{
	const void *values = part->ptr + entry->a_off, *bytes = part->ptr + entry->b_off;
	size_t row = e->sample.ncols * sizeof(double);
	const struct tally *tally = bytes;
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(entry->b_len == sizeof(*tally), err);
	if (row)
		dtx_colsample_add(&e->sample, values, (uint32_t)(entry->a_len / row), tally->step,
		                  entry->rows);
	if (e->cls->add_counts)
		e->cls->add_counts(e->writer, tally->count);
out:
	return rc;
}

static enum dtx_code take_texts(void *arg, const struct dtx_frame_view *part, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < part->n; i++) {
		if (part->entry[i].kind == DTX_FRAME_TEXT)
			DTX_TRY(take_text(arg, part, &part->entry[i], err));
		if (part->entry[i].kind == DTX_FRAME_TALLY)
			DTX_TRY(take_tally(arg, part, &part->entry[i], err));
	}
out:
	return rc;
}

/* Lets other processes format the rows, where one is at hand and that is possible. */
static enum dtx_code spread_texts(struct dtx_graph *g, uint32_t i, struct output_end *e,
                                  struct dtx_exec_result *result, bool *done, struct dtx_err *err)
{
	const struct dtx_plan_output *o = &g->plan->output[i];
	struct dtx_spread_text to = { .output = i, .cls = e->cls, .take = take_texts, .arg = e };
	struct dtx_write_opts opts;
	struct dtx_str format;
	enum dtx_code rc = DTX_OK;

	*done = false;
	if (!g->spread || !e->cls || !e->cls->apart || !e->hashes || !e->samples ||
	    dtx_checks_is_on(e->checks))
		goto out;
	DTX_TRY(output_opts(g, i, result, &opts, err));
	format = dtx_writer_format(e->cls, opts.format, o->path);
	opts.format = dtx_arena_strndup(&result->arena, format.ptr, format.len);
	if (!opts.format)
		DTX_FAIL_MEM(err);
	to.opts = &opts;
	DTX_TRY(dtx_graph_texts(g, o->table, &to, done, err));
out:
	return rc;
}

enum dtx_code dtx_outputs_write(struct dtx_graph *g, uint32_t i, struct dtx_checks *checks,
                                struct dtx_exec_result *result, struct dtx_err *err)
{
	int32_t t = g->plan->output[i].table;
	struct dtx_exec_output *out = &result->output[i];
	struct output_end e = { .at = g->plan->output[i].at,
		                .last = is_last_of_file(g->plan, i),
		                .checks = checks,
		                .hashes = g->opts->table_hash || !keeps_table(g, i),
		                .samples = g->opts->table_hash };
	struct dtx_pipe_end end = { .arg = &e, .prepare = output_prepare, .put = output_put };
	bool done;
	enum dtx_code rc = DTX_OK;

	out->schema = dtx_schema_copy(&result->arena, g->flow.table[t].schema);
	if (!out->schema)
		DTX_FAIL_MEM(err);
	if (e.hashes)
		dtx_tablehash_init(&e.hash, out->schema);
	if (e.samples)
		DTX_TRY(dtx_colsample_init(&e.sample, out->schema, err));
	DTX_TRY(open_end(g, i, &e, result, err));
	DTX_TRY(spread_texts(g, i, &e, result, &done, err));
	if (!done)
		DTX_TRY(dtx_graph_stream(g, t, &end, err));
	DTX_TRY(finish_end(&e, result, out, err));
	if (e.writer && !e.last) {
		result->output[dtx_outputs_file(g->plan, i)].open = e.writer;
		e.writer = NULL;
	}
out:
	if (e.writer)
		e.cls->close(e.writer);
	dtx_colsample_clear(&e.sample);
	dtx_table_unref(e.table);
	return rc;
}
