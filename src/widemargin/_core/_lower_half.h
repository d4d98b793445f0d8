/* Products with a block of the lower half of a symmetric matrix, which is read once, row after row.
 *
 * Row i has `lead + i` entries left of the diagonal, of which the block has the first `width`. Each entry serves twice:
 * down_i += B_ij x_j and across_j += B_ij y_i; the diagonal, where the block reaches it, serves once.
 * Of one vector, or of a pair: the second one's entries are `size` after the first one's, its sums across `room` after.
 */
#ifndef WIDEMARGIN_LOWER_HALF_H
#define WIDEMARGIN_LOWER_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_wide.h"

#define LOWER_HALF(real, name) \
    INLINE void name##_rows(const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, \
                            const real *restrict x, const real *restrict y, double *down, real *restrict across, \
                            ptrdiff_t size, ptrdiff_t room, int is_pair) \
    { \
        for (ptrdiff_t i = 0; i < n; i++) { \
            const real *row = block + i * stride, own = y[i], other = is_pair ? y[size + i] : 0; \
            const ptrdiff_t end = lead + i < width ? lead + i : width; \
            real sum = 0, second = 0; \
            _Pragma("omp simd reduction(+ : sum, second)") for (ptrdiff_t j = 0; j < end; j++) \
            { \
                sum += row[j] * x[j]; \
                across[j] += row[j] * own; \
                if (is_pair) { \
                    second += row[j] * x[size + j]; \
                    across[room + j] += row[j] * other; \
                } \
            } \
            if (end >= 0 && end < width) { \
                sum += row[end] * own; \
                second += row[end] * other; \
            } \
            down[i] += sum; \
            if (is_pair) \
                down[size + i] += second; \
        } \
    } \
    INLINE void name##_loop(const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, \
                            const real *x, const real *y, double *down, real *across, ptrdiff_t size, ptrdiff_t room, \
                            int is_pair) /* a copy of the loop for each */ \
    { \
        if (is_pair) \
            name##_rows(block, n, width, stride, lead, x, y, down, across, size, room, 1); \
        else \
            name##_rows(block, n, width, stride, lead, x, y, down, across, size, room, 0); \
    } \
    COMPILED_TWICE(name, \
                   (const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, const real *x, \
                    const real *y, double *down, real *across, ptrdiff_t size, ptrdiff_t room, int is_pair), \
                   (block, n, width, stride, lead, x, y, down, across, size, room, is_pair))

LOWER_HALF(float, lower_half_narrow)
LOWER_HALF(double, lower_half_double)

/* float64 values as float32 ones and what those miss, in 65534ths of their last place: 39 bits instead of 24. */

#define PLACE 549739036672.0 /* 2^24 * 32767: the last place of a float in [1, 2) is 2^-23, and half of it is missed */

INLINE float power_of(float x) /* the power of two below x, 0 where x is 0 or nearly */
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits &= 0x7f800000;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

INLINE void split_row_loop(const double *restrict x, ptrdiff_t n, float *restrict near, int16_t *restrict rest)
{
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++) {
        const float y = (float)x[j], power = power_of(y);
        const float missed = (float)(x[j] - y) / (power > 0.0f ? power : 1.0f) * (float)PLACE;
        near[j] = y;
        rest[j] = (int16_t)(int32_t)(power > 0.0f ? missed + (missed < 0.0f ? -0.5f : 0.5f) : 0.0f);
    }
}

/* The same products as above, of one vector or of two: vectors follow each other, `size` entries apart. */
INLINE void fine_loop(const float *near, const int16_t *rest, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride,
                      ptrdiff_t lead, const double *restrict x, const double *restrict y, double *down,
                      double *restrict across, ptrdiff_t size, int is_pair)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const float *row = near + i * stride;
        const int16_t *more = rest + i * stride;
        const double own = y[i], other = is_pair ? y[size + i] : 0.0;
        const ptrdiff_t end = lead + i < width ? lead + i : width;
        double sum = 0.0, second = 0.0;
#pragma omp simd reduction(+ : sum, second)
        for (ptrdiff_t j = 0; j < end; j++) {
            const double value = row[j] + power_of(row[j]) * (float)more[j] * (1.0 / PLACE);
            sum += value * x[j];
            across[j] += value * own;
            if (is_pair) {
                second += value * x[size + j];
                across[size + j] += value * other;
            }
        }
        if (end >= 0 && end < width) {
            const double value = row[end] + power_of(row[end]) * (float)more[end] * (1.0 / PLACE);
            sum += value * own;
            second += value * other;
        }
        down[i] += sum;
        if (is_pair)
            down[size + i] += second;
    }
}

INLINE void lower_half_fine_loop(const float *near, const int16_t *rest, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride,
                        ptrdiff_t lead, const double *x, const double *y, double *down, double *across,
                        ptrdiff_t size, int is_pair) /* a copy of the loop for each */
{
    if (is_pair)
        fine_loop(near, rest, n, width, stride, lead, x, y, down, across, size, 1);
    else
        fine_loop(near, rest, n, width, stride, lead, x, y, down, across, size, 0);
}

COMPILED_TWICE(split_row, (const double *x, ptrdiff_t n, float *near, int16_t *rest), (x, n, near, rest))

COMPILED_TWICE(lower_half_fine,
               (const float *near, const int16_t *rest, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead,
                const double *x, const double *y, double *down, double *across, ptrdiff_t size, int is_pair),
               (near, rest, n, width, stride, lead, x, y, down, across, size, is_pair))

#endif
