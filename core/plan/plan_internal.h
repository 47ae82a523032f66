/* What the files that parse a plan share (core/plan/parse, plan.c). Internal to core/plan.
 *
 * Functions that can add a finding return DTX_OK even then; they fail only with no_memory, unless
 * they say otherwise. */
#ifndef DTX_PLAN_PLAN_INTERNAL_H
#define DTX_PLAN_PLAN_INTERNAL_H

#include "core/plan/plan.h"

struct dtx_bind;
struct dtx_plan_parse {
	struct dtx_plan *plan;
	struct dtx_errlist *findings;
	const char *dir;
	bool bare; /* the text was an array of steps */
	uint32_t max_steps;
	bool made;           /* no user wrote the text */
	const json_t *given; /* values of parameters; NULL: none */
};

/* The argument of the hooks of parameter rows. */
struct dtx_part_arg {
	struct dtx_arena *arena;
	const json_t *params; /* of the plan; NULL: none */
};

/* Adds a finding at a JSON pointer. */
DTX_MUSTUSE enum dtx_code dtx_part_fail(struct dtx_plan_parse *p, enum dtx_code code,
                                        const char *at, struct dtx_err *err, const char *fmt, ...)
	DTX_PRINTF(5, 6);
/* Adds a hint to the last finding. */
void dtx_part_advise(struct dtx_plan_parse *p, const char *hint);
/* Adds the finding that `want` is unknown, with the names of `have` that are similar. */
DTX_MUSTUSE enum dtx_code dtx_part_unknown(struct dtx_plan_parse *p, enum dtx_code code,
                                           const char *at, const char *what, const char *want,
                                           const char *const *have, size_t nhave,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_unknown_op(struct dtx_plan_parse *p, const char *at,
                                              const char *want, struct dtx_err *err);
/* In step_hint.c. Hints for a step without an op, for an op that is a function of formulas, and for
 * a parameter that is missing or of the wrong kind (unless f has a hint). */
void dtx_part_hint_op(const json_t *step, struct dtx_err *f);
bool dtx_part_hint_function(const char *op, struct dtx_err *f);
void dtx_part_hint_example(const struct dtx_plan_step *st, struct dtx_err *f);
/* Adds unknown_op for an op of the catalogue of other tools. */
DTX_MUSTUSE enum dtx_code dtx_part_lacks(struct dtx_plan_parse *p, const char *at, const char *op,
                                         struct dtx_err *err);
/* In plan_schema_defs.c. The schema with what occurs several times in "$defs". Takes the reference;
 * NULL: out of memory. */
json_t *dtx_part_schema_defs(json_t *schema);
/* The object without members that are null or begin with x-: a new reference; NULL: out of
 * memory. */
json_t *dtx_part_strip(const json_t *object);
/* The same at every level. */
json_t *dtx_part_strip_deep(const json_t *value);
/* Keeps a JSON value, whose reference it takes, as long as the plan. */
DTX_MUSTUSE bool dtx_part_keep(struct dtx_plan *plan, json_t *value);
/* How parameter rows read expressions and selectors. */
extern const struct dtx_param_hooks dtx_part_hooks_template;

/* The largest integer that every JSON reader keeps exactly. */
#define DTX_PART_INT_MAX (((int64_t)1 << 53) - 1)
/* In inputs.c. Reads an object by parameter rows into args; findings go to the plan's list. */
DTX_MUSTUSE enum dtx_code dtx_part_fill(struct dtx_plan_parse *p, const struct dtx_param *rows,
                                        size_t n, const json_t *object, const char *at,
                                        const char *skip, void *args, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_canonical(const struct dtx_param *rows, size_t n,
                                             const void *args, json_t *object, struct dtx_err *err);
/* A path of the plan, made relative to the plan's folder. */
DTX_MUSTUSE enum dtx_code dtx_part_path(struct dtx_plan_parse *p, const char *path,
                                        const char **out, struct dtx_err *err);
/* The name of number `choice` of a list such as "zstd,snappy", in the arena; NULL for -1. */
DTX_MUSTUSE enum dtx_code dtx_part_choice(struct dtx_plan_parse *p, const char *choices, int choice,
                                          const char **out, struct dtx_err *err);
/* The format that a choice of dtx_read_formats or dtx_write_formats stands for, in the arena; NULL
 * for "auto". */
DTX_MUSTUSE enum dtx_code dtx_part_format(struct dtx_plan_parse *p, const char *choices, int choice,
                                          const char **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_char(struct dtx_plan_parse *p, const char *text, const char *at,
                                        const char *what, char *out, struct dtx_err *err);
/* In archive.c. The limits on unpacking an input; the defaults where it has none. */
DTX_MUSTUSE enum dtx_code dtx_part_archive(struct dtx_plan_parse *p, const json_t *input,
                                           const char *at, struct dtx_archive_limits *out,
                                           struct dtx_err *err);
json_t *dtx_part_archive_schema(void);
json_t *dtx_part_input_schema(void);
json_t *dtx_part_dialect_schema(void);
/* In inputs.c and parse_outputs.c. Parse the members of the plan that are not steps; canonical
 * forms go into plan->canonical. */
DTX_MUSTUSE enum dtx_code dtx_part_inputs(struct dtx_plan_parse *p, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_outputs(struct dtx_plan_parse *p, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_options(struct dtx_plan_parse *p, struct dtx_err *err);
/* In steps.c. */
DTX_MUSTUSE enum dtx_code dtx_part_steps(struct dtx_plan_parse *p, struct dtx_err *err);
/* Fills a step that is not written in the plan. st is in the plan's list, and zeroed except for its
 * place; json is kept. */
DTX_MUSTUSE enum dtx_code dtx_part_made_step(struct dtx_plan *plan, const json_t *json,
                                             struct dtx_plan_step *st, struct dtx_errlist *findings,
                                             struct dtx_err *err);
/* Sets the parameters of a core step of a macro to those of `json`, which is kept. */
DTX_MUSTUSE enum dtx_code dtx_part_remake_step(struct dtx_plan *plan, const json_t *json,
                                               struct dtx_plan_step *st,
                                               struct dtx_errlist *findings, struct dtx_err *err);
/* Resolves table names of outputs, and warns of unused inputs, once the steps are known. */
DTX_MUSTUSE enum dtx_code dtx_part_links(struct dtx_plan_parse *p, struct dtx_err *err);
bool dtx_part_name_ok(const char *name);
/* Schema properties of inputs, outputs, options or limits; a new reference. */
json_t *dtx_part_schema(const char *member);

/* In alias.c. Replaces parameter names of other tools by those of dtx, in the step `object`. */
DTX_MUSTUSE enum dtx_code dtx_part_rewrite(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                           json_t *object, struct dtx_err *err);
/* Sets the parameters that an alias of the op stands for ("how=left"). */
DTX_MUSTUSE enum dtx_code dtx_part_preset(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                          json_t *object, const char *preset, struct dtx_err *err);
/* In compile.c. The table that a translation returns, which must be that of all outputs. Codes:
 * no_translation when they differ. */
DTX_MUSTUSE enum dtx_code dtx_part_translated(const struct dtx_plan *plan, int32_t *table,
                                              struct dtx_err *err);
/* The longest text of a step in another language, and what is said of a longer one. */
#define DTX_PART_MAX      ((size_t)4 << 20)
#define DTX_PART_TOO_LONG "needs more than 4 MiB of %s; split its formula over several steps"
/* Writes "has no SQL form: concat() cannot be translated", from what an op has left in `text`. */
/* A flow that has the schemas of the inputs that dtx_exec_bind found (NULL: none), for
 * dtx_column_needs_static. In the arena; NULL: out of memory. */
struct dtx_exec_result;
struct dtx_flow *dtx_part_known(const struct dtx_plan *plan, const struct dtx_exec_result *found,
                                struct dtx_arena *arena);
#define DTX_PART_FORMLESS 160
void dtx_part_formless(struct dtx_buf *text, const char *language, char out[DTX_PART_FORMLESS]);

/* The place, as written, of a canonical member that was rewritten. False: it was not. */
bool dtx_part_alias_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size);

/* Parses the `expect` object at `at`, and its rules. */
DTX_MUSTUSE enum dtx_code dtx_part_expect(struct dtx_plan_parse *p, const json_t *v, const char *at,
                                          struct dtx_expect **expect, struct dtx_rules *rules,
                                          struct dtx_err *err);

/* In expand_split.c. Adds to `out` the step at index `at` of those written, or the steps that it
 * stands for. */
DTX_MUSTUSE enum dtx_code dtx_part_unfold(struct dtx_plan_parse *p, const json_t *steps, size_t at,
                                          json_t *out, struct dtx_err *err);
/* In expand_macro.c. The most core steps that a step as written may stand for. */
size_t dtx_macro_most(const json_t *step);
/* The core steps of a step without findings whose op is a macro.  *out is the plan's. */
DTX_MUSTUSE enum dtx_code dtx_macro_expand(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                           struct dtx_plan_macro **out, struct dtx_err *err);
/* Completes a core step that is about to be bound in b. *known is false if its parameters are not
 * known, which may be so in the static phase or after a finding. */
DTX_MUSTUSE enum dtx_code dtx_macro_compose(struct dtx_bind *b, struct dtx_plan *plan,
                                            struct dtx_plan_step *st, bool *known,
                                            struct dtx_err *err);
/* dtx_part_place of a core step: the parameter of the step as written that the place comes from, or
 * the step. */
bool dtx_macro_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size);
/* In check_stream.c. Finds what the plan needs of streams that they cannot give. */
DTX_MUSTUSE enum dtx_code dtx_part_streams(struct dtx_plan_parse *p, struct dtx_arena *arena,
                                           struct dtx_err *err);
/* Adds a finding; f is taken. */
DTX_MUSTUSE enum dtx_code dtx_part_found(struct dtx_plan_parse *p, struct dtx_err *f,
                                         const char *at, struct dtx_err *err);
/* In sort_findings.c. Sorts findings by their place in the plan as written, then by span. Of
 * several findings about a value that cannot be read it keeps the first. */
void dtx_part_order(const struct dtx_plan *plan, struct dtx_errlist *findings);

/* The member of an object that was found last, by its number. */
struct dtx_part_last {
	const json_t *object;
	void *member;
	size_t n;
};
/* In json_pointer.c. Translates a place in a step's canonical form ("/set/0/expr") to its JSON
 * pointer in the step as written, through aliases and short forms. False: its last member is not
 * written. `last` keeps where the calls before ended, zeroed at first, so that a row of places in
 * one object takes linear time; NULL: each call begins at the first member. */
bool dtx_part_place(const struct dtx_plan_step *step, const char *sub, struct dtx_part_last *last,
                    char *out, size_t size);
/* The value written there; NULL if none. */
const json_t *dtx_part_value(const struct dtx_plan_step *step, const char *sub);
/* The same for any object that parameter rows read; `at` is its place. */
bool dtx_part_walk(const json_t *object, const char *at, const struct dtx_param *rows, size_t nrows,
                   const char *sub, char *out, size_t size);
/* The name under which parameter `token` is written in the object, or its own name where it is not
 * written. NULL: no such parameter. *row (if not NULL) is its row. */
const char *dtx_part_written(const struct dtx_param *rows, size_t n, const json_t *object,
                             struct dtx_str token, const struct dtx_param **row);

#endif
