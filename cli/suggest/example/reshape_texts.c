/* Proposes to split and join texts, to make records from blocks of rows, and shares. */
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

/* Takes the separator from the first wanted row. */
static void text_merge(struct dtx_reshape *s)
{
	int32_t at = s->nfresh == 1 ? dtx_textgrid_find(s->want, s->fresh[0]) : -1;
	const char *whole =
		at >= 0 && s->want->nrows ? dtx_textgrid_at(s->want, 0, (uint32_t)at) : NULL;

	if (!whole || s->ngone < 2 || s->ngone > 4)
		return;
	for (size_t k = 0; k <= DTX_COUNT(text_seps); k++) {
		const char *sep = k < DTX_COUNT(text_seps) ? text_seps[k] : "";
		const char *turned[4];

		if (*sep && text_pieces(whole, sep) != s->ngone)
			continue;
		for (size_t i = 0; i < s->ngone; i++)
			turned[i] = s->gone[s->ngone - 1 - i];
		for (int way = 0; way < 2; way++)
			dtx_reshape_add(
				s, json_pack("{ss so ss ss}", "op", "merge_columns", "cols",
			                     dtx_reshape_list(way ? turned : s->gone, s->ngone),
			                     "as", s->fresh[0], "sep", sep));
	}
}

static void text_percent(struct dtx_reshape *s)
{
	for (uint32_t c = 0; c < s->have->ncols; c++) {
		const char *text = s->have->nrows ? dtx_textgrid_at(s->have, 0, c) : NULL;

		if (text && strchr(text, '%'))
			dtx_reshape_add(s, json_pack("{ss s[s] ss}", "op", "parse_number", "cols",
			                             s->have->name[c], "percent", "points"));
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

/* Proposes to join the values of a group; the separator is in the example. */
static void text_implode(struct dtx_reshape *s)
{
	static const char *const sep[] = { ";", ", ", ",", "|", "/", " " };

	if (!s->nboth || s->want->nrows >= s->have->nrows)
		return;
	for (size_t k = 0; k < DTX_COUNT(sep); k++)
		for (uint32_t at = 0; at < s->want->ncols; at++) {
			const char *text = s->want->nrows ? dtx_textgrid_at(s->want, 0, at) : NULL;

			for (size_t i = 0; text && strstr(text, sep[k]) && i < s->ngone; i++)
				dtx_reshape_add(s, json_pack("{ss so ss ss}", "op", "implode", "by",
				                             dtx_reshape_list(s->both, s->nboth),
				                             "col", s->gone[i], "sep", sep[k]));
		}
}

void dtx_reshape_texts(struct dtx_reshape *s)
{
	text_split(s);
	text_blocks(s);
	text_merge(s);
	text_implode(s);
	text_percent(s);
}
