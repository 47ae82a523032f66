/* When the pages of an input that has been read are released. */
#include "core/base/thread/pool.h"
#include "tests/unit/planrun.h"

#define LARGE_MIB 48
#define LONG      ((int64_t)20000000000)
#define SHORT     ((int64_t)300000000) /* many times what it takes */

/* Rows with a key of few values, a number, and a text that is too long to be stored in a cell. */
static const char *large_file(char path[256])
{
	FILE *f;

	snprintf(path, 256, "%s/large.csv", t_dir());
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	fprintf(f, "k,v,t\n");
	for (int i = 0; f && ftell(f) < (long)LARGE_MIB << 20; i++)
		fprintf(f, "k%d,%d,%064d\n", i % 100, i % 1000, i);
	if (f)
		fclose(f);
	return path;
}

struct seen {
	long before; /* MiB of mapped files in the page tables of the process before the run */
	int64_t ns;  /* time that the pages have to be released */
	long mapped;
};

static enum dtx_code see(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	struct seen *s = arg;
	int64_t late = dtx_now_ns() + s->ns;

	(void)r, (void)err;
	do
		s->mapped = t_mapped_mib() - s->before;
	while (s->mapped > LARGE_MIB / 2 && dtx_now_ns() < late);
	return DTX_OK;
}

static long mapped_at_end(const char *plan, const char *path, int64_t ns)
{
	struct seen seen = { .before = t_mapped_mib(), .ns = ns };
	struct planrun p;

	planrun_init(&p, plan, NULL);
	p.path = path;
	p.workers = 2;
	p.look = see;
	p.look_arg = &seen;
	T_OK(planrun(&p), &p.err);
	T_CHECK(p.out.len > 0);
	planrun_clear(&p);
	return seen.mapped;
}

/* The groups hold everything that is needed of the rows. */
void test_exec_release_pages_behind_groups(void)
{
	char path[256];

	T_CHECK(mapped_at_end("[{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"s\":\"sum(v)\"}}]",
	                      large_file(path), LONG) <= LARGE_MIB / 2);
}

/* The cells of the result are in the input. */
void test_exec_release_pages_not_of_borrowed_texts(void)
{
	char path[256];

	T_CHECK(mapped_at_end("[{\"op\":\"filter\",\"where\":\"v < 10\"},{\"op\":\"sort\","
	                      "\"by\":[\"v\"]}]",
	                      large_file(path), SHORT) > LARGE_MIB / 2);
}
