/* Which writer serves an output; what writers share. */
#include "core/io/writer.h"

#include "core/base/file.h"
#include "core/data/cast.h"

static const struct dtx_writer_class *find(const char *word, bool suffix)
{
	size_t i;

	for (i = 0; dtx_writes[i]; i++) {
		if (dtx_str_in_list(suffix ? dtx_writes[i]->suffixes : dtx_writes[i]->formats,
		                    word))
			return dtx_writes[i];
	}
	return NULL;
}

const struct dtx_writer_class *dtx_writer_find(const char *format, const char *path)
{
	const struct dtx_writer_class *cls = NULL;
	const char *dot = path ? strrchr(dtx_file_basename(path), '.') : NULL;

	if (format && strcmp(format, "auto") != 0)
		return find(format, false);
	if (dot)
		cls = find(dot + 1, true);
	return cls ? cls : find("csv", false);
}

enum dtx_code dtx_writer_cell(const struct dtx_column *c, uint32_t row, const char *null_text,
                              struct dtx_buf *room, struct dtx_str *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_buf_reset(room);
	if (dtx_column_is_null(c, row))
		dtx_buf_add(room, null_text);
	else
		dtx_cast_print(c, row, room);
	DTX_TRY(dtx_buf_check(room, "a cell", err));
	*out = (struct dtx_str){ dtx_buf_text(room), room->len };
out:
	return rc;
}
