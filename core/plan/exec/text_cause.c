/* Reads a text column again and finds the first cell of the minority kind: cells are counted as
 * numbers, moments, bools or texts, and if most are not texts the first of the others is the
 * cause. */
#include "core/plan/exec/text_cause.h"

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/infer.h"

enum { NUMBERS, MOMENTS, BOOLS, TEXTS, GROUPS };

struct group {
	uint64_t n;
	uint64_t row;         /* of its first cell, counted from the first row */
	char value[81];       /* the cell's text, cut */
	struct dtx_err place; /* place only, without a message */
};
struct cause {
	const struct dtx_field *field;
	uint32_t col;
	uint64_t rows;
	struct group group[GROUPS];
};

static void count_groups(const struct dtx_infer *seen, uint64_t n[GROUPS])
{
	n[NUMBERS] = seen->ints + seen->floats + seen->codes;
	n[MOMENTS] = seen->dates + seen->datetimes;
	n[BOOLS] = seen->bools;
	n[TEXTS] = seen->texts;
}

/* Notes the first cell of group g, which is in this batch. */
static enum dtx_code first_cell(struct cause *k, const struct dtx_batch *b, int g,
                                struct dtx_err *err)
{
	struct group *to = &k->group[g];
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	struct dtx_column *one = NULL;
	enum dtx_code rc = DTX_OK;
	uint64_t n[GROUPS] = { 0 };

	for (uint32_t row = 0; row < b->nrows && !n[g]; row++) {
		struct dtx_infer seen = dtx_infer_again(k->field);

		DTX_TRY(dtx_column_slice(b->col[k->col], row, 1, &one, err));
		dtx_infer_column(&seen, one, 0);
		dtx_column_unref(one);
		one = NULL;
		count_groups(&seen, n);
		if (!n[g])
			continue;
		to->row = k->rows + row;
		dtx_cast_print(b->col[k->col], row, &text);
		dtx_str_copy(to->value, sizeof(to->value), dtx_buf_str(&text));
		dtx_batch_set_position(b, row, (int32_t)k->col, &to->place);
	}
out:
	dtx_column_unref(one);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code take_batch(struct cause *k, const struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_infer seen = dtx_infer_again(k->field);
	enum dtx_code rc = DTX_OK;
	uint64_t n[GROUPS];

	dtx_infer_column(&seen, b->col[k->col], 0);
	count_groups(&seen, n);
	for (int g = 0; g < GROUPS; g++) {
		if (n[g] && !k->group[g].n)
			DTX_TRY(first_cell(k, b, g, err));
		k->group[g].n += n[g];
	}
	k->rows += b->nrows;
out:
	return rc;
}

static enum dtx_code read_column(struct cause *k, struct dtx_reader *r,
                                 const struct dtx_schema *schema, struct dtx_err *err)
{
	uint8_t *need = dtx_mem_zalloc(schema->nfields + 1u, 1);
	struct dtx_scan scan = { .schema = schema, .need = need, .limit = -1, .workers = 1 };
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	if (!need)
		DTX_FAIL_MEM(err);
	need[k->col] = DTX_NEED_BYTES;
	DTX_TRY(r->cls->start(r, &scan, err));
	for (;;) {
		DTX_TRY(r->cls->next(r, 0, &b, err));
		if (!b)
			break;
		if (b->nrows && b->col[k->col])
			DTX_TRY(take_batch(k, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_mem_free(need);
	return rc;
}

/* Whether 1.200 is text only because a decimal comma was declared without the mark of groups. */
static bool lacks_group(const struct dtx_field *f, struct dtx_str value)
{
	return f->decimal_comma && !f->group && dtx_infer_groups(value, '.');
}

/* The group, other than the largest, whose first cell comes first. NULL: most cells are text, or
 * all are of one kind. Texts that lack only the mark of groups count as odd numbers, however many
 * there are. */
static const struct group *odd_group(const struct cause *k, int *most, uint64_t *odd)
{
	const struct group *first = NULL;

	*most = 0;
	*odd = 0;
	for (int g = 1; g < GROUPS; g++)
		if (k->group[g].n > k->group[*most].n)
			*most = g;
	if (lacks_group(k->field, dtx_str_trim(dtx_str_of(k->group[TEXTS].value))))
		*most = NUMBERS;
	for (int g = 0; g < GROUPS; g++) {
		const struct group *one = &k->group[g];

		if (g == *most || !one->n)
			continue;
		*odd += one->n;
		if (!first || one->row < first->row)
			first = one;
	}
	return *most == TEXTS ? NULL : first;
}

/* Says how texts become numbers. Marks are added where the value needs other ones than those that
 * parse_number has by default. */
static void add_number_remedy(const struct cause *k, struct dtx_str value, struct dtx_buf *out)
{
	struct dtx_infer marks = { 0 };

	dtx_infer_text(&marks, value, false, 0);
	if (lacks_group(k->field, value))
		dtx_buf_add(out,
		            "add \"group\": \".\" to the dialect of the input, or a parse_number "
		            "step before with \"decimal\": \",\", \"group\": \".\"");
	else if (k->field->decimal_comma || marks.commas)
		dtx_buf_add(out, "a parse_number step before with \"decimal\": \",\", \"group\": "
		                 "\".\" reads such values");
	else
		dtx_buf_add(out, "a parse_number step before reads such values");
}

/* Adds what to do about a key such as 01067 that is compared with ints: as a number it would be
 * another one. False: f is about something else. */
static bool add_key_remedy(struct dtx_str value, const struct dtx_err *f, struct dtx_buf *out)
{
	struct dtx_str rest = dtx_str_of(f->msg), word[5];

	if (value.len < 2 || value.ptr[0] != '0' || strspn(value.ptr, "0123456789") != value.len ||
	    strncmp(f->msg, "keys '", 6) != 0)
		return false;
	for (size_t i = 0; i < DTX_COUNT(word); i++) /* keys 'a' (text) and 'b' (int) ... */
		if (!dtx_str_next(&rest, '\'', &word[i]))
			return false;
	rest = dtx_str_starts(word[2], DTX_STR(" (text)")) ? word[3] : word[1];
	dtx_buf_printf(out,
	               "such values are codes, so declare '%.*s' of the other table as text too, "
	               "\"types\": {",
	               (int)DTX_MIN(rest.len, (size_t)40), rest.ptr);
	dtx_buf_json(out, rest);
	dtx_buf_add(out, ": \"text\"}");
	return true;
}

/* Adds what to do about the value. */
static void add_remedy(const struct cause *k, int most, const struct group *one,
                       const struct dtx_err *f, struct dtx_buf *out)
{
	bool digits = strpbrk(one->value, "0123456789") != NULL;
	struct dtx_str value = dtx_str_trim(dtx_str_of(one->value));

	if (one != &k->group[TEXTS]) {
		dtx_buf_add(out, "a cast step before with \"on_error\": \"null\" makes it null");
	} else if (digits && most == NUMBERS) {
		if (!add_key_remedy(value, f, out))
			add_number_remedy(k, value, out);
	} else if (digits && most == MOMENTS) {
		dtx_buf_add(out, "a parse_date step before reads such values");
	} else {
		dtx_buf_add(out, "\"null_values\": [");
		dtx_buf_json(out, dtx_str_of(one->value));
		dtx_buf_add(out, "] in the input makes it null");
	}
}

static void tell(const struct cause *k, const char *column, struct dtx_err *f)
{
	static const char *const kinds[] = { "numbers", "dates", "true and false" };
	struct dtx_buf remedy = DTX_BUF_INIT(1 << 10);
	const struct group *one;
	uint64_t odd;
	int most;

	one = odd_group(k, &most, &odd);
	if (!one)
		return;
	add_remedy(k, most, one, f, &remedy);
	dtx_err_hint(
		f, "column '%.60s' is text because of '%.60s'; %llu of its %llu values are %s: %s",
		column, one->value, (unsigned long long)k->group[most].n,
		(unsigned long long)(k->group[most].n + odd), kinds[most], dtx_buf_text(&remedy));
	f->column[0] = '\0';
	dtx_err_place(f, &one->place);
	dtx_buf_clear(&remedy);
}

/* Follows column c of table t back to the input that its cells come from. False: a step made
 * them. */
static bool back_to_input(const struct dtx_flow *flow, int32_t *t, int32_t *c)
{
	while ((uint32_t)*t >= flow->plan->ninputs) {
		const struct dtx_bind *b = flow->bind[(uint32_t)*t - flow->plan->ninputs];

		if (!b || ((uint32_t)*c < b->ncols && b->col[*c].altered) ||
		    !dtx_column_needs_through(flow, b, (uint32_t)*c, t, c))
			return false;
	}
	return true;
}

/* Looks for the cause in the column of that name. *found: it was found and added to f. */
static enum dtx_code look_at(const struct dtx_exec_run *x, uint32_t step, const char *column,
                             struct dtx_err *f, bool *found, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &x->plan->step[step];
	const struct dtx_flow *flow = &x->graph.flow;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < st->ntables && !*found; i++) {
		int32_t t = st->table[i];
		const struct dtx_schema *s = t < 0 ? NULL : flow->table[t].schema;
		int32_t c = s ? dtx_schema_find(s, column) : -1;
		struct cause k = { .rows = 0 };

		if (c < 0 || s->field[c].type.type != DTX_T_TEXT || !back_to_input(flow, &t, &c) ||
		    !x->in.reader[t] || x->in.reader[t]->spent || x->in.opts[t].stream)
			continue;
		s = x->in.schema[t];
		k.field = &s->field[c];
		k.col = (uint32_t)c;
		if (k.field->declared || k.field->type.type != DTX_T_TEXT)
			continue;
		for (int g = 0; g < GROUPS; g++)
			k.group[g].place = (struct dtx_err)DTX_ERR_INIT;
		DTX_TRY(read_column(&k, x->in.reader[t], s, err));
		tell(&k, column, f);
		*found = f->cell[0] != '\0';
	}
out:
	return rc;
}

enum dtx_code dtx_text_cause(const struct dtx_exec_run *x, uint32_t step, struct dtx_err *f,
                             struct dtx_err *err)
{
	struct dtx_str rest = dtx_str_of(f->msg), word;
	enum dtx_code rc = DTX_OK;
	bool found = (f->code != DTX_E_TYPE_MISMATCH && f->code != DTX_E_NOT_BOOLEAN) || f->cell[0];
	bool quoted = false;
	char column[sizeof(f->column)];

	if (found)
		goto out;
	dtx_str_copy(column, sizeof(column), dtx_str_of(f->column));
	f->column[0] = '\0';
	if (column[0])
		DTX_TRY(look_at(x, step, column, f, &found, err));
	/* other messages name their columns in quotes */
	for (; !found && !column[0] && dtx_str_next(&rest, '\'', &word); quoted = !quoted) {
		char name[sizeof(f->column)];

		dtx_str_copy(name, sizeof(name), word);
		if (quoted)
			DTX_TRY(look_at(x, step, name, f, &found, err));
	}
out:
	return rc;
}
