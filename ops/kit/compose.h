/* For ops that are compositions: what their `compose` (core/plan/op.h) puts into the core steps.
 *
 * Texts are in the arena of the binding.  A failure is kept in `failed`, so that it is asked for
 * once at the end (dtx_compose_end); until then functions may return texts and JSON that are of no
 * use. */
#ifndef DTX_OPS_KIT_COMPOSE_H
#define DTX_OPS_KIT_COMPOSE_H

#include "core/base/text/json.h"
#include "core/plan/bind/bind.h"

struct dtx_compose {
	struct dtx_bind *b;
	json_t *const *step; /* the core steps */
	size_t n;
	bool failed; /* out of memory */
};

/* Part of a formula, as by printf. */
const char *dtx_compose_text(struct dtx_compose *c, const char *fmt, ...) DTX_PRINTF(2, 3);
/* A column in a formula. */
const char *dtx_compose_name(struct dtx_compose *c, const char *column);
/* `base`, or a name like it, that neither a column of the table has nor one of the n items of a
 * list {as, expr}. */
const char *dtx_compose_free(struct dtx_compose *c, const struct dtx_plist *list, const char *base);
/* The names of columns of the table as a list: a new reference. */
json_t *dtx_compose_names(struct dtx_compose *c, const int32_t *col, uint32_t n);
/* Appends a value, whose reference it takes, to a list. */
void dtx_compose_add(struct dtx_compose *c, json_t *list, json_t *value);
/* {"as": as, "expr": expr}, a new reference. */
json_t *dtx_compose_item(const char *as, const char *expr);
/* Sets parameter `name` of the core steps of op `op`.  It takes the value's reference. */
void dtx_compose_set(struct dtx_compose *c, const char *op, const char *name, json_t *value);
/* Static phase: says that the first n core steps depend on columns that are not known. */
void dtx_compose_unknown(struct dtx_compose *c, size_t n);
/* no_memory if something failed. */
DTX_MUSTUSE enum dtx_code dtx_compose_end(const struct dtx_compose *c, struct dtx_err *err);

#endif
