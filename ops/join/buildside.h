/* The table a row is looked up in: kept whole by a sink, probed by the map of the other table. */
#ifndef DTX_OPS_JOIN_BUILDSIDE_H
#define DTX_OPS_JOIN_BUILDSIDE_H

#include "ops/join/hashjoin.h"

struct dtx_key_pair { /* a row of `on`, `key` and `by` */
	const char *left, *right;
	struct dtx_expr *left_expr, *right_expr; /* of join: instead of a column */
};
/* Rows of a list parameter of key pairs; two of them. */
extern const struct dtx_param dtx_key_pair_rows[2];

/* Formulas among a side's keys: their values are columns behind the batch's own. */
struct dtx_key_made {
	struct dtx_bound **bound;
	uint32_t n;
	const struct dtx_schema *wide; /* the side's columns, then these */
};
/* Key columns of both sides and the types they are compared as. */
struct dtx_key_sides {
	struct dtx_groupkeys left, right;
	struct dtx_typeref *type;
	struct dtx_key_made made[2]; /* left, right */
};
/* name: of the parameter.  Key types must be equal or both numeric, else a finding. */
DTX_MUSTUSE enum dtx_code dtx_keysides_bind(struct dtx_bind *b, const struct dtx_plist *pairs,
                                            const char *name, struct dtx_key_sides *s,
                                            struct dtx_err *err);
/* The same for columns l[i] of input 0 and r[i] of input 1, of one name each. */
DTX_MUSTUSE enum dtx_code dtx_keysides_columns(struct dtx_bind *b, const int32_t *l,
                                               const int32_t *r, uint32_t n,
                                               struct dtx_key_sides *s, struct dtx_err *err);
/* Types that are compared: equal, both numbers, or one of them only null. */
bool dtx_key_type(struct dtx_typeref l, struct dtx_typeref r, struct dtx_typeref *as);
/* Pair k is of two columns. */
bool dtx_keysides_plain(const struct dtx_key_sides *s, uint32_t k);
/* The batch with the values of formulas behind its columns, and without them again. */
DTX_MUSTUSE enum dtx_code dtx_keys_widen(const struct dtx_opctx *ox, const struct dtx_key_made *m,
                                         struct dtx_batch *b, struct dtx_err *err);
void dtx_keys_narrow(const struct dtx_key_made *m, const struct dtx_schema *own,
                     struct dtx_batch *b);
/* The output column of a key, as explain and texts show it: "k" or "k = key". */
void dtx_keypairs_explain(const struct dtx_plist *pairs, struct dtx_buf *out);

/* --- the sink: each worker keeps its batches (buildkeep.c) --- */

struct dtx_build_side { /* of a worker */
	struct dtx_kept kept;
	struct dtx_row_store **cells; /* per batch; NULL: it has all of its columns */
	size_t cap_cells;
	const struct dtx_colmap *attach; /* rows leave by it alone; NULL: in other ways too */
	uint32_t *taken; /* columns of it whose cells become records (ops/kit/row_store), */
	uint32_t ntaken; /* 0: none */
	bool untaken;    /* a batch has cells that could not */
};
DTX_MUSTUSE enum dtx_code dtx_build_init(const struct dtx_opctx *ox, void **local,
                                         struct dtx_err *err);
/* Where rows leave by the map `attach` alone, and nobody asks for a column otherwise: short cells
 * of it, but for those of keys, are kept as records. After init. */
DTX_MUSTUSE enum dtx_code dtx_build_takes(const struct dtx_opctx *ox,
                                          const struct dtx_colmap *attach,
                                          const struct dtx_groupkeys *key, void *local,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_build_consume(const struct dtx_opctx *ox, void *local,
                                            struct dtx_batch *in, struct dtx_err *err);
void dtx_build_free(const struct dtx_opctx *ox, void *local);
/* All that was kept, as a table with its keys. */
DTX_MUSTUSE enum dtx_code dtx_build_table(const struct dtx_opctx *ox, void *const *locals,
                                          unsigned n, const struct dtx_key_sides *keys,
                                          bool nulls_equal, struct dtx_join_table **out,
                                          struct dtx_err *err);

/* --- the map: at most one row of the table for each row --- */

struct dtx_build_local { /* of a worker, for one batch */
	struct dtx_join_probe probe;
	uint32_t *which, *row; /* per row of the batch, live or not; DTX_NOWHERE: none */
};
DTX_MUSTUSE enum dtx_code dtx_build_local_new(const struct dtx_key_sides *keys,
                                              struct dtx_build_local *l, struct dtx_err *err);
void dtx_build_local_clear(const struct dtx_key_sides *keys, struct dtx_build_local *l);
/* The same on the heap, for maps whose workers have nothing else; NULL is freed. */
DTX_MUSTUSE enum dtx_code dtx_build_local_make(const struct dtx_key_sides *keys,
                                               struct dtx_build_local **out, struct dtx_err *err);
void dtx_build_local_free(const struct dtx_key_sides *keys, struct dtx_build_local *l);
/* Columns of the batch that the map moves under a field of the output with other rules of text
 * become values.  While the batch's schema lives: a kept batch's is gone after finalize. */
DTX_MUSTUSE enum dtx_code dtx_build_under(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                          struct dtx_batch *b, struct dtx_err *err);
/* Picked rows of the table into b by the map, which is the one that the sink was told of if it was
 * told of one. */
DTX_MUSTUSE enum dtx_code dtx_build_pick(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                                         const struct dtx_colmap *map, const struct dtx_pick *pick,
                                         struct dtx_batch *b, struct dtx_err *err);
/* in gets the output schema: its own columns move by lmap, those of the table by rmap. */
DTX_MUSTUSE enum dtx_code
dtx_build_attach(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                 const struct dtx_build_local *l, const struct dtx_colmap *lmap,
                 const struct dtx_colmap *rmap, struct dtx_batch *in, struct dtx_err *err);
/* Keys of the table that occur more than once are an error of op `name`. */
DTX_MUSTUSE enum dtx_code dtx_build_unique(const struct dtx_join_table *t,
                                           const struct dtx_groupkeys *key, const char *name,
                                           struct dtx_err *err);

#endif
