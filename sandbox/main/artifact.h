/* The files that a program in the jail left behind. Their names and bytes come in the result
 * frame, which may be hostile. */
#ifndef DTX_SANDBOX_MAIN_ARTIFACT_H
#define DTX_SANDBOX_MAIN_ARTIFACT_H

#include "sandbox/main/super.h"

/* Whether `name` is a harmless relative path: 1 to DTX_JAIL_FILE_NAME bytes of UTF-8, at most 8
 * parts, no empty part, no part that begins with a dot, no backslash, no control character. */
DTX_MUSTUSE bool dtx_artifact_name(struct dtx_str name);
/* Fills b->file from the frame. The files point into bytes that `owner` holds; a reference is
 * taken. */
DTX_MUSTUSE enum dtx_code dtx_artifact_take(struct dtx_box *b, const struct dtx_frame_view *view,
                                            struct dtx_owner *owner, struct dtx_err *err);

#endif
