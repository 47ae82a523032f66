/* The code table (name, exit status, whether the fallback may start) and the error object.
 *
 * A function that can fail returns `enum dtx_code`, takes `struct dtx_err *err` as its last
 * parameter (NULL is allowed) and has one `out:` label.  The function that detects the failure
 * writes the message.  Its callers never rewrite that text; they only fill in position fields that
 * are still empty (dtx_err_at, dtx_err_step and so on), because only they know the step, the row or
 * the file. */
#ifndef DTX_BASE_ERR_H
#define DTX_BASE_ERR_H

#include "core/base/base.h"

/* Columns: symbol; name; exit status if the error is found before the run, and during it; whether
 * the error starts the fallback if it is found before the run, and during it. */
#define DTX_CODES(X)                                                                               \
	X(DTX_OK, "ok", 0, 0, 0, 0)                                                                \
	X(DTX_E_USAGE, "usage", 2, 2, 0, 0)                                                        \
	/* errors in the text of the plan */                                                       \
	X(DTX_E_JSON_SYNTAX, "json_syntax", 3, 3, 0, 0)                                            \
	X(DTX_E_JSON_DUPLICATE_KEY, "json_duplicate_key", 3, 3, 0, 0)                              \
	X(DTX_E_JSON_DEPTH, "json_depth", 3, 3, 0, 0)                                              \
	X(DTX_E_PLAN_ENCODING, "plan_encoding", 3, 3, 0, 0)                                        \
	X(DTX_E_PLAN_VERSION, "plan_version", 3, 3, 0, 0)                                          \
	X(DTX_E_PLAN_TOO_LARGE, "plan_too_large", 3, 3, 0, 0)                                      \
	X(DTX_E_EMPTY_PLAN, "empty_plan", 3, 3, 0, 0)                                              \
	X(DTX_E_UNKNOWN_PARAM, "unknown_param", 3, 3, 0, 0)                                        \
	X(DTX_E_MISSING_PARAM, "missing_param", 3, 3, 0, 0)                                        \
	X(DTX_E_BAD_PARAM_TYPE, "bad_param_type", 3, 3, 0, 0)                                      \
	X(DTX_E_BAD_PARAM_VALUE, "bad_param_value", 3, 3, 0, 0)                                    \
	X(DTX_E_PARAM_CONFLICT, "param_conflict", 3, 3, 0, 0)                                      \
	X(DTX_E_UNKNOWN_TABLE, "unknown_table", 3, 3, 0, 0)                                        \
	X(DTX_E_DUPLICATE_TABLE, "duplicate_table", 3, 3, 0, 0)                                    \
	/* errors in expressions, and columns that do not fit together from step to step */        \
	X(DTX_E_EXPR_SYNTAX, "expr_syntax", 3, 3, 0, 0)                                            \
	X(DTX_E_EXPR_LIMIT, "expr_limit", 3, 3, 0, 0)                                              \
	X(DTX_E_BAD_LITERAL, "bad_literal", 3, 3, 0, 0)                                            \
	X(DTX_E_BAD_ARITY, "bad_arity", 3, 3, 0, 0)                                                \
	X(DTX_E_BAD_FORMAT, "bad_format", 3, 3, 0, 0)                                              \
	X(DTX_E_REGEX_SYNTAX, "regex_syntax", 3, 3, 0, 0)                                          \
	X(DTX_E_UNKNOWN_COLUMN, "unknown_column", 3, 3, 0, 0)                                      \
	X(DTX_E_NAME_COLLISION, "name_collision", 3, 3, 0, 0)                                      \
	X(DTX_E_NOT_BOOLEAN, "not_boolean", 3, 3, 0, 0)                                            \
	X(DTX_E_AGGREGATE_NOT_ALLOWED, "aggregate_not_allowed", 3, 3, 0, 0)                        \
	X(DTX_E_AGGREGATE_REQUIRED, "aggregate_required", 3, 3, 0, 0)                              \
	X(DTX_E_NESTED_AGGREGATE, "nested_aggregate", 3, 3, 0, 0)                                  \
	X(DTX_E_WINDOW_NOT_ALLOWED, "window_not_allowed", 3, 3, 0, 0)                              \
	X(DTX_E_ORDER_REQUIRED, "order_required", 3, 3, 0, 0)                                      \
	X(DTX_E_NO_TRANSLATION, "no_translation", 3, 3, 0, 0)                                      \
	X(DTX_E_TYPE_MISMATCH, "type_mismatch", 3, 4, 0, 1)                                        \
	X(DTX_E_LENGTH_MISMATCH, "length_mismatch", 3, 4, 0, 0)                                    \
	/* what dtx itself cannot do; a snippet may */                                             \
	X(DTX_E_UNKNOWN_OP, "unknown_op", 3, 3, 1, 1)                                              \
	X(DTX_E_UNKNOWN_FUNCTION, "unknown_function", 3, 3, 1, 1)                                  \
	X(DTX_E_UNSUPPORTED_PARAM, "unsupported_param", 3, 3, 1, 1)                                \
	/* errors in the input data */                                                             \
	X(DTX_E_MISSING_COLUMN, "missing_column", 4, 4, 1, 1)                                      \
	X(DTX_E_COLUMNS_DIFFER, "columns_differ", 4, 4, 0, 0)                                      \
	X(DTX_E_AMBIGUOUS_COLUMN, "ambiguous_column", 4, 4, 1, 1)                                  \
	X(DTX_E_HEADER_NOT_FOUND, "header_not_found", 4, 4, 1, 1)                                  \
	X(DTX_E_MULTIPLE_TABLES, "multiple_tables", 4, 4, 1, 1)                                    \
	X(DTX_E_AMBIGUOUS_DIALECT, "ambiguous_dialect", 4, 4, 1, 1)                                \
	X(DTX_E_RAGGED_ROWS, "ragged_rows", 4, 4, 1, 1)                                            \
	X(DTX_E_CAST_FAILED, "cast_failed", 4, 4, 1, 1)                                            \
	X(DTX_E_AMBIGUOUS_DATE, "ambiguous_date", 4, 4, 1, 1)                                      \
	X(DTX_E_PIVOT_NOT_UNIQUE, "pivot_not_unique", 4, 4, 1, 1)                                  \
	X(DTX_E_OVERFLOW, "overflow", 4, 4, 0, 0)                                                  \
	X(DTX_E_DIV_ZERO, "div_zero", 4, 4, 0, 0)                                                  \
	X(DTX_E_EXTRA_COLUMN, "extra_column", 4, 4, 0, 0)                                          \
	X(DTX_E_BAD_SPLIT, "bad_split", 4, 4, 0, 0)                                                \
	X(DTX_E_UNEXPECTED_VALUE, "unexpected_value", 4, 4, 0, 0)                                  \
	X(DTX_E_BAD_CELL, "bad_cell", 4, 4, 0, 0)                                                  \
	X(DTX_E_INPUT_NOT_FOUND, "input_not_found", 4, 4, 0, 0)                                    \
	X(DTX_E_INPUT_IO, "input_io", 4, 4, 0, 0)                                                  \
	X(DTX_E_INPUT_CHANGED, "input_changed", 4, 4, 0, 0)                                        \
	X(DTX_E_UNSUPPORTED_FORMAT, "unsupported_format", 4, 4, 0, 0)                              \
	X(DTX_E_SHEET_NOT_FOUND, "sheet_not_found", 4, 4, 0, 0)                                    \
	X(DTX_E_ENCRYPTED_FILE, "encrypted_file", 4, 4, 0, 0)                                      \
	X(DTX_E_CORRUPT_FILE, "corrupt_file", 4, 4, 0, 0)                                          \
	X(DTX_E_ARCHIVE_LIMIT, "archive_limit", 8, 8, 0, 0)                                        \
	X(DTX_E_INPUT_LIMIT, "input_limit", 8, 8, 0, 0)                                            \
	X(DTX_E_BAD_ENCODING, "bad_encoding", 4, 4, 0, 0)                                          \
	X(DTX_E_BAD_QUOTE, "bad_quote", 4, 4, 0, 0)                                                \
	X(DTX_E_UNTERMINATED_QUOTE, "unterminated_quote", 4, 4, 0, 0)                              \
	X(DTX_E_EMPTY_INPUT, "empty_input", 4, 4, 0, 0)                                            \
	X(DTX_E_NO_RECORD, "no_record", 4, 4, 0, 0)                                                \
	/* snippets: writing, approving and running them */                                        \
	X(DTX_E_NEEDS_SNIPPET, "needs_snippet", 5, 5, 1, 0)                                        \
	X(DTX_E_AUTHOR_FAILED, "author_failed", 5, 5, 0, 0)                                        \
	X(DTX_E_NEEDS_APPROVAL, "needs_approval", 6, 6, 0, 0)                                      \
	X(DTX_E_SNIPPET_NO_CODE, "snippet_no_code", 7, 7, 0, 0)                                    \
	X(DTX_E_SNIPPET_TRUNCATED, "snippet_truncated", 7, 7, 0, 0)                                \
	X(DTX_E_SNIPPET_SYNTAX, "snippet_syntax", 7, 7, 0, 0)                                      \
	X(DTX_E_SNIPPET_IMPORT_DENIED, "snippet_import_denied", 7, 7, 0, 0)                        \
	X(DTX_E_SNIPPET_SCREEN_DENIED, "snippet_screen_denied", 7, 7, 0, 0)                        \
	X(DTX_E_SNIPPET_EXCEPTION, "snippet_exception", 7, 7, 0, 0)                                \
	X(DTX_E_SNIPPET_BAD_RESULT, "snippet_bad_result", 7, 7, 0, 0)                              \
	X(DTX_E_SNIPPET_ENDED, "snippet_ended", 7, 7, 0, 0)                                        \
	X(DTX_E_SNIPPET_CONTRACT, "snippet_contract", 7, 7, 0, 0)                                  \
	X(DTX_E_SNIPPET_NONDETERMINISTIC, "snippet_nondeterministic", 7, 7, 0, 0)                  \
	X(DTX_E_SNIPPET_ASSUMPTION, "snippet_assumption", 7, 7, 0, 0)                              \
	X(DTX_E_SNIPPET_FAMILY_LITERAL, "snippet_family_literal", 7, 7, 0, 0)                      \
	X(DTX_E_SNIPPET_CANNOT, "snippet_cannot", 7, 7, 0, 0)                                      \
	X(DTX_E_SNIPPET_REVOKED, "snippet_revoked", 7, 7, 0, 0)                                    \
	X(DTX_E_SNIPPET_TIMEOUT, "snippet_timeout", 8, 8, 0, 0)                                    \
	X(DTX_E_SNIPPET_CPU_LIMIT, "snippet_cpu_limit", 8, 8, 0, 0)                                \
	X(DTX_E_SNIPPET_MEMORY_LIMIT, "snippet_memory_limit", 8, 8, 0, 0)                          \
	X(DTX_E_SNIPPET_OUTPUT_LIMIT, "snippet_output_limit", 8, 8, 0, 0)                          \
	X(DTX_E_SNIPPET_DENIED_SYSCALL, "snippet_denied_syscall", 8, 8, 0, 0)                      \
	X(DTX_E_SNIPPET_CRASH, "snippet_crash", 8, 8, 0, 0)                                        \
	X(DTX_E_SNIPPET_SETUP_REFUSED, "snippet_setup_refused", 8, 8, 0, 0)                        \
	X(DTX_E_JAIL_UNAVAILABLE, "jail_unavailable", 8, 8, 0, 0)                                  \
	/* a cluster */                                                                            \
	X(DTX_E_ENGINE_UNAVAILABLE, "engine_unavailable", 8, 8, 0, 0)                              \
	/* limits */                                                                               \
	X(DTX_E_NO_MEMORY, "no_memory", 8, 8, 0, 0)                                                \
	X(DTX_E_TIME_LIMIT, "time_limit", 8, 8, 0, 0)                                              \
	X(DTX_E_ROW_LIMIT, "row_limit", 8, 8, 0, 0)                                                \
	X(DTX_E_COL_LIMIT, "col_limit", 8, 8, 0, 0)                                                \
	X(DTX_E_CELL_LIMIT, "cell_limit", 8, 8, 0, 0)                                              \
	X(DTX_E_ROW_GROWTH, "row_growth", 8, 8, 0, 0)                                              \
	X(DTX_E_PIVOT_TOO_WIDE, "pivot_too_wide", 8, 8, 0, 0)                                      \
	/* writing of results and of the store */                                                  \
	X(DTX_E_OUTPUT_IO, "output_io", 9, 9, 0, 0)                                                \
	X(DTX_E_DISK_FULL, "disk_full", 9, 9, 0, 0)                                                \
	X(DTX_E_STORE_IO, "store_io", 9, 9, 0, 0)                                                  \
	X(DTX_E_STORE_BUSY, "store_busy", 9, 9, 0, 0)                                              \
	/* assertions of the plan that do not hold for the data */                                 \
	X(DTX_E_ASSERT_FAILED, "assert_failed", 10, 10, 0, 0)                                      \
	X(DTX_E_EXPECT_FAILED, "expect_failed", 10, 10, 0, 0)                                      \
	X(DTX_E_JOIN_CARDINALITY, "join_cardinality", 10, 10, 0, 0)                                \
	X(DTX_E_JOIN_UNMATCHED, "join_unmatched", 10, 10, 0, 0)                                    \
	X(DTX_E_LOOKUP_MISSING, "lookup_missing", 10, 10, 0, 0)                                    \
	X(DTX_E_NULL_KEY, "null_key", 10, 10, 0, 0)                                                \
	X(DTX_E_BUG, "bug", 70, 70, 0, 0)                                                          \
	X(DTX_E_CANCELLED, "cancelled", 130, 130, 0, 0)                                            \
	/* The reader of stdout has closed it.  dtx ends without a message, with the status of     \
	 * SIGPIPE. */                                                                             \
	X(DTX_E_OUTPUT_CLOSED, "output_closed", 141, 141, 0, 0)                                    \
	/* internal: the executor starts again with wider types; dtx_exec never returns it */      \
	X(DTX_E_RETYPE, "retype", 70, 70, 0, 0)                                                    \
	/* internal: rows after the sample made a reader change its dialect */                     \
	X(DTX_E_RESNIFF, "resniff", 70, 70, 0, 0)                                                  \
	/* warnings: the same object with severity DTX_SEV_WARNING */                              \
	X(DTX_W_UNUSED_INPUT, "unused_input", 0, 0, 0, 0)                                          \
	X(DTX_W_UNDECLARED_COLUMN, "undeclared_column", 0, 0, 0, 0)                                \
	X(DTX_W_TYPE_PROMOTED, "type_promoted", 0, 0, 0, 0)                                        \
	X(DTX_W_DUPLICATE_HEADER, "duplicate_header", 0, 0, 0, 0)                                  \
	X(DTX_W_TOTAL_NOT_VERIFIED, "total_not_verified", 0, 0, 0, 0)                              \
	X(DTX_W_CONSTANT_FILTER, "constant_filter", 0, 0, 0, 0)                                    \
	X(DTX_W_TEXT_NUMERIC, "text_numeric_compare", 0, 0, 0, 0)                                  \
	X(DTX_W_TEXT_DATE, "text_date_compare", 0, 0, 0, 0)                                        \
	X(DTX_W_LITERAL_NAME, "literal_for_column", 0, 0, 0, 0)                                    \
	X(DTX_W_NULL_DROPPED, "null_dropped", 0, 0, 0, 0)                                          \
	X(DTX_W_DIV_ZERO, "div_zero", 0, 0, 0, 0)                                                  \
	X(DTX_W_NOT_FINITE, "not_finite", 0, 0, 0, 0)                                              \
	X(DTX_W_MIXED_TYPES, "mixed_types", 0, 0, 0, 0)                                            \
	X(DTX_W_SHEET_ASSUMED, "sheet_assumed", 0, 0, 0, 0)                                        \
	X(DTX_W_HEADER_ASSUMED, "header_assumed", 0, 0, 0, 0)                                      \
	X(DTX_W_RECORDS_ASSUMED, "records_assumed", 0, 0, 0, 0)                                    \
	X(DTX_W_HIDDEN_CELLS, "hidden_cells", 0, 0, 0, 0)                                          \
	X(DTX_W_CELL_ERRORS, "cell_errors", 0, 0, 0, 0)                                            \
	X(DTX_W_NUMBER_ROUNDED, "number_rounded", 0, 0, 0, 0)                                      \
	X(DTX_W_READER_NOTE, "reader_note", 0, 0, 0, 0)                                            \
	X(DTX_W_REPAIRED, "repaired", 0, 0, 0, 0)                                                  \
	X(DTX_W_DIALECT_RESNIFFED, "dialect_resniffed", 0, 0, 0, 0)                                \
	X(DTX_W_ALMOST_TYPE, "almost_type", 0, 0, 0, 0)                                            \
	X(DTX_W_SNIPPET_UNCHANGED, "snippet_unchanged", 0, 0, 0, 0)                                \
	X(DTX_W_RESULT_NOTE, "result_note", 0, 0, 0, 0)

enum dtx_code {
#define X(symbol, ...) symbol,
	DTX_CODES(X)
#undef X
		DTX_CODE_COUNT
};

enum dtx_severity { DTX_SEV_ERROR, DTX_SEV_FALLBACK, DTX_SEV_WARNING };

struct dtx_err {
	enum dtx_code code;
	enum dtx_severity severity;
	bool count_open;      /* not all rows were examined, so `count` may be too low */
	bool run_time;        /* found during the run, or while an input was bound to the plan */
	bool misnamed;        /* The error is about a name that is a misspelling of an existing one,
	                       * or another tool's word for it.  The plan is wrong then, and the
	                       * step is not given to a snippet. */
	int32_t step;         /* number of the step, from 0; -1: none */
	int32_t span[2];      /* first byte and end in the text of an expression; {-1, -1}: none */
	int64_t row;          /* physical row of the input, from 0; -1: none */
	int64_t byte;         /* byte offset in the input; -1: none */
	int64_t count;        /* number of such errors, -1: not counted */
	int64_t seq;          /* number of the morsel that the reader was in; -1: unknown */
	const char *src_file; /* the line of dtx's source that raised it */
	int src_line;
	char at[128]; /* JSON pointer into the plan as the user wrote it */
	char op[32];
	bool aside; /* a warning that does not concern the result: it goes into records but is not
	             * shown */
	char input[64]; /* alias or path of the input */
	char sheet[64];
	char cell[24]; /* a cell such as "C17", or a line such as "L1042" */
	char column[64];
	char declared[64]; /* where a cell does not fit its declared type: the name of the column in
	                    * the input */
	char msg[400];
	char hint[480];
	char did_you_mean[3][64];
	char *more; /* text of a JSON object with details (available names, samples); owned, freed
	             * by dtx_err_clear */
};

#define DTX_ERR_INIT                                                                               \
	{                                                                                          \
		.code = DTX_OK, .step = -1, .span = { -1, -1 }, .row = -1, .byte = -1,             \
		.count = -1, .seq = -1                                                             \
	}

/* Fails with `code`: fills err, records this source line and goes to `out`. */
#define DTX_FAIL(err, code, ...)                                                                   \
	do {                                                                                       \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, __VA_ARGS__);                  \
		goto out;                                                                          \
	} while (0)
/* DTX_FAIL with a hint: what the user can do next. */
#define DTX_FAIL_NEXT(err, code, next, ...)                                                        \
	do {                                                                                       \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, __VA_ARGS__);                  \
		dtx_err_hint((err), "%s", (next));                                                 \
		goto out;                                                                          \
	} while (0)
/* Calls a function that can fail and goes to `out` if it does. */
#define DTX_TRY(call)                                                                              \
	do {                                                                                       \
		rc = (call);                                                                       \
		if (rc != DTX_OK)                                                                  \
			goto out;                                                                  \
	} while (0)
/* Out of memory has the same text everywhere. */
#define DTX_FAIL_MEM(err) DTX_FAIL((err), DTX_E_NO_MEMORY, "out of memory")
/* For mistakes of dtx itself, never for input.  Ends with exit status 70. */
#define DTX_ASSERT(cond, err)                                                                      \
	do {                                                                                       \
		if (DTX_UNLIKELY(!(cond)))                                                         \
			DTX_FAIL((err), DTX_E_BUG, "internal: %s", #cond);                         \
	} while (0)

const char *dtx_code_name(enum dtx_code code);
/* Corrects the grammar of a message that counts one thing: "1 rows are" becomes "1 row is".  Text
 * in quotes stays as it is. */
void dtx_text_singular(char *text);
/* What the user can do next: the hint of the error, or the hint that fits all errors of its code.
 * NULL if neither is known. */
const char *dtx_err_next(const struct dtx_err *err);
/* Exit status of a code. */
int dtx_code_exit(enum dtx_code code, bool run_time);
/* Whether an error of this code starts the fallback. */
bool dtx_code_triggers(enum dtx_code code, bool run_time);
/* Whether only a snippet can do what was asked: the plan is well-formed, but dtx lacks the
 * operation, function or parameter, or the plan leaves the step to a snippet. */
bool dtx_code_needs_snippet(enum dtx_code code);
/* The code with that name; DTX_CODE_COUNT if no code has it. */
enum dtx_code dtx_code_find(const char *name);

/* Resets err to DTX_ERR_INIT, then fills in code, message and source line.  Frees an earlier
 * `more`.  Returns `code`. */
enum dtx_code dtx_err_set(struct dtx_err *err, enum dtx_code code, const char *file, int line,
                          const char *fmt, ...) DTX_PRINTF(5, 6);
/* DTX_SEV_WARNING for codes of warnings, DTX_SEV_FALLBACK if a snippet may do the step, else
 * DTX_SEV_ERROR. */
enum dtx_severity dtx_err_severity(const struct dtx_err *err, bool run_time);
/* Exit status of a finding: 5 if only a snippet can do the step, else the exit status of its
 * code. */
int dtx_err_exit(const struct dtx_err *err);
/* Sets what the user can do next and replaces an earlier hint.  This function and those below
 * accept a NULL err. */
void dtx_err_hint(struct dtx_err *err, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Each fills in one position if that position is still empty. */
void dtx_err_at(struct dtx_err *err, const char *pointer);
void dtx_err_span(struct dtx_err *err, int32_t start, int32_t end);
void dtx_err_step(struct dtx_err *err, int32_t step, const char *op);
void dtx_err_row(struct dtx_err *err, int64_t row, const char *column);
/* Copies input, sheet, cell, row and column from another error, each only if it is still empty
 * here. */
void dtx_err_place(struct dtx_err *err, const struct dtx_err *from);
/* Stores `json` (dtx_mem memory, now owned by err) as err->more.  Frees it at once if err is
 * NULL. */
void dtx_err_more(struct dtx_err *err, char *json);
/* Puts up to three names from `have` that `want` may mean into err->did_you_mean, the most similar
 * first.  Names that dtx_str_near accepts come first and set err->misnamed; after them come names
 * whose edit distance is at most a third of the letters. */
void dtx_err_suggest(struct dtx_err *err, const char *want, const char *const *have, size_t n);
/* The same for one name with a comma-separated list of aliases: if an alias is near, `name` is
 * suggested. */
void dtx_err_suggest_alias(struct dtx_err *err, const char *want, const char *aliases,
                           const char *name);
/* Copies everything; `more` is duplicated. */
void dtx_err_copy(struct dtx_err *to, const struct dtx_err *from);
/* Moves the content and leaves `from` empty.  Frees an earlier `more` of `to`. */
void dtx_err_move(struct dtx_err *to, struct dtx_err *from);
void dtx_err_clear(struct dtx_err *err);

/* All findings of a check, in order.  It keeps at most DTX_ERRLIST_MAX of them and counts the
 * rest. */
#define DTX_ERRLIST_MAX 200
struct dtx_errlist {
	struct dtx_err *item;
	size_t n, cap;
	size_t dropped;
};
#define DTX_ERRLIST_INIT                                                                           \
	{                                                                                          \
		NULL, 0, 0, 0                                                                      \
	}
/* Moves the content of err into the list and leaves err empty.  False when memory is out. */
bool dtx_errlist_take(struct dtx_errlist *list, struct dtx_err *err);
void dtx_errlist_clear(struct dtx_errlist *list);
/* The finding that decides the exit status: the first error, else the first fallback.  NULL if
 * there are only warnings. */
const struct dtx_err *dtx_errlist_worst(const struct dtx_errlist *list);

#endif
