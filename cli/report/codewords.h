/* The meaning of a code in a few words, for people who do not know it. */
#ifndef DTX_CLI_REPORT_CODEWORDS_H
#define DTX_CLI_REPORT_CODEWORDS_H

/* NULL if the code is self-explanatory or unknown. */
const char *dtx_code_words(const char *code);

#endif
