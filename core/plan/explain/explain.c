/* The physical plan as text for people: inputs and what their readers do, pipelines, steps,
 * formulas. */
#include "core/plan/explain/explain.h"

#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/plan/bind/across.h"

#define COLUMNS_SHOWN 30

const char *const dtx_explain_need[] = { "skip", "bytes", "value" };
const char *const dtx_explain_phase[] = { "static", "bound", "run" };

/* --- shared with explain_json.c --- */

const char *dtx_explain_kind(const struct dtx_plan_step *st, const struct dtx_exec_step *x)
{
	if (x->kind && x->kind[0])
		return x->kind;
	if (!st->op || st->trigger != DTX_OK)
		return "snippet";
	if (st->op->flags & DTX_OP_BUILD && st->ntables > 1)
		return "sink";
	if (st->op->map)
		return "map";
	return st->op->sink ? "sink" : "whole";
}

void dtx_explain_step(const struct dtx_plan_step *st, struct dtx_buf *out)
{
	struct dtx_buf json = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (st->macro) {
		st->macro->op->explain(st->macro->args, out);
		return;
	}
	if (st->op && !st->broken && st->op->explain) {
		st->op->explain(st->args, out);
		dtx_across_explain(st, out);
		return;
	}
	if (st->canonical) {
		dtx_json_print(st->canonical, 0, &json);
		dtx_buf_add(out, dtx_buf_text(&json));
	}
	dtx_buf_clear(&json);
}

const char *dtx_explain_evidence(const struct dtx_exec_input *x, const struct dtx_field *f)
{
	if (f->declared)
		return "declared";
	if (!x->reader)
		return "used so by the steps";
	if (f->guessed)
		return "sample";
	return strcmp(x->reader, "snippet") == 0 ? "snippet" : "all values";
}

void dtx_explain_formulas(const struct dtx_exec_result *r,
                          void (*fn)(void *arg, const struct dtx_exec_lineage *l), void *arg)
{
	for (size_t i = 0; i < r->nlineage; i++) {
		const struct dtx_exec_lineage *l = &r->lineage[i];
		bool first = !i || l->out_col != l[-1].out_col || l->output != l[-1].output;

		if (l->formula && l->composed && first)
			fn(arg, l);
	}
}

const char *dtx_explain_needs(const struct dtx_plan *plan, const struct dtx_exec_result *r,
                              int32_t step, int32_t input)
{
	for (uint32_t i = 0; i < r->nregions; i++) {
		const struct dtx_exec_region *g = &r->region[i];

		if (input >= 0 ? g->input == input
		               : g->input < 0 && step >= (int32_t)g->first &&
		                         step < (int32_t)(g->first + g->count))
			return dtx_code_name(g->trigger.code);
	}
	if (step >= 0 && plan->step[step].trigger != DTX_OK)
		return dtx_code_name(plan->step[step].trigger);
	return NULL;
}

static bool has_step(const struct dtx_phys_pipe *p, uint32_t step)
{
	for (uint32_t l = 0; l < p->nsources; l++)
		for (uint32_t i = 0; i < p->source[l].nsteps; i++)
			if (p->source[l].step[i] == step)
				return true;
	return p->end != DTX_PHYS_OUTPUT && p->of == (int32_t)step;
}

unsigned dtx_explain_pipe(const struct dtx_phys *p, uint32_t step)
{
	unsigned found = 0;

	/* a join is filled by one pipeline and runs in a later one: the later counts */
	for (uint32_t i = 0; i < p->npipes; i++)
		if (has_step(&p->pipe[i], step))
			found = (unsigned)i + 1;
	return found;
}

int32_t dtx_explain_reader(const struct dtx_phys *p, uint32_t step)
{
	for (uint32_t i = 0; i < p->npipes; i++)
		for (uint32_t l = 0; l < p->pipe[i].nsources; l++)
			if (p->pipe[i].source[l].narrowed && p->pipe[i].source[l].step[0] == step)
				return p->pipe[i].source[l].table;
	return -1;
}

/* The number of a step as written; one written step may stand for several. "-": the plan has none,
 * since the step concatenates the files of an input. */
static const char *number_of(const struct dtx_plan *plan, uint32_t step, char buf[16])
{
	int32_t number = dtx_plan_step_number(plan, (int32_t)step);

	snprintf(buf, 16, number ? "%d" : "-", (int)number);
	return buf;
}

/* Ends a line that began at byte `from`.  Names of columns may have line breaks, and notes other
 * control characters: they are written as \n, \xHH or \uHHHH, so that a plan cannot make lines of
 * its own. */
static void end_line(struct dtx_buf *out, size_t from)
{
	struct dtx_buf line = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!dtx_buf_ok(out))
		return;
	dtx_buf_addn(&line, out->ptr + from, out->len - from);
	out->len = from;
	dtx_utf8_spell(out, dtx_buf_str(&line), dtx_utf8_hides, "");
	dtx_buf_addc(out, '\n');
	dtx_buf_clear(&line);
}

/* --- inputs --- */

static void count_cols(const struct dtx_schema *s, struct dtx_buf *out)
{
	uint32_t unknown = 0;

	if (!s) {
		dtx_buf_add(out, "columns known when it runs");
		return;
	}
	for (uint32_t i = 0; i < s->nfields; i++)
		unknown += s->field[i].type.type == DTX_T_UNKNOWN;
	dtx_buf_printf(out, "%u column%s", (unsigned)s->nfields, s->nfields == 1 ? "" : "s");
	if (unknown)
		dtx_buf_printf(out, ", %u of unknown type", (unsigned)unknown);
	if (s->open)
		dtx_buf_add(out, ", open");
}

static void found_text(const char *name, const json_t *value, struct dtx_buf *out)
{
	if (json_is_string(value))
		dtx_buf_printf(out, ", %s '%s'", name, json_string_value(value));
	else if (json_is_integer(value))
		dtx_buf_printf(out, ", %s %lld", name, (long long)json_integer_value(value));
}

/* Writes format, encoding, sheet and dialect, as they were detected. */
static void describe_text(const struct dtx_exec_input *x, struct dtx_buf *out)
{
	static const char *const members[][2] = { { "sheet", "sheet" },
		                                  { "range", "range" },
		                                  { "header_rows", "header rows" } };
	const json_t *d = x->describe, *dialect = json_object_get(d, "dialect");

	dtx_buf_printf(out, "  found   %s", dtx_json_text(d, "format", x->reader));
	if (dtx_json_text(d, "encoding", NULL))
		dtx_buf_printf(out, ", %s", dtx_json_text(d, "encoding", ""));
	for (size_t i = 0; i < DTX_COUNT(members); i++)
		found_text(members[i][1], json_object_get(d, members[i][0]), out);
	found_text("delimiter", json_object_get(dialect, "delimiter"), out);
	found_text("quote", json_object_get(dialect, "quote"), out);
	dtx_buf_addc(out, '\n');
	if (json_is_true(json_object_get(d, "stream")))
		dtx_buf_add(out, "  stream  read once as the bytes come; nothing is spooled\n");
}

static void column_text(const struct dtx_exec_input *x, uint32_t c, struct dtx_buf *out)
{
	const struct dtx_field *f = &x->schema->field[c];
	struct dtx_buf type = DTX_BUF_INIT(256);
	size_t from = out->len;

	dtx_type_print(f->type, &type);
	dtx_buf_printf(out, "    %-20s %-9s %s", f->name, dtx_buf_text(&type),
	               dtx_explain_evidence(x, f));
	if (f->format)
		dtx_buf_printf(out, ", format %s", f->format);
	dtx_buf_printf(out, "; read as %s", dtx_explain_need[x->need[c]]);
	end_line(out, from);
	dtx_buf_clear(&type);
}

/* Writes the columns that are read, and how many are not. */
static void columns_text(const struct dtx_exec_input *x, struct dtx_buf *out)
{
	uint32_t shown = 0, skipped = 0, more = 0;

	for (uint32_t c = 0; x->need && c < x->schema->nfields; c++) {
		if (x->need[c] == DTX_NEED_SKIP)
			skipped++;
		else if (shown++ < COLUMNS_SHOWN)
			column_text(x, c, out);
		else
			more++;
	}
	if (more)
		dtx_buf_printf(out, "    and %u more\n", (unsigned)more);
	if (skipped)
		dtx_buf_printf(out, "    skipped: %u column%s that no step needs\n",
		               (unsigned)skipped, skipped == 1 ? "" : "s");
}

/* Writes "a,b" as "a, b". */
static void codes_text(const char *list, struct dtx_buf *out)
{
	struct dtx_str rest = dtx_str_of(list), word;

	for (bool first = true; dtx_str_next(&rest, ',', &word); first = false)
		dtx_buf_printf(out, "%s%.*s", first ? "" : ", ", (int)word.len, word.ptr);
	dtx_buf_addc(out, '\n');
}

static void pushed_text(const struct dtx_plan *plan, const struct dtx_phys *p, uint32_t i,
                        struct dtx_buf *out)
{
	char number[16];
	size_t from;

	for (uint32_t k = 0; k < p->npipes; k++)
		for (uint32_t l = 0; l < p->pipe[k].nsources; l++) {
			const struct dtx_phys_source *source = &p->pipe[k].source[l];

			if (source->table != (int32_t)i)
				continue;
			if (source->narrowed) {
				from = out->len;
				dtx_buf_printf(out, "  filter  step %s in the reader: ",
				               number_of(plan, source->step[0], number));
				dtx_explain_step(&plan->step[source->step[0]], out);
				end_line(out, from);
			}
			if (source->limit >= 0)
				dtx_buf_printf(
					out,
					"  limit   step %s: the reader stops after %lld "
					"rows or a little later\n",
					number_of(plan, (uint32_t)source->limit_step, number),
					(long long)source->limit);
		}
}

static void input_text(const struct dtx_plan *plan, const struct dtx_exec_result *r, uint32_t i,
                       struct dtx_buf *out)
{
	const struct dtx_exec_input *x = &r->input[i];
	bool by_snippet = x->reader && strcmp(x->reader, "snippet") == 0;
	const char *needs = dtx_explain_needs(plan, r, -1, (int32_t)i);
	size_t from = out->len;

	dtx_buf_printf(out, "input %s: %s%s  ", plan->input[i].name, by_snippet ? "snippet " : "",
	               plan->input[i].path ? plan->input[i].path : "(no file yet)");
	if (!x->schema)
		dtx_buf_add(out, by_snippet ? "columns known when it runs" : "not read");
	else
		count_cols(x->schema, out);
	if (x->read)
		dtx_buf_printf(out, "; %lld rows read, %lld out%s", (long long)x->stats.rows_read,
		               (long long)x->stats.rows_out,
		               x->stats.stopped_early ? " (stopped early)" : "");
	end_line(out, from);
	if (x->describe && !by_snippet)
		describe_text(x, out);
	if (x->schema)
		columns_text(x, out);
	pushed_text(plan, &r->phys, i, out);
	if (needs) {
		dtx_buf_printf(out, "  needs a snippet: %s\n", needs);
	} else if (x->triggers && x->triggers[0]) {
		dtx_buf_add(out, "  may fall back: ");
		codes_text(x->triggers, out);
	}
}

/* --- pipelines --- */

static void end_text(const struct dtx_plan *plan, const struct dtx_phys_pipe *p,
                     struct dtx_buf *out)
{
	const char *path = p->end == DTX_PHYS_OUTPUT ? plan->output[p->of].path : NULL;
	char number[16];

	switch (p->end) {
	case DTX_PHYS_OUTPUT: dtx_buf_printf(out, "output %s", path ? path : "-"); break;
	case DTX_PHYS_NOWHERE: dtx_buf_add(out, "checks only"); break;
	default:
		dtx_buf_printf(out, "%s of %s %s", dtx_phys_end_name[p->end],
		               number_of(plan, (uint32_t)p->of, number),
		               dtx_plan_step_name(&plan->step[p->of]));
	}
}

/* What fragments do of a pipeline, if an engine is named, and what is left for this process. */
static void spread_text(const struct dtx_plan *plan, const struct dtx_phys_pipe *p,
                        struct dtx_buf *out)
{
	char number[16];

	for (uint32_t i = 0; i < p->nsources; i++) {
		const struct dtx_phys_source *s = &p->source[i];

		if (!s->fragments)
			continue;
		dtx_buf_printf(out,
		               "  %llu fragment%s of input %s:", (unsigned long long)s->fragments,
		               s->fragments > 1 ? "s" : "", plan->input[s->table].name);
		for (uint32_t k = 0; k < s->spread; k++)
			dtx_buf_printf(out, "%s %s %s", k ? "," : "",
			               number_of(plan, s->step[k], number),
			               dtx_plan_step_name(&plan->step[s->step[k]]));
		if (!s->spread && !p->spread_end)
			dtx_buf_add(out, " reading");
		if (s->by_keys) {
			dtx_buf_printf(out, ", then %s %s by its keys, in further fragments",
			               number_of(plan, s->by_keys - 1, number),
			               dtx_plan_step_name(&plan->step[s->by_keys - 1]));
		} else if (p->spread_end) {
			dtx_buf_add(out, s->spread ? ", " : " ");
			dtx_buf_add(out,
			            p->end == DTX_PHYS_OUTPUT ? "text of the " : "states of the ");
			end_text(plan, p, out);
			dtx_buf_add(out, p->end == DTX_PHYS_OUTPUT ? "; this process joins the text"
			                                           : "; this process merges them");
		} else {
			dtx_buf_add(out, "; this process does the rest");
		}
		dtx_buf_addc(out, '\n');
	}
}

static void source_text(const struct dtx_plan *plan, const struct dtx_phys_source *source,
                        struct dtx_buf *out)
{
	char number[16];

	if ((uint32_t)source->table < plan->ninputs)
		dtx_buf_printf(out, "input %s", plan->input[source->table].name);
	else
		dtx_buf_printf(
			out, "result of %s %s",
			number_of(plan, (uint32_t)source->table - plan->ninputs, number),
			dtx_plan_step_name(&plan->step[(uint32_t)source->table - plan->ninputs]));
	if (source->first_rows)
		dtx_buf_printf(out, ", first %llu rows", (unsigned long long)source->first_rows);
	for (uint32_t i = 0; i < source->nsteps; i++) {
		const struct dtx_plan_step *st = &plan->step[source->step[i]];

		if (i && st->macro && st->macro == plan->step[source->step[i - 1]].macro)
			continue;
		dtx_buf_printf(out, " > %s %s%s", number_of(plan, source->step[i], number),
		               dtx_plan_step_name(st),
		               !i && source->narrowed ? " (in the reader)" : "");
	}
}

static void pipes_text(const struct dtx_plan *plan, const struct dtx_phys *p, struct dtx_buf *out)
{
	for (uint32_t i = 0; i < p->npipes; i++) {
		size_t from = out->len;

		dtx_buf_printf(out, "pipeline %u: ", (unsigned)i + 1);
		for (uint32_t l = 0; l < p->pipe[i].nsources; l++) {
			dtx_buf_add(out, l ? ", then " : "");
			source_text(plan, &p->pipe[i].source[l], out);
		}
		dtx_buf_add(out, " > ");
		end_text(plan, &p->pipe[i], out);
		end_line(out, from);
		spread_text(plan, &p->pipe[i], out);
	}
}

/* --- steps --- */

/* A step as written: what its core steps did together. */
static struct dtx_exec_step written_step(const struct dtx_exec_result *r, uint32_t first,
                                         uint32_t count)
{
	struct dtx_exec_step sum = r->step[first];

	for (uint32_t i = first + 1; i < first + count; i++) {
		const struct dtx_exec_step *x = &r->step[i];

		sum.rows_out = x->rows_out;
		sum.schema = x->schema;
		sum.ns += x->ns;
		sum.bytes = DTX_MAX(sum.bytes, x->bytes);
		sum.spilled += x->spilled;
		if (!sum.triggers || !sum.triggers[0])
			sum.triggers = x->triggers;
	}
	return sum;
}

static void counts_text(const struct dtx_exec_step *x, struct dtx_buf *out)
{
	dtx_buf_printf(out, "  %lld rows in, %lld out, %.3f s", (long long)x->rows_in,
	               (long long)x->rows_out, (double)x->ns / 1e9);
	if (x->bytes)
		dtx_buf_printf(out, ", %.1f MB", (double)x->bytes / 1e6);
	if (x->spilled)
		dtx_buf_printf(out, ", %.1f MB spilled", (double)x->spilled / 1e6);
	for (uint32_t k = 0; k < x->ndrops; k++)
		dtx_buf_printf(out, ", %lld %s", (long long)x->drop[k].n, x->drop[k].reason);
	if (x->table_hash[0])
		dtx_buf_printf(out, ", %s", x->table_hash);
	dtx_buf_add(out, x->stopped_early ? " (stopped early)\n" : "\n");
}

static void step_text(const struct dtx_plan *plan, const struct dtx_exec_result *r, uint32_t i,
                      struct dtx_buf *out)
{
	const struct dtx_plan_step *st = &plan->step[i], *last;
	const char *needs = dtx_explain_needs(plan, r, (int32_t)i, -1);
	struct dtx_exec_step sum, *x = &sum;
	uint32_t first, count;
	size_t from = out->len;
	char number[16];

	dtx_plan_span(plan, i, &first, &count);
	if (i != first)
		return;
	sum = written_step(r, first, count);
	last = &plan->step[first + count - 1];
	dtx_buf_printf(out, "%s %-12s %-7s ", number_of(plan, i, number), dtx_plan_step_name(st),
	               st->macro && !needs ? "macro" : dtx_explain_kind(st, x));
	dtx_explain_step(st, out);
	dtx_buf_add(out, "  ");
	count_cols(x->schema, out);
	if (last->out_name)
		dtx_buf_printf(out, "  -> %s", last->out_name);
	end_line(out, from);
	from = out->len;
	if (st->note) {
		dtx_buf_printf(out, "  # %s", st->note);
		end_line(out, from);
	}
	if (r->phase == DTX_PHASE_RUN)
		counts_text(x, out);
	if (needs) {
		dtx_buf_printf(out, "  needs a snippet: %s\n", needs);
	} else if (x->triggers && x->triggers[0]) {
		dtx_buf_printf(out, "  may fall back%s: ",
		               st->fallback_off ? ", but for \"fallback\": \"off\"" : "");
		codes_text(x->triggers, out);
	}
}

struct formulas {
	struct dtx_buf *out;
	bool any;
};

static void formula_text(void *arg, const struct dtx_exec_lineage *l)
{
	struct formulas *f = arg;
	size_t from;

	if (!f->any)
		dtx_buf_add(f->out, "formulas down to the inputs:\n");
	f->any = true;
	from = f->out->len;
	dtx_buf_printf(f->out, "  %s = %s", l->out_col, l->composed);
	end_line(f->out, from);
}

static void run_text(const struct dtx_exec_result *r, struct dtx_buf *out)
{
	char limit[64] = "";

	if (dtx_mem_limit())
		snprintf(limit, sizeof(limit), "; memory limit %.0f MB",
		         (double)dtx_mem_limit() / 1e6);
	dtx_buf_printf(out, "%u thread%s%s\n", r->workers, r->workers == 1 ? "" : "s", limit);
	if (r->phase == DTX_PHASE_RUN)
		dtx_buf_printf(out,
		               "it ran: %.3f s, %.1f MB at most, %u restart%s; no output was "
		               "written\n",
		               (double)r->ns / 1e9, (double)dtx_mem_peak() / 1e6,
		               (unsigned)r->restarts, r->restarts == 1 ? "" : "s");
}

enum dtx_code dtx_explain_text(const struct dtx_plan *plan, const struct dtx_exec_result *r,
                               struct dtx_buf *out, struct dtx_err *err)
{
	struct formulas formulas = { .out = out };

	for (uint32_t i = 0; i < plan->ninputs; i++)
		input_text(plan, r, i, out);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		step_text(plan, r, i, out);
	dtx_explain_formulas(r, formula_text, &formulas);
	pipes_text(plan, &r->phys, out);
	run_text(r, out);
	return dtx_buf_check(out, "explanation", err);
}
