/* Steps that hold a whole table, such as a pivot, decide how much memory a plan needs. Where the
 * table is an input of plain text all of whose rows reach the step, its size can be estimated from
 * the file: rows from the length of lines in three samples, bytes per row from the types. So a run
 * that cannot fit is refused at once and not after a minute. */
#include "core/plan/exec/memory_need.h"

#include "core/base/memory/mem.h"

enum { PLACES = 3 };
#define SAMPLE_BYTES ((size_t)256 << 10)
/* A sample with fewer lines than this may be JSON that has many rows on one line. */
#define LINES_LEAST 8u
/* per row, in addition to its columns: keys, places and order; and what every run needs */
#define ROW_BYTES 64
#define RUN_BYTES ((uint64_t)24 << 20)

struct rows {
	uint64_t least, most;
	uint64_t text; /* bytes of an average row; 0: not known, nor is `most` */
};

/* The range of the number of rows, from the lines per byte at the start, in the middle and at the
 * end of the file. A quoted cell may span lines, so then the lower bound is 0. */
static struct rows rows_of(const struct dtx_source *src)
{
	const size_t size = dtx_source_size(src), n = DTX_MIN(size, SAMPLE_BYTES);
	struct rows r = { UINT64_MAX, 0, 0 };
	bool few = false;

	if (dtx_source_passes(src) || !n || memchr(dtx_source_data(src), 0, DTX_MIN(n, 512)))
		return (struct rows){ 0, 0, 0 };
	for (int i = 0; i < PLACES; i++) {
		const char *at = dtx_source_data(src) + (size - n) / (PLACES - 1) * (size_t)i;
		uint64_t lines = 1, rows; /* the last line may have no end */

		for (const char *p = at; (p = memchr(p, '\n', n - (size_t)(p - at))); p++)
			lines++;
		few = few || lines < LINES_LEAST;
		rows = (uint64_t)((double)size / (double)n * (double)lines);
		r.least = memchr(at, '"', n) ? 0 : DTX_MIN(r.least, rows);
		r.most = DTX_MAX(r.most, rows);
	}
	r.text = few && n == SAMPLE_BYTES ? 0 : size / r.most + 1;
	return r;
}

/* Bytes of one value. least: a text may be no more than a code of a dictionary. */
static uint64_t width(const struct dtx_field *f, bool least)
{
	switch (f->type.type) {
	case DTX_T_INT64:
	case DTX_T_FLOAT64:
	case DTX_T_DATETIME: return 8;
	case DTX_T_DATE: return 4;
	case DTX_T_DECIMAL: return 16;
	case DTX_T_TEXT: return least ? 4 : 16;
	default: return least ? 0 : 1;
	}
}

static uint64_t columns(const struct dtx_graph *g, int32_t t, bool least)
{
	const struct dtx_schema *s = g->flow.table[t].schema;
	const uint8_t *need = g->push.need ? g->push.need[t] : NULL;
	uint64_t bytes = 0;

	for (uint32_t i = 0; s && i < s->nfields; i++)
		if (!need ? !least : need[i] != DTX_NEED_SKIP)
			bytes += width(&s->field[i], least);
	return bytes;
}

/* Whether the result of a step has no more rows than its input. Only then does the input's size
 * bound what the step holds: pad_time and complete, for example, make rows. */
static bool bounded(const struct dtx_plan_step *st)
{
	switch (dtx_op_facts(st->op, st->canonical).rows) {
	case DTX_ROWS_SAME:
	case DTX_ROWS_SORTED:
	case DTX_ROWS_FILTERED:
	case DTX_ROWS_CHOSEN:
	case DTX_ROWS_WINDOW:
	case DTX_ROWS_GROUPED: return true;
	default: return false;
	}
}

/* The input that table t is made of, by steps none of which makes rows; -1 if none. *all: whether
 * all of its rows arrive. */
static int32_t input_of(const struct dtx_graph *g, int32_t t, bool *all)
{
	const uint32_t inputs = g->plan->ninputs;

	*all = true;
	while (t >= 0 && (uint32_t)t >= inputs) {
		const struct dtx_plan_step *st = &g->plan->step[(uint32_t)t - inputs];

		if (!st->op || st->ntables > 1 || !bounded(st))
			return -1;
		*all = *all && st->op->flags & DTX_OP_SAME_ROWS;
		t = st->table[0];
	}
	return t;
}

struct dtx_memory_need dtx_memory_need(const struct dtx_graph *g)
{
	struct dtx_memory_need out = { 0, 0, -1 };
	bool known = true; /* whether `enough` bounds all steps that hold a table */

	for (uint32_t s = 0; s < g->plan->nsteps; s++) {
		const struct dtx_plan_step *st = &g->plan->step[s];
		const struct dtx_bind *b = g->flow.bind[s];
		int32_t in = -1;
		struct rows r = { 0, 0, 0 };
		uint64_t least;
		bool all;

		/* a table that goes through in batches takes no memory */
		if (b && b->kind == DTX_KIND_MAP && !b->ordered &&
		    !(st->op->flags & (DTX_OP_BUILD | DTX_OP_ORDERED)))
			continue;
		if (b && st->table[0] >= 0)
			in = input_of(g, st->table[0], &all);
		if (in >= 0 && g->opts->input && g->opts->input[in])
			r = rows_of(g->opts->input[in]);
		known = known && r.text && st->ntables < 2 && bounded(st);
		if (!r.most)
			continue;
		least = r.least / 4 * 3 * columns(g, st->table[0], true);
		if (all && b->kind == DTX_KIND_WHOLE && !b->digest && least > out.least) {
			out.least = least;
			out.step = (int32_t)s;
		}
		out.enough += r.most * (columns(g, st->table[0], false) + r.text + ROW_BYTES +
		                        columns(g, (int32_t)(g->plan->ninputs + s), false));
	}
	out.enough = known && out.enough ? out.enough + RUN_BYTES : 0;
	return out;
}
