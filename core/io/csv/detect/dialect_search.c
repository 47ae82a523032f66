/* Detects the dialect: tries the usual ones on a sample and takes the one that explains it best. */
#include <math.h>
#include <stdio.h>

#include "core/io/csv/detect/dialect.h"
#include "core/io/repair.h"
#include "core/io/csv/detect/sniff.h"

#define SEARCH_HEAD       ((size_t)64 << 10) /* all candidates are tried on this much */
#define SEARCH_WHOLE      ((size_t)16 << 20) /* up to here the larger sample is the whole text */
#define SEARCH_BEGIN      ((size_t)8 << 20)
#define SEARCH_WINDOW     ((size_t)64 << 10)
#define SEARCH_WINDOWS    63u
#define SEARCH_END        ((size_t)1 << 20)
#define SEARCH_RECORDS    64 /* records of a text whose first record is longer than the head */
#define SEARCH_SPREAD     ((size_t)128 << 10) /* of a second sample, if the head misled */
#define SEARCH_SLICE      ((size_t)8 << 10)
#define SEARCH_TIE        1e-9
#define SEARCH_RIVAL      0.9  /* share of the best score that makes it ambiguous */
#define SEARCH_CLOSE      0.8  /* with this share on the head, the larger sample decides */
#define SEARCH_POOR       0.15 /* if the best score is lower, rarer delimiters are tried */
#define SEARCH_IRREGULAR  0.05 /* share of apostrophes that need not be quotes */
#define SEARCH_CANDIDATES 16
#define SEARCH_DOUBLED    "|:~^#@&*!"
#define SEARCH_MARKS      "|:~^#@&*!,;\t"

static const char *const search_delims[] = { "", ",", ";", "\t", "|" };
static const char search_quotes[] = { '"', 0, '\'' };
/* Tried if the usual delimiters explain nothing. */
static const struct {
	char delim[4];
	unsigned runs;
} search_rare[] = { { " ", 0 },      { "^", 0 },      { "~", 0 },      { ":", 0 },
	            { " ", 1 },      { " ", 2 },      { "\x1f", 0 },   { "\x01", 0 },
	            { "\x02", 0 },   { "\x1d", 0 },   { "\v", 0 },     { "#", 0 },
	            { "@", 0 },      { "&", 0 },      { "*", 0 },      { "!", 0 },
	            { "\u00a6", 0 }, { "\u00a7", 0 }, { "\uff0c", 0 }, { "\uff1b", 0 },
	            { "\\t", 0 },    { "\u00fe", 0 }, { "\u060c", 0 } };

enum search_variant { SEARCH_PLAIN, SEARCH_ESCAPE, SEARCH_TRIM, SEARCH_VARIANTS };

struct search_try {
	struct dtx_sniff_dialect d;
	struct dtx_sniff_score s;
};
struct search {
	const struct dtx_read_opts *opts;
	struct dtx_str text;
	struct dtx_sniff_sample sample;
	bool stray;                               /* it is declared how to read stray quotes */
	const char *maybe;                        /* a mark that could be the delimiter */
	bool unclosed;                            /* a cell may go on after the sample */
	bool regular;                             /* all quotes enclose whole cells */
	bool comments;                            /* found only below the comments at the top */
	struct search_try best, second;           /* second: the best one with another delimiter */
	struct search_try one[SEARCH_CANDIDATES]; /* of the delimiter that is being tried */
	unsigned n;
};

/* --- samples --- */

static void sample_add(struct search *f, size_t from, size_t len)
{
	struct dtx_sniff_sample *s = &f->sample;
	const char *newline;

	if (from) { /* the record that begins before the piece is not whole */
		newline = memchr(f->text.ptr + from, '\n', DTX_MIN(len, f->text.len - from));
		if (!newline)
			return;
		len -= (size_t)(newline + 1 - (f->text.ptr + from));
		from = (size_t)(newline + 1 - f->text.ptr);
	}
	len = DTX_MIN(len, f->text.len - from);
	if (!len)
		return;
	s->whole[s->n] = from + len == f->text.len;
	s->piece[s->n++] = (struct dtx_str){ f->text.ptr + from, len };
}

/* Takes records that are longer than the head as the sample. Without any record, all candidates
 * would be equal. */
static size_t sample_long(const struct search *f)
{
	size_t most = DTX_MIN(f->text.len, SEARCH_BEGIN);
	const char *end = memchr(f->text.ptr, '\n', most);

	if (!end)
		end = memchr(f->text.ptr, '\r', most);
	return end ? DTX_MIN(SEARCH_RECORDS * (size_t)(end - f->text.ptr), SEARCH_BEGIN)
	           : SEARCH_HEAD;
}

static void sample_head(struct search *f)
{
	size_t len = DTX_MIN(f->text.len, SEARCH_HEAD);
	bool lines = memchr(f->text.ptr, '\n', len) || memchr(f->text.ptr, '\r', len);

	f->sample.n = 0;
	sample_add(f, 0, lines ? SEARCH_HEAD : sample_long(f));
}

static void sample_parts(struct search *f, size_t begin, size_t window, size_t end)
{
	size_t room = f->text.len - DTX_MIN(f->text.len, begin + end);
	unsigned i;

	f->sample.n = 0;
	sample_add(f, 0, begin);
	for (i = 0; i < SEARCH_WINDOWS; i++)
		sample_add(f, begin + room / (SEARCH_WINDOWS + 1) * (i + 1), window);
	sample_add(f, f->text.len - end, end);
}

static void sample_large(struct search *f, bool all)
{
	if (!all && f->text.len > SEARCH_WHOLE) {
		sample_parts(f, SEARCH_BEGIN, SEARCH_WINDOW, SEARCH_END);
		return;
	}
	f->sample.n = 0;
	sample_add(f, 0, f->text.len);
}

/* Takes pieces from the whole text as the sample for all candidates, if the head was misleading. */
static void sample_spread(struct search *f)
{
	if (f->text.len > SEARCH_SPREAD * 4)
		sample_parts(f, SEARCH_SPREAD, SEARCH_SLICE, SEARCH_SLICE);
	else
		sample_large(f, true);
}

static bool sample_has(const struct search *f, const char *what)
{
	unsigned i;

	for (i = 0; i < f->sample.n; i++) {
		if (dtx_str_find(f->sample.piece[i], dtx_str_of(what), 0) >= 0)
			return true;
	}
	return false;
}

/* --- one delimiter --- */

/* The better of two readings with the same delimiter. Quotes that enclose whole cells, while
 * records are equally wide, are quotes, even if many others are inside cells. */
static bool variant_better(const struct search_try *a, const struct search_try *b)
{
	const struct search_try *quoted = a->s.quoted ? a : b, *plain = a->s.quoted ? b : a;

	if (quoted->s.quoted && !plain->s.quoted &&
	    quoted->s.uniform > plain->s.uniform - SEARCH_TIE)
		return quoted == a;
	if (fabs(a->s.score - b->s.score) > SEARCH_TIE)
		return a->s.score > b->s.score;
	return a->s.quoted > b->s.quoted;
}

static void try_one(struct search *f, const struct search_try *t)
{
	if (f->n < SEARCH_CANDIDATES)
		f->one[f->n++] = *t;
}

static bool variant_possible(const struct search *f, enum search_variant v,
                             const struct search_try *plain)
{
	const struct dtx_read_opts *o = f->opts;
	const char before[3] = { ' ', plain->d.quote, 0 }, after[3] = { plain->d.quote, ' ', 0 };
	const char escaped[3] = { '\\', plain->d.delim[0], 0 };

	switch (v) {
	case SEARCH_ESCAPE:
		return !o->escape &&
		       (sample_has(f, plain->s.begun ? "\\" : escaped) || sample_has(f, "\\\n"));
	case SEARCH_TRIM: return !o->trim && (sample_has(f, before) || sample_has(f, after));
	default: return true;
	}
}

/* Whether apostrophes are quotes: most of them are; or each record has a cell in apostrophes and
 * records are equally wide. The others are then part of texts, as in 'a kids' hat'. */
static bool apostrophes_quote(const struct dtx_sniff_score *s)
{
	double all = (double)(s->irregular + 2 * s->quoted);

	return (double)s->irregular <= SEARCH_IRREGULAR * all ||
	       (s->uniform > 1 - SEARCH_TIE && s->enclosed >= s->records && s->modal > 1);
}

static void try_quote(struct search *f, struct dtx_sniff_dialect d)
{
	struct search_try plain = { .d = d }, t;
	int v;

	dtx_sniff_score(&f->sample, &plain.d, &plain.s);
	f->unclosed |= d.quote == '"' && plain.s.unclosed;
	if (d.quote == '"')
		f->regular = plain.s.quoted && !plain.s.irregular && !plain.s.unclosed;
	if (d.quote == '\'' && !f->opts->quote && !apostrophes_quote(&plain.s))
		return;
	try_one(f, &plain);
	for (v = SEARCH_ESCAPE; d.quote && v < SEARCH_VARIANTS; v++) {
		if (!variant_possible(f, (enum search_variant)v, &plain))
			continue;
		t = plain;
		t.d.escape = v == SEARCH_ESCAPE ? '\\' : t.d.escape;
		t.d.trim = v == SEARCH_TRIM || t.d.trim;
		dtx_sniff_score(&f->sample, &t.d, &t.s);
		try_one(f, &t);
	}
}

static void try_quotes(struct search *f, struct dtx_sniff_dialect d)
{
	size_t i;

	if (f->opts->quote) {
		d.quote = f->opts->quote[0];
		try_quote(f, d);
		return;
	}
	f->regular = false;
	for (i = 0; i < DTX_COUNT(search_quotes); i++) {
		d.quote = search_quotes[i];
		/* If the caller declares how to read stray quotes, there are quotes. If the text
		 * has none, the first candidate stands for all. */
		if (!d.quote && (f->stray || f->regular || !sample_has(f, "\"")))
			continue;
		if (d.quote == '\'' && !sample_has(f, "'"))
			continue;
		try_quote(f, d);
	}
}

/* Finds the best reading of the sample with this delimiter. */
static void try_delim(struct search *f, const char *delim, unsigned runs, struct search_try *out)
{
	struct dtx_sniff_dialect d = { .runs = runs, .trim = f->opts->trim };
	double score = 0;
	unsigned i, best = 0;

	snprintf(d.delim, sizeof(d.delim), "%s", delim);
	d.escape = f->opts->escape ? f->opts->escape[0] : 0;
	d.ending = f->opts->terminator ? f->opts->terminator[0] : 0;
	d.comment = f->opts->comment;
	f->n = 0;
	try_quotes(f, d);
	for (i = 0; i < f->n; i++) {
		if (variant_better(&f->one[i], &f->one[best]))
			best = i;
		score = DTX_MAX(score, f->one[i].s.score);
	}
	*out = f->one[best];
	out->s.score = score;
}

static void offer(struct search *f, const struct search_try *t)
{
	if (t->s.score > f->best.s.score + SEARCH_TIE) {
		if (f->best.s.modal > 1)
			f->second = f->best;
		f->best = *t;
	} else if (t->s.modal > 1 && t->s.score > f->second.s.score) {
		f->second = *t;
	}
}

/* --- all delimiters --- */

static bool even(const struct search_try *t)
{
	return t->s.uniform > 1 - SEARCH_TIE;
}

static void search_usual(struct search *f, const struct dtx_dialect *d)
{
	struct search_try t;
	size_t i;

	f->best = (struct search_try){ .s.score = -1 };
	f->second = (struct search_try){ .s.score = 0 };
	if (f->opts->delimiter) {
		try_delim(f, d->delim, d->runs, &f->best);
		return;
	}
	for (i = 0; i < DTX_COUNT(search_delims); i++) {
		if (i && !sample_has(f, search_delims[i]))
			continue;
		try_delim(f, search_delims[i], 0, &t);
		if (t.d.delim[0] != ',' || even(&t) || t.s.quoted ||
		    !dtx_dialect_commas_group(&f->sample))
			offer(f, &t);
	}
}

/* Checks a quote that nothing in the head closes: it is a stray one, or begins a longer cell. */
static void search_unclosed(struct search *f, const struct dtx_dialect *d)
{
	if (!f->unclosed || f->text.len <= SEARCH_HEAD)
		return;
	sample_large(f, false);
	search_usual(f, d);
}

static bool is_rare(const struct search *f, size_t i)
{
	const char *delim = search_rare[i].delim;

	if (!f->sample.n || (delim[0] == ':' && !dtx_dialect_colons_part(&f->sample)))
		return false;
	return sample_has(f, delim) || (search_rare[i].runs && sample_has(f, "\t"));
}

/* The least number of columns that this delimiter must give. Two columns may also be a text with
 * such a mark. But no text has bytes made to separate columns; no list of sentences has exactly one
 * East Asian comma in each, or quotes on both sides of it; and blanks between numbers do separate
 * them. */
static uint32_t least_columns(const struct search *f, const struct search_try *t)
{
	static const char *const commas[] = { "\uff0c", "\uff1b", "\u060c" };
	bool all = even(t) && t->s.records >= 3;
	size_t i;

	for (i = 0; i < DTX_COUNT(commas); i++) {
		if (all && !strcmp(t->d.delim, commas[i]))
			return 2;
	}
	if (all && (t->s.quoted >= 2 * t->s.records ||
	            (t->d.runs == 1 && dtx_dialect_are_numbers(&f->sample))))
		return 2;
	return t->d.delim[0] == '\x1f' || t->d.delim[0] == '\x01' ? 2 : 3;
}

/* Whether the blanks are those of one column whose texts are two words with two blanks between
 * ("Ann  Lee"): as columns, the middle one would be empty throughout. */
static bool words_of_one_cell(const struct search_try *t)
{
	return t->d.delim[0] == ' ' && t->s.modal == 3 && t->s.doubled >= t->s.records;
}

static void search_rarer(struct search *f)
{
	struct search_try t;
	size_t i;

	if (f->opts->delimiter || (f->best.s.modal > 1 && f->best.s.score >= SEARCH_POOR))
		return;
	for (i = 0; i < DTX_COUNT(search_rare); i++) {
		if (!is_rare(f, i))
			continue;
		try_delim(f, search_rare[i].delim, search_rare[i].runs, &t);
		if (t.s.modal >= least_columns(f, &t) && !words_of_one_cell(&t) &&
		    t.s.consistency >= (double)(t.s.modal - 1) / t.s.modal / 2 &&
		    t.s.score > f->best.s.score + SEARCH_TIE)
			f->best = t;
	}
}

/* Tries columns separated by several blanks in all records. A delimiter that only a few records
 * have is then part of a text or a number. */
static void search_columns(struct search *f)
{
	struct search_try t;

	if (f->opts->delimiter || f->best.s.uniform > 1 - SEARCH_TIE || f->best.d.runs ||
	    !sample_has(f, "  "))
		return;
	try_delim(f, " ", 2, &t);
	if (t.s.modal < 3 || t.s.records < 3 || t.s.uniform < 1 - SEARCH_TIE ||
	    t.s.score <= f->best.s.score)
		return;
	f->best = t;
	f->second = (struct search_try){ .s.score = 0 };
}

/* Tries blanks between numbers with decimal commas, which separate more than the commas do. */
static void search_decimals(struct search *f)
{
	struct search_try t;

	if (f->opts->delimiter || strcmp(f->best.d.delim, ",") != 0 || sample_has(f, "\t") ||
	    !dtx_dialect_are_numbers(&f->sample))
		return;
	try_delim(f, " ", 1, &t);
	if (t.s.modal < 2 || t.s.records < 3 || !even(&t))
		return;
	f->best = t;
	f->second = (struct search_try){ .s.score = 0 };
}

/* Tries a mark that splits all records equally if the usual delimiters do not. Those are then in
 * numbers and texts. */
static void search_marks(struct search *f)
{
	static const char *const marks[] = { "::", "^", "~", "#", "@", "&",  "*",      "!",
		                             "$",  "/", "%", "=", "+", "\\", "\u00a0", "_" };
	enum {
		MARKS_PLAIN = 9
	}; /* the marks after these are also part of dates, sums, paths and names */
	struct search_try t;
	size_t i;

	if (f->opts->delimiter || f->best.s.quoted || (even(&f->best) && f->best.s.modal > 1))
		return;
	for (i = 0; i < DTX_COUNT(marks); i++) {
		if (!sample_has(f, marks[i]))
			continue;
		try_delim(f, marks[i], 0, &t);
		if (t.s.modal < 3 || t.s.records < 3 || !even(&t))
			continue;
		if (i >= MARKS_PLAIN && !dtx_dialect_is_clear(f->sample.piece[0], marks[i])) {
			if (!f->maybe && strcmp(marks[i], "_") != 0)
				f->maybe = marks[i];
			continue;
		}
		f->best = t;
		f->second = (struct search_try){ .s.score = 0 };
		f->maybe = NULL;
		return;
	}
}

/* Comments above the table hide its dialect. The last comment may have the names, if a usual
 * delimiter splits it. */
static void search_below_comments(struct search *f, const struct dtx_dialect *d)
{
	struct dtx_str *head = &f->sample.piece[0];
	size_t at = 0;

	if (f->opts->delimiter || f->opts->comment || f->best.s.modal > 1 || !f->sample.n)
		return;
	while (at < head->len && head->ptr[at] == '#') {
		const char *end = memchr(head->ptr + at, '\n', head->len - at);

		at = end ? (size_t)(end + 1 - head->ptr) : head->len;
	}
	if (!at || at >= head->len)
		return;
	*head = (struct dtx_str){ head->ptr + at, head->len - at };
	search_usual(f, d);
	if (f->best.s.modal > 1 && even(&f->best))
		return;
	search_rarer(f);
	f->comments = f->best.s.modal > 1;
}

/* The head decides if the delimiters are far apart. Otherwise a larger sample decides between them
 * and their quotes. */
static void search_closer(struct search *f, bool all)
{
	struct search_try first, second;
	bool rival = f->second.s.modal > 1 && f->second.s.score >= SEARCH_CLOSE * f->best.s.score;

	if (f->text.len <= (all ? SEARCH_WHOLE : SEARCH_HEAD) || (!rival && !all))
		return;
	sample_large(f, all);
	try_delim(f, f->best.d.delim, f->best.d.runs, &first);
	if (rival)
		try_delim(f, f->second.d.delim, f->second.d.runs, &second);
	f->best = (struct search_try){ .s.score = -1 };
	f->second = (struct search_try){ .s.score = 0 };
	offer(f, &first);
	if (rival)
		offer(f, &second);
}

/* Checks if each delimiter has a blank after it or ends its line: then the blank is part of it.
 * Blanks before it as well mean that cells are padded; and if also before the first cell, that
 * lines are indented. */
static void search_spaced(struct search *f)
{
	const struct dtx_sniff_score *s = &f->best.s;
	size_t len = strlen(f->best.d.delim);

	if (f->opts->delimiter || f->best.d.runs || f->best.d.trim || len != 1 || s->modal < 2 ||
	    f->best.d.delim[0] == ' ' || s->spaced < 2 || s->spaced + s->last < s->delims)
		return;
	f->best.d.trim = s->last || s->padded == s->delims || s->indented == s->records;
	f->best.d.delim[1] = f->best.d.trim ? '\0' : ' ';
	f->best.d.delim[2] = '\0';
}

/* Whether all delimiters are doubled. Single columns without values are common. That every second
 * column has none is not, except between commas, where spreadsheets leave such columns. */
static bool all_doubled(const struct search_try *t)
{
	unsigned least = strchr(SEARCH_DOUBLED, t->d.delim[0]) ? 3 : 5;

	return t->d.delim[0] != ',' && t->s.modal >= least && t->s.doubled >= t->s.records &&
	       !t->s.hollow;
}

/* Whether colons are doubled, since single ones are also in times and addresses. */
static bool colons_doubled(struct search *f)
{
	struct search_try t;

	if (f->best.d.delim[0] != ':')
		return false;
	try_delim(f, "::", 0, &t);
	return t.s.modal >= 3 && t.s.uniform > 1 - SEARCH_TIE && t.s.records > 1;
}

static void search_doubled(struct search *f)
{
	char *delim = f->best.d.delim;

	if (f->opts->delimiter || f->best.d.runs || strlen(delim) != 1 ||
	    (!all_doubled(&f->best) && !colons_doubled(f)))
		return;
	delim[1] = delim[0];
	delim[2] = '\0';
}

/* The number of bytes between the first two cells, if these are several marks together, as
 * "~|~". */
static size_t marks_together(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && n < 5 && p[n] && strchr(SEARCH_MARKS, p[n]))
		n++;
	return n;
}

/* Whether such bytes are a delimiter: "~|~", "|^|". After a single comma a mark may begin a cell
 * ("ann,@ann,@a"), and equal marks have empty cells between them. */
static bool is_joined(const char *p, size_t n)
{
	return n >= 3 && n <= 4 && p[0] == p[n - 1] && p[0] != p[1] && !strchr(",;\t", p[0]);
}

/* Tries the several marks between cells, if they are the same in every record. */
static void search_joined(struct search *f)
{
	const char *p = f->text.ptr, *end = p + DTX_MIN(f->text.len, SEARCH_HEAD);
	struct search_try t;
	char delim[5];
	size_t n = 0;

	if (f->opts->delimiter || strlen(f->best.d.delim) > 1)
		return;
	for (; p < end && *p != '\n' && *p != '\r'; p++) {
		n = marks_together(p, end);
		if (n)
			break;
	}
	if (!is_joined(p, n) || p == f->text.ptr)
		return;
	snprintf(delim, sizeof(delim), "%.*s", (int)n, p);
	try_delim(f, delim, 0, &t);
	if (t.s.modal >= 3 && t.s.records > 1 && t.s.uniform > 1 - SEARCH_TIE)
		f->best.d = t.d;
}

static const char *show(const char *delim)
{
	return strcmp(delim, "\t") ? delim : "\\t";
}

/* If two delimiters fit equally well, a file name that promises tabs decides. */
static void search_named(struct search *f, const char *path)
{
	struct search_try best = f->best;
	bool tabs = dtx_str_ends(dtx_str_of(path), DTX_STR(".tsv")) ||
	            dtx_str_ends(dtx_str_of(path), DTX_STR(".tab"));

	if (!tabs || f->second.s.score < SEARCH_RIVAL * best.s.score ||
	    (strcmp(best.d.delim, "\t") && strcmp(f->second.d.delim, "\t")))
		return;
	if (strcmp(best.d.delim, "\t"))
		f->best = f->second;
	f->second = (struct search_try){ .s.score = 0 };
}

/* Prefers tabs: texts often have commas but hardly ever tabs; and a comma that is only inside
 * numbers splits less than tabs do. */
static void search_tabs(struct search *f)
{
	struct search_try best = f->best, tabs;
	bool decimal = !strcmp(best.d.delim, ",") && dtx_dialect_commas_decimal(&f->sample);

	/* A bar inside a cell between tabs is more likely than a tab inside a cell between bars. */
	if (!f->opts->delimiter && !strcmp(best.d.delim, "|") && sample_has(f, "\t")) {
		try_delim(f, "\t", 0, &tabs);
		if (even(&tabs) && tabs.s.modal > 1 && tabs.s.modal >= best.s.modal) {
			f->second = best;
			f->best = tabs;
			return;
		}
	}
	if (f->opts->delimiter || strcmp(f->second.d.delim, "\t") != 0 || !even(&f->second) ||
	    (!decimal && f->second.s.score < SEARCH_RIVAL * best.s.score))
		return;
	f->best = f->second;
	f->second = decimal ? (struct search_try){ .s.score = 0 } : best;
}

static enum dtx_code search_ambiguous(const struct search *f, const char *path, struct dtx_err *err)
{
	const struct search_try *a = &f->best, *b = &f->second;

	if (a->s.modal <= 1 || b->s.score < SEARCH_RIVAL * a->s.score || b->s.score <= 0)
		return DTX_OK;
	dtx_err_set(err, DTX_E_AMBIGUOUS_DIALECT, __FILE__, __LINE__,
	            "'%s': '%s' gives %u columns, '%s' %u, equally well", path, show(a->d.delim),
	            a->s.modal, show(b->d.delim), b->s.modal);
	dtx_err_hint(err, "say which: \"dialect\": {\"delimiter\": \"%s\"}", show(a->d.delim));
	dtx_repair_advise(err, "{\"delimiter\":\"%s\"}", show(a->d.delim));
	return DTX_E_AMBIGUOUS_DIALECT;
}

enum dtx_code dtx_dialect_search(const struct dtx_read_opts *opts, struct dtx_str text, bool all,
                                 const char *path, struct dtx_dialect *d, struct dtx_err *err)
{
	struct search f = { .opts = opts, .text = text, .stray = d->quotes != DTX_QUOTES_LITERAL };
	enum dtx_code rc;

	if (all)
		sample_spread(&f);
	else
		sample_head(&f);
	search_usual(&f, d);
	search_unclosed(&f, d);
	search_rarer(&f);
	search_below_comments(&f, d);
	search_marks(&f);
	search_columns(&f);
	search_decimals(&f);
	search_closer(&f, all);
	search_named(&f, path);
	search_tabs(&f);
	rc = search_ambiguous(&f, path, err);
	search_spaced(&f);
	search_doubled(&f);
	search_joined(&f);
	memcpy(d->delim, f.best.d.delim, sizeof(d->delim));
	memcpy(d->runner_up, f.second.d.delim, sizeof(d->runner_up));
	d->runs = f.best.d.runs;
	d->maybe =
		f.best.s.modal == 1 && !dtx_dialect_is_values(f.sample.piece[0]) ? f.maybe : NULL;
	d->comment = f.comments ? "#" : d->comment;
	d->quote = f.best.d.quote;
	d->escape = f.best.d.escape;
	d->trim = f.best.d.trim;
	d->score = f.best.s.score;
	d->partial = !all && text.len > SEARCH_HEAD;
	return rc;
}
