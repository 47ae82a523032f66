/* Finds the limits of the jail, see jail_limits.h. */
#include "cli/exec/jail_limits.h"

#include "cli/opt.h"
#include "cli/out.h"
#include "core/base/text/num.h"

/* The bounds are those of the options. */
static const struct setting {
	const char *key;
	bool size;
	int64_t min, max;
	size_t offset;
} settings[] = {
	{ "jail_wall", false, 1, DTX_JAIL_SECONDS_MAX, offsetof(struct dtx_jail_given, wall) },
	{ "jail_cpu", false, 1, DTX_JAIL_SECONDS_MAX, offsetof(struct dtx_jail_given, cpu) },
	{ "jail_memory", true, DTX_JAIL_MEMORY_MIN, DTX_JAIL_BYTES_MAX,
	  offsetof(struct dtx_jail_given, memory) },
	{ "jail_output", true, DTX_JAIL_OUTPUT_MIN, DTX_JAIL_BYTES_MAX,
	  offsetof(struct dtx_jail_given, output) },
	{ "jail_queue_wait", false, 1, DTX_JAIL_SECONDS_MAX,
	  offsetof(struct dtx_jail_given, queue) },
};

static enum dtx_code setting_parse(const struct setting *s, const char *text, int64_t *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool ok = s->size ? dtx_opt_size(dtx_str_of(text), out)
	                  : dtx_num_parse_i64(text, strlen(text), out);

	if (!ok)
		DTX_FAIL(err, DTX_E_USAGE, "setting '%s' takes %s, got '%s'", s->key,
		         s->size ? "a size like 256M" : "a whole number", text);
	if (*out < s->min || *out > s->max)
		DTX_FAIL(err, DTX_E_USAGE, "setting '%s' takes %lld to %lld, got %lld", s->key,
		         (long long)s->min, (long long)s->max, (long long)*out);
out:
	return rc;
}

/* Parses the profile of a setting. */
static enum dtx_code profile_parse(const char *text, enum dtx_jail_profile *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int i;

	for (i = 0; i < DTX_JAIL_PROFILES; i++) {
		*out = (enum dtx_jail_profile)i;
		if (!strcmp(text, dtx_jail_profile_names[i]))
			goto out;
	}
	DTX_FAIL(err, DTX_E_USAGE, "setting 'jail_profile' takes sealed or lib-ro, got '%s'", text);
out:
	return rc;
}

static enum dtx_code choose_profile(int option, struct dtx_config *config,
                                    enum dtx_jail_profile *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_config_source from;
	const char *text = dtx_config_get(config, "jail_profile", NULL, &from);

	*out = DTX_JAIL_SEALED;
	if (option && from != DTX_CONFIG_LOCKED) {
		*out = (enum dtx_jail_profile)(option - 1);
		goto out;
	}
	if (text)
		DTX_TRY(profile_parse(text, out, err));
	if (option && option - 1 != (int)*out)
		dtx_config_overrule(config, "jail_profile");
out:
	return rc;
}

enum dtx_code dtx_jail_limits_settle(const struct dtx_jail_given *given, struct dtx_config *config,
                                     struct dtx_jail_limits *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jail_given got = *given;
	enum dtx_jail_profile profile;
	size_t i;

	for (i = 0; i < DTX_COUNT(settings); i++) {
		int64_t *value = (void *)((char *)&got + settings[i].offset);
		int64_t option = *value;
		enum dtx_config_source from;
		const char *text = dtx_config_get(config, settings[i].key, NULL, &from);

		if (option && from != DTX_CONFIG_LOCKED)
			continue;
		*value = 0; /* a lock without a value counts, too */
		if (text)
			DTX_TRY(setting_parse(&settings[i], text, value, err));
		if (option && option != *value)
			dtx_config_overrule(config, settings[i].key);
	}
	DTX_TRY(choose_profile(given->profile, config, &profile, err));
	*out = (struct dtx_jail_limits){ got.wall * 1000,      got.cpu * 1000,
		                         (uint64_t)got.memory, (uint64_t)got.output,
		                         got.queue * 1000,     profile };
out:
	return rc;
}

enum dtx_code dtx_jail_limits_open(const struct dtx_jail_given *given, struct dtx_jail_limits *out,
                                   const struct dtx_cli *cli, struct dtx_err *err)
{
	struct dtx_config config;
	enum dtx_code rc = dtx_config_open(&config, err);

	if (rc == DTX_OK)
		rc = dtx_jail_limits_settle(given, &config, out, err);
	if (cli && dtx_config_locks(&config))
		dtx_out_note(cli, "dtx: warning: %s\n", dtx_config_locks(&config));
	dtx_config_clear(&config);
	return rc;
}
