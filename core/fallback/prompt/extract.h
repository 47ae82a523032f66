/* Finds the Python module in an author's answer. */
#ifndef DTX_FALLBACK_PROMPT_EXTRACT_H
#define DTX_FALLBACK_PROMPT_EXTRACT_H

#include "core/base/memory/buf.h"

#define DTX_EXTRACT_MAX ((size_t)64 << 10)  /* bytes of a module */
#define DTX_ANSWER_MAX  ((size_t)256 << 10) /* bytes of an answer */

/* Copies the module to *module. Sections in <think> are ignored. Of the fenced blocks that are
 * tagged python, py or python3, or not tagged, and that define `transform`, the last one is
 * used. If there is no fence at all, the whole text is the module if it defines `transform`. The
 * result has LF line ends and one final newline. Whether it compiles is checked in the jail.
 * Errors: snippet_no_code, snippet_truncated. */
DTX_MUSTUSE enum dtx_code dtx_extract(struct dtx_str answer, struct dtx_buf *module,
                                      struct dtx_err *err);

#endif
