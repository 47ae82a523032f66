/* The key of a snippet: documents in canonical JSON and their hashes, see fingerprint.h. */
#include "core/fallback/fingerprint.h"

#include <stdlib.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/fallback/prompt/column_family.h"

const char *dtx_fingerprint_class(enum dtx_type type)
{
	static const char *const name[DTX_TYPE_COUNT] = {
		[DTX_T_UNKNOWN] = "any", [DTX_T_NULL] = "any",          [DTX_T_BOOL] = "bool",
		[DTX_T_INT64] = "num",   [DTX_T_FLOAT64] = "num",       [DTX_T_DECIMAL] = "num",
		[DTX_T_DATE] = "date",   [DTX_T_DATETIME] = "datetime", [DTX_T_TEXT] = "text",
	};

	return name[type];
}

static enum dtx_code fingerprint_hash(const json_t *doc, const char *tag,
                                      char out[DTX_FINGERPRINT_TEXT], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_json_canonical(doc, &text);
	DTX_TRY(dtx_buf_check(&text, "fingerprint", err));
	memcpy(out, tag, 3);
	dtx_sha256_hex(text.ptr, text.len, out + 3);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- tables --- */

/* A value and the text by which it is sorted, as bytes. */
struct fingerprint_item {
	const char *key;
	json_t *value;
};

static int fingerprint_item_order(const void *a, const void *b)
{
	const struct fingerprint_item *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	const char *p = json_string_value(json_array_get(x->value, 1));
	const char *q = json_string_value(json_array_get(y->value, 1));

	return order || !p || !q ? order : strcmp(p, q);
}

/* Takes the values and returns them as an array in the order of their keys. NULL: out of memory. */
static json_t *fingerprint_sorted(struct fingerprint_item *item, size_t n)
{
	json_t *out = json_array();
	bool ok = out != NULL;
	size_t i;

	if (n)
		qsort(item, n, sizeof(*item), fingerprint_item_order);
	for (i = 0; i < n; i++) {
		if (json_array_append_new(out, item[i].value) < 0)
			ok = false;
	}
	if (ok)
		return out;
	json_decref(out);
	return NULL;
}

/* Columns outside families under their own names, and each family once under its pattern. */
static json_t *fingerprint_cols(const struct dtx_schema *s, const struct dtx_families *fam)
{
	struct fingerprint_item *item = dtx_mem_zalloc((size_t)s->nfields + fam->n, sizeof(*item));
	json_t *out = NULL;
	size_t n = 0, i;

	if (!item)
		return NULL;
	for (i = 0; i < s->nfields; i++) {
		const struct dtx_field *f = &s->field[i];

		if (fam->of[i] >= 0)
			continue;
		item[n].key = f->name;
		item[n++].value = json_pack("[s, s]", f->name, dtx_fingerprint_class(f->type.type));
	}
	for (i = 0; i < fam->n; i++) {
		item[n].key = fam->family[i].pattern;
		item[n++].value = json_pack("[s, s]", fam->family[i].pattern, fam->family[i].klass);
	}
	out = fingerprint_sorted(item, n);
	dtx_mem_free(item);
	return out;
}

static enum dtx_code fingerprint_table(const struct dtx_fingerprint_table *t, json_t **out,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_families fam = DTX_FAMILIES_INIT;
	json_t *cols = NULL;

	if (t->grid) {
		*out = json_pack("{s:s, s:O}", "alias", t->alias, "grid", t->grid);
	} else {
		DTX_TRY(dtx_families_find(t->schema, t->families, &fam, err));
		cols = fingerprint_cols(t->schema, &fam);
		*out = cols ? json_pack("{s:s, s:O}", "alias", t->alias, "cols", cols) : NULL;
	}
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	json_decref(cols);
	dtx_families_clear(&fam);
	return rc;
}

enum dtx_code dtx_fingerprint_tables(const struct dtx_fingerprint_table *table, size_t n,
                                     json_t **doc, char fingerprint[DTX_FINGERPRINT_TEXT],
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct fingerprint_item *item = dtx_mem_zalloc(n, sizeof(*item));
	json_t *whole = NULL, *tables;
	size_t made = 0;

	if (!item)
		DTX_FAIL_MEM(err);
	for (; made < n; made++) {
		item[made].key = table[made].alias;
		DTX_TRY(fingerprint_table(&table[made], &item[made].value, err));
	}
	tables = fingerprint_sorted(item, n);
	made = 0;
	whole = tables ? json_pack("{s:o, s:i}", "tables", tables, "v", 1) : NULL;
	if (!whole)
		DTX_FAIL_MEM(err);
	DTX_TRY(fingerprint_hash(whole, "f1:", fingerprint, err));
	if (doc)
		*doc = json_incref(whole);
out:
	while (made)
		json_decref(item[--made].value);
	dtx_mem_free(item);
	json_decref(whole);
	return rc;
}

/* --- what goes into the parameters and the cache --- */

static bool fingerprint_family_names(const struct dtx_schema *s, const struct dtx_families *fam,
                                     json_t *out)
{
	size_t i, k;

	for (i = 0; i < fam->n; i++) {
		const char *pattern = fam->family[i].pattern;
		json_t *names = json_incref(json_object_get(out, pattern));

		if (!names)
			names = json_array();
		for (k = 0; k < s->nfields; k++) {
			if (fam->of[k] == (int32_t)i &&
			    json_array_append_new(names, json_string(s->field[k].name)) < 0) {
				json_decref(names);
				return false;
			}
		}
		if (!dtx_json_set(out, pattern, names))
			return false;
	}
	return true;
}

enum dtx_code dtx_fingerprint_families(const struct dtx_fingerprint_table *table, size_t n,
                                       json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *all = json_object();
	struct dtx_families fam = DTX_FAMILIES_INIT;
	size_t i;

	if (!all)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		if (table[i].grid)
			continue;
		DTX_TRY(dtx_families_find(table[i].schema, table[i].families, &fam, err));
		if (!fingerprint_family_names(table[i].schema, &fam, all))
			DTX_FAIL_MEM(err);
		dtx_families_clear(&fam);
	}
	*out = all;
	all = NULL;
out:
	dtx_families_clear(&fam);
	json_decref(all);
	return rc;
}

enum dtx_code dtx_fingerprint_order(const struct dtx_fingerprint_table *table, size_t n,
                                    json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *all = json_object(), *names = NULL;
	size_t i, k;

	if (!all)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		names = json_array();
		for (k = 0; !table[i].grid && k < table[i].schema->nfields; k++) {
			if (json_array_append_new(names,
			                          json_string(table[i].schema->field[k].name)) < 0)
				DTX_FAIL_MEM(err);
		}
		if (!dtx_json_set(all, table[i].alias, names ? json_incref(names) : NULL))
			DTX_FAIL_MEM(err);
		json_decref(names);
		names = NULL;
	}
	*out = all;
	all = NULL;
out:
	json_decref(names);
	json_decref(all);
	return rc;
}

/* --- the columns that code reads --- */

static bool fingerprint_is_read(const json_t *col, const json_t *names)
{
	const char *name = json_string_value(json_array_get(col, 0));
	json_t *one;
	size_t i;

	if (name && strchr(name, '{') && strchr(name, '}'))
		return true;
	json_array_foreach(names, i, one)
	{
		if (name && json_string_value(one) && !strcmp(name, json_string_value(one)))
			return true;
	}
	return false;
}

/* {"alias", "cols"} with only the columns that are read. NULL: out of memory. */
static json_t *fingerprint_read_table(const json_t *table, const json_t *names)
{
	json_t *cols = json_array(), *col;
	size_t i;

	json_array_foreach(json_object_get(table, "cols"), i, col)
	{
		if (fingerprint_is_read(col, names) && json_array_append(cols, col) < 0) {
			json_decref(cols);
			return NULL;
		}
	}
	return json_pack("{s:s, s:o}", "alias", dtx_json_text(table, "alias", ""), "cols", cols);
}

enum dtx_code dtx_fingerprint_needs(const json_t *doc, const char *names, char **out,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *list = NULL, *tables = json_array(), *whole = NULL, *table;
	size_t i;

	*out = NULL;
	if (!names)
		goto out;
	DTX_TRY(dtx_json_parse(dtx_str_of(names), limits, &list, err));
	json_array_foreach(json_object_get(doc, "tables"), i, table)
	{
		if (json_array_append_new(tables, fingerprint_read_table(table, list)) < 0)
			DTX_FAIL_MEM(err);
	}
	whole = json_pack("{s:O}", "tables", tables);
	if (!whole)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(whole, &text);
	DTX_TRY(dtx_buf_check(&text, "read set", err));
	*out = dtx_buf_steal(&text);
out:
	json_decref(list);
	json_decref(tables);
	json_decref(whole);
	dtx_buf_clear(&text);
	return rc;
}

/* --- intent --- */

enum dtx_code dtx_fingerprint_intent(const json_t *region, const json_t *contract,
                                     int64_t template_version, const char *abi,
                                     char intent[DTX_FINGERPRINT_TEXT], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *none = json_object(), *doc = NULL;

	doc = none ? json_pack("{s:s, s:O, s:O, s:I, s:i}", "abi", abi, "contract",
	                       contract ? contract : none, "region", region, "template",
	                       (json_int_t)template_version, "v", 1)
	           : NULL;
	if (!doc)
		DTX_FAIL_MEM(err);
	DTX_TRY(fingerprint_hash(doc, "i1:", intent, err));
out:
	json_decref(none);
	json_decref(doc);
	return rc;
}

enum dtx_code dtx_fingerprint_contract(const json_t *contract, char hex[65], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char tagged[DTX_FINGERPRINT_TEXT];
	json_t *none = json_object();

	if (!none)
		DTX_FAIL_MEM(err);
	DTX_TRY(fingerprint_hash(contract ? contract : none, "c1:", tagged, err));
	memcpy(hex, tagged + 3, 65);
out:
	json_decref(none);
	return rc;
}
