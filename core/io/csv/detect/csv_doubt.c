/* If the dialect was detected from samples of the text and a record does not fit, the whole text is
 * looked at, once. */
#include <stdio.h>

#include "core/io/csv/csv.h"
#include "core/io/repair.h"

static bool same_dialect(const struct dtx_dialect *a, const struct dtx_dialect *b)
{
	return !strcmp(a->delim, b->delim) && a->runs == b->runs && a->quote == b->quote &&
	       a->escape == b->escape && a->trim == b->trim;
}

static void advise(const struct dtx_dialect *d, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1024);
	char delimiter[8];

	dtx_dialect_delimiter(d, delimiter);
	dtx_buf_add(&text, "{\"delimiter\":");
	dtx_buf_json(&text, dtx_str_of(delimiter));
	dtx_buf_add(&text, ",\"quote\":");
	dtx_buf_json(&text, (struct dtx_str){ &d->quote, d->quote != 0 });
	if (d->escape) {
		dtx_buf_add(&text, ",\"escape\":");
		dtx_buf_json(&text, (struct dtx_str){ &d->escape, 1 });
	}
	dtx_buf_printf(&text, ",\"trim\":%s}", d->trim ? "true" : "false");
	dtx_repair_advise(err, "%s", dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

enum dtx_code dtx_csv_doubt(struct dtx_csv *c, size_t byte, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->text.data, c->enc.len };
	struct dtx_dialect d;

	if (!c->dialect.partial)
		return DTX_OK;
	pthread_mutex_lock(&c->doubt);
	if (c->settled)
		goto out;
	/* An ambiguous text still has a best dialect. */
	rc = dtx_dialect_find(&c->opts, text, true, dtx_source_name(c->head.src), &d, NULL);
	if ((rc != DTX_OK && rc != DTX_E_AMBIGUOUS_DIALECT) || same_dialect(&d, &c->dialect)) {
		c->settled = true;
		rc = DTX_OK;
		goto out;
	}
	rc = dtx_err_set(err, DTX_E_RESNIFF, __FILE__, __LINE__,
	                 "'%s': its first part looked otherwise", dtx_source_name(c->head.src));
	dtx_csv_set_position(c, byte, err);
	advise(&d, err);
out:
	pthread_mutex_unlock(&c->doubt);
	return rc;
}
