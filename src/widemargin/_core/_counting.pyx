# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Looks at implicit pairs: sums over the active pairs of every group in O(n log n), nothing quadratic kept.

A pair (i better than j, same group) is active at threshold t when u_i - u_j < t. For each t the loops give

    H(t)   = sum c_i c_j (t - u_i + u_j)+        and      phi(t) = sum c_i c_j (t - u_i + u_j)+^2

with the gradient of phi. Squared hinge: phi(1). Hinge smoothed by h: (phi(1 + h) - phi(1 - h)) / 4h.
Items of one group are contiguous in `order`; `rank` (by position in `order`) grows with the level, from 0 in each
group. Utilities arrive for the rows of a block: `u[k]` belongs to item `base + k`.
Each loop has a NumPy twin in `_counting_ref.py`. Small groups meet all their pairs instead (`_every_pair.h`).
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ._pair_sums cimport FEW, MOST, product
from ._partners cimport Ahead, Scratch, allocate, load, release, visit

cdef extern from "_every_pair.h":
    void every_pair(Py_ssize_t n, const int64_t* rank, const double* u, const double* c, double* g, double top,
                    double h, Ahead ahead, double* sums) noexcept nogil

cdef extern from "_strides.h":
    void narrow_dots(const float* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const float* w, float* u,
                     Ahead ahead) noexcept nogil
    void wide_dots(const double* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const double* w, double* u,
                   Ahead ahead) noexcept nogil
    void narrow_sum(const float* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const float* g, float* out,
                    Ahead ahead) noexcept nogil
    void wide_sum(const double* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const double* g, double* out,
                  Ahead ahead) noexcept nogil

cdef enum:
    MANY_COST = 2  # with more levels an order costs so much more
    SUMMED = 256  # rows in the precision of a product, before float64 takes their sum; as in `LinearPairs.rounding`

ctypedef fused real:
    float
    double


cdef Ahead NOTHING
NOTHING.at = NULL


cdef bint are_few(const int64_t* rank, Py_ssize_t n, Py_ssize_t few) noexcept nogil:
    """Return whether the items of a group have so few partners on average that meeting them all beats an order."""
    cdef Py_ssize_t k, end = n
    cdef int64_t pairs = 0
    for k in range(n - 1, -1, -1):
        if k + 1 < n and rank[k + 1] != rank[k]:
            end = k + 1
        pairs += n - end
    return pairs <= few * n


cdef bint count_all(Scratch* s, const double* u, const int64_t* order, const int64_t* rank, const double[:] weight,
                    int64_t base, Py_ssize_t n, const double[::1] thresholds, const double[::1] shares, double* g,
                    double* sums, Ahead ahead) noexcept nogil:
    """Do the work of `gradient` for one group, meeting all its pairs; False where a utility is not finite."""
    cdef Py_ssize_t k
    cdef double h = 0.25 / shares[0] if thresholds.shape[0] > 1 else 0.0
    cdef double shift = u[order[0] - base], check = 0.0
    cdef double[3] own
    for k in range(n):
        s.u[k] = u[order[k] - base] - shift
        s.c[k] = weight[order[k]]
        check += s.u[k] * 0.0
    if check != 0.0:  # nan
        return False
    memset(s.total, 0, n * sizeof(double))
    own[0] = own[1] = own[2] = 0.0
    every_pair(n, rank, s.u, s.c, s.total, thresholds[0], h, ahead, own)
    for k in range(n):
        g[order[k] - base] = 2.0 * shares[0] * s.c[k] * s.total[k]
    sums[0] += shares[0] * own[0]
    sums[1] += own[1]
    sums[2] += shares[0] * own[2]
    return True


cdef bint count(Scratch* s, const double* u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
                const int64_t[::1] starts, const int64_t[::1] groups, Py_ssize_t first, Py_ssize_t end,
                const double[:] weight, const double[::1] thresholds, const double[::1] shares, Py_ssize_t few,
                double* g, double* sums, Ahead ahead) noexcept nogil:
    """Do the work of `gradient` for groups[first:end]; meanwhile fetch as many rows from `ahead` on."""
    cdef Py_ssize_t q, a, n, k, m, levels
    cdef Ahead rows
    cdef double[MOST] H, inner
    for q in range(first, end):
        a = starts[groups[q]]
        n = starts[groups[q] + 1] - a
        rows = ahead
        if ahead.at != NULL:
            ahead.at += n * ahead.step
        levels = rank[a] + 1  # positions go from the best level down
        if levels < 2:
            continue
        if are_few(&rank[a], n, few if levels <= FEW else MANY_COST * few):
            if not count_all(s, u, &order[a], &rank[a], weight, base, n, thresholds, shares, g, sums, rows):
                return False
            continue
        if not load(s, u, &order[a], &rank[a], weight, base, n, rows):
            return False
        visit(s, s.us, n, levels, thresholds, shares, True, H, inner)
        for k in range(n):
            # d phi / d u = 2 c (u W - V + t (W above - W below))
            g[order[a + s.by_u[k]] - base] = 2.0 * s.c[k] * (s.us[k] * s.total[k] - s.moment[k])
        for m in range(thresholds.shape[0]):
            sums[0] += shares[m] * (thresholds[m] * H[m] + inner[m])  # Euler: phi = t H + u . grad phi / 2
            sums[1] += H[m] if shares[m] == 0.0 else 0.0
            sums[2] += shares[m] * H[m]
    return True


def gradient(const double[::1] u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
             const int64_t[::1] starts, const int64_t[::1] groups, const double[:] weight,
             const double[::1] thresholds, const double[::1] shares, Py_ssize_t few, double[::1] g, double[::1] sums):
    """Write g = sum_m shares[m] grad phi(thresholds[m]); add to sums: sum shares[m] phi, H of share 0, sum shares[m] H.

    Thresholds and shares are those of a squared hinge, (1) and (1), or of a hinge smoothed by h: (1 + h, 1 - h, 1) and
    (1, -1, 0) / 4h. Where items have `few` partners or less on average, all pairs are met. Groups of one level are
    skipped; g must come zeroed. Returns False where a utility is not finite.
    """
    cdef Scratch s
    cdef bint fine
    if not allocate(&s, starts, rank, groups, False):
        release(&s)
        raise MemoryError
    with nogil:
        fine = count(&s, &u[0], base, order, rank, starts, groups, 0, groups.shape[0], weight, thresholds, shares,
                     few, &g[0], &sums[0], NOTHING)
    release(&s)
    return fine


cdef inline int64_t row_of(const int64_t[::1] which, Py_ssize_t k) noexcept nogil:
    """Return which[k], or k where `which` is empty; beyond its end, that of its last."""
    return k if which.shape[0] == 0 else which[min(k, which.shape[0] - 1)]


cdef inline bint is_run(const int64_t[::1] which, Py_ssize_t begin, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """Return whether rows begin + a to begin + b follow row `begin` as they lie in X."""
    cdef Py_ssize_t k
    if which.shape[0] == 0:
        return True
    for k in range(begin + a, begin + b):
        if which[k] != which[begin] + k - begin:
            return False
    return True


cdef void copy_rows(const real[:, :] X, const int64_t[::1] which, Py_ssize_t first, Py_ssize_t n,
                    product* out) noexcept nogil:
    """Write rows first, first + 1, ... of X, or of X[which], one after the other."""
    cdef Py_ssize_t k, i, c, p = X.shape[1]
    cdef const real* row
    for k in range(n):
        i = which[first + k] if which.shape[0] > 0 else first + k
        if X.strides[1] == sizeof(real):
            row = &X[i, 0]
            for c in range(p):
                out[c] = <product> row[c]
        else:
            for c in range(p):
                out[c] = <product> X[i, c]
        out += p


cdef inline void dots(const product* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const product* w, product* u,
                      Ahead ahead) noexcept nogil:
    """Write the products of rows with w."""
    if product is float:
        narrow_dots(rows, n, p, stride, w, u, ahead)
    else:
        wide_dots(rows, n, p, stride, w, u, ahead)


cdef inline void sum_rows(const product* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride, const product* g,
                          product* out, Ahead ahead) noexcept nogil:
    """Write the sum of rows times their entry of g."""
    if product is float:
        narrow_sum(rows, n, p, stride, g, out, ahead)
    else:
        wide_sum(rows, n, p, stride, g, out, ahead)


def gather(const real[:, :] X, const int64_t[::1] which, real[:, ::1] out):
    """Write X[which] without the GIL."""
    with nogil:
        copy_rows(X, which, 0, which.shape[0], &out[0, 0])


def look(const real[:, :] X, const int64_t[::1] which, const product[::1] w, int64_t first, const int64_t[::1] order,
         const int64_t[::1] rank, const int64_t[::1] starts, const int64_t[::1] groups, const double[:] weight,
         const double[::1] thresholds, const double[::1] shares, Py_ssize_t few, Py_ssize_t most, double[::1] g,
         double[::1] pull, double[::1] sums):
    """Do the work of `gradient` at the utilities X w, for groups whose rows lie one after the other from `first` on.

    Adds X'g to pull; g is not kept where it has no room. Rows are those of X[which], or of X where `which` is empty.
    Products are in the precision of w.
    Whole groups of about `most` rows are multiplied by w, counted and multiplied by g while they are in cache, where
    they lie if they follow each other; only a larger group is read twice. The next rows are fetched meanwhile: memory
    is not idle while pairs are met. No Python in between: threads that look at different groups do not wait for each
    other.
    """
    cdef Py_ssize_t p = X.shape[1], n_groups = groups.shape[0], q = 0, end, n, size, largest = most, a, b, m, k, i, j
    cdef Py_ssize_t begin = first, stride, at, after
    cdef bint in_place = sizeof(real) == sizeof(product) and X.strides[1] == sizeof(real), as_is, may_copy, fine = True
    cdef Scratch s
    cdef product* block = NULL
    cdef const product* rows = NULL
    cdef Ahead ahead
    cdef product* short
    cdef double* u
    cdef double* slope
    ahead.step = X.strides[0] // 3 if X.strides[0] < 2 * p * <Py_ssize_t> sizeof(real) else 0  # a third each time
    in_place = in_place and X.strides[0] >= p * <Py_ssize_t> sizeof(real) and X.strides[0] % sizeof(real) == 0
    in_place = in_place and <size_t> &X[0, 0] % sizeof(real) == 0
    for k in range(n_groups):
        largest = max(largest, starts[groups[k] + 1] - starts[groups[k]])
    u = <double*> malloc((largest if g.shape[0] > 0 else 2 * largest) * sizeof(double))
    short = <product*> malloc((most + p) * sizeof(product))  # utilities or slopes of some rows, and a part of X'g
    may_copy = not in_place or which.shape[0] > 0
    if may_copy:
        block = <product*> malloc(most * p * sizeof(product))
    if not allocate(&s, starts, rank, groups, False) or u == NULL or short == NULL or (block == NULL and may_copy):
        release(&s)
        free(u)
        free(short)
        free(block)
        raise MemoryError
    with nogil:
        while q < n_groups and fine:
            n, end, as_is = 0, q, in_place
            while end < n_groups:
                size = starts[groups[end] + 1] - starts[groups[end]]
                if n > 0 and n + size > most:
                    break
                if as_is and not is_run(which, begin, n, n + size):
                    if n > 0:
                        break
                    as_is = False
                n += size
                end += 1
            at, after = row_of(which, begin), row_of(which, begin + n)
            stride = X.strides[0] // <Py_ssize_t> sizeof(real) if as_is else p
            ahead.at = NULL
            if as_is and n <= most and after + n <= X.shape[0]:
                ahead.at = <const char*> &X[after, 0]
            for k in range((n + most - 1) // most):
                a = k * most
                m = min(most, n - a)
                if as_is:
                    rows = <const product*> &X[at + a, 0]
                else:
                    copy_rows(X, which, begin + a, m, block)
                    rows = block
                dots(rows, m, p, stride, &w[0], short, ahead)
                for i in range(m):
                    u[a + i] = short[i]
            if ahead.at != NULL:
                ahead.at += n * ahead.step
            slope = &g[begin - first] if g.shape[0] > 0 else u + largest
            memset(slope, 0, n * sizeof(double))
            fine = count(&s, u, begin, order, rank, starts, groups, q, end, weight, thresholds, shares,
                         few, slope, &sums[0], ahead)
            if ahead.at != NULL:
                ahead.at += n * ahead.step
            for k in range((n + most - 1) // most):
                a = k * most
                m = min(most, n - a)
                if as_is:
                    rows = <const product*> &X[at + a, 0]
                elif n > most:
                    copy_rows(X, which, begin + a, m, block)
                for i in range(m):
                    short[i] = <product> slope[a + i]
                for j in range((m + SUMMED - 1) // SUMMED):
                    b = j * SUMMED
                    sum_rows(rows + b * stride, min(SUMMED, m - b), p, stride, short + b, short + most, ahead)
                    for i in range(p):
                        pull[i] += short[most + i]
                    if ahead.at != NULL:
                        ahead.at += SUMMED * ahead.step
            q = end
            begin += n
        if not fine and g.shape[0] > 0:
            memset(&g[0], 0, g.shape[0] * sizeof(double))
    release(&s)
    free(u)
    free(short)
    free(block)
    return fine
