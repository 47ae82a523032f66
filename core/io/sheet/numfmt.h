/* Number formats of a workbook: which class of value they show, and how. */
#ifndef DTX_IO_SHEET_NUMFMT_H
#define DTX_IO_SHEET_NUMFMT_H

#include "core/base/buf.h"
#include "core/data/column.h"

enum dtx_fmt_class {
	DTX_FMT_NUMBER,
	DTX_FMT_DATE,
	DTX_FMT_DATETIME,
	DTX_FMT_TIME,
	DTX_FMT_DURATION,
	DTX_FMT_TEXT,
	DTX_FMT_DATE_OR_TIME /* built-in formats of East Asia: date if the serial is whole */
};

/* Class of a built-in id; an unknown id is General. */
enum dtx_fmt_class dtx_fmt_builtin(uint32_t id);
/* Code of a built-in id as the English version shows it; "General" if unknown. */
const char *dtx_fmt_builtin_code(uint32_t id);
/* Class of a format code, by its first section, or the next one where a condition makes a mere word
 * of that, as of [=0]"";dd/mm/yyyy. */
enum dtx_fmt_class dtx_fmt_classify(struct dtx_str code);
/* Whether the code ends in a literal "Z" or "UTC", as of yyyy-mm-dd hh:mm:ss"Z": times of UTC. */
bool dtx_fmt_is_utc(struct dtx_str code);
/* How many digits a code of zeros alone shows at least, as 5 of 00000 and 9 of 000-00-0000; 0: it
 * is no such code, or has one digit. */
unsigned dtx_fmt_zeros(struct dtx_str code);
/* DTX_CELL_NUMBER, DATE, DATETIME, TIME or DURATION of a number of that class.  *bad: the class
 * wants a date and the serial is none. */
enum dtx_cell_tag dtx_fmt_tag(enum dtx_fmt_class cls, double serial, bool epoch1904, bool *bad);
/* Display text of a number: General, decimals, groups, percent, English dates and times; what it
 * does not know is shown as General (dates as ISO). */
void dtx_fmt_show(struct dtx_str code, enum dtx_fmt_class cls, double value, bool epoch1904,
                  struct dtx_buf *out);

#endif
