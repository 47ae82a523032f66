/* Styles of cells: the number format, written as .xlsx has it, and whether the font is bold; and
 * which tables are hidden. */
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/io/sheet/ods/ods.h"

enum { CODE_MAX = 1024, PARENTS_MAX = 16 };

/* A style of cells as it is in the file. */
struct cell_style {
	struct dtx_str parent, format; /* names; of the style it goes back to, of a number format */
	enum { BOLD_UNSAID, BOLD_NO, BOLD_YES } bold;
};
struct styles {
	struct dtx_ods *book;
	struct dtx_strmap formats, cells; /* names to indexes */
	struct dtx_str *code;
	struct cell_style *cell;
	size_t ncodes, codes_cap, ncells, cells_cap;
	size_t cap; /* of head.style */
};

static enum dtx_code keep(struct styles *s, struct dtx_str from, struct dtx_str *to,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_arena_strndup(&s->book->x.head.arena, from.ptr ? from.ptr : "", from.len);

	if (!copy)
		DTX_FAIL_MEM(err);
	*to = (struct dtx_str){ copy, from.len };
out:
	return rc;
}

/* Adds a name with the next number of a list. A name that comes again replaces nothing. */
static enum dtx_code add_name(struct styles *s, struct dtx_strmap *map, struct dtx_str name,
                              size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found;

	if (n >= DTX_BOOK_STYLES_MAX - 8)
		return dtx_archive_limits_fixed(err, "styles", "'%s': over %d styles",
		                                s->book->x.head.label, DTX_BOOK_STYLES_MAX - 8);
	if (!dtx_strmap_put(map, name, (uint32_t)n, &found))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- number formats --- */

static bool is_long(const struct dtx_xml *x)
{
	return dtx_str_is(dtx_ods_attr(x, "style"), "long");
}

static int64_t count(const struct dtx_xml *x, const char *name, int64_t otherwise)
{
	struct dtx_str s = dtx_ods_attr(x, name);
	int64_t n = otherwise;

	if (s.len && !dtx_num_parse_i64(s.ptr, s.len, &n))
		n = otherwise;
	return DTX_MAX((int64_t)0, DTX_MIN(n, (int64_t)30));
}

static void add_times(struct dtx_buf *to, char c, int64_t n)
{
	while (n-- > 0)
		dtx_buf_addc(to, c);
}

static void add_number(const struct dtx_xml *x, const char *after, struct dtx_buf *to)
{
	int64_t decimals = count(x, "decimal-places", 0);
	int64_t digits = count(x, "min-integer-digits", 1);
	bool grouping = dtx_xml_true(dtx_ods_attr(x, "grouping"));

	if (!dtx_ods_attr(x, "decimal-places").len && digits < 2 && !grouping && !*after) {
		dtx_buf_add(to, "General");
		return;
	}
	if (grouping)
		dtx_buf_add(to, "#,##");
	add_times(to, '0', DTX_MAX((int64_t)1, digits));
	if (decimals)
		dtx_buf_addc(to, '.');
	add_times(to, '0', decimals);
	dtx_buf_add(to, after);
}

/* Adds what an element of a format stands for. `over`: hours count on after 24. */
static void add_element(const struct dtx_xml *x, bool over, struct dtx_buf *to)
{
	static const struct {
		const char *name, *brief, *full;
	} parts[] = { { "day", "d", "dd" },
		      { "day-of-week", "ddd", "dddd" },
		      { "year", "yy", "yyyy" },
		      { "hours", "h", "hh" },
		      { "minutes", "m", "mm" },
		      { "seconds", "s", "ss" },
		      { "am-pm", "AM/PM", "AM/PM" },
		      { "era", "g", "ggg" },
		      { "fraction", "# ?/?", "# ?/?" },
		      { "text-content", "@", "@" } };

	if (dtx_xml_is(x, "number")) {
		add_number(x, "", to);
	} else if (dtx_xml_is(x, "scientific-number")) {
		add_number(x, "E+00", to);
	} else if (dtx_xml_is(x, "month")) {
		add_times(to, 'm', (dtx_xml_true(dtx_ods_attr(x, "textual")) ? 3 : 1) + is_long(x));
	} else {
		for (size_t i = 0; i < DTX_COUNT(parts); i++) {
			bool whole = over && !to->len;

			if (!dtx_xml_is(x, parts[i].name))
				continue;
			dtx_buf_add(to, whole ? "[" : "");
			dtx_buf_add(to, is_long(x) ? parts[i].full : parts[i].brief);
			dtx_buf_add(to, whole ? "]" : "");
			if (dtx_xml_is(x, "seconds") && count(x, "decimal-places", 0)) {
				dtx_buf_addc(to, '.');
				add_times(to, '0', count(x, "decimal-places", 0));
			}
		}
	}
}

/* A literal text: what a code would take for something else is put in quotes. */
static void add_literal(struct dtx_str s, struct dtx_buf *to)
{
	static const char plain[] = " -/:.,()%";

	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] && strchr(plain, s.ptr[i])) {
			dtx_buf_addc(to, s.ptr[i]);
		} else if (s.ptr[i] != '"') {
			dtx_buf_addc(to, '"');
			for (; i < s.len && s.ptr[i] != '"'; i++)
				dtx_buf_addc(to, s.ptr[i]);
			dtx_buf_addc(to, '"');
		}
	}
}

static enum dtx_code read_format(struct styles *s, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf code = DTX_BUF_INIT(CODE_MAX);
	unsigned depth = x->depth;
	bool over = dtx_str_is(dtx_ods_attr(x, "truncate-on-overflow"), "false");

	DTX_TRY(add_name(s, &s->formats, dtx_ods_attr(x, "name"), s->ncodes, err));
	if (!dtx_mem_reserve(&s->code, &s->codes_cap, s->ncodes + 1, sizeof(*s->code)))
		DTX_FAIL_MEM(err);
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_START)
			add_element(x, over, &code);
		else if (x->kind == DTX_XML_TEXT && x->depth == depth + 1)
			add_literal(x->text, &code);
	}
	if (!dtx_buf_len(&code)) { /* of bools, and one that is too long to be shown */
		dtx_buf_reset(&code);
		dtx_buf_add(&code, "General");
	}
	DTX_TRY(keep(s, dtx_buf_str(&code), &s->code[s->ncodes], err));
	s->ncodes++;
out:
	dtx_buf_clear(&code);
	return rc;
}

/* --- styles --- */

static enum dtx_code read_style(struct styles *s, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cell_style c = { 0 };
	struct dtx_str family = dtx_ods_attr(x, "family"), name = { NULL, 0 };
	bool cell = dtx_str_is(family, "table-cell"), table = dtx_str_is(family, "table");
	unsigned depth = x->depth;

	if (!cell && !table)
		return dtx_xml_skip(x, err);
	DTX_TRY(keep(s, dtx_ods_attr(x, "name"), &name, err));
	DTX_TRY(keep(s, dtx_ods_attr(x, "parent-style-name"), &c.parent, err));
	DTX_TRY(keep(s, dtx_ods_attr(x, "data-style-name"), &c.format, err));
	for (;;) {
		struct dtx_str weight, shown;

		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		weight = dtx_ods_attr(x, "font-weight");
		shown = dtx_ods_attr(x, "display");
		if (cell && dtx_xml_is(x, "text-properties") && weight.len)
			c.bold = dtx_str_is(weight, "bold") ? BOLD_YES : BOLD_NO;
		if (table && dtx_xml_is(x, "table-properties") && dtx_str_is(shown, "false"))
			DTX_TRY(add_name(s, &s->book->hidden, name, 0, err));
	}
	if (!cell)
		goto out;
	DTX_TRY(add_name(s, &s->cells, name, s->ncells, err));
	if (!dtx_mem_reserve(&s->cell, &s->cells_cap, s->ncells + 1, sizeof(*s->cell)))
		DTX_FAIL_MEM(err);
	s->cell[s->ncells++] = c;
out:
	return rc;
}

/* Reads one list of styles of a part. */
static enum dtx_code read_part(struct styles *s, const char *name, const char *list,
                               struct dtx_err *err)
{
	static const char *const formats[] = { "number-style",     "currency-style", "date-style",
		                               "percentage-style", "time-style",     "text-style",
		                               "boolean-style" };
	enum dtx_code rc = DTX_OK;
	const struct dtx_zip_entry *e = dtx_zip_find(&s->book->x.zip, dtx_str_of(name));
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;
	size_t i;

	if (!e)
		goto out;
	DTX_TRY(dtx_xlsx_part_open(&s->book->x, e, &part, err));
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_EOF || dtx_xml_is(x, "body"))
			break; /* the rest is not looked at here */
		if (x->kind != DTX_XML_START || x->depth < 2)
			continue;
		if (x->depth == 2 && !dtx_xml_is(x, list))
			DTX_TRY(dtx_xml_skip(x, err));
		if (x->depth != 3)
			continue;
		for (i = 0; i < DTX_COUNT(formats) && !dtx_xml_is(x, formats[i]); i++)
			;
		if (i < DTX_COUNT(formats))
			DTX_TRY(read_format(s, x, err));
		else if (dtx_xml_is(x, "style"))
			DTX_TRY(read_style(s, x, err));
		else
			DTX_TRY(dtx_xml_skip(x, err));
	}
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

/* --- what cells refer to --- */

static enum dtx_code add_style(struct styles *s, struct dtx_str code, bool bold,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &s->book->x.head;

	if (!dtx_mem_reserve(&b->style, &s->cap, b->nstyles + 1, sizeof(*b->style)))
		DTX_FAIL_MEM(err);
	b->style[b->nstyles++] = (struct dtx_book_style){ code, dtx_fmt_classify(code), bold };
out:
	return rc;
}

/* The format and weight of a style: its own, or those of the one it goes back to. */
static enum dtx_code resolve(struct styles *s, size_t i, struct dtx_err *err)
{
	struct dtx_str code = DTX_STR("General");
	bool has_code = false, bold = false, has_bold = false;
	uint32_t at = (uint32_t)i, format;

	for (unsigned n = 0; n < PARENTS_MAX && at != DTX_STRMAP_NONE; n++) {
		const struct cell_style *c = &s->cell[at];

		format = dtx_strmap_get(&s->formats, c->format);
		if (!has_code && c->format.len && format != DTX_STRMAP_NONE) {
			code = s->code[format];
			has_code = true;
		}
		if (!has_bold && c->bold != BOLD_UNSAID) {
			bold = c->bold == BOLD_YES;
			has_bold = true;
		}
		at = c->parent.len ? dtx_strmap_get(&s->cells, c->parent) : DTX_STRMAP_NONE;
	}
	return add_style(s, code, bold, err);
}

enum dtx_code dtx_ods_styles_read(struct dtx_ods *book, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct styles s = { .book = book };
	uint32_t found;
	size_t i;

	DTX_TRY(read_part(&s, "styles.xml", "styles", err));
	DTX_TRY(read_part(&s, "content.xml", "automatic-styles", err));
	DTX_TRY(add_style(&s, DTX_STR("General"), false, err));
	DTX_TRY(add_style(&s, DTX_STR("hh:mm:ss"), false, err));
	DTX_TRY(add_style(&s, DTX_STR("[hh]:mm:ss"), false, err));
	book->clock = 1;
	book->duration = 2;
	for (i = 0; i < s.cells.n; i++) {
		const struct dtx_strmap_entry *e = &s.cells.entry[i];

		if (!dtx_strmap_put(&book->styles, e->key, book->x.head.nstyles, &found))
			DTX_FAIL_MEM(err);
		DTX_TRY(resolve(&s, e->value, err));
	}
out:
	dtx_strmap_clear(&s.formats);
	dtx_strmap_clear(&s.cells);
	dtx_mem_free(s.code);
	dtx_mem_free(s.cell);
	return rc;
}
