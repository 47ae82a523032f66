/* Checks cells of a workbook and their texts, which a hostile process may have written. */
#include "core/base/text/utf8.h"
#include "core/data/frame/frame.h"

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

/* A payload is valid if its bits under the mask are below the limit: ids are below a count, and
 * numbers have an exponent that is neither infinity nor NaN.  A kind that does not exist has limit
 * 0. */
#define NUMBER_MASK (UINT64_MAX >> 1)
#define NUMBER_END  ((uint64_t)0x7ff << 52)

struct rule {
	uint64_t mask, limit;
};

static void make_rules(struct rule rule[DTX_CELL_KIND + 1], uint64_t nstrings)
{
	static const uint8_t numbers[] = { DTX_CELL_NUMBER, DTX_CELL_DATE, DTX_CELL_DATETIME,
		                           DTX_CELL_TIME, DTX_CELL_DURATION };
	size_t i;

	memset(rule, 0, (DTX_CELL_KIND + 1) * sizeof(*rule));
	for (i = 0; i < DTX_COUNT(numbers); i++)
		rule[numbers[i]] = (struct rule){ NUMBER_MASK, NUMBER_END };
	rule[DTX_CELL_BLANK] = (struct rule){ 0, 1 };
	rule[DTX_CELL_BOOL] = (struct rule){ UINT64_MAX, 2 };
	rule[DTX_CELL_WHOLE] = (struct rule){ 0, 1 }; /* every bit pattern is an int */
	rule[DTX_CELL_ERROR] = (struct rule){ 0, 1 }; /* every id has a name */
	rule[DTX_CELL_TEXT] = rule[DTX_CELL_ISO] = (struct rule){ UINT64_MAX, nstrings };
}

enum dtx_code dtx_frame_cells(const struct dtx_frame_view *view,
                              const struct dtx_frame_entry *entry, uint64_t rows, uint64_t nstrings,
                              const uint8_t **tag, const union dtx_payload **value,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rule rule[DTX_CELL_KIND + 1];
	const uint8_t *t = view->ptr + entry->a_off;
	const union dtx_payload *v =
		(const union dtx_payload *)(const void *)(view->ptr + entry->b_off);
	uint64_t i, bad = 0;

	if (entry->rows != rows || entry->a_len != rows || entry->b_len != rows * sizeof(*v) ||
	    entry->v_len || entry->flags)
		BAD(err, "cells of column %u: %llu tags and %llu bytes for %llu rows", entry->id,
		    (unsigned long long)entry->a_len, (unsigned long long)entry->b_len,
		    (unsigned long long)rows);
	make_rules(rule, nstrings);
	for (i = 0; i < rows; i++) {
		const struct rule *r = &rule[t[i] & DTX_CELL_KIND];

		bad += (v[i].id & r->mask) >= r->limit;
	}
	if (bad)
		BAD(err, "cells of column %u: %llu of %llu are no cells", entry->id,
		    (unsigned long long)bad, (unsigned long long)rows);
	*tag = t;
	*value = v;
out:
	return rc;
}

enum dtx_code dtx_frame_strings(const struct dtx_frame_view *view,
                                const struct dtx_frame_entry *entry, struct dtx_str *to,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t *len = (const uint32_t *)(const void *)(view->ptr + entry->a_off);
	const char *bytes = (const char *)view->ptr + entry->b_off;
	uint64_t at = 0, i;

	if (entry->a_len != entry->rows * sizeof(*len) || entry->v_len || entry->flags)
		BAD(err, "texts: %llu bytes of lengths for %llu texts",
		    (unsigned long long)entry->a_len, (unsigned long long)entry->rows);
	for (i = 0; i < entry->rows; i++) {
		if (len[i] > entry->b_len - at)
			BAD(err, "text %llu ends outside", (unsigned long long)i);
		to[i] = (struct dtx_str){ bytes + at, len[i] };
		/* Each text is checked on its own, because a border between two must not cut a
		 * character. */
		if (dtx_utf8_bad(to[i].ptr, to[i].len) >= 0)
			BAD(err, "text %llu is not UTF-8", (unsigned long long)i);
		at += len[i];
	}
	if (at != entry->b_len || (at && memchr(bytes, 0, (size_t)at)))
		BAD(err, "texts: %llu bytes where lengths say %llu, or a NUL among them",
		    (unsigned long long)entry->b_len, (unsigned long long)at);
out:
	return rc;
}
