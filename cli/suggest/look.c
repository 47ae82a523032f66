#include "cli/suggest/look.h"

#include "cli/progress.h"
#include "cli/suggest/example/byexample.h"
#include "cli/suggest/propose/propose.h"
#include "core/io/repair.h"
#include "core/io/sheet/book_info.h"

#define PLAN_BYTES ((size_t)64 << 20) /* a plan for a larger input is not run as a whole */

/* --- reading --- */

/* Reads the whole input. After an error that has a remedy, starts again with the remedy applied. */
static enum dtx_code look_profile(struct dtx_look *x, struct dtx_source *src, uint32_t sample,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_repair fix = { .on = x->args->repair, .arena = &x->arena, .done = &x->repaired };
	struct dtx_ticker ticker = { .running = false };
	bool again;

	x->profile.progress = &ticker.now;
	dtx_source_watch(src, &ticker.now);
	dtx_ticker_start(&ticker, x->cli, (enum dtx_progress_how)x->args->progress,
	                 x->runner.plan->input[0].path);
	do {
		DTX_TRY(dtx_repair_open(&fix, src, &x->opts, &x->reader, err));
		rc = dtx_profile_read(&x->profile, x->reader, sample, err);
		again = rc != DTX_OK && dtx_repair_take(&fix, err, &x->opts);
		if (again) {
			dtx_profile_clear(&x->profile);
			dtx_reader_close(x->reader);
			x->reader = NULL;
			dtx_err_clear(err);
		} else if (rc != DTX_OK && x->repairs) {
			dtx_repair_hint(err);
		}
	} while (again);
out:
	dtx_ticker_stop(&ticker);
	dtx_source_watch(src, NULL);
	x->profile.progress = NULL;
	return rc;
}

/* The members of the input that were set on the command line or by a repair. */
static json_t *look_given(const struct dtx_look *x)
{
	static const char *const ragged[] = { "error", "pad", "truncate", "quarantine" };
	static const char *const keys[] = { "error", "first", "last" };
	const struct dtx_read_opts *o = &x->opts;
	const struct {
		const char *name, *value;
	} texts[] = { { "format", o->format },
		      { "sheet", o->sheet },
		      { "range", o->range },
		      { "encoding", o->encoding },
		      { "ragged", o->ragged ? ragged[o->ragged] : NULL },
		      { "repeated_header", o->headers_drop ? "drop" : NULL },
		      { "syntax", o->json_lenient ? "lenient" : NULL },
		      { "duplicate_keys", o->duplicate_keys ? keys[o->duplicate_keys] : NULL } },
	  dialect[] = { { "delimiter", o->delimiter },
		        { "quote", o->quote },
		        { "quotes", o->quotes },
		        { "escape", o->escape },
		        { "comment", o->comment } };
	const char *path = x->runner.plan->input[0].path;
	json_t *input = json_pack("{s:s, s:s}", "name", "main", "path", path ? path : "-");
	json_t *marks = json_object();
	size_t i;

	for (i = 0; i < DTX_COUNT(texts); i++) {
		if (texts[i].value)
			json_object_set_new(input, texts[i].name, json_string(texts[i].value));
	}
	for (i = 0; i < DTX_COUNT(dialect); i++) {
		if (dialect[i].value)
			json_object_set_new(marks, dialect[i].name, json_string(dialect[i].value));
	}
	if (o->trim)
		json_object_set_new(marks, "trim", json_true());
	if (o->mixed)
		json_object_set_new(marks, "mixed", json_true());
	if (json_object_size(marks))
		json_object_set(input, "dialect", marks);
	if (o->header_rows >= 0)
		json_object_set_new(input, "header_rows", json_integer(o->header_rows));
	if (o->skip)
		json_object_set_new(input, "skip", json_integer(o->skip));
	if (o->skip_tail)
		json_object_set_new(input, "skip_tail", json_integer(o->skip_tail));
	json_decref(marks);
	return input;
}

/* Adds members that were found. Rows above the header are counted from the rows that were skipped
 * already. */
static void look_found(json_t *input, const json_t *found)
{
	json_int_t skip = json_integer_value(json_object_get(input, "skip")) +
	                  json_integer_value(json_object_get(found, "skip"));

	(void)json_object_update_recursive(input, (json_t *)(uintptr_t)found);
	if (skip)
		json_object_set_new(input, "skip", json_integer(skip));
}

json_t *dtx_look_cleaned(const struct dtx_look *x)
{
	json_t *input = look_given(x);

	look_found(input, x->suggested.input);
	return input;
}

/* --- proposals --- */

/* Reads the file again with other options. */
static enum dtx_code look_again(struct dtx_look *x, struct dtx_source *src, uint32_t sample,
                                struct dtx_err *err)
{
	dtx_profile_clear(&x->profile);
	dtx_reader_close(x->reader);
	x->reader = NULL;
	return look_profile(x, src, sample, err);
}

/* What the reader refuses but can be read by a guess: rows of other widths, as blank cells at the
 * end of a row may be left out, and nothing is lost where the table becomes wider; and quoted cells
 * with blanks between them. */
static enum dtx_code look_lenient(struct dtx_look *x, struct dtx_source *src, uint32_t sample,
                                  enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code again;

	if (rc == DTX_E_RAGGED_ROWS && !x->args->ragged)
		x->opts.ragged = DTX_RAGGED_PAD;
	else if (rc == DTX_E_BAD_QUOTE && !x->opts.delimiter)
		x->opts.delimiter = " ";
	else
		return rc;
	again = look_again(x, src, sample, &why);
	if (again == DTX_OK || rc == DTX_E_RAGGED_ROWS) {
		x->guessed = true;
		dtx_err_copy(&x->refused, err);
		dtx_err_clear(err);
		dtx_err_copy(err, &why);
		rc = again;
	} else {
		x->opts.delimiter = NULL;
	}
	dtx_err_clear(&why);
	return rc;
}

/* If no header was found, the first row is assumed to be one if it can be, otherwise two rows. */
static enum dtx_code look_assume(struct dtx_look *x, struct dtx_source *src, uint32_t sample,
                                 enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	json_t *input;
	enum dtx_code again;

	if (x->assume)
		rc = look_lenient(x, src, sample, rc, err);
	if ((rc != DTX_E_HEADER_NOT_FOUND && rc != DTX_E_MULTIPLE_TABLES) || !x->assume ||
	    x->opts.header_rows >= 0)
		return rc;
	if (rc == DTX_E_MULTIPLE_TABLES) {
		/* blank rows can separate records */
		dtx_err_copy(&x->several, err);
		x->opts.header_rows = 0;
		again = DTX_OK;
	} else {
		input = look_given(x);
		again = dtx_propose_header(src, input, NULL, &why);
		x->opts.header_rows = (int)dtx_json_int(input, "header_rows", -1);
		x->guessed |= x->opts.header_rows > 1 ||
		              dtx_json_int(input, "skip", x->opts.skip) > x->opts.skip;
		x->opts.skip = dtx_json_int(input, "skip", x->opts.skip);
		json_decref(input);
	}
	if (again == DTX_OK && x->opts.header_rows >= 0) {
		again = look_again(x, src, sample, &why);
		again = look_lenient(x, src, sample, again, &why);
	} else if (again == DTX_OK) {
		again = rc;
	}
	if (again == DTX_E_HEADER_NOT_FOUND && x->example) {
		/* with an example the values are enough */
		dtx_err_clear(&why);
		x->opts.header_rows = 0;
		again = look_again(x, src, sample, &why);
	}
	if (again == DTX_OK) {
		dtx_err_clear(err);
		rc = DTX_OK;
	}
	dtx_err_clear(&why);
	return rc;
}

static enum dtx_code look_propose(struct dtx_look *x, struct dtx_source *src, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *found = json_deep_copy(x->suggested.reading), *rows = NULL;

	x->input = look_given(x);
	if (!found || !x->input)
		DTX_FAIL_MEM(err);
	rows = json_incref(json_object_get(found, "header_rows"));
	(void)json_object_del(found, "header_rows");
	look_found(x->input, found);
	DTX_TRY(dtx_propose_header(src, x->input, x->describe, err));
	if (rows && !json_object_get(x->input, "header_rows"))
		json_object_set(x->input, "header_rows", rows);
	if (!x->example)
		DTX_TRY(dtx_propose(src, x->input, &x->profile, x->suggested.steps, x->guessed,
		                    &x->proposals, err));
out:
	json_decref(rows);
	json_decref(found);
	return rc;
}

/* What the reader refuses is an error, unless there is a proposal, which then says so. */
static enum dtx_code look_refused(struct dtx_look *x, struct dtx_err *err)
{
	const char *how = x->refused.code == DTX_E_RAGGED_ROWS ? "\"ragged\": \"pad\""
	                                                       : "\"delimiter\": \" \"";
	char text[sizeof(x->refused.msg) + 64];
	json_t *one;
	size_t i;

	if (!x->refused.code || x->example)
		return DTX_OK;
	if (!json_array_size(x->proposals)) {
		dtx_err_copy(err, &x->refused);
		return x->refused.code;
	}
	snprintf(text, sizeof(text), "read by a guess, %s: %s", how, x->refused.msg);
	json_array_foreach(x->proposals, i, one)
		json_array_append_new(json_object_get(one, "evidence"), json_string(text));
	return DTX_OK;
}

/* Several tables in one file are an error, unless they are records. */
static enum dtx_code look_several(struct dtx_look *x, struct dtx_err *err)
{
	const json_t *plan = json_object_get(json_array_get(x->proposals, 0), "plan");
	const json_t *step = json_array_get(json_object_get(plan, "steps"), 0);

	if (!x->several.code || x->example ||
	    dtx_str_eq(dtx_str_of(dtx_json_text(step, "op", "")), DTX_STR("pivot_records")))
		return DTX_OK;
	dtx_err_copy(err, &x->several);
	return x->several.code;
}

/* A plan needs a step; this one keeps all columns, and so documents which there are. */
static json_t *look_keep_all(const struct dtx_look *x)
{
	json_t *cols = json_array();
	uint32_t i;

	for (i = 0; i < x->profile.schema->nfields; i++)
		json_array_append_new(cols, json_string(x->profile.schema->field[i].name));
	return json_pack("{s:s, s:o}", "op", "select", "cols", cols);
}

json_t *dtx_look_plan(const struct dtx_look *x)
{
	json_t *steps = json_copy(x->suggested.steps);

	if (steps && x->suggested.reshape)
		(void)json_array_extend(steps, x->suggested.reshape);
	if (steps && !json_array_size(steps))
		(void)json_array_append_new(steps, look_keep_all(x));
	return json_pack("{s:i, s:[o], s:o}", "dtx", 1, "inputs", dtx_look_cleaned(x), "steps",
	                 steps);
}

static json_t *look_plan(void *arg)
{
	return dtx_look_plan(arg);
}

/* The steps that the other list has not, neither with further kinds of rows. A new reference. */
static json_t *look_not_in(const json_t *steps, const json_t *others)
{
	json_t *out = json_array(), *step, *other;
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)steps, i, step)
	{
		json_array_foreach((json_t *)(uintptr_t)others, k, other)
		{
			if (json_equal(step, other) ||
			    (json_object_get(step, "kinds") && json_object_get(other, "kinds")))
				break;
		}
		if (k == json_array_size(others))
			json_array_append(out, step);
	}
	return out;
}

/* Adds a sure proposal to the plan that cleans the file, if it can be run after the cleaning. */
static enum dtx_code look_reshape(struct dtx_look *x, struct dtx_source *src, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran;
	const json_t *first = json_array_get(x->proposals, 0);
	const json_t *plan = json_object_get(first, "plan");
	const json_t *input = json_array_get(json_object_get(plan, "inputs"), 0);
	json_t *all = NULL, *cleaned = dtx_look_cleaned(x);

	if (!json_is_true(json_object_get(first, "sure")) || dtx_source_size(src) > PLAN_BYTES ||
	    dtx_json_int(input, "header_rows", 1) != dtx_json_int(cleaned, "header_rows", 1))
		goto out;
	x->suggested.reshape = look_not_in(json_object_get(plan, "steps"), x->suggested.steps);
	if (!x->suggested.reshape)
		DTX_FAIL_MEM(err);
	all = dtx_look_plan(x);
	ran = dtx_byexample_run(all, src, 0, NULL, NULL);
	if (ran == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	if (ran != DTX_OK) {
		json_decref(x->suggested.reshape);
		x->suggested.reshape = NULL;
	}
out:
	json_decref(all);
	json_decref(cleaned);
	return rc;
}

enum dtx_code dtx_look_open(struct dtx_look *x, char *path, uint32_t sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src;

	DTX_TRY(dtx_runner_plan(&x->runner, err));
	DTX_TRY(dtx_runner_inputs(&x->runner, 1, &path, err));
	DTX_TRY(dtx_runner_open(&x->runner, true, err));
	src = x->runner.source[0];
	x->opts = x->runner.plan->input[0].opts;
	x->opts.margins = true;
	rc = look_profile(x, src, sample, err);
	DTX_TRY(look_assume(x, src, sample, rc, err));
	if (x->reader->cls->book)
		DTX_TRY(dtx_book_sheets(src, &x->sheets, err));
	x->describe = x->reader->cls->describe(x->reader);
	DTX_TRY(dtx_suggest(&x->profile, x->describe, json_array_size(x->sheets), &x->suggested,
	                    err));
	DTX_TRY(dtx_suggest_verify(&x->suggested, src, look_plan, x, err));
	DTX_TRY(look_propose(x, src, err));
	DTX_TRY(look_several(x, err));
	DTX_TRY(look_refused(x, err));
	DTX_TRY(look_reshape(x, src, err));
out:
	return rc;
}

void dtx_look_init(struct dtx_look *x, const struct dtx_cli *cli, const struct dtx_run_args *args,
                   const char *command)
{
	*x = (struct dtx_look){ .cli = cli,
		                .args = args,
		                .runner = { .cli = cli, .args = args, .command = command },
		                .profile = DTX_PROFILE_INIT,
		                .several = DTX_ERR_INIT,
		                .refused = DTX_ERR_INIT };
}

void dtx_look_clear(struct dtx_look *x)
{
	dtx_err_clear(&x->several);
	dtx_err_clear(&x->refused);
	json_decref(x->input);
	json_decref(x->proposals);
	json_decref(x->describe);
	json_decref(x->sheets);
	dtx_suggestions_clear(&x->suggested);
	dtx_profile_clear(&x->profile);
	dtx_reader_close(x->reader);
	dtx_errlist_clear(&x->repaired);
	dtx_arena_clear(&x->arena);
	dtx_runner_clear(&x->runner);
}
