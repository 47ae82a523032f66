/* Finds the run that an operand means, see lookup.h. */
#include "cli/store/lookup.h"

#include <limits.h>
#include <string.h>
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

enum dtx_code dtx_lookup(struct dtx_store *store, const char *what, bool full, json_t **record,
                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_found found;
	char cwd[PATH_MAX];

	DTX_TRY(dtx_query_find(store, what, getcwd(cwd, sizeof(cwd)), lookup_stamp, NULL, &found,
	                       err));
	DTX_TRY(dtx_query_record(store, found.run_id, full, &found, record, err));
	if (found.output >= 0 && what &&
	    !dtx_json_set(json_object_get(*record, "found"), "asked", json_string(what)))
		DTX_FAIL_MEM(err);
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
