/* The program that `dtx compile --to pandas` prints: one Python file that needs pandas alone. */
#ifndef DTX_CLI_PLAN_PROGRAM_H
#define DTX_CLI_PLAN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/memory/buf.h"
#include "core/plan/exec/exec.h"

/* A definition of dx or of cli/plan/program.py; core/gen/gen-program.py makes the table. */
struct dtx_program_part {
	const char *name;    /* "import re", "sort", "FUNCTIONS[left]" */
	const char *dx;      /* its name in the module dx; NULL: it has none */
	const int16_t *uses; /* numbers of other parts; ends with -1 */
	const char *text;    /* empty: another part defines it */
};
extern const struct dtx_program_part dtx_program_parts[]; /* ends with a NULL name */

/* Appends the program. `transform` is the text of the function that dtx_compile_pandas writes.
 * `found` is what dtx_exec_bind found out about the files; NULL: the plan was compiled without
 * them. Errors: no_translation for an input that the program could not read as dtx does; no_memory.
 */
DTX_MUSTUSE enum dtx_code dtx_program_text(const struct dtx_plan *plan,
                                           const struct dtx_exec_result *found,
                                           const char *transform, struct dtx_buf *out,
                                           struct dtx_err *err);

#endif
