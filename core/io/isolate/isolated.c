/* The proxy of a reader in another process: implements the reader vtable with messages. */
#include "core/io/isolate/isolated.h"

#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/io/columns.h"
#include "core/io/sheet/book.h"
#include "core/io/sheet/cellref.h"

/* Texts that arrive in pieces. A version points to an array, which later versions extend in
 * place as long as there is room. What a column sees of it never changes. */

/* the most that a workbook can have */
#define TEXTS_MAX ((size_t)DTX_BOOK_STRINGS_MAX + DTX_GRID_TEXTS_MAX)
#define BYTES_MAX (DTX_BOOK_STRING_BYTES_MAX + DTX_GRID_TEXT_MAX)

struct version {
	struct dtx_strings strings;
	struct dtx_str *made; /* its own array; NULL: it extends the previous version's */
	struct dtx_owner *frame;
};

static void version_free(void *arg)
{
	struct version *v = arg;

	dtx_mem_free(v->made);
	dtx_owner_unref(v->frame);
	dtx_mem_free(v);
}

/* Makes the next version, which keeps the previous one alive. Takes v, also on failure. */
static enum dtx_code pool_take(struct dtx_textpool *p, struct version *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner = dtx_owner_new(version_free, v);

	if (!owner) {
		version_free(v);
		DTX_FAIL_MEM(err);
	}
	/* Kept as a keeper of the owner: the chain can be as long as the process likes, and must
	 * not be freed by recursion. */
	dtx_owner_keep(owner, p->owner);
	dtx_owner_unref(p->owner);
	p->owner = owner;
	p->strings = &v->strings;
out:
	return rc;
}

enum dtx_code dtx_textpool_start(struct dtx_textpool *p, bool epoch1904, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct version *v = dtx_mem_zalloc(1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	v->strings.epoch1904 = epoch1904;
	DTX_TRY(pool_take(p, v, err));
out:
	return rc;
}

/* Makes room for n texts after those that stay. A new array belongs to the version. */
static enum dtx_code pool_room(struct dtx_textpool *p, struct version *v, size_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t want = p->n + n;

	if (want <= p->cap)
		goto out;
	want = p->n ? DTX_MAX(want, 2 * p->cap) : want;
	v->made = dtx_mem_alloc(want, sizeof(*v->made));
	if (!v->made)
		DTX_FAIL_MEM(err);
	if (p->n)
		memcpy(v->made, p->item, p->n * sizeof(*v->made));
	p->item = v->made;
	p->cap = want;
out:
	return rc;
}

enum dtx_code dtx_textpool_add(struct dtx_textpool *p, const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *entry, struct dtx_owner *frame,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool epoch1904 = p->strings->epoch1904;
	struct version *v = dtx_mem_zalloc(1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	if (!entry->id) /* these texts replace all others */
		dtx_textpool_clear(p);
	if (!entry->rows || entry->rows > TEXTS_MAX - p->n || entry->b_len > BYTES_MAX - p->bytes)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no texts, or more than a workbook has");
	if (entry->a_len != entry->rows * sizeof(uint32_t))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "texts without their lengths");
	DTX_TRY(pool_room(p, v, (size_t)entry->rows, err));
	DTX_TRY(dtx_frame_strings(view, entry, p->item + p->n, err));
	p->n += (size_t)entry->rows;
	p->bytes += entry->b_len;
	v->frame = dtx_owner_ref(frame);
	v->strings = (struct dtx_strings){ p->item, p->n, epoch1904 };
	rc = pool_take(p, v, err);
	v = NULL;
out:
	if (v)
		version_free(v);
	return rc;
}

void dtx_textpool_clear(struct dtx_textpool *p)
{
	dtx_owner_unref(p->owner);
	*p = (struct dtx_textpool){ NULL, NULL, NULL, 0, 0, 0 };
}

struct isolated {
	struct dtx_reader head;
	struct dtx_reader_class cls; /* this vtable, with the name of the class inside */
	char name[16];
	const struct dtx_isolate_class *via;
	struct dtx_isolate *proc;
	struct dtx_read_opts opts;
	struct dtx_schema schema;
	json_t *describe;
	bool epoch1904;
	struct dtx_scan scan;
	uint8_t *cast;        /* per column: what dtx_columns_cast_all has to cast */
	bool values;          /* its columns have values, not cells */
	pthread_mutex_t lock; /* for what follows, and for the messages */
	struct dtx_textpool texts;
	uint64_t seq;
	uint64_t next_row; /* rows of the sheet before this one have come */
	int64_t kept;      /* rows that passed the pushed filter */
	uint64_t said;     /* bytes of reports in this read */
	bool ended;
	struct dtx_err *late; /* per worker: an error after the rows that it was given last */
	unsigned nlate;
};

enum dtx_code dtx_isolated_corrupt_file(const struct dtx_source *src, enum dtx_code rc,
                                        struct dtx_err *err)
{
	char what[256];

	if (rc != DTX_E_SNIPPET_BAD_RESULT)
		return rc;
	dtx_str_copy(what, sizeof(what), dtx_str_of(err ? err->msg : ""));
	rc = dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	                 "'%s': what its reader process gave is not valid: %s",
	                 dtx_source_name(src), what);
	dtx_err_hint(err, "the file made its reader misbehave; do not trust it");
	return rc;
}

enum dtx_code dtx_isolated_report(const struct dtx_frame_view *view, json_t **out,
                                  struct dtx_err *err)
{
	static const struct dtx_json_limits limits = { .bytes = (size_t)256 << 20, .depth = 64 };
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_REPORT);

	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no report");
	rc = dtx_json_parse(dtx_frame_bytes(view, e), limits, out, err);
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "the report is not JSON");
out:
	return rc;
}

json_t *dtx_isolated_args(const struct dtx_source *src, json_t *args)
{
	const char *name = dtx_source_name(src);
	json_t *text = json_string(name);

	/* a name that is not UTF-8 is only used in messages */
	if (!text)
		text = json_string("input");
	if (args && dtx_json_set(args, "name", text)) {
		if (dtx_json_set(args, "limits", dtx_archive_limits_list(dtx_source_limits(src))))
			return args;
		text = NULL;
	}
	if (!args)
		json_decref(text);
	json_decref(args);
	return NULL;
}

struct dtx_isolate_limits dtx_isolated_limits(const struct dtx_source *src)
{
	const struct dtx_archive_limits *l = dtx_source_limits(src);
	struct dtx_isolate_limits out = { .memory = l->memory, .cpu_s = (uint32_t)l->time };

	if (dtx_mem_limit())
		out.memory = DTX_MIN(out.memory, (uint64_t)dtx_mem_limit());
	return out;
}

/* The number comes from the process. Whatever it is, it is tried only once. */
bool dtx_isolated_again(const struct dtx_err *why, struct dtx_isolate_limits *limits)
{
	json_t *more = why && why->code == DTX_E_BAD_ENCODING && why->more
	                       ? json_loads(why->more, 0, NULL)
	                       : NULL;
	json_int_t page = json_integer_value(json_object_get(more, "page"));

	json_decref(more);
	if (limits->page || page <= 0 || page > UINT16_MAX)
		return false;
	limits->page = (unsigned)page;
	return true;
}

/* --- answers --- */

/* Takes `args`. */
static enum dtx_code ask(struct isolated *r, enum dtx_ask what, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	args = dtx_isolated_args(r->head.src, args);
	if (!args)
		DTX_FAIL_MEM(err);
	DTX_TRY(r->via->ask(r->proc, what, args, err));
out:
	json_decref(args);
	return rc;
}

/* Reads the single REPORT that answers a request. */
static enum dtx_code answer(struct isolated *r, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_sealed got = { 0 }, end = { 0 };

	DTX_TRY(r->via->next(r->proc, &got, err));
	if (!got.owner)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no answer");
	DTX_TRY(dtx_frame_open(got.ptr, got.len, &view, err));
	DTX_TRY(dtx_isolated_report(&view, out, err));
	DTX_TRY(r->via->next(r->proc, &end, err));
	if (end.owner)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "more than one answer");
out:
	dtx_frame_close(&view);
	dtx_owner_unref(got.owner);
	dtx_owner_unref(end.owner);
	return dtx_isolated_corrupt_file(r->head.src, rc, err);
}

/* Takes over diagnostics, description and counts. */
static enum dtx_code take_state(struct isolated *r, const json_t *state, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *diags = json_object_get(state, "diags");
	json_t *describe = json_object_get(state, "describe");
	size_t i;

	for (i = 0; i < json_array_size(diags); i++) {
		struct dtx_err w = DTX_ERR_INIT;

		if (!dtx_isolate_err_read(json_array_get(diags, i), &w)) {
			dtx_err_clear(&w);
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "a finding is malformed");
		}
		if (!dtx_errlist_take(&r->head.diags, &w)) {
			dtx_err_clear(&w);
			DTX_FAIL_MEM(err);
		}
	}
	if (!describe)
		describe = r->describe;
	if (!json_is_object(describe) ||
	    !dtx_isolate_stats_read(json_object_get(state, "stats"), &r->head.stats))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "the state is malformed");
	json_incref(describe);
	json_decref(r->describe);
	r->describe = describe;
out:
	return rc;
}

/* --- opening --- */

static void free_late(struct isolated *r)
{
	while (r->nlate)
		dtx_err_clear(&r->late[--r->nlate]);
	dtx_mem_free(r->late);
	r->late = NULL;
}

static enum dtx_code new_late(struct isolated *r, unsigned workers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	free_late(r);
	r->late = dtx_mem_alloc(workers, sizeof(*r->late));
	if (!r->late)
		DTX_FAIL_MEM(err);
	while (r->nlate < workers)
		r->late[r->nlate++] = (struct dtx_err)DTX_ERR_INIT;
out:
	return rc;
}

static void isolated_close(struct dtx_reader *reader)
{
	struct isolated *r = (struct isolated *)reader;

	r->via->stop(r->proc);
	free_late(r);
	dtx_mem_free(r->cast);
	dtx_textpool_clear(&r->texts);
	json_decref(r->describe);
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

static enum dtx_code take_origin(struct isolated *r, const json_t *opened, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_origin *o = &r->head.origin;
	struct dtx_arena *a = &r->head.arena;
	const char *sheet = dtx_json_text(opened, "sheet", NULL);
	const json_t *cols = json_object_get(opened, "cols");
	size_t n = json_array_size(cols), i;
	uint32_t *col = dtx_arena_zalloc(a, n + 1, sizeof(*col));

	if (n && n != r->schema.nfields)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "%zu places of %u columns", n,
		         (unsigned)r->schema.nfields);
	o->locate = locate;
	o->arg = r;
	o->file = dtx_source_name(r->head.src);
	o->alias = dtx_arena_strdup(a, r->opts.alias ? r->opts.alias : "main");
	o->sheet = sheet ? dtx_arena_strdup(a, sheet) : NULL;
	if (!col || !o->alias || (sheet && !o->sheet))
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		const json_t *v = json_array_get(cols, i);
		json_int_t at = json_integer_value(v);

		if (!json_is_integer(v) || at < 0 || (at >= DTX_SHEET_COLS && at != UINT32_MAX))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT,
			         "the place of column %zu is not in a sheet", i);
		col[i] = (uint32_t)at;
	}
	o->physical_col = n ? col : NULL;
	o->ncols = (uint32_t)n;
out:
	return rc;
}

static enum dtx_code take_opened(struct isolated *r, const json_t *opened, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *name = dtx_json_text(opened, "name", "");

	dtx_str_copy(r->name, sizeof(r->name), dtx_str_of(name));
	r->cls.name = r->name;
	DTX_TRY(dtx_isolate_schema_read(json_object_get(opened, "schema"), &r->head.arena,
	                                &r->schema, err));
	DTX_TRY(take_state(r, json_object_get(opened, "state"), err));
	r->epoch1904 = dtx_json_int(r->describe, "epoch", 1900) == 1904;
	DTX_TRY(take_origin(r, opened, err));
out:
	return dtx_isolated_corrupt_file(r->head.src, rc, err);
}

/* --- reading --- */

static enum dtx_code isolated_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                     struct dtx_err *err)
{
	(void)err;
	*out = &((struct isolated *)reader)->schema;
	return DTX_OK;
}

static json_t *flags_json(const bool *flag, uint32_t n)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < n; i++) {
		if (json_array_append_new(list, json_boolean(flag[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* The conditions of the filter, as the process reads them. A text that is long, or is not UTF-8,
 * is left out. */
static json_t *ranges_json(const struct dtx_scan *scan)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < scan->nranges; i++) {
		const struct dtx_scan_range *r = &scan->range[i];
		json_t *text = r->type == DTX_T_TEXT
		                       ? json_stringn(r->s.ptr, DTX_MIN(r->s.len, (size_t)1024))
		                       : json_string("");

		if (!text || json_string_length(text) != r->s.len * (r->type == DTX_T_TEXT)) {
			json_decref(text);
			continue;
		}
		if (json_array_append_new(list,
		                          json_pack("[iiiIo]", (int)r->column, (int)r->type,
		                                    (int)r->outcomes, (json_int_t)r->i, text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static enum dtx_code isolated_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct isolated *r = (struct isolated *)reader;
	uint32_t n = r->schema.nfields, i;
	bool *need = dtx_mem_zalloc(n, sizeof(*need));

	if (!need)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		need[i] = scan->need[i] || (scan->keep && scan->keep_need[i]);
	for (i = 0; i < n; i++)
		r->cast[i] = !r->values ? scan->need[i] : need[i] ? DTX_NEED_VALUE : DTX_NEED_SKIP;
	r->scan = *scan;
	r->seq = 0;
	r->next_row = 0;
	r->kept = 0;
	r->said = 0;
	r->ended = false;
	DTX_TRY(new_late(r, DTX_MAX(scan->workers, 1u), err));
	reader->stats = (struct dtx_read_stats){ 0 };
	reader->misfits = reader->offsets = 0;
	dtx_textpool_clear(&r->texts);
	DTX_TRY(dtx_textpool_start(&r->texts, r->epoch1904, err));
	dtx_source_tick(reader->src, 0, 0); /* from here on, rows show the progress */
	/* only main knows how many rows a pushed filter keeps */
	DTX_TRY(ask(r, DTX_ASK_READ,
	            json_pack("{so sI si si so}", "need", flags_json(need, n), "limit",
	                      (json_int_t)(scan->keep ? -1 : scan->limit), "batch_rows",
	                      (int)scan->batch_rows, "threads", (int)(scan->workers / 2), "ranges",
	                      ranges_json(scan)),
	            err));
out:
	dtx_mem_free(need);
	return rc;
}

static bool wanted(const struct isolated *r, uint32_t i)
{
	return r->scan.need[i] || (r->scan.keep && r->scan.keep_need[i]);
}

/* Makes a column of cells. It keeps its frame alive, and the texts as they were when it came. */
static enum dtx_code cells_column(struct isolated *r, const struct dtx_frame_view *view,
                                  const struct dtx_frame_entry *e, struct dtx_batch *b,
                                  struct dtx_owner *owner, const struct dtx_strings *texts,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const union dtx_payload *value;
	const uint8_t *tag;
	struct dtx_column *c;
	uint32_t i = e->id;

	if (i >= b->ncols || b->col[i] || !wanted(r, i))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "cells of column %u were not asked for", i);
	DTX_TRY(dtx_frame_cells(view, e, b->nrows, texts->n, &tag, &value, err));
	c = dtx_column_new(DTX_F_CELL, r->scan.schema->field[i].type, b->nrows,
	                   dtx_owner_ref(owner));
	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.payload = value;
	c->tag = tag;
	c->strings = texts;
	b->col[i] = c;
out:
	return rc;
}

/* The columns of a table that came, in order, are those that were asked for. */
static enum dtx_code value_columns(struct isolated *r, const struct dtx_table *t,
                                   struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, k = 0;

	if (t->nbatches != 1 || t->batch[0]->nrows != b->nrows)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "a table has not the rows of its batch");
	for (i = 0; i < b->ncols; i++) {
		struct dtx_typeref type = r->scan.schema->field[i].type;
		struct dtx_column *c;

		if (!wanted(r, i))
			continue;
		if (k == t->schema->nfields)
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "column %u is missing", i);
		c = t->batch[0]->col[k++];
		/* a frame does not say whether times are of UTC */
		if (c->type.type == type.type && type.type == DTX_T_DATETIME)
			c->type = type;
		if (!dtx_columns_declared(&r->opts, r->scan.schema->field[i].name) &&
		    memcmp(&c->type, &type, sizeof(type)))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "column %u is of another type", i);
		b->col[i] = dtx_column_ref(c);
	}
	if (k != t->schema->nfields)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "more columns than were asked for");
out:
	return rc;
}

/* Makes the columns of values that came instead of cells. */
static enum dtx_code take_values(struct isolated *r, const struct dtx_frame_view *view,
                                 const struct dtx_frame_entry *e, struct dtx_batch *b,
                                 struct dtx_owner *owner, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL;

	DTX_TRY(dtx_frame_table(view, e, owner, &t, err));
	DTX_TRY(value_columns(r, t, b, err));
out:
	dtx_table_unref(t);
	return rc;
}

static const uint64_t *row_ids(const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *rows)
{
	return (const uint64_t *)(const void *)(view->ptr + rows->a_off);
}

/* the largest row number of a file that is not a workbook */
#define ROWS_MAX ((uint64_t)1 << 48)

/* Checks that rows come in order and are within a sheet, which also stops a process that never
 * ends. One number is that of the first row: the others follow it. */
static enum dtx_code check_rows(struct isolated *r, const struct dtx_frame_view *view,
                                const struct dtx_frame_entry *rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint64_t *id = row_ids(view, rows);
	uint64_t n = rows->a_len / sizeof(*id), i, last;
	uint64_t rows_max = r->cls.book ? DTX_SHEET_ROWS : ROWS_MAX;

	if (!rows->rows || rows->rows > DTX_BATCH_ROWS || rows->a_len % sizeof(*id) ||
	    (n != 1 && n != rows->rows))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "%llu bytes of row numbers for %llu rows",
		         (unsigned long long)rows->a_len, (unsigned long long)rows->rows);
	for (i = 0; i < n; i++) {
		last = n == 1 ? id[0] + (rows->rows - 1) : id[i];
		if (id[i] < r->next_row || id[i] >= rows_max || last >= rows_max)
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "row %llu is out of order",
			         (unsigned long long)id[i]);
		r->next_row = last + 1;
	}
out:
	return rc;
}

static void number_rows(const struct dtx_frame_view *view, const struct dtx_frame_entry *rows,
                        struct dtx_batch *b, struct dtx_owner *owner)
{
	const uint64_t *id = row_ids(view, rows);

	b->first_row = id[0];
	if (rows->a_len == sizeof(*id))
		return;
	b->rec = id;
	b->rec_owner = dtx_owner_ref(owner);
}

/* Makes a batch with all columns that are needed, before the pushed filter. */
static enum dtx_code make_batch(struct isolated *r, const struct dtx_frame_view *view,
                                struct dtx_owner *owner, const struct dtx_strings *texts,
                                struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *rows = dtx_frame_find(view, DTX_FRAME_ROWS);
	const struct dtx_frame_entry *table =
		r->values ? dtx_frame_find(view, DTX_FRAME_TABLE) : NULL;
	struct dtx_batch *b = NULL;
	uint32_t i;

	DTX_TRY(dtx_batch_new(r->scan.schema, (uint32_t)rows->rows, &b, err));
	b->last = true;
	b->origin = &r->head.origin;
	number_rows(view, rows, b, owner);
	if (table)
		DTX_TRY(take_values(r, view, table, b, owner, err));
	for (i = 0; i < view->n; i++)
		if (view->entry[i].kind == DTX_FRAME_CELLS && !r->values)
			DTX_TRY(cells_column(r, view, &view->entry[i], b, owner, texts, err));
	for (i = 0; i < b->ncols; i++)
		if (!b->col[i] && wanted(r, i))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "column %u is missing", i);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* The most bytes of reports. Reading them costs main more than making them costs the process. */
#define SAID_MAX ((uint64_t)1 << 30)

/* Reads a report, which comes with each batch and after the last one. */
static enum dtx_code hear(struct isolated *r, const struct dtx_frame_view *view,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_REPORT);
	int64_t before = r->head.stats.left_out, now;
	json_t *state = NULL;

	r->said += e ? e->a_len : 0;
	if (r->said > SAID_MAX)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "reports without end");
	DTX_TRY(dtx_isolated_report(view, &state, err));
	DTX_TRY(take_state(r, state, err));
	now = r->head.stats.left_out;
	if (!dtx_read_stats_add_up(&r->head.stats) || now < before ||
	    now > r->head.stats.rows_out || (now && !r->scan.nranges))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "its counts of rows do not add up");
	if (now > before)
		r->scan.left_out(r->scan.keep_arg, now - before);
out:
	json_decref(state);
	return rc;
}

struct arrival { /* a batch as it arrived */
	struct dtx_sealed frame;
	struct dtx_frame_view view;
	const struct dtx_strings *texts;
	uint64_t seq;
};

/* Reads the next batch, with the lock held. Texts that come before it are stored; the report
 * after the last batch ends the read. */
static enum dtx_code receive(struct isolated *r, struct arrival *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *texts, *rows;
	bool had_texts = false, over = false;

	for (;;) {
		DTX_TRY(r->via->next(r->proc, &a->frame, err));
		if (!a->frame.owner)
			break;
		DTX_TRY(dtx_frame_open(a->frame.ptr, a->frame.len, &a->view, err));
		texts = dtx_frame_find(&a->view, DTX_FRAME_STRINGS);
		/* stops: a process that sends answers without end but no rows */
		if (over || (had_texts && texts))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT,
			         "more than a read is answered with");
		if (!texts) {
			DTX_TRY(hear(r, &a->view, err));
			rows = dtx_frame_find(&a->view, DTX_FRAME_ROWS);
			if (rows) {
				DTX_TRY(check_rows(r, &a->view, rows, err));
				break;
			}
			over = true;
		} else {
			DTX_TRY(dtx_textpool_add(&r->texts, &a->view, texts, a->frame.owner, err));
			had_texts = true;
		}
		dtx_frame_close(&a->view);
		dtx_owner_unref(a->frame.owner);
		a->frame.owner = NULL;
	}
	if (!a->frame.owner)
		goto out;
	a->seq = r->seq++;
	a->texts = r->texts.strings;
	/* only columns of this frame use the texts, so it can keep them alive */
	dtx_owner_keep(a->frame.owner, r->texts.owner);
out:
	return rc;
}

static enum dtx_code claim(struct isolated *r, struct arrival *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pthread_mutex_lock(&r->lock);
	if (r->scan.keep && r->scan.limit >= 0 && r->kept >= r->scan.limit) {
		r->head.stats.stopped_early = true;
		r->ended = true;
	}
	if (!r->ended)
		rc = receive(r, a, err);
	if (rc != DTX_OK || !a->frame.owner)
		r->ended = true;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static void note_kept(struct isolated *r, uint32_t rows)
{
	pthread_mutex_lock(&r->lock);
	r->kept += rows;
	pthread_mutex_unlock(&r->lock);
}

static enum dtx_code isolated_next(struct dtx_reader *reader, unsigned worker,
                                   struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct isolated *r = (struct isolated *)reader;
	struct arrival a = { .view = DTX_FRAME_VIEW_INIT };
	struct dtx_err *late = &r->late[worker];
	struct dtx_batch *b = NULL;

	*out = NULL;
	if (late->code != DTX_OK) {
		rc = late->code;
		dtx_err_move(err, late);
		goto out;
	}
	DTX_TRY(claim(r, &a, err));
	if (!a.frame.owner)
		goto out;
	DTX_TRY(make_batch(r, &a.view, a.frame.owner, a.texts, &b, err));
	b->seq = a.seq;
	DTX_TRY(dtx_columns_cast_all(reader, &r->opts, b, r->cast, late, err));
	b->last = late->code == DTX_OK;
	if (r->scan.keep)
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	note_kept(r, b->nsel);
	*out = b;
	b = NULL;
out:
	if (rc != DTX_OK && err && a.frame.owner)
		err->seq = (int64_t)a.seq;
	dtx_batch_free(b);
	dtx_frame_close(&a.view);
	dtx_owner_unref(a.frame.owner);
	return dtx_isolated_corrupt_file(reader->src, rc, err);
}

static json_t *isolated_describe(struct dtx_reader *reader)
{
	return json_incref(((struct isolated *)reader)->describe);
}

/* Starts a process and opens the input in it. */
static enum dtx_code start_and_open(struct isolated *r, const struct dtx_isolate_limits *limits,
                                    json_t **opened, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->proc)
		r->via->stop(r->proc);
	r->proc = NULL;
	DTX_TRY(r->via->start(r->head.src, limits, &r->proc, err));
	dtx_source_read_elsewhere(r->head.src);
	DTX_TRY(ask(r, DTX_ASK_OPEN, dtx_isolate_opts_json(&r->opts), err));
	DTX_TRY(answer(r, opened, err));
out:
	return rc;
}

enum dtx_code dtx_isolated_open(const struct dtx_isolate_class *via, struct dtx_source *src,
                                const struct dtx_read_opts *opts,
                                const struct dtx_reader_class *cls, struct dtx_reader **out,
                                struct dtx_err *err)
{
	struct dtx_isolate_limits limits = dtx_isolated_limits(src);
	enum dtx_code rc = DTX_OK;
	struct isolated *r = dtx_mem_zalloc(1, sizeof(*r));
	json_t *opened = NULL;

	if (!r)
		DTX_FAIL_MEM(err);
	limits.codecs = cls->codecs;
	limits.freexl = opts->reader && !strcmp(opts->reader, "freexl");
	pthread_mutex_init(&r->lock, NULL);
	r->via = via;
	r->head.src = src;
	r->opts = *opts;
	r->values = cls->values;
	r->cls = (struct dtx_reader_class){
		.name = cls->name,
		.formats = cls->formats,
		.uses = cls->uses,
		.book = cls->book,
		.places = cls->places,
		.schema = isolated_schema,
		.start = isolated_start,
		.next = isolated_next,
		.describe = isolated_describe,
		.close = isolated_close,
	};
	rc = start_and_open(r, &limits, &opened, err);
	if (rc != DTX_OK && dtx_isolated_again(err, &limits)) {
		dtx_err_clear(err);
		rc = start_and_open(r, &limits, &opened, err);
	}
	if (rc != DTX_OK)
		goto out;
	DTX_TRY(take_opened(r, opened, err));
	r->cast = dtx_mem_zalloc(r->schema.nfields, 1);
	if (!r->cast)
		DTX_FAIL_MEM(err);
	r->head.cls = &r->cls;
	*out = &r->head;
	r = NULL;
out:
	json_decref(opened);
	if (r)
		isolated_close(&r->head);
	return rc;
}
