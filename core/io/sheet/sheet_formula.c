/* Recognises formulas whose stored result may differ from a new computation. The result is used,
 * with a note. */
#include "core/io/sheet/book.h"

static bool is_volatile(struct dtx_str name)
{
	static const char *const names[] = { "NOW",         "TODAY",  "RAND",
		                             "RANDBETWEEN", "OFFSET", "INDIRECT" };

	for (size_t i = 0; i < DTX_COUNT(names); i++)
		if (dtx_str_ieq(name, dtx_str_of(names[i])))
			return true;
	return false;
}

static bool is_name(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Whether it is a reference to another file, such as [1]Sheet1!A1: a number in brackets that
 * does not follow a name, where it would be a table's column. */
static bool is_other_book(struct dtx_str code, size_t at)
{
	size_t i = at + 1;

	while (i < code.len && code.ptr[i] >= '0' && code.ptr[i] <= '9')
		i++;
	return i > at + 1 && i < code.len && code.ptr[i] == ']' &&
	       !(at && is_name(code.ptr[at - 1]));
}

void dtx_sheet_note_formula(struct dtx_sheet_facts *facts, struct dtx_str code)
{
	bool quoted = false, anew = false, other = false;
	size_t from = 0;

	for (size_t i = 0; i < code.len; i++) {
		char c = code.ptr[i];

		quoted ^= c == '"';
		if (quoted)
			continue;
		if (c == '(')
			anew |= is_volatile((struct dtx_str){ code.ptr + from, i - from });
		else if (c == '[')
			other |= is_other_book(code, i);
		if (!is_name(c))
			from = i + 1;
	}
	facts->nvolatile += anew;
	facts->nexternal += other;
}
