/* A record as one self-contained HTML file: no script, no network, no cell values.  The same record
 * gives the same bytes. */
#ifndef DTX_CLI_HTML_H
#define DTX_CLI_HTML_H

#include "core/base/json.h"

/* `record` as of dtx_query_record with `full` and dtx_query_files.  A failed buffer is the
 * caller's to see. */
void dtx_html_report(const json_t *record, struct dtx_buf *out);

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

#endif
