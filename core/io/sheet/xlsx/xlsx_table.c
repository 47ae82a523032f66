/* Reads the tables of a workbook: parts to which worksheets refer. */
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/io/sheet/xlsx/xlsx.h"

struct search {
	struct dtx_xlsx *book;
	uint32_t sheet;
	size_t cap;
	const struct dtx_zip_entry *found[DTX_BOOK_TABLES_MAX];
	uint32_t nfound;
};

static uint32_t attr_count(const struct dtx_xml *x, const char *name, uint32_t absent)
{
	struct dtx_str s = dtx_xml_attr(x, name);
	int64_t v;

	if (!s.len || !dtx_num_parse_i64(s.ptr, s.len, &v))
		return absent;
	return v < 0 ? 0 : (uint32_t)DTX_MIN(v, (int64_t)8);
}

/* Adds the <table> that was just started. */
static enum dtx_code add_table(struct search *s, const struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &s->book->head;
	struct dtx_str name = dtx_xml_attr(x, "displayName"), plain = dtx_xml_attr(x, "name");
	struct dtx_book_table t = { .sheet = s->sheet };

	if (!dtx_cell_range_parse(dtx_xml_attr(x, "ref"), &t.range))
		goto out;
	t.header_rows = attr_count(x, "headerRowCount", 1);
	t.totals_rows = attr_count(x, "totalsRowCount", 0);
	name = name.len ? name : plain;
	t.name = dtx_arena_strndup(&b->arena, name.ptr, name.len);
	if (!t.name || !dtx_mem_reserve(&b->table, &s->cap, b->ntables + 1, sizeof(*b->table)))
		DTX_FAIL_MEM(err);
	b->table[b->ntables++] = t;
out:
	return rc;
}

static enum dtx_code read_table(struct search *s, const struct dtx_zip_entry *e,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;

	DTX_TRY(dtx_xlsx_part_open(s->book, e, &part, err));
	do {
		DTX_TRY(dtx_xml_next(x, err));
	} while (x->kind != DTX_XML_START && x->kind != DTX_XML_EOF);
	if (x->kind == DTX_XML_START && dtx_xml_is(x, "table"))
		DTX_TRY(add_table(s, x, err));
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

static enum dtx_code on_rel(void *arg, const struct dtx_xlsx_rel *rel, struct dtx_err *err)
{
	struct search *s = arg;

	if (!rel->target || !dtx_str_is(rel->type, "table"))
		return DTX_OK;
	if (s->nfound + s->book->head.ntables == DTX_BOOK_TABLES_MAX)
		return dtx_archive_limits_fixed(err, "tables", "'%s': over %d tables",
		                                s->book->head.label, DTX_BOOK_TABLES_MAX);
	s->found[s->nfound++] = rel->target;
	return DTX_OK;
}

enum dtx_code dtx_xlsx_tables_read(struct dtx_book *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct search s = { .book = (struct dtx_xlsx *)head };
	uint32_t i;

	for (s.sheet = 0; s.sheet < head->nsheets; s.sheet++) {
		const struct dtx_sheet *sheet = &head->sheet[s.sheet];

		if (sheet->kind != DTX_SHEET_WORKSHEET || !sheet->part)
			continue;
		s.nfound = 0;
		DTX_TRY(dtx_xlsx_rels(s.book, sheet->part->name, on_rel, &s, err));
		for (i = 0; i < s.nfound; i++)
			DTX_TRY(read_table(&s, s.found[i], err));
	}
out:
	return rc;
}
