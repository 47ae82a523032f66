/* Groups of keys of few values found without a hash: an array in front of a table of groups. */
#ifndef OPS_GROUPCACHE_H
#define OPS_GROUPCACHE_H

#include "ops/hashagg.h"

#define DTX_GROUP_CHUNK 512u /* rows that are looked up together, at most */

struct dtx_groupcache;

/* *out: NULL when keys of these types have none. */
DTX_MUSTUSE enum dtx_code dtx_groupcache_new(const struct dtx_typeref *type, uint32_t nkeys,
                                             struct dtx_groupcache **out, struct dtx_err *err);
void dtx_groupcache_free(struct dtx_groupcache *m);
/* ids of the live rows [from, from + n); *hit: all of them were known, else ids are to be found in
 * the table and put.  n is at most DTX_GROUP_CHUNK. */
DTX_MUSTUSE enum dtx_code dtx_groupcache_get(struct dtx_groupcache *m,
                                             struct dtx_column *const *key,
                                             const struct dtx_batch *b, uint32_t from, uint32_t n,
                                             uint32_t *ids, bool *hit, struct dtx_err *err);
/* The ids of the n rows of the last get. */
void dtx_groupcache_put(struct dtx_groupcache *m, const uint32_t *ids, uint32_t n);

#endif
