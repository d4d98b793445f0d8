# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Hot loops over implicit pairs: sums over the active pairs of every group in O(n log n), nothing quadratic kept.

A pair (i better than j, same group) is active at threshold t when u_i - u_j < t. For each t the loops give

    H(t)   = sum c_i c_j (t - u_i + u_j)+        and      phi(t) = sum c_i c_j (t - u_i + u_j)+^2

with the gradient of phi. Squared hinge: phi(1). Hinge smoothed by h: (phi(1 + h) - phi(1 - h)) / 4h.
Items of one group are contiguous in `order`; `rank` (by position in `order`) grows with the level, from 0 in each
group. Utilities arrive for the rows of a block: `u[k]` belongs to item `base + k`.
Each loop has a NumPy twin in `_counting_ref.py`.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    FEW = 24  # up to so many levels one running sum per level beats a Fenwick tree
    SMALL = 16  # insertion sort below

FEW_LEVELS = FEW

ctypedef fused real:
    float
    double


cdef struct Scratch:
    double* u  # utilities of one group, shifted, in the order of positions
    double* us  # the same, ascending
    double* c  # weights, ascending in u
    double* x  # payload, ascending in u
    double* total  # sum of c over active partners
    double* excess  # the same, partners above minus partners below
    double* moment  # sum of c x over active partners
    double* sums  # running sums or Fenwick tree, (W, V) interleaved
    int64_t* rank  # ascending in u
    int64_t* by_u  # ascending position -> position in the group
    int64_t* spare
    int64_t* count


cdef bint allocate(Scratch* s, Py_ssize_t n) noexcept nogil:
    cdef double* d = <double*> malloc((10 * n + 2 * FEW + 16) * sizeof(double))
    cdef int64_t* k = <int64_t*> malloc((4 * n + 16) * sizeof(int64_t))
    s.u = d
    s.rank = k
    if d == NULL or k == NULL:
        return False
    s.us, s.c, s.x, s.total, s.excess, s.moment = d + n, d + 2 * n, d + 3 * n, d + 4 * n, d + 5 * n, d + 6 * n
    s.sums = d + 7 * n
    s.by_u, s.spare, s.count = k + n, k + 2 * n, k + 3 * n
    return True


cdef void release(Scratch* s) noexcept nogil:
    free(s.u)
    free(s.rank)


cdef inline void insertion_sort(const double* x, int64_t* idx, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int64_t k
    cdef double v
    for i in range(1, n):
        k = idx[i]
        v = x[k]
        j = i - 1
        while j >= 0 and x[idx[j]] > v:
            idx[j + 1] = idx[j]
            j -= 1
        idx[j + 1] = k


cdef void merge_sort(const double* x, int64_t* idx, int64_t* tmp, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t half, a, b, k
    if n <= SMALL:
        insertion_sort(x, idx, n)
        return
    half = n // 2
    merge_sort(x, idx, tmp, half)
    merge_sort(x, idx + half, tmp, n - half)
    for a in range(half):
        tmp[a] = idx[a]
    a, b, k = 0, half, 0
    while a < half and b < n:
        if x[idx[b]] < x[tmp[a]]:
            idx[k] = idx[b]
            b += 1
        else:
            idx[k] = tmp[a]
            a += 1
        k += 1
    while a < half:
        idx[k] = tmp[a]
        a += 1
        k += 1


cdef void sort_by_value(const double* x, Py_ssize_t n, int64_t* idx, int64_t* tmp, int64_t* count) noexcept nogil:
    """Fill idx with the ascending order of x: one pass over n equal buckets, then a sort inside each.

    Linear for any spread-out values; a crowded bucket (outliers, ties) costs its own n log n.
    """
    cdef Py_ssize_t i, b, start, size
    cdef double low = x[0], high = x[0], scale
    for i in range(n):
        idx[i] = i
        low = min(low, x[i])
        high = max(high, x[i])
    if n <= SMALL or not low < high:
        insertion_sort(x, idx, n)
        return
    scale = (n - 1) / (high - low)
    if not scale < 1e300:  # a spread near the smallest number
        merge_sort(x, idx, tmp, n)
        return
    memset(count, 0, (n + 1) * sizeof(int64_t))
    for i in range(n):
        b = <Py_ssize_t> ((x[i] - low) * scale)
        tmp[i] = b
        count[b + 1] += 1
    for i in range(n):
        count[i + 1] += count[i]
    for i in range(n):
        b = tmp[i]
        idx[count[b]] = i
        count[b] += 1
    start = 0
    for b in range(n):  # count[b] is now the end of bucket b
        size = count[b] - start
        if size > SMALL:
            merge_sort(x, idx + start, tmp, size)
        elif size > 1:
            insertion_sort(x, idx + start, size)
        start = count[b]


cdef bint load(Scratch* s, const double* u, const int64_t* order, const int64_t* rank, const double* weight,
               int64_t base, Py_ssize_t n) noexcept nogil:
    """Bring one group into ascending order of utility; False where a utility is not finite."""
    cdef Py_ssize_t k
    cdef int64_t p
    cdef double shift = u[order[0] - base], check = 0.0
    for k in range(n):
        # the sums see differences only: shifting keeps a common offset out of the rounding
        s.u[k] = u[order[k] - base] - shift
        check += s.u[k] * 0.0
    if check != 0.0:  # nan
        return False
    sort_by_value(s.u, n, s.by_u, s.spare, s.count)
    for k in range(n):
        p = s.by_u[k]
        s.us[k] = s.u[p]
        s.c[k] = weight[order[p]]
        s.rank[k] = rank[p]
    return True


cdef double below_few(Scratch* s, const double* x, double t, Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """As the better item: sums over active worse partners, one running sum per level. Returns the pair weight."""
    cdef double* sums = s.sums
    cdef Py_ssize_t k, l, p = n - 1
    cdef double c, cx, pairs = 0.0
    memset(sums, 0, 2 * levels * sizeof(double))
    for k in range(n - 1, -1, -1):
        while p >= 0 and s.us[k] - s.us[p] < t:  # strict: a margin of exactly t is not a violation
            c = s.c[p]
            cx = c * x[p]
            for l in range(s.rank[p] + 1, levels):
                sums[2 * l] += c
                sums[2 * l + 1] += cx
            p -= 1
        l = s.rank[k]
        c = sums[2 * l]
        s.total[k] = c
        s.excess[k] = -c
        s.moment[k] = sums[2 * l + 1]
        pairs += s.c[k] * c
    return pairs


cdef void above_few(Scratch* s, const double* x, double t, Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """As the worse item: add the sums over active better partners."""
    cdef double* sums = s.sums
    cdef Py_ssize_t k, l, p = 0
    cdef double c, cx
    memset(sums, 0, 2 * levels * sizeof(double))
    for k in range(n):
        while p < n and s.us[p] - s.us[k] < t:
            c = s.c[p]
            cx = c * x[p]
            for l in range(s.rank[p]):
                sums[2 * l] += c
                sums[2 * l + 1] += cx
            p += 1
        l = s.rank[k]
        s.total[k] += sums[2 * l]
        s.excess[k] += sums[2 * l]
        s.moment[k] += sums[2 * l + 1]


cdef double below_many(Scratch* s, const double* x, double t, Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """The same as `below_few` with a Fenwick tree over the levels."""
    cdef double* tree = s.sums
    cdef Py_ssize_t k, l, p = n - 1
    cdef double c, cx, W, V, pairs = 0.0
    memset(tree, 0, 2 * (levels + 1) * sizeof(double))
    for k in range(n - 1, -1, -1):
        while p >= 0 and s.us[k] - s.us[p] < t:
            c = s.c[p]
            cx = c * x[p]
            l = s.rank[p] + 1
            while l <= levels:
                tree[2 * l] += c
                tree[2 * l + 1] += cx
                l += l & -l
            p -= 1
        W = V = 0.0
        l = s.rank[k]  # levels 0 .. rank - 1
        while l > 0:
            W += tree[2 * l]
            V += tree[2 * l + 1]
            l -= l & -l
        s.total[k] = W
        s.excess[k] = -W
        s.moment[k] = V
        pairs += s.c[k] * W
    return pairs


cdef void above_many(Scratch* s, const double* x, double t, Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """The same as `above_few` with a Fenwick tree over the reversed levels."""
    cdef double* tree = s.sums
    cdef Py_ssize_t k, l, p = 0
    cdef double c, cx, W, V
    memset(tree, 0, 2 * (levels + 1) * sizeof(double))
    for k in range(n):
        while p < n and s.us[p] - s.us[k] < t:
            c = s.c[p]
            cx = c * x[p]
            l = levels - s.rank[p]
            while l <= levels:
                tree[2 * l] += c
                tree[2 * l + 1] += cx
                l += l & -l
            p += 1
        W = V = 0.0
        l = levels - 1 - s.rank[k]
        while l > 0:
            W += tree[2 * l]
            V += tree[2 * l + 1]
            l -= l & -l
        s.total[k] += W
        s.excess[k] += W
        s.moment[k] += V


cdef inline double sweep(Scratch* s, const double* x, double t, Py_ssize_t n, Py_ssize_t levels,
                         bint both) noexcept nogil:
    cdef double pairs
    if levels <= FEW:
        pairs = below_few(s, x, t, n, levels)
        if both:
            above_few(s, x, t, n, levels)
    else:
        pairs = below_many(s, x, t, n, levels)
        if both:
            above_many(s, x, t, n, levels)
    return pairs


def gradient(const double[::1] u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
             const int64_t[::1] starts, const int64_t[::1] groups, const double[::1] weight,
             const double[::1] thresholds, const double[::1] shares, double[::1] g, double[:, ::1] sums):
    """Write g = sum_m shares[m] grad phi(thresholds[m]); add H, phi and the active weight to sums[m].

    A share of 0 asks for H only. Groups of one level are skipped; g must come zeroed.
    Returns False where a utility is not finite.
    """
    cdef Py_ssize_t q, a, n, k, m, M = thresholds.shape[0], largest = 1, levels
    cdef Scratch s
    cdef bint fine = True
    cdef double t, share, H, slope, inner, pairs
    for q in range(groups.shape[0]):
        largest = max(largest, starts[groups[q] + 1] - starts[groups[q]])
    if not allocate(&s, largest):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            levels = rank[a] + 1  # positions go from the best level down
            if levels < 2:
                continue
            if not load(&s, &u[0], &order[a], &rank[a], &weight[0], base, n):
                fine = False
                break
            for m in range(M):
                t, share = thresholds[m], shares[m]
                pairs = sweep(&s, s.us, t, n, levels, share != 0.0)
                H = 0.0
                if share == 0.0:
                    for k in range(n):
                        H += s.c[k] * (s.moment[k] - (t - s.us[k]) * s.excess[k])
                    sums[m, 0] += H
                    sums[m, 2] += pairs
                    continue
                inner = 0.0
                for k in range(n):
                    # d phi / d u = 2 c (u W - V + t (W above - W below))
                    slope = s.c[k] * (s.us[k] * s.total[k] - s.moment[k])
                    H += slope * s.us[k]  # u'Lu: sum of z^2
                    slope += s.c[k] * t * s.excess[k]
                    inner += s.us[k] * s.c[k] * s.excess[k]  # minus the sum of z
                    g[order[a + s.by_u[k]] - base] += 2.0 * share * slope
                sums[m, 0] += t * pairs + inner
                sums[m, 1] += t * t * pairs + 2.0 * t * inner + H
                sums[m, 2] += pairs
    release(&s)
    return fine


def ascending(const double[::1] u, const int64_t[::1] order, const int64_t[::1] starts, int64_t[::1] by_u):
    """Write for each group the items in ascending order of utility."""
    cdef Py_ssize_t q, a, n, k, largest = 1
    cdef Scratch s
    for q in range(starts.shape[0] - 1):
        largest = max(largest, starts[q + 1] - starts[q])
    if not allocate(&s, largest):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(starts.shape[0] - 1):
            a = starts[q]
            n = starts[q + 1] - a
            for k in range(n):
                s.u[k] = u[order[a + k]]
            sort_by_value(s.u, n, s.by_u, s.spare, s.count)
            for k in range(n):
                by_u[a + k] = a + s.by_u[k]
    release(&s)


def laplacian_product(const double[::1] u, const double[::1] v, const int64_t[::1] order, const int64_t[::1] by_u,
                      const int64_t[::1] rank, const int64_t[::1] starts, const double[::1] weight,
                      const double[::1] thresholds, const double[::1] shares, double[::1] out):
    """Add sum_m shares[m] Hess phi(thresholds[m]) v to out; `by_u` comes from `ascending` at the same u."""
    cdef Py_ssize_t q, a, n, k, m, levels, largest = 1
    cdef int64_t i
    cdef Scratch s
    cdef double shift, share
    for q in range(starts.shape[0] - 1):
        largest = max(largest, starts[q + 1] - starts[q])
    if not allocate(&s, largest):
        release(&s)
        raise MemoryError
    with nogil:
        for q in range(starts.shape[0] - 1):
            a = starts[q]
            n = starts[q + 1] - a
            levels = rank[a] + 1
            if levels < 2:
                continue
            shift = u[order[a]]
            for k in range(n):
                i = order[by_u[a + k]]
                s.us[k] = u[i] - shift
                s.x[k] = v[i]
                s.c[k] = weight[i]
                s.rank[k] = rank[by_u[a + k]]
            for m in range(thresholds.shape[0]):
                share = 2.0 * shares[m]
                if share == 0.0:
                    continue
                sweep(&s, s.x, thresholds[m], n, levels, True)
                for k in range(n):
                    out[order[by_u[a + k]]] += share * s.c[k] * (s.x[k] * s.total[k] - s.moment[k])
    release(&s)


def laplacian_tile(const double[::1] u, const int64_t[::1] rank, const double[::1] weight,
                   const double[::1] thresholds, const double[::1] shares, Py_ssize_t first, real[:, ::1] out):
    """Write rows first .. first + len(out) of the Laplacian sum_m shares[m] Hess phi(thresholds[m]) of one group."""
    cdef Py_ssize_t i, j, m, M = thresholds.shape[0], n = u.shape[0]
    cdef double z, total, degree
    cdef double[4] step
    cdef double[4] edge
    for m in range(M):
        edge[m] = thresholds[m]
        step[m] = 2.0 * shares[m]
    with nogil:
        for i in range(out.shape[0]):
            degree = 0.0
            for j in range(n):
                total = 0.0
                if rank[first + i] != rank[j]:
                    z = u[first + i] - u[j] if rank[first + i] > rank[j] else u[j] - u[first + i]
                    for m in range(M):
                        total += step[m] if z < edge[m] else 0.0
                    total *= weight[first + i] * weight[j]
                out[i, j] = <real> (-total)
                degree += total
            out[i, first + i] = <real> degree


def laplacian_rows(const double[::1] u, int64_t base, const int64_t[::1] order, const int64_t[::1] rank,
                   const int64_t[::1] starts, const int64_t[::1] groups, const double[::1] weight,
                   double threshold, double share, const real[:, ::1] X, real[:, ::1] out):
    """Add half of share Hess phi(threshold) X to out, for groups of few levels: running sums of whole rows of X.

    A symmetric product needs each pair once: out gets half the degree times each row, minus the active worse
    partners of that row, so that X' out + out' X = X' L X.
    """
    cdef Py_ssize_t q, a, n, k, l, c, p, levels, columns = X.shape[1], largest = 1, i
    cdef Scratch s
    cdef real* sums
    cdef real* row
    cdef const real* x
    cdef real* y
    cdef real wi, half
    for q in range(groups.shape[0]):
        largest = max(largest, starts[groups[q] + 1] - starts[groups[q]])
    sums = <real*> malloc(FEW * columns * sizeof(real))
    if not allocate(&s, largest) or sums == NULL:
        release(&s)
        free(sums)
        raise MemoryError
    with nogil:
        for q in range(groups.shape[0]):
            a = starts[groups[q]]
            n = starts[groups[q] + 1] - a
            levels = rank[a] + 1
            if levels < 2 or not load(&s, &u[0], &order[a], &rank[a], &weight[0], base, n):
                continue
            sweep(&s, s.us, threshold, n, levels, True)
            memset(sums, 0, levels * columns * sizeof(real))
            p = n - 1
            for k in range(n - 1, -1, -1):
                while p >= 0 and s.us[k] - s.us[p] < threshold:
                    x = &X[order[a + s.by_u[p]] - base, 0]
                    wi = <real> s.c[p]
                    for l in range(s.rank[p] + 1, levels):
                        row = sums + l * columns
                        for c in range(columns):
                            row[c] += wi * x[c]
                    p -= 1
                i = order[a + s.by_u[k]] - base
                x = &X[i, 0]
                y = &out[i, 0]
                row = sums + s.rank[k] * columns
                wi = <real> (2.0 * share * s.c[k])
                half = <real> (share * s.c[k] * s.total[k])
                for c in range(columns):
                    y[c] += half * x[c] - wi * row[c]
    release(&s)
    free(sums)
