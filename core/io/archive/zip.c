/* Reads ZIP files, see zip.h: the central directory, checks, and unpacking within the limits.
 * The format is described in PKWARE's APPNOTE.TXT. */
#include "core/io/archive/zip.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/io/archive/inflate.h"

enum {
	EOCD_SIZE = 22,
	EOCD64_SIZE = 56,
	LOCATOR_SIZE = 20,
	CENTRAL_SIZE = 46,
	LOCAL_SIZE = 30,
	RATIO_AFTER = 1 << 20,
	STEEP_AFTER = 64 << 20, /* a file that still unpacks so well here was made as a bomb */
	STEEP = 4
};
#define SIG_EOCD    0x06054b50u
#define SIG_EOCD64  0x06064b50u
#define SIG_LOCATOR 0x07064b50u
#define SIG_CENTRAL 0x02014b50u
#define SIG_LOCAL   0x04034b50u

#define FAIL_CORRUPT(err, ...) DTX_FAIL((err), DTX_E_CORRUPT_FILE, __VA_ARGS__)

static uint16_t le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
	return (uint32_t)le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const unsigned char *p)
{
	return (uint64_t)le32(p) | (uint64_t)le32(p + 4) << 32;
}

bool dtx_zip_sniff(const void *head, size_t len)
{
	return len >= 4 && (le32(head) == SIG_LOCAL || le32(head) == SIG_EOCD);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Appends a segment of a path to out[0..*n), resolving "." and "..". */
static void fold_segment(char *out, size_t *n, struct dtx_str seg)
{
	if (!seg.len || dtx_str_is(seg, "."))
		return;
	if (dtx_str_is(seg, "..")) {
		while (*n && out[*n - 1] != '/')
			--*n;
		*n -= *n > 0;
		return;
	}
	if (*n)
		out[(*n)++] = '/';
	memcpy(out + *n, seg.ptr, seg.len);
	*n += seg.len;
}

bool dtx_zip_fold(struct dtx_str name, char out[DTX_ZIP_NAME_MAX], size_t *len)
{
	char flat[DTX_ZIP_NAME_MAX];
	struct dtx_str rest = { flat, 0 }, seg;
	size_t i;

	*len = 0;
	if (name.len >= DTX_ZIP_NAME_MAX)
		return false;
	for (i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (c == '%' && i + 2 < name.len && hex_value(name.ptr[i + 1]) >= 0 &&
		    hex_value(name.ptr[i + 2]) >= 0) {
			c = (char)(hex_value(name.ptr[i + 1]) << 4 | hex_value(name.ptr[i + 2]));
			i += 2;
		}
		c = c == '\\' ? '/' : c;
		flat[rest.len++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
	}
	while (dtx_str_next(&rest, '/', &seg))
		fold_segment(out, len, seg);
	return true;
}

/* The place of the directory, its number of entries, and where it ends. */
struct directory {
	uint64_t offset, size, count, end;
	uint64_t moved; /* how far the zip64 end record is from where it should be */
};

static bool is_end64(const struct dtx_zip *z, uint64_t at, size_t eocd)
{
	return at <= eocd - LOCATOR_SIZE && eocd - LOCATOR_SIZE - at >= EOCD64_SIZE &&
	       le32(z->bytes + at) == SIG_EOCD64;
}

static enum dtx_code directory64(const struct dtx_zip *z, size_t eocd, struct directory *d,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const unsigned char *p;
	uint64_t at, says;

	if (eocd < LOCATOR_SIZE || le32(z->bytes + eocd - LOCATOR_SIZE) != SIG_LOCATOR)
		goto out;
	at = says = le64(z->bytes + eocd - LOCATOR_SIZE + 8);
	/* If other bytes precede the archive, the record is right before its locator, not where
	 * the locator says. */
	if (!is_end64(z, at, eocd) && eocd - LOCATOR_SIZE >= EOCD64_SIZE)
		at = eocd - LOCATOR_SIZE - EOCD64_SIZE;
	if (!is_end64(z, at, eocd) || at < says)
		FAIL_CORRUPT(err, "'%s': the zip64 end record is not where it should be", z->label);
	p = z->bytes + at;
	*d = (struct directory){ le64(p + 48), le64(p + 40), le64(p + 32), at, at - says };
	if (le64(p + 24) != d->count)
		FAIL_CORRUPT(err, "'%s': zip archive in several volumes", z->label);
out:
	return rc;
}

static bool is_directory(const struct dtx_zip *z, const struct directory *d, uint64_t lead)
{
	return d->size >= CENTRAL_SIZE && le32(z->bytes + lead + d->offset) == SIG_CENTRAL;
}

/* The directory ends where its end record begins. If it is found there instead of where the
 * record says, all offsets are off by the number of bytes before the archive. */
static void pass_lead(struct dtx_zip *z, struct directory *d)
{
	uint64_t lead = d->end - d->size - d->offset;

	if (is_directory(z, d, 0) || !is_directory(z, d, lead))
		return;
	z->lead = lead;
	z->bytes += lead;
	z->len -= (size_t)lead;
	d->end -= lead;
}

static enum dtx_code cut_short(const struct dtx_zip *z, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s' is cut short: the end of its zip archive is missing", z->label);
	dtx_err_hint(err, "get the whole file again, of which there are %zu bytes here", z->len);
	return DTX_E_CORRUPT_FILE;
}

static enum dtx_code find_directory(struct dtx_zip *z, struct directory *d, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t at, stop;

	if (z->len < EOCD_SIZE)
		return cut_short(z, err);
	at = z->len - EOCD_SIZE;
	stop = at > 65535 ? at - 65535 : 0;
	while (le32(z->bytes + at) != SIG_EOCD ||
	       le16(z->bytes + at + 20) > z->len - at - EOCD_SIZE) {
		if (at == stop)
			return cut_short(z, err);
		at--;
	}
	*d = (struct directory){ le32(z->bytes + at + 16), le32(z->bytes + at + 12),
		                 le16(z->bytes + at + 10), at, 0 };
	if (le16(z->bytes + at + 8) != d->count)
		FAIL_CORRUPT(err, "'%s': zip archive in several volumes", z->label);
	DTX_TRY(directory64(z, at, d, err));
	if (d->offset > d->end || d->size > d->end - d->offset)
		FAIL_CORRUPT(err, "'%s': zip directory lies outside the file", z->label);
	pass_lead(z, d);
	if (d->moved && d->moved != z->lead)
		FAIL_CORRUPT(err, "'%s': the zip64 end record is not where it should be", z->label);
	if (d->count > z->limits.entries)
		rc = dtx_archive_limits_fail(
			err, &z->limits, "entries",
			"'%s': zip archive says it has %llu entries, the limit is "
			"%llu",
			z->label, (unsigned long long)d->count,
			(unsigned long long)z->limits.entries);
out:
	return rc;
}

/* Reads the 64-bit values that replace 0xffffffff, which come in a fixed order. */
static bool extra64(const unsigned char *p, size_t len, struct dtx_zip_entry *e)
{
	uint64_t *want[3] = { &e->size, &e->packed, &e->header };
	size_t i;

	while (len >= 4) {
		uint16_t id = le16(p);
		size_t n = le16(p + 2);
		const unsigned char *v = p + 4;

		if (n > len - 4)
			return false;
		p += 4 + n;
		len -= 4 + n;
		if (id != 1)
			continue;
		for (i = 0; i < 3; i++) {
			if (*want[i] != 0xffffffffu)
				continue;
			if (n < 8)
				return false;
			*want[i] = le64(v);
			v += 8;
			n -= 8;
		}
	}
	return true;
}

static enum dtx_code add_name(struct dtx_zip *z, struct dtx_str raw, uint32_t index,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zip_entry *e = &z->entry[index];
	char folded[DTX_ZIP_NAME_MAX], *name;
	uint32_t found;
	size_t len;

	if (memchr(raw.ptr, '\0', raw.len))
		FAIL_CORRUPT(err, "'%s': a part name holds a NUL byte", z->label);
	if (!dtx_zip_fold(raw, folded, &len))
		FAIL_CORRUPT(err, "'%s': a part name of over %d bytes", z->label,
		             DTX_ZIP_NAME_MAX - 1);
	name = dtx_arena_strndup(&z->arena, folded, len);
	if (!name)
		DTX_FAIL_MEM(err);
	e->name = (struct dtx_str){ name, len };
	if (!dtx_strmap_put(&z->names, e->name, index, &found))
		DTX_FAIL_MEM(err);
	/* Programs differ in which of two equal names they use, which can hide content. */
	if (found != index)
		FAIL_CORRUPT(err, "'%s': two parts are named %.200s", z->label, name);
out:
	return rc;
}

static enum dtx_code check_method(const struct dtx_zip *z, const unsigned char *p,
                                  const struct dtx_zip_entry *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (le16(p + 8) & 0x2041)
		FAIL_CORRUPT(err, "'%s': %.200s is encrypted inside the zip", z->label,
		             e->name.ptr);
	if (e->method != 0 && e->method != 8)
		FAIL_CORRUPT(err,
		             "'%s': %.200s is packed with method %u, expected stored or "
		             "deflated",
		             z->label, e->name.ptr, e->method);
	if (e->method == 0 && e->packed != e->size)
		FAIL_CORRUPT(err, "'%s': %.200s is stored but has two sizes", z->label,
		             e->name.ptr);
out:
	return rc;
}

/* The local header is only used to find the data; its name must be that of the directory. */
static enum dtx_code place_data(const struct dtx_zip *z, struct dtx_str raw, uint64_t limit,
                                struct dtx_zip_entry *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const unsigned char *p;

	if (e->header > limit || limit - e->header < LOCAL_SIZE)
		FAIL_CORRUPT(err, "'%s': %.200s lies outside the file", z->label, e->name.ptr);
	p = z->bytes + e->header;
	if (le32(p) != SIG_LOCAL)
		FAIL_CORRUPT(err, "'%s': %.200s has no local header", z->label, e->name.ptr);
	e->data = e->header + LOCAL_SIZE + le16(p + 26) + le16(p + 28);
	if (e->data > limit || e->packed > limit - e->data)
		FAIL_CORRUPT(err, "'%s': %.200s lies outside the file", z->label, e->name.ptr);
	if (le16(p + 26) != raw.len || memcmp(p + LOCAL_SIZE, raw.ptr, raw.len))
		FAIL_CORRUPT(err, "'%s': %.200s has another name in its local header", z->label,
		             e->name.ptr);
out:
	return rc;
}

static enum dtx_code read_entry(struct dtx_zip *z, const struct directory *d, uint64_t *at,
                                uint32_t index, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t end = d->offset + d->size;
	const unsigned char *p = z->bytes + *at;
	struct dtx_zip_entry *e = &z->entry[index];
	size_t nname, nextra, ncomment;
	struct dtx_str raw;

	if (end - *at < CENTRAL_SIZE || le32(p) != SIG_CENTRAL)
		FAIL_CORRUPT(err, "'%s': zip directory breaks off at entry %u of %llu", z->label,
		             index + 1, (unsigned long long)d->count);
	nname = le16(p + 28);
	nextra = le16(p + 30);
	ncomment = le16(p + 32);
	if (end - *at - CENTRAL_SIZE < nname + nextra + ncomment)
		FAIL_CORRUPT(err, "'%s': zip directory breaks off at entry %u of %llu", z->label,
		             index + 1, (unsigned long long)d->count);
	raw = (struct dtx_str){ (const char *)p + CENTRAL_SIZE, nname };
	*e = (struct dtx_zip_entry){ .header = le32(p + 42),
		                     .packed = le32(p + 20),
		                     .size = le32(p + 24),
		                     .crc = le32(p + 16),
		                     .method = le16(p + 10) };
	DTX_TRY(add_name(z, raw, index, err));
	if (!extra64(p + CENTRAL_SIZE + nname, nextra, e))
		FAIL_CORRUPT(err, "'%s': %.200s has a broken zip64 field", z->label, e->name.ptr);
	DTX_TRY(check_method(z, p, e, err));
	DTX_TRY(place_data(z, raw, d->offset, e, err));
	*at += CENTRAL_SIZE + nname + nextra + ncomment;
out:
	return rc;
}

static int by_header(const void *a, const void *b)
{
	const struct dtx_zip_entry *x = *(const struct dtx_zip_entry *const *)a;
	const struct dtx_zip_entry *y = *(const struct dtx_zip_entry *const *)b;

	return (x->header > y->header) - (x->header < y->header);
}

/* Refuses entries that share bytes, the core of a quadratic zip bomb (Fifield, "A better zip
 * bomb", 2019). */
static enum dtx_code check_overlap(struct dtx_zip *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_zip_entry **order = dtx_mem_alloc(z->n, sizeof(*order));
	uint32_t i;

	if (!order)
		DTX_FAIL_MEM(err);
	for (i = 0; i < z->n; i++)
		order[i] = &z->entry[i];
	qsort(order, z->n, sizeof(*order), by_header);
	for (i = 1; i < z->n; i++) {
		if (order[i - 1]->data + order[i - 1]->packed > order[i]->header)
			FAIL_CORRUPT(err, "'%s': %.150s and %.150s overlap inside the zip",
			             z->label, order[i - 1]->name.ptr, order[i]->name.ptr);
	}
out:
	dtx_mem_free(order);
	return rc;
}

enum dtx_code dtx_zip_open(struct dtx_zip *z, const char *label, const void *bytes, size_t len,
                           const struct dtx_archive_limits *limits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct directory d = { 0 };
	uint64_t at, room;
	uint32_t i;

	*z = (struct dtx_zip){ .label = label, .bytes = bytes, .len = len, .limits = *limits };
	DTX_TRY(find_directory(z, &d, err));
	/* The count is only a claim; the size of the directory limits what it can be. */
	room = d.size / CENTRAL_SIZE;
	if (d.count > room)
		FAIL_CORRUPT(err, "'%s': zip directory has no room for its %llu entries", label,
		             (unsigned long long)d.count);
	z->entry = dtx_arena_zalloc(&z->arena, (size_t)d.count, sizeof(*z->entry));
	if (!z->entry)
		DTX_FAIL_MEM(err);
	at = d.offset;
	for (i = 0; i < d.count; i++) {
		DTX_TRY(read_entry(z, &d, &at, i, err));
		z->n = i + 1;
	}
	DTX_TRY(check_overlap(z, err));
out:
	return rc;
}

bool dtx_zip_behind(const void *bytes, size_t len)
{
	static const char mark[4] = "PK\5\6";
	struct dtx_zip z = {
		.label = "", .bytes = bytes, .len = len, .limits = DTX_ARCHIVE_LIMITS_INIT
	};
	size_t tail = DTX_MIN(len, (size_t)EOCD_SIZE + 65535);
	struct directory d = { 0 };
	uint32_t local;

	if (!memmem(z.bytes + len - tail, tail, mark, sizeof(mark)) ||
	    find_directory(&z, &d, NULL) != DTX_OK || !is_directory(&z, &d, 0))
		return false;
	local = le32(z.bytes + d.offset + 42);
	return local <= d.offset && d.offset - local >= LOCAL_SIZE &&
	       le32(z.bytes + local) == SIG_LOCAL;
}

void dtx_zip_clear(struct dtx_zip *z)
{
	dtx_strmap_clear(&z->names);
	dtx_arena_clear(&z->arena);
	*z = (struct dtx_zip)DTX_ZIP_INIT;
}

const struct dtx_zip_entry *dtx_zip_find(const struct dtx_zip *z, struct dtx_str name)
{
	char folded[DTX_ZIP_NAME_MAX];
	uint32_t i;
	size_t len;

	if (!dtx_zip_fold(name, folded, &len))
		return NULL;
	i = dtx_strmap_get(&z->names, (struct dtx_str){ folded, len });
	return i == DTX_STRMAP_NONE ? NULL : &z->entry[i];
}

struct dtx_unzip {
	struct dtx_zip *zip;
	const struct dtx_zip_entry *entry;
	const struct dtx_inflate_class *inflate;
	void *state;              /* NULL: not compressed */
	struct dtx_inflate_io io; /* `in` is the rest of the packed bytes */
	bool done;
	uint64_t out;
	uint32_t crc;
};

enum dtx_code dtx_unzip_open(struct dtx_zip *z, const struct dtx_zip_entry *entry,
                             struct dtx_unzip **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_unzip *u = dtx_mem_zalloc(1, sizeof(*u));

	if (!u)
		DTX_FAIL_MEM(err);
	u->zip = z;
	u->entry = entry;
	if (entry->size > z->limits.part) {
		rc = dtx_archive_limits_fail(
			err, &z->limits, "part",
			"'%s': %.200s inflates to %llu bytes, the limit is %llu", z->label,
			entry->name.ptr, (unsigned long long)entry->size,
			(unsigned long long)z->limits.part);
		goto out;
	}
	u->inflate = dtx_inflate_best();
	u->io.in = z->bytes + entry->data;
	u->io.nin = (size_t)entry->packed;
	if (entry->method == 8) {
		u->state = u->inflate->open();
		if (!u->state)
			DTX_FAIL_MEM(err);
	}
	*out = u;
	u = NULL;
out:
	dtx_unzip_free(u);
	return rc;
}

void dtx_unzip_free(struct dtx_unzip *u)
{
	if (!u)
		return;
	if (u->state)
		u->inflate->close(u->state);
	dtx_mem_free(u);
}

static size_t unzip_stored(struct dtx_unzip *u, void *to, size_t cap)
{
	size_t n = DTX_MIN(u->io.nin, cap);

	memcpy(to, u->io.in, n);
	u->io.in += n;
	u->io.nin -= n;
	u->done = !u->io.nin;
	return n;
}

static enum dtx_code unzip_deflated(struct dtx_unzip *u, void *to, size_t cap, size_t *got,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_inflate_state state;

	u->io.out = to;
	u->io.nout = cap;
	state = u->inflate->run(u->state, &u->io);
	*got = cap - u->io.nout;
	if (state == DTX_INFLATE_NO_MEMORY)
		DTX_FAIL_MEM(err);
	if (state == DTX_INFLATE_BAD || (state == DTX_INFLATE_MORE && u->io.nout))
		FAIL_CORRUPT(err, "'%s': %.200s does not inflate (%s)", u->zip->label,
		             u->entry->name.ptr,
		             state == DTX_INFLATE_BAD ? "damaged" : "cut short");
	u->done = state == DTX_INFLATE_END;
	if (u->done && u->io.nin)
		FAIL_CORRUPT(err, "'%s': %.200s is shorter than its packed size", u->zip->label,
		             u->entry->name.ptr);
out:
	return rc;
}

static enum dtx_code check_limits(struct dtx_unzip *u, size_t got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_archive_limits *lim = &u->zip->limits;
	struct dtx_zip_entry *e = &u->zip->entry[u->entry - u->zip->entry];
	uint64_t packed = e->packed ? e->packed : 1, ratio = lim->ratio;

	u->out += got;
	if (u->out > STEEP_AFTER) {
		ratio = DTX_MAX(ratio / STEEP, (uint64_t)1);
		packed = DTX_MAX(packed - u->io.nin, (uint64_t)1);
	}
	if (u->out > e->counted) {
		u->zip->inflated += u->out - e->counted;
		e->counted = u->out;
	}
	if (u->out > u->entry->size)
		FAIL_CORRUPT(err, "'%s': %.200s inflates to more than the %llu bytes it declares",
		             u->zip->label, u->entry->name.ptr, (unsigned long long)u->entry->size);
	if (u->out > RATIO_AFTER && u->out / ratio > packed)
		rc = dtx_archive_limits_fail(err, lim, "ratio",
		                             "'%s': %.200s inflates over %llu times", u->zip->label,
		                             u->entry->name.ptr, (unsigned long long)ratio);
	else if (u->zip->inflated > lim->total)
		rc = dtx_archive_limits_fail(err, lim, "total",
		                             "'%s': parts inflate to over %llu bytes",
		                             u->zip->label, (unsigned long long)lim->total);
out:
	return rc;
}

enum dtx_code dtx_unzip_read(struct dtx_unzip *u, void *to, size_t cap, size_t *got,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*got = 0;
	if (u->done)
		goto out;
	if (u->state)
		DTX_TRY(unzip_deflated(u, to, cap, got, err));
	else
		*got = unzip_stored(u, to, cap);
	DTX_TRY(check_limits(u, *got, err));
	if (u->zip->limits.tick)
		u->zip->limits.tick(u->zip->limits.tick_arg, u->entry->packed - u->io.nin,
		                    u->entry->packed);
	u->crc = u->inflate->crc(u->crc, to, *got);
	if (u->done && (u->out != u->entry->size || u->crc != u->entry->crc))
		FAIL_CORRUPT(err, "'%s': %.200s is damaged (%s does not match)", u->zip->label,
		             u->entry->name.ptr, u->out != u->entry->size ? "size" : "checksum");
out:
	return rc;
}
