/* Finds the run that an operand means, see lookup.h. */
#include "cli/store/lookup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/io/sheet/book_info.h"
#include "core/io/source/source.h"

/* An .xlsx contains the id of its run, so it is recognised even after it was edited. */
static bool lookup_stamp(void *arg, const char *path, char run_id[DTX_RUN_ID])
{
	struct dtx_source *src = NULL;
	char id[64] = "";
	bool found;

	(void)arg;
	if (dtx_source_open(path, &src, NULL) != DTX_OK)
		return false;
	found = dtx_xlsx_run_id(src, id, NULL) == DTX_OK && strlen(id) == DTX_RUN_ID - 1;
	if (found)
		memcpy(run_id, id, DTX_RUN_ID);
	dtx_source_free(src);
	return found;
}

const char *dtx_lookup_table(const json_t *output)
{
	const json_t *writer = json_object_get(output, "writer");

	return dtx_json_text(writer, "table", dtx_json_text(writer, "sheet", NULL));
}

/* Makes the output that has the name in the file the one that was found. */
static enum dtx_code lookup_choose(json_t *record, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *found = json_object_get(record, "found"), *output;
	json_t *outputs = json_object_get(record, "outputs");
	const json_t *first = json_array_get(outputs, (size_t)dtx_json_int(found, "output", 0));
	const char *path = dtx_json_text(first, "path", "-");
	size_t i;

	json_array_foreach(outputs, i, output)
	{
		const char *table = dtx_lookup_table(output);

		if (strcmp(dtx_json_text(output, "path", ""), path) != 0 || !table ||
		    strcasecmp(table, name) != 0)
			continue;
		if (!dtx_json_set(found, "output", json_integer((json_int_t)i)))
			DTX_FAIL_MEM(err);
		goto out;
	}
	DTX_FAIL(err, DTX_E_NO_RECORD, "the run that wrote '%s' made no '%s' in it", path, name);
out:
	return rc;
}

enum dtx_code dtx_lookup(struct dtx_store *store, const char *what, bool full, json_t **record,
                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_found found;
	char cwd[PATH_MAX], file[PATH_MAX];
	const char *mark = what && access(what, F_OK) != 0 ? strrchr(what, '!') : NULL;

	if (mark && mark > what && (size_t)(mark - what) < sizeof(file)) {
		snprintf(file, sizeof(file), "%.*s", (int)(mark - what), what);
		what = file;
	} else {
		mark = NULL;
	}
	DTX_TRY(dtx_query_find(store, what, getcwd(cwd, sizeof(cwd)), lookup_stamp, NULL, &found,
	                       err));
	DTX_TRY(dtx_query_record(store, found.run_id, full, &found, record, err));
	if (found.output >= 0 && what &&
	    !dtx_json_set(json_object_get(*record, "found"), "asked", json_string(what)))
		DTX_FAIL_MEM(err);
	if (found.output >= 0 && mark)
		DTX_TRY(lookup_choose(*record, mark + 1, err));
out:
	return rc;
}

enum dtx_code dtx_lookup_model(struct dtx_store *store, json_t *record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *id = dtx_json_text(json_object_get(record, "run"), "replay_of", NULL);
	json_t *was = NULL;

	while (id) {
		json_t *of = NULL;

		DTX_TRY(dtx_query_record(store, id, false, NULL, &of, err));
		json_decref(was);
		was = of;
		id = dtx_json_text(json_object_get(was, "run"), "replay_of", NULL);
	}
	if (was && !dtx_json_set(record, "model", json_incref(json_object_get(was, "run"))))
		DTX_FAIL_MEM(err);
out:
	json_decref(was);
	return rc;
}
