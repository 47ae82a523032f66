/* The table of functions: lookup, signatures, similar names. */
#include <ctype.h>

#include "core/expr/fn/fn.h"

static bool row_named(const struct dtx_fn *fn, struct dtx_str name)
{
	struct dtx_str rest, word;

	if (dtx_str_ieq(dtx_str_of(fn->name), name))
		return true;
	rest = dtx_str_of(fn->aliases ? fn->aliases : "");
	while (fn->aliases && dtx_str_next(&rest, ',', &word)) {
		if (dtx_str_ieq(word, name))
			return true;
	}
	return false;
}

const struct dtx_fn *dtx_fn_find(struct dtx_str name, size_t nargs)
{
	const struct dtx_fn *found = NULL;
	size_t t, i, min, max;

	for (t = 0; dtx_fns[t]; t++) {
		for (i = 0; i < dtx_fns[t]->n; i++) {
			const struct dtx_fn *fn = &dtx_fns[t]->fn[i];

			if (!row_named(fn, name))
				continue;
			dtx_fn_arity(fn, &min, &max);
			if (nargs >= min && nargs <= max)
				return fn;
			if (!found)
				found = fn;
		}
	}
	return found;
}

#define SPLITS "a split_column step makes columns of the parts, an explode step rows"

/* What other languages call our functions, where comparing the spelling would not find it. */
static const struct {
	const char *theirs, *ours, *hint;
} fn_elsewhere[] = {
	{ "strftime", "format_date", NULL },
	{ "to_char", "format_date", NULL },
	{ "cast", "int", NULL },
	{ "try_cast", "int", NULL },
	{ "safe_cast", "int", NULL },
	{ "astype", "int", NULL },
	{ "strptime", "date", NULL },
	{ "to_date", "date", NULL },
	{ "to_timestamp", "datetime", NULL },
	{ "timestamp", "datetime", NULL },
	{ "date_part", "year", NULL },
	{ "dateadd", "date_add", NULL },
	{ "datediff", "date_diff", NULL },
	{ "last_day", "end_of_month", NULL },
	{ "eomonth", "end_of_month", NULL },
	{ "networkdays", "workdays", NULL },
	{ "weeknum", "iso_week", NULL },
	{ "isnull", "is_null", "x is null; coalesce(x, 0) puts a value in its place" },
	{ "isna", "is_null", "x is null" },
	{ "to_number", "number", NULL },
	{ "tonumber", "number", NULL },
	{ "value", "number", NULL },
	{ "regexp_replace", "replace_re", NULL },
	{ "regexp_extract", "extract", NULL },
	{ "regex_extract", "extract", NULL },
	{ "regexextract", "extract", NULL },
	{ "regexp_substr", "extract", NULL },
	{ "str_extract", "extract", NULL },
	{ "regexp_extract_all", "extract_all", NULL },
	{ "str_extract_all", "extract_all", NULL },
	{ "regexp_matches", "matches", NULL },
	{ "split", "split_part", SPLITS },
	{ "str_split", "split_part", SPLITS },
	{ "string_split", "split_part", SPLITS },
	{ "str_replace", "replace", NULL },
	{ "instr", "index_of", NULL },
	{ "strpos", "index_of", NULL },
	{ "find", "index_of", NULL },
	{ "strip", "trim", NULL },
	{ "proper", "title", NULL },
	{ "initcap", "title", NULL },
	{ "ceiling", "ceil", NULL },
	{ "countif", "count_if", NULL },
	{ "sumif", "sum", "sum(x, where: condition)" },
	{ "percentile", "quantile", NULL },
	{ "percentile_cont", "quantile", NULL },
	{ "listagg", "concat_agg", NULL },
	{ "group_concat", "concat_agg", NULL },
	{ "cumsum", "cum_sum", NULL },
	{ "shift", "lag", NULL },
	{ "rolling_mean", "roll_mean", NULL },
	{ "today", "run_date", NULL },
	{ "now", "run_date", NULL },
	{ "current_date", "run_date", NULL },
	{ "n", "count", NULL },
	{ "col", NULL, "write a column bare, or in backticks: qty, `Order Date`" },
	{ "field", NULL, "write a column bare, or in backticks: qty, `Order Date`" },
	{ "lit", NULL, "write a value as it is: 1, 'text'" },
	{ "iferror", "try", NULL },
	{ "ifna", "coalesce", NULL },
	{ "nvl2", "if", "if(x is null, b, a)" },
	{ "ifs", "switch", "case when a then 1 when b then 2 else 3 end" },
	{ "decode", "switch", NULL },
	{ "sumifs", "sum", "sum(x, where: condition)" },
	{ "countifs", "count_if", NULL },
	{ "averageif", "mean", "mean(x, where: condition)" },
	{ "averageifs", "mean", "mean(x, where: condition)" },
	{ "vlookup", NULL, "values of another table need a step: lookup_value or join" },
	{ "xlookup", NULL, "values of another table need a step: lookup_value or join" },
	{ "hlookup", NULL, "values of another table need a step: lookup_value or join" },
	{ "match", "matches", NULL },
	{ "sumproduct", "sum", "sum(a * b)" },
	{ "datevalue", "date", NULL },
	{ "concatenate", "concat", NULL },
	{ "textjoin", "concat_ws", NULL },
	{ "str", "text", NULL },
	{ "to_string", "text", NULL },
	{ "tostring", "text", NULL },
	{ "isin", NULL, "x in ('a', 'b')" },
	{ "notna", NULL, "x is not null" },
	{ "exists", NULL,
	  "a join step with \"how\": \"semi\" keeps the rows that another table has" },
	/* a spreadsheet in German */
	{ "summe", "sum", NULL },
	{ "summewenn", "sum", "sum(x, where: condition)" },
	{ "summewenns", "sum", "sum(x, where: condition)" },
	{ "mittelwert", "mean", NULL },
	{ "anzahl", "count", NULL },
	{ "z\u00e4hlenwenn", "count_if", NULL },
	{ "wenn", "if", NULL },
	{ "wennfehler", "try", NULL },
	{ "runden", "round", NULL },
	{ "sverweis", NULL, "values of another table need a step: lookup_value or join" },
	{ "xverweis", NULL, "values of another table need a step: lookup_value or join" },
};

static bool fn_suggest_elsewhere(const char *name, struct dtx_err *err)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(fn_elsewhere); i++) {
		if (!dtx_str_ieq(dtx_str_of(name), dtx_str_of(fn_elsewhere[i].theirs)))
			continue;
		if (fn_elsewhere[i].ours)
			dtx_err_suggest(err, fn_elsewhere[i].ours, &fn_elsewhere[i].ours, 1);
		if (fn_elsewhere[i].hint)
			dtx_err_hint(err, "%s", fn_elsewhere[i].hint);
		if (err)
			err->misnamed = true;
		return true;
	}
	return false;
}

/* Suggests the function whose name differs in up to half of the letters, if its first one is the
 * same.  Such a name may not be a slip, so a snippet may still do the step. */
static void fn_suggest_far(const char *name, const char *const *have, size_t n, struct dtx_err *err)
{
	struct dtx_str want = dtx_str_of(name);
	size_t best = want.len / 2 + 1, d;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (tolower((unsigned char)have[i][0]) != tolower((unsigned char)name[0]))
			continue;
		d = dtx_str_distance(want, dtx_str_of(have[i]), best);
		found = d < best ? have[i] : found;
		best = DTX_MIN(d, best);
	}
	if (found)
		dtx_str_copy(err->did_you_mean[0], sizeof(err->did_you_mean[0]), dtx_str_of(found));
}

void dtx_fn_suggest(const char *name, struct dtx_err *err)
{
	const char *have[256];
	size_t n = 0, t, i;

	if (fn_suggest_elsewhere(name, err))
		return;
	for (t = 0; dtx_fns[t]; t++) {
		for (i = 0; i < dtx_fns[t]->n && n < DTX_COUNT(have); i++)
			have[n++] = dtx_fns[t]->fn[i].name;
	}
	dtx_err_suggest(err, name, have, n);
	for (t = 0; err && !err->misnamed && dtx_fns[t]; t++) {
		for (i = 0; i < dtx_fns[t]->n; i++)
			dtx_err_suggest_alias(err, name, dtx_fns[t]->fn[i].aliases,
			                      dtx_fns[t]->fn[i].name);
	}
	if (err && !err->did_you_mean[0][0])
		fn_suggest_far(name, have, n, err);
}

/* The n-th piece of the signature; pieces are separated by ", ". */
static bool sig_piece(const char *sig, size_t n, struct dtx_str *piece)
{
	struct dtx_str rest = dtx_str_of(sig);
	ptrdiff_t end;

	while (rest.len) {
		end = dtx_str_find(rest, DTX_STR(", "), 0);
		*piece = (struct dtx_str){ rest.ptr, end < 0 ? rest.len : (size_t)end };
		if (n-- == 0)
			return true;
		rest = end < 0 ? DTX_STR("")
		               : (struct dtx_str){ rest.ptr + end + 2, rest.len - (size_t)end - 2 };
	}
	return false;
}

static void param_read(struct dtx_str piece, struct dtx_fnparam *out)
{
	ptrdiff_t colon = dtx_str_find(piece, DTX_STR(":"), 0);
	struct dtx_str rest = { piece.ptr + colon + 2, piece.len - (size_t)colon - 2 };
	char cls = piece.ptr[colon + 1];

	memset(out, 0, sizeof(*out));
	out->name = (struct dtx_str){ piece.ptr, (size_t)colon };
	out->constant = cls >= 'a' && cls <= 'z';
	out->cls = out->constant ? (char)(cls - 'a' + 'A') : cls;
	if (rest.len && rest.ptr[0] == '?')
		out->optional = true;
	if (rest.len && rest.ptr[0] == '=') {
		out->optional = true;
		out->def = (struct dtx_str){ rest.ptr + 1, rest.len - 1 };
	}
}

bool dtx_fn_param(const struct dtx_fn *fn, size_t i, struct dtx_fnparam *out)
{
	struct dtx_str piece, before;
	size_t k;

	for (k = 0; sig_piece(fn->sig, k, &piece); k++) {
		if (dtx_str_is(piece, "...")) {
			if (!sig_piece(fn->sig, k - 1, &before))
				return false;
			param_read(before, out);
			out->variadic = out->optional = true;
			return true;
		}
		if (k == i) {
			param_read(piece, out);
			return true;
		}
	}
	return false;
}

void dtx_fn_arity(const struct dtx_fn *fn, size_t *min, size_t *max)
{
	struct dtx_fnparam p;
	size_t i;

	*min = 0;
	for (i = 0; dtx_fn_param(fn, i, &p); i++) {
		if (p.variadic) {
			*max = SIZE_MAX;
			return;
		}
		if (!p.optional)
			*min = i + 1;
	}
	*max = i;
}

void dtx_fn_signature(const struct dtx_fn *fn, struct dtx_buf *out)
{
	struct dtx_fnparam p;
	size_t i;

	dtx_buf_printf(out, "%s(", fn->name);
	for (i = 0; dtx_fn_param(fn, i, &p); i++) {
		dtx_buf_add(out, i ? ", " : "");
		if (p.variadic) {
			dtx_buf_add(out, "...");
			break;
		}
		dtx_buf_adds(out, p.name);
		if (p.def.ptr)
			dtx_buf_printf(out, "=%.*s", (int)p.def.len, p.def.ptr);
		else if (p.optional)
			dtx_buf_addc(out, '?');
	}
	if (fn->kind == DTX_FN_AGG)
		dtx_buf_add(out, i ? ", where: condition" : "where: condition");
	dtx_buf_addc(out, ')');
}

const char *dtx_fn_help(const struct dtx_fn *fn)
{
	return fn->help;
}

const struct dtx_fn *dtx_fn_at(const struct dtx_fn_table *t, size_t i)
{
	return i < t->n ? &t->fn[i] : NULL;
}
