/* inspect --cells: every non-empty cell of a workbook, one JSON object per line. */
#ifndef DTX_CLI_SUGGEST_CELLDUMP_H
#define DTX_CLI_SUGGEST_CELLDUMP_H

#include "cli/cmd.h"

/* sheet NULL: all sheets. Prints the cells and any error; returns the exit status. */
int dtx_cells_main(const struct dtx_cli *cli, const char *path, const char *sheet);

#endif
