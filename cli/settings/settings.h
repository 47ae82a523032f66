/* The settings that a user or a machine may fix: one table, from which names, checks of values,
 * `dtx config` and dtx-config(5) are made. */
#ifndef DTX_CLI_SETTINGS_SETTINGS_H
#define DTX_CLI_SETTINGS_SETTINGS_H

#include "core/base/err.h"

enum dtx_setting_kind {
	DTX_SET_TEXT,   /* any text */
	DTX_SET_CHOICE, /* one of `choices` */
	DTX_SET_FLAG,   /* true or false */
	DTX_SET_NUMBER, /* a whole number */
	DTX_SET_SIZE,   /* bytes: 256M, 2G */
	DTX_SET_AMOUNT  /* a number above 0 */
};

struct dtx_setting {
	const char *name; /* "jail_wall"; the environment variable is DTX_JAIL_WALL */
	enum dtx_setting_kind kind;
	const char *choices; /* CHOICE: "step,plan,off"; of others a word beside numbers: "never" */
	int64_t min, max;    /* NUMBER and SIZE */
	const char *preset;  /* what holds when nothing is set, for people */
	const char *help;
};

extern const struct dtx_setting dtx_settings[];
extern const size_t dtx_nsettings;

/* NULL: there is no such setting. */
const struct dtx_setting *dtx_setting_find(const char *name);
/* Sets an error that there is no setting `name`, with names that are spelt alike. */
enum dtx_code dtx_setting_unknown(const char *name, struct dtx_err *err);
/* Checks a value as text. Error: usage, "setting 'jail_wall' must be a whole number from 1 to
 * 86400, got 'x'". */
DTX_MUSTUSE enum dtx_code dtx_setting_check(const struct dtx_setting *s, const char *text,
                                            struct dtx_err *err);
/* Writes what a value must be: "a whole number from 1 to 86400". */
void dtx_setting_expected(const struct dtx_setting *s, char *out, size_t size);
/* Writes the name of the environment variable: "DTX_JAIL_WALL". */
void dtx_setting_variable(const struct dtx_setting *s, char *out, size_t size);

#endif
