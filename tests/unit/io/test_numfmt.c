/* Which kind of value the number formats of workbooks show, for formats as programs write them. */
#include "core/io/sheet/numfmt.h"
#include "tests/t.h"

static const struct {
	const char *code;
	enum dtx_fmt_class cls;
} formats[] = {
	{ "[h]:mm:ss", DTX_FMT_DURATION },
	{ "[mm]:ss", DTX_FMT_DURATION },
	{ "[ss].00", DTX_FMT_DURATION },
	{ "yyyy/mm/dd;@", DTX_FMT_DATE },
	{ "YYYY-MM-DD", DTX_FMT_DATE },
	{ "mmm", DTX_FMT_DATE },
	{ "[$-409]d\\-mmm\\-yy;@", DTX_FMT_DATE },
	{ "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", DTX_FMT_DATE },
	{ "[$-x-sysdate]dddd, mmmm dd, yyyy", DTX_FMT_DATE },
	{ "[$-411]ggge\"\xe5\xb9\xb4\"m\"\xe6\x9c\x88\"d\"\xe6\x97\xa5\"", DTX_FMT_DATE },
	{ "m/d/yy\\ h:mm;@", DTX_FMT_DATETIME },
	{ "yyyy\\-mm\\-dd\\Thh:mm:ss\\Z", DTX_FMT_DATETIME },
	{ "[$-409]h:mm:ss AM/PM", DTX_FMT_TIME },
	{ "mm:ss.0", DTX_FMT_TIME },
	{ "General", DTX_FMT_NUMBER },
	{ "\"Date: \"General", DTX_FMT_NUMBER },
	{ "#,##0.00_);[Red]\\(#,##0.00\\)", DTX_FMT_NUMBER },
	{ "_-* #,##0.00\\ \"dm\"_-;\\-* #,##0.00\\ \"dm\"_-;_-* \"-\"??\\ \"dm\"_-;_-@_-",
	  DTX_FMT_NUMBER },
	{ "#,##0\\ _D_M", DTX_FMT_NUMBER },
	{ "#,##0\\ [$kr-41D]", DTX_FMT_NUMBER },
	{ "[DBNum1][$-804]General", DTX_FMT_NUMBER },
	{ "[>=1000]#,##0,\"K\";0", DTX_FMT_NUMBER },
	{ "0.00E+00", DTX_FMT_NUMBER },
	{ "\\S\\t\\k\\ 0", DTX_FMT_NUMBER },
	{ ";;;", DTX_FMT_NUMBER },
	{ "\"Yes\";\"Yes\";\"No\"", DTX_FMT_NUMBER },
	{ "@", DTX_FMT_TEXT },
	/* a word for some values says nothing about the others */
	{ "[=0]\"\";dd/mm/yyyy", DTX_FMT_DATE },
	{ "[Red][=0]\\-;[<1]h:mm;0", DTX_FMT_TIME },
	{ "[=0]\"nil\";0.00", DTX_FMT_NUMBER },
	{ "[=0]\"nil\"", DTX_FMT_NUMBER },
	{ "[=0]", DTX_FMT_NUMBER },
	{ "\"day\";dd/mm/yyyy", DTX_FMT_NUMBER },
};

void test_numfmt_classes(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(formats); i++) {
		enum dtx_fmt_class cls = dtx_fmt_classify(dtx_str_of(formats[i].code));

		T_CHECK(cls == formats[i].cls);
		if (cls != formats[i].cls)
			t_fail(__FILE__, __LINE__, "%s: class %d", formats[i].code, (int)cls);
	}
}

void test_numfmt_knows_times_of_utc(void)
{
	T_CHECK(dtx_fmt_is_utc(DTX_STR("yyyy-mm-dd hh:mm:ss\"Z\"")));
	T_CHECK(dtx_fmt_is_utc(DTX_STR("yyyy\\-mm\\-dd\\Thh:mm:ss\\Z")));
	T_CHECK(dtx_fmt_is_utc(DTX_STR("dd.mm.yyyy hh:mm\" UTC\";@")));
	T_CHECK(!dtx_fmt_is_utc(DTX_STR("yyyy-mm-dd hh:mm:ss")));
	T_CHECK(!dtx_fmt_is_utc(DTX_STR("\"Z\" hh:mm;@")));
	T_CHECK(!dtx_fmt_is_utc(DTX_STR("")));
}

void test_numfmt_counts_zeros(void)
{
	static const struct {
		const char *code;
		unsigned want;
	} codes[] = { { "00000", 5 },
		      { "000\\-00\\-0000", 9 },
		      { "\"No. \"0000", 4 },
		      { "00000;-00000", 5 },
		      { "[Red]000", 3 },
		      { "00 000", 5 },
		      { "0", 0 },
		      { "0.00", 0 },
		      { "#,##0", 0 },
		      { "00%", 0 },
		      { "0#", 0 },
		      { "00E+00", 0 },
		      { "hh:mm", 0 },
		      { "General", 0 },
		      { "", 0 },
		      { "@", 0 },
		      { "?0", 0 },
		      { "00/00", 0 } };
	size_t i;

	for (i = 0; i < DTX_COUNT(codes); i++) {
		unsigned n = dtx_fmt_zeros(dtx_str_of(codes[i].code));

		if (n != codes[i].want)
			t_fail(__FILE__, __LINE__, "%s: %u", codes[i].code, n);
	}
	T_CHECK(i > 15);
}

void test_numfmt_shows_the_section_that_tells(void)
{
	struct dtx_buf out = DTX_BUF_INIT(64);

	dtx_fmt_show(DTX_STR("[=0]\"-\";dd/mm/yyyy"), DTX_FMT_DATE, 45351, false, &out);
	T_STR(dtx_buf_text(&out), "29/02/2024");
	dtx_buf_clear(&out);
}
