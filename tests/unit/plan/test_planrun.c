/* The helper that runs plans over CSV texts, and its own test. */
#include "tests/unit/planrun.h"

void planrun_init(struct planrun *p, const char *plan, const char *input)
{
	*p = (struct planrun){
		.plan = plan, .input = { input }, .workers = 1, .fallback = -1, .err = DTX_ERR_INIT
	};
	dtx_buf_init(&p->out, DTX_BUF_TEXT_MAX);
}

static void forget(struct planrun *p)
{
	dtx_exec_free(p->result);
	dtx_plan_free(p->parsed);
	p->result = NULL;
	p->parsed = NULL;
}

void planrun_clear(struct planrun *p)
{
	forget(p);
	dtx_buf_clear(&p->out);
	dtx_err_clear(&p->err);
	dtx_errlist_clear(&p->findings);
}

static bool needs_quotes(struct dtx_str s, char delim)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == delim || s.ptr[i] == '"' || s.ptr[i] == '\n' || s.ptr[i] == '\r')
			return true;
	return s.len == 0;
}

static void add_cell(struct dtx_str s, bool quoted, struct dtx_buf *out)
{
	if (!quoted && !needs_quotes(s, ',')) {
		dtx_buf_adds(out, s);
		return;
	}
	dtx_buf_addc(out, '"');
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"')
			dtx_buf_addc(out, '"');
		dtx_buf_addc(out, s.ptr[i]);
	}
	dtx_buf_addc(out, '"');
}

static void add_value(const struct dtx_column *c, uint32_t row, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool quoted = c && c->form == DTX_F_SPAN && (c->v.span[row].len & DTX_SPAN_QUOTED);

	if (c && !dtx_column_is_null(c, row)) {
		dtx_cast_print(c, row, &text);
		add_cell(dtx_buf_str(&text), quoted, out);
	}
	dtx_buf_clear(&text);
}

void planrun_table(struct dtx_table *t, struct dtx_buf *out)
{
	for (uint32_t c = 0; c < t->schema->nfields; c++) {
		if (c)
			dtx_buf_addc(out, ',');
		add_cell(dtx_str_of(t->schema->field[c].name), false, out);
	}
	dtx_buf_addc(out, '\n');
	for (size_t i = 0; i < t->nbatches; i++)
		for (uint32_t k = 0; k < t->batch[i]->nsel; k++) {
			uint32_t row = t->batch[i]->sel ? t->batch[i]->sel[k] : k;

			for (uint32_t c = 0; c < t->schema->nfields; c++) {
				if (c)
					dtx_buf_addc(out, ',');
				add_value(t->batch[i]->col[c], row, out);
			}
			dtx_buf_addc(out, '\n');
		}
}

static enum dtx_code run_parsed(struct planrun *p)
{
	struct dtx_source *source[DTX_PLAN_INPUTS] = { NULL };
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	enum dtx_code rc = DTX_OK;

	if (p->book)
		rc = dtx_source_bytes("in.xlsx", p->book->ptr, p->book->len, &source[0], &p->err);
	else if (p->path)
		rc = dtx_source_open(p->path, &source[0], &p->err);
	for (uint32_t i = 0; i < 4 && rc == DTX_OK; i++)
		if (p->input[i])
			rc = dtx_source_bytes("in.csv", p->input[i], strlen(p->input[i]),
			                      &source[i], &p->err);
	opts.input = source;
	opts.workers = p->workers;
	opts.batch_rows = p->batch_rows;
	opts.fallback = p->fallback;
	opts.max_regions = p->max_regions;
	opts.cancel = p->cancel;
	opts.look = p->look;
	opts.look_arg = p->look_arg;
	if (rc == DTX_OK)
		rc = dtx_exec(p->parsed, &opts, p->host, &p->findings, &p->result, &p->err);
	if (rc == DTX_OK)
		planrun_table(p->result->output[0].table, &p->out);
	for (uint32_t i = 0; i < 4; i++)
		dtx_source_free(source[i]);
	return rc;
}

enum dtx_code planrun(struct planrun *p)
{
	enum dtx_code rc;

	forget(p);
	dtx_buf_reset(&p->out);
	dtx_err_clear(&p->err);
	dtx_errlist_clear(&p->findings);
	rc = dtx_plan_parse(dtx_str_of(p->plan), NULL, &p->findings, &p->parsed, &p->err);
	if (rc == DTX_OK)
		rc = dtx_plan_check(p->parsed, &p->findings, &p->err);
	if (rc == DTX_OK)
		rc = run_parsed(p);
	if (rc != DTX_OK && p->err.code == DTX_OK && dtx_errlist_worst(&p->findings))
		dtx_err_copy(&p->err, dtx_errlist_worst(&p->findings));
	if (!p->keep) {
		if (rc == DTX_OK)
			forget(p);
	}
	return rc;
}

static void plancase_one(const struct plancase *c, const struct dtx_buf *book, uint32_t batch,
                         unsigned workers)
{
	struct planrun p;
	enum dtx_code rc;

	planrun_init(&p, c->plan, c->in);
	p.book = c->in ? NULL : book;
	p.batch_rows = batch;
	p.workers = workers;
	rc = planrun(&p);
	T_STR(rc == DTX_OK ? dtx_buf_text(&p.out) : dtx_code_name(rc), c->out);
	if (rc != DTX_OK && strcmp(dtx_code_name(rc), c->out) != 0)
		t_fail(__FILE__, __LINE__, "%s: %s", c->plan, p.err.msg);
	planrun_clear(&p);
}

void plancases(const struct plancase *list, size_t n, const struct dtx_buf *book)
{
	for (size_t i = 0; i < n; i++) {
		plancase_one(&list[i], book, 1, 2);
		plancase_one(&list[i], book, 7, 1);
		plancase_one(&list[i], book, 65536, 8);
	}
}

void test_planrun_passes_cells_through(void)
{
	struct planrun p;

	planrun_init(&p, "[{\"op\":\"limit\",\"n\":9}]", "a,b\n1.50,\"x\"\n,\"\"\n");
	T_OK(planrun(&p), &p.err);
	T_STR(dtx_buf_text(&p.out), "a,b\n1.50,\"x\"\n,\"\"\n");
	planrun_clear(&p);
}
