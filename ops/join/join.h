/* The parts of join: binding, checks (cardinality, match), rows. */
#ifndef DTX_OPS_JOIN_JOIN_H
#define DTX_OPS_JOIN_JOIN_H

#include "ops/join/buildside.h"

enum dtx_join_how {
	DTX_JOIN_INNER,
	DTX_JOIN_LEFT,
	DTX_JOIN_RIGHT,
	DTX_JOIN_FULL,
	DTX_JOIN_SEMI,
	DTX_JOIN_ANTI,
	DTX_JOIN_CROSS,
};
enum { DTX_JOIN_MM, DTX_JOIN_M1, DTX_JOIN_1M, DTX_JOIN_11 };
enum { DTX_MATCH_ANY, DTX_MATCH_ALL_LEFT, DTX_MATCH_ALL_RIGHT, DTX_MATCH_ALL };

struct dtx_join_args {
	const char *with;
	struct dtx_plist on, using;
	int how, cardinality, match;
	const char *suffix;
	bool nulls_equal, coalesce_keys;
	const char *indicator_as;
};
struct dtx_join_state {
	enum dtx_join_how how;
	bool left_unique, right_unique, all_left, all_right, nulls_equal;
	struct dtx_key_sides key;
	struct dtx_colmap lmap, rmap;
	struct dtx_colmap right_only; /* as rmap, and the keys where right-only rows show them */
	int32_t *key_out;  /* per key: the output column that a right-only row fills from its right
	                    * key; -1: none */
	bool *refit;       /* per output column: left cells must be converted to the merged field */
	bool *shown;       /* per key: whether an output column moves the right key as it is */
	int32_t indicator; /* output column; -1: none */
};

/* A violated expectation: how often, and up to five keys. */
#define DTX_JOIN_SAMPLES 5
struct dtx_join_sample {
	uint64_t pos;
	uint32_t id;
	int64_t count;
	char cell[24]; /* its place in the input */
	char text[208];
};
struct dtx_join_samples {
	struct dtx_join_sample item[DTX_JOIN_SAMPLES];
	uint32_t n;
	int64_t total;
	struct dtx_err where; /* the place of the first one */
};
struct dtx_join_local { /* of one worker on the probing side */
	struct dtx_join_probe probe;
	uint16_t *lrow; /* rows of the batch that is being made */
	uint32_t *which, *rrow, n, most;
	uint32_t room;      /* room for pairs; usually only `most` are collected */
	bool rights, nulls; /* rights: there are matches; nulls: there are rows without a match */
	int64_t rows_in, unmatched;
	struct dtx_join_samples unpaired; /* left rows without a match */
	struct dtx_groups *seen;          /* left keys, if they must be unique */
	struct dtx_join_samples twice;
	uint32_t *seen_id;
};
struct dtx_join_shared {
	struct dtx_join_table *table;
	struct dtx_owner *held;            /* keeps the rows of the table */
	_Atomic int64_t rows_in, rows_out; /* for the limit on growth; relaxed */
	struct dtx_join_samples first;     /* the first keys of the right side */
};

/* The map of the left side. */
DTX_MUSTUSE enum dtx_code dtx_join_probe_init(const struct dtx_opctx *ox, void **local,
                                              struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_join_batch(const struct dtx_opctx *ox, void *local,
                                         struct dtx_batch *in, struct dtx_emit *out,
                                         struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_join_flush(const struct dtx_opctx *ox, void *const *locals,
                                         unsigned n, struct dtx_emit *out, struct dtx_err *err);
/* What the map has collected, for another process that has built the same right side (struct
 * dtx_map). */
struct json_t *dtx_join_save(const struct dtx_opctx *ox, void *local);
DTX_MUSTUSE enum dtx_code dtx_join_load(const struct dtx_opctx *ox, void *local,
                                        const struct json_t *saved, struct dtx_err *err);
void dtx_join_probe_free(const struct dtx_opctx *ox, void *local);

DTX_MUSTUSE enum dtx_code dtx_join_bind(struct dtx_bind *b, void *args, struct dtx_err *err);

/* Checks the left rows of a batch against the expectations: they are counted now and judged at the
 * end. */
DTX_MUSTUSE enum dtx_code dtx_join_watch(const struct dtx_join_state *s, struct dtx_join_local *l,
                                         struct dtx_batch *in, struct dtx_err *err);
/* Notes the first keys of the right side, for dtx_join_warn_apart. */
void dtx_join_note_right(const struct dtx_join_state *s, struct dtx_join_shared *sh);
/* Warns if there are rows on both sides, none has a match, and the result lacks all left rows. */
DTX_MUSTUSE enum dtx_code dtx_join_warn_apart(const struct dtx_opctx *ox,
                                              struct dtx_join_local *const *l, unsigned n,
                                              struct dtx_err *err);
/* Fails if right keys must be unique and are not. */
DTX_MUSTUSE enum dtx_code dtx_join_check_right(const struct dtx_join_state *s,
                                               const struct dtx_join_table *t, struct dtx_err *err);
/* Judges the counts after the last left row. */
DTX_MUSTUSE enum dtx_code dtx_join_check_end(const struct dtx_join_state *s,
                                             struct dtx_join_local *const *l, unsigned n,
                                             const struct dtx_join_table *t, struct dtx_err *err);
/* The right rows that no left row matched, in the order of the right table: ref[0..*n), which the
 * caller frees. */
size_t dtx_join_count_unmatched(const struct dtx_join_table *t);
DTX_MUSTUSE enum dtx_code dtx_join_unmatched(const struct dtx_join_table *t,
                                             struct dtx_rowref **ref, size_t *n,
                                             struct dtx_err *err);
#endif
