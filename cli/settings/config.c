/* Reads settings from options, the environment and files, see config.h. */
#include "cli/settings/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/settings/settings.h"
#include "core/base/file.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)
#define CONFIG_DENY_MAX  256

/* What the files hold besides settings. */
#define CONFIG_LOCKED  "locked"
#define CONFIG_PRIVACY "privacy"

/* The place in a file that is being checked. */
struct config_place {
	const char *path, *text;
};

/* Finds the line of a text in quotes, as names of settings are; 0: not found. */
static int config_line(const char *text, const char *name)
{
	size_t n = strlen(name);
	int line = 1;

	for (const char *p = text; *p; p++) {
		line += *p == '\n';
		if (*p != '"')
			continue;
		if (!strncmp(p + 1, name, n) && p[n + 1] == '"')
			return line;
		for (p++; *p && *p != '"'; p++) { /* the rest of another text */
			p += *p == '\\' && p[1];
			line += *p == '\n';
		}
		if (!*p)
			break;
	}
	return 0;
}

/* Adds the place to an error about `name`. */
static enum dtx_code config_at(const struct config_place *at, const char *name, enum dtx_code rc,
                               struct dtx_err *err)
{
	int line = config_line(at->text, name);

	if (rc == DTX_OK || !err)
		return rc;
	dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(at->path));
	if (line)
		snprintf(err->cell, sizeof(err->cell), "L%d", line);
	dtx_err_hint(err,
	             "correct the file: `man dtx-config` and `dtx help config` say what it holds");
	err->code = DTX_E_USAGE;
	return DTX_E_USAGE;
}

static enum dtx_code config_locks(json_t *locked, const char **name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *item;
	size_t i;

	if (!json_is_array(locked))
		DTX_FAIL(err, DTX_E_USAGE, "'locked' must be a list of settings");
	json_array_foreach(locked, i, item)
	{
		if (!json_is_string(item))
			DTX_FAIL(err, DTX_E_USAGE,
			         "'locked' holds names of settings, but item %zu "
			         "is not a text",
			         i + 1);
		*name = json_string_value(item);
		if (strcmp(*name, CONFIG_PRIVACY) != 0 && !dtx_setting_find(*name))
			DTX_TRY(dtx_setting_unknown(*name, err));
	}
out:
	return rc;
}

static enum dtx_code config_privacy(const json_t *privacy, struct dtx_err *err)
{
	const json_t *deny = json_object_get(privacy, "deny");
	enum dtx_code rc = DTX_OK;
	json_t *item;
	size_t i;

	if (!json_is_object(privacy) || json_object_size(privacy) != (deny != NULL) ||
	    (deny && !json_is_array(deny)))
		DTX_FAIL(err, DTX_E_USAGE,
		         "'privacy' must be an object with 'deny', a list of patterns of columns");
	if (json_array_size(deny) > CONFIG_DENY_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "'privacy.deny' holds at most %d patterns",
		         CONFIG_DENY_MAX);
	json_array_foreach(deny, i, item) if (!json_is_string(item))
		DTX_FAIL(err, DTX_E_USAGE,
	                 "'privacy.deny' holds patterns, but item %zu is not a text", i + 1);
out:
	return rc;
}

/* The value of a file as text; NULL: a list, an object or null, which no setting can be. */
static const char *config_text(struct dtx_config *c, const json_t *file, const char *key)
{
	const json_t *v = json_object_get(file, key);

	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_boolean(v))
		return json_is_true(v) ? "true" : "false";
	if (json_is_integer(v))
		return dtx_arena_printf(&c->arena, "%lld", (long long)json_integer_value(v));
	return json_is_real(v) ? dtx_arena_printf(&c->arena, "%.15g", json_real_value(v)) : NULL;
}

static enum dtx_code config_value(struct dtx_config *c, const json_t *file, const char *key,
                                  struct dtx_err *err)
{
	const struct dtx_setting *s = dtx_setting_find(key);
	const char *text = config_text(c, file, key);
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_TRY(dtx_setting_unknown(key, err));
	if (!text)
		DTX_FAIL(err, DTX_E_USAGE, "setting '%s' must be a text, a number, true or false",
		         key);
	DTX_TRY(dtx_setting_check(s, text, err));
out:
	return rc;
}

/* Checks names, values and locks. What is not understood must not be ignored. */
static enum dtx_code config_check(struct dtx_config *c, const struct config_place *at, json_t *file,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *key, *name;
	json_t *item;

	json_object_foreach(file, key, item)
	{
		name = key;
		if (!strcmp(key, CONFIG_LOCKED))
			rc = config_locks(item, &name, err);
		else if (!strcmp(key, CONFIG_PRIVACY))
			rc = config_privacy(item, err);
		else
			rc = config_value(c, file, key, err);
		DTX_TRY(config_at(at, name, rc, err));
	}
out:
	return rc;
}

static enum dtx_code config_read(struct dtx_config *c, const char *path, json_t **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(CONFIG_BYTES_MAX);
	struct dtx_json_limits limits = { CONFIG_BYTES_MAX, 16 };
	struct config_place at = { path, NULL };
	json_t *value = NULL;

	DTX_TRY(dtx_file_slurp(path, &text, err));
	at.text = dtx_buf_text(&text);
	DTX_TRY(config_at(&at, "", dtx_json_parse(dtx_buf_str(&text), limits, &value, err), err));
	if (!json_is_object(value))
		DTX_FAIL(err, DTX_E_USAGE, "'%s': a file of settings must be a JSON object", path);
	DTX_TRY(config_check(c, &at, value, err));
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
		DTX_TRY(config_read(c, user, &c->user, err));
	if (system && !config_is_absent(system))
		DTX_TRY(config_read(c, system, &c->system, err));
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

/* The value in the environment; NULL: not set, or empty. */
static const char *config_variable(const struct dtx_setting *s)
{
	char name[64];
	const char *value;

	dtx_setting_variable(s, name, sizeof(name));
	value = getenv(name);
	return value && value[0] ? value : NULL;
}

static enum dtx_code config_environment(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char name[64];

	for (size_t i = 0; i < dtx_nsettings; i++) {
		const char *value = config_variable(&dtx_settings[i]);

		if (value && dtx_setting_check(&dtx_settings[i], value, NULL) != DTX_OK) {
			rc = dtx_setting_check(&dtx_settings[i], value, err);
			dtx_setting_variable(&dtx_settings[i], name, sizeof(name));
			dtx_err_hint(err, "unset %s, or set it to such a value", name);
			goto out;
		}
	}
out:
	return rc;
}

enum dtx_code dtx_config_open(struct dtx_config *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[4096];

	(void)dtx_config_path(path, sizeof(path));
	DTX_TRY(dtx_config_load(c, path[0] ? path : NULL, DTX_CONFIG_SYSTEM, err));
	DTX_TRY(config_environment(err));
out:
	return rc;
}

void dtx_config_clear(struct dtx_config *c)
{
	json_decref(c->user);
	json_decref(c->system);
	dtx_arena_clear(&c->arena);
	*c = (struct dtx_config){ .arena = DTX_ARENA_INIT };
}

/* --- values --- */

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

	for (i = 0; i < dtx_nsettings; i++)
		c->overruled |= !strcmp(dtx_settings[i].name, key) ? UINT64_C(1) << i : 0;
}

const char *dtx_config_locks(struct dtx_config *c)
{
	char names[512] = "";
	size_t i, n = 0;

	for (i = 0; i < dtx_nsettings; i++) {
		if (c->overruled & UINT64_C(1) << i)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
			                      dtx_settings[i].name);
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
		{ locked ? NULL : config_variable(dtx_setting_find(key)), DTX_CONFIG_ENVIRONMENT },
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

/* The files were checked when they were loaded. */
enum dtx_code dtx_config_deny(struct dtx_config *c, const char *const **out, size_t *n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *file[] = { c->system, c->user };
	const char **list =
		dtx_arena_alloc(&c->arena, DTX_COUNT(file) * CONFIG_DENY_MAX, sizeof(*list));
	size_t i, k;

	*n = 0;
	if (!list)
		DTX_FAIL_MEM(err);
	for (i = 0; i < DTX_COUNT(file); i++) {
		const json_t *deny =
			json_object_get(json_object_get(file[i], CONFIG_PRIVACY), "deny");

		for (k = 0; k < json_array_size(deny); k++)
			list[(*n)++] = json_string_value(json_array_get(deny, k));
	}
	*out = list;
out:
	return rc;
}
