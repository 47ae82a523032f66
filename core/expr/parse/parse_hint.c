/* Hints for formulas that break off where another language is used: what to write in ours. */
#include "core/expr/fn/fn.h"
#include "core/expr/parse/parse.h"

#define FN_CALLS "a function takes its column: upper(x), not x.upper()"
#define NO_MARK  "write a column bare, or in backticks: qty, `Order Date`"

/* The table is searched for the first row that fits: the text before the token ends in `before` (a
 * whole word if it begins with a letter; "^": there is no text before), the token begins with
 * `got`, and the text contains `in`. */
static const struct slip {
	const char *before, *got, *in, *hint;
} slips[] = {
	{ NULL, "over", NULL,
	  "instead of 'over' use 'by', 'order' and 'frame' of the window op, or 'by' of derive" },
	{ "if", NULL, NULL, "if(condition, a, b), or case when condition then a else b end" },
	{ "case", NULL, NULL, "case when x == 'a' then 1 else 2 end, or switch(x, 'a', 1, 2)" },
	{ "distinct", NULL, NULL, "count_distinct(x) counts the different values" },
	/* SQL */
	{ NULL, "as", "cast(", "int(x), float(x), text(x) and date(x) cast, or x::int" },
	{ NULL, "as", NULL, "give the name of the result in 'as' of the step, not in the formula" },
	{ NULL, "from", "extract(", "year(day), month(day), hour(at) give the parts of a date" },
	{ NULL, "from", "substring(", "mid(text, start, length) counts from 1" },
	{ NULL, "from", "trim(", "trim(x), ltrim(x), rtrim(x) remove blanks" },
	{ "select", NULL, NULL,
	  "a formula has no queries: a join step with \"how\": \"semi\" keeps the rows that "
	  "another table has" },
	{ "where", NULL, NULL, "write the formula alone, without the word 'where'" },
	{ NULL, "ilike", NULL, "lower(x) like 'n%'" },
	{ NULL, "rlike", NULL, "matches(x, 'pattern')" },
	{ NULL, "regexp", NULL, "matches(x, 'pattern')" },
	{ NULL, "similar", NULL, "matches(x, 'pattern')" },
	{ "date", "'", NULL, "compare a date column with a text: day >= '2024-01-31'" },
	{ "timestamp", "'", NULL,
	  "compare a datetime column with a text: at >= '2024-01-31T09:30:00'" },
	{ "interval", NULL, NULL, "date_add(day, 1, 'month')" },
	{ "not", "null", NULL, "x is not null" },
	{ "is not", "none", NULL, "x is not null" },
	{ "is", "none", NULL, "x is null" },
	{ NULL, "desc", NULL, "a descending key is {\"col\": \"qty\", \"desc\": true}" },
	/* Python */
	{ NULL, "if", NULL, "if(condition, a, b)" },
	{ "f", "'", NULL, "concat(a, '-', b) puts values into a text" },
	{ "f", "\"", NULL, "concat(a, '-', b) puts values into a text" },
	{ "r", "'", NULL, "a backslash is an ordinary character here: write no r before the text" },
	{ NULL, NULL, ".isna(", "x is null" },
	{ NULL, NULL, ".isnull(", "x is null" },
	{ NULL, NULL, ".notna(", "x is not null" },
	{ NULL, NULL, ".notnull(", "x is not null" },
	{ NULL, NULL, ".isin(", "x in ('a', 'b')" },
	{ NULL, NULL, ".fillna(", "coalesce(x, 0)" },
	{ NULL, NULL, ".astype(", "int(x), float(x), text(x) and date(x) cast" },
	{ NULL, NULL, ".between(", "x between 1 and 9" },
	{ NULL, NULL, ".str.", "a function takes its column: contains(x, 'a'), upper(x)" },
	{ NULL, NULL, ".dt.", "a function takes its column: year(day), month(day)" },
	{ NULL, NULL, "is.na(", "x is null" },
	{ NULL, NULL, "%in%", "x in ('a', 'b')" },
	{ NULL, NULL, "case_when(", "case when x > 2 then 'a' else 'b' end" },
	{ NULL, ".", NULL, FN_CALLS },
	{ ")", "[", NULL, NO_MARK },
	{ NULL, "[", NULL, NO_MARK },
	{ NULL, "{", NULL, NO_MARK },
	{ NULL, "$", NULL, NO_MARK },
	{ NULL, "@", NULL, NO_MARK },
	{ NULL, "#", NULL, NO_MARK },
	{ "\\'", NULL, NULL, "a quote inside a text is doubled: 'it''s'" },
	{ "\\\"", NULL, NULL, "a quote inside a text is doubled" },
	/* spreadsheets and signs */
	{ "^", "=", NULL, "a formula does not begin with '='" },
	{ "==", "=", NULL, "equal is '==', different is '!='" },
	{ "!=", "=", NULL, "equal is '==', different is '!='" },
	{ "=", ">", NULL, "at least is '>=', at most '<='" },
	{ NULL, ";", NULL, "commas separate arguments" },
	{ NULL, "&", NULL, "'and' joins conditions, concat(a, b) joins texts" },
	{ NULL, "|", NULL, "'or' joins conditions, concat(a, b) joins texts" },
	{ NULL, "~", NULL, "'not' negates a condition, matches(x, 're') looks for a pattern" },
	{ NULL, "?", "??", "coalesce(a, b) takes the first that is not null" },
	{ NULL, "?", NULL, "if(condition, a, b)" },
	{ NULL, "^", NULL, "a power is a ** b" },
	{ "%", NULL, NULL,
	  "a percentage is a number: 0.2 is 20 %; a column of that name is in backticks: `rate "
	  "%`" },
	{ "0123456789", ",", NULL, "write a number without separators: 1000" },
};

static bool name_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static bool ends_with(struct dtx_str text, const char *tail)
{
	struct dtx_str t = dtx_str_of(tail);
	size_t from;

	if (strcmp(tail, "^") == 0)
		return text.len == 0;
	if (strcmp(tail, "0123456789") == 0)
		return text.len && text.ptr[text.len - 1] >= '0' && text.ptr[text.len - 1] <= '9';
	if (text.len < t.len)
		return false;
	from = text.len - t.len;
	if (!dtx_str_ieq((struct dtx_str){ text.ptr + from, t.len }, t))
		return false;
	return !name_byte(t.ptr[0]) || from == 0 || !name_byte(text.ptr[from - 1]);
}

/* Whether the token begins with a sign `want`, or is the word `want`. */
static bool is_token(struct dtx_str got, const char *want)
{
	if (!name_byte(want[0]))
		return dtx_str_starts(got, dtx_str_of(want));
	return dtx_str_ieq(got, dtx_str_of(want));
}

static bool holds(struct dtx_str text, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= text.len; i++)
		if (dtx_str_ieq((struct dtx_str){ text.ptr + i, n }, dtx_str_of(part)))
			return true;
	return false;
}

static bool fits(const struct slip *s, const struct dtx_parser *p, struct dtx_str before,
                 struct dtx_str got)
{
	return (!s->before || ends_with(before, s->before)) && (!s->got || is_token(got, s->got)) &&
	       (!s->in || holds(p->lx.text, s->in));
}

/* The name that ends at `end` of the text.  Empty: none ends there, or it is a keyword. */
static struct dtx_str name_before(struct dtx_str text, size_t end)
{
	size_t from = end;
	struct dtx_str name;

	while (from && name_byte(text.ptr[from - 1]))
		from--;
	name = (struct dtx_str){ text.ptr + from, end - from };
	return dtx_expr_is_keyword(name) ? (struct dtx_str){ name.ptr, 0 } : name;
}

static struct dtx_str name_after(struct dtx_str text, size_t from)
{
	size_t end = from;
	struct dtx_str name;

	while (end < text.len && name_byte(text.ptr[end]))
		end++;
	name = (struct dtx_str){ text.ptr + from, end - from };
	return dtx_expr_is_keyword(name) ? (struct dtx_str){ name.ptr, 0 } : name;
}

/* All names around [from, end) that are joined by one `mark`.  Usually that is the name of a
 * column. */
static struct dtx_str marked_name(struct dtx_str text, size_t from, size_t end, char mark)
{
	struct dtx_str name;

	while (from && text.ptr[from - 1] == mark && (name = name_before(text, from - 1)).len)
		from -= name.len + 1;
	while (end < text.len && text.ptr[end] == mark && (name = name_after(text, end + 1)).len)
		end += name.len + 1;
	return (struct dtx_str){ text.ptr + from, end - from };
}

enum { CALL_MAX = 64 };

bool dtx_parse_hint_call(struct dtx_parser *p, size_t from, size_t end, char mark)
{
	struct dtx_str name = marked_name(p->lx.text, from, end, mark);
	char joined[CALL_MAX];
	size_t i;

	if (name.len == end - from || name.len >= CALL_MAX ||
	    name.ptr + name.len == p->lx.text.ptr + p->lx.text.len || name.ptr[name.len] != '(')
		return false;
	for (i = 0; i < name.len; i++)
		joined[i] = name.ptr[i] == mark ? '_' : name.ptr[i];
	joined[i] = '\0';
	if (!dtx_fn_find(dtx_str_of(joined), 1))
		return false;
	dtx_fn_suggest(joined, p->err);
	return true;
}

/* Two names next to each other are usually one name that contains a blank. */
static void hint_blank(struct dtx_parser *p, struct dtx_str before)
{
	struct dtx_str name = marked_name(p->lx.text, p->lx.start, p->lx.end, ' ');

	if (name_before(before, before.len).len)
		dtx_err_hint(p->err, "a column whose name has a blank is written `%.*s`",
		             (int)DTX_MIN(name.len, (size_t)120), name.ptr);
}

/* a.b.c is a name that contains points, unless it is followed by a call. */
static bool hint_points(struct dtx_parser *p)
{
	struct dtx_str text = p->lx.text, first = name_before(text, p->lx.start), name;

	if (!first.len || !name_after(text, p->lx.end).len)
		return false;
	name = marked_name(text, p->lx.start - first.len, p->lx.start, '.');
	if (name.ptr + name.len < text.ptr + text.len && name.ptr[name.len] == '(')
		return false;
	dtx_err_hint(p->err, "a column whose name has a point is written `%.*s`",
	             (int)DTX_MIN(name.len, (size_t)120), name.ptr);
	return true;
}

static struct dtx_str token_text(const struct dtx_parser *p)
{
	return (struct dtx_str){ p->lx.text.ptr + p->lx.start, p->lx.end - p->lx.start };
}

static struct dtx_str text_before(const struct dtx_parser *p)
{
	struct dtx_str before = { p->lx.text.ptr, p->lx.start };

	while (before.len &&
	       (before.ptr[before.len - 1] == ' ' || before.ptr[before.len - 1] == '\n'))
		before.len--;
	return before;
}

bool dtx_parse_slip(struct dtx_parser *p)
{
	struct dtx_str before = text_before(p), got = token_text(p);

	for (size_t i = 0; i < DTX_COUNT(slips); i++) {
		if (!fits(&slips[i], p, before, got))
			continue;
		if (!slips[i].in && is_token(got, ".") && hint_points(p))
			return true;
		dtx_err_hint(p->err, "%s", slips[i].hint);
		return true;
	}
	return false;
}

void dtx_parse_hint(struct dtx_parser *p)
{
	struct dtx_str got = token_text(p);

	if (p->lx.kind == DTX_TK_NAME && dtx_parse_hint_call(p, p->lx.start, p->lx.end, ' '))
		return;
	if (dtx_parse_slip(p))
		return;
	if (p->lx.kind == DTX_TK_KEYWORD)
		dtx_err_hint(p->err,
		             "'%.*s' is a word of the language; a column of that name is "
		             "written `%.*s`",
		             (int)got.len, got.ptr, (int)got.len, got.ptr);
	else if (p->lx.kind == DTX_TK_NAME)
		hint_blank(p, text_before(p));
}
