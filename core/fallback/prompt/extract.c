/* Finds the Python module in an answer, see extract.h. Fences are recognised as in CommonMark. */
#include "core/fallback/prompt/extract.h"

/* --- <think> sections --- */

/* Appends `in` without <think>...</think>. One that is not closed hides the rest. */
static void extract_drop_thoughts(struct dtx_str in, struct dtx_buf *out)
{
	static const struct dtx_str open = { "<think>", 7 }, close = { "</think>", 8 };
	size_t pos = 0;

	while (pos < in.len) {
		ptrdiff_t start = dtx_str_find(in, open, pos), end;

		if (start < 0)
			break;
		dtx_buf_addn(out, in.ptr + pos, (size_t)start - pos);
		end = dtx_str_find(in, close, (size_t)start);
		pos = end < 0 ? in.len : (size_t)end + close.len;
	}
	dtx_buf_addn(out, in.ptr + pos, in.len - pos);
}

/* --- lines --- */

/* Gets the next line without its end (LF or CRLF); returns false at the end of the text. */
static bool extract_line(struct dtx_str *rest, struct dtx_str *line)
{
	const char *end;

	if (!rest->len)
		return false;
	end = memchr(rest->ptr, '\n', rest->len);
	line->ptr = rest->ptr;
	line->len = end ? (size_t)(end - rest->ptr) : rest->len;
	rest->ptr += line->len + (end != NULL);
	rest->len -= line->len + (end != NULL);
	if (line->len && line->ptr[line->len - 1] == '\r')
		line->len--;
	return true;
}

struct extract_fence {
	char mark;
	size_t n; /* number of marks */
	size_t indent;
	struct dtx_str info; /* trimmed */
};

/* Whether a line is a fence: three or more marks, indented by at most three blanks. */
static bool extract_fence(struct dtx_str line, struct extract_fence *f)
{
	size_t pos = 0, end;

	while (pos < line.len && line.ptr[pos] == ' ')
		pos++;
	if (pos > 3 || pos == line.len || (line.ptr[pos] != '`' && line.ptr[pos] != '~'))
		return false;
	f->indent = pos;
	f->mark = line.ptr[pos];
	for (end = pos; end < line.len && line.ptr[end] == f->mark; end++)
		;
	f->n = end - pos;
	f->info = dtx_str_trim((struct dtx_str){ line.ptr + end, line.len - end });
	/* a line such as "```code``` in a sentence" is not a fence */
	return f->n >= 3 && !(f->mark == '`' && memchr(f->info.ptr, '`', f->info.len));
}

static bool extract_closes(struct dtx_str line, const struct extract_fence *open)
{
	struct extract_fence f;

	return extract_fence(line, &f) && f.mark == open->mark && f.n >= open->n && !f.info.len;
}

/* --- blocks --- */

static bool extract_is_python(struct dtx_str info)
{
	static const char *const tags[] = { "python", "py", "python3" };
	struct dtx_str word = info;
	size_t i;

	for (word.len = 0; word.len < info.len && !strchr(" \t{,", info.ptr[word.len]);)
		word.len++;
	if (!word.len)
		return true;
	for (i = 0; i < DTX_COUNT(tags); i++) {
		if (dtx_str_ieq(word, dtx_str_of(tags[i])))
			return true;
	}
	return false;
}

/* Whether a line starts with "def transform", followed by a blank or "(". */
static bool extract_defines(struct dtx_str code)
{
	static const char head[] = "def transform";
	const size_t n = sizeof(head) - 1;
	struct dtx_str line;

	while (extract_line(&code, &line)) {
		if (line.len > n && !memcmp(line.ptr, head, n) && strchr(" \t(", line.ptr[n]))
			return true;
	}
	return false;
}

static void extract_add_line(struct dtx_str line, size_t indent, struct dtx_buf *out)
{
	while (indent && line.len && line.ptr[0] == ' ') {
		line.ptr++;
		line.len--;
		indent--;
	}
	dtx_buf_adds(out, line);
	dtx_buf_addc(out, '\n');
}

struct extract_found {
	struct dtx_buf best, now;
	bool any, open; /* a fence was seen; the last block is not closed */
};

static void extract_blocks(struct dtx_str text, struct extract_found *f)
{
	struct extract_fence fence = { '`', 3, 0, { "", 0 } };
	struct dtx_str line;

	while (extract_line(&text, &line)) {
		if (!f->open) {
			f->open = extract_fence(line, &fence);
			f->any = f->any || f->open;
			dtx_buf_reset(&f->now);
		} else if (!extract_closes(line, &fence)) {
			extract_add_line(line, fence.indent, &f->now);
		} else {
			f->open = false;
			if (!extract_is_python(fence.info) ||
			    !extract_defines((struct dtx_str){ f->now.ptr, f->now.len }))
				continue;
			dtx_buf_reset(&f->best);
			dtx_buf_addn(&f->best, f->now.ptr, f->now.len);
		}
	}
}

/* Copies the code without blank lines at its end and with one final newline. */
static enum dtx_code extract_finish(struct dtx_str code, struct dtx_buf *module,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line;
	size_t from = module->len, end = from;

	while (extract_line(&code, &line)) {
		extract_add_line(line, 0, module);
		if (dtx_str_trim(line).len)
			end = module->len;
	}
	DTX_TRY(dtx_buf_check(module, "snippet", err));
	module->len = end;
	if (module->len - from > DTX_EXTRACT_MAX)
		DTX_FAIL(err, DTX_E_SNIPPET_NO_CODE,
		         "the module has %zu bytes, at most %zu are taken", module->len - from,
		         DTX_EXTRACT_MAX);
out:
	return rc;
}

static enum dtx_code extract_pick(struct dtx_str text, struct extract_found *f,
                                  struct dtx_buf *module, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	extract_blocks(text, f);
	DTX_TRY(dtx_buf_check(&f->now, "answer", err));
	DTX_TRY(dtx_buf_check(&f->best, "answer", err));
	if (f->open) {
		rc = dtx_err_set(err, DTX_E_SNIPPET_TRUNCATED, __FILE__, __LINE__,
		                 "the answer ends inside a code block");
		dtx_err_hint(err, "ask for the whole module again");
	} else if (f->best.len) {
		DTX_TRY(extract_finish((struct dtx_str){ f->best.ptr, f->best.len }, module, err));
	} else if (!f->any && extract_defines(text)) {
		DTX_TRY(extract_finish(text, module, err));
	} else {
		rc = dtx_err_set(
			err, DTX_E_SNIPPET_NO_CODE, __FILE__, __LINE__,
			f->any ? "no Python block of the answer defines 'transform'"
			       : "the answer has no code block and does not define 'transform'");
		dtx_err_hint(err, "expected one block fenced by ```python and ``` with "
		                  "def transform(tables, params)");
	}
out:
	return rc;
}

enum dtx_code dtx_extract(struct dtx_str answer, struct dtx_buf *module, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_ANSWER_MAX);
	struct extract_found found = { DTX_BUF_INIT(2 * DTX_ANSWER_MAX),
		                       DTX_BUF_INIT(2 * DTX_ANSWER_MAX), false, false };

	if (answer.len > DTX_ANSWER_MAX)
		DTX_FAIL(err, DTX_E_SNIPPET_NO_CODE,
		         "the answer has %zu bytes, at most %zu are read", answer.len,
		         DTX_ANSWER_MAX);
	extract_drop_thoughts(answer, &text);
	DTX_TRY(dtx_buf_check(&text, "answer", err));
	DTX_TRY(extract_pick(dtx_buf_str(&text), &found, module, err));
out:
	dtx_buf_clear(&text);
	dtx_buf_clear(&found.best);
	dtx_buf_clear(&found.now);
	return rc;
}
