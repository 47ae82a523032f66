/* Numbers: exact reading, shortest printing. */
#include "core/base/text/num.h"

#include <math.h>

#include "tests/t.h"

static uint64_t num_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

void test_num_parse_i64(void)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t v;
	} rows[] = {
		{ "0", true, 0 },
		{ "-1", true, -1 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "99999999999999999999", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "1x", false, 0 },
		{ " 1", false, 0 },
		{ "007", true, 7 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		int64_t v = 0;
		bool ok = dtx_num_parse_i64(rows[i].text, strlen(rows[i].text), &v);

		T_CHECK(ok == rows[i].ok);
		T_INT(v, rows[i].v);
	}
}

void test_num_parse_f64_grammar(void)
{
	static const char *const good[] = { "1",     "1.5",    "-2e3",
		                            "1E+5",  "0.1e-7", "00.5",
		                            "+1.25", ".5",     "123456789012345678901234567890.5" };
	static const char *const bad[] = { "",      ".",     "1.",  "e5",   "1e", "1e+",
		                           "nan",   "inf",   "0x1", "1 ",   " 1", "1,5",
		                           "1.2.3", "1e999", "--1", "1e5.0" };
	size_t i;
	double v;

	for (i = 0; i < DTX_COUNT(good); i++) {
		T_CHECK(dtx_num_parse_f64(good[i], strlen(good[i]), &v));
		T_CHECK(v == strtod(good[i], NULL));
	}
	for (i = 0; i < DTX_COUNT(bad); i++)
		T_CHECK(!dtx_num_parse_f64(bad[i], strlen(bad[i]), &v));
}

void test_num_f64_round_trip(void)
{
	uint64_t seed = 88172645463325252u;
	int i;

	for (i = 0; i < 200000; i++) {
		char text[DTX_NUM_TEXT], digits[64];
		double v, back;
		uint64_t bits = num_random(&seed);

		if (i % 2)
			v = (double)(int64_t)(bits >> (bits & 31)) / 1e3;
		else
			memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		if (!dtx_num_parse_f64(text, dtx_num_print_f64(text, v), &back) || back != v)
			t_fail(__FILE__, __LINE__, "%.17g printed as %s", v, text);
		snprintf(digits, sizeof(digits), "%.16e", v);
		if (!dtx_num_parse_f64(digits, strlen(digits), &back) || back != v)
			t_fail(__FILE__, __LINE__, "%s read as %.17g", digits, back);
		snprintf(digits, sizeof(digits), "%.18g", v);
		if (!dtx_num_parse_f64(digits, strlen(digits), &back) ||
		    back != strtod(digits, NULL))
			t_fail(__FILE__, __LINE__, "%s read as %.17g", digits, back);
	}
	T_CHECK(i == 200000);
}

void test_num_parse_f64_long(void)
{
	/* 2^-1074 written out, and the tie below it with and without a last digit */
	char text[1200];
	double v;

	snprintf(text, sizeof(text), "%.1100f", 4.9406564584124654e-324);
	T_CHECK(dtx_num_parse_f64(text, strlen(text), &v) && v == 4.9406564584124654e-324);
	snprintf(text, sizeof(text), "9007199254740993.%0800d", 0);
	T_CHECK(dtx_num_parse_f64(text, strlen(text), &v) && v == 9007199254740992.0);
	text[strlen(text) - 1] = '1';
	T_CHECK(dtx_num_parse_f64(text, strlen(text), &v) && v == 9007199254740994.0);
}

/* Every length, and both sides of each power of ten. */
/* Computes on the digits that a user sees, whatever the doubles are. */
void test_num_divide(void)
{
	static const struct {
		double x, y, q, rest, low;
	} rows[] = {
		{ 1.0, 0.1, 10, 0, 1.0 },
		{ 0.3, 0.1, 3, 0, 0.3 },
		{ 0.29, 0.01, 29, 0, 0.29 },
		{ 8.41, 0.05, 168, 0.01, 8.4 },
		{ -0.3, 0.1, -3, 0, -0.3 },
		{ -0.35, 0.1, -4, 0.05, -0.4 },
		{ 7.0, 2.5, 2, 2.0, 5.0 },
		{ -7.0, 3.0, -3, 2.0, -9.0 },
		{ 0.0, 0.1, 0, 0, 0.0 },
		{ 0.1 + 0.2, 0.1, 3, 4e-17, 0.3 },
		{ 0.1 + 0.7, 0.1, 7, 0.0999999999999999, 0.7 },
		{ 1e22, 7.0, 1e22 / 7, 4.0, 1e22 },
		{ 1e300, 0.7, 1e300 / 0.7, 0.3, 1e300 },
		{ 1e-300, 0.7, 0, 1e-300, 0.0 },
		{ -1e-300, 0.7, -1, 0.7, -0.7 },
		{ 123456789.123456789, 0.001, 123456789123, 0.00045679, 123456789.123 },
	};

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		double x = rows[i].x, y = rows[i].y;

		if (dtx_num_floordiv(x, y) != rows[i].q || dtx_num_mod(x, y) != rows[i].rest ||
		    dtx_num_floor_to(x, y) != rows[i].low)
			t_fail(__FILE__, __LINE__, "%.17g, %.17g: %.17g, %.17g, %.17g", x, y,
			       dtx_num_floordiv(x, y), dtx_num_mod(x, y), dtx_num_floor_to(x, y));
	}
	T_CHECK(dtx_num_floordiv(1, -0.1) == -10 && dtx_num_mod(1, -0.3) == -0.2);
	T_CHECK(isinf(dtx_num_floordiv(1, 0)) && isnan(dtx_num_mod(1, 0)));
	T_CHECK(isinf(dtx_num_floordiv(1e300, 1e-300)));
	T_CHECK(dtx_num_step(0, 3, 0.1) == 0.3 && dtx_num_step(-0.35, 7, 0.05) == 0);
	T_CHECK(dtx_num_step(1e300, 2, 1e-300) == 1e300);
}

void test_num_print_digits(void)
{
	char out[DTX_NUM_TEXT], want[DTX_NUM_TEXT];
	uint64_t v = 1;
	int len, k;

	for (len = 1; len <= 20; len++) {
		for (k = -2; k <= 2; k++) {
			snprintf(want, sizeof(want), "%llu", (unsigned long long)(v + (uint64_t)k));
			T_INT(dtx_num_print_u64(out, v + (uint64_t)k), strlen(want));
			T_STR(out, want);
		}
		v *= 10;
	}
	for (k = 0; k <= 20000; k++) {
		snprintf(want, sizeof(want), "%d", k * 5003);
		T_INT(dtx_num_print_i64(out, k * 5003), strlen(want));
		T_STR(out, want);
	}
}

/* The fast path for usual decimals gives the same as the general code. */
void test_num_print_decimals(void)
{
	char out[DTX_NUM_TEXT], want[DTX_NUM_TEXT];
	uint64_t state = 7;
	int places, i;
	size_t len;

	for (places = 1; places <= 8; places++) {
		for (i = 0; i < 500; i++) {
			double v;

			state = state * 6364136223846793005u + 1442695040888963407u;
			snprintf(want, sizeof(want), "%llu.%0*llu",
			         (unsigned long long)(state >> 50) + 1, places,
			         (unsigned long long)((state >> 8) %
			                              (uint64_t)dtx_num_pow10[places]));
			v = strtod(want, NULL);
			for (len = strlen(want); want[len - 1] == '0' && want[len - 2] != '.';)
				want[--len] = '\0';
			dtx_num_print_f64(out, v);
			T_STR(out, want);
			dtx_num_print_f64(out, -v);
			T_STR(out + 1, want);
		}
	}
}

void test_num_print(void)
{
	static const struct {
		double v;
		const char *text, *json;
	} rows[] = {
		{ 0.0, "0.0", "0" },
		{ 100.0, "100.0", "100" },
		{ -17.5, "-17.5", "-17.5" },
		{ 0.1 + 0.2, "0.30000000000000004", "0.30000000000000004" },
		{ 1e-5, "0.00001", "0.00001" },
		{ 9.9e-6, "9.9e-6", "0.0000099" },
		{ 1e-7, "1e-7", "1e-7" },
		{ 1e15, "1000000000000000.0", "1000000000000000" },
		{ 9999999999999998.0, "9999999999999998.0", "9999999999999998" },
		{ 1e16, "1e16", "10000000000000000" },
		{ 1.5e300, "1.5e300", "1.5e+300" },
		{ 1e21, "1e21", "1e+21" },
		{ 123456.789, "123456.789", "123456.789" },
		{ 5e-324, "5e-324", "5e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e308", "1.7976931348623157e+308" },
		{ 9007199254740993.0, "9007199254740992.0", "9007199254740992" },
		{ 333333333.33333329, "333333333.3333333", "333333333.3333333" },
		{ 0.5, "0.5", "0.5" },
		{ 1e22, "1e22", "1e+22" },
	};
	char out[DTX_NUM_TEXT];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		T_INT(dtx_num_print_f64(out, rows[i].v), strlen(rows[i].text));
		T_STR(out, rows[i].text);
		dtx_num_print_json(out, rows[i].v);
		T_STR(out, rows[i].json);
	}
	dtx_num_print_i64(out, INT64_MIN);
	T_STR(out, "-9223372036854775808");
	dtx_num_print_grouped(out, -1234567);
	T_STR(out, "-1,234,567");
	dtx_num_print_grouped(out, 123);
	T_STR(out, "123");
}
