/* The reader of workbooks: opens the sheet, finds its layout, and hands over slices of the grid
 * as CELL columns. */
#include "core/io/sheet/book_reader.h"

#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/io/sheet/book_stream.h"
#include "core/io/columns.h"

enum { BATCH_CELLS_MAX = 4 << 20, BATCH_ROWS_MIN = 256 };
enum { CELL_SHARE = 256 }; /* of a small --memory: a cell of a batch for so many bytes */

/* What columns point into; it lives as long as the last of them. */
struct book_data {
	struct dtx_book *book;
	struct dtx_grid grid;
	struct dtx_strings strings;
	struct dtx_str *all; /* shared and inline texts; NULL if there is only one of these kinds */
};
struct book_reader {
	struct dtx_reader head;
	const struct dtx_book_class *cls;
	struct book_data *data;
	struct dtx_owner *owner; /* of data */
	struct dtx_sheet_facts facts;
	struct dtx_read_opts opts;
	struct dtx_sheet_layout layout;
	struct dtx_sheet_tail tail;
	struct dtx_schema schema;
	struct dtx_scan scan;
	uint32_t batch_rows;
	pthread_mutex_t lock;          /* for what follows, and head.stats */
	struct dtx_book_stream stream; /* used if the layout has a tail */
	uint32_t next_batch;
	int64_t kept; /* rows that passed the pushed filter */
};
/* The rows of one batch: some of the live rows of a grid. */
struct slice {
	const struct dtx_grid *grid;
	const struct dtx_row_cache *row_cache; /* the cells are there; NULL: in the grid */
	const uint32_t *live;
	uint32_t seq, n;
	struct dtx_book_window *window; /* returned when the batch is complete */
};

static void data_free(void *arg)
{
	struct book_data *d = arg;

	dtx_grid_clear(&d->grid);
	dtx_book_close(d->book);
	dtx_mem_free(d->all);
	dtx_mem_free(d);
}

/* --- opening --- */

void dtx_book_reader_close(struct dtx_reader *reader)
{
	struct book_reader *r = (struct book_reader *)reader;

	dtx_book_stream_clear(&r->stream);
	dtx_sheet_tail_clear(&r->tail);
	dtx_sheet_layout_clear(&r->layout);
	dtx_sheet_facts_clear(&r->facts);
	dtx_owner_unref(r->owner);
	dtx_errlist_clear(&r->head.diags);
	dtx_arena_clear(&r->head.arena);
	pthread_mutex_destroy(&r->lock);
	dtx_mem_free(r);
}

static void locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out)
{
	(void)o;
	*out = (struct dtx_place){ (int64_t)row_id, -1 };
}

/* Makes one array of all texts, shared ones first. */
static enum dtx_code join_strings(struct book_data *d, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_book_strings *s = &d->book->strings;
	size_t ntexts = d->grid.texts.n, n = s->n + ntexts, i;

	d->strings = (struct dtx_strings){ s->item, n, d->book->epoch1904 };
	if (!ntexts)
		goto out;
	d->all = dtx_mem_alloc(n, sizeof(*d->all));
	if (!d->all)
		DTX_FAIL_MEM(err);
	if (s->n)
		memcpy(d->all, s->item, s->n * sizeof(*d->all));
	for (i = 0; i < ntexts; i++)
		d->all[s->n + i] = dtx_grid_text(&d->grid, i);
	d->strings.item = d->all;
out:
	return rc;
}

static enum dtx_code set_origin(struct book_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_origin *o = &r->head.origin;
	struct dtx_arena *a = &r->head.arena;

	o->locate = locate;
	o->arg = r;
	o->file = dtx_source_name(r->head.src);
	o->alias = dtx_arena_strdup(a, r->opts.alias ? r->opts.alias : "main");
	o->sheet = dtx_arena_strdup(a, r->layout.sheet->name);
	o->physical_col = r->layout.col;
	o->ncols = r->layout.ncols;
	if (!o->alias || !o->sheet)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Adds a note about tables of the sheet, unless one is exactly what is read. */
static enum dtx_code note_tables(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_read_opts *o = l->opts;
	const struct dtx_book *b = l->book;
	char name[48];
	uint32_t i;

	if (!l->facts->ntables || o->table || o->range || o->header_rows >= 0)
		goto out;
	DTX_TRY(dtx_book_tables_need(l->book, err));
	for (i = 0; i < b->ntables; i++) {
		const struct dtx_book_table *t = &b->table[i];

		if (&b->sheet[t->sheet] != l->sheet ||
		    (t->range.row0 == l->head.first && t->range.row1 == l->window.row1))
			continue;
		dtx_cell_range_name(name, &t->range);
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, 1, err,
		                       "the sheet has a table at %s: \"table\": \"%.60s\" reads "
		                       "that alone",
		                       name, t->name));
	}
out:
	return rc;
}

static enum dtx_code read_sheet(struct book_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct book_data *d = r->data;
	struct dtx_source *src = r->head.src;
	struct dtx_sheet_layout *l = &r->layout;

	DTX_TRY(r->cls->open(dtx_source_name(src), dtx_source_data(src), dtx_source_size(src),
	                     dtx_source_limits(src), &d->book, err));
	l->book = d->book;
	l->grid = &d->grid;
	l->facts = &r->facts;
	l->opts = &r->opts;
	l->arena = &r->head.arena;
	l->diags = &r->head.diags;
	DTX_TRY(dtx_sheet_choose(d->book, &r->opts, l->arena, l->diags, &l->pick, err));
	l->sheet = l->pick.sheet;
	if (d->book->lead)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_READER_NOTE, l->sheet, 1, err,
			"the workbook begins after %llu byte%s that do not belong to it",
			(unsigned long long)d->book->lead, d->book->lead == 1 ? "" : "s"));
	if (r->opts.header_rows < 0 && l->pick.header_rows >= 0)
		r->opts.header_rows = l->pick.header_rows;
	DTX_TRY(dtx_sheet_scan(l, &r->facts, &r->tail, err));
	DTX_TRY(dtx_sheet_layout_make(l, err));
	DTX_TRY(note_tables(l, err));
	DTX_TRY(join_strings(d, err));
	r->schema = (struct dtx_schema){ .nfields = l->ncols, .field = l->field };
	DTX_TRY(set_origin(r, err));
out:
	return rc;
}

enum dtx_code dtx_book_reader_open(const struct dtx_book_class *cls, struct dtx_source *src,
                                   const struct dtx_read_opts *opts, struct dtx_reader **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct book_reader *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.src = src;
	r->cls = cls;
	r->opts = *opts;
	pthread_mutex_init(&r->lock, NULL);
	r->data = dtx_mem_zalloc(1, sizeof(*r->data));
	if (!r->data)
		DTX_FAIL_MEM(err);
	dtx_grid_init(&r->data->grid, dtx_source_name(src));
	r->data->grid.limits = *dtx_source_limits(src);
	r->owner = dtx_owner_new(data_free, r->data);
	if (!r->owner) {
		dtx_mem_free(r->data);
		DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_book_broken(read_sheet(r, err), dtx_source_name(src), err));
	*out = &r->head;
	r = NULL;
out:
	if (r)
		dtx_book_reader_close(&r->head);
	return rc;
}

enum dtx_code dtx_book_reader_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                     struct dtx_err *err)
{
	(void)err;
	*out = &((struct book_reader *)reader)->schema;
	return DTX_OK;
}

enum dtx_code dtx_book_reader_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                    struct dtx_err *err)
{
	struct book_reader *r = (struct book_reader *)reader;
	uint32_t i, wanted = 1, rows = scan->batch_rows ? scan->batch_rows : DTX_BATCH_ROWS, cells;

	r->scan = *scan;
	for (i = 0; i < r->schema.nfields; i++)
		wanted += scan->need[i] != DTX_NEED_SKIP;
	/* Wide sheets get short batches, because a batch is dense even if the sheet is not.
	 * Large sheets do, too, so that memory does not grow with their rows. */
	cells = r->layout.tail ? DTX_BOOK_STREAM_CELLS
	                       : (uint32_t)dtx_mem_share(BATCH_CELLS_MAX, CELL_SHARE);
	r->batch_rows = DTX_MIN(rows, DTX_MAX(cells / wanted, (uint32_t)BATCH_ROWS_MIN));
	r->next_batch = 0;
	r->kept = 0;
	reader->stats = (struct dtx_read_stats){ 0 };
	reader->misfits = reader->offsets = 0;
	if (!r->layout.nrows) {
		reader->stats.rows_read = r->layout.rows;
		memcpy(reader->stats.dropped, r->layout.dropped, sizeof(r->layout.dropped));
	}
	return r->layout.tail ? dtx_book_stream_start(&r->stream, &r->layout, err) : DTX_OK;
}

/* --- batches --- */

/* The memory of one CELL column; keeps the strings alive. */
struct cell_block {
	struct dtx_owner *data;
	union dtx_payload *value;
	uint8_t *tag;
};

static void cell_block_free(void *arg)
{
	struct cell_block *b = arg;

	dtx_owner_unref(b->data);
	dtx_mem_free(b->value);
	dtx_mem_free(b->tag);
	dtx_mem_free(b);
}

static enum dtx_code cell_column(struct book_reader *r, uint32_t field, uint32_t n,
                                 struct dtx_column **out, struct cell_block **block,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cell_block *b = dtx_mem_zalloc(1, sizeof(*b));
	struct dtx_owner *owner = NULL;
	struct dtx_column *c;

	if (!b)
		DTX_FAIL_MEM(err);
	b->value = dtx_mem_alloc64(n, sizeof(*b->value));
	b->tag = dtx_mem_zalloc(n, 1);
	if (b->value && b->tag)
		owner = dtx_owner_new(cell_block_free, b);
	if (!owner) {
		cell_block_free(b);
		DTX_FAIL_MEM(err);
	}
	b->data = dtx_owner_ref(r->owner);
	c = dtx_column_new(DTX_F_CELL, r->scan.schema->field[field].type, n, owner);
	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.payload = b->value;
	c->tag = b->tag;
	c->strings = &r->data->strings;
	*out = c;
	*block = b;
out:
	return rc;
}

/* Stores a cell in row k of the batch. */
static inline void fill_cell(const struct dtx_sheet_layout *l, const struct cell_block *to,
                             uint32_t k, uint8_t tag, union dtx_payload v)
{
	unsigned kind = tag & DTX_CELL_KIND;

	if (dtx_sheet_cell_null(l, tag, v) && kind != DTX_CELL_ERROR) {
		bool bad = kind == DTX_GRID_BAD_DATE ||
		           (kind == DTX_CELL_BLANK && tag & DTX_CELL_UNCACHED);

		tag = (uint8_t)((tag & DTX_CELL_FORMULA) | DTX_CELL_BLANK |
		                (bad ? DTX_CELL_UNCACHED : 0));
	} else if (kind == DTX_CELL_TEXT && (v.id & DTX_GRID_INLINE)) {
		v.id = (v.id & ~DTX_GRID_INLINE) + l->book->strings.n;
	}
	to->value[k] = v;
	to->tag[k] = tag;
}

/* Converts numbers stored in one, two or four bytes. */
static void widen_numbers(const struct dtx_row_cache_col *c, uint32_t from, uint32_t n,
                          union dtx_payload *to)
{
	uint32_t k;

	for (k = 0; k < n; k++)
		to[k].num = (int32_t)dtx_row_cache_small(c, from + k);
}

/* Fills rows [from, from + n) of a column whose cells are all of one kind that has no null
 * values. */
static bool fill_alike(const struct dtx_sheet_layout *l, const struct dtx_row_cache_col *c,
                       uint32_t from, uint32_t n, const struct cell_block *to)
{
	unsigned kind = c->tag & DTX_CELL_KIND;
	bool number = kind == DTX_CELL_NUMBER ? !l->nnull_numbers
	                                      : kind >= DTX_CELL_DATE && kind <= DTX_CELL_DURATION;

	if (c->tags || !number)
		return false;
	memset(to->tag, c->tag, n);
	if (c->size == 3)
		memcpy(to->value, c->values + from * sizeof(*to->value), n * sizeof(*to->value));
	else
		widen_numbers(c, from, n, to->value);
	return true;
}

static void fill_from_tape(const struct dtx_sheet_layout *l, const struct slice *s,
                           struct cell_block *const *block)
{
	const struct dtx_grid_row *row = s->grid->row;
	uint32_t from = (uint32_t)row[s->live[0]].first, k;
	bool all = row[s->live[s->n - 1]].first - from == s->n - 1;
	struct dtx_row_cache_col c = { 0 };

	while (dtx_row_cache_next(s->row_cache, s->window->block, &c)) {
		int32_t i = l->index[c.col];
		struct cell_block *to = i < 0 ? NULL : block[i];

		if (!to || (all && fill_alike(l, &c, from, s->n, to)))
			continue;
		for (k = 0; k < s->n; k++) {
			uint32_t at = (uint32_t)row[s->live[k]].first;

			fill_cell(l, to, k, dtx_row_cache_tag(&c, at), dtx_row_cache_value(&c, at));
		}
	}
}

static void fill_cells(const struct dtx_sheet_layout *l, const struct slice *s,
                       struct cell_block *const *block)
{
	const struct dtx_grid *g = s->grid;
	uint32_t k;
	uint64_t i;

	for (k = 0; k < s->n; k++) {
		const struct dtx_grid_row *row = &g->row[s->live[k]];

		for (i = row[0].first; i < row[1].first; i++) {
			int32_t c = l->index[dtx_grid_col(g, i)];

			if (c >= 0 && block[c])
				fill_cell(l, block[c], k, dtx_grid_tag(g, i), dtx_grid_value(g, i));
		}
	}
}

/* The first of the rows at or below a physical row. */
static uint32_t live_from(const struct slice *s, uint32_t row)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->grid->row[s->live[mid]].row < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void flag_merge(const struct dtx_sheet_layout *l, const struct dtx_cellrange *m,
                       const struct slice *s, struct cell_block *const *block)
{
	uint32_t k, c;

	for (k = live_from(s, m->row0); k < s->n; k++) {
		uint32_t row = s->grid->row[s->live[k]].row;

		if (row > m->row1)
			break;
		for (c = m->col0; c <= m->col1; c++) {
			int32_t i = l->index[c];
			uint8_t *tag = i >= 0 && block[i] ? &block[i]->tag[k] : NULL;

			if (!tag || (*tag & DTX_CELL_KIND) != DTX_CELL_BLANK)
				continue;
			if (row > m->row0)
				*tag |= DTX_CELL_MERGE_UP;
			if (c > m->col0)
				*tag |= DTX_CELL_MERGE_LEFT;
		}
	}
}

static void flag_merges(const struct book_reader *r, const struct slice *s,
                        struct cell_block *const *block)
{
	const struct dtx_sheet_layout *l = &r->layout;
	uint32_t first = s->grid->row[s->live[0]].row;
	uint32_t last = s->grid->row[s->live[s->n - 1]].row;
	size_t i;

	for (i = 0; i < l->grid->nmerges && l->grid->merge[i].row0 <= last; i++) {
		if (l->grid->merge[i].row1 >= first)
			flag_merge(l, &l->grid->merge[i], s, block);
	}
}

/* Makes the columns that `pick` (per column) asks for, unless they exist. */
static enum dtx_code make_columns(struct book_reader *r, struct dtx_batch *b, const struct slice *s,
                                  const uint8_t *pick, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cell_block **block = dtx_mem_zalloc(b->ncols, sizeof(*block));
	uint32_t i;

	if (!block)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		if (pick[i] && !b->col[i])
			DTX_TRY(cell_column(r, i, b->nrows, &b->col[i], &block[i], err));
	}
	if (s->row_cache)
		fill_from_tape(&r->layout, s, block);
	else
		fill_cells(&r->layout, s, block);
	if (r->layout.grid->nmerges)
		flag_merges(r, s, block);
	for (i = 0; i < b->ncols; i++) {
		if (block[i] && r->scan.need[i] == DTX_NEED_VALUE)
			DTX_TRY(dtx_columns_cast(&r->head, &r->opts, b, i, NULL, err));
	}
out:
	dtx_mem_free(block);
	return rc;
}

/* Sets the row ids, which are physical rows: consecutive, or listed. */
static enum dtx_code number_rows(const struct book_reader *r, struct dtx_batch *b,
                                 const struct slice *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t first = s->grid->row[s->live[0]].row, i;
	uint64_t *rec;

	b->origin = &r->head.origin;
	b->first_row = first;
	if (s->grid->row[s->live[s->n - 1]].row - first == s->n - 1)
		goto out;
	rec = dtx_mem_alloc(s->n, sizeof(*rec));
	if (!rec)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->n; i++)
		rec[i] = s->grid->row[s->live[i]].row;
	b->rec_owner = dtx_owner_take(rec);
	if (!b->rec_owner)
		DTX_FAIL_MEM(err);
	b->rec = rec;
out:
	return rc;
}

/* Computes the ledger up to and including a physical row: `out` rows were handed over and
 * `hidden` ones dropped so far. */
static void count_rows(struct book_reader *r, uint32_t last, int64_t out, int64_t hidden)
{
	const struct dtx_sheet_layout *l = &r->layout;
	struct dtx_read_stats *s = &r->head.stats;
	int i;

	memcpy(s->dropped, l->dropped, sizeof(s->dropped));
	s->rows_out = out;
	s->rows_read = l->rows;
	s->stopped_early = out < l->nrows;
	if (!s->stopped_early)
		return;
	/* rows that `skip` cut off come before the window */
	s->rows_read = (int64_t)last + 1 - l->window.row0 + l->dropped[DTX_DROP_SKIP];
	s->dropped[DTX_DROP_SKIP_TAIL] = 0;
	s->dropped[DTX_DROP_HIDDEN] = hidden;
	s->dropped[DTX_DROP_BLANK] = s->rows_read - s->rows_out;
	for (i = 0; i < DTX_DROP_COUNT; i++) {
		if (i != DTX_DROP_BLANK)
			s->dropped[DTX_DROP_BLANK] -= s->dropped[i];
	}
}

/* Takes the next rows of a grid that holds the whole sheet. */
static void claim_held(struct book_reader *r, struct slice *s)
{
	const struct dtx_sheet_layout *l = &r->layout;
	uint32_t from = (uint32_t)DTX_MIN((uint64_t)s->seq * r->batch_rows, (uint64_t)l->nlive);
	uint32_t end;

	s->grid = l->grid;
	s->live = l->live + from;
	s->n = DTX_MIN(l->nlive - from, r->batch_rows);
	end = from + s->n;
	dtx_reader_progress(&r->head, end, l->nlive);
	if (s->n)
		count_rows(r, l->grid->row[l->live[end - 1]].row, end,
		           l->hidden_before ? l->hidden_before[end - 1] : 0);
}

static enum dtx_code claim_streamed(struct book_reader *r, struct slice *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book_stream *st = &r->stream;

	DTX_TRY(dtx_book_stream_next(st, r->batch_rows, &s->window, err));
	if (!s->window)
		goto out;
	s->grid = &s->window->grid;
	s->row_cache = dtx_book_stream_taped(&r->layout) ? &r->layout.tail->row_cache : NULL;
	s->live = s->window->live;
	s->n = s->window->nlive;
	count_rows(r, st->last, st->nlive, st->nhidden);
out:
	return rc;
}

/* Takes the next rows; none at the end. */
static enum dtx_code claim(struct book_reader *r, struct slice *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pthread_mutex_lock(&r->lock);
	*s = (struct slice){ .seq = r->next_batch };
	if (r->scan.limit >= 0 && r->kept >= r->scan.limit)
		goto out;
	if (!r->layout.tail || dtx_book_stream_taped(&r->layout))
		claim_held(r, s);
	if (r->layout.tail && !s->n)
		DTX_TRY(claim_streamed(r, s, err));
	r->next_batch += s->n > 0;
out:
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* Returns the window, whose rows are now in columns. */
static void release(struct book_reader *r, struct slice *s)
{
	if (!s->window)
		return;
	pthread_mutex_lock(&r->lock);
	dtx_book_stream_give(&r->stream, s->window);
	pthread_mutex_unlock(&r->lock);
}

static void note_kept(struct book_reader *r, uint32_t rows)
{
	pthread_mutex_lock(&r->lock);
	r->kept += rows;
	pthread_mutex_unlock(&r->lock);
}

enum dtx_code dtx_book_reader_next(struct dtx_reader *reader, unsigned worker,
                                   struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct book_reader *r = (struct book_reader *)reader;
	struct dtx_batch *b = NULL;
	struct slice s = { .n = 0 };

	(void)worker;
	*out = NULL;
	DTX_TRY(dtx_book_broken(claim(r, &s, err), dtx_source_name(reader->src), err));
	if (!s.n)
		goto out;
	DTX_TRY(dtx_batch_new(r->scan.schema, s.n, &b, err));
	b->seq = s.seq;
	b->last = true;
	DTX_TRY(number_rows(r, b, &s, err));
	if (r->scan.keep) {
		DTX_TRY(make_columns(r, b, &s, r->scan.keep_need, err));
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	}
	DTX_TRY(make_columns(r, b, &s, r->scan.need, err));
	note_kept(r, b->nsel);
	*out = b;
	b = NULL;
out:
	release(r, &s);
	dtx_batch_free(b);
	return rc;
}

/* --- description --- */

json_t *dtx_book_reader_describe(struct dtx_reader *reader)
{
	const struct book_reader *r = (struct book_reader *)reader;
	const struct dtx_sheet_layout *l = &r->layout;
	struct dtx_cellrange range = l->window, head;
	char window[48], header[48] = "";

	if (l->ncols) {
		range.col0 = l->col[0];
		range.col1 = l->col[l->ncols - 1];
	}
	dtx_cell_range_name(window, &range);
	head = (struct dtx_cellrange){ (uint32_t)l->head.first,
		                       (uint32_t)l->head.first + l->head.rows - 1,
		                       range.col0,
		                       range.col1,
		                       false,
		                       false };
	if (l->head.rows)
		dtx_cell_range_name(header, &head);
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:I, s:I}", "format", r->cls->name,
	                 "sheet", l->sheet->name, "range", window, "header_rows", (int)l->head.rows,
	                 "header", header, "epoch", l->book->epoch1904 ? 1904 : 1900, "merges",
	                 (json_int_t)l->grid->nmerges, "formulas", (json_int_t)l->facts->nformulas);
}
