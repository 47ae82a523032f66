/* Heads that programs of measurement write above a table: what is no name of a column becomes a
 * comment, so that every byte keeps its place. */
#include "core/base/mem.h"
#include "core/io/csv.h"
#include "core/io/lines.h"

#define LOGGER_RULE '\x01' /* begins a line that is no record */
#define LABVIEW_END "***End_of_Header***"
#define LABVIEW_FAR 64 /* lines of a segment's head, at most */

/* Marks the lines of [from, to) that are not blank; how many. */
static int64_t hide(struct dtx_str text, size_t from, size_t to, char *copy)
{
	struct dtx_str line;
	int64_t n = 0;

	for (; from < to; from = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, from);
		if (!line.len)
			continue;
		copy[from] = LOGGER_RULE;
		n++;
	}
	return n;
}

/* Behind the end of the head that begins at `at`; 0: it does not end. */
static size_t labview_end(struct dtx_str text, size_t at)
{
	struct dtx_str line;
	unsigned n;

	for (n = 0; at < text.len && n < LABVIEW_FAR; n++) {
		line = dtx_line_at(text, at);
		at = dtx_line_behind(text, line);
		if (dtx_str_starts(line, DTX_STR(LABVIEW_END)))
			return at;
	}
	return 0;
}

static bool begins_segment(struct dtx_str line)
{
	return dtx_str_starts(line, DTX_STR("Channels")) && line.len > 8 &&
	       strchr("\t,", line.ptr[8]);
}

/* The head of the file, and that of each segment. */
static int64_t hide_labview(struct dtx_str text, char *copy)
{
	struct dtx_str line;
	size_t at = labview_end(text, 0), end;
	int64_t n = hide(text, 0, at, copy);

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		end = begins_segment(line) ? labview_end(text, at) : 0;
		if (!end)
			continue;
		n += hide(text, at, end, copy);
		line = (struct dtx_str){ text.ptr + end - 1, 0 };
	}
	return n;
}

/* Station, names, units, processing: only the names are a header.  TOACI1 has no more than the
 * first two. */
static int64_t hide_campbell(struct dtx_str text, char *copy)
{
	bool four = dtx_str_find(dtx_line_at(text, 0), DTX_STR("TOA5"), 0) >= 0;
	size_t names = dtx_line_behind(text, dtx_line_at(text, 0));
	size_t units = dtx_line_behind(text, dtx_line_at(text, names));
	size_t kinds = dtx_line_behind(text, dtx_line_at(text, units));
	int64_t n = hide(text, 0, names, copy);

	if (four)
		n += hide(text, units, dtx_line_behind(text, dtx_line_at(text, kinds)), copy);
	return n;
}

static const struct logger {
	const char *begin, *what;
	int64_t (*hide)(struct dtx_str text, char *copy);
} loggers[] = {
	{ "LabVIEW Measurement", "is a measurement of LabVIEW: its settings are no rows",
	  hide_labview },
	{ "\"TOA5\",",
	  "is of a Campbell logger: station, units and processing (lines 1, 3 and 4) are no rows",
	  hide_campbell },
	{ "TOA5,",
	  "is of a Campbell logger: station, units and processing (lines 1, 3 and 4) are no rows",
	  hide_campbell },
	{ "\"TOACI1\",", "is of a Campbell logger: its first line is no row", hide_campbell },
};

enum dtx_code dtx_csv_loggers(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len };
	char *copy = NULL, *given;
	size_t i;

	for (i = 0; i < DTX_COUNT(loggers); i++) {
		if (dtx_str_starts(text, dtx_str_of(loggers[i].begin)))
			break;
	}
	if (i == DTX_COUNT(loggers))
		goto out;
	copy = dtx_mem_alloc(text.len + 1, 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, text.ptr, text.len);
	if (loggers[i].hide(text, copy)) {
		given = copy;
		copy = NULL;
		DTX_TRY(dtx_encoding_take(&c->enc, given, text.len, err));
		c->opts.comment = "\x01";
		DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE, loggers[i].what, err));
	}
out:
	dtx_mem_free(copy);
	return rc;
}
