/* The expectations of a join: unique keys, and no row without a match.
 *
 * An expectation is checked over a whole side before the join fails, not only up to the first row
 * that breaks it: the message then has the number of such rows and a few samples with their
 * places. */
#include <ctype.h>
#include <stdlib.h>

#include "ops/join/join.h"

static struct dtx_join_sample *sample_add(struct dtx_join_samples *s, uint64_t pos)
{
	if (s->n == DTX_JOIN_SAMPLES)
		return NULL;
	s->item[s->n] = (struct dtx_join_sample){ .pos = pos };
	return &s->item[s->n++];
}

/* Stores the key of a row and its place. */
static void sample_fill(struct dtx_join_samples *s, struct dtx_join_sample *to,
                        const struct dtx_groupkeys *key, struct dtx_batch *b, uint32_t row)
{
	struct dtx_buf text = DTX_BUF_INIT(1024);
	struct dtx_err where = DTX_ERR_INIT;

	dtx_groupkeys_print(key, b, row, &text);
	dtx_str_copy(to->text, sizeof(to->text), dtx_str_of(dtx_buf_text(&text)));
	dtx_buf_clear(&text);
	dtx_batch_set_position(b, row, key->n ? key->col[0] : -1, &where);
	dtx_str_copy(to->cell, sizeof(to->cell), dtx_str_of(where.cell));
	if (to == s->item)
		s->where = where;
}

/* "k = 'a' at L4 (3); k = 'b' at L9 (2)" */
static void samples_print(const struct dtx_join_samples *s, bool counts, struct dtx_buf *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		dtx_buf_printf(out, "%s%s%s%s", i ? "; " : "", s->item[i].text,
		               s->item[i].cell[0] ? " at " : "", s->item[i].cell);
		if (counts)
			dtx_buf_printf(out, " (%lld)", (long long)s->item[i].count);
	}
}

static enum dtx_code fail_with(enum dtx_code code, const char *op, const char *one,
                               const char *many, struct dtx_join_samples *s, bool counts,
                               const char *hint, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(4096);

	samples_print(s, counts, &text);
	dtx_err_set(err, code, __FILE__, __LINE__, "%s: %lld %s: %s", op, (long long)s->total,
	            s->total == 1 ? one : many, dtx_buf_text(&text));
	dtx_err_hint(err, "%s", hint);
	dtx_err_place(err, &s->where);
	if (err)
		err->count = s->total;
	dtx_buf_clear(&text);
	return code;
}

/* --- left rows --- */

/* Records rows whose key occurred before: the first five such keys and how often they occur. */
static void watch_twice(const struct dtx_join_state *s, struct dtx_join_local *l,
                        struct dtx_batch *in, uint32_t k)
{
	struct dtx_join_samples *t = &l->twice;
	uint32_t id = l->seen_id[k], row = dtx_batch_row(in, k), i;
	struct dtx_join_sample *at;

	for (i = 0; i < t->n && t->item[i].id != id; i++)
		;
	if (i < t->n) {
		t->item[i].count++;
		return;
	}
	at = sample_add(t, dtx_batch_pos(in, row));
	if (!at)
		return;
	at->id = id;
	at->count = 2;
	sample_fill(t, at, &s->key.left, in, row);
}

static enum dtx_code watch_unique(const struct dtx_join_state *s, struct dtx_join_local *l,
                                  struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t next = dtx_groups_count(l->seen);
	struct dtx_column *c;

	DTX_TRY(dtx_groupkeys_ids(&s->key.left, l->seen, in, l->seen_id, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		bool null = false;

		if (l->seen_id[k] == next) {
			next++;
			continue;
		}
		for (uint32_t i = 0; !s->nulls_equal && !null && i < s->key.left.n; i++) {
			DTX_TRY(dtx_batch_value(in, (uint32_t)s->key.left.col[i], &c, err));
			null = dtx_column_is_null(c, dtx_batch_row(in, k));
		}
		if (null)
			continue;
		l->twice.total++;
		watch_twice(s, l, in, k);
	}
out:
	return rc;
}

/* Whether a left row without a match is a loss: it goes, or the columns of the right are null. */
static bool wants_matches(const struct dtx_join_state *s)
{
	return s->how != DTX_JOIN_ANTI && s->how != DTX_JOIN_CROSS;
}

enum dtx_code dtx_join_watch(const struct dtx_join_state *s, struct dtx_join_local *l,
                             struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	l->rows_in += in->nsel;
	for (uint32_t k = 0; k < in->nsel; k++) {
		struct dtx_join_sample *at;
		uint32_t row = dtx_batch_row(in, k);

		if (l->probe.id[k] != DTX_GROUP_NONE)
			continue;
		l->unmatched++;
		if (!s->all_left && !wants_matches(s))
			continue;
		l->unpaired.total += s->all_left;
		at = sample_add(&l->unpaired, dtx_batch_pos(in, row));
		if (at)
			sample_fill(&l->unpaired, at, &s->key.left, in, row);
	}
	if (s->left_unique)
		DTX_TRY(watch_unique(s, l, in, err));
out:
	return rc;
}

/* --- right rows --- */

static int ref_cmp(const void *a, const void *b)
{
	const struct dtx_rowref *x = a, *y = b;

	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Inserts id into the first keys of the table, of which there are *n.  Ids are numbered by
 * partition, so they must be compared by their rows. */
static void keep_first(const struct dtx_join_table *t, uint32_t first[DTX_JOIN_SAMPLES],
                       uint32_t *n, uint32_t id)
{
	uint32_t at = *n;

	while (at && ref_cmp(&t->ref[t->start[id]], &t->ref[t->start[first[at - 1]]]) < 0)
		at--;
	if (at == DTX_JOIN_SAMPLES)
		return;
	*n += *n < DTX_JOIN_SAMPLES;
	memmove(first + at + 1, first + at, (*n - at - 1) * sizeof(*first));
	first[at] = id;
}

enum dtx_code dtx_build_unique(const struct dtx_join_table *t, const struct dtx_groupkeys *key,
                               const char *name, struct dtx_err *err)
{
	struct dtx_join_samples twice = { .n = 0 };
	uint32_t first[DTX_JOIN_SAMPLES], n = 0;

	for (uint32_t id = 0; id < t->nkeys; id++) {
		if (dtx_join_matches(t, id) < 2)
			continue;
		twice.total++;
		keep_first(t, first, &n, id);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct dtx_join_sample *at = sample_add(&twice, 0);
		const struct dtx_rowref *again = &t->ref[t->start[first[i]] + 1];

		at->count = dtx_join_matches(t, first[i]);
		sample_fill(&twice, at, key, t->kept.batch[again->batch], again->row);
	}
	if (!twice.total)
		return DTX_OK;
	return fail_with(
		DTX_E_JOIN_CARDINALITY, name, "key of the right table occurs more than once",
		"keys of the right table occur more than once", &twice, true,
		"make the right keys unique: distinct or group_by it in a step before", err);
}

enum dtx_code dtx_join_check_right(const struct dtx_join_state *s, const struct dtx_join_table *t,
                                   struct dtx_err *err)
{
	enum dtx_code rc =
		s->right_unique ? dtx_build_unique(t, &s->key.right, "join", err) : DTX_OK;

	if (rc != DTX_OK)
		dtx_err_hint(err, "make the right keys unique (distinct, group_by) or set "
		                  "cardinality m:m");
	return rc;
}

size_t dtx_join_count_unmatched(const struct dtx_join_table *t)
{
	size_t n = t->nunkeyed;

	for (uint32_t id = 0; id < t->nkeys; id++)
		if (!atomic_load_explicit(&t->hit[id], memory_order_relaxed))
			n += dtx_join_matches(t, id);
	return n;
}

enum dtx_code dtx_join_unmatched(const struct dtx_join_table *t, struct dtx_rowref **out, size_t *n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rowref *ref = dtx_mem_alloc(dtx_join_count_unmatched(t) + 1, sizeof(*ref));
	size_t at = t->nunkeyed;

	if (!ref)
		DTX_FAIL_MEM(err);
	if (at)
		memcpy(ref, t->unkeyed, at * sizeof(*ref));
	for (uint32_t id = 0; id < t->nkeys; id++) {
		if (atomic_load_explicit(&t->hit[id], memory_order_relaxed))
			continue;
		for (uint32_t i = 0; i < dtx_join_matches(t, id); i++)
			ref[at++] = t->ref[dtx_join_start(t, id) + i];
	}
	if (at)
		qsort(ref, at, sizeof(*ref), ref_cmp);
	*out = ref;
	*n = at;
out:
	return rc;
}

static enum dtx_code check_all_right(const struct dtx_join_state *s, const struct dtx_join_table *t,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_samples unpaired = { .n = 0 };
	struct dtx_rowref *ref = NULL;
	size_t n;

	DTX_TRY(dtx_join_unmatched(t, &ref, &n, err));
	unpaired.total = (int64_t)n;
	for (size_t i = 0; i < n && i < DTX_JOIN_SAMPLES; i++)
		sample_fill(&unpaired, sample_add(&unpaired, 0), &s->key.right,
		            t->kept.batch[ref[i].batch], ref[i].row);
	if (n)
		rc = fail_with(DTX_E_JOIN_UNMATCHED, "join",
		               "row of the right table matches no left row",
		               "rows of the right table match no left row", &unpaired, false,
		               "correct the keys, or set \"match\": \"any\"", err);
out:
	dtx_mem_free(ref);
	return rc;
}

/* --- the end --- */

static int sample_cmp(const void *a, const void *b)
{
	const struct dtx_join_sample *x = a, *y = b;

	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* The first five over all workers; each worker has collected its own first five. */
static enum dtx_code merge_unpaired(struct dtx_join_local *const *l, unsigned n,
                                    struct dtx_join_samples *all, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_sample *item;
	uint64_t first = 0;
	size_t at = 0;

	*all = (struct dtx_join_samples){ .n = 0 };
	item = dtx_mem_alloc((size_t)n * DTX_JOIN_SAMPLES + 1, sizeof(*item));
	if (!item)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++) {
		all->total += l[w]->unpaired.total;
		if (l[w]->unpaired.n && (!at || l[w]->unpaired.item[0].pos < first)) {
			first = l[w]->unpaired.item[0].pos;
			all->where = l[w]->unpaired.where;
		}
		for (uint32_t i = 0; i < l[w]->unpaired.n; i++)
			item[at++] = l[w]->unpaired.item[i];
	}
	qsort(item, at, sizeof(*item), sample_cmp);
	for (size_t i = 0; i < at && i < DTX_JOIN_SAMPLES; i++)
		all->item[all->n++] = item[i];
out:
	dtx_mem_free(item);
	return rc;
}

enum dtx_code dtx_join_check_end(const struct dtx_join_state *s, struct dtx_join_local *const *l,
                                 unsigned n, const struct dtx_join_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_samples unpaired;

	for (unsigned w = 0; w < n; w++)
		if (l[w]->twice.total)
			return fail_with(DTX_E_JOIN_CARDINALITY, "join",
			                 "left row repeats an earlier key",
			                 "left rows repeat an earlier key", &l[w]->twice, true,
			                 "make the left keys unique (distinct, group_by) or set "
			                 "cardinality m:m",
			                 err);
	DTX_TRY(merge_unpaired(l, n, &unpaired, err));
	if (unpaired.total) {
		rc = fail_with(DTX_E_JOIN_UNMATCHED, "join",
		               "left row matches no row of the right table",
		               "left rows match no row of the right table", &unpaired, false,
		               "correct the keys, or set \"match\": \"any\"", err);
		goto out;
	}
	if (s->all_right)
		DTX_TRY(check_all_right(s, t, err));
out:
	return rc;
}

/* --- no match at all --- */

void dtx_join_note_right(const struct dtx_join_state *s, struct dtx_join_shared *sh)
{
	const struct dtx_kept *kept = &sh->table->kept;
	struct dtx_batch *b = kept->n ? kept->batch[0] : NULL;

	for (uint32_t k = 0; b && s->key.right.n; k++) {
		struct dtx_join_sample *at =
			k < b->nsel ? sample_add(&sh->first, dtx_batch_pos(b, k)) : NULL;

		if (!at)
			return;
		sample_fill(&sh->first, at, &s->key.right, b, dtx_batch_row(b, k));
	}
}

/* The next character of the key in `k = 'a1'`, without blanks and in lower case; NUL: the end. */
static char key_next(const char **at)
{
	while (**at == ' ')
		(*at)++;
	return **at ? (char)tolower((unsigned char)*(*at)++) : '\0';
}

static const char *key_start(const char *text)
{
	const char *at = strstr(text, " = '");

	at = at ? at + strlen(" = '") : "";
	while (*at == ' ' || (*at == '0' && at[1] != '\''))
		at++;
	return at;
}

/* Whether two keys differ only in what people overlook: case, blanks, leading zeros. */
static bool is_alike(const struct dtx_join_sample *a, const struct dtx_join_sample *b)
{
	const char *x = key_start(a->text), *y = key_start(b->text);
	char c = key_next(&x), d = key_next(&y), first = c;

	while (c && c == d) {
		c = key_next(&x);
		d = key_next(&y);
	}
	return first && first != '\'' && c == d;
}

enum dtx_code dtx_join_warn_apart(const struct dtx_opctx *ox, struct dtx_join_local *const *l,
                                  unsigned n, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	const struct dtx_join_shared *sh = ox->shared;
	const struct dtx_join_sample *left, *right;
	struct dtx_join_samples unpaired = { .n = 0 };
	int64_t rows = 0, unmatched = 0;
	bool alike = false;
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < n; w++) {
		rows += l[w]->rows_in;
		unmatched += l[w]->unmatched;
	}
	if (ox->run->by_keys || !wants_matches(s) || !rows || unmatched < rows || !sh->first.n)
		goto out;
	DTX_TRY(merge_unpaired(l, n, &unpaired, err));
	left = unpaired.item;
	right = sh->first.item;
	for (uint32_t i = 0; i < unpaired.n * sh->first.n && s->key.left.n == 1 && !alike; i++) {
		alike = is_alike(&unpaired.item[i / sh->first.n], &sh->first.item[i % sh->first.n]);
		if (alike) {
			left = &unpaired.item[i / sh->first.n];
			right = &sh->first.item[i % sh->first.n];
		}
	}
	dtx_op_warn(
		ox, DTX_W_RESULT_NOTE,
		"no row has its key in '%.60s', where it is for example %.110s and not %.110s%s",
		((const struct dtx_join_args *)ox->args)->with, right->text, left->text,
		alike ? "; they differ only in case, blanks or leading zeros" : "");
out:
	return rc;
}

/* --- to and from another process --- */

/* Keys that were hit, four to a digit. NULL: out of memory. */
static json_t *hits_json(const struct dtx_join_table *t)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = t->nkeys / 4 + 1;
	uint8_t *hit = dtx_mem_zalloc(n, 1);
	json_t *text = NULL;

	for (uint32_t id = 0; hit && id < t->nkeys; id++)
		if (atomic_load_explicit(&t->hit[id], memory_order_relaxed))
			hit[id / 4] |= (uint8_t)(1u << id % 4);
	for (size_t i = 0; hit && i < n; i++)
		hit[i] = (uint8_t)digit[hit[i]];
	if (hit)
		text = json_stringn((const char *)hit, n);
	dtx_mem_free(hit);
	return text;
}

json_t *dtx_join_save(const struct dtx_opctx *ox, void *local)
{
	const struct dtx_join_local *l = local;
	struct dtx_join_shared *sh = ox->shared;

	return json_pack("{sI sI sI sI sI sI sb so}", "left", (json_int_t)l->rows_in, "unmatched",
	                 (json_int_t)l->unmatched, "unpaired", (json_int_t)l->unpaired.total, "in",
	                 (json_int_t)sh->rows_in, "out", (json_int_t)sh->rows_out, "bits",
	                 (json_int_t)sh->table->bits, "dense", sh->table->dense, "hit",
	                 hits_json(sh->table));
}

enum dtx_code dtx_join_load(const struct dtx_opctx *ox, void *local, const json_t *saved,
                            struct dtx_err *err)
{
	struct dtx_join_local *l = local;
	struct dtx_join_shared *sh = ox->shared;
	struct dtx_join_table *t = sh->table;
	const char *hit = dtx_json_text(saved, "hit", "");
	enum dtx_code rc = DTX_OK;

	/* else the numbers of keys are others */
	if (strlen(hit) != t->nkeys / 4 + 1 || dtx_json_int(saved, "bits", -1) != t->bits ||
	    json_is_true(json_object_get(saved, "dense")) != t->dense)
		DTX_FAIL(err, DTX_E_BUG, "internal: two right sides differ");
	for (uint32_t id = 0; id < t->nkeys; id++) {
		char c = hit[id / 4];

		if ((unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) >> id % 4 & 1)
			atomic_store_explicit(&t->hit[id], 1, memory_order_relaxed);
	}
	l->rows_in += dtx_json_int(saved, "left", 0);
	l->unmatched += dtx_json_int(saved, "unmatched", 0);
	l->unpaired.total += dtx_json_int(saved, "unpaired", 0);
	sh->rows_in += dtx_json_int(saved, "in", 0);
	sh->rows_out += dtx_json_int(saved, "out", 0);
out:
	return rc;
}
