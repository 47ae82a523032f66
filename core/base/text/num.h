/* Numbers to and from text, independent of the locale. */
#ifndef DTX_BASE_TEXT_NUM_H
#define DTX_BASE_TEXT_NUM_H

#include "core/base/base.h"
#include "core/base/text/str.h"

/* Size of a buffer that holds any output below with its terminator. */
#define DTX_NUM_TEXT 48

/* The whole text must be [+-]?digits within int64.  Leading zeros are allowed; the caller decides
 * about the form. */
DTX_MUSTUSE bool dtx_num_parse_i64(const char *text, size_t len, int64_t *out);
/* The whole text must be [+-]?digits[.digits][e[+-]digits] and finite; nan, inf, hex and blanks are
 * refused.  The result is correctly rounded.  It tries W. Clinger's fast path ("How to read
 * floating point numbers accurately", 1990), then 64-bit precision, then strtod. */
DTX_MUSTUSE bool dtx_num_parse_f64(const char *text, size_t len, double *out);
/* The powers of ten that a double holds exactly: 10^0 to 10^22. */
extern const double dtx_num_pow10[23];
/* Write text with a terminator and return its length. */
size_t dtx_num_print_i64(char out[DTX_NUM_TEXT], int64_t v);
size_t dtx_num_print_u64(char out[DTX_NUM_TEXT], uint64_t v);
/* The text of a number in the formula language: the shortest digits that read back as v.  Plain for
 * 1e-5 <= |x| < 1e16, else with an exponent (1e+16 is printed as "1e16").  It always has a point or
 * an exponent. */
size_t dtx_num_print_f64(char out[DTX_NUM_TEXT], double v);
/* As ECMAScript prints it (RFC 8785): 100 for 100.0. */
size_t dtx_num_print_json(char out[DTX_NUM_TEXT], double v);
/* The shortest decimal digits of |v| (no point, and no trailing zeros except for "0"), and the
 * exponent with |v| = 0.DIGITS * 10^exp10.  v must be finite.  Returns the number of digits. */
size_t dtx_num_digits(double v, char digits[20], int *exp10);
/* x // y and x % y, rounded down, computed on the shortest decimal digits of x and y.  They fit
 * together: x is (x // y) * y + x % y.  The result is not finite if y is 0. */
double dtx_num_floordiv(double x, double y);
double dtx_num_mod(double x, double y);
/* The largest multiple of width that is not above x, computed on decimal digits too; width > 0. */
double dtx_num_floor_to(double x, double width);
/* from + k * step, computed on decimal digits too: three steps of 0.1 from 0 are 0.3. */
double dtx_num_step(double from, int64_t k, double step);
/* v with separators between thousands, for people. */
size_t dtx_num_print_grouped(char out[DTX_NUM_TEXT], int64_t v);

#endif
