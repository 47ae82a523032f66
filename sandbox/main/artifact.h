/* Files that a program left: names and bytes of a hostile frame. */
#ifndef DTX_SANDBOX_MAIN_ARTIFACT_H
#define DTX_SANDBOX_MAIN_ARTIFACT_H

#include "sandbox/main/super.h"

/* A relative path of 1 to DTX_JAIL_FILE_NAME bytes of UTF-8: no empty part, no part that begins
 * with a dot, no backslash, no control character, at most 8 parts. */
DTX_MUSTUSE bool dtx_artifact_name(struct dtx_str name);
/* Makes b->file of the frame; `owner` holds its bytes (a reference is taken). */
DTX_MUSTUSE enum dtx_code dtx_artifact_take(struct dtx_box *b, const struct dtx_frame_view *view,
                                            struct dtx_owner *owner, struct dtx_err *err);

#endif
