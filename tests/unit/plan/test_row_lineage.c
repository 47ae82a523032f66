/* Stored row numbers: packed, unpacked, walked; too many, damaged, and made while memory is
 * short. */
#include <string.h>
#include <zlib.h>

#include "core/plan/lineage/row_lineage.h"
#include "tests/t.h"
#include "tests/unit/planrun.h"

/* Two results, of two rows and one row, of an input with three rows. */
static const char lists[] = "dtx_b,dtx_r0,dtx_r1,dtx_g,dtx_p\n"
			    "0,,1,,\n0,,2,,\n"
			    "1,1,1,,\n1,2,2,,\n1,3,1,,\n"
			    "2,1,,1,1\n2,2,,1,2\n2,3,,2,1\n";
static const char head[] =
	"{\"rows\":1,\"inputs\":[{\"name\":\"main\",\"prefix\":{\"v\":\"C\"}}],\"blocks\":["
	"{\"kind\":\"result\",\"step\":0,\"bit\":-1,\"cols\":[\"dtx_r1\"]},"
	"{\"kind\":\"made\",\"step\":1,\"bit\":1,\"cols\":[\"dtx_r0\",\"dtx_r1\"]},"
	"{\"kind\":\"left\",\"step\":0,\"bit\":-1,\"cols\":[\"dtx_r0\",\"dtx_g\",\"dtx_p\"]}],"
	"\"columns\":{\"s\":{\"walks\":[{\"from\":-1},{\"from\":0,\"bit\":1,\"cell\":-1}],"
	"\"inputs\":[{\"walk\":1,\"input\":0,\"direct\":[\"v\"]}]},"
	"\"odd\":{\"walks\":[{\"from\":-1},{\"from\":1,\"bit\":1}],\"inputs\":[]},"
	"\"gap\":{\"walks\":[{\"from\":-1},{\"from\":0,\"bit\":7}],\"inputs\":[]},"
	"\"far\":{\"walks\":[{\"from\":-1}],\"inputs\":[{\"walk\":3,\"input\":0}]}}}";

static enum dtx_code pack(const struct planrun *p, const char *text, size_t max,
                          struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_exec_output output[2] = { { .rows = 0 } };
	struct dtx_exec_result traced = { .output = output, .noutputs = 2 };
	struct dtx_trace_rows rows = { .head = json_loads(text, 0, NULL),
		                       .noutputs = DTX_TRACE_ROWS_INPUTS };
	enum dtx_code rc = DTX_E_NO_MEMORY;

	output[1].table = p->result->output[0].table;
	if (rows.head)
		rc = dtx_row_lineage_pack(&rows, &traced, max, out, err);
	json_decref(rows.head);
	return rc;
}

static void lineage_init(struct planrun *p)
{
	planrun_init(p, PLANCASE("{\"op\":\"limit\",\"n\":100}"), lists);
	p->keep = true;
	T_OK(planrun(p), &p->err);
}

void test_row_lineage_back_and_on(void)
{
	struct planrun p;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_row_lineage *log = NULL;
	struct dtx_row_lineage_answer a;
	struct dtx_err err = DTX_ERR_INIT;
	int64_t counts[2];
	json_t *results = NULL, *through = NULL;

	lineage_init(&p);
	T_OK(pack(&p, head, DTX_ROW_LINEAGE_MAX, &bytes, &err), &err);
	T_OK(dtx_row_lineage_unpack(dtx_buf_str(&bytes), &log, &err), &err);
	T_OK(dtx_row_lineage_why(log, "s", 1, &a, &err), &err);
	T_CHECK(a.nrows == 1 && a.rows[0].input == 0 && a.rows[0].row[0] == (1 << 1 | 1 << 3));
	dtx_row_lineage_answer_clear(&a);
	T_CODE(dtx_row_lineage_why(log, "s", 3, &a, &err), DTX_E_USAGE, &err);
	dtx_row_lineage_answer_clear(&a);
	T_CODE(dtx_row_lineage_why(log, "nix", 1, &a, &err), DTX_E_NO_TRANSLATION, &err);
	dtx_row_lineage_answer_clear(&a);
	for (const char *name = "odd\0gap\0far\0"; *name; name += strlen(name) + 1) {
		T_CODE(dtx_row_lineage_why(log, name, 1, &a, &err), DTX_E_STORE_IO, &err);
		dtx_row_lineage_answer_clear(&a);
	}
	T_OK(dtx_row_lineage_follow(log, 0, 2, counts, 2, &results, &through, &err), &err);
	T_CHECK(counts[0] == 1 && counts[1] == 1 && json_array_size(results) == 1 &&
	        json_integer_value(json_array_get(results, 0)) == 2);
	json_decref(results);
	json_decref(through);
	results = through = NULL;
	T_CODE(dtx_row_lineage_follow(log, 64, 2, counts, 2, &results, &through, &err),
	       DTX_E_NO_TRANSLATION, &err);
	T_CODE(dtx_row_lineage_follow(log, 0, 0, counts, 2, &results, &through, &err),
	       DTX_E_NO_TRANSLATION, &err);
	T_STR(err.msg, "no numbers are stored for row 0 of input 1");
	T_CHECK(!dtx_row_lineage_places(log, 0) &&
	        !strcmp(dtx_row_lineage_prefix(log, 0, "v"), "C") &&
	        !strcmp(dtx_row_lineage_prefix(log, 0, "w"), "L"));
	dtx_err_clear(&err);
	dtx_row_lineage_free(log);
	dtx_buf_clear(&bytes);
	planrun_clear(&p);
}

/* The rows of a window function are found by their groups; numbers without them are damaged. */
void test_row_lineage_of_a_window_without_groups(void)
{
	const char *made = strstr(head, "made");
	struct planrun p;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_row_lineage *log = NULL;
	struct dtx_row_lineage_answer a;
	struct dtx_err err = DTX_ERR_INIT;
	char text[sizeof(head) + 8];

	snprintf(text, sizeof(text), "%.*swindow%s", (int)(made - head), head, made + 4);
	lineage_init(&p);
	T_OK(pack(&p, text, DTX_ROW_LINEAGE_MAX, &bytes, &err), &err);
	T_OK(dtx_row_lineage_unpack(dtx_buf_str(&bytes), &log, &err), &err);
	T_CODE(dtx_row_lineage_why(log, "s", 1, &a, &err), DTX_E_STORE_IO, &err);
	T_STR(err.msg, "the stored row numbers contradict each other");
	dtx_row_lineage_answer_clear(&a);
	dtx_err_clear(&err);
	dtx_row_lineage_free(log);
	dtx_buf_clear(&bytes);
	planrun_clear(&p);
}

/* Rows that only decide whether others stay are in no result by their number; "no rows" must not be
 * the answer. */
void test_row_lineage_of_rows_that_let(void)
{
	struct planrun p;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_row_lineage *log = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	char text[sizeof(head)];
	int64_t counts[2];
	json_t *results = NULL, *through = NULL;

	memcpy(text, head, sizeof(head));
	memcpy(strstr(text, "\"made\""), "\"let\" ", 6);
	lineage_init(&p);
	T_OK(pack(&p, text, DTX_ROW_LINEAGE_MAX, &bytes, &err), &err);
	T_OK(dtx_row_lineage_unpack(dtx_buf_str(&bytes), &log, &err), &err);
	T_CODE(dtx_row_lineage_follow(log, 0, 2, counts, 2, &results, &through, &err),
	       DTX_E_NO_TRANSLATION, &err);
	T_STR(err.msg,
	      "no row numbers are stored for this input: its rows only decide which rows of "
	      "other inputs stay");
	T_CHECK(!results && counts[0] == -1 && counts[1] == -1);
	T_OK(dtx_row_lineage_follow(log, 2, 2, counts, 2, &results, &through, &err),
	     &err); /* another input */
	json_decref(results);
	json_decref(through);
	dtx_err_clear(&err);
	dtx_row_lineage_free(log);
	dtx_buf_clear(&bytes);
	planrun_clear(&p);
}

void test_row_lineage_has_a_limit(void)
{
	struct planrun p;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	lineage_init(&p);
	T_CODE(pack(&p, head, 10, &bytes, &err), DTX_E_ROW_LIMIT, &err);
	T_CHECK(strstr(err.msg, "--lineage rows keeps"));
	T_CHECK(strstr(err.hint, "leave it out"));
	dtx_err_clear(&err);
	dtx_buf_clear(&bytes);
	planrun_clear(&p);
}

/* A body as dtx_row_lineage_pack writes it, from these plain bytes. */
static void packed(const void *plain, size_t n, struct dtx_buf *out)
{
	unsigned char to[4096];
	uLongf len = sizeof(to);

	T_CHECK(compress(to, &len, plain, n) == Z_OK);
	dtx_buf_reset(out);
	dtx_buf_addn(out, "dtxrows1\0\0\0\0\0\0\0", 16);
	dtx_buf_addn(out, to, len);
}

void test_row_lineage_damaged(void)
{
	struct planrun p;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX),
		       part = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_row_lineage *log = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	unsigned char plain[4096];
	uLongf n = sizeof(plain);

	lineage_init(&p);
	T_OK(pack(&p, head, DTX_ROW_LINEAGE_MAX, &bytes, &err), &err);
	T_CHECK(uncompress(plain, &n, (const Bytef *)bytes.ptr + 16, bytes.len - 16) == Z_OK);
	for (size_t k = 0; k < n; k++) {
		packed(plain, k, &part);
		T_CODE(dtx_row_lineage_unpack(dtx_buf_str(&part), &log, &err), DTX_E_STORE_IO,
		       &err);
	}
	for (size_t k = 0; k < bytes.len; k++)
		T_CODE(dtx_row_lineage_unpack((struct dtx_str){ bytes.ptr, k }, &log, &err),
		       DTX_E_STORE_IO, &err);
	/* the last number continues, but nothing follows it */
	plain[n - 1] |= 0x80;
	packed(plain, n, &part);
	T_CODE(dtx_row_lineage_unpack(dtx_buf_str(&part), &log, &err), DTX_E_STORE_IO, &err);
	T_STR(err.msg, "the stored row numbers end too early");
	plain[n - 1] &= 0x7f;
	packed(plain, n, &part);
	T_OK(dtx_row_lineage_unpack(dtx_buf_str(&part), &log, &err), &err);
	dtx_row_lineage_free(log);
	log = NULL;
	memcpy(strstr((char *)plain + 8, "\"rows\":1}") + 7, "2", 1);
	packed(plain, n, &part);
	T_CODE(dtx_row_lineage_unpack(dtx_buf_str(&part), &log, &err), DTX_E_STORE_IO, &err);
	T_CHECK(!log);
	dtx_err_clear(&err);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&part);
	planrun_clear(&p);
}

static enum dtx_code once(const struct planrun *p)
{
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	struct dtx_row_lineage *log = NULL;
	struct dtx_row_lineage_answer a = { .nrows = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	int64_t counts[2];
	json_t *results = NULL, *through = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(pack(p, head, DTX_ROW_LINEAGE_MAX, &bytes, &err));
	DTX_TRY(dtx_row_lineage_unpack(dtx_buf_str(&bytes), &log, &err));
	DTX_TRY(dtx_row_lineage_why(log, "s", 1, &a, &err));
	DTX_TRY(dtx_row_lineage_follow(log, 0, 2, counts, 2, &results, &through, &err));
out:
	json_decref(results);
	json_decref(through);
	dtx_row_lineage_answer_clear(&a);
	dtx_row_lineage_free(log);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
	return rc;
}

void test_row_lineage_every_alloc_fails(void)
{
	struct planrun p;
	long short_runs = 0;

	lineage_init(&p);
	for (long k = 0; k < 600; k++) {
		enum dtx_code rc;

		dtx_mem_fail_at(k);
		rc = once(&p);
		dtx_mem_fail_at(-1);
		T_CHECK(rc == DTX_OK || rc == DTX_E_NO_MEMORY);
		short_runs += rc == DTX_E_NO_MEMORY;
	}
	T_CHECK(short_runs > 50);
	planrun_clear(&p);
}
