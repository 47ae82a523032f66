/* JSON Schema (2020-12) of `dtx explain --json`. */
#include "core/plan/exec/exec.h"

#define NULLABLE(type) "{\"type\":[\"" type "\",\"null\"]}"
#define COUNT          "{\"type\":\"integer\",\"minimum\":0}"
#define COUNT_OR_NULL  "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"
#define CODES          "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
/* An object with exactly these members; the arguments are JSON texts. */
#define OBJECT(props, required)                                                                    \
	"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" props "},"          \
	"\"required\":[" required "]}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item "}"
#define MAYBE(s)   "{\"anyOf\":[" s ",{\"type\":\"null\"}]}"
#define TEXT       "{\"type\":\"string\"}"

/* clang-format off */
/* In parts, as C compilers need not accept longer string literals. */
static const char *const explain_schema[] = {
"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"dtx explain\","
"\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
"\"id\":" TEXT ",\"name\":" NULLABLE("string") ","
"\"phase\":{\"enum\":[\"static\",\"bound\",\"run\"]},"
"\"threads\":" COUNT ",\"memory_limit\":" COUNT_OR_NULL ","
"\"inputs\":" LIST(OBJECT(
	"\"name\":" TEXT ",\"path\":" NULLABLE("string") ",\"reader\":" NULLABLE("string") ","
	"\"found\":" NULLABLE("object") ","
	"\"columns\":" MAYBE(LIST(OBJECT(
		"\"name\":" TEXT ",\"type\":" TEXT ","
		"\"evidence\":{\"enum\":[\"declared\",\"sample\",\"all values\",\"snippet\","
		"\"used so by the steps\"]},"
		"\"format\":" NULLABLE("string") ",\"need\":{\"enum\":[\"skip\",\"bytes\",\"value\"]}",
		"\"name\",\"type\",\"evidence\",\"format\",\"need\""))) ","
	"\"open\":{\"type\":\"boolean\"},\"threads\":" COUNT ","
	"\"needs_snippet\":" NULLABLE("string") ",\"may_fall_back\":" CODES ","
	"\"counts\":" MAYBE(OBJECT(
		"\"rows_read\":" COUNT ",\"rows_out\":" COUNT ",\"stopped_early\":{\"type\":\"boolean\"}",
		"\"rows_read\",\"rows_out\",\"stopped_early\"")),
	"\"name\",\"path\",\"reader\",\"found\",\"columns\",\"open\",\"threads\",\"needs_snippet\","
	"\"may_fall_back\",\"counts\"")) ","
"\n",
"\"steps\":" LIST(OBJECT(
	"\"step\":" COUNT ",\"written\":" COUNT_OR_NULL ",\"op\":" TEXT ","
	"\"kind\":{\"enum\":[\"map\",\"sink\",\"whole\",\"snippet\"]},"
	"\"text\":" TEXT ",\"note\":" NULLABLE("string") ",\"out\":" NULLABLE("string") ","
	"\"columns\":" MAYBE(LIST(OBJECT("\"name\":" TEXT ",\"type\":" TEXT, "\"name\",\"type\""))) ","
	"\"open\":{\"type\":\"boolean\"},\"pipeline\":" COUNT_OR_NULL ","
	"\"in_reader_of\":" NULLABLE("string") ",\"needs_snippet\":" NULLABLE("string") ","
	"\"may_fall_back\":" CODES ",\"fallback_off\":{\"type\":\"boolean\"},"
	"\"counts\":" MAYBE(OBJECT(
		"\"rows_in\":" COUNT ",\"rows_out\":" COUNT ",\"ns\":" COUNT ","
		"\"stopped_early\":{\"type\":\"boolean\"},"
		"\"memory_bytes\":" COUNT_OR_NULL ",\"spilled_bytes\":" COUNT ","
		"\"reasons\":{\"type\":\"object\",\"additionalProperties\":" COUNT "}",
		"\"rows_in\",\"rows_out\",\"stopped_early\",\"ns\",\"memory_bytes\",\"spilled_bytes\",\"reasons\"")) ","
	"\"canonical\":{\"type\":\"object\"}",
	"\"step\",\"written\",\"op\",\"kind\",\"text\",\"note\",\"out\",\"columns\",\"open\",\"pipeline\","
	"\"in_reader_of\",\"needs_snippet\",\"may_fall_back\",\"fallback_off\",\"counts\","
	"\"canonical\"")) ","
"\n",
"\"pipelines\":" LIST(OBJECT(
	"\"legs\":" LIST(OBJECT(
		"\"from\":{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":1,"
		"\"additionalProperties\":false,\"properties\":{\"input\":" TEXT ",\"step\":" COUNT "}},"
		"\"steps\":" LIST(COUNT) ",\"filter_in_reader\":" COUNT_OR_NULL ","
		"\"rows_wanted\":" COUNT_OR_NULL ",\"rows_wanted_by\":" COUNT_OR_NULL
		",\"fragments\":" COUNT ",\"steps_in_fragments\":" COUNT ",\"step_by_keys\":" COUNT_OR_NULL,
		"\"from\",\"steps\",\"filter_in_reader\",\"rows_wanted\",\"rows_wanted_by\","
		"\"fragments\",\"steps_in_fragments\",\"step_by_keys\"")) ","
	"\"end\":{\"enum\":[\"output\",\"sink\",\"whole\",\"table\",\"snippet\",\"nowhere\"]},"
	"\"step\":" COUNT_OR_NULL ",\"output\":" COUNT_OR_NULL,
	"\"legs\",\"end\",\"step\",\"output\"")) ","
"\"formulas\":" LIST(OBJECT(
	"\"column\":" TEXT ",\"formula\":" TEXT ",\"composed\":" TEXT,
	"\"column\",\"formula\",\"composed\"")) ","
"\"run\":" MAYBE(OBJECT(
	"\"ns\":" COUNT ",\"memory_bytes\":" COUNT ",\"restarts\":" COUNT,
	"\"ns\",\"memory_bytes\",\"restarts\"")) "},"
"\"required\":[\"id\",\"name\",\"phase\",\"threads\",\"memory_limit\",\"inputs\",\"steps\","
"\"pipelines\",\"formulas\",\"run\"]}",
};
/* clang-format on */

json_t *dtx_explain_schema(void)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out;

	for (size_t i = 0; i < DTX_COUNT(explain_schema); i++)
		dtx_buf_add(&text, explain_schema[i]);
	out = json_loads(dtx_buf_text(&text), 0, NULL);
	dtx_buf_clear(&text);
	return out;
}
