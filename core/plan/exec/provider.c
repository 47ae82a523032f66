/* What all providers share: the names of outcomes, the report and its JSON. */
#include "core/plan/exec/provider.h"

#include <string.h>
#include <inttypes.h>

#include "core/base/text/utf8.h"

static const struct {
	const char *name;
	enum dtx_code code;
} statuses[] = {
#define X(symbol, name, code) { name, code },
	DTX_JAIL_STATUSES(X)
#undef X
};

const char *const dtx_jail_profile_names[DTX_JAIL_PROFILES] = { "sealed", "lib-ro" };

const char *dtx_jail_status_name(enum dtx_jail_status status)
{
	return (size_t)status < DTX_COUNT(statuses) ? statuses[status].name : "unknown";
}

enum dtx_code dtx_jail_status_code(enum dtx_jail_status status)
{
	return (size_t)status < DTX_COUNT(statuses) ? statuses[status].code : DTX_E_BUG;
}

void dtx_jail_report_init(struct dtx_jail_report *r)
{
	memset(r, 0, sizeof(*r));
}

void dtx_jail_report_clear(struct dtx_jail_report *r)
{
	dtx_arena_clear(&r->arena);
	dtx_jail_report_init(r);
}

/* Whether code interpolates with a method that pandas takes from scipy. */
static bool interpolates(struct dtx_str code)
{
	static const char *const methods[] = {
		"nearest",    "zero",        "slinear", "quadratic", "cubic", "spline",
		"polynomial", "barycentric", "krogh",   "pchip",     "akima", "from_derivatives"
	};
	bool found = false;

	if (dtx_str_find(code, DTX_STR("interpolate"), 0) < 0)
		return false;
	for (size_t i = 0; i < DTX_COUNT(methods) && !found; i++)
		found = dtx_str_find(code, dtx_str_of(methods[i]), 0) >= 0;
	return found;
}

const char *const dtx_jail_science_names[] = { "scipy", "sklearn", "statsmodels", "seaborn",
	                                       "at-hand" };

unsigned dtx_jail_wants_science(struct dtx_str code)
{
	static const struct {
		const char *word;
		unsigned package;
	} words[] = {
		{ "scipy", DTX_JAIL_SCIPY },       { "kendall", DTX_JAIL_SCIPY },
		{ "win_type", DTX_JAIL_SCIPY },    { "kde", DTX_JAIL_SCIPY },
		{ ".density(", DTX_JAIL_SCIPY },   { "'density'", DTX_JAIL_SCIPY },
		{ "\"density\"", DTX_JAIL_SCIPY }, { "spmatrix", DTX_JAIL_SCIPY },
		{ "_coo", DTX_JAIL_SCIPY },        { "sklearn", DTX_JAIL_SKLEARN },
		{ "joblib", DTX_JAIL_SKLEARN },    { "statsmodels", DTX_JAIL_STATSMODELS },
		{ "patsy", DTX_JAIL_STATSMODELS }, { "seaborn", DTX_JAIL_SEABORN },
	};
	unsigned wants = interpolates(code) ? DTX_JAIL_SCIPY : 0;

	for (size_t i = 0; i < DTX_COUNT(words); i++)
		if (!(wants & words[i].package) &&
		    dtx_str_find(code, dtx_str_of(words[i].word), 0) >= 0)
			wants |= words[i].package;
	return wants;
}

bool dtx_jail_wants_rare(struct dtx_str code)
{
	static const char *const words[] = { "xml",        "read_html",     "html.parser",
		                             "np.testing", "numpy.testing", "recfunctions" };
	bool wants = false;

	for (size_t i = 0; i < DTX_COUNT(words) && !wants; i++)
		wants = dtx_str_find(code, dtx_str_of(words[i]), 0) >= 0;
	return wants;
}

/* --- JSON --- */

static void add_key(struct dtx_buf *out, const char *key)
{
	if (out->len && out->ptr[out->len - 1] != '{')
		dtx_buf_addc(out, ',');
	dtx_buf_json(out, dtx_str_of(key));
	dtx_buf_addc(out, ':');
}

static void add_text(struct dtx_buf *out, const char *key, const char *text)
{
	add_key(out, key);
	if (text)
		dtx_buf_json(out, dtx_str_of(text));
	else
		dtx_buf_add(out, "null");
}

static void add_int(struct dtx_buf *out, const char *key, int64_t v)
{
	add_key(out, key);
	dtx_buf_printf(out, "%" PRId64, v);
}

static void add_raw(struct dtx_buf *out, const char *key, const char *json)
{
	add_key(out, key);
	dtx_buf_add(out, json ? json : "null");
}

static void add_base64(struct dtx_buf *out, const char *bytes, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i;

	dtx_buf_addc(out, '"');
	for (i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)bytes[i] << 16;

		if (i + 1 < len)
			v |= (uint32_t)(unsigned char)bytes[i + 1] << 8;
		if (i + 2 < len)
			v |= (uint32_t)(unsigned char)bytes[i + 2];
		dtx_buf_addc(out, digit[v >> 18]);
		dtx_buf_addc(out, digit[v >> 12 & 63]);
		dtx_buf_addc(out, i + 1 < len ? digit[v >> 6 & 63] : '=');
		dtx_buf_addc(out, i + 2 < len ? digit[v & 63] : '=');
	}
	dtx_buf_addc(out, '"');
}

static void add_stream(struct dtx_buf *out, const char *key, const struct dtx_jail_stream *s)
{
	/* a zero byte is not text: JSON readers, dtx among them, refuse it in strings */
	bool text =
		!s->kept || (dtx_utf8_bad(s->bytes, s->kept) < 0 && !memchr(s->bytes, 0, s->kept));

	add_key(out, key);
	dtx_buf_addc(out, '{');
	add_key(out, text ? "text" : "base64");
	if (text)
		dtx_buf_json(out, (struct dtx_str){ s->bytes ? s->bytes : "", s->kept });
	else
		add_base64(out, s->bytes, s->kept);
	add_int(out, "total", (int64_t)s->total);
	add_raw(out, "truncated", s->truncated ? "true" : "false");
	dtx_buf_addc(out, '}');
}

static void add_exception(struct dtx_buf *out, const struct dtx_jail_report *r)
{
	uint32_t i;

	add_key(out, "exception");
	if (!r->exception.type) {
		dtx_buf_add(out, "null");
		return;
	}
	dtx_buf_addc(out, '{');
	add_text(out, "type", r->exception.type);
	add_text(out, "message", r->exception.message);
	add_int(out, "line", r->exception.line);
	add_key(out, "traceback");
	dtx_buf_addc(out, '[');
	for (i = 0; i < r->exception.nframes; i++) {
		const struct dtx_jail_frame *f = &r->exception.frame[i];

		dtx_buf_add(out, i ? ",{" : "{");
		add_int(out, "line", f->line);
		add_text(out, "function", f->function);
		add_text(out, "text", f->text);
		dtx_buf_addc(out, '}');
	}
	dtx_buf_add(out, "]}");
}

static void add_denied(struct dtx_buf *out, const struct dtx_jail_report *r)
{
	static const char *const verdicts[] = { "allowed", "refused", "killed" };
	uint32_t i;
	int k;

	add_int(out, "denied_total", (int64_t)r->denied_total);
	add_key(out, "denied");
	dtx_buf_addc(out, '[');
	for (i = 0; i < r->ndenied; i++) {
		const struct dtx_jail_denied *d = &r->denied[i];

		dtx_buf_add(out, i ? ",{" : "{");
		add_int(out, "nr", d->nr);
		add_text(out, "name", d->name);
		add_key(out, "args");
		for (k = 0; k < 6; k++)
			dtx_buf_printf(out, "%s\"0x%" PRIx64 "\"", k ? "," : "[", d->args[k]);
		dtx_buf_addc(out, ']');
		add_text(out, "verdict", verdicts[d->verdict]);
		add_int(out, "count", d->count);
		add_int(out, "at_us", d->at_us);
		dtx_buf_addc(out, '}');
	}
	dtx_buf_addc(out, ']');
}

static void add_measures(struct dtx_buf *out, const struct dtx_jail_report *r)
{
	add_key(out, "timings_us");
	dtx_buf_addc(out, '{');
	add_int(out, "queue", r->us.queue);
	add_int(out, "lease", r->us.lease);
	add_int(out, "verify", r->us.verify);
	add_int(out, "load", r->us.load);
	add_int(out, "exec", r->us.exec);
	add_int(out, "store", r->us.store);
	add_int(out, "wall", r->us.wall);
	if (r->status == DTX_JAIL_TIMEOUT)
		add_int(out, "overdue", r->us.overdue);
	dtx_buf_addc(out, '}');
	add_key(out, "cpu_us");
	dtx_buf_addc(out, '{');
	add_int(out, "user", r->cpu_user_us);
	add_int(out, "sys", r->cpu_sys_us);
	dtx_buf_addc(out, '}');
	add_key(out, "memory");
	dtx_buf_addc(out, '{');
	add_int(out, "peak_rss", (int64_t)r->peak_rss);
	add_int(out, "base_rss", (int64_t)r->base_rss);
	add_int(out, "peak_anon", (int64_t)r->peak_anon);
	add_int(out, "limit", (int64_t)r->memory_limit);
	dtx_buf_addc(out, '}');
}

static void add_jail(struct dtx_buf *out, const struct dtx_jail_report *r)
{
	struct dtx_str rest = dtx_str_of(r->layers), layer;
	bool more = false;

	add_key(out, "jail");
	dtx_buf_addc(out, '{');
	add_key(out, "layers");
	dtx_buf_addc(out, '[');
	while (rest.len && dtx_str_next(&rest, ',', &layer)) {
		if (more)
			dtx_buf_addc(out, ',');
		dtx_buf_json(out, layer);
		more = true;
	}
	dtx_buf_addc(out, ']');
	add_text(out, "profile", r->profile);
	add_text(out, "filter_hash", r->filter_hash);
	add_text(out, "verify", r->verify);
	add_text(out, "audit", r->audit);
	add_raw(out, "warm", r->warm ? "true" : "false");
	add_key(out, "limits");
	dtx_buf_addc(out, '{');
	add_int(out, "wall_ms", r->limits.wall_ms);
	add_int(out, "cpu_ms", r->limits.cpu_ms);
	add_int(out, "memory", (int64_t)r->limits.memory);
	add_int(out, "output", (int64_t)r->limits.output);
	dtx_buf_addc(out, '}');
	add_key(out, "seed"); /* as text, as 64 bits do not fit into a JSON number */
	dtx_buf_printf(out, "\"%" PRIu64 "\"", r->seed);
	add_int(out, "now_us", r->now_us);
	add_int(out, "hash_seed", r->hash_seed);
	add_key(out, "runtime");
	dtx_buf_addc(out, '{');
	add_text(out, "python", r->python);
	add_text(out, "pandas", r->pandas);
	add_text(out, "numpy", r->numpy);
	add_text(out, "abi", r->abi);
	dtx_buf_add(out, "}}");
}

void dtx_jail_report_json(const struct dtx_jail_report *r, struct dtx_buf *out)
{
	dtx_buf_addc(out, '{');
	add_text(out, "status", dtx_jail_status_name(r->status));
	add_text(out, "code", dtx_code_name(r->code));
	add_text(out, "reason", r->reason);
	add_text(out, "layer", r->layer[0] ? r->layer : NULL);
	add_int(out, "errno", r->sys_errno);
	add_int(out, "signal", r->signal);
	add_exception(out, r);
	add_denied(out, r);
	add_stream(out, "stdout", &r->out);
	add_stream(out, "stderr", &r->err);
	add_measures(out, r);
	add_jail(out, r);
	add_raw(out, "check", r->check_json);
	add_raw(out, "notes", r->notes_json);
	add_raw(out, "value", r->value_json);
	dtx_buf_addc(out, '}');
}

/* --- error --- */

const char *dtx_jail_layer_hint(const char *layer)
{
	static const struct {
		const char *layer, *hint;
	} hints[] = {
		{ "userns", "allow user namespaces (sysctl user.max_user_namespaces, "
		            "kernel.unprivileged_userns_clone) or boot with landlock "
		            "(Linux 5.13, lsm=landlock)" },
		{ "user", "run dtx as an ordinary user, or allow user namespaces" },
		{ "landlock",
		  "boot with lsm=landlock, or without it: half of it is worse than none" },
		{ "seccomp",
		  "a kernel with CONFIG_SECCOMP_FILTER; a container's seccomp profile, or a "
		  "service's SystemCallFilter=, must allow the call seccomp" },
		{ "proc", "mount -t proc proc /proc, as containers do; plans on CSV and JSON run "
		          "without" },
		{ "launch", "dtx starts a process for this: allow clone or vfork, and execve, in "
		            "the container's seccomp profile, and raise ulimit -u or its limit of "
		            "tasks" },
		{ "ulimit -n", "ulimit -n 256; plans without snippets still run" },
		{ "ulimit -v", "ulimit -v unlimited, or less with --jail-memory and --jail-output, "
		               "1 GiB each" },
		{ "python", "install the packages libpython3.11 and python3-pandas" },
		{ "memfd",
		  "a container's seccomp profile, or a service's SystemCallFilter=, must allow "
		  "memfd_create" },
		{ "pidfd",
		  "a kernel of 5.3 or later; a container's seccomp profile, or a service's "
		  "SystemCallFilter=, must allow pidfd_open" },
		{ "verify",
		  "main must see its worker in /proc, or hear it through a listener of seccomp" },
		{ "build", "use a build without sanitizers" },
		{ "required",
		  "--require-layers asks for more than this machine has; see `dtx doctor`" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(hints); i++)
		if (!strcmp(layer, hints[i].layer))
			return hints[i].hint;
	return "`dtx doctor` shows the layers of this machine; plans without snippets still run";
}

static const char *exception_hint(const struct dtx_jail_report *r)
{
	static const char *const lacking[] = {
		[DTX_JAIL_LACKS_DEBIAN] =
			"it is not installed from a Debian package, and the jail imports nothing "
			"from pip or a virtual environment; a module of the program itself is "
			"given with --file NAME.py=PATH",
		[DTX_JAIL_LACKS_NAME] =
			"the jail prepares this package for a program that contains its name: "
			"write it out, as in an import",
		[DTX_JAIL_LACKS_LIB_RO] =
			"--jail-profile lib-ro reads modules of this machine's Python while the "
			"code runs; without it the jail has those that it imported beforehand, see "
			"dtx-sandbox(7)",
		[DTX_JAIL_LACKS_LIB_RO_TEXT] =
			"--jail-profile lib-ro reads modules of this machine's Python while the "
			"code runs, but no extension modules, as there are no user namespaces "
			"here; see dtx-sandbox(7)",
		[DTX_JAIL_LACKS_USERNS] =
			"this is an extension module, which --jail-profile lib-ro reads where "
			"there are user namespaces; `dtx doctor` shows the layers of this machine",
	};
	const char *type = r->exception.type;

	if (r->lacks)
		return lacking[r->lacks];
	if (type && dtx_str_in_list("ImportError,ModuleNotFoundError", type))
		return "the jail has pandas, numpy and Python's own modules, and for `dtx exec` "
		       "those "
		       "of PROGRAMS in dtx-sandbox(7)";
	return NULL;
}

static const char *hint_of(const struct dtx_jail_report *r)
{
	switch (r->status) {
	case DTX_JAIL_TIMEOUT: return "raise the limit: --jail-wall SECONDS";
	case DTX_JAIL_CPU_LIMIT: return "raise the limit: --jail-cpu SECONDS";
	case DTX_JAIL_MEMORY_LIMIT: return "raise the limit: --jail-memory SIZE";
	case DTX_JAIL_OUTPUT_LIMIT:
		return r->flooded ? "print less; put large data into the result, or, in a program, "
		                    "into a file in /out"
		                  : "raise the limit: --jail-output SIZE";
	case DTX_JAIL_BUSY: return "run fewer at once, or wait longer: --jail-queue-wait SECONDS";
	case DTX_JAIL_ENDED:
	case DTX_JAIL_DENIED_SYSCALL:
		return "a snippet gets its tables and params and returns a DataFrame; nothing else";
	case DTX_JAIL_SIGNALED:
		return "Python or a library of it crashed: leave out parts of the code to find the "
		       "call that does it, and use another one";
	case DTX_JAIL_SETUP_REFUSED: return dtx_jail_layer_hint(r->layer);
	case DTX_JAIL_SNIPPET_ERROR: return exception_hint(r);
	default: return NULL;
	}
}

enum dtx_code dtx_jail_report_err(const struct dtx_jail_report *r, struct dtx_err *err)
{
	struct dtx_buf more = DTX_BUF_INIT((size_t)256 << 10);
	const char *hint = hint_of(r);

	if (r->code == DTX_OK)
		return DTX_OK;
	(void)dtx_err_set(err, r->code, __FILE__, __LINE__, "snippet: %s", r->reason);
	if (r->package)
		dtx_err_hint(err, "apt-get install %s%s", r->package,
		             r->lacks == DTX_JAIL_LACKS_PACKAGE_RO
		                     ? "; the jail then imports it with --jail-profile lib-ro"
		                     : "");
	else if (hint)
		dtx_err_hint(err, "%s", hint);
	dtx_buf_addc(&more, '{');
	add_text(&more, "status", dtx_jail_status_name(r->status));
	add_exception(&more, r);
	add_denied(&more, r);
	dtx_buf_addc(&more, '}');
	dtx_err_more(err, dtx_buf_steal(&more));
	return r->code;
}
