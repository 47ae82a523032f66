/* Folds inputs that dtx_expand_input made of several files back into one, with the steps
 * renumbered. */
#include "core/plan/exec/together.h"

#include <string.h>

#include "core/base/text/json.h"
#include "core/plan/plan_internal.h"
#include "core/plan/parse/expand_globs.h"

struct folding {
	const struct dtx_plan *from;
	struct dtx_together *to;
	int32_t *step;  /* for each step of `from`: its number in `to`; -1: it became an input */
	int32_t *input; /* for each step of `from` that became an input: its number */
};

/* The step that concatenates the files of one input; NULL: input i is a single file without columns
 * of its own. */
static const struct dtx_plan_step *union_of(const struct dtx_plan *p, uint32_t i)
{
	for (uint32_t s = 0; s < p->nsteps && p->step[s].number < 0; s++)
		if (p->step[s].table[0] == (int32_t)i && p->step[s].op &&
		    p->step[s].op->facts.rows == DTX_ROWS_UNION)
			return &p->step[s];
	return NULL;
}

/* The number in the folded plan of table `id`. */
static int32_t folded(const struct folding *f, int32_t id)
{
	int32_t s = id - (int32_t)f->from->ninputs;

	if (id < 0)
		return id;
	if (s < 0)
		return (int32_t)f->to->of[id];
	return f->step[s] < 0 ? f->input[s] : (int32_t)f->to->plan.ninputs + f->step[s];
}

/* Sets the description that the plan gives of the whole input. */
static enum dtx_code fold_canonical(struct folding *f, const struct dtx_plan_step *st,
                                    struct dtx_plan_input *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *o = json_copy((json_t *)(uintptr_t)in->canonical);
	const char *as = dtx_json_text(st->canonical, "source_as", NULL);

	if (!o || !dtx_json_set(o, "name", json_string(st->out_name)) ||
	    !dtx_json_set(o, "columns", json_incref(json_object_get(st->canonical, "columns"))) ||
	    (as && !dtx_json_set(o, "source_file", json_string(as))) ||
	    (json_object_get(st->canonical, "constants") &&
	     !dtx_json_set(o, "partitions", json_true())) ||
	    !dtx_part_keep(&f->to->plan, json_incref(o)))
		DTX_FAIL_MEM(err);
	in->canonical = o;
out:
	json_decref(o);
	return rc;
}

static enum dtx_code fold_files(struct folding *f, uint32_t first, const struct dtx_plan_step *st,
                                uint32_t to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_input *in = &f->to->plan.input[to];
	struct dtx_plan_file *file = dtx_arena_zalloc(&f->to->arena, st->ntables, sizeof(*file));

	if (!file)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < st->ntables; k++) {
		file[k].path = f->from->input[first + k].path;
		file[k].shown = f->from->input[first + k].shown;
		f->to->of[first + k] = to;
	}
	f->to->file[to] = file;
	f->to->nfiles[to] = st->ntables;
	f->input[st - f->from->step] = (int32_t)to;
	in->name = in->opts.alias = st->out_name;
	DTX_TRY(fold_canonical(f, st, in, err));
out:
	return rc;
}

static enum dtx_code fold_inputs(struct folding *f, const struct dtx_exec_result *bound,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_together *to = f->to;

	for (uint32_t i = 0; i < f->from->ninputs; to->plan.ninputs++) {
		const struct dtx_plan_step *st = union_of(f->from, i);
		uint32_t n = to->plan.ninputs;

		to->plan.input[n] = f->from->input[i];
		to->bound.input[n] = bound->input[i];
		to->of[i] = n;
		if (st) {
			to->bound.input[n].schema = bound->step[st - f->from->step].schema;
			DTX_TRY(fold_files(f, i, st, n, err));
		}
		i += st ? st->ntables : 1;
	}
	to->bound.ninputs = to->plan.ninputs;
out:
	return rc;
}

static void fold_rules(const struct folding *f, struct dtx_rules *r)
{
	for (uint32_t k = 0; k < r->ntables; k++)
		r->table[k] = folded(f, r->table[k]);
}

static enum dtx_code fold_steps(struct folding *f, const struct dtx_exec_result *bound,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan *to = &f->to->plan;

	for (uint32_t i = 0; i < f->from->nsteps; i++)
		f->step[i] = f->input[i] >= 0 ? -1 : (int32_t)to->nsteps++;
	for (uint32_t i = 0; i < f->from->nsteps; i++) {
		const struct dtx_plan_step *st = &f->from->step[i];
		int32_t *table;

		if (f->step[i] < 0)
			continue;
		table = dtx_arena_alloc(&f->to->arena, st->ntables, sizeof(*table));
		if (!table)
			DTX_FAIL_MEM(err);
		for (uint32_t k = 0; k < st->ntables; k++)
			table[k] = folded(f, st->table[k]);
		to->step[f->step[i]] = *st;
		to->step[f->step[i]].table = table;
		fold_rules(f, &to->step[f->step[i]].rules);
		f->to->bound.step[f->step[i]] = bound->step[i];
	}
	for (uint32_t i = 0; i < to->noutputs; i++)
		to->output[i].table = folded(f, to->output[i].table);
	fold_rules(f, &to->rules);
	to->result = folded(f, to->result);
	f->to->bound.nsteps = to->nsteps;
out:
	return rc;
}

enum dtx_code dtx_together(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                           struct dtx_together *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena *a = &out->arena;
	struct folding f = { plan, out, NULL, NULL };

	*out = (struct dtx_together){ .plan = *plan, .bound = *bound };
	out->plan.ninputs = out->plan.nsteps = 0;
	out->plan.input = dtx_arena_zalloc(a, plan->ninputs, sizeof(*out->plan.input));
	out->plan.step = dtx_arena_zalloc(a, plan->nsteps + 1u, sizeof(*out->plan.step));
	out->plan.output = dtx_arena_alloc(a, plan->noutputs, sizeof(*out->plan.output));
	out->plan.kept = json_array();
	out->bound.input = dtx_arena_zalloc(a, plan->ninputs, sizeof(*out->bound.input));
	out->bound.step = dtx_arena_zalloc(a, plan->nsteps + 1u, sizeof(*out->bound.step));
	out->of = dtx_arena_zalloc(a, plan->ninputs, sizeof(*out->of));
	out->file = dtx_arena_zalloc(a, plan->ninputs, sizeof(struct dtx_plan_file *));
	out->nfiles = dtx_arena_zalloc(a, plan->ninputs, sizeof(*out->nfiles));
	f.step = dtx_arena_alloc(a, plan->nsteps + 1u, sizeof(*f.step));
	f.input = dtx_arena_alloc(a, plan->nsteps + 1u, sizeof(*f.input));
	if (!out->plan.input || !out->plan.step || !out->plan.output || !out->plan.kept ||
	    !out->bound.input || !out->bound.step || !out->of || !out->file || !out->nfiles ||
	    !f.step || !f.input)
		DTX_FAIL_MEM(err);
	memcpy(out->plan.output, plan->output, plan->noutputs * sizeof(*plan->output));
	for (uint32_t i = 0; i < plan->nsteps; i++)
		f.input[i] = -1;
	DTX_TRY(fold_inputs(&f, bound, err));
	DTX_TRY(fold_steps(&f, bound, err));
out:
	return rc;
}

enum dtx_code dtx_together_spread(const struct dtx_together *f, struct dtx_plan *plan,
                                  struct dtx_errlist *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	/* from the last to the first: expanding an input moves only those after it */
	for (uint32_t i = f->plan.ninputs; i-- > 0;)
		if (f->file[i])
			DTX_TRY(dtx_expand_input(plan, i, f->file[i], f->nfiles[i], findings, err));
out:
	return rc;
}

void dtx_together_clear(struct dtx_together *f)
{
	json_decref(f->plan.kept);
	dtx_arena_clear(&f->arena);
	*f = (struct dtx_together){ .of = NULL };
}
