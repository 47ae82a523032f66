/* Joins whose right side is long enough to be built in partitions by all workers. */
#include "sandbox/role.h"
#include "tests/unit/planrun.h"

#define RIGHT 140000u
#define LEFT  30000u
#define KEYS  60000u

/* The key of right row i; every 97th row has none. */
static unsigned key_of(unsigned i)
{
	return (unsigned)((uint64_t)i * 7919 % KEYS);
}

static bool has_key(unsigned i)
{
	return i % 97 != 5;
}

/* A key as a number, close to the next one or far from it, as a short text, or as a text that does
 * not fit into a view. */
enum key_kind { WHOLE, SPARSE, SHORT, LONG, KINDS };

static void add_key(struct dtx_buf *out, enum key_kind kind, unsigned key)
{
	static const char *const word[] = { "", "", "k", "a key of many bytes: " };

	dtx_buf_printf(out, "%s%u", word[kind], kind == SPARSE ? key * 10007u : key);
}

static void make_right(enum key_kind kind, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,w\n");
	for (unsigned i = 0; i < RIGHT; i++) {
		if (has_key(i))
			add_key(out, kind, key_of(i));
		dtx_buf_printf(out, ",%u\n", i);
	}
}

/* Half of the left keys do not exist on the right. */
static void make_left(enum key_kind kind, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,v\n");
	for (unsigned i = 0; i < LEFT; i++) {
		if (i % 1009)
			add_key(out, kind, i * 4);
		dtx_buf_printf(out, ",%u\n", i);
	}
}

/* The expected result of the join: the right rows of a key in their order, from a list per key. */
static void make_joined(enum key_kind kind, struct dtx_buf *out)
{
	uint32_t *head = dtx_mem_zalloc(KEYS, sizeof(*head)); /* row + 1 */
	uint32_t *next = dtx_mem_zalloc(RIGHT, sizeof(*next));

	T_CHECK(head && next);
	dtx_buf_add(out, "k,v,w\n");
	for (unsigned i = RIGHT; head && next && i-- > 0;) {
		if (!has_key(i))
			continue;
		next[i] = head[key_of(i)];
		head[key_of(i)] = i + 1;
	}
	for (unsigned i = 0; head && next && i < LEFT; i++)
		for (uint32_t r = i % 1009 && i * 4 < KEYS ? head[i * 4] : 0; r; r = next[r - 1]) {
			add_key(out, kind, i * 4);
			dtx_buf_printf(out, ",%u,%u\n", i, r - 1);
		}
	dtx_mem_free(head);
	dtx_mem_free(next);
}

static enum dtx_code join_try(struct planrun *p, const char *how, const char *left,
                              const char *right, unsigned workers, uint32_t rows)
{
	enum dtx_code rc;

	struct dtx_buf plan = DTX_BUF_INIT(1000);

	dtx_buf_printf(&plan,
	               "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],"
	               "\"steps\":[{\"op\":\"join\",\"with\":\"other\",%s}]}",
	               how);
	planrun_init(p, dtx_buf_text(&plan), left);
	p->input[1] = right;
	p->workers = workers;
	p->batch_rows = rows;
	p->keep = true;
	rc = planrun(p);
	dtx_buf_clear(&plan);
	return rc;
}

static void join_run(struct planrun *p, const char *how, const char *left, const char *right,
                     unsigned workers, uint32_t rows)
{
	T_OK(join_try(p, how, left, right, workers, rows), &p->err);
}

void test_join_parts_rows(void)
{
	for (enum key_kind kind = 0; kind < KINDS; kind++) {
		struct dtx_buf left = DTX_BUF_INIT(1 << 24), right = DTX_BUF_INIT(1 << 24),
			       want = DTX_BUF_INIT(1 << 24);
		struct planrun p;

		make_left(kind, &left);
		make_right(kind, &right);
		make_joined(kind, &want);
		join_run(&p, "\"on\":\"k\"", dtx_buf_text(&left), dtx_buf_text(&right), 2, 65536);
		T_CHECK(dtx_buf_ok(&want) && p.out.len > 100000);
		T_CHECK(strcmp(dtx_buf_text(&p.out), dtx_buf_text(&want)) == 0);
		planrun_clear(&p);
		dtx_buf_clear(&left);
		dtx_buf_clear(&right);
		dtx_buf_clear(&want);
	}
}

/* Any number of workers, which decides how many partitions there are, and any number of rows: the
 * result has the same bytes. */
static void same_ways(const char *how, const char *left, const char *right)
{
	static const struct {
		unsigned workers;
		uint32_t rows;
	} ways[] = { { 1, 65536 }, { 8, 1000 } };
	struct planrun first, other;

	join_run(&first, how, left, right, 2, 65536);
	T_CHECK(dtx_buf_ok(&first.out) && first.out.len > 100000);
	/* takes six times as long in a sanitizer build */
	for (size_t i = DTX_SANITIZED ? 1 : 0; i < DTX_COUNT(ways); i++) {
		join_run(&other, how, left, right, ways[i].workers, ways[i].rows);
		if (strcmp(dtx_buf_text(&first.out), dtx_buf_text(&other.out)) != 0)
			t_fail(__FILE__, __LINE__, "%s: way %zu makes other rows", how, i);
		planrun_clear(&other);
	}
	planrun_clear(&first);
}

static void ways_of(enum key_kind kind, const char *const *how, size_t n)
{
	struct dtx_buf left = DTX_BUF_INIT(1 << 24), right = DTX_BUF_INIT(1 << 24);

	make_left(kind, &left);
	make_right(kind, &right);
	for (size_t i = 0; i < n; i++)
		same_ways(how[i], dtx_buf_text(&left), dtx_buf_text(&right));
	dtx_buf_clear(&left);
	dtx_buf_clear(&right);
}

void test_join_parts_ways(void)
{
	static const char *const two[] = {
		"\"on\":\"k\",\"how\":\"full\",\"indicator_as\":\"side\"",
		"\"on\":[\"k\",{\"left_expr\":\"v % 3\",\"right_expr\":\"w % 3\"}],"
		"\"how\":\"right\",\"nulls_equal\":true",
	};
	static const char *const one[] = {
		"\"on\":\"k\",\"how\":\"full\",\"nulls_equal\":true",
		"\"on\":\"k\",\"how\":\"right\"",
	};

	ways_of(SHORT, two, DTX_COUNT(two));
	ways_of(WHOLE, one, DTX_COUNT(one));
	ways_of(SPARSE, one, DTX_COUNT(one));
}

/* Keys that violate an expectation are named in the order of the table, not of the partitions. */
void test_join_parts_promise(void)
{
	static const unsigned workers[] = { 1, 2, 8 };
	struct dtx_buf right = DTX_BUF_INIT(1 << 24);

	make_right(WHOLE, &right);
	for (size_t i = 0; i < DTX_COUNT(workers); i++) {
		struct planrun p;

		T_CODE(join_try(&p, "\"on\":\"k\",\"cardinality\":\"m:1\"", "k,v\n1,1\n",
		                dtx_buf_text(&right), workers[i], 65536),
		       DTX_E_JOIN_CARDINALITY, &p.err);
		T_CHECK(strstr(p.err.msg, "k = '0' at L60002 (3); k = '7919' at L60003 (3); "
		                          "k = '15838' at L60004"));
		planrun_clear(&p);
	}
	dtx_buf_clear(&right);
}
