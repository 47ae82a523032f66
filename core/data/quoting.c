/* See quoting.h. */
#include "core/data/quoting.h"

void dtx_quoting_init(struct dtx_quoting *q, char delim, char quote)
{
	*q = (struct dtx_quoting){ .quote = quote };
	q->special[(unsigned char)delim] = true;
	q->special[(unsigned char)quote] = true;
	q->special['\r'] = q->special['\n'] = true;
}

void dtx_quoting_put(const struct dtx_quoting *q, struct dtx_str text, struct dtx_buf *out)
{
	const char *p = text.ptr, *end = p + text.len, *at;

	dtx_buf_addc(out, q->quote);
	while (p < end && (at = memchr(p, q->quote, (size_t)(end - p)))) {
		dtx_buf_addn(out, p, (size_t)(at - p) + 1);
		dtx_buf_addc(out, q->quote);
		p = at + 1;
	}
	dtx_buf_addn(out, p, (size_t)(end - p));
	dtx_buf_addc(out, q->quote);
}
