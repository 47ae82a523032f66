/* Makes small workbooks in memory: the XML of a sheet, and the parts around it. */
#ifndef TESTS_UNIT_BOOKMAKE_H
#define TESTS_UNIT_BOOKMAKE_H

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/io/reader.h"
#include "tests/unit/zipmake.h"

#define BOOK_NS "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""

/* Styles 0 General, 1 date, 2 datetime, 3 time, 4 [h]:mm:ss, 5 mmm-yy, 6 0.00 */
static const char book_styles[] =
	"<styleSheet " BOOK_NS "><numFmts count=\"1\"><numFmt numFmtId=\"164\" "
	"formatCode=\"yyyy\\-mm\\-dd\\ hh:mm\"/></numFmts><cellXfs count=\"99\"><xf "
	"numFmtId=\"0\"/>"
	"<xf numFmtId=\"14\"/><xf numFmtId=\"164\"/><xf numFmtId=\"20\"/><xf numFmtId=\"46\"/>"
	"<xf numFmtId=\"17\"/><xf numFmtId=\"2\"/></cellXfs></styleSheet>";
static const char book_strings[] =
	"<sst " BOOK_NS " count=\"4000000000\" uniqueCount=\"4000000000\"><si><t>name</t></si>"
	"<si><r><t>ri</t></r><r><rPr><b/></rPr><t>ch</t></r><rPh sb=\"0\" "
	"eb=\"1\"><t>no</t></rPh></si>"
	"<si><t xml:space=\"preserve\"> a_x000D_b_x005F_x &amp; </t></si><si><t/></si></sst>";

struct book {
	const char *sheet;       /* inside <worksheet> */
	const char *workbook_pr; /* "" */
	const char *styles;      /* NULL: book_styles */
	const char *strings;     /* NULL: book_strings */
	const char *table;       /* <table ...>; NULL: none */
	const char *target;      /* target of the sheet's relationship; NULL: an absolute one */
};

static inline void book_make(const struct book *b, struct dtx_buf *out)
{
	struct dtx_buf sheet = DTX_BUF_INIT((size_t)1 << 28), wb = DTX_BUF_INIT(4096);
	struct dtx_buf rels = DTX_BUF_INIT(4096);
	struct zip_part p[] = {
		{ .name = "_rels/.rels",
		  .text = "<Relationships><Relationship Id=\"rId1\" "
		          "Type=\"http://x/officeDocument\" "
		          "Target=\"xl/workbook.xml\"/></Relationships>" },
		{ .name = "xl/_rels/workbook.xml.rels" },
		{ .name = "xl/workbook.xml" },
		{ .name = "xl/styles.xml", .text = b->styles ? b->styles : book_styles },
		{ .name = "xl/sharedStrings.xml", .text = b->strings ? b->strings : book_strings },
		{ .name = "xl/worksheets/sheet1.xml" },
		{ .name = "xl/worksheets/_rels/sheet1.xml.rels",
		  .text = "<Relationships><Relationship Id=\"t1\" Type=\"http://x/table\" "
		          "Target=\"../tables/table1.xml\"/></Relationships>" },
		{ .name = "xl/tables/table1.xml", .text = b->table },
	};

	dtx_buf_printf(
		&wb,
		"<workbook " BOOK_NS " xmlns:r=\"http://r\"><workbookPr %s/><sheets>"
		"<sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets><definedNames>"
		"<definedName name=\"Area\">One!$A$2:$B$3</definedName></definedNames></workbook>",
		b->workbook_pr ? b->workbook_pr : "");
	dtx_buf_printf(&rels,
	               "<Relationships><Relationship Id=\"r1\" Type=\"http://x/worksheet\" "
	               "Target=\"%s\"/><Relationship Id=\"r2\" Type=\"http://x/styles\" "
	               "Target=\"styles.xml\"/><Relationship Id=\"r3\" "
	               "Type=\"http://x/sharedStrings\" Target=\"sharedStrings.xml\"/>"
	               "</Relationships>",
	               b->target ? b->target : "/xl/worksheets/./Sheet1.xml");
	dtx_buf_add(&sheet, "<worksheet " BOOK_NS ">");
	dtx_buf_add(&sheet, b->sheet);
	dtx_buf_add(&sheet, "</worksheet>");
	p[1].text = dtx_buf_text(&rels);
	p[2].text = dtx_buf_text(&wb);
	p[5].text = dtx_buf_text(&sheet);
	zip_make(out, p, DTX_COUNT(p) - (b->table ? 0 : 2));
	dtx_buf_clear(&sheet);
	dtx_buf_clear(&wb);
	dtx_buf_clear(&rels);
}

/* Prints "name:type,name:type", then one line per row: values separated by '|', "~" for null.  "
 * @3" is the physical row, printed if it does not directly follow the row before it.  Types come
 * from the schema. */
static inline enum dtx_code table_dump(struct dtx_reader *r, uint32_t batch_rows, bool values,
                                       struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *schema;
	struct dtx_batch *b = NULL;
	struct dtx_scan scan = { .limit = -1, .workers = 1, .batch_rows = batch_rows };
	uint8_t *need = NULL;
	uint64_t id, below = 0; /* below: the row before, + 1 */
	uint32_t i, c;

	DTX_TRY(r->cls->schema(r, &schema, err));
	need = dtx_mem_alloc(schema->nfields, 1);
	if (!need)
		DTX_FAIL_MEM(err);
	memset(need, values ? DTX_NEED_VALUE : DTX_NEED_BYTES, schema->nfields);
	scan.schema = schema;
	scan.need = need;
	for (c = 0; c < schema->nfields; c++)
		dtx_buf_printf(out, "%s%s:%s", c ? "," : "", schema->field[c].name,
		               dtx_type_name(schema->field[c].type.type));
	dtx_buf_addc(out, '\n');
	DTX_TRY(r->cls->start(r, &scan, err));
	for (;;) {
		DTX_TRY(r->cls->next(r, 0, &b, err));
		if (!b)
			break;
		for (i = 0; i < b->nrows; i++) {
			for (c = 0; c < b->ncols; c++) {
				struct dtx_column *col = b->col[c];

				if (values)
					DTX_TRY(dtx_batch_value(b, c, &col, err));
				if (c)
					dtx_buf_addc(out, '|');
				if (dtx_column_is_null(col, i))
					dtx_buf_addc(out, '~');
				else
					dtx_cast_print(col, i, out);
			}
			id = b->rec ? b->rec[i] : b->first_row + i;
			if (below && id != below)
				dtx_buf_printf(out, " @%u", (unsigned)id + 1);
			below = id + 1;
			dtx_buf_addc(out, '\n');
		}
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_mem_free(need);
	return rc;
}

/* The sum of all counts in the ledger. */
static inline int64_t ledger_sum(const struct dtx_read_stats *s)
{
	int64_t n = s->rows_out;
	int i;

	for (i = 0; i < DTX_DROP_COUNT; i++)
		n += s->dropped[i];
	return n;
}

/* Opens bytes and prints the table.  A ledger that does not balance is a bug. */
static inline enum dtx_code bytes_dump(const char *name, const struct dtx_buf *bytes,
                                       const struct dtx_read_opts *opts, uint32_t batch_rows,
                                       bool values, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;

	DTX_TRY(dtx_source_bytes(name, bytes->ptr, bytes->len, &src, err));
	DTX_TRY(dtx_reader_open(src, opts, &r, err));
	DTX_TRY(table_dump(r, batch_rows, values, out, err));
	if (ledger_sum(&r->stats) != r->stats.rows_read)
		DTX_FAIL(err, DTX_E_BUG, "the ledger does not balance");
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	return rc;
}

#endif
