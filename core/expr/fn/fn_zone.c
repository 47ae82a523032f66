/* Times of other time zones. */
#include "core/expr/bound.h"

#include "core/data/time/time.h"
#include "core/data/time/zone.h"

static enum dtx_code prep_zone(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	struct dtx_zone *z = NULL;
	enum dtx_code rc =
		dtx_zone_open(a, c->konst[1]->null ? DTX_STR("") : c->konst[1]->u.s, &z, err);

	c->prepared = z;
	return rc;
}

static enum dtx_code checked(const struct dtx_fncall *c, int64_t us, struct dtx_val *out,
                             struct dtx_err *err)
{
	if (!dtx_us_ok(us))
		return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                   "the result of %s() is outside the years 1 to 9999",
		                   c->fn->name);
	out->u.i = us;
	return DTX_OK;
}

DTX_FN_ROW(row_to_tz)
{
	(void)run;
	return checked(c, dtx_zone_wall(c->prepared, arg[0].u.i), out, err);
}

DTX_FN_ROW(row_in_tz)
{
	(void)run;
	return checked(c, dtx_zone_utc(c->prepared, arg[0].u.i), out, err);
}

#define ZONE(NAME, ROWFN, HELP, EXAMPLE, VALUE)                                                    \
	{                                                                                          \
		.name = NAME, .sig = "d:S, zone:t", .result = "s", .prep = prep_zone,              \
		.row = (ROWFN), .pandas = "dx.fn(\"" NAME "\", {*})", .help = HELP,                \
		.example = EXAMPLE, .value = VALUE                                                 \
	}

static const struct dtx_fn rows[] = {
	ZONE("to_tz", row_to_tz,
	     "what clocks in a zone show at a time of UTC: 'Europe/Berlin', 'UTC', '+05:30'; names "
	     "are of the system's time zone database",
	     "to_tz('2024-06-01T22:30:00', '+02:00')", "2024-06-02T00:30:00"),
	ZONE("in_tz", row_in_tz,
	     "the time of UTC at which clocks in a zone show d: of two such times the first; a "
	     "time that the clocks skip is as long after the change",
	     "in_tz('2024-06-02T00:30:00', '+02:00')", "2024-06-01T22:30:00"),
};

const struct dtx_fn_table dtx_fn_zone = { "zone", "Time zones", rows, DTX_COUNT(rows) };
