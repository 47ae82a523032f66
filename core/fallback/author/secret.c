/* Keeps secrets from leaving the process, see secret.h. */
#include "core/fallback/author/secret.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/memory/mem.h"

void dtx_secrets_leave_block(void)
{
	char **own, *text;
	size_t n = 0, bytes = 0, at;

	for (; environ && environ[n]; n++)
		bytes += strlen(environ[n]) + 1;
	at = (n + 1) * sizeof(*own);
	own = dtx_mem_alloc(at + bytes, 1);
	if (!own)
		return;
	text = (char *)own + at;
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(environ[i]) + 1;

		own[i] = memcpy(text, environ[i], len);
		text += len;
		explicit_bzero(environ[i], len);
	}
	own[n] = NULL;
	environ = own; /* kept until the process ends */
}

void dtx_secrets_shut_memory(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool dtx_secrets_add(struct dtx_secrets *s, const char *value)
{
	size_t i;

	if (!value || strlen(value) < DTX_SECRET_MIN)
		return true;
	for (i = 0; i < s->n; i++) {
		if (!strcmp(s->value[i], value))
			return true;
	}
	if (s->n == DTX_SECRETS_MAX)
		return false;
	s->value[s->n++] = value;
	return true;
}

/* Whether the name is like OPENAI_API_KEY, GITHUB_TOKEN or DB_PASSWORD. */
static bool secret_named(struct dtx_str name)
{
	static const char *const word[] = { "KEY", "TOKEN", "SECRET", "PASSWORD" };
	size_t i;

	for (i = 0; i < DTX_COUNT(word); i++) {
		if (dtx_str_find(name, dtx_str_of(word[i]), 0) >= 0)
			return true;
	}
	return false;
}

bool dtx_secrets_find(struct dtx_secrets *s, char *const *environment)
{
	for (; *environment; environment++) {
		const char *equals = strchr(*environment, '=');

		if (equals &&
		    secret_named(
			    (struct dtx_str){ *environment, (size_t)(equals - *environment) }) &&
		    !dtx_secrets_add(s, equals + 1))
			return false;
	}
	return true;
}

/* Length of the longest secret at the start of `text`, or 0. */
static size_t secret_at(const struct dtx_secrets *s, struct dtx_str text)
{
	size_t i, best = 0;

	for (i = 0; i < s->n; i++) {
		size_t len = strlen(s->value[i]);

		if (len > best && len <= text.len && !memcmp(s->value[i], text.ptr, len))
			best = len;
	}
	return best;
}

void dtx_secrets_scrub(const struct dtx_secrets *s, struct dtx_str text, struct dtx_buf *out)
{
	size_t pos = 0, from = 0, len;

	while (s && pos < text.len) {
		len = secret_at(s, (struct dtx_str){ text.ptr + pos, text.len - pos });
		if (!len) {
			pos++;
			continue;
		}
		dtx_buf_addn(out, text.ptr + from, pos - from);
		dtx_buf_add(out, "<secret>");
		from = pos += len;
	}
	dtx_buf_addn(out, text.ptr + from, text.len - from);
}

void dtx_secrets_scrub_buf(const struct dtx_secrets *s, struct dtx_buf *text)
{
	struct dtx_buf clean = DTX_BUF_INIT(text->max);

	if (!s || !s->n || !text->len)
		return;
	dtx_secrets_scrub(s, (struct dtx_str){ text->ptr, text->len }, &clean);
	dtx_buf_clear(text);
	*text = clean;
}

void dtx_secrets_copy(const struct dtx_secrets *s, struct dtx_str text, char *out, size_t size)
{
	struct dtx_buf clean = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_secrets_scrub(s, text, &clean);
	dtx_str_copy(out, size,
	             dtx_buf_ok(&clean) ? dtx_str_of(dtx_buf_text(&clean)) : DTX_STR(""));
	dtx_buf_clear(&clean);
}
