/* Compares a receipt with the files it names, and with the record it is a copy of. */
#include "cli/run/receipt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/lookup.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"

static enum dtx_code receipt_add(json_t *list, json_t *one, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_array_append_new(list, one) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code receipt_differs(json_t *findings, const char *path, const char *text,
                                     struct dtx_err *err)
{
	return receipt_add(findings,
	                   json_pack("{ss ss so}", "finding", "receipt_differs", "path", path,
	                             "text", json_sprintf("'%s': %s", path, text)),
	                   err);
}

/* A copy of a record without what can change after its run: the head, and the state of its
 * snippets. */
static json_t *receipt_settled(const json_t *record)
{
	json_t *copy = json_deep_copy(record), *region;
	size_t i;

	json_object_del(copy, "found");
	json_object_del(json_object_get(copy, "chain"), "head");
	json_array_foreach(json_object_get(copy, "regions"), i, region)
		json_object_del(region, "cell");
	return copy;
}

static enum dtx_code receipt_same(const char *receipt, const json_t *kept, const json_t *record,
                                  json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *was = receipt_settled(kept), *is = receipt_settled(record), *value;
	const char *key;
	char text[80];

	if (!was || !is)
		DTX_FAIL_MEM(err);
	json_object_foreach(is, key, value)
	{
		if (json_equal(json_object_get(was, key), value))
			continue;
		snprintf(text, sizeof(text), "the record of this run has another '%.20s'", key);
		DTX_TRY(receipt_differs(findings, receipt, text, err));
	}
	json_object_foreach(was, key, value)
	{
		if (json_object_get(is, key))
			continue;
		snprintf(text, sizeof(text), "the record of this run has no '%.20s'", key);
		DTX_TRY(receipt_differs(findings, receipt, text, err));
	}
out:
	json_decref(was);
	json_decref(is);
	return rc;
}

/* Checks that the outputs in the receipt are in the record. */
static enum dtx_code receipt_subjects(const json_t *receipt, const json_t *record, json_t *findings,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *subject, *output;
	size_t i, k;

	json_array_foreach(json_object_get(receipt, "subject"), i, subject)
	{
		const char *sha = dtx_json_text(json_object_get(subject, "digest"), "sha256", "");
		bool found = false;

		json_array_foreach(json_object_get(record, "outputs"), k, output) found |=
			!strcmp(dtx_json_text(output, "sha", ""), sha);
		if (!found)
			DTX_TRY(receipt_differs(findings, dtx_json_text(subject, "name", ""),
			                        "the record of this run has no such output", err));
	}
out:
	return rc;
}

/* --- reading --- */

void dtx_receipt_clear(struct dtx_receipt *r)
{
	json_decref(r->json);
	json_decref(r->held);
	json_decref(r->unchecked);
	memset(r, 0, sizeof(*r));
}

enum dtx_code dtx_receipt_read(const char *path, struct dtx_receipt *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *predicate;

	*r = (struct dtx_receipt){ .path = path, .held = json_array(), .unchecked = json_array() };
	if (!r->held || !r->unchecked)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_file_slurp(path, &text, err));
	rc = dtx_json_parse(dtx_buf_str(&text), limits, &r->json, err);
	if (rc != DTX_OK) {
		dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(path));
		goto out;
	}
	predicate = json_object_get(r->json, "predicate");
	r->record = json_object_get(predicate, "record");
	r->run = dtx_json_text(json_object_get(r->record, "run"), "run_id", NULL);
	r->head = dtx_json_text(predicate, "head", NULL);
	r->store = dtx_json_text(predicate, "store", "");
	if (!r->run || !r->head) {
		rc = dtx_err_set(
			err, DTX_E_USAGE, __FILE__, __LINE__,
			"'%s' is not a receipt of dtx: it has no run, or no head of a chain", path);
		dtx_err_hint(err, "dtx run --receipt writes one beside each output: OUT.dtx.json");
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- the files --- */

/* Finds the file of a subject: the one that the user asked about, next to the receipt, or where
 * the run wrote it. Takes the first that has the bytes, otherwise the first that exists; NULL:
 * none. */
static enum dtx_code receipt_find(const struct dtx_receipt *r, size_t i, const char *asked,
                                  const char **state, char path[4096], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *subjects = json_object_get(r->json, "subject");
	const json_t *subject = json_array_get(subjects, i);
	const json_t *output = json_array_get(json_object_get(r->record, "outputs"), i);
	const char *name = dtx_file_basename(dtx_json_text(subject, "name", ""));
	char dir[4096] = ".", beside[8192];
	const char *place[] = { asked, beside, dtx_json_text(output, "path", NULL) };
	json_t *item = json_pack("{ss}", "sha",
	                         dtx_json_text(json_object_get(subject, "digest"), "sha256", ""));

	if (!item)
		DTX_FAIL_MEM(err);
	*state = NULL;
	dtx_file_dirname(r->path, dir, sizeof(dir));
	snprintf(beside, sizeof(beside), "%s%s%s", strcmp(dir, ".") ? dir : "",
	         strcmp(dir, ".") ? "/" : "", name);
	/* another output of the same run must not count as a changed version of this one */
	if (asked && json_array_size(subjects) > 1 && strcmp(dtx_file_basename(asked), name) != 0 &&
	    strcmp(dtx_query_file(asked, item), "unchanged") != 0)
		place[0] = NULL;
	for (size_t k = 0; k < DTX_COUNT(place); k++) {
		const char *is;

		if (!place[k] || !place[k][0] || access(place[k], F_OK) < 0)
			continue;
		is = dtx_query_file(place[k], item);
		if (*state && strcmp(is, "unchanged") != 0)
			continue;
		*state = is;
		dtx_str_copy(path, 4096, dtx_str_of(place[k]));
		if (place[k] == asked || !strcmp(is, "unchanged"))
			break;
	}
out:
	json_decref(item);
	return rc;
}

enum dtx_code dtx_receipt_files(struct dtx_receipt *r, const char *asked, json_t *findings,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *subject;
	size_t i;

	DTX_TRY(receipt_subjects(r->json, r->record, findings, err));
	json_array_foreach(json_object_get(r->json, "subject"), i, subject)
	{
		const char *name = dtx_json_text(subject, "name", ""), *state = NULL;
		char path[4096] = "";

		DTX_TRY(receipt_find(r, i, asked, &state, path, err));
		if (!state)
			rc = receipt_add(r->unchecked,
			                 json_sprintf("'%s': it is neither beside the receipt nor "
			                              "where the run put it",
			                              name),
			                 err);
		else if (strcmp(state, "unchanged") != 0)
			rc = receipt_add(findings,
			                 json_pack("{ss ss sb so}", "finding", "output_changed",
			                           "path", path, "same_table", false, "text",
			                           json_sprintf("'%s' is %s: it is not what the "
			                                        "receipt says",
			                                        path, state)),
			                 err);
		else
			rc = receipt_add(r->held, json_string(path), err);
		if (rc != DTX_OK)
			goto out;
	}
out:
	return rc;
}

/* --- the record --- */

/* The store does not have the run: if it is the receipt's own store, it has lost the run;
 * another store never had it. */
static enum dtx_code receipt_lost(struct dtx_receipt *r, struct dtx_store *store, json_t *findings,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char id[DTX_STORE_ID];

	DTX_TRY(dtx_query_store_id(store, id, err));
	if (r->store[0] && strcmp(r->store, id) != 0)
		DTX_TRY(receipt_add(r->unchecked,
		                    json_sprintf("the record and its place in the chain: '%s' is "
		                                 "another store than the receipt's",
		                                 dtx_store_path(store)),
		                    err));
	else
		DTX_TRY(receipt_add(
			findings,
			json_pack("{ss sI so}", "finding", "truncated", "seq",
		                  (json_int_t)dtx_json_int(json_object_get(r->record, "chain"),
		                                           "seq_start", 0),
		                  "text",
		                  json_sprintf("the store has no run %s, which the "
		                               "receipt is of: it was cut off or "
		                               "written again%s",
		                               dtx_run_id_short(r->run),
		                               r->store[0] ? "" : ", or is another one")),
			err));
	r->head = NULL;
out:
	return rc;
}

enum dtx_code dtx_receipt_record(struct dtx_receipt *r, struct dtx_store *store,
                                 const json_t *asked, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc;
	json_t *record = NULL;

	rc = dtx_lookup(store, r->run, false, &record, err);
	if (rc == DTX_E_NO_RECORD) {
		dtx_err_clear(err);
		rc = receipt_lost(r, store, findings, err);
		goto out;
	}
	if (rc != DTX_OK)
		goto out;
	DTX_TRY(receipt_same(r->path, r->record, record, findings, err));
	if (asked &&
	    strcmp(r->run, dtx_json_text(json_object_get(asked, "run"), "run_id", "")) != 0)
		DTX_TRY(receipt_differs(findings, r->path, "the receipt is of another run", err));
out:
	json_decref(record);
	return rc;
}
