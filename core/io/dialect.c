/* Declared parts of a dialect are checked, the others found by trying the usual ones. */
#include "core/io/dialect.h"

#include <math.h>
#include <stdio.h>

#include "core/io/repair.h"
#include "core/io/sniff.h"

#define DIALECT_SAMPLE    ((size_t)64 << 10)
#define DIALECT_TIE       1e-9
#define DIALECT_RIVAL     0.9  /* another delimiter this close to the best: ambiguous */
#define DIALECT_POOR      0.15 /* below, blank is tried as delimiter */
#define DIALECT_IRREGULAR 0.05 /* share of apostrophes that may not be quotes */

static const char *const dialect_delims[] = { "", ",", ";", "\t", "|" };
static const char dialect_quotes[] = { '"', 0, '\'' };

static const char *const dialect_quote_modes[] = { "literal", "strict", "lenient" };

enum dialect_variant { DIALECT_PLAIN, DIALECT_ESCAPE, DIALECT_TRIM, DIALECT_VARIANTS };

struct dialect_try {
	struct dtx_sniff_dialect d;
	struct dtx_sniff_score s;
};
struct dialect_search {
	const struct dtx_read_opts *opts;
	struct dtx_str sample;
	bool whole;
	struct dialect_try best, second; /* second: another delimiter */
};

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
	d->comment = o->comment && o->comment[0] ? o->comment : NULL;
	d->trim = o->trim;
	for (i = 0; o->quotes && i < DTX_COUNT(dialect_quote_modes); i++) {
		if (!strcmp(o->quotes, dialect_quote_modes[i]))
			d->quotes = (enum dtx_quotes)i;
	}
	if (o->quotes && strcmp(o->quotes, dialect_quote_modes[d->quotes]))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "quotes '%s' is not literal, strict or lenient", o->quotes);
	if (!o->delimiter)
		goto out;
	if (strlen(o->delimiter) > 4 || strpbrk(o->delimiter, "\r\n") ||
	    (d->quote && strchr(o->delimiter, d->quote)))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "delimiter '%s' is not 1 to 4 bytes without quote and line end",
		         o->delimiter);
	snprintf(d->delim, sizeof(d->delim), "%s", o->delimiter);
out:
	return rc;
}

static bool dialect_better(const struct dialect_try *a, const struct dialect_try *b)
{
	if (fabs(a->s.score - b->s.score) > DIALECT_TIE)
		return a->s.score > b->s.score;
	return !strcmp(a->d.delim, b->d.delim) && a->s.quoted > b->s.quoted;
}

static void dialect_offer(struct dialect_search *f, const struct dialect_try *t)
{
	bool same = !strcmp(t->d.delim, f->best.d.delim);

	if (dialect_better(t, &f->best)) {
		if (!same && f->best.s.modal > 1)
			f->second = f->best;
		f->best = *t;
	} else if (!same && t->s.modal > 1 && t->s.score > f->second.s.score) {
		f->second = *t;
	}
}

static bool dialect_has(struct dtx_str s, const char *what)
{
	return dtx_str_find(s, dtx_str_of(what), 0) >= 0;
}

/* Blanks between a delimiter and a quote: then trimming may explain the quotes. */
static bool dialect_blank_quote(struct dtx_str s, char quote)
{
	char pair[3] = { ' ', quote, 0 };

	return dialect_has(s, pair);
}

static bool dialect_possible(const struct dialect_search *f, enum dialect_variant v,
                             const struct dialect_try *plain)
{
	const struct dtx_read_opts *o = f->opts;

	switch (v) {
	case DIALECT_ESCAPE: return !o->escape && plain->s.quoted && dialect_has(f->sample, "\\");
	case DIALECT_TRIM: return !o->trim && dialect_blank_quote(f->sample, plain->d.quote);
	default: return true;
	}
}

static void dialect_try_quote(struct dialect_search *f, const char *delim, char quote)
{
	struct dialect_try plain = { .d = { .quote = quote, .trim = f->opts->trim } }, t;
	int v;

	snprintf(plain.d.delim, sizeof(plain.d.delim), "%s", delim);
	if (f->opts->escape)
		plain.d.escape = f->opts->escape[0];
	dtx_sniff_score(f->sample, f->whole, &plain.d, &plain.s);
	if (quote == '\'' && !f->opts->quote &&
	    (double)plain.s.irregular >
	            DIALECT_IRREGULAR * (double)(plain.s.irregular + 2 * plain.s.quoted))
		return;
	dialect_offer(f, &plain);
	for (v = DIALECT_ESCAPE; quote && v < DIALECT_VARIANTS; v++) {
		if (!dialect_possible(f, (enum dialect_variant)v, &plain))
			continue;
		t = plain;
		t.d.escape = v == DIALECT_ESCAPE ? '\\' : t.d.escape;
		t.d.trim = v == DIALECT_TRIM || t.d.trim;
		dtx_sniff_score(f->sample, f->whole, &t.d, &t.s);
		dialect_offer(f, &t);
	}
}

static void dialect_try_delim(struct dialect_search *f, const char *delim)
{
	char one[2] = { 0, 0 };
	size_t i;

	if (f->opts->quote) {
		dialect_try_quote(f, delim, f->opts->quote[0]);
		return;
	}
	for (i = 0; i < DTX_COUNT(dialect_quotes); i++) {
		one[0] = dialect_quotes[i];
		if (i && !one[0] && !dialect_has(f->sample, "\""))
			continue; /* no quote at all: the first candidate says it */
		if (one[0] == '\'' && !dialect_has(f->sample, one))
			continue;
		dialect_try_quote(f, delim, one[0]);
	}
}

/* Blanks as delimiter, when the usual ones explain nothing. */
static void dialect_try_blank(struct dialect_search *f)
{
	struct dialect_search blank = *f;
	uint32_t w;

	if (f->best.s.modal > 1 && f->best.s.score >= DIALECT_POOR)
		return;
	memset(&blank.best, 0, sizeof(blank.best));
	dialect_try_delim(&blank, " ");
	w = blank.best.s.modal;
	if (w >= 3 && blank.best.s.consistency >= (double)(w - 1) / w / 2 &&
	    blank.best.s.score > f->best.s.score)
		f->best = blank.best;
}

static const char *dialect_show(const char *delim)
{
	return strcmp(delim, "\t") ? delim : "\\t";
}

static enum dtx_code dialect_sniff(struct dialect_search *f, const char *path,
                                   struct dtx_dialect *d, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	f->best.s.score = -1;
	if (f->opts->delimiter)
		dialect_try_delim(f, d->delim);
	for (i = 0; !f->opts->delimiter && i < DTX_COUNT(dialect_delims); i++) {
		if (!i || dialect_has(f->sample, dialect_delims[i]))
			dialect_try_delim(f, dialect_delims[i]);
	}
	if (!f->opts->delimiter)
		dialect_try_blank(f);
	memcpy(d->delim, f->best.d.delim, sizeof(d->delim));
	memcpy(d->runner_up, f->second.d.delim, sizeof(d->runner_up));
	d->quote = f->best.d.quote;
	d->escape = f->best.d.escape;
	d->trim = f->best.d.trim;
	d->score = f->best.s.score;
	if (f->best.s.modal > 1 && f->second.s.score >= DIALECT_RIVAL * f->best.s.score &&
	    f->second.s.score > 0) {
		rc = dtx_err_set(err, DTX_E_AMBIGUOUS_DIALECT, __FILE__, __LINE__,
		                 "'%s': '%s' gives %u columns, '%s' %u, equally well", path,
		                 dialect_show(d->delim), f->best.s.modal,
		                 dialect_show(f->second.d.delim), f->second.s.modal);
		dtx_err_hint(err, "say which: \"dialect\": {\"delimiter\": \"%s\"}",
		             dialect_show(d->delim));
		dtx_repair_advise(err, "{\"delimiter\":\"%s\"}", dialect_show(d->delim));
	}
	return rc;
}

enum dtx_code dtx_dialect_find(const struct dtx_read_opts *opts, struct dtx_str text,
                               const char *path, struct dtx_dialect *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dialect_search f = { .opts = opts,
		                    .sample = { text.ptr, DTX_MIN(text.len, DIALECT_SAMPLE) },
		                    .whole = text.len <= DIALECT_SAMPLE };

	memset(out, 0, sizeof(*out));
	if (opts->escape && opts->escape[0] &&
	    !strcmp(opts->escape, opts->quote ? opts->quote : "\"")) {
		struct dtx_read_opts doubled =
			*opts; /* a quote that escapes itself is the default */

		doubled.escape = NULL;
		DTX_TRY(dtx_dialect_find(&doubled, text, path, out, err));
		goto out;
	}
	DTX_TRY(dialect_declared(opts, out, err));
	if (opts->delimiter && opts->quote)
		goto out;
	if (opts->format && !strcmp(opts->format, "tsv") && !opts->delimiter) {
		struct dtx_read_opts tab = *opts;

		tab.delimiter = "\t";
		DTX_TRY(dtx_dialect_find(&tab, text, path, out, err));
		goto out;
	}
	DTX_TRY(dialect_sniff(&f, path, out, err));
out:
	return rc;
}

bool dtx_dialect_is_plain(const struct dtx_dialect *d)
{
	bool one_byte = !d->delim[0] || !d->delim[1];

	/* Spans double their quote as "" does. */
	return one_byte && (!d->quote || d->quote == '"') && !d->escape && !d->trim &&
	       !d->comment && d->quotes != DTX_QUOTES_LENIENT;
}
