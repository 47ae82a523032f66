/* The protocol of isolated readers without the process: what is sent, and what a hostile peer could
 * send instead. */
#include "tests/t.h"

#include "core/base/file.h"
#include "core/io/columns.h"
#include "core/io/isolate/isolate.h"
#include "core/io/isolate/isolated.h"
#include "tests/unit/bookmake.h"

/* --- a "process" that answers at once, within this process --- */

#define FRAMES_MAX 4096

struct dtx_isolate {
	struct dtx_isolate_server *server;
	struct dtx_isolate_sink sink;
	int fd;
	struct dtx_sealed frame[FRAMES_MAX];
	size_t n, at, len; /* frames; the next one to send; bytes of the current one */
	enum dtx_code rc;
	struct dtx_err err;
	void (*spoil)(struct dtx_isolate *p, unsigned char *ptr, size_t len);
	long spoil_arg;
};

static void (*next_spoil)(struct dtx_isolate *p, unsigned char *ptr, size_t len);
static long next_spoil_arg;

static enum dtx_code loop_room(void *arg, uint64_t n, void **to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_isolate *p = arg;
	void *block = dtx_mem_alloc64(n, 1);

	DTX_ASSERT(p->n < FRAMES_MAX, err);
	if (!block)
		DTX_FAIL_MEM(err);
	memset(block, 0, n);
	p->frame[p->n] = (struct dtx_sealed){ block, n, dtx_owner_take(block) };
	if (!p->frame[p->n].owner)
		DTX_FAIL_MEM(err);
	p->n++;
	p->len = n;
	*to = block;
out:
	return rc;
}

static enum dtx_code loop_send(void *arg, struct dtx_err *err)
{
	struct dtx_isolate *p = arg;

	(void)err;
	if (p->spoil)
		p->spoil(p, (unsigned char *)(uintptr_t)p->frame[p->n - 1].ptr, p->len);
	return DTX_OK;
}

static void loop_drop(struct dtx_isolate *p)
{
	while (p->at < p->n)
		dtx_owner_unref(p->frame[p->at++].owner);
	p->n = p->at = 0;
	dtx_err_clear(&p->err);
}

static void loop_stop(struct dtx_isolate *p)
{
	if (!p)
		return;
	loop_drop(p);
	dtx_isolate_server_free(p->server);
	dtx_file_close(&p->fd);
	dtx_mem_free(p);
}

static enum dtx_code loop_start(struct dtx_source *src, const struct dtx_isolate_limits *limits,
                                struct dtx_isolate **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_isolate *p = dtx_mem_zalloc(1, sizeof(*p));

	(void)limits;
	if (!p)
		DTX_FAIL_MEM(err);
	p->fd = -1;
	p->spoil = next_spoil;
	p->spoil_arg = next_spoil_arg;
	p->sink = (struct dtx_isolate_sink){ p, loop_room, loop_send, NULL };
	DTX_TRY(dtx_source_dup(src, &p->fd, err));
	DTX_TRY(dtx_isolate_server_new(p->fd, dtx_source_size(src), &p->sink, &p->server, err));
	*out = p;
	p = NULL;
out:
	loop_stop(p);
	return rc;
}

static enum dtx_code loop_ask(struct dtx_isolate *p, enum dtx_ask ask, const json_t *args,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	loop_drop(p);
	dtx_json_print(args, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "request", err));
	p->rc = dtx_isolate_serve(p->server, ask, (struct dtx_str){ text.ptr, text.len }, &p->err);
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code loop_next(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	*out = (struct dtx_sealed){ NULL, 0, NULL };
	if (p->at < p->n)
		*out = p->frame[p->at++];
	else if (p->rc != DTX_OK)
		dtx_err_copy(err, &p->err);
	return out->owner ? DTX_OK : p->rc;
}

static const struct dtx_isolate_class loop = { loop_start, loop_ask, loop_next, loop_stop };

/* --- the same table in both ways --- */

#define HEAD                                                                                       \
	"<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\"><v>k</v></c><c r=\"B1\" t=\"str\"><v>v</v>" \
	"</c><c r=\"C1\" t=\"str\"><v>d</v></c></row>"

static const char mixed[] =
	HEAD "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\"><v>1.5</v></c>"
	     "<c r=\"C2\" s=\"1\"><v>44000</v></c></row>"
	     "<row r=\"4\"><c r=\"A4\" t=\"inlineStr\"><is><t>a longer text, inline</t></is></c>"
	     "<c r=\"B4\" t=\"e\"><v>#N/A</v></c></row>"
	     "<row r=\"5\"><c r=\"A5\" t=\"s\"><v>2</v></c><c r=\"B5\"><v>-7</v></c>"
	     "<c r=\"C5\" s=\"1\"><v>44001</v></c></row></sheetData>";

static const struct dtx_reader_class *xlsx_class(void)
{
	size_t i;

	for (i = 0; strcmp(dtx_reads[i]->name, "xlsx") != 0; i++)
		;
	return dtx_reads[i];
}

static enum dtx_code loop_dump(const struct dtx_buf *bytes, const struct dtx_read_opts *opts,
                               uint32_t batch_rows, bool values, struct dtx_buf *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;

	DTX_TRY(dtx_source_bytes("b.xlsx", bytes->ptr, bytes->len, &src, err));
	DTX_TRY(dtx_isolated_open(&loop, src, opts, xlsx_class(), &r, err));
	DTX_TRY(table_dump(r, batch_rows, values, out, err));
	if (ledger_sum(&r->stats) != r->stats.rows_read)
		DTX_FAIL(err, DTX_E_BUG, "the ledger does not balance");
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	return rc;
}

static void same_both_ways(const struct dtx_read_opts *opts, uint32_t batch_rows, bool values)
{
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20), a = DTX_BUF_INIT(1 << 16),
		       b = DTX_BUF_INIT(1 << 16);
	struct dtx_err ea = DTX_ERR_INIT, eb = DTX_ERR_INIT;
	enum dtx_code rc;

	book_make(&book, &bytes);
	rc = bytes_dump("b.xlsx", &bytes, opts, batch_rows, values, &a, &ea);
	T_CODE(loop_dump(&bytes, opts, batch_rows, values, &b, &eb), rc, &eb);
	T_STR(dtx_buf_text(&b), dtx_buf_text(&a));
	T_STR(eb.msg, ea.msg);
	T_STR(eb.hint, ea.hint);
	T_STR(eb.cell, ea.cell);
	T_STR(eb.did_you_mean[0], ea.did_you_mean[0]);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
	dtx_err_clear(&ea);
	dtx_err_clear(&eb);
}

void test_isolate_gives_the_same(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const char *const nulls[] = { "-7" };
	struct dtx_read_type type = {
		"v", { .type = DTX_T_DECIMAL, .precision = 8, .scale = 2 }, NULL, DTX_CAST_ERROR
	};

	same_both_ways(&opts, 0, true);
	same_both_ways(&opts, 1, true);
	same_both_ways(&opts, 2, false);
	opts.null_values = nulls;
	opts.nnull_values = 1;
	opts.types = &type;
	opts.ntypes = 1;
	same_both_ways(&opts, 0, true);
	type.name = "k"; /* a value that does not fit: the same message, the same cell */
	same_both_ways(&opts, 0, true);
	opts.ntypes = 0;
	opts.sheet = "Onne";
	same_both_ways(&opts, 0, true);
	opts.sheet = NULL;
	opts.requires = nulls;
	opts.nrequires = 1;
	same_both_ways(&opts, 0, true);
}

/* The reader process finds the types of columns by an index of its own. */
void test_isolate_types_of_columns(void)
{
	struct dtx_arena a = { 0 };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT, got, none;
	struct dtx_read_type types[40];
	char name[40][8];
	json_t *sent;
	size_t i;

	for (i = 0; i < 40; i++) {
		snprintf(name[i], sizeof(name[i]), "c%zu", i < 39 ? i : 7);
		types[i] = (struct dtx_read_type){ .name = name[i], .type.type = DTX_T_INT64 };
	}
	opts.types = types;
	opts.ntypes = 40;
	sent = dtx_isolate_opts_json(&opts);
	T_CHECK(dtx_isolate_opts_read(sent, &a, &got) && got.declared);
	for (i = 0; i < 39; i++)
		T_CHECK(dtx_columns_declared(&got, name[i]) == &got.types[i]);
	T_CHECK(!dtx_columns_declared(&got, "c39"));
	none = got;
	none.ntypes = 0;
	T_CHECK(!dtx_columns_declared(&none, "c7"));
	json_decref(sent);
	dtx_arena_clear(&a);
}

/* A filter and a limit inside of the reader are applied here to what came. */
static enum dtx_code keep_odd(void *arg, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;

	++*(int *)arg;
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	b->nsel = b->first_row % 2 ? 1 : 0;
out:
	return rc;
}

void test_isolate_filter_and_limit(void)
{
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src;
	struct dtx_reader *r;
	struct dtx_batch *b;
	const uint8_t need[3] = { DTX_NEED_VALUE, 0, 0 }, keep_need[3] = { 0, DTX_NEED_VALUE, 0 };
	int calls = 0, round;
	struct dtx_scan scan = { .need = need,
		                 .limit = 1,
		                 .batch_rows = 1,
		                 .keep = keep_odd,
		                 .keep_arg = &calls,
		                 .keep_need = keep_need };

	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_isolated_open(&loop, src, &opts, xlsx_class(), &r, &err), &err);
	T_STR(r->cls->name, "xlsx");
	T_OK(r->cls->schema(r, &scan.schema, &err), &err);
	for (round = 0; round < 2; round++) { /* the second round starts a read again */
		T_OK(r->cls->start(r, &scan, &err), &err);
		T_OK(r->cls->next(r, 0, &b, &err), &err);
		T_CHECK(b && b->col[0] && b->col[1] && !b->col[2] && b->nsel == 1);
		dtx_batch_free(b);
		T_OK(r->cls->next(r, 0, &b, &err), &err);
		T_CHECK(!b && r->stats.stopped_early);
	}
	T_INT(calls, 2);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&bytes);
}

static enum dtx_code dump_once(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = loop_dump(bytes, &opts, 2, true, &out, &err);

	if (rc == DTX_OK && out.fail == DTX_BUF_MEM)
		rc = DTX_E_NO_MEMORY;
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc;
}

void test_isolate_allocation_fails(void)
{
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);

	book_make(&book, &bytes);
	T_EVERY_ALLOC_FAILS(dump_once(&bytes));
	dtx_buf_clear(&bytes);
}

/* --- a peer that sends something else --- */

static void flip_byte(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	if (p->spoil_arg >= 0 && p->spoil_arg < (long)len)
		ptr[p->spoil_arg] ^= 0xff;
	p->spoil_arg -= (long)len;
}

/* Each byte that is sent is changed in turn: it is refused or read, and nothing is accessed out of
 * bounds. */
void test_isolate_every_byte_changed(void)
{
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	long i, refused = 0, read = 0;

	book_make(&book, &bytes);
	next_spoil = flip_byte;
	for (i = 0; i < 12000; i += i < 800 ? 1 : 13) {
		enum dtx_code rc;

		next_spoil_arg = i;
		rc = dump_once(&bytes);
		T_CHECK(rc == DTX_OK || rc == DTX_E_CORRUPT_FILE || rc == DTX_E_BUG ||
		        rc == DTX_E_RETYPE || rc == DTX_E_CAST_FAILED);
		refused += rc == DTX_E_CORRUPT_FILE;
		read += rc == DTX_OK;
	}
	T_CHECK(refused > 300 && read > 50);
	next_spoil = NULL;
	dtx_buf_clear(&bytes);
}

static void set_row(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	struct dtx_frame_view view;
	const struct dtx_frame_entry *rows;
	uint64_t id = (uint64_t)p->spoil_arg;

	T_OK(dtx_frame_open(ptr, len, &view, NULL), NULL);
	rows = dtx_frame_find(&view, DTX_FRAME_ROWS);
	if (rows)
		memcpy(ptr + rows->a_off, &id, sizeof(id));
	dtx_frame_close(&view);
}

/* A process could send rows without end, and row numbers that no sheet has. */
void test_isolate_rows_out_of_order(void)
{
	static const long row[] = { 1 /* the same number again, in the second batch */, 1048576,
		                    -1 };
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	size_t i;

	book_make(&book, &bytes);
	next_spoil = set_row;
	for (i = 0; i < DTX_COUNT(row); i++) {
		next_spoil_arg = row[i];
		T_CODE(dump_once(&bytes), DTX_E_CORRUPT_FILE, NULL);
	}
	next_spoil = NULL;
	dtx_buf_clear(&bytes);
}

/* One row more than there are row numbers, if these are not from the first batch alone. */
static void add_row(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	struct dtx_frame_view view;
	const struct dtx_frame_entry *rows;
	struct dtx_frame_entry e;
	unsigned char *at;

	(void)p;
	T_OK(dtx_frame_open(ptr, len, &view, NULL), NULL);
	rows = dtx_frame_find(&view, DTX_FRAME_ROWS);
	if (rows && rows->a_len > sizeof(uint64_t)) {
		e = *rows;
		at = memmem(ptr, len, &e, sizeof(e));
		T_CHECK(at);
		e.rows++;
		memcpy(at, &e, sizeof(e));
	}
	dtx_frame_close(&view);
}

/* --- messages about invalid answers --- */

static struct {
	const char *from, *to; /* of the same length */
} next_swap;

static void swap_text(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	unsigned char *at = memmem(ptr, len, next_swap.from, strlen(next_swap.from));

	(void)p;
	if (at)
		memcpy(at, next_swap.to, strlen(next_swap.to));
}

static void say_nothing(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	(void)ptr, (void)len;
	dtx_owner_unref(p->frame[--p->n].owner);
}

static void say_twice(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	(void)ptr, (void)len;
	p->frame[p->n] = p->frame[p->n - 1];
	dtx_owner_ref(p->frame[p->n].owner);
	p->n++;
}

/* Replaces the report that was just made by another one. */
static void say_instead(struct dtx_isolate *p, const char *text)
{
	struct dtx_frame f = DTX_FRAME_INIT;
	void *to;

	T_OK(dtx_frame_add_bytes(&f, DTX_FRAME_REPORT, 0, NULL, dtx_str_of(text), NULL), NULL);
	T_OK(loop_room(p, dtx_frame_size(&f), &to, NULL), NULL);
	T_OK(dtx_frame_write(&f, to, NULL), NULL);
	dtx_frame_clear(&f);
	dtx_owner_unref(p->frame[p->n - 2].owner);
	p->frame[p->n - 2] = p->frame[p->n - 1];
	p->n--;
}

/* The report of a frame that contains nothing else; NULL if it contains more. */
static json_t *report_alone(const unsigned char *ptr, size_t len)
{
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	json_t *report = NULL;

	T_OK(dtx_frame_open(ptr, len, &view, NULL), NULL);
	if (view.n == 1 && dtx_frame_find(&view, DTX_FRAME_REPORT))
		T_OK(dtx_isolated_report(&view, &report, NULL), NULL);
	dtx_frame_close(&view);
	return report;
}

static const char *const extremes[] = { "0",
	                                "-1",
	                                "1",
	                                "9223372036854775807",
	                                "-9223372036854775808",
	                                "4294967295",
	                                "4294967296",
	                                "16384",
	                                "1.5e300",
	                                "null",
	                                "true",
	                                "[]",
	                                "{}",
	                                "\"\"",
	                                "\"\\u001b[2J%s%n\"" };
static long leaf_at; /* number of leaves of all reports so far */

/* The value with number next_spoil_arg / extremes becomes one of the extremes.  False: it is not
 * among these values. */
static bool spoil_leaf(json_t *o)
{
	json_t *v, *new;
	const char *key;
	void *tmp;
	size_t i;

	json_object_foreach_safe(o, tmp, key, v)
	{
		if (json_is_object(v) || (json_is_array(v) && json_array_size(v))) {
			if (spoil_leaf(v))
				return true;
		} else if (leaf_at++ == next_spoil_arg / (long)DTX_COUNT(extremes)) {
			new = json_loads(extremes[next_spoil_arg % (long)DTX_COUNT(extremes)],
			                 JSON_DECODE_ANY, NULL);
			return json_object_set_new(o, key, new) == 0;
		}
	}
	json_array_foreach(o, i, v)
	{
		if (json_is_object(v) || (json_is_array(v) && json_array_size(v))) {
			if (spoil_leaf(v))
				return true;
		} else if (leaf_at++ == next_spoil_arg / (long)DTX_COUNT(extremes)) {
			new = json_loads(extremes[next_spoil_arg % (long)DTX_COUNT(extremes)],
			                 JSON_DECODE_ANY, NULL);
			return json_array_set_new(o, i, new) == 0;
		}
	}
	return false;
}

static bool leaf_spoiled;

static void say_extreme(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	json_t *report = report_alone(ptr, len);
	char *text;

	if (report && !leaf_spoiled && spoil_leaf(report)) {
		leaf_spoiled = true;
		text = json_dumps(report, 0);
		say_instead(p, text);
		free(text);
	}
	json_decref(report);
}

/* Each value of each report is changed in turn: the result is a table or a clean error, and the
 * sanitizers watch. */
void test_isolate_extreme_values(void)
{
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	long refused = 0, taken = 0;

	book_make(&book, &bytes);
	next_spoil = say_extreme;
	for (next_spoil_arg = 0;; next_spoil_arg++) {
		struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
		struct dtx_buf out = DTX_BUF_INIT(1 << 16);
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc;

		leaf_at = 0;
		leaf_spoiled = false;
		rc = loop_dump(&bytes, &opts, 2, true, &out, &err);
		if (rc != DTX_OK && rc != DTX_E_CORRUPT_FILE && rc != DTX_E_CAST_FAILED)
			t_fail(__FILE__, __LINE__, "%ld: %s", next_spoil_arg, err.msg);
		refused += rc != DTX_OK;
		taken += rc == DTX_OK;
		dtx_buf_clear(&out);
		dtx_err_clear(&err);
		if (!leaf_spoiled)
			break;
	}
	T_CHECK(refused > 300 && taken > 100);
	next_spoil = NULL;
	dtx_buf_clear(&bytes);
}

/* next_swap in a report that is alone in its frame, of any length. */
static void say_otherwise(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	json_t *report = report_alone(ptr, len);
	char *text = report ? json_dumps(report, JSON_COMPACT) : NULL;
	char *at = text ? strstr(text, next_swap.from) : NULL;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);

	if (at) {
		dtx_buf_addn(&out, text, (size_t)(at - text));
		dtx_buf_add(&out, next_swap.to);
		dtx_buf_add(&out, at + strlen(next_swap.from));
		say_instead(p, dtx_buf_text(&out));
	}
	dtx_buf_clear(&out);
	free(text);
	json_decref(report);
}

/* During a read its texts, or its last report, come a second time. */
static void repeat(struct dtx_isolate *p, unsigned char *ptr, size_t len, enum dtx_frame_kind kind)
{
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;

	T_OK(dtx_frame_open(ptr, len, &view, NULL), NULL);
	if (dtx_frame_find(&view, kind) && !dtx_frame_find(&view, DTX_FRAME_ROWS) &&
	    !memmem(ptr, len, "\"schema\"", 8))
		say_twice(p, ptr, len);
	dtx_frame_close(&view);
}

static void repeat_texts(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	repeat(p, ptr, len, DTX_FRAME_STRINGS);
}

static void repeat_end(struct dtx_isolate *p, unsigned char *ptr, size_t len)
{
	repeat(p, ptr, len, DTX_FRAME_REPORT);
}

void test_isolate_says_what_is_wrong(void)
{
	static const struct {
		void (*spoil)(struct dtx_isolate *p, unsigned char *ptr, size_t len);
		const char *from, *to, *says;
	} list[] = {
		{ say_nothing, "", "", "no answer" },
		{ say_twice, "", "", "more than one answer" },
		{ repeat_texts, "", "", "more than a read is answered with" },
		{ repeat_end, "", "", "more than a read is answered with" },
		{ add_row, "", "", "16 bytes of row numbers for 3 rows" },
		{ swap_text, "\"schema\"", "\"zchema\"", "the schema is malformed" },
		{ swap_text, "\"decimal_comma\"", "\"zecimal_comma\"",
		  "column 0 of the schema is malformed" },
		{ swap_text, "\"stats\"", "\"ztats\"", "the state is malformed" },
		{ swap_text, "\"severity\"", "\"zeverity\"", "a finding is malformed" },
		{ swap_text, "[0,1,2]", "[0  ,2]", "2 places of 3 columns" },
		{ say_otherwise, "[0,1,2]", "[0,-1,2]", "column 1 is not in a sheet" },
		{ say_otherwise, "[0,1,2]", "[0,1,16384]", "column 2 is not in a sheet" },
		{ say_otherwise, "[0,1,2]", "[0,1,4294967298]", "column 2 is not in a sheet" },
		{ say_otherwise, "[0,1,2]", "[\"0\",1,2]", "column 0 is not in a sheet" },
		{ say_otherwise, "\"stats\":[0,", "\"stats\":[-1,", "the state is malformed" },
		{ say_otherwise, "\"stats\":[0,", "\"stats\":[9223372036854775807,",
		  "the state is malformed" },
		{ say_otherwise, "\"stats\":[0,", "\"stats\":[\"\",", "the state is malformed" },
		{ say_otherwise, "\"row\":-1", "\"row\":9223372036854775807",
		  "a finding is malformed" },
		{ say_otherwise, "\"byte\":-1", "\"byte\":-2", "a finding is malformed" },
		{ swap_text, "{\"", "{{", "the report is not JSON" },
	};
	struct book book = { .sheet = mixed };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);

	book_make(&book, &bytes);
	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
		struct dtx_buf out = DTX_BUF_INIT(1 << 16);
		struct dtx_err err = DTX_ERR_INIT;

		next_spoil = list[i].spoil;
		next_swap.from = list[i].from;
		next_swap.to = list[i].to;
		T_CODE(loop_dump(&bytes, &opts, 2, true, &out, &err), DTX_E_CORRUPT_FILE, &err);
		if (!strstr(err.msg, list[i].says))
			t_fail(__FILE__, __LINE__, "%zu: %s", i, err.msg);
		dtx_buf_clear(&out);
		dtx_err_clear(&err);
	}
	next_spoil = NULL;
	dtx_buf_clear(&bytes);
}

/* --- single values --- */

static enum dtx_code cells_of(const uint8_t *tag, const uint64_t *value, uint64_t rows,
                              uint64_t claim)
{
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const uint8_t *t;
	const union dtx_payload *v;
	enum dtx_code rc = DTX_OK;
	uint64_t len;
	void *to;

	DTX_TRY(dtx_frame_add_pair(&f, DTX_FRAME_CELLS, 0, rows,
	                           (struct dtx_str){ (const char *)tag, rows },
	                           (struct dtx_str){ (const char *)value, rows * 8 }, &err));
	len = dtx_frame_size(&f);
	to = dtx_mem_alloc64(len, 1);
	memset(to, 0, len);
	DTX_TRY(dtx_frame_write(&f, to, &err));
	DTX_TRY(dtx_frame_open(to, len, &view, &err));
	rc = dtx_frame_cells(&view, view.entry, claim, 3, &t, &v, &err);
	if (rc == DTX_OK)
		T_CHECK(t[0] == tag[0] && v[0].id == value[0]);
	dtx_mem_free(to);
out:
	dtx_frame_close(&view);
	dtx_frame_clear(&f);
	dtx_err_clear(&err);
	return rc;
}

void test_frame_cells(void)
{
	static const struct {
		uint8_t tag;
		uint64_t value;
		bool ok;
	} cases[] = {
		{ DTX_CELL_BLANK, 99, true },
		{ DTX_CELL_NUMBER, 0x4000000000000000, true },
		{ DTX_CELL_NUMBER, 0xbff8000000000000, true },
		{ DTX_CELL_NUMBER, 0x7ff0000000000000, false }, /* infinity */
		{ DTX_CELL_DATE, 0xfff8000000000000, false },   /* NaN */
		{ DTX_CELL_BOOL, 1, true },
		{ DTX_CELL_BOOL, 2, false },
		{ DTX_CELL_ERROR, 1000, true },
		{ DTX_CELL_TEXT | DTX_CELL_FORMULA, 2, true },
		{ DTX_CELL_TEXT, 3, false },
		{ DTX_CELL_ISO, UINT64_MAX, false },
		{ 0x0a, 0, false },
		{ 0x0f, 0, false },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++) {
		enum dtx_code rc = cells_of(&cases[i].tag, &cases[i].value, 1, 1);

		T_CODE(rc, cases[i].ok ? DTX_OK : DTX_E_SNIPPET_BAD_RESULT, NULL);
	}
	T_CODE(cells_of(&cases[0].tag, &cases[0].value, 1, 2), DTX_E_SNIPPET_BAD_RESULT, NULL);
}

/* says NULL: they are read; else the message. */
static void strings_are(const uint32_t *len, uint64_t nlen, struct dtx_str bytes, const char *says)
{
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_str to[2];
	uint64_t size;
	void *mem;

	T_OK(dtx_frame_add_pair(&f, DTX_FRAME_STRINGS, 0, 2,
	                        (struct dtx_str){ (const char *)len, nlen * 4 }, bytes, &err),
	     &err);
	size = dtx_frame_size(&f);
	mem = dtx_mem_alloc64(size, 1);
	memset(mem, 0, size);
	T_OK(dtx_frame_write(&f, mem, &err), &err);
	T_OK(dtx_frame_open(mem, size, &view, &err), &err);
	T_CODE(dtx_frame_strings(&view, view.entry, to, &err),
	       says ? DTX_E_SNIPPET_BAD_RESULT : DTX_OK, &err);
	T_CHECK(says ? strstr(err.msg, says) != NULL
	             : to[1].len == len[1] && !memcmp(to[1].ptr, bytes.ptr + len[0], len[1]));
	dtx_mem_free(mem);
	dtx_frame_close(&view);
	dtx_frame_clear(&f);
	dtx_err_clear(&err);
}

void test_frame_strings(void)
{
	const uint32_t two[] = { 1, 2 }, cut[] = { 2, 1 }, beyond[] = { 1, UINT32_MAX };

	strings_are(two, 2, DTX_STR("a\xc3\xa9"), NULL);
	strings_are(cut, 2, DTX_STR("a\xc3\xa9"), "text 0 is not UTF-8");
	strings_are(beyond, 2, DTX_STR("abc"), "text 1 ends outside");
	strings_are(two, 2, DTX_STR("abcd"), "4 bytes where lengths say 3");
	strings_are(two, 2, DTX_STR("a\0b"), "or a NUL among them");
	/* the zeros after it would be the length of the other text */
	strings_are(two, 1, DTX_STR("a"), "texts: 4 bytes of lengths for 2 texts");
}

/* --- errors on the way --- */

void test_isolate_errors(void)
{
	struct dtx_err e = DTX_ERR_INIT, got = DTX_ERR_INIT;
	static const char *const bad[] = {
		"{}",
		"{\"code\":\"ok\",\"severity\":0}",
		"{\"code\":\"retype\",\"severity\":0}",
		"{\"code\":\"corrupt_file\",\"severity\":2}",
		"{\"code\":\"mixed_types\",\"severity\":0}",
		"{\"code\":\"corrupt_file\",\"severity\":0}",
		"{\"code\":\"corrupt_file\",\"severity\":0,\"msg\":7}",
	};
	const struct dtx_json_limits limits = { 0 };
	json_t *j;
	size_t i;

	dtx_err_set(&e, DTX_E_CORRUPT_FILE, "x", 1, "cut here");
	dtx_err_hint(&e, "next");
	e.row = 7;
	memcpy(e.sheet, "One \xc3", 6); /* a name that is cut in the middle of a character */
	j = dtx_isolate_err_json(&e);
	T_CHECK(dtx_isolate_err_read(j, &got));
	T_CODE(got.code, DTX_E_CORRUPT_FILE, &got);
	T_STR(got.msg, "cut here");
	T_STR(got.hint, "next");
	T_STR(got.sheet, "One ");
	T_INT(got.row, 7);
	json_decref(j);
	for (i = 0; i < DTX_COUNT(bad); i++) {
		T_OK(dtx_json_parse(dtx_str_of(bad[i]), limits, &j, &e), &e);
		T_CHECK(!dtx_isolate_err_read(j, &got));
		json_decref(j);
	}
	dtx_err_clear(&e);
	dtx_err_clear(&got);
}

/* --- texts in pieces --- */

static void give_texts(struct dtx_textpool *p, uint32_t id, char letter)
{
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const uint32_t one = 20;
	char text[20];
	uint64_t size;
	void *mem;
	struct dtx_owner *owner;

	memset(text, letter, sizeof(text));
	T_OK(dtx_frame_add_pair(&f, DTX_FRAME_STRINGS, id, 1,
	                        (struct dtx_str){ (const char *)&one, 4 },
	                        (struct dtx_str){ text, sizeof(text) }, &err),
	     &err);
	size = dtx_frame_size(&f);
	mem = dtx_mem_alloc64(size, 1);
	memset(mem, 0, size);
	owner = dtx_owner_take(mem);
	T_OK(dtx_frame_write(&f, mem, &err), &err);
	T_OK(dtx_frame_open(mem, size, &view, &err), &err);
	T_OK(dtx_textpool_add(p, &view, view.entry, owner, &err), &err);
	dtx_frame_close(&view);
	dtx_frame_clear(&f);
	dtx_owner_unref(owner);
}

void test_isolate_texts_in_pieces(void)
{
	struct dtx_textpool p = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	const struct dtx_strings *early;
	struct dtx_owner *keep;
	char letter;

	T_OK(dtx_textpool_start(&p, true, &err), &err);
	T_CHECK(p.strings->n == 0 && p.strings->epoch1904);
	give_texts(&p, 0, 'a');
	early = p.strings;
	keep = dtx_owner_ref(p.owner);
	for (letter = 'b'; letter <= 'z'; letter++)
		give_texts(&p, 1, letter);
	T_INT(p.strings->n, 26);
	T_CHECK(p.strings->item[0].ptr[0] == 'a' && p.strings->item[25].ptr[19] == 'z');
	dtx_textpool_clear(&p);
	/* a column that was made early still sees what it saw */
	T_INT(early->n, 1);
	T_CHECK(early->item[0].ptr[0] == 'a' && early->epoch1904);
	dtx_owner_unref(keep);
}

/* A piece that is not a text. */
void test_isolate_texts_without_one(void)
{
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	const struct dtx_frame_entry none = { .kind = DTX_FRAME_STRINGS };
	const struct dtx_frame_entry short_of = {
		.kind = DTX_FRAME_STRINGS, .rows = 2, .a_len = 4, .b_len = 8
	};
	struct dtx_textpool p = { 0 };
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_textpool_start(&p, false, &err), &err);
	T_CODE(dtx_textpool_add(&p, &view, &none, NULL, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
	T_STR(err.msg, "no texts, or more than a workbook has");
	T_OK(dtx_textpool_start(&p, false, &err), &err);
	T_CODE(dtx_textpool_add(&p, &view, &short_of, NULL, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
	T_STR(err.msg, "texts without their lengths");
	dtx_textpool_clear(&p);
	dtx_err_clear(&err);
}

/* A process may send any number of pieces; what it takes to free them does not grow. */
void test_isolate_texts_in_very_many_pieces(void)
{
	struct dtx_textpool p = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	T_OK(dtx_textpool_start(&p, true, &err), &err);
	for (i = 0; i < 200000; i++)
		give_texts(&p, 1, 'a');
	T_INT(p.strings->n, 200000);
	dtx_textpool_clear(&p);
}
