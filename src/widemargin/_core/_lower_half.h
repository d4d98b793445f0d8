/* Products with a block of the lower half of a symmetric matrix, which is read once, row after row.
 *
 * Row i has `lead + i` entries left of the diagonal, of which the block has the first `width`. Each entry serves twice:
 * down_i += B_ij x_j and across_j += B_ij y_i; the diagonal, where the block reaches it, serves once.
 */
#ifndef WIDEMARGIN_LOWER_HALF_H
#define WIDEMARGIN_LOWER_HALF_H

#include <stddef.h>

#include "_wide.h"

#define LOWER_HALF(real, name) \
    INLINE void name##_loop(const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, \
                            const real *restrict x, const real *restrict y, double *down, real *restrict across) \
    { \
        for (ptrdiff_t i = 0; i < n; i++) { \
            const real *row = block + i * stride, own = y[i]; \
            const ptrdiff_t end = lead + i < width ? lead + i : width; \
            real sum = 0; \
            _Pragma("omp simd reduction(+ : sum)") for (ptrdiff_t j = 0; j < end; j++) \
            { \
                sum += row[j] * x[j]; \
                across[j] += row[j] * own; \
            } \
            down[i] += sum; \
            if (end >= 0 && end < width) \
                down[i] += row[end] * own; \
        } \
    } \
    WIDE static void name##_wide(const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, \
                                 const real *x, const real *y, double *down, real *across) \
    { \
        name##_loop(block, n, width, stride, lead, x, y, down, across); \
    } \
    static void name(const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, const real *x, \
                     const real *y, double *down, real *across) \
    { \
        if (HAS_WIDE) \
            name##_wide(block, n, width, stride, lead, x, y, down, across); \
        else \
            name##_loop(block, n, width, stride, lead, x, y, down, across); \
    }

LOWER_HALF(float, lower_half_narrow)
LOWER_HALF(double, lower_half_double)

#endif
