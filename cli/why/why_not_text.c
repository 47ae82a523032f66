/* Prints the answer of `why-not` as text. */
#include "cli/why/why_not_text.h"

#include <string.h>

#include "cli/out.h"
#include "cli/why/why_stored.h"
#include "core/store/ledger/record.h"

enum { WHY_NOT_VALUE = 60 }; /* bytes of a value that are shown */

static void why_not_value(struct dtx_buf *out, const char *text)
{
	struct dtx_buf cut = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t len = strlen(text), n = DTX_MIN(len, (size_t)WHY_NOT_VALUE);

	while (n && n < len && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	dtx_buf_adds(&cut, (struct dtx_str){ text, n });
	dtx_out_safe(out, dtx_buf_text(&cut), false);
	dtx_buf_add(out, n < len ? "..." : "");
	dtx_buf_clear(&cut);
}

static void why_not_print_dropped(const json_t *d, struct dtx_buf *out)
{
	const char *name, *sep = "";
	json_t *one;
	size_t i;

	dtx_buf_printf(out, "%-12sat step %lld, %s (%s)\n", "dropped",
	               (long long)dtx_json_int(d, "step", 0), dtx_json_text(d, "op", ""),
	               dtx_json_text(d, "at", ""));
	json_array_foreach(json_object_get(d, "because"), i, one)
	{
		dtx_buf_printf(out, "%-12s", i ? "" : "because");
		dtx_out_safe(out, json_string_value(one), false);
		dtx_buf_addc(out, '\n');
	}
	if (!json_object_size(json_object_get(d, "with")))
		return;
	dtx_buf_printf(out, "%-12s", "with");
	json_object_foreach(json_object_get(d, "with"), name, one)
	{
		dtx_buf_add(out, sep);
		dtx_out_safe(out, name, false);
		dtx_buf_add(out, " = ");
		why_not_value(out, json_string_value(one));
		sep = ", ";
	}
	dtx_buf_addc(out, '\n');
}

static void why_not_print_rows(const json_t *report, const char *label, const json_t *rows,
                               struct dtx_buf *out)
{
	size_t n = json_array_size(rows), i;

	if (!n)
		return;
	dtx_buf_printf(out, "%-12s", label);
	dtx_out_safe(out, dtx_json_text(report, "output", ""), false);
	dtx_buf_add(out, n == 1 ? " row " : " rows ");
	for (i = 0; i < DTX_MIN(n, (size_t)20); i++)
		dtx_buf_printf(out, "%s%lld", i ? ", " : "",
		               (long long)json_integer_value(json_array_get(rows, i)));
	if (i < n)
		dtx_buf_printf(out, " and %zu more", n - i);
	dtx_buf_addc(out, '\n');
}

void dtx_why_not_print(const json_t *report, struct dtx_buf *out)
{
	const json_t *passed = json_object_get(report, "passed");
	json_t *one;
	size_t i;

	dtx_out_safe(out, dtx_json_text(report, "label", ""), false);
	dtx_buf_printf(out, "!%s   run %s\n", dtx_json_text(report, "cell", ""),
	               dtx_run_id_short(dtx_json_text(report, "run", "")));
	why_not_print_rows(report, "in", json_object_get(report, "rows"), out);
	why_not_print_rows(report, "by groups", json_object_get(report, "through"), out);
	json_array_foreach(json_object_get(report, "dropped"), i, one)
		why_not_print_dropped(one, out);
	if (!strcmp(dtx_json_text(report, "verdict", ""), "not used"))
		dtx_buf_printf(out, "%-12sthis result is made without that input\n", "not used");
	if (json_array_size(passed))
		dtx_buf_printf(out, "%-12s", "passed");
	json_array_foreach(passed, i, one) dtx_buf_printf(out, "%s%lld %s", i ? ", " : "",
	                                                  (long long)dtx_json_int(one, "step", 0),
	                                                  dtx_json_text(one, "op", ""));
	if (i)
		dtx_buf_addc(out, '\n');
	dtx_why_stored_note(report, out);
}
