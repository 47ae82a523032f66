/* The inputs of a run: opening, widening of guessed types, repair. */
#include "core/plan/exec/inputset.h"

#include "core/expr/regex/regex.h"
#include "core/io/sheet/book_info.h"

/* --- inputs --- */

/* Finds the one worksheet whose name matches `like`; the error lists the names. */
static enum dtx_code pick_sheet(struct dtx_inputset *x, const json_t *sheets, const char *like,
                                const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_regex *regex;
	struct dtx_rematch *match;
	json_t *sheet;
	size_t i, n = 0;

	DTX_TRY(dtx_regex_compile(x->arena, dtx_str_of(like), &regex, err));
	match = dtx_rematch_new(x->arena, regex);
	if (!match)
		DTX_FAIL_MEM(err);
	json_array_foreach((json_t *)(uintptr_t)sheets, i, sheet)
	{
		const char *name = dtx_json_text(sheet, "name", "");

		if (strcmp(dtx_json_text(sheet, "kind", ""), "worksheet") != 0)
			continue;
		if (dtx_rematch_test(match, dtx_str_of(name)) && !n++)
			*out = dtx_arena_strdup(x->arena, name);
		dtx_buf_printf(&names, "%s'%s'", names.len ? ", " : "", name);
	}
	if (n == 1 && !*out)
		DTX_FAIL_MEM(err);
	if (n != 1)
		DTX_FAIL(err, DTX_E_SHEET_NOT_FOUND, "%zu sheets match '%s'; there are %.250s", n,
		         like, dtx_buf_text(&names));
out:
	dtx_buf_clear(&names);
	return rc;
}

/* Finds the sheet of an input. A file that is not a workbook gets the pattern as its sheet, and is
 * refused for it when it is opened. */
static enum dtx_code find_sheet(struct dtx_inputset *x, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *like = x->plan->input[i].sheet_like;
	struct dtx_err none = DTX_ERR_INIT;
	json_t *sheets = NULL;

	if (dtx_book_sheets(x->source[i], &sheets, &none) == DTX_OK)
		DTX_TRY(pick_sheet(x, sheets, like, &x->opts[i].sheet, err));
	else
		x->opts[i].sheet = like;
out:
	dtx_err_clear(&none);
	json_decref(sheets);
	return rc;
}

static enum dtx_code open_input(struct dtx_inputset *x, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_input *in = &x->plan->input[i];
	enum dtx_code rc = DTX_OK;

	if (!x->source[i])
		DTX_PARAM_FAIL(err, DTX_E_INPUT_NOT_FOUND, in->at, "no file for input '%s'",
		               in->name);
	dtx_source_limit(x->source[i], &in->limits);
	rc = in->sheet_like && !x->opts[i].sheet ? find_sheet(x, i, err) : DTX_OK;
	if (rc == DTX_OK)
		rc = dtx_repair_open(&x->fix[i], x->source[i], &x->opts[i], &x->reader[i], err);
	if (rc == DTX_OK)
		rc = x->reader[i]->cls->schema(x->reader[i], &x->schema[i], err);
	if (rc != DTX_OK && err) {
		err->run_time = true;
		dtx_err_at(err, in->at);
	}
out:
	return rc;
}

enum dtx_code dtx_inputset_open(struct dtx_inputset *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *readers = dtx_arena_zalloc(x->arena, x->plan->ninputs + x->plan->nsteps + 1u,
	                                     sizeof(*readers));

	x->opts = dtx_arena_zalloc(x->arena, x->plan->ninputs, sizeof(*x->opts));
	x->fix = dtx_arena_zalloc(x->arena, x->plan->ninputs, sizeof(*x->fix));
	x->reader = dtx_arena_zalloc(x->arena, x->plan->ninputs, sizeof(*x->reader));
	x->schema = dtx_arena_zalloc(x->arena, x->plan->ninputs, sizeof(*x->schema));
	x->was_read = dtx_arena_zalloc(x->arena, x->plan->ninputs, sizeof(bool));
	if (!readers || !x->opts || !x->fix || !x->reader || !x->schema || !x->was_read)
		DTX_FAIL_MEM(err);
	dtx_plan_readers(x->plan, readers);
	for (uint32_t i = 0; i < x->plan->ninputs; i++) {
		x->opts[i] = x->plan->input[i].opts;
		x->opts[i].home = x->home;
		x->fix[i] = (struct dtx_repair){ .on = x->repair && !x->opts[i].stream,
			                         .arena = x->arena,
			                         .done = &x->repaired };
		rc = readers[i] ? open_input(x, i, err) : DTX_OK;
		if (rc != DTX_OK && x->fallback && x->fallback(x->fallback_arg, i, err)) {
			dtx_err_clear(err);
			rc = DTX_OK;
		}
		DTX_TRY(rc);
	}
out:
	return rc;
}

bool dtx_inputset_spent(const struct dtx_inputset *x)
{
	for (uint32_t i = 0; x->reader && i < x->plan->ninputs; i++)
		if (x->reader[i] && x->reader[i]->spent)
			return true;
	return false;
}

enum dtx_code dtx_inputset_passed(enum dtx_code rc, struct dtx_err *err)
{
	char column[sizeof(err->column)], input[sizeof(err->input)];

	if (rc != DTX_E_RETYPE || !err)
		return rc;
	dtx_str_copy(column, sizeof(column), dtx_str_of(err->column));
	dtx_str_copy(input, sizeof(input), dtx_str_of(err->input));
	dtx_err_clear(err);
	dtx_err_set(err, DTX_E_PARAM_CONFLICT, __FILE__, __LINE__,
	            "column '%s' of input '%s' has a different type than its first rows show, and "
	            "a stream cannot be read again",
	            column, input);
	dtx_err_hint(err, "declare its type in \"types\"");
	return DTX_E_PARAM_CONFLICT;
}

/* --- widening --- */

static bool widens(const struct dtx_inputset *x, const struct dtx_column_needs *push,
                   uint32_t input, uint32_t col, bool any)
{
	const struct dtx_field *f = &x->schema[input]->field[col];
	const uint8_t *need = push->need ? push->need[input] : NULL;

	return f->guessed && f->type.type != DTX_T_TEXT &&
	       (any || (need && need[col] == DTX_NEED_VALUE));
}

/* Sets the exact types of the guessed columns of one input. *n: how many columns were read. */
static enum dtx_code infer_input(struct dtx_inputset *x, const struct dtx_column_needs *push,
                                 uint32_t i, bool any, uint32_t *n, struct dtx_err *err)
{
	struct dtx_arena *a = x->arena;
	struct dtx_schema *s = dtx_schema_copy(a, x->schema[i]);
	bool *want = dtx_arena_zalloc(a, x->schema[i]->nfields + 1u, sizeof(*want));
	struct dtx_typeref *type = dtx_arena_zalloc(a, x->schema[i]->nfields + 1u, sizeof(*type));
	struct dtx_field *field;
	enum dtx_code rc = DTX_OK;

	if (!s || !want || !type)
		DTX_FAIL_MEM(err);
	*n = 0;
	for (uint32_t c = 0; c < s->nfields; c++)
		*n += want[c] = widens(x, push, i, c, any);
	if (!*n)
		goto out;
	DTX_ASSERT(x->reader[i]->cls->infer != NULL, err);
	DTX_TRY(x->reader[i]->cls->infer(x->reader[i], want, type, x->workers, err));
	field = (struct dtx_field *)(uintptr_t)s->field; /* s is this function's own copy */
	for (uint32_t c = 0; c < s->nfields; c++)
		if (want[c]) {
			field[c].type = type[c];
			field[c].guessed = false;
		}
	x->schema[i] = s;
out:
	return rc;
}

static bool is_input(const struct dtx_inputset *x, uint32_t i, const struct dtx_err *why)
{
	if (!x->reader[i])
		return false;
	return !why->input[0] || strcmp(why->input, x->plan->input[i].name) == 0 ||
	       strcmp(why->input, dtx_source_name(x->source[i])) == 0;
}

int32_t dtx_inputset_find(const struct dtx_inputset *x, const struct dtx_err *why)
{
	for (uint32_t i = 0; i < x->plan->ninputs; i++)
		if (is_input(x, i, why))
			return (int32_t)i;
	return -1;
}

/* The first round looks at the columns whose values are needed. Where none of them is a guess, all
 * guessed columns are looked at. */
enum dtx_code dtx_inputset_widen(struct dtx_inputset *x, const struct dtx_column_needs *push,
                                 const struct dtx_err *why, struct dtx_err *err)
{
	uint32_t total = 0, n = 0;
	enum dtx_code rc = DTX_OK;

	for (int any = 0; any < 2 && !total; any++)
		for (uint32_t i = 0; i < x->plan->ninputs; i++)
			if (is_input(x, i, why)) {
				DTX_TRY(infer_input(x, push, i, any, &n, err));
				total += n;
			}
	DTX_ASSERT(total > 0, err);
out:
	return rc;
}

/* --- repair --- */

enum dtx_code dtx_inputset_repair(struct dtx_inputset *x, const struct dtx_err *why, bool *again,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*again = false;
	for (uint32_t i = 0; x->reader && i < x->plan->ninputs && !*again; i++) {
		if (!is_input(x, i, why) || !dtx_repair_take(&x->fix[i], why, &x->opts[i]))
			continue;
		dtx_reader_close(x->reader[i]);
		x->reader[i] = NULL;
		DTX_TRY(open_input(x, i, err));
		*again = true;
	}
out:
	return rc;
}

void dtx_inputset_close(struct dtx_inputset *x)
{
	for (uint32_t i = 0; x->reader && i < x->plan->ninputs; i++)
		dtx_reader_close(x->reader[i]);
	x->reader = NULL;
	dtx_errlist_clear(&x->repaired);
}
