/* Joins that keep short cells of the right rows as records, and joins whose cells cannot be kept
 * so. */
#include "sandbox/role.h"
#include "tests/unit/planrun.h"

#define RIGHT 140000u
#define LEFT  30000u

/* The key of right row i; all keys differ, and the smallest is 1. */
static unsigned key_of(unsigned i)
{
	return (unsigned)((uint64_t)i * 7919 % RIGHT) + 1;
}

/* Records of the first three columns are so short that they are sorted by unique keys. */
enum style { SHORT, EMPTY, GROWING, QUOTED, LONG_AT_LAST, LONG, STYLES };

static void add_cell(struct dtx_buf *out, enum style style, unsigned i)
{
	bool is_long = style == LONG || (style == LONG_AT_LAST && i + 10 == RIGHT);

	if (style == EMPTY && i % 3)
		return;
	if (style == GROWING && i < RIGHT / 2) /* of one word, later of two */
		dtx_buf_add(out, i % 5 ? "y" : "\"\"");
	else if (style == GROWING && i % 5 == 0)
		dtx_buf_printf(out, "\"%u,\"", i % 1000);
	else if (style == QUOTED && i % 7 == 0)
		dtx_buf_printf(out, "\"a,%u\"", i % 100);
	else if (style == QUOTED && i % 7 == 1)
		dtx_buf_add(out, "\"say \"\"x\"\"\"");
	else
		dtx_buf_printf(out, "w%u%s", i,
		               is_long ? " and more than a record has room for" : "");
}

static void make_right(enum style style, unsigned factor, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,w,x\n");
	for (unsigned i = 0; i < RIGHT; i++) {
		dtx_buf_printf(out, "%u,", key_of(i) * factor);
		add_cell(out, style, i);
		dtx_buf_printf(out, ",%u\n", i % 1000);
	}
}

/* Left keys above the right ones, none, and one below them. */
static unsigned left_key(unsigned i)
{
	return i * 5;
}

static bool left_has_key(unsigned i)
{
	return i % 1009 != 7;
}

static void add_left(struct dtx_buf *out, unsigned factor, unsigned i)
{
	if (left_has_key(i))
		dtx_buf_printf(out, "%u", left_key(i) * factor);
	dtx_buf_printf(out, ",%u", i);
}

static void make_left(unsigned factor, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,v\n");
	for (unsigned i = 0; i < LEFT; i++) {
		add_left(out, factor, i);
		dtx_buf_add(out, "\n");
	}
}

static void make_joined(enum style style, unsigned factor, bool keep, struct dtx_buf *out)
{
	uint32_t *row = dtx_mem_zalloc(RIGHT + 1, sizeof(*row)); /* row of a key, + 1 */

	T_CHECK(row);
	for (unsigned i = 0; row && i < RIGHT; i++)
		row[key_of(i)] = i + 1;
	dtx_buf_add(out, "k,v,w,x\n");
	for (unsigned i = 0; row && i < LEFT; i++) {
		unsigned key = left_key(i);
		unsigned at = left_has_key(i) && key <= RIGHT ? row[key] : 0;

		if (!at && !keep)
			continue;
		add_left(out, factor, i);
		dtx_buf_add(out, ",");
		if (at)
			add_cell(out, style, at - 1);
		dtx_buf_add(out, ",");
		if (at)
			dtx_buf_printf(out, "%u", (at - 1) % 1000);
		dtx_buf_add(out, "\n");
	}
	dtx_mem_free(row);
}

static void run(const char *step, const char *left, const char *right, const char *want,
                unsigned workers, uint32_t rows, const char *what)
{
	struct dtx_buf plan = DTX_BUF_INIT(1000);
	struct planrun p;

	dtx_buf_printf(&plan,
	               "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],"
	               "\"steps\":[{\"with\":\"other\",%s}]}",
	               step);
	planrun_init(&p, dtx_buf_text(&plan), left);
	p.input[1] = right;
	p.workers = workers;
	p.batch_rows = rows;
	T_OK(planrun(&p), &p.err);
	if (strcmp(dtx_buf_text(&p.out), want) != 0)
		t_fail(__FILE__, __LINE__, "%s, %u workers: other rows", what, workers);
	planrun_clear(&p);
	dtx_buf_clear(&plan);
}

static void join(enum style style, unsigned factor, bool keep, unsigned workers, uint32_t rows)
{
	struct dtx_buf left = DTX_BUF_INIT(1 << 24), right = DTX_BUF_INIT(1 << 24),
		       want = DTX_BUF_INIT(1 << 24);
	char what[60];

	make_left(factor, &left);
	make_right(style, factor, &right);
	make_joined(style, factor, keep, &want);
	T_CHECK(dtx_buf_ok(&left) && dtx_buf_ok(&right) && dtx_buf_ok(&want));
	snprintf(what, sizeof(what), "style %d, keys times %u", (int)style, factor);
	run(keep ? "\"op\":\"left_join\",\"on\":\"k\"" : "\"op\":\"join\",\"on\":\"k\"",
	    dtx_buf_text(&left), dtx_buf_text(&right), dtx_buf_text(&want), workers, rows, what);
	dtx_buf_clear(&left);
	dtx_buf_clear(&right);
	dtx_buf_clear(&want);
}

/* Keys that are consecutive numbers, and keys with gaps between them. */
void test_join_cells(void)
{
	for (enum style style = 0; style < STYLES; style++) {
		join(style, 1, true, 2, 65536);
		join(style, 10007, false, 2, 1000);
		if (DTX_SANITIZED) /* takes four times as long there */
			continue;
		join(style, 1, false, 1, 1000);
		join(style, 2, true, 1, 65536);
	}
}

/* If rows are sorted by key: the null key comes after the others, keys may be below zero, some
 * columns are not needed, and some steps ask where a row was. */
void test_join_in_order(void)
{
	static const char left[] = "k,v\n0,a\n,b\n-2,c\n7,d\n1,e\n-3,f\n";
	static const char right[] = "k,w,x\n1,one,1\n,none,\n-1,,9\n0,\"0,0\",\n-2,two,22\n";
	static const char no_null[] = "k,w,x\n1,one,1\n-1,,9\n0,\"0,0\",\n-2,two,22\n";
	static const struct {
		const char *step, *right, *want;
	} plans[] = {
		{ "\"op\":\"left_join\",\"on\":\"k\"", no_null,
		  "k,v,w,x\n0,a,\"0,0\",\n,b,,\n-2,c,two,22\n7,d,,\n1,e,one,1\n-3,f,,\n" },
		{ "\"op\":\"left_join\",\"on\":\"k\",\"nulls_equal\":true", right,
		  "k,v,w,x\n0,a,\"0,0\",\n,b,none,\n-2,c,two,22\n7,d,,\n1,e,one,1\n-3,f,,\n" },
		{ "\"op\":\"join\",\"on\":\"k\",\"nulls_equal\":true", right,
		  "k,v,w,x\n0,a,\"0,0\",\n,b,none,\n-2,c,two,22\n1,e,one,1\n" },
		{ "\"op\":\"full_join\",\"on\":\"k\",\"nulls_equal\":true", right,
		  "k,v,w,x\n0,a,\"0,0\",\n,b,none,\n-2,c,two,22\n7,d,,\n1,e,one,1\n-3,f,,\n"
		  "-1,,,9\n" },
		{ "\"op\":\"lookup_value\",\"on\":\"k\",\"value\":\"w\",\"as\":\"w\",\"on_"
		  "missing\":\"null\"",
		  no_null, "k,v,w\n0,a,\"0,0\"\n,b,\n-2,c,two\n7,d,\n1,e,one\n-3,f,\n" },
	};

	for (size_t i = 0; i < DTX_COUNT(plans); i++)
		run(plans[i].step, left, plans[i].right, plans[i].want, 1, 65536, plans[i].step);
}
