/* Finds the borders of morsels, see split.h. */
#include "core/io/csv/split.h"

#include "core/base/memory/mem.h"

struct dtx_split_chunk {
	struct dtx_scan_chunk count;
	bool counted;
	/* The position from which `count` holds: the border of the chunk; or the start of a record
	 * after it, if the chunk before was read record by record. */
	size_t entry;
	bool inside, exact;
	size_t start; /* start of the first record; the end of the chunk if it has none */
};

enum dtx_code dtx_split_init(struct dtx_split *s, const struct dtx_csv_text *text,
                             const struct dtx_scan_fns *fns, size_t begin, size_t chunk,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	memset(s, 0, sizeof(*s));
	s->text = *text;
	s->fns = fns;
	s->begin = s->last = s->entry = begin;
	s->chunk = chunk ? chunk : DTX_SPLIT_CHUNK;
	s->n = (text->end - begin + s->chunk - 1) / s->chunk;
	s->item = dtx_mem_zalloc(s->n, sizeof(*s->item));
	if (!s->item)
		DTX_FAIL_MEM(err);
	pthread_mutex_init(&s->lock, NULL);
out:
	return rc;
}

void dtx_split_from(struct dtx_split *s, size_t first, size_t entry)
{
	memset(s->item, 0, s->n * sizeof(*s->item)); /* what was found from another beginning */
	s->known = s->first = first;
	s->last = s->entry = entry;
}

void dtx_split_clear(struct dtx_split *s)
{
	if (s->item)
		pthread_mutex_destroy(&s->lock);
	dtx_mem_free(s->item);
	memset(s, 0, sizeof(*s));
}

static size_t split_from(const struct dtx_split *s, size_t k)
{
	return s->begin + k * s->chunk;
}

static size_t split_to(const struct dtx_split *s, size_t k)
{
	return k + 1 < s->n ? split_from(s, k + 1) : s->text.end;
}

static struct dtx_scan_chunk split_count(const struct dtx_split *s, size_t from, size_t to)
{
	const char *d = s->text.data;
	struct dtx_scan_chunk count;

	s->fns->count(d + from, to - from, s->text.set, from > s->begin ? d[from - 1] : '\n',
	              to < s->text.end ? (unsigned char)d[to] : -1, &count);
	return count;
}

/* The first start of a record at or after `stop`, read from the last known one. */
static size_t split_read(const struct dtx_split *s, size_t stop)
{
	struct dtx_csv_row row;
	size_t at = s->last;

	while (at < stop && at < s->text.end) {
		dtx_csv_row_read(&s->text, at, NULL, 0, &row);
		at = row.next;
	}
	return at;
}

/* Whether the count can be used. With strict quotes an irregular quote is a fault and not data, but
 * the borders are the same. */
static bool split_regular(const struct dtx_split_chunk *c)
{
	return c->count.regular[c->inside];
}

/* Finds the first record of chunk k; the chunks before must be done. */
static void split_resolve(struct dtx_split *s, size_t k)
{
	struct dtx_split_chunk *c = &s->item[k], *p = k > s->first ? c - 1 : NULL;
	size_t from = split_from(s, k), to = split_to(s, k);

	if (p && p->entry < from && split_regular(p)) {
		c->entry = from;
		c->inside = p->inside ^ p->count.odd;
	} else {
		c->entry = !p ? s->entry : p->entry >= from ? p->entry : split_read(s, from);
		c->exact = true;
		if (c->entry > from || (p && !split_regular(p))) {
			uint32_t newlines = c->count.newlines;
			bool high = c->count.high;

			c->count = split_count(s, DTX_MIN(c->entry, to), to);
			c->count.newlines = newlines;
			c->count.high = high;
		}
	}
	if (c->exact)
		c->start = DTX_MIN(c->entry, to);
	else if (split_regular(c))
		c->start = dtx_csv_row_seek(&s->text, from, c->inside, to);
	else
		c->start = DTX_MIN(split_read(s, from), to);
	if (c->start < to)
		s->last = c->start;
}

void dtx_split_get(struct dtx_split *s, size_t k, struct dtx_morsel *out)
{
	struct dtx_split_chunk *c = &s->item[k];
	struct dtx_scan_chunk count;
	size_t j;

	/* Counting takes most of the time, so workers do it in parallel, without the lock. It also
	 * loads the chunk into the cache of the worker. */
	count = split_count(s, split_from(s, k), split_to(s, k));
	pthread_mutex_lock(&s->lock);
	if (!c->counted)
		c->count = count;
	c->counted = true;
	for (j = s->known; j <= k; j++) {
		if (!s->item[j].counted) /* another worker is counting it: do not wait */
			s->item[j].count = split_count(s, split_from(s, j), split_to(s, j));
		s->item[j].counted = true;
		split_resolve(s, j);
		s->known = j + 1;
	}
	*out = (struct dtx_morsel){ .start = c->start,
		                    .stop = split_to(s, k),
		                    .from = split_from(s, k),
		                    .to = split_to(s, k),
		                    .records = count.newlines + 1,
		                    .high = count.high };
	pthread_mutex_unlock(&s->lock);
}

size_t dtx_split_start(struct dtx_split *s, size_t k)
{
	struct dtx_morsel m;
	bool known;

	if (k >= s->n)
		return s->text.end;
	pthread_mutex_lock(&s->lock);
	known = k < s->known;
	m.start = known ? s->item[k].start : 0;
	pthread_mutex_unlock(&s->lock);
	if (!known)
		dtx_split_get(s, k, &m);
	return m.start;
}
