/* Faces of groups: each stands for a group of the result, wherever the workers' parts of it are. */
#ifndef DTX_OPS_GROUP_FIRST_ROW_H
#define DTX_OPS_GROUP_FIRST_ROW_H

#include "ops/group/groupby.h"

struct dtx_gb_face {
	uint64_t pos;
	uint32_t local, id;
};
struct dtx_gb_result {
	const struct dtx_gb_state *s;
	struct dtx_gb_local **l; /* the workers', moved here; room for one more */
	unsigned n;
	struct dtx_gb_face *face; /* NULL: they are merged while the result is made */
	size_t nfaces;            /* then: of all workers' entries */
	size_t part_faces;
	/* or, when rows were on disk: the finished rows */
	struct dtx_ordered_rows *rows;
	int32_t *from; /* identity, for the merge */
};
void dtx_gb_drop_locals(const struct dtx_opctx *ox, struct dtx_gb_result *r);
/* The next entry that is a face, from id on; l->n: there is none. */
uint32_t dtx_gb_next_face(const struct dtx_gb_local *l, uint32_t id);
int dtx_gb_face_cmp(const void *a, const void *b); /* by position, for qsort */
/* Key columns of one worker, all its groups. */
DTX_MUSTUSE enum dtx_code dtx_gb_finish_keys(struct dtx_gb_local *l, struct dtx_err *err);
/* Groups what is on disk as well (groupby_disk): fills r->rows, and the workers' locals are gone.
 */
DTX_MUSTUSE enum dtx_code dtx_gb_from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                                           struct dtx_err *err);

#define DTX_GB_PART_FACES 16384u /* in a batch of the result */
/* Of who makes batches. */
struct dtx_gb_scratch {
	uint32_t *which, *row;
	uint64_t *pos; /* of faces, for the names of sets */
	void **state;
	struct dtx_column **src;
	const char **key; /* where keys tell values: what is left of each face's */
};

/* Room for batches of up to `most` faces. */
DTX_MUSTUSE enum dtx_code dtx_gb_scratch_init(struct dtx_gb_scratch *x,
                                              const struct dtx_gb_result *r, uint32_t most,
                                              struct dtx_err *err);
void dtx_gb_scratch_clear(struct dtx_gb_scratch *x);
/* The rows of n faces, without those that `having` drops. */
DTX_MUSTUSE enum dtx_code dtx_gb_make_faces(const struct dtx_opctx *ox,
                                            const struct dtx_gb_result *r, struct dtx_gb_scratch *x,
                                            const struct dtx_gb_face *face, uint32_t n,
                                            struct dtx_batch **out, struct dtx_err *err);

#endif
