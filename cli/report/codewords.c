/* Explains codes of warnings and errors in a few words. */
#include "cli/report/codewords.h"

#include <string.h>

#include "core/base/base.h"

static const struct {
	const char *code, *words;
} code_words[] = {
	/* warnings */
	{ "unused_input", "no step reads this input" },
	{ "undeclared_column", "a name that the plan does not require, perhaps a slip" },
	{ "type_promoted", "columns of two types became one wider type" },
	{ "duplicate_header", "two columns had the same name: later ones got a number" },
	{ "total_not_verified",
	  "a row has the label of a total, but its numbers are not all sums" },
	{ "constant_filter", "a condition is the same for every row" },
	{ "text_numeric_compare", "texts were compared that look like numbers" },
	{ "text_date_compare", "texts were compared with a date, letter by letter" },
	{ "literal_for_column", "a number or text may be meant as the column of that name" },
	{ "null_dropped", "rows left because a condition was null, neither true nor false" },
	{ "div_zero", "a division by zero became null" },
	{ "not_finite", "a number became infinite or undefined, and so null" },
	{ "mixed_types", "a column holds values of several types and is read as text" },
	{ "sheet_assumed", "several sheets: the first visible one was read" },
	{ "header_assumed", "only text: the first row was taken for the names" },
	{ "records_assumed", "the place of the records was found, not declared" },
	{ "hidden_cells", "hidden rows or columns were read as well" },
	{ "cell_errors", "cells that hold an error became null" },
	{ "number_rounded", "a number has more digits than its type keeps" },
	{ "reader_note", "the reader noted something about the file" },
	{ "repaired", "the file was read by a remedy that --repair took" },
	{ "dialect_resniffed", "the delimiter was found again after more of the file" },
	{ "almost_type", "nearly all values are of a narrower type" },
	{ "result_note", "a note about the result" },
	/* why a run failed */
	{ "expect_failed", "a promise of the plan does not hold" },
	{ "assert_failed", "a rule of the plan does not hold" },
	{ "join_cardinality", "a key occurs more often than the join allows" },
	{ "join_unmatched", "rows have no partner that the join promises" },
	{ "lookup_missing", "a value has no entry in the other table" },
	{ "null_key", "a key is null where the plan forbids it" },
	{ "cast_failed", "a value does not fit the type it should have" },
	{ "ambiguous_date", "a date can be read in two ways" },
	{ "header_not_found", "no row reads like column names" },
	{ "ragged_rows", "rows have more or fewer cells than the header" },
	{ "multiple_tables", "the file holds several tables" },
	{ "ambiguous_dialect", "two delimiters explain the file equally well" },
	{ "missing_column", "a column that the plan requires is not there" },
	{ "input_changed", "the input changed while it was read" },
	{ "needs_snippet", "a step needs code that is not there yet" },
	{ "needs_approval", "code waits for somebody to approve it" },
	{ "author_failed", "the command or address that is to write code did not answer" },
	{ "snippet_no_code", "the answer holds no code" },
	{ "snippet_syntax", "the code of the answer is not Python" },
	{ "snippet_exception", "the snippet raised an exception" },
	{ "snippet_ended",
	  "the snippet ended its process, or closed what its result goes through" },
	{ "snippet_timeout", "the snippet ran longer than it may" },
	{ "snippet_denied_syscall", "the snippet tried what the jail forbids" },
	{ "time_limit", "the run took longer than it may" },
	{ "no_memory", "the run needed more memory than it may use" },
	{ "disk_full", "the disk was full" },
};

const char *dtx_code_words(const char *code)
{
	for (size_t i = 0; code && i < DTX_COUNT(code_words); i++)
		if (strcmp(code_words[i].code, code) == 0)
			return code_words[i].words;
	return NULL;
}
