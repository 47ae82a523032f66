/* The reader of CSV, TSV and similar texts: its table of functions, and how workers share the
 * morsels. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/io/csv/csv.h"

static struct dtx_csv *csv_of(struct dtx_reader *r)
{
	return (struct dtx_csv *)r; /* head is the first member */
}

/* Any text is CSV if no other reader claims it. */
static int csv_sniff(const void *head, size_t len, const char *path)
{
	static const char *const suffixes[] = { ".csv", ".tsv", ".tab", ".psv", ".txt" };
	size_t i;

	for (i = 0; i < DTX_COUNT(suffixes); i++) {
		if (dtx_str_ends(dtx_str_of(path), dtx_str_of(suffixes[i])))
			return 30;
	}
	return len && memchr(head, '\0', len) ? 5 : 10;
}

static void csv_workers_free(struct dtx_csv *c)
{
	unsigned i;

	for (i = 0; i < c->nworkers; i++) {
		dtx_mem_free(c->worker[i].pos);
		dtx_mem_free(c->worker[i].cell);
		dtx_mem_free(c->worker[i].span);
	}
	dtx_mem_free(c->worker);
	dtx_mem_free(c->use);
	c->worker = NULL;
	c->use = NULL;
	c->nworkers = 0;
}

static void csv_close(struct dtx_reader *r)
{
	struct dtx_csv *c = csv_of(r);

	csv_workers_free(c);
	dtx_split_clear(&c->split);
	dtx_mem_free(c->even);
	dtx_mem_free(c->line0);
	dtx_csv_ref_free(c->ref);
	dtx_csv_shapes_free(c->shapes);
	dtx_mem_free(c->ref_start);
	dtx_mem_free(c->reject);
	dtx_encoding_clear(&c->enc);
	dtx_errlist_clear(&r->diags);
	dtx_arena_clear(&r->arena);
	pthread_mutex_destroy(&c->doubt);
	pthread_mutex_destroy(&c->finding);
	pthread_mutex_destroy(&c->lock);
	dtx_mem_free(c);
}

static enum dtx_code csv_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                              struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = dtx_mem_zalloc(1, sizeof(*c));

	if (!c)
		DTX_FAIL_MEM(err);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->doubt, NULL);
	pthread_mutex_init(&c->finding, NULL);
	c->head.cls = &dtx_read_csv;
	c->head.src = src;
	c->opts = *opts;
	c->chunk = opts->piece_bytes;
	c->fns = dtx_scan_pick(dtx_cpu_best());
	DTX_TRY(dtx_csv_prepare(c, err));
	c->head.origin = (struct dtx_origin){ .locate = dtx_csv_locate,
		                              .line = dtx_csv_line_of,
		                              .arg = c,
		                              .file = dtx_source_name(src),
		                              .alias = opts->alias,
		                              .physical_col = c->phys,
		                              .ncols = c->schema->nfields };
	*out = &c->head;
	c = NULL;
out:
	if (c)
		csv_close(&c->head);
	return rc;
}

static enum dtx_code csv_schema(struct dtx_reader *r, const struct dtx_schema **out,
                                struct dtx_err *err)
{
	(void)err;
	*out = csv_of(r)->schema;
	return DTX_OK;
}

/* --- start --- */

static enum dtx_code csv_choose(struct dtx_csv *c, const struct dtx_scan *scan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = c->schema->nfields, i;

	c->use = dtx_mem_zalloc(2 * (size_t)n, sizeof(*c->use));
	if (!c->use)
		DTX_FAIL_MEM(err);
	c->use_phys = c->use + n;
	c->nuse = 0;
	for (i = 0; scan->keep && i < n; i++) {
		if (scan->keep_need[i])
			c->use[c->nuse++] = i;
	}
	c->nkeep = c->nuse;
	for (i = 0; i < n; i++) {
		if (scan->need[i] != DTX_NEED_SKIP && !(scan->keep && scan->keep_need[i]))
			c->use[c->nuse++] = i;
	}
	for (i = 0; i < c->nuse; i++)
		c->use_phys[i] = c->phys[c->use[i]];
out:
	return rc;
}

static uint64_t csv_pieces(struct dtx_reader *r, uint64_t *bytes)
{
	const struct dtx_csv *c = csv_of(r);

	*bytes = c->chunk ? c->chunk : DTX_SPLIT_CHUNK;
	for (int i = 0; i < DTX_CSV_ODD_COUNT; i++)
		if (c->above.odd[i].n) /* notes about the header and about rows become one */
			return 0;
	return c->ref || c->shapes ? 0 : (c->text.end - c->body + *bytes - 1) / *bytes;
}

/* Prepares to read some of the morsels. What is above the header is counted with the first one. */
static enum dtx_code csv_slice(struct dtx_csv *c, struct dtx_scan_slice *slice, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t border;

	DTX_ASSERT(!c->ref && slice->first < slice->end && slice->end <= c->split.n, err);
	border = c->split.begin + slice->first * c->split.chunk;
	if (!slice->first)
		slice->begin = border;
	else if (slice->guessed)
		slice->begin = dtx_csv_row_seek(&c->text, border, false, c->text.end);
	DTX_ASSERT(slice->begin >= border && slice->begin <= c->text.end, err);
	slice->next = slice->begin;
	dtx_split_from(&c->split, slice->first, slice->begin);
	c->claimed = c->done = c->first = slice->first;
	c->end = slice->end;
	if (slice->first)
		memset(&c->total, 0, sizeof(c->total));
out:
	return rc;
}

static enum dtx_code csv_start(struct dtx_reader *r, const struct dtx_scan *scan,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = csv_of(r);
	unsigned i;

	csv_workers_free(c);
	c->scan = *scan;
	c->schema = scan->schema;
	c->batch_rows =
		scan->batch_rows ? DTX_MIN(scan->batch_rows, DTX_BATCH_ROWS) : DTX_BATCH_ROWS;
	c->claimed = c->done = c->first = 0;
	c->stop = c->closed = false;
	r->misfits = r->offsets = 0;
	c->nrejects = 0;
	c->total = c->above;
	memset(&r->stats, 0, sizeof(r->stats));
	DTX_TRY(csv_choose(c, scan, err));
	c->worker = dtx_mem_zalloc(scan->workers, sizeof(*c->worker));
	if (!c->worker)
		DTX_FAIL_MEM(err);
	c->nworkers = scan->workers;
	for (i = 0; i < c->nworkers; i++) {
		c->worker[i].cell = dtx_mem_alloc(c->width, sizeof(*c->worker[i].cell));
		c->worker[i].span = dtx_mem_alloc(c->nuse, sizeof(*c->worker[i].span));
		if (!c->worker[i].cell || !c->worker[i].span)
			DTX_FAIL_MEM(err);
	}
	if (!c->split.item && !c->ref) {
		DTX_TRY(dtx_split_init(&c->split, &c->text, c->fns, c->body, c->chunk, err));
		c->even = dtx_mem_zalloc(c->split.n + 1, sizeof(*c->even));
		c->line0 = dtx_mem_alloc(c->split.n + 1, sizeof(*c->line0));
		if (!c->even || !c->line0)
			DTX_FAIL_MEM(err);
	}
	c->ref_at = c->body;
	c->end = c->split.n;
	if (c->scan.slice)
		DTX_TRY(csv_slice(c, c->scan.slice, err));
	else if (c->split.first || c->split.entry != c->split.begin)
		dtx_split_from(&c->split, 0, c->split.begin);
	dtx_reader_progress(r, 0, c->ref ? c->text.end : c->end - c->first);
out:
	return rc;
}

enum dtx_code dtx_csv_tune(struct dtx_reader *r, size_t chunk, const struct dtx_scan_fns *fns,
                           struct dtx_err *err)
{
	struct dtx_csv *c = csv_of(r);

	(void)err;
	c->chunk = chunk;
	if (fns)
		c->fns = fns;
	return DTX_OK;
}

/* --- next --- */

void dtx_csv_odds(struct dtx_reader *r, struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT])
{
	const struct dtx_csv *c = csv_of(r);
	int i;

	for (i = 0; i < DTX_CSV_ODD_COUNT; i++) {
		struct dtx_err at = DTX_ERR_INIT;

		if (!c->total.odd[i].n)
			continue;
		dtx_csv_set_position(c, c->total.odd[i].first, &at);
		if (!odd[i].n || at.row < odd[i].line) {
			odd[i].line = at.row;
			odd[i].byte = at.byte;
		}
		odd[i].n += c->total.odd[i].n;
	}
}

/* The notes about what was read differently from what the text says. */
static const struct {
	const char *one, *many; /* used in a sentence after "1 " and after another number */
	const char *kind;       /* the word for programs */
	const char *hint;
} odd_texts[DTX_CSV_ODD_COUNT] = {
	[DTX_CSV_ODD_QUOTE] = { "quote inside a cell without quotes is taken as text",
	                        "quotes inside cells without quotes are taken as text",
	                        "quotes_kept", NULL },
	[DTX_CSV_ODD_CUT] = { "cell after the last column is cut off",
	                      "cells after the last column are cut off", "cells_cut", NULL },
	[DTX_CSV_ODD_REJECT] = { "row of another width is kept out (see the rejects)",
	                         "rows of another width are kept out (see the rejects)",
	                         "rows_kept_out", NULL },
	[DTX_CSV_ODD_SHORT] = { "short row is filled up with nulls",
	                        "short rows are filled up with nulls", "rows_filled", NULL },
	[DTX_CSV_ODD_WIDE] = { "row has more cells than the header has names: columns "
	                       "without a name hold them",
	                       "rows have more cells than the header has names: columns "
	                       "without a name hold them",
	                       "rows_wide", NULL },
	[DTX_CSV_ODD_EXTRA] = { "empty cell after the last column is ignored",
	                        "empty cells after the last column are ignored", "cells_ignored",
	                        NULL },
	[DTX_CSV_ODD_HEADER] = { "row that repeats the header, or a line above it, is left "
	                         "out",
	                         "rows that repeat the header, or a line above it, are "
	                         "left out",
	                         "rows_dropped", NULL },
	[DTX_CSV_ODD_COMMENT] = { "line is left out as a comment", "lines are left out as comments",
	                          "lines_dropped", NULL },
	[DTX_CSV_ODD_JOINED] = { "row has delimiters inside of a text or number: its cells "
	                         "are joined",
	                         "rows have delimiters inside of a text or number: their "
	                         "cells are joined",
	                         "cells_joined", NULL },
	[DTX_CSV_ODD_MOVED] = { "row lacks a delimiter or has one too many: its cells go "
	                        "to the columns that they look like",
	                        "rows lack a delimiter or have one too many: their cells "
	                        "go to the columns that they look like",
	                        "cells_moved", NULL },
	[DTX_CSV_ODD_GLUED] = { "row lacks a delimiter beside a quote: its cells are split "
	                        "there",
	                        "rows lack a delimiter beside a quote: their cells are "
	                        "split there",
	                        "cells_parted", NULL },
	[DTX_CSV_ODD_OTHER] = { "row is read with another delimiter or other quotes than "
	                        "the rest",
	                        "rows are read with another delimiter or other quotes "
	                        "than the rest",
	                        "rows_otherwise", NULL },
	[DTX_CSV_ODD_LINES] = { "row has quotes that close on a later line: the lines are "
	                        "one row",
	                        "rows have quotes that close on a later line: the lines "
	                        "are one row",
	                        "lines_joined", NULL },
	[DTX_CSV_ODD_STRAY] = { "row has quotes that close on a later line, although each "
	                        "line between looks like a row of its own",
	                        "rows have quotes that close on a later line, although "
	                        "each line between looks like a row of its own",
	                        "lines_joined",
	                        "if these are rows: \"quotes\": \"lenient\", or \"quote\": "
	                        "false, reads them" },
};

void dtx_csv_tell(struct dtx_reader *r, const char *alias,
                  const struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT])
{
	bool open;
	int i;

	for (i = 0; i < DTX_CSV_ODD_COUNT; i++) {
		struct dtx_buf more = DTX_BUF_INIT(1024);
		struct dtx_err w = DTX_ERR_INIT;

		if (!odd[i].n)
			continue;
		open = r->stats.stopped_early && i != DTX_CSV_ODD_REJECT;
		dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__, "'%s': %s%lld %s",
		            dtx_source_name(r->src), open ? "at least " : "", (long long)odd[i].n,
		            odd[i].n == 1 ? odd_texts[i].one : odd_texts[i].many);
		if (odd_texts[i].hint)
			dtx_err_hint(&w, "%s", odd_texts[i].hint);
		dtx_buf_printf(&more, "{\"kind\":\"%s\"}", odd_texts[i].kind);
		dtx_err_more(&w, dtx_buf_steal(&more));
		dtx_buf_clear(&more);
		w.severity = DTX_SEV_WARNING;
		w.count = odd[i].n;
		w.count_open = open;
		w.row = odd[i].line;
		w.byte = odd[i].byte;
		snprintf(w.cell, sizeof(w.cell), "L%lld", (long long)odd[i].line + 1);
		snprintf(w.input, sizeof(w.input), "%s", alias ? alias : "main");
		/* If there is no memory for a note, the list counts it as dropped. */
		(void)dtx_errlist_take(&r->diags, &w);
	}
}

/* Called once, when all claimed morsels are done. Hold the lock. */
static void csv_finish(struct dtx_csv *c)
{
	struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT] = { { .n = 0 } };
	struct dtx_read_stats *s = &c->head.stats;
	const struct dtx_csv_tally *t = &c->total;
	int i;

	if (c->closed)
		return;
	c->closed = true;
	*s = c->first ? (struct dtx_read_stats){ .rows_out = 0 } : c->before;
	s->rows_out = t->rows;
	s->dropped[DTX_DROP_BLANK] += t->blank;
	s->dropped[DTX_DROP_COMMENT] += t->comment;
	s->dropped[DTX_DROP_HEADER] += t->odd[DTX_CSV_ODD_HEADER].n;
	s->dropped[DTX_DROP_REJECT] += t->odd[DTX_CSV_ODD_REJECT].n;
	s->rows_read = t->records;
	for (i = 0; i < DTX_DROP_COUNT && !c->first; i++)
		s->rows_read += c->before.dropped[i];
	s->stopped_early = c->stop;
	c->nhead_diags = c->head.diags.n;
	if (dtx_source_is_part(c->head.src)) /* all parts of a stream add their notes together */
		return;
	dtx_csv_odds(&c->head, odd);
	dtx_csv_tell(&c->head, c->opts.alias, odd);
}

static void csv_add(struct dtx_csv_tally *to, const struct dtx_csv_tally *t)
{
	int i;

	to->records += t->records;
	to->rows += t->rows;
	to->kept += t->kept;
	to->blank += t->blank;
	to->comment += t->comment;
	for (i = 0; i < DTX_CSV_ODD_COUNT; i++)
		dtx_csv_odd(to, (enum dtx_csv_odd)i, t->odd[i].n, t->odd[i].first);
}

/* Takes back the notes of csv_finish and its counts. */
static void csv_unfinish(struct dtx_csv *c)
{
	struct dtx_errlist *diags = &c->head.diags;

	while (diags->n > c->nhead_diags)
		dtx_err_clear(&diags->item[--diags->n]);
	c->closed = false;
}

/* Removes rejected records after the last row of a limit: how many of those a worker met depends on
 * how much it reads at once. */
static void csv_cut(struct dtx_reader *r, uint64_t last)
{
	struct dtx_csv *c = csv_of(r);
	struct dtx_csv_tally *t = &c->total;
	struct dtx_place place = { -1, -1 };
	size_t kept = 0, i;

	if (last != DTX_NO_ROW)
		dtx_csv_locate(&c->head.origin, last, &place);
	for (i = 0; i < c->nrejects; i++)
		if ((int64_t)dtx_csv_byte(c, c->reject[i].start) < place.byte)
			c->reject[kept++] = c->reject[i];
	if (c->closed)
		csv_unfinish(c);
	for (i = 0; i < c->nworkers; i++)
		if (c->worker[i].active)
			csv_add(t, &c->worker[i].tally);
	t->records -= t->odd[DTX_CSV_ODD_REJECT].n - (int64_t)kept;
	t->odd[DTX_CSV_ODD_REJECT].n = (int64_t)kept;
	c->nrejects = kept;
	c->stop = true;
	csv_finish(c);
}

/* Gets the next morsel for a worker; false at the end of the input. */
static bool csv_claim(struct dtx_csv *c, struct dtx_csv_worker *w)
{
	bool got;

	pthread_mutex_lock(&c->lock);
	got = !c->stop && c->claimed < c->end;
	if (got)
		w->seq = c->claimed++;
	else if (c->done == c->claimed)
		csv_finish(c);
	pthread_mutex_unlock(&c->lock);
	if (!got)
		return false;
	dtx_split_get(&c->split, w->seq, &w->m);
	w->at = w->m.start;
	w->sub = w->rec = 0;
	memset(&w->tally, 0, sizeof(w->tally));
	w->active = true;
	return true;
}

static bool csv_at_end(const struct dtx_csv *c)
{
	return c->stop || (c->ref ? c->ref_at >= c->text.end : c->claimed == c->end);
}

/* Called when a morsel was read to its end. Those of libcsv were counted under the lock. */
static void csv_done(struct dtx_csv *c, const struct dtx_csv_worker *w, uint32_t kept)
{
	pthread_mutex_lock(&c->lock);
	if (c->ref)
		c->total.kept += kept;
	else
		csv_add(&c->total, &w->tally);
	if (!c->ref)
		dtx_csv_lines_note(c, w);
	if (c->scan.slice)
		c->scan.slice->next = DTX_MAX(c->scan.slice->next, w->at);
	c->done++;
	dtx_reader_progress(&c->head, c->ref ? c->ref_at : c->done - c->first,
	                    c->ref ? c->text.end : c->end - c->first);
	/* Morsels are claimed in order, and all claimed ones are delivered. So with this many rows
	 * done, the claimed morsels have the first `limit` rows. */
	if (c->scan.limit >= 0 && c->total.kept >= c->scan.limit && !csv_at_end(c))
		c->stop = true;
	if (c->done == c->claimed && csv_at_end(c))
		csv_finish(c);
	pthread_mutex_unlock(&c->lock);
}

/* Reads by libcsv: one worker at a time, and each batch is a morsel. */
static enum dtx_code csv_next_ref(struct dtx_csv *c, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	pthread_mutex_lock(&c->lock);
	if (csv_at_end(c)) {
		if (c->done == c->claimed)
			csv_finish(c);
		goto out;
	}
	if (!dtx_mem_reserve(&c->ref_start, &c->ref_cap, c->claimed + 1, sizeof(*c->ref_start)))
		DTX_FAIL_MEM(err);
	c->ref_start[c->claimed] = c->ref_at;
	rc = dtx_csv_ref_batch(c, &b, err);
	if (rc != DTX_OK && err)
		err->seq = (int64_t)c->claimed;
	DTX_TRY(rc);
	b->seq = c->claimed++;
	b->first_row = b->seq << 32;
	b->last = true;
	b->origin = &c->head.origin;
	*out = b;
out:
	pthread_mutex_unlock(&c->lock);
	return rc;
}

size_t dtx_csv_morsel_start(struct dtx_csv *c, uint64_t seq)
{
	size_t at;

	if (!c->ref)
		return dtx_split_start(&c->split, seq);
	pthread_mutex_lock(&c->lock);
	at = c->ref_start[seq];
	pthread_mutex_unlock(&c->lock);
	return at;
}

static enum dtx_code csv_next(struct dtx_reader *r, unsigned worker, struct dtx_batch **out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = csv_of(r);
	struct dtx_csv_worker *w = &c->worker[worker];
	struct dtx_batch *b = NULL;

	*out = NULL;
	if (c->ref) {
		DTX_TRY(csv_next_ref(c, &b, err));
		if (!b)
			goto out;
		DTX_TRY(dtx_csv_null_misfits(c, b, err));
		if (c->scan.keep && b->nrows)
			DTX_TRY(c->scan.keep(c->scan.keep_arg, b, err));
	} else {
		if (!w->active && !csv_claim(c, w))
			goto out;
		rc = dtx_csv_batch(c, w, &b, err);
		if (rc != DTX_OK && err)
			err->seq = (int64_t)(w->seq - c->first);
		DTX_TRY(rc);
		b->seq -= c->first;
	}
	if (b->last)
		csv_done(c, w, b->nsel);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

const char *dtx_csv_delimiter(const struct dtx_read_opts *opts)
{
	bool tabs = opts->format && !strcmp(opts->format, "tsv");

	return opts->delimiter ? opts->delimiter : tabs ? "\t" : NULL;
}

static bool csv_oddities(struct dtx_reader *r)
{
	const struct dtx_csv *c = csv_of(r);

	for (int i = 0; i < DTX_CSV_ODD_COUNT; i++)
		if (c->total.odd[i].n)
			return true;
	return false;
}

/* --- describe --- */

static json_t *csv_describe(struct dtx_reader *r)
{
	const struct dtx_csv *c = csv_of(r);
	char quote[2] = { c->dialect.quote, 0 }, escape[2] = { c->dialect.escape, 0 }, delimiter[8];
	json_t *o = json_object(), *d = json_object();
	bool ok = o && d;

	dtx_dialect_delimiter(&c->dialect, delimiter);
	ok = ok && dtx_json_set(d, "delimiter", json_string(delimiter)) &&
	     dtx_json_set(d, "quote", c->dialect.quote ? json_string(quote) : json_false()) &&
	     (!escape[0] || dtx_json_set(d, "escape", json_string(escape))) &&
	     (!c->dialect.trim || dtx_json_set(d, "trim", json_true())) &&
	     (c->dialect.score <= 0 || dtx_json_set(d, "score", json_real(c->dialect.score))) &&
	     (!c->dialect.runner_up[0] ||
	      dtx_json_set(d, "runner_up", json_string(c->dialect.runner_up)));
	ok = ok && dtx_json_set(o, "format", json_string("csv")) &&
	     dtx_json_set(o, "encoding", json_string(c->enc.name)) &&
	     dtx_json_set(o, "reader", json_string(c->ref ? "libcsv" : "scanner")) &&
	     dtx_json_set(o, "header_rows", json_integer(c->header_rows)) &&
	     dtx_json_set(o, "columns", json_integer(c->width)) &&
	     dtx_json_set(o, "dialect", json_incref(d));
	json_decref(d);
	if (!ok)
		json_decref(o);
	return ok ? o : NULL;
}

const struct dtx_reader_class dtx_read_csv = {
	.name = "csv",
	.formats = "csv,tsv",
	.suffixes = "csv,tsv,tab,psv",
	.what = "CSV",
	.streams = "csv,tsv",
	.uses = "dialect,repeated_header,reader,encoding,range,skip,skip_tail,names,ragged",
	.places = DTX_PLACES_LINES,
	.sniff = csv_sniff,
	.open = csv_open,
	.schema = csv_schema,
	.infer = dtx_csv_infer,
	.start = csv_start,
	.next = csv_next,
	.pieces = csv_pieces,
	.oddities = csv_oddities,
	.describe = csv_describe,
	.cut = csv_cut,
	.rejects = dtx_csv_rejects,
	.close = csv_close,
	.raw = dtx_csv_raw,
};
