/* Proposes to split texts, and to make records from blocks of rows. */
#include <string.h>

#include "cli/suggest/example/reshape.h"

static const char *const text_seps[] = { ", ", " - ", " ", "-", "_", ",", "/", ";", ":", "|", "." };

static size_t text_pieces(const char *text, const char *sep)
{
	size_t n = 1;

	for (; text && (text = strstr(text, sep)); text += strlen(sep))
		n++;
	return n;
}

/* Whether every value of the column has `n` pieces. */
static bool text_parts(const struct dtx_textgrid *g, uint32_t col, const char *sep, size_t n)
{
	int64_t r, values = 0;

	for (r = 0; r < g->nrows; r++) {
		const char *text = dtx_textgrid_at(g, r, col);

		if (text && text_pieces(text, sep) != n)
			return false;
		values += text != NULL;
	}
	return values > 0;
}

static void text_split(struct dtx_reshape *s)
{
	for (uint32_t c = 0; c < s->have->ncols && s->nfresh > 1; c++)
		for (size_t k = 0; k < DTX_COUNT(text_seps); k++) {
			if (!text_parts(s->have, c, text_seps[k], s->nfresh))
				continue;
			dtx_reshape_add(s, json_pack("{ss ss ss so sb}", "op", "split_column",
			                             "col", s->have->name[c], "sep", text_seps[k],
			                             "into", dtx_reshape_list(s->fresh, s->nfresh),
			                             "trim", 1));
			break;
		}
}

/* Proposes to make one row of every n rows. */
static void text_blocks(struct dtx_reshape *s)
{
	uint32_t every = s->have->ncols ? s->want->ncols / s->have->ncols : 0;

	if (every > 1 && every * s->have->ncols == s->want->ncols)
		dtx_reshape_add(s, json_pack("{ss si}", "op", "unstack_blocks", "every", every));
	every = s->want->nrows ? (uint32_t)(s->have->nrows / s->want->nrows) : 0;
	if (every > 1 && every <= 64 && every * s->want->nrows == s->have->nrows &&
	    s->want->ncols > s->have->ncols)
		dtx_reshape_add(s, json_pack("{ss si}", "op", "unstack_blocks", "every", every));
	if (s->have->ncols == 2)
		dtx_reshape_add(s, json_pack("{ss}", "op", "pivot_records"));
}

void dtx_reshape_texts(struct dtx_reshape *s)
{
	text_split(s);
	text_blocks(s);
}
