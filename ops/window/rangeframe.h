/* Window frames by range: the rows whose order key is within a distance of the current row's
 * key. */
#ifndef DTX_OPS_WINDOW_RANGEFRAME_H
#define DTX_OPS_WINDOW_RANGEFRAME_H

#include "core/data/time/duration.h"
#include "ops/window/windowrows.h"

struct dtx_rangeedge {
	bool open;
	int64_t steps; /* for times: number of units, with a sign */
	enum dtx_unit unit;
	double units; /* for numbers */
};
struct dtx_rangeframe {
	bool set;
	struct dtx_rangeedge from, to; /* keys in (key + from, key + to], along the order */
};
/* Reads the edges of a frame by range (other frames are left alone) and checks them against the
 * single order key.  Findings are reported at `sub`. */
DTX_MUSTUSE enum dtx_code dtx_rangeframe_bind(struct dtx_bind *b, const struct dtx_row_frame *frame,
                                              const struct dtx_orderkeys *order, const char *sub,
                                              struct dtx_rangeframe *out, struct dtx_err *err);

/* The order keys of all rows of a table: times and ints in `i`, floats in `f`. */
struct dtx_rangekeys {
	bool time, desc;
	int64_t *i;
	double *f;
	bool *null;
};
#define DTX_RANGEKEYS_INIT                                                                         \
	{                                                                                          \
		.i = NULL                                                                          \
	}
DTX_MUSTUSE enum dtx_code dtx_rangekeys_open(struct dtx_rangekeys *k, const struct dtx_opctx *ox,
                                             const struct dtx_orderkeys *order, struct dtx_table *t,
                                             struct dtx_err *err);
void dtx_rangekeys_close(struct dtx_rangekeys *k);
/* Sets the frame [lo, hi) of each place.  A row without a key has an empty frame. */
void dtx_rangeframe_places(const struct dtx_rangeframe *f, const struct dtx_rangekeys *k,
                           const struct dtx_winrows *rows, uint32_t *lo, uint32_t *hi);

#endif
