/* Chooses the reader of an input, and explains formats that dtx knows but does not read. */
#include "core/io/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv.h"
#include "core/io/encoding/enc_guess.h"
#include "core/io/archive/gzip.h"
#include "core/io/unused_options.h"
#include "core/io/isolate/isolate.h"
#include "core/io/json/json_rows.h"
#include "core/io/source/stream_reader.h"

enum { HEAD_BYTES = 64 << 10, MARKUP_BYTES = 4096 };

const char *const dtx_drop_name[DTX_DROP_COUNT] = {
	[DTX_DROP_SKIP] = "skip",         [DTX_DROP_SKIP_TAIL] = "skip_tail",
	[DTX_DROP_PREAMBLE] = "preamble", [DTX_DROP_HEADER] = "header",
	[DTX_DROP_BLANK] = "blank",       [DTX_DROP_COMMENT] = "comment",
	[DTX_DROP_HIDDEN] = "hidden",     [DTX_DROP_TOTALS] = "table_totals",
	[DTX_DROP_REJECT] = "reject",
};

bool dtx_read_stats_add_up(const struct dtx_read_stats *s)
{
	int64_t n = s->rows_out;

	for (size_t i = 0; i < DTX_DROP_COUNT; i++)
		n += s->dropped[i];
	return n == s->rows_read;
}

/* --- formats that are known but not read --- */

struct foreign {
	struct dtx_str magic;
	const char *what;
	const char *before, *after; /* around the file's name, in the command that helps */
};

static const struct foreign foreigns[] = {
	{ { "FEA1", 4 },
	  "a Feather file of version 1",
	  "pandas or pyarrow writes '",
	  "' as version 2" },
	{ { "ORC", 3 }, "an ORC file", "convert it to CSV: pyarrow reads '", "'" },
	{ { "%PDF-", 5 }, "a PDF", "copy the table of '", "' to a workbook or CSV" },
	{ { "\x28\xb5\x2f\xfd", 4 }, "compressed twice", "zstd -dc '", "' > F.zst" },
	{ { "\x1f\x8b", 2 }, "gzip-compressed twice", "gzip -dc '", "' > F.gz" },
	{ { "\xfd"
	    "7zXZ",
	    5 },
	  "xz-compressed",
	  "xz -dc '",
	  "' | dtx run PLAN -" },
	{ { "BZh", 3 }, "bzip2-compressed", "bzip2 -dc '", "' | dtx run PLAN -" },
	{ { "7z\xbc\xaf\x27\x1c", 6 }, "a 7-Zip archive", "unpack '", "' first" },
	{ { "Rar!", 4 }, "a RAR archive", "unpack '", "' first" },
};

static enum dtx_code refuse(struct dtx_source *src, const struct foreign *f, struct dtx_err *err)
{
	const char *name = dtx_source_name(src);

	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__, "'%s' is %s", name, f->what);
	dtx_err_hint(err, "%s%s%s", f->before, name, f->after);
	return DTX_E_UNSUPPORTED_FORMAT;
}

/* --- markup, which some programs save under the name of a workbook --- */

/* The beginning of the file in small letters, after a byte order mark and blanks; of UTF-16 only
 * the ASCII characters. */
static struct dtx_str small_beginning(struct dtx_str head, char to[MARKUP_BYTES])
{
	const unsigned char *p = (const unsigned char *)head.ptr;
	bool wide = head.len > 3 && p[0] + p[1] == 0x1fd && (p[0] == 0xff || p[1] == 0xff);
	size_t step = wide ? 2 : 1, n = 0;
	size_t i = wide                                            ? 2 + (p[0] == 0xfe)
	           : dtx_str_starts(head, DTX_STR("\xef\xbb\xbf")) ? 3
	                                                           : 0;

	for (; i < head.len && n < MARKUP_BYTES; i += step)
		to[n++] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 32 : p[i]);
	return dtx_str_trim((struct dtx_str){ to, n });
}

/* A column may be named <something>, so a single tag at the start does not prove markup. */
static bool is_markup(struct dtx_str text)
{
	static const char *const first[] = { "<html", "<!doc", "<?xml", "<tabl" };
	size_t i;

	for (i = 0; i < DTX_COUNT(first); i++) {
		if (dtx_str_starts(text, dtx_str_of(first[i])))
			return true;
	}
	return dtx_str_starts(text, DTX_STR("<")) && dtx_str_find(text, DTX_STR("<table"), 0) >= 0;
}

/* Texts that hold a table in the syntax of another program, by their first characters in lower
 * case.  Each beginning is long enough that no line of column names has it. */
static const struct text_form {
	const char *begins[9];
	struct foreign is;
} text_forms[] = {
	{ { "insert into ", "create table ", "drop table ", "-- mysql dump", "-- mariadb dump",
	    "--\n-- postgresql database dump", "pragma foreign_keys", "begin transaction;" },
	  { { NULL, 0 },
	    "a file of SQL statements",
	    "load '",
	    "' into a database and export the table as CSV; \"format\": \"csv\" reads its "
	    "lines" } },
	{ { "\\begin{", "\\documentclass" },
	  { { NULL, 0 },
	    "a LaTeX file",
	    "copy the table of '",
	    "' to CSV or a workbook; \"format\": \"csv\" reads its lines" } },
	{ { "|===", "[cols=", "{| ", "{|\n" },
	  { { NULL, 0 },
	    "a table of an AsciiDoc or wiki page",
	    "copy the table of '",
	    "' to CSV or a workbook; \"format\": \"csv\" reads its lines" } },
	{ { "@relation " },
	  { { NULL, 0 },
	    "an ARFF file",
	    "skip the lines above the rows of '",
	    "' and name the columns: \"format\": \"csv\", \"skip\": N, \"header_rows\": 0" } },
};

static enum dtx_code refuse_text_form(struct dtx_source *src, struct dtx_str text,
                                      struct dtx_err *err)
{
	for (size_t i = 0; i < DTX_COUNT(text_forms); i++) {
		const struct text_form *f = &text_forms[i];

		for (size_t k = 0; k < DTX_COUNT(f->begins) && f->begins[k]; k++)
			if (dtx_str_starts(text, dtx_str_of(f->begins[k])))
				return refuse(src, &f->is, err);
	}
	return DTX_OK;
}

static enum dtx_code refuse_foreign(struct dtx_source *src, bool markup_too, struct dtx_err *err)
{
	static const struct foreign html = { { NULL, 0 },
		                             "an HTML or XML document",
		                             "open it in a spreadsheet program and save '",
		                             "' as .xlsx" };
	static const struct foreign mhtml = { { NULL, 0 },
		                              "a web archive (MHTML)",
		                              "open it in a spreadsheet program and save '",
		                              "' as .xlsx" };
	struct dtx_str head = { dtx_source_data(src),
		                DTX_MIN(dtx_source_size(src), (size_t)HEAD_BYTES) };
	char small[MARKUP_BYTES];
	struct dtx_str text = small_beginning(head, small);
	size_t i;

	for (i = 0; i < DTX_COUNT(foreigns); i++) {
		if (dtx_str_starts(head, foreigns[i].magic))
			return refuse(src, &foreigns[i], err);
	}
	if (!markup_too)
		return DTX_OK;
	if (is_markup(text))
		return refuse(src, &html, err);
	if (dtx_str_starts(text, DTX_STR("mime-version:")))
		return refuse(src, &mhtml, err);
	return refuse_text_form(src, text, err);
}

/* --- choice --- */

/* The reader for the suffix of the file's name, or NULL for a suffix such as .txt. */
static const struct dtx_reader_class *by_suffix(const char *path)
{
	char suffix[DTX_FILE_SUFFIX];

	dtx_file_suffix(path, suffix);
	for (size_t i = 0; suffix[0] && dtx_reads[i]; i++)
		if (dtx_str_in_list(dtx_reads[i]->suffixes, suffix))
			return dtx_reads[i];
	return NULL;
}

const struct dtx_reader_class *dtx_reader_find(const char *format)
{
	for (size_t i = 0; dtx_reads[i]; i++)
		if (dtx_str_in_list(dtx_reads[i]->formats, format) ||
		    dtx_str_in_list(dtx_reads[i]->suffixes, format))
			return dtx_reads[i];
	return NULL;
}

static enum dtx_code by_format(const char *format, const struct dtx_reader_class **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_reader_find(format);
	if (!*out)
		rc = dtx_formats_unknown(format, dtx_read_formats, "read", err);
	return rc;
}

/* Whether this is a control character that no text contains in any encoding. 0x01 and 0x14 are
 * delimiters in some exports. */
static bool is_control(unsigned c)
{
	static const char allowed[] = "\x01\t\n\v\f\r\x14\x1a\x1b\x1c\x1d\x1e\x1f";

	return c && c < 0x20 && !strchr(allowed, (int)c);
}

/* Whether the units after a byte order mark are not UTF-16, or not text. */
static bool is_binary_wide(const unsigned char *p, size_t len, bool big)
{
	size_t odd = 0, i;
	bool high = false; /* the unit before was the first half of a pair */

	for (i = 2; i + 1 < len; i += 2) {
		unsigned unit =
			big ? (unsigned)p[i] << 8 | p[i + 1] : (unsigned)p[i + 1] << 8 | p[i];
		bool low = unit >= 0xdc00 && unit < 0xe000;

		odd += is_control(unit) || high != low || (unit >= 0xe000 && unit < 0xf900);
		high = unit >= 0xd800 && unit < 0xdc00;
	}
	return odd > len / 2 / 20;
}

static bool is_binary(const char *head, size_t len)
{
	const unsigned char *p = (const unsigned char *)head;
	size_t odd = 0, i;

	if (len > 3 && p[0] + p[1] == 0x1fd && (p[0] == 0xff || p[1] == 0xff))
		return is_binary_wide(p, len, p[0] == 0xfe);
	for (i = 0; i < len; i++)
		odd += is_control(p[i]);
	return odd > len / 20 && dtx_utf8_bad(head, len) >= 0 &&
	       !dtx_enc_is_ebcdic((struct dtx_str){ head, len });
}

/* Refuses a file whose name says one format and whose bytes another. */
static enum dtx_code refuse_named(struct dtx_source *src, const char *named,
                                  const struct dtx_reader_class *is, const char *hint,
                                  struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s' is named as %s, but holds %s", dtx_source_name(src), named, is->what);
	dtx_err_hint(err, "\"format\": \"%s\" reads it%s", is->name, hint);
	return DTX_E_CORRUPT_FILE;
}

/* The reader with the highest score for the bytes, and that score. */
static const struct dtx_reader_class *best_sniff(struct dtx_source *src, int *best)
{
	size_t head = DTX_MIN(dtx_source_size(src), (size_t)HEAD_BYTES), i;
	const struct dtx_reader_class *out = NULL;

	*best = 0;
	for (i = 0; dtx_reads[i]; i++) {
		int score = dtx_reads[i]->sniff(dtx_source_data(src), head, dtx_source_name(src));

		if (score > *best) {
			*best = score;
			out = dtx_reads[i];
		}
	}
	return out;
}

/* A file that is named as JSON is JSON or an error, never another format that its bytes could
 * be, too. */
static enum dtx_code named_json(struct dtx_source *src, const struct dtx_reader_class **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int score;
	const struct dtx_reader_class *is = best_sniff(src, &score);

	if (score < DTX_SNIFF_SURE)
		DTX_TRY(refuse_foreign(src, false, err));
	if (is && is->isolated)
		rc = refuse_named(src, dtx_read_json.what, is, "", err);
	else if (is_binary(dtx_source_data(src), DTX_MIN(dtx_source_size(src), (size_t)HEAD_BYTES)))
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s' is named as JSON, but holds no text",
		         dtx_source_name(src));
	*out = &dtx_read_json;
out:
	return rc;
}

/* The reader of what follows the first bytes of a file; NULL if none. */
static const struct dtx_reader_class *find_embedded(struct dtx_source *src)
{
	for (size_t i = 0; dtx_reads[i]; i++)
		if (dtx_reads[i]->embedded &&
		    dtx_reads[i]->embedded(dtx_source_data(src), dtx_source_size(src)))
			return dtx_reads[i];
	return NULL;
}

/* Goes by the name. If the name says nothing, or a format that the bytes cannot be, goes by the
 * bytes. */
static enum dtx_code by_name_or_content(struct dtx_source *src, const struct dtx_reader_class **out,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = dtx_source_name(src), *data = dtx_source_data(src);
	size_t head = DTX_MIN(dtx_source_size(src), (size_t)HEAD_BYTES);
	const struct dtx_reader_class *named = by_suffix(path), *embedded = NULL;
	int score;

	if (named == &dtx_read_json) {
		DTX_TRY(named_json(src, out, err));
		goto out;
	}
	*out = best_sniff(src, &score);
	if (score < DTX_SNIFF_SURE)
		DTX_TRY(refuse_foreign(src, true, err));
	DTX_ASSERT(*out, err); /* csv accepts anything */
	if (named == &dtx_read_csv && *out == &dtx_read_json) {
		/* "[1],[2]" can be both, so the name decides. Objects cannot be CSV. */
		*out = named;
		if (dtx_json_is_document((struct dtx_str){ data, head })) {
			rc = refuse_named(src, named->what, &dtx_read_json,
			                  "; \"format\": \"csv\" takes its lines as CSV", err);
			goto out;
		}
	}
	/* A workbook may have bytes before it: a program that unpacks it, a byte order mark, a
	 * stray line. */
	if (*out == &dtx_read_csv && !dtx_source_passes(src))
		embedded = find_embedded(src);
	if (embedded)
		*out = embedded;
	if (*out == &dtx_read_csv && is_binary(data, head)) {
		dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
		            "'%s' is not text, and not in a format that dtx reads", path);
		dtx_err_hint(err, "\"format\": \"csv\" reads it all the same");
		rc = DTX_E_UNSUPPORTED_FORMAT;
	}
out:
	return rc;
}

static enum dtx_code choose(struct dtx_source *src, const struct dtx_read_opts *opts,
                            const struct dtx_reader_class **out, struct dtx_err *err)
{
	bool named = opts->format && strcmp(opts->format, "auto") != 0;

	return named ? by_format(opts->format, out, err) : by_name_or_content(src, out, err);
}

/* Of a packed file, the content is read. */
static enum dtx_code unpack(struct dtx_source **src, struct dtx_err *err)
{
	if (!dtx_packed_sniff(dtx_source_data(*src), dtx_source_size(*src)))
		return DTX_OK;
	return dtx_packed_source(*src, src, err);
}

enum dtx_code dtx_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                             struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_reader_class *cls = NULL;

	if (dtx_source_passes(src))
		DTX_FAIL(err, DTX_E_PARAM_CONFLICT,
		         "'%s' is a stream: its cells have passed and cannot be handed over",
		         dtx_source_name(src));
	DTX_TRY(unpack(&src, err));
	DTX_TRY(choose(src, opts, &cls, err));
	if (!cls->raw)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT, "'%s' has no raw cells, as it holds %s",
		         dtx_source_name(src), cls->what);
	if (cls->isolated && !dtx_source_direct(src))
		DTX_TRY(dtx_isolated_raw(src, opts, out, err));
	else
		DTX_TRY(cls->raw(src, opts, out, err));
out:
	return rc;
}

/* --- options that the format does not use --- */

#define MEMBER(member, name) DTX_UNUSED_OPTIONS(dtx_read_opts, member, name)
static const struct dtx_unused_options members[] = {
	MEMBER(delimiter, "dialect"),
	MEMBER(quote, "dialect"),
	MEMBER(escape, "dialect"),
	MEMBER(comment, "dialect"),
	MEMBER(terminator, "dialect"),
	MEMBER(quotes, "dialect"),
	MEMBER(trim, "dialect"),
	MEMBER(mixed, "dialect"),
	MEMBER(headers_drop, "repeated_header"),
	MEMBER(reader, "reader"),
	MEMBER(encoding, "encoding"),
	MEMBER(sheet, "sheet"),
	MEMBER(table, "table"),
	MEMBER(query, "query"),
	MEMBER(hidden_drop, "hidden"),
	MEMBER(merged_fill, "merged"),
	MEMBER(bad_cells, "bad_cells"),
	MEMBER(range, "range"),
	MEMBER(skip, "skip"),
	MEMBER(skip_tail, "skip_tail"),
	MEMBER(names_unique_error, "names"),
	MEMBER(records, "records"),
	MEMBER(duplicate_keys, "duplicate_keys"),
	MEMBER(json_lenient, "syntax"),
};
#undef MEMBER

static enum dtx_code note_idle(struct dtx_reader *r, const struct dtx_read_opts *opts,
                               struct dtx_err *err)
{
	static const struct dtx_read_opts usual = DTX_READ_OPTS_INIT;
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	struct dtx_buf names = DTX_BUF_INIT(1024);

	dtx_unused_options_names(members, DTX_COUNT(members), r->cls->uses, opts, &usual, &names);
	DTX_TRY(dtx_buf_check(&names, "members of an input", err));
	if (!names.len)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' is read as %s, which has no use for %s", dtx_source_name(r->src),
	            r->cls->name, dtx_buf_text(&names));
	dtx_err_hint(&w, "leave it out, or say another \"format\"");
	w.severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(&r->diags, &w))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&names);
	return rc;
}

/* Whether the suffix is that of a format that no reader here reads. */
static bool is_foreign_name(const char *path)
{
	char suffix[DTX_FILE_SUFFIX];

	dtx_file_suffix(path, suffix);
	return suffix[0] && dtx_str_in_list("avro,orc,pdf,html,htm,xml,"
	                                    "doc,docx,rtf,dta,sav,dbf,mdb,accdb,numbers",
	                                    suffix);
}

/* If a file named as a workbook is text, or the other way round, it is read with a note, because
 * the bytes leave no doubt. A reader process leaves that note to the process that started it. */
static enum dtx_code note_named(struct dtx_reader *r, const struct dtx_reader_class *cls,
                                const struct dtx_read_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = dtx_source_name(r->src);
	const struct dtx_reader_class *named = by_suffix(path);
	bool chosen = opts->format && strcmp(opts->format, "auto") != 0;
	bool foreign = !named && is_foreign_name(path);
	struct dtx_err w = DTX_ERR_INIT;

	if (chosen || (!foreign && (!named || named == cls || named->isolated == cls->isolated)))
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' is named as %s, but holds %s, and is read as %s", path,
	            foreign ? "another format" : named->what,
	            cls == &dtx_read_csv ? "text" : cls->what, cls->name);
	dtx_err_hint(&w, "\"format\": \"%s\" says so", cls->name);
	w.severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(&r->diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Whether the file has content. One whose first byte is zero has none: a journal or log that has
 * been applied is left with a header of zeros. */
static bool has_content(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char first = 1;
	ssize_t n = 0;

	if (fd >= 0)
		n = pread(fd, &first, 1, 0);
	else if (errno != ENOENT)
		n = 1;
	dtx_file_close(&fd);
	return n && first;
}

/* Refuses an input of which a part is still in another file. */
static enum dtx_code check_beside(struct dtx_source *src, const struct dtx_reader_class *cls,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(cls->beside ? cls->beside : ""), after;
	char path[PATH_MAX];

	while (cls->beside && dtx_str_next(&rest, ',', &after)) {
		snprintf(path, sizeof(path), "%s%.*s", dtx_source_name(src), (int)after.len,
		         after.ptr);
		if (has_content(path))
			DTX_FAIL_NEXT(err, DTX_E_INPUT_IO,
			              "end the program that writes it; then sqlite3 FILE .tables "
			              "makes the file whole",
			              "'%s' is not whole: '%s' holds changes that are not in it, "
			              "or must be undone",
			              dtx_source_name(src), path);
	}
out:
	return rc;
}

enum dtx_code dtx_reader_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                              struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_source *file = src;
	const struct dtx_reader_class *cls = NULL;

	*out = NULL;
	if (dtx_source_passes(src)) {
		DTX_TRY(dtx_stream_reader_open(src, opts, out, err));
		goto out;
	}
	DTX_TRY(unpack(&src, err));
	DTX_TRY(choose(src, opts, &cls, err));
	if (!dtx_source_direct(src))
		DTX_TRY(check_beside(src, cls, err));
	if (cls->isolated && !dtx_source_direct(src)) {
		DTX_TRY(dtx_isolated_open(&dtx_isolate_process, src, opts, cls, out, err));
		rc = note_named(*out, cls, opts, err);
	} else {
		DTX_TRY(cls->open(src, opts, out, err));
		(*out)->cls = cls;
		rc = note_idle(*out, opts, err);
		if (rc == DTX_OK && !cls->isolated)
			rc = note_named(*out, cls, opts, err);
	}
	if (rc != DTX_OK) {
		dtx_reader_close(*out);
		*out = NULL;
	}
out:
	if (rc != DTX_OK)
		rc = dtx_source_check_truncated(file, rc, err);
	if (rc != DTX_OK && err && !err->input[0])
		dtx_str_copy(err->input, sizeof(err->input),
		             dtx_str_of(opts->alias ? opts->alias : dtx_source_name(src)));
	return rc;
}

void dtx_reader_close(struct dtx_reader *r)
{
	if (r)
		r->cls->close(r);
}

void dtx_reader_cut(struct dtx_reader *r, uint64_t last)
{
	r->stats.stopped_early = true;
	if (r->cls->cut)
		r->cls->cut(r, last);
}

static enum dtx_code note_cells(struct dtx_reader *r, int64_t n, const char *what,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!n)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__, "'%s': %s%lld cells %s",
	            dtx_source_name(r->src), r->stats.stopped_early ? "at least " : "",
	            (long long)n, what);
	w.severity = DTX_SEV_WARNING;
	w.count = n;
	w.count_open = r->stats.stopped_early;
	if (!dtx_errlist_take(&r->diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_reader_misfits(struct dtx_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(note_cells(r, atomic_load_explicit(&r->misfits, memory_order_relaxed),
	                   "without the declared type became null", err));
	DTX_TRY(note_cells(r, atomic_load_explicit(&r->offsets, memory_order_relaxed),
	                   DTX_READ_OFFSETS, err));
out:
	return rc;
}

void dtx_reader_note(struct dtx_reader *r, uint32_t rows, struct dtx_progress *to)
{
	uint64_t done = atomic_load_explicit(&r->done, memory_order_relaxed);
	uint64_t of = atomic_load_explicit(&r->of, memory_order_relaxed);

	if (atomic_load_explicit(&to->reader, memory_order_relaxed) != r &&
	    atomic_exchange(&to->reader, r) != r) { /* one of the workers sees the change */
		atomic_fetch_add(&to->passed,
		                 atomic_exchange(&to->reader_bytes, dtx_source_size(r->src)));
		atomic_fetch_add(&to->readers, 1);
	}
	atomic_store_explicit(&to->input, dtx_source_name(r->src), memory_order_relaxed);
	atomic_store_explicit(&to->bytes, dtx_source_size(r->src), memory_order_relaxed);
	if (of) { /* otherwise the source reports progress */
		atomic_store_explicit(&to->done, done, memory_order_relaxed);
		atomic_store_explicit(&to->of, of, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&to->rows, rows, memory_order_relaxed);
}
