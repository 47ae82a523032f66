/* The parts of group_by: binding, the state of the sink, its result. */
#ifndef DTX_OPS_GROUP_GROUPBY_H
#define DTX_OPS_GROUP_GROUPBY_H

#include "core/expr/agg/agg.h"
#include "core/plan/bind/bind.h"
#include "core/data/cells.h"
#include "core/data/spill/spill_column.h"
#include "ops/group/diskparts.h"
#include "ops/group/hashagg.h"
#include "ops/group/table/tableagg.h"

enum { DTX_GB_NULL_KEEP, DTX_GB_NULL_DROP, DTX_GB_NULL_ERROR };
enum { DTX_GB_FIRST_SEEN, DTX_GB_SORTED };

struct dtx_gb_args {
	struct dtx_plist by, agg;
	int null_keys, order;
	struct dtx_expr *having;
	struct dtx_psets sets;
	const char *sets_as;
	struct dtx_cols *across;
};

/* Grouping sets: every row belongs to one group of each set.  The keys that a set does not have are
 * null in its groups, and the number of the set is an additional key.  That number is also in the
 * upper bits of the seq of batches that are grouped by the set, and so of the positions of its
 * groups: sets follow each other in the result. */
#define DTX_GB_SETS_MAX 32u
#define DTX_GB_SET_SEQ  22u
struct dtx_gb_set {
	const bool *in;   /* per key: whether the set has it */
	const char *name; /* the keys in the set, "a,b" */
	bool all;         /* it has no key: one group */
};

struct dtx_gb_key {
	int32_t col; /* input column; -1: `bound` is evaluated */
	struct dtx_bound *bound;
	struct dtx_field field;
	bool written; /* The text of its first cell may differ from the text of its value, so the
	               * cell is kept too. */
};
struct dtx_gb_out { /* a result column, after the keys */
	struct dtx_aggcalls calls;
	size_t *offset;          /* offset of each call's state in the record of a group */
	struct dtx_bound *bound; /* over [keys, results of calls]; NULL: the result of the first
	                          * call */
	const struct dtx_schema *inner;
};
struct dtx_gb_state {
	struct dtx_gb_key *key;
	struct dtx_typeref *key_type;
	uint32_t nkeys, nouts;
	struct dtx_gb_set *set; /* NULL: one set with all keys */
	uint32_t nsets;
	bool names_sets; /* the last column has the name of the set */
	struct dtx_gb_out *out;
	size_t stride;  /* bytes of a group's record; 0: it has no states */
	bool grows;     /* a state grows with every row */
	bool from_keys; /* values can be read back from the keys of the groups, so they are not kept
	                 * separately */
	struct dtx_bound *having;
	int null_keys, order;
};

/* The groups of one worker.  Arrays are indexed by group id. */
struct dtx_gb_local {
	struct dtx_groups *groups;
	uint64_t *pos;            /* position of the group's first row */
	_Atomic(uint64_t *) link; /* see the links below; NULL: every entry is a group of its own */
	char *states;
	struct dtx_arena pool; /* memory of states that grow */
	size_t cap_pos, cap_states;
	uint32_t n;                  /* number of groups whose arrays are filled */
	bool unordered;              /* positions are not in ascending order */
	uint32_t *id;                /* scratch: ids of a batch's live rows */
	uint16_t *row;               /* scratch: rows of a batch that are the first of a group */
	struct dtx_builder *value;   /* per key: its value per group, unless it can be read from the
	                              * key */
	struct dtx_spanbuf *written; /* per key: its first cell */
	struct dtx_column **column;  /* per key: finished columns */
	const struct dtx_gb_state *state;
	uint32_t set;             /* the set for which rows are being added */
	struct dtx_gb_disk *disk; /* groups that were written to disk; NULL: none */
	bool spilled;             /* some were, before the end of the input */
	/* Of groups that are read back from disk: */
	unsigned level; /* how many times they were there; 0: these come from rows */
	uint64_t *from; /* chunk and row that have the first cells of each group */
	const struct dtx_gb_chunk **chunk; /* what is read back */
	size_t cap_from;
	uint32_t nchunks;
};

extern const struct dtx_sink dtx_gb_sink;
/* Assigns the states of o's calls to places in a group's record.  For operations that build a state
 * themselves, once it has its keys. */
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
/* Frees what the states of one group hold. */
void dtx_gb_drop_state(struct dtx_gb_local *l, uint32_t id);
/* Frees scratch memory when no more batches come. */
void dtx_gb_drop_scratch(struct dtx_gb_local *l);
void dtx_gb_free_local(const struct dtx_opctx *ox, void *local);

/* --- states on disk (groupby_disk.c) --- */
struct dtx_gb_disk;
void dtx_gb_disk_free(const struct dtx_gb_state *s, struct dtx_gb_disk *d); /* NULL is allowed */
/* Before `rows` rows are grouped: writes the groups to disk if memory is short.  *most is the
 * number of rows for which there is room then, at most `rows`. */
DTX_MUSTUSE enum dtx_code dtx_gb_make_room(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                           uint32_t rows, uint32_t *most, struct dtx_err *err);
/* Writes all groups to disk; l has none afterwards. */
DTX_MUSTUSE enum dtx_code dtx_gb_flush(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                       struct dtx_err *err);
/* Frees the groups and their states; more may be added. */
DTX_MUSTUSE enum dtx_code dtx_gb_drop_groups(struct dtx_gb_local *l, struct dtx_err *err);
/* The cells of key i, which are kept, for n groups. */
DTX_MUSTUSE enum dtx_code dtx_gb_late_cells(const struct dtx_gb_local *l, uint32_t i,
                                            const uint32_t *id, uint32_t n, struct dtx_column **out,
                                            struct dtx_err *err);
/* The `save` and `load` of the sink: states as they are on disk, partition by partition. */
DTX_MUSTUSE enum dtx_code dtx_gb_save(const struct dtx_opctx *ox, void *local,
                                      struct dtx_frame *frame, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_gb_load(const struct dtx_opctx *ox, void *local,
                                      const struct dtx_frame_view *view,
                                      const struct dtx_frame_entry *entry, struct dtx_owner *keep,
                                      struct dtx_err *err);
bool dtx_gb_any_spilled(struct dtx_gb_local *const *l, unsigned n);

/* The link of an entry: its kind, and where the other half of the group is.  When the entries of
 * several workers turn out to be one group, the states stay in one of them, the owner of its
 * states.  The place of the group in the result, and its first cells, come from the entry with the
 * first row.  All other entries of the group are dead. */
#define DTX_GB_SELF        ((uint64_t)0)       /* states and first row are here */
#define DTX_GB_STATE_OWNER ((uint64_t)1 << 62) /* the states; the first row is elsewhere */
#define DTX_GB_FIRST_ROW   ((uint64_t)2 << 62) /* the first row; the states are elsewhere */
#define DTX_GB_DEAD        ((uint64_t)3 << 62)
#define DTX_GB_KIND        ((uint64_t)3 << 62)
static inline uint64_t dtx_gb_ref(unsigned local, uint32_t id)
{
	return (uint64_t)local << 32 | id;
}
/* Makes the links if they are not there yet.  NULL: out of memory. */
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
/* --- grouping sets --- */
/* The names of the sets that groups belong to, by the positions of the groups. */
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

/* Whether output i, an aggregate, is needed. */
bool dtx_gb_wants(const struct dtx_opctx *ox, const struct dtx_gb_state *s, uint32_t i);

#endif
