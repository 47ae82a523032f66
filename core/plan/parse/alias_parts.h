/* Rewriting a step's parameters before the rows read it: alias.c has the table, alias_flat.c the
 * forms without lists. */
#ifndef DTX_PLAN_PARSE_ALIAS_PARTS_H
#define DTX_PLAN_PARSE_ALIAS_PARTS_H

#include <stdio.h>
#include <strings.h>

#include "core/plan/plan_internal.h"

struct rewrite {
	struct dtx_plan_parse *p;
	const struct dtx_plan_step *st;
	json_t *object;   /* the step, ours to change */
	const char *name; /* the member that is rewritten */
	struct dtx_err *err;
};

enum dtx_code dtx_rewrite_refuse(const struct rewrite *r, enum dtx_code code, const char *key,
                                 const char *text);
/* The name under which our parameter stands in the step; NULL: it does not. */
const char *dtx_rewrite_written(const struct rewrite *r, const char *name);
/* A name or a list of them: how many; 0: neither. */
size_t dtx_rewrite_names(const json_t *v);

/* `op`: the op as the step calls it.  What none of them knows stays, for the rows to refuse. */
enum dtx_code dtx_rewrite_derive(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_cast(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_group(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_sort(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_filter(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_every(const struct rewrite *r, const json_t *op);
enum dtx_code dtx_rewrite_assert(const struct rewrite *r, const json_t *op);
/* dtx_part_alias_place of an entry that stands without its list. */
bool dtx_rewrite_flat_place(const struct dtx_plan_step *st, const char *sub, char *out,
                            size_t size);

#endif
