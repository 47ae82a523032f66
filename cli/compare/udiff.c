/* A line diff from the longest common subsequence. The table needs quadratic memory, which is
 * fine for modules. */
#include "cli/compare/udiff.h"

#include <string.h>

#include "core/base/memory/mem.h"

#define UDIFF_LINES   4000
#define UDIFF_CONTEXT 3

struct udiff {
	struct dtx_str *a, *b;
	size_t na, nb;
	uint16_t *common; /* (na + 1) x (nb + 1): number of common lines from there on */
	char *op;         /* ' ', '-', '+' in order */
	size_t nops;
};

static enum dtx_code udiff_lines(struct dtx_str text, struct dtx_str **out, size_t *n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line, rest = text;

	*n = 0;
	*out = dtx_mem_alloc(UDIFF_LINES, sizeof(**out));
	if (!*out)
		DTX_FAIL_MEM(err);
	while (dtx_str_next(&rest, '\n', &line)) {
		if (!rest.ptr && !line.len)
			break;
		if (*n == UDIFF_LINES)
			DTX_FAIL(err, DTX_E_CELL_LIMIT, "more than %d lines to compare",
			         UDIFF_LINES);
		(*out)[(*n)++] = line;
	}
	while (*n && !(*out)[*n - 1].len)
		(*n)--;
out:
	return rc;
}

static bool udiff_same(struct dtx_str a, struct dtx_str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

static uint16_t *udiff_at(const struct udiff *d, size_t i, size_t k)
{
	return &d->common[i * (d->nb + 1) + k];
}

static void udiff_fill(const struct udiff *d)
{
	size_t i, k;

	for (i = d->na; i-- > 0;) {
		for (k = d->nb; k-- > 0;)
			*udiff_at(d, i, k) =
				udiff_same(d->a[i], d->b[k])
					? (uint16_t)(*udiff_at(d, i + 1, k + 1) + 1)
					: DTX_MAX(*udiff_at(d, i + 1, k), *udiff_at(d, i, k + 1));
	}
}

static void udiff_walk(struct udiff *d)
{
	size_t i = 0, k = 0;

	while (i < d->na || k < d->nb) {
		if (i < d->na && k < d->nb && udiff_same(d->a[i], d->b[k])) {
			d->op[d->nops++] = ' ';
			i++, k++;
		} else if (i < d->na &&
		           (k == d->nb || *udiff_at(d, i + 1, k) >= *udiff_at(d, i, k + 1))) {
			d->op[d->nops++] = '-';
			i++;
		} else {
			d->op[d->nops++] = '+';
			k++;
		}
	}
}

/* The end of the hunk that begins at `from`. Changes that are less than two contexts apart are
 * in one hunk. */
static size_t udiff_hunk_end(const struct udiff *d, size_t from)
{
	size_t i, last = from;

	for (i = from; i < d->nops && i <= last + 2 * UDIFF_CONTEXT + 1; i++) {
		if (d->op[i] != ' ')
			last = i;
	}
	return DTX_MIN(last + 1 + UDIFF_CONTEXT, d->nops);
}

static void udiff_hunk(const struct udiff *d, size_t from, size_t end, size_t i, size_t k,
                       struct dtx_buf *out)
{
	size_t n, na = 0, nb = 0;

	for (n = from; n < end; n++) {
		na += d->op[n] != '+';
		nb += d->op[n] != '-';
	}
	dtx_buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", na ? i + 1 : i, na, nb ? k + 1 : k, nb);
	for (n = from; n < end; n++) {
		dtx_buf_addc(out, d->op[n]);
		dtx_buf_adds(out, d->op[n] == '+' ? d->b[k] : d->a[i]);
		dtx_buf_addc(out, '\n');
		i += d->op[n] != '+';
		k += d->op[n] != '-';
	}
}

static void udiff_print(const struct udiff *d, struct dtx_buf *out)
{
	size_t n = 0, i = 0, k = 0, start, end;

	while (n < d->nops) {
		if (d->op[n] == ' ') {
			n++, i++, k++;
			continue;
		}
		/* these lines are equal, otherwise it would be one hunk */
		start = n - DTX_MIN(n, (size_t)UDIFF_CONTEXT);
		end = udiff_hunk_end(d, n);
		udiff_hunk(d, start, end, i - (n - start), k - (n - start), out);
		for (; n < end; n++) {
			i += d->op[n] != '+';
			k += d->op[n] != '-';
		}
	}
}

enum dtx_code dtx_udiff(const char *name_a, struct dtx_str a, const char *name_b, struct dtx_str b,
                        struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct udiff d = { .na = 0 };

	DTX_TRY(udiff_lines(a, &d.a, &d.na, err));
	DTX_TRY(udiff_lines(b, &d.b, &d.nb, err));
	d.common = dtx_mem_zalloc((d.na + 1) * (d.nb + 1), sizeof(*d.common));
	d.op = dtx_mem_alloc(d.na + d.nb + 1, 1);
	if (!d.common || !d.op)
		DTX_FAIL_MEM(err);
	udiff_fill(&d);
	udiff_walk(&d);
	if (*udiff_at(&d, 0, 0) == d.na && d.na == d.nb)
		goto out;
	dtx_buf_printf(out, "--- %s\n+++ %s\n", name_a, name_b);
	udiff_print(&d, out);
out:
	dtx_mem_free(d.a);
	dtx_mem_free(d.b);
	dtx_mem_free(d.common);
	dtx_mem_free(d.op);
	return rc;
}
