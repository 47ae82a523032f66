/* The rows of a table sorted by time within each key, and a search for the row that is nearest to a
 * given time. */
#ifndef DTX_OPS_JOIN_ASOF_H
#define DTX_OPS_JOIN_ASOF_H

#include "ops/join/hashjoin.h"

enum dtx_asof_dir { DTX_ASOF_BACKWARD, DTX_ASOF_FORWARD, DTX_ASOF_NEAREST };

/* A place on the axis: microseconds, an int, or a float. */
struct dtx_asof_num {
	int64_t i;
	double f;
};
struct dtx_asof_rule {
	bool floats, times; /* floats: `f` is used, not `i`; times: dates count as microseconds */
	enum dtx_asof_dir dir;
	bool exact, bounded; /* exact: equal places match; bounded: `tolerance` is set */
	struct dtx_asof_num tolerance;
};
struct dtx_asof_entry {
	struct dtx_asof_num at;
	struct dtx_rowref ref;
};
struct dtx_asof {
	struct dtx_join_table *table;
	struct dtx_asof_entry *entry; /* of key id: entry[start[id] .. start[id] + n[id]) */
	uint32_t *n;                  /* per key: number of rows whose place is not null */
};

/* The place of a row of a FLAT column.  False: null. */
bool dtx_asof_at(const struct dtx_asof_rule *rule, const struct dtx_column *c, uint32_t row,
                 struct dtx_asof_num *at);
/* Takes t.  col: the column of the places. */
DTX_MUSTUSE enum dtx_code dtx_asof_new(struct dtx_join_table *t, const struct dtx_asof_rule *rule,
                                       uint32_t col, struct dtx_asof **out, struct dtx_err *err);
void dtx_asof_free(struct dtx_asof *a); /* NULL is allowed */
/* The row of key `id` that matches a place.  NULL: none does. */
const struct dtx_rowref *dtx_asof_find(const struct dtx_asof *a, const struct dtx_asof_rule *rule,
                                       uint32_t id, struct dtx_asof_num at);
/* "7d", "30min" as microseconds; only units of fixed length (s, min, h, d, w). */
bool dtx_asof_duration(struct dtx_str text, int64_t *us);

#endif
