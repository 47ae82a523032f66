/* Resources: runs, their outputs, snippets, and the schema that a plan must follow. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/mcp/tools.h"
#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/text/base64.h"
#include "core/base/text/utf8.h"

#define CONTENT_MAX ((size_t)4 << 20)
#define SCHEMA_URI  "dtx://schema/plan"

const char dtx_mcp_resources[] =
	"[{\"uri\":\"" SCHEMA_URI "\",\"name\":\"plan-schema\",\"title\":\"Schema of plans\","
	"\"description\":\"JSON Schema of a plan, strict: a plan that fits it is well-formed\","
	"\"mimeType\":\"application/schema+json\"}]";
const char dtx_mcp_templates[] =
	"[{\"uriTemplate\":\"dtx://run/{run_id}\",\"name\":\"run\",\"title\":\"Record of a run\","
	"\"description\":\"Inputs, steps, lineage and outputs\",\"mimeType\":\"application/json\"},"
	"{\"uriTemplate\":\"dtx://run/{run_id}/out/{name}\",\"name\":\"output\","
	"\"title\":\"File that a run wrote\",\"description\":\"Its bytes, 4 MiB at most; only with "
	"--sample all, as it holds cells\"},"
	"{\"uriTemplate\":\"dtx://snippet/{id}/code\",\"name\":\"snippet\","
	"\"title\":\"Code of a snippet\",\"description\":\"The module, by its whole id\","
	"\"mimeType\":\"text/x-python\"}]";

enum stage { STAGE_SCHEMA, STAGE_RUN, STAGE_OUT, STAGE_SNIPPET };

void dtx_mcp_uri_out(const char *run_id, const char *name, struct dtx_buf *out)
{
	dtx_buf_printf(out, "dtx://run/%s/out/", run_id);
	for (; *name; name++) {
		if (isalnum((unsigned char)*name) || strchr("-._~/", *name))
			dtx_buf_addc(out, *name);
		else
			dtx_buf_printf(out, "%%%02X", (unsigned char)*name);
	}
}

static enum dtx_code missing(struct dtx_mcp_call *c, struct dtx_err *err)
{
	c->error = DTX_MCP_NO_RESOURCE;
	return dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "there is no such resource");
}

/* The id in "dtx://KIND/ID" or "dtx://KIND/ID/REST", copied; *rest is what follows it. */
static bool split_uri(const char *uri, const char *kind, char *id, size_t size, const char **rest)
{
	size_t n = strlen(kind), len;

	if (strncmp(uri, kind, n) != 0)
		return false;
	len = strcspn(uri + n, "/");
	if (!len || len >= size || strspn(uri + n, "0123456789abcdef-") < len)
		return false;
	memcpy(id, uri + n, len);
	id[len] = '\0';
	*rest = uri + n + len;
	return true;
}

enum dtx_code dtx_mcp_resource_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_argv a = { .n = 0 };
	char id[DTX_SHA256_HEX];
	const char *rest;

	if (!strcmp(c->uri, SCHEMA_URI)) {
		c->stage = STAGE_SCHEMA;
		dtx_mcp_argv_words(&a, "schema --strict --errors json");
		return dtx_mcp_call_spawn(c, &a, err);
	}
	if (split_uri(c->uri, "dtx://snippet/", id, sizeof(id), &rest) && !strcmp(rest, "/code") &&
	    strlen(id) >= 16) {
		c->stage = STAGE_SNIPPET;
		dtx_mcp_argv_words(&a, "snippet show --code --errors json");
		dtx_mcp_argv_add(&a, id);
		return dtx_mcp_call_spawn(c, &a, err);
	}
	if (split_uri(c->uri, "dtx://run/", id, sizeof(id), &rest) &&
	    strlen(id) == DTX_RUN_ID - 1 && (!*rest || !strncmp(rest, "/out/", 5))) {
		enum dtx_code rc = dtx_mcp_record_start(c, id, err);

		c->stage = *rest ? STAGE_OUT : STAGE_RUN;
		return rc;
	}
	return missing(c, err);
}

/* Finishes with the bytes, as text if they are UTF-8. */
static void end_with(struct dtx_mcp_call *c, struct dtx_str bytes, const char *type)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *one = json_pack("{ss ss}", "uri", c->uri, "mimeType", type);

	if (dtx_utf8_bad(bytes.ptr, bytes.len) < 0 && !memchr(bytes.ptr, 0, bytes.len)) {
		json_object_set_new(one, "text", json_stringn(bytes.ptr, bytes.len));
	} else {
		dtx_base64_put(bytes, &text);
		json_object_set_new(one, "blob", json_string(dtx_buf_text(&text)));
	}
	dtx_buf_clear(&text);
	dtx_mcp_call_result(c, json_pack("[o]", one), NULL);
}

static const char *type_of(const char *path)
{
	static const struct {
		const char *end, *type;
	} types[] = {
		{ ".csv", "text/csv" },          { ".tsv", "text/tab-separated-values" },
		{ ".json", "application/json" }, { ".png", "image/png" },
		{ ".html", "text/html" },        { ".md", "text/markdown" },
		{ ".txt", "text/plain" },        { ".jsonl", "application/x-ndjson" },
	};

	for (size_t i = 0; i < DTX_COUNT(types); i++)
		if (dtx_str_ends(dtx_str_of(path), dtx_str_of(types[i].end)))
			return types[i].type;
	return "application/octet-stream";
}

static enum dtx_code end_run(struct dtx_mcp_call *c, const json_t *record, struct dtx_err *err)
{
	const struct dtx_mcp_policy *p = &c->server->policy;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *shown = p->all ? json_deep_copy(record) : dtx_mcp_show_record(p, record);

	dtx_json_print(shown, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "record", err));
	end_with(c, dtx_buf_str(&text), "application/json");
out:
	dtx_buf_clear(&text);
	json_decref(shown);
	return rc;
}

/* The output whose link is the uri; NULL. */
static const json_t *find_output(const struct dtx_mcp_call *c, const json_t *record)
{
	const char *id = dtx_json_text(json_object_get(record, "run"), "run_id", "");
	struct dtx_buf uri = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *item, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, item)
	{
		const char *path = dtx_json_text(item, "path", ""), *name = path + strlen(path);

		/* a file of a program may be in a folder: any end of the path that is whole names
		 */
		for (; name > path && !found; name--) {
			if (name[-1] != '/')
				continue;
			dtx_buf_reset(&uri);
			dtx_mcp_uri_out(id, name, &uri);
			if (!strcmp(dtx_buf_text(&uri), c->uri))
				found = item;
		}
	}
	dtx_buf_clear(&uri);
	return found;
}

static enum dtx_code end_out(struct dtx_mcp_call *c, const json_t *record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *output = find_output(c, record);
	const char *path = dtx_json_text(output, "path", "");
	struct dtx_buf bytes = DTX_BUF_INIT(CONTENT_MAX);
	char sha[DTX_SHA256_HEX];
	struct stat st;

	if (!output || !dtx_mcp_path_inside(c->server, path) || lstat(path, &st) ||
	    !S_ISREG(st.st_mode))
		return missing(c, err);
	c->error = DTX_MCP_NO_RESOURCE;
	if (!c->server->policy.all)
		DTX_FAIL_NEXT(err, DTX_E_USAGE,
		              "the person who started the server can allow it with --sample all",
		              "the file is there, and its cells are withheld");
	if (dtx_file_slurp(path, &bytes, err) != DTX_OK)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "open its path, if it is there",
		              "the file has more than %zu MiB, or is gone", CONTENT_MAX >> 20);
	dtx_sha256_hex(bytes.ptr, bytes.len, sha);
	if (strcmp(sha, dtx_json_text(output, "sha", "")) != 0)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "run the plan again",
		              "the file is not as the run wrote it");
	end_with(c, dtx_buf_str(&bytes), type_of(path));
out:
	dtx_buf_clear(&bytes);
	return rc;
}

enum dtx_code dtx_mcp_resource_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *record = NULL;

	if (c->stage == STAGE_SCHEMA || c->stage == STAGE_SNIPPET) {
		if (c->child.status)
			return missing(c, err);
		end_with(c, dtx_buf_str(&c->child.stdout_text),
		         c->stage == STAGE_SCHEMA ? "application/schema+json" : "text/x-python");
		return DTX_OK;
	}
	c->error = DTX_MCP_NO_RESOURCE;
	DTX_TRY(dtx_mcp_record_ended(c, &record, err));
	rc = c->stage == STAGE_RUN ? end_run(c, record, err) : end_out(c, record, err);
out:
	json_decref(record);
	return rc;
}
