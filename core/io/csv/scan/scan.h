/* Structure of delimited text, 64 bytes a step.  Variants for several machines, picked at run
 * time; all of them give exactly what scan_any gives. */
#ifndef DTX_IO_CSV_SCAN_SCAN_H
#define DTX_IO_CSV_SCAN_SCAN_H

#include "core/base/base.h"
#include "core/base/cpu.h"

/* Bytes with a meaning.  No delimiter (one column): delim is '\n'.  Neither is NUL or CR. */
struct dtx_scan_set {
	char delim, quote;
	bool quotes; /* false: `quote` is data */
};

/* A quote is regular when it opens right after structure, or closes right before it or before
 * another quote.  While all are regular, being inside quotes is the parity of their count. */
struct dtx_scan_chunk {
	bool odd;          /* number of quotes */
	bool regular[2];   /* all quotes are, when the chunk begins outside / inside quotes */
	bool high;         /* a byte above 7F */
	uint32_t newlines; /* CR and LF bytes */
};
struct dtx_scan_index {
	uint32_t n;       /* positions found */
	uint32_t records; /* those that end a record */
	bool quotes, cr;  /* any quote; any CR outside quotes */
	bool irregular;   /* then pos is not to be used */
	bool inside;      /* the text ends inside quotes */
};
struct dtx_scan_fns {
	const char *name;
	/* Counts p[0, n).  `before`: the byte in front, '\n' if none; `after`: the byte after, -1
	 * if none. */
	void (*count)(const char *p, size_t n, struct dtx_scan_set set, char before, int after,
	              struct dtx_scan_chunk *out);
	/* Positions of delimiters and record ends outside quotes in p[0, n), ascending; p is the
	 * start of a record.  Of CRLF the CR counts.  pos has room for n + DTX_SCAN_SLACK. */
	void (*index)(const char *p, size_t n, struct dtx_scan_set set, uint32_t *pos,
	              struct dtx_scan_index *out);
	/* Whether p[0, n) holds no quote and no CR, and all records that end in it have `width`
	 * cells: then *records of them, the last of which ends before *end.  There is a delimiter.
	 */
	bool (*plain)(const char *p, size_t n, struct dtx_scan_set set, uint32_t width,
	              uint32_t *records, size_t *end);
};
#define DTX_SCAN_SLACK 64

/* The variant for a machine; scan_any when this build has none for it. */
const struct dtx_scan_fns *dtx_scan_pick(enum dtx_cpu cpu);

extern const struct dtx_scan_fns dtx_scan_any, dtx_scan_sse2, dtx_scan_avx2, dtx_scan_avx512,
	dtx_scan_neon;

#endif
