/* Writes CSV and TSV files. Workers format batches; the bytes are written in order. */
#include <strings.h>

#include "core/base/memory/mem.h"
#include "core/io/write/csv_format.h"
#include "core/io/write/csv_formula.h"
#include "core/io/write/writer.h"

#define WRITE_HEADER_MAX ((size_t)64 << 20)

struct csv_writer {
	struct dtx_writer head;
	struct dtx_csv_format format;
	struct dtx_csv_formulas formulas;
	bool bom, no_header, begun;
};

static struct csv_writer *csv_writer_of(struct dtx_writer *w)
{
	return (struct csv_writer *)w; /* head is the first member */
}

static char csv_writer_delimiter(const struct dtx_write_opts *opts, const char *format,
                                 const char *path)
{
	struct dtx_str suffix = dtx_writer_suffix(path);
	bool named = format && strcmp(format, "auto") != 0;
	bool tsv = named ? !strcmp(format, "tsv")
	                 : suffix.len == 3 && !strncasecmp(suffix.ptr, "tsv", 3);

	if (tsv && (!opts->delimiter || opts->delimiter == ','))
		return '\t';
	return opts->delimiter ? opts->delimiter : ',';
}

static enum dtx_code csv_writer_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                                     const struct dtx_schema *schema, struct dtx_writer **made,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct csv_writer *w = dtx_mem_zalloc(1, sizeof(*w));
	char delim = csv_writer_delimiter(opts, opts->format, dtx_outfile_info(out)->path);

	if (!w)
		DTX_FAIL_MEM(err);
	if (delim == '"' || delim == '\n' || delim == '\r' || (unsigned char)delim >= 0x80)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE, "for example \"delimiter\": \";\"",
		              "delimiter is one ASCII character, no quote and no line end");
	w->head = (struct dtx_writer){ .cls = &dtx_write_csv, .out = out, .schema = schema };
	dtx_csv_format_init(&w->format, delim);
	w->format.quote_all = opts->quote_all;
	w->format.reprint = opts->reprint;
	w->format.crlf = opts->crlf;
	w->format.float_trim = opts->float_trim;
	w->format.null_text = dtx_str_of(opts->null_text ? opts->null_text : "");
	w->bom = opts->bom;
	w->no_header = opts->no_header;
	*made = &w->head;
	w = NULL;
out:
	dtx_mem_free(w);
	return rc;
}

static enum dtx_code csv_writer_format(struct dtx_writer *w, struct dtx_batch *b,
                                       struct dtx_buf *out, struct dtx_err *err)
{
	dtx_csv_formula_count(b, &csv_writer_of(w)->formulas);
	return dtx_csv_format_batch(&csv_writer_of(w)->format, b, out, err);
}

static void csv_writer_counts(const struct dtx_writer *w, uint64_t count[DTX_WRITE_COUNTS])
{
	const struct csv_writer *c = (const struct csv_writer *)w;

	count[0] = atomic_load(&c->formulas.n);
	count[1] = atomic_load(&c->formulas.col);
}

static void csv_writer_add_counts(struct dtx_writer *w, const uint64_t count[DTX_WRITE_COUNTS])
{
	dtx_csv_formula_add(&csv_writer_of(w)->formulas, count[0], (uint32_t)count[1]);
}

static enum dtx_code csv_writer_begin(struct csv_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(WRITE_HEADER_MAX);
	const struct dtx_schema *s = w->head.schema;
	uint32_t i;

	if (w->begun)
		goto out;
	w->begun = true;
	if (w->bom)
		dtx_buf_add(&buf, "\xef\xbb\xbf");
	for (i = 0; !w->no_header && i < s->nfields; i++) {
		if (i)
			dtx_buf_addc(&buf, w->format.delim);
		dtx_csv_format_text(&w->format, dtx_str_of(s->field[i].name), &buf);
	}
	if (!w->no_header)
		dtx_csv_format_eol(&w->format, &buf);
	DTX_TRY(dtx_buf_check(&buf, "the header", err));
	if (buf.len)
		DTX_TRY(dtx_outfile_write(w->head.out, buf.ptr, buf.len, err));
out:
	dtx_buf_clear(&buf);
	return rc;
}

static enum dtx_code csv_writer_put(struct dtx_writer *w, struct dtx_batch *b,
                                    const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)b;
	DTX_TRY(csv_writer_begin(csv_writer_of(w), err));
	if (bytes->len)
		DTX_TRY(dtx_outfile_write(w->out, bytes->ptr, bytes->len, err));
out:
	return rc;
}

static enum dtx_code csv_writer_finish(struct dtx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(csv_writer_begin(csv_writer_of(w), err));
	DTX_TRY(dtx_csv_formula_note(&csv_writer_of(w)->formulas, w->schema, &w->diags, err));
out:
	return rc;
}

static void csv_writer_close(struct dtx_writer *w)
{
	dtx_errlist_clear(&w->diags);
	dtx_mem_free(csv_writer_of(w));
}

const struct dtx_writer_class dtx_write_csv = {
	.name = "csv",
	.formats = "csv,tsv",
	.suffixes = "csv,tsv,txt",
	.uses = "delimiter,quote,eol,bom,float_style,null_text,header",
	.delimiter = csv_writer_delimiter,
	.apart = true,
	.counts = csv_writer_counts,
	.add_counts = csv_writer_add_counts,
	.open = csv_writer_open,
	.format = csv_writer_format,
	.put = csv_writer_put,
	.finish = csv_writer_finish,
	.close = csv_writer_close,
};
