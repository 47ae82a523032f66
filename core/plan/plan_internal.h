/* Pieces of plan parsing that share the findings list.  Internal to core/plan. */
#ifndef DTX_PLAN_PLAN_INTERNAL_H
#define DTX_PLAN_PLAN_INTERNAL_H

#include "core/plan/plan.h"

struct dtx_plan_parse {
	struct dtx_plan *plan;
	struct dtx_errlist *findings;
	const char *dir;
	bool bare; /* the text was an array of steps */
	uint32_t max_steps;
};

/* Adds a finding at pointer; DTX_OK, or no_memory. */
DTX_MUSTUSE enum dtx_code dtx_part_fail(struct dtx_plan_parse *p, enum dtx_code code,
                                        const char *at, struct dtx_err *err, const char *fmt, ...)
	DTX_PRINTF(5, 6);
/* What to do about the finding that was added last. */
void dtx_part_advise(struct dtx_plan_parse *p, const char *hint);
/* The same with names near `want`. */
DTX_MUSTUSE enum dtx_code dtx_part_unknown(struct dtx_plan_parse *p, enum dtx_code code,
                                           const char *at, const char *what, const char *want,
                                           const char *const *have, size_t nhave,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_unknown_op(struct dtx_plan_parse *p, const char *at,
                                              const char *want, struct dtx_err *err);
/* step_hint.c: a step without an op; an op that is a function of formulas; the shape of a parameter
 * that is missing or of another kind, unless something is said already. */
void dtx_part_hint_op(const json_t *step, struct dtx_err *f);
bool dtx_part_hint_function(const char *op, struct dtx_err *f);
void dtx_part_hint_example(const struct dtx_plan_step *st, struct dtx_err *f);
/* unknown_op for one of the catalogue. */
DTX_MUSTUSE enum dtx_code dtx_part_lacks(struct dtx_plan_parse *p, const char *at, const char *op,
                                         struct dtx_err *err);
/* Object without null and x- members; new reference, NULL: out of memory. */
json_t *dtx_part_strip(const json_t *object);
/* The same at every level. */
json_t *dtx_part_strip_deep(const json_t *value);
/* Keeps a JSON value as long as the plan. */
DTX_MUSTUSE bool dtx_part_keep(struct dtx_plan *plan, json_t *value);
/* Hooks of the parameter rows. */
extern const struct dtx_param_hooks dtx_part_hooks_template;

/* Largest integer that every JSON reader keeps. */
#define DTX_PART_INT_MAX (((int64_t)1 << 53) - 1)
/* inputs.c: rows into args, with the plan's own findings list. */
DTX_MUSTUSE enum dtx_code dtx_part_fill(struct dtx_plan_parse *p, const struct dtx_param *rows,
                                        size_t n, const json_t *object, const char *at,
                                        const char *skip, void *args, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_canonical(const struct dtx_param *rows, size_t n,
                                             const void *args, json_t *object, struct dtx_err *err);
/* A path of the plan starts at the plan's folder. */
DTX_MUSTUSE enum dtx_code dtx_part_path(struct dtx_plan_parse *p, const char *path,
                                        const char **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_char(struct dtx_plan_parse *p, const char *text, const char *at,
                                        const char *what, char *out, struct dtx_err *err);
/* archive.c: limits of an input; the defaults where it has none. */
DTX_MUSTUSE enum dtx_code dtx_part_archive(struct dtx_plan_parse *p, const json_t *input,
                                           const char *at, struct dtx_archive_limits *out,
                                           struct dtx_err *err);
json_t *dtx_part_archive_schema(void);
json_t *dtx_part_input_schema(void);
json_t *dtx_part_dialect_schema(void);
/* inputs.c, parse_outputs.c: members of the plan that are not steps; canonical forms go into
 * plan->canonical. */
DTX_MUSTUSE enum dtx_code dtx_part_inputs(struct dtx_plan_parse *p, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_outputs(struct dtx_plan_parse *p, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_part_options(struct dtx_plan_parse *p, struct dtx_err *err);
/* steps.c */
DTX_MUSTUSE enum dtx_code dtx_part_steps(struct dtx_plan_parse *p, struct dtx_err *err);
/* A step that nobody wrote: `st` is in the plan's list, zeroed but for its place.  json is kept. */
DTX_MUSTUSE enum dtx_code dtx_part_made_step(struct dtx_plan *plan, const json_t *json,
                                             struct dtx_plan_step *st, struct dtx_errlist *findings,
                                             struct dtx_err *err);
/* Table names of outputs, unused inputs: once the steps are known. */
DTX_MUSTUSE enum dtx_code dtx_part_links(struct dtx_plan_parse *p, struct dtx_err *err);
bool dtx_part_name_ok(const char *name);
/* Schema properties of inputs, outputs, options, limits; new references. */
json_t *dtx_part_schema(const char *member);

/* alias.c: parameters of other tools become ours; object is the step, changed in place. */
DTX_MUSTUSE enum dtx_code dtx_part_rewrite(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                           json_t *object, struct dtx_err *err);
/* What an alias of the op stands for ("how=left"). */
DTX_MUSTUSE enum dtx_code dtx_part_preset(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                          json_t *object, const char *preset, struct dtx_err *err);
/* compile.c: the table that a translation gives, that of all outputs; no_translation when they
 * differ. */
DTX_MUSTUSE enum dtx_code dtx_part_translated(const struct dtx_plan *plan, int32_t *table,
                                              struct dtx_err *err);
/* "has no SQL form: there is none for concat()", from what an op has left in `text`. */
#define DTX_PART_FORMLESS 160
void dtx_part_formless(struct dtx_buf *text, const char *language, char out[DTX_PART_FORMLESS]);

/* Place of a canonical member that was rewritten; false: it was not. */
bool dtx_part_alias_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size);

/* An expect object at `at`, and its rules. */
DTX_MUSTUSE enum dtx_code dtx_part_expect(struct dtx_plan_parse *p, const json_t *v, const char *at,
                                          struct dtx_expect **expect, struct dtx_rules *rules,
                                          struct dtx_err *err);

/* sort_findings.c: findings by their place in the plan as written, then by span; of a value that
 * cannot be read only the first is kept. */
/* expand_split.c: adds to `out` the step at an index of those written, or the steps that it stands
 * for.
 */
DTX_MUSTUSE enum dtx_code dtx_part_unfold(struct dtx_plan_parse *p, const json_t *steps, size_t at,
                                          json_t *out, struct dtx_err *err);
/* expand_macro.c: the most core steps that a step as written may stand for. */
size_t dtx_macro_most(const json_t *step);
/* The core steps of a step without findings whose op is a macro.  *out is the plan's. */
DTX_MUSTUSE enum dtx_code dtx_macro_expand(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                                           struct dtx_plan_macro **out, struct dtx_err *err);
/* dtx_part_place of a core step: the parameter of the step as written that the place comes from, or
 * the step. */
bool dtx_macro_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size);
/* check_stream.c: what streams among the inputs cannot give. */
DTX_MUSTUSE enum dtx_code dtx_part_streams(struct dtx_plan_parse *p, struct dtx_arena *arena,
                                           struct dtx_err *err);
/* A finding of its own making; f is taken. */
DTX_MUSTUSE enum dtx_code dtx_part_found(struct dtx_plan_parse *p, struct dtx_err *f,
                                         const char *at, struct dtx_err *err);
void dtx_part_order(const struct dtx_plan *plan, struct dtx_errlist *findings);

/* json_pointer.c: pointer of a step's canonical place ("/set/0/expr") in the step as written:
 * aliases and sugar are looked through.  False: its last member is not written. */
bool dtx_part_place(const struct dtx_plan_step *step, const char *sub, char *out, size_t size);
/* What is written there; NULL: nothing is. */
const json_t *dtx_part_value(const struct dtx_plan_step *step, const char *sub);
/* The same in any object that rows read; `at` is its place. */
bool dtx_part_walk(const json_t *object, const char *at, const struct dtx_param *rows, size_t nrows,
                   const char *sub, char *out, size_t size);
/* The name under which parameter `token` stands in the object: its own where it does not. NULL: no
 * such parameter.  *row (if not NULL) is its row. */
const char *dtx_part_written(const struct dtx_param *rows, size_t n, const json_t *object,
                             struct dtx_str token, const struct dtx_param **row);

#endif
