/* Explicit casts of columns.  Every source value is first turned into a tagged value; one function
 * per target type converts it from there. */
#include "core/data/cast/cast.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/data/batch.h"
#include "core/data/builder.h"
#include "core/data/cast/cell_num.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

#define CAST_SAMPLES 5

struct cast_value {
	enum dtx_type kind; /* BOOL, INT64, FLOAT64, DECIMAL, DATE, DATETIME or TEXT */
	union {
		bool b;
		int64_t i; /* INT64, DATE, DATETIME */
		double f;
		dtx_i128 dec;
		struct dtx_str s;
	} u;
};

struct cast {
	const struct dtx_column *c;
	const struct dtx_cast_spec *spec;
	struct dtx_builder b;
	struct dtx_buf scratch;
	struct dtx_buf samples; /* JSON array of the first texts that failed */
	int64_t failed, offsets;
	uint32_t first;
	bool impossible; /* the first failure is a pair of types that have no conversion */
	bool dmy, mdy;   /* dates without format: whether every failed text could be read in this
	                  * order */
};

static struct cast_value cast_of_i64(enum dtx_type kind, int64_t i)
{
	return (struct cast_value){ .kind = kind, .u = { .i = i } };
}

static struct cast_value cast_of_text(struct dtx_str s)
{
	return (struct cast_value){ .kind = DTX_T_TEXT, .u = { .s = s } };
}

static struct cast_value cast_of_f64(double f)
{
	return (struct cast_value){ .kind = DTX_T_FLOAT64, .u = { .f = f } };
}

static struct cast_value cast_get_cell(struct cast *k, uint32_t row)
{
	union dtx_payload p = k->c->v.payload[row];
	int64_t us;

	switch (k->c->tag[row] & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER:
		if (p.num == trunc(p.num) && fabs(p.num) <= (double)DTX_CELL_EXACT)
			return cast_of_i64(DTX_T_INT64, (int64_t)p.num);
		return cast_of_f64(p.num);
	case DTX_CELL_WHOLE: return cast_of_i64(DTX_T_INT64, p.whole);
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: return cast_of_f64(p.num);
	case DTX_CELL_BOOL:
		return (struct cast_value){ .kind = DTX_T_BOOL, .u = { .b = p.id != 0 } };
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		if (dtx_serial_to_us(p.num, k->c->strings && k->c->strings->epoch1904, &us))
			return cast_of_i64(DTX_T_DATETIME, us);
		return cast_of_f64(p.num);
	default: return cast_of_text(k->c->strings->item[p.id]);
	}
}

static struct cast_value cast_get(struct cast *k, uint32_t row)
{
	const struct dtx_column *c = k->c;

	if (c->form == DTX_F_CELL)
		return cast_get_cell(k, row);
	if (c->form == DTX_F_SPAN) {
		dtx_buf_reset(&k->scratch);
		return cast_of_text(dtx_cast_source(c, row, &k->scratch));
	}
	if (c->type.type == DTX_T_TEXT)
		return cast_of_text(dtx_column_text(c, row));
	if (c->form == DTX_F_CONST)
		row = 0;
	switch (c->type.type) {
	case DTX_T_BOOL:
		return (struct cast_value){ .kind = DTX_T_BOOL,
			                    .u = { .b = dtx_bit(c->v.bits, row) } };
	case DTX_T_FLOAT64: return cast_of_f64(c->v.f64[row]);
	case DTX_T_DECIMAL:
		return (struct cast_value){ .kind = DTX_T_DECIMAL,
			                    .u = { .dec = dtx_dec_get(c->v.dec[row]) } };
	case DTX_T_DATE: return cast_of_i64(DTX_T_DATE, c->v.day[row]);
	default: return cast_of_i64(c->type.type, c->v.i64[row]);
	}
}

/* The text of a number without blanks and without the declared marks. */
static bool cast_plain(const struct cast *k, struct dtx_str *s, char room[64])
{
	*s = dtx_str_trim(*s);
	if (!k->spec->decimal_comma && !k->spec->group)
		return true;
	s->len = dtx_cell_plain(*s, k->spec->decimal_comma, k->spec->group, room);
	s->ptr = room;
	return s->len > 0;
}

static bool cast_f64_to_i64(double f, int64_t *out)
{
	if (f != trunc(f) || f < -0x1p63 || f >= 0x1p63)
		return false;
	*out = (int64_t)f;
	return true;
}

static bool cast_text_to_i64(const struct cast *k, struct dtx_str s, int64_t *out)
{
	char room[64];
	double f;

	if (!cast_plain(k, &s, room))
		return false;
	if (dtx_cast_text_i64(s, out))
		return true;
	/* A source column that was read as float may contain whole numbers as 12.0. */
	return !k->spec->as_text && k->c->form == DTX_F_SPAN && k->c->type.type == DTX_T_FLOAT64 &&
	       dtx_cast_text_f64(s, &f) && cast_f64_to_i64(f, out);
}

static bool cast_to_i64(struct cast *k, struct cast_value v)
{
	dtx_i128 whole;
	int64_t i = 0;
	bool ok = false;

	switch (v.kind) {
	case DTX_T_BOOL:
		i = v.u.b;
		ok = true;
		break;
	case DTX_T_INT64:
		i = v.u.i;
		ok = true;
		break;
	case DTX_T_FLOAT64: ok = cast_f64_to_i64(v.u.f, &i); break;
	case DTX_T_DECIMAL:
		whole = v.u.dec / dtx_dec_pow10(k->c->type.scale);
		ok = v.u.dec % dtx_dec_pow10(k->c->type.scale) == 0 && whole >= INT64_MIN &&
		     whole <= INT64_MAX;
		i = ok ? (int64_t)whole : 0;
		break;
	case DTX_T_TEXT: ok = cast_text_to_i64(k, v.u.s, &i); break;
	default: k->impossible = true; break;
	}
	if (ok)
		dtx_builder_i64(&k->b, i);
	return ok;
}

static bool cast_to_f64(struct cast *k, struct cast_value v)
{
	char room[64];
	double f = 0;
	bool ok = true;

	switch (v.kind) {
	case DTX_T_BOOL: f = v.u.b; break;
	case DTX_T_INT64: f = (double)v.u.i; break;
	case DTX_T_FLOAT64: f = v.u.f; break;
	case DTX_T_DECIMAL: f = dtx_dec_to_f64(dtx_dec_put(v.u.dec), k->c->type.scale); break;
	case DTX_T_TEXT: ok = cast_plain(k, &v.u.s, room) && dtx_cast_text_f64(v.u.s, &f); break;
	default:
		k->impossible = true;
		ok = false;
		break;
	}
	if (ok)
		dtx_builder_f64(&k->b, f);
	return ok;
}

/* Rounds half away from zero, on the shortest decimal text of f. */
static bool cast_f64_to_dec(double f, unsigned scale, dtx_i128 *out)
{
	char digits[20];
	int exp10, frac;
	size_t n = dtx_num_digits(f, digits, &exp10), i;
	dtx_i128 v = 0;

	for (i = 0; i < n; i++)
		v = v * 10 + (digits[i] - '0');
	frac = (int)n - exp10; /* |f| = v / 10^frac */
	if (frac > 38) {
		*out = 0; /* at most 17 digits: far smaller than any scale can show */
		return true;
	}
	if (frac < 0) {
		if (-frac > 38 || __builtin_mul_overflow(v, dtx_dec_pow10((unsigned)-frac), &v))
			return false;
		frac = 0;
	}
	if (!dtx_dec_rescale(v, (unsigned)frac, scale, out))
		return false;
	if (f < 0)
		*out = -*out;
	return true;
}

static bool cast_to_dec(struct cast *k, struct cast_value v)
{
	struct dtx_typeref t = k->spec->to;
	struct dtx_dec128 dec = { 0, 0 };
	dtx_i128 d = 0;
	char room[64];
	bool ok = false;

	switch (v.kind) {
	case DTX_T_BOOL: ok = dtx_dec_rescale(v.u.b, 0, t.scale, &d); break;
	case DTX_T_INT64: ok = dtx_dec_rescale(v.u.i, 0, t.scale, &d); break;
	case DTX_T_FLOAT64: ok = cast_f64_to_dec(v.u.f, t.scale, &d); break;
	case DTX_T_DECIMAL: ok = dtx_dec_rescale(v.u.dec, k->c->type.scale, t.scale, &d); break;
	case DTX_T_TEXT:
		ok = cast_plain(k, &v.u.s, room) && dtx_cast_text_dec(v.u.s, t, &dec);
		d = dtx_dec_get(dec);
		break;
	default: k->impossible = true; break;
	}
	ok = ok && dtx_dec_fits(d, t.precision);
	if (ok)
		dtx_builder_dec(&k->b, dtx_dec_put(d));
	return ok;
}

static bool cast_to_bool(struct cast *k, struct cast_value v)
{
	bool b = false, ok = false;

	switch (v.kind) {
	case DTX_T_BOOL:
		b = v.u.b;
		ok = true;
		break;
	case DTX_T_INT64:
		b = v.u.i == 1;
		ok = v.u.i == 0 || v.u.i == 1;
		break;
	case DTX_T_FLOAT64:
		b = v.u.f == 1;
		ok = v.u.f == 0 || v.u.f == 1;
		break;
	case DTX_T_TEXT:
		v.u.s = dtx_str_trim(v.u.s);
		b = dtx_str_is(v.u.s, "1");
		ok = b || dtx_str_is(v.u.s, "0") || dtx_cast_text_bool(v.u.s, &b);
		break;
	default: k->impossible = true; break;
	}
	if (ok)
		dtx_builder_bool(&k->b, b);
	return ok;
}

static bool cast_text_to_us(struct cast *k, struct dtx_str s, int64_t *us)
{
	bool zoned = false;
	int32_t day;

	s = dtx_str_trim(s);
	if (k->spec->format)
		return dtx_time_parse(s, dtx_str_of(k->spec->format), DTX_CENTURY, us);
	if (dtx_datetime_parse(s, us, &zoned) || dtx_cast_text_datetime(s, us)) {
		k->offsets += zoned != dtx_type_is_utc(k->spec->to);
		return true;
	}
	k->dmy = k->dmy && dtx_date_reads_dmy(s, &day);
	k->mdy = k->mdy && dtx_date_reads_mdy(s, &day);
	return false;
}

static bool cast_value_us(struct cast *k, struct cast_value v, int64_t *us)
{
	char text[DTX_NUM_TEXT];

	switch (v.kind) {
	case DTX_T_DATE: *us = v.u.i * DTX_DAY_US; return true;
	case DTX_T_DATETIME: *us = v.u.i; return true;
	case DTX_T_TEXT: return cast_text_to_us(k, v.u.s, us);
	case DTX_T_INT64: /* 20240131 with a format: its digits are the text */
		if (k->spec->format)
			return cast_text_to_us(
				k, (struct dtx_str){ text, dtx_num_print_i64(text, v.u.i) }, us);
		k->impossible = true;
		return false;
	default: k->impossible = true; return false;
	}
}

static bool cast_to_us(struct cast *k, struct cast_value v)
{
	int64_t us;

	if (!cast_value_us(k, v, &us))
		return false;
	dtx_builder_i64(&k->b, us);
	return true;
}

static bool cast_to_day(struct cast *k, struct cast_value v)
{
	int64_t us;

	if (!cast_value_us(k, v, &us))
		return false;
	if (us % DTX_DAY_US) { /* a time of day must not be dropped silently */
		k->dmy = k->mdy = false;
		return false;
	}
	dtx_builder_day(&k->b, (int32_t)(us / DTX_DAY_US));
	return true;
}

typedef bool (*cast_fn)(struct cast *k, struct cast_value v);
static const cast_fn cast_fns[DTX_TYPE_COUNT] = {
	[DTX_T_BOOL] = cast_to_bool,   [DTX_T_INT64] = cast_to_i64, [DTX_T_FLOAT64] = cast_to_f64,
	[DTX_T_DECIMAL] = cast_to_dec, [DTX_T_DATE] = cast_to_day,  [DTX_T_DATETIME] = cast_to_us,
};

bool dtx_cast_possible(enum dtx_type from, enum dtx_type to)
{
	bool from_date = dtx_type_class(from) == DTX_CLASS_DATE;
	bool to_date = dtx_type_class(to) == DTX_CLASS_DATE;

	if (from == to || from <= DTX_T_NULL || from == DTX_T_TEXT || to == DTX_T_TEXT)
		return true;
	if (from_date || to_date)
		return from_date && to_date;
	return from != DTX_T_DECIMAL || to != DTX_T_BOOL;
}

static void cast_failed(struct cast *k, uint32_t row)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);

	if (!k->failed)
		k->first = row;
	if (k->failed < CAST_SAMPLES) {
		dtx_cast_print(k->c, row, &text);
		dtx_buf_add(&k->samples, k->failed ? "," : "{\"samples\":[");
		dtx_buf_json(&k->samples, dtx_str_of(dtx_buf_text(&text)));
	}
	k->failed++;
	dtx_buf_clear(&text);
}

/* What would read such a text, or skip it. */
static const char *cast_hint(const struct cast *k)
{
	if (k->spec->declared)
		return DTX_MISFIT_HINT;
	if (k->c->type.type == DTX_T_DATETIME && k->spec->to.type == DTX_T_DATE)
		return "date(date_trunc(x, 'day')) leaves the time of day out";
	switch (k->spec->to.type) {
	case DTX_T_INT64:
	case DTX_T_FLOAT64:
	case DTX_T_DECIMAL:
		return "parse_number reads '1,234', '$5' and '12%'; cast with on_error null, or "
		       "try() in a formula, gives null for what is not a number";
	case DTX_T_DATE:
	case DTX_T_DATETIME:
		return k->spec->format
		               ? "parse_date takes several formats; on_error null, or try() in a "
		                 "formula, gives null for what is not a date"
		               : "parse_date reads other orders and formats; on_error null, or "
		                 "try() in a formula, gives null for what is not a date";
	default: return "cast with on_error null, or try() in a formula, makes it null";
	}
}

#define DECIMAL_MAX 38

/* Counts the digits of -?digits.digits before and after the point, without leading and trailing
 * zeros. */
static bool count_digits(struct dtx_str s, size_t *before, size_t *after)
{
	size_t i = 0, zeros = 0;

	s = dtx_str_trim(s);
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	*before = *after = 0;
	for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
		*before += *before || s.ptr[i] != '0';
	if (i == s.len)
		return i > 0;
	if (s.ptr[i++] != '.' || i == s.len)
		return false;
	for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++) {
		zeros = s.ptr[i] == '0' ? zeros + 1 : 0;
		++*after;
	}
	*after -= zeros;
	return i == s.len;
}

bool dtx_cast_hint_digits(struct dtx_str number, struct dtx_typeref to, struct dtx_err *err)
{
	size_t before, after, precision = to.precision, scale = to.scale;

	if (!count_digits(number, &before, &after))
		return false;
	if (to.type == DTX_T_INT64 && after) {
		dtx_err_hint(err,
		             "it is not a whole number: round(x), floor(x) or ceil(x) in a formula "
		             "makes one, the type float keeps it");
		return true;
	}
	if ((to.type == DTX_T_INT64 || to.type == DTX_T_DECIMAL) &&
	    before + DTX_MAX(after, to.type == DTX_T_DECIMAL ? scale : 0) > DECIMAL_MAX) {
		dtx_err_hint(err,
		             "a decimal has %d digits at most: write float, which keeps about 16 "
		             "of them, or text for a code",
		             DECIMAL_MAX);
		return true;
	}
	if (to.type == DTX_T_INT64 && before > 18) {
		dtx_err_hint(err,
		             "int takes numbers up to 9223372036854775807: write decimal(%zu,0), "
		             "or text for a code",
		             before);
		return true;
	}
	if (to.type != DTX_T_DECIMAL)
		return false;
	if (after > scale)
		dtx_err_hint(err,
		             "it has %zu digit%s after the point, where %zu fit: write "
		             "decimal(%zu,%zu), or round(x, %zu) in a step before",
		             after, after > 1 ? "s" : "", scale, DTX_MAX(precision, before + after),
		             after, scale);
	else if (before > precision - scale)
		dtx_err_hint(err,
		             "it has %zu digit%s before the point, where %zu fit: write "
		             "decimal(%zu,%zu)",
		             before, before > 1 ? "s" : "", precision - scale, before + scale,
		             scale);
	else
		return false;
	return true;
}

static enum dtx_code cast_error(struct cast *k, struct dtx_err *err)
{
	static const struct {
		const char *reads, *hint;
	} orders[] = {
		{ "day-month-year", "\"format\": \"%d/%m/%Y\"" },
		{ "month-day-year", "\"format\": \"%m/%d/%Y\"" },
		{ "day-month-year or month-day-year",
		  "\"format\": \"%d/%m/%Y\" or \"format\": \"%m/%d/%Y\"" },
	};
	enum dtx_code rc = k->impossible ? DTX_E_TYPE_MISMATCH : DTX_E_CAST_FAILED;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20), type = DTX_BUF_INIT(32);
	bool ambiguous = !k->impossible && (k->dmy || k->mdy);
	char why[DTX_TIME_WHY] = "";
	size_t order = k->dmy && k->mdy ? 2 : k->mdy;
	struct dtx_str number;
	char room[64];

	dtx_cast_print(k->c, k->first, &text);
	dtx_type_print(k->spec->to, &type);
	number = dtx_buf_str(&text);
	if (!k->impossible)
		dtx_cast_why(dtx_buf_str(&text), k->spec->to, k->spec->format, why);
	if (ambiguous)
		rc = dtx_err_set(err, DTX_E_AMBIGUOUS_DATE, __FILE__, __LINE__,
		                 "'%.80s' is not an ISO date; it reads as %s", dtx_buf_text(&text),
		                 orders[order].reads);
	else
		rc = dtx_err_set(err, rc, __FILE__, __LINE__, "cannot read '%.80s' as %s%s",
		                 dtx_buf_text(&text), dtx_buf_text(&type), why);
	if (ambiguous)
		dtx_err_hint(err, "say which: %s", orders[order].hint);
	else if (!k->impossible &&
	         !(cast_plain(k, &number, room) && dtx_cast_hint_digits(number, k->spec->to, err)))
		dtx_err_hint(err, "%s", dtx_time_why_hint(why, cast_hint(k)));
	if (err) {
		err->run_time = true;
		err->row = k->first;
		err->count = k->failed;
		err->count_open = true;
	}
	dtx_buf_add(&k->samples, "]}");
	dtx_err_more(err, dtx_buf_steal(&k->samples));
	dtx_buf_clear(&text);
	dtx_buf_clear(&type);
	return rc;
}

static void cast_rows(struct cast *k)
{
	cast_fn fn = cast_fns[k->spec->to.type];
	uint32_t i;

	for (i = 0; i < k->c->len && !k->b.failed; i++) {
		if (dtx_column_is_null(k->c, i)) {
			dtx_builder_null(&k->b);
		} else if (!fn(k, cast_get(k, i))) {
			cast_failed(k, i);
			dtx_builder_null(&k->b);
		}
	}
}

enum dtx_code dtx_cast_column(struct dtx_column *c, const struct dtx_cast_spec *spec,
                              struct dtx_column **out, struct dtx_cast_count *count,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool iso = dtx_type_class(spec->to.type) == DTX_CLASS_DATE && !spec->format;
	struct cast k = { .c = c,
		          .spec = spec,
		          .dmy = iso,
		          .mdy = iso,
		          .scratch = DTX_BUF_INIT((size_t)16 << 20),
		          .samples = DTX_BUF_INIT((size_t)16 << 20) };

	if (count)
		*count = (struct dtx_cast_count){ 0 };
	dtx_builder_init(&k.b, spec->to, c->len);
	if (spec->to.type == DTX_T_TEXT || !cast_fns[spec->to.type]) {
		DTX_TRY(dtx_cast_to_text(c, out, err));
		goto out;
	}
	cast_rows(&k);
	if (!dtx_buf_ok(&k.scratch) || k.b.failed)
		DTX_FAIL_MEM(err);
	if (k.failed && spec->on_error == DTX_CAST_ERROR) {
		rc = cast_error(&k, err);
		goto out;
	}
	if (count)
		*count = (struct dtx_cast_count){ k.failed, k.first, k.offsets };
	if (k.failed && spec->on_error == DTX_CAST_KEEP_TEXT)
		DTX_TRY(dtx_cast_to_text(c, out, err));
	else
		DTX_TRY(dtx_builder_finish(&k.b, NULL, out, err));
out:
	dtx_builder_clear(&k.b);
	dtx_buf_clear(&k.scratch);
	dtx_buf_clear(&k.samples);
	return rc;
}
