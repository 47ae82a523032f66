/* Runs the fragments of a stage: submits them, tries again, proves the borders between them.
 *
 * All fragments of a source start with a guess where their first record begins. A fragment reports
 * where its first record began and where the one after its last record begins. The border before
 * the first fragment is known, so by induction: where fragment i begins at the place where i - 1
 * says, its rows are right; else it runs again from that place. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/cluster/cluster_parts.h"
#include "core/io/isolate/isolate.h"

#define ATTEMPTS    4   /* of a fragment that fails for a reason that may pass */
#define WAIT_MS     100 /* between looks at the cancel flag */
#define PAUSE_MS    100 /* before the second attempt; four times as long before each further one */
#define SLOW_MIN_NS 1000000000 /* a second copy is not started earlier */
#define SPEC_MAX    65536

static json_t *numbers(const uint32_t *n, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < count; i++)
		if (json_array_append_new(list, json_integer(n[i]))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

/* The spec of a part. A new reference; NULL: out of memory. */
json_t *dtx_attempts_spec(const struct dtx_cluster_stage *x, const struct dtx_cluster_part *p)
{
	const struct dtx_cluster_source *s = &x->source[p->source];
	json_t *begin;

	if (!s->drawn)
		return json_pack("{ss sI}", "job", s->job, "bucket", (json_int_t)p->first);
	begin = p->exact ? json_integer((json_int_t)p->begin) : json_null();

	return json_pack("{ss sI si so so sI sI so}", "job", s->job, "base", (json_int_t)s->base,
	                 "input", (int)s->drawn->table, "steps", numbers(s->drawn->step, s->nsteps),
	                 "branches", numbers(s->drawn->input, s->nsteps), "first",
	                 (json_int_t)p->first, "end", (json_int_t)p->end, "begin", begin);
}

/* Takes over what a manifest says, which may be that of an error. */
static void ended(struct dtx_cluster_part *p, json_t *said, enum dtx_fragment_class class)
{
	json_decref(p->said);
	p->said = said;
	p->done = true;
	p->class = class;
	p->began = (uint64_t)dtx_json_int(said, "begin", 0);
	p->next = (uint64_t)dtx_json_int(said, "next", 0);
}

/* Whether the run that is resumed has done the part. */
static bool is_kept(const struct dtx_cluster *c, struct dtx_cluster_part *p)
{
	json_t *said = c->resumes && !p->remade && !p->attempts
	                       ? dtx_manifest_read(c->exchange, p->name)
	                       : NULL;

	p->kept = said != NULL;
	if (said)
		ended(p, said, DTX_FRAGMENT_OK);
	return said != NULL;
}

enum dtx_code dtx_attempts_submit(struct dtx_cluster *c, struct dtx_cluster_stage *x, uint32_t i,
                                  struct dtx_err *err)
{
	struct dtx_cluster_part *p = &x->part[i];
	struct dtx_buf text = DTX_BUF_INIT(SPEC_MAX);
	size_t memory = dtx_mem_limit() / c->engine->slots;
	json_t *spec = dtx_attempts_spec(x, p);
	enum dtx_code rc = DTX_OK;

	if (!spec)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(spec, &text);
	DTX_TRY(dtx_buf_check(&text, "the spec of a fragment", err));
	dtx_sha256_hex(text.ptr, text.len, p->name);
	p->done = false;
	p->not_before_ns = 0;
	if (is_kept(c, p))
		goto out;
	p->remade = p->remade || json_object_get(c->lost, p->name);
	if (!dtx_json_set(spec, "exchange", json_string(c->exchange)) ||
	    (memory && !dtx_json_set(spec, "memory", json_integer((json_int_t)memory))))
		DTX_FAIL_MEM(err);
	dtx_buf_reset(&text);
	dtx_json_canonical(spec, &text);
	DTX_TRY(dtx_buf_check(&text, "the spec of a fragment", err));
	DTX_TRY(c->engine->cls->submit(c->engine, i, dtx_buf_text(&text), err));
	p->running++;
	x->running++;
out:
	json_decref(spec);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_attempts_differ(const struct dtx_cluster_part *p, const char *first,
                                  const char *second, struct dtx_err *err)
{
	return dtx_err_set(
		err, DTX_E_BUG, __FILE__, __LINE__,
		"internal: fragment %.16s was done twice and gave other bytes the second "
		"time: %.32s, then %.32s",
		p->name, first, second);
}

/* A copy of a part that has ended already: both must have made the same bytes. */
static enum dtx_code compare(const struct dtx_cluster_part *p, const json_t *said,
                             struct dtx_err *err)
{
	const char *first = dtx_json_text(p->said, "hash", ""),
		   *second = dtx_json_text(said, "hash", "");

	return *first && *second && strcmp(first, second) != 0
	               ? dtx_attempts_differ(p, first, second, err)
	               : DTX_OK;
}

/* A part whose file was lost, and that was done again, must have made the same bytes. */
static enum dtx_code compare_lost(const struct dtx_cluster *c, const struct dtx_cluster_part *p,
                                  struct dtx_err *err)
{
	const char *first = dtx_json_text(c->lost, p->name, ""),
		   *second = dtx_json_text(p->said, "hash", "");

	return *first && *second && strcmp(first, second) != 0
	               ? dtx_attempts_differ(p, first, second, err)
	               : DTX_OK;
}

/* An attempt has failed for a reason that may pass: waits and tries again, some times. */
static enum dtx_code retry(struct dtx_cluster *c, struct dtx_cluster_part *p,
                           const struct dtx_engine_event *event, struct dtx_err *err)
{
	if (!dtx_isolate_err_read(json_object_get(p->said, "error"), err))
		dtx_err_set(err, DTX_E_INPUT_IO, __FILE__, __LINE__,
		            "a fragment ended without a result: %s",
		            event->reason[0] ? event->reason : "it printed no manifest");
	if (p->attempts >= ATTEMPTS) {
		if (dtx_json_text(p->said, "damaged", NULL))
			dtx_cluster_lost(c, dtx_json_text(p->said, "damaged", ""));
		return err->code;
	}
	dtx_err_clear(err);
	p->done = false;
	p->not_before_ns = dtx_now_ns() + ((int64_t)PAUSE_MS << 2 * (p->attempts - 1)) * 1000000;
	return DTX_OK;
}

/* A copy of a fragment has ended: notes what it said. */
static enum dtx_code note(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                          struct dtx_engine_event *event, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = (size_t)16 << 20, .depth = 16 };
	struct dtx_cluster_part *p = &x->part[event->id];
	enum dtx_fragment_class class =
		event->status < 0 ? DTX_FRAGMENT_AGAIN : (enum dtx_fragment_class)event->status;
	json_t *said = NULL;
	enum dtx_code rc = DTX_OK;

	p->running--;
	x->running--;
	if (dtx_json_parse(dtx_buf_str(&event->text), limits, &said, NULL) != DTX_OK)
		class = DTX_FRAGMENT_AGAIN;
	/* of a begin that was wrong; or another copy goes on */
	if ((said && strcmp(dtx_json_text(said, "fragment", ""), p->name) != 0) ||
	    (class == DTX_FRAGMENT_AGAIN && (p->running || p->done)))
		goto out;
	if (p->done) {
		DTX_TRY(compare(p, said, err));
		goto out;
	}
	ended(p, said, class);
	said = NULL;
	p->attempts++;
	DTX_TRY(compare_lost(c, p, err));
	if (class == DTX_FRAGMENT_AGAIN)
		DTX_TRY(retry(c, p, event, err));
	else
		p->slow = false;
out:
	json_decref(said);
	return rc;
}

/* The error of a fragment whose begin is right. */
enum dtx_code dtx_attempts_fail(struct dtx_cluster *c, const struct dtx_cluster_stage *x,
                                const struct dtx_cluster_part *p, struct dtx_err *err)
{
	const struct dtx_phys_source *drawn = x->source[p->source].drawn;
	bool known = drawn && (uint32_t)drawn->table < x->g->plan->ninputs;

	if (p->class == DTX_FRAGMENT_TYPES && known) {
		dtx_err_set(err, DTX_E_RETYPE, __FILE__, __LINE__, "a type is wider");
		dtx_str_copy(err->input, sizeof(err->input),
		             dtx_str_of(x->g->plan->input[drawn->table].name));
	} else if (!dtx_isolate_err_read(json_object_get(p->said, "error"), err)) {
		dtx_err_set(err, DTX_E_BUG, __FILE__, __LINE__, "internal: a fragment failed");
	}
	/* Another process would fail in the same way. This one says why, or does what needs all
	 * rows or more memory, or finds out which of several tables has a wider type. */
	if (p->class == DTX_FRAGMENT_WHOLE ||
	    (p->class == DTX_FRAGMENT_TYPES && (!known || c->sides.n)) ||
	    p->class == DTX_FRAGMENT_DATA ||
	    (p->class == DTX_FRAGMENT_LIMIT && err->code == DTX_E_NO_MEMORY))
		c->spread.whole = true;
	return err->code;
}

/* Goes on with the proof of a source, as far as its parts have ended. Starts a part again that
 * began at the wrong place. */
static enum dtx_code prove(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                           struct dtx_cluster_source *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	while (s->proven < s->end && x->part[s->proven].done) {
		struct dtx_cluster_part *p = &x->part[s->proven];
		bool right =
			p->exact || !s->drawn || s->proven == s->first || p->began == s->border;

		if (!right) {
			p->exact = true;
			p->begin = s->border;
			p->attempts = 0;
			DTX_TRY(dtx_attempts_submit(c, x, s->proven, err));
			continue;
		}
		if (p->class != DTX_FRAGMENT_OK)
			return dtx_attempts_fail(c, x, p, err);
		s->border = p->next;
		s->proven++;
	}
out:
	return rc;
}

/* Submits the parts again whose pause is over. */
static enum dtx_code again(struct dtx_cluster *c, struct dtx_cluster_stage *x, struct dtx_err *err)
{
	int64_t now = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->nparts; i++)
		if (x->part[i].not_before_ns && x->part[i].not_before_ns <= now)
			DTX_TRY(dtx_attempts_submit(c, x, i, err));
out:
	return rc;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median of the times of the parts that are done; 0: fewer than three are. */
static enum dtx_code median_ns(const struct dtx_cluster_stage *x, int64_t *out, struct dtx_err *err)
{
	int64_t *all = dtx_mem_alloc(x->nparts + 1, sizeof(*all));
	size_t n = 0;
	enum dtx_code rc = DTX_OK;

	*out = 0;
	if (!all)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < x->nparts; i++)
		if (x->part[i].done)
			all[n++] = dtx_json_int(x->part[i].said, "wall_us", 0) * 1000;
	qsort(all, n, sizeof(*all), by_size);
	if (n >= 3)
		*out = all[n / 2];
out:
	dtx_mem_free(all);
	return rc;
}

/* Starts a second copy of the last parts where these take long: their worker may be slow, or hang.
 * The first result counts. */
static enum dtx_code help_slow(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                               struct dtx_err *err)
{
	int64_t now = dtx_now_ns(), median;
	size_t undone = 0;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < x->nparts; i++)
		undone += !x->part[i].done;
	if (!undone || undone > DTX_MAX(x->nparts / 20, 1) || undone > c->engine->slots) {
		x->few_ns = 0;
		goto out;
	}
	if (undone != x->undone || !x->few_ns)
		x->few_ns = now;
	x->undone = undone;
	if (now - x->few_ns < SLOW_MIN_NS)
		goto out;
	DTX_TRY(median_ns(x, &median, err));
	for (uint32_t i = 0; median && now - x->few_ns > 3 * median && i < x->nparts; i++) {
		if (x->part[i].done || x->part[i].slow || x->part[i].running != 1)
			continue;
		x->part[i].slow = true;
		DTX_TRY(dtx_attempts_submit(c, x, i, err));
	}
out:
	return rc;
}

enum dtx_code dtx_attempts_run(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool got;

	for (uint32_t i = 0; i < x->nparts; i++)
		DTX_TRY(dtx_attempts_submit(c, x, i, err));
	for (uint32_t i = 0; c->resumes && i < x->nsources; i++)
		DTX_TRY(prove(c, x, &x->source[i], err));
	DTX_TRY(x->take(c, x, err));
	while (x->taken < x->nparts) {
		struct dtx_engine_event event = { .text = DTX_BUF_INIT(0) };

		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(c->engine->cls->next(c->engine, WAIT_MS, &event, &got, err));
		if (got) {
			rc = note(c, x, &event, err);
			dtx_buf_clear(&event.text);
			DTX_TRY(rc);
			DTX_TRY(prove(c, x, &x->source[x->part[event.id].source], err));
			DTX_TRY(x->take(c, x, err));
		} else {
			DTX_TRY(help_slow(c, x, err));
		}
		DTX_TRY(again(c, x, err));
	}
out:
	if (rc != DTX_OK || x->running)
		c->engine->cls->cancel(c->engine);
	return rc;
}
