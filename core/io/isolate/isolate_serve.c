/* Inside the reader process: answers requests with the ordinary readers. */
#include "core/base/memory/mem.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/rawgrid.h"
#include "core/io/isolate/isolate.h"

#define LINES_BYTES ((size_t)1 << 20) /* bytes of cells in one answer */

struct dtx_isolate_server {
	const struct dtx_isolate_sink *sink;
	int fd;
	size_t size;
	struct dtx_source *src; /* made for the first request */
	struct dtx_arena arena; /* for lists of the options */
	json_t *args;           /* of the open reader, whose options point into it */
	struct dtx_reader *reader;
	const struct dtx_schema *schema;
	uint8_t *need;
	size_t ndiags_sent; /* number of diagnostics that main has */
	json_t *described;  /* the description that main has */
	/* The texts that main has: nsent of those at `strings`. `keep` holds them, so that no
	 * other texts can get the same address. */
	const struct dtx_strings *strings;
	size_t nsent;
	struct dtx_owner *keep;
};

/* Sends a frame with the sections of f. */
static enum dtx_code send_frame(struct dtx_isolate_server *s, struct dtx_frame *f,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t size = dtx_frame_size(f);
	void *to;

	DTX_TRY(s->sink->room(s->sink->arg, size, &to, err));
	dtx_frame_zero(f, to, size);
	DTX_TRY(dtx_frame_write(f, to, err));
	DTX_TRY(s->sink->send(s->sink->arg, err));
out:
	return rc;
}

static enum dtx_code send_text(struct dtx_isolate_server *s, struct dtx_buf *text,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;

	DTX_TRY(dtx_buf_check(text, "the answer of the reader", err));
	DTX_TRY(dtx_frame_add_bytes(&f, DTX_FRAME_REPORT, 0, NULL,
	                            (struct dtx_str){ text->ptr, text->len }, err));
	DTX_TRY(send_frame(s, &f, err));
out:
	dtx_frame_clear(&f);
	return rc;
}

/* Sends a value, which is taken; NULL means out of memory. */
static enum dtx_code send_json(struct dtx_isolate_server *s, json_t *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)256 << 20);

	if (!value)
		DTX_FAIL_MEM(err);
	dtx_json_print(value, 0, &text);
	DTX_TRY(send_text(s, &text, err));
out:
	dtx_buf_clear(&text);
	json_decref(value);
	return rc;
}

/* --- what is reported after a request --- */

static json_t *new_diags(struct dtx_isolate_server *s)
{
	json_t *list = json_array();

	for (; list && s->ndiags_sent < s->reader->diags.n; s->ndiags_sent++) {
		if (json_array_append_new(
			    list, dtx_isolate_err_json(&s->reader->diags.item[s->ndiags_sent]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *physical_cols(const struct dtx_origin *o)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && o->physical_col && i < o->ncols; i++)
		if (json_array_append_new(list, json_integer(o->physical_col[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* A description that main has already is not sent again. */
static json_t *state_json(struct dtx_isolate_server *s)
{
	json_t *describe = s->reader->cls->describe(s->reader);
	json_t *state = json_pack("{so so}", "diags", new_diags(s), "stats",
	                          dtx_isolate_stats_json(&s->reader->stats));
	bool same = s->described && json_equal(describe, s->described);

	if (!describe || !state || (!same && json_object_set(state, "describe", describe))) {
		json_decref(describe);
		json_decref(state);
		return NULL;
	}
	json_decref(s->described);
	s->described = describe;
	return state;
}

static json_t *opened_json(struct dtx_isolate_server *s)
{
	const struct dtx_origin *o = &s->reader->origin;

	return json_pack("{ss so ss? so so}", "name", s->reader->cls->name, "schema",
	                 dtx_isolate_schema_json(s->schema), "sheet", o->sheet, "cols",
	                 physical_cols(o), "state", state_json(s));
}

/* --- requests --- */

/* Takes `args`. */
static enum dtx_code serve_open(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts opts;

	DTX_ASSERT(!s->reader, err);
	s->args = json_incref(args);
	/* dtx wrote them, so only memory can be the problem */
	if (!dtx_isolate_opts_read(args, &s->arena, &opts))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_reader_open(s->src, &opts, &s->reader, err));
	DTX_TRY(s->reader->cls->schema(s->reader, &s->schema, err));
	s->need = dtx_mem_zalloc(s->schema->nfields, 1);
	if (!s->need)
		DTX_FAIL_MEM(err);
	DTX_TRY(send_json(s, opened_json(s), err));
out:
	return rc;
}

/* --- batches --- */

static bool has_text(const struct dtx_column *c)
{
	uint32_t i, found = 0;

	for (i = 0; i < c->len; i++) {
		unsigned kind = c->tag[i] & DTX_CELL_KIND;

		found += kind == DTX_CELL_TEXT || kind == DTX_CELL_ISO;
	}
	return found;
}

/* Sends texts [from, n) as a frame. Its id is 1 if they continue those that main has. */
static enum dtx_code send_strings(struct dtx_isolate_server *s, const struct dtx_strings *t,
                                  size_t from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;
	size_t n = t->n - from, bytes = 0, i;
	uint64_t size;
	const struct dtx_frame_entry *e;
	void *to;
	char *at;
	uint32_t *len;

	for (i = from; i < t->n; i++)
		bytes += t->item[i].len;
	/* Only lays out the frame, so that the texts are copied just once, to their place. */
	DTX_TRY(dtx_frame_add_pair(&f, DTX_FRAME_STRINGS, from ? 1 : 0, n,
	                           (struct dtx_str){ NULL, n * sizeof(*len) },
	                           (struct dtx_str){ NULL, bytes }, err));
	size = dtx_frame_size(&f);
	DTX_TRY(s->sink->room(s->sink->arg, size, &to, err));
	dtx_frame_zero(&f, to, size);
	DTX_TRY(dtx_frame_write(&f, to, err));
	e = dtx_frame_part_entry(&f, 0);
	len = (uint32_t *)(void *)((char *)to + e->a_off);
	at = (char *)to + e->b_off;
	for (i = from; i < t->n; i++) {
		*len++ = (uint32_t)t->item[i].len;
		memcpy(at, t->item[i].ptr, t->item[i].len);
		at += t->item[i].len;
	}
	DTX_TRY(s->sink->send(s->sink->arg, err));
out:
	dtx_frame_clear(&f);
	return rc;
}

/* Sends the texts of a batch before the batch. */
static enum dtx_code tell_strings(struct dtx_isolate_server *s, const struct dtx_batch *b,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_column *first = NULL;
	bool text = false, same;
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		const struct dtx_column *c = b->col[i];

		if (!c)
			continue;
		DTX_ASSERT(c->form == DTX_F_CELL && (!first || c->strings == first->strings), err);
		first = c;
		text = text || has_text(c);
	}
	if (!text)
		goto out;
	same = s->strings == first->strings && s->nsent <= first->strings->n;
	if (!same)
		s->nsent = 0;
	if (!same || s->nsent < first->strings->n)
		DTX_TRY(send_strings(s, first->strings, s->nsent, err));
	s->nsent = first->strings->n;
	s->strings = first->strings;
	dtx_owner_ref(first->owner);
	dtx_owner_unref(s->keep);
	s->keep = first->owner;
out:
	return rc;
}

static enum dtx_code batch_cells(struct dtx_frame *f, const struct dtx_batch *b,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		const struct dtx_column *c = b->col[i];

		if (!c)
			continue;
		DTX_TRY(dtx_frame_add_pair(f, DTX_FRAME_CELLS, i, b->nrows,
		                           (struct dtx_str){ (const char *)c->tag, b->nrows },
		                           (struct dtx_str){ (const char *)c->v.payload,
		                                             b->nrows * sizeof(*c->v.payload) },
		                           err));
	}
out:
	return rc;
}

/* Whether the columns of a batch have values, not cells of a workbook. */
static bool has_values(const struct dtx_batch *b)
{
	uint32_t i;

	for (i = 0; i < b->ncols; i++)
		if (b->col[i])
			return b->col[i]->form != DTX_F_CELL;
	return false;
}

/* Adds the columns of a batch as a table, in order. Main knows their names, which need not be fit
 * for a frame: here each has its number. */
static enum dtx_code batch_values(struct dtx_frame *f, const struct dtx_batch *b,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena names = DTX_ARENA_INIT;
	struct dtx_field *field = dtx_arena_zalloc(&names, b->ncols, sizeof(*field));
	struct dtx_schema schema = { .field = field };
	struct dtx_table *t = NULL;
	struct dtx_batch *some = NULL;
	uint32_t i, k = 0;

	if (!field)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		if (!b->col[i])
			continue;
		field[k].name = dtx_arena_printf(&names, "%u", (unsigned)i);
		field[k].type = b->col[i]->type;
		if (!field[k++].name)
			DTX_FAIL_MEM(err);
	}
	schema.nfields = k;
	DTX_TRY(dtx_table_new(&schema, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, b->nrows, &some, err));
	for (i = 0, k = 0; i < b->ncols; i++)
		if (b->col[i])
			some->col[k++] = dtx_column_ref(b->col[i]);
	f->narrow = true;
	rc = dtx_table_take(t, some, err);
	some = NULL;
	if (rc == DTX_OK)
		rc = dtx_frame_add_table(f, "", t, err);
out:
	dtx_batch_free(some);
	dtx_table_unref(t);
	dtx_arena_clear(&names);
	return rc;
}

static enum dtx_code send_batch(struct dtx_isolate_server *s, const struct dtx_batch *b,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;
	bool values = has_values(b);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *state = NULL;
	size_t ids = b->rec ? b->nrows : 1;

	DTX_ASSERT(!b->sel, err);
	if (!values)
		DTX_TRY(tell_strings(s, b, err));
	state = state_json(s);
	if (!state)
		DTX_FAIL_MEM(err);
	dtx_json_print(state, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "the state of the reader", err));
	DTX_TRY(dtx_frame_add_pair(
		&f, DTX_FRAME_ROWS, 0, b->nrows,
		(struct dtx_str){ (const char *)(b->rec ? b->rec : &b->first_row),
	                          ids * sizeof(uint64_t) },
		(struct dtx_str){ NULL, 0 }, err));
	DTX_TRY(dtx_frame_add_bytes(&f, DTX_FRAME_REPORT, 0, NULL,
	                            (struct dtx_str){ text.ptr, text.len }, err));
	DTX_TRY(values ? batch_values(&f, b, err) : batch_cells(&f, b, err));
	DTX_TRY(send_frame(s, &f, err));
out:
	json_decref(state);
	dtx_buf_clear(&text);
	dtx_frame_clear(&f);
	return rc;
}

/* Reads the conditions of the filter. Their texts stay in `args`. */
static void read_ranges(const json_t *args, struct dtx_scan_range *range, struct dtx_scan *scan)
{
	const json_t *list = json_object_get(args, "ranges"), *one;
	size_t i;

	scan->range = range;
	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		struct dtx_scan_range *r = &range[scan->nranges];
		const json_t *text = json_array_get(one, 4);

		if (scan->nranges == DTX_SCAN_RANGES_MAX)
			break;
		r->column = (uint32_t)json_integer_value(json_array_get(one, 0));
		r->type = (enum dtx_type)json_integer_value(json_array_get(one, 1));
		r->outcomes = (unsigned)json_integer_value(json_array_get(one, 2));
		r->i = json_integer_value(json_array_get(one, 3));
		r->s = (struct dtx_str){ json_string_value(text), json_string_length(text) };
		scan->nranges += r->column < scan->schema->nfields;
	}
}

/* Sends cells as they are: main converts them to declared types and applies pushed filters. */
static enum dtx_code serve_read(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_scan scan = {
		.schema = s->schema, .need = s->need, .workers = 1, .coded = true
	};
	struct dtx_scan_range range[DTX_SCAN_RANGES_MAX];
	struct dtx_batch *b = NULL;
	uint32_t i;

	DTX_ASSERT(s->reader, err);
	for (i = 0; i < s->schema->nfields; i++)
		s->need[i] = json_is_true(json_array_get(json_object_get(args, "need"), i))
		                     ? DTX_NEED_BYTES
		                     : DTX_NEED_SKIP;
	scan.limit = dtx_json_int(args, "limit", -1);
	scan.batch_rows = (uint32_t)dtx_json_int(args, "batch_rows", 0);
	scan.threads = (unsigned)dtx_json_int(args, "threads", 1);
	read_ranges(args, range, &scan);
	s->strings = NULL;
	DTX_TRY(s->reader->cls->start(s->reader, &scan, err));
	for (;;) {
		DTX_TRY(s->reader->cls->next(s->reader, 0, &b, err));
		if (!b)
			break;
		if (b->nrows)
			DTX_TRY(send_batch(s, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
	DTX_TRY(send_json(s, state_json(s), err));
out:
	dtx_batch_free(b);
	return rc;
}

/* --- questions about a workbook --- */

static enum dtx_code serve_raw(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_rawgrid grid;
	struct dtx_read_opts opts;

	dtx_rawgrid_init(&grid);
	/* dtx wrote them, so only memory can be the problem */
	if (!dtx_isolate_opts_read(args, &s->arena, &opts))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_reader_raw(s->src, &opts, &grid, err));
	DTX_TRY(dtx_frame_add_grid(&f, "", &grid, err));
	DTX_TRY(send_frame(s, &f, err));
out:
	dtx_frame_clear(&f);
	dtx_rawgrid_clear(&grid);
	return rc;
}

struct lines {
	struct dtx_isolate_server *s;
	struct dtx_buf text;
};

static enum dtx_code cell_line(void *arg, const struct dtx_cell_info *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lines *l = arg;
	json_t *line = json_pack("[sssObs?s?]", c->sheet, c->cell, c->kind, c->value,
	                         (int)c->formula, c->format, c->merged);

	if (!line)
		DTX_FAIL_MEM(err);
	dtx_json_print(line, 0, &l->text);
	dtx_buf_addc(&l->text, '\n');
	if (l->text.len < LINES_BYTES)
		goto out;
	DTX_TRY(send_text(l->s, &l->text, err));
	dtx_buf_reset(&l->text);
out:
	json_decref(line);
	return rc;
}

static enum dtx_code send_piece(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;

	DTX_TRY(dtx_frame_add_bytes(&f, DTX_FRAME_ARTIFACT, 0, NULL, piece, err));
	DTX_TRY(send_frame(arg, &f, err));
out:
	dtx_frame_clear(&f);
	return rc;
}

static enum dtx_code serve_inflate(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	struct dtx_str bytes = { dtx_source_data(s->src), dtx_source_size(s->src) };

	(void)args;
	return dtx_packed_inflate(dtx_source_name(s->src), bytes, dtx_source_limits(s->src),
	                          send_piece, s, err);
}

static enum dtx_code serve_cells(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lines l = { s, DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };

	DTX_TRY(dtx_book_cells(s->src, dtx_json_text(args, "sheet", NULL), cell_line, &l, err));
	DTX_TRY(send_text(s, &l.text, err));
out:
	dtx_buf_clear(&l.text);
	return rc;
}

static enum dtx_code serve_sheets(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *sheets = NULL;

	(void)args;
	DTX_TRY(dtx_book_sheets(s->src, &sheets, err));
	DTX_TRY(send_json(s, sheets, err));
out:
	return rc;
}

static enum dtx_code serve_stamp(struct dtx_isolate_server *s, json_t *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char id[64];

	(void)args;
	DTX_TRY(dtx_xlsx_run_id(s->src, id, err));
	DTX_TRY(send_json(s, json_pack("[s]", id), err));
out:
	return rc;
}

/* --- the server --- */

enum dtx_code dtx_isolate_server_new(int fd, size_t size, const struct dtx_isolate_sink *sink,
                                     struct dtx_isolate_server **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_isolate_server *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->fd = fd;
	s->size = size;
	s->sink = sink;
	*out = s;
out:
	return rc;
}

void dtx_isolate_server_free(struct dtx_isolate_server *s)
{
	if (!s)
		return;
	dtx_reader_close(s->reader);
	dtx_owner_unref(s->keep);
	dtx_source_free(s->src);
	dtx_mem_free(s->need);
	json_decref(s->args);
	json_decref(s->described);
	dtx_arena_clear(&s->arena);
	dtx_mem_free(s);
}

enum dtx_code dtx_isolate_serve(struct dtx_isolate_server *s, enum dtx_ask ask, struct dtx_str text,
                                struct dtx_err *err)
{
	static enum dtx_code (*const serve[DTX_ASK_COUNT])(struct dtx_isolate_server *, json_t *,
	                                                   struct dtx_err *) = {
		[DTX_ASK_OPEN] = serve_open,   [DTX_ASK_READ] = serve_read,
		[DTX_ASK_RAW] = serve_raw,     [DTX_ASK_INFLATE] = serve_inflate,
		[DTX_ASK_CELLS] = serve_cells, [DTX_ASK_SHEETS] = serve_sheets,
		[DTX_ASK_STAMP] = serve_stamp,
	};
	static const struct dtx_json_limits limits = { .bytes = (size_t)64 << 20 };
	enum dtx_code rc = DTX_OK;
	struct dtx_archive_limits inner;
	json_t *args = NULL;

	DTX_ASSERT((unsigned)ask < DTX_ASK_COUNT, err);
	DTX_TRY(dtx_json_parse(text, limits, &args, err));
	if (!s->src)
		DTX_TRY(dtx_source_fd(dtx_json_text(args, "name", ""), s->fd, s->size, &s->src,
		                      err));
	inner = *dtx_source_limits(s->src);
	if (dtx_archive_limits_read(json_object_get(args, "limits"), &inner)) {
		inner.tick = s->sink->tick;
		inner.tick_arg = s->sink->arg;
		inner.again = DTX_ISOLATE_INPUT;
		dtx_source_limit(s->src, &inner);
	}
	DTX_TRY(serve[ask](s, args, err));
out:
	json_decref(args);
	return rc;
}
