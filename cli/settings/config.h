/* Settings of a user and of a machine. Options win over the environment, which wins over the
 * user's file, which wins over the machine's file. What the machine's file locks wins over
 * everything. */
#ifndef DTX_CLI_SETTINGS_CONFIG_H
#define DTX_CLI_SETTINGS_CONFIG_H

#include "core/base/memory/arena.h"
#include "core/base/text/json.h"

#define DTX_CONFIG_SYSTEM "/etc/dtx/config.json"

struct dtx_config {
	struct dtx_arena arena;
	json_t *user, *system; /* JSON objects; NULL: no file */
	uint64_t overruled;    /* bits of settings whose option has no effect because of a lock */
};
enum dtx_config_source {
	DTX_CONFIG_NOWHERE,
	DTX_CONFIG_MACHINE,
	DTX_CONFIG_USER,
	DTX_CONFIG_ENVIRONMENT,
	DTX_CONFIG_OPTION,
	DTX_CONFIG_LOCKED
};

/* Loads both files. Paths may be NULL, or name no file. A file that is not a JSON object, a name
 * that is not a setting and a value that does not fit (settings.h) are errors with file and line:
 * usage, or that of the parser. */
DTX_MUSTUSE enum dtx_code dtx_config_load(struct dtx_config *c, const char *user,
                                          const char *system, struct dtx_err *err);
/* The path of the user's file, which need not exist. Returns false and "" if there is no place
 * for it. */
bool dtx_config_path(char *path, size_t size);
/* Loads from $XDG_CONFIG_HOME or ~/.config, and DTX_CONFIG_SYSTEM, and checks the environment
 * variables of settings. */
DTX_MUSTUSE enum dtx_code dtx_config_open(struct dtx_config *c, struct dtx_err *err);
void dtx_config_clear(struct dtx_config *c);

/* The value of the setting `key` ("author_url") as text, also for numbers and truth values; NULL:
 * not set. `option` is its value on the command line, or NULL. The environment variable is DTX_ and
 * the key in capitals. `source` may be NULL. The text is valid as long as c. */
const char *dtx_config_get(struct dtx_config *c, const char *key, const char *option,
                           enum dtx_config_source *source);
/* Notes that the option for `key` has no effect because another value is locked. dtx_config_get
 * does that for the options that it gets. */
void dtx_config_overrule(struct dtx_config *c, const char *key);
/* "DTX_CONFIG_SYSTEM locks approve, jail_wall: ...", in the arena; NULL if no option was
 * overruled. */
const char *dtx_config_locks(struct dtx_config *c);
/* Collects privacy.deny of both files, in the arena; *n is their number. */
DTX_MUSTUSE enum dtx_code dtx_config_deny(struct dtx_config *c, const char *const **out, size_t *n,
                                          struct dtx_err *err);

#endif
