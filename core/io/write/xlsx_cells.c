/* Formats, escapes and numbers of cells in a workbook, see xlsx_cells.h. */
#include "core/io/write/xlsx_cells.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"
#include "core/io/sheet/numfmt.h"

/* The number format of the source, unless it is for text or for another class of values. */
static const char *source_format(const struct dtx_field *f)
{
	enum dtx_fmt_class cls;
	bool date = f->type.type == DTX_T_DATE || f->type.type == DTX_T_DATETIME;
	const char *p = f->format;

	if (!p || !f->source)
		return NULL;
	for (p = strchr(p, '%'); p; p = strchr(p + 1, '%')) {
		if ((p[1] | 32) >= 'a' && (p[1] | 32) <= 'z')
			return NULL;
	}
	cls = dtx_fmt_classify(dtx_str_of(f->format));
	if (date)
		return cls == DTX_FMT_DATE || cls == DTX_FMT_DATETIME ? f->format : NULL;
	if (!dtx_type_is_number(f->type.type) || cls == DTX_FMT_TEXT)
		return NULL;
	return cls == DTX_FMT_DATE || cls == DTX_FMT_DATETIME ? NULL : f->format;
}

const char *dtx_xlsx_column_format(const struct dtx_field *f, char scratch[64])
{
	const char *source = source_format(f);
	unsigned i, n = 0;

	if (source)
		return source;
	if (f->type.type == DTX_T_DATE)
		return "yyyy-mm-dd";
	/* A workbook has no time zones. The "Z" is shown, and lets dtx read the cell as UTC
	 * again. */
	if (dtx_type_is_utc(f->type))
		return "yyyy-mm-dd hh:mm:ss\"Z\"";
	if (f->type.type == DTX_T_DATETIME)
		return "yyyy-mm-dd hh:mm:ss";
	if (f->type.type != DTX_T_DECIMAL || f->type.scale > 15)
		return NULL;
	scratch[n++] = '0';
	if (f->type.scale)
		scratch[n++] = '.';
	for (i = 0; i < f->type.scale; i++)
		scratch[n++] = '0';
	scratch[n] = '\0';
	return scratch;
}

/* Whether there is "_xHHHH_" at p, which readers would decode. */
static bool is_escape(const char *p, size_t left)
{
	size_t i;

	if (left < 7 || p[0] != '_' || p[1] != 'x' || p[6] != '_')
		return false;
	for (i = 2; i < 6; i++) {
		if (!strchr("0123456789abcdefABCDEF", p[i]))
			return false;
	}
	return true;
}

void dtx_xlsx_escape(struct dtx_buf *out, struct dtx_str s)
{
	size_t i = 0;

	while (i < s.len) {
		size_t from = i;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &i);

		if (cp == 0xfffe || cp == 0xffff || cp == 0)
			dtx_buf_printf(out, "_x%04X_", (unsigned)cp);
		else if (cp == '_' && is_escape(s.ptr + from, s.len - from))
			dtx_buf_add(out, "_x005F_");
		else
			dtx_buf_addn(out, s.ptr + from, i - from);
	}
}

bool dtx_xlsx_number(const struct dtx_column *c, uint32_t row, double *out,
                     struct dtx_xlsx_losses *lost)
{
	const double limit = 1e15;
	double unit = (double)DTX_DAY_US, first = 61 - 25569 /* 1900-03-01 */;
	char text[20];
	int exp10;

	switch (c->type.type) {
	case DTX_T_INT64:
		*out = (double)c->v.i64[row];
		return c->v.i64[row] > -1000000000000000 && c->v.i64[row] < 1000000000000000;
	case DTX_T_DECIMAL:
		*out = dtx_dec_to_f64(c->v.dec[row], c->type.scale);
		return fabs(*out) * pow(10, c->type.scale) < limit;
	case DTX_T_DATE:
		*out = c->v.day[row] + 25569.0;
		return c->v.day[row] >= first && *out < 2958466;
	case DTX_T_DATETIME:
		*out = (double)c->v.i64[row] / unit + 25569.0;
		if ((double)c->v.i64[row] < first * unit || *out >= 2958466)
			return false;
		lost->micros += c->v.i64[row] % 1000 != 0;
		return true;
	default:
		*out = c->v.f64[row];
		/* with 16 digits it would become infinite */
		if (fabs(*out) > 1.797693134862315e308)
			return false;
		lost->digits += dtx_num_digits(*out, text, &exp10) > 16;
		return true;
	}
}
