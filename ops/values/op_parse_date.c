/* parse_date: texts become dates. One format is chosen per column, the first that fits all its
 * values, so that 03/04 and 13/04 in one column are never read in different orders. */
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"
#include "core/expr/expr.h"
#include "ops/kit/text/datetext.h"
#include "ops/kit/opkit.h"

enum { ERROR_FAIL, ERROR_NULL };
enum { TYPE_DATE, TYPE_DATETIME };
struct date_args {
	struct dtx_cols *cols;
	struct dtx_plist formats;
	int order, type, on_error;
	bool excel_serial;
	int64_t century;
};
struct date_state {
	int32_t *col;
	uint32_t n;
};

#define AT(member) .offset = offsetof(struct date_args, member)
static const struct dtx_param date_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,col,column",
	  .help = "columns to read" },
	{ .name = "formats",
	  .kind = DTX_P_TEXTS,
	  AT(formats),
	  .aliases = "format",
	  .def = "[]",
	  .help = "formats such as \"%d.%m.%Y\"; the first that fits all values of a column wins" },
	{ .name = "order",
	  .kind = DTX_P_CHOICE,
	  AT(order),
	  .choices = "dmy,mdy,ymd",
	  .help = "order of day, month and year, with - / . or spaces between" },
	{ .name = "type",
	  .kind = DTX_P_CHOICE,
	  AT(type),
	  .choices = "date,datetime",
	  .def = "\"date\"",
	  .help = "what the column becomes" },
	{ .name = "excel_serial",
	  .kind = DTX_P_BOOL,
	  AT(excel_serial),
	  .def = "false",
	  .help = "numbers are days of a spreadsheet (1900 epoch)" },
	{ .name = "century",
	  .kind = DTX_P_INT,
	  AT(century),
	  .min = 0,
	  .max = 9900,
	  .def = "1969",
	  .help = "first year that two digits can mean" },
	{ .name = "on_error",
	  .kind = DTX_P_CHOICE,
	  AT(on_error),
	  .choices = "error,null",
	  .def = "\"error\"",
	  .help = "what a text that does not fit becomes" },
};
static const struct dtx_example date_examples[] = {
	{ .step = DTX_JSON({ "op" : "parse_date", "cols" : ["d"], "order" : "dmy" }),
	  .in = "d,v\n3/4/2024,1\n31/12/24,2\n,3\n1 Jan 2024,4\n",
	  .out = "d,v\n2024-04-03,1\n2024-12-31,2\n,3\n2024-01-01,4\n" },
	{ .step = DTX_JSON(
		  { "op" : "to_date", "cols" : ["d"], "formats" : [ "%Y%m%d", "%d.%m.%Y" ] }),
	  .in = "d\n01.02.2024\n29.02.2024\n",
	  .out = "d\n2024-02-01\n2024-02-29\n" },
	{ .step = DTX_JSON(
		  { "op" : "parse_date", "cols" : ["t"], "order" : "mdy", "type" : "datetime" }),
	  .in = "t\n\"Jan 5, 2024 9:30 PM\"\n2/3/2024\n",
	  .out = "t\n2024-01-05T21:30:00\n2024-02-03T00:00:00\n" },
	{ .step = DTX_JSON({ "op" : "parse_date", "cols" : ["d"], "excel_serial" : true }),
	  .in = "d\n45292\n45293.0\n",
	  .out = "d\n2024-01-01\n2024-01-02\n" },
	{ .step = DTX_JSON(
		  { "op" : "parse_date", "cols" : ["d"], "order" : "ymd", "on_error" : "null" }),
	  .in = "d\n2024/1/31\nsoon\n",
	  .out = "d\n2024-01-31\n\n" },
	{ .step = DTX_JSON({
		  "op" : "parse_date",
		  "cols" : ["d"],
		  "formats" : ["%d.%m.%Y"],
		  "on_error" : "null"
	  }),
	  .in = "d\n17.8.2023\n17.8.23\n",
	  .out = "d\n2023-08-17\n\n" },
	{ .step = DTX_JSON({
		  "op" : "parse_date",
		  "cols" : ["t"],
		  "formats" : ["%a %d %b %Y %I:%M:%S.%f %p %z"],
		  "type" : "datetime"
	  }),
	  .in = "t\nWed 31 Jan 2024 10:15:00.250000000 PM +02\nThu 1 Feb 2024 1:00:00.0 AM -0530\n",
	  .out = "t\n2024-01-31T20:15:00.25\n2024-02-01T06:30:00\n" },
	{ .step = DTX_JSON({
		  "op" : "parse_date",
		  "cols" : ["t"],
		  "formats" : ["%Y-%m-%d %H:%M %p"],
		  "type" : "datetime"
	  }),
	  .in = "t\n2024-01-31 10:15 PM\n",
	  .error = "bad_format",
	  .message = "'%Y-%m-%d %H:%M %p' is not a date format: %p goes with %I, and %H is the "
	             "hour from 0 to 23" },
	{ .step = DTX_JSON({ "op" : "parse_date", "cols" : ["d"] }),
	  .in = "d\n03/04/2024\n05/06/2024\n",
	  .error = "ambiguous_date",
	  .message = "parse_date: column 'd' has '03/04/2024', whose order of day, month and year "
	             "is not declared" },
	{ .step = DTX_JSON({ "op" : "parse_date", "cols" : ["d"], "order" : "dmy" }),
	  .in = "d\n03/04/2024\n12/31/2024\n",
	  .error = "cast_failed",
	  .message = "parse_date: column 'd' has '12/31/2024', which does not fit the order dmy" },
};

static enum dtx_code date_check(const void *args, struct dtx_err *err)
{
	const struct date_args *a = args;
	const char *const *format = a->formats.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_format_fault fault;
	char sub[48];

	if (a->formats.n && a->order >= 0)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/order",
		               "parse_date takes either formats or order");
	for (size_t i = 0; i < a->formats.n; i++) {
		snprintf(sub, sizeof(sub), "/formats/%zu", i);
		if (!dtx_time_format_check(dtx_str_of(format[i]), DTX_FORMAT_READ, &fault))
			DTX_PARAM_FAIL(err, DTX_E_BAD_FORMAT, sub, "%s", fault.what);
	}
out:
	if (rc == DTX_E_BAD_FORMAT)
		dtx_err_hint(err, "%s", fault.hint);
	return rc;
}

/* A time that is in UTC already stays in UTC, unless a format reads it from text. */
static struct dtx_typeref result_type(const struct date_args *a, struct dtx_typeref from)
{
	if (a->type == TYPE_DATE)
		return (struct dtx_typeref){ .type = DTX_T_DATE };
	return dtx_type_is_utc(from) && !a->formats.n
	               ? from
	               : (struct dtx_typeref){ .type = DTX_T_DATETIME };
}

static enum dtx_code date_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct date_args *a = args;
	struct date_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		if (place[i] < 0) {
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
			continue;
		}
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
		DTX_TRY(dtx_bind_make(b, b->in[0]->field[i].name,
		                      result_type(a, b->in[0]->field[i].type), NULL, "date of",
		                      err));
	}
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- cells --- */

enum what { CELL_NULL, CELL_BLANK, CELL_MOMENT, CELL_TEXT };
struct cell {
	struct dtx_str text;
	int64_t us; /* of CELL_MOMENT: the cell is a date already */
};

static enum what read_sheet_cell(const struct dtx_column *c, uint32_t row, struct cell *out)
{
	switch (c->tag[row] & DTX_CELL_KIND) {
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		return dtx_serial_to_us(c->v.payload[row].num, c->strings && c->strings->epoch1904,
		                        &out->us)
		               ? CELL_MOMENT
		               : CELL_NULL;
	default: return CELL_TEXT;
	}
}

static enum what read_cell(const struct dtx_column *c, uint32_t row, struct dtx_buf *scratch,
                           struct cell *out)
{
	enum what what = CELL_TEXT;
	bool null;

	if (dtx_column_is_null(c, row))
		return CELL_NULL;
	if (c->form == DTX_F_CELL) {
		what = read_sheet_cell(c, row, out);
	} else if (c->form == DTX_F_FLAT && c->type.type == DTX_T_DATE) {
		out->us = c->v.day[row] * DTX_DAY_US;
		what = CELL_MOMENT;
	} else if (c->form == DTX_F_FLAT && c->type.type == DTX_T_DATETIME) {
		out->us = c->v.i64[row];
		what = CELL_MOMENT;
	}
	if (what != CELL_TEXT)
		return what;
	dtx_buf_reset(scratch);
	out->text = dtx_utf8_trim(dtx_cell_text(c, row, scratch, &null));
	return out->text.len ? CELL_TEXT : CELL_BLANK;
}

/* --- the ways to read a text --- */

enum way { WAY_FORMAT, WAY_ORDER, WAY_ISO, WAY_SERIAL };
struct reading {
	enum way way;
	struct dtx_str format;
	enum dtx_date_order order;
	bool two_digit; /* the format has %y */
};

static bool read_text(const struct date_args *a, const struct reading *r, struct dtx_str text,
                      int64_t *us, bool *two_digit)
{
	struct dtx_datetext d;
	bool zoned;
	double v;

	*two_digit = r->two_digit;
	switch (r->way) {
	case WAY_FORMAT: return dtx_time_parse(text, r->format, (int32_t)a->century, us);
	case WAY_ORDER:
		if (!dtx_datetext_parse(text, r->order, (int32_t)a->century, &d))
			return false;
		*us = d.us;
		*two_digit = d.two_digit;
		return true;
	case WAY_SERIAL:
		return dtx_num_parse_f64(text.ptr, text.len, &v) && dtx_serial_to_us(v, false, us);
	case WAY_ISO: break;
	}
	return dtx_cast_text_datetime(text, us) || dtx_datetime_parse(text, us, &zoned);
}

static bool read_moment(const struct date_args *a, const struct reading *r, enum what what,
                        const struct cell *cell, int64_t *us, bool *two_digit)
{
	*two_digit = false;
	*us = cell->us;
	if (what == CELL_TEXT && !read_text(a, r, cell->text, us, two_digit))
		return false;
	return a->type == TYPE_DATETIME || *us % DTX_DAY_US == 0;
}

static bool has_short_year(const char *format)
{
	for (; *format; format++)
		if (*format == '%' && *++format == 'y')
			return true;
	return false;
}

static void readings_of(const struct date_args *a, struct reading *list, size_t *n)
{
	const char *const *format = a->formats.item;

	*n = 0;
	for (size_t i = 0; i < a->formats.n; i++)
		list[(*n)++] = (struct reading){ .way = WAY_FORMAT,
			                         .format = dtx_str_of(format[i]),
			                         .two_digit = has_short_year(format[i]) };
	if (a->order >= 0)
		list[(*n)++] = (struct reading){ .way = WAY_ORDER,
			                         .order = (enum dtx_date_order)a->order };
	if (!*n)
		list[(*n)++] = (struct reading){ .way = WAY_ISO };
	if (a->excel_serial)
		list[(*n)++] = (struct reading){ .way = WAY_SERIAL };
}

/* --- choosing how to read a column --- */

struct fit {
	int64_t fits, misfits;
	size_t batch; /* place of the first misfit */
	uint32_t row;
};

/* Counts the values of a column that a reading fits. It stops after `most` misfits, and where the
 * run has to end, which the caller asks for. */
static struct fit fit_of(const struct date_args *a, const struct reading *r,
                         const struct dtx_kept *t, int32_t col, int64_t most,
                         struct dtx_buf *scratch)
{
	struct fit f = { 0, 0, 0, 0 };

	for (size_t i = 0; i < t->n && !dtx_cancel_now(); i++) {
		for (uint32_t row = 0; row < t->batch[i]->nrows; row++) {
			struct cell cell = { .us = 0 };
			enum what what = read_cell(t->batch[i]->col[col], row, scratch, &cell);
			bool two_digit;
			int64_t us;

			if (what == CELL_NULL || what == CELL_BLANK)
				continue;
			if (read_moment(a, r, what, &cell, &us, &two_digit)) {
				f.fits++;
				continue;
			}
			if (!f.misfits++) {
				f.batch = i;
				f.row = row;
			}
			if (f.misfits >= most)
				return f;
		}
	}
	return f;
}

/* --- the formats of a column that has several --- */

#define SHAPES_MAX 4 /* more formats than that are not proposed */

/* The formats that all texts of a column need together, for the next step of an error. */
struct shapes {
	char format[SHAPES_MAX][40];
	size_t n;
};

/* Makes the format that reads the text as a date in that order: 3.1.2024 in dmy gives "%d.%m.%Y".
 * False: it has no such form. */
static bool shape_of(struct dtx_str text, const char *order, int32_t century, char out[40])
{
	size_t n = 0, part = 0;
	int64_t us;

	if (text.len >= 30)
		return false;
	for (size_t i = 0, from = 0; i < text.len; from = i) {
		bool digits = text.ptr[i] >= '0' && text.ptr[i] <= '9';
		char code;

		if (strchr("-/., ", text.ptr[i])) {
			out[n++] = text.ptr[i++];
			continue;
		}
		while (i < text.len && !strchr("-/., ", text.ptr[i]) &&
		       (text.ptr[i] >= '0' && text.ptr[i] <= '9') == digits)
			i++;
		if (part == 3)
			return false;
		code = order[part++];
		if (code == 'y' && i - from == 4)
			code = 'Y';
		else if (code == 'y' && part == 1)
			return false; /* 24-01-05 may begin with a day */
		if (code == 'm' && !digits)
			code = 'b';
		out[n++] = '%';
		out[n++] = code;
	}
	out[n] = '\0';
	return part == 3 && dtx_time_parse(text, (struct dtx_str){ out, n }, century, &us) &&
	       us % DTX_DAY_US == 0;
}

/* The order of day, month and year that was declared; "dmy" if that is not known. */
static const char *order_of(const struct date_args *a)
{
	static const char *const name[] = { "dmy", "mdy", "ymd" };
	const char *const *format = a->formats.item;
	const char *day, *month;

	if (a->order >= 0)
		return name[a->order];
	day = a->formats.n ? strstr(format[0], "%d") : NULL;
	month = a->formats.n ? strstr(format[0], "%m") : NULL;
	return day && month && month < day ? "mdy" : "dmy";
}

/* Finds the format of one text: a declared one, else the declared order, else the year first, else
 * the only other order that fits. */
static bool find_shape(const struct date_args *a, struct dtx_str text, char out[40])
{
	const char *const *format = a->formats.item;
	const char *order = order_of(a);
	int64_t us;

	for (size_t i = 0; i < a->formats.n; i++)
		if (strlen(format[i]) < 40 &&
		    dtx_time_parse(text, dtx_str_of(format[i]), (int32_t)a->century, &us)) {
			dtx_str_copy(out, 40, dtx_str_of(format[i]));
			return true;
		}
	return shape_of(text, order, (int32_t)a->century, out) ||
	       shape_of(text, "ymd", (int32_t)a->century, out) ||
	       shape_of(text, strcmp(order, "dmy") == 0 ? "mdy" : "dmy", (int32_t)a->century, out);
}

/* Whether two formats differ only in the order of day and month, so that 03/04 fits both. */
static bool shapes_clash(const char *a, const char *b)
{
	bool swapped = false;

	for (; *a && *b; a++, b++) {
		bool order = strchr("dm", *a) && strchr("dm", *b);
		bool year = strchr("Yy", *a) && strchr("Yy", *b);

		if (*a != *b && !order && !year)
			return false;
		swapped |= *a != *b && order;
	}
	return swapped && !*a && !*b;
}

static bool add_shape(struct shapes *s, const char *format)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->format[i], format) == 0)
			return true;
	for (size_t i = 0; i < s->n; i++)
		if (shapes_clash(s->format[i], format))
			return false;
	if (s->n == SHAPES_MAX || strpbrk(format, "'\"\\"))
		return false;
	dtx_str_copy(s->format[s->n++], sizeof(s->format[0]), dtx_str_of(format));
	return true;
}

/* Finds the formats of all texts of a column. False: a text has no known one, there are too many,
 * or 03/04 fits two of them. */
static bool shapes_of(const struct date_args *a, const struct dtx_kept *t, int32_t col,
                      struct dtx_buf *scratch, struct shapes *s)
{
	for (size_t i = 0; i < t->n; i++)
		for (uint32_t row = 0; row < t->batch[i]->nrows; row++) {
			struct cell cell = { .us = 0 };
			char format[40];

			if (read_cell(t->batch[i]->col[col], row, scratch, &cell) != CELL_TEXT)
				continue;
			if (dtx_cancel_now() || !find_shape(a, cell.text, format) ||
			    !add_shape(s, format))
				return false;
		}
	return s->n > 1 && a->century == DTX_CENTURY;
}

/* Writes the step that reads a column of several formats. False: it is not known, and the hint says
 * how such a step looks. */
static bool several_hint(const struct date_args *a, const struct dtx_kept *t, int32_t col,
                         struct dtx_buf *scratch, char *hint, size_t size)
{
	const char *fn = a->type == TYPE_DATE ? "date" : "datetime";
	const char *column = t->batch[0]->schema->field[col].name;
	struct dtx_buf formula = DTX_BUF_INIT(1 << 12), name = DTX_BUF_INIT(1 << 12),
		       step = DTX_BUF_INIT(1 << 14);
	struct shapes s = { .n = 0 };
	bool found = shapes_of(a, t, col, scratch, &s);

	dtx_expr_print_name(column, &name);
	dtx_buf_add(&formula, "coalesce(");
	for (size_t i = 0; i < s.n; i++)
		dtx_buf_printf(&formula, i + 1 < s.n ? "try(%s(%s, '%s')), " : "%s(%s, '%s'))", fn,
		               dtx_buf_text(&name), s.format[i]);
	dtx_buf_add(&step, "{\"op\": \"derive\", \"set\": {");
	dtx_buf_json(&step, dtx_str_of(column));
	dtx_buf_add(&step, ": ");
	dtx_buf_json(&step, dtx_buf_str(&formula));
	dtx_buf_add(&step, "}}");
	found = found && dtx_buf_ok(&step) && step.len < size - 80;
	if (found)
		snprintf(hint, size,
		         "one format must fit the whole column; a step before reads each: %s",
		         dtx_buf_text(&step));
	else
		snprintf(hint, size,
		         "one format must fit the whole column; in a derive step before, "
		         "coalesce(try(date(x, '%%d.%%m.%%Y')), date(x, '%%Y-%%m-%%d')) reads "
		         "several; on_error null makes null of what does not fit");
	dtx_buf_clear(&formula);
	dtx_buf_clear(&name);
	dtx_buf_clear(&step);
	return found;
}

/* The error for values that do not fit. format: the only one, whose first misfit is shown in
 * detail; NULL: there are several, or none. */
static enum dtx_code misfit(const struct date_args *a, const struct dtx_kept *t, int32_t col,
                            const struct fit *f, enum dtx_code code, const char *what,
                            const struct dtx_str *format, const char *hint, struct dtx_err *err)
{
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const struct dtx_batch *b = t->batch[f->batch];
	char why[DTX_TIME_WHY] = "";
	bool null;
	struct dtx_str text = dtx_cell_text(b->col[col], f->row, &scratch, &null);

	if (format)
		dtx_time_why(dtx_utf8_trim(text), *format, (int32_t)a->century, why);
	if (format && format->ptr && !why[0]) {
		snprintf(why, sizeof(why), ": a date has no time of day");
		hint = "\"type\": \"datetime\" keeps it; date(date_trunc(x, 'day')) then leaves it "
		       "out";
	}
	dtx_err_set(err, code, __FILE__, __LINE__, "parse_date: column '%s' has '%.*s', %s%s",
	            b->schema->field[col].name, (int)DTX_MIN(text.len, (size_t)80), text.ptr, what,
	            why);
	dtx_err_hint(err, "%s", dtx_time_why_hint(why, hint));
	dtx_batch_set_position(b, f->row, col, err);
	if (err)
		err->count = f->misfits;
	dtx_buf_clear(&scratch);
	return code;
}

/* The error where no order was declared: it names the orders that fit all values. */
static enum dtx_code blame_order(const struct date_args *a, const struct dtx_kept *t, int32_t col,
                                 const struct fit *f, struct dtx_buf *scratch, struct dtx_err *err)
{
	static const char *const name[] = { "dmy", "mdy", "ymd" };
	char fits[32] = "";
	enum dtx_code rc;
	size_t len = 0;

	for (int order = 0; order < 3; order++) {
		struct reading r = { .way = WAY_ORDER, .order = (enum dtx_date_order)order };

		if (!fit_of(a, &r, t, col, 1, scratch).misfits)
			len += (size_t)snprintf(fits + len, sizeof(fits) - len, "%s%s",
			                        len ? " or " : "", name[order]);
	}
	rc = dtx_cancel_look(err);
	if (rc != DTX_OK)
		return rc;
	if (!len) {
		rc = misfit(a, t, col, f, DTX_E_CAST_FAILED, "which is not an ISO date",
		            &(struct dtx_str){ NULL, 0 },
		            "declare order or formats, or set on_error null", err);
		return rc;
	}
	rc = misfit(a, t, col, f, DTX_E_AMBIGUOUS_DATE,
	            "whose order of day, month and year is not declared", NULL, "", err);
	dtx_err_hint(err, "all values can be read as %s: declare it, as in \"order\": \"%.3s\"",
	             fits, fits);
	return rc;
}

/* Chooses the first reading that fits all values; with on_error null, the one that fits most. */
static enum dtx_code choose(const struct date_args *a, const struct dtx_kept *t, int32_t col,
                            const struct reading *list, size_t n, size_t *chosen,
                            struct dtx_buf *scratch, struct dtx_err *err)
{
	struct fit best = { -1, 0, 0, 0 };
	int64_t most = n > 1 && a->on_error == ERROR_FAIL ? 1 : INT64_MAX;
	char hint[300], what[64];
	bool known;
	enum dtx_code rc;

	for (size_t i = 0; i < n; i++) {
		struct fit f = fit_of(a, &list[i], t, col, most, scratch);

		rc = dtx_cancel_look(err);
		if (rc != DTX_OK)
			return rc;
		if (f.fits > best.fits || !f.misfits) {
			best = f;
			*chosen = i;
		}
		if (!f.misfits)
			return DTX_OK;
	}
	if (list[0].way == WAY_ISO && (a->on_error == ERROR_FAIL || !best.fits))
		return blame_order(a, t, col, &best, scratch, err);
	if (a->on_error == ERROR_NULL)
		return DTX_OK;
	known = several_hint(a, t, col, scratch, hint, sizeof(hint));
	snprintf(what, sizeof(what), "%s%s",
	         n > 1           ? "and no declared format fits all values"
	         : a->order >= 0 ? "which does not fit the order "
	                         : "which the declared format does not fit",
	         n == 1 && a->order >= 0 ? order_of(a) : "");
	rc = misfit(a, t, col, &best, DTX_E_CAST_FAILED, what,
	            n == 1 && list[0].way == WAY_FORMAT ? &list[0].format : NULL, hint, err);
	if (known)
		dtx_err_hint(err, "%s", hint);
	return rc;
}

/* --- converting columns --- */

struct tally {
	int64_t blanks, failed, two_digit, offsets;
};

static enum dtx_code read_column(const struct date_args *a, const struct reading *r,
                                 const struct dtx_column *c, struct dtx_buf *scratch,
                                 struct tally *t, struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder to;

	dtx_builder_init(&to, result_type(a, c->type), c->len);
	for (uint32_t row = 0; row < c->len; row++) {
		struct cell cell = { .us = 0 };
		enum what what = read_cell(c, row, scratch, &cell);
		bool two_digit = false;
		int64_t us;

		t->blanks += what == CELL_BLANK;
		if (what == CELL_NULL || what == CELL_BLANK) {
			dtx_builder_null(&to);
			continue;
		}
		if (!read_moment(a, r, what, &cell, &us, &two_digit)) {
			t->failed++;
			dtx_builder_null(&to);
			continue;
		}
		t->two_digit += two_digit;
		t->offsets += what == CELL_TEXT && r->way == WAY_ISO && !dtx_type_is_utc(to.type) &&
		              dtx_cast_text_zoned(cell.text);
		if (a->type == TYPE_DATE)
			dtx_builder_day(&to, (int32_t)(us / DTX_DAY_US));
		else
			dtx_builder_i64(&to, us);
	}
	return dtx_builder_finish(&to, NULL, out, err);
}

/* Reads column `col` of every batch in place. */
static enum dtx_code parse_column(const struct dtx_opctx *ox, struct dtx_kept *t, int32_t col,
                                  const struct reading *list, size_t n, struct dtx_err *err)
{
	const struct date_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct tally tally = { 0 };
	size_t chosen = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct dtx_column *flat = NULL;

		DTX_TRY(dtx_column_flat(t->batch[i]->col[col], &flat, err));
		dtx_batch_put(t->batch[i], (uint32_t)col, flat);
	}
	DTX_TRY(choose(a, t, col, list, n, &chosen, &scratch, err));
	for (size_t i = 0; i < t->n; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(read_column(a, &list[chosen], t->batch[i]->col[col], &scratch, &tally,
		                    &made, err));
		dtx_batch_put(t->batch[i], (uint32_t)col, made);
	}
	if (!dtx_buf_ok(&scratch))
		DTX_FAIL_MEM(err);
	dtx_op_count(ox, "blank", tally.blanks);
	dtx_op_count(ox, "cast_failed", tally.failed);
	dtx_op_count(ox, "two_digit_year", tally.two_digit);
	dtx_op_count(ox, "offset", tally.offsets);
out:
	dtx_buf_clear(&scratch);
	return rc;
}

static enum dtx_code date_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct date_args *a = ox->args;
	const struct date_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct reading *list = dtx_mem_alloc(a->formats.n + 2, sizeof(*list));
	struct dtx_kept kept = { NULL, 0, 0 };
	size_t n;

	if (!list)
		DTX_FAIL_MEM(err);
	readings_of(a, list, &n);
	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_kept_add(&kept, t->batch[i], err));
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, (uint32_t)s->col[i]))
			DTX_TRY(parse_column(ox, &kept, s->col[i], list, n, err));
	for (size_t i = 0; i < kept.n && !dtx_emit_full(out); i++) {
		kept.batch[i]->schema = ox->out;
		DTX_TRY(dtx_emit_batch(out, kept.batch[i], err));
	}
out:
	dtx_kept_clear(&kept);
	dtx_mem_free(list);
	return rc;
}

static void date_explain(const void *args, struct dtx_buf *out)
{
	static const char *const order[] = { "day, month, year", "month, day, year",
		                             "year, month, day" };
	const struct date_args *a = args;
	const char *const *format = a->formats.item;

	dtx_buf_printf(out, "read %s in ", a->type == TYPE_DATE ? "dates" : "dates with times");
	dtx_cols_print(a->cols, out);
	if (a->order >= 0)
		dtx_buf_printf(out, " as %s", order[a->order]);
	for (size_t i = 0; i < a->formats.n; i++)
		dtx_buf_printf(out, "%s%s", i ? " or " : " as ", format[i]);
	if (a->excel_serial)
		dtx_buf_add(out, ", numbers as spreadsheet days");
}

const struct dtx_op dtx_op_parse_date = {
	.name = "parse_date",
	.aliases = "to_date,to_datetime",
	.presets = "to_datetime:type=datetime",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Read dates in one declared format or order",
	.notes = "Per column the first format that fits all values wins; formats are never mixed "
		 "(with on_error null, the one that fits most). Without formats and order, ISO "
		 "8601: other dates are ambiguous_date, which names the orders that fit. Cells "
		 "that are dates already stay. The time of a date must be midnight. Years of two "
		 "digits are counted. A format has %Y (four digits) %y (two) %m %b %B %d %j, %G %V "
		 "%u for ISO weeks, "
		 "%H, or %I with %p, %M %S %f, %a %A, and %z for an offset (Z, +02, +0200, "
		 "+02:00), which makes the value UTC. Everything that it reads is checked: a day "
		 "of the week must be that of the date, and digits below a microsecond must be 0.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = date_params,
	.nparams = DTX_COUNT(date_params),
	.examples = date_examples,
	.nexamples = DTX_COUNT(date_examples),
	.args_size = sizeof(struct date_args),
	.check = date_check,
	.bind = date_bind,
	.whole = date_whole,
	.triggers = "cast_failed,ambiguous_date",
	.explain = date_explain,
};
