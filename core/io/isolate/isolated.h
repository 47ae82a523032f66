/* Main's side of a reader process, shared by its files. */
#ifndef DTX_IO_ISOLATE_ISOLATED_H
#define DTX_IO_ISOLATE_ISOLATED_H

#include "core/data/frame/frame.h"
#include "core/io/isolate/isolate.h"

/* The texts that cells of one read point into, as far as they have come.  Columns hold `owner`,
 * which keeps a version alive with all that it was made of. */
struct dtx_textpool {
	const struct dtx_strings *strings;
	struct dtx_owner *owner;
	struct dtx_str *item; /* of the last version that made an array */
	size_t n, cap;
	uint64_t bytes;
};
/* A version without texts; the pool is zeroed or cleared. */
DTX_MUSTUSE enum dtx_code dtx_textpool_start(struct dtx_textpool *p, bool epoch1904,
                                             struct dtx_err *err);
/* Takes in a STRINGS section, whose bytes `frame` owns.  Code: snippet_bad_result when it is none;
 * after a failure the pool is only cleared. */
DTX_MUSTUSE enum dtx_code dtx_textpool_add(struct dtx_textpool *p,
                                           const struct dtx_frame_view *view,
                                           const struct dtx_frame_entry *entry,
                                           struct dtx_owner *frame, struct dtx_err *err);
void dtx_textpool_clear(struct dtx_textpool *p);

/* What a frame breaks is said as a fault of the file: corrupt_file. */
enum dtx_code dtx_isolated_blame(const struct dtx_source *src, enum dtx_code rc,
                                 struct dtx_err *err);
/* Whether a process that is started anew, with other limits, could answer: one that has the code
 * page of the texts. */
bool dtx_isolated_again(const struct dtx_err *why, struct dtx_isolate_limits *limits);
/* The JSON of a REPORT section.  Code: snippet_bad_result. */
DTX_MUSTUSE enum dtx_code dtx_isolated_report(const struct dtx_frame_view *view, json_t **out,
                                              struct dtx_err *err);
/* Arguments of a request: the input's name is always among them.  NULL: out of memory. */
DTX_MUSTUSE json_t *dtx_isolated_args(const struct dtx_source *src, json_t *args);

#endif
