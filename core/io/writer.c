/* Which writer serves an output; what writers share. */
#include "core/io/writer.h"

#include "core/base/file.h"
#include "core/data/cast.h"
#include "core/io/idle.h"

/* Files of these names hold something else: CSV in one of them fools who opens it. */
#define FOREIGN_SUFFIXES                                                                           \
	"parquet,feather,arrow,avro,orc,xls,xlsb,xlsm,ods,pkl,pickle,html,htm,xml,yaml,yml,pdf,"   \
	"doc,docx,db,sqlite,sqlite3,duckdb,rds,sav,dta,sas7bdat,gz,zip,bz2,xz,zst,7z,h5"

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
	if (!cls && dot && dtx_str_in_list(FOREIGN_SUFFIXES, dot + 1))
		return NULL;
	return cls ? cls : find("csv", false);
}

char dtx_writer_delimiter(const struct dtx_write_opts *opts, const char *format, const char *path)
{
	bool named = format && strcmp(format, "auto") != 0;
	bool tsv = named ? !strcmp(format, "tsv")
	                 : path && dtx_str_ends(dtx_str_of(path), DTX_STR(".tsv"));

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

/* Text is for the eye: a terminal gets it in place of CSV. */
enum dtx_code dtx_writer_idle(struct dtx_writer *w, const struct dtx_write_opts *opts,
                              struct dtx_err *err)
{
	static const struct dtx_write_opts usual = DTX_WRITE_OPTS_INIT;
	static const struct dtx_idle members[] = {
		DTX_IDLE(dtx_write_opts, delimiter, "delimiter", "csv,text"),
		DTX_IDLE(dtx_write_opts, quote_all, "quote", "csv,text"),
		DTX_IDLE(dtx_write_opts, crlf, "eol", "csv,text"),
		DTX_IDLE(dtx_write_opts, bom, "bom", "csv,text"),
		DTX_IDLE(dtx_write_opts, float_trim, "float_style", "csv,text"),
		DTX_IDLE_TEXT(dtx_write_opts, null_text, "null_text", "csv,text,md"),
		DTX_IDLE(dtx_write_opts, no_header, "header", "csv,text,xlsx"),
		DTX_IDLE_TEXT(dtx_write_opts, sheet, "sheet", "xlsx"),
		DTX_IDLE(dtx_write_opts, as_table, "as_table", "xlsx"),
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_err note = DTX_ERR_INIT;
	struct dtx_buf names = DTX_BUF_INIT(1024);

	dtx_idle_names(members, DTX_COUNT(members), w->cls->name, opts, &usual, &names);
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
