/* Raw cells: how readers return them, and how they are sent into the jail. */
#include "core/data/frame/rawgrid.h"

#include "core/data/frame/frame.h"
#include "core/fallback/prompt/shape.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

/* "2x3 sheet|0,0 t Region [General]|..." */
static void print_grid(const struct dtx_rawgrid *g, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%ux%u %s", g->nrows, g->ncols, g->sheet ? g->sheet : "-");
	for (size_t i = 0; i < g->ncells; i++) {
		const struct dtx_raw_cell *c = &g->cell[i];

		dtx_buf_printf(out, "|%u,%u ", c->row, c->col);
		switch (c->kind) {
		case DTX_RAW_NUMBER: dtx_buf_printf(out, "n %g", c->value.num); break;
		case DTX_RAW_BOOL: dtx_buf_printf(out, "b %d", (int)c->value.id); break;
		case DTX_RAW_TIME: dtx_buf_printf(out, "d %lld", (long long)c->value.us); break;
		default:
			dtx_buf_add(out, c->kind == DTX_RAW_TEXT ? "t " : "e ");
			dtx_buf_adds(out, dtx_rawgrid_str(g, c));
		}
		if (c->format) {
			dtx_buf_add(out, " [");
			dtx_buf_adds(out, g->format.entry[c->format - 1].key);
			dtx_buf_add(out, "]");
		}
	}
	for (size_t i = 0; i < g->nmerges; i++)
		dtx_buf_printf(out, "|%u,%u-%u,%u", g->merge[i].top, g->merge[i].left,
		               g->merge[i].bottom, g->merge[i].right);
}

static enum dtx_code read_raw(const char *bytes, size_t len, const struct dtx_read_opts *opts,
                              struct dtx_rawgrid *g, struct dtx_err *err)
{
	struct dtx_source *src = NULL;
	enum dtx_code rc;

	rc = dtx_source_bytes("in", bytes, len, &src, err);
	if (rc == DTX_OK)
		rc = dtx_reader_raw(src, opts, g, err);
	dtx_source_free(src);
	return rc;
}

static void expect_text(const char *text, const struct dtx_read_opts *opts, const char *want)
{
	struct dtx_read_opts defaults = DTX_READ_OPTS_INIT;
	struct dtx_buf got = DTX_BUF_INIT(4096);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g;

	dtx_rawgrid_init(&g);
	T_OK(read_raw(text, strlen(text), opts ? opts : &defaults, &g, &err), &err);
	T_CHECK(g.text_file);
	print_grid(&g, &got);
	T_STR(dtx_buf_text(&got), want);
	dtx_rawgrid_clear(&g);
	dtx_buf_clear(&got);
	dtx_err_clear(&err);
}

void test_rawgrid_of_text_files(void)
{
	struct dtx_read_opts comment = DTX_READ_OPTS_INIT;

	expect_text("a,b\n\n1,\"x \"\"y\"\"\nz\",3\n,,\n", NULL,
	            "4x3 -|0,0 t a|0,1 t b|2,0 t 1|2,1 t x \"y\"\nz|2,2 t 3");
	expect_text(
		"a;b,c\nd;e,f\ng;h,i\nj;k,l\n", NULL,
		"4x2 -|0,0 t a;b|0,1 t c|1,0 t d;e|1,1 t f|2,0 t g;h|2,1 t i|3,0 t j;k|3,1 t l");
	comment.comment = "#";
	comment.delimiter = ",";
	comment.skip = 1; /* the cells are those of the file, whatever the plan skips */
	expect_text("# made by, hand\na,b\n", &comment,
	            "2x2 -|0,0 t # made by, hand|1,0 t a|1,1 t b");
	expect_text("", NULL, "0x0 -");
}

void test_rawgrid_of_records(void)
{
	struct dtx_read_opts strict = DTX_READ_OPTS_INIT;
	static const char *const wanted[] = { "zz" };

	strict.requires = wanted;
	strict.nrequires = 1;
	expect_text("{\"a\":1,\"b\":{\"c\":\"x\"}}\n{\"a\":2.50}\n{\"b\":{\"c\":true}}\n", &strict,
	            "4x2 -|0,0 t a|0,1 t b.c|1,0 t 1|1,1 t x|2,0 t 2.50|3,1 t true");
}

static const struct book one_sheet = {
	.sheet = "<sheetData>"
		 "<row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>Report</t></is></c></row>"
		 "<row r=\"3\"><c r=\"A3\" t=\"s\"><v>0</v></c><c r=\"B3\"><v>2.5</v></c>"
		 "<c r=\"C3\" s=\"1\"><v>45000</v></c><c r=\"D3\" t=\"b\"><v>1</v></c></row>"
		 "<row r=\"4\"><c r=\"A4\" t=\"e\"><v>#N/A</v></c><c r=\"B4\"><f>1+1</f></c>"
		 "<c r=\"C4\" s=\"1\"><v>-5</v></c><c r=\"D4\" s=\"3\"><v>0.5</v></c></row>"
		 "</sheetData><mergeCells><mergeCell ref=\"B2:D2\"/></mergeCells>",
};

static void sheet_grid(struct dtx_rawgrid *g)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	dtx_rawgrid_init(g);
	book_make(&one_sheet, &bytes);
	T_OK(read_raw(bytes.ptr, bytes.len, &opts, g, &err), &err);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}

#define SHEET_TEXT                                                                                 \
	"4x4 One|1,1 t Report [General]|2,0 t name [General]|2,1 n 2.5 [General]"                  \
	"|2,2 d 1678838400000000 [mm-dd-yy]|2,3 b 1 [General]|3,0 e #N/A [General]"                \
	"|3,2 n -5 [mm-dd-yy]|3,3 n 0.5 [h:mm]|1,1-1,3"

void test_rawgrid_of_a_sheet(void)
{
	struct dtx_buf got = DTX_BUF_INIT(4096);
	struct dtx_rawgrid g;

	sheet_grid(&g);
	print_grid(&g, &got);
	T_STR(dtx_buf_text(&got), SHEET_TEXT);
	dtx_rawgrid_clear(&g);
	dtx_buf_clear(&got);
}

/* --- frames --- */

static enum dtx_code write_grid(const struct dtx_rawgrid *g, unsigned char **mem, uint64_t *len,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame f = DTX_FRAME_INIT;

	*mem = NULL;
	DTX_TRY(dtx_frame_add_grid(&f, "main", g, err));
	*len = dtx_frame_size(&f);
	*mem = dtx_mem_alloc64((size_t)*len, 1);
	if (!*mem)
		DTX_FAIL_MEM(err);
	memset(*mem, 0, (size_t)*len);
	DTX_TRY(dtx_frame_write(&f, *mem, err));
out:
	dtx_frame_clear(&f);
	return rc;
}

static enum dtx_code open_grid(const void *mem, uint64_t len, struct dtx_rawgrid *g,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	const struct dtx_frame_entry *e;

	DTX_TRY(dtx_frame_open(mem, len, &view, err));
	e = dtx_frame_find(&view, DTX_FRAME_GRID);
	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no grid");
	DTX_TRY(dtx_frame_grid(&view, e, g, err));
out:
	dtx_frame_close(&view);
	return rc;
}

void test_rawgrid_round_trip(void)
{
	struct dtx_buf got = DTX_BUF_INIT(4096);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g, back;
	unsigned char *mem = NULL;
	uint64_t len = 0;

	sheet_grid(&g);
	dtx_rawgrid_init(&back);
	T_OK(write_grid(&g, &mem, &len, &err), &err);
	T_OK(open_grid(mem, len, &back, &err), &err);
	print_grid(&back, &got);
	T_STR(dtx_buf_text(&got), SHEET_TEXT);
	dtx_rawgrid_clear(&g);
	dtx_rawgrid_clear(&back);
	dtx_mem_free(mem);
	dtx_buf_clear(&got);
}

/* Every value of every byte of the section: it is refused, or what was read is valid. */
void test_rawgrid_hostile_bytes(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g, back;
	unsigned char *mem = NULL;
	uint64_t len = 0;
	int refused = 0, taken = 0;

	sheet_grid(&g);
	T_OK(write_grid(&g, &mem, &len, &err), &err);
	for (uint64_t i = DTX_FRAME_HEADER; mem && i < len; i++) {
		unsigned char was = mem[i];

		mem[i] ^= 0xff;
		dtx_rawgrid_init(&back);
		if (open_grid(mem, len, &back, NULL) != DTX_OK) {
			refused++;
		} else {
			T_OK(dtx_rawgrid_check(&back, NULL), NULL);
			taken++;
		}
		dtx_rawgrid_clear(&back);
		mem[i] = was;
	}
	T_CHECK(refused > 100 && taken > 0);
	dtx_rawgrid_clear(&g);
	dtx_mem_free(mem);
}

void test_rawgrid_limits(void)
{
	struct dtx_raw_cell far = { .row = DTX_RAWGRID_AREA_MAX / 2,
		                    .col = 2,
		                    .kind = DTX_RAW_TEXT };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g;

	dtx_rawgrid_init(&g);
	T_CODE(dtx_rawgrid_add(&g, &far, &err), DTX_E_CELL_LIMIT, &err);
	T_CODE(dtx_rawgrid_reach(&g, UINT64_MAX, 3, &err), DTX_E_CELL_LIMIT, &err);
	T_INT(g.nrows, 0);
	T_OK(dtx_rawgrid_put(&g, 1, 1, DTX_STR("x"), &err), &err);
	T_OK(dtx_rawgrid_put(&g, 1, 0, DTX_STR("y"), &err), &err);
	T_CODE(dtx_rawgrid_check(&g, &err), DTX_E_BUG, &err); /* out of order */
	dtx_rawgrid_clear(&g);
	dtx_err_clear(&err);
}

static enum dtx_code there_and_back(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_rawgrid g, back;
	unsigned char *mem = NULL;
	uint64_t len = 0;
	json_t *shape = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_rawgrid_init(&g);
	dtx_rawgrid_init(&back);
	DTX_TRY(read_raw(bytes->ptr, bytes->len, &opts, &g, NULL));
	DTX_TRY(write_grid(&g, &mem, &len, NULL));
	DTX_TRY(open_grid(mem, len, &back, NULL));
	DTX_TRY(dtx_shape_json(&back, &shape, NULL));
out:
	json_decref(shape);
	dtx_mem_free(mem);
	dtx_rawgrid_clear(&g);
	dtx_rawgrid_clear(&back);
	return rc;
}

void test_rawgrid_every_allocation_fails(void)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);

	book_make(&one_sheet, &bytes);
	T_EVERY_ALLOC_FAILS(there_and_back(&bytes));
	dtx_buf_clear(&bytes);
}

/* --- layouts --- */

static void shape_of(const char *text, struct dtx_buf *out)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g;
	json_t *shape = NULL;

	dtx_rawgrid_init(&g);
	opts.delimiter = ",";
	T_OK(read_raw(text, strlen(text), &opts, &g, &err), &err);
	T_OK(dtx_shape_json(&g, &shape, &err), &err);
	dtx_buf_reset(out);
	dtx_json_canonical(shape, out);
	json_decref(shape);
	dtx_rawgrid_clear(&g);
}

/* More rows and other values do not change the identity of a layout; another column does. */
void test_shape_is_the_layout(void)
{
	struct dtx_buf a = DTX_BUF_INIT(4096), b = DTX_BUF_INIT(4096);

	shape_of("Report 2024,,\n\nteam,day,hours\na,2024-01-02,3\nb,2024-01-03,true\n", &a);
	T_STR(dtx_buf_text(&a),
	      "{\"merged\":[],\"names\":[\"Report 9999\",\"day\",\"hours\",\"team\"],"
	      "\"rows\":[\"t\",\"\",\"ttt\",\"tdn\",\"tdb\"],\"width\":3}");
	shape_of("Report 2025,,\n\nteam,day,hours\nx,2025-01-02,3\ny,2025-01-03,9\n"
	         "z,2025-01-03,9\nx,2025-01-03,true\n",
	         &b);
	T_STR(dtx_buf_text(&b), dtx_buf_text(&a));
	shape_of("Report 2025,,\n\nteam,day,cost\nx,2025-01-02,3\ny,2025-01-03,true\n", &b);
	T_CHECK(strcmp(dtx_buf_text(&b), dtx_buf_text(&a)) != 0);
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

void test_shape_shows_no_cell(void)
{
	static const char *const known[] = { "name", "absent" };
	struct dtx_buf out = DTX_BUF_INIT(4096);
	struct dtx_disclosed count = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g;

	sheet_grid(&g);
	T_OK(dtx_shape_disclose("main", &g, known, DTX_COUNT(known), &out, &count, &err), &err);
	T_STR(dtx_buf_text(&out), "{\"columns\":4,\"raw\":\"main\",\"rows\":\"1-9\"}\n"
	                          "{\"cells\":\"\",\"row\":0}\n{\"cells\":\".t\",\"row\":1}\n"
	                          "{\"cells\":\"tndb\",\"row\":2}\n{\"cells\":\"..nn\",\"row\":3}\n"
	                          "{\"merged\":[1,1,1,3]}\n"
	                          "{\"column\":0,\"name\":\"name\",\"row\":2}\n");
	T_INT(count.rows, 0);
	dtx_rawgrid_clear(&g);
	dtx_buf_clear(&out);
}

/* --- grids that contradict themselves --- */

#define GRID_HEAD 16 /* four counts, then the ends of texts and formats */

static uint64_t *ends_of(unsigned char *mem, const struct dtx_frame_entry *e)
{
	return (uint64_t *)(void *)(mem + e->b_off + GRID_HEAD);
}

static void text_twice(unsigned char *mem, struct dtx_frame_entry *e)
{
	memset(ends_of(mem, e), 0, 16);
}

static void format_twice(unsigned char *mem, struct dtx_frame_entry *e)
{
	uint32_t n;

	memcpy(&n, mem + e->b_off, sizeof(n));
	ends_of(mem, e)[n] = ends_of(mem, e)[n + 1] = ends_of(mem, e)[n - 1];
}

static void bytes_left(unsigned char *mem, struct dtx_frame_entry *e)
{
	uint32_t n[2];

	memcpy(n, mem + e->b_off, sizeof(n));
	ends_of(mem, e)[n[0] + n[1] - 1]--;
}

static void cells_swapped(unsigned char *mem, struct dtx_frame_entry *e)
{
	struct dtx_raw_cell two[2];

	memcpy(two, mem + e->a_off, sizeof(two));
	memcpy(mem + e->a_off, &two[1], sizeof(two[1]));
	memcpy(mem + e->a_off + sizeof(two[0]), &two[0], sizeof(two[0]));
}

static void with_bits(unsigned char *mem, struct dtx_frame_entry *e)
{
	(void)mem;
	e->nulls = 1;
}

void test_rawgrid_contradictions(void)
{
	static const struct {
		void (*change)(unsigned char *mem, struct dtx_frame_entry *e);
		const char *says;
	} list[] = {
		{ with_bits, "grid: its section is malformed" },
		{ text_twice, "grid: text 1 is there twice" },
		{ format_twice, "grid: format 1 is there twice" },
		{ bytes_left, "grid: bytes after the last text" },
		{ cells_swapped, "grid: cell 1 is out of order" },
	};
	struct dtx_rawgrid g, back;

	sheet_grid(&g);
	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		unsigned char *mem = NULL;
		uint64_t len = 0;

		T_OK(write_grid(&g, &mem, &len, &err), &err);
		list[i].change(mem, (struct dtx_frame_entry *)(void *)(mem + DTX_FRAME_HEADER));
		dtx_rawgrid_init(&back);
		T_CODE(open_grid(mem, len, &back, &err), DTX_E_SNIPPET_BAD_RESULT, &err);
		T_STR(err.msg, list[i].says);
		dtx_rawgrid_clear(&back);
		dtx_mem_free(mem);
	}
	dtx_rawgrid_clear(&g);
}

/* A grid that is as full as possible: the counts are set, but there are no cells. */
void test_rawgrid_full(void)
{
	const struct dtx_raw_cell cell = { .kind = DTX_RAW_NUMBER };
	const struct dtx_raw_range range = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_rawgrid g;
	uint16_t number;
	uint64_t id;

	dtx_rawgrid_init(&g);
	g.ncells = DTX_RAWGRID_CELLS_MAX;
	T_CODE(dtx_rawgrid_add(&g, &cell, &err), DTX_E_CELL_LIMIT, &err);
	T_STR(err.msg, "raw cells: a snippet is given at most 5000000 of them");
	T_OK(dtx_rawgrid_text(&g, DTX_STR("known"), &id, &err), &err);
	g.text_bytes = DTX_RAWGRID_TEXT_MAX;
	T_OK(dtx_rawgrid_text(&g, DTX_STR("known"), &id, &err), &err);
	T_CODE(dtx_rawgrid_text(&g, DTX_STR("x"), &id, &err), DTX_E_CELL_LIMIT, &err);
	T_STR(err.msg, "raw cells: a snippet is given at most 256 MiB of text");
	T_OK(dtx_rawgrid_format(&g, DTX_STR("0%"), &number, &err), &err);
	g.format.n = DTX_RAWGRID_FORMAT_MAX;
	T_OK(dtx_rawgrid_format(&g, DTX_STR("0%"), &number, &err), &err);
	T_INT(number, 1);
	T_CODE(dtx_rawgrid_format(&g, DTX_STR("0"), &number, &err), DTX_E_CELL_LIMIT, &err);
	T_STR(err.msg, "raw cells: more than 65535 number formats");
	g.nmerges = DTX_RAWGRID_MERGES_MAX;
	T_CODE(dtx_rawgrid_merge(&g, range, &err), DTX_E_CELL_LIMIT, &err);
	T_STR(err.msg, "raw cells: more than 100000 merged ranges");
	dtx_rawgrid_clear(&g);
}
