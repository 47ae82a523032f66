/* Purges bodies from the store; the events of the ledger stay.
 *
 * A body is purged in three steps: find all events that name it, decide by age and options whether
 * it may go, and empty it together with an event that lists its hash. */
#include "core/store/cache/gc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/ledger.h"

const char dtx_gc_kinds[] = "input,lineage,answer,prompt,code,env";

enum { GC_BLOBS = 10000000, GC_HEX = DTX_SHA256_HEX - 1 };
/* Limits for what one transaction empties: each page is written once more, and other writers have
 * to wait meanwhile. */
#define GC_BATCH_BYTES ((int64_t)64 << 20)
#define GC_BATCH       ((size_t)10000)

struct gc_blob {
	char hash[DTX_SHA256_HEX];
	int64_t size, last_seq, last_us; /* last event that names it; 0: no event does */
	int rank;                        /* position of its kind in the order of purging */
	bool asked;                      /* the run whose bodies are to be purged names it */
};
struct gc {
	struct dtx_db *db;
	const struct dtx_gc_opts *opts;
	struct gc_blob *blob;
	size_t n, cap;
	int64_t total;        /* bytes of all bodies */
	int64_t kept_seq;     /* events from here on belong to runs that keep everything */
	struct gc_blob *done; /* bodies that were purged, or would be */
	size_t ndone, cap_done;
	int64_t before; /* bytes of all bodies at the start */
	json_t *runs;   /* other runs that lose something; NULL before the first round */
};

/* --- what is in the store --- */

/* Position of a kind in the order of purging; -1: bodies of this kind stay. */
static int gc_rank(const char *kinds, const char *kind)
{
	struct dtx_str rest = dtx_str_of(dtx_gc_kinds), piece;
	int rank = 0;

	if (kinds && !dtx_str_in_list(kinds, kind))
		return -1;
	for (; dtx_str_next(&rest, ',', &piece); rank++) {
		if (dtx_str_is(piece, kind))
			return rank;
	}
	return -1;
}

static enum dtx_code gc_kinds_known(const char *kinds, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(kinds ? kinds : ""), piece;
	char kind[32];

	while (rest.len && dtx_str_next(&rest, ',', &piece)) {
		dtx_str_copy(kind, sizeof(kind), piece);
		if (gc_rank(NULL, kind) < 0)
			DTX_FAIL(err, DTX_E_USAGE,
			         "bodies of kind '%s' cannot be purged: there are %s", kind,
			         dtx_gc_kinds);
	}
out:
	return rc;
}

static int gc_by_hash(const void *a, const void *b)
{
	return strcmp(((const struct gc_blob *)a)->hash, ((const struct gc_blob *)b)->hash);
}

static enum dtx_code gc_load(struct gc *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool more;

	DTX_TRY(dtx_db_query(g->db, DTX_SQL_BLOB_KINDS, NULL, 0, &rows, err));
	for (;;) {
		const char *kind, *hash;
		int rank;

		DTX_TRY(dtx_db_next(g->db, rows, &more, err));
		if (!more)
			break;
		hash = dtx_db_get_text(rows, 0);
		kind = dtx_db_get_text(rows, 1);
		g->total += dtx_db_get_int(rows, 3) ? 0 : dtx_db_get_int(rows, 2);
		rank = gc_rank(g->opts->kinds, kind ? kind : "");
		if (!hash || rank < 0 || dtx_db_get_int(rows, 3) || g->n == GC_BLOBS)
			continue;
		if (!dtx_mem_reserve(&g->blob, &g->cap, g->n + 1, sizeof(*g->blob)))
			DTX_FAIL_MEM(err);
		g->blob[g->n] = (struct gc_blob){ .size = dtx_db_get_int(rows, 2), .rank = rank };
		dtx_str_copy(g->blob[g->n++].hash, DTX_SHA256_HEX, dtx_str_of(hash));
	}
	if (g->n)
		qsort(g->blob, g->n, sizeof(*g->blob), gc_by_hash);
out:
	dtx_db_done(rows);
	return rc;
}

/* --- which events name a body --- */

static void gc_named(struct gc *g, const char *hash, const struct dtx_event *event)
{
	struct gc_blob key, *b;

	memcpy(key.hash, hash, GC_HEX);
	key.hash[GC_HEX] = '\0';
	b = g->n ? bsearch(&key, g->blob, g->n, sizeof(*g->blob), gc_by_hash) : NULL;
	if (b) {
		b->last_seq = event->seq;
		b->last_us = event->ts_us;
		b->asked |= g->opts->run && !strcmp(g->opts->run, event->run_id);
	}
}

/* Every sequence of 64 hex digits in an event may be the name of a body. */
static void gc_scan(struct gc *g, const char *text, const struct dtx_event *event)
{
	size_t run = 0;

	for (const char *p = text;; p++) {
		if (isdigit((unsigned char)*p) || (*p >= 'a' && *p <= 'f')) {
			run++;
			continue;
		}
		if (run == GC_HEX)
			gc_named(g, p - GC_HEX, event);
		if (!*p)
			break;
		run = 0;
	}
}

static enum dtx_code gc_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!strcmp(event->kind, "purge")) /* it names only bodies that are gone already */
		return DTX_OK;
	dtx_json_canonical(event->body, &text);
	DTX_TRY(dtx_buf_check(&text, "event", err));
	gc_scan(arg, dtx_buf_text(&text), event);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Finds the first event of the oldest run that keeps everything. */
static enum dtx_code gc_keep(struct gc *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = DTX_DBI(g->opts->keep_last);
	struct dtx_db_rows *rows = NULL;
	bool more;

	g->kept_seq = INT64_MAX;
	if (!g->opts->keep_last)
		return DTX_OK;
	DTX_TRY(dtx_db_query(g->db, DTX_SQL_RUN_KEPT, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(g->db, rows, &more, err));
	if (more)
		g->kept_seq = dtx_db_get_int(rows, 0);
out:
	dtx_db_done(rows);
	return rc;
}

/* Whether the body is the code of a snippet that is in use.  The kind of the body does not matter:
 * an answer that consists only of a module has the same bytes as the code, and may have been stored
 * first. */
static enum dtx_code gc_live(struct gc *g, const char *hash, bool *live, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = dtx_db_text(hash);
	struct dtx_db_rows *rows = NULL;

	DTX_TRY(dtx_db_query(g->db, DTX_SQL_CELL_LIVE_CODE, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(g->db, rows, live, err));
out:
	dtx_db_done(rows);
	return rc;
}

/* --- what is purged --- */

static int gc_by_order(const void *a, const void *b)
{
	const struct gc_blob *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->last_us != y->last_us)
		return (x->last_us > y->last_us) - (x->last_us < y->last_us);
	return strcmp(x->hash, y->hash);
}

static bool gc_may(const struct gc *g, const struct gc_blob *b, int64_t now)
{
	return (!g->opts->run || b->asked) && b->last_seq < g->kept_seq &&
	       (!g->opts->older_us || b->last_us < now - g->opts->older_us);
}

/* Moves the bodies that may be purged to the front; *n is their number. */
static enum dtx_code gc_choose(struct gc *g, size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t now = dtx_wall_us(), left = g->total;
	size_t going = 0;

	if (g->n)
		qsort(g->blob, g->n, sizeof(*g->blob), gc_by_order);
	for (size_t i = 0; i < g->n; i++) {
		struct gc_blob b = g->blob[i];
		bool live = false;

		if (g->opts->max_bytes && left <= g->opts->max_bytes)
			break;
		if (!gc_may(g, &b, now))
			continue;
		DTX_TRY(gc_live(g, b.hash, &live, err));
		if (live)
			continue;
		left -= b.size;
		g->blob[going++] = b;
	}
	*n = going;
out:
	return rc;
}

/* --- which other runs lose something --- */

struct gc_others {
	struct gc *g;
	json_t *runs; /* {run id: true} */
};

/* Every sequence of 64 hex digits, as in gc_scan. */
static void others_scan(struct gc_others *o, const char *text, const char *run_id)
{
	struct gc_blob key;
	size_t n;

	for (; *(text += strcspn(text, "0123456789abcdef")); text += n) {
		n = strspn(text, "0123456789abcdef");
		if (n != GC_HEX)
			continue;
		memcpy(key.hash, text, GC_HEX);
		key.hash[GC_HEX] = '\0';
		if (bsearch(&key, o->g->blob, o->g->n, sizeof(key), gc_by_hash))
			json_object_set_new(o->runs, run_id, json_true());
	}
}

static enum dtx_code others_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	struct gc_others *o = arg;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!strcmp(event->kind, "purge") || !event->run_id[0] ||
	    !strcmp(event->run_id, o->g->opts->run))
		return DTX_OK;
	dtx_json_canonical(event->body, &text);
	DTX_TRY(dtx_buf_check(&text, "event", err));
	others_scan(o, dtx_buf_text(&text), event->run_id);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* By now g has only the bodies that are purged. */
static enum dtx_code gc_others(struct gc *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct gc_others o = { g, json_object() };
	json_t *one;
	const char *id;

	g->runs = json_array();
	if (!o.runs || !g->runs)
		DTX_FAIL_MEM(err);
	if (g->n && g->opts->run) {
		qsort(g->blob, g->n, sizeof(*g->blob), gc_by_hash);
		DTX_TRY(dtx_ledger_walk(g->db, 1, others_event, &o, err));
		qsort(g->blob, g->n, sizeof(*g->blob), gc_by_order);
	}
	json_object_foreach(o.runs, id, one)
	{
		if (json_array_append_new(g->runs, json_string(id)) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	json_decref(o.runs);
	return rc;
}

/* --- purging --- */

static enum dtx_code gc_report(const struct gc *g, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *kinds = json_array(), *hashes = json_array(), *report = NULL;
	struct dtx_str rest = dtx_str_of(dtx_gc_kinds), kind;
	int64_t bytes = 0;

	for (int rank = 0; dtx_str_next(&rest, ',', &kind); rank++) {
		int64_t count = 0, size = 0;

		for (size_t i = 0; i < g->ndone; i++) {
			count += g->done[i].rank == rank;
			size += g->done[i].rank == rank ? g->done[i].size : 0;
		}
		bytes += size;
		if (count &&
		    json_array_append_new(kinds, json_pack("{ss% sI sI}", "kind", kind.ptr,
		                                           kind.len, "blobs", (json_int_t)count,
		                                           "bytes", (json_int_t)size)) < 0)
			DTX_FAIL_MEM(err);
	}
	for (size_t i = 0; i < g->ndone; i++) {
		if (json_array_append_new(hashes, json_string(g->done[i].hash)) < 0)
			DTX_FAIL_MEM(err);
	}
	report = json_pack("{sb sI sI sI sO sO sO}", "applied", g->opts->apply, "blobs",
	                   (json_int_t)g->ndone, "bytes", (json_int_t)bytes, "kept_bytes",
	                   (json_int_t)(g->before - bytes), "kinds", kinds, "hashes", hashes,
	                   "runs", g->runs);
	if (!report)
		DTX_FAIL_MEM(err);
	*out = report;
out:
	json_decref(kinds);
	json_decref(hashes);
	return rc;
}

/* The event and the emptied bodies are in one transaction. */
static enum dtx_code gc_apply(struct gc *g, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *hashes = json_array(), *body = NULL;
	struct dtx_event event = { .kind = "purge", .run_id = "" };
	int64_t bytes = 0, us = dtx_wall_us();

	if (!hashes)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++) {
		struct dtx_db_val val[] = { dtx_db_text(g->blob[i].hash), DTX_DBI(us) };

		bytes += g->blob[i].size;
		if (json_array_append_new(hashes, json_string(g->blob[i].hash)) < 0)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_db_run(g->db, DTX_SQL_BLOB_PURGE, val, DTX_COUNT(val), err));
	}
	event.body = body =
		json_pack("{ss sO sI sI}", "reason", g->opts->run ? "forget" : "gc", "hashes",
	                  hashes, "bytes", (json_int_t)bytes, "us", (json_int_t)us);
	if (!body)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ledger_append(g->db, &event, err));
out:
	json_decref(hashes);
	json_decref(body);
	return rc;
}

/* How many of the first n bodies one transaction purges: at least one. */
static size_t gc_batch(const struct gc *g, size_t n)
{
	int64_t bytes = 0;
	size_t i;

	for (i = 0; i < n && i < GC_BATCH && (!i || bytes + g->blob[i].size <= GC_BATCH_BYTES); i++)
		bytes += g->blob[i].size;
	return i;
}

static enum dtx_code gc_note(struct gc *g, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&g->done, &g->cap_done, g->ndone + n + 1, sizeof(*g->done)))
		DTX_FAIL_MEM(err);
	if (n)
		memcpy(g->done + g->ndone, g->blob, n * sizeof(*g->blob));
	g->ndone += n;
out:
	return rc;
}

/* Purges one batch.  It is chosen inside of its own transaction, so that no run can name a body
 * while it is being chosen. */
static enum dtx_code gc_round(struct gc *g, bool *more, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = 0, now;

	g->n = 0;
	g->total = 0;
	if (g->opts->apply)
		DTX_TRY(dtx_db_begin(g->db, err));
	DTX_TRY(gc_load(g, err));
	DTX_TRY(dtx_ledger_walk(g->db, 1, gc_event, g, err));
	DTX_TRY(gc_keep(g, err));
	DTX_TRY(gc_choose(g, &n, err));
	g->n = n;
	if (!g->runs) {
		g->before = g->total;
		DTX_TRY(gc_others(g, err));
	}
	now = g->opts->apply ? gc_batch(g, n) : n;
	DTX_TRY(gc_note(g, now, err));
	if (g->opts->apply && now)
		DTX_TRY(gc_apply(g, now, err));
	if (g->opts->apply)
		DTX_TRY(dtx_db_commit(g->db, err));
	*more = now < n;
out:
	if (rc != DTX_OK && g->opts->apply)
		dtx_db_rollback(g->db);
	return rc;
}

enum dtx_code dtx_gc(struct dtx_store *s, const struct dtx_gc_opts *opts, json_t **out,
                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct gc g = { .db = dtx_store_db(s), .opts = opts };
	bool more = true;

	DTX_TRY(gc_kinds_known(opts->kinds, err));
	while (more)
		DTX_TRY(gc_round(&g, &more, err));
	DTX_TRY(gc_report(&g, out, err));
	if (opts->apply)
		DTX_TRY(dtx_db_shrink(g.db, err));
out:
	json_decref(g.runs);
	dtx_mem_free(g.blob);
	dtx_mem_free(g.done);
	return rc;
}
