/* Sums over every pair of a small group: no order of utilities is needed, and the loop over partners is vectorised.
 *
 * Positions go from the best level down, so that the worse partners of an item are all that follow its level.
 * A pair falls short of its margin by y = top - u_i + u_j, m = y+, and has the slope a = m, or min(m, 2h) where the
 * hinge is smoothed by h > 0; top is 1, or 1 + h. The slopes are added to g, and to sums: a (2m - a), (y - h)+, a.
 * Meanwhile as many rows are fetched from `ahead` on.
 */
#ifndef WIDEMARGIN_EVERY_PAIR_H
#define WIDEMARGIN_EVERY_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "_fetch.h"
#include "_wide.h"

#define PARAMETERS \
    ptrdiff_t n, const int64_t *rank, const double *restrict u, const double *restrict c, double *restrict g, \
        double top, double h, Ahead ahead

INLINE void meet(PARAMETERS, int is_smooth, double *sums)
{
    ptrdiff_t end = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double shift = top - u[i], weight = c[i], most = 2.0 * h;
        double slope = 0.0, value = 0.0, loss = 0.0;
        fetch(ahead, i);
        while (end < n && rank[end] == rank[i])
            end++;
#pragma omp simd reduction(+ : slope, value, loss)
        for (ptrdiff_t j = end; j < n; j++) {
            double y = shift + u[j], m = y > 0.0 ? y : 0.0, a = m;
            if (is_smooth) {
                double z = y - h;
                a = m < most ? m : most;
                loss += c[j] * (z > 0.0 ? z : 0.0);
                m = m + m - a;
            }
            g[j] += weight * a;
            a *= c[j];
            slope += a;
            value += a * m;
        }
        g[i] -= slope;
        sums[0] += weight * value;
        sums[1] += weight * loss;
        sums[2] += weight * slope;
    }
}

INLINE void every_pair_loop(PARAMETERS, double *sums) /* a copy of the loop for each loss */
{
    if (h > 0.0)
        meet(n, rank, u, c, g, top, h, ahead, 1, sums);
    else
        meet(n, rank, u, c, g, top, h, ahead, 0, sums);
}

COMPILED_TWICE(every_pair, (PARAMETERS, double *sums), (n, rank, u, c, g, top, h, ahead, sums))

#endif
