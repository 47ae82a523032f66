/* Which bytes a file had, by its mark (core/io/filemark.h), as the runs recorded it. */
#ifndef DTX_STORE_SEEN_H
#define DTX_STORE_SEEN_H

#include "core/base/identity.h"
#include "core/store/record.h"

/* The identity that a run computed of the file with this mark, and that run; *sha is empty when
 * none has. */
DTX_MUSTUSE enum dtx_code dtx_seen_find(struct dtx_store *s, const char *mark,
                                        char sha[DTX_IDENTITY_TEXT], char run_id[DTX_RUN_ID],
                                        struct dtx_err *err);

#endif
