/* Values of an RBF kernel, exp(-gamma |x - z|^2) = exp([x, |x|^2, 1] . [2 gamma z, -gamma, -gamma |z|^2]): products and
 * exponentials of some rows and columns at a time, which stay in registers between.
 */
#ifndef WIDEMARGIN_RBF_H
#define WIDEMARGIN_RBF_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_wide.h"

enum { ROWS = 4, PACK_BYTES = 128 }; /* rows of X at a time; columns of z that lie together, entry after entry */

/* [x, |x|^2, 1] of some rows less the origin, entry after entry; rows beyond the last are zero. */
#define CENTRE(real, name) \
    static void name(const real *X, ptrdiff_t rows, ptrdiff_t d, ptrdiff_t stride, const real *origin, real *left) \
    { \
        for (ptrdiff_t r = 0; r < ROWS; r++) { \
            real norm = 0; \
            for (ptrdiff_t k = 0; k < d; k++) { \
                const real x = r < rows ? X[r * stride + k] - origin[k] : 0; \
                left[k * ROWS + r] = x; \
                norm += x * x; \
            } \
            left[d * ROWS + r] = norm; \
            left[(d + 1) * ROWS + r] = 1; \
        } \
    }
CENTRE(double, rbf_wide_centre)
CENTRE(float, rbf_narrow_centre)

#if defined(__GNUC__)

/* Of exp: a sum with the rounder is a whole number; ln2 ends in zeros, so that some times it is exact. */
enum { rbf_wide_mantissa = 52, rbf_wide_terms = 13, rbf_narrow_mantissa = 23, rbf_narrow_terms = 8 };
static const double rbf_wide_log2e = 1.4426950408889634, rbf_wide_rounder = 6755399441055744.0,
                    rbf_wide_ln2 = 6.93147180369123816490e-01, rbf_wide_ln2_rest = 1.90821492927058770002e-10,
                    rbf_wide_least = -708.0,
                    rbf_wide_series[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                         1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
static const float rbf_narrow_log2e = 1.44269504f, rbf_narrow_rounder = 12582912.0f, rbf_narrow_ln2 = 0.693359375f,
                   rbf_narrow_ln2_rest = -2.12194440e-4f, rbf_narrow_least = -87.0f,
                   rbf_narrow_series[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};

#define PRECISION wide
#define REAL double
#define WHOLE int64_t
#include "_rbf_widths.h"

#define PRECISION narrow
#define REAL float
#define WHOLE int32_t
#include "_rbf_widths.h"

#define VALUES(real, precision) \
    static void rbf_##precision(const real *X, ptrdiff_t m, ptrdiff_t d, ptrdiff_t stride, const real *origin, \
                                const real *right, ptrdiff_t n, real *out, real *left, int most) \
    { \
        if (most >= 64 && HAS_WIDEST) \
            rbf_##precision##_values_vectors_64(X, m, d, stride, origin, right, n, out, left); \
        else if (most >= 32 && HAS_WIDE) \
            rbf_##precision##_values_vectors_32(X, m, d, stride, origin, right, n, out, left); \
        else \
            rbf_##precision##_values_vectors_16(X, m, d, stride, origin, right, n, out, left); \
    }

#else

#define VALUES(real, precision) \
    static void rbf_##precision(const real *X, ptrdiff_t m, ptrdiff_t d, ptrdiff_t stride, const real *origin, \
                                const real *right, ptrdiff_t n, real *out, real *left, int most) \
    { \
        const ptrdiff_t pack = PACK_BYTES / sizeof(real); \
        (void)most; \
        for (ptrdiff_t i = 0; i < m; i++) { \
            rbf_##precision##_centre(X + i * stride, 1, d, stride, origin, left); \
            for (ptrdiff_t j = 0; j < n; j++) { \
                const real *z = right + j / pack * pack * (d + 2) + j % pack; \
                real s = 0; \
                for (ptrdiff_t k = 0; k < d + 2; k++) \
                    s += left[k * ROWS] * z[k * pack]; \
                out[i * n + j] = (real)exp(s > 0 ? 0.0 : s); \
            } \
        } \
    }

#endif

VALUES(double, wide)
VALUES(float, narrow)

#endif
