/* What a code means, in a few words for people who do not know it. */
#ifndef DTX_CLI_REPORT_CODEWORDS_H
#define DTX_CLI_REPORT_CODEWORDS_H

/* NULL: the code says it, or is none. */
const char *dtx_code_words(const char *code);

#endif
