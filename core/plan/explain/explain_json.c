/* The physical plan as JSON. Its JSON Schema is in explain_schema.c. */
#include "core/base/memory/mem.h"
#include "core/plan/explain/explain.h"

static json_t *or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* Appends item, whose reference it takes. Frees the list on failure. NULL in, NULL out. */
static json_t *append(json_t *list, json_t *item)
{
	if (list && item && json_array_append_new(list, item) == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *codes_json(const char *list)
{
	struct dtx_str rest = dtx_str_of(list ? list : ""), word;
	json_t *out = json_array();

	while (out && rest.len && dtx_str_next(&rest, ',', &word))
		out = append(out, json_stringn(word.ptr, word.len));
	return out;
}

static json_t *type_json(struct dtx_typeref t)
{
	struct dtx_buf text = DTX_BUF_INIT(256);
	json_t *out;

	dtx_type_print(t, &text);
	out = json_string(dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return out;
}

/* The columns of a result; null: they are known when the plan runs. */
static json_t *schema_json(const struct dtx_schema *s)
{
	json_t *out = s ? json_array() : json_null();

	for (uint32_t i = 0; out && s && i < s->nfields; i++)
		out = append(out, json_pack("{s:s,s:o}", "name", s->field[i].name, "type",
		                            type_json(s->field[i].type)));
	return out;
}

/* --- inputs --- */

static json_t *columns_json(const struct dtx_exec_input *x)
{
	json_t *out = x->schema ? json_array() : json_null();

	for (uint32_t i = 0; out && x->schema && i < x->schema->nfields; i++) {
		const struct dtx_field *f = &x->schema->field[i];

		out = append(out, json_pack("{s:s,s:o,s:s,s:s?,s:s}", "name", f->name, "type",
		                            type_json(f->type), "evidence",
		                            dtx_explain_evidence(x, f), "format", f->format, "need",
		                            dtx_explain_need[x->need ? x->need[i] : 0]));
	}
	return out;
}

static json_t *maybe_rows(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

static json_t *maybe_step(int32_t step)
{
	return step < 0 ? json_null() : json_integer(step);
}

static json_t *read_stats(const struct dtx_exec_input *x)
{
	if (!x->read)
		return json_null();
	return json_pack("{s:I,s:I,s:b}", "rows_read", (json_int_t)x->stats.rows_read, "rows_out",
	                 (json_int_t)x->stats.rows_out, "stopped_early", x->stats.stopped_early);
}

static json_t *input_json(const struct dtx_plan *plan, const struct dtx_exec_result *r, uint32_t i)
{
	const struct dtx_exec_input *x = &r->input[i];

	return json_pack("{s:s,s:s?,s:s?,s:o,s:o,s:b,s:i,s:o,s:o,s:o}", "name", plan->input[i].name,
	                 "path", plan->input[i].path, "reader", x->reader, "found",
	                 x->describe ? json_incref(x->describe) : json_null(), "columns",
	                 columns_json(x), "open", x->schema ? (int)x->schema->open : 1, "threads",
	                 (int)x->workers, "needs_snippet",
	                 or_null(dtx_explain_needs(plan, r, -1, (int32_t)i)), "may_fall_back",
	                 codes_json(x->triggers), "counts", read_stats(x));
}

/* --- pipelines --- */

static json_t *table_json(const struct dtx_plan *plan, int32_t table)
{
	if ((uint32_t)table < plan->ninputs)
		return json_pack("{s:s}", "input", plan->input[table].name);
	return json_pack("{s:i}", "step", (int)((uint32_t)table - plan->ninputs));
}

static json_t *source_json(const struct dtx_plan *plan, const struct dtx_phys_source *source)
{
	json_t *steps = json_array();

	for (uint32_t i = 0; steps && i < source->nsteps; i++)
		steps = append(steps, json_integer(source->step[i]));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:I,s:i,s:o}", "from",
	                 table_json(plan, source->table), "steps", steps, "filter_in_reader",
	                 maybe_step(source->narrowed ? (int32_t)source->step[0] : -1),
	                 "rows_wanted", maybe_rows(source->limit), "rows_wanted_by",
	                 maybe_step(source->limit_step), "fragments", (json_int_t)source->fragments,
	                 "steps_in_fragments", (int)source->spread, "step_by_keys",
	                 maybe_step((int32_t)source->by_keys - 1));
}

static json_t *pipe_json(const struct dtx_plan *plan, const struct dtx_phys_pipe *p)
{
	json_t *sources = json_array();
	bool output = p->end == DTX_PHYS_OUTPUT;

	for (uint32_t i = 0; sources && i < p->nsources; i++)
		sources = append(sources, source_json(plan, &p->source[i]));
	return json_pack("{s:o,s:s,s:o,s:o}", "legs", sources, "end", dtx_phys_end_name[p->end],
	                 "step", maybe_step(output ? -1 : p->of), "output",
	                 maybe_step(output ? p->of : -1));
}

/* --- steps --- */

static json_t *drops_json(const struct dtx_exec_step *x)
{
	json_t *out = json_object();

	for (uint32_t k = 0; out && k < x->ndrops; k++)
		if (!dtx_json_set(out, x->drop[k].reason, json_integer(x->drop[k].n))) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

static json_t *counts_json(const struct dtx_exec_result *r, const struct dtx_exec_step *x)
{
	if (r->phase != DTX_PHASE_RUN)
		return json_null();
	return json_pack("{s:I,s:I,s:b,s:I,s:o,s:I,s:o}", "rows_in", (json_int_t)x->rows_in,
	                 "rows_out", (json_int_t)x->rows_out, "stopped_early", x->stopped_early,
	                 "ns", (json_int_t)x->ns, "memory_bytes",
	                 x->bytes ? json_integer(x->bytes) : json_null(), "spilled_bytes",
	                 (json_int_t)x->spilled, "reasons", drops_json(x));
}

static json_t *reader_json(const struct dtx_plan *plan, const struct dtx_phys *p, uint32_t i)
{
	int32_t input = dtx_explain_reader(p, i);

	return or_null(input < 0 ? NULL : plan->input[input].name);
}

static json_t *step_json(const struct dtx_plan *plan, const struct dtx_exec_result *r, uint32_t i)
{
	const struct dtx_plan_step *st = &plan->step[i];
	const struct dtx_exec_step *x = &r->step[i];
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	unsigned pipe = dtx_explain_pipe(&r->phys, i);
	json_t *out;

	dtx_explain_step(st, &text);
	out = json_pack("{s:i,s:o,s:s,s:s,s:s,s:s?,s:s?,s:o,s:b,s:o,s:o,s:o,s:o,s:b,s:o,s:O}",
	                "step", (int)i, "written",
	                st->number < 0 ? json_null() : json_integer(st->number), "op",
	                dtx_plan_step_name(st), "kind", dtx_explain_kind(st, x), "text",
	                dtx_buf_text(&text), "note", st->note, "out", st->out_name, "columns",
	                schema_json(x->schema), "open", x->schema ? (int)x->schema->open : 1,
	                "pipeline", pipe ? json_integer(pipe) : json_null(), "in_reader_of",
	                reader_json(plan, &r->phys, i), "needs_snippet",
	                or_null(dtx_explain_needs(plan, r, (int32_t)i, -1)), "may_fall_back",
	                codes_json(x->triggers), "fallback_off", st->fallback_off, "counts",
	                counts_json(r, x), "canonical", st->canonical);
	dtx_buf_clear(&text);
	return out;
}

/* --- the whole document --- */

static void formula_json(void *arg, const struct dtx_exec_lineage *l)
{
	json_t **list = arg;

	*list = append(*list, json_pack("{s:s,s:s,s:s}", "column", l->out_col, "formula",
	                                l->formula, "composed", l->composed));
}

static json_t *formulas_json(const struct dtx_exec_result *r)
{
	json_t *out = json_array();

	dtx_explain_formulas(r, formula_json, &out);
	return out;
}

static json_t *run_json(const struct dtx_exec_result *r)
{
	if (r->phase != DTX_PHASE_RUN)
		return json_null();
	return json_pack("{s:I,s:I,s:i}", "ns", (json_int_t)r->ns, "memory_bytes",
	                 (json_int_t)dtx_mem_peak(), "restarts", (int)r->restarts);
}

json_t *dtx_explain_json(const struct dtx_plan *plan, const struct dtx_exec_result *r)
{
	json_t *inputs = json_array(), *steps = json_array(), *pipes = json_array();

	for (uint32_t i = 0; inputs && i < plan->ninputs; i++)
		inputs = append(inputs, input_json(plan, r, i));
	for (uint32_t i = 0; steps && i < plan->nsteps; i++)
		steps = append(steps, step_json(plan, r, i));
	for (uint32_t i = 0; pipes && i < r->phys.npipes; i++)
		pipes = append(pipes, pipe_json(plan, &r->phys.pipe[i]));
	return json_pack("{s:s,s:s?,s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "id", plan->id, "name",
	                 plan->name, "phase", dtx_explain_phase[r->phase], "threads",
	                 (int)r->workers, "memory_limit",
	                 dtx_mem_limit() ? json_integer((json_int_t)dtx_mem_limit()) : json_null(),
	                 "inputs", inputs, "steps", steps, "pipelines", pipes, "formulas",
	                 formulas_json(r), "run", run_json(r));
}
