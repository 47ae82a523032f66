/* What runs fragments: the four verbs by which a driver uses an engine. */
#ifndef DTX_CLUSTER_ENGINE_H
#define DTX_CLUSTER_ENGINE_H

#include "core/base/memory/buf.h"

struct dtx_engine_event {
	uint32_t id; /* of the fragment that ended */
	int status;  /* its exit status, an enum dtx_fragment_class; -1: it was killed or lost */
	char reason[80];     /* for -1: what is known about it */
	struct dtx_buf text; /* what it printed; the caller clears it */
};
struct dtx_engine;
struct dtx_engine_class {
	const char *name; /* "local": the scheme of the engine's address */
	/* Starts a fragment as soon as there is a slot for it. Fragments start in the order in
	 * which they were submitted. `spec` is copied. */
	enum dtx_code (*submit)(struct dtx_engine *e, uint32_t id, const char *spec,
	                        struct dtx_err *err);
	/* Waits for a fragment to end, up to wait_ms. *got is false if none did. */
	enum dtx_code (*next)(struct dtx_engine *e, int wait_ms, struct dtx_engine_event *out,
	                      bool *got, struct dtx_err *err);
	/* Ends all fragments; none of them is reported after that. */
	void (*cancel)(struct dtx_engine *e);
	void (*close)(struct dtx_engine *e);
};
struct dtx_engine {
	const struct dtx_engine_class *cls;
	unsigned slots; /* fragments that run at the same time */
};

/* local://N: N child processes of this one. */
DTX_MUSTUSE enum dtx_code dtx_engine_local(unsigned slots, struct dtx_engine **out,
                                           struct dtx_err *err);

#endif
