/* Where the messages of an Arrow file or stream are: a stream is a sequence of them, a file has a
 * footer that lists them. */
#include "core/base/memory/mem.h"
#include "core/base/text/le.h"
#include "core/io/arrow/arrow.h"

enum { SCHEMA = 1, DICTIONARY = 2, RECORDS = 3 };
enum { V4 = 3, V5 = 4 };
#define MAGIC_LEN (sizeof(DTX_ARROW_MAGIC) - 1)
#define FILE_HEAD 8                  /* magic and two zeros */
#define GOES_ON   UINT32_MAX         /* comes before the length of a message, since version 0.15 */
#define ROWS_MAX  ((int64_t)1 << 48) /* row ids have room for more */

enum dtx_code dtx_arrow_corrupt(const struct dtx_arrow_file *f, const char *what,
                                struct dtx_err *err)
{
	return dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__, "'%s' is damaged: %s",
	                   f->label, what);
}

/* --- one message --- */

/* The length of the metadata of the message at `at`, and how many bytes come before it; false: not
 * enough bytes are left. */
static bool message_head(const uint8_t *p, size_t len, uint64_t at, uint32_t *n, uint32_t *before)
{
	if (at > len || len - at < 4)
		return false;
	*n = dtx_le_u32(p + at);
	*before = 4;
	if (*n != GOES_ON)
		return true;
	if (len - at < 8)
		return false;
	*n = dtx_le_u32(p + at + 4);
	*before = 8;
	return true;
}

static bool is_stream(const uint8_t *p, size_t len)
{
	uint32_t n, before;
	struct dtx_fb fb = { 0 };
	struct dtx_fb_table root;

	if (len < 8 || dtx_le_u32(p) != GOES_ON || !message_head(p, len, 0, &n, &before) || n < 16)
		return false;
	fb.p = p + before;
	fb.n = DTX_MIN(len - before, (size_t)n);
	root = dtx_fb_root(&fb);
	return dtx_fb_u8(&root, 1, 0) == SCHEMA && dtx_fb_i16(&root, 0, 0) >= V4 && !fb.bad;
}

bool dtx_arrow_sniff(const void *head, size_t len)
{
	return (len >= MAGIC_LEN && !memcmp(head, DTX_ARROW_MAGIC, MAGIC_LEN)) ||
	       is_stream(head, len);
}

/* Reads the head of a message whose place is known, and adds it to the list if it has rows or
 * values of a dictionary. The schema of a stream is its first message. */
static enum dtx_code add_message(struct dtx_arrow_file *f, struct dtx_arrow_message *m,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb fb = { f->bytes + m->meta, m->nmeta, false };
	struct dtx_fb_table root = dtx_fb_root(&fb), head = dtx_fb_child(&root, 2), packed;
	unsigned kind = dtx_fb_u8(&root, 1, 0);
	int16_t version = dtx_fb_i16(&root, 0, 0);

	if (!fb.bad && version != V4 && version != V5)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s' has version %d of Arrow's metadata; dtx reads 4 and 5", f->label,
		         version + 1);
	if (kind == SCHEMA && f->has_schema) {
		rc = dtx_arrow_corrupt(f, "it has more than one schema", err);
		goto out;
	}
	if (kind == SCHEMA) {
		DTX_TRY(dtx_arrow_schema(f, head, err));
		goto check;
	}
	if (kind != DICTIONARY && kind != RECORDS)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s' has a message of kind %u, which is not part of a table", f->label,
		         kind);
	m->dictionary = kind == DICTIONARY;
	if (m->dictionary)
		head = dtx_fb_child(&head, 1);
	m->rows = dtx_fb_i64(&head, 0, 0);
	packed = dtx_fb_child(&head, 3);
	if (m->rows < 0 || m->rows > ROWS_MAX || (!m->dictionary && f->rows + m->rows > ROWS_MAX)) {
		rc = dtx_arrow_corrupt(f, "a record batch has an impossible number of rows", err);
		goto out;
	}
	f->codecs |= !packed.size ? 1 : dtx_fb_u8(&packed, 0, 0) ? 4 : 2;
	m->first_row = f->rows;
	f->rows += m->dictionary ? 0 : m->rows;
	f->batches += !m->dictionary;
	if (!dtx_mem_reserve(&f->message, &f->cap, f->nmessages + 1, sizeof(*f->message)))
		DTX_FAIL_MEM(err);
	f->message[f->nmessages++] = *m;
check:
	if (fb.bad)
		rc = dtx_arrow_corrupt(f, "the head of a message is malformed", err);
out:
	return rc;
}

/* --- streams --- */

static enum dtx_code open_stream(struct dtx_arrow_file *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t at = 0;
	uint32_t n, before;

	while (at < f->len && !f->ended) {
		struct dtx_arrow_message m = { 0 };
		struct dtx_fb fb;
		struct dtx_fb_table root;
		int64_t body;

		if (!message_head(f->bytes, f->len, at, &n, &before)) {
			rc = dtx_arrow_corrupt(f, "it ends within a message", err);
			goto out;
		}
		m.meta = at + before;
		m.nmeta = n;
		f->ended = n == 0;
		at = m.meta + n;
		if (f->ended)
			break;
		fb = (struct dtx_fb){ f->bytes + m.meta, n, at > f->len };
		root = dtx_fb_root(&fb);
		body = dtx_fb_i64(&root, 3, 0);
		if (fb.bad || body < 0 || (uint64_t)body > f->len - at) {
			rc = dtx_arrow_corrupt(f, "it ends within a message, or one is malformed",
			                       err);
			goto out;
		}
		m.body = at;
		m.nbody = (uint64_t)body;
		DTX_TRY(add_message(f, &m, err));
		at += m.nbody;
		if (!f->has_schema) {
			rc = dtx_arrow_corrupt(f, "rows come before the schema", err);
			goto out;
		}
	}
	if (f->ended && at < f->len)
		DTX_FAIL_NEXT(err, DTX_E_UNSUPPORTED_FORMAT,
		              "write each stream to a file of its own",
		              "'%s': %llu bytes follow the end of the stream; dtx reads one stream",
		              f->label, (unsigned long long)(f->len - at));
out:
	return rc;
}

/* --- files --- */

/* Adds the messages of a list of blocks: where each is, the bytes of its head, those of its body.
 */
static enum dtx_code add_blocks(struct dtx_arrow_file *f, const struct dtx_fb_vector *blocks,
                                uint64_t end, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t last = 0; /* writers list them in order; so none is read twice */
	uint32_t i, n, before;

	for (i = 0; i < blocks->n; i++) {
		const uint8_t *p = blocks->fb->p + blocks->at + 24 * (size_t)i;
		uint64_t at = dtx_le_u64(p), body = dtx_le_u64(p + 16);
		uint32_t head = dtx_le_u32(p + 8);
		struct dtx_arrow_message m = { .nbody = body };

		if (at < FILE_HEAD || at < last || at > end || head > end - at ||
		    body > end - at - head || !message_head(f->bytes, f->len, at, &n, &before) ||
		    before > head || n > head - before) {
			rc = dtx_arrow_corrupt(f, "its footer lists a message that is not there",
			                       err);
			goto out;
		}
		m.meta = at + before;
		m.nmeta = n;
		m.body = at + head;
		last = m.body + body;
		DTX_TRY(add_message(f, &m, err));
	}
out:
	return rc;
}

static enum dtx_code open_file(struct dtx_arrow_file *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *end = f->bytes + f->len;
	struct dtx_fb fb = { 0 };
	struct dtx_fb_table root;
	struct dtx_fb_vector dictionaries, batches;
	uint32_t n;

	if (f->len < FILE_HEAD + 4 + MAGIC_LEN ||
	    memcmp(end - MAGIC_LEN, DTX_ARROW_MAGIC, MAGIC_LEN))
		return dtx_arrow_corrupt(f, "it has no footer, so it is not whole", err);
	n = dtx_le_u32(end - MAGIC_LEN - 4);
	if (n > f->len - FILE_HEAD - 4 - MAGIC_LEN)
		return dtx_arrow_corrupt(f, "its footer is larger than the file", err);
	fb.p = end - MAGIC_LEN - 4 - n;
	fb.n = n;
	root = dtx_fb_root(&fb);
	DTX_TRY(dtx_arrow_schema(f, dtx_fb_child(&root, 1), err));
	dictionaries = dtx_fb_items(&root, 2, 24);
	batches = dtx_fb_items(&root, 3, 24);
	if (fb.bad)
		return dtx_arrow_corrupt(f, "its footer is malformed", err);
	DTX_TRY(add_blocks(f, &dictionaries, f->len - n, err));
	DTX_TRY(add_blocks(f, &batches, f->len - n, err));
out:
	return rc;
}

enum dtx_code dtx_arrow_open(struct dtx_arrow_file *f, struct dtx_err *err)
{
	f->stream = f->len < MAGIC_LEN || memcmp(f->bytes, DTX_ARROW_MAGIC, MAGIC_LEN) != 0;
	if (f->stream && !is_stream(f->bytes, f->len))
		return dtx_arrow_corrupt(f, "it begins neither as an Arrow file nor as a stream",
		                         err);
	return f->stream ? open_stream(f, err) : open_file(f, err);
}

void dtx_arrow_clear(struct dtx_arrow_file *f)
{
	dtx_mem_free(f->message);
	f->message = NULL;
	dtx_arena_clear(&f->arena);
}
