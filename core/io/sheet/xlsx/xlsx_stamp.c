/* The run id that dtx stores in the properties of a workbook. */
#include "core/io/sheet/book_info.h"
#include "core/io/isolate/isolate.h"
#include "core/io/sheet/xlsx/xlsx.h"

/* Reads the text of the custom property dtx_run to `out`. */
static enum dtx_code find_stamp(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool inside = false;

	do {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind != DTX_XML_START)
			continue;
		if (dtx_xml_is(x, "property"))
			inside = dtx_str_is(dtx_xml_attr(x, "name"), "dtx_run");
		else if (inside && dtx_xml_is(x, "lpwstr")) {
			DTX_TRY(dtx_xml_text(x, out, err));
			goto out;
		}
	} while (x->kind != DTX_XML_EOF);
out:
	return rc;
}

enum dtx_code dtx_xlsx_run_id(struct dtx_source *src, char out[64], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx book = { .head = { .label = dtx_source_name(src),
		                           .limits = DTX_ARCHIVE_LIMITS_INIT } };
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_buf text = DTX_BUF_INIT(4096);
	const struct dtx_zip_entry *e;

	out[0] = '\0';
	if (!dtx_zip_sniff(dtx_source_data(src), dtx_source_size(src)) &&
	    !dtx_zip_behind(dtx_source_data(src), dtx_source_size(src)))
		goto out;
	if (!dtx_source_direct(src))
		return dtx_isolated_stamp(src, out, err);
	DTX_TRY(dtx_zip_open(&book.zip, book.head.label, dtx_source_data(src), dtx_source_size(src),
	                     &book.head.limits, err));
	e = dtx_zip_find(&book.zip, DTX_STR("docProps/custom.xml"));
	if (!e)
		goto out;
	DTX_TRY(dtx_xlsx_part_open(&book, e, &part, err));
	DTX_TRY(find_stamp(&part.xml, &text, err));
	dtx_str_copy(out, 64, dtx_buf_str(&text));
out:
	dtx_buf_clear(&text);
	dtx_xlsx_part_close(&part);
	dtx_xlsx_clear(&book);
	return rc;
}
