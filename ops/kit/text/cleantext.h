/* Cleans texts: unusual spaces, control characters, typographic signs. */
#ifndef DTX_OPS_KIT_TEXT_CLEANTEXT_H
#define DTX_OPS_KIT_TEXT_CLEANTEXT_H

#include "core/base/text/utf8.h"

enum dtx_clean_case { DTX_CASE_KEEP = -1, DTX_CASE_LOWER, DTX_CASE_UPPER, DTX_CASE_TITLE };
struct dtx_clean {
	int form; /* enum dtx_utf8_form; -1: unchanged */
	bool controls, nbsp, dashes, quotes, squeeze, trim;
	int kase; /* enum dtx_clean_case */
};
struct dtx_cleaner { /* scratch memory */
	struct dtx_buf a, b;
};
void dtx_cleaner_init(struct dtx_cleaner *k);
void dtx_cleaner_clear(struct dtx_cleaner *k);
/* The cleaned text, valid until the next call.  A failure shows in the buffers of k
 * (dtx_buf_ok). */
struct dtx_str dtx_clean_text(struct dtx_cleaner *k, const struct dtx_clean *how, struct dtx_str s);

#endif
