/* Finds options that have no effect, see unused_options.h. */
#include "core/io/unused_options.h"

#include "core/base/text/str.h"

static bool is_usual(const struct dtx_unused_options *o, const void *opts, const void *usual)
{
	const char *have = (const char *)opts + o->offset, *want = (const char *)usual + o->offset;
	const char *a, *b;

	if (!o->text)
		return !memcmp(have, want, o->size);
	memcpy(&a, have, sizeof(a));
	memcpy(&b, want, sizeof(b));
	return a == b || (a && b && !strcmp(a, b));
}

void dtx_unused_options_names(const struct dtx_unused_options *option, size_t n, const char *uses,
                              const void *opts, const void *usual, struct dtx_buf *out)
{
	const char *last = "";
	size_t i;

	for (i = 0; i < n; i++) {
		if (dtx_str_in_list(uses, option[i].name) || is_usual(&option[i], opts, usual) ||
		    !strcmp(option[i].name, last))
			continue;
		dtx_buf_printf(out, "%s\"%s\"", out->len ? ", " : "", option[i].name);
		last = option[i].name;
	}
}
