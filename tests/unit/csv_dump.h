/* Reads a text with the CSV reader and prints the result in one canonical form, for tests. */
#ifndef TESTS_UNIT_CSV_DUMP_H
#define TESTS_UNIT_CSV_DUMP_H

#include <pthread.h>

#include "core/base/thread/pool.h"
#include "core/io/csv/csv.h"
#include "tests/t.h"

#define DUMP_MAX ((size_t)64 << 20)

struct dump_how {
	struct dtx_read_opts opts;
	size_t chunk;
	unsigned workers;
	uint32_t batch_rows;
	const struct dtx_scan_fns *fns;
	bool places;  /* print the byte offset of each row */
	uint32_t mod; /* keep only rows where this divides the sum of the first cell; 0: all */
	bool push;    /* let the reader do that filter */
};
#define DUMP_HOW                                                                                   \
	{                                                                                          \
		.opts = DTX_READ_OPTS_INIT, .workers = 1                                           \
	}

struct dump_state {
	struct dtx_reader *r;
	pthread_mutex_t lock;
	struct dtx_batch *batch[65536];
	size_t n;
};

static inline enum dtx_code dump_work(void *arg, unsigned worker, struct dtx_err *err)
{
	struct dump_state *s = arg;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	for (;;) {
		DTX_TRY(s->r->cls->next(s->r, worker, &b, err));
		if (!b)
			break;
		pthread_mutex_lock(&s->lock);
		if (s->n == DTX_COUNT(s->batch)) {
			pthread_mutex_unlock(&s->lock);
			DTX_FAIL(err, DTX_E_BUG, "too many batches");
		}
		s->batch[s->n++] = b;
		pthread_mutex_unlock(&s->lock);
	}
out:
	return rc;
}

static inline int dump_compare(const void *a, const void *b)
{
	const struct dtx_batch *x = *(struct dtx_batch *const *)a,
			       *y = *(struct dtx_batch *const *)b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->sub < y->sub ? -1 : x->sub > y->sub;
}

static inline void dump_cell(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	size_t from = out->len;

	if (dtx_column_is_null(c, row)) {
		dtx_buf_addc(out, '~');
		return;
	}
	dtx_cast_print(c, row, out);
	if (out->len == from)
		dtx_buf_add(out, "\"\"");
}

static inline uint64_t dump_row_id(const struct dtx_batch *b, uint32_t r)
{
	return b->rec ? b->rec[r] : b->first_row + r;
}

static inline bool dump_keeps(const struct dtx_batch *b, uint32_t row, uint32_t mod)
{
	struct dtx_span s = b->col[0]->v.span[row];
	uint32_t sum = s.len & DTX_SPAN_LEN, i;

	for (i = 0; i < (s.len & DTX_SPAN_LEN); i++)
		sum = sum * 31 + (unsigned char)b->col[0]->base[s.off + i];
	return !mod || sum % mod == 0;
}

/* The `keep` hook of struct dtx_scan. */
static inline enum dtx_code dump_keep(void *arg, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;
	uint32_t i, n = 0;

	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (i = 0; i < b->nrows; i++) {
		if (dump_keeps(b, i, *(const uint32_t *)arg))
			sel[n++] = (uint16_t)i;
	}
	b->nsel = n;
out:
	return rc;
}

static inline void dump_batch(const struct dtx_batch *b, bool places, uint32_t mod,
                              struct dtx_buf *out)
{
	struct dtx_place place;
	uint32_t k, r, i;

	for (k = 0; k < b->nsel; k++) {
		r = b->sel ? b->sel[k] : k;
		if (!dump_keeps(b, r, mod))
			continue;
		if (places) {
			b->origin->locate(b->origin, dump_row_id(b, r), &place);
			dtx_buf_printf(out, "%lld@%lld:", (long long)place.row,
			               (long long)place.byte);
		}
		for (i = 0; i < b->ncols; i++) {
			if (i)
				dtx_buf_addc(out, '|');
			if (b->col[i])
				dump_cell(b->col[i], r, out);
		}
		dtx_buf_addc(out, '\n');
	}
}

/* All batches in order.  Every seq from 0 on must be there and end with `last`. */
static inline void dump_batches(struct dump_state *s, const struct dump_how *how,
                                struct dtx_buf *out)
{
	uint64_t seq = 0;
	size_t i;

	qsort(s->batch, s->n, sizeof(s->batch[0]), dump_compare);
	for (i = 0; i < s->n; i++) {
		if (s->batch[i]->seq != seq)
			dtx_buf_add(out, "SEQ MISSING\n");
		dump_batch(s->batch[i], how->places, how->mod, out);
		seq += s->batch[i]->last;
	}
}

static inline enum dtx_code dump_read(struct dtx_reader *r, const struct dump_how *how,
                                      struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *schema = NULL;
	struct dump_state *s = calloc(1, sizeof(*s));
	uint8_t *need = NULL, *keep_need = NULL;
	struct dtx_scan scan = { .limit = -1,
		                 .workers = how->workers,
		                 .batch_rows = how->batch_rows };
	size_t i;

	s->r = r;
	pthread_mutex_init(&s->lock, NULL);
	DTX_TRY(r->cls->schema(r, &schema, err));
	need = malloc(schema->nfields + 1);
	memset(need, DTX_NEED_BYTES, schema->nfields + 1);
	scan.schema = schema;
	scan.need = need;
	keep_need = calloc(schema->nfields + 1, 1);
	keep_need[0] = 1;
	if (how->push) {
		scan.keep = dump_keep;
		scan.keep_arg = (void *)(uintptr_t)&how->mod;
		scan.keep_need = keep_need;
	}
	if (r->cls == &dtx_read_csv)
		DTX_TRY(dtx_csv_tune(r, how->chunk, how->fns, err));
	DTX_TRY(r->cls->start(r, &scan, err));
	DTX_TRY(dtx_pool_run(how->workers, dump_work, s, err));
	for (i = 0; i < schema->nfields; i++)
		dtx_buf_printf(out, "%s%s:%s", i ? "|" : "", schema->field[i].name,
		               dtx_type_name(schema->field[i].type.type));
	dtx_buf_addc(out, '\n');
	dump_batches(s, how, out);
out:
	for (i = 0; i < s->n; i++)
		dtx_batch_free(s->batch[i]);
	pthread_mutex_destroy(&s->lock);
	free(need);
	free(keep_need);
	free(s);
	return rc;
}

/* Prints names and types, then the rows.  `stats` and `diags` (may be NULL) receive the ledger and
 * the notes. */
static inline enum dtx_code dump_csv(const char *text, size_t len, const struct dump_how *how,
                                     struct dtx_buf *out, struct dtx_read_stats *stats,
                                     struct dtx_buf *diags, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	size_t i;

	dtx_buf_reset(out);
	DTX_TRY(dtx_source_bytes("t.csv", text, len, &src, err));
	DTX_TRY(dtx_read_csv.open(src, &how->opts, &r, err));
	DTX_TRY(dump_read(r, how, out, err));
	DTX_TRY(dtx_reader_misfits(r, err));
	if (stats)
		*stats = r->stats;
	for (i = 0; diags && i < r->diags.n; i++)
		dtx_buf_printf(diags, "%s: %s\n", dtx_code_name(r->diags.item[i].code),
		               r->diags.item[i].msg);
out:
	if (r)
		r->cls->close(r);
	dtx_source_free(src);
	return rc;
}

/* Checks what a text is read as, with the default options except for those in `how`. */
static inline void dump_is(const char *text, const struct dump_how *how, const char *want,
                           const char *file, int line)
{
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dump_csv(text, strlen(text), how, &out, NULL, NULL, &err);

	t_eq_code(rc, DTX_OK, &err, file, line);
	if (rc == DTX_OK)
		t_eq_str(dtx_buf_text(&out), want, file, line);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}
#define DUMP_IS(text, how, want) dump_is(text, how, want, __FILE__, __LINE__)

/* Checks that the text is refused with a code, and with a message that contains `part`. */
static inline void dump_fails(const char *text, size_t len, const struct dump_how *how,
                              enum dtx_code code, const char *part, const char *file, int line)
{
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dump_csv(text, len, how, &out, NULL, NULL, &err);

	t_eq_code(rc, code, &err, file, line);
	if (rc == code && !strstr(err.msg, part))
		t_fail(file, line, "message [%s] has no [%s]", err.msg, part);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}
#define DUMP_FAILS(text, how, code, part)                                                          \
	dump_fails(text, strlen(text), how, code, part, __FILE__, __LINE__)

#endif
