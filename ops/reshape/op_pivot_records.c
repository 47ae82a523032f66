/* pivot_records: key and value rows become records. */
#include <stdlib.h>

#include "core/base/strmap.h"
#include "core/base/text/utf8.h"
#include "ops/kit/relayout.h"

enum { ORDER_APPEARANCE, ORDER_SORTED };
struct records_args {
	const char *key, *value, *sep, *start;
	int64_t every;
	int names_order;
};
struct records_state {
	int32_t key, value;
};

#define AT(member) .offset = offsetof(struct records_args, member)
static const struct dtx_param records_params[] = {
	{ .name = "key",
	  .kind = DTX_P_COLUMN,
	  AT(key),
	  .help = "column of the keys (default: the first)" },
	{ .name = "value",
	  .kind = DTX_P_COLUMN,
	  AT(value),
	  .help = "column of the values (default: the second)" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator",
	  .schema = "{\"type\":\"string\",\"minLength\":1}",
	  .help = "key and value are in the key column, split at the first" },
	{ .name = "every",
	  .kind = DTX_P_INT,
	  AT(every),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "each record has this many rows" },
	{ .name = "start",
	  .kind = DTX_P_TEXT,
	  AT(start),
	  .help = "the key that a record begins with" },
	{ .name = "names_order",
	  .kind = DTX_P_CHOICE,
	  AT(names_order),
	  .choices = "appearance,sorted",
	  .def = "\"appearance\"",
	  .help = "order of the columns" },
};
static const struct dtx_example records_examples[] = {
	{ .step = DTX_JSON({ "op" : "pivot_records" }),
	  .in = "k,v\nname,Ann\nage,31\nname,Bob\ncity,Rome\n\"\",\nname,Cy\n",
	  .out = "name,age,city\nAnn,31,\nBob,,Rome\nCy,,\n" },
	{ .step = DTX_JSON({ "op" : "key_value_to_columns", "sep" : ":", "start" : "id" }),
	  .in = "t\nid: 1\nurl: http://x\nid: 2\n",
	  .out = "id,url\n1,http://x\n2,\n" },
	{ .step = DTX_JSON({ "op" : "pivot_records", "every" : 2, "names_order" : "sorted" }),
	  .in = "k,v\nb,1.50\na,x\na,y\nb,2\n",
	  .out = "a,b\nx,1.50\ny,2\n" },
	{ .step = DTX_JSON({ "op" : "pivot_records", "every" : 2 }),
	  .in = "k,v\nb,1\nb,2\n",
	  .error = "pivot_not_unique",
	  .message = "pivot_records: a record has a key once, got 'b'" },
	{ .step = DTX_JSON({ "op" : "pivot_records", "sep" : ":" }),
	  .in = "t\nid: 1\nno separator\n",
	  .error = "bad_split",
	  .message = "pivot_records: a key without the separator, got 'no separator'" },
};

static enum dtx_code records_check(const void *args, struct dtx_err *err)
{
	const struct records_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->every && a->start)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/start",
		               "pivot_records takes either every or start");
	if (a->sep && a->value)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/value",
		               "pivot_records: with sep the values come from the key column, not "
		               "from 'value'");
	if (a->sep && !*a->sep)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/sep", "pivot_records: sep is empty");
out:
	return rc;
}

static enum dtx_code records_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct records_args *a = args;
	struct records_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	s->key = 0;
	s->value = 1;
	if (a->key)
		DTX_TRY(dtx_bind_column(b, 0, a->key, "/key", &s->key, err));
	if (a->value)
		DTX_TRY(dtx_bind_column(b, 0, a->value, "/value", &s->value, err));
	if (b->typed && b->in[0]->nfields < (a->sep ? 1U : 2U))
		DTX_TRY(dtx_bind_fail(b, DTX_E_MISSING_COLUMN, "", err,
		                      "pivot_records needs %s, the table has %u columns",
		                      a->sep ? "a column" : "a key and a value column",
		                      b->in[0]->nfields));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

/* --- the records --- */

struct entry {
	int64_t record;
	uint32_t key;
	struct dtx_from value;
};
struct work {
	struct dtx_relayout *m;
	const struct records_args *a;
	const struct records_state *s;
	struct dtx_strmap keys;
	int64_t *last; /* per key the last record that has it */
	size_t cap_last;
	struct entry *entry;
	size_t n, cap;
	int64_t record, in_record; /* the current one, -1: none yet; its rows */
	struct dtx_buf text;
};

static enum dtx_code blame(struct work *w, int64_t row, enum dtx_code code, const char *what,
                           struct dtx_str text, struct dtx_err *err)
{
	uint32_t at;
	const struct dtx_batch *b = dtx_raw_row(&w->m->raw, row, &at);

	dtx_err_set(err, code, __FILE__, __LINE__, "pivot_records: %s, got '%.*s'", what,
	            (int)DTX_MIN(text.len, (size_t)80), text.ptr);
	dtx_batch_set_position(b, at, w->s->key, err);
	return code;
}

/* Splits the row's text; *key is trimmed. */
static enum dtx_code read_row(struct work *w, int64_t row, struct dtx_str *key,
                              struct dtx_from *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	ptrdiff_t at;

	dtx_buf_reset(&w->text);
	*key = dtx_raw_text(&w->m->raw, row, (uint32_t)w->s->key, &w->text);
	*value = (struct dtx_from){ row, w->s->value };
	if (w->a->sep) {
		struct dtx_str sep = dtx_str_of(w->a->sep), rest;

		at = dtx_str_find(*key, sep, 0);
		if (at < 0) {
			rc = blame(w, row, DTX_E_BAD_SPLIT, "a key without the separator", *key,
			           err);
			goto out;
		}
		rest = dtx_utf8_trim((struct dtx_str){ key->ptr + at + sep.len,
		                                       key->len - (size_t)at - sep.len });
		*value = rest.len ? dtx_relayout_part(w->m, rest,
		                                      (struct dtx_from){ row, w->s->key })
		                  : (struct dtx_from){ row, DTX_FROM_NULL };
		key->len = (size_t)at;
	}
	*key = dtx_utf8_trim(*key);
	if (!dtx_buf_ok(&w->text))
		DTX_FAIL_MEM(err);
	if (!key->len)
		rc = blame(w, row, DTX_E_UNEXPECTED_VALUE, "a value without a key",
		           dtx_raw_text(&w->m->raw, row,
		                        (uint32_t)(w->a->sep ? w->s->key : w->s->value), &w->text),
		           err);
out:
	return rc;
}

static enum dtx_code key_number(struct work *w, struct dtx_str key, uint32_t *id,
                                struct dtx_err *err)
{
	const struct dtx_run *run = w->m->ox->run;
	enum dtx_code rc = DTX_OK;
	size_t n = w->keys.n;

	if (!dtx_strmap_put(&w->keys, key, (uint32_t)n, id) ||
	    !dtx_mem_reserve(&w->last, &w->cap_last, n + 1, sizeof(*w->last)))
		DTX_FAIL_MEM(err);
	if (w->keys.n == n)
		goto out;
	w->last[n] = -1;
	if (run && run->pivot_cols >= 0 && w->keys.n > (size_t)run->pivot_cols) {
		rc = dtx_err_set(err, DTX_E_PIVOT_TOO_WIDE, __FILE__, __LINE__,
		                 "pivot_records: more than %lld keys", (long long)run->pivot_cols);
		dtx_err_hint(err, "raise \"pivot_cols\" of the plan's limits, or filter before");
	}
out:
	return rc;
}

/* A new record begins with this key. */
static bool begins(const struct work *w, struct dtx_str key, uint32_t id)
{
	if (w->record < 0 || w->in_record == 0)
		return true;
	if (w->a->every)
		return w->in_record >= w->a->every;
	if (w->a->start)
		return dtx_str_is(key, w->a->start);
	return w->last[id] == w->record;
}

static enum dtx_code add_row(struct work *w, int64_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_from value;
	struct dtx_str key;
	uint32_t id;

	DTX_TRY(read_row(w, row, &key, &value, err));
	DTX_TRY(key_number(w, key, &id, err));
	if (begins(w, key, id)) {
		w->record++;
		w->in_record = 0;
	}
	w->in_record++;
	if (w->last[id] == w->record) {
		rc = blame(w, row, DTX_E_PIVOT_NOT_UNIQUE, "a record has a key once", key, err);
		goto out;
	}
	w->last[id] = w->record;
	if (!dtx_mem_reserve(&w->entry, &w->cap, w->n + 1, sizeof(*w->entry)))
		DTX_FAIL_MEM(err);
	w->entry[w->n++] = (struct entry){ w->record, id, value };
out:
	return rc;
}

static bool row_blank(struct work *w, int64_t row)
{
	return dtx_raw_blank(&w->m->raw, row, (uint32_t)w->s->key) &&
	       (w->a->sep || dtx_raw_blank(&w->m->raw, row, (uint32_t)w->s->value));
}

static enum dtx_code read_rows(struct work *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t blank = 0;

	for (int64_t row = 0; row < w->m->raw.table->nrows; row++) {
		DTX_TRY(dtx_cancel_line((uint64_t)row, err));
		if (row_blank(w, row)) {
			w->in_record = 0;
			blank++;
		} else {
			DTX_TRY(add_row(w, row, err));
		}
	}
	dtx_relayout_count(w->m, "blank", blank);
out:
	return rc;
}

/* --- the columns --- */

static int key_cmp(const void *a, const void *b)
{
	const struct dtx_strmap_entry *const *x = a, *const *y = b;

	return dtx_str_cmp((*x)->key, (*y)->key);
}

static enum dtx_code place_keys(struct work *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_relayout *m = w->m;
	size_t n = w->keys.n;
	uint32_t *at = dtx_arena_alloc(&m->arena, n + 1, sizeof(*at));
	const struct dtx_strmap_entry **key = dtx_arena_alloc(&m->arena, n + 1, sizeof(*key));

	if (!at || !key)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		key[i] = &w->keys.entry[i];
	if (w->a->names_order == ORDER_SORTED && n > 1)
		qsort(key, n, sizeof(*key), key_cmp);
	DTX_TRY(dtx_relayout_size(m, w->record + 1, (uint32_t)n, err));
	for (uint32_t c = 0; c < n; c++) {
		at[key[c]->value] = c;
		DTX_TRY(dtx_relayout_name(m, key[c]->key, &m->out[c].name, err));
		DTX_TRY(dtx_relayout_cells(m, c, err));
	}
	for (size_t i = 0; i < w->n; i++)
		m->out[at[w->entry[i].key]].cell[w->entry[i].record] = w->entry[i].value;
	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->row[r] = -1;
	DTX_TRY(dtx_relayout_tidy(m, err));
out:
	return rc;
}

static enum dtx_code records_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	struct work w = { .m = m, .a = m->ox->args, .s = m->ox->bound, .record = -1 };
	enum dtx_code rc = DTX_OK;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	DTX_TRY(read_rows(&w, err));
	DTX_TRY(place_keys(&w, err));
out:
	dtx_strmap_clear(&w.keys);
	dtx_mem_free(w.last);
	dtx_mem_free(w.entry);
	dtx_buf_clear(&w.text);
	return rc;
}

static enum dtx_code records_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_arena *arena, const struct dtx_schema **out,
                                    struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, records_lay, err);
}

static enum dtx_code records_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, records_lay, err);
}

static void records_explain(const void *args, struct dtx_buf *out)
{
	const struct records_args *a = args;

	dtx_buf_printf(out, "make records of the keys in %s", a->key ? a->key : "the first column");
	if (a->sep)
		dtx_buf_printf(out, ", values after '%s'", a->sep);
	else
		dtx_buf_printf(out, " and the values in %s", a->value ? a->value : "the second");
	if (a->start)
		dtx_buf_printf(out, "; a record begins with '%s'", a->start);
	else if (a->every)
		dtx_buf_printf(out, "; a record has %lld rows", (long long)a->every);
}

const struct dtx_op dtx_op_pivot_records = {
	.name = "pivot_records",
	.aliases = "key_value_to_columns",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make records of key and value rows",
	.notes = "A record ends before a row whose key and value are blank, before key `start`, "
		 "after `every` rows, or, with neither, before a key that it already has. Absent "
		 "keys are null. A value without a key is unexpected_value. Column types are found "
		 "again.",
	.facts = { .cells = true },
	.params = records_params,
	.nparams = DTX_COUNT(records_params),
	.examples = records_examples,
	.nexamples = DTX_COUNT(records_examples),
	.args_size = sizeof(struct records_args),
	.check = records_check,
	.bind = records_bind,
	.whole = records_whole,
	.whole_schema = records_schema,
	.triggers = "pivot_not_unique",
	.explain = records_explain,
};
