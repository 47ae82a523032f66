/* The record of one run: run.start, details, events, run.output, run.end.
 *
 *   start -> [add, event ...] -> output (all targets, before any rename) -> end -> free
 *
 * Each call that writes is one transaction: the event, the blobs it names and the derived rows.  It
 * is durable when the call returns, but for run.start and run.end, which outlive the process and
 * are on the disk with the next event.  json_t arguments are taken, also on failure; NULL for one
 * counts as out of memory. One thread at a time, not always the same one. */
#ifndef DTX_STORE_LEDGER_RECORD_H
#define DTX_STORE_LEDGER_RECORD_H

#include "core/base/hash/hash.h"
#include "core/base/text/json.h"
#include "core/store/store.h"

#define DTX_RUN_ID 37 /* UUIDv7 as text, with terminator */
struct dtx_record;

/* A fresh run id; ids sort by time. */
void dtx_run_id_new(char id[DTX_RUN_ID]);
/* Its last 8 hex digits. */
const char *dtx_run_id_short(const char *id);

struct dtx_run_info {
	const char *run_id;         /* from dtx_run_id_new */
	const char *command;        /* "run", "convert", "snippet add" */
	const char *ns;             /* namespace; NULL: "default" */
	struct dtx_str plan;        /* canonical bytes; empty: none */
	struct dtx_str plan_source; /* the plan file's own bytes; empty: none */
	const char *plan_hash;      /* hex of the plan id; NULL: SHA-256 of `plan` */
	const char *plan_name;      /* the plan's `name`; NULL */
	const char *plan_file;      /* as given; NULL */
	int64_t nsteps;
	int argc;
	char *const *argv;                            /* key options already removed */
	const char *parent, *replay_of, *traceparent; /* NULL */
	json_t *env;  /* taken; NULL: dtx_env_describe().  Kept once, by hash */
	json_t *pins; /* taken; NULL: none */
	/* Taken: [{"path","temp"}] of the outputs to come (dtx_outfile_target), so that a killed
	 * run is cleaned up; NULL: none. */
	json_t *targets;
	int64_t start_us; /* 0: now */
};

/* Appends run.start.  The record borrows `store`. */
DTX_MUSTUSE enum dtx_code dtx_record_start(struct dtx_store *store, const struct dtx_run_info *info,
                                           struct dtx_record **out, struct dtx_err *err);
const char *dtx_record_id(const struct dtx_record *r);
struct dtx_store *dtx_record_store(struct dtx_record *r);

/* Details of a run, one row each; they go into the next of run.output and run.end, in order of
 * adding.  Members that are absent are null.  Objects and arrays are kept as JSON.
 *
 *   INPUT   alias, uri (absolute path; "-"), label (as printed: "input.xlsx!Q1"), sha (see
 *           core/base/hash/identity.h), bytes, mtime_us, reader {options after defaults}, rows,
 *           columns, schema [{name, type}], fp, snapshot
 *   STEP    op, rows_in, rows_out, detail {"counts": {"false": 509, "null": 3}, ...}, dur_us
 *   REGION  pointer, code, rung, cell_id, attempts, class, jail {dtx_jail_report_json
 *           without streams and messages, which may hold cell values}, op, steps [first, last]
 *   CHECK   name, severity (error, warn), status (pass, fail, skip), col, expected, actual
 *   LINEAGE output, out_col, alias, in_col, type (DIRECT, INDIRECT), subtype, formula, composed,
 * class (one row per source column; `composed` may end in ", by region")
 */
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
/* Forgets details that were added but not written yet: the typed attempt was discarded. */
void dtx_record_discard(struct dtx_record *r, enum dtx_part part);

/* Bytes named by the next event, stored with it.  hash gets the hex SHA-256.  kind: "code",
 * "prompt", "answer", "plan", "env", "stderr", "input", "lineage". Copies. */
DTX_MUSTUSE enum dtx_code dtx_record_blob(struct dtx_record *r, const char *kind,
                                          struct dtx_str bytes, char hash[DTX_SHA256_HEX],
                                          struct dtx_err *err);
/* run.trigger {idx, pointer, code, op}; run.cache {idx, outcome, cell_id}; jail.end {idx, report};
 * attempt.end {idx, attempt, class, cell_id, message}; author.sent, author.got. */
DTX_MUSTUSE enum dtx_code dtx_record_event(struct dtx_record *r, const char *kind, json_t *body,
                                           struct dtx_err *err);

/* The same for what nothing outside depends on: not waited for, the next event that is waited for
 * takes it to the disk too. */
DTX_MUSTUSE enum dtx_code dtx_record_event_soon(struct dtx_record *r, const char *kind,
                                                json_t *body, struct dtx_err *err);

/* run.output: every output of the run, finished but not yet renamed.  Array of {path, temp (or
 * null), atomic, writer {options}, sha, bytes, table_hash, rows_hash, rows, columns, schema,
 * stats}, and "lineage" ("rows") with "lineage_hash" where row numbers are kept. */
DTX_MUSTUSE enum dtx_code dtx_record_output(struct dtx_record *r, json_t *outputs,
                                            struct dtx_err *err);

/* run.end.  status: "ok" or "failed" (or "cancelled"); code: an error name, NULL when ok.  extra
 * (may be NULL: nothing) goes into the body: threads, peak_bytes, warnings, message, at. */
DTX_MUSTUSE enum dtx_code dtx_record_end(struct dtx_record *r, const char *status, const char *code,
                                         int exit_status, json_t *extra, struct dtx_err *err);
/* A record without end stays open in the store until its process is gone.  NULL is fine. */
void dtx_record_free(struct dtx_record *r);

/* What this process runs on: dtx, build, libc, kernel, cpu, locale, tz.  New reference; NULL: out
 * of memory. */
json_t *dtx_env_describe(void);

#endif
