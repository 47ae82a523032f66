/* Numbers to and from text, without locale. */
#ifndef DTX_BASE_TEXT_NUM_H
#define DTX_BASE_TEXT_NUM_H

#include "core/base/base.h"
#include "core/base/text/str.h"

/* Enough for any output below, with terminator. */
#define DTX_NUM_TEXT 48

/* Whole text is -?digits within int64 (leading zeros and '+' allowed: the caller judges form). */
DTX_MUSTUSE bool dtx_num_parse_i64(const char *text, size_t len, int64_t *out);
/* Whole text is [+-]?digits[.digits][e[+-]digits], finite, correctly rounded. No nan, inf, hex,
 * blanks.  Clinger's fast path, then 64-bit precision or strtod. */
DTX_MUSTUSE bool dtx_num_parse_f64(const char *text, size_t len, double *out);
/* Powers of ten that a double holds exactly: 10^0 .. 10^22. */
extern const double dtx_num_pow10[23];
/* Write text and terminator, return the length. */
size_t dtx_num_print_i64(char out[DTX_NUM_TEXT], int64_t v);
size_t dtx_num_print_u64(char out[DTX_NUM_TEXT], uint64_t v);
/* text() of the formula language: shortest digits that read back as v; plain for
 * 1e-5 <= |x| < 1e16, else with exponent (1e+16 prints "1e16"); always a point or an exponent. */
size_t dtx_num_print_f64(char out[DTX_NUM_TEXT], double v);
/* As ECMAScript prints it (RFC 8785): 100 for 100.0. */
size_t dtx_num_print_json(char out[DTX_NUM_TEXT], double v);
/* Shortest decimal digits of |v| (no point, no trailing zeros except "0") and the exponent such
 * that |v| = 0.DIGITS * 10^exp10; v finite. Returns the number of digits. */
size_t dtx_num_digits(double v, char digits[20], int *exp10);
/* x // y and x % y, rounded down, on the shortest digits of x and y: the two belong together, for
 * x is (x // y) * y + x % y.  Not finite where y is 0. */
double dtx_num_floordiv(double x, double y);
double dtx_num_mod(double x, double y);
/* Largest multiple of width that is not above x, in the same way; width > 0. */
double dtx_num_floor_to(double x, double width);
/* from + k * step, in the same way: three steps of 0.1 from 0 are 0.3. */
double dtx_num_step(double from, int64_t k, double step);
/* v with thousands separators, for people. */
size_t dtx_num_print_grouped(char out[DTX_NUM_TEXT], int64_t v);

#endif
