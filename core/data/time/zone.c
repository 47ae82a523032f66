/* The offsets of a time zone: first those that its file lists, then those by its rule. */
#include "core/data/time/zone.h"

#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/text/str.h"
#include "core/data/time/time.h"

struct dtx_zonechange {
	char kind; /* 'M': month, week and day of the week; 'J': day of the year without 29
	            * February, from 1; 'n': day of the year with it, from 0 */
	int32_t month, week, day;
	int32_t sec; /* local time of the change, seconds of that day */
};
struct dtx_zonerule {
	int32_t standard, summer; /* seconds east of UTC */
	bool changes;
	struct dtx_zonechange begin, end; /* of daylight saving time */
};

/* Daylight saving time by a rule, for the years after the last one that a file lists. */

#define DAY_SEC INT64_C(86400)

/* --- reading; each function takes what it reads from the front of *s --- */

static bool take(struct dtx_str *s, char c)
{
	if (!s->len || *s->ptr != c)
		return false;
	s->ptr++;
	s->len--;
	return true;
}

static bool take_number(struct dtx_str *s, int32_t max, int32_t *out)
{
	size_t i = 0;

	for (*out = 0; i < s->len && i < 4 && s->ptr[i] >= '0' && s->ptr[i] <= '9'; i++)
		*out = *out * 10 + (s->ptr[i] - '0');
	s->ptr += i;
	s->len -= i;
	return i && *out <= max;
}

/* Letters, or anything between < and >. */
static bool take_name(struct dtx_str *s)
{
	bool quoted = take(s, '<');
	size_t n = 0;

	while (n < s->len && (quoted ? s->ptr[n] != '>'
	                             : (s->ptr[n] >= 'A' && s->ptr[n] <= 'Z') ||
	                                       (s->ptr[n] >= 'a' && s->ptr[n] <= 'z')))
		n++;
	s->ptr += n;
	s->len -= n;
	return n && (!quoted || take(s, '>'));
}

/* [+-]hh[:mm[:ss]] in seconds */
static bool take_time(struct dtx_str *s, int32_t *out)
{
	bool minus = take(s, '-');
	int32_t h, m = 0, sec = 0;

	if (!minus)
		(void)take(s, '+');
	if (!take_number(s, 167, &h) || (take(s, ':') && !take_number(s, 59, &m)) ||
	    (take(s, ':') && !take_number(s, 59, &sec)))
		return false;
	*out = (h * 3600 + m * 60 + sec) * (minus ? -1 : 1);
	return true;
}

static bool take_change(struct dtx_str *s, struct dtx_zonechange *c)
{
	*c = (struct dtx_zonechange){ .kind = 'n', .sec = 7200 };
	if (!take(s, ','))
		return false;
	if (take(s, 'M')) {
		c->kind = 'M';
		if (!take_number(s, 12, &c->month) || !take(s, '.') ||
		    !take_number(s, 5, &c->week) || !take(s, '.') || !take_number(s, 6, &c->day) ||
		    !c->month || !c->week)
			return false;
	} else {
		c->kind = take(s, 'J') ? 'J' : 'n';
		if (!take_number(s, 365, &c->day) || (c->kind == 'J' && !c->day))
			return false;
	}
	return !take(s, '/') || take_time(s, &c->sec);
}

static bool zonerule_parse(struct dtx_str s, struct dtx_zonerule *out)
{
	int32_t west;

	*out = (struct dtx_zonerule){ 0 };
	if (!take_name(&s) || !take_time(&s, &west))
		return false;
	out->standard = out->summer = -west;
	out->changes = s.len != 0;
	if (!out->changes)
		return true;
	out->summer = out->standard + 3600;
	if (!take_name(&s))
		return false;
	if (s.len && *s.ptr != ',') {
		if (!take_time(&s, &west))
			return false;
		out->summer = -west;
	}
	return take_change(&s, &out->begin) && take_change(&s, &out->end) && !s.len;
}

/* --- applying --- */

static int64_t day_of_change(const struct dtx_zonechange *c, int32_t year)
{
	int64_t first = dtx_day_of(year, 1, 1), at;
	unsigned month = (unsigned)c->month;

	if (c->kind == 'n')
		return first + c->day;
	if (c->kind == 'J') /* day 60 is 1 March in every year */
		return c->day < 60 ? first + c->day - 1 : dtx_day_of(year, 3, 1) + c->day - 60;
	first = dtx_day_of(year, month, 1);
	at = first + (c->day - (int64_t)dtx_day_weekday((int32_t)first) % 7 + 7) % 7 +
	     (c->week - 1) * 7;
	/* the fifth week means the last */
	return at < dtx_day_of(year + (month == 12), month % 12 + 1, 1) ? at : at - 7;
}

/* Seconds east of UTC at an instant, which is in seconds since 1970. */
static int64_t zonerule_offset(const struct dtx_zonerule *r, int64_t sec)
{
	int64_t local = sec + r->standard, begin, end;
	unsigned month, dom;
	int32_t year;

	if (!r->changes)
		return r->standard;
	dtx_day_split((int32_t)(local / DAY_SEC - (local % DAY_SEC < 0)), &year, &month, &dom);
	begin = day_of_change(&r->begin, year) * DAY_SEC + r->begin.sec - r->standard;
	end = day_of_change(&r->end, year) * DAY_SEC + r->end.sec - r->summer;
	if (begin < end)
		return sec >= begin && sec < end ? r->summer : r->standard;
	return sec >= end && sec < begin ? r->standard : r->summer;
}

#define FILE_MAX      ((size_t)1 << 20)
#define ZONE_NAME_MAX 64u
#define SEC_US        INT64_C(1000000)
#define DAY_SEC       INT64_C(86400)

struct dtx_zone {
	size_t n;
	int64_t *at;     /* n instants of changes, ascending */
	int32_t *offset; /* n + 1 offsets: before the first change, and from each change on */
	bool has_rule;
	struct dtx_zonerule rule; /* valid from the last change on */
};

/* --- the file --- */

struct header {
	unsigned char version;
	uint32_t nut, nstd, nleap, ntimes, ntypes, nchars;
};
#define HEADER_BYTES 44u

static uint64_t big(const unsigned char *p, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static bool header_read(const unsigned char *p, size_t n, struct header *h)
{
	if (n < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
		return false;
	*h = (struct header){ .version = p[4],
		              .nut = (uint32_t)big(p + 20, 4),
		              .nstd = (uint32_t)big(p + 24, 4),
		              .nleap = (uint32_t)big(p + 28, 4),
		              .ntimes = (uint32_t)big(p + 32, 4),
		              .ntypes = (uint32_t)big(p + 36, 4),
		              .nchars = (uint32_t)big(p + 40, 4) };
	return h->ntypes > 0 && h->ntypes <= 256;
}

/* Bytes of the data that follows a header.  Every count is below 2^32. */
static uint64_t body_bytes(const struct header *h, unsigned width)
{
	return (uint64_t)h->ntimes * (width + 1) + (uint64_t)h->ntypes * 6 + h->nchars +
	       (uint64_t)h->nleap * (width + 4) + h->nstd + h->nut;
}

/* Reads the data of the 32-bit or the 64-bit part of the file. */
static bool body_read(struct dtx_zone *z, const unsigned char *p, const struct header *h,
                      unsigned width)
{
	const unsigned char *type = p + (size_t)h->ntimes * width, *info = type + h->ntimes;

	z->offset[0] = (int32_t)big(info, 4);
	for (size_t i = 0; i < h->ntimes; i++) {
		uint64_t at = big(p + i * width, width);

		if (type[i] >= h->ntypes)
			return false;
		z->at[i] = width == 8 ? (int64_t)at : (int32_t)at;
		z->offset[i + 1] = (int32_t)big(info + (size_t)type[i] * 6, 4);
		if (i && z->at[i] <= z->at[i - 1])
			return false;
	}
	for (size_t i = 0; i <= h->ntimes; i++)
		if (z->offset[i] <= -2 * DAY_SEC || z->offset[i] >= 2 * DAY_SEC)
			return false;
	return true;
}

/* A newline, the rule, a newline. */
static bool footer_read(struct dtx_zone *z, const unsigned char *p, size_t n)
{
	if (n < 2 || p[0] != '\n' || p[n - 1] != '\n')
		return false;
	z->has_rule = n > 2;
	return n == 2 || zonerule_parse((struct dtx_str){ (const char *)p + 1, n - 2 }, &z->rule);
}

enum dtx_code dtx_zone_parse(struct dtx_arena *a, const unsigned char *bytes, size_t n,
                             struct dtx_zone **out, struct dtx_err *err)
{
	struct header h;
	struct dtx_zone *z;
	unsigned width = 4;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!header_read(bytes, n, &h))
		return DTX_OK;
	if (h.version >= '2') { /* the same data again in 64 bits */
		uint64_t skip = HEADER_BYTES + body_bytes(&h, 4);

		if (skip > n || !header_read(bytes + skip, n - skip, &h))
			return DTX_OK;
		width = 8;
		bytes += skip;
		n -= skip;
	}
	bytes += HEADER_BYTES;
	n -= HEADER_BYTES;
	if (body_bytes(&h, width) > n)
		return DTX_OK;
	z = dtx_arena_zalloc(a, 1, sizeof(*z));
	if (!z)
		DTX_FAIL_MEM(err);
	z->n = h.ntimes;
	z->at = dtx_arena_alloc(a, z->n + 1, sizeof(*z->at));
	z->offset = dtx_arena_alloc(a, z->n + 1, sizeof(*z->offset));
	if (!z->at || !z->offset)
		DTX_FAIL_MEM(err);
	if (body_read(z, bytes, &h, width) &&
	    (width == 4 ||
	     footer_read(z, bytes + body_bytes(&h, width), n - body_bytes(&h, width))))
		*out = z;
out:
	return rc;
}

/* --- names --- */

/* "+05:30" */
static bool fixed_offset(struct dtx_str name, int32_t *offset)
{
	int32_t d[4] = { 0 };

	if (dtx_str_is(name, "UTC") || dtx_str_is(name, "Z")) {
		*offset = 0;
		return true;
	}
	if (name.len != 6 || (name.ptr[0] != '+' && name.ptr[0] != '-') || name.ptr[3] != ':')
		return false;
	for (size_t i = 0; i < 4; i++) {
		char c = name.ptr[(size_t[]){ 1, 2, 4, 5 }[i]];

		if (c < '0' || c > '9')
			return false;
		d[i] = c - '0';
	}
	*offset = ((d[0] * 10 + d[1]) * 60 + d[2] * 10 + d[3]) * (name.ptr[0] == '-' ? -60 : 60);
	return d[0] * 10 + d[1] < 24 && d[2] < 6;
}

/* Whether the name consists of words separated by slashes, each of letters, digits, _, + and - and
 * starting with a letter.  Such a name cannot lead out of the folder of zones. */
static bool is_name(struct dtx_str name)
{
	bool fresh = true;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
		bool other = (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-';

		if (!letter && (fresh || (!other && c != '/')))
			return false;
		fresh = c == '/';
	}
	return name.len && name.len <= ZONE_NAME_MAX && !fresh;
}

static enum dtx_code read_file(struct dtx_arena *a, struct dtx_str name, struct dtx_zone **out,
                               struct dtx_err *err)
{
	struct dtx_err missing = DTX_ERR_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(FILE_MAX);
	char path[sizeof(DTX_ZONE_DIR) + ZONE_NAME_MAX + 2];
	enum dtx_code rc = DTX_OK;

	snprintf(path, sizeof(path), "%s/%.*s", DTX_ZONE_DIR, (int)name.len, name.ptr);
	rc = dtx_file_slurp(path, &bytes, &missing);
	if (rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	if (rc == DTX_OK)
		DTX_TRY(dtx_zone_parse(a, (const unsigned char *)dtx_buf_text(&bytes),
		                       dtx_buf_len(&bytes), out, err));
	rc = DTX_OK;
out:
	dtx_err_clear(&missing);
	dtx_buf_clear(&bytes);
	return rc;
}

enum dtx_code dtx_zone_open(struct dtx_arena *a, struct dtx_str name, struct dtx_zone **out,
                            struct dtx_err *err)
{
	struct dtx_zone *z = NULL;
	int32_t offset;
	enum dtx_code rc = DTX_OK;

	if (fixed_offset(name, &offset)) {
		z = dtx_arena_zalloc(a, 1, sizeof(*z));
		if (!z)
			DTX_FAIL_MEM(err);
		z->offset = dtx_arena_alloc(a, 1, sizeof(*z->offset));
		if (!z->offset)
			DTX_FAIL_MEM(err);
		*z->offset = offset;
	} else if (is_name(name)) {
		DTX_TRY(read_file(a, name, &z, err));
	}
	if (!z) {
		rc = dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
		                 "there is no time zone '%.*s' in " DTX_ZONE_DIR,
		                 (int)DTX_MIN(name.len, ZONE_NAME_MAX), name.ptr);
		dtx_err_hint(err, "as in 'Europe/Berlin', 'UTC' or '+05:30'");
	}
	*out = z;
out:
	return rc;
}

/* --- offsets --- */

/* Seconds east of UTC at an instant. */
static int64_t offset_at(const struct dtx_zone *z, int64_t sec)
{
	size_t low = 0, high = z->n; /* low: number of changes up to the instant */

	if (z->has_rule && (!z->n || sec >= z->at[z->n - 1]))
		return zonerule_offset(&z->rule, sec);
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (z->at[mid] <= sec)
			low = mid + 1;
		else
			high = mid;
	}
	return z->offset[low];
}

static int64_t floor_sec(int64_t us)
{
	return us / SEC_US - (us % SEC_US < 0);
}

int64_t dtx_zone_wall(const struct dtx_zone *z, int64_t us)
{
	return us + offset_at(z, floor_sec(us)) * SEC_US;
}

int64_t dtx_zone_utc(const struct dtx_zone *z, int64_t wall_us)
{
	int64_t wall = floor_sec(wall_us);
	int64_t before = offset_at(z, wall - DAY_SEC), after = offset_at(z, wall + DAY_SEC);

	if (offset_at(z, wall - before) != before && offset_at(z, wall - after) == after)
		before = after;
	return wall_us - before * SEC_US;
}
