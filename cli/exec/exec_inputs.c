/* The tables and files that a program gets. */
#include <string.h>
#include <sys/stat.h>

#include "cli/exec/exec_run.h"
#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/io/write/reserve.h"
#include "sandbox/main/jail.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)

/* Splits NAME=PATH; *path points into `text`. */
static enum dtx_code split(const char *option, const char *text, char name[DTX_EXEC_NAME],
                           const char **path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *eq = strchr(text, '=');

	if (!eq || eq == text || !eq[1] || (size_t)(eq - text) >= DTX_EXEC_NAME)
		DTX_FAIL(err, DTX_E_USAGE, "option '--%s' takes NAME=%s, got '%s'", option,
		         strcmp(option, "table") ? "PATH" : "FILE", text);
	dtx_str_copy(name, DTX_EXEC_NAME, (struct dtx_str){ text, (size_t)(eq - text) });
	*path = eq + 1;
out:
	return rc;
}

/* Reads a table with a plan without steps, so that every format works. */
static enum dtx_code read_table(struct dtx_execution *x, struct dtx_runner *r, const char *name,
                                const char *path, struct dtx_err *err)
{
	static const struct dtx_run_args none;
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_host host = { 0 };

	*r = (struct dtx_runner){ .cli = x->cli, .args = &none, .command = "exec" };
	r->record = x->record;
	DTX_TRY(dtx_runner_plan(r, err));
	DTX_TRY(dtx_runner_inputs(r, 1, (char *[]){ (char *)(uintptr_t)path, NULL }, err));
	r->plan->input[0].path = path;
	r->plan->input[0].name = dtx_arena_strdup(&r->plan->arena, name);
	if (!r->plan->input[0].name)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_runner_open(r, true, err));
	DTX_TRY(dtx_runner_known(r, err));
	dtx_runner_hash_start(r);
	opts.input = r->source;
	opts.fallback = DTX_FALLBACK_OFF;
	DTX_TRY(dtx_exec(r->plan, &opts, &host, &r->findings, &r->result, err));
	DTX_TRY(dtx_runner_inputs_seen(r, err));
	/* the box keeps a pointer to the name; the plan's copy lives as long as the run */
	DTX_TRY(dtx_provider_local.put(x->box, r->plan->input[0].name, r->result->output[0].table,
	                               err));
out:
	return rc;
}

static enum dtx_code record_file(struct dtx_execution *x, const char *name, const char *path,
                                 struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char sha[DTX_SHA256_HEX];
	char *uri = dtx_file_absolute(path);
	struct stat st;

	if (!uri)
		DTX_FAIL_MEM(err);
	if (stat(path, &st))
		st.st_mtim = (struct timespec){ 0, 0 };
	dtx_sha256_hex(dtx_buf_text(bytes), dtx_buf_len(bytes), sha);
	DTX_TRY(dtx_record_add(
		x->record, DTX_PART_INPUT,
		json_pack("{ss ss ss ss sI sI}", "alias", name, "uri", uri, "label",
	                  dtx_file_basename(path), "sha", sha, "bytes", (json_int_t)bytes->len,
	                  "mtime_us",
	                  (json_int_t)(st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000)),
		err));
out:
	dtx_mem_free(uri);
	return rc;
}

static enum dtx_code give_file(struct dtx_execution *x, const char *name, const char *path,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf *bytes = &x->file[x->nfiles++];
	struct dtx_jail_file file = { .name = name };

	dtx_buf_init(bytes, FILE_BYTES_MAX);
	DTX_TRY(dtx_file_slurp(path, bytes, err));
	file.bytes = dtx_buf_str(bytes);
	DTX_TRY(record_file(x, name, path, bytes, err));
	DTX_TRY(dtx_provider_local.put_file(x->box, &file, err));
out:
	return rc;
}

/* Refuses a name that is used twice: one would hide the other. All tables are called `main` in
 * their plan until they get their own name. */
static enum dtx_code unique(const struct dtx_optlist *list, const char *option, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, k;

	for (i = 0; i < list->n; i++) {
		size_t len = strcspn(list->item[i], "=") + 1;

		for (k = 0; k < i; k++)
			if (!strncmp(list->item[i], list->item[k], len))
				DTX_FAIL(err, DTX_E_USAGE, "'--%s %.*s' is given twice", option,
				         (int)len - 1, list->item[i]);
	}
out:
	return rc;
}

enum dtx_code dtx_execution_inputs(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_optlist *table = &x->args->table, *file = &x->args->file;
	char name[DTX_EXEC_NAME];
	const char *path;
	size_t i;

	DTX_TRY(unique(table, "table", err));
	DTX_TRY(unique(file, "file", err));
	if (table->n) {
		x->reader = dtx_mem_zalloc(table->n, sizeof(*x->reader));
		if (!x->reader)
			DTX_FAIL_MEM(err);
	}
	for (i = 0; i < table->n; i++) {
		DTX_TRY(split("table", table->item[i], name, &path, err));
		DTX_TRY(dtx_reserve(path, "a table of the program", err));
		DTX_TRY(read_table(x, &x->reader[x->nreaders++], name, path, err));
	}
	for (i = 0; i < file->n; i++) {
		DTX_TRY(split("file", file->item[i], x->file_name[i], &path, err));
		DTX_TRY(dtx_reserve(path, "a file of the program", err));
		DTX_TRY(give_file(x, x->file_name[i], path, err));
	}
out:
	return rc;
}
