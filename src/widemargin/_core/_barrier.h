/* The pairs of one item in an interior point, several at a time and without branches: see `_barrier.pyx`. */
#ifndef WIDEMARGIN_BARRIER_H
#define WIDEMARGIN_BARRIER_H

#include <math.h>
#include <stddef.h>

#include "_wide.h"

#define LEAST 1e-16 /* share of its partner below which a difference is rounding */

/* An item, those that it is preferred to, and the variables of the pairs. */
typedef struct {
    ptrdiff_t n;
    double s, w; /* utility and weight of the item */
    const double *restrict others; /* utilities */
    const double *restrict weights;
    double *restrict y;
    double *restrict t;
    int squared; /* slacks, whose multipliers have no bound: xi is 1 then, and r = 2 c */
} Partners;

/* Two directions, as differences of utilities: of the item, and of the others; and the products that are aimed at. */
typedef struct {
    double first, second, mu;
    const double *restrict firsts;
    const double *restrict seconds;
} Aims;

#define LARGER(a, b) ((a) > (b) ? (a) : (b)) /* fmax and fmin would keep the loops from being vectorised */
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

/* A pair; `squared` is known when a loop is compiled. The weight is y r / q, and `off` what the predictor is to mend. */
#define PAIR                                                                      \
    double d = of->s - of->others[k] - 1, c = of->w * of->weights[k];             \
    double t = of->t[k], y = of->y[k];                                            \
    double xi = squared ? 1 : LARGER(t - d, LEAST * t), r = squared ? 2 * c : LARGER(c - y, LEAST * c); \
    double q = t * r + xi * y, off = squared ? d + y / r : d

/* The predictor, which aims at products of zero: dy / y and dy / r, with dt / t = -1 - a and dxi / xi = -1 + e. */
#define PREDICTED                                                                 \
    double b = aim->first - aim->firsts[k], push = -(off + b) / q, a = r * push, e = y * push

/* dy / y, dy / r, dt / t and dxi / xi of the corrected direction; one division. */
#define CORRECTED                                                                 \
    double inverse = 1 / (t * y * xi * r * q), b2 = aim->second - aim->seconds[k]; \
    double by_ty = xi * r * q * inverse, by_xr = t * y * q * inverse, by_q = t * y * xi * r * inverse; \
    double aim_t = aim->mu * c * by_ty - 1 + a * (1 + a), aim_xi = aim->mu * c * by_xr - 1 - e * (1 - e); \
    double rho = t * aim_t + (squared ? t - off : -xi * aim_xi);                  \
    double move = by_q * (rho - b2), a2 = r * move, e2 = y * move;                \
    double dt = aim_t - a2, dxi = aim_xi + e2

/* Weights of the pairs to a column of Newton's matrix, what they pull, and the predictor's right side.
 * sums: of y, W, W off; added up over all items: the products, and what multipliers give the dual value.
 */
INLINE void look_pairs(const int squared, const Partners *of, double *restrict column, double *restrict pull,
                       double *restrict right, double *restrict degree, double *restrict sums)
{
    double sum_y = 0, sum_w = 0, sum_off = 0, product = 0, lead = 0;
    _Pragma("omp simd reduction(+ : sum_y, sum_w, sum_off, product, lead)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        double W = y * r / q;
        column[k] -= W;
        pull[k] -= y;
        right[k] += W * off;
        degree[k] += W;
        sum_y += y;
        sum_w += W;
        sum_off += W * off;
        product += t * y + (squared ? 0 : xi * r);
        lead += squared ? y * (1 - 0.5 * (off - d)) : y;
    }
    sums[0] = sum_y;
    sums[1] = sum_w;
    sums[2] = sum_off;
    sums[3] += product;
    sums[4] += lead;
}

/* The steepest relative decrease of a variable along the predictor, and the products that it would leave in second order. */
INLINE void predict_pairs(const int squared, const Partners *of, const Aims *aim, double *restrict sums)
{
    double steepest = sums[0], cross = 0;
    _Pragma("omp simd reduction(+ : cross) reduction(max : steepest)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        double most = a > -0.5 ? 1 + a : -a, other = e > 0.5 ? e : 1 - e;
        most = squared ? most : LARGER(most, other);
        steepest = LARGER(steepest, most);
        cross += y * a * (squared ? -t * (1 + a) : b);
    }
    sums[0] = steepest;
    sums[1] += cross;
}

/* The corrector's right side; returns what the item itself gets. */
INLINE void correct_pairs(const int squared, const Partners *of, const Aims *aim, double *restrict right,
                          double *restrict sums)
{
    double total = 0;
    _Pragma("omp simd reduction(+ : total)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        double bent = t * a * (1 + a), other = xi * (1 + e * (1 - e));
        double by_y = squared ? aim->mu * c * r + y * r * (bent - off) : aim->mu * c * (r - y) + y * r * (other - t + bent);
        double pulled = by_y / q;
        right[k] -= pulled;
        total += pulled;
    }
    sums[0] = total;
}

/* A pair after a step, none of its variables moved by more than `most` of its way to zero or to its bound: of surplus
 * and slack the smaller one moves, and the utilities, which make its difference `now`, say what the other is.
 */
#define MOVED(length, now, y1, t1)                                                \
    double down = LARGER((length) * y * a2, -most * y), y1 = y + (squared ? down : SMALLER(down, most * r)); \
    double less_xi = LARGER((length) * dxi, -most), less_t = LARGER((length) * dt, -most); \
    double t1 = squared || !((now) > 0) ? t * (1 + less_t) : xi * (1 + less_xi) + (now)

/* Add, for a step of some length: what multipliers do not move for it, and the products after it. */
#define TRIED(length, undone, products)                                           \
    {                                                                             \
        double now = d + (length) * b2;                                           \
        MOVED(length, now, y1, t1);                                               \
        undone += fabs(y + (length) * y * a2 - y1);                               \
        products += y1 * t1 + (squared ? 0 : (c - y1) * (t1 - now));              \
    }

/* The steepest relative decrease along the corrected direction, and B'dy.
 * sums: steepest, B'dy of the item, |dy|; then, for each of three lengths, what is not done and the products.
 */
INLINE void respond_pairs(const int squared, const Partners *of, const Aims *aim, const double *restrict lengths,
                          double most, double *restrict flow, double *restrict sums)
{
    double steepest = sums[0], total = 0, sizes = 0, u0 = 0, u1 = 0, u2 = 0, p0 = 0, p1 = 0, p2 = 0;
    const double l0 = lengths[0], l1 = lengths[1], l2 = lengths[2];
    _Pragma("omp simd reduction(+ : total, sizes, u0, u1, u2, p0, p1, p2) reduction(max : steepest)")
    for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        CORRECTED;
        double larger = LARGER(-a2, -dt), other = LARGER(e2, -dxi), dy = y * a2;
        larger = squared ? larger : LARGER(larger, other);
        steepest = LARGER(steepest, larger);
        flow[k] -= dy;
        total += dy;
        sizes += fabs(dy);
        TRIED(l0, u0, p0);
        TRIED(l1, u1, p1);
        TRIED(l2, u2, p2);
    }
    sums[0] = steepest;
    sums[1] = total;
    sums[2] += sizes;
    sums[3] += u0;
    sums[4] += u1;
    sums[5] += u2;
    sums[6] += p0;
    sums[7] += p1;
    sums[8] += p2;
}

/* Move the variables to where the utilities are those given. */
INLINE void step_pairs(const int squared, const Partners *of, const Aims *aim, double length, double most, double s,
                       const double *restrict others)
{
    _Pragma("omp simd") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        CORRECTED;
        double now = s - others[k] - 1;
        MOVED(length, now, y1, t1);
        of->y[k] = y1;
        of->t[k] = t1;
    }
}

/* Variables whose products are mu times the bounds, at the utilities. */
INLINE void centre_pairs(const int squared, const Partners *of, double mu)
{
    const double product = squared ? 0.5 * mu : mu * mu; /* of the roots of t^2 - d t - product; the hinge's t is mu more */
    _Pragma("omp simd") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        double d = of->s - of->others[k] - 1, c = of->w * of->weights[k];
        double size = d < 0 ? -d : d, root = sqrt(d * d + 4 * product), large = 0.5 * (root + size), small = product / large;
        double t = (squared ? 0 : mu) + (d < 0 ? small : large);
        of->t[k] = t;
        of->y[k] = c * mu / t;
    }
}

/* What the pairs fall short of a margin of 1, or its square, added up: as small as it is, it is exact. */
INLINE double short_pairs(const int squared, double s, double w, const double *restrict others,
                          const double *restrict weights, ptrdiff_t n)
{
    double total = 0;
    _Pragma("omp simd reduction(+ : total)") for (ptrdiff_t k = 0; k < n; k++)
    {
        double off = LARGER(1 - (s - others[k]), 0);
        total += weights[k] * (squared ? off * off : off);
    }
    return w * total;
}

/* A loop for each of the losses, in registers of each width. */
#define FOR_EITHER_LOSS(name, parameters, ...)                                    \
    INLINE void barrier_##name##_loop parameters                                  \
    {                                                                             \
        if (of->squared)                                                          \
            name##_pairs(1, __VA_ARGS__);                                         \
        else                                                                      \
            name##_pairs(0, __VA_ARGS__);                                         \
    }                                                                             \
    COMPILED_THRICE(barrier_##name, parameters, (__VA_ARGS__))

INLINE void barrier_short_loop(int squared, double s, double w, const double *restrict others,
                               const double *restrict weights, ptrdiff_t n, double *restrict sum)
{
    *sum += squared ? short_pairs(1, s, w, others, weights, n) : short_pairs(0, s, w, others, weights, n);
}

COMPILED_THRICE(barrier_short,
                (int squared, double s, double w, const double *restrict others, const double *restrict weights,
                 ptrdiff_t n, double *restrict sum),
                (squared, s, w, others, weights, n, sum))
FOR_EITHER_LOSS(centre, (const Partners *of, double mu), of, mu)
FOR_EITHER_LOSS(look,
                (const Partners *of, double *restrict column, double *restrict pull, double *restrict right,
                 double *restrict degree, double *restrict sums),
                of, column, pull, right, degree, sums)
FOR_EITHER_LOSS(predict, (const Partners *of, const Aims *aim, double *restrict sums), of, aim, sums)
FOR_EITHER_LOSS(correct, (const Partners *of, const Aims *aim, double *restrict right, double *restrict sums), of, aim,
                right, sums)
FOR_EITHER_LOSS(respond,
                (const Partners *of, const Aims *aim, const double *restrict lengths, double most,
                 double *restrict flow, double *restrict sums),
                of, aim, lengths, most, flow, sums)
FOR_EITHER_LOSS(step,
                (const Partners *of, const Aims *aim, double length, double most, double s,
                 const double *restrict others),
                of, aim, length, most, s, others)

#endif
