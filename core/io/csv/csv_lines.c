/* Lines of rows without reading the text again.
 *
 * Reading a morsel tells whether each of its records is a row of one line, as nearly all are: its
 * lines then follow from its first one.  A record has a line end at least, so that as many ends as
 * records leave none over for a second line or for the other half of CR LF. */
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
	bool open = w->at > w->m.start && !lines_ends(c, w->at - 1, w->at); /* the text's last */
	int64_t ends = w->m.records - 1;

	if (!c->even || w->tally.records != w->tally.kept || w->at < w->m.stop)
		return;
	/* the chunk's were counted; a record begins or ends beside that */
	ends += lines_ends(c, w->m.to, w->at) - lines_ends(c, w->m.from, w->m.start);
	if (ends + open == w->tally.records)
		c->even[w->seq] = (uint32_t)w->tally.records;
}

/* Where the first record that starts in morsel k does; false: none does. */
static bool lines_start(struct dtx_csv *c, uint64_t k, size_t *at)
{
	size_t border = c->split.begin + (k + 1) * c->split.chunk;

	*at = dtx_split_start(&c->split, k);
	return *at < DTX_MIN(border, c->text.end);
}

/* Lines before the first record of morsel k; each is counted once. */
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
	/* const to those that hold batches, as for dtx_csv_locate */
	struct dtx_csv *c = (struct dtx_csv *)(uintptr_t)o->arg;
	uint64_t k = row_id >> 32;
	int64_t line = -1;

	pthread_mutex_lock(&c->lock);
	if (c->even && k < c->split.n && (uint32_t)row_id < c->even[k])
		line = lines_before(c, k) + (uint32_t)row_id + dtx_source_line0(c->head.src);
	pthread_mutex_unlock(&c->lock);
	return line;
}
