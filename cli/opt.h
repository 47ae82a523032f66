/* Option rows: parsing, usage, completion and man text from one table. */
#ifndef DTX_CLI_OPT_H
#define DTX_CLI_OPT_H

#include "core/base/memory/buf.h"

/*   DTX_O_FLAG    bool
 *   DTX_O_TEXT    const char *
 *   DTX_O_INT     int64_t
 *   DTX_O_SIZE    int64_t, bytes: 256M, 2G
 *   DTX_O_CHOICE  int, index into choices
 *   DTX_O_LIST    struct dtx_optlist, may be given several times */
enum dtx_okind { DTX_O_FLAG, DTX_O_TEXT, DTX_O_INT, DTX_O_SIZE, DTX_O_CHOICE, DTX_O_LIST };

#define DTX_OPTLIST_MAX 64
struct dtx_optlist {
	const char *item[DTX_OPTLIST_MAX];
	size_t n;
};

struct dtx_opt {
	const char *name; /* long name without dashes */
	char key;         /* short name, 0: none */
	enum dtx_okind kind;
	size_t offset;       /* of the value in the command's arguments */
	const char *metavar; /* "FILE" */
	/* "text,json". Of TEXT: what help and completion show; the command checks the value. */
	const char *choices;
	const char *help;
	/* "reading": shown by --help-all under that heading, and only named by --help. NULL: one of
	 * those that people use */
	const char *group;
	int64_t min, max; /* INT and SIZE; both 0: no bounds */
};

/* Option rows and the struct that they fill. */
struct dtx_opttable {
	const struct dtx_opt *opt;
	size_t n;
	void *args;
};
/* Takes the options out of argv. They may be anywhere; "--" ends them, and "-" is an operand.
 * The operands are moved to the front, and *argc becomes their number. Error: usage, with a
 * suggestion. */
DTX_MUSTUSE enum dtx_code dtx_opt_parse(const struct dtx_opttable *table, size_t ntables, int *argc,
                                        char **argv, struct dtx_err *err);
/* The same for a command whose operands after "--" are words of another language, in which "-x" is
 * no option. Options may also follow them: they begin at the first argument after the last `sep`
 * that starts with "--" or is the short name of an option, such as "-o". *nwords becomes the number
 * of words, which are the last operands. */
DTX_MUSTUSE enum dtx_code dtx_opt_parse_words(const struct dtx_opttable *table, size_t ntables,
                                              const char *sep, int *argc, char **argv, int *nwords,
                                              struct dtx_err *err);
/* Parses "256M", "2G", "17". */
DTX_MUSTUSE bool dtx_opt_size(struct dtx_str text, int64_t *out);
/* Appends lines such as "  -o, --output FILE    where to write", for the options without a group.
 * Then those of groups, or only their names, under their groups. */
void dtx_opt_help(const struct dtx_opt *opt, size_t n, bool all, struct dtx_buf *out);
/* The same as troff paragraphs. */
void dtx_opt_man(const struct dtx_opt *opt, size_t n, struct dtx_buf *out);

#endif
