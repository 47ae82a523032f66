/* The parts of group_by: binding, the sink's state, its result. */
#ifndef DTX_OPS_GROUP_GROUPBY_H
#define DTX_OPS_GROUP_GROUPBY_H

#include "core/expr/agg/agg.h"
#include "core/plan/bind/bind.h"
#include "core/data/cells.h"
#include "ops/group/diskparts.h"
#include "ops/group/hashagg.h"
#include "ops/group/tableagg.h"

enum { DTX_GB_NULL_KEEP, DTX_GB_NULL_DROP, DTX_GB_NULL_ERROR };
enum { DTX_GB_FIRST_SEEN, DTX_GB_SORTED };

struct dtx_gb_args {
	struct dtx_plist by, agg;
	int null_keys, order;
	struct dtx_expr *having;
	struct dtx_psets sets;
	const char *sets_as;
};

/* Grouping sets: every row is in one group of each.  A set is what its keys are not: those are null
 * in its groups, and the set's number is one more key.  It also leads the seq of the batches that
 * are grouped by it, and so the position of a group: sets follow each other. */
#define DTX_GB_SETS_MAX 32u
#define DTX_GB_SET_SEQ  22u
struct dtx_gb_set {
	const bool *in;   /* per key */
	const char *name; /* keys in it, "a,b" */
	bool all;         /* no key: one group */
};

struct dtx_gb_key {
	int32_t col; /* input column, -1: bound */
	struct dtx_bound *bound;
	struct dtx_field field;
	bool written; /* the written text of its first cell may differ from the
	               * value's: it is kept beside the key */
};
struct dtx_gb_out { /* one result column behind the keys */
	struct dtx_aggcalls calls;
	size_t *offset;          /* of each call's state in a group's record */
	struct dtx_bound *bound; /* over [keys, results of calls]; NULL: the first of these */
	const struct dtx_schema *inner;
};
struct dtx_gb_state {
	struct dtx_gb_key *key;
	struct dtx_typeref *key_type;
	uint32_t nkeys, nouts;
	struct dtx_gb_set *set; /* NULL: the one of all keys */
	uint32_t nsets;
	bool names_sets; /* the last column says which */
	struct dtx_gb_out *out;
	size_t stride; /* bytes of a group's record; 0: no states */
	bool grows;    /* a state holds more with every row */
	bool tells;    /* the groups' own keys tell the values: they are kept once */
	struct dtx_bound *having;
	int null_keys, order;
};

/* One worker's groups. Arrays are per group id. */
struct dtx_gb_local {
	struct dtx_groups *groups;
	uint64_t *pos;            /* of the first row */
	_Atomic(uint64_t *) link; /* see combine; NULL: all stand for themselves */
	char *states;
	struct dtx_arena pool; /* of what states hold */
	size_t cap_pos, cap_states;
	uint32_t n;                  /* groups whose arrays are filled */
	bool unordered;              /* positions did not come in ascending order */
	uint32_t *id;                /* scratch: of a batch's live rows */
	uint16_t *row;               /* scratch: a batch's rows that brought a group */
	struct dtx_builder *value;   /* per key: its value per group, unless keys tell it */
	struct dtx_spanbuf *written; /* per key: its first cell */
	struct dtx_column **column;  /* per key, finished */
	const struct dtx_gb_state *state;
	uint32_t set;                  /* whose rows it eats now */
	struct dtx_diskparts *spilled; /* rows of groups that came when memory was short */
	unsigned late;                 /* how often its batches were on disk; if so, ... */
	const int64_t *at;             /* ... this is where each row of this one was */
};

extern const struct dtx_sink dtx_gb_sink;
/* Gives the states of o's calls their places in a group's record; for operations that put a state
 * together, once its keys are there. */
DTX_MUSTUSE enum dtx_code dtx_gb_lay_out(struct dtx_bind *b, struct dtx_gb_state *s,
                                         struct dtx_gb_out *o, const struct dtx_field *keys,
                                         struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_bind(struct dtx_bind *b, void *args, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_init_local(const struct dtx_opctx *ox, void **local,
                                            struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_consume(const struct dtx_opctx *ox, void *local,
                                         struct dtx_batch *in, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_combine(const struct dtx_opctx *ox, unsigned part,
                                         void *const *locals, unsigned n, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_finalize(const struct dtx_opctx *ox, void *const *locals,
                                          unsigned n, void **shared, struct dtx_emit *out,
                                          struct dtx_err *err);
/* The states of one group hold nothing any more. */
void dtx_gb_drop_state(struct dtx_gb_local *l, uint32_t id);
/* No more batches come. */
void dtx_gb_drop_scratch(struct dtx_gb_local *l);
void dtx_gb_free_local(const struct dtx_opctx *ox, void *local);

uint64_t dtx_gb_parts(const struct dtx_opctx *ox, const struct dtx_origin **origin);
DTX_MUSTUSE enum dtx_code dtx_gb_make(const struct dtx_opctx *ox, uint64_t part,
                                      struct dtx_emit *out, struct dtx_err *err);
void dtx_gb_free_shared(const struct dtx_opctx *ox, void *shared);

/* --- rows on disk (groupby_spill) ---
 *
 * When memory is short a worker takes no new groups: rows of known ones still go into their states
 * (unless these grow with every row), the others go to disk by bits of their key's hash, and are
 * grouped at the end, a partition at a time; what of one there is no room for goes to disk once
 * more, by the next bits. */
/* Whether rows of new groups go to disk, when a batch of so many rows comes. */
bool dtx_gb_spills(const struct dtx_opctx *ox, const struct dtx_gb_local *l, uint32_t rows);
/* Ids of the rows of known groups; `in` is narrowed to them, the others are on disk. */
DTX_MUSTUSE enum dtx_code dtx_gb_spill_rows(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                            struct dtx_batch *in, struct dtx_column *const *key,
                                            struct dtx_err *err);
/* A local with the groups of a partition of what n workers put on disk.  Those that it has no room
 * for are on disk again, in its `spilled`, by the next bits of the hash.  late: how often the rows
 * of this partition were there. */
DTX_MUSTUSE enum dtx_code dtx_gb_late(const struct dtx_opctx *ox, struct dtx_diskparts *const *from,
                                      unsigned n, unsigned part, unsigned late,
                                      struct dtx_gb_local **out, struct dtx_err *err);
bool dtx_gb_any_spilled(struct dtx_gb_local *const *l, unsigned n);
/* Entries of one partition by `bits` bits meet; those of worker w meet those of the ones before. */
DTX_MUSTUSE enum dtx_code dtx_gb_combine_one(struct dtx_gb_local *const *l, unsigned w,
                                             unsigned part, unsigned bits, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_combine_part(struct dtx_gb_local *const *l, unsigned n,
                                              unsigned part, unsigned bits, struct dtx_err *err);

/* link of an entry: what it is and where the other half is. */
#define DTX_GB_SELF ((uint64_t)0)       /* home and face */
#define DTX_GB_HOME ((uint64_t)1 << 62) /* states here, face elsewhere */
#define DTX_GB_FACE ((uint64_t)2 << 62) /* face here, states elsewhere */
#define DTX_GB_DEAD ((uint64_t)3 << 62)
#define DTX_GB_KIND ((uint64_t)3 << 62)
static inline uint64_t dtx_gb_ref(unsigned local, uint32_t id)
{
	return (uint64_t)local << 32 | id;
}
/* Makes the links, where there are none; NULL: no memory. */
uint64_t *dtx_gb_links(struct dtx_gb_local *l);
static inline uint64_t dtx_gb_link(const struct dtx_gb_local *l, uint32_t id)
{
	const uint64_t *link = l->link;

	return link ? link[id] : DTX_GB_SELF;
}
static inline unsigned dtx_gb_ref_local(uint64_t link)
{
	return (unsigned)((link & ~DTX_GB_KIND) >> 32);
}
/* --- grouping sets (groupby_sets) --- */
/* Reads `sets` once the keys are bound. */
DTX_MUSTUSE enum dtx_code dtx_gb_bind_sets(struct dtx_bind *b, const struct dtx_gb_args *a,
                                           struct dtx_gb_state *s, struct dtx_err *err);
/* Key columns as the set sees them, and its number: to[0 .. nkeys], each with a reference. */
DTX_MUSTUSE enum dtx_code dtx_gb_set_keys(const struct dtx_gb_state *s, uint32_t set,
                                          struct dtx_column *const *key, uint32_t nrows,
                                          struct dtx_column **to, struct dtx_err *err);
/* Names of the sets of groups by their positions. */
DTX_MUSTUSE enum dtx_code dtx_gb_set_names(const struct dtx_gb_state *s, const uint64_t *pos,
                                           uint32_t n, struct dtx_column **out,
                                           struct dtx_err *err);
static inline uint32_t dtx_gb_ngroupkeys(const struct dtx_gb_state *s)
{
	return s->nkeys + (s->set != NULL);
}
static inline uint32_t dtx_gb_set_of(uint64_t pos)
{
	return (uint32_t)(pos >> 36 >> DTX_GB_SET_SEQ);
}

/* Whether an aggregate output is to be made. */
bool dtx_gb_wants(const struct dtx_opctx *ox, const struct dtx_gb_state *s, uint32_t i);

#endif
