/* The reader of Arrow IPC files (.arrow, .feather of version 2) and streams (.arrows): makes
 * batches of the columns that are needed, one record batch after the other. It runs in the locked
 * reader process. */
#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/io/arrow/arrow.h"
#include "core/io/columns.h"

enum { STRUCTS_MAX = 8 }; /* as for nested JSON: deeper ones are JSON text */

struct arrow {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_arrow_file file;
	uint32_t *node; /* of each column of the schema */
	struct dtx_schema schema;
	struct dtx_scan scan;
	uint32_t batch_rows;
	size_t column_text; /* bytes of the texts of a column in a batch, after at least a row */
	json_t *describe;
	pthread_mutex_t lock; /* for all that follows: one worker reads at a time */
	bool *need;           /* nodes whose buffers are read */
	size_t message;       /* the next one */
	struct dtx_arrow_batch batch;
	struct dtx_column **dict; /* of each node, if its values are in a dictionary */
	int64_t row, rows;        /* of the record batch that is read: the next row, and how many */
	uint64_t seq;
	int64_t kept; /* rows that passed the pushed filter */
	struct dtx_typed_counts counts;
};

/* --- opening --- */

/* Lets go of the record batch and the dictionaries. */
static void rewind_to_start(struct arrow *r)
{
	uint32_t i;

	dtx_arrow_batch_close(&r->batch);
	for (i = 0; r->dict && i < r->file.nnodes; i++) {
		dtx_column_unref(r->dict[i]);
		r->dict[i] = NULL;
	}
	r->message = 0;
	r->row = r->rows = 0;
}

static void arrow_close(struct dtx_reader *reader)
{
	struct arrow *r = (struct arrow *)reader;

	rewind_to_start(r);
	dtx_mem_free(r->dict);
	dtx_mem_free(r->need);
	json_decref(r->describe);
	dtx_arrow_clear(&r->file);
	dtx_errlist_clear(&r->head.diags);
	dtx_arena_clear(&r->head.arena);
	pthread_mutex_destroy(&r->lock);
	dtx_mem_free(r);
}

struct listing {
	struct arrow *r;
	uint32_t *node;
	const char **name;
	uint32_t n;
};

/* Lists the columns among the nodes [from, end): a struct is several, "a.b". */
static enum dtx_code list_columns(struct listing *l, uint32_t from, uint32_t end,
                                  const char *prefix, unsigned depth, struct dtx_err *err)
{
	const struct dtx_arrow_node *node = l->r->file.node;
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	for (c = from; c < end; c = node[c].end) {
		const char *name =
			prefix ? dtx_arena_printf(&l->r->head.arena, "%s.%s", prefix, node[c].name)
			       : node[c].name;

		if (!name)
			DTX_FAIL_MEM(err);
		if (node[c].layout == DTX_ARROW_STRUCT && depth < STRUCTS_MAX) {
			DTX_TRY(list_columns(l, c + 1, node[c].end, name, depth + 1, err));
			continue;
		}
		l->name[l->n] = name;
		l->node[l->n++] = c;
	}
out:
	return rc;
}

static enum dtx_code make_schema(struct arrow *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena *a = &r->head.arena;
	size_t most = (size_t)r->file.nnodes + 1;
	struct listing l = { .r = r };
	struct dtx_field *field = dtx_arena_zalloc(a, most, sizeof(*field));
	bool *keep = dtx_arena_zalloc(a, most, sizeof(*keep));
	uint32_t i, k = 0;

	l.node = dtx_arena_zalloc(a, most, sizeof(*l.node));
	l.name = dtx_arena_zalloc(a, most, sizeof(*l.name));
	if (!field || !keep || !l.node || !l.name)
		DTX_FAIL_MEM(err);
	DTX_TRY(list_columns(&l, 0, r->file.nnodes, NULL, 0, err));
	DTX_TRY(dtx_typed_names(&r->head, l.name, l.n, err));
	DTX_TRY(dtx_columns_choose(&r->opts, r->file.label, l.name, l.n, keep, err));
	for (i = 0; i < l.n; i++) {
		const struct dtx_arrow_node *n = &r->file.node[l.node[i]];

		if (!keep[i])
			continue;
		field[k].name = l.name[i];
		dtx_typed_field(&r->opts, n->value.as_type, n->json || dtx_arrow_is_nested(n),
		                &field[k]);
		l.node[k++] = l.node[i];
		if (n->zone)
			DTX_TRY(dtx_typed_note(
				&r->head, DTX_W_READER_NOTE, -1,
				dtx_arena_printf(a,
			                         "the times of column '%.100s' are of the zone "
			                         "%s; they are read as times of UTC",
			                         field[k - 1].name, n->zone),
				err));
	}
	r->node = l.node;
	r->schema = (struct dtx_schema){ .nfields = k, .field = field };
out:
	return rc;
}

static enum dtx_code open_file(struct arrow *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = r->head.src;

	r->file = (struct dtx_arrow_file){ .label = dtx_source_name(src),
		                           .bytes = (const uint8_t *)dtx_source_data(src),
		                           .len = dtx_source_size(src),
		                           .limits = dtx_source_limits(src),
		                           .owner = dtx_source_owner(src) };
	DTX_TRY(dtx_arrow_open(&r->file, err));
	DTX_TRY(make_schema(r, err));
	DTX_TRY(dtx_typed_origin(&r->head, r->opts.alias, r->schema.nfields, err));
	if (r->file.stream && !r->file.ended)
		DTX_TRY(dtx_typed_note(&r->head, DTX_W_READER_NOTE, -1,
		                       "the stream has no end mark, so nothing says that it is "
		                       "whole",
		                       err));
	r->need = dtx_mem_zalloc((size_t)r->file.nnodes + 1, sizeof(*r->need));
	r->dict = dtx_mem_zalloc((size_t)r->file.nnodes + 1, sizeof(*r->dict));
	if (!r->need || !r->dict)
		DTX_FAIL_MEM(err);
	r->batch = (struct dtx_arrow_batch){ .f = &r->file, .dict = r->dict };
out:
	return rc;
}

static enum dtx_code arrow_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct arrow *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.src = src;
	r->opts = *opts;
	r->batch.f = &r->file;
	pthread_mutex_init(&r->lock, NULL);
	DTX_TRY(open_file(r, err));
	*out = &r->head;
	r = NULL;
out:
	if (r)
		arrow_close(&r->head);
	return rc;
}

static enum dtx_code arrow_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                  struct dtx_err *err)
{
	(void)err;
	*out = &((struct arrow *)reader)->schema;
	return DTX_OK;
}

/* --- reading --- */

static bool wanted(const struct arrow *r, uint32_t i)
{
	return r->scan.need[i] != DTX_NEED_SKIP || (r->scan.keep && r->scan.keep_need[i]);
}

static enum dtx_code arrow_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct arrow *r = (struct arrow *)reader;
	const struct dtx_arrow_node *node = r->file.node;
	struct dtx_typed_batch size = { 0 };
	uint32_t i, k;

	rewind_to_start(r);
	r->scan = *scan;
	r->kept = 0;
	r->seq = 0;
	r->counts = (struct dtx_typed_counts){ 0 };
	reader->stats = (struct dtx_read_stats){ 0 };
	reader->misfits = reader->offsets = 0;
	memset(r->need, 0, r->file.nnodes * sizeof(*r->need));
	for (i = 0; i < r->schema.nfields; i++) {
		const char *refused = dtx_arrow_refused(&r->file, r->node[i]);

		if (!wanted(r, i))
			continue;
		if (refused)
			DTX_TRY(dtx_typed_refuse(reader, r->schema.field[i].name, refused, err));
		dtx_typed_batch_add(&size, r->schema.field[i].type.type);
		for (k = r->node[i]; k < node[r->node[i]].end; k++)
			r->need[k] = true;
		for (k = node[r->node[i]].parent; k != UINT32_MAX; k = node[k].parent)
			r->need[k] = true; /* the structs around it, which may be null */
	}
	r->column_text = dtx_typed_batch_text(&size);
	r->batch_rows = DTX_MIN(scan->batch_rows ? scan->batch_rows : DTX_BATCH_ROWS,
	                        dtx_typed_batch_rows(&size));
out:
	return rc;
}

/* Opens the next record batch with rows; *any is false at the end. */
static enum dtx_code next_message(struct arrow *r, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_arrow_batch_close(&r->batch);
	r->row = r->rows = 0;
	while (!r->rows && r->message < r->file.nmessages) {
		const struct dtx_arrow_message *m = &r->file.message[r->message++];

		if (m->dictionary)
			DTX_TRY(dtx_arrow_dictionary(&r->file, m, r->need, r->dict, &r->counts,
			                             err));
		else if (m->rows)
			DTX_TRY(dtx_arrow_batch_open(&r->batch, m, r->need, err));
		r->rows = m->dictionary ? 0 : m->rows;
		dtx_reader_progress(&r->head, r->message, r->file.nmessages);
	}
	*any = r->rows > 0;
out:
	return rc;
}

static enum dtx_code make_column(struct arrow *r, struct dtx_batch *b, uint32_t i, uint32_t n,
                                 struct dtx_err *err)
{
	return dtx_arrow_column(&r->batch, r->node[i], r->schema.field[i].name, r->row, n,
	                        r->column_text, &r->counts, &b->col[i], err);
}

/* Makes the columns, and finds how many rows all of them have: those of JSON texts are made first,
 * as only then their bytes are known. */
static enum dtx_code make_columns(struct arrow *r, struct dtx_batch *b, uint32_t *rows,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *all;
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		if (!wanted(r, i))
			continue;
		*rows = dtx_arrow_fit(&r->batch, r->node[i], r->row, *rows, r->column_text);
		if (!dtx_arrow_is_nested(&r->file.node[r->node[i]]))
			continue;
		DTX_TRY(make_column(r, b, i, *rows, err));
		*rows = DTX_MIN(*rows, b->col[i]->len);
	}
	for (i = 0; i < b->ncols; i++) {
		if (!wanted(r, i))
			continue;
		if (!b->col[i])
			DTX_TRY(make_column(r, b, i, *rows, err));
		all = b->col[i];
		if (all->len == *rows)
			continue;
		DTX_TRY(dtx_column_slice(all, 0, *rows, &b->col[i], err));
		dtx_column_unref(all);
	}
out:
	return rc;
}

static enum dtx_code make_batch(struct arrow *r, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t left = r->rows - r->row;
	uint32_t n = left < r->batch_rows ? (uint32_t)left : r->batch_rows, i;
	struct dtx_batch *made = NULL, *b = NULL;

	/* the rows of a batch are known only when its columns are there */
	DTX_TRY(dtx_batch_new(r->scan.schema, n, &made, err));
	DTX_TRY(make_columns(r, made, &n, err));
	DTX_TRY(dtx_batch_new(r->scan.schema, n, &b, err));
	b->seq = r->seq++;
	b->last = true;
	b->origin = &r->head.origin;
	b->first_row = (uint64_t)(r->batch.first_row + r->row);
	for (i = 0; i < b->ncols; i++) {
		b->col[i] = made->col[i];
		made->col[i] = NULL;
		/* if the reader is not in a process of its own: otherwise main does that */
		if (r->scan.need[i] == DTX_NEED_VALUE)
			DTX_TRY(dtx_columns_cast(&r->head, &r->opts, b, i, NULL, err));
	}
	r->row += n;
	r->head.stats.rows_read += n;
	r->head.stats.rows_out += n;
	if (r->scan.keep)
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	r->kept += b->nsel;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(made);
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code next(struct arrow *r, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool more = true;

	if (r->scan.limit >= 0 && r->kept >= r->scan.limit) {
		r->head.stats.stopped_early = r->row < r->rows || r->message < r->file.nmessages;
		more = false;
	} else if (r->row == r->rows) {
		DTX_TRY(next_message(r, &more, err));
	}
	if (more)
		DTX_TRY(make_batch(r, out, err));
	else
		DTX_TRY(dtx_typed_note_counts(&r->head, &r->counts, err));
out:
	return rc;
}

static enum dtx_code arrow_next(struct dtx_reader *reader, unsigned worker, struct dtx_batch **out,
                                struct dtx_err *err)
{
	enum dtx_code rc;
	struct arrow *r = (struct arrow *)reader;

	(void)worker;
	*out = NULL;
	pthread_mutex_lock(&r->lock);
	rc = next(r, out, err);
	if (rc != DTX_OK && err && err->seq < 0)
		err->seq = (int64_t)r->seq;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* --- what is known of the file --- */

static json_t *metadata_json(const struct dtx_arrow_file *f)
{
	json_t *o = json_object();
	uint32_t i;

	for (i = 0; o && i < f->nkeys; i++) {
		json_t *value =
			json_stringn(f->value[i].ptr ? f->value[i].ptr : "", f->value[i].len);

		/* what is not UTF-8 cannot be shown */
		(void)!json_object_setn_new(o, f->key[i].ptr ? f->key[i].ptr : "", f->key[i].len,
		                            value ? value : json_null());
	}
	return o;
}

static json_t *codecs_json(const struct dtx_arrow_file *f)
{
	static const char *const name[] = { "none", "lz4", "zstd" };
	json_t *list = json_array();
	unsigned i;

	for (i = 0; list && i < DTX_COUNT(name); i++)
		if (f->codecs >> i & 1)
			(void)!json_array_append_new(list, json_string(name[i]));
	return list;
}

/* Made once: it is sent with each batch. */
static json_t *arrow_describe(struct dtx_reader *reader)
{
	struct arrow *r = (struct arrow *)reader;
	const struct dtx_arrow_file *f = &r->file;

	if (!r->describe)
		r->describe = json_pack("{ss ss sI sI so so}", "format", "arrow", "container",
		                        f->stream ? "stream" : "file", "rows", (json_int_t)f->rows,
		                        "record_batches", (json_int_t)f->batches, "compression",
		                        codecs_json(f), "metadata", metadata_json(f));
	return json_incref(r->describe);
}

static int arrow_sniff(const void *head, size_t len, const char *path)
{
	(void)path;
	return dtx_arrow_sniff(head, len) ? 100 : 0;
}

static const struct dtx_manual manual = {
	"TYPES OF ARROW FILES",
	"Arrow files (.arrow, .feather of version 2) and streams (.arrows) are read by the rules "
	"for Parquet, with buffers as they are or packed with LZ4 or zstd. Times of a zone are "
	"read as times of UTC, with a warning that names the zone; columns in dictionaries, such "
	"as categories, have the type of their values. Binary, duration, interval, union, run-end "
	"encoded columns and list views are refused, as are two streams in one file. A stream "
	"without an end mark gets a warning. The format has no checksums: damage "
	"that leaves the lengths as they were gives other values.\n"
	"dtx writes int64, float64, bool, decimal128, date32, timestamp in microseconds (of UTC if "
	"the column is), utf8 and null, at most 65,536 rows in a record batch. The format arrow is "
	"a file with a footer, and a stream where it goes to stdout, as programs that read a pipe "
	"expect; a file named .arrows is always a stream.",
	"$ printf 'city,n\\nRome,2\\nOslo,\\n' > a.csv\n"
	"$ dtx convert a.csv --to arrow | dtx pipe - -- derive 't=typeof(n)'\n"
	"city,n,t\n"
	"Rome,2,int\n"
	"Oslo,,int\n"
};

const struct dtx_reader_class dtx_read_arrow = {
	.name = "arrow",
	.formats = "arrow",
	.suffixes = "arrow,arrows,feather,ipc",
	.what = "Arrow",
	.manual = &manual,
	.places = DTX_PLACES_ROWS,
	.isolated = true,
	.codecs = true,
	.values = true,
	.sniff = arrow_sniff,
	.open = arrow_open,
	.schema = arrow_schema,
	.start = arrow_start,
	.next = arrow_next,
	.describe = arrow_describe,
	.close = arrow_close,
};
