/* stats: lists which fallbacks recur, what they cost, and which of them deserve a typed op. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "core/base/log.h"
#include "core/data/time/time.h"
#include "core/store/query/recur.h"

#define STATS_DAYS 90

struct stats_args {
	const char *since, *op;
	bool json;
};

#define AT(member) .offset = offsetof(struct stats_args, member)
static const struct dtx_opt stats_opts[] = {
	{ .name = "since",
	  .kind = DTX_O_TEXT,
	  .metavar = "Nd",
	  AT(since),
	  .help = "days to look back (90d)" },
	{ .name = "op",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  AT(op),
	  .help = "the brief for building this operation" },
	{ .name = "json", .kind = DTX_O_FLAG, AT(json), .help = "as JSON" },
};

static enum dtx_code stats_since(const char *text, int64_t *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	long long days = STATS_DAYS;
	char *end;

	if (text) {
		days = strtoll(text, &end, 10);
		if (end == text || strcmp(end, "d") || days < 1 || days > 36500)
			DTX_FAIL(err, DTX_E_USAGE, "--since '%s': expected days, such as 90d",
			         text);
	}
	*out = dtx_wall_us() - days * 86400 * 1000000;
out:
	return rc;
}

static const char *stats_op(const json_t *g)
{
	return dtx_json_text(g, "op", "(input)");
}

static void stats_names(const json_t *g, struct dtx_buf *out)
{
	const char *name;
	json_t *type;
	size_t n = 0;

	json_object_foreach(json_object_get(g, "params"), name, type)
	{
		dtx_buf_add(out, n++ ? " " : "");
		dtx_out_safe(out, name, false);
	}
}

static void stats_day(int64_t us, char out[40])
{
	dtx_day_print(out, (int32_t)(us / DTX_DAY_US));
}

static void stats_row(const json_t *g, struct dtx_buf *out)
{
	char day[40];

	stats_day(dtx_json_int(g, "last_us", 0), day);
	dtx_out_safe(out, stats_op(g), false);
	dtx_buf_printf(out, "  %s  (", dtx_json_text(g, "code", ""));
	stats_names(g, out);
	dtx_buf_printf(
		out,
		")%s\n  runs %lld, plans %lld, schemas %lld, snippets %lld, failed %lld; "
		"jail %.1f s; %lld calls, %lld tokens%s%s; last %s\n",
		json_is_true(json_object_get(g, "wanted")) ? "  typed op wanted" : "",
		(long long)dtx_json_int(g, "runs", 0), (long long)dtx_json_int(g, "plans", 0),
		(long long)dtx_json_int(g, "fingerprints", 0),
		(long long)dtx_json_int(g, "snippets", 0), (long long)dtx_json_int(g, "failed", 0),
		(double)dtx_json_int(g, "jail_ms", 0) / 1000,
		(long long)dtx_json_int(g, "calls", 0), (long long)dtx_json_int(g, "tokens", 0),
		json_object_get(g, "cost") ? ", cost " : "", dtx_json_text(g, "cost", ""), day);
}

/* Prints what a developer of the operation needs; no value of a plan or a cell. */
static void stats_brief(const json_t *g, struct dtx_buf *out)
{
	const char *name;
	json_t *type, *item;
	size_t i;

	stats_row(g, out);
	json_object_foreach(json_object_get(g, "params"), name, type)
	{
		dtx_buf_add(out, "  parameter ");
		dtx_out_safe(out, name, false);
		dtx_buf_printf(out, ": %s\n", json_string_value(type));
	}
	json_array_foreach(json_object_get(g, "read"), i, item)
	{
		dtx_buf_add(out, "  reads ");
		dtx_json_canonical(item, out);
		dtx_buf_addc(out, '\n');
	}
	json_array_foreach(json_object_get(g, "code_hashes"), i, item)
		dtx_buf_printf(out, "  code %s\n", json_string_value(item));
}

static int stats_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct stats_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	json_t *groups = NULL, *g;
	enum dtx_code rc = DTX_OK;
	int64_t since = 0;
	int status;
	size_t i;

	(void)argc, (void)argv;
	DTX_TRY(stats_since(a->since, &since, &err));
	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &store, &err));
	DTX_TRY(dtx_recur_groups(store, since, a->op, &groups, &err));
	if (a->op && !json_array_size(groups))
		DTX_FAIL(&err, DTX_E_NO_RECORD, "no run needed a snippet for '%s'", a->op);
	json_array_foreach(groups, i, g)
	{
		if (a->op)
			stats_brief(g, &out);
		else
			stats_row(g, &out);
	}
	if (!json_array_size(groups))
		dtx_buf_add(&out, "every run was typed\n");
out:
	if (rc != DTX_OK)
		status = dtx_out_fail(cli, &err);
	else
		status = a->json ? dtx_out_json(cli, groups, 1) : dtx_out_print(cli, &out);
	json_decref(groups);
	dtx_store_free(store);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_stats = {
	.name = "stats",
	.usage = "[--since 90d] [--op NAME]",
	.summary = "Which steps needed snippets, how often, and what they cost",
	.notes =
		"Three plans, or twenty runs, that miss the same operation earn it the mark `typed "
		"op\n"
		"wanted`; --op NAME prints what is known for building it: parameters and their "
		"types,\n"
		"columns read, hashes of the code; never a value.",
	.exits = "0 done; 2 usage; 4 no such operation, or no store; 9 store",
	.opts = stats_opts,
	.nopts = DTX_COUNT(stats_opts),
	.args_size = sizeof(struct stats_args),
	.min_args = 0,
	.max_args = 0,
	.run = stats_run,
};
