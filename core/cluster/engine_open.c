/* Addresses of engines, see engine.h. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/cluster/engine.h"

static enum dtx_code bad_address(const char *address, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                               "--engine '%s': expected local://N, dask://HOST:PORT or "
	                               "dask+tls://HOST:PORT?ca=FILE&cert=FILE&key=FILE",
	                               address);

	dtx_err_hint(err, "--engine local://4 reads the inputs in 4 processes; ?bytes=B at its end "
	                  "says how many bytes each part has");
	return rc;
}

static bool read_number(struct dtx_str text, int64_t most, int64_t *out)
{
	return text.len && dtx_num_parse_i64(text.ptr, text.len, out) && *out >= 1 && *out <= most;
}

/* Takes `prefix` off the begin of *rest, if it is there. */
static bool take(struct dtx_str *rest, const char *prefix)
{
	struct dtx_str p = dtx_str_of(prefix);

	if (!dtx_str_starts(*rest, p))
		return false;
	*rest = (struct dtx_str){ rest->ptr + p.len, rest->len - p.len };
	return true;
}

static char *join(const char *a, struct dtx_str b)
{
	size_t size = strlen(a) + b.len + 1;
	char *text = dtx_mem_alloc(size, 1);

	if (text)
		snprintf(text, size, "%s%.*s", a, (int)b.len, b.ptr);
	return text;
}

/* One of the settings after the question mark. *oom is set where memory is out. */
static bool read_setting(struct dtx_str s, struct dtx_engine_address *a, bool *oom)
{
	char **file = NULL;
	int64_t n;

	if (take(&s, "bytes=")) {
		if (!read_number(s, (int64_t)1 << 40, &n))
			return false;
		a->bytes = (uint64_t)n;
		return true;
	}
	if (take(&s, "silence=")) {
		if (!read_number(s, 1000000, &n))
			return false;
		a->silence_s = (unsigned)n;
		return true;
	}
	if (take(&s, "ca="))
		file = &a->ca;
	else if (take(&s, "cert="))
		file = &a->cert;
	else if (take(&s, "key="))
		file = &a->key;
	if (!file || !s.len || *file)
		return false;
	*file = join("", s);
	*oom = *oom || !*file;
	return true;
}

static enum dtx_code no_files(struct dtx_engine_address *a, struct dtx_err *err)
{
	char **const file[] = { &a->ca, &a->cert, &a->key };
	enum dtx_code rc = DTX_OK;

	for (int i = 0; i < 3; i++) {
		if (!*file[i])
			*file[i] = dtx_mem_strdup("");
		if (!*file[i])
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

enum dtx_code dtx_engine_address(const char *text, struct dtx_engine_address *out,
                                 struct dtx_err *err)
{
	struct dtx_str rest = dtx_str_of(text), head, setting;
	bool local, tls, oom = false;
	const char *mark;
	int64_t n = 0;
	enum dtx_code rc = DTX_OK;

	local = take(&rest, "local://");
	tls = !local && take(&rest, "dask+tls://");
	if (!local && !tls && !take(&rest, "dask://"))
		return bad_address(text, err);
	mark = memchr(rest.ptr, '?', rest.len);
	head = (struct dtx_str){ rest.ptr, mark ? (size_t)(mark - rest.ptr) : rest.len };
	if (mark) {
		rest = (struct dtx_str){ mark + 1, rest.len - head.len - 1 };
		while (dtx_str_next(&rest, '&', &setting))
			if (!read_setting(setting, out, &oom))
				return bad_address(text, err);
	}
	if (oom)
		DTX_FAIL_MEM(err);
	/* all three files with TLS, and only then */
	if (!out->ca != !tls || !out->cert != !tls || !out->key != !tls)
		return bad_address(text, err);
	if (local) {
		if (!read_number(head, DTX_ENGINE_SLOTS, &n))
			return bad_address(text, err);
		out->slots = (unsigned)n;
		return DTX_OK;
	}
	if (!head.len)
		return bad_address(text, err);
	DTX_TRY(no_files(out, err));
	out->scheduler = join(tls ? "tls://" : "tcp://", head);
	if (!out->scheduler)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_engine_address_clear(struct dtx_engine_address *a)
{
	dtx_mem_free(a->scheduler);
	dtx_mem_free(a->ca);
	dtx_mem_free(a->cert);
	dtx_mem_free(a->key);
	*a = (struct dtx_engine_address){ .bytes = 0 };
}

enum dtx_code dtx_engine_open(const struct dtx_engine_address *a, const char *exchange,
                              struct dtx_engine **out, struct dtx_err *err)
{
	return a->scheduler ? dtx_engine_dask(a, exchange, out, err)
	                    : dtx_engine_local(a->slots, a->silence_s, out, err);
}
