/* Writes FlatBuffers. See flatbuf_write.h. */
#include "core/io/arrow/flatbuf_write.h"

static const char zeros[64];

static void add_zeros(struct dtx_fbw *w, size_t n)
{
	for (; n > sizeof(zeros); n -= sizeof(zeros))
		dtx_buf_addn(w->to, zeros, sizeof(zeros));
	dtx_buf_addn(w->to, zeros, n);
}

/* Fills up to a place that is `rest` after a multiple of 8, and returns it. */
static size_t align(struct dtx_fbw *w, size_t rest)
{
	add_zeros(w, (8 + rest - (w->to->len - w->start) % 8) % 8);
	return w->to->len - w->start;
}

struct dtx_fbw dtx_fbw_open(struct dtx_buf *to)
{
	struct dtx_fbw w = { to, to->len };

	add_zeros(&w, 4);
	return w;
}

void dtx_fbw_set(struct dtx_fbw *w, size_t at, int64_t v, size_t size)
{
	for (size_t i = 0; dtx_buf_ok(w->to) && i < size; i++)
		w->to->ptr[w->start + at + i] = (char)((uint64_t)v >> 8 * i & 0xff);
}

static void refer(struct dtx_fbw *w, size_t from, size_t to)
{
	dtx_fbw_set(w, from, (int64_t)(to - from), 4);
}

/* The list of the fields' places comes before the table. After the distance back to the list, which
 * has 4 bytes, the table has the fields of 8 bytes first, which are then at multiples of 8. */
void dtx_fbw_table(struct dtx_fbw *w, size_t from, const char *sizes, size_t field[DTX_FBW_FIELDS])
{
	size_t n = strlen(sizes), list, table, at = 4;

	align(w, (8 - (4 + 2 * n) % 8 + 4) % 8);
	list = w->to->len - w->start;
	add_zeros(w, 4 + 2 * n);
	table = w->to->len - w->start;
	for (size_t size = 8; size; size /= 2) {
		for (size_t i = 0; i < n; i++) {
			if ((size_t)(sizes[i] - '0') != size)
				continue;
			field[i] = table + at;
			dtx_fbw_set(w, list + 4 + 2 * i, (int64_t)at, 2);
			at += size;
		}
	}
	add_zeros(w, at);
	dtx_fbw_set(w, list, (int64_t)(4 + 2 * n), 2);
	dtx_fbw_set(w, list + 2, (int64_t)at, 2);
	dtx_fbw_set(w, table, (int64_t)(table - list), 4);
	refer(w, from, table);
}

size_t dtx_fbw_items(struct dtx_fbw *w, size_t from, uint32_t n, size_t item)
{
	size_t at = align(w, 4);

	add_zeros(w, 4 + n * item);
	dtx_fbw_set(w, at, n, 4);
	refer(w, from, at);
	return at + 4;
}

void dtx_fbw_text(struct dtx_fbw *w, size_t from, struct dtx_str s)
{
	size_t at = align(w, 0);

	add_zeros(w, 4);
	dtx_fbw_set(w, at, (int64_t)s.len, 4);
	refer(w, from, at);
	dtx_buf_adds(w->to, s);
	add_zeros(w, 1);
}
