/* Attributes and small macros that every file uses. */
#ifndef DTX_BASE_BASE_H
#define DTX_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTX_VERSION "0.1.0"

__extension__ typedef __int128 dtx_i128;
__extension__ typedef unsigned __int128 dtx_u128;

#define DTX_MUSTUSE           __attribute__((warn_unused_result))
#define DTX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DTX_UNUSED            __attribute__((unused))
#define DTX_COUNT(a)          (sizeof(a) / sizeof((a)[0]))
#define DTX_JSON(...)         #__VA_ARGS__
#define DTX_MIN(a, b)         ((a) < (b) ? (a) : (b))
#define DTX_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define DTX_LIKELY(x)         __builtin_expect(!!(x), 1)
#define DTX_UNLIKELY(x)       __builtin_expect(!!(x), 0)

/* Rows of a batch never exceed this: a selection is uint16_t. */
#define DTX_BATCH_ROWS 65536u

#endif
