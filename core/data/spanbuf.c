/* A block of text cells, as a text file would contain them. */
#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/data/cells.h"

#define SPANBUF_MAX ((size_t)UINT32_MAX - 16)

static void spanbuf_dialect(struct dtx_spanbuf *s, struct dtx_celldialect dialect)
{
	s->dialect = dialect;
	if (!dialect.quote)
		s->dialect.quote = '"';
	dtx_quoting_init(&s->quoting, s->dialect.delim, s->dialect.quote);
}

void dtx_spanbuf_init(struct dtx_spanbuf *s, struct dtx_celldialect dialect)
{
	*s = (struct dtx_spanbuf){ .bytes = DTX_BUF_INIT(SPANBUF_MAX) };
	spanbuf_dialect(s, dialect);
}

void dtx_spanbuf_clear(struct dtx_spanbuf *s)
{
	dtx_buf_clear(&s->bytes);
	dtx_mem_free(s->span);
	dtx_mem_free(s->valid);
	s->span = NULL;
	s->valid = NULL;
	s->n = s->cap = s->cap_words = 0;
}

/* Numbers are read eight bytes at a time, backwards from the end of their cell.  The first cells of
 * a block therefore need readable bytes before them, because a gathered column may have a base
 * below this block. */
static void spanbuf_lead(struct dtx_spanbuf *s)
{
	if (!s->bytes.len)
		dtx_buf_addn(&s->bytes, "        ", 8);
}

static void spanbuf_push(struct dtx_spanbuf *s, size_t off, size_t len, bool quoted)
{
	if (!dtx_buf_ok(&s->bytes) || len > DTX_SPAN_LEN ||
	    !dtx_mem_reserve(&s->span, &s->cap, s->n + 1, sizeof(*s->span))) {
		s->failed = true;
		return;
	}
	s->span[s->n++] =
		(struct dtx_span){ (uint32_t)off, (uint32_t)len | (quoted ? DTX_SPAN_QUOTED : 0) };
}

void dtx_spanbuf_null(struct dtx_spanbuf *s)
{
	spanbuf_push(s, 0, 0, false);
}

void dtx_spanbuf_text(struct dtx_spanbuf *s, struct dtx_str t)
{
	size_t off;

	spanbuf_lead(s);
	off = s->bytes.len;
	if (!dtx_quoting_needed(&s->quoting, t)) {
		dtx_buf_adds(&s->bytes, t);
		spanbuf_push(s, off, t.len, false);
		return;
	}
	dtx_quoting_put(&s->quoting, t, &s->bytes);
	spanbuf_push(s, off + 1, s->bytes.len - off - 2, true);
}

/* Marks a cell as null that has bytes (`NA` under null_values): the bytes stay, the validity bit is
 * cleared. */
static void spanbuf_invalid(struct dtx_spanbuf *s)
{
	size_t words = dtx_bit_words(s->n);
	size_t have = s->cap_words;

	if (s->failed || !dtx_mem_reserve(&s->valid, &s->cap_words, words, sizeof(*s->valid))) {
		s->failed = true;
		return;
	}
	memset(s->valid + have, 0xff, (s->cap_words - have) * sizeof(*s->valid));
	s->valid[(s->n - 1) >> 6] &= ~((uint64_t)1 << ((s->n - 1) & 63));
}

static void spanbuf_raw(struct dtx_spanbuf *s, const struct dtx_column *c, uint32_t row)
{
	struct dtx_span from = c->v.span[row];
	uint32_t len = from.len & DTX_SPAN_LEN;
	size_t off;

	spanbuf_lead(s);
	off = s->bytes.len;
	if (from.len & DTX_SPAN_QUOTED) {
		dtx_buf_addn(&s->bytes, c->base + from.off - 1, (size_t)len + 2);
		spanbuf_push(s, off + 1, len, true);
	} else {
		dtx_buf_addn(&s->bytes, c->base + from.off, len);
		spanbuf_push(s, off, len, false);
	}
	if (c->valid && !dtx_bit(c->valid, row))
		spanbuf_invalid(s);
}

/* If cells of several dialects meet, all become cells of one: that of the output, because its cells
 * are copied byte by byte elsewhere; else the most usual one.  It must not be the one that comes
 * first, because the bytes of a result must not depend on which rows are in one batch. */
static size_t dialect_rank(struct dtx_celldialect d)
{
	static const char usual[] = ",\t;|";
	const char *at = d.delim && d.quote == '"' ? strchr(usual, d.delim) : NULL;

	if (d.home)
		return 0;
	return 1 + (at ? (size_t)(at - usual) : sizeof(usual));
}

/* Writes all cells in another dialect. */
static void spanbuf_change(struct dtx_spanbuf *s, struct dtx_celldialect dialect)
{
	static const struct dtx_typeref text = { .type = DTX_T_TEXT };
	struct dtx_column *was = NULL;

	if (s->n && dtx_spanbuf_finish(s, text, &was, NULL) != DTX_OK) {
		s->failed = true;
		return;
	}
	spanbuf_dialect(s, dialect);
	for (uint32_t i = 0; was && i < was->len; i++)
		dtx_spanbuf_add(s, was, i);
	dtx_column_unref(was);
}

void dtx_spanbuf_add(struct dtx_spanbuf *s, const struct dtx_column *c, uint32_t row)
{
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_str text;

	if (c->form == DTX_F_CONST)
		row = 0;
	if (c->form == DTX_F_SPAN && dialect_rank(c->dialect) < dialect_rank(s->dialect))
		spanbuf_change(s, c->dialect);
	if (c->form == DTX_F_SPAN && dtx_celldialect_same(c->dialect, s->dialect)) {
		spanbuf_raw(s, c, row);
		return;
	}
	if (dtx_column_is_null(c, row)) {
		dtx_spanbuf_null(s);
		return;
	}
	if (c->form == DTX_F_SPAN) {
		text = dtx_cast_source(c, row, &scratch);
	} else {
		if (s->rules)
			dtx_cells_print(c, row, s->rules, &scratch);
		else
			dtx_cast_print(c, row, &scratch);
		text = (struct dtx_str){ scratch.ptr ? scratch.ptr : "", scratch.len };
	}
	if (!dtx_buf_ok(&scratch))
		s->failed = true;
	else
		dtx_spanbuf_text(s, text);
	dtx_buf_clear(&scratch);
}

enum dtx_code dtx_spanbuf_finish(struct dtx_spanbuf *s, struct dtx_typeref type,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner;
	struct dtx_column *c;
	size_t words = dtx_bit_words(s->n), have = s->cap_words;

	if (s->bytes.fail == DTX_BUF_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "cells of one column need more than 4 GiB");
	if (s->failed || !dtx_buf_room(&s->bytes, 1))
		DTX_FAIL_MEM(err);
	if (s->valid && have < words) {
		if (!dtx_mem_reserve(&s->valid, &s->cap_words, words, sizeof(*s->valid)))
			DTX_FAIL_MEM(err);
		memset(s->valid + have, 0xff, (s->cap_words - have) * sizeof(*s->valid));
	}
	if (!dtx_mem_reserve(&s->span, &s->cap, s->n + 1, sizeof(*s->span)))
		DTX_FAIL_MEM(err);
	c = NULL;
	owner = dtx_owner_blocks((void *[]){ s->bytes.ptr, s->span, s->valid }, 3, NULL);
	if (owner)
		c = dtx_column_new(DTX_F_SPAN, type, (uint32_t)s->n, owner);
	if (c) {
		c->nulls = UINT32_MAX;
		c->base = s->bytes.ptr;
		c->v.span = s->span;
		c->valid = s->valid;
		c->dialect = s->dialect;
	}
	dtx_buf_init(&s->bytes, SPANBUF_MAX);
	s->span = NULL;
	s->valid = NULL;
	s->n = s->cap = s->cap_words = 0;
	if (!c)
		DTX_FAIL_MEM(err);
	*out = c;
out:
	return rc;
}
