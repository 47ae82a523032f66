/* Groups of keys of few values found without a hash: an array in front of a table of groups. */
#ifndef DTX_OPS_GROUP_GROUPCACHE_H
#define DTX_OPS_GROUP_GROUPCACHE_H

#include "ops/group/hashagg.h"

#define DTX_GROUP_CHUNK 256u /* rows that are looked up together, at most */

struct dtx_groupcache;

/* *out: NULL when keys of these types have none. */
DTX_MUSTUSE enum dtx_code dtx_groupcache_new(const struct dtx_typeref *type, uint32_t nkeys,
                                             struct dtx_groupcache **out, struct dtx_err *err);
void dtx_groupcache_free(struct dtx_groupcache *m);
/* Rows of a chunk whose groups are not known. */
struct dtx_group_misses {
	uint32_t n;
	uint16_t at[DTX_GROUP_CHUNK];
};
/* ids of the live rows [from, from + n), but of the misses, which are to be found in the table and
 * put; false: no row has a place in the array.  n is at most DTX_GROUP_CHUNK. */
bool dtx_groupcache_get(struct dtx_groupcache *m, struct dtx_column *const *key,
                        const struct dtx_batch *b, uint32_t from, uint32_t n, uint32_t *ids,
                        struct dtx_group_misses *miss);
void dtx_groupcache_put(struct dtx_groupcache *m, const uint32_t *ids,
                        const struct dtx_group_misses *miss);
/* So many groups there are: the array may be as large as goes with them. */
void dtx_groupcache_count(struct dtx_groupcache *m, uint32_t groups);

#endif
