/* Completion, see complete.h. */
#include "cli/help/complete.h"

#include <stdio.h>
#include <string.h>

#include "cli/help/help.h"
#include "cli/out.h"
#include "cli/pipe/step_words.h"
#include "cli/settings/settings.h"
#include "core/base/memory/mem.h"
#include "core/plan/op.h"
#include "core/store/cache/snippet.h"
#include "core/store/ledger/record.h"
#include "core/store/query/query.h"

enum { COMPLETE_RUNS = 30 };

struct complete {
	const struct dtx_cli *cli;
	const struct dtx_cmd *cmd; /* NULL: not known yet */
	struct dtx_complete_line line;
	const char *value; /* what of the last word is completed: all, or what follows its '=' */
	struct dtx_buf out;
	bool files;
};

/* where bash begins a new word, even without a blank (COMP_WORDBREAKS) */
#define BREAKS "@><=;|&(:"

/* Splits a line as a shell does. The last word may be empty, or in quotes that are still open. */
static bool complete_split(struct dtx_arena *arena, const char *line, struct dtx_complete_line *c)
{
	char *to = dtx_arena_alloc(arena, strlen(line) + 1, 1), quote = 0;
	bool begun = false; /* the word at hand, which may be '' */

	if (!to)
		return false;
	c->word[c->n++] = to;
	for (; *line; line++) {
		bool blank = !quote && strchr(" \t\n", *line);

		if (blank && begun) {
			if (c->n == DTX_COMPLETE_WORDS)
				return false;
			*to++ = '\0';
			c->word[c->n++] = to;
			c->shown = 0;
		}
		begun = !blank;
		if (blank)
			continue;
		if (quote ? *line == quote : strchr("'\"", *line) != NULL) {
			quote = quote ? 0 : *line;
			if (quote)
				c->shown = (size_t)(to - c->word[c->n - 1]);
			continue;
		}
		if (*line == '\\' && quote != '\'' && line[1])
			line++;
		else if (!quote && strchr(BREAKS, *line))
			c->shown = (size_t)(to + 1 - c->word[c->n - 1]);
		*to++ = *line;
	}
	*to = '\0';
	return true;
}

static void complete_add(struct complete *c, const char *text)
{
	if (!strncmp(text, c->value, strlen(c->value)) && !strchr(text, '\n'))
		dtx_buf_printf(&c->out, "%s\n", text);
}

static void complete_list(struct complete *c, const char *list)
{
	struct dtx_str rest = dtx_str_of(list ? list : ""), word;
	char text[128];

	while (list && dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(text, sizeof(text), word);
		complete_add(c, text);
	}
}

/* --- names --- */

static void complete_commands(struct complete *c)
{
	for (size_t i = 0; dtx_cmds[i]; i++)
		if (dtx_cmds[i]->summary)
			complete_add(c, dtx_cmds[i]->name);
}

static void complete_ops(struct complete *c)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		complete_add(c, dtx_ops[i]->name);
}

/* Ids of the last runs, or of snippets. A store that cannot be read has none. */
static void complete_stored(struct complete *c, bool runs)
{
	struct dtx_log_filter filter = { .limit = COMPLETE_RUNS };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *snippet = NULL;
	struct dtx_store *store = NULL;
	json_t *list = NULL, *one;
	size_t i, n = 0;

	if (dtx_store_open(c->cli->store, DTX_STORE_READ, &store, NULL) != DTX_OK ||
	    (runs ? dtx_query_log(store, &filter, &list, NULL)
	          : dtx_snippet_list(store, NULL, &arena, &snippet, &n, NULL)) != DTX_OK)
		goto out;
	json_array_foreach(list, i, one)
		complete_add(c, dtx_run_id_short(dtx_json_text(one, "run_id", "")));
	for (i = 0; i < n; i++) {
		char id[13];

		snprintf(id, sizeof(id), "%.12s", snippet[i].id);
		complete_add(c, id);
	}
out:
	dtx_arena_clear(&arena);
	json_decref(list);
	dtx_store_free(store);
}

/* --- operands --- */

/* What an operand in a usage line stands for. */
static void complete_operand(struct complete *c, struct dtx_str name)
{
	const struct dtx_setting *s =
		c->line.n > 2 ? dtx_setting_find(c->line.word[c->line.n - 2]) : NULL;

	if (dtx_str_is(name, "RUN") || dtx_str_is(name, "ID"))
		complete_stored(c, *name.ptr == 'R');
	else if (dtx_str_is(name, "COMMAND"))
		complete_commands(c);
	else if (dtx_str_is(name, "OPERATION"))
		complete_ops(c);
	else if (dtx_str_is(name, "SETTING"))
		for (size_t i = 0; !s && i < dtx_nsettings; i++)
			complete_add(c, dtx_settings[i].name);
	else if (dtx_str_is(name, "VALUE"))
		complete_list(c, s ? s->kind == DTX_SET_FLAG ? "true,false" : s->choices : NULL);
	else if (name.len)
		c->files = true;
}

static bool complete_is_word(char ch)
{
	return ch == '-' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* The next word of a usage line, such as "list | get SETTING | forget [RUN | FILE]"; *first says
 * that it begins an alternative. */
static struct dtx_str complete_usage_word(const char **usage, bool *first)
{
	struct dtx_str word = { *usage, 0 };

	for (; **usage && !complete_is_word(**usage); ++*usage)
		*first |= **usage == '|';
	word.ptr = *usage;
	while (complete_is_word(**usage))
		++*usage;
	word.len = (size_t)(*usage - word.ptr);
	return word;
}

/* Offers what the usage line of the command names: its verbs, or the operands of the verb that is
 * there. */
static void complete_operands(struct complete *c, int given, const char *verb)
{
	const char *usage = c->cmd->usage;
	struct dtx_str word;
	bool first = true, inside = false;
	char text[64];

	while ((word = complete_usage_word(&usage, &first)).len) {
		bool is_verb = first && *word.ptr >= 'a' && *word.ptr <= 'z';

		if (is_verb) {
			inside = given && dtx_str_is(word, verb);
			dtx_str_copy(text, sizeof(text), word);
			if (!given)
				complete_add(c, text);
		} else if (*word.ptr >= 'A' && *word.ptr <= 'Z' && (inside || (!given && first))) {
			complete_operand(c, word);
		}
		first = false;
	}
	/* more files, as in "PLAN [FILE]..." */
	if (given && !inside && !strchr(c->cmd->usage, '|'))
		c->files = true;
}

/* --- options --- */

static const struct dtx_opt *complete_option(const struct complete *c, const char *word)
{
	const struct {
		const struct dtx_opt *opt;
		size_t n;
	} tables[] = { { c->cmd->opts, c->cmd->nopts }, { dtx_common_opts, dtx_ncommon_opts } };
	size_t n = strcspn(word, "=");

	for (size_t t = 0; t < DTX_COUNT(tables); t++) {
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct dtx_opt *o = &tables[t].opt[i];

			if (!strncmp(word, "--", 2)
			            ? n - 2 == strlen(o->name) && !strncmp(word + 2, o->name, n - 2)
			            : word[0] == '-' && o->key && word[1] == o->key && !word[2])
				return o;
		}
	}
	return NULL;
}

static void complete_options(struct complete *c)
{
	char text[80];

	for (size_t i = 0; i < c->cmd->nopts + dtx_ncommon_opts; i++) {
		snprintf(text, sizeof(text), "--%s",
		         i < c->cmd->nopts ? c->cmd->opts[i].name
		                           : dtx_common_opts[i - c->cmd->nopts].name);
		complete_add(c, text);
	}
}

/* The value of an option: one of its list, or a file. */
static void complete_option_value(struct complete *c, const struct dtx_opt *o)
{
	if (o->choices)
		complete_list(c, o->choices);
	else
		c->files = o->kind == DTX_O_TEXT || o->kind == DTX_O_LIST;
}

/* --- all of it --- */

static void complete_command_line(struct complete *c)
{
	const char *last = c->line.word[c->line.n - 1], *verb = "", *equals = strchr(last, '=');
	const struct dtx_opt *before = NULL, *at;
	int given = 0;

	for (int i = 2; i < c->line.n - 1; i++) {
		before = !before && c->line.word[i][0] == '-' ? complete_option(c, c->line.word[i])
		                                              : NULL;
		if (before && (before->kind == DTX_O_FLAG || strchr(c->line.word[i], '=')))
			before = NULL;
		else if (!before && c->line.word[i][0] != '-' && !given++)
			verb = c->line.word[i];
	}
	at = equals && last[0] == '-' ? complete_option(c, last) : NULL;
	c->value = equals ? equals + 1 : last;
	if (before || at)
		complete_option_value(c, before ? before : at);
	else if (last[0] == '-' && !equals)
		complete_options(c);
	else
		complete_operands(c, given, verb);
}

int dtx_complete(const struct dtx_cli *cli, const char *line)
{
	struct complete c = { .cli = cli, .value = "", .out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_arena arena = DTX_ARENA_INIT;
	char *const *word = c.line.word;
	bool steps = false;
	int status = 0;

	if (!complete_split(&arena, line, &c.line) || c.line.n < 2)
		goto out;
	for (int i = 2; i < c.line.n - 1; i++)
		steps |= !strcmp(word[i], "--");
	if (steps && !strcmp(word[1], "pipe")) {
		status = dtx_words_complete(cli, &c.line);
		goto out;
	}
	c.cmd = c.line.n > 2 ? dtx_cmd_find(word[1]) : NULL;
	c.value = word[c.line.n - 1];
	if (c.line.n == 2)
		complete_commands(&c);
	else if (c.cmd)
		complete_command_line(&c);
	if (c.files)
		dtx_buf_add(&c.out, ":files\n");
	status = dtx_out_print(cli, &c.out);
out:
	dtx_buf_clear(&c.out);
	dtx_arena_clear(&arena);
	return status;
}

static const char bash_script[] =
	"# completion of dtx for bash\n"
	"_dtx() {\n"
	"\tlocal got\n"
	"\tmapfile -t got < <(\"$1\" help --complete \"${COMP_LINE:0:COMP_POINT}\" 2>/dev/null)\n"
	"\tCOMPREPLY=()\n"
	"\tif [ ${#got[@]} -eq 0 ] || [ \"${got[-1]}\" = :files ]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
	"\t\t[ ${#got[@]} -eq 0 ] || unset 'got[-1]'\n"
	"\tfi\n"
	"\tCOMPREPLY+=(\"${got[@]}\")\n"
	"\tif [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi 2>/dev/null\n"
	"}\n"
	"complete -o filenames -F _dtx dtx\n";

static const char zsh_script[] =
	"#compdef dtx\n"
	"# completion of dtx for zsh\n"
	"_dtx() {\n"
	"\tlocal -a got\n"
	"\tgot=(\"${(@f)$(dtx help --complete \"$LBUFFER\" 2>/dev/null)}\")\n"
	"\tcompset -P '*='\n"
	"\tif (( ${got[(I):files]} )) || [[ -z ${got[1]-} ]]; then _files; fi\n"
	"\tgot=(${got:#:files})\n"
	"\tcompadd -S '' -- ${(M)got:#*=}\n"
	"\tcompadd -- ${got:#*=}\n"
	"}\n"
	"if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then _dtx \"$@\"; else compdef _dtx "
	"dtx; fi\n";

static const char fish_script[] =
	"# completion of dtx for fish\n"
	"function __dtx_complete\n"
	"\tset -l token (commandline -ct)\n"
	"\tset -l before (string match -r '^.*=' -- $token)\n"
	"\tset -l got (dtx help --complete (commandline -cp | string collect) 2>/dev/null)\n"
	"\tif test (count $got) -eq 0; or contains -- :files $got\n"
	"\t\t__fish_complete_path $token\n"
	"\tend\n"
	"\tfor one in $got\n"
	"\t\ttest $one = :files; or echo -- $before$one\n"
	"\tend\n"
	"end\n"
	"complete -c dtx -f -a '(__dtx_complete)'\n";

const char *dtx_complete_script(const char *shell)
{
	return !strcmp(shell, "bash")   ? bash_script
	       : !strcmp(shell, "zsh")  ? zsh_script
	       : !strcmp(shell, "fish") ? fish_script
	                                : NULL;
}
