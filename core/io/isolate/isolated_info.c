/* Questions about a workbook, each asked in a reader process of its own. */
#include "core/io/archive/zstd.h"
#include "core/data/frame/rawgrid.h"
#include "core/io/sheet/cellref.h"
#include "core/io/isolate/isolated.h"

typedef enum dtx_code (*frame_fn)(void *arg, const struct dtx_frame_view *view,
                                  struct dtx_err *err);

/* Starts a process, asks it, and passes each frame of the answer to `fn`. */
static enum dtx_code ask_process(struct dtx_source *src, const struct dtx_isolate_limits *limits,
                                 enum dtx_ask what, const json_t *args, frame_fn fn, void *arg,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_isolate *proc = NULL;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_sealed got = { 0 };
	size_t n;

	DTX_TRY(dtx_isolate_process.start(src, limits, &proc, err));
	DTX_TRY(dtx_isolate_process.ask(proc, what, args, err));
	for (n = 0;; n++) {
		DTX_TRY(dtx_isolate_process.next(proc, &got, err));
		if (!got.owner)
			break;
		DTX_TRY(dtx_frame_open(got.ptr, got.len, &view, err));
		DTX_TRY(fn(arg, &view, err));
		dtx_frame_close(&view);
		dtx_owner_unref(got.owner);
		got.owner = NULL;
	}
	/* an empty file has no pieces; any other answer has at least one frame */
	if (!n && what != DTX_ASK_INFLATE)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no answer");
out:
	dtx_frame_close(&view);
	dtx_owner_unref(got.owner);
	dtx_isolate_process.stop(proc);
	return rc;
}

/* Takes `args`. */
static enum dtx_code question(struct dtx_source *src, enum dtx_ask what, json_t *args, frame_fn fn,
                              void *arg, struct dtx_err *err)
{
	struct dtx_isolate_limits limits = dtx_isolated_limits(src);
	enum dtx_code rc = DTX_OK;

	limits.codecs = what == DTX_ASK_INFLATE &&
	                dtx_zstd_sniff(dtx_source_data(src), dtx_source_size(src));
	args = dtx_isolated_args(src, args);
	if (!args)
		DTX_FAIL_MEM(err);
	rc = ask_process(src, &limits, what, args, fn, arg, err);
	if (rc != DTX_OK && dtx_isolated_again(err, &limits)) {
		dtx_err_clear(err);
		rc = ask_process(src, &limits, what, args, fn, arg, err);
	}
out:
	json_decref(args);
	return dtx_isolated_corrupt_file(src, rc, err);
}

/* Integers in it may have any size. */
static enum dtx_code parse(struct dtx_str text, json_t **out, struct dtx_err *err)
{
	static const struct dtx_json_limits limits = { .bytes = (size_t)256 << 20 };
	enum dtx_code rc = dtx_json_parse_reals(text, limits, out, err);

	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY)
		rc = dtx_err_set(err, DTX_E_SNIPPET_BAD_RESULT, __FILE__, __LINE__,
		                 "an answer is not JSON");
	return rc;
}

/* --- cells --- */

struct cells {
	dtx_book_cell_fn fn;
	void *arg;
};

/* Whether all references are valid A1 references within a sheet. */
static bool places_fit(const struct dtx_cell_info *info)
{
	struct dtx_cellrange range;
	uint32_t row, col;

	return info->cell && dtx_cell_parse(dtx_str_of(info->cell), &row, &col) &&
	       (!info->merged || dtx_cell_range_parse(dtx_str_of(info->merged), &range));
}

static enum dtx_code give_line(const struct cells *c, struct dtx_str text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *line = NULL;
	struct dtx_cell_info info = { 0 };

	DTX_TRY(parse(text, &line, err));
	info.sheet = json_string_value(json_array_get(line, 0));
	info.cell = json_string_value(json_array_get(line, 1));
	info.kind = json_string_value(json_array_get(line, 2));
	info.value = json_array_get(line, 3);
	info.formula = json_is_true(json_array_get(line, 4));
	info.format = json_string_value(json_array_get(line, 5));
	info.merged = json_string_value(json_array_get(line, 6));
	if (!info.sheet || !places_fit(&info) || !info.kind || !info.value ||
	    json_array_size(line) != 7)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "a cell is malformed");
	DTX_TRY(c->fn(c->arg, &info, err));
out:
	json_decref(line);
	return rc;
}

static enum dtx_code give_lines(void *arg, const struct dtx_frame_view *view, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_REPORT);
	struct dtx_str line, text;

	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no report");
	text = dtx_frame_bytes(view, e);
	while (text.len && dtx_str_next(&text, '\n', &line))
		if (line.len)
			DTX_TRY(give_line(arg, line, err));
out:
	return rc;
}

enum dtx_code dtx_isolated_cells(struct dtx_source *src, const char *sheet, dtx_book_cell_fn fn,
                                 void *arg, struct dtx_err *err)
{
	struct cells c = { fn, arg };

	return question(src, DTX_ASK_CELLS, json_pack("{ss?}", "sheet", sheet), give_lines, &c,
	                err);
}

/* --- raw cells --- */

static enum dtx_code keep_grid(void *arg, const struct dtx_frame_view *view, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rawgrid *out = arg;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_GRID);

	if (!e || out->ncells || out->sheet)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "not one grid");
	DTX_TRY(dtx_frame_grid(view, e, out, err));
out:
	return rc;
}

enum dtx_code dtx_isolated_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                               struct dtx_rawgrid *out, struct dtx_err *err)
{
	return question(src, DTX_ASK_RAW, dtx_isolate_opts_json(opts), keep_grid, out, err);
}

/* --- packed files --- */

struct pieces {
	dtx_packed_fn fn;
	void *arg;
};

static enum dtx_code give_piece(void *arg, const struct dtx_frame_view *view, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct pieces *p = arg;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_ARTIFACT);

	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "no piece of the file");
	DTX_TRY(p->fn(p->arg, dtx_frame_bytes(view, e), err));
out:
	return rc;
}

enum dtx_code dtx_isolated_inflate(struct dtx_source *src, dtx_packed_fn fn, void *arg,
                                   struct dtx_err *err)
{
	struct pieces p = { fn, arg };

	return question(src, DTX_ASK_INFLATE, json_object(), give_piece, &p, err);
}

/* --- sheets, stamp --- */

static enum dtx_code keep_json(void *arg, const struct dtx_frame_view *view, struct dtx_err *err)
{
	json_t **out = arg;

	json_decref(*out);
	*out = NULL;
	return dtx_isolated_report(view, out, err);
}

/* Checks [{"name", "kind", "visible", ...}]: only texts, and counts of what a sheet has. */
static bool sheets_fit(const json_t *sheets)
{
	json_t *sheet, *v;
	const char *key;
	size_t i;

	if (!json_is_array(sheets))
		return false;
	json_array_foreach(sheets, i, sheet)
	{
		if (!json_is_string(json_object_get(sheet, "name")) ||
		    !json_is_string(json_object_get(sheet, "kind")) ||
		    !json_is_string(json_object_get(sheet, "visible")))
			return false;
		json_object_foreach(sheet, key, v)
		{
			if (!json_is_string(v) &&
			    (!json_is_integer(v) || json_integer_value(v) < 0))
				return false;
		}
	}
	return true;
}

enum dtx_code dtx_isolated_sheets(struct dtx_source *src, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *got = NULL;

	DTX_TRY(question(src, DTX_ASK_SHEETS, json_object(), keep_json, &got, err));
	if (!sheets_fit(got))
		DTX_TRY(dtx_isolated_corrupt_file(src,
		                                  dtx_err_set(err, DTX_E_SNIPPET_BAD_RESULT,
		                                              __FILE__, __LINE__,
		                                              "its list of sheets is malformed"),
		                                  err));
	*out = got;
	got = NULL;
out:
	json_decref(got);
	return rc;
}

enum dtx_code dtx_isolated_stamp(struct dtx_source *src, char out[64], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *got = NULL;
	const char *id;

	out[0] = '\0';
	DTX_TRY(question(src, DTX_ASK_STAMP, json_object(), keep_json, &got, err));
	id = json_string_value(json_array_get(got, 0));
	dtx_str_copy(out, 64, dtx_str_of(id ? id : ""));
out:
	json_decref(got);
	return rc;
}
