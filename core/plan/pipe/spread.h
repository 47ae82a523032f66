/* The interface to what makes rows in other processes (core/cluster).
 *
 * Before a pipeline opens its sources, it offers them. Of a source that is taken, other processes
 * read the input and do the first maps; the pipeline then gets the rows from a reader of theirs,
 * and goes on with the other maps. */
#ifndef DTX_PLAN_PIPE_SPREAD_H
#define DTX_PLAN_PIPE_SPREAD_H

#include "core/data/frame/frame.h"
#include "core/io/write/writer.h"
#include "core/plan/pipe/graph.h"

struct dtx_spread_rows {
	/* NULL: the source was not taken. Owned by the provider, until the graph is cleared. */
	struct dtx_reader *reader;
	uint32_t nsteps; /* the number of maps that were done */
};
/* The output in which a pipeline ends, if other processes may format its rows. */
struct dtx_spread_text {
	uint32_t output;
	const struct dtx_writer_class *cls; /* one with `apart` */
	const struct dtx_write_opts *opts;
	/* Takes what a process has made of some rows, a frame of dtx_outputs_texts; called in the
	 * order of the rows. */
	enum dtx_code (*take)(void *arg, const struct dtx_frame_view *part, struct dtx_err *err);
	void *arg;
};
struct dtx_spread {
	void *arg;
	/* made has an entry per source of the pipeline, all NULL at first. Codes: retype, for a
	 * type that is too narrow; any code with `whole` set, if only one process can say what is
	 * wrong. */
	enum dtx_code (*rows)(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
	                      struct dtx_spread_rows *made, struct dtx_err *err);
	/* The same for a pipeline that ends in a sink, with this context: its state is made by
	 * several processes and loaded into `local`. *done is false if they cannot. */
	enum dtx_code (*states)(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
	                        const struct dtx_sink *sink, const struct dtx_opctx *ox,
	                        void *local, bool *done, struct dtx_err *err);
	/* The same for a pipeline that ends in an output: its rows are formatted by several
	 * processes, and given to `to`. *done is false if they cannot. */
	enum dtx_code (*texts)(void *arg, struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
	                       const struct dtx_spread_text *to, bool *done, struct dtx_err *err);
	/* The same for a step with `keys` (struct dtx_op), whose contexts are there: its result is
	 * made by several processes, each for some keys, and then read from *made, which is owned
	 * by the provider. NULL: they cannot. */
	enum dtx_code (*by_keys)(void *arg, struct dtx_graph *g, uint32_t step,
	                         struct dtx_reader **made, struct dtx_err *err);
	/* A step gets a batch of another table than its first one, number `input` of its tables:
	 * from any worker, in any order. The batch becomes dense. NULL: the first batch will
	 * follow, if there is one. */
	enum dtx_code (*side)(void *arg, struct dtx_graph *g, uint32_t step, unsigned input,
	                      struct dtx_batch *b, struct dtx_err *err);
	/* The attempt is over: frees what was made for it. */
	void (*clear)(void *arg);
	/* For explain, which runs nothing: says in all pipelines what would be made elsewhere. */
	void (*draw)(void *arg, const struct dtx_graph *g, struct dtx_phys *phys);
	/* Set by the provider: the run must be done by one process, from the start; or once more,
	 * as what a process had made is lost. */
	bool whole, again;
};

#endif
