/* Names of columns that come from data. */
#ifndef DTX_OPS_KIT_NEWNAMES_H
#define DTX_OPS_KIT_NEWNAMES_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/text/str.h"
#include "core/base/strmap.h"

/* Makes n names fit for columns: blank ones become column_N, counted from 1, repeated ones get _2,
 * _3, skipping what is taken.  *repeats: how many were.  New names are in the arena. */
DTX_MUSTUSE enum dtx_code dtx_names_fit(const char **name, uint32_t n, struct dtx_arena *arena,
                                        uint32_t *repeats, struct dtx_err *err);
/* Notes the name of column `at` that `op` makes; the name of an earlier one is name_collision, with
 * `hint`.  Listens to whoever ends the run. */
DTX_MUSTUSE enum dtx_code dtx_names_note(struct dtx_strmap *names, const char *op, const char *name,
                                         uint32_t at, const char *hint, struct dtx_err *err);
/* The text trimmed and its inner spaces squeezed, in the arena; a NUL byte is unexpected_value. */
DTX_MUSTUSE enum dtx_code dtx_names_text(struct dtx_str text, struct dtx_arena *arena,
                                         const char **out, struct dtx_err *err);

#endif
