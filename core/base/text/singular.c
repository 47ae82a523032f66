/* Turns "1 rows are left out" into "1 row is left out".  It is done here for all messages, so that
 * no place that counts needs two texts. */
#include <ctype.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/text/str.h"

static const char counted[] =
	"rows,cells,columns,values,lines,bytes,tables,keys,names,steps,files,quotes,labels,ranges,"
	"errors,inputs,sheets,texts,numbers,times,groups,runs,days,characters,records,types,"
	"arguments,operands,checks,outliers,repeats,nulls,widths,formulas,places,blanks,divisions,"
	"results,levels,dates,parts,cases";
/* Words that may stand between the number and the counted word. */
static const char between[] = "column,merged,new,repeated,visible,hidden,other,empty,different,"
			      "volatile,further,more";
/* A number after one of these words is not a count: "step 1 rows". */
static const char numbered[] = "row,step,column,line,field,sheet,table,key,rule,run,byte";

static bool word_in(const char *list, struct dtx_str word)
{
	struct dtx_str rest = dtx_str_of(list), one;

	while (word.len && dtx_str_next(&rest, ',', &one))
		if (dtx_str_eq(one, word))
			return true;
	return false;
}

static struct dtx_str word_at(const char *text)
{
	size_t n = 0;

	while (islower((unsigned char)text[n]))
		n++;
	return (struct dtx_str){ text, n };
}

static bool is_count(const char *text, const char *at)
{
	const char *end = at, *word;

	if (at[0] != '1' || at[1] != ' ')
		return false;
	if (at > text && !strchr(" (", at[-1]))
		return false;
	while (end > text && end[-1] == ' ')
		end--;
	word = end;
	while (word > text && islower((unsigned char)word[-1]))
		word--;
	return !word_in(numbered, (struct dtx_str){ word, (size_t)(end - word) });
}

/* The position of the plural "s" of the counted word, from `text`; 0: no such word follows. */
static size_t plural_end(const char *text)
{
	struct dtx_str word = word_at(text);

	while (word_in(between, word) && word.ptr[word.len] == ' ')
		word = word_at(word.ptr + word.len + 1);
	return word_in(counted, word) ? (size_t)(word.ptr - text) + word.len - 1 : 0;
}

/* Replaces the verb that follows by its singular.  No singular is longer than its plural. */
static void verb_singular(char *text)
{
	static const char *const verb[][2] = {
		{ " are ", " is " },
		{ " were ", " was " },
		{ " have ", " has " },
	};

	for (size_t i = 0; i < DTX_COUNT(verb); i++) {
		size_t was = strlen(verb[i][0]), is = strlen(verb[i][1]);

		if (strncmp(text, verb[i][0], was))
			continue;
		memcpy(text, verb[i][1], is);
		memmove(text + is, text + was, strlen(text + was) + 1);
		return;
	}
}

/* Whether the verb after the counted word belongs to it.  It does in "1 cell of 1 range is", but
 * not in "2 values and 1 null are" or "4 cells of 1 range are". */
static bool is_subject(const char *text, const char *at, const char *one)
{
	if (at - text >= 4 && memcmp(at - 4, " of ", 4) == 0)
		return at - 4 == one;
	return at - text < 5 || memcmp(at - 5, " and ", 5) != 0;
}

void dtx_text_singular(char *text)
{
	char quote = 0, *at, *end, *one = NULL; /* one: end of the last counted word */
	size_t last;

	for (at = text; *at; at++) {
		if (quote) { /* names and values in quotes stay as they are */
			if (*at == quote && !isalnum((unsigned char)at[1]))
				quote = 0;
			continue;
		}
		if (strchr("'\"`", *at) && (at == text || !isalnum((unsigned char)at[-1]))) {
			quote = *at;
			continue;
		}
		last = is_count(text, at) ? plural_end(at + 2) : 0;
		if (!last)
			continue;
		end = at + 2 + last;
		memmove(end, end + 1, strlen(end + 1) + 1);
		if (is_subject(text, at, one))
			verb_singular(end);
		one = end;
	}
}
