/* Authors write snippets: a command (`cmd`), a server (`url`), or a folder of recorded answers
 * (`cassette`).
 *
 * An author is a const description with one function. A call blocks until the answer is
 * complete, the time is up, or the run is cancelled. Every failure is author_failed (or
 * cancelled). The answer is not judged here. */
#ifndef DTX_FALLBACK_AUTHOR_AUTHOR_H
#define DTX_FALLBACK_AUTHOR_AUTHOR_H

#include "core/base/text/json.h"
#include "core/fallback/author/secret.h"

#define DTX_AUTHOR_TIMEOUT_MS 120000
#define DTX_AUTHOR_SAID_MAX   ((size_t)16 << 10) /* bytes kept of a command's stderr */
#define DTX_AUTHOR_REPLY_MAX  ((size_t)4 << 20)  /* bytes of a server's reply */

struct dtx_author_ask { /* everything is borrowed */
	struct dtx_str prompt;
	size_t system_len; /* the first bytes of the prompt are the system message */
	const char *hash;  /* hex SHA-256 of the prompt */
	int64_t timeout_ms;
	bool (*cancelled)(void *arg); /* NULL: never */
	void *cancel_arg;
};

struct dtx_author_answer {
	struct dtx_buf text;           /* at most DTX_ANSWER_MAX bytes */
	struct dtx_buf said;           /* what a command printed to stderr */
	char model[128];               /* as the author reported it, otherwise as requested */
	char finish[24];               /* "length": the answer was cut off */
	char outcome[24];              /* for the record: "ok", "timeout", "http 429" and so on */
	int64_t in_tokens, out_tokens; /* never negative after the call */
	bool estimated;                /* the author reported no tokens; they are bytes / 4 */
	int64_t cost;                  /* in millionths of the currency; -1: not reported */
	int64_t dur_us;
};
void dtx_author_answer_init(struct dtx_author_answer *a);
void dtx_author_answer_clear(struct dtx_author_answer *a);

struct dtx_author {
	const char *transport; /* "cmd", "url", "cassette" */
	const char *model;     /* the requested model; "": the author decides */
	enum dtx_code (*ask)(const struct dtx_author *a, const struct dtx_author_ask *ask,
	                     struct dtx_author_answer *out, struct dtx_err *err);
	const struct dtx_secrets *secrets; /* never appear in an answer or a message; NULL: none */
	/* Waits before another request; returns false if cancelled. NULL: waits by the clock. */
	bool (*pause)(void *arg, int64_t ms);
	void *pause_arg;
	/* for cmd */
	const char *command;
	const char *hide; /* a variable that the command must not see; NULL: none */
	/* for url */
	const char *base, *key; /* key NULL: none */
	/* for cassette */
	const char *folder;
	/* asked if there is no recorded answer, and recorded; NULL: replay only */
	const struct dtx_author *inner;
};

/* Sets the author's function and fields. Texts are borrowed. */
void dtx_author_cmd(struct dtx_author *a, const char *command, const char *hide);
/* `base` must be https, or http to this machine, without a user in the address. A model is
 * required. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_author_url(struct dtx_author *a, const char *base, const char *model,
                                         const char *key, struct dtx_err *err);
void dtx_author_cassette(struct dtx_author *a, const char *folder, const struct dtx_author *inner);

/* Asks once. `out` must be initialised; it also describes a call that failed. Tokens are
 * estimated if the author reported none. Errors: author_failed, cancelled. */
DTX_MUSTUSE enum dtx_code dtx_author_call(const struct dtx_author *a,
                                          const struct dtx_author_ask *ask,
                                          struct dtx_author_answer *out, struct dtx_err *err);

/* Reads what authors report about a call: model, input_tokens or prompt_tokens, output_tokens or
 * completion_tokens, cost (number, or decimal as text). What is missing stays as it was. */
void dtx_author_usage(const json_t *usage, struct dtx_author_answer *out);
/* Fails with cancelled or author_failed if the run is cancelled or the deadline (in time of
 * dtx_now_ns) has passed. */
DTX_MUSTUSE enum dtx_code dtx_author_alive(const struct dtx_author_ask *ask, int64_t deadline_ns,
                                           struct dtx_author_answer *out, struct dtx_err *err);

#endif
