/* Proposes pivot_longer. The example says which columns are stacked: one or two of its columns hold
 * their names, and where these are equal the cells of its other columns are those of one column of
 * the table, always the same one (a kept column), or another one for each name (a stacked one). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "core/base/memory/mem.h"

enum { NAMES = 2, VALUES = 6, GROUPS = 1024 };

struct unpivot {
	struct dtx_reshape *s;
	uint32_t name[NAMES]; /* wanted columns that hold the names */
	uint32_t nname, ngroups;
	int64_t *order;           /* the wanted rows, group by group */
	int64_t from[GROUPS + 1]; /* where a group begins in `order` */
	uint64_t **sorted;        /* hashes of each column of `have`, sorted */
	bool *taken;              /* columns of `have` that have a use */
	uint32_t value[VALUES];   /* wanted columns of values */
	uint32_t nvalue;
	uint32_t *at;    /* at[v * ngroups + g]: the column of `have` */
	bool sparse;     /* some of these columns have nulls */
	uint32_t fewest; /* distinct values of the name column that has most of them */
	bool by_cols;    /* all rows of the example with one name are next to each other */
};

static const char *group_text(const struct unpivot *u, uint32_t g, uint32_t part)
{
	const char *text = dtx_textgrid_at(u->s->want, u->order[u->from[g]], u->name[part]);

	return text ? text : "";
}

static const char *group_head(const struct unpivot *u, uint32_t v, uint32_t g)
{
	return u->s->have->name[u->at[v * u->ngroups + g]];
}

/* --- groups of wanted rows with the same names --- */

static bool groups_equal(const struct unpivot *u, int64_t a, int64_t b)
{
	uint32_t i;

	for (i = 0; i < u->nname; i++) {
		const char *x = dtx_textgrid_at(u->s->want, a, u->name[i]);
		const char *y = dtx_textgrid_at(u->s->want, b, u->name[i]);

		if (!x || !y || strcmp(x, y) != 0)
			return false;
	}
	return true;
}

/* Puts the rows into groups. False: there are too few, too many, or too large ones. */
static bool groups_make(struct unpivot *u)
{
	const struct dtx_textgrid *want = u->s->want;
	int64_t n = want->nrows, r, at = 0, changes = 0;
	int64_t size[GROUPS] = { 0 }, first[GROUPS], *group;
	uint32_t g;

	group = dtx_arena_alloc(&u->s->arena, (size_t)n + 1, sizeof(*group));
	u->order = dtx_arena_alloc(&u->s->arena, (size_t)n + 1, sizeof(*u->order));
	u->s->failed |= !group || !u->order;
	u->ngroups = 0;
	for (r = 0; r < n && !u->s->failed; r++) {
		for (g = 0; g < u->ngroups && !groups_equal(u, first[g], r); g++)
			;
		u->s->looked += g;
		if (g == GROUPS || g == u->s->have->ncols || u->s->looked > DTX_RESHAPE_LOOKS)
			return false;
		if (g == u->ngroups)
			first[u->ngroups++] = r;
		if (++size[g] > u->s->have->nrows || !groups_equal(u, r, r))
			return false;
		group[r] = g;
		changes += r && group[r] != group[r - 1];
	}
	if (u->s->failed || u->ngroups < 2)
		return false;
	u->by_cols = u->ngroups < n && changes + 1 == u->ngroups;
	for (g = 0; g < u->ngroups; g++) {
		u->from[g] = at;
		for (r = first[g]; r < n; r++) {
			if (group[r] == g)
				u->order[at++] = r;
		}
	}
	u->from[g] = at;
	return true;
}

/* --- which column of the table the cells come from --- */

static int hash_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Marks the columns of `have` that hold all cells of the wanted column w in group g. */
static bool group_sources(struct unpivot *u, uint32_t w, uint32_t g, bool *can, int64_t *filled)
{
	const struct dtx_reshape *s = u->s;
	int64_t n = 0, i;
	uint64_t *hash = dtx_mem_zalloc((size_t)(u->from[g + 1] - u->from[g]) + 1, sizeof(*hash));
	uint32_t c;
	bool any = false;

	u->s->failed |= !hash;
	for (i = u->from[g]; hash && i < u->from[g + 1]; i++) {
		const char *text = dtx_textgrid_at(s->want, u->order[i], w);

		if (text)
			hash[n++] = dtx_textgrid_hash(text);
	}
	if (hash && n)
		qsort(hash, (size_t)n, sizeof(*hash), hash_order);
	for (c = 0; hash && c < s->have->ncols; c++) {
		can[c] = s->has[c].n >= (n ? 1U : 0U) &&
		         dtx_textgrid_within(u->sorted[c], s->have->nrows, hash, n);
		any |= can[c];
		u->s->looked += 4 + (can[c] ? s->have->nrows : 0);
	}
	*filled = n;
	dtx_mem_free(hash);
	return any;
}

static int64_t column_filled(const struct unpivot *u, uint32_t c)
{
	int64_t r, n = 0;

	for (r = 0; r < u->s->have->nrows; r++)
		n += dtx_textgrid_at(u->s->have, r, c) != NULL;
	return n;
}

/* Whether the column's header has the texts of the group: 2 nothing else, 1 among others. */
static int head_likeness(const struct unpivot *u, uint32_t c, uint32_t g)
{
	const char *head = u->s->have->name[c];
	uint32_t i;

	if (u->nname == 1 && !strcmp(head, group_text(u, g, 0)))
		return 2;
	for (i = 0; i < u->nname && strstr(head, group_text(u, g, i)); i++)
		;
	return i == u->nname;
}

/* Chooses one of the possible columns for a group: by its header, then by the number of its cells,
 * then from left to right. */
static int32_t group_choose(const struct unpivot *u, const bool *can, uint32_t g, int64_t filled,
                            int32_t last)
{
	int32_t best = -1, best_score = -1;
	uint32_t c;

	for (c = 0; c < u->s->have->ncols; c++) {
		int32_t score;

		if (!can[c] || u->taken[c])
			continue;
		score = 8 * head_likeness(u, c, g) + 4 * (column_filled(u, c) == filled) +
		        2 * ((int32_t)c > last);
		if (score > best_score) {
			best_score = score;
			best = (int32_t)c;
		}
	}
	return best;
}

/* Finds where the cells of wanted column w come from: from a kept column, which is taken (`exact`:
 * it has no other cells), or from columns of values, which are added. False: from elsewhere. */
static bool unpivot_column(struct unpivot *u, uint32_t w, bool kept, bool exact)
{
	uint32_t cols = u->s->have->ncols, g, c;
	bool *can = dtx_mem_zalloc((size_t)u->ngroups * cols + 1, sizeof(*can));
	int64_t filled[GROUPS];
	bool found = false;
	int32_t named = dtx_textgrid_find(u->s->have, u->s->want->name[w]), last = -1;

	u->s->failed |= !can;
	for (g = 0; can && g < u->ngroups && u->s->looked < DTX_RESHAPE_LOOKS; g++) {
		if (!group_sources(u, w, g, can + (size_t)g * cols, &filled[g]))
			break;
	}
	if (u->s->failed || g < u->ngroups)
		goto out;
	for (c = 0; c < cols && kept; c++) {
		uint32_t at = named >= 0 ? (c + (uint32_t)named) % cols : c;

		for (g = 0; g < u->ngroups && can[(size_t)g * cols + at] &&
		            (!exact || filled[g] == column_filled(u, at));
		     g++)
			;
		if (g < u->ngroups)
			continue;
		found = u->taken[at] = true;
		goto out;
	}
	for (g = 0; !kept && g < u->ngroups && u->nvalue < VALUES; g++) {
		int32_t at = group_choose(u, can + (size_t)g * cols, g, filled[g], last);

		if (at < 0)
			break;
		last = at;
		u->taken[at] = true;
		u->at[u->nvalue * u->ngroups + g] = (uint32_t)at;
	}
	found = !kept && g == u->ngroups && u->nvalue < VALUES;
	for (c = 0; c < g && !found && u->nvalue < VALUES; c++)
		u->taken[u->at[u->nvalue * u->ngroups + c]] = false;
	if (found)
		u->value[u->nvalue++] = w;
out:
	dtx_mem_free(can);
	return found;
}

/* Columns whose headers hold the names, where no wanted column has their cells: these are made of
 * the stacked cells by another step. */
static void unpivot_heads(struct unpivot *u)
{
	uint32_t g, c;

	for (g = 0; g < u->ngroups; g++) {
		int best = 0;

		for (c = 0; c < u->s->have->ncols; c++) {
			int like = u->taken[c] ? 0 : head_likeness(u, c, g);

			if (like > best) {
				best = like;
				u->at[g] = c;
			}
		}
		if (!best)
			return;
		u->taken[u->at[g]] = true;
	}
	u->value[u->nvalue++] = UINT32_MAX;
}

/* --- the step --- */

/* How names are cut: what is before, between and after their parts. */
struct cut {
	struct dtx_str before, between, after;
	bool turned; /* the second part comes first */
};

static struct dtx_str str_from(struct dtx_str t, size_t from)
{
	return (struct dtx_str){ t.ptr + from, t.len - from };
}

/* Cuts `head` around the texts a and b (NULL: there is only a), in this order. */
static bool cut_make(const char *head, const char *a, const char *b, struct cut *out)
{
	struct dtx_str t = dtx_str_of(head);
	ptrdiff_t at = dtx_str_find(t, dtx_str_of(a), 0), next;

	if (at < 0 || !*a)
		return false;
	out->before = (struct dtx_str){ t.ptr, (size_t)at };
	t = str_from(t, (size_t)at + strlen(a));
	out->between = (struct dtx_str){ "", 0 };
	if (b) {
		next = dtx_str_find(t, dtx_str_of(b), 0);
		if (next < 0 || !*b)
			return false;
		out->between = (struct dtx_str){ t.ptr, (size_t)next };
		t = str_from(t, (size_t)next + strlen(b));
	}
	out->after = t;
	return true;
}

static bool cut_equal(const struct cut *a, const struct cut *b)
{
	return dtx_str_eq(a->before, b->before) && dtx_str_eq(a->between, b->between) &&
	       dtx_str_eq(a->after, b->after);
}

/* Cuts the headers of the first value column in one way. */
static bool cut_all(const struct unpivot *u, struct cut *out)
{
	uint32_t g, turn;

	for (turn = 0; turn < u->nname; turn++) {
		for (g = 0; g < u->ngroups; g++) {
			struct cut one;
			const char *a = group_text(u, g, turn);
			const char *b = u->nname > 1 ? group_text(u, g, 1 - turn) : NULL;

			if (!cut_make(group_head(u, 0, g), a, b, &one) ||
			    (g && !cut_equal(&one, out)))
				break;
			*out = one;
		}
		out->turned = turn > 0;
		if (g == u->ngroups)
			return true;
	}
	return false;
}

/* Whether the separator is in each header once. */
static bool cut_once(const struct unpivot *u, struct dtx_str sep)
{
	uint32_t g;

	for (g = 0; g < u->ngroups && sep.len; g++) {
		struct dtx_str head = dtx_str_of(group_head(u, 0, g));
		ptrdiff_t at = dtx_str_find(head, sep, 0);

		if (at < 0 || dtx_str_find(head, sep, (size_t)at + 1) >= 0)
			break;
	}
	return g == u->ngroups;
}

/* "(a|b|c)", with the longer texts first. */
static void put_choices(const struct unpivot *u, uint32_t part, struct dtx_buf *out)
{
	size_t len, longest = 0;
	uint32_t g, k;
	bool any = false;

	for (g = 0; g < u->ngroups; g++)
		longest = DTX_MAX(longest, strlen(group_text(u, g, part)));
	dtx_buf_addc(out, '(');
	for (len = longest + 1; len-- > 0;)
		for (g = 0; g < u->ngroups; g++) {
			const char *text = group_text(u, g, part);

			for (k = 0; k < g && strcmp(group_text(u, k, part), text) != 0; k++)
				;
			if (k < g || strlen(text) != len)
				continue;
			dtx_buf_add(out, any ? "|" : "");
			dtx_reshape_escape(out, dtx_str_of(text));
			any = true;
		}
	dtx_buf_addc(out, ')');
}

static bool in_no_name(const struct unpivot *u, const char *sep)
{
	uint32_t v, i;
	int64_t r;

	for (v = 0; v < u->nvalue && u->value[v] != UINT32_MAX; v++) {
		if (strstr(u->s->want->name[u->value[v]], sep))
			return false;
	}
	for (i = 0; i < u->nname; i++)
		for (r = 0; r < (int64_t)u->ngroups; r++) {
			if (strstr(group_text(u, (uint32_t)r, i), sep))
				return false;
		}
	return true;
}

static const char *unused_sep(const struct unpivot *u)
{
	static const char *const seps[] = { "_", "|", "~", "::" };
	size_t i;

	for (i = 0; i + 1 < DTX_COUNT(seps) && !in_no_name(u, seps[i]); i++)
		;
	return seps[i];
}

/* Gives the columns new names, where no pattern takes the wanted ones from those they have: the
 * texts of the group, and before them the wanted name if there are several columns of values. */
static json_t *unpivot_rename(const struct unpivot *u, const char *sep, json_t **cols)
{
	json_t *map = json_array();
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t g, v, i;

	for (g = 0; g < u->ngroups; g++)
		for (v = 0; v < u->nvalue; v++) {
			dtx_buf_reset(&name);
			if (u->nvalue > 1)
				dtx_buf_printf(&name, "%s%s", u->s->want->name[u->value[v]], sep);
			for (i = 0; i < u->nname; i++)
				dtx_buf_printf(&name, "%s%s", i ? sep : "", group_text(u, g, i));
			(void)json_array_append_new(*cols, json_string(dtx_buf_text(&name)));
			if (strcmp(dtx_buf_text(&name), group_head(u, v, g)) != 0)
				(void)json_array_append_new(
					map, json_pack("{ss ss}", "from", group_head(u, v, g), "to",
				                       dtx_buf_text(&name)));
		}
	dtx_buf_clear(&name);
	return json_pack("{ss so}", "op", "rename", "map", map);
}

static json_t *unpivot_heads_list(const struct unpivot *u)
{
	json_t *cols = json_array();
	uint32_t g, v;

	for (g = 0; g < u->ngroups; g++) {
		for (v = 0; v < u->nvalue; v++)
			(void)json_array_append_new(cols, json_string(group_head(u, v, g)));
	}
	return cols;
}

/* names_to of the name columns, and ".value" before them if there are several value columns. */
static json_t *unpivot_names(const struct unpivot *u, bool turned)
{
	json_t *to = json_array();
	uint32_t i;

	if (u->nvalue > 1)
		(void)json_array_append_new(to, json_string(".value"));
	for (i = 0; i < u->nname; i++)
		(void)json_array_append_new(
			to, json_string(u->s->want->name[u->name[turned ? 1 - i : i]]));
	return to;
}

/* How names of one group text and one of a value column are cut: "2019 births", "births_2019".
 * `before`: the group comes first. The name of the value column is the rest. */
static bool cut_values(const struct unpivot *u, bool before, struct dtx_str *sep)
{
	struct dtx_str rest[VALUES];
	uint32_t g, v;

	for (v = 0; v < u->nvalue; v++)
		for (g = 0; g < u->ngroups; g++) {
			struct dtx_str head = dtx_str_of(group_head(u, v, g)), one;
			struct dtx_str text = dtx_str_of(group_text(u, g, 0));
			size_t n = 0;

			if (text.len >= head.len ||
			    !(before ? dtx_str_starts(head, text) : dtx_str_ends(head, text)))
				return false;
			one = before ? str_from(head, text.len)
			             : (struct dtx_str){ head.ptr, head.len - text.len };
			while (n < one.len &&
			       strchr("_ .-/:", before ? one.ptr[n] : one.ptr[one.len - 1 - n]))
				n++;
			if (n == one.len || (g && !dtx_str_eq(one, rest[v])) ||
			    ((g || v) && n != sep->len))
				return false;
			*sep = before ? (struct dtx_str){ one.ptr, n }
			              : (struct dtx_str){ one.ptr + one.len - n, n };
			rest[v] = one;
		}
	return true;
}

static void unpivot_add(struct unpivot *u)
{
	struct dtx_reshape *s = u->s;
	const char *values = u->value[0] == UINT32_MAX ? "value" : s->want->name[u->value[0]];
	struct dtx_buf pattern = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_str sep = { "", 0 };
	json_t *step = json_pack("{ss sn sn}", "op", "pivot_longer", "cols", "names_to"),
	       *rename = NULL, *cols = NULL, *list;
	struct cut cut = { 0 };
	uint32_t way;

	if (u->nvalue == 1)
		(void)json_object_set_new(step, "values_to", json_string(values));
	if (u->nvalue == 1 && cut_all(u, &cut)) {
		cols = unpivot_heads_list(u);
		(void)json_object_set_new(step, "names_to", unpivot_names(u, cut.turned));
		dtx_buf_addc(&pattern, '^');
		dtx_reshape_escape(&pattern, cut.before);
		if (u->nname > 1 && !cut.between.len)
			put_choices(u, cut.turned, &pattern);
		else
			dtx_buf_add(&pattern, u->nname > 1 ? "(.*?)" : "(.*)");
		dtx_reshape_escape(&pattern, cut.between);
		dtx_buf_add(&pattern, u->nname > 1 ? "(.*)" : "");
		dtx_reshape_escape(&pattern, cut.after);
		dtx_buf_addc(&pattern, '$');
		if (u->nname > 1 && !cut.before.len && !cut.after.len && cut_once(u, cut.between))
			(void)json_object_set_new(step, "names_sep",
			                          json_stringn(cut.between.ptr, cut.between.len));
		else if (u->nname > 1 || cut.after.len)
			(void)json_object_set_new(step, "names_pattern",
			                          json_string(dtx_buf_text(&pattern)));
		else if (cut.before.len)
			(void)json_object_set_new(step, "names_prefix",
			                          json_stringn(cut.before.ptr, cut.before.len));
	} else if (u->nvalue > 1 && u->nname == 1 &&
	           (cut_values(u, true, &sep) || cut_values(u, false, &sep))) {
		way = cut_values(u, true, &sep);
		(void)cut_values(u, way, &sep);
		cols = unpivot_heads_list(u);
		dtx_buf_add(&pattern, way ? "^" : "^(.*)");
		if (!way)
			dtx_reshape_escape(&pattern, sep);
		put_choices(u, 0, &pattern);
		if (way) {
			dtx_reshape_escape(&pattern, sep);
			dtx_buf_add(&pattern, "(.*)");
		}
		dtx_buf_addc(&pattern, '$');
		(void)json_object_set_new(
			step, "names_to",
			way ? json_pack("[ss]", s->want->name[u->name[0]], ".value")
			    : json_pack("[ss]", ".value", s->want->name[u->name[0]]));
		(void)json_object_set_new(step, "names_pattern",
		                          json_string(dtx_buf_text(&pattern)));
	} else if (u->nname > 1 && u->nvalue == 1 && u->ngroups <= u->fewest) {
		goto out; /* the second name says nothing new: another step makes it of the first */
	} else {
		const char *mark = unused_sep(u);

		cols = json_array();
		rename = unpivot_rename(u, mark, &cols);
		(void)json_object_set_new(step, "names_to", unpivot_names(u, false));
		if (u->nvalue + u->nname > 2)
			(void)json_object_set_new(step, "names_sep", json_string(mark));
	}
	list = json_object_get(step, "names_to");
	if (json_array_size(list) == 1) /* as people write it */
		(void)json_object_set(step, "names_to", json_array_get(list, 0));
	(void)json_object_set_new(step, "cols", cols);
	if (u->by_cols)
		(void)json_object_set_new(step, "order", json_string("cols"));
	for (way = 0; way < (u->sparse ? 2U : 1U); way++) {
		list = json_array();
		if (rename)
			(void)json_array_append(list, rename);
		(void)json_array_append_new(list, json_deep_copy(step));
		if (way)
			(void)json_object_set_new(json_array_get(list, json_array_size(list) - 1),
			                          "drop_nulls", json_true());
		dtx_reshape_add(s, list);
	}
out:
	json_decref(step);
	json_decref(rename);
	dtx_buf_clear(&pattern);
}

/* Tries wanted columns a and b (equal: only a) as those of the names. */
static void unpivot_try(struct unpivot *u, uint32_t a, uint32_t b)
{
	struct dtx_reshape *s = u->s;
	bool done[DTX_RESHAPE_COLS] = { false };
	uint32_t w, i;

	u->name[0] = a;
	u->name[1] = b;
	u->nname = a == b ? 1 : 2;
	u->nvalue = 0;
	u->sparse = false;
	u->fewest = DTX_MAX(s->wants[a].n, s->wants[b].n);
	memset(u->taken, 0, s->have->ncols * sizeof(*u->taken));
	if (!groups_make(u))
		return;
	u->at = dtx_arena_zalloc(&s->arena, (size_t)VALUES * u->ngroups + 1, sizeof(*u->at));
	s->failed |= !u->at;
	/* kept columns first, so that their columns are not taken for values */
	for (i = 0; i < 4; i++)
		for (w = 0; w < s->want->ncols && w < DTX_RESHAPE_COLS && !s->failed; w++) {
			bool old = dtx_textgrid_find(s->have, s->want->name[w]) >= 0;

			if (w != a && w != b && !done[w] && old == (i == 0 || i == 3))
				done[w] = unpivot_column(u, w, i < 2, i == 1);
		}
	if (!u->nvalue && !s->failed)
		unpivot_heads(u);
	if (!u->nvalue || s->failed)
		return;
	for (i = 0; i < u->nvalue * u->ngroups; i++)
		u->sparse |= column_filled(u, u->at[i]) < s->have->nrows;
	unpivot_add(u);
}

/* --- without a column of names --- */

/* Columns of `have` whose values are in a wanted column, if they are all of its cells. Returns
 * their number; 0: the column has more cells than they do. */
static uint32_t block_sources(struct unpivot *u, uint32_t w, uint32_t *col)
{
	const struct dtx_reshape *s = u->s;
	int64_t cells = 0, filled = 0, r;
	uint32_t c, n = 0;

	for (r = 0; r < s->want->nrows; r++)
		filled += dtx_textgrid_at(s->want, r, w) != NULL;
	for (c = 0; c < s->have->ncols && n < GROUPS; c++) {
		if (u->taken[c] || !s->has[c].n || !dtx_reshape_subset(&s->has[c], &s->wants[w]))
			continue;
		col[n++] = c;
		cells += column_filled(u, c);
	}
	u->s->looked += (int64_t)n * s->have->nrows;
	if (n == 1 && s->has[col[0]].n == s->wants[w].n)
		return 1;
	return cells == filled ? n : 0;
}

/* Blocks of columns side by side, which are put one below the other: each wanted column has the
 * cells of one column of each block, or of a column that is kept. */
static void unpivot_blocks(struct unpivot *u)
{
	struct dtx_reshape *s = u->s;
	uint32_t *col = dtx_arena_zalloc(&s->arena, GROUPS, sizeof(*col)), w, n, blocks = 0, b, v;
	json_t *map = json_array(), *cols = json_array();
	char name[256];

	s->failed |= !col;
	memset(u->taken, 0, s->have->ncols * sizeof(*u->taken));
	u->nvalue = 0;
	for (w = 0; w < s->want->ncols && !s->failed; w++) {
		n = block_sources(u, w, col);
		if (!n || (n > 1 && blocks && n != blocks) || (n > 1 && u->nvalue == VALUES))
			goto out;
		if (n == 1)
			continue;
		blocks = n;
		u->value[u->nvalue++] = w;
		for (b = 0; b < n; b++) {
			u->taken[col[b]] = true;
			snprintf(name, sizeof(name), "%.200s|%u", s->want->name[w], b + 1);
			(void)json_array_append_new(
				map,
				json_pack("{ss ss}", "from", s->have->name[col[b]], "to", name));
		}
	}
	for (b = 0; b < blocks; b++)
		for (v = 0; v < u->nvalue; v++)
			(void)json_array_append(
				cols, json_object_get(json_array_get(map, v * blocks + b), "to"));
	if (blocks && !s->failed)
		dtx_reshape_add(s,
		                json_pack("[{ss sO}, {ss sO s[ss] ss sb}]", "op", "rename", "map",
		                          map, "op", "pivot_longer", "cols", cols, "names_to",
		                          ".value", "block", "names_sep", "|", "drop_nulls", 1));
out:
	json_decref(map);
	json_decref(cols);
}

void dtx_reshape_unpivot(struct dtx_reshape *s)
{
	struct unpivot *u = dtx_arena_zalloc(&s->arena, 1, sizeof(*u));
	uint32_t a, b, c;

	s->failed |= !u;
	if (s->failed || s->have->ncols < 2 || !s->have->nrows || s->want->ncols < 2)
		return;
	u->s = s;
	u->sorted = dtx_arena_zalloc(&s->arena, s->have->ncols, sizeof(*u->sorted));
	u->taken = dtx_arena_zalloc(&s->arena, s->have->ncols, sizeof(*u->taken));
	s->failed |= !u->sorted || !u->taken;
	for (c = 0; c < s->have->ncols && !s->failed; c++) {
		u->sorted[c] = dtx_textgrid_rows(s->have, &c, 1);
		s->failed |= !u->sorted[c];
	}
	for (a = 0; a < s->want->ncols && !s->failed; a++)
		unpivot_try(u, a, a);
	if (!s->failed)
		unpivot_blocks(u);
	for (a = 0; a < s->want->ncols && a < 8 && !s->failed; a++) {
		for (b = a + 1; b < s->want->ncols && b < 8 && !s->failed; b++)
			unpivot_try(u, a, b);
	}
	for (c = 0; u->sorted && c < s->have->ncols; c++)
		dtx_mem_free(u->sorted[c]);
}
