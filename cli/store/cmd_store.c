/* store: manages the file that holds the ledger: where it is, whether it is intact, and what may
 * be deleted from it. */
#include <stdio.h>
#include <string.h>

#include "cli/relative_time.h"
#include "cli/store/lookup.h"
#include "cli/out.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/store/db.h"
#include "core/store/cache/gc.h"
#include "core/store/query/query.h"
#include "core/store/ledger/rebuild.h"
#include "core/store/ledger/record.h"
#include "core/store/query/screen.h"
#include "core/store/readonly_db.h"
#include "core/store/ledger/verify.h"

enum { STORE_RUNS = 10 }; /* names so many runs in one line */

struct store_args {
	const char *older, *kinds, *keep_last;
	int64_t max_bytes;
	bool apply, dry, json, prompts, snapshots;
};

static const struct dtx_opt store_opts[] = {
	{ .name = "older-than",
	  .kind = DTX_O_TEXT,
	  .metavar = "TIME",
	  .offset = offsetof(struct store_args, older),
	  .help = "gc: only what no run has named for so long: 180d, 12h (default: 180d)" },
	{ .name = "keep-last",
	  .kind = DTX_O_TEXT,
	  .metavar = "N",
	  .offset = offsetof(struct store_args, keep_last),
	  .help = "gc: the last N runs keep everything (default: 20)" },
	{ .name = "max",
	  .kind = DTX_O_SIZE,
	  .offset = offsetof(struct store_args, max_bytes),
	  .help = "gc: stop once the bodies take so little room" },
	{ .name = "kinds",
	  .kind = DTX_O_TEXT,
	  .metavar = "LIST",
	  .offset = offsetof(struct store_args, kinds),
	  .help = "gc, forget: only these: input,lineage,answer,prompt,code,env" },
	{ .name = "prompts",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct store_args, prompts),
	  .help = "forget: --kinds prompt,answer" },
	{ .name = "snapshots",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct store_args, snapshots),
	  .help = "forget: --kinds input" },
	{ .name = "apply",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct store_args, apply),
	  .help = "gc: do it (default: say what would go)" },
	{ .name = "dry-run",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct store_args, dry),
	  .help = "gc, forget: say what would go, and which other runs refer to it" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct store_args, json),
	  .help = "as JSON" },
};

struct store_call {
	const struct dtx_cli *cli;
	const struct store_args *args;
	struct dtx_store *store;
	const char *operand; /* the operand after the verb; NULL: none */
	/* log: what was wrong with the store's log before the store was opened */
	struct dtx_buf out, log;
	bool findings;
};

/* --- path --- */

static enum dtx_code store_path(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *path = NULL;

	DTX_TRY(dtx_store_resolve(c->cli->store, &path, err));
	dtx_out_safe(&c->out, path, false);
	dtx_buf_addc(&c->out, '\n');
out:
	dtx_mem_free(path);
	return rc;
}

/* --- check --- */

/* Lists what a killed process left next to the store. */
static enum dtx_code store_say_left(struct store_call *c, bool remove, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = NULL, *one;
	size_t i;

	DTX_TRY(dtx_store_left_over(c->store, remove, &list, err));
	json_array_foreach(list, i, one)
	{
		dtx_buf_printf(&c->out, "%-12s", remove ? "removed" : "left over");
		dtx_out_safe(&c->out, dtx_json_text(one, "path", ""), false);
		dtx_buf_printf(&c->out, "  %lld bytes, of a killed first run or archive%s\n",
		               (long long)dtx_json_int(one, "bytes", 0),
		               remove ? "" : ": dtx store gc --apply removes it");
	}
out:
	json_decref(list);
	return rc;
}

static enum dtx_code store_check(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_verify_opts opts = { .since = 0 };
	json_t *findings = NULL;
	char head[DTX_HEAD_LINE];

	opts.log = c->log.len ? dtx_buf_text(&c->log) : NULL;
	DTX_TRY(dtx_verify(c->store, &opts, &findings, err));
	c->findings = json_array_size(findings) > 0;
	if (c->args->json) {
		dtx_json_print(findings, 1, &c->out);
		dtx_buf_add(&c->out, "\n");
	} else if (c->findings) {
		dtx_out_findings(findings, &c->out);
	} else {
		DTX_TRY(dtx_query_head(c->store, head, err));
		dtx_buf_printf(&c->out, "ok          pages, chain, bodies and tables: %s\n", head);
		if (dtx_readonly_db_bare(dtx_store_path(c->store)))
			dtx_buf_printf(&c->out, "not checked whether this is a copy without its "
			                        "log: FILE-wal is empty, as after gc, "
			                        "or is not there\n");
		DTX_TRY(store_say_left(c, false, err));
	}
out:
	json_decref(findings);
	return rc;
}

/* --- rebuild --- */

static enum dtx_code store_rebuild(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_verify_opts opts = { .skip_index = true };
	json_t *findings = NULL, *first;

	DTX_TRY(dtx_verify(c->store, &opts, &findings, err));
	if (json_array_size(findings)) {
		dtx_out_findings(findings, &c->out);
		c->findings = true;
		goto out; /* tables made from a damaged ledger would be wrong */
	}
	DTX_TRY(dtx_rebuild_definitions(c->store, findings, err));
	DTX_TRY(dtx_rebuild_compare(c->store, findings, err));
	first = json_array_get(findings, 0);
	DTX_TRY(dtx_rebuild(c->store, err));
	dtx_buf_printf(&c->out, "ok          the tables are made again from the ledger; %s%s\n",
	               first ? "before, they differed from it, first: " : "they were as they are",
	               dtx_json_text(first, "table", dtx_json_text(first, "name", "")));
out:
	json_decref(findings);
	return rc;
}

/* --- gc --- */

/* Lists other runs that lose what they share with a forgotten run. */
static void store_print_others(const json_t *runs, bool applied, struct dtx_buf *out)
{
	size_t n = json_array_size(runs);

	if (!n)
		return;
	dtx_buf_printf(out, "%-12s%zu other %s%s the same bodies:", "", n, n == 1 ? "run" : "runs",
	               applied  ? " had"
	               : n == 1 ? " has"
	                        : " have");
	for (size_t i = 0; i < n && i < STORE_RUNS; i++)
		dtx_buf_printf(out, "%s %s", i ? "," : "",
		               dtx_run_id_short(json_string_value(json_array_get(runs, i))));
	dtx_buf_printf(out, "%s; replay and why of %s %s need the files\n",
	               n > STORE_RUNS ? ", ..." : "", n == 1 ? "it" : "them",
	               applied ? "now" : "would");
}

/* Prints "1 body, 174 bytes". */
static void store_print_bodies(const json_t *of, struct dtx_buf *out)
{
	dtx_screen_count(out, dtx_json_int(of, "blobs", 0), "body", "bodies");
	dtx_buf_printf(out, ", %lld bytes", (long long)dtx_json_int(of, "bytes", 0));
}

/* `with` is the option that ends the hint "the same with", for a dry run. */
static enum dtx_code store_purge(struct store_call *c, const struct dtx_gc_opts *opts,
                                 const char *with, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *report = NULL, *kind;
	size_t i;

	DTX_TRY(dtx_gc(c->store, opts, &report, err));
	if (c->args->json) {
		dtx_json_print(report, 1, &c->out);
		dtx_buf_add(&c->out, "\n");
		goto out;
	}
	dtx_buf_printf(&c->out, "%-12s", opts->apply ? "purged" : "would purge");
	store_print_bodies(report, &c->out);
	dtx_buf_printf(&c->out, "; %lld bytes stay\n",
	               (long long)dtx_json_int(report, "kept_bytes", 0));
	json_array_foreach(json_object_get(report, "kinds"), i, kind)
	{
		dtx_buf_printf(&c->out, "%-12s%-8s", "", dtx_json_text(kind, "kind", ""));
		store_print_bodies(kind, &c->out);
		dtx_buf_addc(&c->out, '\n');
	}
	store_print_others(json_object_get(report, "runs"), opts->apply, &c->out);
	dtx_buf_printf(&c->out, "%-12sthe ledger keeps their hashes: dtx verify still proves it\n",
	               "");
	if (!opts->apply && dtx_json_int(report, "blobs", 0))
		dtx_buf_printf(&c->out, "%-12sto do it: the same with%s\n", "", with);
out:
	json_decref(report);
	return rc;
}

static enum dtx_code store_gc(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct store_args *a = c->args;
	const char *keep = a->keep_last ? a->keep_last : "20";
	json_t *left = NULL;
	struct dtx_gc_opts opts = { .max_bytes = a->max_bytes,
		                    .kinds = a->kinds,
		                    .apply = a->apply && !a->dry };

	DTX_TRY(dtx_relative_time_parse(a->older ? a->older : "180d", "older-than", &opts.older_us,
	                                err));
	if (!dtx_num_parse_i64(keep, strlen(keep), &opts.keep_last) || opts.keep_last < 0)
		DTX_FAIL(err, DTX_E_USAGE, "option '--keep-last' takes a number of runs, got '%s'",
		         keep);
	DTX_TRY(store_purge(c, &opts, a->apply ? "out --dry-run" : " --apply", err));
	if (!a->json)
		DTX_TRY(store_say_left(c, opts.apply, err));
	else if (opts.apply)
		DTX_TRY(dtx_store_left_over(c->store, true, &left, err));
out:
	json_decref(left);
	return rc;
}

/* --- forget, archive --- */

/* NULL: no kinds are named. */
static const char *forget_kinds(const struct store_args *a)
{
	if (a->prompts)
		return a->snapshots ? "input,prompt,answer" : "prompt,answer";
	return a->snapshots ? "input" : a->kinds;
}

/* Deletes at once, unlike gc, because the user named the run. */
static enum dtx_code store_forget(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *kinds = forget_kinds(c->args);
	struct dtx_gc_opts opts = { .kinds = kinds ? kinds : "input,lineage,answer,prompt,code",
		                    .apply = !c->args->dry };
	json_t *record = NULL;

	if (c->args->kinds && kinds != c->args->kinds)
		DTX_FAIL(err, DTX_E_USAGE,
		         "--prompts and --snapshots are kinds: --kinds is one too many");
	if (!c->operand && !kinds)
		DTX_FAIL(err, DTX_E_USAGE,
		         "forget what? name a run or its result, or --prompts, --snapshots or "
		         "--kinds for all runs");
	if (c->operand) {
		DTX_TRY(dtx_lookup(c->store, c->operand, false, &record, err));
		opts.run = dtx_json_text(json_object_get(record, "run"), "run_id", "");
	}
	DTX_TRY(store_purge(c, &opts, "out --dry-run", err));
out:
	json_decref(record);
	return rc;
}

static enum dtx_code store_archive(struct store_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char head[DTX_HEAD_LINE];

	if (!c->operand)
		DTX_FAIL(err, DTX_E_USAGE, "archive where? name a file that is not there yet");
	if (dtx_store_is_memory(c->store))
		DTX_FAIL(err, DTX_E_USAGE, "a store in memory has no file to archive");
	DTX_TRY(dtx_store_archive(c->store, c->operand, head, err));
	dtx_buf_add(&c->out, "archived    ");
	dtx_out_safe(&c->out, c->operand, false);
	dtx_buf_printf(&c->out, "  %s\n%-12sthe new store begins with this head\n", head, "");
out:
	return rc;
}

/* --- the command --- */

static const struct {
	const char *verb;
	enum { STORE_NONE, STORE_CHECKS, STORE_REPAIRS, STORE_WRITES, STORE_GC } mode;
	enum dtx_code (*run)(struct store_call *c, struct dtx_err *err);
	bool operand; /* whether the verb may have an operand */
} store_verbs[] = {
	{ "path", STORE_NONE, store_path, false },
	{ "check", STORE_CHECKS, store_check, false },
	{ "rebuild", STORE_REPAIRS, store_rebuild, false },
	{ "gc", STORE_GC, store_gc, false },
	{ "forget", STORE_WRITES, store_forget, true },
	{ "archive", STORE_WRITES, store_archive, true },
};

/* Refuses options that a verb does not use: the user may rely on such an option to keep
 * something from being deleted. */
static enum dtx_code store_options(const struct store_args *a, const char *verb,
                                   struct dtx_err *err)
{
	const struct {
		bool given;
		const char *name, *verbs;
	} options[] = {
		{ a->older != NULL, "older-than", "gc" },
		{ a->keep_last != NULL, "keep-last", "gc" },
		{ a->max_bytes != 0, "max", "gc" },
		{ a->apply, "apply", "gc" },
		{ a->kinds != NULL, "kinds", "gc,forget" },
		{ a->dry, "dry-run", "gc,forget" },
		{ a->prompts, "prompts", "forget" },
		{ a->snapshots, "snapshots", "forget" },
	};
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < DTX_COUNT(options); i++) {
		if (options[i].given && !dtx_str_in_list(options[i].verbs, verb))
			DTX_FAIL(err, DTX_E_USAGE, "option '--%s' goes with %s: not with '%s'",
			         options[i].name, options[i].verbs, verb);
	}
out:
	return rc;
}

static enum dtx_code store_verb(struct store_call *c, const char *verb, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *names[DTX_COUNT(store_verbs)];
	char *path = NULL;
	size_t i;

	for (i = 0; i < DTX_COUNT(store_verbs) && strcmp(store_verbs[i].verb, verb) != 0; i++)
		names[i] = store_verbs[i].verb;
	if (i == DTX_COUNT(store_verbs)) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "no verb '%s'", verb);
		dtx_err_suggest(err, verb, names, i);
		goto out;
	}
	DTX_TRY(store_options(c->args, verb, err));
	if (c->operand && !store_verbs[i].operand)
		DTX_FAIL(err, DTX_E_USAGE, "'%s' takes no operand, got '%s'", verb, c->operand);
	if (store_verbs[i].mode != STORE_NONE) {
		bool repairs = store_verbs[i].mode == STORE_REPAIRS;
		bool suspect = repairs || store_verbs[i].mode == STORE_CHECKS;
		bool writes = repairs || store_verbs[i].mode == STORE_WRITES ||
		              (store_verbs[i].mode == STORE_GC && c->args->apply);

		DTX_TRY(dtx_store_resolve(c->cli->store, &path, err));
		dtx_readonly_db_log(path, &c->log);
		/* nothing is created here: a store that does not exist has nothing to check */
		DTX_TRY(dtx_store_open(c->cli->store, suspect ? DTX_STORE_CHECK : DTX_STORE_READ,
		                       &c->store, err));
		if (writes) {
			dtx_store_free(c->store);
			c->store = NULL;
			DTX_TRY(dtx_store_open(c->cli->store,
			                       repairs ? DTX_STORE_REPAIR : DTX_STORE_WRITE,
			                       &c->store, err));
		}
	}
	DTX_TRY(store_verbs[i].run(c, err));
out:
	dtx_mem_free(path);
	return rc;
}

static int store_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct store_call c = { .cli = cli,
		                .args = args,
		                .out = DTX_BUF_INIT((size_t)1 << 30),
		                .log = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	c.operand = argc > 1 ? argv[1] : NULL;
	rc = store_verb(&c, argv[0], &err);
	status = rc == DTX_OK ? dtx_out_print(cli, &c.out) : dtx_out_fail(cli, &err);
	if (rc == DTX_OK && !status && c.findings)
		status = 1;
	dtx_store_free(c.store);
	dtx_buf_clear(&c.out);
	dtx_buf_clear(&c.log);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_store = {
	.name = "store",
	.usage = "path | check | rebuild | gc | forget [RUN | FILE] | archive FILE",
	.summary = "Look after the store: where it is, whether it is whole, what may leave it",
	.notes = "`check` reads all pages, the chain, the bodies it names and the tables made from "
		 "it;\n"
		 "`rebuild` makes those tables again from the ledger, which is the truth.  `gc` "
		 "purges bodies\n"
		 "that no run needs any more: kept inputs, answers and prompts of models, code of "
		 "no live\n"
		 "snippet, descriptions of machines; by default it only lists them.  Runs, hashes, "
		 "counts,\n"
		 "approvals, plans and live code are kept for good, so purged content can still be "
		 "verified by\n"
		 "its hash.  `forget` purges at once what a run refers to, even if other runs do, "
		 "too, which it\n"
		 "lists (with --dry-run before): kept inputs, row numbers, prompts, answers, dead "
		 "code.  With\n"
		 "--prompts, --snapshots or --kinds and no RUN, it purges only those, of all runs. "
		 " `archive` moves\n"
		 "the whole store to another file and begins an empty one that names the head of "
		 "the old one;\n"
		 "snippets stay in the archive: `dtx snippet export --store FILE` brings them "
		 "back.  `check` lists\n"
		 "files that a killed archive or first run left next to the store, and `gc "
		 "--apply` removes them.\n"
		 "`dtx provenance VERB` is the same, except for verbs that it has itself.\n"
		 "\n"
		 "  dtx store check\n"
		 "  dtx store gc --older-than 30d --keep-last 100\n"
		 "  dtx store gc --kinds prompt,answer --older-than 0d --keep-last 0 \\\n"
		 "      --apply\n"
		 "  dtx store forget 70ecc9a9\n"
		 "  dtx store archive /archive/dtx-2026.db",
	.exits = "0 done; 1 findings; 4 there is no store; 9 it cannot be read or written",
	.opts = store_opts,
	.nopts = DTX_COUNT(store_opts),
	.args_size = sizeof(struct store_args),
	.min_args = 1,
	.max_args = 2,
	.run = store_main,
};
