/* Finds the limits of the jail, see jail_limits.h. */
#include "cli/exec/jail_limits.h"

#include "cli/opt.h"
#include "cli/out.h"

static const struct setting {
	const char *key;
	size_t offset;
} settings[] = {
	{ "jail_wall", offsetof(struct dtx_jail_given, wall) },
	{ "jail_cpu", offsetof(struct dtx_jail_given, cpu) },
	{ "jail_memory", offsetof(struct dtx_jail_given, memory) },
	{ "jail_output", offsetof(struct dtx_jail_given, output) },
	{ "jail_queue_wait", offsetof(struct dtx_jail_given, queue) },
};

/* Parses seconds or a size, which were checked when the settings were loaded. */
static int64_t setting_value(const char *text)
{
	int64_t value = 0;

	return text && dtx_opt_size(dtx_str_of(text), &value) ? value : 0;
}

static enum dtx_jail_profile choose_profile(int option, struct dtx_config *config)
{
	enum dtx_config_source from;
	const char *text = dtx_config_get(config, "jail_profile", NULL, &from);
	int chosen = DTX_JAIL_SEALED;

	if (option && from != DTX_CONFIG_LOCKED)
		return (enum dtx_jail_profile)(option - 1);
	for (int i = 0; text && i < DTX_JAIL_PROFILES; i++)
		chosen = !strcmp(text, dtx_jail_profile_names[i]) ? i : chosen;
	if (option && option - 1 != chosen)
		dtx_config_overrule(config, "jail_profile");
	return (enum dtx_jail_profile)chosen;
}

void dtx_jail_limits_settle(const struct dtx_jail_given *given, struct dtx_config *config,
                            struct dtx_jail_limits *out)
{
	struct dtx_jail_given got = *given;
	size_t i;

	for (i = 0; i < DTX_COUNT(settings); i++) {
		int64_t *value = (void *)((char *)&got + settings[i].offset);
		int64_t option = *value;
		enum dtx_config_source from;
		const char *text = dtx_config_get(config, settings[i].key, NULL, &from);

		if (option && from != DTX_CONFIG_LOCKED)
			continue;
		*value = setting_value(text); /* 0: a lock without a value counts, too */
		if (option && option != *value)
			dtx_config_overrule(config, settings[i].key);
	}
	*out = (struct dtx_jail_limits){
		got.wall * 1000,      got.cpu * 1000,   (uint64_t)got.memory,
		(uint64_t)got.output, got.queue * 1000, choose_profile(given->profile, config)
	};
}

enum dtx_code dtx_jail_limits_open(const struct dtx_jail_given *given, struct dtx_jail_limits *out,
                                   const struct dtx_cli *cli, struct dtx_err *err)
{
	struct dtx_config config;
	enum dtx_code rc = dtx_config_open(&config, err);

	if (rc == DTX_OK)
		dtx_jail_limits_settle(given, &config, out);
	if (cli && dtx_config_locks(&config))
		dtx_out_note(cli, "dtx: warning: %s\n", dtx_config_locks(&config));
	dtx_config_clear(&config);
	return rc;
}
