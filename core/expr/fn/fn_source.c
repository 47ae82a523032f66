/* Where the current row was read. */
#include "core/expr/fn/fn.h"

static const struct dtx_fn rows[] = {
	{ .name = "source_row",
	  .sig = "",
	  .form = DTX_FORM_PLACE,
	  .detail = DTX_PLACE_ROW,
	  .help = "line of the text file or row of the sheet; null for rows that a step made, and "
	          "after steps that mix tables",
	  .example = "source_row()",
	  .value = "~" },
	{ .name = "source_file",
	  .sig = "",
	  .form = DTX_FORM_PLACE,
	  .detail = DTX_PLACE_FILE,
	  .help = "file the row was read from, as it was given; null where source_row() is",
	  .example = "source_file()",
	  .value = "~" },
	{ .name = "source_sheet",
	  .sig = "",
	  .form = DTX_FORM_PLACE,
	  .detail = DTX_PLACE_SHEET,
	  .help = "sheet the row was read from; null for text files and where source_row() is",
	  .example = "source_sheet()",
	  .value = "~" },
};

const struct dtx_fn_table dtx_fn_source = { "source", "Source", rows, DTX_COUNT(rows) };
