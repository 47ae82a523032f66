/* Finds headers in small grids that are drawn as text: cells are separated by '|', "<" continues a
 * merged range from the left, "^" one from above, "=" one that spans all columns. */
#include "core/io/header/header.h"

#include "tests/t.h"

enum { COLS = 4 };

struct drawn {
	const char *const *row;
	uint64_t n;
	char text[COLS][40];
};

static struct dtx_str piece(const struct drawn *d, uint64_t row, uint32_t col)
{
	struct dtx_str rest = dtx_str_of(d->row[row]), p = { "", 0 };
	uint32_t i;

	for (i = 0; i <= col; i++) {
		if (!dtx_str_next(&rest, '|', &p))
			return (struct dtx_str){ "", 0 };
	}
	return p;
}

static enum dtx_code drawn_row(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
                               struct dtx_err *err)
{
	struct drawn *d = arg;
	uint32_t c;

	(void)err;
	*width = COLS;
	for (c = 0; c < COLS; c++) {
		struct dtx_str p = piece(d, row, c);
		uint32_t from = c;
		uint64_t up = row;

		cell[c] = (struct dtx_head_cell){ .text = p };
		cell[c].covered_left = dtx_str_is(p, "<") || dtx_str_is(p, "=");
		cell[c].covered = cell[c].covered_left || dtx_str_is(p, "^");
		cell[c].wide = dtx_str_is(p, "=");
		while (dtx_str_is(piece(d, up, c), "^"))
			up--;
		while (dtx_str_is(piece(d, up, from), "<") || dtx_str_is(piece(d, up, from), "="))
			from--;
		cell[c].text = piece(d, up, from);
		cell[c].kind = cell[c].text.len ? DTX_HEAD_TEXT : DTX_HEAD_BLANK;
	}
	return DTX_OK;
}

static void drawn_name(void *arg, uint64_t row, uint32_t col, char out[48])
{
	(void)arg;
	snprintf(out, 48, "r%uc%u", (unsigned)row, (unsigned)col);
}

static struct dtx_head_grid drawn_grid(struct drawn *d, bool text_file)
{
	return (struct dtx_head_grid){ 0, d->n, COLS, text_file, drawn_row, d, drawn_name };
}

/* want: "first rows name|name|..." or the name of the code. */
static void expect_head(const char *const *row, uint64_t n, const char *want)
{
	struct drawn d = { .row = row, .n = n };
	struct dtx_head_grid g = drawn_grid(&d, false);
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_head head;
	const char **name;
	char got[500];
	size_t len;
	int c;

	if (dtx_head_find(&g, &head, &err) != DTX_OK) {
		T_STR(dtx_code_name(err.code), want);
		goto out;
	}
	T_OK(dtx_head_names(&g, &head, " ", DTX_FILL_AUTO, false, &arena, &diags, &name, &err),
	     &err);
	len = (size_t)snprintf(got, sizeof(got), "%u %u ", (unsigned)head.first, head.rows);
	for (c = 0; c < COLS; c++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s", c ? "|" : "",
		                        name[c]);
	T_STR(got, want);
out:
	dtx_err_clear(&err);
	dtx_errlist_clear(&diags);
	dtx_arena_clear(&arena);
}
#define EXPECT_HEAD(want, ...)                                                                     \
	do {                                                                                       \
		static const char *const rows_[] = { __VA_ARGS__ };                                \
		expect_head(rows_, DTX_COUNT(rows_), (want));                                      \
	} while (0)

void test_header_plain(void)
{
	EXPECT_HEAD("0 1 id|name|qty|price", "id|name|qty|price", "1|a|2|3", "2|b|3|4");
	EXPECT_HEAD("3 1 id|name|qty|price", "Report|||", "|||", "made by me|2024-01-02||",
	            "id|name|qty|price", "1|a|2|3", "2|b|3|4", "3|b|3|4");
}

void test_header_years_pass_beside_text(void)
{
	EXPECT_HEAD("0 1 Region|2022|2023|2024", "Region|2022|2023|2024", "N|1|2|3", "S|1|2|3");
	EXPECT_HEAD("header_not_found", "2021|2022|2023|2024", "1|1|2|3");
	EXPECT_HEAD("0 1 Age|0-30|31-60|90+", "Age|0-30|31-60|90+", "A|1|2|3");
}

void test_header_merged_two_rows(void)
{
	EXPECT_HEAD("2 2 Region|Head|Hours Jan|Hours Feb", "Title|=|=|=", "|||",
	            "Region|Head|Hours|<", "^|^|Jan|Feb", "North|1|2|3", "South|1|2|3",
	            "West|1|2|3");
}

void test_header_group_row_above(void)
{
	EXPECT_HEAD("0 2 A|B|Cost C|Cost D", "||Cost|Cost", "A|B|C|D", "1|2|3|4", "1|2|3|4",
	            "1|2|3|4", "1|2|3|4", "1|2|3|4");
}

/* Three rows of text with blanks look like a header of three rows; then there would be no data. */
void test_header_leaves_rows(void)
{
	EXPECT_HEAD("0 1 text|column_2|column_3|column_4", "text|||", "|a||", "|b||");
}

void test_header_refused(void)
{
	EXPECT_HEAD("header_not_found", "1|a|2|3", "2|b|3|4");
	EXPECT_HEAD("header_not_found", "|||");
}

void test_header_names(void)
{
	EXPECT_HEAD("0 1 a|a_2|column_3|a_3", "a| a ||a", "1|2|3|4", "x|1|1|1");
	EXPECT_HEAD("0 1 a b|a_2|a|a_3", "a  \n b|a_2|a|a", "1|2|3|4");
}

void test_header_unique_error(void)
{
	static const char *const row[] = { "a|b|a|c", "1|2|3|4" };
	struct drawn d = { .row = row, .n = 2 };
	struct dtx_head_grid g = drawn_grid(&d, true);
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_head head = { .rows = 1 };
	const char **name;

	T_CODE(dtx_head_names(&g, &head, " ", DTX_FILL_AUTO, true, &arena, NULL, &name, &err),
	       DTX_E_AMBIGUOUS_COLUMN, &err);
	T_CHECK(strstr(err.msg, "r0c0") && strstr(err.msg, "r0c2"));
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

void test_header_judges_cells(void)
{
	static const struct {
		const char *text;
		enum dtx_head_kind kind;
	} row[] = { { "12", DTX_HEAD_VALUE },
		    { "1,234.50", DTX_HEAD_VALUE },
		    { "(12)", DTX_HEAD_VALUE },
		    { "12 %", DTX_HEAD_VALUE },
		    { "\xe2\x82\xac 5", DTX_HEAD_VALUE },
		    { "n/a", DTX_HEAD_VALUE },
		    { "TRUE", DTX_HEAD_VALUE },
		    { "1e5", DTX_HEAD_VALUE },
		    { "-3", DTX_HEAD_VALUE },
		    { "100-", DTX_HEAD_VALUE },
		    { "2024", DTX_HEAD_YEAR },
		    { "2024-01-31", DTX_HEAD_YEAR },
		    { "Q1", DTX_HEAD_TEXT },
		    { "31-60", DTX_HEAD_TEXT },
		    { "a, b", DTX_HEAD_TEXT },
		    { "  ", DTX_HEAD_BLANK },
		    { "2024/25", DTX_HEAD_TEXT } };
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++)
		T_INT(dtx_head_judge(dtx_str_of(row[i].text)), row[i].kind);
}

/* Row names have no name of their own: the row below them is data. */
void test_header_first_names_blank(void)
{
	EXPECT_HEAD("0 1 column_1|name|city|tag", "|name|city|tag", "a|Ann|Rome|x", "b|Bob|Oslo|y");
	EXPECT_HEAD("0 1 column_1|column_2|city|tag", "||city|tag", "a|Ann|Rome|x", "b|Bob|Oslo|y");
	EXPECT_HEAD("0 1 column_1|name|born|tag", "|name|born|tag", "a|Ann|1990|x", "b|Bob|1992|y");
	EXPECT_HEAD("header_not_found", "|||tag", "a|Ann|Rome|x", "b|Bob|Oslo|y");
	EXPECT_HEAD("1 1 id|name|n|tag", "|||Report", "id|name|n|tag", "1|Ann|5|x", "2|Bob|6|y");
}

/* Names above other names that no merged range spans are repeated to the right, as in a text
 * file. */
void test_header_two_rows_unmerged(void)
{
	EXPECT_HEAD("0 2 region|Sales Jan|Sales Feb|Costs Jan", "region|Sales||Costs",
	            "|Jan|Feb|Jan", "N|1|2|3", "S|5|6|7");
}

/* More rows above the names than in the table. */
void test_header_leaves_out_less_than_it_keeps(void)
{
	EXPECT_HEAD("header_not_found", "a|1||", "b|2||", "c|3||", "d|4||", "id|name|qty|price",
	            "1|x|2|3");
}
