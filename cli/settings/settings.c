/* The table of settings, see settings.h. */
#include "cli/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exec/jail_limits.h"
#include "cli/opt.h"
#include "core/base/text/num.h"
#include "core/fallback/retry.h"

#define SECONDS_MAX 86400

const struct dtx_setting dtx_settings[] = {
	{ "approve", DTX_SET_CHOICE, "auto,ask,require", 0, 0, "ask on a terminal",
	  "how new code is approved; require: a snippet given with --snippet needs approval, too" },
	{ "author", DTX_SET_TEXT, NULL, 0, 0, NULL,
	  "command that writes a missing snippet: prompt on stdin, answer on stdout" },
	{ "author_key_env", DTX_SET_TEXT, NULL, 0, 0, "DTX_AUTHOR_KEY",
	  "variable that holds the key for author_url" },
	{ "author_key_file", DTX_SET_TEXT, NULL, 0, 0, NULL,
	  "file with that key, instead of a variable" },
	{ "author_model", DTX_SET_TEXT, NULL, 0, 0, NULL, "model that author_url is asked for" },
	{ "author_timeout", DTX_SET_NUMBER, NULL, 1, SECONDS_MAX, "120",
	  "seconds for one answer of the author" },
	{ "author_url", DTX_SET_TEXT, NULL, 0, 0, NULL,
	  "an OpenAI-compatible server that writes snippets, e.g. http://127.0.0.1:11434/v1" },
	{ "cache_only", DTX_SET_FLAG, NULL, 0, 0, "false",
	  "never ask an author: approved snippets or none" },
	{ "cassette", DTX_SET_TEXT, NULL, 0, 0, NULL,
	  "folder of recorded answers, which are given instead of asking an author" },
	{ "cassette_record", DTX_SET_FLAG, NULL, 0, 0, "false",
	  "ask the author and keep new answers in the cassette" },
	{ "fallback", DTX_SET_CHOICE, "step,plan,off", 0, 0, "as the plan says",
	  "what a snippet may replace; off: no run asks for one, whatever its plan says" },
	{ "input_hash", DTX_SET_CHOICE, "auto,sha256", 0, 0, "auto",
	  "how inputs are identified; auto: those of 8 MiB or more by their fs-verity digest, a "
	  "tree "
	  "of SHA-256 that all cores compute, as `fsverity digest` prints it" },
	{ "input_settle", DTX_SET_NUMBER, "never", 0, INT64_MAX, "120",
	  "seconds for which an input of 8 MiB or more must have been left alone so that the next "
	  "run may take its hash from the record" },
	{ "jail_cpu", DTX_SET_NUMBER, NULL, 1, DTX_JAIL_SECONDS_MAX, "30",
	  "seconds of processor time of a snippet" },
	{ "jail_memory", DTX_SET_SIZE, NULL, DTX_JAIL_MEMORY_MIN, DTX_JAIL_BYTES_MAX, "1G",
	  "memory of a snippet" },
	{ "jail_output", DTX_SET_SIZE, NULL, DTX_JAIL_OUTPUT_MIN, DTX_JAIL_BYTES_MAX, "1G",
	  "bytes of a snippet's result" },
	{ "jail_profile", DTX_SET_CHOICE, "sealed,lib-ro", 0, 0, "sealed",
	  "lib-ro: code may import modules of this machine's Python that the jail has not imported "
	  "beforehand" },
	{ "jail_queue_wait", DTX_SET_NUMBER, NULL, 1, DTX_JAIL_SECONDS_MAX, "60",
	  "seconds to wait for a free jail" },
	{ "jail_wall", DTX_SET_NUMBER, NULL, 1, DTX_JAIL_SECONDS_MAX, "30",
	  "seconds that a snippet may take" },
	{ "max_attempts", DTX_SET_NUMBER, NULL, 1, DTX_ATTEMPTS_MAX, "3",
	  "answers of an author that are tried for one step" },
	{ "max_cost", DTX_SET_AMOUNT, NULL, 0, 0, "no limit",
	  "what a run may cost, as the author reports it" },
	{ "max_tokens", DTX_SET_NUMBER, NULL, 1, (int64_t)1 << 40, "no limit",
	  "tokens that a run may use, as the author reports them" },
	{ "sample", DTX_SET_CHOICE, "none,synthetic,masked,rows:1,rows:2,rows:3,rows:4,rows:5", 0,
	  0, "synthetic", "what a prompt may show of the data; synthetic: made-up rows, no cell" },
	{ "session_age", DTX_SET_NUMBER, NULL, 1, 30 * (int64_t)SECONDS_MAX, "86400",
	  "seconds after which a session of dtx exec ends" },
	{ "session_idle", DTX_SET_NUMBER, NULL, 1, 30 * (int64_t)SECONDS_MAX, "1800",
	  "seconds without a call after which a session ends" },
	{ "session_max", DTX_SET_NUMBER, NULL, 1, 32, "8", "sessions that may be open at a time" },
	{ "store_max", DTX_SET_SIZE, "never", (int64_t)1 << 20, INT64_MAX, "2G",
	  "a run says, once a day, that the store is larger than this; nothing leaves it on its "
	  "own" },
	{ "trial", DTX_SET_CHOICE, "on,off", 0, 0, "on",
	  "off: no code runs before it is approved" },
};
const size_t dtx_nsettings = DTX_COUNT(dtx_settings);

const struct dtx_setting *dtx_setting_find(const char *name)
{
	for (size_t i = 0; i < DTX_COUNT(dtx_settings); i++)
		if (!strcmp(dtx_settings[i].name, name))
			return &dtx_settings[i];
	return NULL;
}

enum dtx_code dtx_setting_unknown(const char *name, struct dtx_err *err)
{
	const char *names[DTX_COUNT(dtx_settings)];
	enum dtx_code rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                               "there is no setting '%.60s'", name);

	for (size_t i = 0; i < DTX_COUNT(names); i++)
		names[i] = dtx_settings[i].name;
	dtx_err_suggest(err, name, names, DTX_COUNT(names));
	dtx_err_hint(err, "dtx config list");
	return rc;
}

void dtx_setting_variable(const struct dtx_setting *s, char *out, size_t size)
{
	size_t i, n = (size_t)snprintf(out, size, "DTX_%s", s->name);

	for (i = 4; i < n && i < size; i++)
		if (out[i] >= 'a' && out[i] <= 'z')
			out[i] = (char)(out[i] - 32);
}

/* --- values --- */

static bool setting_is_choice(const char *choices, const char *text)
{
	size_t n = strlen(text);

	for (const char *c = choices; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
		if (!strncmp(c, text, n) && (c[n] == ',' || !c[n]))
			return n > 0;
	return false;
}

static bool setting_is_amount(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && !*end && value > 0 && value <= 1e9;
}

static bool setting_fits(const struct dtx_setting *s, const char *text)
{
	int64_t value;

	if (setting_is_choice(s->choices, text))
		return true;
	switch (s->kind) {
	case DTX_SET_TEXT: return *text;
	case DTX_SET_CHOICE: return false;
	case DTX_SET_FLAG: return setting_is_choice("true,false,1,0", text);
	case DTX_SET_NUMBER:
		return dtx_num_parse_i64(text, strlen(text), &value) && value >= s->min &&
		       value <= s->max;
	case DTX_SET_SIZE:
		return dtx_opt_size(dtx_str_of(text), &value) && value >= s->min && value <= s->max;
	case DTX_SET_AMOUNT: return setting_is_amount(text);
	}
	return false;
}

/* "step, plan or off" */
static void setting_list(const char *choices, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (const char *c = choices, *end; *c; c = *end ? end + 1 : end) {
		const char *between = n == 0 ? "" : strchr(c, ',') ? ", " : " or ";

		end = c + strcspn(c, ",");
		n += (size_t)snprintf(out + n, n < size ? size - n : 0, "%s%.*s", between,
		                      (int)(end - c), c);
	}
}

/* Sizes of whole MiB and such are shown with their suffix. */
static void setting_size(int64_t bytes, char *out, size_t size)
{
	static const char unit[] = "KMGT";
	int i = -1;

	while (i < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	snprintf(out, size, "%lld%.*s", (long long)bytes, i >= 0, i >= 0 ? unit + i : "");
}

void dtx_setting_expected(const struct dtx_setting *s, char *out, size_t size)
{
	char low[32], high[32];
	size_t n = 0;

	if (s->kind == DTX_SET_SIZE) {
		setting_size(s->min, low, sizeof(low));
		setting_size(s->max, high, sizeof(high));
		n = s->max == INT64_MAX
		            ? (size_t)snprintf(out, size, "a size from %s, such as 512M", low)
		            : (size_t)snprintf(out, size, "a size from %s to %s", low, high);
	} else if (s->kind == DTX_SET_NUMBER) {
		n = s->max == INT64_MAX
		            ? (size_t)snprintf(out, size, "a whole number from %lld",
		                               (long long)s->min)
		            : (size_t)snprintf(out, size, "a whole number from %lld to %lld",
		                               (long long)s->min, (long long)s->max);
	} else if (s->kind == DTX_SET_CHOICE) {
		setting_list(s->choices, out, size);
	} else {
		snprintf(out, size, "%s",
		         s->kind == DTX_SET_FLAG     ? "true or false"
		         : s->kind == DTX_SET_AMOUNT ? "a number above 0"
		                                     : "a text that is not empty");
	}
	if (s->choices && s->kind != DTX_SET_CHOICE && n < size)
		snprintf(out + n, size - n, ", or '%s'", s->choices);
}

enum dtx_code dtx_setting_check(const struct dtx_setting *s, const char *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char expected[160];

	if (setting_fits(s, text))
		goto out;
	dtx_setting_expected(s, expected, sizeof(expected));
	DTX_FAIL(err, DTX_E_USAGE, "setting '%s' must be %s, got '%.60s'", s->name, expected, text);
out:
	return rc;
}
