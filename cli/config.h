/* Settings of a user and of a machine: options win over the environment, that over the user's file,
 * that over the machine's; what the machine's file locks wins over all. */
#ifndef DTX_CLI_CONFIG_H
#define DTX_CLI_CONFIG_H

#include "core/base/arena.h"
#include "core/base/text/json.h"

#define DTX_CONFIG_SYSTEM "/etc/dtx/config.json"

struct dtx_config {
	struct dtx_arena arena;
	json_t *user, *system; /* objects; NULL: no file */
	uint32_t overruled;    /* settings whose option a lock left without effect, by number */
};
enum dtx_config_source {
	DTX_CONFIG_NOWHERE,
	DTX_CONFIG_MACHINE,
	DTX_CONFIG_USER,
	DTX_CONFIG_ENVIRONMENT,
	DTX_CONFIG_OPTION,
	DTX_CONFIG_LOCKED
};

/* Paths may be NULL or name no file.  A file that is no JSON object is an error (bad_param_value
 * or what the parser says). */
DTX_MUSTUSE enum dtx_code dtx_config_load(struct dtx_config *c, const char *user,
                                          const char *system, struct dtx_err *err);
/* Where the user's file is or would be; false and "": there is no such place. */
bool dtx_config_path(char *path, size_t size);
/* From $XDG_CONFIG_HOME or ~/.config, and DTX_CONFIG_SYSTEM. */
DTX_MUSTUSE enum dtx_code dtx_config_open(struct dtx_config *c, struct dtx_err *err);
void dtx_config_clear(struct dtx_config *c);

/* The value of `key` ("author_url") as text, numbers and truth included; NULL: nowhere.  option:
 * its value on the command line, NULL.  Variable: DTX_ and the key in capitals.  source may be
 * NULL.  Lives as long as c. */
const char *dtx_config_get(struct dtx_config *c, const char *key, const char *option,
                           enum dtx_config_source *source);
/* An option for `key` has no effect: it is locked to something else.  dtx_config_get sees to that
 * for the options it is given. */
void dtx_config_overrule(struct dtx_config *c, const char *key);
/* "DTX_CONFIG_SYSTEM locks approve, jail_wall: ..." in the arena; NULL: no option was overruled. */
const char *dtx_config_locks(struct dtx_config *c);
/* privacy.deny of both files, in the arena; *n counts. */
DTX_MUSTUSE enum dtx_code dtx_config_deny(struct dtx_config *c, const char *const **out, size_t *n,
                                          struct dtx_err *err);

#endif
