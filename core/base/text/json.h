/* JSON for plans, configuration and records, by the library jansson.
 *
 * Trees are jansson's json_t, which a caller releases with json_decref.  jansson allocates through
 * dtx_mem once dtx_json_init has run, so its memory counts against the budget. */
#ifndef DTX_BASE_TEXT_JSON_H
#define DTX_BASE_TEXT_JSON_H

#include <jansson.h>

#include "core/base/memory/buf.h"

/* Makes jansson use dtx_mem and a fixed hash seed.  Call it once, before any other use. */
void dtx_json_init(void);

struct dtx_json_limits {
	size_t bytes; /* longest text; 0: 8 MiB */
	int depth;    /* deepest nesting; 0: 16 */
};
/* Parses one value.  *out belongs to the caller.  Codes: json_syntax (message with line and column,
 * position in err->byte), json_duplicate_key, json_depth, plan_too_large, plan_encoding (not
 * UTF-8). */
DTX_MUSTUSE enum dtx_code dtx_json_parse(struct dtx_str text, struct dtx_json_limits limits,
                                         json_t **out, struct dtx_err *err);
/* The same, but whole numbers become doubles too, for texts with numbers beyond int64. */
DTX_MUSTUSE enum dtx_code dtx_json_parse_reals(struct dtx_str text, struct dtx_json_limits limits,
                                               json_t **out, struct dtx_err *err);
/* Canonical JSON by RFC 8785: sorted keys (UTF-16 order), shortest numbers, no blanks. */
void dtx_json_canonical(const json_t *value, struct dtx_buf *out);
/* Keys in order of insertion.  indent 0: on one line without blanks; above 0: pretty-printed. */
void dtx_json_print(const json_t *value, int indent, struct dtx_buf *out);
/* Append "/TOKEN" to a JSON pointer, with ~ and / escaped, or "/INDEX".  The result is cut to
 * `size` bytes. */
void dtx_json_pointer_add(char *pointer, size_t size, const char *token);
void dtx_json_pointer_index(char *pointer, size_t size, size_t index);
/* A member of an object; `fallback` if it is absent or has another type. */
const char *dtx_json_text(const json_t *object, const char *key, const char *fallback);
int64_t dtx_json_int(const json_t *object, const char *key, int64_t fallback);
bool dtx_json_bool(const json_t *object, const char *key, bool fallback);
/* The first object in a list whose member `key` is this text; borrowed.  NULL if none. */
json_t *dtx_json_find(const json_t *list, const char *key, const char *text);
/* A JSON text from bytes that may not be UTF-8, as in a damaged file: each byte that is not ASCII
 * becomes '?'.  New reference; NULL: out of memory. */
json_t *dtx_json_ascii(const char *text);
/* Sets object[key].  Takes `value`, also on failure.  False when memory is out, also if `value` is
 * NULL, so a call that made the value needs no check of its own. */
DTX_MUSTUSE bool dtx_json_set(json_t *object, const char *key, json_t *value);

#endif
