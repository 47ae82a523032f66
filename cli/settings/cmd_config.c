/* config: shows the settings with their sources, and changes the user's file. */
#include <stdio.h>
#include <string.h>

#include "cli/settings/config.h"
#include "cli/out.h"
#include "cli/settings/settings.h"
#include "core/base/file.h"
#include "core/io/write/outfile.h"

#define CONFIG_DENY      "privacy.deny"
#define CONFIG_PATH_SIZE 4096

struct config_args {
	bool json;
};

static const struct dtx_opt config_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct config_args, json),
	  .help = "list: as JSON" },
};

struct config_call {
	const struct dtx_cli *cli;
	const struct config_args *args;
	const char *name, *value; /* operands after the verb; NULL: none */
	struct dtx_config config;
	struct dtx_buf out;
	char path[CONFIG_PATH_SIZE]; /* of the user's file; "": there is no place for it */
	bool unset;                  /* the setting asked for has no value */
};

/* --- list, get, path --- */

/* Where a value comes from: the name of a file or variable, "default" or "locked by FILE". */
static const char *config_source(struct config_call *c, const struct dtx_setting *s,
                                 enum dtx_config_source source)
{
	char name[64];

	switch (source) {
	case DTX_CONFIG_ENVIRONMENT:
		dtx_setting_variable(s, name, sizeof(name));
		return dtx_arena_printf(&c->config.arena, "%s", name);
	case DTX_CONFIG_USER: return c->path;
	case DTX_CONFIG_MACHINE: return DTX_CONFIG_SYSTEM;
	case DTX_CONFIG_LOCKED: return "locked by " DTX_CONFIG_SYSTEM;
	case DTX_CONFIG_NOWHERE:
	case DTX_CONFIG_OPTION: break;
	}
	return "default";
}

/* The patterns of both files, separated by commas; NULL: none. */
static const char *config_patterns(struct config_call *c, const char **source)
{
	const struct {
		const json_t *file;
		const char *path;
	} row[] = { { c->config.system, DTX_CONFIG_SYSTEM }, { c->config.user, c->path } };
	const char *text = NULL;
	json_t *item;
	size_t i, k;

	*source = "default";
	for (i = 0; i < DTX_COUNT(row); i++) {
		const json_t *list =
			json_object_get(json_object_get(row[i].file, "privacy"), "deny");

		json_array_foreach(list, k, item)
		{
			*source = text && k == 0 ? "both files" : text ? *source : row[i].path;
			text = dtx_arena_printf(&c->config.arena, "%s%s%s", text ? text : "",
			                        text ? "," : "", json_string_value(item));
		}
	}
	return text;
}

static void config_row(struct config_call *c, const char *name, const char *value,
                       const char *source, json_t *list)
{
	if (list) {
		json_array_append_new(list, json_pack("{s:s,s:s?,s:s}", "name", name, "value",
		                                      value, "source", source));
		return;
	}
	dtx_buf_printf(&c->out, "%-16s %-18s ", name, value ? value : "-");
	dtx_out_safe(&c->out, source, false);
	dtx_buf_addc(&c->out, '\n');
}

static enum dtx_code config_list(struct config_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = c->args->json ? json_array() : NULL;
	const char *value, *from;

	DTX_TRY(dtx_config_open(&c->config, err));
	for (size_t i = 0; i < dtx_nsettings; i++) {
		const struct dtx_setting *s = &dtx_settings[i];
		enum dtx_config_source source;

		value = dtx_config_get(&c->config, s->name, NULL, &source);
		config_row(c, s->name, value ? value : s->preset, config_source(c, s, source),
		           list);
	}
	value = config_patterns(c, &from);
	config_row(c, CONFIG_DENY, value, from, list);
	if (list) {
		dtx_json_print(list, 1, &c->out);
		dtx_buf_addc(&c->out, '\n');
	}
out:
	json_decref(list);
	return rc;
}

static enum dtx_code config_get(struct config_call *c, struct dtx_err *err)
{
	const struct dtx_setting *s = dtx_setting_find(c->name);
	enum dtx_code rc = DTX_OK;
	const char *value, *from;

	if (!s && strcmp(c->name, CONFIG_DENY) != 0)
		DTX_TRY(dtx_setting_unknown(c->name, err));
	DTX_TRY(dtx_config_open(&c->config, err));
	value = s ? dtx_config_get(&c->config, c->name, NULL, NULL) : config_patterns(c, &from);
	value = value || !s ? value : s->preset;
	c->unset = !value;
	if (value)
		dtx_buf_printf(&c->out, "%s\n", value);
out:
	return rc;
}

static enum dtx_code config_path(struct config_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!c->path[0])
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "set HOME, or XDG_CONFIG_HOME to a folder",
		              "there is no place for a file of settings: neither HOME nor "
		              "XDG_CONFIG_HOME is an absolute path");
	dtx_buf_printf(&c->out, "%s\n", c->path);
out:
	return rc;
}

/* --- set, unset --- */

static json_t *config_list_of(const char *text)
{
	json_t *list = json_array();

	for (const char *end = text; *end; text = end + 1) {
		end = text + strcspn(text, ",");
		if (end > text)
			json_array_append_new(list, json_stringn(text, (size_t)(end - text)));
	}
	return list;
}

/* The value as JSON of its kind. It was checked. */
static json_t *config_json(const struct dtx_setting *s, const char *text)
{
	const char *bare = s->kind == DTX_SET_NUMBER || s->kind == DTX_SET_AMOUNT ? text : NULL;
	json_t *value = bare ? json_loads(bare, JSON_DECODE_ANY, NULL) : NULL;

	if (s->kind == DTX_SET_FLAG)
		return json_boolean(!strcmp(text, "true") || !strcmp(text, "1"));
	return json_is_number(value) ? value : json_string(text);
}

static enum dtx_code config_save(struct config_call *c, const json_t *file, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_outfile *out = NULL;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int failed;

	failed = dtx_file_make_folders(c->path, 0700);
	if (failed)
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "set XDG_CONFIG_HOME to a folder of yours",
		              "cannot make the folder '%s': %s", c->path, strerror(failed));
	dtx_json_print(file, 1, &text);
	dtx_buf_addc(&text, '\n');
	if (!dtx_buf_ok(&text))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_outfile_open(c->path, "config", DTX_OUTFILE_STREAM, &out, err));
	DTX_TRY(dtx_outfile_write(out, text.ptr, text.len, err));
	DTX_TRY(dtx_outfile_finish(out, err));
	DTX_TRY(dtx_outfile_commit(out, err));
out:
	dtx_outfile_free(out);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code config_change(struct config_call *c, json_t *file, struct dtx_err *err)
{
	const struct dtx_setting *s = dtx_setting_find(c->name);
	enum dtx_code rc = DTX_OK;

	if (!strcmp(c->name, "locked"))
		DTX_FAIL(err, DTX_E_USAGE, "only the machine's file, %s, can lock settings",
		         DTX_CONFIG_SYSTEM);
	if (!s && strcmp(c->name, CONFIG_DENY) != 0)
		DTX_TRY(dtx_setting_unknown(c->name, err));
	if (s && c->value)
		DTX_TRY(dtx_setting_check(s, c->value, err));
	if (s && c->value)
		json_object_set_new(file, c->name, config_json(s, c->value));
	else if (c->value)
		json_object_set_new(file, "privacy",
		                    json_pack("{s:o}", "deny", config_list_of(c->value)));
	else
		json_object_del(file, s ? c->name : "privacy");
out:
	return rc;
}

/* Writes the user's file with the change, and says so if the change has no effect. */
static enum dtx_code config_set(struct config_call *c, struct dtx_err *err)
{
	enum dtx_config_source source = DTX_CONFIG_NOWHERE;
	enum dtx_code rc = DTX_OK;
	json_t *file = NULL;

	DTX_TRY(config_path(c, err));
	dtx_buf_reset(&c->out);
	/* the user's file can be changed although the machine's file or the environment has a
	 * mistake */
	DTX_TRY(dtx_config_load(&c->config, c->path, NULL, err));
	file = c->config.user ? json_incref(c->config.user) : json_object();
	DTX_TRY(config_change(c, file, err));
	DTX_TRY(config_save(c, file, err));
	dtx_config_clear(&c->config);
	if (!dtx_setting_find(c->name) || dtx_config_open(&c->config, NULL) != DTX_OK)
		goto out;
	(void)dtx_config_get(&c->config, c->name, NULL, &source);
	if (source == DTX_CONFIG_LOCKED || source == DTX_CONFIG_ENVIRONMENT)
		dtx_out_note(c->cli, "dtx: warning: this has no effect: '%s' is %s%s\n", c->name,
		             source == DTX_CONFIG_LOCKED ? "" : "set by ",
		             config_source(c, dtx_setting_find(c->name), source));
out:
	json_decref(file);
	return rc;
}

/* --- the command --- */

static const struct config_verb {
	const char *name;
	int operands;
	enum dtx_code (*run)(struct config_call *c, struct dtx_err *err);
} config_verbs[] = {
	{ "list", 0, config_list }, { "get", 1, config_get },   { "set", 2, config_set },
	{ "unset", 1, config_set }, { "path", 0, config_path },
};

static enum dtx_code config_run(struct config_call *c, const char *name, int operands,
                                struct dtx_err *err)
{
	static const char *const wants[] = { "no operand", "a setting", "a setting and a value" };
	enum dtx_code rc = DTX_OK;
	const char *names[DTX_COUNT(config_verbs)];
	size_t i;

	for (i = 0; i < DTX_COUNT(config_verbs) && strcmp(config_verbs[i].name, name) != 0; i++)
		names[i] = config_verbs[i].name;
	if (i == DTX_COUNT(config_verbs)) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "no verb '%s': list, get, set, unset or path", name);
		dtx_err_suggest(err, name, names, i);
		goto out;
	}
	if (operands != config_verbs[i].operands)
		DTX_FAIL(err, DTX_E_USAGE, "'dtx config %s' takes %s", name,
		         wants[config_verbs[i].operands]);
	DTX_TRY(config_verbs[i].run(c, err));
out:
	return rc;
}

static int config_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct config_call c = { .cli = cli,
		                 .args = args,
		                 .name = argc > 1 ? argv[1] : NULL,
		                 .value = argc > 2 ? argv[2] : NULL,
		                 .config = { .arena = DTX_ARENA_INIT },
		                 .out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	(void)dtx_config_path(c.path, sizeof(c.path));
	rc = config_run(&c, argv[0], argc - 1, &err);
	status = rc == DTX_OK ? dtx_out_print(cli, &c.out) : dtx_out_fail(cli, &err);
	dtx_config_clear(&c.config);
	dtx_buf_clear(&c.out);
	dtx_err_clear(&err);
	return status ? status : c.unset;
}

const struct dtx_cmd dtx_cmd_config = {
	.name = "config",
	.usage = "list | get SETTING | set SETTING VALUE | unset SETTING | path",
	.summary = "Show settings and where each comes from; change those of the user",
	.notes = "`list` shows every setting, its value and its source: a file, an environment "
		 "variable or the\n"
		 "default.  `set` and `unset` change the user's file, whose name is what `path` "
		 "prints.  dtx-config(5)\n"
		 "says what each setting does.\n"
		 "\n"
		 "  dtx config list\n"
		 "  dtx config set jail_wall 60\n"
		 "  dtx config set privacy.deny '*salary*,iban'",
	.exits = "0 done; 1 get: the setting has no value",
	.opts = config_opts,
	.nopts = DTX_COUNT(config_opts),
	.args_size = sizeof(struct config_args),
	.min_args = 1,
	.max_args = 3,
	.any_settings = true,
	.run = config_main,
};
