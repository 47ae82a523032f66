/* Prefetching of memory that is used a little later. */
#ifndef DTX_BASE_PREFETCH_H
#define DTX_BASE_PREFETCH_H

/* gcc considers a function that only prefetches as free of effects and removes calls to it.  The
 * empty asm statement is an effect and prevents that. */
#define DTX_PREFETCH(ptr)                                                                          \
	do {                                                                                       \
		__builtin_prefetch(ptr);                                                           \
		__asm__ volatile("");                                                              \
	} while (0)

#endif
