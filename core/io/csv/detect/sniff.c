/* Measures how well a dialect explains a text, see sniff.h. */
#include "core/io/csv/detect/sniff.h"

#define SNIFF_WIDTHS   512 /* wider records share the last counter */
#define SNIFF_EVEN     0.9
#define SNIFF_UNCLOSED 16 /* with so many quotes that do not end, all quotes are taken as text */

/* What a byte may be part of. */
enum { SNIFF_DIGIT = 1, SNIFF_NUMBER = 2, SNIFF_DATE = 4, SNIFF_TEXT = 8 };
/* What may begin at a byte. All other bytes can be skipped together. */
enum { SNIFF_END = 16, SNIFF_DELIM = 32, SNIFF_MARK = 64 };

struct sniff {
	struct dtx_str s;
	const struct dtx_sniff_dialect *d;
	size_t ndelim;
	uint8_t cls[256];
	uint64_t width[SNIFF_WIDTHS];
	size_t last_width;
	struct sniff_count {
		uint64_t records, cells, usual, begun, enclosed, quoted, irregular, delims, spaced,
			padded, doubled, filled, indented, last;
	} n;
	unsigned unclosed;
};

static bool sniff_is_end(const struct sniff *f, char c)
{
	return f->d->ending ? c == f->d->ending : c == '\n' || c == '\r';
}

static bool sniff_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The length of a run of blanks that separates two cells. It is 0 at the end of a record, where
 * nothing is separated. */
static size_t sniff_run(const struct sniff *f, size_t at)
{
	size_t end = at;

	while (end < f->s.len && sniff_is_blank(f->s.ptr[end]))
		end++;
	return end - at >= f->d->runs ? end - at : 0;
}

/* The length of the delimiter there; 0 if none. */
static size_t sniff_delim(const struct sniff *f, size_t at)
{
	if (f->d->runs)
		return sniff_run(f, at);
	if (!f->ndelim || f->s.ptr[at] != f->d->delim[0])
		return 0;
	if (f->ndelim > 1 &&
	    (f->s.len - at < f->ndelim || memcmp(f->s.ptr + at, f->d->delim, f->ndelim) != 0))
		return 0;
	return f->ndelim;
}

static bool sniff_at_delim(const struct sniff *f, size_t at)
{
	return (f->cls[(unsigned char)f->s.ptr[at]] & SNIFF_DELIM) && sniff_delim(f, at) != 0;
}

static bool sniff_at_structure(const struct sniff *f, size_t at)
{
	return at >= f->s.len || (f->cls[(unsigned char)f->s.ptr[at]] & SNIFF_END) ||
	       sniff_at_delim(f, at);
}

static unsigned sniff_class(unsigned char c)
{
	bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	unsigned is = 0;

	if (c >= '0' && c <= '9')
		return SNIFF_DIGIT | SNIFF_NUMBER | SNIFF_DATE | SNIFF_TEXT;
	if (c >= 0x80 || (c && strchr(" .'%$()+-eE\t", c)))
		is |= SNIFF_NUMBER;
	if (letter || (c && strchr(" -/.:+", c)))
		is |= SNIFF_DATE;
	if (c && !strchr(",;\t|\"", c))
		is |= SNIFF_TEXT;
	return is;
}

static void sniff_classes(struct sniff *f)
{
	int c;

	for (c = 0; c < 256; c++)
		f->cls[c] = (uint8_t)sniff_class((unsigned char)c);
	if (f->d->quote)
		f->cls[(unsigned char)f->d->quote] &= (uint8_t)~SNIFF_TEXT;
	for (c = 0; c < 256; c++) {
		char byte = (char)c;

		f->cls[c] |= sniff_is_end(f, byte) ? SNIFF_END : 0;
		f->cls[c] |=
			(f->d->runs ? sniff_is_blank(byte) : f->ndelim && byte == f->d->delim[0])
				? SNIFF_DELIM
				: 0;
		f->cls[c] |= byte && (byte == f->d->quote || byte == f->d->escape) ? SNIFF_MARK : 0;
	}
}

/* Whether the cell is usual: empty, a number as people write it, similar to a date, or plain text.
 * A comma before a digit is part of a number, one before a blank is part of a text. */
static bool sniff_usual(const struct sniff *f, struct dtx_str c)
{
	unsigned all = SNIFF_NUMBER | SNIFF_DATE | SNIFF_TEXT, any = 0, is;
	size_t i;

	for (i = 0; i < c.len && all; i++) {
		is = f->cls[(unsigned char)c.ptr[i]];
		if (c.ptr[i] == ',' && i + 1 < c.len) {
			unsigned next = f->cls[(unsigned char)c.ptr[i + 1]];

			is |= (next & SNIFF_DIGIT) ? SNIFF_NUMBER : 0;
			is |= c.ptr[i + 1] == ' ' ? SNIFF_TEXT : 0;
		}
		all &= is;
		any |= is;
	}
	return !c.len || (all & SNIFF_TEXT) || (all && (any & SNIFF_DIGIT));
}

static size_t sniff_plain_end(struct sniff *f, size_t at)
{
	while (!sniff_at_structure(f, at)) {
		if (!(f->cls[(unsigned char)f->s.ptr[at]] & SNIFF_MARK)) {
			at++;
			continue;
		}
		f->n.irregular += f->d->quote && f->s.ptr[at] == f->d->quote;
		at += f->d->escape && f->s.ptr[at] == f->d->escape && at + 1 < f->s.len ? 2 : 1;
	}
	return DTX_MIN(at, f->s.len);
}

/* The position after a closing quote at `at`, if a delimiter or line end follows; otherwise 0. */
static size_t sniff_closes(const struct sniff *f, size_t at)
{
	size_t next = at + 1;

	while (f->d->trim && next < f->s.len && sniff_is_blank(f->s.ptr[next]) &&
	       !sniff_at_delim(f, next))
		next++;
	return sniff_at_structure(f, next) ? next : 0;
}

/* The end of the cell that opens at `at`. 0 if the quote is data: it never closes; it does not
 * close on its line although there are other quotes inside; or another quote opens before. */
static size_t sniff_quoted_end(struct sniff *f, size_t at, uint64_t *irregular)
{
	char quote = f->d->quote;
	size_t end;

	for (at++; at < f->s.len; at++) {
		char c = f->s.ptr[at];

		if (!(f->cls[(unsigned char)c] & (SNIFF_END | SNIFF_MARK)))
			continue;
		if (f->d->escape && c == f->d->escape) {
			at++;
		} else if (*irregular && sniff_is_end(f, c)) {
			return 0;
		} else if (c == quote) {
			end = sniff_closes(f, at);
			if (end)
				return end;
			if (at + 1 < f->s.len && f->s.ptr[at + 1] == quote && !f->d->escape)
				at++;
			else if (f->ndelim && at >= f->ndelim && sniff_at_delim(f, at - f->ndelim))
				return 0;
			else
				++*irregular;
		}
	}
	f->unclosed++;
	return 0;
}

static void sniff_judge(struct sniff *f, size_t from, size_t to)
{
	struct dtx_str cell = { f->s.ptr + from, to - from };

	f->n.usual += sniff_usual(f, cell);
}

static size_t sniff_cell(struct sniff *f, size_t at)
{
	uint64_t irregular = 0;
	size_t from = at, end;

	f->n.cells++;
	while (f->d->trim && from < f->s.len && sniff_is_blank(f->s.ptr[from]) &&
	       !sniff_at_delim(f, from))
		from++;
	if (f->d->quote && from < f->s.len && f->s.ptr[from] == f->d->quote) {
		f->n.begun++;
		end = f->unclosed < SNIFF_UNCLOSED ? sniff_quoted_end(f, from, &irregular) : 0;
		if (end) {
			f->n.irregular += irregular;
			f->n.enclosed++;
			f->n.quoted += !irregular;
			f->n.usual += !irregular;
			return end;
		}
	}
	end = sniff_plain_end(f, from);
	sniff_judge(f, from, end);
	return end;
}

/* Skips blanks around a record, which are not cells even if blanks are the delimiter. */
static size_t sniff_skip_run(const struct sniff *f, size_t at)
{
	while (f->d->runs && at < f->s.len && sniff_is_blank(f->s.ptr[at]))
		at++;
	return at;
}

static bool sniff_is_comment(const struct sniff *f, size_t at)
{
	struct dtx_str rest = { f->s.ptr + at, f->s.len - at };

	return f->d->comment && f->d->comment[0] && dtx_str_starts(rest, dtx_str_of(f->d->comment));
}

static size_t sniff_record(struct sniff *f, size_t at)
{
	uint64_t cells = f->n.cells;
	size_t width, n, from;
	bool doubled = true, spaced;

	at = sniff_skip_run(f, at);
	if (at >= f->s.len || sniff_is_end(f, f->s.ptr[at])) /* a blank line, or the LF of CRLF */
		return at + 1;
	if (sniff_is_comment(f, at)) {
		while (at < f->s.len && !sniff_is_end(f, f->s.ptr[at]))
			at++;
		return at + 1;
	}
	f->n.indented += f->s.ptr[at] == ' ';
	for (;;) {
		from = at;
		at = sniff_cell(f, at);
		doubled &= (f->n.cells - cells) % 2 || at == from;
		f->n.filled += at > from;
		if (at >= f->s.len || sniff_is_end(f, f->s.ptr[at]))
			break;
		n = sniff_delim(f, at);
		at += n;
		f->n.delims++;
		spaced = at < f->s.len && f->s.ptr[at] == ' ';
		f->n.spaced += spaced;
		f->n.padded += spaced && at > n + from && f->s.ptr[at - n - 1] == ' ';
		if (at < f->s.len && !sniff_is_end(f, f->s.ptr[at]))
			continue;
		f->n.last++;
		if (f->d->runs)
			break;
	}
	width = (size_t)(f->n.cells - cells);
	f->last_width = DTX_MIN(width, (size_t)SNIFF_WIDTHS - 1);
	f->width[f->last_width]++;
	f->n.records++;
	f->n.doubled += doubled && width % 2;
	return at + 1;
}

static void sniff_consistency(const struct sniff *f, struct dtx_sniff_score *out)
{
	double n = (double)f->n.records;
	uint32_t w, *modal = &out->modal;

	*modal = 1;
	for (w = 1; w < SNIFF_WIDTHS; w++) {
		double share = (double)f->width[w] / n;

		out->uniform += share * share;
		out->consistency += share * share * (w == 1 ? 0.1 : (double)(w - 1) / w);
		if (f->width[w] > f->width[*modal])
			*modal = w;
	}
}

static void sniff_piece(struct sniff *f, bool whole)
{
	struct sniff_count begin = f->n, before = f->n;
	size_t at = 0;

	while (at < f->s.len) {
		struct sniff_count now = f->n;

		at = sniff_record(f, at);
		if (f->n.records > now.records)
			before = now;
	}
	if (!whole && f->n.records > begin.records + 1) {
		f->n = before;
		f->width[f->last_width]--;
	}
}

void dtx_sniff_score(const struct dtx_sniff_sample *sample, const struct dtx_sniff_dialect *d,
                     struct dtx_sniff_score *out)
{
	struct sniff f = { .d = d, .ndelim = strlen(d->delim) };
	unsigned i;

	sniff_classes(&f);
	for (i = 0; i < sample->n; i++) {
		f.s = sample->piece[i];
		sniff_piece(&f, sample->whole[i]);
	}
	memset(out, 0, sizeof(*out));
	if (!f.n.records)
		return;
	sniff_consistency(&f, out);
	out->begun = f.n.begun;
	out->enclosed = f.n.enclosed;
	out->quoted = f.n.quoted;
	out->irregular = f.n.irregular;
	out->unclosed = f.unclosed;
	out->delims = f.n.delims;
	out->spaced = f.n.spaced;
	out->last = f.n.last;
	out->padded = f.n.padded;
	out->indented = f.n.indented;
	out->hollow = !f.n.filled;
	out->records = f.n.records;
	out->doubled = f.n.doubled;
	out->score = out->consistency * (double)f.n.usual / (double)f.n.cells;
	/* If all commas have a blank after them and records have different numbers of them, they
	 * are sentences. */
	if (f.n.delims && f.n.spaced == f.n.delims && out->uniform < SNIFF_EVEN)
		out->score /= 2;
	if (f.n.irregular)
		out->score *=
			1 - (double)f.n.irregular / (2.0 * (double)(f.n.irregular + f.n.begun));
}
