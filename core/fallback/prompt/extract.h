/* The Python module in an answer. */
#ifndef DTX_FALLBACK_PROMPT_EXTRACT_H
#define DTX_FALLBACK_PROMPT_EXTRACT_H

#include "core/base/buf.h"

#define DTX_EXTRACT_MAX ((size_t)64 << 10)  /* module */
#define DTX_ANSWER_MAX  ((size_t)256 << 10) /* answer */

/* <think> parts are dropped; of the fenced blocks tagged python, py, python3 or nothing that define
 * `transform` the last wins; without any fence the whole text is the module when it defines
 * `transform`.  The result has LF line ends and one final newline.  Codes: snippet_no_code,
 * snippet_truncated.  Whether it compiles is for the jail to say. */
DTX_MUSTUSE enum dtx_code dtx_extract(struct dtx_str answer, struct dtx_buf *module,
                                      struct dtx_err *err);

#endif
