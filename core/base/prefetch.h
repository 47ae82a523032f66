/* Memory asked for ahead of its use. */
#ifndef DTX_BASE_PREFETCH_H
#define DTX_BASE_PREFETCH_H

/* gcc takes a function that does nothing but prefetch for one without effect and leaves its calls
 * out; the empty statement is one. */
#define DTX_PREFETCH(ptr)                                                                          \
	do {                                                                                       \
		__builtin_prefetch(ptr);                                                           \
		__asm__ volatile("");                                                              \
	} while (0)

#endif
