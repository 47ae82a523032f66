/* Jobs as JSON and back, see job.h. */
#include "core/cluster/job.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/io/isolate/isolate.h"
#include "core/plan/parse/expand_globs.h"

#define JOB_MAX ((size_t)256 << 20)

/* --- writing --- */

/* The step that puts the files of one input one after the other; NULL: input i is a single file. */
static const struct dtx_plan_step *files_step(const struct dtx_plan *p, uint32_t i)
{
	for (uint32_t s = 0; s < p->nsteps && p->step[s].number < 0; s++)
		if (p->step[s].table[0] == (int32_t)i && p->step[s].op &&
		    p->step[s].op->facts.rows == DTX_ROWS_UNION)
			return &p->step[s];
	return NULL;
}

/* For each input as the plan has it: null, or its files, [path, shown, sheet] each. */
static json_t *files_json(const struct dtx_plan *p)
{
	json_t *list = json_array();
	bool ok = list != NULL;

	for (uint32_t i = 0; ok && i < p->ninputs;) {
		const struct dtx_plan_step *st = files_step(p, i);
		uint32_t n = st ? st->ntables : 1;
		json_t *files = st ? json_array() : json_null();

		for (uint32_t k = 0; st && ok && k < n; k++)
			ok = !json_array_append_new(files,
			                            json_pack("[s? s? s?]", p->input[i + k].path,
			                                      p->input[i + k].shown,
			                                      p->input[i + k].opts.sheet));
		ok = !json_array_append_new(list, files) && ok;
		i += n;
	}
	if (!ok) {
		json_decref(list);
		list = NULL;
	}
	return list;
}

static json_t *input_json(const struct dtx_graph *g, uint32_t i)
{
	const struct dtx_schema *schema = g->flow.table[i].schema;
	const struct dtx_source *src = g->opts->input ? g->opts->input[i] : NULL;
	char *path = g->plan->input[i].path ? dtx_file_absolute(g->plan->input[i].path) : NULL;
	json_t *o =
		json_pack("{ss? ss? sI sI so* so*}", "path", path, "shown", g->plan->input[i].path,
	                  "size", (json_int_t)(src ? dtx_source_size(src) : 0), "mtime_us",
	                  (json_int_t)(src ? dtx_source_mtime_us(src) : -1), "read",
	                  dtx_isolate_opts_json(&g->read[i]), "schema",
	                  schema ? dtx_isolate_schema_json(schema) : NULL);

	dtx_mem_free(path);
	return o;
}

static json_t *inputs_json(const struct dtx_graph *g)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < g->plan->ninputs; i++)
		if (json_array_append_new(list, input_json(g, i))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

static json_t *need_json(const struct dtx_graph *g, int32_t table)
{
	const uint8_t *need = g->push.need[table];
	uint32_t n = g->flow.table[table].schema->nfields;
	char *text = dtx_mem_alloc(n + 1u, 1);
	json_t *o;

	for (uint32_t c = 0; text && c < n; c++)
		text[c] = (char)('0' + need[c]);
	o = text ? json_stringn(text, n) : NULL;
	dtx_mem_free(text);
	return o;
}

json_t *dtx_job_json(const struct dtx_graph *g, int32_t table, int32_t early, int32_t sink,
                     const struct dtx_spread_text *text, json_t *sides, json_t *more)
{
	const struct dtx_plan *p = g->plan;
	/* a digest needs all that its input has; the columns of the result may not be known yet */
	bool digest = sink >= 0 && g->flow.bind[sink]->digest;
	int32_t end = sink < 0 || digest ? table : (int32_t)p->ninputs + sink;
	json_t *source = json_stringn(p->source.len ? p->source.ptr : "", p->source.len);
	uint64_t first = early >= 0 && g->step[early].ox ? g->step[early].ox[0].first_rows : 0;

	json_t *job;

	job = json_pack("{ss so ss so? so so si si sI si so so si si so?}", "dtx", DTX_VERSION,
	                "plan", source, "id", p->id, "params", json_incref(p->param_values),
	                "files", files_json(p), "inputs", inputs_json(g), "table", (int)table,
	                "early", (int)early, "first_rows", (json_int_t)first, "sink", (int)sink,
	                "need", need_json(g, end), "sides", sides, "run_date", (int)g->run.run_date,
	                "batch_rows", (int)g->opts->batch_rows, "write",
	                text ? dtx_write_opts_json(text->opts) : json_null());
	if (job && more && json_object_update_missing(job, more)) {
		json_decref(job);
		job = NULL;
	}
	json_decref(more);
	return job;
}

/* --- reading --- */

#define NOT_A_JOB(err) DTX_FAIL((err), DTX_E_CORRUPT_FILE, "the job is not one of dtx " DTX_VERSION)

static enum dtx_code expand(struct dtx_job *job, const json_t *files, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_array_size(files) != job->plan->ninputs)
		NOT_A_JOB(err);
	/* from the last to the first: expanding an input moves only those after it */
	for (uint32_t i = job->plan->ninputs; i-- > 0;) {
		const json_t *list = json_array_get(files, i);
		size_t n = json_array_size(list);
		struct dtx_plan_file *file = dtx_arena_zalloc(&job->arena, n + 1, sizeof(*file));

		if (!file)
			DTX_FAIL_MEM(err);
		for (size_t k = 0; k < n; k++) {
			const json_t *one = json_array_get(list, k);

			file[k].path = json_string_value(json_array_get(one, 0));
			file[k].shown = json_string_value(json_array_get(one, 1));
			file[k].sheet = json_string_value(json_array_get(one, 2));
		}
		if (n)
			DTX_TRY(dtx_expand_input(job->plan, i, file, n, &job->findings, err));
	}
out:
	return rc;
}

static enum dtx_code open_plan(struct dtx_job *job, struct dtx_err *err)
{
	const json_t *text = json_object_get(job->json, "plan");
	struct dtx_str source = { json_string_value(text), json_string_length(text) };
	enum dtx_code rc = DTX_OK;

	if (!source.len)
		DTX_TRY(dtx_plan_empty(&job->plan, err));
	else
		DTX_TRY(dtx_plan_parse_with(source, NULL, json_object_get(job->json, "params"),
		                            &job->findings, &job->plan, err));
	DTX_TRY(dtx_plan_check(job->plan, &job->findings, err));
	DTX_TRY(expand(job, json_object_get(job->json, "files"), err));
	if (strcmp(job->plan->id, dtx_json_text(job->json, "id", "")) != 0 ||
	    json_array_size(json_object_get(job->json, "inputs")) != job->plan->ninputs)
		NOT_A_JOB(err);
out:
	return rc;
}

static enum dtx_code open_input(struct dtx_job *job, uint32_t i, struct dtx_err *err)
{
	const json_t *o = json_array_get(json_object_get(job->json, "inputs"), i);
	const json_t *fields = json_object_get(o, "schema");
	struct dtx_schema *schema = dtx_arena_zalloc(&job->arena, 1, sizeof(*schema));
	enum dtx_code rc = DTX_OK;

	if (!schema)
		DTX_FAIL_MEM(err);
	if (!dtx_isolate_opts_read(json_object_get(o, "read"), &job->arena, &job->read[i]))
		NOT_A_JOB(err);
	job->plan->input[i].opts = job->read[i];
	job->plan->input[i].path = dtx_json_text(o, "path", NULL);
	if (fields) {
		DTX_TRY(dtx_isolate_schema_read(fields, &job->arena, schema, err));
		job->schema[i] = schema;
	}
out:
	return rc;
}

enum dtx_code dtx_job_open(struct dtx_job *job, struct dtx_str text, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = JOB_MAX, .depth = 64 };
	const char *need;
	enum dtx_code rc = DTX_OK;

	*job = (struct dtx_job){ .early = -1, .sink = -1 };
	DTX_TRY(dtx_json_parse(text, limits, &job->json, err));
	if (strcmp(dtx_json_text(job->json, "dtx", ""), DTX_VERSION) != 0)
		NOT_A_JOB(err);
	DTX_TRY(open_plan(job, err));
	job->read = dtx_arena_zalloc(&job->arena, job->plan->ninputs + 1u, sizeof(*job->read));
	job->schema = dtx_arena_zalloc(&job->arena, job->plan->ninputs + 1u,
	                               sizeof(const struct dtx_schema *));
	need = dtx_json_text(job->json, "need", "");
	job->nneed = (uint32_t)strlen(need);
	job->need = dtx_arena_zalloc(&job->arena, job->nneed + 1u, 1);
	if (!job->read || !job->schema || !job->need)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < job->nneed; c++)
		job->need[c] = (uint8_t)(need[c] - '0');
	for (uint32_t i = 0; i < job->plan->ninputs; i++)
		DTX_TRY(open_input(job, i, err));
	job->table = (int32_t)dtx_json_int(job->json, "table", -1);
	job->sink = (int32_t)dtx_json_int(job->json, "sink", -1);
	job->early = (int32_t)dtx_json_int(job->json, "early", -1);
	job->first_rows = (uint64_t)dtx_json_int(job->json, "first_rows", 0);
	job->run_date = (int32_t)dtx_json_int(job->json, "run_date", 0);
	job->batch_rows = (uint32_t)dtx_json_int(job->json, "batch_rows", 0);
	dtx_write_opts_read(json_object_get(job->json, "write"), &job->write);
	if (job->write.format)
		job->writer = dtx_writer_find(job->write.format, NULL);
	if (job->table < 0 || (uint32_t)job->table >= job->plan->ninputs + job->plan->nsteps ||
	    job->early >= (int32_t)job->plan->nsteps || job->sink >= (int32_t)job->plan->nsteps)
		NOT_A_JOB(err);
out:
	return rc;
}

void dtx_job_clear(struct dtx_job *job)
{
	dtx_plan_free(job->plan);
	dtx_errlist_clear(&job->findings);
	json_decref(job->json);
	dtx_arena_clear(&job->arena);
	*job = (struct dtx_job){ .early = -1, .sink = -1 };
}

enum dtx_code dtx_job_input_same(const struct dtx_job *job, uint32_t i,
                                 const struct dtx_source *src, struct dtx_err *err)
{
	const json_t *o = json_array_get(json_object_get(job->json, "inputs"), i);
	enum dtx_code rc = DTX_OK;

	if ((int64_t)dtx_source_size(src) != dtx_json_int(o, "size", -1) ||
	    dtx_source_mtime_us(src) != dtx_json_int(o, "mtime_us", 0))
		DTX_FAIL(err, DTX_E_INPUT_CHANGED, "'%s' is not the file that the run began with",
		         dtx_json_text(o, "path", ""));
	DTX_TRY(dtx_source_unchanged(src, err));
out:
	return rc;
}
