/* The pull tokenizer with a table of documents, which are read in pieces of every size. */
#include "core/io/archive/xml.h"

#include "core/base/memory/mem.h"
#include "core/io/source/read_ahead.h"
#include "tests/t.h"

struct feed {
	const char *bytes;
	size_t len, at, step;
	char *window; /* the bytes that are lent, with the room around them */
};

static enum dtx_code feed_read(void *arg, void *to, size_t cap, size_t *got, struct dtx_err *err)
{
	struct feed *f = arg;

	(void)err;
	*got = DTX_MIN(DTX_MIN(cap, f->step), f->len - f->at);
	memcpy(to, f->bytes + f->at, *got);
	f->at += *got;
	return DTX_OK;
}

static enum dtx_code feed_lend(void *arg, char **at, size_t *got, struct dtx_err *err)
{
	struct feed *f = arg;

	*at = f->window + DTX_READ_AHEAD_FRONT;
	return feed_read(arg, *at, f->step, got, err);
}

/* "<a k=v;>" "text" "</a>" on one line; pieces of text are joined. */
static enum dtx_code dump_from(struct feed *f, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml x;
	unsigned i;

	dtx_xml_init(&x, feed_read, f, "t.xlsx", "part");
	x.lend = f->window ? feed_lend : NULL;
	for (;;) {
		DTX_TRY(dtx_xml_next(&x, err));
		if (x.kind == DTX_XML_EOF)
			break;
		if (x.kind == DTX_XML_TEXT) {
			dtx_buf_adds(out, x.text);
			continue;
		}
		dtx_buf_add(out, x.kind == DTX_XML_START ? "<" : "</");
		dtx_buf_adds(out, x.name);
		for (i = 0; x.kind == DTX_XML_START && i < x.nattr; i++) {
			dtx_buf_addc(out, ' ');
			dtx_buf_adds(out, x.attr[i].full);
			dtx_buf_addc(out, '=');
			dtx_buf_adds(out, x.attr[i].value);
			dtx_buf_addc(out, ';');
		}
		dtx_buf_addc(out, '>');
	}
out:
	dtx_xml_clear(&x);
	return rc;
}

static enum dtx_code dump(const char *bytes, size_t len, size_t step, struct dtx_buf *out,
                          struct dtx_err *err)
{
	struct feed f = { bytes, len, 0, step, NULL };

	return dump_from(&f, out, err);
}

/* Bytes that are lent give the same result as bytes that are copied. */
static void same_lent(const char *bytes, size_t len, size_t step)
{
	struct dtx_buf out[2] = { DTX_BUF_INIT(1000), DTX_BUF_INIT(1000) };
	struct dtx_err err[2] = { DTX_ERR_INIT, DTX_ERR_INIT };
	struct feed f = { bytes, len, 0, step, NULL };
	enum dtx_code rc;

	f.window = dtx_mem_alloc(DTX_READ_AHEAD_FRONT + step + DTX_READ_AHEAD_BEHIND, 1);
	T_CHECK(f.window);
	rc = dump(bytes, len, step, &out[0], &err[0]);
	T_CODE(dump_from(&f, &out[1], &err[1]), rc, &err[1]);
	T_STR(dtx_buf_text(&out[1]), dtx_buf_text(&out[0]));
	T_STR(err[1].msg, err[0].msg);
	dtx_mem_free(f.window);
	for (int i = 0; i < 2; i++) {
		dtx_buf_clear(&out[i]);
		dtx_err_clear(&err[i]);
	}
}

void test_xml_tokens(void)
{
	static const struct {
		const char *in, *out; /* out NULL: refused */
	} row[] = {
		{ "<a/>", "<a></a>" },
		{ "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<x:a b='1' "
		  "c=\"&lt;&#65;\">t</x:a>\n",
		  "<a b=1; c=<A;>t</a>" },
		{ "\xef\xbb\xbf<a>&amp;&#x1F600;\r\nz\r</a>", "<a>&\xf0\x9f\x98\x80\nz\n</a>" },
		{ "<a><![CDATA[<b>]]]]><![CDATA[>]]></a>", "<a><b>]]></a>" },
		{ "<a><!-- <b> --><?p ?>x</a>", "<a>x</a>" },
		{ "<a b=\"x\ty\"/>", "<a b=x y;></a>" },
		{ "<a>\xc3\xa9\xe2\x82\xac</a>", "<a>\xc3\xa9\xe2\x82\xac</a>" },
		{ "", NULL },
		{ "<a>", NULL },
		{ "<a></b>", NULL },
		{ "<a/><b/>", NULL },
		{ "<a/>x", NULL },
		{ "<!DOCTYPE a><a/>", NULL },
		{ "<a>&nbsp;</a>", NULL },
		{ "<a>&#0;</a>", NULL },
		{ "<a>&#xD800;</a>", NULL },
		{ "<a b=1/>", NULL },
		{ "<a b=\"1\"c=\"2\"/>", NULL },
		{ "<a b=\"1\" b=\"2\"/>", NULL },
		{ "<a b=\"<\"/>", NULL },
		{ "<a>\x01</a>", NULL },
		{ "<a>\xff</a>", NULL },
		{ "<a>\xc3</a>", NULL },
		{ "<?xml version=\"1.0\" encoding=\"latin1\"?><a/>", NULL },
		{ "<a><![CDATA[x</a>", NULL },
	};
	size_t i, step;

	for (i = 0; i < DTX_COUNT(row); i++) {
		for (step = 1; step < 9; step += 2) {
			struct dtx_buf out = DTX_BUF_INIT(1000);
			struct dtx_err err = DTX_ERR_INIT;
			enum dtx_code rc = dump(row[i].in, strlen(row[i].in), step, &out, &err);

			T_CODE(rc, row[i].out ? DTX_OK : DTX_E_CORRUPT_FILE, &err);
			if (row[i].out)
				T_STR(dtx_buf_text(&out), row[i].out);
			same_lent(row[i].in, strlen(row[i].in), step);
			dtx_buf_clear(&out);
			dtx_err_clear(&err);
		}
	}
}

/* A refusal says what is wrong, and at which byte. */
void test_xml_says_where(void)
{
	static const struct {
		const char *in;
		size_t len; /* 0: up to the NUL */
		const char *says;
	} row[] = {
		{ "<a><!-- x", 0, "'t.xlsx': part at byte 3: the part breaks off" },
		{ "<a b=\"1\"", 0, "at byte 0: the part breaks off inside a tag" },
		{ "<a =\"1\"/>", 0, "at byte 0: a tag with something that is not an attribute" },
		{ "<a b/>", 0, "a tag with something that is not an attribute" },
		{ "<a b=\"&zz;\"/>", 0, "an unknown entity in an attribute" },
		{ "<r>< a/></r>", 0, "at byte 3: '<' without a name" },
		{ "<a/>\xc3", 0, "text ends inside a character" },
		{ "\xff\xfe<\0a\0/\0>\0\x20", 11, "UTF-16 text ends inside a character" },
		{ "<a/><b/>", 0, "at byte 4: a second root element" },
		{ "<a b=1/>", 0, "an attribute without quotes" },
		{ "<a b=\"1\"c=\"2\"/>", 0, "no blank after an attribute" },
		{ "<a b=\"1\" b=\"2\"/>", 0, "an attribute stands twice" },
	};

	for (size_t i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_buf out = DTX_BUF_INIT(1000);
		struct dtx_err err = DTX_ERR_INIT;

		T_CODE(dump(row[i].in, row[i].len ? row[i].len : strlen(row[i].in), 3, &out, &err),
		       DTX_E_CORRUPT_FILE, &err);
		if (!strstr(err.msg, row[i].says))
			t_fail(__FILE__, __LINE__, "'%s': %s", row[i].in, err.msg);
		same_lent(row[i].in, row[i].len ? row[i].len : strlen(row[i].in), 3);
		dtx_buf_clear(&out);
	}
}

static void too_long(const char *before, int n, char fill, const char *behind, enum dtx_code code,
                     const char *says)
{
	struct dtx_buf in = DTX_BUF_INIT((size_t)1 << 25), out = DTX_BUF_INIT(1000);
	struct dtx_err err = DTX_ERR_INIT;

	dtx_buf_add(&in, before);
	T_CHECK(dtx_buf_room(&in, (size_t)n));
	memset(in.ptr + in.len, fill, (size_t)n);
	in.len += (size_t)n;
	dtx_buf_add(&in, behind);
	T_CODE(dump(in.ptr, in.len, 9000, &out, &err), code, &err);
	T_CHECK(strstr(err.msg, says));
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
}

void test_xml_bounds_names_and_values(void)
{
	too_long("<a", 1100, '0', "/>", DTX_E_CORRUPT_FILE, "a name of over 1024 bytes");
	too_long("<a b=\"", 70000, '0', "\"/>", DTX_E_ARCHIVE_LIMIT, "an attribute of over");
	too_long("<a b='", 17 << 20, '0', "'/>", DTX_E_ARCHIVE_LIMIT,
	         "goes on and on without a tag");
	too_long("<a><!--", 17 << 20, '<', "--></a>", DTX_E_ARCHIVE_LIMIT, "a tag of over 8388608");
}

void test_xml_utf16(void)
{
	static const char le[] = "\xff\xfe<\0a\0>\0\xe9\0=\xd8\x00\xde<\0/\0a\0>";
	static const char lone[] = "\xff\xfe<\0a\0>\0=\xd8<\0/\0a\0>";
	struct dtx_buf out = DTX_BUF_INIT(1000);

	T_OK(dump(le, sizeof(le), 3, &out, NULL), NULL);
	T_STR(dtx_buf_text(&out), "<a>\xc3\xa9\xf0\x9f\x98\x80</a>");
	T_CODE(dump(lone, sizeof(lone), 3, &out, NULL), DTX_E_CORRUPT_FILE, NULL);
	dtx_buf_clear(&out);
}

void test_xml_limits(void)
{
	struct dtx_buf in = DTX_BUF_INIT((size_t)1 << 26), out = DTX_BUF_INIT((size_t)1 << 26);
	int i;

	for (i = 0; i < 64; i++)
		dtx_buf_add(&in, "<a>");
	for (i = 0; i < 64; i++)
		dtx_buf_add(&in, "</a>");
	T_OK(dump(in.ptr, in.len, 50, &out, NULL), NULL);
	dtx_buf_reset(&in);
	for (i = 0; i < 1000000; i++)
		dtx_buf_add(&in, "<a>");
	T_CODE(dump(in.ptr, in.len, 5000, &out, NULL), DTX_E_ARCHIVE_LIMIT, NULL);
	dtx_buf_reset(&in);
	dtx_buf_add(&in, "<a ");
	for (i = 0; i < 65; i++)
		dtx_buf_printf(&in, "k%d=\"1\" ", i);
	dtx_buf_add(&in, "/>");
	T_CODE(dump(in.ptr, in.len, 5000, &out, NULL), DTX_E_ARCHIVE_LIMIT, NULL);
	dtx_buf_reset(&in);
	dtx_buf_add(&in, "<a>");
	for (i = 0; i < 9 << 20; i++)
		dtx_buf_addc(&in, ' ');
	T_CODE(dump(in.ptr, in.len, 1 << 20, &out, NULL), DTX_E_ARCHIVE_LIMIT, NULL);
	dtx_buf_reset(&in);
	dtx_buf_add(&in, "<a k=\"");
	for (i = 0; i < 20 << 20; i++)
		dtx_buf_addc(&in, 'x');
	T_CODE(dump(in.ptr, in.len, 1 << 20, &out, NULL), DTX_E_ARCHIVE_LIMIT, NULL);
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
}

static enum dtx_code dump_once(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1000);
	static const char in[] = "<a b=\"&lt;\"><c/>t&amp;</a>";
	enum dtx_code rc = dump(in, sizeof(in) - 1, 4, &out, NULL);

	dtx_buf_clear(&out);
	return rc == DTX_OK && out.fail ? DTX_E_NO_MEMORY : rc;
}

void test_xml_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(dump_once());
}
