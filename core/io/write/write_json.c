/* Writes JSON Lines, or a JSON array of objects. Workers format the objects; the bytes are
 * written in order. */
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"
#include "core/io/json/json_scan.h"
#include "core/io/write/writer.h"

#define ROW_MAX ((size_t)1 << 30)

struct json_writer {
	struct dtx_writer head;
	bool lines;
	bool any;            /* a row has been written */
	struct dtx_buf *key; /* per field: "name": with a comma before it */
};

static struct json_writer *of(struct dtx_writer *w)
{
	return (struct json_writer *)w; /* head is the first member */
}

static void json_close(struct dtx_writer *writer)
{
	struct json_writer *w = of(writer);
	uint32_t i;

	for (i = 0; w->key && i < writer->schema->nfields; i++)
		dtx_buf_clear(&w->key[i]);
	dtx_mem_free(w->key);
	dtx_errlist_clear(&writer->diags);
	dtx_mem_free(w);
}

static enum dtx_code make_keys(struct json_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->head.schema;
	uint32_t i;

	w->key = dtx_mem_zalloc(s->nfields, sizeof(*w->key));
	if (!w->key)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->nfields; i++) {
		dtx_buf_init(&w->key[i], DTX_BUF_TEXT_MAX);
		if (i)
			dtx_buf_addc(&w->key[i], ',');
		dtx_buf_json(&w->key[i], dtx_str_of(s->field[i].name));
		dtx_buf_addc(&w->key[i], ':');
		DTX_TRY(dtx_buf_check(&w->key[i], "a column name", err));
	}
out:
	return rc;
}

extern const struct dtx_writer_class dtx_write_json;

static enum dtx_code json_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                               const struct dtx_schema *schema, struct dtx_writer **made,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct json_writer *w = dtx_mem_zalloc(1, sizeof(*w));
	struct dtx_str suffix = dtx_writer_suffix(dtx_outfile_info(out)->path);

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_json, .out = out, .schema = schema };
	w->lines = opts->format ? strcmp(opts->format, "json") != 0
	                        : suffix.len != 4 || strncasecmp(suffix.ptr, "json", 4) != 0;
	DTX_TRY(make_keys(w, err));
	*made = &w->head;
	w = NULL;
out:
	if (w)
		json_close(&w->head);
	return rc;
}

/* --- values --- */

static bool is_json_number(struct dtx_str text)
{
	struct dtx_jscan s = { .p = text.ptr, .end = text.ptr + text.len };
	struct dtx_jvalue v;

	return dtx_jscan_value(&s, &v) && v.kind == DTX_J_NUMBER && s.p == s.end;
}

/* Copies the digits of an unchanged number, unless its points separate groups: 1.200 is 1200. */
static bool put_source_digits(const struct dtx_column *c, const struct dtx_field *rules,
                              uint32_t row, struct dtx_buf *out)
{
	struct dtx_span span;
	struct dtx_str s;

	if (c->form != DTX_F_SPAN || rules->group == '.')
		return false;
	span = c->v.span[row];
	s = dtx_str_trim((struct dtx_str){ c->base + span.off, span.len & DTX_SPAN_LEN });
	if (!is_json_number(s))
		return false;
	dtx_buf_adds(out, s);
	return true;
}

/* Keeps the offset from UTC of an unchanged time. */
static bool put_source_offset(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	struct dtx_buf none = DTX_BUF_INIT(0);
	struct dtx_str s;
	int64_t us;
	bool zoned;

	if (c->form != DTX_F_SPAN)
		return false;
	s = dtx_str_trim(dtx_cast_source(c, row, &none));
	if (!dtx_datetime_parse(s, &us, &zoned) || !zoned)
		return false;
	dtx_buf_json(out, s);
	return true;
}

/* Writes a text that is a JSON value as that value, on one line. Returns false if it is not
 * JSON. */
static bool put_json_text(const struct dtx_buf *text, struct dtx_buf *out)
{
	struct dtx_jscan s = { .p = text->ptr, .end = text->ptr + text->len };
	struct dtx_jvalue v;
	const char *p, *eol;

	if (!text->len || !dtx_buf_ok(text) || !dtx_jscan_value(&s, &v) || s.p != s.end)
		return false;
	/* line ends are outside of strings, and so are the blanks after them */
	for (p = text->ptr; (eol = memchr(p, '\n', (size_t)(s.end - p))) != NULL;) {
		size_t cr = eol > p && eol[-1] == '\r';

		dtx_buf_addn(out, p, (size_t)(eol - p) - cr);
		for (p = eol; p < s.end && (*p == '\n' || *p == ' ' || *p == '\t' || *p == '\r');)
			p++;
	}
	dtx_buf_addn(out, p, (size_t)(s.end - p));
	return true;
}

/* The columns of a batch, as stored and as values. */
struct row_view {
	struct dtx_column **held, **value;
	const struct dtx_schema *schema;
	struct dtx_buf scratch;
};

static void put_value(struct row_view *v, uint32_t col, uint32_t row, struct dtx_buf *out)
{
	const struct dtx_column *c = v->value[col];
	enum dtx_type type = v->schema->field[col].type.type;

	if (dtx_column_is_null(c, row)) {
		dtx_buf_add(out, "null");
		return;
	}
	if (dtx_type_is_number(type) &&
	    put_source_digits(v->held[col], &v->schema->field[col], row, out))
		return;
	if (dtx_type_is_number(type) || type == DTX_T_BOOL) {
		dtx_cast_print(c, row, out);
		return;
	}
	if (type == DTX_T_DATETIME && put_source_offset(v->held[col], row, out))
		return;
	dtx_buf_reset(&v->scratch);
	dtx_cast_print(c, row, &v->scratch);
	if (v->schema->field[col].json && put_json_text(&v->scratch, out))
		return;
	dtx_buf_json(out, dtx_buf_str(&v->scratch));
	if (!dtx_buf_ok(&v->scratch))
		out->fail = v->scratch.fail;
}

static void put_row(const struct json_writer *w, struct row_view *v, uint32_t row,
                    struct dtx_buf *out)
{
	uint32_t c;

	dtx_buf_add(out, w->lines ? "{" : ",\n{");
	for (c = 0; c < v->schema->nfields; c++) {
		dtx_buf_adds(out, (struct dtx_str){ w->key[c].ptr, w->key[c].len });
		put_value(v, c, row, out);
	}
	dtx_buf_add(out, w->lines ? "}\n" : "}");
}

static enum dtx_code json_format(struct dtx_writer *writer, struct dtx_batch *b,
                                 struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_view v = { .held = b->col,
		              .schema = writer->schema,
		              .scratch = DTX_BUF_INIT(ROW_MAX) };
	uint32_t i;

	v.value = dtx_mem_zalloc(b->ncols, sizeof(struct dtx_column *));
	if (!v.value)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++)
		DTX_TRY(dtx_batch_value(b, i, &v.value[i], err));
	for (i = 0; i < b->nsel; i++) {
		DTX_TRY(dtx_cancel_line(i, err));
		put_row(of(writer), &v, b->sel ? b->sel[i] : i, out);
	}
	DTX_TRY(dtx_buf_check(out, "a batch of rows", err));
out:
	dtx_mem_free(v.value);
	dtx_buf_clear(&v.scratch);
	return rc;
}

static enum dtx_code json_put(struct dtx_writer *writer, struct dtx_batch *b,
                              const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct json_writer *w = of(writer);
	size_t skip = 0;

	(void)b;
	if (!bytes->len)
		goto out;
	if (!w->lines && !w->any) {
		DTX_TRY(dtx_outfile_write(writer->out, "[", 1, err));
		skip = 1; /* skips the comma of the first row */
	}
	w->any = true;
	DTX_TRY(dtx_outfile_write(writer->out, bytes->ptr + skip, bytes->len - skip, err));
out:
	return rc;
}

static enum dtx_code json_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	const struct json_writer *w = of(writer);

	if (w->lines)
		return DTX_OK;
	return w->any ? dtx_outfile_write(writer->out, "\n]\n", 3, err)
	              : dtx_outfile_write(writer->out, "[]\n", 3, err);
}

const struct dtx_writer_class dtx_write_json = {
	.name = "json",
	.formats = "jsonl,json,ndjson",
	.suffixes = "jsonl,json,ndjson",
	.values = true,
	.keys = true,
	.apart = true,
	.open = json_open,
	.format = json_format,
	.put = json_put,
	.finish = json_finish,
	.close = json_close,
};
