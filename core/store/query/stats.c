/* Statistics of the store: counts by kind. */
#include <stdio.h>

#include "core/store/db.h"
#include "core/store/cache/gc.h"

/* The columns of each query: texts first, then integers. */
static const struct {
	const char *name, *member[6];
	enum dtx_sql sql;
	unsigned texts; /* how many of the first columns are texts */
} stats_tables[] = {
	{ "events", { "kind", "events", "bytes" }, DTX_SQL_STATS_EVENTS, 1 },
	{ "blobs", { "kind", "blobs", "bytes", "purged" }, DTX_SQL_STATS_BLOBS, 1 },
	{ "runs", { "path", "status", "runs" }, DTX_SQL_STATS_RUNS, 2 },
	{ "snippets", { "state", "snippets", "hits" }, DTX_SQL_STATS_CELLS, 1 },
	{ "author",
	  { "outcome", "cost", "calls", "in_tokens", "out_tokens", "rows_disclosed" },
	  DTX_SQL_STATS_AUTHOR,
	  2 },
};

static enum dtx_code stats_table(struct dtx_db *db, size_t t, json_t *stats, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	json_t *list = json_array(), *row;
	bool more;

	DTX_TRY(dtx_db_query(db, stats_tables[t].sql, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		row = json_object();
		if (json_array_append_new(list, row) < 0)
			DTX_FAIL_MEM(err);
		for (unsigned i = 0; i < DTX_COUNT(stats_tables[t].member); i++) {
			const char *name = stats_tables[t].member[i];
			const char *text = dtx_db_get_text(rows, (int)i);

			if (name &&
			    !dtx_json_set(row, name,
			                  i < stats_tables[t].texts
			                          ? json_string(text ? text : "")
			                          : json_integer(dtx_db_get_int(rows, (int)i))))
				DTX_FAIL_MEM(err);
		}
	}
	if (!dtx_json_set(stats, stats_tables[t].name, json_incref(list)))
		DTX_FAIL_MEM(err);
out:
	dtx_db_done(rows);
	json_decref(list);
	return rc;
}

enum dtx_code dtx_store_stats(struct dtx_store *s, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_rows *rows = NULL;
	json_t *stats = NULL;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_STATS_SIZE, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	stats = json_pack("{ss sI sI}", "store", dtx_store_path(s), "bytes",
	                  (json_int_t)dtx_db_get_int(rows, 0), "free_bytes",
	                  (json_int_t)dtx_db_get_int(rows, 1));
	if (!stats)
		DTX_FAIL_MEM(err);
	for (size_t t = 0; t < DTX_COUNT(stats_tables); t++)
		DTX_TRY(stats_table(db, t, stats, err));
	*out = stats;
	stats = NULL;
out:
	dtx_db_done(rows);
	json_decref(stats);
	return rc;
}

enum dtx_code dtx_store_size(struct dtx_store *s, int64_t *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_rows *rows = NULL;
	bool there;

	*bytes = 0;
	DTX_TRY(dtx_db_query(db, DTX_SQL_STATS_SIZE, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &there, err));
	if (there)
		*bytes = dtx_db_get_int(rows, 0) - dtx_db_get_int(rows, 1);
out:
	dtx_db_done(rows);
	return rc;
}
