/* Values as text: see cast.h. */
#include <math.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

#define PRINT_CELL_MAX ((size_t)16 << 20)

static void print_f64(double v, struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	dtx_buf_addn(out, text, dtx_num_print_f64(text, v));
}

static void print_i64(int64_t v, struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	dtx_buf_addn(out, text, dtx_num_print_i64(text, v));
}

static void print_day(int32_t day, struct dtx_buf *out)
{
	char text[16];

	dtx_buf_addn(out, text, dtx_day_print(text, day));
}

static void print_us(struct dtx_typeref t, int64_t us, struct dtx_buf *out)
{
	char text[40];

	dtx_buf_addn(out, text, dtx_moment_print(text, t, us));
}

/* Prints days as [-]HH:MM:SS, with milliseconds if there are any. */
static size_t print_clock(double days, char *out)
{
	double a = fabs(days);
	uint64_t ms;
	int n;

	if (!(a < 1e8))
		return dtx_num_print_f64(out, days);
	ms = (uint64_t)llround(a * 86400000.0);
	n = snprintf(out, DTX_CELL_PRINT, "%s%02llu:%02llu:%02llu", days < 0 && ms ? "-" : "",
	             (unsigned long long)(ms / 3600000), (unsigned long long)(ms / 60000 % 60),
	             (unsigned long long)(ms / 1000 % 60));
	if (ms % 1000)
		n += snprintf(out + n, (size_t)(DTX_CELL_PRINT - n), ".%03llu",
		              (unsigned long long)(ms % 1000));
	return (size_t)n;
}

static size_t print_serial(const struct dtx_column *c, double serial, char *out)
{
	int64_t us;
	bool epoch1904 = c->strings && c->strings->epoch1904;
	int32_t whole = serial >= 61 && serial < 2957004 ? (int32_t)serial : 0;

	/* a whole day, which both epochs have */
	if (whole == serial && c->type.type != DTX_T_DATETIME)
		return dtx_day_print(out, whole - (epoch1904 ? 24107 : 25569));
	if (!dtx_serial_to_us(serial, epoch1904, &us))
		return dtx_num_print_f64(out, serial);
	if (us % DTX_DAY_US == 0 && c->type.type != DTX_T_DATETIME)
		return dtx_day_print(out, (int32_t)(us / DTX_DAY_US - (us % DTX_DAY_US < 0)));
	return dtx_moment_print(out, c->type, us);
}

/* A number of a workbook: 100, not 100.0. */
static size_t print_cell_number(double v, char *out)
{
	if (fabs(v) <= (double)DTX_CELL_EXACT && v == (double)(int64_t)v)
		return dtx_num_print_i64(out, (int64_t)v);
	return dtx_num_print_f64(out, v);
}

static size_t print_cell_now(const struct dtx_column *c, uint32_t row, char *out)
{
	union dtx_payload p = c->v.payload[row];

	switch (c->tag[row] & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER: return print_cell_number(p.num, out);
	case DTX_CELL_WHOLE: return dtx_num_print_i64(out, p.whole);
	case DTX_CELL_BOOL: memcpy(out, p.id ? "true" : "false", 5); return p.id ? 4 : 5;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME: return print_serial(c, p.num, out);
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: return print_clock(p.num, out);
	default: return 0;
	}
}

size_t dtx_cast_print_cell(const struct dtx_column *c, uint32_t row, char out[DTX_CELL_PRINT])
{
	const struct dtx_printed *p = atomic_load_explicit(&c->printed, memory_order_acquire);

	if (!p || p[row].len == DTX_PRINTED_LONG)
		return print_cell_now(c, row, out);
	memcpy(out, p[row].text, sizeof(p[row].text));
	return p[row].len;
}

enum dtx_code dtx_cast_print_ahead(struct dtx_column *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const size_t spare = DTX_CELL_PRINT / sizeof(struct dtx_printed);
	struct dtx_printed *p = dtx_mem_alloc(c->len + spare, sizeof(*p)), *none = NULL;
	uint32_t i;
	size_t n;

	if (!p)
		DTX_FAIL_MEM(err);
	/* Prints in place.  A text that is too long runs into the entries after it, which are
	 * printed later and overwrite it. */
	for (i = 0; i < c->len; i++) {
		n = dtx_cell_is_text(c, i) ? DTX_PRINTED_LONG : print_cell_now(c, i, (char *)&p[i]);
		p[i].len = n <= DTX_PRINTED_MAX ? (uint8_t)n : DTX_PRINTED_LONG;
	}
	/* If two threads print at once, one wins.  Release publishes the texts with the pointer. */
	if (!atomic_compare_exchange_strong_explicit(&c->printed, &none, p, memory_order_acq_rel,
	                                             memory_order_acquire))
		dtx_mem_free(p);
out:
	return rc;
}

static void print_cell(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	char text[DTX_CELL_PRINT];

	if (dtx_cell_is_text(c, row))
		dtx_buf_adds(out, c->strings->item[c->v.payload[row].id]);
	else
		dtx_buf_addn(out, text, dtx_cast_print_cell(c, row, text));
}

static void print_flat(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	char text[48];

	switch (c->type.type) {
	case DTX_T_BOOL: dtx_buf_add(out, dtx_bit(c->v.bits, row) ? "true" : "false"); break;
	case DTX_T_INT64: print_i64(c->v.i64[row], out); break;
	case DTX_T_FLOAT64: print_f64(c->v.f64[row], out); break;
	case DTX_T_DECIMAL:
		dtx_buf_addn(out, text, dtx_dec_print(text, c->v.dec[row], c->type.scale));
		break;
	case DTX_T_DATE: print_day(c->v.day[row], out); break;
	case DTX_T_DATETIME: print_us(c->type, c->v.i64[row], out); break;
	default: break;
	}
}

void dtx_cast_print(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	size_t at = out->len;
	struct dtx_str s;

	if (dtx_column_is_null(c, row))
		return;
	switch (c->form) {
	case DTX_F_SPAN:
		s = dtx_cast_source(c, row, out);
		if (out->len == at) /* it was returned as a view, not appended to out */
			dtx_buf_adds(out, s);
		break;
	case DTX_F_CELL: print_cell(c, row, out); break;
	default:
		if (c->type.type == DTX_T_TEXT)
			dtx_buf_adds(out, dtx_column_text(c, row));
		else
			print_flat(c, c->form == DTX_F_CONST ? 0 : row, out);
		break;
	}
}

static enum dtx_code print_all(const struct dtx_column *c, struct dtx_column **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(PRINT_CELL_MAX);
	struct dtx_builder b;
	uint32_t i;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, c->len);
	for (i = 0; i < c->len; i++) {
		if (dtx_column_is_null(c, i)) {
			dtx_builder_null(&b);
			continue;
		}
		dtx_buf_reset(&text);
		dtx_cast_print(c, i, &text);
		DTX_TRY(dtx_buf_check(&text, "the text of a cell", err));
		dtx_builder_text(&b, (struct dtx_str){ text.ptr, text.len });
	}
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_buf_clear(&text);
	dtx_builder_clear(&b);
	return rc;
}

enum dtx_code dtx_cast_to_text(struct dtx_column *c, struct dtx_column **out, struct dtx_err *err)
{
	const struct dtx_field text = { .name = "", .type = { DTX_T_TEXT, 0, 0 }, .guessed = true };
	struct dtx_column *twin = atomic_load_explicit(&c->typed, memory_order_acquire);
	int64_t bad;

	if (c->form == DTX_F_SPAN && twin && twin->type.type == DTX_T_TEXT) {
		*out = dtx_column_ref(twin);
		return DTX_OK;
	}
	if (c->form == DTX_F_SPAN)
		return dtx_cast_typed(c, &text, NULL, out, &bad, err);
	if (c->form != DTX_F_CELL && c->type.type == DTX_T_TEXT)
		return dtx_column_flat(c, out, err);
	return print_all(c, out, err);
}
