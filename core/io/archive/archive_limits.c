/* The limits of containers: one table holds their names, bounds and defaults, see
 * archive_limits.h. */
#include "core/io/archive/archive_limits.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/text/str.h"

const struct dtx_archive_limits dtx_archive_limits_default = DTX_ARCHIVE_LIMITS_INIT;

const struct dtx_archive_limits_row dtx_archive_limits_rows[] = {
#define X(name, value, least, most, help)                                                          \
	{ #name, help, offsetof(struct dtx_archive_limits, name), (least), (most) },
	DTX_ARCHIVE_LIMITS(X)
#undef X
};
const size_t dtx_narchive_limits_rows = DTX_COUNT(dtx_archive_limits_rows);

static const uint64_t *limits_at(const struct dtx_archive_limits *l, size_t i)
{
	return (const uint64_t *)(const void *)((const char *)l +
	                                        dtx_archive_limits_rows[i].offset);
}

enum dtx_code dtx_archive_limits_set(struct dtx_archive_limits *l, struct dtx_str name,
                                     uint64_t value, struct dtx_err *err)
{
	const char *names[DTX_COUNT(dtx_archive_limits_rows)];
	char want[64];
	size_t i;

	for (i = 0; i < DTX_COUNT(dtx_archive_limits_rows); i++) {
		const struct dtx_archive_limits_row *row = &dtx_archive_limits_rows[i];

		names[i] = row->name;
		if (!dtx_str_is(name, row->name))
			continue;
		if (value < row->least || value > row->most)
			return dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
			                   "limit 'archive.%s' is %llu to %llu, got %llu",
			                   row->name, (unsigned long long)row->least,
			                   (unsigned long long)row->most,
			                   (unsigned long long)value);
		memcpy((char *)l + row->offset, &value, sizeof(value));
		return DTX_OK;
	}
	dtx_str_copy(want, sizeof(want), name);
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "there is no limit 'archive.%s'", want);
	dtx_err_suggest(err, want, names, DTX_COUNT(dtx_archive_limits_rows));
	return DTX_E_USAGE;
}

/* Whether the limit can be raised. */
static bool limits_can_rise(const struct dtx_archive_limits *l, const char *name)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(dtx_archive_limits_rows); i++)
		if (!strcmp(dtx_archive_limits_rows[i].name, name))
			return *limits_at(l, i) < dtx_archive_limits_rows[i].most;
	return false;
}

static DTX_PRINTF(4, 0) enum dtx_code limits_report(struct dtx_err *err, const char *name,
                                                    bool rises, const char *fmt, va_list ap)
{
	char text[320];

	vsnprintf(text, sizeof(text), fmt, ap);
	dtx_err_set(err, DTX_E_ARCHIVE_LIMIT, __FILE__, __LINE__, "%s (limit 'archive.%s')", text,
	            name);
	if (rises)
		dtx_err_hint(err, "if the file is trusted: --limit archive.%s=N", name);
	else
		dtx_err_hint(err, "no option raises it: save the file again, or as CSV, in the "
		                  "program it is from");
	return DTX_E_ARCHIVE_LIMIT;
}

enum dtx_code dtx_archive_limits_fail(struct dtx_err *err, const struct dtx_archive_limits *l,
                                      const char *name, const char *fmt, ...)
{
	enum dtx_code rc;
	va_list ap;

	va_start(ap, fmt);
	rc = limits_report(err, name, limits_can_rise(l, name), fmt, ap);
	va_end(ap);
	return rc;
}

enum dtx_code dtx_archive_limits_fixed(struct dtx_err *err, const char *name, const char *fmt, ...)
{
	enum dtx_code rc;
	va_list ap;

	va_start(ap, fmt);
	rc = limits_report(err, name, false, fmt, ap);
	va_end(ap);
	return rc;
}

json_t *dtx_archive_limits_json(const struct dtx_archive_limits *l)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < DTX_COUNT(dtx_archive_limits_rows); i++) {
		uint64_t v = *limits_at(l, i);

		if (v == *limits_at(&dtx_archive_limits_default, i))
			continue;
		if (!dtx_json_set(o, dtx_archive_limits_rows[i].name,
		                  json_integer((json_int_t)v))) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

json_t *dtx_archive_limits_list(const struct dtx_archive_limits *l)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < DTX_COUNT(dtx_archive_limits_rows); i++) {
		if (json_array_append_new(list, json_integer((json_int_t)*limits_at(l, i)))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

bool dtx_archive_limits_read(const json_t *list, struct dtx_archive_limits *l)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(dtx_archive_limits_rows); i++) {
		const json_t *v = json_array_get(list, i);
		uint64_t n = (uint64_t)json_integer_value(v);

		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return false;
		memcpy((char *)l + dtx_archive_limits_rows[i].offset, &n, sizeof(n));
	}
	return json_array_size(list) == DTX_COUNT(dtx_archive_limits_rows);
}
