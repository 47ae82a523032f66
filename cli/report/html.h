/* Writes a record as one self-contained HTML file: without scripts, without network access, and
 * without cell values unless they are asked for. The same record gives the same bytes. */
#ifndef DTX_CLI_REPORT_HTML_H
#define DTX_CLI_REPORT_HTML_H

#include "core/base/err.h"
#include "core/base/text/json.h"

/* Writes the page. `record` comes from dtx_query_record with `full` and dtx_query_files.
 * `sample` comes from dtx_html_sample; NULL: no cells. The caller checks the buffer for failure. */
void dtx_html_report(const json_t *record, const char *sample, struct dtx_buf *out);

/* In html_sample.c: the first n rows of each output as tables. Errors: input_changed if a file
 * is not what the run wrote, and those of readers. */
DTX_MUSTUSE enum dtx_code dtx_html_sample(const json_t *record, int64_t n, struct dtx_buf *out,
                                          struct dtx_err *err);

/* In html_text.c: text in which markup, control characters and directional marks are escaped. */
void dtx_html_text(struct dtx_buf *out, const char *text);
void dtx_html_textn(struct dtx_buf *out, const char *text, size_t len);
/* <td>text</td>; NULL: an empty cell. */
void dtx_html_cell(struct dtx_buf *out, const char *text);
void dtx_html_number(struct dtx_buf *out, const char *tag, int64_t n);
/* A <table> with column headers; the caller closes it with dtx_html_end. */
void dtx_html_table(struct dtx_buf *out, const char *caption, const char *const *head, size_t n);
void dtx_html_end(struct dtx_buf *out);
extern const char dtx_html_style[];

/* In html_files.c: the recorded step for step i of the plan as written; borrowed. NULL: the run
 * did not get that far. */
const json_t *dtx_html_seen(const json_t *record, size_t i);
/* The number of a recorded step in the plan, from 0; -1 if the plan does not contain it, because
 * it combines the files of an input. */
int64_t dtx_html_written(const json_t *record, size_t step);
/* For an input that consists of several files: its name in the plan, and the number of files.
 * For another input: the alias itself, and 1. `files` may be NULL: counting takes a pass over all
 * inputs. */
struct dtx_str dtx_html_input(const json_t *record, const char *alias, size_t *files);

/* Pictures (html_graph.c, html_funnel.c): SVG, and the same facts as a list. */
void dtx_html_graph(const json_t *record, struct dtx_buf *out);
void dtx_html_funnel(const json_t *record, struct dtx_buf *out);
void dtx_html_profiles(const json_t *record, struct dtx_buf *out);
/* In html_plan.c: each step in words, with its formulas. */
void dtx_html_steps(const json_t *record, struct dtx_buf *out);
/* In html_plan.c: what other processes did, stage by stage. */
void dtx_html_engine(const json_t *record, struct dtx_buf *out);
/* In html_events.c: the events, and how the run ended ("failed: row_limit, in step 2"). */
void dtx_html_events(const json_t *record, struct dtx_buf *out);
void dtx_html_ended(const json_t *record, struct dtx_buf *out);

#endif
