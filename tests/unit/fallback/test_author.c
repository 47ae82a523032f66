/* Authors: commands, servers on loopback, cassettes.  Keys must not leave the place where they
 * are. */
#include <sys/prctl.h>

#include "core/fallback/author/author.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/fallback/prompt/extract.h"
#include "tests/t.h"

#define PROMPT "You write modules.\nINTERFACE\nDefine transform.\n"
#define KEY    "sk-canary-0123456789"

struct call {
	struct dtx_author author;
	struct dtx_secrets secrets;
	struct dtx_author_answer got;
	struct dtx_err err;
	int64_t timeout_ms;
	int64_t waited[8];
	size_t nwaited;
	bool (*cancelled)(void *arg);
};

static bool note_pause(void *arg, int64_t ms)
{
	struct call *c = arg;

	if (c->nwaited < DTX_COUNT(c->waited))
		c->waited[c->nwaited++] = ms;
	return true;
}

static void call_init(struct call *c)
{
	*c = (struct call){ .err = DTX_ERR_INIT, .timeout_ms = 60000 };
	dtx_author_answer_init(&c->got);
	c->author.secrets = &c->secrets;
	c->author.pause = note_pause;
	c->author.pause_arg = c;
}

static void call_clear(struct call *c)
{
	dtx_author_answer_clear(&c->got);
	dtx_err_clear(&c->err);
}

static enum dtx_code call(struct call *c)
{
	char hash[DTX_SHA256_HEX];
	struct dtx_author_ask ask = { .prompt = DTX_STR(PROMPT),
		                      .system_len = strlen("You write modules.\n"),
		                      .hash = hash,
		                      .timeout_ms = c->timeout_ms,
		                      .cancelled = c->cancelled };

	dtx_sha256_hex(PROMPT, strlen(PROMPT), hash);
	dtx_author_answer_clear(&c->got);
	dtx_err_clear(&c->err);
	c->nwaited = 0;
	return dtx_author_call(&c->author, &ask, &c->got, &c->err);
}

/* --- commands --- */

/* A system call that fails, at each place where it is made. */
static bool author_says(const char *name, int error, const char *says)
{
	bool said = false, met = true;

	for (int nth = 0; met && nth < 30; nth++) {
		struct call c;
		enum dtx_code rc;

		call_init(&c);
		dtx_author_cmd(&c.author, "true", NULL);
		t_fail_call(name, nth, error);
		rc = call(&c);
		met = t_failed_call();
		said = said || (rc == DTX_E_AUTHOR_FAILED && strstr(c.err.msg, says) &&
		                strstr(c.err.msg, strerror(error)));
		call_clear(&c);
	}
	return said;
}

void test_author_command_calls_fail(void)
{
	T_CHECK(author_says("pipe2", EMFILE, "cannot make a pipe: "));
	T_CHECK(author_says("fcntl", EMFILE, "cannot make a pipe: "));
	T_CHECK(author_says("memfd_create", EMFILE, "cannot keep the prompt: "));
	T_CHECK(author_says("posix_spawn", ENOMEM, "cannot start /bin/sh: "));
	T_CHECK(author_says("waitpid", ECHILD, "the author is gone: "));
}

void test_author_command(void)
{
	struct call c;

	call_init(&c);
	dtx_author_cmd(&c.author,
	               "cat; echo said >&2; "
	               "echo '{\"model\":\"m\",\"input_tokens\":7,\"output_tokens\":3,"
	               "\"cost\":\"0.25\"}' >&3",
	               NULL);
	T_OK(call(&c), &c.err);
	T_STR(dtx_buf_text(&c.got.text), PROMPT);
	T_STR(dtx_buf_text(&c.got.said), "said\n");
	T_STR(c.got.model, "m");
	T_STR(c.got.outcome, "ok");
	T_INT(c.got.in_tokens, 7);
	T_INT(c.got.out_tokens, 3);
	T_INT(c.got.cost, 250000);
	T_CHECK(!c.got.estimated);
	/* the answer does not count tokens, so they are estimated as bytes / 4, and that is
	 * recorded */
	dtx_author_cmd(&c.author, "echo 12345678; echo nonsense >&3", NULL);
	T_OK(call(&c), &c.err);
	T_CHECK(c.got.estimated);
	T_INT(c.got.in_tokens, strlen(PROMPT) / 4);
	T_INT(c.got.out_tokens, 9 / 4);
	T_INT(c.got.cost, -1);
	/* a command need not read its prompt */
	dtx_author_cmd(&c.author, "true", NULL);
	T_OK(call(&c), &c.err);
	T_INT(c.got.text.len, 0);
	call_clear(&c);
}

static bool always(void *arg)
{
	(void)arg;
	return true;
}

void test_author_command_fails(void)
{
	struct call c;

	call_init(&c);
	dtx_author_cmd(&c.author, "echo first >&2; echo 'no such model' >&2; exit 3", NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.err.msg, "the author ended with status 3: no such model");
	T_STR(c.got.outcome, "status 3");
	dtx_author_cmd(&c.author, "kill -9 $$", NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.err.msg, "the author was ended by signal 9");
	dtx_author_cmd(&c.author, "head -c 300000 /dev/zero | tr '\\0' x; sleep 1000", NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.err.msg, "the answer has more than 256 KiB");
	c.timeout_ms = 50;
	dtx_author_cmd(&c.author, "sleep 1000 & sleep 1000", NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.got.outcome, "timeout");
	c.cancelled = always;
	c.timeout_ms = 60000;
	T_CODE(call(&c), DTX_E_CANCELLED, &c.err);
	call_clear(&c);
}

/* A process that the command leaves running does not delay the run, and is ended. */
void test_author_command_group(void)
{
	struct call c;

	call_init(&c);
	dtx_author_cmd(&c.author, "sleep 1000 & echo $!", NULL);
	T_OK(call(&c), &c.err);
	T_CHECK(c.got.text.len > 1);
	for (int i = 0;
	     i < 1000 && kill((pid_t)strtol(dtx_buf_text(&c.got.text), NULL, 10), 0) == 0; i++) {
		char path[64], state[64] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%ld/stat",
		         strtol(dtx_buf_text(&c.got.text), NULL, 10));
		f = fopen(path, "r");
		if (!f || !fgets(state, sizeof(state), f) || strstr(state, ") Z")) {
			if (f)
				fclose(f);
			break;
		}
		fclose(f);
		T_CHECK(i < 999);
		usleep(10000);
	}
	T_STR(c.got.outcome, "ok");
	call_clear(&c);
}

void test_author_command_sees_no_key(void)
{
	struct call c;

	setenv("DTX_AUTHOR_KEY", KEY, 1);
	setenv("OTHER_TOKEN", KEY "-other", 1);
	call_init(&c);
	T_CHECK(dtx_secrets_find(&c.secrets, environ));
	dtx_author_cmd(&c.author, "env; env >&2; env | grep OTHER >&2; exit 1", "DTX_AUTHOR_KEY");
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	unsetenv("DTX_AUTHOR_KEY");
	unsetenv("OTHER_TOKEN");
	T_CHECK(!strstr(dtx_buf_text(&c.got.text), "DTX_AUTHOR_KEY"));
	/* output that is not the answer is not kept */
	T_CHECK(strstr(dtx_buf_text(&c.got.text), "OTHER_TOKEN=<secret>"));
	T_CHECK(!strstr(dtx_buf_text(&c.got.text), KEY));
	T_CHECK(!strstr(dtx_buf_text(&c.got.said), KEY));
	T_CHECK(!strstr(c.err.msg, KEY));
	call_clear(&c);
}

/* --- servers --- */

struct server {
	pid_t pid;
	int stdin_fd;
	char base[64];
};

static bool server_start(struct server *s)
{
	int in[2], out[2];
	char port[16] = "";
	size_t used = 0;
	ssize_t n;

	if (access("/usr/bin/python3", X_OK) || access("tests/unit/author_server.py", R_OK)) {
		t_skip("no /usr/bin/python3, or not started in the source folder");
		return false;
	}
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	s->pid = fork();
	if (!s->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/usr/bin/python3", "python3", "-S", "tests/unit/author_server.py", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	s->stdin_fd = in[1];
	/* read the whole line: closing the pipe too early would end the server */
	while (used + 1 < sizeof(port) && !strchr(port, '\n') &&
	       (n = read(out[0], port + used, sizeof(port) - 1 - used)) > 0)
		used += (size_t)n;
	close(out[0]);
	T_CHECK(strchr(port, '\n') != NULL);
	snprintf(s->base, sizeof(s->base), "http://127.0.0.1:%d", (int)strtol(port, NULL, 10));
	return true;
}

static void server_stop(struct server *s)
{
	close(s->stdin_fd);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static enum dtx_code call_url(struct call *c, const struct server *s, const char *name)
{
	char base[96];
	enum dtx_code rc;

	snprintf(base, sizeof(base), "%s/%s", s->base, name);
	T_OK(dtx_author_url(&c->author, base, "tiny", KEY, &c->err), &c->err);
	rc = call(c);
	c->author.base = NULL;
	return rc;
}

static const struct served {
	const char *name, *message, *outcome; /* message NULL: there is an answer */
	size_t pauses;
	int64_t first_pause;
} served[] = {
	{ "ok", NULL, "ok", 0, 0 },
	{ "plain", NULL, "ok", 0, 0 },
	{ "busy", NULL, "ok", 1, 7000 },
	{ "weak", NULL, "ok", 2, 1000 },
	{ "long_busy", "the server answered 429", "http 429", 0, 0 },
	{ "broken", "the server answered 503: no model is loaded", "http 503", 2, 1000 },
	{ "cut", "transfer closed", "transport 18", 0, 0 },
	{ "dropped", "", "transport 52", 0, 0 },
	{ "text", "the server's reply is not JSON", "bad reply", 0, 0 },
	{ "empty", "/choices/0/message/content", "bad reply", 0, 0 },
	{ "null", "/choices/0/message/content", "bad reply", 0, 0 },
	{ "moved", "the server answered 302", "http 302", 0, 0 },
	{ "denied", "the server answered 401: no such key: Bearer <secret>", "http 401", 0, 0 },
	{ "huge", "the server's reply has more than 4 MiB", "failed", 0, 0 },
};

static void served_check(struct call *c, const struct server *s, const struct served *row)
{
	enum dtx_code rc = call_url(c, s, row->name);

	T_CODE(rc, row->message ? DTX_E_AUTHOR_FAILED : DTX_OK, &c->err);
	if (row->message && !strstr(c->err.msg, row->message) && strcmp(row->name, "cut"))
		t_fail(__FILE__, __LINE__, "%s: %s", row->name, c->err.msg);
	if (!row->message && !strstr(dtx_buf_text(&c->got.text), "def transform"))
		t_fail(__FILE__, __LINE__, "%s: no answer", row->name);
	T_STR(c->got.outcome, row->outcome);
	T_INT(c->nwaited, row->pauses);
	if (row->pauses)
		T_INT(c->waited[0], row->first_pause);
	T_CHECK(!strstr(c->err.msg, KEY));
}

void test_author_server(void)
{
	struct server s;
	struct call c;
	size_t i;

	if (!server_start(&s))
		return;
	call_init(&c);
	T_CHECK(dtx_secrets_add(&c.secrets, KEY));
	for (i = 0; i < DTX_COUNT(served); i++)
		served_check(&c, &s, &served[i]);
	T_OK(call_url(&c, &s, "ok"), &c.err);
	T_STR(c.got.model, "tiny-1");
	T_INT(c.got.in_tokens, 120);
	T_INT(c.got.out_tokens, 30);
	T_INT(c.got.cost, 2100);
	T_CHECK(!c.got.estimated);
	T_OK(call_url(&c, &s, "plain"), &c.err);
	T_CHECK(c.got.estimated);
	T_OK(call_url(&c, &s, "length"), &c.err);
	T_STR(c.got.finish, "length");
	/* a key that comes back in an answer is not passed on */
	T_OK(call_url(&c, &s, "echo"), &c.err);
	T_CHECK(strstr(dtx_buf_text(&c.got.text), "# Bearer <secret>"));
	c.timeout_ms = 200;
	T_CODE(call_url(&c, &s, "slow"), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.got.outcome, "timeout");
	c.timeout_ms = 60000;
	c.cancelled = always;
	T_CODE(call_url(&c, &s, "slow"), DTX_E_CANCELLED, &c.err);
	call_clear(&c);
	server_stop(&s);
}

/* If nothing listens on the port there are three tries, then the reason. */
void test_author_server_is_down(void)
{
	struct call c;

	call_init(&c);
	T_OK(dtx_author_url(&c.author, "http://127.0.0.1:1/v1/", "tiny", NULL, &c.err), &c.err);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_INT(c.nwaited, 2);
	T_INT(c.waited[1], 2000);
	T_CHECK(strstr(c.err.msg, "http://127.0.0.1:1/v1/chat/completions"));
	call_clear(&c);
}

void test_author_request(void)
{
	struct server s;
	struct call c;
	char command[160];
	json_t *seen = NULL;
	const json_t *body, *messages;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);

	if (!server_start(&s))
		return;
	call_init(&c);
	T_OK(call_url(&c, &s, "ok"), &c.err);
	/* our own command author reads the requests that the server received */
	snprintf(command, sizeof(command),
	         "/usr/bin/python3 -c 'import urllib.request as u;"
	         "print(u.urlopen(\"%s/seen\").read().decode())'",
	         s.base);
	dtx_author_cmd(&c.author, command, NULL);
	T_OK(call(&c), &c.err);
	T_OK(dtx_json_parse((struct dtx_str){ c.got.text.ptr, c.got.text.len },
	                    (struct dtx_json_limits){ 1 << 20, 16 }, &seen, &c.err),
	     &c.err);
	body = json_object_get(json_array_get(seen, 0), "body");
	messages = json_object_get(body, "messages");
	T_STR(dtx_json_text(json_array_get(seen, 0), "path", ""), "/ok/chat/completions");
	T_STR(dtx_json_text(json_array_get(seen, 0), "auth", ""), "Bearer " KEY);
	T_STR(dtx_json_text(json_array_get(messages, 0), "content", ""), "You write modules.\n");
	T_STR(dtx_json_text(json_array_get(messages, 1), "content", ""),
	      "INTERFACE\nDefine transform.\n");
	T_STR(dtx_json_text(body, "model", ""), "tiny");
	T_INT(dtx_json_int(body, "max_tokens", 0), 8192);
	T_INT(dtx_json_int(body, "seed", 0), 1);
	T_CHECK(json_is_false(json_object_get(body, "stream")));
	T_INT(dtx_json_int(body, "temperature", -1), 0);
	json_decref(seen);
	dtx_buf_clear(&text);
	call_clear(&c);
	server_stop(&s);
}

void test_author_address(void)
{
	static const char *const good[] = { "https://api.example.com/v1", "http://127.0.0.1/v1",
		                            "http://localhost:11434/v1", "http://[::1]:80" };
	static const char *const bad[] = {
		"http://example.com/v1",
		"ftp://127.0.0.1",
		"http://127.0.0.1@evil/v1",
		"https://user:pw@example.com/v1",
		"http://127.0.0.1.evil/",
		"http://localhostile/v1",
		"https://",
		"http://127.0.0.1:80x/",
		"https://a b/",
		"http://127.0.0.1\\@evil/",
		"localhost:8080",
		"https://a/?k=v",
	};
	struct dtx_author a = { .transport = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(good); i++)
		T_OK(dtx_author_url(&a, good[i], "m", NULL, &err), &err);
	for (i = 0; i < DTX_COUNT(bad); i++)
		T_CODE(dtx_author_url(&a, bad[i], "m", NULL, &err), DTX_E_USAGE, &err);
	T_CODE(dtx_author_url(&a, good[0], "", NULL, &err), DTX_E_USAGE, &err);
	T_CODE(dtx_author_url(&a, good[0], "m", "key\r\nX: y", &err), DTX_E_USAGE, &err);
	T_CHECK(!strstr(err.msg, "key\r"));
}

/* --- cassettes --- */

void test_author_cassette(void)
{
	struct call c;
	struct dtx_author inner = { .transport = NULL };
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s/tape", t_dir());
	call_init(&c);
	T_CHECK(dtx_secrets_add(&c.secrets, KEY));
	dtx_author_cassette(&c.author, folder, NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_STR(c.got.outcome, "no cassette");
	T_STR(c.author.transport, "cassette");
	/* it is recorded once, then replayed without the author and without the key */
	dtx_author_cmd(&inner,
	               "printf 'h\\303\\251 " KEY
	               "'; echo '{\"model\":\"m\",\"input_tokens\":7}' >&3",
	               NULL);
	dtx_author_cassette(&c.author, folder, &inner);
	T_OK(call(&c), &c.err);
	T_STR(c.author.transport, "cmd");
	dtx_author_cassette(&c.author, folder, NULL);
	T_OK(call(&c), &c.err);
	T_STR(dtx_buf_text(&c.got.text), "h\xc3\xa9 <secret>");
	T_STR(c.got.model, "m");
	T_INT(c.got.in_tokens, 7);
	T_CHECK(c.got.estimated);
	call_clear(&c);
}

/* An answer that cannot be recorded. */
void test_author_cassette_cannot_be_written(void)
{
	static const struct {
		const char *folder, *answer, *call, *says;
		int error;
	} list[] = {
		{ "tape", "printf '\\377'", NULL, "the answer is not UTF-8 text", 0 },
		{ "no/tape", "echo x", NULL, "cannot make '", ENOENT },
		{ "tape", "echo x", "open", "cannot write '", EACCES },
		{ "tape", "echo x", "rename", "cannot write '", EXDEV },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_author inner = { .transport = NULL };
		bool said = false;
		char folder[400];

		snprintf(folder, sizeof(folder), "%s/%s", t_dir(), list[i].folder);
		for (int nth = 0; !said && nth < 5; nth++) {
			struct call c;

			call_init(&c);
			dtx_author_cmd(&inner, list[i].answer, NULL);
			dtx_author_cassette(&c.author, folder, &inner);
			if (list[i].call)
				t_fail_call(list[i].call, nth, list[i].error);
			said = call(&c) != DTX_OK && strstr(c.err.msg, list[i].says) &&
			       (!list[i].error || strstr(c.err.msg, strerror(list[i].error)));
			(void)t_failed_call();
			call_clear(&c);
		}
		if (!said)
			t_fail(__FILE__, __LINE__, "%zu: no '%s'", i, list[i].says);
	}
}

void test_author_cassette_is_no_json(void)
{
	struct call c;
	char path[4096], hash[DTX_SHA256_HEX];
	FILE *f;

	dtx_sha256_hex(PROMPT, strlen(PROMPT), hash);
	snprintf(path, sizeof(path), "%s/%s.json", t_dir(), hash);
	f = fopen(path, "w");
	fputs("{\"v\":2,\"answer\":\"x\"}", f);
	fclose(f);
	call_init(&c);
	dtx_author_cassette(&c.author, t_dir(), NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_CHECK(strstr(c.err.msg, "not a recorded answer of version 1"));
	call_clear(&c);
}

/* --- secrets --- */

/* If not everything can be kept from the author, it is not asked. */
void test_secrets_too_many(void)
{
	static char text[DTX_SECRETS_MAX + 1][32];
	struct dtx_secrets s = { .n = 0 };

	for (int i = 0; i <= DTX_SECRETS_MAX; i++) {
		snprintf(text[i], sizeof(text[i]), "secret-number-%d", i);
		T_CHECK(dtx_secrets_add(&s, text[i]) == (i < DTX_SECRETS_MAX));
	}
	T_CHECK(dtx_secrets_add(&s, text[0])); /* it is in the set already */
}

void test_secrets(void)
{
	char *const environment[] = { (char *)"OPENAI_API_KEY=abcdefgh1234",
		                      (char *)"HOME=/home/abcdefgh", (char *)"SHORT_KEY=abc",
		                      (char *)"MY_PASSWORD=abcdefgh", NULL };
	struct dtx_secrets s = { .n = 0 };
	struct dtx_buf out = DTX_BUF_INIT(1 << 10);
	char cut[8];

	T_CHECK(dtx_secrets_find(&s, environment));
	T_INT(s.n, 2);
	dtx_secrets_scrub(&s, DTX_STR("abcdefgh1234, abcdefgh and abc"), &out);
	T_STR(dtx_buf_text(&out), "<secret>, <secret> and abc");
	dtx_buf_reset(&out);
	dtx_secrets_scrub(NULL, DTX_STR("abcdefgh"), &out);
	T_STR(dtx_buf_text(&out), "abcdefgh");
	dtx_secrets_scrub_buf(&s, &out);
	T_STR(dtx_buf_text(&out), "<secret>");
	dtx_buf_clear(&out);
	/* the text is cut after keys are removed, so no part of a key is left */
	dtx_secrets_copy(&s, DTX_STR("is abcdefgh1234"), cut, sizeof(cut));
	T_STR(cut, "is <sec");
}

/* Names and last lines that repeat a key, at the place where they are cut. */
void test_author_key_is_not_cut(void)
{
	struct call c;

	call_init(&c);
	T_CHECK(dtx_secrets_add(&c.secrets, KEY));
	dtx_author_cmd(&c.author,
	               "printf '%150s' " KEY " >&2; echo '{\"model\":\"" KEY "\"}' >&3; exit 1",
	               NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_CHECK(strstr(c.err.msg, "<secret>"));
	T_STR(c.got.model, "<secret>");
	call_clear(&c);
	call_init(&c);
	T_CHECK(dtx_secrets_add(&c.secrets, KEY));
	dtx_author_cmd(&c.author, "printf 'x%154s" KEY "' '' >&2; exit 1", NULL);
	T_CODE(call(&c), DTX_E_AUTHOR_FAILED, &c.err);
	T_CHECK(!strstr(c.err.msg, "sk-"));
	call_clear(&c);
}

void test_secrets_memory_shut(void)
{
	dtx_secrets_shut_memory();
	T_INT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
	T_INT(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}
