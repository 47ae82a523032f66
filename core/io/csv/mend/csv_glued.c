/* Repairs a record in which a delimiter is missing next to a quote: 5,Boots"Warm, dry",7 and
 * "Boots, tall""Warm, dry",7. */
#include "core/base/memory/buf.h"
#include "core/io/csv/csv_ref.h"

#define GLUED_WAYS 16u /* number of places between two quotes that are tried */

struct glued {
	struct dtx_str line;
	char delim, quote;
	unsigned way;   /* the place between two quotes that gets a delimiter, from 1 */
	unsigned pairs; /* number of such places so far */
	struct dtx_buf *out;
};

static bool glued_ends(const struct glued *g, size_t at)
{
	return at >= g->line.len || g->line.ptr[at] == g->delim;
}

/* Whether a quote between texts opens a cell: it closes later, before a delimiter or the end of the
 * line. */
static bool glued_opens(const struct glued *g, size_t at)
{
	const char *p = g->line.ptr;

	if (p[at - 1] == ' ' || at + 1 >= g->line.len || p[at + 1] == ' ')
		return false;
	for (at++; at < g->line.len; at++)
		if (p[at] == g->quote && glued_ends(g, at + 1))
			return true;
	return false;
}

/* Whether to separate here, between two quotes that are next to texts and neither of which ends a
 * cell. */
static bool glued_parts_pair(struct glued *g, size_t at)
{
	const char *p = g->line.ptr;

	return !glued_ends(g, at + 2) && p[at + 2] != g->quote && p[at + 2] != ' ' &&
	       p[at - 1] != ' ' && ++g->pairs == g->way;
}

/* Copies a cell in quotes, after its opening quote; returns its end. */
static size_t glued_quoted(struct glued *g, size_t at)
{
	const char *p = g->line.ptr;

	for (; at < g->line.len; at++) {
		dtx_buf_addc(g->out, p[at]);
		if (p[at] != g->quote)
			continue;
		if (at + 1 < g->line.len && p[at + 1] == g->quote) {
			if (glued_parts_pair(g, at)) {
				dtx_buf_addc(g->out, g->delim);
				return at + 1;
			}
			dtx_buf_addc(g->out, p[++at]);
			continue;
		}
		if (!glued_ends(g, at + 1))
			dtx_buf_addc(g->out, g->delim);
		return at + 1;
	}
	return at;
}

/* Copies a cell without quotes, up to a quote that opens in it. */
static size_t glued_plain(struct glued *g, size_t at)
{
	const char *p = g->line.ptr;
	size_t from = at;

	for (; !glued_ends(g, at); at++) {
		if (p[at] == g->quote && at > from && glued_opens(g, at)) {
			dtx_buf_addc(g->out, g->delim);
			return at;
		}
		dtx_buf_addc(g->out, p[at]);
	}
	return at;
}

bool dtx_csv_glued(struct dtx_str line, const struct dtx_dialect *d, unsigned way,
                   struct dtx_buf *out)
{
	struct glued g = { line, d->delim[0], d->quote, way, 0, out };
	size_t at = 0;

	dtx_buf_reset(out);
	if (!d->quote || d->escape || !d->delim[0] || d->delim[1] || way > GLUED_WAYS ||
	    !memchr(line.ptr, d->quote, line.len))
		return false;
	while (at < line.len) {
		if (line.ptr[at] == g.delim) {
			dtx_buf_addc(out, g.delim);
			at++;
		} else if (line.ptr[at] == g.quote) {
			dtx_buf_addc(out, g.quote);
			at = glued_quoted(&g, at + 1);
		} else {
			at = glued_plain(&g, at);
		}
	}
	return way <= g.pairs;
}
