/* Numbers as people write them. */
#include "ops/kit/text/numtext.h"
#include "tests/t.h"

static void reads(const char *text, const char *want, unsigned decimals)
{
	const struct dtx_numtext_rules rules = DTX_NUMTEXT_PLAIN;
	char out[DTX_NUMTEXT_MAX];
	size_t len;
	unsigned places;

	if (!dtx_numtext(dtx_str_of(text), &rules, out, &len, &places)) {
		T_STR(want ? want : "", "");
		return;
	}
	T_STR(out, want ? want : "nothing");
	T_INT(len, strlen(out));
	if (want)
		T_INT(places, decimals);
}

void test_numtext_forms(void)
{
	reads("12", "12", 0);
	reads(" 1,234.50 ", "1234.50", 2);
	reads("(1,234)", "-1234", 0);
	reads("-5", "-5", 0);
	reads("5-", "-5", 0);
	reads("\xe2\x88\x92"
	      "5",
	      "-5", 0);
	reads("+7", "7", 0);
	reads("$1,000,000", "1000000", 0);
	reads("-$12.5", "-12.5", 1);
	reads("$(12.5)", "-12.5", 1);
	reads("12 \xe2\x82\xac", "12", 0);
	reads("EUR 12", "12", 0);
	reads("US$5", "5", 0); /* not $5 after US */
	reads("R$ 5,000", "5000", 0);
	reads("5 kr", "5", 0);
	reads("12.50 Fr.", "12.50", 2);
	reads("-7z\xc5\x82", "-7", 0);
	reads("12%", "0.12", 2);
	reads("-5%", "-0.05", 2);
	reads("125.5%", "1.255", 3);
	reads(".5", "0.5", 1);
	reads("5.", "5", 0);
	reads("1e3", "1e3", 0);
}

void test_numtext_refuses(void)
{
	static const char *const bad[] = { "",         " ",   "-",    "12,34", "1,2345",
		                           "1234,567", "--5", "(-5)", "5%%",   "12 13",
		                           "1.2.3",    "abc", "12a",  ",5",    "$",
		                           "1e",       "$$5", "0x10", "()" };

	for (size_t i = 0; i < DTX_COUNT(bad); i++)
		reads(bad[i], NULL, 0);
}

void test_numtext_rules(void)
{
	struct dtx_numtext_rules rules = { ',', '.', false, DTX_PERCENT_POINTS };
	char out[DTX_NUMTEXT_MAX];
	size_t len;
	unsigned places;

	T_CHECK(dtx_numtext(DTX_STR("1.234,5"), &rules, out, &len, &places));
	T_STR(out, "1234.5");
	T_CHECK(dtx_numtext(DTX_STR("12%"), &rules, out, &len, &places));
	T_STR(out, "12");
	T_CHECK(!dtx_numtext(DTX_STR("$5"), &rules, out, &len, &places));
	rules.percent = DTX_PERCENT_ERROR;
	T_CHECK(!dtx_numtext(DTX_STR("12%"), &rules, out, &len, &places));
}
