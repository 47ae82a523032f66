/* Fingerprints, families, intents. */
#include "core/fallback/fingerprint.h"

#include "core/base/hash/hash.h"
#include "core/fallback/prompt/column_family.h"
#include "tests/t.h"

#define F(n, t)                                                                                    \
	{                                                                                          \
		.name = (n), .type = {(t), 0, 0 }                                                  \
	}

static void finger(const struct dtx_field *field, uint32_t n, char out[DTX_FINGERPRINT_TEXT])
{
	struct dtx_schema s = { .nfields = n, .field = field };
	struct dtx_fingerprint_table t = { "main", &s, NULL, NULL };
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_fingerprint_tables(&t, 1, NULL, out, &err), &err);
}

static void doc_text(const struct dtx_fingerprint_table *t, size_t n, struct dtx_buf *out,
                     char fp[])
{
	struct dtx_err err = DTX_ERR_INIT;
	json_t *doc = NULL;

	T_OK(dtx_fingerprint_tables(t, n, &doc, fp, &err), &err);
	dtx_json_canonical(doc, out);
	json_decref(doc);
}

/* The document of the design, byte for byte. */
void test_fingerprint_document(void)
{
	static const struct dtx_field main_f[] = {
		F("region", DTX_T_TEXT),
		F("2026-W02", DTX_T_FLOAT64),
		F("2026-W01", DTX_T_INT64),
		F("2026-W03", DTX_T_DECIMAL),
	};
	static const struct dtx_field hc_f[] = { F("region", DTX_T_TEXT),
		                                 F("headcount", DTX_T_INT64) };
	const struct dtx_schema ms = { .nfields = 4, .field = main_f };
	const struct dtx_schema hs = { .nfields = 2, .field = hc_f };
	const struct dtx_fingerprint_table t[] = { { "main", &ms, NULL, NULL },
		                                   { "hc", &hs, NULL, NULL } };
	struct dtx_buf got = DTX_BUF_INIT(1 << 16), names = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	char fp[DTX_FINGERPRINT_TEXT], want[DTX_FINGERPRINT_TEXT] = "f1:";
	json_t *fam = NULL;

	doc_text(t, 2, &got, fp);
	T_STR(dtx_buf_text(&got), "{\"tables\":[{\"alias\":\"hc\",\"cols\":[[\"headcount\",\"num\"]"
	                          ",[\"region\",\"text\"]]},"
	                          "{\"alias\":\"main\",\"cols\":[[\"region\",\"text\"],[\"{yyyy-"
	                          "Www}\",\"num\"]]}],\"v\":1}");
	dtx_sha256_hex(got.ptr, got.len, want + 3);
	T_STR(fp, want);
	T_OK(dtx_fingerprint_families(t, 2, &fam, &err), &err);
	dtx_json_canonical(fam, &names);
	T_STR(dtx_buf_text(&names), "{\"{yyyy-Www}\":[\"2026-W02\",\"2026-W01\",\"2026-W03\"]}");
	json_decref(fam);
	dtx_buf_clear(&got);
	dtx_buf_clear(&names);
}

void test_fingerprint_column_order_does_not_matter(void)
{
	struct dtx_field f[] = { F("a", DTX_T_INT64),       F("b", DTX_T_TEXT),
		                 F("c", DTX_T_DATE),        F("2024-01", DTX_T_INT64),
		                 F("2024-02", DTX_T_INT64), F("2024-03", DTX_T_NULL) };
	char first[DTX_FINGERPRINT_TEXT], got[DTX_FINGERPRINT_TEXT];
	uint32_t seed = 1, round, i;

	finger(f, DTX_COUNT(f), first);
	for (round = 0; round < 50; round++) {
		for (i = DTX_COUNT(f) - 1; i > 0; i--) {
			uint32_t k = (seed = seed * 1664525u + 1013904223u) >> 16;
			struct dtx_field swap = f[i];

			k %= i + 1;
			f[i] = f[k];
			f[k] = swap;
		}
		finger(f, DTX_COUNT(f), got);
		T_STR(got, first);
	}
}

void test_fingerprint_what_matters(void)
{
	static const struct dtx_field base[] = { F("a", DTX_T_INT64), F("b", DTX_T_TEXT) };
	static const struct dtx_field num[] = { F("a", DTX_T_FLOAT64), F("b", DTX_T_TEXT) };
	static const struct dtx_field type[] = { F("a", DTX_T_TEXT), F("b", DTX_T_TEXT) };
	static const struct dtx_field name[] = { F("A", DTX_T_INT64), F("b", DTX_T_TEXT) };
	static const struct dtx_field more[] = { F("a", DTX_T_INT64), F("b", DTX_T_TEXT),
		                                 F("c", DTX_T_TEXT) };
	char a[DTX_FINGERPRINT_TEXT], b[DTX_FINGERPRINT_TEXT];

	finger(base, 2, a);
	finger(num, 2, b);
	T_STR(b, a); /* int and float are one class */
	finger(type, 2, b);
	T_CHECK(strcmp(a, b) != 0);
	finger(name, 2, b);
	T_CHECK(strcmp(a, b) != 0);
	finger(more, 3, b);
	T_CHECK(strcmp(a, b) != 0);
}

/* A new month changes nothing; two columns are not a family; a column of another class is not part
 * of one. */
void test_fingerprint_families(void)
{
	static const struct dtx_field three[] = { F("Hours Jan 2024", DTX_T_INT64),
		                                  F("Hours Feb 2024", DTX_T_INT64),
		                                  F("Hours Mar 2024", DTX_T_FLOAT64),
		                                  F("Hours Apr 2024", DTX_T_NULL),
		                                  F("Hours May 2024", DTX_T_TEXT) };
	char a[DTX_FINGERPRINT_TEXT], b[DTX_FINGERPRINT_TEXT];
	struct dtx_schema s = { .nfields = 5, .field = three };
	struct dtx_families fam = DTX_FAMILIES_INIT;
	json_t *none = json_array();

	finger(three, 3, a);
	finger(three, 4, b);
	T_STR(b, a);
	finger(three, 5, b);
	T_CHECK(strcmp(a, b) != 0);
	finger(three, 2, b);
	T_CHECK(strcmp(a, b) != 0);
	T_OK(dtx_families_find(&s, NULL, &fam, NULL), NULL);
	T_INT(fam.n, 1);
	T_STR(fam.family[0].pattern, "Hours {Mon yyyy}");
	T_INT(fam.family[0].n, 4);
	T_INT(fam.of[4], -1);
	dtx_families_clear(&fam);
	T_OK(dtx_families_find(&s, none, &fam, NULL), NULL);
	T_INT(fam.n, 0);
	dtx_families_clear(&fam);
	json_decref(none);
}

void test_fingerprint_tokens(void)
{
	static const struct {
		const char *name, *kind;
	} row[] = {
		{ "2024-01-31", "yyyy-mm-dd" },
		{ "2024-01", "yyyy-mm" },
		{ "2026-W07", "yyyy-Www" },
		{ "2024-Q3", "yyyy-Qq" },
		{ "Q3 2024", "Qq yyyy" },
		{ "Jan-24", "Mon-yy" },
		{ "Jan 2024", "Mon yyyy" },
		{ "W07", "Www" },
		{ "2024", "yyyy" },
		{ "hours 2024", "yyyy" },
		{ "2024|Hours", "yyyy" },
		{ "12024", NULL },
		{ "a2024", NULL },
		{ "2024-13", "yyyy" },
		{ "W60", NULL },
		{ "hours", NULL },
		{ "Janu-24", NULL },
		{ "1850", NULL },
		{ "", NULL },
	};
	size_t i, off, len;

	for (i = 0; i < DTX_COUNT(row); i++) {
		const char *got = dtx_column_family_token(dtx_str_of(row[i].name), &off, &len);

		T_STR(got ? got : "none", row[i].kind ? row[i].kind : "none");
	}
}

void test_fingerprint_intent(void)
{
	json_t *region = json_loads("{\"kind\":\"step\",\"steps\":[{\"op\":\"x\"}]}", 0, NULL);
	json_t *contract = json_loads("{\"need\":[]}", 0, NULL);
	char a[DTX_FINGERPRINT_TEXT], b[DTX_FINGERPRINT_TEXT],
		want[DTX_FINGERPRINT_TEXT] = "i1:", hex[65];
	static const char text[] =
		"{\"abi\":\"py\",\"contract\":{},\"region\":{\"kind\":\"step\",\"steps\":"
		"[{\"op\":\"x\"}]},\"template\":1,\"v\":1}";

	T_OK(dtx_fingerprint_intent(region, NULL, 1, "py", a, NULL), NULL);
	dtx_sha256_hex(text, sizeof(text) - 1, want + 3);
	T_STR(a, want);
	T_OK(dtx_fingerprint_intent(region, contract, 1, "py", b, NULL), NULL);
	T_CHECK(strcmp(a, b) != 0);
	T_OK(dtx_fingerprint_intent(region, NULL, 2, "py", b, NULL), NULL);
	T_CHECK(strcmp(a, b) != 0);
	T_OK(dtx_fingerprint_contract(NULL, hex, NULL), NULL);
	T_STR(hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
	json_decref(region);
	json_decref(contract);
}

void test_fingerprint_needs(void)
{
	static const struct dtx_field f[] = { F("region", DTX_T_TEXT),  F("hours", DTX_T_INT64),
		                              F("unread", DTX_T_INT64), F("2024", DTX_T_INT64),
		                              F("2025", DTX_T_INT64),   F("2026", DTX_T_INT64) };
	const struct dtx_schema s = { .nfields = 6, .field = f };
	const struct dtx_fingerprint_table t = { "main", &s, NULL, NULL };
	char fp[DTX_FINGERPRINT_TEXT], *needs = NULL;
	json_t *doc = NULL;

	T_OK(dtx_fingerprint_tables(&t, 1, &doc, fp, NULL), NULL);
	T_OK(dtx_fingerprint_needs(doc, "[\"hours\",\"region\",\"other\"]", &needs, NULL), NULL);
	T_STR(needs, "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hours\",\"num\"],"
	             "[\"region\",\"text\"],[\"{yyyy}\",\"num\"]]}]}");
	dtx_mem_free(needs);
	T_OK(dtx_fingerprint_needs(doc, NULL, &needs, NULL), NULL);
	T_CHECK(needs == NULL);
	json_decref(doc);
}

static enum dtx_code finger_all(void)
{
	static const struct dtx_field f[] = { F("a", DTX_T_TEXT), F("2024", DTX_T_INT64),
		                              F("2025", DTX_T_INT64), F("2026", DTX_T_INT64) };
	const struct dtx_schema s = { .nfields = 4, .field = f };
	const struct dtx_fingerprint_table t = { "main", &s, NULL, NULL };
	char fp[DTX_FINGERPRINT_TEXT];
	json_t *doc = NULL, *fam = NULL, *order = NULL;
	char *needs = NULL;
	enum dtx_code rc;

	DTX_TRY(dtx_fingerprint_tables(&t, 1, &doc, fp, NULL));
	DTX_TRY(dtx_fingerprint_families(&t, 1, &fam, NULL));
	DTX_TRY(dtx_fingerprint_order(&t, 1, &order, NULL));
	DTX_TRY(dtx_fingerprint_needs(doc, "[\"a\"]", &needs, NULL));
	DTX_TRY(dtx_fingerprint_intent(doc, NULL, 1, "py", fp, NULL));
out:
	json_decref(doc);
	json_decref(fam);
	json_decref(order);
	dtx_mem_free(needs);
	return rc;
}

void test_fingerprint_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(finger_all());
}
