/* The exact bytes an author is given.  Same arguments, same bytes. */
#ifndef DTX_FALLBACK_PROMPT_PROMPT_H
#define DTX_FALLBACK_PROMPT_PROMPT_H

#include "core/data/frame/rawgrid.h"
#include "core/fallback/prompt/disclose.h"

#define DTX_PROMPT_TEMPLATE 1

struct dtx_prompt_table {
	const char *alias;
	struct dtx_table *table;
};
/* A retry: the last module and how it failed; the report is that of dtx_redact_failure. */
struct dtx_prompt_previous {
	const char *class, *report;
	struct dtx_str code;
	const json_t *behind; /* steps behind the region that could not use a result; NULL */
};
struct dtx_prompt_spec {
	const char *versions; /* "Python 3.11, pandas 1.5, numpy 1.24" */
	const char *imports;  /* "pandas, numpy, dx, math, ..." */
	const char *dx_names; /* "group_by, join, ..."; NULL: dx is not named */
	int64_t cpu_s, memory_mib;
	const char *params; /* keys present: "steps, families, run_date" */
	const struct dtx_prompt_table *table;
	size_t ntables;
	/* An input that no reader makes a table of: its cells, what the plan says of it; the steps
	 * are those that read the table to come. */
	const struct dtx_rawgrid *raw; /* NULL: a region of steps */
	const char *raw_name;
	const json_t *input;
	const json_t *steps;         /* the region's canonical steps, with notes */
	const struct dtx_err *error; /* the trigger */
	const char *at;              /* pointer of the region, for an error without one; NULL */
	const json_t *contract;      /* NULL: {} */
	const char *fingerprint;
	enum dtx_sample sample;
	const char *const *deny; /* globs of columns that are never named */
	size_t ndeny;
	const struct dtx_prompt_previous *previous; /* NULL: the first attempt */
};
struct dtx_prompt {
	struct dtx_buf text;
	size_t system_len; /* bytes before INTERFACE: the system message */
	struct dtx_disclosed disclosed;
	char hash[65]; /* hex SHA-256 of the text */
};
#define DTX_PROMPT_MAX ((size_t)1 << 20)
void dtx_prompt_init(struct dtx_prompt *p);
void dtx_prompt_clear(struct dtx_prompt *p);
/* Fills p (initialised). */
DTX_MUSTUSE enum dtx_code dtx_prompt_make(const struct dtx_prompt_spec *spec, struct dtx_prompt *p,
                                          struct dtx_err *err);

#endif
