/* Writes PROV-JSON: entities (files, plan, code), one activity (the run), and its agents. */
#include "cli/report/provjson.h"

#include <stdio.h>
#include <string.h>

#include "cli/report/openlineage.h"
#include "core/base/hash/identity.h"

/* Names are dtx:KIND-HASH, so that equal things have equal names in all documents. */
static json_t *prov_file(const json_t *item, const char *path)
{
	const char *sha = dtx_json_text(item, "sha", "");
	const json_t *rows = json_object_get(item, "rows");
	json_t *counted = NULL; /* a run that failed may not have counted them */
	json_t *file;
	char key[24];

	if (json_is_integer(rows))
		counted = json_pack("{ss sI}", "type", "xsd:long", "$", json_integer_value(rows));
	file = json_pack("{ss ss s{ss sI} so*}", "prov:type", "dtx:File", "dtx:path",
	                 dtx_json_text(item, path, "-"), "dtx:bytes", "type", "xsd:long", "$",
	                 (json_int_t)dtx_json_int(item, "bytes", 0), "dtx:rows", counted);
	snprintf(key, sizeof(key), "dtx:%s", dtx_identity_word(sha));
	json_object_set_new(file, key, json_string(dtx_identity_digits(sha)));
	return file;
}

static void prov_name(const char *kind, const char *hash, struct dtx_buf *out)
{
	dtx_buf_reset(out);
	dtx_buf_printf(out, "dtx:%s-%s", kind, hash);
}

/* Names a file by the digits of its hash; hashes of different kinds do not collide. */
static void prov_file_name(const json_t *item, struct dtx_buf *out)
{
	prov_name("file", dtx_identity_digits(dtx_json_text(item, "sha", "")), out);
}

struct prov {
	const json_t *record;
	json_t *entity, *used, *made, *derived;
	struct dtx_buf name, other;
	size_t n;
};

/* Adds a relation under the next name, such as "_:r1". */
static void prov_relate(struct prov *p, json_t *relations, json_t *relation)
{
	json_t *key = json_sprintf("_:r%zu", ++p->n);

	json_object_set_new(relations, json_string_value(key), relation);
	json_decref(key);
}

static void prov_use(struct prov *p, const char *activity, const char *role)
{
	prov_relate(p, p->used,
	            json_pack("{ss ss ss}", "prov:activity", activity, "prov:entity",
	                      dtx_buf_text(&p->name), "prov:role", role));
}

static void prov_inputs(struct prov *p, const char *activity)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(p->record, "inputs"), i, item)
	{
		prov_file_name(item, &p->name);
		json_object_set_new(p->entity, dtx_buf_text(&p->name), prov_file(item, "uri"));
		prov_use(p, activity, dtx_json_text(item, "alias", "main"));
	}
}

static void prov_code(struct prov *p, const char *activity)
{
	const json_t *run = json_object_get(p->record, "run"), *region;
	const char *plan = dtx_json_text(run, "plan_hash", NULL);
	size_t i;

	if (plan) {
		prov_name("plan", plan, &p->name);
		json_object_set_new(
			p->entity, dtx_buf_text(&p->name),
			json_pack("{ss ss?}", "prov:type", "prov:Plan", "dtx:file",
		                  dtx_json_text(json_object_get(run, "plan"), "file", "")));
		prov_use(p, activity, "plan");
	}
	json_array_foreach(json_object_get(p->record, "regions"), i, region)
	{
		const json_t *cell = json_object_get(region, "cell");
		const char *hash = dtx_json_text(cell, "code_hash", NULL);

		if (!hash)
			continue;
		prov_name("snippet", hash, &p->name);
		json_object_set_new(p->entity, dtx_buf_text(&p->name),
		                    json_pack("{ss ss}", "prov:type", "dtx:Snippet", "dtx:state",
		                              dtx_json_text(cell, "state", "")));
		prov_use(p, activity, "snippet");
	}
}

static void prov_outputs(struct prov *p, const char *activity)
{
	json_t *item, *input;
	size_t i, k;

	json_array_foreach(json_object_get(p->record, "outputs"), i, item)
	{
		prov_file_name(item, &p->name);
		json_object_set_new(p->entity, dtx_buf_text(&p->name), prov_file(item, "path"));
		prov_relate(p, p->made,
		            json_pack("{ss ss}", "prov:entity", dtx_buf_text(&p->name),
		                      "prov:activity", activity));
		json_array_foreach(json_object_get(p->record, "inputs"), k, input)
		{
			prov_file_name(input, &p->other);
			prov_relate(p, p->derived,
			            json_pack("{ss ss ss}", "prov:generatedEntity",
			                      dtx_buf_text(&p->name), "prov:usedEntity",
			                      dtx_buf_text(&p->other), "prov:activity", activity));
		}
	}
}

static json_t *prov_activity(const json_t *run)
{
	char start[DTX_TIME_ISO], end[DTX_TIME_ISO];
	json_t *a;

	dtx_time_iso(dtx_json_int(run, "start_us", 0), start);
	dtx_time_iso(dtx_json_int(run, "end_us", 0), end);
	a = json_pack("{ss ss ss}", "prov:startTime", start, "prov:type", "dtx:Run", "dtx:status",
	              dtx_json_text(run, "status", ""));
	if (dtx_json_int(run, "end_us", 0))
		json_object_set_new(a, "prov:endTime", json_string(end));
	return a;
}

/* Makes a user's name usable in a qualified name. */
static json_t *prov_person(const char *user)
{
	struct dtx_buf name = DTX_BUF_INIT(1000);
	json_t *text;

	dtx_buf_add(&name, "dtx:user-");
	for (; *user; user++)
		dtx_buf_addc(&name, strchr(" :/()'\"\\", *user) ? '-' : *user);
	text = json_string(dtx_buf_text(&name));
	dtx_buf_clear(&name);
	return text;
}

json_t *dtx_provjson(const json_t *record)
{
	const json_t *run = json_object_get(record, "run");
	struct prov p = { .record = record,
		          .entity = json_object(),
		          .used = json_object(),
		          .made = json_object(),
		          .derived = json_object(),
		          .name = DTX_BUF_INIT(1000),
		          .other = DTX_BUF_INIT(1000) };
	json_t *activity = json_sprintf("dtx:run-%s", dtx_json_text(run, "run_id", "")), *doc;
	const char *id = json_string_value(activity);
	json_t *person = prov_person(dtx_json_text(run, "user", "unknown"));

	prov_inputs(&p, id);
	prov_code(&p, id);
	prov_outputs(&p, id);
	doc = json_pack("{s{ss ss ss} so s{so} s{s{ss ss} s{ss}} so so so s{s{ss ss} s{ss ss}} "
	                "s{s{ss ss}}}",
	                "prefix", "dtx", "urn:dtx:", "prov", "http://www.w3.org/ns/prov#", "xsd",
	                "http://www.w3.org/2001/XMLSchema#", "entity", p.entity, "activity", id,
	                prov_activity(run), "agent", "dtx:software", "prov:type",
	                "prov:SoftwareAgent", "dtx:version", DTX_VERSION, json_string_value(person),
	                "prov:type", "prov:Person", "used", p.used, "wasGeneratedBy", p.made,
	                "wasDerivedFrom", p.derived, "wasAssociatedWith", "_:a1", "prov:activity",
	                id, "prov:agent", "dtx:software", "_:a2", "prov:activity", id, "prov:agent",
	                json_string_value(person), "actedOnBehalfOf", "_:b1", "prov:delegate",
	                "dtx:software", "prov:responsible", json_string_value(person));
	json_decref(activity);
	json_decref(person);
	dtx_buf_clear(&p.name);
	dtx_buf_clear(&p.other);
	return doc;
}
