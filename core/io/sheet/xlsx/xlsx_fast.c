/* Parses the usual grammar of worksheets directly in the window.
 *
 * Bytes are compared before they are consumed, and NULs, which no part contains, follow the
 * window, so that every scan stops there. Anything unusual (entities, prefixes, comments, other
 * attributes, carriage returns in text, an element cut by the end of the window) is left to the
 * tokenizer, from the '<' of that element on. */
#include "core/base/text/num.h"
#include "core/io/sheet/xlsx/xlsx_sheet.h"

/* How many bytes to have after a place before giving up: to find the end of a text, or of other
 * elements. */
#define CUT_MAX     ((size_t)128 << 10)
#define UNUSUAL_MAX ((size_t)256)

/* The result of parsing one element. */
enum fast { FAST_TAKEN, FAST_UNUSUAL, FAST_CUT };

/* May read up to DTX_XML_AHEAD bytes past the window, which are always readable. */
#define IS(p, text) (!memcmp((p), "" text, sizeof(text) - 1))

static enum fast stopped_at(const char *p)
{
	return *p ? FAST_UNUSUAL : FAST_CUT;
}

/* NAME="VALUE", where the value is printable ASCII without entities or quotes. */
struct attr {
	struct dtx_str name, value;
};

/* *p moves past the attribute, or to where it is not one. */
static bool take_attr(const char **p, struct attr *a)
{
	const char *s = *p, *from = s;

	while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == ':' ||
	       (s > from && *s >= '0' && *s <= '9'))
		s++;
	a->name = (struct dtx_str){ from, (size_t)(s - from) };
	*p = s;
	if (s == from || s[0] != '=' || s[1] != '"')
		return false;
	from = s += 2;
	while (*s != '"' && *s != '&' && *s != '<' && *s >= ' ' && *s < 0x7f)
		s++;
	a->value = (struct dtx_str){ from, (size_t)(s - from) };
	*p = s + (*s == '"');
	return *s == '"';
}

static bool take_small(struct dtx_str s, uint32_t max, uint32_t *out)
{
	uint32_t v = 0;
	size_t i;

	if (!s.len || s.len > 7)
		return false;
	for (i = 0; i < s.len; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		v = v * 10 + (uint32_t)(s.ptr[i] - '0');
	}
	*out = v;
	return v <= max;
}

/* Parses "AB12" within the limits of a sheet; *p moves past it. */
static bool take_place(const char **p, uint32_t *row, uint32_t *col)
{
	const char *s = *p, *digits;
	uint32_t c = 0, r = 0;

	for (; *s >= 'A' && *s <= 'Z' && s < *p + 3; s++)
		c = c * 26 + (uint32_t)(*s - 'A' + 1);
	if (!c || c > DTX_SHEET_COLS || *s == '0')
		return false;
	for (digits = s; *s >= '0' && *s <= '9' && s < digits + 7; s++)
		r = r * 10 + (uint32_t)(*s - '0');
	*p = s;
	*row = r - 1;
	*col = c - 1;
	return r && r <= DTX_SHEET_ROWS;
}

static bool take_style(const char **p, uint16_t *style)
{
	const char *s = *p;
	uint32_t v = 0;

	for (; *s >= '0' && *s <= '9' && s < *p + 7; s++)
		v = v * 10 + (uint32_t)(*s - '0');
	if (s == *p || v >= DTX_BOOK_STYLES_MAX)
		return false;
	*p = s;
	*style = (uint16_t)v;
	return true;
}

static bool take_type(const char **p, enum dtx_xlsx_type *type)
{
	const char *s = *p;

	while ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z')
		s++;
	/* nearly all cells have one of these */
	if (s == *p + 1 && (**p == 's' || **p == 'b'))
		*type = **p == 's' ? DTX_XLSX_T_SHARED : DTX_XLSX_T_BOOL;
	else if (!dtx_xlsx_type_find((struct dtx_str){ *p, (size_t)(s - *p) }, type))
		return false;
	*p = s;
	return true;
}

/* Parses the attributes of <c; p is after the name. *after becomes the position after '>'. */
static enum fast cell_head(const char *p, struct dtx_xlsx_cell *c, bool *empty, const char **after)
{
	enum { R = 1, S = 2, T = 4 };
	unsigned seen = 0, bit;
	bool ok;

	while (*p == ' ') {
		bit = p[1] == 'r' ? R : p[1] == 's' ? S : p[1] == 't' ? T : 0;
		if (!bit || (seen & bit) || p[2] != '=' || p[3] != '"')
			return stopped_at(p);
		seen |= bit;
		p += 4;
		if (bit == R)
			ok = take_place(&p, &c->row, &c->col);
		else if (bit == S)
			ok = take_style(&p, &c->style);
		else
			ok = take_type(&p, &c->type);
		if (!ok || *p != '"')
			return stopped_at(p);
		p++;
	}
	*empty = p[0] == '/';
	p += *empty;
	if (*p != '>')
		return stopped_at(p);
	*after = p + 1;
	return FAST_TAKEN;
}

/* Parses text up to '<', without entities or CR. */
static enum fast plain_text(const char *p, struct dtx_str *out)
{
	static const bool stops[256] = { ['\0'] = true, ['<'] = true, ['&'] = true, ['\r'] = true };
	const char *from = p;

	while (!stops[(unsigned char)*p])
		p++;
	*out = (struct dtx_str){ from, (size_t)(p - from) };
	return *p == '<' ? FAST_TAKEN : stopped_at(p);
}

/* Parses <f>...</f>, <f .../> or <f ...>...</f>; p is after "<f". */
static enum fast formula(const char *p, struct dtx_str *text, const char **after)
{
	static const char *const known[] = { "t", "ref", "si" };
	unsigned seen = 0;
	struct attr a;
	enum fast got;
	size_t i;

	while (*p == ' ') {
		p++;
		if (!take_attr(&p, &a))
			return stopped_at(p);
		for (i = 0; i < DTX_COUNT(known) && !dtx_str_is(a.name, known[i]); i++)
			;
		if (i == DTX_COUNT(known) || (seen >> i & 1))
			return FAST_UNUSUAL;
		seen |= 1u << i;
	}
	if (IS(p, "/>")) {
		*after = p + 2;
		return FAST_TAKEN;
	}
	if (*p != '>')
		return stopped_at(p);
	got = plain_text(p + 1, text);
	if (got != FAST_TAKEN)
		return got;
	p = text->ptr + text->len;
	if (!IS(p, "</f>"))
		return FAST_UNUSUAL;
	*after = p + 4;
	return FAST_TAKEN;
}

/* Parses <v>text</v> or <is><t>text</t></is>. */
static enum fast value(const char *p, struct dtx_xlsx_cell *c, const char **after)
{
	bool inlined = IS(p, "<is><t>");
	enum fast got;

	if (!inlined && !IS(p, "<v>"))
		return FAST_UNUSUAL;
	got = plain_text(p + (inlined ? 7 : 3), &c->value);
	if (got != FAST_TAKEN)
		return got;
	p = c->value.ptr + c->value.len;
	if (inlined ? !IS(p, "</t></is>") : !IS(p, "</v>"))
		return FAST_UNUSUAL;
	*after = p + (inlined ? 9 : 4);
	c->has_value = true;
	if (inlined)
		c->type = DTX_XLSX_T_INLINE;
	/* a text with escapes needs its own buffer, and one that is too long is an error */
	if ((c->type == DTX_XLSX_T_STR || c->type == DTX_XLSX_T_INLINE) &&
	    memmem(c->value.ptr, c->value.len, "_x", 2))
		return FAST_UNUSUAL;
	return c->value.len > DTX_BOOK_TEXT_MAX ? FAST_UNUSUAL : FAST_TAKEN;
}

/* Parses a complete cell; p is after "<c". */
static enum fast whole_cell(const char *p, struct dtx_xlsx_cell *c, const char **after)
{
	bool empty;
	enum fast got = cell_head(p, c, &empty, &p);

	c->code = (struct dtx_str){ "", 0 };
	if (got != FAST_TAKEN || empty) {
		*after = p;
		return got;
	}
	if (IS(p, "<f>") || IS(p, "<f ") || IS(p, "<f/")) {
		c->formula = true;
		got = formula(p + 2, &c->code, &p);
	}
	if (got == FAST_TAKEN && !IS(p, "</c>"))
		got = value(p, c, &p);
	if (got != FAST_TAKEN)
		return got;
	if (!IS(p, "</c>"))
		return FAST_UNUSUAL;
	*after = p + 4;
	return FAST_TAKEN;
}

/* The attributes that rows really have; each may occur once. */
static int row_attr(struct dtx_str name)
{
	static const char *const known[] = {
		"r",        "spans",        "ht",     "customHeight", "x14ac:dyDescent",
		"s",        "customFormat", "hidden", "outlineLevel", "collapsed",
		"thickBot", "thickTop"
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(known); i++) {
		if (dtx_str_is(name, known[i]))
			return (int)i;
	}
	return -1;
}

/* Parses <row ...>; p is after "<row". */
static enum fast row_head(const char *p, struct dtx_xlsx_walk *w, uint32_t *row, bool *hidden,
                          bool *empty, const char **after)
{
	unsigned seen = 0;
	struct attr a;
	int which;

	*row = w->next_row;
	*hidden = false;
	while (*p == ' ') {
		p++;
		if (!take_attr(&p, &a))
			return stopped_at(p);
		which = row_attr(a.name);
		if (which < 0 || (seen >> which & 1))
			return FAST_UNUSUAL;
		seen |= 1u << which;
		if (which == 0 && (!take_small(a.value, DTX_SHEET_ROWS, row) || !(*row)--))
			return FAST_UNUSUAL;
		if (which == 7)
			*hidden = dtx_xml_true(a.value);
	}
	*empty = p[0] == '/';
	p += *empty;
	if (*p != '>')
		return stopped_at(p);
	*after = p + 1;
	return FAST_TAKEN;
}

static enum dtx_code take_row(struct dtx_xlsx_walk *w, const char **p, enum fast *got,
                              struct dtx_err *err)
{
	uint32_t row;
	bool hidden, empty;
	const char *after = NULL;

	w->full = dtx_xlsx_window_full(w);
	if (w->full) {
		*got = FAST_UNUSUAL;
		return DTX_OK;
	}
	*got = row_head(*p + 4, w, &row, &hidden, &empty, &after);
	if (*got == FAST_TAKEN && !empty && !dtx_xml_took_start(w->x, DTX_STR("row")))
		*got = FAST_UNUSUAL;
	if (*got != FAST_TAKEN)
		return DTX_OK;
	*p = after;
	return dtx_xlsx_row_open(w, row, hidden, err);
}

static enum dtx_code take_cell(struct dtx_xlsx_walk *w, const char **p, enum fast *got,
                               struct dtx_err *err)
{
	struct dtx_xlsx_cell c = { .row = w->row, .col = w->next_col };
	const char *after = NULL;
	enum dtx_code rc = DTX_OK;

	*got = whole_cell(*p + 2, &c, &after);
	if (*got == FAST_TAKEN && c.col >= DTX_SHEET_COLS)
		*got = FAST_UNUSUAL;
	if (*got != FAST_TAKEN)
		goto out;
	DTX_TRY(dtx_xml_check(w->x, err)); /* only the end of the text was searched so far */
	*p = after;
	DTX_TRY(dtx_xlsx_cell_put(w, &c, err));
out:
	return rc;
}

/* Parses one row tag or cell at *p. */
static enum dtx_code take_one(struct dtx_xlsx_walk *w, const char **p, enum fast *got,
                              struct dtx_err *err)
{
	while (**p == ' ' || **p == '\n' || **p == '\t' || **p == '\r')
		++*p;
	if (w->x->depth == 3 && IS(*p, "<c") && ((*p)[2] == ' ' || (*p)[2] == '>')) {
		const char *from = *p;
		enum dtx_code rc = dtx_xlsx_usual(w, p, err);

		*got = FAST_TAKEN;
		return rc != DTX_OK || *p > from ? rc : take_cell(w, p, got, err);
	}
	if (w->x->depth == 2 && IS(*p, "<row") && ((*p)[4] == ' ' || (*p)[4] == '>'))
		return take_row(w, p, got, err);
	if (w->x->depth == 3 && IS(*p, "</row>") && dtx_xml_took_end(w->x, DTX_STR("row"))) {
		*p += 6;
		*got = FAST_TAKEN;
		return DTX_OK;
	}
	*got = stopped_at(*p);
	return DTX_OK;
}

enum dtx_code dtx_xlsx_fast(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = w->x;
	enum fast got = FAST_TAKEN;
	const char *p;

	if (x->close_next || x->in_cdata)
		goto out;
	for (;;) {
		p = x->buf + x->pos;
		do {
			x->pos = (size_t)(p - x->buf);
			DTX_TRY(take_one(w, &p, &got, err));
		} while (got == FAST_TAKEN && w->grid->ncells < w->max_cells);
		/* An element that does not fit into the window is left to the tokenizer, and so
		 * is one that is only unusual because the window ends inside it. */
		if (x->eof || got == FAST_TAKEN ||
		    x->end - x->pos > (got == FAST_CUT ? CUT_MAX : UNUSUAL_MAX))
			break;
		DTX_TRY(dtx_xml_fill(x, err));
	}
out:
	return rc;
}
