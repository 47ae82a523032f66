/* Frames: tables as bytes and back.  They carry tables into the sandbox and results out of it.
 *
 * All numbers are little-endian.  The header has 64 bytes: "DTXFRM1\0", u32 64, u32 number of
 * sections, u64 total size, u64 offset of the directory, u32 96, u32 flags 0, zeros.  A directory
 * entry (struct dtx_frame_entry) describes up to three buffers: a has the values, b what they point
 * into, v the validity bits (least significant first, 1 = present, whole 64-bit words).  Buffers
 * start at multiples of 64, are inside of the frame and do not overlap; an empty buffer has offset
 * 0.
 *
 * The reader must expect hostile bytes, because generated code may have written them: it checks
 * every value before it uses it. */
#ifndef DTX_DATA_FRAME_FRAME_H
#define DTX_DATA_FRAME_FRAME_H

#include "core/data/batch.h"

#define DTX_FRAME_MAGIC        "DTXFRM1" /* with its NUL: 8 bytes */
#define DTX_FRAME_HEADER       64u
#define DTX_FRAME_ENTRY        96u
#define DTX_FRAME_ALIGN        64u
#define DTX_FRAME_SECTIONS_MAX 65536u
#define DTX_FRAME_NAME_MAX     65536u
#define DTX_FRAME_ROWS_MAX     ((uint64_t)1 << 32)

enum dtx_frame_kind {
	DTX_FRAME_CODE = 1,
	DTX_FRAME_PARAMS = 2,
	DTX_FRAME_TABLE = 3, /* rows; the columns have its id as parent */
	DTX_FRAME_COLUMN = 4,
	/* a column that the codes of other columns index: texts, or if the codes are u8 numbers of
	 * 8 bytes, which are put in place of the codes when the frame is read */
	DTX_FRAME_DICT = 5,
	DTX_FRAME_GRID = 6,     /* raw cells of an input, see frame_grid.c */
	DTX_FRAME_ROWS = 7,     /* for each row of the parent table: u64 row of the input */
	DTX_FRAME_CELLS = 8,    /* a column of a workbook: a = tags, b = payloads */
	DTX_FRAME_STRINGS = 9,  /* texts of cells: a = u32 lengths, b = their bytes */
	DTX_FRAME_BATCH = 10,   /* one batch, see frame_batch.h */
	DTX_FRAME_GROUPS = 11,  /* states of groups, see ops/group */
	DTX_FRAME_TEXT = 12,    /* rows of an output: a = their text, b = the hash of each row */
	DTX_FRAME_TALLY = 13,   /* what an output counts of its rows, see exec/outputs.c */
	DTX_FRAME_REPORT = 16,  /* JSON */
	DTX_FRAME_ARTIFACT = 17 /* a named file */
};
/* Flags of a column: values are u32 codes, b_off is the id of a DICT; the codes are u8. */
#define DTX_FRAME_F_DICT      1u
#define DTX_FRAME_F_NARROW    2u
#define DTX_FRAME_F_TEXT_FILE 2u   /* flag of a grid: it is a text file */
#define DTX_FRAME_NARROW_MAX  256u /* values of a dictionary whose codes are u8 */

/* As it is in the file, field by field.  flags: bit 0 DICT, 1 NARROW, bits 8-15 scale, 16-23
 * precision. */
struct dtx_frame_entry {
	uint32_t kind, id, parent, type, flags, name_len;
	uint64_t name_off, rows, nulls, a_off, a_len, b_off, b_len, v_off, v_len;
};

/* --- writing --- */

struct dtx_frame_part;
struct dtx_rawgrid;
struct dtx_frame {
	struct dtx_frame_part *part;
	size_t n, cap;
	uint32_t ntables;
	bool narrow; /* codes may be u8, and numbers of 8 bytes may have a dictionary */
};
#define DTX_FRAME_INIT                                                                             \
	{                                                                                          \
		NULL, 0, 0, 0, false                                                               \
	}

/* Adds a section of bytes without columns.  name and bytes are borrowed until the frame is
 * cleared. */
DTX_MUSTUSE enum dtx_code dtx_frame_add_bytes(struct dtx_frame *f, enum dtx_frame_kind kind,
                                              uint32_t id, const char *name, struct dtx_str bytes,
                                              struct dtx_err *err);
/* Adds a section with two buffers, each with one item per row; borrowed too.  If a buffer has no
 * pointer it only gets its room. */
DTX_MUSTUSE enum dtx_code dtx_frame_add_pair(struct dtx_frame *f, enum dtx_frame_kind kind,
                                             uint32_t id, uint64_t rows, struct dtx_str a,
                                             struct dtx_str b, struct dtx_err *err);
/* Adds all live rows of a table and takes a reference to it.  Cells are converted to the types of
 * the schema here, so a cell that does not fit fails here. */
DTX_MUSTUSE enum dtx_code dtx_frame_add_table(struct dtx_frame *f, const char *name,
                                              struct dtx_table *t, struct dtx_err *err);
/* Adds a grid, which is borrowed until the frame is cleared. */
DTX_MUSTUSE enum dtx_code dtx_frame_add_grid(struct dtx_frame *f, const char *name,
                                             const struct dtx_rawgrid *grid, struct dtx_err *err);
/* Assigns places to all sections, after the last of them was added.  Returns the bytes that
 * dtx_frame_write needs. */
DTX_MUSTUSE uint64_t dtx_frame_size(struct dtx_frame *f);
/* Where a section is, after dtx_frame_size, for callers that fill it later than dtx_frame_write. */
const struct dtx_frame_entry *dtx_frame_part_entry(const struct dtx_frame *f, size_t part);
/* Makes memory that was used before fit for dtx_frame_write: clears what it relies on, which is all
 * but values that it writes anyway. `size` is that of dtx_frame_size. */
void dtx_frame_zero(const struct dtx_frame *f, void *to, uint64_t size);
/* Writes the frame to `to`, which has dtx_frame_size() zero bytes (or see dtx_frame_zero) and is
 * aligned to 8. */
DTX_MUSTUSE enum dtx_code dtx_frame_write(struct dtx_frame *f, void *to, struct dtx_err *err);
/* Gives the bytes of the frame to `put`, in order and piece by piece, without a copy of all of
 * them. Only for a frame whose sections are bytes or pairs. A buffer without a pointer is given as
 * such, with its length. */
DTX_MUSTUSE enum dtx_code dtx_frame_stream(struct dtx_frame *f,
                                           enum dtx_code (*put)(void *arg, struct dtx_str bytes,
                                                                struct dtx_err *err),
                                           void *arg, struct dtx_err *err);
void dtx_frame_clear(struct dtx_frame *f);

/* --- reading --- */

struct dtx_frame_view {
	const unsigned char *ptr;
	uint64_t len;
	uint32_t n;
	struct dtx_frame_entry *entry;
};
#define DTX_FRAME_VIEW_INIT                                                                        \
	{                                                                                          \
		NULL, 0, 0, NULL                                                                   \
	}

/* Checks header, directory and ranges, but no values yet.  ptr is aligned to 8 and must outlive the
 * view.  This function and those below fail with snippet_bad_result. */
DTX_MUSTUSE enum dtx_code dtx_frame_open(const void *ptr, uint64_t len, struct dtx_frame_view *view,
                                         struct dtx_err *err);
void dtx_frame_close(struct dtx_frame_view *view);
/* The first section of a kind; NULL if none. */
const struct dtx_frame_entry *dtx_frame_find(const struct dtx_frame_view *view,
                                             enum dtx_frame_kind kind);
/* Buffer a. */
struct dtx_str dtx_frame_bytes(const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *entry);
/* The table of a TABLE entry, with every value checked.  Columns point into the frame where that is
 * possible; `keep` owns its bytes (a reference is taken). */
DTX_MUSTUSE enum dtx_code dtx_frame_table(const struct dtx_frame_view *view,
                                          const struct dtx_frame_entry *entry,
                                          struct dtx_owner *keep, struct dtx_table **out,
                                          struct dtx_err *err);
/* Copies the grid of a GRID entry, with every cell checked, to *out, which belongs to the
 * caller. */
DTX_MUSTUSE enum dtx_code dtx_frame_grid(const struct dtx_frame_view *view,
                                         const struct dtx_frame_entry *entry,
                                         struct dtx_rawgrid *out, struct dtx_err *err);

/* For use within the frame code: the lengths of a grid, and its two buffers. */
void dtx_frame_grid_measure(const struct dtx_rawgrid *grid, struct dtx_frame_entry *entry);
void dtx_frame_grid_write(const struct dtx_rawgrid *grid, void *a, void *b);

/* A CELLS entry of a table with `rows` rows.  Every tag and payload is checked; ids of texts are
 * below `nstrings`. */
DTX_MUSTUSE enum dtx_code dtx_frame_cells(const struct dtx_frame_view *view,
                                          const struct dtx_frame_entry *entry, uint64_t rows,
                                          uint64_t nstrings, const uint8_t **tag,
                                          const union dtx_payload **value, struct dtx_err *err);
/* The texts of a STRINGS entry, checked.  `to` has room for entry->rows; the texts point into the
 * frame. */
DTX_MUSTUSE enum dtx_code dtx_frame_strings(const struct dtx_frame_view *view,
                                            const struct dtx_frame_entry *entry, struct dtx_str *to,
                                            struct dtx_err *err);

#endif
