/* One look at a file: how it is read, what is in its columns, what should be cleaned, and which
 * reshape would make it tidy. `inspect` shows it, `suggest` proposes plans from it. */
#ifndef DTX_CLI_SUGGEST_LOOK_H
#define DTX_CLI_SUGGEST_LOOK_H

#include "cli/run/runner.h"
#include "cli/suggest/profile.h"
#include "cli/suggest/suggest.h"

struct dtx_look {
	const struct dtx_cli *cli;
	const struct dtx_run_args *args; /* the reading options */
	bool assume;                     /* if no header is found, assume one instead of an error */
	bool example;                    /* proposals from the file alone are not needed */
	bool repairs;                    /* the command has --repair, which errors may name */
	struct dtx_runner runner;
	struct dtx_reader *reader;
	struct dtx_read_opts opts; /* the options it was read with */
	struct dtx_profile profile;
	struct dtx_arena arena;      /* for options that repairs changed */
	struct dtx_errlist repaired; /* what --repair changed */
	json_t *describe, *sheets;   /* of the reader; of a workbook */
	struct dtx_suggestions suggested;
	json_t *input;     /* reads the file as found: the member of the proposed plans */
	json_t *proposals; /* dtx_propose */
	bool guessed; /* the file is read by a guess (header rows, ragged rows): nothing is sure */
	struct dtx_err
		several; /* why the file is read as one table, although it seems to hold several */
	struct dtx_err refused; /* what the reader refuses, and only a guess can read */
};

/* Starts a look; `command` names the command in records of runs, NULL: none. */
void dtx_look_init(struct dtx_look *x, const struct dtx_cli *cli, const struct dtx_run_args *args,
                   const char *command);

/* Reads the whole file at `path` once, as a run would, and makes suggestions and proposals;
 * `sample` is the number of rows that the profile keeps. */
DTX_MUSTUSE enum dtx_code dtx_look_open(struct dtx_look *x, char *path, uint32_t sample,
                                        struct dtx_err *err);
void dtx_look_clear(struct dtx_look *x);
/* A plan that reads the file, cleans it, and reshapes it if the first proposal is sure. A new
 * reference. */
json_t *dtx_look_plan(const struct dtx_look *x);
/* The plan's input with the members of the suggestions for cleaning. A new reference. */
json_t *dtx_look_cleaned(const struct dtx_look *x);

#endif
