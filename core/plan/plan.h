/* A plan: input tables, a list of steps, output tables. JSON in, structs out.
 *
 * Parsing and checking collect every finding (code, JSON pointer, span, suggestions) instead of
 * stopping at the first. A parsed plan is read-only, except for what dtx_plan_check notes in it. */
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
/* Limit for a plan that dtx makes from another one to number its rows: the steps it adds do not
 * count against the user's limit. */
#define DTX_PLAN_STEPS_MADE   (16 * DTX_PLAN_STEPS)
#define DTX_PLAN_OUTPUTS      16
#define DTX_PLAN_OUTPUTS_MADE 64 /* of a plan that no user wrote */

enum dtx_fallback { DTX_FALLBACK_STEP, DTX_FALLBACK_PLAN, DTX_FALLBACK_OFF };

struct dtx_plan_file {
	const char *path;  /* a file name, or a pattern that is not expanded yet */
	const char *shown; /* as written, without the plan's folder */
	const char *sheet; /* one of all sheets of the file; NULL: as the input says */
};
enum dtx_files_columns { DTX_FILES_SAME, DTX_FILES_UNION, DTX_FILES_INTERSECT };
struct dtx_plan_input {
	const char *name;
	const char *path; /* relative to the plan's folder; NULL: from the command line */
	/* when several files are given: all of them, as written; `path` is the first */
	struct dtx_plan_file *file;
	size_t nfiles;                  /* entries of `file`; 0: `path` is the only one */
	enum dtx_files_columns columns; /* how the columns of several files are combined */
	const char *source_file;        /* column that gets the file's name; NULL: none */
	bool partitions;                /* folders KEY=VALUE are columns; see parse/partitions.h */
	const char *sheet_like;    /* pattern for the name of the one sheet; NULL: opts.sheet */
	const char *shown;         /* of one file of several: its name; else NULL */
	bool same_base;            /* another file of the input has its name, in another folder */
	struct dtx_read_opts opts; /* opts.alias is `name` */
	struct dtx_archive_limits limits; /* limits on unpacking */
	/* patterns for headers that change over time; NULL: they are detected */
	const json_t *families;
	const json_t *canonical; /* the input as the plan describes it, without its path */
	char at[24];             /* JSON pointer, "/inputs/0" */
	bool broken;             /* it has findings: its columns are not known */
	bool operand;            /* options of the command line apply to its file */
};

struct dtx_plan_output {
	const char *path;           /* relative to the plan's folder; NULL or "-": stdout */
	const char *format;         /* NULL: by the suffix, else csv */
	const char *table_name;     /* an `out` name; NULL: the result */
	int32_t table;              /* table id; -1: unknown name */
	struct dtx_write_opts opts; /* opts.format is NULL until the writer is chosen */
	char at[24];
};

#define DTX_MACRO_STEPS 13
/* A step as written whose op is a macro, and the core steps that it stands for: plan->step[first ..
 * first + count). */
struct dtx_plan_macro {
	const struct dtx_op *op; /* as written: "freq" */
	const void *args;
	const json_t *json; /* as written */
	json_t *canonical;  /* of the step as written; borrowed from the plan */
	uint32_t first, count;
	json_t *step[DTX_MACRO_STEPS];       /* the core steps as the plan alone gives them, */
	json_t *made[DTX_MACRO_STEPS];       /* and as binding completed them; NULL: not yet */
	const json_t *text[DTX_MACRO_STEPS]; /* and the text of the macro that each was made of */
	bool composing;                      /* findings are about the step as written */
};

struct dtx_plan_step {
	const struct dtx_op *op;               /* NULL: unknown */
	const char *name;                      /* canonical op name; as written when unknown */
	void *args;                            /* parsed parameters; NULL: unknown op */
	const char *in_name, *out_name, *note; /* NULL: absent */
	bool fallback_off;
	bool snippet;      /* the plan leaves it to a snippet; op is NULL */
	const char *cells; /* see struct dtx_opctx; only plans made by dtx ask for it, as
	                    * "dtx_cells"; else NULL */
	/* Index of the written step that it comes from: one written step may stand for several. -1:
	 * the plan has no such step. */
	int32_t number;
	const json_t *json;        /* as written; borrowed from plan->json */
	json_t *canonical;         /* without the note; borrowed from the plan */
	char hash[DTX_SHA256_HEX]; /* SHA-256 of the canonical step */
	char at[24];               /* JSON pointer, "/steps/3" */
	/* The step is core step `part` of a macro; NULL: it is as written. */
	struct dtx_plan_macro *macro;
	uint32_t part;
	const json_t *expect_json; /* NULL: none */
	struct dtx_expect *expect; /* never NULL */
	struct dtx_rules rules;    /* rules of `expect` */
	/* Ids of tables: inputs are 0 .. ninputs - 1; the result of step i is ninputs + i. */
	int32_t *table; /* the tables it reads; [0] is the one it works on; -1: unknown name */
	const char **table_name;
	uint32_t ntables;
	bool broken;        /* it has findings that forbid running it */
	bool joint_finding; /* one of these is about several parameters together */
	/* first finding that hands it to a snippet; DTX_OK: the typed engine runs it */
	enum dtx_code trigger;
};

struct dtx_plan_options {
	int overflow; /* as in struct dtx_scope: 0 error, 1 null, 2 float */
	bool div_zero_error;
};
/* A plan cannot ask for more columns in a table than this: they are recorded one by one, and real
 * outputs have fewer. */
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
	json_t *json;      /* as written; a bare array is wrapped in an object */
	json_t *canonical; /* steps, inputs ... as the id is computed from them */
	/* Parameters by name: {"type", "value"}; NULL: the plan has none. */
	json_t *params, *param_values; /* the latter: only the values, for the record */
	json_t *kept;                  /* array of values that parts of the plan borrow from */
	struct dtx_str source;         /* the bytes of the file, in the arena */
	char hash[DTX_SHA256_HEX];     /* SHA-256 of these */
	char id[8 + DTX_SHA256_HEX];   /* "sha256:" and the hash of the canonical plan */
	const char *name;              /* NULL: none */
	struct dtx_plan_input *input;
	uint32_t ninputs;
	struct dtx_plan_step *step;
	uint32_t nsteps;
	uint32_t nwritten;              /* steps as written in the plan */
	struct dtx_plan_output *output; /* at least one */
	uint32_t noutputs;
	int32_t result; /* id of the table after the last step */
	const json_t *expect_json;
	struct dtx_expect *expect; /* never NULL */
	struct dtx_rules rules;    /* rules of `expect` */
	enum dtx_fallback fallback;
	struct dtx_plan_options options;
	struct dtx_plan_limits limits;
};

/* Parses a plan. Relative paths start at `dir`; NULL or "": they stay as they are.
 *
 * All findings go to `findings`, with severity fallback where a snippet may help. Returns DTX_OK,
 * and *out to be freed with dtx_plan_free, if the JSON is a plan at all, with or without findings.
 * Otherwise *out is NULL and err has json_syntax, plan_version, empty_plan, plan_too_large ... or
 * no_memory. */
DTX_MUSTUSE enum dtx_code dtx_plan_parse(struct dtx_str text, const char *dir,
                                         struct dtx_errlist *findings, struct dtx_plan **out,
                                         struct dtx_err *err);
/* The same with values of parameters: an object of texts, or values, by name; NULL: none. More
 * codes: usage, for a name that the plan does not declare. */
DTX_MUSTUSE enum dtx_code dtx_plan_parse_with(struct dtx_str text, const char *dir,
                                              const json_t *params, struct dtx_errlist *findings,
                                              struct dtx_plan **out, struct dtx_err *err);
/* The same for a text that dtx made from a plan: up to DTX_PLAN_STEPS_MADE steps. */
DTX_MUSTUSE enum dtx_code dtx_plan_parse_made(struct dtx_str text, struct dtx_errlist *findings,
                                              struct dtx_plan **out, struct dtx_err *err);
void dtx_plan_free(struct dtx_plan *p); /* NULL is fine */

/* The static phase: binds all steps with what the plan alone says. Adds findings, and marks steps
 * as broken or as triggers. */
DTX_MUSTUSE enum dtx_code dtx_plan_check(struct dtx_plan *p, struct dtx_errlist *findings,
                                         struct dtx_err *err);
/* Appends the canonical bytes of the plan (RFC 8785). */
DTX_MUSTUSE enum dtx_code dtx_plan_canonical(const struct dtx_plan *p, struct dtx_buf *out,
                                             struct dtx_err *err);
/* Makes a plan without steps, for dtx convert: input `main` and one output. */
DTX_MUSTUSE enum dtx_code dtx_plan_empty(struct dtx_plan **out, struct dtx_err *err);
/* Changes the options of input i as if the plan had these n members: "quotes=lenient",
 * "skip_tail=2". The texts must live as long as the plan. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_plan_input_set(struct dtx_plan *plan, uint32_t i,
                                             const char *const *member, size_t n,
                                             struct dtx_err *err);
/* Whether an input, or its dialect, has a member of that name. */
bool dtx_plan_input_has(const char *name);
/* Adds "quotes=lenient" to an input in JSON. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_plan_input_member(json_t *input, const char *member,
                                                struct dtx_err *err);
/* The members that every step may have besides `op`, `expect` and the parameters of its op. */
extern const struct dtx_param dtx_step_members[];
extern const size_t dtx_nstep_members;
/* A name for the table that is read from a file: "t_2025_sales" for "in/2025 sales.csv". Returns
 * false if the text does not look like the name of a file. */
bool dtx_plan_table_for(const char *file, char *name, size_t size);
/* The canonical steps [first, first + count), each with its note, as a snippet gets them. A new
 * reference; NULL: out of memory. */
json_t *dtx_plan_steps_json(const struct dtx_plan *p, uint32_t first, uint32_t count);
/* The op of a step as the plan has it, for messages: "freq" of each of its core steps. */
const char *dtx_plan_step_name(const struct dtx_plan_step *st);
/* The steps that step `step` as written stands for: it alone, or all core steps of its macro. */
void dtx_plan_span(const struct dtx_plan *p, uint32_t step, uint32_t *first, uint32_t *count);
/* The number of step `step` as written, from 1; 0: it is not written in the plan. */
int32_t dtx_plan_step_number(const struct dtx_plan *p, int32_t step);
/* The name of a table: an input's name, an `out` name or "step 3". buf holds the last of these. */
const char *dtx_plan_table_name(const struct dtx_plan *p, int32_t table, char buf[32]);
/* Adds to readers[t], for each table t, how many steps, outputs and checks read it. */
void dtx_plan_readers(const struct dtx_plan *p, uint32_t *readers);
/* Whether a step, an output or the plan's `expect` reads a table. */
bool dtx_plan_uses(const struct dtx_plan *p, int32_t table);
/* Whether the plan's `expect` is about a table that no output writes. */
bool dtx_plan_checks_apart(const struct dtx_plan *p);

/* The JSON Schema (2020-12) of plans, or of one step of op `name`: a new reference. NULL: no such
 * op, or out of memory. */
json_t *dtx_plan_schema(const char *name);
/* The same for output of a language model: every member is required, and each thing can be said in
 * one way only. */
json_t *dtx_plan_schema_strict(const char *name);

#endif
