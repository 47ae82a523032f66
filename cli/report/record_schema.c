/* The JSON Schema of a record, see record_schema.h. */
#include "cli/report/record_schema.h"

#define TEXT        "{\"type\":\"string\"}"
#define MAYBE_TEXT  "{\"type\":[\"string\",\"null\"]}"
#define INT         "{\"type\":\"integer\"}"
#define COUNT       "{\"type\":\"integer\",\"minimum\":0}"
#define MAYBE_COUNT "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"
#define BOOL        "{\"type\":\"boolean\"}"
#define ANY_OBJECT  "{\"type\":[\"object\",\"null\"]}"
#define SHA         "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{64}$\"}"
#define FILE_SHA                                                                                   \
	"{\"type\":\"string\",\"pattern\":\"^((fsverity:)?[0-9a-f]{64}|xxh3:[0-9a-f]{32})$\"}"
#define FILE_STATE "{\"enum\":[\"unchanged\",\"changed\",\"gone\",\"not kept\",\"unreadable\"]}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item "}"
/* An object with properties, and the list of those that are always there. */
#define OBJECT(props, required)                                                                    \
	"{\"type\":\"object\",\"properties\":{" props "},\"required\":[" required "]}"
#define SCHEMA_OF_TABLE LIST(OBJECT("\"name\":" TEXT ",\"type\":" TEXT, "\"name\",\"type\""))

/* clang-format off */
/* In pieces, because a compiler need not accept longer string literals. */
static const char *const record_schema[] = {
"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"dtx record\","
"\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
"\"dtx_record\":{\"const\":1},"
"\"run\":" OBJECT(
	"\"run_id\":{\"type\":\"string\",\"format\":\"uuid\"},"
	"\"short\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{8}$\"},"
	"\"status\":{\"enum\":[\"ok\",\"failed\",\"cancelled\",\"abandoned\",\"running\"]},"
	"\"path\":" MAYBE_TEXT ",\"code\":" MAYBE_TEXT ",\"exit\":" INT ",\"command\":" TEXT ","
	"\"namespace\":" TEXT ",\"argv\":" LIST(TEXT) ",\"cwd\":" TEXT ",\"host\":" TEXT ","
	"\"user\":" TEXT ",\"user_env\":" TEXT ",\"start_us\":" COUNT ",\"end_us\":" COUNT ",\"env_hash\":" SHA ","
	"\"plan_hash\":" MAYBE_TEXT ",\"plan\":" ANY_OBJECT ",\"replay_of\":" MAYBE_TEXT ",\"parent\":" MAYBE_TEXT ","
	"\"engine\":" ANY_OBJECT ",\"threads\":" COUNT ",\"peak_bytes\":" COUNT ",\"message\":" MAYBE_TEXT ",\"at\":" MAYBE_TEXT ","
	"\"warnings\":" LIST(OBJECT("\"code\":" TEXT ",\"count\":" COUNT ",\"at_least\":" BOOL ",\"column\":" MAYBE_TEXT ",\"at\":" MAYBE_TEXT "",
		"\"code\",\"count\"")),
	"\"run_id\",\"short\",\"status\"") ",",
"\"inputs\":" LIST(OBJECT(
	"\"ord\":" COUNT ",\"alias\":" TEXT ",\"uri\":" TEXT ",\"label\":" TEXT ",\"sha\":" FILE_SHA ","
	"\"bytes\":" COUNT ",\"mtime_us\":" INT ",\"mark\":" TEXT ",\"sha_run\":" TEXT ",\"reader\":" ANY_OBJECT ",\"rows\":" MAYBE_COUNT ","
	"\"columns\":" MAYBE_COUNT ",\"schema\":{\"anyOf\":[{\"type\":\"null\"}," SCHEMA_OF_TABLE "]},"
	"\"profile\":" LIST("{\"type\":\"object\"}") ",\"file\":" FILE_STATE,
	"\"ord\",\"alias\",\"uri\",\"label\",\"sha\",\"bytes\",\"rows\"") ) ","
"\"steps\":" LIST(OBJECT(
	"\"idx\":" COUNT ",\"op\":" TEXT ",\"rows_in\":" INT ",\"rows_out\":" INT ","
	"\"dur_us\":" COUNT ",\"detail\":" OBJECT(
		"\"counts\":{\"type\":\"object\",\"additionalProperties\":" COUNT "},"
		"\"kind\":" TEXT ",\"rescued\":" BOOL ",\"stopped_early\":" BOOL, "\"counts\",\"kind\",\"rescued\""),
	"\"idx\",\"op\",\"rows_in\",\"rows_out\",\"detail\"") ) ","
"\"regions\":" LIST(OBJECT(
	"\"idx\":" COUNT ",\"pointer\":" TEXT ",\"code\":" TEXT ",\"rung\":" TEXT ","
	"\"cell_id\":" MAYBE_TEXT ",\"attempts\":" COUNT ",\"class\":" MAYBE_TEXT ",\"jail\":" ANY_OBJECT ","
	"\"cell\":" ANY_OBJECT,
	"\"idx\",\"pointer\",\"code\"") ) ",",
"\"checks\":" LIST(OBJECT(
	"\"idx\":" COUNT ",\"name\":" TEXT ",\"severity\":{\"enum\":[\"error\",\"warn\"]},"
	"\"status\":{\"enum\":[\"pass\",\"fail\",\"skip\"]},\"col\":" MAYBE_TEXT "",
	"\"idx\",\"name\",\"severity\",\"status\"") ) ","
"\"lineage\":" LIST(OBJECT(
	"\"output\":" COUNT ",\"out_col\":" MAYBE_TEXT ",\"alias\":" MAYBE_TEXT ",\"in_col\":" MAYBE_TEXT ","
	"\"type\":{\"enum\":[\"DIRECT\",\"INDIRECT\"]},"
	"\"subtype\":{\"enum\":[\"IDENTITY\",\"TRANSFORMATION\",\"AGGREGATION\",\"FILTER\",\"JOIN\","
	"\"GROUP_BY\",\"SORT\",\"WINDOW\",\"CONDITION\"]},"
	"\"formula\":" MAYBE_TEXT ",\"composed\":" MAYBE_TEXT ",\"class\":" MAYBE_TEXT "",
	"\"output\",\"type\",\"subtype\"") ) ","
"\"outputs\":" LIST(OBJECT(
	"\"ord\":" COUNT ",\"path\":" TEXT ",\"temp\":" MAYBE_TEXT ",\"atomic\":" BOOL ",\"writer\":" ANY_OBJECT ","
	"\"sha\":" SHA ",\"bytes\":" COUNT ","
	"\"table_hash\":{\"type\":\"string\",\"pattern\":\"^t1:[0-9a-f]{64}$\"},"
	"\"rows_hash\":{\"type\":\"string\",\"pattern\":\"^r1:[0-9a-f]{32}:[0-9]+$\"},"
	"\"rows\":" COUNT ",\"columns\":" COUNT ",\"schema\":" SCHEMA_OF_TABLE ","
	"\"stats\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"object\"}},\"lineage\":{\"const\":\"rows\"},\"lineage_hash\":" SHA ",\"file\":" FILE_STATE,
	"\"ord\",\"path\",\"sha\",\"bytes\",\"table_hash\",\"rows_hash\",\"rows\",\"schema\"") ) ",",
"\"events\":" LIST(OBJECT(
	"\"seq\":{\"type\":\"integer\",\"minimum\":1},\"ts_us\":" COUNT ",\"kind\":" TEXT ","
	"\"body\":{\"type\":\"object\"}", "\"seq\",\"ts_us\",\"kind\"") ) ","
"\"author\":" LIST("{\"type\":\"object\"}") ","
"\"session\":" OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"call\":" COUNT ",\"calls\":" LIST(OBJECT(
	"\"call\":" COUNT ",\"run_id\":" TEXT ",\"short\":" TEXT ",\"status\":" TEXT ",\"start_us\":" COUNT,
	"\"call\",\"run_id\",\"status\"") ), "\"id\",\"name\",\"call\",\"calls\"") ",",
"\"env\":{\"type\":\"object\"},\"model\":{\"type\":\"object\"},"
"\"chain\":" OBJECT(
	"\"seq_start\":" COUNT ",\"seq_end\":" COUNT ","
	"\"head\":{\"type\":\"string\",\"pattern\":\"^dtx1:[0-9]+:[0-9a-f]{64}$\"}",
	"\"seq_start\",\"seq_end\",\"head\"") ","
"\"found\":" OBJECT("\"output\":" COUNT ",\"file_changed\":" BOOL ",\"others\":" COUNT ",\"asked\":" TEXT,
	"\"output\",\"file_changed\",\"others\"") "},"
"\"required\":[\"dtx_record\",\"run\",\"inputs\",\"steps\",\"regions\",\"checks\",\"lineage\","
"\"outputs\",\"events\",\"author\",\"chain\"]}",
};
/* clang-format on */

json_t *dtx_record_schema(void)
{
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *schema = NULL;

	for (size_t i = 0; i < DTX_COUNT(record_schema); i++)
		dtx_buf_add(&text, record_schema[i]);
	if (dtx_buf_ok(&text) &&
	    dtx_json_parse((struct dtx_str){ text.ptr, text.len }, limits, &schema, NULL) != DTX_OK)
		schema = NULL;
	dtx_buf_clear(&text);
	return schema;
}
