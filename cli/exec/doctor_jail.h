/* What `dtx doctor` says about the jail. */
#ifndef DTX_CLI_EXEC_DOCTOR_JAIL_H
#define DTX_CLI_EXEC_DOCTOR_JAIL_H

#include "core/base/text/json.h"
#include "core/plan/exec/provider.h"

#define DTX_DOCTOR_RUNS     20
#define DTX_DOCTOR_RUNS_MAX 10000
#define DTX_DOCTOR_PAUSE_MS 20 /* before each; commands of people come further apart */

/* New references.  *ok: whether it works. */
json_t *dtx_doctor_layers(void);
json_t *dtx_doctor_selftest(enum dtx_jail_profile profile, bool *ok);
/* What holds when no option but --jail-profile says otherwise. */
json_t *dtx_doctor_limits(int profile, enum dtx_jail_profile *settled, bool *ok);
/* The warm pool as it is now. */
json_t *dtx_doctor_pool(enum dtx_jail_profile profile);
/* Percentiles of so many warm runs of a small group-by, how many were made in a second, and one
 * cold run. */
json_t *dtx_doctor_latencies(enum dtx_jail_profile profile, int64_t runs, int64_t pause_ms,
                             bool *ok);

#endif
