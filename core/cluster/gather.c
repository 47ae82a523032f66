/* Rows of other fragments, see gather.h. */
#include "core/cluster/gather.h"

#include <limits.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/cluster/fragment.h"

#define NOT_A_JOB(err) DTX_FAIL((err), DTX_E_CORRUPT_FILE, "the job of the fragment is malformed")

void dtx_gather_name(const struct dtx_rows_file *f, char name[DTX_SHA256_HEX])
{
	const char *slash = strrchr(f->path, '/');
	struct dtx_str is = dtx_str_of(slash ? slash + 1 : f->path);

	is.len = DTX_MIN(is.len, (size_t)DTX_SHA256_HEX - 1);
	dtx_str_copy(name, DTX_SHA256_HEX, is);
}

/* Rows of other fragments have the ids of one process, but not its readers: the driver finds the
 * places of rows. */
static void no_place(const struct dtx_origin *o, uint64_t row, struct dtx_place *out)
{
	(void)o, (void)row;
	*out = (struct dtx_place){ -1, -1 };
}

static const struct dtx_origin *make_origin(struct dtx_graph *g, uint32_t input)
{
	struct dtx_origin *o = dtx_arena_zalloc(&g->arena, 1, sizeof(*o));

	if (o && input < g->plan->ninputs)
		*o = (struct dtx_origin){ .locate = no_place,
			                  .file = g->plan->input[input].name,
			                  .alias = g->plan->input[input].name };
	return o;
}

enum dtx_code dtx_gather_file(const json_t *list, const char *exchange, struct dtx_arena *arena,
                              struct dtx_rows_file *out, struct dtx_err *err)
{
	const char *name = json_string_value(json_array_get(list, 0));
	char path[PATH_MAX];
	enum dtx_code rc = DTX_OK;

	if (!name)
		NOT_A_JOB(err);
	dtx_exchange_path(path, sizeof(path), exchange, name, "frame");
	*out = (struct dtx_rows_file){
		.path = dtx_arena_strdup(arena, path),
		.bytes = (uint64_t)json_integer_value(json_array_get(list, 1)),
		.sections = (uint64_t)json_integer_value(json_array_get(list, 2)),
		.indexed = true,
	};
	if (!out->path)
		DTX_FAIL_MEM(err);
	dtx_str_copy(out->hash, sizeof(out->hash),
	             dtx_str_of(json_string_value(json_array_get(list, 3))));
out:
	return rc;
}

/* --- the tables of a step --- */

static enum dtx_code note_part(struct dtx_gather *x, const struct dtx_batch *b,
                               const uint64_t *place, uint64_t first, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&x->part, &x->cap_parts, x->nparts + 1, sizeof(*x->part)))
		DTX_FAIL_MEM(err);
	x->part[x->nparts++] =
		(struct dtx_gather_part){ .first = first, .place = place, .id = b->rec };
out:
	return rc;
}

/* Adds the rows of a bucket in one file. Their numbers in the bucket become their ids. */
static enum dtx_code add_rows(struct dtx_gather *x, const struct dtx_rows_file *f, uint32_t bucket,
                              bool first_table, const struct dtx_origin *origin,
                              struct dtx_table *to, struct dtx_err *err)
{
	const uint64_t *place;
	struct dtx_batch *b;
	uint32_t from, end;
	enum dtx_code rc = DTX_OK;

	dtx_buckets_find(f, bucket, &from, &end);
	for (; from < end; from++) {
		DTX_TRY(dtx_buckets_read(f, from, to->schema, &b, &place, err));
		if (first_table)
			rc = note_part(x, b, place, (uint64_t)to->nrows, err);
		b->rec = NULL;
		b->first_row = (uint64_t)to->nrows;
		b->origin = origin;
		if (rc != DTX_OK) {
			dtx_batch_free(b);
			goto out;
		}
		DTX_TRY(dtx_table_take(to, b, err));
	}
out:
	return rc;
}

static enum dtx_code load_table(struct dtx_gather *x, const json_t *what, uint32_t step,
                                uint32_t bucket, const char *exchange, struct dtx_graph *g,
                                struct dtx_err *err)
{
	uint64_t k = (uint64_t)dtx_json_int(what, "input", -1);
	const struct dtx_origin **origin;
	const json_t *one;
	struct dtx_node *n;
	int32_t t;
	size_t i;
	enum dtx_code rc = DTX_OK;

	if (k >= g->plan->step[step].ntables || g->plan->step[step].table[k] < 0)
		NOT_A_JOB(err);
	t = g->plan->step[step].table[k];
	n = &g->node[t];
	origin = dtx_arena_zalloc(&g->arena, g->plan->ninputs + 1u, sizeof(*origin));
	if (!origin)
		DTX_FAIL_MEM(err);
	DTX_ASSERT(g->flow.table[t].schema && !n->table, err);
	DTX_TRY(dtx_table_new(g->flow.table[t].schema, &n->table, err));
	n->uses = g->plan->nsteps + 1; /* it stays until the fragment ends */
	json_array_foreach(json_object_get(what, "files"), i, one)
	{
		uint64_t input = (uint64_t)json_integer_value(json_array_get(one, 4));
		struct dtx_rows_file *f;

		if (input >= g->plan->ninputs)
			NOT_A_JOB(err);
		if (!origin[input])
			origin[input] = make_origin(g, (uint32_t)input);
		if (!origin[input] ||
		    !dtx_mem_reserve(&x->file, &x->cap_files, x->nfiles + 1, sizeof(*x->file)))
			DTX_FAIL_MEM(err);
		f = &x->file[x->nfiles];
		DTX_TRY(dtx_gather_file(one, exchange, &g->arena, f, err));
		x->nfiles++;
		rc = dtx_rows_file_open(f, err);
		if (rc == DTX_OK)
			rc = add_rows(x, f, bucket, k == 0, origin[input], n->table, err);
		if (rc == DTX_E_INPUT_IO || rc == DTX_E_INPUT_NOT_FOUND)
			dtx_gather_name(f, x->damaged);
		DTX_TRY(rc);
	}
out:
	return rc;
}

enum dtx_code dtx_gather_load(struct dtx_gather *x, const json_t *what, uint32_t bucket,
                              const char *exchange, struct dtx_graph *g, struct dtx_err *err)
{
	uint64_t step = (uint64_t)dtx_json_int(what, "step", -1);
	const json_t *list = json_object_get(what, "ranges"), *one;
	size_t i;
	enum dtx_code rc = DTX_OK;

	if (step >= g->plan->nsteps || !json_array_size(list))
		NOT_A_JOB(err);
	x->range = dtx_mem_alloc(json_array_size(list) + 1, sizeof(*x->range));
	if (!x->range)
		DTX_FAIL_MEM(err);
	json_array_foreach(list, i, one) x->range[i] = (uint64_t)json_integer_value(one);
	x->nranges = i;
	json_array_foreach(json_object_get(what, "inputs"), i, one)
		DTX_TRY(load_table(x, one, (uint32_t)step, bucket, exchange, g, err));
out:
	return rc;
}

/* --- the result --- */

/* Rows come in order, so parts and ranges are gone through once. */
static const struct dtx_gather_part *part_of(struct dtx_gather *x, uint64_t row)
{
	while (x->at_part + 1 < x->nparts && x->part[x->at_part + 1].first <= row)
		x->at_part++;
	return &x->part[x->at_part];
}

static uint32_t range_of(struct dtx_gather *x, uint64_t place)
{
	while (x->at_range + 1 < x->nranges && x->range[x->at_range + 1] <= place)
		x->at_range++;
	return (uint32_t)x->at_range;
}

enum dtx_code dtx_gather_eat(void *arg, unsigned worker, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_gather *x = arg;
	struct dtx_buckets_batch *to;
	uint64_t row;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	if (!b->nsel)
		return DTX_OK;
	DTX_TRY(dtx_buckets_add(&x->rows, b, &to, err));
	for (uint32_t i = 0; i < to->batch->nrows; i++) {
		const struct dtx_gather_part *p = NULL;

		if (dtx_batch_id(to->batch, i, &row) && row >= x->last && x->nparts)
			p = part_of(x, row);
		if (!p || p->place[row - p->first] < x->range[x->at_range])
			DTX_FAIL(err, DTX_E_BUG,
			         "internal: a row of the result has no place among the rows of "
			         "the input");
		x->last = row;
		to->place[i] = p->place[row - p->first];
		to->id[i] = p->id[row - p->first];
		to->to[i] = range_of(x, to->place[i]);
	}
out:
	return rc;
}

void dtx_gather_clear(struct dtx_gather *x)
{
	dtx_buckets_clear(&x->rows);
	for (size_t i = 0; i < x->nfiles; i++)
		dtx_rows_file_close(&x->file[i]);
	dtx_mem_free(x->file);
	dtx_mem_free(x->part);
	dtx_mem_free(x->range);
}

/* --- a table that fragments have made --- */

static void note_damaged(void *arg, const struct dtx_rows_file *f)
{
	dtx_gather_name(f, arg); /* a fragment has one worker */
}

enum dtx_code dtx_gather_reader(const json_t *what, const char *exchange, struct dtx_graph *g,
                                char damaged[DTX_SHA256_HEX], struct dtx_reader **out,
                                struct dtx_err *err)
{
	const json_t *files = json_object_get(what, "files"),
		     *inputs = json_object_get(what, "inputs"), *one;
	uint64_t t = (uint64_t)dtx_json_int(what, "table", -1);
	struct dtx_merged m = { .nranges = json_array_size(inputs),
		                .nfiles = json_array_size(files),
		                .bytes = (uint64_t)dtx_json_int(what, "bytes", 1),
		                .damaged = note_damaged,
		                .arg = damaged };
	size_t i;
	enum dtx_code rc = DTX_OK;

	if (t >= g->plan->ninputs + g->plan->nsteps || !g->flow.table[t].schema)
		NOT_A_JOB(err);
	m.schema = g->flow.table[t].schema;
	m.file = dtx_arena_zalloc(&g->arena, m.nfiles + 1, sizeof(*m.file));
	m.origin = dtx_arena_zalloc(&g->arena, m.nranges + 1, sizeof(*m.origin));
	if (!m.file || !m.origin)
		DTX_FAIL_MEM(err);
	json_array_foreach(files, i, one)
		DTX_TRY(dtx_gather_file(one, exchange, &g->arena, &m.file[i], err));
	json_array_foreach(inputs, i, one)
	{
		uint32_t input = (uint32_t)json_integer_value(one);
		bool same = i && json_integer_value(json_array_get(inputs, i - 1)) == input;

		m.origin[i] = same ? m.origin[i - 1] : make_origin(g, input);
		if (!m.origin[i])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_merged_reader_new(&m, out, err));
out:
	return rc;
}
