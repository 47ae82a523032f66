/* The table in which rows are looked up.  A sink keeps it whole (buildside.c); the map of the other
 * table probes it.  Joins, lookups and set operations use it. */
#ifndef DTX_OPS_JOIN_BUILDSIDE_H
#define DTX_OPS_JOIN_BUILDSIDE_H

#include "ops/join/hashjoin.h"

struct dtx_key_pair { /* an item of `on`, `key` and `by` */
	const char *left, *right;
	struct dtx_expr *left_expr, *right_expr; /* for join: a formula instead of a column */
};
/* The members of a list parameter of key pairs; two of them. */
extern const struct dtx_param dtx_key_pair_rows[2];

/* Formulas among the keys of a side.  Their values are columns that follow the batch's own
 * columns. */
struct dtx_key_made {
	struct dtx_bound **bound;
	uint32_t n;
	const struct dtx_schema *wide; /* the columns of the side, then these */
};
/* The key columns of both sides, and the types in which they are compared. */
struct dtx_key_sides {
	struct dtx_groupkeys left, right;
	struct dtx_typeref *type;
	struct dtx_key_made made[2]; /* left, right */
};
/* Binds the keys; name: of the parameter.  The types of a pair must be equal or both numeric,
 * otherwise it is a finding. */
DTX_MUSTUSE enum dtx_code dtx_keysides_bind(struct dtx_bind *b, const struct dtx_plist *pairs,
                                            const char *name, struct dtx_key_sides *s,
                                            struct dtx_err *err);
/* The same for columns l[i] of input 0 and r[i] of input 1, which have the same names. */
DTX_MUSTUSE enum dtx_code dtx_keysides_columns(struct dtx_bind *b, const int32_t *l,
                                               const int32_t *r, uint32_t n,
                                               struct dtx_key_sides *s, struct dtx_err *err);
/* Whether pair k consists of two columns. */
bool dtx_keysides_plain(const struct dtx_key_sides *s, uint32_t k);
/* Appends the values of formulas to the batch's columns, and removes them again. */
DTX_MUSTUSE enum dtx_code dtx_keys_widen(const struct dtx_opctx *ox, const struct dtx_key_made *m,
                                         struct dtx_batch *b, struct dtx_err *err);
void dtx_keys_narrow(const struct dtx_key_made *m, const struct dtx_schema *own,
                     struct dtx_batch *b);
/* Prints the pairs for explain and messages: "k" or "k = key". */
void dtx_keypairs_explain(const struct dtx_plist *pairs, struct dtx_buf *out);

/* --- the sink: each worker keeps its batches --- */

struct dtx_build_side { /* of one worker */
	struct dtx_kept kept;
	struct dtx_row_store **cells; /* per batch; NULL: it has all of its columns */
	size_t cap_cells;
	const struct dtx_colmap *attach; /* rows leave by this map only; NULL: by others too */
	uint32_t *taken; /* columns of the map whose cells become records (ops/kit/row_store) */
	uint32_t ntaken; /* 0: none */
	bool untaken;    /* a batch has cells that cannot be records */
};
DTX_MUSTUSE enum dtx_code dtx_build_init(const struct dtx_opctx *ox, void **local,
                                         struct dtx_err *err);
/* Allows records: if rows leave only by the map `attach`, and no column is used in another way,
 * short cells of it, except those of keys, are kept as records.  Call it after init. */
DTX_MUSTUSE enum dtx_code dtx_build_takes(const struct dtx_opctx *ox,
                                          const struct dtx_colmap *attach,
                                          const struct dtx_groupkeys *key, void *local,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_build_consume(const struct dtx_opctx *ox, void *local,
                                            struct dtx_batch *in, struct dtx_err *err);
void dtx_build_free(const struct dtx_opctx *ox, void *local);
/* Makes the table of everything that was kept, with its keys. */
DTX_MUSTUSE enum dtx_code dtx_build_table(const struct dtx_opctx *ox, void *const *locals,
                                          unsigned n, const struct dtx_key_sides *keys,
                                          bool nulls_equal, struct dtx_join_table **out,
                                          struct dtx_err *err);

/* --- the map: at most one row of the table for each row --- */

struct dtx_build_local { /* of one worker, for one batch */
	struct dtx_join_probe probe;
	uint32_t *which, *row; /* for each row of the batch, live or not; DTX_NOWHERE: none */
};
DTX_MUSTUSE enum dtx_code dtx_build_local_new(const struct dtx_key_sides *keys,
                                              struct dtx_build_local *l, struct dtx_err *err);
void dtx_build_local_clear(const struct dtx_key_sides *keys, struct dtx_build_local *l);
/* The same on the heap, for maps whose workers need nothing else.  NULL may be freed. */
DTX_MUSTUSE enum dtx_code dtx_build_local_make(const struct dtx_key_sides *keys,
                                               struct dtx_build_local **out, struct dtx_err *err);
void dtx_build_local_free(const struct dtx_key_sides *keys, struct dtx_build_local *l);
/* Columns of the batch become values if the map moves them to a field that reads text by other
 * rules.  Call it while the batch's schema lives: that of a kept batch is freed after finalize. */
DTX_MUSTUSE enum dtx_code dtx_build_under(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                          struct dtx_batch *b, struct dtx_err *err);
/* Copies picked rows of the table into b by the map.  If the sink was given a map, it must be that
 * one. */
DTX_MUSTUSE enum dtx_code dtx_build_pick(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                                         const struct dtx_colmap *map, const struct dtx_pick *pick,
                                         struct dtx_batch *b, struct dtx_err *err);
/* Gives `in` the output schema: its own columns move by lmap, those of the table by rmap. */
DTX_MUSTUSE enum dtx_code
dtx_build_attach(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                 const struct dtx_build_local *l, const struct dtx_colmap *lmap,
                 const struct dtx_colmap *rmap, struct dtx_batch *in, struct dtx_err *err);
/* Fails, with the name of the op, if a key occurs more than once in the table. */
DTX_MUSTUSE enum dtx_code dtx_build_unique(const struct dtx_join_table *t,
                                           const struct dtx_groupkeys *key, const char *name,
                                           struct dtx_err *err);

#endif
