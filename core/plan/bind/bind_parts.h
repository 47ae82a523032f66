/* Internal header of the binding of one step: what bind.c, bind_expr.c and bind_find.c share. */
#ifndef DTX_PLAN_BIND_BIND_PARTS_H
#define DTX_PLAN_BIND_BIND_PARTS_H

#include "core/plan/bind/bind.h"

/* --- names that are uncertain (bind.c) --- */
bool dtx_bind_is_guess(const struct dtx_bind *b, const char *name);
/* Notes an unknown name, and the columns that it may have meant, as uncertain columns of the
 * result. */
DTX_MUSTUSE enum dtx_code dtx_bind_meant(struct dtx_bind *b, const char *name,
                                         const struct dtx_err *f, struct dtx_err *err);
/* Finds a column of table t; -1 with *f filled if the table lacks it. */
int32_t dtx_bind_find(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *f);

/* --- findings (bind_find.c) --- */
/* Writes the JSON pointer of a place in the step. False: nothing is written in the plan at that
 * place. */
bool dtx_bind_at(const struct dtx_bind *b, const char *sub, char *at, size_t size);
/* Whether a parameter of the step could not be read, so that a key may be missing. */
bool dtx_bind_is_unread(const struct dtx_bind *b);
/* Adds a finding at `sub`, unless it follows from one that is there already. f is taken. */
DTX_MUSTUSE enum dtx_code dtx_bind_take(struct dtx_bind *b, const char *sub, struct dtx_err *f,
                                        struct dtx_err *err);
/* Fills *f: s, the schema of input t, has no such column. Returns the code, which callers may
 * ignore. */
enum dtx_code dtx_bind_unknown(struct dtx_bind *b, unsigned t, const struct dtx_schema *s,
                               const char *name, struct dtx_err *f);
/* Adds a finding: a selector that fits no column of table t, or (empty) a list without a name. */
DTX_MUSTUSE enum dtx_code dtx_bind_no_fit(struct dtx_bind *b, unsigned t, bool empty,
                                          const char *sub, struct dtx_err *err);

#endif
