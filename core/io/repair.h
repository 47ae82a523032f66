/* Remedies for inputs that a reader refuses.
 *
 * A reader that refuses an input may know with which options it would continue; for most errors
 * there is also a usual remedy. Both are expressed as members of a plan's input, so that a
 * repair can be written into the plan. Any thread may use these functions, each with its own
 * objects. */
#ifndef DTX_IO_REPAIR_H
#define DTX_IO_REPAIR_H

#include "core/io/reader.h"

#define DTX_REPAIRS_MAX    12 /* remedies for one input; each changes an option permanently */
#define DTX_REPAIR_MEMBERS 24 /* number of options that can be changed */

/* The remedies applied to one input. */
struct dtx_repair {
	bool on;                  /* false: only what a reader asks for itself (sniffing again) */
	struct dtx_arena *arena;  /* for texts of changed options */
	struct dtx_errlist *done; /* one note per remedy: `repaired` or `dialect_resniffed` */
	unsigned taken;
	unsigned char times[DTX_REPAIR_MEMBERS]; /* how often each option was changed */
};

/* Stores in err->more which members of the input would help: {"repair": {...}}. The text is a
 * JSON object, or "null" if no option would help. */
void dtx_repair_advise(struct dtx_err *err, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Changes the options so that the error `why` does not come again, and notes that. Returns false
 * if there is no remedy, if it was applied before, if repairs are off, or if memory is out. */
bool dtx_repair_take(struct dtx_repair *r, const struct dtx_err *why, struct dtx_read_opts *opts);
/* Adds to the hint of an error which members --repair would change. */
void dtx_repair_hint(struct dtx_err *err);
/* Calls dtx_reader_open, and applies remedies until it succeeds or none is left. `err` must not
 * be NULL. */
DTX_MUSTUSE enum dtx_code dtx_repair_open(struct dtx_repair *r, struct dtx_source *src,
                                          struct dtx_read_opts *opts, struct dtx_reader **out,
                                          struct dtx_err *err);

#endif
