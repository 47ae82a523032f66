/* The names of formats, as the readers and writers have them. */
#ifndef DTX_IO_FORMATS_H
#define DTX_IO_FORMATS_H

#include "core/base/memory/buf.h"

/* Generated from the classes of readers and writers: "auto,csv,tsv,...", the values of `format` of
 * an input and of an output. */
extern const char dtx_read_formats[], dtx_write_formats[];

/* Appends "csv, tsv" for "csv,tsv"; `before` comes before each name. */
void dtx_formats_print(const char *list, const char *before, struct dtx_buf *out);
/* Fails with unsupported_format for a name that is not in the list, with what there is and which of
 * it may be meant. `what` is "read" or "write". */
DTX_MUSTUSE enum dtx_code dtx_formats_unknown(const char *format, const char *list,
                                              const char *what, struct dtx_err *err);

#endif
