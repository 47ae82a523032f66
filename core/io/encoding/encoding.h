/* The text of a source as UTF-8. */
#ifndef DTX_IO_ENCODING_ENCODING_H
#define DTX_IO_ENCODING_ENCODING_H

#include "core/io/encoding/enc_guess.h"
#include "core/io/source/source.h"

struct dtx_encoding {
	const char *text;    /* without a byte order mark */
	size_t len, skipped; /* bytes of the mark */
	size_t padding;      /* NULs and an end-of-file mark behind the text, left out */
	char name[32];       /* "utf-8", "utf-16le", "windows-1252" ... */
	bool converted;      /* text is not the source's own bytes */
	bool checked;        /* all of it is known to be UTF-8 */
	bool assumed;        /* "auto:NAME" took NAME, since the bytes are not UTF-8 */
	bool part;           /* of a stream, whose byte and line its own first ones are: */
	int64_t byte0, line0;
	struct dtx_mend mended;  /* ":repair": what was done to bytes that do not fit */
	struct dtx_owner *owner; /* counted: keeps text alive */
};

/* declared: NULL or "auto", "auto:NAME", or a name that iconv knows.  bad_encoding when the bytes
 * do not fit; bad_param_value when nobody knows the name.  For "auto" only the first bytes are
 * checked here: see dtx_encoding_check.  "NAME:repair" reads on behind bytes that do not fit, and
 * counts them. */
DTX_MUSTUSE enum dtx_code dtx_encoding_open(struct dtx_source *src, const char *declared,
                                            struct dtx_encoding *out, struct dtx_err *err);
void dtx_encoding_clear(struct dtx_encoding *e);
/* The text is this dtx_mem block from now on, which is not the source's own bytes; takes it also on
 * failure. */
DTX_MUSTUSE enum dtx_code dtx_encoding_take(struct dtx_encoding *e, char *text, size_t len,
                                            struct dtx_err *err);
/* Bytes [from, to) of the text are UTF-8 without marks inside, else bad_encoding; nothing to do for
 * a text that is known to be. */
DTX_MUSTUSE enum dtx_code dtx_encoding_check(const struct dtx_encoding *e, const char *file,
                                             size_t from, size_t to, struct dtx_err *err);
/* What was read otherwise than the bytes say, as warnings. */
DTX_MUSTUSE enum dtx_code dtx_encoding_notes(const struct dtx_encoding *e,
                                             const struct dtx_source *src,
                                             struct dtx_errlist *diags, struct dtx_err *err);
/* Fails with bad_encoding for the byte at `at` of the text, with its line and what it would be in
 * other encodings. */
enum dtx_code dtx_encoding_fail(const struct dtx_encoding *e, const char *file, size_t at,
                                struct dtx_err *err);

#endif
