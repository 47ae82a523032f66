/* Main's side of a reader process; private to the files of this folder. */
#ifndef DTX_IO_ISOLATE_ISOLATED_H
#define DTX_IO_ISOLATE_ISOLATED_H

#include "core/data/frame/frame.h"
#include "core/io/isolate/isolate.h"

/* The texts that cells of one read point to, as far as they have come. Columns hold `owner`,
 * which keeps one version alive with everything that it was made of. */
struct dtx_textpool {
	const struct dtx_strings *strings;
	struct dtx_owner *owner;
	struct dtx_str *item; /* of the last version that allocated an array */
	size_t n, cap;
	uint64_t bytes;
};
/* Starts with a version without texts. The pool must be zeroed or cleared. */
DTX_MUSTUSE enum dtx_code dtx_textpool_start(struct dtx_textpool *p, bool epoch1904,
                                             struct dtx_err *err);
/* Adds the texts of a STRINGS section, whose bytes `frame` owns. Error: snippet_bad_result if it
 * is malformed; the pool can then only be cleared. */
DTX_MUSTUSE enum dtx_code dtx_textpool_add(struct dtx_textpool *p,
                                           const struct dtx_frame_view *view,
                                           const struct dtx_frame_entry *entry,
                                           struct dtx_owner *frame, struct dtx_err *err);
void dtx_textpool_clear(struct dtx_textpool *p);

/* Turns an error about a frame into one about the file: corrupt_file. */
enum dtx_code dtx_isolated_corrupt_file(const struct dtx_source *src, enum dtx_code rc,
                                        struct dtx_err *err);
/* Whether a new process with other limits could answer: one that has loaded the code page of the
 * texts. */
bool dtx_isolated_again(const struct dtx_err *why, struct dtx_isolate_limits *limits);
/* Reads the JSON of a REPORT section. Error: snippet_bad_result. */
DTX_MUSTUSE enum dtx_code dtx_isolated_report(const struct dtx_frame_view *view, json_t **out,
                                              struct dtx_err *err);
/* Adds what every request contains, such as the input's name. Takes `args`. NULL: out of memory. */
DTX_MUSTUSE json_t *dtx_isolated_args(const struct dtx_source *src, json_t *args);

#endif
