/* Patterns: compiled during binding, matched with scratch memory of one evaluation.
 *
 * A pattern must be a constant, so it is compiled once per plan and all workers share the program,
 * which is read-only.  What a match changes is in run->local, which belongs to one evaluation. */
#include "core/expr/bound.h"

#include "core/base/text/utf8.h"
#include "core/expr/regex/regex_replace.h"

struct pattern {
	struct dtx_regex *re;
	struct dtx_replacement *with; /* for replace_re */
	int group;                    /* for extract */
};

static enum dtx_code matcher(const struct dtx_fncall *c, struct dtx_fnrun *run, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct pattern *p = c->prepared;

	if (run->local)
		return DTX_OK;
	run->local = dtx_rematch_new(run->scratch, p->re);
	if (!run->local)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code compile(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_str text,
                             struct pattern **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pattern *p = dtx_arena_zalloc(a, 1, sizeof(*p));

	if (!p)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_regex_compile(a, text, &p->re, err));
	c->prepared = *out = p;
out:
	return rc;
}

static struct dtx_str constant(const struct dtx_fncall *c, uint32_t i)
{
	return c->konst[i]->null ? DTX_STR("") : c->konst[i]->u.s;
}

/* --- matches, like --- */

static enum dtx_code prep_matches(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	struct pattern *p;

	return compile(a, c, constant(c, 1), &p, err);
}

/* Turns a LIKE text with % and _ into a pattern for the whole text. */
static enum dtx_code prep_like(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf re = DTX_BUF_INIT(4 * DTX_REGEX_BYTES);
	struct dtx_str like = constant(c, 1);
	struct pattern *p;
	size_t i;

	dtx_buf_add(&re, "(?s)\\A");
	for (i = 0; i < like.len; i++) {
		if (like.ptr[i] == '%')
			dtx_buf_add(&re, i && like.ptr[i - 1] == '%' ? "" : ".*");
		else if (like.ptr[i] == '_')
			dtx_buf_addc(&re, '.');
		else if (memchr("\\.+*?()|[]{}^$", like.ptr[i], 14))
			dtx_buf_printf(&re, "\\%c", like.ptr[i]);
		else
			dtx_buf_addc(&re, like.ptr[i]);
	}
	dtx_buf_add(&re, "\\z");
	if (re.fail == DTX_BUF_MEM)
		DTX_FAIL_MEM(err);
	if (re.fail == DTX_BUF_MAX)
		DTX_FAIL(err, DTX_E_EXPR_LIMIT, "pattern is longer than %d bytes", DTX_REGEX_BYTES);
	DTX_TRY(compile(a, c, dtx_buf_str(&re), &p, err));
out:
	dtx_buf_clear(&re);
	return rc;
}

static enum dtx_code row_matches(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                 const struct dtx_val *arg, struct dtx_val *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(matcher(c, run, err));
	out->u.b = dtx_rematch_test(run->local, arg[0].u.s);
out:
	return rc;
}

/* --- extract --- */

static enum dtx_code prep_extract(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pattern *p;
	int64_t group;
	uint32_t have;

	DTX_TRY(compile(a, c, constant(c, 1), &p, err));
	have = dtx_regex_groups(p->re);
	group = have ? 1 : 0;
	if (c->nargs > 2 && !c->konst[2]->null)
		group = c->konst[2]->u.i;
	if (group < 0 || group > have)
		DTX_FAIL(err, DTX_E_BAD_LITERAL, "pattern has %u groups, not %lld", have,
		         (long long)group);
	p->group = (int)group;
out:
	return rc;
}

static enum dtx_code row_extract(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                 const struct dtx_val *arg, struct dtx_val *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct pattern *p = c->prepared;
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];
	struct dtx_str s = arg[0].u.s;

	DTX_TRY(matcher(c, run, err));
	out->null = !dtx_rematch_find(run->local, s, 0, at) || at[2 * p->group] == SIZE_MAX ||
	            at[2 * p->group + 1] == SIZE_MAX;
	if (!out->null)
		out->u.s = (struct dtx_str){ s.ptr + at[2 * p->group],
			                     at[2 * p->group + 1] - at[2 * p->group] };
out:
	return rc;
}

/* --- replace_re --- */

static enum dtx_code prep_replace(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pattern *p;

	DTX_TRY(compile(a, c, constant(c, 1), &p, err));
	DTX_TRY(dtx_replacement_make(a, p->re, constant(c, 2), &p->with, err));
out:
	return rc;
}

static enum dtx_code row_replace(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                 const struct dtx_val *arg, struct dtx_val *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct pattern *p = c->prepared;

	DTX_TRY(matcher(c, run, err));
	dtx_replacement_run(p->with, run->local, arg[0].u.s, run->buf);
	rc = dtx_fn_made(run, out);
out:
	return rc;
}

/* --- all matches --- */

DTX_FN_ROW(row_count)
{
	enum dtx_code rc = DTX_OK;
	size_t at[2 * (DTX_REGEX_GROUPS + 1)], pos = 0;

	DTX_TRY(matcher(c, run, err));
	while (dtx_rematch_next(run->local, arg[0].u.s, &pos, at))
		out->u.i++;
out:
	return rc;
}

static enum dtx_code prep_all(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pattern *p;

	DTX_TRY(compile(a, c, constant(c, 1), &p, err));
	p->group = dtx_regex_groups(p->re) ? 1 : 0;
out:
	return rc;
}

DTX_FN_ROW(row_all)
{
	enum dtx_code rc = DTX_OK;
	const struct pattern *p = c->prepared;
	size_t at[2 * (DTX_REGEX_GROUPS + 1)], pos = 0;
	struct dtx_str s = arg[0].u.s;

	DTX_TRY(matcher(c, run, err));
	out->null = true;
	while (dtx_buf_ok(run->buf) && dtx_rematch_next(run->local, s, &pos, at)) {
		size_t from = at[2 * p->group], to = at[2 * p->group + 1];

		if (from == SIZE_MAX || to == SIZE_MAX)
			continue;
		if (!out->null)
			dtx_buf_adds(run->buf, arg[2].u.s);
		out->null = false;
		dtx_buf_addn(run->buf, s.ptr + from, to - from);
	}
	if (!out->null)
		rc = dtx_fn_made(run, out);
out:
	return rc;
}

/* Finds the next piece for splitting.  An empty match does not split. */
static bool next_part(struct dtx_fnrun *run, struct dtx_str s, size_t *pos, struct dtx_str *part)
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)], from = *pos, look = *pos;

	if (from > s.len)
		return false;
	while (dtx_rematch_next(run->local, s, &look, at)) {
		if (at[1] == at[0])
			continue;
		*part = (struct dtx_str){ s.ptr + from, at[0] - from };
		*pos = at[1];
		return true;
	}
	*part = (struct dtx_str){ s.ptr + from, s.len - from };
	*pos = s.len + 1;
	return true;
}

DTX_FN_ROW(row_split)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = arg[0].u.s;
	int64_t n = arg[2].u.i, parts = 0;
	size_t pos = 0;

	DTX_TRY(matcher(c, run, err));
	while (n < 0 && next_part(run, s, &pos, &out->u.s))
		parts++;
	n = n < 0 ? (n < -parts ? 0 : parts + n + 1) : n;
	out->null = n == 0;
	for (pos = 0; n > 0 && !out->null; n--)
		out->null = !next_part(run, s, &pos, &out->u.s);
out:
	return rc;
}

static const struct dtx_fn rows[] = {
	{ .name = "matches",
	  .aliases = "regexp_matches,regexp_like",
	  .pandas = "dx.fn(\"matches\", {*})",
	  .sig = "t:T, pattern:t",
	  .result = "B",
	  .prep = prep_matches,
	  .row = row_matches,
	  .help = "whether the pattern (RE2 syntax) matches somewhere in t",
	  .example = "matches('abc', '^a.c$')",
	  .value = "true" },
	{ .name = "like",
	  .pandas = "dx.fn(\"like\", {*})",
	  .sig = "t:T, pattern:t",
	  .result = "B",
	  .prep = prep_like,
	  .row = row_matches,
	  .help = "whether all of t fits; % any characters, _ one",
	  .example = "like('abc', 'a%')",
	  .value = "true" },
	{ .name = "extract",
	  .pandas = "dx.fn(\"extract\", {*})",
	  .sig = "t:T, pattern:t, group:i?",
	  .result = "T",
	  .prep = prep_extract,
	  .row = row_extract,
	  .help = "group 1 of the first match, or the whole match; null without one",
	  .example = "extract('id-42', '[0-9]+')",
	  .value = "42" },
	{ .name = "replace_re",
	  .aliases = "regexp_replace,regex_replace",
	  .pandas = "dx.fn(\"replace_re\", {*})",
	  .sig = "t:T, pattern:t, with:t",
	  .result = "T",
	  .prep = prep_replace,
	  .row = row_replace,
	  .help = "every match replaced; $1 or \\1 is a group, also ${name}; $$ a dollar, \\\\1 a "
	          "backslash and 1",
	  .example = "replace_re('a1', '[0-9]', '#')",
	  .value = "a#" },
	{ .name = "count_re",
	  .pandas = "dx.fn(\"count_re\", {*})",
	  .sig = "t:T, pattern:t",
	  .result = "I",
	  .prep = prep_matches,
	  .row = row_count,
	  .help = "number of matches that do not overlap",
	  .example = "count_re('a1b22', '[0-9]+')",
	  .value = "2" },
	{ .name = "extract_all",
	  .pandas = "dx.fn(\"extract_all\", {*})",
	  .sig = "t:T, pattern:t, sep:T",
	  .result = "T",
	  .prep = prep_all,
	  .row = row_all,
	  .help = "group 1 of every match, or the whole matches, joined by sep; null without one",
	  .example = "extract_all('a1b22', '[0-9]+', ';')",
	  .value = "1;22" },
	{ .name = "split_re_part",
	  .pandas = "dx.fn(\"split_re_part\", {*})",
	  .sig = "t:T, pattern:t, n:I",
	  .result = "T",
	  .prep = prep_matches,
	  .row = row_split,
	  .help = "piece n of t between matches, from 1, negative from the end; null out of range",
	  .example = "split_re_part('a, b;c', '[,;] *', 2)",
	  .value = "b" },
};

const struct dtx_fn_table dtx_fn_regex = { "regex", "Patterns", rows, DTX_COUNT(rows) };
