/* The code table and the error object: see err.h. */
#include "core/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/text/str.h"
#include "core/base/text/utf8.h"

struct code_row {
	const char *name;
	int exit[2];
	bool trigger[2];
};

static const struct code_row code_rows[] = {
#define X(symbol, text, exit_static, exit_run, trig_static, trig_run)                              \
	[symbol] = { text, { exit_static, exit_run }, { trig_static, trig_run } },
	DTX_CODES(X)
#undef X
};

const char *dtx_code_name(enum dtx_code code)
{
	return code < DTX_CODE_COUNT ? code_rows[code].name : "bug";
}

/* The hint that fits all errors of a code. */
static const char *code_next(enum dtx_code code)
{
	switch (code) {
	case DTX_E_JSON_DEPTH: return "a plan nests 16 levels at most: write it flatter";
	case DTX_E_JSON_DUPLICATE_KEY: return "name each member once";
	case DTX_E_PLAN_ENCODING: return "save the plan as UTF-8";
	case DTX_E_PLAN_TOO_LARGE:
		return "split it into two plans: the output of the first is the input of the "
		       "second";
	case DTX_E_EXPR_LIMIT: return "make it shorter, or split it over several steps";
	case DTX_E_REGEX_SYNTAX:
		return "put a backslash before a character that is meant literally, in JSON two: "
		       "\"\\\\(\"";
	case DTX_E_NAME_COLLISION: return "give one of the two another name";
	case DTX_E_ASSERT_FAILED:
		return "correct the rows, leave them out with a filter step before, or give the "
		       "rule \"severity\": \"warn\"";
	case DTX_E_EXPECT_FAILED:
		return "look at the steps before with dtx explain --analyze; where the result is "
		       "right, change \"expect\"";
	case DTX_E_PARAM_CONFLICT: return "leave one of them out";
	case DTX_E_COLUMNS_DIFFER:
		return "\"columns\": \"union\" puts nulls where a column is missing, \"intersect\" "
		       "keeps what all tables have";
	case DTX_E_BAD_SPLIT:
		return "name another separator, or leave such rows out with a filter step before";
	case DTX_E_EMPTY_INPUT: return "check that it is the right file";
	case DTX_E_ROW_LIMIT: return "raise \"rows\" of the plan's limits, or filter before";
	case DTX_E_COL_LIMIT:
		return "raise \"cols\" of the plan's limits, or select fewer columns before";
	case DTX_E_ROW_GROWTH: return "raise \"growth\" of the plan's limits, or filter before";
	case DTX_E_EXPR_SYNTAX:
		return "dtx ops --functions lists the functions, man dtx-plan explains formulas";
	case DTX_W_UNUSED_INPUT: return "leave it out, or name it in \"in\" or \"with\" of a step";
	case DTX_W_UNDECLARED_COLUMN: return "add it to \"requires\" of the input";
	case DTX_W_TYPE_PROMOTED: return "cast both to one type in a step before";
	case DTX_W_CONSTANT_FILTER: return "compare a column, or leave the condition out";
	case DTX_W_NULL_DROPPED:
		return "decide in the condition what happens to them, with 'x is null' or "
		       "coalesce()";
	case DTX_W_DIV_ZERO:
		return "safe_div(a, b, default) gives another value, options.div_zero 'error' ends "
		       "the run";
	case DTX_W_SHEET_ASSUMED: return "\"sheet\" names another";
	case DTX_W_HEADER_ASSUMED:
		return "\"header_rows\": 1 confirms it, \"header_rows\": 0 takes it as data";
	case DTX_W_HIDDEN_CELLS: return "\"hidden\": \"drop\" leaves them out";
	case DTX_W_CELL_ERRORS:
		return "\"bad_cells\": \"error\" refuses them, \"bad_cells\": \"text\" keeps what "
		       "they show";
	case DTX_W_MIXED_TYPES: return "\"types\": {\"NAME\": \"TYPE\"} declares one type for it";
	case DTX_W_NUMBER_ROUNDED: return "csv and jsonl keep them as they are";
	default: return NULL;
	}
}

/* Derives a hint from the plan position of the error: the help page that lists the members of that
 * part of a plan. */
static const char *next_of_place(const struct dtx_err *err)
{
	static const struct {
		const char *at, *next;
	} part[] = {
		{ "/inputs", "man dtx-plan lists what an input can have" },
		{ "/output", "man dtx-plan lists what an output can have" },
		{ "/options", "man dtx-plan lists the options of a plan" },
		{ "/limits", "man dtx-plan lists the limits of a plan" },
	};

	if (err->code != DTX_E_BAD_PARAM_TYPE && err->code != DTX_E_BAD_PARAM_VALUE &&
	    err->code != DTX_E_MISSING_PARAM && err->code != DTX_E_UNKNOWN_PARAM)
		return NULL;
	if (strstr(err->at, "/expect"))
		return "man dtx-plan lists what \"expect\" can have";
	for (size_t i = 0; i < DTX_COUNT(part); i++)
		if (!strncmp(err->at, part[i].at, strlen(part[i].at)))
			return part[i].next;
	return err->at[0] ? "man dtx-plan describes the parts of a plan" : NULL;
}

const char *dtx_err_next(const struct dtx_err *err)
{
	if (err->hint[0])
		return err->hint;
	/* A suggested name ("did you mean") helps more than the pointer to a manual. */
	if (err->did_you_mean[0][0] && !code_next(err->code))
		return NULL;
	return code_next(err->code) ? code_next(err->code) : next_of_place(err);
}

int dtx_code_exit(enum dtx_code code, bool run_time)
{
	return code < DTX_CODE_COUNT ? code_rows[code].exit[run_time] : 70;
}

bool dtx_code_triggers(enum dtx_code code, bool run_time)
{
	return code < DTX_CODE_COUNT && code_rows[code].trigger[run_time];
}

bool dtx_code_needs_snippet(enum dtx_code code)
{
	return code == DTX_E_UNKNOWN_OP || code == DTX_E_UNKNOWN_FUNCTION ||
	       code == DTX_E_UNSUPPORTED_PARAM || code == DTX_E_NEEDS_SNIPPET;
}

enum dtx_severity dtx_err_severity(const struct dtx_err *err, bool run_time)
{
	if (err->code >= DTX_W_UNUSED_INPUT)
		return DTX_SEV_WARNING;
	return dtx_code_triggers(err->code, run_time) && !err->misnamed ? DTX_SEV_FALLBACK
	                                                                : DTX_SEV_ERROR;
}

int dtx_err_exit(const struct dtx_err *err)
{
	bool needs = err->severity == DTX_SEV_FALLBACK && dtx_code_needs_snippet(err->code);

	return dtx_code_exit(needs ? DTX_E_NEEDS_SNIPPET : err->code, err->run_time);
}

enum dtx_code dtx_code_find(const char *name)
{
	enum dtx_code code;

	for (code = DTX_OK; code < DTX_CODE_COUNT; code++) {
		if (!strcmp(code_rows[code].name, name))
			break;
	}
	return code;
}

/* Replaces bytes that are not UTF-8, because error texts become JSON.  Such bytes come from file
 * names, and from values that were cut in the middle of a character. */
static void err_utf8(char *text)
{
	size_t len = strlen(text), at = 0;
	ptrdiff_t bad;

	while ((bad = dtx_utf8_bad(text + at, len - at)) >= 0) {
		at += (size_t)bad;
		text[at] = '?';
	}
}

/* `make errcov` builds a dtx that keeps a list of the source lines that raised an error.  The list
 * is a mapped file, opened before a worker enters its sandbox, where it could not open any file. */
#ifdef DTX_ERRCOV
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/hash/hash.h"
#define RAISED_SLOTS 16384 /* source lines; each is listed once */
struct raised {
	atomic_size_t used;
	char text[(size_t)RAISED_SLOTS * 48];
	atomic_uint_fast64_t seen[RAISED_SLOTS];
};
static struct raised *raised;

__attribute__((constructor)) static void err_raised_open(void)
{
	int fd = open(DTX_ERRCOV, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED
	                   : mmap(NULL, sizeof(*raised), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	raised = map == MAP_FAILED ? NULL : map;
	if (fd >= 0)
		close(fd);
}

static bool err_raised_new(uint64_t hash)
{
	uint_fast64_t was;
	size_t i;

	for (i = 0; i < RAISED_SLOTS; i++) {
		was = 0;
		if (atomic_compare_exchange_strong(&raised->seen[(hash + i) % RAISED_SLOTS], &was,
		                                   hash))
			return true;
		if (was == hash)
			return false;
	}
	return true;
}

static void err_raised(const char *file, int line)
{
	char text[256];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s:%d\n", file, line), at;

	if (!raised || !err_raised_new(dtx_hash64(text, n, 0) | 1))
		return;
	at = atomic_fetch_add(&raised->used, n);
	if (at + n < sizeof(raised->text))
		memcpy(raised->text + at, text, n);
}
#else
#define err_raised(file, line) ((void)0)
#endif

enum dtx_code dtx_err_set(struct dtx_err *err, enum dtx_code code, const char *file, int line,
                          const char *fmt, ...)
{
	va_list ap;

	err_raised(file, line);
	if (!err)
		return code;
	dtx_err_clear(err);
	err->code = code;
	err->src_file = file;
	err->src_line = line;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	err_utf8(err->msg);
	dtx_text_singular(err->msg);
	return code;
}

void dtx_err_hint(struct dtx_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	err_utf8(err->hint);
	dtx_text_singular(err->hint);
}

void dtx_err_at(struct dtx_err *err, const char *pointer)
{
	if (err && !err->at[0] && pointer)
		dtx_str_copy(err->at, sizeof(err->at), dtx_str_of(pointer));
}

void dtx_err_span(struct dtx_err *err, int32_t start, int32_t end)
{
	if (err && err->span[0] < 0) {
		err->span[0] = start;
		err->span[1] = end;
	}
}

void dtx_err_step(struct dtx_err *err, int32_t step, const char *op)
{
	if (!err || err->step >= 0)
		return;
	err->step = step;
	if (op && !err->op[0])
		dtx_str_copy(err->op, sizeof(err->op), dtx_str_of(op));
}

void dtx_err_row(struct dtx_err *err, int64_t row, const char *column)
{
	if (!err)
		return;
	if (err->row < 0)
		err->row = row;
	if (column && !err->column[0])
		dtx_str_copy(err->column, sizeof(err->column), dtx_str_of(column));
}

static void err_fill(char *to, size_t size, const char *from)
{
	if (!to[0])
		dtx_str_copy(to, size, dtx_str_of(from));
}

void dtx_err_place(struct dtx_err *err, const struct dtx_err *from)
{
	if (!err)
		return;
	dtx_err_row(err, from->row, from->column);
	if (err->byte < 0)
		err->byte = from->byte;
	err_fill(err->input, sizeof(err->input), from->input);
	err_fill(err->sheet, sizeof(err->sheet), from->sheet);
	err_fill(err->cell, sizeof(err->cell), from->cell);
}

void dtx_err_more(struct dtx_err *err, char *json)
{
	if (!err) {
		dtx_mem_free(json);
		return;
	}
	dtx_mem_free(err->more);
	err->more = json;
}

static void err_suggest_insert(struct dtx_err *err, size_t best[3], size_t d, const char *name)
{
	size_t at = 3, i;

	for (i = 3; i-- > 0;) {
		if (d < best[i])
			at = i;
	}
	if (at == 3)
		return;
	for (i = 2; i > at; i--) {
		best[i] = best[i - 1];
		memcpy(err->did_you_mean[i], err->did_you_mean[i - 1],
		       sizeof(err->did_you_mean[i]));
	}
	best[at] = d;
	dtx_str_copy(err->did_you_mean[at], sizeof(err->did_you_mean[at]), dtx_str_of(name));
}

void dtx_err_suggest(struct dtx_err *err, const char *want, const char *const *have, size_t n)
{
	size_t best[3] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };
	struct dtx_str w = dtx_str_of(want);
	size_t limit = DTX_MAX((size_t)1, w.len / 3), i;

	if (!err)
		return;
	for (i = 0; i < n; i++) {
		struct dtx_str h = dtx_str_of(have[i]);
		bool near = dtx_str_near(w, h);
		size_t d = dtx_str_ieq(w, h) ? 0 : dtx_str_distance(w, h, limit);

		/* A cancelled run keeps the suggestions that were found so far. */
		if (i % DTX_CANCEL_LINES == 0 && dtx_cancel_now())
			return;
		err->misnamed |= near;
		/* Near names rank before names that are only similar. */
		if (near)
			err_suggest_insert(err, best, DTX_MIN(d, (size_t)2), have[i]);
		else if (d <= limit)
			err_suggest_insert(err, best, d + 3, have[i]);
	}
}

void dtx_err_suggest_alias(struct dtx_err *err, const char *want, const char *aliases,
                           const char *name)
{
	struct dtx_str rest = dtx_str_of(aliases ? aliases : ""), word;

	while (err && dtx_str_next(&rest, ',', &word)) {
		if (!word.len || !dtx_str_near(dtx_str_of(want), word))
			continue;
		dtx_err_suggest(err, name, &name, 1);
		return;
	}
}

void dtx_err_copy(struct dtx_err *to, const struct dtx_err *from)
{
	if (!to || to == from)
		return;
	dtx_mem_free(to->more);
	*to = *from;
	to->more = from->more ? dtx_mem_strdup(from->more) : NULL;
}

void dtx_err_move(struct dtx_err *to, struct dtx_err *from)
{
	if (!to) {
		dtx_err_clear(from);
		return;
	}
	if (to == from)
		return;
	dtx_mem_free(to->more);
	*to = *from;
	*from = (struct dtx_err)DTX_ERR_INIT;
}

void dtx_err_clear(struct dtx_err *err)
{
	if (!err)
		return;
	dtx_mem_free(err->more);
	*err = (struct dtx_err)DTX_ERR_INIT;
}

bool dtx_errlist_take(struct dtx_errlist *list, struct dtx_err *err)
{
	if (list->n >= DTX_ERRLIST_MAX) {
		list->dropped++;
		dtx_err_clear(err);
		return true;
	}
	if (!dtx_mem_reserve(&list->item, &list->cap, list->n + 1, sizeof(*list->item))) {
		dtx_err_clear(err);
		return false;
	}
	list->item[list->n++] = *err;
	*err = (struct dtx_err)DTX_ERR_INIT;
	return true;
}

void dtx_errlist_clear(struct dtx_errlist *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		dtx_mem_free(list->item[i].more);
	dtx_mem_free(list->item);
	*list = (struct dtx_errlist)DTX_ERRLIST_INIT;
}

const struct dtx_err *dtx_errlist_worst(const struct dtx_errlist *list)
{
	const struct dtx_err *fallback = NULL;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->item[i].severity == DTX_SEV_ERROR)
			return &list->item[i];
		if (list->item[i].severity == DTX_SEV_FALLBACK && !fallback)
			fallback = &list->item[i];
	}
	return fallback;
}
