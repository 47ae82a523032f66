/* Completion of `dtx pipe FILE -- ...` in a shell: operations, their parameters, and columns. The
 * steps before the cursor are bound to the header of the file, so that columns are those which the
 * step at the cursor reads; no rows are read but the sample that finds the header. */
#include <string.h>
#include <sys/stat.h>

#include "cli/help/complete.h"
#include "cli/help/help.h"
#include "cli/run/runner.h"
#include "core/base/memory/mem.h"

struct complete {
	struct dtx_arena arena;
	const struct dtx_complete_line *line;
	struct dtx_runner r;
	struct dtx_run_args args;
	struct dtx_words words;
	const struct dtx_schema *schema; /* NULL: columns are not known */
	const struct dtx_op *op;
	struct dtx_buf out;
};

/* Prints a candidate for the word at the cursor, of which the first `kept` bytes stay. */
static void complete_add(struct complete *c, size_t kept, const char *text, const char *more)
{
	const char *word = c->line->word[c->line->n - 1];
	struct dtx_buf full = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!strncmp(text, word + kept, strlen(word + kept)) && !strchr(text, '\n')) {
		dtx_buf_printf(&full, "%.*s%s%s", (int)kept, word, text, more);
		if (full.len > c->line->shown)
			dtx_buf_printf(&c->out, "%s\n", dtx_buf_text(&full) + c->line->shown);
	}
	dtx_buf_clear(&full);
}

static void complete_list(struct complete *c, size_t kept, const char *list)
{
	struct dtx_str rest = dtx_str_of(list ? list : ""), word;
	char text[128];

	while (list && dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(text, sizeof(text), word);
		complete_add(c, kept, text, "");
	}
}

static void complete_ops(struct complete *c)
{
	for (size_t i = 0; dtx_ops[i]; i++) {
		complete_add(c, 0, dtx_ops[i]->name, "");
		if (c->line->word[c->line->n - 1][0])
			complete_list(c, 0, dtx_ops[i]->aliases);
	}
}

static void complete_columns(struct complete *c, size_t kept, const char *more)
{
	for (uint32_t i = 0; c->schema && i < c->schema->nfields; i++)
		complete_add(c, kept, c->schema->field[i].name, more);
}

/* The name that a formula ends with; a column whose name is not a plain word is written in
 * backticks. */
static void complete_formula(struct complete *c, size_t kept)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *word = c->line->word[c->line->n - 1];
	size_t from = strlen(word);
	char name[256];

	while (from > kept && strchr(letters, word[from - 1]))
		from--;
	for (uint32_t i = 0; c->schema && i < c->schema->nfields; i++) {
		const char *column = c->schema->field[i].name;
		bool plain = strspn(column, letters) == strlen(column);

		snprintf(name, sizeof(name), plain ? "%s" : "`%s`", column);
		complete_add(c, from - (!plain && from > kept && word[from - 1] == '`'), name, "");
	}
}

/* The value of a parameter from byte `from` of the word on. */
static void complete_value(struct complete *c, const struct dtx_param *p, size_t from)
{
	const char *word = c->line->word[c->line->n - 1], *comma = strrchr(word + from, ',');
	enum dtx_pkind kind = p->rows ? p->rows[0].kind : p->kind;
	size_t kept = comma ? (size_t)(comma + 1 - word) : from;

	if (p->sugar == DTX_SUGAR_SORT && word[kept] == '-')
		kept++;
	if (p->kind == DTX_P_CHOICE)
		complete_list(c, from, p->choices);
	else if (p->kind == DTX_P_BOOL)
		complete_list(c, from, "true,false");
	else if (p->kind == DTX_P_EXPR)
		complete_formula(c, from);
	else if (p->kind == DTX_P_COLUMN)
		complete_columns(c, from, "");
	else if (p->kind == DTX_P_COLUMNS ||
	         (p->kind == DTX_P_LIST && p->rows &&
	          (kind == DTX_P_COLUMN || p->sugar == DTX_SUGAR_SCALAR)))
		complete_columns(c, kept, "");
}

/* A word of a step after its op: word[first] is the op. */
static void complete_word(struct complete *c, int first)
{
	char *const *step = c->line->word + first + 1;
	const char *word = c->line->word[c->line->n - 1];
	size_t n = dtx_words_name(word);
	const struct dtx_param *map = dtx_words_map(c->op), *p, *next;
	int nstep = c->line->n - first - 2;

	if (n) {
		p = dtx_words_param(c->op, (struct dtx_str){ word, n });
		if (p || map)
			complete_value(c, p ? p : &map->rows[1], n + 1);
		return;
	}
	next = dtx_words_position(c->op, c->line->word[first], step, nstep, nstep);
	if (next && next->kind != DTX_P_CHOICE && next->kind != DTX_P_BOOL)
		complete_value(c, next, 0);
	if (map && map->rows[0].kind == DTX_P_COLUMN && map != next)
		complete_columns(c, 0, "=");
	for (size_t i = 0; i < c->op->nparams; i++) {
		bool given = false;

		p = &c->op->params[i];
		for (int k = 0; k < nstep; k++) {
			struct dtx_str name = { step[k], dtx_words_name(step[k]) };

			given |= p == (name.len ? dtx_words_param(c->op, name)
			                        : dtx_words_position(c->op, c->line->word[first],
			                                             step, nstep, k));
		}
		if (!given && (p != map || dtx_words_by_position(p)))
			complete_add(c, 0, p->name, "=");
	}
	if (nstep || !c->op->nparams)
		complete_add(c, 0, DTX_WORDS_SEP, "");
}

/* Whether opening a file cannot wait, or take what a later reader should get: stdin, a pipe. */
static bool complete_is_file(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

static bool complete_all_files(const struct dtx_words *p)
{
	bool all = true;
	json_t *input;
	size_t i;

	for (int k = 0; k < p->nfiles; k++) {
		size_t n = dtx_words_name(p->file[k]);

		all &= complete_is_file(p->file[k]) &&
		       complete_is_file(p->file[k] + (n ? n + 1 : 0));
	}
	json_array_foreach(json_object_get(p->plan, "inputs"), i, input)
	{
		all &= complete_is_file(dtx_json_text(input, "path", ""));
	}
	return all;
}

/* Binds the steps before the one at the cursor to the header of the file. What cannot be bound has
 * no columns, and the shell then offers none. */
static enum dtx_code complete_bind(struct complete *c, int nfiles, char **word, int nwords,
                                   struct dtx_err *err)
{
	static char head[] = "head", one[] = "1";
	char *any[] = { head, one };
	enum dtx_code rc = DTX_OK;
	uint32_t last;

	DTX_TRY(dtx_words_parse(&c->words, nfiles, word, nwords ? nwords : 2,
	                        nwords ? word + nfiles : any, err));
	if (!complete_all_files(&c->words))
		goto out;
	c->r.words = &c->words;
	DTX_TRY(dtx_runner_bind(&c->r, nfiles, word, err));
	last = c->r.plan->nsteps - 1;
	if (c->r.result && last < c->r.result->nsteps)
		c->schema = c->r.result->step[last].schema;
out:
	return rc;
}

/* The place of the cursor: after "--", in a step. Returns the word with the op, or -1: elsewhere.
 */
static int complete_step(const struct complete *c)
{
	int first = -1;

	for (int i = 2; i < c->line->n - 1; i++) {
		if (first < 0 && !strcmp(c->line->word[i], "--"))
			first = i + 1;
		else if (first >= 0 && !strcmp(c->line->word[i], DTX_WORDS_SEP))
			first = i + 1;
	}
	return c->line->n > 2 && !strcmp(c->line->word[1], "pipe") ? first : -1;
}

/* Reads the files and the steps before the one at the cursor; errors leave the columns unknown. */
static void complete_schema(struct complete *c, int first)
{
	struct dtx_cli unused = { .argc = 0 };
	struct dtx_opttable tables[] = { { dtx_run_opts + DTX_CONVERT_ONLY, DTX_PIPE_OPTS,
		                           &c->args },
		                         { dtx_common_opts, dtx_ncommon_opts, &unused } };
	bool steps = strcmp(c->line->word[first - 1], "--") != 0;
	int argc = first - 2 - steps, nwords = 0;
	char **argv = dtx_arena_alloc(&c->arena, (size_t)first, sizeof(*argv));

	if (!argv)
		return;
	/* without the last "then" */
	memcpy(argv, c->line->word + 2, (size_t)argc * sizeof(*argv));
	if (dtx_opt_parse_words(tables, DTX_COUNT(tables), DTX_WORDS_SEP, &argc, argv, &nwords,
	                        NULL) == DTX_OK &&
	    argc > nwords)
		(void)complete_bind(c, argc - nwords, argv, nwords, NULL);
}

int dtx_words_complete(const struct dtx_cli *cli, const struct dtx_complete_line *line)
{
	struct complete *c = dtx_mem_zalloc(1, sizeof(*c));
	int status = 0, first;

	if (!c)
		return 0;
	c->line = line;
	dtx_buf_init(&c->out, DTX_BUF_TEXT_MAX);
	c->r = (struct dtx_runner){ .cli = cli, .args = &c->args, .command = "pipe" };
	first = complete_step(c);
	if (first >= 0 && first == c->line->n - 1)
		complete_ops(c);
	if (first >= 0 && first < c->line->n - 1)
		c->op = dtx_op_find(c->line->word[first], NULL);
	if (c->op) {
		complete_schema(c, first);
		complete_word(c, first);
	}
	status = dtx_out_print(cli, &c->out);
	dtx_runner_clear(&c->r);
	dtx_words_clear(&c->words);
	dtx_arena_clear(&c->arena);
	dtx_buf_clear(&c->out);
	dtx_mem_free(c);
	return status;
}
