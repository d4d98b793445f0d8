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

#ifdef __GNUC__
/* Vectors as wide as registers are, which is up to the processor: wider ones would be taken apart into numbers. */
#define VECTORS(real, whole, some, bytes) \
    typedef real some __attribute__((vector_size(bytes), aligned(4), may_alias)); \
    typedef whole some##_mask __attribute__((vector_size(bytes), aligned(4), may_alias));

VECTORS(float, int32_t, Floats16, 16)
VECTORS(float, int32_t, Floats32, 32)
VECTORS(float, int32_t, Floats64, 64)
VECTORS(double, int64_t, Doubles16, 16)
VECTORS(double, int64_t, Doubles32, 32)
VECTORS(double, int64_t, Doubles64, 64)

static const Floats16_mask Floats16_at = {0, 1, 2, 3};
static const Floats32_mask Floats32_at = {0, 1, 2, 3, 4, 5, 6, 7};
static const Floats64_mask Floats64_at = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const Doubles16_mask Doubles16_at = {0, 1};
static const Doubles32_mask Doubles32_at = {0, 1, 2, 3};
static const Doubles64_mask Doubles64_at = {0, 1, 2, 3, 4, 5, 6, 7};

#define SUM_OF_HALVES(real, some, half) \
    INLINE real some##_sum(const some *all) \
    { \
        half h[2]; \
        memcpy(h, all, sizeof(h)); \
        h[0] += h[1]; \
        return half##_sum(h); \
    }

INLINE float Floats16_sum(const Floats16 *all) { return ((*all)[0] + (*all)[1]) + ((*all)[2] + (*all)[3]); }
INLINE double Doubles16_sum(const Doubles16 *all) { return (*all)[0] + (*all)[1]; }
SUM_OF_HALVES(float, Floats32, Floats16)
SUM_OF_HALVES(float, Floats64, Floats32)
SUM_OF_HALVES(double, Doubles32, Doubles16)
SUM_OF_HALVES(double, Doubles64, Doubles32)

#define AT(some, p) (*(some *)(p))
/* Of row k from j on: all of it, or what is left of the diagonal, since nothing was written beyond. */
#define WHOLE(some, k) AT(const some, row + k * stride + j)
#define LEFT(some, k) ((some)(AT(const some##_mask, row + k * stride + j) & (some##_at < (int32_t)(diagonal + k - j))))
/* Entries of four rows, which share what is read and written of the vectors. */
#define MEET(some, part) \
    do { \
        const some a = part(some, 0), b = part(some, 1), c = part(some, 2), d = part(some, 3); \
        const some u = AT(const some, x + j); \
        s0 += a * u; \
        s1 += b * u; \
        s2 += c * u; \
        s3 += d * u; \
        AT(some, across + j) += (a * own[0] + b * own[1]) + (c * own[2] + d * own[3]); \
        if (is_pair) { \
            const some v = AT(const some, x + size + j); \
            t0 += a * v; \
            t1 += b * v; \
            t2 += c * v; \
            t3 += d * v; \
            AT(some, across + room + j) += (a * other[0] + b * other[1]) + (c * other[2] + d * other[3]); \
        } \
    } while (0)

#define FOUR_ROWS(real, some) \
    INLINE void some##_rows(const real *row, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t diagonal, const real *x, \
                            const real *y, double *down, real *across, ptrdiff_t size, ptrdiff_t room, int is_pair) \
    { \
        const ptrdiff_t lanes = sizeof(some) / sizeof(real), wide = width / lanes * lanes; \
        const ptrdiff_t whole = diagonal < wide ? diagonal : wide, end = diagonal + 3 < wide ? diagonal + 3 : wide; \
        const real own[4] = {y[0], y[1], y[2], y[3]}; \
        real other[4] = {0}; \
        some s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0}; \
        ptrdiff_t j = 0; \
        if (is_pair) \
            memcpy(other, y + size, sizeof(other)); \
        for (; j + lanes <= whole; j += lanes) \
            MEET(some, WHOLE); \
        for (; j < end; j += lanes) \
            MEET(some, LEFT); \
        real sum[4] = {some##_sum(&s0), some##_sum(&s1), some##_sum(&s2), some##_sum(&s3)}; \
        real second[4] = {some##_sum(&t0), some##_sum(&t1), some##_sum(&t2), some##_sum(&t3)}; \
        for (ptrdiff_t k = 0; k < 4; k++, row += stride, diagonal++) { \
            ONE_ROW(real, wide, own[k], other[k], sum[k], second[k]); \
            down[k] += sum[k]; \
            if (is_pair) \
                down[size + k] += second[k]; \
        } \
    }
#endif

/* A row from column `begin` on, and the diagonal. */
#define ONE_ROW(real, begin, own, other, sum, second) \
    do { \
        for (ptrdiff_t j = begin; j < width && j < diagonal; j++) { \
            sum += row[j] * x[j]; \
            across[j] += row[j] * own; \
            if (is_pair) { \
                second += row[j] * x[size + j]; \
                across[room + j] += row[j] * other; \
            } \
        } \
        if (diagonal >= 0 && diagonal < width) { \
            sum += row[diagonal] * own; \
            second += row[diagonal] * other; \
        } \
    } while (0)

#ifdef __GNUC__
FOUR_ROWS(float, Floats16)
FOUR_ROWS(float, Floats32)
FOUR_ROWS(float, Floats64)
FOUR_ROWS(double, Doubles16)
FOUR_ROWS(double, Doubles32)
FOUR_ROWS(double, Doubles64)
#define FOUR_AT_A_TIME(some) \
    for (; i + 4 <= n; i += 4) \
        some##_rows(block + i * stride, width, stride, lead + i, x, y + i, down + i, across, size, room, is_pair);
#else
#define FOUR_AT_A_TIME(some)
#endif

#define BLOCK(real) \
    const real *block, ptrdiff_t n, ptrdiff_t width, ptrdiff_t stride, ptrdiff_t lead, const real *x, const real *y, \
        double *down, real *across, ptrdiff_t size, ptrdiff_t room, int is_pair
#define OF_BLOCK block, n, width, stride, lead, x, y, down, across, size, room
#define BY_ROWS(real, some, name) \
    INLINE void name##_rows(BLOCK(real)) \
    { \
        ptrdiff_t i = 0; \
        FOUR_AT_A_TIME(some) \
        for (; i < n; i++) { \
            const ptrdiff_t diagonal = lead + i; \
            const real *row = block + i * stride, own = y[i], other = is_pair ? y[size + i] : 0; \
            real sum = 0, second = 0; \
            ONE_ROW(real, 0, own, other, sum, second); \
            down[i] += sum; \
            if (is_pair) \
                down[size + i] += second; \
        } \
    } \
    INLINE void name##_each(BLOCK(real)) /* a copy of the loop for one vector, and for two */ \
    { \
        if (is_pair) \
            name##_rows(OF_BLOCK, 1); \
        else \
            name##_rows(OF_BLOCK, 0); \
    }

#define LOWER_HALF(real, some, name) \
    BY_ROWS(real, some##16, name##_narrow) \
    BY_ROWS(real, some##32, name##_wide) \
    BY_ROWS(real, some##64, name##_widest) \
    static void name##_in_16(BLOCK(real)) { name##_narrow_each(OF_BLOCK, is_pair); } \
    WIDE static void name##_in_32(BLOCK(real)) { name##_wide_each(OF_BLOCK, is_pair); } \
    WIDEST static void name##_in_64(BLOCK(real)) { name##_widest_each(OF_BLOCK, is_pair); } \
    static void name(BLOCK(real)) \
    { \
        if (HAS_WIDEST) \
            name##_in_64(OF_BLOCK, is_pair); \
        else if (HAS_WIDE) \
            name##_in_32(OF_BLOCK, is_pair); \
        else \
            name##_in_16(OF_BLOCK, is_pair); \
    }

LOWER_HALF(float, Floats, lower_half_narrow)
LOWER_HALF(double, Doubles, lower_half_double)

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

INLINE void join_row_loop(const float *restrict near, const int16_t *restrict rest, ptrdiff_t n, double *restrict x)
{
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++)
        x[j] = near[j] + power_of(near[j]) * (float)rest[j] * (1.0 / PLACE);
}

COMPILED_TWICE(split_row, (const double *x, ptrdiff_t n, float *near, int16_t *rest), (x, n, near, rest))
COMPILED_THRICE(join_row, (const float *near, const int16_t *rest, ptrdiff_t n, double *x), (near, rest, n, x))

#endif
