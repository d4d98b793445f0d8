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
} Partners;

/* Two directions, as differences of utilities: of the item, and of the others; and the products that are aimed at. */
typedef struct {
    double first, second, mu;
    const double *restrict firsts;
    const double *restrict seconds;
} Aims;

#define PAIR                                                                      \
    double d = of->s - of->others[k] - 1, c = of->w * of->weights[k];             \
    double t = of->t[k], y = of->y[k], xi = t - d, r = c - y, q;                  \
    xi = xi > LEAST * t ? xi : LEAST * t;                                         \
    r = r > LEAST * c ? r : LEAST * c;                                            \
    q = t * r + xi * y

/* The predictor, which aims at products of zero: dy / y and dy / r, with dt / t = -1 - a and dxi / xi = -1 + e. */
#define PREDICTED                                                                 \
    double b = aim->first - aim->firsts[k], push = -(d + b) / q, a = r * push, e = y * push

/* dy / y, dy / r, dt / t and dxi / xi of the corrected direction; one division. */
#define CORRECTED                                                                 \
    double inverse = 1 / (t * y * xi * r * q), b2 = aim->second - aim->seconds[k]; \
    double by_ty = xi * r * q * inverse, by_xr = t * y * q * inverse, by_q = t * y * xi * r * inverse; \
    double aim_t = aim->mu * c * by_ty - 1 + a * (1 + a), aim_xi = aim->mu * c * by_xr - 1 - e * (1 - e); \
    double move = by_q * (t * aim_t - xi * aim_xi - b2), a2 = r * move, e2 = y * move; \
    double dt = aim_t - a2, dxi = aim_xi + e2

/* Weights of the pairs to a column of Newton's matrix, what they pull, and the predictor's right side.
 * sums: of y, W, W d, products.
 */
INLINE void barrier_look_loop(const Partners *of, double *restrict column, double *restrict pull,
                              double *restrict right, double *restrict degree, double *restrict sums)
{
    double sum_y = 0, sum_w = 0, sum_d = 0, product = 0;
    _Pragma("omp simd reduction(+ : sum_y, sum_w, sum_d, product)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        double W = y * r / q;
        column[k] -= W;
        pull[k] -= y;
        right[k] += W * d;
        degree[k] += W;
        sum_y += y;
        sum_w += W;
        sum_d += W * d;
        product += t * y + xi * r;
    }
    sums[0] = sum_y;
    sums[1] = sum_w;
    sums[2] = sum_d;
    sums[3] += product;
}

/* The steepest relative decrease of a variable along the predictor, and the sum of dy * B ds. */
INLINE void barrier_predict_loop(const Partners *of, const Aims *aim, double *restrict sums)
{
    double steepest = sums[0], cross = 0;
    _Pragma("omp simd reduction(+ : cross) reduction(max : steepest)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        double most = a > -0.5 ? 1 + a : -a, other = e > 0.5 ? e : 1 - e;
        most = most > other ? most : other;
        steepest = steepest > most ? steepest : most;
        cross += y * a * b;
    }
    sums[0] = steepest;
    sums[1] += cross;
}

/* The corrector's right side; returns what the item itself gets. */
INLINE void barrier_correct_loop(const Partners *of, const Aims *aim, double *restrict right, double *restrict sums)
{
    double total = 0;
    _Pragma("omp simd reduction(+ : total)") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        double pulled = (aim->mu * c * (r - y) + y * r * (xi * (1 + e * (1 - e)) - t * (1 - a * (1 + a)))) / q;
        right[k] -= pulled;
        total += pulled;
    }
    sums[0] = total;
}

/* A pair after a step, none of its variables moved by more than `most` of its way to zero or to its bound: of surplus
 * and slack the smaller one moves, and the utilities, which make its difference `now`, say what the other is.
 */
#define LARGER(a, b) ((a) > (b) ? (a) : (b)) /* fmax and fmin would keep the loops from being vectorised */
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define MOVED(length, now, y1, t1)                                                \
    double down = LARGER((length) * y * a2, -most * y), y1 = y + SMALLER(down, most * r); \
    double less_xi = LARGER((length) * dxi, -most), less_t = LARGER((length) * dt, -most); \
    double t1 = (now) > 0 ? xi * (1 + less_xi) + (now) : t * (1 + less_t)

/* Add, for a step of some length: what multipliers do not move for it, and the products after it. */
#define TRIED(length, undone, products)                                           \
    {                                                                             \
        double now = d + (length) * b2;                                           \
        MOVED(length, now, y1, t1);                                               \
        undone += fabs(y + (length) * y * a2 - y1);                               \
        products += y1 * t1 + (c - y1) * (t1 - now);                              \
    }

/* The steepest relative decrease along the corrected direction, and B'dy.
 * sums: steepest, B'dy of the item, |dy|; then, for each of three lengths, what is not done and the products.
 */
INLINE void barrier_respond_loop(const Partners *of, const Aims *aim, const double *restrict lengths, double most,
                                 double *restrict flow, double *restrict sums)
{
    double steepest = sums[0], total = 0, sizes = 0, u0 = 0, u1 = 0, u2 = 0, p0 = 0, p1 = 0, p2 = 0;
    const double l0 = lengths[0], l1 = lengths[1], l2 = lengths[2];
    _Pragma("omp simd reduction(+ : total, sizes, u0, u1, u2, p0, p1, p2) reduction(max : steepest)")
    for (ptrdiff_t k = 0; k < of->n; k++)
    {
        PAIR;
        PREDICTED;
        CORRECTED;
        double larger = -a2 > e2 ? -a2 : e2, other = dt < dxi ? -dt : -dxi, dy = y * a2;
        larger = larger > other ? larger : other;
        steepest = steepest > larger ? steepest : larger;
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
INLINE void barrier_step_loop(const Partners *of, const Aims *aim, double length, double most, double s,
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
INLINE void barrier_centre_loop(const Partners *of, double mu)
{
    _Pragma("omp simd") for (ptrdiff_t k = 0; k < of->n; k++)
    {
        double d = of->s - of->others[k] - 1, c = of->w * of->weights[k];
        double size = d < 0 ? -d : d, root = sqrt(d * d + 4 * mu * mu), large = 0.5 * (root + size), small = mu * mu / large;
        double t = mu + (d < 0 ? small : large);
        of->t[k] = t;
        of->y[k] = c * mu / t;
    }
}

COMPILED_THRICE(barrier_centre, (const Partners *of, double mu), (of, mu))
COMPILED_THRICE(barrier_look,
               (const Partners *of, double *restrict column, double *restrict pull, double *restrict right,
                double *restrict degree, double *restrict sums),
               (of, column, pull, right, degree, sums))
COMPILED_THRICE(barrier_predict, (const Partners *of, const Aims *aim, double *restrict sums), (of, aim, sums))
COMPILED_THRICE(barrier_correct,
               (const Partners *of, const Aims *aim, double *restrict right, double *restrict sums),
               (of, aim, right, sums))
COMPILED_THRICE(barrier_respond,
               (const Partners *of, const Aims *aim, const double *restrict lengths, double most, double *restrict flow,
                double *restrict sums),
               (of, aim, lengths, most, flow, sums))
COMPILED_THRICE(barrier_step,
               (const Partners *of, const Aims *aim, double length, double most, double s,
                const double *restrict others),
               (of, aim, length, most, s, others))

#endif
