/* Reads a stream slice by slice, each with the reader of its format. See stream_reader.h. */
#include "core/base/mem.h"
#include "core/io/columns.h"
#include "core/io/source/stream_reader_parts.h"

static struct dtx_stream_reader *stream_of(struct dtx_reader *r)
{
	return (struct dtx_stream_reader *)r; /* head is the first member */
}

static void stream_close(struct dtx_reader *r)
{
	struct dtx_stream_reader *s = stream_of(r);
	size_t i;

	for (i = 0; s->worker && i < s->scan.workers; i++)
		dtx_stream_chunk_unref(s->worker[i].now);
	for (i = 0; i < s->nkept; i++)
		dtx_stream_chunk_unref(s->kept[i]);
	for (i = 0; i < s->nrejects; i++)
		dtx_buf_clear(&s->reject[i].text);
	dtx_stream_chunk_free(s->first);
	json_decref(s->described);
	dtx_mem_free(s->reject);
	dtx_mem_free(s->worker);
	dtx_mem_free(s->kept);
	dtx_mem_free(s->seen);
	dtx_record_chunker_clear(&s->slices);
	dtx_errlist_clear(&r->diags);
	dtx_errlist_clear(&s->later);
	dtx_arena_clear(&r->arena);
	pthread_mutex_destroy(&s->pulling);
	pthread_mutex_destroy(&s->lock);
	dtx_mem_free(s);
}

static void stream_locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out)
{
	/* The casts away const are safe: what changes is protected by its own lock, as for CSV. */
	struct dtx_stream_reader *s = (struct dtx_stream_reader *)(uintptr_t)o->arg;
	uint64_t seq = row_id >> DTX_STREAM_READER_SHIFT;
	struct dtx_stream_chunk *p;

	*out = (struct dtx_place){ .row = -1, .byte = -1 };
	pthread_mutex_lock(&s->lock);
	p = s->nkept ? s->kept[seq % s->nkept] : NULL;
	if (p && p->seq == seq) {
		const struct dtx_origin *own = &p->reader->origin;

		own->locate(own, row_id & (((uint64_t)1 << DTX_STREAM_READER_SHIFT) - 1), out);
	}
	pthread_mutex_unlock(&s->lock);
}

static enum dtx_code stream_schema(struct dtx_reader *r, const struct dtx_schema **out,
                                   struct dtx_err *err)
{
	(void)err;
	*out = stream_of(r)->schema;
	return DTX_OK;
}

/* --- start --- */

/* Refuses columns whose type would have to be guessed: a wrong guess cannot be corrected once
 * the rows are gone. */
static enum dtx_code all_declared(const struct dtx_stream_reader *s, const struct dtx_scan *scan,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t i, n = 0;

	for (i = 0; i < s->schema->nfields; i++) {
		if (scan->need[i] == DTX_NEED_SKIP || s->schema->field[i].declared)
			continue;
		if (n++ < 10)
			dtx_buf_printf(&names, "%s'%.60s'", n > 1 ? ", " : "",
			               s->schema->field[i].name);
	}
	if (n) {
		dtx_err_set(err, DTX_E_MISSING_PARAM, __FILE__, __LINE__,
		            "a stream needs the type of each column that is used: input '%s' "
		            "lacks those of %u: %.200s",
		            s->head.origin.alias, n, dtx_buf_text(&names));
		dtx_err_hint(err, "name them in \"types\" (text takes everything), or leave them "
		                  "out with \"extra\": \"drop\"");
		rc = DTX_E_MISSING_PARAM;
	}
	dtx_buf_clear(&names);
	return rc;
}

static enum dtx_code stream_start(struct dtx_reader *r, const struct dtx_scan *scan,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_reader *s = stream_of(r);

	if (s->started) {
		dtx_err_set(err, DTX_E_PARAM_CONFLICT, __FILE__, __LINE__,
		            "input '%s' is a stream, which passes once, and would be read again",
		            r->origin.alias);
		dtx_err_hint(err, "without \"stream\" the pipe is kept in memory or a temp file");
		return DTX_E_PARAM_CONFLICT;
	}
	DTX_TRY(all_declared(s, scan, err));
	s->started = r->spent = true;
	s->scan = *scan;
	s->schema = scan->schema;
	s->kept = dtx_mem_zalloc((size_t)DTX_STREAM_READER_KEPT * scan->workers,
	                         sizeof(struct dtx_stream_chunk *));
	s->worker = dtx_mem_zalloc(scan->workers, sizeof(*s->worker));
	if (!s->kept || !s->worker)
		DTX_FAIL_MEM(err);
	s->nkept = (size_t)DTX_STREAM_READER_KEPT * scan->workers;
out:
	return rc;
}

/* --- next --- */

static bool stopped(struct dtx_stream_reader *s)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

/* Gets the next slice of the input; NULL at the end, or if no more is wanted. */
static enum dtx_code pull_slice(struct dtx_stream_reader *s, struct dtx_stream_chunk **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	uint64_t seq = 0;

	pthread_mutex_lock(&s->pulling);
	*out = s->first;
	s->first = NULL;
	if (!*out && !stopped(s))
		rc = dtx_record_chunker_next(&s->slices, &src, err);
	if (*out || src)
		seq = s->claimed++;
	pthread_mutex_unlock(&s->pulling);
	if (src)
		rc = dtx_stream_chunk_open(s, src, seq, &s->opts, out, err);
	return rc;
}

/* Keeps the slice, so that places of its rows can be found, instead of one whose rows are gone. */
static void keep(struct dtx_stream_reader *s, struct dtx_stream_reader_worker *w,
                 struct dtx_stream_chunk *p)
{
	struct dtx_stream_chunk **slot = &s->kept[p->seq % s->nkept];

	pthread_mutex_lock(&s->lock);
	dtx_stream_chunk_unref(*slot);
	*slot = p;
	p->refs++;
	w->now = p;
	w->sub = 0;
	pthread_mutex_unlock(&s->lock);
}

static enum dtx_code add_rejects(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t all = s->head.stats.dropped[DTX_DROP_REJECT];
	struct dtx_stream_reader_reject *to;

	if (!p->reader->stats.dropped[DTX_DROP_REJECT] || !p->reader->cls->rejects)
		goto out;
	if (all > s->opts.max_rejects) {
		dtx_err_set(err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__,
		            "'%s': more than %lld rows have another width",
		            dtx_source_name(s->head.src), (long long)s->opts.max_rejects);
		dtx_err_hint(err, "\"max_rejects\" allows more");
		rc = DTX_E_RAGGED_ROWS;
		goto out;
	}
	if (!dtx_mem_reserve(&s->reject, &s->rejects_cap, s->nrejects + 1, sizeof(*to)))
		DTX_FAIL_MEM(err);
	to = &s->reject[s->nrejects++];
	to->seq = p->seq;
	dtx_buf_init(&to->text, DTX_RECORD_CHUNKER_MOST);
	DTX_TRY(p->reader->cls->rejects(p->reader, &to->text, err));
out:
	return rc;
}

static bool is_said(const struct dtx_errlist *list, const struct dtx_err *note)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->item[i].code == note->code && !strcmp(list->item[i].msg, note->msg))
			return true;
	}
	return false;
}

/* Adds the diagnostics of a slice. Notes of later slices about their header repeat those of the
 * first slice, perhaps before it. */
static enum dtx_code add_diags(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool later = p->seq && dtx_stream_reader_is_csv(s);
	struct dtx_errlist *from = &p->reader->diags, *to = later ? &s->later : &s->head.diags;
	size_t i;

	for (i = 0; i < from->n; i++) {
		if (!(later && is_said(to, &from->item[i])) &&
		    !dtx_errlist_take(to, &from->item[i]))
			DTX_FAIL_MEM(err);
	}
	to->dropped += from->dropped;
out:
	return rc;
}

static enum dtx_code tell_later(struct dtx_stream_reader *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < s->later.n; i++) {
		if (!is_said(&s->head.diags, &s->later.item[i]) &&
		    !dtx_errlist_take(&s->head.diags, &s->later.item[i]))
			DTX_FAIL_MEM(err);
	}
	s->head.diags.dropped += s->later.dropped;
out:
	return rc;
}

static void add_stats(struct dtx_stream_reader *s, const struct dtx_stream_chunk *p)
{
	struct dtx_read_stats *to = &s->head.stats;
	const struct dtx_read_stats *from = &p->reader->stats;
	int64_t again = p->seq && dtx_stream_reader_is_csv(s) ? s->head_rows : 0;
	size_t i;

	for (i = 0; i < DTX_DROP_COUNT; i++)
		to->dropped[i] += from->dropped[i];
	to->dropped[DTX_DROP_HEADER] -= again;
	to->rows_read += from->rows_read - again;
	to->rows_out += from->rows_out;
}

/* Called when all rows of the slice have been handed over. */
static enum dtx_code slice_done(struct dtx_stream_reader *s, struct dtx_stream_reader_worker *w,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_chunk *p = w->now;
	struct dtx_cast_found found = { 0 };
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	w->now = NULL;
	s->done++;
	add_stats(s, p);
	for (i = 0; i < s->schema->nfields; i++)
		s->seen[i] |= p->from[i] != UINT32_MAX;
	if (dtx_stream_reader_is_csv(s))
		dtx_csv_odds(p->reader, s->odd);
	/* These counts are read when all workers are done. */
	found.misfits = atomic_load_explicit(&p->reader->misfits, memory_order_relaxed);
	found.offsets = atomic_load_explicit(&p->reader->offsets, memory_order_relaxed);
	dtx_columns_count(&s->head, &found);
	rc = add_rejects(s, p, err);
	if (rc == DTX_OK)
		rc = add_diags(s, p, err);
	dtx_stream_chunk_unref(p);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Called once, after the last slice, with the lock held. */
static enum dtx_code finish(struct dtx_stream_reader *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	s->closed = true;
	s->head.stats.stopped_early = s->stop;
	if (s->stop && !dtx_json_set(s->described, "partial", json_true()))
		DTX_FAIL_MEM(err);
	DTX_TRY(tell_later(s, err));
	if (dtx_stream_reader_is_csv(s))
		dtx_csv_tell(&s->head, s->head.origin.alias, s->odd);
	if (!s->claimed)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' is empty", dtx_source_name(s->head.src));
	for (i = 0; i < s->schema->nfields && !s->stop; i++) {
		if (!s->seen[i])
			DTX_FAIL(err, DTX_E_MISSING_COLUMN, "'%s': no record has '%.100s'",
			         dtx_source_name(s->head.src), s->schema->field[i].name);
	}
out:
	return rc;
}

static enum dtx_code stream_end(struct dtx_stream_reader *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool last;

	pthread_mutex_lock(&s->pulling);
	pthread_mutex_lock(&s->lock);
	last = s->done == s->claimed && !s->closed;
	if (last)
		rc = finish(s, err);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->pulling);
	return rc;
}

/* Gets the next rows of the worker's slice. After the last ones, an empty batch marks the end. */
static enum dtx_code next_rows(struct dtx_stream_reader *s, struct dtx_stream_reader_worker *w,
                               struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_chunk *p = w->now;
	uint64_t seq = p->seq;
	struct dtx_batch *own = NULL, *b = NULL;

	DTX_TRY(p->reader->cls->next(p->reader, 0, &own, err));
	if (own) {
		DTX_TRY(dtx_stream_chunk_shape(s, p, &own, &b, err));
	} else {
		DTX_TRY(slice_done(s, w, err));
		DTX_TRY(dtx_batch_new(s->schema, 0, &b, err));
		b->last = true;
	}
	b->seq = seq;
	b->sub = w->sub++;
	b->first_row |= seq << DTX_STREAM_READER_SHIFT;
	b->origin = &s->head.origin;
	if (s->scan.keep && b->nrows)
		DTX_TRY(s->scan.keep(s->scan.keep_arg, b, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* Slices are claimed in order, so the claimed ones contain the first rows. */
static void count_kept(struct dtx_stream_reader *s, const struct dtx_batch *b)
{
	pthread_mutex_lock(&s->lock);
	s->nkept_rows += b->nsel;
	if (s->scan.limit >= 0 && s->nkept_rows >= s->scan.limit)
		s->stop = true;
	if (s->stop)
		dtx_source_stop(s->head.src);
	pthread_mutex_unlock(&s->lock);
}

static enum dtx_code stream_next(struct dtx_reader *r, unsigned worker, struct dtx_batch **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_reader *s = stream_of(r);
	struct dtx_stream_reader_worker *w = &s->worker[worker];
	struct dtx_stream_chunk *p = NULL;

	*out = NULL;
	if (!w->now) {
		DTX_TRY(pull_slice(s, &p, err));
		if (!p) {
			rc = stream_end(s, err);
			goto out;
		}
		keep(s, w, p);
		DTX_TRY(dtx_stream_chunk_start(s, p, err));
	}
	DTX_TRY(next_rows(s, w, out, err));
	count_kept(s, *out);
out:
	if (rc != DTX_OK && err && !err->input[0])
		dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(r->origin.alias));
	return rc;
}

/* --- descriptions --- */

static json_t *stream_describe(struct dtx_reader *r)
{
	return json_incref(stream_of(r)->described);
}

static int by_seq(const void *a, const void *b)
{
	const struct dtx_stream_reader_reject *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static enum dtx_code stream_rejects(struct dtx_reader *r, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_reader *s = stream_of(r);
	size_t i;

	if (s->nrejects)
		qsort(s->reject, s->nrejects, sizeof(*s->reject), by_seq);
	for (i = 0; i < s->nrejects; i++)
		dtx_buf_addn(out, s->reject[i].text.ptr, s->reject[i].text.len);
	DTX_TRY(dtx_buf_check(out, "the rejects", err));
out:
	return rc;
}

/* Not in the list of readers that are offered an input, because the kind of source decides. */
static const struct dtx_reader_class stream_class = {
	.name = "stream",
	.schema = stream_schema,
	.start = stream_start,
	.next = stream_next,
	.describe = stream_describe,
	.rejects = stream_rejects,
	.close = stream_close,
};

enum dtx_code dtx_stream_reader_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                     struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_reader *s = NULL;

	DTX_TRY(dtx_stream_reader_check(opts, NULL, err));
	s = dtx_mem_zalloc(1, sizeof(*s));
	if (!s)
		DTX_FAIL_MEM(err);
	pthread_mutex_init(&s->pulling, NULL);
	pthread_mutex_init(&s->lock, NULL);
	s->head.cls = &stream_class;
	s->head.src = src;
	s->head.origin.locate = stream_locate;
	s->head.origin.arg = s;
	DTX_TRY(dtx_stream_reader_columns(s, opts, err));
	*out = &s->head;
	s = NULL;
out:
	if (s)
		stream_close(&s->head);
	return rc;
}
