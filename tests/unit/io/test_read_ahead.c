/* Bytes that are read ahead are the same bytes; failures and early ends are passed on. */
#include "core/io/source/read_ahead.h"

#include "tests/t.h"

#define AHEAD 8 /* windows that are read before they are asked for, if the reader is slow */

struct feed {
	size_t left, step;
	unsigned char next;
	bool fail; /* at the end */
};

static enum dtx_code feed_read(void *arg, void *to, size_t cap, size_t *got, struct dtx_err *err)
{
	struct feed *f = arg;
	size_t i;

	*got = DTX_MIN(DTX_MIN(cap, f->step), f->left);
	for (i = 0; i < *got; i++)
		((unsigned char *)to)[i] = f->next++;
	f->left -= *got;
	if (!*got && f->fail)
		return dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__, "broken");
	return DTX_OK;
}

/* Windows without a byte 255. */
static bool no_last_byte(const char *bytes, size_t len)
{
	return !memchr(bytes, 255, len);
}

/* Reads everything with windows of `cap` bytes; false if a byte is wrong. */
static enum dtx_code drain(struct feed *f, size_t cap, size_t *total, bool *right,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_ahead *a = NULL;
	unsigned char buf[70000], want = 0;
	size_t got = 1, i;
	bool judged = true;

	*total = 0;
	*right = true;
	DTX_TRY(dtx_read_ahead_open(feed_read, f, no_last_byte, &a, err));
	while (got) {
		DTX_TRY(dtx_read_ahead_read(a, buf, cap, &got, &judged, err));
		*right &= !judged || no_last_byte((const char *)buf, got);
		judged = cap % 2;
		for (i = 0; i < got; i++)
			*right &= buf[i] == want++;
		*total += got;
	}
out:
	dtx_read_ahead_close(a);
	return rc;
}

void test_read_ahead_gives_all_bytes(void)
{
	struct feed f = { .left = 3000001, .step = 100000 };
	size_t total;
	bool right;

	T_OK(drain(&f, 70000, &total, &right, NULL), NULL);
	T_INT(total, 3000001);
	T_CHECK(right);
	f = (struct feed){ .left = 0, .step = 1 };
	T_OK(drain(&f, 1, &total, &right, NULL), NULL);
	T_INT(total, 0);
}

void test_read_ahead_fails_where_the_stream_fails(void)
{
	struct feed f = { .left = 5000, .step = 1000, .fail = true };
	struct dtx_err err = DTX_ERR_INIT;
	size_t total;
	bool right;

	T_CODE(drain(&f, 300, &total, &right, &err), DTX_E_CORRUPT_FILE, &err);
	T_INT(total, 5000);
	T_STR(err.msg, "broken");
	dtx_err_clear(&err);
}

void test_read_ahead_stops_early(void)
{
	struct feed f = { .left = (size_t)1 << 40, .step = 4096 };
	struct dtx_read_ahead *a = NULL;
	char byte;
	size_t got;
	bool judged = false;

	T_OK(dtx_read_ahead_open(feed_read, &f, no_last_byte, &a, NULL), NULL);
	T_OK(dtx_read_ahead_read(a, &byte, 1, &got, &judged, NULL), NULL);
	dtx_read_ahead_close(a);
	T_INT(got, 1);
	T_CHECK(f.left > 0);
}

/* Windows that are lent have the same bytes, also after some bytes were read, and the memory around
 * them may be written to. */
void test_read_ahead_lends_windows(void)
{
	struct feed f = { .left = 2000001, .step = 100000 };
	struct dtx_read_ahead *a = NULL;
	unsigned char some[1000], want = 0;
	size_t got = 1, total = 0, i;
	bool judged = false;
	char *at;

	T_OK(dtx_read_ahead_open(feed_read, &f, no_last_byte, &a, NULL), NULL);
	while (got) {
		T_OK(dtx_read_ahead_read(a, some, sizeof(some), &got, &judged, NULL), NULL);
		for (i = 0; i < got; i++)
			T_CHECK(some[i] == want++);
		total += got;
		T_OK(dtx_read_ahead_lend(a, &at, &got, &judged, NULL), NULL);
		for (i = 0; i < got; i++)
			T_CHECK((unsigned char)at[i] == want++);
		total += got;
		memset(at - DTX_READ_AHEAD_FRONT, 0,
		       DTX_READ_AHEAD_FRONT + got + DTX_READ_AHEAD_BEHIND);
	}
	T_INT(total, 2000001);
	dtx_read_ahead_close(a);
}

/* Starts with the byte after those that were read before. */
void test_read_ahead_judges_when_asked(void)
{
	struct feed f = { .left = 3000, .step = 100 };
	struct dtx_read_ahead *a = NULL;
	char bytes[100];
	size_t got, i;
	bool judged, asked;

	for (asked = false;; asked = true) {
		T_OK(dtx_read_ahead_open(feed_read, &f, no_last_byte, &a, NULL), NULL);
		for (i = 0; i < 30; i++) {
			judged = asked;
			T_OK(dtx_read_ahead_read(a, bytes, sizeof(bytes), &got, &judged, NULL),
			     NULL);
			T_CHECK(!judged || (asked && no_last_byte(bytes, got)));
			T_CHECK(judged || i < AHEAD || !asked || !no_last_byte(bytes, got));
		}
		dtx_read_ahead_close(a);
		if (asked)
			break;
		f = (struct feed){ .left = 3000, .step = 100 };
	}
}
