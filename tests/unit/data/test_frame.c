/* Frames: every type there and back, and bytes that a hostile worker could leave. */
#include "tests/t.h"

#include <time.h>

#include "core/data/cast/cast.h"
#include "core/data/frame/frame.h"
#include "tests/unit/tablemake.h"

/* The frame of one table, in new memory that the caller owns; it had other bytes before. */
static enum dtx_code write_frame(struct dtx_table *t, bool narrow, void **mem, uint64_t *len,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;

	*mem = NULL;
	f.narrow = narrow;
	DTX_TRY(dtx_frame_add_table(&f, "main", t, err));
	*len = dtx_frame_size(&f);
	*mem = dtx_mem_alloc64((size_t)*len, 1);
	if (!*mem)
		DTX_FAIL_MEM(err);
	memset(*mem, 0xa5, (size_t)*len);
	dtx_frame_zero(&f, *mem, *len);
	DTX_TRY(dtx_frame_write(&f, *mem, err));
out:
	dtx_frame_clear(&f);
	return rc;
}

static enum dtx_code write_table(struct dtx_table *t, void **mem, uint64_t *len,
                                 struct dtx_err *err)
{
	return write_frame(t, false, mem, len, err);
}

static enum dtx_code read_table(const void *mem, uint64_t len, struct dtx_table **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	const struct dtx_frame_entry *e;

	DTX_TRY(dtx_frame_open(mem, len, &view, err));
	e = dtx_frame_find(&view, DTX_FRAME_TABLE);
	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no table");
	DTX_TRY(dtx_frame_table(&view, e, NULL, out, err));
out:
	dtx_frame_close(&view);
	return rc;
}

/* All cells as text, one line per row. */
static void print_table(const struct dtx_table *t, struct dtx_buf *out)
{
	size_t i;
	uint32_t c, r;

	for (i = 0; i < t->nbatches; i++)
		for (r = 0; r < t->batch[i]->nsel; r++) {
			uint32_t row = t->batch[i]->sel ? t->batch[i]->sel[r] : r;

			for (c = 0; c < t->schema->nfields; c++) {
				const struct dtx_column *col = t->batch[i]->col[c];

				if (dtx_column_is_null(col, row))
					dtx_buf_add(out, "-");
				else
					dtx_cast_print(col, row, out);
				dtx_buf_addc(out, c + 1 < t->schema->nfields ? '|' : '\n');
			}
		}
}

static void same_tables(const struct dtx_table *a, const struct dtx_table *b)
{
	struct dtx_buf x = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), y = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	print_table(a, &x);
	print_table(b, &y);
	T_INT(a->nrows, b->nrows);
	T_CHECK(x.len > 0 || a->nrows == 0);
	T_CHECK(!strcmp(dtx_buf_text(&x), dtx_buf_text(&y)));
	dtx_buf_clear(&x);
	dtx_buf_clear(&y);
}

static void round_trip(struct dtx_table *t)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *back = NULL;
	void *mem;
	uint64_t len;

	T_OK(write_table(t, &mem, &len, &err), &err);
	T_OK(read_table(mem, len, &back, &err), &err);
	if (back) {
		same_tables(t, back);
		dtx_table_unref(back);
	}
	dtx_mem_free(mem);
	dtx_err_clear(&err);
}

void test_frame_round_trip(void)
{
	static const int64_t rows[] = { 0, 1, 7, 64, 65, 1000, 70000 };
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows) * 2; i++) {
		struct dtx_table *t = NULL;

		T_OK(tm_table(rows[i / 2], i % 2, &t, &err), &err);
		if (!t)
			continue;
		round_trip(t);
		dtx_table_unref(t);
	}
}

void test_frame_selected_rows_only(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL;
	uint16_t *sel;

	T_OK(tm_table(10, true, &t, &err), &err);
	T_OK(dtx_batch_sel(t->batch[0], &sel, &err), &err);
	sel[0] = 2;
	sel[1] = 9;
	t->batch[0]->nsel = 2;
	t->nrows = 2;
	round_trip(t);
	dtx_table_unref(t);
}

/* Dictionary and constant columns. */
static enum dtx_code dict_table(struct dtx_table **out, struct dtx_err *err)
{
	static const uint32_t codes[] = { 1, 0, 1, 2 };
	static const struct dtx_field fields[] = {
		{ .name = "d", .type = { DTX_T_TEXT, 0, 0 } },
		{ .name = "c", .type = { DTX_T_TEXT, 0, 0 } },
		{ .name = "n", .type = { DTX_T_NULL, 0, 0 } },
	};
	const struct dtx_schema schema = { .nfields = 3, .field = fields };
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL;
	struct dtx_batch *b = NULL;
	struct dtx_builder words;
	struct dtx_column *col;

	dtx_builder_init(&words, fields[0].type, 3);
	DTX_TRY(dtx_table_new(&schema, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, 4, &b, err));
	dtx_builder_text(&words, DTX_STR("short"));
	dtx_builder_text(&words, DTX_STR("a text that is longer than a view"));
	dtx_builder_text(&words, DTX_STR(""));
	b->col[0] = col = dtx_column_new(DTX_F_DICT, fields[0].type, 4, NULL);
	if (!col)
		DTX_FAIL_MEM(err);
	col->v.code = codes;
	DTX_TRY(dtx_builder_finish(&words, NULL, &col->dict, err));
	dtx_builder_text(&words, DTX_STR("constant text, long enough"));
	DTX_TRY(dtx_builder_finish(&words, NULL, &col, err));
	col->form = DTX_F_CONST;
	col->len = 4;
	b->col[1] = col;
	DTX_TRY(dtx_column_nulls(fields[2].type, 4, &b->col[2], err));
	rc = dtx_table_take(t, b, err);
	b = NULL;
	if (rc == DTX_OK) {
		*out = t;
		t = NULL;
	}
out:
	dtx_builder_clear(&words);
	if (b)
		dtx_batch_free(b);
	if (t)
		dtx_table_unref(t);
	return rc;
}

void test_frame_dictionary_constant_null(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL;

	T_OK(dict_table(&t, &err), &err);
	if (!t)
		return;
	round_trip(t);
	dtx_table_unref(t);
}

static enum dtx_code there_and_back(struct dtx_table *t)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *back = NULL;
	void *mem = NULL;
	uint64_t len;

	DTX_TRY(write_table(t, &mem, &len, NULL));
	DTX_TRY(read_table(mem, len, &back, NULL));
out:
	if (back)
		dtx_table_unref(back);
	dtx_mem_free(mem);
	return rc;
}

void test_frame_every_alloc_fails(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL, *d = NULL;

	T_OK(tm_table(20, true, &t, &err), &err);
	T_OK(dict_table(&d, &err), &err);
	T_EVERY_ALLOC_FAILS(there_and_back(t));
	T_EVERY_ALLOC_FAILS(there_and_back(d));
	dtx_table_unref(t);
	dtx_table_unref(d);
}

/* --- hostile bytes --- */

struct poke {
	const char *why;
	uint64_t at; /* byte of the frame, or of an entry's field (see below) */
	int entry;   /* -1: the header */
	uint64_t value;
	unsigned width;
	const char *text; /* part of the message */
};
#define FIELD(name) offsetof(struct dtx_frame_entry, name)

/* Entries of tm_table: 0 is the table, 1 + TM_x the columns. */
static const struct poke pokes[] = {
	{ "magic", 0, -1, 'X', 1, "header" },
	{ "header size", 8, -1, 65, 4, "header" },
	{ "no sections", 12, -1, 0, 4, "sections" },
	{ "too many sections", 12, -1, 70000, 4, "sections" },
	{ "sections beyond the end", 12, -1, 60000, 4, "directory" },
	{ "total", 16, -1, 64, 8, "there are" },
	{ "directory elsewhere", 24, -1, 128, 8, "directory" },
	{ "entry size", 32, -1, 95, 4, "header" },
	{ "flags", 36, -1, 1, 4, "header" },
	{ "tail of the header", 63, -1, 1, 1, "header" },
	{ "values beyond the end", FIELD(a_off), 1, 1u << 30, 8, "outside" },
	{ "offset wraps", FIELD(a_off), 1, UINT64_MAX - 63, 8, "outside" },
	{ "length wraps", FIELD(a_len), 1, UINT64_MAX, 8, "outside" },
	{ "values in the directory", FIELD(a_off), 1, 64, 8, "outside" },
	{ "values not aligned", FIELD(a_off), 1, 1025, 8, "outside" },
	{ "name beyond the end", FIELD(name_off), 1, 1u << 30, 8, "outside" },
	{ "huge rows", FIELD(rows), 1, UINT64_MAX, 8, "outside" },
	{ "rows of a column", FIELD(rows), 1, 19, 8, "rows" },
	{ "rows of the table", FIELD(rows), 0, 21, 8, "rows" },
	{ "nulls", FIELD(nulls), 1, 1, 8, "and 1 null are not" },
	{ "type 0", FIELD(type), 1, 0, 4, "type" },
	{ "type 9", FIELD(type), 1, 9, 4, "type" },
	{ "int as text", FIELD(type), 1, DTX_T_TEXT, 4, "bytes" },
	{ "int as date", FIELD(type), 1, DTX_T_DATE, 4, "bytes" },
	{ "int with a scale", FIELD(flags), 1, 0x200, 4, "type" },
	{ "spare flags", FIELD(flags), 1, 1u << 24, 4, "type" },
	{ "decimal of 39 digits", FIELD(flags), 1 + TM_DECIMAL, 39u << 16, 4, "type" },
	{ "decimal too wide", FIELD(flags), 1 + TM_DECIMAL, 1u << 16, 4, "decimal" },
	{ "text as codes", FIELD(flags), 1 + TM_TEXT, DTX_FRAME_F_DICT, 4, "outside" },
	{ "text bytes cut", FIELD(b_len), 1 + TM_TEXT, 8, 8, "UTF-8" },
	{ "bits cut", FIELD(v_len), 1 + TM_DATE, 4, 8, "validity" },
	{ "no name", FIELD(name_len), 1, 0, 4, "outside" },
};

static void *small_frame(uint64_t *len)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL;
	void *mem = NULL;

	T_OK(tm_table(20, true, &t, &err), &err);
	T_OK(write_table(t, &mem, len, &err), &err);
	dtx_table_unref(t);
	return mem;
}

void test_frame_refuses_what_is_malformed(void)
{
	uint64_t len;
	unsigned char *good = small_frame(&len), *bad = dtx_mem_alloc64((size_t)len, 1);
	size_t i;

	for (i = 0; i < DTX_COUNT(pokes); i++) {
		const struct poke *p = &pokes[i];
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_table *t = NULL;
		uint64_t at = p->at + (p->entry < 0 ? 0
		                                    : DTX_FRAME_HEADER +
		                                              (uint64_t)p->entry * DTX_FRAME_ENTRY);

		memcpy(bad, good, (size_t)len);
		memcpy(bad + at, &p->value, p->width);
		T_CODE(read_table(bad, len, &t, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
		if (!strstr(err.msg, p->text))
			t_fail(__FILE__, __LINE__, "%s: got '%s', expected '%s'", p->why, err.msg,
			       p->text);
		if (t)
			dtx_table_unref(t);
		dtx_err_clear(&err);
	}
	dtx_mem_free(good);
	dtx_mem_free(bad);
}

/* The reader handles every value of every byte; under ASan and UBSan this is the proof. */
void test_frame_any_byte_may_lie(void)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t len, i;
	unsigned char *mem = small_frame(&len);
	int refused = 0;
	size_t k;

	for (i = 0; i < len; i++)
		for (k = 0; k < DTX_COUNT(values); k++) {
			unsigned char was = mem[i];
			struct dtx_table *t = NULL;

			mem[i] = values[k];
			refused += read_table(mem, len, &t, NULL) != DTX_OK;
			if (t)
				dtx_table_unref(t);
			mem[i] = was;
		}
	T_CHECK(refused > 1000);
	dtx_mem_free(mem);
}

void test_frame_any_length_may_lie(void)
{
	uint64_t len, i;
	unsigned char *mem = small_frame(&len);

	for (i = 0; i < len; i++) {
		struct dtx_table *t = NULL;

		T_CODE(read_table(mem, i, &t, NULL), DTX_E_SNIPPET_BAD_RESULT, NULL);
	}
	dtx_mem_free(mem);
}

void test_frame_bytes_sections(void)
{
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	_Alignas(64) char mem[1024] = { 0 };
	const struct dtx_frame_entry *e;
	struct dtx_frame_entry *flagged;

	T_OK(dtx_frame_add_bytes(&f, DTX_FRAME_CODE, 0, "code", DTX_STR("def"), &err), &err);
	T_OK(dtx_frame_add_bytes(&f, DTX_FRAME_PARAMS, 0, NULL, DTX_STR(""), &err), &err);
	T_CHECK(dtx_frame_size(&f) <= sizeof(mem));
	T_OK(dtx_frame_write(&f, mem, &err), &err);
	T_OK(dtx_frame_open(mem, dtx_frame_size(&f), &view, &err), &err);
	e = dtx_frame_find(&view, DTX_FRAME_CODE);
	T_CHECK(e && dtx_str_is(dtx_frame_bytes(&view, e), "def"));
	T_CHECK(!dtx_frame_find(&view, DTX_FRAME_TABLE));
	dtx_frame_close(&view);

	/* only a column has the id of a dictionary where others have an offset */
	flagged = (struct dtx_frame_entry *)(void *)(mem + DTX_FRAME_HEADER);
	flagged->flags = DTX_FRAME_F_DICT;
	flagged->b_off = UINT64_MAX - 2;
	T_CODE(dtx_frame_open(mem, dtx_frame_size(&f), &view, &err), DTX_E_SNIPPET_BAD_RESULT,
	       &err);
	T_CHECK(strstr(err.msg, "section 0 lies outside"));
	dtx_err_clear(&err);
	dtx_frame_clear(&f);
}

/* --- entries that contradict their bytes --- */

static void no_bits(unsigned char *mem, struct dtx_frame_entry *e)
{
	(void)mem;
	e[1 + TM_DATE].v_off = e[1 + TM_DATE].v_len = 0;
}

static void bytes_too_many(unsigned char *mem, struct dtx_frame_entry *e)
{
	(void)mem;
	e[1 + TM_TEXT].type = DTX_T_DECIMAL;
	e[1 + TM_TEXT].flags = e[1 + TM_DECIMAL].flags;
}

static void same_name(unsigned char *mem, struct dtx_frame_entry *e)
{
	e[1].name_len = e[2].name_len = 1;
	mem[e[1].name_off] = mem[e[2].name_off] = 'x';
}

static struct dtx_frame_entry *coded(struct dtx_frame_entry *e)
{
	while (!(e->flags & DTX_FRAME_F_DICT))
		e++;
	return e;
}

static void codes_cut(unsigned char *mem, struct dtx_frame_entry *e)
{
	(void)mem;
	coded(e)->a_len = 8;
}

static void code_beyond(unsigned char *mem, struct dtx_frame_entry *e)
{
	memset(mem + coded(e)->a_off, 9, 1);
}

/* The column of constants, whose texts all use the bytes of the first one. */
static void one_text_for_all(unsigned char *mem, struct dtx_frame_entry *e)
{
	struct dtx_text *t;
	int i;

	while (e->kind != DTX_FRAME_COLUMN || e->type != DTX_T_TEXT || e->flags)
		e++;
	t = (struct dtx_text *)(void *)(mem + e->a_off);
	e->b_len = t->len;
	for (i = 0; i < 4; i++)
		memset(t[i].u.tail, 0, 8);
}

static void nulls_alone(unsigned char *mem, struct dtx_frame_entry *e)
{
	struct dtx_frame_entry *table = e;

	(void)mem;
	table->rows = DTX_FRAME_ROWS_MAX;
	for (e++; e < table + 1 + TM_COLUMNS; e++) {
		e->type = DTX_T_NULL;
		e->flags = 0;
		e->rows = e->nulls = table->rows;
		e->a_off = e->a_len = e->b_off = e->b_len = e->v_off = e->v_len = 0;
	}
}

static void nulls_in_one_column(unsigned char *mem, struct dtx_frame_entry *e)
{
	struct dtx_frame_entry *table = e;

	nulls_alone(mem, e);
	for (e += 2; e < table + 1 + TM_COLUMNS; e++)
		e->kind = DTX_FRAME_CODE;
}

/* Two columns with one dictionary: it is checked and converted only once. */
void test_frame_shared_dictionary(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL, *back = NULL;
	struct dtx_frame_entry *e, *first;
	void *mem = NULL;
	uint64_t len;

	T_OK(dict_table(&t, &err), &err);
	T_OK(write_table(t, &mem, &len, &err), &err);
	e = first = coded((struct dtx_frame_entry *)((char *)mem + DTX_FRAME_HEADER));
	while (e->kind != DTX_FRAME_COLUMN || e->type != DTX_T_TEXT || e->flags)
		e++;
	memset((char *)mem + e->a_off, 0, 16);
	e->a_len = 16;
	e->flags = first->flags;
	e->b_off = first->b_off;
	e->b_len = 0;
	T_OK(read_table(mem, len, &back, &err), &err);
	T_CHECK(back->batch[0]->col[0]->dict == back->batch[0]->col[1]->dict);
	dtx_table_unref(back);
	dtx_table_unref(t);
	dtx_mem_free(mem);
}

/* As many columns as possible, all with one dictionary, which each must find at once: six megabytes
 * must not take main seconds. */
void test_frame_dictionary_of_many_columns(void)
{
	enum { N = DTX_FRAME_SECTIONS_MAX, NAME = 4 };
	const size_t names = DTX_FRAME_HEADER + (size_t)N * DTX_FRAME_ENTRY;
	const uint64_t len = names + (uint64_t)N * NAME, dir = DTX_FRAME_HEADER;
	const uint32_t head[2] = { DTX_FRAME_HEADER, N }, entry = DTX_FRAME_ENTRY;
	char *mem = dtx_mem_alloc64((size_t)len, 1);
	struct dtx_frame_entry *e = (void *)(mem + DTX_FRAME_HEADER);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL;
	clock_t start;
	uint32_t i;

	memset(mem, 0, (size_t)len);
	memcpy(mem, DTX_FRAME_MAGIC, 8);
	memcpy(mem + 8, head, 8);
	memcpy(mem + 16, &len, 8);
	memcpy(mem + 24, &dir, 8);
	memcpy(mem + 32, &entry, 4);
	e[0] = (struct dtx_frame_entry){ .kind = DTX_FRAME_TABLE };
	e[N - 1] = (struct dtx_frame_entry){ .kind = DTX_FRAME_DICT, .type = DTX_T_TEXT };
	for (i = 1; i < N - 1; i++) {
		char *name = mem + names + (size_t)i * NAME;

		memcpy(name,
		       (const char[]){ (char)('a' + i % 16), (char)('a' + i / 16 % 16),
		                       (char)('a' + i / 256 % 16), (char)('a' + i / 4096) },
		       NAME);
		e[i] = (struct dtx_frame_entry){ .kind = DTX_FRAME_COLUMN,
			                         .type = DTX_T_TEXT,
			                         .flags = DTX_FRAME_F_DICT,
			                         .name_len = NAME,
			                         .name_off = names + (uint64_t)i * NAME };
	}
	start = clock();
	T_OK(read_table(mem, len, &t, &err), &err);
	T_CHECK(clock() - start < 2 * CLOCKS_PER_SEC);
	T_INT(t ? t->schema->nfields : 0, N - 2);
	dtx_table_unref(t);
	dtx_mem_free(mem);
	dtx_err_clear(&err);
}

void test_frame_contradictions(void)
{
	static const struct {
		bool dict;
		void (*change)(unsigned char *mem, struct dtx_frame_entry *e);
		const char *says;
	} list[] = {
		{ false, no_bits, "has nulls without bits" },
		{ false, bytes_too_many, "has bytes that its type does not need" },
		{ false, same_name, "two columns are named '" },
		{ true, codes_cut, "column 'd': codes have 8 bytes for 4 rows" },
		{ true, code_beyond, "column 'd' row 0: code 9 of 3" },
		{ true, one_text_for_all, "column 'c' row 1: not UTF-8 text inside its buffer" },
		{ false, nulls_alone, "columns of nulls with 4294967296 rows are too many" },
		{ false, nulls_in_one_column, "4294967296 rows of nothing but nulls are too many" },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_table *t = NULL, *back = NULL;
		void *mem = NULL;
		uint64_t len;

		T_OK(list[i].dict ? dict_table(&t, &err) : tm_table(20, true, &t, &err), &err);
		T_OK(write_table(t, &mem, &len, &err), &err);
		list[i].change(mem, (struct dtx_frame_entry *)((char *)mem + DTX_FRAME_HEADER));
		T_CODE(read_table(mem, len, &back, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
		if (!strstr(err.msg, list[i].says))
			t_fail(__FILE__, __LINE__, "%zu: %s", i, err.msg);
		dtx_table_unref(t);
		dtx_mem_free(mem);
	}
}

/* --- codes of one byte --- */

static struct dtx_column *number_codes(struct dtx_typeref type, const void *numbers, uint32_t n,
                                       const uint64_t *valid)
{
	static const uint32_t code[] = { 1, 0, 1, 0 };
	struct dtx_column *c = dtx_column_new(DTX_F_DICT, type, 4, NULL);

	c->v.code = code;
	c->valid = valid;
	c->nulls = valid ? 1 : 0;
	c->dict = dtx_column_new(DTX_F_FLAT, type, n, NULL);
	c->dict->v.any = numbers;
	return c;
}

/* A column of ints and one of floats, both with a dictionary of `n` numbers. */
static struct dtx_table *numbers_table(uint32_t n)
{
	static const int64_t ints[300] = { 7, -3 };
	static const double floats[300] = { 1.5, 0.25 };
	static const uint64_t valid = 11;
	static const struct dtx_field fields[] = {
		{ .name = "i", .type = { DTX_T_INT64, 0, 0 } },
		{ .name = "f", .type = { DTX_T_FLOAT64, 0, 0 } },
	};
	const struct dtx_schema schema = { .nfields = 2, .field = fields };
	struct dtx_table *t = NULL;
	struct dtx_batch *b = NULL;

	T_OK(dtx_table_new(&schema, &t, NULL), NULL);
	T_OK(dtx_batch_new(t->schema, 4, &b, NULL), NULL);
	b->col[0] = number_codes(fields[0].type, ints, n, NULL);
	b->col[1] = number_codes(fields[1].type, floats, n, &valid);
	T_OK(dtx_table_take(t, b, NULL), NULL);
	return t;
}

void test_frame_narrow_codes(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf text = DTX_BUF_INIT(1000);
	struct dtx_table *t = NULL, *back = NULL;
	void *mem;
	uint64_t len;

	T_OK(dict_table(&t, &err), &err);
	T_OK(write_frame(t, true, &mem, &len, &err), &err);
	T_OK(read_table(mem, len, &back, &err), &err);
	same_tables(t, back);
	T_INT(back->batch[0]->col[0]->form, DTX_F_DICT);
	dtx_table_unref(back);
	dtx_table_unref(t);
	dtx_mem_free(mem);

	t = numbers_table(2);
	T_OK(write_frame(t, true, &mem, &len, &err), &err);
	T_OK(read_table(mem, len, &back, &err), &err);
	T_INT(back->batch[0]->col[0]->form, DTX_F_FLAT);
	print_table(back, &text);
	T_STR(dtx_buf_text(&text), "-3|0.25\n7|1.5\n-3|-\n7|1.5\n");
	dtx_buf_clear(&text);
	dtx_table_unref(back);
	dtx_table_unref(t);
	dtx_mem_free(mem);
}

void test_frame_narrow_contradictions(void)
{
	static const struct {
		uint32_t numbers; /* of the dictionaries */
		int kind;         /* of the section that is changed, */
		uint32_t flags;   /* and its flags */
		const char *says;
	} list[] = {
		{ 1, 0, 0, "column 'i': code 1 of 1" },
		{ 300, 0, 0, "its dictionary is missing or malformed" },
		{ 2, DTX_FRAME_COLUMN, DTX_FRAME_F_DICT, "its dictionary is missing or malformed" },
		{ 2, DTX_FRAME_COLUMN, DTX_FRAME_F_NARROW, "lies outside or is malformed" },
		{ 2, DTX_FRAME_DICT, 1, "its dictionary is missing or malformed" },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_table *t = numbers_table(list[i].numbers), *back = NULL;
		struct dtx_frame_entry *e;
		void *mem = NULL;
		uint64_t len;

		T_OK(write_frame(t, true, &mem, &len, &err), &err);
		e = (struct dtx_frame_entry *)(void *)((char *)mem + DTX_FRAME_HEADER);
		for (int k = 0; k < 5; k++)
			if (list[i].kind && e[k].kind == (uint32_t)list[i].kind)
				e[k].flags = list[i].flags;
		T_CODE(read_table(mem, len, &back, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
		if (!strstr(err.msg, list[i].says))
			t_fail(__FILE__, __LINE__, "%zu: %s", i, err.msg);
		dtx_table_unref(t);
		dtx_mem_free(mem);
	}
}
