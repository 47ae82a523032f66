/* A record as one self-contained HTML file: no script, no network, and no cell
 * values unless they are asked for.  The same record gives the same bytes. */
#ifndef DTX_CLI_REPORT_HTML_H
#define DTX_CLI_REPORT_HTML_H

#include "core/base/err.h"
#include "core/base/text/json.h"

/* `record` as of dtx_query_record with `full` and dtx_query_files.  sample: made by
 * dtx_html_sample, NULL: no cells.  A failed buffer is the caller's to see. */
void dtx_html_report(const json_t *record, const char *sample, struct dtx_buf *out);

/* html_sample.c: the first n rows of each output, as tables.  Codes: input_changed where a file is
 * not what the run wrote; of readers. */
DTX_MUSTUSE enum dtx_code dtx_html_sample(const json_t *record, int64_t n, struct dtx_buf *out,
                                          struct dtx_err *err);

/* Parts (html_text.c): text with markup, controls and directional marks made harmless. */
void dtx_html_text(struct dtx_buf *out, const char *text);
void dtx_html_textn(struct dtx_buf *out, const char *text, size_t len);
/* <td>text</td>; NULL: an empty cell. */
void dtx_html_cell(struct dtx_buf *out, const char *text);
void dtx_html_number(struct dtx_buf *out, const char *tag, int64_t n);
/* <table> with column headers; the caller closes it with dtx_html_end. */
void dtx_html_table(struct dtx_buf *out, const char *caption, const char *const *head, size_t n);
void dtx_html_end(struct dtx_buf *out);
extern const char dtx_html_style[];

/* html_files.c: the step of the record for step i of the plan, as it is written; borrowed, NULL:
 * the run did not come to it. */
const json_t *dtx_html_seen(const json_t *record, size_t i);
/* The number of a recorded step in the plan, from 0; -1: no step that is written, it puts the files
 * of an input together. */
int64_t dtx_html_written(const json_t *record, size_t step);
/* Of an input that several files were read for, the name that the plan has for all of them, and how
 * many they are; the alias itself and 1 of another. */
struct dtx_str dtx_html_input(const json_t *record, const char *alias, size_t *files);

/* Pictures (html_graph.c, html_funnel.c): SVG and the same facts as a list. */
void dtx_html_graph(const json_t *record, struct dtx_buf *out);
void dtx_html_funnel(const json_t *record, struct dtx_buf *out);
void dtx_html_profiles(const json_t *record, struct dtx_buf *out);
/* html_plan.c: each step in words, with what it computes. */
void dtx_html_steps(const json_t *record, struct dtx_buf *out);
/* html_events.c: what happened; and how the run ended, "failed: row_limit, in step 2". */
void dtx_html_events(const json_t *record, struct dtx_buf *out);
void dtx_html_ended(const json_t *record, struct dtx_buf *out);

#endif
