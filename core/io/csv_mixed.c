/* A record that does not fit may have been written by someone with another delimiter. */
#include "core/base/mem.h"
#include "core/io/csv_ref.h"

/* Delimiters of single records, and how wide a table must be for them to be told from text. */
#define MIXED_OTHERS 5
#define MIXED_WIDTH  3
#define MIXED_BLANKS 5
static const char mixed_others[MIXED_OTHERS + 1] = ",;\t| ";

struct dtx_csv_mixed {
	const char *data;
	struct dtx_dialect d;
	struct dtx_csv_ref *other[MIXED_OTHERS]; /* made when first needed */
};

enum dtx_code dtx_csv_mixed_new(const char *data, const struct dtx_dialect *d,
                                struct dtx_csv_mixed **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_mem_zalloc(1, sizeof(**out));
	if (!*out)
		DTX_FAIL_MEM(err);
	(*out)->data = data;
	(*out)->d = *d;
	(*out)->d.mixed = false; /* the others know no further ones */
	(*out)->d.runs = 0;
out:
	return rc;
}

static enum dtx_code mixed_reader(struct dtx_csv_mixed *m, size_t i, size_t end, uint32_t width,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect d = m->d;

	if (!m->other[i]) {
		d.delim[0] = mixed_others[i];
		d.delim[1] = '\0';
		DTX_TRY(dtx_csv_ref_new(m->data, end, &d, &m->other[i], err));
	}
	dtx_csv_ref_set_end(m->other[i], end);
	dtx_csv_ref_set_width(m->other[i], width);
out:
	return rc;
}

enum dtx_code dtx_csv_mixed_read(struct dtx_csv_mixed *m, size_t pos, size_t end, uint32_t width,
                                 struct dtx_csv_ref_record *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;
	size_t i;

	for (i = 0; i < MIXED_OTHERS; i++) {
		if (mixed_others[i] == m->d.delim[0] ||
		    width < (mixed_others[i] == ' ' ? MIXED_BLANKS : MIXED_WIDTH))
			continue;
		DTX_TRY(mixed_reader(m, i, end, width, err));
		DTX_TRY(dtx_csv_ref_read(m->other[i], pos, &rec, err));
		if (rec.row.fault != DTX_CSV_FINE || rec.row.ncells != width)
			continue;
		*out = rec;
		break;
	}
out:
	return rc;
}

void dtx_csv_mixed_free(struct dtx_csv_mixed *m)
{
	size_t i;

	for (i = 0; m && i < MIXED_OTHERS; i++)
		dtx_csv_ref_free(m->other[i]);
	dtx_mem_free(m);
}
