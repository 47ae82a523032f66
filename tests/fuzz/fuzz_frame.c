/* Frames of a hostile worker: structure, values, the JSON of its report. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/frame/frame.h"
#include "core/data/frame/rawgrid.h"
#include "sandbox/main/report.h"

static void read_grid(const struct dtx_frame_view *view, const struct dtx_frame_entry *e)
{
	struct dtx_rawgrid g;

	dtx_rawgrid_init(&g);
	if (dtx_frame_grid(view, e, &g, NULL) == DTX_OK && dtx_rawgrid_check(&g, NULL) != DTX_OK)
		__builtin_trap(); /* what was taken is not what may be given */
	dtx_rawgrid_clear(&g);
}

/* What a reader process sends. */
static void read_cells(const struct dtx_frame_view *view, const struct dtx_frame_entry *e)
{
	const union dtx_payload *value;
	const uint8_t *tag;
	volatile uint64_t sum = 0;
	uint64_t i;

	if (dtx_frame_cells(view, e, e->rows, 2, &tag, &value, NULL) != DTX_OK)
		return;
	for (i = 0; i < e->rows; i++)
		sum += tag[i] + value[i].id;
}

static void read_strings(const struct dtx_frame_view *view, const struct dtx_frame_entry *e)
{
	struct dtx_str *text = e->rows < (1u << 20) ? dtx_mem_alloc(e->rows, sizeof(*text)) : NULL;
	uint64_t i;

	if (text && dtx_frame_strings(view, e, text, NULL) == DTX_OK) {
		for (i = 0; i < e->rows; i++) {
			if (dtx_utf8_bad(text[i].ptr, text[i].len) >= 0)
				__builtin_trap(); /* it was checked */
		}
	}
	dtx_mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	void *mem = dtx_mem_alloc64(size + 1, 1);
	uint32_t i;

	if (!mem)
		return 0;
	memcpy(mem, data, size);
	if (dtx_frame_open(mem, size, &view, NULL) != DTX_OK)
		goto out;
	for (i = 0; i < view.n; i++) {
		const struct dtx_frame_entry *e = &view.entry[i];
		struct dtx_table *t = NULL;
		struct dtx_jail_report r;
		char bad[100];

		dtx_jail_report_init(&r);
		if (e->kind == DTX_FRAME_REPORT)
			dtx_report_parse(&r, dtx_frame_bytes(&view, e), bad, sizeof(bad));
		else if (e->kind == DTX_FRAME_GRID)
			read_grid(&view, e);
		else if (e->kind == DTX_FRAME_CELLS)
			read_cells(&view, e);
		else if (e->kind == DTX_FRAME_STRINGS)
			read_strings(&view, e);
		else if (e->kind == DTX_FRAME_TABLE && e->rows < (1u << 24) &&
		         dtx_frame_table(&view, e, NULL, &t, NULL) == DTX_OK)
			dtx_table_unref(t);
		dtx_jail_report_clear(&r);
	}
out:
	dtx_frame_close(&view);
	dtx_mem_free(mem);
	return 0;
}
