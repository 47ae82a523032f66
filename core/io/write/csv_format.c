/* Formats batches as CSV: copies runs of source bytes, and prints values. */
#include "core/io/write/csv_format.h"

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

#define FORMAT_SCRATCH_MAX ((size_t)64 << 20)

/* What is printed in one step: a run of columns that are next to each other in the source, or a
 * value. */
struct format_item {
	const struct dtx_column *col, *end; /* of a run: the first and last column */
	void (*put)(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
	            struct dtx_buf *out);
	struct dtx_buf *scratch;
	struct dtx_str text; /* of a constant column, printed once */
	/* The printed values, if they are known and need no quotes. An entry with length 0 or
	 * DTX_PRINTED_LONG is not known. */
	const struct dtx_printed *printed;
};

static inline bool format_room(struct dtx_buf *out, size_t n)
{
	return DTX_LIKELY(out->cap - out->len > n) || dtx_buf_room(out, n);
}

static inline void format_bytes(struct dtx_buf *out, const char *p, size_t n)
{
	if (!n || !format_room(out, n))
		return;
	memcpy(out->ptr + out->len, p, n);
	out->len += n;
}

static inline void format_byte(struct dtx_buf *out, char c)
{
	if (format_room(out, 1))
		out->ptr[out->len++] = c;
}

void dtx_csv_format_init(struct dtx_csv_format *f, char delim)
{
	*f = (struct dtx_csv_format){ .delim = delim, .null_text = DTX_STR("") };
	dtx_quoting_init(&f->quoting, delim, '"');
}

void dtx_csv_format_eol(const struct dtx_csv_format *f, struct dtx_buf *out)
{
	if (f->crlf)
		format_byte(out, '\r');
	format_byte(out, '\n');
}

void dtx_csv_format_text(const struct dtx_csv_format *f, struct dtx_str s, struct dtx_buf *out)
{
	if (f->quote_all || dtx_quoting_needed(&f->quoting, s))
		dtx_quoting_put(&f->quoting, s, out);
	else
		format_bytes(out, s.ptr, s.len);
}

/* Numbers, dates and flags never need quotes, unless all values get them or the delimiter is one
 * of their characters. */
static bool format_quotes_values(const struct dtx_csv_format *f)
{
	char d = f->delim;

	return f->quote_all || d == '.' || d == '-' || d == ':' || (d >= '0' && d <= '9') ||
	       ((d | 0x20) >= 'a' && (d | 0x20) <= 'z');
}

static void format_value(const struct dtx_csv_format *f, const char *p, size_t n,
                         struct dtx_buf *out)
{
	if (format_quotes_values(f))
		dtx_csv_format_text(f, (struct dtx_str){ p, n }, out);
	else
		format_bytes(out, p, n);
}

/* --- cells of the source --- */

static void put_run(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                    struct dtx_buf *out)
{
	uint32_t from = dtx_span_begin(it->col->v.span[row]);

	(void)f;
	format_bytes(out, it->col->base + from, dtx_span_end(it->end->v.span[row]) - from);
}

/* Copies a cell unless it stands for null: a null written as `NA` is not copied. */
static void put_copy(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	if (dtx_bit(it->col->valid, row))
		put_run(f, it, row, out);
}

static void put_span(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	if (dtx_column_is_null(it->col, row)) {
		format_bytes(out, f->null_text.ptr, f->null_text.len);
		return;
	}
	dtx_buf_reset(it->scratch);
	dtx_csv_format_text(f, dtx_cast_source(it->col, row, it->scratch), out);
}

static void put_printed(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                        struct dtx_buf *out)
{
	if (dtx_column_is_null(it->col, row)) {
		format_bytes(out, f->null_text.ptr, f->null_text.len);
		return;
	}
	dtx_buf_reset(it->scratch);
	dtx_cast_print(it->col, row, it->scratch);
	if (!dtx_buf_ok(it->scratch))
		out->fail = it->scratch->fail;
	else
		dtx_csv_format_text(f,
		                    (struct dtx_str){ it->scratch->len ? it->scratch->ptr : "",
		                                      it->scratch->len },
		                    out);
}

/* Copies a short value that is printed already. It copies a fixed size; the next value
 * overwrites the excess. */
static inline bool put_known(const struct format_item *it, uint32_t row, struct dtx_buf *out)
{
	const struct dtx_printed *p = it->printed ? &it->printed[row] : NULL;

	if (!p || !p->len || p->len > DTX_PRINTED_MAX || !format_room(out, sizeof(p->text)))
		return false;
	memcpy(out->ptr + out->len, p->text, sizeof(p->text));
	out->len += p->len;
	return true;
}

static void put_cell(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	char text[DTX_CELL_PRINT];

	if (dtx_column_is_null(it->col, row))
		format_bytes(out, f->null_text.ptr, f->null_text.len);
	else if (dtx_cell_is_text(it->col, row))
		dtx_csv_format_text(f, it->col->strings->item[it->col->v.payload[row].id], out);
	else
		format_value(f, text, dtx_cast_print_cell(it->col, row, text), out);
}

/* --- values --- */

#define PUT_NULL(f, it, row, out)                                                                  \
	if ((it)->col->valid && !dtx_bit((it)->col->valid, (row))) {                               \
		format_bytes((out), (f)->null_text.ptr, (f)->null_text.len);                       \
		return;                                                                            \
	}

static void put_i64(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                    struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	PUT_NULL(f, it, row, out);
	format_value(f, text, dtx_num_print_i64(text, it->col->v.i64[row]), out);
}

static void put_f64(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                    struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];
	size_t n;

	PUT_NULL(f, it, row, out);
	n = dtx_num_print_f64(text, it->col->v.f64[row]);
	if (f->float_trim && n > 2 && text[n - 1] == '0' && text[n - 2] == '.')
		n -= 2;
	format_value(f, text, n, out);
}

static void put_bool(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	bool v;

	PUT_NULL(f, it, row, out);
	v = dtx_bit(it->col->v.bits, row);
	format_value(f, v ? "true" : "false", v ? 4 : 5, out);
}

static void put_date(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	char text[16];

	PUT_NULL(f, it, row, out);
	format_value(f, text, dtx_day_print(text, it->col->v.day[row]), out);
}

static void put_datetime(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                         struct dtx_buf *out)
{
	char text[40];

	PUT_NULL(f, it, row, out);
	format_value(f, text, dtx_moment_print(text, it->col->type, it->col->v.i64[row]), out);
}

static void put_decimal(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                        struct dtx_buf *out)
{
	char text[48];

	PUT_NULL(f, it, row, out);
	format_value(f, text, dtx_dec_print(text, it->col->v.dec[row], it->col->type.scale), out);
}

static void put_text(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	PUT_NULL(f, it, row, out);
	dtx_csv_format_text(f, dtx_text_str(&it->col->v.text[row]), out);
}

static void put_dict(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                     struct dtx_buf *out)
{
	PUT_NULL(f, it, row, out);
	dtx_csv_format_text(f, dtx_text_str(&it->col->dict->v.text[it->col->v.code[row]]), out);
}

static void put_const(const struct dtx_csv_format *f, const struct format_item *it, uint32_t row,
                      struct dtx_buf *out)
{
	(void)f, (void)row;
	format_bytes(out, it->text.ptr, it->text.len);
}

static void (*const format_flat[DTX_TYPE_COUNT])(const struct dtx_csv_format *,
                                                 const struct format_item *, uint32_t,
                                                 struct dtx_buf *) = {
	[DTX_T_UNKNOWN] = put_printed, [DTX_T_NULL] = put_printed,
	[DTX_T_BOOL] = put_bool,       [DTX_T_INT64] = put_i64,
	[DTX_T_FLOAT64] = put_f64,     [DTX_T_DECIMAL] = put_decimal,
	[DTX_T_DATE] = put_date,       [DTX_T_DATETIME] = put_datetime,
	[DTX_T_TEXT] = put_text,
};

/* --- items of a batch --- */

struct formatter {
	const struct dtx_csv_format *f;
	const struct dtx_batch *b;
	struct format_item *item;
	uint32_t n;
	struct dtx_buf scratch;
	struct dtx_buf consts; /* printed values of constant columns */
};

/* Whether cells of the source are copied. This depends only on the column's dialect, never on
 * other rows: otherwise the bytes of a row would depend on the size of its batch. */
static bool format_copies(const struct dtx_csv_format *f, const struct dtx_column *c)
{
	return c->form == DTX_F_SPAN && c->dialect.delim == f->delim && c->dialect.quote == '"' &&
	       !f->quote_all && !f->reprint && !f->null_text.len;
}

static bool format_is_raw(const struct dtx_csv_format *f, const struct dtx_column *c)
{
	return format_copies(f, c) && !c->valid;
}

/* Returns 0 if b's cell in that row follows a's with a delimiter between them. The byte between
 * can also be a line end, if a step put the first cell of a row after the last cell of the
 * previous row. */
static inline uint32_t format_apart(const struct dtx_column *a, const struct dtx_column *b,
                                    uint32_t row)
{
	uint32_t end = dtx_span_end(a->v.span[row]);

	if (dtx_span_begin(b->v.span[row]) != end + 1)
		return 1;
	return (uint32_t)(a->base[end] ^ b->dialect.delim);
}

/* Whether in every live row the cell of b directly follows that of a, separated by one
 * delimiter. */
static bool format_follows(const struct dtx_batch *batch, const struct dtx_column *a,
                           const struct dtx_column *b)
{
	uint32_t apart = 0, i;

	if (a->base != b->base)
		return false;
	for (i = 0; i < batch->nsel && !apart; i++)
		apart = format_apart(a, b, batch->sel ? batch->sel[i] : i);
	return !apart;
}

static void format_workbook(struct formatter *w, struct format_item *it)
{
	it->put = put_cell;
	if (!it->col->valid && !format_quotes_values(w->f))
		it->printed = atomic_load_explicit(&it->col->printed, memory_order_acquire);
}

static void format_const(struct formatter *w, struct format_item *it)
{
	struct dtx_column one = { .form = DTX_F_FLAT,
		                  .type = it->col->type,
		                  .len = 1,
		                  .valid = it->col->valid,
		                  .v = it->col->v };
	struct format_item flat = { .col = &one, .scratch = &w->scratch };
	size_t from = w->consts.len;

	format_flat[one.type.type](w->f, &flat, 0, &w->consts);
	/* only the length, because a pointer would become invalid when the buffer grows */
	it->text = (struct dtx_str){ NULL, w->consts.len - from };
	it->put = put_const;
}

/* Numbers may be printed already, for the row hash. Trimmed numbers look different. */
static void format_number(struct formatter *w, uint32_t at, struct format_item *it)
{
	it->put = format_flat[it->col->type.type];
	if (w->b->printed && !w->f->float_trim && !format_quotes_values(w->f))
		it->printed = w->b->printed[at];
}

static void format_add(struct formatter *w, uint32_t at, const struct dtx_column *c)
{
	struct format_item *last = w->n ? &w->item[w->n - 1] : NULL;
	struct format_item *it;

	if (last && last->put == put_run && format_is_raw(w->f, c) &&
	    format_follows(w->b, last->end, c)) {
		last->end = c;
		return;
	}
	it = &w->item[w->n++];
	*it = (struct format_item){ .col = c, .end = c, .scratch = &w->scratch };
	if (format_is_raw(w->f, c))
		it->put = put_run;
	else if (format_copies(w->f, c))
		it->put = put_copy;
	else if (c->form == DTX_F_SPAN)
		it->put = put_span;
	else if (c->form == DTX_F_FLAT)
		format_number(w, at, it);
	else if (c->form == DTX_F_DICT)
		it->put = put_dict;
	else if (c->form == DTX_F_CELL)
		format_workbook(w, it);
	else if (c->form == DTX_F_CONST)
		format_const(w, it);
	else
		it->put = put_printed;
}

static void format_place_consts(struct formatter *w)
{
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < w->n; i++) {
		if (w->item[i].put != put_const)
			continue;
		w->item[i].text.ptr = (w->consts.ptr ? w->consts.ptr : "") + at;
		at += w->item[i].text.len;
	}
}

static void format_rows(struct formatter *w, struct dtx_buf *out)
{
	const struct dtx_batch *b = w->b;
	uint32_t r, i, row;

	for (r = 0; r < b->nsel; r++) {
		if (r % DTX_CANCEL_LINES == 0 && dtx_cancel_now())
			return;
		row = b->sel ? b->sel[r] : r;
		for (i = 0; i < w->n; i++) {
			const struct format_item *it = &w->item[i];

			if (i)
				format_byte(out, w->f->delim);
			if (!put_known(it, row, out))
				it->put(w->f, it, row, out);
		}
		dtx_csv_format_eol(w->f, out);
	}
}

/* All columns are one run: rows that are next to each other in the source are copied together. */
static void format_lines(struct formatter *w, struct dtx_buf *out)
{
	const struct dtx_span *first = w->item[0].col->v.span, *last = w->item[0].end->v.span;
	const char *base = w->item[0].col->base;
	const struct dtx_batch *b = w->b;
	uint32_t from = 0, to = 0, r, row;

	for (r = 0; r < b->nsel; r++) {
		uint32_t begin;

		row = b->sel ? b->sel[r] : r;
		begin = dtx_span_begin(first[row]);
		if (r && (w->f->crlf || begin != to + 1 || base[to] != '\n')) {
			format_bytes(out, base + from, to - from);
			dtx_csv_format_eol(w->f, out);
			from = begin;
		} else if (!r) {
			from = begin;
		}
		to = dtx_span_end(last[row]);
	}
	if (!b->nsel)
		return;
	format_bytes(out, base + from, to - from);
	dtx_csv_format_eol(w->f, out);
}

enum dtx_code dtx_csv_format_batch(const struct dtx_csv_format *f, const struct dtx_batch *b,
                                   struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct formatter w = { .f = f,
		               .b = b,
		               .scratch = DTX_BUF_INIT(FORMAT_SCRATCH_MAX),
		               .consts = DTX_BUF_INIT(FORMAT_SCRATCH_MAX) };
	uint32_t i;

	w.item = dtx_mem_alloc(b->ncols, sizeof(*w.item));
	if (!w.item)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		DTX_ASSERT(b->col[i] != NULL, err);
		format_add(&w, i, b->col[i]);
	}
	DTX_TRY(dtx_buf_check(&w.consts, "a constant", err));
	format_place_consts(&w);
	if (w.n == 1 && w.item[0].put == put_run)
		format_lines(&w, out);
	else
		format_rows(&w, out);
	DTX_TRY(dtx_cancel_look(err)); /* the rows may be incomplete */
	DTX_TRY(dtx_buf_check(&w.scratch, "a cell", err));
	DTX_TRY(dtx_buf_check(out, "the output of a batch", err));
out:
	dtx_mem_free(w.item);
	dtx_buf_clear(&w.scratch);
	dtx_buf_clear(&w.consts);
	return rc;
}
