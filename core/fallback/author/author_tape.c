/* Recorded answers: DIR/<SHA-256 of the prompt>.json holds
 * {"v":1,"answer","model","usage","finish"}. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/fallback/author/author.h"
#include "core/fallback/prompt/extract.h"

/* the longest answer as JSON, with every byte escaped */
#define TAPE_MAX (DTX_ANSWER_MAX * 6 + 65536)

static void tape_path(const struct dtx_author *a, const struct dtx_author_ask *ask,
                      struct dtx_buf *path)
{
	dtx_buf_printf(path, "%s/%s.json", a->folder, ask->hash);
}

static enum dtx_code tape_play(const char *path, struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(TAPE_MAX);
	struct dtx_json_limits limits = { TAPE_MAX, 8 };
	const json_t *answer;
	json_t *tape = NULL;

	DTX_TRY(dtx_file_slurp(path, &text, err));
	DTX_TRY(dtx_json_parse(dtx_buf_str(&text), limits, &tape, err));
	answer = json_object_get(tape, "answer");
	if (dtx_json_int(tape, "v", 0) != 1 || !json_is_string(answer))
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "'%s' is not a recorded answer of version 1",
		         path);
	dtx_buf_addn(&out->text, json_string_value(answer), json_string_length(answer));
	dtx_author_usage(json_object_get(tape, "usage"), out);
	dtx_str_copy(out->model, sizeof(out->model), dtx_str_of(dtx_json_text(tape, "model", "")));
	dtx_str_copy(out->finish, sizeof(out->finish),
	             dtx_str_of(dtx_json_text(tape, "finish", "")));
out:
	dtx_buf_clear(&text);
	json_decref(tape);
	return rc;
}

static json_t *tape_json(const struct dtx_author_answer *got)
{
	json_t *usage = json_object();
	json_t *tape;

	if (got->in_tokens >= 0)
		json_object_set_new(usage, "input_tokens", json_integer(got->in_tokens));
	if (got->out_tokens >= 0)
		json_object_set_new(usage, "output_tokens", json_integer(got->out_tokens));
	if (got->cost >= 0)
		json_object_set_new(usage, "cost", json_real((double)got->cost / 1e6));
	tape = json_pack("{si so ss ss so}", "v", 1, "answer",
	                 json_stringn(got->text.ptr ? got->text.ptr : "", got->text.len), "finish",
	                 got->finish, "model", got->model, "usage", usage);
	return tape;
}

/* Writes the whole file under another name and renames it, because another run may be reading
 * it. */
static enum dtx_code tape_write(const char *path, struct dtx_str text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf temp = DTX_BUF_INIT(8192);
	int fd = -1;

	dtx_buf_printf(&temp, "%s.%ld", path, (long)getpid());
	(void)unlink(dtx_buf_text(&temp)); /* left by a process that was killed */
	fd = open(dtx_buf_text(&temp), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot write '%s': %s", path, strerror(errno));
	DTX_TRY(dtx_file_write(fd, text.ptr, text.len, path, err));
	if (rename(dtx_buf_text(&temp), path) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot write '%s': %s", path, strerror(errno));
out:
	if (rc != DTX_OK && fd >= 0)
		(void)unlink(dtx_buf_text(&temp));
	dtx_file_close(&fd);
	dtx_buf_clear(&temp);
	return rc;
}

static enum dtx_code tape_record(const struct dtx_author *a, const char *path,
                                 struct dtx_author_answer *got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(TAPE_MAX);
	json_t *tape;

	dtx_secrets_scrub_buf(a->secrets, &got->text);
	tape = tape_json(got);
	if (!tape)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the answer is not UTF-8 text");
	if (mkdir(a->folder, 0700) < 0 && errno != EEXIST)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot make '%s': %s", a->folder, strerror(errno));
	dtx_json_print(tape, 1, &text);
	dtx_buf_addc(&text, '\n');
	DTX_TRY(dtx_buf_check(&text, "recorded answer", err));
	DTX_TRY(tape_write(path, (struct dtx_str){ text.ptr, text.len }, err));
out:
	json_decref(tape);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code tape_ask(const struct dtx_author *a, const struct dtx_author_ask *ask,
                              struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf path = DTX_BUF_INIT(8192);

	tape_path(a, ask, &path);
	DTX_TRY(dtx_buf_check(&path, "path", err));
	if (a->inner) {
		DTX_TRY(a->inner->ask(a->inner, ask, out, err));
		DTX_TRY(tape_record(a, dtx_buf_text(&path), out, err));
		goto out;
	}
	if (access(dtx_buf_text(&path), F_OK) < 0) {
		snprintf(out->outcome, sizeof(out->outcome), "no cassette");
		rc = dtx_err_set(err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
		                 "no recorded answer '%s'", dtx_buf_text(&path));
		dtx_err_hint(err, "--cassette-record with an author makes one");
		goto out;
	}
	DTX_TRY(tape_play(dtx_buf_text(&path), out, err));
out:
	dtx_buf_clear(&path);
	return rc;
}

void dtx_author_cassette(struct dtx_author *a, const char *folder, const struct dtx_author *inner)
{
	a->transport = inner ? inner->transport : "cassette";
	a->model = inner ? inner->model : "";
	a->ask = tape_ask;
	a->folder = folder;
	a->inner = inner;
}
