/* What the rules for suggestions share. */
#ifndef DTX_CLI_SUGGEST_SUGGEST_RULES_H
#define DTX_CLI_SUGGEST_SUGGEST_RULES_H

#include "cli/suggest/suggest.h"

/* A value or name for %.*s, cut to 40 bytes: half a character would not be valid JSON. */
#define DTX_SHOWN(s) (int)dtx_str_cut((s), 40).len, (s).ptr

struct dtx_search {
	const struct dtx_profile *p;
	struct dtx_suggestions *out;
	bool csv;    /* a text file with delimiters, whose input can declare a dialect */
	bool failed; /* a JSON value could not be made */
};

static inline const char *dtx_search_name(const struct dtx_search *s, uint32_t i)
{
	return s->p->schema->field[i].name;
}
/* The address of the first cell with a value, and a blank; "" if none. */
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
/* Adds a finding with a step, or with a member of the input; takes them. Without either it is
 * something for the user to decide. */
void dtx_suggest_add(struct dtx_search *s, json_t *step, json_t *member, const char *finding);
/* Adds suggestions about numbers and dates in texts, and words for missing values. */
void dtx_suggest_values(struct dtx_search *s);

#endif
