/* A plan: tables in, a flat list of steps, tables out.  JSON in, structs out.
 *
 * Parsing and the checks collect every finding (code, JSON pointer, span, suggestions) instead of
 * stopping at the first.  A parsed plan is read-only but for what dtx_plan_check notes in it. */
#ifndef DTX_PLAN_PLAN_H
#define DTX_PLAN_PLAN_H

#include "core/base/hash/hash.h"
#include "core/data/expect/expect.h"
#include "core/io/reader.h"
#include "core/io/write/writer.h"
#include "core/plan/bind/rules.h"

#define DTX_PLAN_VERSION 1
#define DTX_PLAN_STEPS   1000
#define DTX_PLAN_INPUTS  64
/* Of a plan that dtx makes of another, to number its rows: the steps that it adds are not counted
 * against the user's. */
#define DTX_PLAN_STEPS_MADE (16 * DTX_PLAN_STEPS)
#define DTX_PLAN_OUTPUTS    16

enum dtx_fallback { DTX_FALLBACK_STEP, DTX_FALLBACK_PLAN, DTX_FALLBACK_OFF };

struct dtx_plan_file {
	const char *path;  /* a name or, as long as it is not looked up, a pattern */
	const char *shown; /* as written: without the plan's folder */
};
enum dtx_files_columns { DTX_FILES_SAME, DTX_FILES_UNION, DTX_FILES_INTERSECT };
struct dtx_plan_input {
	const char *name;
	const char *path;                 /* from the plan's folder; NULL: from the command line */
	struct dtx_plan_file *file;       /* files that `path` is the first of, as written */
	size_t nfiles;                    /* if `path` is the first one's: else it is all */
	enum dtx_files_columns columns;   /* of several files */
	const char *source_file;          /* column with the file's name; NULL: none */
	const char *sheet_like;           /* pattern of the one sheet's name; NULL: opts.sheet */
	const char *shown;                /* of one file of several: its name; else NULL */
	struct dtx_read_opts opts;        /* alias = name */
	struct dtx_archive_limits limits; /* of what it may unpack to */
	const json_t *families;           /* patterns of sliding headers; NULL: found */
	const json_t *canonical;          /* what the plan says of it, without its path */
	char at[24];                      /* "/inputs/0" */
	bool broken;                      /* has findings: its columns cannot be told */
	bool operand; /* its file is the one that options of the command line are about */
};

struct dtx_plan_output {
	const char *path;           /* from the plan's folder; NULL or "-": stdout */
	const char *format;         /* NULL: by suffix, else csv */
	const char *table_name;     /* an `out` name; NULL: the result */
	int32_t table;              /* id, -1: unknown name */
	struct dtx_write_opts opts; /* opts.format NULL until the writer is chosen */
	char at[24];
};

#define DTX_MACRO_STEPS 8
/* A step as written whose op is a macro, and the core steps that it stands for: plan->step[first ..
 * first + count). */
struct dtx_plan_macro {
	const struct dtx_op *op; /* as written: "freq" */
	const void *args;
	const json_t *json; /* as written */
	json_t *canonical;  /* of the step as written; borrowed from the plan */
	uint32_t first, count;
	json_t *step[DTX_MACRO_STEPS];       /* the core steps */
	const json_t *text[DTX_MACRO_STEPS]; /* and the text of the macro that each was made of */
};

struct dtx_plan_step {
	const struct dtx_op *op;               /* NULL: unknown */
	const char *name;                      /* canonical op name, or as written when unknown */
	void *args;                            /* NULL: unknown op */
	const char *in_name, *out_name, *note; /* NULL: absent */
	bool fallback_off;
	bool snippet;              /* the plan leaves it to a snippet: op is NULL */
	int32_t number;            /* of the step that it was written as, from 0: one written step
	                              may stand for several; -1: the plan has none */
	const json_t *json;        /* as written; borrowed from plan->json */
	json_t *canonical;         /* without note; borrowed from the plan */
	char hash[DTX_SHA256_HEX]; /* of the canonical step */
	char at[24];               /* "/steps/3" */
	/* The step is core step `part` of a macro; NULL: it is as written. */
	const struct dtx_plan_macro *macro;
	uint32_t part;
	const json_t *expect_json; /* NULL: none */
	struct dtx_expect *expect; /* never NULL */
	struct dtx_rules rules;    /* of expect */
	/* Tables by id: inputs 0 .. ninputs - 1, then the result of step i is ninputs + i. */
	int32_t *table; /* [0]: the table it works on; -1: unknown name */
	const char **table_name;
	uint32_t ntables;
	bool broken;           /* has findings that forbid running it */
	bool unfit;            /* one of them is about several parameters */
	enum dtx_code trigger; /* first finding that hands it to a snippet; DTX_OK: typed */
};

struct dtx_plan_options {
	int overflow; /* as struct dtx_scope: 0 error, 1 null, 2 float */
	bool div_zero_error;
};
/* No plan asks for more columns of a table: they are recorded, and no output of a person's has so
 * many. */
#define DTX_PLAN_COLS_MAX 100000
struct dtx_plan_limits { /* -1: no limit */
	int64_t rows, growth, cols, pivot_cols, memory_mb, time_s;
};
#define DTX_PLAN_LIMITS_INIT                                                                       \
	{                                                                                          \
		-1, 16, 16384, 4096, -1, -1                                                        \
	}

struct dtx_plan {
	struct dtx_arena arena;
	json_t *json;                /* as written (a bare array is wrapped) */
	json_t *canonical;           /* steps, inputs ... as the id sees them */
	json_t *kept;                /* array: values that parts borrow from */
	struct dtx_str source;       /* the file's own bytes, in the arena */
	char hash[DTX_SHA256_HEX];   /* of them */
	char id[8 + DTX_SHA256_HEX]; /* "sha256:..." */
	const char *name;            /* NULL */
	struct dtx_plan_input *input;
	uint32_t ninputs;
	struct dtx_plan_step *step;
	uint32_t nsteps;
	uint32_t nwritten;              /* steps as the plan has them */
	struct dtx_plan_output *output; /* at least one */
	uint32_t noutputs;
	int32_t result; /* table id of the last current table */
	const json_t *expect_json;
	struct dtx_expect *expect; /* never NULL */
	struct dtx_rules rules;    /* of expect */
	enum dtx_fallback fallback;
	struct dtx_plan_options options;
	struct dtx_plan_limits limits;
};

/* Parses text; relative paths start at `dir` (NULL or "": as they are).  All findings go to
 * findings (severity fallback for trigger codes).  Returns DTX_OK with *out set when the JSON is a
 * plan at all, with or without findings; *out NULL with a finding in `err` when it is not
 * (json_syntax, plan_version, empty_plan, plan_too_large ...) or memory is out. */
DTX_MUSTUSE enum dtx_code dtx_plan_parse(struct dtx_str text, const char *dir,
                                         struct dtx_errlist *findings, struct dtx_plan **out,
                                         struct dtx_err *err);
/* The same of a text that dtx made of a plan: up to DTX_PLAN_STEPS_MADE steps. */
DTX_MUSTUSE enum dtx_code dtx_plan_parse_made(struct dtx_str text, struct dtx_errlist *findings,
                                              struct dtx_plan **out, struct dtx_err *err);
void dtx_plan_free(struct dtx_plan *p); /* NULL is fine */

/* Static phase: schema flow through all steps with what the plan alone tells.  Adds findings; marks
 * steps broken or as triggers. */
DTX_MUSTUSE enum dtx_code dtx_plan_check(struct dtx_plan *p, struct dtx_errlist *findings,
                                         struct dtx_err *err);
/* Canonical bytes (RFC 8785). */
DTX_MUSTUSE enum dtx_code dtx_plan_canonical(const struct dtx_plan *p, struct dtx_buf *out,
                                             struct dtx_err *err);
/* A plan without steps, for dtx convert: input `main`, one output. */
DTX_MUSTUSE enum dtx_code dtx_plan_empty(struct dtx_plan **out, struct dtx_err *err);
/* Reads input i as if the plan also said these n members of it: "quotes=lenient", "skip_tail=2".
 * The texts must live as long as the plan.  Errors are usage. */
DTX_MUSTUSE enum dtx_code dtx_plan_input_set(struct dtx_plan *plan, uint32_t i,
                                             const char *const *member, size_t n,
                                             struct dtx_err *err);
/* Whether an input, or its dialect, can have such a member. */
bool dtx_plan_input_has(const char *name);
/* Canonical steps [first, first + count), each with its note: what a snippet is given.  New
 * reference; NULL: out of memory. */
json_t *dtx_plan_steps_json(const struct dtx_plan *p, uint32_t first, uint32_t count);
/* The op of a step as the plan has it, for messages: "freq" of each of its core steps. */
const char *dtx_plan_step_name(const struct dtx_plan_step *st);
/* The steps that step `step` as written stands for: it alone, or all core steps of its macro. */
void dtx_plan_span(const struct dtx_plan *p, uint32_t step, uint32_t *first, uint32_t *count);
/* The number of step `step` as written, from 1; 0: the plan has no such step. */
int32_t dtx_plan_step_number(const struct dtx_plan *p, int32_t step);
/* Name of a table id: input name, `out` name or "step 3". `buf` is for the last. */
const char *dtx_plan_table_name(const struct dtx_plan *p, int32_t table, char buf[32]);
/* Adds to readers[table], for each table, how many steps, outputs and checks read it. */
void dtx_plan_readers(const struct dtx_plan *p, uint32_t *readers);
/* Whether anybody asks for a table: a step, an output, the plan's expect. */
bool dtx_plan_uses(const struct dtx_plan *p, int32_t table);
/* The plan's expect is about a table that no output writes. */
bool dtx_plan_checks_apart(const struct dtx_plan *p);

/* JSON Schema (2020-12) of plans, or of one step of op `name`; new reference, NULL: no such op or
 * out of memory. */
json_t *dtx_plan_schema(const char *name);
/* The same for model output: every member required, one way to say things. */
json_t *dtx_plan_schema_strict(const char *name);

#endif
