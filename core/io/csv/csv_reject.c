/* Keeps the records that `quarantine` leaves out of the table. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/io/csv/csv.h"
#include "core/io/write/csv_format.h"

enum dtx_code dtx_csv_reject(struct dtx_csv *c, const struct dtx_csv_row *row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t most = c->opts.max_rejects;

	pthread_mutex_lock(&c->doubt);
	if ((int64_t)c->nrejects >= most) {
		dtx_err_set(err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__,
		            "'%s': more than %lld rows with other than %u cells",
		            dtx_source_name(c->head.src), (long long)most, c->width);
		dtx_err_hint(err, "\"max_rejects\" allows more; \"ragged\": \"pad\" keeps them");
		dtx_csv_set_position(c, row->start, err);
		rc = DTX_E_RAGGED_ROWS;
		goto out;
	}
	if (!dtx_mem_reserve(&c->reject, &c->reject_cap, c->nrejects + 1, sizeof(*c->reject)))
		DTX_FAIL_MEM(err);
	c->reject[c->nrejects++] = (struct dtx_csv_reject){ row->start, row->end, row->ncells };
out:
	pthread_mutex_unlock(&c->doubt);
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct dtx_csv_reject *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

enum dtx_code dtx_csv_rejects(struct dtx_reader *r, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = (struct dtx_csv *)r;
	struct dtx_csv_format f;
	size_t i, from = 0;
	int64_t line = dtx_source_line0(r->src);

	dtx_csv_format_init(&f, ',');
	qsort(c->reject, c->nrejects, sizeof(*c->reject), by_start);
	for (i = 0; i < c->nrejects; i++) {
		const struct dtx_csv_reject *x = &c->reject[i];
		struct dtx_str record = { c->text.data + x->start, x->end - x->start };

		line += dtx_csv_line(c->text.data, from, x->start);
		from = x->start;
		dtx_csv_format_text(&f, dtx_str_of(dtx_source_name(r->src)), out);
		dtx_buf_printf(out, ",%lld,%zu,%s,%u,%u,", (long long)line + 1,
		               dtx_csv_byte(c, x->start), x->ncells < c->width ? "short" : "long",
		               c->width, x->ncells);
		dtx_csv_format_text(&f, record, out);
		dtx_csv_format_eol(&f, out);
	}
	DTX_TRY(dtx_buf_check(out, "the rejects", err));
out:
	return rc;
}
