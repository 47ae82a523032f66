/* Prints the answer of `why-not` as text. */
#ifndef DTX_CLI_WHY_WHY_NOT_TEXT_H
#define DTX_CLI_WHY_WHY_NOT_TEXT_H

#include "core/base/text/json.h"

/* Appends the text. `report` has the members:
 *
 * {"label","cell","run","output","verdict","passed":[{"step","op"}],"dropped":[{"step","op",
 * "at","because":[],"with":{}}],"rows":[]} */
void dtx_why_not_print(const json_t *report, struct dtx_buf *out);

#endif
