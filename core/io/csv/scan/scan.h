/* Finds the structure of delimited text, 64 bytes per step. There are variants for several
 * machines, chosen at run time; all of them give exactly the results of scan_any. */
#ifndef DTX_IO_CSV_SCAN_SCAN_H
#define DTX_IO_CSV_SCAN_SCAN_H

#include "core/base/base.h"
#include "core/base/cpu.h"

/* The bytes that have a meaning. If there is no delimiter (one column), delim is '\n'. Neither byte
 * is NUL or CR. */
struct dtx_scan_set {
	char delim, quote;
	bool quotes; /* false: `quote` is data */
};

/* A quote is regular if it opens right after a delimiter or line end, or closes right before one or
 * before another quote. While all quotes are regular, a byte is inside quotes if an odd number of
 * them is before it. */
struct dtx_scan_chunk {
	bool odd;          /* the number of quotes is odd */
	bool regular[2];   /* all quotes are regular, if the chunk begins outside / inside quotes */
	bool high;         /* it has a byte above 7F */
	uint32_t newlines; /* number of CR and LF bytes */
};
struct dtx_scan_index {
	uint32_t n;       /* number of positions found */
	uint32_t records; /* number of those that end a record */
	bool quotes, cr;  /* it has a quote; it has a CR outside quotes */
	bool irregular;   /* a quote is not regular, so pos must not be used */
	bool inside;      /* the text ends inside quotes */
};
struct dtx_scan_fns {
	const char *name;
	/* Counts p[0, n). `before` is the byte before it, '\n' if none; `after` is the
	 * byte after it, -1 if none. */
	void (*count)(const char *p, size_t n, struct dtx_scan_set set, char before, int after,
	              struct dtx_scan_chunk *out);
	/* Finds the positions of delimiters and record ends outside quotes in p[0, n), in ascending
	 * order. p is the start of a record. CRLF counts once, at its CR. pos must have room for n
	 * + DTX_SCAN_SLACK. */
	void (*index)(const char *p, size_t n, struct dtx_scan_set set, uint32_t *pos,
	              struct dtx_scan_index *out);
	/* Whether p[0, n) has no quote and no CR, and all records that end in it have `width`
	 * cells. Then it sets *records to their number, and *end to just after the last of them.
	 * There must be a delimiter. */
	bool (*plain)(const char *p, size_t n, struct dtx_scan_set set, uint32_t width,
	              uint32_t *records, size_t *end);
};
#define DTX_SCAN_SLACK 64

/* The variant for a machine; scan_any if this build has no other one for it. */
const struct dtx_scan_fns *dtx_scan_pick(enum dtx_cpu cpu);

extern const struct dtx_scan_fns dtx_scan_any, dtx_scan_sse2, dtx_scan_avx2, dtx_scan_avx512,
	dtx_scan_neon;

#endif
