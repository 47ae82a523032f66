/* Dates as people write them, in one declared order. */
#ifndef DTX_OPS_KIT_DATETEXT_H
#define DTX_OPS_KIT_DATETEXT_H

#include "core/base/text/str.h"

enum dtx_date_order { DTX_ORDER_DMY, DTX_ORDER_MDY, DTX_ORDER_YMD };
struct dtx_datetext {
	int64_t us;     /* since 1970 */
	bool two_digit; /* the year had two digits */
};
/* Whole text: three parts with one of - / . or a space between (a comma before a space is
 * allowed), days and months of one or two digits or an English month name, years of four or two
 * digits; behind it, after a space or T, an optional time 9:30, 14:30:00.25, 9:30 PM. */
DTX_MUSTUSE bool dtx_datetext_parse(struct dtx_str text, enum dtx_date_order order, int32_t century,
                                    struct dtx_datetext *out);

#endif
