/* Makes the typed twins of late-typed columns: the same cells as a FLAT column of a type.  Text
 * cells are parsed in one loop per type, straight from the source, without an indirect call per
 * cell. */
#include <math.h>

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

struct twin {
	struct dtx_column *c;
	const struct dtx_field *field;
	struct dtx_builder b;
	struct dtx_buf scratch;
	const uint64_t *live; /* bit per row, set for live rows; NULL: all */
	int64_t bad;
	int64_t failed; /* values in live rows that do not fit */
	bool counts;    /* count all values that do not fit instead of stopping at the first */
	bool marks;     /* decimal comma or group mark is declared: no fast path */
};

/* Records a value that does not fit and returns whether to stop.  In a row that is not live it
 * becomes null. */
static bool twin_misfit(struct twin *t, uint32_t row)
{
	bool here = !t->live || dtx_bit(t->live, row);

	t->failed += here;
	if (here && !t->counts)
		t->bad = row;
	return t->bad >= 0;
}

/* The text of a cell without blanks around it and with the declared marks removed.  False: the
 * marks do not follow the declaration. */
static bool twin_plain(const struct twin *t, struct dtx_str *s, char room[64])
{
	*s = dtx_str_trim(*s);
	if (!t->marks)
		return true;
	s->len = dtx_cell_plain(*s, t->field->decimal_comma, t->field->group, room);
	s->ptr = room;
	return s->len > 0;
}

/* The slow functions read what the fast parsers refuse: blanks around the value, declared marks,
 * and, for declared types, everything that the cast functions accept. */
static bool twin_slow_i64(const struct twin *t, struct dtx_str s, int64_t *out)
{
	char room[64];

	if (!twin_plain(t, &s, room))
		return false;
	return t->field->guessed ? dtx_cell_i64(s.ptr, s.len, out) : dtx_cast_text_i64(s, out);
}

static bool twin_slow_f64(const struct twin *t, struct dtx_str s, double *out)
{
	char room[64];

	if (!twin_plain(t, &s, room))
		return false;
	return t->field->guessed ? dtx_cell_f64(s.ptr, s.len, out) : dtx_cast_text_f64(s, out);
}

static bool twin_slow_dec(const struct twin *t, struct dtx_str s, struct dtx_dec128 *out)
{
	char room[64];

	return twin_plain(t, &s, room) && dtx_cast_text_dec(s, t->field->type, out);
}

static bool twin_format(const struct twin *t, struct dtx_str s, int64_t *us)
{
	return dtx_time_parse(dtx_str_trim(s), dtx_str_of(t->field->format), DTX_CENTURY, us);
}

static bool twin_slow_day(const struct twin *t, struct dtx_str s, int32_t *out)
{
	int64_t us;

	if (!dtx_field_reads_format(t->field))
		return dtx_cast_text_date(s, out);
	if (!twin_format(t, s, &us) || us % DTX_DAY_US)
		return false;
	*out = (int32_t)(us / DTX_DAY_US);
	return true;
}

/* Either all values have an offset or none has, as the type says; a date alone has none. But a
 * declared column may be known to be mixed, and that of a workbook is. */
static bool twin_slow_us(const struct twin *t, struct dtx_str s, int64_t *out)
{
	bool zoned = false;
	int32_t day;

	if (dtx_field_reads_format(t->field))
		return twin_format(t, s, out);
	s = dtx_str_trim(s);
	if (!dtx_datetime_parse(s, out, &zoned)) {
		if (!dtx_day_parse(s, &day))
			return false;
		*out = day * DTX_DAY_US;
	}
	if (!t->field->guessed && (t->field->mixed_offsets || t->c->form != DTX_F_SPAN))
		return true;
	return zoned == dtx_type_is_utc(t->field->type);
}

static inline bool twin_no(const char *p, size_t n, void *out)
{
	(void)p, (void)n, (void)out;
	return false;
}

/* Whether the eight bytes before the end of a cell may be read: not if the cell is at the start of
 * the source. */
#define TWIN_LITTLE       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define TWIN_WIDE(c, off) (TWIN_LITTLE && !(c)->narrow && (off) >= 8)

/* YYYY-MM-DD. */
static inline bool twin_fast_day(const char *p, size_t n, int32_t *out)
{
	static const uint16_t before[14] = { 0,   0,   31,  59,  90,  120, 151,
		                             181, 212, 243, 273, 304, 334, 365 };
	unsigned year, month, day, leap;
	char digits[8];
	uint64_t w;

	if (n != 10 || p[4] != '-' || p[7] != '-')
		return false;
	memcpy(digits, p, 4);
	memcpy(digits + 4, p + 5, 2);
	memcpy(digits + 6, p + 8, 2);
	memcpy(&w, digits, sizeof(w));
	if (!TWIN_LITTLE || !dtx_cell_swar(w, &w))
		return dtx_day_parse((struct dtx_str){ p, n }, out);
	year = (unsigned)w / 10000;
	month = (unsigned)w / 100 % 100;
	day = (unsigned)w % 100;
	leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	if (month - 1 >= 12 ||
	    day - 1 >= before[month + 1] - before[month] + (month == 2 ? leap : 0u))
		return false;
	/* The days before 1 January of `year`, counted from year 0, minus the days before 1970. */
	*out = (int32_t)(year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400 +
	                 before[month] + (month > 2 ? leap : 0u) + day) -
	       1 - 719528;
	return true;
}

/* dtx_text_of for texts of up to 12 bytes that have 8 readable bytes before their end. */
static inline struct dtx_text twin_view(const char *p, size_t n)
{
	uint64_t word[2], w;
	struct dtx_text t;
	uint32_t last;

	if (n > DTX_TEXT_INLINE)
		return dtx_text_of(p, n);
	if (n <= 8) {
		memcpy(&w, p + n - 8, sizeof(w));
		w = n ? w >> (8 - n) * 8 : 0;
		word[1] = w >> 32;
	} else {
		memcpy(&w, p, sizeof(w));
		memcpy(&last, p + n - 4, sizeof(last));
		word[1] = w >> 32 | (uint64_t)(last >> (12 - n) * 8) << 32;
	}
	word[0] = n | w << 32;
	memcpy(&t, word, sizeof(t));
	return t;
}

/* Defines a loop over all cells.  FAST gets the raw bytes; WIDE gets them if 8 bytes before their
 * end are readable; SLOW gets the text of what these refused. */
#define TWIN_SPANS(name, value, WIDE, FAST, SLOW)                                                  \
	static void name(struct twin *t, value *to)                                                \
	{                                                                                          \
		const struct dtx_column *c = t->c;                                                 \
		const struct dtx_span *span = c->v.span;                                           \
		uint32_t i, len = c->len;                                                          \
                                                                                                   \
		for (i = 0; i < len; i++) {                                                        \
			const char *p = c->base + span[i].off;                                     \
			size_t n = span[i].len & DTX_SPAN_LEN;                                     \
                                                                                                   \
			if (DTX_LIKELY(span[i].len && (!c->valid || dtx_bit(c->valid, i)))) {      \
				if (DTX_LIKELY(TWIN_WIDE(c, span[i].off) ? WIDE(p, n, &to[i])      \
				                                         : FAST(p, n, &to[i])))    \
					continue;                                                  \
				if (SLOW(t, (struct dtx_str){ p, n }, &to[i]))                     \
					continue;                                                  \
				if (twin_misfit(t, i))                                             \
					return;                                                    \
			}                                                                          \
			memset(&to[i], 0, sizeof(to[i]));                                          \
			dtx_builder_absent(&t->b, i);                                              \
		}                                                                                  \
	}

TWIN_SPANS(twin_i64, int64_t, dtx_cell_i64_wide, dtx_cell_i64, twin_slow_i64)
TWIN_SPANS(twin_i64_marks, int64_t, twin_no, twin_no, twin_slow_i64)
TWIN_SPANS(twin_f64, double, dtx_cell_f64_wide, dtx_cell_f64, twin_slow_f64)
TWIN_SPANS(twin_f64_marks, double, twin_no, twin_no, twin_slow_f64)
TWIN_SPANS(twin_dec, struct dtx_dec128, twin_no, twin_no, twin_slow_dec)
TWIN_SPANS(twin_day, int32_t, twin_fast_day, twin_fast_day, twin_slow_day)
TWIN_SPANS(twin_day_format, int32_t, twin_no, twin_no, twin_slow_day)
TWIN_SPANS(twin_us, int64_t, twin_no, twin_no, twin_slow_us)

static void twin_bool(struct twin *t, uint64_t *bits)
{
	struct dtx_buf none = DTX_BUF_INIT(0);
	uint32_t i;
	bool v;

	for (i = 0; i < t->c->len; i++) {
		struct dtx_str s;

		if (dtx_column_is_null(t->c, i)) {
			dtx_builder_absent(&t->b, i);
			continue;
		}
		s = dtx_str_trim(dtx_cast_source(t->c, i, &none));
		/* 0 and 1 are bools only if the type is declared. */
		if (!dtx_cast_text_bool(s, &v) || (t->field->guessed && s.len == 1)) {
			if (twin_misfit(t, i))
				return;
			dtx_builder_absent(&t->b, i);
			continue;
		}
		if (v)
			dtx_bit_set(bits, i);
	}
}

static void twin_text(struct twin *t, struct dtx_text *to)
{
	const struct dtx_column *c = t->c;
	const struct dtx_span *span = c->v.span;
	char quote = c->dialect.quote ? c->dialect.quote : '"';
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		const char *p = c->base + span[i].off;
		size_t n = span[i].len & DTX_SPAN_LEN;

		if (!span[i].len || (c->valid && !dtx_bit(c->valid, i))) {
			to[i] = dtx_text_of("", 0);
			dtx_builder_absent(&t->b, i);
		} else if (n == span[i].len || !n || !memchr(p, quote, n)) {
			to[i] = TWIN_WIDE(c, span[i].off) ? twin_view(p, n) : dtx_text_of(p, n);
		} else {
			dtx_buf_reset(&t->scratch);
			to[i] = dtx_builder_keep(&t->b, dtx_cast_source(c, i, &t->scratch));
			t->b.failed |= !dtx_buf_ok(&t->scratch);
		}
	}
}

/* All cells must be null; else the first that is not does not fit. */
static void twin_null(struct twin *t)
{
	uint32_t i;

	for (i = 0; i < t->c->len && t->bad < 0; i++) {
		if (!dtx_column_is_null(t->c, i))
			twin_misfit(t, i);
	}
}

static void twin_spans(struct twin *t, void *to)
{
	bool format = dtx_field_reads_format(t->field);

	switch (t->b.type.type) {
	case DTX_T_BOOL: twin_bool(t, to); break;
	case DTX_T_INT64: t->marks ? twin_i64_marks(t, to) : twin_i64(t, to); break;
	case DTX_T_FLOAT64: t->marks ? twin_f64_marks(t, to) : twin_f64(t, to); break;
	case DTX_T_DECIMAL: twin_dec(t, to); break;
	case DTX_T_DATE: format ? twin_day_format(t, to) : twin_day(t, to); break;
	case DTX_T_DATETIME: twin_us(t, to); break;
	default: twin_text(t, to); break;
	}
}

/* A cell of a workbook as a number.  Text is read only for declared types. */
static bool twin_cell_number(const struct twin *t, uint32_t row, double *v)
{
	union dtx_payload p = t->c->v.payload[row];

	switch (t->c->tag[row] & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER:
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: *v = p.num + 0.0; return isfinite(p.num);
	case DTX_CELL_WHOLE:
		*v = (double)p.whole;
		return !t->field->guessed || dtx_cell_whole_is_f64(p.whole);
	case DTX_CELL_TEXT:
		return !t->field->guessed && twin_slow_f64(t, t->c->strings->item[p.id], v);
	default: return false;
	}
}

static bool twin_cell_i64(const struct twin *t, uint32_t row, int64_t *v)
{
	union dtx_payload p = t->c->v.payload[row];

	if ((t->c->tag[row] & DTX_CELL_KIND) == DTX_CELL_TEXT)
		return !t->field->guessed && twin_slow_i64(t, t->c->strings->item[p.id], v);
	if ((t->c->tag[row] & DTX_CELL_KIND) == DTX_CELL_WHOLE) {
		*v = p.whole;
		return true;
	}
	if ((t->c->tag[row] & DTX_CELL_KIND) != DTX_CELL_NUMBER || p.num != trunc(p.num) ||
	    fabs(p.num) > (double)DTX_CELL_EXACT)
		return false;
	*v = (int64_t)p.num;
	return true;
}

static bool twin_cell_dec(struct twin *t, uint32_t row, struct dtx_dec128 *v)
{
	unsigned kind = t->c->tag[row] & DTX_CELL_KIND;

	if (kind != DTX_CELL_NUMBER && kind != DTX_CELL_WHOLE && kind != DTX_CELL_TEXT)
		return false;
	dtx_buf_reset(&t->scratch);
	dtx_cast_print(t->c, row, &t->scratch);
	return twin_slow_dec(t, (struct dtx_str){ t->scratch.ptr, t->scratch.len }, v);
}

static bool twin_cell_bool(const struct twin *t, uint32_t row, bool *v)
{
	union dtx_payload p = t->c->v.payload[row];
	unsigned kind = t->c->tag[row] & DTX_CELL_KIND;

	*v = kind == DTX_CELL_BOOL ? p.id != 0 : kind == DTX_CELL_NUMBER && p.num == 1;
	if (kind == DTX_CELL_BOOL || t->field->guessed)
		return kind == DTX_CELL_BOOL;
	if (kind == DTX_CELL_TEXT)
		return dtx_cast_text_bool(t->c->strings->item[p.id], v);
	return kind == DTX_CELL_NUMBER && (p.num == 0 || p.num == 1);
}

enum twin_moment { TWIN_OK, TWIN_MISFIT, TWIN_NO_DATE };

/* A serial number that is not a date is a bad cell: null rather than a value that does not fit. */
static enum twin_moment twin_cell_us(struct twin *t, uint32_t row, int64_t *us)
{
	union dtx_payload p = t->c->v.payload[row];

	switch (t->c->tag[row] & DTX_CELL_KIND) {
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		return dtx_serial_to_us(p.num, t->c->strings && t->c->strings->epoch1904, us)
		               ? TWIN_OK
		               : TWIN_NO_DATE;
	case DTX_CELL_ISO:
		return dtx_cast_text_datetime(t->c->strings->item[p.id], us) ? TWIN_OK
		                                                             : TWIN_MISFIT;
	case DTX_CELL_TEXT:
		return !t->field->guessed && twin_slow_us(t, t->c->strings->item[p.id], us)
		               ? TWIN_OK
		               : TWIN_MISFIT;
	default: return TWIN_MISFIT;
	}
}

static bool twin_cell_moment(struct twin *t, uint32_t row)
{
	int64_t us;
	enum twin_moment m = twin_cell_us(t, row, &us);

	if (m == TWIN_NO_DATE) {
		dtx_builder_null(&t->b);
		return true;
	}
	if (m != TWIN_OK)
		return false;
	if (t->b.type.type == DTX_T_DATETIME) {
		dtx_builder_i64(&t->b, us);
		return true;
	}
	if (us % DTX_DAY_US)
		return false;
	dtx_builder_day(&t->b, (int32_t)(us / DTX_DAY_US));
	return true;
}

static bool twin_cell_text(struct twin *t, uint32_t row)
{
	unsigned kind = t->c->tag[row] & DTX_CELL_KIND;

	if (kind == DTX_CELL_TEXT || kind == DTX_CELL_ISO) {
		dtx_builder_text_borrow(&t->b, t->c->strings->item[t->c->v.payload[row].id]);
		return true;
	}
	dtx_buf_reset(&t->scratch);
	dtx_cast_print(t->c, row, &t->scratch);
	dtx_builder_text(&t->b, (struct dtx_str){ t->scratch.ptr, t->scratch.len });
	t->b.failed |= !dtx_buf_ok(&t->scratch);
	return true;
}

static bool twin_cell(struct twin *t, uint32_t row)
{
	struct dtx_dec128 dec;
	int64_t i;
	double f;
	bool flag;

	switch (t->b.type.type) {
	case DTX_T_BOOL:
		if (!twin_cell_bool(t, row, &flag))
			return false;
		dtx_builder_bool(&t->b, flag);
		return true;
	case DTX_T_INT64:
		if (!twin_cell_i64(t, row, &i))
			return false;
		dtx_builder_i64(&t->b, i);
		return true;
	case DTX_T_FLOAT64:
		if (!twin_cell_number(t, row, &f))
			return false;
		dtx_builder_f64(&t->b, f);
		return true;
	case DTX_T_DECIMAL:
		if (!twin_cell_dec(t, row, &dec))
			return false;
		dtx_builder_dec(&t->b, dec);
		return true;
	case DTX_T_DATE:
	case DTX_T_DATETIME: return twin_cell_moment(t, row);
	default: return twin_cell_text(t, row);
	}
}

static void twin_cells(struct twin *t)
{
	uint32_t i;

	for (i = 0; i < t->c->len && t->bad < 0; i++) {
		if (dtx_column_is_null(t->c, i) || (!twin_cell(t, i) && !twin_misfit(t, i)))
			dtx_builder_null(&t->b);
	}
}

/* *out is set unless a value did not fit. */
static enum dtx_code twin_make(struct twin *t, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = t->c;
	struct dtx_typeref type = t->field->type;
	void *to;

	if (type.type == DTX_T_UNKNOWN)
		type.type = DTX_T_TEXT;
	t->marks = t->field->decimal_comma || t->field->group;
	dtx_builder_init(&t->b, type, c->len);
	if (type.type == DTX_T_NULL) {
		twin_null(t);
		if (t->bad < 0)
			DTX_TRY(dtx_column_nulls(type, c->len, out, err));
	} else if (c->form == DTX_F_CELL) {
		twin_cells(t);
	} else {
		to = dtx_builder_bulk(&t->b, c->len);
		if (to)
			twin_spans(t, to);
	}
	if (t->bad < 0 && type.type != DTX_T_NULL)
		DTX_TRY(dtx_builder_finish(
			&t->b, type.type == DTX_T_TEXT ? dtx_column_owner(c) : NULL, out, err));
out:
	dtx_builder_clear(&t->b);
	dtx_buf_clear(&t->scratch);
	return rc;
}

#define TWIN(c_, field_, live_)                                                                    \
	{                                                                                          \
		.c = (c_), .field = (field_), .live = (live_), .bad = -1,                          \
		.scratch = DTX_BUF_INIT((size_t)16 << 20)                                          \
	}

enum dtx_code dtx_cast_typed(struct dtx_column *c, const struct dtx_field *field,
                             const uint64_t *live, struct dtx_column **out, int64_t *bad_row,
                             struct dtx_err *err)
{
	struct twin t = TWIN(c, field, live);
	enum dtx_code rc = twin_make(&t, out, err);

	*bad_row = t.bad;
	return rc;
}

enum dtx_code dtx_cast_misfits(struct dtx_column *c, const struct dtx_field *field,
                               const uint64_t *live, int64_t *n, struct dtx_err *err)
{
	struct twin t = TWIN(c, field, live);
	struct dtx_column *made = NULL;
	enum dtx_code rc;

	t.counts = true;
	rc = twin_make(&t, &made, err);
	dtx_column_unref(made);
	*n = t.failed;
	return rc;
}
