/* Window calls in edge cases: sums beyond the type, floats that leave a window again, decimals. */
#include "tests/unit/planrun.h"

#define WINDOW(set) PLANCASE("{\"op\":\"window\",\"set\":{" set "}}")
#define DECIMALS(options, type, set)                                                               \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"options\":{" options "},\"steps\":["        \
	"{\"op\":\"cast\",\"types\":{\"x\":\"" type "\"}},"                                        \
	"{\"op\":\"window\",\"set\":{" set "}}]}"
#define MOST "9999999999999999999999999999999999999.9"

void test_window_sums_of_floats(void)
{
	static const struct plancase list[] = {
		/* an infinite sum ends with the rows that made it */
		{ WINDOW("\"s\":\"roll_sum(x, 2)\",\"m\":\"roll_mean(x, 2)\""),
		  "x\n1.0e308\n1.0e308\n1.0e308\n1\n2\n",
		  "x,s,m\n1.0e308,,\n1.0e308,,\n1.0e308,,\n1,1e308,5e307\n2,3.0,1.5\n" },
		{ WINDOW("\"d\":\"roll_std(x, 2)\""), "x\n1e308\n1.5\n2\n4\n",
		  "x,d\n1e308,\n1.5,\n2,0.3535533905932738\n4,1.4142135623730951\n" },
		/* a large value does not leave its rounding behind either */
		{ WINDOW("\"m\":\"roll_mean(x, 2)\",\"d\":\"roll_std(x, 2)\""),
		  "x\n1e300\n1.5\n2\n4\n",
		  "x,m,d\n1e300,,\n1.5,5e299,\n2,1.75,0.3535533905932738\n"
		  "4,3.0,1.4142135623730951\n" },
		/* a sum that is beyond the floats gives no share, instead of a share of 0 */
		{ WINDOW("\"s\":\"share(x)\""), "x\n1.0e308\n1e308\n", "x,s\n1.0e308,\n1e308,\n" },
		/* the same rule as median() */
		{ WINDOW("\"r\":\"roll_median(x, 2)\",\"m\":\"median(x)\""), "x\n0.1\n0.7\n",
		  "x,r,m\n0.1,,0.39999999999999997\n0.7,0.39999999999999997,0."
		  "39999999999999997\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_sums_of_decimals(void)
{
	static const struct plancase list[] = {
		/* beyond 128 bits and back */
		{ DECIMALS("\"overflow\":\"null\"", "decimal(38,1)",
		           "\"c\":\"cum_sum(x)\",\"r\":\"roll_sum(x, 2)\",\"d\":\"diff(x)\""),
		  "x\n" MOST "\n" MOST "\n-" MOST "\n-" MOST "\n0.1\n",
		  "x,c,r,d\n" MOST "," MOST ",,\n" MOST ",,,0.0\n-" MOST "," MOST ",0.0,\n-" MOST
		  ",0.0,,0.0\n0.1,0.1,-9999999999999999999999999999999999999.8,\n" },
		{ DECIMALS("", "decimal(38,1)", "\"c\":\"cum_sum(x)\""), "x\n" MOST "\n" MOST "\n",
		  "overflow" },
		{ DECIMALS("", "decimal(5,1)", "\"s\":\"share(x)\",\"p\":\"pct_change(x)\""),
		  "x\n0.1\n0.2\n0.4\n",
		  "x,s,p\n0.1,0.14285714285714285,\n0.2,0.2857142857142857,1.0\n"
		  "0.4,0.5714285714285714,1.0\n" },
		/* means as mean() computes them, not means of rounded floats */
		{ DECIMALS("", "decimal(5,1)",
		           "\"m\":\"cum_mean(x)\",\"r\":\"roll_mean(x, 2)\",\"a\":\"mean(x)\""),
		  "x\n0.1\n0.2\n", "x,m,r,a\n0.1,0.1,,0.15\n0.2,0.15,0.15,0.15\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_ints_that_become_floats(void)
{
	static const struct plancase list[] = {
		/* exact up to the result */
		{ "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"options\":{\"overflow\":\"float\"}"
		  ","
		  "\"steps\":[{\"op\":\"window\",\"set\":{\"d\":\"diff(x)\",\"s\":\"cum_sum(x)\"}}]"
		  "}",
		  "x\n9007199254740992\n9007199254740993\n9223372036854775807\n",
		  "x,d,s\n9007199254740992,,9007199254740992.0\n"
		  "9007199254740993,1.0,1.8014398509481984e16\n"
		  "9223372036854775807,9.214364837600035e18,9.241386435364258e18\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_aggregates(void)
{
	static const struct plancase list[] = {
		{ PLANCASE(
			  "{\"op\":\"window\",\"by\":[\"k\"],\"order\":[\"x\"],\"set\":["
			  "{\"as\":\"a\",\"expr\":\"concat_agg(t, '|')\",\"frame\":{\"rows\":[-1,0]"
			  "}},{\"as\":\"b\",\"expr\":\"count(x, where: x > 1)\"},{\"as\":\"c\","
			  "\"expr\":\"sum(x, where: x > 1)\",\"frame\":{\"rows\":[null,null]}}]}"),
		  "k,x,t\na,3,c\nb,,\na,1,B\nb,2,z\na,2,a\n",
		  "k,x,t,a,b,c\na,3,c,c|a,2,5\nb,,,z,1,2\na,1,B,B,0,5\nb,2,z,z,1,2\na,2,a,B|a,1,"
		  "5\n" },
		{ PLANCASE("{\"op\":\"window\",\"by\":[\"k\"],\"set\":{\"a\":\"max(t)\","
		           "\"b\":\"sum(x)\",\"c\":\"lag(x, 0)\",\"d\":\"lag(x, -1)\"}}"),
		  "k,x,t\na,3,c\nb,,\na,1,B\n",
		  "k,x,t,a,b,c,d\na,3,c,c,4,3,1\nb,,,,,,\na,1,B,c,4,1,\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_ranges_are_read_as_numbers(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"window\",\"order\":[\"d\"],\"set\":[{\"as\":\"a\",\"expr\":"
		           "\"sum(x)\",\"frame\":{\"range\":[\"-05d\",\"00d\"]}}]}"),
		  "d,x\n2024-01-01,1\n2024-01-04,2\n2024-01-06,4\n",
		  "d,x,a\n2024-01-01,1,1\n2024-01-04,2,3\n2024-01-06,4,6\n" },
		{ PLANCASE("{\"op\":\"window\",\"order\":[\"d\"],\"set\":[{\"as\":\"a\",\"expr\":"
		           "\"sum(x)\",\"frame\":{\"range\":[\"-0\",\"0d\"]}}]}"),
		  "d,x\n2024-01-01,1\n", "bad_param_value" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_constants(void)
{
	static const struct plancase list[] = {
		{ WINDOW("\"a\":\"roll_sum(x, 2, min: 3)\""), "x\n1\n", "bad_literal" },
		{ WINDOW("\"a\":\"roll_sum(x, 3000000000)\""), "x\n1\n", "bad_literal" },
		{ WINDOW("\"a\":\"roll_sum(x, 2, min: 2)\""), "x\n1\n", "x,a\n1,\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_window_defaults_take_the_type(void)
{
	static const struct plancase list[] = {
		{ WINDOW("\"a\":\"lag(d, 1, '2024-01-01')\""), "d\n2024-02-01\n2024-02-02\n",
		  "d,a\n2024-02-01,2024-01-01\n2024-02-02,2024-02-01\n" },
		{ WINDOW("\"a\":\"lead(d, 1, 'soon')\""), "d\n2024-02-01\n", "bad_literal" },
		/* a decimal, not a float */
		{ DECIMALS("", "decimal(5,2)", "\"a\":\"lag(x, 1, 0.25)\""), "x\n0.50\n1.50\n",
		  "x,a\n0.50,0.25\n1.50,0.50\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

static void overflow_at(const char *plan, int64_t row)
{
	struct planrun p;

	planrun_init(&p, plan, "x\n1\n9223372036854775807\n2\n");
	T_INT(planrun(&p), DTX_E_OVERFLOW);
	T_INT(p.err.row, row);
	T_STR(p.err.at, "/steps/0/set/a");
	T_INT(p.err.span[0], 0);
	planrun_clear(&p);
}

static void fails_at(const char *plan, enum dtx_code code, const char *at, int start, int end,
                     int64_t count)
{
	struct planrun p;

	planrun_init(&p, plan, "x,t\n1,a\n9223372036854775807,b\n2,3\n");
	T_INT(planrun(&p), code);
	T_STR(p.err.at, at);
	T_INT(p.err.span[0], start);
	T_INT(p.err.span[1], end);
	T_INT(p.err.count, count);
	planrun_clear(&p);
}

#define GROUP(FORMULA) PLANCASE("{\"op\":\"group_by\",\"by\":[],\"agg\":{\"a\":\"" FORMULA "\"}}")
void test_call_errors_name_the_formula(void)
{
	fails_at(GROUP("1 + sum(x)"), DTX_E_OVERFLOW, "/steps/0/agg/a", 4, 10, -1);
	fails_at(GROUP("sum(int(t))"), DTX_E_CAST_FAILED, "/steps/0/agg/a", 4, 10, 2);
	fails_at(GROUP("count(where: int(t) > 0)"), DTX_E_CAST_FAILED, "/steps/0/agg/a", 13, 19, 2);
	fails_at(WINDOW("\"a\":\"1 + cum_sum(int(t))\""), DTX_E_CAST_FAILED, "/steps/0/set/a", 12,
	         18, 2);
}

void test_window_overflow_has_a_row(void)
{
	overflow_at(WINDOW("\"a\":\"cum_sum(x)\""), 2);
	/* of a whole group: its first row */
	overflow_at(WINDOW("\"a\":\"sum(x)\""), 1);
	overflow_at(PLANCASE("{\"op\":\"window\",\"order\":[\"-x\"],\"set\":{\"a\":\"sum(x)\"}}"),
	            3);
}

/* --- partitions that workers share --- */

#define SHARED_ROWS 70000

/* `overflows`: the sums of two partitions do. */
static char *many_rows(bool overflows)
{
	struct dtx_buf b = DTX_BUF_INIT(8 << 20);

	dtx_buf_add(&b, "k,n\n");
	for (int i = 0; i < SHARED_ROWS; i++) {
		bool large = overflows && (i == 30000 || i == 30701 || i == 60007 || i == 60708);

		dtx_buf_printf(&b, "%d,%lld\n", i * 7919 % 701,
		               large ? 9000000000000000000ll : (long long)(i % 97));
	}
	return dtx_buf_steal(&b);
}

static void shared_run(const char *step, const char *in, unsigned workers, struct planrun *p)
{
	planrun_init(p, step, in);
	p->workers = workers;
	p->keep = true;
	(void)!planrun(p);
}

void test_window_shared_partitions(void)
{
	static const char step[] =
		PLANCASE("{\"op\":\"window\",\"by\":[\"k\"],\"order\":[\"-n\"],\"set\":{\"r\":"
	                 "\"percent_rank()\","
	                 "\"l\":\"lag(n)\",\"c\":\"cum_sum(n)\",\"m\":\"roll_mean(n, 3)\"}}");
	char *rows = many_rows(false), *large = many_rows(true);
	struct planrun one, eight;

	shared_run(step, rows, 1, &one);
	shared_run(step, rows, 8, &eight);
	T_INT(one.err.code, DTX_OK);
	T_CHECK(one.out.len > SHARED_ROWS && one.out.len == eight.out.len &&
	        memcmp(one.out.ptr, eight.out.ptr, one.out.len) == 0);
	planrun_clear(&one);
	planrun_clear(&eight);
	shared_run(step, large, 1, &one);
	shared_run(step, large, 8, &eight);
	T_INT(one.err.code, DTX_E_OVERFLOW);
	T_INT(eight.err.code, DTX_E_OVERFLOW);
	T_STR(one.err.msg, eight.err.msg);
	T_INT(one.err.row, eight.err.row);
	planrun_clear(&one);
	planrun_clear(&eight);
	dtx_mem_free(rows);
	dtx_mem_free(large);
}
