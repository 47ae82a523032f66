/* Texts that are nearly the same: keys under which similar texts are equal, and distances. */
#include "core/expr/bound.h"

#include <stdlib.h>

#include "core/base/thread/cancel.h"
#include "core/base/text/utf8.h"

/* Longest text that is compared letter by letter, because the work grows with the square of the
 * length. */
#define LETTERS_MAX 10000u

/* --- keys --- */

static int cmp_words(const void *a, const void *b)
{
	return dtx_str_cmp(*(const struct dtx_str *)a, *(const struct dtx_str *)b);
}

/* Appends the letters and digits of each word to `out`, in lower case and without accents. */
static void plain_words(struct dtx_str s, struct dtx_buf *lower, struct dtx_buf *out)
{
	size_t pos = 0;

	dtx_utf8_lower(lower, s);
	dtx_utf8_to_ascii(out, dtx_buf_str(lower), NULL);
	dtx_buf_reset(lower);
	while (pos < out->len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(out->ptr, out->len, &pos);

		if (dtx_utf8_is_space(cp))
			dtx_buf_addc(lower, ' ');
		else if (dtx_utf8_is_word(cp))
			dtx_buf_addn(lower, out->ptr + from, pos - from);
	}
}

DTX_FN_ROW(row_fingerprint)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf words = DTX_BUF_INIT(run->buf->max), folded = DTX_BUF_INIT(run->buf->max);
	struct dtx_arena_mark mark = dtx_arena_mark(run->scratch);
	struct dtx_str rest, word, *list;
	size_t n = 0;

	plain_words(arg[0].u.s, &words, &folded);
	DTX_TRY(dtx_buf_check(&words, c->fn->name, err));
	DTX_TRY(dtx_buf_check(&folded, c->fn->name, err));
	list = dtx_arena_alloc(run->scratch, words.len / 2 + 2, sizeof(*list));
	if (!list)
		DTX_FAIL_MEM(err);
	rest = dtx_buf_str(&words);
	while (dtx_str_next(&rest, ' ', &word)) {
		if (word.len)
			list[n++] = word;
	}
	qsort(list, n, sizeof(*list), cmp_words);
	for (size_t i = 0; i < n; i++) {
		if (i && dtx_str_eq(list[i], list[i - 1]))
			continue;
		dtx_buf_add(run->buf, i ? " " : "");
		dtx_buf_adds(run->buf, list[i]);
	}
	rc = dtx_fn_made(run, out);
out:
	dtx_arena_rewind(run->scratch, mark); /* otherwise the words of all rows of a batch would
	                                       * stay in memory */
	dtx_buf_clear(&words);
	dtx_buf_clear(&folded);
	return rc;
}

/* American Soundex: letters of the same sound count once if h or w is between them, but twice if a
 * vowel is. */
DTX_FN_ROW(row_soundex)
{
	static const char sound[] = "01230120022455012623010202"; /* for A to Z */
	enum dtx_code rc = DTX_OK;
	struct dtx_buf folded = DTX_BUF_INIT(run->buf->max);
	char last = '0';
	size_t n = 0;

	dtx_utf8_to_ascii(&folded, arg[0].u.s, "");
	DTX_TRY(dtx_buf_check(&folded, c->fn->name, err));
	for (size_t i = 0; i < folded.len && n < 4; i++) {
		char letter = (char)(folded.ptr[i] & ~0x20), s;

		if (letter < 'A' || letter > 'Z')
			continue;
		s = sound[letter - 'A'];
		if (n == 0 || (s != '0' && s != last)) {
			dtx_buf_addc(run->buf, n ? s : letter);
			n++;
		}
		if (letter != 'H' && letter != 'W')
			last = s;
	}
	for (; n && n < 4; n++)
		dtx_buf_addc(run->buf, '0');
	rc = dtx_fn_made(run, out);
out:
	dtx_buf_clear(&folded);
	return rc;
}

/* --- distances --- */

/* Scratch memory of one evaluation. */
struct letters {
	uint32_t a[LETTERS_MAX], b[LETTERS_MAX];
	uint32_t row[LETTERS_MAX + 1];
	uint8_t used_a[LETTERS_MAX], used_b[LETTERS_MAX];
	uint32_t na, nb;
};

static bool letters_of(struct dtx_str s, uint32_t *out, uint32_t *n)
{
	size_t pos = 0;

	for (*n = 0; pos < s.len; ++*n) {
		if (*n == LETTERS_MAX)
			return false;
		out[*n] = dtx_utf8_next(s.ptr, s.len, &pos);
	}
	return true;
}

static enum dtx_code letters_read(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                  const struct dtx_val *arg, struct letters **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!run->local)
		run->local = dtx_arena_alloc(run->scratch, 1, sizeof(struct letters));
	if (!run->local)
		DTX_FAIL_MEM(err);
	*out = run->local;
	if (!letters_of(arg[0].u.s, (*out)->a, &(*out)->na) ||
	    !letters_of(arg[1].u.s, (*out)->b, &(*out)->nb))
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "%s() compares texts of at most %u characters",
		         c->fn->name, LETTERS_MAX);
out:
	return rc;
}

DTX_FN_ROW(row_levenshtein)
{
	enum dtx_code rc = DTX_OK;
	struct letters *x;

	DTX_TRY(letters_read(c, run, arg, &x, err));
	for (uint32_t k = 0; k <= x->nb; k++)
		x->row[k] = k;
	for (uint32_t i = 0; i < x->na; i++) {
		uint32_t diagonal = x->row[0];

		DTX_TRY(dtx_cancel_line(i, err));
		x->row[0] = i + 1;
		for (uint32_t k = 0; k < x->nb; k++) {
			uint32_t up = x->row[k + 1];
			uint32_t swapped = diagonal + (x->a[i] != x->b[k]);

			x->row[k + 1] = DTX_MIN(swapped, DTX_MIN(up, x->row[k]) + 1);
			diagonal = up;
		}
	}
	out->u.i = x->row[x->nb];
out:
	return rc;
}

/* Letters that both texts have, at most half the length of the longer text apart. */
static uint32_t jaro_matches(struct letters *x)
{
	uint32_t longer = DTX_MAX(x->na, x->nb), reach = longer / 2, n = 0;

	reach = reach ? reach - 1 : 0;
	memset(x->used_a, 0, x->na);
	memset(x->used_b, 0, x->nb);
	for (uint32_t i = 0; i < x->na; i++) {
		uint32_t from = i > reach ? i - reach : 0, to = DTX_MIN(i + reach + 1, x->nb);

		for (uint32_t k = from; k < to; k++) {
			if (x->used_b[k] || x->a[i] != x->b[k])
				continue;
			x->used_a[i] = x->used_b[k] = 1;
			n++;
			break;
		}
	}
	return n;
}

static uint32_t jaro_moved(const struct letters *x)
{
	uint32_t k = 0, n = 0;

	for (uint32_t i = 0; i < x->na; i++) {
		if (!x->used_a[i])
			continue;
		while (!x->used_b[k])
			k++;
		n += x->a[i] != x->b[k++];
	}
	return n / 2;
}

DTX_FN_ROW(row_jaro_winkler)
{
	enum dtx_code rc = DTX_OK;
	struct letters *x;
	double m, score;
	uint32_t prefix = 0;

	DTX_TRY(letters_read(c, run, arg, &x, err));
	DTX_TRY(dtx_cancel_look(err)); /* long texts take milliseconds */
	m = jaro_matches(x);
	score = x->na + x->nb == 0 ? 1 : 0;
	if (m > 0)
		score = (m / x->na + m / x->nb + (m - jaro_moved(x)) / m) / 3;
	while (prefix < 4 && prefix < x->na && prefix < x->nb && x->a[prefix] == x->b[prefix])
		prefix++;
	/* a common prefix counts only if the rest is similar too */
	out->u.f = score > 0.7 ? score + prefix * 0.1 * (1 - score) : score;
out:
	return rc;
}

static const struct dtx_fn rows[] = {
	{ .name = "fingerprint",
	  .sig = "t:T",
	  .result = "T",
	  .row = row_fingerprint,
	  .pandas = "dx.fn(\"fingerprint\", {*})",
	  .help = "key of a name: lower-case words without marks and punctuation, sorted, once "
	          "each",
	  .example = "fingerprint('M\xc3\xbcller, Karl')",
	  .value = "karl muller" },
	{ .name = "soundex",
	  .sig = "t:T",
	  .result = "T",
	  .row = row_soundex,
	  .pandas = "dx.fn(\"soundex\", {*})",
	  .help = "key of an English name's sound: a letter and three digits",
	  .example = "soundex('Robert')",
	  .value = "R163" },
	{ .name = "levenshtein",
	  .sig = "a:T, b:T",
	  .result = "I",
	  .row = row_levenshtein,
	  .pandas = "dx.fn(\"levenshtein\", {*})",
	  .help = "fewest characters to insert, delete or replace",
	  .example = "levenshtein('kitten', 'sitting')",
	  .value = "3" },
	{ .name = "jaro_winkler",
	  .sig = "a:T, b:T",
	  .result = "F",
	  .row = row_jaro_winkler,
	  .pandas = "dx.fn(\"jaro_winkler\", {*})",
	  .help = "likeness, 0 to 1; a common start counts above 0.7",
	  .example = "round(jaro_winkler('MARTHA', 'MARHTA'), 3)",
	  .value = "0.961" },
};

const struct dtx_fn_table dtx_fn_similar = { "similar", "Likeness", rows, DTX_COUNT(rows) };
