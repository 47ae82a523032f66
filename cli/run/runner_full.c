/* A store that has grown large is said, once a day: nothing is deleted by itself. */
#include <string.h>

#include "cli/config.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/run/runner.h"
#include "core/data/time/time.h"
#include "core/store/cache/gc.h"
#include "core/store/ledger/lease.h"

#define FULL_MAX   ((int64_t)2 << 30)
#define FULL_LEAST ((int64_t)1 << 20) /* below, no setting is looked for */

/* INT64_MAX: never. */
static int64_t full_max(const struct dtx_runner *r)
{
	struct dtx_config config;
	int64_t max = FULL_MAX;
	const char *text = NULL;

	if (dtx_config_open(&config, NULL) == DTX_OK)
		text = dtx_config_get(&config, "store_max", NULL, NULL);
	if (text && !strcmp(text, "never"))
		max = INT64_MAX;
	else if (text && (!dtx_opt_size(dtx_str_of(text), &max) || max < FULL_LEAST)) {
		dtx_out_note(r->cli,
		             "dtx: setting 'store_max' wants a size from 1M, or 'never', got "
		             "'%.60s'\n",
		             text);
		max = FULL_MAX;
	}
	dtx_config_clear(&config);
	return max;
}

void dtx_runner_full(struct dtx_runner *r)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t size, max;
	bool first;

	if (r->cli->quiet || !r->store || dtx_store_is_memory(r->store) ||
	    dtx_store_size(r->store, &size, NULL) != DTX_OK || size < FULL_LEAST)
		return;
	max = full_max(r);
	if (size <= max ||
	    dtx_lease_once(r->store, "warned:store_max", r->run_id, DTX_DAY_US, &first, NULL) !=
	            DTX_OK ||
	    !first)
		return;
	dtx_buf_add(&text, "dtx: the store '");
	dtx_out_safe(&text, dtx_store_path(r->store), false);
	dtx_buf_printf(&text,
	               "' has %lld MiB, over the %lld of store_max: dtx store gc says what "
	               "may go\n",
	               (long long)(size >> 20), (long long)(max >> 20));
	dtx_out_note(r->cli, "%s", dtx_buf_text(&text));
	dtx_buf_clear(&text);
}
