/* Products of rows with one vector, and of one vector with rows: four rows at a time. Meanwhile the rows that are needed
 * next are fetched, a part of each as its turn comes, so that memory is as busy as the processor. BLAS does not know them.
 */
#ifndef WIDEMARGIN_STRIDES_H
#define WIDEMARGIN_STRIDES_H

#include <stddef.h>
#include <string.h>

#include "_fetch.h"
#include "_wide.h"

#define STRIDES(real, name) \
    INLINE void name##_dots_loop(const real *rows, ptrdiff_t n, ptrdiff_t p, ptrdiff_t stride, const real *restrict w, \
                                 real *restrict u, Ahead ahead) \
    { \
        ptrdiff_t i = 0; \
        for (; i + 4 <= n; i += 4) { \
            const real *restrict a = rows + i * stride, *restrict b = a + stride, *restrict c = b + stride, \
                                 *restrict d = c + stride; \
            real s = 0, t = 0, v = 0, x = 0; \
            for (ptrdiff_t k = i; k < i + 4; k++) \
                fetch(ahead, k); \
            _Pragma("omp simd reduction(+ : s, t, v, x)") for (ptrdiff_t j = 0; j < p; j++) \
            { \
                s += a[j] * w[j]; \
                t += b[j] * w[j]; \
                v += c[j] * w[j]; \
                x += d[j] * w[j]; \
            } \
            u[i] = s; \
            u[i + 1] = t; \
            u[i + 2] = v; \
            u[i + 3] = x; \
        } \
        for (; i < n; i++) { \
            real s = 0; \
            fetch(ahead, i); \
            _Pragma("omp simd reduction(+ : s)") for (ptrdiff_t j = 0; j < p; j++) s += rows[i * stride + j] * w[j]; \
            u[i] = s; \
        } \
    } \
    INLINE void name##_sum_loop(const real *rows, ptrdiff_t n, ptrdiff_t p, ptrdiff_t stride, const real *restrict g, \
                                real *restrict out, Ahead ahead) \
    { \
        ptrdiff_t i = 0; \
        memset(out, 0, (size_t)p * sizeof(real)); \
        for (; i + 4 <= n; i += 4) { \
            const real *restrict a = rows + i * stride, *restrict b = a + stride, *restrict c = b + stride, \
                                 *restrict d = c + stride; \
            for (ptrdiff_t k = i; k < i + 4; k++) \
                fetch(ahead, k); \
            _Pragma("omp simd") for (ptrdiff_t j = 0; j < p; j++) \
                out[j] += (a[j] * g[i] + b[j] * g[i + 1]) + (c[j] * g[i + 2] + d[j] * g[i + 3]); \
        } \
        for (; i < n; i++) { \
            fetch(ahead, i); \
            _Pragma("omp simd") for (ptrdiff_t j = 0; j < p; j++) out[j] += rows[i * stride + j] * g[i]; \
        } \
    } \
    COMPILED_TWICE(name##_dots, \
                   (const real *rows, ptrdiff_t n, ptrdiff_t p, ptrdiff_t stride, const real *w, real *u, Ahead ahead), \
                   (rows, n, p, stride, w, u, ahead)) \
    COMPILED_TWICE(name##_sum, \
                   (const real *rows, ptrdiff_t n, ptrdiff_t p, ptrdiff_t stride, const real *g, real *out, Ahead ahead), \
                   (rows, n, p, stride, g, out, ahead))

STRIDES(float, narrow)
STRIDES(double, wide)

#endif
