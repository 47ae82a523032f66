/* Cuts a stream into slices that end after a record that is known to be complete.
 *
 * While all quotes are regular, the last line end outside quotes is found from the end, so that
 * most bytes are only counted. Otherwise, and for dialects that need libcsv, all records are
 * parsed. */
#include "core/io/source/record_chunker.h"

#include <stdio.h>

#include "core/base/memory/mem.h"

void dtx_record_chunker_init(struct dtx_record_chunker *p, struct dtx_source *src,
                             const struct dtx_dialect *dialect, size_t bytes)
{
	*p = (struct dtx_record_chunker){ .src = src,
		                          .lines = !dialect,
		                          .dialect = dialect,
		                          .bytes = bytes ? bytes : DTX_RECORD_CHUNKER_BYTES };
	dtx_buf_init(&p->rest, 2 * DTX_RECORD_CHUNKER_MOST);
	dtx_buf_init(&p->head, DTX_RECORD_CHUNKER_MOST);
	if (!dialect)
		return;
	p->forward = !dtx_dialect_is_plain(dialect);
	p->text.set = (struct dtx_scan_set){ .delim = dialect->delim[0] ? dialect->delim[0] : '\n',
		                             .quote = dialect->quote ? dialect->quote : '"',
		                             .quotes = dialect->quote != 0 };
	p->text.strict = dialect->quotes == DTX_QUOTES_STRICT;
}

void dtx_record_chunker_clear(struct dtx_record_chunker *p)
{
	dtx_buf_clear(&p->rest);
	dtx_buf_clear(&p->head);
}

/* The position after the last line end, or 0. */
static size_t last_line(const char *s, size_t n)
{
	const char *at = memrchr(s, '\n', n);

	return at ? (size_t)(at - s) + 1 : 0;
}

/* The position after the last line end outside quotes. *sure is false if the quotes are not
 * regular. */
static size_t last_outside(const struct dtx_record_chunker *p, bool *sure)
{
	const char *s = p->rest.ptr;
	size_t n = last_line(s, p->rest.len), i;
	struct dtx_scan_chunk count;
	bool inside;

	*sure = true;
	if (!n || !p->text.set.quotes)
		return n;
	dtx_scan_pick(dtx_cpu_best())->count(s, n, p->text.set, '\n', -1, &count);
	*sure = count.regular[0];
	inside = count.odd;
	for (i = n; i > 0 && *sure; i--) {
		if (s[i - 1] == '\n' && !inside)
			return i;
		inside ^= s[i - 1] == p->text.set.quote;
	}
	return 0;
}

/* The position after the last record that is followed by something, or is closed by a line end. */
static enum dtx_code last_walked(const struct dtx_record_chunker *p, size_t *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_text text = p->text;
	struct dtx_csv_ref *ref = NULL;
	struct dtx_csv_ref_record rec;
	size_t n = p->rest.len, at;
	char ending = p->dialect->ending ? p->dialect->ending : '\n';

	text.data = p->rest.ptr;
	text.end = n;
	*out = 0;
	if (p->forward)
		DTX_TRY(dtx_csv_ref_new(text.data, n, p->dialect, &ref, err));
	for (at = 0; at < n; at = rec.row.next) {
		if (ref)
			DTX_TRY(dtx_csv_ref_read(ref, at, &rec, err));
		else
			dtx_csv_row_read(&text, at, NULL, 0, &rec.row);
		if (rec.row.fault == DTX_CSV_UNTERMINATED || rec.row.fault == DTX_CSV_TOO_LONG)
			break;
		if (rec.row.next < n || text.data[n - 1] == ending)
			*out = rec.row.next;
	}
out:
	dtx_csv_ref_free(ref);
	return rc;
}

/* How many bytes of rest are complete records; 0 if none is known to be. */
static enum dtx_code cut(const struct dtx_record_chunker *p, size_t *out, struct dtx_err *err)
{
	bool sure = !p->forward;

	if (p->lines) {
		*out = last_line(p->rest.ptr, p->rest.len);
		return DTX_OK;
	}
	*out = sure ? last_outside(p, &sure) : 0;
	return *out && sure ? DTX_OK : last_walked(p, out, err);
}

static enum dtx_code pull(struct dtx_record_chunker *p, size_t want, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t got;

	while (!p->end && p->rest.len < want) {
		if (!dtx_buf_room(&p->rest, want - p->rest.len))
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_source_pull(p->src, p->rest.ptr + p->rest.len, want - p->rest.len, &got,
		                        err));
		p->rest.len += got;
		p->end = !got;
	}
out:
	return rc;
}

void dtx_record_chunker_set_position(int64_t line, int64_t byte, struct dtx_err *err)
{
	dtx_err_row(err, line, NULL);
	if (!err)
		return;
	err->byte = byte;
	snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line + 1);
}

static enum dtx_code too_large(const struct dtx_record_chunker *p, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_INPUT_LIMIT, __FILE__, __LINE__,
	            "'%s': the record at L%lld (byte %lld) is larger than %zu MiB",
	            dtx_source_name(p->src), (long long)p->line + 1, (long long)p->byte,
	            DTX_RECORD_CHUNKER_MOST >> 20);
	dtx_err_hint(err, "check the quotes at this place; a file, or a pipe without \"stream\", "
	                  "may hold such records");
	dtx_record_chunker_set_position(p->line, p->byte, err);
	return DTX_E_INPUT_LIMIT;
}

static void pass(struct dtx_record_chunker *p, size_t n)
{
	p->line += dtx_csv_line(p->rest.ptr, 0, n);
	p->byte += (int64_t)n;
	p->rest.len -= n;
	memmove(p->rest.ptr, p->rest.ptr + n, p->rest.len);
}

/* Makes a slice of the first n bytes of rest. */
static enum dtx_code take(struct dtx_record_chunker *p, size_t n, struct dtx_source **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t head = p->byte ? p->head.len : 0;
	char *bytes = dtx_mem_alloc(head + n, 1);

	if (!bytes)
		DTX_FAIL_MEM(err);
	if (head)
		memcpy(bytes, p->head.ptr, head);
	memcpy(bytes + head, p->rest.ptr, n);
	DTX_TRY(dtx_source_part(p->src, bytes, head + n, p->byte - (int64_t)head,
	                        p->line - (head ? p->head_lines : 0), out, err));
	pass(p, n);
out:
	return rc;
}

/* Skips blank lines, which are not records: a slice of only blank lines would not be a document. */
static bool skip_blank(struct dtx_record_chunker *p, size_t n)
{
	if (!p->lines || dtx_str_trim((struct dtx_str){ p->rest.ptr, n }).len)
		return false;
	pass(p, n);
	return true;
}

enum dtx_code dtx_record_chunker_next(struct dtx_record_chunker *p, struct dtx_source **out,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t want = p->bytes, n = 0;

	*out = NULL;
	for (;; want *= 2) {
		DTX_TRY(pull(p, want, err));
		if (dtx_source_stopped(p->src))
			goto out;
		n = p->rest.len;
		if (!p->end)
			DTX_TRY(cut(p, &n, err));
		if (n && skip_blank(p, n)) {
			want = (p->bytes + 1) / 2;
			continue;
		}
		if (n || p->end)
			break;
		if (want >= DTX_RECORD_CHUNKER_MOST) {
			rc = too_large(p, err);
			goto out;
		}
	}
	if (n)
		DTX_TRY(take(p, n, out, err));
out:
	return rc;
}
