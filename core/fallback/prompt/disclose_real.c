/* Writes the parts of a prompt that show real cells, which only some sample policies allow. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/base/strmap.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/fallback/prompt/disclose.h"

#define REAL_MASKED   3
#define REAL_FREQUENT 10
#define REAL_VALUES   4096 /* distinct values that are counted */

bool dtx_disclose_denied(const char *const *deny, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (fnmatch(deny[i], name, 0) == 0)
			return true;
	}
	return false;
}

/* Replaces letters by x and X and digits by 9, character by character. */
static void real_mask(struct dtx_str s, struct dtx_buf *out)
{
	size_t pos = 0;

	while (pos < s.len) {
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);

		if (cp >= 0x80)
			dtx_buf_addc(out, 'x');
		else if (isdigit((int)cp))
			dtx_buf_addc(out, '9');
		else if (isalpha((int)cp))
			dtx_buf_addc(out, isupper((int)cp) ? 'X' : 'x');
		else
			dtx_buf_addc(out, (char)cp);
	}
}

/* Writes a value as JSON: numbers and truth values as they are, unless masked; text is cut like
 * a name. */
static enum dtx_code real_value(const struct dtx_column *c, uint32_t row, bool masked,
                                struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), mask = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool plain;

	if (!c || dtx_column_is_null(c, row)) {
		dtx_buf_add(out, "null");
		goto out;
	}
	dtx_cast_print(c, row, &text);
	DTX_TRY(dtx_buf_check(&text, "cell", err));
	if (masked)
		real_mask(dtx_buf_str(&text), &mask);
	DTX_TRY(dtx_buf_check(&mask, "cell", err));
	plain = !masked && (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_BOOL);
	if (plain)
		dtx_buf_add(out, dtx_buf_text(&text));
	else
		dtx_disclose_name(out, dtx_buf_text(masked ? &mask : &text));
out:
	dtx_buf_clear(&text);
	dtx_buf_clear(&mask);
	return rc;
}

static enum dtx_code real_row(const struct dtx_batch *b, uint32_t row, const uint32_t *col,
                              size_t n, bool masked, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	dtx_buf_add(out, masked ? "{\"masked_row\":[" : "{\"row\":[");
	for (i = 0; i < n; i++) {
		if (i)
			dtx_buf_addc(out, ',');
		DTX_TRY(real_value(b->col[col[i]], row, masked, out, err));
	}
	dtx_buf_add(out, "]}\n");
out:
	return rc;
}

enum dtx_code dtx_disclose_real(const struct dtx_table *t, enum dtx_sample sample,
                                const uint32_t *col, size_t n, struct dtx_buf *out,
                                struct dtx_disclosed *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool masked = sample == DTX_SAMPLE_MASKED;
	unsigned left = masked ? REAL_MASKED : (unsigned)(sample - DTX_SAMPLE_ROWS_1) + 1;
	size_t b;
	uint32_t i;

	for (b = 0; b < t->nbatches && left; b++) {
		const struct dtx_batch *batch = t->batch[b];

		for (i = 0; i < batch->nsel && left; i++, left--) {
			uint32_t row = batch->sel ? batch->sel[i] : i;

			DTX_TRY(real_row(batch, row, col, n, masked, out, err));
			count->rows++;
		}
	}
out:
	return rc;
}

/* --- frequent values --- */

struct real_count {
	uint32_t value; /* index in the map, which is the order of first occurrence */
	int64_t n;
};

static int real_order(const void *a, const void *b)
{
	const struct real_count *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static enum dtx_code real_count(const struct dtx_table *t, uint32_t column, struct dtx_strmap *seen,
                                struct real_count *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t i, found;
	size_t b;

	for (b = 0; b < t->nbatches; b++) {
		const struct dtx_batch *batch = t->batch[b];
		const struct dtx_column *c = batch->col[column];

		for (i = 0; c && i < batch->nsel; i++) {
			uint32_t row = batch->sel ? batch->sel[i] : i;
			struct dtx_str s;

			if (dtx_column_is_null(c, row))
				continue;
			dtx_buf_reset(&text);
			dtx_cast_print(c, row, &text);
			DTX_TRY(dtx_buf_check(&text, "cell", err));
			s = dtx_buf_str(&text);
			found = dtx_strmap_get(seen, s);
			if (found == DTX_STRMAP_NONE && seen->n == REAL_VALUES)
				continue;
			if (found == DTX_STRMAP_NONE &&
			    !dtx_strmap_put(seen, s, (uint32_t)seen->n, &found))
				DTX_FAIL_MEM(err);
			count[found].value = found;
			count[found].n++;
		}
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_disclose_frequent(const struct dtx_table *t, uint32_t column, struct dtx_buf *out,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap seen = DTX_STRMAP_INIT;
	struct real_count *count = dtx_mem_zalloc(REAL_VALUES, sizeof(*count));
	char value[DTX_DISCLOSE_NAME + 1];
	size_t i;

	if (!count)
		DTX_FAIL_MEM(err);
	DTX_TRY(real_count(t, column, &seen, count, err));
	if (seen.n)
		qsort(count, seen.n, sizeof(*count), real_order);
	dtx_buf_add(out, "\"frequent\":[");
	for (i = 0; i < seen.n && i < REAL_FREQUENT && count[i].n > 1; i++) {
		if (i)
			dtx_buf_addc(out, ',');
		dtx_str_copy(value, sizeof(value), seen.entry[count[i].value].key);
		dtx_disclose_name(out, value);
	}
	dtx_buf_add(out, "],");
out:
	dtx_mem_free(count);
	dtx_strmap_clear(&seen);
	return rc;
}
