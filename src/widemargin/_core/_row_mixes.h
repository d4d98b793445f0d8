/* Sums of multiples of rows, for wide registers: see `laplacian_rows` in `_hessian.pyx`. */
#ifndef WIDEMARGIN_ROW_MIXES_H
#define WIDEMARGIN_ROW_MIXES_H

#include <stddef.h>

#include "_wide.h"

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
    COMPILED_THRICE(name##_add, (real * y, real a, const real *x, ptrdiff_t n), (y, a, x, n))                    \
    COMPILED_THRICE(name##_mix, (real * y, real a, const real *x, real b, const real *z, ptrdiff_t n), (y, a, x, b, z, n))

ROW_MIXES(float, narrow)
ROW_MIXES(double, wide)

#endif
