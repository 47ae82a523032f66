/* Number formats of a workbook: which class of value they show, and how. */
#ifndef DTX_IO_SHEET_NUMFMT_H
#define DTX_IO_SHEET_NUMFMT_H

#include "core/base/memory/buf.h"
#include "core/data/column.h"

enum dtx_fmt_class {
	DTX_FMT_NUMBER,
	DTX_FMT_DATE,
	DTX_FMT_DATETIME,
	DTX_FMT_TIME,
	DTX_FMT_DURATION,
	DTX_FMT_TEXT,
	DTX_FMT_DATE_OR_TIME /* built-in formats of East Asia: a date if the serial is whole */
};

/* The class of a built-in format; an unknown id is General. */
enum dtx_fmt_class dtx_fmt_builtin(uint32_t id);
/* The code of a built-in format in the English version; "General" if unknown. */
const char *dtx_fmt_builtin_code(uint32_t id);
/* The class of a format code. The first section decides, or the next one if a condition makes
 * the first a mere word, as in [=0]"";dd/mm/yyyy. */
enum dtx_fmt_class dtx_fmt_classify(struct dtx_str code);
/* Whether the code ends with a literal "Z" or "UTC", as in yyyy-mm-dd hh:mm:ss"Z": then its
 * times are UTC. */
bool dtx_fmt_is_utc(struct dtx_str code);
/* The least number of digits that a code of zeros shows, such as 5 for 00000 and 9 for
 * 000-00-0000. 0: it is another code, or has one digit. */
unsigned dtx_fmt_zeros(struct dtx_str code);
/* DTX_CELL_NUMBER, DATE, DATETIME, TIME or DURATION for a number of that class. *bad: the class
 * is a date, but the serial is not one. */
enum dtx_cell_tag dtx_fmt_tag(enum dtx_fmt_class cls, double serial, bool epoch1904, bool *bad);
/* Appends the text that a spreadsheet shows for a number: General, decimals, groups, percent,
 * English dates and times. Other formats are shown as General, dates as ISO. */
void dtx_fmt_show(struct dtx_str code, enum dtx_fmt_class cls, double value, bool epoch1904,
                  struct dtx_buf *out);

#endif
