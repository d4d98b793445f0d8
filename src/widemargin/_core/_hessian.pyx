# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Hessians of sums over implicit pairs: products with vectors, diagonals, and products with the rows of X.

Pairs, levels and thresholds are those of `_counting.pyx`, where phi is defined; the twins are in `_counting_ref.py`.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ._pair_sums cimport FEW, MOST
from ._partners cimport Ahead, Scratch, allocate, load, release, visit
from ._sorting cimport sort_by_value

cdef extern from "_row_mixes.h":
    void narrow_add(float* y, float a, const float* x, Py_ssize_t n) noexcept nogil
    void narrow_mix(float* y, float a, const float* x, float b, const float* z, Py_ssize_t n) noexcept nogil
    void wide_add(double* y, double a, const double* x, Py_ssize_t n) noexcept nogil
    void wide_mix(double* y, double a, const double* x, double b, const double* z, Py_ssize_t n) noexcept nogil

FEW_LEVELS = FEW  # beyond, the sums of `laplacian_rows` are in a tree

ctypedef fused real:
    float
    double

cdef Ahead NOTHING
NOTHING.at = NULL


def ascending(const double[::1] u, const int64_t[::1] order, const int64_t[::1] rank, const int64_t[::1] starts,
              const int64_t[::1] groups, int64_t[::1] by_u):
    """Write for each group its positions in ascending order of utility."""
    cdef Py_ssize_t q, a, n, k
    cdef Scratch s
    if not allocate(&s, starts, rank, groups, False):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            for k in range(n):
                s.u[k] = u[order[a + k]]
            sort_by_value(s.u, n, s.by_u, s.spare, s.count)
            for k in range(n):
                by_u[a + k] = a + s.by_u[k]
    release(&s)


def laplacian_product(const double[::1] u, const double[::1] v, const int64_t[::1] order, const int64_t[::1] by_u,
                      const int64_t[::1] rank, const int64_t[::1] starts, const int64_t[::1] groups, const double[:] weight,
                      const double[::1] thresholds, const double[::1] shares, double[::1] out):
    """Add sum_m shares[m] Hess phi(thresholds[m]) v to out; `by_u` comes from `ascending` at the same u."""
    cdef Py_ssize_t q, a, n, k, levels
    cdef int64_t i
    cdef Scratch s
    cdef double shift
    cdef double[MOST] H, inner
    if not allocate(&s, starts, rank, groups, True):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            levels = rank[a] + 1
            if levels < 2:
                continue
            shift = u[order[a]]
            for k in range(n):
                i = order[by_u[a + k]]
                s.us[k] = u[i] - shift
                s.x[k] = v[i]
                s.c[k] = weight[i]
                s.rank[k] = <int32_t> rank[by_u[a + k]]
            visit(&s, s.x, n, levels, thresholds, shares, False, H, inner)
            for k in range(n):
                out[order[by_u[a + k]]] += 2.0 * s.c[k] * (s.x[k] * s.total[k] - s.moment[k])
    release(&s)


def degrees(const double[::1] u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
            const int64_t[::1] starts, const int64_t[::1] groups, const double[:] weight, const double[::1] thresholds,
            const double[::1] shares, double[::1] out):
    """Add the diagonal of sum_m shares[m] Hess phi(thresholds[m]) to out."""
    cdef Py_ssize_t q, k, a, n, levels
    cdef Scratch s
    cdef double[MOST] H, inner
    if not allocate(&s, starts, rank, groups, False):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            levels = rank[a] + 1
            if levels < 2 or not load(&s, &u[0], &order[a], &rank[a], weight, base, n, NOTHING):
                continue
            visit(&s, s.us, n, levels, thresholds, shares, False, H, inner)
            for k in range(n):
                out[order[a + s.by_u[k]] - base] += 2.0 * s.c[k] * s.total[k]
    release(&s)


cdef inline void add_row(real* y, real a, const real* x, Py_ssize_t n) noexcept nogil:
    if real is float:
        narrow_add(y, a, x, n)
    else:
        wide_add(y, a, x, n)


cdef inline void mix_rows(real* y, real a, const real* x, real b, const real* z, Py_ssize_t n) noexcept nogil:
    if real is float:
        narrow_mix(y, a, x, b, z, n)
    else:
        wide_mix(y, a, x, b, z, n)


def laplacian_rows(const double[::1] u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
                   const int64_t[::1] starts, const int64_t[::1] groups, const double[:] weight,
                   const double[::1] thresholds, const double[::1] shares, const real[:, ::1] X, real[:, ::1] out):
    """Write half of sum_m shares[m] Hess phi(thresholds[m]) X to out: sums of whole rows of X by level, many in a tree.

    A symmetric product needs each pair once: out gets half the degree times each row, minus the active worse
    partners of that row, so that X' out + out' X = X' L X. The first share must not be 0.
    """
    cdef Py_ssize_t q, a, n, k, l, p, m, levels, most = 1, columns = X.shape[1], i
    cdef Scratch s
    cdef double[MOST] H, inner
    cdef real* sums  # over the active items below level l; or a Fenwick tree of them; 0 at l = 0
    cdef const real* x
    cdef real less
    cdef bint is_tree
    for q in range(groups.shape[0]):
        most = max(most, rank[starts[groups[q]]] + 1)
    sums = <real*> malloc(most * columns * sizeof(real))
    if not allocate(&s, starts, rank, groups, False) or sums == NULL:
        release(&s)
        free(sums)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            levels = rank[a] + 1
            if levels < 2 or not load(&s, &u[0], &order[a], &rank[a], weight, base, n, NOTHING):
                for k in range(a, a + n):
                    memset(&out[order[k] - base, 0], 0, columns * sizeof(real))
                continue
            is_tree = levels > FEW
            visit(&s, s.us, n, levels, thresholds, shares, False, H, inner)
            for m in range(thresholds.shape[0]):
                if shares[m] == 0.0:
                    continue
                memset(sums, 0, levels * columns * sizeof(real))
                p = n - 1
                for k in range(n - 1, -1, -1):
                    while p >= 0 and s.us[k] - s.us[p] < thresholds[m]:
                        x = &X[order[a + s.by_u[p]] - base, 0]
                        l = s.rank[p] + 1
                        while l < levels:
                            add_row(sums + l * columns, <real> s.c[p], x, columns)
                            l += l & -l if is_tree else 1
                        p -= 1
                    i = order[a + s.by_u[k]] - base
                    less, l = <real> (-2.0 * shares[m] * s.c[k]), s.rank[k]
                    if m == 0:
                        mix_rows(&out[i, 0], <real> (s.c[k] * s.total[k]), &X[i, 0], less, sums + l * columns, columns)
                        l = l & (l - 1) if is_tree else 0
                    while l > 0:
                        add_row(&out[i, 0], less, sums + l * columns, columns)
                        l = l & (l - 1) if is_tree else 0
    release(&s)
    free(sums)
