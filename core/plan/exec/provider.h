/* The interface between a caller that wants a snippet run (executor, fallback) and the jail that
 * runs it. The one provider is dtx_provider_local (sandbox/main/jail.h); an external one fills the
 * same table of functions.
 *
 * One box is one run of one snippet, and is used by one thread:
 *
 *   open -> put, put_raw (once per table or input) -> exec -> get (after status ok) -> close
 *
 * The snippet is hostile, and so is everything that comes back: get returns a validated table. */
#ifndef DTX_PLAN_EXEC_PROVIDER_H
#define DTX_PLAN_EXEC_PROVIDER_H

#include "core/base/log.h"
#include "core/data/batch.h"

/* CHECK: static screening only, nothing runs. RUN: no screening. CHECK_RUN: screening and, if it
 * finds nothing, the run, both in one worker. EXEC: a program instead of a transform; it gets files
 * and leaves files instead of a table. */
enum dtx_jail_mode {
	DTX_JAIL_CHECK = 1,
	DTX_JAIL_RUN = 2,
	DTX_JAIL_CHECK_RUN = 3,
	DTX_JAIL_EXEC = 4
};
/* A file of an EXEC. The name is relative to /in or /out, UTF-8, without "." and "..". */
struct dtx_jail_file {
	const char *name;
	struct dtx_str bytes;
};
#define DTX_JAIL_FILES_MAX 1000
/* tables that one snippet may read */
#define DTX_JAIL_TABLES_MAX 64
#define DTX_JAIL_FILE_NAME  240

/* symbol, name, error code. A failed check has the status SCREENED and the code of its class
 * (snippet_syntax, snippet_import_denied, snippet_screen_denied). */
#define DTX_JAIL_STATUSES(X)                                                                       \
	X(DTX_JAIL_OK, "ok", DTX_OK)                                                               \
	X(DTX_JAIL_SCREENED, "screened", DTX_E_SNIPPET_SCREEN_DENIED)                              \
	X(DTX_JAIL_SNIPPET_ERROR, "snippet_error", DTX_E_SNIPPET_EXCEPTION)                        \
	X(DTX_JAIL_BAD_RESULT, "bad_result", DTX_E_SNIPPET_BAD_RESULT)                             \
	X(DTX_JAIL_ENDED, "ended", DTX_E_SNIPPET_ENDED)                                            \
	X(DTX_JAIL_DENIED_SYSCALL, "denied_syscall", DTX_E_SNIPPET_DENIED_SYSCALL)                 \
	X(DTX_JAIL_TIMEOUT, "timeout", DTX_E_SNIPPET_TIMEOUT)                                      \
	X(DTX_JAIL_CPU_LIMIT, "cpu_limit", DTX_E_SNIPPET_CPU_LIMIT)                                \
	X(DTX_JAIL_MEMORY_LIMIT, "memory_limit", DTX_E_SNIPPET_MEMORY_LIMIT)                       \
	X(DTX_JAIL_OUTPUT_LIMIT, "output_limit", DTX_E_SNIPPET_OUTPUT_LIMIT)                       \
	X(DTX_JAIL_SIGNALED, "signaled", DTX_E_SNIPPET_CRASH)                                      \
	X(DTX_JAIL_SETUP_REFUSED, "setup_refused", DTX_E_SNIPPET_SETUP_REFUSED)                    \
	X(DTX_JAIL_BUSY, "busy", DTX_E_SNIPPET_SETUP_REFUSED)                                      \
	X(DTX_JAIL_CANCELLED, "cancelled", DTX_E_CANCELLED)

enum dtx_jail_status {
#define X(symbol, ...) symbol,
	DTX_JAIL_STATUSES(X)
#undef X
		DTX_JAIL_STATUS_COUNT
};
const char *dtx_jail_status_name(enum dtx_jail_status status);
enum dtx_code dtx_jail_status_code(enum dtx_jail_status status);

/* What is wrong with a BAD_RESULT: symbol, the worker's name for it, and a text that reveals
 * nothing of the result. */
#define DTX_JAIL_FAULTS(X)                                                                         \
	X(NONE, "", "the result is not a table that dtx can take")                                 \
	X(NO_TRANSFORM, "no_transform",                                                            \
	  "the module defines no function transform(tables, params)")                              \
	X(NO_FRAME, "no_frame", "transform did not return a DataFrame")                            \
	X(CELL, "cell", "holds something that is not a number, text, bool, date or null")          \
	X(NESTED, "nested", "holds lists or arrays; a cell is one value")                          \
	X(MIXED, "mixed", "mixes types; convert it to one")                                        \
	X(DTYPE, "dtype", "has a dtype that a table cannot hold; convert it to numbers or text")   \
	X(INTEGER, "integer", "has integers beyond 64 bits; return them as text or decimal")       \
	X(DECIMAL, "decimal", "has decimals that are not numbers, or of more than 38 digits")      \
	X(FINE_TIME, "fine_time", "has times finer than a microsecond; round them")                \
	X(ZONE, "zone", "has a time zone; use .dt.tz_convert('UTC').dt.tz_localize(None)")         \
	X(TEXT, "text", "holds text that is not Unicode")                                          \
	X(NAME, "name", "has a name that is empty, not Unicode or not the only one")               \
	X(MULTIINDEX, "multiindex", "the columns are a MultiIndex; flatten them")                  \
	X(NO_COLUMNS, "no_columns", "the result has no columns")                                   \
	X(WIDE, "wide", "the result has too many columns: melt() makes rows of them")

enum dtx_jail_fault {
#define X(symbol, ...) DTX_JAIL_FAULT_##symbol,
	DTX_JAIL_FAULTS(X)
#undef X
};

/* SEALED: the snippet can open no file. LIB_RO: it can read, and load, what is in Python's library
 * folders, for modules that are not imported beforehand. */
enum dtx_jail_profile { DTX_JAIL_SEALED, DTX_JAIL_LIB_RO, DTX_JAIL_PROFILES };
extern const char *const dtx_jail_profile_names[DTX_JAIL_PROFILES];

/* 0 in a field means the default. */
struct dtx_jail_limits {
	int64_t wall_ms, cpu_ms; /* milliseconds; 30,000 each */
	uint64_t memory;         /* bytes; default 1 GiB, at least 64 MiB */
	uint64_t output;         /* bytes of the result; 1 GiB */
	int64_t queue_ms;        /* milliseconds to wait for a free worker of a pool; 60,000 */
	enum dtx_jail_profile profile;
};
#define DTX_JAIL_WALL_MS    30000
#define DTX_JAIL_CPU_MS     30000
#define DTX_JAIL_QUEUE_MS   60000
#define DTX_JAIL_MEMORY     ((uint64_t)1 << 30)
#define DTX_JAIL_MEMORY_MIN ((uint64_t)64 << 20)
#define DTX_JAIL_OUTPUT     ((uint64_t)1 << 30)

/* Packages whose import takes longer than that of pandas, so that only code that names them gets
 * them. AT_HAND: a program (not a snippet) can import all of them, and what they need, but none is
 * imported in advance unless its bit is set, too. For code that is not known yet. */
enum dtx_jail_science {
	DTX_JAIL_SCIPY = 1 << 0,
	DTX_JAIL_SKLEARN = 1 << 1,
	DTX_JAIL_STATSMODELS = 1 << 2,
	DTX_JAIL_SEABORN = 1 << 3,
	DTX_JAIL_AT_HAND = 1 << 4,
	DTX_JAIL_SCIENCE_END = 1 << 5
};
extern const char *const dtx_jail_science_names[]; /* by the number of the bit */

/* All pointers are borrowed and must outlive the box. */
struct dtx_jail_spec {
	enum dtx_jail_mode mode; /* 0: RUN */
	struct dtx_jail_limits limits;
	uint64_t seed; /* 0: the first 8 bytes of the SHA-256 of the code */
	/* the time that the snippet sees, in microseconds; 0: the wall clock at open */
	int64_t now_us;
	/* PYTHONHASHSEED; a snippet is admitted after one run with 0 and one with 1 */
	uint32_t hash_seed;
	bool no_warm;     /* use a zygote of its own, even where there is a pool */
	unsigned science; /* of enum dtx_jail_science: import these, where they are installed */
	/* layers without which the run is refused, "userns,landlock4"; NULL */
	const char *require_layers;
	/* types that are promised by name (some columns may be missing); NULL */
	const struct dtx_schema *contract;
	size_t keep_output; /* bytes to keep of stdout and of stderr; 0: 1 MiB and 256 KiB */
	bool (*cancelled)(void *arg); /* polled every 20 ms; NULL */
	void *cancel_arg;
	const struct dtx_log *log;
};

enum dtx_jail_verdict { DTX_JAIL_ALLOWED, DTX_JAIL_REFUSED, DTX_JAIL_KILLED };
struct dtx_jail_denied {
	int32_t nr;       /* system call number */
	const char *name; /* "unknown" when it has none */
	uint64_t args[6];
	enum dtx_jail_verdict verdict;
	uint32_t count; /* calls with this number and verdict; args are those of the first */
	int64_t at_us;  /* microseconds since the start */
};
#define DTX_JAIL_DENIED_MAX 64

struct dtx_jail_frame {
	int32_t line;
	const char *function, *text;
};
#define DTX_JAIL_FRAMES_MAX 20

struct dtx_jail_stream {
	const char *bytes; /* head and tail of what was written; may hold any bytes */
	size_t kept;
	uint64_t total;
	bool truncated;
};

/* What would have allowed a worker to import a module that it did not find. */
enum dtx_jail_lacks {
	DTX_JAIL_LACKS_NOTHING,    /* not known */
	DTX_JAIL_LACKS_PACKAGE,    /* a package of Debian's */
	DTX_JAIL_LACKS_PACKAGE_RO, /* a package of Debian's, and then the profile lib-ro */
	DTX_JAIL_LACKS_DEBIAN,     /* nothing would: this machine does not have it from Debian */
	DTX_JAIL_LACKS_NAME,       /* the name of the package in the text of the program */
	DTX_JAIL_LACKS_LIB_RO,     /* the profile lib-ro */
	/* the profile lib-ro, with what the module needs as text, too */
	DTX_JAIL_LACKS_LIB_RO_TEXT,
	DTX_JAIL_LACKS_USERNS /* the profile lib-ro, on a machine with user namespaces */
};
/* One run, as the record stores it. All strings live in `arena`. */
struct dtx_jail_report {
	struct dtx_arena arena;
	enum dtx_jail_status status;
	enum dtx_code code;    /* DTX_OK, snippet_* or cancelled */
	char reason[320];      /* for people: what went wrong; "" when ok */
	char layer[32];        /* SETUP_REFUSED: the layer that is missing */
	int sys_errno, signal; /* 0: does not apply */
	struct {               /* as the worker reports it; type is NULL when there was none */
		const char *type, *message;
		bool library; /* a class of Python or a library, not of the snippet */
		int32_t line; /* line of the snippet, from 1; 0: not known */
		struct dtx_jail_frame frame[DTX_JAIL_FRAMES_MAX];
		uint32_t nframes;
	} exception;
	enum dtx_jail_fault fault; /* of a BAD_RESULT */
	int32_t fault_column;      /* column of the result, from 1; 0: no particular one */
	struct dtx_jail_denied denied[DTX_JAIL_DENIED_MAX];
	uint32_t ndenied;
	uint64_t denied_total;
	struct dtx_jail_stream out, err;
	struct {               /* microseconds */
		int64_t queue; /* part of lease: waiting for a pool to give a worker */
		int64_t lease, verify, load, exec, store, wall;
		int64_t overdue; /* after a timeout: from the deadline until the worker was dead */
	} us;
	int64_t cpu_user_us, cpu_sys_us;
	uint64_t peak_rss, base_rss, peak_anon, memory_limit; /* bytes */
	char layers[160]; /* "userns,mountns,...,landlock7,rlimits,seccomp" */
	char profile[16]; /* "sealed", "lib-ro" */
	char filter_hash[65];
	char verify[16]; /* "status+probe", "probe", "status" */
	char audit[16];  /* "full", "degraded" */
	bool warm;
	struct dtx_jail_limits limits; /* those that were in force */
	uint64_t seed;
	int64_t now_us;
	uint32_t hash_seed;
	bool flooded; /* output_limit: of stdout or stderr, for which there is no option */
	enum dtx_jail_lacks lacks;              /* for the module that was missing */
	const char *package;                    /* of Debian's, for LACKS_PACKAGE and _RO; static */
	char python[16], pandas[16], numpy[16]; /* versions of the runtime */
	char abi[17];                           /* 16 hex digits over versions and CPU features */
	const char *check_json; /* what the screening found, see dtx-sandbox(7); NULL */
	const char *notes_json; /* counted conversions of the result; NULL */
	/* EXEC: the value of the last expression, as JSON that contains cells: {"type","text"}, of
	 * a DataFrame also "rows","width","columns" [{name,type}],"head" (the first rows); NULL:
	 * the code does not end with an expression, or with one that gives no value */
	const char *value_json;
};
/* Zeroes the report, so that clear is allowed. */
void dtx_jail_report_init(struct dtx_jail_report *r);
void dtx_jail_report_clear(struct dtx_jail_report *r);
/* The packages of enum dtx_jail_science that code mentions, and scipy for code that uses a part of
 * pandas that needs it. */
unsigned dtx_jail_wants_science(struct dtx_str code);
/* Whether code mentions XML, HTML or a rare part of numpy: these are imported only together with
 * scipy. A program of `dtx exec` always has them. */
bool dtx_jail_wants_rare(struct dtx_str code);
/* Writes the report as one JSON object; streams as UTF-8, else as {"base64"}. */
void dtx_jail_report_json(const struct dtx_jail_report *r, struct dtx_buf *out);
/* Sets err from the report: code, message, hint, and more = {"status","exception","denied"}. */
enum dtx_code dtx_jail_report_err(const struct dtx_jail_report *r, struct dtx_err *err);

struct dtx_box;
struct dtx_rawgrid;
struct dtx_provider {
	const char *name;
	/* Starts what will run the snippet. It is cheap and does not wait for it. */
	enum dtx_code (*open)(const struct dtx_jail_spec *, struct dtx_box **, struct dtx_err *);
	/* Adds a table that the snippet sees as tables[name]; takes a reference. Values must be
	 * those of its schema (no open types); for a cell that does not fit, fails as
	 * dtx_batch_value does. */
	enum dtx_code (*put)(struct dtx_box *, const char *name, struct dtx_table *,
	                     struct dtx_err *);
	/* Adds raw cells that the snippet sees as params["raw"][name]; borrowed until close. */
	enum dtx_code (*put_raw)(struct dtx_box *, const char *name, const struct dtx_rawgrid *,
	                         struct dtx_err *);
	/* Runs to the end, under the limits. params: text of a JSON object; NULL: {}. The report is
	 * filled in every case and is the caller's to clear. Returns report->code. */
	enum dtx_code (*exec)(struct dtx_box *, struct dtx_str code, const char *params,
	                      struct dtx_jail_report *, struct dtx_err *);
	/* Gets the result, once, after an exec with status ok. */
	enum dtx_code (*get)(struct dtx_box *, struct dtx_table **, struct dtx_err *);
	/* EXEC only. put_file adds a file that the program finds in /in; it is borrowed until
	 * close. files are those that the program left in /out, also when it failed; they are valid
	 * until close. */
	enum dtx_code (*put_file)(struct dtx_box *, const struct dtx_jail_file *, struct dtx_err *);
	const struct dtx_jail_file *(*files)(struct dtx_box *, size_t *n);
	/* Ends what still runs, and frees the box. NULL is fine. */
	void (*close)(struct dtx_box *);
};

/* What to do to get a layer of the jail that is missing. */
const char *dtx_jail_layer_hint(const char *layer);

#endif
