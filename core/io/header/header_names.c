/* Makes column names from header rows. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/strmap.h"
#include "core/base/text/utf8.h"
#include "core/io/header/header.h"

enum { NAME_MAX_BYTES = 64 << 10 };

/* The parts of the names in one buffer: part[row * ncols + col]. */
struct namer {
	const struct dtx_head_grid *g;
	const struct dtx_head *head;
	enum dtx_header_fill fill;
	struct dtx_arena *arena;
	struct dtx_str *part;
	struct dtx_strmap taken;
	uint32_t *next; /* number to try next, per column that has the bare name */
	uint32_t nrepeated;
	const char *repeated; /* the first one */
	uint32_t nsqueezed;
	const char *squeezed; /* the first one, in its new form */
	uint32_t nzeros;      /* number of names with a byte 0, which is removed from them */
	const char *zeros;    /* the first one, in its new form */
};

/* A name that is too long exceeds a limit of reading, as a cell that is too long does. */
static enum dtx_code check_name(const struct dtx_buf *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->fail == DTX_BUF_MAX)
		DTX_FAIL(err, DTX_E_INPUT_LIMIT, "a column name is larger than %d bytes",
		         NAME_MAX_BYTES);
	DTX_TRY(dtx_buf_check(b, "a column name", err));
out:
	return rc;
}

/* Removes blanks at both ends, and reduces those inside to one. */
static enum dtx_code squeeze(struct namer *n, struct dtx_str text, struct dtx_str *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf b = DTX_BUF_INIT(NAME_MAX_BYTES);
	struct dtx_str s = dtx_utf8_trim(text);
	bool gap = false, zero = false;
	size_t i = 0;
	char *copy;

	while (i < s.len) {
		size_t from = i;
		bool space = dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, &i));

		if (!s.ptr[from]) {
			zero = true;
			continue;
		}
		if (!space && gap)
			dtx_buf_addc(&b, ' ');
		if (!space)
			dtx_buf_addn(&b, s.ptr + from, i - from);
		gap = space;
	}
	DTX_TRY(check_name(&b, err));
	copy = dtx_arena_strndup(n->arena, dtx_buf_text(&b), dtx_buf_len(&b));
	if (!copy)
		DTX_FAIL_MEM(err);
	*out = (struct dtx_str){ copy, b.len };
	if (zero && !n->nzeros++)
		n->zeros = copy;
	if (!zero && !dtx_str_eq(*out, s) && !n->nsqueezed++)
		n->squeezed = copy;
out:
	dtx_buf_clear(&b);
	return rc;
}

static enum dtx_code collect_row(struct namer *n, uint32_t r, struct dtx_head_cell *cell,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str *part = &n->part[(size_t)r * n->g->ncols], left = { NULL, 0 };
	uint32_t c, width = 0, filled = 0;
	bool right = n->fill == DTX_FILL_RIGHT && r + 1 < n->head->rows;

	DTX_TRY(n->g->row(n->g->arg, n->head->first + r, cell, &width, err));
	for (c = 0; c < n->g->ncols; c++)
		filled += cell[c].kind != DTX_HEAD_BLANK;
	/* A single cell is the title of a sheet, not a name for all columns to its right. */
	right = right && (n->g->text_file || filled > 1);
	for (c = 0; c < n->g->ncols; c++) {
		bool own = cell[c].kind != DTX_HEAD_BLANK &&
		           (!cell[c].covered || n->fill == DTX_FILL_MERGED);

		if (own)
			DTX_TRY(squeeze(n, cell[c].text, &part[c], err));
		if (right) {
			left = part[c].len ? part[c] : left;
			part[c] = left;
		}
	}
out:
	return rc;
}

static enum dtx_code join_parts(struct namer *n, uint32_t col, const char *sep, char **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf b = DTX_BUF_INIT(NAME_MAX_BYTES);
	struct dtx_str above = { NULL, 0 };
	uint32_t r;

	for (r = 0; r < n->head->rows; r++) {
		struct dtx_str p = n->part[(size_t)r * n->g->ncols + col];

		if (p.len && !dtx_str_eq(p, above)) {
			if (b.len)
				dtx_buf_add(&b, sep);
			dtx_buf_adds(&b, p);
		}
		if (p.len)
			above = p;
	}
	if (!b.len)
		dtx_buf_printf(&b, "column_%u", col + 1);
	DTX_TRY(check_name(&b, err));
	*out = dtx_arena_strndup(n->arena, dtx_buf_text(&b), dtx_buf_len(&b));
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&b);
	return rc;
}

/* Gives a repeated name the next free number; `holder` is the column with the bare name. */
static enum dtx_code number_name(struct namer *n, uint32_t holder, uint32_t col, const char **name,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found = holder;
	char *made = NULL;

	if (!n->nrepeated++)
		n->repeated = *name;
	while (found != col) {
		uint32_t number = 2 + n->next[holder]++;

		made = dtx_arena_printf(n->arena, "%s_%u", *name, number);
		if (!made || !dtx_strmap_put(&n->taken, dtx_str_of(made), col, &found))
			DTX_FAIL_MEM(err);
	}
	*name = made;
out:
	return rc;
}

static enum dtx_code refuse_repeat(const struct namer *n, const char *name, uint32_t a, uint32_t b,
                                   struct dtx_err *err)
{
	char first[48], second[48];
	uint64_t row = n->head->first + (n->head->rows ? n->head->rows - 1 : 0);

	n->g->name(n->g->arg, row, a, first);
	n->g->name(n->g->arg, row, b, second);
	dtx_err_set(err, DTX_E_AMBIGUOUS_COLUMN, __FILE__, __LINE__,
	            "two columns are named '%.100s': %s and %s", name, first, second);
	dtx_err_hint(err, "\"names\": \"suffix\" numbers them");
	return DTX_E_AMBIGUOUS_COLUMN;
}

/* Whether the header has a range over several columns. Then its names show which columns they are
 * above. */
static enum dtx_code has_ranges(const struct namer *n, struct dtx_head_cell *cell, bool *yes,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r, c, width = 0;

	*yes = false;
	for (r = 0; r < n->head->rows && !*yes; r++) {
		DTX_TRY(n->g->row(n->g->arg, n->head->first + r, cell, &width, err));
		for (c = 0; c < n->g->ncols && !*yes; c++)
			*yes = cell[c].covered_left && !cell[c].wide;
	}
out:
	return rc;
}

/* Names that occur once come first, so that "a", "a", "a_2" keeps the a_2 that was written. */
static enum dtx_code make_unique(struct namer *n, const char **name, bool unique_error,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c, found = 0;

	for (c = 0; c < n->g->ncols; c++) {
		if (!dtx_strmap_put(&n->taken, dtx_str_of(name[c]), c, &found))
			DTX_FAIL_MEM(err);
		if (found != c && unique_error)
			DTX_TRY(refuse_repeat(n, name[c], found, c, err));
	}
	for (c = 0; c < n->g->ncols; c++) {
		found = dtx_strmap_get(&n->taken, dtx_str_of(name[c]));
		if (found != c)
			DTX_TRY(number_name(n, found, c, &name[c], err));
	}
out:
	return rc;
}

static enum dtx_code warn_repeats(const struct namer *n, struct dtx_errlist *diags,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!n->nrepeated || !diags)
		goto out;
	dtx_err_set(&w, DTX_W_DUPLICATE_HEADER, __FILE__, __LINE__,
	            "%u column names are repeated and got numbers, the first is '%.100s'",
	            n->nrepeated, n->repeated);
	w.severity = DTX_SEV_WARNING;
	w.count = n->nrepeated;
	if (!dtx_errlist_take(diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Warns if a name of a text file was changed. */
static enum dtx_code warn_squeezed(const struct namer *n, struct dtx_errlist *diags,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!n->nsqueezed || !diags || !n->g->text_file)
		goto out;
	dtx_err_set(
		&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
		n->nsqueezed == 1
			? "%u column name has several blanks or a line end inside, which became "
			  "one blank: '%.100s'"
			: "%u column names have several blanks or a line end inside, which "
			  "became one blank: the first is '%.100s'",
		n->nsqueezed, n->squeezed);
	w.severity = DTX_SEV_WARNING;
	w.count = n->nsqueezed;
	if (!dtx_errlist_take(diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code warn_zeros(const struct namer *n, struct dtx_errlist *diags,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!n->nzeros || !diags)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            n->nzeros == 1
	                    ? "%u column name holds the byte 0, which is left out: '%.100s'"
	                    : "%u column names hold the byte 0, which is left out: the first is "
	                      "'%.100s'",
	            n->nzeros, n->zeros);
	w.severity = DTX_SEV_WARNING;
	w.count = n->nzeros;
	if (!dtx_errlist_take(diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_head_names(const struct dtx_head_grid *g, const struct dtx_head *head,
                             const char *sep, enum dtx_header_fill fill, bool unique_error,
                             struct dtx_arena *arena, struct dtx_errlist *diags,
                             const char ***names, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct namer n = { .g = g, .head = head, .arena = arena };
	struct dtx_head_cell *cell = dtx_mem_zalloc(g->ncols, sizeof(*cell));
	const char **made = dtx_arena_zalloc(arena, g->ncols, sizeof(*made));
	bool ranges = false;
	uint32_t i;

	n.part = dtx_mem_zalloc((size_t)g->ncols * head->rows, sizeof(*n.part));
	n.next = dtx_mem_zalloc(g->ncols, sizeof(*n.next));
	if (!cell || !made || !n.part || !n.next)
		DTX_FAIL_MEM(err);
	if (fill == DTX_FILL_AUTO && !g->text_file && head->rows > 1)
		DTX_TRY(has_ranges(&n, cell, &ranges, err));
	n.fill = fill != DTX_FILL_AUTO                         ? fill
	         : ranges || (!g->text_file && head->rows < 2) ? DTX_FILL_MERGED
	         : head->parts                                 ? DTX_FILL_NONE
	                                                       : DTX_FILL_RIGHT;
	for (i = 0; i < head->rows; i++)
		DTX_TRY(collect_row(&n, i, cell, err));
	for (i = 0; i < g->ncols; i++) {
		char *name;

		DTX_TRY(join_parts(&n, i, sep, &name, err));
		made[i] = name;
	}
	DTX_TRY(make_unique(&n, made, unique_error, err));
	DTX_TRY(warn_repeats(&n, diags, err));
	DTX_TRY(warn_squeezed(&n, diags, err));
	DTX_TRY(warn_zeros(&n, diags, err));
	*names = made;
out:
	dtx_mem_free(cell);
	dtx_mem_free(n.part);
	dtx_strmap_clear(&n.taken);
	dtx_mem_free(n.next);
	return rc;
}
