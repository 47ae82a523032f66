/* The styles of text on a terminal that gets colours; others are not passed on to it (cli/out.c).
 */
#ifndef DTX_IO_WRITE_TEXT_STYLE_H
#define DTX_IO_WRITE_TEXT_STYLE_H

#define DTX_STYLE_HEADER "\033[1m"
#define DTX_STYLE_NUMBER "\033[36m"
#define DTX_STYLE_NULL   "\033[2m"
#define DTX_STYLE_END    "\033[0m"

#endif
