/* Steps as words of a command line: `filter 'n > 0' then sort -n` becomes the plan that dtx run
 * takes. What an op takes comes from its table of parameters, so each op can be written this way.
 *
 * After the name of its op, a step has:
 *   NAME=VALUE   a parameter, by its name or an alias
 *   VALUE        the next parameter of the table that is not given by name; lists that take
 *                only NAME=VALUE are left out of this order
 *   KEY=VALUE    where KEY is not a parameter: an entry in the list that dtx_words_map names, such
 * as the formulas of a group_by
 *   @NAME=VALUE  what every step may have: @in @out @note @fallback @snippet @expect
 * A list is separated by commas; a piece in double quotes is a JSON string. Where a list or object
 * is expected, a value that begins with [ or { is JSON. A table may be a file. */
#ifndef DTX_CLI_PIPE_STEP_WORDS_H
#define DTX_CLI_PIPE_STEP_WORDS_H

#include "core/base/memory/arena.h"
#include "core/base/text/json.h"
#include "core/plan/op.h"

#define DTX_WORDS_SEP "then"

/* The part of an argument that a place in the plan was made of. */
struct dtx_words_place {
	const char *at;   /* JSON pointer */
	const char *word; /* borrowed */
	size_t from, to;  /* bytes of the word */
};

/* A pipe; all zero before it is parsed. */
struct dtx_words {
	struct dtx_arena arena;
	json_t *plan; /* without the paths of files before "--" */
	struct dtx_words_place *place;
	size_t nplaces, room;
	int nfiles, nwords; /* the operands; borrowed */
	char **file, **word;
};

/* Makes the plan. `file` are the operands before "--", FILE or NAME=FILE: they become inputs of
 * these names, a FILE is `main`. Both lists must live as long as the pipe, which dtx_words_clear
 * frees in any case. Codes: usage for a line that cannot be read as steps, those of plans for a
 * step that cannot be written; err->at then is a place that dtx_words_find knows. */
DTX_MUSTUSE enum dtx_code dtx_words_parse(struct dtx_words *p, int nfiles, char **file, int nwords,
                                          char **word, struct dtx_err *err);
void dtx_words_clear(struct dtx_words *p);
/* The argument for a JSON pointer, or for the nearest place around it; NULL: none. */
const struct dtx_words_place *dtx_words_find(const struct dtx_words *p, const char *at);
/* Appends the command line, ready for a shell. */
void dtx_words_line(const struct dtx_words *p, struct dtx_buf *out);

/* The list of an op that KEY=VALUE goes to if KEY is not a parameter: the required list that takes
 * an object, or the only one with names of columns as keys. NULL: none. */
const struct dtx_param *dtx_words_map(const struct dtx_op *op);
/* Whether a parameter can be given by position, without its name. */
bool dtx_words_by_position(const struct dtx_param *p);
/* Splits NAME=VALUE. Comparisons (a == b, a >= b) are not split. 0: not such a word, else the
 * length of NAME. */
size_t dtx_words_name(const char *word);
/* The parameter of this name or alias; NULL: none. */
const struct dtx_param *dtx_words_param(const struct dtx_op *op, struct dtx_str name);
/* The parameter that word `at`, which has no name, is for. `called` is the word of the op, and the
 * n words follow it; at == n: the next one. NULL: each parameter has its word already. */
const struct dtx_param *dtx_words_position(const struct dtx_op *op, const char *called,
                                           char *const *word, int n, int at);

/* In step_words_say.c. Appends how a step can be written: "limit n=N [offset=N] [by=COLUMN,...]".
 */
void dtx_words_usage(const struct dtx_op *op, struct dtx_buf *out);
/* A step, in JSON, as words: a list of texts, a new reference. NULL: it has something that no word
 * can say, or memory is out. */
json_t *dtx_words_of(const json_t *step);
/* Appends these words, quoted for a shell. False: no words can say the step. */
bool dtx_words_say(const json_t *step, struct dtx_buf *out);

/* In step_words_complete.c. Prints what may follow in a command line, one candidate on a line, each
 * without what the shell has already. Returns the exit status. */
struct dtx_cli;
struct dtx_complete_line;
int dtx_words_complete(const struct dtx_cli *cli, const struct dtx_complete_line *line);

#endif
