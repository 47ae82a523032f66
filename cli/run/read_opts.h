/* How a file on the command line is read: the options for that of run, convert, prompt, inspect
 * and suggest, and the translation of remedies to these options. */
#ifndef DTX_CLI_RUN_READ_OPTS_H
#define DTX_CLI_RUN_READ_OPTS_H

#include "core/base/memory/buf.h"
#include "core/base/text/json.h"
#include "core/io/formats.h"

/* Rows for the values of a plan's parameters, in an option table whose arguments are a struct
 * `type`; `in` is the path to its struct dtx_run_args ("run.", or nothing). */
#define DTX_PARAM_OPTS(type, in)                                                                   \
	{ .name = "param",                                                                         \
	  .kind = DTX_O_LIST,                                                                      \
	  .metavar = "NAME=VALUE",                                                                 \
	  .offset = offsetof(struct type, in params),                                              \
	  .help = "value of a parameter that the plan declares under \"params\"" },                \
	{                                                                                          \
		.name = "params", .kind = DTX_O_TEXT, .metavar = "FILE",                           \
		.offset = offsetof(struct type, in params_file),                                   \
		.help = "JSON object with values of parameters; --param wins"                      \
	}

/* Rows for an option table whose arguments have a struct dtx_run_args: `in` is the path to it
 * ("run.", or nothing). AT is defined by the file of the table. */
#define DTX_READ_OPTS(in)                                                                          \
	{ .name = "from",                                                                          \
	  .group = "reading the first input",                                                      \
	  .kind = DTX_O_TEXT,                                                                      \
	  .choices = dtx_read_formats,                                                             \
	  AT(in from),                                                                             \
	  .help = "format of the first input (default: by content)" },                             \
		{ .name = "sheet",                                                                 \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "NAME|N",                                                             \
		  AT(in sheet),                                                                    \
		  .help = "sheet of the first input, by name or number, or * for all; table of a " \
		          "database" },                                                            \
		{ .name = "range",                                                                 \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "A1:B9",                                                              \
		  AT(in range),                                                                    \
		  .help = "cells of the first input" },                                            \
		{ .name = "header-rows",                                                           \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "N|auto",                                                             \
		  AT(in header_rows),                                                              \
		  .help = "header rows of the first input, 0 to 8 (default: found)" },             \
		{ .name = "skip",                                                                  \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_INT,                                                               \
		  .metavar = "N",                                                                  \
		  AT(in skip),                                                                     \
		  .min = 0,                                                                        \
		  .max = INT64_MAX,                                                                \
		  .help = "rows to cut off before the header" },                                   \
		{ .name = "delimiter",                                                             \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "C",                                                                  \
		  AT(in delimiter),                                                                \
		  .help = "delimiter of the first input (default: found)" },                       \
		{ .name = "quote",                                                                 \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "C|none",                                                             \
		  AT(in quote),                                                                    \
		  .help = "quote of the first input (default: found)" },                           \
		{ .name = "encoding",                                                              \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "NAME",                                                               \
		  AT(in encoding),                                                                 \
		  .help = "encoding of the first input (default: UTF-8, UTF-16 by mark)" },        \
		{ .name = "ragged",                                                                \
		  .group = "reading the first input",                                              \
		  .kind = DTX_O_CHOICE,                                                            \
		  .choices = "as-planned,error,pad,truncate,quarantine",                           \
		  AT(in ragged),                                                                   \
		  .help = "rows of another width in the first input (default: error)" },           \
	{                                                                                          \
		.name = "read", .group = "reading the first input", .kind = DTX_O_LIST,            \
		.metavar = "MEMBER=VALUE", AT(in read),                                            \
		.help = "any other member that an input of a plan can have, for the first input: " \
			"quotes=lenient, skip_tail=2, bad_cells=text, see dtx-plan(5)"             \
	}

/* Appends the text. Members of an input, as they are written in a plan ("ragged": "pad",
 * "dialect": {"delimiter": ";"}, "range"), are replaced by options (--ragged pad, --delimiter
 * ';', --range). Members that `written`, the input in a plan, contains are not replaced, because
 * they are changed there. `written` is NULL without a plan. */
void dtx_read_opts_say(const char *text, const json_t *written, struct dtx_buf *out);

struct dtx_run_args;
/* Adds to an input, in JSON, the members that these options stand for. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_read_opts_plan(const struct dtx_run_args *args, json_t *input,
                                             struct dtx_err *err);

#endif
