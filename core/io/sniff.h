/* How well a dialect explains a sample of text. */
#ifndef DTX_IO_SNIFF_H
#define DTX_IO_SNIFF_H

#include "core/base/base.h"
#include "core/base/str.h"

struct dtx_sniff_dialect {
	char delim[5]; /* "": one column */
	char quote;    /* 0: none */
	char escape;   /* 0: none */
	bool trim;
};
struct dtx_sniff_score {
	double score; /* consistency of widths x share of usual cells x regular quotes */
	double consistency;
	uint32_t modal;     /* the most frequent width */
	uint64_t quoted;    /* cells that begin with a quote and close well */
	uint64_t irregular; /* quotes that are data */
};

/* Reads the sample as leniently as can be, a quote that never closes as text.  `whole`: the sample
 * ends where the input ends, else its last record is left out. */
void dtx_sniff_score(struct dtx_str sample, bool whole, const struct dtx_sniff_dialect *d,
                     struct dtx_sniff_score *out);

#endif
