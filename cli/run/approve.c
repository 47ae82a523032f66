/* Asks for approval at the terminal, see approve.h. */
#include "cli/run/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "core/base/file.h"

static int approve_open(void)
{
	return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
}

bool dtx_approve_terminal(void)
{
	int fd = isatty(STDERR_FILENO) ? approve_open() : -1;
	bool there = fd >= 0;

	dtx_file_close(&fd);
	return there;
}

static void approve_row(struct dtx_buf *out, const char *label, const char *text)
{
	if (!text || !text[0] || !strcmp(text, "[]"))
		return;
	dtx_buf_printf(out, "  %-11s", label);
	dtx_out_safe(out, text, false);
	dtx_buf_addc(out, '\n');
}

static void approve_schema(struct dtx_buf *out, const struct dtx_schema *s)
{
	uint32_t i;

	if (!s)
		return;
	dtx_buf_add(out, "  result     ");
	for (i = 0; i < s->nfields && i < 40; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_out_safe(out, s->field[i].name, false);
		dtx_buf_printf(out, " %s", dtx_type_name(s->field[i].type.type));
	}
	dtx_buf_add(out, i < s->nfields ? " ...\n" : "\n");
}

/* Writes the size of the table before and after, if the snippet has run. */
static void approve_sizes(struct dtx_buf *out, const struct dtx_approval_view *v)
{
	dtx_buf_printf(out, "  before     %lld rows x %lld columns\n", (long long)v->rows_before,
	               (long long)v->cols_before);
	if (v->result)
		dtx_buf_printf(out, "  after      %lld rows x %lld columns%s\n",
		               (long long)v->rows_after, (long long)v->cols_after,
		               v->unchanged ? ": WARNING, nothing is changed" : "");
}

static void approve_checks(struct dtx_buf *out, const json_t *checks)
{
	size_t i, bad = 0, n = json_array_size(checks);
	json_t *row;

	json_array_foreach((json_t *)(uintptr_t)checks, i, row) bad +=
		!strcmp(dtx_json_text(row, "status", ""), "fail");
	if (n)
		dtx_buf_printf(out, "  checks     %zu passed, %zu warn\n", n - bad, bad);
}

void dtx_approve_text(const struct dtx_approval_view *v, struct dtx_buf *out)
{
	dtx_buf_printf(out, "dtx: snippet %.8s for %s", v->id, v->op ? "step " : "input ");
	dtx_out_safe(out, v->op ? v->op : "", false);
	dtx_buf_add(out, v->op ? " at " : "at ");
	dtx_out_safe(out, v->at ? v->at : "", false);
	dtx_buf_addc(out, '\n');
	approve_row(out, "from", v->origin);
	approve_row(out, "model", v->model);
	approve_row(out, "reads", v->needs);
	approve_row(out, "flags", v->flags);
	approve_row(out, "formulas", v->formulas);
	approve_row(out, "renames", v->adapter);
	approve_schema(out, v->result);
	approve_sizes(out, v);
	approve_checks(out, v->checks);
	if (v->disclosed)
		dtx_buf_printf(out, "  disclosed  %lld column names, %lld rows (--sample %s)\n",
		               (long long)v->disclosed->cols, (long long)v->disclosed->rows,
		               v->policy ? v->policy : "");
	dtx_buf_addc(out, '\n');
	if (v->code.len) {
		struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

		dtx_buf_adds(&code, v->code);
		dtx_out_safe(out, dtx_buf_text(&code), true);
		dtx_buf_clear(&code);
	}
	dtx_buf_add(out, "\nmay it run, now and from the cache? [y/N] ");
}

/* Reads one line without its end. A longer line is not an answer that is expected, and is cut. */
static bool approve_read(int fd, char line[64])
{
	size_t n = 0;
	char c = 0;
	ssize_t got;

	while (n + 1 < 64 && c != '\n') {
		got = read(fd, &c, 1);
		if (got < 0 && errno == EINTR)
			return false; /* by the signal that cancels the run */
		if (got <= 0)
			break;
		if (c != '\n' && c != '\r')
			line[n++] = c;
	}
	line[n] = '\0';
	return true;
}

enum dtx_code dtx_approve_ask(const struct dtx_approval_view *view, bool *yes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char line[64];
	int fd = approve_open();

	*yes = false;
	if (fd < 0)
		DTX_FAIL(err, DTX_E_NEEDS_APPROVAL, "there is no terminal to ask for approval");
	dtx_approve_text(view, &text);
	DTX_TRY(dtx_buf_check(&text, "question", err));
	DTX_TRY(dtx_file_write(fd, text.ptr, text.len, "/dev/tty", err));
	if (approve_read(fd, line))
		*yes = !strcmp(line, "y") || !strcmp(line, "yes");
out:
	dtx_file_close(&fd);
	dtx_buf_clear(&text);
	return rc;
}
