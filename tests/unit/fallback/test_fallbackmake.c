/* See fallbackmake.h. */
#include "tests/unit/fallbackmake.h"

#include "core/base/file.h"
#include "core/data/builder.h"
#include "core/store/ledger/ledger.h"

/* --- the jail --- */

struct dtx_box {
	const struct dtx_jail_spec *spec;
	struct dtx_table *main;
	struct dtx_str code;
};
static struct fallbackmake *jail_owner; /* tests run one at a time */

/* The rest of the line that begins with `word`; *found tells whether there is one. */
static struct dtx_str line_of(struct dtx_str code, const char *word, int *number)
{
	struct dtx_str line;
	int n = 0;

	while (dtx_str_next(&code, '\n', &line)) {
		n++;
		if (line.len >= strlen(word) && !memcmp(line.ptr, word, strlen(word))) {
			if (number)
				*number = n;
			line.ptr += strlen(word);
			line.len -= strlen(word);
			return dtx_str_trim(line);
		}
	}
	return (struct dtx_str){ NULL, 0 };
}

static enum dtx_code jail_open(const struct dtx_jail_spec *spec, struct dtx_box **out,
                               struct dtx_err *err)
{
	struct dtx_box *box = dtx_mem_zalloc(1, sizeof(*box));

	if (!box)
		return dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "no memory");
	box->spec = spec;
	*out = box;
	return DTX_OK;
}

static enum dtx_code jail_put(struct dtx_box *box, const char *name, struct dtx_table *t,
                              struct dtx_err *err)
{
	(void)err;
	if (!strcmp(name, "main")) {
		dtx_table_unref(box->main);
		box->main = dtx_table_ref(t);
	}
	return DTX_OK;
}

static enum dtx_code jail_put_raw(struct dtx_box *box, const char *name,
                                  const struct dtx_rawgrid *raw, struct dtx_err *err)
{
	(void)box, (void)name, (void)raw, (void)err;
	return DTX_OK;
}

static void jail_words(struct dtx_buf *out, struct dtx_str words)
{
	struct dtx_str word;
	bool more = false;

	dtx_buf_add(out, "[");
	while (words.ptr && dtx_str_next(&words, ' ', &word)) {
		dtx_buf_add(out, more ? "," : "");
		dtx_buf_json(out, word);
		more = true;
	}
	dtx_buf_add(out, "]");
}

static void jail_check(struct dtx_box *box, struct dtx_jail_report *r)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);
	struct dtx_str refused = line_of(box->code, "#screen ", NULL);
	struct dtx_str assumes = line_of(box->code, "#assumes ", NULL);
	struct dtx_str formula = line_of(box->code, "#formula ", NULL), name;

	dtx_buf_add(&text, "{\"class\":");
	if (refused.ptr)
		dtx_buf_json(&text, refused);
	else
		dtx_buf_add(&text, "null");
	dtx_buf_add(&text, ",\"needs\":");
	jail_words(&text, line_of(box->code, "#reads ", NULL));
	dtx_buf_add(&text, ",\"flags\":");
	jail_words(&text, line_of(box->code, "#flags ", NULL));
	if (assumes.ptr) {
		dtx_buf_add(&text, ",\"assumes\":[");
		dtx_buf_json(&text, assumes);
		dtx_buf_add(&text, "]");
	}
	if (formula.ptr && dtx_str_next(&formula, ' ', &name)) {
		dtx_buf_add(&text, ",\"formulas\":{");
		dtx_buf_json(&text, name);
		dtx_buf_add(&text, ":");
		dtx_buf_json(&text, formula);
		dtx_buf_add(&text, "}");
	}
	dtx_buf_add(&text, "}");
	r->check_json = dtx_arena_strdup(&r->arena, dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

static enum dtx_code jail_end(struct dtx_jail_report *r, enum dtx_jail_status status,
                              enum dtx_code code, const char *reason, struct dtx_err *err)
{
	r->status = status;
	r->code = code;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	return dtx_jail_report_err(r, err);
}

static enum dtx_code jail_screened(struct dtx_box *box, struct dtx_jail_report *r,
                                   struct dtx_err *err)
{
	static const enum dtx_code code[] = { DTX_E_SNIPPET_SYNTAX, DTX_E_SNIPPET_IMPORT_DENIED,
		                              DTX_E_SNIPPET_SCREEN_DENIED };
	struct dtx_str refused = line_of(box->code, "#screen ", NULL);
	size_t i;

	for (i = 0; i < DTX_COUNT(code); i++) {
		if (dtx_str_is(refused, dtx_code_name(code[i]) + strlen("snippet_")))
			return jail_end(r, DTX_JAIL_SCREENED, code[i], "screened", err);
	}
	return DTX_OK;
}

/* A message that contains cells, as pandas writes it. */
static enum dtx_code jail_leak(struct dtx_box *box, struct dtx_str how, int line,
                               struct dtx_jail_report *r, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 10);
	const struct dtx_batch *b = box->main->batch[0];

	dtx_buf_adds(&text, how);
	for (uint32_t i = 0; i < b->nsel; i++) {
		dtx_buf_addc(&text, ' ');
		dtx_cast_print(b->col[0], b->sel ? b->sel[i] : i, &text);
	}
	r->exception.type = dtx_arena_strdup(&r->arena, "ValueError");
	r->exception.message = dtx_arena_strdup(&r->arena, dtx_buf_text(&text));
	r->exception.line = line;
	r->exception.frame[0] =
		(struct dtx_jail_frame){ line, r->exception.message, r->exception.message };
	r->exception.nframes = 1;
	r->out = (struct dtx_jail_stream){ r->exception.message, text.len, text.len, false };
	dtx_buf_clear(&text);
	return jail_end(r, DTX_JAIL_SNIPPET_ERROR, DTX_E_SNIPPET_EXCEPTION, r->exception.message,
	                err);
}

static enum dtx_code jail_run(struct dtx_box *box, struct dtx_jail_report *r, struct dtx_err *err)
{
	int line = 0, s;
	struct dtx_str text = line_of(box->code, "#raise ", &line);
	struct dtx_str status = line_of(box->code, "#status ", NULL);
	struct dtx_str leak = line_of(box->code, "#leak ", text.ptr ? NULL : &line);

	if (leak.ptr)
		return jail_leak(box, leak, line - 1, r, err);
	if (text.ptr) {
		r->exception.type = dtx_arena_strdup(&r->arena, "ValueError");
		r->exception.message = dtx_arena_strndup(&r->arena, text.ptr, text.len);
		r->exception.line = line - 1;
		r->exception.frame[0] = (struct dtx_jail_frame){ line - 1, "transform", "a line" };
		r->exception.nframes = 1;
		if (text.len > 10 && !memcmp(text.ptr, "DTX_CANNOT", 10))
			return jail_end(r, DTX_JAIL_SNIPPET_ERROR, DTX_E_SNIPPET_CANNOT,
			                r->exception.message, err);
		return jail_end(r, DTX_JAIL_SNIPPET_ERROR, DTX_E_SNIPPET_EXCEPTION,
		                r->exception.message, err);
	}
	for (s = 0; status.ptr && s < DTX_JAIL_STATUS_COUNT; s++) {
		enum dtx_jail_status one = (enum dtx_jail_status)s;

		if (dtx_str_is(status, dtx_jail_status_name(one)))
			return jail_end(r, one, dtx_jail_status_code(one), "as told", err);
	}
	return DTX_OK;
}

static enum dtx_code jail_exec(struct dtx_box *box, struct dtx_str code, const char *params,
                               struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = 0;

	(void)params;
	box->code = code;
	dtx_str_copy(r->filter_hash, sizeof(r->filter_hash),
	             dtx_str_of(jail_owner->policy ? jail_owner->policy : ""));
	if (!box->spec->hash_seed) { /* the second one runs on another thread */
		jail_owner->jailed++;
		jail_owner->columns[0] = '\0';
		for (uint32_t i = 0; box->main && i < box->main->schema->nfields; i++)
			n += (size_t)snprintf(jail_owner->columns + n,
			                      sizeof(jail_owner->columns) - n, "%s ",
			                      box->main->schema->field[i].name);
	}
	if (box->spec->mode & DTX_JAIL_CHECK) {
		jail_check(box, r);
		DTX_TRY(jail_screened(box, r, err));
	}
	if (box->spec->mode & DTX_JAIL_RUN)
		DTX_TRY(jail_run(box, r, err));
out:
	r->code = rc;
	return rc;
}

static enum dtx_code jail_column(int64_t first, struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder b;
	enum dtx_code rc;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, 2);
	dtx_builder_i64(&b, first);
	dtx_builder_i64(&b, first + 1);
	rc = dtx_builder_finish(&b, NULL, out, err);
	dtx_builder_clear(&b);
	return rc;
}

static enum dtx_code jail_text(struct dtx_str value, struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder b;
	enum dtx_code rc;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, 2);
	dtx_builder_text(&b, value);
	dtx_builder_text(&b, value);
	rc = dtx_builder_finish(&b, NULL, out, err);
	dtx_builder_clear(&b);
	return rc;
}

static enum dtx_code jail_get(struct dtx_box *box, struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str names = line_of(box->code, "#columns ", NULL), name;
	struct dtx_str text = line_of(box->code, "#text ", NULL);
	enum dtx_type type = text.ptr ? DTX_T_TEXT : DTX_T_INT64;
	struct dtx_str seeded = line_of(box->code, "#seeded", NULL);
	const char *policy = jail_owner->policy ? jail_owner->policy : "";
	int64_t first = seeded.ptr && (!seeded.len || dtx_str_is(seeded, policy))
	                        ? box->spec->hash_seed
	                        : 10;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_field field[8] = { { .name = "n", .type = { type, 0, 0 } } };
	struct dtx_schema s = { .nfields = 1, .field = field };
	struct dtx_batch *b = NULL;
	struct dtx_table *t = NULL;
	uint32_t i;

	for (i = 0; names.ptr && i < 8 && dtx_str_next(&names, ' ', &name); i++) {
		field[i] =
			(struct dtx_field){ .name = dtx_arena_strndup(&arena, name.ptr, name.len),
			                    .type = { type, 0, 0 } };
		s.nfields = i + 1;
	}
	DTX_TRY(dtx_table_new(&s, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, 2, &b, err));
	for (i = 0; i < s.nfields; i++)
		DTX_TRY(text.ptr ? jail_text(text, &b->col[i], err)
		                 : jail_column(first + 10 * i, &b->col[i], err));
	rc = dtx_table_take(t, b, err);
	b = NULL;
	DTX_TRY(rc);
	*out = t;
	t = NULL;
out:
	dtx_batch_free(b);
	dtx_table_unref(t);
	dtx_arena_clear(&arena);
	return rc;
}

static void jail_close(struct dtx_box *box)
{
	if (box)
		dtx_table_unref(box->main);
	dtx_mem_free(box);
}

static const struct dtx_provider jail = { .name = "script",
	                                  .open = jail_open,
	                                  .put = jail_put,
	                                  .put_raw = jail_put_raw,
	                                  .exec = jail_exec,
	                                  .get = jail_get,
	                                  .close = jail_close };

/* --- the author --- */

static enum dtx_code author_ask(const struct dtx_author *a, const struct dtx_author_ask *ask,
                                struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct fallbackmake *m = a->pause_arg;
	const char *text = m->answer[m->asked];

	if (m->asked < DTX_COUNT(m->prompts))
		snprintf(m->prompts[m->asked], sizeof(m->prompts[0]), "%s", ask->hash);
	dtx_buf_reset(&m->last_prompt);
	dtx_buf_adds(&m->last_prompt, ask->prompt);
	if (!text)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the script is at its end");
	m->asked++;
	if (*text == '!')
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "%s", text + 1);
	if (*text == '~')
		snprintf(out->finish, sizeof(out->finish), "length");
	dtx_buf_add(&out->text, text);
	out->in_tokens = 100;
	out->out_tokens = 10;
	out->cost = 1000;
out:
	return rc;
}

/* --- the whole --- */

void fallbackmake_init(struct fallbackmake *m, const char *name)
{
	*m = (struct fallbackmake){ .last_prompt = DTX_BUF_INIT(DTX_PROMPT_MAX),
		                    .events = DTX_BUF_INIT(1 << 16) };
	jail_owner = m;
	snprintf(m->store_path, sizeof(m->store_path), "%s/%s.db", t_dir(), name);
	T_OK(dtx_store_open(m->store_path, DTX_STORE_WRITE, &m->store, NULL), NULL);
	m->author = (struct dtx_author){
		.transport = "script", .model = "tiny", .ask = author_ask, .pause_arg = m
	};
	m->r = (struct dtx_fallback_ctx){ .jail = &jail,
		                          .store = m->store,
		                          .ns = "test",
		                          .abi = "abi",
		                          .imports = "pandas",
		                          .dx_names = "round",
		                          .operands = "plan.json in.csv",
		                          .sample = DTX_SAMPLE_SYNTHETIC,
		                          .supplied_err = DTX_ERR_INIT };
	m->r.gate.policy = DTX_APPROVE_AUTO;
}

void fallbackmake_use(struct fallbackmake *m)
{
	jail_owner = m;
}

void fallbackmake_clear(struct fallbackmake *m)
{
	planrun_clear(&m->run);
	dtx_fallback_ctx_clear(&m->r);
	dtx_errlist_clear(&m->r.warnings);
	json_decref(m->r.near);
	dtx_err_clear(&m->r.supplied_err);
	dtx_store_free(m->store);
	dtx_buf_clear(&m->last_prompt);
	dtx_buf_clear(&m->events);
}

static enum dtx_code event_note(void *arg, const struct dtx_event *e, struct dtx_err *err)
{
	static const char *const tells[] = { "outcome", "class", "code", "by" };
	struct fallbackmake *m = arg;
	size_t i;

	(void)err;
	if (!strcmp(e->kind, "run.start") || !strcmp(e->kind, "run.end"))
		return DTX_OK;
	dtx_buf_printf(&m->events, "%s%s", m->events.len ? " " : "", e->kind);
	for (i = 0; i < DTX_COUNT(tells); i++) {
		const char *text = dtx_json_text(e->body, tells[i], NULL);

		if (text)
			dtx_buf_printf(&m->events, ":%s", text);
	}
	return DTX_OK;
}

static enum dtx_code host_fallback(void *arg, const struct dtx_fallback_request *region,
                                   struct dtx_table **out, struct dtx_err *err)
{
	struct fallbackmake *m = arg;

	return dtx_fallback_answer(&m->r, region, out, err);
}

static enum dtx_code host_finish_approval(void *arg, enum dtx_finish_when when, uint64_t stands,
                                          struct dtx_err *err)
{
	struct fallbackmake *m = arg;

	return dtx_fallback_finish(&m->r, when, stands & ~m->dropped, err);
}

enum dtx_code fallbackmake_run(struct fallbackmake *m, const char *plan, const char *csv)
{
	char id[DTX_RUN_ID];
	struct dtx_run_info info = { .run_id = id, .command = "run" };
	struct dtx_host host = { .arg = m,
		                 .fallback = host_fallback,
		                 .finish_approval = host_finish_approval };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	jail_owner = m;
	planrun_clear(&m->run);
	planrun_init(&m->run, plan, csv);
	m->run.host = &host;
	m->run.max_regions = m->max_regions;
	dtx_run_id_new(id);
	T_OK(dtx_record_start(m->store, &info, &m->r.record, &err), &err);
	m->r.supplied_used = false;
	rc = planrun(&m->run);
	T_OK(dtx_record_end(m->r.record, rc == DTX_OK ? "ok" : "failed",
	                    rc == DTX_OK ? NULL : dtx_code_name(rc), 0, json_object(), &err),
	     &err);
	dtx_buf_reset(&m->events);
	T_OK(dtx_ledger_walk_run(dtx_store_db(m->store), id, event_note, m, &err), &err);
	dtx_record_free(m->r.record);
	m->r.record = NULL;
	return rc;
}

void test_fallbackmake_typed_run_asks_nobody(void)
{
	static const char *const answers[] = { NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "typed");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLANCASE("{\"op\":\"filter\",\"where\":\"v > 1\"}"), "v\n1\n2\n"),
	     &m.run.err);
	T_STR(dtx_buf_text(&m.events), "");
	T_INT(m.asked + (size_t)m.jailed, 0);
	fallbackmake_clear(&m);
}

void fallbackmake_state(const struct fallback_state *row, size_t i)
{
	struct fallbackmake m;
	enum dtx_code rc;
	char name[32];

	snprintf(name, sizeof(name), "state%zu", i);
	fallbackmake_init(&m, name);
	m.answer = row->answer;
	m.r.author = row->nobody ? NULL : &m.author;
	m.r.cache_only = row->cache_only;
	m.r.budget.attempts = row->attempts;
	if (row->approve)
		T_OK(dtx_approve_parse(row->approve, &m.r.gate.policy, NULL), NULL);
	rc = fallbackmake_run(&m, row->plan ? row->plan : PLAN, CSV);
	T_CODE(rc, row->code, &m.run.err);
	if (strcmp(dtx_buf_text(&m.events), row->events) != 0)
		t_fail(__FILE__, __LINE__, "row %zu: %s\n   wanted %s", i, dtx_buf_text(&m.events),
		       row->events);
	if (rc == DTX_OK)
		T_STR(dtx_buf_text(&m.run.out), row->plan ? "n,m\n10,10\n11,11\n" : "n\n11\n");
	T_INT(m.r.budget.spent_attempts, m.asked - (rc == DTX_E_AUTHOR_FAILED));
	fallbackmake_clear(&m);
}

static void lacks(const char *path, const char *const *canary, size_t n)
{
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	if (dtx_file_slurp(path, &bytes, NULL) == DTX_OK)
		for (i = 0; i < n; i++)
			T_CHECK(dtx_str_find(dtx_buf_str(&bytes), dtx_str_of(canary[i]), 0) < 0);
	dtx_buf_clear(&bytes);
}

void fallbackmake_lacks(const struct fallbackmake *m, const char *const *canary, size_t n)
{
	char wal[4200];

	snprintf(wal, sizeof(wal), "%s-wal", m->store_path);
	lacks(m->store_path, canary, n);
	lacks(wal, canary, n);
}
