/* Maker for cells with several values: one text with a separator between them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/propose/makers.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"

enum { PIECES_MAX = 600 };

struct piece {
	uint64_t hash, shape;
	uint64_t cell;        /* hash of its cell */
	uint32_t left, right; /* its place there, from both ends */
	bool alone;           /* it is the whole cell */
};
struct pieces {
	struct piece *piece;
	uint32_t n, cells, split; /* pieces; cells; cells with the separator */
	uint32_t blank, numbers, words, prose;
	uint32_t counts[4]; /* cells with 1, 2, 3, more pieces */
	uint32_t marked;    /* cells with a comma or semicolon */
	uint32_t mixed;     /* pieces with capitals and small letters */
	const char *example;
};

/* The next piece of `rest`, trimmed; false at the end. */
static bool piece_next(struct dtx_str *rest, const char *sep, struct dtx_str *piece)
{
	ptrdiff_t at;

	if (!rest->ptr)
		return false;
	at = dtx_str_find(*rest, dtx_str_of(sep), 0);
	*piece = dtx_utf8_trim(at < 0 ? *rest : (struct dtx_str){ rest->ptr, (size_t)at });
	if (at < 0)
		*rest = (struct dtx_str){ NULL, 0 };
	else
		*rest = (struct dtx_str){ rest->ptr + at + strlen(sep),
			                  rest->len - (size_t)at - strlen(sep) };
	return true;
}

/* Whether a comma is there between the digits of a number, as in "189 - 3,394". */
static bool has_thousands(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ',')) != NULL) {
		if (at > text && isdigit((unsigned char)at[-1]) &&
		    strspn(at + 1, "0123456789") == 3)
			return true;
		at++;
	}
	return false;
}

static uint32_t words_of(struct dtx_str t, bool *function)
{
	struct dtx_str rest = t, word;
	uint32_t n = 0;

	while (dtx_str_next(&rest, ' ', &word)) {
		char low[8];
		size_t i;

		n += word.len > 0;
		if (!word.len || word.len >= sizeof(low))
			continue;
		for (i = 0; i < word.len; i++)
			low[i] = (char)(word.ptr[i] | 32);
		low[i] = '\0';
		*function |= dtx_str_in_list(
			"the,of,with,to,in,was,is,are,for,from,by,that,a,an,on,at", low);
	}
	return n;
}

static bool is_mixed(struct dtx_str t)
{
	bool lower = false, upper = false;
	size_t i;

	for (i = 0; i < t.len; i++) {
		lower |= (t.ptr[i] >= 'a' && t.ptr[i] <= 'z') || (unsigned char)t.ptr[i] >= 0x80;
		upper |= t.ptr[i] >= 'A' && t.ptr[i] <= 'Z';
	}
	return lower && upper;
}

/* Cuts one cell. Returns false if the cell speaks against a list of values, as a date does. */
static bool pieces_cell(struct pieces *p, const char *text, const char *sep)
{
	struct dtx_str rest = dtx_str_of(text), piece = { "", 0 };
	bool split = strstr(text, sep) != NULL, function = false;
	uint64_t whole = dtx_cell_hash(rest);
	uint32_t n = 0, from = p->n, i;
	double x;

	if (split) {
		enum dtx_cell_kind kind = dtx_cell_kind(text, &x);

		if (dtx_kind_is_number(kind) || kind == DTX_LOOKS_DATE || kind == DTX_LOOKS_TIME ||
		    kind == DTX_LOOKS_URL || (*sep == ',' && has_thousands(text)) ||
		    (text[0] == '{' || text[0] == '['))
			return false;
		p->example = p->example ? p->example : text;
	}
	while (piece_next(&rest, sep, &piece)) {
		char copy[64];

		n++;
		if (p->n == PIECES_MAX)
			continue;
		if (!piece.len) {
			p->blank++;
			continue;
		}
		dtx_str_copy(copy, sizeof(copy), piece);
		p->numbers += dtx_kind_is_number(dtx_cell_kind(copy, &x));
		p->words += words_of(piece, &function);
		p->mixed += split && is_mixed(piece);
		p->piece[p->n++] = (struct piece){
			dtx_cell_hash(piece), dtx_cell_shape(piece), whole, n, 0, !split
		};
	}
	for (i = from; i < p->n; i++)
		p->piece[i].right = n - p->piece[i].left;
	p->marked += strpbrk(text, ",;") != NULL;
	p->prose += split && function;
	p->counts[DTX_MIN(n, 4U) - 1]++;
	p->cells++;
	p->split += split;
	return true;
}

/* Whether pieces that are in several cells always have the same place there, from the left or from
 * the right: then they are parts of one thing, as in "Flat 2, High Street, Leeds". */
static bool pieces_stay(const struct pieces *p)
{
	uint32_t i, k, again = 0, moved = 0;

	for (i = 0; i < p->n; i++)
		for (k = 0; k < i; k++) {
			const struct piece *a = &p->piece[i], *b = &p->piece[k];

			if (a->hash != b->hash || a->cell == b->cell || a->alone || b->alone)
				continue;
			again++;
			moved += a->left != b->left && a->right != b->right;
		}
	return again > 2 && moved * 20 < again;
}

/* The share of pieces of split cells that are also in another cell, and that are a whole cell
 * elsewhere; the share of the most frequent shape; and the shares of the pieces that have the shape
 * of a whole cell elsewhere. */
static void pieces_compare(const struct pieces *p, double *recur, double *alone, double *shape,
                           double *alike)
{
	uint32_t i, k, n = 0, again = 0, whole = 0, best = 0, shaped = 0;

	for (i = 0; i < p->n; i++) {
		bool other = false, single = false, form = false;
		uint32_t same = 0;

		for (k = 0; k < p->n; k++) {
			bool equal = p->piece[k].hash == p->piece[i].hash;

			other |= equal && p->piece[k].cell != p->piece[i].cell;
			single |= equal && p->piece[k].alone;
			same += p->piece[k].shape == p->piece[i].shape;
			form |= p->piece[k].alone && p->piece[k].shape == p->piece[i].shape;
		}
		best = DTX_MAX(best, same);
		if (p->piece[i].alone)
			continue;
		n++;
		again += other;
		whole += single;
		shaped += form;
	}
	*recur = n ? (double)again / n : 0;
	*alone = n ? (double)whole / n : 0;
	*alike = n ? (double)shaped / n : 0;
	*shape = p->n ? (double)best / p->n : 0;
}

static bool is_plural(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && name[len - 1] == 's' && name[len - 2] != 's';
}

static double pieces_score(const struct pieces *p, const char *sep, const char *name)
{
	double score, recur, alone, shape, alike, share = (double)p->split / p->cells;
	uint32_t kinds = 0, i, most = 0;
	bool plural = is_plural(name);

	pieces_compare(p, &recur, &alone, &shape, &alike);
	for (i = 0; i < 4; i++) {
		kinds += p->counts[i] > 0;
		most = DTX_MAX(most, p->counts[i]);
	}
	score = 0.2 + 0.25 * DTX_MIN(1.0, share / 0.5) + 0.25 * DTX_MIN(1.0, recur * 1.25) +
	        (alone > 0 ? 0.1 : 0) + 0.15 * shape +
	        (kinds >= 3 || p->counts[3] > 1 ? 0.2
	         : kinds == 2                   ? 0.1
	                                        : 0);
	score += plural ? 0.1 : 0;
	/* single words of one form, as the cells without the separator have it: "AD", "AE,OM,RE" */
	score += alike >= 0.9 && p->words <= p->n && !p->mixed && p->cells > p->split ? 0.15 : 0;
	/* three words or more in each cell are no name */
	score += *sep == ',' && p->words == p->n && p->split == p->counts[2] + p->counts[3] ? 0.1
	                                                                                    : 0;
	score += *sep == '\n' ? 0.2 : *sep == ';' || *sep == '|' ? 0.1 : 0;
	score -= p->prose * 4 > p->split ? 0.5 : 0;
	score -= p->blank * 10 > p->n ? 0.5 : 0;
	score -= p->words > 4 * p->n && *sep != '\n' ? 0.3 : 0;
	score -= p->numbers * 2 > p->n && *sep != ';' && *sep != '\n' ? 0.25 : 0;
	/* always the same number of pieces: parts of one thing, as "Doe, Ann" */
	score -= most == p->cells && p->counts[1] ? 0.2 : 0;
	score -= !pieces_stay(p) ? 0 : kinds < 3 ? 0.25 : 0.12;
	score -= p->words > 2 * p->n && *sep == ',' ? 0.15 : 0;
	/* with blanks between them most texts are phrases */
	if (!strcmp(sep, " "))
		score -= plural && !p->mixed && !p->prose && kinds >= 2 && p->marked * 2 < p->split
		                 ? 0.15
		                 : 0.6;
	/* a dash or slash joins the parts of a name more often than values */
	score -= strcmp(sep, " / ") && strcmp(sep, " ") &&
	                         strchr("-/&a", *sep == ' ' ? sep[1] : *sep)
	                 ? 0.25
	                 : 0;
	/* two cells alone can be texts of two lines */
	score = *sep == '\n' && p->split < 3 ? DTX_MIN(score, 0.79) : score;
	/* phrases can be one text */
	return *sep == ',' && p->words * 2 > 3 * p->n ? DTX_MIN(score, 0.79) : score;
}

void dtx_make_explode(struct dtx_makers *m)
{
	static const char *const seps[] = { "\n",  ";",     "|",   ",",      " / ",    "/",
		                            " & ", " and ", " - ", "\u00b7", "\u2022", " " };
	struct pieces p = { .piece = dtx_arena_alloc(&m->arena, PIECES_MAX, sizeof(*p.piece)) };
	const struct dtx_textgrid *g = m->g;
	uint32_t c, columns[DTX_COUNT(seps)] = { 0 };
	size_t s, before = m->n, k;

	m->failed |= !p.piece;
	for (c = 0; c < g->ncols && !m->failed && !m->headerless; c++) {
		int64_t n = DTX_MIN(g->nrows, DTX_FEATURE_ROWS), i;
		uint32_t cells[DTX_COUNT(seps)] = { 0 }; /* with the separator */

		if (m->col[c].kind < DTX_LOOKS_URL)
			continue;
		for (i = 0; i < n; i++) {
			const char *text = dtx_textgrid_at(g, i * g->nrows / n, c);

			for (s = 0; text && s < DTX_COUNT(seps); s++)
				cells[s] += strstr(text, seps[s]) != NULL;
		}
		for (s = 0; s < DTX_COUNT(seps); s++) {
			bool list = true;

			/* a name with the separator: the file has another one between its columns
			 */
			if (cells[s] < 2 || cells[s] * 25 < m->col[c].filled ||
			    strstr(g->name[c], seps[s]) != NULL ||
			    (*seps[s] == ' ' && !seps[s][1] && !is_plural(g->name[c])))
				continue;
			p = (struct pieces){ .piece = p.piece };
			for (i = 0; i < n && list; i++) {
				const char *text = dtx_textgrid_at(g, i * g->nrows / n, c);

				list = dtx_cell_blank(text) || pieces_cell(&p, text, seps[s]);
			}
			if (!list || p.split < 2 || p.split * 25 < p.cells)
				continue;
			columns[s]++;
			dtx_makers_add(
				m, "explode",
				json_pack("{ss s[s] ss}", "op", "explode", "cols", g->name[c],
			                  "sep", seps[s]),
				pieces_score(&p, seps[s], g->name[c]),
				"%u of %u cells of '%.40s' have several values with '%s' between "
				"them, such as '%.60s'%s",
				p.split, p.cells, g->name[c], *seps[s] == '\n' ? "\\n" : seps[s],
				p.example, dtx_makers_place(m, c, p.example));
		}
	}
	/* many columns of texts with parts: a text is one value with parts, as "9, 17, 'FR'" */
	for (s = 0; s < DTX_COUNT(seps); s++) {
		for (k = before; k < m->n && columns[s] > 2; k++) {
			if (!strcmp(seps[s], json_string_value(json_object_get(
						     json_array_get(m->list[k].steps, 0), "sep"))))
				m->list[k].score -= 0.25;
		}
	}
}
