/* Dates as people write them, in a declared order of day, month and year. */
#ifndef DTX_OPS_KIT_TEXT_DATETEXT_H
#define DTX_OPS_KIT_TEXT_DATETEXT_H

#include "core/base/text/str.h"

enum dtx_date_order { DTX_ORDER_DMY, DTX_ORDER_MDY, DTX_ORDER_YMD };
struct dtx_datetext {
	int64_t us;     /* microseconds since 1970 */
	bool two_digit; /* the year has two digits */
};
/* Reads the whole text.  It has three parts, separated by one of - / . or a space (a comma may
 * precede a space): days and months of one or two digits or an English month name, years of four or
 * two digits.  After a space or T a time may follow: 9:30, 14:30:00.25, 9:30 PM.  `century` is the
 * first year that two digits can mean. */
DTX_MUSTUSE bool dtx_datetext_parse(struct dtx_str text, enum dtx_date_order order, int32_t century,
                                    struct dtx_datetext *out);
/* The number of an English month, in full or its first three letters; 0: it is not one. */
int32_t dtx_datetext_month(struct dtx_str word);

#endif
