/* Compares the scanner with its plain variant, the plain record reader and libcsv, on random
 * texts. */
#include <csv.h>

#include "tests/unit/csv_dump.h"

#define SCAN_TEXT  300 /* longest random text */
#define SCAN_TEXTS 20000
#define SCAN_SHORT (9 * 9 * 9 * 9 * 9 * 9)
#define READ_TEXTS 1500

static const enum dtx_cpu scan_cpus[] = { DTX_CPU_SSE2, DTX_CPU_AVX2, DTX_CPU_AVX512,
	                                  DTX_CPU_NEON };

static uint64_t scan_rng;

static uint32_t scan_below(uint32_t n)
{
	uint64_t z = (scan_rng += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

/* Pieces with a meaning, and text between them.  `kind` 1: quotes only at valid places. */
static size_t scan_text(char *to, size_t max, int kind)
{
	static const char *const wild[] = { "a",  ",",        "\"",  "\r", "\n",   "\r\n", " ",
		                            "\t", "\xc3\xa9", "bcd", ",",  "\"\"", "\n" };
	static const char *const tame[] = { "a",       ",",        "\n",       "12",
		                            "\"x,y\"", "\"\"",     "\"a\nb\"", ",",
		                            "\r\n",    "\"\"\"\"", ",",        "\xc3\xa9" };
	size_t n = 0, want = scan_below((uint32_t)max - 8);

	while (n < want) {
		const char *piece;

		if (kind == 1)
			piece = tame[scan_below(DTX_COUNT(tame))];
		else
			piece = wild[scan_below(DTX_COUNT(wild))];
		/* quoted cells must not touch other text, which would be irregular */
		if (kind == 1 && n && piece[0] == '"' && !strchr(",\n", to[n - 1]))
			piece = ",";
		if (kind == 1 && n && to[n - 1] == '"' && !strchr(",\r\n", piece[0]))
			piece = "\n";
		memcpy(to + n, piece, strlen(piece));
		n += strlen(piece);
	}
	return n;
}

static const struct dtx_scan_fns *scan_variant(enum dtx_cpu cpu)
{
	const struct dtx_scan_fns *f;

	if (cpu > dtx_cpu_best())
		return NULL;
	f = dtx_scan_pick(cpu);
	return f == &dtx_scan_any ? NULL : f;
}

static void scan_same(const struct dtx_scan_fns *f, const char *p, size_t n,
                      struct dtx_scan_set set, char before, int after)
{
	static uint32_t a[SCAN_TEXT + DTX_SCAN_SLACK], b[SCAN_TEXT + DTX_SCAN_SLACK];
	struct dtx_scan_index x = { 0 }, y = { 0 };
	struct dtx_scan_chunk c = { 0 }, d = { 0 };

	dtx_scan_any.index(p, n, set, a, &x);
	f->index(p, n, set, b, &y);
	T_CHECK(x.n == y.n && x.records == y.records && x.quotes == y.quotes && x.cr == y.cr &&
	        x.irregular == y.irregular && x.inside == y.inside &&
	        !memcmp(a, b, x.n * sizeof(*a)));
	dtx_scan_any.count(p, n, set, before, after, &c);
	f->count(p, n, set, before, after, &d);
	T_CHECK(c.odd == d.odd && c.regular[0] == d.regular[0] && c.regular[1] == d.regular[1] &&
	        c.high == d.high && c.newlines == d.newlines);
}

/* Plain text has the records and numbers of cells that its index says; other text is detected. */
static void scan_plain_is_index(const struct dtx_scan_fns *f, const char *p, size_t n,
                                struct dtx_scan_set set)
{
	static uint32_t pos[SCAN_TEXT + DTX_SCAN_SLACK];
	struct dtx_scan_index ix;
	uint32_t records = 0, width = 0, cells = 0, r = 0;
	size_t end = 0, last = 0;
	bool same = true;

	dtx_scan_any.index(p, n, set, pos, &ix);
	for (uint32_t i = 0; i < ix.n; i++) {
		cells++;
		if (p[pos[i]] != '\n')
			continue;
		width = width ? width : cells;
		same = same && cells == width;
		cells = 0;
		last = pos[i] + 1u;
		r++;
	}
	if (f->plain(p, n, set, width ? width : 3, &records, &end)) {
		T_CHECK(!ix.quotes && !memchr(p, '\r', n) && same);
		T_CHECK(records == r && end == last);
	} else {
		T_CHECK(ix.quotes || memchr(p, '\r', n) || !same);
	}
}

void test_csv_scan_plain(void)
{
	static const char bytes[] = "aab,,\n";
	const struct dtx_scan_set comma = { ',', '"', true };
	char text[SCAN_TEXT];
	size_t i, k, n, c;

	scan_rng = 5;
	for (i = 0; i < SCAN_TEXTS; i++) {
		n = scan_text(text, sizeof(text), (int)(i & 1));
		if (i % 2) /* records with three cells, except for an odd one now and then */
			for (n = 0, c = 0; n < DTX_MIN(50 + i % 400, sizeof(text)); n++) {
				char t = bytes[(n * 7 + i) % 4];

				text[n] = t == ',' && c == 2 ? '\n' : t;
				c = t != ',' ? c : c == 2 ? 0 : c + 1;
				if (i % 11 == 0 && n == 77)
					text[n] = "\n,\"\r"[i / 22 % 4];
			}
		scan_plain_is_index(&dtx_scan_any, text, n, comma);
		for (k = 0; k < DTX_COUNT(scan_cpus); k++) {
			const struct dtx_scan_fns *f = scan_variant(scan_cpus[k]);

			if (f)
				scan_plain_is_index(f, text, n, comma);
		}
	}
	T_CHECK(i == SCAN_TEXTS);
}

/* Text whose first bytes, often whole steps of the scanner, have neither quotes nor CR; then
 * perhaps a quoted cell. */
static size_t scan_late_text(char *to, size_t max, int kind)
{
	size_t n = 0, plain = scan_below(4) * 64 + (scan_below(2) ? scan_below(64) : 0);

	for (; n < plain; n++)
		to[n] = "ab,\nc,d"[scan_below(7)];
	if (scan_below(2)) {
		memcpy(to + n, "\"q\",", 4);
		n += 4;
	}
	return n + scan_text(to + n, max - n, kind);
}

void test_csv_scan_variants_agree(void)
{
	static const struct dtx_scan_set sets[] = {
		{ ',', '"', true }, { '\n', '"', true }, { ',', '"', false }, { '\t', '"', true }
	};
	char text[SCAN_TEXT];
	size_t i, k, n;

	scan_rng = 1;
	for (i = 0; i < SCAN_TEXTS; i++) {
		n = i % 8 < 4 ? scan_text(text, sizeof(text), (int)(i & 1))
		              : scan_late_text(text, sizeof(text), (int)(i & 1));
		for (k = 0; k < DTX_COUNT(scan_cpus); k++) {
			const struct dtx_scan_fns *f = scan_variant(scan_cpus[k]);

			if (f)
				scan_same(f, text, n, sets[i % 4], ",\n\"a"[i / 4 % 4],
				          (int)(i % 3) - 1 + (i % 3 ? ',' : 0));
		}
	}
	T_CHECK(dtx_scan_pick(DTX_CPU_ANY) == &dtx_scan_any);
}

/* As long as all quotes are regular, the index has the cell ends of the plain reader. */
static void scan_index_is_rows(const char *text, size_t n)
{
	static uint32_t pos[SCAN_TEXT + DTX_SCAN_SLACK];
	struct dtx_csv_text t = { .data = text, .end = n, .set = { ',', '"', true } };
	struct dtx_span cell[SCAN_TEXT];
	struct dtx_scan_index ix;
	struct dtx_csv_row row;
	uint32_t at = 0, i;
	size_t p;

	dtx_scan_any.index(text, n, t.set, pos, &ix);
	for (p = 0; p < n; p = row.next) {
		dtx_csv_row_read(&t, p, cell, SCAN_TEXT, &row);
		if (ix.irregular || (ix.inside && row.fault == DTX_CSV_UNTERMINATED))
			return;
		T_CHECK(row.fault == DTX_CSV_FINE && !row.literal);
		for (i = 0; i < row.ncells; i++) {
			uint32_t end = (uint32_t)p + cell[i].off + (cell[i].len & DTX_SPAN_LEN) +
			               (cell[i].len >> 31);

			T_CHECK(end == n || (at < ix.n && pos[at++] == end));
		}
	}
	T_CHECK(at == ix.n);
}

void test_csv_scan_index_is_rows(void)
{
	char text[SCAN_TEXT];
	size_t i, n;

	scan_rng = 2;
	for (i = 0; i < SCAN_TEXTS; i++) {
		n = i % 4 < 2 ? scan_text(text, sizeof(text), (int)(i & 1))
		              : scan_late_text(text, sizeof(text), (int)(i & 1));
		scan_index_is_rows(text, n);
	}
}

/* --- libcsv as oracle --- */

struct oracle {
	struct dtx_buf *out;
	bool first;
};

static void oracle_field(void *field, size_t len, void *arg)
{
	struct oracle *o = arg;

	if (!o->first)
		dtx_buf_addc(o->out, '|');
	o->first = false;
	if (field)
		dtx_buf_addn(o->out, field, len);
	dtx_buf_add(o->out, field ? "" : "~");
}

static void oracle_row(int c, void *arg)
{
	struct oracle *o = arg;

	(void)c;
	dtx_buf_addc(o->out, '\n');
	o->first = true;
}

static int oracle_space(unsigned char c)
{
	(void)c;
	return 0;
}

/* The rows that strict libcsv reads; false if it refuses the text at *bad. */
static bool oracle_read(const char *text, size_t n, struct dtx_buf *out, size_t *bad)
{
	struct csv_parser p;
	struct oracle o = { out, true };
	bool ok;

	if (csv_init(&p, CSV_STRICT | CSV_STRICT_FINI | CSV_EMPTY_IS_NULL))
		return false;
	csv_set_space_func(&p, oracle_space);
	*bad = csv_parse(&p, text, n, oracle_field, oracle_row, &o);
	ok = *bad == n && csv_fini(&p, oracle_field, oracle_row, &o) == 0;
	csv_free(&p);
	return ok;
}

/* The same by the plain reader.  libcsv drops blank lines. */
static bool rows_read(const char *text, size_t n, struct dtx_buf *out, size_t *bad)
{
	struct dtx_csv_text t = {
		.data = text, .end = n, .set = { ',', '"', true }, .strict = true
	};
	struct dtx_buf scratch = DTX_BUF_INIT(1 << 20);
	struct dtx_span cell[SCAN_TEXT];
	struct dtx_csv_row row = { .fault = DTX_CSV_FINE };
	uint32_t i;
	size_t p;

	for (p = 0; p < n && row.fault == DTX_CSV_FINE; p = row.next) {
		dtx_csv_row_read(&t, p, cell, SCAN_TEXT, &row);
		if (dtx_csv_row_blank(&row) || row.fault != DTX_CSV_FINE)
			continue;
		for (i = 0; i < row.ncells; i++) {
			dtx_buf_reset(&scratch);
			if (i)
				dtx_buf_addc(out, '|');
			if (!cell[i].len)
				dtx_buf_addc(out, '~');
			dtx_buf_adds(out, dtx_span_text(text + p, cell[i], &scratch));
		}
		dtx_buf_addc(out, '\n');
	}
	*bad = row.fault == DTX_CSV_UNTERMINATED ? n : row.fault_at;
	dtx_buf_clear(&scratch);
	return row.fault == DTX_CSV_FINE;
}

void test_csv_rows_are_libcsv_rows(void)
{
	struct dtx_buf a = DTX_BUF_INIT(1 << 20), b = DTX_BUF_INIT(1 << 20);
	char text[64];
	size_t i, n, bad_a = 0, bad_b = 0;
	bool ok_a, ok_b;

	scan_rng = 3;
	for (i = 0; i < SCAN_TEXTS; i++) {
		n = scan_text(text, sizeof(text), (int)(i & 1));
		dtx_buf_reset(&a);
		dtx_buf_reset(&b);
		ok_a = oracle_read(text, n, &a, &bad_a);
		ok_b = rows_read(text, n, &b, &bad_b);
		T_CHECK(ok_a == ok_b && (ok_a || bad_a == bad_b));
		if (ok_a && ok_b)
			T_STR(dtx_buf_text(&b), dtx_buf_text(&a));
	}
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

/* Every combination of 9 characters, for all texts up to a length. */
void test_csv_short_texts_are_libcsv_rows(void)
{
	static const char *const piece[] = {
		"a", ",", "\"", "\r", "\n", " ", "\t", "", "\xc3\xa9"
	};
	struct dtx_buf a = DTX_BUF_INIT(1 << 10), b = DTX_BUF_INIT(1 << 10),
		       text = DTX_BUF_INIT(64);
	size_t bad_a = 0, bad_b = 0;
	uint32_t i, k, left, wrong = 0;

	for (i = 0; i < SCAN_SHORT; i++) {
		dtx_buf_reset(&text);
		for (k = 0, left = i; k < 6; k++, left /= 9) {
			if (left % 9 == 7)
				dtx_buf_addc(&text, '\0');
			dtx_buf_add(&text, piece[left % 9]);
		}
		dtx_buf_reset(&a);
		dtx_buf_reset(&b);
		if (oracle_read(text.ptr, text.len, &a, &bad_a)) {
			wrong += !rows_read(text.ptr, text.len, &b, &bad_b) || a.len != b.len ||
			         memcmp(a.ptr, b.ptr, a.len) != 0;
		} else {
			wrong += rows_read(text.ptr, text.len, &b, &bad_b) || bad_a != bad_b;
		}
	}
	T_INT(wrong, 0);
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
	dtx_buf_clear(&text);
}

/* --- the reader: chunks, batches, workers, variants, libcsv --- */

/* The end of reading as a caller sees it: rows with places, or the refusal with its text. */
static void read_result(const char *text, size_t n, const struct dump_how *how, struct dtx_buf *out)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_read_stats st = { 0 };
	struct dtx_buf notes = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = dump_csv(text, n, how, out, &st, &notes, &err);
	int64_t dropped = 0;
	int i;

	if (rc != DTX_OK) {
		dtx_buf_reset(out);
		dtx_buf_printf(out, "%s: %s", dtx_code_name(rc), err.msg);
	} else {
		for (i = 0; i < DTX_DROP_COUNT; i++)
			dropped += st.dropped[i];
		T_INT(st.rows_read, st.rows_out + dropped);
		dtx_buf_printf(out, "%lld rows\n%s", (long long)st.rows_out, dtx_buf_text(&notes));
	}
	dtx_buf_clear(&notes);
	dtx_err_clear(&err);
}

static size_t read_text(char *to, size_t max, size_t i)
{
	size_t n = (size_t)sprintf(to, "h,k\n");

	return n + scan_text(to + n, max - n, (int)(i & 1));
}

static void read_vary(struct dump_how *how)
{
	static const size_t chunks[] = { 1, 2, 3, 7, 16, 64, 100, 0 };
	static const uint32_t rows[] = { 1, 2, 7, 0 };
	const struct dtx_scan_fns *f = scan_variant(scan_cpus[scan_below(DTX_COUNT(scan_cpus))]);

	how->chunk = chunks[scan_below(DTX_COUNT(chunks))];
	how->batch_rows = rows[scan_below(DTX_COUNT(rows))];
	how->workers = 1u << scan_below(4);
	how->fns = f ? f : &dtx_scan_any;
}

/* If several workers fail, any of the bad places may be reported. */
static bool read_failed(struct dtx_buf *out)
{
	return !strstr(dtx_buf_text(out), " rows\n");
}

void test_csv_read_is_exact_in_parallel(void)
{
	struct dtx_buf want = DTX_BUF_INIT(DUMP_MAX), got = DTX_BUF_INIT(DUMP_MAX);
	struct dump_how how = DUMP_HOW;
	char text[SCAN_TEXT];
	size_t i, n;

	scan_rng = 4;
	how.opts.header_rows = 1;
	how.opts.delimiter = ",";
	how.opts.quote = "\"";
	how.opts.ragged = DTX_RAGGED_TRUNCATE;
	for (i = 0; i < READ_TEXTS; i++) {
		n = read_text(text, sizeof(text), i);
		how.places = i % 8 == 0;
		how.chunk = 0;
		how.batch_rows = 0;
		how.workers = 1;
		how.fns = &dtx_scan_any;
		read_result(text, n, &how, &want);
		read_vary(&how);
		read_result(text, n, &how, &got);
		if (read_failed(&want) && how.workers > 1)
			T_CHECK(read_failed(&got));
		else
			T_STR(dtx_buf_text(&got), dtx_buf_text(&want));
	}
	dtx_buf_clear(&want);
	dtx_buf_clear(&got);
}

void test_csv_read_is_libcsv(void)
{
	struct dtx_buf want = DTX_BUF_INIT(DUMP_MAX), got = DTX_BUF_INIT(DUMP_MAX);
	struct dump_how how = DUMP_HOW;
	char text[SCAN_TEXT];
	size_t i, n;

	scan_rng = 5;
	how.opts.header_rows = 1;
	how.opts.delimiter = ",";
	how.opts.quote = "\"";
	for (i = 0; i < READ_TEXTS; i++) {
		n = read_text(text, sizeof(text), i);
		how.opts.ragged = i % 4 ? DTX_RAGGED_PAD : DTX_RAGGED_ERROR;
		how.opts.quotes = i % 3 ? "literal" : "strict";
		how.places = i % 8 == 0;
		how.opts.reader = "libcsv";
		read_result(text, n, &how, &want);
		how.opts.reader = NULL;
		read_result(text, n, &how, &got);
		T_STR(dtx_buf_text(&got), dtx_buf_text(&want));
	}
	dtx_buf_clear(&want);
	dtx_buf_clear(&got);
}

/* A filter inside of the reader keeps the same rows as a filter after it. */
void test_csv_read_pushes_filters(void)
{
	struct dtx_buf want = DTX_BUF_INIT(DUMP_MAX), got = DTX_BUF_INIT(DUMP_MAX);
	struct dump_how how = DUMP_HOW;
	static const uint32_t mods[] = { 2, 3, 17, 1000 };
	char text[SCAN_TEXT];
	size_t i, n;

	scan_rng = 6;
	how.opts.header_rows = 1;
	how.opts.delimiter = ",";
	how.opts.quote = "\"";
	how.opts.ragged = DTX_RAGGED_TRUNCATE;
	for (i = 0; i < READ_TEXTS; i++) {
		n = read_text(text, sizeof(text), i);
		how.opts.reader = i % 16 ? NULL : "libcsv";
		how.mod = mods[i % DTX_COUNT(mods)];
		how.push = false;
		how.workers = 1;
		how.chunk = 0;
		read_result(text, n, &how, &want);
		read_vary(&how);
		how.push = true;
		read_result(text, n, &how, &got);
		if (read_failed(&want) && how.workers > 1)
			T_CHECK(read_failed(&got));
		else
			T_STR(dtx_buf_text(&got), dtx_buf_text(&want));
	}
	dtx_buf_clear(&want);
	dtx_buf_clear(&got);
}

static enum dtx_code read_faulty(const char *dialect)
{
	const char *text = "a,b\n1,\"x\"\n\n2,\"y\"\"z\"\n3,NA\n";
	static const char *const words[] = { "NA" };
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dump_how how = DUMP_HOW;
	enum dtx_code rc;

	how.opts.reader = dialect;
	how.mod = 1;
	how.push = true;
	how.opts.null_values = words;
	how.opts.nnull_values = 1;
	how.chunk = 8;
	rc = dump_csv(text, strlen(text), &how, &out, NULL, NULL, NULL);
	if (rc == DTX_OK && dtx_buf_ok(&out))
		T_STR(dtx_buf_text(&out), "a:int|b:text\n1|x\n2|y\"z\n3|~\n");
	dtx_buf_clear(&out);
	return rc;
}

void test_csv_read_no_memory(void)
{
	T_EVERY_ALLOC_FAILS(read_faulty(NULL));
	T_EVERY_ALLOC_FAILS(read_faulty("libcsv"));
}
