/* Names of columns that come from data. */
#ifndef DTX_OPS_KIT_NEWNAMES_H
#define DTX_OPS_KIT_NEWNAMES_H

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"
#include "core/base/text/str.h"
#include "core/base/strmap.h"

/* Makes n names usable for columns: blank names become column_N, counted from 1; repeated names get
 * _2, _3, skipping names that are taken.  *repeats is the number of repeated names.  New names are
 * in the arena. */
DTX_MUSTUSE enum dtx_code dtx_names_fit(const char **name, uint32_t n, struct dtx_arena *arena,
                                        uint32_t *repeats, struct dtx_err *err);
/* Records the name of column `at` that `op` makes.  Fails with name_collision and `hint` if an
 * earlier column has the name, and with cancelled or time_limit if the run has to end. */
DTX_MUSTUSE enum dtx_code dtx_names_note(struct dtx_strmap *names, const char *op, const char *name,
                                         uint32_t at, const char *hint, struct dtx_err *err);
/* The text, trimmed and with single spaces inside, in the arena.  Code: unexpected_value if it
 * contains a NUL byte. */
DTX_MUSTUSE enum dtx_code dtx_names_text(struct dtx_str text, struct dtx_arena *arena,
                                         const char **out, struct dtx_err *err);

#endif
