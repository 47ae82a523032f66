/* Time zones: files, rules, and the hours that clocks show twice or never. */
#include <unistd.h>

#include "core/data/time/time.h"
#include "core/data/time/zone.h"
#include "tests/t.h"

static int64_t us_of(const char *text)
{
	int64_t us = 0;
	bool zoned;

	T_CHECK(dtx_datetime_parse(dtx_str_of(text), &us, &zoned));
	return us;
}

static const struct {
	const char *zone, *utc, *wall, *back; /* back: NULL: the same as utc */
} cases[] = {
	{ "+05:30", "2024-01-01T20:00:00", "2024-01-02T01:30:00", NULL },
	{ "-00:15", "2024-01-01T00:00:00", "2023-12-31T23:45:00", NULL },
	{ "UTC", "1969-12-31T23:59:59.5", "1969-12-31T23:59:59.5", NULL },
	{ "Europe/Berlin", "2024-03-31T00:59:59", "2024-03-31T01:59:59", NULL },
	{ "Europe/Berlin", "2024-03-31T01:00:00", "2024-03-31T03:00:00", NULL },
	{ "Europe/Berlin", "2024-10-27T00:30:00", "2024-10-27T02:30:00", NULL },
	{ "Europe/Berlin", "2024-10-27T01:30:00", "2024-10-27T02:30:00", "2024-10-27T00:30:00" },
	{ "Europe/Berlin", "2090-07-01T12:00:00", "2090-07-01T14:00:00", NULL },
	{ "Europe/Berlin", "2090-12-31T23:30:00", "2091-01-01T00:30:00", NULL },
	{ "America/New_York", "1999-07-04T16:00:00", "1999-07-04T12:00:00", NULL },
	{ "America/New_York", "2090-01-01T00:00:00", "2089-12-31T19:00:00", NULL },
	{ "Europe/Dublin", "2090-01-01T12:00:00", "2090-01-01T12:00:00", NULL },
	{ "Europe/Dublin", "2090-07-01T12:00:00", "2090-07-01T13:00:00", NULL },
	{ "Australia/Lord_Howe", "2090-01-01T00:00:00", "2090-01-01T11:00:00", NULL },
	{ "Australia/Lord_Howe", "2090-07-01T00:00:00", "2090-07-01T10:30:00", NULL },
	{ "Asia/Kolkata", "2024-02-29T18:30:00", "2024-03-01T00:00:00", NULL },
};

void test_zone_clocks(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	char text[40];

	for (size_t i = 0; i < DTX_COUNT(cases); i++) {
		struct dtx_zone *z = NULL;
		int64_t wall;

		if (strchr(cases[i].zone, '/') && access(DTX_ZONE_DIR "/Europe/Berlin", R_OK) != 0)
			continue;
		T_OK(dtx_zone_open(&a, dtx_str_of(cases[i].zone), &z, NULL), NULL);
		if (!z)
			continue;
		wall = dtx_zone_wall(z, us_of(cases[i].utc));
		dtx_datetime_print(text, wall);
		T_STR(text, cases[i].wall);
		dtx_datetime_print(text, dtx_zone_utc(z, wall));
		T_STR(text, cases[i].back ? cases[i].back : cases[i].utc);
	}
	dtx_arena_clear(&a);
}

/* 02:30 does not exist in that night: it is half an hour after the clocks went from 2 to 3. */
void test_zone_left_out(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_zone *z = NULL;
	char text[40];

	if (access(DTX_ZONE_DIR "/Europe/Berlin", R_OK) != 0) {
		t_skip("no time zone database");
	} else {
		T_OK(dtx_zone_open(&a, DTX_STR("Europe/Berlin"), &z, NULL), NULL);
		dtx_datetime_print(text, dtx_zone_utc(z, us_of("2024-03-31T02:30:00")));
		T_STR(text, "2024-03-31T01:30:00");
	}
	dtx_arena_clear(&a);
}

void test_zone_names(void)
{
	static const char *const bad[] = {
		"",        "Europe/Atlantis", "../../../etc/passwd", "/etc/passwd", "Europe",
		"Europe/", "tzdata.zi",       "Europe//Berlin",      "+5:30",       "+24:00",
		"+05:60",  "zone.tab",        "posixrules/",         "+0a:00"
	};
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zone *z = NULL;

	for (size_t i = 0; i < DTX_COUNT(bad); i++) {
		T_CODE(dtx_zone_open(&a, dtx_str_of(bad[i]), &z, &err), DTX_E_BAD_LITERAL, &err);
		T_CHECK(!z);
		dtx_err_clear(&err);
	}
	dtx_arena_clear(&a);
}

#define BIG32(v) 0, 0, 0, (v)
#define HEADER(version, times, types, chars)                                                       \
	'T', 'Z', 'i', 'f', version, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BIG32(0),        \
		BIG32(0), BIG32(0), BIG32(times), BIG32(types), BIG32(chars)

/* Every prefix of a file, and every change of one byte, is refused or read without leaving the
 * file. */
void test_zone_bad_files(void)
{
	static const unsigned char old[] = {
		HEADER(0, 1, 2, 4), BIG32(100), 1, BIG32(60), 0, 0, BIG32(120), 1, 0, 'A', 0, 'B', 0
	};
	static const unsigned char fresh[] = { HEADER('2', 0, 1, 2),
		                               BIG32(60),
		                               0,
		                               0,
		                               'A',
		                               0,
		                               HEADER('2', 1, 2, 4),
		                               0,
		                               0,
		                               0,
		                               0,
		                               BIG32(100),
		                               1,
		                               BIG32(60),
		                               0,
		                               0,
		                               BIG32(120),
		                               1,
		                               0,
		                               'A',
		                               0,
		                               'B',
		                               0,
		                               '\n',
		                               'E',
		                               'S',
		                               'T',
		                               '5',
		                               'E',
		                               'D',
		                               'T',
		                               ',',
		                               'M',
		                               '3',
		                               '.',
		                               '2',
		                               '.',
		                               '0',
		                               ',',
		                               'J',
		                               '3',
		                               '0',
		                               '0',
		                               '/',
		                               '1',
		                               '\n' };
	const struct {
		const unsigned char *bytes;
		size_t n;
	} files[] = { { old, sizeof(old) }, { fresh, sizeof(fresh) } };
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_zone *z = NULL;
	unsigned char copy[256];

	for (size_t f = 0; f < DTX_COUNT(files); f++) {
		T_OK(dtx_zone_parse(&a, files[f].bytes, files[f].n, &z, NULL), NULL);
		T_CHECK(z && dtx_zone_wall(z, 0) == 60000000);
		T_CHECK(z && dtx_zone_wall(z, 99999999) == 159999999);
		T_CHECK(f || (z && dtx_zone_wall(z, 100000000) == 220000000));
		for (size_t n = 0; n < files[f].n; n++) {
			T_OK(dtx_zone_parse(&a, files[f].bytes, n, &z, NULL), NULL);
			T_CHECK(!z || (f == 0 && n >= files[f].n));
		}
		for (size_t at = 0; at < files[f].n; at++)
			for (unsigned c = 0; c < 256; c += 5) {
				memcpy(copy, files[f].bytes, files[f].n);
				copy[at] = (unsigned char)c;
				T_OK(dtx_zone_parse(&a, copy, files[f].n, &z, NULL), NULL);
				if (z)
					(void)dtx_zone_utc(z, dtx_zone_wall(z, 1700000000000000));
			}
	}
	dtx_arena_clear(&a);
}

static enum dtx_code open_once(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zone *z = NULL;
	enum dtx_code rc = dtx_zone_open(&a, DTX_STR("Europe/Berlin"), &z, &err);

	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return rc;
}

void test_zone_every_alloc_fails(void)
{
	if (access(DTX_ZONE_DIR "/Europe/Berlin", R_OK) != 0)
		t_skip("no time zone database");
	else
		T_EVERY_ALLOC_FAILS(open_once());
}
