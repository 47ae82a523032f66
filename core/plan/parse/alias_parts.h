/* Rewrites the parameters of a step that is written in the style of another tool. This happens
 * before the parameter rows of the op read the step.
 *
 * alias.c has the table of such spellings; alias_flat.c rewrites forms without lists. All functions
 * return no_memory, or a code of the finding that refuses the step. */
#ifndef DTX_PLAN_PARSE_ALIAS_PARTS_H
#define DTX_PLAN_PARSE_ALIAS_PARTS_H

#include <stdio.h>
#include <strings.h>

#include "core/plan/plan_internal.h"

struct rewrite {
	struct dtx_plan_parse *p;
	const struct dtx_plan_step *st;
	json_t *object;   /* the step; a copy that may be changed */
	const char *name; /* the member that is being rewritten */
	struct dtx_err *err;
};

enum dtx_code dtx_rewrite_refuse(const struct rewrite *r, enum dtx_code code, const char *key,
                                 const char *text);
/* The name under which the step has our parameter `name`: the name itself or an alias. NULL: the
 * step does not have it. */
const char *dtx_rewrite_written(const struct rewrite *r, const char *name);
/* The number of names if v is a name or a list of names; 0 if it is neither. */
size_t dtx_rewrite_names(const json_t *v);

/* `op` is the name of the op as the step has it. A form that none of these functions know stays
 * unchanged, and the parameter rows report it. */
enum dtx_code dtx_rewrite_derive(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_cast(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_group(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_sort(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_filter(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_every(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_assert(const struct rewrite *r, const json_t *op);
/* The place as written, as dtx_part_alias_place gives it, for an entry that is written without its
 * list. */
bool dtx_rewrite_flat_place(const struct dtx_plan_step *st, const char *sub, char *out,
                            size_t size);

#endif
