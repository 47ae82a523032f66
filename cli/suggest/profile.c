/* Profiles an input in one pass on one thread: statistics of each column, and the first rows. */
#include "cli/suggest/profile.h"

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"

enum {
	VALUES_MAX = 1 << 22, /* distinct values in all columns together, 80 bytes each */
	/* Beyond so many columns the table is wide; each column then needs memory of its own, and
	 * fewer values show what is in it. */
	WIDE = 4096,
	VALUES_WIDE = 1 << 20,
	VALUES_MIN = 64
};

static uint64_t profile_values(const struct dtx_infer *f)
{
	return f->bools + f->ints + f->floats + f->codes + f->dates + f->datetimes + f->texts;
}

static enum dtx_code profile_batch(struct dtx_profile *p, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		if (!b->col[i])
			continue;
		dtx_infer_column(&p->col[i], b->col[i], p->rows);
		p->stat[i].rec = b->rec;
		p->stat[i].first_row = b->first_row;
		DTX_TRY(dtx_colstat_add(&p->stat[i], b->col[i], err));
	}
	p->rows += b->nrows;
out:
	return rc;
}

/* The first rows are kept by reference; they stay valid after the reader is closed. */
static enum dtx_code profile_sample(struct dtx_profile *p, struct dtx_batch *b, uint32_t want,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *copy = NULL;
	uint16_t *sel;
	uint32_t n;

	if (p->sample->nrows >= want || !b->nrows)
		return DTX_OK;
	DTX_TRY(dtx_batch_copy(b, &copy, err));
	DTX_TRY(dtx_batch_sel(copy, &sel, err));
	n = want - (uint32_t)p->sample->nrows;
	copy->nsel = DTX_MIN(copy->nsel, n);
	DTX_TRY(dtx_table_take(p->sample, copy, err));
	copy = NULL;
out:
	dtx_batch_free(copy);
	return rc;
}

static enum dtx_code profile_start(struct dtx_profile *p, struct dtx_reader *r, uint8_t **need,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_scan scan = { .limit = -1, .workers = 1 };
	uint32_t i, all;

	p->origin = &r->origin;
	DTX_TRY(r->cls->schema(r, &p->schema, err));
	p->col = dtx_mem_zalloc(p->schema->nfields + 1, sizeof(*p->col));
	p->stat = dtx_mem_zalloc(p->schema->nfields + 1, sizeof(*p->stat));
	*need = dtx_mem_zalloc(p->schema->nfields + 1, 1);
	if (!p->col || !p->stat || !*need)
		DTX_FAIL_MEM(err);
	all = p->schema->nfields > WIDE ? VALUES_WIDE : VALUES_MAX;
	for (i = 0; i < p->schema->nfields; i++)
		dtx_colstat_init(&p->stat[i],
		                 DTX_MAX(all / p->schema->nfields, (uint32_t)VALUES_MIN));
	for (i = 0; i < p->schema->nfields; i++)
		(*need)[i] = DTX_NEED_BYTES;
	for (i = 0; i < p->schema->nfields; i++) {
		p->col[i] = dtx_infer_again(&p->schema->field[i]);
	}
	scan.schema = p->schema;
	scan.need = *need;
	DTX_TRY(r->cls->start(r, &scan, err));
	DTX_TRY(dtx_table_new(p->schema, &p->sample, err));
out:
	return rc;
}

enum dtx_code dtx_profile_read(struct dtx_profile *p, struct dtx_reader *r, uint32_t sample_rows,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint8_t *need = NULL;

	DTX_TRY(profile_start(p, r, &need, err));
	for (;;) {
		DTX_TRY(r->cls->next(r, 0, &b, err));
		if (!b)
			break;
		DTX_TRY(profile_batch(p, b, err));
		if (p->progress)
			dtx_reader_note(r, b->nrows, p->progress);
		DTX_TRY(profile_sample(p, b, sample_rows, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_mem_free(need);
	return rc;
}

void dtx_profile_clear(struct dtx_profile *p)
{
	uint32_t i;

	for (i = 0; p->stat && i < p->schema->nfields; i++)
		dtx_colstat_clear(&p->stat[i]);
	dtx_table_unref(p->sample);
	dtx_mem_free(p->stat);
	dtx_mem_free(p->col);
	*p = (struct dtx_profile){ .progress = p->progress };
}

/* A reader of workbooks has seen every cell already; text cells are examined here. */
struct dtx_typeref dtx_profile_type(const struct dtx_profile *p, uint32_t i)
{
	const struct dtx_field *f = &p->schema->field[i];

	return f->guessed ? dtx_infer_type(&p->col[i]) : f->type;
}

void dtx_profile_place(const struct dtx_profile *p, uint32_t col, uint64_t row, char *buf,
                       size_t size)
{
	const struct dtx_batch b = {
		.origin = p->origin, .schema = p->schema, .first_row = row, .nrows = 1
	};
	struct dtx_err place = DTX_ERR_INIT;

	dtx_batch_set_position(&b, 0, (int32_t)col, &place);
	dtx_str_copy(buf, size, dtx_str_of(place.cell));
	dtx_err_clear(&place);
}

void dtx_profile_find(const struct dtx_profile *p, uint32_t col, struct dtx_str text, char *buf,
                      size_t size)
{
	const struct dtx_colstat *s = &p->stat[col];

	buf[0] = '\0';
	for (size_t i = 0; i < s->nvalues; i++)
		if (dtx_str_eq(s->value[i].text, text)) {
			dtx_profile_place(p, col, s->value[i].row, buf, size);
			return;
		}
}

struct evidence_row {
	const char *what;
	uint64_t n;
};

void dtx_profile_evidence(const struct dtx_profile *p, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_infer *f = &p->col[i];
	const struct evidence_row rows[] = {
		{ "bool", f->bools },
		{ "int", f->ints - f->wide_ints },
		{ "int beyond 2^53", f->wide_ints },
		{ "float", f->floats },
		{ "date", f->dates },
		{ "datetime", f->datetimes },
		{ "text", f->texts },
	};
	char n[DTX_NUM_TEXT], place[DTX_PROFILE_PLACE];
	bool first = true;
	size_t k;

	for (k = 0; k < DTX_COUNT(rows); k++) {
		if (!rows[k].n)
			continue;
		dtx_num_print_grouped(n, (int64_t)rows[k].n);
		dtx_buf_printf(out, "%s%s %s", first ? "" : ", ", n, rows[k].what);
		first = false;
	}
	dtx_num_print_grouped(n, (int64_t)profile_values(f));
	dtx_buf_printf(out, "%s of %s values", first ? "none" : "", n);
	if (f->nulls) {
		dtx_num_print_grouped(n, (int64_t)f->nulls);
		dtx_buf_printf(out, ", %s null", n);
	}
	if (f->texts && f->texts < profile_values(f) && f->sample.len && f->sample.len < 60) {
		dtx_profile_find(p, i, f->sample, place, sizeof(place));
		dtx_buf_printf(out, "; not %s%s'%.*s'", place, place[0] ? " " : "",
		               (int)f->sample.len, f->sample.ptr);
	}
}
