/* An author behind a server with OpenAI's API. libcurl is loaded at the first call, so that a
 * run that asks no author does not pay for it. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/base/lib.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/fallback/author/author.h"

#define URL_CONNECT_MS 10000
#define URL_TRIES      3
#define URL_WAIT_MAX_S 60
#define URL_ANSWER     8192 /* tokens */
#define URL_SHOWN      160  /* bytes of a server's message that are shown */

#define URL_FUNCTIONS(X)                                                                           \
	X(curl_global_init_mem)                                                                    \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_perform)                                                                       \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)

#undef curl_easy_setopt
#undef curl_easy_getinfo
struct url_lib {
#define X(name) __typeof__(&(name)) name;
	URL_FUNCTIONS(X)
#undef X
};

/* One call: up to URL_TRIES requests until its deadline. */
struct url {
	struct url_lib lib;
	const struct dtx_author *author;
	const struct dtx_author_ask *ask;
	CURL *curl;
	struct curl_slist *headers;
	struct dtx_buf address, body, reply;
	int64_t deadline_ns;
	long status;     /* of the last request; 0: no reply */
	CURLcode failed; /* CURLE_OK: there was a reply */
	int64_t retry_after_s;
};

/* --- the library --- */

static void *url_calloc(size_t n, size_t size)
{
	return dtx_mem_zalloc(n, size);
}

static enum dtx_code url_load(struct url_lib *lib, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_lib_symbol symbol[] = {
#define X(name) { #name, (void **)&lib->name },
		URL_FUNCTIONS(X)
#undef X
	};

	rc = dtx_lib_open("libcurl.so.4", "libcurl4", false, symbol, DTX_COUNT(symbol), err);
	if (rc != DTX_OK && err)
		err->code = DTX_E_AUTHOR_FAILED;
	if (rc != DTX_OK)
		return DTX_E_AUTHOR_FAILED;
	if (lib->curl_global_init_mem(CURL_GLOBAL_DEFAULT, dtx_mem_hook_alloc, dtx_mem_free,
	                              dtx_mem_hook_realloc, dtx_mem_strdup, url_calloc) != CURLE_OK)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "libcurl does not start");
out:
	return rc;
}

/* --- the request --- */

static enum dtx_code url_body(struct url *u, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str p = u->ask->prompt;
	size_t head = u->ask->system_len;
	json_t *body = json_pack("{ss s[{ss ss%} {ss ss%}] si si si sb}", "model", u->author->model,
	                         "messages", "role", "system", "content", p.ptr, head, "role",
	                         "user", "content", p.ptr + head, p.len - head, "temperature", 0,
	                         "seed", 1, "max_tokens", URL_ANSWER, "stream", 0);

	if (!body)
		DTX_FAIL_MEM(err);
	dtx_json_print(body, 0, &u->body);
	dtx_buf_printf(&u->address, "%s%schat/completions", u->author->base,
	               u->author->base[strlen(u->author->base) - 1] == '/' ? "" : "/");
	DTX_TRY(dtx_buf_check(&u->body, "request", err));
	DTX_TRY(dtx_buf_check(&u->address, "address", err));
out:
	json_decref(body);
	return rc;
}

static bool url_header(struct url *u, const char *text)
{
	struct curl_slist *more = u->lib.curl_slist_append(u->headers, text);

	if (more)
		u->headers = more;
	return more;
}

static enum dtx_code url_headers(struct url *u, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf line = DTX_BUF_INIT(8192);

	if (!url_header(u, "Content-Type: application/json") ||
	    !url_header(u, "Accept: application/json") || !url_header(u, "Expect:"))
		DTX_FAIL_MEM(err);
	if (!u->author->key)
		goto out;
	dtx_buf_printf(&line, "Authorization: Bearer %s", u->author->key);
	DTX_TRY(dtx_buf_check(&line, "key", err));
	if (!url_header(u, dtx_buf_text(&line)))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&line);
	return rc;
}

static size_t url_take(char *bytes, size_t size, size_t n, void *arg)
{
	struct dtx_buf *reply = arg;

	dtx_buf_addn(reply, bytes, size * n);
	return dtx_buf_ok(reply) ? size * n : 0;
}

/* libcurl calls this about once a second and whenever data moves. */
static int url_progress(void *arg, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal,
                        curl_off_t ulnow)
{
	const struct url *u = arg;

	(void)dltotal, (void)dlnow, (void)ultotal, (void)ulnow;
	return u->ask->cancelled && u->ask->cancelled(u->ask->cancel_arg);
}

static bool url_is_loopback(const char *base)
{
	return !strncmp(base, "http://", 7);
}

static enum dtx_code url_options(struct url *u, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool local = url_is_loopback(u->author->base);
	CURLcode bad = CURLE_OK;

#define SET(option, value)                                                                         \
	(bad = bad == CURLE_OK ? u->lib.curl_easy_setopt(u->curl, option, value) : bad)
	SET(CURLOPT_URL, dtx_buf_text(&u->address));
	SET(CURLOPT_PROTOCOLS_STR, local ? "http" : "https");
	SET(CURLOPT_FOLLOWLOCATION, 0L); /* a redirect would send the prompt elsewhere */
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_HTTPHEADER, u->headers);
	SET(CURLOPT_POSTFIELDS, u->body.ptr);
	SET(CURLOPT_POSTFIELDSIZE, (long)u->body.len);
	SET(CURLOPT_WRITEFUNCTION, url_take);
	SET(CURLOPT_WRITEDATA, &u->reply);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, url_progress);
	SET(CURLOPT_XFERINFODATA, u);
	if (local)
		SET(CURLOPT_NOPROXY, "*");
#undef SET
	if (bad != CURLE_OK)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "libcurl refuses an option: %s",
		         u->lib.curl_easy_strerror(bad));
out:
	return rc;
}

static int64_t url_left_ms(const struct url *u)
{
	return (u->deadline_ns - dtx_now_ns()) / 1000000;
}

static void url_perform(struct url *u)
{
	int64_t left = DTX_MAX(url_left_ms(u), (int64_t)1);
	curl_off_t after = 0;

	dtx_buf_reset(&u->reply);
	u->status = 0;
	u->lib.curl_easy_setopt(u->curl, CURLOPT_TIMEOUT_MS, (long)left);
	u->lib.curl_easy_setopt(u->curl, CURLOPT_CONNECTTIMEOUT_MS,
	                        (long)DTX_MIN(left, (int64_t)URL_CONNECT_MS));
	u->failed = u->lib.curl_easy_perform(u->curl);
	u->lib.curl_easy_getinfo(u->curl, CURLINFO_RESPONSE_CODE, &u->status);
	u->lib.curl_easy_getinfo(u->curl, CURLINFO_RETRY_AFTER, &after);
	u->retry_after_s = (int64_t)after;
}

/* --- another try --- */

static bool url_may_retry(const struct url *u)
{
	if (u->failed == CURLE_COULDNT_CONNECT || u->failed == CURLE_COULDNT_RESOLVE_HOST)
		return true;
	return u->failed == CURLE_OK && (u->status == 408 || u->status == 425 || u->status == 429 ||
	                                 (u->status >= 500 && u->status < 600));
}

static bool url_sleep(const struct url *u, int64_t ms)
{
	for (; ms > 0; ms -= 100) {
		if (u->ask->cancelled && u->ask->cancelled(u->ask->cancel_arg))
			return false;
		(void)poll(NULL, 0, (int)DTX_MIN(ms, (int64_t)100));
	}
	return true;
}

/* Waits for the time that the server asks for. Returns false if no time would be left for
 * another request. */
static bool url_pause(const struct url *u, int tried)
{
	int64_t ms = 1000 * (u->retry_after_s > 0 ? u->retry_after_s : tried);

	if (ms > URL_WAIT_MAX_S * 1000 || ms >= url_left_ms(u))
		return false;
	return u->author->pause ? u->author->pause(u->author->pause_arg, ms) : url_sleep(u, ms);
}

/* --- the reply --- */

/* Finds the server's message in {"error": {"message": ...}} or {"error": ...}, on one line. */
static void url_server_says(const struct url *u, char out[URL_SHOWN])
{
	struct dtx_json_limits limits = { DTX_AUTHOR_REPLY_MAX, 32 };
	const json_t *error;
	json_t *reply = NULL;
	const char *text = NULL;
	size_t i;

	out[0] = '\0';
	if (u->reply.len && dtx_json_parse((struct dtx_str){ u->reply.ptr, u->reply.len }, limits,
	                                   &reply, NULL) == DTX_OK) {
		error = json_object_get(reply, "error");
		text = json_is_string(error) ? json_string_value(error)
		                             : dtx_json_text(error, "message", NULL);
	}
	if (text)
		dtx_secrets_copy(u->author->secrets, dtx_str_of(text), out, URL_SHOWN);
	for (i = 0; out[i]; i++) {
		if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
			out[i] = ' ';
	}
	json_decref(reply);
}

static enum dtx_code url_bad_status(const struct url *u, struct dtx_author_answer *out,
                                    struct dtx_err *err)
{
	char says[URL_SHOWN];

	url_server_says(u, says);
	snprintf(out->outcome, sizeof(out->outcome), "http %ld", u->status);
	dtx_err_set(err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__, "the server answered %ld%s%s",
	            u->status, says[0] ? ": " : "", says);
	if (u->status == 401 || u->status == 403)
		dtx_err_hint(err, "put the key into the variable that --author-key-env names");
	else if (u->status == 404)
		dtx_err_hint(err, "--author-url is the address up to /v1; --author-model a name "
		                  "that the server knows");
	else if (u->status >= 300 && u->status < 400)
		dtx_err_hint(err, "redirects are not followed: give the final address");
	return DTX_E_AUTHOR_FAILED;
}

static enum dtx_code url_not_done(const struct url *u, struct dtx_author_answer *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (u->failed == CURLE_ABORTED_BY_CALLBACK)
		DTX_FAIL(err, DTX_E_CANCELLED, "cancelled while asking the author");
	if (u->failed == CURLE_OPERATION_TIMEDOUT && url_left_ms(u) <= 0)
		return dtx_author_alive(u->ask, 0, out, err);
	if (!dtx_buf_ok(&u->reply))
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the server's reply has more than %zu MiB",
		         DTX_AUTHOR_REPLY_MAX >> 20);
	snprintf(out->outcome, sizeof(out->outcome), "transport %d", (int)u->failed);
	DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "'%s': %s", dtx_buf_text((void *)(uintptr_t)&u->address),
	         u->lib.curl_easy_strerror(u->failed));
out:
	return rc;
}

static enum dtx_code url_read(const struct url *u, struct dtx_author_answer *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_json_limits limits = { DTX_AUTHOR_REPLY_MAX, 32 };
	struct dtx_str text = { u->reply.ptr ? u->reply.ptr : "", u->reply.len };
	json_t *reply = NULL;
	const json_t *choice, *content;

	if (dtx_json_parse(text, limits, &reply, NULL) != DTX_OK) {
		snprintf(out->outcome, sizeof(out->outcome), "bad reply");
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the server's reply is not JSON");
	}
	dtx_author_usage(json_object_get(reply, "usage"), out);
	dtx_secrets_copy(u->author->secrets,
	                 dtx_str_of(dtx_json_text(reply, "model", u->author->model)), out->model,
	                 sizeof(out->model));
	choice = json_array_get(json_object_get(reply, "choices"), 0);
	dtx_str_copy(out->finish, sizeof(out->finish),
	             dtx_str_of(dtx_json_text(choice, "finish_reason", "")));
	content = json_object_get(json_object_get(choice, "message"), "content");
	if (!json_is_string(content)) {
		snprintf(out->outcome, sizeof(out->outcome), "bad reply");
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED,
		         "the server's reply has no text at /choices/0/message/content");
	}
	dtx_buf_addn(&out->text, json_string_value(content), json_string_length(content));
out:
	json_decref(reply);
	return rc;
}

/* --- the call --- */

static enum dtx_code url_start(struct url *u, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(url_load(&u->lib, err));
	u->curl = u->lib.curl_easy_init();
	if (!u->curl)
		DTX_FAIL_MEM(err);
	DTX_TRY(url_body(u, err));
	DTX_TRY(url_headers(u, err));
	DTX_TRY(url_options(u, err));
out:
	return rc;
}

static enum dtx_code url_ask(const struct dtx_author *a, const struct dtx_author_ask *ask,
                             struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct url u = { .author = a,
		         .ask = ask,
		         .address = DTX_BUF_INIT(8192),
		         .body = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		         .reply = DTX_BUF_INIT(DTX_AUTHOR_REPLY_MAX),
		         .deadline_ns = dtx_now_ns() + ask->timeout_ms * 1000000 };
	int tried;

	DTX_TRY(url_start(&u, err));
	for (tried = 1;; tried++) {
		url_perform(&u);
		if (tried == URL_TRIES || !url_may_retry(&u) || !url_pause(&u, tried))
			break;
	}
	if (u.failed != CURLE_OK)
		rc = url_not_done(&u, out, err);
	else if (u.status < 200 || u.status >= 300)
		rc = url_bad_status(&u, out, err);
	else
		rc = url_read(&u, out, err);
out:
	if (u.curl)
		u.lib.curl_easy_cleanup(u.curl);
	if (u.headers)
		u.lib.curl_slist_free_all(u.headers);
	dtx_buf_clear(&u.address);
	dtx_buf_clear(&u.body);
	dtx_buf_clear(&u.reply);
	return rc;
}

/* --- the address --- */

static bool url_plain_ok(struct dtx_str rest)
{
	static const char *const host[] = { "127.0.0.1", "localhost", "[::1]" };
	size_t i, k;

	for (i = 0; i < DTX_COUNT(host); i++) {
		size_t len = strlen(host[i]);

		if (rest.len < len || memcmp(rest.ptr, host[i], len) != 0)
			continue;
		k = len;
		if (k < rest.len && rest.ptr[k] == ':')
			for (k++; k < rest.len && rest.ptr[k] >= '0' && rest.ptr[k] <= '9'; k++)
				;
		return k == rest.len || rest.ptr[k] == '/';
	}
	return false;
}

static bool url_bytes_ok(const char *text, const char *also)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f ||
		    strchr(also, *text))
			return false;
	}
	return true;
}

enum dtx_code dtx_author_url(struct dtx_author *a, const char *base, const char *model,
                             const char *key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool secure = !strncmp(base, "https://", 8) && base[8];

	if (!secure && strncmp(base, "http://", 7) != 0)
		DTX_FAIL(err, DTX_E_USAGE, "--author-url '%s': expected https://HOST/v1", base);
	if (!url_bytes_ok(base, "@\\?#\"<>"))
		DTX_FAIL(err, DTX_E_USAGE,
		         "--author-url: expected an address without user, query and blanks");
	if (!secure && !url_plain_ok(dtx_str_of(base + 7)))
		DTX_FAIL(err, DTX_E_USAGE,
		         "--author-url '%s': without https only 127.0.0.1, localhost or [::1]",
		         base);
	if (!model || !model[0])
		DTX_FAIL(err, DTX_E_USAGE, "option '--author-url' needs --author-model NAME");
	if (key && !url_bytes_ok(key, ""))
		DTX_FAIL(
			err, DTX_E_USAGE,
			"the key of --author-url has blanks or other bytes that a key cannot have");
	a->transport = "url";
	a->ask = url_ask;
	a->base = base;
	a->model = model;
	a->key = key && key[0] ? key : NULL;
out:
	return rc;
}
