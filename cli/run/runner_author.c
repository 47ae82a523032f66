/* Settles which author may be asked for a snippet, and who approves it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/approve.h"
#include "cli/settings/config.h"
#include "cli/exec/jail_limits.h"
#include "cli/progress.h"
#include "cli/run/runner.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/process.h"

#define AUTHOR_KEY_BYTES ((size_t)4 << 10)
#define AUTHOR_COST_MOST 1e9

/* Lives as long as the run, because the fallback points into it. */
struct dtx_runner_author {
	struct dtx_config config;
	struct dtx_author author, tape;
	struct dtx_secrets secrets;
	struct dtx_buf key; /* read from a file */
};

/* The state of one call: settings are looked up one by one. */
struct setup {
	struct dtx_runner *r;
	struct dtx_runner_author *a;
	struct dtx_err *err;
};

static const char *setup_text(struct setup *s, const char *key, const char *option)
{
	return dtx_config_get(&s->a->config, key, option, NULL);
}

/* Gets a whole number between min and max; `otherwise` if it is not set. */
static enum dtx_code setup_int(struct setup *s, const char *key, const char *option, int64_t min,
                               int64_t max, int64_t *out)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	const char *text = setup_text(s, key, option);
	long long value;
	char *end;

	if (!text)
		goto out;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		DTX_FAIL(err, DTX_E_USAGE, "%s '%s': expected a whole number from %lld to %lld",
		         key, text, (long long)min, (long long)max);
	*out = value;
out:
	return rc;
}

static enum dtx_code setup_cost(struct setup *s, int64_t *out)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	const char *text = setup_text(s, "max_cost", s->r->args->max_cost);
	double value;
	char *end;

	if (!text)
		goto out;
	value = strtod(text, &end);
	if (end == text || *end || !(value > 0) || value > AUTHOR_COST_MOST)
		DTX_FAIL(err, DTX_E_USAGE, "max_cost '%s': expected an amount above 0", text);
	*out = DTX_MAX((int64_t)(value * 1e6 + 0.5), (int64_t)1); /* 0 would mean no limit */
out:
	return rc;
}

/* Gets a flag. Its words were checked: a "yes" read as no could ask an author that must not be
 * asked. */
static bool setup_flag(struct setup *s, const char *key, bool option)
{
	const char *text = setup_text(s, key, option ? "true" : NULL);

	return text && (!strcmp(text, "true") || !strcmp(text, "1"));
}

/* --- the author --- */

static enum dtx_code setup_key(struct setup *s, const char *variable, const char **out)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	const char *file = setup_text(s, "author_key_file", s->r->args->author_key_file);
	size_t n;

	*out = getenv(variable);
	if (!file)
		goto out;
	dtx_buf_init(&s->a->key, AUTHOR_KEY_BYTES);
	DTX_TRY(dtx_file_slurp(file, &s->a->key, err));
	for (n = s->a->key.len; n && strchr("\r\n \t", s->a->key.ptr[n - 1]); n--)
		s->a->key.ptr[n - 1] = '\0';
	*out = dtx_buf_text(&s->a->key);
out:
	return rc;
}

static enum dtx_code setup_author(struct setup *s)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *args = s->r->args;
	struct dtx_config *c = &s->a->config;
	enum dtx_config_source from_command, from_url;
	const char *command = dtx_config_get(c, "author", args->author, &from_command);
	const char *url = dtx_config_get(c, "author_url", args->author_url, &from_url);
	const char *model = setup_text(s, "author_model", args->author_model);
	enum dtx_config_source from_variable;
	const char *variable =
		dtx_config_get(c, "author_key_env", args->author_key_env, &from_variable);
	const char *key;

	/* the value is not printed, because it may be the key itself */
	if (from_variable == DTX_CONFIG_OPTION && !getenv(variable))
		DTX_FAIL(err, DTX_E_USAGE,
		         "--author-key-env: expected the name of a variable that is set");
	variable = variable ? variable : "DTX_AUTHOR_KEY";
	DTX_TRY(setup_key(s, variable, &key));
	if (key)
		dtx_secrets_shut_memory();
	if (!dtx_secrets_add(&s->a->secrets, key) || !dtx_secrets_find(&s->a->secrets, environ))
		DTX_FAIL_NEXT(
			err, DTX_E_USAGE,
			"run dtx with fewer of them: env -i PATH=\"$PATH\" HOME=\"$HOME\" dtx ...",
			"more than %d variables may hold keys: they could not all be kept "
			"from the author",
			DTX_SECRETS_MAX);
	if (command && url && from_command == from_url)
		DTX_FAIL(err, DTX_E_USAGE, "--author and --author-url: one of them is expected");
	s->a->author.secrets = &s->a->secrets;
	s->a->author.model = model;
	if (command && (!url || from_command > from_url))
		dtx_author_cmd(&s->a->author, command, variable);
	else if (url)
		DTX_TRY(dtx_author_url(&s->a->author, url, model, key, err));
	if (s->a->author.ask)
		s->r->fallback.author = &s->a->author;
out:
	return rc;
}

static enum dtx_code setup_cassette(struct setup *s)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	const char *folder = setup_text(s, "cassette", s->r->args->cassette);
	bool record = setup_flag(s, "cassette_record", s->r->args->cassette_record);

	if (record && (!folder || !s->r->fallback.author))
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--cassette-record' needs --cassette FOLDER and an author to ask");
	if (!folder)
		goto out;
	s->a->tape.secrets = &s->a->secrets;
	dtx_author_cassette(&s->a->tape, folder, record ? s->r->fallback.author : NULL);
	s->r->fallback.author = &s->a->tape;
out:
	return rc;
}

/* --- approval --- */

static void setup_say(void *arg, const char *text)
{
	struct dtx_runner *r = arg;

	if (!r->cli->verbose && !isatty(STDERR_FILENO))
		return;
	if (r->ticker)
		dtx_ticker_hold(r->ticker, true); /* otherwise the note continues that line */
	dtx_out_note(r->cli, "dtx: %s\n", text);
	if (r->ticker)
		dtx_ticker_hold(r->ticker, false);
}

/* Hides the progress line while the question is on the screen. */
static enum dtx_code setup_ask(void *arg, const struct dtx_approval_view *view, bool *yes,
                               struct dtx_err *err)
{
	struct dtx_runner *r = arg;
	enum dtx_code rc;

	if (r->ticker)
		dtx_ticker_hold(r->ticker, true);
	rc = dtx_approve_ask(view, yes, err);
	if (r->ticker)
		dtx_ticker_hold(r->ticker, false);
	return rc;
}

static enum dtx_code setup_gate(struct setup *s)
{
	struct dtx_err *err = s->err;
	enum dtx_code rc = DTX_OK;
	struct dtx_fallback_ctx *x = &s->r->fallback;
	const char *trial = setup_text(s, "trial", s->r->args->trial);

	DTX_TRY(dtx_approve_parse(setup_text(s, "approve", s->r->args->approve), &x->gate.policy,
	                          err));
	DTX_TRY(dtx_sample_parse(setup_text(s, "sample", s->r->args->sample), &x->sample, err));
	if (trial && strcmp(trial, "on") && strcmp(trial, "off"))
		DTX_FAIL(err, DTX_E_USAGE, "--trial '%s': expected on or off", trial);
	x->trial_off = trial && !strcmp(trial, "off");
	x->gate.user = dtx_process_user();
	if (dtx_approve_terminal()) {
		x->gate.ask = setup_ask;
		x->gate.arg = s->r;
	}
	DTX_TRY(dtx_config_deny(&s->a->config, &x->deny, &x->ndeny, err));
out:
	return rc;
}

static enum dtx_code setup_ceilings(struct setup *s)
{
	struct dtx_fallback_ctx *x = &s->r->fallback;
	const struct dtx_run_args *args = s->r->args;
	enum dtx_code rc = DTX_OK;
	int64_t attempts = 0, seconds = 0;

	DTX_TRY(setup_int(s, "max_attempts", args->max_attempts, 1, DTX_ATTEMPTS_MAX, &attempts));
	DTX_TRY(setup_int(s, "max_tokens", args->max_tokens, 1, (int64_t)1 << 40,
	                  &x->budget.tokens));
	DTX_TRY(setup_int(s, "author_timeout", args->author_timeout, 1, 86400, &seconds));
	DTX_TRY(setup_cost(s, &x->budget.cost));
	x->cache_only = setup_flag(s, "cache_only", args->cache_only);
	x->budget.attempts = (unsigned)attempts;
	x->author_timeout_ms = seconds * 1000;
	x->retry_author = args->retry_author;
out:
	return rc;
}

enum dtx_code dtx_runner_settle(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct setup s = { .r = r, .err = err };

	if (r->asks)
		goto out;
	r->asks = s.a = dtx_mem_zalloc(1, sizeof(*r->asks));
	if (!s.a)
		DTX_FAIL_MEM(err);
	r->fallback.say = setup_say;
	r->fallback.say_arg = r;
	DTX_TRY(dtx_config_open(&s.a->config, err));
	DTX_TRY(setup_author(&s));
	DTX_TRY(setup_cassette(&s));
	DTX_TRY(setup_gate(&s));
	DTX_TRY(setup_ceilings(&s));
	dtx_jail_limits_settle(&r->args->jail, &s.a->config, &r->fallback.limits);
	if (dtx_config_locks(&s.a->config))
		dtx_out_note(r->cli, "dtx: warning: %s\n", dtx_config_locks(&s.a->config));
out:
	return rc;
}

bool dtx_runner_settles_early(const struct dtx_run_args *a)
{
	return a->author || a->author_url || a->author_key_env || a->author_key_file ||
	       a->cassette || a->cassette_record || a->approve || a->sample || a->trial ||
	       a->max_attempts || a->max_tokens || a->max_cost || a->author_timeout;
}

void dtx_runner_forget_author(struct dtx_run_args *a)
{
	a->author = a->author_url = a->author_model = a->author_key_env = NULL;
	a->author_key_file = a->cassette = a->author_timeout = NULL;
	a->max_attempts = a->max_tokens = a->max_cost = a->trial = NULL;
	a->cassette_record = a->retry_author = false;
}

void dtx_runner_author_free(struct dtx_runner_author *a)
{
	if (!a)
		return;
	if (a->key.ptr)
		explicit_bzero(a->key.ptr, a->key.len);
	dtx_buf_clear(&a->key);
	dtx_config_clear(&a->config);
	dtx_mem_free(a);
}

/* Replaces keys in the recorded command line: a shell may have put one there. */
char **dtx_runner_argv(const struct dtx_runner *r, struct dtx_arena *arena)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char **out = dtx_arena_alloc(arena, (size_t)r->cli->argc + 1, sizeof(*out));
	int i;

	for (i = 0; out && i < r->cli->argc; i++) {
		dtx_buf_reset(&text);
		if (r->asks)
			dtx_secrets_scrub(&r->asks->secrets, dtx_str_of(r->cli->argv[i]), &text);
		else
			dtx_buf_add(&text, r->cli->argv[i]);
		out[i] = dtx_buf_ok(&text) ? dtx_arena_strdup(arena, dtx_buf_text(&text)) : NULL;
		if (!out[i])
			out = NULL;
	}
	if (out)
		out[i] = NULL;
	dtx_buf_clear(&text);
	return out;
}
