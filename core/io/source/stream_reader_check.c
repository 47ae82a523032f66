/* What a stream cannot do, as a table. */
#include "core/base/err.h"
#include "core/io/source/stream_reader.h"

struct wish {
	bool (*asked)(const struct dtx_read_opts *o);
	enum dtx_code code;
	const char *at, *text, *hint;
};

static bool is_format(const struct dtx_read_opts *o, const char *list)
{
	return o->format && dtx_str_in_list(list, o->format);
}

static bool no_format(const struct dtx_read_opts *o)
{
	return !is_format(o, "csv,tsv,jsonl,ndjson");
}

static bool no_delimiter(const struct dtx_read_opts *o)
{
	return is_format(o, "csv") && !o->delimiter;
}

static bool other_encoding(const struct dtx_read_opts *o)
{
	return o->encoding && !dtx_str_ieq(dtx_str_of(o->encoding), DTX_STR("utf-8")) &&
	       !dtx_str_ieq(dtx_str_of(o->encoding), DTX_STR("utf8"));
}

static bool quotes_by_width(const struct dtx_read_opts *o)
{
	return o->mixed || (o->quotes && dtx_str_in_list("lenient,lines", o->quotes));
}

static bool open_json(const struct dtx_read_opts *o)
{
	return is_format(o, "jsonl,ndjson") && o->extra == DTX_EXTRA_ALLOW;
}

static bool no_types(const struct dtx_read_opts *o)
{
	return !o->ntypes;
}

static bool untyped_json(const struct dtx_read_opts *o)
{
	size_t i, k;

	for (i = 0; is_format(o, "jsonl,ndjson") && i < o->nrequires; i++) {
		for (k = 0; k < o->ntypes && strcmp(o->types[k].name, o->requires[i]) != 0; k++)
			;
		if (k == o->ntypes)
			return true;
	}
	return false;
}

static bool kept_text(const struct dtx_read_opts *o)
{
	size_t i;

	for (i = 0; i < o->ntypes; i++) {
		if (o->types[i].on_error == DTX_CAST_KEEP_TEXT)
			return true;
	}
	return false;
}

static bool widest(const struct dtx_read_opts *o)
{
	return o->ragged == DTX_RAGGED_PAD;
}

static bool tail(const struct dtx_read_opts *o)
{
	return o->skip_tail > 0;
}

static bool ranged(const struct dtx_read_opts *o)
{
	return o->range != NULL;
}

static bool pointed(const struct dtx_read_opts *o)
{
	return o->records || o->json_lenient;
}

static const struct wish wishes[] = {
	{ no_format, DTX_E_MISSING_PARAM, "format", "needs its format declared",
	  "\"format\": \"csv\", \"tsv\" or \"jsonl\"; other formats are read as a whole" },
	{ no_delimiter, DTX_E_MISSING_PARAM, "dialect", "needs its delimiter declared",
	  "for example \"dialect\": {\"delimiter\": \",\"}" },
	{ no_types, DTX_E_MISSING_PARAM, "types", "needs the types of its columns declared",
	  "for example \"types\": {\"day\": \"date\", \"amount\": \"float\"}" },
	{ untyped_json, DTX_E_MISSING_PARAM, "types", "needs a type for each required column",
	  "for example \"types\": {\"day\": \"date\", \"amount\": \"float\"}" },
	{ kept_text, DTX_E_PARAM_CONFLICT, "types", "cannot know which columns stay text",
	  "\"on_error\": \"error\" or \"null\"; or declare the type text" },
	{ open_json, DTX_E_PARAM_CONFLICT, "extra", "of JSON Lines has only the declared columns",
	  "\"extra\": \"drop\" leaves others out, \"error\" refuses them" },
	{ other_encoding, DTX_E_PARAM_CONFLICT, "encoding", "is UTF-8",
	  "iconv -f ENCODING -t UTF-8 in front of dtx" },
	{ quotes_by_width, DTX_E_PARAM_CONFLICT, "dialect",
	  "has the quotes \"literal\" or \"strict\", and one delimiter", NULL },
	{ widest, DTX_E_PARAM_CONFLICT, "ragged", "cannot know its widest row",
	  "\"truncate\" or \"quarantine\"" },
	{ tail, DTX_E_PARAM_CONFLICT, "skip_tail", "cannot know its last rows", NULL },
	{ ranged, DTX_E_PARAM_CONFLICT, "range", "has no range", "\"skip\", and select" },
	{ pointed, DTX_E_PARAM_CONFLICT, "format", "of JSON is one record a line",
	  "without \"records\" and \"syntax\"" },
};

enum dtx_code dtx_stream_reader_check(const struct dtx_read_opts *opts, const char **member,
                                      struct dtx_err *err)
{
	const char *name = opts->alias ? opts->alias : "main";
	size_t i;

	for (i = 0; i < DTX_COUNT(wishes); i++) {
		const struct wish *w = &wishes[i];

		if (!w->asked(opts))
			continue;
		dtx_err_set(err, w->code, __FILE__, __LINE__, "a stream %s: input '%s'", w->text,
		            name);
		if (w->hint)
			dtx_err_hint(err, "%s", w->hint);
		if (member)
			*member = w->at;
		return w->code;
	}
	return DTX_OK;
}
