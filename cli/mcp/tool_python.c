/* The tool run_python: a program in the jail, by `dtx exec`. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/mcp/tools.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/text/base64.h"
#include "core/fallback/prompt/redact.h"

#define FIGURES_MAX 8
#define FILES_MAX   200

static bool has_data(const struct dtx_mcp_call *c)
{
	return json_object_size(json_object_get(c->args, "tables")) ||
	       json_object_size(json_object_get(c->args, "files"));
}

static struct dtx_mcp_session *session_of(const struct dtx_mcp_call *c)
{
	return dtx_mcp_session_find(c->server, dtx_json_text(c->args, "session", ""));
}

/* Whether the program had cells to print, and the policy does not let them out. In a session they
 * may be those of an earlier call; of one that was closed meanwhile it is not known. */
static bool withholds(const struct dtx_mcp_call *c)
{
	const struct dtx_mcp_session *s = session_of(c);
	bool in_session = json_object_get(c->args, "session") != NULL;

	return !c->server->policy.all && (has_data(c) || (in_session && (!s || s->has_data)));
}

/* Adds "OPTION NAME=PATH" for each file. */
static enum dtx_code add_files(const struct dtx_mcp_call *c, struct dtx_mcp_argv *a,
                               const char *option, const json_t *files, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char path[PATH_MAX];
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)(uintptr_t)files, name, item)
	{
		if (!*name || strpbrk(name, "=/"))
			DTX_FAIL(err, DTX_E_USAGE, "'%.80s' is no name for a table or file", name);
		DTX_TRY(dtx_mcp_path_in(c->server, json_string_value(item), path, err));
		dtx_buf_reset(&text);
		dtx_buf_printf(&text, "%s=%s", name, path);
		DTX_TRY(dtx_buf_check(&text, "name of a file", err));
		dtx_mcp_argv_option(a, option, dtx_buf_text(&text));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_mcp_run_python_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	const char *out = dtx_json_text(c->args, "out", NULL);
	const char *code = dtx_json_text(c->args, "code", "");
	char path[PATH_MAX], seconds[24];
	json_t *item;
	size_t i;

	dtx_mcp_argv_words(&a, "exec --json --errors json");
	dtx_mcp_argv_option(&a, "--run-id", c->run_id);
	if (json_object_get(c->args, "session")) {
		if (!session_of(c))
			DTX_FAIL_NEXT(err, DTX_E_USAGE, "open_session gives a handle",
			              "no session with this handle is open");
		session_of(c)->has_data |= has_data(c);
		dtx_mcp_argv_option(&a, "--session", session_of(c)->name);
	}
	if (out)
		DTX_TRY(dtx_mcp_path_folder(c->server, out, path, err));
	else
		snprintf(path, sizeof(path), "%s/%s", c->server->scratch.path, c->run_id);
	dtx_mcp_argv_option(&a, "--out", path);
	if (json_object_get(c->args, "timeout_s")) {
		snprintf(seconds, sizeof(seconds), "%lld",
		         (long long)dtx_json_int(c->args, "timeout_s", 30));
		dtx_mcp_argv_option(&a, "--jail-wall", seconds);
	}
	DTX_TRY(add_files(c, &a, "--table", json_object_get(c->args, "tables"), err));
	DTX_TRY(add_files(c, &a, "--file", json_object_get(c->args, "files"), err));
	DTX_TRY(dtx_mcp_scratch(c, "program.py", dtx_str_of(code), path, err));
	dtx_mcp_argv_add(&a, "--");
	dtx_mcp_argv_add(&a, path);
	json_array_foreach(json_object_get(c->args, "args"), i, item)
		dtx_mcp_argv_add(&a, json_string_value(item));
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* --- files and figures --- */

/* Whether the name says nothing about the data: the code has it, or it is the jail's own. */
static bool is_known(const struct dtx_mcp_call *c, const char *name)
{
	const char *rest = !strncmp(name, "figure-", 7) ? name + 7 : "";

	while (isdigit((unsigned char)*rest))
		rest++;
	return !strcmp(rest, ".png") || strstr(dtx_json_text(c->args, "code", ""), name);
}

static json_t *figure(const char *path)
{
	static const char magic[] = "\x89PNG\r\n\x1a\n";
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_MCP_FIGURE_MAX);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out = NULL;

	if (dtx_file_slurp(path, &bytes, NULL) == DTX_OK && bytes.len > sizeof(magic) &&
	    !memcmp(bytes.ptr, magic, sizeof(magic) - 1)) {
		dtx_base64_put(dtx_buf_str(&bytes), &text);
		out = json_pack("{ss ss ss}", "type", "image", "data", dtx_buf_text(&text),
		                "mimeType", "image/png");
	}
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&text);
	return out;
}

static json_t *files_of(const struct dtx_mcp_call *c, const json_t *exec, json_t *content)
{
	json_t *out = json_array(), *item, *one, *image;
	struct dtx_buf uri = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool hides = withholds(c);
	size_t i, figures = 0;

	json_array_foreach(json_object_get(exec, "files"), i, item)
	{
		const char *name = dtx_json_text(item, "name", "");
		const char *path = dtx_json_text(item, "path", NULL);
		int64_t bytes = dtx_json_int(item, "bytes", 0);
		bool shown = !hides || is_known(c, name);

		if (i >= FILES_MAX)
			break;
		one = json_pack("{sI}", "bytes", (json_int_t)bytes);
		json_array_append_new(out, one);
		if (!shown) {
			json_object_set_new(one, "withheld", json_true());
			continue;
		}
		dtx_buf_reset(&uri);
		dtx_mcp_uri_out(c->run_id, name, &uri);
		json_object_set_new(one, "name", json_string(name));
		json_object_set_new(one, "uri", json_string(dtx_buf_text(&uri)));
		if (path)
			json_object_set_new(one, "path", json_string(path));
		image = !hides && path && figures < FIGURES_MAX &&
		                        dtx_str_ends(dtx_str_of(name), DTX_STR(".png")) &&
		                        bytes <= (int64_t)DTX_MCP_FIGURE_MAX
		                ? figure(path)
		                : NULL;
		figures += image != NULL;
		json_array_append_new(
			content, image ? image : dtx_mcp_link(name, dtx_buf_text(&uri), bytes));
	}
	dtx_buf_clear(&uri);
	return out;
}

/* --- the result --- */

/* Sets stdout or stderr, cut to what a result may hold. */
static bool set_stream(json_t *result, const char *name, const json_t *stream)
{
	const json_t *text = json_object_get(stream, "text");
	struct dtx_str all = { json_string_value(text), json_string_length(text) };
	struct dtx_str cut = all.ptr ? dtx_str_cut(all, DTX_MCP_TEXT_MAX) : DTX_STR("");

	json_object_set_new(result, name, json_stringn(cut.ptr, cut.len));
	return cut.len < all.len || dtx_json_bool(stream, "truncated", false);
}

static void set_exception(json_t *result, const json_t *raised, bool hides)
{
	json_t *one = dtx_mcp_pick(raised, hides ? "line" : "type,message,line,traceback");
	const char *type = dtx_json_text(raised, "type", "");

	if (hides)
		json_object_set_new(one, "type",
		                    json_string(dtx_redact_type(type) ? type : "exception"));
	json_object_set_new(result, "exception", one);
}

/* The value of the last expression. Without leave to show cells: what kind of thing it is, by the
 * names that Python and pandas have for it, and its size. */
static json_t *shown_value(const json_t *value, bool hides)
{
	static const char known[] = "DataFrame,Series,int,float,bool,str,list,tuple,dict,set";
	json_t *out;

	if (!hides)
		return dtx_mcp_pick(value, "type,text,cut,rows,width,columns,head,dtype");
	out = dtx_mcp_pick(value, "rows,width");
	if (dtx_str_in_list(known, dtx_json_text(value, "type", "")))
		json_object_set(out, "type", json_object_get(value, "type"));
	return out;
}

enum dtx_code dtx_mcp_run_python_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	const struct dtx_mcp_policy *p = &c->server->policy;
	json_t *exec = dtx_mcp_stdout_json(c);
	const json_t *report = json_object_get(exec, "report");
	const json_t *error = json_object_get(exec, "error");
	const json_t *raised = json_object_get(report, "exception");
	bool hides = withholds(c), cut;
	struct dtx_mcp_policy shown = *p;
	enum dtx_code rc = DTX_OK;
	json_t *result, *content, *files;

	if (!exec)
		return dtx_mcp_failed(c, err);
	if (!hides) { /* no cell was there, or all may be shown */
		shown.all = true;
		shown.rows = shown.rows ? shown.rows : 1;
	}
	result = json_pack("{ss ss}", "status", c->child.status ? "failed" : "ok", "run_id",
	                   c->run_id);
	content = json_array();
	files = files_of(c, exec, content);
	json_object_set_new(result, "files", files);
	if (hides) {
		json_object_set_new(result, "withheld", json_true());
		json_object_set_new(
			result, "note",
			json_string("what the program printed and drew is withheld, as it was "
		                    "given data: the person who started the server can allow it "
		                    "with --sample all"));
	} else {
		cut = set_stream(result, "stdout", json_object_get(report, "stdout"));
		cut |= set_stream(result, "stderr", json_object_get(report, "stderr"));
		json_object_set_new(result, "truncated", json_boolean(cut));
	}
	if (json_is_object(json_object_get(report, "value")))
		json_object_set_new(result, "value",
		                    shown_value(json_object_get(report, "value"), hides));
	if (json_is_object(json_object_get(exec, "session")))
		json_object_set_new(
			result, "session",
			dtx_mcp_pick(json_object_get(exec, "session"), "call,new,ended"));
	if (json_is_object(raised))
		set_exception(result, raised, hides);
	if (json_is_object(error))
		json_object_set_new(result, "error", dtx_mcp_show_error(&shown, error, NULL));
	dtx_mcp_call_result(c, result, content);
	json_decref(exec);
	return rc;
}
