/* Columns that are in the names of folders, see partitions.h. */
#include "core/plan/parse/partitions.h"

#include <stdio.h>
#include <string.h>

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/infer.h"
#include "core/io/columns.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

/* The next folder KEY=VALUE of a path. False: there is no other one. */
static bool next_folder(const char **path, struct dtx_str *key, struct dtx_str *value)
{
	const char *slash, *equals;

	while ((slash = strchr(*path, '/')) != NULL) {
		const char *from = *path;

		*path = slash + 1;
		equals = memchr(from, '=', (size_t)(slash - from));
		if (!equals || equals == from)
			continue;
		*key = (struct dtx_str){ from, (size_t)(equals - from) };
		*value = (struct dtx_str){ equals + 1, (size_t)(slash - equals - 1) };
		return true;
	}
	return false;
}

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 'a' - 'A' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes %XX. NULL: out of memory. */
static char *decode(struct dtx_arena *a, struct dtx_str s)
{
	char *text = dtx_arena_alloc(a, s.len + 1, 1);
	size_t i, n = 0;

	for (i = 0; text && i < s.len; i++) {
		int high = s.ptr[i] == '%' && i + 2 < s.len ? hex(s.ptr[i + 1]) : -1;
		int low = high < 0 ? -1 : hex(s.ptr[i + 2]);

		text[n++] = low < 0 ? s.ptr[i] : (char)(high * 16 + low);
		i += low < 0 ? 0 : 2;
	}
	if (text)
		text[n] = '\0';
	return text;
}

/* The keys of a file, as they are in its path, for a message. */
static void print_keys(const char *path, char *buf, size_t size)
{
	struct dtx_str key, value;
	size_t n = 0;

	snprintf(buf, size, "no folders KEY=VALUE");
	while (n < size && next_folder(&path, &key, &value))
		n += (size_t)snprintf(buf + n, size - n, "%s%.*s=", n ? "/" : "", (int)key.len,
		                      key.ptr);
}

/* --- keys and values --- */

struct partitions {
	struct dtx_arena *a;
	const struct dtx_plan_input *in;
	const struct dtx_plan_file *file;
	size_t nfiles, nkeys;
	const char **key;
	const char **value; /* of file i and key k: value[i * nkeys + k]; NULL: null */
};

static enum dtx_code count_keys(struct partitions *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = x->file[0].shown;
	struct dtx_str key, value;
	size_t k;

	while (next_folder(&path, &key, &value))
		x->nkeys++;
	if (!x->nkeys)
		DTX_FAIL_NEXT(
			err, DTX_E_BAD_PARAM_VALUE,
			"partitions are folders such as year=2024; leave \"partitions\" out to "
			"read the files alone",
			"the path of '%.300s' has no folder KEY=VALUE", x->file[0].shown);
	x->key = dtx_arena_zalloc(x->a, x->nkeys, sizeof(*x->key));
	x->value = dtx_arena_zalloc(x->a, x->nkeys * x->nfiles, sizeof(*x->value));
	if (!x->key || !x->value)
		DTX_FAIL_MEM(err);
	path = x->file[0].shown;
	for (k = 0; k < x->nkeys && next_folder(&path, &key, &value); k++) {
		x->key[k] = decode(x->a, key);
		if (!x->key[k])
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < k; i++)
			if (strcmp(x->key[i], x->key[k]) == 0)
				DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
				         "the path of '%.300s' has two folders '%.80s='",
				         x->file[0].shown, x->key[k]);
	}
out:
	return rc;
}

static bool is_null(const struct dtx_read_opts *o, const char *value)
{
	bool null = !*value || strcmp(value, HIVE_NULL) == 0;

	for (size_t i = 0; i < o->nnull_values && !null; i++)
		null = strcmp(o->null_values[i], value) == 0;
	return null;
}

static enum dtx_code read_file(struct partitions *x, size_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = x->file[i].shown;
	char first[200], other[200];
	struct dtx_str key, text;
	size_t k = 0;
	bool same = true;

	for (; same && next_folder(&path, &key, &text); k++) {
		const char *name = decode(x->a, key), *value = decode(x->a, text);

		if (!name || !value)
			DTX_FAIL_MEM(err);
		same = k < x->nkeys && strcmp(name, x->key[k]) == 0;
		if (same && !is_null(&x->in->opts, value))
			x->value[i * x->nkeys + k] = value;
	}
	if (same && k == x->nkeys)
		goto out;
	print_keys(x->file[0].shown, first, sizeof(first));
	print_keys(x->file[i].shown, other, sizeof(other));
	DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
	              "all files of an input have the same keys in the same order; read the others "
	              "as an input of their own",
	              "partitions differ: '%.200s' has %s, but '%.200s' has %s", x->file[0].shown,
	              first, x->file[i].shown, other);
out:
	return rc;
}

/* --- types --- */

/* The values of key k as texts, and the narrowest type that all of them fit. */
static enum dtx_code texts_of(const struct partitions *x, size_t k, struct dtx_typeref *type,
                              struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_infer infer = { 0 };
	struct dtx_builder b;

	dtx_builder_init(&b, (struct dtx_typeref){ .type = DTX_T_TEXT }, (uint32_t)x->nfiles);
	for (size_t i = 0; i < x->nfiles; i++) {
		const char *value = x->value[i * x->nkeys + k];

		dtx_infer_text(&infer, dtx_str_of(value ? value : ""), !value, (int64_t)i);
		if (value)
			dtx_builder_text(&b, dtx_str_of(value));
		else
			dtx_builder_null(&b);
	}
	*type = dtx_infer_type(&infer);
	return dtx_builder_finish(&b, NULL, out, err);
}

/* The values of a column as texts that the cast functions read. */
static json_t *values_json(const struct dtx_column *c)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *list = json_array();
	bool whole = list != NULL;

	for (uint32_t i = 0; whole && i < c->len; i++) {
		bool null = dtx_column_is_null(c, i);

		dtx_buf_reset(&text);
		if (!null)
			dtx_cast_print(c, i, &text);
		whole = dtx_buf_ok(&text) &&
		        !json_array_append_new(list, null ? json_null()
		                                          : json_stringn(text.ptr, text.len));
	}
	dtx_buf_clear(&text);
	if (whole)
		return list;
	json_decref(list);
	return NULL;
}

static enum dtx_code column_of(const struct partitions *x, size_t k, json_t *list,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts o = x->in->opts;
	const struct dtx_read_type *declared = dtx_columns_declared(&o, x->key[k]);
	struct dtx_buf type = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_column *texts = NULL, *typed = NULL;
	struct dtx_cast_spec spec = { .on_error = DTX_CAST_ERROR, .declared = true };
	struct dtx_cast_count count = { 0 };
	json_t *values = NULL;

	DTX_TRY(texts_of(x, k, &spec.to, &texts, err));
	if (dtx_type_is_utc(spec.to)) /* the name of the type does not say this */
		spec.to.type = DTX_T_TEXT;
	if (declared) {
		spec.to = declared->type;
		spec.format = declared->format;
		spec.on_error = declared->on_error;
	}
	rc = dtx_cast_column(texts, &spec, &typed, &count, err);
	if (rc != DTX_OK && err) {
		dtx_err_hint(err, "it is the value of the folder '%.80s=' of '%.200s'", x->key[k],
		             x->file[DTX_MIN(count.first_row, x->nfiles - 1)].shown);
		err->row = -1;
	}
	DTX_TRY(rc);
	values = values_json(typed);
	dtx_type_print(typed->type, &type);
	if (!values || !dtx_buf_ok(&type) ||
	    json_array_append_new(list, json_pack("{ss ss sO}", "name", x->key[k], "type",
	                                          dtx_buf_text(&type), "values", values)))
		DTX_FAIL_MEM(err);
out:
	json_decref(values);
	dtx_buf_clear(&type);
	dtx_column_unref(typed);
	dtx_column_unref(texts);
	return rc;
}

enum dtx_code dtx_partitions_read(struct dtx_plan *p, const struct dtx_plan_input *in,
                                  const struct dtx_plan_file *file, size_t n, json_t **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct partitions x = { .a = &p->arena, .in = in, .file = file, .nfiles = n };
	json_t *list = json_array();
	size_t k;

	if (!list)
		DTX_FAIL_MEM(err);
	DTX_TRY(count_keys(&x, err));
	for (k = 0; k < n; k++)
		DTX_TRY(read_file(&x, k, err));
	for (k = 0; k < x.nkeys; k++)
		DTX_TRY(column_of(&x, k, list, err));
	*out = json_incref(list);
out:
	json_decref(list);
	return rc;
}

/* --- what is made of them --- */

static bool is_partition(const json_t *columns, const char *name)
{
	return name && dtx_json_find(columns, "name", name);
}

enum dtx_code dtx_partitions_undeclare(struct dtx_arena *a, const json_t *columns,
                                       struct dtx_read_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_type *types = dtx_arena_zalloc(a, opts->ntypes + 1, sizeof(*types));
	const char **requires = dtx_arena_zalloc(a, opts->nrequires + 1, sizeof(*requires));
	size_t i, n = 0;

	if (!types || !requires)
		DTX_FAIL_MEM(err);
	for (i = 0; i < opts->ntypes; i++)
		if (!is_partition(columns, opts->types[i].name))
			types[n++] = opts->types[i];
	opts->types = types;
	opts->ntypes = n;
	for (i = n = 0; i < opts->nrequires; i++)
		if (!is_partition(columns, opts->requires[i]))
	requires[n++] = opts->requires[i];
	opts->requires = requires;
	opts->nrequires = n;
	dtx_columns_index(a, opts);
out:
	return rc;
}
