/* Who writes a snippet: a command, a server, a folder of recorded answers.
 *
 * An author is a const description and one function; asking blocks until the answer is whole, the
 * time is up, or the run is cancelled.  Whatever goes wrong on the way is author_failed (or
 * cancelled); what the answer is worth is for others to say. */
#ifndef DTX_FALLBACK_AUTHOR_AUTHOR_H
#define DTX_FALLBACK_AUTHOR_AUTHOR_H

#include "core/base/text/json.h"
#include "core/fallback/author/secret.h"

#define DTX_AUTHOR_TIMEOUT_MS 120000
#define DTX_AUTHOR_SAID_MAX   ((size_t)16 << 10) /* kept of a command's stderr */
#define DTX_AUTHOR_REPLY_MAX  ((size_t)4 << 20)  /* a server's reply */

struct dtx_author_ask { /* borrowed */
	struct dtx_str prompt;
	size_t system_len; /* its first bytes are the system message */
	const char *hash;  /* hex SHA-256 of the prompt */
	int64_t timeout_ms;
	bool (*cancelled)(void *arg); /* NULL: never */
	void *cancel_arg;
};

struct dtx_author_answer {
	struct dtx_buf text;           /* at most DTX_ANSWER_MAX bytes */
	struct dtx_buf said;           /* what a command printed to stderr */
	char model[128];               /* as reported, else as asked */
	char finish[24];               /* "length": the answer was cut */
	char outcome[24];              /* "ok", "timeout", "http 429" ...: for the record */
	int64_t in_tokens, out_tokens; /* after the call never negative */
	bool estimated;                /* nobody told; bytes / 4 */
	int64_t cost;                  /* millionths of the currency; -1: nobody told */
	int64_t dur_us;
};
void dtx_author_answer_init(struct dtx_author_answer *a);
void dtx_author_answer_clear(struct dtx_author_answer *a);

struct dtx_author {
	const char *transport; /* "cmd", "url", "cassette" */
	const char *model;     /* asked for; "": the author decides */
	enum dtx_code (*ask)(const struct dtx_author *a, const struct dtx_author_ask *ask,
	                     struct dtx_author_answer *out, struct dtx_err *err);
	const struct dtx_secrets *secrets; /* never in an answer or a message; NULL */
	/* waits before another try, returns false when cancelled; NULL: by the clock */
	bool (*pause)(void *arg, int64_t ms);
	void *pause_arg;
	/* cmd */
	const char *command;
	const char *hide; /* variable that the command does not see; NULL */
	/* url */
	const char *base, *key; /* key NULL: none */
	/* cassette */
	const char *folder;
	const struct dtx_author *inner; /* asked and recorded; NULL: replay only */
};

/* Fills the author's function and fields; texts are borrowed. */
void dtx_author_cmd(struct dtx_author *a, const char *command, const char *hide);
/* https, or http to loopback; no user in the address; needs a model.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_author_url(struct dtx_author *a, const char *base, const char *model,
                                         const char *key, struct dtx_err *err);
void dtx_author_cassette(struct dtx_author *a, const char *folder, const struct dtx_author *inner);

/* Asks once.  `out` (initialised) also tells of a failed call.  Tokens that nobody counted are
 * estimated. */
DTX_MUSTUSE enum dtx_code dtx_author_call(const struct dtx_author *a,
                                          const struct dtx_author_ask *ask,
                                          struct dtx_author_answer *out, struct dtx_err *err);

/* What authors say of a call: model, input_tokens or prompt_tokens, output_tokens or
 * completion_tokens, cost (number or decimal text).  What is not there stays. */
void dtx_author_usage(const json_t *usage, struct dtx_author_answer *out);
/* Whether the run is cancelled or the deadline (dtx_now_ns) has passed: cancelled, author_failed.
 */
DTX_MUSTUSE enum dtx_code dtx_author_alive(const struct dtx_author_ask *ask, int64_t deadline_ns,
                                           struct dtx_author_answer *out, struct dtx_err *err);

#endif
