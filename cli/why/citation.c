/* Writes the citation of a column, see citation.h. */
#include "cli/why/citation.h"

#include <string.h>

#include "cli/out.h"
#include "core/base/hash/identity.h"
#include "core/store/query/screen.h"

/* The next row of the recorded lineage that is about the column, from *i on; NULL: there is
 * none. */
static const json_t *citation_row(const json_t *record, const char *column, size_t *i)
{
	const json_t *list = json_object_get(record, "lineage");
	int64_t output = dtx_json_int(json_object_get(record, "found"), "output", 0);

	for (; *i < json_array_size(list); (*i)++) {
		const json_t *row = json_array_get(list, *i);

		if (dtx_json_int(row, "output", 0) == output &&
		    !strcmp(dtx_json_text(row, "out_col", ""), column))
			return json_array_get(list, (*i)++);
	}
	return NULL;
}

/* Appends each input once, as "; from hc.csv (sha256 77aa19f0)". */
static void citation_sources(const json_t *record, const char *column, struct dtx_buf *out)
{
	json_t *seen = json_object();
	const json_t *row, *input;
	const char *sha;
	size_t i = 0;

	while ((row = citation_row(record, column, &i))) {
		const char *alias = dtx_json_text(row, "alias", NULL);

		if (!alias || json_object_get(seen, alias))
			continue;
		json_object_set_new(seen, alias, json_true());
		input = dtx_json_find(json_object_get(record, "inputs"), "alias", alias);
		dtx_buf_add(out, json_object_size(seen) > 1 ? ", " : "; from ");
		dtx_out_safe(out, dtx_json_text(input, "label", alias), false);
		sha = dtx_json_text(input, "sha", NULL);
		if (sha)
			dtx_buf_printf(out, " (%s %.8s)", dtx_identity_word(sha),
			               dtx_identity_digits(sha));
	}
	json_decref(seen);
}

enum dtx_code dtx_citation(const json_t *record, const char *column, struct dtx_buf *out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = json_object_get(record, "run"), *row;
	const char *formula, *cls;
	size_t i = 0;

	row = citation_row(record, column, &i);
	if (!row)
		DTX_FAIL(err, DTX_E_USAGE, "the result has no column '%s'", column);
	formula = dtx_json_text(row, "composed", dtx_json_text(row, "formula", NULL));
	/* A column that was only passed on is cited by the name of its source. */
	if (!formula)
		formula = dtx_json_text(row, "in_col", "made by a snippet");
	cls = dtx_json_text(row, "class", "exact");
	dtx_out_safe(out, column, false);
	dtx_buf_add(out, " = ");
	dtx_out_safe(out, formula, false);
	if (strcmp(cls, "exact") != 0)
		dtx_buf_printf(out, " [%s]", cls);
	citation_sources(record, column, out);
	dtx_buf_printf(out, "; dtx run %s, ", dtx_json_text(run, "short", ""));
	dtx_screen_time(out, dtx_json_int(run, "start_us", 0), true);
	dtx_buf_addc(out, '\n');
out:
	return rc;
}
