/* A record as one self-contained HTML file: no script, no network, and no cell
 * values unless they are asked for.  The same record gives the same bytes. */
#ifndef DTX_CLI_HTML_H
#define DTX_CLI_HTML_H

#include "core/base/err.h"
#include "core/base/json.h"

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
