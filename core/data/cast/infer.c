/* Classes of cells, and the narrowest type that holds all cells of a column.
 *
 * Each cell is put into one class, and only the number of cells per class is kept.  The type
 * follows from these counts at the end, so the order of the cells does not matter and workers can
 * add up their counts.  Rules that need the whole column are therefore rules over counts: one text
 * makes the column text, an integer beyond 2^53 together with a float makes it text (a float would
 * change the integer), and values like "1E5" are floats only in a column that has a clear float
 * too. */
#include "core/data/cast/infer.h"

#include <math.h>

#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"
#include "core/data/time/time.h"

/* Whether a float is digits, e or E, digits. */
static bool infer_code(struct dtx_str s)
{
	bool exponent = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		if (s.ptr[i] == '.' || s.ptr[i] == '-' || s.ptr[i] == '+')
			return false;
		exponent |= (s.ptr[i] | 0x20) == 'e';
	}
	return exponent;
}

static enum dtx_infer_class infer_number(struct dtx_str s)
{
	int64_t i;
	double f;

	if (dtx_cell_i64(s.ptr, s.len, &i))
		return i >= -DTX_CELL_EXACT && i <= DTX_CELL_EXACT ? DTX_I_INT : DTX_I_WIDE;
	if (!dtx_cell_f64(s.ptr, s.len, &f))
		return DTX_I_TEXT;
	return infer_code(s) ? DTX_I_CODE : DTX_I_FLOAT;
}

static enum dtx_infer_class infer_moment(struct dtx_str s)
{
	int64_t us;
	int32_t day;
	bool zoned;

	if (dtx_day_parse(s, &day))
		return DTX_I_DATE;
	if (!dtx_datetime_parse(s, &us, &zoned))
		return DTX_I_TEXT;
	return zoned ? DTX_I_ZONED : DTX_I_DATETIME;
}

static enum dtx_infer_class infer_class(struct dtx_str s)
{
	enum dtx_infer_class c;
	int64_t i;

	if (dtx_cell_i64(s.ptr, s.len, &i) && i >= -DTX_CELL_EXACT && i <= DTX_CELL_EXACT)
		return DTX_I_INT; /* most cells of most files */
	s = dtx_str_trim(s);
	if (!s.len)
		return DTX_I_TEXT;
	if (s.ptr[0] == '-' || s.ptr[0] == '.' || (s.ptr[0] >= '0' && s.ptr[0] <= '9')) {
		c = infer_number(s);
		return c == DTX_I_TEXT && s.len >= 10 && s.ptr[4] == '-' ? infer_moment(s) : c;
	}
	if ((s.len == 4 && dtx_str_ieq(s, DTX_STR("true"))) ||
	    (s.len == 5 && dtx_str_ieq(s, DTX_STR("false"))))
		return DTX_I_BOOL;
	return DTX_I_TEXT;
}

static void infer_add(struct dtx_infer *f, enum dtx_infer_class c)
{
	switch (c) {
	case DTX_I_BOOL: f->bools++; break;
	case DTX_I_WIDE: f->wide_ints++; /* fallthrough */
	case DTX_I_INT: f->ints++; break;
	case DTX_I_FLOAT: f->floats++; break;
	case DTX_I_CODE: f->codes++; break;
	case DTX_I_DATE: f->dates++; break;
	case DTX_I_ZONED: f->zoned++; /* fallthrough */
	case DTX_I_DATETIME: f->datetimes++; break;
	case DTX_I_TEXT: f->texts++; break;
	}
}

bool dtx_infer_groups(struct dtx_str s, char mark)
{
	size_t i = s.len && s.ptr[0] == '-', run = 0;
	bool first = true;

	if (i == s.len || s.ptr[i] == '0')
		return false;
	for (; i < s.len; i++) {
		if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
			run++;
		} else {
			if (s.ptr[i] != mark || (first ? !run || run > 3 : run != 3))
				return false;
			first = false;
			run = 0;
		}
	}
	return !first && run == 3;
}

/* Counts what the marks of a float or text may mean. */
static void infer_marks(struct dtx_infer *f, struct dtx_str s, enum dtx_infer_class c, int64_t row)
{
	char room[64];
	size_t len;

	s = dtx_str_trim(s);
	if (c == DTX_I_FLOAT && dtx_infer_groups(s, '.') && s.len < sizeof(f->grouped_text)) {
		if (!f->grouped++) {
			dtx_str_copy(f->grouped_text, sizeof(f->grouped_text), s);
			f->grouped_row = row;
		}
	}
	if (c != DTX_I_TEXT || !s.len || !strchr("-0123456789", s.ptr[0]))
		return;
	len = dtx_cell_plain(s, true, '.', room);
	if (!len || infer_number((struct dtx_str){ room, len }) == DTX_I_TEXT)
		return;
	f->comma_texts++;
	f->commas += !dtx_infer_groups(s, ',') && !dtx_infer_groups(s, '.');
}

void dtx_infer_text(struct dtx_infer *f, struct dtx_str s, bool null, int64_t row)
{
	enum dtx_infer_class c;
	char room[64];

	if (null) {
		f->nulls++;
		return;
	}
	c = infer_class(s);
	/* If the input declares marks, they are removed before the text is classified as a number.
	 * Dates and bools have no such marks. */
	if ((f->decimal_comma || f->group) &&
	    (c == DTX_I_INT || c == DTX_I_WIDE || c == DTX_I_FLOAT || c == DTX_I_CODE ||
	     c == DTX_I_TEXT)) {
		struct dtx_str plain = { room, dtx_cell_plain(dtx_str_trim(s), f->decimal_comma,
			                                      f->group, room) };

		c = plain.len ? infer_number(plain) : DTX_I_TEXT;
	}
	infer_add(f, c);
	if (!f->decimal_comma && !f->group && (c == DTX_I_TEXT || c == DTX_I_FLOAT))
		infer_marks(f, s, c, row);
	if (c == DTX_I_TEXT && !f->sample.ptr) {
		f->sample = s;
		f->sample_row = row;
	}
	if (c == DTX_I_CODE && !f->code.ptr) {
		f->code = s;
		f->code_row = row;
	}
}

static void infer_cell(struct dtx_infer *f, const struct dtx_column *c, uint32_t i, int64_t row)
{
	union dtx_payload p = c->v.payload[i];
	int64_t us;

	switch (c->tag[i] & DTX_CELL_KIND) {
	case DTX_CELL_NUMBER:
		infer_add(f, p.num == trunc(p.num) && fabs(p.num) <= (double)DTX_CELL_EXACT
		                     ? DTX_I_INT
		                     : DTX_I_FLOAT);
		break;
	case DTX_CELL_WHOLE:
		infer_add(f, dtx_cell_whole_is_f64(p.whole) ? DTX_I_INT : DTX_I_WIDE);
		break;
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: infer_add(f, DTX_I_FLOAT); break;
	case DTX_CELL_BOOL: infer_add(f, DTX_I_BOOL); break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		if (!dtx_serial_to_us(p.num, c->strings && c->strings->epoch1904, &us))
			f->nulls++;
		else
			infer_add(f, dtx_type_is_utc(c->type) ? DTX_I_ZONED
			             : us % DTX_DAY_US        ? DTX_I_DATETIME
			                                      : DTX_I_DATE);
		break;
	case DTX_CELL_ISO: infer_add(f, infer_moment(dtx_str_trim(c->strings->item[p.id]))); break;
	default:
		f->texts++;
		if (!f->sample.ptr) {
			f->sample = c->strings->item[p.id];
			f->sample_row = row;
		}
		break;
	}
}

/* Counts a value of a column that has a type. */
static void infer_typed(struct dtx_infer *f, struct dtx_typeref type)
{
	switch (type.type) {
	case DTX_T_BOOL: f->bools++; break;
	case DTX_T_INT64: f->ints++; break;
	case DTX_T_DATE: f->dates++; break;
	case DTX_T_DATETIME:
		f->datetimes++;
		f->zoned += dtx_type_is_utc(type);
		break;
	default: f->floats++;
	}
}

void dtx_infer_column(struct dtx_infer *f, const struct dtx_column *c, int64_t row)
{
	struct dtx_buf none = DTX_BUF_INIT(0);
	bool typed = c->form != DTX_F_CELL && c->form != DTX_F_SPAN && c->type.type != DTX_T_TEXT;
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		if (dtx_column_is_null(c, i))
			f->nulls++;
		else if (typed)
			infer_typed(f, c->type);
		else if (c->form == DTX_F_CELL)
			infer_cell(f, c, i, row + i);
		else if (c->form == DTX_F_SPAN) /* a quote inside of the cell makes it text */
			dtx_infer_text(f, dtx_cast_source(c, i, &none), false, row + i);
		else
			dtx_infer_text(f, dtx_column_text(c, i), false, row + i);
	}
}

void dtx_infer_merge(struct dtx_infer *f, const struct dtx_infer *other)
{
	f->nulls += other->nulls;
	f->bools += other->bools;
	f->ints += other->ints;
	f->wide_ints += other->wide_ints;
	f->floats += other->floats;
	f->codes += other->codes;
	f->dates += other->dates;
	f->datetimes += other->datetimes;
	f->zoned += other->zoned;
	f->texts += other->texts;
	f->comma_texts += other->comma_texts;
	f->commas += other->commas;
	if (other->grouped && (!f->grouped || other->grouped_row < f->grouped_row)) {
		memcpy(f->grouped_text, other->grouped_text, sizeof(f->grouped_text));
		f->grouped_row = other->grouped_row;
	}
	f->grouped += other->grouped;
	if (other->sample.ptr && (!f->sample.ptr || other->sample_row < f->sample_row)) {
		f->sample = other->sample;
		f->sample_row = other->sample_row;
	}
	if (other->code.ptr && (!f->code.ptr || other->code_row < f->code_row)) {
		f->code = other->code;
		f->code_row = other->code_row;
	}
}

static struct dtx_typeref infer_moments(const struct dtx_infer *f)
{
	struct dtx_typeref t = { .type = f->datetimes ? DTX_T_DATETIME : DTX_T_DATE };

	/* All datetimes must have an offset or none of them; a date alone has none. */
	if (f->zoned && (f->zoned < f->datetimes || f->dates))
		t.type = DTX_T_TEXT;
	else if (f->zoned)
		t.precision = DTX_UTC;
	return t;
}

struct dtx_typeref dtx_infer_type(const struct dtx_infer *f)
{
	uint64_t numbers = f->ints + f->floats + f->codes, moments = f->dates + f->datetimes;
	struct dtx_typeref t = { DTX_T_TEXT, 0, 0 };

	if (f->texts || (numbers != 0) + (moments != 0) + (f->bools != 0) > 1)
		return t;
	if (numbers)
		t.type = numbers == f->ints         ? DTX_T_INT64
		         : f->wide_ints             ? DTX_T_TEXT
		         : f->floats || f->no_codes ? DTX_T_FLOAT64
		                                    : DTX_T_TEXT;
	else if (moments)
		t = infer_moments(f);
	else
		t.type = f->bools ? DTX_T_BOOL : DTX_T_NULL;
	return t;
}

void dtx_infer_declared(const struct dtx_infer *f, const char *format, struct dtx_typeref *type)
{
	if (type->type == DTX_T_DATETIME && !format && f->zoned && f->zoned == f->datetimes &&
	    !f->dates)
		*type = DTX_TYPE_UTC;
}

bool dtx_infer_almost(const struct dtx_infer *f, struct dtx_typeref *type)
{
	struct dtx_infer rest = *f;
	uint64_t fit = f->bools + f->ints + f->floats + f->codes + f->dates + f->datetimes;

	rest.texts = 0;
	*type = dtx_infer_type(&rest);
	return f->texts && fit && f->texts <= (fit + f->texts) / 100 && type->type != DTX_T_TEXT;
}

bool dtx_infer_has_commas(const struct dtx_infer *f)
{
	return f->commas && f->comma_texts == f->texts && f->floats == f->grouped && !f->codes &&
	       !f->bools && !f->dates && !f->datetimes;
}

bool dtx_infer_may_group(const struct dtx_infer *f)
{
	return f->grouped && f->floats == f->grouped && !f->texts && !f->codes && !f->bools &&
	       !f->dates && !f->datetimes;
}
