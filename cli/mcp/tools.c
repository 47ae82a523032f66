/* The table of tools: how each is described to a client, and the schemas of its arguments and
 * results. The tool wait is here, too. */
#include "cli/mcp/tools.h"

#include <string.h>

#include "core/base/log.h"

/* --- schemas ---
 *
 * Each result has a status. A call that takes long has only "running" and its run_id. */

static const char open_session_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[],\"properties\":{}}";
static const char open_session_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"session\":{\"type\":\"string\"}}}";
static const char close_session_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"session\"],"
	"\"properties\":{\"session\":{\"type\":\"string\",\"maxLength\":48,"
	"\"description\":\"Handle from open_session\"}}}";
static const char close_session_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"calls\":{\"type\":\"integer\"}}}";
static const char describe_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"path\"],"
	"\"properties\":{\"path\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"A "
	"file below the root\"},\"sheet\":{\"type\":\"string\",\"description\":\"Sheet of a "
	"workbook by name or number, or table of a database (default: the first)\"}}}";
static const char describe_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"file\":{\"type\":\"object\",\"required\":[\"format\","
	"\"columns\"],\"properties\":{\"format\":{\"type\":\"string\"},"
	"\"rows\":{\"type\":[\"integer\",\"null\"]},\"columns\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"sheets\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"read_as\":{\"type\":\"object\"},"
	"\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"suggestions\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"snippets\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"sample\":{\"type\":\"array\"}}}}}";
static const char list_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[],"
	"\"properties\":{\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,"
	"\"description\":\"At most so many (20)\"},\"status\":{\"type\":\"string\","
	"\"enum\":[\"ok\",\"failed\",\"cancelled\",\"abandoned\"],\"description\":\"Only runs "
	"that ended so\"}}}";
static const char list_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"runs\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}}}}";
static const char provenance_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"run\"],"
	"\"properties\":{\"run\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Id of "
	"a run, or path of a file that a run wrote\"}}}";
static const char provenance_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"record\":{\"type\":\"object\",\"required\":[\"run\"],"
	"\"properties\":{\"run\":{\"type\":\"object\"},\"inputs\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"steps\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"lineage\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"checks\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"outputs\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}}}}}}";
static const char replay_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"run\"],"
	"\"properties\":{\"run\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Id of "
	"a run, or path of a file that a run wrote\"}}}";
static const char replay_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"replay\":{\"type\":\"object\","
	"\"required\":[\"replay_of\",\"outputs\"],"
	"\"properties\":{\"replay_of\":{\"type\":\"string\"},\"run_id\":{\"type\":\"string\"},"
	"\"outputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"changed\":{\"type\":\"array\"},\"environment\":{\"type\":\"array\"}}}}}";
static const char run_plan_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"plan\"],"
	"\"properties\":{\"plan\":{\"type\":\"object\",\"description\":\"A plan, as "
	"dtx://schema/plan says: {'dtx':1,'steps':[{'op':'filter','where':'n > 1'}]}\"},"
	"\"files\":{\"type\":\"object\",\"maxProperties\":64,"
	"\"additionalProperties\":{\"type\":[\"string\",\"array\"],\"maxItems\":400,"
	"\"items\":{\"type\":\"string\"}},\"description\":\"Path of each input of the plan, by "
	"its name (main if the plan names none); a list of paths is read as one table\"},"
	"\"output\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Path of the "
	"result; its suffix says the format, and one that dtx does not know is refused with the "
	"list. Without it the result is kept until the server "
	"ends\"},\"replace\":{\"type\":\"boolean\","
	"\"description\":\"Whether files that are there may be replaced (false)\"},"
	"\"params\":{\"type\":\"object\",\"description\":\"Values of the parameters that the "
	"plan declares\"},\"dry_run\":{\"type\":\"boolean\",\"description\":\"Only check and "
	"explain the plan with these files: nothing is run or written (false)\"}}}";
static const char run_plan_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"needs_code\","
	"\"needs_approval\",\"failed\",\"running\"]},\"run_id\":{\"type\":\"string\"},"
	"\"outputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"ticket\":{\"type\":\"string\"},\"prompt\":{\"type\":\"string\"},"
	"\"attempts_left\":{\"type\":\"integer\"}}}";
static const char run_python_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"code\"],"
	"\"properties\":{\"code\":{\"type\":\"string\",\"description\":\"The program. It finds "
	"tables, a dict of DataFrames; files in /in; what it writes to /out comes back\"},"
	"\"tables\":{\"type\":\"object\",\"maxProperties\":64,"
	"\"additionalProperties\":{\"type\":\"string\"},\"description\":\"Path of each table, by "
	"its name in tables\"},\"files\":{\"type\":\"object\",\"maxProperties\":64,"
	"\"additionalProperties\":{\"type\":\"string\"},\"description\":\"Path of each file that "
	"the program may open as /in/NAME\"},\"args\":{\"type\":\"array\",\"maxItems\":64,"
	"\"items\":{\"type\":\"string\"},\"description\":\"sys.argv[1:]\"},"
	"\"out\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Folder for the files "
	"of /out, new or empty. Without it they are kept until the server ends\"},"
	"\"session\":{\"type\":\"string\",\"maxLength\":48,\"description\":\"Handle from "
	"open_session: variables and files of its earlier calls are there\"},"
	"\"timeout_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600,"
	"\"description\":\"Seconds that the program may take (30)\"}}}";
static const char run_python_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"stdout\":{\"type\":\"string\"},"
	"\"stderr\":{\"type\":\"string\"},\"truncated\":{\"type\":\"boolean\"},"
	"\"withheld\":{\"type\":\"boolean\"},\"note\":{\"type\":\"string\"},"
	"\"exception\":{\"type\":\"object\"},\"error\":{\"type\":\"object\"},"
	"\"value\":{\"type\":\"object\"},\"session\":{\"type\":\"object\"},"
	"\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}}";
static const char submit_code_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"ticket\",\"code\"],"
	"\"properties\":{\"ticket\":{\"type\":\"string\",\"description\":\"From a result of "
	"run_plan with status needs_code\"},\"code\":{\"type\":\"string\",\"description\":\"The "
	"Python module that the prompt asked for, with transform(tables, params); an answer that "
	"holds one in a ```python block will do\"}}}";
static const char submit_code_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"needs_code\","
	"\"needs_approval\",\"failed\",\"running\"]},\"run_id\":{\"type\":\"string\"},"
	"\"outputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"ticket\":{\"type\":\"string\"},\"prompt\":{\"type\":\"string\"},"
	"\"attempts_left\":{\"type\":\"integer\"}}}";
static const char wait_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"run_id\"],"
	"\"properties\":{\"run_id\":{\"type\":\"string\",\"description\":\"From a result with "
	"status running\"},\"stop\":{\"type\":\"boolean\",\"description\":\"End the call instead "
	"of waiting for it (false)\"}}}";
static const char wait_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"done\",\"running\"]},"
	"\"run_id\":{\"type\":\"string\"},\"tool\":{\"type\":\"string\"},"
	"\"result\":{\"type\":\"object\"}}}";
static const char why_input[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"run\",\"column\"],"
	"\"properties\":{\"run\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Id of "
	"a run, or path of a file that a run wrote\"},\"column\":{\"type\":\"string\","
	"\"description\":\"Column of the result\"},\"row\":{\"type\":\"integer\",\"minimum\":1,"
	"\"description\":\"Row of the result, from 1 below the header\"},"
	"\"key\":{\"type\":\"object\",\"maxProperties\":64,"
	"\"additionalProperties\":{\"type\":\"string\"},\"description\":\"Instead of row: the "
	"one row with these cells, by column\"}}}";
static const char why_output[] =
	"{\"type\":\"object\",\"required\":[\"status\"],"
	"\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"ok\",\"failed\","
	"\"running\"]},\"run_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"why\":{\"type\":\"object\","
	"\"properties\":{\"run\":{\"type\":\"string\"},\"row\":{\"type\":\"integer\"},"
	"\"column\":{\"type\":\"string\"},\"class\":{\"type\":\"string\"},"
	"\"formula\":{\"type\":[\"string\",\"null\"]},\"cells\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}},\"decided_by\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}}}}}}";

/* --- wait --- */

/* Looks at the other call each time that something happens. */
enum dtx_code dtx_mcp_wait_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	const char *run_id = dtx_json_text(c->args, "run_id", "");
	struct dtx_mcp_call *other = dtx_mcp_call_find(c->server, run_id);
	enum dtx_code rc = DTX_OK;

	if (!other || other == c)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "the tool list has the runs that have ended",
		              "no call with this run_id is running, and no result of one waits");
	if (!other->finished) {
		if (dtx_now_ns() >= c->deadline_ns - c->server->answer_ns / 40)
			dtx_mcp_call_result(
				c, json_pack("{ss ss}", "status", "running", "run_id", run_id),
				NULL);
		goto out;
	}
	other->later = false; /* given away once, then removed */
	if (!other->result)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "correct it and call the tool again", "%s",
		              other->refused ? other->refused : "it was ended");
	dtx_mcp_call_result(c,
	                    json_pack("{ss ss ss sO}", "status", "done", "run_id", run_id, "tool",
	                              other->tool->name, "result", other->result),
	                    json_incref(other->content));
out:
	return rc;
}

enum dtx_code dtx_mcp_wait_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_call *other =
		dtx_mcp_call_find(c->server, dtx_json_text(c->args, "run_id", ""));

	if (other && json_is_true(json_object_get(c->args, "stop"))) {
		other->stopped = true;
		dtx_mcp_child_stop(&other->child);
	}
	return dtx_mcp_wait_ended(c, err);
}

/* --- the table --- */

const struct dtx_mcp_tool dtx_mcp_tools[] = {
	{ .name = "close_session",
	  .title = "Close a session",
	  .description = "Ends a session and frees its memory; its variables and files are lost.",
	  .input = close_session_input,
	  .output = close_session_output,
	  .idempotent = false,
	  .start = dtx_mcp_close_session_start,
	  .ended = dtx_mcp_close_session_ended },
	{ .name = "describe",
	  .title = "Describe a file",
	  .description = "Reads a file with a table, also .gz or .zst, as dtx would and lists its "
	                 "columns with their types, the number of nulls, sheets, repairs, what a "
	                 "plan should do about it, and steps for which there is approved code "
	                 "already. Reads all of the file. Shows no cell unless the server was "
	                 "started with --sample rows:N or all.",
	  .formats = true,
	  .input = describe_input,
	  .output = describe_output,
	  .read_only = true,
	  .idempotent = true,
	  .start = dtx_mcp_describe_start,
	  .ended = dtx_mcp_describe_ended },
	{ .name = "list",
	  .title = "List runs",
	  .description = "The latest recorded runs of this folder, newest first: id, status, "
	                 "times, output.",
	  .input = list_input,
	  .output = list_output,
	  .read_only = true,
	  .idempotent = true,
	  .start = dtx_mcp_list_start,
	  .ended = dtx_mcp_list_ended },
	{ .name = "open_session",
	  .title = "Open a session",
	  .description =
	          "Gives a handle for run_python: programs with it share their variables and "
	          "files. At most 8 are open; a session ends with a call that goes past a "
	          "limit, after 30 minutes without a call, after 24 hours, and with the "
	          "server.",
	  .input = open_session_input,
	  .output = open_session_output,
	  .start = dtx_mcp_open_session_start,
	  .ended = NULL },
	{ .name = "provenance",
	  .title = "Record of a run",
	  .description = "How a result came about: inputs with their hashes, steps with row "
	                 "counts, lineage of "
	                 "each column, outputs.",
	  .input = provenance_input,
	  .output = provenance_output,
	  .read_only = true,
	  .idempotent = true,
	  .start = dtx_mcp_provenance_start,
	  .ended = dtx_mcp_provenance_ended },
	{ .name = "replay",
	  .title = "Run it again",
	  .description = "Does a recorded run again on the recorded inputs and compares the "
	                 "results: identical, "
	                 "same-table, same-rows, close or different. Writes no output.",
	  .input = replay_input,
	  .output = replay_output,
	  .start = dtx_mcp_replay_start,
	  .ended = dtx_mcp_replay_ended },
	{ .name = "run_plan",
	  .title = "Run a plan",
	  .description =
	          "Runs a typed plan on files below the root and writes its result, at most 16 "
	          "outputs. "
	          "The outcome is ok; failed, with errors that name the place in the plan; "
	          "needs_code, if "
	          "a step is beyond the engine: write the module that the prompt asks for and call "
	          "submit_code with the ticket (3 attempts; the 64 latest tickets live until the "
	          "server "
	          "ends); or needs_approval, if code waits for a person. Takes as long as the data "
	          "need: "
	          "after 45 s, unless the server was started otherwise, the answer is running.",
	  .input = run_plan_input,
	  .output = run_plan_output,
	  .start = dtx_mcp_run_plan_start,
	  .ended = dtx_mcp_run_plan_ended },
	{ .name = "run_python",
	  .title = "Run Python in a jail",
	  .description = "Runs a program with pandas, numpy and, where Debian installed them, "
	                 "scipy, matplotlib, seaborn, statsmodels, sklearn and openpyxl: no "
	                 "network, no files but those given, 30 s and 1 GiB unless the settings "
	                 "say otherwise; "
	                 "state is kept between calls with a session. The value of the last "
	                 "expression comes back. Figures of matplotlib that are left open come "
	                 "back as images, "
	                 "PNG up to 1 MiB; stdout and stderr up to 64 KiB each. If it is given "
	                 "tables or files, "
	                 "its output and figures are withheld unless the server was started with "
	                 "--sample all.",
	  .input = run_python_input,
	  .output = run_python_output,
	  .start = dtx_mcp_run_python_start,
	  .ended = dtx_mcp_run_python_ended },
	{ .name = "submit_code",
	  .title = "Submit code for a step",
	  .description = "Gives the module for a step that needs code, checks it in the jail on "
	                 "the real data and "
	                 "runs the plan with it. New code needs the approval of a person "
	                 "(needs_approval) unless "
	                 "the host's settings say approve: auto; after dtx snippet approve call "
	                 "run_plan again. A "
	                 "failure gives class, type of exception and line.",
	  .input = submit_code_input,
	  .output = submit_code_output,
	  .start = dtx_mcp_submit_code_start,
	  .ended = dtx_mcp_run_plan_ended },
	{ .name = "wait",
	  .title = "Wait for a call",
	  .description = "Waits about as long for a call that was answered with running, and gives "
	                 "its result once "
	                 "(the 32 latest are kept), or ends it.",
	  .input = wait_input,
	  .output = wait_output,
	  .start = dtx_mcp_wait_start,
	  .ended = dtx_mcp_wait_ended },
	{ .name = "why",
	  .title = "Explain a cell",
	  .description = "Names the source cells that one cell of a result came from, and those "
	                 "that decided that "
	                 "its row is there.",
	  .input = why_input,
	  .output = why_output,
	  .read_only = true,
	  .idempotent = true,
	  .start = dtx_mcp_why_start,
	  .ended = dtx_mcp_why_ended },
};
const size_t dtx_mcp_ntools = DTX_COUNT(dtx_mcp_tools);
