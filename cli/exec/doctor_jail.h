/* What `dtx doctor` reports about the jail. All functions return new references. */
#ifndef DTX_CLI_EXEC_DOCTOR_JAIL_H
#define DTX_CLI_EXEC_DOCTOR_JAIL_H

#include "core/base/text/json.h"
#include "core/plan/exec/provider.h"

#define DTX_DOCTOR_RUNS     20
#define DTX_DOCTOR_RUNS_MAX 10000
/* before each run, because a user's commands do not follow each other at once */
#define DTX_DOCTOR_PAUSE_MS 20

/* The layers of protection, and a test run. *ok says whether it works. */
json_t *dtx_doctor_layers(void);
json_t *dtx_doctor_selftest(enum dtx_jail_profile profile, bool *ok);
/* The limits that are in force without any option but --jail-profile. */
json_t *dtx_doctor_limits(int profile, enum dtx_jail_profile *settled, bool *ok);
/* The packages that a program may import, with their versions. */
json_t *dtx_doctor_packages(void);
/* Those that this machine does not have, with the Debian packages that bring them. */
json_t *dtx_doctor_missing(void);
/* The warm pool as it is now. */
json_t *dtx_doctor_pool(enum dtx_jail_profile profile);
/* Measures warm runs of a small group-by: percentiles, how many per second, and one cold run. */
json_t *dtx_doctor_latencies(enum dtx_jail_profile profile, int64_t runs, int64_t pause_ms,
                             bool *ok);

#endif
