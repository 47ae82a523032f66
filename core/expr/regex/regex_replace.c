/* Replacement texts of patterns: a list of literals and groups. */
#include "core/expr/regex/regex_replace.h"

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"

/* The end of a hint on groups. */
#define DOLLARS "$0 is the whole match; $$ is a dollar, \\\\1 a backslash and a 1"

struct piece {
	struct dtx_str text; /* ptr NULL: it is a group */
	int group;
};
struct dtx_replacement {
	struct piece *piece;
	size_t n;
};

static bool is_digit(struct dtx_str t, size_t at)
{
	return at < t.len && t.ptr[at] >= '0' && t.ptr[at] <= '9';
}

/* Reads a group by number or name, up to the byte `close`; if that is 0, as far as there are
 * digits. */
static enum dtx_code take_group(const struct dtx_regex *re, struct dtx_str t, size_t from,
                                char close, size_t *pos, struct piece *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *end = close ? memchr(t.ptr + *pos, close, t.len - *pos) : NULL;
	struct dtx_str name = { t.ptr + *pos, 0 };
	const uint32_t groups = dtx_regex_groups(re);
	int64_t group = -1;

	if (end)
		name.len = (size_t)(end - name.ptr);
	while (!close && is_digit(t, *pos + name.len))
		name.len++;
	*pos += name.len + (end != NULL);
	if (name.len > 9 || !dtx_num_parse_i64(name.ptr, name.len, &group))
		group = name.len ? dtx_regex_group(re, name) : -1;
	if (group < 0 || group > (int64_t)groups) {
		dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
		            "pattern has no group '%.*s'", (int)DTX_MIN(*pos - from, (size_t)40),
		            t.ptr + from);
		if (groups > 1)
			dtx_err_hint(err, "$1 to $%u and ${name} are groups, " DOLLARS, groups);
		else
			dtx_err_hint(err, "%s " DOLLARS,
			             groups ? "$1 is the group," : "put the group into ( );");
		rc = DTX_E_BAD_LITERAL;
	}
	out->group = (int)group;
	return rc;
}

/* After a dollar. */
static enum dtx_code take_dollar(const struct dtx_regex *re, struct dtx_str t, size_t *pos,
                                 struct piece *out, struct dtx_err *err)
{
	size_t from = *pos - 1;

	if (*pos < t.len && t.ptr[*pos] == '$') {
		out->text = (struct dtx_str){ t.ptr + (*pos)++, 1 };
		return DTX_OK;
	}
	if (*pos == t.len || t.ptr[*pos] != '{')
		return take_group(re, t, from, 0, pos, out, err);
	++*pos;
	return take_group(re, t, from, '}', pos, out, err);
}

/* Whether the rest of a group as Python writes it begins here: 1 or g<name>. */
static bool is_python(struct dtx_str t, size_t at)
{
	return is_digit(t, at) || (at + 1 < t.len && t.ptr[at] == 'g' && t.ptr[at + 1] == '<');
}

/* After a backslash.  If no group follows it is an ordinary character. */
static enum dtx_code take_backslash(const struct dtx_regex *re, struct dtx_str t, size_t *pos,
                                    struct piece *out, struct dtx_err *err)
{
	size_t from = *pos - 1;

	if (is_python(t, *pos)) {
		bool named = t.ptr[*pos] == 'g';

		*pos += named ? 2 : 0;
		return take_group(re, t, from, named ? '>' : 0, pos, out, err);
	}
	out->text = (struct dtx_str){ t.ptr + from, 1 };
	if (*pos < t.len && t.ptr[*pos] == '\\' && is_python(t, *pos + 1)) {
		out->text = (struct dtx_str){ t.ptr + *pos, 2 }; /* \\1 is a backslash and a 1 */
		*pos += 2;
	}
	return DTX_OK;
}

enum dtx_code dtx_replacement_make(struct dtx_arena *a, const struct dtx_regex *re,
                                   struct dtx_str text, struct dtx_replacement **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_replacement *r = dtx_arena_zalloc(a, 1, sizeof(*r));
	size_t pos = 0;

	if (!r)
		DTX_FAIL_MEM(err);
	r->piece = dtx_arena_zalloc(a, text.len + 1, sizeof(*r->piece));
	if (!r->piece)
		DTX_FAIL_MEM(err);
	while (pos < text.len) {
		size_t from = pos;

		while (pos < text.len && text.ptr[pos] != '$' && text.ptr[pos] != '\\')
			pos++;
		if (pos > from)
			r->piece[r->n++].text = (struct dtx_str){ text.ptr + from, pos - from };
		if (pos == text.len)
			break;
		DTX_TRY((text.ptr[pos++] == '$' ? take_dollar : take_backslash)(
			re, text, &pos, &r->piece[r->n++], err));
	}
	*out = r;
out:
	return rc;
}

bool dtx_rematch_next(struct dtx_rematch *m, struct dtx_str s, size_t *pos, size_t *at)
{
	if (*pos > s.len || !dtx_rematch_find(m, s, *pos, at))
		return false;
	*pos = at[1];
	if (at[1] == at[0] && *pos < s.len)
		dtx_utf8_next(s.ptr, s.len, pos);
	else if (at[1] == at[0])
		++*pos;
	return true;
}

void dtx_replacement_run(const struct dtx_replacement *r, struct dtx_rematch *m, struct dtx_str s,
                         struct dtx_buf *out)
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)], pos = 0, done = 0;

	while (dtx_buf_ok(out) && dtx_rematch_next(m, s, &pos, at)) {
		dtx_buf_addn(out, s.ptr + done, at[0] - done);
		for (size_t i = 0; i < r->n; i++) {
			const struct piece *p = &r->piece[i];
			size_t from = at[2 * p->group], to = at[2 * p->group + 1];

			if (p->text.ptr)
				dtx_buf_adds(out, p->text);
			else if (from != SIZE_MAX && to != SIZE_MAX)
				dtx_buf_addn(out, s.ptr + from, to - from);
		}
		done = at[1];
	}
	dtx_buf_addn(out, s.ptr + done, s.len - done);
}
