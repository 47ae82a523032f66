/* Conditions.  Most of them are replaced by other trees (resolve_form.c); here are their table
 * rows. */
#include "core/expr/bound.h"

#include "core/base/text/utf8.h"

static enum dtx_code row_is_blank(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                  const struct dtx_val *arg, struct dtx_val *out,
                                  struct dtx_err *err)
{
	(void)c, (void)run, (void)err;
	out->u.b = arg[0].null || dtx_utf8_is_blank(arg[0].u.s);
	return DTX_OK;
}

/* The characters of dtx_utf8_is_space; without them trim() removes blanks alone. */
#define SQL_SPACES                                                                                 \
	" \t\n\v\f\r\xc2\x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"    \
	"\u2009\u200a"                                                                             \
	"\u2028\u2029\u202f\u205f\u3000"

static const struct dtx_fn rows[] = {
	{ .name = "if",
	  .aliases = "iff,ifelse,if_else,iif",
	  .sig = "condition:B, yes:A, no:A",
	  .form = DTX_FORM_IF,
	  .help = "yes where the condition is true, else no (null is not true)",
	  .example = "if(1 > 2, 'a', 'b')",
	  .value = "b" },
	{ .name = "coalesce",
	  .aliases = "ifnull,nvl",
	  .sig = "value:W, ...",
	  .result = "W",
	  .form = DTX_FORM_COALESCE,
	  .pandas = "dx.coalesce({*})",
	  .sql = "coalesce({*})",
	  .help = "first value that is not null",
	  .example = "coalesce(null, 7)",
	  .value = "7" },
	{ .name = "nullif",
	  .sig = "value:A, other:A",
	  .form = DTX_FORM_NULLIF,
	  .pandas = "dx.nullif({*})",
	  .sql = "nullif({*})",
	  .help = "null where both are equal, else the value",
	  .example = "coalesce(nullif('-', '-'), 'was -')",
	  .value = "was -" },
	{ .name = "is_distinct",
	  .sig = "a:A, b:A",
	  .form = DTX_FORM_DISTINCT,
	  .pandas = "dx.is_distinct({*})",
	  .sql = "({0} IS DISTINCT FROM {1})",
	  .help = "not equal, null being equal to null",
	  .example = "is_distinct(null, 1)",
	  .value = "true" },
	{ .name = "switch",
	  .sig = "value:A, case:A, result:A, ...",
	  .form = DTX_FORM_SWITCH,
	  .help = "result of the first case that equals the value, else the last argument",
	  .example = "switch(2, 1, 'one', 2, 'two', 'many')",
	  .value = "two" },
	{ .name = "is_blank",
	  .pandas = "dx.fn(\"is_blank\", {*})",
	  .sig = "value:V",
	  .result = "B",
	  .flags = DTX_FN_NULLS,
	  .row = row_is_blank,
	  .sql = "(trim(coalesce(CAST({0} AS TEXT), ''), '" SQL_SPACES "') = '')",
	  .help = "null, empty or blanks only",
	  .example = "is_blank('  ')",
	  .value = "true" },
	{ .name = "try",
	  .sig = "value:A, otherwise:A?",
	  .form = DTX_FORM_TRY,
	  .help = "otherwise (null) where computing the value fails on data",
	  .example = "try(int('12.7'), -1)",
	  .value = "-1" },
};

const struct dtx_fn_table dtx_fn_cond = { "cond", "Conditions", rows, DTX_COUNT(rows) };
