/* An even sample of rows, kept as numbers.
 *
 * While rows come in, every step-th one is taken; when the sample is full, every second row is
 * removed and the step doubles. So the sample is always even, of bounded size, and needs no row
 * count beforehand. */
#include "core/plan/exec/stats/colsample.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"

enum sample_kind { SAMPLE_OTHER, SAMPLE_NUMBER, SAMPLE_DAY, SAMPLE_BOOL, SAMPLE_TEXT };

static enum sample_kind sample_kind(enum dtx_type type)
{
	switch (type) {
	case DTX_T_INT64:
	case DTX_T_FLOAT64:
	case DTX_T_DECIMAL: return SAMPLE_NUMBER;
	case DTX_T_DATE:
	case DTX_T_DATETIME: return SAMPLE_DAY;
	case DTX_T_BOOL: return SAMPLE_BOOL;
	case DTX_T_TEXT: return SAMPLE_TEXT;
	default: return SAMPLE_OTHER;
	}
}

enum dtx_code dtx_colsample_init(struct dtx_colsample *s, const struct dtx_schema *schema,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*s = (struct dtx_colsample){ .schema = schema,
		                     .ncols = DTX_MIN(schema->nfields,
		                                      (uint32_t)DTX_COLSAMPLE_COLUMNS),
		                     .step = 1 };
	if (!s->ncols)
		goto out;
	s->value = dtx_mem_alloc((size_t)DTX_COLSAMPLE_ROWS * s->ncols, sizeof(*s->value));
	if (!s->value)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_colsample_clear(struct dtx_colsample *s)
{
	dtx_mem_free(s->value);
	s->value = NULL;
}

/* --- taking rows --- */

/* Texts are kept as a number made of their hash: equal texts are equal numbers. */
static enum dtx_code sample_texts(const struct dtx_colsample *s, const struct dtx_column *col,
                                  const uint16_t *row, uint32_t n, double *to, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < n; i++) {
		if (dtx_column_is_null(col, row[i]))
			continue;
		dtx_buf_reset(&text);
		dtx_cast_print(col, row[i], &text);
		DTX_TRY(dtx_buf_check(&text, "cell", err));
		to[(size_t)i * s->ncols] =
			(double)(dtx_hash64(text.ptr ? text.ptr : "", text.len, 0) >> 11);
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* The cells of one column as numbers. NaN: empty, or not a value of its type. Text is read by the
 * rules of the field, such as a decimal comma or a date format. */
static enum dtx_code sample_cells(const struct dtx_colsample *s, uint32_t c, struct dtx_column *col,
                                  const uint16_t *row, uint32_t n, double *to, struct dtx_err *err)
{
	static const enum dtx_type as[] = { [SAMPLE_NUMBER] = DTX_T_FLOAT64,
		                            [SAMPLE_DAY] = DTX_T_DATETIME,
		                            [SAMPLE_BOOL] = DTX_T_BOOL,
		                            [SAMPLE_TEXT] = DTX_T_TEXT };
	const struct dtx_field *f = &s->schema->field[c];
	enum sample_kind kind = sample_kind(f->type.type);
	struct dtx_cast_spec spec = { .to = { .type = as[kind] },
		                      .format = dtx_field_reads_format(f) ? f->format : NULL,
		                      .on_error = DTX_CAST_NULL,
		                      .decimal_comma = f->decimal_comma,
		                      .group = f->group };
	struct dtx_column *some = NULL, *v = NULL;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < n; i++)
		to[(size_t)i * s->ncols] = !col || dtx_column_is_null(col, row[i]) ? NAN : 0;
	if (!col || !n || kind == SAMPLE_OTHER)
		return DTX_OK;
	if (kind == SAMPLE_TEXT)
		return sample_texts(s, col, row, n, to, err);
	DTX_TRY(dtx_column_gather(col, row, n, &some, err));
	DTX_TRY(dtx_cast_column(some, &spec, &v, NULL, err));
	for (uint32_t i = 0; i < n; i++) {
		double *x = &to[(size_t)i * s->ncols];

		if (dtx_column_is_null(v, i))
			*x = NAN;
		else if (kind == SAMPLE_NUMBER)
			*x = v->v.f64[i];
		else if (kind == SAMPLE_DAY)
			*x = floor((double)v->v.i64[i] / (double)DTX_DAY_US);
		else
			*x = dtx_bit(v->v.bits, i);
	}
out:
	dtx_column_unref(some);
	dtx_column_unref(v);
	return rc;
}

/* Removes every second row, and doubles the step. */
static void sample_thin(struct dtx_colsample *s)
{
	uint32_t i;

	s->n = (s->n + 1) / 2;
	for (i = 0; i < s->n; i++)
		memmove(&s->value[(size_t)i * s->ncols], &s->value[(size_t)2 * i * s->ncols],
		        s->ncols * sizeof(*s->value));
	s->step *= 2;
}

/* Adds rows; the sample has room for them. */
static enum dtx_code sample_rows(struct dtx_colsample *s, const struct dtx_batch *b,
                                 const uint16_t *row, uint32_t n, struct dtx_err *err)
{
	double *to = &s->value[(size_t)s->n * s->ncols];
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < s->ncols; c++)
		DTX_TRY(sample_cells(s, c, b->col[c], row, n, to + c, err));
	s->n += n;
out:
	return rc;
}

enum dtx_code dtx_colsample_batch(struct dtx_colsample *s, const struct dtx_batch *b,
                                  struct dtx_err *err)
{
	uint16_t row[DTX_COLSAMPLE_ROWS];
	uint32_t n = 0, i = 0;
	enum dtx_code rc = DTX_OK;

	if (!s->value)
		return DTX_OK;
	/* skip to the next multiple of the step */
	for (;;) {
		uint64_t skip = (s->step - s->seen % s->step) % s->step;

		if (skip >= b->nsel - i) {
			s->seen += b->nsel - i;
			break;
		}
		if (s->n + n == DTX_COLSAMPLE_ROWS) {
			DTX_TRY(sample_rows(s, b, row, n, err));
			n = 0;
			sample_thin(s);
			continue;
		}
		i += (uint32_t)skip;
		s->seen += skip + 1;
		row[n++] = (uint16_t)(b->sel ? b->sel[i] : i);
		i++;
	}
	DTX_TRY(sample_rows(s, b, row, n, err));
out:
	return rc;
}

void dtx_colsample_add(struct dtx_colsample *s, const double *value, uint32_t n, uint64_t step,
                       uint64_t seen)
{
	uint64_t end = s->seen + seen, at;

	if (!s->value || !n || !step)
		return;
	while (s->step < step)
		sample_thin(s);
	for (at = s->seen + (s->step - s->seen % s->step) % s->step; at < end;) {
		uint64_t row = DTX_MIN((at - s->seen) / step, n - 1u);

		if (s->n == DTX_COLSAMPLE_ROWS) {
			sample_thin(s);
			at += at % s->step;
			continue;
		}
		memcpy(&s->value[(size_t)s->n++ * s->ncols], value + row * s->ncols,
		       s->ncols * sizeof(*value));
		at += s->step;
	}
	s->seen = end;
}

/* --- bars --- */

/* The smallest of 1, 2, 5, 10, 20 ... such that `span` takes no more than the maximum of bars. */
static double sample_width(double span)
{
	double unit = pow(10, floor(log10(span / DTX_COLSAMPLE_BARS)));
	static const double steps[] = { 1, 2, 5, 10, 20 };

	for (size_t i = 0; i < DTX_COUNT(steps); i++) {
		if (span / (unit * steps[i]) <= DTX_COLSAMPLE_BARS - 1)
			return unit * steps[i];
	}
	return unit * 50;
}

/* The smallest and largest number of a column; returns how many there are. */
static uint32_t sample_range(const struct dtx_colsample *s, uint32_t c, double *lo, double *hi)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		double v = s->value[(size_t)i * s->ncols + c];

		if (!isfinite(v))
			continue;
		*lo = n ? fmin(*lo, v) : v;
		*hi = n ? fmax(*hi, v) : v;
		n++;
	}
	return n;
}

static json_t *sample_number(double v)
{
	char text[DTX_NUM_TEXT];

	return json_stringn(text, dtx_num_print_json(text, v == 0 ? 0 : v));
}

static bool sample_bars(const struct dtx_colsample *s, uint32_t c, double low, double width,
                        uint32_t most, json_t *object)
{
	uint32_t bar[DTX_COLSAMPLE_BARS] = { 0 }, used = 1;
	json_t *bars = json_array();

	for (uint32_t i = 0; i < s->n; i++) {
		double v = s->value[(size_t)i * s->ncols + c], at = floor((v - low) / width);

		if (!isfinite(v))
			continue;
		at = fmin(fmax(at, 0), most - 1);
		bar[(uint32_t)at]++;
		used = DTX_MAX(used, (uint32_t)at + 1);
	}
	for (uint32_t i = 0; i < used; i++)
		json_array_append_new(bars, json_integer(bar[i]));
	return json_array_size(bars) == used && dtx_json_set(object, "bars", json_incref(bars)) &&
	       (json_decref(bars), true);
}

static int sample_order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int sample_largest(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*y > *x) - (*y < *x);
}

/* Adds how often the commonest texts occur. Which texts they are cannot be derived from the
 * report. */
static bool sample_ranks(const struct dtx_colsample *s, uint32_t c, json_t *object)
{
	double value[DTX_COLSAMPLE_ROWS];
	uint32_t times[DTX_COLSAMPLE_ROWS], n = 0, distinct = 0;
	json_t *bars = json_array();

	for (uint32_t i = 0; i < s->n; i++) {
		double v = s->value[(size_t)i * s->ncols + c];

		if (isfinite(v))
			value[n++] = v;
	}
	qsort(value, n, sizeof(*value), sample_order);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || value[i] > value[i - 1])
			times[distinct++] = 0;
		times[distinct - 1]++;
	}
	qsort(times, distinct, sizeof(*times), sample_largest);
	for (uint32_t i = 0; i < distinct && i < DTX_COLSAMPLE_BARS; i++)
		(void)json_array_append_new(bars, json_integer(times[i]));
	return dtx_json_set(object, "kind", json_string("text")) &&
	       dtx_json_set(object, "distinct", json_integer(distinct)) &&
	       dtx_json_set(object, "bars", bars);
}

static bool sample_picture(const struct dtx_colsample *s, uint32_t c, enum sample_kind kind,
                           json_t *object)
{
	double lo = 0, hi = 0, width, low;

	if (kind == SAMPLE_BOOL)
		return dtx_json_set(object, "kind", json_string("bool")) &&
		       sample_bars(s, c, 0, 1, 2, object);
	if (kind == SAMPLE_TEXT)
		return sample_ranks(s, c, object);
	if (!sample_range(s, c, &lo, &hi) || !isfinite(hi - lo))
		return true;
	width = hi > lo ? sample_width(hi - lo) : fmax(fabs(lo), 1);
	if (kind == SAMPLE_DAY)
		width = fmax(ceil(width), 1);
	low = floor(lo / width) * width;
	return dtx_json_set(object, "kind", json_string(kind == SAMPLE_DAY ? "day" : "number")) &&
	       dtx_json_set(object, "low", sample_number(low)) &&
	       dtx_json_set(object, "width", sample_number(width)) &&
	       sample_bars(s, c, low, width, DTX_COLSAMPLE_BARS, object);
}

static json_t *sample_column(const struct dtx_colsample *s, uint32_t c)
{
	enum sample_kind kind = sample_kind(s->schema->field[c].type.type);
	json_int_t nulls = 0;
	json_t *object;

	for (uint32_t i = 0; i < s->n; i++)
		nulls += isnan(s->value[(size_t)i * s->ncols + c]);
	object = json_pack("{ss sI sI}", "name", s->schema->field[c].name, "rows", (json_int_t)s->n,
	                   "nulls", nulls);
	if (object && kind != SAMPLE_OTHER && !sample_picture(s, c, kind, object)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *dtx_colsample_json(const struct dtx_colsample *s)
{
	json_t *list = json_array();

	for (uint32_t c = 0; c < s->ncols && list; c++) {
		if (json_array_append_new(list, sample_column(s, c)) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}
