/* Number formats, see numfmt.h: a tokenizer of format codes, the class that follows from the
 * tokens, and the display of common formats. Source: ECMA-376 part 1, 18.8.31. */
#include "core/io/sheet/numfmt.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/data/time/time.h"

/* --- built-in formats --- */

static const struct {
	uint32_t from, to;
	enum dtx_fmt_class cls;
} builtin[] = {
	{ 14, 17, DTX_FMT_DATE },         { 18, 21, DTX_FMT_TIME },
	{ 22, 22, DTX_FMT_DATETIME },     { 27, 31, DTX_FMT_DATE },
	{ 32, 33, DTX_FMT_TIME },         { 34, 35, DTX_FMT_DATE_OR_TIME },
	{ 36, 36, DTX_FMT_DATE },         { 45, 45, DTX_FMT_TIME },
	{ 46, 46, DTX_FMT_DURATION },     { 47, 47, DTX_FMT_TIME },
	{ 49, 49, DTX_FMT_TEXT },         { 50, 54, DTX_FMT_DATE },
	{ 55, 56, DTX_FMT_DATE_OR_TIME }, { 57, 58, DTX_FMT_DATE },
	{ 71, 74, DTX_FMT_DATE },         { 75, 76, DTX_FMT_TIME },
	{ 77, 77, DTX_FMT_DATETIME },     { 78, 78, DTX_FMT_TIME },
	{ 79, 79, DTX_FMT_DURATION },     { 80, 80, DTX_FMT_TIME },
	{ 81, 81, DTX_FMT_DATE },
};

enum dtx_fmt_class dtx_fmt_builtin(uint32_t id)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(builtin); i++) {
		if (id >= builtin[i].from && id <= builtin[i].to)
			return builtin[i].cls;
	}
	return DTX_FMT_NUMBER;
}

const char *dtx_fmt_builtin_code(uint32_t id)
{
	static const char *const code[50] = {
		[1] = "0",
		[2] = "0.00",
		[3] = "#,##0",
		[4] = "#,##0.00",
		[9] = "0%",
		[10] = "0.00%",
		[11] = "0.00E+00",
		[12] = "# ?/?",
		[13] = "# ?"
		       "?/?"
		       "?",
		[14] = "mm-dd-yy",
		[15] = "d-mmm-yy",
		[16] = "d-mmm",
		[17] = "mmm-yy",
		[18] = "h:mm AM/PM",
		[19] = "h:mm:ss AM/PM",
		[20] = "h:mm",
		[21] = "h:mm:ss",
		[22] = "m/d/yy h:mm",
		[37] = "#,##0 ;(#,##0)",
		[38] = "#,##0 ;[Red](#,##0)",
		[39] = "#,##0.00;(#,##0.00)",
		[40] = "#,##0.00;[Red](#,##0.00)",
		[45] = "mm:ss",
		[46] = "[h]:mm:ss",
		[47] = "mmss.0",
		[48] = "##0.0E+0",
		[49] = "@",
	};

	return id < DTX_COUNT(code) && code[id] ? code[id] : "General";
}

/* --- tokens of a code --- */

enum token_kind {
	TOK_END,
	TOK_LITERAL,
	TOK_DATE,
	TOK_TIME,
	TOK_ELAPSED,
	TOK_MONTH,
	TOK_AMPM,
	TOK_DIGIT,
	TOK_GENERAL,
	TOK_EXPONENT,
	TOK_TEXT
};
struct token {
	enum token_kind kind;
	/* LITERAL: the text that is shown; otherwise the letters of the token */
	struct dtx_str text;
};

static bool same_letter(char a, char b)
{
	return (a | 32) == (b | 32);
}

static size_t letter_run(struct dtx_str s)
{
	size_t n = 1;

	while (n < s.len && same_letter(s.ptr[n], s.ptr[0]))
		n++;
	return n;
}

static bool starts_ieq(struct dtx_str s, const char *word)
{
	size_t n = strlen(word);

	return s.len >= n && dtx_str_ieq((struct dtx_str){ s.ptr, n }, dtx_str_of(word));
}

/* [h], [mm] and [s] are elapsed time. [Red], [$-409] and [>0] are not shown; [$EUR-407] shows
 * EUR. */
static size_t bracket_token(struct dtx_str s, struct token *t)
{
	const char *close = memchr(s.ptr, ']', s.len);
	size_t len = close ? (size_t)(close - s.ptr) + 1 : s.len;
	struct dtx_str in = { s.ptr + 1, close ? len - 2 : len - 1 };
	char c = in.len ? (char)(in.ptr[0] | 32) : 0;

	if (close && (c == 'h' || c == 'm' || c == 's') && letter_run(in) == in.len) {
		*t = (struct token){ TOK_ELAPSED, in };
		return len;
	}
	*t = (struct token){ TOK_LITERAL, { in.ptr, 0 } };
	if (in.len && in.ptr[0] == '$') {
		const char *dash = memchr(in.ptr, '-', in.len);

		t->text.ptr = in.ptr + 1;
		t->text.len = (dash ? (size_t)(dash - in.ptr) : in.len) - 1;
	}
	return len;
}

/* Reads quoted and escaped characters; returns 0 if none. */
static size_t literal_token(struct dtx_str s, struct token *t)
{
	const char *close;
	size_t len;

	switch (s.ptr[0]) {
	case '"':
		close = memchr(s.ptr + 1, '"', s.len - 1);
		len = close ? (size_t)(close - s.ptr) + 1 : s.len;
		*t = (struct token){ TOK_LITERAL, { s.ptr + 1, close ? len - 2 : len - 1 } };
		return len;
	case '\\':
	case '_':
	case '*':
		len = DTX_MIN(s.len, (size_t)2);
		*t = (struct token){ TOK_LITERAL, { s.ptr + 1, s.ptr[0] == '\\' ? len - 1 : 0 } };
		if (s.ptr[0] == '_')
			t->text = DTX_STR(" ");
		return len;
	default: return 0;
	}
}

static size_t letter_token(struct dtx_str s, struct token *t)
{
	static const struct {
		const char *word;
		enum token_kind kind;
	} word[] = { { "general", TOK_GENERAL },
		     { "am/pm", TOK_AMPM },
		     { "a/p", TOK_AMPM },
		     { "e+", TOK_EXPONENT },
		     { "e-", TOK_EXPONENT } };
	char c = (char)(s.ptr[0] | 32);
	size_t i, n;

	for (i = 0; i < DTX_COUNT(word); i++) {
		n = strlen(word[i].word);
		if (starts_ieq(s, word[i].word)) {
			*t = (struct token){ word[i].kind, { s.ptr, n } };
			return n;
		}
	}
	n = letter_run(s);
	t->text = (struct dtx_str){ s.ptr, n };
	t->kind = c == 'y' || c == 'd' || c == 'e' || c == 'g' ? TOK_DATE
	          : c == 'h' || c == 's'                       ? TOK_TIME
	          : c == 'm'                                   ? TOK_MONTH
	                                                       : TOK_LITERAL;
	return n;
}

/* Cuts the next token of the first section off *rest. */
static struct token next_token(struct dtx_str *rest)
{
	struct token t = { TOK_END, *rest };
	char c = rest->len ? rest->ptr[0] : ';';
	size_t n;

	if (c == ';')
		return t;
	n = literal_token(*rest, &t);
	if (!n && c == '[')
		n = bracket_token(*rest, &t);
	else if (!n && (c | 32) >= 'a' && (c | 32) <= 'z')
		n = letter_token(*rest, &t);
	else if (!n) {
		n = 1;
		t.text.len = 1;
		t.kind = c == '@' ? TOK_TEXT : strchr("0#?", c) ? TOK_DIGIT : TOK_LITERAL;
	}
	rest->ptr += n;
	rest->len -= n;
	return t;
}

/* m means minutes directly after hours or directly before seconds. */
static bool is_minutes(const struct token *before, struct dtx_str rest)
{
	struct token t;

	if ((before->kind == TOK_TIME || before->kind == TOK_ELAPSED) &&
	    (before->text.ptr[0] | 32) == 'h')
		return true;
	do {
		t = next_token(&rest);
	} while (t.kind == TOK_LITERAL);
	return (t.kind == TOK_TIME || t.kind == TOK_ELAPSED) && (t.text.ptr[0] | 32) == 's';
}

/* Whether the first section is a word that replaces some values, as in [=0]"";dd/mm/yyyy. */
static bool is_word_for_some(struct dtx_str section)
{
	const char *at = section.ptr;
	bool some = false;
	struct token t;

	for (t = next_token(&section); t.kind == TOK_LITERAL; t = next_token(&section)) {
		some |= section.ptr - at > 2 && at[0] == '[' && strchr("<>=", at[1]);
		at = section.ptr;
	}
	return some && t.kind == TOK_END && section.len;
}

/* The code from the first section on that applies to the other values. */
static struct dtx_str telling_section(struct dtx_str code)
{
	struct token t;

	while (is_word_for_some(code)) {
		do {
			t = next_token(&code);
		} while (t.kind != TOK_END);
		code = (struct dtx_str){ code.ptr + 1, code.len - 1 };
	}
	return code;
}

enum dtx_fmt_class dtx_fmt_classify(struct dtx_str code)
{
	struct token t, before = { TOK_END, { NULL, 0 } };
	bool date = false, time = false, elapsed = false, text = false;

	code = telling_section(code);
	for (t = next_token(&code); t.kind != TOK_END; t = next_token(&code)) {
		if (t.kind == TOK_MONTH)
			t.kind = is_minutes(&before, code) ? TOK_TIME : TOK_DATE;
		date |= t.kind == TOK_DATE;
		time |= t.kind == TOK_TIME || t.kind == TOK_AMPM;
		elapsed |= t.kind == TOK_ELAPSED;
		text |= t.kind == TOK_TEXT;
		if (t.kind != TOK_LITERAL)
			before = t;
	}
	return elapsed        ? DTX_FMT_DURATION
	       : date && time ? DTX_FMT_DATETIME
	       : date         ? DTX_FMT_DATE
	       : time         ? DTX_FMT_TIME
	       : text         ? DTX_FMT_TEXT
	                      : DTX_FMT_NUMBER;
}

bool dtx_fmt_is_utc(struct dtx_str code)
{
	struct token t, last = { TOK_END, { NULL, 0 } };

	code = telling_section(code);
	for (t = next_token(&code); t.kind != TOK_END; t = next_token(&code))
		last = t;
	return last.kind == TOK_LITERAL && (dtx_str_is(dtx_str_trim(last.text), "Z") ||
	                                    dtx_str_is(dtx_str_trim(last.text), "UTC"));
}

unsigned dtx_fmt_zeros(struct dtx_str code)
{
	unsigned n = 0;

	while (code.len && code.ptr[0] != ';') {
		const char *at = code.ptr;
		struct token t = next_token(&code);

		if (strchr(".,%#?/", *at) || (t.kind != TOK_LITERAL && t.kind != TOK_DIGIT))
			return 0;
		n += t.kind == TOK_DIGIT;
	}
	return n > 1 ? n : 0;
}

enum dtx_cell_tag dtx_fmt_tag(enum dtx_fmt_class cls, double serial, bool epoch1904, bool *bad)
{
	bool whole;
	int64_t us;

	*bad = false;
	if (cls == DTX_FMT_NUMBER || cls == DTX_FMT_TEXT)
		return DTX_CELL_NUMBER;
	/* nearly all values: days that exist in both epochs */
	if ((cls == DTX_FMT_DATE || cls == DTX_FMT_DATETIME) && serial >= 61 && serial < 2957003)
		return cls == DTX_FMT_DATE && serial == (double)(int32_t)serial ? DTX_CELL_DATE
		                                                                : DTX_CELL_DATETIME;
	whole = floor(serial) == serial;
	if (cls == DTX_FMT_DURATION)
		return DTX_CELL_DURATION;
	if (cls == DTX_FMT_DATE_OR_TIME)
		cls = whole ? DTX_FMT_DATE : DTX_FMT_TIME;
	if (cls == DTX_FMT_TIME && serial >= 0 && serial < 1)
		return DTX_CELL_TIME;
	/* before the first day, only the time of day is meant */
	if (cls == DTX_FMT_DATETIME && serial > 0 && serial < 1 && !epoch1904)
		return DTX_CELL_TIME;
	*bad = !dtx_serial_to_us(serial, epoch1904, &us);
	return cls == DTX_FMT_DATE && whole ? DTX_CELL_DATE : DTX_CELL_DATETIME;
}

/* --- display --- */

static void show_date_part(struct dtx_str tok, bool minutes, bool twelve, int64_t us,
                           struct dtx_buf *out)
{
	static const char *const format[][4] = {
		/* by number of letters: one, two, three, more */
		{ "%y", "%y", "%Y", "%Y" }, { "%d", "%d", "%a", "%A" }, { "%m", "%m", "%b", "%B" },
		{ "%H", "%H", "%H", "%H" }, { "%M", "%M", "%M", "%M" }, { "%S", "%S", "%S", "%S" },
		{ "%I", "%I", "%I", "%I" },
	};
	char c = (char)(tok.ptr[0] | 32);
	size_t row = c == 'y' || c == 'e' ? 0
	             : c == 'd'           ? 1
	             : c == 'm'           ? (minutes ? 4 : 2)
	             : c == 'h'           ? (twelve ? 6 : 3)
	                                  : 5;
	const char *f = format[row][DTX_MIN(tok.len, (size_t)4) - 1];
	size_t from = out->len;

	if (c == 'g')
		return;
	dtx_time_format(us, dtx_str_of(f), out);
	/* a single letter shows no leading zero */
	if (tok.len == 1 && row != 0 && out->len == from + 2 && out->ptr[from] == '0') {
		out->ptr[from] = out->ptr[from + 1];
		out->len--;
	}
}

static bool has_ampm(struct dtx_str code)
{
	struct token t;

	for (t = next_token(&code); t.kind != TOK_END; t = next_token(&code)) {
		if (t.kind == TOK_AMPM)
			return true;
	}
	return false;
}

static void show_date(struct dtx_str code, int64_t us, struct dtx_buf *out)
{
	struct token t, before = { TOK_END, { NULL, 0 } };
	bool twelve = has_ampm(code);

	for (t = next_token(&code); t.kind != TOK_END; t = next_token(&code)) {
		bool minutes = t.kind == TOK_MONTH && is_minutes(&before, code);

		if (t.kind == TOK_DATE || t.kind == TOK_TIME || t.kind == TOK_MONTH)
			show_date_part(t.text, minutes, twelve, us, out);
		else if (t.kind == TOK_AMPM)
			dtx_time_format(us, DTX_STR("%p"), out);
		else if (t.kind == TOK_LITERAL)
			dtx_buf_adds(out, t.text);
		if (t.kind != TOK_LITERAL)
			before = t;
	}
}

static void show_general(double v, struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	dtx_buf_addn(out, text, dtx_num_print_json(text, v));
}

/* Shows "0", "0.00", "#,##0.0" and these with "%". Returns false for other forms. */
static bool show_fixed(struct dtx_str code, double v, struct dtx_buf *out)
{
	struct dtx_str body = code;
	const char *semi = code.len ? memchr(code.ptr, ';', code.len) : NULL, *dot;
	bool percent, group;
	size_t decimals, i;
	char text[400];
	int n;

	body.len = semi ? (size_t)(semi - code.ptr) : code.len;
	percent = body.len && body.ptr[body.len - 1] == '%';
	body.len -= percent;
	for (i = 0; i < body.len; i++) {
		if (!strchr("#0,.", body.ptr[i]))
			return false;
	}
	dot = body.len ? memchr(body.ptr, '.', body.len) : NULL;
	decimals = dot ? body.len - (size_t)(dot - body.ptr) - 1 : 0;
	group = body.len && memchr(body.ptr, ',', body.len);
	if (!body.len || decimals > 15 || fabs(v) > 1e15)
		return false;
	n = snprintf(text, sizeof(text), "%.*f", (int)decimals, percent ? v * 100 : v);
	for (i = 0; n > 0 && i < (size_t)n; i++) {
		size_t left = (size_t)n - i - (decimals ? decimals + 1 : 0);

		if (group && i && text[i - 1] != '-' &&
		    i < (size_t)n - (decimals ? decimals + 1 : 0) && left % 3 == 0)
			dtx_buf_addc(out, ',');
		dtx_buf_addc(out, text[i]);
	}
	if (percent)
		dtx_buf_addc(out, '%');
	return true;
}

void dtx_fmt_show(struct dtx_str code, enum dtx_fmt_class cls, double value, bool epoch1904,
                  struct dtx_buf *out)
{
	int64_t us;

	code = telling_section(code);
	if (cls == DTX_FMT_NUMBER || cls == DTX_FMT_TEXT) {
		if (!show_fixed(code, value, out))
			show_general(value, out);
	} else if (cls == DTX_FMT_TIME && value >= 0 && value < 1) {
		show_date(code, (int64_t)llround(value * 86400e3) * 1000, out);
	} else if (cls != DTX_FMT_DURATION && dtx_serial_to_us(value, epoch1904, &us)) {
		show_date(code, us, out);
	} else {
		show_general(value, out);
	}
}
