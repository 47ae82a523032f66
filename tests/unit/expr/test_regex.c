/* Regular expressions: matches and groups, errors, linear time, and agreement of the two
 * automata. */
#include "tests/t.h"

#include "core/expr/regex/regex.h"
#include "core/expr/regex/regex_int.h"

/* "start-end" of the whole match and of each group, '-' for a group that took no part. */
static const char *find(const char *pattern, const char *text, char out[200])
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_regex *re = NULL;
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];
	struct dtx_rematch *m;
	uint32_t i;
	bool found;
	int n = 0;

	strcpy(out, "no");
	if (dtx_regex_compile(&a, dtx_str_of(pattern), &re, &err) != DTX_OK) {
		snprintf(out, 200, "%s", dtx_code_name(err.code));
		goto out;
	}
	m = dtx_rematch_new(&a, re);
	found = dtx_rematch_find(m, dtx_str_of(text), 0, at);
	T_CHECK(found == dtx_rematch_test(m, dtx_str_of(text)));
	for (i = 0; found && i <= dtx_regex_groups(re); i++) {
		if (at[2 * i] == SIZE_MAX)
			n += snprintf(out + n, (size_t)(200 - n), "%s-", i ? " " : "");
		else
			n += snprintf(out + n, (size_t)(200 - n), "%s%zu-%zu", i ? " " : "",
			              at[2 * i], at[2 * i + 1]);
	}
out:
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return out;
}

void test_regex_table(void)
{
	static const char *const rows[][3] = {
		{ "abc", "xxabcx", "2-5" },
		{ "a.c", "a\nc", "no" },
		{ "(?s)a.c", "a\nc", "0-3" },
		{ "a|ab", "ab", "0-1" },
		{ "ab|a", "ab", "0-2" },
		{ "a*", "baa", "0-0" },
		{ "a+", "baa", "1-3" },
		{ "a+?", "baa", "1-2" },
		{ "a{2}", "aaa", "0-2" },
		{ "a{2,}", "aaaa", "0-4" },
		{ "a{1,2}?", "aaa", "0-1" },
		{ "a{,2}", "a{,2}", "0-5" },
		{ "x{0}y", "xy", "1-2" },
		{ "x(a){0}", "yx", "1-2 -" },
		{ "(a)(b)?", "ac", "0-1 0-1 -" },
		{ "(a|b)*", "abb", "0-3 2-3" },
		{ "(?:a|b)+c", "xabc", "1-4" },
		{ "(?P<year>\\d{4})-(?<m>\\d\\d)", "on 2024-05", "3-10 3-7 8-10" },
		{ "^a", "ba", "no" },
		{ "a$", "ab", "no" },
		{ "^$", "", "0-0" },
		{ "$^", "", "0-0" },
		{ "(?m)^b$", "a\nb\nc", "2-3" },
		{ "\\Ab", "a\nb", "no" },
		{ "a\\z", "a", "0-1" },
		{ "\\bcat\\b", "a cat.", "2-5" },
		{ "\\bcat\\b", "scat", "no" },
		{ "\\Bat", "cat", "1-3" },
		{ "[a-c]+", "xxbcd", "2-4" },
		{ "[^a-c]+", "abxyc", "2-4" },
		{ "[]a]+", "a]b", "0-2" },
		{ "[a\\]-]+", "-]a", "0-3" },
		{ "[\\d.]+", "v1.2", "1-4" },
		{ "[[:alpha:]]+", "1ab2", "1-3" },
		{ "[[:^alpha:]]+", "ab12", "2-4" },
		{ "[[:a]+", "xa[:b", "1-4" }, /* no ":]" follows */
		{ "[[:]]", "a[]:]", "1-3" },
		{ "[[:]", ":", "0-1" },
		{ "\\w+\\s\\W", "ab !", "0-4" },
		{ "(?i)stra\xc3\x9f"
		  "e",
		  "STRA\xc3\x9f"
		  "E",
		  "0-7" },
		{ "(?i)\xc3\x84rger", "\xc3\xa4rger", "0-6" },
		{ "(?i)[a-f]+", "xABg", "1-3" },
		{ "a(?i)b", "aB", "0-2" },
		{ "(?i:a)b", "AB", "no" },
		{ ".", "\xe2\x82\xac", "0-3" },
		{ "^.$", "\xf0\x9f\x98\x80", "0-4" },
		{ "[\xc3\xa0-\xc3\xbf]+", "x\xc3\xa9\xc3\xa8", "1-5" },
		{ "[^x]", "\xc3\xa9", "0-2" },
		{ "\\x41\\x{1F600}", "A\xf0\x9f\x98\x80", "0-5" },
		{ "\\.\\*\\n\\t", ".*\n\t", "0-4" },
		{ "", "abc", "0-0" },
		{ "()", "a", "0-0 0-0" },
		{ "(a*)*", "aa", "0-2 0-2" },
		{ "(a*)+b", "aab", "0-3 0-2" },
		{ "a||b", "b", "0-0" },
		{ "(", "", "regex_syntax" },
		{ ")", "", "regex_syntax" },
		{ "[a", "", "regex_syntax" },
		{ "[b-a]", "", "regex_syntax" },
		{ "*a", "", "regex_syntax" },
		{ "a**", "", "regex_syntax" },
		{ "a{2,1}", "", "regex_syntax" },
		{ "\\", "", "regex_syntax" },
		{ "\\y", "", "regex_syntax" },
		{ "\\x{110000}", "", "regex_syntax" },
		{ "[[:nope:]]", "", "regex_syntax" },
		{ "[[::]]", "", "regex_syntax" },
		{ "[[:^:]]", "", "regex_syntax" },
		{ "[[:", "", "regex_syntax" },
		{ "(?P<a>x)(?P<a>y)", "", "regex_syntax" },
		{ "(?z)", "", "regex_syntax" },
		{ "(?=a)", "", "unsupported_param" },
		{ "(?<!a)", "", "unsupported_param" },
		{ "(a)\\1", "", "unsupported_param" },
		{ "\\pL", "", "unsupported_param" },
		{ "a{1001}", "", "expr_limit" },
		{ "((a{1000}){1000}){1000}", "", "expr_limit" },
	};
	char out[200];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		const char *got = find(rows[i][0], rows[i][1], out);

		if (strcmp(got, rows[i][2]))
			t_fail(__FILE__, __LINE__, "/%s/ on '%s': got %s, expected %s", rows[i][0],
			       rows[i][1], got, rows[i][2]);
	}
	T_INT(i, DTX_COUNT(rows));
}

void test_regex_deep_is_limited(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_regex *re;
	char pattern[5000];

	memset(pattern, '(', sizeof(pattern));
	T_INT(dtx_regex_compile(&a, (struct dtx_str){ pattern, 1000 }, &re, NULL),
	      DTX_E_EXPR_LIMIT);
	T_INT(dtx_regex_compile(&a, (struct dtx_str){ pattern, 5000 }, &re, NULL),
	      DTX_E_EXPR_LIMIT);
	dtx_arena_clear(&a);
}

/* Patterns for which a backtracking matcher takes exponential time take bytes times instructions
 * here. */
void test_regex_is_linear(void)
{
	char out[200], text[5001];

	memset(text, 'a', 5000);
	text[5000] = '\0';
	T_STR(find("(a*)*b", text, out), "no");
	T_STR(find("(a|aa)+$", text, out), "0-5000 4999-5000");
	T_STR(find("(?:a?){100}a{100}x", text, out), "no");
}

/* Random patterns: the DFA and the simulation of threads agree about every text. */
void test_regex_dfa_equals_threads(void)
{
	static const char *const parts[] = { "a",  "b",    "[ab]",  ".",     "\xc3\xa9",
		                             "a*", "b+?",  "(a|b)", "(ab)?", "^",
		                             "$",  "[^a]", "a{2}",  "|",     "(?:b|\xc3\xa9)*" };
	static const char *const pieces[] = { "a", "b", "\xc3\xa9", "c", "ab", "\n" };
	uint64_t state = 5;
	int i, k, runs = 0;

	for (i = 0; i < 3000; i++) {
		struct dtx_arena a = DTX_ARENA_INIT;
		char pattern[100] = "", text[100] = "";
		size_t at[2 * (DTX_REGEX_GROUPS + 1)];
		struct dtx_regex *re, threads;
		struct dtx_rematch *m;

		for (k = 0; k < 1 + i % 5; k++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			strcat(pattern, parts[(state >> 33) % DTX_COUNT(parts)]);
			strcat(text, pieces[(state >> 45) % DTX_COUNT(pieces)]);
		}
		if (dtx_regex_compile(&a, dtx_str_of(pattern), &re, NULL) == DTX_OK &&
		    re->has_dfa) {
			bool yes = dtx_redfa_test(dtx_redfa_new(&a, re), dtx_str_of(text));

			threads = *re;
			threads.has_dfa = false;
			threads.literal.ptr = NULL;
			threads.prefix.len = 0;
			m = dtx_rematch_new(&a, &threads);
			if (yes != dtx_rematch_find(m, dtx_str_of(text), 0, at))
				t_fail(__FILE__, __LINE__, "/%s/ on '%s': automaton says %d",
				       pattern, text, yes);
			runs++;
		}
		dtx_arena_clear(&a);
	}
	T_CHECK(runs > 2000);
}

/* More states than there is room for. */
void test_regex_dfa_forgets(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_regex *re;
	char text[4001];
	uint64_t state = 3;
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];
	struct dtx_rematch *m;
	int i;

	for (i = 0; i < 4000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		text[i] = state >> 40 & 1 ? 'a' : 'b';
	}
	text[4000] = '\0';
	T_OK(dtx_regex_compile(&a, DTX_STR("a[ab]{14}c"), &re, NULL), NULL);
	m = dtx_rematch_new(&a, re);
	T_CHECK(!dtx_rematch_test(m, dtx_str_of(text)));
	text[3999] = 'c';
	text[3984] = 'a';
	T_CHECK(dtx_rematch_test(m, dtx_str_of(text)));
	T_CHECK(dtx_rematch_find(m, dtx_str_of(text), 0, at));
	T_INT(at[0], 3984);
	dtx_arena_clear(&a);
}

static enum dtx_code compile_and_match(const char *pattern)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_regex *re;
	enum dtx_code rc = dtx_regex_compile(&a, dtx_str_of(pattern), &re, NULL);

	if (rc == DTX_OK && !dtx_rematch_new(&a, re))
		rc = DTX_E_NO_MEMORY;
	dtx_arena_clear(&a);
	return rc;
}

void test_regex_alloc(void)
{
	T_EVERY_ALLOC_FAILS(compile_and_match("(?i)([a-z\xc3\xa9]+)(?P<x>[^0-9]{2,5}|\\w*)$"));
}
