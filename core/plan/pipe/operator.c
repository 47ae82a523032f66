/* Opens and closes a map step inside a pipeline: its state, one per worker. */
#include "core/base/memory/mem.h"
#include "core/plan/pipe/pipe.h"

enum dtx_code dtx_operator_open(struct dtx_operator *l, unsigned workers, struct dtx_err *err)
{
	unsigned n = l->ordered ? 1 : workers;
	enum dtx_code rc = DTX_OK;

	l->local = dtx_mem_zalloc(n, sizeof(*l->local));
	if (!l->local)
		DTX_FAIL_MEM(err);
	l->nlocals = n;
	for (unsigned i = 0; l->op->map->init_local && i < n; i++)
		DTX_TRY(l->op->map->init_local(&l->ox[0], &l->local[i], err));
out:
	return rc;
}

void dtx_operator_close(struct dtx_operator *l)
{
	for (unsigned i = 0; l->local && l->op->map->free_local && i < l->nlocals; i++)
		if (l->local[i])
			l->op->map->free_local(&l->ox[0], l->local[i]);
	dtx_mem_free(l->local);
	l->local = NULL;
}
