/* Sums of vectors in conjugate gradients, several of them in one reading; each is followed by its product with K. */
#ifndef WIDEMARGIN_STEPS_H
#define WIDEMARGIN_STEPS_H

#include <stddef.h>

#include "_wide.h"

/* x += step d, r -= step q; to sums: r'Kr, and r'K least. */
INLINE void advance_loop(ptrdiff_t n, double step, const double *restrict d, const double *restrict q,
                         const double *restrict least, double *restrict x, double *restrict r, double *sums)
{
    double rest = 0.0, across = 0.0;
#pragma omp simd reduction(+ : rest, across)
    for (ptrdiff_t i = 0; i < n; i++) {
        const double own = r[i] - step * q[i], value = r[n + i] - step * q[n + i];
        x[i] += step * d[i];
        x[n + i] += step * d[n + i];
        r[i] = own;
        r[n + i] = value;
        rest += own * value;
        across += own * least[n + i];
    }
    sums[0] = rest;
    sums[1] = across;
}

/* Both means move by a share of what they are off; returns what the second one leaves. */
INLINE double mix_loop(ptrdiff_t n, double share, const double *restrict x, const double *restrict r,
                       double *restrict mean_x, double *restrict mean_r)
{
    double left = 0.0;
#pragma omp simd reduction(+ : left)
    for (ptrdiff_t i = 0; i < n; i++) {
        const double own = mean_r[i] + share * (r[i] - mean_r[i]);
        const double value = mean_r[n + i] + share * (r[n + i] - mean_r[n + i]);
        mean_x[i] += share * (x[i] - mean_x[i]);
        mean_x[n + i] += share * (x[n + i] - mean_x[n + i]);
        mean_r[i] = own;
        mean_r[n + i] = value;
        left += own * value;
    }
    return left;
}

/* d = scale z + share d */
INLINE void turn_loop(ptrdiff_t n, double scale, const double *restrict z, double share, double *restrict d)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < 2 * n; i++)
        d[i] = scale * z[i] + share * d[i];
}

INLINE double dot_loop(const double *restrict x, const double *restrict y, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

#define IN_REGISTERS(kind, name, parameters, arguments) \
    WIDE static kind name##_wide parameters { return name##_loop arguments; } \
    WIDEST static kind name##_widest parameters { return name##_loop arguments; } \
    static kind name parameters \
    { \
        return HAS_WIDEST ? name##_widest arguments : HAS_WIDE ? name##_wide arguments : name##_loop arguments; \
    }

COMPILED_THRICE(advance,
                (ptrdiff_t n, double step, const double *d, const double *q, const double *least, double *x, double *r,
                 double *sums),
                (n, step, d, q, least, x, r, sums))
COMPILED_THRICE(turn, (ptrdiff_t n, double scale, const double *z, double share, double *d), (n, scale, z, share, d))
IN_REGISTERS(double, mix,
             (ptrdiff_t n, double share, const double *x, const double *r, double *mean_x, double *mean_r),
             (n, share, x, r, mean_x, mean_r))
IN_REGISTERS(double, dot, (const double *x, const double *y, ptrdiff_t n), (x, y, n))

#endif
