/* Sets of names: "rollup", "cube", or a list of lists. */
#include "core/base/param/param_impl.h"

static enum dtx_code sets_word(const struct dtx_param_in *in, struct dtx_psets *s,
                               struct dtx_err *err)
{
	static const char *const words[] = { "rollup", "cube" };
	struct dtx_err f = DTX_ERR_INIT;
	const char *word = json_string_value(in->v);

	for (size_t i = 0; i < DTX_COUNT(words); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		s->how = i ? DTX_SETS_CUBE : DTX_SETS_ROLLUP;
		return DTX_OK;
	}
	DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' cannot be '%.60s'", in->p->name, word);
	dtx_err_suggest(&f, word, words, DTX_COUNT(words));
	dtx_err_hint(&f, "it is rollup, cube, or a list of lists of keys, such as [[\"a\"], []]");
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static enum dtx_code sets_list(const struct dtx_param_in *in, struct dtx_psets *s,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = json_array_size(in->v);

	s->set = dtx_arena_zalloc(in->ctx->arena, n + 1, sizeof(*s->set));
	if (!s->set)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++) {
		struct dtx_param_in item = *in;
		char pointer[DTX_PARAM_POINTER];

		snprintf(pointer, sizeof(pointer), "%s", in->pointer);
		dtx_json_pointer_index(pointer, sizeof(pointer), i);
		item.v = json_array_get(in->v, i);
		item.pointer = pointer;
		item.to = &s->set[i];
		if (!json_is_array(item.v))
			return dtx_param_wrong_kind(&item, err);
		DTX_TRY(dtx_param_texts(&item, err));
	}
	s->n = n;
	s->how = DTX_SETS_LIST;
out:
	return rc;
}

enum dtx_code dtx_param_sets(const struct dtx_param_in *in, struct dtx_err *err)
{
	struct dtx_psets s = { .how = DTX_SETS_NONE };
	enum dtx_code rc = DTX_OK;

	if (json_is_string(in->v))
		DTX_TRY(sets_word(in, &s, err));
	else if (json_is_array(in->v))
		DTX_TRY(sets_list(in, &s, err));
	else
		return dtx_param_wrong_kind(in, err);
	memcpy(in->to, &s, sizeof(s));
out:
	return rc;
}

json_t *dtx_param_sets_json(const struct dtx_psets *s)
{
	json_t *list;

	if (s->how != DTX_SETS_LIST)
		return json_string(s->how == DTX_SETS_CUBE ? "cube" : "rollup");
	list = json_array();
	for (size_t i = 0; list && i < s->n; i++) {
		json_t *set = dtx_param_texts_json(&s->set[i]);

		if (!set || json_array_append_new(list, set) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *dtx_param_sets_schema(void)
{
	return json_pack("{s:[{s:s,s:[s,s]},{s:s,s:{s:s,s:{s:s}}}]}", "anyOf", "type", "string",
	                 "enum", "rollup", "cube", "type", "array", "items", "type", "array",
	                 "items", "type", "string");
}
