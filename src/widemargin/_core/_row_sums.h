/* Sums over rows with slacks of their own: several rows at a time, without branches. A shortfall that is not a number
 * makes the sums so, too.
 */
#ifndef WIDEMARGIN_ROW_SUMS_H
#define WIDEMARGIN_ROW_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "_wide.h"

/* Derivatives in `step` at t - step * dz, for slopes v, the shortfall beyond `low` cut off at 0 and at `most`. */
INLINE void along_rows_loop(ptrdiff_t n, const double *restrict t, const double *restrict dz, const double *restrict c,
                            double step, double low, double most, double *restrict sums)
{
    double first = 0, second = 0;
    _Pragma("omp simd reduction(+ : first, second)") for (ptrdiff_t k = 0; k < n; k++)
    {
        double cd = c[k] * dz[k], v = t[k] - step * dz[k] - low;
        v = v < 0 ? 0 : v;
        v = v > most ? most : v;
        first += cd * v;
        second += v > 0 && v < most ? cd * dz[k] : 0;
    }
    sums[0] = -first;
    sums[1] = second;
}

/* Slopes and curvatures of hinges smoothed by h; sums: smooth loss, exact loss, what the slopes miss of it. */
INLINE void hinge_rows_loop(ptrdiff_t n, const double *restrict t, const double *restrict c, double h,
                            double *restrict slope, double *restrict curvature, double *restrict sums)
{
    double smooth = 0, exact = 0, excess = 0, width = 2 * h;
    _Pragma("omp simd reduction(+ : smooth, exact, excess)") for (ptrdiff_t k = 0; k < n; k++)
    {
        double s = t[k], v = s + h, share, loss = s < 0 ? 0 : s;
        v = v < 0 ? 0 : v;
        v = v > width ? width : v;
        share = v / width;
        slope[k] = c[k] * share;
        curvature[k] = v > 0 && v < width ? c[k] / width : 0;
        smooth += c[k] * (v > 0 && v < width ? h * share * share : loss);
        exact += c[k] * loss;
        excess += c[k] * (v > 0 && v < width ? loss - share * s : 0);
    }
    sums[0] = smooth;
    sums[1] = exact;
    sums[2] = excess;
}

/* The same where slacks are squared: nothing is smoothed. */
INLINE void square_rows_loop(ptrdiff_t n, const double *restrict t, const double *restrict c, double *restrict slope,
                             double *restrict curvature, double *restrict sums)
{
    double exact = 0;
    _Pragma("omp simd reduction(+ : exact)") for (ptrdiff_t k = 0; k < n; k++)
    {
        double s = t[k] < 0 ? 0 : t[k];
        slope[k] = 2 * c[k] * s;
        curvature[k] = s > 0 ? 2 * c[k] : 0; /* strict: a margin of exactly 1 is not a violation */
        exact += c[k] * s * s;
    }
    sums[0] = sums[1] = exact;
    sums[2] = 0;
}

/* List the rows within `radius` of their margins and count them; `up` and `down` get the weights of those that fall
 * short by more, by the sign of their level, and 0 elsewhere. No branch: which rows are near is as good as random. */
INLINE void split_rows_loop(ptrdiff_t n, const double *restrict t, const double *restrict c,
                            const double *restrict sign, double radius, int64_t *restrict near,
                            double *restrict up, double *restrict down, ptrdiff_t *restrict count)
{
    *count = 0;
    for (ptrdiff_t k = 0; k < n; k++)
    {
        double far = t[k] > radius ? c[k] : 0;
        up[k] = sign[k] > 0 ? far : 0;
        down[k] = sign[k] > 0 ? 0 : far;
    }
    for (ptrdiff_t k = 0; k < n; k++)
    {
        near[*count] = k;
        *count += (t[k] <= radius) & (t[k] >= -radius);
    }
}

/* Add g'X to out for X of p columns, four rows at a time. */
#define PULL_ROWS(name, real) \
    INLINE void name##_loop(ptrdiff_t n, ptrdiff_t p, const real *restrict X, const double *restrict g, \
                            double *restrict out) \
    { \
        ptrdiff_t k = 0; \
        for (; k + 4 <= n; k += 4) \
        { \
            const real *x = X + k * p; \
            _Pragma("omp simd") for (ptrdiff_t j = 0; j < p; j++) \
                out[j] += (g[k] * x[j] + g[k + 1] * x[p + j]) + (g[k + 2] * x[2 * p + j] + g[k + 3] * x[3 * p + j]); \
        } \
        for (; k < n; k++) \
            for (ptrdiff_t j = 0; j < p; j++) \
                out[j] += g[k] * X[k * p + j]; \
    } \
    COMPILED_TWICE(name, (ptrdiff_t n, ptrdiff_t p, const real *X, const double *g, double *out), (n, p, X, g, out))

PULL_ROWS(pull_rows_float, float)
PULL_ROWS(pull_rows_double, double)
COMPILED_TWICE(split_rows,
               (ptrdiff_t n, const double *t, const double *c, const double *sign, double radius, int64_t *near,
                double *up, double *down, ptrdiff_t *count),
               (n, t, c, sign, radius, near, up, down, count))
COMPILED_TWICE(along_rows,
               (ptrdiff_t n, const double *t, const double *dz, const double *c, double step, double low, double most,
                double *sums),
               (n, t, dz, c, step, low, most, sums))
COMPILED_TWICE(hinge_rows,
               (ptrdiff_t n, const double *t, const double *c, double h, double *slope, double *curvature, double *sums),
               (n, t, c, h, slope, curvature, sums))
COMPILED_TWICE(square_rows,
               (ptrdiff_t n, const double *t, const double *c, double *slope, double *curvature, double *sums),
               (n, t, c, slope, curvature, sums))

#endif
