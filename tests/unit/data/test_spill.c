/* Batches on disk read the same as they did in memory. */
#include <signal.h>
#include <sys/resource.h>

#include "core/base/memory/mem.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/spill/spill.h"
#include "tests/t.h"

#define ROWS 1000u

static const struct dtx_field spill_fields[] = {
	{ .name = "n", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "t", .type = { DTX_T_TEXT, 0, 0 } },
	{ .name = "b", .type = { DTX_T_BOOL, 0, 0 } },
	{ .name = "d", .type = { DTX_T_DATE, 0, 0 } },
	{ .name = "c", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "w", .type = { DTX_T_TEXT, 0, 0 } },
};
static const struct dtx_schema spill_schema = { .nfields = DTX_COUNT(spill_fields),
	                                        .field = spill_fields };

static void put_cell(struct dtx_builder *b, uint32_t i, uint32_t row)
{
	char text[64];

	if (row % 7 == i) {
		dtx_builder_null(b);
		return;
	}
	snprintf(text, sizeof(text), row % 3 ? "short" : "a text that is not inline %u", row);
	switch (i) {
	case 1: dtx_builder_text(b, dtx_str_of(text)); break;
	case 2: dtx_builder_bool(b, row % 2); break;
	case 3: dtx_builder_day(b, (int32_t)row); break;
	default: dtx_builder_i64(b, row); break;
	}
}

/* Cells of a workbook, whose strings are not in the order of the rows and are used several times.
 */
static enum dtx_code make_cells(struct dtx_column **out, struct dtx_err *err)
{
	static const struct dtx_str item[] = { { "not used", 8 },
		                               { "b", 1 },
		                               { "", 0 },
		                               { "2024-03-01", 10 },
		                               { "a text of its own", 17 } };
	static const struct dtx_strings strings = { item, DTX_COUNT(item), true };
	static const uint8_t kinds[] = { DTX_CELL_TEXT,  DTX_CELL_NUMBER, DTX_CELL_ISO,
		                         DTX_CELL_BLANK, DTX_CELL_BOOL,   DTX_CELL_DATE };
	static uint8_t tag[ROWS];
	enum dtx_code rc = DTX_OK;
	union dtx_payload *p = dtx_mem_zalloc(ROWS, sizeof(*p));
	struct dtx_owner *owner = p ? dtx_owner_take(p) : NULL;

	if (!owner)
		DTX_FAIL_MEM(err);
	for (uint32_t row = 0; row < ROWS; row++) {
		tag[row] = kinds[row % DTX_COUNT(kinds)];
		if (tag[row] == DTX_CELL_TEXT)
			p[row].id = row % 4 ? 1 : row % 9 ? 2 : 4;
		else if (tag[row] == DTX_CELL_ISO)
			p[row].id = 3;
		else if (tag[row] == DTX_CELL_BOOL)
			p[row].id = row % 4 == 0;
		else
			p[row].num = row;
	}
	*out = dtx_column_new(DTX_F_CELL, spill_fields[5].type, ROWS, owner);
	if (!*out)
		DTX_FAIL_MEM(err);
	(*out)->tag = tag;
	(*out)->v.payload = p;
	(*out)->strings = &strings;
	(*out)->nulls = UINT32_MAX;
out:
	return rc;
}

static enum dtx_code make_batch(struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(&spill_schema, ROWS, &b, err));
	for (uint32_t i = 0; i < 4; i++) {
		struct dtx_builder cell;

		dtx_builder_init(&cell, spill_fields[i].type, ROWS);
		for (uint32_t row = 0; row < ROWS; row++)
			put_cell(&cell, i, row);
		DTX_TRY(dtx_builder_finish(&cell, NULL, &b->col[i], err));
	}
	DTX_TRY(dtx_column_nulls(spill_fields[4].type, ROWS, &b->col[4], err));
	DTX_TRY(make_cells(&b->col[5], err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static void print_batch(const struct dtx_batch *b, struct dtx_buf *out)
{
	for (uint32_t row = 0; row < b->nrows; row++)
		for (uint32_t i = 0; i < b->ncols; i++) {
			if (dtx_column_is_null(b->col[i], row))
				dtx_buf_add(out, "null");
			else
				dtx_cast_print(b->col[i], row, out);
			dtx_buf_addc(out, i + 1 < b->ncols ? ',' : '\n');
		}
}

void test_spill_batch_reads_the_same(void)
{
	struct dtx_buf before = DTX_BUF_INIT(1 << 24), after = DTX_BUF_INIT(1 << 24);
	struct dtx_spill_count count = { 0 };
	struct dtx_batch *b = NULL;
	struct dtx_spill *s = NULL;
	size_t used;

	T_OK(make_batch(&b, NULL), NULL);
	print_batch(b, &before);
	used = dtx_mem_used();
	T_OK(dtx_spill_new(&s, NULL), NULL);
	T_OK(dtx_spill_batch(s, b, &count, NULL), NULL);
	T_CHECK(dtx_mem_used() < used);
	/* owners outlive the spill */
	dtx_spill_free(s);
	print_batch(b, &after);
	T_CHECK(before.len == after.len && !memcmp(before.ptr, after.ptr, before.len));
	T_INT(count.rows, ROWS);
	T_CHECK(count.bytes > ROWS * 20);
	/* of the strings only those that cells have went to disk */
	T_INT(b->col[5]->strings->n, 4);
	dtx_batch_free(b);
	dtx_buf_clear(&before);
	dtx_buf_clear(&after);
}

static enum dtx_code make_and_spill(void)
{
	struct dtx_batch *b = NULL;
	struct dtx_spill *s = NULL;
	enum dtx_code rc = make_batch(&b, NULL);

	if (rc == DTX_OK)
		rc = dtx_spill_new(&s, NULL);
	if (rc == DTX_OK)
		rc = dtx_spill_batch(s, b, NULL, NULL);
	dtx_spill_free(s);
	dtx_batch_free(b);
	return rc;
}

void test_spill_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(make_and_spill());
}

void test_spill_disk_full(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct rlimit old, small;
	struct dtx_batch *b = NULL;
	struct dtx_spill *s = NULL;
	void (*was)(int);

	T_OK(make_batch(&b, NULL), NULL);
	T_OK(dtx_spill_new(&s, NULL), NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ 4096, old.rlim_max };
	was = signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	T_CODE(dtx_spill_batch(s, b, NULL, &err), DTX_E_DISK_FULL, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, was);
	T_CHECK(strstr(err.msg, "cannot write to a temporary file in") != NULL);
	T_CHECK(strstr(err.hint, "$TMPDIR") != NULL);
	dtx_err_clear(&err);
	dtx_batch_free(b);
	dtx_spill_free(s);
}

/* Without a budget nothing leaves memory. */
void test_spill_only_with_a_budget(void)
{
	struct dtx_spill *s = NULL;
	size_t limit = dtx_mem_limit();

	T_OK(dtx_spill_new(&s, NULL), NULL);
	dtx_mem_set_limit(0);
	T_CHECK(!dtx_spill_tables(s) && !dtx_spill_states(s));
	dtx_mem_set_limit(dtx_mem_used() * 3);
	T_CHECK(dtx_spill_tables(s) && !dtx_spill_states(s));
	dtx_mem_set_limit(dtx_mem_used() + dtx_mem_used() / 2);
	T_CHECK(dtx_spill_tables(s) && dtx_spill_states(s));
	T_CHECK(!dtx_spill_tables(NULL));
	dtx_mem_set_limit(limit);
	dtx_spill_free(s);
}
