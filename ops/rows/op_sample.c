/* sample: a random choice of rows that is the same in every run.
 *
 * Row i of a group gets a key from its number and the seed, so the choice depends on neither
 * threads nor batches. */
#include <stdlib.h>

#include "ops/group/table/tablekeys.h"

struct sample_args {
	int64_t n, seed;
	double frac;
	struct dtx_cols *by;
	bool replace;
};
struct sample_state {
	struct dtx_groupkeys by;
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct sample_args, member)
static const struct dtx_param sample_params[] = {
	{ .name = "n",
	  .kind = DTX_P_INT,
	  AT(n),
	  .min = 1,
	  .max = INT32_MAX,
	  .aliases = "count",
	  .help = "rows to keep" },
	{ .name = "frac",
	  .kind = DTX_P_NUMBER,
	  AT(frac),
	  .schema = "{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":1}",
	  .aliases = "fraction",
	  .help = "share of the rows to keep" },
	{ .name = "seed",
	  .kind = DTX_P_INT,
	  .required = true,
	  AT(seed),
	  .min = INT64_MIN,
	  .max = INT64_MAX,
	  .aliases = "random_state",
	  .help = "number that decides which rows" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "sample each group of these columns" },
	{ .name = "replace",
	  .kind = DTX_P_BOOL,
	  AT(replace),
	  .def = "false",
	  .help = "a row may be drawn more than once" },
};
static const struct dtx_example sample_examples[] = {
	{ .step = DTX_JSON({ "op" : "sample", "n" : 2, "seed" : 1 }),
	  .in = "a\n1\n2.50\n3\n4\n5\n",
	  .out = "a\n3\n5\n" },
	{ .step = DTX_JSON({ "op" : "sample", "n" : 1, "seed" : 7, "by" : ["k"] }),
	  .in = "k,v\na,1\nb,2\na,3\nb,4\n",
	  .out = "k,v\na,1\nb,2\n" },
	{ .step = DTX_JSON({ "op" : "sample", "frac" : 1, "seed" : 0 }),
	  .in = "a\n1\n2\n",
	  .out = "a\n1\n2\n" },
	{ .step = DTX_JSON({ "op" : "sample", "n" : 3, "seed" : 3, "replace" : true }),
	  .in = "a\n1\n2\n",
	  .out = "a\n1\n1\n1\n" },
	{ .step = DTX_JSON({ "op" : "sample", "n" : 3 }),
	  .in = "a\n1\n",
	  .error = "missing_param",
	  .message = "sample: 'seed' is missing: a whole number" },
};

static enum dtx_code sample_check(const void *args, struct dtx_err *err)
{
	const struct sample_args *a = args;
	enum dtx_code rc = DTX_OK;

	if ((a->n > 0) == (a->frac > 0 || a->frac < 0))
		DTX_FAIL(err, a->n ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "sample needs either n or frac");
	if (a->frac < 0 || a->frac > 1)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/frac",
		               "sample: frac must be above 0 and at most 1");
out:
	return rc;
}

static enum dtx_code sample_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct sample_args *a = args;
	struct sample_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* Number x of the splitmix64 sequence: G. L. Steele Jr., D. Lea, C. H. Flood, "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014. */
static uint64_t splitmix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

struct ticket {
	uint64_t key;
	int64_t at; /* number of the row in its group */
};

static int ticket_cmp(const void *a, const void *b)
{
	const struct ticket *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int ticket_larger(const void *a, const void *b)
{
	return ticket_cmp(b, a);
}

static int at_cmp(const void *a, const void *b)
{
	const struct ticket *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Draws rows of one group with replacement. It stops where the run has to end, which the caller
 * asks for: a few rows may be drawn billions of times. */
static int64_t draw(const struct sample_args *a, struct ticket *t, int64_t n)
{
	int64_t draws = a->n ? a->n : (int64_t)(a->frac * (double)n + 0.5);

	for (int64_t j = 0; j < draws; j++) {
		dtx_u128 wide = (dtx_u128)splitmix64((uint64_t)a->seed + (uint64_t)j) * (dtx_u128)n;

		if (j % DTX_CANCEL_ROWS == 0 && dtx_cancel_now())
			break;
		t[j].at = (int64_t)(wide >> 64);
	}
	return draws;
}

/* Restores a heap, with the largest key at the root, from the root down. */
static void sift_down(struct ticket *heap, size_t n)
{
	size_t at = 0, child;

	while ((child = at * 2 + 1) < n) {
		struct ticket one = heap[at];

		child += child + 1 < n && ticket_cmp(&heap[child], &heap[child + 1]) < 0;
		if (ticket_cmp(&one, &heap[child]) >= 0)
			break;
		heap[at] = heap[child];
		heap[child] = one;
		at = child;
	}
}

/* Chooses rows of one group without replacement: those with the smallest keys, or with keys below
 * the share. For a number of rows, the first ones are made a heap whose root is replaced by any
 * smaller key. Like draw, it stops where the run has to end. */
static int64_t choose(const struct sample_args *a, struct ticket *t, int64_t n)
{
	const long double below = (long double)a->frac * 18446744073709551616.0L;
	int64_t kept = 0;

	for (int64_t i = 0; i < n; i++) {
		struct ticket one = { splitmix64((uint64_t)a->seed + (uint64_t)i), i };

		if (i % DTX_CANCEL_ROWS == 0 && dtx_cancel_now())
			break;
		if (!a->n) {
			if ((long double)one.key < below)
				t[kept++] = one;
		} else if (kept < a->n) {
			t[kept++] = one;
			if (kept == a->n)
				qsort(t, (size_t)kept, sizeof(*t), ticket_larger);
		} else if (ticket_cmp(&one, &t[0]) < 0) {
			t[0] = one;
			sift_down(t, (size_t)kept);
		}
	}
	return kept;
}

struct rows {
	int64_t *row;
	size_t n, cap;
};

static enum dtx_code sample_group(const struct dtx_opctx *ox, const int64_t *row, int64_t n,
                                  struct rows *out, struct dtx_err *err)
{
	const struct sample_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	int64_t room = a->replace ? DTX_MAX(a->n, n) : a->n ? DTX_MIN(a->n, n) : n, kept;
	struct ticket *t = NULL;

	if (!n) /* nothing to draw from, however many rows are asked for */
		return DTX_OK;
	/* with replacement a few rows may be drawn billions of times */
	if (ox->run && ox->run->max_rows >= 0 && a->replace && a->n > ox->run->max_rows)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "sample: more than %lld rows",
		         (long long)ox->run->max_rows);
	t = dtx_mem_alloc((size_t)room + 1, sizeof(*t));
	if (!t)
		DTX_FAIL_MEM(err);
	kept = a->replace ? draw(a, t, n) : choose(a, t, n);
	DTX_TRY(dtx_cancel_look(err));
	if (!dtx_mem_reserve(&out->row, &out->cap, out->n + (size_t)kept + 1, sizeof(*out->row)))
		DTX_FAIL_MEM(err);
	if (kept > 1)
		qsort(t, (size_t)kept, sizeof(*t), at_cmp);
	for (int64_t i = 0; i < kept; i++)
		out->row[out->n++] = row[t[i].at];
out:
	dtx_mem_free(t);
	return rc;
}

static int row_cmp(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static enum dtx_code sample_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct sample_args *a = ox->args;
	const struct sample_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_tablekeys keys = DTX_TABLEKEYS_INIT;
	struct rows kept = { NULL, 0, 0 };
	int64_t *start = NULL, *row = NULL;

	DTX_TRY(dtx_tablekeys_open(&keys, ox, &s->by, t, err));
	DTX_TRY(dtx_tablekeys_rows(&keys, ox, &start, &row, err));
	for (uint32_t g = 0; g < keys.n; g++)
		DTX_TRY(sample_group(ox, row + start[g], start[g + 1] - start[g], &kept, err));
	if (keys.n > 1)
		qsort(kept.row, kept.n, sizeof(*kept.row), row_cmp);
	if (!a->replace)
		dtx_op_count(ox, "not_sampled", t->nrows - (int64_t)kept.n);
	DTX_TRY(dtx_table_emit(ox, t, &s->map, kept.n ? kept.row : start, (int64_t)kept.n, out,
	                       err));
out:
	dtx_mem_free(start);
	dtx_mem_free(row);
	dtx_mem_free(kept.row);
	dtx_tablekeys_close(&keys);
	return rc;
}

static void sample_explain(const void *args, struct dtx_buf *out)
{
	const struct sample_args *a = args;

	if (a->n)
		dtx_buf_printf(out, "keep %lld rows", (long long)a->n);
	else
		dtx_buf_printf(out, "keep %g %% of the rows", a->frac * 100);
	if (a->by) {
		dtx_buf_add(out, " of each ");
		dtx_cols_print(a->by, out);
	}
	dtx_buf_printf(out, " by chance, seed %lld%s", (long long)a->seed,
	               a->replace ? ", with replacement" : "");
}

const struct dtx_op dtx_op_sample = {
	.name = "sample",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep a random sample of rows, the same in every run",
	.notes = "Row i of its group, from 0, has the key splitmix64(seed + i): the n smallest "
		 "stay, or those below frac * 2^64. With replace, draw j takes row key(j) * rows / "
		 "2^64. Rows keep table order.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_KEPT },
	.params = sample_params,
	.nparams = DTX_COUNT(sample_params),
	.examples = sample_examples,
	.nexamples = DTX_COUNT(sample_examples),
	.args_size = sizeof(struct sample_args),
	.check = sample_check,
	.bind = sample_bind,
	.whole = sample_whole,
	.explain = sample_explain,
};
