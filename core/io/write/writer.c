/* Finds the writer of an output, and has what writers share. */
#include "core/io/write/writer.h"

#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/data/cast/cast.h"
#include "core/io/unused_options.h"

/* Whether the class writes this format; case counts only for names of formats, not for suffixes. */
static bool writes(const struct dtx_writer_class *cls, struct dtx_str word, bool suffix)
{
	struct dtx_str rest = dtx_str_of(suffix ? cls->suffixes : cls->formats), piece;

	while (dtx_str_next(&rest, ',', &piece)) {
		if (piece.len == word.len && (suffix ? !strncasecmp(piece.ptr, word.ptr, word.len)
		                                     : !memcmp(piece.ptr, word.ptr, word.len)))
			return true;
	}
	return false;
}

static const struct dtx_writer_class *find(struct dtx_str word, bool suffix)
{
	for (size_t i = 0; dtx_writes[i]; i++)
		if (writes(dtx_writes[i], word, suffix))
			return dtx_writes[i];
	return NULL;
}

struct dtx_str dtx_writer_suffix(const char *path)
{
	const char *dot = path ? strrchr(dtx_file_basename(path), '.') : NULL;

	return dot ? dtx_str_of(dot + 1) : (struct dtx_str){ NULL, 0 };
}

const struct dtx_writer_class *dtx_writer_find(const char *format, const char *path)
{
	struct dtx_str suffix = dtx_writer_suffix(path);

	if (format && strcmp(format, "auto") != 0)
		return find(dtx_str_of(format), false);
	return suffix.ptr ? find(suffix, true) : find(DTX_STR("csv"), false);
}

static void names(struct dtx_buf *out, const char *list, const char *before)
{
	struct dtx_str rest = dtx_str_of(list), piece;

	while (dtx_str_next(&rest, ',', &piece)) {
		if (!piece.len)
			continue;
		dtx_buf_printf(out, "%s%s%.*s", out->len ? ", " : "", before, (int)piece.len,
		               piece.ptr);
	}
}

void dtx_writer_names(struct dtx_buf *out, bool suffixes)
{
	for (size_t i = 0; dtx_writes[i]; i++)
		names(out, suffixes ? dtx_writes[i]->suffixes : dtx_writes[i]->formats,
		      suffixes ? "." : "");
}

static bool tsv_suffix(const char *path)
{
	struct dtx_str suffix = dtx_writer_suffix(path);

	return suffix.len == 3 && !strncasecmp(suffix.ptr, "tsv", 3);
}

char dtx_writer_delimiter(const struct dtx_write_opts *opts, const char *format, const char *path)
{
	bool named = format && strcmp(format, "auto") != 0;
	bool tsv = named ? !strcmp(format, "tsv") : tsv_suffix(path);

	if (tsv && (!opts->delimiter || opts->delimiter == ','))
		return '\t';
	return opts->delimiter ? opts->delimiter : ',';
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
	*out = dtx_buf_str(room);
out:
	return rc;
}

/* Members of `csv` are accepted for `text`, because a terminal gets text instead of CSV. */
enum dtx_code dtx_writer_idle(struct dtx_writer *w, const struct dtx_write_opts *opts,
                              struct dtx_err *err)
{
	static const struct dtx_write_opts usual = DTX_WRITE_OPTS_INIT;
	static const struct dtx_unused_options members[] = {
		DTX_UNUSED_OPTIONS(dtx_write_opts, delimiter, "delimiter", "csv,text"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, quote_all, "quote", "csv,text"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, crlf, "eol", "csv,text"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, bom, "bom", "csv,text"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, float_trim, "float_style", "csv,text"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, null_text, "null_text", "csv,text,md"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, no_header, "header", "csv,text,xlsx"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, sheet, "sheet", "xlsx"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, as_table, "as_table", "xlsx"),
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_err note = DTX_ERR_INIT;
	struct dtx_buf names = DTX_BUF_INIT(1024);

	dtx_unused_options_names(members, DTX_COUNT(members), w->cls->name, opts, &usual, &names);
	DTX_TRY(dtx_buf_check(&names, "members of an output", err));
	if (!names.len)
		goto out;
	dtx_err_set(&note, DTX_W_RESULT_NOTE, __FILE__, __LINE__,
	            "the output is written as %s, which has no use for %s", w->cls->name,
	            dtx_buf_text(&names));
	if (!dtx_errlist_take(&w->diags, &note))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&names);
	return rc;
}
