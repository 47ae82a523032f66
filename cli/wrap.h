/* Text for people in lines of at most 79 columns. */
#ifndef DTX_CLI_WRAP_H
#define DTX_CLI_WRAP_H

#include "core/base/memory/buf.h"

enum { DTX_WRAP_WIDTH = 79 };

/* Appends words separated by single blanks, in lines of `width` columns. The first line continues
 * the line that out ends with, which is at column `at`; later ones have `indent` blanks. Ends
 * without a line feed. */
void dtx_wrap_words(const char *text, size_t at, size_t indent, size_t width, struct dtx_buf *out);
/* Appends paragraphs: lines that begin without a blank are joined and filled. Of others, such as
 * commands and parameters, those that are too long go on in the next line, four columns further in;
 * commands ("  dtx ...") stay as they are. */
void dtx_wrap_text(const char *text, size_t width, struct dtx_buf *out);

#endif
