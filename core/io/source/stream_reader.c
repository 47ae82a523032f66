/* Reads a stream slice by slice, each with the reader of its format. See stream_reader.h. */
#include "core/base/memory/mem.h"

#include "core/base/err.h"
#include "core/io/archive/gzip.h"
#include "core/io/columns.h"
#include "core/io/csv/csv.h"
#include "core/io/json/json_rows.h"
#include "core/io/source/record_chunker.h"
#include "core/io/source/stream_reader.h"

enum {
	DTX_STREAM_READER_KEPT =
		8, /* slices whose rows can still be found; more than can be in use */
	DTX_STREAM_READER_SHIFT = 44, /* a row id is the slice, then the id within it */
};

struct dtx_stream_chunk {
	uint64_t seq;
	unsigned refs; /* under `lock` */
	struct dtx_source *src;
	struct dtx_reader *reader;
	const struct dtx_schema *schema;
	uint8_t *need;
	/* for each column of the stream: the one in the slice, or UINT32_MAX if it has none */
	uint32_t *from;
};
struct dtx_stream_reader_reject {
	uint64_t seq;
	struct dtx_buf text;
};
struct dtx_stream_reader_worker {
	struct dtx_stream_chunk *now;
	uint32_t sub;
};
struct dtx_stream_reader {
	struct dtx_reader head;
	struct dtx_read_opts opts; /* for a slice; the first one may have others */
	const struct dtx_reader_class *cls;
	struct dtx_dialect dialect;
	struct dtx_record_chunker slices;
	struct dtx_stream_chunk *first; /* opened for the schema; CSV only */
	json_t *described;
	const struct dtx_schema *schema;
	uint32_t head_rows; /* rows of the header, which every slice but the first repeats */
	struct dtx_scan scan;
	bool started;
	struct dtx_stream_reader_worker *worker;

	pthread_mutex_t pulling; /* for claiming slices */
	uint64_t claimed;

	pthread_mutex_t lock; /* for what follows, head.stats and head.diags */
	bool stop;            /* a limit was reached */
	struct dtx_stream_chunk **kept;
	size_t nkept;
	uint64_t done;
	int64_t nkept_rows;
	bool closed;
	bool *seen; /* columns that some slice has */
	struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT];
	struct dtx_errlist later; /* notes of later slices of a text file, each once */
	struct dtx_stream_reader_reject *reject;
	size_t nrejects, rejects_cap;
};

static inline bool stream_reader_is_csv(const struct dtx_stream_reader *s)
{
	return s->cls == &dtx_read_csv;
}

static void stream_chunk_free(struct dtx_stream_chunk *p);  /* NULL is fine */
static void stream_chunk_unref(struct dtx_stream_chunk *p); /* with the lock held */

/* What a stream cannot do, as a table. */

struct wish {
	bool (*asked)(const struct dtx_read_opts *o);
	enum dtx_code code;
	const char *at, *text, *hint;
};

/* The reader of the slices; NULL: no declared format that can be cut into slices. */
static const struct dtx_reader_class *slice_class(const struct dtx_read_opts *o)
{
	for (size_t i = 0; o->format && dtx_reads[i]; i++)
		if (dtx_str_in_list(dtx_reads[i]->streams, o->format))
			return dtx_reads[i];
	return NULL;
}

static bool no_format(const struct dtx_read_opts *o)
{
	return !slice_class(o);
}

static bool no_delimiter(const struct dtx_read_opts *o)
{
	return slice_class(o) == &dtx_read_csv && !dtx_csv_delimiter(o);
}

static bool other_encoding(const struct dtx_read_opts *o)
{
	return o->encoding && !dtx_str_ieq(dtx_str_of(o->encoding), DTX_STR("utf-8")) &&
	       !dtx_str_ieq(dtx_str_of(o->encoding), DTX_STR("utf8"));
}

static bool quotes_by_width(const struct dtx_read_opts *o)
{
	return o->mixed || (o->quotes && dtx_str_in_list("lenient,lines", o->quotes));
}

static bool asked_open_json(const struct dtx_read_opts *o)
{
	return slice_class(o) == &dtx_read_json && o->extra == DTX_EXTRA_ALLOW;
}

static bool no_types(const struct dtx_read_opts *o)
{
	return !o->ntypes;
}

static bool untyped_json(const struct dtx_read_opts *o)
{
	size_t i, k;

	for (i = 0; slice_class(o) == &dtx_read_json && i < o->nrequires; i++) {
		for (k = 0; k < o->ntypes && strcmp(o->types[k].name, o->requires[i]) != 0; k++)
			;
		if (k == o->ntypes)
			return true;
	}
	return false;
}

static bool kept_text(const struct dtx_read_opts *o)
{
	size_t i;

	for (i = 0; i < o->ntypes; i++) {
		if (o->types[i].on_error == DTX_CAST_KEEP_TEXT)
			return true;
	}
	return false;
}

static bool widest(const struct dtx_read_opts *o)
{
	return o->ragged == DTX_RAGGED_PAD;
}

static bool tail(const struct dtx_read_opts *o)
{
	return o->skip_tail > 0;
}

static bool ranged(const struct dtx_read_opts *o)
{
	return o->range != NULL;
}

static bool pointed(const struct dtx_read_opts *o)
{
	return o->records || o->json_lenient;
}

static const struct wish wishes[] = {
	{ no_format, DTX_E_MISSING_PARAM, "format", "needs its format declared",
	  "\"format\": \"csv\", \"tsv\" or \"jsonl\"; other formats are read as a whole" },
	{ no_delimiter, DTX_E_MISSING_PARAM, "dialect", "needs its delimiter declared",
	  "for example \"dialect\": {\"delimiter\": \",\"}" },
	{ no_types, DTX_E_MISSING_PARAM, "types", "needs the types of its columns declared",
	  "for example \"types\": {\"day\": \"date\", \"amount\": \"float\"}" },
	{ untyped_json, DTX_E_MISSING_PARAM, "types", "needs a type for each required column",
	  "for example \"types\": {\"day\": \"date\", \"amount\": \"float\"}" },
	{ kept_text, DTX_E_PARAM_CONFLICT, "types", "cannot know which columns stay text",
	  "\"on_error\": \"error\" or \"null\"; or declare the type text" },
	{ asked_open_json, DTX_E_PARAM_CONFLICT, "extra",
	  "of JSON Lines has only the declared columns",
	  "\"extra\": \"drop\" leaves others out, \"error\" refuses them" },
	{ other_encoding, DTX_E_PARAM_CONFLICT, "encoding", "is UTF-8",
	  "iconv -f ENCODING -t UTF-8 in front of dtx" },
	{ quotes_by_width, DTX_E_PARAM_CONFLICT, "dialect",
	  "has the quotes \"literal\" or \"strict\", and one delimiter", NULL },
	{ widest, DTX_E_PARAM_CONFLICT, "ragged", "cannot know its widest row",
	  "\"truncate\" or \"quarantine\"" },
	{ tail, DTX_E_PARAM_CONFLICT, "skip_tail", "cannot know its last rows", NULL },
	{ ranged, DTX_E_PARAM_CONFLICT, "range", "has no range", "\"skip\", and select" },
	{ pointed, DTX_E_PARAM_CONFLICT, "format", "of JSON is one record a line",
	  "without \"records\" and \"syntax\"" },
};

enum dtx_code dtx_stream_reader_check(const struct dtx_read_opts *opts, const char **member,
                                      struct dtx_err *err)
{
	const char *name = opts->alias ? opts->alias : "main";
	size_t i;

	for (i = 0; i < DTX_COUNT(wishes); i++) {
		const struct wish *w = &wishes[i];

		if (!w->asked(opts))
			continue;
		dtx_err_set(err, w->code, __FILE__, __LINE__, "a stream %s: input '%s'", w->text,
		            name);
		if (w->hint)
			dtx_err_hint(err, "%s", w->hint);
		if (member)
			*member = w->at;
		return w->code;
	}
	return DTX_OK;
}

/* A slice of a stream: a table with the columns of the whole stream. */

static void stream_chunk_free(struct dtx_stream_chunk *p)
{
	if (!p)
		return;
	dtx_reader_close(p->reader);
	dtx_source_free(p->src);
	dtx_mem_free(p->need);
	dtx_mem_free(p->from);
	dtx_mem_free(p);
}

static void stream_chunk_unref(struct dtx_stream_chunk *p)
{
	if (p && --p->refs == 0)
		stream_chunk_free(p);
}

/* Refuses an array: it would name only the columns of its own slice. */
static enum dtx_code check_object(struct dtx_source *src, struct dtx_err *err)
{
	struct dtx_str text =
		dtx_str_trim((struct dtx_str){ dtx_source_data(src), dtx_source_size(src) });
	int64_t line = dtx_source_line0(src);
	size_t at;

	if (dtx_str_starts(text, DTX_STR("\xef\xbb\xbf")))
		text = (struct dtx_str){ text.ptr + 3, text.len - 3 };
	if (!text.len || text.ptr[0] == '{')
		return DTX_OK;
	at = (size_t)(text.ptr - dtx_source_data(src));
	line += dtx_csv_line(dtx_source_data(src), 0, at);
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s': a stream of JSON Lines has an object on each line; L%lld has not",
	            dtx_source_name(src), (long long)line + 1);
	dtx_record_chunker_set_position(line, dtx_source_byte0(src) + (int64_t)at, err);
	return DTX_E_CORRUPT_FILE;
}

static enum dtx_code check_unpacked(struct dtx_source *src, struct dtx_err *err)
{
	if (!dtx_packed_sniff(dtx_source_data(src), dtx_source_size(src)))
		return DTX_OK;
	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	            "'%s' is compressed, and a stream is not unpacked", dtx_source_name(src));
	dtx_err_hint(err, "gzip -dc or zstd -dc in front of dtx; or without \"stream\"");
	return DTX_E_UNSUPPORTED_FORMAT;
}

/* Opens a slice with its reader. Takes src. */
static enum dtx_code stream_chunk_open(struct dtx_stream_reader *s, struct dtx_source *src,
                                       uint64_t seq, const struct dtx_read_opts *opts,
                                       struct dtx_stream_chunk **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_stream_chunk *p = dtx_mem_zalloc(1, sizeof(*p));

	if (!p) {
		dtx_source_free(src);
		DTX_FAIL_MEM(err);
	}
	p->seq = seq;
	p->refs = 1;
	p->src = src;
	if (!seq)
		DTX_TRY(check_unpacked(src, err));
	if (!stream_reader_is_csv(s))
		DTX_TRY(check_object(src, err));
	DTX_TRY(s->cls->open(src, opts, &p->reader, err));
	p->reader->cls = s->cls;
	DTX_TRY(p->reader->cls->schema(p->reader, &p->schema, err));
	*out = p;
	p = NULL;
out:
	stream_chunk_free(p);
	return rc;
}

/* Finds the columns of the stream in the slice. A slice of JSON Lines has only those that its
 * records have. */
static enum dtx_code slice_columns(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = s->schema->nfields, i;

	p->from = dtx_mem_alloc(n, sizeof(*p->from));
	p->need = dtx_mem_zalloc(p->schema->nfields, 1);
	if (!p->from || !p->need)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		int32_t at = dtx_schema_find(p->schema, s->schema->field[i].name);

		p->from[i] = at < 0 ? UINT32_MAX : (uint32_t)at;
		if (at >= 0)
			p->need[at] = s->scan.need[i];
		/* all columns of a text file are declared, so its reader has found them */
		DTX_ASSERT(at >= 0 || !stream_reader_is_csv(s), err);
	}
out:
	return rc;
}

static enum dtx_code stream_chunk_start(struct dtx_stream_reader *s, struct dtx_stream_chunk *p,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_scan scan = { .limit = -1, .workers = 1, .batch_rows = s->scan.batch_rows };

	DTX_TRY(slice_columns(s, p, err));
	scan.schema = p->schema;
	scan.need = p->need;
	DTX_TRY(p->reader->cls->start(p->reader, &scan, err));
out:
	return rc;
}

/* Arranges the columns of *from as in the stream. Takes *from. */
static enum dtx_code stream_chunk_shape(const struct dtx_stream_reader *s,
                                        const struct dtx_stream_chunk *p, struct dtx_batch **from,
                                        struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint32_t n = s->schema->nfields, rows = (*from)->nrows, i;

	DTX_TRY(dtx_batch_new(s->schema, rows, &b, err));
	b->first_row = (*from)->first_row;
	for (i = 0; i < n; i++) {
		uint32_t k = p->from[i];

		if (s->scan.need[i] == DTX_NEED_SKIP)
			continue;
		if (k == UINT32_MAX) {
			DTX_TRY(dtx_column_nulls(s->schema->field[i].type, rows, &b->col[i], err));
			continue;
		}
		b->col[i] = (*from)->col[k];
		(*from)->col[k] = NULL;
	}
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_batch_free(*from);
	*from = NULL;
	return rc;
}

/* What is known about a stream before its rows: the columns, and the options of each slice. */

/* The columns are those of the header, which is in the first slice. */
static enum dtx_code open_csv(struct dtx_stream_reader *s, const struct dtx_read_opts *opts,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts first = *opts;
	struct dtx_source *src;
	struct dtx_schema *own;
	uint32_t *phys;

	first.quote = opts->quote ? opts->quote : "\"";
	DTX_TRY(dtx_dialect_find(&first, DTX_STR(""), true, dtx_source_name(s->head.src),
	                         &s->dialect, err));
	dtx_record_chunker_init(&s->slices, s->head.src, &s->dialect, opts->once_bytes);
	DTX_TRY(dtx_record_chunker_next(&s->slices, &src, err));
	if (!src)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' is empty", dtx_source_name(s->head.src));
	DTX_TRY(stream_chunk_open(s, src, 0, &first, &s->first, err));
	DTX_TRY(dtx_csv_header(s->first->reader, &s->slices.head, &s->head_rows, err));
	s->slices.head_lines = dtx_csv_line(s->slices.head.ptr, 0, s->slices.head.len);
	s->opts = first;
	s->opts.skip = 0;
	s->opts.header_rows = (int)s->head_rows;
	own = dtx_schema_copy(&s->head.arena, s->first->schema);
	s->described = s->cls->describe(s->first->reader);
	if (!own || !s->described)
		DTX_FAIL_MEM(err);
	s->schema = own;
	phys = dtx_arena_alloc(&s->head.arena, own->nfields, sizeof(*phys));
	if (!phys)
		DTX_FAIL_MEM(err);
	memcpy(phys, s->first->reader->origin.physical_col, own->nfields * sizeof(*phys));
	s->head.origin.physical_col = phys;
out:
	return rc;
}

/* The columns are the declared ones, because records to come may have any. */
static enum dtx_code open_json(struct dtx_stream_reader *s, const struct dtx_read_opts *opts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_schema *own = dtx_arena_zalloc(&s->head.arena, 1, sizeof(*own));
	struct dtx_field *field =
		dtx_arena_zalloc(&s->head.arena, opts->ntypes + 1, sizeof(*field));
	size_t i;

	dtx_record_chunker_init(&s->slices, s->head.src, NULL, opts->once_bytes);
	s->described = json_pack("{ss ss}", "format", opts->format, "encoding", "utf-8");
	if (!own || !field || !s->described)
		DTX_FAIL_MEM(err);
	for (i = 0; i < opts->ntypes; i++)
		field[i] = (struct dtx_field){ .name = opts->types[i].name,
			                       .source = true,
			                       .declared = true,
			                       .input_name = opts->types[i].name,
			                       .format = opts->types[i].format,
			                       .type = opts->types[i].type };
	own->nfields = (uint32_t)opts->ntypes;
	own->field = field;
	s->schema = own;
	s->opts.part = true;
out:
	return rc;
}

/* Finds the columns and the options of the slices. */
static enum dtx_code stream_reader_columns(struct dtx_stream_reader *s,
                                           const struct dtx_read_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->opts = *opts;
	s->opts.encoding = "utf-8";
	s->cls = slice_class(opts);
	rc = stream_reader_is_csv(s) ? open_csv(s, &s->opts, err) : open_json(s, opts, err);
	DTX_TRY(rc);
	if (!dtx_json_set(s->described, "stream", json_true()))
		DTX_FAIL_MEM(err);
	s->seen = dtx_mem_zalloc(s->schema->nfields, sizeof(*s->seen));
	if (!s->seen)
		DTX_FAIL_MEM(err);
	s->head.origin.file = dtx_source_name(s->head.src);
	s->head.origin.alias = opts->alias ? opts->alias : "main";
	s->head.origin.ncols = s->schema->nfields;
out:
	return rc;
}

static struct dtx_stream_reader *stream_of(struct dtx_reader *r)
{
	return (struct dtx_stream_reader *)r; /* head is the first member */
}

static void stream_close(struct dtx_reader *r)
{
	struct dtx_stream_reader *s = stream_of(r);
	size_t i;

	for (i = 0; s->worker && i < s->scan.workers; i++)
		stream_chunk_unref(s->worker[i].now);
	for (i = 0; i < s->nkept; i++)
		stream_chunk_unref(s->kept[i]);
	for (i = 0; i < s->nrejects; i++)
		dtx_buf_clear(&s->reject[i].text);
	stream_chunk_free(s->first);
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
		rc = stream_chunk_open(s, src, seq, &s->opts, out, err);
	return rc;
}

/* Keeps the slice, so that places of its rows can be found, instead of one whose rows are gone. */
static void keep(struct dtx_stream_reader *s, struct dtx_stream_reader_worker *w,
                 struct dtx_stream_chunk *p)
{
	struct dtx_stream_chunk **slot = &s->kept[p->seq % s->nkept];

	pthread_mutex_lock(&s->lock);
	stream_chunk_unref(*slot);
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
	bool later = p->seq && stream_reader_is_csv(s);
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
	int64_t again = p->seq && stream_reader_is_csv(s) ? s->head_rows : 0;
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
	if (stream_reader_is_csv(s))
		dtx_csv_odds(p->reader, s->odd);
	/* These counts are read when all workers are done. */
	found.misfits = atomic_load_explicit(&p->reader->misfits, memory_order_relaxed);
	found.offsets = atomic_load_explicit(&p->reader->offsets, memory_order_relaxed);
	dtx_columns_count(&s->head, &found);
	rc = add_rejects(s, p, err);
	if (rc == DTX_OK)
		rc = add_diags(s, p, err);
	stream_chunk_unref(p);
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
	if (stream_reader_is_csv(s))
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
		DTX_TRY(stream_chunk_shape(s, p, &own, &b, err));
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
		DTX_TRY(stream_chunk_start(s, p, err));
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
	DTX_TRY(stream_reader_columns(s, opts, err));
	*out = &s->head;
	s = NULL;
out:
	if (s)
		stream_close(&s->head);
	return rc;
}
