/* No statement scans a table that grows with every run, except those that list, count or clean
 * up. */
#include <sqlite3.h>

#include "core/base/memory/buf.h"
#include "core/store/sql.h"
#include "tests/t.h"

static const struct {
	const char *name, *text;
} statements[] = {
#define X(symbol, text) { #symbol, text },
	DTX_SQL_STATEMENTS(X)
#undef X
};
static const char *const growing[] = { "ledger",     "run",         "run_input",
	                               "run_output", "run_step",    "run_region",
	                               "run_check",  "col_lineage", "file_seen" };
/* the last row of the ledger is the first one when it is walked backwards */
static const char *const walks_all[] = { "DTX_SQL_LAST", "DTX_SQL_STATS_EVENTS",
	                                 "DTX_SQL_STATS_RUNS", "DTX_SQL_CELL_DEAD" };

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

/* "SCAN run", with or without the alias of a table.  An index keeps an order, so that a limit ends
 * the walk. */
static bool walks(const char *detail)
{
	char word[3][64] = { "" };

	if (strstr(detail, " INDEX ") ||
	    sscanf(detail, "%63s %63s %63s", word[0], word[1], word[2]) < 2)
		return false;
	return strcmp(word[0], "SCAN") == 0 &&
	       (is_one_of(word[1], growing, DTX_COUNT(growing)) || strlen(word[1]) == 1);
}

void test_store_statements_use_indexes(void)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	struct dtx_buf sql = DTX_BUF_INIT(1 << 20);
	size_t seen = 0;

	T_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	T_INT(sqlite3_exec(db, DTX_SQL_LEDGER DTX_SQL_DERIVED, NULL, NULL, NULL), SQLITE_OK);
	for (size_t i = 0; i < DTX_COUNT(statements); i++) {
		dtx_buf_reset(&sql);
		dtx_buf_printf(&sql, "EXPLAIN QUERY PLAN %s", statements[i].text);
		if (sqlite3_prepare_v2(db, dtx_buf_text(&sql), -1, &st, NULL) != SQLITE_OK)
			continue; /* a pragma used as a statement has no plan */
		seen++;
		while (sqlite3_step(st) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(st, 3);

			if (!walks(detail) ||
			    is_one_of(statements[i].name, walks_all, DTX_COUNT(walks_all)))
				continue;
			fprintf(stderr, "# %s: %s\n", statements[i].name, detail);
			T_CHECK(false);
		}
		sqlite3_finalize(st);
	}
	T_CHECK(seen > 40);
	sqlite3_close(db);
	dtx_buf_clear(&sql);
}
