/* Knows the lines of rows without reading the text again.
 *
 * Reading a morsel shows whether each of its records is a row of one line, as nearly all are. Then
 * the line of a row follows from the first line of the morsel. Each record has at least one line
 * end. So if there are as many line ends as records, no record has a second line, and no line end
 * is CR LF. */
#include "core/base/mem.h"
#include "core/io/csv/csv.h"

static int64_t lines_ends(const struct dtx_csv *c, size_t from, size_t to)
{
	int64_t n = 0;

	for (; from < to; from++)
		n += c->text.data[from] == '\n' || c->text.data[from] == '\r';
	return n;
}

void dtx_csv_lines_note(struct dtx_csv *c, const struct dtx_csv_worker *w)
{
	bool open =
		w->at > w->m.start &&
		!lines_ends(c, w->at - 1, w->at); /* the last record of the text has no line end */
	int64_t ends = w->m.records - 1;

	if (!c->even || w->tally.records != w->tally.kept || w->at < w->m.stop)
		return;
	/* The line ends of the chunk were counted before; add those of records that begin or end
	 * outside it. */
	ends += lines_ends(c, w->m.to, w->at) - lines_ends(c, w->m.from, w->m.start);
	if (ends + open == w->tally.records)
		c->even[w->seq] = (uint32_t)w->tally.records;
}

/* Finds the start of the first record in morsel k; false: it has none. */
static bool lines_start(struct dtx_csv *c, uint64_t k, size_t *at)
{
	size_t border = c->split.begin + (k + 1) * c->split.chunk;

	*at = dtx_split_start(&c->split, k);
	return *at < DTX_MIN(border, c->text.end);
}

/* The number of lines before the first record of morsel k. Each line is counted only once. */
static int64_t lines_before(struct dtx_csv *c, uint64_t k)
{
	size_t at;

	for (; c->nline0 <= k; c->nline0++) {
		int64_t n = c->nline0 ? c->even[c->line_of] : 0;

		c->line0[c->nline0] = c->nline0 ? c->line0[c->line_of] : 0;
		if (!lines_start(c, c->nline0, &at))
			continue;
		c->line0[c->nline0] += n ? n : dtx_csv_line(c->text.data, c->line_at, at);
		c->line_at = at;
		c->line_of = c->nline0;
	}
	return c->line0[k];
}

int64_t dtx_csv_lines_before(struct dtx_csv *c, uint64_t k)
{
	int64_t n;

	pthread_mutex_lock(&c->lock);
	n = lines_before(c, k);
	pthread_mutex_unlock(&c->lock);
	return n;
}

int64_t dtx_csv_line_of(const struct dtx_origin *o, uint64_t row_id)
{
	/* const for the holders of batches, see dtx_csv_locate */
	struct dtx_csv *c = (struct dtx_csv *)(uintptr_t)o->arg;
	uint64_t k = row_id >> 32;
	int64_t line = -1;

	pthread_mutex_lock(&c->lock);
	if (c->even && k < c->split.n && (uint32_t)row_id < c->even[k])
		line = lines_before(c, k) + (uint32_t)row_id + dtx_source_line0(c->head.src);
	pthread_mutex_unlock(&c->lock);
	return line;
}
