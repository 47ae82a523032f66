/* Settings of a user and of a machine: which one applies, and what is locked. */
#include "cli/settings/config.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "tests/t.h"

static const char *config_file(const char *name, const char *text)
{
	static char path[2][4096];
	char *at = path[!strcmp(name, "user")];
	FILE *f;

	snprintf(at, sizeof(path[0]), "%s/%s.json", t_dir(), name);
	f = fopen(at, "w");
	T_CHECK(f && fputs(text, f) >= 0);
	T_CHECK(f && fclose(f) == 0);
	return at;
}

static const struct config_row {
	const char *user, *machine, *variable, *option, *want; /* NULL: not set */
	enum dtx_config_source source;
} config_rows[] = {
	{ "{}", "{}", NULL, NULL, NULL, DTX_CONFIG_NOWHERE },
	{ "{}", "{\"approve\":\"ask\"}", NULL, NULL, "ask", DTX_CONFIG_MACHINE },
	{ "{\"approve\":\"auto\"}", "{\"approve\":\"ask\"}", NULL, NULL, "auto", DTX_CONFIG_USER },
	{ "{\"approve\":\"ask\"}", "{}", "auto", NULL, "auto", DTX_CONFIG_ENVIRONMENT },
	{ "{\"approve\":\"ask\"}", "{}", "ask", "auto", "auto", DTX_CONFIG_OPTION },
	{ "{\"approve\":\"auto\"}", "{\"approve\":\"require\",\"locked\":[\"approve\"]}", "auto",
	  "auto", "require", DTX_CONFIG_LOCKED },
	{ "{\"approve\":\"auto\"}", "{\"approve\":\"ask\",\"locked\":[\"author\"]}", NULL, NULL,
	  "auto", DTX_CONFIG_USER },
	/* a lock without a value: it cannot be set at all */
	{ "{\"approve\":\"auto\"}", "{\"locked\":[\"approve\"]}", "auto", "auto", NULL,
	  DTX_CONFIG_LOCKED },
	/* a lock in the user's file has no effect */
	{ "{\"approve\":\"ask\",\"locked\":[\"approve\"]}", "{}", NULL, "auto", "auto",
	  DTX_CONFIG_OPTION },
};

void test_config_who_wins(void)
{
	for (size_t i = 0; i < DTX_COUNT(config_rows); i++) {
		const struct config_row *row = &config_rows[i];
		enum dtx_config_source source = DTX_CONFIG_NOWHERE;
		struct dtx_config c;
		const char *got;

		T_OK(dtx_config_load(&c, config_file("user", row->user),
		                     config_file("machine", row->machine), NULL),
		     NULL);
		if (row->variable)
			setenv("DTX_APPROVE", row->variable, 1);
		got = dtx_config_get(&c, "approve", row->option, &source);
		unsetenv("DTX_APPROVE");
		T_STR(got ? got : "nothing", row->want ? row->want : "nothing");
		T_INT(source, row->source);
		T_INT(dtx_config_locks(&c) != NULL, row->option && source == DTX_CONFIG_LOCKED);
		dtx_config_clear(&c);
	}
}

/* If such a file were ignored, a lock or a denial with a mistake in it would have no effect. */
void test_config_bad_files(void)
{
	static const char *const bad[] = {
		"{\"locked\":\"approve\"}",
		"{\"locked\":[\"aprove\"]}",
		"{\"locked\":[1]}",
		"{\"approve\":[\"ask\"]}",
		"{\"approve\":null}",
		"{\"privacy\":[\"s*\"]}",
		"{\"privacy\":{\"denny\":[\"s*\"]}}",
		"{\"privacy\":{\"deny\":[\"s*\"],\"more\":[]}}",
		"[]",
		"{",
	};
	struct dtx_config c;

	for (size_t i = 0; i < DTX_COUNT(bad); i++) {
		T_CHECK(dtx_config_load(&c, NULL, config_file("machine", bad[i]), NULL) != DTX_OK);
		dtx_config_clear(&c);
	}
	T_OK(dtx_config_load(&c, NULL, config_file("machine", "{\"locked\":[\"approve\"]}"), NULL),
	     NULL);
	dtx_config_clear(&c);
}

/* The machine's file exists but cannot be read. */
void test_config_that_is_shut(void)
{
	struct dtx_config c;
	char path[4096];

	snprintf(path, sizeof(path), "%s/circle.json", t_dir());
	T_INT(symlink("circle.json", path), 0);
	T_CHECK(dtx_config_load(&c, NULL, path, NULL) != DTX_OK);
	dtx_config_clear(&c);
	T_OK(dtx_config_load(&c, path, "/nonexistent/dtx/config.json", NULL), NULL);
	dtx_config_clear(&c);
	unlink(path);
}

/* Columns that no prompt may name: those of both files are combined. */
void test_config_deny(void)
{
	const char *const *glob;
	struct dtx_config c;
	size_t n;

	T_OK(dtx_config_load(&c, config_file("user", "{\"privacy\":{\"deny\":[\"u*\"]}}"),
	                     config_file("machine", "{\"privacy\":{\"deny\":[\"m*\"]}}"), NULL),
	     NULL);
	T_OK(dtx_config_deny(&c, &glob, &n, NULL), NULL);
	T_INT(n, 2);
	T_STR(glob[0], "m*");
	T_STR(glob[1], "u*");
	dtx_config_clear(&c);
}

void test_config_deny_too_many(void)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_config c;

	dtx_buf_add(&text, "{\"privacy\":{\"deny\":[\"0\"");
	for (int i = 1; i <= 256; i++)
		dtx_buf_printf(&text, ",\"%d\"", i);
	dtx_buf_add(&text, "]}}");
	T_CODE(dtx_config_load(&c, config_file("user", dtx_buf_text(&text)), NULL, &err),
	       DTX_E_USAGE, &err);
	T_STR(err.msg, "'privacy.deny' holds at most 256 patterns");
	dtx_config_clear(&c);
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
}
