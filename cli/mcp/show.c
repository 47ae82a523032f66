/* What a result may hold. Without `rows` in the policy no cell of an input reaches the client:
 * messages that may quote a cell are replaced by a sentence about their code, and of everything
 * else only members that are known to hold none are copied. */
#include <string.h>

#include "cli/mcp/mcp.h"
#include "core/fallback/prompt/redact.h"
#include "core/plan/op.h"

/* --- objects --- */

json_t *dtx_mcp_pick(const json_t *from, const char *names)
{
	json_t *out = json_object();
	struct dtx_str rest = dtx_str_of(names), name;
	char key[64];

	while (out && dtx_str_next(&rest, ',', &name)) {
		json_t *value;

		dtx_str_copy(key, sizeof(key), name);
		value = json_object_get(from, key);
		if (value && !json_is_null(value) && json_object_set(out, key, value) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

json_t *dtx_mcp_pick_each(const json_t *list, const char *names)
{
	json_t *out = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, item)
		json_array_append_new(out, dtx_mcp_pick(item, names));
	return out;
}

/* --- errors --- */

/* Whether a text occurs in a key or a value. */
static bool in_text(const json_t *value, struct dtx_str word)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return dtx_str_find((struct dtx_str){ json_string_value(value),
		                                      json_string_length(value) },
		                    word, 0) >= 0;
	json_array_foreach((json_t *)(uintptr_t)value, i,
	                   item) if (in_text(item, word)) return true;
	json_object_foreach((json_t *)(uintptr_t)value, key,
	                    item) if (dtx_str_find(dtx_str_of(key), word, 0) >= 0 ||
	                              in_text(item, word)) return true;
	return false;
}

bool dtx_mcp_makes_columns(const json_t *plan, size_t nsteps)
{
	const struct dtx_op *op;
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(plan, "steps"), i, step)
	{
		op = dtx_op_find(dtx_json_text(step, "op", ""), NULL);
		if (i < nsteps &&
		    (!op || (op->flags & DTX_OP_OPEN) || json_object_get(step, "snippet")))
			return true;
	}
	return false;
}

/* Codes whose messages quote the plan, names of files and settings, and names of columns. */
static bool quotes_no_cell(enum dtx_code code, const json_t *plan)
{
	static const enum dtx_code columns[] = {
		DTX_E_UNKNOWN_COLUMN,   DTX_E_MISSING_COLUMN, DTX_E_EXTRA_COLUMN,
		DTX_E_AMBIGUOUS_COLUMN, DTX_E_NAME_COLLISION,
	};
	static const enum dtx_code safe[] = {
		DTX_E_USAGE,
		DTX_E_UNKNOWN_OP,
		DTX_E_UNKNOWN_FUNCTION,
		DTX_E_UNSUPPORTED_PARAM,
		DTX_E_UNKNOWN_TABLE,
		DTX_E_INPUT_NOT_FOUND,
		DTX_E_SHEET_NOT_FOUND,
		DTX_E_ENCRYPTED_FILE,
		DTX_E_NEEDS_SNIPPET,
		DTX_E_NEEDS_APPROVAL,
		DTX_E_OUTPUT_IO,
		DTX_E_DISK_FULL,
		DTX_E_STORE_IO,
		DTX_E_STORE_BUSY,
		DTX_E_JAIL_UNAVAILABLE,
		DTX_E_NO_MEMORY,
		DTX_E_TIME_LIMIT,
		DTX_E_CANCELLED,
		DTX_E_NO_RECORD,
		DTX_E_INPUT_CHANGED,
		DTX_W_SHEET_ASSUMED,
	};

	for (size_t i = 0; i < DTX_COUNT(columns); i++)
		if (columns[i] == code)
			return !dtx_mcp_makes_columns(plan, SIZE_MAX);
	for (size_t i = 0; i < DTX_COUNT(safe); i++)
		if (safe[i] == code)
			return true;
	return false;
}

/* Whether the error was found in the plan's own text, before a file was read. */
static bool of_plan(const json_t *error)
{
	int64_t status = dtx_json_int(error, "exit", 0);

	return !strcmp(dtx_json_text(error, "phase", ""), "static") &&
	       (status == 2 || status == 3 || status == 5);
}

/* The sentence about a code, with names from the plan. */
static json_t *redacted(const json_t *error, enum dtx_code code, const json_t *plan)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_disclosed count = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *out;

	dtx_err_set(&err, code, __FILE__, __LINE__, "%s", dtx_json_text(error, "message", ""));
	if (dtx_code_triggers(code, true))
		dtx_redact_trigger(&err, json_object_get(plan, "steps"), NULL, &text, &count);
	else
		dtx_buf_printf(&text, "%s; the details may quote a cell and are withheld",
		               dtx_json_text(error, "code", ""));
	out = json_string(dtx_buf_text(&text));
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	return out;
}

/* The type of an exception if it is one of Python, numpy or pandas, its line, and its message
 * where cells may be shown. */
static json_t *exception(const struct dtx_mcp_policy *p, const json_t *from)
{
	const char *type = dtx_json_text(from, "type", "");
	json_t *out = dtx_mcp_pick(from, p->all ? "type,message,line" : "line");

	if (!p->all && out)
		json_object_set_new(out, "type",
		                    json_string(dtx_redact_type(type) ? type : "exception"));
	return out;
}

json_t *dtx_mcp_show_error(const struct dtx_mcp_policy *p, const json_t *error, const json_t *plan)
{
	enum dtx_code code = dtx_code_find(dtx_json_text(error, "code", ""));
	bool cells = p->rows > 0, about_plan = of_plan(error);
	json_t *out = dtx_mcp_pick(error, "code,severity,at,span,step,op,count");
	const json_t *where = json_object_get(error, "where");
	const json_t *raised = json_object_get(error, "exception");
	struct dtx_str column;
	json_t *place;

	if (!out)
		return NULL;
	if (json_is_object(where)) {
		column = dtx_str_of(dtx_json_text(where, "column", ""));
		place = dtx_mcp_pick(where, "input,sheet,cell,column,row");
		if (!cells && dtx_mcp_makes_columns(plan, SIZE_MAX) && !in_text(plan, column))
			json_object_del(place, "column");
		json_object_set_new(out, "where", place);
	}
	if (json_is_object(raised))
		json_object_set_new(out, "exception", exception(p, raised));
	if (cells || about_plan || quotes_no_cell(code, plan)) {
		json_object_set(out, "message", json_object_get(error, "message"));
		if (json_array_size(json_object_get(error, "did_you_mean")))
			json_object_set(out, "did_you_mean",
			                json_object_get(error, "did_you_mean"));
	} else {
		json_object_set_new(out, "message", redacted(error, code, plan));
		json_object_set_new(out, "withheld", json_true());
	}
	if ((cells || about_plan || code == DTX_E_NEEDS_APPROVAL || code == DTX_E_UNKNOWN_OP) &&
	    json_is_string(json_object_get(error, "hint")))
		json_object_set(out, "hint", json_object_get(error, "hint"));
	return out;
}

json_t *dtx_mcp_findings(struct dtx_str text)
{
	const struct dtx_json_limits limits = { 0, 32 };
	json_t *out = json_array(), *one;
	struct dtx_str line;

	while (out && dtx_str_next(&text, '\n', &line)) {
		if (line.len && line.ptr[0] == '{' &&
		    dtx_json_parse(line, limits, &one, NULL) == DTX_OK)
			json_array_append_new(out, one);
	}
	return out;
}

json_t *dtx_mcp_show_findings(const struct dtx_mcp_policy *p, const json_t *findings, bool warnings,
                              const json_t *plan)
{
	json_t *out = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)findings, i, item)
	{
		const char *code = dtx_json_text(item, "code", "");
		bool is_warning = !strcmp(dtx_json_text(item, "severity", ""), "warning");

		/* the offer of a snippet has its own place, with a ticket */
		if (out && is_warning == warnings && *code && strcmp(code, "needs_snippet") != 0)
			json_array_append_new(out, dtx_mcp_show_error(p, item, plan));
	}
	return out;
}

/* --- a file --- */

/* "2 int, 1 text of 3 values; not L4 'x'" without what follows the counts. */
static json_t *evidence(const struct dtx_mcp_policy *p, const char *text)
{
	size_t n = p->rows > 0 ? strlen(text) : strcspn(text, ";'\"");

	return json_stringn(text, n);
}

static json_t *columns(const struct dtx_mcp_policy *p, const json_t *list)
{
	json_t *out = json_array(), *item, *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, item)
	{
		one = dtx_mcp_pick(item, p->rows > 0 ? "name,type,nulls,distinct,min,max"
		                                     : "name,type,nulls,distinct");
		json_object_set_new(one, "evidence",
		                    evidence(p, dtx_json_text(item, "evidence", "")));
		json_array_append_new(out, one);
	}
	return out;
}

/* Suggested steps. Their values may be cells; without rows only the operation is named. */
static json_t *suggestions(const struct dtx_mcp_policy *p, const json_t *list)
{
	json_t *out = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, item)
	{
		const json_t *step = json_object_get(item, "step");

		if (p->rows > 0)
			json_array_append(out, item);
		else if (step)
			json_array_append_new(out,
			                      json_pack("{so}", "step", dtx_mcp_pick(step, "op")));
	}
	return out;
}

json_t *dtx_mcp_show_inspect(const struct dtx_mcp_policy *p, const json_t *inspect)
{
	json_t *out = dtx_mcp_pick(inspect, "format,rows");
	const json_t *reader = json_object_get(inspect, "reader");
	const json_t *sample = json_object_get(inspect, "sample");

	json_object_set_new(out, "columns", columns(p, json_object_get(inspect, "columns")));
	if (json_is_array(json_object_get(inspect, "sheets")))
		json_object_set_new(
			out, "sheets",
			dtx_mcp_pick_each(json_object_get(inspect, "sheets"), "name,visible,rows"));
	json_object_set_new(out, "read_as",
	                    dtx_mcp_pick(reader, "encoding,sheet,range,header_rows,dialect"));
	json_object_set_new(
		out, "findings",
		dtx_mcp_show_findings(p, json_object_get(inspect, "findings"), true, NULL));
	json_object_set_new(out, "suggestions",
	                    suggestions(p, json_object_get(inspect, "suggestions")));
	if (p->rows > 0 && json_is_array(sample))
		json_object_set(out, "sample", (json_t *)(uintptr_t)sample);
	return out;
}

/* --- columns of a result --- */

/* Words that operations put into the names of columns that they make. */
static const char made_words[] = "sum,mean,median,min,max,count,n,total,value,variable,name,right,"
				 "left,pct,rank,row,id,std,var,"
				 "first,last,share,diff,1,2,3,4,5,6,7,8,9";

static bool in_inputs(const json_t *record, struct dtx_str word)
{
	json_t *input, *column;
	size_t i, k;

	json_array_foreach(json_object_get(record, "inputs"), i, input) json_array_foreach(
		json_object_get(input, "schema"), k,
		column) if (dtx_str_find(dtx_str_of(dtx_json_text(column, "name", "")), word, 0) >=
	                    0) return true;
	return false;
}

/* Whether a column's name is made of words of the plan and of the inputs' columns. Where it is not,
 * as after pivot_wider, it is a cell. */
static bool name_known(const json_t *record, const json_t *plan, const char *name)
{
	struct dtx_str rest = dtx_str_of(name), word;

	if (!*name || in_text(plan, rest) || in_inputs(record, rest))
		return true;
	while (dtx_str_next(&rest, '_', &word)) {
		char text[64];

		dtx_str_copy(text, sizeof(text), word);
		if (word.len && !dtx_str_in_list(made_words, text) && !in_text(plan, word) &&
		    !in_inputs(record, word))
			return false;
	}
	return true;
}

/* The columns of each output, without names that are cells. */
static void hide_names(json_t *list, const char *columns, const char *member, const json_t *record,
                       const json_t *plan)
{
	json_t *item, *one;
	size_t i, k;

	json_array_foreach(list, i, item)
	{
		json_t *inner = columns ? json_deep_copy(json_object_get(item, columns)) : NULL;

		if (columns && inner)
			json_object_set_new(item, columns, inner);
		json_array_foreach(inner, k, one) if (!name_known(record, plan,
		                                                  dtx_json_text(one, member, "")))
			json_object_set_new(one, member, json_string("(withheld)"));
		if (!columns && !name_known(record, plan, dtx_json_text(item, member, "")))
			json_object_set_new(item, member, json_string("(withheld)"));
	}
}

json_t *dtx_mcp_show_outputs(const struct dtx_mcp_policy *p, const json_t *record,
                             const json_t *plan)
{
	/* a program may have put a cell into the name of a file */
	bool program =
		!strcmp(dtx_json_text(json_object_get(record, "run"), "command", ""), "exec");
	json_t *out =
		dtx_mcp_pick_each(json_object_get(record, "outputs"),
	                          program && !p->all ? "bytes,sha" : "path,rows,bytes,sha,schema");

	if (!p->rows)
		hide_names(out, "schema", "name", record, plan);
	return out;
}

/* --- a record --- */

json_t *dtx_mcp_show_record(const struct dtx_mcp_policy *p, const json_t *record)
{
	json_t *out = json_object();
	const json_t *run = json_object_get(record, "run");
	const json_t *plan = json_object_get(json_object_get(run, "plan"), "plan");
	json_t *lineage;

	if (!out)
		return NULL;
	json_object_set_new(out, "run",
	                    dtx_mcp_pick(run, "run_id,command,status,path,exit,code,start_us,"
	                                      "end_us,namespace,plan_hash,replay_of"));
	json_object_set_new(out, "inputs",
	                    dtx_mcp_pick_each(json_object_get(record, "inputs"),
	                                      "alias,label,rows,bytes,sha,schema"));
	json_object_set_new(
		out, "steps",
		dtx_mcp_pick_each(json_object_get(record, "steps"), "idx,op,rows_in,rows_out"));
	lineage = dtx_mcp_pick_each(json_object_get(record, "lineage"),
	                            "out_col,alias,in_col,type,subtype,class,formula");
	if (!p->rows)
		hide_names(lineage, NULL, "out_col", record, plan);
	json_object_set_new(out, "lineage", lineage);
	json_object_set_new(out, "checks",
	                    dtx_mcp_pick_each(json_object_get(record, "checks"),
	                                      p->rows > 0 ? "idx,name,severity,status,detail"
	                                                  : "idx,severity,status"));
	json_object_set_new(out, "outputs", dtx_mcp_show_outputs(p, record, plan));
	return out;
}
