/* asof_join: for each row, the row of another table that is nearest in time.
 *
 * The other table is kept whole, sorted by time within each key (ops/join/asof); each row then does
 * a binary search. */
#include <math.h>
#include <stdio.h>

#include "ops/join/asof.h"
#include "ops/join/buildside.h"

enum { HOW_LEFT, HOW_INNER };
struct asof_args {
	const char *with;
	struct dtx_plist on, by;
	int dir, how;
	const char *suffix;
	const json_t *tolerance;
	bool allow_exact;
};
struct asof_state {
	struct dtx_key_sides key;
	struct dtx_asof_rule rule;
	int32_t left, right; /* columns with the times */
	struct dtx_colmap lmap, rmap;
};

#define AT(member) .offset = offsetof(struct asof_args, member)
static const struct dtx_param asof_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  AT(with),
	  .aliases = "right,table,other",
	  .help = "the other table" },
	{ .name = "on",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  AT(on),
	  .rows = dtx_key_pair_rows,
	  .nrows = DTX_COUNT(dtx_key_pair_rows),
	  .item_size = sizeof(struct dtx_key_pair),
	  .sugar = DTX_SUGAR_BOTH,
	  .help = "the one pair of columns with times or numbers" },
	{ .name = "by",
	  .kind = DTX_P_LIST,
	  AT(by),
	  .rows = dtx_key_pair_rows,
	  .nrows = DTX_COUNT(dtx_key_pair_rows),
	  .item_size = sizeof(struct dtx_key_pair),
	  .sugar = DTX_SUGAR_BOTH,
	  .aliases = "group_by,groupby,keys",
	  .help = "pairs of columns that must be equal" },
	{ .name = "dir",
	  .kind = DTX_P_CHOICE,
	  AT(dir),
	  .aliases = "direction",
	  .choices = "backward,forward,nearest",
	  .def = "\"backward\"",
	  .help = "the last row not after, the first not before, or the nearer of both" },
	{ .name = "tolerance",
	  .kind = DTX_P_VALUE,
	  AT(tolerance),
	  .schema = "{\"anyOf\":[{\"type\":\"number\",\"minimum\":0},{\"type\":\"string\","
	            "\"pattern\":\"^[0-9]{1,7}(s|min|h|d|w)$\"}]}",
	  .help = "farthest match: a number, for times a duration such as \"7d\" (s min h d w)" },
	{ .name = "allow_exact",
	  .kind = DTX_P_BOOL,
	  AT(allow_exact),
	  .def = "true",
	  .help = "equal times match" },
	{ .name = "how",
	  .kind = DTX_P_CHOICE,
	  AT(how),
	  .choices = "left,inner",
	  .def = "\"left\"",
	  .help = "keep or drop rows without a match" },
	{ .name = "suffix",
	  .kind = DTX_P_TEXT,
	  AT(suffix),
	  .def = "\"_right\"",
	  .help = "added to a column of the other table whose name is taken" },
};
#define TRADES "t,k\n2024-01-05,a\n2024-01-01,a\n2024-01-05,b\n,a\n"
#define PRICES "t,k,p\n2024-01-04,a,1.50\n2024-01-02,a,2\n2024-01-04,a,3\n2024-01-09,b,4\n"
static const struct dtx_example asof_examples[] = {
	{ .step = DTX_JSON({ "op" : "asof_join", "with" : "other", "on" : "t", "by" : "k" }),
	  .in = TRADES,
	  .with = PRICES,
	  .out = "t,k,t_right,p\n2024-01-05,a,2024-01-04,3\n2024-01-01,a,,\n2024-01-05,b,,\n"
	         ",a,,\n" },
	{ .step = DTX_JSON({
		  "op" : "merge_asof",
		  "with" : "other",
		  "on" : { "n" : "m" },
		  "direction" : "nearest",
		  "tolerance" : 2,
		  "how" : "inner"
	  }),
	  .in = "n\n1\n5\n9\n",
	  .with = "m,v\n6.5,x\n4,y\n",
	  .out = "n,m,v\n5,4,y\n" },
	{ .step = DTX_JSON({
		  "op" : "asof_join",
		  "with" : "other",
		  "on" : "n",
		  "dir" : "forward",
		  "allow_exact" : false
	  }),
	  .in = "n\n1\n2\n",
	  .with = "n,v\n2,x\n2,y\n",
	  .out = "n,n_right,v\n1,2,y\n2,,\n" },
	{ .step = DTX_JSON({
		  "op" : "asof_join",
		  "with" : "other",
		  "on" : "t",
		  "tolerance" : "1d",
		  "dir" : "forward"
	  }),
	  .in = "t\n2024-01-01\n2024-01-03\n",
	  .with = "t,v\n2024-01-04T00:00:00,x\n",
	  .out = "t,t_right,v\n2024-01-01,,\n2024-01-03,2024-01-04T00:00:00,x\n" },
	{ .step = DTX_JSON(
		  { "op" : "merge_asof", "with" : "other", "on" : "n", "suffixes" : [ "", "_2" ] }),
	  .in = "n,n_right\n1,x\n3,y\n",
	  .with = "n,v\n2,z\n",
	  .out = "n,n_right,n_2,v\n1,x,,\n3,y,2,z\n" },
	{ .step = DTX_JSON({ "op" : "asof_join", "with" : "other", "on" : "n" }),
	  .in = "n,n_right\n1,x\n",
	  .with = "n,v\n2,z\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'n_right'" },
	{ .step = DTX_JSON({ "op" : "asof_join", "with" : "other", "on" : "k" }),
	  .in = "k\na\n",
	  .with = "k,v\na,1\n",
	  .error = "type_mismatch",
	  .message = "asof_join needs two numbers or two times, 'k' is text and 'k' text" },
	{ .step = DTX_JSON(
		  { "op" : "asof_join", "with" : "other", "on" : "t", "tolerance" : "1mo" }),
	  .in = "t\n2024-01-01\n",
	  .with = "t,v\n2024-01-01,1\n",
	  .error = "bad_param_value",
	  .message = "tolerance '1mo' is not a duration: a number and s, min, h, d or w" },
};

static size_t asof_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct asof_args *)args)->with;
	return 1;
}

static enum dtx_code asof_check(const void *args, struct dtx_err *err)
{
	const struct asof_args *a = args;
	enum dtx_code rc = DTX_OK;
	int64_t us;

	if (a->on.n > 1)
		DTX_PARAM_FAIL(
			err, DTX_E_BAD_PARAM_VALUE, "/on",
			"asof_join takes one pair in on; columns that must be equal belong in by");
	if (json_is_string(a->tolerance) &&
	    !dtx_asof_duration(dtx_str_of(json_string_value(a->tolerance)), &us))
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/tolerance",
		               "tolerance '%s' is not a duration: a number and s, min, h, d or w",
		               json_string_value(a->tolerance));
	if (a->tolerance && !json_is_string(a->tolerance) &&
	    (!json_is_number(a->tolerance) || json_number_value(a->tolerance) < 0))
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/tolerance",
		               "tolerance must be a number not below 0");
out:
	return rc;
}

/* --- binding --- */

static bool is_time(enum dtx_type t)
{
	return t == DTX_T_DATE || t == DTX_T_DATETIME;
}

static bool is_axis(enum dtx_type t)
{
	return t == DTX_T_INT64 || t == DTX_T_FLOAT64 || is_time(t);
}

/* Checks that both sides are numbers or both are times, and that the tolerance fits them. */
static enum dtx_code bind_rule(struct dtx_bind *b, const struct asof_args *a, struct asof_state *s,
                               struct dtx_err *err)
{
	enum dtx_type l = b->in[0]->field[s->left].type.type;
	enum dtx_type r = b->in[1]->field[s->right].type.type;
	enum dtx_code rc = DTX_OK;

	s->rule.dir = (enum dtx_asof_dir)a->dir;
	s->rule.exact = a->allow_exact;
	s->rule.bounded = a->tolerance != NULL;
	s->rule.floats = l == DTX_T_FLOAT64 || r == DTX_T_FLOAT64;
	s->rule.times = is_time(l) || is_time(r);
	if (l == DTX_T_UNKNOWN || r == DTX_T_UNKNOWN || l == DTX_T_NULL || r == DTX_T_NULL)
		goto out;
	if (!is_axis(l) || !is_axis(r) || is_time(l) != is_time(r))
		DTX_TRY(dtx_bind_fail_next(
			b, DTX_E_TYPE_MISMATCH, "/on",
			"convert one of them in a step before (parse_date, parse_number or cast)",
			err, "asof_join needs two numbers or two times, '%s' is %s and '%s' %s",
			b->in[0]->field[s->left].name, dtx_type_name(l),
			b->in[1]->field[s->right].name, dtx_type_name(r)));
	else if (a->tolerance && json_is_string(a->tolerance) != s->rule.times)
		DTX_TRY(dtx_bind_fail_next(
			b, DTX_E_TYPE_MISMATCH, "/tolerance",
			s->rule.times ? "for example \"5min\" or \"2d\"" : "for example 2.5", err,
			"tolerance must be a duration for times, a number for numbers"));
	if (json_is_string(a->tolerance)) {
		(void)dtx_asof_duration(dtx_str_of(json_string_value(a->tolerance)),
		                        &s->rule.tolerance.i);
	} else if (a->tolerance) {
		s->rule.tolerance.f = json_number_value(a->tolerance);
		s->rule.tolerance.i = s->rule.tolerance.f >= 9e18
		                              ? INT64_MAX
		                              : (int64_t)floor(s->rule.tolerance.f);
	}
out:
	return rc;
}

static enum dtx_code bind_right(struct dtx_bind *b, const struct asof_state *s, const char *suffix,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->suffix = suffix;
	for (uint32_t i = 0; i < b->in[1]->nfields; i++) {
		bool key = false;

		for (uint32_t k = 0; k < s->key.right.n; k++)
			key = key || s->key.right.col[k] == (int32_t)i;
		if (!key)
			DTX_TRY(dtx_bind_pass_right(b, (int32_t)i, err));
	}
out:
	return rc;
}

static enum dtx_code asof_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct asof_args *a = args;
	const struct dtx_key_pair *on = a->on.item;
	enum dtx_code rc = DTX_OK;
	struct asof_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_column(b, 0, on->left, "/on/0/left", &s->left, err));
	DTX_TRY(dtx_bind_column(b, 1, on->right, "/on/0/right", &s->right, err));
	DTX_TRY(dtx_keysides_bind(b, &a->by, "by", &s->key, err));
	if (s->left >= 0 && s->right >= 0) {
		DTX_TRY(bind_rule(b, a, s, err));
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->left, DTX_DEMAND_VALUE, err));
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 1, s->right, DTX_DEMAND_VALUE, err));
	}
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(bind_right(b, s, a->suffix, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->lmap, err));
	DTX_TRY(dtx_colmap_bind(b, 1, &s->rmap, err));
out:
	return rc;
}

/* --- running --- */

static void asof_shared_free(const struct dtx_opctx *ox, void *shared)
{
	(void)ox;
	dtx_asof_free(shared);
}

static enum dtx_code asof_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                   void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct asof_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = NULL;
	struct dtx_asof *a = NULL;

	(void)out;
	DTX_TRY(dtx_build_table(ox, locals, n, &s->key, false, &t, err));
	DTX_TRY(dtx_asof_new(t, &s->rule, (uint32_t)s->right, &a, err));
	*shared = a;
out:
	return rc;
}

static void asof_free(const struct dtx_opctx *ox, void *local)
{
	const struct asof_state *s = ox->bound;

	dtx_build_local_free(&s->key, local);
}

static enum dtx_code asof_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct asof_state *s = ox->bound;
	struct dtx_build_local *l = NULL;
	enum dtx_code rc = dtx_build_local_make(&s->key, &l, err);

	*local = l;
	return rc;
}

/* Finds the partner of each selected row. In an inner join, rows without one are dropped. */
static enum dtx_code find_rows(const struct dtx_opctx *ox, struct dtx_build_local *l,
                               struct dtx_batch *in, struct dtx_err *err)
{
	const struct asof_args *a = ox->args;
	const struct asof_state *s = ox->bound;
	const struct dtx_asof *t = ox->shared;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *place = NULL;
	uint32_t n = 0, met = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_flat(in, (uint32_t)s->left, &place, err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t i = 0; i < in->nrows; i++)
		l->which[i] = DTX_NOWHERE;
	for (uint32_t k = 0; k < in->nsel; k++) {
		const struct dtx_rowref *ref = NULL;
		struct dtx_asof_num at;
		uint32_t row = sel[k];

		if (l->probe.id[k] != DTX_GROUP_NONE && dtx_asof_at(&s->rule, place, row, &at))
			ref = dtx_asof_find(t, &s->rule, l->probe.id[k], at);
		if (ref) {
			l->which[row] = ref->batch;
			l->row[row] = ref->row;
			met++;
		}
		if (ref || a->how == HOW_LEFT)
			sel[n++] = sel[k];
	}
	dtx_op_count(ox, a->how == HOW_LEFT ? "unmatched_left" : "unmatched",
	             (int64_t)in->nsel - met);
	in->nsel = n;
out:
	dtx_column_unref(place);
	return rc;
}

static enum dtx_code asof_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct asof_state *s = ox->bound;
	struct dtx_asof *t = ox->shared;
	struct dtx_build_local *l = local;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_join_look(t->table, &s->key.left, false, &l->probe, in, err));
	DTX_TRY(find_rows(ox, l, in, err));
	DTX_TRY(dtx_build_attach(ox, t->table, l, &s->lmap, &s->rmap, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void asof_explain(const void *args, struct dtx_buf *out)
{
	static const char *const which[] = { "last", "first", "nearest" };
	static const char *const where[] = { " that is not after", " that is not before", "" };
	const struct asof_args *a = args;

	dtx_buf_printf(out, "add the %s row of %s%s on ", which[a->dir], a->with, where[a->dir]);
	dtx_keypairs_explain(&a->on, out);
	if (a->by.n)
		dtx_buf_add(out, " with equal ");
	dtx_keypairs_explain(&a->by, out);
}

static const struct dtx_sink asof_sink = {
	.init_local = dtx_build_init,
	.consume = dtx_build_consume,
	.finalize = asof_finalize,
	.free_local = dtx_build_free,
	.free_shared = asof_shared_free,
};
static const struct dtx_map asof_map = {
	.init_local = asof_init,
	.batch = asof_batch,
	.free_local = asof_free,
};

static void asof_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)canonical;
	dtx_buf_printf(out, "no row of '%.80s' uses it", with);
}

const struct dtx_op dtx_op_asof_join = {
	.name = "asof_join",
	.aliases = "merge_asof",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add the row of another table that is nearest in time",
	.notes = "Neither table needs to be sorted; rows of the current one keep their order. Of "
		 "rows with equal times the last counts, of two equally near ones the earlier; "
		 "null never matches. A name that is taken gets the suffix.",
	.facts = { .rows = DTX_ROWS_JOINED, .decides = "on,by", .each_row = true },
	.dropped = asof_dropped,
	.params = asof_params,
	.nparams = DTX_COUNT(asof_params),
	.examples = asof_examples,
	.nexamples = DTX_COUNT(asof_examples),
	.args_size = sizeof(struct asof_args),
	.tables = asof_tables,
	.check = asof_check,
	.bind = asof_bind,
	.map = &asof_map,
	.sink = &asof_sink,
	.explain = asof_explain,
};
