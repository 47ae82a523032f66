/* Writes OpenLineage events: core specification 2-0-2 and its facets. */
#include "cli/report/openlineage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define OL_PRODUCER "urn:dtx:" DTX_VERSION
#define OL_SPEC     "https://openlineage.io/spec/"

void dtx_time_iso(int64_t us, char out[DTX_TIME_ISO])
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;
	size_t n = 0;

	if (gmtime_r(&s, &tm))
		n = strftime(out, DTX_TIME_ISO, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, DTX_TIME_ISO - n, ".%06dZ", (int)(us % 1000000));
}

/* --- facets --- */

/* The URL of a facet's definition: VERSION/NAME for a published one, only the name for dtx's
 * own. */
static json_t *ol_schema(const char *schema)
{
	const char *name = strchr(schema, '/');

	return name ? json_sprintf(OL_SPEC "facets/%s.json#/$defs/%s", schema, name + 1)
	            : json_sprintf("urn:dtx:facet:%s", schema);
}

/* Adds the two common members to `facet`, and adds it to `facets`; takes it. */
static void ol_add(json_t *facets, const char *name, const char *schema, json_t *facet)
{
	json_object_set_new(facet, "_producer", json_string(OL_PRODUCER));
	json_object_set_new(facet, "_schemaURL", ol_schema(schema));
	json_object_set_new(facets, name, facet);
}

static json_t *ol_plan_source(const json_t *record)
{
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan");
	const json_t *canonical = json_object_get(plan, "plan"), *region;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *facet = NULL;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		const char *code = dtx_json_text(json_object_get(region, "cell"), "code", NULL);

		if (code && !facet)
			facet = json_pack("{ss ss}", "language", "python", "sourceCode", code);
	}
	if (!facet && canonical) {
		dtx_json_canonical(canonical, &text);
		facet = json_pack("{ss ss}", "language", "json", "sourceCode", dtx_buf_text(&text));
	}
	dtx_buf_clear(&text);
	return facet;
}

static json_t *ol_job(const json_t *record)
{
	const json_t *run = json_object_get(record, "run"), *plan = json_object_get(run, "plan");
	const char *ns = dtx_json_text(run, "namespace", "default");
	const char *name = dtx_json_text(plan, "name", dtx_json_text(run, "command", "run"));
	json_t *facets = json_object(), *source = ol_plan_source(record);

	ol_add(facets, "jobType", "2-0-4/JobTypeJobFacet",
	       json_pack("{ss ss ss}", "processingType", "BATCH", "integration", "DTX", "jobType",
	                 "TRANSFORM"));
	if (source)
		ol_add(facets, "sourceCode", "1-0-1/SourceCodeJobFacet", source);
	return json_pack("{so so so}", "namespace",
	                 json_sprintf("dtx://%s", dtx_json_text(run, "host", "localhost")), "name",
	                 json_sprintf("%s/%s", ns, name), "facets", facets);
}

static json_t *ol_tests(const json_t *record)
{
	json_t *tests = json_array(), *row, *test;
	size_t i;

	json_array_foreach(json_object_get(record, "checks"), i, row)
	{
		test = json_pack("{ss ss ss}", "name", dtx_json_text(row, "name", ""), "status",
		                 dtx_json_text(row, "status", "skip"), "severity",
		                 dtx_json_text(row, "severity", "error"));
		if (dtx_json_text(row, "expected", NULL))
			json_object_set(test, "expected", json_object_get(row, "expected"));
		if (dtx_json_text(row, "actual", NULL))
			json_object_set(test, "actual", json_object_get(row, "actual"));
		json_array_append_new(tests, test);
	}
	return tests;
}

/* The arguments of the command line. */
static json_t *ol_parameters(const json_t *run)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(json_object_get(run, "argv"), i, one) json_array_append_new(
		list, json_pack("{so sO}", "key", json_sprintf("argv.%zu", i), "value", one));
	return list;
}

static json_t *ol_provenance(const json_t *record)
{
	const json_t *run = json_object_get(record, "run");
	const json_t *o = json_array_get(json_object_get(record, "outputs"), 0), *region;
	json_t *facet = json_pack("{ss? ss? ss?}", "path", dtx_json_text(run, "path", NULL),
	                          "tableHash", dtx_json_text(o, "table_hash", NULL), "head",
	                          dtx_json_text(json_object_get(record, "chain"), "head", NULL));
	json_t *code = json_array();
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		const char *hash =
			dtx_json_text(json_object_get(region, "cell"), "code_hash", NULL);

		if (hash)
			json_array_append_new(code, json_string(hash));
	}
	json_object_set_new(facet, "codeHashes", code);
	return facet;
}

static void ol_error(const json_t *run, json_t *facets)
{
	const char *code = dtx_json_text(run, "code", NULL);

	if (code)
		ol_add(facets, "errorMessage", "1-0-1/ErrorMessageRunFacet",
		       json_pack("{so ss}", "message",
		                 dtx_json_text(run, "at", NULL)
		                         ? json_sprintf("%s at %s", code,
		                                        dtx_json_text(run, "at", ""))
		                         : json_string(code),
		                 "programmingLanguage", "dtx plan"));
}

static json_t *ol_run(const json_t *record, bool end)
{
	const json_t *run = json_object_get(record, "run");
	const char *parent = dtx_json_text(run, "parent", NULL);
	json_t *facets = json_object();

	ol_add(facets, "processing_engine", "1-1-1/ProcessingEngineRunFacet",
	       json_pack("{ss ss ss}", "version",
	                 dtx_json_text(json_object_get(record, "env"), "dtx", DTX_VERSION), "name",
	                 "dtx", "openlineageAdapterVersion", DTX_VERSION));
	ol_add(facets, "executionParameters", "1-0-0/ExecutionParametersRunFacet",
	       json_pack("{so}", "parameters", ol_parameters(run)));
	if (parent && strlen(parent) == 36)
		ol_add(facets, "parent", "1-2-0/ParentRunFacet",
		       json_pack("{s{ss} s{so ss}}", "run", "runId", parent, "job", "namespace",
		                 json_sprintf("dtx://%s", dtx_json_text(run, "host", "localhost")),
		                 "name", "parent"));
	if (end) {
		ol_error(run, facets);
		if (json_array_size(json_object_get(record, "checks")))
			ol_add(facets, "test", "1-0-1/TestRunFacet",
			       json_pack("{so}", "tests", ol_tests(record)));
		ol_add(facets, "dtx_provenance", "provenance", ol_provenance(record));
	}
	return json_pack("{ss so}", "runId", dtx_json_text(run, "run_id", ""), "facets", facets);
}

/* --- data sets --- */

/* The absolute path; for a workbook, with its sheet. */
static json_t *ol_name(const json_t *item, const char *path)
{
	const char *sheet =
		dtx_json_text(json_object_get(item, "reader"), "sheet",
	                      dtx_json_text(json_object_get(item, "writer"), "sheet", NULL));
	const char *at = dtx_json_text(item, path, "-");

	return sheet ? json_sprintf("%s!%s", at, sheet) : json_string(at);
}

static json_t *ol_fields(const json_t *schema)
{
	json_t *list = json_array(), *field;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)schema, i, field) json_array_append_new(
		list, json_pack("{ss ss}", "name", dtx_json_text(field, "name", ""), "type",
	                        dtx_json_text(field, "type", "text")));
	return list;
}

static json_t *ol_facets(const json_t *item)
{
	json_t *facets = json_object();
	const json_t *schema = json_object_get(item, "schema");
	const char *sha = dtx_json_text(item, "sha", NULL);

	if (json_is_array(schema)) /* a run that failed early does not know the schema */
		ol_add(facets, "schema", "1-2-0/SchemaDatasetFacet",
		       json_pack("{so}", "fields", ol_fields(schema)));
	if (sha)
		ol_add(facets, "version", "1-0-1/DatasetVersionDatasetFacet",
		       json_pack("{so}", "datasetVersion",
		                 strchr(sha, ':') ? json_string(sha)
		                                  : json_sprintf("sha256:%s", sha)));
	return facets;
}

static json_t *ol_statistics(const json_t *item, const char *name, const char *schema)
{
	json_t *facets = json_object();
	json_t *facet = json_pack("{sI}", "size", (json_int_t)dtx_json_int(item, "bytes", 0));

	if (json_is_integer(json_object_get(item, "rows")))
		json_object_set_new(facet, "rowCount",
		                    json_integer((json_int_t)dtx_json_int(item, "rows", 0)));
	ol_add(facets, name, schema, facet);
	return facets;
}

static json_t *ol_inputs(const json_t *record)
{
	json_t *list = json_array(), *item;
	size_t i;

	json_array_foreach(json_object_get(record, "inputs"), i, item) json_array_append_new(
		list, json_pack("{ss so so so}", "namespace", "file", "name", ol_name(item, "uri"),
	                        "facets", ol_facets(item), "inputFacets",
	                        ol_statistics(item, "inputStatistics",
	                                      "1-0-0/InputStatisticsInputDatasetFacet")));
	return list;
}

/* --- columns --- */

/* An input field and the kind of its influence; NULL: not a source column. */
static json_t *ol_source(const json_t *record, const json_t *row)
{
	const char *alias = dtx_json_text(row, "alias", NULL);
	const char *subtype = dtx_json_text(row, "subtype", "");
	const char *formula = dtx_json_text(row, "composed", dtx_json_text(row, "formula", NULL));
	const json_t *inputs = json_object_get(record, "inputs");
	const json_t *input = alias ? dtx_json_find(inputs, "alias", alias) : NULL;
	json_t *name = input ? ol_name(input, "uri") : NULL, *how;

	if (!name || !dtx_json_text(row, "in_col", NULL)) {
		json_decref(name);
		return NULL;
	}
	how = json_pack("{ss ss sb}", "type", dtx_json_text(row, "type", "DIRECT"), "subtype",
	                subtype, "masking", 0);
	if (formula)
		json_object_set_new(how, "description", json_string(formula));
	return json_pack("{ss so ss s[o]}", "namespace", "file", "name", name, "field",
	                 dtx_json_text(row, "in_col", ""), "transformations", how);
}

static json_t *ol_columns(const json_t *record, size_t output)
{
	json_t *fields = json_object(), *rest = json_array(), *row;
	size_t i;

	json_array_foreach(json_object_get(record, "lineage"), i, row)
	{
		const char *column = dtx_json_text(row, "out_col", NULL);
		json_t *source, *list;

		if (dtx_json_int(row, "output", 0) != (int64_t)output)
			continue;
		source = ol_source(record, row);
		if (!source)
			continue;
		if (!column) {
			json_array_append_new(rest, source);
			continue;
		}
		list = json_object_get(json_object_get(fields, column), "inputFields");
		if (!list) {
			list = json_array();
			json_object_set_new(fields, column, json_pack("{so}", "inputFields", list));
		}
		json_array_append_new(list, source);
	}
	return json_pack("{so so}", "fields", fields, "dataset", rest);
}

static json_t *ol_outputs(const json_t *record)
{
	json_t *list = json_array(), *item, *facets;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, item)
	{
		facets = ol_facets(item);
		ol_add(facets, "columnLineage", "1-2-0/ColumnLineageDatasetFacet",
		       ol_columns(record, i));
		json_array_append_new(
			list, json_pack("{ss so so so}", "namespace", "file", "name",
		                        ol_name(item, "path"), "facets", facets, "outputFacets",
		                        ol_statistics(item, "outputStatistics",
		                                      "1-0-2/OutputStatisticsOutputDatasetFacet")));
	}
	return list;
}

/* --- events --- */

static void ol_event(const json_t *record, const char *type, int64_t us, struct dtx_buf *out)
{
	bool end = strcmp(type, "START") != 0, done = !strcmp(type, "COMPLETE");
	char when[DTX_TIME_ISO];
	json_t *event;

	dtx_time_iso(us, when);
	event = json_pack("{ss ss ss ss so so so so}", "eventType", type, "eventTime", when,
	                  "producer", OL_PRODUCER, "schemaURL",
	                  OL_SPEC "2-0-2/OpenLineage.json#/$defs/RunEvent", "run",
	                  ol_run(record, end), "job", ol_job(record), "inputs", ol_inputs(record),
	                  "outputs", done ? ol_outputs(record) : json_array());
	if (event)
		dtx_json_canonical(event, out);
	else
		out->fail = DTX_BUF_MEM;
	dtx_buf_addc(out, '\n');
	json_decref(event);
}

void dtx_openlineage_print(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *status = dtx_json_text(run, "status", "");

	ol_event(record, "START", dtx_json_int(run, "start_us", 0), out);
	if (!strcmp(status, "ok"))
		ol_event(record, "COMPLETE", dtx_json_int(run, "end_us", 0), out);
	else if (!strcmp(status, "failed"))
		ol_event(record, "FAIL", dtx_json_int(run, "end_us", 0), out);
	else if (strcmp(status, "running") != 0)
		ol_event(record, "ABORT", dtx_json_int(run, "end_us", 0), out);
}
