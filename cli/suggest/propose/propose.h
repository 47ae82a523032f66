/* Proposals for a table, from the table alone: what the makers found, in pairs where two steps are
 * needed, each run before it is shown. */
#ifndef DTX_CLI_SUGGEST_PROPOSE_H
#define DTX_CLI_SUGGEST_PROPOSE_H

#include "cli/suggest/profile.h"
#include "cli/textgrid.h"
#include "core/io/source/source.h"

/* A proposal of less is no proposal, and one of less than DTX_PROPOSE_SURE is not sure. */
#define DTX_PROPOSE_LEAST 0.6
#define DTX_PROPOSE_SURE  0.8

enum { DTX_PROPOSE_MOST = 5 }; /* proposals in a list */

/* Decides how the file's header is read, if `input`, the member of a plan, does not say it and the
 * reader did not find one row (`describe`, NULL if it failed): row 1 is the header where its cells
 * are distinct and mostly filled, also when they are numbers. Sets header_rows in `input` then,
 * and header_fill where two header rows need it. */
DTX_MUSTUSE enum dtx_code dtx_propose_header(struct dtx_source *src, json_t *input,
                                             const json_t *describe, struct dtx_err *err);
/* Finds tables with the same header below each other, each with a title: *steps makes one table of
 * the file when it is read without a header; NULL: there are no such tables. A new reference. */
DTX_MUSTUSE enum dtx_code dtx_propose_stacked(struct dtx_source *src, const json_t *input,
                                              json_t **steps, struct dtx_err *err);
/* Makes the list of proposals, best first: {"plan", "score", "sure", "evidence": [text], "result":
 * {"columns", "rows"}}, where the result has the first rows. `input` is the member of the plans
 * that reads the file. `p` may be NULL; then cells have no addresses. `cleaning`: proposed steps,
 * of which those that skip rows go before a reshape. `guessed`: the file is read by a
 * guess, so that no proposal is sure. *list is a new reference. */
DTX_MUSTUSE enum dtx_code dtx_propose(struct dtx_source *src, const json_t *input,
                                      const struct dtx_profile *p, const json_t *cleaning,
                                      bool guessed, json_t **list, struct dtx_err *err);
/* The first rows of the table that the plan's input gives, at most `rows` of them. */
DTX_MUSTUSE enum dtx_code dtx_propose_read(struct dtx_source *src, const json_t *input,
                                           int64_t rows, struct dtx_textgrid *out,
                                           struct dtx_err *err);
/* Writes evidence, score and first rows of a proposal for people. */
void dtx_propose_text(const json_t *proposal, struct dtx_buf *out);

#endif
