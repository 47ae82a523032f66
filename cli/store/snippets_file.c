/* Exports, imports and compares snippets, see snippets.h. */
#include <stdio.h>
#include <string.h>

#include "cli/store/snippets.h"
#include "cli/compare/udiff.h"
#include "core/base/text/base64.h"
#include "core/base/file.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* --- export --- */

static enum dtx_code file_put(struct dtx_snippets *c, const struct dtx_snippet *s,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX);
	struct dtx_buf text = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX * 2);
	json_t *row = dtx_snippet_json(s);

	DTX_TRY(dtx_snippet_code(c->store, s->code_hash, &code, err));
	dtx_base64_put(dtx_buf_str(&code), &text);
	if (!row || !dtx_json_set(row, "dtx_snippet", json_integer(1)) ||
	    !dtx_json_set(row, "code", json_string(dtx_buf_text(&text))))
		DTX_FAIL_MEM(err);
	dtx_json_canonical(row, &c->out);
	dtx_buf_addc(&c->out, '\n');
out:
	json_decref(row);
	dtx_buf_clear(&code);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_snippets_export(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet *item, one;
	size_t n, i;
	int k;

	for (k = 0; k < c->argc; k++) {
		DTX_TRY(dtx_snippet_get(c->store, c->argv[k], &c->arena, &one, err));
		DTX_TRY(file_put(c, &one, err));
	}
	if (c->argc)
		goto out;
	DTX_TRY(dtx_snippet_list(c->store, "approved", &c->arena, &item, &n, err));
	for (i = 0; i < n; i++)
		DTX_TRY(file_put(c, &item[i], err));
out:
	return rc;
}

/* --- import --- */

/* One line, ready to be added; its texts are in the arena. */
struct file_line {
	struct dtx_snippet_new add;
	struct dtx_buf code;
	const char *id;
};

static const char *file_text(struct dtx_snippets *c, const json_t *row, const char *key)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *v = json_object_get(row, key);
	const char *out = NULL;

	if (!v || json_is_null(v))
		return NULL;
	if (json_is_string(v))
		return dtx_arena_strdup(&c->arena, json_string_value(v));
	dtx_json_canonical(v, &text);
	if (dtx_buf_ok(&text))
		out = dtx_arena_strdup(&c->arena, dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return out;
}

/* The id is a hash of code, key and adapter: if they do not match, the line was changed. */
static enum dtx_code file_check(const struct file_line *l, size_t number, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_snippet_new *a = &l->add;
	char hash[DTX_SHA256_HEX], id[DTX_SNIPPET_ID];

	if (!a->key.ns || !a->key.fingerprint || !a->key.intent || !a->contract_hash || !l->id ||
	    !l->code.len)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE, "dtx snippet export writes such a file",
		              "line %zu is not an exported snippet", number);
	dtx_sha256_hex(l->code.ptr, l->code.len, hash);
	dtx_snippet_id(&a->key, hash, a->adapter, id);
	if (strcmp(id, l->id) != 0)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "line %zu: the snippet is not the one that was exported as %.8s", number,
		         l->id);
out:
	return rc;
}

static enum dtx_code file_line(struct dtx_snippets *c, struct dtx_str text, size_t number,
                               struct file_line *l, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { (size_t)2 << 20, 16 };
	enum dtx_code rc = DTX_OK;
	const char *code;
	json_t *row = NULL;

	DTX_TRY(dtx_json_parse(text, limits, &row, err));
	code = dtx_json_text(row, "code", "");
	if (dtx_json_int(row, "dtx_snippet", 0) != 1 || !dtx_base64_get(dtx_str_of(code), &l->code))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "line %zu is not an exported snippet", number);
	l->id = file_text(c, row, "cell_id");
	l->add = (struct dtx_snippet_new){
		.key = { file_text(c, row, "namespace"),
		         file_text(c, row, "source_schema_fingerprint"),
		         file_text(c, row, "intent_hash") },
		.code = { l->code.ptr, l->code.len },
		.contract_hash = file_text(c, row, "contract_hash"),
		.op = file_text(c, row, "op"),
		.abi = file_text(c, row, "abi"),
		.needs = file_text(c, row, "needs"),
		.flags = file_text(c, row, "flags"),
		.col_order = file_text(c, row, "col_order"),
		.adapter = file_text(c, row, "adapter"),
		.formulas = file_text(c, row, "formulas"),
		.origin = "import",
		.template_version = dtx_json_int(row, "template", 0),
	};
	DTX_TRY(file_check(l, number, err));
out:
	json_decref(row);
	return rc;
}

static enum dtx_code file_add(struct dtx_snippets *c, const struct file_line *l,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet have;
	char id[DTX_SNIPPET_ID];

	DTX_TRY(dtx_snippet_add(c->store, "", &l->add, id, err));
	DTX_TRY(dtx_snippet_get(c->store, id, &c->arena, &have, err));
	if (!strcmp(have.state, "candidate"))
		DTX_TRY(dtx_snippet_act(c->store, "", id, DTX_SNIPPET_PENDING, dtx_snippets_user(),
		                        "imported", err));
	dtx_buf_printf(&c->out, "%.8s  %s\n", id,
	               strcmp(have.state, "candidate") ? have.state : "pending");
out:
	return rc;
}

/* With `add`, adds the lines; otherwise only checks them. */
static enum dtx_code file_lines(struct dtx_snippets *c, struct dtx_str text, bool add,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line;
	size_t number = 0;

	while (dtx_str_next(&text, '\n', &line)) {
		struct file_line l = { .code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX) };

		number++;
		if (!dtx_str_trim(line).len)
			continue;
		rc = file_line(c, line, number, &l, err);
		if (rc == DTX_OK && add)
			rc = file_add(c, &l, err);
		dtx_buf_clear(&l.code);
		DTX_TRY(rc);
	}
out:
	return rc;
}

enum dtx_code dtx_snippets_import(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(FILE_BYTES_MAX);
	struct dtx_str all;

	DTX_TRY(dtx_file_slurp(c->argv[0], &text, err));
	all = dtx_buf_str(&text);
	DTX_TRY(file_lines(c, all, false, err));
	DTX_TRY(file_lines(c, all, true, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- diff --- */

static void file_fact(struct dtx_buf *out, const char *label, const char *a, const char *b)
{
	if (!strcmp(a ? a : "", b ? b : ""))
		return;
	dtx_buf_printf(out, "%s\n  - ", label);
	dtx_out_safe(out, a ? a : "none", false);
	dtx_buf_add(out, "\n  + ");
	dtx_out_safe(out, b ? b : "none", false);
	dtx_buf_addc(out, '\n');
}

enum dtx_code dtx_snippets_diff(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf code[2] = { DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX),
		                   DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX) };
	struct dtx_buf diff = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet s[2];
	int i;

	if (c->argc != 2)
		DTX_FAIL(err, DTX_E_USAGE, "'dtx snippet diff' needs two ids");
	for (i = 0; i < 2; i++) {
		DTX_TRY(dtx_snippet_get(c->store, c->argv[i], &c->arena, &s[i], err));
		DTX_TRY(dtx_snippet_code(c->store, s[i].code_hash, &code[i], err));
	}
	DTX_TRY(dtx_udiff(s[0].id, dtx_buf_str(&code[0]), s[1].id, dtx_buf_str(&code[1]), &diff,
	                  err));
	DTX_TRY(dtx_buf_check(&diff, "difference", err));
	dtx_out_safe(&c->out, dtx_buf_text(&diff), true);
	file_fact(&c->out, "namespace", s[0].ns, s[1].ns);
	file_fact(&c->out, "fingerprint", s[0].fingerprint, s[1].fingerprint);
	file_fact(&c->out, "intent", s[0].intent, s[1].intent);
	file_fact(&c->out, "contract", s[0].contract_hash, s[1].contract_hash);
	file_fact(&c->out, "needs", s[0].needs, s[1].needs);
	file_fact(&c->out, "flags", s[0].flags, s[1].flags);
	file_fact(&c->out, "renames", s[0].adapter, s[1].adapter);
out:
	dtx_buf_clear(&code[0]);
	dtx_buf_clear(&code[1]);
	dtx_buf_clear(&diff);
	return rc;
}
