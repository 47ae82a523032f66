/* What the files of parameter binding share: objects (param.c), kinds of values (param_kind.c),
 * frames and sets. */
#ifndef DTX_BASE_PARAM_PARAM_IMPL_H
#define DTX_BASE_PARAM_PARAM_IMPL_H

#include "core/base/param/param.h"

#define DTX_PARAM_POINTER   256
#define DTX_PARAM_NAMES_MAX 64

/* The position of an object in the plan.  `flat`: sugar made its members, so they have no JSON
 * pointer of their own. */
struct dtx_param_place {
	const char *pointer;
	bool flat;
};

/* A value that is about to be stored in the args struct. */
struct dtx_param_in {
	const struct dtx_param *p;
	const json_t *v;
	struct dtx_param_ctx *ctx;
	const char *pointer;
	void *to; /* address in the args struct */
};

/* Whether a scalar may stand for an item, and an object for a list. */
static inline bool dtx_param_takes_scalar(enum dtx_psugar sugar)
{
	return sugar == DTX_SUGAR_SCALAR || sugar == DTX_SUGAR_SORT || sugar == DTX_SUGAR_BOTH;
}

static inline bool dtx_param_takes_map(enum dtx_psugar sugar)
{
	return sugar == DTX_SUGAR_MAP || sugar == DTX_SUGAR_AGG || sugar == DTX_SUGAR_BOTH;
}

/* Sets the local variable `f` of the calling function to a finding. */
#define DTX_PARAM_FIND(code_, ...) dtx_err_set(&f, (code_), __FILE__, __LINE__, __VA_ARGS__)

/* Moves f into the list of findings, with its position.  Fails only without memory. */
DTX_MUSTUSE enum dtx_code dtx_param_found(struct dtx_param_ctx *ctx, struct dtx_err *f,
                                          const char *pointer, struct dtx_err *err);
const char *dtx_param_json_kind(const json_t *v);
/* Fills in the members of one object, which is at `place`. */
DTX_MUSTUSE enum dtx_code dtx_param_rows(const struct dtx_param *params, size_t n,
                                         const json_t *object, struct dtx_param_place place,
                                         struct dtx_param_ctx *ctx, void *args,
                                         struct dtx_err *err);
/* Fills args as if every required member were given but unreadable.  Reports nothing. */
DTX_MUSTUSE enum dtx_code dtx_param_holes(const struct dtx_param *params, size_t n,
                                          struct dtx_param_ctx *ctx, void *args,
                                          struct dtx_err *err);
/* Window frames. */
DTX_MUSTUSE enum dtx_code dtx_param_frame(const struct dtx_param_in *in, struct dtx_err *err);
json_t *dtx_param_frame_json(const struct dtx_row_frame *f);
/* Sets of names: "rollup", "cube", [["a", "b"], []]. */
DTX_MUSTUSE enum dtx_code dtx_param_sets(const struct dtx_param_in *in, struct dtx_err *err);
/* A list of texts, as DTX_P_TEXTS. */
DTX_MUSTUSE enum dtx_code dtx_param_texts(const struct dtx_param_in *in, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_param_wrong_kind(const struct dtx_param_in *in, struct dtx_err *err);
/* One value, by its kind. */
DTX_MUSTUSE enum dtx_code dtx_param_set(const struct dtx_param_in *in, struct dtx_err *err);

#endif
