/* Prints errors: as text for people, or as JSON lines for programs. See out.h. */
#include "cli/out.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/pipe/step_words.h"
#include "cli/run/read_opts.h"
#include "core/base/file.h"
#include "core/base/text/utf8.h"
#include "core/io/write/text_style.h"

#define OUT_REPAIRS  10
#define OUT_SPAN_MAX 200

static const char *const severity_name[] = { "error", "fallback", "warning" };

static const char *const severity_prefix[] = { "", "needs a snippet: ", "warning: " };

void dtx_out_safe(struct dtx_buf *out, const char *text, bool lines)
{
	dtx_utf8_spell(out, dtx_str_of(text), dtx_utf8_hides, lines ? "\n" : "");
}

/* The length of an escape sequence that only sets a style and conceals nothing. */
static size_t out_style(const char *text, size_t len)
{
	static const char *const styles[] = { DTX_STYLE_END, DTX_STYLE_HEADER, DTX_STYLE_NULL,
		                              DTX_STYLE_NUMBER };

	for (size_t i = 0; i < DTX_COUNT(styles); i++) {
		size_t n = strlen(styles[i]);

		if (len >= n && !memcmp(text, styles[i], n))
			return n;
	}
	return 0;
}

/* Escapes control characters. Text for people may quote cells and names, so this is done here
 * once for all callers. */
static void out_spell(struct dtx_buf *out, const char *text, size_t len, bool styles)
{
	size_t from = 0, i = 0, n;

	for (i = 0; styles && i < len; i++) {
		n = text[i] == '\x1b' ? out_style(text + i, len - i) : 0;
		if (!n)
			continue;
		dtx_utf8_spell(out, (struct dtx_str){ text + from, i - from }, dtx_utf8_steers,
		               "\n\t");
		dtx_buf_addn(out, text + i, n);
		from = i + n;
		i = from - 1;
	}
	dtx_utf8_spell(out, (struct dtx_str){ text + from, len - from }, dtx_utf8_steers, "\n\t");
}

void dtx_out_shown(void *cli, const char *bytes, size_t n, struct dtx_buf *shown)
{
	out_spell(shown, bytes, n, dtx_terminal_colours(cli));
}

static void out_stderr(struct dtx_buf *text)
{
	struct dtx_buf shown = DTX_BUF_INIT(4 * DTX_BUF_TEXT_MAX);

	out_spell(&shown, text->ptr, text->len, false);
	/* if stderr itself fails, nothing can be reported */
	if (dtx_buf_ok(text) && dtx_buf_ok(&shown))
		(void)!dtx_file_write(STDERR_FILENO, shown.ptr, shown.len, "stderr", NULL);
	dtx_buf_clear(&shown);
}

void dtx_out_findings(const json_t *findings, struct dtx_buf *out)
{
	json_t *f;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)findings, i, f)
	{
		dtx_buf_printf(out, "%-16s", dtx_json_text(f, "finding", ""));
		if (json_object_get(f, "seq"))
			dtx_buf_printf(out, "event %lld: ", (long long)dtx_json_int(f, "seq", 0));
		if (dtx_json_text(f, "hash", NULL))
			dtx_buf_printf(out, "blob %.12s: ", dtx_json_text(f, "hash", ""));
		if (dtx_json_text(f, "table", NULL))
			dtx_buf_printf(out, "table %s: ", dtx_json_text(f, "table", ""));
		dtx_out_safe(out, dtx_json_text(f, "text", ""), false);
		dtx_buf_addc(out, '\n');
	}
}

void dtx_out_names(const json_t *list, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		dtx_buf_add(out, i ? ", " : "");
		dtx_out_safe(out, json_string_value(one), false);
	}
}

/* A message may quote names and cells, whose line feeds must not begin a line of their own. */
static void out_safe(struct dtx_buf *out, const char *text)
{
	dtx_out_safe(out, text, false);
}

static const char *out_input(const struct dtx_err *err, const struct dtx_out_where *w)
{
	uint32_t i;

	for (i = 0; w && w->inputs && i < w->inputs->ninputs; i++) {
		const struct dtx_plan_input *in = &w->inputs->input[i];

		if (in->path && !strcmp(in->name, err->input))
			return strcmp(in->path, "-") ? dtx_file_basename(in->path) : "stdin";
	}
	if (!err->input[0] && w && w->inputs && w->inputs->ninputs == 1 && w->inputs->input[0].path)
		return strcmp(w->inputs->input[0].path, "-")
		               ? dtx_file_basename(w->inputs->input[0].path)
		               : "stdin";
	return err->input[0] ? err->input : "the table";
}

static bool out_has_place(const struct dtx_err *err)
{
	return err->input[0] || err->cell[0] || err->row >= 0 || err->column[0];
}

static void out_place(struct dtx_buf *out, const struct dtx_err *err, const struct dtx_out_where *w)
{
	dtx_buf_add(out, "in ");
	dtx_out_safe(out, out_input(err, w), false);
	if (err->sheet[0]) {
		dtx_buf_add(out, "!");
		dtx_out_safe(out, err->sheet, false);
	}
	if (err->cell[0])
		dtx_buf_printf(out, "!%s", err->cell);
	else if (err->row >= 0)
		dtx_buf_printf(out, " row %lld", (long long)err->row + 1);
	if (err->column[0]) {
		dtx_buf_add(out, " column '");
		dtx_out_safe(out, err->column, false);
		dtx_buf_add(out, "'");
	}
	if (err->byte >= 0)
		dtx_buf_printf(out, " (byte %lld)", (long long)err->byte);
}

static void out_count(struct dtx_buf *out, const struct dtx_err *err)
{
	if (err->count > 1)
		dtx_buf_printf(out, "; %s%lld such cases in all",
		               err->count_open ? "at least " : "", (long long)err->count);
}

/* The text in the plan to which an `at` pointer leads, if it is a string. */
static const char *out_pointed(const json_t *plan, const char *pointer)
{
	const json_t *v = plan;
	struct dtx_str rest, piece;
	char key[128];

	if (!plan || pointer[0] != '/')
		return NULL;
	rest = dtx_str_of(pointer + 1);
	while (v && dtx_str_next(&rest, '/', &piece)) {
		dtx_str_copy(key, sizeof(key), piece);
		v = json_is_array(v) ? json_array_get(v, (size_t)strtoul(key, NULL, 10))
		                     : json_object_get(v, key);
	}
	return json_string_value(v);
}

/* Puts the text from `from` on one line; each of its bytes keeps its place. */
static void out_join_lines(struct dtx_buf *out, size_t from)
{
	for (size_t i = from; i < out->len; i++)
		if (out->ptr[i] == '\n')
			out->ptr[i] = ' ';
}

static void out_span(struct dtx_buf *out, const int32_t span[2], const char *text)
{
	size_t len = strlen(text), a, b, from;

	if (span[0] < 0 || len > OUT_SPAN_MAX)
		return;
	a = DTX_MIN((size_t)span[0], len);
	b = DTX_MIN((size_t)DTX_MAX(span[1], 0), len);
	dtx_buf_add(out, "     ");
	from = out->len;
	dtx_out_safe(out, text, true);
	out_join_lines(out, from);
	dtx_buf_printf(out, "\n     %*s", (int)dtx_utf8_width(text, a), "");
	do
		dtx_buf_add(out, "^");
	while (++a < b);
	dtx_buf_add(out, "\n");
}

/* The number of the step in the plan, from 0; -1 if the error is not about a step. */
static int32_t out_step(const struct dtx_err *err, const struct dtx_out_where *w)
{
	return w && w->inputs ? dtx_plan_step_number(w->inputs, err->step) - 1 : err->step;
}

/* Shows the argument that a place of the plan was made of, and marks the part that the error is
 * about. */
static void out_word(struct dtx_buf *out, const struct dtx_err *err, const struct dtx_out_where *w)
{
	const struct dtx_words_place *place = dtx_words_find(w->words, err->at), *op;
	const char *text = out_pointed(w->plan, err->at);
	int32_t span[2];
	char step[32];
	size_t n;

	snprintf(step, sizeof(step), "/steps/%d", (int)out_step(err, w));
	op = dtx_words_find(w->words, step);
	if (op)
		dtx_buf_printf(out, "  in step %d, %s\n", (int)out_step(err, w) + 1, op->word);
	if (!place)
		return;
	n = place->to - place->from;
	span[0] = (int32_t)place->from;
	span[1] = (int32_t)place->to;
	/* a formula has its own places, if the word has it as it is */
	if (err->span[0] >= 0 && text && strlen(text) == n &&
	    !strncmp(text, place->word + place->from, n)) {
		span[0] += err->span[0];
		span[1] = (int32_t)place->from + err->span[1];
	}
	out_span(out, span, place->word);
}

/* Errors for which the plan is not JSON yet, so the file is the only place that can be named. */
#define PLAN_TEXT                                                                                  \
	"json_syntax,json_duplicate_key,json_depth,plan_encoding,plan_too_large,bad_param_type"

static void out_at(struct dtx_buf *out, const struct dtx_err *err, const struct dtx_out_where *w)
{
	const char *text;

	if (w && w->expr)
		out_span(out, err->span, w->expr);
	if (!err->at[0] && w && w->plan_path &&
	    dtx_str_in_list(PLAN_TEXT, dtx_code_name(err->code)))
		dtx_buf_printf(out, "  in %s\n", w->plan_path);
	if (!err->at[0])
		return;
	if (w && w->words) {
		out_word(out, err, w);
		return;
	}
	dtx_buf_add(out, "  at ");
	dtx_out_safe(out, err->at, false);
	if (w && w->plan_path)
		dtx_buf_printf(out, " in %s", w->plan_path);
	if (out_step(err, w) >= 0)
		dtx_buf_printf(out, " (step %d%s%s)", (int)out_step(err, w) + 1,
		               err->op[0] ? ", " : "", err->op);
	dtx_buf_add(out, "\n");
	text = w ? out_pointed(w->plan, err->at) : NULL;
	if (text)
		out_span(out, err->span, text);
}

static void out_suggestions(struct dtx_buf *out, const struct dtx_err *err)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(err->did_you_mean) && err->did_you_mean[i][0]; i++) {
		dtx_buf_add(out, i ? ", '" : "  did you mean '");
		dtx_out_safe(out, err->did_you_mean[i], false);
		dtx_buf_add(out, "'");
	}
	if (i)
		dtx_buf_add(out, "?\n");
}

/* Prints the rows that an error is about: their places and contents. */
static void out_samples(struct dtx_buf *out, const struct dtx_err *err)
{
	json_t *more = err->more ? json_loads(err->more, 0, NULL) : NULL, *one;
	size_t i;

	json_array_foreach(json_object_get(more, "samples"), i, one)
	{
		if (!json_is_object(one))
			break;
		dtx_buf_add(out, i ? "; " : "  namely ");
		out_safe(out, dtx_json_text(one, "cell", ""));
		dtx_buf_add(out, *dtx_json_text(one, "cell", "") ? " '" : "'");
		out_safe(out, dtx_json_text(one, "value", ""));
		dtx_buf_add(out, "'");
	}
	dtx_buf_add(out, i ? "\n" : "");
	json_decref(more);
}

#define OUT_AVAILABLE 20u

/* Prints the names that the hint refers to. */
static void out_available(struct dtx_buf *out, const struct dtx_err *err)
{
	json_t *more = err->more ? json_loads(err->more, 0, NULL) : NULL, *one;
	json_t *list = json_object_get(more, "available");
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (i == OUT_AVAILABLE)
			break;
		dtx_buf_add(out, i ? ", " : ": ");
		out_safe(out, json_string_value(one));
	}
	if (json_array_size(list) > OUT_AVAILABLE)
		dtx_buf_add(out, " ...");
	json_decref(more);
}

static void out_text(struct dtx_buf *out, const struct dtx_err *err, const struct dtx_out_where *w)
{
	/* these codes are self-explanatory */
	bool bare = err->code == DTX_W_REPAIRED || err->code == DTX_E_NEEDS_SNIPPET;

	dtx_buf_printf(out, "dtx: %s%s: ", bare ? "" : severity_prefix[err->severity],
	               dtx_code_name(err->code));
	out_safe(out, err->msg);
	dtx_buf_add(out, "\n");
	out_at(out, err, w);
	if (out_has_place(err)) {
		dtx_buf_add(out, "  ");
		out_place(out, err, w);
		out_count(out, err);
		dtx_buf_add(out, "\n");
	}
	out_samples(out, err);
	out_suggestions(out, err);
	if (dtx_err_next(err)) {
		dtx_buf_add(out, "  next: ");
		out_safe(out, dtx_err_next(err));
		out_available(out, err);
		dtx_buf_add(out, "\n");
	}
}

static json_t *out_opt_text(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

static json_t *out_opt_int(int64_t v)
{
	return v >= 0 ? json_integer(v) : json_null();
}

static json_t *out_where_json(const struct dtx_err *err)
{
	if (!err->input[0] && !err->cell[0] && err->row < 0)
		return json_null();
	return json_pack("{so so so so so so}", "input", out_opt_text(err->input), "sheet",
	                 out_opt_text(err->sheet), "cell", out_opt_text(err->cell), "column",
	                 out_opt_text(err->column), "row",
	                 out_opt_int(err->row >= 0 ? err->row + 1 : -1), "byte",
	                 out_opt_int(err->byte));
}

static json_t *out_names_json(const struct dtx_err *err)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < DTX_COUNT(err->did_you_mean) && err->did_you_mean[i][0]; i++)
		json_array_append_new(list, json_string(err->did_you_mean[i]));
	return list;
}

json_t *dtx_out_error_json(const struct dtx_err *err)
{
	json_t *span =
		err->span[0] >= 0 ? json_pack("[ii]", err->span[0], err->span[1]) : json_null();
	json_t *o =
		json_pack("{ss ss ss si sb so so so so ss so so so so}", "code",
	                  dtx_code_name(err->code), "severity", severity_name[err->severity],
	                  "phase", err->run_time ? "run" : "static", "exit", dtx_err_exit(err),
	                  "fallback", dtx_err_severity(err, err->run_time) == DTX_SEV_FALLBACK,
	                  "at", out_opt_text(err->at), "span", span, "step", out_opt_int(err->step),
	                  "op", out_opt_text(err->op), "message", err->msg, "hint",
	                  out_opt_text(dtx_err_next(err) ? dtx_err_next(err) : ""), "did_you_mean",
	                  out_names_json(err), "where", out_where_json(err), "count",
	                  out_opt_int(err->count));
	json_t *more = o && err->more ? json_loads(err->more, 0, NULL) : NULL;

	/* `available`, `samples` and `cause` are in err->more already */
	if (json_is_object(more))
		json_object_update(o, more);
	json_decref(more);
	return o;
}

/* Whether the finding is about a file on the command line, whose reading options can be given
 * there. */
static bool out_is_operand(const struct dtx_err *err, const struct dtx_out_where *w)
{
	const struct dtx_plan_input *in = w && w->inputs ? w->inputs->input : NULL;

	if (!in || !w->inputs->ninputs || !in->operand || err->step >= 0)
		return false;
	return err->input[0] ? !strcmp(err->input, in->name)
	                     : w->inputs->ninputs == 1 && !err->at[0];
}

static void out_say(char *text, size_t size, const struct dtx_out_where *w)
{
	const json_t *list = json_object_get(w->inputs->json, "inputs");
	struct dtx_buf said = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_read_opts_say(text, json_is_array(list) ? json_array_get(list, 0) : list, &said);
	if (dtx_buf_ok(&said))
		dtx_str_copy(text, size, dtx_buf_str(&said));
	dtx_buf_clear(&said);
}

/* Remedies are members of a plan's input. A user without a plan gets the corresponding options
 * instead. */
static const struct dtx_err *out_remedies(const struct dtx_err *err, const struct dtx_out_where *w,
                                          struct dtx_err *copy)
{
	static const char input[] = " in the input";
	char *at;

	if (w && w->words && w->inputs && w->inputs->ninputs == 1 && strstr(err->hint, input)) {
		*copy = *err;
		at = strstr(copy->hint, input);
		memmove(at, at + strlen(input), strlen(at + strlen(input)) + 1);
		out_say(copy->hint, sizeof(copy->hint), w);
		return copy;
	}
	if (!out_is_operand(err, w))
		return err;
	*copy = *err;
	if (dtx_err_next(err) && !err->hint[0])
		dtx_err_hint(copy, "%s", dtx_err_next(err));
	out_say(copy->hint, sizeof(copy->hint), w);
	if (err->code == DTX_W_REPAIRED)
		out_say(copy->msg, sizeof(copy->msg), w);
	return copy;
}

/* Hints about a step show JSON. A pipe gets what the op takes, or the example, as words. */
static const struct dtx_err *out_words(const struct dtx_err *err, const struct dtx_out_where *w,
                                       struct dtx_err *copy)
{
	static const char example[] = "for example ", list[] = "there are: ";
	const struct dtx_op *op = w && w->words ? dtx_op_find(err->op, NULL) : NULL;
	bool takes = err->code == DTX_E_MISSING_PARAM ||
	             (err->code == DTX_E_UNKNOWN_PARAM &&
	              (!err->hint[0] || !strncmp(err->hint, list, strlen(list))));
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *step = NULL;

	if (w && w->words && err->code == DTX_E_UNKNOWN_OP && err->did_you_mean[0][0])
		dtx_buf_add(&text, "if no operation of dtx is meant, @snippet=true leaves the step "
		                   "to a snippet");
	else if (op && err->code == DTX_E_UNKNOWN_TABLE && err->hint[0])
		dtx_buf_printf(&text, "%s; or a file: FILE here, or NAME=FILE before '--'",
		               err->hint);
	else if (op && takes)
		dtx_words_usage(op, &text);
	else if (op && !strncmp(err->hint, example, strlen(example)))
		step = json_loads(err->hint + strlen(example), 0, NULL);
	if (op && err->code == DTX_E_UNKNOWN_PARAM && op->params[0].kind == DTX_P_EXPR &&
	    !err->did_you_mean[0][0])
		dtx_buf_add(&text, "; to compare, a formula has ==");
	if (step) {
		dtx_buf_add(&text, example);
		if (!dtx_words_say(step, &text))
			dtx_buf_reset(&text);
	}
	if (text.len) {
		*copy = *err;
		dtx_err_hint(copy, "%s", dtx_buf_text(&text));
		err = copy;
	}
	json_decref(step);
	dtx_buf_clear(&text);
	return err;
}

/* Refers to the help of the command for a mistake in the command line. */
static const struct dtx_err *out_usage(const struct dtx_cli *cli, const struct dtx_err *err,
                                       struct dtx_err *copy)
{
	if (err->code != DTX_E_USAGE || err->hint[0] || err->did_you_mean[0][0] || !cli->command)
		return err;
	*copy = *err;
	dtx_err_hint(copy, "dtx %s --help", cli->command);
	return copy;
}

static json_t *out_object(const struct dtx_err *err, const struct dtx_out_where *where)
{
	json_t *o = dtx_out_error_json(err);

	if (o)
		json_object_set_new(o, "step", out_opt_int(out_step(err, where)));
	return o;
}

/* Prints a JSON object on one line; takes it. */
static void out_json_line(json_t *o, struct dtx_buf *out)
{
	if (o)
		dtx_json_print(o, 0, out);
	dtx_buf_add(out, "\n");
	json_decref(o);
}

void dtx_out_offer(const struct dtx_cli *cli, const char *text, const struct dtx_err *offer,
                   const json_t *near, int status, const struct dtx_out_where *where)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *o = NULL;

	if (cli->errors == 1) {
		o = out_object(offer, where);
		json_object_set_new(o, "message", json_string(text));
		json_object_set_new(o, "exit", json_integer(status));
		if (json_array_size(near))
			json_object_set(o, "near", (json_t *)(uintptr_t)near);
		out_json_line(o, &out);
	} else {
		dtx_buf_add(&out, "  ");
		out_safe(&out, text);
		dtx_buf_add(&out, "\n");
	}
	out_stderr(&out);
	dtx_buf_clear(&out);
}

void dtx_out_error(const struct dtx_cli *cli, const struct dtx_err *err,
                   const struct dtx_out_where *where)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err copy, usage, words; /* point into err */

	/* as in `dtx ... | head`: the reader has enough */
	if (err->code == DTX_E_OUTPUT_CLOSED)
		return;
	err = out_remedies(err, where, &copy);
	err = out_usage(cli, err, &usage);
	err = out_words(err, where, &words);
	if (cli->errors == 1) {
		out_json_line(out_object(err, where), &out);
	} else if (err->severity != DTX_SEV_WARNING || !cli->quiet) {
		out_text(&out, err, where);
	}
	out_stderr(&out);
	dtx_buf_clear(&out);
}

/* --- warnings: one line for each kind --- */

/* Warnings about what may have changed the result come first. */
static const enum dtx_code out_rank[] = {
	DTX_W_REPAIRED,      DTX_W_SNIPPET_UNCHANGED, DTX_W_NUMBER_ROUNDED,
	DTX_W_CELL_ERRORS,   DTX_W_DIV_ZERO,          DTX_W_NOT_FINITE,
	DTX_W_NULL_DROPPED,  DTX_W_CONSTANT_FILTER,   DTX_W_TEXT_NUMERIC,
	DTX_W_TEXT_DATE,     DTX_W_LITERAL_NAME,      DTX_W_TOTAL_NOT_VERIFIED,
	DTX_W_SHEET_ASSUMED, DTX_W_HEADER_ASSUMED,    DTX_W_RECORDS_ASSUMED,
	DTX_W_HIDDEN_CELLS,  DTX_W_DIALECT_RESNIFFED, DTX_W_READER_NOTE,
	DTX_W_RESULT_NOTE,   DTX_W_MIXED_TYPES,       DTX_W_TYPE_PROMOTED,
	DTX_W_ALMOST_TYPE,   DTX_W_DUPLICATE_HEADER,  DTX_W_UNDECLARED_COLUMN,
	DTX_W_UNUSED_INPUT
};

static size_t out_rank_of(const struct dtx_err *err)
{
	size_t i = 0;

	while (i < DTX_COUNT(out_rank) && out_rank[i] != err->code)
		i++;
	return i;
}

/* Skips what differs between notes of the same kind: names in quotes, and numbers. */
static const char *out_skip(const char *p)
{
	const char *end;

	if (*p == '\'' && (end = strchr(p + 1, '\'')))
		return end + 1;
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool out_alike(const char *a, const char *b)
{
	while (*a && *b) {
		const char *x = out_skip(a), *y = out_skip(b);

		if ((x == a) != (y == b) || (x == a && *a != *b))
			return false;
		a = x == a ? a + 1 : x;
		b = y == b ? b + 1 : y;
	}
	return *a == *b;
}

/* Whether two warnings are of the same kind. The code decides, except for notes, where the text
 * does. */
static bool out_one_kind(const struct dtx_err *a, const struct dtx_err *b)
{
	if (a->code != b->code)
		return false;
	return (a->code != DTX_W_READER_NOTE && a->code != DTX_W_RESULT_NOTE &&
	        a->code != DTX_W_NUMBER_ROUNDED && a->code != DTX_W_TOTAL_NOT_VERIFIED) ||
	       out_alike(a->msg, b->msg);
}

/* Whether the place is only the file, which the text has named already. */
static bool out_says_file(const struct dtx_err *err, const struct dtx_out_where *w)
{
	return !err->sheet[0] && !err->cell[0] && err->row < 0 && !err->column[0] &&
	       err->byte < 0 && strstr(err->msg, out_input(err, w));
}

/* Whether the text contains the count: "4 rows were dropped", "it has 4 numbers, 1 texts". */
static bool out_says_count(const struct dtx_err *err)
{
	const char *p = err->msg;
	char *end;

	while (*p) {
		bool starts = p == err->msg || p[-1] == ' ';

		if (starts && *p >= '0' && *p <= '9' && strtoll(p, &end, 10) == err->count &&
		    (*end == ' ' || !*end))
			return true;
		p++;
	}
	return false;
}

/* Whether it is from a reader, so that its place is in the file. */
static bool out_is_reading(const struct dtx_err *err)
{
	return err->step < 0 && err->input[0] && !strncmp(err->at, "/inputs", 7);
}

/* Prints "dtx: warning: CODE: TEXT; in PLACE; at POINTER; 12 such cases in all; 3 of this kind;
 * next: HINT". */
static void out_line(struct dtx_buf *out, const struct dtx_err *err, size_t alike,
                     const struct dtx_out_where *w)
{
	size_t i;

	dtx_buf_printf(out, "dtx: warning: %s: ", dtx_code_name(err->code));
	out_safe(out, err->msg);
	if (out_has_place(err) && !out_says_file(err, w)) {
		dtx_buf_add(out, "; ");
		out_place(out, err, w);
	}
	if (err->at[0] && !out_is_reading(err)) {
		const struct dtx_words_place *word =
			w && w->words ? dtx_words_find(w->words, err->at) : NULL;

		dtx_buf_add(out, word ? "; at '" : "; at ");
		dtx_out_safe(out, word ? word->word : err->at, false);
		dtx_buf_printf(out, "%s%s%s", word ? "'" : "", w && w->plan_path ? " in " : "",
		               w && w->plan_path ? w->plan_path : "");
		if (out_step(err, w) >= 0)
			dtx_buf_printf(out, " (step %d%s%s)", (int)out_step(err, w) + 1,
			               err->op[0] ? ", " : "", err->op);
	}
	if (!out_says_count(err))
		out_count(out, err);
	if (alike > 1)
		dtx_buf_printf(out, "; %zu of this kind", alike);
	for (i = 0; i < DTX_COUNT(err->did_you_mean) && err->did_you_mean[i][0]; i++) {
		dtx_buf_add(out, i ? ", '" : "; did you mean '");
		dtx_out_safe(out, err->did_you_mean[i], false);
		dtx_buf_add(out, i + 1 < DTX_COUNT(err->did_you_mean) && err->did_you_mean[i + 1][0]
		                         ? "'"
		                         : "'?");
	}
	if (dtx_err_next(err)) {
		dtx_buf_add(out, "; next: ");
		out_safe(out, dtx_err_next(err));
		out_available(out, err);
	}
	dtx_buf_add(out, "\n");
}

static bool out_counts(const struct dtx_cli *cli, const struct dtx_err *err)
{
	return err->severity == DTX_SEV_WARNING && err->code != DTX_W_REPAIRED &&
	       (!err->aside || cli->verbose);
}

/* Prints the first warning of each kind with this rank, and how many of that kind there are. */
static void out_warnings(const struct dtx_cli *cli, const struct dtx_errlist *list, size_t rank,
                         const struct dtx_out_where *where, struct dtx_buf *out)
{
	struct dtx_err copy; /* points into the list */
	size_t i, k, alike;

	for (i = 0; i < list->n; i++) {
		const struct dtx_err *w = &list->item[i];

		if (!out_counts(cli, w) || out_rank_of(w) != rank)
			continue;
		for (k = 0; k < i; k++)
			if (out_counts(cli, &list->item[k]) && out_one_kind(&list->item[k], w))
				break;
		if (k < i)
			continue;
		for (alike = 0; k < list->n; k++)
			alike += out_counts(cli, &list->item[k]) && out_one_kind(w, &list->item[k]);
		dtx_buf_reset(out);
		out_line(out, out_remedies(w, where, &copy), alike, where);
		out_stderr(out);
	}
}

void dtx_out_errors(const struct dtx_cli *cli, const struct dtx_errlist *list,
                    const struct dtx_out_where *where)
{
	struct dtx_buf line = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool each = cli->errors == 1 || (where && where->each);
	size_t i, repairs = 0;

	for (i = 0; i < list->n; i++) {
		const struct dtx_err *err = &list->item[i];
		bool warning = err->severity == DTX_SEV_WARNING;
		bool repair = err->code == DTX_W_REPAIRED;

		repairs += repair;
		if (each || !warning || (repair && repairs <= OUT_REPAIRS))
			dtx_out_error(cli, err, where);
	}
	if (repairs > OUT_REPAIRS && !each)
		dtx_out_note(cli, "dtx: and %zu more repairs (the record has all)\n",
		             repairs - OUT_REPAIRS);
	for (i = 0; !each && !cli->quiet && i <= DTX_COUNT(out_rank); i++)
		out_warnings(cli, list, i, where, &line);
	if (list->dropped)
		dtx_out_note(cli, "dtx: and %zu more findings\n", list->dropped);
	dtx_buf_clear(&line);
}

void dtx_out_ledger(const struct dtx_read_stats *s, struct dtx_buf *out)
{
	size_t i;

	dtx_buf_printf(out, "%lld rows read = %lld out", (long long)s->rows_read,
	               (long long)s->rows_out);
	for (i = 0; i < DTX_DROP_COUNT; i++) {
		if (s->dropped[i])
			dtx_buf_printf(out, " + %lld %s", (long long)s->dropped[i],
			               dtx_drop_name[i]);
	}
	if (s->stopped_early)
		dtx_buf_add(out, " (stopped early)");
}

void dtx_out_note(const struct dtx_cli *cli, const char *fmt, ...)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	va_list ap;

	if (cli->quiet || cli->errors == 1)
		return;
	va_start(ap, fmt);
	dtx_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (dtx_buf_ok(&text)) {
		dtx_text_singular(text.ptr);
		text.len = strlen(text.ptr);
	}
	out_stderr(&text);
	dtx_buf_clear(&text);
}

int dtx_out_fail(const struct dtx_cli *cli, const struct dtx_err *err)
{
	dtx_out_error(cli, err, NULL);
	return dtx_code_exit(err->code, err->run_time);
}

int dtx_out_print(const struct dtx_cli *cli, struct dtx_buf *text)
{
	struct dtx_buf shown = DTX_BUF_INIT(SIZE_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	DTX_TRY(dtx_buf_check(text, "the output", &err));
	if (dtx_terminal(cli)) {
		out_spell(&shown, text->ptr, text->len, dtx_terminal_colours(cli));
		DTX_TRY(dtx_buf_check(&shown, "the output", &err));
		text = &shown;
	}
	DTX_TRY(dtx_file_write(STDOUT_FILENO, text->ptr, text->len, "stdout", &err));
	/* a pipe, a full disk or a network file may report an error only at close */
	if (close(STDOUT_FILENO) != 0 && errno != EBADF)
		DTX_FAIL(&err, dtx_file_write_code(errno), "cannot write stdout: %s",
		         strerror(errno));
out:
	status = rc == DTX_OK ? 0 : dtx_out_fail(cli, &err);
	dtx_err_clear(&err);
	dtx_buf_clear(&shown);
	return status;
}

enum dtx_code dtx_out_bytes(int fd, const char *bytes, size_t n, struct dtx_err *err)
{
	struct dtx_buf shown = DTX_BUF_INIT(SIZE_MAX);
	enum dtx_code rc = DTX_OK;

	if (isatty(fd)) {
		out_spell(&shown, bytes, n, false);
		DTX_TRY(dtx_buf_check(&shown, "the output", err));
		bytes = shown.ptr;
		n = shown.len;
	}
	DTX_TRY(dtx_file_write(fd, bytes, n, fd == STDOUT_FILENO ? "stdout" : "stderr", err));
out:
	dtx_buf_clear(&shown);
	return rc;
}

int dtx_out_json(const struct dtx_cli *cli, const json_t *value, int indent)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	int status;

	dtx_json_print(value, indent, &out);
	dtx_buf_add(&out, "\n");
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status;
}
