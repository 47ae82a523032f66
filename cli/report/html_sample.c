/* Writes the first rows of each result, if the user asks for them. */
#include <string.h>

#include "cli/report/html.h"
#include "core/base/file.h"
#include "core/data/cast/cast.h"
#include "core/plan/exec/exec.h"

static void sample_head(const struct dtx_schema *s, struct dtx_buf *out)
{
	dtx_buf_add(out, "<thead><tr>");
	for (uint32_t c = 0; c < s->nfields; c++) {
		dtx_buf_add(out, "<th scope=\"col\">");
		dtx_html_text(out, s->field[c].name);
		dtx_buf_add(out, "</th>");
	}
	dtx_buf_add(out, "</tr></thead><tbody>\n");
}

static void sample_rows(const struct dtx_table *t, struct dtx_buf *text, struct dtx_buf *out)
{
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			dtx_buf_add(out, "<tr>");
			for (uint32_t c = 0; c < t->schema->nfields; c++) {
				dtx_buf_reset(text);
				if (b->col[c] && !dtx_column_is_null(b->col[c], row))
					dtx_cast_print(b->col[c], row, text);
				dtx_html_cell(out, text->len ? dtx_buf_text(text) : NULL);
			}
			dtx_buf_add(out, "</tr>\n");
		}
	}
}

/* Reads the first n rows of a result file. */
static enum dtx_code sample_table(const char *path, int64_t n, struct dtx_buf *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_host host = { 0 };
	struct dtx_source *source = NULL;
	struct dtx_exec_result *result = NULL;
	struct dtx_plan *plan = NULL;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_printf(&text,
	               "{\"dtx\":1,\"fallback\":\"off\",\"steps\":[{\"op\":\"limit\",\"n\":%lld}]}",
	               (long long)n);
	DTX_TRY(dtx_plan_parse(dtx_str_of(dtx_buf_text(&text)), NULL, &findings, &plan, err));
	DTX_TRY(dtx_plan_check(plan, &findings, err));
	plan->input[0].path = path;
	DTX_TRY(dtx_source_open(path, &source, err));
	opts.input = &source;
	DTX_TRY(dtx_exec(plan, &opts, &host, &findings, &result, err));
	sample_head(result->output[0].table->schema, out);
	sample_rows(result->output[0].table, &text, out);
out:
	dtx_exec_free(result);
	dtx_source_free(source);
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_html_sample(const json_t *record, int64_t n, struct dtx_buf *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *output;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const char *path = dtx_json_text(output, "path", "-");

		if (strcmp(dtx_json_text(output, "file", ""), "unchanged") != 0)
			DTX_FAIL_NEXT(
				err, DTX_E_INPUT_CHANGED,
				"leave --with-sample out, or run the plan again",
				"'%s' is not at hand as the run wrote it: no rows of it can be "
				"shown",
				path);
		dtx_buf_add(out, "<div class=\"wide\"><table><caption>");
		dtx_html_text(out, dtx_file_basename(path));
		dtx_buf_printf(out, ", at most %lld rows</caption>", (long long)n);
		DTX_TRY(sample_table(path, n, out, err));
		dtx_html_end(out);
	}
out:
	return rc;
}
