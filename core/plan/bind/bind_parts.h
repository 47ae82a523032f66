/* What the files of bind share. */
#ifndef DTX_PLAN_BIND_BIND_PARTS_H
#define DTX_PLAN_BIND_BIND_PARTS_H

#include "core/plan/bind/bind.h"

/* --- names that cannot be told (bind.c) --- */
bool dtx_bind_is_guess(const struct dtx_bind *b, const char *name);
/* A name that is not there, and those that it may have been meant for. */
DTX_MUSTUSE enum dtx_code dtx_bind_meant(struct dtx_bind *b, const char *name,
                                         const struct dtx_err *f, struct dtx_err *err);
/* -1 with *f filled when there is none; a code only when memory is out. */
int32_t dtx_bind_find(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *f);

/* --- findings (bind_find.c) --- */
/* The pointer of a place in the step.  False: nothing is written there. */
bool dtx_bind_at(const struct dtx_bind *b, const char *sub, char *at, size_t size);
/* A parameter of the step cannot be read, so that a key may be missing. */
bool dtx_bind_is_unread(const struct dtx_bind *b);
/* Takes a finding at `sub`, unless it follows from one that is known. */
DTX_MUSTUSE enum dtx_code dtx_bind_take(struct dtx_bind *b, const char *sub, struct dtx_err *f,
                                        struct dtx_err *err);
/* Fills *f: no such column in s, the schema of input t.  Its code, which callers may ignore. */
enum dtx_code dtx_bind_unknown(struct dtx_bind *b, unsigned t, const struct dtx_schema *s,
                               const char *name, struct dtx_err *f);

#endif
