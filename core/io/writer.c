/* Which writer serves an output. */
#include "core/io/writer.h"

#include "core/base/file.h"

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
