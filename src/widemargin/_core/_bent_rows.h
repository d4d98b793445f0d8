/* What the pairs of one node add to the product of their Laplacian with a matrix: see `bend` in `_pairs.pyx`. */
#ifndef WIDEMARGIN_BENT_ROWS_H
#define WIDEMARGIN_BENT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "_wide.h"

#define BENT_ROWS \
    ptrdiff_t n, const int64_t *restrict which, const double *restrict bent, ptrdiff_t width, \
        const double *restrict own, const double *restrict rows, double *restrict mine, double *restrict out

INLINE void bent_rows_loop(BENT_ROWS)
{
    for (ptrdiff_t e = 0; e < n; e++) {
        const double *other = rows + which[e] * width, weight = bent[e];
        double *theirs = out + which[e] * width;
        _Pragma("omp simd") for (ptrdiff_t j = 0; j < width; j++)
        {
            double flow = weight * (own[j] - other[j]);
            mine[j] += flow;
            theirs[j] -= flow;
        }
    }
}

COMPILED_THRICE(bent_rows, (BENT_ROWS), (n, which, bent, width, own, rows, mine, out))

#endif
