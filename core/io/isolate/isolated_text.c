/* Texts that arrive in pieces. A version points to an array, which later versions extend in
 * place as long as there is room. What a column sees of it never changes. */
#include "core/base/mem.h"
#include "core/io/sheet/book.h"
#include "core/io/isolate/isolated.h"

/* the most that a workbook can have */
#define TEXTS_MAX ((size_t)DTX_BOOK_STRINGS_MAX + DTX_GRID_TEXTS_MAX)
#define BYTES_MAX (DTX_BOOK_STRING_BYTES_MAX + DTX_GRID_TEXT_MAX)

struct version {
	struct dtx_strings strings;
	struct dtx_str *made; /* its own array; NULL: it extends the previous version's */
	struct dtx_owner *frame;
};

static void version_free(void *arg)
{
	struct version *v = arg;

	dtx_mem_free(v->made);
	dtx_owner_unref(v->frame);
	dtx_mem_free(v);
}

/* Makes the next version, which keeps the previous one alive. Takes v, also on failure. */
static enum dtx_code pool_take(struct dtx_textpool *p, struct version *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner = dtx_owner_new(version_free, v);

	if (!owner) {
		version_free(v);
		DTX_FAIL_MEM(err);
	}
	/* Kept as a keeper of the owner: the chain can be as long as the process likes, and must
	 * not be freed by recursion. */
	dtx_owner_keep(owner, p->owner);
	dtx_owner_unref(p->owner);
	p->owner = owner;
	p->strings = &v->strings;
out:
	return rc;
}

enum dtx_code dtx_textpool_start(struct dtx_textpool *p, bool epoch1904, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct version *v = dtx_mem_zalloc(1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	v->strings.epoch1904 = epoch1904;
	DTX_TRY(pool_take(p, v, err));
out:
	return rc;
}

/* Makes room for n texts after those that stay. A new array belongs to the version. */
static enum dtx_code pool_room(struct dtx_textpool *p, struct version *v, size_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t want = p->n + n;

	if (want <= p->cap)
		goto out;
	want = p->n ? DTX_MAX(want, 2 * p->cap) : want;
	v->made = dtx_mem_alloc(want, sizeof(*v->made));
	if (!v->made)
		DTX_FAIL_MEM(err);
	if (p->n)
		memcpy(v->made, p->item, p->n * sizeof(*v->made));
	p->item = v->made;
	p->cap = want;
out:
	return rc;
}

enum dtx_code dtx_textpool_add(struct dtx_textpool *p, const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *entry, struct dtx_owner *frame,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool epoch1904 = p->strings->epoch1904;
	struct version *v = dtx_mem_zalloc(1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	if (!entry->id) /* these texts replace all others */
		dtx_textpool_clear(p);
	if (!entry->rows || entry->rows > TEXTS_MAX - p->n || entry->b_len > BYTES_MAX - p->bytes)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no texts, or more than a workbook has");
	if (entry->a_len != entry->rows * sizeof(uint32_t))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "texts without their lengths");
	DTX_TRY(pool_room(p, v, (size_t)entry->rows, err));
	DTX_TRY(dtx_frame_strings(view, entry, p->item + p->n, err));
	p->n += (size_t)entry->rows;
	p->bytes += entry->b_len;
	v->frame = dtx_owner_ref(frame);
	v->strings = (struct dtx_strings){ p->item, p->n, epoch1904 };
	rc = pool_take(p, v, err);
	v = NULL;
out:
	if (v)
		version_free(v);
	return rc;
}

void dtx_textpool_clear(struct dtx_textpool *p)
{
	dtx_owner_unref(p->owner);
	*p = (struct dtx_textpool){ NULL, NULL, NULL, 0, 0, 0 };
}
