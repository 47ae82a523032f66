/* Turns operands and options into inputs of the plan, and opens their sources; finds hashes of them
 * that an earlier run computed. */
#include "cli/run/runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/settings/config.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/io/write/outfile.h"
#include "core/io/write/reserve.h"
#include "core/io/sheet/book_info.h"
#include "core/plan/exec/outputs.h"
#include "core/plan/parse/expand_globs.h"
#include "core/store/cache/hash_cache.h"
#include "core/store/ledger/process.h"

/* --- inputs that need not be hashed again ---
 *
 * An earlier run has hashed them, and they were not written to since.
 *
 * Hashing a large input takes as long as many a step on it. If a user works with one file all
 * day, it is hashed once, and each record says which run computed the hash. Commands that verify
 * (replay, verify, provenance) always read the bytes. */

#define KNOWN_NEVER INT64_MAX

/* Gets the time in seconds for which a file must have been left alone (KNOWN_NEVER: hashes are
 * never reused), and what `auto` means: users who compare records with sha256sum need SHA-256 for
 * large inputs, too. */
static enum dtx_code known_settings(struct dtx_runner *r, int64_t *settle_s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_config config;
	const char *settle, *hash;

	DTX_TRY(dtx_config_open(&config, err));
	settle = dtx_config_get(&config, "input_settle", NULL, NULL);
	hash = dtx_config_get(&config, "input_hash", NULL, NULL);
	*settle_s = DTX_STAT_SIGNATURE_SETTLE_S;
	if (settle && !dtx_num_parse_i64(settle, strlen(settle), settle_s))
		*settle_s = KNOWN_NEVER;
	if (r->identity == DTX_IDENTITY_AUTO && hash && !strcmp(hash, "sha256"))
		r->identity = DTX_IDENTITY_SHA256;
out:
	dtx_config_clear(&config);
	return rc;
}

/* Whether looking into the store is faster than hashing the input. */
static bool known_worth(const struct dtx_runner *r, uint32_t i)
{
	const struct dtx_source *s = r->source[i];

	return s && !dtx_source_passes(s) && dtx_source_size(s) >= DTX_IDENTITY_LARGE;
}

static bool known_any(const struct dtx_runner *r)
{
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (known_worth(r, i))
			return true;
	return false;
}

/* Notes the signatures of files that have been left alone. */
static void known_marks(struct dtx_runner *r, int64_t settle_s)
{
	struct dtx_process self;
	struct timespec now;

	dtx_process_self(&self);
	clock_gettime(CLOCK_REALTIME, &now);
	for (uint32_t i = 0; self.boot[0] && i < r->plan->ninputs; i++) {
		if (known_worth(r, i) && dtx_source_mark(r->source[i]) &&
		    dtx_stat_signature_settled(dtx_source_mark(r->source[i]),
		                               (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
		                               settle_s))
			dtx_stat_signature_print(dtx_source_mark(r->source[i]), self.boot,
			                         r->known[i].mark);
	}
}

/* Asks the store. If that fails nothing is known; the run itself will report the problem. Two
 * connections that open a store at once wait for each other, which SQLite does in sleeps of a
 * millisecond and more. */
static void known_ask(struct dtx_runner *r, enum dtx_identity_kind wanted)
{
	struct dtx_err mine = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	enum dtx_code rc;

	dtx_runner_store_opened(r);
	rc = dtx_store_open(r->cli->store, DTX_STORE_READ, &store, &mine);
	for (uint32_t i = 0; rc == DTX_OK && i < r->plan->ninputs; i++) {
		struct dtx_known *k = &r->known[i];

		if (k->mark[0])
			rc = dtx_hash_cache_find(store, k->mark, k->sha, k->run_id, &mine);
		if (wanted != DTX_IDENTITY_AUTO && dtx_identity_kind(k->sha) != wanted)
			k->sha[0] = '\0';
	}
	dtx_store_free(store);
	dtx_err_clear(&mine);
}

enum dtx_code dtx_runner_known(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t settle_s;

	r->identity = (enum dtx_identity_kind)r->args->input_hash;
	if (r->identity == DTX_IDENTITY_XXH3 || r->prompt || !known_any(r))
		return DTX_OK;
	DTX_TRY(known_settings(r, &settle_s, err));
	if (settle_s == KNOWN_NEVER)
		return DTX_OK;
	r->known = dtx_mem_zalloc(r->plan->ninputs, sizeof(*r->known));
	if (!r->known)
		DTX_FAIL_MEM(err);
	known_marks(r, settle_s);
	if (r->args->input_hash == DTX_IDENTITY_AUTO && !r->replay)
		known_ask(r, r->identity);
out:
	return rc;
}

void dtx_runner_hash_start(struct dtx_runner *r)
{
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (r->source[i] && (!r->known || !r->known[i].sha[0]))
			dtx_source_hash_start(r->source[i], r->identity,
			                      (unsigned)r->args->threads);
}

bool dtx_runner_known_holds(const struct dtx_runner *r, uint32_t i)
{
	return r->known && r->known[i].mark[0] && dtx_source_mark(r->source[i]);
}

/* --- operands and options --- */

/* Reserves the files of an input of several files, once they are known. */
static DTX_MUSTUSE enum dtx_code runner_places_files(const struct dtx_plan_file *file, size_t n,
                                                     struct dtx_err *err);

#define LIMIT_GROUP "archive."

static struct dtx_plan_input *inputs_find(struct dtx_plan *plan, struct dtx_str name)
{
	uint32_t i;

	for (i = 0; i < plan->ninputs; i++) {
		if (dtx_str_is(name, plan->input[i].name))
			return &plan->input[i];
	}
	return NULL;
}

static enum dtx_code inputs_unknown(const struct dtx_runner *r, struct dtx_str name,
                                    const char *text, struct dtx_err *err)
{
	const char **names = dtx_arena_alloc(&r->plan->arena, r->plan->ninputs, sizeof(*names));
	enum dtx_code rc = DTX_E_USAGE;
	char want[64];
	uint32_t i;

	if (!names)
		DTX_FAIL_MEM(err);
	dtx_str_copy(want, sizeof(want), name);
	for (i = 0; i < r->plan->ninputs; i++)
		names[i] = r->plan->input[i].name;
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the plan has no input '%s'", want);
	dtx_err_suggest(err, want, names, r->plan->ninputs);
	dtx_err_hint(err, "a file of that name is './%.120s'", text);
out:
	return rc;
}

/* Whether the plan is invalid. Its own findings are then reported, and one may be the reason why
 * it has no such input. */
static bool plan_is_broken(const struct dtx_runner *r)
{
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);

	return worst && worst->severity == DTX_SEV_ERROR;
}

/* A second file without a name: one of another input, or one of many that the shell made of a
 * pattern. */
static enum dtx_code inputs_second(const struct dtx_runner *r, const char *text,
                                   struct dtx_err *err)
{
	const char *base = dtx_file_basename(text), *dot = strrchr(base, '.');
	const struct dtx_plan_input *next = r->plan->ninputs > 1 ? &r->plan->input[1] : NULL;

	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "second file '%s' needs a name: NAME=%s",
	            text, text);
	if (next && !next->path)
		dtx_err_hint(err, "for input '%.60s' of the plan: %.60s=%.120s", next->name,
		             next->name, text);
	else
		dtx_err_hint(err,
		             "to read several files as one input, quote the pattern: '%.*s*%.40s'",
		             (int)DTX_MIN(base - text, 120), text, dot ? dot : "");
	return DTX_E_USAGE;
}

/* FILE is for the first input, NAME=FILE for any. */
static enum dtx_code inputs_operand(struct dtx_runner *r, const char *text, bool *first,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *eq = strchr(text, '=');
	struct dtx_str name = { text, eq ? (size_t)(eq - text) : 0 };
	struct dtx_plan_input *input = eq ? inputs_find(r->plan, name) : NULL;

	if (input) {
		input->path = eq + 1;
		input->operand = input == r->plan->input;
		return DTX_OK;
	}
	if (eq && !memchr(text, '/', name.len) && !memchr(text, '.', name.len))
		return plan_is_broken(r) ? DTX_OK : inputs_unknown(r, name, text, err);
	if (*first) {
		rc = inputs_second(r, text, err);
		goto out;
	}
	*first = true;
	r->plan->input[0].path = text;
	r->plan->input[0].operand = true;
out:
	return rc;
}

static enum dtx_code inputs_header(const char *text, int *rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!text)
		return DTX_OK;
	if (!strcmp(text, "auto"))
		*rows = -1;
	else if (text[0] >= '0' && text[0] <= '8' && !text[1])
		*rows = text[0] - '0';
	else
		DTX_FAIL(err, DTX_E_USAGE, "option '--header-rows' takes 0 to 8 or auto, got '%s'",
		         text);
out:
	return rc;
}

const char *dtx_runner_tab(const char *text)
{
	return !strcmp(text, "\\t") || !strcmp(text, "tab") ? "\t" : text;
}

static enum dtx_code inputs_options(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	struct dtx_read_opts *o = &r->plan->input[0].opts;

	DTX_TRY(dtx_plan_input_set(r->plan, 0, a->read.item, a->read.n, err));
	o->sheet = a->sheet ? a->sheet : o->sheet;
	o->range = a->range ? a->range : o->range;
	o->delimiter = a->delimiter ? dtx_runner_tab(a->delimiter) : o->delimiter;
	o->quote = a->quote ? strcmp(a->quote, "none") ? a->quote : "" : o->quote;
	o->encoding = a->encoding ? a->encoding : o->encoding;
	o->format = a->from ? a->from : o->format;
	o->skip = a->skip ? a->skip : o->skip;
	o->ragged = a->ragged ? (enum dtx_ragged)(a->ragged - 1) : o->ragged;
	o->rejects = a->rejects ? a->rejects : o->rejects;
	if (a->source_file)
		r->plan->input[0].source_file = a->source_file;
	if (a->columns)
		r->plan->input[0].columns = (enum dtx_files_columns)(a->columns - 1);
out:
	return rc;
}

/* Sets archive.ratio=5000 for all inputs. */
static enum dtx_code inputs_limit(struct dtx_runner *r, const char *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *eq = strchr(text, '=');
	struct dtx_str name = { text, eq ? (size_t)(eq - text) : strlen(text) };
	int64_t value;
	uint32_t i;

	if (!eq || !dtx_opt_size(dtx_str_of(eq + 1), &value))
		DTX_FAIL(err, DTX_E_USAGE, "option '--limit' takes archive.NAME=N, got '%s'", text);
	if (dtx_str_starts(name, DTX_STR(LIMIT_GROUP)))
		name = (struct dtx_str){ name.ptr + strlen(LIMIT_GROUP),
			                 name.len - strlen(LIMIT_GROUP) };
	for (i = 0; i < r->plan->ninputs; i++)
		DTX_TRY(dtx_archive_limits_set(&r->plan->input[i].limits, name, (uint64_t)value,
		                               err));
out:
	return rc;
}

/* Lowers the time limit of inputs to that of the plan. */
static void inputs_time(struct dtx_runner *r)
{
	int64_t most = r->plan->limits.time_s;
	uint32_t i;

	for (i = 0; most > 0 && i < r->plan->ninputs; i++) {
		uint64_t *time = &r->plan->input[i].limits.time;

		*time = DTX_MIN(*time, (uint64_t)most);
	}
}

enum dtx_code dtx_runner_inputs(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool first = false;
	size_t k;
	int i;

	for (i = 0; i < argc; i++)
		DTX_TRY(inputs_operand(r, argv[i], &first, err));
	DTX_TRY(inputs_options(r, err));
	for (k = 0; k < r->args->limit.n; k++)
		DTX_TRY(inputs_limit(r, r->args->limit.item[k], err));
	inputs_time(r);
	DTX_TRY(inputs_header(r->args->header_rows, &r->plan->input[0].opts.header_rows, err));
out:
	return rc;
}

/* Adds where the missing file is named, and which folder a relative path starts from. */
static void inputs_missing(const struct dtx_runner *r, const struct dtx_plan_input *in,
                           struct dtx_err *err)
{
	const json_t *list = json_object_get(r->plan->json, "inputs");
	const json_t *own =
		json_is_array(list) ? json_array_get(list, (size_t)(in - r->plan->input)) : list;
	bool written = r->plan_path && json_object_get(own, "path") != NULL;

	err->run_time = true;
	dtx_err_at(err, err->code == DTX_E_TIME_LIMIT ? "/limits/time_s" : in->at);
	if (err->code == DTX_E_INPUT_NOT_FOUND && !err->hint[0] && !err->did_you_mean[0][0])
		dtx_err_hint(err, "a path %s; no file there has a similar name",
		             written ? "in a plan counts from the plan's folder"
		                     : "counts from the folder where dtx was started");
}

enum dtx_code dtx_runner_open(struct dtx_runner *r, bool all, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	r->source = dtx_mem_zalloc(r->plan->ninputs + 1, sizeof(*r->source));
	if (!r->source)
		DTX_FAIL_MEM(err);
	for (i = 0; i < r->plan->ninputs; i++) {
		const struct dtx_plan_input *in = &r->plan->input[i];

		if (!in->path && !all)
			continue;
		if (!in->path)
			DTX_FAIL(err, DTX_E_USAGE, "input '%s' has no file: give %s%sFILE",
			         in->name, i ? in->name : "", i ? "=" : "");
		rc = in->opts.stream ? dtx_source_stream(in->path, &r->source[i], err)
		                     : dtx_source_open(in->path, &r->source[i], err);
		if (rc != DTX_OK && err) {
			inputs_missing(r, in, err);
			goto out;
		}
		dtx_source_limit(r->source[i], &in->limits);
	}
out:
	return rc;
}

/* Whether all files that the plan names exist; then a check looks at them. */
static bool inputs_there(const struct dtx_runner *r)
{
	struct stat st;
	uint32_t i;

	for (i = 0; r->looks && i < r->plan->ninputs; i++) {
		const char *path = r->plan->input[i].path;

		if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
			return false;
	}
	return r->looks && r->plan->ninputs;
}

enum dtx_code dtx_runner_bind(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_cluster_look look;
	const struct dtx_err *worst;

	DTX_TRY(dtx_runner_plan(r, err));
	DTX_TRY(dtx_runner_inputs(r, argc, argv, err));
	if (r->args->engine) {
		DTX_TRY(dtx_cluster_look(r->args->engine, &look, err));
		opts.spread = &look.spread;
		for (uint32_t i = 0; i < r->plan->ninputs; i++)
			r->plan->input[i].opts.piece_bytes = look.piece;
	}
	worst = dtx_errlist_worst(&r->findings);
	if (!worst || worst->severity != DTX_SEV_ERROR)
		DTX_TRY(dtx_outputs_check(r->plan, err));
	if ((!argc && !inputs_there(r)) || (worst && worst->severity == DTX_SEV_ERROR))
		goto out;
	DTX_TRY(dtx_runner_spread(r, err));
	DTX_TRY(dtx_runner_open(r, false, err));
	opts.looks = r->looks;
	opts.input = r->source;
	opts.workers = (unsigned)r->args->threads;
	DTX_TRY(dtx_exec_bind(r->plan, &opts, &r->findings, &r->result, err));
out:
	return rc;
}

/* Inputs that consist of several files, also in a recorded run. */

/* A sheet that "*" leaves out although it has cells. */
static enum dtx_code sheet_hidden(struct dtx_runner *r, const struct dtx_plan_input *in,
                                  const char *path, const char *sheet, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	dtx_err_set(&w, DTX_W_HIDDEN_CELLS, __FILE__, __LINE__,
	            "'%s': sheet '%s' is hidden, and not among all sheets", path, sheet);
	dtx_err_hint(&w, "an input with the \"sheet\" of that name reads it");
	dtx_err_at(&w, in->at);
	w.severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(&r->notes, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

struct sheets {
	struct dtx_plan_file *file;
	size_t n, cap;
};

/* Adds the visible sheets of a workbook that have cells. */
static enum dtx_code sheets_of(struct dtx_runner *r, const struct dtx_plan_input *in,
                               const struct dtx_plan_file *book, bool alone, struct sheets *out,
                               struct dtx_err *err)
{
	struct dtx_arena *a = &r->plan->arena;
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	json_t *list = NULL, *item;
	size_t i, before = out->n;

	DTX_TRY(dtx_source_open(book->path, &src, err));
	dtx_source_limit(src, &in->limits);
	DTX_TRY(dtx_book_sheets(src, &list, err));
	json_array_foreach(list, i, item)
	{
		const char *name = dtx_arena_strdup(a, dtx_json_text(item, "name", ""));

		if (!name ||
		    !dtx_arena_reserve(a, &out->file, &out->cap, out->n + 1, sizeof(*out->file)))
			DTX_FAIL_MEM(err);
		if (!dtx_json_int(item, "cells", 0) && !json_object_get(item, "error"))
			continue;
		if (strcmp(dtx_json_text(item, "visible", ""), "visible") != 0) {
			DTX_TRY(sheet_hidden(r, in, book->shown, name, err));
			continue;
		}
		out->file[out->n] = (struct dtx_plan_file){
			.path = book->path,
			.sheet = name,
			.shown = alone ? name : dtx_arena_printf(a, "%s!%s", book->shown, name)
		};
		if (!out->file[out->n++].shown)
			DTX_FAIL_MEM(err);
	}
	if (out->n == before)
		DTX_FAIL(err, DTX_E_SHEET_NOT_FOUND, "'%s' has no visible sheet with cells",
		         book->shown);
out:
	if (rc != DTX_OK)
		dtx_err_at(err, in->at);
	json_decref(list);
	dtx_source_free(src);
	return rc;
}

/* Of an input of all sheets, makes a file of each sheet. Those of a recorded run are known. */
static enum dtx_code spread_sheets(struct dtx_runner *r, const struct dtx_plan_input *in,
                                   struct dtx_plan_file **file, size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sheets all = { NULL, 0, 0 };

	if (!in->opts.sheet || strcmp(in->opts.sheet, "*") != 0 || !*n || (*file)->sheet)
		return DTX_OK;
	if (!strcmp((*file)->path, "-"))
		DTX_FAIL(err, DTX_E_USAGE, "all sheets are read of a file, not of stdin");
	for (size_t k = 0; k < *n; k++)
		DTX_TRY(sheets_of(r, in, &(*file)[k], *n == 1, &all, err));
	if (all.n > DTX_EXPAND_FILES)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "an input is at most %d sheets, not %zu",
		         DTX_EXPAND_FILES, all.n);
	*file = all.file;
	*n = all.n;
out:
	return rc;
}

enum dtx_code dtx_runner_spread(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_file *file;
	size_t n;

	/* From the last one, so that the indices of those before it stay valid. */
	for (uint32_t i = r->plan->ninputs; i-- > 0;) {
		if (!r->plan->input[i].path)
			continue;
		DTX_TRY(dtx_expand_files(r->plan, i, &file, &n, err));
		/* a pattern that matches an output would read it in the next run */
		DTX_TRY(runner_places_files(file, n, err));
		DTX_TRY(spread_sheets(r, &r->plan->input[i], &file, &n, err));
		DTX_TRY(dtx_expand_input(r->plan, i, file, n, &r->findings, err));
	}
out:
	return rc;
}

/* The k-th file of an input in the record; NULL if there is no such file.  `at` is where the search
 * begins: files of one input follow one another, so that each is found at the first look. */
static const json_t *recorded_file(const struct dtx_runner *r, const char *input, size_t k,
                                   size_t *at)
{
	const json_t *rows = json_object_get(r->replay->record, "inputs"), *row;
	size_t n = json_array_size(rows);
	char name[256];

	dtx_expand_name(name, sizeof(name), input, k);
	for (size_t i = 0; i < n; i++) {
		row = json_array_get(rows, (*at + i) % n);
		if (!strcmp(dtx_json_text(row, "alias", ""), name)) {
			*at += i + 1;
			return row;
		}
	}
	return NULL;
}

enum dtx_code dtx_runner_replay_files(struct dtx_runner *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_input *in = &r->plan->input[i];
	size_t n = 0, at = 0;

	while (recorded_file(r, in->name, n, &at))
		n++;
	if (!n)
		goto out;
	in->file = dtx_arena_zalloc(&r->plan->arena, n, sizeof(*in->file));
	if (!in->file)
		DTX_FAIL_MEM(err);
	at = 0;
	for (size_t k = 0; k < n; k++) {
		const json_t *row = recorded_file(r, in->name, k, &at);

		in->file[k].path = dtx_json_text(row, "uri", "-");
		in->file[k].shown = dtx_json_text(json_object_get(row, "reader"), "source_file",
		                                  in->file[k].path);
		if (in->opts.sheet && !strcmp(in->opts.sheet, "*"))
			in->file[k].sheet =
				dtx_json_text(json_object_get(row, "reader"), "sheet", NULL);
	}
	in->nfiles = n;
	in->path = in->file[0].path;
out:
	return rc;
}

/* Reserves the files of a run, so that it does not write over what it reads. */

static enum dtx_code places_read(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	const struct {
		const char *path, *what;
	} file[] = {
		{ r->replay ? NULL : r->plan_path, "the plan of this run" },
		{ a->snippet, "the snippet of this run" },
		{ a->author_key_file, "the file with the author's key" },
	};

	for (size_t i = 0; i < DTX_COUNT(file); i++)
		if (file[i].path)
			DTX_TRY(dtx_reserve(file[i].path, file[i].what, err));
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (r->plan->input[i].path)
			DTX_TRY(dtx_reserve(r->plan->input[i].path, "an input of this run", err));
out:
	return rc;
}

static enum dtx_code runner_places_files(const struct dtx_plan_file *file, size_t n,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < n; i++)
		DTX_TRY(dtx_reserve(file[i].path, "an input of this run", err));
out:
	return rc;
}

/* A file name that a shell made from a pattern is more likely an input than an output. */
static enum dtx_code places_positional(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!r->args->positional || r->args->force)
		return DTX_OK;
	DTX_TRY(dtx_outfile_absent(
		r->args->output,
		"--force replaces it, -o FILE writes to another file; several files that are one "
		"input are given as a pattern in quotes: dtx convert '*.csv' -o FILE",
		err));
out:
	return rc;
}

static enum dtx_code places_outputs(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->plan->noutputs; i++) {
		const char *path = r->plan->output[i].path;

		if (dtx_outputs_file(r->plan, i) != i)
			continue;
		rc = dtx_outfile_claim(path ? path : "-", "the output", "an output of this run",
		                       err);
		if (rc != DTX_OK)
			dtx_err_at(err, r->plan->output[i].at);
		DTX_TRY(rc);
	}
	DTX_TRY(dtx_outputs_check(r->plan, err));
out:
	/* what the plan does not name has no place in the plan */
	if (rc != DTX_OK && err && (r->args->output || !json_object_get(r->plan->json, "output")))
		err->at[0] = '\0';
	/* the mistake is in an argument, not in a file */
	if (rc == DTX_E_UNSUPPORTED_FORMAT && (r->args->output || r->args->to)) {
		rc = DTX_E_USAGE;
		if (err)
			err->code = rc;
	}
	return rc;
}

enum dtx_code dtx_runner_places(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);
	const char *rejects = NULL;

	/* an invalid plan does not run, so its own errors are reported */
	if (worst && worst->severity == DTX_SEV_ERROR)
		return DTX_OK;
	DTX_TRY(places_read(r, err));
	DTX_TRY(places_outputs(r, err));
	DTX_TRY(places_positional(r, err));
	DTX_TRY(dtx_runner_rejects_path(r, &rejects, err));
	if (rejects)
		DTX_TRY(dtx_outfile_claim(rejects, "the rejects", "the rejects of this run", err));
	DTX_TRY(dtx_runner_receipt_claim(r, err));
out:
	return rc;
}
