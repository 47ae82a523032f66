/* Tables in the words of programs: line ends that are spelled out, tuples of SQL, tables of
 * AsciiDoc.  What is no cell becomes blanks, so that every byte keeps its place. */
#include <ctype.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/csv.h"
#include "core/io/lines.h"

#define CODE_TEXT  ((size_t)16 << 20) /* a larger text is left as it is */
#define CODE_LINES 64                 /* a table begins within so many */
#define CODE_RULE  '\x01'             /* begins a line that is no record */

/* --- "a,b\n1,2\n" in one line --- */

/* Length of the line end that is spelled out there. */
static size_t spelled_end(struct dtx_str s, size_t at)
{
	struct dtx_str rest = { s.ptr + at, s.len - at };

	return dtx_str_starts(rest, DTX_STR("\\r\\n")) ? 4
	       : dtx_str_starts(rest, DTX_STR("\\n"))  ? 2
	                                               : 0;
}

static size_t next_end(struct dtx_str s, size_t at)
{
	while (at < s.len && !spelled_end(s, at))
		at++;
	return at;
}

/* Such bytes, without those in quotes. */
static size_t count_in(struct dtx_str s, size_t from, size_t to, char c)
{
	bool quoted = false;
	size_t n = 0;

	for (; from < to; from++) {
		n += s.ptr[from] == c && !quoted;
		quoted ^= s.ptr[from] == '"';
	}
	return n;
}

/* The pieces between spelled ends hold equally many of some delimiter. */
static bool are_spelled_lines(struct dtx_str s)
{
	static const char delims[] = ",;\t|";
	size_t i, at, end, n, first, pieces;

	for (i = 0; delims[i]; i++) {
		first = count_in(s, 0, next_end(s, 0), delims[i]);
		pieces = 0;
		for (at = 0; at < s.len; at = end + spelled_end(s, end)) {
			end = next_end(s, at);
			n = count_in(s, at, end, delims[i]);
			if (!first || n != first)
				break;
			pieces++;
		}
		if (at >= s.len && pieces > 2)
			return true;
	}
	return false;
}

/* The whole is one string of a program, with its quotes. */
static bool is_string(struct dtx_str s)
{
	size_t i;

	if (s.len < 2 || s.ptr[0] != '"' || s.ptr[s.len - 1] != '"')
		return false;
	for (i = 1; i + 1 < s.len; i++) {
		if (s.ptr[i] == '"' || (s.ptr[i] == '\\' && !strchr("nrt\"\\/", s.ptr[i + 1])))
			return false;
		i += s.ptr[i] == '\\';
	}
	return i + 1 == s.len;
}

static char unescaped(char c)
{
	return c == 't' ? '\t' : c;
}

static enum dtx_code take_spelled(struct dtx_csv *c, struct dtx_str s, bool string,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_alloc(s.len + 1, 1);
	size_t at, n = 0, end;

	if (!copy)
		DTX_FAIL_MEM(err);
	for (at = 0; at < s.len; at += end ? end : 1) {
		end = spelled_end(s, at);
		if (end) {
			copy[n++] = '\n';
		} else if (string && s.ptr[at] == '\\') {
			copy[n++] = unescaped(s.ptr[++at]);
		} else {
			copy[n++] = s.ptr[at];
		}
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, n, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "spells its line ends as \\n, all of it in one line", err));
out:
	return rc;
}

static enum dtx_code spelled(struct dtx_csv *c, struct dtx_str text, bool *took,
                             struct dtx_err *err)
{
	struct dtx_str s = dtx_utf8_trim(text);
	bool string = is_string(s);

	if (string)
		s = (struct dtx_str){ s.ptr + 1, s.len - 2 };
	*took = !memchr(s.ptr, '\n', s.len) && !memchr(s.ptr, '\r', s.len) &&
	        dtx_str_find(s, DTX_STR("\\n"), 0) >= 0 && are_spelled_lines(s);
	return *took ? take_spelled(c, s, string, err) : DTX_OK;
}

/* --- tuples of SQL --- */

struct sql_line {
	struct dtx_str names, values; /* inside their parentheses; ptr NULL: there are none */
	bool ended;                   /* ... with a comma or a semicolon behind them */
	bool plain;                   /* a statement or a comment without values */
};
struct sql {
	uint32_t ncells;        /* of a tuple */
	uint32_t tuples, ended; /* ... those that a comma or a semicolon ends */
	bool named, escapes;
	size_t body; /* where the first tuple's line begins */
};

static bool has_word(struct dtx_str s, const char *word)
{
	size_t len = strlen(word);

	return s.len >= len && dtx_str_ieq((struct dtx_str){ s.ptr, len }, dtx_str_of(word)) &&
	       (s.len == len || !isalnum((unsigned char)s.ptr[len]));
}

static struct dtx_str behind(struct dtx_str s, size_t n)
{
	return dtx_utf8_trim((struct dtx_str){ s.ptr + n, s.len - n });
}

/* Cells of a tuple up to its closing parenthesis, whose place is *end; 0: there is none. */
static uint32_t tuple_cells(struct dtx_str s, size_t *end)
{
	uint32_t n = 1, depth = 0;
	char quote = 0;
	size_t i;

	for (i = 1; i < s.len; i++) {
		char c = s.ptr[i];

		if (quote) {
			i += c == '\\';
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"' || c == '`') {
			quote = c;
		} else if (c == '(') {
			depth++;
		} else if (c == ')' && !depth--) {
			*end = i;
			return n;
		} else if (c == ',' && !depth) {
			n++;
		}
	}
	return 0;
}

/* "(1,'a')," alone on a line, or behind VALUES. */
static bool take_tuple(struct dtx_str s, struct sql_line *out)
{
	size_t end;

	if (s.len < 3 || s.ptr[0] != '(' || !tuple_cells(s, &end))
		return false;
	out->values = (struct dtx_str){ s.ptr + 1, end - 1 };
	s = behind(s, end + 1);
	out->ended = s.len == 1 && strchr(",;", s.ptr[0]);
	return !s.len || out->ended;
}

/* "INSERT INTO t (a, b) VALUES", and maybe a tuple behind it. */
static bool sql_insert(struct dtx_str s, struct sql_line *out)
{
	size_t end = 0;
	ptrdiff_t open;

	s = behind(s, strlen("insert"));
	if (!has_word(s, "into"))
		return false;
	for (s = behind(s, strlen("into")); s.len && s.ptr[0] != '(' && !has_word(s, "values");)
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	open = s.len && s.ptr[0] == '(';
	if (open) {
		if (!tuple_cells(s, &end))
			return false;
		out->names = (struct dtx_str){ s.ptr + 1, end - 1 };
		s = behind(s, end + 1);
	}
	if (!has_word(s, "values"))
		return false;
	s = behind(s, strlen("values"));
	return !s.len || take_tuple(s, out);
}

static bool sql_line(struct dtx_str line, struct sql_line *out)
{
	static const char *const others[] = { "begin",  "commit", "set", "use",   "lock",
		                              "unlock", "drop",   "go",  "start", "truncate" };
	struct dtx_str s = dtx_utf8_trim(line);
	size_t i;

	*out = (struct sql_line){ .plain = false };
	if (!s.len || dtx_str_starts(s, DTX_STR("--")) || dtx_str_starts(s, DTX_STR("/*")))
		return out->plain = true;
	if (has_word(s, "insert"))
		return sql_insert(s, out);
	if (has_word(s, "values"))
		s = behind(s, strlen("values"));
	if (!s.len || take_tuple(s, out))
		return true;
	for (i = 0; i < DTX_COUNT(others); i++) {
		if (has_word(s, others[i]) && s.ptr[s.len - 1] == ';')
			return out->plain = true;
	}
	return false;
}

/* All lines are tuples of as many cells, or what stands between them. */
static bool find_sql(struct dtx_str text, struct sql *q)
{
	struct dtx_str line;
	struct sql_line l;
	uint32_t n;
	size_t at = 0, end;

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		if (!sql_line(line, &l))
			return false;
		q->named |= l.names.ptr && !q->tuples;
		if (!l.values.ptr)
			continue;
		n = tuple_cells((struct dtx_str){ l.values.ptr - 1, l.values.len + 2 }, &end);
		if (q->tuples++ && n != q->ncells)
			return false;
		q->body = q->tuples == 1 ? at : q->body;
		q->ncells = n;
		q->ended += l.ended;
		q->escapes |= dtx_str_find(l.values, DTX_STR("\\'"), 0) >= 0;
	}
	return q->tuples > 1 && q->ncells > 1 && q->ended + 1 >= q->tuples;
}

/* Only the tuple stays, below the names of the first statement. */
static void put_sql(struct dtx_str line, const struct sql_line *l, bool named, char *to)
{
	size_t i;

	for (i = 0; i < line.len; i++) {
		const char *p = line.ptr + i;
		bool name = named && p >= l->names.ptr && p < l->names.ptr + l->names.len;
		bool value =
			l->values.ptr && p >= l->values.ptr && p < l->values.ptr + l->values.len;

		if (!name && !value)
			to[i] = ' ';
		else if (name && strchr("`\"[]", *p))
			to[i] = ' ';
	}
	if (named && l->values.ptr) /* both in one line */
		to[l->values.ptr - line.ptr - 1] = '\n';
}

static enum dtx_code take_sql(struct dtx_csv *c, struct dtx_str text, const struct sql *q,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_alloc(text.len + 1, 1);
	struct dtx_str line;
	struct sql_line l;
	bool named = q->named;
	size_t at = 0;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, text.ptr, text.len);
	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		(void)sql_line(line, &l);
		put_sql(line, &l, named && l.names.ptr, copy + at);
		if (line.len && !l.values.ptr && !(named && l.names.ptr))
			copy[at] = CODE_RULE;
		named = named && !l.names.ptr;
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, text.len, err));
	c->opts.delimiter = ",";
	c->opts.quote = "'";
	c->opts.escape = q->escapes ? "\\" : NULL;
	c->opts.trim = true;
	c->opts.comment = "\x01";
	c->opts.header_rows = c->opts.header_rows < 0 ? q->named : c->opts.header_rows;
	DTX_TRY(dtx_csv_note_text(
		c, DTX_W_READER_NOTE,
		"is made of statements of SQL: the tuples of their values are read", err));
out:
	return rc;
}

/* --- tables of AsciiDoc --- */

struct adoc {
	size_t from, to; /* the lines between "|===" and "|===" */
	uint32_t ncells; /* of the first of them */
};

static bool is_fence(struct dtx_str line)
{
	return dtx_str_eq(dtx_utf8_trim(line), DTX_STR("|==="));
}

/* The first table; each of its lines begins with a bar, and the cells are so many times as many as
 * the first line has. */
static bool find_adoc(struct dtx_str text, struct adoc *a)
{
	struct dtx_str line, s;
	size_t at = 0, cells = 0, rows = 0, lines = 0;
	bool open = false;

	for (; at < text.len && (open || lines++ < CODE_LINES); at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (is_fence(line)) {
			a->to = at;
			if (open)
				return a->ncells > 1 && rows > 1 && cells % a->ncells == 0;
			open = true;
			a->from = dtx_line_behind(text, line);
		} else if (open && s.len) {
			if (s.ptr[0] != '|')
				return false;
			cells += count_in(s, 0, s.len, '|');
			a->ncells = rows++ ? a->ncells : (uint32_t)cells;
		}
	}
	return false;
}

/* Lines of single cells become one. */
static void put_adoc(struct dtx_str text, const struct adoc *a, char *to)
{
	struct dtx_str line, s;
	uint32_t n = 0;
	size_t at, end;

	for (at = 0; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (at < a->from || at >= a->to) {
			to[at] = line.len ? CODE_RULE : to[at];
			continue;
		}
		if (!s.len)
			continue;
		if (!n)
			to[s.ptr - text.ptr] = ' ';
		n += (uint32_t)count_in(s, 0, s.len, '|');
		end = at + line.len;
		for (; n < a->ncells && end < a->to && dtx_line_is_end(text.ptr[end]); end++)
			to[end] = ' ';
		n = n >= a->ncells ? 0 : n;
	}
}

static enum dtx_code take_adoc(struct dtx_csv *c, struct dtx_str text, const struct adoc *a,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_alloc(text.len + 1, 1);

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, text.ptr, text.len);
	put_adoc(text, a, copy);
	DTX_TRY(dtx_encoding_take(&c->enc, copy, text.len, err));
	c->opts.delimiter = "|";
	c->opts.quote = "";
	c->opts.trim = true;
	c->opts.comment = "\x01";
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "is text in AsciiDoc: its first table is read", err));
out:
	return rc;
}

enum dtx_code dtx_csv_code(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len };
	struct adoc a = { .ncells = 0 };
	struct sql q = { .tuples = 0 };
	bool took = false;

	if (text.len > CODE_TEXT)
		goto out;
	DTX_TRY(spelled(c, text, &took, err));
	if (took)
		goto out;
	if (find_sql(text, &q))
		DTX_TRY(take_sql(c, text, &q, err));
	else if (find_adoc(text, &a))
		DTX_TRY(take_adoc(c, text, &a, err));
out:
	return rc;
}
