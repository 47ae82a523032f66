/* A text that is read in slices, each with a guess where its first record begins, has the rows that
 * it has as a whole. Batches go through bytes and back on the way (core/data/frame/frame_batch.h).
 */
#include "core/data/frame/frame_batch.h"
#include "tests/unit/csv_dump.h"

struct sliced {
	struct dtx_source *src;
	struct dtx_reader *r;
	const struct dtx_schema *schema;
	uint8_t need[8];
	struct dtx_owner *bytes[65536]; /* of the batches */
	size_t nbytes;
	struct dump_state *rows;
	unsigned repaired;
};

static enum dtx_code open_text(struct sliced *s, struct dtx_str text, uint32_t piece,
                               struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	enum dtx_code rc = DTX_OK;

	opts.piece_bytes = piece;
	DTX_TRY(dtx_source_bytes("t.csv", text.ptr, text.len, &s->src, err));
	DTX_TRY(dtx_read_csv.open(s->src, &opts, &s->r, err));
	DTX_TRY(s->r->cls->schema(s->r, &s->schema, err));
	memset(s->need, DTX_NEED_BYTES, sizeof(s->need));
out:
	return rc;
}

/* The batch as another process would have it. */
static enum dtx_code through_bytes(struct sliced *s, struct dtx_batch **b, struct dtx_err *err)
{
	struct dtx_buf bytes = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_batch *made = NULL;
	struct dtx_str text;
	char *block = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_frame_batch_save(*b, &bytes, err));
	text.len = bytes.len;
	text.ptr = block = dtx_buf_steal(&bytes);
	s->bytes[s->nbytes] = dtx_owner_take(block);
	DTX_TRY(dtx_frame_batch_load(text, s->bytes[s->nbytes++], s->schema, &made, err));
	made->seq = (*b)->seq;
	made->sub = (*b)->sub;
	made->last = (*b)->last;
	made->origin = (*b)->origin;
	dtx_batch_free(*b);
	*b = made;
out:
	dtx_buf_clear(&bytes);
	return rc;
}

/* Reads one slice; its batches follow those of the slices before it if `keep`. */
static enum dtx_code read_slice(struct sliced *s, struct dtx_scan_slice *slice, uint64_t seq,
                                bool keep, struct dtx_err *err)
{
	struct dtx_scan scan = {
		.schema = s->schema, .need = s->need, .limit = -1, .workers = 1, .slice = slice
	};
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(s->r->cls->start(s->r, &scan, err));
	for (;;) {
		DTX_TRY(s->r->cls->next(s->r, 0, &b, err));
		if (!b)
			break;
		DTX_TRY(through_bytes(s, &b, err));
		b->seq += seq;
		if (keep)
			s->rows->batch[s->rows->n++] = b;
		else
			dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code read_slices(struct sliced *s, uint64_t each, int64_t *rows,
                                 struct dtx_err *err)
{
	uint64_t bytes, n = s->r->cls->pieces(s->r, &bytes), border = 0;
	enum dtx_code rc = DTX_OK;

	for (uint64_t at = 0; at < n; at += each) {
		struct dtx_scan_slice slice = { .first = at,
			                        .end = DTX_MIN(at + each, n),
			                        .guessed = true };
		struct dtx_err wrong = DTX_ERR_INIT;

		/* a slice that begins at the wrong place may even fail */
		rc = read_slice(s, &slice, at, false, &wrong);
		s->repaired += at && slice.begin != border;
		if (at)
			slice.begin = border;
		slice.guessed = false;
		DTX_TRY(read_slice(s, &slice, at, true, err));
		border = slice.next;
		*rows += s->r->stats.rows_out;
	}
out:
	return rc;
}

static void same_in_slices(const char *text, uint32_t piece, uint64_t each, unsigned *repaired)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf whole = DTX_BUF_INIT(DUMP_MAX), parts = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct sliced *s = calloc(1, sizeof(*s));
	struct dtx_read_stats stats;
	int64_t rows = 0;

	s->rows = calloc(1, sizeof(*s->rows));
	how.places = true;
	T_OK(dump_csv(text, strlen(text), &how, &whole, &stats, NULL, &err), &err);
	T_OK(open_text(s, dtx_str_of(text), piece, &err), &err);
	T_OK(read_slices(s, each, &rows, &err), &err);
	dtx_buf_adds(&parts, (struct dtx_str){ whole.ptr, strcspn(whole.ptr, "\n") + 1 });
	/* the places of rows are looked up by the reader of all, as the driver of a run does */
	T_OK(s->r->cls->start(
		     s->r,
		     &(struct dtx_scan){
			     .schema = s->schema, .need = s->need, .limit = -1, .workers = 1 },
		     &err),
	     &err);
	dump_batches(s->rows, &how, &parts);
	T_STR(dtx_buf_text(&parts), dtx_buf_text(&whole));
	T_INT(rows, stats.rows_out);
	*repaired += s->repaired;
	for (size_t i = 0; i < s->rows->n; i++)
		dtx_batch_free(s->rows->batch[i]);
	for (size_t i = 0; i < s->nbytes; i++)
		dtx_owner_unref(s->bytes[i]);
	if (s->r)
		s->r->cls->close(s->r);
	dtx_source_free(s->src);
	free(s->rows);
	free(s);
	dtx_buf_clear(&whole);
	dtx_buf_clear(&parts);
	dtx_err_clear(&err);
}

void test_csv_slices_have_the_rows_of_the_whole(void)
{
	static const char *const texts[] = {
		"id,t\n1,a\n2,b\n3,c\n4,d\n5,e\n",
		"id,t\r\n1,\"x\r\n2,y\"\r\n2,\"\"\"\n\"\r\n3,\"\n\n\n\n\"\r\n4,b\r\n",
		"id,t\n1,\"a long cell\nwith lines\nthat look, like\nrows,each\nof them, "
		"so\"\n2,b\n",
		"id,t\n1,\"2,3\n4,5\n\"\n2,\"\"\n,\n3,\"\"\"\"\n4,\"\n1,\"\n5,x",
	};
	unsigned repaired = 0;

	for (size_t i = 0; i < DTX_COUNT(texts); i++)
		for (uint32_t piece = 1; piece < 20; piece += 3)
			for (uint64_t each = 1; each < 6; each += 2)
				same_in_slices(texts[i], piece, each, &repaired);
	T_CHECK(repaired > 0);
}
