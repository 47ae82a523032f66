/* The text of a source as UTF-8, whatever its encoding. */
#ifndef DTX_IO_ENCODING_ENCODING_H
#define DTX_IO_ENCODING_ENCODING_H

#include "core/io/encoding/enc_guess.h"
#include "core/io/source/source.h"

struct dtx_encoding {
	const char *text;    /* without a byte order mark */
	size_t len, skipped; /* bytes of the mark */
	size_t padding;      /* NULs and an end-of-file mark after the text, left out */
	char name[32];       /* "utf-8", "utf-16le", "windows-1252" ... */
	bool converted;      /* text is not a part of the source's bytes */
	bool checked;        /* all of it is known to be UTF-8 */
	bool assumed;        /* "auto:NAME" chose NAME because the bytes are not UTF-8 */
	bool part;           /* a part of a stream; byte0 and line0 are its place there */
	int64_t byte0, line0;
	struct dtx_mend mended;  /* with ":repair": what was changed in bytes that do not fit */
	struct dtx_owner *owner; /* counted; keeps text alive */
};

/* Opens the text of a source. `declared` is NULL or "auto", "auto:NAME", or a name that iconv
 * knows; with ":repair" it continues after bytes that do not fit, and counts them. For "auto",
 * only the first bytes are checked here, see dtx_encoding_check. The caller clears *out. Errors:
 * bad_encoding if the bytes do not fit, bad_param_value if the name is unknown. */
DTX_MUSTUSE enum dtx_code dtx_encoding_open(struct dtx_source *src, const char *declared,
                                            struct dtx_encoding *out, struct dtx_err *err);
void dtx_encoding_clear(struct dtx_encoding *e);
/* Replaces the text with another block of dtx_mem, which is taken also on failure. */
DTX_MUSTUSE enum dtx_code dtx_encoding_take(struct dtx_encoding *e, char *text, size_t len,
                                            struct dtx_err *err);
/* Checks that the bytes [from, to) of the text are UTF-8 without byte order marks inside. Does
 * nothing if that is known. Error: bad_encoding. */
DTX_MUSTUSE enum dtx_code dtx_encoding_check(const struct dtx_encoding *e, const char *file,
                                             size_t from, size_t to, struct dtx_err *err);
/* Adds warnings about everything that was read differently than its bytes say. */
DTX_MUSTUSE enum dtx_code dtx_encoding_notes(const struct dtx_encoding *e,
                                             const struct dtx_source *src,
                                             struct dtx_errlist *diags, struct dtx_err *err);
/* Fails with bad_encoding for the byte at `at` of the text, with its line and what it would be
 * in other encodings. */
enum dtx_code dtx_encoding_fail(const struct dtx_encoding *e, const char *file, size_t at,
                                struct dtx_err *err);

#endif
