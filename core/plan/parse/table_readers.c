/* Finds which steps, checks and outputs read each table of a plan. */
#include "core/plan/plan_internal.h"

static bool is_written(const struct dtx_plan *p, int32_t table)
{
	for (uint32_t i = 0; i < p->noutputs; i++)
		if (p->output[i].table == table)
			return true;
	return false;
}

bool dtx_plan_checks_apart(const struct dtx_plan *p)
{
	return (p->rules.n || !dtx_expect_empty(p->expect)) && !is_written(p, p->result);
}

static void rules_readers(const struct dtx_rules *r, uint32_t *readers)
{
	for (uint32_t k = 0; k < r->ntables; k++)
		if (r->table[k] >= 0)
			readers[r->table[k]]++;
}

static bool rules_use(const struct dtx_rules *r, int32_t table)
{
	for (uint32_t k = 0; k < r->ntables; k++)
		if (r->table[k] == table)
			return true;
	return false;
}

void dtx_plan_readers(const struct dtx_plan *p, uint32_t *readers)
{
	for (uint32_t i = 0; i < p->nsteps; i++)
		for (uint32_t k = 0; k < p->step[i].ntables; k++)
			if (p->step[i].table[k] >= 0)
				readers[p->step[i].table[k]]++;
	for (uint32_t i = 0; i < p->nsteps; i++)
		rules_readers(&p->step[i].rules, readers);
	rules_readers(&p->rules, readers);
	for (uint32_t i = 0; i < p->noutputs; i++)
		if (p->output[i].table >= 0)
			readers[p->output[i].table]++;
	if (dtx_plan_checks_apart(p))
		readers[p->result]++;
}

bool dtx_plan_uses(const struct dtx_plan *p, int32_t table)
{
	for (uint32_t i = 0; i < p->nsteps; i++)
		for (uint32_t k = 0; k < p->step[i].ntables; k++)
			if (p->step[i].table[k] == table)
				return true;
	for (uint32_t i = 0; i < p->nsteps; i++)
		if (rules_use(&p->step[i].rules, table))
			return true;
	return rules_use(&p->rules, table) || is_written(p, table) ||
	       (table == p->result && dtx_plan_checks_apart(p));
}
