/* Attributes and small macros that every file uses. */
#ifndef DTX_BASE_BASE_H
#define DTX_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTX_VERSION "0.1.0"

__extension__ typedef __int128 dtx_i128;
__extension__ typedef unsigned __int128 dtx_u128;

/* A caller that ignores the result of such a function gets a warning, which is an error in our
 * builds. */
#define DTX_MUSTUSE           __attribute__((warn_unused_result))
#define DTX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DTX_UNUSED            __attribute__((unused))
#define DTX_COUNT(a)          (sizeof(a) / sizeof((a)[0]))
/* JSON text in C source without escaped quotes: DTX_JSON({"op":"filter"}) is a string literal. */
#define DTX_JSON(...)   #__VA_ARGS__
#define DTX_MIN(a, b)   ((a) < (b) ? (a) : (b))
#define DTX_MAX(a, b)   ((a) > (b) ? (a) : (b))
#define DTX_LIKELY(x)   __builtin_expect(!!(x), 1)
#define DTX_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* No batch has more rows than this, so a row number within a batch fits into uint16_t, the type of
 * selections. */
#define DTX_BATCH_ROWS 65536u

#endif
