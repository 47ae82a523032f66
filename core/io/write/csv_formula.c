/* Counts texts that a spreadsheet program would take for formulas. No cell is changed; the user
 * gets a note. */
#include "core/io/write/csv_formula.h"

#include "core/base/memory/mem.h"

/* Whether the character can begin a formula. Most cells cost only this test. */
static inline bool may_begin(char c)
{
	return c == '=' || c == '@' || c == '+' || c == '-';
}

bool dtx_csv_formula_is(struct dtx_str s)
{
	char c = s.len > 1 ? s.ptr[1] : ' ';

	if (s.len < 2 || !may_begin(s.ptr[0]))
		return false;
	if (s.ptr[0] == '=' || s.ptr[0] == '@')
		return c != ' ' && c != s.ptr[0];
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '(' || c == '$' || c == '=' ||
	       c == '@';
}

static uint64_t in_spans(const struct dtx_batch *b, const struct dtx_column *c)
{
	uint64_t n = 0;

	for (uint32_t r = 0; r < b->nsel; r++) {
		uint32_t row = b->sel ? b->sel[r] : r;
		struct dtx_span s = c->v.span[row];
		uint32_t len = s.len & DTX_SPAN_LEN;

		if (len > 1 && may_begin(c->base[s.off]) && !dtx_column_is_null(c, row))
			n += dtx_csv_formula_is((struct dtx_str){ c->base + s.off, len });
	}
	return n;
}

static struct dtx_str text_at(const struct dtx_column *c, uint32_t row)
{
	if (c->form == DTX_F_CELL)
		return dtx_cell_is_text(c, row) ? c->strings->item[c->v.payload[row].id]
		                                : DTX_STR("");
	if (c->form == DTX_F_CONST)
		row = 0;
	return dtx_column_text(c, row);
}

static uint64_t in_texts(const struct dtx_batch *b, const struct dtx_column *c)
{
	uint64_t n = 0;

	for (uint32_t r = 0; r < b->nsel; r++) {
		uint32_t row = b->sel ? b->sel[r] : r;

		if (!dtx_column_is_null(c, row))
			n += dtx_csv_formula_is(text_at(c, row));
	}
	return n;
}

static void least(atomic_uint_fast32_t *at, uint32_t v)
{
	uint_fast32_t was = atomic_load_explicit(at, memory_order_relaxed);

	while ((!was || v < was) &&
	       !atomic_compare_exchange_weak_explicit(at, &was, v, memory_order_relaxed,
	                                              memory_order_relaxed))
		;
}

void dtx_csv_formula_add(struct dtx_csv_formulas *to, uint64_t n, uint32_t col)
{
	if (!n)
		return;
	atomic_fetch_add_explicit(&to->n, n, memory_order_relaxed);
	least(&to->col, col);
}

void dtx_csv_formula_count(const struct dtx_batch *b, struct dtx_csv_formulas *to)
{
	for (uint32_t i = 0; i < b->ncols; i++) {
		const struct dtx_column *c = b->col[i];
		uint64_t n = 0;

		if (!c || b->schema->field[i].type.type != DTX_T_TEXT)
			continue;
		if (c->form == DTX_F_SPAN)
			n = in_spans(b, c);
		else if (c->form == DTX_F_CELL || c->type.type == DTX_T_TEXT)
			n = in_texts(b, c);
		dtx_csv_formula_add(to, n, i + 1);
	}
}

enum dtx_code dtx_csv_formula_note(struct dtx_csv_formulas *f, const struct dtx_schema *schema,
                                   struct dtx_errlist *diags, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err note = DTX_ERR_INIT;
	uint64_t n = atomic_load(&f->n);
	uint32_t col = (uint32_t)atomic_load(&f->col);

	if (!n)
		goto out;
	dtx_err_set(&note, DTX_W_RESULT_NOTE, __FILE__, __LINE__,
	            "formula_like: %llu text%s of the output, in column '%s' first, begin%s as a "
	            "formula does (= + - @): a spreadsheet program that opens it runs them",
	            (unsigned long long)n, n > 1 ? "s" : "",
	            col && col <= schema->nfields ? schema->field[col - 1].name : "",
	            n > 1 ? "" : "s");
	dtx_err_hint(&note, "write .xlsx, where text stays text, or change them with clean_text");
	note.severity = DTX_SEV_WARNING;
	note.count = (int64_t)n;
	if (!dtx_errlist_take(diags, &note))
		DTX_FAIL_MEM(err);
out:
	return rc;
}
