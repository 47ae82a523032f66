/* Parses runs of the most common cells: a reference in the open row, perhaps a style and a type,
 * and a number, the id of a string, a bool, or a short inline text.
 *
 * A cell is checked completely before anything of it is stored. Any other cell is left, from its
 * '<' on, to the fast path (xlsx_fast.c), which knows more of the grammar; both give the same
 * cells. Bytes are compared before they are consumed, and DTX_XML_AHEAD NULs follow the window,
 * so no scan runs past it. */
#include "core/base/text/num.h"
#include "core/base/text/swar.h"
#include "core/io/sheet/xlsx/xlsx_sheet.h"

#define IS(p, text) (!memcmp((p), "" text, sizeof(text) - 1))

/* A parsed cell. */
struct usual {
	uint32_t col;
	uint16_t style;
	/* from attribute t: 's', 'b', or 'i' for inlineStr; 0: a number, '/': no value */
	char type;
	unsigned tag;
	union dtx_payload v;
	struct dtx_str text; /* of an inline text */
};
static void row_end_print(struct dtx_xlsx_row_end *e, uint32_t row)
{
	char text[DTX_NUM_TEXT] = "";

	e->len = (unsigned)dtx_num_print_u64(text, (uint64_t)row + 1);
	text[e->len++] = '"';
	e->mask = e->len < 8 ? ((uint64_t)1 << (8 * e->len)) - 1 : UINT64_MAX;
	e->bytes = dtx_swar_load(text) & e->mask;
}

/* Usually the row follows the previous one, so that only the last digit changes. */
static struct dtx_xlsx_row_end row_end_of(struct dtx_xlsx_row_end *e, uint32_t row)
{
	unsigned last = e->len ? 8 * (e->len - 2) : 0;

	if (e->len && row == e->row + 1 && (e->bytes >> last & 0xff) != '9')
		e->bytes += (uint64_t)1 << last;
	else if (!e->len || row != e->row)
		row_end_print(e, row);
	e->row = row;
	return *e;
}

/* Parses `A12"` at p. Returns the position after the quote, or NULL. */
static inline const char *take_ref(const char *p, const struct dtx_xlsx_row_end *e, uint32_t *col)
{
	uint32_t c = (uint32_t)(unsigned char)*p - 'A';

	if (c >= 26)
		return NULL;
	for (c++, p++; *p >= 'A' && *p <= 'Z' && c <= DTX_SHEET_COLS; p++)
		c = c * 26 + (uint32_t)(*p - 'A' + 1);
	if (c > DTX_SHEET_COLS || (dtx_swar_load(p) & e->mask) != e->bytes)
		return NULL;
	*col = c - 1;
	return p + e->len;
}

/* Parses ` s="12"`, if it is there. */
static inline const char *take_style(const char *p, uint16_t *style)
{
	uint32_t v = 0;

	*style = 0;
	if (!IS(p, " s=\""))
		return p;
	for (p += 4; *p >= '0' && *p <= '9' && v < DTX_BOOK_STYLES_MAX; p++)
		v = v * 10 + (uint32_t)(*p - '0');
	if (*p != '"' || p[-1] == '"' || v >= DTX_BOOK_STYLES_MAX)
		return NULL;
	*style = (uint16_t)v;
	return p + 1;
}

/* Parses ` t="s"`, if it is there. */
static inline const char *take_type(const char *p, char *type)
{
	*type = 0;
	if (*p == '>')
		return p;
	if (!IS(p, " t=\""))
		return NULL;
	*type = p[4];
	if ((*type == 's' || *type == 'b') && p[5] == '"')
		return p + 6;
	if (*type == 'n' && p[5] == '"') {
		*type = 0;
		return p + 6;
	}
	return IS(p + 4, "inlineStr\"") ? p + 14 : NULL;
}

/* Parses up to 16 digits with up to 8 decimals, if a double holds the number exactly: Clinger's
 * fast path, as in dtx_num_parse_f64. */
static inline const char *take_number(const char *p, double *out)
{
	bool neg = *p == '-';
	uint64_t m, more;
	unsigned n, k;
	double v;

	p += neg;
	n = dtx_swar_digits(p, &m);
	p += n;
	if (n == 8) {
		n = dtx_swar_digits(p, &more);
		m = m * dtx_swar_pow10[n] + more;
		p += n;
	} else if (!n) {
		return NULL;
	}
	if (*p == '.') {
		k = dtx_swar_digits(p + 1, &more);
		if (!k || m > UINT64_MAX / 1000000000)
			return NULL;
		m = m * dtx_swar_pow10[k] + more;
		p += k + 1;
		v = (double)(int64_t)m / dtx_num_pow10[k];
	} else { /* most numbers are whole, and a division is the slowest operation here */
		v = (double)(int64_t)m;
	}
	*out = neg && m ? -v : v;
	return m <= (uint64_t)1 << 53 ? p : NULL;
}

static inline unsigned number_tag(const struct dtx_xlsx_walk *w, const struct usual *u)
{
	const struct dtx_book *b = &w->book->head;
	enum dtx_fmt_class cls = u->style < b->nstyles ? b->style[u->style].cls : DTX_FMT_NUMBER;

	if (cls == DTX_FMT_NUMBER)
		return DTX_CELL_NUMBER;
	/* nearly all others: whole days that exist in both epochs */
	if (cls == DTX_FMT_DATE && u->v.num >= 61 && u->v.num < 2957003 &&
	    u->v.num == (double)(int32_t)u->v.num)
		return DTX_CELL_DATE;
	return dtx_sheet_number_tag(b, w->facts, w->row, u->col, cls, u->v.num);
}

/* Parses the text of <v> at p. */
static inline const char *take_value(const char *p, struct usual *u)
{
	uint64_t id;
	unsigned n;

	if (!u->type)
		return take_number(p, &u->v.num);
	n = dtx_swar_digits(p, &id);
	if (!n || (u->type == 's' ? id >= DTX_BOOK_STRINGS_MAX : n != 1 || id > 1))
		return NULL;
	u->tag = u->type == 's' ? DTX_CELL_TEXT : DTX_CELL_BOOL;
	u->v.id = id;
	return p + n;
}

/* Parses the text of <is><t> at p. Text other than ASCII only if it is checked. */
static inline const char *take_text(const char *p, bool checked, struct usual *u)
{
	const char *end = dtx_swar_ascii_end(p);
	size_t len;

	if (*end != '<' && checked)
		end = dtx_swar_text_end(end);
	len = (size_t)(end - p);
	u->tag = DTX_CELL_TEXT;
	u->text = (struct dtx_str){ p, len };
	return len && len <= DTX_BOOK_TEXT_MAX ? end : NULL;
}

/* Parses a complete cell; p is after `<c r="`. Returns its end, or NULL if it has another form. */
static inline const char *take_cell(const char *p, const struct dtx_xlsx_row_end *e, bool checked,
                                    struct usual *u)
{
	p = take_ref(p, e, &u->col);
	p = p ? take_style(p, &u->style) : NULL;
	if (p && IS(p, "/>")) {
		u->type = '/';
		return p + 2;
	}
	p = p ? take_type(p, &u->type) : NULL;
	if (!p)
		return NULL;
	if (u->type == 'i') {
		p = IS(p, "><is><t>") ? take_text(p + 8, checked, u) : NULL;
		return p && IS(p, "</t></is></c>") ? p + 13 : NULL;
	}
	p = IS(p, "><v>") ? take_value(p + 4, u) : NULL;
	return p && IS(p, "</v></c>") ? p + 8 : NULL;
}

/* Stores the cell after the last one in the grid, which is in the same row. Returns false if a
 * chunk or a list of styles must be allocated. */
static inline bool put_after(struct dtx_grid *g, const struct usual *u)
{
	struct dtx_grid_chunk *c;
	size_t at = g->ncells % DTX_GRID_CHUNK;

	if (!at)
		return false; /* its chunk does not exist yet */
	c = g->chunk[g->ncells / DTX_GRID_CHUNK];
	if (u->style && !c->style)
		return false;
	g->unsorted |= c->col[at - 1] >= u->col;
	c->tag[at] = (uint8_t)u->tag;
	c->col[at] = (uint16_t)u->col;
	c->value[at] = u->v;
	if (c->style)
		c->style[at] = u->style;
	g->ncells++;
	g->col_min = DTX_MIN(g->col_min, u->col);
	g->col_max = DTX_MAX(g->col_max, u->col);
	return true;
}

static inline enum dtx_code keep_cell(struct dtx_xlsx_walk *w, struct usual *u, bool *has_cell,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_book *b = &w->book->head;

	w->ncells++;
	w->next_col = u->col + 1;
	if (u->type == '/')
		goto out;
	if (!u->type)
		u->tag = number_tag(w, u);
	else if (u->type == 'i')
		DTX_TRY(dtx_grid_text_add(w->grid, u->text, &u->v.id, err));
	if (u->style < b->nstyles && b->style[u->style].bold)
		u->tag |= DTX_GRID_BOLD;
	dtx_xml_took_value(w->x);
	if (*has_cell && put_after(w->grid, u))
		goto out;
	DTX_TRY(dtx_grid_add(w->grid, w->row, u->col, (uint8_t)u->tag, u->v, u->style, w->hidden,
	                     err));
	*has_cell = true;
out:
	return rc;
}

enum dtx_code dtx_xlsx_usual(struct dtx_xlsx_walk *w, const char **at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_row_end e = row_end_of(&w->end, w->row);
	bool has_cell = false;
	struct usual u;
	const char *p = *at, *end;

	while (IS(p, "<c r=\"") && w->ncells < DTX_SHEET_COLS && w->grid->ncells < w->max_cells) {
		end = take_cell(p + 6, &e, w->x->checked == w->x->end, &u);
		if (!end || (u.type == 's' && dtx_xlsx_text_missing(w, u.v.id)))
			break;
		DTX_TRY(keep_cell(w, &u, &has_cell, err));
		p = end;
	}
out:
	*at = p;
	return rc;
}
