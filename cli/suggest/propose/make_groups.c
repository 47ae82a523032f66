/* Maker for groups of columns: two lists in their names ("hours_2023", "cost_2023", "hours_2024",
 * "cost_2024"), or the same names again. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "cli/suggest/propose/makers.h"
#include "core/base/text/utf8.h"

#define SEPARATORS "_ .-/:()[]"
enum { PARTS_MAX = 64, COLS_MAX = 512, CUTS = 8, LAST_LETTER = 3, PAIRS_MAX = 80, PLACES_MAX = 40 };

struct cut { /* a name cut into two parts; the separator is left out */
	struct dtx_str left, right;
	uint32_t col;
	int l, r; /* numbers of the parts */
};
struct groups {
	struct cut cut[COLS_MAX];
	uint32_t n;
	struct dtx_str left[PARTS_MAX], right[PARTS_MAX];
	uint32_t nleft, nright;
	bool l_in[PARTS_MAX], r_in[PARTS_MAX]; /* parts of the set */
	int32_t at[PARTS_MAX][PARTS_MAX];      /* column of the parts, or -1 */
};

static bool is_separator(char c)
{
	return strchr(SEPARATORS, c) != NULL;
}

/* The places at which a name can be cut: at runs of separators, and between letters and digits.
 * Returns their number. */
static uint32_t cut_places(struct dtx_str t, size_t (*place)[2], uint32_t max)
{
	uint32_t n = 0;
	size_t i, from, k;

	for (i = 1; i < t.len && n < max; i++) {
		bool a = isdigit((unsigned char)t.ptr[i - 1]), b = isdigit((unsigned char)t.ptr[i]);

		if (is_separator(t.ptr[i])) {
			for (from = i; i < t.len && is_separator(t.ptr[i]); i++)
				;
			if (i == t.len)
				break;
			place[n][0] = from;
			for (k = from; k < i; k++) { /* a bracket that ends the left part stays */
				if (t.ptr[k] == ')' || t.ptr[k] == ']')
					place[n][0] = k + 1;
			}
			place[n++][1] = i;
		} else if ((a != b && !is_separator(t.ptr[i - 1])) ||
		           (islower((unsigned char)t.ptr[i - 1]) &&
		            isupper((unsigned char)t.ptr[i]))) {
			place[n][0] = place[n][1] = i;
			n++;
		}
	}
	return n;
}

/* Whether a text ends with a bracket that is opened in it. */
static bool cut_closes(struct dtx_str t)
{
	char open = t.ptr[t.len - 1] == ')' ? '(' : t.ptr[t.len - 1] == ']' ? '[' : '\0';

	return open && memchr(t.ptr, open, t.len) != NULL;
}

/* Parts that differ only in blanks or capitals are the same: "Area (km2)", "Area (km2 )". */
static int part_number(struct dtx_str *list, uint32_t *n, struct dtx_str t)
{
	uint32_t i;

	for (i = 0; i < *n && !dtx_str_eq(list[i], t) &&
	            (list[i].len == t.len || dtx_cell_hash(list[i]) != dtx_cell_hash(t));
	     i++)
		;
	if (i == PARTS_MAX)
		return -1;
	if (i == *n)
		list[(*n)++] = t;
	return (int)i;
}

/* The place at which a name has the ending that most other names have, and the longest of these:
 * in "Home Range points", "Telemetry points" it is "points". n: there is no such place. */
static uint32_t cut_common(const struct dtx_makers *m, struct dtx_str t, size_t (*place)[2],
                           uint32_t n)
{
	uint32_t best = n, most = 1, i, c;

	for (i = 0; i < n; i++) {
		struct dtx_str end = { t.ptr + place[i][1], t.len - place[i][1] };
		uint32_t same = 0;

		for (c = 0; c < m->g->ncols && c < COLS_MAX; c++) {
			struct dtx_str name = dtx_str_of(m->g->name[c]);

			while (name.len > end.len && is_separator(name.ptr[name.len - 1]) &&
			       name.ptr[name.len - 1] != end.ptr[end.len - 1])
				name.len--;
			same += name.len > end.len &&
			        is_separator(name.ptr[name.len - end.len - 1]) &&
			        !memcmp(name.ptr + name.len - end.len, end.ptr, end.len);
		}
		if (same > most) {
			most = same;
			best = i;
		}
	}
	return best;
}

/* Cuts all names at their k-th place from the left, or from the right; k = LAST_LETTER: before
 * their last letter, as in "named", "namem", "incd", "incm", or, from the right, where the ending
 * begins that most names have. */
static void groups_cut(const struct dtx_makers *m, struct groups *s, uint32_t k, bool right)
{
	size_t place[PLACES_MAX][2];
	uint32_t c, n;

	s->n = s->nleft = s->nright = 0;
	memset(s->at, -1, sizeof(s->at));
	for (c = 0; c < m->g->ncols && s->n < COLS_MAX; c++) {
		struct dtx_str t = dtx_utf8_trim(dtx_str_of(m->g->name[c]));
		struct cut *x = &s->cut[s->n];
		uint32_t i;

		while (t.len && is_separator(t.ptr[t.len - 1]) && !cut_closes(t))
			t.len--;
		n = k == LAST_LETTER && !right ? 0 : cut_places(t, place, PLACES_MAX);
		if (k == LAST_LETTER && right) {
			i = cut_common(m, t, place, n);
			if (i == n)
				continue;
			place[k][0] = place[i][0];
			place[k][1] = place[i][1];
			n = k + 1;
		} else if (k == LAST_LETTER && t.len > 3 &&
		           isalpha((unsigned char)t.ptr[t.len - 1])) {
			place[k][0] = place[k][1] = t.len - 1;
			n = k + 1;
		}
		if (n <= k || dtx_like_unnamed(m->g->name[c]))
			continue;
		i = right && k != LAST_LETTER ? n - 1 - k : k;
		x->col = c;
		x->left = (struct dtx_str){ t.ptr, place[i][0] };
		x->right = (struct dtx_str){ t.ptr + place[i][1], t.len - place[i][1] };
		while (x->right.len > 1 && is_separator(x->right.ptr[x->right.len - 1]) &&
		       !cut_closes(x->right))
			x->right.len--; /* its bracket is opened before the cut */
		x->l = part_number(s->left, &s->nleft, x->left);
		x->r = part_number(s->right, &s->nright, x->right);
		if (x->l < 0 || x->r < 0)
			continue;
		s->at[x->l][x->r] = (int32_t)c;
		s->n++;
	}
}

/* Chooses the largest complete set around the left part `seed`: its right parts that another left
 * part shares, and all left parts that have these. Returns the number of columns; 0: no set. */
static uint32_t groups_around(struct groups *s, uint32_t seed)
{
	uint32_t best = 0, other, l, r;

	for (other = 0; other < s->nleft; other++) {
		bool in[PARTS_MAX];
		uint32_t nr = 0, nl = 0;

		if (other == seed)
			continue;
		for (r = 0; r < s->nright; r++) {
			in[r] = s->at[seed][r] >= 0 && s->at[other][r] >= 0;
			nr += in[r];
		}
		for (l = 0; l < s->nleft && nr >= 2; l++) {
			for (r = 0; r < s->nright && (!in[r] || s->at[l][r] >= 0); r++)
				;
			nl += r == s->nright;
		}
		if (nr < 2 || nl < 2 || nr * nl <= best)
			continue;
		best = nr * nl;
		memcpy(s->r_in, in, sizeof(in));
		for (l = 0; l < s->nleft; l++) {
			for (r = 0; r < s->nright && (!in[r] || s->at[l][r] >= 0); r++)
				;
			s->l_in[l] = r == s->nright;
		}
	}
	return best;
}

/* Mean likeness of columns that share a part: a left one (`left`), or a right one. */
static double groups_like(const struct dtx_makers *m, const struct groups *s, bool left)
{
	uint32_t a, b, n = 0, na = left ? s->nleft : s->nright, nb = left ? s->nright : s->nleft;
	double sum = 0;

	for (a = 0; a < na; a++) {
		int32_t last = -1;

		if (!(left ? s->l_in[a] : s->r_in[a]))
			continue;
		for (b = 0; b < nb && n < PAIRS_MAX; b++) {
			int32_t at = left ? s->at[a][b] : s->at[b][a];

			if (!(left ? s->r_in[b] : s->l_in[b]))
				continue;
			if (last >= 0) {
				sum += dtx_like_values(&m->col[last], &m->col[at]);
				n++;
			}
			last = at;
		}
	}
	return n ? sum / n : 0;
}

/* "(a|b|c)", with the longer texts first. The last `end` bytes, which all have, follow it. */
static void pattern_words(struct dtx_buf *out, const struct dtx_str *part, const bool *in,
                          uint32_t n, size_t end)
{
	bool used[PARTS_MAX] = { false };
	struct dtx_str last = { "", 0 };
	uint32_t i, k;

	dtx_buf_addc(out, '(');
	for (k = 0;; k++) {
		uint32_t longest = n;

		for (i = 0; i < n; i++) {
			if (in[i] && !used[i] && (longest == n || part[i].len > part[longest].len))
				longest = i;
		}
		if (longest == n)
			break;
		used[longest] = true;
		dtx_buf_add(out, k ? "|" : "");
		last = part[longest];
		dtx_reshape_escape(out, (struct dtx_str){ last.ptr, last.len - end });
	}
	dtx_buf_addc(out, ')');
	dtx_reshape_escape(out, (struct dtx_str){ last.ptr + last.len - end, end });
}

/* The separator of all names of a set, if it cuts each of them into its two parts; otherwise empty.
 * *bare: all are cut between a letter and a digit, and some have a separator elsewhere. */
static struct dtx_str groups_sep(const struct dtx_makers *m, const struct groups *s, bool *bare)
{
	struct dtx_str sep = { "", 0 };
	bool first = true, same = true, elsewhere = false;
	uint32_t i;

	*bare = true;
	for (i = 0; i < s->n; i++) {
		const struct cut *x = &s->cut[i];
		struct dtx_str name = dtx_str_of(m->g->name[x->col]), one;

		if (!s->l_in[x->l] || !s->r_in[x->r])
			continue;
		one.ptr = x->left.ptr + x->left.len;
		one.len = (size_t)(x->right.ptr - one.ptr);
		sep = first ? one : sep;
		first = false;
		same &= dtx_str_eq(one, sep) && one.len &&
		        name.len == x->left.len + one.len + x->right.len &&
		        dtx_str_find(x->left, one, 0) < 0 && dtx_str_find(x->right, one, 0) < 0;
		*bare &= !one.len;
		elsewhere |= strpbrk(m->g->name[x->col], SEPARATORS) != NULL;
	}
	*bare &= elsewhere;
	return same ? sep : (struct dtx_str){ "", 0 };
}

/* What the chosen parts have in common. Sets `k` to their number, and `end` to the length of the
 * words with which all of them end. */
static struct dtx_like_names groups_names(struct dtx_makers *m, const struct dtx_str *part,
                                          const bool *in, uint32_t n, uint32_t *k, size_t *end)
{
	const char *name[PARTS_MAX];
	uint32_t i;

	*k = 0;
	for (i = 0; i < n && !m->failed; i++) {
		if (!in[i])
			continue;
		name[*k] = dtx_arena_strndup(&m->arena, part[i].ptr, part[i].len);
		m->failed |= !name[(*k)++];
	}
	*end = m->failed ? 0 : dtx_like_end(name, *k);
	for (i = 0; *end && i < *k; i++) {
		size_t len = strlen(name[i]);

		if (len < *end + 2 || !is_separator(name[i][len - *end - 1]))
			break;
	}
	*end += *end && i == *k; /* the blank before the last word */
	/* "0 mg" and "8:00" without it would be less than a value */
	if (*end && isdigit((unsigned char)name[0][strlen(name[0]) - *end - 1]) &&
	    !isalpha((unsigned char)name[0][strlen(name[0]) - *end]))
		*end = 0;
	return m->failed ? (struct dtx_like_names){ .column = "name" } : dtx_like_names(name, *k);
}

/* Gives the columns of a set whose parts are written in several ways the same ones. Returns a step,
 * or NULL if there are no such columns. */
static json_t *groups_rename(const struct dtx_makers *m, const struct groups *s, json_t *cols)
{
	json_t *map = json_array();
	uint32_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		const struct cut *x = &s->cut[i];
		struct dtx_str left = s->left[x->l], right = s->right[x->r];
		json_t *name;

		if (!s->l_in[x->l] || !s->r_in[x->r])
			continue;
		n++;
		if (dtx_str_eq(left, x->left) && dtx_str_eq(right, x->right))
			continue;
		name = json_sprintf("%.*s%.*s%.*s", (int)left.len, left.ptr,
		                    (int)(x->right.ptr - x->left.ptr - (ptrdiff_t)x->left.len),
		                    x->left.ptr + x->left.len, (int)right.len, right.ptr);
		(void)json_array_set(cols, n - 1, name);
		(void)json_array_append_new(
			map, json_pack("{ss so}", "from", m->g->name[x->col], "to", name));
	}
	if (json_array_size(map))
		return json_pack("{ss so}", "op", "rename", "map", map);
	json_decref(map);
	return NULL;
}

/* Adds one reading of a set: the left parts name the values (`left`), or the right ones do. */
static void groups_add(struct dtx_makers *m, const struct groups *s, bool left, uint32_t size)
{
	uint32_t i, col[COLS_MAX] = { 0 }, ncol = 0, k, v;
	size_t l_end, r_end;
	struct dtx_like_names lefts =
		groups_names(m, s->left, s->l_in, s->nleft, left ? &v : &k, &l_end);
	struct dtx_like_names rights =
		groups_names(m, s->right, s->r_in, s->nright, left ? &k : &v, &r_end);
	struct dtx_like_names names = left ? rights : lefts, values = left ? lefts : rights;
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);
	const char *column = dtx_makers_name(m, names.column), *first;
	double score, within = groups_like(m, s, left), other = groups_like(m, s, !left);
	struct dtx_str sep;
	json_t *step, *to, *cols, *rename;
	bool bare, whole;

	for (i = 0; i < s->n; i++) {
		const struct cut *x = &s->cut[i];

		if (!s->l_in[x->l] || !s->r_in[x->r])
			continue;
		col[ncol++] = x->col;
		if (dtx_str_is(left ? x->left : x->right, column)) /* the name of a value */
			column = dtx_makers_name(m, "group");
	}
	if (m->failed || ncol != size)
		return;
	sep = groups_sep(m, s, &bare);
	whole = sep.len && col[0] <= 3 && col[0] + ncol == m->g->ncols;
	for (i = 0; i < ncol && (names.what || names.score >= 0.8 || whole); i++)
		m->crossed[col[i]] = true;
	score = 0.62 +
	        (names.what           ? 0.15
	         : names.score >= 0.8 ? 0.08
	                              : 0) +
	        0.25 * (within - other);
	score -= col[ncol - 1] - col[0] + 1 != ncol ? 0.25 : 0;
	/* years and numbers are no names of columns; letters can be */
	first = left ? s->cut[0].left.ptr : s->cut[0].right.ptr;
	score -= isdigit((unsigned char)*first) || (values.what && !values.numbered) ? 0.3
	         : values.what                                                       ? 0.1
	                                                                             : 0;
	/* "control", "low N", "high N", "low P", "high P": the first one belongs to them too */
	score -= !names.what && names.score < 0.8 && other + 0.05 >= within && col[0] > 1 &&
	                         dtx_like_values(&m->col[col[0] - 1], &m->col[col[0]]) >= 0.8
	                 ? 0.15
	                 : 0;
	score += ncol + 3 >= m->g->ncols ? 0.04 : 0;
	score -= within < 0.55 ? 0.2 : 0;
	score -= bare ? 0.1 : 0;
	/* what all keys end with says nothing: "Low priority", "High priority" */
	l_end = left ? 0 : l_end;
	r_end = left ? r_end : 0;
	if (l_end || r_end)
		sep.len = 0;
	cols = dtx_makers_columns(m, col, ncol);
	rename = groups_rename(m, s, cols);
	if (sep.len) {
		dtx_buf_adds(&b, sep);
	} else {
		dtx_buf_add(&b, "^\\s*");
		pattern_words(&b, s->left, s->l_in, s->nleft, l_end);
		dtx_buf_add(&b, "[ _.:/()\\[\\]-]*");
		pattern_words(&b, s->right, s->r_in, s->nright, r_end);
		dtx_buf_add(&b, "[ _.:/()\\[\\]-]*$");
	}
	to = left ? json_pack("[ss]", ".value", column) : json_pack("[ss]", column, ".value");
	step = json_pack("{ss so so ss}", "op", "pivot_longer", "cols", cols, "names_to", to,
	                 sep.len ? "names_sep" : "names_pattern", dtx_buf_text(&b));
	dtx_makers_add(
		m, "groups", step, score,
		"%u columns have names of two parts: %u values for each of %u %s, such as "
		"'%.40s' with '%.40s'%s; columns of one value are alike to %.0f %%, the others "
		"to %.0f %%",
		ncol, ncol / k, k, names.what ? names.what : "groups", m->g->name[col[0]],
		dtx_makers_first(m, col[0]),
		dtx_makers_place(m, col[0], dtx_makers_first(m, col[0])), 100 * within,
		100 * other);
	if (rename && !m->failed)
		m->failed |= json_array_insert_new(m->list[m->n - 1].steps, 0, rename) < 0;
	else if (values.score >= 0.8 && other >= 0.7)
		/* a list such as "male", "female" names no values either */
		dtx_makers_also(m, score - 0.03, NULL, "names_to",
		                left ? json_pack("[ss]", dtx_makers_name(m, "group"), column)
		                     : json_pack("[ss]", column, dtx_makers_name(m, "group")));
	else
		dtx_makers_sparse(m, col, ncol, score);
	dtx_buf_clear(&b);
}

/* --- names of two levels, which are no grid: "Fossil | Coal", "Fossil | Gas", "Nuclear | All" ---
 */

/* The place of the lower level in a name: after the upper header row, or after a separator that is
 * there once. 0: the name has no levels. *upper: the length of the upper level. */
static size_t level_cut(const struct dtx_makers *m, uint32_t col, const char *sep, size_t *upper)
{
	const char *name = m->g->name[col], *at;

	*upper = 0;
	if (!sep) {
		*upper = m->upper ? m->upper[col] : 0;
		return *upper ? *upper + 1 : 0;
	}
	at = strstr(name, sep);
	if (!at || at == name || !at[strlen(sep)] || strstr(at + 1, sep))
		return 0;
	*upper = (size_t)(at - name);
	return *upper + strlen(sep);
}

/* Proposes a column for each level of the names from column `from` on. Returns the end of the run
 * of columns that have levels. */
static uint32_t levels_run(struct dtx_makers *m, uint32_t from, const char *sep)
{
	struct dtx_str upper[PARTS_MAX];
	const char *tops[PARTS_MAX], *lows[PARTS_MAX];
	uint32_t col[COLS_MAX], to, n = 0, nlow = 0, i;
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);
	bool all[PARTS_MAX];
	double like = 0, score;
	size_t len, low;
	json_t *step;

	for (to = from; to < m->g->ncols && to - from < COLS_MAX; to++) {
		struct dtx_str t = { m->g->name[to], 0 };

		low = level_cut(m, to, sep, &len);
		t.len = len;
		if (to > from && dtx_like_values(&m->col[to - 1], &m->col[to]) < 0.3)
			break; /* labels */
		if (!low || part_number(upper, &n, t) < 0)
			break;
		if (n == 1 && nlow < PARTS_MAX)
			lows[nlow++] = m->g->name[to] + low;
		col[to - from] = to;
		if (to > from)
			like += dtx_like_values(&m->col[to - 1], &m->col[to]);
	}
	if (to - from < 3 || n < 2 || n == to - from)
		return DTX_MAX(to, from + 1);
	for (i = 0; i < n; i++) {
		all[i] = true;
		tops[i] = dtx_arena_strndup(&m->arena, upper[i].ptr, upper[i].len);
		m->failed |= !tops[i];
	}
	if (m->failed)
		return to;
	like /= to - from - 1;
	score = 0.5 + 0.35 * like + (to - from >= 4 ? 0.05 : 0);
	/* where the columns of a grid are of several kinds, one level names the values */
	for (i = 0; i < m->n; i++) {
		if (!strcmp(m->list[i].maker, "groups") && m->list[i].score >= 0.75)
			score = DTX_MIN(score, m->list[i].score - 0.08);
	}
	for (i = from; i < to; i++)
		m->crossed[i] = true;
	if (!sep) {
		dtx_buf_addc(&b, '^');
		pattern_words(&b, upper, all, n, 0);
		dtx_buf_add(&b, " (.*)$");
	}
	step = json_pack("{ss so s[ss] ss}", "op", "pivot_longer", "cols",
	                 dtx_makers_columns(m, col, to - from), "names_to",
	                 dtx_makers_name(m, dtx_like_names(tops, n).what
	                                            ? dtx_like_names(tops, n).column
	                                            : "group"),
	                 dtx_makers_name(m, dtx_like_names(lows, nlow).column), "values_to",
	                 dtx_makers_name(m, "value"));
	m->failed |= !dtx_json_set(step, sep ? "names_sep" : "names_pattern",
	                           json_string(sep ? sep : dtx_buf_text(&b)));
	dtx_makers_add(m, "groups", step, score,
	               "%u columns have names of two levels, such as '%.40s'%s; their values are "
	               "alike to %.0f %%",
	               to - from, m->g->name[from],
	               dtx_makers_place(m, from, dtx_makers_first(m, from)), 100 * like);
	dtx_makers_sparse(m, col, to - from, score);
	dtx_buf_clear(&b);
	return to;
}

static void levels_add(struct dtx_makers *m)
{
	static const char *const seps[] = { NULL, " | ", "|", " - ", ": ", " / " };
	size_t before = m->n, i;
	uint32_t c;

	for (i = 0; i < DTX_COUNT(seps) && m->n == before; i++) {
		for (c = 0; c < m->g->ncols;)
			c = levels_run(m, c, seps[i]);
	}
}

/* --- the same columns again: "Rank", "Country", "Rank", "Country" --- */

/* The length of a name without the number at its end, which the reader gives to a name that is
 * repeated ("Country_2"), or, with `loose`, a person or another program ("Country 1",
 * "Country.1"). *block: which one of its name it is, from 1. */
static size_t block_base(const struct dtx_makers *m, uint32_t col, bool loose, uint32_t *block)
{
	const char *name = m->g->name[col], *cut = strrchr(name, '_');
	size_t len = strlen(name);
	uint32_t c;

	*block = 1;
	if (loose) {
		while (len && isdigit((unsigned char)name[len - 1]))
			len--;
		if (strlen(name) > len + 2)
			return strlen(name); /* a year, as in "Score_2020" */
		while (len && is_separator(name[len - 1]))
			len--;
		len = len ? len : strlen(name);
		for (c = 0; c < col; c++) {
			uint32_t other;

			*block += block_base(m, c, false, &other) >= len &&
			          !strncmp(m->g->name[c], name, len) &&
			          strspn(m->g->name[c] + len, SEPARATORS "0123456789") ==
			                  strlen(m->g->name[c] + len);
		}
		return len;
	}
	for (c = 0; cut && cut[1] >= '2' && cut[1] <= '9' && !cut[2] && c < col; c++) {
		if (strlen(m->g->name[c]) != (size_t)(cut - name) ||
		    strncmp(m->g->name[c], name, (size_t)(cut - name)) != 0)
			continue;
		*block = (uint32_t)(cut[1] - '0');
		return (size_t)(cut - name);
	}
	return len;
}

/* Finds the names that are repeated in each of the blocks. Returns their number. */
static uint32_t blocks_names(const struct dtx_makers *m, struct groups *s, bool loose,
                             uint32_t *blocks)
{
	uint32_t c, k, block, n = 0;

	*blocks = 1;
	memset(s->at, -1, sizeof(s->at));
	s->nleft = 0;
	for (c = 0; c < m->g->ncols && c < COLS_MAX; c++) {
		struct dtx_str base = { m->g->name[c], block_base(m, c, loose, &block) };
		int l = part_number(s->left, &s->nleft, base);

		if (l < 0 || block >= PARTS_MAX)
			return 0;
		s->at[l][block] = (int32_t)c;
		*blocks = DTX_MAX(*blocks, block);
	}
	for (c = 0; c < s->nleft; c++) {
		for (k = 1; k <= *blocks && s->at[c][k] >= 0; k++)
			;
		s->l_in[c] = *blocks > 1 && k > *blocks;
		n += s->l_in[c];
	}
	return n;
}

/* Proposes one row for each block (`across`: for each name, with a column for each block) after
 * giving the columns plain names. */
static void blocks_rename(struct dtx_makers *m, const struct groups *s, uint32_t blocks,
                          bool across, double score)
{
	json_t *map = json_array(), *cols = json_array(), *step;
	const char *number = dtx_makers_name(m, across ? "name" : "block");
	uint32_t i, k, first = UINT32_MAX;

	for (k = 1; k <= blocks; k++)
		for (i = 0; i < s->nleft; i++) {
			json_t *name;

			if (!s->l_in[i])
				continue;
			first = DTX_MIN(first, (uint32_t)s->at[i][k]);
			name = across ? json_sprintf("%.*s|value%u", (int)s->left[i].len,
			                             s->left[i].ptr, k)
			              : json_sprintf("%.*s|%u", (int)s->left[i].len, s->left[i].ptr,
			                             k);
			(void)json_array_append(cols, name);
			(void)json_array_append_new(
				map,
				json_pack("{ss so}", "from", m->g->name[s->at[i][k]], "to", name));
		}
	dtx_makers_add(m, "groups", json_pack("{ss so}", "op", "rename", "map", map), score,
	               "%u columns are %u blocks of the same %u names, such as '%.40s'%s%s",
	               (uint32_t)json_array_size(cols), blocks,
	               (uint32_t)json_array_size(cols) / blocks, m->g->name[first],
	               dtx_makers_place(m, first, dtx_makers_first(m, first)),
	               across ? "; each block has values of its own kind" : "");
	step = json_pack("{ss sO s[ss] ss}", "op", "pivot_longer", "cols", cols, "names_to",
	                 across ? number : ".value", across ? ".value" : number, "names_sep", "|");
	if (!across)
		m->failed |= !dtx_json_set(step, "drop_nulls", json_true());
	if (m->failed) {
		json_decref(step);
	} else {
		json_t *steps = m->list[m->n - 1].steps;

		m->failed |= json_array_append_new(steps, step) < 0;
		if (!across)
			m->failed |=
				json_array_append_new(steps, json_pack("{ss s[s]}", "op", "drop",
			                                               "cols", number)) < 0;
	}
	json_decref(cols);
}

/* Proposes one row for each block. False: there are no blocks. */
static bool blocks_add(struct dtx_makers *m, struct groups *s, bool loose)
{
	uint32_t col[COLS_MAX], blocks, n = blocks_names(m, s, loose, &blocks), i, k, ncol = 0;
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);
	const char *number = dtx_makers_name(m, "block");
	double like = 0, inside = 0;
	uint32_t pairs = 0, sides = 0;
	json_t *step;

	if (blocks < 2 || n * blocks < 3 || n * blocks * 2 < m->g->ncols ||
	    (n == 1 && (blocks < 3 || loose)))
		return false;
	for (k = 1; k <= blocks; k++) {
		int32_t last = -1;

		for (i = 0; i < s->nleft; i++) {
			if (!s->l_in[i])
				continue;
			col[ncol++] = (uint32_t)s->at[i][k];
			if (last >= 0) {
				inside += dtx_like_values(&m->col[last], &m->col[s->at[i][k]]);
				sides++;
			}
			last = s->at[i][k];
			if (k == 1)
				continue;
			like += dtx_like_values(&m->col[s->at[i][k - 1]], &m->col[s->at[i][k]]);
			pairs++;
		}
	}
	like /= pairs;
	inside = sides ? inside / sides : 0;
	for (i = 0; i < ncol; i++)
		m->crossed[col[i]] = true;
	/* "Male", "Female", "Male", "Female": numbers and shares */
	if (inside > like + 0.1) {
		blocks_rename(m, s, blocks, true, 0.5 + 0.35 * inside);
		return true;
	}
	if (loose) {
		blocks_rename(m, s, blocks, false, 0.4 + 0.45 * like);
		return true;
	}
	dtx_buf_addc(&b, '^');
	pattern_words(&b, s->left, s->l_in, s->nleft, 0);
	dtx_buf_add(&b, "_?([0-9]*)$");
	step = json_pack("{ss so s[ss] ss sb}", "op", "pivot_longer", "cols",
	                 dtx_makers_columns(m, col, ncol), "names_to", ".value", number,
	                 "names_pattern", dtx_buf_text(&b), "drop_nulls", 1);
	dtx_makers_add(m, "groups", step, 0.5 + 0.45 * like,
	               "the columns '%.40s' to '%.40s' are repeated %u times; their values are "
	               "alike to %.0f %%, such as '%.40s'%s",
	               m->g->name[col[0]], m->g->name[col[n - 1]], blocks, 100 * like,
	               dtx_makers_first(m, col[0]),
	               dtx_makers_place(m, col[0], dtx_makers_first(m, col[0])));
	if (!m->failed)
		m->failed |= json_array_append_new(
				     m->list[m->n - 1].steps,
				     json_pack("{ss s[s]}", "op", "drop", "cols", number)) < 0;
	if (n == 1 && dtx_makers_blank(m, col, ncol) > 0)
		dtx_makers_also(m, 0.5 + 0.45 * like - 0.02, NULL, "drop_nulls", json_false());
	dtx_buf_clear(&b);
	return true;
}

/* A column of labels that is repeated before each column of values: "School", "Women", "School",
 * "Men". */
static bool repeats_add(struct dtx_makers *m)
{
	const struct dtx_textgrid *g = m->g;
	json_t *again = json_array(), *cols = json_array();
	uint32_t c, first = 0, n = 0;
	int64_t r;

	for (c = 1; c < g->ncols; c++) {
		if (!n && m->col[c].kind < DTX_LOOKS_CODE)
			continue;
		for (r = 0; r < g->nrows; r++) {
			const char *a = dtx_textgrid_at(g, r, first), *b = dtx_textgrid_at(g, r, c);

			if (!a || !b || strcmp(a, b) != 0)
				break;
		}
		if (r < g->nrows || c + 1 == g->ncols || g->nrows < 2)
			continue;
		if (!n++)
			(void)json_array_append_new(cols, json_string(g->name[first + 1]));
		(void)json_array_append_new(again, json_string(g->name[c]));
		(void)json_array_append_new(cols, json_string(g->name[c + 1]));
	}
	if (n && m->col[0].words.n * 2 > m->col[0].filled) {
		dtx_makers_add(m, "groups", json_pack("{ss sO}", "op", "drop", "cols", again), 0.78,
		               "the labels of '%.40s' are repeated %u times, each time before a "
		               "column of values, such as '%.40s'",
		               g->name[first], n, g->name[first + 1]);
		m->failed |= m->failed ||
		             json_array_append_new(
				     m->list[m->n - 1].steps,
				     json_pack("{ss sO ss ss}", "op", "pivot_longer", "cols", cols,
		                               "names_to", dtx_makers_name(m, "name"), "values_to",
		                               dtx_makers_name(m, "value"))) < 0;
	}
	json_decref(again);
	json_decref(cols);
	return n > 0;
}

void dtx_make_groups(struct dtx_makers *m)
{
	struct groups *s = dtx_arena_zalloc(&m->arena, 1, sizeof(*s));
	uint32_t way, seed, best, most;
	uint64_t seen[CUTS] = { 0 };
	size_t before = m->n;

	m->failed |= !s;
	if (m->failed || m->g->ncols < 3 || m->headerless || repeats_add(m) ||
	    blocks_add(m, s, false))
		return;
	for (way = 0; way < CUTS; way++) {
		uint64_t hash = 1;
		uint32_t i;

		groups_cut(m, s, way / 2, way & 1);

		for (best = most = 0, seed = 0; seed < s->nleft && seed < 16; seed++) {
			uint32_t size = groups_around(s, seed);

			if (size > most) {
				most = size;
				best = seed;
			}
		}
		if (!most)
			continue;
		most = groups_around(s, best);
		for (i = 0; i < s->n; i++)
			hash = hash * 31 + (uint64_t)s->cut[i].left.len +
			       s->cut[i].col *
			               (uint64_t)(s->l_in[s->cut[i].l] && s->r_in[s->cut[i].r]);
		seen[way] = hash;
		for (i = 0; i < way && seen[i] != hash; i++)
			;
		if (i < way)
			continue;
		if (way == 2 * LAST_LETTER &&
		    groups_like(m, s, true) < groups_like(m, s, false) + 0.3)
			continue;
		groups_add(m, s, true, most);
		groups_add(m, s, false, most);
	}
	levels_add(m);
	if (m->n == before)
		(void)blocks_add(m, s, true);
}
