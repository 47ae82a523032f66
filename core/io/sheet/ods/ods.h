/* The reader of .ods: container, styles and sheets. Private to it. One thread. A book has the zip
 * and the head of one of .xlsx (dtx_xlsx), so that parts are opened, and cells become values, in
 * the same way. Source: OpenDocument 1.3 part 3. */
#ifndef DTX_IO_SHEET_ODS_ODS_H
#define DTX_IO_SHEET_ODS_ODS_H

#include "core/io/sheet/xlsx/xlsx.h"

struct dtx_ods {
	struct dtx_xlsx x;        /* head and zip */
	struct dtx_strmap styles; /* of cells: name to index in head.style */
	struct dtx_strmap hidden; /* names of styles of tables that are not shown */
	uint16_t clock, duration; /* styles of times whose own style is not one */
};

/* The attribute with this name and any prefix but that of LibreOffice's own additions. */
struct dtx_str dtx_ods_attr(const struct dtx_xml *x, const char *name);
/* Reads the styles of cells and tables of the book: of styles.xml and content.xml. */
DTX_MUSTUSE enum dtx_code dtx_ods_styles_read(struct dtx_ods *book, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_ods_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                             const struct dtx_sheet_read *how,
                                             struct dtx_grid *grid, struct dtx_sheet_facts *facts,
                                             struct dtx_err *err);

#endif
