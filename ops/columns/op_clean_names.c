/* clean_names: turns column names into lower-case words joined by _. */
#include "core/base/text/utf8.h"
#include "ops/kit/newnames.h"
#include "ops/kit/opkit.h"

struct clean_args {
	int style;
	bool ascii;
};

static const struct dtx_param clean_params[] = {
	{ .name = "style",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct clean_args, style),
	  .choices = "snake",
	  .def = "\"snake\"",
	  .help = "lower case, words joined by _" },
	{ .name = "ascii",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct clean_args, ascii),
	  .def = "false",
	  .help = "write letters without accents, and drop other characters" },
};
static const struct dtx_example clean_examples[] = {
	{ .step = DTX_JSON({ "op" : "clean_names" }),
	  .in = " Net Sales (USD) ,Größe,%,net sales usd\n1,2,3,4\n",
	  .out = "net_sales_usd,größe,column_3,net_sales_usd_2\n1,2,3,4\n" },
	{ .step = DTX_JSON({ "op" : "safenames", "ascii" : true }),
	  .in = "Größe,Œuvre à Łódź,日本\n1,2,3\n",
	  .out = "grosse,oeuvre_a_lodz,column_3\n1,2,3\n" },
};

/* Makes a name of the letters and digits in lower case, with one _ for each run of other characters
 * between them. */
static const char *clean_name(struct dtx_bind *b, const char *name, bool ascii,
                              struct dtx_buf *work)
{
	struct dtx_buf *lower = &work[0], *out = &work[1];
	struct dtx_str s = dtx_str_of(name);
	size_t pos = 0;
	bool gap = false;

	dtx_buf_reset(lower);
	dtx_buf_reset(out);
	if (ascii) {
		dtx_utf8_to_ascii(out, s, "_");
		s = dtx_buf_str(out);
	}
	dtx_utf8_lower(lower, s);
	dtx_buf_reset(out);
	while (pos < lower->len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(lower->ptr, lower->len, &pos);

		if (!dtx_utf8_is_word(cp)) {
			gap = true;
			continue;
		}
		if (gap && out->len)
			dtx_buf_addc(out, '_');
		gap = false;
		dtx_buf_addn(out, lower->ptr + from, pos - from);
	}
	return dtx_buf_ok(lower) && dtx_buf_ok(out) ? dtx_arena_strdup(b->arena, dtx_buf_text(out))
	                                            : NULL;
}

static enum dtx_code clean_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct clean_args *a = args;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	uint32_t n = b->in[0]->nfields, repeats;
	const char **name = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*name));
	struct dtx_buf work[2] = { DTX_BUF_INIT(DTX_BUF_TEXT_MAX), DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	enum dtx_code rc = DTX_OK;

	if (!map || !name)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		name[i] = clean_name(b, b->in[0]->field[i].name, a->ascii, work);
		if (!name[i])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_names_fit(name, n, b->arena, &repeats, err));
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, name[i], err));
	b->renames = true;
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	dtx_buf_clear(&work[0]);
	dtx_buf_clear(&work[1]);
	return rc;
}

static void clean_explain(const void *args, struct dtx_buf *out)
{
	const struct clean_args *a = args;

	dtx_buf_printf(out, "make column names lower case%s, words joined by _",
	               a->ascii ? " ASCII" : "");
}

const struct dtx_op dtx_op_clean_names = {
	.name = "clean_names",
	.aliases = "safenames",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make column names easy to write",
	.notes = "Lower case; runs of characters other than letters and digits become _, and are "
		 "dropped at the ends. A name with nothing left is column_N, repeated names get "
		 "_2, _3.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_RENAMED },
	.params = clean_params,
	.nparams = DTX_COUNT(clean_params),
	.examples = clean_examples,
	.nexamples = DTX_COUNT(clean_examples),
	.args_size = sizeof(struct clean_args),
	.bind = clean_bind,
	.map = &dtx_colmap_move,
	.explain = clean_explain,
};
