/* Numbers as people write them: signs on either side, parentheses, groups of digits, currency,
 * percent. */
#ifndef DTX_OPS_KIT_TEXT_NUMTEXT_H
#define DTX_OPS_KIT_TEXT_NUMTEXT_H

#include "core/base/text/str.h"

enum dtx_percent { DTX_PERCENT_RATIO, DTX_PERCENT_POINTS, DTX_PERCENT_ERROR };
struct dtx_numtext_rules {
	char decimal, group; /* group 0: none */
	bool currency;
	enum dtx_percent percent;
};
#define DTX_NUMTEXT_PLAIN                                                                          \
	{                                                                                          \
		'.', ',', true, DTX_PERCENT_RATIO                                                  \
	}
/* Size of the longest plain form that is returned. */
#define DTX_NUMTEXT_MAX 96

/* The plain form -?digits[.digits][e±digits] of a number as people write it.  Blanks around it are
 * ignored; groups must have exactly three digits.  out is terminated; *places is the number of
 * digits after the decimal mark as written.  False: it is not a number. */
DTX_MUSTUSE bool dtx_numtext(struct dtx_str text, const struct dtx_numtext_rules *rules,
                             char out[DTX_NUMTEXT_MAX], size_t *len, unsigned *places);

#endif
