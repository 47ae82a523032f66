/* Faces of groups.  A group may have entries in several workers; its face is the entry with the
 * first row of the group, which represents the group in the result. */
#ifndef DTX_OPS_GROUP_FIRST_ROW_H
#define DTX_OPS_GROUP_FIRST_ROW_H

#include "ops/group/groupby.h"

struct dtx_gb_face {
	uint64_t pos;
	uint32_t local, id;
};
struct dtx_gb_result {
	const struct dtx_gb_state *s;
	struct dtx_gb_local **l; /* the workers' groups, moved here; with room for one more */
	unsigned n;
	struct dtx_gb_face *face; /* NULL: faces are found by merging while the result is made */
	size_t nfaces;            /* if face is NULL: the number of entries of all workers */
	size_t part_faces;
	/* if rows were on disk: the finished rows */
	struct dtx_ordered_rows *rows;
	int32_t *from; /* identity map, for the merge */
};
void dtx_gb_drop_locals(const struct dtx_opctx *ox, struct dtx_gb_result *r);
/* The next entry that is a face, from id on; l->n if there is none. */
uint32_t dtx_gb_next_face(const struct dtx_gb_local *l, uint32_t id);
int dtx_gb_face_cmp(const void *a, const void *b); /* by position, for qsort */
/* Finishes the key columns with the groups of one worker. */
DTX_MUSTUSE enum dtx_code dtx_gb_finish_keys(struct dtx_gb_local *l, struct dtx_err *err);
/* Groups the rows that are on disk as well (groupby_disk.c) and fills r->rows.  The workers' groups
 * are freed. */
DTX_MUSTUSE enum dtx_code dtx_gb_from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                                           struct dtx_err *err);

#define DTX_GB_PART_FACES 16384u /* faces per batch of the result */
/* Scratch memory of a thread that makes batches. */
struct dtx_gb_scratch {
	uint32_t *which, *row;
	uint64_t *pos; /* positions of the faces, for the names of sets */
	void **state;
	struct dtx_column **src;
	const char **key; /* if values are read from keys: the rest of each face's key */
};

/* Makes room for batches of up to `most` faces. */
DTX_MUSTUSE enum dtx_code dtx_gb_scratch_init(struct dtx_gb_scratch *x,
                                              const struct dtx_gb_result *r, uint32_t most,
                                              struct dtx_err *err);
void dtx_gb_scratch_clear(struct dtx_gb_scratch *x);
/* Makes the rows of n faces, without those that `having` drops. */
DTX_MUSTUSE enum dtx_code dtx_gb_make_faces(const struct dtx_opctx *ox,
                                            const struct dtx_gb_result *r, struct dtx_gb_scratch *x,
                                            const struct dtx_gb_face *face, uint32_t n,
                                            struct dtx_batch **out, struct dtx_err *err);

#endif
