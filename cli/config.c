/* Reads settings from options, the environment and files, see config.h. */
#include "cli/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)
#define CONFIG_DENY_MAX  256

/* All settings. Any other name is an error, because a misspelt setting would have no effect. */
static const char *const keys[] = {
	"approve",      "author",         "author_key_env",  "author_key_file", "author_model",
	"author_url",   "author_timeout", "cache_only",      "cassette",        "cassette_record",
	"fallback",     "input_hash",     "input_settle",    "jail_cpu",        "jail_memory",
	"jail_output",  "jail_profile",   "jail_queue_wait", "jail_wall",       "locked",
	"max_attempts", "max_cost",       "max_tokens",      "privacy",         "sample",
	"store_max",    "trial",
};

_Static_assert(DTX_COUNT(keys) <= 32, "a bit of `overruled` each");

static bool config_knows(const char *key)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(keys); i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static enum dtx_code config_name(const char *path, const char *key, struct dtx_err *err)
{
	enum dtx_code rc;

	if (config_knows(key))
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
	                 "'%s': there is no setting '%.60s'", path, key);
	dtx_err_suggest(err, key, keys, DTX_COUNT(keys));
	return rc;
}

static enum dtx_code config_locks(const char *path, json_t *locked, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *item;
	size_t i;

	if (!json_is_array(locked))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'%s': 'locked' must be a list of settings",
		         path);
	json_array_foreach(locked, i, item) DTX_TRY(
		config_name(path, json_is_string(item) ? json_string_value(item) : "", err));
out:
	return rc;
}

static enum dtx_code config_value(const char *path, const char *key, json_t *value,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!strcmp(key, "locked"))
		DTX_TRY(config_locks(path, value, err));
	else if (!strcmp(key, "privacy")) {
		if (!json_is_object(value) ||
		    json_object_size(value) != (json_object_get(value, "deny") != NULL))
			DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
			         "'%s': 'privacy' must be an object with a list 'deny'", path);
	} else if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "'%s': '%s' must be a text, a number, true or false", path, key);
out:
	return rc;
}

/* Checks names, values and locks. What is not understood must not be ignored. */
static enum dtx_code config_check(const char *path, json_t *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *item;
	const char *key;

	json_object_foreach(value, key, item)
	{
		DTX_TRY(config_name(path, key, err));
		DTX_TRY(config_value(path, key, item, err));
	}
out:
	return rc;
}

static enum dtx_code config_read(const char *path, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(CONFIG_BYTES_MAX);
	struct dtx_json_limits limits = { CONFIG_BYTES_MAX, 16 };
	json_t *value = NULL;

	DTX_TRY(dtx_file_slurp(path, &text, err));
	rc = dtx_json_parse(dtx_buf_str(&text), limits, &value, err);
	if (rc != DTX_OK && err)
		dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(path));
	if (rc != DTX_OK)
		goto out;
	if (!json_is_object(value))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'%s': expected a JSON object", path);
	DTX_TRY(config_check(path, value, err));
	*out = json_incref(value);
out:
	json_decref(value);
	dtx_buf_clear(&text);
	return rc;
}

/* Whether a file does not exist. A machine's file that cannot be accessed (a closed folder, a
 * loop of links) must not count as absent, because its locks would be ignored. */
static bool config_is_absent(const char *path)
{
	return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

enum dtx_code dtx_config_load(struct dtx_config *c, const char *user, const char *system,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*c = (struct dtx_config){ .arena = DTX_ARENA_INIT };
	if (user && access(user, F_OK) == 0)
		DTX_TRY(config_read(user, &c->user, err));
	if (system && !config_is_absent(system))
		DTX_TRY(config_read(system, &c->system, err));
out:
	return rc;
}

bool dtx_config_path(char *path, size_t size)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (base && base[0] == '/')
		snprintf(path, size, "%s/dtx/config.json", base);
	else if (home && home[0] == '/')
		snprintf(path, size, "%s/.config/dtx/config.json", home);
	else
		*path = '\0';
	return *path;
}

enum dtx_code dtx_config_open(struct dtx_config *c, struct dtx_err *err)
{
	char path[4096];

	(void)dtx_config_path(path, sizeof(path));
	return dtx_config_load(c, path[0] ? path : NULL, DTX_CONFIG_SYSTEM, err);
}

void dtx_config_clear(struct dtx_config *c)
{
	json_decref(c->user);
	json_decref(c->system);
	dtx_arena_clear(&c->arena);
	*c = (struct dtx_config){ .arena = DTX_ARENA_INIT };
}

/* --- values --- */

static const char *config_text(struct dtx_config *c, const json_t *file, const char *key)
{
	const json_t *v = json_object_get(file, key);

	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_boolean(v))
		return json_is_true(v) ? "true" : "false";
	if (json_is_integer(v))
		return dtx_arena_printf(&c->arena, "%lld", (long long)json_integer_value(v));
	return json_is_real(v) ? dtx_arena_printf(&c->arena, "%.6f", json_real_value(v)) : NULL;
}

static const char *config_variable(const char *key)
{
	char name[64] = "DTX_";
	size_t i, n = 4;
	const char *value;

	for (i = 0; key[i] && n + 1 < sizeof(name); i++)
		name[n++] = (char)(key[i] >= 'a' && key[i] <= 'z' ? key[i] - 32 : key[i]);
	name[n] = '\0';
	value = getenv(name);
	return value && value[0] ? value : NULL;
}

static bool config_locked(const struct dtx_config *c, const char *key)
{
	const json_t *list = json_object_get(c->system, "locked");
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_string_value(item) && !strcmp(json_string_value(item), key))
			return true;
	}
	return false;
}

void dtx_config_overrule(struct dtx_config *c, const char *key)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(keys); i++)
		c->overruled |= !strcmp(keys[i], key) ? UINT32_C(1) << i : 0;
}

const char *dtx_config_locks(struct dtx_config *c)
{
	char names[512] = "";
	size_t i, n = 0;

	for (i = 0; i < DTX_COUNT(keys); i++) {
		if (c->overruled & UINT32_C(1) << i)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
			                      keys[i]);
	}
	return n ? dtx_arena_printf(&c->arena,
	                            "'%s' locks %s: what the command line says of it has no effect",
	                            DTX_CONFIG_SYSTEM, names)
	         : NULL;
}

const char *dtx_config_get(struct dtx_config *c, const char *key, const char *option,
                           enum dtx_config_source *source)
{
	enum dtx_config_source unused;
	bool locked = config_locked(c, key);
	const struct {
		const char *value;
		enum dtx_config_source source;
	} row[] = {
		{ locked ? config_text(c, c->system, key) : NULL, DTX_CONFIG_LOCKED },
		{ locked ? NULL : option, DTX_CONFIG_OPTION },
		{ locked ? NULL : config_variable(key), DTX_CONFIG_ENVIRONMENT },
		{ locked ? NULL : config_text(c, c->user, key), DTX_CONFIG_USER },
		{ locked ? NULL : config_text(c, c->system, key), DTX_CONFIG_MACHINE },
	};
	size_t i;

	if (locked && option && (!row[0].value || strcmp(row[0].value, option) != 0))
		dtx_config_overrule(c, key);
	source = source ? source : &unused;
	*source = locked ? DTX_CONFIG_LOCKED : DTX_CONFIG_NOWHERE;
	for (i = 0; i < DTX_COUNT(row); i++) {
		if (!row[i].value)
			continue;
		*source = row[i].source;
		return row[i].value;
	}
	return NULL;
}

enum dtx_code dtx_config_deny(struct dtx_config *c, const char *const **out, size_t *n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *file[] = { c->system, c->user };
	const char **list = dtx_arena_alloc(&c->arena, CONFIG_DENY_MAX, sizeof(*list));
	size_t i, k;

	*n = 0;
	if (!list)
		DTX_FAIL_MEM(err);
	for (i = 0; i < DTX_COUNT(file); i++) {
		const json_t *deny = json_object_get(json_object_get(file[i], "privacy"), "deny");

		if (deny && !json_is_array(deny))
			DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
			         "configuration: 'privacy.deny' must be a list of patterns");
		for (k = 0; k < json_array_size(deny); k++) {
			const char *glob = json_string_value(json_array_get(deny, k));

			if (!glob)
				DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
				         "configuration: 'privacy.deny' holds patterns, but "
				         "item %zu is not a text",
				         k + 1);
			if (*n == CONFIG_DENY_MAX)
				DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
				         "configuration: 'privacy.deny' holds at most %d patterns",
				         CONFIG_DENY_MAX);
			list[(*n)++] = glob;
		}
	}
	*out = list;
out:
	return rc;
}
