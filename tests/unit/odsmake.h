/* Makes small .ods workbooks in memory of the XML inside <office:spreadsheet>. */
#ifndef TESTS_UNIT_ODSMAKE_H
#define TESTS_UNIT_ODSMAKE_H

#include "tests/unit/bookmake.h"

/* Styles: d a date, t a clock, o hours beyond a day, b bold, x hidden (of a table), p goes back to
 * b and has the format of d. */
#define ODS_STYLES                                                                                 \
	"<office:automatic-styles>"                                                                \
	"<number:date-style style:name=\"D\"><number:day number:style=\"long\"/><number:text>. "   \
	"</number:text><number:month number:textual=\"true\"/></number:date-style>"                \
	"<number:time-style style:name=\"T\"><number:hours/><number:text>:</number:text>"          \
	"<number:minutes number:style=\"long\"/></number:time-style>"                              \
	"<number:time-style style:name=\"O\" number:truncate-on-overflow=\"false\">"               \
	"<number:hours/><number:text>h</number:text></number:time-style>"                          \
	"<style:style style:name=\"d\" style:family=\"table-cell\" "                               \
	"style:data-style-name=\"D\"/>"                                                            \
	"<style:style style:name=\"t\" style:family=\"table-cell\" "                               \
	"style:data-style-name=\"T\"/>"                                                            \
	"<style:style style:name=\"o\" style:family=\"table-cell\" "                               \
	"style:data-style-name=\"O\"/>"                                                            \
	"<style:style style:name=\"b\" style:family=\"table-cell\"><style:text-properties "        \
	"fo:font-weight=\"bold\"/></style:style>"                                                  \
	"<style:style style:name=\"p\" style:family=\"table-cell\" "                               \
	"style:parent-style-name=\"b\" style:data-style-name=\"D\"/>"                              \
	"<style:style style:name=\"x\" style:family=\"table\"><style:table-properties "            \
	"table:display=\"false\"/></style:style></office:automatic-styles>"

static inline void ods_make(const char *tables, const char *manifest, struct dtx_buf *out)
{
	struct dtx_buf content = DTX_BUF_INIT((size_t)1 << 28);
	struct zip_part p[] = {
		{ .name = "mimetype",
		  .text = "application/vnd.oasis.opendocument.spreadsheet",
		  .stored = true },
		{ .name = "content.xml" },
		{ .name = "META-INF/manifest.xml", .text = manifest },
	};

	dtx_buf_add(&content,
	            "<office:document-content>" ODS_STYLES "<office:body><office:spreadsheet>");
	dtx_buf_add(&content, tables);
	dtx_buf_add(&content, "</office:spreadsheet></office:body></office:document-content>");
	p[1].text = dtx_buf_text(&content);
	zip_make(out, p, DTX_COUNT(p) - (manifest ? 0 : 1));
	dtx_buf_clear(&content);
}

#endif
