/* The number formats that a file defines, by id. If an id is defined twice, the later one
 * counts. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/io/sheet/book.h"

enum dtx_code dtx_book_format_add(struct dtx_book *book, struct dtx_book_formats *f, uint32_t id,
                                  struct dtx_str code, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy;

	if (f->n == DTX_BOOK_STYLES_MAX)
		return dtx_archive_limits_fixed(err, "formats", "'%s': over %d number formats",
		                                book->label, DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&f->item, &f->cap, f->n + 1, sizeof(*f->item)))
		DTX_FAIL_MEM(err);
	copy = dtx_arena_strndup(&book->arena, code.ptr, code.len);
	if (!copy)
		DTX_FAIL_MEM(err);
	code.ptr = copy;
	f->item[f->n] = (struct dtx_book_format){ id,
		                                  (uint32_t)f->n,
		                                  { code, dtx_fmt_classify(code), false } };
	f->n++;
out:
	return rc;
}

/* By id; of equal ids the later one comes last. */
static int by_id(const void *a, const void *b)
{
	const struct dtx_book_format *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void dtx_book_formats_sort(struct dtx_book_formats *f)
{
	if (f->n)
		qsort(f->item, f->n, sizeof(*f->item), by_id);
}

struct dtx_book_style dtx_book_format_find(const struct dtx_book_formats *f, uint32_t id)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->item[mid].id <= id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && f->item[lo - 1].id == id)
		return f->item[lo - 1].style;
	return (struct dtx_book_style){ dtx_str_of(dtx_fmt_builtin_code(id)), dtx_fmt_builtin(id),
		                        false };
}
