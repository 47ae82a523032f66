/* Rows written to the cache and read back, and tables that are read from it compared with the same
 * tables held in memory. */
#include <stdlib.h>

#include "core/io/sheet/row_cache.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

/* Writes the rows of the grid to the cache.  Returns the number of blocks. */
static unsigned put_rows(struct dtx_row_cache *t, const struct dtx_grid *g, const bool *in)
{
	struct dtx_sheet_cols c = { 0 };
	size_t r = 0, block;
	unsigned n = 0;
	uint32_t i;

	T_OK(dtx_sheet_cols_init(&c, NULL), NULL);
	while (r < g->nrows) {
		r = dtx_sheet_cols_take(&c, g, r, g->nrows, in);
		n += c.n > 0;
		if (!c.n)
			continue;
		dtx_row_cache_open(t, &c, &block);
		for (i = 0; i < c.ncols; i++) {
			struct dtx_sheet_col col = dtx_sheet_cols_get(&c, i);

			dtx_row_cache_col(t, &col);
		}
		dtx_row_cache_close(t, block);
	}
	dtx_sheet_cols_clear(&c);
	return n;
}

/* Searches the columns of a block in turn, starting after the last one found, because the next one
 * is usually wanted. */
struct tape_walk {
	const struct dtx_row_cache *t;
	size_t block;
	struct dtx_row_cache_col c;
};

static bool walk_to(struct tape_walk *k, uint32_t col)
{
	for (int turns = 0; turns < 2;) {
		if (dtx_row_cache_next(k->t, k->block, &k->c)) {
			if (k->c.col == col)
				return true;
			continue;
		}
		k->c = (struct dtx_row_cache_col){ 0 };
		turns++;
	}
	return false;
}

/* The cell at a row and column; false if none. */
static bool taped_cell(struct tape_walk *k, uint32_t row, uint32_t col, uint8_t *tag,
                       union dtx_payload *v)
{
	if (!walk_to(k, col))
		return false;
	*tag = dtx_row_cache_tag(&k->c, row);
	*v = dtx_row_cache_value(&k->c, row);
	return *tag;
}

static bool row_live(const struct dtx_grid *g, size_t r, const bool *in)
{
	bool live = false;
	uint64_t i;

	for (i = g->row[r].first; i < g->row[r + 1].first; i++)
		live |= in[dtx_grid_col(g, i)] && !dtx_grid_blank(g, i);
	return live;
}

static void same_row(const struct dtx_row_cache *t, const struct dtx_grid *g, size_t r,
                     const bool *in, size_t block, const struct dtx_grid_row *back)
{
	struct tape_walk walk = { .t = t, .block = block };
	union dtx_payload v;
	uint8_t tag;
	uint64_t i;

	T_CHECK(back->row == g->row[r].row && back->hidden == g->row[r].hidden);
	for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
		bool there = taped_cell(&walk, (uint32_t)back->first, dtx_grid_col(g, i), &tag, &v);

		T_CHECK(there == (in[dtx_grid_col(g, i)] && dtx_grid_tag(g, i)));
		T_CHECK(!there || (tag == dtx_grid_tag(g, i) && v.id == dtx_grid_value(g, i).id));
	}
}

/* Up to `some` rows at a time, the cache returns those rows of the grid that have more than
 * blanks. */
static void same_rows(const struct dtx_row_cache *t, const struct dtx_grid *g, const bool *in,
                      size_t some)
{
	struct dtx_row_cache_at at = { 0 };
	size_t r = 0, k;

	while (at.block < t->bytes.len) {
		struct dtx_grid back;
		size_t block = at.block;

		dtx_grid_init(&back, "g");
		T_OK(dtx_row_cache_rows(t, &at, &back, some, NULL), NULL);
		T_CHECK(back.nrows && back.nrows <= some);
		for (k = 0; k < back.nrows; k++, r++) {
			while (r < g->nrows && !row_live(g, r, in))
				r++;
			T_CHECK(r < g->nrows);
			same_row(t, g, r, in, block, &back.row[k]);
		}
		dtx_grid_clear(&back);
	}
	while (r < g->nrows && !row_live(g, r, in))
		r++;
	T_INT(r, g->nrows);
}

static void add(struct dtx_grid *g, uint32_t row, uint32_t col, unsigned tag, union dtx_payload v)
{
	T_OK(dtx_grid_add(g, row, col, (uint8_t)tag, v, 0, row % 5 == 4, NULL), NULL);
}

static unsigned there_and_back(struct dtx_grid *g, const bool *in)
{
	struct dtx_row_cache t;
	unsigned blocks;

	T_OK(dtx_grid_finish(g, NULL), NULL);
	dtx_row_cache_init(&t, 8 << 20);
	blocks = put_rows(&t, g, in);
	T_CHECK(!t.full);
	same_rows(&t, g, in, SIZE_MAX);
	same_rows(&t, g, in, 3);
	dtx_row_cache_clear(&t);
	dtx_grid_clear(g);
	return blocks;
}

static const double tape_numbers[] = {
	0,     1,    255,        256,          65535,         65536,
	-1,    0.5,  2147483647, 2147483648.0, -2147483648.0, -2147483649.0,
	1e300, -0.1, 44000
};
static const uint64_t tape_ids[] = { 0,
	                             1,
	                             127,
	                             128,
	                             32767,
	                             32768,
	                             0x7fffffff,
	                             0x80000000,
	                             DTX_GRID_INLINE,
	                             DTX_GRID_INLINE | 5,
	                             DTX_GRID_INLINE | 0x7fffffff,
	                             DTX_GRID_INLINE | 0x80000000 };

static union dtx_payload tape_number(uint32_t i)
{
	return (union dtx_payload){ .num = tape_numbers[i % DTX_COUNT(tape_numbers)] };
}

static union dtx_payload tape_id(uint32_t i)
{
	return (union dtx_payload){ .id = tape_ids[i % DTX_COUNT(tape_ids)] };
}

static bool *columns_but(uint32_t left_out)
{
	bool *in = calloc(DTX_SHEET_COLS, sizeof(*in));
	uint32_t i;

	T_CHECK(in);
	for (i = 0; i < DTX_SHEET_COLS; i++)
		in[i] = i != left_out;
	return in;
}

/* Columns whose values need one to eight bytes, of one kind and of several kinds, in rows that have
 * all columns.  If no row is hidden these are one block. */
void test_row_cache_gives_back_even_rows(void)
{
	bool *in = columns_but(UINT32_MAX);
	struct dtx_grid g;
	uint32_t r, i;

	dtx_grid_init(&g, "g");
	for (r = 0; r < 400; r++) {
		for (i = 0; i < DTX_COUNT(tape_numbers); i++)
			add(&g, 5 * r, i, i % 2 ? DTX_CELL_NUMBER : DTX_CELL_DATE,
			    tape_number(r % (i + 1)));
		for (i = 0; i < DTX_COUNT(tape_ids); i++)
			add(&g, 5 * r, 20 + i, DTX_CELL_TEXT | DTX_CELL_FORMULA,
			    tape_id(r % (i + 1)));
		add(&g, 5 * r, 50, DTX_CELL_BOOL, (union dtx_payload){ .id = r % 2 });
		add(&g, 5 * r, 51, r % 2 ? DTX_CELL_TEXT : DTX_CELL_NUMBER,
		    r % 2 ? tape_id(3) : tape_number(4));
		add(&g, 5 * r, 52, r % 2 ? DTX_CELL_TEXT : DTX_CELL_NUMBER,
		    r % 2 ? tape_id(3) : tape_number(7));
	}
	T_INT(there_and_back(&g, in), 1);
	free(in);
}

/* Rows with gaps, blanks, hidden rows, rows of only blanks, a column that is not wanted; then rows
 * that have hardly any column in common. */
void test_row_cache_gives_back_uneven_rows(void)
{
	bool *in = columns_but(4);
	struct dtx_grid g;
	uint32_t r, i;

	dtx_grid_init(&g, "g");
	for (r = 0; r < 900; r++) {
		for (i = r % 3; i < 9; i += 1 + (r + i) % 2)
			add(&g, r, i,
			    r % 11 == 7 || (r + i) % 4 == 0 ? DTX_CELL_BLANK | DTX_CELL_FORMULA
			    : i % 2                         ? DTX_CELL_NUMBER
			                                    : DTX_CELL_TEXT,
			    i % 2 ? tape_number(r + i) : tape_id(r + i));
		add(&g, r, 10, r % 7 ? DTX_CELL_BLANK : DTX_CELL_BLANK | DTX_CELL_UNCACHED,
		    (union dtx_payload){ .id = 0 });
	}
	T_CHECK(there_and_back(&g, in) < 10);
	dtx_grid_init(&g, "g");
	for (r = 0; r < 900; r++) {
		for (i = 0; i < 5; i++)
			add(&g, r, (r * 17 + i * 1000) % DTX_SHEET_COLS + i % 2, DTX_CELL_NUMBER,
			    tape_number(r + i));
	}
	T_CHECK(there_and_back(&g, in) > 10);
	dtx_grid_init(&g, "g");
	for (r = 0; r < 3; r++) {
		for (i = 0; i < DTX_SHEET_COLS; i++)
			add(&g, r, i, DTX_CELL_NUMBER, tape_number(i));
	}
	T_CHECK(there_and_back(&g, in) > 1);
	free(in);
}

/* What does not fit is not kept at all. */
void test_row_cache_is_full(void)
{
	bool *in = columns_but(UINT32_MAX);
	struct dtx_row_cache t;
	struct dtx_grid g;
	uint32_t r;

	dtx_grid_init(&g, "g");
	for (r = 0; r < 1000; r++)
		add(&g, 5 * r, 2, DTX_CELL_NUMBER, tape_number(r));
	T_OK(dtx_grid_finish(&g, NULL), NULL);
	dtx_row_cache_init(&t, 4096);
	put_rows(&t, &g, in);
	T_CHECK(t.full && !t.bytes.len);
	dtx_row_cache_clear(&t);
	dtx_grid_clear(&g);
	free(in);
}

/* --- tables --- */

#define STYLES                                                                                     \
	"<styleSheet " BOOK_NS                                                                     \
	"><fonts><font/><font><b/></font></fonts><cellXfs><xf numFmtId=\"0\"/><xf "                \
	"numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"0\" "                                \
	"fontId=\"1\"/></cellXfs></styleSheet>"
#define STRINGS "<sst " BOOK_NS "><si><t>one</t></si><si><t>two</t></si><si><t>n/a</t></si></sst>"

/* Cell number `col` of a row: each column has its kind, and values need one to eight bytes. */
static void put_cell(struct dtx_buf *out, unsigned row, unsigned col)
{
	static const struct {
		const char *open, *close; /* after the reference; after some digits */
	} forms[] = {
		{ "><v>", "</v></c>" },
		{ "><v>0.", "</v></c>" },
		{ " s=\"1\"><v>4", "</v></c>" },
		{ " s=\"2\"><v>4", ".5</v></c>" },
		{ " t=\"s\"><v>", "</v></c>" },
		{ " t=\"b\"><v>", "</v></c>" },
		{ " t=\"inlineStr\"><is><t>t", "</t></is></c>" },
	};
	static const unsigned values[] = { 9999, 9999, 9999, 9999, 3, 2, 50 };
	unsigned v = row * 97 % 70001 % values[col];

	dtx_buf_printf(out, "<c r=\"%c%u\"%s", 'A' + (int)col, row, forms[col].open);
	dtx_buf_printf(out, col == 2 || col == 3 ? "%04u%s" : "%u%s", v, forms[col].close);
}

/* The odd cell of row `row`, instead of a usual one. */
static void put_odd(struct dtx_buf *out, unsigned row, unsigned col)
{
	static const char *const forms[] = {
		" t=\"e\"><v>#N/A</v></c>", " s=\"1\"><v>-4</v></c>",
		"><f>1+1</f></c>",          " t=\"str\"><f>A1</f><v></v></c>",
		" s=\"3\"><v>-7</v></c>",   " t=\"s\"><v>77</v></c>",
		"><v>1e300</v></c>",
	};

	if (row % 8)
		dtx_buf_printf(out, "<c r=\"%c%u\"%s", 'A' + (int)col, row, forms[row % 8 - 1]);
}

/* 600 rows, some of them among blanks.  Row `odd` has a cell that differs from the others of its
 * column, or is hidden, or empty; 0: no row has. */
static void put_rows_of(struct dtx_buf *out, unsigned odd)
{
	unsigned row, col;

	dtx_buf_add(out, "<sheetData><row r=\"1\">");
	for (col = 0; col < 7; col++)
		dtx_buf_printf(out, "<c r=\"%c1\" t=\"str\"><v>h%u</v></c>", 'A' + (int)col, col);
	dtx_buf_add(out, "</row>");
	for (row = 2; row < 600; row++) {
		bool is_odd = odd && row % odd == 0;

		dtx_buf_printf(out, "<row r=\"%u\"%s>", row,
		               is_odd && row % 4 == 1 ? " hidden=\"1\"" : "");
		for (col = 0; col < 7 && !(is_odd && row % 9 == 7); col++)
			if (row > 400 && row < 440)
				dtx_buf_printf(out, "<c r=\"%c%u\" t=\"str\"><f>A1</f><v></v></c>",
				               'A' + (int)col, row);
			else if (is_odd && col == row / odd % 7)
				put_odd(out, row, col);
			else
				put_cell(out, row, col);
		dtx_buf_add(out, "</row>");
	}
	dtx_buf_add(out, "</sheetData>");
	dtx_buf_addc(out, '\0');
}

static void dump(const struct dtx_buf *sheet, const struct dtx_read_opts *opts, uint32_t rows,
                 struct dtx_buf *out)
{
	struct book book = { .styles = STYLES, .strings = STRINGS, .sheet = sheet->ptr };
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	book_make(&book, &bytes);
	T_OK(bytes_dump("b.xlsx", &bytes, opts, rows, true, out, &err), &err);
	dtx_buf_clear(&bytes);
}

/* Held in memory, and from the cache in windows of some cells and batches of some rows. */
static void same_table(const struct dtx_buf *sheet, struct dtx_read_opts opts)
{
	static const uint32_t hold[] = { 15, 150, 1500 }, rows[] = { 0, 5, 64 };
	struct dtx_buf want = DTX_BUF_INIT(1 << 22), got = DTX_BUF_INIT(1 << 22);
	size_t i;

	opts.header_rows = 1;
	dump(sheet, &opts, 0, &want);
	for (i = 0; i < DTX_COUNT(hold) * DTX_COUNT(rows); i++) {
		opts.hold_cells = hold[i / DTX_COUNT(rows)];
		dtx_buf_reset(&got);
		dump(sheet, &opts, rows[i % DTX_COUNT(rows)], &got);
		T_STR(dtx_buf_text(&got), dtx_buf_text(&want));
	}
	dtx_buf_clear(&want);
	dtx_buf_clear(&got);
}

void test_row_cache_reads_as_held(void)
{
	static const unsigned odd[] = { 0, 1, 2, 5, 17, 100 };
	static const char *const nulls[] = { "n/a", "-7", "9102", "0.9102" };
	size_t i;

	for (i = 0; i < DTX_COUNT(odd); i++) {
		struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
		struct dtx_buf sheet = DTX_BUF_INIT(1 << 22);

		put_rows_of(&sheet, odd[i]);
		same_table(&sheet, opts);
		opts.hidden_drop = true;
		opts.range = "B1:F500";
		same_table(&sheet, opts);
		opts.range = NULL;
		opts.bad_cells = DTX_BAD_CELLS_TEXT;
		opts.null_values = nulls;
		opts.nnull_values = DTX_COUNT(nulls);
		same_table(&sheet, opts);
		dtx_buf_clear(&sheet);
	}
}
