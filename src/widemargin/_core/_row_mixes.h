/* Sums of multiples of rows, several columns at a time: see `laplacian_rows` in `_hessian.pyx`.
 *
 * Products are rounded before they are added, on every processor: what cancels must leave nothing. Of whole numbers
 * a Hessian is exactly zero where no pair bends, and steps tell by that.
 */
#ifndef WIDEMARGIN_ROW_MIXES_H
#define WIDEMARGIN_ROW_MIXES_H

#include <stddef.h>

#include "_wide.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define ROUNDED __attribute__((target("avx2")))
#else
#define ROUNDED
#endif

#define IN_WIDE_ROUNDED(name, parameters, arguments) \
    ROUNDED static void name##_wide parameters { name##_loop arguments; } \
    static void name parameters \
    { \
        if (HAS_WIDE) \
            name##_wide arguments; \
        else \
            name##_loop arguments; \
    }

/* y += a x, and y = a x + b z. */
#define ROW_MIXES(real, name)                                                                                    \
    INLINE void name##_add_loop(real *restrict y, real a, const real *restrict x, ptrdiff_t n)                   \
    {                                                                                                            \
        _Pragma("omp simd") for (ptrdiff_t c = 0; c < n; c++) y[c] += a * x[c];                                  \
    }                                                                                                            \
    INLINE void name##_mix_loop(real *restrict y, real a, const real *restrict x, real b, const real *restrict z, \
                                ptrdiff_t n)                                                                     \
    {                                                                                                            \
        _Pragma("omp simd") for (ptrdiff_t c = 0; c < n; c++) y[c] = a * x[c] + b * z[c];                        \
    }                                                                                                            \
    IN_WIDE_ROUNDED(name##_add, (real * y, real a, const real *x, ptrdiff_t n), (y, a, x, n))                    \
    IN_WIDE_ROUNDED(name##_mix, (real * y, real a, const real *x, real b, const real *z, ptrdiff_t n),           \
                    (y, a, x, b, z, n))

ROW_MIXES(float, narrow)
ROW_MIXES(double, wide)

#endif
