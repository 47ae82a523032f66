/* JSON: limits, errors with places, canonical text. */
#include "core/base/text/json.h"

#include "tests/t.h"

static enum dtx_code json_round(const char *text, bool canonical, struct dtx_buf *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *v = NULL;

	DTX_TRY(dtx_json_parse(dtx_str_of(text), (struct dtx_json_limits){ 0, 0 }, &v, err));
	if (canonical)
		dtx_json_canonical(v, out);
	else
		dtx_json_print(v, 2, out);
	DTX_TRY(dtx_buf_check(out, "JSON text", err));
out:
	json_decref(v);
	return rc;
}

void test_json_canonical(void)
{
	static const char *const rows[][2] = {
		{ "{\"b\":1,\"a\":[true,null,1.50,100.0,1e21]}",
		  "{\"a\":[true,null,1.5,100,1e+21],\"b\":1}" },
		/* RFC 8785, 3.2.3 */
		{ "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":"
		  "6,"
		  "\"\\u00f6\":7}",
		  "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,"
		  "\"\xf0\x9f\x98\x80\":5,\"\xef\xac\xb3\":3}" },
		{ "\"\\u0001\\n\\/\"", "\"\\u0001\\n/\"" },
		{ "[]", "[]" },
		{ "{}", "{}" },
	};
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_buf b = DTX_BUF_INIT(1000);

		T_OK(json_round(rows[i][0], true, &b, &err), &err);
		T_STR(dtx_buf_text(&b), rows[i][1]);
		dtx_buf_clear(&b);
	}
}

void test_json_pretty(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1000);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(json_round("{\"b\":[1,{}],\"a\":[]}", false, &b, &err), &err);
	T_STR(dtx_buf_text(&b), "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}");
	dtx_buf_clear(&b);
}

void test_json_errors(void)
{
	static const struct {
		const char *text;
		enum dtx_code code;
		long byte;
	} rows[] = {
		{ "{\"a\":1,}", DTX_E_JSON_SYNTAX, 8 },
		{ "", DTX_E_JSON_SYNTAX, 0 },
		{ "[1] x", DTX_E_JSON_SYNTAX, 5 },
		{ "{\"a\":1,\"a\":2}", DTX_E_JSON_DUPLICATE_KEY, 10 },
		{ "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", DTX_E_JSON_DEPTH, 16 },
		{ "[\"\xff\"]", DTX_E_PLAN_ENCODING, 2 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_buf b = DTX_BUF_INIT(1000);
		struct dtx_err err = DTX_ERR_INIT;

		T_CODE(json_round(rows[i].text, true, &b, &err), rows[i].code, &err);
		T_INT(err.byte, rows[i].byte);
		dtx_buf_clear(&b);
		dtx_err_clear(&err);
	}
}

void test_json_too_large(void)
{
	json_t *v = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(dtx_json_parse(DTX_STR("[1,2,3]"), (struct dtx_json_limits){ 5, 0 }, &v, &err),
	       DTX_E_PLAN_TOO_LARGE, &err);
}

static enum dtx_code json_once(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1000);
	enum dtx_code rc = json_round("{\"b\":[1,2,{\"x\":\"y\"}],\"a\":1.5}", true, &b, NULL);

	dtx_buf_clear(&b);
	return rc;
}

void test_json_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(json_once());
}

void test_json_pointer(void)
{
	char p[32] = "";

	dtx_json_pointer_add(p, sizeof(p), "a/b~c");
	dtx_json_pointer_index(p, sizeof(p), 12);
	T_STR(p, "/a~1b~0c/12");
	dtx_json_pointer_add(p, sizeof(p), "0123456789012345678901234567890");
	T_CHECK(strlen(p) < sizeof(p));
}

void test_json_find(void)
{
	json_t *list = json_pack("[{ss ss}, i, {ss}, {ss ss}]", "a", "x", "n", "first", 5, "b", "x",
	                         "a", "x", "n", "second");

	T_STR(dtx_json_text(dtx_json_find(list, "a", "x"), "n", ""), "first");
	T_CHECK(dtx_json_find(list, "b", "x") == json_array_get(list, 2));
	T_CHECK(!dtx_json_find(list, "a", "y") && !dtx_json_find(NULL, "a", "x"));
	json_decref(list);
}
