/* What a fragment does with rows that other fragments have made: it gathers one bucket of them
 * (buckets.h), does the step that reads these rows, and writes the result in ranges. */
#ifndef DTX_CLUSTER_GATHER_H
#define DTX_CLUSTER_GATHER_H

#include "core/cluster/buckets.h"
#include "core/cluster/merged_reader.h"
#include "core/plan/pipe/graph.h"

struct dtx_gather_part { /* rows that are together in a file, of table 0 of the step */
	uint64_t first;  /* the number of the first of them among all rows of the bucket */
	const uint64_t *place, *id;
};
struct dtx_gather { /* all zero at first */
	struct dtx_rows_file *file;
	size_t nfiles, cap_files;
	struct dtx_gather_part *part;
	size_t nparts, cap_parts;
	uint64_t *range; /* the place where each range begins */
	size_t nranges;
	/* of the last row of the result: the number of the row that it came from, which part has
	 * that, and which range */
	uint64_t last;
	size_t at_part, at_range;
	struct dtx_buckets rows;
	char damaged[DTX_SHA256_HEX]; /* the fragment whose file could not be read; "": none */
};

/* A file as a job describes it: [name, bytes, sections, hash of the index, input of the plan]; its
 * path is in the arena. Codes: no_memory, corrupt_file. */
DTX_MUSTUSE enum dtx_code dtx_gather_file(const json_t *list, const char *exchange,
                                          struct dtx_arena *arena, struct dtx_rows_file *out,
                                          struct dtx_err *err);
/* Puts bucket number `bucket` of each table of a step where the step finds it. what: member
 * "gather" of a job, {step, ranges: the place where each range begins, inputs: [{input, files}]}.
 * files: as for dtx_gather_file. Codes: input_io,
 * input_not_found, with `damaged` set; corrupt_file. */
DTX_MUSTUSE enum dtx_code dtx_gather_load(struct dtx_gather *x, const json_t *what, uint32_t bucket,
                                          const char *exchange, struct dtx_graph *g,
                                          struct dtx_err *err);
/* `eat` of struct dtx_pipe_end, for the result of the step; arg: the struct dtx_gather. */
DTX_MUSTUSE enum dtx_code dtx_gather_eat(void *arg, unsigned worker, struct dtx_batch *b,
                                         struct dtx_err *err);
void dtx_gather_clear(struct dtx_gather *x);

/* The reader of a table that fragments have made. what: an item of "merged" of a job, {table,
 * bytes: of a range, inputs: that of each range, files}. The caller closes *out, and the name of a
 * file that could not be read is put to `damaged`. Codes: no_memory, corrupt_file. */
DTX_MUSTUSE enum dtx_code dtx_gather_reader(const json_t *what, const char *exchange,
                                            struct dtx_graph *g, char damaged[DTX_SHA256_HEX],
                                            struct dtx_reader **out, struct dtx_err *err);

/* The name of the fragment that wrote a file, which is that of the file. */
void dtx_gather_name(const struct dtx_rows_file *f, char name[DTX_SHA256_HEX]);

#endif
