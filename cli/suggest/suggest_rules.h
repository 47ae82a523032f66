/* Inside the suggestions: what their rules share. */
#ifndef DTX_CLI_SUGGEST_SUGGEST_RULES_H
#define DTX_CLI_SUGGEST_SUGGEST_RULES_H

#include "cli/suggest/suggest.h"

/* A value or a name for %.*s: 40 bytes of it; half a character would keep the finding out of JSON.
 */
#define DTX_SHOWN(s) (int)dtx_str_cut((s), 40).len, (s).ptr

struct dtx_search {
	const struct dtx_profile *p;
	struct dtx_suggestions *out;
	bool failed; /* a JSON value could not be made */
};

static inline const char *dtx_search_name(const struct dtx_search *s, uint32_t i)
{
	return s->p->schema->field[i].name;
}
/* Address of the first cell with a value, and a blank; "" without one. */
struct dtx_search_at {
	char text[DTX_PROFILE_PLACE + 1];
};
static inline struct dtx_search_at dtx_search_at(const struct dtx_search *s, uint32_t col,
                                                 uint64_t row)
{
	struct dtx_search_at at;
	size_t n;

	dtx_profile_place(s->p, col, row, at.text, DTX_PROFILE_PLACE);
	n = strlen(at.text);
	memcpy(at.text + n, n ? " " : "", n ? 2 : 1);
	return at;
}
static inline bool dtx_search_text(const struct dtx_search *s, uint32_t i)
{
	return dtx_profile_type(s->p, i).type == DTX_T_TEXT;
}
/* Takes step, or member when it is for the input; neither: what people have to decide. */
void dtx_suggest_add(struct dtx_search *s, json_t *step, json_t *member, const char *finding);
/* Numbers and dates in texts, words for missing values. */
void dtx_suggest_values(struct dtx_search *s);

#endif
