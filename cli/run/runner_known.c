/* Finds inputs that need not be hashed again, because an earlier run has done it and they were
 * not written to since.
 *
 * Hashing a large input takes as long as many a step on it. If a user works with one file all
 * day, it is hashed once, and each record says which run computed the hash. Commands that verify
 * (replay, verify, provenance) always read the bytes. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/config.h"
#include "cli/run/runner.h"
#include "core/base/mem.h"
#include "core/base/text/num.h"
#include "core/store/ledger/process.h"
#include "core/store/cache/hash_cache.h"

#define KNOWN_NEVER INT64_MAX

/* Gets the time in seconds for which a file must have been left alone; KNOWN_NEVER: hashes are
 * never reused. */
static enum dtx_code known_settle(struct dtx_config *config, int64_t *settle_s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *text = dtx_config_get(config, "input_settle", NULL, NULL);

	*settle_s = DTX_STAT_SIGNATURE_SETTLE_S;
	if (text && !strcmp(text, "never"))
		*settle_s = KNOWN_NEVER;
	else if (text && (!dtx_num_parse_i64(text, strlen(text), settle_s) || *settle_s < 0))
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "setting 'input_settle' wants seconds or 'never', got '%.60s'",
		                 text);
	return rc;
}

/* Gets what `auto` means: users who compare records with sha256sum need SHA-256 for large
 * inputs, too. */
static enum dtx_code known_kind(struct dtx_config *config, enum dtx_identity_kind *kind,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *text = dtx_config_get(config, "input_hash", NULL, NULL);

	if (text && !strcmp(text, "sha256"))
		*kind = DTX_IDENTITY_SHA256;
	else if (text && strcmp(text, "auto") != 0)
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "setting 'input_hash' wants 'auto' or 'sha256', got '%.60s'",
		                 text);
	return rc;
}

static enum dtx_code known_settings(struct dtx_runner *r, int64_t *settle_s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_config config;

	DTX_TRY(dtx_config_open(&config, err));
	DTX_TRY(known_settle(&config, settle_s, err));
	if (r->identity == DTX_IDENTITY_AUTO)
		DTX_TRY(known_kind(&config, &r->identity, err));
out:
	dtx_config_clear(&config);
	return rc;
}

/* Whether looking into the store is faster than hashing the input. */
static bool known_worth(const struct dtx_runner *r, uint32_t i)
{
	const struct dtx_source *s = r->source[i];

	return s && !dtx_source_passes(s) && dtx_source_size(s) >= DTX_IDENTITY_LARGE;
}

static bool known_any(const struct dtx_runner *r)
{
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (known_worth(r, i))
			return true;
	return false;
}

/* Notes the signatures of files that have been left alone. */
static void known_marks(struct dtx_runner *r, int64_t settle_s)
{
	struct dtx_process self;
	struct timespec now;

	dtx_process_self(&self);
	clock_gettime(CLOCK_REALTIME, &now);
	for (uint32_t i = 0; self.boot[0] && i < r->plan->ninputs; i++) {
		if (known_worth(r, i) && dtx_source_mark(r->source[i]) &&
		    dtx_stat_signature_settled(dtx_source_mark(r->source[i]),
		                               (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
		                               settle_s))
			dtx_stat_signature_print(dtx_source_mark(r->source[i]), self.boot,
			                         r->known[i].mark);
	}
}

/* Asks the store. If that fails nothing is known; the run itself will report the problem. */
static void known_ask(struct dtx_runner *r, enum dtx_identity_kind wanted)
{
	struct dtx_err mine = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	enum dtx_code rc = dtx_store_open(r->cli->store, DTX_STORE_READ, &store, &mine);

	for (uint32_t i = 0; rc == DTX_OK && i < r->plan->ninputs; i++) {
		struct dtx_known *k = &r->known[i];

		if (k->mark[0])
			rc = dtx_hash_cache_find(store, k->mark, k->sha, k->run_id, &mine);
		if (wanted != DTX_IDENTITY_AUTO && dtx_identity_kind(k->sha) != wanted)
			k->sha[0] = '\0';
	}
	dtx_store_free(store);
	dtx_err_clear(&mine);
}

enum dtx_code dtx_runner_known(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t settle_s;

	r->identity = (enum dtx_identity_kind)r->args->input_hash;
	if (r->identity == DTX_IDENTITY_XXH3 || r->prompt || !known_any(r))
		return DTX_OK;
	DTX_TRY(known_settings(r, &settle_s, err));
	if (settle_s == KNOWN_NEVER)
		return DTX_OK;
	r->known = dtx_mem_zalloc(r->plan->ninputs, sizeof(*r->known));
	if (!r->known)
		DTX_FAIL_MEM(err);
	known_marks(r, settle_s);
	if (r->args->input_hash == DTX_IDENTITY_AUTO && !r->replay)
		known_ask(r, r->identity);
out:
	return rc;
}

void dtx_runner_hash_start(struct dtx_runner *r)
{
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (r->source[i] && (!r->known || !r->known[i].sha[0]))
			dtx_source_hash_start(r->source[i], r->identity,
			                      (unsigned)r->args->threads);
}

bool dtx_runner_known_holds(const struct dtx_runner *r, uint32_t i)
{
	return r->known && r->known[i].mark[0] && dtx_source_mark(r->source[i]);
}
