/* Names of types, and which type two types widen to. */
#include "core/data/type.h"

#include "core/base/text/num.h"
#include "core/data/time/time.h"

static const char *const type_names[DTX_TYPE_COUNT] = {
	[DTX_T_UNKNOWN] = "unknown", [DTX_T_NULL] = "null",         [DTX_T_BOOL] = "bool",
	[DTX_T_INT64] = "int",       [DTX_T_FLOAT64] = "float",     [DTX_T_DECIMAL] = "decimal",
	[DTX_T_DATE] = "date",       [DTX_T_DATETIME] = "datetime", [DTX_T_TEXT] = "text",
};

static const struct {
	const char *name;
	enum dtx_type type;
} type_aliases[] = {
	{ "text", DTX_T_TEXT },          { "string", DTX_T_TEXT },
	{ "str", DTX_T_TEXT },           { "int", DTX_T_INT64 },
	{ "integer", DTX_T_INT64 },      { "int64", DTX_T_INT64 },
	{ "float", DTX_T_FLOAT64 },      { "number", DTX_T_FLOAT64 },
	{ "double", DTX_T_FLOAT64 },     { "float64", DTX_T_FLOAT64 },
	{ "bool", DTX_T_BOOL },          { "boolean", DTX_T_BOOL },
	{ "date", DTX_T_DATE },          { "datetime", DTX_T_DATETIME },
	{ "timestamp", DTX_T_DATETIME },
};

const char *dtx_type_name(enum dtx_type type)
{
	return type_names[type];
}

void dtx_type_print(struct dtx_typeref t, struct dtx_buf *out)
{
	if (t.type == DTX_T_DECIMAL)
		dtx_buf_printf(out, "decimal(%u,%u)", t.precision, t.scale);
	else
		dtx_buf_add(out, type_names[t.type]);
}

/* "decimal(p,s)"; blanks around the numbers are allowed. */
static bool type_parse_decimal(struct dtx_str text, struct dtx_typeref *out)
{
	struct dtx_str part;
	int64_t n[2];
	size_t i;

	if (!dtx_str_starts(text, DTX_STR("decimal(")) || !dtx_str_ends(text, DTX_STR(")")))
		return false;
	text = (struct dtx_str){ text.ptr + 8, text.len - 9 };
	for (i = 0; i < 2; i++) {
		if (!dtx_str_next(&text, ',', &part))
			return false;
		part = dtx_str_trim(part);
		if (!dtx_num_parse_i64(part.ptr, part.len, &n[i]))
			return false;
	}
	if (text.ptr || n[0] < 1 || n[0] > 38 || n[1] < 0 || n[1] > n[0])
		return false;
	*out = (struct dtx_typeref){ DTX_T_DECIMAL, (uint8_t)n[0], (uint8_t)n[1] };
	return true;
}

bool dtx_type_parse(struct dtx_str text, struct dtx_typeref *out)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(type_aliases); i++) {
		if (dtx_str_is(text, type_aliases[i].name)) {
			*out = (struct dtx_typeref){ type_aliases[i].type, 0, 0 };
			return true;
		}
	}
	return type_parse_decimal(text, out);
}

bool dtx_type_is_number(enum dtx_type type)
{
	return type == DTX_T_INT64 || type == DTX_T_FLOAT64 || type == DTX_T_DECIMAL;
}

/* An int that meets a decimal counts as decimal(19,0). */
static struct dtx_typeref type_widen_decimal(struct dtx_typeref a, struct dtx_typeref b)
{
	int pa = a.type == DTX_T_DECIMAL ? a.precision : 19, sa = a.scale;
	int pb = b.type == DTX_T_DECIMAL ? b.precision : 19, sb = b.scale;
	int scale = DTX_MAX(sa, sb);
	int whole = DTX_MAX(pa - sa, pb - sb);

	return (struct dtx_typeref){ DTX_T_DECIMAL, (uint8_t)DTX_MIN(38, whole + scale),
		                     (uint8_t)scale };
}

bool dtx_type_widen(struct dtx_typeref a, struct dtx_typeref b, struct dtx_typeref *out)
{
	if (a.type == DTX_T_UNKNOWN || b.type == DTX_T_UNKNOWN) {
		*out = (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 };
		return true;
	}
	if (a.type == DTX_T_NULL || b.type == DTX_T_NULL) {
		*out = a.type == DTX_T_NULL ? b : a;
		return true;
	}
	if (dtx_type_is_number(a.type) && dtx_type_is_number(b.type)) {
		if (a.type == DTX_T_FLOAT64 || b.type == DTX_T_FLOAT64)
			*out = (struct dtx_typeref){ DTX_T_FLOAT64, 0, 0 };
		else if (a.type == DTX_T_DECIMAL || b.type == DTX_T_DECIMAL)
			*out = type_widen_decimal(a, b);
		else
			*out = a;
		return true;
	}
	if (dtx_type_class(a.type) == DTX_CLASS_DATE && dtx_type_class(b.type) == DTX_CLASS_DATE) {
		*out = a.type == DTX_T_DATETIME && !dtx_type_is_utc(b) ? a : b;
		return true;
	}
	*out = a;
	return a.type == b.type;
}

struct dtx_typeref dtx_type_merge(struct dtx_typeref a, struct dtx_typeref b)
{
	bool dates = dtx_type_class(a.type) == DTX_CLASS_DATE &&
	             dtx_type_class(b.type) == DTX_CLASS_DATE;
	struct dtx_typeref t;

	if (!dtx_type_widen(a, b, &t) || (dates && dtx_type_is_utc(a) != dtx_type_is_utc(b)))
		t = (struct dtx_typeref){ DTX_T_TEXT, 0, 0 };
	return t;
}

enum dtx_class dtx_type_class(enum dtx_type type)
{
	static const enum dtx_class classes[DTX_TYPE_COUNT] = {
		[DTX_T_BOOL] = DTX_CLASS_BOOL,      [DTX_T_INT64] = DTX_CLASS_NUMBER,
		[DTX_T_FLOAT64] = DTX_CLASS_NUMBER, [DTX_T_DECIMAL] = DTX_CLASS_NUMBER,
		[DTX_T_DATE] = DTX_CLASS_DATE,      [DTX_T_DATETIME] = DTX_CLASS_DATE,
		[DTX_T_TEXT] = DTX_CLASS_TEXT,
	};

	return classes[type];
}

size_t dtx_moment_print(char out[40], struct dtx_typeref t, int64_t us)
{
	size_t n = dtx_datetime_print(out, us);

	if (dtx_type_is_utc(t))
		out[n++] = 'Z';
	return n;
}
