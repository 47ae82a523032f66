/* Refusals of readers and what to do about them.
 *
 * A reader that refuses an input may know the options with which it would go on; there is also a
 * usual remedy for most codes.  Both are members of a plan's input, so that what a repair did can
 * be written into the plan.  Any thread, each with objects of its own. */
#ifndef DTX_IO_REPAIR_H
#define DTX_IO_REPAIR_H

#include "core/io/reader.h"

#define DTX_REPAIRS_MAX    12 /* remedies for one input; each changes an option for good */
#define DTX_REPAIR_MEMBERS 24 /* options that there are */

/* The remedies taken for one input. */
struct dtx_repair {
	bool on;                 /* false: only what a reader asks for itself (a second sniffing) */
	struct dtx_arena *arena; /* texts of changed options */
	struct dtx_errlist *done; /* one note per remedy: `repaired` or `dialect_resniffed` */
	unsigned taken;
	unsigned char times[DTX_REPAIR_MEMBERS]; /* how often each option was changed */
};

/* Says in err->more which members of the input would help: {"repair": {...}}.  The text is a JSON
 * object, or "null" where no option would help. */
void dtx_repair_advise(struct dtx_err *err, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Changes the options so that `why` does not come again, and notes it.  False: there is no remedy,
 * it was taken before, or repairs are off; or memory is out. */
bool dtx_repair_take(struct dtx_repair *r, const struct dtx_err *why, struct dtx_read_opts *opts);
/* Says in the hint of a refusal with which members --repair would read on. */
void dtx_repair_hint(struct dtx_err *err);
/* dtx_reader_open with remedies until it opens or none is left. err is not NULL. */
DTX_MUSTUSE enum dtx_code dtx_repair_open(struct dtx_repair *r, struct dtx_source *src,
                                          struct dtx_read_opts *opts, struct dtx_reader **out,
                                          struct dtx_err *err);

#endif
