/* The reader of Parquet files: opens the footer, and makes batches of the columns that are needed,
 * row group by row group. It runs in the locked reader process. */
#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/parallel_for.h"
#include "core/io/columns.h"
#include "core/io/parquet/parquet.h"

/* A column of the schema that is needed, and what its values lost. */
struct needed {
	uint32_t i;
	struct dtx_typed_counts counts;
};

#define THREADS_FROM 4096u /* rows: with fewer, it takes longer to wake a thread than to read */

struct parquet {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_pq_file file;
	struct dtx_pq_field *field; /* of each column of the schema */
	struct dtx_schema schema;
	struct dtx_scan scan;
	uint32_t batch_rows;
	size_t column_text; /* bytes of the texts of a column in a batch, after at least a row */
	json_t *describe;
	pthread_mutex_t lock;         /* for all that follows: one worker reads at a time */
	struct dtx_pq_cursor *cursor; /* of each leaf; open are those that are needed */
	size_t group;                 /* the row group that is being read */
	bool in_group;
	int64_t row; /* the next one in it */
	/* of each column of the schema: its next rows, if more were read than the batch before
	 * had */
	struct dtx_column **rest;
	struct needed *needed;
	uint32_t nneeded;
	uint32_t rows; /* how many a column is asked for */
	uint64_t seq;
	int64_t kept; /* rows that passed the pushed filter */
	bool noted;   /* what values lost */
};

/* --- opening --- */

static void close_cursors(struct parquet *r)
{
	uint32_t i;

	for (i = 0; r->cursor && i < r->file.nleaves; i++)
		dtx_pq_cursor_close(&r->cursor[i]);
	for (i = 0; r->rest && i < r->schema.nfields; i++) {
		dtx_column_unref(r->rest[i]);
		r->rest[i] = NULL;
	}
	r->in_group = false;
}

static void parquet_close(struct dtx_reader *reader)
{
	struct parquet *r = (struct parquet *)reader;

	close_cursors(r);
	dtx_mem_free(r->cursor);
	dtx_mem_free(r->rest);
	dtx_mem_free(r->needed);
	json_decref(r->describe);
	dtx_pq_file_clear(&r->file);
	dtx_errlist_clear(&r->head.diags);
	dtx_arena_clear(&r->head.arena);
	pthread_mutex_destroy(&r->lock);
	dtx_mem_free(r);
}

static enum dtx_code make_schema(struct parquet *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena *a = &r->head.arena;
	struct dtx_field *field;
	const char **name = NULL;
	uint32_t n = 0, i, k = 0;
	bool *keep;

	DTX_TRY(dtx_pq_fields(&r->file, &r->field, &name, &n, err));
	DTX_TRY(dtx_typed_names(&r->head, name, n, err));
	field = dtx_arena_zalloc(a, n, sizeof(*field));
	keep = dtx_arena_zalloc(a, n, sizeof(*keep));
	if (!field || !keep)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_columns_choose(&r->opts, r->file.label, name, n, keep, err));
	for (i = 0; i < n; i++) {
		if (!keep[i])
			continue;
		field[k].name = name[i];
		r->field[k] = r->field[i];
		dtx_typed_field(&r->opts, dtx_pq_field_type(&r->file, &r->field[k]),
		                dtx_pq_field_json(&r->file, &r->field[k]), &field[k]);
		k++;
	}
	r->schema = (struct dtx_schema){ .nfields = k, .field = field };
out:
	return rc;
}

static enum dtx_code open_file(struct parquet *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = r->head.src;

	r->file = (struct dtx_pq_file){ .label = dtx_source_name(src),
		                        .bytes = (const uint8_t *)dtx_source_data(src),
		                        .len = dtx_source_size(src),
		                        .limits = dtx_source_limits(src) };
	DTX_TRY(dtx_pq_footer(&r->file, err));
	DTX_TRY(make_schema(r, err));
	r->cursor = dtx_mem_zalloc((size_t)r->file.nleaves + 1, sizeof(*r->cursor));
	DTX_TRY(dtx_typed_origin(&r->head, r->opts.alias, r->schema.nfields, err));
	r->rest = dtx_mem_zalloc((size_t)r->schema.nfields + 1, sizeof(*r->rest));
	r->needed = dtx_mem_zalloc((size_t)r->schema.nfields + 1, sizeof(*r->needed));
	if (!r->cursor || !r->rest || !r->needed)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code parquet_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                  struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct parquet *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.src = src;
	r->opts = *opts;
	pthread_mutex_init(&r->lock, NULL);
	DTX_TRY(open_file(r, err));
	*out = &r->head;
	r = NULL;
out:
	if (r)
		parquet_close(&r->head);
	return rc;
}

static enum dtx_code parquet_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                    struct dtx_err *err)
{
	(void)err;
	*out = &((struct parquet *)reader)->schema;
	return DTX_OK;
}

/* --- reading --- */

static bool wanted(const struct parquet *r, uint32_t i)
{
	return r->scan.need[i] != DTX_NEED_SKIP || (r->scan.keep && r->scan.keep_need[i]);
}

static enum dtx_code parquet_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct parquet *r = (struct parquet *)reader;
	struct dtx_typed_batch size = { 0 };
	uint32_t i;

	close_cursors(r);
	r->scan = *scan;
	r->batch_rows = scan->batch_rows ? scan->batch_rows : DTX_BATCH_ROWS;
	r->group = 0;
	r->row = r->kept = 0;
	r->seq = 0;
	r->nneeded = 0;
	reader->stats = (struct dtx_read_stats){ 0 };
	reader->misfits = reader->offsets = 0;
	for (i = 0; i < r->schema.nfields; i++) {
		const struct dtx_pq_node *n = dtx_pq_refused(&r->file, r->field[i].node);

		if (!wanted(r, i))
			continue;
		r->needed[r->nneeded++] = (struct needed){ .i = i };
		dtx_typed_batch_add(&size, r->schema.field[i].type.type);
		if (n)
			DTX_TRY(dtx_typed_refuse(reader, r->schema.field[i].name, n->refused, err));
	}
	r->column_text = dtx_typed_batch_text(&size);
	r->batch_rows = DTX_MIN(r->batch_rows, dtx_typed_batch_rows(&size));
out:
	return rc;
}

/* Whether the filter drops all rows of a row group. */
static bool is_outside(const struct parquet *r, size_t group)
{
	uint32_t i;

	for (i = 0; i < r->scan.nranges; i++) {
		const struct dtx_scan_range *range = &r->scan.range[i];
		const struct dtx_pq_field *f = &r->field[range->column];

		if (!f->nested && !r->schema.field[range->column].declared &&
		    dtx_pq_outside(&r->file, group, r->file.node[f->node].leaf, range))
			return true;
	}
	return false;
}

/* Passes row groups without rows, and those of which the filter drops all rows. */
static void pass_groups(struct parquet *r)
{
	for (; r->group < r->file.ngroups; r->group++) {
		int64_t rows = r->file.group[r->group].rows;

		if (rows && !is_outside(r, r->group))
			return;
		r->head.stats.rows_read += rows;
		r->head.stats.rows_out += rows;
		r->head.stats.left_out += rows;
		if (rows && r->scan.left_out)
			r->scan.left_out(r->scan.keep_arg, rows);
	}
}

/* Opens the leaves that are needed of the next row group with rows. *any: there is one. */
static enum dtx_code next_group(struct parquet *r, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, k;

	pass_groups(r);
	*any = r->group < r->file.ngroups;
	if (!*any)
		goto out;
	for (i = 0; i < r->schema.nfields; i++) {
		const struct dtx_pq_node *n = &r->file.node[r->field[i].node];

		for (k = 0; wanted(r, i) && k < n->nleaves; k++) {
			DTX_TRY(dtx_pq_cursor_open(&r->cursor[n->leaf + k], &r->file, r->group,
			                           n->leaf + k, err));
			r->cursor[n->leaf + k].coded = r->scan.coded;
		}
	}
	r->row = 0;
	r->in_group = true;
out:
	return rc;
}

static enum dtx_code end_group(struct parquet *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < r->file.nleaves; i++)
		if (r->cursor[i].f)
			DTX_TRY(dtx_pq_cursor_finish(&r->cursor[i], err));
	close_cursors(r);
	r->group++;
	dtx_reader_progress(&r->head, r->group, r->file.ngroups);
out:
	return rc;
}

/* Reads the next rows of a needed column, if the batch before left none. */
static enum dtx_code read_column(void *arg, uint64_t k, struct dtx_err *err)
{
	struct parquet *r = arg;
	struct needed *need = &r->needed[k];
	const uint32_t i = need->i;
	const struct dtx_pq_field *f = &r->field[i];
	const char *name = r->schema.field[i].name;
	int64_t row = (int64_t)r->file.group[r->group].first_row + r->row;

	if (r->rest[i])
		return DTX_OK;
	if (f->nested)
		return dtx_pq_nested(r->cursor, &r->file, f->node, name, row, r->rows,
		                     r->column_text, &need->counts, &r->rest[i], err);
	return dtx_pq_flat(&r->cursor[r->file.node[f->node].leaf], name, row, r->rows,
	                   r->column_text, &need->counts, &r->rest[i], err);
}

/* How many rows of a column, of at most n, have not too many bytes of texts. */
static uint32_t fit_texts(const struct parquet *r, const struct dtx_column *c, uint32_t n)
{
	size_t used = 0;
	uint32_t k;

	if (c->type.type != DTX_T_TEXT || c->form != DTX_F_FLAT)
		return n;
	for (k = 0; k < n && used <= r->column_text; k++)
		used += c->v.text[k].len;
	return k;
}

/* Makes all columns that are needed have rows, and finds of how many each has all. */
static enum dtx_code read_columns(struct parquet *r, uint32_t *rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned threads = *rows < THREADS_FROM ? 1 : r->scan.threads;
	uint32_t k;

	for (k = 0; k < r->nneeded; k++)
		if (r->rest[r->needed[k].i])
			*rows = DTX_MIN(*rows, r->rest[r->needed[k].i]->len);
	r->rows = *rows;
	DTX_TRY(dtx_parallel_for(threads, r->nneeded, read_column, r, err));
	for (k = 0; k < r->nneeded; k++) {
		const struct dtx_column *c = r->rest[r->needed[k].i];

		*rows = fit_texts(r, c, DTX_MIN(*rows, c->len));
	}
out:
	return rc;
}

/* Moves rows of a column to the batch. Casts it to its declared type, if the reader is not in a
 * process of its own: otherwise main does that. */
static enum dtx_code move_column(struct parquet *r, struct dtx_batch *b, uint32_t i,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = r->rest[i], *left = NULL;

	if (c->len == b->nrows) {
		b->col[i] = c;
		r->rest[i] = NULL;
	} else {
		DTX_TRY(dtx_column_slice(c, 0, b->nrows, &b->col[i], err));
		DTX_TRY(dtx_column_slice(c, b->nrows, c->len - b->nrows, &left, err));
		r->rest[i] = left;
		dtx_column_unref(c);
	}
	if (r->scan.need[i] == DTX_NEED_VALUE)
		DTX_TRY(dtx_columns_cast(&r->head, &r->opts, b, i, NULL, err));
out:
	return rc;
}

static enum dtx_code make_batch(struct parquet *r, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_pq_group *g = &r->file.group[r->group];
	int64_t left = g->rows - r->row;
	uint32_t n = left < r->batch_rows ? (uint32_t)left : r->batch_rows, i;
	struct dtx_batch *b = NULL;

	DTX_TRY(read_columns(r, &n, err));
	DTX_TRY(dtx_batch_new(r->scan.schema, n, &b, err));
	b->seq = r->seq++;
	b->last = true;
	b->origin = &r->head.origin;
	b->first_row = g->first_row + (uint64_t)r->row;
	for (i = 0; i < b->ncols; i++)
		if (wanted(r, i))
			DTX_TRY(move_column(r, b, i, err));
	r->row += n;
	r->head.stats.rows_read += n;
	r->head.stats.rows_out += n;
	if (r->scan.keep)
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	r->kept += b->nsel;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code note_counts(struct parquet *r, struct dtx_err *err)
{
	struct dtx_typed_counts all = { .noted = r->noted };
	uint32_t k;

	for (k = 0; k < r->nneeded; k++) {
		all.not_finite += r->needed[k].counts.not_finite;
		all.cut += r->needed[k].counts.cut;
	}
	r->noted = true;
	return dtx_typed_note_counts(&r->head, &all, err);
}

static enum dtx_code next(struct parquet *r, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool more = true;

	if (r->in_group && r->row == r->file.group[r->group].rows)
		DTX_TRY(end_group(r, err));
	if (r->scan.limit >= 0 && r->kept >= r->scan.limit) {
		r->head.stats.stopped_early = r->in_group || r->group < r->file.ngroups;
		more = false;
	} else if (!r->in_group) {
		DTX_TRY(next_group(r, &more, err));
	}
	if (more)
		DTX_TRY(make_batch(r, out, err));
	else
		DTX_TRY(note_counts(r, err));
out:
	return rc;
}

static enum dtx_code parquet_next(struct dtx_reader *reader, unsigned worker,
                                  struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc;
	struct parquet *r = (struct parquet *)reader;

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

/* A text of the file as JSON; one that is not UTF-8 is left out. */
static json_t *text_json(struct dtx_str s)
{
	json_t *text = json_stringn(s.ptr, s.len);

	return text ? text : json_null();
}

static json_t *metadata_json(const struct dtx_pq_file *f)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < f->nkeys; i++) {
		char *key = dtx_mem_strndup(f->key[i].ptr ? f->key[i].ptr : "", f->key[i].len);

		/* a key that is not UTF-8 cannot be said */
		if (key)
			(void)!json_object_set_new(o, key, text_json(f->value[i]));
		dtx_mem_free(key);
	}
	return o;
}

static json_t *codecs_json(const struct dtx_pq_file *f)
{
	json_t *list = json_array();
	unsigned codec;
	size_t g;
	uint32_t i;

	for (codec = 0; list && codec < 8; codec++) {
		bool used = false;

		for (g = 0; g < f->ngroups && !used; g++)
			for (i = 0; i < f->nleaves && !used; i++)
				used = f->group[g].chunk[i].codec == codec;
		if (used)
			(void)!json_array_append_new(list, json_string(dtx_pq_codec_name(codec)));
	}
	return list;
}

/* Made once: it is sent with each batch. */
static json_t *parquet_describe(struct dtx_reader *reader)
{
	struct parquet *r = (struct parquet *)reader;
	const struct dtx_pq_file *f = &r->file;

	if (!r->describe)
		r->describe = json_pack("{ss sI sI so so so}", "format", "parquet", "rows",
		                        (json_int_t)f->rows, "row_groups", (json_int_t)f->ngroups,
		                        "compression", codecs_json(f), "created_by",
		                        text_json(f->created_by), "metadata", metadata_json(f));
	return json_incref(r->describe);
}

static int parquet_sniff(const void *head, size_t len, const char *path)
{
	(void)path;
	return dtx_pq_sniff(head, len) ? 100 : 0;
}

static const struct dtx_manual manual = {
	"TYPES OF PARQUET FILES",
	"A Parquet file says its types. Whole numbers of up to 64 bits are int, those of 64 bits "
	"without a sign decimal(20,0); FLOAT, DOUBLE and FLOAT16 are float, and what is infinite "
	"or not a number becomes null, with a count; DECIMAL keeps its digits. TIMESTAMP and INT96 "
	"are datetime, of UTC if the file says so; what they lose below a microsecond is counted. "
	"TIME, ENUM and UUID are text. Bytes that the file does not call text are read as text "
	"where all of them are printable UTF-8, and are refused otherwise, as are BSON, INTERVAL, "
	"VARIANT and geometry: the file is read without these columns if the first step selects "
	"others, or if extra is drop. Members of a struct are columns (a.b); lists and maps are "
	"JSON texts, for explode and the json functions. A text longer than the limit archive.text "
	"is refused.\n"
	"Only the columns that a plan needs are read, and where its first step is a filter, only "
	"the row groups that can have rows for it: their statistics count for whole numbers, "
	"dates, times and texts without nulls. A cell is cited by its row, as in t.parquet!row 5. "
	"Encrypted files are refused.\n"
	"A .parquet that dtx writes has the types of its columns: int is INT64, float DOUBLE, bool "
	"BOOLEAN, decimal DECIMAL, date DATE, datetime TIMESTAMP in microseconds (of UTC if the "
	"column is), text STRING; a column of the type null is INT32 without a value. Lists and "
	"JSON are texts. A row group has up to 1,048,576 rows, or 128 MiB of values. The same "
	"table gives the same bytes, so the file does not have the id of its run.",
	NULL
};

const struct dtx_reader_class dtx_read_parquet = {
	.name = "parquet",
	.formats = "parquet",
	.suffixes = "parquet,pq",
	.what = "Parquet",
	.manual = &manual,
	.places = DTX_PLACES_ROWS,
	.isolated = true,
	.codecs = true,
	.values = true,
	.sniff = parquet_sniff,
	.open = parquet_open,
	.schema = parquet_schema,
	.start = parquet_start,
	.next = parquet_next,
	.describe = parquet_describe,
	.close = parquet_close,
};
