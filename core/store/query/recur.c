/* Finds fallbacks that recur, by one walk over the ledger: see recur.h. */
#include "core/store/query/recur.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory/buf.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/ledger.h"

struct recur {
	int64_t since_us;
	const char *op;
	json_t *groups; /* from key to group */
	json_t *runs;   /* open runs: {"plan", "0": key of region 0 ...} */
	json_t *cells;  /* from snippet to {"code","needs"} */
	bool failed;
};

/* --- helpers; the state remembers a failure --- */

static void recur_set(struct recur *s, json_t *object, const char *key, json_t *value)
{
	if (!dtx_json_set(object, key, value))
		s->failed = true;
}

static void recur_add(struct recur *s, json_t *group, const char *key, int64_t n)
{
	recur_set(s, group, key, json_integer(dtx_json_int(group, key, 0) + n));
}

/* Adds a member to one of the sets of the group. */
static void recur_note(struct recur *s, json_t *group, const char *set, const char *member)
{
	if (member && member[0])
		recur_set(s, json_object_get(group, set), member, json_true());
}

static json_t *recur_new(struct recur *s, const json_t *body)
{
	static const char *const sets[] = { "runs", "plans", "fingerprints", "snippets" };
	const json_t *params = json_object_get(body, "params");
	json_t *group = json_pack("{ss? ss so}", "op", dtx_json_text(body, "op", NULL), "code",
	                          dtx_json_text(body, "code", ""), "params",
	                          params ? json_deep_copy(params) : json_object());
	size_t i;

	for (i = 0; i < DTX_COUNT(sets); i++)
		recur_set(s, group, sets[i], json_object());
	return group;
}

/* Only names count, so a parameter that is a list in one plan and a text in another is the same
 * parameter. */
static void recur_key(const json_t *body, struct dtx_buf *out)
{
	json_t *names = json_object(), *value;
	const char *name;

	json_object_foreach(json_object_get(body, "params"), name, value)(void)
		json_object_set_new(names, name, json_true());
	dtx_buf_printf(out, "%s\t%s\t", dtx_json_text(body, "op", ""),
	               dtx_json_text(body, "code", ""));
	dtx_json_canonical(names, out);
	json_decref(names);
}

/* --- events --- */

static json_t *recur_of(const struct recur *s, const struct dtx_event *e)
{
	const json_t *run = json_object_get(s->runs, e->run_id);
	char idx[24];

	snprintf(idx, sizeof(idx), "%lld", (long long)dtx_json_int(e->body, "idx", -1));
	return json_object_get(s->groups, dtx_json_text(run, idx, ""));
}

static void recur_trigger(struct recur *s, const struct dtx_event *e)
{
	struct dtx_buf key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *run = json_object_get(s->runs, e->run_id), *group;
	const char *op = dtx_json_text(e->body, "op", "");
	char idx[24];

	if (!run)
		return;
	snprintf(idx, sizeof(idx), "%lld", (long long)dtx_json_int(e->body, "idx", 0));
	if (e->ts_us < s->since_us || (s->op && strcmp(s->op, op))) {
		recur_set(s, run, idx, json_string("")); /* its candidates belong to no group */
		return;
	}
	recur_key(e->body, &key);
	group = json_object_get(s->groups, dtx_buf_text(&key));
	if (!group) {
		recur_set(s, s->groups, dtx_buf_text(&key), recur_new(s, e->body));
		group = json_object_get(s->groups, dtx_buf_text(&key));
	}
	recur_set(s, run, idx, json_string(dtx_buf_text(&key)));
	recur_note(s, group, "runs", e->run_id);
	recur_note(s, group, "plans", dtx_json_text(run, "plan", NULL));
	recur_set(s, group, "last_us", json_integer(e->ts_us));
	dtx_buf_clear(&key);
}

static void recur_start(struct recur *s, const struct dtx_event *e)
{
	recur_set(s, s->runs, e->run_id,
	          json_pack("{ss}", "plan", dtx_json_text(e->body, "plan_hash", "")));
}

static void recur_end(struct recur *s, const struct dtx_event *e)
{
	(void)json_object_del(s->runs, e->run_id);
}

static void recur_cache(struct recur *s, const struct dtx_event *e)
{
	json_t *group = recur_of(s, e);

	if (!group)
		return;
	recur_note(s, group, "fingerprints", dtx_json_text(e->body, "fingerprint", NULL));
	recur_note(s, group, "snippets", dtx_json_text(e->body, "cell_id", NULL));
}

static void recur_jail(struct recur *s, const struct dtx_event *e)
{
	const json_t *us = json_object_get(json_object_get(e->body, "report"), "timings_us");
	json_t *group = recur_of(s, e);

	if (group)
		recur_add(s, group, "jail_us", dtx_json_int(us, "wall", 0));
}

static void recur_author(struct recur *s, const struct dtx_event *e)
{
	const char *cost = dtx_json_text(e->body, "cost", NULL);
	json_t *group = recur_of(s, e);

	if (!group)
		return;
	recur_add(s, group, "calls", 1);
	recur_add(s, group, "tokens",
	          dtx_json_int(e->body, "in_tokens", 0) + dtx_json_int(e->body, "out_tokens", 0));
	if (cost)
		recur_add(s, group, "cost_micro", (int64_t)(strtod(cost, NULL) * 1e6 + 0.5));
}

static void recur_attempt(struct recur *s, const struct dtx_event *e)
{
	json_t *group = recur_of(s, e);

	if (group)
		recur_add(s, group, "failed", 1);
}

/* A candidate belongs to the region whose trigger came last in its run. */
static void recur_candidate(struct recur *s, const struct dtx_event *e)
{
	const char *id = dtx_json_text(e->body, "cell_id", "");
	json_t *run = json_object_get(s->runs, e->run_id), *key;
	const char *name, *last = NULL;

	recur_set(s, s->cells, id,
	          json_pack("{ss ss?}", "code", dtx_json_text(e->body, "code_hash", ""), "needs",
	                    dtx_json_text(e->body, "needs", NULL)));
	json_object_foreach(run, name, key)
	{
		if (strcmp(name, "plan"))
			last = json_string_value(key);
	}
	if (last && last[0])
		recur_note(s, json_object_get(s->groups, last), "snippets", id);
}

static enum dtx_code recur_event(void *arg, const struct dtx_event *e, struct dtx_err *err)
{
	static const struct {
		const char *kind;
		void (*take)(struct recur *s, const struct dtx_event *e);
	} kinds[] = {
		{ "run.start", recur_start },     { "run.end", recur_end },
		{ "run.trigger", recur_trigger }, { "run.cache", recur_cache },
		{ "jail.end", recur_jail },       { "author.got", recur_author },
		{ "attempt.end", recur_attempt }, { "snippet.candidate", recur_candidate },
	};
	enum dtx_code rc = DTX_OK;
	struct recur *s = arg;
	size_t i;

	for (i = 0; i < DTX_COUNT(kinds); i++) {
		if (!strcmp(kinds[i].kind, e->kind))
			kinds[i].take(s, e);
	}
	if (s->failed)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the result --- */

/* The columns that the snippets of the group read, and their codes. */
static void recur_code(struct recur *s, json_t *group)
{
	json_t *read = json_array(), *codes = json_array(), *flag;
	const char *id;

	json_object_foreach(json_object_get(group, "snippets"), id, flag)
	{
		const json_t *cell = json_object_get(s->cells, id);
		const char *needs = dtx_json_text(cell, "needs", NULL);

		if (cell)
			(void)json_array_append(codes, json_object_get(cell, "code"));
		if (needs)
			(void)json_array_append_new(read, json_loads(needs, 0, NULL));
	}
	recur_set(s, group, "read", read);
	recur_set(s, group, "code_hashes", codes);
}

static void recur_finish(struct recur *s, json_t *group)
{
	static const char *const sets[] = { "runs", "plans", "fingerprints", "snippets" };
	int64_t runs, plans;
	size_t i;

	recur_code(s, group);
	for (i = 0; i < DTX_COUNT(sets); i++)
		recur_set(s, group, sets[i],
		          json_integer(
				  (json_int_t)json_object_size(json_object_get(group, sets[i]))));
	runs = dtx_json_int(group, "runs", 0);
	plans = dtx_json_int(group, "plans", 0);
	recur_set(s, group, "jail_ms", json_integer(dtx_json_int(group, "jail_us", 0) / 1000));
	(void)json_object_del(group, "jail_us");
	for (i = 0; i < 3; i++) {
		static const char *const zero[] = { "failed", "calls", "tokens" };

		recur_add(s, group, zero[i], 0);
	}
	if (json_object_get(group, "cost_micro"))
		recur_set(s, group, "cost",
		          json_sprintf("%.6f", (double)dtx_json_int(group, "cost_micro", 0) / 1e6));
	(void)json_object_del(group, "cost_micro");
	recur_set(s, group, "wanted",
	          json_boolean(plans >= DTX_RECUR_PLANS || runs >= DTX_RECUR_RUNS));
}

static int recur_order(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int64_t n = dtx_json_int(x, "runs", 0), m = dtx_json_int(y, "runs", 0);

	if (n != m)
		return n < m ? 1 : -1;
	return strcmp(dtx_json_text(x, "op", ""), dtx_json_text(y, "op", ""));
}

static enum dtx_code recur_list(struct recur *s, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = json_object_size(s->groups), i = 0;
	json_t **item = dtx_mem_alloc(n + 1, sizeof(*item)), *group, *list = json_array();
	const char *key;

	if (!item || !list)
		DTX_FAIL_MEM(err);
	json_object_foreach(s->groups, key, group)
	{
		recur_finish(s, group);
		item[i++] = group;
	}
	if (n)
		qsort(item, n, sizeof(*item), recur_order);
	for (i = 0; i < n; i++) {
		if (json_array_append(list, item[i]) < 0)
			DTX_FAIL_MEM(err);
	}
	if (s->failed)
		DTX_FAIL_MEM(err);
	*out = json_incref(list);
out:
	json_decref(list);
	dtx_mem_free(item);
	return rc;
}

enum dtx_code dtx_recur_groups(struct dtx_store *store, int64_t since_us, const char *op,
                               json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct recur s = { since_us, op, json_object(), json_object(), json_object(), false };

	if (!s.groups || !s.runs || !s.cells)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ledger_walk(dtx_store_db(store), 1, recur_event, &s, err));
	DTX_TRY(recur_list(&s, out, err));
out:
	json_decref(s.groups);
	json_decref(s.runs);
	json_decref(s.cells);
	return rc;
}
