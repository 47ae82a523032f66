/* Option rows of run, convert and prompt. */
#include "cli/runner.h"

#define AT(member) .offset = offsetof(struct dtx_run_args, member)

#define READ_OPTS                                                                                  \
	{ .name = "output",                                                                        \
	  .key = 'o',                                                                              \
	  .kind = DTX_O_TEXT,                                                                      \
	  .metavar = "FILE",                                                                       \
	  AT(output),                                                                              \
	  .help = "where to write (default: as the plan says, else stdout)" },                     \
		{ .name = "to",                                                                    \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "FORMAT",                                                             \
		  AT(to),                                                                          \
		  .help = "csv, tsv, jsonl, json, xlsx, md or text (default: by suffix; text on "  \
		          "a "                                                                     \
		          "terminal)" },                                                           \
		{ .name = "from",                                                                  \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "FORMAT",                                                             \
		  AT(from),                                                                        \
		  .help = "format of the first input (default: by content)" },                     \
		{ .name = "sheet",                                                                 \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "NAME|N",                                                             \
		  AT(sheet),                                                                       \
		  .help = "sheet of the first input, by name or number" },                         \
		{ .name = "range",                                                                 \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "A1:B9",                                                              \
		  AT(range),                                                                       \
		  .help = "cells of the first input" },                                            \
		{ .name = "header-rows",                                                           \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "N|auto",                                                             \
		  AT(header_rows),                                                                 \
		  .help = "header rows of the first input, 0 to 8 (default: found)" },             \
		{ .name = "skip",                                                                  \
		  .kind = DTX_O_INT,                                                               \
		  .metavar = "N",                                                                  \
		  AT(skip),                                                                        \
		  .min = 0,                                                                        \
		  .max = INT64_MAX,                                                                \
		  .help = "rows to cut off before the header" },                                   \
		{ .name = "delimiter",                                                             \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "C",                                                                  \
		  AT(delimiter),                                                                   \
		  .help = "delimiter of the first input (default: found)" },                       \
		{ .name = "encoding",                                                              \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "NAME",                                                               \
		  AT(encoding),                                                                    \
		  .help = "encoding of the first input (default: UTF-8, UTF-16 by mark)" },        \
		{ .name = "ragged",                                                                \
		  .kind = DTX_O_CHOICE,                                                            \
		  .choices = "as-planned,error,pad,truncate,quarantine",                           \
		  AT(ragged),                                                                      \
		  .help = "rows of another width in the first input (default: error)" },           \
		{ .name = "rejects",                                                               \
		  .kind = DTX_O_TEXT,                                                              \
		  .metavar = "FILE",                                                               \
		  AT(rejects),                                                                     \
		  .help = "where quarantined rows go (default: OUTPUT.rejects.csv)" },             \
		{ .name = "progress",                                                              \
		  .kind = DTX_O_CHOICE,                                                            \
		  .choices = "auto,json,off",                                                      \
		  AT(progress),                                                                    \
		  .help = "after a second: a line on a terminal, or JSON lines on stderr" },       \
		{ .name = "repair",                                                                \
		  .kind = DTX_O_FLAG,                                                              \
		  AT(repair),                                                                      \
		  .help = "read what a reader refuses with the remedy it names, and list each" },  \
		{ .name = "threads",                                                               \
		  .kind = DTX_O_INT,                                                               \
		  .metavar = "N",                                                                  \
		  AT(threads),                                                                     \
		  .min = 1,                                                                        \
		  .max = 256,                                                                      \
		  .help = "worker threads (default: all cores); the result is the same" },         \
		{ .name = "memory",                                                                \
		  .kind = DTX_O_SIZE,                                                              \
		  .metavar = "SIZE",                                                               \
		  AT(memory),                                                                      \
		  .min = 16 << 20,                                                                 \
		  .max = INT64_MAX,                                                                \
		  .help = "memory budget, e.g. 512M; mapped input does not count" },               \
	{                                                                                          \
		.name = "batch-rows", .kind = DTX_O_INT, .metavar = "N", AT(batch_rows), .min = 1, \
		.max = DTX_BATCH_ROWS, .help = "rows of a batch; the result is the same"           \
	}

const struct dtx_opt dtx_convert_opts[DTX_CONVERT_OPTS] = { READ_OPTS };

const struct dtx_opt dtx_run_opts[DTX_RUN_OPTS] = {
	READ_OPTS,
	{ .name = "fallback",
	  .kind = DTX_O_CHOICE,
	  .choices = "as-planned,step,plan,off",
	  AT(fallback),
	  .help = "what a snippet may do instead of the engine" },
	{ .name = "snippet",
	  .kind = DTX_O_TEXT,
	  .metavar = "FILE",
	  AT(snippet),
	  .help = "a module with transform(tables, params), or an answer that holds one" },
	{ .name = "approve",
	  .kind = DTX_O_TEXT,
	  .metavar = "auto|ask|require",
	  AT(approve),
	  .help = "who approves new code; --snippet is an approval unless `require`" },
	{ .name = "namespace",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  AT(ns),
	  .help = "namespace of the snippet cache (default: the plan's name)" },
	{ .name = "sample",
	  .kind = DTX_O_TEXT,
	  .metavar = "none|synthetic",
	  AT(sample),
	  .help = "what a prompt may show of the data" },
	{ .name = "run-date",
	  .kind = DTX_O_TEXT,
	  .metavar = "YYYY-MM-DD",
	  AT(run_date),
	  .help = "value of run_date() (default: today, UTC)" },
	{ .name = "strict-schema",
	  .kind = DTX_O_FLAG,
	  AT(strict_schema),
	  .help = "use cached snippets only for exactly the schema they were made for" },
	{ .name = "no-warm",
	  .kind = DTX_O_FLAG,
	  AT(no_warm),
	  .help = "start a private interpreter for this run" },
	{ .name = "require-layers",
	  .kind = DTX_O_TEXT,
	  .metavar = "LIST",
	  AT(require_layers),
	  .help = "refuse to run a snippet without these layers, e.g. userns,landlock4" },
	{ .name = "jail-wall",
	  .kind = DTX_O_INT,
	  .metavar = "SECONDS",
	  AT(jail_wall),
	  .min = 1,
	  .max = 86400,
	  .help = "time limit of a snippet (30)" },
	{ .name = "jail-cpu",
	  .kind = DTX_O_INT,
	  .metavar = "SECONDS",
	  AT(jail_cpu),
	  .min = 1,
	  .max = 86400,
	  .help = "CPU limit of a snippet (30)" },
	{ .name = "jail-memory",
	  .kind = DTX_O_SIZE,
	  .metavar = "SIZE",
	  AT(jail_memory),
	  .min = 64 << 20,
	  .max = INT64_MAX,
	  .help = "memory limit of a snippet (1G)" },
	{ .name = "jail-output",
	  .kind = DTX_O_SIZE,
	  .metavar = "SIZE",
	  AT(jail_output),
	  .min = 4096,
	  .max = INT64_MAX,
	  .help = "size limit of a snippet's result (1G)" },
};
