/* The reader of JSON Lines and JSON documents: records are objects, arrays, or columns of
 * arrays.
 *
 * The first pass reads all records: it checks the syntax, finds the columns and their exact
 * types, and cuts morsels. Then each morsel is read again to make batches: numbers, bools and
 * dates stay spans of the source, and texts point into it unless they contain escapes. */
#include "core/base/file.h"
#include "core/base/memory/mem.h"

#include "core/data/frame/rawgrid.h"
#include "core/io/columns.h"
#include "core/io/json/json_reader.h"
#include "core/io/json/json_rows.h"

/* The raw cells of records, for a snippet: a row of names, then a row of texts for each record. */

static enum dtx_code raw_batch(const struct dtx_batch *b, uint32_t *row, struct dtx_rawgrid *out,
                               struct dtx_buf *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, c;

	for (i = 0; i < b->nrows; i++, ++*row) {
		for (c = 0; c < b->ncols; c++) {
			dtx_buf_reset(text);
			dtx_cast_print(b->col[c], i, text);
			DTX_TRY(dtx_buf_check(text, "cell", err));
			DTX_TRY(dtx_rawgrid_put(out, *row, c, dtx_buf_str(text), err));
		}
	}
	DTX_TRY(dtx_rawgrid_reach(out, *row, b->ncols, err));
out:
	return rc;
}

static enum dtx_code raw_records(struct dtx_reader *r, struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20);
	struct dtx_scan scan = { .limit = -1, .workers = 1 };
	struct dtx_batch *b = NULL;
	uint8_t *need = NULL;
	uint32_t row = 1, c;

	DTX_TRY(r->cls->schema(r, &scan.schema, err));
	need = dtx_mem_alloc(scan.schema->nfields, 1);
	if (!need)
		DTX_FAIL_MEM(err);
	memset(need, DTX_NEED_BYTES, scan.schema->nfields);
	scan.need = need;
	for (c = 0; c < scan.schema->nfields; c++)
		DTX_TRY(dtx_rawgrid_put(out, 0, c, dtx_str_of(scan.schema->field[c].name), err));
	DTX_TRY(r->cls->start(r, &scan, err));
	do {
		dtx_batch_free(b);
		b = NULL;
		DTX_TRY(r->cls->next(r, 0, &b, err));
		if (b)
			DTX_TRY(raw_batch(b, &row, out, &text, err));
	} while (b);
out:
	dtx_batch_free(b);
	dtx_mem_free(need);
	dtx_buf_clear(&text);
	return rc;
}

/* Names, then the texts of each record. */
static enum dtx_code json_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                              struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts plain = *opts; /* without options that drop or change something */
	struct dtx_reader *r = NULL;

	plain.ntypes = plain.nrequires = 0;
	plain.extra = DTX_EXTRA_ALLOW;
	out->text_file = true;
	DTX_TRY(dtx_reader_open(src, &plain, &r, err));
	DTX_TRY(raw_records(r, out, err));
out:
	dtx_reader_close(r);
	return rc;
}

enum { SNIFF_BYTES = 8192 };

/* --- opening --- */

/* Whether it begins with an object and a key: then it is JSON, even if something later is wrong. */
static bool begins_object(struct dtx_str s)
{
	struct dtx_jscan at = { .p = s.ptr, .end = s.ptr + s.len, .lenient = true };
	struct dtx_jvalue key;

	while (at.p < at.end && *at.p == '[') {
		at.p++;
		dtx_jscan_blanks(&at);
	}
	if (!dtx_jscan_char(&at, '{', NULL))
		return false;
	dtx_jscan_blanks(&at);
	return dtx_jscan_string(&at, &key) && dtx_jscan_char(&at, ':', NULL);
}

/* Reduces UTF-16 to its ASCII characters, which is enough for JSON outside of strings; other
 * characters count as letters. Other text is returned without its byte order mark. */
static struct dtx_str json_narrow(struct dtx_str s, char *to, size_t cap)
{
	bool wide =
		dtx_str_starts(s, DTX_STR("\xff\xfe")) || dtx_str_starts(s, DTX_STR("\xfe\xff"));
	size_t high = wide && s.ptr[0] == '\xff', i, n = 0;

	if (dtx_str_starts(s, DTX_STR("\xef\xbb\xbf")))
		return (struct dtx_str){ s.ptr + 3, s.len - 3 };
	for (i = 2; wide && i + 1 < s.len && n < cap; i += 2)
		to[n++] = s.ptr[i + high] || (s.ptr[i + !high] & 0x80) ? 'x' : s.ptr[i + !high];
	return wide ? (struct dtx_str){ to, n } : s;
}

static int json_sniff(const void *head, size_t len, const char *path)
{
	char narrow[SNIFF_BYTES];
	struct dtx_str s = json_narrow((struct dtx_str){ head, len }, narrow, sizeof(narrow));

	(void)path;
	s = dtx_str_trim(s);
	if (s.len > 1 && s.ptr[0] == DTX_J_RECORD) /* RFC 7464 */
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	if (!s.len || (s.ptr[0] != '{' && s.ptr[0] != '['))
		return 0;
	return begins_object(s) || dtx_jscan_tokens(s.ptr, DTX_MIN(s.len, (size_t)SNIFF_BYTES)) ? 85
	                                                                                        : 0;
}

bool dtx_json_is_document(struct dtx_str text)
{
	char narrow[SNIFF_BYTES];
	struct dtx_str s = dtx_str_trim(json_narrow(text, narrow, sizeof(narrow)));
	struct dtx_jscan at = { .p = s.ptr, .end = s.ptr + s.len };

	return begins_object(s) ||
	       (dtx_jscan_char(&at, '[', NULL) && dtx_jscan_char(&at, '[', NULL));
}

static void json_close(struct dtx_reader *reader)
{
	struct dtx_json *r = (struct dtx_json *)reader;

	dtx_jrows_clear(&r->rows);
	dtx_encoding_clear(&r->enc);
	dtx_mem_free(r->worker);
	dtx_errlist_clear(&r->head.diags);
	dtx_arena_clear(&r->head.arena);
	pthread_mutex_destroy(&r->lock);
	dtx_mem_free(r);
}

/* Finds the line in which a record begins. It counts from the start, so this is for errors only. */
static void locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out)
{
	const struct dtx_json *r = o->arg;
	const struct dtx_jrows *rows = &r->rows;
	struct dtx_jscan s = rows->area;
	struct dtx_jvalue v;
	size_t m = rows->nmorsels;
	uint64_t row;
	bool more;

	*out = (struct dtx_place){ -1, -1 };
	if (rows->turned) {
		dtx_jrows_place(rows, dtx_jturn_place(rows, row_id), &out->row, &out->byte);
		out->row--;
		return;
	}
	while (m && rows->morsel[m - 1].row > row_id)
		m--;
	if (!m || row_id >= rows->nrows)
		return;
	s.p = rows->base + rows->morsel[m - 1].byte;
	for (row = rows->morsel[m - 1].row; row < row_id; row++) {
		if (!dtx_jscan_value(&s, &v) ||
		    dtx_jrows_next(rows, &s, false, &more, NULL) != DTX_OK)
			return;
	}
	dtx_jscan_blanks(&s);
	dtx_jrows_place(rows, s.p, &out->row, &out->byte);
	out->row--;
	if (r->enc.converted)
		out->byte = -1;
}

static void blame_input(const struct dtx_json *r, struct dtx_err *w)
{
	dtx_str_copy(w->input, sizeof(w->input),
	             dtx_str_of(r->opts.alias ? r->opts.alias : r->rows.label));
}

static enum dtx_code warn(struct dtx_json *r, enum dtx_code code, const char *text,
                          const char *subject, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (subject)
		dtx_err_set(&w, code, __FILE__, __LINE__, "'%.100s' %s", subject, text);
	else
		dtx_err_set(&w, code, __FILE__, __LINE__, "%s", text);
	w.severity = DTX_SEV_WARNING;
	w.run_time = true;
	blame_input(r, &w);
	if (!dtx_errlist_take(&r->head.diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Names a column: nested keys are joined by dots, and a name contains no NUL. If the name exists
 * already, it gets a number. */
static enum dtx_code name_column(struct dtx_json *r, struct dtx_strmap *taken, uint32_t col,
                                 const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str path = r->rows.col[col].path;
	char *name = dtx_arena_strndup(&r->head.arena, path.ptr, path.len);
	uint32_t holder, found;
	size_t n = 0, i;

	if (!name)
		DTX_FAIL_MEM(err);
	for (i = 0; i < path.len; i++) {
		name[n] = path.ptr[i] == '\x1f' ? '.' : path.ptr[i];
		n += name[n] != '\0';
	}
	name[n] = '\0';
	if (n != path.len)
		DTX_TRY(warn(r, DTX_W_READER_NOTE, "is a name with the byte 0, which is left out",
		             name, err));
	*out = name;
	if (!dtx_strmap_put(taken, dtx_str_of(name), col, &holder))
		DTX_FAIL_MEM(err);
	for (found = holder; found != col;) {
		*out = dtx_arena_printf(&r->head.arena, "%s_%u", name,
		                        2 + r->rows.col[holder].alike++);
		if (!*out || !dtx_strmap_put(taken, dtx_str_of(*out), col, &found))
			DTX_FAIL_MEM(err);
	}
	if (*out != name)
		DTX_TRY(warn(r, DTX_W_DUPLICATE_HEADER, "is the name of two members", name, err));
out:
	return rc;
}

static bool is_mixed(const struct dtx_jcol *c)
{
	return (c->strings > 0) + (c->numbers > 0) + (c->bools > 0) + (c->nested > 0) > 1;
}

/* Whether the texts are JSON values, which are written unchanged. */
static bool is_json_text(const struct dtx_jcol *c, const struct dtx_field *f)
{
	return f->type.type == DTX_T_TEXT && (c->numbers || c->nested) && !c->strings && !c->bools;
}

/* Warns about a column with several kinds; names the first value that is not of the most
 * frequent one. */
static enum dtx_code warn_mixed(struct dtx_json *r, const struct dtx_jcol *c, const char *name,
                                struct dtx_err *err)
{
	const uint64_t n[] = { c->strings, c->numbers, c->bools, c->nested };
	const struct dtx_origin here = { .arg = r };
	struct dtx_place place;
	struct dtx_err *w;
	uint64_t row = 0;
	size_t most = 0;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(warn(r, DTX_W_MIXED_TYPES, "is text: its values are of several kinds", name, err));
	if (!r->head.diags.n)
		goto out;
	for (size_t i = 1; i < DTX_COUNT(n); i++)
		if (n[i] > n[most])
			most = i;
	for (size_t i = 0; i < DTX_COUNT(n); i++)
		if (i != most && c->first[i] && (!row || c->first[i] < row))
			row = c->first[i];
	w = &r->head.diags.item[r->head.diags.n - 1];
	dtx_err_row(w, -1, name);
	if (!row)
		goto out;
	locate(&here, row - 1, &place);
	w->row = place.row;
	w->byte = place.byte;
	if (place.row >= 0)
		snprintf(w->cell, sizeof(w->cell), "L%lld", (long long)place.row + 1);
out:
	return rc;
}

static enum dtx_code make_field(struct dtx_json *r, const struct dtx_jcol *c, struct dtx_field *f,
                                const struct dtx_read_type **declared, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_read_type *d = dtx_columns_declared(&r->opts, f->name);

	f->source = true;
	f->declared = d != NULL;
	f->input_name = d ? f->name : NULL;
	f->type = dtx_infer_type(&c->seen);
	if (d && d->on_error != DTX_CAST_KEEP_TEXT) {
		f->type = d->type;
		f->format = d->format;
		if (!r->opts.part)
			dtx_infer_declared(&c->seen, f->format, &f->type);
		*declared = d;
	} else if (d) {
		f->type = (struct dtx_typeref){ .type = DTX_T_TEXT };
	} else if (is_mixed(c)) {
		DTX_TRY(warn_mixed(r, c, f->name, err));
	} else if (f->type.type == DTX_T_TEXT && c->numbers) {
		DTX_TRY(warn(r, DTX_W_READER_NOTE,
		             "is text: no number type holds all of its numbers exactly", f->name,
		             err));
	}
	f->json = !d && is_json_text(c, f);
out:
	return rc;
}

static bool is_hollow(const struct dtx_jcol *c)
{
	return c->object && !(c->seen.nulls + c->strings + c->numbers + c->bools + c->nested);
}

static enum dtx_code make_names(struct dtx_json *r, const char **name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap taken = DTX_STRMAP_INIT;
	uint32_t i;

	for (i = 0; i < r->rows.ncols; i++)
		DTX_TRY(name_column(r, &taken, i, &name[i], err));
out:
	dtx_strmap_clear(&taken);
	return rc;
}

static enum dtx_code make_fields(struct dtx_json *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena *a = &r->head.arena;
	uint32_t n = (uint32_t)r->rows.ncols, i, k = 0;
	struct dtx_field *f = dtx_arena_zalloc(a, n, sizeof(*f));
	const char **name = dtx_arena_zalloc(a, n, sizeof(*name));
	bool *keep = dtx_arena_zalloc(a, n, sizeof(*keep));

	r->declared = dtx_arena_zalloc(a, n, sizeof(*r->declared));
	r->field_of = dtx_arena_zalloc(a, n, sizeof(*r->field_of));
	if (!f || !name || !keep || !r->declared || !r->field_of)
		DTX_FAIL_MEM(err);
	DTX_TRY(make_names(r, name, err));
	DTX_TRY(dtx_columns_choose(&r->opts, r->rows.label, name, n, keep, err));
	for (i = 0; i < n; i++) {
		/* a cell that only contains objects is replaced by their columns */
		keep[i] &= !is_hollow(&r->rows.col[i]);
		r->field_of[i] = keep[i] ? k : UINT32_MAX;
		if (!keep[i])
			continue;
		f[k].name = name[i];
		DTX_TRY(make_field(r, &r->rows.col[i], &f[k], &r->declared[k], err));
		k++;
	}
	r->schema = (struct dtx_schema){ .nfields = k, .field = f };
out:
	return rc;
}

/* Adds a note about an irregularity, with its count and first place. */
static enum dtx_code tell(struct dtx_json *r, const struct dtx_joddity *o, const char *what,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	int64_t line, byte;

	if (!o->n)
		goto out;
	dtx_jrows_place(&r->rows, o->at, &line, &byte);
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__, "'%s': %s: %llu, first at line %lld",
	            r->rows.label, what, (unsigned long long)o->n, (long long)line);
	w.severity = DTX_SEV_WARNING;
	w.run_time = true;
	w.count = (int64_t)o->n;
	w.row = line - 1;
	w.byte = byte;
	snprintf(w.cell, sizeof(w.cell), "L%lld", (long long)line);
	blame_input(r, &w);
	if (!dtx_errlist_take(&r->head.diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code tell_all(struct dtx_json *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jrows *rows = &r->rows;

	if (rows->assumed)
		DTX_TRY(warn(r, DTX_W_RECORDS_ASSUMED, rows->assumed, NULL, err));
	if (rows->assumed && rows->otherwise && r->head.diags.n)
		dtx_err_hint(&r->head.diags.item[r->head.diags.n - 1], "%s", rows->otherwise);
	if (rows->clash.n)
		DTX_TRY(warn(r, DTX_W_DUPLICATE_HEADER, "is the name of two columns",
		             rows->clash.at, err));
	DTX_TRY(tell(r, &rows->repeated, "repeated keys that were left out", err));
	DTX_TRY(tell(r, &rows->mended, "places that are not quite JSON, read all the same", err));
	DTX_TRY(tell(r, &rows->unread, "records that are no JSON, left out", err));
	DTX_TRY(tell(r, &rows->ragged, "rows with another number of cells", err));
out:
	return rc;
}

/* The text as UTF-8. Unless it was converted, it includes the byte order mark, so that places
 * are those in the file. */
static enum dtx_code json_text(struct dtx_json *r, struct dtx_str *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = r->head.src;

	DTX_TRY(dtx_encoding_open(src, r->opts.encoding, &r->enc, err));
	DTX_TRY(dtx_encoding_check(&r->enc, dtx_source_name(src), 0, r->enc.len, err));
	DTX_TRY(dtx_encoding_notes(&r->enc, src, &r->head.diags, err));
	*out = r->enc.converted ? (struct dtx_str){ r->enc.text, r->enc.len }
	                        : (struct dtx_str){ dtx_source_data(src), dtx_source_size(src) };
out:
	return rc;
}

static enum dtx_code json_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                               struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_json *r = dtx_mem_zalloc(1, sizeof(*r));
	struct dtx_str text;

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.src = src;
	r->opts = *opts;
	pthread_mutex_init(&r->lock, NULL);
	DTX_TRY(json_text(r, &text, err));
	DTX_TRY(dtx_jrows_open(&r->rows, src, text, &r->opts, err));
	DTX_TRY(make_fields(r, err));
	DTX_TRY(tell_all(r, err));
	r->head.origin =
		(struct dtx_origin){ .locate = locate,
		                     .arg = r,
		                     .file = dtx_source_name(src),
		                     .alias = dtx_arena_strdup(&r->head.arena,
		                                               opts->alias ? opts->alias : "main"),
		                     .ncols = r->schema.nfields };
	if (!r->head.origin.alias)
		DTX_FAIL_MEM(err);
	*out = &r->head;
	r = NULL;
out:
	if (r)
		json_close(&r->head);
	return rc;
}

static enum dtx_code json_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                 struct dtx_err *err)
{
	(void)err;
	*out = &((struct dtx_json *)reader)->schema;
	return DTX_OK;
}

static enum dtx_code json_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_json *r = (struct dtx_json *)reader;

	r->scan = *scan;
	r->scan.batch_rows = scan->batch_rows ? scan->batch_rows : DTX_BATCH_ROWS;
	dtx_mem_free(r->worker);
	r->worker = dtx_mem_zalloc(scan->workers ? scan->workers : 1, sizeof(*r->worker));
	if (!r->worker)
		DTX_FAIL_MEM(err);
	r->next_morsel = 0;
	r->kept = 0;
	reader->stats = (struct dtx_read_stats){
		.rows_read = (int64_t)r->rows.unread.n + r->rows.header,
		.dropped = { [DTX_DROP_REJECT] = (int64_t)r->rows.unread.n,
		             [DTX_DROP_HEADER] = r->rows.header },
	};
	reader->misfits = reader->offsets = 0;
out:
	return rc;
}

/* --- batches --- */

/* Gives the worker a morsel, unless it has one; returns false at the end. */
static bool claim(struct dtx_json *r, struct dtx_json_worker *w)
{
	const struct dtx_jrows *rows = &r->rows;

	if (w->active)
		return true;
	pthread_mutex_lock(&r->lock);
	if (r->next_morsel < rows->nmorsels && (r->scan.limit < 0 || r->kept < r->scan.limit)) {
		*w = (struct dtx_json_worker){ .at = rows->area,
			                       .morsel = r->next_morsel++,
			                       .active = true };
		w->at.p = rows->base + rows->morsel[w->morsel].byte;
		dtx_reader_progress(&r->head, r->next_morsel, rows->nmorsels);
		r->head.stats.rows_read += rows->morsel[w->morsel].rows;
		r->head.stats.rows_out += rows->morsel[w->morsel].rows;
		r->head.stats.stopped_early = r->next_morsel < rows->nmorsels;
	}
	pthread_mutex_unlock(&r->lock);
	return w->active;
}

/* Makes a batch of the next n records of the worker's morsel, or of those before the first value
 * that does not have its declared type: a limit may want no more than these, whatever the size
 * of batches. */
static enum dtx_code make_batch(struct dtx_json *r, struct dtx_json_worker *w, uint32_t n,
                                struct dtx_batch **out, struct dtx_err *err)
{
	const struct dtx_jmorsel *m = &r->rows.morsel[w->morsel];
	const struct dtx_json_worker before = *w;
	struct dtx_cast_found found;
	struct dtx_batch *b;
	enum dtx_code rc;

	do {
		dtx_err_clear(err);
		*w = before;
		found = (struct dtx_cast_found){ 0 };
		rc = dtx_batch_new(r->scan.schema, n, &b, err);
		if (rc != DTX_OK)
			return rc;
		b->seq = w->morsel;
		b->sub = w->sub++;
		b->first_row = m->row + w->done;
		b->origin = &r->head.origin;
		rc = dtx_json_batch(r, w, b, &found, err);
		if (rc != DTX_OK)
			dtx_batch_free(b);
		n = found.bad;
	} while (rc != DTX_OK && n);
	if (rc != DTX_OK)
		return rc;
	dtx_columns_count(&r->head, &found);
	*out = b;
	return DTX_OK;
}

static enum dtx_code json_next(struct dtx_reader *reader, unsigned worker, struct dtx_batch **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_json *r = (struct dtx_json *)reader;
	struct dtx_json_worker *w = &r->worker[worker];
	const struct dtx_jmorsel *m;
	struct dtx_batch *b = NULL;

	*out = NULL;
	if (!claim(r, w))
		goto out;
	m = &r->rows.morsel[w->morsel];
	rc = make_batch(r, w, DTX_MIN(m->rows - w->done, r->scan.batch_rows), &b, err);
	if (rc != DTX_OK && err)
		err->seq = (int64_t)w->morsel;
	DTX_TRY(rc);
	w->done += b->nrows;
	b->last = w->done == m->rows;
	w->active = !b->last;
	pthread_mutex_lock(&r->lock);
	r->kept += b->nsel;
	pthread_mutex_unlock(&r->lock);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

bool dtx_json_named_lines(const char *format, const char *path)
{
	char suffix[DTX_FILE_SUFFIX];

	if (format && strcmp(format, "auto") != 0)
		return strcmp(format, "json") != 0;
	dtx_file_suffix(path, suffix);
	return !strcmp(suffix, "jsonl") || !strcmp(suffix, "ndjson");
}

static json_t *json_describe(struct dtx_reader *reader)
{
	const struct dtx_json *r = (struct dtx_json *)reader;

	static const char *const layout[] = { "objects", "arrays", "values" };

	return json_pack("{s:s, s:s, s:I, s:s}", "format", r->rows.array ? "json" : "jsonl",
	                 "encoding", r->enc.name, "records", (json_int_t)r->rows.nrows, "layout",
	                 r->rows.turned ? "columns" : layout[r->rows.layout]);
}

const struct dtx_reader_class dtx_read_json = {
	.name = "json",
	.formats = "json,jsonl,ndjson",
	.suffixes = "json,jsonl,ndjson",
	.what = "JSON",
	.streams = "jsonl,ndjson",
	.uses = "encoding,records,duplicate_keys,syntax",
	.places = DTX_PLACES_RECORDS,
	.sniff = json_sniff,
	.open = json_open,
	.schema = json_schema,
	.start = json_start,
	.next = json_next,
	.describe = json_describe,
	.close = json_close,
	.raw = json_raw,
};
