/* Arrow files: what other programs wrote, what is built by hand here, and damaged bytes. */
#include "core/base/lib.h"
#include "core/io/arrow/arrow.h"
#include "core/io/arrow/flatbuf_write.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

static void load(const char *name, struct dtx_buf *out)
{
	struct dtx_source *src = NULL;
	char path[256];

	snprintf(path, sizeof(path), "fixtures/arrow/%s", name);
	T_OK(dtx_source_open(path, &src, NULL), NULL);
	if (src)
		dtx_buf_addn(out, dtx_source_data(src), dtx_source_size(src));
	dtx_source_free(src);
}

static enum dtx_code read_some(const struct dtx_buf *bytes, uint32_t batch_rows,
                               struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.format = "arrow";
	return bytes_dump("t.arrow", bytes, &opts, batch_rows, true, out, err);
}

static bool has_libraries(void)
{
	dtx_pq_codecs_warm();
	if (dtx_lib_open("libzstd.so.1", "", false, NULL, 0, NULL) == DTX_OK &&
	    dtx_lib_open("liblz4.so.1", "", false, NULL, 0, NULL) == DTX_OK)
		return true;
	t_skip("a library of the codecs is missing");
	return false;
}

static void check_same(const char *one, const char *other)
{
	struct dtx_buf a = DTX_BUF_INIT(1 << 20), b = DTX_BUF_INIT(1 << 20);
	struct dtx_buf want = DTX_BUF_INIT(1 << 20), got = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	load(one, &a);
	load(other, &b);
	T_OK(read_some(&a, 0, &want, &err), &err);
	T_OK(read_some(&b, 3, &got, &err), &err);
	T_CHECK(want.len && got.len == want.len && !memcmp(got.ptr, want.ptr, want.len));
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
	dtx_buf_clear(&want);
	dtx_buf_clear(&got);
	dtx_err_clear(&err);
}

void test_arrow_files_hold_the_same(void)
{
	check_same("types.arrow", "types.arrows");
	if (has_libraries()) {
		check_same("polars-lz4.arrow", "polars-lz4.arrows");
		check_same("polars-lz4.arrow", "polars-zstd.feather");
	}
}

void test_arrow_every_alloc_fails(void)
{
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 20);

	load("types.arrow", &bytes);
	T_EVERY_ALLOC_FAILS((dtx_buf_reset(&out), read_some(&bytes, 0, &out, NULL)));
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}

/* --- damage --- */

static void try_damaged(const struct dtx_buf *bytes, size_t at)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = read_some(bytes, 0, &out, &err);
	bool fine = rc == DTX_OK || rc == DTX_E_CORRUPT_FILE || rc == DTX_E_ARCHIVE_LIMIT ||
	            rc == DTX_E_UNSUPPORTED_FORMAT || rc == DTX_E_BAD_ENCODING ||
	            rc == DTX_E_OVERFLOW;

	if (!fine)
		printf("# byte %zu: %s: %s\n", at, dtx_code_name(rc), err.msg);
	T_CHECK(fine);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

/* Changes each `step`th byte in two ways, and cuts the file before it. */
static void damage(const char *name, size_t step)
{
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	size_t len, i;

	load(name, &bytes);
	len = bytes.len;
	for (i = 0; i < len; i += step) {
		char was = bytes.ptr[i];

		bytes.ptr[i] = (char)(was ^ 1 << i % 8);
		try_damaged(&bytes, i);
		bytes.ptr[i] = (char)~was;
		try_damaged(&bytes, i);
		bytes.ptr[i] = was;
		bytes.len = i;
		try_damaged(&bytes, i);
		bytes.len = len;
	}
	dtx_buf_clear(&bytes);
}

void test_arrow_damaged(void)
{
	damage("types.arrow", 7);
	damage("types.arrows", 11);
	damage("refused.arrow", 1);
	if (has_libraries())
		damage("polars-zstd.feather", 3);
}

/* --- files that are built here --- */

/* A stream of one column: its parts are added one after the other. */
struct made {
	struct dtx_buf bytes, text, body;
	uint64_t at[8], n[8];
	unsigned buffers;
};

static void made_init(struct made *m)
{
	memset(m, 0, sizeof(*m));
	dtx_buf_init(&m->bytes, 1 << 20);
	dtx_buf_init(&m->text, 1 << 20);
	dtx_buf_init(&m->body, 1 << 20);
}

static void made_clear(struct made *m)
{
	dtx_buf_clear(&m->bytes);
	dtx_buf_clear(&m->text);
	dtx_buf_clear(&m->body);
}

static struct dtx_fbw message(struct made *m, int kind, size_t *head)
{
	size_t f[DTX_FBW_FIELDS];
	struct dtx_fbw fb;

	dtx_buf_reset(&m->text);
	fb = dtx_fbw_open(&m->text);
	dtx_fbw_table(&fb, 0, "2148", f);
	dtx_fbw_set(&fb, f[0], 4, 2);
	dtx_fbw_set(&fb, f[1], kind, 1);
	dtx_fbw_set(&fb, f[3], (int64_t)m->body.len, 8);
	*head = f[2];
	return fb;
}

/* Appends the message with its body. */
static void put(struct made *m)
{
	uint32_t head[2] = { UINT32_MAX, 0 };

	while (m->text.len % 8)
		dtx_buf_addc(&m->text, 0);
	head[1] = (uint32_t)m->text.len;
	dtx_buf_addn(&m->bytes, head, sizeof(head));
	dtx_buf_addn(&m->bytes, m->text.ptr, m->text.len);
	dtx_buf_addn(&m->bytes, m->body.ptr, m->body.len);
	dtx_buf_reset(&m->body);
	m->buffers = 0;
}

/* The schema of a column "c": its type's number, and two 4-byte fields of it. With `coded` its
 * values are in dictionary 7, and numbers of 4 bytes lead there. */
static void schema(struct made *m, unsigned type, const char *sizes, const int64_t *v, bool coded)
{
	size_t head, f[DTX_FBW_FIELDS], c[DTX_FBW_FIELDS], list;
	struct dtx_fbw fb = message(m, 1, &head);

	dtx_fbw_table(&fb, head, "04", f);
	list = dtx_fbw_items(&fb, f[1], 1, 4);
	dtx_fbw_table(&fb, list, coded ? "41144" : "4114", c);
	dtx_fbw_text(&fb, c[0], DTX_STR("c"));
	dtx_fbw_set(&fb, c[2], type, 1);
	dtx_fbw_table(&fb, c[3], sizes, f);
	for (size_t i = 0; sizes[i]; i++)
		if (sizes[i] != '0')
			dtx_fbw_set(&fb, f[i], v[i], (size_t)(sizes[i] - '0'));
	if (coded) {
		dtx_fbw_table(&fb, c[4], "8", f);
		dtx_fbw_set(&fb, f[0], 7, 8);
	}
	put(m);
}

static void buffer(struct made *m, const void *bytes, size_t n)
{
	m->at[m->buffers] = m->body.len;
	m->n[m->buffers++] = n;
	dtx_buf_addn(&m->body, bytes, n);
	while (m->body.len % 8)
		dtx_buf_addc(&m->body, 0);
}

/* A record batch of the buffers that were added; of a dictionary if `dictionary`: 1, or 2 for one
 * that goes on. `pieces`: buffers of views. */
static void records(struct made *m, int64_t rows, int64_t nulls, unsigned pieces, int dictionary)
{
	size_t head, f[DTX_FBW_FIELDS], at;
	struct dtx_fbw fb = message(m, dictionary ? 2 : 3, &head);

	if (dictionary) {
		dtx_fbw_table(&fb, head, "841", f);
		dtx_fbw_set(&fb, f[0], 7, 8);
		dtx_fbw_set(&fb, f[2], dictionary == 2, 1);
		head = f[1];
	}
	dtx_fbw_table(&fb, head, pieces ? "84404" : "844", f);
	dtx_fbw_set(&fb, f[0], rows, 8);
	at = dtx_fbw_items(&fb, f[1], 1, 16);
	dtx_fbw_set(&fb, at, rows, 8);
	dtx_fbw_set(&fb, at + 8, nulls, 8);
	at = dtx_fbw_items(&fb, f[2], m->buffers, 16);
	for (unsigned i = 0; i < m->buffers; i++, at += 16) {
		dtx_fbw_set(&fb, at, (int64_t)m->at[i], 8);
		dtx_fbw_set(&fb, at + 8, (int64_t)m->n[i], 8);
	}
	if (pieces)
		dtx_fbw_set(&fb, dtx_fbw_items(&fb, f[4], 1, 8), pieces, 8);
	put(m);
}

static void end(struct made *m)
{
	static const uint32_t mark[2] = { UINT32_MAX, 0 };

	dtx_buf_addn(&m->bytes, mark, sizeof(mark));
}

/* Reads it, and compares with a dump or, if that begins with "!", with the text of the error. */
static void check(struct made *m, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = read_some(&m->bytes, 2, &out, &err);

	if (want[0] == '!') {
		T_CHECK(rc != DTX_OK);
		T_STR(err.msg, want + 1);
	} else {
		T_OK(rc, &err);
		T_STR(dtx_buf_text(&out), want);
	}
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
	made_clear(m);
}

static void put_view(char *to, const char *text, uint32_t piece, uint32_t at)
{
	uint32_t n = (uint32_t)strlen(text);

	memset(to, 0, 16);
	memcpy(to, &n, 4);
	memcpy(to + 4, text, DTX_MIN(n, n > 12 ? 4U : 12U));
	if (n > 12) {
		memcpy(to + 8, &piece, 4);
		memcpy(to + 12, &at, 4);
	}
}

static void views(struct made *m, uint32_t at)
{
	char view[4 * 16];

	made_init(m);
	schema(m, 24, "", NULL, false);
	put_view(view, "short", 0, 0);
	put_view(view + 16, "of twelve ch", 0, 0);
	memset(view + 32, 0xff, 16); /* a null may have anything */
	put_view(view + 48, "longer than that", 1, at);
	buffer(m, "\x0b", 1);
	buffer(m, view, sizeof(view));
	buffer(m, "unused", 6);
	buffer(m, "x longer than that", 18);
	records(m, 4, 1, 2, 0);
	end(m);
}

void test_arrow_views(void)
{
	struct made m;

	views(&m, 2);
	check(&m, "c:text\nshort\nof twelve ch\n~\nlonger than that\n");
	views(&m, 3);
	check(&m,
	      "!'t.arrow': column 'c', rows from 1 on, is damaged: a view leads out of its buffer");
}

void test_arrow_decimals(void)
{
	static const int64_t type[] = { 20, 2, 256 };
	struct made m;
	uint8_t v[64] = { 0x39, 0x30 }; /* 12345 */

	made_init(&m);
	memset(v + 32, 0xff, 32); /* -1 */
	schema(&m, 7, "444", type, false);
	buffer(&m, "", 0);
	buffer(&m, v, sizeof(v));
	records(&m, 2, 0, 0, 0);
	end(&m);
	check(&m, "c:decimal\n123.45\n-0.01\n");
	made_init(&m);
	v[20] = 1;
	schema(&m, 7, "444", type, false);
	buffer(&m, "", 0);
	buffer(&m, v, sizeof(v));
	records(&m, 2, 0, 0, 0);
	check(&m, "!'t.arrow': column 'c', row 1: it has more digits than its type");
}

void test_arrow_dates_in_milliseconds(void)
{
	static const int64_t type[] = { 1 };
	int64_t v[2] = { 86400000, -86400000 };
	struct made m;

	made_init(&m);
	schema(&m, 8, "2", type, false);
	buffer(&m, "", 0);
	buffer(&m, v, sizeof(v));
	records(&m, 2, 0, 0, 0);
	end(&m);
	check(&m, "c:date\n1970-01-02\n1969-12-31\n");
	made_init(&m);
	v[1]++;
	schema(&m, 8, "2", type, false);
	buffer(&m, "", 0);
	buffer(&m, v, sizeof(v));
	records(&m, 2, 0, 0, 0);
	check(&m, "!'t.arrow': column 'c', row 2: it is a date with a time of day");
}

static void texts(struct made *m, const uint32_t *offset, size_t n, const char *bytes)
{
	buffer(m, "", 0);
	buffer(m, offset, 4 * n);
	buffer(m, bytes, strlen(bytes));
}

/* A dictionary that goes on, and one that takes the place of another. */
void test_arrow_dictionaries(void)
{
	static const uint32_t two[] = { 0, 1, 3 }, one[] = { 0, 1 };
	static const int32_t a[] = { 1, 0 }, b[] = { 2, 0 };
	struct made m;

	made_init(&m);
	schema(&m, 5, "", NULL, true);
	texts(&m, two, 3, "abb");
	records(&m, 2, 0, 0, 1);
	buffer(&m, "", 0);
	buffer(&m, a, sizeof(a));
	records(&m, 2, 0, 0, 0);
	texts(&m, one, 2, "c");
	records(&m, 1, 0, 0, 2);
	buffer(&m, "", 0);
	buffer(&m, b, sizeof(b));
	records(&m, 2, 0, 0, 0);
	texts(&m, two, 3, "def");
	records(&m, 2, 0, 0, 1);
	buffer(&m, "", 0);
	buffer(&m, a, sizeof(a));
	records(&m, 2, 0, 0, 0);
	end(&m);
	check(&m, "c:text\nbb\na\nc\na\nef\nd\n");
	made_init(&m);
	schema(&m, 5, "", NULL, true);
	texts(&m, two, 3, "abb");
	records(&m, 2, 0, 0, 1);
	buffer(&m, "", 0);
	buffer(&m, b, sizeof(b));
	records(&m, 2, 0, 0, 0);
	check(&m, "!'t.arrow': column 'c', rows from 1 on, is damaged: a number is not in its "
	          "dictionary");
}

void test_arrow_texts(void)
{
	static const uint32_t good[] = { 0, 2, 4 }, split[] = { 0, 1, 4 }, back[] = { 0, 3, 2 },
			      far[] = { 0, 2, 5 };
	static const struct {
		const uint32_t *offset;
		const char *want;
	} cases[] = {
		{ good, "c:text\né\nab\n" },
		{ split, "!'t.arrow': column 'c', row 1: it is not UTF-8" },
		{ back, "!'t.arrow': column 'c', rows from 1 on, is damaged: its offsets are not "
		        "in order, or lead too far" },
		{ far, "!'t.arrow': column 'c', rows from 1 on, is damaged: its offsets are not in "
		       "order, or lead too far" },
	};

	for (size_t i = 0; i < DTX_COUNT(cases); i++) {
		struct made m;

		made_init(&m);
		schema(&m, 5, "", NULL, false);
		texts(&m, cases[i].offset, 3,
		      "\xc3\xa9"
		      "ab");
		records(&m, 2, 0, 0, 0);
		end(&m);
		check(&m, cases[i].want);
	}
}

void test_arrow_streams_end(void)
{
	static const uint32_t two[] = { 0, 1, 3 };
	struct made m;

	made_init(&m);
	schema(&m, 5, "", NULL, false);
	texts(&m, two, 3, "abb");
	records(&m, 2, 0, 0, 0);
	check(&m, "c:text\na\nbb\n"); /* without a mark */
	made_init(&m);
	schema(&m, 5, "", NULL, false);
	end(&m);
	schema(&m, 5, "", NULL, false);
	check(&m, "!'t.arrow': 128 bytes follow the end of the stream; dtx reads one stream");
	made_init(&m);
	schema(&m, 5, "", NULL, false);
	schema(&m, 5, "", NULL, false);
	check(&m, "!'t.arrow' is damaged: it has more than one schema");
}
