/* The record of one run: run.start, details, events, run.output, run.end.
 *
 *   start -> [add, event ...] -> output (all targets, before any rename) -> end -> free
 *
 * Each call that writes is one transaction: the event, the blobs that it names, and the derived
 * rows.  The data is on disk when the call returns.  Exceptions are run.start and run.end: they
 * survive a crash of the process, but reach the disk only with the next event.  json_t arguments
 * are taken, also on failure, and a NULL counts as out of memory, so a caller need not check each
 * of them.  A record must be used by one thread at a time, but not always by the same one. */
#ifndef DTX_STORE_LEDGER_RECORD_H
#define DTX_STORE_LEDGER_RECORD_H

#include "core/base/hash/hash.h"
#include "core/base/text/json.h"
#include "core/store/store.h"

#define DTX_RUN_ID 37 /* UUIDv7 as text, with terminator */
struct dtx_record;

/* Makes a new run id.  Ids sort by time. */
void dtx_run_id_new(char id[DTX_RUN_ID]);
/* Copies an id that was given, or makes a new one where `given` is NULL.  Error: usage, if it is
 * not written as a UUIDv7. */
DTX_MUSTUSE enum dtx_code dtx_run_id_take(const char *given, char id[DTX_RUN_ID],
                                          struct dtx_err *err);
/* The last 8 hex digits of an id. */
const char *dtx_run_id_short(const char *id);

struct dtx_run_info {
	const char *run_id;         /* from dtx_run_id_new, or dtx_run_id_take */
	bool id_given;              /* the start fails with usage if a run has this id */
	const char *command;        /* "run", "convert", "snippet add" */
	const char *ns;             /* namespace; NULL: "default" */
	struct dtx_str plan;        /* canonical bytes; empty: none */
	const json_t *params;       /* values of the plan's parameters by name; NULL: none */
	struct dtx_str plan_source; /* the bytes of the plan file; empty: none */
	const char *plan_hash;      /* hex digits of the plan id; NULL: SHA-256 of `plan` */
	const char *plan_name;      /* the member `name` of the plan; NULL */
	const char *plan_file;      /* as the user gave it; NULL */
	int64_t nsteps;
	int argc;
	char *const *argv;                            /* without options that contain keys */
	const char *parent, *replay_of, *traceparent; /* NULL: none */
	json_t *env;  /* taken; NULL: dtx_env_describe().  The same environment is stored once */
	json_t *pins; /* taken; NULL: none */
	/* Taken: [{"path","temp"}] of the outputs that the run will write (dtx_outfile_target), so
	 * that they can be cleaned up if it is killed.  NULL: none. */
	json_t *targets;
	int64_t start_us; /* 0: now */
	bool with_next;   /* run.start waits for the next event, which follows at once */
};

/* Appends run.start.  The record borrows `store`. */
DTX_MUSTUSE enum dtx_code dtx_record_start(struct dtx_store *store, const struct dtx_run_info *info,
                                           struct dtx_record **out, struct dtx_err *err);
const char *dtx_record_id(const struct dtx_record *r);

/* Adds a row of details to the record.  Details are written with the next run.output or run.end, in
 * the order in which they were added.  Absent members are null; objects and arrays are stored as
 * JSON.
 *
 *   INPUT   alias, uri (absolute path; "-"), label (as printed: "input.xlsx!Q1"), sha (see
 *           core/base/hash/identity.h), bytes, mtime_us, reader {options after defaults}, rows,
 *           columns, schema [{name, type}], fp, snapshot
 *   STEP    op, rows_in, rows_out, detail {"counts": {"false": 509, "null": 3}, ...}, dur_us
 *   REGION  pointer, code, rung, cell_id, attempts, class, jail {dtx_jail_report_json
 *           without streams and messages, which may contain values of cells}, op,
 *           steps [first, last]
 *   CHECK   name, severity (error, warn), status (pass, fail, skip), col, expected, actual
 *   LINEAGE output, out_col, alias, in_col, type (DIRECT, INDIRECT), subtype, formula, composed,
 *           class (one row per source column; `composed` may end in ", by region") */
enum dtx_part {
	DTX_PART_INPUT,
	DTX_PART_STEP,
	DTX_PART_REGION,
	DTX_PART_CHECK,
	DTX_PART_LINEAGE,
	DTX_PART_COUNT
};
DTX_MUSTUSE enum dtx_code dtx_record_add(struct dtx_record *r, enum dtx_part part, json_t *row,
                                         struct dtx_err *err);
/* Drops what is long and was not written yet: bytes, and the rows of INPUT, which name them, and
 * LINEAGE.  For a run that was cancelled, in a process that ends now. */
void dtx_record_discard(struct dtx_record *r);

/* Stores bytes (copied) with the next event, which names them.  hash receives the hex SHA-256.
 * kind: "code", "prompt", "answer", "plan", "env", "stderr", "input", "lineage". */
DTX_MUSTUSE enum dtx_code dtx_record_blob(struct dtx_record *r, const char *kind,
                                          struct dtx_str bytes, char hash[DTX_SHA256_HEX],
                                          struct dtx_err *err);
/* Appends an event: run.trigger {idx, pointer, code, op}; run.cache {idx, outcome, cell_id};
 * jail.end {idx, report}; attempt.end {idx, attempt, class, cell_id, message}; author.sent,
 * author.got. */
DTX_MUSTUSE enum dtx_code dtx_record_event(struct dtx_record *r, const char *kind, json_t *body,
                                           struct dtx_err *err);

/* The same for events on which nothing outside of the store depends: it does not wait for the disk.
 * The next event that does wait makes this one durable too. */
DTX_MUSTUSE enum dtx_code dtx_record_event_soon(struct dtx_record *r, const char *kind,
                                                json_t *body, struct dtx_err *err);

/* Waits until all events so far are on disk. May run on another thread while the record and its
 * store are not used. */
DTX_MUSTUSE enum dtx_code dtx_record_sync(struct dtx_record *r, struct dtx_err *err);

/* An event that is written in the transaction of the next one, before it: for an event that another
 * one follows soon. If the process is killed in between, the record does not have it. At most four
 * wait. `kind` must live as long as the record. */
DTX_MUSTUSE enum dtx_code dtx_record_event_next(struct dtx_record *r, const char *kind,
                                                json_t *body, struct dtx_err *err);

/* Appends run.output: every output of the run, complete but not renamed yet.  Array of {path, temp
 * (or null), atomic, writer {options}, sha, bytes, table_hash, rows_hash, rows, columns, schema,
 * stats}, and "lineage" ("rows") with "lineage_hash" if row numbers are kept. */
DTX_MUSTUSE enum dtx_code dtx_record_output(struct dtx_record *r, json_t *outputs,
                                            struct dtx_err *err);

/* Appends run.end.  status: "ok", "failed" or "cancelled".  code: the name of an error; NULL if ok.
 * extra (NULL: nothing) goes into the body: threads, peak_bytes, warnings, message, at. */
DTX_MUSTUSE enum dtx_code dtx_record_end(struct dtx_record *r, const char *status, const char *code,
                                         int exit_status, json_t *extra, struct dtx_err *err);
/* A record that has no end stays open in the store until its process is gone.  NULL is allowed. */
void dtx_record_free(struct dtx_record *r);

/* Describes the environment of this process: dtx, build, libc, kernel, cpu, locale, tz.  New
 * reference; NULL: out of memory. */
json_t *dtx_env_describe(void);

#endif
