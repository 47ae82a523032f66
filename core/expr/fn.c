/* Lookup of function rows, their signatures, near names. */
#include "core/expr/fn.h"

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

/* What other languages call them, where the spelling does not lead there. */
static const struct {
	const char *theirs, *ours;
} fn_elsewhere[] = {
	{ "strftime", "format_date" },
	{ "to_char", "format_date" },
	{ "cast", "int" },
	{ "try_cast", "int" },
	{ "safe_cast", "int" },
	{ "astype", "int" },
	{ "strptime", "date" },
	{ "to_date", "date" },
	{ "to_timestamp", "datetime" },
	{ "timestamp", "datetime" },
	{ "date_part", "year" },
	{ "dateadd", "date_add" },
	{ "datediff", "date_diff" },
	{ "last_day", "end_of_month" },
	{ "eomonth", "end_of_month" },
	{ "networkdays", "workdays" },
	{ "weeknum", "iso_week" },
	{ "isnull", "coalesce" },
	{ "isna", "is_blank" },
	{ "to_number", "number" },
	{ "tonumber", "number" },
	{ "value", "number" },
	{ "regexp_replace", "replace_re" },
	{ "regexp_extract", "extract" },
	{ "regexp_matches", "matches" },
	{ "str_replace", "replace" },
	{ "instr", "index_of" },
	{ "strpos", "index_of" },
	{ "find", "index_of" },
	{ "strip", "trim" },
	{ "proper", "title" },
	{ "initcap", "title" },
	{ "ceiling", "ceil" },
	{ "countif", "count_if" },
	{ "sumif", "sum" },
	{ "percentile", "quantile" },
	{ "percentile_cont", "quantile" },
	{ "listagg", "concat_agg" },
	{ "group_concat", "concat_agg" },
	{ "cumsum", "cum_sum" },
	{ "shift", "lag" },
	{ "rolling_mean", "roll_mean" },
	{ "today", "run_date" },
	{ "now", "run_date" },
	{ "current_date", "run_date" },
};

static bool fn_suggest_elsewhere(const char *name, struct dtx_err *err)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(fn_elsewhere); i++) {
		if (!dtx_str_ieq(dtx_str_of(name), dtx_str_of(fn_elsewhere[i].theirs)))
			continue;
		dtx_err_suggest(err, fn_elsewhere[i].ours, &fn_elsewhere[i].ours, 1);
		return true;
	}
	return false;
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
}

/* The n-th piece between ", " of the signature. */
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
