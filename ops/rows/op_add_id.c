/* add_id: numbers of the rows, or fingerprints of their cells. */
#include "core/base/hash/hash.h"
#include "core/data/builder.h"
#include "ops/group/table/groupkeys.h"
#include "ops/kit/opkit.h"

struct id_args {
	const char *as;
	int64_t start;
	struct dtx_cols *by, *hash_of;
};
struct id_state {
	struct dtx_groupkeys by;
	int32_t *hash;
	uint32_t nhash;
	struct dtx_colmap map;
};
struct id_local {
	struct dtx_groups *groups; /* NULL: the whole table */
	int64_t *next;             /* per group; [0] without groups */
	size_t cap;
	uint32_t *id;
};

#define AT(member) .offset = offsetof(struct id_args, member)
static const struct dtx_param id_params[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  AT(as),
	  .aliases = "name,new_name",
	  .def = "\"row_id\"",
	  .help = "name of the new first column" },
	{ .name = "start",
	  .kind = DTX_P_INT,
	  AT(start),
	  .min = -1000000000000000,
	  .max = 1000000000000000,
	  .def = "1",
	  .help = "number of the first row" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "count within groups of these columns" },
	{ .name = "hash_of",
	  .kind = DTX_P_COLUMNS,
	  AT(hash_of),
	  .help = "instead of a number the SHA-256 of these cells" },
};
static const struct dtx_example id_examples[] = {
	{ .step = DTX_JSON({ "op" : "add_id" }), .in = "a\nx\ny\n", .out = "row_id,a\n1,x\n2,y\n" },
	{ .step = DTX_JSON({ "op" : "row_number", "as" : "n", "start" : 0, "by" : ["k"] }),
	  .in = "k,v\na,1.50\nb,2\na,3\n,4\n,5\n",
	  .out = "n,k,v\n0,a,1.50\n0,b,2\n1,a,3\n0,,4\n1,,5\n" },
	{ .step = DTX_JSON({ "op" : "add_id", "as" : "h", "hash_of" : [ "a", "b" ] }),
	  .in = "a,b\nx,\nx,\"\"\n",
	  .out = "h,a,b\n"
	         "0c6a6d1f8b8db8bd84ce91020a79be157d3a8721f7c8019de2484cc5e08b3e3e,x,\n"
	         "de8366f53e158e745812836bb3c209f97a11bf153019518243535f8e7d0d968a,x,\"\"\n" },
	{ .step = DTX_JSON({ "op" : "add_id", "hash_of" : ["a"], "start" : 0 }),
	  .in = "a\n1\n",
	  .error = "param_conflict",
	  .message = "add_id: a fingerprint has no start" },
	{ .step = DTX_JSON({ "op" : "add_id", "as" : "a" }),
	  .in = "a\n1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'a'" },
};

static enum dtx_code id_check(const void *args, struct dtx_err *err)
{
	const struct id_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->by && a->hash_of)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/hash_of",
		               "add_id takes by or hash_of, not both");
	if (a->start != 1 && a->hash_of)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/start",
		               "add_id: a fingerprint has no start");
out:
	return rc;
}

static enum dtx_code id_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct id_args *a = args;
	const struct dtx_typeref type = { .type = a->hash_of ? DTX_T_TEXT : DTX_T_INT64 };
	struct id_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->hash_of)
		DTX_TRY(dtx_bind_cols(b, 0, a->hash_of, "/hash_of", &s->hash, &s->nhash, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_make(b, a->as, type, NULL, a->hash_of ? "SHA-256 of" : "row number", err));
	for (uint32_t i = 0; i < s->nhash; i++)
		DTX_TRY(dtx_bind_use(b, 0, 0, s->hash[i], DTX_DEMAND_BYTES, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	b->ordered = !a->hash_of;
out:
	return rc;
}

static void id_free_local(const struct dtx_opctx *ox, void *local)
{
	struct id_local *l = local;

	(void)ox;
	if (!l)
		return;
	dtx_groups_free(l->groups);
	dtx_mem_free(l->next);
	dtx_mem_free(l->id);
	dtx_mem_free(l);
}

static enum dtx_code id_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct id_state *s = ox->bound;
	const struct id_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	struct id_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l || !dtx_mem_reserve(&l->next, &l->cap, 1, sizeof(*l->next)))
		DTX_FAIL_MEM(err);
	l->next[0] = a->start;
	if (s->by.n) {
		DTX_TRY(dtx_groupkeys_groups(&s->by, &l->groups, err));
		l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
		if (!l->id)
			DTX_FAIL_MEM(err);
	}
	*local = l;
	l = NULL;
out:
	id_free_local(ox, l);
	return rc;
}

static enum dtx_code number_rows(const struct dtx_opctx *ox, struct id_local *l,
                                 struct dtx_batch *in, struct dtx_builder *to, struct dtx_err *err)
{
	const struct id_state *s = ox->bound;
	const struct id_args *a = ox->args;
	enum dtx_code rc = DTX_OK;

	if (l->groups) {
		uint32_t had = dtx_groups_count(l->groups), n;

		DTX_TRY(dtx_groupkeys_ids(&s->by, l->groups, in, l->id, err));
		n = dtx_groups_count(l->groups);
		if (!dtx_mem_reserve(&l->next, &l->cap, (size_t)n + 1, sizeof(*l->next)))
			DTX_FAIL_MEM(err);
		for (uint32_t g = had; g < n; g++)
			l->next[g] = a->start;
	}
	for (uint32_t row = 0; row < in->nrows; row++)
		dtx_builder_i64(to, l->next[l->groups ? l->id[row] : 0]++);
out:
	return rc;
}

/* Every cell is its length in 8 bytes, little endian, and its text; null is a length of all ones.
 */
static void hash_row(const struct id_state *s, const struct dtx_batch *in, uint32_t row,
                     struct dtx_buf *scratch, struct dtx_builder *to)
{
	uint8_t sum[DTX_SHA256_SIZE];
	char hex[DTX_SHA256_HEX];
	struct dtx_sha256 sha;

	dtx_sha256_init(&sha);
	for (uint32_t i = 0; i < s->nhash; i++) {
		struct dtx_str text;
		uint8_t len[8];
		bool null;

		dtx_buf_reset(scratch);
		text = dtx_cell_text(in->col[s->hash[i]], row, scratch, &null);
		for (int k = 0; k < 8; k++)
			len[k] = (uint8_t)((null ? UINT64_MAX : (uint64_t)text.len) >> (8 * k));
		dtx_sha256_add(&sha, len, sizeof(len));
		dtx_sha256_add(&sha, text.ptr, null ? 0 : text.len);
	}
	dtx_sha256_done(&sha, sum);
	dtx_hex(sum, sizeof(sum), hex);
	dtx_builder_text(to, (struct dtx_str){ hex, sizeof(hex) - 1 });
}

static enum dtx_code id_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                              struct dtx_emit *out, struct dtx_err *err)
{
	const struct id_state *s = ox->bound;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, ox->out->field[0].type, in->nrows);
	if (s->nhash)
		for (uint32_t row = 0; row < in->nrows; row++)
			hash_row(s, in, row, &scratch, &to);
	else
		DTX_TRY(number_rows(ox, local, in, &to, err));
	if (!dtx_buf_ok(&scratch))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	DTX_TRY(dtx_colmap_apply(ox, &s->map, in, err));
	dtx_batch_put(in, 0, made);
	made = NULL;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_column_unref(made);
	dtx_builder_clear(&to);
	dtx_buf_clear(&scratch);
	return rc;
}

static void id_explain(const void *args, struct dtx_buf *out)
{
	const struct id_args *a = args;

	if (a->hash_of) {
		dtx_buf_printf(out, "add %s, a fingerprint of ", a->as);
		dtx_cols_print(a->hash_of, out);
		return;
	}
	dtx_buf_printf(out, "number the rows from %lld in %s", (long long)a->start, a->as);
	if (a->by) {
		dtx_buf_add(out, ", from 1 again for each ");
		dtx_cols_print(a->by, out);
	}
}

static bool id_pandas(const void *args, struct dtx_buf *out)
{
	const struct id_args *a = args;
	struct dtx_buf by = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = !a->hash_of && (!a->by || dtx_cols_pandas(a->by, &by));

	if (ok) {
		dtx_buf_add(out, "pd.concat([pd.Series(");
		if (a->by)
			dtx_buf_printf(out,
			               "df0.groupby(%s, dropna=False, sort=False).cumcount() + "
			               "%lld, index=df0.index, name=",
			               dtx_buf_text(&by), (long long)a->start);
		else
			dtx_buf_printf(out, "range(%lld, len(df0) + %lld), index=df0.index, name=",
			               (long long)a->start, (long long)a->start);
		dtx_py_text(out, a->as);
		dtx_buf_add(out, ", dtype=\"int64\"), df0], axis=1)");
	}
	dtx_buf_clear(&by);
	return ok;
}

static const struct dtx_map id_map = {
	.init_local = id_init,
	.batch = id_batch,
	.free_local = id_free_local,
};

/* A fingerprint is of the row's own cells; a number counts the rows before it. */
static void id_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (json_object_get(canonical, "hash_of")) {
		facts->values = DTX_VALUES_ANY;
		facts->borrows = false;
	}
}

const struct dtx_op dtx_op_add_id = {
	.name = "add_id",
	.aliases = "row_number,with_row_index,add_row_number,row_index",
	.ninputs = 1,
	.flags = DTX_OP_ORDERED | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Number the rows, or fingerprint their cells",
	.notes = "The new column is the first. A fingerprint is the SHA-256, in hex, of the cells "
		 "as written, each after its length (8 bytes, little endian; all ones for null).",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_KEPT, .borrows = true },
	.facts_of = id_facts,
	.params = id_params,
	.nparams = DTX_COUNT(id_params),
	.examples = id_examples,
	.nexamples = DTX_COUNT(id_examples),
	.args_size = sizeof(struct id_args),
	.check = id_check,
	.bind = id_bind,
	.map = &id_map,
	.explain = id_explain,
	.pandas = id_pandas,
};
