/* Finds operations by name and alias; counts rows dropped and values lost, and collects
 * warnings. */
#include "core/plan/op.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* The preset of an alias: for "left_join:how=left,..." and left_join it is "how=left". */
static const char *preset_of(const struct dtx_op *op, const char *alias)
{
	struct dtx_str rest = { op->presets, op->presets ? strlen(op->presets) : 0 }, piece;
	size_t n = strlen(alias);

	while (op->presets && dtx_str_next(&rest, ',', &piece))
		if (piece.len > n && memcmp(piece.ptr, alias, n) == 0 && piece.ptr[n] == ':')
			return piece.ptr + n + 1;
	return NULL;
}

const struct dtx_op *dtx_op_find(const char *name, const char **preset)
{
	if (preset)
		*preset = NULL;
	for (size_t i = 0; dtx_ops[i]; i++) {
		if (strcmp(dtx_ops[i]->name, name) == 0)
			return dtx_ops[i];
		if (dtx_ops[i]->aliases && dtx_str_in_list(dtx_ops[i]->aliases, name)) {
			if (preset)
				*preset = preset_of(dtx_ops[i], name);
			return dtx_ops[i];
		}
	}
	return NULL;
}

const struct dtx_op *dtx_op_named(const char *name)
{
	for (size_t i = 0; dtx_ops[i]; i++) {
		if (!strcmp(dtx_ops[i]->name, name))
			return dtx_ops[i];
	}
	return NULL;
}

struct dtx_op_facts dtx_op_facts(const struct dtx_op *op, const json_t *canonical)
{
	struct dtx_op_facts facts = { .rows = DTX_ROWS_WHOLE };

	if (!op)
		return facts;
	facts = op->facts;
	if (op->facts_of)
		op->facts_of(canonical, &facts);
	return facts;
}

const struct dtx_field dtx_cells_fields[] = {
	{ .name = DTX_CELLS_FROM, .type = { .type = DTX_T_INT64 } },
	{ .name = DTX_CELLS_OF, .type = { .type = DTX_T_TEXT } },
	{ .name = DTX_CELLS_KIND, .type = { .type = DTX_T_TEXT } },
};

size_t dtx_op_names(const char **names, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; dtx_ops[i] && n < max; i++)
		names[n++] = dtx_ops[i]->name;
	return n;
}

void dtx_op_count(const struct dtx_opctx *ox, const char *reason, int64_t n)
{
	struct dtx_opstat *st = ox->stat;

	if (!st || n == 0)
		return;
	for (unsigned i = 0; i < DTX_STAT_REASONS; i++) {
		const char *have = atomic_load(&st->drop[i].reason);

		/* The first worker that comes claims the slot. Any other one compares with what
		 * that one wrote. */
		if (!have && atomic_compare_exchange_strong(&st->drop[i].reason, &have, reason))
			have = reason;
		if (strcmp(have, reason) == 0) {
			atomic_fetch_add(&st->drop[i].n, n);
			return;
		}
	}
}

void dtx_op_evals(const struct dtx_opctx *ox, const struct dtx_eval_counts *counts)
{
	dtx_op_count(ox, "div_zero", counts->div_zero);
	dtx_op_count(ox, "not_finite", counts->not_finite);
	dtx_op_count(ox, "tried", counts->tried);
	dtx_op_count(ox, "offset", counts->offsets);
}

/* b NULL: the warning is about no row. */
static DTX_PRINTF(7, 0) void op_warn(const struct dtx_opctx *ox, enum dtx_code code,
                                     const struct dtx_batch *b, uint32_t row, int32_t column,
                                     int64_t count, const char *fmt, va_list ap)
{
	struct dtx_err f = DTX_ERR_INIT;
	char text[sizeof(f.msg)];

	if (!ox->warnings)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	dtx_err_set(&f, code, __FILE__, __LINE__, "%s", text);
	if (b)
		dtx_batch_set_position(b, row, column, &f);
	f.severity = DTX_SEV_WARNING;
	f.run_time = true;
	f.count = count;
	dtx_err_step(&f, ox->step, NULL);
	pthread_mutex_lock(ox->warn_lock);
	if (!dtx_errlist_take(ox->warnings, &f))
		ox->warnings->dropped++;
	pthread_mutex_unlock(ox->warn_lock);
	dtx_err_clear(&f);
}

void dtx_op_warn(const struct dtx_opctx *ox, enum dtx_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	op_warn(ox, code, NULL, 0, -1, -1, fmt, ap);
	va_end(ap);
}

void dtx_op_warn_at(const struct dtx_opctx *ox, enum dtx_code code, const struct dtx_batch *b,
                    uint32_t row, int32_t column, int64_t count, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	op_warn(ox, code, b, row, column, count, fmt, ap);
	va_end(ap);
}
