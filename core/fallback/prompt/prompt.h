/* The prompt that an author gets. It is a function of its arguments alone: the same arguments
 * give the same bytes, so that recorded answers can be found by the hash of their prompt. */
#ifndef DTX_FALLBACK_PROMPT_PROMPT_H
#define DTX_FALLBACK_PROMPT_PROMPT_H

#include "core/data/frame/rawgrid.h"
#include "core/fallback/prompt/disclose.h"

#define DTX_PROMPT_TEMPLATE 1

struct dtx_prompt_table {
	const char *alias;
	struct dtx_table *table;
};
/* For a retry: the last module and how it failed. `report` comes from dtx_redact_failure. */
struct dtx_prompt_previous {
	const char *class, *report;
	struct dtx_str code;
	const json_t *later; /* later steps that could not use a result; NULL: none */
};
struct dtx_prompt_spec {
	const char *versions; /* "Python 3.11, pandas 1.5, numpy 1.24" */
	const char *imports;  /* "pandas, numpy, dx, math, ..." */
	const char *dx_names; /* "group_by, join, ..."; NULL: dx is not mentioned */
	int64_t cpu_s, memory_mib;
	const char *params; /* the keys that params has: "steps, families, run_date" */
	const struct dtx_prompt_table *table;
	size_t ntables;
	/* For an input that no reader can turn into a table: its raw cells and what the plan
	 * says about it. The steps are then those that will read the table. */
	const struct dtx_rawgrid *raw; /* NULL: the region is made of steps */
	const char *raw_name;
	const json_t *input;
	const json_t *steps;         /* the canonical steps of the region, with notes */
	const struct dtx_err *error; /* what caused the request */
	/* JSON pointer of the region, for an error without one; NULL */
	const char *at;
	const json_t *contract; /* NULL: {} */
	const char *fingerprint;
	enum dtx_sample sample;
	const char *const *deny; /* globs of columns that are never named */
	size_t ndeny;
	const struct dtx_prompt_previous *previous; /* NULL: the first attempt */
};
struct dtx_prompt {
	struct dtx_buf text;
	size_t system_len; /* length of the system message, up to INTERFACE */
	struct dtx_disclosed disclosed;
	char hash[65]; /* SHA-256 of the text in hex */
};
#define DTX_PROMPT_MAX ((size_t)1 << 20)
void dtx_prompt_init(struct dtx_prompt *p);
void dtx_prompt_clear(struct dtx_prompt *p);
/* Writes the prompt to *p, which must be initialised. */
DTX_MUSTUSE enum dtx_code dtx_prompt_make(const struct dtx_prompt_spec *spec, struct dtx_prompt *p,
                                          struct dtx_err *err);

#endif
