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

/* What an address says, such as "local://4?bytes=1000000" or "dask+tls://HOST:8786?ca=FILE&...". */
struct dtx_engine_address {
	unsigned slots;        /* of local:// */
	char *scheduler;       /* of dask://: what Dask calls it, "tcp://HOST:PORT" */
	char *ca, *cert, *key; /* paths; "": without TLS */
	unsigned silence_s;    /* without an event, until parts are given up; 0: not said */
	uint64_t bytes;        /* of an input for one fragment; 0: not said */
};
#define DTX_ENGINE_SLOTS     1024
#define DTX_ENGINE_SILENCE_S 60u /* where an address does not say it */
/* Reads an address; clear it also after a failure. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_engine_address(const char *text, struct dtx_engine_address *out,
                                             struct dtx_err *err);
void dtx_engine_address_clear(struct dtx_engine_address *a);

/* Opens the engine of an address. exchange: the folder for the files of fragments, which is there.
 * The caller closes *out. Codes: no_memory, engine_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_engine_open(const struct dtx_engine_address *a, const char *exchange,
                                          struct dtx_engine **out, struct dtx_err *err);
/* local://N: N child processes of this one. silence_s: as in the address. */
DTX_MUSTUSE enum dtx_code dtx_engine_local(unsigned slots, unsigned silence_s,
                                           struct dtx_engine **out, struct dtx_err *err);
/* dask://HOST:PORT, dask+tls://HOST:PORT: tasks of a Dask cluster. */
DTX_MUSTUSE enum dtx_code dtx_engine_dask(const struct dtx_engine_address *address,
                                          const char *exchange, struct dtx_engine **out,
                                          struct dtx_err *err);

#endif
