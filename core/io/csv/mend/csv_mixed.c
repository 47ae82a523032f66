/* Reads a record that does not fit as if another program had written it: with another delimiter,
 * another quote, another escape, or with quotes around the whole record. */
#include "core/base/memory/mem.h"
#include "core/io/csv/csv_ref.h"
#include "core/io/csv/mend/csv_shapes.h"
#include "core/io/csv/lines.h"

/* Delimiters that single records may have. The table must have this many columns, as otherwise such
 * a record looks like text. */
#define MIXED_OTHERS 5
#define MIXED_WIDTH  3
#define MIXED_BLANKS 5
static const char mixed_others[MIXED_OTHERS + 1] = ",;\t| ";

struct dtx_csv_mixed {
	const char *data;
	struct dtx_dialect d;
	/* These are made when first needed. */
	struct dtx_csv_ref *other[MIXED_OTHERS];
	struct dtx_csv_ref *apostrophes, *escapes;
	struct dtx_csv_ref *inside; /* for the text of a record that is one quoted cell */
	struct dtx_buf whole;
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
	(*out)->d.mixed = false; /* the readers for other dialects try no further ones */
	(*out)->d.runs = 0;
	dtx_buf_init(&(*out)->whole, DTX_CSV_RECORD_MAX);
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

/* Whether every cell looks like those of its column; true if nothing is known about the columns. */
static bool mixed_looks_right(const struct dtx_csv_shapes *s, const struct dtx_csv_ref_record *rec)
{
	for (uint32_t i = 0; s && i < rec->row.ncells; i++) {
		struct dtx_str cell = { rec->text + rec->cell[i].off, rec->cell[i].len };

		if (dtx_csv_shapes_misfit(s, i, cell))
			return false;
	}
	return true;
}

/* Whether the text's own delimiter is in a cell without quotes. */
static bool mixed_has_own(const struct dtx_csv_mixed *m, const struct dtx_csv_ref_record *rec)
{
	uint32_t i;

	for (i = 0; i < rec->row.ncells; i++) {
		if (!rec->cell[i].quoted &&
		    memchr(rec->text + rec->cell[i].off, m->d.delim[0], rec->cell[i].len))
			return true;
	}
	return false;
}

enum dtx_code dtx_csv_mixed_read(struct dtx_csv_mixed *m, const struct dtx_csv_shapes *shapes,
                                 size_t pos, size_t end, uint32_t width,
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
		if (rec.row.fault != DTX_CSV_FINE || rec.row.ncells != width ||
		    (mixed_others[i] == ' ' &&
		     (mixed_has_own(m, &rec) || !mixed_looks_right(shapes, &rec))))
			continue;
		*out = rec;
		out->change = DTX_CSV_CHANGE_OTHER;
		break;
	}
out:
	return rc;
}

/* Reads the record by *ref, which is made for the dialect if it does not exist. */
static enum dtx_code mixed_as(struct dtx_csv_mixed *m, struct dtx_csv_ref **ref,
                              const struct dtx_dialect *d, size_t pos, size_t end, uint32_t width,
                              struct dtx_csv_ref_record *rec, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!*ref)
		DTX_TRY(dtx_csv_ref_new(m->data, end, d, ref, err));
	dtx_csv_ref_set_end(*ref, end);
	dtx_csv_ref_set_width(*ref, width);
	DTX_TRY(dtx_csv_ref_read(*ref, pos, rec, err));
out:
	return rc;
}

static uint32_t begun_with(const struct dtx_csv_ref_record *rec, char c)
{
	uint32_t n = 0, i;

	for (i = 0; i < rec->row.ncells; i++)
		n += !rec->cell[i].quoted && rec->cell[i].len && rec->text[rec->cell[i].off] == c;
	return n;
}

static uint32_t count_quoted(const struct dtx_csv_ref_record *rec)
{
	uint32_t n = 0, i;

	for (i = 0; i < rec->row.ncells; i++)
		n += rec->cell[i].quoted;
	return n;
}

/* Whether all quotes are regular and the record is as wide as the others; if that width is not
 * known, as wide as it was before. */
static bool mixed_fits(const struct dtx_csv_ref_record *rec, const struct dtx_csv_ref_record *was,
                       uint32_t width)
{
	return rec->row.fault == DTX_CSV_FINE && !rec->row.literal && !rec->comment &&
	       rec->row.ncells == (width ? width : was->row.ncells);
}

/* Tries apostrophes as quotes: 'Ann',5. A single cell may have apostrophes of its own at both
 * ends. */
static enum dtx_code mixed_apostrophes(struct dtx_csv_mixed *m, size_t pos, size_t end,
                                       uint32_t width, struct dtx_csv_ref_record *out, bool *took,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect d = m->d;
	struct dtx_csv_ref_record rec;

	if (m->d.quote != '"' || (out->row.fault == DTX_CSV_FINE && !begun_with(out, '\'')) ||
	    count_quoted(out))
		goto out;
	d.quote = '\'';
	DTX_TRY(mixed_as(m, &m->apostrophes, &d, pos, end, width, &rec, err));
	*took = mixed_fits(&rec, out, width) && !begun_with(&rec, '"') &&
	        count_quoted(&rec) >= (rec.row.ncells == out->row.ncells ? 2 : 1);
	if (*took)
		*out = rec;
out:
	return rc;
}

static enum dtx_code mixed_escapes(struct dtx_csv_mixed *m, size_t pos, size_t end, uint32_t width,
                                   struct dtx_csv_ref_record *out, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect d = m->d;
	struct dtx_csv_ref_record rec;
	const char escaped[] = { '\\', m->d.quote, 0 };
	struct dtx_str line = { m->data + pos, out->row.end > pos ? out->row.end - pos : 0 };

	if (!m->d.quote || m->d.escape ||
	    (mixed_fits(out, out, width) && out->row.fault == DTX_CSV_FINE) ||
	    dtx_str_find(line, dtx_str_of(escaped), 0) < 0)
		goto out;
	d.escape = '\\';
	DTX_TRY(mixed_as(m, &m->escapes, &d, pos, end, width, &rec, err));
	*took = mixed_fits(&rec, out, width);
	if (*took)
		*out = rec;
out:
	return rc;
}

/* Reads the record that is the text in m->whole. */
static enum dtx_code mixed_inside(struct dtx_csv_mixed *m, uint32_t width,
                                  const struct dtx_csv_ref_record *was,
                                  struct dtx_csv_ref_record *rec, bool *fits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_csv_ref_free(m->inside);
	m->inside = NULL;
	DTX_TRY(dtx_buf_check(&m->whole, "a record", err));
	DTX_TRY(dtx_csv_ref_new(m->whole.ptr, m->whole.len, &m->d, &m->inside, err));
	dtx_csv_ref_set_width(m->inside, width);
	DTX_TRY(dtx_csv_ref_read(m->inside, 0, rec, err));
	*fits = mixed_fits(rec, was, width) && rec->row.next == m->whole.len;
out:
	return rc;
}

/* Takes over the cells; the record keeps its place. */
static void mixed_take(struct dtx_csv_ref_record *out, const struct dtx_csv_ref_record *rec)
{
	out->cell = rec->cell;
	out->text = rec->text;
	out->row.ncells = rec->row.ncells;
}

/* The text of the one cell in "1,""Rome, Italy"",2" is the record. */
static enum dtx_code mixed_whole(struct dtx_csv_mixed *m, uint32_t width,
                                 struct dtx_csv_ref_record *out, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;

	if (width < MIXED_WIDTH || out->row.fault != DTX_CSV_FINE || out->row.ncells != 1 ||
	    !out->cell[0].quoted || !out->cell[0].len)
		goto out;
	dtx_buf_reset(&m->whole);
	dtx_buf_addn(&m->whole, out->text + out->cell[0].off, out->cell[0].len);
	DTX_TRY(mixed_inside(m, width, out, &rec, took, err));
	if (*took)
		mixed_take(out, &rec);
out:
	return rc;
}

/* Whether the record ends with its line, and does not have the width of the table or has quotes
 * that are data. */
static bool mixed_is_odd(const struct dtx_csv_ref_record *rec, struct dtx_str line,
                         const char *data, uint32_t width)
{
	return line.ptr + line.len == data + rec->row.end &&
	       (rec->row.ncells != width || rec->row.literal || rec->row.fault != DTX_CSV_FINE);
}

enum dtx_code dtx_csv_mixed_glued(struct dtx_csv_mixed *m, const struct dtx_csv_shapes *shapes,
                                  size_t end, uint32_t width, struct dtx_csv_ref_record *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line = dtx_line_at((struct dtx_str){ m->data, end }, out->row.start);
	struct dtx_csv_ref_record rec;
	bool glued = false;
	unsigned way = 0;

	if (!mixed_is_odd(out, line, m->data, width))
		goto out;
	for (; !glued && dtx_csv_glued(line, &m->d, way, &m->whole); way++) {
		DTX_TRY(mixed_inside(m, width, out, &rec, &glued, err));
		glued = glued && mixed_looks_right(shapes, &rec);
	}
	if (!glued)
		goto out;
	out->change = DTX_CSV_CHANGE_GLUED;
	mixed_take(out, &rec);
	out->row.literal = 0;
	out->row.fault = DTX_CSV_FINE;
out:
	return rc;
}

enum dtx_code dtx_csv_mixed_quotes(struct dtx_csv_mixed *m, size_t pos, size_t end, uint32_t width,
                                   struct dtx_csv_ref_record *out, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*took = false;
	DTX_TRY(mixed_apostrophes(m, pos, end, width, out, took, err));
	if (!*took)
		DTX_TRY(mixed_escapes(m, pos, end, width, out, took, err));
	if (!*took)
		DTX_TRY(mixed_whole(m, width, out, took, err));
out:
	return rc;
}

void dtx_csv_mixed_free(struct dtx_csv_mixed *m)
{
	size_t i;

	for (i = 0; m && i < MIXED_OTHERS; i++)
		dtx_csv_ref_free(m->other[i]);
	if (!m)
		return;
	dtx_csv_ref_free(m->apostrophes);
	dtx_csv_ref_free(m->escapes);
	dtx_csv_ref_free(m->inside);
	dtx_buf_clear(&m->whole);
	dtx_mem_free(m);
}
