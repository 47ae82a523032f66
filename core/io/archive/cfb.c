/* Reads compound files, see cfb.h. The format is described in [MS-CFB].
 *
 * The allocation table, which links sectors to chains, is read in place. Only the list of the
 * table's own sectors, the directory, and streams in several pieces are copied. */
#include "core/io/archive/cfb.h"

#include "core/base/text/le.h"
#include "core/base/memory/mem.h"

enum {
	HEADER = 512,
	HEADER_DIFAT = 109, /* entries of that list in the header */
	ENTRY = 128,
	MINI = 64,
	ENTRIES_MAX = 1 << 20,
	STORAGE_ROOT = 5,
	STREAM = 2
};
#define SECTOR_LAST 0xfffffffau /* larger numbers have special meanings */

static const uint8_t magic[8] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };

bool dtx_cfb_sniff(const void *head, size_t len)
{
	return len >= sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

static enum dtx_code corrupt(const struct dtx_cfb *c, const char *what, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__, "'%s': compound file: %s",
	            c->label, what);
	return DTX_E_CORRUPT_FILE;
}

/* --- sectors --- */

/* The bytes of a sector; the last one may be cut short. NULL if there is no such sector. */
static const uint8_t *sector_at(const struct dtx_cfb *c, uint32_t n, size_t *len)
{
	size_t at = ((size_t)n + 1) * c->sector;

	if (n >= c->nsectors)
		return NULL;
	*len = DTX_MIN(c->len - at, (size_t)c->sector);
	return c->bytes + at;
}

/* The sector after n in its chain; above SECTOR_LAST at the end of the chain, or where the table
 * is cut. */
static uint32_t next_sector(const struct dtx_cfb *c, uint32_t n)
{
	uint32_t per = c->sector / 4, i = n / per;
	const uint8_t *p;
	size_t len;

	if (i >= c->nfat)
		return DTX_CFB_NONE;
	p = sector_at(c, c->fat_sector[i], &len);
	return p && (n % per + 1) * 4 <= len ? dtx_le_u32(p + n % per * 4) : DTX_CFB_NONE;
}

/* Adds sectors of the table to the list; returns false at its end. */
static bool take_difat(struct dtx_cfb *c, const uint8_t *p, uint32_t n, uint32_t max)
{
	uint32_t i;

	for (i = 0; i < n && c->nfat < max; i++) {
		uint32_t s = dtx_le_u32(p + (size_t)i * 4);

		if (s > SECTOR_LAST)
			return false;
		c->fat_sector[c->nfat++] = s;
	}
	return c->nfat < max;
}

/* Finds the sectors of the table: 109 are listed in the header, the others in a chain of their
 * own. The list never gets longer than is needed to link all sectors, which also ends loops. */
static enum dtx_code find_table(struct dtx_cfb *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t per = c->sector / 4, max = c->nsectors / per + 1, next, left;
	const uint8_t *p;
	size_t len;

	c->fat_sector = dtx_mem_alloc(max, sizeof(*c->fat_sector));
	if (!c->fat_sector)
		DTX_FAIL_MEM(err);
	if (!take_difat(c, c->bytes + 76, HEADER_DIFAT, max))
		goto out;
	next = dtx_le_u32(c->bytes + 68);
	for (left = max; next <= SECTOR_LAST && left; left--) {
		p = sector_at(c, next, &len);
		if (!p || len < c->sector)
			return corrupt(c, "the list of its tables is cut off", err);
		if (!take_difat(c, p, per - 1, max))
			break;
		next = dtx_le_u32(p + c->sector - 4);
	}
out:
	return rc;
}

/* --- chains --- */

/* The length of a chain in sectors, at most `max`. *together: the sectors follow each other in
 * the file. */
static uint32_t chain_length(const struct dtx_cfb *c, uint32_t first, uint32_t max, bool *together)
{
	uint32_t n = 0, s = first, next;

	*together = true;
	while (n < max && s < c->nsectors) {
		n++;
		next = next_sector(c, s);
		if (n < max && next < c->nsectors)
			*together &= next == s + 1;
		s = next;
	}
	return n;
}

/* Reads the bytes of a chain, at most `want`. */
static enum dtx_code read_chain(const struct dtx_cfb *c, uint32_t first, uint64_t want,
                                struct dtx_cfb_stream *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t wanted = want / c->sector + (want % c->sector != 0);
	uint32_t s = first, n, i;
	bool together;
	const uint8_t *p;
	size_t len = 0;

	*out = (struct dtx_cfb_stream){ (const uint8_t *)"", 0, NULL };
	n = chain_length(c, first, (uint32_t)DTX_MIN(wanted, (uint64_t)c->nsectors), &together);
	if (!n)
		goto out;
	if (together) {
		out->bytes = sector_at(c, first, &len);
		out->len = (size_t)DTX_MIN(want, (uint64_t)n * c->sector);
		out->len = DTX_MIN(out->len, c->len - (size_t)(out->bytes - c->bytes));
		goto out;
	}
	out->copy = dtx_mem_alloc(n, c->sector);
	if (!out->copy)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		p = sector_at(c, s, &len);
		memcpy(out->copy + out->len, p, len);
		out->len += len;
		s = next_sector(c, s);
	}
	out->bytes = out->copy;
	out->len = (size_t)DTX_MIN(want, (uint64_t)out->len);
out:
	return rc;
}

/* Reads a short stream: it consists of pieces of 64 bytes in the root's stream, linked by a
 * table of their own. */
static enum dtx_code read_mini(const struct dtx_cfb *c, uint32_t first, uint64_t want,
                               struct dtx_cfb_stream *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cfb_stream table = { 0 }, pool = { 0 };
	uint32_t s = first, left;
	size_t at, n;

	*out = (struct dtx_cfb_stream){ (const uint8_t *)"", 0, NULL };
	DTX_TRY(read_chain(c, c->first_mini_fat, UINT64_MAX, &table, err));
	DTX_TRY(read_chain(c, dtx_le_u32(c->dir + 116), dtx_le_u32(c->dir + 120), &pool, err));
	want = DTX_MIN(want, (uint64_t)pool.len);
	out->copy = dtx_mem_alloc((size_t)want + 1, 1);
	if (!out->copy)
		DTX_FAIL_MEM(err);
	out->bytes = out->copy;
	for (left = (uint32_t)(pool.len / MINI) + 1; left && out->len < want; left--) {
		at = (size_t)s * MINI;
		if (at >= pool.len || ((size_t)s + 1) * 4 > table.len)
			break;
		n = DTX_MIN(DTX_MIN(pool.len - at, (size_t)MINI), (size_t)want - out->len);
		memcpy(out->copy + out->len, pool.bytes + at, n);
		out->len += n;
		s = dtx_le_u32(table.bytes + (size_t)s * 4);
	}
out:
	dtx_cfb_stream_clear(&table);
	dtx_cfb_stream_clear(&pool);
	return rc;
}

void dtx_cfb_stream_clear(struct dtx_cfb_stream *s)
{
	dtx_mem_free(s->copy);
	*s = (struct dtx_cfb_stream){ 0 };
}

/* --- directory --- */

static enum dtx_code read_directory(struct dtx_cfb *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cfb_stream s = { 0 };

	DTX_TRY(read_chain(c, dtx_le_u32(c->bytes + 48), (uint64_t)ENTRIES_MAX * ENTRY, &s, err));
	c->nentries = (uint32_t)(s.len / ENTRY);
	if (!c->nentries || s.bytes[66] != STORAGE_ROOT) {
		rc = corrupt(c, c->nentries ? "it has no root" : "it is cut off", err);
		goto out;
	}
	c->dir = dtx_mem_alloc(c->nentries, ENTRY);
	if (!c->dir)
		DTX_FAIL_MEM(err);
	memcpy(c->dir, s.bytes, (size_t)c->nentries * ENTRY);
out:
	dtx_cfb_stream_clear(&s);
	return rc;
}

enum dtx_code dtx_cfb_open(struct dtx_cfb *cfb, const char *label, const void *bytes, size_t len,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned shift;

	cfb->label = label;
	cfb->bytes = bytes;
	cfb->len = len;
	if (len < HEADER || !dtx_cfb_sniff(bytes, len))
		return corrupt(cfb, "its header is cut off", err);
	shift = dtx_le_u16(cfb->bytes + 30);
	if (shift != 9 && shift != 12)
		return corrupt(cfb, "its sectors have neither 512 nor 4096 bytes", err);
	cfb->sector = 1u << shift;
	if (len <= cfb->sector)
		return corrupt(cfb, "it has no sectors", err);
	cfb->nsectors = (uint32_t)DTX_MIN((len - 1) / cfb->sector, (size_t)SECTOR_LAST);
	cfb->mini_cutoff = dtx_le_u32(cfb->bytes + 56);
	cfb->first_mini_fat = dtx_le_u32(cfb->bytes + 60);
	DTX_TRY(find_table(cfb, err));
	DTX_TRY(read_directory(cfb, err));
out:
	return rc;
}

void dtx_cfb_clear(struct dtx_cfb *cfb)
{
	dtx_mem_free(cfb->fat_sector);
	dtx_mem_free(cfb->dir);
	*cfb = (struct dtx_cfb){ 0 };
}

static bool entry_is(const uint8_t *e, const char *name)
{
	size_t n = strlen(name), i;

	if (e[66] != STREAM || dtx_le_u16(e + 64) != (n + 1) * 2)
		return false;
	for (i = 0; i < n; i++) {
		unsigned unit = dtx_le_u16(e + i * 2), want = (unsigned char)name[i];

		unit = unit >= 'A' && unit <= 'Z' ? unit | 32 : unit;
		want = want >= 'A' && want <= 'Z' ? want | 32 : want;
		if (unit != want)
			return false;
	}
	return true;
}

/* Looks for a child of the root. The children form a tree that may contain loops in a damaged
 * file, so it is walked with an explicit stack and a mark for each entry. Each marked entry adds
 * at most two others. */
static bool find_child(const struct dtx_cfb *c, const char *name, uint8_t *seen, uint32_t *todo,
                       uint32_t *found)
{
	uint32_t n = 0, i, side;

	todo[n++] = dtx_le_u32(c->dir + 76);
	while (n) {
		i = todo[--n];
		if (i >= c->nentries || seen[i])
			continue;
		seen[i] = 1;
		if (entry_is(c->dir + (size_t)i * ENTRY, name)) {
			*found = i;
			return true;
		}
		for (side = 68; side <= 72; side += 4)
			todo[n++] = dtx_le_u32(c->dir + (size_t)i * ENTRY + side);
	}
	return false;
}

enum dtx_code dtx_cfb_find(const struct dtx_cfb *cfb, const char *name, uint32_t *entry,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t *seen = dtx_mem_zalloc(cfb->nentries, 1);
	uint32_t *todo = dtx_mem_alloc((size_t)cfb->nentries * 2 + 1, sizeof(*todo));
	uint32_t i;

	*entry = DTX_CFB_NONE;
	if (!seen || !todo)
		DTX_FAIL_MEM(err);
	if (find_child(cfb, name, seen, todo, entry))
		goto out;
	/* Some writers leave out the tree; then the first stream of that name is used. */
	for (i = 0; i < cfb->nentries && *entry == DTX_CFB_NONE; i++) {
		if (entry_is(cfb->dir + (size_t)i * ENTRY, name))
			*entry = i;
	}
out:
	dtx_mem_free(seen);
	dtx_mem_free(todo);
	return rc;
}

enum dtx_code dtx_cfb_read(const struct dtx_cfb *cfb, uint32_t entry, struct dtx_cfb_stream *out,
                           struct dtx_err *err)
{
	const uint8_t *e = cfb->dir + (size_t)entry * ENTRY;
	uint64_t size = dtx_le_u32(e + 120);

	/* Files of version 3 may have garbage in the upper half. */
	if (cfb->sector != 512)
		size |= (uint64_t)dtx_le_u32(e + 124) << 32;
	if (size < cfb->mini_cutoff)
		return read_mini(cfb, dtx_le_u32(e + 116), size, out, err);
	return read_chain(cfb, dtx_le_u32(e + 116), size, out, err);
}
