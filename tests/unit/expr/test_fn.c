/* Functions: every example of every row, and a table of important cases. */
#include "tests/t.h"
#include "tests/unit/expr_env.h"

#include "core/expr/fn/fn.h"

static void example(struct expr_env *v, const struct dtx_fn *fn)
{
	const char *got;
	struct dtx_buf want = DTX_BUF_INIT(10000);

	dtx_buf_printf(&want, "%s", fn->value);
	got = expr_env_run(v, fn->example);
	if (strncmp(got, fn->value, strlen(fn->value)) || got[strlen(fn->value)] != '|')
		t_fail(__FILE__, __LINE__, "%s: got [%s], expected [%s]: %s%s", fn->example, got,
		       fn->value, v->err.msg, v->errs.n ? v->errs.item[0].msg : "");
	dtx_buf_clear(&want);
}

void test_fn_examples(void)
{
	struct expr_env v;
	size_t t, i, n = 0;

	expr_env_init(&v);
	for (t = 0; dtx_fns[t]; t++) {
		for (i = 0; i < dtx_fns[t]->n; i++) {
			const struct dtx_fn *fn = dtx_fn_at(dtx_fns[t], i);

			T_CHECK(fn->name && fn->sig && dtx_fn_help(fn));
			if (fn->kind != DTX_FN_SCALAR)
				continue;
			T_CHECK(fn->example && fn->value);
			T_CHECK(fn->form || fn->row);
			T_CHECK(fn->form || fn->result || fn->type);
			example(&v, fn);
			n++;
		}
	}
	T_CHECK(n >= 40);
	expr_env_clear(&v);
}

void test_fn_signatures(void)
{
	struct dtx_buf out = DTX_BUF_INIT(200);

	dtx_fn_signature(dtx_fn_find(DTX_STR("LPAD"), 2), &out);
	T_STR(dtx_buf_text(&out), "pad_left(t, n, fill=' ')");
	dtx_buf_reset(&out);
	dtx_fn_signature(dtx_fn_find(DTX_STR("min"), 1), &out);
	T_STR(dtx_buf_text(&out), "min(x, where: condition)");
	dtx_buf_reset(&out);
	dtx_fn_signature(dtx_fn_find(DTX_STR("min"), 2), &out);
	T_STR(dtx_buf_text(&out), "min(a, b, ...)");
	dtx_buf_clear(&out);
}

static const char *const fn_rows[][2] = {
	/* numbers */
	{ "abs(i)", "1|2|~" },
	{ "abs(f - 2.5)", "1.0|2.5|~" },
	{ "abs(m)", "12.50|0.05|~" },
	{ "abs(-9223372036854775807 - 1)", "overflow row 0" },
	{ "round(2.5)", "3|3|3" },
	{ "round(-2.5)", "-3|-3|-3" },
	{ "round(0.5)", "1|1|1" },
	{ "round(0.49999999999999994)", "0|0|0" },
	{ "round(1.005, 2)", "1.01|1.01|1.01" },
	{ "round(1250, -2)", "1300|1300|1300" },
	{ "round(1234.5678, -2)", "1200.0|1200.0|1200.0" },
	{ "round(0.04, 1)", "0.0|0.0|0.0" },
	{ "round(0.05, 1)", "0.1|0.1|0.1" },
	{ "round(m, 1)", "12.5|-0.1|~" },
	{ "round(m, 5)", "12.50|-0.05|~" },
	{ "round(m, -1)", "10|0|~" },
	{ "round(m)", "13|0|~" },
	{ "round(1e300)", "overflow row 0" },
	{ "round(99.99, 1)", "100.0|100.0|100.0" },
	{ "round(9.5)", "10|10|10" },
	{ "round_even(3.5)", "4|4|4" },
	{ "round_even(0.5)", "0|0|0" },
	{ "floor(2.3, 1)", "2.3|2.3|2.3" },
	{ "floor(-0.1)", "-1|-1|-1" },
	{ "ceil(0.1)", "1|1|1" },
	{ "ceil(-0.1)", "0|0|0" },
	{ "trunc(-1.29, 1)", "-1.2|-1.2|-1.2" },
	{ "sqrt(-1)", "~|~|~" },
	{ "ln(0)", "~|~|~" },
	{ "min(i, j, 2)", "1|-2|2" },
	{ "max(i, f)", "1.5|0.0|~" },
	{ "greatest(t, 'b')", "b|b|b" },
	{ "clamp(j, 1, 5)", "5|1|3" },
	{ "mod(j, 4)", "2|0|3" },
	{ "round(t)", "type_mismatch 6 7" },
	{ "round(1, 2.5)", "type_mismatch 9 12" },
	{ "round()", "bad_arity 0 7" },
	{ "round(1, 2, 3)", "bad_arity 0 14" },
	/* text */
	{ "length(t)", "3|~|0" },
	{ "left(p, 2)", "7.|1.|~" },
	{ "concat(p, k)", "7.0de|1.50a\"b|" },
	{ "left(i, 1)", "type_mismatch 5 6" },
	{ "left(text(i), 1)", "1|-|~" },
	{ "left('h\xc3\xa9llo', 2)", "h\xc3\xa9|h\xc3\xa9|h\xc3\xa9" },
	{ "left('abc', 9)", "abc|abc|abc" },
	{ "left('abc', -9)", "||" },
	{ "right('abc', -1)", "bc|bc|bc" },
	{ "mid('abc', -2, 2)", "bc|bc|bc" },
	{ "mid('abc', 0, 2)", "~|~|~" },
	{ "mid('abc', 2)", "bc|bc|bc" },
	{ "mid('abc', 5, 1)", "||" },
	{ "mid('abc', -4, 2)", "a|a|a" },
	{ "mid('a', -3, 2)", "||" },
	{ "slice('abcdef', -3, -1)", "de|de|de" },
	{ "slice('abc', 2, 1)", "||" },
	{ "upper(s)", "X|Y|X" },
	{ "concat(i, '-', f, d, b)", "1-1.52024-01-31true|-2-0.0|-2023-12-01false" },
	{ "concat_ws(',', i, null, j)", "1,10|-2,0|3" },
	{ "replace('aaa', 'aa', 'b')", "ba|ba|ba" },
	{ "replace('abc', '', 'x')", "abc|abc|abc" },
	{ "split_part('a,b', ',', 3)", "~|~|~" },
	{ "split_part('a,b', ',', 1)", "a|a|a" },
	{ "split_part('a,,b', ',', 2)", "||" },
	{ "split_part('abc', '', 1)", "abc|abc|abc" },
	{ "pad_left('\xc3\xa9', 3, 'ab')", "ab\xc3\xa9|ab\xc3\xa9|ab\xc3\xa9" },
	{ "pad_left('x', fill: '0', n: 2)", "0x|0x|0x" },
	{ "repeat('x', 999999999)", "cell_limit row 0" },
	{ "trim('\xc2\xa0 x\xe2\x80\x83')", "x|x|x" },
	{ "index_of('h\xc3\xa9llo', 'l')", "3|3|3" },
	{ "index_of('a', 'z')", "0|0|0" },
	{ "length(null)", "~|~|~" },
	{ "contains(t, 'b')", "true|~|false" },
	/* angles and ratios */
	{ "asin(2)", "~|~|~" },
	{ "round(sin(pi() / 6), 15)", "0.5|0.5|0.5" },
	{ "atan2(i, 0 * j)", "1.5707963267948966|-1.5707963267948966|~" },
	{ "safe_div(i, j, 9)", "0.1|9.0|~" },
	{ "safe_div(i, 0)", "~|~|~" },
	{ "safe_div(1, null, 9)", "~|~|~" },
	{ "pct(i, j)", "10.0|~|~" },
	{ "bucket(j, 4)", "8|0|0" },
	{ "bucket(i, 4)", "0|-4|~" },
	{ "bucket(f, 0.5)", "1.5|0.0|~" },
	{ "bucket(m, 0.25)", "12.50|-0.25|~" },
	{ "bucket(j, 0)", "~|~|~" },
	{ "bucket(t, 'a')", "type_mismatch 0 14" },
	{ "bucket(-9223372036854775807, 10)", "overflow row 0" },
	/* words and characters */
	{ "bytes(t)", "3|~|0" },
	{ "title('o''neill MC-donald \xc3\xa9t\xc3\xa9')",
	  "O'neill Mc-Donald \xc3\x89t\xc3\xa9|O'neill Mc-Donald \xc3\x89t\xc3\xa9|"
	  "O'neill Mc-Donald \xc3\x89t\xc3\xa9" },
	{ "capitalize('')", "||" },
	{ "concat('[', squeeze(' a \xc2\xa0 b '), ']')", "[ a b ]|[ a b ]|[ a b ]" },
	{ "reverse('a\xc3\xa9\xe2\x82\xac')", "\xe2\x82\xac\xc3\xa9"
	                                      "a|\xe2\x82\xac\xc3\xa9"
	                                      "a|"
	                                      "\xe2\x82\xac\xc3\xa9"
	                                      "a" },
	{ "word(' one  two ', 2)", "two|two|two" },
	{ "word(' one  two ', 3)", "~|~|~" },
	{ "word('one two', -2)", "one|one|one" },
	{ "word('one two', -3)", "~|~|~" },
	{ "word('one', 0)", "~|~|~" },
	{ "code('')", "~|~|~" },
	{ "code('\xe2\x82\xacx')", "8364|8364|8364" },
	{ "char(55296)", "cast_failed row 0" },
	{ "char(0)", "cast_failed row 0" },
	{ "ascii_fold('\xc3\x86on \xc3\x9f \xe6\x97\xa5')",
	  "AEon ss \xe6\x97\xa5|AEon ss \xe6\x97\xa5|AEon ss \xe6\x97\xa5" },
	{ "normalize('x', 'NFX')", "bad_literal 15 20" },
	{ "length(normalize('\xc3\xa9', 'nfd'))", "2|2|2" },
	{ "only_digits('a1\xd9\xa1')", "1|1|1" },
	{ "remove_punct('a_b\xe2\x82\xac-\xc3\xa9')", "ab\xc3\xa9|ab\xc3\xa9|ab\xc3\xa9" },
	{ "format_number(1234567, 0)", "1,234,567|1,234,567|1,234,567" },
	{ "format_number(0.005, 2)", "0.01|0.01|0.01" },
	{ "format_number(-0.004, 2)", "0.00|0.00|0.00" },
	{ "format_number(999.995, 2)", "1,000.00|1,000.00|1,000.00" },
	{ "format_number(m, 1)", "12.5|-0.1|~" },
	{ "format_number(12, 2, group: ' ')", "12.00|12.00|12.00" },
	{ "format_number(1e21, 0, '')", "1000000000000000000000|1000000000000000000000|"
	                                "1000000000000000000000" },
	{ "format_number(1, 99)", "cast_failed row 0" },
	/* similarity */
	{ "fingerprint('  Caf\xc3\xa9 de-LA, cafe ')", "cafe dela|cafe dela|cafe dela" },
	{ "fingerprint('')", "||" },
	{ "soundex('Ashcraft')", "A261|A261|A261" },
	{ "soundex('Tymczak')", "T522|T522|T522" },
	{ "soundex('12')", "||" },
	{ "levenshtein('h\xc3\xa9llo', 'hello')", "1|1|1" },
	{ "levenshtein('', 'ab')", "2|2|2" },
	{ "levenshtein(repeat('a', 10001), 'b')", "cell_limit row 0" },
	{ "round(jaro_winkler('DWAYNE', 'DUANE'), 4)", "0.84|0.84|0.84" },
	{ "jaro_winkler('a', 'b')", "0.0|0.0|0.0" },
	{ "jaro_winkler('', '')", "1.0|1.0|1.0" },
	/* calendar */
	{ "iso_week('2021-01-03')", "53|53|53" },
	{ "iso_year('2021-01-03')", "2020|2020|2020" },
	{ "end_of_month('2023-12-05T10:00:00')", "2023-12-31|2023-12-31|2023-12-31" },
	{ "months_between('2024-03-31', '2024-02-29')", "-1|-1|-1" },
	{ "workdays('2024-06-04', '2024-05-31')", "-2|-2|-2" },
	{ "workdays('1969-12-27', '1969-12-29')", "0|0|0" },
	{ "workdays('1969-12-29', '1970-01-05')", "5|5|5" },
	{ "fiscal_year('2024-03-31', 4)", "2024|2024|2024" },
	{ "fiscal_year('2024-12-31', 1)", "2024|2024|2024" },
	{ "fiscal_year(d, 13)", "bad_literal 15 17" },
	{ "from_excel_serial(45322.5)", "2024-01-31T12:00:00|2024-01-31T12:00:00|"
	                                "2024-01-31T12:00:00" },
	{ "from_excel_serial(60)", "cast_failed row 0" },
	{ "from_unix(-1, 'ms')", "1969-12-31T23:59:59.999|1969-12-31T23:59:59.999|"
	                         "1969-12-31T23:59:59.999" },
	{ "from_unix(1.5)", "1970-01-01T00:00:01.5|1970-01-01T00:00:01.5|"
	                    "1970-01-01T00:00:01.5" },
	{ "from_unix(1, 'h')", "bad_literal 13 16" },
	{ "from_unix(9223372036854775807)", "overflow row 0" },
	{ "from_unix(1.7e18, 'ns')", "2023-11-14T22:13:20|2023-11-14T22:13:20|"
	                             "2023-11-14T22:13:20" },
	{ "from_unix(1e300)", "overflow row 0" },
	{ "to_unix('1969-12-31T23:59:59.5')", "-1|-1|-1" },
	{ "to_unix(at, 'ms')", "1706702400000|~|0" },
	/* kinds of values */
	{ "typeof(i)", "int|int|int" },
	{ "typeof(null)", "null|null|null" },
	{ "typeof(m)", "decimal(6,2)|decimal(6,2)|decimal(6,2)" },
	{ "is_number(t)", "false|~|false" },
	{ "is_number(' 1.5e3 ')", "true|true|true" },
	{ "is_number(b)", "false|~|false" },
	{ "is_int(f)", "false|true|~" },
	{ "is_int(m * 20)", "true|true|~" },
	{ "is_int('9223372036854775808')", "false|false|false" },
	{ "is_date(d)", "true|~|true" },
	{ "is_date('2024-02-29T10:00:00')", "true|true|true" },
	/* JSON */
	{ "json_get('{\"a\":{\"b c\":[1.50,\"x\\u00e9\"]}}', 'a[\"b c\"][1]')",
	  "x\xc3\xa9|x\xc3\xa9|x\xc3\xa9" },
	{ "json_get('{\"a\": [ 1.50, \"\\u00e9\" ]}', '$.a')",
	  "[1.50,\"\xc3\xa9\"]|[1.50,\"\xc3\xa9\"]|[1.50,\"\xc3\xa9\"]" },
	{ "json_get('{\"a\": null}', 'a')", "~|~|~" },
	{ "json_get('{\"a\": 1}', 'b')", "~|~|~" },
	{ "json_get('[1]', 'a')", "~|~|~" },
	{ "json_get('[1, [2]]', '[1][0]')", "2|2|2" },
	{ "json_get('12345678901234567890', '$')",
	  "12345678901234567890|12345678901234567890|12345678901234567890" },
	{ "json_get('{\"a\": 1,}', 'a')", "cast_failed row 0" },
	{ "json_get('', 'a')", "cast_failed row 0" },
	{ "try(json_get('{', 'a'), 'none')", "none|none|none" },
	{ "json_get('{}', 'a..b')", "bad_literal 15 21" },
	{ "json_get('{}', 'a[x]')", "bad_literal 15 21" },
	{ "json_len('{\"a\": 1, \"b\": [1]}')", "2|2|2" },
	{ "json_len('[]')", "0|0|0" },
	{ "json_len('3')", "~|~|~" },
	{ "json_len(concat(repeat('[', 300), repeat(']', 300)))", "cast_failed row 0" },
	/* conversions */
	{ "int(' 12 ')", "12|12|12" },
	{ "int('12.7')", "cast_failed row 0" },
	{ "int(12.7)", "cast_failed row 0" },
	{ "int(12.0)", "12|12|12" },
	{ "int('1,234')", "cast_failed row 0" },
	{ "int(b)", "1|~|0" },
	{ "int(d)", "type_mismatch 4 5" },
	{ "i::text", "1|-2|~" },
	{ "'5'::int + 1", "6|6|6" },
	{ "f::string", "1.5|0.0|~" },
	{ "text(1e16)", "1e16|1e16|1e16" },
	{ "text(m)", "12.50|-0.05|~" },
	{ "text(at)", "2024-01-31T12:00:00|~|1970-01-01T00:00:00" },
	{ "float('nan')", "cast_failed row 0" },
	{ "float(m)", "12.5|-0.05|~" },
	{ "decimal('1.234', 5, 2)", "cast_failed row 0" },
	{ "decimal(1.235, 5, 2)", "1.24|1.24|1.24" },
	{ "decimal(1, 99, 2)", "bad_literal 0 17" },
	{ "i::decimal(6,2)", "1.00|-2.00|~" },
	{ "bool('1')", "true|true|true" },
	{ "bool('yes')", "cast_failed row 0" },
	{ "number('$ 1,234.50')", "1234.5|1234.5|1234.5" },
	{ "number('12 %')", "0.12|0.12|0.12" },
	{ "number('1,23')", "cast_failed row 0" },
	{ "number('5-')", "-5.0|-5.0|-5.0" },
	{ "number('-\xe2\x82\xac 5')", "-5.0|-5.0|-5.0" },
	{ "number('5 EUR')", "5.0|5.0|5.0" },
	{ "number('n/a')", "~|~|~" },
	{ "number(i)", "1.0|-2.0|~" },
	{ "date('2024-02-30')", "cast_failed row 0" },
	{ "date('03/04/2024')", "ambiguous_date row 0" },
	{ "try(date('03/04/2024'))", "~|~|~" },
	{ "date('03/04/2024', '%d/%m/%Y')", "2024-04-03|2024-04-03|2024-04-03" },
	{ "date('x', '%Q')", "bad_format 10 14" },
	{ "date(d)", "2024-01-31|~|2023-12-01" },
	{ "datetime(d)", "2024-01-31T00:00:00|~|2023-12-01T00:00:00" },
	{ "try(int(t), -1)", "-1|~|-1" },
	{ "if(t == 'abc', 0, int('x'))", "cast_failed row 1" },
	{ "if(true, 0, int('x'))", "0|0|0" },
	/* dates */
	{ "year(d)", "2024|~|2023" },
	{ "weekday(d)", "3|~|5" },
	{ "hour(at)", "12|~|0" },
	{ "date_add(d, 1, 'month')", "2024-02-29|~|2024-01-01" },
	{ "date_add(d, 1, 'hour')", "2024-01-31T01:00:00|~|2023-12-01T01:00:00" },
	{ "date_add(d, i, 'day')", "2024-02-01|~|~" },
	{ "date_add(d, 1, 'fortnight')", "bad_literal 15 26" },
	{ "date_add(d, 1, t)", "unsupported_param 15 16" },
	{ "date_diff(d, '2024-03-01', 'month')", "1|~|3" },
	{ "date_diff('2024-03-01', d, 'day')", "-30|~|-91" },
	{ "date_trunc(at, 'month')", "2024-01-01T00:00:00|~|1970-01-01T00:00:00" },
	{ "date_trunc(d, 'week')", "2024-01-29|~|2023-11-27" },
	{ "date_trunc(d, '2w', 'sunday')", "2024-01-28|~|2023-11-19" },
	{ "date_trunc(d, '5mo')", "2023-10-01|~|2023-10-01" },
	{ "format_date(d, '%Y/%m')", "2024/01|~|2023/12" },
	{ "format_date(d, '%Q')", "bad_format 15 19" },
	{ "make_date(2023, 2, 29)", "cast_failed row 0" },
	{ "make_date(i + 2023, j, 1)", "2024-10-01|cast_failed row 1" },
	{ "run_date() - d", "29|~|90" },
	{ "year('x')", "type_mismatch 5 8" },
	/* patterns */
	{ "matches(t, '^a.c$')", "true|~|false" },
	{ "t matches 'B'", "false|~|false" },
	{ "t matches '(?i)B'", "true|~|false" },
	{ "not (t matches 'b')", "false|~|true" },
	{ "s matches 'x|z'", "true|false|true" },
	{ "t like 'a%'", "true|~|false" },
	{ "t like '_b_'", "true|~|false" },
	{ "t like 'b'", "false|~|false" },
	{ "'a.c' like 'a.c' and not ('abc' like 'a.c')", "true|true|true" },
	{ "p matches '0$'", "true|true|~" },
	{ "extract('id-42-x', '[0-9]+')", "42|42|42" },
	{ "extract('id-42-x', '([a-z]+)-([0-9]+)', 2)", "42|42|42" },
	{ "extract('id-42-x', '([a-z]+)-([0-9]+)')", "id|id|id" },
	{ "extract('abc', '(x)?b')", "~|~|~" },
	{ "extract('abc', 'z')", "~|~|~" },
	{ "replace_re('a1b22', '[0-9]+', '<$0>')", "a<1>b<22>|a<1>b<22>|a<1>b<22>" },
	{ "replace_re('2024-01-31', '(?P<y>\\d+)-(\\d+)-(\\d+)', '$3.$2.${y} $$')",
	  "31.01.2024 $|31.01.2024 $|31.01.2024 $" },
	{ "replace_re('h\xc3\xa9', '', '.')", ".h.\xc3\xa9.|.h.\xc3\xa9.|.h.\xc3\xa9." },
	{ "matches(t, '(')", "regex_syntax 11 14" },
	{ "matches(t, '(?=a)')", "unsupported_param 11 18" },
	{ "matches(t, s)", "unsupported_param 11 12" },
	{ "extract(t, 'a', 1)", "bad_literal 11 14" },
	{ "replace_re(t, 'a', '$7')", "bad_literal 14 17" },
	/* groups as Python and sed write them */
	{ "replace_re('ab', '(a)(b)', '\\2\\1')", "ba|ba|ba" },
	{ "replace_re('ab', '(?P<x>a)', '\\g<x>\\g<1>\\0')", "aaab|aaab|aaab" },
	{ "replace_re('ab', '(a)', '\\\\1\\\\g<1>')", "\\1\\g<1>b|\\1\\g<1>b|\\1\\g<1>b" },
	{ "replace_re('a/b', '/', '\\')", "a\\b|a\\b|a\\b" },
	{ "replace_re('a', 'a', '\\d\\g\\')", "\\d\\g\\|\\d\\g\\|\\d\\g\\" },
	{ "replace_re(t, 'a', '\\1')", "bad_literal 14 17" },
	{ "replace_re(t, '(a)', '${1')", "bad_literal 14 19" },
	{ "replace_re(t, '(a)', '\\g<2>')", "bad_literal 14 19" },
	/* conditions */
	{ "switch(i, 1, 'a')", "a|~|~" },
	{ "nullif(t, '')", "abc|~|~" },
	{ "coalesce(nullif(t, ''), k, '?')", "abc|a\"b|?" },
	{ "lag(i)", "window_not_allowed 0 6" },
};

void test_fn_rows(void)
{
	struct expr_env v;
	size_t i;

	expr_env_init(&v);
	for (i = 0; i < DTX_COUNT(fn_rows); i++) {
		const char *got = expr_env_run(&v, fn_rows[i][0]);
		const char *want = fn_rows[i][1], *bar = strrchr(want, '|');

		/* for a row that fails only the error is compared */
		if (bar && strstr(bar, " row "))
			want = bar + 1;
		if (strcmp(got, want))
			t_fail(__FILE__, __LINE__, "%s: got [%s], expected [%s]: %s%s",
			       fn_rows[i][0], got, want, v.err.msg,
			       v.errs.n ? v.errs.item[0].msg : "");
	}
	T_INT(i, DTX_COUNT(fn_rows));
	expr_env_clear(&v);
}

void test_fn_window_needs_a_table(void)
{
	struct expr_env v;

	expr_env_init(&v);
	T_STR(expr_env_run(&v, "cum_sum(i)"), "window_not_allowed 0 10");
	T_STR(expr_env_run(&v, "i / sum(i)"), "aggregate_not_allowed 4 10");
	expr_env_clear(&v);
}
