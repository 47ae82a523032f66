/* Opens the store and writes run.start on another thread, while plan and inputs are read and the
 * result is computed. What must not happen before run.start waits for it: a request for a
 * snippet, the commit of outputs, the rest of the record. */
#include "cli/run/runner.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/settings/config.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/data/time/time.h"
#include "core/store/cache/gc.h"
#include "core/store/ledger/lease.h"

/* Notes once a day that the store has become large. Nothing is ever deleted automatically. */

#define FULL_MAX   ((int64_t)2 << 30)
#define FULL_LEAST ((int64_t)1 << 20) /* below that size, the setting is not read */

/* INT64_MAX means never. */
static int64_t full_max(void)
{
	struct dtx_config config;
	int64_t max = FULL_MAX;
	const char *text = NULL;

	if (dtx_config_open(&config, NULL) == DTX_OK)
		text = dtx_config_get(&config, "store_max", NULL, NULL);
	if (text && !strcmp(text, "never"))
		max = INT64_MAX;
	else if (text && !dtx_opt_size(dtx_str_of(text), &max))
		max = FULL_MAX;
	dtx_config_clear(&config);
	return max;
}

void dtx_runner_full(struct dtx_runner *r)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t size, max;
	struct stat st;
	bool first;

	if (r->cli->quiet || !r->store || dtx_store_is_memory(r->store) ||
	    stat(dtx_store_path(r->store), &st) || st.st_size < FULL_LEAST)
		return;
	max = full_max();
	/* Free pages of the file do not count, but asking for them takes a fiftieth of a small run.
	 */
	if (st.st_size <= max || dtx_store_size(r->store, &size, NULL) != DTX_OK || size <= max ||
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

/* --- on the other thread --- */

static enum dtx_code beside_open(struct dtx_runner *r, struct dtx_err *err)
{
	return dtx_store_open(r->cli->store, DTX_STORE_WRITE, &r->store, err);
}

static void beside_opened(struct dtx_runner_beside *b)
{
	pthread_mutex_lock(&b->lock);
	b->opened = true;
	pthread_cond_signal(&b->moved);
	pthread_mutex_unlock(&b->lock);
}

/* Waits until it is known whether there is a run to record. */
static bool beside_told(struct dtx_runner_beside *b)
{
	bool go;

	pthread_mutex_lock(&b->lock);
	while (b->gate == DTX_BESIDE_WAIT)
		pthread_cond_wait(&b->moved, &b->lock);
	go = b->gate == DTX_BESIDE_GO;
	pthread_mutex_unlock(&b->lock);
	return go;
}

static enum dtx_code beside_main(void *arg, struct dtx_err *err)
{
	struct dtx_runner *r = arg;
	enum dtx_code rc = DTX_OK;

	rc = beside_open(r, err);
	beside_opened(&r->beside);
	if (rc == DTX_OK && beside_told(&r->beside)) {
		rc = dtx_record_start(r->store, &r->beside.info, &r->record, err);
		r->beside.info.targets = NULL; /* taken by the call */
	}
	return rc;
}

/* --- on the caller's thread --- */

static void beside_tell(struct dtx_runner_beside *b, enum dtx_beside_gate gate)
{
	pthread_mutex_lock(&b->lock);
	if (b->gate == DTX_BESIDE_WAIT)
		b->gate = gate;
	pthread_cond_signal(&b->moved);
	pthread_mutex_unlock(&b->lock);
}

/* Waits for the thread. A failure is returned each time. */
static enum dtx_code beside_join(struct dtx_runner *r, struct dtx_err *err)
{
	struct dtx_runner_beside *b = &r->beside;
	struct dtx_task *task = b->task;

	if (task) {
		beside_tell(b, DTX_BESIDE_OFF);
		b->task = NULL;
		b->rc = dtx_task_join(task, &b->err);
	}
	if (b->rc != DTX_OK && err)
		dtx_err_copy(err, &b->err);
	return b->rc;
}

void dtx_runner_store_open(struct dtx_runner *r)
{
	struct dtx_runner_beside *b = &r->beside;
	struct dtx_err mine = DTX_ERR_INIT;
	char *path = NULL;

	b->err = (struct dtx_err)DTX_ERR_INIT;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->moved, NULL);
	/* A store that does not exist is not created yet, because the plan may turn out to be
	 * invalid. */
	if (dtx_store_resolve(r->cli->store, &path, &mine) == DTX_OK && access(path, F_OK) == 0 &&
	    dtx_task_start(beside_main, r, &b->task, NULL) != DTX_OK)
		b->task = NULL; /* then it is started later, or done at once */
	b->early = b->task != NULL;
	dtx_mem_free(path);
	dtx_err_clear(&mine);
}

void dtx_runner_store_opened(struct dtx_runner *r)
{
	struct dtx_runner_beside *b = &r->beside;

	if (!b->early)
		return;
	pthread_mutex_lock(&b->lock);
	while (!b->opened)
		pthread_cond_wait(&b->moved, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

/* Makes [{path, temp}], with which a killed run can be cleaned up. */
static enum dtx_code beside_targets(struct dtx_runner *r, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *real = NULL, *temp = NULL;
	json_t *list = json_array();
	const char *path, *rejects;
	uint32_t i;

	DTX_TRY(dtx_runner_rejects_path(r, &rejects, err));
	for (i = 0; i < r->plan->noutputs + (rejects != NULL); i++) {
		path = i < r->plan->noutputs ? r->plan->output[i].path : rejects;
		DTX_TRY(dtx_outfile_target(path ? path : "-", r->run_id, &real, &temp, err));
		json_array_append_new(list, json_pack("{ss ss?}", "path", real, "temp", temp));
		dtx_mem_free(real);
		dtx_mem_free(temp);
		real = temp = NULL;
	}
	*out = list;
	list = NULL;
out:
	json_decref(list);
	return rc;
}

/* A value of the environment that has the form of `like`, where 0 stands for a hex digit. Other
 * values are ignored, because they come from outside. */
static const char *beside_id(const char *name, const char *like)
{
	const char *text = getenv(name);
	size_t i;

	if (!text || strlen(text) != strlen(like))
		return NULL;
	for (i = 0; like[i]; i++) {
		bool digit = isxdigit((unsigned char)text[i]) && !isupper((unsigned char)text[i]);

		if (like[i] == '0' ? !digit : text[i] != like[i])
			return NULL;
	}
	return text;
}

#define BESIDE_NAME 60 /* about as long as a name of steps becomes */

/* Keeps a name for the run in the plan's arena; clears the text. */
static enum dtx_code beside_name(struct dtx_runner *r, struct dtx_buf *text, const char **name,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_buf_check(text, "name", err));
	*name = dtx_arena_strdup(&r->plan->arena, dtx_buf_text(text));
	if (!*name)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(text);
	return rc;
}

/* Makes "a.csv to b.xlsx": a conversion has no plan with a name, so its files identify it. */
static enum dtx_code beside_convert(struct dtx_runner *r, const char **name, struct dtx_err *err)
{
	const char *from = r->plan->input[0].path, *to = r->plan->output[0].path;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_add(&text, from && strcmp(from, "-") ? dtx_file_basename(from) : "stdin");
	if (r->plan->ninputs > 1)
		dtx_buf_printf(&text, " and %u more", r->plan->ninputs - 1);
	dtx_buf_printf(&text, " to %s", to && strcmp(to, "-") ? dtx_file_basename(to) : "stdout");
	return beside_name(r, &text, name, err);
}

/* Makes "filter then sort then head": a pipe is known by its operations. */
static enum dtx_code beside_steps(struct dtx_runner *r, const char **name, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(r->words->plan, "steps"), i, step)
	{
		if (text.len > BESIDE_NAME)
			break;
		dtx_buf_printf(&text, i ? " " DTX_WORDS_SEP " %s" : "%s",
		               dtx_json_text(step, "op", ""));
	}
	if (i < r->plan->nwritten)
		dtx_buf_add(&text, " ...");
	return beside_name(r, &text, name, err);
}

static enum dtx_code beside_info(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_run_info *info = &r->beside.info;
	struct dtx_buf *canonical = &r->beside.canonical;

	*info = (struct dtx_run_info){ .run_id = r->run_id, .command = r->command };
	info->id_given = dtx_runner_given_id(r) != NULL;
	dtx_buf_init(canonical, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_plan_canonical(r->plan, canonical, err));
	DTX_TRY(beside_targets(r, &info->targets, err));
	info->ns = r->fallback.ns;
	info->plan = dtx_buf_str(canonical);
	info->plan_source = dtx_buf_str(&r->plan_text);
	info->params = r->plan->param_values;
	info->plan_hash = strchr(r->plan->id, ':') ? strchr(r->plan->id, ':') + 1 : NULL;
	info->plan_name = r->plan->name;
	if (!strcmp(r->command, "convert"))
		DTX_TRY(beside_convert(r, &info->plan_name, err));
	if (r->words)
		DTX_TRY(beside_steps(r, &info->plan_name, err));
	info->plan_file = r->plan_path;
	info->nsteps = r->plan->nwritten;
	info->argc = r->cli->argc;
	info->argv = dtx_runner_argv(r, &r->texts);
	if (!info->argv)
		DTX_FAIL_MEM(err);
	info->parent = beside_id("DTX_PARENT_RUN", "00000000-0000-0000-0000-000000000000");
	info->traceparent =
		beside_id("TRACEPARENT", "00-00000000000000000000000000000000-0000000000000000-00");
	info->start_us = r->start_us;
	if (r->replay) {
		const json_t *run = json_object_get(r->replay->record, "run");

		info->replay_of = dtx_json_text(run, "run_id", NULL);
		if (!info->plan_name)
			info->plan_name = dtx_json_text(json_object_get(run, "plan"), "name", NULL);
	}
out:
	return rc;
}

enum dtx_code dtx_runner_store_start(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_runner_beside *b = &r->beside;

	b->wanted = true;
	DTX_TRY(beside_info(r, err));
	beside_tell(b, DTX_BESIDE_GO);
	/* no thread could be started: do it now */
	if (!b->task && (dtx_task_start(beside_main, r, &b->task, NULL) != DTX_OK || !b->task))
		DTX_TRY(beside_main(r, err));
out:
	return rc;
}

enum dtx_code dtx_runner_store_wait(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(beside_join(r, err));
	r->fallback.record = r->record;
	r->fallback.store = r->store;
out:
	return rc;
}

enum dtx_code dtx_runner_store_settle(struct dtx_runner *r, enum dtx_code rc, struct dtx_err *err)
{
	if (dtx_runner_store_wait(r, NULL) == DTX_OK || !r->beside.wanted)
		return rc;
	dtx_err_clear(err);
	return beside_join(r, err);
}

/* A prompt is not a run: it reads the cache, if there is one, and leaves no record. */
enum dtx_code dtx_runner_store_look(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = dtx_store_open(r->cli->store, DTX_STORE_READ, &r->store, err);

	if (rc == DTX_E_NO_RECORD) {
		dtx_err_clear(err);
		rc = DTX_OK;
	}
	r->fallback.store = r->store;
	return rc;
}

void dtx_runner_store_clear(struct dtx_runner *r)
{
	(void)beside_join(r, NULL);
	dtx_record_free(r->record);
	dtx_store_free(r->store);
	dtx_buf_clear(&r->beside.canonical);
	json_decref(r->beside.info.targets);
	dtx_err_clear(&r->beside.err);
}
