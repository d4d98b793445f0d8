/* Products of these rows with two vectors: every row is read once, and four of them share what is read of the vectors.
 *
 * BLAS reads rows twice for it, or has a narrow product of matrices that is fast with some of its kernels only.
 */
#ifndef WIDEMARGIN_TWO_PRODUCTS_H
#define WIDEMARGIN_TWO_PRODUCTS_H

#include <stddef.h>
#include <stdint.h>

#include "_wide.h"

#define TWO_PRODUCTS \
    ptrdiff_t n, const int64_t *restrict which, ptrdiff_t m, const double *restrict rows, ptrdiff_t stride, \
        const double *restrict x, const double *restrict y, double *restrict on_x, double *restrict on_y

INLINE void two_products_loop(TWO_PRODUCTS)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = rows + which[i] * stride, *b = rows + which[i + 1] * stride;
        const double *c = rows + which[i + 2] * stride, *d = rows + which[i + 3] * stride;
        double ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0, dx = 0, dy = 0;
        _Pragma("omp simd reduction(+ : ax, ay, bx, by, cx, cy, dx, dy)") for (ptrdiff_t j = 0; j < m; j++)
        {
            ax += a[j] * x[j];
            ay += a[j] * y[j];
            bx += b[j] * x[j];
            by += b[j] * y[j];
            cx += c[j] * x[j];
            cy += c[j] * y[j];
            dx += d[j] * x[j];
            dy += d[j] * y[j];
        }
        on_x[i] = ax, on_x[i + 1] = bx, on_x[i + 2] = cx, on_x[i + 3] = dx;
        on_y[i] = ay, on_y[i + 1] = by, on_y[i + 2] = cy, on_y[i + 3] = dy;
    }
    for (; i < n; i++) {
        const double *a = rows + which[i] * stride;
        double ax = 0, ay = 0;
        _Pragma("omp simd reduction(+ : ax, ay)") for (ptrdiff_t j = 0; j < m; j++)
        {
            ax += a[j] * x[j];
            ay += a[j] * y[j];
        }
        on_x[i] = ax, on_y[i] = ay;
    }
}

COMPILED_THRICE(two_products, (TWO_PRODUCTS), (n, which, m, rows, stride, x, y, on_x, on_y))

#endif
