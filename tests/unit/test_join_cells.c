/* Joins that keep the right rows' short cells as records, and those whose cells cannot be. */
#include "tests/unit/planrun.h"

#define RIGHT 140000u
#define LEFT  30000u

/* Right row i has this key, as no other has; the least is 1. */
static unsigned key_of(unsigned i)
{
	return (unsigned)((uint64_t)i * 7919 % RIGHT) + 1;
}

enum style { SHORT, EMPTY, QUOTED, LONG_AT_LAST, LONG, STYLES };

static void add_cell(struct dtx_buf *out, enum style style, unsigned i)
{
	bool is_long = style == LONG || (style == LONG_AT_LAST && i + 10 == RIGHT);

	if (style == EMPTY && i % 3)
		return;
	if (style == QUOTED && i % 7 == 0)
		dtx_buf_printf(out, "\"a,%u\"", i % 100);
	else if (style == QUOTED && i % 7 == 1)
		dtx_buf_add(out, "\"say \"\"x\"\"\"");
	else
		dtx_buf_printf(out, "w%u%s", i,
		               is_long ? " and more than a record has room for" : "");
}

static void make_right(enum style style, unsigned factor, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,w,x\n");
	for (unsigned i = 0; i < RIGHT; i++) {
		dtx_buf_printf(out, "%u,", key_of(i) * factor);
		add_cell(out, style, i);
		dtx_buf_printf(out, ",%u\n", i % 1000);
	}
}

/* Keys beyond the right ones, none, and one below them. */
static unsigned left_key(unsigned i)
{
	return i * 5;
}

static bool left_has_key(unsigned i)
{
	return i % 1009 != 7;
}

static void add_left(struct dtx_buf *out, unsigned factor, unsigned i)
{
	if (left_has_key(i))
		dtx_buf_printf(out, "%u", left_key(i) * factor);
	dtx_buf_printf(out, ",%u", i);
}

static void make_left(unsigned factor, struct dtx_buf *out)
{
	dtx_buf_add(out, "k,v\n");
	for (unsigned i = 0; i < LEFT; i++) {
		add_left(out, factor, i);
		dtx_buf_add(out, "\n");
	}
}

static void make_joined(enum style style, unsigned factor, bool keep, struct dtx_buf *out)
{
	uint32_t *row = dtx_mem_zalloc(RIGHT + 1, sizeof(*row)); /* of a key, + 1 */

	T_CHECK(row);
	for (unsigned i = 0; row && i < RIGHT; i++)
		row[key_of(i)] = i + 1;
	dtx_buf_add(out, "k,v,w,x\n");
	for (unsigned i = 0; row && i < LEFT; i++) {
		unsigned key = left_key(i);
		unsigned at = left_has_key(i) && key <= RIGHT ? row[key] : 0;

		if (!at && !keep)
			continue;
		add_left(out, factor, i);
		dtx_buf_add(out, ",");
		if (at)
			add_cell(out, style, at - 1);
		dtx_buf_add(out, ",");
		if (at)
			dtx_buf_printf(out, "%u", (at - 1) % 1000);
		dtx_buf_add(out, "\n");
	}
	dtx_mem_free(row);
}

static void join(enum style style, unsigned factor, bool keep, unsigned workers, uint32_t rows)
{
	struct dtx_buf left = DTX_BUF_INIT(1 << 24), right = DTX_BUF_INIT(1 << 24),
		       want = DTX_BUF_INIT(1 << 24);
	struct planrun p;

	make_left(factor, &left);
	make_right(style, factor, &right);
	make_joined(style, factor, keep, &want);
	T_CHECK(dtx_buf_ok(&left) && dtx_buf_ok(&right) && dtx_buf_ok(&want));
	planrun_init(&p,
	             keep ? "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],"
	                    "\"steps\":[{\"op\":\"left_join\",\"with\":\"other\",\"on\":\"k\"}]}"
	                  : "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],"
	                    "\"steps\":[{\"op\":\"join\",\"with\":\"other\",\"on\":\"k\"}]}",
	             dtx_buf_text(&left));
	p.input[1] = dtx_buf_text(&right);
	p.workers = workers;
	p.batch_rows = rows;
	T_OK(planrun(&p), &p.err);
	if (strcmp(dtx_buf_text(&p.out), dtx_buf_text(&want)) != 0)
		t_fail(__FILE__, __LINE__, "style %d, keys times %u: other rows", (int)style,
		       factor);
	planrun_clear(&p);
	dtx_buf_clear(&left);
	dtx_buf_clear(&right);
	dtx_buf_clear(&want);
}

/* Keys that are numbers in a row, and such with holes between them. */
void test_join_cells(void)
{
	for (enum style style = 0; style < STYLES; style++) {
		join(style, 1, true, 2, 65536);
		join(style, 1, false, 1, 1000);
		join(style, 2, true, 1, 65536);
		join(style, 10007, false, 2, 1000);
	}
}
