/* Checks the declared members of a dialect and lets the others be detected. */
#include "core/io/csv/detect/dialect.h"

#include <stdio.h>

#include "core/io/csv/csv.h"

static const char *const dialect_quote_modes[] = { "literal", "strict", "lenient", "lines" };
/* Delimiters that are not bytes. The index, from 1, is the least number of blanks. */
static const char *const dialect_runs[] = { "", "blanks", "blanks2" };

static enum dtx_code dialect_byte(const char *name, const char *text, char *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = 0;
	if (!text || !text[0])
		goto out;
	if (text[1] || text[0] == '\n' || text[0] == '\r' || (unsigned char)text[0] >= 0x80)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "%s '%s' is not one ASCII byte", name, text);
	*out = text[0];
out:
	return rc;
}

static enum dtx_code dialect_declared(const struct dtx_read_opts *o, struct dtx_dialect *d,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	DTX_TRY(dialect_byte("quote", o->quote, &d->quote, err));
	DTX_TRY(dialect_byte("escape", o->escape, &d->escape, err));
	DTX_TRY(dialect_byte("terminator", o->terminator, &d->ending, err));
	d->comment = o->comment && o->comment[0] ? o->comment : NULL;
	d->trim = o->trim;
	d->mixed = o->mixed;
	for (i = 0; o->quotes && i < DTX_COUNT(dialect_quote_modes); i++) {
		if (!strcmp(o->quotes, dialect_quote_modes[i]))
			d->quotes = (enum dtx_quotes)i;
	}
	if (o->quotes && strcmp(o->quotes, dialect_quote_modes[d->quotes]))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "quotes '%s' is not literal, strict, lenient or lines", o->quotes);
	if (!o->delimiter)
		goto out;
	for (i = 1; i < DTX_COUNT(dialect_runs); i++) {
		if (!strcmp(o->delimiter, dialect_runs[i]))
			d->runs = (unsigned)i;
	}
	if (d->runs) {
		d->delim[0] = ' ';
		goto out;
	}
	if (strlen(o->delimiter) > 4 || strpbrk(o->delimiter, "\r\n") ||
	    (d->quote && strchr(o->delimiter, d->quote)))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "delimiter '%s' is not 1 to 4 bytes without quote and line end",
		         o->delimiter);
	snprintf(d->delim, sizeof(d->delim), "%s", o->delimiter);
out:
	return rc;
}

void dtx_dialect_delimiter(const struct dtx_dialect *d, char out[8])
{
	snprintf(out, 8, "%s", d->runs ? dialect_runs[d->runs] : d->delim);
}

enum dtx_code dtx_dialect_find(const struct dtx_read_opts *opts, struct dtx_str text, bool all,
                               const char *path, struct dtx_dialect *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts o = *opts;

	memset(out, 0, sizeof(*out));
	if (o.escape && o.escape[0] && !strcmp(o.escape, o.quote ? o.quote : "\""))
		o.escape = NULL; /* a quote that escapes itself is the default */
	o.delimiter = dtx_csv_delimiter(&o);
	DTX_TRY(dialect_declared(&o, out, err));
	if (!o.delimiter || !o.quote)
		DTX_TRY(dtx_dialect_search(&o, text, all, path, out, err));
out:
	return rc;
}

bool dtx_dialect_is_plain(const struct dtx_dialect *d)
{
	bool one_byte = !d->delim[0] || !d->delim[1];

	/* Spans can only store quotes that are doubled as "". */
	return one_byte && !d->runs && !d->ending && (!d->quote || d->quote == '"') && !d->escape &&
	       !d->trim && !d->mixed && !d->comment && d->quotes != DTX_QUOTES_LENIENT;
}
