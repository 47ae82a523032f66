/* Makes the fields of a text file: with declared types, with guesses from a sample, and with exact
 * types if a guess was wrong. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/base/text/num.h"
#include "core/data/cast/infer.h"
#include "core/io/columns.h"
#include "core/io/csv/detect/csv_top.h"

#define TYPES_WINDOWS     8 /* places of the body that are sampled besides its beginning */
#define TYPES_WINDOW_ROWS 32u
#define TYPES_WINDOW_SKIP 8u /* lines of a cell that a window may begin with and skips */

bool dtx_csv_is_null(const struct dtx_read_opts *o, struct dtx_str s, bool quoted)
{
	size_t i;

	if (!s.len && !quoted)
		return true;
	for (i = 0; i < o->nnull_values; i++) {
		if (dtx_str_is(s, o->null_values[i]))
			return true;
	}
	return false;
}

static void types_marks(const struct dtx_read_opts *o, struct dtx_infer *seen, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		seen[i].decimal_comma = o->decimal == ',';
		seen[i].group = o->group;
	}
}

static void types_see_rows(const struct dtx_csv *c, const struct dtx_csv_top *top, size_t from,
                           bool exact_width, uint32_t n, struct dtx_infer *seen)
{
	size_t i;
	uint32_t k;

	for (i = from; i < top->n; i++) {
		const struct dtx_csv_top_row *r = &top->row[i];

		if (r->dropped || (r->blank && c->width > 1) || (exact_width && r->n != c->width))
			continue;
		for (k = 0; k < n; k++) {
			uint32_t p = c->phys[k];

			if (p < r->n)
				dtx_infer_text(&seen[k], r->cell[p],
				               dtx_csv_is_null(&c->opts, r->cell[p], r->quoted[p]),
				               (int64_t)r->start);
		}
	}
}

/* Samples rows all over the body, because the type of a column often changes far below. It is not
 * known whether a place is inside quotes: the next line end is taken for that of a record, and
 * lines that would be parts of a cell are skipped. For longer cells the guess may be wrong, which
 * only costs time. */
static enum dtx_code types_see_windows(struct dtx_csv *c, uint32_t n, struct dtx_infer *seen,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top top = { 0 };
	struct dtx_csv_text lines = c->text;
	size_t end = c->text.end, size = end - c->body, at;
	unsigned i;

	if (c->ref || size < 2 * DTX_CSV_TOP_BYTES)
		goto out;
	lines.set.quotes = false;
	for (i = 1; i <= TYPES_WINDOWS; i++) {
		at = c->body + size / (TYPES_WINDOWS + 1) * i;
		at = dtx_csv_row_seek(&lines, at, false, DTX_MIN(at + DTX_SPLIT_CHUNK, end));
		dtx_csv_top_clear(&top);
		c->text.end = DTX_MIN(end, at + DTX_CSV_TOP_BYTES); /* a cell may never end */
		DTX_TRY(dtx_csv_top_read(c, at, TYPES_WINDOW_SKIP + TYPES_WINDOW_ROWS, false, &top,
		                         err));
		types_see_rows(c, &top, TYPES_WINDOW_SKIP, true, n, seen);
	}
out:
	c->text.end = end;
	dtx_csv_top_clear(&top);
	return rc;
}

static void types_field(struct dtx_csv *c, const char *name, struct dtx_field *field)
{
	const struct dtx_read_opts *o = &c->opts;
	const struct dtx_read_type *t = dtx_columns_declared(o, name);
	bool fixed = t && t->on_error != DTX_CAST_KEEP_TEXT;

	*field = (struct dtx_field){ .name = name,
		                     .source = true,
		                     .declared = fixed,
		                     .input_name = fixed ? name : NULL,
		                     .guessed = !fixed,
		                     .format = t ? t->format : NULL,
		                     .type = t ? t->type : (struct dtx_typeref){ 0 },
		                     .decimal_comma = o->decimal == ',',
		                     .group = o->group };
}

/* Selects the columns of the range, by `requires`, `types` and `extra`. */
static enum dtx_code types_choose(struct dtx_csv *c, const char *const *names,
                                  struct dtx_field *field, uint32_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t ncols = DTX_MIN(c->width - 1, c->col1) - c->col0 + 1, i;
	bool *keep = dtx_arena_zalloc(&c->head.arena, ncols, sizeof(*keep));

	if (!keep)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_columns_choose(&c->opts, dtx_source_name(c->head.src), names + c->col0, ncols,
	                           keep, err));
	for (i = 0; i < ncols; i++) {
		if (!keep[i])
			continue;
		c->phys[*n] = c->col0 + i;
		types_field(c, names[c->col0 + i], &field[(*n)++]);
	}
out:
	return rc;
}

/* Warns if a single odd value makes a column of numbers text. */
static enum dtx_code types_almost(struct dtx_csv *c, const struct dtx_infer *seen,
                                  const struct dtx_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	struct dtx_typeref t;

	if (!dtx_infer_almost(seen, &t))
		goto out;
	dtx_err_set(&w, DTX_W_ALMOST_TYPE, __FILE__, __LINE__,
	            "'%s': column '%.100s' is text; but for %llu of the sampled values it would be "
	            "%s",
	            dtx_source_name(c->head.src), field->name, (unsigned long long)seen->texts,
	            dtx_type_name(t.type));
	dtx_err_hint(&w, "\"null_values\" makes such cells null; so does a declared type with "
	                 "\"on_error\": \"null\"");
	dtx_csv_set_position(c, (size_t)seen->sample_row, &w);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* Notes numbers that may be codes and therefore make the column text. */
static enum dtx_code types_codes(struct dtx_csv *c, const struct dtx_infer *seen,
                                 const struct dtx_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!seen->codes || seen->floats || seen->texts)
		goto out;
	dtx_err_set(
		&w, DTX_W_ALMOST_TYPE, __FILE__, __LINE__,
		"'%s': column '%.100s' is text: values such as '%.*s' may be codes, and none of "
		"the sampled values has a decimal point",
		dtx_source_name(c->head.src), field->name, (int)DTX_MIN(seen->code.len, (size_t)40),
		seen->code.ptr);
	dtx_err_hint(&w, "if they are numbers, declare it: \"types\": {\"%.60s\": \"float\"}",
	             field->name);
	dtx_csv_set_position(c, (size_t)seen->code_row, &w);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* For a declared datetime: it is UTC if all values have an offset; if some have one, a note says
 * that these become times of UTC. A later value that is unlike all of these is an error. */
static enum dtx_code types_offsets(struct dtx_csv *c, const struct dtx_infer *seen,
                                   struct dtx_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_read_type *t = dtx_columns_declared(&c->opts, field->name);
	struct dtx_err w = DTX_ERR_INIT;

	if (!c->opts.part) /* all parts of a stream must have the same type */
		dtx_infer_declared(seen, field->format, &field->type);
	if (field->type.type != DTX_T_DATETIME || dtx_type_is_utc(field->type) || field->format ||
	    !seen->zoned)
		goto out;
	field->mixed_offsets = true;
	if (t->on_error == DTX_CAST_NULL /* counted when they are read */)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': at least %llu cells of column '%.100s' " DTX_READ_OFFSETS,
	            dtx_source_name(c->head.src), (unsigned long long)seen->zoned, field->name);
	w.count = (int64_t)seen->zoned;
	w.count_open = true;
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* Warns of 1.200, read as 1.2, in a file where another column proves decimal commas: it may be
 * 1200. place: where it is. */
static enum dtx_code types_grouped(struct dtx_csv *c, const struct dtx_infer *seen,
                                   const char *name, const struct dtx_err *place,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	char whole[sizeof(seen->grouped_text)], value[32];
	double f = 0;
	size_t n = 0;

	for (const char *p = seen->grouped_text; *p; p++)
		if (*p != '.')
			whole[n++] = *p;
	whole[n] = '\0';
	(void)!dtx_num_parse_f64(seen->grouped_text, strlen(seen->grouped_text), &f);
	snprintf(value, sizeof(value), "%g", f);
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': '%s' of column '%.60s' is read as %s, but column '%.60s' has decimal "
	            "commas, so it may be %s",
	            dtx_source_name(c->head.src), seen->grouped_text, name, value, c->commas,
	            whole);
	dtx_err_hint(&w,
	             "if it is %s, declare the marks: \"dialect\": {\"decimal\": \",\", \"group\": "
	             "\".\"}",
	             whole);
	dtx_err_place(&w, place);
	dtx_str_copy(w.column, sizeof(w.column), dtx_str_of(name));
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* Notes the first column that proves decimal commas, and warns of those that may have groups. */
static enum dtx_code types_commas(struct dtx_csv *c, const struct dtx_infer *seen,
                                  const struct dtx_field *field, uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < n && !c->commas; i++)
		if (dtx_infer_has_commas(&seen[i]))
			c->commas = field[i].name;
	for (uint32_t i = 0; i < n && c->commas; i++) {
		struct dtx_err place = DTX_ERR_INIT;

		if (!dtx_infer_may_group(&seen[i]) || !dtx_type_is_number(field[i].type.type))
			continue;
		dtx_csv_set_position(c, (size_t)seen[i].grouped_row, &place);
		DTX_TRY(types_grouped(c, &seen[i], field[i].name, &place, err));
	}
out:
	return rc;
}

enum dtx_code dtx_csv_fields(struct dtx_csv *c, const struct dtx_csv_top *top,
                             const char *const *names, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_zalloc(&c->head.arena, c->width, sizeof(*field));
	struct dtx_schema *schema = dtx_arena_zalloc(&c->head.arena, 1, sizeof(*schema));
	struct dtx_infer *seen = dtx_mem_zalloc(c->width, sizeof(*seen));
	uint32_t n = 0, i;

	c->phys = dtx_arena_zalloc(&c->head.arena, c->width, sizeof(*c->phys));
	if (!field || !schema || !seen || !c->phys)
		DTX_FAIL_MEM(err);
	if (c->col0 >= c->width)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "range '%s' is right of the %u columns of '%s'", c->opts.range, c->width,
		         dtx_source_name(c->head.src));
	DTX_TRY(types_choose(c, names, field, &n, err));
	types_marks(&c->opts, seen, n);
	types_see_rows(c, top, top->body, c->opts.ragged == DTX_RAGGED_QUARANTINE, n, seen);
	DTX_TRY(types_see_windows(c, n, seen, err));
	for (i = 0; i < n; i++) {
		if (field[i].type.type != DTX_T_UNKNOWN) {
			DTX_TRY(types_offsets(c, &seen[i], &field[i], err));
			continue;
		}
		field[i].type = dtx_infer_type(&seen[i]);
		DTX_TRY(types_almost(c, &seen[i], &field[i], err));
		DTX_TRY(types_codes(c, &seen[i], &field[i], err));
	}
	DTX_TRY(types_commas(c, seen, field, n, err));
	*schema = (struct dtx_schema){ .nfields = n, .field = field };
	c->schema = schema;
out:
	dtx_mem_free(seen);
	return rc;
}

/* --- exact types --- */

struct types_job {
	struct dtx_csv *c;
	const bool *want;
	struct dtx_infer *seen; /* [worker][field] */
};

static void types_see_batch(const struct types_job *job, unsigned worker, const struct dtx_batch *b)
{
	struct dtx_infer *seen = job->seen + (size_t)worker * b->ncols;
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		if (job->want[i] && b->col[i])
			dtx_infer_column(&seen[i], b->col[i], (int64_t)b->first_row);
		seen[i].sample = (struct dtx_str){ NULL, 0 }; /* the batch is freed */
	}
}

static enum dtx_code types_work(void *arg, unsigned worker, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct types_job *job = arg;
	struct dtx_batch *b = NULL;

	for (;;) {
		DTX_TRY(job->c->head.cls->next(&job->c->head, worker, &b, err));
		if (!b)
			break;
		types_see_batch(job, worker, b);
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	return rc;
}

static void types_settle(const struct dtx_csv *c, const struct types_job *job, unsigned workers,
                         struct dtx_typeref *type)
{
	uint32_t n = c->schema->nfields, i;
	unsigned w;

	for (i = 0; i < n; i++) {
		const struct dtx_read_type *t =
			dtx_columns_declared(&c->opts, c->schema->field[i].name);

		if (!job->want[i])
			continue;
		for (w = 1; w < workers; w++)
			dtx_infer_merge(&job->seen[i], &job->seen[(size_t)w * n + i]);
		type[i] = dtx_infer_type(&job->seen[i]);
		/* With on_error keep_text, either all values fit or all are text. */
		if (t && t->on_error == DTX_CAST_KEEP_TEXT)
			type[i] = (struct dtx_typeref){ .type = DTX_T_TEXT };
	}
}

enum dtx_code dtx_csv_infer(struct dtx_reader *r, const bool *want, struct dtx_typeref *type,
                            unsigned workers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = (struct dtx_csv *)r;
	uint32_t n = c->schema->nfields, i;
	uint8_t *need = dtx_mem_zalloc(n, 1);
	struct types_job job = { .c = c, .want = want };
	struct dtx_scan scan = { .schema = c->schema, .limit = -1, .workers = workers };

	job.seen = dtx_mem_zalloc((size_t)workers * n, sizeof(*job.seen));
	if (!need || !job.seen)
		DTX_FAIL_MEM(err);
	types_marks(&c->opts, job.seen, workers * n);
	for (i = 0; i < n; i++)
		need[i] = want[i] ? DTX_NEED_BYTES : DTX_NEED_SKIP;
	scan.need = need;
	DTX_TRY(r->cls->start(r, &scan, err));
	DTX_TRY(dtx_pool_run(workers, types_work, &job, err));
	types_settle(c, &job, workers, type);
	for (i = 0; i < n && c->commas; i++) {
		struct dtx_err place = DTX_ERR_INIT;

		if (!want[i] || !dtx_infer_may_group(&job.seen[i]))
			continue;
		dtx_batch_set_position(
			&(struct dtx_batch){ .origin = &r->origin,
		                             .schema = c->schema,
		                             .first_row = (uint64_t)job.seen[i].grouped_row,
		                             .nrows = 1 },
			0, (int32_t)i, &place);
		DTX_TRY(types_grouped(c, &job.seen[i], c->schema->field[i].name, &place, err));
	}
out:
	dtx_mem_free(need);
	dtx_mem_free(job.seen);
	return rc;
}
