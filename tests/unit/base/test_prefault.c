/* Pages that are made ahead: those that are needed, no others, and never by changing what is
 * there. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory/prefault.h"
#include "ops/group/hashagg.h"
#include "tests/t.h"

#define MIB  ((size_t)1 << 20)
#define SIZE (64 * MIB)

static char *block_new(void)
{
	char *block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T_CHECK(block != MAP_FAILED);
	return block == MAP_FAILED ? NULL : block;
}

/* The bytes of [block, block + SIZE) that have pages. */
static size_t resident(char *block)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	unsigned char *in = malloc(SIZE / page);

	T_CHECK(in && mincore(block, SIZE, in) == 0);
	for (size_t i = 0; in && i < SIZE / page; i++)
		n += in[i] & 1;
	free(in);
	return n * page;
}

static bool can_make(void)
{
	if (madvise(NULL, 0, 23) == 0) /* MADV_POPULATE_WRITE */
		return true;
	t_skip("this kernel makes no pages on request");
	return false;
}

void test_prefault_are_made_as_far_as_wanted(void)
{
	struct dtx_prefault p;
	char *block = block_new();
	size_t had;

	if (!block || !can_make())
		return;
	dtx_prefault_init(&p);
	memset(block, 'x', 10 * MIB);
	had = resident(block);
	dtx_prefault_make(&p);
	T_INT(resident(block), had); /* nothing was reported */
	dtx_prefault_report_used(&p, 0, block, 10 * MIB, 8 * MIB, SIZE);
	dtx_prefault_make(&p);
	T_CHECK(resident(block) >= had + 6 * MIB && resident(block) <= had + 12 * MIB);
	T_CHECK(block[0] == 'x' && block[10 * MIB - 1] == 'x' && block[10 * MIB] == 0);
	dtx_prefault_report_used(&p, 0, block, 60 * MIB, SIZE, SIZE); /* more than the block has */
	dtx_prefault_make(&p);
	T_CHECK(resident(block) <= SIZE);
	dtx_prefault_clear(&p);
	munmap(block, SIZE);
}

/* A block that is held, or that was moved and not reported again, is left alone. */
void test_prefault_of_a_moved_block_are_let_be(void)
{
	struct dtx_prefault p;
	char *block = block_new();

	if (!block || !can_make())
		return;
	dtx_prefault_init(&p);
	dtx_prefault_report_used(&p, 1, block, 0, SIZE, SIZE);
	dtx_prefault_hold(&p);
	dtx_prefault_report_used(&p, 1, block, 0, SIZE, SIZE); /* the owner does not wait while
	                                                        * pages are made */
	dtx_prefault_drop(&p);
	dtx_prefault_make(&p);
	T_INT(resident(block), 0);
	dtx_prefault_clear(&p);
	munmap(block, SIZE);
}

struct beside {
	struct dtx_groups *g;
	pthread_mutex_t lock;
	bool end;
};

static void *make_pages(void *arg)
{
	struct beside *b = arg;
	bool end = false;

	while (!end) {
		dtx_groups_ahead(b->g);
		pthread_mutex_lock(&b->lock);
		end = b->end;
		pthread_mutex_unlock(&b->lock);
	}
	return NULL;
}

#define KEYS 3000000u

static uint32_t add_keys(struct dtx_groups *g, int64_t *v, struct dtx_column *key, uint32_t from)
{
	static const struct dtx_schema none = { .nfields = 0 };
	struct dtx_batch b = { .schema = &none, .nrows = key->len, .nsel = key->len };
	uint32_t id[1000], wrong = 0;

	for (uint32_t i = 0; i < key->len; i++)
		v[i] = (int64_t)(from + i) * 7;
	T_OK(dtx_groups_ids(g, &key, &b, id, NULL), NULL);
	for (uint32_t i = 0; i < key->len; i++)
		wrong += id[i] != from + i;
	return wrong;
}

/* Groups grow, and move, while another thread makes their pages. */
void test_prefault_of_groups_that_grow(void)
{
	static const struct dtx_typeref whole = { .type = DTX_T_INT64 };
	static int64_t v[1000];
	struct dtx_column key = { .type = whole, .len = 1000, .v.i64 = v };
	struct beside b = { .lock = PTHREAD_MUTEX_INITIALIZER };
	uint32_t wrong = 0;
	pthread_t t;

	T_OK(dtx_groups_new(&whole, 1, &b.g, NULL), NULL);
	T_INT(pthread_create(&t, NULL, make_pages, &b), 0);
	for (uint32_t from = 0; from < KEYS; from += key.len)
		wrong += add_keys(b.g, v, &key, from);
	pthread_mutex_lock(&b.lock);
	b.end = true;
	pthread_mutex_unlock(&b.lock);
	T_INT(pthread_join(t, NULL), 0);
	T_INT(wrong, 0);
	T_INT(dtx_groups_count(b.g), KEYS);
	dtx_groups_free(b.g);
}
