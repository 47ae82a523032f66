/* Expands inputs with several files, see expand_globs.h. */
#include "core/plan/parse/expand_globs.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/strmap.h"
#include "core/plan/parse/partitions.h"
#include "core/plan/plan_internal.h"

/* --- which files --- */

struct found {
	struct dtx_plan *plan;
	struct dtx_plan_file *file;
	size_t n, cap;
	struct dtx_strmap paths;
};

static enum dtx_code add_file(struct found *f, const char *path, const char *shown,
                              const char *sheet, struct dtx_err *err)
{
	struct dtx_arena *a = &f->plan->arena;
	enum dtx_code rc = DTX_OK;
	uint32_t at = (uint32_t)f->n;
	const char *key = sheet ? dtx_arena_printf(a, "%s!%s", path, sheet) : path;

	if (!key || !dtx_strmap_put(&f->paths, dtx_str_of(key), at, &at))
		DTX_FAIL_MEM(err);
	if (at != f->n)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "file '%s' is named twice", shown);
	if (f->n == DTX_EXPAND_FILES) {
		dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		            "an input is at most %d files, '%s' is one more", DTX_EXPAND_FILES,
		            shown);
		dtx_err_hint(err, "convert them in groups first");
		return DTX_E_BAD_PARAM_VALUE;
	}
	if (!dtx_arena_reserve(a, &f->file, &f->cap, f->n + 1, sizeof(*f->file)))
		DTX_FAIL_MEM(err);
	f->file[f->n].path = dtx_arena_strdup(a, path);
	f->file[f->n].shown = dtx_arena_strdup(a, shown);
	f->file[f->n].sheet = sheet;
	if (!f->file[f->n].path || !f->file[f->n].shown)
		DTX_FAIL_MEM(err);
	f->n++;
out:
	return rc;
}

/* The part of the path that is a pattern: without the folder of the plan, whose name may contain
 * '*' or '['. */
static const char *pattern_of(struct dtx_arena *a, const struct dtx_plan_file *w, size_t folder)
{
	size_t len = strlen(w->path), n = 0;
	char *text = dtx_arena_alloc(a, 2 * len + 1, 1);

	for (size_t i = 0; text && i < len; i++) {
		if (i < folder && strchr("*?[\\", w->path[i]))
			text[n++] = '\\';
		text[n++] = w->path[i];
	}
	if (text)
		text[n] = '\0';
	return text;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Tells glob() whether to skip a folder that it cannot read. A missing folder has no matches; in
 * one without permission there might be some, so that is an error. */
static int may_skip(const char *path, int error)
{
	(void)path;
	return error == EACCES;
}

/* Says in which folder files were looked for. */
static void hint_folder(const struct dtx_plan_file *w, struct dtx_err *err)
{
	const char *path = w->path;
	const char *wild = strpbrk(path + strlen(path) - strlen(w->shown), "*?[");
	char folder[PATH_MAX], whole[PATH_MAX];
	size_t n = wild ? (size_t)(wild - path) : strlen(path);

	while (n && path[n - 1] != '/')
		n--;
	if (n >= sizeof(folder))
		return;
	snprintf(folder, sizeof(folder), "%.*s", (int)n, n ? path : "");
	if (realpath(n ? folder : ".", whole))
		dtx_err_hint(err, "none is in the folder '%.240s'", whole);
	else if (realpath(".", whole))
		dtx_err_hint(err, "there is no folder '%.120s' (dtx was started in '%.120s')",
		             folder, whole);
}

static enum dtx_code add_matches(struct found *f, const struct dtx_plan_file *w,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t folder = strlen(w->path) - strlen(w->shown), before = f->n;
	const char *pattern = pattern_of(&f->plan->arena, w, folder);
	glob_t g = { 0 };
	int got;

	if (!pattern)
		DTX_FAIL_MEM(err);
	got = glob(pattern, GLOB_MARK | GLOB_NOSORT, may_skip, &g);
	if (got == GLOB_NOSPACE)
		DTX_FAIL_MEM(err);
	if (got == GLOB_ABORTED)
		DTX_FAIL(err, DTX_E_INPUT_IO, "a folder of '%s' cannot be read", w->shown);
	if (g.gl_pathc)
		qsort(g.gl_pathv, g.gl_pathc, sizeof(*g.gl_pathv), by_bytes);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *path = g.gl_pathv[i];

		if (path[strlen(path) - 1] != '/') /* not a folder */
			DTX_TRY(add_file(f, path, path + folder, NULL, err));
	}
	if (f->n == before) {
		rc = dtx_err_set(err, DTX_E_INPUT_NOT_FOUND, __FILE__, __LINE__,
		                 "no file matches '%s'", w->shown);
		hint_folder(w, err);
	}
out:
	globfree(&g);
	return rc;
}

/* --- folders --- */

#define DEPTH_MAX 32 /* of folders in each other; more are a loop of links */

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Names that are no data: .hidden, _SUCCESS, _metadata; but _key=value is a partition. */
static bool is_hidden(const char *name)
{
	return name[0] == '.' || (name[0] == '_' && !strchr(name, '='));
}

/* The suffix that says what a file holds, without those of packed files: ".csv.gz" is ".csv". */
static struct dtx_str suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct dtx_str name = dtx_str_of(slash ? slash + 1 : path);
	size_t at;

	if (dtx_str_ends(name, DTX_STR(".gz")))
		name.len -= 3;
	else if (dtx_str_ends(name, DTX_STR(".zst")))
		name.len -= 4;
	for (at = name.len; at && name.ptr[at - 1] != '.'; at--)
		;
	return at ? (struct dtx_str){ name.ptr + at, name.len - at } : (struct dtx_str){ "", 0 };
}

/* Lists the files in a folder and in those in it. `shown` is where the name that is shown begins in
 * `folder`. */
static enum dtx_code list_folder(struct found *f, const char *folder, size_t shown, unsigned depth,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	DIR *dir = opendir(folder);
	struct dirent *e;
	const char *path;

	if (!dir)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "open the folder", folder);
	if (depth > DEPTH_MAX)
		DTX_FAIL(err, DTX_E_INPUT_IO, "more than %d folders in each other: '%.300s'",
		         DEPTH_MAX, folder);
	for (errno = 0; (e = readdir(dir)) != NULL; errno = 0) {
		if (is_hidden(e->d_name))
			continue;
		path = dtx_arena_printf(&f->plan->arena, "%s%s%s", folder,
		                        dtx_str_ends(dtx_str_of(folder), DTX_STR("/")) ? "" : "/",
		                        e->d_name);
		if (!path)
			DTX_FAIL_MEM(err);
		DTX_TRY(is_folder(path) ? list_folder(f, path, shown, depth + 1, err)
		                        : add_file(f, path, path + shown, NULL, err));
	}
	if (errno)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "read the folder", folder);
out:
	if (dir)
		closedir(dir);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct dtx_plan_file *)a)->path,
	              ((const struct dtx_plan_file *)b)->path);
}

static enum dtx_code add_folder(struct found *f, const struct dtx_plan_file *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t before = f->n, i;

	DTX_TRY(list_folder(f, w->path, strlen(w->path) - strlen(w->shown), 0, err));
	if (f->n == before)
		DTX_FAIL(err, DTX_E_INPUT_NOT_FOUND, "no file is in the folder '%.300s'", w->shown);
	qsort(f->file + before, f->n - before, sizeof(*f->file), by_path);
	for (i = before + 1; i < f->n; i++) {
		if (dtx_str_ieq(suffix_of(f->file[i].path), suffix_of(f->file[before].path)))
			continue;
		dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		            "the folder '%.200s' has files of several kinds, such as '%.200s' and "
		            "'%.200s'",
		            w->shown, f->file[before].shown, f->file[i].shown);
		dtx_err_hint(err, "name those that are meant by a pattern, such as '%.*s*.%.*s'",
		             (int)(strrchr(f->file[before].shown, '/') - f->file[before].shown) + 1,
		             f->file[before].shown, (int)suffix_of(f->file[before].path).len,
		             suffix_of(f->file[before].path).ptr);
		return DTX_E_BAD_PARAM_VALUE;
	}
out:
	return rc;
}

/* Whether a path is a pattern. If a file of exactly that name exists, that file is meant. */
static bool is_pattern(const struct dtx_plan_file *w)
{
	return strpbrk(w->shown, "*?[") && access(w->path, F_OK) != 0;
}

enum dtx_code dtx_expand_files(struct dtx_plan *p, uint32_t i, struct dtx_plan_file **file,
                               size_t *n, struct dtx_err *err)
{
	const struct dtx_plan_input *in = &p->input[i];
	const struct dtx_plan_file one = { in->path, in->path, NULL };
	bool listed = in->nfiles && in->file[0].path == in->path;
	const struct dtx_plan_file *w = listed ? in->file : &one;
	size_t nw = listed ? in->nfiles : 1;
	struct found f = { .plan = p };
	enum dtx_code rc = DTX_OK;
	char at[sizeof(in->at) + 8];

	for (size_t k = 0; k < nw; k++) {
		if (is_pattern(&w[k]))
			DTX_TRY(add_matches(&f, &w[k], err));
		else if (is_folder(w[k].path))
			DTX_TRY(add_folder(&f, &w[k], err));
		else
			DTX_TRY(add_file(&f, w[k].path, w[k].shown, w[k].sheet, err));
	}
	*file = f.file;
	*n = f.n;
out:
	dtx_strmap_clear(&f.paths);
	if (rc != DTX_OK && err) {
		snprintf(at, sizeof(at), "%s/path", in->at);
		err->run_time = true;
		dtx_err_at(err, listed ? at : in->at);
	}
	return rc;
}

/* --- the inputs --- */

void dtx_expand_name(char *buf, size_t size, const char *input, size_t k)
{
	snprintf(buf, size, "%s__%zu", input, k + 1);
}

/* Collects the names of all tables. */
static enum dtx_code all_names(const struct dtx_plan *p, struct dtx_strmap *names,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t have;

	for (uint32_t i = 0; i < p->ninputs; i++)
		if (!dtx_strmap_put(names, dtx_str_of(p->input[i].name), i, &have))
			DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < p->nsteps; i++)
		if (p->step[i].out_name &&
		    !dtx_strmap_put(names, dtx_str_of(p->step[i].out_name), i, &have))
			DTX_FAIL_MEM(err);
out:
	return rc;
}

/* The canonical form of input `in` when it reads just one of its files. */
static enum dtx_code canonical_of(struct dtx_plan *p, const struct dtx_plan_input *in,
                                  const char *name, const char *sheet, const json_t **out,
                                  struct dtx_err *err)
{
	json_t *o = json_copy((json_t *)(uintptr_t)in->canonical);
	enum dtx_code rc = DTX_OK;

	json_object_del(o, "source_file");
	json_object_del(o, "columns");
	json_object_del(o, "partitions");
	if (!o || !dtx_json_set(o, "name", json_string(name)) ||
	    (sheet && !dtx_json_set(o, "sheet", json_string(sheet))) ||
	    !dtx_part_keep(p, json_incref(o)))
		DTX_FAIL_MEM(err);
	*out = o;
out:
	json_decref(o);
	return rc;
}

/* Makes n copies of input i, each with one of the files. `partitions`: columns that no file has. */
static enum dtx_code spread_inputs(struct dtx_plan *p, uint32_t i, const struct dtx_plan_file *file,
                                   size_t n, const json_t *partitions, struct dtx_plan_input **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_input *made = dtx_arena_zalloc(&p->arena, p->ninputs + n, sizeof(*made));
	struct dtx_read_opts opts = p->input[i].opts;
	struct dtx_strmap taken = DTX_STRMAP_INIT, bases = DTX_STRMAP_INIT;
	uint32_t at;
	char name[256];

	if (!made)
		DTX_FAIL_MEM(err);
	if (partitions)
		DTX_TRY(dtx_partitions_undeclare(&p->arena, partitions, &opts, err));
	DTX_TRY(all_names(p, &taken, err));
	memcpy(made, p->input, i * sizeof(*made));
	memcpy(made + i + n, p->input + i + 1, (p->ninputs - i - 1) * sizeof(*made));
	for (size_t k = 0; k < n; k++) {
		struct dtx_plan_input *in = &made[i + k];

		dtx_expand_name(name, sizeof(name), p->input[i].name, k);
		if (dtx_strmap_get(&taken, dtx_str_of(name)) != DTX_STRMAP_NONE) {
			rc = dtx_err_set(
				err, DTX_E_DUPLICATE_TABLE, __FILE__, __LINE__,
				"file %zu of input '%s' is table '%s', and the plan has one", k + 1,
				p->input[i].name, name);
			dtx_err_hint(err, "rename one of the two");
			goto out;
		}
		*in = p->input[i];
		in->opts = opts;
		in->partitions = false;
		in->name = in->opts.alias = dtx_arena_strdup(&p->arena, name);
		in->path = file[k].path;
		in->shown = file[k].shown;
		in->file = NULL;
		in->nfiles = 0;
		in->source_file = NULL;
		if (file[k].sheet)
			in->opts.sheet = file[k].sheet;
		if (!in->name)
			DTX_FAIL_MEM(err);
		DTX_TRY(canonical_of(p, &p->input[i], name, file[k].sheet, &in->canonical, err));
		if (!dtx_strmap_put(&bases, dtx_str_of(dtx_file_basename(in->path)), (uint32_t)k,
		                    &at))
			DTX_FAIL_MEM(err);
		/* the sheets of a book have their names beside it */
		if (at != k && strcmp(made[i + at].path, in->path) != 0)
			in->same_base = made[i + at].same_base = true;
	}
	*out = made;
out:
	dtx_strmap_clear(&taken);
	dtx_strmap_clear(&bases);
	return rc;
}

/* --- the step --- */

/* The step that puts the files one after the other, and adds the columns that are not in them. */
static json_t *step_of(const struct dtx_plan_input *in, const struct dtx_plan_file *file,
                       const struct dtx_plan_input *made, size_t n, json_t *partitions)
{
	static const char *const columns[] = { "same", "union", "intersect" };
	json_t *with = json_array(), *shown = json_array();
	bool whole = true;

	for (size_t k = 0; k < n; k++) {
		whole = !json_array_append_new(shown, json_string(file[k].shown)) && whole;
		if (k)
			whole = !json_array_append_new(with, json_string(made[k].name)) && whole;
	}
	if (!whole) { /* Without memory the list would lack a file, so fail. */
		json_decref(with);
		json_decref(shown);
		return NULL;
	}
	return json_pack("{ss ss ss ss ss so so ss* sO*}", "op", "union", "in", made[0].name, "out",
	                 in->name, "fallback", "off", "columns", columns[in->columns], "with", with,
	                 "sources", shown, "source_as", in->source_file, "constants", partitions);
}

/* The new id of a table: ids after input i grow, and table i itself becomes the result of the new
 * first step. */
static int32_t moved(const struct dtx_plan *p, uint32_t i, size_t n, int32_t id)
{
	int32_t ninputs = (int32_t)(p->ninputs + n - 1);

	if (id < 0 || (uint32_t)id < i)
		return id;
	if ((uint32_t)id == i)
		return ninputs;
	if ((uint32_t)id < p->ninputs)
		return id + (int32_t)n - 1;
	return id + (int32_t)n; /* the inputs were added and one step */
}

static void move_ids(struct dtx_plan *p, uint32_t i, size_t n)
{
	for (uint32_t s = 0; s < p->nsteps; s++)
		for (uint32_t k = 0; k < p->step[s].ntables; k++)
			p->step[s].table[k] = moved(p, i, n, p->step[s].table[k]);
	for (uint32_t o = 0; o < p->noutputs; o++)
		p->output[o].table = moved(p, i, n, p->output[o].table);
	p->result = moved(p, i, n, p->result);
}

static enum dtx_code spread_steps(struct dtx_plan *p, const char *at, json_t *json,
                                  struct dtx_errlist *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t before = findings->n;
	struct dtx_plan_step *step = dtx_arena_zalloc(&p->arena, p->nsteps + 1, sizeof(*step));

	if (!step)
		DTX_FAIL_MEM(err);
	memcpy(step + 1, p->step, p->nsteps * sizeof(*step));
	p->step = step;
	p->nsteps++;
	/* Findings about steps move with them. */
	for (size_t k = 0; k < before; k++)
		findings->item[k].step += findings->item[k].step >= 0;
	step[0].number = -1;
	snprintf(step[0].at, sizeof(step[0].at), "%s", at);
	DTX_TRY(dtx_part_made_step(p, json, &step[0], findings, err));
	if (findings->n > before) {
		dtx_err_copy(err, &findings->item[before]);
		rc = findings->item[before].code;
	}
out:
	return rc;
}

enum dtx_code dtx_expand_input(struct dtx_plan *p, uint32_t i, const struct dtx_plan_file *file,
                               size_t n, struct dtx_errlist *findings, struct dtx_err *err)
{
	const struct dtx_plan_input in = p->input[i];
	struct dtx_plan_input *made = NULL;
	enum dtx_code rc = DTX_OK;
	json_t *json = NULL, *partitions = NULL;

	if (n == 1 && !in.source_file && !in.partitions) {
		p->input[i].path = file->path;
		p->input[i].nfiles = 0;
		if (file->sheet)
			p->input[i].opts.sheet = file->sheet;
		return DTX_OK;
	}
	if (in.partitions)
		DTX_TRY(dtx_partitions_read(p, &in, file, n, &partitions, err));
	DTX_TRY(spread_inputs(p, i, file, n, partitions, &made, err));
	json = step_of(&in, file, made + i, n, partitions);
	if (!json || !dtx_part_keep(p, json_incref(json)))
		DTX_FAIL_MEM(err);
	move_ids(p, i, n);
	p->input = made;
	p->ninputs += (uint32_t)n - 1;
	DTX_TRY(spread_steps(p, in.at, json, findings, err));
out:
	if (rc != DTX_OK)
		dtx_err_at(err, in.at);
	json_decref(partitions);
	json_decref(json);
	return rc;
}
