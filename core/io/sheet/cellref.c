/* A1 references. Column letters are a bijective base-26 number. */
#include "core/io/sheet/cellref.h"

#include <ctype.h>

#include "core/base/text/num.h"

static bool sheet_is_bare(const char *sheet)
{
	const char *p = sheet;

	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || (unsigned char)*p >= 0x80)
		p++;
	return *sheet && !*p && !isdigit((unsigned char)*sheet);
}

void dtx_sheet_name_print(const char *sheet, struct dtx_buf *out)
{
	if (sheet_is_bare(sheet)) {
		dtx_buf_add(out, sheet);
		return;
	}
	dtx_buf_addc(out, '\'');
	for (; *sheet; sheet++) {
		if (*sheet == '\'')
			dtx_buf_addc(out, '\'');
		dtx_buf_addc(out, *sheet);
	}
	dtx_buf_addc(out, '\'');
}

size_t dtx_cell_name(char out[24], uint64_t row, uint32_t col)
{
	char letters[8], digits[DTX_NUM_TEXT];
	size_t n = 0, i, len;

	for (col++; col; col = (col - 1) / 26)
		letters[n++] = (char)('A' + (col - 1) % 26);
	for (i = 0; i < n; i++)
		out[i] = letters[n - 1 - i];
	len = dtx_num_print_u64(digits, row + 1);
	len = DTX_MIN(len, 24 - n - 1);
	memcpy(out + n, digits, len);
	out[n + len] = '\0';
	return n + len;
}

size_t dtx_cell_range_name(char out[48], const struct dtx_cellrange *r)
{
	size_t n = dtx_cell_name(out, r->row0, r->col0);

	if (r->row0 == r->row1 && r->col0 == r->col1)
		return n;
	out[n++] = ':';
	return n + dtx_cell_name(out + n, r->row1, r->col1);
}

/* One side of a range: letters, digits or both; 0 for a part that is absent. */
struct side {
	uint32_t row, col; /* from 1 */
};

static bool parse_side(struct dtx_str s, struct side *out)
{
	size_t i = 0;

	*out = (struct side){ 0, 0 };
	if (i < s.len && s.ptr[i] == '$')
		i++;
	for (; i < s.len && ((s.ptr[i] | 32) >= 'a' && (s.ptr[i] | 32) <= 'z'); i++) {
		out->col = out->col * 26 + (uint32_t)((s.ptr[i] | 32) - 'a' + 1);
		if (out->col > DTX_SHEET_COLS)
			return false;
	}
	if (i && i < s.len && s.ptr[i] == '$')
		i++;
	for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++) {
		out->row = out->row * 10 + (uint32_t)(s.ptr[i] - '0');
		if (out->row > DTX_SHEET_ROWS || !out->row)
			return false;
	}
	return i == s.len && (out->row || out->col);
}

bool dtx_cell_parse(struct dtx_str s, uint32_t *row, uint32_t *col)
{
	struct side a;

	if (!parse_side(s, &a) || !a.row || !a.col)
		return false;
	*row = a.row - 1;
	*col = a.col - 1;
	return true;
}

static void order(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	if (*a > *b) {
		*a = *b;
		*b = t;
	}
}

bool dtx_cell_range_parse(struct dtx_str s, struct dtx_cellrange *out)
{
	struct dtx_str rest = s, first, second;
	struct side a, b;

	if (!s.len || !dtx_str_next(&rest, ':', &first) || !parse_side(first, &a))
		return false;
	b = a;
	if (dtx_str_next(&rest, ':', &second) && (rest.ptr || !parse_side(second, &b)))
		return false;
	if (!a.row != !b.row && (!a.row || !a.col))
		return false; /* only "B4:H" may have one row */
	if (!a.col != !b.col)
		return false;
	out->rows_open = !b.row;
	out->cols_open = !a.col;
	out->row0 = a.row ? a.row - 1 : 0;
	out->row1 = b.row ? b.row - 1 : DTX_SHEET_ROWS - 1;
	out->col0 = a.col ? a.col - 1 : 0;
	out->col1 = b.col ? b.col - 1 : DTX_SHEET_COLS - 1;
	order(&out->row0, &out->row1);
	order(&out->col0, &out->col1);
	return true;
}
