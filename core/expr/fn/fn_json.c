/* JSON in a cell.  It is read in place, so that numbers stay as they are written. */
#include "core/expr/bound.h"

#include "core/base/text/json_text.h"
#include "core/base/text/num.h"

/* --- paths --- */

struct path_step {
	struct dtx_str key; /* ptr NULL: the step is an index */
	int64_t index;
};
struct path {
	struct path_step *step;
	size_t n;
};

/* Reads one step of a path at *pos: ".key", "key", "[3]" or "['key']". */
static bool path_step(struct dtx_str s, size_t *pos, struct path_step *out)
{
	const char *p = s.ptr;
	size_t from, end;

	if (p[*pos] != '[') {
		from = *pos + (p[*pos] == '.');
		for (end = from; end < s.len && p[end] != '.' && p[end] != '['; end++)
			;
		out->key = (struct dtx_str){ p + from, end - from };
		*pos = end;
		return end > from;
	}
	from = *pos + 1;
	if (from < s.len && (p[from] == '\'' || p[from] == '"')) {
		const char *quote = memchr(p + from + 1, p[from], s.len - from - 1);

		end = quote ? (size_t)(quote - p) : s.len;
		out->key = (struct dtx_str){ p + from + 1, end - from - 1 };
		*pos = end + 2;
		return end + 1 < s.len && p[end + 1] == ']';
	}
	for (end = from; end < s.len && p[end] != ']'; end++)
		;
	*pos = end + 1;
	return end < s.len && dtx_num_parse_i64(p + from, end - from, &out->index) &&
	       out->index >= 0;
}

static enum dtx_code prep_path(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = c->konst[1]->null ? DTX_STR("") : c->konst[1]->u.s;
	struct path *p = dtx_arena_zalloc(a, 1, sizeof(*p));
	size_t pos = s.len && s.ptr[0] == '$' && (s.len == 1 || strchr(".[", s.ptr[1]));

	if (!p)
		DTX_FAIL_MEM(err);
	p->step = dtx_arena_zalloc(a, s.len + 1, sizeof(*p->step));
	if (!p->step)
		DTX_FAIL_MEM(err);
	while (pos < s.len) {
		if (path_step(s, &pos, &p->step[p->n++]))
			continue;
		dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__, "'%.*s' is not a JSON path",
		            (int)dtx_str_cut(s, 60).len, s.ptr);
		dtx_err_hint(err, "as in 'items[0].name' or '$.items[0].name'");
		return DTX_E_BAD_LITERAL;
	}
	c->prepared = p;
out:
	return rc;
}

/* Moves to the element or member of the step.  If several members have the name, it is the last
 * one. */
static bool path_enter(struct dtx_jsontext *r, const struct path_step *step, struct dtx_buf *skip,
                       bool *found)
{
	char close = step->key.ptr ? '}' : ']';
	struct dtx_jsontext at = *r;
	int64_t i = 0;

	*found = false;
	if (dtx_jsontext_peek(r) != (step->key.ptr ? '{' : '['))
		return true;
	r->pos++;
	while (!dtx_jsontext_take(r, close)) {
		bool hit = i == step->index;

		if (i++)
			(void)dtx_jsontext_take(r, ',');
		dtx_buf_reset(skip);
		if (step->key.ptr) {
			if (!dtx_jsontext_string(r, skip) || !dtx_jsontext_take(r, ':'))
				return false;
			hit = dtx_str_eq(dtx_buf_str(skip), step->key);
		}
		if (hit) {
			at = *r;
			*found = true;
		}
		dtx_buf_reset(skip);
		if (!dtx_jsontext_value(r, skip))
			return false;
	}
	*r = at;
	return true;
}

static enum dtx_code no_json(const struct dtx_fncall *c, struct dtx_str s, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__, "%s() cannot read '%.*s' as JSON",
	            c->fn->name, (int)dtx_str_cut(s, 60).len, s.ptr);
	dtx_err_hint(err, "try(%s(...)) gives null where a text is not JSON", c->fn->name);
	return DTX_E_CAST_FAILED;
}

DTX_FN_ROW(row_json_get)
{
	const struct path *p = c->prepared;
	struct dtx_jsontext r = { .s = arg[0].u.s };
	bool found = true;
	char ch;

	if (!dtx_jsontext_ok(r.s, run->buf))
		return dtx_buf_ok(run->buf) ? no_json(c, r.s, err) : DTX_OK;
	for (size_t i = 0; i < p->n && found; i++) {
		if (!path_enter(&r, &p->step[i], run->buf, &found))
			return no_json(c, r.s, err);
	}
	dtx_buf_reset(run->buf);
	ch = dtx_jsontext_peek(&r);
	out->null = !found || ch == 'n';
	if (out->null)
		return DTX_OK;
	if (ch == '"' ? !dtx_jsontext_string(&r, run->buf) : !dtx_jsontext_value(&r, run->buf))
		return no_json(c, r.s, err);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_json_len)
{
	struct dtx_jsontext r = { .s = arg[0].u.s };
	int64_t n = 0;
	char open;

	if (!dtx_jsontext_ok(r.s, run->buf))
		return dtx_buf_ok(run->buf) ? no_json(c, r.s, err) : DTX_OK;
	open = dtx_jsontext_peek(&r);
	out->null = open != '[' && open != '{';
	if (out->null)
		return DTX_OK;
	for (r.pos++; !dtx_jsontext_take(&r, open == '{' ? '}' : ']'); n++) {
		dtx_buf_reset(run->buf);
		if (n && !dtx_jsontext_take(&r, ','))
			break;
		if (open == '{' &&
		    (!dtx_jsontext_string(&r, run->buf) || !dtx_jsontext_take(&r, ':')))
			break;
		if (!dtx_jsontext_value(&r, run->buf))
			break;
	}
	out->u.i = n;
	return DTX_OK;
}

static const struct dtx_fn rows[] = {
	{ .name = "json_get",
	  .sig = "t:T, path:t",
	  .result = "T",
	  .flags = DTX_FN_CASTS,
	  .prep = prep_path,
	  .row = row_json_get,
	  .pandas = "dx.fn(\"json_get\", {*})",
	  .help = "value at a path of a JSON text, as text; null if the path is not there",
	  .example = "json_get('{\"a\": [1, {\"b\": 2.50}]}', 'a[1].b')",
	  .value = "2.50" },
	{ .name = "json_len",
	  .sig = "t:T",
	  .result = "I",
	  .flags = DTX_FN_CASTS,
	  .row = row_json_len,
	  .pandas = "dx.fn(\"json_len\", {*})",
	  .help = "number of elements or members of a JSON text; null for other values",
	  .example = "json_len('[1, 2, 3]')",
	  .value = "3" },
};

const struct dtx_fn_table dtx_fn_json = { "json", "JSON", rows, DTX_COUNT(rows) };
