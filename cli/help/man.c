/* Pages of the manual in troff, made from the rows of commands, ops, functions and error codes. */
#include <stdlib.h>
#include <string.h>

#include "cli/settings/config.h"
#include "cli/help/help.h"
#include "cli/help/plan_rules.h"
#include "cli/run/runner.h"
#include "cli/pipe/step_words.h"
#include "cli/settings/settings.h"
#include "cli/wrap.h"
#include "core/base/text/num.h"
#include "core/expr/agg/aggcall.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/csv/csv_row.h"
#include "core/io/formats.h"
#include "core/io/write/writer.h"
#include "core/plan/op.h"
#include "core/plan/parse/expand_globs.h"
#include "core/plan/plan.h"

/* What a page indents a text leaves of 79 columns. */
#define MAN_WIDTH 72

/* Appends text, escaping characters that troff would read as commands. */
static void man_text(struct dtx_buf *out, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			dtx_buf_add(out, "\\&");
		if (*text == '\\')
			dtx_buf_add(out, "\\e");
		else if (*text == '-')
			dtx_buf_add(out, "\\-");
		else
			dtx_buf_addc(out, *text);
		start = *text == '\n';
	}
}

static void man_head(struct dtx_buf *out, const char *name, int section, const char *line)
{
	/* Names are not hyphenated, and full lines would have wide gaps between long words. */
	dtx_buf_printf(out,
	               ".TH %s %d \"\" \"dtx %s\" \"dtx manual\"\n.nh\n.ad l\n.SH NAME\n%s \\- "
	               "%s\n",
	               name, section, DTX_VERSION, name, line);
}

/* Text with lines of its own, which must fit into those of a terminal. */
static void man_block(struct dtx_buf *out, const char *text)
{
	struct dtx_buf wrapped = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_wrap_text(text, MAN_WIDTH, &wrapped);
	dtx_buf_add(out, ".PP\n.nf\n");
	man_text(out, dtx_buf_text(&wrapped));
	dtx_buf_add(out, "\n.fi\n");
	dtx_buf_clear(&wrapped);
}

/* A table, whose lines stay. */
static void man_table(struct dtx_buf *out, const char *text)
{
	dtx_buf_add(out, ".PP\n.nf\n");
	man_text(out, text);
	dtx_buf_add(out, "\n.fi\n");
}

static void man_cmd(const struct dtx_cmd *cmd, struct dtx_buf *out)
{
	dtx_buf_printf(out, ".SS dtx %s [OPTIONS] ", cmd->name);
	man_text(out, cmd->usage);
	dtx_buf_addc(out, '\n');
	man_text(out, cmd->summary);
	dtx_buf_add(out, ".\n");
	if (cmd->notes)
		man_block(out, cmd->notes);
	if (cmd->details)
		man_block(out, cmd->details);
	if (cmd->opts >= dtx_run_opts && cmd->opts < dtx_run_opts + DTX_COUNT(dtx_run_opts))
		dtx_buf_add(out, ".PP\nOptions: see OPTIONS OF PLANS AND FILES.\n");
	else
		dtx_opt_man(cmd->opts, cmd->nopts, out);
	if (cmd->exits) {
		dtx_buf_add(out, ".PP\nExit status: ");
		man_text(out, cmd->exits);
		dtx_buf_add(out, ".\n");
	}
}

/* The rows in the order of their groups. */
static void man_run_options(struct dtx_buf *out)
{
	const char *done[16];
	size_t i, k, n = 0;

	for (i = 0; i < DTX_COUNT(dtx_run_opts); i++)
		if (!dtx_run_opts[i].group)
			dtx_opt_man(&dtx_run_opts[i], 1, out);
	for (i = 0; i < DTX_COUNT(dtx_run_opts); i++) {
		const char *group = dtx_run_opts[i].group;

		for (k = 0; group && k < n && strcmp(done[k], group) != 0; k++)
			;
		if (!group || k < n || n == DTX_COUNT(done))
			continue;
		done[n++] = group;
		dtx_buf_printf(out, ".SS %c%s\n", group[0] - 32, group + 1);
		for (k = i; k < DTX_COUNT(dtx_run_opts); k++)
			if (dtx_run_opts[k].group && !strcmp(dtx_run_opts[k].group, group))
				dtx_opt_man(&dtx_run_opts[k], 1, out);
	}
}

static void man_dtx(struct dtx_buf *out)
{
	const struct dtx_cmd *const *c;
	const struct dtx_exit_row *e;

	man_head(out, "dtx", 1, "typed data transforms with a jailed pandas fallback");
	dtx_buf_add(
		out,
		".SH SYNOPSIS\n.B dtx\nCOMMAND [OPTIONS] ...\n.SH DESCRIPTION\n"
		"dtx runs a JSON plan of typed steps on its own columnar engine.  A step that it\n"
		"does not know, or that fails on the real data, is done by a pandas snippet in a\n"
		"jail.  Every run leaves a provenance record.\n.SH COMMANDS\n");
	for (c = dtx_cmds; *c; c++)
		man_cmd(*c, out);
	dtx_buf_add(out,
	            ".SH OPTIONS OF PLANS AND FILES\n"
	            "These are options of dtx run, pipe and prompt.  The first ones, up to the\n"
	            "record, are those of dtx convert, too.\n");
	man_run_options(out);
	dtx_buf_add(out, ".SH COMMON OPTIONS\n");
	dtx_opt_man(dtx_common_opts, dtx_ncommon_opts, out);
	dtx_buf_add(
		out,
		".SH AUTHORS OF SNIPPETS\n"
		"A missing snippet is written by a command or by a server that speaks the OpenAI\n"
		"protocol (Ollama, llama\\-server, vLLM, a hosted model).  A model is asked once; "
		"its answer is screened, run under two hash "
		"seeds,\n"
		"checked, and goes back with its traceback when it fails: three attempts.  It "
		"runs\n"
		"for good only after somebody approved it.  A prompt has column names, types, "
		"patterns\n"
		"and made-up rows, no cell (\\-\\-sample); its exact bytes are in the record.\n"
		".PP\n.nf\n"
		"    dtx run plan.json weeks.xlsx \\-\\-author 'llm \\-m gpt\\-4o\\-mini'\n"
		"    ... \\-\\-author\\-url http://127.0.0.1:11434/v1 \\-\\-author\\-model NAME\n"
		"    DTX_AUTHOR_KEY=... dtx run ... \\-\\-author\\-url https://HOST/v1 ...\n"
		".fi\n.PP\n"
		"The first is any command.  Ollama listens on port 11434, llama\\-server on 8080,\n"
		"vLLM on 8000.\n"
		"\\-\\-cassette DIR \\-\\-cassette\\-record keeps answers, \\-\\-cassette DIR "
		"gives them again\n"
		"without a network; \\-\\-cache\\-only never asks.  The key stays in the main "
		"process.\n"
		".SH ENVIRONMENT\n"
		".TP\n.B DTX_STORE\nthe store, unless \\-\\-store names one\n"
		".TP\n.B DTX_AUTHOR_KEY\nkey for \\-\\-author\\-url\n"
		".TP\n.B DTX_PARENT_RUN\nthe run, a UUID, that started this one: kept in the "
		"record\n"
		".TP\n.B DTX_PAGER, PAGER\ncommand for \\-\\-pager; default less\n"
		".TP\n.B NO_COLOR\nno colours on a terminal\n"
		".PP\nEach setting has a variable, too: see\n.BR dtx-config (5).\n"
		".SH EXIT STATUS\n");
	for (e = dtx_exit_rows; e->meaning; e++)
		dtx_buf_printf(out, ".TP\n.B %d\n%s\n", e->status, e->meaning);
	dtx_buf_add(out, ".SH SEE ALSO\n.BR dtx-tutorial (7),\n.BR dtx-plan (5),\n.BR "
	                 "dtx-config (5),\n.BR dtx-ops (7),\n.BR dtx-sandbox (7),\n.BR "
	                 "dtx-cluster (7)\n");
}

/* --- dtx-ops(7) --- */

static void man_params(const struct dtx_op *op, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_param_help(op->params, op->nparams, &text);
	man_block(out, dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

/* The step with blanks, so that it can be filled. */
void dtx_help_step(const struct dtx_example *e, struct dtx_buf *out)
{
	json_t *step = json_loads(e->step, 0, NULL);
	char *text = json_dumps(step, JSON_PRESERVE_ORDER);

	dtx_buf_add(out, text ? text : "");
	free(text);
	json_decref(step);
}

static void man_example(const struct dtx_example *e, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_help_step(e, &text);
	man_block(out, dtx_buf_text(&text));
	dtx_buf_add(out, e->error ? "on\n" : "turns\n");
	man_table(out, e->in);
	if (e->with) {
		dtx_buf_add(out, "with the table other\n");
		man_table(out, e->with);
	}
	if (e->error) {
		dtx_buf_printf(out, "fails with %s:\n", e->error);
		dtx_buf_reset(&text);
		dtx_buf_printf(&text, "  %s", e->message);
		man_block(out, dtx_buf_text(&text));
	} else {
		dtx_buf_add(out, "into\n");
		man_table(out, e->out);
	}
	dtx_buf_clear(&text);
}

static void man_op(const struct dtx_op *op, struct dtx_buf *out)
{
	struct dtx_buf usage = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	dtx_buf_printf(out, ".SS %s\n", op->name);
	man_text(out, op->summary);
	dtx_buf_add(out, ".\n");
	if (op->aliases) {
		dtx_buf_add(out, "Also accepted as: ");
		dtx_help_aliases(op, out);
		dtx_buf_add(out, ".\n");
	}
	if (op->notes) {
		dtx_buf_add(out, ".PP\n");
		man_text(out, op->notes);
		dtx_buf_add(out, "\n");
	}
	dtx_words_usage(op, &usage);
	dtx_buf_add(out, ".PP\nIn a pipe: ");
	man_text(out, dtx_buf_text(&usage));
	dtx_buf_add(out, "\n");
	dtx_buf_clear(&usage);
	man_params(op, out);
	for (i = 0; i < op->nexamples; i++)
		man_example(&op->examples[i], out);
}

static void man_index_group(const char *name, struct dtx_buf *out)
{
	dtx_buf_printf(out, ".TP\n.B %s\n", name);
}

static void man_index_op(const struct dtx_op *op, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%s\n", op->name);
}

static void man_op_group(const char *name, struct dtx_buf *out)
{
	dtx_buf_printf(out, ".SH OPERATIONS: %s\n", name);
}

static void man_ops(struct dtx_buf *out)
{
	man_head(out, "dtx-ops", 7, "the operations of a plan");
	dtx_buf_add(out,
	            ".SH DESCRIPTION\nEach step of a plan names one operation and its parameters.\n"
	            "A parameter that is not required may be absent or null.\n"
	            "Each example shows a step, the current table, and what becomes of it; a\n"
	            "second table is the input named other.\n"
	            ".SH INDEX\n");
	dtx_help_each_op(man_index_group, man_index_op, out);
	dtx_help_each_op(man_op_group, man_op, out);
	dtx_buf_add(out, ".SH SEE ALSO\n.BR dtx (1),\n.BR dtx-plan (5)\n");
}

/* --- dtx-plan(5) --- */

struct member_row {
	const char *section, *name; /* section NULL: the same as in the row above */
	const char *meaning;        /* a text, a list of formats, or of_codecs */
};
static const char of_codecs[] = "of_codecs";

static const struct member_row member_rows[] = {
	{ "PLAN", "dtx", "format version, 1; required" },
	{ NULL, "name", "title; default namespace of the snippet cache" },
	{ NULL, "params",
	  "parameters by name: {type, default, help}; type is text, int, float, decimal, bool, "
	  "date "
	  "or datetime.  --param NAME=VALUE or --params FILE gives a value; without a default one "
	  "must be given.  $NAME in a formula is a literal of that type, in other texts of inputs, "
	  "steps and outputs the value as text; a text that is only $NAME is the value itself.  "
	  "${NAME} is the same.  The record has the values, and replay uses them" },
	{ NULL, "inputs", "tables to read; default one named main" },
	{ NULL, "steps", "1 to 1,000 steps; required" },
	{ NULL, "expect", "checks of the result, made before a byte of output becomes visible" },
	{ NULL, "output", "where and how to write, or a list of these; default CSV to stdout" },
	{ NULL, "fallback", "step, plan or off: what a snippet may do" },
	{ NULL, "options", "overflow: error, null, float; div_zero: null, error" },
	{ NULL, "limits", "rows, growth, cols, pivot_cols, memory_mb, time_s: see LIMITS" },
	{ "INPUTS", "name", "identifier, unique; required" },
	{ NULL, "path",
	  "file, relative to the plan's folder; the command line overrides it.  A pattern "
	  "(in*.csv) or a list of files: they are read one after the other, each on its own, and "
	  "types are found over all of them; in the record they are inputs NAME__1, NAME__2 ...  A "
	  "folder is all files in it and in its folders, without names that begin with . or _; "
	  "they are all of one kind" },
	{ NULL, "columns",
	  "of several files: same (in any order, else columns_differ), union (what one lacks is "
	  "null) or intersect" },
	{ NULL, "source_file",
	  "new last column with the name of each row's file; with sheet * of its sheet, after that "
	  "of "
	  "the file if there are several" },
	{ NULL, "partitions",
	  "true: each folder KEY=VALUE in the paths is a column, after those of the files; all "
	  "files "
	  "have the same keys.  %XX is decoded; nothing and __HIVE_DEFAULT_PARTITION__ are null; "
	  "the type is that in types, else found as in CSV" },
	{ NULL, "format", dtx_read_formats },
	{ NULL, "sheet",
	  "name, number from 1, or {\"regex\": ...}, which one sheet matches; * for all visible "
	  "sheets with cells, one after the other as several files are; default the first visible "
	  "sheet" },
	{ NULL, "range", "A4:O200, 4:200, B4:H, B:H or a defined name" },
	{ NULL, "table",
	  "table of a workbook: its header and body, without totals; table or view of an SQLite "
	  "database" },
	{ NULL, "query",
	  "SELECT of an SQLite database, instead of table: one statement that gives the same rows "
	  "each time" },
	{ NULL, "header_rows", "auto, or 0 to 8; 0 names the columns column_1 ..." },
	{ NULL, "header_sep, header_fill, names", "how header rows become names" },
	{ NULL, "repeated_header", "rows of a text file that repeat its header: keep or drop" },
	{ NULL, "skip, skip_tail", "physical rows cut off" },
	{ NULL, "dialect",
	  "delimiter, quote, escape, comment, decimal, group, trim, mixed, terminator of "
	  "records; "
	  "quotes: strict, lenient, literal, or lines, each of them one quoted cell; mixed: a "
	  "record "
	  "that does not fit may have another delimiter, quote or escape, lack a delimiter or have "
	  "one too many.  Without any of these, "
	  "bars around lines, rules of dashes and columns below them are taken for drawing" },
	{ NULL, "encoding", "auto (UTF-8, UTF-16), or a name such as windows-1252" },
	{ NULL, "null_values", "texts that are null besides the unquoted empty cell" },
	{ NULL, "records", "JSON pointer to the records of a document" },
	{ NULL, "duplicate_keys", "of a JSON object: error, first or last of them" },
	{ NULL, "syntax", "strict JSON, or lenient: NaN, trailing commas, torn lines" },
	{ NULL, "stream",
	  "true: csv or jsonl that is read once, as the bytes come, and not spooled; the format, "
	  "the "
	  "delimiter and the types of all used columns are declared, and the plan reads it once" },
	{ NULL, "types",
	  "list of {name, type, format, on_error}; of other columns see TYPES OF TEXT FILES" },
	{ NULL, "requires, extra", "columns that must exist; allow, drop or error for others" },
	{ NULL, "ragged", "rows of another width: error, pad, truncate or quarantine" },
	{ NULL, "rejects, max_rejects",
	  "file of quarantined rows, default next to the output; how many at most" },
	{ NULL, "families", "patterns of headers that differ from file to file: see FAMILIES" },
	{ NULL, "reader",
	  "libcsv: the reference reader of CSV; freexl: of .xls only cells that FreeXL reads "
	  "alike, the others are bad cells" },
	{ NULL, "archive",
	  "limits of what the file may unpack to: entries, part, total, ratio, memory, time, "
	  "cells, strings, string_bytes, text, merges, fill, idle" },
	{ NULL, "hidden", "keep or drop hidden rows and columns" },
	{ NULL, "merged", "cells of merged ranges: anchor (the others are null) or fill" },
	{ NULL, "bad_cells", "errors and such: null, text or error" },
	{ "STEPS", "op", "the operation, see dtx-ops(7)" },
	{ NULL, "in, out", "table to read; name for the result" },
	{ NULL, "fallback", "off forbids a snippet for this step" },
	{ NULL, "snippet",
	  "true leaves the step to a snippet, whatever its op is called; its other members are "
	  "its own.  Without it an op, a function or a column that is a slip of a known name is an "
	  "error of the plan, see ERRORS" },
	{ NULL, "note", "what the step is for, in words" },
	{ NULL, "other words",
	  "steps in the words of SQL, pandas and dplyr that say the same are understood: other "
	  "names of "
	  "operations and parameters, derive and cast of one column without a list (name and expr, "
	  "column "
	  "and to), {column, func, as} and lists of functions in agg, desc or ascending beside the "
	  "keys "
	  "of sort, dropna with its columns, count, month or M as every.  The canonical plan and "
	  "the "
	  "strict schema have one way to say it" },
	{ NULL, "expect", "checks of this step's result; the contract of a snippet" },
	{ "EXPECT", "columns", "list of {name, type, nullable, unique, min, max, enum, matches}" },
	{ NULL, "extra", "allow or forbid other columns" },
	{ NULL, "rows", "min, max or equals: a number, or a table with as many rows" },
	{ NULL, "keys, order_by",
	  "columns that are unique together; the order of rows: by {col, desc, nulls, collate}" },
	{ NULL, "sums",
	  "list of {out, in, tolerance}: column out of the result sums to what column in of the "
	  "step's table does; of a plan: of its first input" },
	{ NULL, "rules",
	  "list of rules as in the step assert: rule, severity, max_failures, cols, col, values, "
	  "min, max, regex, expr, names, exact, type, value, other, tol, by, with, to, max_age" },
	{ "OUTPUT", "path",
	  "file, relative to the plan; - is stdout.  A text format is packed where the name "
	  "ends in .gz or .zst: out.csv.gz.  Outputs with one path are sheets of a workbook, or "
	  "tables "
	  "of a database" },
	{ NULL, "format", dtx_write_formats },
	{ NULL, "table", "an out name; default the result" },
	{ NULL, "sheet, stamp, as_table",
	  "of an .xlsx: sheet name; whether the run id is inside; a real table, at most 2,000,000 "
	  "cells" },
	{ NULL, "into, if_exists",
	  "of an SQLite database: the table that gets the rows, default table, else the name of "
	  "the "
	  "file; fail (default), replace or append if it is there" },
	{ NULL, "header, delimiter, quote, null_text, bom, eol",
	  "of text files.  Cells that come from inputs with the delimiter of the first of them "
	  "keep their bytes, needless quotes too; others are quoted where they need it" },
	{ NULL, "codec", of_codecs },
	{ NULL, "float_style", "keep, or trim: 100.0 is written as 100" },
};

/* What each format packs its columns with. */
static void man_codecs(struct dtx_buf *out)
{
	const char *sep = "";

	for (size_t i = 0; dtx_writes[i]; i++) {
		if (!dtx_writes[i]->codecs)
			continue;
		dtx_buf_printf(out, "%sof %s: %s", sep, dtx_writes[i]->name, dtx_writes[i]->codecs);
		sep = "; ";
	}
}

static bool is_list(const char *meaning)
{
	return meaning == dtx_read_formats || meaning == dtx_write_formats;
}

static void man_members(struct dtx_buf *out)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(member_rows); i++) {
		if (member_rows[i].section)
			dtx_buf_printf(out, ".SH %s\n", member_rows[i].section);
		dtx_buf_printf(out, ".TP\n.B %s\n", member_rows[i].name);
		if (is_list(member_rows[i].meaning))
			dtx_formats_print(member_rows[i].meaning, "", out);
		else if (member_rows[i].meaning == of_codecs)
			man_codecs(out);
		else
			man_text(out, member_rows[i].meaning);
		dtx_buf_add(out, "\n");
	}
}

static void man_rules(const char *macro, const struct dtx_manual *rule, size_t n,
                      struct dtx_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		dtx_buf_printf(out, "%s %s\n", macro, rule[i].title);
		man_block(out, rule[i].text);
		if (rule[i].example)
			man_table(out, rule[i].example);
	}
}

static void man_limits(struct dtx_buf *out)
{
	const struct dtx_archive_limits sheet = DTX_ARCHIVE_LIMITS_INIT;
	const struct {
		const char *what;
		uint64_t most;
	} rows[] = {
		{ "steps of a plan", DTX_PLAN_STEPS },
		{ "inputs", DTX_PLAN_INPUTS },
		{ "outputs", DTX_PLAN_OUTPUTS },
		{ "files of one input: of a pattern or a list", DTX_EXPAND_FILES },
		{ "bytes of a formula", DTX_EXPR_BYTES },
		{ "values and operators in it", DTX_EXPR_NODES },
		{ "parentheses and calls inside each other", DTX_EXPR_NEST },
		{ "columns of a text file", DTX_CSV_COLS_MAX },
		{ "MiB of a cell in it", DTX_CSV_CELL_MAX >> 20 },
		{ "MiB of a record in it", DTX_CSV_RECORD_MAX >> 20 },
		{ "cells of a sheet (archive.cells)", sheet.cells },
		{ "bytes of a cell in it (archive.text)", sheet.text },
		{ "MiB of a text that concat_agg makes", DTX_AGG_TEXT_MAX >> 20 },
	};
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char most[DTX_NUM_TEXT];

	dtx_buf_add(out, ".SH LIMITS\nWhat is larger is an error.\n");
	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		dtx_num_print_grouped(most, (int64_t)rows[i].most);
		dtx_buf_printf(&text, "  %-44s %12s\n", rows[i].what, most);
	}
	man_table(out, dtx_buf_text(&text));
	dtx_buf_add(out, "The member limits of a plan sets those of its tables:\n");
	dtx_buf_reset(&text);
	dtx_buf_add(
		&text,
		"  growth: default 16; a step makes at most this many rows for each row that it "
		"reads, and 1,000,000 more\n"
		"  cols: default 16,384; columns of a table\n"
		"  pivot_cols: default 4,096; columns that a pivot makes\n"
		"  rows: no default; rows of a table\n"
		"  memory_mb: no default; memory in MiB, at least 16\n"
		"  time_s: no default; seconds of wall time\n");
	man_block(out, dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

static void man_functions(struct dtx_buf *out)
{
	const struct dtx_fn_table *const *t;
	size_t i;

	dtx_buf_add(out,
	            ".SH FORMULAS\n"
	            "or, and, not; == != < <= > >=, in (...), between, is null, like, matches;\n"
	            "+ - * / // % **; x::type; case when ... then ... else ... end.\n"
	            "// and % round down, on the digits as they are written: 1.0 // 0.1 is 10 and\n"
	            "1.0 % 0.1 is 0, so that x is (x // y) * y + x % y.\n"
	            "A null operand gives null; and, or, not follow Kleene.\n"
	            "Aggregates take where: condition.\n");
	man_rules(".SS", dtx_formula_rules, dtx_nformula_rules, out);
	for (t = dtx_fns; *t; t++) {
		dtx_buf_printf(out, ".SS %s\n", (*t)->title);
		for (i = 0; i < (*t)->n; i++) {
			const struct dtx_fn *fn = dtx_fn_at(*t, i);

			dtx_buf_add(out, ".TP\n.B ");
			dtx_fn_signature(fn, out);
			dtx_buf_add(out, "\n");
			man_text(out, dtx_fn_help(fn));
			dtx_buf_add(out, "\n");
		}
	}
}

static void man_codes(struct dtx_buf *out)
{
	enum dtx_code code;

	dtx_buf_add(
		out,
		".SH ERRORS\n"
		"What is wrong is said first, with its place; a snippet is offered in the last "
		"line.\n"
		"A name (operation, function, parameter, table, column, choice) that is a slip of "
		"a "
		"known one is an error of the plan, exit 3, and no reason for a snippet: another "
		"letter case, other marks or blanks, an English plural, one wrong letter in names "
		"of "
		"three letters or more, two in names of six or more; so is another tool's word "
		"that "
		"dtx knows.  A column that is a slip of one that the input has is unknown_column, "
		"any other that it lacks missing_column.  \"snippet\": true in a step says that "
		"its "
		"op is meant.\n"
		".PP\n"
		"The fallback asks the cache, \\-\\-snippet or an author.  Where none of them has "
		"an "
		"answer the run ends with the status of the finding; a step that only a snippet "
		"can "
		"do (unknown_op, unknown_function, unsupported_param, or \"snippet\": true) ends "
		"it "
		"with 5, or its own where the fallback is off.  dtx check ends likewise.\n"
		".PP\n"
		"Code, exit status, and whether it starts the fallback.\n.PP\n.nf\n");
	for (code = DTX_OK; code < DTX_CODE_COUNT; code++) {
		int status = dtx_code_exit(code, true);

		if (status && code != DTX_E_RETYPE && code != DTX_E_RESNIFF)
			dtx_buf_printf(out, "%-28s %3d%s\n", dtx_code_name(code), status,
			               dtx_code_triggers(code, true) ? "  fallback" : "");
	}
	dtx_buf_add(out, ".fi\n");
}

static void man_plan(struct dtx_buf *out)
{
	man_head(out, "dtx-plan", 5, "the plan format and the formula language");
	dtx_buf_add(out, ".SH DESCRIPTION\nA plan is one JSON object.  Unknown members are errors, "
	                 "except those that\n"
	                 "begin with x\\-.  Paths are relative to the plan file.\n");
	man_rules(".SH", &dtx_plan_example, 1, out);
	man_members(out);
	man_rules(".SH", dtx_plan_rules, dtx_nplan_rules, out);
	for (size_t i = 0; dtx_reads[i]; i++)
		if (dtx_reads[i]->manual)
			man_rules(".SH", dtx_reads[i]->manual, 1, out);
	man_limits(out);
	man_functions(out);
	man_codes(out);
	dtx_buf_add(out, ".SH SEE ALSO\n.BR dtx (1),\n.BR dtx-tutorial (7),\n.BR dtx-ops "
	                 "(7),\n.BR dtx-sandbox (7)\n");
}

/* --- dtx-config(5) --- */

static void man_setting(const struct dtx_setting *s, struct dtx_buf *out)
{
	char text[160];

	dtx_buf_printf(out, ".TP\n.B %s\n", s->name);
	man_text(out, s->help);
	dtx_setting_expected(s, text, sizeof(text));
	dtx_buf_add(out, ".\nValue: ");
	man_text(out, text);
	if (s->preset) {
		dtx_buf_add(out, "; default: ");
		man_text(out, s->preset);
	}
	dtx_buf_add(out, ".\n");
}

static void man_config(struct dtx_buf *out)
{
	man_head(out, "dtx-config", 5, "settings of dtx for a user and a machine");
	dtx_buf_add(
		out,
		".SH DESCRIPTION\n"
		"Settings come from an option of the command, else from an environment variable,\n"
		"else from the user's file, else from the machine's file.  A variable is named\n"
		"DTX_ and the setting in capitals: DTX_JAIL_WALL.  Both files are JSON objects:\n"
		".PP\n.nf\n"
		"    {\"approve\": \"require\", \"jail_wall\": 60,\n"
		"     \"privacy\": {\"deny\": [\"*salary*\"]}}\n"
		".fi\n.PP\n"
		"An unknown name, or a value that does not fit, is an error of every\n"
		"command, with file and line.\n"
		".B dtx config list\nshows all settings, their values and where each comes from;\n"
		".B dtx config set\nchanges the user's file.\n"
		".SH FILES\n.TP\n"
		".I ~/.config/dtx/config.json\nof the user; $XDG_CONFIG_HOME/dtx/config.json if\n"
		"that variable is set.  Without HOME, dtx reads only the machine's file.\n.TP\n"
		".I " DTX_CONFIG_SYSTEM "\nof the machine.\n"
		".SH SETTINGS\n");
	for (size_t i = 0; i < dtx_nsettings; i++)
		man_setting(&dtx_settings[i], out);
	dtx_buf_add(out,
	            ".TP\n.B privacy\nan object with the list \"deny\": patterns of columns "
	            "that no prompt may name.\nThose of both files count.\n"
	            ".TP\n.B locked\nin the machine's file: a list of settings.  Its values for "
	            "them win over options,\nvariables and the user's file; dtx says so when an "
	            "option is ignored.\n"
	            ".SH SEE ALSO\n.BR dtx (1),\n.BR dtx-sandbox (7)\n");
}

bool dtx_help_man(const char *page, struct dtx_buf *out)
{
	static const struct {
		const char *page;
		void (*print)(struct dtx_buf *out);
	} pages[] = { { "dtx.1", man_dtx },
		      { "dtx-ops.7", man_ops },
		      { "dtx-plan.5", man_plan },
		      { "dtx-config.5", man_config } };
	size_t i;

	for (i = 0; i < DTX_COUNT(pages); i++) {
		if (!strcmp(pages[i].page, page)) {
			pages[i].print(out);
			return true;
		}
	}
	for (i = 0; dtx_help_pages[i].name; i++) {
		if (!strcmp(dtx_help_pages[i].name, page)) {
			dtx_buf_add(out, dtx_help_pages[i].text);
			return true;
		}
	}
	return false;
}
