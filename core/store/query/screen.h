/* Texts and the lower lines of the provenance screen.  The upper lines are in query_screen.c. */
#ifndef DTX_STORE_QUERY_SCREEN_H
#define DTX_STORE_QUERY_SCREEN_H

#include "core/base/text/json.h"

/* A label and blanks up to column 12, at least one. */
void dtx_screen_label(struct dtx_buf *out, const char *label);
void dtx_screen_pad(struct dtx_buf *out, const char *text, size_t width);
void dtx_screen_number(struct dtx_buf *out, int64_t n);
/* "1 row", "5,000 rows". */
void dtx_screen_count(struct dtx_buf *out, int64_t n, const char *one, const char *many);
/* In UTC: the day, or with `seconds` "2026-11-21 23:40:12Z". */
void dtx_screen_time(struct dtx_buf *out, int64_t us, bool seconds);
/* Two blanks, the kind and the first 8 digits of an identity (core/base/hash/identity.h).  Nothing
 * if there is no identity. */
void dtx_screen_identity(struct dtx_buf *out, const char *text);
/* "4 rows x 2 columns" of an input or output. */
void dtx_screen_shape(struct dtx_buf *out, const json_t *item);
/* What happened to the file since. */
void dtx_screen_file(struct dtx_buf *out, const json_t *item);
/* ", 31 MB" */
void dtx_screen_memory(struct dtx_buf *out, int64_t bytes);

/* Whole lines; each is left out if it has nothing to say. */
void dtx_screen_formulas(const json_t *record, struct dtx_buf *out);
void dtx_screen_checks(const json_t *record, struct dtx_buf *out);
void dtx_screen_warnings(const json_t *record, struct dtx_buf *out);
void dtx_screen_disclosed(const json_t *record, struct dtx_buf *out);
void dtx_screen_machine(const json_t *record, struct dtx_buf *out);
void dtx_screen_more(const json_t *record, struct dtx_buf *out);

#endif
