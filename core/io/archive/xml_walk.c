/* Helpers for readers of XML parts: skip an element, take its text, look up an attribute. */
#include "core/io/archive/xml.h"

enum dtx_code dtx_xml_skip(struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	do {
		DTX_TRY(dtx_xml_next(x, err));
	} while (x->kind != DTX_XML_END || x->depth >= depth);
out:
	return rc;
}

enum dtx_code dtx_xml_text(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_TEXT && x->depth == depth)
			dtx_buf_adds(out, x->text);
		DTX_TRY(dtx_buf_check(out, "text of an element", err));
	}
out:
	return rc;
}

struct dtx_str dtx_xml_attr(const struct dtx_xml *x, const char *name)
{
	unsigned i;

	for (i = 0; i < x->nattr; i++) {
		if (dtx_str_is(x->attr[i].full, name))
			return x->attr[i].value;
	}
	return (struct dtx_str){ NULL, 0 };
}

struct dtx_str dtx_xml_attr_ns(const struct dtx_xml *x, const char *name)
{
	unsigned i;

	for (i = 0; i < x->nattr; i++) {
		if (x->attr[i].full.len != x->attr[i].name.len && dtx_str_is(x->attr[i].name, name))
			return x->attr[i].value;
	}
	return (struct dtx_str){ NULL, 0 };
}

bool dtx_xml_bool(struct dtx_str value, bool *out)
{
	static const char *const word[] = { "0", "1", "false", "true", "off", "on", "f", "t" };
	size_t i;

	value = dtx_str_trim(value);
	for (i = 0; i < DTX_COUNT(word); i++) {
		if (!dtx_str_ieq(value, dtx_str_of(word[i])))
			continue;
		*out = i & 1;
		return true;
	}
	return false;
}
