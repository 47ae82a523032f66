/* Finds the writer of an output, and has what writers share. */
#include "core/io/write/writer.h"

#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/data/cast/cast.h"
#include "core/io/unused_options.h"

/* Whether the class writes files with this suffix, in small or capital letters. */
static bool has_suffix(const struct dtx_writer_class *cls, struct dtx_str suffix)
{
	struct dtx_str rest = dtx_str_of(cls->suffixes ? cls->suffixes : ""), piece;

	while (cls->suffixes && dtx_str_next(&rest, ',', &piece))
		if (piece.len == suffix.len && !strncasecmp(piece.ptr, suffix.ptr, suffix.len))
			return true;
	return false;
}

static const char *const packed_suffix[] = { [DTX_PACK_GZIP] = ".gz", [DTX_PACK_ZSTD] = ".zst" };

enum dtx_packing dtx_writer_packs(const char *path)
{
	struct dtx_str name = dtx_str_of(path ? dtx_file_basename(path) : "");

	for (size_t i = 1; i < DTX_COUNT(packed_suffix); i++) {
		size_t n = strlen(packed_suffix[i]);

		if (name.len > n && !strcasecmp(name.ptr + name.len - n, packed_suffix[i]))
			return (enum dtx_packing)i;
	}
	return DTX_PACK_NONE;
}

/* The name of the file, without the suffix of its packing. */
static struct dtx_str unpacked_name(const char *path)
{
	struct dtx_str name = dtx_str_of(path ? dtx_file_basename(path) : "");
	enum dtx_packing how = dtx_writer_packs(path);

	if (how)
		name.len -= strlen(packed_suffix[how]);
	return name;
}

struct dtx_str dtx_writer_suffix(const char *path)
{
	struct dtx_str name = unpacked_name(path);

	for (size_t i = name.len; i-- > 0;)
		if (name.ptr[i] == '.' && i + 1 < name.len)
			return (struct dtx_str){ name.ptr + i + 1, name.len - i - 1 };
		else if (name.ptr[i] == '.')
			break;
	return (struct dtx_str){ NULL, 0 };
}

static bool is_named(const char *format)
{
	return format && strcmp(format, "auto") != 0;
}

const struct dtx_writer_class *dtx_writer_find(const char *format, const char *path)
{
	struct dtx_str suffix = dtx_writer_suffix(path);
	bool named = is_named(format);

	if (!named && !suffix.ptr)
		return &dtx_write_csv;
	for (size_t i = 0; dtx_writes[i]; i++)
		if (named ? dtx_str_in_list(dtx_writes[i]->formats, format)
		          : has_suffix(dtx_writes[i], suffix))
			return dtx_writes[i];
	return NULL;
}

struct dtx_str dtx_writer_format(const struct dtx_writer_class *cls, const char *format,
                                 const char *path)
{
	struct dtx_str suffix = dtx_writer_suffix(path), rest = dtx_str_of(cls->formats), name;

	if (is_named(format))
		return dtx_str_of(format);
	while (suffix.ptr && dtx_str_next(&rest, ',', &name))
		if (dtx_str_eq(name, suffix))
			return name;
	return dtx_str_of(cls->name);
}

void dtx_writer_suffixes(struct dtx_buf *out)
{
	const char *sep = "";

	for (size_t i = 0; dtx_writes[i]; i++) {
		if (!dtx_writes[i]->suffixes)
			continue;
		dtx_buf_add(out, sep);
		dtx_formats_print(dtx_writes[i]->suffixes, ".", out);
		sep = ", ";
	}
}

char dtx_writer_delimiter(const struct dtx_write_opts *opts, const char *format, const char *path)
{
	const struct dtx_writer_class *cls = dtx_writer_find(format, path);

	return cls && cls->delimiter ? cls->delimiter(opts, format, path) : 0;
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

enum dtx_code dtx_writer_idle(struct dtx_writer *w, const struct dtx_write_opts *opts,
                              struct dtx_err *err)
{
	static const struct dtx_write_opts usual = DTX_WRITE_OPTS_INIT;
	static const struct dtx_unused_options members[] = {
		DTX_UNUSED_OPTIONS(dtx_write_opts, delimiter, "delimiter"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, quote_all, "quote"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, crlf, "eol"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, bom, "bom"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, float_trim, "float_style"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, null_text, "null_text"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, no_header, "header"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, sheet, "sheet"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, as_table, "as_table"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, into, "into"),
		DTX_UNUSED_OPTIONS(dtx_write_opts, if_exists, "if_exists"),
		DTX_UNUSED_OPTIONS_TEXT(dtx_write_opts, codec, "codec"),
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_err note = DTX_ERR_INIT;
	struct dtx_buf names = DTX_BUF_INIT(1024);

	dtx_unused_options_names(members, DTX_COUNT(members), w->cls->uses, opts, &usual, &names);
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

json_t *dtx_write_opts_json(const struct dtx_write_opts *o)
{
	return json_pack("{ss? si sb sb sb sb ss?}", "format", o->format, "delimiter",
	                 (int)o->delimiter, "quote_all", o->quote_all, "crlf", o->crlf,
	                 "float_trim", o->float_trim, "reprint", o->reprint, "null_text",
	                 o->null_text);
}

void dtx_write_opts_read(const json_t *from, struct dtx_write_opts *to)
{
	*to = (struct dtx_write_opts)DTX_WRITE_OPTS_INIT;
	to->format = dtx_json_text(from, "format", NULL);
	to->delimiter = (char)dtx_json_int(from, "delimiter", ',');
	to->quote_all = json_is_true(json_object_get(from, "quote_all"));
	to->crlf = json_is_true(json_object_get(from, "crlf"));
	to->float_trim = json_is_true(json_object_get(from, "float_trim"));
	to->reprint = json_is_true(json_object_get(from, "reprint"));
	to->null_text = dtx_json_text(from, "null_text", "");
}
