/* The error codes that may hand a step or an input to a snippet while rows are read; `dtx explain`
 * lists them. */
#include "core/plan/exec/stats/run_stats.h"

static void add_code(struct dtx_buf *out, const char *code)
{
	struct dtx_str rest = dtx_buf_str(out), word;

	while (dtx_str_next(&rest, ',', &word))
		if (dtx_str_is(word, code))
			return;
	dtx_buf_printf(out, "%s%s", out->len ? "," : "", code);
}

static void add_codes(struct dtx_buf *out, const char *list)
{
	struct dtx_str rest = dtx_str_of(list ? list : ""), word;
	char code[64];

	while (dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(code, sizeof(code), word);
		add_code(out, code);
	}
}

/* The values of a declared column are made by the first step that needs them, so it may fail
 * there. */
static void add_declared(struct dtx_buf *out, const struct dtx_field *f)
{
	if (!f->source || !f->declared || f->type.type == DTX_T_TEXT)
		return;
	add_code(out, "cast_failed");
	if ((f->type.type == DTX_T_DATE || f->type.type == DTX_T_DATETIME) && !f->format)
		add_code(out, "ambiguous_date");
}

static const char *keep(struct dtx_arena *a, struct dtx_buf *text)
{
	const char *copy = text->fail ? NULL : dtx_arena_strdup(a, dtx_buf_text(text));

	dtx_buf_clear(text);
	return copy;
}

const char *dtx_step_triggers(const struct dtx_graph *g, uint32_t s, struct dtx_arena *a)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	const struct dtx_bind *b = g->flow.bind[s];
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (st->trigger != DTX_OK)
		add_code(&out, dtx_code_name(st->trigger));
	if (!b || !st->op)
		return keep(a, &out);
	/* a macro knows more of what its core steps get, such as that keys are unique */
	add_codes(&out, st->macro ? st->macro->op->triggers : st->op->triggers);
	for (size_t i = 0; i < b->nuses; i++)
		if (b->use[i].demand == DTX_NEED_VALUE &&
		    b->use[i].col < b->in[b->use[i].table]->nfields)
			add_declared(&out, &b->in[b->use[i].table]->field[b->use[i].col]);
	if (b->casts)
		add_codes(&out, "cast_failed,ambiguous_date");
	return keep(a, &out);
}

const char *dtx_input_triggers(const struct dtx_graph *g, uint32_t i, struct dtx_arena *a)
{
	const struct dtx_plan_input *in = &g->plan->input[i];
	const struct dtx_reader *r = g->reader ? g->reader[i] : NULL;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (in->opts.stream) /* a stream cannot be read again for a snippet */
		return keep(a, &out);
	/* an input that is open has passed these checks */
	if (!r)
		add_codes(&out, "header_not_found,multiple_tables,ambiguous_dialect,"
		                "ambiguous_column,missing_column");
	if (in->opts.ragged == DTX_RAGGED_ERROR && (!r || dtx_str_in_list(r->cls->uses, "ragged")))
		add_code(&out, "ragged_rows");
	return keep(a, &out);
}
