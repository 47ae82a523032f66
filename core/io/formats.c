/* Lists formats for people. See formats.h. */
#include "core/io/formats.h"

#include "core/base/text/str.h"

enum { FORMATS_MAX = 64, LIST_MAX = 1024 };

void dtx_formats_print(const char *list, const char *before, struct dtx_buf *out)
{
	struct dtx_str rest = dtx_str_of(list), name;

	for (const char *sep = ""; dtx_str_next(&rest, ',', &name); sep = ", ")
		dtx_buf_printf(out, "%s%s%.*s", sep, before, (int)name.len, name.ptr);
}

enum dtx_code dtx_formats_unknown(const char *format, const char *list, const char *what,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_E_UNSUPPORTED_FORMAT;
	struct dtx_str rest = dtx_str_of(list), name;
	struct dtx_buf shown = DTX_BUF_INIT(LIST_MAX);
	const char *have[FORMATS_MAX];
	char words[LIST_MAX];
	size_t n = 0, used = 0;

	while (n < FORMATS_MAX && dtx_str_next(&rest, ',', &name) &&
	       used + name.len + 1 < sizeof(words)) {
		have[n++] = words + used;
		dtx_str_copy(words + used, sizeof(words) - used, name);
		used += name.len + 1;
	}
	dtx_formats_print(list, "", &shown);
	dtx_err_set(err, rc, __FILE__, __LINE__, "there is no format '%.40s' to %s", format, what);
	dtx_err_suggest(err, format, have, n);
	dtx_err_hint(err, "the formats are %s", dtx_buf_text(&shown));
	dtx_buf_clear(&shown);
	return rc;
}
