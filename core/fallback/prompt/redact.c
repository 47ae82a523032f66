/* Describes failures to an author without quoting cells. The rules and their reasons are in
 * redact.h. */
#include "core/fallback/prompt/redact.h"

#include <ctype.h>
#include <stdio.h>

#include "core/fallback/retry.h"

#define NAME_MAX_LEN  120 /* bytes of a name that is passed on */
#define FRAMES_TOLD   3
#define COLUMNS_MOST  16384
#define LINES_MOST    20 /* lines of one statement */
#define CHECKS_TOLD   3
#define TRIGGER_NAMES 3

/* --- texts between quotes --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Calls fits(arg, text) for every text between two quotes of the same kind in `message`, in
 * order, until one fits. Returns false if none does. */
static bool find_quoted(struct dtx_str message, bool (*fits)(const void *arg, struct dtx_str),
                        const void *arg, struct dtx_str *found)
{
	size_t i, j;

	for (i = 0; i < message.len; i++) {
		char q = message.ptr[i];

		if (q != '\'' && q != '"' && q != '`')
			continue;
		for (j = i + 1; j < message.len && j - i <= NAME_MAX_LEN; j++) {
			*found = (struct dtx_str){ message.ptr + i + 1, j - i - 1 };
			if (message.ptr[j] == q && found->len && fits(arg, *found))
				return true;
		}
	}
	return false;
}

static bool is_name(const json_t *names, struct dtx_str text)
{
	char key[NAME_MAX_LEN + 1];

	if (text.len > NAME_MAX_LEN || memchr(text.ptr, '\0', text.len))
		return false;
	dtx_str_copy(key, sizeof(key), text);
	return json_object_get(names, key) != NULL;
}

static bool fits_name(const void *arg, struct dtx_str text)
{
	return is_name(arg, text);
}

static bool add_name(json_t *names, const char *name, const char *const *deny, size_t ndeny)
{
	return dtx_disclose_denied(deny, ndeny, name) || dtx_json_set(names, name, json_true());
}

bool dtx_redact_names(json_t *names, const char *alias, const struct dtx_schema *s,
                      const char *const *deny, size_t ndeny, const json_t *contract)
{
	const json_t *of[] = { json_object_get(contract, "need"),
		               json_object_get(json_object_get(contract, "expect"), "columns") };
	json_t *item;
	size_t i, k;

	if (alias && !dtx_json_set(names, alias, json_true()))
		return false;
	for (i = 0; s && i < s->nfields; i++) {
		if (!add_name(names, s->field[i].name, deny, ndeny))
			return false;
	}
	for (k = 0; k < DTX_COUNT(of); k++) {
		json_array_foreach((json_t *)(uintptr_t)of[k], i, item)
		{
			if (!add_name(names, dtx_json_text(item, "name", ""), deny, ndeny))
				return false;
		}
	}
	return true;
}

/* --- strings in the code of the module --- */

/* Returns the position after the Python string that begins at `at`; `text` is what is between
 * its quotes. The string may span lines, or have no end. */
static size_t string_end(struct dtx_str code, size_t at, struct dtx_str *text)
{
	char q = code.ptr[at];
	size_t n = at + 2 < code.len && code.ptr[at + 1] == q && code.ptr[at + 2] == q ? 3 : 1;
	size_t i = at + n, k;

	for (; i < code.len; i++) {
		if (code.ptr[i] == '\\') {
			i++;
			continue;
		}
		if (n == 1 && code.ptr[i] == '\n')
			break;
		for (k = 0; k < n && i + k < code.len && code.ptr[i + k] == q;)
			k++;
		if (k == n) {
			*text = (struct dtx_str){ code.ptr + at + n, i - at - n };
			return i + n;
		}
	}
	*text = (struct dtx_str){ "", 0 };
	return DTX_MIN(i, code.len);
}

/* A position in the code, with the number of open brackets there. */
struct scan {
	struct dtx_str code;
	size_t at;
	int depth;
	unsigned lines;
};

/* Finds the next string, up to the end of the code if `whole`, otherwise up to the end of the
 * statement. */
static bool next_string(struct scan *s, bool whole, struct dtx_str *text)
{
	while (s->at < s->code.len) {
		char c = s->code.ptr[s->at];

		if (c == '#') {
			while (s->at < s->code.len && s->code.ptr[s->at] != '\n')
				s->at++;
			continue;
		}
		if (c == '\'' || c == '"') {
			s->at = string_end(s->code, s->at, text);
			if (text->len)
				return true;
			continue;
		}
		s->depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (c == '\n' && !whole && (s->depth <= 0 || ++s->lines >= LINES_MOST))
			return false;
		s->at++;
	}
	return false;
}

/* Finds the start of a line, counted from 1; returns false if there is no such line. */
static bool line_start(struct dtx_str code, int64_t line, size_t *at)
{
	size_t i;

	*at = 0;
	for (i = 0; line > 1 && i < code.len; i++) {
		if (code.ptr[i] == '\n') {
			line--;
			*at = i + 1;
		}
	}
	return line == 1 && *at < code.len;
}

struct place {
	const json_t *names;
	struct dtx_str code;
	int64_t line; /* 0: strings in the code do not count */
};

static bool has_string(struct dtx_str code, int64_t line, struct dtx_str text)
{
	struct scan s = { .code = code };
	struct dtx_str one;

	if (line && !line_start(code, line, &s.at))
		return false;
	while (next_string(&s, !line, &one)) {
		if (dtx_str_eq(one, text))
			return true;
	}
	return false;
}

static bool fits_place(const void *arg, struct dtx_str text)
{
	const struct place *p = arg;

	return is_name(p->names, text) || (p->line > 0 && has_string(p->code, p->line, text));
}

/* Whether `text` is a word of the line, such as the import or attribute that the screen refuses. */
static bool fits_word(const void *arg, struct dtx_str text)
{
	const struct place *p = arg;
	struct dtx_str line = dtx_retry_line(p->code, p->line);
	size_t from = 0, i;
	ptrdiff_t at;

	for (i = 0; i < text.len; i++) {
		if (!is_word(text.ptr[i]) && text.ptr[i] != '.')
			return false;
	}
	while ((at = dtx_str_find(line, text, from)) >= 0) {
		size_t start = (size_t)at, end = start + text.len;

		if ((!start || !is_word(line.ptr[start - 1])) &&
		    (end == line.len || !is_word(line.ptr[end])))
			return true;
		from = start + 1;
	}
	return false;
}

static void put_name(struct dtx_str name, struct dtx_buf *out)
{
	char text[NAME_MAX_LEN + 1];

	dtx_str_copy(text, sizeof(text), name);
	dtx_disclose_name(out, text);
}

/* --- dtx's own errors --- */

static const struct {
	enum dtx_code code;
	bool of_plan; /* its message quotes only the plan and headers, never a cell */
	const char *said;
} triggers[] = {
	{ DTX_E_UNKNOWN_OP, true, "there is no such op" },
	{ DTX_E_UNKNOWN_FUNCTION, true, "there is no such function" },
	{ DTX_E_UNSUPPORTED_PARAM, true, "the op does not take this parameter or value" },
	{ DTX_E_MISSING_COLUMN, true, "a column that is named is not there" },
	{ DTX_E_AMBIGUOUS_COLUMN, true, "a name fits more than one column" },
	{ DTX_E_TYPE_MISMATCH, false, "values have a type that cannot be used there" },
	{ DTX_E_CAST_FAILED, false, "some cells cannot be read as the type that is wanted" },
	{ DTX_E_AMBIGUOUS_DATE, false,
	  "dates can be read in more than one order of day and month" },
	{ DTX_E_PIVOT_NOT_UNIQUE, false, "several rows fall into one cell of the result" },
	{ DTX_E_RAGGED_ROWS, false, "rows have different numbers of cells" },
	{ DTX_E_HEADER_NOT_FOUND, false, "no row looks like a header" },
	{ DTX_E_AMBIGUOUS_DIALECT, false, "the text can be divided into columns in several ways" },
	{ DTX_E_MULTIPLE_TABLES, false, "there is more than one table" },
};

static const char *trigger_told(enum dtx_code code, bool *of_plan)
{
	size_t i;

	*of_plan = false;
	for (i = 0; i < DTX_COUNT(triggers); i++) {
		if (triggers[i].code == code) {
			*of_plan = triggers[i].of_plan;
			return triggers[i].said;
		}
	}
	return "the step could not be done";
}

struct plan_words {
	const json_t *steps, *names;
};

/* Whether a formula in `text` calls a function of that name. */
static bool calls(struct dtx_str text, struct dtx_str name)
{
	size_t from = 0;
	ptrdiff_t at;

	while ((at = dtx_str_find(text, name, from)) >= 0) {
		size_t start = (size_t)at, end = start + name.len;

		while (end < text.len && text.ptr[end] == ' ')
			end++;
		if ((!start || !is_word(text.ptr[start - 1])) && end < text.len &&
		    text.ptr[end] == '(')
			return true;
		from = start + 1;
	}
	return false;
}

static bool plan_has(const json_t *value, struct dtx_str text)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value)) {
		struct dtx_str s = { json_string_value(value), json_string_length(value) };

		return dtx_str_eq(s, text) || calls(s, text);
	}
	json_array_foreach((json_t *)(uintptr_t)value, i, item)
	{
		if (plan_has(item, text))
			return true;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, item)
	{
		if (dtx_str_is(text, key) || plan_has(item, text))
			return true;
	}
	return false;
}

static bool fits_plan(const void *arg, struct dtx_str text)
{
	const struct plan_words *w = arg;

	return is_name(w->names, text) || plan_has(w->steps, text);
}

/* Writes up to three names of the plan. Such a message quotes only the plan and headers. */
static unsigned put_plan_names(struct dtx_str msg, const struct plan_words *words,
                               struct dtx_buf *out)
{
	struct dtx_str found;
	unsigned n = 0;

	while (n < TRIGGER_NAMES && find_quoted(msg, fits_plan, words, &found)) {
		size_t end = (size_t)(found.ptr + found.len - msg.ptr) + 1;

		dtx_buf_add(out, n++ ? ", " : ": ");
		dtx_buf_addc(out, '\'');
		dtx_buf_adds(out, found);
		dtx_buf_addc(out, '\'');
		msg = (struct dtx_str){ msg.ptr + end, msg.len - end };
	}
	return n;
}

void dtx_redact_trigger(const struct dtx_err *e, const json_t *steps, const json_t *names,
                        struct dtx_buf *out, struct dtx_disclosed *count)
{
	struct plan_words words = { steps, names };
	struct dtx_str msg = dtx_str_of(e->msg), column = dtx_str_of(e->column);
	bool of_plan;

	dtx_buf_add(out, trigger_told(e->code, &of_plan));
	if (of_plan) {
		count->redactions += !put_plan_names(msg, &words, out);
		return;
	}
	if (!is_name(names, column) && !find_quoted(msg, fits_name, names, &column))
		column.len = 0;
	if (column.len)
		dtx_buf_printf(out, ": column '%.*s'", (int)column.len, column.ptr);
	count->redactions++;
}

/* --- a run in the jail --- */

/* The exceptions of Python, pandas, numpy and decimal. Only these types are passed on by name. */
static const char library_types[] =
	"ArithmeticError,AssertionError,AttributeError,AxisError,BaseException,"
	"BaseExceptionGroup,BlockingIOError,BrokenPipeError,BufferError,ChildProcessError,Clamped,"
	"ConnectionError,ConversionSyntax,DataError,DateParseError,DecimalException,"
	"DeprecationWarning,DivisionByZero,DivisionImpossible,DivisionUndefined,DtypeWarning,"
	"DuplicateLabelError,EOFError,EmptyDataError,Error,Exception,ExceptionGroup,"
	"FileExistsError,FileNotFoundError,FloatOperation,FloatingPointError,FutureWarning,"
	"GeneratorExit,ImportError,IncompatibleFrequency,IndentationError,IndexError,"
	"IndexingError,Inexact,IntCastingNaNError,InterruptedError,InvalidContext,"
	"InvalidIndexError,InvalidOperation,IsADirectoryError,JSONDecodeError,KeyError,"
	"KeyboardInterrupt,LinAlgError,LookupError,MemoryError,MergeError,ModuleNotFoundError,"
	"NameError,NotADirectoryError,NotImplementedError,NullFrequencyError,OSError,"
	"OptionError,OutOfBoundsDatetime,OutOfBoundsTimedelta,Overflow,OverflowError,ParserError,"
	"ParserWarning,PendingDeprecationWarning,PerformanceWarning,PermissionError,"
	"ProcessLookupError,RecursionError,ReferenceError,ResourceWarning,Rounded,RuntimeError,"
	"RuntimeWarning,SettingWithCopyError,SettingWithCopyWarning,SpecificationError,"
	"StatisticsError,StopAsyncIteration,StopIteration,Subnormal,SyntaxError,SyntaxWarning,"
	"SystemError,SystemExit,TabError,TimeoutError,TypeError,UFuncTypeError,UnboundLocalError,"
	"UndefinedVariableError,Underflow,UnicodeDecodeError,UnicodeEncodeError,UnicodeError,"
	"UnicodeTranslateError,UnicodeWarning,UnknownTimeZoneError,UnsortedIndexError,"
	"UnsupportedFunctionCall,UserWarning,ValueError,Warning,ZeroDivisionError,"
	"ZoneInfoNotFoundError,_ArrayMemoryError,_UFuncBinaryResolutionError,"
	"_UFuncInputCastingError,_UFuncNoLoopError,_UFuncOutputCastingError,error";

bool dtx_redact_type(const char *type)
{
	return type[0] && !strchr(type, ',') && dtx_str_in_list(library_types, type);
}

static const char *type_told(const struct dtx_jail_report *r)
{
	const char *type = r->exception.type ? r->exception.type : "";

	return r->exception.library && dtx_redact_type(type) ? type : "exception";
}

static bool exception_name(const struct dtx_jail_report *r, struct dtx_str code,
                           const json_t *names, struct dtx_str *name)
{
	struct place at = { names, code, r->exception.line };

	return r->exception.message &&
	       find_quoted(dtx_str_of(r->exception.message), fits_place, &at, name);
}

static void put_line(struct dtx_str code, int64_t line, struct dtx_buf *out)
{
	struct dtx_str text = dtx_retry_line(code, line);

	if (text.len)
		dtx_buf_printf(out, "at line %lld `%.*s`\n", (long long)line,
		               (int)dtx_str_cut(text, 200).len, text.ptr);
}

static void put_exception(const struct dtx_jail_report *r, struct dtx_str code, const json_t *names,
                          struct dtx_buf *out)
{
	uint32_t n = r->exception.nframes, i;
	struct dtx_str name;

	dtx_buf_printf(out, "it raised %s", type_told(r));
	if (exception_name(r, code, names, &name)) {
		dtx_buf_add(out, ", which names ");
		put_name(name, out);
	}
	dtx_buf_add(out, "; no more of a message is shown, as it may hold data\n");
	for (i = n > FRAMES_TOLD ? n - FRAMES_TOLD : 0; i < n; i++)
		put_line(code, r->exception.frame[i].line, out);
}

static void put_fault(const struct dtx_jail_report *r, const json_t *names, struct dtx_buf *out)
{
	static const char *const fault_text[] = {
#define X(symbol, name, text) text,
		DTX_JAIL_FAULTS(X)
#undef X
	};
	struct dtx_str name;

	if (r->fault_column > 0 && r->fault_column <= COLUMNS_MOST) {
		dtx_buf_printf(out, "column %d of the result", (int)r->fault_column);
		if (find_quoted(dtx_str_of(r->reason), fits_name, names, &name)) {
			dtx_buf_add(out, ", ");
			put_name(name, out);
			dtx_buf_addc(out, ',');
		}
		dtx_buf_addc(out, ' ');
	}
	dtx_buf_printf(out, "%s\n", fault_text[r->fault]);
}

static void put_screen(const struct dtx_jail_report *r, struct dtx_str code, struct dtx_buf *out)
{
	json_t *check = r->check_json ? json_loads(r->check_json, 0, NULL) : NULL;
	struct place at = { NULL, code, dtx_json_int(check, "line", 0) };
	struct dtx_str word;

	dtx_buf_add(out, r->code == DTX_E_SNIPPET_SYNTAX ? "it is not valid Python"
	                 : r->code == DTX_E_SNIPPET_IMPORT_DENIED
	                         ? "it imports what a module may not"
	                         : "it does what a module may not: its top level has only imports, "
	                           "literals, functions and classes; transform takes two "
	                           "arguments; no open, exec, eval, compile, input, files or "
	                           "attributes with double underscores");
	if (find_quoted(dtx_str_of(dtx_json_text(check, "message", "")), fits_word, &at, &word)) {
		dtx_buf_add(out, "; see ");
		put_name(word, out);
	}
	dtx_buf_addc(out, '\n');
	put_line(code, at.line, out);
	json_decref(check);
}

static const char *denied_call(const struct dtx_jail_report *r)
{
	uint32_t i;

	for (i = r->ndenied; i > 0; i--) {
		if (r->denied[i - 1].verdict == DTX_JAIL_KILLED)
			return r->denied[i - 1].name;
	}
	return "an unknown one";
}

void dtx_redact_run(const struct dtx_jail_report *r, struct dtx_str code, const json_t *names,
                    struct dtx_buf *out)
{
	switch (r->status) {
	case DTX_JAIL_SNIPPET_ERROR: put_exception(r, code, names, out); break;
	case DTX_JAIL_BAD_RESULT: put_fault(r, names, out); break;
	case DTX_JAIL_SCREENED: put_screen(r, code, out); break;
	case DTX_JAIL_DENIED_SYSCALL:
		dtx_buf_printf(out, "it made a system call that is denied: %s\n", denied_call(r));
		break;
	case DTX_JAIL_TIMEOUT: dtx_buf_add(out, "it ran too long\n"); break;
	case DTX_JAIL_CPU_LIMIT: dtx_buf_add(out, "it used too much CPU time\n"); break;
	case DTX_JAIL_MEMORY_LIMIT: dtx_buf_add(out, "it used too much memory\n"); break;
	case DTX_JAIL_OUTPUT_LIMIT:
		dtx_buf_add(out, "its result, or what it printed, was too large\n");
		break;
	case DTX_JAIL_SIGNALED: dtx_buf_add(out, "it crashed\n"); break;
	case DTX_JAIL_ENDED:
		dtx_buf_add(out, "it ended its process, or closed a descriptor that is not its "
		                 "own; transform returns a DataFrame\n");
		break;
	default: break;
	}
}

/* --- the next attempt --- */

/* Writes the failed checks: their names, their columns if the prompt shows them, and types. */
static void put_checks(const struct dtx_redact_failure *f, struct dtx_buf *out)
{
	unsigned n = 0;
	json_t *row;
	size_t i;

	dtx_buf_add(out, "the result does not keep the contract, or its own FORMULAS\n");
	json_array_foreach((json_t *)(uintptr_t)f->checks, i, row)
	{
		const char *col = dtx_json_text(row, "col", ""),
			   *name = dtx_json_text(row, "name", "");

		if (strcmp(dtx_json_text(row, "status", ""), "fail") ||
		    strcmp(dtx_json_text(row, "severity", ""), "error") || n++ >= CHECKS_TOLD)
			continue;
		dtx_buf_printf(out, "check %s failed", name);
		if (is_name(f->names, dtx_str_of(col))) {
			dtx_buf_add(out, " for column ");
			put_name(dtx_str_of(col), out);
		}
		/* For these two it is one of dtx's own words; for others it may contain counts
		 * or cells. */
		if (!strcmp(name, "type") || !strcmp(name, "column"))
			dtx_buf_printf(out, ": it is %s", dtx_json_text(row, "actual", ""));
		dtx_buf_addc(out, '\n');
	}
}

static void put_broke(const struct dtx_redact_failure *f, struct dtx_buf *out)
{
	const struct dtx_err *e = f->broke;
	bool of_plan;

	dtx_buf_printf(out, "step %d, which follows and is shown below, cannot use ",
	               f->broke_number);
	if (is_name(f->names, dtx_str_of(e->column))) {
		dtx_buf_add(out, "column ");
		put_name(dtx_str_of(e->column), out);
		dtx_buf_add(out, " of ");
	}
	dtx_buf_printf(out, "the result: %s: %s\n", dtx_code_name(e->code),
	               trigger_told(e->code, &of_plan));
}

/* Writes the condition that did not hold, if it is a string in the module. */
static void put_assumption(const struct dtx_redact_failure *f, struct dtx_buf *out)
{
	json_t *list = f->assumes ? json_loads(f->assumes, 0, NULL) : NULL, *item;
	size_t i;

	dtx_buf_add(out, "a condition of ASSUMES does not hold for every row of main, or cannot be "
	                 "checked\n");
	json_array_foreach(list, i, item)
	{
		struct dtx_str text =
			dtx_str_of(json_string_value(item) ? json_string_value(item) : "");

		if (!text.len || dtx_str_find(dtx_str_of(f->message), text, 0) < 0 ||
		    !has_string(f->module, 0, text))
			continue;
		dtx_buf_printf(out, "it is `%.*s`\n", (int)dtx_str_cut(text, 200).len, text.ptr);
		break;
	}
	json_decref(list);
}

void dtx_redact_failure(const struct dtx_redact_failure *f, struct dtx_buf *out)
{
	struct dtx_str name;

	switch (f->code) {
	case DTX_E_SNIPPET_NO_CODE:
	case DTX_E_SNIPPET_TRUNCATED:
	/* these messages depend on the answer alone, or on nothing */
	case DTX_E_SNIPPET_NONDETERMINISTIC: dtx_buf_printf(out, "%s\n", f->message); return;
	case DTX_E_SNIPPET_FAMILY_LITERAL:
		dtx_buf_add(out, "the code names a column of a sliding header: read the names from "
		                 "params[\"families\"]\n");
		if (find_quoted(dtx_str_of(f->message), fits_name, f->names, &name)) {
			dtx_buf_add(out, "it is ");
			put_name(name, out);
			dtx_buf_addc(out, '\n');
		}
		return;
	case DTX_E_SNIPPET_ASSUMPTION: put_assumption(f, out); return;
	case DTX_E_SNIPPET_CONTRACT:
		if (f->broke)
			put_broke(f, out);
		else
			put_checks(f, out);
		return;
	default:
		if (f->run)
			dtx_buf_add(out, f->run);
	}
}

/* --- the record --- */

static bool set_text(json_t *object, const char *key, struct dtx_buf *text)
{
	bool ok = dtx_buf_ok(text) && dtx_json_set(object, key, json_string(dtx_buf_text(text)));

	dtx_buf_clear(text);
	return ok;
}

static bool record_frames(json_t *exception, struct dtx_str code)
{
	json_t *frame;
	size_t i;

	json_array_foreach(json_object_get(exception, "traceback"), i, frame)
	{
		struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
		const char *name = dtx_json_text(frame, "function", "");
		bool known = dtx_str_find(code, dtx_str_of(name), 0) >= 0;

		dtx_buf_adds(&text, dtx_retry_line(code, dtx_json_int(frame, "line", 0)));
		if (!set_text(frame, "text", &text) ||
		    (!known && strcmp(name, "<module>") &&
		     !dtx_json_set(frame, "function", json_string("<value>"))))
			return false;
	}
	return true;
}

static bool record_exception(json_t *report, const struct dtx_jail_report *r, struct dtx_str code,
                             const json_t *names)
{
	json_t *exception = json_object_get(report, "exception");
	struct dtx_buf message = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_str name;

	if (!json_is_object(exception))
		return true;
	if (exception_name(r, code, names, &name))
		dtx_buf_printf(&message, "'%.*s'", (int)name.len, name.ptr);
	else if (r->exception.message && r->exception.message[0])
		dtx_buf_add(&message, "<value>");
	return dtx_json_set(exception, "type", json_string(type_told(r))) &&
	       set_text(exception, "message", &message) && record_frames(exception, code);
}

bool dtx_redact_report(json_t *report, const struct dtx_jail_report *r, struct dtx_str code,
                       const json_t *names)
{
	static const char *const streams[] = { "stdout", "stderr" };
	bool of_worker = r->status == DTX_JAIL_SNIPPET_ERROR || r->status == DTX_JAIL_BAD_RESULT ||
	                 r->status == DTX_JAIL_SCREENED;
	struct dtx_buf said = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *check = json_object_get(report, "check");
	size_t i;

	for (i = 0; i < DTX_COUNT(streams); i++) {
		json_t *stream = json_object_get(report, streams[i]);

		(void)json_object_del(stream, "text");
		(void)json_object_del(stream, "base64");
	}
	(void)json_object_del(report, "value");
	if (of_worker) {
		dtx_redact_run(r, code, names, &said);
		if (!set_text(report, "reason", &said))
			return false;
	}
	if (json_object_get(check, "message") &&
	    !dtx_json_set(check, "message", json_string("<value>")))
		return false;
	return record_exception(report, r, code, names);
}
