/* JSON for plans, configuration and records.  [jansson]
 *
 * Trees are jansson's json_t.  Only this module and its includers know jansson; json_t objects
 * are freed with json_decref.  Allocation goes through dtx_mem once dtx_json_init has run. */
#ifndef DTX_BASE_TEXT_JSON_H
#define DTX_BASE_TEXT_JSON_H

#include <jansson.h>

#include "core/base/buf.h"

/* Installs dtx_mem as jansson's allocator and a fixed hash seed.  Call once, first of all. */
void dtx_json_init(void);

struct dtx_json_limits {
	size_t bytes; /* 0: 8 MiB */
	int depth;    /* 0: 16 */
};
/* Parses one value.  Errors: json_syntax (with line and column in the text, byte in err->byte),
 * json_duplicate_key, json_depth, plan_too_large, plan_encoding (not UTF-8). The caller owns
 * *out. */
DTX_MUSTUSE enum dtx_code dtx_json_parse(struct dtx_str text, struct dtx_json_limits limits,
                                         json_t **out, struct dtx_err *err);
/* The same where whole numbers are doubles as well: there are some beyond int64. */
DTX_MUSTUSE enum dtx_code dtx_json_parse_reals(struct dtx_str text, struct dtx_json_limits limits,
                                               json_t **out, struct dtx_err *err);
/* RFC 8785: sorted keys (UTF-16 order), shortest numbers, no blanks. */
void dtx_json_canonical(const json_t *value, struct dtx_buf *out);
/* Compact, insertion order. indent > 0: pretty. */
void dtx_json_print(const json_t *value, int indent, struct dtx_buf *out);
/* JSON pointer building: appends "/TOKEN" with ~ and / escaped, cut at size. */
void dtx_json_pointer_add(char *pointer, size_t size, const char *token);
void dtx_json_pointer_index(char *pointer, size_t size, size_t index);
/* Members with a type; fallback when absent or another type. */
const char *dtx_json_text(const json_t *object, const char *key, const char *fallback);
int64_t dtx_json_int(const json_t *object, const char *key, int64_t fallback);
bool dtx_json_bool(const json_t *object, const char *key, bool fallback);
/* The first object of a list whose member `key` is this text, borrowed; NULL: none. */
json_t *dtx_json_find(const json_t *list, const char *key, const char *text);
/* A text of which some bytes need not be UTF-8, as of a damaged file: each byte that is not ASCII
 * becomes '?'.  New; NULL where memory is short. */
json_t *dtx_json_ascii(const char *text);
/* printf-like: sets object[key]; false when memory is out. Takes `value`, also on failure;
 * NULL value counts as out of memory. */
DTX_MUSTUSE bool dtx_json_set(json_t *object, const char *key, json_t *value);

#endif
