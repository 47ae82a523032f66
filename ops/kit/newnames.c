/* Names of columns that come from data. */
#include "ops/kit/newnames.h"

#include "core/base/thread/cancel.h"
#include "core/base/text/utf8.h"

#define NAME_BYTES ((size_t)1 << 20)

enum dtx_code dtx_names_text(struct dtx_str text, struct dtx_arena *arena, const char **out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf b = DTX_BUF_INIT(NAME_BYTES);
	size_t pos = 0;
	bool space = false;

	text = dtx_utf8_trim(text);
	while (pos < text.len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(text.ptr, text.len, &pos);

		if (cp == 0)
			DTX_FAIL_NEXT(err, DTX_E_UNEXPECTED_VALUE,
			              "remove the NUL with replace() in a derive step before",
			              "a text with a NUL byte cannot be a column name");
		if (dtx_utf8_is_space(cp)) {
			space = true;
			continue;
		}
		if (space)
			dtx_buf_addc(&b, ' ');
		space = false;
		dtx_buf_addn(&b, text.ptr + from, pos - from);
	}
	DTX_TRY(dtx_buf_check(&b, "a column name", err));
	*out = dtx_arena_strdup(arena, dtx_buf_text(&b));
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&b);
	return rc;
}

/* Makes a free name from the name of column `i` and marks it as taken.  made[i] counts how many
 * names were made from the name that column i was the first to have. */
static enum dtx_code take_name(struct dtx_strmap *taken, const char **name, uint32_t i,
                               uint32_t *made, struct dtx_arena *arena, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t first = dtx_strmap_get(taken, dtx_str_of(*name)), found = first;
	const char *try = NULL;

	while (found != i) {
		try = dtx_arena_printf(arena, "%s_%u", *name, 2 + made[first]++);
		if (!try || !dtx_strmap_put(taken, dtx_str_of(try), i, &found))
			DTX_FAIL_MEM(err);
	}
	*name = try;
out:
	return rc;
}

enum dtx_code dtx_names_fit(const char **name, uint32_t n, struct dtx_arena *arena,
                            uint32_t *repeats, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap taken = DTX_STRMAP_INIT;
	bool *again = dtx_arena_zalloc(arena, (size_t)n + 1, sizeof(*again));
	uint32_t *made = dtx_arena_zalloc(arena, (size_t)n + 1, sizeof(*made));
	uint32_t found;

	*repeats = 0;
	if (!again || !made)
		DTX_FAIL_MEM(err);
	/* First all names as they are written, so that a name that is made never takes one of
	 * them. */
	for (uint32_t i = 0; i < n; i++) {
		if (!name[i] || !*name[i])
			name[i] = dtx_arena_printf(arena, "column_%u", i + 1);
		if (!name[i] || !dtx_strmap_put(&taken, dtx_str_of(name[i]), i, &found))
			DTX_FAIL_MEM(err);
		again[i] = found != i;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!again[i])
			continue;
		DTX_TRY(take_name(&taken, &name[i], i, made, arena, err));
		(*repeats)++;
	}
out:
	dtx_strmap_clear(&taken);
	return rc;
}

enum dtx_code dtx_names_note(struct dtx_strmap *names, const char *op, const char *name,
                             uint32_t at, const char *hint, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found;

	if (at % DTX_CANCEL_ROWS == 0)
		DTX_TRY(dtx_cancel_look(err));
	if (!dtx_strmap_put(names, dtx_str_of(name), at, &found))
		DTX_FAIL_MEM(err);
	if (found == at)
		goto out;
	rc = dtx_err_set(err, DTX_E_NAME_COLLISION, __FILE__, __LINE__,
	                 "%s: two columns would be called '%s'", op, name);
	dtx_err_hint(err, "%s", hint);
out:
	return rc;
}
